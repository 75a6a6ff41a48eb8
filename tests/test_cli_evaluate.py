"""evaluate, explain, inspect, tokens and demo show what the library computes."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as peer

import bayleaf
from cli_process import bayleaf as call
from cli_process import done, messages, refused, write_tsv

CORPUS = messages()
TRAIN, TEST = CORPUS[:600], CORPUS[600:]
MODEL = bayleaf.Model([bayleaf.words(ngrams=2)]).learn(
    [text for _, text in TRAIN], [label for label, _ in TRAIN]
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("evaluate")
    MODEL.save(made / "m")
    write_tsv(made / "test.tsv", TEST)
    return made


def test_the_measures_are_those_of_scikit_learn(folder: Path) -> None:
    said = json.loads(done("evaluate", "m", "test.tsv", "--json", cwd=folder))
    truth, texts = zip(*TEST, strict=True)
    answers = MODEL.predict(list(texts))
    assert said["documents"] == len(TEST)
    assert said["accuracy"] == pytest.approx(peer.accuracy_score(truth, answers))
    assert said["mcc"] == pytest.approx(peer.matthews_corrcoef(truth, answers))
    assert said["log_loss"] == pytest.approx(peer.log_loss(truth, MODEL.posterior(list(texts))))
    assert said["confusion"] == peer.confusion_matrix(truth, answers).tolist()
    precision, recall, f1, support = peer.precision_recall_fscore_support(truth, answers)
    for number, row in enumerate(said["classes"]):
        numbers = (row["precision"], row["recall"], row["f1"], row["documents"])
        assert numbers == pytest.approx((precision[number], recall[number], f1[number], support[number]))


def test_the_mistakes_shown_are_the_surest_of_all(folder: Path) -> None:
    said = json.loads(done("evaluate", "m", "test.tsv", "--json", "--worst", "4", cwd=folder))
    posterior = MODEL.posterior([text for _, text in TEST])
    wrong = [
        (float(row.max()), number)
        for number, (row, (label, _)) in enumerate(zip(posterior, TEST, strict=True))
        if MODEL.classes[int(row.argmax())] != label
    ]
    worst = sorted(wrong, reverse=True)[:4]
    assert [each["origin"] for each in said["mistakes"]] == [
        f"test.tsv, line {number + 1}" for _, number in worst
    ]
    assert [each["probability"] for each in said["mistakes"]] == pytest.approx([sure for sure, _ in worst])


def test_the_terminal_shows_the_matrix_and_the_mistakes_with_their_reasons(folder: Path) -> None:
    out = done("evaluate", "m", "test.tsv", "--worst", "1", cwd=folder)
    assert "true \\ answer" in out
    assert "The surest mistakes" in out
    assert "taken for" in out
    assert "log odds against" in out
    assert "\x1b" not in out


def test_a_class_that_was_never_learned_is_counted_as_a_mistake(folder: Path) -> None:
    out = done(
        "evaluate",
        "-q",
        "m",
        "-",
        "--json",
        stdin="eggs\tclaim your prize\nham\tsee you at noon\n",
        cwd=folder,
    )
    said = json.loads(out)
    assert said["accuracy"] == 0.5
    assert [row["class"] for row in said["classes"]] == ["ham", "spam", "eggs"]


def test_the_report_is_one_page_with_three_plots_and_fetches_nothing(folder: Path) -> None:
    done("evaluate", "-q", "m", "test.tsv", "--html", "report.html", cwd=folder)
    page = (folder / "report.html").read_text("utf-8")
    plots = [part.partition("</svg>")[0] for part in page.split("<svg")[1:]]
    assert len(plots) == 3
    for plot in plots:
        ElementTree.fromstring(f"<svg{plot}</svg>")
    assert not any(word in page for word in ("<script", "src=", "href=", "@import", "url("))
    accuracy = np.mean(
        [
            answer == label
            for answer, (label, _) in zip(MODEL.predict([t for _, t in TEST]), TEST, strict=True)
        ]
    )
    assert f"<b>{accuracy:.4f}</b>" in page


def test_markup_in_labels_and_texts_stays_text(tmp_path: Path) -> None:
    rows = [("<b>[red][/x]", "<script>alert(1)</script> [bold]x[/] \x1b[31m"), ("b", "[/] other & more")]
    bayleaf.Model().learn([text for _, text in rows], [label for label, _ in rows]).save(tmp_path / "m")
    swapped = f"b\t{rows[0][1]}\n"
    out = done("evaluate", "-q", "m", "-", "--html", "r.html", stdin=swapped, cwd=tmp_path)
    assert "[bold]x[/]" in out
    assert "<b>[red][/x]" in out
    assert "\x1b" not in out
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;b&gt;[red][/x]" in page
    assert "[red][/x]" in done("inspect", "m", cwd=tmp_path)


def test_the_parts_of_an_explanation_sum_to_its_score(folder: Path) -> None:
    said = json.loads(done("explain", "m", "Claim your free prize", "--json", cwd=folder))
    total = said["prior"] + said["absent_terms"] + sum(part["log_odds"] for part in said["parts"])
    assert total == pytest.approx(said["log_odds"])
    assert said["label"] == "spam"
    against = json.loads(
        done("explain", "m", "-", "--class", "ham", "--json", stdin="Claim your free prize", cwd=folder)
    )
    assert against["log_odds"] == pytest.approx(-said["log_odds"])


def test_an_explanation_can_be_written_as_a_page(folder: Path) -> None:
    done("explain", "m", "Claim your <free> prize", "--html", "why.html", cwd=folder)
    assert "&lt;" in (folder / "why.html").read_text("utf-8")
    assert "no class 'eggs'" in refused(1, "explain", "m", "x", "--class", "eggs", cwd=folder)


def test_inspect_shows_settings_classes_and_the_strongest_terms(folder: Path) -> None:
    said = json.loads(done("inspect", "m", "--json", "--terms", "3", cwd=folder))
    assert said["documents"] == len(TRAIN)
    assert said["terms"] == [MODEL.counts().n_terms]
    assert said["bytes"] == (folder / "m").stat().st_size
    assert {row["class"]: row["documents"] for row in said["classes"]} == MODEL.class_documents
    assert sum(row["prior"] for row in said["classes"]) == pytest.approx(1)
    assert [tuple(pair) for pair in said["top_terms"]["spam"][0]] == MODEL.top_terms("spam", 3)
    shown = done("inspect", "m", "--class", "spam", cwd=folder)
    assert "words(ngrams=(1, 2))" in shown
    assert MODEL.top_terms("spam", 1)[0][0] in shown


def test_tokens_are_those_of_the_view_or_of_the_model(folder: Path) -> None:
    out = done(
        "tokens", "He swims in the Oceans", "--ngrams", "1", "--stop-words", "english", "--stemmer", "porter"
    )
    assert out.split() == ["swim", "ocean"]
    said = json.loads(done("tokens", "--model", "m", "--json", stdin="Call me", cwd=folder))
    assert said == bayleaf.words(ngrams=2).tokens("Call me")


def test_the_demo_learns_measures_explains_and_restores_every_byte() -> None:
    out = done("demo")
    for said in (
        "accuracy",
        "true \\ answer",
        "log odds against",
        "the same model, byte for byte",
        "Saved in",
    ):
        assert said in out
    assert "\x1b" not in out


def test_version_and_help_name_every_command() -> None:
    assert done("--version") == f"bayleaf {bayleaf.__version__}\n"
    shown = call().stdout + call().stderr
    for name in ("train", "classify", "evaluate", "explain", "inspect", "update", "forget", "merge", "prune"):
        assert f"  {name} " in shown
