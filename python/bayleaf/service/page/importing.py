"""A corpus is read in the background: its first documents are shown at once, labels in it are learned."""

from __future__ import annotations

import hashlib
import logging
import os
import threading
import time
from collections.abc import Iterator, Sequence
from itertools import chain

from bayleaf.corpus import Batch, Corpus
from bayleaf.corpus.batches import strings
from bayleaf.service.changes import Learn, Taught, Who
from bayleaf.service.page.actions import HELD, in_hold_out
from bayleaf.service.page.pool import CorpusPool, Source
from bayleaf.service.served import Served
from bayleaf.service.store import Store

logger = logging.getLogger("bayleaf.service")

ROWS = 2_000
"""So many rows are entered at a time: those who label wait for no more than that."""

PAUSE = 0.002


def stamp(inputs: Sequence[str]) -> str:
    """What tells whether the files are those of the last time."""
    found = []
    for name in inputs:
        try:
            state = os.stat(name)
            found.append(f"{name}:{state.st_size}:{state.st_mtime_ns}")
        except OSError:
            found.append(f"{name}:{time.time_ns()}")  # standard input, or a pattern: never the same
    return "\n".join(found)


def hash_of(text: str) -> str:
    """A short hash of a row."""
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


class Import(threading.Thread):
    """Copies a corpus into the pool of a model; where it was interrupted, it goes on the next time."""

    served: Served
    pool: CorpusPool
    needed = True

    def __init__(self, store: Store, corpus: Corpus, name: str) -> None:
        super().__init__(name="bayleaf-import", daemon=True)
        self._store, self._corpus = store, corpus
        self._source, self._stop_asked = name, threading.Event()
        self._mark = stamp(name.split("\n"))
        self._batches: Iterator[Batch] = iter(corpus)
        self._before, self._last = 0, ""

    def into(self, served: Served, pool: CorpusPool) -> None:
        """Choose the model and its pool; what is there already need not be read again."""
        self.served, self.pool = served, pool
        before = next((each for each in pool.sources() if each.name == self._source), None)
        self._before, self._last = (before.rows, before.last) if before else (0, "")
        self.needed = before is None or not before.done or before.stamp != self._mark

    def first_texts(self) -> list[str]:
        """The texts of the first batch, which is kept for the import."""
        first = next(self._batches, None)
        if first is None:
            return []
        self._batches = chain([first], self._batches)
        return strings(first.texts)

    def stop(self) -> None:
        """End after the rows that are being entered."""
        self._stop_asked.set()
        if self.is_alive():
            self.join()
        if hasattr(self, "pool"):
            self.pool.close()

    def run(self) -> None:
        """Read everything; what goes wrong is said on the page."""
        rows, problem = self._before, ""
        try:
            for texts, labels in self._chunks():
                rows = max(rows, self._before) + len(texts)
                self._last = hash_of(texts[-1])
                self._enter(texts, labels, rows)
                if self._stop_asked.is_set():
                    return
                time.sleep(PAUSE)  # a moment for those who label
        except Exception as error:  # of the corpus or the disk: the page says it, and labeling goes on
            problem = str(error)
            logger.error("The corpus could not be read to its end: %s", problem)
        self.pool.add([], self._state(rows, not problem, problem))

    def _state(self, rows: int, done: bool = False, problem: str = "") -> Source:
        total = self._corpus.total_bytes
        read = self._corpus.bytes_read
        return Source(self._source, self._mark, rows, read, total, done, problem, self._last)

    def _chunks(self) -> Iterator[tuple[list[str], list[str]]]:
        """Some rows at a time, without those that are there from last time."""
        past: list[tuple[list[str], list[str]]] = []
        skip = self._before
        for batch in self._batches:
            texts = strings(batch.texts)
            labels = [""] * len(texts) if batch.labels is None else strings(batch.labels)
            start = min(skip, len(texts))
            if skip and skip <= len(texts) and hash_of(texts[skip - 1]) != self._last:
                start = 0  # another file under the same name: all of it is new
                yield from past
            elif start == len(texts):
                past.append((texts, labels))
            past = past if skip > len(texts) else []
            skip = max(skip - len(texts), 0)
            for at in range(start, len(texts), ROWS):
                yield texts[at : at + ROWS], labels[at : at + ROWS]

    def _enter(self, texts: list[str], labels: list[str], rows: int) -> None:
        labeled = [
            (text, label) for text, label in zip(texts, labels, strict=True) if label and label.strip()
        ]
        if labeled:
            self._learn(labeled)
        given = (int(bool(label and label.strip())) for label in labels)
        self.pool.add(zip(texts, given, strict=True), self._state(rows))

    def _learn(self, labeled: list[tuple[str, str]]) -> None:
        """Learn the labels that the corpus came with; a tenth is held out."""
        served = self.served
        taught = [
            Taught(served.reader.text(text), served.fitting_label(label.strip())) for text, label in labeled
        ]
        by = os.path.basename(self._source.split("\n")[0]) or "corpus"
        for held in (False, True):
            some = [each for each in taught if in_hold_out(each.document.identity) == held]
            who = Who(served.number, by, HELD if held else "", "person")
            if some:
                self._store.submit(Learn(who, some)).result()
