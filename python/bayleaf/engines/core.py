"""The three functions behind every engine: count batches, merge blobs, score columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bayleaf import model_views
from bayleaf.engines.parts import Part, added, of_texts
from bayleaf.exchange import pruned
from bayleaf.labels import as_array
from bayleaf.model import Model
from bayleaf.model_views import WHOLE, Views
from bayleaf.posterior import check_probability, log_evidence, log_softmax
from bayleaf.types import Floats, Label

TEXTS = ("words", "chars", "bytes_")
TEXT_TYPES = ("string", "large_string", "string_view", "null")
LABEL_TYPES = re.compile(r"(large_)?string(_view)?|u?int\d+|halffloat|float|double|bool|null")
LEARN_BYTES = 16 << 20
"""About how much is learned at a time: small batches cost up to four times as much."""
ON_ERROR = ("stop", "skip", "replace")


def empty_like(model: Model) -> Model:
    """A model with the same views and settings that has learned nothing."""
    empty = Model(
        model_views.as_given(model.views),
        alpha=model.alpha,
        priors=model.priors,
        unseen=model.unseen,
        classes=model.classes if model.closed else None,
        threads=1,
    )
    empty.notes = dict(model.notes)
    return empty


@dataclass(frozen=True)
class Plan:
    """What every task is told: an empty model with the views, and the columns to read.

    Pickling a plan takes the user's functions along, which the bytes of a model cannot hold.
    """

    empty: Model
    text: str = "text"
    label: str = "label"
    on_error: str = "stop"

    @classmethod
    def of(cls, views: Views | None, model: Model | None, text: str, label: str, on_error: str) -> Plan:
        """The plan for new views, or for learning on with an existing model."""
        if views is not None and model is not None:
            raise ValueError("Give `views` for a new model or `model` to learn on, not both.")
        if model is not None and not isinstance(model, Model):
            raise TypeError(f"`model` must be a bayleaf.Model, got {type(model).__name__}.")
        if on_error not in ON_ERROR:
            raise ValueError(f"`on_error` must be 'stop', 'skip' or 'replace', got {on_error!r}.")
        return cls(Model(views) if model is None else empty_like(model), text, label, on_error)

    @property
    def columns(self) -> list[str]:
        """The columns that a task needs, the label last."""
        return list(dict.fromkeys([*read_columns(self.empty, self.text), self.label]))

    def examples(self, batch: Mapping[str, Any]) -> tuple[Any, Any]:
        """X and y of a batch of Arrow columns, without the rows that lack a label or the text.

        As in files: "stop" refuses them, "skip" leaves them out, "replace" takes a null text as empty.
        """
        rows = {name: batch[name] for name in self.columns}
        check_label_type(self.label, rows[self.label].type)
        for name in self._needed():
            if rows[name].null_count:
                self._check_skipping(name, rows[name])
                kept = rows[name].is_valid()
                rows = {name: column.filter(kept) for name, column in rows.items()}
        return documents(self.empty, rows, self.text), _plain(rows[self.label])

    def complete(self, batch: Mapping[str, Any]) -> NDArray[np.bool_]:
        """Which rows of a batch are not left out, as `examples` does it."""
        check_label_type(self.label, batch[self.label].type)
        kept = np.ones(len(batch[self.label]), np.bool_)
        for name in self._needed():
            if batch[name].null_count:
                self._check_skipping(name, batch[name])
                kept &= batch[name].is_valid().to_numpy(zero_copy_only=False)
        return kept

    def _needed(self) -> list[str]:
        """The columns that must not be null."""
        whole = self.empty.views[0][0] == WHOLE and self.on_error != "replace"
        return [self.label, self.text] if whole else [self.label]

    def _check_skipping(self, name: str, column: Any) -> None:
        if self.on_error == "skip":
            return
        replace = ", or on_error='replace' to learn them as empty" if name == self.text else ""
        raise ValueError(
            f"The column {name!r} is null in {column.null_count} of {len(column)} rows of a batch. Drop "
            f"those rows, or pass on_error='skip' to leave them out{replace}."
        )


def read_columns(model: Model, text: str) -> list[str]:
    """The columns that a model reads: the one of texts, or those that its views name."""
    return [text] if model.views[0][0] == WHOLE else model_views.columns_of(model.views)


def check_columns(needed: Iterable[str], present: Iterable[str]) -> None:
    """Raise unless every needed column is there, once, before any task starts."""
    needed, there = list(needed), list(present)
    missing = [name for name in needed if name not in there]
    if missing:
        raise ValueError(
            f"There is no column {missing[0]!r}. The columns are {there}; choose with `text`, `label` "
            "or `views`."
        )
    twice = [name for name in needed if there.count(name) > 1]
    if twice:
        raise ValueError(
            f"There are {there.count(twice[0])} columns {twice[0]!r}, and none is told from the other. "
            f"The columns are {there}; rename or drop one."
        )


def check_label_type(name: str, kind: Any) -> None:
    """Raise unless a type of Arrow can name classes."""
    if not LABEL_TYPES.fullmatch(_value_type(kind)):
        raise ValueError(
            f"The column {name!r} holds {kind}, and a class is named by a string, a whole number, a float "
            "or a truth value. Cast it to one of them first."
        )


def check_whole(name: str, value: Any, least: int = 1) -> int:
    """Raise unless a setting is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise ValueError(f"`{name}` must be a whole number >= {least}, got {value!r}.")
    return int(value)


