"""From what a user names (files, folders, patterns, "-") to what is read."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice

from bayleaf.corpus.delimited import TableReader
from bayleaf.corpus.documents import Document, DocumentsReader, documents_below, is_maildir, size_below
from bayleaf.corpus.fasta import FastaReader
from bayleaf.corpus.formats import BY_ENDING, STREAMED, by_name, guessed
from bayleaf.corpus.lines import FastTextReader, LinesReader
from bayleaf.corpus.parquet import ParquetReader
from bayleaf.corpus.reader import Reader, folder_name
from bayleaf.corpus.records import JsonReader, MboxReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.streams import Stream, open_stream, stem

READERS: dict[str, Callable[[Stream, Settings], Reader]] = {
    "tsv": partial(TableReader, quoted=False),
    "csv": partial(TableReader, quoted=True),
    "jsonl": JsonReader,
    "parquet": ParquetReader,
    "fasttext": FastTextReader,
    "mbox": MboxReader,
    "fasta": FastaReader,
    "lines": LinesReader,
}
SHARDS = set(BY_ENDING) - {".eml", ".mbox", ".mbx"}


@dataclass(frozen=True)
class Source:
    """One thing to read: a file, standard input ("-"), or documents that are files of their own."""

    path: str
    kind: str | None = None
    others: tuple[str, ...] = ()

    def size(self) -> int | None:
        """How many bytes there are to read, if that can be known."""
        if self.path == "-":
            return None
        if self.kind:
            return size_below(self._documents())
        return os.path.getsize(self.path) if os.path.isfile(self.path) else None

    def open(self, settings: Settings) -> tuple[str, Reader]:
        """Open the input; gives its format and a reader."""
        if self.kind:
            return self.kind, DocumentsReader(self.path, self._documents(), settings)
        stream = open_stream(self.path, settings)
        try:
            kind = guessed(stream, settings)
            return kind, READERS[kind](stream, settings)
        except BaseException:
            stream.close()
            raise

    def _documents(self) -> Iterator[Document]:
        for path in (self.path, *self.others):
            if os.path.isdir(path):
                yield from documents_below(path)
            else:
                yield Document(path, folder_name(path))


def expanded(inputs: Iterable[str | os.PathLike[str]], settings: Settings) -> list[Source]:
    """Find the files and folders that the inputs name, in the order given, those of a pattern by name."""
    sources: list[Source] = []
    for given in inputs:
        name = os.fspath(given)
        if name == "-" or os.path.exists(name):
            sources += _named(name, settings)
        elif glob.has_magic(name):
            found = sorted(glob.glob(name, recursive=True))
            if not found:
                raise CorpusError(f"No file matches {name!r}.")
            sources += [source for path in found for source in _named(path, settings)]
        else:
            raise CorpusError(f"{name} does not exist.")
    if not sources:
        raise CorpusError("No input is named. Name files or folders, or '-' for standard input.")
    if sum(source.path == "-" for source in sources) > 1:
        raise CorpusError("Standard input ('-') can be read once only.")
    return list(_merged(sources))


def _merged(sources: list[Source]) -> Iterator[Source]:
    """Put neighbors together that are documents: ten thousand files of mail are one stream."""
    for kind, neighbors in groupby(sources, key=lambda source: source.kind):
        if kind is None:
            yield from neighbors
        else:
            first, *others = (source.path for source in neighbors)
            yield Source(first, kind, tuple(others))


def _named(name: str, settings: Settings) -> list[Source]:
    asked = settings.format
    if os.path.isdir(name):
        return _folder(name, asked)
    if asked in ("folders", "maildir"):
        raise CorpusError(
            f"{name} is not a folder, as the format {asked!r} needs. Name the folder, or another format."
        )
    if asked == "eml" or (asked is None and name != "-" and by_name(name) == "eml"):
        return [Source(name, "eml")]
    return [Source(name)]


def _folder(name: str, asked: str | None) -> list[Source]:
    """A folder of shards (part-0.parquet, part-1.parquet) is read as its files, any other as documents."""
    if is_maildir(name):
        return [Source(name, "maildir")]
    documents = list(islice(documents_below(name), 1000))
    if not documents:
        raise CorpusError(
            f"{name} holds no documents. Expected a folder for each class with a file for each document, "
            "or a Maildir with the folders 'cur' and 'new'."
        )
    if asked in STREAMED or (asked is None and all(stem(doc.path)[1] in SHARDS for doc in documents)):
        shards = (doc for doc in documents_below(name) if not os.path.basename(doc.path).startswith("_"))
        return [Source(doc.path) for doc in shards]
    return [Source(name, asked or "folders")]
