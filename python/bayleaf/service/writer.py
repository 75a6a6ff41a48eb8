"""The only thread that writes: it takes every change that waits, commits them together, then answers.

One connection in one thread also checkpoints, because SQLite up to 3.51.2 can lose a commit when two do. The
order is: write log and ledger, commit (one fsync for all), apply to the counts, answer. A failed fsync stops
learning for good, because the kernel drops what it could not write and the next fsync would lie.
"""

from __future__ import annotations

import errno
import logging
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from bayleaf.service.changes import Change, Done, Effect, Task
from bayleaf.service.database import Ledger
from bayleaf.service.refusals import Broken, DiskFull, Invalid, Refusal

logger = logging.getLogger("bayleaf.service")

MOST_TOGETHER = 512
CHECKPOINT_COMMITS = 200
CHECKPOINT_TRIES = 3
KEPT_ANSWERS_SECONDS = 86_400
FULL = 13
"""SQLITE_FULL."""

Apply = Callable[[Sequence[Effect]], None]


@dataclass(frozen=True, slots=True)
class Once:
    """An Idempotency-Key: the same request again gets the first answer."""

    key: str
    digest: bytes
    encode: Callable[[Done], bytes]


@dataclass(slots=True)
class _Waiting:
    change: Change | Task
    future: Future[Any]
    once: Once | None = None


