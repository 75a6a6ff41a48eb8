"""The Open Inference Protocol (KServe V2): texts in as BYTES, labels and probabilities out."""

from __future__ import annotations

import base64
import binascii

import msgspec

from bayleaf import __version__
from bayleaf.service.http.asgi import Call, Reply
from bayleaf.service.http.messages import InferRequest, InferResponse, Tensor
from bayleaf.service.refusals import Invalid, TooLarge
from bayleaf.service.service import Service

encode = msgspec.json.encode
_INFER = msgspec.json.Decoder(InferRequest)


async def server(service: Service, call: Call) -> Reply:
    """What this server is."""
    del service, call
    return Reply(encode({"name": "bayleaf", "version": __version__, "extensions": []}))


async def live(service: Service, call: Call) -> Reply:
    """The server is there."""
    del service, call
    return Reply(encode({"live": True}))


async def model(service: Service, call: Call) -> Reply:
    """What a model takes and gives."""
    served = service.store.model(call.name)
    return Reply(
        encode(
            {
                "name": served.name,
                "versions": [str(served.version)],
                "platform": "bayleaf",
                "inputs": [{"name": "text", "datatype": "BYTES", "shape": [-1]}],
                "outputs": [
                    {"name": "label", "datatype": "BYTES", "shape": [-1]},
                    {"name": "probability", "datatype": "FP64", "shape": [-1]},
                ],
            }
        )
    )


async def model_ready(service: Service, call: Call) -> Reply:
    """Whether a model has learned something to answer from."""
    served = service.store.model(call.name)
    is_ready = served.shared.n_documents > 0
    return Reply(encode({"name": served.name, "ready": is_ready}), 200 if is_ready else 503)


async def infer(service: Service, call: Call) -> Reply:
    """The class of each text."""
    served = service.store.model(call.name)
    body = await call.read(_INFER)
    texts = _texts(body)
    if len(texts) > call.limits.documents:
        raise TooLarge(f"The request has {len(texts)} documents; at most {call.limits.documents} may be.")
    documents = [served.reader.text(text) for text in texts]
    answers = [answer for _, answer in await service.ask(served, documents, [None] * len(texts), "")]
    shape = [len(answers)]
    outputs = [
        Tensor(name="label", shape=shape, datatype="BYTES", data=[str(each.label) for each in answers]),
        Tensor(name="probability", shape=shape, datatype="FP64", data=[each.probability for each in answers]),
    ]
    version = str(answers[0].version if answers else served.version)
    return Reply(
        encode(InferResponse(model_name=served.name, model_version=version, outputs=outputs, id=body.id))
    )


def _texts(body: InferRequest) -> list[str | bytes]:
    if len(body.inputs) != 1:
        raise Invalid(f"One input tensor with the texts is expected, got {len(body.inputs)}.")
    tensor = body.inputs[0]
    if tensor.datatype != "BYTES":
        raise Invalid(f"The datatype of texts is BYTES, got {tensor.datatype!r}.")
    if not 1 <= len(tensor.shape) <= 2 or tensor.shape[0] != len(tensor.data):
        raise Invalid(f"The shape {tensor.shape} does not fit {len(tensor.data)} texts.")
    texts: list[str | bytes] = []
    for each in tensor.data:
        if not isinstance(each, str):
            raise Invalid(f"The data hold {each!r}; texts are strings.")
        texts.append(each)
    is_base64 = isinstance(tensor.parameters, dict) and tensor.parameters.get("content_type") == "base64"
    return [_decoded(str(each)) for each in texts] if is_base64 else texts


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise Invalid(f"{text[:30]!r} is not base64.") from None
