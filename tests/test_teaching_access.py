"""The page in a real browser, for everybody and against everybody: screen readers, hostile texts, tokens."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from cli_process import done
from teaching_browser import NEXT, TEXT, Tab, opened
from teaching_process import TRUTH, serving, teaching, with_key, write_jsonl

HOSTILE = [
    "<script>document.title='hacked'</script><img src=x onerror=\"document.title='hacked'\">",
    "</div><style>*{display:none}</style><svg onload=alert(1)>",
    "right \u202eto left\u202c and \u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "control \x00\x01\x07\x1b[31m\x7f characters",
    "{{constructor.constructor('alert(1)')()}} ${7*7} javascript:alert(1)",
    "x" * 1_000_000,
    "a\u0301" * 300 + "\u200b\u200d\ufeff\U0001f600",
]


def test_hostile_texts_are_shown_as_text(chromium: Any, tmp_path: Path) -> None:
    corpus = write_jsonl(tmp_path / "hostile.jsonl", HOSTILE)
    with teaching(corpus, "--classes", "<b>bold</b>,ham", folder=tmp_path / "hostile") as page:
        with opened(chromium, page, viewport={"width": 390, "height": 800}) as tab:
            seen = []
            for _ in HOSTILE:
                seen.append(tab.text[:200])
                assert tab.page.title() == "bayleaf: teach"
                assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
                assert (
                    tab.page.eval_on_selector_all(
                        "#document script, #document img, #document svg", "all => all.length"
                    )
                    == 0
                )
                tab.press("1" if len(seen) % 2 else "2")
            assert any(text.startswith("<script>document.title") for text in seen)
            assert any("␀␁␇␛[31m␡" in text for text in seen)
            assert not any("\u202e" in text for text in seen)
            assert tab.text.startswith("There is nothing left")
            for view in ("review", "watch", "take"):
                tab.view(view)
                assert tab.page.title() == f"bayleaf: {view}"
                assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view
        assert {each["label"] for each in page.page("labeled")["documents"]} == {"<b>bold</b>", "ham"}


def test_a_token_is_asked_for_and_goes_into_no_address(chromium: Any, corpus: Path, tmp_path: Path) -> None:
    folder = tmp_path / "token"
    done("teach", corpus, "--classes", "ham,spam", "--folder", folder, "--check")
    token = done("serve", folder, "--token", "ann").strip()
    with serving(folder) as page:
        context = chromium.new_context()
        sheet = context.new_page()
        fetched: list[str] = []
        sheet.on("request", lambda request: fetched.append(request.url))
        sheet.goto(page.url)
        sheet.fill("#token", token)
        sheet.press("#token", "Enter")
        sheet.wait_for_function("() => document.getElementById('document')?.textContent.length > 0")
        before = sheet.evaluate(TEXT)
        sheet.keyboard.press("1")
        sheet.wait_for_function(NEXT, arg=before)
        assert not any(token in url for url in [*fetched, sheet.url])
        assert context.cookies() == []
        assert sheet.evaluate("JSON.stringify(localStorage)").find(token) < 0
        state = page.page("state", Authorization=f"Bearer {token}")
        assert state["people"] == [{"name": "ann", "actions": 1}]
        context.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_page_is_accessible(chromium: Any, corpus: Path, tmp_path: Path, scheme: str, width: int) -> None:
    """axe-core finds nothing in any view, contrast included; every stop of the Tab key shows its focus."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    size = {"width": width, "height": 844}
    with (
        teaching(corpus, "--classes", "ham,spam", folder=with_key(tmp_path / "axe")) as page,
        opened(chromium, page, viewport=size, color_scheme=scheme, bypass_csp=True) as tab,
    ):
        tab.label(TRUTH, 12)
        tab.page.keyboard.press("w")
        tab.page.wait_for_selector("#reasons .legend")
        _check(axe, tab, "teach")
        assert _focus_is_seen(tab) >= 15
        tab.page.keyboard.press("h")
        tab.page.wait_for_selector("dialog[open]")
        _check(axe, tab, "help")
        for view in ("review", "watch", "take"):
            tab.view(view)
            if view == "review":
                tab.page.select_option("#list", "labeled")
                tab.page.wait_for_selector("#cards > li")
            _check(axe, tab, view)
            assert tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"), view


