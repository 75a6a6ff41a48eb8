"""Every command has a page, the page shows its present help, and the help has two examples that work."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from shutil import copyfile

import pytest

from bayleaf.cli.app import MODULES
from cli_process import bayleaf, done
from command_pages import PAGES, block, help_of, shown_help
from doc_blocks import MESSAGES


@pytest.mark.parametrize("name", MODULES)
def test_the_page_of_a_command_shows_its_help(name: str) -> None:
    assert shown_help(name) == block(name), "Run tests/command_pages.py to write the pages anew."


def test_every_page_of_a_command_is_in_the_list_of_pages() -> None:
    listed = (PAGES / "README.md").read_text("utf-8")
    assert sorted(re.findall(r"\]\((\w+)\.md\)", listed)) == sorted(MODULES)
    assert sorted(page.stem for page in PAGES.glob("*.md")) == sorted([*MODULES, "README"])


def examples(name: str) -> list[str]:
    found = help_of(name).partition("Examples:\n")[2].partition("\n\n")[0]
    return [line.strip() for line in found.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files that the examples name."""
    made = tmp_path_factory.mktemp("examples")
    copyfile(MESSAGES, made / "messages.tsv")
    lines = MESSAGES.read_text("utf-8").splitlines(keepends=True)
    (made / "message.txt").write_text(lines[0].partition("\t")[2])
    (made / "wrong.tsv").write_text("".join(lines[:3]))
    for label in ("ham", "spam"):
        (made / "mail" / label).mkdir(parents=True)
        own = [line.partition("\t")[2] for line in lines if line.startswith(label)]
        for number, text in enumerate(own[:5]):
            (made / "mail" / label / f"{number}.txt").write_text(text)
    (made / "mistakes.txt").write_text("See you at nine\n")
    noon = "spam\tSee you at noon\nspam\tSee you at nine\n"
    done("train", "-q", "-", "-o", "spam.bayleaf", cwd=made, stdin="".join(lines) + noon)
    for day in ("monday", "tuesday", "part-0", "part-1"):
        done("train", "-q", "messages.tsv", "-o", f"{day}.bayleaf", "--plain", cwd=made)
        done("export", f"{day}.bayleaf", "-o", f"{day}.csv", cwd=made)
    done("export", "spam.bayleaf", "-o", "spam.parquet", cwd=made)
    done("serve", "filter", "--model", "spam=spam.bayleaf", "--check", cwd=made)
    return made


@pytest.mark.parametrize("name", MODULES)
def test_the_help_has_two_examples_that_work(name: str, folder: Path) -> None:
    import subprocess

    from cli_process import COMMAND, ENVIRONMENT

    lines = examples(name)
    assert len(lines) == 2
    launcher = " ".join(map(shlex.quote, COMMAND))
    for line in lines:
        assert "bayleaf" in line
        for file in ("spam.bayleaf",):
            copyfile(folder / file, folder / "kept")
        script = re.sub(r"(^|\| )bayleaf ", rf"\1{launcher} ", line).replace("| less", "| cat")
        ran = subprocess.run(
            ["/bin/sh", "-c", script],
            cwd=folder,
            env=ENVIRONMENT,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        copyfile(folder / "kept", folder / "spam.bayleaf")
        assert ran.returncode == 0, (line, ran.stderr)


def test_completion_offers_the_commands_and_their_options() -> None:
    import os
    import subprocess

    from cli_process import COMMAND, ENVIRONMENT

    environment = {
        **ENVIRONMENT,
        "_BAYLEAF_COMPLETE": "bash_complete",
        "COMP_WORDS": "bayleaf ex",
        "COMP_CWORD": "1",
    }
    out = subprocess.run(COMMAND, env=environment, capture_output=True, encoding="utf-8", check=False).stdout
    assert out.split() == ["plain,explain", "plain,export"]
    environment |= {"COMP_WORDS": "bayleaf train --hold", "COMP_CWORD": "2"}
    out = subprocess.run(COMMAND, env=environment, capture_output=True, encoding="utf-8", check=False).stdout
    assert out.split() == ["plain,--holdout"]
    assert os.environ.get("_BAYLEAF_COMPLETE") is None


def test_a_command_without_arguments_says_what_it_needs() -> None:
    ran = bayleaf("train")
    assert ran.returncode == 2
    assert "INPUT" in ran.stderr
