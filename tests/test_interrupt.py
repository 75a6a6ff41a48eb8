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


STEPS = """
import dis, sys
from bayleaf import Model, chars, words

def interrupted(change, step):
    left, after_call = step, set()

    def trace(frame, event, argument):
        nonlocal left
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_code.co_filename.endswith("counts.py"):
            # Python looks for signals where a function begins, and behind calls.
            name = dis.opname[frame.f_code.co_code[frame.f_lasti]]
            left -= name == "RESUME" or frame in after_call
            after_call.discard(frame)
            if name.startswith(("CALL", "PRECALL")):
                after_call.add(frame)
            if left == 0:
                sys.settrace(None)
                raise KeyboardInterrupt
        return trace

    sys.settrace(trace)
    try:
        change()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(None)
    return False

model = Model([words(2), chars(2)]).learn(["known words", "other words", "more words"], ["a", "b", "a"])
model.predict(["words"])
states = {model.to_bytes()}
states.add(model.learn(["new words"], ["a"]).to_bytes())
model.forget(["new words"], ["a"])
stops = 0
for change, back in [(model.learn, model.forget), (model.forget, model.learn)]:
    start = model.to_bytes()
    for step in range(1, 400):
        stopped = interrupted(lambda: change(["new words"], ["a"]), step)
        now = model.to_bytes()
        assert now in states, (change, step)
        assert model.predict(["new"]).tolist() == Model.from_bytes(now).predict(["new"]).tolist()
        if not stopped:
            break
        stops += 1
        if now != start:
            back(["new words"], ["a"])
    assert now != start
print("stopped", stops)
"""


def test_one_lesson_is_whole_or_not_there_wherever_it_is_interrupted() -> None:
    ran = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[-1]) > 20
