"""`bayleaf verify`: prove the folder of a service."""

from __future__ import annotations

import json

import click

from bayleaf.cli import options


@click.command("verify")
@click.argument("folder")
@options.as_json
def verify_command(folder: str, as_json: bool) -> None:
    """Prove that a service's folder holds what was taught, byte for byte.

    Every document of the ledger is learned again; each snapshot plus the log must be the same model. The
    service must not be running; one that runs is verified by POST /models/NAME/verify.

    \b
    Examples:
      bayleaf verify filter
      bayleaf verify filter --json
    """
    from bayleaf.service.verifying import verify

    found = verify(folder)
    if as_json:
        entries = [
            {
                "model": each.name,
                "sound": each.sound,
                "documents": each.documents,
                "version": each.version,
                "sha256": each.digest,
                "snapshots": dict(each.snapshots),
            }
            for each in found
        ]
        click.echo(json.dumps(entries))
    for each in [] if as_json else found:
        click.echo(f"{each.name}: {each.documents} documents taught, version {each.version}, {each.digest}")
        for seq, finding in each.snapshots:
            click.echo(f"  snapshot {seq} plus the log: {finding}")
    unsound = [each.name for each in found if not each.sound]
    if unsound:
        raise click.ClickException(
            f"{', '.join(unsound)}: a snapshot is damaged or differs. The ledger is whole: move the snapshot "
            "away, and the service starts from the one before it, or from the ledger."
        )
