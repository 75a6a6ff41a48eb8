"""Why a document got its class: every term with its place and its part of the score, which is their sum."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isinf
from typing import Any

import numpy as np

from bayleaf.columns import printable
from bayleaf.types import Floats, Label


@dataclass(frozen=True, eq=False)
class Part:
    """One occurrence of a term: where it stands, and what it adds to each class's score."""

    term: str
    start: int
    end: int
    view: str
    scores: Floats


@dataclass(frozen=True, eq=False)
class Explanation:
    """The score of one document, taken apart.

    `log_joint` is `log_prior` plus `bias` (what absent terms say, in the Bernoulli model) plus the `scores`
    of all `parts`. `log_odds(part)` compares the class `label` with the one `against` it.
    """

    text: str
    classes: Sequence[Label]
    log_prior: Floats
    bias: Floats
    parts: Sequence[Part]
    log_joint: Floats
    posterior: Floats
    label: Label
    against: Label | None
    intercept: bool = False
    """Whether `log_prior` was fitted beside earned weights: then it is what a document without terms gets."""

    @property
    def start(self) -> str:
        """The name of what every document gets: the prior, or the intercept of earned weights."""
        return "intercept" if self.intercept else "prior"

    @cached_property
    def _odds(self) -> list[float]:
        """The log odds of each part: all at once, since a long text has a million of them."""
        if not self.parts:
            return []
        chosen, other = self._pair
        scores = np.array([part.scores for part in self.parts])
        if chosen == other:
            alone: list[float] = scores[:, chosen].tolist()
            return alone
        with np.errstate(invalid="ignore"):
            odds = scores[:, chosen] - scores[:, other]
        each: list[float] = np.where(np.isnan(odds), 0.0, odds).tolist()
        return each

    @cached_property
    def _pair(self) -> tuple[int, int]:
        chosen = list(self.classes).index(self.label)
        return chosen, chosen if self.against is None else list(self.classes).index(self.against)

    def log_odds(self, scores: Floats) -> float:
        """By how much these scores favor `label` over `against`."""
        chosen, other = self._pair
        if chosen == other:
            return float(scores[chosen])
        with np.errstate(invalid="ignore"):
            odds = float(scores[chosen] - scores[other])
        return 0.0 if np.isnan(odds) else odds

    @property
    def probability(self) -> float:
        """The posterior probability of `label`."""
        return float(self.posterior[self._pair[0]])

    def terms(self) -> list[tuple[str, int, float]]:
        """Each term with its count and its log odds, the strongest first.

        A term that more than one view of text can have is followed by its view: `free [subject: words]`.
        Spaces in n-grams of letters are shown as ␣.
        """
        several = len({part.view for part in self.parts if _is_text(part.view)}) > 1
        sums: dict[tuple[str, str], list[float]] = {}
        for part, own in zip(self.parts, self._odds, strict=True):
            sums.setdefault((part.view, part.term), []).append(own)
        rows = [(_shown(term, view, several), len(odds), sum(odds)) for (view, term), odds in sums.items()]
        return sorted(rows, key=lambda row: (-abs(row[2]), row[0]))

    def views(self) -> list[tuple[str, float]]:
        """Each view with the sum of the log odds of its parts, the strongest first."""
        sums: dict[str, list[float]] = {}
        for part, own in zip(self.parts, self._odds, strict=True):
            sums.setdefault(part.view, []).append(own)
        return sorted(
            ((view, sum(odds)) for view, odds in sums.items()), key=lambda row: (-abs(row[1]), row[0])
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON.

        Classes are named by their texts, unless two have the same one: then 1 is "1" and "1" is "'1'". What
        is infinite (with `alpha=0`) is "Infinity" or "-Infinity", which `float` reads, as JavaScript does.
        """
        names = _names(self.classes)
        return {
            "text": self.text,
            "label": self.label,
            "against": self.against,
            "probability": self.probability,
            "posterior": dict(zip(names, self.posterior.tolist(), strict=True)),
            "log_joint": dict(zip(names, map(_as_json, self.log_joint.tolist()), strict=True)),
            "log_odds": _as_json(self.log_odds(self.log_joint)),
            "prior": _as_json(self.log_odds(self.log_prior)),
            "intercept": self.intercept,
            "absent_terms": _as_json(self.log_odds(self.bias)),
            "parts": [
                {"term": part.term, "start": part.start, "end": part.end, "view": part.view,
                 "log_odds": _as_json(own)}
                for part, own in zip(self.parts, self._odds, strict=True)
            ],
        }  # fmt: skip

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, most: int = 12) -> str:
        """A table of the strongest terms, for a terminal."""
        title = f"{printable(str(self.label))}: {self.probability:.4g}"
        rows = [(self.start, 1, self.log_odds(self.log_prior))]
        if self.bias.any():
            rows.append(("(absent terms)", 1, self.log_odds(self.bias)))
        terms = self.terms()
        rows += terms[:most]
        if len(terms) > most:
            rows.append((f"({len(terms) - most} more)", 1, sum(odds for _, _, odds in terms[most:])))
        rows.append(("sum", 1, self.log_odds(self.log_joint)))
        width = max(len(_named(term, count)) for term, count, _ in rows)
        unit = max((abs(odds) for *_, odds in rows[:-1] if np.isfinite(odds)), default=0.0) or 1.0
        lines = [
            f"{_named(term, count):<{width}}  {odds:+8.3f}  {_bar(odds, unit)}".rstrip()
            for term, count, odds in rows
        ]
        head = "log odds" if self.against is None else f"log odds against {printable(str(self.against))}"
        return "\n".join([f"{title}  ({head})", *lines])

    def to_html(self, most: int = 12) -> str:
        """The text with its terms colored, blue for the label and orange against it, and their log odds."""
        odds = self.odds_of_characters()
        unit = max((abs(value) for value in odds), default=0.0) or 1.0
        body = "".join(_colored(run, value / unit) for run, value in runs(self.text, odds))
        from html import escape  # not needed to answer

        label, against = escape(str(self.label)), escape(str(self.against))
        versus = "" if self.against is None else f" against <b>{against}</b>"
        other = "against it" if self.against is None else f"for {against}"
        return (
            '<div class="bayleaf" style="font-family:sans-serif;line-height:1.7">'
            f"<p><b>{label}</b> {self.probability:.4g} "
            f"(log odds {self.log_odds(self.log_joint):+.3f}{versus}; "
            f"{self.start} {self.log_odds(self.log_prior):+.3f})</p>"
            f'<p style="white-space:pre-wrap">{body}</p>'
            f"<p>{_colored(f'for {self.label}', 1)} {_colored(other, -1, escaped=True)}</p>"
            f"<table>{self._html_rows(most)}</table></div>"
        )

    def _html_rows(self, most: int) -> str:
        from html import escape  # not needed to answer

        terms = self.terms()
        rows = [(_named(term, count), odds) for term, count, odds in terms[:most]]
        if len(terms) > most:
            rows.append((f"({len(terms) - most} more)", sum(odds for _, _, odds in terms[most:])))
        return "".join(f"<tr><td>{escape(term)}</td><td>{odds:+.3f}</td></tr>" for term, odds in rows)

    _repr_html_ = to_html

    def odds_of_characters(self) -> list[float]:
        """Each part's log odds, spread evenly over the characters it covers."""
        odds = [0.0] * len(self.text)
        for part, own in zip(self.parts, self._odds, strict=True):
            share = min(max(own, -50.0), 50.0) if isinf(own) else own / max(part.end - part.start, 1)
            for at in range(part.start, min(part.end, len(odds))):
                odds[at] += share
        return odds


def _names(classes: Sequence[Label]) -> list[str]:
    texts = [str(label) for label in classes]
    return texts if len(set(texts)) == len(texts) else [repr(label) for label in classes]


def _as_json(number: float) -> float | str:
    """JSON has no infinity."""
    return number if np.isfinite(number) else "Infinity" if number > 0 else "-Infinity"


def _named(term: str, count: int) -> str:
    shown = printable(term)
    return shown if count == 1 else f"{shown} ×{count}"


def _bar(odds: float, unit: float, width: int = 24) -> str:
    if not np.isfinite(odds):
        return "…"
    return ("+" if odds > 0 else "-") * round(min(abs(odds) / unit, 1) * width)


def runs(text: str, odds: list[float]) -> list[tuple[str, float]]:
    """Neighbors of the same color together."""
    runs: list[tuple[str, float]] = []
    start = 0
    for at in range(1, len(text) + 1):
        if at == len(text) or odds[at] != odds[start]:
            runs.append((text[start:at], odds[start]))
            start = at
    return runs


FOR, AGAINST = "31,131,196", "213,94,0"
"""Blue and orange: the first two colors of the plots, which color-blind people can tell apart."""


def _colored(run: str, strength: float, escaped: bool = False) -> str:
    from html import escape  # not needed to answer

    shown = run if escaped else escape(run)
    if strength == 0:
        return shown
    color = FOR if strength > 0 else AGAINST
    return f'<span style="background:rgba({color},{abs(strength) * 0.75:.3f})">{shown}</span>'


def _is_text(view: str) -> bool:
    return view.rpartition(": ")[2] in ("words", "chars", "bytes")


def _shown(term: str, view: str, several: bool) -> str:
    if view.rpartition(": ")[2] == "chars":
        term = term.replace(" ", "␣")
    return f"{term} [{view}]" if several and _is_text(view) else term
