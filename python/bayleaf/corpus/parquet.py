"""Parquet, as Arrow arrays that go to the core without a copy."""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterator
from typing import Any

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.layout import chosen
from bayleaf.corpus.reader import StreamReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.streams import STANDARD_INPUT, Stream

INSTALL = 'To read it: pip install "bayleaf[data]".'


class ParquetReader(StreamReader):
    """Reads the columns of a Parquet file as strings, some rows at a time."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream, settings)
        self._arrow, parquet = _arrow(stream.name)
        self._copy = _seekable(stream)
        self._copy_size = os.fstat(self._copy.fileno()).st_size
        try:
            self._file = parquet.ParquetFile(self._copy)
            self.layout = chosen(tuple(self._file.schema_arrow.names), settings, stream.name)
        except (self._arrow.ArrowException, OSError) as error:
            self._copy.close()
            raise CorpusError(f"{stream.name} is damaged or not a Parquet file: {error}") from None
        except CorpusError:
            self._copy.close()
            raise
        self._done = 0
        self._rows: int = self._file.metadata.num_rows

    @property
    def consumed(self) -> int:
        """The part of the file that the rows so far make up."""
        if self.stream.compressed:
            return self.stream.consumed
        return self._copy_size * self._done // max(self._rows, 1)

    def batches(self) -> Iterator[Batch]:
        """Stream the rows."""
        before = 0
        try:
            for rows in self._file.iter_batches(batch_size=self._rows_per_batch()):
                columns = {name: self._strings(rows.column(name), name) for name in self.layout.columns}
                columns, numbers = self._complete(columns, before)
                before = self._done = before + rows.num_rows
                if len(numbers):
                    yield self.batch(columns, self.numbered(numbers, "row"))
        except (self._arrow.ArrowException, OSError) as error:
            raise CorpusError(f"{self.name} is damaged: {error}") from None

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
        try:
            return column.cast(self._arrow.string())
        except self._arrow.ArrowException as error:
            if name in (*self.layout.text, self.layout.label):
                raise CorpusError(f"{self.name}: the column {name!r} is not text: {error}") from None
            return self._arrow.array(
                [None if value is None else str(value) for value in column.to_pylist()], "string"
            )

    def _complete(self, columns: dict[str, Any], before: int) -> tuple[dict[str, Any], Any]:
        """Leave out rows without a label; a text that is null is an empty one."""
        for name in self.layout.text:
            columns[name] = columns[name].fill_null("")
        numbers = self._arrow.array(range(before + 1, before + 1 + len(next(iter(columns.values())))))
        label = self.layout.label
        if label and columns[label].null_count:
            missing = columns[label].is_null()
            first = numbers.filter(missing)[0].as_py()
            message = f"{self.name}, row {first} has no label. Leave such rows out with --on-error skip."
            self.settings.refuse(message, columns[label].null_count)
            keep = columns[label].is_valid()
            columns = {name: column.filter(keep) for name, column in columns.items()}
            numbers = numbers.filter(keep)
        return columns, numbers.to_pylist()


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
