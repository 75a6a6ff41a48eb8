"""Try a built wheel where there is nothing else: no Rust, no compiler, no repository (`make wheel`)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

TESTS = Path(__file__).parent
PROGRAM = """
from importlib.resources import files
import bayleaf
from bayleaf import Model, NaiveBayes, words

lines = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
labels, texts = zip(*(line.split("\\t", 1) for line in lines))
model = NaiveBayes().fit(texts[:800], labels[:800])
right = (model.predict(texts[800:]) == labels[800:]).mean()
assert right > 0.9, right
again = Model.from_bytes(Model([words(2)]).learn(texts, labels).to_bytes())
print(f"bayleaf {bayleaf.__version__}: {right:.1%} right, {len(again.counts().term_names)} terms")
"""
LAWS = ["test_laws.py", "test_analysis.py", "test_storage.py", "test_oracle.py", "test_trust_files.py"]
BESIDE = ["oracle.py", "strategies.py", "conftest.py", "golden"]


def main(folder: str) -> None:
    """Install the wheel, which maturin has built from the source archive, and run the laws on it."""
    for file in sorted(Path(folder).iterdir()):
        print(file.name, f"{file.stat().st_size / 1e6:.1f} MB")
    (wheel,) = Path(folder).glob("*.whl")
    assert sys.platform != "linux" or "manylinux" in wheel.name, f"{wheel.name} is for this machine only"
    with tempfile.TemporaryDirectory() as place:
        room = Path(place)
        venv.create(room / "venv", with_pip=True)
        python = room / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"{wheel.resolve()}[text,data]", "pytest", "hypothesis"], check=True)
        bare = {name: value for name, value in os.environ.items() if name in {"HOME", "LANG", "TMPDIR"}}
        bare["PATH"] = str(python.parent)
        subprocess.run([str(python), "-c", PROGRAM], cwd=room, env=bare, check=True)
        subprocess.run([str(python.parent / "bayleaf"), "demo"], cwd=room, env=bare, check=True, stdout=-3)
        (room / "tests").mkdir()
        for name in [*LAWS, *BESIDE]:
            source = TESTS / name
            if source.is_dir():
                shutil.copytree(source, room / "tests" / name)
            elif source.exists():
                shutil.copy(source, room / "tests" / name)
        command = [str(python), "-m", "pytest", "-q", "-p", "no:cacheprovider", "-x", "tests"]
        subprocess.run(command, cwd=room, env={**bare, "PYTHONPATH": "tests"}, check=True)


if __name__ == "__main__":
    main(sys.argv[1])
