"""The tables of accuracy say what was measured."""

from __future__ import annotations

import pytest

import accuracy_page


@pytest.mark.parametrize("name", accuracy_page.parts())
def test_the_table_on_the_page_is_what_was_measured(name: str) -> None:
    page, text = accuracy_page.parts()[name]
    assert accuracy_page.shown(name, page) == text, "Run docs/accuracy_page.py, and commit the page."


def test_the_default_is_better_than_a_linear_svm_on_average() -> None:
    assert len(accuracy_page.corpora()) == 10
    assert accuracy_page.mean("bayleaf") > accuracy_page.mean("LinearSVC")
