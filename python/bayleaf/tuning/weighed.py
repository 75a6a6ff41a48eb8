"""Any view's scores times the one weight that the view has earned."""

from __future__ import annotations

from typing import Any

import numpy as np

from bayleaf.types import Floats
from bayleaf.view import Piece, Scorer


class WeighedScorer:
    """The scores of another scorer, times a weight; a view of weight 0 rules out nothing."""

    def __init__(self, scorer: Scorer, weight: float) -> None:
        self.scorer, self.weight = scorer, max(weight, 0.0)
        self.may_rule_out = scorer.may_rule_out and weight > 0

    @property
    def bias(self) -> Floats:
        """What every document gets, whatever is in it."""
        return self._weighed(self.scorer.bias)

    def _weighed(self, scores: Floats) -> Floats:
        return self.weight * scores if self.weight > 0 else np.zeros_like(scores)

    def scores(self, column: Any, threads: int) -> Floats:
        """The weighed log likelihood of each document in each class."""
        return self._weighed(self.scorer.scores(column, threads))

    def shown(self, column: Any, name: str) -> str:
        """The text by which the only document of a column is shown."""
        return self.scorer.shown(column, name)

    def parts(self, column: Any, name: str) -> list[Piece]:
        """The parts of the score of the only document of a column."""
        return [
            piece._replace(scores=self._weighed(piece.scores)) for piece in self.scorer.parts(column, name)
        ]

    def top(self, chosen: int, n: int) -> list[tuple[str, float]]:
        """The terms that speak most for a class."""
        return [(term, self.weight * odds) for term, odds in self.scorer.top(chosen, n)]
