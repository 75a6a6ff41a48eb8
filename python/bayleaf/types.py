"""The types that modules share: arrays, labels, and settings with a few values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Classes = NDArray[np.uint32]
Arrays = dict[str, NDArray[Any]]
"""The arrays of one view's counts, by name, as the model file holds them."""

Label: TypeAlias = str | int | float | bool
Unseen = Literal["ignore", "smooth"]
Priors = Literal["empirical", "uniform"] | Mapping[Any, float]
