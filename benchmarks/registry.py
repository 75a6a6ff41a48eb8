"""The table of speed: what a row is, what its bar is, and where rows are entered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from measure import Contest, Duel, Source


@dataclass(frozen=True)
class Bar:
    """What must be reached and where we are going, as a ratio to the peer."""

    must: float
    goal: float
    more_is_better: bool

    def verdict(self, ratio: float) -> str:
        sign = 1 if self.more_is_better else -1
        if sign * ratio >= sign * self.goal:
            return "goal"
        return "must" if sign * ratio >= sign * self.must else "missed"


def at_least(must: float, goal: float) -> Bar:
    """So many times as fast as the peer."""
    return Bar(must, goal, more_is_better=True)


def at_most(must: float, goal: float) -> Bar:
    """At most this share of what the peer takes."""
    return Bar(must, goal, more_is_better=False)


@dataclass(frozen=True)
class Bench:
    """What a row may ask for: how thorough to be, and a folder for files of its own."""

    quick: bool
    folder: Path
    contests: dict[str, Contest] = field(default_factory=dict)

    def source(self, name: str, quick_share: float = 1.0) -> Source:
        return Source(name, quick_share if self.quick else 1.0)

    def rounds(self, quick: int, full: int) -> int:
        return quick if self.quick else full


@dataclass(frozen=True)
class Row:
    """One line of the table."""

    name: str
    group: str
    work: str
    against: str
    bar: Bar | None
    run: Callable[[Bench], Duel]


ROWS: dict[str, Row] = {}


def row(
    name: str, work: str, against: str, bar: Bar | None = None, *, group: str = "core"
) -> Callable[[Callable[[Bench], Duel]], Callable[[Bench], Duel]]:
    """Enter the function below in the table."""

    def enter(run: Callable[[Bench], Duel]) -> Callable[[Bench], Duel]:
        ROWS[name] = Row(name, group, work, against, bar, run)
        return run

    return enter
