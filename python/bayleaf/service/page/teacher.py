"""Teaching one model through the page: next, label, undo, words; and weighing anew as labels come in."""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Sequence
from typing import Any

from bayleaf.service.changes import Done, Taught, Who
from bayleaf.service.documents import check_text
from bayleaf.service.page.actions import Act, Action, Kind, Shown, Undo
from bayleaf.service.page.classes import Announced
from bayleaf.service.page.leaving import check_leaving, settle_left_out
from bayleaf.service.page.lessons import Lessons
from bayleaf.service.page.pool import shown as shown_text
from bayleaf.service.refusals import Invalid
from bayleaf.service.served import Served
from bayleaf.service.service import Service
from bayleaf.types import Label

logger = logging.getLogger("bayleaf.service")

FIRST_TUNING = 10
MANY = 2_000
"""Evidence is weighed anew for a new class, and for a quarter more labels; from so many on, for half."""

LONGEST = 100_000
"""So many characters of a document are sent to the page at once."""


class Teacher:
    """One model, its lessons, and its classes in the order of their keys."""

    def __init__(self, service: Service, served: Served) -> None:
        self.service, self.served = service, served
        self.lessons = Lessons(service.store, served)
        self._tuned_at = served.shared.n_documents if served.shared.judgment is not None else 0
        self._tuning = threading.Lock()
        self.classes = Announced(service.store, served)

    # Labeling

    async def act(
        self, person: str, key: str, shown: Sequence[Shown], label: Label | None, kind: Kind = "label"
    ) -> Done:
        """Carry out and keep one action on one or more documents."""
        who = Who(self.served.number, person)
        done: Done = await asyncio.wrap_future(self.service.store.submit(Act(who, key, shown, label, kind)))
        if kind in ("label", "opinion") and label is not None:
            self.classes.add(label)
        if done.results and label is not None:
            taught = [_taught(each, label) for each in shown]
            if len(taught) == len(done.results):
                self.service.learned(self.served, who, taught, done)
        self.lessons.took(person, shown, skipped=kind == "skip")
        self._maybe_retune()
        return done

    async def undo(self, person: str, of: str, since: float | None) -> list[Action]:
        """Take back actions; gives them, the newest first."""
        who = Who(self.served.number, person)
        done: Done = await asyncio.wrap_future(self.service.store.submit(Undo(who, of, since)))
        actions: list[Action] = done.extra["actions"]
        self.service.audit(self.served, who, done)
        self.lessons.gave_back(of, [each.item for each in actions])
        if any(each.kind == "leave" for each in actions):
            await asyncio.to_thread(settle_left_out, self.service.store, self.served)
        return actions

    async def teach_word(self, person: str, key: str, word: str, label: Label) -> None:
        """Learn a word by itself, as a document of one word."""
        await self.act(person, key, [self._word(word)], label)

    async def leave_out(self, person: str, key: str, word: str) -> None:
        """Leave a word out of the counts."""
        check_leaving(self.served)
        await self.act(person, key, [self._word(word)], word.lower(), "leave")
        await asyncio.to_thread(settle_left_out, self.service.store, self.served)

    def _word(self, word: str) -> Shown:
        if not self.served.reader.is_text:
            raise Invalid("This model looks at columns; a word by itself is for models of one text.")
        check_text(word, "The word")
        return Shown(f"w{word}", self.served.reader.text(word), "word")

    # Showing

    def said(self, shown: Shown | None) -> dict[str, Any] | None:
        """A document as the page gets it."""
        if shown is None:
            return None
        text = shown_text(shown.document.columns)
        return {
            "item": shown.item,
            "text": text[:LONGEST],
            "length": len(text),
            "how": shown.how,
            "suggestion": shown.answer,
            "probabilities": shown.probabilities
            and {str(label): value for label, value in shown.probabilities.items()},
            "label": self._label_of(shown),
        }

    def _label_of(self, shown: Shown) -> Any:
        """The label that a document has already, if it has one."""
        rows = self.service.store.questions.read(
            "SELECT label FROM document WHERE model = ? AND identity = ? LIMIT 1",
            self.served.number, shown.document.identity,
        )  # fmt: skip
        return json.loads(rows[0][0]) if rows else None

    # Weighing anew

    def _maybe_retune(self) -> None:
        """Weigh the evidence in the background when there is a good part more of it."""
        learned = self.served.shared.n_documents
        growth = 1.25 if learned < MANY else 1.5
        judged = self.served.shared.judgment
        new = judged is not None and bool(judged.strangers(self.served.classes))
        due = learned >= max(FIRST_TUNING, self._tuned_at * growth)
        if not (due or new) or self.served.seed.n_documents or len(self.served.classes) < 2:
            return
        if self._tuning.acquire(blocking=False):
            self._tuned_at = learned
            threading.Thread(target=self._retune, name="bayleaf-page-retune", daemon=True).start()

    def _retune(self) -> None:
        try:
            self.service.store.retune(self.served, "auto")
        except Exception as error:  # a class may have lost its last document meanwhile
            logger.warning("The evidence could not be weighed anew: %s", getattr(error, "detail", error))
        finally:
            self._tuning.release()


def _taught(shown: Shown, label: Label) -> Taught:
    answer, asked, _ = shown.said_of(label)
    return Taught(shown.document, label, answer, asked)
