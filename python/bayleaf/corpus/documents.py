"""A document per file: a folder for each class, Maildir, and files of mail."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from bayleaf.corpus.batches import Batch, FileOrigins
from bayleaf.corpus.blocks import UNDECODABLE, decoded
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.mailboxes import read_mail, read_whole
from bayleaf.corpus.reader import Reader, label_of
from bayleaf.corpus.settings import CorpusError, Reject, Settings, too_long
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import BOM, MAGIC, open_stream
from bayleaf.raw_mail import is_maildir


@dataclass(frozen=True)
class Document:
    """A file that is one document, and the folder that names its class."""

    path: str
    folder: str


def documents_below(
    folder: str, strict: bool = False, enclosing: tuple[tuple[int, int], ...] = ()
) -> Iterator[Document]:
    """Walk a tree in the order of names; a file is of the class that its folder names.

    `strict` refuses a file beside folders: a summary is no document, and which class is it? Hidden files are
    left out, and links that lead back to a folder around them. Maildirs are walked as mail folders.
    """
    if is_maildir(folder):
        yield from _mail_in(folder)
        return
    entries, own = _entries(folder), _identity(folder)
    folders, files = _divided(entries)
    if strict and folders and files:
        raise CorpusError(
            f"{files[0]} lies beside the folder {folders[0]}. If each file is of the class that its folder "
            'names, say so with `label="folder"`; if it is no document, move it away.'
        )
    for path in folders:
        if _identity(path) not in (*enclosing, own):
            yield from documents_below(path, strict, (*enclosing, own))
    label = os.path.basename(os.path.abspath(folder))
    yield from (Document(path, label) for path in files)


def _divided(entries: list[os.DirEntry[str]]) -> tuple[list[str], list[str]]:
    try:
        folders = [entry.path for entry in entries if entry.is_dir()]
        return folders, [entry.path for entry in entries if entry.is_file()]
    except OSError as error:
        raise CorpusError(f"{error.filename} could not be read: {error.strerror}.") from None


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted((entry for entry in entries if not entry.name.startswith(".")), key=_name)
    except OSError as error:
        raise CorpusError(f"{folder} could not be opened: {error.strerror or error}.") from error


def _identity(folder: str) -> tuple[int, int]:
    found = os.stat(folder)
    return found.st_dev, found.st_ino


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

    def __init__(self, name: str, documents: Iterable[Document], settings: Settings, mail: bool) -> None:
        super().__init__(name, settings)
        self._documents = documents
        self._mail = mail or settings.mail
        self._consumed = 0
        if settings.label and not from_path(settings.label):
            message = (
                f"{name}: the label of a file is its 'folder', its 'file' name or a pattern with a group"
            )
            raise CorpusError(f"{message}, got {settings.label!r}; choose with `label`.")
        self.layout = Layout(
            ("label", "text", "path"), ("text",), None if settings.labeled is False else "label"
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
        rows: list[tuple[bytes, bytes, int, Document]] = []
        size = 0
        for number, document in enumerate(self._documents, 1):
            raw = self._content(document.path)
            text = self._text(raw, document, number)
            if text is None:
                continue
            rows.append((text, raw, number, document))
            size += len(text) + 1
            if size >= self.settings.batch_bytes:
                yield from self._batch(rows)
                rows, size = [], 0
        yield from self._batch(rows)

    def _text(self, raw: bytes, document: Document, number: int) -> bytes | None:
        if self._mail:
            return read_mail(raw, self.settings, document.path)
        text, spoiled = decoded(raw, self.settings, document.path, 1)
        if not len(spoiled):
            return text
        rejected = Reject(document.path, None, UNDECODABLE)
        self.settings.reject(rejected, f"{document.path} {UNDECODABLE}.", number)
        return None

    def _content(self, path: str) -> bytes:
        try:
            with open(path, "rb", buffering=0) as file:
                content = file.read(self.settings.max_record + 1)
        except OSError as error:
            raise CorpusError(f"{path} could not be opened: {error.strerror or error}.") from error
        if len(content) > self.settings.max_record:
            raise CorpusError(f"{path}{too_long(self.settings.max_record)}.")
        self._consumed += len(content)
        if self._mail or (self.settings.has_byte_lines and not content.startswith(tuple(MAGIC))):
            return content.removeprefix(BOM)
        stream = open_stream(path, self.settings)
        try:
            return read_whole(stream, self.settings)
        finally:
            stream.close()

    def _batch(self, rows: list[tuple[bytes, bytes, int, Document]]) -> Iterator[Batch]:
        rule = self.settings.label
        documents = [document for *_, document in rows]
        labels = [label_of(d.path, rule) if rule and rule != "folder" else d.folder for d in documents]
        paths = [document.path for document in documents]
        columns = {
            "label": Slices.of(labels),
            "text": Slices.packed([text for text, *_ in rows]),
            "path": Slices.packed([os.fsencode(path).decode("utf-8", "replace").encode() for path in paths]),
        }
        origins = FileOrigins(self.name, lambda: [number for _, _, number, _ in rows], paths=paths)
        return self.batch(columns, origins, [raw for _, raw, _, _ in rows] if self._mail else None)


def size_below(documents: Iterable[Document]) -> int:
    """Add up the sizes of files."""
    return int(np.sum([os.path.getsize(document.path) for document in documents], dtype=np.int64))
