"""The model: views, their counts, and the settings that turn counts into answers."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self, TypeVar

from numpy.typing import NDArray

from bayleaf import atomic, model_file, model_views, storage, tuning
from bayleaf.answering import Compiled, NothingLearnedError
from bayleaf.checks import check_alpha, check_choice, check_priors, check_threads
from bayleaf.columns import Drift, check_no_missing, fingerprint, holds_texts
from bayleaf.in_step import Answers
from bayleaf.labeled_counts import LabeledCounts, Source
from bayleaf.ledger import Ledger, ledger_of
from bayleaf.model_views import WHOLE, Views
from bayleaf.next_labels import AT_RANDOM, Question, ask, check_asking
from bayleaf.posterior import log_evidence, probabilities
from bayleaf.streams import OneByOne
from bayleaf.text.views import TextView, View, words
from bayleaf.turns import Turn, both, changing
from bayleaf.types import Classes, Floats, Label, Priors, Unseen
from bayleaf.view import Tally

if TYPE_CHECKING:
    from bayleaf.explanation import Explanation
    from bayleaf.tuning import Judgment, Progress, Suspect, Tuning

T = TypeVar("T")


class Model(OneByOne):
    """Naive Bayes on texts and tables: learns by counting, forgets by subtracting, explains by addition.

    | argument | values | meaning |
    |---|---|---|
    | `views` | list of views, or mapping from column to view or views | how to look at the documents |
    | `alpha` | number >= 0 | smoothing: 1 is Laplace's, less is Lidstone's, 0 is maximum likelihood |
    | `priors` | "empirical", "uniform", mapping from class to probability | class priors |
    | `unseen` | "ignore", "smooth" | how to score terms not seen in training |
    | `classes` | labels, None | close the set of classes; None lets new ones in |
    | `threads` | number >= 1, None | None takes all processors; the result does not depend on it |
    | `ledger` | False, True, a key | remember a hash of each document, and forget by identity |

    `alpha`, `priors`, `unseen` and what the views make of their counts can be changed at any time with
    `configure`, without another look at the documents. `notes`, a mapping ready for JSON, goes into the file.
    """

    def __init__(
        self,
        views: Views | None = None,
        *,
        alpha: float = 1.0,
        priors: Priors = "empirical",
        unseen: Unseen = "ignore",
        classes: Any = None,
        threads: int | None = None,
        ledger: bool | str | bytes = False,
    ) -> None:
        self._turn = Turn()
        self.views: list[tuple[str, View]] = model_views.named_views([words()] if views is None else views)
        self._counts = LabeledCounts(self.views, classes, ledger_of(ledger))
        self.notes: dict[str, Any] = {}
        self.alpha, self.priors, self.unseen = alpha, priors, unseen
        self.threads = check_threads(threads)
        self.weighed = True
        self._drift = Drift(len(self.views))
        self._answers = Answers(self._turn)
        self.judgment = None
        self.configure()

    def __repr__(self) -> str:
        learned = f"{len(self.classes)} classes, {self.n_documents} documents"
        return f"Model({model_views.as_given(self.views)!r}, alpha={self.alpha:g}, {learned})"

    @property
    def tallies(self) -> list[Tally]:
        """What each view has counted."""
        return self._counts.tallies

    @property
    def source(self) -> Source | None:
        """Where its counts are, as long as nobody has needed them."""
        return self._counts.source

    @property
    def classes(self) -> list[Label]:
        """The labels, numbers before strings, in sorted order."""
        return self._counts.classes

    @property
    def n_documents(self) -> int:
        """How many documents have been learned and not forgotten."""
        return int(self._counts.documents.sum())

    @property
    def order(self) -> Classes:
        """The numbers of the classes in the tallies, in the order of `classes`."""
        return self._counts.order

    @property
    def closed(self) -> bool:
        """Whether the set of classes is closed."""
        return self._counts.labels.closed

    @property
    def ledger(self) -> Ledger | None:
        """Which documents were learned, if the model remembers."""
        return self._counts.ledger

    @property
    def class_documents(self) -> dict[Label, int]:
        """How many documents each class has."""
        return dict(zip(self.classes, self._counts.documents_of(self.order).tolist(), strict=True))

    @property
    def labeled(self) -> LabeledCounts:
        """The counts of the documents and their classes."""
        return self._counts

    @property
    def drift(self) -> int:
        """What was learned and not forgotten since the model was tuned, as one number; 0 is nothing."""
        return self._drift.value

    @drift.setter
    def drift(self, drift: int) -> None:
        self._drift.value = drift

    @changing
    def configure(self, *, view: int | str | None = None, **settings: Any) -> Self:
        """Change `alpha`, `priors`, `unseen`, or the `event`, `tf`, `alpha`… of one view (or all)."""
        whole = ("alpha", "priors", "unseen") if view is None else ()
        own = {name: settings.pop(name) for name in whole if name in settings}
        alpha = check_alpha(own.get("alpha", self.alpha))
        unseen = own.get("unseen", self.unseen)
        check_choice("unseen", unseen, ["ignore", "smooth"])
        priors = own.get("priors", self.priors)
        check_priors(priors)
        views = model_views.configured(self.views, view, settings)
        self.views, self.alpha, self.priors, self.unseen = views, alpha, priors, unseen
        self._fits = self._judged == self._weighable()
        self._answers.drop()
        return self

    def learn(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Count documents and their classes; new ones are welcome, until `classes` closes their set."""
        lessons = self._answers.lessons
        if classes is None and lessons is not None and lessons.learn(X, y):
            return self
        return self._learn(X, y, classes)

    @changing
    def _learn(self, X: Any, y: Any, classes: Any) -> Self:
        before = self._counts.state
        try:
            if classes is not None:
                self._counts.close(classes)
            columns, numbers = self._input(X, y)
            self._counts.add(columns, numbers, self.threads)
        except BaseException:
            self._counts.go_back(before)
            raise
        return self._changed(columns, numbers, 1)

    _learn_rows = learn

    def forget(self, X: Any, y: Any) -> Self:
        """Undo `learn` exactly; documents that cannot have been learned are refused, and nothing changes."""
        lessons = self._answers.lessons
        return self if lessons is not None and lessons.forget(X, y) else self._forget(X, y)

    @changing
    def _forget(self, X: Any, y: Any) -> Self:
        columns, numbers = self._input(X, y, grow=False)
        self._counts.subtract(columns, numbers, self.threads)
        return self._changed(columns, numbers, -1)

    def learned(self, X: Any) -> list[dict[Label, int]]:
        """How often each document was learned with each class, if the model keeps a ledger."""
        with self._turn:
            return self._counts.learned(model_views.read(self.views, X))

    def merge(self, other: Model) -> Self:
        """Add everything that another model has learned with the same views."""
        if not isinstance(other, Model):
            raise TypeError(f"A model can be merged with a model, got {type(other).__name__}.")
        model_views.check_alike(self.views, other.views)
        with both(self._turn, other._turn):
            self._turn.changes += 1
            self._counts.merge((self._copied() if other is self else other)._counts)
            self.drift += 1
        return self

    def copy(self) -> Model:
        """The same model, to be changed on its own."""
        with self._turn:
            return self._copied()

    def _copied(self) -> Model:
        return model_file.unpacked(Model, model_file.packed(self), *self._beside_bytes())

    def __reduce__(self) -> tuple[Any, ...]:
        return model_file.unpacked, (Model, self.to_bytes(), *self._beside_bytes())

    def _beside_bytes(self) -> tuple[Any, int]:
        return model_views.normalizers_of(self.views), self.threads

    def _input(self, X: Any, y: Any, grow: bool = True) -> tuple[list[Any], Classes]:
        columns = model_views.read(self.views, X)
        if not holds_texts(X) and self.views[0][0] == WHOLE and isinstance(self.views[0][1], TextView):
            check_no_missing(X)
        return columns, self._counts.number(columns, y, grow)

    def examples(self, X: Any, y: Any) -> tuple[list[Any], Classes]:
        """What each view reads of labeled documents, and the place of each label in `classes`."""
        columns, numbers = self._input(X, y, grow=False)
        return columns, self._counts.places(numbers)

    def _ask(self, columns: list[Any], question: Callable[[Compiled, list[Any], int], T]) -> T:
        return self._answers.ask(question, columns, self.threads, self._compiled)

    def _compiled(self, before: Compiled | None) -> Compiled:
        """What answers, derived from the counts; what lives with them is kept."""
        key = self._counts.key
        if before is not None and before.keeps_up(key, self):
            return before
        if not self._counts.has_documents:
            raise NothingLearnedError
        check_priors(self.priors, self.classes)
        return Compiled(self.views, self.tallies, self.order, self, key, before)

    def counts(self, view: int = 0) -> Any:
        """The integer counts of one view, classes in the order of `classes`."""
        with self._turn:
            return self.tallies[view].counts(self.order)

    def log_joint(self, X: Any) -> Floats:
        """log P(document, class), one row a document, one column a class."""
        return self._ask(model_views.read(self.views, X), Compiled.log_joint)

    def log_evidence(self, X: Any) -> Floats:
        """log P(document): the joint, summed over the classes."""
        return log_evidence(self.log_joint(X))

    def log_posterior(self, X: Any) -> Floats:
        """log P(class | document): the joint divided by the evidence."""
        return self._ask(model_views.read(self.views, X), Compiled.log_posterior)

    def posterior(self, X: Any) -> Floats:
        """P(class | document)."""
        return probabilities(self.log_posterior(X))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each document; ties go to the first class."""
        return self._ask(model_views.read(self.views, X), Compiled.answers)

    def ask(self, pool: Any, n: int = 10, *, at_random: float = AT_RANDOM, seed: int = 0) -> list[Question]:
        """Which documents of a pool without labels to label next: `row`, `unsure`, `at_random` of each.

        Drawn by chance, more probably the closer the two most probable classes of a document are: nearly at
        random by a young model, nearly the closest first by a sure one; no near-copies of each other. A share
        `at_random` is drawn blindly: answers to those measure the model honestly. A model that has learned
        nothing, or one class, asks at random. Of a very large pool a random part is looked at, by `seed`.
        """
        check_asking(n, at_random, seed)
        columns = model_views.read(self.views, pool)
        posteriors = lambda some: probabilities(self._ask(some, Compiled.log_posterior))  # noqa: E731
        return ask(columns, posteriors, len(self.classes), n, at_random, seed)

    def _ask_one(self, X: Any, question: Callable[[Compiled, list[Any], int], T]) -> T | None:
        if not self._counts.has_documents:
            return None
        return self._ask(model_views.read(self.views, X), question)

    def explain(self, x: Any, label: Label | None = None) -> Explanation:
        """Take the score of one document apart: the parts sum to `log_joint`."""
        columns = model_views.read_row(self.views, x)
        return self._ask(columns, lambda compiled, read, n: compiled.explain(read, label, n))

    def top_terms(self, label: Label, n: int = 10, view: int = 0) -> list[tuple[str, float]]:
        """The terms that speak most for a class, with their log odds against the mean of the others."""
        return self._answers.current(self._compiled).top_terms(label, n, view)

    # Judging the evidence

    @property
    def judgment(self) -> Judgment | None:
        """What was judged on top of the counts, if anything was and the views are set as they were then.

        With `weighed` False the model is the textbook; its judgment is kept for when it is True again.
        """
        found = self._judgment
        return found if found is not None and self.weighed and self._fits else None

    @judgment.setter
    def judgment(self, judgment: Judgment | None) -> None:
        self._judgment, self._judged, self._fits = judgment, self._weighable(), True
        self.drift = 0 if judgment is None else judgment.drift
        self._answers.drop()

    def weigh(self, weighed: bool) -> Self:
        """Answer with the judgment, or, with False, as the textbook, until told otherwise."""
        self.weighed = weighed
        self._answers.drop()
        return self

    def _weighable(self) -> list[tuple[str, View]]:
        """What a judgment depends on: the views but for their smoothing, of which it has its own."""
        return [(name, view.configured(alpha=None)) for name, view in self.views]

    def _changed(self, columns: list[Any], numbers: Classes, sign: int) -> Self:
        """Note what is learned or forgotten after tuning; what is taken back exactly leaves no trace."""
        drift = None if self._judgment is None else self._drift
        self._answers.keep_up(self._counts, self, drift)
        if drift is not None:
            self.drift += sign * fingerprint(columns, self._counts.labels_of(numbers))
        return self

    @property
    def stale(self) -> bool:
        """Whether documents were learned or forgotten since the model was tuned; `retune` mends it."""
        return self.judgment is not None and self.drift != 0

    def tune(
        self,
        X: Any,
        y: Any,
        level: Tuning | None = "auto",
        progress: Progress | None = None,
        *,
        weights: Any = None,
        groups: Any = None,
        unlabeled: Any = None,
    ) -> Self:
        """Weigh the evidence by what documents say that were learned, each left out of the counts in turn.

        | level | what is fitted |
        |---|---|
        | "temperature" | one factor for all scores: trustworthy probabilities, the same decisions |
        | "views" | a weight for each view and length of n-grams, a bias for each class |
        | "terms" | a weight for each term of plain text as well |
        | "auto" | "terms", if that predicts held-out documents better than "views" (see below) |
        | None | nothing: the textbook |

        "auto" tempers texts with other event models than the plain multinomial. The counts do not change. X
        and y are documents that were learned, all of them at best. `weights` says how much each counts in
        the fit (only their ratios matter); documents with the same name in `groups`, and texts that the views
        see alike, are left out together. `progress` is called with a few words before each step.
        `unlabeled` are documents without a label, used if that predicts held-out documents better
        (`judgment.unlabeled`); they are not counted.
        """
        with self._turn.unchanged():
            judgment = tuning.judged(self, X, y, level, progress, weights, groups, unlabeled)
        with self._turn:
            self.judgment = judgment
        return self

    def retune(self, X: Any, y: Any, progress: Progress | None = None, **known: Any) -> Self:
        """Renew the judgment on these documents, on its level; of an untuned model, on "auto"."""
        return self.tune(X, y, "auto" if self.judgment is None else self.judgment.level, progress, **known)

    def drop_judgment(self) -> Self:
        """Be the textbook again."""
        self.judgment = None
        return self

    def loo_log_joint(self, X: Any, y: Any, groups: Any = None) -> Floats:
        """log P(document, class) of documents that were learned, each under the counts without itself.

        Equal to the textbook's `log_joint` of a model that learned all documents but that one: exact, for
        the cost of one scoring pass (tables are forgotten and learned again row by row). `min_df` and its
        like choose terms by all documents. With `groups`, documents of one name are left out together.
        """
        with self._turn.unchanged():
            return tuning.loo_log_joint(self, X, y, groups)

    def suspects(self, X: Any, y: Any, least: float = 0.0) -> list[Suspect]:
        """The documents whose label the others contradict, by `least` log odds or more; most first."""
        with self._turn.unchanged():
            return tuning.suspects(self, X, y, least)

    def choose_alpha(self, X: Any, y: Any) -> Self:
        """Set `alpha` to the value that best predicts documents left out of the counts.

        Each is judged by the log loss at the best temperature, because naive Bayes is too sure of itself with
        any. Of several views, each then gets its best one in turn; a view that was given its own keeps it.
        """
        tuning.choose_alpha(self, X, y)
        return self

    # Keeping

    def to_bytes(self) -> bytes:
        """The model as a file would hold it; equal counts and settings give equal bytes."""
        return b"".join(model_file.pieces(self))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to one file, completely or not at all."""
        atomic.write(path, *model_file.pieces(self))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        normalizer: Callable[[str], str | None] | None = None,
        threads: int | None = None,
    ) -> Model:
        """Read a model; one that was learned with a normalizer of your own needs that function again."""
        settings, arrays = storage.read(path)
        return model_file.restored(cls, settings, arrays, str(path), [normalizer] * len(arrays), threads)

    def adopt(self, counts: LabeledCounts, judgment: Judgment | None) -> None:
        """Take over what a file holds, in place of what was learned."""
        self._counts, self.judgment = counts, judgment

    @classmethod
    def from_bytes(
        cls, data: bytes | bytearray | memoryview, normalizer: Callable[[str], str | None] | None = None
    ) -> Model:
        """The model that `to_bytes` wrote."""
        return model_file.unpacked(cls, data, normalizer)
