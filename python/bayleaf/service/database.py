"""The database of a service: ledger, log, questions and actions in one SQLite file, one connection writes.

The ledger (`document`) is what is learned now. The log (`change`) says who changed what, when; the sequence
number of its last row is the version. A forgotten document's columns stay in its log row until no snapshot
needs them to be brought up to date: counts = snapshot + documents learned since − documents forgotten since.
"""

from __future__ import annotations

import os
import secrets
import sqlite3
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FILE = "bayleaf.sqlite"
FORMAT = 1

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS model (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, seed TEXT NOT NULL, at REAL NOT NULL);
CREATE TABLE IF NOT EXISTS change (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, user TEXT NOT NULL,
    operation TEXT NOT NULL, identity BLOB, label TEXT, by TEXT NOT NULL, source TEXT NOT NULL,
    at REAL NOT NULL, learned INTEGER, columns BLOB);
CREATE INDEX IF NOT EXISTS change_model ON change (model, user, seq);
CREATE INDEX IF NOT EXISTS change_kept ON change (seq) WHERE columns IS NOT NULL;
CREATE TABLE IF NOT EXISTS document (
    model INTEGER NOT NULL, user TEXT NOT NULL, identity BLOB NOT NULL, alias TEXT NOT NULL,
    subject TEXT NOT NULL, label TEXT NOT NULL, columns BLOB NOT NULL, by TEXT NOT NULL, source TEXT NOT NULL,
    at REAL NOT NULL, seq INTEGER NOT NULL UNIQUE, asked REAL, answer TEXT, UNIQUE (model, user, identity));
CREATE INDEX IF NOT EXISTS document_alias ON document (model, user, alias) WHERE alias <> '';
CREATE INDEX IF NOT EXISTS document_by ON document (model, by);
CREATE INDEX IF NOT EXISTS document_subject ON document (model, subject) WHERE subject <> '';
CREATE TABLE IF NOT EXISTS question (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, id TEXT NOT NULL, user TEXT NOT NULL,
    identity BLOB NOT NULL, alias TEXT NOT NULL, subject TEXT NOT NULL, columns BLOB, label TEXT NOT NULL,
    probabilities TEXT NOT NULL, version INTEGER NOT NULL, at REAL NOT NULL, UNIQUE (model, id));
CREATE TABLE IF NOT EXISTS action (
    number INTEGER PRIMARY KEY AUTOINCREMENT, model INTEGER NOT NULL, key TEXT NOT NULL, kind TEXT NOT NULL,
    item TEXT, identity BLOB, label TEXT, user TEXT NOT NULL, by TEXT NOT NULL, at REAL NOT NULL,
    how TEXT NOT NULL, chance REAL, answer TEXT, asked REAL, sure REAL, before TEXT, undone REAL,
    UNIQUE (model, key));
CREATE INDEX IF NOT EXISTS action_identity ON action (model, identity);
CREATE INDEX IF NOT EXISTS action_by ON action (model, by, number);
CREATE TABLE IF NOT EXISTS kept_answer (
    key TEXT PRIMARY KEY, digest BLOB NOT NULL, answer BLOB NOT NULL, at REAL NOT NULL) WITHOUT ROWID;
"""


class Row(NamedTuple):
    """One learned document of the ledger."""

    model: int
    user: str
    identity: bytes
    alias: str
    subject: str
    label: str
    columns: bytes
    by: str
    source: str
    at: float
    seq: int
    asked: float | None
    answer: str | None


class Forgotten(NamedTuple):
    """One forgotten document whose columns a snapshot may still need."""

    learned: int
    seq: int
    label: str
    columns: bytes


DOCUMENT = f"SELECT {', '.join(Row._fields)} FROM document "


class DatabaseError(ValueError):
    """A database that is not a service's, or that is damaged."""


def connect(folder: Path, readonly: bool = False) -> sqlite3.Connection:
    """Open the database; of the connections that may write there must be one only."""
    path = folder / FILE
    if not readonly and not path.exists():
        os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))
    mode = "ro" if readonly else "rw"
    try:
        made = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None, check_same_thread=False
        )
        made.execute("PRAGMA busy_timeout=5000")
        if not readonly and not _is_empty(made):
            _check_format(made, path)
        if not readonly:
            _prepare(made)
        _check_format(made, path)
    except sqlite3.DatabaseError as error:
        raise DatabaseError(f"{path} cannot be read: {error}.") from error
    return made


def _is_empty(connection: sqlite3.Connection) -> bool:
    return not connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").fetchone()


def _prepare(connection: sqlite3.Connection) -> None:
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "secure_delete=ON", "wal_autocheckpoint=0"):
        connection.execute(f"PRAGMA {pragma}")
    connection.executescript(f"BEGIN; {SCHEMA} COMMIT;")
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('format', ?)", (FORMAT,))
    connection.execute("INSERT OR IGNORE INTO meta VALUES ('key', ?)", (secrets.token_bytes(32),))


def _check_format(connection: sqlite3.Connection, path: Path) -> None:
    (found,) = connection.execute("SELECT value FROM meta WHERE key = 'format'").fetchone() or (None,)
    if found != FORMAT:
        raise DatabaseError(
            f"{path} has format {found!r}; this version reads format {FORMAT}. Upgrade bayleaf."
        )


