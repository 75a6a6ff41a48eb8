"""Text on pages and in figures can be read: WCAG AA, a contrast of 4.5, by day and by night."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bayleaf import html_page
from bayleaf.plots.style import MIDTONE

SOURCE = Path(html_page.__file__).read_text("utf-8")
LIGHT, DARK = (dict(re.findall(r"--(\w+):(#\w+)", part)) for part in SOURCE.split("@media(prefers", 1))
TEXT = ("ink", "soft", "good", "bad", "other", *(f"l{number}" for number in range(8)))


def luminance(color: str) -> float:
    digits = color.lstrip("#")
    digits = "".join(digit * 2 for digit in digits) if len(digits) == 3 else digits
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_contrast_is_that_of_the_definition() -> None:
    assert contrast("#000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#fff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("ground", ["paper", "card"])
@pytest.mark.parametrize("name", TEXT)
def test_text_of_every_color_can_be_read_on_both_grounds_by_day_and_by_night(name: str, ground: str) -> None:
    for colors in (LIGHT, DARK):
        assert contrast(colors[name], colors[ground]) >= 4.5, (name, ground)


def test_labels_of_figures_can_be_read_on_white_and_by_night() -> None:
    import figures

    assert contrast(MIDTONE, "#fff") >= 4.5
    lighter = re.findall(r"fill:(#\w+)", figures.LIGHTER)[0]
    assert contrast(lighter, "#131416") >= 4.5
    for file in sorted(figures.FOLDER.glob("*.svg")):
        if MIDTONE in file.read_text("utf-8"):
            assert figures.DARK in file.read_text("utf-8"), file.name
