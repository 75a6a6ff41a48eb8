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
OURS = (
    "bayleaf.explanation",
    "bayleaf.column_views",
    "bayleaf.ready",
    "bayleaf.table",
    "bayleaf.tuning.tune",
    "bayleaf.tuning.examples",
    "bayleaf.corpus",
    "bayleaf.naive_bayes",
)
"""What is ours and not needed to answer: learning weights, tables, reasons, files of documents."""


def loaded_after(program: str, names: tuple[str, ...] = HEAVY) -> str:
    """Which of these modules a fresh process has loaded after a program."""
    loaded = f"import sys; print([name for name in {names!r} if name in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", f"{program}\n{loaded}"], capture_output=True, text=True, check=True
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


ANSWER = (
    "from bayleaf import Model; print(Model.load({!r}).predict(['a prize']), file=__import__('sys').stderr)"
)


def test_a_saved_model_answers_without_tables_and_without_what_earns_weights(tmp_path: Path) -> None:
    texts, labels = ["win a prize", "see you at noon", "a prize for you", "at noon"], ["spam", "ham"] * 2
    plain, tuned = tmp_path / "plain", tmp_path / "tuned"
    Model().learn(texts, labels).save(plain)
    Model().learn(texts, labels).tune(texts, labels, "terms").save(tuned)
    for file, beside in ((plain, ("bayleaf.tuning.judgment", "bayleaf.tuning.scorer")), (tuned, ())):
        assert loaded_after(ANSWER.format(str(file)), (*HEAVY, *OURS, *beside)) == "[]"


def test_what_was_not_loaded_is_there_when_it_is_asked_for(tmp_path: Path) -> None:
    Model().learn(["win a prize", "see you at noon"], ["spam", "ham"]).save(tmp_path / "model")
    program = f"""
from bayleaf import Model, tuning
model = Model.load({str(tmp_path / "model")!r})
assert model.explain("a prize").label == "spam"
assert model.tune(["win a prize", "see you at noon"], ["spam", "ham"], "views").judgment is not None
assert tuning.FEW == 30
try:
    tuning.nothing
except AttributeError as error:
    assert "'nothing'" in str(error)
else:
    raise AssertionError
"""
    assert loaded_after(program, ("bayleaf.tuning.tune",)) == "['bayleaf.tuning.tune']"
