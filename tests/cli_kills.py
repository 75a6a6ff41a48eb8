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


def killed(path: Path, rng: random.Random, longest: list[float]) -> int | None:
    """The exit code of a command, None if it was killed before its end."""
    way = rng.randrange(2)
    call = [*COMMAND, "update", str(path), "-q", *WAYS[way]]
    process = subprocess.Popen(
        call, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT
    )
    assert process.stdin
    process.stdin.write(f"see you at noon {rng.randrange(1000)}\n".encode())
    process.stdin.close()
    started = time.perf_counter()
    try:
        code = process.wait(rng.random() * longest[way])
        longest[way] = 0.9 * longest[way] + 0.1 * 1.3 * (time.perf_counter() - started)
        return code
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        return None


def run(folder: Path, kills: int, seed: int) -> str:
    """Kill so many commands; what happened, in words."""
    path, rng = folder / "model", random.Random(seed)
    texts = [text for _, text in messages()]
    Model([words(2)]).learn(texts, [label for label, _ in messages()]).save(path)
    count, died, acknowledged, behind, longest = n_documents(path), 0, 0, 0, [0.2, 1.0]
    first = count
    while died < kills:
        before = path.read_bytes()
        code = killed(path, rng, longest)
        found = n_documents(path)  # reads and verifies all of it
        assert found in ((count + 1,) if code == 0 else (count, count + 1)), (code, count, found)
        died += code is None
        acknowledged += code == 0
        behind += path.read_bytes().startswith(before) and len(before) < path.stat().st_size
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
