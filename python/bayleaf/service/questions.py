"""What was asked and answered: kept for the history, and to teach by id later.

The newest questions are in memory; they go to the database together, once in a while, because an answer does
not wait for the disk. A crash loses the questions of the last second, never what was taught. Of more than a
thousand in a second, the others stay in memory only.
"""

from __future__ import annotations

import itertools
import json
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from bayleaf.service import database
from bayleaf.service.database import Ledger
from bayleaf.service.documents import Columns, Document, unpacked
from bayleaf.service.served import Answer, Served
from bayleaf.service.settings import Storage
from bayleaf.service.writer import Writer
from bayleaf.types import Label

PER_FLUSH = 1_000
"""So many of the newest are written at a time: writing one down takes as long as answering another."""


@dataclass(frozen=True, slots=True)
class Question:
    """A document that was asked about, and the answer."""

    document: Document
    label: Label
    probabilities: dict[str, float]

    def probability(self, label: Label) -> float:
        """What the answer gave to a class; nothing, if it was not known yet."""
        return self.probabilities.get(str(label), 0.0)


Kept: TypeAlias = tuple[Columns, bytes, str, str, str, Label, dict[str, float], int, float]
"""Columns, identity, alias and subject of a document, user, answer, probabilities, version and time.

A plain tuple of plain values: the garbage collector leaves those alone, and ten thousand are kept.
"""

Elsewhere: TypeAlias = Callable[[int], Iterable[tuple[int, Kept]]]
"""The newest questions that were answered elsewhere, at most so many, with the number of their model."""


