"""One model in many threads: nothing is lost or waits for ever, and callbacks are refused in a sentence."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from bayleaf import Model, category, counts, normal, words

REFUSED = r"cannot use the model that called it"


@pytest.fixture(autouse=True)
def hurried() -> Iterator[None]:
    """Threads change places as often as they can."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def at_once(works: Sequence[Callable[[], object]]) -> list[BaseException]:
    """Run each in a thread of its own; what they raised."""
    errors: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(work,), daemon=True) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads), "a thread waits for ever"
    return errors


def test_threads_that_learn_new_labels_at_once_make_the_model_of_one_thread() -> None:
    expected = Model(threads=1)
    for k in range(8):
        expected.learn([f"word{k} shared"] * 3, [f"label{k}"] * 3)
    for _ in range(20):
        model = Model(threads=1)
        works = [partial(model.learn, [f"word{k} shared"] * 3, [f"label{k}"] * 3) for k in range(8)]
        assert not at_once(works)
        assert model.to_bytes() == expected.to_bytes()


def test_threads_that_learn_known_labels_lose_no_document() -> None:
    model = Model({"t": words(), "c": category(), "n": normal()}, threads=1)
    model.learn({"t": ["a", "b"], "c": ["p", "q"], "n": [1.0, 2.0]}, ["x", "y"])

    def learn(k: int) -> None:
        for _ in range(20):
            model.learn({"t": [f"word{k}"], "c": ["p"], "n": [float(k)]}, ["x"])

    assert not at_once([partial(learn, k) for k in range(4)])
    assert model.class_documents == {"x": 81, "y": 1}
    for view in range(3):
        assert model.counts(view).arrays["class_documents"].tolist() == [81, 1]
    assert Model.from_bytes(model.to_bytes()).class_documents == {"x": 81, "y": 1}


def test_readers_and_writers_at_once_leave_a_model_that_can_be_loaded() -> None:
    model = Model(threads=1).learn(["good day", "win money"], ["ham", "spam"])
    before = model.to_bytes()
    texts = ["free prize now", "see you soon"]

    def write() -> None:
        for i in range(30):
            model.learn(texts, ["spam", f"new{i}"])
            model.forget(texts, ["spam", f"new{i}"])

    def read() -> None:
        for _ in range(60):
            assert model.posterior(["free day"]).sum() == pytest.approx(1)
            assert model.predict(["good day"])[0] in {"ham", "spam"}
            assert model.explain("good day").label in {"ham", "spam"}
            model.configure(alpha=0.5).configure(alpha=1.0)

    def keep() -> None:
        for _ in range(30):
            copy = Model.from_bytes(model.to_bytes())
            assert copy.n_documents == sum(copy.counts().class_documents)

    assert not at_once([write, write, read, read, keep])
    assert model.to_bytes() == before


def test_two_models_can_be_merged_with_each_other_at_once() -> None:
    text = [" ".join(f"w{i}" for i in range(j, j + 200)) for j in range(0, 20_000, 200)]
    a, b = (Model(threads=1).learn(text, ["p"] * len(text)) for _ in range(2))

    def merge(model: Model, other: Model) -> None:
        for _ in range(4):
            model.merge(other)

    assert not at_once([lambda: merge(a, b), lambda: merge(b, a)])
    for model in (a, b):
        assert model.n_documents == model.counts().class_documents.sum()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", ["predict", "learn", "to_bytes", "configure", "copy"])
def test_a_normalizer_that_uses_its_model_is_refused_and_nothing_changes(call: str, threads: int) -> None:
    seen: list[Model] = []

    def normalizer(word: str) -> str:
        if seen and word.startswith("trigger"):
            model = seen[0]
            arguments = {"predict": (["x"],), "learn": (["x"], ["a"])}.get(call, ())
            getattr(model, call)(*arguments)
        return word

    model = Model([words(normalizer=normalizer)], threads=threads).learn(["x y", "z"], ["a", "b"])
    before = model.to_bytes()
    seen.append(model)
    long = "some words " * 60_000  # enough for a second thread, which then calls
    (error,) = at_once([partial(model.learn, [long, long + " trigger"], ["a", "b"])])
    assert isinstance(error, RuntimeError)
    seen.clear()
    assert model.to_bytes() == before


def test_a_tokenizer_that_asks_another_model_gets_its_answer() -> None:
    other = Model(threads=1).learn(["a", "b"], ["x", "y"])
    answers: list[str] = []

    def cut(text: str) -> list[str]:
        answers.extend(other.predict([text]))
        return text.split()

    model = Model([words(tokenizer=cut)], threads=1).learn(["a", "b"], ["p", "q"])
    assert answers == ["x", "y"]
    assert model.predict(["a"]) == ["p"]


