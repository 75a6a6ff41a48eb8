"""Options of reading a corpus, and error handling."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from os import PathLike

SKIP = 'Correct it, or leave such lines out with `on_error="skip"`.'
MAX_RECORD = 256 << 20
"""The longest record that is read unless another limit is given: a human chromosome fits."""


class CorpusError(ValueError):
    """Says what is wrong with the input, where it is, and what to do about it."""


def too_long(most: int) -> str:
    """Say that a record passes the limit, and what to do about it."""
    return (
        f": a record has more than {most:,} bytes. If it is meant to, raise the limit with `max_record`; if "
        "not, look for a quote that is never closed, or name another format"
    )


def listed(names: Sequence[str], conjunction: str = "and") -> str:
    """Write names as people do: 'a', 'b' and 'c'."""
    quoted = [repr(name) for name in names]
    if len(quoted) > 12:
        quoted = [*quoted[:11], f"{len(quoted) - 11} more"]
    if len(quoted) < 2:
        return "".join(quoted)
    return f"{', '.join(quoted[:-1])} {conjunction} {quoted[-1]}"


@dataclass(frozen=True)
class Reject:
    """A record that was left out: where it is, and why. A file that is one record has no line."""

    file: str
    line: int | None
    reason: str


@dataclass
class Settings:
    """The options of `open_corpus`, checked, and the count of rows that were skipped."""

    format: str | None = None
    text: tuple[str, ...] = ()
    label: str | None = None
    header: bool | None = None
    encoding: str = "utf-8"
    on_error: str = "stop"
    labeled: bool | None = None
    table: bool = False
    taxonomy: str | PathLike[str] | None = None
    rank: str | int | None = None
    batch_bytes: int = 4 << 20
    interactive: bool = False
    max_record: int = MAX_RECORD
    constant: str | None = None
    mail: bool = False
    others: bool = True
    places: bool = False
    on_reject: Callable[[Reject], None] | None = None
    skipped: int = field(default=0, init=False)
    gaps: list[tuple[int, str]] = field(default_factory=list, init=False)
    decided: tuple[tuple[str, ...], str | None, str] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.on_error not in ("stop", "skip", "replace"):
            raise CorpusError(f"on_error must be 'stop', 'skip' or 'replace', got {self.on_error!r}.")
        for name in ("batch_bytes", "max_record"):
            if getattr(self, name) < 1:
                raise CorpusError(f"{name} must be at least 1, got {getattr(self, name)}.")
        try:
            name = codecs.lookup(self.encoding).name
        except LookupError:
            message = f"No encoding is named {self.encoding!r}. Common ones are utf-8, latin-1 and utf-16."
            raise CorpusError(message) from None
        self.encoding = "utf-8" if name == "utf-8-sig" else name
        if self.on_error == "skip" and not self.has_byte_lines:
            raise CorpusError(
                f'A line of {name} cannot be skipped. Choose `on_error="replace"` or `on_error="stop"`.'
            )
        if self.constant is not None:
            self._check_constant()

    def _check_constant(self) -> None:
        if self.label is not None:
            raise CorpusError("`constant` gives every document its label; drop it or `label`.")
        if not self.constant:
            raise CorpusError("`constant` is empty. Name the class of the documents.")
        self.labeled = False

    @property
    def has_byte_lines(self) -> bool:
        """Whether a line break is the byte 10, as it is in all encodings but UTF-16, UTF-32 and EBCDIC."""
        return "\n".encode(self.encoding) == b"\n"

    @property
    def line_encoding(self) -> str:
        """The encoding of the lines of an opened stream, which has been recoded if it had no byte lines."""
        return self.encoding if self.has_byte_lines else "utf-8"

    def refuse(self, name: str, line: int, reason: str, remedy: str = SKIP, unit: str = "line") -> None:
        """Raise an error that names the record, or leave it out if that was asked for.

        The reason goes on behind "mail.tsv, line 12".
        """
        message = f"{name}, {unit} {line}{reason}."
        if self.on_error != "skip":
            raise CorpusError(f"{message} {remedy}".rstrip())
        self.reject(Reject(name, line, reason.lstrip(" :")), message)

    def reject(self, rejected: Reject, message: str, number: int | None = None) -> None:
        """Count a record that is left out, and tell of it; its number, if that is not its line."""
        self.skipped += 1
        if self.on_reject:
            self.on_reject(rejected)
        if self.places:
            self.gaps.append((number or rejected.line or 0, message))
