"""Serialization of a model: settings and arrays, validated on load."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from bayleaf import model_views, storage
from bayleaf._core import Journal
from bayleaf.checks import check_priors
from bayleaf.labeled_counts import LabeledCounts
from bayleaf.ledger import Ledger
from bayleaf.text.counts import TextTally
from bayleaf.text.views import TextView
from bayleaf.types import Arrays
from bayleaf.view import Tally

if TYPE_CHECKING:
    from bayleaf.model import Model
    from bayleaf.tuning.judgment import Judgment
    from bayleaf.tuning.unlabeled import Unlabeled

Normalizer = Callable[[str], str | None] | None


def pieces(model: Model) -> list[bytes | memoryview]:
    """The model as a file holds it, piece by piece: counts that came from a file are not copied."""
    with model._turn:
        return _pieces(model)


def packed(model: Model) -> bytes:
    """The same as one, for whoever has the model's turn."""
    return b"".join(_pieces(model))


def _pieces(model: Model) -> list[bytes | memoryview]:
    from bayleaf.ready import answers_of  # not needed to answer

    counts = [tally.counts(model.order) for tally in model.tallies]
    judgment = model.judgment
    arrays = [own.arrays for own in counts] if judgment is None else judgment.beside(counts)
    if model.ledger is not None:
        arrays[0] = {**arrays[0], **model.ledger.to_arrays(model.order)}
    # With a ledger, changes of the counts alone must not be written behind the model.
    answers = None if model.ledger is not None else answers_of(model.views, model, model.order, counts)
    return storage.pieces(settings_of(model), arrays, answers)


def settings_of(model: Model) -> dict[str, Any]:
    """Everything but the arrays, ready for JSON."""
    given = model.priors
    priors = sorted(map(list, given.items()), key=repr) if isinstance(given, Mapping) else given
    return {
        "views": [[name, view.to_dict()] for name, view in model.views],
        "classes": model.classes,
        "closed": model.closed,
        "documents": list(model.class_documents.values()),
        "alpha": model.alpha,
        "priors": priors,
        "unseen": model.unseen,
        **({"notes": model.notes} if model.notes else {}),
        **({} if model.ledger is None else {"ledger": model.ledger.key.hex()}),
        **({} if model.judgment is None else {"judgement": model.judgment.to_dict(model.drift)}),
    }  # fmt: skip


def restored(
    kind: type[Model],
    settings: dict[str, Any],
    arrays: list[Arrays],
    origin: str,
    normalizers: Sequence[Normalizer],
    threads: int | None,
) -> Model:
    """The model that a file holds; ModelFileError, which names the origin, if it cannot be one."""
    with storage.reading(origin):
        views = _views(settings, normalizers)
        model = _configured(kind, settings, views, threads)
        ledger = _ledger(settings, arrays)
        judged = settings.get("judgement")
        earned = None if judged is None else _earned(judged, views, arrays)
        tallies = [view.restore(own) for (_, view), own in zip(views, arrays, strict=True)]
        judgment = earned and _judgment(settings["judgement"], views, arrays, *earned)
        documents = np.array(settings["documents"], np.int64)
        counts = LabeledCounts.of(views, settings["classes"], settings["closed"], documents, tallies, ledger)
        model.adopt(counts, judgment)
        _check(model, settings)
        _check_documents(settings, arrays)
        if storage.JOURNAL in settings:
            _replay(model, counts, settings[storage.JOURNAL])
        return model


def _views(settings: dict[str, Any], normalizers: Sequence[Normalizer]) -> model_views.NamedViews:
    both = zip(settings["views"], normalizers, strict=True)
    return [
        (name, model_views.view_from_dict(view, fn if model_views.needs_normalizer(view) else None))
        for (name, view), fn in both
    ]


def _configured(
    kind: type[Model], settings: dict[str, Any], views: model_views.NamedViews, threads: int | None
) -> Model:
    """A model with these settings that has learned nothing."""
    priors: Any = settings["priors"]
    model = kind(
        model_views.as_given(views),
        alpha=settings["alpha"],
        priors=dict(priors) if isinstance(priors, list) else priors,
        unseen=settings["unseen"],
        threads=threads,
    )
    model.notes = dict(settings.get("notes", {}))
    return model


