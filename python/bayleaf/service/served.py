"""A model at work: shared counts, and for each user the shared counts plus their own."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import groupby, islice
from typing import Any, NamedTuple

from bayleaf._core import Standing
from bayleaf.answering import Compiled
from bayleaf.class_names import by_name
from bayleaf.explanation import Explanation
from bayleaf.labels import sort_key
from bayleaf.model import Model
from bayleaf.model_views import WHOLE
from bayleaf.service.changes import Effect
from bayleaf.service.database import Ledger, Row
from bayleaf.service.documents import Columns, Document, Reader, together, unpacked
from bayleaf.service.refusals import Conflict, Invalid
from bayleaf.text.mail import MAIL_COLUMNS
from bayleaf.tuning import Tuning
from bayleaf.types import Label

BATCH = 1_000
LONGEST_LABEL = 200


class Answer(NamedTuple):
    """The class of a document, and the probability of every class."""

    label: Label
    probability: float
    probabilities: dict[Label, float]
    version: int


class Served:
    """One named model: answers in any thread, changed by the writer alone."""

    def __init__(self, number: int, name: str, seed: Model, key: bytes, most_users: int) -> None:
        self.number, self.name = number, name
        self.seed = seed
        self.reader = Reader(seed, key)
        self.shared = seed.copy()
        self.version = 0
        self._known = _classes_of(self.shared)
        self._lock = threading.Lock()
        self._taught: set[str] = set()
        self._users: OrderedDict[str, Model] = OrderedDict()
        self._most_users = most_users
        self.standing = Standing()
        self._stood = False

    # Asking

    def answer(self, documents: Sequence[Document], user: str = "") -> list[Answer]:
        """The class of each document."""
        if len(documents) == 1:
            return [self.answer_one(documents[0], user)]
        if not documents:
            return []
        with self._lock:
            model, classes = self._answering(user)
            rows = model.posterior(together([each.columns for each in documents])).tolist()
            version = self.version
        return [_answer(dict(zip(classes, row, strict=True)), version) for row in rows]

    def answer_one(self, document: Document, user: str = "") -> Answer:
        """The class of a document."""
        with self._lock:
            model, _ = self._answering(user)
            return _answer(model.predict_proba_one(document.columns), self.version)

    def stand(self, document: Document, spam: str) -> None:
        """Let the core answer mails by itself until the next change, where it can."""
        with self._lock:
            if self._stood:
                return
            self._stood = True
            found = self.shared._ask_one(self.shared._as_rows(document.columns), Compiled.in_core)
            classes = [label for label in self._known if isinstance(label, str)]
            if found is None or len(classes) != 2 or classes != self._known or spam not in classes:
                return
            together, names = found
            # Of a model of one text, the place behind all columns.
            known = {name: place for place, name in enumerate((*MAIL_COLUMNS, WHOLE))}
            if all(name in known for name in names):
                places = [known[name] for name in names]
                self.standing.stand(together, places, classes, classes.index(spam), self.version)

    def _withdraw(self) -> None:
        """Have no more answers by the core, because the counts are about to change."""
        self.standing.withdraw()
        self._stood = False

    def _answering(self, user: str) -> tuple[Model, list[Label]]:
        """The model that answers a user, and its classes."""
        model = self._model(user)
        classes = self._known if model is self.shared else _classes_of(model)
        if not classes:
            raise _nothing_learned()
        return model, classes

    def explain(
        self, document: Document, label: Label | None = None, user: str = ""
    ) -> tuple[Explanation, int]:
        """Why a document gets its class, and the version that says so."""
        with self._lock:
            model = self._model(user)
            if not model.n_documents:
                raise _nothing_learned()
            if label is not None and label not in model.classes:
                raise Invalid(f"There is no class {label!r}. The classes are {model.classes!r}.")
            columns: Any = document.columns
            return model.explain(columns, label), self.version

    @property
    def classes(self) -> list[Label]:
        """The classes that have been learned."""
        return self.shared.classes

    def fitting_label(self, label: object) -> Label:
        """A label as the model knows it: "1" is 1 if that is a class; what cannot be one is refused."""
        if isinstance(label, bool) or not isinstance(label, str | int | float):
            raise Invalid(f"The label is {label!r}; a class is named by a string or a number.")
        if isinstance(label, str):
            if not label.strip() or len(label) > LONGEST_LABEL or not label.isprintable():
                raise Invalid(
                    f"The label is {label[:50]!r}; it must be 1 to {LONGEST_LABEL} printable characters."
                )
            known: Label = by_name(self.classes).get(label, label)
            label = known
        elif label != label or abs(label) == float("inf"):
            raise Invalid(f"The label is {label!r}, which is not a number.")
        if self.shared.closed and label not in self.classes:
            raise Conflict(f"This model's classes are {self.classes!r}, and {label!r} is none of them.")
        return label

    def checked(self, document: Document) -> Document:
        """The document, if the views can read it; texts always can be read."""
        if isinstance(document.columns, dict) and not self.reader.is_mail:
            try:
                empty_like(self.seed).learn(together([document.columns]), ["any"])
            except (ValueError, TypeError) as error:
                raise Invalid(str(error)) from None
        return document

    def _model(self, user: str) -> Model:
        """The shared model, or the shared counts plus the user's own."""
        if user not in self._taught:
            return self.shared
        if user not in self._users:
            raise NotBuilt(user)
        self._users.move_to_end(user)
        return self._users[user]

    # Changing, in the writer's thread

    def apply(self, effects: Sequence[Effect]) -> None:
        """Add and take away what was committed, to the shared counts and to the users' that hold them."""
        with self._lock:
            self._withdraw()
            for user, sign, some in _runs(effects):
                targets = [self.shared, *self._users.values()]
                if user:
                    self._taught.add(user)
                    targets = [self._users[user]] if user in self._users else []
                for model in targets:
                    _count(model, sign, some)
            self.version = max(effect.seq for effect in effects)
            self._known = _classes_of(self.shared)

    def know_users(self, users: Iterable[str]) -> None:
        """Remember which users have documents of their own."""
        self._taught.update(users)

    def build(self, user: str, ledger: Ledger) -> None:
        """Add up the shared counts and the user's own; the writer's thread alone changes either."""
        made = self.shared.copy().merge(own_counts(self.seed, ledger, self.number, user))
        with self._lock:
            self._users[user] = made
            while len(self._users) > max(self._most_users, 1):
                self._users.popitem(last=False)

    def switch(self, model: Model, version: int) -> None:
        """Answer from another model from now on."""
        with self._lock:
            self._withdraw()
            self.shared, self.version = model, version
            self._known = _classes_of(model)
            self._users.clear()


