"""train, update, forget, merge and prune make the models that the library makes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import bayleaf
from bayleaf.text.views import View
from cli_process import COMMAND, ENVIRONMENT, done, messages, refused, write_tsv
from cli_process import bayleaf as bayleaf_process

CORPUS = messages()
DEFAULT = [bayleaf.words(ngrams=2), bayleaf.chars(3, 5)]
"""How the messages, which are short, are looked at if nothing is said."""


def learned(
    views: Sequence[View], rows: list[tuple[str, str]], tuning: str | None = None, **settings: object
) -> bytes:
    model = bayleaf.Model(views, **settings)  # type: ignore[arg-type]
    texts, labels = [text for _, text in rows], [label for label, _ in rows]
    return model.learn(texts, labels).tune(texts, labels, tuning).to_bytes()  # type: ignore[arg-type]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write_tsv(tmp_path / "messages.tsv", CORPUS)


OPTIONS: list[tuple[list[str], Sequence[View], dict[str, object]]] = [
    ([], DEFAULT, {}),
    (["--preset", "text"], [bayleaf.words(ngrams=2)], {}),
    (["--plain"], [bayleaf.words()], {"alpha": 1.0}),
    (
        ["--sparse", "3", "--tokenizer", "words+punctuation", "--keep", "url", "--stop-words", "top:20"],
        [
            bayleaf.words(
                ngrams=2, sparse=3, tokenizer="words+punctuation", keep=["url"], stop_words=bayleaf.top(20)
            )
        ],
        {},
    ),
    (["--preset", "languages"], [bayleaf.chars(1, 5, alpha=0.1)], {}),
    (["--preset", "language", "--alpha", "0.5"], [bayleaf.chars(1, 5)], {"alpha": 0.5}),
    (["--preset", "messages"], bayleaf.preset("messages"), {}),  # type: ignore[list-item]
    (["--ngrams", "2-3", "--alpha", "0.5"], [bayleaf.words(ngrams=(2, 3))], {"alpha": 0.5}),
    (["--chars", "2-3", "--priors", "uniform"], [bayleaf.chars(2, 3)], {"priors": "uniform"}),
    (["--bytes", "3", "--words"], [bayleaf.words(ngrams=2), bayleaf.bytes_(3)], {}),
    (
        ["--priors", "ham=0.75,spam=0.25", "--unseen", "smooth", "--event", "bernoulli"],
        [bayleaf.words(ngrams=2, event="bernoulli")],
        {"priors": {"ham": 0.75, "spam": 0.25}, "unseen": "smooth"},
    ),
    (
        [
            "--ngrams",
            "1",
            "--stop-words",
            "english",
            "--stemmer",
            "porter",
            "--min-length",
            "2",
            "--no-lower",
        ],
        [bayleaf.words(stop_words="english", stemmer="porter", min_length=2, lower=False)],
        {},
    ),
]


@pytest.mark.parametrize(
    ("options", "views", "settings"), OPTIONS, ids=lambda value: " ".join(map(str, value))[:40]
)
def test_train_writes_the_model_that_the_library_writes(
    corpus: Path, options: list[str], views: Sequence[View], settings: dict[str, object]
) -> None:
    out, counted_only = corpus.parent / "out.model", "--plain" in options
    done("train", corpus, "-o", out, *options)
    assert out.read_bytes() == learned(views, CORPUS, None if counted_only else "auto", **settings)


@pytest.mark.parametrize("level", ["auto", "terms", "views", "temperature", "none"])
def test_the_evidence_is_weighed_on_the_level_that_is_named(tmp_path: Path, level: str) -> None:
    corpus, out = write_tsv(tmp_path / "messages.tsv", CORPUS), tmp_path / "m"
    said = json.loads(done("train", "-q", corpus, "-o", out, "--tuning", level, "--json"))["tuning"]
    views = DEFAULT[:1] if level in ("temperature", "none") else DEFAULT
    assert out.read_bytes() == learned(views, CORPUS, None if level == "none" else level)
    judged = bayleaf.Model.load(out).judgment
    assert (said and said["level"]) == (judged and judged.level)
    if level not in ("auto", "none"):
        assert said == {
            "level": level,
            "stale": False,
            "penalty": said["penalty"],
            "log_loss": said["log_loss"],
            "names": judged and judged.names,
        }
        shown = done("inspect", out)
        assert "Tuned: " in shown
        assert ("words of class names weigh" in shown) == (level == "terms") == bool(said["names"])
        assert json.loads(done("inspect", out, "--json"))["tuning"] == said
    assert "See 'bayleaf train --help'" in refused(
        2, "train", corpus, "-o", out, "--plain", "--tuning", "terms"
    )


def test_a_level_that_the_event_model_cannot_have_is_refused_before_reading(tmp_path: Path) -> None:
    said = refused(
        2, "train", "absent.tsv", "-o", tmp_path / "m", "--event", "bernoulli", "--tuning", "terms"
    )
    assert "needs a view of text with the plain event" in said


def test_few_documents_are_weighed_as_well(tmp_path: Path) -> None:
    corpus, out = write_tsv(tmp_path / "few.tsv", CORPUS[:20]), tmp_path / "m"
    assert json.loads(done("train", "-q", corpus, "-o", out, "--json"))["tuning"]["level"] == "terms"
    said = json.loads(done("train", "-q", corpus, "-o", out, "--json", "--tuning", "views"))["tuning"]
    assert said["level"] == "views"


def test_weights_are_stale_after_an_update_until_they_are_renewed(tmp_path: Path) -> None:
    first, second = write_tsv(tmp_path / "a.tsv", CORPUS[:500]), write_tsv(tmp_path / "b.tsv", CORPUS[500:])
    model, earlier = tmp_path / "m", tmp_path / "earlier"
    done("train", "-q", first, "-o", model)
    earlier.write_bytes(model.read_bytes())
    ran = bayleaf_process("update", model, second)
    assert ran.returncode == 0
    assert "earned on other documents" in ran.stderr
    assert ", stale, " in ran.stdout
    assert json.loads(done("inspect", model, "--json"))["tuning"]["stale"]
    assert done("classify", "-q", model, "-", stdin="claim your free prize\n") == "spam\n"
    assert "spam" in done("explain", model, "claim your free prize")
    updated = model.read_bytes()
    said = json.loads(done("retune", "-q", model, first, second, "--json"))
    assert not said["tuning"]["stale"]
    assert said["before"] == said["after"]
    assert model.read_bytes() == learned(DEFAULT, CORPUS, "auto")
    done("retune", "-q", model, first, "--tuning", "none")
    assert model.read_bytes() == learned(DEFAULT, CORPUS)
    model.write_bytes(updated)
    assert bayleaf_process("forget", model, second).stderr.count("earned on other") == 0
    assert model.read_bytes() == earlier.read_bytes()


def test_documents_that_were_not_learned_cannot_renew_the_weights(tmp_path: Path, corpus: Path) -> None:
    model = tmp_path / "m"
    done("train", "-q", corpus, "-o", model)
    before = model.read_bytes()
    spam = next(text for label, text in CORPUS if label == "spam")
    said = refused(1, "retune", "-q", model, "-", stdin=f"ham\t{spam}\nspam\t{spam}\n")
    assert "learned" in said
    assert model.read_bytes() == before


def test_of_more_documents_than_are_kept_a_sample_is_weighed_and_this_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bayleaf.cli import weighing

    monkeypatch.setattr(weighing, "MOST_BYTES", 20_000)
    model = bayleaf.Model([bayleaf.words()])
    column, labels = np.array([text for _, text in CORPUS]), np.array([label for label, _ in CORPUS])
    model.learn(column, labels)
    for level, sampled in (("auto", True), ("views", False)):
        kept = weighing.kept_for(level)  # type: ignore[arg-type]
        assert kept is not None
        kept.add(column, labels)
        kept.thin()
        remarks = Remarks()
        weighing.weigh(model, kept, level, remarks)  # type: ignore[arg-type]
        assert model.judgment is not None
        assert ("earned on a sample of" in capsys.readouterr().err + "".join(remarks)) == sampled
        assert (len(kept.labels) < len(CORPUS)) == sampled


class Remarks(list[str]):
    """Stands for standard error."""

    quiet = True
    remark = list.append


def test_the_same_documents_in_any_layout_train_the_same_model(tmp_path: Path) -> None:
    rows = CORPUS[:40]
    write_tsv(tmp_path / "plain.tsv", rows)
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"label": a, "text": b}) + "\n" for a, b in rows))
    for number, (label, text) in enumerate(rows):
        folder = tmp_path / "folders" / label
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number}.txt").write_text(text, "utf-8")
    made = []
    for source in ("plain.tsv", "rows.jsonl", "folders"):
        done("train", "-q", source, "-o", "out", "--tuning", "none", cwd=tmp_path)
        made.append((tmp_path / "out").read_bytes())
    stdin = (tmp_path / "plain.tsv").read_bytes()
    done("train", "-q", "-", "-o", "out", "--tuning", "none", cwd=tmp_path, stdin=stdin)
    made.append((tmp_path / "out").read_bytes())
    assert set(made) == {learned([bayleaf.words(ngrams=2)], rows)}


def test_training_says_what_the_input_was_taken_for_unless_it_is_to_be_quiet(corpus: Path) -> None:
    command = [*COMMAND, "train", "--plain", corpus.name, "-o", "m"]
    ran = subprocess.run(
        command, cwd=corpus.parent, env=ENVIRONMENT, capture_output=True, encoding="utf-8", check=True
    )
    assert ran.stderr == "Reading messages.tsv as tsv: text in 'text', label in 'label'.\n"
    model = bayleaf.Model.load(corpus.parent / "m")
    terms = model.counts().n_terms
    assert ran.stdout.startswith(f"m: 956 documents, 2 classes, {terms:,} terms, ")
    quiet = subprocess.run(
        [*command, "-q"], cwd=corpus.parent, env=ENVIRONMENT, capture_output=True, check=True
    )
    assert quiet.stderr == b""


def test_a_held_out_part_is_measured_first_and_then_learned(corpus: Path) -> None:
    out = done("train", corpus, "-o", "m", "--holdout", "0.25", "--json", cwd=corpus.parent)
    said = json.loads(out)
    assert 190 < said["test"]["documents"] < 290
    assert 0.8 < said["test"]["accuracy"] < 1
    assert said["documents"] == {"ham": 622, "spam": 334}
    judged = bayleaf.Model.load(corpus.parent / "m").judgment
    assert judged is not None
    assert judged.documents == said["documents"]
    done("retune", "-q", "m", corpus, "--tuning", "none", cwd=corpus.parent)
    assert (corpus.parent / "m").read_bytes() == learned(DEFAULT, CORPUS)
    assert (
        json.loads(done("train", corpus, "-o", "m", "--holdout", "0.25", "--json", cwd=corpus.parent))["test"]
        == said["test"]
    )


def test_a_test_set_is_measured_and_not_learned(tmp_path: Path) -> None:
    train, test = write_tsv(tmp_path / "a.tsv", CORPUS[:800]), write_tsv(tmp_path / "b.tsv", CORPUS[800:])
    out = done("train", train, "-o", tmp_path / "m", "--test", test)
    assert "accuracy" in out
    assert "true \\ answer" in out
    assert (tmp_path / "m").read_bytes() == learned(DEFAULT, CORPUS[:800], "auto")


def test_parts_updated_merged_and_forgotten_give_the_bytes_of_the_whole(tmp_path: Path) -> None:
    first, second = write_tsv(tmp_path / "a.tsv", CORPUS[:300]), write_tsv(tmp_path / "b.tsv", CORPUS[300:])
    whole = learned([bayleaf.words(ngrams=2)], CORPUS)
    a, b, sum_ = (tmp_path / name for name in ("a.model", "b.model", "sum.model"))
    done("train", "-q", first, "-o", a, "--tuning", "none")
    alone = a.read_bytes()
    done("train", "-q", second, "-o", b, "--tuning", "none")
    done("merge", a, b, "-o", sum_)
    assert sum_.read_bytes() == whole
    done("update", "-q", a, second)
    assert a.read_bytes() == whole
    said = json.loads(done("forget", "-q", a, second, "--json"))
    assert a.read_bytes() == alone
    assert said["before"]["documents"] - said["after"]["documents"] == len(CORPUS) - 300


def test_what_was_never_learned_is_not_forgotten_and_the_model_stays(tmp_path: Path, corpus: Path) -> None:
    model = tmp_path / "m"
    done("train", "-q", corpus, "-o", model)
    before = model.read_bytes()
    said = refused(1, "forget", model, "-", stdin="ham\tzebra crossing\n")
    assert "zebra" in said
    assert "as it was" in said
    assert "bizarre" in refused(1, "forget", model, "-", stdin="bizarre\tcall me\n")
    assert model.read_bytes() == before


def test_models_that_look_differently_are_not_merged(tmp_path: Path, corpus: Path) -> None:
    done("train", "-q", corpus, "-o", tmp_path / "a", "--plain")
    done("train", "-q", corpus, "-o", tmp_path / "b", "--chars", "2")
    assert "look at their documents differently" in refused(
        1, "merge", tmp_path / "a", tmp_path / "b", "-o", tmp_path / "c"
    )
    assert not (tmp_path / "c").exists()


def test_pruning_says_what_is_lost_and_the_small_model_answers(tmp_path: Path, corpus: Path) -> None:
    model, small = tmp_path / "m", tmp_path / "small"
    done("train", "-q", corpus, "-o", model, "--preset", "text")
    before = model.read_bytes()
    said = json.loads(done("prune", model, "-o", small, "--min-documents", "3", "--json"))
    assert said["before"]["terms"] == bayleaf.Model.load(model).counts().n_terms
    assert said["after"]["terms"] == bayleaf.Model.load(small).counts().n_terms < 3000
    assert said["bytes"] == small.stat().st_size < len(before) / 3
    assert model.read_bytes() == before
    assert done("classify", "-q", small, "-", stdin="claim your free prize\n") == "spam\n"
    assert "Say what to drop" in refused(2, "prune", model)


def test_classes_that_are_numbers_in_the_model_are_found_by_labels_that_are_text(tmp_path: Path) -> None:
    model = bayleaf.Model().learn(["good film", "bad film"], [1, 0])
    model.save(tmp_path / "m")
    done("update", "-q", "--new-class", tmp_path / "m", "-", stdin="1\tgood play\n2\tso so\n")
    assert bayleaf.Model.load(tmp_path / "m").class_documents == {0: 1, 1: 2, "2": 1}
    assert done("classify", "-q", tmp_path / "m", "-", stdin="good play\n") == "1\n"
    assert (
        json.loads(done("evaluate", "-q", tmp_path / "m", "-", "--json", stdin="1\tgood play\n"))["accuracy"]
        == 1
    )


def test_a_class_that_is_new_to_the_weights_is_said_by_both_ways_to_update(tmp_path: Path) -> None:
    model = tmp_path / "m"
    bayleaf.NaiveBayes().fit([text for _, text in CORPUS], [label for label, _ in CORPUS]).save(model)
    remark = f"The weights in {model} were earned without the class 'other': it will be found too rarely."
    ran = bayleaf_process("update", model, "-", "--new-class", stdin="other\tbonjour le monde\n")
    assert ran.returncode == 0
    assert remark in ran.stderr
    ran = bayleaf_process("update", model, "--label", "ham", "-", stdin="lunch at noon\n")
    assert ran.returncode == 0
    assert remark in ran.stderr
