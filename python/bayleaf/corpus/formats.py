"""Format detection, by file name and first bytes."""

from __future__ import annotations

from bayleaf.corpus.layout import from_path
from bayleaf.corpus.settings import CorpusError, Settings, listed
from bayleaf.corpus.streams import STANDARD_INPUT, Stream, stem
from bayleaf.first_lines import SAMPLE, looks_like
from bayleaf.raw_mail import HEADER, SEPARATOR, in_maildir

STREAMED = ("tsv", "csv", "jsonl", "parquet", "fasttext", "mbox", "fasta", "fastq", "lines")
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
    ".fastq": "fastq",
    ".fq": "fastq",
    ".ftz": "fasttext",
}


def by_name(path: str) -> str | None:
    """Guess the format from a file's ending, or from the Maildir it is in."""
    return BY_ENDING.get(stem(path)[1]) or ("eml" if in_maildir(path) else None)


def guessed(stream: Stream, settings: Settings) -> str:
    """Name the format of a stream: the one asked for, or by its name, or by its first lines."""
    start = stream.peek(SAMPLE)
    if not start.strip(b"\r\n") and not (start and _are_lines(stream, settings)):
        raise EmptyInputError(f"{stream.name} is empty.")
    if settings.format:
        return settings.format
    if start.startswith(b"PAR1"):
        return "parquet"
    if settings.mail and HEADER.match(start):
        return "eml" if stream.name == STANDARD_INPUT or not SEPARATOR.match(start) else "mbox"
    if stream.name == STANDARD_INPUT:
        return _of_standard_input(start, settings)
    return by_name(stream.name) or looks_like(start)


def _are_lines(stream: Stream, settings: Settings) -> bool:
    """Whether a stream is lines to be answered, one by one: then an empty one is a document, too."""
    asked = settings.format in (None, "lines") and settings.labeled is False and settings.constant is None
    return asked and stream.name == STANDARD_INPUT and _of_standard_input(b"", settings) == "lines"


class EmptyInputError(CorpusError):
    """An input with nothing in it."""


def _of_standard_input(start: bytes, settings: Settings) -> str:
    """Lines, whatever they begin with, unless an option or the model needs more: columns, labels, sequences.

    Then the first line decides: how many have come when they are looked at must not.
    """
    first = start.split(b"\n", 1)[0]
    if settings.taxonomy is not None or settings.rank is not None:
        return "fastq" if first.startswith(b"@") else "fasta"
    column = settings.label is not None and not from_path(settings.label)
    table = settings.table and not (settings.mail and not first.lstrip().startswith(b"{"))
    if settings.text or table or column or settings.header is not None:
        return "jsonl" if first.lstrip().startswith(b"{") else "tsv" if b"\t" in first else "csv"
    return "tsv" if settings.labeled and settings.label is None else "lines"


FORMATS_OF = {
    "text": ("tsv", "csv", "jsonl", "parquet"),
    "header": ("tsv", "csv"),
    "taxonomy": ("fasta", "fastq"),
    "rank": ("fasta", "fastq"),
}


def check_options(name: str, kind: str, settings: Settings) -> None:
    """Refuse an option that means nothing for a format, rather than ignore it."""
    for option, kinds in FORMATS_OF.items():
        if getattr(settings, option) not in (None, ()) and kind not in kinds:
            formats = listed([each.upper() if each != "parquet" else "Parquet" for each in kinds]).replace(
                "'", ""
            )
            raise CorpusError(
                f"`{option}` is for {formats}, but {name} is read as {kind}. Drop it, or name another "
                "`format`."
            )


def check_format(name: str | None) -> None:
    """Refuse a format that does not exist."""
    if name is not None and name not in FORMATS:
        raise CorpusError(f"No format is named {name!r}. The formats are {listed(FORMATS)}.")