def documents(model: Model, batch: Mapping[str, Any], text: str) -> Any:
    """X for a model from Arrow columns; a null text is an empty one."""
    kinds = {name: view.kind for own, view in model.views for name in view.columns or (own,)}
    if WHOLE in kinds:
        return _column(batch[text], kinds[WHOLE], text)
    return {name: _column(batch[name], kind, name) for name, kind in kinds.items()}


def _value_type(kind: Any) -> str:
    """The name of a type of Arrow; of a dictionary, which pandas has for categories, that of its values."""
    return str(getattr(kind, "value_type", kind) if str(kind).startswith("dictionary") else kind)


def _column(column: Any, kind: str, name: str) -> Any:
    if kind in TEXTS:
        if _value_type(column.type) not in TEXT_TYPES:
            raise ValueError(
                f"The column {name!r} holds {column.type}, and text is expected. Cast or decode it to a "
                "string first, or choose another column."
            )
        if str(column.type) not in ("string", "large_string"):
            column = column.cast("large_string")
        return column.fill_null("") if column.null_count else column
    return _plain(column)


def _plain(column: Any) -> Any:
    """Numbers as NumPy's, which takes no loop; anything with nulls as it is."""
    kind = str(column.type)
    if not column.null_count and kind.startswith(("int", "uint", "float", "double")):
        return column.to_numpy(zero_copy_only=False)
    return column if kind in ("string", "large_string") else column.to_pylist()


def count(examples: Iterable[tuple[Any, Any]], empty: Model, threads: int = 1) -> bytes | None:
    """Learn pairs of X and y; gives the model's bytes, or None if there was no document."""
    model = empty.copy()
    model.threads = threads
    for X, y in examples:
        if len(y):
            model.learn(X, y)
    return model.to_bytes() if model.n_documents else None


def restored(data: bytes, like: Model, threads: int = 1) -> Model:
    """The model in a blob, with the user's functions of another that has the same views."""
    return Part.unpacked(data).model(like, threads)


def merge(blobs: Iterable[bytes], empty: Model, min_documents: int = 1) -> bytes | None:
    """Add up blobs, one at a time in memory; gives the sum's bytes, or None of none.

    Terms of fewer than `min_documents` documents in the sum are dropped, which makes the result depend on
    which blobs came together; 1 is exact.
    """
    if of_texts(empty):
        part = added(blobs)
        return None if part is None else part.pruned(min_documents).to_bytes()
    total = merged(blobs, empty)
    if total is None:
        return None
    return (total if min_documents <= 1 else pruned(total, min_documents)).to_bytes()


def merged(blobs: Iterable[bytes], empty: Model) -> Model | None:
    """Add up blobs to a model; None of none."""
    if of_texts(empty):
        part = added(blobs)
        return None if part is None else part.model(empty)
    total: Model | None = None
    for blob in blobs:
        more = restored(blob, empty)
        total = more if total is None else total.merge(more)
    return total


Blob = TypeVar("Blob")


def tree(level: Sequence[Blob], width: int, add: Callable[[Sequence[Blob]], Blob]) -> Blob | None:
    """Merge so many neighbors at a time, level by level, until one is left; None of none."""
    check_whole("split_every", width, 2)
    while len(level) > 1:
        level = [add(level[start : start + width]) for start in range(0, len(level), width)]
    return level[0] if level else None


def finished(total: Model | None, model: Model | None) -> Model:
    """What `learn` returns: the sum, added to a copy of the model to learn on."""
    if model is not None:
        whole = model.copy()
        return whole if total is None else whole.merge(total)
    if total is None:
        raise ValueError("There is no row with a label, so nothing was learned.")
    return total


