"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

FORMATS = (
    "tsv",
    "csv",
    "jsonl",
    "parquet",
    "fasttext",
    "mbox",
    "fasta",
    "fastq",
    "lines",
    "folders",
    "maildir",
    "eml",
)


class Bytes(click.ParamType[int]):
    """A number of bytes, such as 64K, 256M or 2G."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number that is written."""
        text = str(value).strip().upper().removesuffix("B").removesuffix("I")
        scale = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}.get(text[-1:], 1)
        number = text[:-1] if scale > 1 else text
        if not number.isdecimal() or not int(number):
            self.fail(f"{value!r} is not a size such as 64K, 256M or 2G.", param, ctx)
        return int(number) * scale


class Encoding(click.ParamType[str]):
    """An encoding that Python knows."""

    name = "encoding"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Its name."""
        import codecs

        try:
            codecs.lookup(str(value))
        except LookupError:
            self.fail(
                f"no encoding is named {value!r}. Common ones are utf-8, latin-1 and utf-16.", param, ctx
            )
        return str(value)


_QUIET = click.option("-q", "--quiet", is_flag=True, help="Suppress remarks and progress.")

_READING = [
    click.option(
        "--format",
        type=click.Choice(FORMATS),
        help="Format of the input; detected from name and content by default.",
    ),
    click.option(
        "--text-column",
        "text",
        multiple=True,
        metavar="NAME",
        help="The column with the text; several are joined.",
    ),
    click.option(
        "--label-column",
        "label",
        metavar="NAME",
        help="The column with the label; or 'folder', 'file', or a pattern of the path: '(ham|spam)'.",
    ),
    click.option("--header/--no-header", default=None, help="Whether the first row of a table is a header."),
    click.option(
        "--encoding",
        type=Encoding(),
        default="utf-8",
        show_default=True,
        help="Encoding of the input.",
    ),
    click.option(
        "--on-error",
        type=click.Choice(["stop", "skip", "replace"]),
        default="stop",
        show_default=True,
        help="How to handle undecodable or malformed records.",
    ),
    click.option(
        "--rejects",
        metavar="FILE",
        help="With --on-error skip: write what is left out as JSON lines, with file, line and reason.",
    ),
    click.option(
        "--max-record",
        type=Bytes(),
        default="256M",
        show_default=True,
        metavar="SIZE",
        help="The longest line, quoted row, message or sequence to read.",
    ),
    click.option("--taxonomy", metavar="FILE", help="For FASTA and FASTQ: the table of names and lineages."),
    click.option("--rank", metavar="RANK", help="For FASTA and FASTQ: the rank that is the label: genus."),
    click.option(
        "--threads",
        type=click.IntRange(1),
        help="Number of threads; all processors by default. The result is the same.",
    ),
    _QUIET,
]


def _applied(options: list[Callable[[Any], Any]], command: Decorated) -> Decorated:
    for option in reversed(options):
        command = option(command)
    return command


def reading(command: Decorated) -> Decorated:
    """How to read input; gathered into one `Reading` by `Reading(**options)`."""
    return _applied(_READING, command)


def labeling(command: Decorated) -> Decorated:
    """--label: one class for all documents."""
    option: Callable[[Decorated], Decorated] = click.option(
        "--label",
        "constant",
        metavar="CLASS",
        help="The class of all documents, instead of labels in the input.",
    )
    return option(command)


def quiet(command: Decorated) -> Decorated:
    """--quiet for commands that read no corpus."""
    option: Callable[[Decorated], Decorated] = _QUIET
    return option(command)


def as_json(command: Decorated) -> Decorated:
    """--json: for machines."""
    option: Callable[[Decorated], Decorated] = click.option(
        "--json", "as_json", is_flag=True, help="Write JSON."
    )
    return option(command)


_LOOKING = [
    click.option("--plain", is_flag=True, help="The textbook: single words, multinomial, alpha 1."),
    click.option(
        "--preset",
        metavar="NAME",
        help="Views that go well together: text, messages, mail, language or dna.",
    ),
    click.option("--ngrams", metavar="N|A-B", help="Word n-grams to count: 2 means 1-2."),
    click.option(
        "--stop-words",
        metavar="LANG|FILE|top:N",
        help="Stop words: a language, a file with one a line, or the N most frequent terms.",
    ),
    click.option(
        "--sparse", type=int, metavar="N", help="Also count pairs of words up to N apart (skip-grams)."
    ),
    click.option(
        "--tokenizer", metavar="HOW", help="words, words+punctuation, whitespace, or a regular expression."
    ),
    click.option(
        "--keep",
        multiple=True,
        metavar="KIND",
        help="Keep as whole tokens: url, email, money, emoji, hashtag, mention.",
    ),
    click.option("--stemmer", metavar="LANG", help="Stem words: porter, or a language."),
    click.option("--lemmatizer", metavar="LANG", help="Lemmatize words: a language, or english:verb."),
    click.option("--min-length", type=int, help="Drop words with fewer characters."),
    click.option("--max-length", type=int, help="Drop words with more characters."),
    click.option("--lower/--no-lower", default=None, help="Ignore case (the default)."),
    click.option("--strip-accents", is_flag=True, help="Write café as cafe."),
    click.option(
        "--digits",
        type=click.Choice(["keep", "zero", "single", "drop"]),
        help="Write 2024 as 2024, 0000, 0, or drop it.",
    ),
    click.option(
        "--words", "with_words", is_flag=True, help="Count words in addition to --chars or --bytes."
    ),
    click.option(
        "--chars", metavar="A-B", help="Count character n-grams, A to B characters long, instead of words."
    ),
    click.option("--bytes", "bytes_", metavar="K", help="Count n-grams of K bytes instead of words."),
    click.option(
        "--buckets",
        type=click.IntRange(1, 2**31),
        metavar="N",
        help="Count N buckets of hashed terms: a model of fixed size.",
    ),
    click.option(
        "--event",
        type=click.Choice(["multinomial", "bernoulli", "complement"]),
        help="The event model (multinomial).",
    ),
    click.option(
        "--tf",
        type=click.Choice(["count", "binary", "normalized", "tf-idf"]),
        help="Term weighting (count).",
    ),
]

_JUDGING = [
    click.option("--alpha", type=float, help="Smoothing: 1 (the default) is Laplace, less is Lidstone."),
    click.option(
        "--priors",
        default="empirical",
        show_default=True,
        metavar="HOW",
        help="Class priors: empirical, uniform, or ham=0.8,spam=0.2.",
    ),
    click.option(
        "--unseen",
        type=click.Choice(["ignore", "smooth"]),
        default="ignore",
        show_default=True,
        help="How to score terms not seen in training.",
    ),
]


def looking(command: Decorated) -> Decorated:
    """How to look at texts; made into views by `views_of`."""
    return _applied(_LOOKING, command)


def judging(command: Decorated) -> Decorated:
    """How counts become answers."""
    return _applied(_JUDGING, command)
