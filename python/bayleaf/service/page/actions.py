"""What people did on the page, one row each, and how it is undone: exactly, in any order, without limit.

A label goes through the service's own ledger in the same transaction. To undo is declarative: the action is
marked, and the document gets the label of the last action on it that stands, or what it had before them all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from bayleaf.service.changes import Done, Effect, Learn, Result, Taught, Who
from bayleaf.service.database import Ledger, Row
from bayleaf.service.documents import Document, unpacked
from bayleaf.types import Label

HELD = "\x1fhold-out"
"""Labels of the hold-out are kept in the ledger under this name, which no client can send as a user."""

TENTH = 26
"""Of 256: a document whose keyed hash begins below is held out if it was drawn at random."""

Kind = Literal["label", "opinion", "skip", "leave"]
FIELDS = (
    "number, kind, item, identity, label, user, by, at, how, chance, answer, asked, sure, before, undone, key"
)


class Action(NamedTuple):
    """One row of the log of the page."""

    number: int
    kind: Kind
    item: str | None
    identity: bytes | None
    label: str | None
    user: str
    by: str
    at: float
    how: str
    chance: float | None
    answer: str | None
    asked: float | None
    sure: float | None
    before: str | None
    undone: float | None
    key: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A document as it was shown: where it is from, why it was chosen, and what the model thought of it."""

    item: str
    document: Document
    how: str = "given"
    chance: float | None = None
    answer: Label | None = None
    probabilities: dict[Label, float] | None = None

    def said_of(self, label: Label) -> tuple[str | None, float | None, float | None]:
        """The model's answer, the probability that it gave to a label, and to its answer."""
        if self.answer is None or self.probabilities is None:
            return None, None, None
        given = self.probabilities.get(label, 0.0)
        return _json(self.answer), given, self.probabilities[self.answer]


def in_hold_out(identity: bytes) -> bool:
    """Whether a document belongs to the tenth that is never chosen for what the model makes of it."""
    return identity[0] < TENTH


@dataclass(frozen=True, slots=True)
class Act:
    """A label, an opinion, a skip, or a word left out; the same key again changes nothing."""

    who: Who
    key: str
    shown: Sequence[Shown]
    label: Label | None
    kind: Kind = "label"

    def apply(self, ledger: Ledger) -> Done:
        """Learn, and write down what was done, in one transaction."""
        done = Done()
        for place, shown in enumerate(self.shown):
            key = f"{self.key}/{place}" if place else self.key
            known = ledger.connection.execute(
                "SELECT 1 FROM action WHERE model = ? AND key = ?", (self.who.model, key)
            ).fetchone()
            if known is None:
                self._one(ledger, shown, key, done)
        done.version = ledger.version()
        return done

    def _one(self, ledger: Ledger, shown: Shown, key: str, done: Done) -> None:
        identity, before, user = shown.document.identity, None, ""
        if self.kind == "label":
            found = _found(ledger, self.who.model, shown.document)
            user = found.user if found else HELD if self._held(shown) else ""
            acted = last_standing(ledger, self.who.model, identity)
            before = _kept(found) if found is not None and acted is None else None
            self._learn(ledger, shown, user, done)
        label = None if self.label is None else _json(self.label)
        answer, asked, sure = (None, None, None) if self.label is None else shown.said_of(self.label)
        ledger.connection.execute(
            "INSERT INTO action (model, key, kind, item, identity, label, user, by, at, how, chance, answer, "
            "asked, sure, before) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
            (
                self.who.model, key, self.kind, shown.item, identity, label, user, self.who.by, time.time(),
                shown.how, shown.chance, answer, asked, sure, before,
            ),
        )  # fmt: skip

    @staticmethod
    def _held(shown: Shown) -> bool:
        return shown.how == "hold-out" and in_hold_out(shown.document.identity)

    def _learn(self, ledger: Ledger, shown: Shown, user: str, done: Done) -> None:
        assert self.label is not None
        answer, asked, _ = shown.said_of(self.label)
        who = Who(self.who.model, self.who.by, user)
        made = Learn(who, [Taught(shown.document, self.label, answer, asked)]).apply(ledger)
        done.results += made.results
        done.effects += made.effects


