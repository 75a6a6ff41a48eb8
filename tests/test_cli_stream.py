"""`bayleaf stream`: test, then learn, as a process that reads files and pipes."""

import json
import math
import signal
import subprocess
from pathlib import Path

import pytest

from bayleaf import Model, Window, words
from cli_process import COMMAND, ENVIRONMENT, done, messages, refused
from doc_blocks import MESSAGES


def progressive(model: Model, window: int | None = None) -> tuple[float, float]:
    """Accuracy and log loss of the bundled messages, as the library gives them."""
    learner = model if window is None else Window(model, size=window)
    right, asked, losses = 0, 0, []
    for label, text in messages():
        posterior = model.predict_proba_one(text)
        if posterior:
            asked += 1
            right += max(posterior, key=posterior.__getitem__) == label
            if label in posterior:
                losses.append(-math.log(max(posterior[label], 2.0**-52)))
        learner.learn_one(text, label)
    return right / asked, sum(losses) / len(losses)


@pytest.mark.parametrize("window", [None, 200])
def test_the_figures_and_the_model_are_those_of_the_library(tmp_path: Path, window: int | None) -> None:
    model = Model([words(ngrams=2)])
    accuracy, loss = progressive(model, window)
    options = [] if window is None else ["--window", str(window)]
    said = json.loads(done("stream", MESSAGES, "--json", "-o", tmp_path / "m", *options))
    assert said["documents"] == len(messages())
    assert said["accuracy"] == pytest.approx(accuracy)
    assert said["log_loss"] == pytest.approx(loss)
    assert (tmp_path / "m").read_bytes() == model.to_bytes()


def test_figures_come_while_the_stream_goes_on() -> None:
    command = [*COMMAND, "stream", "-", "--format", "tsv", "--every", "1", "--json", "-q"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number, line in enumerate(("ham\tlunch at noon", "spam\twin a prize", "ham\tlunch"), 1):
            process.stdin.write(line + "\n")
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["documents"] == number
        process.stdin.close()
    assert process.returncode == 0


def test_ctrl_c_ends_the_stream_with_its_figures_and_its_model(tmp_path: Path) -> None:
    command = [
        *COMMAND,
        "stream",
        "-",
        "--format",
        "tsv",
        "--every",
        "2",
        "--json",
        "-o",
        str(tmp_path / "m"),
    ]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=ENVIRONMENT,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("ham\tlunch at noon\nspam\twin a prize\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["documents"] == 2
        process.send_signal(signal.SIGINT)
        _, remarks = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in remarks
    assert Model.load(tmp_path / "m").n_documents == 2


def test_a_model_goes_on_from_where_it_was(tmp_path: Path) -> None:
    texts = [text for _, text in messages()]
    labels = [label for label, _ in messages()]
    Model([words()]).learn(texts[:500], labels[:500]).save(tmp_path / "m")
    rest = "".join(f"{label}\t{text}\n" for label, text in messages()[500:])
    done("stream", "-", "--format", "tsv", "-m", tmp_path / "m", "-o", tmp_path / "n", stdin=rest)
    assert (tmp_path / "n").read_bytes() == Model([words()]).learn(texts, labels).to_bytes()


def test_a_table_is_streamed_row_by_row(tmp_path: Path) -> None:
    from bayleaf import category

    model = Model({"sender": category(), "subject": words()}).learn(
        {"sender": ["ann", "bob"], "subject": ["lunch", "prize"]}, ["ham", "spam"]
    )
    model.save(tmp_path / "m")
    (tmp_path / "rows.csv").write_text("label,sender,subject\nham,ann,noon\nspam,bob,win\n")
    said = json.loads(done("stream", tmp_path / "rows.csv", "-m", tmp_path / "m", "--json"))
    assert said["accuracy"] == 1


def test_what_is_wrong_is_said(tmp_path: Path) -> None:
    assert "standard input is empty" in refused(1, "stream", "-", "--format", "tsv")
    assert "line 1 has 1 column, expected 2" in refused(1, "stream", "-", stdin="no label\n")
    Model().learn(["a"], ["x"]).save(tmp_path / "m")
    told = refused(2, "stream", MESSAGES, "-m", tmp_path / "m", "--stemmer", "english")
    assert "drop --model or the options" in told
    assert "no folder" in refused(1, "stream", MESSAGES, "-o", tmp_path / "none" / "m")