class Writer:
    """A thread that carries out changes, many in one transaction."""

    def __init__(self, ledger: Ledger, apply: Apply, after: Callable[[], None]) -> None:
        self.ledger = ledger
        self.broken: str | None = None
        self.commits = 0
        self._apply, self._after = apply, after
        self._uncheckpointed = 0
        self._queue: queue.SimpleQueue[_Waiting | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="bayleaf-writer", daemon=True)
        self._thread.start()

    def submit(self, change: Change, once: Once | None = None) -> Future[Any]:
        """Ask for a change; the result is a Done, or the bytes of the first answer to the same key."""
        return self._put(_Waiting(change, Future(), once))

    def call(self, run: Callable[[Ledger], Any]) -> Future[Any]:
        """Have a function run in the writer's thread, between two transactions."""
        return self._put(_Waiting(Task(run), Future()))

    def waiting(self) -> int:
        """How many changes wait."""
        return self._queue.qsize()

    def close(self) -> None:
        """Carry out what waits, then end."""
        self._queue.put(None)
        self._thread.join()

    def _put(self, waiting: _Waiting) -> Future[Any]:
        if not self._thread.is_alive():
            waiting.future.set_exception(Broken("The service is stopping. Try again in a moment."))
            return waiting.future
        self._queue.put(waiting)
        return waiting.future

    def _run(self) -> None:
        last = False
        while not last:
            batch, last = self._take()
            try:
                self._carry_out(batch)
            except BaseException as error:
                logger.exception("The writer failed")
                refusal = Broken(self._stop(f"Learning has stopped ({error}). Start the service again."))
                for each in batch:
                    if not each.future.done():
                        each.future.set_exception(refusal)

    def _carry_out(self, batch: list[_Waiting]) -> None:
        changes = [each for each in batch if not isinstance(each.change, Task)]
        if changes:
            self._commit(changes)
        for each in batch:
            if isinstance(each.change, Task):
                self._resolve(each, _attempt(each.change.run, self.ledger))
        self._maintain()

    def _take(self) -> tuple[list[_Waiting], bool]:
        """Everything that waits, up to a task, which must see what came before it."""
        batch: list[_Waiting] = []
        first = self._queue.get()
        while first is not None:
            batch.append(first)
            if isinstance(first.change, Task) or len(batch) >= MOST_TOGETHER:
                return batch, False
            try:
                first = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True

    def _commit(self, batch: list[_Waiting]) -> None:
        if self.broken is not None:
            refusal = Broken(self.broken)
            for each in batch:
                each.future.set_exception(refusal)
            return
        try:
            outcomes = self.transaction(lambda: [self._one(each) for each in batch])
        except Refusal as refusal:
            for each in batch:
                each.future.set_exception(refusal)
            return
        done = [outcome for outcome in outcomes if isinstance(outcome, Done)]
        self.apply([effect for each in done for effect in each.effects])
        for each, outcome in zip(batch, outcomes, strict=True):
            self._resolve(each, outcome)

    def transaction(self, work: Callable[[], Any]) -> Any:
        """Do the work and commit it: completely, or a Refusal says why not and nothing is done."""
        connection = self.ledger.connection
        try:
            connection.execute("BEGIN IMMEDIATE")
            result = work()
            connection.execute("COMMIT")
        except BaseException as error:
            _rolled_back(connection)
            if isinstance(error, sqlite3.Error):
                raise self._failed(error) from error
            raise
        self.commits += 1
        self._uncheckpointed += 1
        return result

    def apply(self, effects: Sequence[Effect]) -> None:
        """Bring the counts up to date with what is committed."""
        if not effects:
            return
        try:
            self._apply(effects)
        except BaseException as error:
            # It is in the ledger, so the next start counts it; until then the counts must stay as they are.
            self._stop(f"The counts could not be brought up to date ({error}). Start the service again.")

    def _one(self, waiting: _Waiting) -> Any:
        """One change of a transaction; a refusal undoes it and leaves the others alone."""
        connection = self.ledger.connection
        connection.execute("SAVEPOINT one")
        outcome = _attempt(lambda ledger: self._once(waiting, ledger), self.ledger)
        if isinstance(outcome, sqlite3.Error):
            raise outcome
        if isinstance(outcome, BaseException):
            connection.execute("ROLLBACK TO one")
        connection.execute("RELEASE one")
        return outcome

    def _once(self, waiting: _Waiting, ledger: Ledger) -> Any:
        change, once = waiting.change, waiting.once
        assert not isinstance(change, Task)
        if once is None:
            return change.apply(ledger)
        kept = ledger.connection.execute(
            "SELECT digest, answer FROM kept_answer WHERE key = ?", (once.key,)
        ).fetchone()
        if kept is not None:
            if kept[0] != once.digest:
                raise Invalid("This Idempotency-Key was used with another request. Use a new key.")
            return bytes(kept[1])
        done = change.apply(ledger)
        now = time.time()
        ledger.connection.execute(
            "INSERT INTO kept_answer VALUES (?, ?, ?, ?)", (once.key, once.digest, once.encode(done), now)
        )
        ledger.connection.execute("DELETE FROM kept_answer WHERE at < ?", (now - KEPT_ANSWERS_SECONDS,))
        return done

    def _failed(self, error: sqlite3.Error) -> Refusal:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == FULL:
            return DiskFull("The disk is full. Nothing was changed; make room and try again.")
        return Broken(self._stop(f"The disk failed ({error}). Learning has stopped; answers go on."))

    def _stop(self, reason: str) -> str:
        self.broken = reason
        logger.critical("%s", reason)
        return reason

    def _maintain(self) -> None:
        if self.broken is not None:
            return
        try:
            self._after()
            if self._uncheckpointed >= CHECKPOINT_COMMITS:
                self.checkpoint("PASSIVE")
        except sqlite3.Error as error:
            logger.warning("%s", self._failed(error).detail)
        except OSError as error:
            if error.errno == errno.EIO:
                self._stop(f"The disk failed ({error}). Learning has stopped; answers go on.")
            logger.warning("The snapshot could not be written: %s. The next change tries again.", error)

    def checkpoint(self, how: str) -> None:
        """Move the write-ahead log into the database; to truncate it, wait for those who read."""
        self._uncheckpointed = 0
        for _ in range(CHECKPOINT_TRIES):
            (busy, _, _), *_ = self.ledger.connection.execute(f"PRAGMA wal_checkpoint({how})").fetchall()
            if how == "PASSIVE" or not busy:
                return
        logger.error("The write-ahead log is in use and could not be emptied.")

    @staticmethod
    def _resolve(waiting: _Waiting, outcome: Any) -> None:
        if not waiting.future.set_running_or_notify_cancel():
            return
        if isinstance(outcome, BaseException):
            waiting.future.set_exception(outcome)
        else:
            waiting.future.set_result(outcome)


def _attempt(run: Callable[[Ledger], Any], ledger: Ledger) -> Any:
    try:
        return run(ledger)
    except Exception as error:
        return error


def _rolled_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:
        try:
            connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            logger.error("The transaction could not be rolled back: %s", error)
