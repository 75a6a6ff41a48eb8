"""Prove a folder: each snapshot plus the log is the model learned from the ledger, byte for byte."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from bayleaf.model import Model
from bayleaf.service import database, snapshots
from bayleaf.service.database import Ledger
from bayleaf.service.served import facts, replay
from bayleaf.service.store import lock


@dataclass(frozen=True)
class Checked:
    """What was found out about one model."""

    name: str
    documents: int
    version: int
    digest: str
    snapshots: list[tuple[int, str]]

    @property
    def sound(self) -> bool:
        """Whether every snapshot leads to the same bytes."""
        return all(finding == "equal" for _, finding in self.snapshots)


def verify(folder: str | os.PathLike[str]) -> list[Checked]:
    """Check every model of a folder that no service is using."""
    place = Path(folder)
    if not (place / database.FILE).is_file():
        raise ValueError(f"{folder} is not the folder of a service: it has no {database.FILE}.")
    handle = lock(place)
    try:
        connection = database.connect(place)
        try:
            check_database(connection.execute("PRAGMA integrity_check").fetchone()[0], place)
            return verify_ledger(place, Ledger(connection))
        finally:
            connection.close()
    finally:
        os.close(handle)


def check_database(said: str, folder: Path) -> None:
    """Raise unless SQLite finds its file sound."""
    if said != "ok":
        raise database.DatabaseError(f"{folder / database.FILE} is damaged: {said}.")


def verify_ledger(folder: Path, ledger: Ledger) -> list[Checked]:
    """Check every model against the ledger."""
    return [_checked(folder, ledger, number, name, seed) for number, name, seed in ledger.models()]


def _checked(folder: Path, ledger: Ledger, number: int, name: str, seed_file: str) -> Checked:
    seed = Model.load(folder / "seeds" / seed_file)
    learned = facts(replay(seed, ledger, number, 0))
    findings = []
    for seq, found in snapshots.readable(folder, number, ledger.version()):
        if isinstance(found, Model):
            same = _replayed(found, ledger, number, seq) == learned
            findings.append((seq, "equal" if same else "DIFFERENT"))
        else:
            findings.append((seq, str(found)))
    documents = ledger.connection.execute(
        "SELECT count(*) FROM document WHERE model = ?", (number,)
    ).fetchone()[0]
    version = ledger.versions().get(number, 0)
    return Checked(name, documents, version, hashlib.sha256(learned).hexdigest(), findings)


def _replayed(model: Model, ledger: Ledger, number: int, seq: int) -> bytes | None:
    try:
        return facts(replay(model, ledger, number, seq))
    except (ValueError, TypeError):
        return None
