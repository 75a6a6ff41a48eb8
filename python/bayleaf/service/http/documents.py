"""The documents of a request: texts, rows or ids, one or many, within the limits."""

from __future__ import annotations

from collections.abc import Sequence

from bayleaf.service.documents import Document
from bayleaf.service.http.asgi import Call
from bayleaf.service.http.messages import AnyLabel, Documents
from bayleaf.service.refusals import Invalid, TooLarge
from bayleaf.service.served import Served
from bayleaf.service.service import Service
from bayleaf.types import Label

GIVE = 'Give one of "text", "texts", "row", "rows"'


def given(served: Served, body: Documents, call: Call, subject: str = "") -> list[Document]:
    """The documents that are in the body itself."""
    sources = [body.text, body.texts, body.row, body.rows]
    if sum(each is not None for each in sources) > 1:
        raise Invalid(f"{GIVE}, not several of them.")
    read = served.reader
    if body.text is not None:
        return [read.text(body.text, subject)]
    if body.row is not None:
        return [read.row(body.row, subject)]
    many: Sequence[object] = body.texts if body.texts is not None else body.rows or []
    if len(many) > call.limits.documents:
        raise TooLarge(
            f"The request has {len(many)} documents; at most {call.limits.documents} may be. "
            "Send several requests, or NDJSON."
        )
    return [read.text(each, subject) if isinstance(each, str) else read.row(each, subject) for each in many]  # type: ignore[arg-type]


def ids_of(body: Documents) -> list[str]:
    """The ids that are in the body."""
    if body.id is not None and body.ids is not None:
        raise Invalid('Give "id" or "ids", not both.')
    return [body.id] if body.id is not None else list(body.ids or [])


def has_documents(body: Documents) -> bool:
    """Whether the body itself holds documents."""
    return any(each is not None for each in (body.text, body.texts, body.row, body.rows))


def asked_about(served: Served, body: Documents, call: Call) -> tuple[list[Document], list[str | None]]:
    """The documents to answer for, and the ids that the client gave them."""
    if not has_documents(body):
        raise Invalid(f"There is nothing to classify. {GIVE}.")
    documents = given(served, body, call)
    ids: list[str | None] = list(ids_of(body))
    if ids and len(ids) != len(documents):
        raise Invalid(f"There are {len(documents)} documents and {len(ids)} ids; each document needs one.")
    return documents, ids or [None] * len(documents)


def named(service: Service, served: Served, body: Documents, call: Call, subject: str = "") -> list[Document]:
    """The documents to learn or forget: in the body, or asked about before."""
    ids = ids_of(body)
    if has_documents(body):
        documents = given(served, body, call, subject)
        if ids and len(ids) != len(documents):
            raise Invalid(
                f"There are {len(documents)} documents and {len(ids)} ids; each document needs one."
            )
        return documents
    if not ids:
        raise Invalid(f'There are no documents. {GIVE}, or "id" or "ids" of earlier questions.')
    if len(ids) > call.limits.documents:
        raise TooLarge(f"The request has {len(ids)} ids; at most {call.limits.documents} may be.")
    return [service.asked(served, id) for id in ids]


def labels_for(
    served: Served, label: AnyLabel | None, labels: Sequence[AnyLabel] | None, documents: int
) -> list[Label]:
    """A label for each document: its own, or the same for all."""
    if (label is None) == (labels is None):
        raise Invalid('Give "label" for all documents, or "labels" with one for each.')
    if labels is None:
        return [served.fitting_label(label)] * documents
    if len(labels) != documents:
        raise Invalid(f"There are {documents} documents and {len(labels)} labels; each document needs one.")
    return [served.fitting_label(each) for each in labels]
