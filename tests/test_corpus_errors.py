"""Whatever is wrong with an input is said: what, where, and what to do about it."""

from __future__ import annotations

import gzip
import os
import random
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from bayleaf.corpus import FORMATS, CorpusError, open_corpus
from bayleaf.corpus.batches import strings

SKIP = 'Correct it, or leave such lines out with `on_error="skip"`.'


def failure(path: Path | str, **options: Any) -> str:
    """Read it all; give the message, with the folder's name left out."""
    with pytest.raises(CorpusError) as caught:
        list(open_corpus(path, **options))
    return str(caught.value).replace(f"{Path(path).parent}{os.sep}", "")


@pytest.mark.parametrize(
    ("name", "content", "options", "message"),
    [
        (
            "mail.csv",
            b"body,label\nhi,ham\n",
            {"text": "text"},
            "mail.csv, line 1: no column is named 'text'. The columns are 'body' and 'label'; "
            "choose with `text`.",
        ),
        (
            "mail.csv",
            b"id,words,kind\n1,hi,ham\n",
            {"text": "words", "labeled": True},
            "mail.csv, line 1: no column is named 'label'. The columns are 'id', 'words' and 'kind'; "
            "choose with `label`.",
        ),
        ("m.tsv", b"ham\thi\n\nspam\n", {}, f"m.tsv, line 3 has 1 column, expected 2. {SKIP}"),
        ("m.csv", b"label,text\nham,hi,yo\n", {}, f"m.csv, line 2 has 3 columns, expected 2. {SKIP}"),
        ("m.csv", b'label,text\n"a\nb",c\nd\n', {}, f"m.csv, line 4 has 1 column, expected 2. {SKIP}"),
        ("m.csv", b'label,text\na"b,c\nd\n', {}, f"m.csv, line 3 has 1 column, expected 2. {SKIP}"),
        (
            "m.csv",
            b"text,text\na,b\n",
            {"header": True},
            "m.csv, line 1: two columns are named 'text'. Rename one of them.",
        ),
        ("m.tsv", b"ham\thi\n\tyo\n", {"labeled": True}, f"m.tsv, line 2 has no label. {SKIP}"),
        (
            "m.tsv",
            b"ham\thi\nham\tcaf\xe9\n",
            {},
            "m.tsv, line 2: byte 8 of the line, 0xE9, is not valid utf-8 (unexpected end of data). "
            'Name the encoding with `encoding`, or choose `on_error="skip"` or `on_error="replace"`.',
        ),
        (
            "m.tsv",
            "ham\thi\n".encode("utf-16"),
            {},
            'm.tsv begins like UTF-16, not UTF-8. Read it with `encoding="utf-16"`.',
        ),
        ("m.tsv", b"", {}, "m.tsv is empty."),
        ("m.tsv", b"\n\n", {}, "m.tsv is empty."),
        (
            "m.csv",
            b"a,b,c\n1,2,3\n",
            {},
            "m.csv, line 1: no column is named 'text'. The columns are 'a', 'b' and 'c'; choose with `text`.",
        ),
        ("m.tsv.gz", gzip.compress(b"ham\thi\n" * 999, mtime=0)[:-9], {}, None),
        ("m.tsv.zst", zstandard.compress(b"ham\thi\n" * 9999)[:-3], {}, None),
        (
            "m.jsonl",
            b'{"text": "a"}\n{"text": \n',
            {},
            f"m.jsonl, line 2, column 10: Expecting value. Expected a JSON object. {SKIP}",
        ),
        ("m.jsonl", b'{"text": "a"}\n{"other": 1}\n', {}, f"m.jsonl, line 2 has no value for 'text'. {SKIP}"),
        (
            "m.jsonl",
            b'{"text": "\\ud800"}\n',
            {},
            f"m.jsonl, line 1 holds half of a surrogate pair, which is not text. {SKIP}",
        ),
        (
            "m.jsonl",
            b"[1]\n",
            {},
            "m.jsonl, line 1 begins a JSON array; expected an object on each line (JSON lines).",
        ),
        (
            "m.jsonl",
            b'{"text": "a"}\n7\n',
            {},
            f"m.jsonl, line 2: expected a JSON object with named values, got '7'. {SKIP}",
        ),
        ("m.txt", b"__label__a x\nplain\n", {}, f"m.txt, line 2 does not begin with __label__. {SKIP}"),
        ("m.txt", b"__label__a __label__b x\n", {}, f"m.txt, line 1 has more than one label. {SKIP}"),
        (
            "m.mbox",
            b"Subject: hi\n",
            {},
            "m.mbox, line 1: an mbox begins with a line 'From ADDRESS DATE'; this does not.",
        ),
        (
            "m.fasta",
            b"ACGT\n",
            {},
            "m.fasta, line 1: a FASTA file begins with '>' and a name; this does not.",
        ),
        (
            "m.fasta",
            b">a\nACGT\n",
            {"labeled": True},
            "m.fasta: sequences have no label. Name the table of their taxa with `taxonomy`, or "
            "their class with `constant`.",
        ),
        ("m.parquet", b"PAR1 and then nothing", {}, None),
    ],
)
def test_a_broken_file_is_named_with_its_line_and_a_remedy(
    tmp_path: Path, name: str, content: bytes, options: dict[str, Any], message: str | None
) -> None:
    (tmp_path / name).write_bytes(content)
    found = failure(tmp_path / name, **options)
    assert found == message if message else re.match(rf"{name} .*(damaged|cut off|read|Truncated)", found)


