"""Find the code blocks of a Markdown page and run them, so that the pages cannot lie.

A block is fenced by three backticks and an information string: a language and flags.

- `python`: run in order, in one namespace a page. A block of `>>>` examples is checked by doctest, where
  `...` stands for anything and runs of white space are equal; any other block must not raise.
- `console`: run if it calls `bayleaf`, line by line, in one folder a page that starts with the bundled
  corpus, `messages.tsv`. Output that is shown is compared by the rules of doctest.
- `no-run`: only shown. `data`: needs the corpora in the folder that BAYLEAF_DATA names. `fails` (console):
  the last command must fail, and what is shown is its standard error.
"""

import doctest
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from textwrap import dedent, indent

ROOT = Path(__file__).parents[1]
MESSAGES = ROOT / "python" / "bayleaf" / "data" / "messages.tsv"
FLAGS = {"python": {"no-run", "data"}, "console": {"no-run", "data", "fails"}}
# A block that is run may call only these, so that no page installs or removes something by being tested.
COMMANDS = {
    "bayleaf",
    "cat",
    "cp",
    "cut",
    "echo",
    "grep",
    "gzip",
    "head",
    "ls",
    "mkdir",
    "printf",
    "sort",
    "tail",
    "wc",
}
LENIENT = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_FENCE = re.compile(r"^(?P<indent>[ \t]*)(?P<ticks>`{3,})[ \t]*(?P<info>[^`\n]*)$")
_SPAN = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)


class BlockError(AssertionError):
    """A block of a page does not do what the page says."""


