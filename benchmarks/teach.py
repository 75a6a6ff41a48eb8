"""The page's two claims: few labels are enough, and the next document is there at once.

    python benchmarks/teach.py labels                   labels to 90 % of the full accuracy, by both orders
    python benchmarks/teach.py labels sms trec --seeds 2
    python benchmarks/teach.py latency --texts 1000000  key to next document over HTTP: p50 and p99
    python benchmarks/teach.py labels --json docs/teaching.json

Both run the real service, `bayleaf teach` as a process, and speak to it as the page does. A label is what the
corpus says; every tenth document is held out and not learned, and counts as a label all the same. The model
is asked for the test documents (at most 1,000) over HTTP after 20, 25, 31 … labels, until it is good enough.
Needs BAYLEAF_DATA, a folder of NAME.train.tsv and NAME.test.tsv (label, tab, text).
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from accuracy import read
from bayleaf import NaiveBayes

CORPORA = ["sms", "trec", "imdb", "20ng"]
ORDERS = ("random", "ask")
SHARE = 0.9
TESTS = 1_000
FIRST, GROWTH, MOST = 20, 1.25, 4_000
WORDS = 20_000
PAUSE = 0.2
"""Seconds that a very quick person needs to read a short text and press a key."""


class Client:
    """One connection to the page's service."""

    def __init__(self, url: str, process: int) -> None:
        self.process = process
        self._connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=600)
        (self.model,) = self.get("/")["models"]

    def get(self, path: str) -> Any:
        self._connection.request("GET", path)
        return json.load(self._connection.getresponse())

    def post(self, path: str, body: dict[str, Any]) -> Any:
        data = json.dumps(body).encode()
        self._connection.request(
            "POST", f"/models/{self.model}/{path}", data, {"Content-Type": "application/json"}
        )
        reply = self._connection.getresponse()
        found = json.load(reply)
        if reply.status != 200:
            raise SystemExit(found["detail"])
        return found


