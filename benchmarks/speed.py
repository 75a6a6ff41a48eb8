"""The speed table, bayleaf and its peers side by side in one run.

    BAYLEAF_DATA=~/corpora python benchmarks/speed.py --quick
    BAYLEAF_DATA=~/corpora python benchmarks/speed.py --rows learn-words-wc start --json speed.json

Ratios are the result: both sides take turns in the same run, on the same machine. Absolute figures are there
to be looked at. Without --quick the run takes several minutes and 4 GB of memory.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

import command_rows as _command_rows  # noqa: F401  (enters the rows)
import living_rows as _living_rows  # noqa: F401  (enters the rows)
import matrix_rows as _matrix_rows  # noqa: F401  (enters the rows)
import rows as _rows  # noqa: F401  (enters the rows)
import study_rows as _study_rows  # noqa: F401  (enters the rows)
import tuned_rows as _tuned_rows  # noqa: F401  (enters the rows)
from measure import Duel, UnavailableError, data_folder, in_a_line
from peers import versions, wc_locale
from registry import ROWS, Bench, Row

STYLES = {"goal": "bold green", "must": "green", "missed": "bold red", "failed": "bold red"}


@dataclass(frozen=True)
class Line:
    """One row as measured."""

    row: Row
    duel: Duel

    @property
    def ratio(self) -> float | None:
        return self.duel.ratio(self.row.bar is None or self.row.bar.more_is_better)

    @property
    def verdict(self) -> str:
        if self.duel.failure or self.ratio is None:
            return "failed"
        return self.row.bar.verdict(self.ratio) if self.row.bar else "no bar"

    @property
    def summary(self) -> str:
        figures = (figure(self.duel, self.duel.pick(side)) for side in (self.duel.ours, self.duel.theirs))
        return f"{' against '.join(figures)}: {times(self.ratio)}, {self.verdict}"

    def record(self) -> dict[str, Any]:
        """The row for the JSON file: every single figure, so that the spread can be judged."""
        about = {name: getattr(self.row, name) for name in ("name", "group", "work", "against")}
        bar = asdict(self.row.bar) if self.row.bar else None
        return {**about, "bar": bar, "ratio": self.ratio, "verdict": self.verdict, **asdict(self.duel)}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure the rows asked for; 1 if our side of a row failed or, with --check, missed its bar."""
    options = parse(arguments)
    if options.list:
        for row in ROWS.values():
            print(f"{row.name:24}{row.group:8}{row.work} | {row.against}")
        return 0
    chosen = choose(options.rows)
    data_folder()
    started = time.time()
    lines, remarks = measure(chosen, options.quick)
    report = {**circumstances(options.quick), "seconds": round(time.time() - started, 1), "remarks": remarks}
    show(lines, [heading(report), *remarks])
    if options.json:
        report["rows"] = [line.record() for line in lines]
        options.json.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", "utf-8")
    bad = {"failed", "missed"} if options.check else {"failed"}
    return int(any(line.verdict in bad for line in lines))


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--quick", action="store_true", help="slices of the large corpora; under two minutes")
    parser.add_argument("--rows", nargs="+", metavar="NAME", help="only these rows, or groups of rows")
    parser.add_argument("--list", action="store_true", help="name the rows and stop")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure to this file")
    parser.add_argument("--check", action="store_true", help="exit with 1 if a row misses what it must reach")
    return parser.parse_args(arguments)


def choose(names: Sequence[str] | None) -> list[Row]:
    """The rows of these names or groups, in the table's order."""
    if names is None:
        return list(ROWS.values())
    known = {*ROWS, *(row.group for row in ROWS.values())}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"No row or group is named {unknown[0]!r}. --list names them.", file=sys.stderr)
        raise SystemExit(2)
    return [row for row in ROWS.values() if row.name in names or row.group in names]


