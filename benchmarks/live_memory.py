"""What the driver of Spark must hold: what is live at the peak, without garbage that is not collected yet.

The driver's JVM runs with the serial collector, and a thread asks for a full collection, again and again.
While one runs the JVM stands still, so that between two of them it works for a few milliseconds, however slow
the machine is. The peak is the most that was left after one of them, from the collector's log, less what is
left when nothing is at work. Beside it stands what grows outside the heap: direct buffers, Netty's, classes
and compiled code. Python's own memory is its resident peak.
"""

from __future__ import annotations

import re
import threading
import time
from pathlib import Path
from typing import Any

PAUSE = 0.003
"""Seconds between two collections. With 20 ms and more, copies of a model on its way were not seen."""
OUTSIDE_EVERY = 8
"""What is outside the heap is asked after so many collections, since asking takes longer than the pause."""
HEAP, DIRECT, CODE = "heap", "direct buffers", "classes and code"

_AFTER = re.compile(r"GC\((\d+)\) (DefNew|Tenured): \d+K\(\d+K\)->(\d+)K\(")
_FULL = re.compile(r"GC\((\d+)\) Pause Full")


def java_options(log: Path) -> str:
    """How the driver's JVM must be started.

    Three of four full collections would leave a twentieth of the old generation as it is, dead or not, since
    that is faster: 3 MB of 60. And code is compiled once, simply, instead of again whenever it has run often
    enough, which would make some rounds larger by 2 MB.
    """
    collecting = "-XX:+UseSerialGC -XX:MarkSweepAlwaysCompactCount=1"
    return f"{collecting} -XX:TieredStopAtLevel=1 -Xlog:gc,gc+heap:file={log}"


class LivePeak:
    """While it is entered, finds the peak of what is live in the driver's JVM, over what was before."""

    def __init__(self, spark: Any, log: Path, pause: float = PAUSE) -> None:
        self._jvm = spark.sparkContext._jvm
        self._log, self._pause = log, pause
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._collect)
        self._outside: list[dict[str, int]] = []
        self.growth: dict[str, int] = {}

    def __enter__(self) -> LivePeak:
        for _ in range(3):
            self._jvm.System.gc()
            time.sleep(1)  # Spark forgets broadcasts and shuffles some time after they were collected
        self._jvm.System.gc()
        self._before = {HEAP: left_after_collections(self._log)[-1], **self._asked()}
        self._seen = len(left_after_collections(self._log))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        peaks = {name: max(own[name] for own in self._outside) for name in (DIRECT, CODE)}
        peaks[HEAP] = max(left_after_collections(self._log)[self._seen :])
        self.growth = {name: peaks[name] - self._before[name] for name in (HEAP, DIRECT, CODE)}
        self.collections = len(left_after_collections(self._log)) - self._seen

    def _collect(self) -> None:
        turn = 0
        while not self._ended.is_set():
            self._jvm.System.gc()
            if turn % OUTSIDE_EVERY == 0:
                self._outside.append(self._asked())
            turn += 1
            time.sleep(self._pause)

    def _asked(self) -> dict[str, int]:
        """Bytes outside the heap; Netty takes its buffers past the JVM's own count of them."""
        beans = self._jvm.java.lang.management.ManagementFactory
        buffers = self._jvm.java.lang.Class.forName("java.lang.management.BufferPoolMXBean")
        direct = sum(pool.getMemoryUsed() for pool in beans.getPlatformMXBeans(buffers))
        netty = self._jvm.io.netty.util.internal.PlatformDependent.usedDirectMemory()
        pools = (pool for pool in beans.getMemoryPoolMXBeans() if str(pool.getType().name()) != "HEAP")
        code = sum(pool.getUsage().getUsed() for pool in pools)
        return {DIRECT: direct + max(netty, 0), CODE: code}


def left_after_collections(log: Path) -> list[int]:
    """The bytes that each full collection has left; those of the young generation alone leave garbage."""
    text = log.read_text()
    full = set(_FULL.findall(text))
    left: dict[str, int] = {}
    for number, _, size in _AFTER.findall(text):
        if number in full:
            left[number] = left.get(number, 0) + 1024 * int(size)
    return list(left.values())
