"""The folder of a service: opened, recovered, asked and changed here, without any network."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from bayleaf import atomic
from bayleaf.explanation import Explanation
from bayleaf.model import Model
from bayleaf.service import database, settings, snapshots
from bayleaf.service.changes import Change, Done, Effect, Forget, ForgetWhere, Learn, Taught, Who
from bayleaf.service.database import Ledger
from bayleaf.service.documents import Document, together, unpacked
from bayleaf.service.questions import Questions
from bayleaf.service.refusals import Broken, Conflict, Invalid, NotFound
from bayleaf.service.served import Answer, NotBuilt, Served, digest, replay, retuned
from bayleaf.service.writer import Once, Writer
from bayleaf.tuning import Tuning
from bayleaf.types import Label

logger = logging.getLogger("bayleaf.service")

_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}", re.IGNORECASE)
LOCK = "lock"


class FolderInUse(ValueError):  # noqa: N818 (a state, not a fault)
    """Another process has the folder."""


def lock(folder: Path) -> int:
    """Make sure that one process has the folder; gives the handle that holds it."""
    handle = os.open(folder / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise FolderInUse(f"{folder} is in use by another process. Stop it first.") from None
    return handle


class Store:
    """Models by name, their ledger and their snapshots."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._handle = lock(self.folder)
        try:
            self.settings = settings.read(self.folder)
            connection = database.connect(self.folder)
        except BaseException:
            os.close(self._handle)
            raise
        ledger = Ledger(connection)
        self.key = ledger.key()
        self.served: dict[str, Served] = {}
        self._numbers: dict[int, Served] = {}
        self._changes: dict[int, int] = {}
        for number, name, seed in ledger.models():
            self._recover(ledger, number, name, seed)
        self.writer = Writer(ledger, self._apply, self._after)
        self.questions = Questions(self.folder, self.settings.storage, self.writer)

    def close(self) -> None:
        """Write snapshots of what has changed, and end."""
        self.questions.flush()
        for served in self.served.values():
            if self._changes.get(served.number):
                self.writer.call(lambda ledger, served=served: self._snapshot(served, ledger))  # type: ignore[misc]
        self.writer.call(lambda _: self.writer.checkpoint("TRUNCATE"))
        self.writer.close()
        self.questions.close()
        self.writer.ledger.connection.close()
        os.close(self._handle)

    def model(self, name: str) -> Served:
        """The model of this name."""
        if name not in self.served:
            known = ", ".join(sorted(self.served)) or "none yet"
            raise NotFound(f"There is no model {name!r}. The models are: {known}.")
        return self.served[name]

    # Models

    def add_model(self, name: str, model: Model) -> Served:
        """Enter a model under a name; what it has learned so far is its seed."""
        if not _NAME.fullmatch(name):
            raise Invalid(f"{name!r} is no name for a model: letters, digits, '.', '_' and '-', at most 64.")
        if name in self.served:
            raise Conflict(f"There is a model {name!r} already.")
        data = model.to_bytes()

        def enter(ledger: Ledger) -> Served:
            seed = f"{name}-{time.time_ns():x}.bayleaf"
            place = self.folder / "seeds"
            place.mkdir(mode=0o700, exist_ok=True)
            atomic.write(place / seed, data)
            (place / seed).chmod(0o600)

            def write() -> tuple[int, int]:
                number = ledger.add_model(name, seed)
                return number, ledger.log(number, "", "create", None, None, "", "person")

            number, version = self.writer.transaction(write)
            return self._serve(number, name, Model.from_bytes(data), version)

        made: Served = self.writer.call(enter).result()
        return made

    def _serve(self, number: int, name: str, seed: Model, version: int) -> Served:
        served = Served(number, name, seed, self.key, self.settings.storage.personal_models)
        served.version = version
        self.served[name] = self._numbers[number] = served
        return served

    def _recover(self, ledger: Ledger, number: int, name: str, seed_file: str) -> None:
        """Bring a model back to where it was."""
        seed = Model.load(self.folder / "seeds" / seed_file)
        served = self._serve(number, name, seed, 0)
        served.switch(recovered(self.folder, ledger, number, seed), ledger.versions().get(number, 0))
        users = ledger.connection.execute("SELECT DISTINCT user FROM document WHERE model = ?", (number,))
        served.know_users(user for (user,) in users if user)

    # Asking

    async def answer(
        self, served: Served, documents: Sequence[Document], user: str = "", in_thread: bool = False
    ) -> list[Answer]:
        """The class of each document, from the shared counts and the user's own."""
        found: list[Answer] = await self._asked(
            served, user, in_thread, lambda: served.answer(documents, user)
        )
        return found

    async def explain(
        self, served: Served, document: Document, label: Label | None, user: str = ""
    ) -> tuple[Explanation, int]:
        """Why a document gets its class, and the version that says so."""
        found: tuple[Explanation, int] = await self._asked(
            served, user, True, lambda: served.explain(document, label, user)
        )
        return found

    async def _asked(self, served: Served, user: str, in_thread: bool, ask: Callable[[], Any]) -> Any:
        """Ask; if the user's model is not in memory, have it built and ask again."""
        while True:
            try:
                return await asyncio.to_thread(ask) if in_thread else ask()
            except NotBuilt:
                await asyncio.wrap_future(self.writer.call(lambda ledger: served.build(user, ledger)))

    # Changing

    def learn(
        self, who: Who, taught: Sequence[Taught], once: Once | None = None, correct: bool = True
    ) -> Future[Any]:
        """Learn documents, durably; the result is a Done."""
        served = self._numbers[who.model]
        for each in taught:
            served.checked(each.document)
        return self.submit(Learn(who, taught, correct), once)

    def submit(self, change: Change, once: Once | None = None) -> Future[Any]:
        """Have a change carried out."""
        if self.writer.broken is not None:
            raise Broken(self.writer.broken)
        return self.writer.submit(change, once)

    def erase(self, change: Forget | ForgetWhere) -> Future[Done]:
        """Forget, and leave nothing behind in this folder; the receipt says what was done."""
        if self.writer.broken is not None:
            raise Broken(self.writer.broken)
        served = self._numbers[change.who.model]

        def run(ledger: Ledger) -> Done:
            before = digest(served.shared)
            done: Done = self.writer.transaction(lambda: change.apply(ledger))
            self.writer.apply(done.effects)
            self._snapshot(served, ledger, kept=1)
            self.writer.checkpoint("TRUNCATE")
            self.questions.drop({each.identity for each in done.results})
            done.extra = {
                "before": before,
                "after": digest(served.shared),
                "stale": served.shared.stale,
                "documents": [each.identity.hex() for each in done.results if each.outcome == "forgotten"],
                "sequence": done.version,
            }
            return done

        self.questions.flush()
        return self.writer.call(run)

    def _apply(self, effects: Sequence[Effect]) -> None:
        for number in {effect.model for effect in effects}:
            own = [effect for effect in effects if effect.model == number]
            self._numbers[number].apply(own)
            self._changes[number] = self._changes.get(number, 0) + len(own)

    def _after(self) -> None:
        for number, changes in list(self._changes.items()):
            if changes >= self.settings.storage.snapshot_changes:
                self._snapshot(self._numbers[number], self.writer.ledger)

    def _snapshot(self, served: Served, ledger: Ledger, kept: int = snapshots.KEPT) -> None:
        """Write the counts anew, in the writer's thread, where nothing else changes them."""
        snapshots.write(self.folder, served.number, served.version, served.shared.to_bytes())
        oldest = snapshots.drop_old(self.folder, served.number, kept)
        self._changes[served.number] = 0
        self.writer.transaction(lambda: ledger.drop_forgotten(served.number, oldest))

    # Weighing anew

    def retune(self, served: Served, level: Tuning | None = None) -> int:
        """Weigh the evidence anew on the kept documents, in this thread; then switch. Gives their number."""
        copy, version, rows = self.writer.call(
            lambda ledger: (served.shared.copy(), served.version, list(ledger.documents(served.number)))
        ).result()
        if not rows:
            raise Conflict("There are no documents in the ledger to weigh the evidence on. Teach some first.")
        tuned = retuned(copy, rows, level)
        # Here, not in the writer's thread: those who teach meanwhile do not wait for the disk.
        written = snapshots.write(self.folder, served.number, version, tuned.to_bytes())
        tuned.posterior(together([unpacked(rows[0].columns)]))  # ready to answer before it has to

        def switch(ledger: Ledger) -> None:
            replay(tuned, ledger, served.number, version)
            passed = snapshots.list_of(self.folder, served.number)[0][0] > version
            if passed:  # one was written meanwhile, without the new weights, or without what was erased
                written.unlink()
            oldest = snapshots.drop_old(self.folder, served.number)

            def log() -> int:
                ledger.drop_forgotten(served.number, oldest)
                return ledger.log(served.number, "", "retune", None, None, "", "person")

            served.switch(tuned, self.writer.transaction(log))
            if passed:
                self._snapshot(served, ledger)

        self.writer.call(switch).result()
        return len(rows)


def recovered(folder: Path, ledger: Ledger, number: int, seed: Model) -> Model:
    """The newest readable snapshot, brought up to date; without one, the seed and the whole ledger."""
    for seq, found in snapshots.readable(folder, number, ledger.version()):
        if isinstance(found, Model):
            return replay(found, ledger, number, seq)
        logger.warning("%s The one before it is taken.", found)
    return replay(seed.copy(), ledger, number, 0)