class Questions:
    """The questions of all models."""

    def __init__(self, folder: Path, settings: Storage, writer: Writer) -> None:
        self._settings, self._writer = settings, writer
        self._recent: OrderedDict[tuple[int, str], Kept] = OrderedDict()
        self._unwritten: OrderedDict[tuple[int, str], Kept] = OrderedDict()
        self._ids: dict[tuple[int, bytes], str] = {}
        self._start = secrets.token_hex(4)
        self._count = itertools.count(1)
        self._connection = database.connect(folder, readonly=True)
        self._lock = threading.Lock()
        self.elsewhere: Elsewhere = lambda _: ()

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()

    def new_id(self) -> str:
        """A name for a question."""
        return f"{self._start}-{next(self._count):x}"

    def keep(self, served: Served, id: str, document: Document, user: str, answer: Answer) -> None:
        """Remember a question and its answer."""
        if self._settings.questions == 0:
            return
        probabilities = {str(label): p for label, p in answer.probabilities.items()}
        about = (document.columns, document.identity, document.alias, document.subject, user)
        kept = (*about, answer.label, probabilities, answer.version, time.time())
        with self._lock:
            self._enter((served.number, id), kept)

    def _gather(self, most: int) -> None:
        """Take over what was answered elsewhere: the newest, or all."""
        for model, kept in self.elsewhere(most):
            self._enter((model, self.new_id()), kept)

    def _enter(self, key: tuple[int, str], kept: Kept) -> None:
        about = (key[0], kept[1])
        last = self._recent.get((key[0], self._ids.get(about, "")))
        if last is None or last[-1] <= kept[-1]:  # what comes from elsewhere may be older
            self._ids[about] = key[1]
        self._unwritten[key] = self._recent[key] = kept
        self._recent.move_to_end(key)
        if len(self._recent) > self._settings.questions:
            self._drop(*self._recent.popitem(last=False))
        if len(self._unwritten) > PER_FLUSH:
            self._unwritten.popitem(last=False)

    def _drop(self, key: tuple[int, str], kept: Kept) -> None:
        about = (key[0], kept[1])
        if self._ids.get(about) == key[1]:
            del self._ids[about]

    def about(self, served: Served, identity: bytes) -> Question | None:
        """The last question about a document, if it is recent."""
        with self._lock:
            self._gather(self._settings.questions)
            id = self._ids.get((served.number, identity), "")
            return _question(self._recent.get((served.number, id)))

    def find(self, served: Served, id: str) -> Question | None:
        """The question of this id, or None."""
        with self._lock:
            found = _question(self._recent.get((served.number, id)))
            return found or self._stored(served.number, id)

    def _stored(self, model: int, id: str) -> Question | None:
        row = self._connection.execute(
            "SELECT columns, identity, alias, subject, label, probabilities FROM question "
            "WHERE model = ? AND id = ?",
            (model, id),
        ).fetchone()
        if row is None or row[0] is None:
            return None
        document = Document(unpacked(row[0]), bytes(row[1]), row[2], row[3])
        return Question(document, json.loads(row[4]), json.loads(row[5]))

    def flush(self) -> Future[Any] | None:
        """Have the writer keep what is new."""
        with self._lock:
            self._gather(PER_FLUSH)
            fresh, self._unwritten = self._unwritten, OrderedDict()
        if not fresh or self._writer.broken is not None:
            return None

        def write(ledger: Ledger) -> None:
            asked = sorted(fresh.items(), key=lambda each: each[1][-1])
            rows = [self._row(model, id, kept) for (model, id), kept in asked]
            self._writer.transaction(lambda: ledger.keep_questions(rows, self._settings.questions))

        return self._writer.call(write)

    def _row(self, model: int, id: str, kept: Kept) -> tuple[Any, ...]:
        columns, identity, alias, subject, user, label, probabilities, version, at = kept
        document = Document(columns, identity, alias, subject)
        data = document.packed(compressed=False) if self._settings.question_texts else None
        told = json.dumps(label), msgspec.json.encode(probabilities).decode()
        return (model, id, user, identity, alias, subject, data, *told, version, at)

    def drop(self, identities: set[bytes]) -> None:
        """Drop what was asked about documents that are erased."""
        with self._lock:
            self._gather(self._settings.questions)
            for questions in (self._recent, self._unwritten):
                for key in [key for key, kept in questions.items() if kept[1] in identities]:
                    self._drop(key, questions.pop(key))

    def history(
        self, served: Served, search: str, label: str, limit: int, before: float
    ) -> list[dict[str, Any]]:
        """The newest questions, with what was taught about them since; `search` looks into their texts."""
        flushed = self.flush()
        if flushed is not None:
            flushed.exception()  # what is older can be looked at all the same
        with self._lock:
            rows = self._connection.execute(HISTORY, (served.number, before)).fetchall()
        found = (_shown(row) for row in rows)
        wanted = (each for each in found if _matches(each, search.casefold(), label))
        return list(itertools.islice(wanted, limit))

    def read(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        """Rows of the database, for those who only look."""
        with self._lock:
            return self._connection.execute(query, values).fetchall()


def _question(kept: Kept | None) -> Question | None:
    if kept is None:
        return None
    columns, identity, alias, subject, _, label, probabilities, _, _ = kept
    return Question(Document(columns, identity, alias, subject), label, probabilities)


HISTORY = """
SELECT q.id, q.at, q.user, q.columns, q.label, q.probabilities, q.version, d.label, d.by, d.source
FROM question q LEFT JOIN document d ON d.model = q.model AND d.user = q.user AND d.identity = q.identity
WHERE q.model = ? AND q.at < ? ORDER BY q.number DESC
"""


def _shown(row: tuple[Any, ...]) -> dict[str, Any]:
    id, at, user, columns, label, probabilities, version, taught, by, source = row
    answer = json.loads(label)
    return {
        "id": id,
        "at": at,
        "user": user or None,
        "document": None if columns is None else unpacked(columns),
        "label": answer,
        "probability": json.loads(probabilities)[str(answer)],
        "version": version,
        "taught": None if taught is None else json.loads(taught),
        "by": by,
        "source": source,
    }


def _matches(entry: dict[str, Any], search: str, label: str) -> bool:
    if label and label != str(entry["label"]):
        return False
    return not search or search in json.dumps(entry["document"], ensure_ascii=False).casefold()
