"""A model file that is asked and changed without being loaded: the same bits, verified, and nothing lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayleaf import Model, bytes_, chars, words
from bayleaf._core import powers
from bayleaf.model_views import preset
from bayleaf.quick import QuickModel, Unfit, zeroed
from bayleaf.text.mail import mail_columns
from bayleaf.text.normalization import Normalization
from cli_process import COMMAND, ENVIRONMENT, bayleaf, done, messages, refused

DATA = os.environ.get("BAYLEAF_DATA")
MESSAGES = messages()
TEXTS, LABELS = [text for _, text in MESSAGES], [label for label, _ in MESSAGES]
ODD = ["", " ", "zzqqxx", "Ünï cödé 日本語 テスト", "win win WIN 2024 $5", "a\0b", "x" * 3000, "free " * 4000]

VIEWS: dict[str, Any] = {
    "words": [words()],
    "pairs": [words(2)],
    "three words": [words((2, 3))],
    "sparse": [words(sparse=3)],
    "letters": [chars(1, 4)],
    "words and letters": [words(2), chars(3, 5)],
    "letters across": [chars(2, 3, within_words=False)],
    "bytes": [bytes_(4, tf="binary", alpha=0.01)],
    "binary": [words(tf="binary")],
    "selected": [words(min_df=2, max_df=200)],
    "stems": [words(stop_words="english", stemmer="porter")],
    "messages": preset("messages"),
}


def made(path: Path, views: Any, tuned: bool, **how: Any) -> Model:
    """A model of the first messages, in a file."""
    model = Model(views, **how).learn(TEXTS[:600], LABELS[:600])
    if tuned:
        model.tune(TEXTS[:600], LABELS[:600], "terms")
    model.save(path)
    return Model.load(path)


def check_alike(path: Path, whole: Model, texts: list[str]) -> None:
    quick = QuickModel(str(path))
    for text in texts:
        asked = quick.log_posterior([text] * len(quick.columns))
        assert asked == whole.log_posterior([text])[0].tolist()
        assert powers(asked) == whole.posterior([text])[0].tolist()


@pytest.mark.parametrize("tuned", [False, True], ids=["plain", "tuned"])
@pytest.mark.parametrize("name", VIEWS)
def test_answers_are_those_of_the_whole_model_to_the_last_bit(tmp_path: Path, name: str, tuned: bool) -> None:
    if tuned and name in ("bytes", "binary"):
        pytest.skip("another event model than the plain one has no weights of terms")
    path = tmp_path / "model"
    check_alike(path, made(path, VIEWS[name], tuned), [*TEXTS[600:660], *ODD])


@pytest.mark.parametrize("how", [{"unseen": "smooth"}, {"priors": "uniform"}, {"alpha": 0.01}])
@pytest.mark.parametrize("views", ["words", "binary"])
def test_settings_of_the_model_are_honored_to_the_last_bit(
    tmp_path: Path, views: str, how: dict[str, Any]
) -> None:
    path = tmp_path / "model"
    check_alike(path, made(path, VIEWS[views], False, **how), [*TEXTS[600:620], *ODD])


@pytest.mark.skipif(DATA is None, reason="needs the corpora")
@pytest.mark.parametrize("corpus", ["20ng", "languages", "subj", "r8"])
@pytest.mark.parametrize("tuned", [False, True], ids=["plain", "tuned"])
def test_corpora_of_few_and_many_classes_are_answered_to_the_last_bit(
    tmp_path: Path, corpus: str, tuned: bool
) -> None:
    lines = Path(str(DATA), f"{corpus}.train.tsv").read_text("utf-8").split("\n")[:-1]
    step = max(len(lines) // 1500, 1)
    rows = [line.split("\t", 1) for line in lines[::step]]
    labels, texts = [row[0] for row in rows], [row[1] for row in rows]
    model = Model([chars(1, 3) if corpus == "languages" else words(2)]).learn(texts, labels)
    if tuned:
        model.tune(texts, labels, "views")
    model.save(tmp_path / "model")
    check_alike(tmp_path / "model", Model.load(tmp_path / "model"), texts[:15])


def of_three_classes() -> tuple[Model, list[str], list[str]]:
    """A model with a weight for each word and class, and what it has learned."""
    texts = TEXTS[:300]
    labels = [
        f"{label} {'long' if len(text) > 80 else 'short'}" for text, label in zip(texts, LABELS, strict=False)
    ]
    model = Model([words(2)]).learn(texts, labels).tune(texts, labels)
    assert model.judgment is not None
    assert model.judgment.views[0].by_class is not None
    return model, texts, labels


def test_weights_of_words_and_classes_are_answered_to_the_last_bit(tmp_path: Path) -> None:
    model, texts, labels = of_three_classes()
    model.save(tmp_path / "model")
    check_alike(tmp_path / "model", model, [*TEXTS[600:660], *ODD])
    for row in (0, 1, 2):
        quick = QuickModel(str(tmp_path / "model"))
        assert quick.change([(True, quick.classes.index(labels[row]), [[TEXTS[700 + row]]])], 0)
        model.learn([TEXTS[700 + row]], [labels[row]])
        check_alike(tmp_path / "model", model, [texts[row], TEXTS[700 + row], "never seen"])


def test_classes_that_came_after_the_weights_need_the_whole_model(tmp_path: Path) -> None:
    model, texts, _ = of_three_classes()
    model.learn([texts[0]], ["another"]).save(tmp_path / "model")
    with pytest.raises(Unfit):
        QuickModel(str(tmp_path / "model"))


def test_mail_is_answered_to_the_last_bit(tmp_path: Path) -> None:
    mails = [f"From: {label}@x.example\nSubject: {text[:40]}\n\n{text}\n" for label, text in MESSAGES[:300]]
    model = Model(preset("mail")).learn(mail_columns(mails), LABELS[:300])
    model.save(tmp_path / "model")
    quick = QuickModel(str(tmp_path / "model"))
    for mail in mails[:20]:
        columns = mail_columns([mail])
        asked = quick.log_posterior([columns[name][0] for name in quick.columns])
        assert asked == model.log_posterior(columns)[0].tolist()


@pytest.mark.parametrize(
    ("views", "how"),
    [
        ([words(event="bernoulli")], {}),
        ([words(event="complement")], {}),
        ([words(tf="tf-idf")], {}),
        ([words(max_terms=50)], {}),
        ([words()], {"alpha": 0}),
        ([words(normalizer=str.upper)], {}),
    ],
)
def test_what_needs_the_whole_model_says_so(tmp_path: Path, views: Any, how: dict[str, Any]) -> None:
    Model(views, **how).learn(TEXTS[:50], LABELS[:50]).save(tmp_path / "model")
    with pytest.raises(Unfit):
        QuickModel(str(tmp_path / "model"))


@given(st.lists(st.text(max_size=8), max_size=8))
def test_digits_are_written_as_zeros_by_the_rule_of_the_normalization(forms: list[str]) -> None:
    normalize = Normalization(digits="zero").batch()
    assert normalize is not None
    assert zeroed(forms) == normalize(forms)


# What is read is verified


def test_a_flipped_bit_is_refused_or_was_not_needed_and_never_changes_an_answer(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words(2)], True)
    data, asked = path.read_bytes(), TEXTS[700]
    right = whole.log_posterior([asked])[0].tolist()
    refusals = 0
    for place in range(0, len(data), 211):
        changed = bytearray(data)
        changed[place] ^= 1 << (place % 8)
        path.write_bytes(changed)
        try:
            assert QuickModel(str(path)).log_posterior([asked]) == right
        except (ValueError, OSError, Unfit, KeyError, TypeError, StopIteration):
            refusals += 1
    assert refusals > 5


def test_a_file_that_is_cut_is_an_error_and_no_crash(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words(2)], False)
    data = path.read_bytes()
    for length in range(0, len(data), 997):
        path.write_bytes(data[:length])
        with pytest.raises((ValueError, OSError, KeyError, StopIteration)):
            QuickModel(str(path))
    path.write_bytes(data)
    quick = QuickModel(str(path))
    os.truncate(path, len(data) // 2)  # while it is in use
    with pytest.raises((ValueError, OSError)):
        quick.log_posterior([" ".join(TEXTS[:300])])
    assert "is damaged" in refused(1, "classify", path, stdin="win a prize\n")


# Changes behind the file

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["learn", "forget", "relabel"]),
        st.integers(600, 640),
        st.sampled_from(["ham", "spam"]),
    ),
    min_size=1,
    max_size=8,
)


def changed(model: Model, step: tuple[str, int, str]) -> bool:
    """Do the step with the whole model; whether it was accepted."""
    kind, row, label = step
    other = "spam" if label == "ham" else "ham"
    try:
        if kind != "learn":
            model.forget([TEXTS[row]], [label])
        if kind != "forget":
            model.learn([TEXTS[row]], [other if kind == "relabel" else label])
    except ValueError:
        return False
    return True


def parts_of(quick: QuickModel, step: tuple[str, int, str]) -> list[tuple[bool, int, list[list[str]]]]:
    kind, row, label = step
    texts, here = [[TEXTS[row]]] * len(quick.columns), quick.classes.index(label)
    return {
        "learn": [(True, here, texts)],
        "forget": [(False, here, texts)],
        "relabel": [(False, here, texts), (True, 1 - here, texts)],
    }[kind]


@pytest.mark.parametrize("views", ["words", "pairs", "words and letters", "selected", "sparse"])
@settings(max_examples=15)
@given(steps=STEPS)
def test_changes_behind_a_file_are_the_changes_of_the_whole_model(
    tmp_path_factory: pytest.TempPathFactory, views: str, steps: list[tuple[str, int, str]]
) -> None:
    path = tmp_path_factory.mktemp("quick") / "model"
    whole = made(path, VIEWS[views], False)
    for step in steps:
        copy = whole.copy()
        if not changed(whole, step):
            whole = copy
            assert not QuickModel(str(path)).change(parts_of(QuickModel(str(path)), step), 0)
            continue
        quick = QuickModel(str(path))
        if quick.change(parts_of(quick, step), 0):
            again = QuickModel(str(path))
            assert (again.documents, again.terms) == (quick.documents, quick.terms)
            assert again.documents == list(whole.class_documents.values())
            check_alike(path, whole, [TEXTS[step[1]], TEXTS[700], "never seen"])
        else:
            whole.save(path)
        assert Model.load(path).to_bytes() == whole.to_bytes()


def test_what_was_cut_short_does_not_count_and_what_was_changed_is_damage(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words()], False)
    base = path.stat().st_size
    for text in ("see you at noon", "a quite new word: zyxwv"):
        assert QuickModel(str(path)).change([(True, 0, [[text]])], 0)
    data, first = path.read_bytes(), QuickModel(str(path)).documents[0] - 1
    known = {first - 1, first, first + 1}
    for end in range(base, len(data)):
        path.write_bytes(data[:end])
        assert Model.load(path).class_documents["ham"] == QuickModel(str(path)).documents[0]
        assert QuickModel(str(path)).documents[0] in known - {first + 1}
    for place in range(base, len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :])
        with pytest.raises(ValueError, match=r"damaged|match|impossible|trailing"):
            QuickModel(str(path))
        with pytest.raises(ValueError, match="is damaged"):
            Model.load(path)


def test_what_was_cut_short_is_overwritten_by_the_next_change(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words()], False)
    path.write_bytes(path.read_bytes() + b"chg1\x40\x00")
    assert QuickModel(str(path)).change([(True, 0, [["see you at noon"]])], 0)
    assert Model.load(path).to_bytes() == whole.learn(["see you at noon"], ["ham"]).to_bytes()


def test_other_data_behind_a_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words()], False)
    path.write_bytes(path.read_bytes() + b"chg2 and more of it")
    with pytest.raises(ValueError, match="trailing data"):
        Model.load(path)


def test_a_document_that_cannot_have_been_learned_is_not_forgotten_and_the_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "model"
    Model([words()]).learn(["red apple", "red pear", "free prize"], ["ham", "ham", "spam"]).save(path)
    before = path.read_bytes()
    for text in ("apple", "apple pear"):  # each is known, but "red" is in all documents that were learned
        assert not QuickModel(str(path)).change([(False, 0, [[text]])], 0)
        said = refused(1, "forget", path, "--label", "ham", "-", stdin=f"{text}\n")
        assert "'ham'" in said
        assert path.read_bytes() == before
    assert QuickModel(str(path)).change([(False, 0, [["red pear"]])], 0)
    assert Model.load(path).class_documents == {"ham": 1, "spam": 1}


def test_many_changes_are_folded_into_the_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words()], False)
    before, folded = path.stat().st_size, False
    text = " ".join(TEXTS[:200])
    for _ in range(8):
        done("update", path, "--label", "ham", "-", "-q", stdin=f"{text}\n")
        whole.learn([text], ["ham"])
        folded = folded or QuickModel(str(path)).changes == 0
        assert Model.load(path).to_bytes() == whole.to_bytes()
    assert folded
    assert path.stat().st_size < before + (1 << 18)


# Processes

EML = (
    b"From: a@x.example\nSubject: free prize\nContent-Type: text/plain; charset=utf-8\n\n"
    b"win a free prize n\xc3\xbcw\n"
)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("quick") / "model"
    made(path, [words(2)], True)
    return path


def test_one_message_is_answered_without_numpy_click_and_regular_expressions(model: Path) -> None:
    script = (
        "import sys, bayleaf.cli\n"
        "try: bayleaf.cli.main()\n"
        "except SystemExit:\n"
        "    slow = {'numpy', 'click', 're', 'json', 'typing'}\n"
        "    print(sorted(slow & set(sys.modules)), file=sys.stderr)"
    )
    for options in (["-e"], ["-p"], ["--format", "eml", "--proba"], ["--json"]):
        call = [sys.executable, "-c", script, "classify", str(model), *options]
        ran = subprocess.run(call, input=EML, capture_output=True, env=ENVIRONMENT, check=True)
        assert ran.stderr.endswith(b"[]\n"), (options, ran.stderr)
    call = [sys.executable, "-c", script, "update", str(model), "--label", "ham", "--format", "eml", "-"]
    ran = subprocess.run(call, input=EML, capture_output=True, env=ENVIRONMENT, check=True)
    assert b"numpy" not in ran.stderr
    assert b"click" not in ran.stderr


INPUTS = [
    b"",
    b"\n",
    b"a b\n\n \nclaim it",
    b"zzqqxx\n",
    b"\xff b\n",
    b"\xef\xbb\xbfclaim\r\nx\r\n",
    b"From me\nx\n",
    b"x\ty\n",
    b"x\ty\nclaim it\n",
    b"claim it\r\nx y\r\n\r\nwin",
    b"@me claim it\n",
    b">claim it\nnow\n",
    b"__label__a claim it\n",
    b"Hello, Anna; claim it, please, Anna\n",
    b"a, b, c, d\n" * 6,
    b'\n{"text": "a"}\n',
    b'{"text": "a"}\n',
    b"text,label\nc,d\n",
    "ünï cödé 日本語\n".encode(),
    b"a\n" * 30,
    EML,
]


@pytest.mark.parametrize("given", INPUTS, ids=range(len(INPUTS)))
def test_both_ways_to_answer_write_the_same(model: Path, given: bytes) -> None:
    for options in ([], ["--proba", "--json"], ["-q", "--unsure", "0.9"], ["-pe"], ["--format", "eml"]):
        call = [*COMMAND, "classify", str(model), *options]
        quick = subprocess.run(call, input=given, capture_output=True, env=ENVIRONMENT, check=False)
        # An option that changes nothing, and that only the ordinary command knows.
        call += ["--threads", "1"]
        whole = subprocess.run(call, input=given, capture_output=True, env=ENVIRONMENT, check=False)
        assert (quick.returncode, quick.stdout, quick.stderr) == (
            whole.returncode,
            whole.stdout,
            whole.stderr,
        ), options


def test_both_ways_to_change_say_and_do_the_same(tmp_path: Path) -> None:
    made(tmp_path / "quick", [words(2)], True)
    made(tmp_path / "whole", [words(2)], True)
    (tmp_path / "mail").write_bytes(EML)
    mail = ("--format", "eml", str(tmp_path / "mail"))
    (tmp_path / "a.eml").write_bytes(EML)
    for part in ("cur", "new"):
        (tmp_path / "box" / part).mkdir(parents=True)
    (tmp_path / "box" / "cur" / "1:2,S").write_bytes(EML)
    for command in (
        ("update", "--label", "spam", *mail),
        ("relabel", "--from", "spam", "--to", "ham", *mail),
        ("forget", "--label", "ham", *mail),
        ("forget", "--label", "ham", *mail),
        ("update", "--label", "hum", *mail),
        ("update", "--label", "spam", "a.eml", "box/cur/1:2,S"),
    ):
        said = []
        for name, more in (("quick", ()), ("whole", ("--threads", "1"))):
            ran = bayleaf(command[0], name, *command[1:], *more, cwd=tmp_path)
            shown = ran.stdout.rpartition(", ")[0].replace("whole", "quick")
            said.append((ran.returncode, shown, ran.stderr.replace("whole", "quick")))
        assert said[0] == said[1]
    assert Model.load(tmp_path / "quick").to_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("given", INPUTS, ids=range(len(INPUTS)))
def test_both_ways_to_learn_lines_say_and_do_the_same(tmp_path: Path, given: bytes) -> None:
    said, models = [], []
    for more in ([], ["--threads", "1"]):
        path = tmp_path / str(len(more))
        made(path, [words(2)], True)
        call = [*COMMAND, "update", str(path), "--label", "ham", "-", *more]
        ran = subprocess.run(call, input=given, capture_output=True, env=ENVIRONMENT, check=False)
        shown = ran.stdout.rpartition(b", ")[0]
        said.append(
            [ran.returncode] + [part.replace(str(path).encode(), b"") for part in (shown, ran.stderr)]
        )
        models.append(Model.load(path).to_bytes())
    assert said[0] == said[1]
    assert models[0] == models[1]


def test_no_line_of_text_takes_the_whole_model(tmp_path: Path) -> None:
    path = tmp_path / "model"
    made(path, [words(2)], True)
    for text in (
        "Hello, Anna; claim it, please, Anna",
        "a\tb",
        "@you: win",
        "> quoted",
        "From now on, at 12:30",
        '{"text": "win"}',
        "text,label",
    ):
        before = path.read_bytes()
        done("update", path, "--label", "ham", "-", stdin=f"{text} {text}\r\n")
        assert path.read_bytes().startswith(before), text
        assert path.stat().st_size > len(before)


def test_every_command_sees_changes_behind_a_file(tmp_path: Path) -> None:
    path = tmp_path / "model"
    whole = made(path, [words()], False)
    done("update", path, "--label", "ham", "-", "-q", stdin="zyxwv zyxwv\n")
    assert QuickModel(str(path)).changes > 0
    whole.learn(["zyxwv zyxwv"], ["ham"])
    assert json.loads(done("inspect", path, "--json"))["documents"] == whole.n_documents
    assert "zyxwv" in done("explain", path, "zyxwv")
    done("merge", path, "-o", tmp_path / "merged", "-q")
    assert (tmp_path / "merged").read_bytes() == whole.to_bytes()
    assert np.array_equal(Model.load(path).log_joint(TEXTS[:5]), whole.log_joint(TEXTS[:5]))
