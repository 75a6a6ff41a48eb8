"""Cutting all rows of a block at once gives what reading them one by one gives."""

from __future__ import annotations

import csv
import io
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bayleaf.corpus import CorpusError, Numbering, Slices, open_corpus
from bayleaf.corpus.batches import strings

SIZES = st.integers(1, 200)
LETTERS = st.characters(exclude_categories=["Cs"], exclude_characters="\t\n\r")
CELLS = st.text(LETTERS, max_size=12)
LABELS = st.sampled_from(
    ["ham", "spam", "é", "a label of 18 bytes", "exactly8", "exactly-sixteen!", "x\0", "x"]
)
AWKWARD = st.text(st.sampled_from(['"', ",", "\n", "\r", "a", "é", " "]), max_size=6)


@contextmanager
def written(content: bytes, name: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(content)
        yield path


@given(st.lists(st.tuples(LABELS, CELLS), min_size=1), SIZES, st.sampled_from(["\n", "\r\n"]), st.booleans())
@example([("ham", "")], 1, "\n", False)
def test_any_labeled_lines_come_back(
    rows: list[tuple[str, str]], size: int, line_break: str, ended: bool
) -> None:
    content = line_break.join(f"{label}\t{text}" for label, text in rows) + line_break * ended
    with written(content.encode(), "m.tsv") as path:
        batches = list(open_corpus(path, batch_bytes=size, labeled=True, header=False))
    found = [row for b in batches for row in zip(b.labels.tolist(), b.texts.tolist(), strict=True)]
    assert found == rows
    origins = [batch.origin(row) for batch in batches for row in range(len(batch))]
    assert origins == [f"{path}, line {number}" for number in range(1, len(rows) + 1)]


@given(st.lists(st.tuples(AWKWARD, AWKWARD, AWKWARD), min_size=1), SIZES, st.sampled_from(["\n", "\r\n"]))
def test_any_csv_that_python_writes_comes_back(
    rows: list[tuple[str, str, str]], size: int, line_break: str
) -> None:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator=line_break, quoting=csv.QUOTE_ALL).writerows(
        [("text", "label", "n"), *rows]
    )
    with written(out.getvalue().encode(), "m.csv") as path:
        batches = list(open_corpus(path, batch_bytes=size))
    columns = [
        [cell for b in batches for cell in strings(b.columns[name])] for name in ("text", "label", "n")
    ]
    assert list(zip(*columns, strict=True)) == rows


@given(st.text(st.sampled_from('",\nab é'), min_size=1, max_size=60), st.integers(1, 30))
@example('"a', 1)
@example('x"y,b\nb,"c\nd"\n', 1)
@example('""a,b\n', 5)
def test_stray_quotes_mean_what_they_mean_to_python(content: str, size: int) -> None:
    whole = f"label,text\n{content}"
    expected = [row for row in csv.reader(io.StringIO(whole, newline="")) if row][1:]
    lined = [row for row in expected if len(row) == 2]
    with written(whole.encode(), "m.csv") as path:
        corpus = open_corpus(path, batch_bytes=size, on_error="skip", header=True)
        found = [[label, text] for b in corpus for label, text in zip(b.labels, b.texts, strict=True)]
    assert found == lined
    assert corpus.skipped == len(expected) - len(lined)


@given(st.lists(LABELS), st.lists(LABELS))
def test_a_label_keeps_its_number_in_every_batch_and_kind_of_column(
    first: list[str], second: list[str]
) -> None:
    numbering = Numbering()
    for labels in (first, second, first):
        columns: Sequence[object] = (Slices.of(labels), labels, pa.array(labels, "string"))
        for column in columns:
            assert [numbering.names[number] for number in numbering.encode(column)] == labels
    assert numbering.names == list(dict.fromkeys(first + second))


@given(st.lists(st.text(LETTERS)), st.data())
def test_slices_are_the_strings_they_were_made_of(texts: list[str], data: st.DataObject) -> None:
    slices = Slices.of(texts)
    assert (len(slices), slices.tolist(), list(slices)) == (len(texts), texts, texts)
    rows = data.draw(st.lists(st.integers(0, len(texts) - 1))) if texts else []
    chosen = slices.take(np.array(rows, np.int64))
    assert chosen.tolist() == [texts[row] for row in rows] == [slices[row] for row in rows]


