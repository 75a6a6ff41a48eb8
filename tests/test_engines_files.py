"""A corpus divided among tasks: together they read each document once, whatever the format
and the number (law L12)."""

from __future__ import annotations

import gzip
import json
import pickle
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayleaf import Model, words
from bayleaf.corpus import CorpusError, open_corpus
from bayleaf.corpus.batches import strings
from bayleaf.corpus.settings import Settings
from bayleaf.corpus.shards import split
from bayleaf.corpus.sources import Source
from bayleaf.engines import core
from bayleaf.engines.files import file_examples, shards

ROWS = [(f"c{i % 3}", f"text {i} " + "é" * (i % 40)) for i in range(200)]
COUNTS = [1, 2, 3, 7, 64, 500]


def read(paths: list[Path], of: int, **options: Any) -> tuple[list[tuple[str, str]], list[int]]:
    """All rows of all shards, and how many each shard had."""
    rows, sizes = [], []
    for shard in pickle.loads(pickle.dumps(open_corpus(*paths, labeled=True, **options).split(of))):
        own = [
            pair for batch in shard for pair in zip(strings(batch.labels), strings(batch.texts), strict=True)
        ]
        rows += own
        sizes.append(len(own))
    return rows, sizes


def written(folder: Path, kind: str) -> list[Path]:
    """The rows in a format."""
    tsv = "".join(f"{label}\t{text}\n" for label, text in ROWS)
    if kind == "parquet":
        table = pa.table({"label": [label for label, _ in ROWS], "text": [text for _, text in ROWS]})
        pq.write_table(table, folder / "rows.parquet", row_group_size=7)
    elif kind == "jsonl":
        lines = [json.dumps({"label": label, "text": text}) for label, text in ROWS]
        (folder / "rows.jsonl").write_text("\n".join(lines), "utf-8")  # no line break at the end
    elif kind == "gz":
        for part in range(4):
            lines = tsv.splitlines(keepends=True)[part * 50 : part * 50 + 50]
            (folder / f"part-{part}.tsv.gz").write_bytes(gzip.compress("".join(lines).encode()))
    elif kind == "folders":
        for i, (label, text) in enumerate(ROWS):
            (folder / label).mkdir(exist_ok=True)
            (folder / label / f"{i:03}.txt").write_text(text, "utf-8")
        return [folder]
    else:
        content = {
            "tsv": tsv,
            "header.tsv": "label\ttext\n" + tsv,
            "crlf.tsv": tsv.replace("\n", "\r\n"),
            "csv": "label,text\n" + "".join(f'{label},"{text}\n"\n' for label, text in ROWS),
            "fasttext.txt": "".join(f"__label__{label} {text}\n" for label, text in ROWS),
        }[kind]
        (folder / f"rows.{kind}").write_bytes(content.encode())
    return sorted(folder.iterdir())


KINDS = ["tsv", "header.tsv", "crlf.tsv", "csv", "fasttext.txt", "jsonl", "parquet", "gz", "folders"]


@pytest.mark.parametrize("kind", KINDS)
def test_all_shards_together_read_each_row_once(tmp_path: Path, kind: str) -> None:
    paths = written(tmp_path, kind)
    whole, _ = read(paths, 1)
    assert len(whole) == len(ROWS)
    for of in COUNTS:
        rows, sizes = read(paths, of)
        assert Counter(rows) == Counter(whole)
        if of == 3 and kind not in ("csv", "gz"):
            # Cut where lines or row groups begin; the footer of so small a Parquet file is a third of it.
            assert sum(size > 40 for size in sizes) >= 3 - (kind == "parquet")


@given(
    st.lists(st.text(st.sampled_from("aé\n \r"), max_size=9), min_size=1, max_size=8),
    st.integers(1, 12),
)
def test_a_file_of_any_lines_is_cut_without_loss(tmp_path_factory: Any, lines: list[str], of: int) -> None:
    path = tmp_path_factory.mktemp("cut") / "lines.tsv"
    path.write_bytes(b"x\ta\n" * 120 + "\n".join(f"l\t{line}" for line in lines if line).encode())
    options: dict[str, Any] = {
        "format": "tsv",
        "header": False,
        "on_error": "skip",
        "text": "2",
        "label": "1",
    }
    whole, _ = read([path], 1, **options)
    assert read([path], of, **options)[0] == whole


def test_a_file_that_is_cut_tells_errors_by_the_byte_it_counts_lines_from(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("".join(f"a\tword {i}\n" for i in range(100)) + "no tab here\n")
    with pytest.raises(CorpusError, match=r"rows\.tsv from byte \d+, line \d+"):
        read([path], 3)


def test_standard_input_cannot_be_divided() -> None:
    with pytest.raises(CorpusError, match=r"size is not known"):
        split([Source("-")], Settings(), 2)


def test_tasks_that_read_files_give_the_bytes_of_one_process(tmp_path: Path) -> None:
    one = Model([words(2)]).learn([text for _, text in ROWS], [label for label, _ in ROWS]).to_bytes()
    for kind in ("tsv", "parquet", "gz"):
        (tmp_path / kind).mkdir()
        paths = written(tmp_path / kind, kind)
        empty = Model([words(2)])
        work = shards(paths, empty, 5)
        blobs = [core.count(file_examples(empty, shard, []), empty) for shard in work]
        total = core.merged([blob for blob in blobs if blob], empty)
        assert total is not None
        assert total.to_bytes() == one


def test_files_keep_the_classes_of_a_model_that_are_numbers(tmp_path: Path) -> None:
    model = Model().learn(["a b"], [1])
    (tmp_path / "more.tsv").write_text("1\tc\n2\td\n")
    plan = core.Plan.of(None, model, "text", "label", "stop")
    work = shards(tmp_path / "more.tsv", plan.empty, None)
    blob = core.count(file_examples(plan.empty, work[0], model.classes), plan.empty)
    assert blob is not None
    assert core.finished(core.merged([blob], plan.empty), model).classes == [1, "2"]


@pytest.mark.parametrize("tasks", [0, -1, "2"])
def test_a_number_of_tasks_that_means_nothing_is_refused(tmp_path: Path, tasks: Any) -> None:
    with pytest.raises(ValueError, match="`tasks` must be a whole number >= 1, got"):
        shards(written(tmp_path, "jsonl"), Model(), tasks)
