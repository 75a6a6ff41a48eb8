"""Words that are left out: the model is counted again from the ledger, without them."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from bayleaf import atomic
from bayleaf.model import Model
from bayleaf.model_views import as_given
from bayleaf.service import snapshots
from bayleaf.service.database import Ledger
from bayleaf.service.refusals import Conflict
from bayleaf.service.served import Served, replay
from bayleaf.service.store import Store
from bayleaf.text.views import Words


def left_out(store: Store, served: Served) -> list[str]:
    """The words that are left out now."""
    rows = store.questions.read(
        "SELECT DISTINCT label FROM action WHERE model = ? AND kind = 'leave' AND undone IS NULL",
        served.number,
    )
    return sorted(json.loads(label) for (label,) in rows)


def check_leaving(served: Served) -> None:
    """Refuse a model whose counts cannot be made again, or that does not look at words."""
    if served.seed.n_documents:
        raise Conflict("This model was trained elsewhere: its documents are not here to be counted again.")
    found = [view for _, view in served.seed.views if isinstance(view, Words)]
    if not found or isinstance(found[0].normalization.stop_words, str):
        raise Conflict("This model does not look at words, or has a list of stop words of its own.")


def settle_left_out(store: Store, served: Served) -> None:
    """Count everything again with the words that are left out now; in the writer's thread, then switch."""
    listed = left_out(store, served)
    seed = _without(served.seed, listed)
    store.writer.call(lambda ledger: _switch(store, served, seed, ledger)).result()


def _without(seed: Model, listed: list[str]) -> Model:
    def changed(view: Any) -> Any:
        if not isinstance(view, Words):
            return view
        normalization = replace(view.normalization, stop_words=tuple(listed) or None)
        return replace(view, normalization=normalization)

    views = as_given([(name, changed(view)) for name, view in seed.views])
    return Model(views, alpha=seed.alpha, unseen=seed.unseen, priors=seed.priors)


def _switch(store: Store, served: Served, seed: Model, ledger: Ledger) -> None:
    """A crash leaves either seed with the whole ledger to be counted: the old snapshots go first."""
    file = f"{served.name}-{time.time_ns():x}.bayleaf"
    atomic.write(store.folder / "seeds" / file, seed.to_bytes())
    (store.folder / "seeds" / file).chmod(0o600)
    for _, path in snapshots.list_of(store.folder, served.number):
        path.unlink(missing_ok=True)

    def write() -> int:
        ledger.connection.execute("UPDATE model SET seed = ? WHERE id = ?", (file, served.number))
        return ledger.log(served.number, "", "views", None, None, "", "person")

    version = store.writer.transaction(write)
    served.seed = seed
    served.switch(replay(seed.copy(), ledger, served.number, 0), version)
