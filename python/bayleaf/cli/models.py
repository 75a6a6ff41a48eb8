"""Loading and keeping models: what goes wrong is said in terms of the file that the user named."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from bayleaf.cli.reading import Reading
    from bayleaf.corpus import Batch, Corpus
    from bayleaf.model import Model


def load(path: str, threads: int | None = None) -> Model:
    """The model in a file."""
    from bayleaf.model import Model

    try:
        return Model.load(path, threads=threads)
    except OSError as error:
        raise click.ClickException(f"{path} could not be opened: {error.strerror or error}.") from None


def check_target(path: str) -> None:
    """Find out before the work is done whether its result can be written."""
    folder = os.path.dirname(os.path.realpath(path))
    if os.path.isdir(path):
        raise click.ClickException(f"{path} is a folder. Name a file for the model.")
    if not os.path.isdir(folder):
        raise click.ClickException(f"{path} cannot be written: there is no folder {folder}.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise click.ClickException(f"{path} cannot be written: the folder {folder} does not let you.")


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

    try:
        with atomic.replacing(path) as file:
            yield file
    except OSError as error:
        kept = " The file is as it was before." if os.path.exists(path) else ""
        raise click.ClickException(f"{path} could not be written: {error.strerror or error}.{kept}") from None


def labels_for(model: Model, labels: Any) -> Any:
    """Labels from a file are text; where the model's classes are numbers, the same as numbers."""
    from bayleaf.labels import as_list

    others = {str(name): name for name in model.classes if not isinstance(name, str)}
    return [others.get(label, label) for label in as_list(labels)] if others else labels


def of_columns(model: Model) -> bool:
    """Whether the model looks at a table with named columns, and not at one text."""
    return model.views[0][0] != ""


def documents(model: Model, batch: Batch) -> Any:
    """What a model looks at: the text, or the columns that its views name."""
    if not of_columns(model):
        return batch.texts
    if of_mail(model) and not any(name in batch.columns for name, _ in model.views):
        return _mail(batch)
    kinds = {column: view.kind for name, view in model.views for column in view.columns or (name,)}
    found = {name: kind for name, kind in kinds.items() if name in batch.columns}
    return {name: _values(batch.columns[name], kind, name) for name, kind in found.items()}


def of_mail(model: Model) -> bool:
    """Whether the model looks at the columns that `mail_columns` makes of a mail."""
    from bayleaf.model_views import columns_of
    from bayleaf.text.mail import MAIL_COLUMNS

    return set(columns_of(model.views)) <= set(MAIL_COLUMNS)


def _mail(batch: Batch) -> dict[str, list[str]]:
    """The columns of the mails in a batch."""
    from bayleaf.corpus.batches import strings
    from bayleaf.text.mail import mail_columns

    return mail_columns(strings(batch.texts) if batch.mails is None else batch.mails)


def opened(reading: Reading, inputs: Sequence[str], model: Model, labelled: bool, **how: bool) -> Corpus:
    """The corpus as the model looks at it: texts, named columns, or mail."""
    return reading.open(inputs, labelled, table=of_columns(model), mail=of_mail(model), **how)


def _values(column: Any, kind: str, name: str) -> Any:
    """A column of a file, which is text, as what the view reads; what is empty is missing."""
    from bayleaf.corpus.batches import strings

    if kind in ("words", "chars", "bytes_"):
        return column
    texts = strings(column)
    if kind in ("category", "flag"):
        return [text or None for text in texts]
    try:
        return [float(text) if text else float("nan") for text in texts]
    except ValueError as error:
        raise click.ClickException(f"The column {name!r} must hold numbers: {error}.") from None


def check_text(model: Model, path: str, what: str) -> None:
    """Refuse what can be done with counts of terms only."""
    strange = next((view for _, view in model.views if view.kind not in ("words", "chars", "bytes_")), None)
    if strange is not None:
        raise click.ClickException(f"{path} looks at {strange!r}, but {what} is for counts of text only.")


def n_terms(model: Model) -> int:
    """How many terms the views have counted."""
    return sum(int(getattr(model.counts(view), "n_terms", 0)) for view in range(len(model.views)))
