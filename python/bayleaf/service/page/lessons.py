"""Which document comes next: the one to ask for, of some at random, and a tenth at random to measure on."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Literal, NamedTuple

from bayleaf.service.documents import Document, together, unpacked
from bayleaf.service.page.actions import HELD, Shown, in_hold_out
from bayleaf.service.page.pool import LEARNED, QUESTION, CorpusPool, Pool, QuestionPool, path_of
from bayleaf.service.refusals import Invalid, NotFound
from bayleaf.service.served import Served
from bayleaf.service.store import Store
from bayleaf.types import Floats, Label

Order = Literal["ask", "random", "newest", "suspect", "second", "search"]
DRAWN: tuple[Order, ...] = ("ask", "random", "newest")
"""The orders of which a tenth is drawn at random and held out."""

CANDIDATES = 400
CHARACTERS = 300_000
"""So many documents at random, or so much text, are looked at to find the next one to ask for."""

ASKED, AT_RANDOM = 10, 0.2
"""So many questions are asked for, some of them at random; the first that is not of the hold-out is shown."""

LEASE_SECONDS = 1_800
"""So long a document that was shown to one person is given to nobody else."""

SCANNED = 5_000
HITS = 1_000


class Lease(NamedTuple):
    """Who was shown a document, and until when it is theirs."""

    person: str
    until: float


class Lessons:
    """The documents of one model that people are being asked about."""

    def __init__(self, store: Store, served: Served) -> None:
        self._store, self.served = store, served
        path = path_of(store.folder, served.name)
        self.corpus = CorpusPool(path, served) if path.exists() else None
        self.pool: Pool = self.corpus or QuestionPool(store.questions, served)
        self._random = random.Random(store.key + served.name.encode())
        self._lock = threading.RLock()
        self._leases: dict[str, Lease] = {}
        self._shown: dict[str, tuple[str, Shown]] = {}
        self._hits: dict[tuple[str, str], list[int]] = {}
        self._ahead: dict[tuple[str, str], Future[Shown | None]] = {}
        self._chooser = ThreadPoolExecutor(1, "bayleaf-next")
        rows = store.questions.read(
            "SELECT kind, item, by FROM action WHERE model = ? AND undone IS NULL", served.number
        )
        self._taken = {item for kind, item, _ in rows if kind != "skip"}
        self._skipped = {(by, item) for kind, item, by in rows if kind == "skip"}

    # Bookkeeping

    def took(self, person: str, shown: Sequence[Shown], skipped: bool) -> None:
        """Remember that documents are labeled, or skipped by one person."""
        with self._lock:
            for each in shown:
                self._skipped.add((person, each.item)) if skipped else self._taken.add(each.item)
                self._leases.pop(each.item, None)
            self._shown.pop(person, None)

    def gave_back(self, person: str, items: Sequence[str | None]) -> None:
        """Remember that labels or skips were undone."""
        with self._lock:
            self._taken.difference_update(items)
            self._skipped.difference_update((person, item) for item in items)
            self._shown.pop(person, None)

    def show(self, person: str, shown: Shown, order: str) -> Shown:
        """Lend a document to a person, who gets it again after a reload."""
        with self._lock:
            self._leases[shown.item] = Lease(person, time.monotonic() + LEASE_SECONDS)
            self._shown[person] = (order, shown)
        return shown

    def _free(self, person: str, item: str) -> bool:
        lease = self._leases.get(item)
        lent = lease is not None and lease.person != person and lease.until > time.monotonic()
        on_screen = self._shown[person][1].item == item if person in self._shown else False
        return not (lent or on_screen) and item not in self._taken and (person, item) not in self._skipped

    def size(self) -> dict[str, Any]:
        """How many documents there are, and how far each corpus is read."""
        first, last = self.pool.bounds()
        sources = self.corpus.sources() if self.corpus else []
        return {"documents": last - first + 1, "sources": [each._asdict() for each in sources]}

    # Finding

    def find(self, item: str) -> Document:
        """The document of a reference."""
        kind, name = item[:1], item[1:]
        if kind == LEARNED and len(name) == 40:
            rows = self._store.questions.read(
                "SELECT columns, identity, alias, subject FROM document WHERE model = ? AND identity = ?",
                self.served.number,
                _bytes(name),
            )
            if rows:
                columns, identity, alias, subject = rows[0]
                return Document(unpacked(columns), bytes(identity), alias, subject)
        elif kind == QUESTION and name.isdecimal():
            for _, found in QuestionPool(self._store.questions, self.served).read([int(name)]):
                return QuestionPool(self._store.questions, self.served).document(found)
        elif name.isdecimal() and self.corpus is not None:
            text = self.corpus.text(int(name))
            if text is not None:
                return self.corpus.document(text)
        raise NotFound(f"There is no document {item[:60]!r} here any more.")

    def shown_as(self, person: str, item: str, how: str) -> Shown:
        """What a person was shown, or, after a restart, the document again."""
        with self._lock:
            _, shown = self._shown.get(person, ("", None))
        if shown is not None and shown.item == item:
            return shown
        return self.with_answer(Shown(item, self.find(item), how))

    # Choosing

    def next(self, person: str, order: Order, search: str = "") -> Shown | None:
        """The next document for a person; the same again until it is answered."""
        asked = f"{order} {search}"
        with self._lock:
            before, shown = self._shown.get(person, ("", None))
        while shown is None or before != asked:
            found = self._made_ahead(person, asked) or self._choose(person, order, search)
            if found is None:
                return None
            found = self.with_answer(found)
            with self._lock:  # another person may have got it meanwhile
                if order not in DRAWN or self._free(person, found.item):
                    self._look_ahead(person, order, asked)
                    return self.show(person, found, asked)
        return self.with_answer(shown)

    def _look_ahead(self, person: str, order: Order, asked: str) -> None:
        """Choose the document after this one while the person reads, so that it is there at once.

        It is lent to nobody: when its turn comes, it is looked at again.
        """
        self._ahead = {key: made for key, made in self._ahead.items() if key[0] != person}
        if order in DRAWN:
            self._ahead[person, asked] = self._chooser.submit(self._choose, person, order, "")

    def _made_ahead(self, person: str, asked: str) -> Shown | None:
        """What was chosen ahead, if nobody has labeled it or got it since."""
        with self._lock:
            made = self._ahead.pop((person, asked), None)
        found = None if made is None else made.result()
        usable = found is not None and self._free(person, found.item) and self._is_new(found.document)
        return found if usable else None

    def _choose(self, person: str, order: Order, search: str) -> Shown | None:
        if order == "search":
            return self._first_hit(person, search)
        if order == "second":
            return self._second(person)
        if order == "suspect":
            return self._suspect(person)
        drawn = self._random.random() < 0.1
        held = self._drawn(person, held=True) if drawn else None
        if held is not None:
            return held
        if order == "newest":
            return self._newest(person)
        asked = self._asked(person) if order == "ask" else None
        return asked or self._drawn(person, held=False) or self._drawn(person, held=True)

    def sample(self, person: str, most: int) -> Iterator[tuple[int, Any]]:
        """Free documents at random: some numbers, and if none of them is free, all from a random place on."""
        first, last = self.pool.bounds()
        total = last - first + 1
        if total <= 4 * most:
            numbers = list(range(first, last + 1))
            self._random.shuffle(numbers)
        else:
            numbers = self._random.sample(range(first, last + 1), most)
        found = self._read(person, numbers)
        if found or total <= 4 * most:
            yield from found
            return
        start = self._random.randrange(first, last + 1)
        for at in (*range(start, last + 1, SCANNED), *range(first, start, SCANNED)):
            yield from self._read(person, list(range(at, min(at + SCANNED, last + 1))))

    def _read(self, person: str, numbers: Sequence[int]) -> list[tuple[int, Any]]:
        free = [number for number in numbers if self._free(person, f"{self.pool.kind}{number}")]
        found: dict[int, Any] = {}
        for at in range(0, len(free), CANDIDATES):
            found.update(self.pool.read(free[at : at + CANDIDATES]))
        return [(number, found[number]) for number in free if number in found]

    def _is_new(self, document: Document) -> bool:
        """Whether the same text has no label yet: a corpus may hold it twice."""
        query = "SELECT 1 FROM document WHERE model = ? AND user IN ('', ?) AND identity = ?"
        return not self._store.questions.read(query, self.served.number, HELD, document.identity)

    def _drawn(self, person: str, held: bool) -> Shown | None:
        """A document at random, of the tenth that is held out or of the rest."""
        for number, found in self.sample(person, CANDIDATES):
            document = self.pool.document(found)
            if in_hold_out(document.identity) == held and self._is_new(document):
                first, last = self.pool.bounds()
                chance = 1 / max(last - first + 1, 1)
                how = "hold-out" if held else "random"
                return Shown(f"{self.pool.kind}{number}", document, how, chance)
        return None

    def _asked(self, person: str) -> Shown | None:
        """The document, of some at random, that the model asks for; now and then one at random."""
        candidates, columns, characters = [], [], 0
        for number, found in self.sample(person, CANDIDATES):
            candidates.append((number, found))
            columns.append(self.pool.columns(found))
            characters += len(str(columns[-1]))
            if characters > CHARACTERS or len(candidates) == CANDIDATES:
                break
        if not candidates:
            return None
        seed = self._random.randrange(1 << 32)
        for question in self.served.shared.ask(together(columns), ASKED, at_random=AT_RANDOM, seed=seed):
            number, found = candidates[question.row]
            document = self.pool.document(found)
            if not in_hold_out(document.identity) and self._is_new(document):
                how = "random" if question.at_random else "ask"
                return Shown(f"{self.pool.kind}{number}", document, how)
        return None

    def _newest(self, person: str) -> Shown | None:
        first, last = self.pool.bounds()
        for end in range(last, first - 1, -CANDIDATES):
            numbers = range(end, max(end - CANDIDATES, first - 1), -1)
            for number, found in self._read(person, numbers):
                document = self.pool.document(found)
                if self._is_new(document):
                    return Shown(f"{self.pool.kind}{number}", document, "newest")
        return None

    def _first_hit(self, person: str, search: str) -> Shown | None:
        if not search.strip():
            raise Invalid("There is nothing to search for. Type a text.")
        return next(iter(self.all_hits(person, search, 1)), None)

    def all_hits(self, person: str, search: str, most: int) -> list[Shown]:
        """The newest documents without a label that hold a text."""
        found: list[Shown] = []
        numbers = self.hits(person, search)
        for at in range(0, len(numbers), CANDIDATES):
            for number, read in self._read(person, numbers[at : at + CANDIDATES]):
                document = self.pool.document(read)
                if len(found) < most and self._is_new(document):
                    found.append(Shown(f"{self.pool.kind}{number}", document, "search"))
            if len(found) == most:
                break
        return found

    def hits(self, person: str, search: str) -> list[int]:
        """The numbers of the newest documents that hold a text, found once for a search."""
        key = (person, search)
        if key not in self._hits:
            self._hits = {kept: found for kept, found in self._hits.items() if kept[0] != person}
            self._hits[key] = self.pool.search(search, HITS)
        return self._hits[key]

    def _second(self, person: str) -> Shown | None:
        """A document that another person has labeled, for a second opinion."""
        rows = self._store.questions.read(
            "SELECT identity FROM document d WHERE model = ? AND by <> ? AND NOT EXISTS (SELECT 1 FROM "
            "action a WHERE a.model = d.model AND a.identity = d.identity AND a.by = ? AND a.undone IS NULL) "
            "ORDER BY random() LIMIT 1",
            self.served.number, person, person,
        )  # fmt: skip
        return self._of_ledger(rows[0][0], "second") if rows else None

    def _suspect(self, person: str) -> Shown | None:
        """The labeled document that the others contradict most, if this person has not looked at it yet."""
        from bayleaf.service.page.reviewing import suspects

        for each in suspects(self._store, self.served, SCANNED):
            if self._free(person, each["item"]):
                return self._of_ledger(_bytes(each["item"][1:]), "suspect")
        return None

    def _of_ledger(self, identity: bytes, how: str) -> Shown:
        item = f"{LEARNED}{bytes(identity).hex()}"
        return Shown(item, self.find(item), how)

    def with_answer(self, shown: Shown) -> Shown:
        """The same with what the model thinks of it now."""
        if not self.served.shared.n_documents:
            return replace(shown, answer=None, probabilities=None)
        answer = self.served.answer([shown.document])[0]
        return replace(shown, answer=answer.label, probabilities=answer.probabilities)


def scored(served: Served, documents: Sequence[Document]) -> tuple[list[Label], Floats]:
    """The classes and the log posterior of documents, without keeping those who answer waiting."""
    columns = together([each.columns for each in documents])
    while True:
        model = served.shared
        classes = model.classes
        scores = model.log_posterior(columns)
        if scores.shape[1] == len(classes) and classes == model.classes:
            return classes, scores


def _bytes(text: str) -> bytes:
    try:
        return bytes.fromhex(text)
    except ValueError:
        raise NotFound(f"There is no document {text[:60]!r} here.") from None
