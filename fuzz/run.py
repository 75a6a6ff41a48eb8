"""Run a fuzz target: guided by coverage (Atheris) as long as one likes, or some thousand inputs as a test.

python fuzz/run.py --quick                      every target, the same inputs each time, in seconds
python fuzz/run.py mail --seconds 600           random changes of the inputs in fuzz/corpus/mail
python fuzz/run.py mail --atheris -runs=100000  guided by coverage; what follows is libFuzzer's
"""

from __future__ import annotations

import argparse
import faulthandler
import random
import sys
import time
import warnings
from pathlib import Path

CORPUS = Path(__file__).parent / "corpus"
FOUND = Path(__file__).parent.parent / "target" / "fuzz" / "found"
QUICK = {"model_file": 250, "text": 400, "mail": 400, "corpus": 400, "spamd": 400, "http": 400}
HANG = 60
"""Seconds that no input of a few kilobytes may take."""
PIECES = [
    b"\0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\n",
    b"\r",
    b'"',
    b"\t",
    b"&#",
    b"<",
    b"=?",
    b"9" * 40,
    b";" * 40,
    b"--b",
]


def changed(chance: random.Random, data: bytes) -> bytes:
    """Some bytes of an input changed, moved, doubled or left out."""
    made = bytearray(data)
    for _ in range(chance.randrange(1, 6)):
        at = chance.randrange(len(made) + 1)
        end = min(at + chance.randrange(1, 30), len(made))
        match chance.randrange(5):
            case 0:
                made[at:at] = chance.choice(PIECES)
            case 1:
                del made[at:end]
            case 2:
                made[at:at] = made[at:end] * chance.randrange(1, 4)
            case 3 if made:
                made[at % len(made)] = chance.randrange(256)
            case _:
                made[at:end] = chance.randbytes(chance.randrange(4))
    return bytes(made[:20_000])


def inputs(name: str) -> list[bytes]:
    """The interesting inputs that the repository keeps."""
    return [file.read_bytes() for file in sorted((CORPUS / name).glob("*"))] or [b"", b"a"]


def run(name: str, runs: float, seconds: float) -> int:
    """How many inputs were tried; the one that fails is written to a file, and its error raised."""
    from targets import TARGETS

    chance, seeds = random.Random(17), inputs(name)
    end, done = time.monotonic() + seconds, 0
    while done < runs and time.monotonic() < end:
        data = seeds[done] if done < len(seeds) else changed(chance, chance.choice(seeds))
        faulthandler.dump_traceback_later(HANG, exit=True)
        try:
            TARGETS[name](data)
        except BaseException:
            file = Path(f"crash-{name}")
            file.write_bytes(data)
            print(f"{name}: input {done} fails; it is in {file}", file=sys.stderr)
            raise
        finally:
            faulthandler.cancel_dump_traceback_later()
        done += 1
    print(f"{name}: {done} inputs, none fails")
    return done


def guided(name: str, rest: list[str]) -> None:
    """Let Atheris choose the inputs by what they reach."""
    import atheris

    with atheris.instrument_imports(include=["bayleaf"]):
        from targets import TARGETS
    # What it finds goes to the first folder, the repository's stays as it is.
    atheris.Setup([sys.argv[0], *rest, str(FOUND / name), str(CORPUS / name)], TARGETS[name])
    atheris.Fuzz()


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("target", nargs="?", choices=[*QUICK])
    parser.add_argument("--quick", action="store_true", help="every target, bounded")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--atheris", action="store_true", help="guided by coverage")
    options, rest = parser.parse_known_args()
    sys.path.insert(0, str(Path(__file__).parent))
    warnings.simplefilter("ignore")
    if options.quick:
        for name, runs in QUICK.items():
            run(name, runs, float("inf"))
    elif options.target is None:
        parser.error("name a target, or --quick")
    elif options.atheris:
        guided(options.target, rest)
    else:
        run(options.target, float("inf"), options.seconds)


if __name__ == "__main__":
    main()
