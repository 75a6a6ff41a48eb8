"""The site builds without a warning, its links lead somewhere, and every page is fine in a real browser."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

import bayleaf
import screenshots
from cli_process import done
from doc_blocks import MESSAGES, ROOT

DOCS = ROOT / "docs"
SOURCES = sorted(page for page in DOCS.rglob("*.md") if "_build" not in page.parts)
PAGES = [page.relative_to(DOCS).with_suffix(".html").as_posix() for page in SOURCES]
PHONE, DESKTOP = 390, 1280


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The site, and what Sphinx said while building it."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "-d", str(folder / "doctrees")]
    ran = subprocess.run(
        [*command, str(DOCS), str(folder / "html")], capture_output=True, encoding="utf-8", check=False
    )
    assert ran.returncode == 0, ran.stderr
    return folder / "html", ran.stderr


@pytest.fixture(scope="module")
def site(built: tuple[Path, str]) -> Path:
    return built[0]


def test_the_site_is_built_without_a_warning(built: tuple[Path, str]) -> None:
    assert built[1] == ""


class Links(HTMLParser):
    """The names that a page can be entered at, where it leads, and what it loads."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.names, self.leads, self.loads = {""}, list[str](), list[str]()
        self.feed(page.read_text("utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        named = {name: value or "" for name, value in attributes}
        self.names.add(named.get("id", ""))
        if tag == "a" and "href" in named:
            self.leads.append(named["href"])
        elif tag == "link" and named.get("rel") not in ("search", "index", "next", "prev", "canonical"):
            self.loads.append(named["href"])
        elif "src" in named:
            self.loads.append(named["src"])


@pytest.fixture(scope="module")
def links(site: Path) -> dict[Path, Links]:
    return {page: Links(page) for page in site.rglob("*.html")}


def test_every_source_becomes_a_page(site: Path) -> None:
    assert [page for page in PAGES if not (site / page).is_file()] == []


def test_every_link_inside_the_site_leads_somewhere(links: dict[Path, Links]) -> None:
    broken = []
    for page, found in links.items():
        for link in found.leads + found.loads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            known = links[target].names if target in links else {""} if target.is_file() else set()
            if unquote(parts.fragment) not in known:
                broken.append((page.name, link))
    assert broken == []


def lines_of(svg: str) -> list[str]:
    """The text of a terminal that rich has drawn, line by line, without spaces, which are not all drawn."""
    drawn = re.findall(r"<text[^>]*-line-(\d+)\)\"[^>]*>(.*?)</text>", svg, re.DOTALL)
    rows: dict[int, str] = {}
    for line, text in drawn:
        rows[int(line)] = rows.get(int(line), "") + unescape(text).replace("\xa0", " ")
    return [squeezed(rows[number]) for number in sorted(rows)]


def squeezed(line: str) -> str:
    return "".join(line.split())


def test_the_terminal_in_the_readme_shows_what_the_command_prints(tmp_path: Path) -> None:
    screenshots.prepare(tmp_path)
    plain = {"NO_COLOR": "1", "COLUMNS": str(screenshots.COLUMNS)}
    printed = screenshots.run(screenshots.EXPLAIN, tmp_path, plain).splitlines()
    shown = lines_of((DOCS / "figures" / "terminal_explain.svg").read_text("utf-8"))
    expected = [f"$ {screenshots.EXPLAIN}", *(line for line in printed if line)]
    assert [line for line in shown if line] == [squeezed(line) for line in expected]


def test_every_formula_is_drawn(site: Path) -> None:
    """No page shows a command of TeX where a formula should be."""
    left = {}
    for page in PAGES:
        text = (site / page).read_text("utf-8")
        prose = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
        left[page] = re.findall(r"\\[a-zA-Z]+|\$\$", prose)
    assert {page: found for page, found in left.items() if found} == {}
    assert "<math" in "".join((site / page).read_text("utf-8") for page in PAGES)


def test_reading_the_site_loads_nothing_from_elsewhere(site: Path, links: dict[Path, Links]) -> None:
    loads = {link for found in links.values() for link in found.loads}
    assert [link for link in loads if urlsplit(link).scheme not in ("", "data")] == []
    styles = "".join(sheet.read_text("utf-8") for sheet in site.rglob("*.css"))
    assert re.findall(r"(?:@import|url\()\s*[\"']?(?:https?:)?//[^)\"']*", styles) == []


def test_the_reference_has_every_public_name(site: Path, links: dict[Path, Links]) -> None:
    missing = (
        {name.lower() for name in bayleaf.__all__} - {"__version__"} - links[site / "reference.html"].names
    )
    assert missing == set()


FENCE = re.compile(r"^```(\w+).*?^```$", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("source", [page for page in SOURCES if page.stem != "reference"], ids=str)
def test_flags_behind_the_language_of_a_block_do_not_keep_it_from_being_colored(
    source: Path, site: Path
) -> None:
    written = Counter(FENCE.findall(source.read_text("utf-8")))
    page = (site / source.relative_to(DOCS)).with_suffix(".html").read_text("utf-8")
    colored = Counter(re.findall(r'<div class="highlight-(\w+) notranslate">', page))
    del written["math"], colored["none"]  # formulas; what is code by its indent
    assert colored == written


OVERFLOW = """() => {
  const scrolls = element => {
    for (let e = element; e; e = e.parentElement)
      if (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  const out = [...document.body.querySelectorAll("*")].filter(e =>
    e.getBoundingClientRect().right > innerWidth + 1 && e.getClientRects().length && !scrolls(e));
  const names = out.map(e => `${e.tagName} ${e.className} ${e.textContent.slice(0, 40)}`);
  return document.documentElement.scrollWidth > innerWidth ? ["the page", ...names] : names;
}"""
BROKEN_IMAGES = "() => [...document.images].filter(i => !i.complete || !i.naturalWidth).map(i => i.src)"
BACKGROUND = "() => getComputedStyle(document.body).backgroundColor"


def look_at(chromium: Any, page: Path) -> dict[str, str]:
    """Open a page, on a phone and a desk, by day and by night; gives its background by day and by night."""
    tab = chromium.new_page()
    wrong: list[str] = []
    tab.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("requestfailed", lambda request: wrong.append(request.url))
    tab.goto(page.as_uri(), wait_until="load")
    backgrounds = {}
    for scheme in ("light", "dark"):
        tab.emulate_media(color_scheme=scheme)
        backgrounds[scheme] = tab.evaluate(BACKGROUND)
        for width in (PHONE, DESKTOP):
            tab.set_viewport_size({"width": width, "height": 844})
            assert tab.evaluate(OVERFLOW) == [], (page.name, width)
    tab.evaluate("() => scrollTo(0, document.body.scrollHeight)")
    assert tab.evaluate(BROKEN_IMAGES) == []
    assert wrong == []
    tab.close()
    return backgrounds


@pytest.mark.parametrize("name", [*PAGES, "search.html"])
def test_a_page_is_fine_on_a_phone_and_on_a_desk_by_day_and_by_night(
    name: str, site: Path, chromium: Any
) -> None:
    backgrounds = look_at(chromium, site / name)
    assert backgrounds["light"] != backgrounds["dark"]


def test_searching_finds_a_page(site: Path, chromium: Any) -> None:
    tab = chromium.new_page()
    tab.goto(f"{(site / 'search.html').as_uri()}?q=laplace")
    tab.wait_for_selector("#search-results li a")
    assert "model" in " ".join(tab.eval_on_selector_all("#search-results a", "all => all.map(a => a.href)"))
    tab.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The pages that commands write."""
    folder = tmp_path_factory.mktemp("reports")
    done("train", "--quiet", MESSAGES, "-o", "spam.bayleaf", cwd=folder)
    done("evaluate", "--quiet", "spam.bayleaf", MESSAGES, "--html", "evaluate.html", cwd=folder)
    text = "Claim your free prize now " + "https://prizes.example/" + "x" * 80
    done("explain", "spam.bayleaf", text, "--html", "explain.html", cwd=folder)
    done("study", "--quiet", MESSAGES, "--folds", "3", "--curve", "--html", "study.html", cwd=folder)
    return folder


REPORTS = ["evaluate.html", "explain.html", "study.html"]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_fine_on_a_phone_and_on_a_desk_by_day_and_by_night(
    name: str, reports: Path, chromium: Any
) -> None:
    backgrounds = look_at(chromium, reports / name)
    assert backgrounds["light"] != backgrounds["dark"]


@pytest.mark.parametrize("name", REPORTS)
def test_a_report_is_one_file_that_tells_phones_its_width(name: str, reports: Path) -> None:
    found = Links(reports / name)
    assert found.loads == []
    assert '<meta name="viewport" content="width=device-width' in (reports / name).read_text("utf-8")
