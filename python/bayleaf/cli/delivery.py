"""One mail, as a delivery filter sees it: passed through with a header, the verdict as exit code."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from bayleaf.class_names import name_of
from bayleaf.cli import verdicts
from bayleaf.cli.wording import verdict_line

if TYPE_CHECKING:
    from bayleaf.cli.reading import Reading


class VerdictError(click.ClickException):
    """A failure of a delivery filter: nothing was written, and whoever delivers takes the mail as it was."""

    exit_code = verdicts.FAILED


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
    code, told = verdicts.verdict(label, probability, spam, unsure)
    if pass_through:
        sys.stdout.buffer.write(verdicts.with_header(raw, told, probability))
        sys.stdout.buffer.flush()
    elif not exit_code or not reading.quiet:
        click.echo(verdict_line(told, probability))
    if exit_code:
        click.get_current_context().exit(code)


def judged(model_file: str, raw: bytes, spam: str, threads: int | None) -> tuple[str, float]:
    """The class of a mail, and the probability that it is spam."""
    import numpy as np

    from bayleaf._core import powers
    from bayleaf.cli.models import load, of_columns, of_mail

    model = load(model_file, threads)
    classes = [name_of(name) for name in model.classes]
    if spam not in classes:
        listed = ", ".join(map(repr, classes[:12]))
        raise click.ClickException(
            f"{model_file} has no class {spam!r}; name the one that is spam with --spam: {listed}."
        )
    mail = verdicts.without_forged(verdicts.without_separator(raw))
    if of_mail(model):
        from bayleaf.text.mail import mail_columns

        posterior = model.log_posterior(mail_columns([mail]))[0]
    elif of_columns(model):
        raise click.ClickException(f"{model_file} looks at columns of a table, not at mail.")
    else:
        posterior = model.log_posterior([verdicts.text_of(mail)])[0]
    return classes[int(np.argmax(posterior))], powers([float(posterior[classes.index(spam)])])[0]
