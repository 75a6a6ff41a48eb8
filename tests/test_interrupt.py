"""Ctrl-C during a long run ends it soon and leaves the model as it was."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bayleaf import Model, words

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
new = ["new words", "newer ones"], ["a", "a"]
states.add(model.learn(*new).to_bytes())
model.forget(*new)
stops = 0
for change, back in [(model.learn, model.forget), (model.forget, model.learn)]:
    start = model.to_bytes()
    for step in range(1, 400):
        stopped = interrupted(lambda: change(*new), step)
        now = model.to_bytes()
        assert now in states, (change, step)
        assert model.predict(["new"]).tolist() == Model.from_bytes(now).predict(["new"]).tolist()
        if not stopped:
            break
        stops += 1
        if now != start:
            back(*new)
    assert now != start
print("stopped", stops)
"""


def test_a_change_is_whole_or_not_there_wherever_it_is_interrupted() -> None:
    ran = subprocess.run([sys.executable, "-c", STEPS], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[-1]) > 20


LESSON = """
import os, signal, threading, time
from bayleaf import Model, chars, words

model = Model([words(2), chars(3)]).learn(["known words", "other words", "more words"], ["a", "b", "a"])
model.predict(["words"])
model.learn(["one"], ["a"])
assert model._answers.lessons is not None
before = model.to_bytes()
text = " ".join(f"w{i % 7919}" for i in range(4_000_000))
start = time.perf_counter()
model.learn([text], ["a"])
whole, after = time.perf_counter() - start, model.to_bytes()
model.forget([text], ["a"])
assert model.to_bytes() == before
for part in (0.2, 0.7):
    threading.Timer(part * whole, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        model.learn([text], ["a"])
        time.sleep(10)
    except KeyboardInterrupt:
        print("interrupted", model.to_bytes() in (before, after))
    if model.to_bytes() != before:
        model.forget([text], ["a"])
    assert model.predict(["more words"]).tolist() == Model.from_bytes(before).predict(["more words"]).tolist()
"""


def test_a_long_lesson_in_one_call_is_whole_or_not_there_after_a_signal() -> None:
    ran = subprocess.run([sys.executable, "-c", LESSON], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout.split()) == (0, ["interrupted", "True"] * 2), ran.stderr


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_lesson_in_one_call_that_a_view_refuses_leaves_all_views_as_they_were(
    error: type[BaseException],
) -> None:
    def fail(word: str) -> str:
        if word == "bad":
            raise error("bad word")
        return word

    model = Model([words(2), words(normalizer=fail)])
    model.learn(["known words", "words more"], ["a", "b"]).predict(["words"])
    model.learn(["more words"], ["a"])
    assert model._answers.lessons is not None
    before = model.to_bytes()
    with pytest.raises(error, match="bad word"):
        model.learn(["a bad word"], ["a"])
    assert model.to_bytes() == before
    with pytest.raises(ValueError, match="'words known' occurs in it more often"):
        model.forget(["words known"], ["a"])
    assert model.to_bytes() == before
    fresh = Model.from_bytes(before, fail)
    assert model.posterior(["more words"]).tolist() == fresh.posterior(["more words"]).tolist()


def test_ctrl_c_while_a_lesson_is_taken_back_comes_after() -> None:
    raises: list[BaseException] = []

    def cut(text: str) -> list[str]:
        if "bad" in text and raises:
            raise raises.pop(0)
        return text.split()

    def refuse(text: str) -> list[str]:
        if "bad" in text:
            raises[:] = [KeyboardInterrupt(), KeyboardInterrupt()]
            raise ValueError("bad text")
        return text.split()

    model = Model([words(tokenizer=cut), words(tokenizer=refuse)])
    model.learn(["known words", "other words"], ["a", "b"]).predict(["words"])
    model.learn(["more words"], ["a"])
    assert model._answers.lessons is not None
    before = model.to_bytes()
    with pytest.raises(KeyboardInterrupt):
        model.learn(["a bad text"], ["a"])
    assert raises == []
    assert model.to_bytes() == before
