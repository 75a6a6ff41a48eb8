"""The counts of a model as files: two are kept, named by the sequence number of their last change."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

from bayleaf import atomic, storage
from bayleaf.model import Model

KEPT = 2
_NAME = re.compile(r"(\d+)-(\d{20})\.bayleaf")


def folder_of(folder: Path) -> Path:
    """Where the snapshots of a service are."""
    return folder / "snapshots"


def list_of(folder: Path, model: int) -> list[tuple[int, Path]]:
    """Sequence number and file of each snapshot of a model, the newest first."""
    found = ((_NAME.fullmatch(path.name), path) for path in folder_of(folder).glob("*.bayleaf"))
    own = [(int(name[2]), path) for name, path in found if name and int(name[1]) == model]
    return sorted(own, reverse=True)


def write(folder: Path, model: int, seq: int, data: bytes) -> Path:
    """Write a snapshot completely or not at all, and make sure that it stays."""
    place = folder_of(folder)
    place.mkdir(mode=0o700, exist_ok=True)
    path = place / f"{model}-{seq:020d}.bayleaf"
    atomic.write(path, data)
    path.chmod(0o600)
    return path


def _sync_folder(folder: Path) -> None:
    """Make it survive a power cut that files are gone."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def drop_old(folder: Path, model: int, kept: int = KEPT) -> int:
    """Remove all but the newest; gives the sequence number of the oldest that is kept."""
    found = list_of(folder, model)
    for _, path in found[kept:]:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
    _sync_folder(folder_of(folder))
    return found[:kept][-1][0] if found else 0


def readable(folder: Path, model: int, until: int) -> Iterator[tuple[int, Model | storage.ModelFileError]]:
    """The snapshots from the newest, as models or as what is wrong with them; none is newer than `until`."""
    for seq, path in list_of(folder, model):
        if seq > until:
            yield seq, storage.ModelFileError(f"{path} is newer than the log, which ends at {until}.")
            continue
        try:
            yield seq, Model.load(path)
        except storage.ModelFileError as error:
            yield seq, error
        except OSError as error:
            yield seq, storage.ModelFileError(f"{path} cannot be read: {error.strerror}.")