def test_lines_without_labels_are_refused_where_labels_are_needed(tmp_path: Path) -> None:
    (tmp_path / "m.txt").write_text("just text\n")
    assert failure(tmp_path / "m.txt", labeled=True).startswith(
        "m.txt: its lines have no label. Expected a label,"
    )


def test_inputs_that_are_not_there_are_named(tmp_path: Path) -> None:
    assert failure(tmp_path / "no.tsv") == "no.tsv does not exist."
    assert failure(f"{tmp_path}/*.tsv") == "No file matches '*.tsv'."
    with pytest.raises(CorpusError, match="No input is named"):
        open_corpus()


def test_standard_input_with_nothing_in_it_is_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    with open(os.devnull, encoding="utf-8") as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        for interactive in (True, False):
            with pytest.raises(CorpusError, match=r"^standard input is empty\.$"):
                open_corpus("-", interactive=interactive)


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mail" / "empty").mkdir(parents=True)
    assert failure(tmp_path / "mail").startswith("mail holds no documents. Expected a folder for each class")


def test_a_file_that_cannot_be_read_is_named() -> None:
    if not os.path.exists("/proc/self/mem"):
        pytest.skip("needs a file that opens but cannot be read")
    assert re.match(r"mem could not be read: .*Input/output error", failure("/proc/self/mem"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "xml"}, "No format is named 'xml'. The formats are 'tsv', 'csv'"),
        ({"encoding": "utf-99"}, "No encoding is named 'utf-99'"),
        ({"on_error": "ignore"}, "on_error must be 'stop', 'skip' or 'replace', got 'ignore'"),
        ({"encoding": "utf-16", "on_error": "skip"}, 'Choose `on_error="replace"` or'),
        ({"batch_bytes": 0}, "batch_bytes must be at least 1, got 0"),
        ({"rank": "tribe", "format": "fasta"}, "No rank is named 'tribe'"),
        ({"label": "(", "format": "lines"}, r"pattern '\(' is not a regular expression"),
        ({"label": "()()", "format": "lines"}, "must have one group"),
        ({"label": "(spam)", "format": "lines"}, "does not match this path"),
        ({"format": "maildir"}, "is not a folder"),
        ({"label": "kind", "format": "eml"}, "its 'folder', its 'file' name or a pattern"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused(
    tmp_path: Path, options: dict[str, Any], message: str
) -> None:
    (tmp_path / "m.tsv").write_text("ham\thi\n")
    with pytest.raises(CorpusError, match=message):
        open_corpus(tmp_path / "m.tsv", **options)


def test_skipped_rows_are_counted_for_every_kind_of_fault(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_bytes(b"ham\thi\nspam\nham\t\xff\n\tno label\n\nspam\tyo\n")
    corpus = open_corpus(tmp_path / "m.tsv", on_error="skip", labeled=True)
    assert [text for batch in corpus for text in batch.texts] == ["hi", "yo"]
    assert corpus.skipped == 3
    (tmp_path / "m.csv").write_bytes(b'label,text\nham,"two\n\xff lines"\nham,ok\nham,a"b\nx\n')
    corpus = open_corpus(tmp_path / "m.csv", on_error="skip")
    assert [text for batch in corpus for text in batch.texts] == ["ok", 'a"b']
    assert corpus.skipped == 2


def test_a_row_without_a_label_is_named_in_parquet_too(tmp_path: Path) -> None:
    pq.write_table(pa.table({"label": ["a", None, "b"], "text": ["x", "y", ""]}), tmp_path / "m.parquet")
    assert failure(tmp_path / "m.parquet").startswith("m.parquet, row 2 has no label.")
    corpus = open_corpus(tmp_path / "m.parquet", on_error="skip")
    (batch,) = corpus
    assert (batch.texts.to_pylist(), corpus.skipped, batch.origin(1)) == (
        ["x", ""],
        1,
        f"{tmp_path}/m.parquet, row 3",
    )


def test_labeled_and_unlabeled_files_are_not_mixed(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("ham\thi\n")
    (tmp_path / "b.txt").write_text("hi\n")
    with pytest.raises(CorpusError, match=r"b\.txt has no labels, but .*a\.tsv has"):
        list(open_corpus(tmp_path / "a.tsv", tmp_path / "b.txt"))


def test_a_sequence_that_the_taxonomy_lacks_is_named(tmp_path: Path) -> None:
    (tmp_path / "s.fa").write_text(">x\nAC\n>y\nGT\n")
    (tmp_path / "taxa.tsv").write_text("x\tk__A\n")
    assert (
        failure(tmp_path / "s.fa", taxonomy=tmp_path / "taxa.tsv")
        == "s.fa, line 3: the taxonomy has no line for 'y'."
    )
    (tmp_path / "taxa.tsv").write_text("x k__A\n")
    message = failure(tmp_path / "s.fa", taxonomy=tmp_path / "taxa.tsv")
    assert "taxa.tsv, line 1 has 1 column" in message


@pytest.mark.parametrize("name", ["m.parquet", "m.tsv.zst"])
def test_without_pyarrow_the_message_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    (tmp_path / name).write_bytes(zstandard.compress(b"a\tb\n") if name.endswith("zst") else b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "compression.zstd", None)
    assert 'pip install "bayleaf[data]"' in failure(tmp_path / name)


def test_neither_pyarrow_nor_scikit_learn_is_imported_for_lines() -> None:
    code = (
        "import sys, bayleaf.corpus as c; list(c.open_corpus(sys.argv[1]));"
        "print([m for m in ('pyarrow', 'sklearn', 'scipy', 'pandas') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, __file__], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def digest(path: Path, **options: Any) -> list[str]:
    """Read what can be read, and check that it is sound."""
    found = []
    with suppress(CorpusError):
        for batch in open_corpus(path, **options):
            assert len(batch.texts) == len(batch) > 0
            assert batch.origin(len(batch) - 1).startswith(str(path))
            found += strings(batch.texts)
    return found


@given(st.binary(min_size=1, max_size=300), st.sampled_from([None, *FORMATS]), st.integers(1, 64))
def test_no_bytes_do_worse_than_a_corpus_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, format: str | None, size: int
) -> None:
    file = tmp_path_factory.getbasetemp() / "any bytes"
    file.write_bytes(content)
    skipping = digest(file, format=format, on_error="skip")
    assert skipping == digest(file, format=format, on_error="skip", batch_bytes=size)


SEEDS = {
    "tsv": b"ham\thi\nspam\tyo\n",
    "csv": b'label,text\na,"b\nc"\n',
    "jsonl": b'{"text": "a", "label": 1}\n',
    "fasttext": b"__label__a b\n",
    "mbox": b"From a 12:00\nSubject: x\n\nFrom b 13:00\n\n",
    "fasta": b"\n\n>a b\nACGT\nAA\n>c\nG\n",
    None: b'text,label\n"a",b\n',
}


@pytest.mark.parametrize("format", SEEDS)
def test_a_damaged_file_gives_the_same_rows_in_batches_of_any_size(
    tmp_path: Path, format: str | None
) -> None:
    chance = random.Random(str(format))
    for _ in range(150):
        content = bytearray(SEEDS[format] * chance.randint(1, 3))
        for _ in range(chance.randint(1, 4)):
            content[chance.randrange(len(content))] = chance.choice(b'\0\n\r\t",{}>\xff a')
        (tmp_path / "m").write_bytes(content)
        rows = digest(tmp_path / "m", format=format, on_error="skip")
        assert rows == digest(
            tmp_path / "m", format=format, on_error="skip", batch_bytes=chance.randint(1, 40)
        )
        assert digest(tmp_path / "m", format=format) in ([], rows)


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is in /proc")
def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    code = (
        "import re, sys, bayleaf.corpus as c\n"
        "rows = sum(len(b) for b in c.open_corpus(sys.argv[1], batch_bytes=1 << 20))\n"
        "status = open('/proc/self/status').read()\n"  # getrusage: the parent's peak, too
        "print(rows, re.search(r'VmHWM:\\s+(\\d+)', status)[1])"
    )
    line = b"ham\t" + b"word " * 200 + b"\n"
    peaks = []
    for times in (3_000, 60_000):
        (tmp_path / "m.tsv").write_bytes(line * times)
        done = subprocess.run(
            [sys.executable, "-c", code, tmp_path / "m.tsv"], capture_output=True, text=True, check=True
        )
        rows, peak = map(int, done.stdout.split())
        assert rows == times
        peaks.append(peak)
    assert peaks[1] < 1.2 * peaks[0]


def test_the_slices_of_a_corpus_are_valid_for_the_core(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_bytes(b"a\tcaf\xe9 \xff\nb\tx\n")
    (batch,) = open_corpus(tmp_path / "m.tsv", on_error="replace")
    assert batch.texts.buffer.decode("utf-8") == "a\tcaf\ufffd \ufffd\nb\tx\n"
    assert (batch.texts.starts.dtype, batch.texts.ends.dtype) == (np.int64, np.int64)