def _check(axe: Any, tab: Tab, where: str) -> None:
    found = axe.run(
        tab.page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
    )
    told = [
        (each["id"], [node["html"][:200] for node in each["nodes"]]) for each in found.response["violations"]
    ]
    assert told == [], where


def _focus_is_seen(tab: Tab) -> int:
    """Go round by the Tab key; gives the number of stops."""
    tab.page.evaluate("document.activeElement.blur()")
    stops = set()
    for _ in range(60):
        tab.page.keyboard.press("Tab")
        where, outline = tab.page.evaluate(
            "() => { const e = document.activeElement; const s = getComputedStyle(e);"
            " return [e.tagName + e.id + e.textContent.slice(0, 30), s.outlineStyle + s.outlineWidth]; }"
        )
        if where.startswith("BODY"):
            break
        assert outline not in ("none0px", "none3px"), where
        stops.add(where)
    return len(stops)


class Node(NamedTuple):
    """What a screen reader is told of one element."""

    role: str
    name: str
    properties: dict[str, Any]


NAMED_ROLES = {
    "button", "link", "textbox", "searchbox", "combobox", "checkbox", "option", "region", "navigation",
    "group", "complementary", "dialog", "image", "heading", "spinbutton", "table",
}  # fmt: skip


def spoken(tab: Tab) -> list[Node]:
    """The accessibility tree, as Chromium gives it to screen readers."""
    session = tab.context.new_cdp_session(tab.page)
    session.send("Accessibility.enable")
    found = []
    for node in session.send("Accessibility.getFullAXTree")["nodes"]:
        if not node["ignored"]:
            properties = {each["name"]: each["value"].get("value") for each in node.get("properties", [])}
            found.append(Node(node["role"]["value"], node.get("name", {}).get("value", ""), properties))
    session.detach()
    return found


def told(nodes: list[Node], role: str) -> list[str]:
    return [node.name for node in nodes if node.role == role]


def test_a_screen_reader_is_told_everything_that_is_seen(chromium: Any, corpus: Path, tmp_path: Path) -> None:
    """Names, roles, keys and live regions, in the tree that Chromium makes for screen readers."""
    with (
        teaching(corpus, "--classes", "ham,spam", folder=with_key(tmp_path / "spoken")) as page,
        opened(chromium, page) as tab,
    ):
        tab.label(TRUTH, 12)
        nodes = spoken(tab)
        assert {"banner", "navigation", "main", "complementary", "region", "status"} <= {
            n.role for n in nodes
        }
        assert told(nodes, "heading")[0] == "Teach"
        keys = {n.properties["keyshortcuts"]: n.name for n in nodes if n.properties.get("keyshortcuts")}
        assert keys["1"].startswith("1 ham")
        assert keys["2"].startswith("2 spam")
        assert {"z", "s", "w", "e", "h"} <= keys.keys()
        live = {(n.role, n.name): n.properties["live"] for n in nodes if n.properties.get("live")}
        assert live["region", "The document"] == "polite"
        assert live["status", ""] == "polite"
        assert tab.text in told(nodes, "StaticText"), "the document is text in its live region"
        tab.page.keyboard.press("w")
        tab.page.wait_for_selector("#reasons .legend")
        assert_named(spoken(tab), "why")
        tab.page.evaluate("document.activeElement.blur()")
        tab.page.keyboard.press("h")
        tab.page.wait_for_selector("dialog[open]")
        nodes = spoken(tab)
        assert told(nodes, "dialog") != [""]
        assert tab.page.evaluate("document.activeElement.closest('dialog') !== null"), "the focus is in it"
        assert_named(nodes, "help")
        tab.page.keyboard.press("Escape")
        for view in ("review", "watch", "take"):
            tab.view(view)
            nodes = spoken(tab)
            assert told(nodes, "heading")
            assert_named(nodes, view)


def assert_named(nodes: list[Node], where: str) -> None:
    unnamed = [(node.role, node.properties) for node in nodes if node.role in NAMED_ROLES and not node.name]
    assert unnamed == [], where
