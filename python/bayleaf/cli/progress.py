"""The progress line: one line that changes in a terminal, a line now and then elsewhere."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import IO

WIDTH = 72


def _width() -> int:
    """What fits into one line: a line that wraps would scroll with every change."""
    import shutil

    return max(min(WIDTH, shutil.get_terminal_size().columns - 1), 1)


class ProgressLine:
    """Says how far something is, on standard error; nothing in the first second, and nothing if quiet."""

    def __init__(self, quiet: bool = False, out: IO[str] | None = None) -> None:
        self._out = out or sys.stderr
        self._quiet, self._shown = quiet, False
        self._terminal = self._out.isatty() and os.environ.get("TERM") != "dumb"
        self._started = time.monotonic()
        self._next = self._started + 1

    def show(self, line: Callable[[float], str]) -> None:
        """Write a line if it is time to; it is made of the seconds since the beginning."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (0.1 if self._terminal else 5.0)
        self._shown = True
        text = line(now - self._started)
        width = _width()
        self._out.write(f"\r{text[:width]:<{width}}" if self._terminal else f"{text}\n")
        self._out.flush()

    def end(self) -> None:
        """Clear the line."""
        if self._shown and self._terminal:
            self._out.write("\r" + " " * _width() + "\r")
            self._out.flush()
