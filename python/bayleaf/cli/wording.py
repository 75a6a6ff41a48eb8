"""Sentences that several commands write, with or without the whole model."""

from __future__ import annotations

TUNED = {
    "temperature": "one temperature",
    "views": "a weight for each view",
    "terms": "a weight for each term",
}
"""How the evidence is weighed, in words."""


def size(count: float) -> str:
    """Bytes as people write them."""
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if unit == "B" or count >= 100 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} TB"


def tuned(level: str | None, stale: bool) -> str:
    """How the evidence is weighed; nothing for the textbook."""
    return "" if level is None else TUNED[level] + (", stale" if stale else "")


def changed(path: str, before: dict[str, int], after: dict[str, int], weighed: str, written: int) -> str:
    """What a model has now, and had before."""
    changes = [
        f"{after[name]:,} {name} ({after[name] - before[name]:+,})"
        if after[name] != before[name]
        else f"{after[name]:,} {name}"
        for name in before
    ]
    return f"{path}: {', '.join(filter(None, [*changes, weighed, size(written)]))}."


def stale(path: str, stranger: object = None) -> str:
    """That weights were earned on other documents than the model has now, or even without a class of it."""
    if stranger is not None:
        return (
            f"The weights in {path} were earned without the class {stranger!r}: it will be found too rarely. "
            "'bayleaf retune' with all documents renews them."
        )
    return (
        f"The weights in {path} were earned on other documents. They keep working; 'bayleaf retune' with all "
        "documents renews them."
    )


def reading(name: str, kind: str) -> str:
    """What an input of texts alone is taken for."""
    return f"Reading {name} as {kind}: text in 'text'."


def hint(kind: str, found: str) -> str:
    """What lines look like, if not like lines."""
    return f" If it is {found}, say so with --format {found}." if found != kind else ""


def nothing_known(path: str, texts: int) -> str:
    """That the model knows no term of the first documents."""
    few = "the document" if texts == 1 else f"the first {texts} documents"
    return f"{path} knows nothing in {few}: the answer is that of the priors."


def verdict_line(told: str, probability: float) -> str:
    """A verdict on a mail as a line."""
    return f"{told}\t{probability:.6g}"
