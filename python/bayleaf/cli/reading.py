"""Opening input for a command: format detection, progress, skipped records."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from bayleaf.class_names import spelled_alike
from bayleaf.cli.ahead import ahead
from bayleaf.cli.progress import ProgressLine
from bayleaf.cli.wording import hint
from bayleaf.cli.wording import size as size

if TYPE_CHECKING:
    from bayleaf.corpus import Batch, Corpus, Reject

# Batches of 4 MiB are no faster, and let memory grow by a quarter over a long file; these by a seventh.
BATCH = 2 << 20
MANY_ROWS = 20_000


@dataclass(frozen=True)
class Reading:
    """The options of `options.reading`."""

    format: str | None
    text: tuple[str, ...]
    label: str | None
    header: bool | None
    encoding: str
    on_error: str
    taxonomy: str | None
    rank: str | None
    threads: int | None
    quiet: bool
    max_record: int
    rejects: str | None
    constant: str | None
    yes: bool | None

    @classmethod
    def taken(cls, options: dict[str, Any]) -> Reading:
        """Take these options out of all the options of a command."""
        reading = cls(**{name: options.pop(name, None) for name in cls.__dataclass_fields__})
        if reading.rejects and reading.on_error != "skip":
            raise click.UsageError("--rejects lists what --on-error skip leaves out; give both.")
        return reading

    @classmethod
    def plain(cls, quiet: bool) -> Reading:
        """The options of a command that reads no corpus."""
        return cls.taken({"quiet": quiet})

    def open(
        self,
        inputs: Sequence[str],
        labeled: bool | None,
        interactive: bool = False,
        table: bool = False,
        mail: bool = False,
        others: bool = False,
        places: bool = False,
    ) -> Corpus:
        """Open files, folders, patterns or "-"; says on standard error what they were taken for.

        With `mail`, what begins with the headers of a mail is one.
        """
        from bayleaf.corpus import open_corpus

        corpus = open_corpus(
            *inputs,
            format=self.format,
            text=self.text or None,
            label=self.label,
            header=self.header,
            encoding=self.encoding,
            on_error=self.on_error,
            taxonomy=self.taxonomy,
            rank=self.rank,
            labeled=labeled,
            table=table,
            interactive=interactive,
            mail=mail,
            others=others,
            places=places,
            max_record=self.max_record,
            constant=self.constant,
            on_reject=self._rejected() if self.rejects else None,
            batch_bytes=BATCH,
        )
        self.remark(_guess(corpus, inputs))
        return corpus

    def _rejected(self) -> Callable[[Reject], None]:
        """Writes what is left out, line by line: a long run can be looked at while it goes on."""
        from dataclasses import asdict

        from bayleaf.cli.models import check_target

        check_target(str(self.rejects))
        file = open(str(self.rejects), "w", encoding="utf-8", buffering=1)  # noqa: SIM115 (open until the end)
        return lambda reject: print(json.dumps(asdict(reject), ensure_ascii=False), file=file)

    def remark(self, message: str) -> None:
        """Say something beside the results."""
        if not self.quiet:
            with suppress(OSError):
                click.echo(message, err=True)

    def batches(self, corpus: Corpus) -> Iterator[Batch]:
        """The batches of a corpus, with progress, and in the end what was left out."""
        line = ProgressLine(self.quiet)
        labels = Labels() if self.yes is False else None
        try:
            for batch in ahead(corpus) if _on_disk(corpus) else corpus:
                if labels is not None:
                    labels.add(batch)
                if len(batch) or batch.gaps:
                    yield batch
                line.show(partial(progress, corpus))
            if labels is not None:
                labels.check(1000)
        finally:
            line.end()
        if labels is not None and (alike := labels.alike()):
            self.remark(
                f"The classes {' and '.join(map(repr, alike))} are kept apart: a class is known by its text, "
                "in every format. If one class is meant, write its labels alike."
            )
        self.tell_skipped(corpus)

    def tell_skipped(self, corpus: Corpus) -> None:
        """Say how much of a corpus was left out."""
        if corpus.skipped:
            rows = counted(corpus.skipped, "row was", "rows were")
            self.remark(f"{rows} left out: undecodable, malformed or without a class.")


OPTIONS = {"text": "--text-column", "label": "--label-column", "constant": "--label"}
"""Those with other names at the command line than in Python."""


def as_options(message: str) -> str:
    """What `open_corpus` says of its parameters, in the words of the command line: --on-error skip."""

    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name not in Reading.__dataclass_fields__:
            return found[0]
        return " ".join(filter(None, [OPTIONS.get(name, f"--{name.replace('_', '-')}"), value]))

    return re.sub(r'`(\w+)(?:="(.+?)")?`', option, message)


class Labels:
    """Watches how many classes there are: a label column that hardly has a value twice is mostly an id."""

    def __init__(self) -> None:
        from bayleaf.corpus import Numbering

        self._seen, self._rows = Numbering(), 0

    def add(self, batch: Batch) -> None:
        """Count the labels of a batch."""
        self._seen.encode(batch.labels)
        self._rows += len(batch)
        self.check(MANY_ROWS)

    def alike(self) -> list[str]:
        """Classes that are one number or one word in several spellings, if there are any."""
        return spelled_alike(self._seen.names)

    def check(self, fewest: int) -> None:
        """Ask whether so many classes are meant, once there are enough rows to tell."""
        classes = self._seen.size
        if self._rows < fewest or classes * 10 <= self._rows:
            return
        question = f"There are {classes:,} classes in {self._rows:,} documents. Is the label column right?"
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise click.ClickException(f"{question} If it is, add --yes; else choose with --label-column.")
        click.confirm(question, abort=True, err=True)
        self._rows = -(1 << 62)  # asked once


def _on_disk(corpus: Corpus) -> bool:
    """Whether the corpus is on disk, so that reading never blocks, and larger than a batch."""
    streamed = corpus.format not in ("folders", "maildir", "eml")
    return streamed and (corpus.total_bytes or 0) > (8 << 20)


def _guess(corpus: Corpus, inputs: Sequence[str]) -> str:
    name = "standard input" if inputs[0] == "-" else inputs[0]
    more = f" and {len(inputs) - 1} more" if len(inputs) > 1 else ""
    texts = [f"text in {' and '.join(map(repr, corpus.text_columns))}"] if corpus.text_columns else []
    labels = [f"label in {corpus.label_column!r}"] if corpus.label_column else []
    found = ", ".join([*texts, *labels]) or f"{len(corpus.columns)} columns"
    return f"Reading {name}{more} as {corpus.format}: {found}.{_hint(corpus)}"


def _hint(corpus: Corpus) -> str:
    """What standard input looks like, where it is read as lines."""
    if corpus.format != "lines" or corpus.total_bytes is not None:
        return ""
    return hint(corpus.format, corpus.looks_like)


def progress(corpus: Corpus, seconds: float) -> str:
    """Bytes done, rate and time left."""
    done, total = corpus.bytes_read, corpus.total_bytes
    rate = done / seconds
    line = f"{size(done)} of {size(total)}" if total else size(done)
    line += f", {size(rate)}/s"
    if total and rate:
        line += f", {min(done / total, 1):.0%}, {duration((total - done) / rate)} left"
    return line


def duration(seconds: float) -> str:
    """A time left, in the two largest units."""
    whole = max(round(seconds), 0)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02} min"


def counted(count: int, unit: str, several: str = "") -> str:
    """A number of things: 1 document, 2 documents."""
    return f"1 {unit}" if count == 1 else f"{count:,} {several or unit + 's'}"


def finite(value: object) -> object:
    """The same without infinities, which JSON does not have: they become null."""
    if isinstance(value, dict):
        return {name: finite(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [finite(each) for each in value]
    return None if isinstance(value, float) and not abs(value) < float("inf") else value
