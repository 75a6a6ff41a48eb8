"""Kill commands that change a model at random moments, many times, and look at what they left behind.

python tests/cli_kills.py FOLDER KILLS [SEED]

Half of the commands write behind the model, half write all of it. After every kill the model must be
readable, and be the one before or the one after; everything that was acknowledged must be there in the end.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

from bayleaf import Model, words
from cli_process import COMMAND, ENVIRONMENT, done, messages
from test_cli_outputs import n_documents

WAYS = (("--label", "ham", "-"), ("--label", "ham", "--threads", "1", "-"))
"""The second has an option that only the ordinary command knows."""


def started(path: Path, way: int, number: int) -> subprocess.Popen[bytes]:
    """A command that learns one line."""
    call = [*COMMAND, "update", str(path), "-q", *WAYS[way]]
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(call, stdin=subprocess.PIPE, stdout=nowhere, stderr=nowhere, env=ENVIRONMENT)
    assert process.stdin
    process.stdin.write(f"see you at noon {number}\n".encode())
    process.stdin.close()
    return process


def killed(path: Path, rng: random.Random, way: int, patience: list[float]) -> int | None:
    """The exit code of a command, None if it was killed before its end; about half are."""
    process = started(path, way, rng.randrange(1000))
    try:
        code = process.wait(rng.random() * patience[way])
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        patience[way] *= 1.04  # the machine may be busier than when it was measured
        return None
    patience[way] *= 0.96
    return code


def measured(path: Path, way: int) -> float:
    """Twice the seconds that a command takes if nobody kills it."""
    begun = time.perf_counter()
    assert started(path, way, 0).wait() == 0
    return 2 * (time.perf_counter() - begun)


def run(folder: Path, kills: int, seed: int) -> str:
    """Kill so many commands; what happened, in words."""
    path, rng = folder / "model", random.Random(seed)
    texts = [text for _, text in messages()]
    Model([words(2)]).learn(texts, [label for label, _ in messages()]).save(path)
    first = n_documents(path)
    patience = [measured(path, way) for way in range(len(WAYS))]
    count, died, acknowledged, behind = n_documents(path), 0, len(WAYS), 0
    assert count == first + acknowledged
    while died < kills:
        before, way = path.read_bytes(), rng.randrange(len(WAYS))
        code = killed(path, rng, way, patience)
        found = n_documents(path)  # reads and verifies all of it
        assert found in ((count + 1,) if code == 0 else (count, count + 1)), (code, count, found)
        died += code is None
        acknowledged += code == 0
        behind += found > count and path.read_bytes().startswith(before)
        count = found
    done("update", path, "-q", "--label", "ham", "--threads", "1", "-", stdin="see you at noon\n")
    assert n_documents(path) == count + 1
    assert count - first >= acknowledged
    left = [name for name in os.listdir(folder) if name.startswith(".")]
    assert left == [], left
    return (
        f"{died} kills, {acknowledged} acknowledged, {count - first} there, {behind} written behind the model"
    )


if __name__ == "__main__":
    print(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
