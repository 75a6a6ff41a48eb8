"""CONTRIBUTING.md says what is true: every file that it names is there, every folder has its line."""

import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "python" / "bayleaf"
PAGE = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
FILES = [path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts]


def section(title: str) -> str:
    """What stands below a heading, up to the next of its level or above."""
    level = title.index(" ")
    rest = PAGE.partition(f"{title}\n")[2]
    assert rest
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def named(text: str) -> list[str]:
    return re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|rs))`", text)


def found(name: str) -> Path:
    return ROOT / name if name.startswith(("src/", "tests/")) else PACKAGE / name


def test_every_file_that_is_named_is_there() -> None:
    names = named(section("## Where things live").partition("### Names that occur twice")[0])
    assert len(names) > 60
    assert [name for name in names if not found(name).exists()] == []


def test_the_four_walks_lead_from_file_to_file() -> None:
    walks = re.split(r"^\d\. ", section("### Four walks"), flags=re.MULTILINE)[1:]
    assert [walk[: walk.index(",")] for walk in walks] == [
        "**Train**",
        "**Classify**",
        "**A table**",
        "**Explain**",
    ]
    for walk in walks:
        assert len(named(walk)) >= 5


def test_there_are_twelve_hunts_that_end_within_two_files() -> None:
    rows = [row for row in section("### Twelve hunts").splitlines() if row.startswith("| ") and "`" in row]
    assert len(rows) == 12
    assert all(1 <= len(named(row)) <= 2 for row in rows)


def test_every_folder_and_every_file_of_the_package_has_a_line() -> None:
    text = section("## Where things live")
    folders = {f"{path.name}/" for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    folders |= {f"src/{path.name}/" for path in (ROOT / "src").iterdir() if path.is_dir()}
    assert {name for name in folders if f"| `{name}` |" not in text} == set()
    shims = {
        "__init__.py",
        "__main__.py",
        "estimators.py",
        "mail.py",
        "patterns.py",
        "metrics.py",
        "paper.py",
    }
    files = {path.name for path in PACKAGE.glob("*.py")} - shims
    assert {name for name in files if f"`{name}`" not in text} == set()


def test_a_name_that_occurs_twice_has_its_reason() -> None:
    twice = {name for name, number in Counter(path.name for path in FILES).items() if number > 1}
    assert twice <= set(named(section("### Names that occur twice")))


def importers(pattern: str) -> set[str]:
    """The files that import something, or their folders."""
    texts = {path.relative_to(PACKAGE).as_posix(): path.read_text("utf-8") for path in FILES}
    return {name for name, text in texts.items() if re.search(pattern, text, re.MULTILINE)}


def test_the_importers_of_the_core_and_of_scikit_learn_are_those_that_are_named() -> None:
    core = importers(r"^\s*(from bayleaf\._core|from bayleaf import (\w+, )*_core\b)")
    allowed = (
        "__init__.py", "text/", "tuning/", "matrix/text_counter.py", "matrix/discrete.py", "turns.py",
        "labeled_counts.py", "storage.py", "model_file.py", "posterior.py", "quick.py",
        "cli/one_message.py", "cli/delivery.py", "service/served.py", "service/spamd.py", "engines/parts.py",
    )  # fmt: skip
    assert {name for name in core if not name.startswith(allowed)} == set()
    sklearn = importers(r"^\s*(from|import) sklearn")
    assert {
        name
        for name in sklearn
        if not name.startswith(
            (
                "matrix/",
                "naive_bayes.py",
                "multilabel.py",
                "estimator_input.py",
                "plots/problems.py",
                "studies/rivals.py",
            )
        )
    } == set()


def test_threads_are_started_in_one_place_of_the_core() -> None:
    starting = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "src").rglob("*.rs")
        if re.search(r"thread::(scope|spawn|Builder)", path.read_text("utf-8").partition("#[cfg(test)]")[0])
    }
    assert starting == {"src/threads.rs"}


def test_the_workflow_calls_what_the_makefile_has() -> None:
    goals = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    steps = (ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8")
    called = re.findall(r"^ +- run: make ([a-z-]+)", steps, re.MULTILINE)
    assert {"test", "wheel", "fuzz", "sanitize"} <= set(called) <= goals
