"""What clients send and get: the bodies of the HTTP interface, from which its OpenAPI description is made."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

Text = Annotated[str, Meta(description="A text, or a raw mail if the model looks at mail.")]
Id = Annotated[str, Meta(min_length=1, max_length=200, pattern=r"^[ -~]+$")]
Name = Annotated[str, Meta(max_length=200, pattern=r"^[^\x00-\x1f\x7f]*$")]
AnyLabel = str | int | float
Row = dict[str, str | int | float | bool | None]


class Documents(Struct, forbid_unknown_fields=True, kw_only=True):
    """One document or several: texts, rows of columns, or the ids of earlier questions."""

    text: Text | None = None
    texts: list[Text] | None = None
    row: Row | None = None
    rows: list[Row] | None = None
    id: Id | None = None
    ids: list[Id] | None = None
    user: Name = ""


class ClassifyRequest(Documents):
    """What to classify; an `id` of your own, or one that is made, lets you teach later without the text."""

    probabilities: bool = False


class ExplainRequest(Documents):
    """What to explain; `label` chooses the class to speak for."""

    label: AnyLabel | None = None
    most: Annotated[int, Meta(ge=0, le=10_000)] = 50


class LearnRequest(Documents):
    """What to learn: documents, or the ids of earlier questions, each with its label."""

    label: AnyLabel | None = None
    labels: list[AnyLabel] | None = None
    by: Name = ""
    subject: Name = ""


class ForgetRequest(Documents):
    """What to forget: documents, ids, or everything by a person, a source or about a subject."""

    label: AnyLabel | None = None
    by: Name = ""
    subject: Name = ""
    source: Literal["auto", "person"] | None = None
    erase: bool = False


class CreateRequest(Struct, forbid_unknown_fields=True):
    """A new model: its name, and how it looks at documents."""

    name: str
    preset: Literal["text", "messages", "mail", "language", "dna"] = "text"
    classes: list[str] | None = None


class Answer(Struct, omit_defaults=True):
    """The class of one document."""

    id: str
    label: AnyLabel
    probability: float
    version: int
    probabilities: dict[str, float] | UnsetType = UNSET


class Answers(Struct):
    """The class of each document."""

    answers: list[Answer]


class Change(Struct):
    """What became of one document."""

    outcome: Literal["learned", "already", "corrected", "forgotten", "unknown"]
    label: AnyLabel | None
    before: AnyLabel | None
    version: int
    document: str


class Receipt(Struct):
    """Proof of an erasure: hashes of the counts before and after, keyed hashes of the documents."""

    sequence: int
    documents: list[str]
    before: str
    after: str
    stale: bool
    remark: str


class Changes(Struct):
    """What became of each document, and the version since."""

    answers: list[Change]
    version: int
    receipt: Receipt | None = None


class Reason(Struct):
    """A term, how often it occurs, and its log odds for the label."""

    term: str
    count: int
    log_odds: float | None


class ExplainAnswer(Struct):
    """Why: the log odds of the label against the next class are the prior plus those of all terms."""

    label: AnyLabel
    against: AnyLabel | None
    probability: float
    log_odds: float | None
    prior: float | None
    terms: list[Reason]
    more: float | None
    version: int


class Progress(Struct):
    """How good the answers were that were given before the document was taught."""

    asked: int
    accuracy: float | None
    log_loss: float | None


class ModelInfo(Struct):
    """A model, its classes, and how it has been doing."""

    name: str
    version: int
    documents: dict[str, int]
    taught: int
    views: list[str]
    columns: list[str]
    tuned: bool
    stale: bool
    closed: bool
    progressive: Progress
    shares: dict[str, float]
    drift: float
    retuning: str


class Models(Struct):
    """All models."""

    models: list[ModelInfo]


class HistoryEntry(Struct):
    """A question, its answer, and what was taught since."""

    id: str
    at: float
    user: str | None
    document: str | dict[str, Any] | None
    label: AnyLabel
    probability: float
    version: int
    taught: AnyLabel | None
    by: str | None
    source: str | None


class History(Struct):
    """The newest questions first; `next` is the `before` of the next page."""

    questions: list[HistoryEntry]
    next: float | None


class Version(Struct):
    """A change of the model: who, when, what."""

    version: int
    operation: str
    label: AnyLabel | None
    document: str | None
    by: str
    source: str
    at: float
    user: str | None


class Versions(Struct):
    """The newest changes first, and the snapshots that are kept."""

    versions: list[Version]
    snapshots: list[int]


class Verified(Struct):
    """Whether snapshots plus log equal a model learned from the ledger, byte for byte."""

    model: str
    sound: bool
    documents: int
    version: int
    sha256: str
    snapshots: dict[str, str]


class Problem(Struct):
    """What went wrong (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str


class Health(Struct):
    """Whether the service is there, or why it cannot learn."""

    status: str
    detail: str | None = None


class Tensor(Struct, kw_only=True):
    """A tensor of the Open Inference Protocol; texts are of datatype BYTES."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]
    parameters: dict[str, Any] | UnsetType = UNSET


class InferRequest(Struct, kw_only=True):
    """A request of the Open Inference Protocol."""

    inputs: list[Tensor]
    id: str | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET
    outputs: list[dict[str, Any]] | UnsetType = UNSET


class InferResponse(Struct, kw_only=True, omit_defaults=True):
    """The answers of the Open Inference Protocol."""

    model_name: str
    model_version: str
    outputs: list[Tensor]
    id: str | UnsetType = UNSET
