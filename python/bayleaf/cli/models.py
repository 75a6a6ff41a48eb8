"""Loading and saving models; errors name the file that the user named."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING

import click

from bayleaf.class_names import by_name, name_of
from bayleaf.engines.batches import documents as documents
from bayleaf.engines.batches import labels_for as labels_for
from bayleaf.engines.batches import of_columns as of_columns
from bayleaf.engines.batches import of_mail as of_mail

if TYPE_CHECKING:
    from bayleaf.cli.reading import Reading
    from bayleaf.corpus import Corpus
    from bayleaf.model import Model


def load(path: str, threads: int | None = None) -> Model:
    """The model in a file."""
    from bayleaf.model import Model

    try:
        return Model.load(path, threads=threads)
    except OSError as error:
        raise click.ClickException(f"{path} could not be opened: {error.strerror or error}.") from None


def check_target(path: str, *inputs: str) -> None:
    """Find out before the work is done whether its result can be written, and would not replace an input."""
    from bayleaf.atomic import is_stream

    if is_stream(path):
        return
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise click.ClickException(f"{path} is a folder. Name a file for the result.")
    if not os.path.isdir(folder):
        raise click.ClickException(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.ClickException(f"{path} cannot be written: the folder {folder} does not let you.")
    if not os.path.exists(path):
        return
    if not os.stat(path).st_mode & 0o222:
        raise click.ClickException(f"{path} is read-only. Make it writable (chmod u+w) to replace it.")
    taken = next((name for name in inputs if _holds(name, path)), None)
    if taken is not None:
        raise click.ClickException(
            f"{path} is read as input ({taken}) and would be replaced. Name another file for the result."
        )


def _holds(name: str, path: str) -> bool:
    """Whether an input is, or holds, a file."""
    import glob

    if os.path.isdir(name):
        return os.path.realpath(path).startswith(os.path.join(os.path.realpath(name), ""))
    names = [name] if os.path.exists(name) else glob.glob(name, recursive=True)
    return any(os.path.exists(each) and os.path.samefile(each, path) for each in names)


def told(message: str, output: str) -> None:
    """Say what was written: beside it, if it went to standard output; and never fail because nobody listens.

    A command that has changed a model must not report that it failed: it would be run again.
    """
    from bayleaf.atomic import is_stream

    try:
        click.echo(message, err=is_stream(output) and not output.startswith("/dev/null"))
    except BrokenPipeError:
        raise
    except OSError as error:
        with suppress(OSError):
            click.echo(
                f"{output} is written, but standard output is not: {error.strerror or error}.", err=True
            )
        # What is left in the buffer would fail once more at exit, and with it the command.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def save(model: Model, path: str) -> int:
    """Write a model completely or not at all; gives its size in bytes."""
    return write_file(path, model.to_bytes())


def write_file(path: str, data: bytes) -> int:
    """Write a file completely or not at all; gives its size in bytes."""
    with replacing(path) as file:
        file.write(data)
    return len(data)


@contextmanager
def replacing(path: str) -> Iterator[IO[bytes]]:
    """A file to write to, which takes the place of `path` if nothing goes wrong."""
    from bayleaf import atomic

    names = atomic.hard_links(path)
    try:
        with atomic.replacing(path) as file:
            yield file
        if names > 1:
            click.echo(
                f"{path} had {names} names (hard links): the others still hold the model as it was. Share a "
                "model by symbolic links.",
                err=True,
            )
    except OSError as error:
        kept = " The file is as it was before." if os.path.exists(path) else ""
        raise click.ClickException(f"{path} could not be written: {error.strerror or error}.{kept}") from None


def check_known(labels: Iterable[str], model: Model, path: str = "The model") -> None:
    """Refuse a label that is new to the model: mostly it is a misspelled one."""
    from difflib import get_close_matches

    classes, known = [name_of(name) for name in model.classes], by_name(model.classes)
    new = next((label for label in labels if label not in known), None)
    if new is None or not classes:
        return
    close = get_close_matches(new, classes, 1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    raise click.ClickException(
        f"{path} has no class {new!r}; its classes are {_some(classes)}.{meant} "
        "To let new ones in, add --new-class."
    )


def _some(names: list[str]) -> str:
    shown = ", ".join(map(repr, names[:12]))
    return shown if len(names) <= 12 else f"{shown} and {len(names) - 12} more"


def opened(reading: Reading, inputs: Sequence[str], model: Model, labeled: bool, **how: bool) -> Corpus:
    """The corpus as the model looks at it: texts, named columns, or mail."""
    return reading.open(inputs, labeled, table=of_columns(model), mail=of_mail(model), **how)


def check_text(model: Model, path: str, what: str) -> None:
    """Refuse what can be done with counts of terms only."""
    strange = next((view for _, view in model.views if view.kind not in ("words", "chars", "bytes_")), None)
    if strange is not None:
        raise click.ClickException(f"{path} looks at {strange!r}, but {what} is for counts of text only.")


def n_terms(model: Model) -> int:
    """How many terms the views have counted."""
    return sum(int(getattr(model.counts(view), "n_terms", 0)) for view in range(len(model.views)))


def has_terms(model: Model) -> bool:
    """Whether the model looks at texts only, and so has nothing without terms."""
    return all(view.kind in ("words", "chars", "bytes_") for _, view in model.views)