@dataclass(frozen=True)
class Block:
    """One fenced block: where it is, what it claims to be, and its text."""

    page: Path
    line: int
    language: str
    flags: frozenset[str]
    source: str

    @property
    def place(self) -> str:
        """The page and the line of the block's first line, as an editor understands it."""
        page = self.page.relative_to(ROOT) if self.page.is_relative_to(ROOT) else self.page.name
        return f"{page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """One command of a console block and the output shown below it."""

    line: str
    shown: str


def _scan(page: Path) -> Iterator[Block | str]:
    """Yield the page in order: its fenced blocks, whatever their language, and the lines between them."""
    opened: re.Match[str] | None = None
    start, lines = 0, list[str]()
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        fence = _FENCE.match(line)
        if opened is None and fence is None:
            yield line
        elif opened is None:
            opened, start, lines = fence, number + 1, []
        elif fence and not fence["info"] and len(fence["ticks"]) >= len(opened["ticks"]):
            language, *flags = opened["info"].split() or [""]
            yield Block(page, start, language, frozenset(flags), dedent("\n".join(lines) + "\n"))
            opened = None
        else:
            lines.append(line)
    if opened is not None:
        raise BlockError(f"{page.name}:{start - 1}: the block that begins here is never closed.")


def runnable(page: Path) -> list[Block]:
    """The blocks of the page that a test runs; a misspelled flag is an error, not a block that is skipped."""
    blocks = []
    for block in _scan(page):
        if isinstance(block, str):
            continue
        unknown = block.flags - FLAGS.get(block.language, block.flags)
        if unknown:
            known = ", ".join(sorted(FLAGS[block.language]))
            raise BlockError(f"{block.place}: {sorted(unknown)} mean nothing here. The flags are {known}.")
        is_code = block.language == "python" or (block.language == "console" and _calls_bayleaf(block))
        if is_code and "no-run" not in block.flags:
            blocks.append(block)
    return blocks


def code_of(page: Path) -> str:
    """All code of the page, fenced and inline: `words` is a mention, words is English."""
    parts = list(_scan(page))
    prose = "\n".join(part for part in parts if isinstance(part, str))
    blocks = [part.source for part in parts if isinstance(part, Block)]
    return "\n".join(blocks + [match[2] for match in _SPAN.finditer(prose)])


def reason_to_skip(block: Block) -> str | None:
    """Say why the block cannot run here, or None if it can."""
    if "data" in block.flags and not Path(os.environ.get("BAYLEAF_DATA") or "?").is_dir():
        return f"{block.place} needs the corpora: set BAYLEAF_DATA to their folder."
    return None


class Page:
    """A page being run: the namespace of its Python blocks and the folder that all of its blocks share."""

    def __init__(self, path: Path, folder: Path) -> None:
        self.blocks = runnable(path)
        self.namespace: dict[str, object] = {"__name__": "__main__"}
        self._folder = folder / "work"
        self.launcher = folder / "bin"
        self._outcomes: dict[int, BlockError | None] = {}
        self._folder.mkdir(parents=True)
        copyfile(MESSAGES, self._folder / MESSAGES.name)
        _write_launcher(self.launcher)

    def run(self, index: int) -> None:
        """Run the block, after those above it that have not run yet; raise BlockError if it is wrong."""
        above = [self._outcome(i) for i in range(index) if reason_to_skip(self.blocks[i]) is None]
        error = self._outcome(index)
        if error is None:
            return
        failed = [str(e).partition(": ")[0] for e in above if e is not None]
        note = f"\n(The blocks above it that failed: {', '.join(failed)}.)" if failed else ""
        raise BlockError(f"{error}{note}") from error.__cause__

    def _outcome(self, index: int) -> BlockError | None:
        if index not in self._outcomes:
            try:
                self._run(self.blocks[index])
            except BlockError as error:
                self._outcomes[index] = error
            else:
                self._outcomes[index] = None
        return self._outcomes[index]

    def _run(self, block: Block) -> None:
        with chdir(self._folder):
            if block.language == "console":
                _run_console(block, self.launcher)
            elif re.search(r"^>>> ", block.source, re.MULTILINE):
                _run_examples(block, self.namespace)
            else:
                _run_plain(block, self.namespace)


def _run_plain(block: Block, namespace: dict[str, object]) -> None:
    padded = "\n" * (block.line - 1) + block.source
    try:
        exec(compile(padded, str(block.page), "exec"), namespace)
    except (Exception, SystemExit) as error:
        raise BlockError(f"{block.place}: the block raises {type(error).__name__}: {error}") from error


def _run_examples(block: Block, namespace: dict[str, object]) -> None:
    for paragraph in re.split(r"\n\s*\n", block.source.strip("\n")):
        if not paragraph.startswith((">>> ", "#")):
            raise BlockError(
                f"{block.place}: doctest would pass over these lines: {paragraph!r}. Begin with '>>> '."
            )
    try:
        test = doctest.DocTestParser().get_doctest(
            block.source, namespace, block.place, str(block.page), block.line - 1
        )
    except ValueError as error:
        raise BlockError(f"{block.place}: doctest cannot read the examples: {error}") from error
    report: list[str] = []
    doctest.DocTestRunner(verbose=False, optionflags=LENIENT).run(test, out=report.append, clear_globs=False)
    namespace.update(test.globs)
    if report:
        raise BlockError(f"{block.place}: the examples show something else.\n{''.join(report)}")


def _commands(block: Block) -> list[Command]:
    commands: list[Command] = []
    lines = iter(block.source.splitlines())
    for line in lines:
        if line.startswith("$ "):
            while line.endswith("\\"):
                line = line[:-1] + next(lines, "").lstrip("> ")
            commands.append(Command(line[2:], ""))
        elif commands:
            commands[-1] = Command(commands[-1].line, commands[-1].shown + line + "\n")
        elif line.strip():
            raise BlockError(
                f"{block.place}: a console block begins with a command, got {line!r}. Write '$ ' before it."
            )
    return commands


def _programs(command: Command) -> list[str]:
    """The first word of each part of a pipeline; what stands in quotes is no program."""
    bare = re.sub(r"'[^']*'|\"(?:\\.|[^\"\\])*\"", "''", command.line)
    return [part.split()[0] for part in re.split(r"\|\||&&|[|;]", bare) if part.strip()]


def _calls_bayleaf(block: Block) -> bool:
    lines = (line for line in block.source.splitlines() if line.startswith("$ "))
    return any("bayleaf" in _programs(Command(line[2:], "")) for line in lines)


def _run_console(block: Block, launcher: Path) -> None:
    commands = _commands(block)
    for command in commands:
        foreign = set(_programs(command)) - COMMANDS
        if foreign:
            raise BlockError(
                f"{block.place}: {sorted(foreign)} may not run in a test. Give it a block of its own."
            )
    for number, command in enumerate(commands, 1):
        fails = "fails" in block.flags and number == len(commands)
        _check(block, command, _shell(command.line, launcher), fails)


def _shell(line: str, launcher: Path) -> subprocess.CompletedProcess[str]:
    plain = {"NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "80", "PYTHONUTF8": "1"}
    path = f"{launcher}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, **plain, "PATH": path}
    return subprocess.run(
        ["/bin/sh", "-c", line],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        check=False,
    )


def _check(block: Block, command: Command, done: subprocess.CompletedProcess[str], fails: bool) -> None:
    if (done.returncode != 0) != fails:
        expected = "should fail but did" if fails else "failed"
        said = indent(done.stdout + done.stderr, "    ")
        raise BlockError(f"{block.place}: '{command.line}' {expected} (exit code {done.returncode}):\n{said}")
    got = done.stderr if fails else done.stdout
    shown = command.shown.strip("\n") + "\n"
    if shown.strip() and not doctest.OutputChecker().check_output(shown, got.strip("\n") + "\n", LENIENT):
        raise BlockError(
            f"{block.place}: '{command.line}' prints something else.\nShown:\n{indent(shown, '    ')}"
            f"Printed:\n{indent(got, '    ')}"
        )


def _write_launcher(folder: Path) -> None:
    """Put `bayleaf` on the path of the commands: the package of this interpreter, and no other."""
    folder.mkdir(parents=True)
    launcher = folder / "bayleaf"
    launcher.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bayleaf "$@"\n', "utf-8")
    launcher.chmod(0o755)
