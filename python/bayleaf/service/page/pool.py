"""Documents that wait for a label: a corpus in a database of its own, or what a running filter was asked.

A corpus is copied into `pools/NAME.sqlite` beside the ledger, row by row, so that a document is found by its
number at once among millions, while the rest of the corpus is still being read, and when the file is gone.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from bayleaf.service.documents import Columns, Document, unpacked
from bayleaf.service.questions import Questions
from bayleaf.service.served import Served

FOLDER = "pools"
TEXT, QUESTION, LEARNED = "p", "q", "d"
"""How the reference of a document begins: a row of the corpus, a question, a document of the ledger."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS text (id INTEGER PRIMARY KEY, text TEXT NOT NULL, given INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS source (
    name TEXT PRIMARY KEY, stamp TEXT NOT NULL, rows INTEGER NOT NULL, read INTEGER NOT NULL, total INTEGER,
    done INTEGER NOT NULL, problem TEXT NOT NULL, last TEXT NOT NULL) WITHOUT ROWID;
"""


class Pool(Protocol):
    """Numbered documents, some of which may be gone or labeled."""

    kind: str

    def bounds(self) -> tuple[int, int]:
        """The first and the last number."""

    def read(self, numbers: Sequence[int]) -> list[tuple[int, Any]]:
        """What is there of these and came without a label: number, and what `document` takes."""

    def columns(self, found: Any) -> Columns:
        """What the model reads of it."""

    def document(self, found: Any) -> Document:
        """The same with its identity, which takes longer."""

    def search(self, text: str, most: int) -> list[int]:
        """The numbers of documents that hold a text, the newest first."""


class Source(NamedTuple):
    """How far a corpus has been read."""

    name: str
    stamp: str
    rows: int
    read: int
    total: int | None
    done: int
    problem: str
    last: str
    """A hash of the last row, which tells whether a file has grown or is another one."""


def path_of(folder: Path, model: str) -> Path:
    """Where the corpus of a model is."""
    return folder / FOLDER / f"{model}.sqlite"


class CorpusPool:
    """A corpus, as far as it has been read."""

    kind = TEXT

    def __init__(self, path: Path, served: Served) -> None:
        path.parent.mkdir(mode=0o700, exist_ok=True)
        if not path.exists():
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
        self._reader = served.reader
        self._connection, self._lock = _connected(path), threading.Lock()
        self._connection.executescript(SCHEMA)
        # Of its own, so that nobody who reads waits for the rows that are being entered.
        self._entering, self._entry = _connected(path), threading.Lock()

    def close(self) -> None:
        """Give the connections back."""
        self._connection.close()
        self._entering.close()

    def _rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    def bounds(self) -> tuple[int, int]:
        """The numbers begin with 1 and leave none out."""
        return 1, self._rows("SELECT coalesce(max(id), 0) FROM text")[0][0]

    def read(self, numbers: Sequence[int]) -> list[tuple[int, Any]]:
        """Texts by their numbers."""
        marks = ",".join("?" * len(numbers))
        return self._rows(f"SELECT id, text FROM text WHERE id IN ({marks}) AND given = 0", *numbers)

    def columns(self, found: Any) -> Columns:
        """A text, or the columns of a mail."""
        return str(found) if self._reader.is_text else self._reader.text(found).columns

    def document(self, found: Any) -> Document:
        """A text as the model reads it."""
        return self._reader.text(found)

    def search(self, text: str, most: int) -> list[int]:
        """Texts that hold a text; capitals do not matter."""
        like = "%" + text.replace("\\", r"\\").replace("%", r"\%").replace("_", r"\_") + "%"
        query = r"SELECT id FROM text WHERE given = 0 AND text LIKE ? ESCAPE '\' ORDER BY id DESC LIMIT ?"
        return [number for (number,) in self._rows(query, like, most)]

    def text(self, number: int) -> str | None:
        """The text of a number, labeled or not."""
        found = self._rows("SELECT text FROM text WHERE id = ?", number)
        return found[0][0] if found else None

    # Filling

    def sources(self) -> list[Source]:
        """How far each corpus has been read."""
        return [Source(*row) for row in self._rows("SELECT * FROM source")]

    def add(self, texts: Iterable[tuple[str, int]], source: Source) -> None:
        """Enter rows, each with whether it came with a label, and how far the corpus is read by then."""
        with self._entry:
            self._entering.execute("BEGIN")
            self._entering.executemany("INSERT INTO text (text, given) VALUES (?, ?)", texts)
            self._entering.execute("INSERT OR REPLACE INTO source VALUES (?,?,?,?,?,?,?,?)", source)
            self._entering.execute("COMMIT")


def _connected(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    for pragma in ("journal_mode=WAL", "synchronous=NORMAL", "busy_timeout=10000", "mmap_size=8589934592"):
        connection.execute(f"PRAGMA {pragma}")
    return connection


class QuestionPool:
    """What a running filter was asked lately."""

    kind = QUESTION

    def __init__(self, questions: Questions, served: Served) -> None:
        self._questions, self._model = questions, served.number

    def bounds(self) -> tuple[int, int]:
        """The numbers of the kept questions of all models."""
        query = "SELECT coalesce(min(number), 1), coalesce(max(number), 0) FROM question WHERE model = ?"
        first, last = self._questions.read(query, self._model)[0]
        return first, last

    def read(self, numbers: Sequence[int]) -> list[tuple[int, Any]]:
        """Questions of this model by their numbers."""
        marks = ",".join("?" * len(numbers))
        rows = self._questions.read(
            "SELECT number, columns, identity, alias, subject FROM question WHERE model = ? "
            f"AND columns IS NOT NULL AND number IN ({marks})",
            self._model,
            *numbers,
        )
        return [(row[0], row[1:]) for row in rows]

    def columns(self, found: Any) -> Columns:
        """What was asked about."""
        return unpacked(found[0])

    def document(self, found: Any) -> Document:
        """The document of a question."""
        columns, identity, alias, subject = found
        return Document(unpacked(columns), bytes(identity), alias, subject)

    def search(self, text: str, most: int) -> list[int]:
        """Questions whose texts hold a text."""
        rows = self._questions.read(
            "SELECT number, columns FROM question WHERE model = ? AND columns IS NOT NULL "
            "ORDER BY number DESC",
            self._model,
        )
        wanted = text.casefold()
        found = [number for number, columns in rows if wanted in shown(unpacked(columns)).casefold()]
        return found[:most]


def shown(columns: Any) -> str:
    """A document as text for the screen: columns one below the other, under their names."""
    if isinstance(columns, str):
        return columns
    said = {name: value if isinstance(value, str) else json.dumps(value) for name, value in columns.items()}
    return "\n".join(f"{name}: {value}" for name, value in said.items() if value)
