"""What the page is answered, as OpenAPI describes it; the tests hold the real answers to it."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from bayleaf.service.http.messages import ModelInfo
from bayleaf.service.page import requests

Named = str | int | float
"""A class."""


class Shown(TypedDict):
    """A document to be labeled: its reference, its text, why it was chosen and what the model says."""

    item: str
    text: str
    length: int
    how: str
    suggestion: Named | None
    probabilities: dict[str, float] | None
    label: Named | None


class NextReply(TypedDict):
    """The next document, if there is one, and the classes in the order of their keys."""

    next: Shown | None
    classes: list[Named]


class LabelReply(NextReply):
    """The same after a label, with the version that it made."""

    version: int


class UndoReply(NextReply):
    """The same after an undo: how many actions were taken back, and the label of the last."""

    undone: int
    label: Named | None


class LabeledAll(TypedDict):
    """How many documents were labeled."""

    labeled: int
    classes: list[Named]


class ClassesReply(TypedDict):
    """The classes in the order of their keys."""

    classes: list[Named]


class Person(TypedDict):
    """Who has acted how often."""

    name: str
    actions: int


class Source(TypedDict):
    """How far a corpus has been read."""

    name: str
    stamp: str
    rows: int
    read: int
    total: int | None
    done: int
    problem: str
    last: str


class Pool(TypedDict):
    """How many documents there are to be labeled."""

    documents: int
    sources: list[Source]


class State(TypedDict):
    """The model, its classes, the people and the corpus."""

    model: ModelInfo
    classes: list[Named]
    person: str
    people: list[Person]
    pool: Pool
    left_out: list[str]


class WhyReply(TypedDict):
    """The text in pieces with their log odds, and the terms that say most."""

    label: Named
    against: Named | None
    probability: float
    pieces: list[tuple[str, float]]
    terms: list[tuple[str, int, float]]
    prior: float
    cut: bool
    version: int


class EffectReply(TypedDict):
    """Of so many documents, how many answers each label would change."""

    documents: int
    changes: dict[str, int]


class Entry(TypedDict):
    """A document in a list."""

    item: str
    text: str
    cut: bool
    label: Named | None
    by: str | None
    at: float
    asked: NotRequired[float | None]
    answer: NotRequired[Named | None]
    held: NotRequired[bool]
    instead: NotRequired[Named]
    log_odds: NotRequired[float]
    opinions: NotRequired[dict[str, Named]]
    probability: NotRequired[float]


WordCount = TypedDict("WordCount", {"label": str, "with": int, "documents": int, "occurrences": int})


class WordReply(TypedDict):
    """In how many documents of each class a word stands, and the newest of them."""

    word: str
    counts: list[WordCount]
    documents: list[Entry]
    left_out: list[str]


class Hit(TypedDict):
    """A document without a label that holds a text."""

    item: str
    text: str
    cut: bool


class HitsReply(TypedDict):
    """Documents without a label that hold a text."""

    hits: list[Hit]


class Entries(TypedDict):
    """Labeled documents."""

    documents: list[Entry]


class HistoryReply(TypedDict):
    """What a running filter was asked."""

    questions: list[Entry]


class Pair(TypedDict):
    """How often two people agreed, and beyond chance."""

    people: list[str]
    documents: int
    agreed: float
    kappa: float | None


class Disagreements(Entries):
    """Documents with labels that differ, and each pair of people."""

    pairs: list[Pair]


class Bin(TypedDict):
    """How sure some answers were, and how often right."""

    sure: float
    right: float
    documents: int


class HoldOut(TypedDict):
    """Accuracy on documents that were never learned, with its 95 % interval."""

    documents: int
    accuracy: float
    low: float
    high: float
    log_loss: float
    calibration: list[Bin]


class ProgressReply(TypedDict):
    """How good the model is now."""

    hold_out: HoldOut | None
    pool: Pool
    documents: int
    version: int


class Point(TypedDict):
    """The accuracy on the hold-out after so many labels."""

    labels: int
    accuracy: float
    low: float
    high: float
    log_loss: float


class Curve(TypedDict):
    """The learning curve, and whether to go on."""

    points: list[Point]
    held: int
    advice: str


class Today(TypedDict):
    """What somebody did since midnight."""

    by: str
    operation: str
    count: int


class Right(TypedDict):
    """The share of right answers given before the label."""

    labels: int
    accuracy: float


class WatchReply(TypedDict):
    """What happened today, progressive accuracy, and the most surprising labels."""

    today: list[Today]
    progressive: list[Right]
    asked: int
    surprising: list[Entry]


BODIES: dict[str, tuple[type, Any]] = {
    "state": (requests.Request, State),
    "next": (requests.Next, NextReply),
    "label": (requests.Label, LabelReply),
    "label-all": (requests.LabelAll, LabeledAll),
    "undo": (requests.Undo, UndoReply),
    "classes": (requests.Classes, ClassesReply),
    "why": (requests.Why, WhyReply),
    "effect": (requests.Effect, EffectReply),
    "word": (requests.Word, WordReply),
    "hits": (requests.Hits, HitsReply),
    "labeled": (requests.Labeled, Entries),
    "suspects": (requests.Request, Entries),
    "disagreements": (requests.Request, Disagreements),
    "history": (requests.HistoryQuery, HistoryReply),
    "progress": (requests.Request, ProgressReply),
    "curve": (requests.Request, Curve),
    "watch": (requests.Watch, WatchReply),
    "export": (requests.Export, None),
}
"""The request and the answer of each path of the page; an export is a file."""
