"""Progress, reading ahead, and labels numbered without a string for each row."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.cli import reading
from bayleaf.cli.ahead import ahead
from bayleaf.cli.progress import ProgressLine
from bayleaf.cli.train import held_out
from bayleaf.corpus import Slices
from bayleaf.labels import Labels


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def shown(seconds: float, total: int | None = 120_000_000) -> str:
    """The line after 30 MB have been read."""
    corpus = SimpleNamespace(bytes_read=30_000_000, total_bytes=total)
    return reading.progress(corpus, seconds)  # type: ignore[arg-type]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    now = [100.0]
    monkeypatch.setattr("bayleaf.cli.progress.time.monotonic", lambda: now[0])
    monkeypatch.setenv("TERM", "xterm")
    return now


def test_nothing_is_shown_in_the_first_second(clock: list[float]) -> None:
    out = io.StringIO()
    line = ProgressLine(out=out)
    clock[0] += 0.9
    line.show(shown)
    line.end()
    assert out.getvalue() == ""


def test_lines_with_bytes_rate_and_time_left_come_now_and_then_where_there_is_no_terminal(
    clock: list[float],
) -> None:
    out = io.StringIO()
    line = ProgressLine(out=out)
    for _ in range(8):
        clock[0] += 1.0
        line.show(shown)
    line.end()
    assert out.getvalue() == (
        "30.0 MB of 120 MB, 30.0 MB/s, 25%, 3 s left\n30.0 MB of 120 MB, 5.0 MB/s, 25%, 18 s left\n"
    )


def test_a_quiet_line_says_nothing(clock: list[float]) -> None:
    out = Terminal()
    line = ProgressLine(quiet=True, out=out)
    clock[0] += 9.0
    line.show(shown)
    line.end()
    assert out.getvalue() == ""


def test_in_a_terminal_one_line_changes_and_is_cleared_in_the_end(clock: list[float]) -> None:
    out = Terminal()
    line = ProgressLine(out=out)
    clock[0] += 2.0
    line.show(lambda seconds: shown(seconds, total=None))
    assert out.getvalue().strip() == "30.0 MB, 15.0 MB/s"
    line.end()
    assert "\n" not in out.getvalue()
    assert out.getvalue().endswith("\r")


@pytest.mark.parametrize(
    ("value", "shown"), [(0, "0 s"), (59.4, "59 s"), (61, "1 min 01 s"), (3600 * 5 + 61, "5 h 01 min")]
)
def test_a_duration_is_written_in_its_two_largest_units(value: float, shown: str) -> None:
    assert reading.duration(value) == shown


@given(st.lists(st.integers()))
def test_reading_ahead_gives_the_same_items_in_the_same_order(items: list[int]) -> None:
    assert list(ahead(items)) == items


def test_what_fails_while_reading_ahead_is_raised_where_the_items_are_used() -> None:
    def failing() -> Iterator[int]:
        yield 1
        raise OSError("the disk is gone")

    items = ahead(failing())
    assert next(items) == 1
    with pytest.raises(OSError, match="the disk is gone"):
        next(items)


def test_a_user_that_stops_lets_the_reader_stop() -> None:
    made: list[int] = []

    def endless() -> Iterator[int]:
        while True:
            made.append(len(made))
            yield len(made)

    items = ahead(endless())
    next(items)
    items.close()  # type: ignore[attr-defined]
    assert len(made) <= 4


@given(st.floats(0.01, 0.99), st.lists(st.integers(0, 3000), min_size=1, max_size=4))
def test_the_rows_held_out_do_not_depend_on_how_the_rows_are_batched(part: float, sizes: list[int]) -> None:
    pieces, before = [], 0
    for size in sizes:
        pieces.append(held_out(before, size, part))
        before += size
    assert (np.concatenate(pieces) == held_out(0, before, part)).all()


def test_the_part_held_out_is_about_as_large_as_asked_for() -> None:
    for part in (0.1, 0.2, 0.5):
        assert held_out(0, 100_000, part).mean() == pytest.approx(part, abs=0.01)


names = st.lists(st.sampled_from(["ham", "spam", "", "a label of more than sixteen bytes", "é", "0"]))


@given(names, names)
def test_labels_in_a_buffer_or_an_arrow_array_are_numbered_as_strings_are(
    first: list[str], second: list[str]
) -> None:
    arrow = pytest.importorskip("pyarrow")
    ways: list[Any] = [list, Slices.of, lambda texts: arrow.array(texts, "string")]
    answers = []
    for way in ways:
        labels = Labels()
        numbers = [labels.number(way(texts)).tolist() for texts in (first, second)]
        answers.append((numbers, labels.names))
    assert answers[0] == answers[1] == answers[2]


def test_a_closed_set_refuses_a_label_in_a_buffer() -> None:
    labels = Labels()
    labels.close(["ham", "spam"])
    with pytest.raises(ValueError, match=r"\['eggs'\]"):
        labels.number(Slices.of(["ham", "eggs"]))
