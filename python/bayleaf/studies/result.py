"""A study: every combination measured, ranked, compared, and told as rows, frame, CSV or page."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.studies.comparing import LESS_IS_BETTER, Comparison, Effect, compare, effects
from bayleaf.studies.curves import Point
from bayleaf.studies.grid import FACTORS
from bayleaf.studies.judging import Result
from bayleaf.types import Label


@dataclass(frozen=True, eq=False)
class Study:
    """What a study found: `results` are the combinations, the best first.

    | attribute | meaning |
    |---|---|
    | `best`, `ties` | the best combination, and all that are not significantly different |
    | `results`, `comparisons` | every combination, and each against the best |
    | `effects` | each choice of a factor against the first, everything else being equal |
    | `curve` | accuracy by size of the vocabulary, if it was asked for |
    | `seconds`, `n_models`, `models_per_second` | how long it took |
    """

    results: list[Result]
    classes: list[Label]
    truth: NDArray[np.intp]
    order: NDArray[np.intp]
    folds: int
    by: str
    positive: Label | None
    seconds: float
    curve: list[Point] = field(default_factory=list)

    def __repr__(self) -> str:
        found = f"{len(self.results)} combinations x {self.folds} folds on {self.n_documents} documents"
        return f"<Study: {found}; best: {self.best.combination}, and {len(self.ties) - 1} ties>"

    @property
    def n_documents(self) -> int:
        """How many documents were divided into folds."""
        return len(self.truth)

    @property
    def measures(self) -> list[str]:
        """The names of what was measured."""
        return list(self.results[0].measures)

    @property
    def n_models(self) -> int:
        """How many models were made: one for each combination and fold."""
        return len(self.results) * self.folds

    @property
    def models_per_second(self) -> float:
        """How many models were learned and asked in a second, everything included."""
        return self.n_models / self.seconds

    @property
    def best(self) -> Result:
        """The combination with the best mean of the measure that it is about."""
        return self.results[0]

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Each combination against the best one."""
        return [compare(result, self.best, self.truth, self.by) for result in self.results]

    @property
    def ties(self) -> list[Result]:
        """The best combination and all that are not significantly different."""
        pairs = zip(self.results, self.comparisons, strict=True)
        return [result for result, comparison in pairs if comparison.tie]

    @cached_property
    def effects(self) -> list[Effect]:
        """What each factor does, everything else being equal."""
        return effects(sorted(self.results, key=lambda result: result.number), self.by)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row a combination: its choices, mean and deviation of each measure, tests and seconds."""
        return list(self._rows())

    def _rows(self) -> Iterator[dict[str, Any]]:
        for result, comparison in zip(self.results, self.comparisons, strict=True):
            row = {factor: getattr(result.combination, factor) for factor in FACTORS}
            for name in self.measures:
                row |= {name: result.mean(name), f"{name}_sd": result.deviation(name)}
            yield row | {
                "difference": comparison.difference,
                "p_folds": comparison.p_folds,
                "p_answers": comparison.p_answers,
                "tie": comparison.tie,
                "counting_seconds": result.counting,
                "training_seconds": result.training,
                "predicting_seconds": result.predicting,
            }

    def to_frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas
        except ImportError:
            raise ImportError("`to_frame` needs pandas. Install it: pip install pandas") from None
        return pandas.DataFrame(self.rows())

    def to_csv(self) -> str:
        """The rows as CSV."""
        out = io.StringIO()
        rows = self.rows()
        writer = csv.DictWriter(out, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return out.getvalue()

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return {
            "documents": self.n_documents,
            "classes": self.classes,
            "positive": self.positive,
            "folds": self.folds,
            "by": self.by,
            "models": self.n_models,
            "seconds": self.seconds,
            "models_per_second": self.models_per_second,
            "rows": self.rows(),
            "effects": [vars(effect) for effect in self.effects],
            "curve": [vars(point) for point in self.curve],
        }

    def to_html(self, title: str = "A study of naive Bayes") -> str:
        """A page with tables and plots, all in one file."""
        from bayleaf.studies.page import page

        return page(self, title)

    def _repr_html_(self) -> str:
        from bayleaf.studies.page import notebook

        return notebook(self)


def ranked(results: list[Result], by: str) -> list[Result]:
    """The best first; ties go to the first in the grid."""
    sign = 1 if by in LESS_IS_BETTER else -1
    return sorted(results, key=lambda result: sign * result.mean(by))
