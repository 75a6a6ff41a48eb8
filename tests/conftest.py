"""What several files share: the settings of Hypothesis, a browser, a corpus without labels."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# How long an example takes says more about the machine than about bayleaf.
settings.register_profile("bayleaf", deadline=None, max_examples=60)
settings.load_profile("bayleaf")


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """The system's browser; of a module, because its event loop runs in this thread as long as it is open."""
    import screenshots

    if screenshots.CHROMIUM is None:
        pytest.skip("No Chromium was found: install it (Debian: chromium) to see the pages as people do.")
    with screenshots.chromium() as opened:
        yield opened


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """The bundled messages without their labels."""
    from teaching_process import TEXTS, write_jsonl

    return write_jsonl(tmp_path / "texts.jsonl", TEXTS)
