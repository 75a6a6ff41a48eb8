"""Explanations: the parts sum to the score, stand where they say, and are safe to show."""

from __future__ import annotations

import json
import math
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Explanation, Model, bytes_, chars, words
from strategies import Corpus, corpora, texts

MAIL = Model().learn(
    ["win a prize", "win money", "see you at noon", "lunch at noon"], ["spam"] * 2 + ["ham"] * 2
)


class Shown(HTMLParser):
    """The text that a browser would show, and the tags around it."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text, self.tags = "", set[str]()
        self.open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:  # noqa: ARG002
        self.tags.add(tag)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_table_names_every_term_its_count_and_its_log_odds() -> None:
    lines = str(MAIL.explain("Win, win at nothing")).splitlines()
    assert lines[0].startswith("spam: ")
    assert lines[0].endswith("(log odds against ham)")
    rows = {line.split("  ")[0].strip(): float(re.findall(r"[+-]\d+\.\d+", line)[0]) for line in lines[1:]}
    # F(win)=2 of 5 tokens, F(at)=2 of 7; 9 terms.
    twice, once = 2 * np.log((3 / 14) / (1 / 16)), np.log((1 / 14) / (3 / 16))
    expected = {"prior": 0.0, "win ×2": twice, "at": once, "nothing": 0.0, "sum": twice + once}
    assert rows == pytest.approx(expected, abs=0.0006)


def test_a_long_table_says_what_it_leaves_out() -> None:
    found = MAIL.explain("win a prize money see you at noon lunch")
    shown = found.to_text(most=3)
    assert "(6 more)" in shown
    assert len(shown.splitlines()) == 1 + 1 + 3 + 1 + 1


@given(corpora(), texts(), st.sampled_from(["multinomial", "bernoulli", "complement"]))
def test_the_dict_holds_numbers_that_sum_and_goes_through_json(corpus: Corpus, text: str, event: Any) -> None:
    found = Model([words(event=event), chars(2)]).learn(*corpus).explain(text)
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    total = kept["prior"] + kept["absent_terms"] + sum(part["log_odds"] for part in kept["parts"])
    assert total == pytest.approx(kept["log_odds"], abs=1e-9)
    assert kept["label"] == found.label
    assert kept["probability"] == pytest.approx(max(kept["posterior"].values()), abs=1e-12)
    assert sum(kept["posterior"].values()) == pytest.approx(1, abs=1e-9)
    for part in kept["parts"]:
        assert 0 <= part["start"] <= part["end"] <= len(kept["text"])


@given(corpora(), texts(), st.sampled_from([0.0, 1.0]))
@pytest.mark.filterwarnings("ignore:.*impossible in every class")
def test_html_shows_the_text_and_nothing_that_it_could_run(corpus: Corpus, text: str, alpha: float) -> None:
    attack = f"{text} <script>alert('x')</script> & \"<b onclick=a>"
    labels = [f"<i>{label}" for label in corpus[1]]
    found = (
        Model([words(), chars(3)], alpha=alpha).learn([*corpus[0], attack], [*labels, "<u>"]).explain(attack)
    )
    shown = Shown(found.to_html())
    assert shown.tags <= {"div", "p", "b", "span", "table", "tr", "td"}
    assert not shown.open
    lines = attack.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    assert lines in shown.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "\ufffd")
    assert str(found.label) in shown.text
    assert found._repr_html_() == found.to_html()


def test_html_colors_what_speaks_for_the_label_blue_and_what_speaks_against_it_orange() -> None:
    found = MAIL.explain("win at")
    page = found.to_html()
    colors = re.findall(r"rgba\((\d+,\d+,\d+),[^>]*>([^<]+)<", page)
    legend = [("31,131,196", f"for {found.label}"), ("213,94,0", f"for {found.against}")]
    assert colors == [("31,131,196", "win"), ("213,94,0", "at"), *legend]
    for term, _, odds in found.terms():
        assert f"<tr><td>{term}</td><td>{odds:+.3f}</td></tr>" in page


def test_terms_say_which_view_or_column_they_come_from() -> None:
    mail = Model({"subject": words(), "body": [words(), chars(4, within_words=False)]})
    mail.learn({"subject": ["free", "lunch"], "body": ["be free now", "at noon"]}, ["spam", "ham"])
    found = mail.explain({"subject": "free", "body": "be free"})
    terms = [term for term, _, _ in found.terms()]
    assert {"free [subject: words]", "free [body: words]", "free [body: chars]"} < set(terms)
    assert "be␣f [body: chars]" in terms
    assert {part["view"] for part in found.to_dict()["parts"]} == {
        "subject: words",
        "body: words",
        "body: chars",
    }
    assert "free [subject: words]" in found.to_text()
    assert "free [subject: words]" in found.to_html()


def test_what_weights_were_fitted_beside_is_an_intercept() -> None:
    texts, labels = ["win now", "see you"] * 40, ["spam", "ham"] * 40
    model = Model([words()]).learn(texts, labels)
    assert "\nprior " in model.explain("win").to_text()
    tuned = model.tune(texts, labels, "views").explain("win")
    assert "\nintercept " in tuned.to_text()
    assert tuned.to_dict()["intercept"] is True


@pytest.mark.parametrize("view", [words(2), chars(3), chars(2, within_words=False)])
def test_spans_of_several_columns_stand_in_the_text_that_is_shown(view: Any) -> None:
    table = {"subject": ["win a Café", "noon"], "body": ["the Prize", "see you"]}
    model = Model({"subject": view, "body": words()}).learn(table, ["spam", "ham"])
    found = model.explain({"subject": "a Café", "body": "see the Prize"})
    places = {
        part.term: found.text[part.start : part.end] for part in found.parts if part.view == "body: words"
    }
    assert places == {"see": "see", "the": "the", "prize": "Prize"}
    for part in found.parts:
        if part.view.startswith("subject"):
            assert found.text[part.start : part.end].lower() == part.term.strip() or view.kind == "chars"
    total = found.log_prior + found.bias + sum(part.scores for part in found.parts)
    row = {"subject": ["a Café"], "body": ["see the Prize"]}
    assert total == pytest.approx(model.log_joint(row)[0], abs=1e-9)


@given(
    st.binary(max_size=30),
    st.sampled_from(["count", "binary", "normalized"]),
    st.sampled_from(["ignore", "smooth"]),
)
def test_bytes_that_are_no_text_are_explained_too(document: bytes, tf: Any, unseen: Any) -> None:
    model = Model([bytes_(1, 2, tf=tf)], unseen=unseen).learn([b"\xff\xfe\0abc", "é".encode()], [0, 1])
    found = model.explain(document)
    total = found.log_prior + found.bias + sum(part.scores for part in found.parts)
    assert total == pytest.approx(model.log_joint([document])[0], abs=1e-9)
    assert all(part.end <= len(found.text) for part in found.parts)


def test_another_label_can_be_asked_about() -> None:
    found = MAIL.explain("win", label="ham")
    assert (found.label, found.against) == ("ham", "spam")
    assert found.probability == pytest.approx(MAIL.posterior(["win"])[0, 0])
    assert found.log_odds(found.log_joint) < 0
    with pytest.raises(ValueError, match=r"There is no class 'eggs'\. The classes are \['ham', 'spam'\]\."):
        MAIL.explain("win", label="eggs")


def test_one_class_alone_is_explained_by_its_own_score() -> None:
    found = Model().learn(["a b"], ["only"]).explain("a")
    assert found.against is None
    assert found.probability == 1
    assert "log odds" in found.to_text()
    assert "only" in found.to_html()


def impossible() -> Explanation:
    model = Model(alpha=0, priors={"x": 1.0, "y": 0.0}).learn(["a", "b"], ["x", "y"])
    with pytest.warns(UserWarning, match="impossible"):
        return model.explain("a b")


def test_what_is_impossible_is_shown_as_infinite() -> None:
    found = impossible()
    assert "inf" in found.to_text()
    assert "x" in found.to_html()
    assert found.posterior.tolist() == [1, 0]


def test_what_is_infinite_goes_through_strict_json_and_back_with_its_sign() -> None:
    found = impossible()
    kept = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert kept["log_joint"] == {"x": "-Infinity", "y": "-Infinity"}
    odds = {part["term"]: float(part["log_odds"]) for part in kept["parts"]}
    assert odds == {"a": math.inf, "b": -math.inf}
    assert float(kept["prior"]) == math.inf


def test_classes_of_the_same_text_are_told_apart_in_the_dict() -> None:
    model = Model().learn(["a", "b", "b"], [1, "1", "1"])
    assert model.explain("a").to_dict()["posterior"].keys() == {"1", "'1'"}
    plain = Model().learn(["a", "b"], [1, "x"])
    assert plain.explain("a").to_dict()["posterior"].keys() == {"1", "x"}


def test_top_terms_are_those_with_the_highest_log_odds() -> None:
    terms = MAIL.top_terms("spam", 2)
    assert [term for term, _ in terms] == ["win", "a"]
    assert terms[0][1] == pytest.approx(np.log((3 / 14) / (1 / 16)))
    assert len(MAIL.top_terms("ham", 100)) == 5
    with pytest.raises(ValueError, match="There is no class 'eggs'"):
        MAIL.top_terms("eggs")
    with pytest.raises(ValueError, match=r"There is no view 7\. The views are \{0: "):
        MAIL.top_terms("spam", view=7)
