"""The library and the command line make the same model of the same documents."""

from __future__ import annotations

import mailbox
import os
import warnings
from email.message import EmailMessage
from pathlib import Path

import numpy as np
import pytest

import bayleaf
from bayleaf import NaiveBayes, mail_columns, preset
from bayleaf.model_views import OLDER_NAMES, PRESETS
from cli_process import done, messages, refused, write_tsv

DATA = os.environ.get("BAYLEAF_DATA")
CORPUS = messages()


def fitted(rows: list[tuple[str, str]], views: object = None) -> bytes:
    texts, labels = [text for _, text in rows], [label for label, _ in rows]
    return NaiveBayes(views).fit(texts, labels).model_.to_bytes()


def rows_of(name: str) -> list[tuple[str, str]]:
    assert DATA
    lines = (Path(DATA) / f"{name}.train.tsv").read_text("utf-8").split("\n")[:-1]
    return [(label, text) for label, _, text in (line.partition("\t") for line in lines)]


def test_train_and_fit_make_the_same_bytes_of_the_bundled_messages(tmp_path: Path) -> None:
    done("train", "-q", write_tsv(tmp_path / "m.tsv", CORPUS), "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == fitted(CORPUS)


@pytest.mark.skipif(not DATA, reason="needs BAYLEAF_DATA")
@pytest.mark.parametrize("name", ["sms", "trec", "mr"])
def test_train_and_fit_make_the_same_bytes_of_a_corpus(tmp_path: Path, name: str) -> None:
    rows = rows_of(name)
    done("train", "-q", write_tsv(tmp_path / "m.tsv", rows), "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == fitted(rows)


@pytest.mark.parametrize("number", [5, 29, 30, 31])
def test_train_and_fit_look_alike_at_few_messages(tmp_path: Path, number: int) -> None:
    done("train", "-q", write_tsv(tmp_path / "m.tsv", CORPUS[:number]), "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == fitted(CORPUS[:number])


def test_train_and_fit_look_alike_at_long_texts(tmp_path: Path) -> None:
    rows = [(label, " ".join([text] * 9)) for label, text in CORPUS[:60]]
    done("train", "-q", write_tsv(tmp_path / "m.tsv", rows), "-o", tmp_path / "m")
    assert (tmp_path / "m").read_bytes() == fitted(rows)


@pytest.mark.parametrize("name", [*(name for name in PRESETS if name != "mail"), *OLDER_NAMES])
def test_a_preset_is_the_same_in_both(tmp_path: Path, name: str) -> None:
    done("train", "-q", write_tsv(tmp_path / "m.tsv", CORPUS), "-o", tmp_path / "m", "--preset", name)
    assert (tmp_path / "m").read_bytes() == fitted(CORPUS, preset(name))


def test_an_unknown_preset_is_refused_with_the_names_of_all(tmp_path: Path) -> None:
    said = refused(2, "train", "m.tsv", "-o", tmp_path / "m", "--preset", "sms")
    assert "There is no preset 'sms'" in said
    assert all(repr(name) in said for name in PRESETS)


def test_documents_held_out_do_not_change_the_views(tmp_path: Path) -> None:
    done("train", "-q", write_tsv(tmp_path / "m.tsv", CORPUS), "-o", tmp_path / "m", "--holdout", "0.3")
    assert bayleaf.Model.load(tmp_path / "m").views == NaiveBayes().fit(*columns(CORPUS)).model_.views


def columns(rows: list[tuple[str, str]]) -> tuple[list[str], list[str]]:
    return [text for _, text in rows], [label for label, _ in rows]


def test_views_that_the_first_training_chose_stay_when_more_is_learned(tmp_path: Path) -> None:
    long = [(label, " ".join([text] * 20)) for label, text in CORPUS[60:80]]
    model = tmp_path / "m"
    done("train", "-q", write_tsv(tmp_path / "m.tsv", CORPUS[:60]), "-o", model)
    views = bayleaf.Model.load(model).views
    done("update", "-q", model, write_tsv(tmp_path / "more.tsv", long))
    assert bayleaf.Model.load(model).views == views
    assert len(views) == 2


def test_models_with_other_views_are_not_merged_and_the_message_says_how_they_could_be(
    tmp_path: Path,
) -> None:
    first, second, sum_ = tmp_path / "first", tmp_path / "second", tmp_path / "sum"
    done("train", "-q", write_tsv(tmp_path / "1.tsv", CORPUS[:60]), "-o", first)
    rest = write_tsv(tmp_path / "2.tsv", CORPUS[60:65])
    done("train", "-q", rest, "-o", second, "--ngrams", "2")
    said = refused(1, "merge", first, second, "-o", sum_)
    assert "chars(shortest=3, longest=5)" in said
    assert f"bayleaf train --like {first}" in said
    done("train", "-q", rest, "-o", second, "--like", first)
    done("merge", first, second, "-o", sum_)
    assert bayleaf.Model.load(sum_).n_documents == 65


def test_like_says_everything_about_the_views(tmp_path: Path) -> None:
    corpus = write_tsv(tmp_path / "m.tsv", CORPUS)
    done("train", "-q", corpus, "-o", tmp_path / "m")
    said = refused(2, "train", corpus, "-o", tmp_path / "n", "--like", tmp_path / "m", "--chars", "3-4")
    assert "drop one of --like and --chars" in said


# Mail

BODIES = {
    "ham": ["See you at the meeting at noon", "Grüße aus Köln, bis morgen", "The minutes are attached"],
    "spam": ["WIN a free prize now http://win.example", "Gewinn für Sie: 500 €", "cheap pills, click here"],
}


def mail(label: str, number: int, body: str) -> bytes:
    message = EmailMessage()
    message["Subject"], message["From"] = f"{label} {number}", f"Someone <a@{label}.example>"
    message.set_content(body, charset="iso-8859-15", cte="8bit")
    return message.as_bytes()


MAILS = [
    (label, mail(label, number, BODIES[label][number % 3]))
    for number in range(20)
    for label in ("ham", "spam")
]


def mail_folders(root: Path) -> Path:
    for number, (label, raw) in enumerate(MAILS):
        (root / label).mkdir(parents=True, exist_ok=True)
        (root / label / f"{number:03}.eml").write_bytes(raw)
    return root


def maildirs(root: Path) -> Path:
    root.mkdir()
    for label in BODIES:
        mailbox.Maildir(root / label)
        # Names by the clock may sort otherwise than they came, and weights depend on the order of the mails.
        for number, raw in enumerate(raw for name, raw in MAILS if name == label):
            (root / label / "new" / f"{number:04}.example.org").write_bytes(raw)
    return root


def mboxes(root: Path) -> list[Path]:
    root.mkdir()
    for label in BODIES:
        box = mailbox.mbox(root / f"{label}.mbox")
        for raw in (raw for name, raw in MAILS if name == label):
            message = mailbox.mboxMessage(raw)
            message.set_from("a@example.org Mon Nov 16 10:00:00 2026")
            box.add(message)
        box.close()
    return [root / f"{label}.mbox" for label in BODIES]


def test_the_preset_for_mail_reads_folders_maildirs_and_mboxes_as_the_library_does(tmp_path: Path) -> None:
    raw = [raw for name in BODIES for label, raw in MAILS if label == name]
    labels = [label for label in BODIES for _ in range(20)]
    expected = NaiveBayes(preset("mail")).fit(mail_columns(raw), labels).model_
    for inputs in ([mail_folders(tmp_path / "f")], [maildirs(tmp_path / "d")], mboxes(tmp_path / "b")):
        model = tmp_path / "m"
        done("train", "-q", *inputs, "-o", model, "--preset", "mail")
        made = bayleaf.Model.load(model)
        assert made.classes == expected.classes
        assert [view for _, view in made.views] == [view for _, view in expected.views]
        rows = mail_columns(raw)
        assert np.allclose(made.posterior(rows), expected.posterior(rows))
        answers = [line.split("\t")[0] for line in done("classify", "-q", model, *inputs).splitlines()]
        assert sorted(answers) == sorted(labels)
        assert "accuracy" in done("evaluate", "-q", model, *inputs)
        done("update", "-q", model, *inputs)
        done("forget", "-q", model, *inputs)
        assert bayleaf.Model.load(model).n_documents == 40


def test_a_mail_is_explained_from_standard_input(tmp_path: Path) -> None:
    done("train", "-q", mail_folders(tmp_path / "f"), "-o", tmp_path / "m", "--preset", "mail")
    said = done("explain", tmp_path / "m", "-", stdin=MAILS[1][1].decode("latin-1"))
    assert "free" in said


# One answer


def test_classify_answers_as_predict_does_without_smoothing_and_among_many_classes(tmp_path: Path) -> None:
    classes = [f"c{number % 24}" for number in range(96)]
    texts = [f"w{number % 24} w{number % 7} w{number % 5}" for number in range(96)]
    asked = [*texts, "unknown", "w1 w2 w3", ""]
    for alpha in (0.0, 1.0):
        model = bayleaf.Model(alpha=alpha).learn(texts, classes)
        model.save(tmp_path / "m")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = model.predict(asked).tolist()
        stdin = "".join(f"{text}\n" for text in asked)
        plain = done("classify", "-q", tmp_path / "m", "-", "--format", "lines", stdin=stdin).splitlines()
        proba = done("classify", "-q", tmp_path / "m", "-", "--format", "lines", "--proba", stdin=stdin)
        assert plain == expected
        assert [line.split("\t")[0] for line in proba.splitlines()] == expected


def test_flags_in_a_file_mean_what_they_mean_in_python(tmp_path: Path) -> None:
    spelled = ["Yes", "no", "TRUE", "false", "1", "0", "t", "f", "y", "n"]
    labels = ["a", "b"] * 5
    model = bayleaf.Model({"new": bayleaf.flag()}).learn({"new": spelled}, labels)
    model.save(tmp_path / "m")
    (tmp_path / "t.csv").write_text("new\n" + "".join(f"{flag}\n" for flag in spelled))
    answers = [
        line.split("\t")[0]
        for line in done("classify", "-q", tmp_path / "m", tmp_path / "t.csv").splitlines()
    ]
    assert answers == model.predict({"new": spelled}).tolist() == labels
    (tmp_path / "t.csv").write_text("new\nyes\nmaybe\n")
    said = refused(1, "classify", "-q", tmp_path / "m", tmp_path / "t.csv")
    assert "'maybe'; flag() takes yes or no" in said