def restored_later(
    kind: type[Model],
    settings: dict[str, Any],
    read: Callable[[], list[Arrays]],
    origin: str,
    normalizers: Sequence[Normalizer],
    threads: int,
) -> Model:
    """The same of textbook counts that stay where they are until somebody needs them."""
    with storage.reading(origin):
        views = _views(settings, normalizers)
        model = _configured(kind, settings, views, threads)
        documents = np.array(settings["documents"], np.int64)
        source = Later(views, settings, read, origin)
        counts = LabeledCounts.of(views, settings["classes"], settings["closed"], documents, source)
        model.adopt(counts, None)
        _check(model, settings)
        return model


@dataclass(eq=False)
class Later:
    """Tallies that are made when somebody needs them, once: two threads get the same."""

    views: model_views.NamedViews
    settings: dict[str, Any]
    read: Callable[[], list[Arrays]]
    origin: str
    _made: list[Tally] | None = None
    _making: Lock = field(default_factory=Lock)

    def tallies(self) -> list[Tally]:
        """The tallies, of arrays that are read now."""
        with self._making, storage.reading(self.origin):
            if self._made is None:
                arrays = self.read()
                _check_documents(self.settings, arrays)
                self._made = [view.restore(own) for (_, view), own in zip(self.views, arrays, strict=True)]
        return self._made


def _replay(model: Model, counts: LabeledCounts, journal: Journal) -> None:
    """Put the changes in that were written behind the model."""
    for i, tally in enumerate(counts.tallies):
        if not isinstance(tally, TextTally):
            raise ValueError("there are changes behind a table")
        tally.replay(journal, i)
    documents, drift = journal.facts() or ([], "0")
    counts.documents = np.array(documents, np.int64)
    if model.judgment is not None:
        model.drift = int(drift)


def _ledger(settings: dict[str, Any], arrays: list[Arrays]) -> Ledger | None:
    key = settings.get("ledger")
    return None if key is None else Ledger.of(bytes.fromhex(key), arrays[0], settings["documents"])


def unpacked(
    kind: type[Model],
    data: bytes | bytearray | memoryview,
    normalizers: Any = None,
    threads: int | None = None,
) -> Model:
    """The model that `packed` gave; with one normalizer for all views that need one, or one for each."""
    settings, arrays = storage.unpack(data, "the bytes")
    own = normalizers if isinstance(normalizers, list) else [normalizers] * len(arrays)
    return restored(kind, settings, arrays, "the bytes", own, threads)


def _earned(
    settings: dict[str, Any], views: model_views.NamedViews, arrays: list[Arrays]
) -> tuple[list[Any], list[Any], Unlabeled | None]:
    """The arrays of a judgment, taken away from those of the counts."""
    from bayleaf.tuning.judgment import taken_class_rows, taken_weights  # not needed by the textbook

    unlabeled = None
    if settings.get("unlabeled") is not None:
        from bayleaf.tuning.unlabeled import Unlabeled

        unlabeled = Unlabeled.restored(settings["unlabeled"], views, arrays)
    classes = len(settings["documents"])
    return (
        [taken_weights(own) for own in arrays],
        [taken_class_rows(own, classes) for own in arrays],
        unlabeled,
    )


def _judgment(
    settings: dict[str, Any],
    views: model_views.NamedViews,
    arrays: list[Arrays],
    weights: list[Any],
    rows: list[Any],
    unlabeled: Unlabeled | None,
) -> Judgment:
    """The judgment of a file; the arrays of the counts have been checked."""
    from bayleaf.tuning.judgment import Judgment, by_node, with_nodes

    each_view = [(view, given) for (_, view), *given in zip(views, weights, rows, strict=True)]
    if any(own is not None and not isinstance(view, TextView) for view, given in each_view for own in given):
        raise ValueError("a view of a table has weights of terms")
    placed = [
        own if own is None else by_node(own, each["terms"]) for own, each in zip(weights, arrays, strict=True)
    ]
    both = zip(rows, arrays, strict=True)
    by_class = [own and with_nodes(own, each["terms"]) for own, each in both]
    return Judgment.from_dict(settings, placed, by_class, unlabeled)


def _check(model: Model, settings: dict[str, Any]) -> None:
    if not isinstance(settings["closed"], bool):
        raise ValueError(f"`closed` is {settings['closed']!r}, not true or false")
    if model.classes != settings["classes"] or len(model.classes) != len(settings["documents"]):
        raise ValueError("its classes are not in order")
    if [name for name, _ in model.views] != [name for name, _ in settings["views"]]:
        raise ValueError("the views of a column are not together")
    check_priors(model.priors, model.classes if model.n_documents else None)


def _check_documents(settings: dict[str, Any], arrays: list[Arrays]) -> None:
    for own in arrays:
        if own["class_documents"].tolist() != settings["documents"]:
            raise ValueError("the views have counted different documents")
