"""Every law on the page of laws is cited by the tests that check it, and no test cites another."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "laws.md").read_text("utf-8")
LAWS = dict(re.findall(r"^## L(\d+): .*\n((?:(?!^## ).*\n)*)", PAGE, re.MULTILINE))
CITED = re.compile(r"\bL(\d+)\b")


def citing() -> dict[str, set[str]]:
    """The files of tests by the laws that their first docstring cites."""
    cited: dict[str, set[str]] = {}
    for path in [*ROOT.glob("tests/test_*.py"), *ROOT.glob("src/**/*.rs")]:
        text = path.read_text("utf-8")
        opening = text[: text.index('"""', 3)] if path.suffix == ".py" else text.partition("\n\n")[0]
        for law in CITED.findall(opening):
            cited.setdefault(law, set()).add(path.relative_to(ROOT).as_posix())
    return cited


def test_the_laws_stand_in_the_order_of_their_numbers() -> None:
    assert len(LAWS) >= 8
    assert list(LAWS) == sorted(LAWS, key=int)


@pytest.mark.parametrize("law", LAWS)
def test_a_law_names_the_files_that_check_it_and_they_cite_it(law: str) -> None:
    checked = set(re.findall(r"`((?:tests|src)/[\w/.]+)`", LAWS[law].partition("Checked in")[2]))
    assert checked
    assert checked == citing()[law]


def test_no_test_cites_a_law_that_is_not_on_the_page() -> None:
    assert set(citing()) <= set(LAWS)
