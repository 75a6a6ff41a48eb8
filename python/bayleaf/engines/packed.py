"""A model on the driver, compressed as it came until somebody needs its counts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from bayleaf import model_file, model_views, storage
from bayleaf.engines.arrow import check_complete, decompressed, header_in
from bayleaf.engines.parts import ORIGIN
from bayleaf.model import Model
from bayleaf.types import Arrays


@dataclass(frozen=True, eq=False)
class Packed:
    """The compressed bytes of a model that has learned and was never asked, in pieces."""

    pieces: list[Any]

    def __call__(self) -> list[Arrays]:
        """The arrays of each view."""
        return storage.unpack(decompressed(self.pieces), ORIGIN)[1]


def unpacked_later(pieces: list[Any], like: Model) -> Model:
    """The model in compressed pieces, with the user's functions of another that has the same views."""
    check_complete(pieces)
    settings = storage.settings_in(header_in(pieces), ORIGIN)
    functions = model_views.normalizers_of(like.views)
    return model_file.restored_later(Model, settings, Packed(pieces), ORIGIN, functions, 1)


def packed(model: Model) -> list[Any] | None:
    """The compressed pieces of a model, if it has any and is still what they say."""
    source = model.source
    if not isinstance(source, model_file.Later) or not isinstance(source.read, Packed):
        return None
    told = json.loads(json.dumps(model_file.settings_of(model)))
    return source.read.pieces if told == source.settings else None
