"""Which format an input has, by its name and by how it begins."""

from __future__ import annotations

import re

from bayleaf.corpus.layout import LABEL_NAMES, TEXT_NAMES
from bayleaf.corpus.lines import PREFIX
from bayleaf.corpus.records import SEPARATOR
from bayleaf.corpus.settings import CorpusError, Settings, listed
from bayleaf.corpus.streams import Stream, stem

STREAMED = ("tsv", "csv", "jsonl", "parquet", "fasttext", "mbox", "fasta", "lines")
FORMATS = (*STREAMED, "folders", "maildir", "eml")
"""The formats that can be asked for by name."""

BY_ENDING = {
    ".tsv": "tsv",
    ".tab": "tsv",
    ".csv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".mbox": "mbox",
    ".mbx": "mbox",
    ".eml": "eml",
    ".fasta": "fasta",
    ".fa": "fasta",
    ".fas": "fasta",
    ".fna": "fasta",
    ".ffn": "fasta",
    ".faa": "fasta",
    ".ftz": "fasttext",
}
SAMPLE = 1 << 16
SEQUENCE = re.compile(rb">[^\n]+\n[A-Za-z*.-]+\s*(?:\n|\Z)")


def by_name(path: str) -> str | None:
    """Guess the format from a file's ending."""
    return BY_ENDING.get(stem(path)[1])


def guessed(stream: Stream, settings: Settings) -> str:
    """Name the format of a stream: the one asked for, or by its name, or by its first lines."""
    start = stream.peek(SAMPLE)
    if not start.strip(b"\r\n"):
        raise CorpusError(f"{stream.name} is empty.")
    if settings.format:
        return settings.format
    if start.startswith(b"PAR1"):
        return "parquet"
    return by_name(stream.name) or by_content(start)


def by_content(start: bytes) -> str:
    """Guess the format from the first bytes."""
    if start.startswith(PREFIX):
        return "fasttext"
    if SEPARATOR.match(start):
        return "mbox"
    if SEQUENCE.match(start):
        return "fasta"
    if start.lstrip().startswith(b'{"'):
        return "jsonl"
    whole = start[: start.rfind(b"\n") + 1] or start
    lines = [line for line in whole.split(b"\n", 100)[:100] if line.strip()]
    if lines and all(b"\t" in line for line in lines):
        return "tsv"
    return "csv" if lines and _like_csv(lines) else "lines"


def _like_csv(lines: list[bytes]) -> bool:
    """A header with usual names, or the same number of commas, more than two, on each of several lines."""
    names = {cell.strip(' "\r').lower() for cell in re.split("[,;|]", lines[0].decode("utf-8", "replace"))}
    if len(names) > 1 and names & set(TEXT_NAMES) and names & set(LABEL_NAMES):
        return True
    commas = {line.count(b",") for line in lines}
    return len(lines) > 4 and len(commas) == 1 and commas.pop() > 2


def check_format(name: str | None) -> None:
    """Refuse a format that does not exist."""
    if name is not None and name not in FORMATS:
        raise CorpusError(f"No format is named {name!r}. The formats are {listed(FORMATS)}.")