@given(st.lists(st.binary(max_size=6).filter(lambda line: not set(line) & set(b"\t\n\r")), min_size=1), SIZES)
def test_undecodable_lines_are_skipped_or_replaced_and_the_others_stay(lines: list[bytes], size: int) -> None:
    content = b"".join(b"a\t" + line + b"\n" for line in lines)
    with written(content, "m.tsv") as path:
        skipping = open_corpus(path, batch_bytes=size, on_error="skip")
        kept = [text for batch in skipping for text in batch.texts]
        replacing = open_corpus(path, batch_bytes=size, on_error="replace")
        replaced = [text for batch in replacing for text in batch.texts]
    good = [line.decode() for line in lines if line.decode("utf-8", "ignore").encode() == line]
    assert kept == good
    assert (skipping.skipped, replacing.skipped) == (len(lines) - len(good), 0)
    assert replaced == [line.decode("utf-8", "replace") for line in lines]


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-be", "utf-32", "latin-1", "cp1252", "utf-8-sig", "cp037"]
)
@pytest.mark.parametrize("size", [1, 5, 1 << 20])
def test_any_encoding_is_read(tmp_path: Path, encoding: str, size: int) -> None:
    (tmp_path / "m.csv").write_bytes('label,text\nham,"caf\u00e9\n""x"""\nspam,b\n'.encode(encoding))
    corpus = open_corpus(tmp_path / "m.csv", encoding=encoding, batch_bytes=size)
    assert [text for batch in corpus for text in batch.texts] == ['café\n"x"', "b"]


@pytest.mark.parametrize(
    ("name", "content", "columns", "rows"),
    [
        ("a.tsv", "label\ttext\nham\thi\n", ("label", "text"), 1),
        ("b.tsv", "ham\thi\nspam\tyo\n", ("label", "text"), 2),
        ("c.tsv", "ham\thi\tthere\nspam\tyo\n", ("label", "text"), 2),
        ("d.csv", "polarity;review\n1;good\n", ("polarity", "review"), 1),
        ("e.csv", "ham,hi\nham,yo\n", ("label", "text"), 2),
        ("f.csv", 'spam,"free, now!"\nham,hi\n', ("label", "text"), 2),
        ("g.csv", "v1,v2\nham,hi\nspam,yo\n", ("v1", "v2"), 2),
        ("h.tsv", "text\tclass\n", ("text", "class"), 0),
    ],
)
def test_a_header_is_told_from_data(
    tmp_path: Path, name: str, content: str, columns: tuple[str, ...], rows: int
) -> None:
    (tmp_path / name).write_text(content)
    corpus = open_corpus(tmp_path / name, table="v1" in columns)
    assert (corpus.columns, sum(map(len, corpus))) == (columns, rows)


def test_further_tabs_belong_to_the_text_where_it_is_the_last_column_only(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("ham\ta\tb\nspam\tc\n")
    assert [text for batch in open_corpus(tmp_path / "m.tsv") for text in batch.texts] == ["a\tb", "c"]
    (tmp_path / "n.tsv").write_text("text\tlabel\na\tb\tham\n")
    with pytest.raises(CorpusError, match=r"n\.tsv, line 2 has 3 columns, expected 2"):
        list(open_corpus(tmp_path / "n.tsv"))


def test_columns_may_be_chosen_by_number_where_they_have_no_names(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("see you\tham\nwin\tspam\n")
    (batch,) = open_corpus(tmp_path / "m.tsv", text=1, labeled=True)
    assert (batch.texts.tolist(), batch.labels.tolist()) == (["see you", "win"], ["ham", "spam"])


DATA = Path(os.environ.get("BAYLEAF_DATA", "absent"))


@pytest.mark.skipif(not DATA.is_dir(), reason="the folder named by BAYLEAF_DATA is absent")
@pytest.mark.parametrize("name", ["sms", "20ng", "languages", "taxa", "mail"])
def test_real_corpora_are_read_as_a_naive_reader_reads_them(name: str) -> None:
    path = DATA / f"{name}.test.tsv"
    with path.open(encoding="utf-8", newline="\n") as file:
        expected = [tuple(line.rstrip("\n").split("\t", 1)) for line in file]
    numbering = Numbering()
    found = []
    for batch in open_corpus(path, labeled=True):
        labels = [numbering.names[number] for number in numbering.encode(batch.labels)]
        found += list(zip(labels, batch.texts, strict=True))
    assert found == expected