@dataclass(frozen=True, slots=True)
class Undo:
    """Take back the last action of a person, or all since a moment, or all of them."""

    who: Who
    of: str
    since: float | None = None
    """None: the last one only."""

    def apply(self, ledger: Ledger) -> Done:
        """Mark what is undone, and give each document the label that stands now."""
        last = " LIMIT 1" if self.since is None else ""
        rows = ledger.connection.execute(
            f"SELECT {FIELDS} FROM action WHERE model = ? AND by = ? AND undone IS NULL AND at >= ? "
            f"ORDER BY number DESC{last}",
            (self.who.model, self.of, self.since or 0.0),
        ).fetchall()
        done = Done(extra={"actions": [Action(*row) for row in rows]})
        now = time.time()
        ledger.connection.executemany(
            "UPDATE action SET undone = ? WHERE number = ?", [(now, row[0]) for row in rows]
        )
        for action in done.extra["actions"]:
            if action.kind == "label":
                self._settle(ledger, action, done)
        done.version = ledger.version()
        return done

    def _settle(self, ledger: Ledger, action: Action, done: Done) -> None:
        """Give a document what stands; one that was forgotten elsewhere stays forgotten."""
        assert action.identity is not None
        found = ledger.find(self.who.model, action.user, action.identity, "")
        if found is None:
            return
        label, by, source = self._wanted(ledger, action)
        if label == found.label:
            return
        columns, before = unpacked(found.columns), json.loads(found.label)
        seq = ledger.forget(found, self.who.by, self.who.source)
        done.effects.append(Effect(found.model, found.user, -1, columns, before, seq))
        if label is None:
            done.results.append(Result("forgotten", None, before, seq, found.identity))
            return
        row = ledger.learn(found._replace(label=label, by=by, source=source, asked=None, answer=None))
        done.effects.append(Effect(row.model, row.user, 1, columns, json.loads(label), row.seq))
        done.results.append(Result("corrected", json.loads(label), before, row.seq, found.identity))

    def _wanted(self, ledger: Ledger, action: Action) -> tuple[str | None, str, str]:
        """The label that a document should have: that of the last action that stands, or of before them."""
        standing = last_standing(ledger, self.who.model, action.identity)
        if standing is not None:
            return standing.label, standing.by, "person"
        first = ledger.connection.execute(
            "SELECT before FROM action WHERE model = ? AND identity = ? AND before IS NOT NULL "
            "ORDER BY number LIMIT 1",
            (self.who.model, action.identity),
        ).fetchone()
        if first is None:
            return None, "", ""
        kept: dict[str, str] = json.loads(first[0])
        return kept["label"], kept["by"], kept["source"]


def last_standing(ledger: Ledger, model: int, identity: bytes | None) -> Action | None:
    """The last label of a document that was not undone."""
    row = ledger.connection.execute(
        f"SELECT {FIELDS} FROM action WHERE model = ? AND identity = ? AND kind = 'label' AND undone IS NULL "
        "ORDER BY number DESC LIMIT 1",
        (model, identity),
    ).fetchone()
    return None if row is None else Action(*row)


def _found(ledger: Ledger, model: int, document: Document) -> Row | None:
    """The document in the ledger, learned or held out."""
    learned = ledger.find(model, "", document.identity, document.alias)
    return learned or ledger.find(model, HELD, document.identity, document.alias)


def _kept(row: Row) -> str:
    kept: dict[str, Any] = {"label": row.label, "by": row.by, "source": row.source}
    return json.dumps(kept, ensure_ascii=False)


def _json(label: Label) -> str:
    return json.dumps(label, ensure_ascii=False)