def _answer(probabilities: dict[Label, float], version: int) -> Answer:
    best = max(probabilities, key=probabilities.__getitem__)
    return Answer(best, probabilities[best], probabilities, version)


class NotBuilt(Exception):  # noqa: N818 (a reason to build)
    """The model of this user is not in memory: `build` makes it."""


def empty_like(model: Model) -> Model:
    """A model that looks at documents in the same way and has learned nothing."""
    from bayleaf.model_views import as_given

    return Model(as_given(model.views), alpha=model.alpha, unseen=model.unseen)


def replay(model: Model, ledger: Ledger, number: int, after: int) -> Model:
    """Bring a model that is up to date with `after` to the state of the ledger."""
    added = ((unpacked(row.columns), json.loads(row.label)) for row in ledger.documents(number, "", after))
    taken = ((unpacked(row.columns), json.loads(row.label)) for row in ledger.forgotten(number, after))
    for sign, documents in ((1, added), (-1, taken)):
        while some := list(islice(documents, BATCH)):
            _count(model, sign, some)
    return model


def own_counts(seed: Model, ledger: Ledger, number: int, user: str) -> Model:
    """What one user has taught, counted."""
    model = empty_like(seed)
    rows = ledger.documents(number, user)
    while some := list(islice(rows, BATCH)):
        _count(model, 1, [(unpacked(row.columns), json.loads(row.label)) for row in some])
    return model


def retuned(model: Model, rows: Sequence[Row], level: Tuning | None = None) -> Model:
    """The model with its evidence weighed anew on the documents of the ledger, on its level or another."""
    columns = together([unpacked(row.columns) for row in rows])
    labels = [json.loads(row.label) for row in rows]
    return model.retune(columns, labels) if level is None else model.tune(columns, labels, level)


def facts(model: Model) -> bytes:
    """The counts and settings as bytes, without weights that were earned."""
    if model.judgment is None:
        return model.to_bytes()
    return model.copy().drop_judgment().to_bytes()


def digest(model: Model) -> str:
    """The hash of a model's facts."""
    return hashlib.sha256(facts(model)).hexdigest()


def names_of(classes: Iterable[Label]) -> list[str]:
    """Classes as texts, in order."""
    return [str(label) for label in sorted(classes, key=sort_key)]


def _runs(effects: Sequence[Effect]) -> Iterable[tuple[str, int, list[tuple[Columns, Label]]]]:
    for (user, sign), some in groupby(effects, lambda each: (each.user, each.sign)):
        yield user, sign, [(each.columns, each.label) for each in some]


def _count(model: Model, sign: int, documents: Sequence[tuple[Columns, Label]]) -> None:
    columns = together([columns for columns, _ in documents])
    labels = [label for _, label in documents]
    if sign > 0:
        model.learn(columns, labels)
    else:
        model.forget(columns, labels)


def _classes_of(model: Model) -> list[Label]:
    """The classes that can be answered: none while nothing is learned, though they may be announced."""
    return model.classes if model.n_documents else []


def _nothing_learned() -> Conflict:
    return Conflict('This model has learned nothing yet. POST {"text": …, "label": …} to its /learn first.')
