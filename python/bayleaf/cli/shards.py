"""`--shard I/N`: a part of a job list. What is complete is skipped, and `merge` knows what is missing."""

from __future__ import annotations

import hashlib
import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bayleaf.corpus import Corpus
    from bayleaf.model import Model

NOTE = "shards"


def parsed(_: click.Context, __: click.Parameter, value: str | None) -> tuple[int, int] | None:
    """The two numbers of I/N: shard I, from 1 to N, of N."""
    if value is None:
        return None
    match = re.fullmatch(r"(\d+)/(\d+)", value)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise click.BadParameter(f"{value!r} is not I/N with I from 1 to N, such as 3/16.")
    return int(match[1]), int(match[2])


@dataclass(frozen=True)
class Shard:
    """Shard `number` (from 1) of `of` of an input that is known by the names and sizes of its files."""

    number: int
    of: int
    source: str

    @classmethod
    def taken(cls, shard: tuple[int, int], corpus: Corpus) -> Shard:
        """Narrow a corpus down to a shard."""
        files = json.dumps(corpus.inventory()).encode()
        corpus.narrow(shard[0] - 1, shard[1])
        return cls(*shard, hashlib.sha256(files).hexdigest()[:16])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def note(self, model: Model) -> None:
        """Write into a model which part it is."""
        model.notes[NOTE] = {"of": self.of, "parts": [self.number], "input": self.source}

    def is_complete(self, path: str, model: Model) -> bool:
        """Whether a file is this shard, learned with the views and settings of a model."""
        from bayleaf.engines.core import empty_like
        from bayleaf.model import Model
        from bayleaf.storage import ModelFileError

        if not os.path.exists(path):
            return False
        try:
            found = Model.load(path)
        except (OSError, ModelFileError):
            return False
        expected = empty_like(model)
        self.note(expected)
        return empty_like(found).to_bytes() == expected.to_bytes()


def check_shard(tuning: str | None, test: str | None, holdout: float | None) -> None:
    """Refuse what a part of the documents cannot do."""
    for option, value in (("--test", test), ("--holdout", holdout)):
        if value is not None:
            raise click.UsageError(f"--shard learns a part, so {option} would measure a part. Merge first.")
    if tuning not in (None, "none"):
        raise click.UsageError(
            f"Weights do not add up: --shard counts only. Drop --tuning {tuning}, and use 'bayleaf retune' "
            "on the merged model."
        )


class Parts:
    """The shards that models say they are, put together while the models are merged."""

    def __init__(self) -> None:
        self._first: dict[str, Any] = {}
        self._path = ""
        self._seen: dict[int, str] = {}

    def add(self, model: Model, path: str) -> None:
        """Take the note of a model; refuse what would be counted twice."""
        note = model.notes.pop(NOTE, None)
        if note is None:
            return
        if self._first and (note["of"], note["input"]) != (self._first["of"], self._first["input"]):
            differ = (
                "of other files, or of files that have changed meanwhile"
                if note["of"] == self._first["of"]
                else f"of {note['of']} and {self._first['of']} shards"
            )
            raise click.ClickException(
                f"{path} and {self._path} are shards of different jobs: {differ}. Merge those of one job."
            )
        self._first, self._path = self._first or note, self._path or path
        for part in note["parts"]:
            if part in self._seen:
                raise click.ClickException(
                    f"{path} and {self._seen[part]} are both shard {part}/{note['of']}. It would count twice."
                )
            self._seen[part] = path

    def note(self, model: Model) -> None:
        """Write into the sum which parts it has, if some are missing, and say so."""
        if not self._first:
            return
        of = self._first["of"]
        missing = [part for part in range(1, of + 1) if part not in self._seen]
        if missing:
            model.notes[NOTE] = {**self._first, "parts": sorted(self._seen)}
            shown = ", ".join(map(str, missing[:12])) + (", …" if len(missing) > 12 else "")
            click.echo(f"{len(missing)} of {of} shards are missing: {shown}.", err=True)
