"""The operations of the service, the same for every protocol: ask, teach, forget."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any

from bayleaf.service.changes import Done, Forget, ForgetWhere, Taught, Who
from bayleaf.service.documents import Document
from bayleaf.service.metrics import Metrics
from bayleaf.service.progress import Record
from bayleaf.service.refusals import Conflict, NotFound
from bayleaf.service.served import Answer, Served
from bayleaf.service.store import Store
from bayleaf.service.tokens import Tokens
from bayleaf.service.writer import Once
from bayleaf.types import Label

audit = logging.getLogger("bayleaf.audit")
FLUSH_SECONDS = 1.0


class Service:
    """A store with its tokens, its metrics and its background work."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.tokens = Tokens(store.folder)
        self.records: dict[str, Record] = {}
        for served in store.served.values():
            self.records[served.name] = self._recorded(served)
        self.metrics = Metrics(store, self.records)
        self.retuning: dict[str, str] = {}
        self._running: set[str] = set()
        self.catch_up: Callable[[], None] = lambda: None
        """Count what was answered elsewhere; called before the counts are looked at."""

    def _recorded(self, served: Served) -> Record:
        rows = self.store.questions.read(
            "SELECT asked, answer = label FROM document WHERE model = ? AND asked IS NOT NULL", served.number
        )
        loss = -sum(math.log(max(asked, 1e-15)) for asked, _ in rows)
        return Record(len(rows), sum(right for _, right in rows), loss)

    def record(self, served: Served) -> Record:
        """How a model has been doing."""
        found = self.records.get(served.name)
        return found if found is not None else self.records.setdefault(served.name, Record())

    # Asking

    async def ask(
        self,
        served: Served,
        documents: Sequence[Document],
        ids: Sequence[str | None],
        user: str = "",
        in_thread: bool = False,
    ) -> list[tuple[str, Answer]]:
        """Answer, and remember the questions so that they can be taught by id."""
        answers = await self.store.answer(served, documents, user, in_thread)
        asked = zip(documents, ids, answers, strict=True)
        named = [(self._remember(served, each, id, user, answer), answer) for each, id, answer in asked]
        self._autolearn(served, documents, answers, user)
        return named

    def ask_at_once(self, served: Served, document: Document, user: str = "") -> tuple[str, Answer]:
        """The same for one document, without waiting; NotBuilt if the user's model is not in memory."""
        answer = served.answer_one(document, user)
        id = self._remember(served, document, None, user, answer)
        self._autolearn(served, [document], [answer], user)
        return id, answer

    def _remember(
        self, served: Served, document: Document, given: str | None, user: str, answer: Answer
    ) -> str:
        questions = self.store.questions
        id = given or questions.new_id()
        questions.keep(served, id, document, user, answer)
        self.record(served).answered(answer.label)
        return id

    def _autolearn(
        self, served: Served, documents: Sequence[Document], answers: Sequence[Answer], user: str
    ) -> None:
        sure = self.store.settings.autolearn.get(served.name)
        if sure is None or self.store.writer.broken is not None:
            return
        both = zip(documents, answers, strict=True)
        taught = [Taught(document, answer.label) for document, answer in both if answer.probability >= sure]
        if taught:
            self.store.learn(Who(served.number, "autolearn", user, "auto"), taught).add_done_callback(
                _ignored
            )

    def asked(self, served: Served, id: str) -> Document:
        """The document of an earlier question."""
        found = self.store.questions.find(served, id)
        if found is None:
            raise NotFound(
                f"There is no question {id!r}, or it is too old to be kept. Teach with the text instead."
            )
        return found.document

    # Changing

    async def learn(
        self,
        served: Served,
        who: Who,
        pairs: Sequence[tuple[Document, Label]],
        once: Once | None = None,
        correct: bool = True,
    ) -> Done | bytes:
        """Learn documents, durably; gives what became of them, or the bytes of the first answer to a key."""
        taught = [self._with_answer(served, document, label) for document, label in pairs]
        done: Done | bytes = await asyncio.wrap_future(self.store.learn(who, taught, once, correct))
        if isinstance(done, Done):
            self.learned(served, who, taught, done)
        return done

    def _with_answer(self, served: Served, document: Document, label: Label) -> Taught:
        asked = self.store.questions.about(served, document.identity)
        if asked is None:
            return Taught(document, label)
        return Taught(document, label, json.dumps(asked.label, ensure_ascii=False), asked.probability(label))

    def learned(self, served: Served, who: Who, taught: Sequence[Taught], done: Done) -> None:
        """Note what was learned: in the metrics, the record of answers and the audit log."""
        for each, result in zip(taught, done.results, strict=True):
            self.metrics.change(served.name, result.outcome)
            if each.answer is not None and each.asked is not None and result.outcome == "learned":
                self.record(served).taught(json.loads(each.answer), each.label, each.asked)
        self.audit(served, who, done)

    async def forget(
        self, served: Served, change: Forget | ForgetWhere, once: Once | None = None
    ) -> Done | bytes:
        """Forget, or erase, and say what was forgotten."""
        future: Future[Any] = self.store.erase(change) if change.erase else self.store.submit(change, once)
        done: Done | bytes = await asyncio.wrap_future(future)
        if isinstance(done, Done):
            for result in done.results:
                self.metrics.change(served.name, result.outcome)
            self.audit(served, change.who, done)
        return done

    @staticmethod
    def audit(served: Served, who: Who, done: Done) -> None:
        """Say in the log who changed what."""
        for each in done.results:
            if each.outcome not in ("already", "unknown"):
                entry = {
                    "model": served.name, "by": who.by, "user": who.user, "source": who.source,
                    "label": each.label, "before": each.before,
                    "document": each.identity.hex(), "version": each.version,
                }  # fmt: skip
                audit.info("%s", each.outcome, extra={"fields": entry})

    @contextmanager
    def running(self, key: str) -> Iterator[None]:
        """While a request with an Idempotency-Key is at work, the same again is refused."""
        if key and key in self._running:
            raise Conflict("A request with this Idempotency-Key is still at work. Ask again in a moment.")
        self._running.add(key)
        try:
            yield
        finally:
            self._running.discard(key)

    # Background work

    def start_retune(self, served: Served) -> None:
        """Weigh the evidence anew in a thread of its own, and switch when it is done."""
        if self.retuning.get(served.name) == "running":
            raise Conflict(f"The model {served.name!r} is being retuned already.")
        if not served.shared.n_documents:
            raise Conflict("This model has learned nothing yet.")
        self.retuning[served.name] = "running"
        threading.Thread(target=self._retune, args=(served,), name="bayleaf-retune", daemon=True).start()

    def _retune(self, served: Served) -> None:
        try:
            documents = self.store.retune(served)
            self.retuning[served.name] = f"done, on {documents} documents"
        except Exception as error:
            self.retuning[served.name] = f"failed: {getattr(error, 'detail', error)}"

    async def background(self) -> None:
        """Count, and write the questions down, once a second."""
        while True:
            await asyncio.sleep(FLUSH_SECONDS)
            self.catch_up()
            self.store.questions.flush()


def _ignored(future: Future[Any]) -> None:
    future.exception()
