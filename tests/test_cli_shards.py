"""`train --shard` and `merge`: a job list gives the bytes of one run, and can be run again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bayleaf import Model
from cli_process import bayleaf, done
from doc_blocks import MESSAGES

PLAIN = ("--quiet", "--plain")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files of messages, three shards of them and the model of one run."""
    made = tmp_path_factory.mktemp("shards")
    lines = MESSAGES.read_text("utf-8").splitlines(keepends=True)
    (made / "a.tsv").write_text("".join(lines[:700]), "utf-8")
    (made / "b.tsv").write_text("".join(lines[700:]), "utf-8")
    done("train", *PLAIN, "a.tsv", "b.tsv", "-o", "one.bayleaf", cwd=made)
    for shard in range(1, 4):
        done("train", *PLAIN, "a.tsv", "b.tsv", "-o", f"{shard}.bayleaf", "--shard", f"{shard}/3", cwd=made)
    return made


def test_shards_merged_in_any_tree_are_the_model_of_one_run(folder: Path) -> None:
    one = (folder / "one.bayleaf").read_bytes()
    done("merge", "3.bayleaf", "1.bayleaf", "2.bayleaf", "-o", "all.bayleaf", cwd=folder)
    assert (folder / "all.bayleaf").read_bytes() == one
    ran = bayleaf("merge", "2.bayleaf", "3.bayleaf", "-o", "some.bayleaf", cwd=folder)
    assert "1 of 3 shards are missing: 1." in ran.stderr
    done("merge", "some.bayleaf", "1.bayleaf", "-o", "again.bayleaf", cwd=folder)
    assert (folder / "again.bayleaf").read_bytes() == one


def test_a_shard_that_is_there_twice_is_refused(folder: Path) -> None:
    ran = bayleaf("merge", "1.bayleaf", "2.bayleaf", "1.bayleaf", "-o", "twice.bayleaf", cwd=folder)
    assert ran.returncode == 1
    assert "are both shard 1/3. It would count twice." in ran.stderr
    assert not (folder / "twice.bayleaf").exists()


@pytest.mark.parametrize(
    ("shard", "differ"),
    [("2/3", "of other files, or of files that have changed"), ("2/4", "of 4 and 3 shards")],
)
def test_shards_of_different_jobs_are_refused(folder: Path, shard: str, differ: str) -> None:
    done("train", *PLAIN, "a.tsv", "-o", "other.bayleaf", "--shard", shard, cwd=folder)
    ran = bayleaf("merge", "1.bayleaf", "other.bayleaf", "-o", "mixed.bayleaf", cwd=folder)
    assert ran.returncode == 1
    assert f"shards of different jobs: {differ}" in ran.stderr


def test_a_complete_shard_is_skipped_and_a_damaged_or_different_one_is_learned(folder: Path) -> None:
    command = ("train", *PLAIN, "a.tsv", "b.tsv", "-o", "2.bayleaf", "--shard", "2/3")
    before = (folder / "2.bayleaf").read_bytes()
    assert "2.bayleaf: shard 2/3 is complete, skipped." in done(*command, cwd=folder)
    assert json.loads(done(*command, "--json", cwd=folder)) == {"model": "2.bayleaf", "skipped": True}
    for spoiled in (before[:-9], (folder / "1.bayleaf").read_bytes()):
        (folder / "2.bayleaf").write_bytes(spoiled)
        assert "skipped" not in done(*command, cwd=folder)
        assert (folder / "2.bayleaf").read_bytes() == before
    other = ("train", "--quiet", "--plain", "--alpha", "0.5", "a.tsv", "b.tsv", "-o", "3.bayleaf")
    assert "skipped" not in done(*other, "--shard", "3/3", cwd=folder)
    done("train", *PLAIN, "a.tsv", "b.tsv", "-o", "3.bayleaf", "--shard", "3/3", cwd=folder)


KILLED = """
import os, signal, sys
os.fsync = lambda file: os.kill(os.getpid(), signal.SIGKILL)
sys.argv[0] = "bayleaf"
from bayleaf.cli import main
main()
"""


def test_a_run_that_is_killed_while_it_writes_leaves_no_shard_and_is_run_again(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("a.tsv", "b.tsv"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    command = ("train", *PLAIN, "a.tsv", "b.tsv", "-o", "2.bayleaf", "--shard", "2/3")
    killed = subprocess.run([sys.executable, "-c", KILLED, *command], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "2.bayleaf").exists()
    assert "2.bayleaf:" in done(*command, cwd=tmp_path)
    assert "is complete, skipped." in done(*command, cwd=tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["2.bayleaf", "a.tsv", "b.tsv"]


def test_a_shard_without_documents_is_written_too(folder: Path) -> None:
    (folder / "tiny.tsv").write_text("ham\tsee you\nspam\twin a prize\n")
    names = []
    for shard in range(1, 6):
        names.append(f"tiny-{shard}.bayleaf")
        done("train", *PLAIN, "tiny.tsv", "-o", names[-1], "--shard", f"{shard}/5", cwd=folder)
    done("merge", *names, "-o", "tiny.bayleaf", cwd=folder)
    assert Model.load(folder / "tiny.bayleaf").class_documents == {"ham": 1, "spam": 1}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--shard", "0/3"), "'0/3' is not I/N with I from 1 to N, such as 3/16."),
        (("--shard", "4/3"), "'4/3' is not I/N"),
        (("--shard", "half"), "'half' is not I/N"),
        (("--shard", "1/2", "--tuning", "terms"), "Weights do not add up: --shard counts only."),
        (("--shard", "1/2", "--holdout", "0.2"), "so --holdout would measure a part. Merge first."),
    ],
)
def test_a_shard_that_means_nothing_is_a_usage_error(
    folder: Path, options: tuple[str, ...], message: str
) -> None:
    ran = bayleaf("train", "a.tsv", "-o", "x.bayleaf", *options, cwd=folder)
    assert ran.returncode == 2
    assert message in " ".join(ran.stderr.split())
