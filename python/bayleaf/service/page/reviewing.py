"""Labels looked at again: suspects, disagreements between people, filters, and what was surprising."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations
from typing import Any

import numpy as np

from bayleaf.service.documents import together, unpacked
from bayleaf.service.page.actions import HELD
from bayleaf.service.page.pool import LEARNED, QUESTION, shown
from bayleaf.service.served import Served, empty_like
from bayleaf.service.store import Store

SHORT = 2_000
"""So many characters of a document are shown in a list."""


STANDING = "model = ? AND undone IS NULL AND kind IN ('label', 'opinion')"


def entry(
    identity: bytes, columns: bytes, label: str | None, by: str, at: float, **more: Any
) -> dict[str, Any]:
    """A labeled document as a list shows it."""
    text = shown(unpacked(columns))
    return {
        "item": f"{LEARNED}{bytes(identity).hex()}",
        "text": text[:SHORT],
        "cut": len(text) > SHORT,
        "label": None if label is None else json.loads(label),
        "by": by,
        "at": at,
        **more,
    }


def suspects(store: Store, served: Served, most: int) -> list[dict[str, Any]]:
    """Labels that the others contradict, most first; each is judged by the counts without itself."""
    rows = store.questions.read(
        "SELECT identity, columns, label, by, at FROM document WHERE model = ? AND user = '' "
        "ORDER BY seq DESC LIMIT ?",
        served.number, most,
    )  # fmt: skip
    labels = [json.loads(row[2]) for row in rows]
    if len(set(labels)) < 2:
        return []
    columns = together([unpacked(row[1]) for row in rows])
    found = empty_like(served.seed).learn(columns, labels).suspects(columns, labels)
    return [
        entry(*rows[each.row], instead=each.suggested, log_odds=float(each.log_odds)) for each in found[:200]
    ]


def labeled(store: Store, served: Served, query: dict[str, Any]) -> list[dict[str, Any]]:
    """Labeled documents by class, person, date and how much the model was surprised, the newest first."""
    conditions, values = ["model = ?"], list[Any]([served.number])
    for column, wanted in (("label", query.get("label")), ("by", query.get("by"))):
        if wanted is not None:
            conditions.append(f"{column} = ?")
            values.append(json.dumps(wanted, ensure_ascii=False) if column == "label" else wanted)
    for condition, name in (("at >= ?", "since"), ("at < ?", "until"), ("asked <= ?", "asked_below")):
        if query.get(name) is not None:
            conditions.append(condition)
            values.append(query[name])
    order = "asked" if query.get("asked_below") is not None else "seq DESC"
    rows = store.questions.read(
        "SELECT identity, columns, label, by, at, asked, answer, user, seq FROM document "
        f"WHERE {' AND '.join(conditions)} ORDER BY {order} LIMIT 2000",
        *values,
    )
    wanted_text = str(query.get("search") or "").casefold()
    found = []
    for identity, columns, label, by, at, asked, answer, user, _ in rows:
        if not wanted_text or wanted_text in shown(unpacked(columns)).casefold():
            said = None if answer is None else json.loads(answer)
            found.append(entry(identity, columns, label, by, at, asked=asked, answer=said, held=user == HELD))
    return found[: int(query.get("limit") or 50)]


def history(store: Store, served: Served, search: str, label: Any, limit: int) -> list[dict[str, Any]]:
    """What the filter was asked lately, its answers, and what was taught since."""
    flushed = store.questions.flush()
    if flushed is not None:
        flushed.exception()  # what is older can be looked at all the same
    rows = store.questions.read(
        "SELECT q.number, q.columns, q.at, q.label, q.probabilities, d.label, d.by FROM question q LEFT JOIN "
        "document d ON d.model = q.model AND d.user = q.user AND d.identity = q.identity "
        "WHERE q.model = ? AND q.columns IS NOT NULL ORDER BY q.number DESC",
        served.number,
    )
    wanted, found = search.casefold(), []
    for number, columns, at, answer, probabilities, taught, by in rows:
        text, said = shown(unpacked(columns)), json.loads(answer)
        if (label is not None and said != label) or wanted not in text.casefold():
            continue
        told = {"item": f"{QUESTION}{number}", "text": text[:SHORT], "cut": len(text) > SHORT, "at": at}
        told |= {"answer": said, "probability": json.loads(probabilities)[str(said)], "by": by}
        found.append(told | {"label": None if taught is None else json.loads(taught)})
        if len(found) == limit:
            break
    return found


def disagreements(store: Store, served: Served) -> dict[str, Any]:
    """Documents with several people's labels that differ, and Cohen's kappa of each pair of people."""
    rows = store.questions.read(
f"SELECT identity, by, label FROM action WHERE {STANDING} AND identity IN (SELECT identity FROM action "
        f"WHERE {STANDING} GROUP BY identity HAVING count(DISTINCT by) > 1) ORDER BY number",
        served.number, served.number,
    )  # fmt: skip
    opinions: dict[bytes, dict[str, Any]] = defaultdict(dict)
    for identity, by, label in rows:
        opinions[bytes(identity)][by] = json.loads(label)
    differing = [identity for identity, each in opinions.items() if len(set(each.values())) > 1]
    pairs: dict[tuple[str, str], list[tuple[Any, Any]]] = defaultdict(list)
    for each in opinions.values():
        for one, other in combinations(sorted(each), 2):
            pairs[one, other].append((each[one], each[other]))
    return {
        "documents": [
            found | {"opinions": opinions[identity]}
            for identity in differing[:200]
            for found in _of_ledger(store, served, identity)
        ],
        "pairs": [
            {"people": list(people), "documents": len(both), "agreed": _agreed(both), "kappa": kappa(both)}
            for people, both in sorted(pairs.items())
        ],
    }


def _of_ledger(store: Store, served: Served, identity: bytes) -> list[dict[str, Any]]:
    rows = store.questions.read(
        "SELECT identity, columns, label, by, at FROM document WHERE model = ? AND identity = ? LIMIT 1",
        served.number, identity,
    )  # fmt: skip
    return [entry(*row) for row in rows]


def _agreed(pairs: list[tuple[Any, Any]]) -> float:
    same: int = sum(one == other for one, other in pairs)
    return same / len(pairs)


def kappa(pairs: list[tuple[Any, Any]]) -> float | None:
    """Cohen's kappa: agreement beyond chance; None where chance alone agrees always."""
    agreed = _agreed(pairs)
    first, second = Counter(one for one, _ in pairs), Counter(other for _, other in pairs)
    chance = sum(first[label] * second[label] for label in first) / len(pairs) ** 2
    return None if chance == 1 else (agreed - chance) / (1 - chance)


