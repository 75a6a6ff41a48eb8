"""The help of each command, as its page in docs/commands shows it.

Run this file to write the pages anew after a change of options.
"""

from __future__ import annotations

from pathlib import Path

import click

from bayleaf.cli.app import MODULES, bayleaf
from doc_blocks import ROOT

PAGES = ROOT / "docs" / "commands"
START, END = "<!-- help: written by tests/command_pages.py -->\n", "<!-- end of help -->\n"


def page_of(name: str) -> Path:
    return PAGES / f"{name}.md"


def help_of(name: str) -> str:
    """What `bayleaf NAME --help` prints in a terminal of 80 columns."""
    parent = click.Context(bayleaf, info_name="bayleaf", terminal_width=80, max_content_width=80)
    parent.help_option_names = ["-h", "--help"]
    command = bayleaf.get_command(parent, name)
    assert command
    return command.get_help(click.Context(command, info_name=name, parent=parent, terminal_width=80)) + "\n"


def shown_help(name: str) -> str:
    return page_of(name).read_text("utf-8").partition(START)[2].partition(END)[0]


def block(name: str) -> str:
    return f"```text\n{help_of(name)}```\n"


def write_pages() -> None:
    for name in MODULES:
        page = page_of(name)
        before, _, rest = page.read_text("utf-8").partition(START)
        page.write_text(f"{before}{START}{block(name)}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    write_pages()
