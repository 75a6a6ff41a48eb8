"""Batches: consecutive rows of a corpus as named columns."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bayleaf.corpus.settings import CorpusError, listed
from bayleaf.corpus.slices import Slices

Column: TypeAlias = Any
"""`Slices`, or an Arrow array of strings."""


@dataclass(frozen=True)
class Origins:
    """Names the place of each row: "mail.tsv, line 12"."""

    name: str
    make_numbers: Callable[[], Sequence[int] | NDArray[np.int64]]
    unit: str = "line"

    @cached_property
    def numbers(self) -> NDArray[np.int64]:
        """The number, from 1, of each row."""
        return np.asarray(self.make_numbers(), np.int64)

    def __call__(self, row: int) -> str:
        """Name the place of a row."""
        return f"{self.name}, {self.unit} {self.numbers[row]}"


@dataclass(frozen=True)
class FileOrigins(Origins):
    """Names the file of each row; `numbers` count the files."""

    paths: Sequence[str] = ()

    def __call__(self, row: int) -> str:
        """Name the file of a row."""
        return self.paths[row]


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows: named columns of equal length, and which of them are text and label.

    `labels` is None where there are none. `gaps` are the records that were left out, each with the number of
    rows before it and the reason. `mails` are the bytes of raw mails; `records` makes the rows of JSON lines
    and Parquet JSON again, as they were.
    """

    columns: Mapping[str, Column]
    text_columns: tuple[str, ...]
    labels: Column
    origins: Origins
    gaps: tuple[tuple[int, str], ...] = ()
    mails: Sequence[bytes] | None = None
    records: Callable[[], list[bytes]] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    @property
    def texts(self) -> Column:
        """The text column; several are joined, row by row, with a line break."""
        if len(self.text_columns) == 1:
            return self.columns[self.text_columns[0]]
        if not self.text_columns:
            raise CorpusError(f"No column is text. The columns are {listed(tuple(self.columns))}.")
        parts = [strings(self.columns[name]) for name in self.text_columns]
        return Slices.of("\n".join(row) for row in zip(*parts, strict=True))

    def origin(self, row: int) -> str:
        """Say where a row came from: "mail.tsv, line 12"."""
        return self.origins(row)

    def json_records(self, without_text: bool = False) -> list[bytes]:
        """Each row as a JSON object: as it was where it was one, else made of the columns."""
        if self.records is not None and not without_text:
            return self.records()
        names = [name for name in self.columns if not (without_text and name in self.text_columns)]
        rows = (
            zip(*(strings(self.columns[name]) for name in names), strict=True) if names else ((),) * len(self)
        )
        return [json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False).encode() for row in rows]


def strings(column: Column) -> list[str]:
    """Make Python strings of a column of any kind."""
    found: list[str] = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return found
