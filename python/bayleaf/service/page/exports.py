"""Labels to take away: as tables, as other labeling tools read them, and as a trained model."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from typing import Any, NamedTuple

from bayleaf.service.documents import unpacked
from bayleaf.service.page.actions import HELD
from bayleaf.service.page.holdout import taught
from bayleaf.service.page.pool import shown
from bayleaf.service.refusals import Conflict, Invalid
from bayleaf.service.served import Served
from bayleaf.service.store import Store
from bayleaf.types import Label

BREAKS = re.compile(r"[\t\r\n]")


class Labeled(NamedTuple):
    """A document with its label, and how it came to it."""

    text: str
    label: Label
    by: str
    at: float
    held: bool
    how: str | None
    chance: float | None


class File(NamedTuple):
    """What is downloaded."""

    name: str
    kind: str
    content: bytes


def rows_of(store: Store, served: Served) -> list[Labeled]:
    """Everything that was labeled and not forgotten, in its order; hold-out and words included."""
    rows = store.questions.read(
        "SELECT d.columns, d.label, d.by, d.at, d.user, a.how, a.chance FROM document d LEFT JOIN action a "
        "ON a.number = (SELECT max(number) FROM action WHERE model = d.model AND identity = d.identity AND "
        "undone IS NULL AND kind = 'label') WHERE d.model = ? AND d.user IN ('', ?) ORDER BY d.seq",
        served.number, HELD,
    )  # fmt: skip
    return [
        Labeled(shown(unpacked(columns)), json.loads(label), by, at, user == HELD, how, chance)
        for columns, label, by, at, user, how, chance in rows
    ]


def _tsv(rows: list[Labeled]) -> bytes:
    """One line each, without quotes; a tab or line break is a space, which words and letters see alike."""
    lines = ["label\ttext", *(f"{row.label}\t{BREAKS.sub(' ', row.text)}" for row in rows)]
    return ("\n".join(lines) + "\n").encode()


def _lines(made: list[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in made).encode()


def _jsonl(rows: list[Labeled]) -> bytes:
    return _lines([row._asdict() for row in rows])


def _prodigy(rows: list[Labeled]) -> bytes:
    """Choices, as `prodigy db-in` takes them."""
    options = [{"id": name, "text": name} for name in sorted({str(row.label) for row in rows})]
    return _lines(
        [
            {
                "text": row.text, "options": options, "accept": [str(row.label)], "answer": "accept",
                "_annotator_id": row.by, "_timestamp": int(row.at),
            }
            for row in rows
        ]
    )  # fmt: skip


def _doccano(rows: list[Labeled]) -> bytes:
    """JSONL with a list of labels for each text."""
    return _lines([{"text": row.text, "label": [str(row.label)]} for row in rows])


def _label_studio(rows: list[Labeled]) -> bytes:
    """Tasks with annotations, for `<Choices name="label" toName="text">`."""
    tasks = []
    for row in rows:
        value = {"choices": [str(row.label)]}
        result = {"from_name": "label", "to_name": "text", "type": "choices", "value": value}
        tasks.append(
            {"data": {"text": row.text}, "annotations": [{"result": [result]}], "meta": {"by": row.by}}
        )
    return json.dumps(tasks, ensure_ascii=False, indent=1).encode()


def _parquet(rows: list[Labeled]) -> bytes:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise Invalid("Parquet needs pyarrow: pip install 'bayleaf[data]', and start again.") from None
    columns = {name: [getattr(row, name) for row in rows] for name in Labeled._fields}
    if len({type(label) for label in columns["label"]}) > 1:
        columns["label"] = [str(label) for label in columns["label"]]
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out)
    return out.getvalue()


FORMATS: dict[str, tuple[str, str, Callable[[list[Labeled]], bytes]]] = {
    "tsv": ("labels.tsv", "text/tab-separated-values", _tsv),
    "jsonl": ("labels.jsonl", "application/x-ndjson", _jsonl),
    "prodigy": ("prodigy.jsonl", "application/x-ndjson", _prodigy),
    "doccano": ("doccano.jsonl", "application/x-ndjson", _doccano),
    "label-studio": ("label-studio.json", "application/json", _label_studio),
    "parquet": ("labels.parquet", "application/octet-stream", _parquet),
}


def export(store: Store, served: Served, format: str) -> File:
    """The labels in a format, or the model that `bayleaf train` makes of them."""
    if format == "model":
        return File(f"{served.name}.bayleaf", "application/octet-stream", _model(store, served))
    if format not in FORMATS:
        raise Invalid(
            f"There is no format {format[:50]!r}. The formats are {', '.join([*FORMATS, 'model'])}."
        )
    name, kind, make = FORMATS[format]
    return File(f"{served.name}-{name}", kind, make(rows_of(store, served)))


def _model(store: Store, served: Served) -> bytes:
    """Learned from all labels, the hold-out too, and weighed; with a seed of its own, as it answers now."""
    if served.seed.n_documents:
        return served.shared.to_bytes()
    rows = store.questions.read(
        "SELECT columns, label FROM document WHERE model = ? AND user IN ('', ?) ORDER BY seq",
        served.number, HELD,
    )  # fmt: skip
    if not rows:
        raise Conflict("There are no labels yet, so there is no model to take away.")
    return taught(served, [(unpacked(columns), json.loads(label)) for columns, label in rows]).to_bytes()
