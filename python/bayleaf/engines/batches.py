"""Batches of a corpus as a model reads them; without heavy imports, for the command line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from bayleaf.class_names import by_name

if TYPE_CHECKING:
    from bayleaf.corpus import Batch
    from bayleaf.model import Model
    from bayleaf.types import Label


def labels_for(model: Model, labels: Any) -> Any:
    """Labels from a file are text; where the model's classes are numbers, the same as numbers."""
    return typed_labels(model.classes, labels)


def typed_labels(classes: Sequence[Label], labels: Any) -> Any:
    """Labels from a file, as numbers where these classes are numbers."""
    from bayleaf.labels import as_list

    others = by_name(name for name in classes if not isinstance(name, str))
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


def _values(column: Any, kind: str, name: str) -> Any:
    """A column of a file, which is text, as what the view reads; what is empty is missing."""
    from bayleaf.corpus import CorpusError
    from bayleaf.corpus.batches import strings

    if kind in ("words", "chars", "bytes_"):
        return column
    texts = strings(column)
    if kind in ("category", "flag", "pairs", "date_part"):
        return [text or None for text in texts]
    try:
        return [float(text) if text else float("nan") for text in texts]
    except ValueError as error:
        raise CorpusError(f"The column {name!r} must hold numbers: {error}.") from None