HANDLER = """
import signal, sys
from bayleaf import Model

text, y = [f"some words here {{i}}" for i in range(300_000)], ["a", "b"] * 150_000
model = Model(threads={threads}).learn(["x"], ["a"])
said = []


def handler(*_):
    try:
        model.{call}
    except RuntimeError as error:
        said.append(str(error))


signal.signal(signal.SIGALRM, handler)
signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
model.learn(text, y)
signal.setitimer(signal.ITIMER_REAL, 0)
print(said[0] if said else "never called", model.n_documents >= 300_001)
"""


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("call", ["predict(['x'])", "to_bytes()", "learn(['x'], ['a'])"])
def test_a_signal_handler_that_uses_the_model_is_refused(call: str, threads: int) -> None:
    program = HANDLER.format(call=call, threads=threads)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert "cannot use the model that called it" in done.stdout
    assert done.stdout.split()[-1] == "True"


INTERRUPTED = """
import signal
from bayleaf import Model, words, category, normal, counts
import numpy as np

views = {"t": words(), "c": category(), "n": normal(), "b": counts()}
rows = 200
X = {"t": [f"w{i} w{i + 1}" for i in range(rows)], "c": [f"c{i}" for i in range(rows)],
     "n": [i / 7 for i in range(rows)], "b": np.arange(2 * rows).reshape(rows, 2)}
y = [f"k{i % 5}" for i in range(rows)]
model = Model(views, threads=1)
states = [model.to_bytes(), model.learn(X, y).to_bytes(), model.merge(model).to_bytes()]
model = Model.from_bytes(states[0])
stopped = 0
delay = 1e-5
for round in range(400):
    delay = 1e-5 if delay > 3e-3 else delay * 1.05
    before = model.to_bytes()
    call = [lambda: model.learn(X, y), lambda: model.forget(X, y)][before == states[1]]
    if round % 7 == 0 and before == states[1]:
        call = lambda: model.merge(model)
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, delay)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        stopped += 1
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    after = model.to_bytes()
    assert after in states, round
    assert Model.from_bytes(after).to_bytes() == after
    if after == states[2]:
        model = Model.from_bytes(states[0])
assert stopped > 20, stopped
print("whole")
"""


def test_ctrl_c_at_any_moment_leaves_all_of_a_change_or_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.stdout.strip(), done.returncode) == ("whole", 0), done.stderr


FORKED = """
import os, threading
from bayleaf import Model, words

begun, go_on = threading.Event(), threading.Event()


def normalizer(word):
    if word == "long":
        begun.set()
        go_on.wait()
    return word


busy, quiet = (Model([words(normalizer=normalizer)]).learn(["x", "y"], ["a", "b"]) for _ in range(2))
quiet.predict(["x"])
thread = threading.Thread(target=busy.learn, args=(["a long text"], ["b"]))
thread.start()
begun.wait()
child = os.fork()
if child == 0:
    try:
        busy.predict(["x"])
        os._exit(3)
    except RuntimeError as error:
        right = "was forked" in str(error) and quiet.predict(["x"]) == ["a"] and quiet.learn(["z"], ["b"])
        os._exit(0 if right else 4)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
go_on.set()
thread.join()
assert busy.predict(["x"]) == ["a"]
print("fine")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="fork")
def test_a_fork_during_learning_is_told_in_the_child_which_does_not_hang() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", FORKED],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout.strip() == "fine", done.stderr


def test_saving_from_many_threads_leaves_the_umask_alone(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        models = [Model(threads=1).learn(["a", "b"], ["x", "y"]) for _ in range(6)]

        def save(k: int) -> None:
            for i in range(20):
                models[k].save(tmp_path / f"{k}-{i}")

        assert not at_once([partial(save, k) for k in range(6)])
        assert os.umask(0o027) == 0o027
        assert {file.stat().st_mode & 0o777 for file in tmp_path.iterdir()} == {0o640}
    finally:
        os.umask(mask)


def test_tuning_a_model_that_another_thread_changes_is_refused_in_a_sentence() -> None:
    texts = [f"w{i % 7} v{i % 11} x{i % 3}" for i in range(200)]
    labels = ["a" if i % 3 else "b" for i in range(200)]
    model = Model(threads=1).learn(texts, labels)

    def slow(_: str) -> None:
        model.learn(["one more"], ["a"])
        time.sleep(0.01)

    with pytest.raises(RuntimeError, match="Another thread changed the model"):
        model.tune(texts, labels, "terms", progress=slow)
    assert model.judgment is None


def test_documents_that_change_while_they_are_read_are_counted_once() -> None:
    documents = ["a b", "c d", "e f"]

    def normalizer(word: str) -> str:
        documents[:] = ["changed"]
        return word

    model = Model([words(normalizer=normalizer), words(2, normalizer=normalizer)], threads=1)
    model.learn(documents, ["x", "y", "x"])
    assert all(model.counts(view).class_documents.tolist() == [2, 1] for view in range(2))
    assert model.counts(0).term_names == ["a", "b", "c", "d", "e", "f"]


def test_a_merge_that_one_view_refuses_changes_no_view() -> None:
    views = {"t": words(), "b": counts()}
    a = Model(views).learn({"t": ["x y"], "b": np.array([[1, 2]])}, ["p"])
    b = Model(views).learn({"t": ["z w"], "b": np.array([[1, 2, 3]])}, ["q"])
    before = a.to_bytes()
    with pytest.raises(ValueError, match="3 columns, and 2 were learned"):
        a.merge(b)
    assert a.to_bytes() == before
    assert Model.from_bytes(before).classes == a.classes == ["p"]
