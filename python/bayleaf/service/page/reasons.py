"""Why: words colored by what they say, the counts and documents behind a word, what a label would change."""

from __future__ import annotations

import json
import math
import re
from typing import Any

from bayleaf.service.documents import Document, together, unpacked
from bayleaf.service.page.lessons import Lessons, scored
from bayleaf.service.page.pool import shown
from bayleaf.service.page.reviewing import entry
from bayleaf.service.served import Served
from bayleaf.service.store import Store
from bayleaf.types import Label

LONGEST = 20_000
"""So many characters are explained; a text that is longer is cut, and the page says so."""

PIECES = re.compile(r"\w+|\W+")
BEHIND = 20
OTHERS = 1_000


def why(served: Served, document: Document, label: Label | None) -> dict[str, Any]:
    """The text in pieces, each word with its log odds for the label against the next class."""
    columns = document.columns
    if isinstance(columns, str) and len(columns) > LONGEST:
        columns = columns[:LONGEST]
    found, version = served.explain(Document(columns, document.identity), label)
    odds, pieces = found.odds_of_characters(), []
    for match in PIECES.finditer(found.text):
        value = sum(odds[match.start() : match.end()])
        pieces.append([match[0], round(max(min(value, 99.0), -99.0), 4)])
    terms = [
        [term, count, round(value, 3)] for term, count, value in found.terms()[:30] if math.isfinite(value)
    ]
    return {
        "label": found.label,
        "against": found.against,
        "probability": found.probability,
        "pieces": pieces,
        "terms": terms,
        "prior": _finite(found.log_odds(found.log_prior)),
        "cut": len(str(document.columns)) > LONGEST,
        "version": version,
    }


def _finite(value: float) -> float:
    return max(min(value, 99.0), -99.0)


def word(store: Store, served: Served, text: str) -> dict[str, Any]:
    """In how many documents of each class a word stands, and the newest of them."""
    rows = store.questions.read(
        "SELECT identity, columns, label, by, at FROM document WHERE model = ? AND user = '' "
        "ORDER BY seq DESC LIMIT 20000",
        served.number,
    )
    pattern = re.compile(rf"(?<!\w){re.escape(text.casefold())}(?!\w)")
    counts: dict[str, list[int]] = {}
    behind: list[dict[str, Any]] = []
    for row in rows:
        number = len(pattern.findall(shown(unpacked(row[1])).casefold()))
        each = counts.setdefault(str(json.loads(row[2])), [0, 0, 0])
        each[0] += number > 0
        each[1] += 1
        each[2] += number
        if number and len(behind) < BEHIND:
            behind.append(entry(*row))
    found = [
        {"label": label, "with": some, "documents": of, "occurrences": times}
        for label, (some, of, times) in sorted(counts.items())
    ]
    return {"word": text, "counts": found, "documents": behind}


def effect(lessons: Lessons, person: str, document: Document, labels: list[Label]) -> dict[str, Any]:
    """How many answers would change with each label, of up to a thousand documents without one."""
    served = lessons.served
    others = [lessons.pool.document(found) for _, found in lessons.sample(person, OTHERS)]
    others = [each for each in others if each.identity != document.identity][:OTHERS]
    if not others or not served.shared.n_documents:
        return {"documents": len(others), "changes": {}}
    before_classes, before = scored(served, others)
    now = [before_classes[place] for place in before.argmax(axis=1).tolist()]
    columns, changes = together([each.columns for each in others]), {}
    for label in labels:
        model = served.shared.copy().learn(together([document.columns]), [label])
        then = model.predict(columns).tolist()
        changes[str(label)] = sum(one != other for one, other in zip(now, then, strict=True))
    return {"documents": len(others), "changes": changes}
