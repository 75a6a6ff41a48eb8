"""Ctrl-C during a long run ends it soon and leaves the model as it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
from bayleaf import Model, words

model = Model([words(2)], threads={threads})
model.learn(["known words", "other words"], [0, 1])
model.learn([f"w{{i}} w{{i + 1}}" for i in range({classes})], list(range({classes})))
before = model.to_bytes()
piece = " ".join(f"w{{i % 7919}}" for i in range(100_000))
texts, labels = [piece] * {documents}, [0, 1] * ({documents} // 2)


def run(model, texts, labels):
    model.{call}


some, start = len(texts) // 50, time.perf_counter()
run(model.copy(), texts[:some], labels[:some])
whole = 50 * (time.perf_counter() - start)


def interrupt():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)


threading.Thread(target=interrupt).start()
start = time.perf_counter()
try:
    run(model, texts, labels)
except KeyboardInterrupt:
    assert time.perf_counter() - start < whole / 2
    assert model.to_bytes() == before
    assert model.predict(["known"]).tolist() == [0]
    print("interrupted")
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("call", "classes", "documents"),
    [
        ("learn(texts, labels)", 0, 4000),
        ("log_joint(texts)", 0, 4000),
        # Among many classes, much is read at a time.
        ("predict(texts)", 2000, 600),
    ],
)
def test_an_interrupted_run_ends_and_changes_nothing(
    call: str, classes: int, documents: int, threads: int
) -> None:
    # The whole run would take some ten seconds (2 GB of text); without the interrupt nothing is printed.
    program = PROGRAM.format(call=call, threads=threads, classes=classes, documents=documents)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("interrupted", 0), done.stderr
