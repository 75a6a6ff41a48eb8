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
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayleaf.service import database
from bayleaf.service.database import Ledger
from bayleaf.service.documents import Document, unpacked
from bayleaf.service.served import Answer, Served
from bayleaf.service.settings import Storage
from bayleaf.service.writer import Writer
from bayleaf.types import Label

PER_FLUSH = 1_000
"""So many of the newest are written at a time: writing one down takes as long as answering another."""


@dataclass(frozen=True, slots=True)
class Question:
    """A document that was asked about, and the answer."""

    id: str
    document: Document
    user: str
    label: Label
    probabilities: dict[str, float]
    version: int
    at: float

    def probability(self, label: Label) -> float:
        """What the answer gave to a class; nothing, if it was not known yet."""
        return self.probabilities.get(str(label), 0.0)


class Questions:
    """The questions of all models."""

    def __init__(self, folder: Path, settings: Storage, writer: Writer) -> None:
        self._settings, self._writer = settings, writer
        self._recent: OrderedDict[tuple[int, str], Question] = OrderedDict()
        self._unwritten: OrderedDict[tuple[int, str], Question] = OrderedDict()
        self._ids: dict[tuple[int, bytes], str] = {}
        self._start = secrets.token_hex(4)
        self._count = itertools.count(1)
        self._connection = database.connect(folder, readonly=True)
        self._lock = threading.Lock()

    def close(self) -> None:
        """Give the connection back."""
        self._connection.close()

    def new_id(self) -> str:
        """A name for a question."""
        return f"{self._start}-{next(self._count):x}"

    def keep(self, served: Served, id: str, document: Document, user: str, answer: Answer) -> None:
        """Remember a question and its answer."""
        most = self._settings.questions
        if most == 0:
            return
        probabilities = {str(label): p for label, p in answer.probabilities.items()}
        made = Question(id, document, user, answer.label, probabilities, answer.version, time.time())
        key = (served.number, id)
        with self._lock:
            self._ids[served.number, document.identity] = id
            for kept in (self._recent, self._unwritten):
                kept[key] = made
                kept.move_to_end(key)
                if len(kept) > most:
                    self._drop(*kept.popitem(last=False))

    def _drop(self, key: tuple[int, str], question: Question) -> None:
        about = (key[0], question.document.identity)
        if self._ids.get(about) == key[1]:
            del self._ids[about]

    def about(self, served: Served, identity: bytes) -> Question | None:
        """The last question about a document, if it is recent."""
        with self._lock:
            id = self._ids.get((served.number, identity), "")
            return self._recent.get((served.number, id))

    def find(self, served: Served, id: str) -> Question | None:
        """The question of this id, or None."""
        with self._lock:
            found = self._recent.get((served.number, id))
            return found or self._stored(served.number, id)

    def _stored(self, model: int, id: str) -> Question | None:
        row = self._connection.execute(
            "SELECT id, columns, identity, alias, subject, user, label, probabilities, version, at "
            "FROM question WHERE model = ? AND id = ?",
            (model, id),
        ).fetchone()
        if row is None or row[1] is None:
            return None
        document = Document(unpacked(row[1]), bytes(row[2]), row[3], row[4])
        return Question(row[0], document, row[5], json.loads(row[6]), json.loads(row[7]), row[8], row[9])

    def flush(self) -> Future[Any] | None:
        """Have the writer keep what is new."""
        with self._lock:
            fresh, self._unwritten = self._unwritten, OrderedDict()
        if not fresh or self._writer.broken is not None:
            return None

        def write(ledger: Ledger) -> None:
            newest = itertools.islice(reversed(fresh.items()), PER_FLUSH)
            rows = [self._row(model, question) for (model, _), question in newest][::-1]
            self._writer.transaction(lambda: ledger.keep_questions(rows, self._settings.questions))

        return self._writer.call(write)

    def _row(self, model: int, question: Question) -> tuple[Any, ...]:
        document = question.document
        columns = document.packed(compressed=False) if self._settings.question_texts else None
        return (
            model, question.id, question.user, document.identity, document.alias, document.subject, columns,
            json.dumps(question.label), json.dumps(question.probabilities), question.version, question.at,
        )  # fmt: skip

    def drop(self, identities: set[bytes]) -> None:
        """Drop what was asked about documents that are erased."""
        with self._lock:
            for kept in (self._recent, self._unwritten):
                for key in [key for key, each in kept.items() if each.document.identity in identities]:
                    self._drop(key, kept.pop(key))

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
