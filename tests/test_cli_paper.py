"""`bayleaf paper` computes what it shows: fractions, decimals, the paper's digits, the Python beside them."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bayleaf.cli.paper_steps import SECTIONS
from cli_process import COMMAND, ENVIRONMENT, done, refused

WALK = json.loads(done("paper", "--section", "all", "--json"))
STEPS = [step for section in WALK for step in section["steps"]]
LINES = [line for step in STEPS for line in step["lines"]]


def run(*arguments: str, **environment: str) -> str:
    variables = {**os.environ, **environment}
    variables.pop("NO_COLOR", None) if "FORCE_COLOR" in environment else None
    return subprocess.run(
        [*COMMAND, "paper", *arguments], env=variables, capture_output=True, encoding="utf-8", check=True
    ).stdout


@pytest.mark.parametrize("line", LINES, ids=lambda line: f"{line['name']} = {line['formula']}")
def test_the_formula_gives_the_fraction_and_the_fraction_the_decimal(line: dict[str, Any]) -> None:
    numbers = re.sub(r"\d+", r"Fraction(\g<0>)", line["formula"].replace("·", "*"))
    left, divided, right = numbers.partition("÷")
    value = eval(f"({left}) / ({right})" if divided else numbers, {"Fraction": Fraction})
    assert value == Fraction(line["exact"])
    assert float(value) == line["decimal"]


@pytest.mark.parametrize("line", [line for line in LINES if line["paper"]], ids=lambda line: line["name"])
def test_what_the_paper_prints_is_the_decimal_rounded(line: dict[str, Any]) -> None:
    digits = len(line["paper"].partition(".")[2])
    assert f"{line['decimal']:.{digits}f}" == line["paper"]


def python_of(section: dict[str, Any]) -> list[tuple[Any, str]]:
    """Run the Python of each step, in order in one namespace: its value, and what the step shows."""
    namespace: dict[str, Any] = {}
    shown = []
    for step in section["steps"]:
        if step["python"]:
            *before, last = ast.parse(step["python"]).body
            exec(compile(ast.Module(before, []), "step", "exec"), namespace)
            assert isinstance(last, ast.Expr)
            shown.append(
                (eval(compile(ast.Expression(last.value), "step", "eval"), namespace), step["answer"])
            )
    return shown


@pytest.mark.parametrize("name", ["toy", "smoothing", "spam", "tokens"])
def test_bayleaf_answers_what_the_fractions_answer(name: str) -> None:
    (section,) = (section for section in WALK if section["section"] == name)
    values = python_of(section)
    assert len(values) >= 2
    for value, answer in values:
        assert " | ".join(value) == answer


def test_the_table_of_the_two_documents_and_the_boundary_are_what_bayleaf_computes() -> None:
    sections = {section["section"]: section for section in WALK}
    ((vectors, _),) = python_of(sections["bag"])
    rows = {row["word"]: [int(row["D1"]), int(row["D2"])] for row in sections["bag"]["steps"][0]["table"]}
    assert vectors.T.tolist() == [rows[word] for word in sorted(rows)]
    (((boundary,), _),) = python_of(sections["priors"])
    shown = {row["prior of blue"]: row["boundary"] for row in sections["priors"]["steps"][1]["table"]}
    assert f"{boundary:.4f}" == shown["0.9"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_nothing_but_code_is_wider_than_the_terminal(columns: int) -> None:
    lines = run("--section", "all", COLUMNS=str(columns), NO_COLOR="1").splitlines()
    assert [line for line in lines if len(line) > columns and ">>>" not in line and "arXiv" not in line] == []
    assert not any("…" in line for line in lines)


def test_a_pipe_and_no_color_get_plain_text_and_a_terminal_gets_color() -> None:
    assert "\x1b" not in run() == run(NO_COLOR="1")
    assert "\x1b[" in run(FORCE_COLOR="1", TERM="xterm-256color")


def test_without_a_section_the_toy_the_yellow_square_and_spam_are_walked_through() -> None:
    chosen = [section["section"] for section in json.loads(done("paper", "--json"))]
    assert chosen == ["toy", "smoothing", "spam"]
    twice = done("paper", "--section", "spam", "--section", "toy", "--section", "spam", "--json")
    assert [section["section"] for section in json.loads(twice)] == ["spam", "toy"]


def test_the_sections_are_listed() -> None:
    assert [line.split()[0] for line in done("paper", "--list").splitlines()] == list(SECTIONS)
    assert list(json.loads(done("paper", "--list", "--json"))) == list(SECTIONS)


def test_a_section_that_does_not_exist_is_refused_with_those_that_do() -> None:
    said = refused(2, "paper", "--section", "lazy")
    assert all(name in said for name in SECTIONS)


def test_a_pause_waits_only_in_a_terminal() -> None:
    assert done("paper", "--pause", "--section", "toy") == done("paper", "--section", "toy")


def test_without_the_packages_for_words_the_walk_says_what_to_install(tmp_path: Path) -> None:
    for package in ("lemminflect", "stopwordsiso"):
        (tmp_path / f"{package}.py").write_text(f"raise ModuleNotFoundError(name={package!r})")
    environment = {**ENVIRONMENT, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-m", "bayleaf", "paper", "--section", "tokens"],
        env=environment,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert " ".join(ran.stdout.split()).count('pip install "bayleaf[text]"') == 2
    assert "a | swimmer | likes | swimming | thus | he | swims" in ran.stdout
