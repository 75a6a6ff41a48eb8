"""Dates as bins around a circle: weekdays, hours and months, of which the last is beside the first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bayleaf.checks import check_alpha, check_choice
from bayleaf.columns import Coded, as_list, is_missing
from bayleaf.table.counts import ValueCounts, ValueTally
from bayleaf.table.densities import smoothed_log_shares
from bayleaf.table.scorers import named
from bayleaf.text.scorers import top_rows
from bayleaf.types import Arrays, Classes, Floats, Unseen
from bayleaf.view import Piece, View

Part = Literal["weekday", "hour", "month"]
NAMES: dict[str, list[str]] = {
    "weekday": ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    "hour": [f"{hour:02}h" for hour in range(24)],
    "month": [
        "January", "February", "March", "April", "May", "June",
        "July", "August", "September", "October", "November", "December",
    ],
}  # fmt: skip
SPREAD = {"weekday": 0.0, "hour": 0.5, "month": 0.5}
"""Saturday is unlike Friday; three o'clock is like two o'clock."""

OF_DATE: dict[str, Callable[[Any], int]] = {
    "weekday": lambda day: int(day.weekday()),
    "hour": lambda day: int(getattr(day, "hour", 0)),
    "month": lambda day: int(day.month) - 1,
}
FROM_EPOCH: dict[str, tuple[str, int, int]] = {
    "weekday": ("D", 3, 7),
    "hour": ("h", 0, 24),
    "month": ("M", 0, 12),
}
"""The unit, its number in the cycle at the start of 1970 (a Thursday), and the length of the cycle."""


@dataclass(frozen=True, eq=False)
class Dated(Coded):
    """A column of dates as the bins of one part of them, with what it was read from."""

    raw: Any = None


@dataclass(frozen=True, repr=False)
class DatePart(View):
    """One part of a date; made by `date_part()`."""

    part: Part
    spread: float | None = None
    alpha: float | None = None

    kind: ClassVar[str] = "date_part"
    judgments: ClassVar[frozenset[str]] = frozenset({"spread", "alpha"})

    def __post_init__(self) -> None:
        check_choice("part", self.part, list(NAMES))
        if self.alpha is not None:
            object.__setattr__(self, "alpha", check_alpha(self.alpha))
        given: Any = self.spread
        if given is not None and not (type(given) in (int, float) and 0 <= given <= 1):
            raise ValueError(f"`spread` must be a number from 0 to 1, or None, got {given!r}.")

    def __repr__(self) -> str:
        given = [
            f"{name}={getattr(self, name)!r}"
            for name in ("spread", "alpha")
            if getattr(self, name) is not None
        ]
        return f"date_part({', '.join([repr(self.part), *given])})"

    def read(self, raw: Any, where: str) -> Dated:
        """The bin of each date, -1 where it is missing."""
        return Dated(NAMES[self.part], _bins(raw, self.part, where), raw)

    def tally(self) -> ValueTally:
        """Counts of nothing yet."""
        return ValueTally(numeric=False)

    def restore(self, arrays: Arrays) -> ValueTally:
        """The counts that a file holds."""
        tally = ValueTally.restore(arrays, numeric=False)
        unknown = {*tally.counts(np.arange(len(arrays["missing"]), dtype=np.uint32)).values} - {
            *NAMES[self.part]
        }
        if unknown:
            raise ValueError(f"{min(unknown)!r} is no {self.part}")
        return tally

    def compile(self, tally: ValueTally, order: Classes, alpha: float, unseen: Unseen) -> CircleScorer:  # noqa: ARG002
        """The share of each bin in each class, of which its neighbors have a part."""
        spread = SPREAD[self.part] if self.spread is None else float(self.spread)
        return CircleScorer(
            tally.counts(order), NAMES[self.part], spread, alpha if self.alpha is None else self.alpha
        )


def date_part(part: Part, *, spread: float | None = None, alpha: float | None = None) -> DatePart:
    """Look at a column of dates as bins around a circle: its "weekday", "hour" or "month".

    `spread` is how much of a row counts for the two bins beside its own, half for each, so that 23 o'clock
    knows of midnight; None is 0 for weekdays and 0.5 for hours and months. A bin's probability is then its
    share smoothed by `alpha`, as in `category()`. Dates are datetime64, those of pandas, Polars, Arrow and
    Python, and strings in ISO 8601 or as in mail; times are those of the zone they are in.
    """
    return DatePart(part, spread, alpha)


class CircleScorer:
    """The log share of each bin of a circle in each class."""

    def __init__(self, counts: ValueCounts, names: list[str], spread: float, alpha: float) -> None:
        self.names, self._alpha = names, alpha
        place = np.array([names.index(value) for value in counts.values], np.intp)
        self._table = np.zeros((len(names), counts.n_classes))
        self._table[place[counts.value], counts.class_] = counts.count
        self._own = 1.0 - spread
        beside = np.roll(self._table, 1, axis=0) + np.roll(self._table, -1, axis=0)
        self._spread = self._own * self._table + spread / 2 * beside
        self._totals = counts.totals
        self.bias = np.zeros(counts.n_classes)
        self.shares = smoothed_log_shares(self._spread, self._totals, len(names), alpha)
        if not self._totals.any():
            self.shares = np.zeros_like(self.shares)
        self.may_rule_out = alpha == 0

    def scores(self, column: Coded, threads: int = 1) -> Floats:  # noqa: ARG002
        """The log likelihood of each date in each class."""
        scores: Floats = np.vstack([self.shares, self.bias])[column.codes]
        return scores

    def left_out(self, column: Coded, labels: Classes) -> Floats:
        """The same of dates that were counted, each under the counts without it; NaN if it was not."""
        rows = np.arange(len(column))
        here = column.codes >= 0
        left, totals = self._spread[column.codes], np.tile(self._totals, (len(rows), 1))
        left[rows, labels] = np.maximum(left[rows, labels] - self._own, 0)
        totals[rows, labels] = np.maximum(totals[rows, labels] - 1, 0)
        scores = smoothed_log_shares(left, totals, len(self.names), self._alpha)
        scores[~here | ~totals.any(axis=1)] = 0.0
        scores[here & (self._table[column.codes, labels] == 0)] = np.nan
        return scores

    def shown(self, column: Dated, name: str) -> str:
        """The date with its column's name."""
        value = next(iter(column.raw))
        return named(name, "" if is_missing(value) else str(value))

    def parts(self, column: Dated, name: str) -> list[Piece]:
        """The bin of the date, unless it is missing."""
        if column.codes[0] < 0:
            return []
        term = named(name, self.names[column.codes[0]])
        return [Piece(term, 0, len(self.shown(column, name)), self.scores(column)[0])]

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The bins that speak most for a class."""
        return top_rows(self.names, self.shares, chosen, n)


def parts_of(column: Any) -> list[Part]:
    """The parts of the dates in a column, by its type or by its values; none if they are no dates."""
    kind = _kind(column)
    if kind is not None:
        return kind
    given = [value for value in as_list(column, "X") if not is_missing(value)]
    if not given or not all(isinstance(value, date | np.datetime64) for value in given):
        return []
    whole = all(not isinstance(value, datetime | np.datetime64) for value in given)
    return ["weekday", "month"] if whole else ["weekday", "hour", "month"]


def _kind(column: Any) -> list[Part] | None:
    """The parts by the type of a column, if that says what it holds."""
    name = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if name.startswith(("datetime64[d", "datetime64[w", "date32", "date64")) or name == "date":
        return ["weekday", "month"]
    if name == "datetime64[m]" and str(column.dtype).endswith("[M]"):
        return ["month"]
    if name == "datetime64[y]":
        return []
    if name.startswith(("datetime", "timestamp")):
        return ["weekday", "hour", "month"]
    return None if name in ("", "object") else []


def _bins(raw: Any, part: str, where: str) -> NDArray[np.intp]:
    array = _as_datetimes(raw)
    if array is None:
        return _one_by_one(as_list(raw, where), part, where)
    if array.ndim != 1:
        raise ValueError(f"{where} must have one dimension, got an array of shape {array.shape}.")
    unit, first, length = FROM_EPOCH[part]
    missing = np.isnat(array)
    numbers = array.astype(f"datetime64[{unit}]").astype(np.int64)
    return np.where(missing, -1, (np.where(missing, 0, numbers) + first) % length).astype(np.intp)


def _as_datetimes(raw: Any) -> NDArray[Any] | None:
    """A column as its library gives it to NumPy, in the time of its own zone; None if it has no such type."""
    if isinstance(raw, np.ndarray):
        return raw if raw.dtype.kind == "M" else None
    name = str(getattr(raw, "dtype", "")).lower()
    if not name.startswith(("datetime", "timestamp", "date")) or not hasattr(raw, "dt"):
        return None
    if hasattr(raw.dt, "tz_localize") and getattr(raw.dt, "tz", None) is not None:
        raw = raw.dt.tz_localize(None)
    elif getattr(getattr(raw, "dtype", None), "time_zone", None) is not None:
        raw = raw.dt.replace_time_zone(None)
    array = np.asarray(raw.to_numpy())
    return array if array.dtype.kind == "M" else None


def _one_by_one(values: list[Any], part: str, where: str) -> NDArray[np.intp]:
    of_date, found = OF_DATE[part], np.full(len(values), -1, np.intp)
    for row, value in enumerate(values):
        if not is_missing(value):
            found[row] = of_date(_as_date(value, row, where))
    return found


def _as_date(value: Any, row: int, where: str) -> date:
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, date):
        return value
    if isinstance(value, str) and value.strip():
        for parse in (datetime.fromisoformat, _as_in_mail):
            try:
                return parse(value.strip())
            except ValueError:
                continue
    raise ValueError(
        f"{where} has {value!r} in row {row}, which is not a date. Give dates, datetimes, strings such as "
        "'2026-11-16T09:30' or 'Mon, 16 Nov 2026 09:30:00 +0100', or None for what is missing."
    )


def _as_in_mail(value: str) -> datetime:
    from email.utils import (
        parsedate_to_datetime,  # Twenty milliseconds that a model without dates need not wait.
    )

    return parsedate_to_datetime(value)
