"""A model file that is asked without being loaded: the same bits, and whatever is read is verified."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, chars, words
from bayleaf.model_views import preset
from bayleaf.quick import QuickModel, Unfit
from bayleaf.text.mail import mail_columns
from bayleaf.text.normalization import Normalization
from cli_process import refused
from quick_models import LABELS, MESSAGES, ODD, TEXTS, VIEWS, check_alike, made, of_three_classes

DATA = os.environ.get("BAYLEAF_DATA")


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


@given(st.text(st.characters(exclude_categories=["Cs", "Cn"]), max_size=40))
def test_the_core_writes_digits_as_zeros_by_the_rule_of_the_normalization(text: str) -> None:
    normalize = Normalization(digits="zero").batch()
    assert normalize is not None
    expected = normalize(words(tokenizer="whitespace").tokens(text))
    assert words(tokenizer="whitespace", digits="zero").tokens(text) == expected


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
