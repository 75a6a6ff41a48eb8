"""A corpus: named inputs, opened, and streamed as batches."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.formats import check_format
from bayleaf.corpus.reader import Reader
from bayleaf.corpus.settings import CorpusError, Settings, listed
from bayleaf.corpus.sources import Source, expanded


class Corpus:
    """Documents from one or more inputs, as a stream of batches; memory does not depend on their size.

    What is known before reading is that of the first input. Iterating again reads the files again.
    """

    format: str
    """What the first input was taken for: 'tsv', 'csv', ..., 'folders'."""
    columns: tuple[str, ...]
    """The names of the columns, in the input's order."""
    text_columns: tuple[str, ...]
    """The columns that hold the text; empty for a table without one."""
    label_column: str | None
    """The column that holds the label; None if there is none, or if the label comes from the path."""

    def __init__(self, sources: Sequence[Source], settings: Settings) -> None:
        self._sources = sources
        self._settings = settings
        self._finished = 0
        self.format, self._reader = sources[0].open(settings)
        self._waiting: Reader | None = self._reader
        layout = self._reader.layout
        self.columns, self.text_columns, self.label_column = layout.columns, layout.text, layout.label
        self.has_labels = self._labelled(self._reader)

    @staticmethod
    def _labelled(reader: Reader) -> bool:
        return reader.layout.label is not None or reader.path_label is not None

    @cached_property
    def total_bytes(self) -> int | None:
        """The size of all inputs, compressed where they are; None if standard input is among them."""
        sizes = [source.size() for source in self._sources]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def bytes_read(self) -> int:
        """How much of `total_bytes` has been read so far."""
        return self._finished + self._reader.consumed

    @property
    def encoding(self) -> str:
        """The encoding in which the inputs are read."""
        return self._settings.encoding

    @property
    def skipped(self) -> int:
        """How many rows were left out: undecodable, malformed or without a class."""
        return self._settings.skipped

    def __iter__(self) -> Iterator[Batch]:
        if self._waiting is None:
            self._start_again()
        for number, source in enumerate(self._sources):
            if number or self._waiting is None:
                self._finished += self._reader.consumed if number else 0
                self._reader = source.open(self._settings)[1]
                self._check_alike()
            self._waiting = None
            try:
                yield from self._reader.batches()
            finally:
                self._reader.close()

    def _check_alike(self) -> None:
        """Later inputs may be of another format, but must have what the first one has."""
        layout, name = self._reader.layout, self._reader.name
        if self._labelled(self._reader) != self.has_labels:
            has, first = ("no labels", "has") if self.has_labels else ("labels", "has none")
            raise CorpusError(f"{name} has {has}, but {self._sources[0].path} {first}. Read them apart.")
        if not (self.text_columns and layout.text) and layout.columns != self.columns:
            columns, others = listed(layout.columns), listed(self.columns)
            first = self._sources[0].path
            raise CorpusError(f"{name} has the columns {columns}, but {first} has {others}. Read them apart.")

    def close(self) -> None:
        """Close what is open; a corpus that is no longer used does so itself."""
        if hasattr(self, "_reader"):
            self._reader.close()

    __del__ = close

    def __enter__(self) -> Corpus:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _start_again(self) -> None:
        if any(source.path == "-" for source in self._sources):
            raise CorpusError("Standard input can be read once only. Save it to a file to read it again.")
        self._finished = self._settings.skipped = 0


def open_corpus(
    *inputs: str | os.PathLike[str],
    format: str | None = None,
    text: str | int | Sequence[str | int] | None = None,
    label: str | int | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    on_error: str = "stop",
    labelled: bool | None = None,
    table: bool = False,
    taxonomy: str | os.PathLike[str] | None = None,
    rank: str | int | None = None,
    batch_bytes: int = 4 << 20,
    interactive: bool = False,
) -> Corpus:
    """Open files, folders, patterns or "-" (standard input) as a stream of batches of columns.

    format: one of `FORMATS`; None guesses from name and content (see `Corpus.format`).
    text, label: names, or numbers from 1, of the text column or columns and of the label column. `label` may
        also be "folder" or "file" (the name of the file's folder, or its own), or a regular expression with
        one group that is searched in the path, such as ``"(ham|spam)"``.
    header: whether the first row of a table names its columns; None guesses.
    encoding, on_error: how bytes become text, and what to do with a row that is undecodable or malformed:
        "stop" with a `CorpusError`, "skip" and count it, or "replace" what cannot be decoded.
    labelled: True requires labels; False ignores them; None takes them where they are.
    table: True does without a text column.
    taxonomy, rank: for FASTA, the file of names and lineages, and the rank ("genus" or 6) that is the label.
    batch_bytes: about how many bytes of input make a batch.
    interactive: True yields what has come, down to a single line, instead of waiting for a full batch.
    """
    check_format(format)
    texts = () if text is None else (text,) if isinstance(text, str | int) else tuple(text)
    names, rule = tuple(map(str, texts)), None if label is None else str(label)
    settings = Settings(
        format,
        names,
        rule,
        header,
        encoding,
        on_error,
        labelled,
        table,
        taxonomy,
        rank,
        batch_bytes,
        interactive,
    )
    return Corpus(expanded(inputs, settings), settings)
