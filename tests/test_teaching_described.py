"""What OpenAPI says of the page is what its service answers, path by path."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from teaching_process import TEXTS, Teaching, serving, session, teaching, with_key


def check(page: Teaching, described: dict[str, Any], name: str, body: dict[str, Any] | None = None) -> Any:
    """Ask, and hold question and answer to their schemas; gives the answer."""
    operation = described["paths"][f"/models/{{name}}/page/{name}"]["post"]
    components = {"components": described["components"]}
    asked = operation["requestBody"]["content"]["application/json"]["schema"]
    Draft202012Validator(asked | components).validate(body or {})
    reply = page.reply(name, body)
    responses = operation["responses"]
    content = responses.get(str(reply.status), responses["default"])["content"]
    schema = content[reply.headers["content-type"]]["schema"]
    if schema:
        Draft202012Validator(schema | components).validate(reply.json)
        known = described["components"]["schemas"][schema["$ref"].rpartition("/")[2]]["properties"]
        assert set(reply.json) <= set(known), f"{name} answers more than is described"
    return reply.json if schema else None


def test_every_path_of_the_page_is_described_and_answers_as_described(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, "--classes", "ham,spam", folder=with_key(tmp_path / "described")) as page:
        described = page.get("/openapi.json").json
        validate(described)
        assert not any("." in name for name in described["components"]["schemas"])
        shown = session(page, 40)
        assert shown is not None
        check(page, described, "next")
        body = {"item": shown["item"], "how": shown["how"], "label": "ham", "key": "one"}
        check(page, described, "label", body)
        hits = check(page, described, "hits", {"search": "free"})["hits"]
        items = [hit["item"] for hit in hits[:3]]
        check(page, described, "label-all", {"items": items, "label": "spam", "key": "all"})
        second = check(page, described, "next", {"order": "second", "person": "bob"})["next"]
        other = "ham" if second["label"] == "spam" else "spam"
        opinion = {"item": second["item"], "how": "second", "label": other, "key": "two", "person": "bob"}
        check(page, described, "label", opinion | {"order": "second"})
        assert check(page, described, "disagreements")["pairs"]
        assert check(page, described, "progress")["hold_out"]
        assert check(page, described, "curve")["points"]
        assert check(page, described, "watch")["progressive"]
        for name in ("state", "suspects", "labeled", "history"):
            check(page, described, name)
        check(page, described, "labeled", {"asked_below": 0.9, "label": "spam"})
        check(page, described, "why", {"item": shown["item"]})
        check(page, described, "effect", {"item": shown["item"]})
        check(page, described, "word", {"word": "free"})
        check(page, described, "classes", {"add": "newsletter"})
        check(page, described, "undo", {"what": "last"})
        for name in ("tsv", "jsonl", "prodigy", "doccano", "label-studio", "parquet", "model"):
            check(page, described, "export", {"format": name})
        paths = {path for path in described["paths"] if "/page/" in path}
        assert len(paths) == 18
        for wrong in ({"item": "p999999"}, {"item": 7}, {"itme": "p1"}):
            check_refused(page, described, wrong)


def check_refused(page: Teaching, described: dict[str, Any], body: dict[str, Any]) -> None:
    """What is refused fits the description of problems."""
    reply = page.reply("why", body)
    assert reply.status in (404, 422)
    problem = described["paths"]["/models/{name}/page/why"]["post"]["responses"]["default"]
    schema = problem["content"][reply.headers["content-type"]]["schema"]
    Draft202012Validator(schema | {"components": described["components"]}).validate(reply.json)


def test_the_history_of_a_filter_is_answered_as_described(tmp_path: Path) -> None:
    from bayleaf import Model, words

    Model([words()]).learn(TEXTS[:2], ["ham", "spam"]).save(tmp_path / "spam.bayleaf")
    with serving(tmp_path / "filter", "--model", f"spam={tmp_path / 'spam.bayleaf'}") as page:
        page.post("/models/spam/classify", {"text": "free prize"})
        assert check(page, page.get("/openapi.json").json, "history")["questions"]
