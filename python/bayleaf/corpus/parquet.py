"""Parquet, as Arrow arrays that go to the core without a copy."""

from __future__ import annotations

import base64
import importlib
import json
import os
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.corpus.batches import Batch, Origins
from bayleaf.corpus.layout import chosen
from bayleaf.corpus.reader import StreamReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.streams import STANDARD_INPUT, Stream

SKIP_ROWS = 'Leave such rows out with `on_error="skip"`.'
INSTALL = 'To read it: pip install "bayleaf[data]".'


class ParquetReader(StreamReader):
    """Reads the columns of a Parquet file as strings, some rows at a time."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        self._arrow, parquet = _arrow(stream.name)
        self._copy = _seekable(stream)
        self._copy_size = os.fstat(self._copy.fileno()).st_size
        try:
            self._file = parquet.ParquetFile(self._copy, pre_buffer=False)
            self.layout = chosen(tuple(self._file.schema_arrow.names), settings, stream.name)
        except (self._arrow.ArrowException, OSError) as error:
            self._copy.close()
            raise CorpusError(f"{stream.name} is damaged or not a Parquet file: {error}") from None
        except CorpusError:
            self._copy.close()
            raise
        self._done = 0
        self._groups = list(range(self._file.metadata.num_row_groups))
        self._rows: int = self._file.metadata.num_rows

    @property
    def consumed(self) -> int:
        """The part of the file that the rows so far make up."""
        if self.stream.compressed:
            return self.stream.consumed
        return self._copy_size * self._done // max(self._rows, 1)

    def restrict(self, start: int, end: int) -> None:
        """Read only the row groups that begin in a range of the file's bytes."""
        self._groups = [group for group in self._groups if start <= self._begins(group) < end]

    def _begins(self, group: int) -> int:
        column = self._file.metadata.row_group(group).column(0)
        offsets = (column.dictionary_page_offset, column.data_page_offset)
        return min(int(offset) for offset in offsets if offset)

    def _rows_before(self) -> int:
        """How many rows there are before the first group that is read."""
        meta = self._file.metadata
        return sum(meta.row_group(group).num_rows for group in range(min(self._groups, default=0)))

    def batches(self) -> Iterator[Batch]:
        """Stream the rows, a group at a time: else, and with reading ahead, memory grows with the file."""
        before, size = self._rows_before(), self._rows_per_batch()
        try:
            for group in self._groups:
                for rows in self._file.iter_batches(size, [group], self._wanted()):
                    yield from self._batch(rows, before)
                    before = self._done = before + rows.num_rows
        except (self._arrow.ArrowException, OSError) as error:
            raise CorpusError(f"{self.name} is damaged: {error}") from None

    def _wanted(self) -> list[str] | None:
        """The columns that are read; all of them where documents are given back."""
        if self.settings.others or self.settings.table:
            return None
        return [*self.layout.text, *([self.layout.label] if self.layout.label else [])]

    def _batch(self, rows: Any, before: int) -> Iterator[Batch]:
        names = self._wanted() or dict.fromkeys(
            (*self.layout.columns, *self.layout.text, self.layout.label or "")
        )
        columns = {name: self._strings(self._column(rows, name), name) for name in names if name}
        kept = self._complete(columns, before, rows.num_rows)
        numbers = before + 1 + np.flatnonzero(kept)
        if not kept.all():
            mask = self._arrow.array(kept)
            columns = {name: column.filter(mask) for name, column in columns.items()}
            rows = rows.filter(mask)
        origins = Origins(self.name, lambda: numbers, "row")
        return self.batch(columns, origins, records=lambda: [as_json(row) for row in rows.to_pylist()])

    def _column(self, rows: Any, name: str) -> Any:
        """A column, or a field of a struct: "metadata.lang"."""
        parts = name.split(".")
        first = next(i for i in range(len(parts), 0, -1) if ".".join(parts[:i]) in rows.schema.names)
        column = rows.column(".".join(parts[:first]))
        for part in parts[first:]:
            try:
                column = importlib.import_module("pyarrow.compute").struct_field(column, part)
            except (self._arrow.ArrowException, TypeError):
                raise CorpusError(
                    f"{self.name}: no column is named {name!r}; {part!r} is not in it."
                ) from None
        return column

    def close(self) -> None:
        """Close the file and the stream it was found by."""
        self._copy.close()
        super().close()

    def _rows_per_batch(self) -> int:
        meta = self._file.metadata
        size: int = sum(meta.row_group(group).total_byte_size for group in range(meta.num_row_groups))
        return max(1, min(1 << 16, self.settings.batch_bytes * self._rows // max(size, 1)))

    def _strings(self, column: Any, name: str) -> Any:
        types = self._arrow.types
        if types.is_string(column.type) or types.is_large_string(column.type):
            return column
        if types.is_floating(column.type):  # Arrow writes 1.0 as 1, JSON does not
            return self._arrow.array(
                [None if value is None else repr(value) for value in column.to_pylist()], "string"
            )
        try:
            return column.cast(self._arrow.string())
        except self._arrow.ArrowException as error:
            if name in (*self.layout.text, self.layout.label):
                raise CorpusError(f"{self.name}: the column {name!r} is not text: {error}") from None
            texts = [None if value is None else _json(value) for value in column.to_pylist()]
            return self._arrow.array(texts, "string")

    def _complete(self, columns: dict[str, Any], before: int, rows: int) -> NDArray[np.bool_]:
        """Mark the rows that have a text and a label; the others are refused, as in JSON lines."""
        kept = np.ones(rows, bool)
        for name in (*self.layout.text, *([self.layout.label] if self.layout.label else [])):
            if name != self.layout.label and self.settings.on_error == "replace":
                columns[name] = columns[name].fill_null("")
            missing = columns[name].is_null().to_numpy(zero_copy_only=False)
            if name == self.layout.label:
                compute = importlib.import_module("pyarrow.compute")
                missing = missing | compute.equal(columns[name].fill_null(""), "").to_numpy(
                    zero_copy_only=False
                )
            reason = " has no label" if name == self.layout.label else f" has no value for {name!r}"
            for row in np.flatnonzero(missing & kept).tolist():
                self.settings.refuse(self.name, before + 1 + row, reason, SKIP_ROWS, "row")
            kept &= ~missing
        return kept


def as_json(row: dict[str, Any]) -> bytes:
    """A row as a JSON object: structs as objects, lists as arrays."""
    return _json(row).encode("utf-8", "replace")


def _json(value: Any) -> str:
    return json.dumps(_plain(value), ensure_ascii=False, default=str)


def _plain(value: Any) -> Any:
    """What JSON can hold: NaN as null, bytes as text or base64."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not abs(value) < float("inf"):
        return None
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.b64encode(value).decode("ascii")
    return value


def _arrow(name: str) -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise CorpusError(f"{name} is a Parquet file, which needs pyarrow. {INSTALL}") from None


def _seekable(stream: Stream) -> Any:
    """A Parquet file is read from its end, so what cannot be sought in is copied to a temporary file."""
    if stream.name != STANDARD_INPUT and not stream.compressed:
        return open(stream.name, "rb")
    import tempfile  # takes a hundredth of a second, for a rare case

    copy = tempfile.TemporaryFile()  # noqa: SIM115 (closed with the reader)
    while chunk := stream.read(1 << 20):
        copy.write(chunk)
    copy.seek(0)
    return copy
