"""What the readers of all formats share: a layout, and batches made from columns."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from bayleaf.corpus.batches import Batch, Column, Origins
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import STANDARD_INPUT, Section, Stream, stem
from bayleaf.raw_mail import in_maildir

KNOWN_ENDINGS = (
    *(".txt", ".text", ".mbox", ".mbx", ".eml", ".tsv", ".csv", ".jsonl"),
    *(".fasta", ".fa", ".fna", ".fastq", ".fq"),
)


class Reader(ABC):
    """Reads one input of one format: `layout` is known from the start, `batches` stream the rest."""

    layout: Layout

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = self.path = name
        self.settings = settings

    @property
    @abstractmethod
    def consumed(self) -> int:
        """How many bytes of the input have been read."""

    def close(self) -> None:
        """Close the input."""
        return

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Stream the input."""

    @property
    def path_label(self) -> str | None:
        """The label that the whole input has from its path, if that is where labels come from."""
        label = self.settings.label
        if label is None or self.layout.label or self.settings.labeled is False:
            return None
        return label_of(self.path, label)

    @property
    def labeled(self) -> bool:
        """Whether its documents have labels, wherever they come from."""
        given = self.settings.constant is not None
        return given or self.layout.label is not None or self.path_label is not None

    def batch(
        self,
        columns: Mapping[str, Column],
        origins: Origins,
        mails: Sequence[bytes] | None = None,
        records: Callable[[], list[bytes]] | None = None,
    ) -> Iterator[Batch]:
        """Make a batch of columns, the label from the layout or from the path; none of no rows."""
        rows = len(next(iter(columns.values())))
        gaps = self._gaps(origins)
        if not rows and not gaps:
            return
        labels = columns[self.layout.label] if self.layout.label else None
        whole = self.settings.constant if self.settings.constant is not None else self.path_label
        if whole is not None:
            labels = Slices.repeated(whole, rows)
        yield Batch(columns, self.layout.text, labels, origins, gaps, mails, records)

    def _gaps(self, origins: Origins) -> tuple[tuple[int, str], ...]:
        """The records that were left out since the last batch, each with the number of rows before it."""
        left_out, self.settings.gaps = sorted(self.settings.gaps), []
        if not left_out:
            return ()
        before = np.searchsorted(origins.numbers, [line for line, _ in left_out]).tolist()
        return tuple((row, message) for row, (_, message) in zip(before, left_out, strict=True))


class StreamReader(Reader):
    """Reads one stream."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream.name, settings)
        self.stream = stream

    @property
    def consumed(self) -> int:
        """How many bytes of the file, compressed if it is, have been read."""
        return self.stream.consumed

    def restrict(self, start: int, end: int) -> None:
        """Read only the records that begin in a range of the file's bytes."""
        self.stream.close()
        self.stream = Section(self.path, start, end, self.settings)
        self.name = self.stream.name

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()


def label_of(path: str, rule: str) -> str:
    """Read a label off a file's path: its "folder", its "file" name, or the group of a pattern."""
    if path == STANDARD_INPUT:
        raise CorpusError("Standard input has no path to read a label off. Name its class with `constant`.")
    if rule == "folder":
        return folder_name(path)
    if rule == "file":
        base, ending = stem(path)
        return base if ending in KNOWN_ENDINGS else base + ending
    match = pattern(rule).search(str(path))
    if match is None:
        raise CorpusError(f"{path}: the label pattern {rule!r} does not match this path.")
    return match[1]


def folder_name(path: str) -> str:
    """The name of the folder that a file is in; of a mail in a Maildir, the name of the Maildir."""
    maildir = in_maildir(path)
    if maildir is not None:
        return os.path.basename(maildir).removeprefix(".")
    return os.path.basename(os.path.dirname(os.path.abspath(path)))


def pattern(rule: str) -> re.Pattern[str]:
    """Compile a label pattern, which must have one group."""
    try:
        compiled = re.compile(rule)
    except re.error as error:
        raise CorpusError(f"The label pattern {rule!r} is not a regular expression: {error}.") from None
    if compiled.groups != 1:
        raise CorpusError(
            f"The label pattern {rule!r} must have one group, in parentheses, around the label."
        )
    return compiled


def unlabeled_layout(name: str, settings: Settings, columns: tuple[str, ...], remedy: str) -> Layout:
    """Give the layout of a format that has no labels of its own; the path may give them."""
    by_path = settings.label is not None and from_path(settings.label)
    if settings.labeled and not by_path:
        raise CorpusError(f"{name}: {remedy}")
    if settings.label is not None and not by_path:
        raise CorpusError(f"{name}: no column is named {settings.label!r}; {remedy}")
    return Layout(columns, ("text",), None)
