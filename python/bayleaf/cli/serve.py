"""`bayleaf serve`: run a service, or prepare its folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bayleaf.service.service import Service
    from bayleaf.service.store import Store

HTTP = "127.0.0.1:8080"
SPAMD_PORT = 783


def _address(_: click.Context, parameter: click.Parameter, value: str | None) -> tuple[str, int] | None:
    """HOST:PORT, a port alone, or "none"."""
    if value is None or value == "none":
        return None
    host, colon, port = value.rpartition(":")
    if not port.isdecimal() or int(port) > 65_535:
        raise click.BadParameter(
            f"{value!r} is not HOST:PORT, such as 127.0.0.1:8080, nor 'none'.", param=parameter
        )
    return (host.strip("[]") if colon else "127.0.0.1"), int(port)


@click.command("serve")
@click.argument("folder", required=False)
@click.option("--http", default=HTTP, show_default=True, callback=_address, help="HOST:PORT, or none.")
@click.option(
    "--spamd", callback=_address, metavar="HOST:PORT", help="Speak SPAMD, usually on 127.0.0.1:783."
)
@click.option("--http-socket", metavar="PATH", help="Speak HTTP on a Unix socket.")
@click.option("--spamd-socket", metavar="PATH", help="Speak SPAMD on a Unix socket.")
@click.option(
    "--model", "models", multiple=True, metavar="NAME=FILE", help="Enter a trained model, if its name is new."
)
@click.option("--allow-tell", is_flag=True, help="Let SPAMD clients teach (spamc -L).")
@click.option("--token", metavar="NAME", help="Make a token, print it, and exit.")
@click.option(
    "--scope",
    type=click.Choice(["read", "learn", "admin"]),
    default="learn",
    show_default=True,
    help="What the token may do.",
)
@click.option("--revoke", metavar="NAME", help="Take a token back, and exit.")
@click.option("--forget-by", metavar="NAME", help="Forget all that NAME has taught, and exit.")
@click.option(
    "--backup", metavar="NEW", help="Copy FOLDER to a new folder, while a service runs or not, and exit."
)
@click.option("--demo", is_flag=True, help="Start with the bundled messages as the model 'spam'.")
@click.option("--check", is_flag=True, help="Open the folder, say what would be served, and exit.")
def serve_command(folder: str | None, **given: Any) -> None:
    """Run a filter that answers, learns, forgets and explains over HTTP and SPAMD.

    FOLDER holds everything: the ledger, snapshots of the models, tokens, and bayleaf.toml with the settings,
    written with comments on first start. It listens on this machine only; another address needs a token
    first. SIGTERM ends it when all that was asked is answered.

    \b
    Examples:
      bayleaf serve filter --model spam=spam.bayleaf --check
      bayleaf serve filter --token ann --scope learn
    """
    check_installed()
    os.umask(0o077)
    if given["demo"]:
        _demo(folder, given)
        return
    if folder is None:
        raise click.UsageError("Missing argument 'FOLDER'. To look around without one: bayleaf serve --demo.")
    _in_folder(Path(folder), given)


def check_installed() -> None:
    """Say what to install, if the service lacks something."""
    try:
        import msgspec  # noqa: F401 (what the extra installs)
        import prometheus_client  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError as error:
        raise click.ClickException(
            f"The service needs {error.name}, which is not installed: pip install 'bayleaf[serve]'."
        ) from None


def _in_folder(folder: Path, given: dict[str, Any]) -> None:
    if given["token"] or given["revoke"]:
        _tokens(folder, given["token"], given["scope"], given["revoke"])
        return
    if given["backup"]:
        from bayleaf.service.backup import back_up

        version = back_up(folder, Path(given["backup"]))
        click.echo(f"{given['backup']} is a copy of {folder} at version {version}.", err=True)
        return
    from bayleaf.service.store import Store

    _check_addresses(folder, given)
    store = Store(folder)
    try:
        _enter(store, given["models"])
        if given["forget_by"]:
            _forget_by(store, given["forget_by"])
        elif given["check"]:
            _say_models(store)
        else:
            _run(store, given)
    finally:
        store.close()


def _demo(folder: str | None, given: dict[str, Any]) -> None:
    import tempfile

    from bayleaf.cli.demo import bundled
    from bayleaf.naive_bayes import NaiveBayes
    from bayleaf.service.server import written
    from bayleaf.service.store import Store

    with tempfile.TemporaryDirectory() as scratch:
        store = Store(folder or scratch)
        try:
            if "spam" not in store.served:
                rows = bundled()
                fitted = NaiveBayes().fit([text for _, text in rows], [label for label, _ in rows])
                store.add_model("spam", fitted.model_)
            click.echo("Try, in another terminal:", err=True)
            for path, body in (
                ("classify", '{"text": "Claim your free prize now"}'),
                ("explain", '{"text": "Claim your free prize now"}'),
                ("learn", '{"text": "Lunch at noon?", "label": "ham"}'),
            ):
                place = written(*(given["http"] or ("127.0.0.1", 8080)))
                click.echo(f"  curl --json '{body}' http://{place}/models/spam/{path}", err=True)
            if given["check"]:
                _say_models(store)
            else:
                _run(store, given)
        finally:
            store.close()


def _tokens(folder: Path, name: str | None, scope: str, revoked: str | None) -> None:
    from bayleaf.service.tokens import Tokens

    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    tokens = Tokens(folder)
    if revoked:
        tokens.revoke(revoked)
        click.echo(f"The token {revoked!r} is revoked.", err=True)
    if name:
        click.echo(tokens.make(name, scope))
        click.echo(f"{name!r} may {scope}. The token is not kept and is shown only now.", err=True)


def _check_addresses(folder: Path, given: dict[str, Any]) -> None:
    from bayleaf.service.server import Addresses
    from bayleaf.service.tokens import Tokens

    addresses = Addresses(given["http"], given["spamd"], given["http_socket"], given["spamd_socket"])
    strange = addresses.open_to_others()
    if strange and not Tokens(folder).known():
        raise click.ClickException(
            f"Other machines reach {strange[0]}, and there is no token. Make one first: "
            f"bayleaf serve {folder} --token NAME."
        )
    if given["allow_tell"] and given["spamd"] and f"{given['spamd'][0]}:{given['spamd'][1]}" in strange:
        raise click.ClickException(
            "SPAMD has no passwords: --allow-tell is for this machine and sockets only."
        )


def _enter(store: Store, models: tuple[str, ...]) -> None:
    from bayleaf.cli.models import load
    from bayleaf.service.refusals import Refusal

    for each in models:
        name, equals, path = each.partition("=")
        if not equals or not path:
            raise click.UsageError(f"--model is NAME=FILE, such as spam=spam.bayleaf, got {each!r}.")
        if name in store.served:
            click.echo(f"The model {name!r} is there already; {path} is not read.", err=True)
            continue
        try:
            store.add_model(name, load(path))
        except Refusal as refusal:
            raise click.ClickException(refusal.detail) from None


def _forget_by(store: Store, name: str) -> None:
    from bayleaf.service.changes import ForgetWhere, Who

    for served in store.served.values():
        done = store.submit(ForgetWhere(Who(served.number, "command line"), "by", name)).result()
        click.echo(f"{served.name}: {len(done.results)} documents taught by {name!r} are forgotten.")


def _say_models(store: Store) -> None:
    for served in store.served.values():
        counts = ", ".join(f"{count} {label}" for label, count in served.shared.class_documents.items())
        click.echo(f"{served.name}: version {served.version}, {counts or 'nothing learned yet'}")
    if not store.served:
        click.echo("No model yet: --model NAME=FILE, or POST /models.")


def _run(store: Store, given: dict[str, Any]) -> None:
    import asyncio

    from bayleaf.service import logs
    from bayleaf.service.server import Addresses, serve
    from bayleaf.service.service import Service

    logs.configure()
    addresses = Addresses(given["http"], given["spamd"], given["http_socket"], given["spamd_socket"])
    service = Service(store)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve(service, addresses, given["allow_tell"], lambda places: _say_ready(service, places)))


def loop_factory() -> Any:
    """The fast event loop, where it can be had."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


def _say_ready(service: Service, places: list[str]) -> None:
    _say_models(service.store)
    for place in places:
        click.echo(place)
    asked, known = service.store.settings.spamd.model, list(service.store.served)
    if known and asked not in known and any(place.startswith("SPAMD") for place in places):
        click.echo(
            f"SPAMD asks the model {asked!r}, and there is none: mail is refused. The models are: "
            f"{', '.join(known)}. Name one as spamd.model in bayleaf.toml."
        )
    if not service.tokens.known():
        click.echo("There are no tokens: whoever reaches these addresses may ask and teach.")
    click.echo("Ready.")
    sys.stdout.flush()
