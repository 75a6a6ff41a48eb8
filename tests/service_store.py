"""A service's folder without a network, for the tests: teach, forget, kill, look again."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bayleaf import Model, words
from bayleaf.service.changes import Done, Forget, Learn, Source, Taught, Who
from bayleaf.service.served import Served, facts
from bayleaf.service.store import Store
from bayleaf.service.verifying import verify

MAIL = b"""\
Received: from mx.example (mx.example [192.0.2.1])
Message-ID: <1@deals.example>
From: Deals <win@deals.example>
To: ann@home.example
Subject: Win a prize
Date: Mon, 16 Nov 2026 10:00:00 +0000

Claim your free prize now.
"""


@contextmanager
def opened(folder: Path, views: object = None) -> Iterator[tuple[Store, Served]]:
    """A store with one model, closed at the end."""
    store = Store(folder)
    try:
        if "spam" not in store.served:
            store.add_model("spam", Model(views or [words()]))  # type: ignore[arg-type]
        yield store, store.model("spam")
    finally:
        store.close()


def learn(
    store: Store,
    served: Served,
    pairs: Sequence[tuple[str, str]],
    by: str = "ann",
    user: str = "",
    source: Source = "person",
) -> Done:
    """Learn texts with labels, and wait for it."""
    taught = [Taught(served.reader.text(text), label) for text, label in pairs]
    done: Done = store.submit(Learn(Who(served.number, by, user, source), taught)).result(30)
    return done


def forget(store: Store, served: Served, text: str | bytes, user: str = "") -> Done:
    """Forget one text, and wait for it."""
    document = served.reader.text(text)
    done: Done = store.submit(Forget(Who(served.number, "ann", user), [document])).result(30)
    return done


def model_of(pairs: Sequence[tuple[str, str]]) -> bytes:
    """The bytes of a model that has learned exactly this."""
    model = Model([words()])
    if pairs:
        model.learn([text for text, _ in pairs], [label for _, label in pairs])
    return facts(model)


def assert_sound(folder: Path) -> None:
    """The folder is what its ledger says, byte for byte."""
    for found in verify(folder):
        assert found.sound, found


def run_python(script: str, *arguments: str | Path, **environment: str) -> subprocess.Popen[str]:
    """A process that runs a script, with its output in a pipe."""
    import os

    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment, "PYTHONPATH": str(Path(__file__).parent)},
    )
