"""Starting is cheap: what a question does not need is not loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from bayleaf import Model

HEAVY = (
    "sklearn",
    "scipy",
    "pandas",
    "polars",
    "pyarrow",
    "matplotlib",
    "Stemmer",
    "simplemma",
    "lemminflect",
)
LOADED = f"import sys; print([name for name in {HEAVY!r} if name in sys.modules])"


def loaded_after(program: str) -> str:
    """Which of the heavy packages a fresh process has loaded after a program."""
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{LOADED}"], capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_after("import bayleaf") == "[]"
    assert loaded_after("import bayleaf; bayleaf.Model, bayleaf.words, bayleaf.chars, bayleaf.bytes_") == "[]"


def test_a_saved_model_answers_without_anything_heavy(tmp_path: Path) -> None:
    file = tmp_path / "mail.bayleaf"
    Model().learn(["win a prize", "see you at noon"], ["spam", "ham"]).save(file)
    program = f"""
from bayleaf import Model
model = Model.load({str(file)!r})
assert model.predict(["a prize"]).tolist() == ["spam"]
assert model.explain("a prize").label == "spam"
assert model.learn(["noon"], ["ham"]).forget(["noon"], ["ham"]).n_documents == 2
"""
    assert loaded_after(program) == "[]"
