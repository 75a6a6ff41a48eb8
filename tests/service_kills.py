"""Kill a writing process at random moments, many times, and look at what it left behind.

python tests/service_kills.py FOLDER KILLS [SEED]

This process imports once and forks each victim, so that 300 kills take a minute. It starts no thread itself.
"""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

from bayleaf import Model, words
from bayleaf.service import database
from bayleaf.service.database import Ledger
from bayleaf.service.documents import unpacked
from bayleaf.service.refusals import NotFound
from bayleaf.service.served import Served, facts
from bayleaf.service.store import Store, recovered
from bayleaf.service.verifying import verify
from service_store import forget, learn, model_of, opened

THREADS = 4
SETTINGS = "[storage]\nsnapshot_changes = 40\n"


def work(number: int, seed: int, store: Store, served: Served, said: int) -> None:
    """Learn, correct and forget documents of one's own, and say what was asked and acknowledged."""
    rng = random.Random(seed * THREADS + number)
    while True:
        text = f"text {number} {rng.randrange(40)} words words"
        label = rng.choice(["ham", "spam", "gone"])
        os.write(said, f"ask {text} = {label}\n".encode())
        if label == "gone":
            with suppress(NotFound):
                forget(store, served, text)
        else:
            learn(store, served, [(text, label)])
        os.write(said, f"ack {text} = {label}\n".encode())


def victim(folder: Path, seed: int, said: int) -> None:
    """A process that works until it is killed."""
    with opened(folder) as (store, served):
        threads = [
            threading.Thread(target=work, args=(number, seed, store, served, said), daemon=True)
            for number in range(THREADS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def killed(folder: Path, seed: int, delay: float) -> list[str]:
    """Start a victim, kill it some time after its first acknowledgement; gives what it said."""
    path = folder.parent / "said"
    said = os.open(path, os.O_CREAT | os.O_TRUNC | os.O_APPEND | os.O_RDWR, 0o600)
    process = os.fork()
    if process == 0:
        try:
            victim(folder, seed, said)
        finally:
            os._exit(1)
    os.close(said)
    while "ack" not in path.read_text():
        assert os.waitpid(process, os.WNOHANG) == (0, 0), "The victim died of itself."
        time.sleep(0.002)
    time.sleep(delay)
    os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    return path.read_text().split("\n")[:-1]


def ledger_of(folder: Path) -> dict[str, str]:
    """What the ledger holds; recovered, the model must be of exactly this."""
    connection = database.connect(folder)
    try:
        ledger = Ledger(connection)
        known = {str(unpacked(row.columns)): json.loads(row.label) for row in ledger.documents(1)}
        assert facts(recovered(folder, ledger, 1, Model([words()]))) == model_of(list(known.items()))
        return known
    finally:
        connection.close()


def check(known: dict[str, str], said: list[str], found: dict[str, str]) -> int:
    """What was acknowledged is there; what was only asked may be, as a whole. Gives the acknowledged."""
    asked: dict[str, str] = {}
    acknowledged = 0
    for line in said:
        what, _, pair = line.partition(" ")
        text, _, label = pair.partition(" = ")
        if what == "ask":
            asked[text] = label
        else:
            known[text] = asked.pop(text)
            acknowledged += 1
    for text in known | asked | found:
        before = known.get(text, "gone")
        assert found.get(text, "gone") in {before, asked.get(text, before)}, (text, known.get(text))
    return acknowledged


def main(folder: Path, kills: int, seed: int = 11) -> None:
    """Kill so many times, and check after each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "bayleaf.toml").write_text(SETTINGS)
    known: dict[str, str] = {}
    rng = random.Random(seed)
    acknowledged = 0
    for kill in range(kills):
        said = killed(folder, seed + kill, rng.uniform(0, 0.3))
        assert all(each.sound for each in verify(folder))
        found = ledger_of(folder)
        acknowledged += check(known, said, found)
        known = found
    print(f"{kills} kills, {acknowledged} acknowledged changes, all there; every folder verified.")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), *map(int, sys.argv[3:]))
