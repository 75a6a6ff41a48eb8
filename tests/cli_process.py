"""Run `bayleaf` as users do: a process, files, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from doc_blocks import MESSAGES

COMMAND = [sys.executable, "-m", "bayleaf"]
ENVIRONMENT = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "100", "PYTHONUTF8": "1"}


def bayleaf(
    *arguments: str | Path, stdin: str | bytes = b"", cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        input=stdin.decode("utf-8") if isinstance(stdin, bytes) else stdin,
        env=ENVIRONMENT,
        cwd=cwd,
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=120,
    )


def done(*arguments: str | Path, stdin: str | bytes = b"", cwd: Path | None = None) -> str:
    """Run a command that must succeed; gives what it wrote."""
    ran = bayleaf(*arguments, stdin=stdin, cwd=cwd)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def refused(code: int, *arguments: str | Path, stdin: str | bytes = b"", cwd: Path | None = None) -> str:
    """Run a command that must fail with this exit code, in sentences; gives what it said."""
    ran = bayleaf(*arguments, stdin=stdin, cwd=cwd)
    assert ran.returncode == code, (ran.returncode, ran.stdout, ran.stderr)
    assert "Traceback" not in ran.stderr
    assert "bayleaf: " in ran.stderr
    return ran.stderr


def messages() -> list[tuple[str, str]]:
    """The bundled corpus: labels and texts."""
    lines = MESSAGES.read_text("utf-8").splitlines()
    return [(label, text) for label, _, text in (line.partition("\t") for line in lines)]


def write_tsv(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Write labels and texts."""
    path.write_text("".join(f"{label}\t{text}\n" for label, text in rows), "utf-8")
    return path
