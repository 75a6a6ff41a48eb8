"""What a corpus yields: some rows of its columns at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from bayleaf.corpus.settings import CorpusError, listed
from bayleaf.corpus.slices import Slices

Column: TypeAlias = Any
"""`Slices`, or an Arrow array of strings."""


@dataclass(frozen=True)
class Batch:
    """Some consecutive rows: named columns of equal length, and which of them are text and label.

    `labels` is None where there are none.
    """

    columns: Mapping[str, Column]
    text_columns: tuple[str, ...]
    labels: Column
    origins: Callable[[int], str]
    raw: bool = False
    """Whether the texts are bytes read as Latin-1, because they name their own encodings, as mail does."""

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


def strings(column: Column) -> list[str]:
    """Make Python strings of a column of any kind."""
    found: list[str] = column.to_pylist() if hasattr(column, "to_pylist") else column.tolist()
    return found
