"""What the tests of the matrix classifiers share: rows to learn, and the learned in a form that compares."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

Sample = tuple[Any, Any, Any]


@st.composite
def samples(draw: st.DrawFn, most: int = 12) -> Sample:
    """Rows of small counts, labels of up to six classes, and weights that add exactly."""
    n_rows, n_features = draw(st.integers(2, most)), draw(st.integers(1, 5))
    X = draw(hnp.arrays(np.int64, (n_rows, n_features), elements=st.integers(0, 4)))
    y = draw(hnp.arrays(np.int64, n_rows, elements=st.integers(0, 5)))
    weight = draw(hnp.arrays(np.float64, n_rows, elements=st.sampled_from([0.5, 1.0, 2.0, 3.25])))
    return X, y, weight


def learned(model: Any) -> dict[str, Any]:
    """Return every fitted attribute, in a form that compares."""
    state = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {name: pickle.dumps(_plain(value)) for name, value in state.items()}


def _plain(value: Any) -> Any:
    if hasattr(value, "__dataclass_fields__"):
        return [_plain(part) for part in vars(value).values()]
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
