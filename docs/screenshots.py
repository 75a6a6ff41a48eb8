"""Show the real thing: `python docs/screenshots.py [FOLDER]` runs commands and takes pictures of the result.

A terminal is drawn by rich, from the output of the command with its colors; a report is opened in Chromium,
and its picture stays as it is where there is none.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import as_file, files
from io import StringIO
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent / "figures"
COLUMNS = 76
CHROMIUM = which("chromium") or which("chromium-browser") or which("google-chrome")
QUESTION = "Claim your free prize now, see you at noon"
TRAIN = "bayleaf train messages.tsv -o spam.model --quiet"
EXPLAIN = f'bayleaf explain spam.model "{QUESTION}"'
COLORS = {"FORCE_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
# rich's own frame names a web font; this one takes whatever the reader has.
FRAME = """\
<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{
  font: {char_height}px/{line_height}px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace;
}}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def run(command: str, folder: Path, colors: dict[str, str] = COLORS) -> str:
    """What a command of bayleaf writes."""
    arguments = [sys.executable, "-m", *shlex.split(command)]
    environment = {key: value for key, value in os.environ.items() if key != "NO_COLOR"} | colors
    return subprocess.run(arguments, cwd=folder, env=environment, stdout=-1, text=True, check=True).stdout


def prepare(folder: Path) -> None:
    """The model of the README; one of two thirds of the bundled messages, and the rest in a file."""
    with as_file(files("bayleaf").joinpath("data/messages.tsv")) as corpus:
        lines = corpus.read_text("utf-8").splitlines(keepends=True)
    (folder / "messages.tsv").write_text("".join(lines), "utf-8")
    run(TRAIN, folder)
    (folder / "test.tsv").write_text("".join(lines[::3]), "utf-8")
    (folder / "train.tsv").write_text("".join(line for at, line in enumerate(lines) if at % 3), "utf-8")
    run("bayleaf train train.tsv -o spam.bayleaf --quiet --plain", folder)


def terminal(command: str, output: str, file: Path) -> None:
    """Draw a terminal in which the command has just run."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    console.print(Text(f"$ {command}", style="bold"), Text.from_ansi(output.rstrip()), sep="\n")
    console.save_svg(str(file), title="bayleaf", theme=MONOKAI, code_format=FRAME, unique_id=file.stem)


@contextmanager
def chromium() -> Iterator[Any]:
    """The system's Chromium; in a container it may have neither a sandbox nor much shared memory."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


def picture(page: Path, file: Path, height: int) -> None:
    """Open a page in Chromium and take a picture of its upper part."""
    if CHROMIUM is None:
        print(f"{file.name} stays as it is: there is no Chromium here.")
        return
    with chromium() as browser:
        tab = browser.new_page(viewport={"width": 1100, "height": height})
        tab.goto(page.as_uri())
        tab.screenshot(path=file)


@contextmanager
def teaching(work: Path) -> Iterator[str]:
    """The page of `bayleaf teach` on the bundled messages, without their labels; gives its address."""
    arguments = "bayleaf teach messages.tsv --ignore-labels --classes ham,spam --no-browser --port 0 --quiet"
    command = [sys.executable, "-m", *shlex.split(arguments)]
    process = subprocess.Popen(command, cwd=work, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout
        said = " ".join(iter(process.stdout.readline, "Ready.\n"))
        yield next(word for word in said.split() if word.startswith("http://"))
    finally:
        process.terminate()
        process.wait()


SHOWN = "(document.getElementById('document')?.textContent ?? '')"
LATER = f"before => ![before, ''].includes({SHOWN}) && !document.querySelector('#document[aria-busy]')"


def label(tab: Any, truth: dict[str, str], times: int) -> None:
    """Label documents by keyboard, as they should be."""
    tab.wait_for_selector("#document")
    tab.wait_for_function(LATER, arg="")
    for _ in range(times):
        before = tab.evaluate(SHOWN)
        tab.keyboard.press("1" if truth[before] == "ham" else "2")
        tab.wait_for_function(LATER, arg=before)


def teach(work: Path, folder: Path) -> None:
    """Pictures of the page while someone teaches it: on a desk and on a phone, by day and by night."""
    if CHROMIUM is None:
        print("The pictures of the page stay as they are: there is no Chromium here.")
        return
    with as_file(files("bayleaf").joinpath("data/messages.tsv")) as corpus:
        lines = corpus.read_text("utf-8").splitlines()
    (work / "messages.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    truth = {text: name for name, text in (line.split("\t", 1) for line in lines)}
    with teaching(work) as address, chromium() as browser:
        tab = browser.new_page(viewport={"width": 1100, "height": 760})
        tab.goto(address)
        label(tab, truth, 240)
        tab.click("text=Learning curve")
        tab.wait_for_selector("#curve svg")
        tab.screenshot(path=folder / "teach_light.png")
        tab.emulate_media(color_scheme="dark")
        tab.keyboard.press("w")
        tab.wait_for_selector("#reasons .legend")
        tab.screenshot(path=folder / "teach_dark.png")
        phone = browser.new_page(viewport={"width": 390, "height": 760})
        phone.goto(address)
        label(phone, truth, 1)
        phone.screenshot(path=folder / "teach_phone.png")
        phone.emulate_media(color_scheme="dark")
        phone.screenshot(path=folder / "teach_phone_dark.png")
        tab.goto(f"{address}#watch")
        tab.emulate_media(color_scheme="light")
        tab.wait_for_selector("#calibration svg")
        tab.screenshot(path=folder / "teach_watch.png")


def main(folder: Path = FOLDER) -> None:
    """Take all pictures."""
    with TemporaryDirectory() as name:
        work = Path(name)
        prepare(work)
        terminal(EXPLAIN, run(EXPLAIN, work), folder / "terminal_explain.svg")
        run("bayleaf evaluate spam.bayleaf test.tsv --quiet --worst 3 --html report.html", work)
        picture(work / "report.html", folder / "report.png", 720)
        teach(work, folder)


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
