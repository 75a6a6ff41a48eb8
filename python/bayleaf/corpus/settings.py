"""How a corpus is to be read, and what happens to a row that cannot be."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from os import PathLike

SKIP = "Correct it, or leave such lines out with --on-error skip."


class CorpusError(ValueError):
    """Says what is wrong with the input, where it is, and what to do about it."""


def listed(names: Sequence[str], conjunction: str = "and") -> str:
    """Write names as people do: 'a', 'b' and 'c'."""
    quoted = [repr(name) for name in names]
    if len(quoted) > 12:
        quoted = [*quoted[:11], f"{len(quoted) - 11} more"]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


@dataclass
class Settings:
    """The options of `open_corpus`, checked, and the count of rows that were skipped."""

    format: str | None = None
    text: tuple[str, ...] = ()
    label: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    on_error: str = "stop"
    labelled: bool | None = None
    table: bool = False
    taxonomy: str | PathLike[str] | None = None
    rank: str | int | None = None
    batch_bytes: int = 4 << 20
    interactive: bool = False
    skipped: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        if self.on_error not in ("stop", "skip", "replace"):
            raise CorpusError(f"on_error must be 'stop', 'skip' or 'replace', got {self.on_error!r}.")
        if self.batch_bytes < 1:
            raise CorpusError(f"batch_bytes must be at least 1, got {self.batch_bytes}.")
        try:
            name = codecs.lookup(self.encoding).name
        except LookupError:
            message = f"No encoding is named {self.encoding!r}. Common ones are utf-8, latin-1 and utf-16."
            raise CorpusError(message) from None
        self.encoding = "utf-8" if name == "utf-8-sig" else name
        if self.on_error == "skip" and not self.has_byte_lines:
            raise CorpusError(f"A line of {name} cannot be skipped. Choose --on-error replace or stop.")

    @property
    def has_byte_lines(self) -> bool:
        """Whether a line break is the byte 10, as it is in all encodings but UTF-16, UTF-32 and EBCDIC."""
        return "\n".encode(self.encoding) == b"\n"

    @property
    def line_encoding(self) -> str:
        """The encoding of the lines of an opened stream, which has been recoded if it had no byte lines."""
        return self.encoding if self.has_byte_lines else "utf-8"

    def refuse(self, message: str, rows: int = 1) -> None:
        """Raise the message, or count the rows as skipped if that was asked for."""
        if self.on_error != "skip":
            raise CorpusError(message)
        self.skipped += rows
