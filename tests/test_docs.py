"""README and docs are executed, and every public name is documented."""

import inspect
import re
from functools import cache
from pathlib import Path

import pytest

import bayleaf
from doc_blocks import ROOT, Page, code_of, reason_to_skip, runnable

PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if "_build" not in page.parts),
]
CASES = [(page, index) for page in PAGES for index in range(len(runnable(page)))]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[Path, Page]:
    return {page: Page(page, tmp_path_factory.mktemp(page.stem)) for page in PAGES}


def case_id(case: tuple[Path, int]) -> str:
    page, index = case
    block = runnable(page)[index]
    return f"{block.place}-{block.language}"


@pytest.mark.parametrize("case", CASES, ids=case_id)
def test_the_block_does_what_the_page_says(case: tuple[Path, int], pages: dict[Path, Page]) -> None:
    path, index = case
    page = pages[path]
    reason = reason_to_skip(page.blocks[index])
    if reason:
        pytest.skip(reason)
    page.run(index)


@cache
def documented_code() -> str:
    return "\n".join(code_of(page) for page in PAGES)


@pytest.mark.parametrize("name", sorted(bayleaf.__all__))
def test_a_public_name_is_shown_as_code_in_the_readme_or_the_docs(name: str) -> None:
    assert re.search(rf"(?<!\w){re.escape(name)}(?!\w)", documented_code())


@pytest.mark.parametrize("name", sorted(bayleaf.__all__))
def test_a_public_name_has_a_docstring_of_its_own(name: str) -> None:
    value = getattr(bayleaf, name)
    if not (inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value)):
        pytest.skip(f"{name} is a constant; what it means is in the docs.")
    docstring = value.__doc__ or ""
    # A dataclass without a docstring is given its signature for one.
    assert docstring.strip()
    assert not docstring.startswith(f"{name}(")
