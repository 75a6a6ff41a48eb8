"""Readers take time proportional to the size of what they read, whatever is in it, and a bounded memory.

One record of each format at growing sizes, and many records; the time a megabyte must not grow. Each size is
read in a process of its own, for its peak memory.

    python benchmarks/readers.py [--quick] [--json FILE]
"""

from __future__ import annotations

import argparse
import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

MB = 1 << 20
CODE = """
import re, sys, time
from bayleaf.corpus import open_corpus
started = time.process_time()
rows = sum(len(batch) for batch in open_corpus(sys.argv[1], max_record=1 << 30, batch_bytes=2 << 20))
peak = re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]
print(rows, time.process_time() - started, peak)
"""
LINE = b"the quick brown fox jumps over the lazy dog, again and again and once more\n"


def repeated(head: bytes, line: bytes, tail: bytes = b"") -> Callable[[int], bytes]:
    return lambda size: head + line * (size // len(line)) + tail


ONE: dict[str, Callable[[int], bytes]] = {
    "m.txt": lambda size: b"x " * (size // 2),
    "m.csv": repeated(b'label,text\na,"', LINE, b'"\n'),
    "m.jsonl": lambda size: b'{"text": "' + b"x " * (size // 2) + b'"}\n',
    "m.fasta": repeated(b">a\n", b"ACGT" * 15 + b"\n"),
    "m.mbox": repeated(b"From a Mon Nov 16 12:00:00 2026\nSubject: x\n\n", LINE),
    "m.txt.gz": lambda size: gzip.compress(b"x " * (size // 2), 1),
}
MANY: dict[str, Callable[[int], bytes]] = {
    "many.tsv": repeated(b"", b"a\t" + LINE),
    "many.csv": repeated(b"label,text\n", b'a,"quoted, and ""so"" on\n in two lines"\n'),
    "many.jsonl": repeated(b"", b'{"text": "' + LINE[:-1] + b'", "n": 1}\n'),
    "many.fasta": repeated(b"", b">a b\n" + b"ACGT" * 15 + b"\n" + b"ACGT" * 15 + b"\n"),
    "many.fastq": repeated(b"", b"@a\n" + b"ACGT" * 15 + b"\n+\n" + b"IIII" * 15 + b"\n"),
    "many.mbox": repeated(b"", b"From a Mon Nov 16 12:00:00 2026\nSubject: x\n\n" + LINE * 5 + b"\n"),
}


def measured(path: Path) -> tuple[float, int]:
    """Processor seconds, and the peak memory in bytes."""
    command = [sys.executable, "-c", CODE, str(path)]
    out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    _, seconds, peak = out.split()
    return float(seconds), int(peak) * 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="up to 64 MB only")
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    sizes = [16, 64] if given.quick else [32, 128, 512]
    figures: dict[str, dict[int, tuple[float, int]]] = {}
    print(
        "input".ljust(16)
        + "".join(f"{size:>7} MB" + "     peak" for size in sizes)
        + "   time a MB, last / first"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, make in (ONE | MANY).items():
            row = figures.setdefault(name, {})
            for size in sizes:
                path = Path(folder, name)
                path.write_bytes(make(size * MB))
                row[size] = measured(path)
                path.unlink()
            cells = "".join(f"{seconds:7.2f} s {peak / MB:5.0f} MB" for seconds, peak in row.values())
            growth = (row[sizes[-1]][0] / sizes[-1]) / (row[sizes[0]][0] / sizes[0])
            print(f"{name:<14}{cells}   {growth:.2f}", flush=True)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
