"""A copy of a service's folder, complete and consistent, made while the service runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

from bayleaf.service import database, settings, snapshots, tokens


def back_up(folder: Path, to: Path) -> int:
    """Copy a folder to a new one, which can be served and verified; gives the version of the copy.

    Snapshots go first: the database that is copied after them is as new as each of them, or newer.
    """
    if not (folder / database.FILE).is_file():
        raise ValueError(f"{folder} is not the folder of a service: it has no {database.FILE}.")
    if to.exists() and (not to.is_dir() or any(to.iterdir())):
        raise ValueError(f"{to} is there already and not an empty folder. Give a new one.")
    to.mkdir(mode=0o700, parents=True, exist_ok=True)
    for name in (snapshots.folder_of(folder).name, settings.FILE, tokens.FILE):
        _copy(folder / name, to / name)
    version = _copy_database(folder, to)
    _copy(folder / "seeds", to / "seeds")
    return version


def _copy(source: Path, to: Path) -> None:
    """Copy a file or the files of a folder; a snapshot that is dropped meanwhile is not needed."""
    if source.is_dir():
        to.mkdir(mode=0o700)
        for each in source.glob("*.bayleaf"):
            _copy(each, to / each.name)
        return
    with contextlib.suppress(FileNotFoundError):
        shutil.copyfile(source, to)
        to.chmod(0o600)
        with to.open("rb") as copied:
            os.fsync(copied.fileno())


def _copy_database(folder: Path, to: Path) -> int:
    source = database.connect(folder, readonly=True)
    path = to / database.FILE
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    try:
        with contextlib.closing(sqlite3.connect(path)) as made:
            source.backup(made)
            return database.Ledger(made).version()
    finally:
        source.close()
