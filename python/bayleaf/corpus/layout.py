"""Which columns a table has, and which of them are text and label."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bayleaf.corpus.settings import CorpusError, Settings, listed

TEXT_NAMES = (
    "text",
    "body",
    "message",
    "content",
    "document",
    "sentence",
    "review",
    "comment",
    "tweet",
    "sms",
)
LABEL_NAMES = ("label", "class", "category", "target", "sentiment", "tag", "topic", "lang", "language", "y")
NAME = re.compile(r"[^\W\d][\w.:-]*( [\w.:-]+){0,2}")


@dataclass(frozen=True)
class Layout:
    """The columns of an input by name; `header` says whether its first row holds the names."""

    columns: tuple[str, ...]
    text: tuple[str, ...]
    label: str | None
    header: bool = False


def has_header(rows: Sequence[Sequence[str]], settings: Settings, trusting: bool) -> bool:
    """Judge from the first rows whether the first one names the columns.

    `trusting` is for formats that usually have a header (CSV): there, a first row of distinct names is one
    unless a name comes back as a value below it. Elsewhere a usual name must be among them.
    """
    first = rows[0]
    if settings.header is not None:
        return settings.header
    asked = [name for name in (*settings.text, settings.label) if name]
    if any(name in first for name in asked):
        return True
    known = {cell.strip().lower() for cell in first}
    if len(known) < len(first) or not all(NAME.fullmatch(cell.strip()) for cell in first):
        return False
    if known & set(TEXT_NAMES) and (len(first) == 1 or len(first) > 2 or known & set(LABEL_NAMES)):
        return True
    below = [set(column) for column in zip(*(row for row in rows[1:] if len(row) == len(first)), strict=True)]
    return (
        trusting
        and bool(below)
        and not any(cell in column for cell, column in zip(first, below, strict=True))
    )


def layout(rows: Sequence[Sequence[str]], settings: Settings, where: str, trusting: bool = True) -> Layout:
    """Find the columns in the first rows of a table."""
    header = has_header(rows, settings, trusting)
    if header:
        columns = tuple(cell.strip() for cell in rows[0])
        check_distinct(columns, where)
    else:
        columns = _unnamed(len(rows[0]), settings)
    return chosen(columns, settings, where, header)


def _unnamed(count: int, settings: Settings) -> tuple[str, ...]:
    if count == 1:
        return ("text",)
    if count == 2 and not settings.text and (not settings.label or from_path(settings.label)):
        return ("label", "text")
    return tuple(str(number) for number in range(1, count + 1))


def check_distinct(columns: Sequence[str], where: str) -> None:
    """Refuse a table in which a name stands for two columns."""
    twice = sorted({name for name in columns if columns.count(name) > 1})
    if twice:
        raise CorpusError(f"{where}: two columns are named {listed(twice)}. Rename one of them.")


def chosen(columns: tuple[str, ...], settings: Settings, where: str, header: bool = True) -> Layout:
    """Choose the text and label columns by the options, or by their usual names."""
    text = tuple(_named(name, columns, where, "--text-column") for name in settings.text)
    label = _label(columns, text, settings, where)
    return Layout(columns, text or _usual_text(columns, label, settings, where), label, header)


def _label(columns: tuple[str, ...], text: tuple[str, ...], settings: Settings, where: str) -> str | None:
    if settings.labelled is False or (settings.label and from_path(settings.label, columns)):
        return None
    if settings.label:
        return _named(settings.label, columns, where, "--label-column")
    free = [name for name in columns if name not in text]
    found = next((name for usual in LABEL_NAMES for name in free if name.lower() == usual), None)
    if found is None and text and len(free) == 1 and columns == ("1", "2"):
        return free[0]
    if found is None and settings.labelled:
        raise _missing("label", columns, where, "--label-column")
    return found


def _usual_text(
    columns: tuple[str, ...], label: str | None, settings: Settings, where: str
) -> tuple[str, ...]:
    free = [name for name in columns if name != label]
    for usual in TEXT_NAMES:
        for name in free:
            if name.lower() == usual:
                return (name,)
    if settings.table:
        return ()
    if len(free) == 1:
        return (free[0],)
    raise _missing("text", columns, where, "--text-column")


def _named(name: str, columns: tuple[str, ...], where: str, option: str) -> str:
    if name in columns:
        return name
    if name.isdecimal() and 1 <= int(name) <= len(columns):
        return columns[int(name) - 1]
    raise _missing(name, columns, where, option)


def _missing(name: str, columns: tuple[str, ...], where: str, option: str) -> CorpusError:
    are = (
        f"The columns are {listed(columns)}" if len(columns) > 1 else f"The only column is {listed(columns)}"
    )
    return CorpusError(f"{where}: no column is named {name!r}. {are}; choose with {option}.")


def from_path(label: str, columns: Sequence[str] = ()) -> bool:
    """Whether the label is to come from the file's path: "file", "folder", or a pattern with a group."""
    return label not in columns and (label in ("file", "folder") or "(" in label)
