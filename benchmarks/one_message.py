"""One process a message: processor time to answer and to learn a mail, beside bogofilter, in one run.

    BAYLEAF_DATA=~/corpora python benchmarks/one_message.py [--quick] [--json FILE]

The mails are those of `mail.train.tsv` and `mail.test.tsv`, written as files. Each row is the median over
mails of the processor time of a process, ours and the peer's by turns, beside what `python -c pass` takes.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from bayleaf.text.mail_one_line import restored

COMMAND = [str(Path(sys.executable).with_name("bayleaf"))]


def written(corpus: Path, folder: Path, most: int | None) -> list[Path]:
    """The mails of a corpus as files, a folder for each class."""
    paths = []
    with corpus.open(encoding="utf-8", newline="\n") as lines:
        for number, line in enumerate(lines):
            if most is not None and number >= most:
                break
            label, text = line.rstrip("\n").split("\t", 1)
            (folder / label).mkdir(parents=True, exist_ok=True)
            paths.append(folder / label / f"{number:05}.eml")
            paths[-1].write_bytes(restored(text).encode("utf-8", "surrogateescape"))
    return paths


def cost(call: list[str], mail: Path) -> float:
    """Milliseconds of processor time of one process that reads a mail."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with mail.open("rb") as stdin:
        nowhere = subprocess.DEVNULL
        subprocess.run(call, stdin=stdin, stdout=nowhere, stderr=nowhere, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def calls(folder: Path) -> dict[str, list[str]]:
    """The commands that take turns."""
    spam = ["--label", "spam", "--format", "eml", "-"]
    found = {"python -c pass": [sys.executable, "-c", "pass"]}
    for model in ("plain", "tuned"):
        path = str(folder / model)
        found |= {
            f"classify -e, {model}": [*COMMAND, "classify", path, "-e"],
            # An option that only the ordinary command knows: what it took before.
            f"classify -e, {model}, loaded": [*COMMAND, "classify", path, "-e", "--threads", "1"],
            f"update, {model}": [*COMMAND, "update", path, "-q", *spam],
            f"forget, {model}": [*COMMAND, "forget", path, "-q", *spam],
        }
    if shutil.which("bogofilter"):
        words = str(folder / "words")
        found |= {
            "bogofilter -p": ["bogofilter", "-p", "-d", words],
            "bogofilter -s": ["bogofilter", "-s", "-d", words],
            "bogofilter -S": ["bogofilter", "-S", "-d", words],
        }
    return found


def trained(folder: Path, train: Path) -> None:
    """Our two models, and bogofilter's list of words."""
    for name, options in (("plain", ["--plain"]), ("tuned", [])):
        subprocess.run([*COMMAND, "train", str(train), "-q", "-o", str(folder / name), *options], check=True)
    if shutil.which("bogofilter"):
        (folder / "words").mkdir()
        for label, flag in (("ham", "-n"), ("spam", "-s")):
            call = ["bogofilter", flag, "-d", str(folder / "words"), "-B", str(train / label)]
            subprocess.run(call, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--quick", action="store_true", help="800 mails instead of 4,836, and 7 instead of 20 asked"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    asked = parser.parse_args()
    data = Path(os.environ["BAYLEAF_DATA"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        written(data / "mail.train.tsv", folder / "train", 800 if asked.quick else None)
        mails = written(data / "mail.test.tsv", folder / "test", None)
        trained(folder, folder / "train")
        sizes = {model: os.path.getsize(folder / model) / 1e6 for model in ("plain", "tuned")}
        times: dict[str, list[float]] = {name: [] for name in calls(folder)}
        for mail in mails[:: len(mails) // (7 if asked.quick else 20)]:
            for row, call in calls(folder).items():
                times[row].append(cost(call, mail))
    medians = {row: statistics.median(each) for row, each in times.items()}
    print(
        f"models of {sizes['plain']:.1f} and {sizes['tuned']:.1f} MB; milliseconds of processor time, median"
    )
    for row, median in medians.items():
        print(f"{row:32} {median:7.1f}")
    if asked.json:
        asked.json.write_text(json.dumps({"megabytes": sizes, "milliseconds": medians}, indent=1) + "\n")


if __name__ == "__main__":
    main()
