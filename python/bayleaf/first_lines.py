"""What an input looks like by its first lines; without NumPy, for the commands on one message."""

from __future__ import annotations

import re

from bayleaf.raw_mail import SEPARATOR

TEXT_NAMES = (
    "text",
    "body",
    "message",
    "content",
    "document",
    "sentence",
    "review",
    "comment",
    "tweet",
    "sms",
)
LABEL_NAMES = ("label", "class", "category", "target", "sentiment", "tag", "topic", "lang", "language", "y")
PREFIX = b"__label__"
"""What a line of fastText begins with."""
SAMPLE = 1 << 16
READ = re.compile(rb"@[^\n]+\n[A-Za-z*.-]+\r?\n\+[^\n]*\n[!-~]+\s*(?:\n|\Z)")
SEQUENCE = re.compile(rb">[^\n]+\n[A-Za-z*.-]+\s*(?:\n|\Z)")


def looks_like(start: bytes) -> str:
    """The format that the first bytes of an input are in, most likely."""
    if start.startswith(PREFIX):
        return "fasttext"
    if SEPARATOR.match(start):
        return "mbox"
    if SEQUENCE.match(start):
        return "fasta"
    if READ.match(start):
        return "fastq"
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
