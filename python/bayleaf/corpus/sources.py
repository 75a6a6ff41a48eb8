"""Input arguments (files, folders, patterns, "-") to sources."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice

from bayleaf.corpus.delimited import TableReader
from bayleaf.corpus.documents import Document, DocumentsReader, documents_below, size_below
from bayleaf.corpus.fasta import FastaReader, FastqReader
from bayleaf.corpus.formats import BY_ENDING, STREAMED, by_name, check_options, guessed
from bayleaf.corpus.lines import FastTextReader, LinesReader
from bayleaf.corpus.mailboxes import MailReader, MboxReader
from bayleaf.corpus.parquet import ParquetReader
from bayleaf.corpus.reader import Reader, folder_name
from bayleaf.corpus.records import JsonReader
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.streams import Stream, open_stream, stem
from bayleaf.raw_mail import is_maildir

READERS: dict[str, Callable[[Stream, Settings], Reader]] = {
    "tsv": partial(TableReader, quoted=False),
    "csv": partial(TableReader, quoted=True),
    "jsonl": JsonReader,
    "parquet": ParquetReader,
    "fasttext": FastTextReader,
    "mbox": MboxReader,
    "fasta": FastaReader,
    "fastq": FastqReader,
    "eml": MailReader,
    "lines": LinesReader,
}
SHARDS = set(BY_ENDING) - {".eml"}
MAILBOXES = (".mbox", ".mbx")
STANDARD_INPUTS = ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0")


@dataclass(frozen=True)
class Source:
    """One thing to read: a file, standard input ("-"), or documents that are files of their own."""

    path: str
    kind: str | None = None
    others: tuple[str, ...] = ()
    strict: bool = False

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
            check_options(self.path, self.kind, settings)
            mail = self.kind in ("maildir", "eml")
            return self.kind, DocumentsReader(self.path, self._documents(), settings, mail)
        stream = open_stream(self.path, settings)
        try:
            kind = guessed(stream, settings)
            check_options(stream.name, kind, settings)
            return kind, READERS[kind](stream, settings)
        except BaseException:
            stream.close()
            raise

    def _documents(self) -> Iterator[Document]:
        for path in (self.path, *self.others):
            if os.path.isdir(path):
                yield from documents_below(path, self.strict)
            else:
                yield Document(path, folder_name(path))


def expanded(inputs: Iterable[str | os.PathLike[str]], settings: Settings) -> list[Source]:
    """Find the files and folders that the inputs name, in the order given, those of a pattern by name."""
    sources: list[Source] = []
    for given in inputs:
        name = "-" if os.fspath(given) in STANDARD_INPUTS else os.fspath(given)
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
            first, *others = neighbors
            strict = first.strict or any(source.strict for source in others)
            yield Source(first.path, kind, tuple(source.path for source in others), strict)


def _named(name: str, settings: Settings) -> list[Source]:
    asked = settings.format
    if os.path.isdir(name):
        return _folder(name, settings)
    if asked in ("folders", "maildir"):
        raise CorpusError(
            f"{name} is not a folder, as the format {asked!r} needs. Name the folder, or another format."
        )
    if name != "-" and (asked == "eml" or (asked is None and by_name(name) == "eml")):
        return [Source(name, "eml")]
    return [Source(name)]


def _folder(name: str, settings: Settings) -> list[Source]:
    """A folder of shards (part-0.parquet, part-1.parquet) is read as its files, any other as documents."""
    asked = settings.format
    if is_maildir(name):
        return [Source(name, "maildir")]
    documents = list(islice(documents_below(name, asked is None and _strict(settings)), 1000))
    if not documents:
        raise CorpusError(
            f"{name} holds no documents. Expected a folder for each class with a file for each document, "
            "or a Maildir with the folders 'cur' and 'new'."
        )
    if asked in STREAMED or (asked is None and all(stem(doc.path)[1] in SHARDS for doc in documents)):
        shards = [doc for doc in documents_below(name) if not os.path.basename(doc.path).startswith("_")]
        _check_mailboxes(name, shards, settings)
        return [Source(doc.path) for doc in shards]
    return [Source(name, asked or "folders", strict=_strict(settings))]


def _strict(settings: Settings) -> bool:
    """Whether classes are needed and nothing was said about where they come from."""
    return settings.labeled is not False and settings.label is None


def _check_mailboxes(name: str, shards: list[Document], settings: Settings) -> None:
    """Two mailboxes of one name in two folders: is the class the name of the file, or of the folder?"""
    if settings.labeled is False or settings.label is not None:
        return
    boxes = [stem(doc.path) for doc in shards if stem(doc.path)[1] in MAILBOXES]
    if len({base for base, _ in boxes}) < len(boxes):
        raise CorpusError(
            f"{name} holds mailboxes of the same name in several folders. Say where the class is with "
            '`label="folder"` or `label="file"`.'
        )