@dataclass
class Answers:
    """What a model says about a batch of documents."""

    classes: list[Label]
    joint: Floats
    log_posterior: Floats = field(init=False)
    best: NDArray[np.intp] = field(init=False)

    @property
    def prediction(self) -> NDArray[Any]:
        """The most probable class; ties go to the first."""
        return np.asarray(as_array(self.classes)[self.best])

    @property
    def posterior(self) -> Floats:
        """P(class | document), a column for each class."""
        return np.exp(self.log_posterior)

    @property
    def probability(self) -> Floats:
        """The posterior of the prediction."""
        return np.exp(self.log_posterior[np.arange(len(self.best)), self.best])

    @property
    def log_odds(self) -> Floats:
        """log P(class) - log P(any other class): unbounded where probabilities are 1.0, to rank by."""
        rows, sure = np.arange(len(self.best)), self.log_posterior.copy()
        sure[rows, self.best] = -np.inf
        with np.errstate(divide="ignore"):
            odds: Floats = self.log_posterior - np.log1p(-np.exp(self.log_posterior))
            odds[rows, self.best] = self.log_posterior[rows, self.best] - log_evidence(sure)
        return odds


def place_of(classes: list[Label], label: Label) -> int:
    """Where a class stands; ValueError that names the classes if it does not exist."""
    if label not in classes:
        raise ValueError(f"There is no class {label!r}. The classes are {classes!r}.")
    return classes.index(label)


def score(model: Model, X: Any) -> Answers:
    """The answers of a model to a column of texts, or to the columns of a table."""
    joint = model.log_joint(X)
    answers = Answers(model.classes, joint)
    ruled_out = len(joint) > 0 and np.isneginf(joint.max(axis=1)).any()
    answers.log_posterior = model.log_posterior(X) if ruled_out else log_softmax(joint)
    answers.best = (answers.log_posterior if ruled_out else joint).argmax(axis=1)
    return answers


def keeps(model: Model, X: Any, label: Label, least: float) -> NDArray[np.bool_]:
    """Which documents have the class with a probability of at least `least`."""
    place = place_of(model.classes, label)
    kept: NDArray[np.bool_] = np.exp(score(model, X).log_posterior[:, place]) >= check_probability(
        "least", least
    )
    return kept


# A model is shipped once and restored once in each worker process: tasks come by the thousand.
_RESTORED: dict[bytes, Model] = {}


@dataclass(frozen=True)
class Shipped:
    """A model on its way to the workers."""

    model: Model

    @classmethod
    def of(cls, model: Model) -> Shipped:
        """A model that can be asked, ready to ship."""
        if not isinstance(model, Model):
            raise TypeError(f"`model` must be a bayleaf.Model, got {type(model).__name__}.")
        if not model.n_documents:
            raise ValueError("The model has learned nothing yet. Call `learn` first.")
        return cls(model)

    @property
    def has_functions(self) -> bool:
        """Whether there are functions of the user, which the bytes of a model cannot hold."""
        return any(function is not None for function in model_views.normalizers_of(self.model.views))

    def __reduce__(self) -> tuple[Callable[..., Shipped], tuple[Any, ...]]:
        if self.has_functions:
            return Shipped, (self.model,)
        data = self.model.to_bytes()
        return received, (data, sha256(data).digest())


def received(data: bytes, digest: bytes) -> Shipped:
    """The model in the bytes that have this digest."""
    return Shipped(known(digest, lambda: data))


def known(digest: bytes, read: Callable[[], bytes]) -> Model:
    """The model that has this digest, restored from its bytes if it is new here."""
    if digest not in _RESTORED:
        _RESTORED.clear()
        _RESTORED[digest] = Model.from_bytes(read())
        _RESTORED[digest].threads = 1
    return _RESTORED[digest]


# A blob travels in rows below the size limits of messages.
ROW_BYTES = 32 << 20


def cut(data: bytes, size: int = ROW_BYTES) -> list[memoryview]:
    """A blob in parts of this size."""
    view = memoryview(data)
    return [view[start : start + size] for start in range(0, len(view), size)]


def joined(rows: Iterable[tuple[int, int, int, Any]]) -> Iterator[Any]:
    """Blobs from rows (blob, number, how many, a buffer) in any order, each as soon as it is complete."""
    return (data for _, data in numbered(rows))


def numbered(rows: Iterable[tuple[int, int, int, Any]]) -> Iterator[tuple[int, Any]]:
    """The same, each with its number; one that came in one row is that row's buffer."""
    for blob, parts in in_parts(rows):
        whole = parts.pop() if len(parts) == 1 else b"".join(parts)
        del parts
        yield blob, whole
        del whole


def in_parts(rows: Iterable[tuple[int, int, int, Any]]) -> Iterator[tuple[int, list[Any]]]:
    """The same, each as its parts in their order."""
    waiting: dict[int, dict[int, Any]] = {}
    for blob, part, parts, data in rows:
        have = waiting.setdefault(blob, {})
        have[part] = data
        if len(have) == parts:
            del waiting[blob], data
            yield blob, [have.pop(number) for number in range(parts)]
    if waiting:
        raise RuntimeError(f"{len(waiting)} parts of the model arrived incomplete. Run the job again.")
