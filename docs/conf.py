"""How Sphinx makes the site of these pages: `make docs`. Nothing is fetched, while building or while reading.

The pages are plain Markdown that reads well in a repository too, so what only the site needs is added here:
the trees of contents, the docstrings, and formulas as MathML.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.util.logging import getLogger
from sphinx.writers.html5 import HTML5Translator

sys.path.insert(0, str(Path(__file__).parent))

import api
import bayleaf
import results

HERE = Path(__file__).parent

project = "bayleaf"
author = "The bayleaf developers"
project_copyright = author
version = release = bayleaf.__version__
extensions = ["myst_parser"]
source_suffix = {".md": "markdown"}
smartquotes = False  # "auto" is a value
exclude_patterns = ["_build"]
nitpicky = True

myst_enable_extensions = ["dollarmath"]
myst_dmath_allow_digits = False  # "$5 and $6" is money
myst_dmath_allow_space = False
myst_dmath_double_inline = True
myst_fence_as_directive = {"math"}
myst_heading_anchors = 4

html_theme = "furo"
pygments_dark_style = "monokai"
html_title = f"bayleaf {release}"
html_logo = html_favicon = "static/leaf.svg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_use_index = False
html_show_sphinx = False
html_math_renderer = "mathml"

# The sections of the side bar. A page that is named nowhere is a guide; one that does not exist is left out.
SECTIONS = {
    "First steps": ["tutorial"],
    "Guides": [
        *(
            "text",
            "tables",
            "multilabel",
            "from_scikit_learn",
            "estimators",
            "tuning",
            "few_labels",
            "teaching",
            "plots",
            "lazy",
            "export",
        ),
        *("scale", "service", "mail_servers"),
    ],
    "The paper": ["paper/README", "paper/index"],
    "Reference": ["reference", "commands/README", "model"],
    "Why it is so": ["laws", "benchmarks", "decisions"],
}
# What the converter to MathML does not know, in words that it does.
SYNONYMS = (
    (r"\\(begin|end)\{aligned\}", r"\\\1{split}"),
    (r"\\arg\b", r"\\operatorname{arg}"),
    (r"\\math(bf|rm|bb) ?(\w)", r"\\math\1{\2}"),
    (r"\\#", "#"),
)
LOGGER = getLogger(__name__)
SPEED_MARK = "<!-- the table of the README -->"
FRONT_PAGES = ("README", "index")


def pages() -> list[str]:
    """Every page, without its suffix, in alphabetical order."""
    found = (page.relative_to(HERE) for page in HERE.rglob("*.md") if "_build" not in page.parts)
    return sorted(page.with_suffix("").as_posix() for page in found)


def trees(page: str) -> str:
    """The trees of contents of a page: all sections for the first one, its folder for the front of one."""
    folder, _, name = page.rpartition("/")
    if page == "index":
        return "".join(_tree(listed, caption) for caption, listed in _sections().items())
    if folder and name in FRONT_PAGES:
        return _tree([other for other in pages() if other.startswith(f"{folder}/") and other != page])
    return ""


def _sections() -> dict[str, list[str]]:
    there = pages()
    named = {page for listed in SECTIONS.values() for page in listed}
    fronts = {page.rpartition("/")[0] for page in there if page.rpartition("/")[2] in FRONT_PAGES} - {""}
    others = [
        page for page in there if page not in {*named, "index"} and page.rpartition("/")[0] not in fronts
    ]
    sections = {**SECTIONS, "Guides": [*SECTIONS["Guides"], *others]}
    kept = {caption: [page for page in listed if page in there] for caption, listed in sections.items()}
    return {caption: listed for caption, listed in kept.items() if listed}


def _tree(listed: list[str], caption: str = "") -> str:
    options = ":hidden:\n" + (f":caption: {caption}\n" if caption else "")
    entries = "".join(f"/{page}\n" for page in listed)
    return f"\n\n```{{toctree}}\n{options}\n{entries}```\n"


def complete(_app: Sphinx, page: str, source: list[str]) -> None:
    """Add what would be noise, or old, in the repository: contents, docstrings, a table of another page."""
    if page == "reference":
        source[0] = api.filled(source[0])
    if page == "benchmarks":
        source[0] = source[0].replace(SPEED_MARK, results.table(results.README, "## How fast"))
    source[0] += trees(page)


def visit_formula(translator: HTML5Translator, node: nodes.math | nodes.math_block) -> None:
    """Write a formula as MathML, which browsers draw by themselves."""
    block = isinstance(node, nodes.math_block)
    formula = node.astext()
    for written, understood in SYNONYMS:
        formula = re.sub(written, understood, formula)
    mathml = convert(formula, display="block" if block else "inline")
    if "\\" in mathml or "&</mi>" in mathml:
        LOGGER.warning("This formula has something that is not understood: %s", formula, location=node)
    translator.body.append(f'<div class="formula">{mathml}</div>' if block else mathml)
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Tell Sphinx about the trees and the formulas."""
    app.add_html_math_renderer("mathml", (visit_formula, None), (visit_formula, None))
    app.connect("source-read", complete)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