@contextmanager
def teaching(corpus: Path, folder: Path) -> Iterator[Client]:
    command = [sys.executable, "-m", "bayleaf", "teach", str(corpus), "--folder", str(folder)]
    process = subprocess.Popen(
        [*command, "--no-browser", "--port", "0", "--quiet"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout
        said = list(iter(process.stdout.readline, "Ready.\n"))
        url = next(word for line in said for word in line.split() if word.startswith("http://"))
        yield Client(url, process.pid)
    finally:
        process.terminate()
        process.wait()


def write(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts), "utf-8")
    return path


def curve(corpus: str, order: str, seed: int, enough: float) -> Iterator[tuple[int, float]]:
    """Labels and accuracy on the test documents, in percent, until it is enough."""
    texts, labels = read(corpus, "train")
    truth = dict(zip(texts, labels, strict=True))
    tests = list(zip(*read(corpus, "test"), strict=True))
    random.Random(0).shuffle(tests)
    tests = tests[:TESTS]
    shuffled = list(truth)
    random.Random(seed).shuffle(shuffled)
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        with teaching(write(place / "texts.jsonl", shuffled), place / "folder") as client:
            shown, due = client.post("page/next", {"order": order})["next"], float(FIRST)
            for number in range(1, MOST + 1):
                body = {"order": order, "item": shown["item"], "how": shown["how"], "key": str(number)}
                shown = client.post("page/label", {**body, "label": truth[shown["text"]]})["next"]
                if number >= due or shown is None:
                    due = number * GROWTH
                    reached = accuracy(client, tests)
                    yield number, reached
                    if reached >= enough or shown is None:
                        return


def accuracy(client: Client, tests: list[tuple[str, str]]) -> float:
    right = 0
    for at in range(0, len(tests), 100):
        some = tests[at : at + 100]
        answers = client.post("classify", {"texts": [text for text, _ in some]})["answers"]
        right += sum(each["label"] == label for each, (_, label) in zip(answers, some, strict=True))
    return 100 * right / len(tests)


def needed(points: list[tuple[int, float]], bar: float) -> int:
    return next((labels for labels, reached in points if reached >= bar), points[-1][0])


def measure_labels(corpora: list[str], seeds: int, file: Path | None) -> None:
    print(
        "| corpus | accuracy with all labels | 90 % of it | labels, random order | labels, the page's order |"
    )
    print("|---|---|---|---|---|")
    kept = []
    for corpus in corpora:
        tests = read(corpus, "test")
        full = 100 * float(
            np.mean(NaiveBayes().fit(*read(corpus, "train")).predict(tests[0]) == np.array(tests[1]))
        )
        curves = {
            order: [list(curve(corpus, order, seed, SHARE * full)) for seed in range(seeds)]
            for order in ORDERS
        }
        labels = {order: [needed(points, SHARE * full) for points in curves[order]] for order in ORDERS}
        medians = [f"{np.median(labels[order]):.0f}" for order in ORDERS]
        print(f"| {corpus} | {full:.1f} | {SHARE * full:.1f} | {' | '.join(medians)} |", flush=True)
        kept.append({"corpus": corpus, "accuracy": full, "labels": labels, "curves": curves})
    if file:
        file.write_text(json.dumps(kept) + "\n", "utf-8")


def short_texts(number: int) -> list[str]:
    """Texts of 5 to 15 words, drawn as words of a language are: the first ones most often."""
    rng = np.random.default_rng(0)
    drawn = np.minimum(rng.zipf(1.3, size=(number, 15)), WORDS)
    lengths = rng.integers(5, 16, number)
    return [" ".join(f"w{word}" for word in row[:length]) for row, length in zip(drawn, lengths, strict=True)]


def measure_latency(number: int, labels: int) -> None:
    """Key to next document: one request, durable, on a corpus that is read while the first labels come."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as name:
        place = Path(name)
        corpus = write(place / "texts.jsonl", short_texts(number))
        began = time.perf_counter()
        with teaching(corpus, place / "folder") as client:
            shown = client.post("page/next", {})["next"]
            print(f"first document after {time.perf_counter() - began:.2f} s (the start of Python included)")
            _answer(client, shown, labels, "while the corpus is read", PAUSE)
            while not all(each["done"] for each in client.post("page/state", {})["pool"]["sources"]):
                time.sleep(0.2)
            print(f"corpus of {number:,} texts read after {time.perf_counter() - began:.1f} s")
            _answer(client, client.post("page/next", {})["next"], labels, "afterwards", PAUSE)
            _answer(client, client.post("page/next", {})["next"], labels, "by a program, without a pause", 0)


def _answer(client: Client, shown: dict[str, Any], labels: int, when: str, pause: float) -> None:
    times, before = [], _processor_time(client.process)
    for count in range(labels):
        label = "even" if len(shown["text"]) % 2 else "odd"
        body = {"item": shown["item"], "how": shown["how"], "key": f"{when}{count}", "label": label}
        time.sleep(pause)
        began = time.perf_counter()
        shown = client.post("page/label", body)["next"]
        times.append(1000 * (time.perf_counter() - began))
    spent = 1000 * (_processor_time(client.process) - before) / labels
    low, high = np.percentile(times, [50, 99])
    print(
        f"{labels} labels {when}: p50 {low:.1f} ms, p99 {high:.1f} ms, worst {max(times):.1f} ms; "
        f"{spent:.1f} ms of processor time each, weighing included; load {os.getloadavg()[0]:.0f}",
        flush=True,
    )


def _processor_time(process: int) -> float:
    """Seconds that a process has computed (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["labels", "latency"])
    parser.add_argument("corpora", nargs="*", metavar="CORPUS", help=f"{', '.join(CORPORA)} by default")
    parser.add_argument("--seeds", type=int, default=3, metavar="N", help="draws (3)")
    parser.add_argument("--texts", type=int, default=1_000_000, metavar="N", help="short texts (1,000,000)")
    parser.add_argument("--labels", type=int, default=300, metavar="N", help="labels to time (300)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures in this file as well")
    parser.add_argument("--quick", action="store_true", help="sms and trec, one draw; 200,000 texts")
    given = parser.parse_args()
    if given.what == "latency":
        measure_latency(200_000 if given.quick else given.texts, given.labels)
    else:
        corpora = given.corpora or (["sms", "trec"] if given.quick else CORPORA)
        measure_labels(corpora, 1 if given.quick else given.seeds, given.json)


if __name__ == "__main__":
    main()
