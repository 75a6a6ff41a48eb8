"""One mail, as a delivery filter sees it: passed through with a header, the verdict as exit code."""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from bayleaf.cli.reading import Reading

SPAM, HAM, UNSURE, FAILED = range(4)
"""The exit codes of `classify -e`, which are those of bogofilter."""
FORGED = re.compile(rb"^X-Bayleaf[^:\n]*:[^\n]*\n(?:[ \t][^\n]*\n)*", re.IGNORECASE | re.MULTILINE)


class VerdictError(click.ClickException):
    """A failure of a delivery filter: nothing was written, and whoever delivers takes the mail as it was."""

    exit_code = FAILED


def deliver(
    model_file: str,
    inputs: tuple[str, ...],
    reading: Reading,
    unsure: float | None,
    spam: str,
    pass_through: bool,
    exit_code: bool,
) -> None:
    """Judge the one mail on standard input."""
    try:
        if inputs not in ((), ("-",)):
            raise click.ClickException("-p and -e judge the one mail on standard input; name no files.")
        raw = sys.stdin.buffer.read()
        if not raw.strip():
            raise click.ClickException("standard input is empty.")
        label, probability = judged(model_file, raw, spam, reading.threads)
    except VerdictError:
        raise
    except Exception as error:
        message = error.format_message() if isinstance(error, click.ClickException) else str(error)
        raise VerdictError(message) if exit_code else click.ClickException(message) from error
    certain = probability if label == spam else 1 - probability
    verdict = UNSURE if unsure is not None and certain < unsure else SPAM if label == spam else HAM
    told = "unsure" if verdict == UNSURE else label
    if pass_through:
        sys.stdout.buffer.write(with_headers(raw, told, probability))
        sys.stdout.buffer.flush()
    elif not exit_code or not reading.quiet:
        click.echo(f"{told}\t{probability:.6g}")
    if exit_code:
        click.get_current_context().exit(verdict)


def judged(model_file: str, raw: bytes, spam: str, threads: int | None) -> tuple[str, float]:
    """The class of a mail, and the probability that it is spam."""
    import numpy as np

    from bayleaf.cli.models import load, of_columns, of_mail
    from bayleaf.corpus.mailboxes import SEPARATOR, as_text

    model = load(model_file, threads)
    classes = [str(name) for name in model.classes]
    if spam not in classes:
        listed = ", ".join(map(repr, classes[:12]))
        raise click.ClickException(
            f"{model_file} has no class {spam!r}; name the one that is spam with --spam: {listed}."
        )
    mail = FORGED.sub(b"", raw[match.end() :] if (match := SEPARATOR.match(raw)) else raw, count=0)
    if of_mail(model):
        from bayleaf.text.mail import mail_columns

        posterior = model.log_posterior(mail_columns([mail]))[0]
    elif of_columns(model):
        raise click.ClickException(f"{model_file} looks at columns of a table, not at mail.")
    else:
        posterior = model.log_posterior([as_text(mail).decode("utf-8", "replace")])[0]
    return classes[int(np.argmax(posterior))], float(np.exp(posterior[classes.index(spam)]))


def with_headers(raw: bytes, told: str, probability: float) -> bytes:
    """The mail with what was found in its last header; such headers that it came with are taken out."""
    ending = b"\r\n" if b"\r\n" in raw[: raw.find(b"\n") + 1] else b"\n"
    head, gap, body = raw.partition(ending + ending)
    head = FORGED.sub(b"", head + ending).removesuffix(ending)
    label = re.sub(r"[^\x20-\x7e]|;", "_", told)
    found = f"X-Bayleaf: {label}; spam={probability:.6f}".encode("ascii")
    return head + ending + found + (gap or ending + ending) + body