def watched(store: Store, served: Served, midnight: float) -> dict[str, Any]:
    """What happened: today's changes, progressive accuracy, and the most surprising labels lately."""
    today = store.questions.read(
        "SELECT by, operation, count(*) FROM change WHERE model = ? AND at >= ? GROUP BY by, operation",
        served.number, midnight,
    )  # fmt: skip
    answers = store.questions.read(
        "SELECT answer = label, asked FROM document WHERE model = ? AND asked IS NOT NULL ORDER BY seq DESC "
        "LIMIT 5000",
        served.number,
    )[::-1]
    surprising = store.questions.read(
        "SELECT identity, columns, label, by, at, asked, answer FROM (SELECT * FROM document WHERE model = ? "
        "AND asked IS NOT NULL ORDER BY seq DESC LIMIT 1000) WHERE answer <> label ORDER BY asked LIMIT 10",
        served.number,
    )
    return {
        "today": [{"by": by, "operation": operation, "count": count} for by, operation, count in today],
        "progressive": _progressive([right for right, _ in answers]),
        "asked": len(answers),
        "surprising": [entry(*row[:5], asked=row[5], answer=json.loads(row[6])) for row in surprising],
    }


def _progressive(right: list[int]) -> list[dict[str, float]]:
    """The share of right answers given before the label, in at most 40 parts of time."""
    if not right:
        return []
    parts = np.array_split(np.array(right, float), min(40, -(-len(right) // 10)))
    ends = np.cumsum([len(part) for part in parts]).tolist()
    return [{"labels": end, "accuracy": float(part.mean())} for end, part in zip(ends, parts, strict=True)]
