"""A document per file: a folder for each class, Maildir, and files of mail."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bayleaf.corpus.batches import Batch
from bayleaf.corpus.blocks import decoded
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.reader import Reader, label_of
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import BOM, MAGIC, open_stream


@dataclass(frozen=True)
class Document:
    """A file that is one document, and the folder that names its class."""

    path: str
    folder: str


def is_maildir(folder: str) -> bool:
    """Whether a folder holds mail as Maildir does, in `cur` and `new`."""
    return all(os.path.isdir(os.path.join(folder, part)) for part in ("cur", "new"))


def documents_below(folder: str) -> Iterator[Document]:
    """Walk a tree in the order of names.

    Documents lie in the innermost folders. A file beside folders (a README, a summary) is not one, nor is
    anything hidden; the folders of a Maildir are, where a hidden one is a mail folder.
    """
    if is_maildir(folder):
        yield from _mail_in(folder)
        return
    try:
        entries = sorted((entry for entry in os.scandir(folder) if not entry.name.startswith(".")), key=_name)
    except OSError as error:
        raise CorpusError(f"{folder} could not be opened: {error.strerror or error}.") from error
    folders = [entry for entry in entries if entry.is_dir()]
    for entry in folders:
        yield from documents_below(entry.path)
    if not folders:
        label = os.path.basename(os.path.abspath(folder))
        yield from (Document(entry.path, label) for entry in entries if entry.is_file())


def _name(entry: os.DirEntry[str]) -> str:
    return entry.name


def _mail_in(folder: str) -> Iterator[Document]:
    label = os.path.basename(os.path.abspath(folder)).removeprefix(".")
    for part in ("cur", "new"):
        entries = sorted(os.scandir(os.path.join(folder, part)), key=_name)
        yield from (Document(e.path, label) for e in entries if e.is_file() and not e.name.startswith("."))
    for entry in sorted(os.scandir(folder), key=_name):
        if entry.is_dir() and entry.name not in ("cur", "new", "tmp") and is_maildir(entry.path):
            yield from _mail_in(entry.path)


class DocumentsReader(Reader):
    """Reads whole files as documents; the label is the folder's name unless another rule is given."""

    def __init__(self, name: str, documents: Iterable[Document], settings: Settings) -> None:
        super().__init__(name, settings)
        self._documents = documents
        self._consumed = 0
        if settings.label and not from_path(settings.label):
            message = (
                f"{name}: the label of a file is its 'folder', its 'file' name or a pattern with a group"
            )
            raise CorpusError(f"{message}, got {settings.label!r}; choose with --label-column.")
        self.layout = Layout(
            ("label", "text", "path"), ("text",), None if settings.labelled is False else "label"
        )

    @property
    def consumed(self) -> int:
        """How many bytes of the files have been read."""
        return self._consumed

    @property
    def path_label(self) -> str | None:
        """The label is a column of its own here."""
        return None

    def batches(self) -> Iterator[Batch]:
        """Stream the documents."""
        rows: list[tuple[bytes, Document]] = []
        size = 0
        for document in self._documents:
            text = self._text(document)
            if text is None:
                continue
            rows.append((text, document))
            size += len(text) + 1
            if size >= self.settings.batch_bytes:
                yield self._batch(rows)
                rows, size = [], 0
        if rows:
            yield self._batch(rows)

    def _text(self, document: Document) -> bytes | None:
        text, spoiled = decoded(self._content(document.path), self.settings, document.path, 1)
        self.settings.skipped += bool(len(spoiled))
        return None if len(spoiled) else text

    def _content(self, path: str) -> bytes:
        try:
            with open(path, "rb", buffering=0) as file:
                content = file.read()
        except OSError as error:
            raise CorpusError(f"{path} could not be opened: {error.strerror or error}.") from error
        self._consumed += len(content)
        if self.settings.has_byte_lines and not content.startswith(tuple(MAGIC)):
            return content.removeprefix(BOM)
        stream = open_stream(path, self.settings)
        try:
            return b"".join(iter(lambda: stream.read(1 << 24), b""))
        finally:
            stream.close()

    def _batch(self, rows: list[tuple[bytes, Document]]) -> Batch:
        rule = self.settings.label
        labels = [label_of(d.path, rule) if rule and rule != "folder" else d.folder for _, d in rows]
        paths = [document.path for _, document in rows]
        columns = {
            "label": Slices.of(labels),
            "text": Slices.packed([text for text, _ in rows]),
            "path": Slices.packed([os.fsencode(path).decode("utf-8", "replace").encode() for path in paths]),
        }
        return self.batch(columns, lambda row: paths[row])


def size_below(documents: Iterable[Document]) -> int:
    """Add up the sizes of files."""
    return int(np.sum([os.path.getsize(document.path) for document in documents], dtype=np.int64))
