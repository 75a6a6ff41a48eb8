"""A corpus: named inputs, opened, and streamed as batches."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.formats import EmptyInputError, check_format
from bayleaf.corpus.reader import Reader
from bayleaf.corpus.settings import MAX_RECORD, CorpusError, Reject, Settings, listed
from bayleaf.corpus.shards import split
from bayleaf.corpus.sources import Source, expanded
from bayleaf.first_lines import looks_like


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
        self._first, self.format, self._reader = self._opened_first()
        self._waiting: Reader | None = self._reader
        layout = self._reader.layout
        self.columns, self.text_columns, self.label_column = layout.columns, layout.text, layout.label
        self.has_labels = self._reader.labeled
        if layout.named and layout.text:
            settings.decided = layout.text, layout.label, self._sources[self._first].path

    def _opened_first(self) -> tuple[int, str, Reader]:
        """The first input that has something in it."""
        for number in range(len(self._sources)):
            if opened := self._open(number):
                return number, *opened
        raise CorpusError(f"{self._sources[0].path} is empty, and so is everything else.")

    def _open(self, number: int) -> tuple[str, Reader] | None:
        """Open an input; none if it is empty and such are left out."""
        try:
            return self._sources[number].open(self._settings)
        except EmptyInputError as error:
            if self._settings.on_error != "skip":
                raise
            self._settings.reject(Reject(self._sources[number].path, None, "is empty"), str(error))
            self._settings.gaps.clear()  # it has no record whose place would have to be kept
            return None

    @cached_property
    def total_bytes(self) -> int | None:
        """The size of all inputs, compressed where they are; None if standard input is among them."""
        sizes = [source.size() for source in self._sources]
        return None if None in sizes else sum(size for size in sizes if size is not None)

    @property
    def looks_like(self) -> str:
        """The format that the first input begins like, whatever it is read as."""
        stream = getattr(self._reader, "stream", None)
        return self.format if stream is None else looks_like(stream.peek(1))

    @property
    def bytes_read(self) -> int:
        """How much of `total_bytes` has been read so far."""
        return self._finished + self._reader.consumed

    @property
    def skipped(self) -> int:
        """How many rows were left out: undecodable, malformed or without a class."""
        return self._settings.skipped

    def __iter__(self) -> Iterator[Batch]:
        if self._waiting is None:
            self._start_again()
        for number in range(self._first, len(self._sources)):
            if number > self._first or self._waiting is None:
                self._finished += self._reader.consumed if number > self._first else 0
                opened = self._open(number)
                if opened is None:
                    continue
                self._reader = opened[1]
                self._check_alike()
            self._waiting = None
            try:
                yield from self._reader.batches()
            finally:
                self._reader.close()

    def _check_alike(self) -> None:
        """Later inputs may be of another format, but must have what the first one has."""
        layout, name, first = self._reader.layout, self._reader.name, self._sources[self._first].path
        if self._reader.labeled != self.has_labels:
            has, other = ("no labels", "has") if self.has_labels else ("labels", "has none")
            raise CorpusError(f"{name} has {has}, but {first} {other}. Read them apart.")
        if not (self.text_columns and layout.text) and layout.columns != self.columns:
            columns, others = listed(layout.columns), listed(self.columns)
            raise CorpusError(f"{name} has the columns {columns}, but {first} has {others}. Read them apart.")

    def split(self, of: int) -> list[Shard]:
        """Divide the inputs among so many tasks, which together read every document once."""
        return [Shard(sources, self._settings) for sources in split(self._sources, self._settings, of)]

    def narrow(self, number: int, of: int) -> None:
        """Read only part `number` (from 0) of `of`."""
        self._sources, self._first = split(self._sources, self._settings, of)[number], 0
        self._reader.close()
        self._waiting = None

    def inventory(self) -> list[tuple[str, int | None]]:
        """The names of the files, without their folders, and their sizes."""
        return [(os.path.basename(source.path), source.size()) for source in self._sources]

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


@dataclass(frozen=True)
class Shard:
    """What one task reads of a corpus; it can be pickled and sent to where the files are visible."""

    sources: list[Source]
    settings: Settings

    def __iter__(self) -> Iterator[Batch]:
        if self.sources:
            with Corpus(self.sources, self.settings) as corpus:
                yield from corpus


def open_corpus(
    *inputs: str | os.PathLike[str],
    format: str | None = None,
    text: str | int | Sequence[str | int] | None = None,
    label: str | int | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    on_error: str = "stop",
    labeled: bool | None = None,
    table: bool = False,
    taxonomy: str | os.PathLike[str] | None = None,
    rank: str | int | None = None,
    batch_bytes: int = 4 << 20,
    interactive: bool = False,
    max_record: int = MAX_RECORD,
    constant: str | None = None,
    mail: bool = False,
    others: bool = True,
    places: bool = False,
    on_reject: Callable[[Reject], None] | None = None,
) -> Corpus:
    """Open files, folders, patterns or "-" (standard input) as a stream of batches of columns.

    format: one of `FORMATS`; None guesses from name and content (see `Corpus.format`). Standard input is not
        guessed: it is lines, or, where labels are needed, a label, a tab and a text on each line.
    text, label: names, or numbers from 1, of the text column or columns and of the label column; in JSON
        lines and Parquet also of what is inside one: "metadata.lang". `label` may also be "folder" or "file"
        (the name of the file's folder, or its own), or a regular expression with one group that is searched
        in the path, such as ``"(ham|spam)"``. What the first input decides holds for all.
    header: whether the first row of a table names its columns; None guesses.
    encoding, on_error: how bytes become text, and what to do with a record that is undecodable or malformed:
        "stop" with a `CorpusError`, "skip" and count it, or "replace" what cannot be decoded. Mails name
        their encodings themselves.
    labeled: True requires labels; False ignores them; None takes them where they are.
    table: True does without a text column.
    taxonomy, rank: for FASTA and FASTQ, the table of names and lineages, and the rank ("genus" or 6) that is
        the label.
    batch_bytes: about how many bytes of input make a batch.
    interactive: True yields what has come, down to a single line, instead of waiting for a full batch.
    max_record: how many bytes a line, a quoted row, a message or a sequence may have, decompressed.
    constant: the label of every document.
    mail: True reads what begins with mail headers as a mail.
    others: False leaves out columns that are neither text nor label.
    places, on_reject: keep the places of records that are left out (`Batch.gaps`); a function that is told.
    """
    check_format(format)
    texts = () if text is None else (text,) if isinstance(text, str | int) else tuple(text)
    settings = Settings(
        format=format,
        text=tuple(map(str, texts)),
        label=None if label is None else str(label),
        header=header,
        encoding=encoding,
        on_error=on_error,
        labeled=labeled,
        table=table,
        taxonomy=taxonomy,
        rank=rank,
        batch_bytes=batch_bytes,
        interactive=interactive,
        max_record=max_record,
        constant=constant,
        mail=mail,
        others=others,
        places=places,
        on_reject=on_reject,
    )
    return Corpus(expanded(inputs, settings), settings)
