"""The classes of the page in the order of their keys: a class keeps its key, even with no documents left."""

from __future__ import annotations

import json
from concurrent.futures import Future
from typing import Any

from bayleaf.service.database import Ledger
from bayleaf.service.refusals import Conflict
from bayleaf.service.served import Served
from bayleaf.service.store import Store
from bayleaf.types import Label


class Announced:
    """The classes of one model that were named, and those that it has learned."""

    def __init__(self, store: Store, served: Served) -> None:
        self._store, self._served = store, served
        self._key = f"classes:{served.number}"
        rows = store.questions.read("SELECT value FROM meta WHERE key = ?", self._key)
        self._named: list[Label] = json.loads(rows[0][0]) if rows else []

    def all(self) -> list[Label]:
        """All classes; each keeps its place, and so its key."""
        return [*self._named, *(each for each in self._served.classes if each not in self._named)]

    def add(self, label: Label) -> Future[Any] | None:
        """Give a new class its place."""
        if label in self._named:
            return None
        known = self.all()
        return self._keep(known if label in known else [*known, label])

    def remove(self, label: Label) -> Future[Any]:
        """Take back a class that has no documents."""
        if self._served.shared.class_documents.get(label):
            raise Conflict(f"The class {label!r} has documents. Relabel them first.")
        return self._keep([each for each in self._named if each != label])

    def _keep(self, named: list[Label]) -> Future[Any]:
        row = (self._key, json.dumps(named, ensure_ascii=False))
        self._named = named

        def write(ledger: Ledger) -> None:
            self._store.writer.transaction(
                lambda: ledger.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", row)
            )

        return self._store.writer.call(write)
