"""A sample chosen by a hash of the text: the same whatever the order, the shards and the process."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, words
from bayleaf.engines.sampling import chosen, digest, sample, share_of, tuned
from cli_process import messages


@given(st.lists(st.text(), min_size=1), st.floats(0, 1), st.integers(0, 10))
def test_a_sample_of_parts_is_the_sample_of_the_whole(texts: list[str], share: float, cut: int) -> None:
    whole = chosen([texts], share)
    parts = [chosen([part], share) for part in (texts[:cut], texts[cut:]) if part]
    assert np.concatenate(parts).tolist() == whole.tolist()


def test_the_hash_is_fixed_for_ever() -> None:
    assert digest(["win a prize"]) == 12032787024390000414


def test_a_sample_has_about_its_share_and_a_larger_one_holds_a_smaller_one() -> None:
    texts = [f"text {i}" for i in range(20_000)]
    tenth, fifth = chosen([texts], 0.1), chosen([texts], 0.2)
    assert 1_800 < tenth.sum() < 2_200
    assert not (tenth & ~fifth).any()


def test_weights_do_not_depend_on_the_order_in_which_a_sample_comes() -> None:
    labels, texts = map(list, zip(*messages(), strict=True))
    model = Model([words()]).learn(texts, labels)
    examples = sample(texts, labels, share_of(model, 400))
    one = tuned(model, examples)
    random.Random(1).shuffle(examples)
    assert tuned(model, examples).to_bytes() == one.to_bytes()
    assert one.judgment is not None


def test_an_empty_sample_is_said() -> None:
    model = Model([words()]).learn(["a"], ["x"])
    with pytest.raises(ValueError, match="No document is in the sample"):
        tuned(model, [])
    with pytest.raises(ValueError, match="`documents` must be a whole number >= 1, got 0"):
        share_of(model, 0)