class Ledger:
    """What is learned, by whom, and in which order; every method belongs into the caller's transaction."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self._execute = connection.execute

    def key(self) -> bytes:
        """The secret under which documents are hashed."""
        return bytes(self._execute("SELECT value FROM meta WHERE key = 'key'").fetchone()[0])

    def version(self) -> int:
        """The sequence number of the last change."""
        return int(self._execute("SELECT coalesce(max(seq), 0) FROM change").fetchone()[0])

    def versions(self) -> dict[int, int]:
        """The sequence number of the last change of each model."""
        return dict(self._execute("SELECT model, max(seq) FROM change GROUP BY model").fetchall())

    def models(self) -> list[tuple[int, str, str]]:
        """Number, name and seed file of each model."""
        return self._execute("SELECT id, name, seed FROM model ORDER BY id").fetchall()

    def add_model(self, name: str, seed: str) -> int:
        """Enter a model; gives its number."""
        cursor = self._execute(
            "INSERT INTO model (name, seed, at) VALUES (?, ?, ?)", (name, seed, time.time())
        )
        return int(cursor.lastrowid or 0)

    def find(self, model: int, user: str, identity: bytes, alias: str) -> Row | None:
        """The learned document that is the same, or was sent under the same Message-ID."""
        where = "WHERE model = ? AND user = ? AND"
        found = self._execute(f"{DOCUMENT} {where} identity = ?", (model, user, identity)).fetchone()
        if found is None and alias:
            found = self._execute(f"{DOCUMENT} {where} alias = ? LIMIT 1", (model, user, alias)).fetchone()
        return None if found is None else Row(*found)

    def select(self, model: int, field: str, value: str) -> list[Row]:
        """The learned documents with this `by`, `source` or `subject`."""
        if field not in ("by", "source", "subject", "user"):
            raise ValueError(field)
        query = f"{DOCUMENT} WHERE model = ? AND {field} = ? ORDER BY seq"
        return [Row(*found) for found in self._execute(query, (model, value))]

    def documents(self, model: int, user: str = "", after: int = 0) -> Iterator[Row]:
        """The learned documents of a model (of one user), in the order in which they were learned."""
        query = f"{DOCUMENT} WHERE model = ? AND user = ? AND seq > ? ORDER BY seq"
        return (Row(*found) for found in self._execute(query, (model, user, after)))

    def forgotten(self, model: int, after: int) -> Iterator[Forgotten]:
        """The documents learned until `after` and forgotten since."""
        query = """SELECT learned, seq, label, columns FROM change WHERE model = ? AND user = '' AND seq > ?
                   AND operation = 'forget' AND learned <= ? ORDER BY seq"""
        return (Forgotten(*found) for found in self._execute(query, (model, after, after)))

    def learn(self, row: Row) -> Row:
        """Enter a document; gives it with its sequence number."""
        seq = self.log(row.model, row.user, "learn", row.identity, row.label, row.by, row.source)
        made = row._replace(seq=seq, at=time.time())
        self._execute(
            f"INSERT INTO document ({', '.join(Row._fields)}) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?)", made
        )
        return made

    def forget(self, row: Row, by: str, source: str) -> int:
        """Take a document out; its columns stay in the log until no snapshot needs them."""
        self._execute("DELETE FROM document WHERE seq = ?", (row.seq,))
        columns = row.columns if row.user == "" else None
        return self.log(
            row.model, row.user, "forget", row.identity, row.label, by, source, row.seq, columns
        )  # fmt: skip

    def confirm(self, row: Row, by: str) -> None:
        """What was learned automatically has been said by a person, too."""
        self._execute("UPDATE document SET source = 'person', by = ? WHERE seq = ?", (by, row.seq))

    def log(
        self,
        model: int,
        user: str,
        operation: str,
        identity: bytes | None,
        label: str | None,
        by: str,
        source: str,
        learned: int | None = None,
        columns: bytes | None = None,
    ) -> int:
        """Append to the log; gives the sequence number."""
        cursor = self._execute(
            "INSERT INTO change (model, user, operation, identity, label, by, source, at, learned, columns) "
            "VALUES (?,?,?,?,?,?,?,?,?,?)",
            (model, user, operation, identity, label, by, source, time.time(), learned, columns),
        )
        return int(cursor.lastrowid or 0)

    def drop_forgotten(self, model: int, until: int) -> None:
        """Drop the columns of forgotten documents that every snapshot already lacks."""
        self._execute(
            "UPDATE change SET columns = NULL WHERE model = ? AND seq <= ? AND columns IS NOT NULL",
            (model, until),
        )

    def keep_questions(self, rows: Sequence[Sequence[Any]], most: int) -> None:
        """Add answered questions and drop the oldest beyond `most`."""
        self.connection.executemany(
            "INSERT OR REPLACE INTO question (model, id, user, identity, alias, subject, columns, label, "
            "probabilities, version, at) VALUES (?,?,?,?,?,?,?,?,?,?,?)",
            rows,
        )
        self._execute("DELETE FROM question WHERE number <= (SELECT max(number) FROM question) - ?", (most,))

    def drop_questions(self, model: int, identity: bytes) -> None:
        """Drop what was asked about a document that is erased."""
        self._execute("DELETE FROM question WHERE model = ? AND identity = ?", (model, identity))
