"""The index of docs/paper lists all that the paper has, each with a place and a test that exist."""

from __future__ import annotations

import ast
import os
import re
from functools import cache
from pathlib import Path

import pytest

from doc_blocks import ROOT

PAGES = ROOT / "docs" / "paper"
INDEX = PAGES / "README.md"
EQUATIONS = 42
FIGURES = 6
TABLES = 5
# Every number and claim of the running text that can be computed, in the paper's order.
IN_THE_TEXT = [
    "naive Bayes is linear",
    "a fair coin, 0.5",
    "500 documents, 100 of them spam",
    "peanut and butter",
    "uniform priors: the likelihoods decide",
    "means 4 and 10, σ = 1",
    "P(ω₁) = P(ω₂) = 0.5",
    "P(ω₁) > 0.5",
    "9 of 10 messages are ham",
    "12 samples, 2 classes, 2 features",
    "0.18 > 0.15, so +",
    "with equal priors, −",
    "yellow: the posterior is 0",
    "α < 1 Lidstone, α = 1 Laplace",
    "the order of words is lost",
    "d = ∣V∣",
    "binary or absolute counts",
    "so, and, or, the",
    "the top n words as a stop list",
    "3 ≤ n ≤ 7, 4 ≤ n ≤ 8, 3 and 4",
    "1 and 0 for a word",
    "+1 and +2",
    "Bernoulli and multinomial can differ",
    "multinomial is better with many words",
    "Iris: widths and lengths in cm",
    "discretizing, or Gaussian kernels",
    "eager: the training data are not needed again",
    "k nearest neighbors, by majority",
]


@cache
def tables() -> dict[str, list[list[str]]]:
    """The rows of the table below each heading of the index."""
    found: dict[str, list[list[str]]] = {}
    for part in re.split(r"^## ", INDEX.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        rows = [line for line in part.splitlines() if line.startswith("| ")]
        found[part.splitlines()[0]] = [
            [cell.strip() for cell in row.strip("| ").split(" | ")] for row in rows[1:]
        ]
    return found


def rows() -> list[list[str]]:
    return [row for table in tables().values() for row in table]


def item(row: list[str]) -> str:
    """What an entry is about."""
    return row[0].removeprefix("[").partition("](")[0]


def place(row: list[str]) -> tuple[str, str]:
    """The page of an entry and the anchor on it."""
    page, _, anchor = row[0].removesuffix(")").partition("](")[2].partition("#")
    return page, anchor


@cache
def written_tests() -> set[str]:
    modules = [
        ast.parse(path.read_text("utf-8"))
        for path in (ROOT / "tests").glob("test_paper_*.py")
        if path.name != Path(__file__).name
    ]
    return {
        node.name for module in modules for node in module.body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }  # fmt: skip


def named(cell: str) -> list[str]:
    """The functions that a cell of sentences stands for."""
    return [
        "test_" + re.sub(r"\W+", "_", sentence.strip().lower().replace("'", ""))
        for sentence in cell.split(";")
    ]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub and the site give to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_equation_of_the_paper_is_in_the_index() -> None:
    assert [item(row) for row in tables()["Equations"]] == [str(number) for number in range(1, EQUATIONS + 1)]


def test_every_figure_and_table_of_the_paper_is_in_the_index() -> None:
    figures = [f"Figure {number}" for number in range(1, FIGURES + 1)]
    assert [item(row) for row in tables()["Figures and tables"]] == [
        *figures, *(f"Table {number}" for number in range(1, TABLES + 1)), "N-grams",
    ]  # fmt: skip


def test_every_number_of_the_papers_text_is_in_the_index() -> None:
    assert [item(row) for row in tables()["Numbers and claims in the text"]] == IN_THE_TEXT


@pytest.mark.parametrize("row", rows(), ids=lambda row: item(row))
def test_the_place_of_an_entry_exists(row: list[str]) -> None:
    page, anchor = place(row)
    assert anchor in anchors(PAGES / page)


@pytest.mark.parametrize("row", tables()["Equations"], ids=lambda row: item(row))
def test_the_place_of_an_equation_speaks_of_it(row: list[str]) -> None:
    page, anchor = place(row)
    text = (PAGES / page).read_text("utf-8")
    start = next(
        match.start() for match in re.finditer(r"^#+ (.+)$", text, re.MULTILINE)
        if re.sub(r"[^\w\- ]", "", match[1].lower()).replace(" ", "-") == anchor
    )  # fmt: skip
    section = re.split(r"^## ", text[start + 3 :], maxsplit=1, flags=re.MULTILINE)[0]
    assert re.search(rf"\b{item(row)}\b", section)


@pytest.mark.parametrize("row", rows(), ids=lambda row: item(row))
def test_the_tests_of_an_entry_exist(row: list[str]) -> None:
    assert set(named(row[-1])) <= written_tests()


def test_every_test_of_the_paper_is_in_the_index() -> None:
    assert written_tests() == {name for row in rows() for name in named(row[-1])}


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.stem)
def test_the_links_and_images_of_a_page_arrive(page: Path) -> None:
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text("utf-8")):
        if target.startswith("http"):
            continue
        file, _, anchor = target.partition("#")
        assert (page.parent / file).is_file(), target
        assert not anchor or anchor in anchors(page.parent / file), target


SOURCE = Path(os.environ.get("BAYLEAF_PAPER", "absent"))


@pytest.mark.skipif(not SOURCE.is_file(), reason="BAYLEAF_PAPER does not name the paper's LaTeX source")
def test_the_inventory_has_as_much_as_the_papers_source() -> None:
    source = SOURCE.read_text("utf-8")
    counts = [source.count(rf"\begin{{{kind}}}") for kind in ("equation", "figure", "table")]
    assert counts == [EQUATIONS, FIGURES, TABLES]
    pages = "".join(page.read_text("utf-8") for page in PAGES.glob("*.md"))
    printed = re.findall(r"(?<![\w.])\d+\.\d+(?![\w.])", source) + re.findall(r"\\frac\{\d+\}\{\d+\}", source)
    assert [number for number in printed if number not in pages] == []
