"""The command line as a mail filter and on training data, beside bogofilter, fastText and an older bayleaf.

    BAYLEAF_DATA=~/corpora python benchmarks/command_line.py [--quick] [--before COMMAND] [--json FILE]

Every figure is of whole processes, one after the other in one run: processor time, as megabytes of input a
second or milliseconds a message, and the peak of memory. Peers that are not installed are left out.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import gzip
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from one_message import written

NOW = str(Path(sys.executable).with_name("bayleaf"))
BOGOFILTER = shutil.which("bogofilter")
MAIL = "a mail"
TRAIN_FASTTEXT = """
import sys, fasttext
model = fasttext.train_supervised(sys.argv[1], thread=2, verbose=0)
model.save_model(sys.argv[2])
"""
ASK_FASTTEXT = """
import sys, fasttext
model = fasttext.load_model(sys.argv[1])
lines = []
def answer():
    for labels, shares in zip(*model.predict(lines, k=2)):
        print(labels[0], shares[0])
    lines.clear()
for line in open(sys.argv[2], encoding="utf-8", newline="\\n"):
    lines.append(line.rstrip("\\n"))
    if len(lines) == 1000:
        answer()
if lines:
    answer()
"""
JSON_FASTTEXT = """
import json, sys, fasttext
model = fasttext.load_model(sys.argv[1])
for line in open(sys.argv[2], encoding="utf-8"):
    document = json.loads(line)
    ((_, shares),) = zip(*model.predict([document["text"]], k=2))
    print(json.dumps(document | {"score": float(shares[0])}))
