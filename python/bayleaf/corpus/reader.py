"""What the readers of all formats share: a layout, and batches made from columns."""

from __future__ import annotations

import os
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence

from bayleaf.corpus.batches import Batch, Column
from bayleaf.corpus.layout import Layout, from_path
from bayleaf.corpus.settings import CorpusError, Settings
from bayleaf.corpus.slices import Slices
from bayleaf.corpus.streams import Stream, stem

KNOWN_ENDINGS = (".txt", ".text", ".mbox", ".mbx", ".eml", ".tsv", ".csv", ".jsonl", ".fasta", ".fa", ".fna")


class Reader(ABC):
    """Reads one input of one format: `layout` is known from the start, `batches` stream the rest."""

    layout: Layout

    def __init__(self, name: str, settings: Settings) -> None:
        self.name = name
        self.settings = settings

    @property
    @abstractmethod
    def consumed(self) -> int:
        """How many bytes of the input have been read."""

    def close(self) -> None:
        """Close the input."""
        return

    def numbered(self, numbers: Sequence[int], unit: str = "line") -> Callable[[int], str]:
        """Name each row by a number of its own."""
        return lambda row: f"{self.name}, {unit} {numbers[row]}"

    @abstractmethod
    def batches(self) -> Iterator[Batch]:
        """Stream the input."""

    @property
    def path_label(self) -> str | None:
        """The label that the whole input has from its path, if that is where labels come from."""
        label = self.settings.label
        if label is None or self.layout.label or self.settings.labelled is False:
            return None
        return label_of(self.name, label)

    def batch(self, columns: Mapping[str, Column], origins: Callable[[int], str]) -> Batch:
        """Make a batch of columns, the label from the layout or from the path."""
        labels = columns[self.layout.label] if self.layout.label else None
        if (of_file := self.path_label) is not None:
            labels = Slices.repeated(of_file, len(next(iter(columns.values()))))
        return Batch(columns, self.layout.text, labels, origins)


class StreamReader(Reader):
    """Reads one stream."""

    def __init__(self, stream: Stream, settings: Settings) -> None:
        super().__init__(stream.name, settings)
        self.stream = stream

    @property
    def consumed(self) -> int:
        """How many bytes of the file, compressed if it is, have been read."""
        return self.stream.consumed

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()


def label_of(path: str, rule: str) -> str:
    """Read a label off a file's path: its "folder", its "file" name, or the group of a pattern."""
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
    """The name of the folder that a file is in."""
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


def unlabelled_layout(name: str, settings: Settings, columns: tuple[str, ...], remedy: str) -> Layout:
    """Give the layout of a format that has no labels of its own; the path may give them."""
    by_path = settings.label is not None and from_path(settings.label)
    if settings.labelled and not by_path:
        raise CorpusError(f"{name}: {remedy}")
    if settings.label is not None and not by_path:
        raise CorpusError(f"{name}: no column is named {settings.label!r}; {remedy}")
    return Layout(columns, ("text",), None)
