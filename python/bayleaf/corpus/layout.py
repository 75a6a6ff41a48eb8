"""Columns of a table: header, text and label, given or detected."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bayleaf.corpus.settings import CorpusError, Settings, listed
from bayleaf.first_lines import LABEL_NAMES, TEXT_NAMES

NAME = re.compile(r"[^\W\d][\w.:-]*( [\w.:-]+){0,2}")


@dataclass(frozen=True)
class Layout:
    """The columns of an input by name; `header` says whether its first row holds the names.

    `named` is true where the names are the input's own, and not ours.
    """

    columns: tuple[str, ...]
    text: tuple[str, ...]
    label: str | None
    header: bool = False
    named: bool = False


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
    return chosen(columns, settings, where, header, named=header)


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


def chosen(
    columns: tuple[str, ...], settings: Settings, where: str, header: bool = True, named: bool = True
) -> Layout:
    """Choose the text and label columns: by the options, as in the input before, or by their usual names."""
    if settings.decided and named:
        return _as_decided(columns, settings.decided, where, header)
    text = tuple(_named(name, columns, where, "text") for name in settings.text)
    label = _label(columns, text, settings, where)
    return Layout(columns, text or _usual_text(columns, label, settings, where), label, header, named)


def _as_decided(
    columns: tuple[str, ...], decided: tuple[tuple[str, ...], str | None, str], where: str, header: bool
) -> Layout:
    text, label, first = decided
    for name, kind in [*((name, "text") for name in text), *([(label, "label")] if label else [])]:
        if not has_column(columns, name):
            raise CorpusError(
                f"{where}: no column is named {name!r}, which holds the {kind} of {first}. The columns are "
                f"{listed(columns)}. Read them apart, or rename it."
            )
    return Layout(columns, text, label, header, named=True)


def _label(columns: tuple[str, ...], text: tuple[str, ...], settings: Settings, where: str) -> str | None:
    if settings.label and not from_path(settings.label, columns):
        label = _named(settings.label, columns, where, "label")
        return None if settings.labeled is False else label
    if settings.labeled is False or settings.label:
        return None
    free = [name for name in columns if name not in text]
    found = next((name for usual in LABEL_NAMES for name in free if name.lower() == usual), None)
    if found is None and text and len(free) == 1 and columns == ("1", "2"):
        return free[0]
    if found is None and settings.labeled:
        raise _missing("label", columns, where, "label")
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
    if columns == ("1", "2") and len(free) == 1:
        return (free[0],)
    raise _missing("text", columns, where, "text")


def has_column(columns: Sequence[str], name: str) -> bool:
    """Whether a name is that of a column, or of something inside one: "metadata.lang"."""
    parts = name.split(".")
    return name in columns or any(".".join(parts[:i]) in columns for i in range(1, len(parts)))


def _named(name: str, columns: tuple[str, ...], where: str, option: str) -> str:
    if has_column(columns, name):
        return name
    if name.isdecimal() and 1 <= int(name) <= len(columns):
        return columns[int(name) - 1]
    raise _missing(name, columns, where, option)


def _missing(name: str, columns: tuple[str, ...], where: str, option: str) -> CorpusError:
    are = (
        f"The columns are {listed(columns)}" if len(columns) > 1 else f"The only column is {listed(columns)}"
    )
    return CorpusError(f"{where}: no column is named {name!r}. {are}; choose with `{option}`.")


def from_path(label: str, columns: Sequence[str] = ()) -> bool:
    """Whether the label is to come from the file's path: "file", "folder", or a pattern with a group."""
    return label not in columns and (label in ("file", "folder") or "(" in label)
