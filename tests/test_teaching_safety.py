"""The page and strangers: a strict policy, no request from other sites, nonsense refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayleaf.service.page.actions import HELD
from teaching_process import rows_of, teaching


def test_the_page_has_a_strict_policy_and_every_file_is_served(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "policy") as page:
        index = page.get("/", Accept="text/html,*/*")
        assert "default-src 'none'" in index.headers["content-security-policy"]
        assert "unsafe" not in index.headers["content-security-policy"]
        assert index.headers["x-content-type-options"] == "nosniff"
        assert "set-cookie" not in index.headers
        assert page.get("/").json["models"] == ["texts"]
        names = set(re.findall(r'"(?:/page|\.)/([\w.]+)"', index.body.decode()))
        while names:
            name = names.pop()
            found = page.get(f"/page/{name}")
            assert found.status == 200, name
            if name.endswith(".js") and "seen" not in found.headers:
                body = found.body.decode()
                assert "innerHTML" not in body
                assert "http://" not in body.replace("http://www.w3.org/2000/svg", "")
                assert "https://" not in body
        assert page.get("/page/nothing.js").status == 404


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Host": "evil.example"},
        {"Content_Type": "text/plain"},
        {"Content_Type": "application/x-www-form-urlencoded"},
    ],
)
def test_a_page_of_another_site_can_change_nothing(
    headers: dict[str, str], corpus: Path, tmp_path: Path
) -> None:
    with teaching(corpus, folder=tmp_path / "csrf") as page:
        shown = page.page("next")["next"]
        body = {"item": shown["item"], "how": shown["how"], "label": "spam", "key": "evil"}
        assert page.reply("label", body, **headers).status in (403, 415)
        assert rows_of(page) == []


def test_nonsense_is_refused_with_a_sentence(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "nonsense") as page:
        shown = page.page("next")["next"]
        good = {"item": shown["item"], "how": "ask", "label": "x", "key": "1"}
        for changed in (
            {"item": "p999999"}, {"item": "d" + "0" * 40}, {"item": "dzz"}, {"item": "'; DROP TABLE text"},
            {"label": ""}, {"label": "a\nb"}, {"label": True}, {"label": "x" * 300}, {"key": ""}, {"odd": 1},
        ):  # fmt: skip
            reply = page.reply("label", good | changed)
            assert reply.status in (404, 422), changed
            assert reply.json["detail"].endswith(".")
        assert rows_of(page) == []
        assert page.reply("why", {"item": shown["item"]}).status == 409


def test_a_hold_out_user_cannot_be_sent_by_a_client(corpus: Path, tmp_path: Path) -> None:
    with teaching(corpus, folder=tmp_path / "user") as page:
        reply = page.post("/models/texts/learn", {"text": "x", "label": "ham", "user": HELD})
        assert reply.status == 422