def measure(chosen: list[Row], quick: bool) -> tuple[list[Line], list[str]]:
    """Run the rows one after another; each is reported on stderr at once, should the run be cut short."""
    lines, remarks = [], []
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(quick, Path(folder))
        for row in chosen:
            print(f"{row.name} … ", end="", file=sys.stderr, flush=True)
            try:
                line = Line(row, row.run(bench))
            except UnavailableError as reason:
                print("left out", file=sys.stderr)
                remarks.append(f"{row.name} is left out: {reason}.")
                continue
            except Exception as error:
                line = Line(row, Duel(failure=in_a_line(error)))
            lines.append(line)
            print(line.summary, file=sys.stderr)
            if line.duel.remark:
                remarks.append(f"{row.name}: {line.duel.remark}.")
    return lines, [*remarks, *failures(lines)]


def failures(lines: list[Line]) -> list[str]:
    """Each reason for failing once, with the rows it struck."""
    reasons: dict[str, list[str]] = {}
    for line in lines:
        if line.duel.failure:
            reasons.setdefault(line.duel.failure, []).append(line.row.name)
    return [f"Failed ({', '.join(names)}): {reason}" for reason, names in reasons.items()]


def circumstances(quick: bool) -> dict[str, Any]:
    """What the figures depend on besides the code."""
    return {
        "date": time.strftime("%Y-%m-%d %H:%M", time.gmtime()),
        "quick": quick,
        "processor": processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": versions(),
        "wc_locale": wc_locale(),
    }


def processor() -> str:
    """The processor's own name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")


def heading(report: dict[str, Any]) -> str:
    """The circumstances, in words."""
    releases = ", ".join(f"{name} {release}" for name, release in report["versions"].items())
    slices = "Large corpora were sliced (--quick). " if report["quick"] else ""
    return (
        f"{slices}{report['seconds']:.0f} s on {report['processor']}, {report['cores']} cores, "
        f"load {report['load']:.1f}; Python {report['python']}, {releases}; wc -w in {report['wc_locale']}."
    )


def show(lines: list[Line], remarks: list[str]) -> None:
    """The table, then what is to be said about it; a file or pipe gets the width it takes."""
    console = Console() if sys.stdout.isatty() else Console(width=150)
    console.print(table(lines, with_work=console.width >= 140))
    for remark in remarks:
        console.print(remark, highlight=False, markup=False, soft_wrap=True)


def table(lines: list[Line], with_work: bool) -> Table:
    """The rows as they are shown."""
    shown = Table(title="bayleaf and its peers, side by side", box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ["row", "work", "against"] if with_work else ["row", "against"]:
        shown.add_column(name)
    for name in ("bayleaf", "peer", "ratio", "must", "goal", "reached"):
        shown.add_column(name, justify="right", no_wrap=True)
    for line in lines:
        row, duel, verdict = line.row, line.duel, line.verdict
        about = [row.name, row.work, row.against] if with_work else [row.name, row.against]
        figures = [figure(duel, duel.pick(side)) for side in (duel.ours, duel.theirs)]
        bars = [times(row.bar.must), times(row.bar.goal)] if row.bar else ["", ""]
        shown.add_row(*about, *figures, times(line.ratio), *bars, verdict, style=STYLES.get(verdict, ""))
    return shown


def figure(duel: Duel, value: float | None) -> str:
    """Seconds, speed or memory, in the unit a reader expects."""
    if value is None:
        return "–"
    if duel.unit == "B":
        return f"{value / 1e6:,.0f} MB"
    if duel.megabytes:
        speed = duel.megabytes / value
        return f"{speed:,.0f} MB/s" if speed >= 20 else f"{speed:.2g} MB/s"
    return f"{value * 1e3:,.0f} ms" if value >= 0.01 else f"{value * 1e6:,.0f} µs"


def times(ratio: float | None) -> str:
    """A ratio as the targets write it: 2.5 ×, 30 ×, 1/4."""
    if ratio is None:
        return "–"
    if ratio <= 0.5:
        return f"1/{1 / ratio:.3g}"
    return f"{ratio:.0f} ×" if ratio >= 100 else f"{ratio:.3g} ×"


if __name__ == "__main__":
    raise SystemExit(main())
