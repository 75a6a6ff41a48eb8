"""What can be asked of the writer: a change checks, writes, and says what it does to the counts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from bayleaf.service.database import Ledger, Row
from bayleaf.service.documents import Columns, Document, unpacked
from bayleaf.service.refusals import Conflict, NotFound
from bayleaf.types import Label

Source = Literal["person", "auto"]


@dataclass(frozen=True, slots=True)
class Effect:
    """What a committed change adds to (+1) or takes from (-1) the counts."""

    model: int
    user: str
    sign: int
    columns: Columns
    label: Label
    seq: int


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one document."""

    outcome: Literal["learned", "already", "corrected", "forgotten", "unknown"]
    label: Label | None
    before: Label | None
    version: int
    identity: bytes


@dataclass(slots=True)
class Done:
    """What became of a change: an answer for its client, and the effects on the counts."""

    results: list[Result] = field(default_factory=list)
    effects: list[Effect] = field(default_factory=list)
    version: int = 0
    extra: dict[str, Any] = field(default_factory=dict)


class Change(Protocol):
    """Something that the writer carries out in its transaction."""

    def apply(self, ledger: Ledger) -> Done:
        """Check, then write; a Refusal undoes what was written."""


@dataclass(frozen=True, slots=True)
class Who:
    """Who asks for a change, on which model, and whose counts it is for."""

    model: int
    by: str
    user: str = ""
    source: Source = "person"


@dataclass(frozen=True, slots=True)
class Taught:
    """A document with its label, and the answer that was given before it was taught."""

    document: Document
    label: Label
    answer: str | None = None
    asked: float | None = None


@dataclass(frozen=True, slots=True)
class Learn:
    """Learn documents; the same again counts once, another label is a correction."""

    who: Who
    taught: Sequence[Taught]
    correct: bool = True

    def apply(self, ledger: Ledger) -> Done:
        """Enter each document, in order."""
        done = Done()
        for each in self.taught:
            done.results.append(self._one(ledger, each, done.effects))
        done.version = ledger.version()
        return done

    def _one(self, ledger: Ledger, taught: Taught, effects: list[Effect]) -> Result:
        who, document, label = self.who, taught.document, taught.label
        found = ledger.find(who.model, who.user, document.identity, document.alias)
        if found is None:
            return self._enter(ledger, taught, None, effects)
        before = json.loads(found.label)
        if before == label or who.source == "auto":
            if found.source == "auto" and who.source == "person":
                ledger.confirm(found, who.by)
            return Result("already", before, before, found.seq, found.identity)
        if found.source == "person" and not self.correct:
            raise Conflict(
                f"This document was learned as {before!r}. To learn it as {label!r} instead, use /correct."
            )
        effects.append(_taken(ledger, found, who))
        return self._enter(ledger, taught, before, effects)

    def _enter(self, ledger: Ledger, taught: Taught, before: Label | None, effects: list[Effect]) -> Result:
        who, document = self.who, taught.document
        row = ledger.learn(
            Row(
                who.model, who.user, document.identity, document.alias, document.subject, _json(taught.label),
                document.packed(), who.by, who.source, 0.0, 0, taught.asked, taught.answer,
            )
        )  # fmt: skip
        effects.append(Effect(who.model, who.user, 1, document.columns, taught.label, row.seq))
        outcome: Literal["learned", "corrected"] = "learned" if before is None else "corrected"
        return Result(outcome, taught.label, before, row.seq, row.identity)


@dataclass(frozen=True, slots=True)
class Forget:
    """Forget the recorded documents, whatever copies are shown; `strict` refuses unknown ones."""

    who: Who
    documents: Sequence[Document]
    label: Label | None = None
    strict: bool = True
    erase: bool = False

    def apply(self, ledger: Ledger) -> Done:
        """Take each document out."""
        done = Done()
        for document in self.documents:
            found = ledger.find(self.who.model, self.who.user, document.identity, document.alias)
            done.results.append(self._one(ledger, document, found, done.effects))
            if self.erase:
                ledger.drop_questions(self.who.model, document.identity)
        done.version = ledger.version()
        return done

    def _one(self, ledger: Ledger, document: Document, found: Row | None, effects: list[Effect]) -> Result:
        if found is None:
            if self.strict:
                raise NotFound("This document was not learned here, or is forgotten already.")
            return Result("unknown", None, None, 0, document.identity)
        label = json.loads(found.label)
        if self.label is not None and label != self.label:
            raise Conflict(f"This document was learned as {label!r}, not as {self.label!r}.")
        effects.append(_taken(ledger, found, self.who))
        return Result("forgotten", None, label, effects[-1].seq, found.identity)


@dataclass(frozen=True, slots=True)
class ForgetWhere:
    """Forget all documents of a person, a source, a subject or a user."""

    who: Who
    where: Literal["by", "source", "subject", "user"]
    value: str
    erase: bool = False

    def apply(self, ledger: Ledger) -> Done:
        """Take all of them out."""
        done = Done()
        for found in ledger.select(self.who.model, self.where, self.value):
            effect = _taken(ledger, found, self.who)
            done.effects.append(effect)
            done.results.append(Result("forgotten", None, effect.label, effect.seq, found.identity))
            if self.erase:
                ledger.drop_questions(self.who.model, found.identity)
        done.version = ledger.version()
        return done


@dataclass(frozen=True, slots=True)
class Task:
    """Anything else that needs the writer's connection, between two transactions."""

    run: Callable[[Ledger], Any]


def _taken(ledger: Ledger, row: Row, who: Who) -> Effect:
    seq = ledger.forget(row, who.by, who.source)
    return Effect(row.model, row.user, -1, unpacked(row.columns), json.loads(row.label), seq)


def _json(label: Label) -> str:
    return json.dumps(label, ensure_ascii=False)