"""


@dataclass
class Cost:
    """What a process took."""

    seconds: float
    megabytes: float
    code: int = 0


def ran(call: list[Any], stdin: Path | None = None, stdout: Path | None = None) -> Cost:
    """Run a process to its end; its processor seconds and its peak of memory.

    Python may keep its bytecode, as an installed package has it, whatever this process was told.
    """
    nowhere, settings = Path(os.devnull), dict(os.environ)
    settings.pop("PYTHONDONTWRITEBYTECODE", None)
    with (
        (stdin or nowhere).open("rb") as given,
        (stdout or nowhere).open("wb") as made,
        nowhere.open("wb") as told,
    ):
        process = subprocess.Popen(
            [str(each) for each in call], stdin=given, stdout=made, stderr=told, env=settings
        )
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Cost(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, process.returncode)


def apart(work: Callable[..., None], *given: Any) -> None:
    """Do work in a process of its own: the peak of a process counts what its parent held when it began."""
    process = multiprocessing.get_context("fork").Process(target=work, args=given)
    process.start()
    process.join()
    assert process.exitcode == 0, work


@dataclass
class Bench:
    """Where files are, what is compared, and what was measured."""

    folder: Path
    data: Path
    before: str | None
    quick: bool
    figures: dict[str, dict[str, dict[str, float | None]]] = field(default_factory=dict)

    def show(
        self, title: str, columns: Iterable[str], rows: dict[str, dict[str, float | None]], form: str
    ) -> None:
        """Print a table, and keep it."""
        names = list(columns)
        self.figures[title] = rows
        print(f"\n{title}")
        print(f"{'':42}" + "".join(f"{name:>15}" for name in names))
        for row, cells in rows.items():
            shown = [format(value, form) if (value := cells.get(name)) is not None else "-" for name in names]
            print(f"{row:42}" + "".join(f"{cell:>15}" for cell in shown), flush=True)

    @property
    def versions(self) -> dict[str, str]:
        """The commands that are compared, by the name of their column."""
        return ({"before": self.before} if self.before else {}) | {"now": NOW}


def encoded(raw: bytes, slim: bool) -> bytes:
    """A mail with its body in base64; slim, with the sender and the subject as its only other headers."""
    head, _, body = raw.partition(b"\n\n")
    kept: list[bytes] = []
    for line in head.split(b"\n"):
        if line[:1] in (b" ", b"\t"):
            if kept and not kept[-1].endswith(b"\0"):
                kept.append(line)
            continue
        name = line.lower()
        wanted = name.startswith((b"from:", b"subject:")) if slim else not name.startswith(b"content-")
        kept.append(line if wanted else b"\0")
    kept = [line for line in kept if line != b"\0"]
    kind = b"text/html" if b"<html" in body.lower() else b"text/plain"
    about = b"Content-Type: " + kind + b"; charset=utf-8\nContent-Transfer-Encoding: base64"
    return b"\n".join([*kept, about]) + b"\n\n" + base64.encodebytes(body)


def mails(bench: Bench) -> dict[str, Path]:
    """The mails of the corpus as files: as they are, with bodies in base64, and with hardly a header."""
    most = 800 if bench.quick else None
    for part in ("train", "test"):
        for path in written(bench.data / f"mail.{part}.tsv", bench.folder / "plain" / part, most):
            for kind, slim in (("base64", False), ("slim", True)):
                target = bench.folder / kind / path.relative_to(bench.folder / "plain")
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(encoded(path.read_bytes(), slim))
    return {kind: bench.folder / kind for kind in ("plain", "base64", "slim")}


def accuracy(command: str, model: Path, test: Path, out: Path) -> float:
    """The percentage of mails in the right class."""
    call = [command, "evaluate", "-q", model, test, "--json"]
    assert ran(call, stdout=out).code == 0, call
    return 100 * float(json.loads(out.read_text())["accuracy"])


def bogofilter_right(words: Path, test: Path) -> float:
    """The percentage of mails on the right side of one half."""
    right = total = 0
    for label in ("ham", "spam"):
        names = [str(path) for path in sorted((test / label).iterdir())]
        call = [str(BOGOFILTER), "-d", str(words), "-T", "-b"]
        out = subprocess.run(call, input="\n".join(names) + "\n", capture_output=True, text=True, check=False)
        shares = [float(line.split()[-1]) for line in out.stdout.splitlines()]
        assert len(shares) == len(names)
        right += sum((share >= 0.5) == (label == "spam") for share in shares)
        total += len(shares)
    return 100 * right / total


def bogofilter_trained(words: Path, train: Path) -> None:
    words.mkdir()
    for label, flag in (("ham", "-n"), ("spam", "-s")):
        subprocess.run([str(BOGOFILTER), flag, "-d", str(words), "-B", str(train / label)], check=True)


def mail_accuracy(bench: Bench, kinds: dict[str, Path]) -> None:
    """How many mails are right, whatever they are wrapped in."""
    out = bench.folder / "out.json"
    models: dict[tuple[str, str], Path] = {}
    for name, command in bench.versions.items():
        for kind in ("plain", "slim"):
            ways = {name: [], f"{name} mail": ["--preset", "mail"]} if name == "now" else {name: []}
            for column, more in ways.items():
                path = models[column, kind] = bench.folder / f"{column}.{kind}".replace(" ", "_")
                assert ran([command, "train", "-q", kinds[kind] / "train", "-o", path, *more]).code == 0
    rows: dict[str, dict[str, float | None]] = {}
    for row, learned, asked in (
        ("mails as they are", "plain", "plain"),
        ("bodies in base64 in the test only", "plain", "base64"),
        ("base64 in both, few headers", "slim", "slim"),
    ):
        rows[row] = {
            column: accuracy(
                bench.versions[column.split()[0]], models[column, kind], kinds[asked] / "test", out
            )
            for column, kind in models
            if kind == learned
        }
        if BOGOFILTER:
            words = bench.folder / f"words.{learned}"
            if not words.exists():
                bogofilter_trained(words, kinds[learned] / "train")
            rows[row]["bogofilter"] = bogofilter_right(words, kinds[asked] / "test")
    bench.show("mail, % right", [*dict.fromkeys(column for column, _ in models), "bogofilter"], rows, ".2f")


def one_mail(bench: Bench, kinds: dict[str, Path]) -> None:
    """Milliseconds of processor time of one process for one mail."""
    names = [*sorted((kinds["plain"] / "test" / "spam").iterdir())][:: 60 if bench.quick else 19]
    rows: dict[str, dict[str, float | None]] = {}
    for name, command in bench.versions.items():
        for kind, how in (("plain", ["--plain"]), ("tuned", [])):
            model = bench.folder / f"{name}.{kind}.one"
            assert ran([command, "train", "-q", kinds["plain"] / "train", "-o", model, *how]).code == 0
            answer = ["--format", "eml", "/dev/stdin"] if name == "before" else ["-e"]
            change = ["--format", "eml"] if name == "before" else ["--format", "eml", "--label", "spam"]
            calls = {
                "answer": [command, "classify", model, "-q", *answer],
                "update": [command, "update", model, "-q", *change, MAIL],
                "forget": [command, "forget", model, "-q", *change, MAIL],
            }
            for row, call in calls.items():
                rows.setdefault(f"{row}, {kind}", {})[name] = milliseconds(call, names)
    if BOGOFILTER:
        for row, flag in (("answer", "-p"), ("update", "-s"), ("forget", "-S")):
            found = milliseconds([BOGOFILTER, flag, "-d", bench.folder / "words.plain"], names)
            rows[f"{row}, plain"]["bogofilter"] = rows[f"{row}, tuned"]["bogofilter"] = found
    bench.show(
        "one process a mail, ms of processor time (median)", [*bench.versions, "bogofilter"], rows, ".1f"
    )


def milliseconds(call: list[Any], names: list[Path]) -> float:
    """What a process takes for a mail, which is its input, and is named where `MAIL` stands."""
    calls = [([mail if each is MAIL else each for each in call], mail) for mail in names]
    return 1000 * statistics.median(ran(own, stdin=mail).seconds for own, mail in calls)


def labeled(bench: Bench, part: str) -> list[tuple[str, str]]:
    """Reviews are good and posts are bad, as one would choose text to train on."""
    rows = []
    for name, label in (("imdb", "good"), ("20ng", "bad")):
        lines = (bench.data / f"{name}.{part}.tsv").read_text("utf-8").split("\n")[:-1]
        texts = [line.split("\t", 1)[1].replace("\t", " ") for line in lines]
        rows += [(label, text) for text in (texts[::5] if bench.quick else texts)]
    return rows


def training_data(bench: Bench) -> dict[str, Path]:
    """What is to be scored, in every format, several times over."""
    names = ("txt", "jsonl", "jsonl.gz", "jsonl.zst", "parquet")
    paths = {name: bench.folder / f"web.{name}" for name in names}
    apart(write_training_data, bench, paths)
    return {name: path for name, path in paths.items() if path.exists()}


def write_training_data(bench: Bench, paths: dict[str, Path]) -> None:
    """Write the texts of the test sets in every format for which a library is installed."""
    texts = [text for _, text in labeled(bench, "test")] * (1 if bench.quick else 4)
    paths["txt"].write_text("".join(f"{text}\n" for text in texts), "utf-8")
    lines = "".join(
        json.dumps({"text": text, "id": i, "meta": {"lang": "en", "n": i % 7}}) + "\n"
        for i, text in enumerate(texts)
    )
    paths["jsonl"].write_text(lines, "utf-8")
    paths["jsonl.gz"].write_bytes(gzip.compress(lines.encode(), 6))
    with contextlib.suppress(ImportError):
        import pyarrow as pa
        import pyarrow.parquet as pq
        import zstandard

        paths["jsonl.zst"].write_bytes(zstandard.compress(lines.encode()))
        table = pa.table({"text": texts, "id": range(len(texts))})
        pq.write_table(table, paths["parquet"], compression="zstd", row_group_size=20_000)


def has_fasttext() -> bool:
    return ran([sys.executable, "-c", "import fasttext"]).code == 0


def write_corpus(bench: Bench, corpus: Path, lines: Path) -> None:
    """Write the texts to learn, for bayleaf and for fastText."""
    rows = labeled(bench, "train")
    corpus.write_text("".join(f"{label}\t{text}\n" for label, text in rows), "utf-8")
    lines.write_text("".join(f"__label__{label} {text}\n" for label, text in rows), "utf-8")


def train(bench: Bench) -> dict[str, Path]:
    """Models of reviews against posts, and what making them took."""
    corpus, lines = bench.folder / "train.tsv", bench.folder / "train.fasttext"
    apart(write_corpus, bench, corpus, lines)
    seconds: dict[str, dict[str, float | None]] = {}
    memory: dict[str, dict[str, float | None]] = {}
    models = {}
    calls = {
        (name, kind): [command, "train", "-q", corpus, "-o", bench.folder / f"{name}.{kind}.web", *how]
        for name, command in bench.versions.items()
        for kind, how in (("plain", ["--plain"]), ("tuned", []))
    }
    if has_fasttext():
        model = bench.folder / "web.ftz"
        calls["fastText", "tuned"] = [sys.executable, "-c", TRAIN_FASTTEXT, lines, model]
        models["fastText"] = model
    for (name, kind), call in calls.items():
        found = ran(call)
        assert found.code == 0, call
        seconds.setdefault(f"train, {kind}", {})[name] = found.seconds
        memory.setdefault(f"train, {kind}", {})[name] = found.megabytes
        models[f"{name} {kind}"] = bench.folder / f"{name}.{kind}.web"
    size = corpus.stat().st_size / 1e6
    columns = [*bench.versions, "fastText"]
    bench.show(f"learning {size:.0f} MB, processor seconds", columns, seconds, ".1f")
    bench.show(f"learning {size:.0f} MB, MB of memory", columns, memory, ".0f")
    return models


def score(bench: Bench, models: dict[str, Path], paths: dict[str, Path]) -> None:
    """Megabytes of text, or of JSON lines unpacked, a second of processor time; and memory."""
    speed: dict[str, dict[str, float | None]] = {}
    memory: dict[str, dict[str, float | None]] = {}
    whole = {name: paths["txt" if name == "txt" else "jsonl"].stat().st_size / 1e6 for name in paths}

    def measure(row: str, column: str, name: str, call: list[Any]) -> None:
        found = ran(call)
        assert found.code == 0, call
        speed.setdefault(row, {})[column] = whole[name] / found.seconds
        memory.setdefault(row, {})[column] = found.megabytes

    for version, command in bench.versions.items():
        for kind in ("plain", "tuned"):
            model = models[f"{version} {kind}"]
            call = [command, "classify", model, "-q", "--threads", "1"]
            measure(f"txt, class only, {kind}", version, "txt", [*call, paths["txt"]])
            for name, path in paths.items():
                measure(f"{name}, --log-odds, {kind}", version, name, [*call, "--log-odds", path])
            kept = [
                *call,
                "--json",
                "--proba",
                *(["--keep-text"] if version == "before" else []),
                paths["jsonl"],
            ]
            measure(f"jsonl to jsonl with shares, {kind}", version, "jsonl", kept)
    if "fastText" in models:
        for kind in ("plain", "tuned"):
            call = [sys.executable, "-c", ASK_FASTTEXT, models["fastText"], paths["txt"]]
            measure(f"txt, --log-odds, {kind}", "fastText", "txt", call)
            call = [sys.executable, "-c", JSON_FASTTEXT, models["fastText"], paths["jsonl"]]
            measure(f"jsonl to jsonl with shares, {kind}", "fastText", "jsonl", call)
    columns = [*bench.versions, "fastText"]
    bench.show("scoring, MB a second of processor time", columns, speed, ".1f")
    bench.show("scoring, MB of memory", columns, memory, ".0f")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="800 mails, and a fifth of the texts, once")
    parser.add_argument("--before", metavar="COMMAND", help="the bayleaf of an older version")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the figures")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        bench = Bench(Path(name), Path(os.environ["BAYLEAF_DATA"]), given.before, given.quick)
        kinds = mails(bench)
        mail_accuracy(bench, kinds)
        one_mail(bench, kinds)
        models = train(bench)
        score(bench, models, training_data(bench))
        if given.json:
            given.json.write_text(json.dumps(bench.figures, indent=1) + "\n")


if __name__ == "__main__":
    main()
