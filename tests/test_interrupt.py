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
before = model.to_bytes()
piece = " ".join(f"w{{i % 7919}}" for i in range(100_000))
texts, labels = [piece] * 4000, [0, 1] * 2000


def interrupt():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)


threading.Thread(target=interrupt).start()
try:
    model.{call}
except KeyboardInterrupt:
    assert model.to_bytes() == before
    assert model.predict(["known"]).tolist() == [0]
    print("interrupted")
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", ["learn(texts, labels)", "log_joint(texts)"])
def test_an_interrupted_run_ends_and_changes_nothing(call: str, threads: int) -> None:
    # The whole run would take some ten seconds (2 GB of text); without the interrupt nothing is printed.
    program = PROGRAM.format(call=call, threads=threads)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.returncode) == ("interrupted", 0), done.stderr
