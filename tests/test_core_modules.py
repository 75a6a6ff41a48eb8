"""The modules of the Rust core: each imports only from below, as the import contract says for Python."""

import re
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "src"
PATH = re.compile(r"\bcrate((?:::\w+)+)")
GROUP = re.compile(r"\bcrate((?:::\w+)*)::\{([^}]*)\}")

# A folder may use those before it.
ORDER = [
    "large_pages",
    "memory",
    "errors",
    "lexicon",
    "mail",
    "analyze",
    "context",
    "threads",
    "tally",
    "score",
    "tune",
    "quick",
    "spamd",
    "fuzzing",
    "python",
]


def module_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return "::".join(parts[:-1] if parts[-1] == "mod" else parts)


def imported(source: str, modules: set[str]) -> set[str]:
    """The modules that paths in the source lead to, the longest name that is a module."""
    paths = [match[1] for match in PATH.finditer(source)]
    paths += [f"{head}::{name.strip()}" for head, names in GROUP.findall(source) for name in names.split(",")]
    found = set()
    for path in paths:
        parts = path.removeprefix("::").split("::")
        names = ["::".join(parts[:end]) for end in range(len(parts), 0, -1)]
        found |= set([name for name in names if name in modules][:1])
    return found


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    files = {module_of(path): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.rs")}
    del files["lib"], files["tests"]
    return {name: imported(source, set(files)) - {name} for name, source in files.items()}


def test_no_module_of_the_core_is_imported_by_what_it_imports(graph: dict[str, set[str]]) -> None:
    assert list(TopologicalSorter(graph).static_order())


def test_every_folder_of_the_core_imports_only_from_those_before_it(graph: dict[str, set[str]]) -> None:
    rank = {name: place for place, name in enumerate(ORDER)}
    assert {name.split("::")[0] for name in graph} == set(ORDER)
    upwards = [
        f"{name} imports {other}"
        for name, others in graph.items()
        for other in others
        if rank[other.split("::")[0]] > rank[name.split("::")[0]]
    ]
    assert not upwards


def test_only_the_seam_names_python(graph: dict[str, set[str]]) -> None:
    seam = {name for name in graph if name.split("::")[0] == "python"}
    named = {module_of(path) for path in SOURCE.rglob("*.rs") if "pyo3" in path.read_text(encoding="utf-8")}
    assert named <= seam
