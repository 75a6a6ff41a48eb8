"""Counts as a table that any SQL engine can sum, and back; and counts with rare terms left out.

A row is a (term, class) cell of one view: `view, term, class, documents, occurrences, shares_whole,
shares_high, shares_low`. A row without a term is the class itself: its documents. All numbers are integers
that add up; `shares`, the sum of tf / length in fixed point, is kept as whole + high / 2**32 + low / 2**64,
so that sums fit into 64 bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf import model_file, storage
from bayleaf.model import Model
from bayleaf.model_views import normalizers_of
from bayleaf.text.counts import ClassCounts

COLUMNS = ("view", "term", "class", "documents", "occurrences", "shares_whole", "shares_high", "shares_low")
NUMBERS = COLUMNS[3:]

Row = tuple[int, str, str, int, int, int, int, int]
Cells = dict[tuple[int, str, str], list[int]]

_SPECIAL = re.compile(r"[\x00-\x1f\x7f\\\udc80-\udcff]")
_ESCAPED = re.compile(rb"\\x([0-9a-f]{2})")


def rows(model: Model) -> Iterator[Row]:
    """The counts of a model: for each view its classes, then its cells."""
    names = [str(name) for name in model.classes]
    if len(set(names)) < len(names):
        raise ValueError(
            "Two classes are written alike, one as a number and one as text; no table tells them apart."
        )
    for view, (_, looked) in enumerate(model.views):
        counts = model.counts(view)
        for name, documents in zip(names, counts.arrays["class_documents"].tolist(), strict=True):
            yield view, "", name, documents, 0, 0, 0, 0
        terms = _terms(counts, looked.kind == "words")
        arrays = counts.arrays
        part = arrays["shares_part"]
        numbers = (arrays["documents"], arrays["occurrences"], arrays["shares_whole"], part >> np.uint64(32))
        low = (part & np.uint64(0xFFFFFFFF)).tolist()
        listed = [column.tolist() for column in numbers]
        for term, label, *cell in zip(
            counts.term.tolist(), counts.class_.tolist(), *listed, low, strict=True
        ):
            yield view, terms[term], names[label], *cell


def _terms(counts: ClassCounts, of_words: bool) -> list[str]:
    """The terms as text that can be read back: `\\x5c` is a backslash; a space stands between words only."""
    blob, ends = counts.arrays["words"].tobytes(), counts.arrays["word_ends"].tolist()
    names = [escaped(blob[a:b], of_words) for a, b in zip([0, *ends], ends, strict=False)]
    for left, right in counts.arrays["pairs"].reshape(-1, 2).tolist():
        names.append(f"{names[left]} {names[right]}")
    return [names[node] for node in counts.arrays["terms"].tolist()]


def escaped(word: bytes, of_words: bool) -> str:
    """Bytes as text without backslashes, control characters and (in words) spaces."""
    text = word.decode("utf-8", "surrogateescape")
    text = _SPECIAL.sub(lambda found: f"\\x{ord(found[0]) & 0xFF:02x}", text)
    return text.replace(" ", "\\x20") if of_words else text


def unescaped(text: str) -> bytes:
    """The bytes that `escaped` wrote."""
    return _ESCAPED.sub(lambda found: bytes([int(found[1], 16)]), text.encode("utf-8"))


def summed(table: Iterable[Sequence[Any]], cells: Cells | None = None) -> Cells:
    """Add up the rows of a table, those of one cell together."""
    found: Cells = {} if cells is None else cells
    for view, term, label, *numbers in table:
        key = int(view), "" if term is None else str(term), str(label)
        counts = [int(number) for number in numbers]
        before = found.get(key)
        found[key] = counts if before is None else [a + b for a, b in zip(before, counts, strict=True)]
    return found


def from_cells(cells: Cells, like: Model) -> Model:
    """The model that has these counts, and the views and settings of another one."""
    settings, _ = storage.unpack(like.to_bytes(), "the model")
    typed = {str(name): name for name in like.classes}
    labels = sorted({label for _, _, label in cells} | (typed.keys() if settings["closed"] else set()))
    names = [typed.get(label, label) for label in labels]
    views = range(len(like.views))
    documents = {view: [cells.get((view, "", label), [0])[0] for label in labels] for view in views}
    _check_views(cells, documents)
    arrays = [
        _arrays(cells, view, labels, getattr(looked, "deepest", 0))
        | {"class_documents": np.array(documents[view], np.uint64)}
        for view, (_, looked) in enumerate(like.views)
    ]
    settings |= {"classes": names, "documents": documents[0]}
    return Model.from_bytes(storage.pack(settings, arrays))


def _check_views(cells: Cells, documents: dict[int, list[int]]) -> None:
    strange = sorted({view for view, _, _ in cells} - documents.keys())
    if strange:
        last = len(documents) - 1
        raise ValueError(f"The table has counts of view {strange[0]}, but the model has views 0 to {last}.")
    for view, counted in documents.items():
        if counted != documents[0]:
            both = f"{documents[0]} and, in view {view}, {counted}"
            raise ValueError(f"The views have counted different documents: {both}.")


def _arrays(cells: Cells, view: int, labels: list[str], deepest: int) -> storage.Arrays:
    """The arrays of one view: words in order, n-grams of up to `deepest` after what they are made of."""
    names = sorted({term for at, term, _ in cells if at == view and term})
    parts = {
        name: tuple(map(unescaped, name.split(" "))) if deepest else (unescaped(name),) for name in names
    }
    longest = max(map(len, parts.values()), default=0)
    if longest > max(deepest, 1):
        raise ValueError(f"View {view} looks at up to {deepest} words together, and a term has {longest}.")
    words = sorted({word for part in parts.values() for word in part})
    nodes, pairs = _nodes(words, set(parts.values()))
    terms = sorted(nodes[part] for part in parts.values())
    place = {node: index for index, node in enumerate(terms)}
    number = {label: index for index, label in enumerate(labels)}
    found = sorted(
        (number[label], place[nodes[parts[term]]], *counts)
        for (at, term, label), counts in cells.items()
        if at == view and term
    )
    return {
        "words": np.frombuffer(b"".join(words), np.uint8),
        "word_ends": np.cumsum([len(word) for word in words], dtype=np.uint64),
        "pairs": np.array(pairs, np.uint32),
        "terms": np.array(terms, np.uint32),
        **_cells([row for row in found if any(row[2:])], len(labels)),
    }


def _nodes(
    words: list[bytes], grams: set[tuple[bytes, ...]]
) -> tuple[dict[tuple[bytes, ...], int], list[int]]:
    """Number the words and what they begin: pairs, then triples, each in the order of its parts."""
    nodes: dict[tuple[bytes, ...], int] = {(word,): number for number, word in enumerate(words)}
    pairs: list[int] = []
    for length in range(2, max(map(len, grams), default=1) + 1):
        longer = {gram[:length] for gram in grams if len(gram) >= length}
        for left, right, gram in sorted((nodes[gram[:-1]], nodes[gram[-1:]], gram) for gram in longer):
            nodes[gram] = len(nodes)
            pairs += [left, right]
    return nodes, pairs


def _cells(found: list[tuple[int, ...]], classes: int) -> storage.Arrays:
    columns = list(zip(*found, strict=True)) if found else [()] * 7
    limbs = zip(*columns[4:7], strict=True)
    shares = [(whole << 64) + (high << 32) + low for whole, high, low in limbs]
    sizes: NDArray[Any] = np.bincount(np.array(columns[0], np.intp), minlength=classes)
    return {
        "class_ends": np.cumsum(sizes).astype(np.uint64),
        "term": np.array(columns[1], np.uint32),
        "documents": np.array(columns[2], np.uint32),
        "occurrences": np.array(columns[3], np.uint64),
        "shares_whole": np.array([share >> 64 for share in shares], np.uint32),
        "shares_part": np.array([share & (2**64 - 1) for share in shares], np.uint64),
    }


def pruned(model: Model, min_documents: int = 1, min_count: int = 1, max_terms: int | None = None) -> Model:
    """The model without its rare terms; of equally frequent ones those of fewer documents go first."""
    settings, _ = storage.unpack(model.to_bytes(), "the model")
    views = [
        kept(model.counts(view), min_documents, min_count, max_terms) for view in range(len(model.views))
    ]
    return model_file.unpacked(
        Model, storage.pack(settings, views), normalizers_of(model.views), model.threads
    )


def kept(
    counts: ClassCounts, min_documents: int = 1, min_count: int = 1, max_terms: int | None = None
) -> storage.Arrays:
    """The arrays of a view without its rare terms."""
    documents, occurrences = counts.by_term(counts.documents), counts.by_term(counts.occurrences)
    keep = (documents >= min_documents) & (occurrences >= min_count)
    if max_terms is not None and keep.sum() > max_terms:
        ranked = np.lexsort((-documents, -np.where(keep, occurrences, -1.0)))
        keep = np.zeros(len(keep), bool)
        keep[ranked[:max_terms]] = True
    return with_terms(counts, keep)


def with_terms(counts: ClassCounts, keep: NDArray[np.bool_]) -> storage.Arrays:
    """The arrays of a view with some of its terms alone."""
    cells = keep[counts.term]
    arrays = dict(counts.arrays)
    for name in ("documents", "occurrences", "shares_whole", "shares_part"):
        arrays[name] = arrays[name][cells]
    arrays["term"] = (np.cumsum(keep) - 1)[counts.term[cells]].astype(np.uint32)
    arrays["terms"] = arrays["terms"][keep]
    sizes = np.bincount(counts.class_[cells], minlength=counts.n_classes)
    arrays["class_ends"] = np.cumsum(sizes).astype(np.uint64)
    return arrays | _needed(arrays)


def _needed(arrays: storage.Arrays) -> storage.Arrays:
    """The words and pairs that the terms are made of, numbered anew in the same order."""
    ends = arrays["word_ends"].astype(np.int64)
    pairs = arrays["pairs"].reshape(-1, 2)
    used = np.zeros(len(ends) + len(pairs), bool)
    used[arrays["terms"]] = True
    before = -1
    while before != (before := int(used.sum())):
        used[pairs[used[len(ends) :]].ravel()] = True
    number = (np.cumsum(used) - 1).astype(np.uint32)
    sizes, words = np.diff(ends, prepend=0), used[: len(ends)]
    return {
        "words": arrays["words"][np.repeat(words, sizes)],
        "word_ends": np.cumsum(sizes[words]).astype(np.uint64),
        "pairs": number[pairs[used[len(ends) :]]].ravel(),
        "terms": number[arrays["terms"]],
    }
