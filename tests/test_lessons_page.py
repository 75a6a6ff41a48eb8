"""The page on teaching says what was measured."""

from __future__ import annotations

import lessons_page
from doc_blocks import ROOT


def test_the_table_of_the_page_is_what_was_measured() -> None:
    page = (ROOT / "docs" / "teaching.md").read_text("utf-8")
    assert lessons_page.table() in page, (
        "Put what docs/lessons_page.py's table() returns in docs/teaching.md."
    )


def test_every_curve_ends_at_the_bar_or_with_the_corpus() -> None:
    for row in lessons_page.results():
        for order in lessons_page.ORDERS:
            for points, labels in zip(row["curves"][order], row["labels"][order], strict=True):
                assert points[-1][0] == labels
                assert all(reached < lessons_page.SHARE * row["accuracy"] for _, reached in points[:-1])
