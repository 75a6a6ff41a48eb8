"""What a record is, what it holds and where it ends, is said by the input as a whole and never by chance."""

from __future__ import annotations

import gzip
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bayleaf.corpus import Corpus, CorpusError, Reject, open_corpus
from bayleaf.corpus.batches import strings

MAIL = b"From: a@example.org\nSubject: hi\n\nbody\n"


def texts(corpus: Corpus) -> list[str]:
    return [text for batch in corpus for text in strings(batch.texts)]


def labels(corpus: Corpus) -> list[str]:
    return [label for batch in corpus for label in strings(batch.labels)]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[bytes], None]]:
    fed = []

    def give(content: bytes) -> None:
        (tmp_path / "standard input").write_bytes(content)
        fed.append(open(tmp_path / "standard input", "rb"))  # noqa: SIM115 (closed below)
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(fed[-1]))

    yield give
    for file in fed:
        file.close()


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_a_record_without_a_text_does_not_make_its_id_the_text(tmp_path: Path) -> None:
    a = write(tmp_path / "a.jsonl", {"id": "a1", "text": "good"}, {"id": "a2", "text": "bad"})
    b = write(tmp_path / "b.jsonl", {"id": "b0"}, {"id": "b1", "text": "good"}, {"id": "b2", "text": "bad"})
    with pytest.raises(
        CorpusError, match=r"b\.jsonl, line 1: no column is named 'text'|line 1 has no value for 'text'"
    ):
        texts(open_corpus(a, b))
    corpus = open_corpus(b, a, on_error="skip")
    assert texts(corpus) == ["good", "bad", "good", "bad"]
    assert (corpus.text_columns, corpus.skipped) == (("text",), 1)


@pytest.mark.parametrize("name", ["lone.jsonl", "lone.parquet", "lone.csv"])
def test_a_lone_column_is_never_taken_for_the_text(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith("parquet"):
        pq.write_table(pa.table({"id": ["x", "y"]}), path)
    else:
        path.write_text('{"id": "x"}\n{"id": "y"}\n' if name.endswith("jsonl") else "id\nx\ny\n")
    with pytest.raises(CorpusError, match=r"no column is named 'text'.*choose with `text`"):
        texts(open_corpus(path))
    assert texts(open_corpus(path, text="id")) == ["x", "y"]


def test_what_the_first_input_decides_holds_for_all(tmp_path: Path) -> None:
    first = write(tmp_path / "a.jsonl", {"body": "one"})
    second = write(tmp_path / "b.jsonl", {"text": "two"})
    with pytest.raises(CorpusError, match=r"no column is named 'body', which holds the text of .*a\.jsonl"):
        texts(open_corpus(first, second))
    (tmp_path / "c.csv").write_text("text,body\nno,three\n")
    assert texts(open_corpus(first, tmp_path / "c.csv")) == ["one", "three"]


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_names_may_lead_into_records(tmp_path: Path, kind: str) -> None:
    rows = [
        {"doc": {"body": "x", "n": 1}, "meta": {"lang": "en"}},
        {"doc": {"body": "y", "n": 2}, "meta": {"lang": "de"}},
    ]
    path = write(tmp_path / "m.jsonl", *rows)
    if kind == "parquet":
        path = tmp_path / "m.parquet"
        pq.write_table(pa.Table.from_pylist(rows), path)
    for others in (True, False):
        corpus = open_corpus(path, text="doc.body", label="meta.lang", others=others)
        (batch,) = corpus
        assert (strings(batch.texts), strings(batch.labels)) == (["x", "y"], ["en", "de"])
    with pytest.raises(CorpusError, match=r"no column is named 'none\.body'"):
        texts(open_corpus(path, text="none.body"))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_null_text_is_refused_and_empty_labels_are_none_in_every_format(tmp_path: Path, kind: str) -> None:
    rows = [
        {"text": None, "label": "a"},
        {"text": "x", "label": ""},
        {"text": "y", "label": None},
        {"text": "z", "label": "b"},
    ]
    path = write(tmp_path / "m.jsonl", {"text": "0", "label": "a"}, *rows)
    if kind == "parquet":
        path = tmp_path / "m.parquet"
        pq.write_table(pa.Table.from_pylist([{"text": "0", "label": "a"}, *rows]), path)
    with pytest.raises(CorpusError, match=r"(line|row) 2 has no value for 'text'"):
        texts(open_corpus(path, labeled=True))
    corpus = open_corpus(path, labeled=True, on_error="skip")
    assert (texts(corpus), corpus.skipped) == (["0", "z"], 3)


def test_a_label_is_the_same_class_in_every_format(tmp_path: Path) -> None:
    (tmp_path / "m.tsv").write_text("1\tx\n1.0\tx\ntrue\tx\n")
    write(tmp_path / "m.jsonl", *({"text": "x", "label": label} for label in (1, 1.0, True)))
    expected = ["1", "1.0", "true"]
    assert labels(open_corpus(tmp_path / "m.tsv")) == labels(open_corpus(tmp_path / "m.jsonl")) == expected
    found = []
    for number, label in enumerate((1, 1.0, True)):
        pq.write_table(pa.table({"text": ["x"], "label": [label]}), tmp_path / f"{number}.parquet")
        found += labels(open_corpus(tmp_path / f"{number}.parquet"))
    assert found == expected


@pytest.mark.parametrize(
    ("given", "options", "kind", "expected"),
    [
        (b"From now on, at 12:30, a prize\nfree\n", {}, "lines", 2),
        (b">claim a prize\nFREE\n", {}, "lines", 2),
        (b'{"text": "x"}\n', {}, "lines", 1),
        (b"claim\tnow\nsee you\n", {}, "lines", 2),
        (b"ham\tx\ty\nspam\tz\n", {"labeled": True}, "tsv", 2),
        (b'{"body": "x"}\n', {"text": "body"}, "jsonl", 1),
        (b"free prize\nlunch\n", {"constant": "spam"}, "lines", 2),
        (MAIL, {"mail": True}, "eml", 1),
        (b"From a@b Mon Nov 16 14:00:00 2026\n" + MAIL, {"mail": True}, "eml", 1),
        (b"just a line\nand another\n", {"mail": True}, "lines", 2),
        (MAIL, {"format": "eml"}, "eml", 1),
    ],
)
@pytest.mark.parametrize("interactive", [True, False])
def test_standard_input_is_lines_unless_something_says_otherwise(
    feed: Callable[[bytes], None],
    given: bytes,
    options: dict[str, Any],
    kind: str,
    expected: int,
    interactive: bool,
) -> None:
    feed(given)
    corpus = open_corpus("-", interactive=interactive, **options)
    assert (corpus.format, len(texts(corpus))) == (kind, expected)


def test_a_mail_from_a_pipe_has_no_folder_to_name_its_class(feed: Callable[[bytes], None]) -> None:
    feed(MAIL)
    with pytest.raises(CorpusError, match=r"Standard input has no path.*`constant`"):
        open_corpus("/dev/stdin", format="eml", labeled=True)
    feed(MAIL)
    corpus = open_corpus("/dev/stdin", format="eml", constant="spam")
    (batch,) = corpus
    assert (strings(batch.labels), batch.mails) == (["spam"], [MAIL])


def test_a_mail_of_a_maildir_has_the_class_of_the_maildir(tmp_path: Path) -> None:
    for part in ("cur", "new", "tmp"):
        (tmp_path / ".spam" / part).mkdir(parents=True)
    mail = tmp_path / ".spam" / "cur" / "1700.M1:2,S"
    mail.write_bytes(MAIL)
    corpus = open_corpus(mail)
    assert (corpus.format, labels(corpus)) == ("eml", ["spam"])


def test_a_folder_of_mailboxes_has_their_names_for_classes(tmp_path: Path) -> None:
    for name in ("ham", "spam"):
        (tmp_path / f"{name}.mbox").write_bytes(
            b"From a@b Mon Nov 16 14:00:00 2026\n"
            + MAIL
            + b"\n"
            + b"From a@b Mon Nov 16 14:00:00 2026\n"
            + MAIL
        )
    assert labels(open_corpus(tmp_path)) == ["ham", "ham", "spam", "spam"]
    (tmp_path / "old").mkdir()
    (tmp_path / "ham.mbox").rename(tmp_path / "old" / "spam.mbox")
    with pytest.raises(CorpusError, match='`label="folder"`'):
        open_corpus(tmp_path, format="mbox")


@pytest.mark.parametrize("charset", ["latin-1", "koi8-r", "gb2312", "utf-16", "no-such-charset"])
def test_a_mail_that_is_not_utf_8_is_read(tmp_path: Path, charset: str) -> None:
    word = {"koi8-r": "привет", "gb2312": "你好", "latin-1": "café"}.get(charset, "hi")
    body = word.encode(charset if charset != "no-such-charset" else "utf-8") + b"\xe9\n"
    head = f"Subject: x\nContent-Type: text/plain; charset={charset}\n\n".encode()
    (tmp_path / "m.eml").write_bytes(head + body)
    (tmp_path / "m.mbox").write_bytes(b"From a@b Mon Nov 16 14:00:00 2026\n" + head + body)
    for name in ("m.eml", "m.mbox"):
        corpus = open_corpus(tmp_path / name)
        (batch,) = corpus
        assert batch.mails == [head + body]
        assert "Subject: x" in strings(batch.texts)[0]


def fastq(*reads: tuple[str, str]) -> bytes:
    return "".join(f"@{name} a read\n{read}\n+\n{'I' * len(read)}\n" for name, read in reads).encode()


@pytest.mark.parametrize("size", [1, 7, 64, 1 << 20])
@pytest.mark.parametrize("name", ["r.fastq", "r.fq.gz", "unnamed"])
def test_a_read_of_fastq_is_one_record(tmp_path: Path, size: int, name: str) -> None:
    content = fastq(*((f"r{number}", "ACGT" * (number + 1)) for number in range(9)))
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    corpus = open_corpus(tmp_path / name, batch_bytes=size)
    assert (corpus.format, corpus.columns) == ("fastq", ("id", "description", "text"))
    assert texts(corpus) == ["ACGT" * (number + 1) for number in range(9)]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"@a\nAC\n+\nII\nAC\n", "line 5: a FASTQ record must begin with '@'"),
        (b"@a\nAC\n+\nI\n", "line 2: a FASTQ sequence and its qualities must be equally long"),
        (b"@a\nAC\nx\nII\n", "line 3: a FASTQ record must have a '\\+' as its third line"),
        (b"@a\nAC\n+\nII\n@b\nAC\n", "line 6: the last FASTQ record has fewer than four lines"),
    ],
)
def test_broken_fastq_is_named_with_its_line(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "r.fastq").write_bytes(content)
    with pytest.raises(CorpusError, match=message):
        texts(open_corpus(tmp_path / "r.fastq"))


def test_lower_case_and_rna_are_the_same_sequence_but_proteins_keep_their_u(tmp_path: Path) -> None:
    (tmp_path / "s.fa").write_text(">a\nacgu\nACGU\n>b\nMKUL\n>c\nnnACGT\n")
    assert texts(open_corpus(tmp_path / "s.fa")) == ["ACGTACGT", "MKUL", "NNACGT"]


@pytest.mark.parametrize(
    "table",
    ["a\tk__A;g__X\nb\tk__A;g__Y\n", "Feature ID\tTaxon\tConfidence\na\tk__A;g__X\t0.98\nb\tk__A;g__Y\t0.7\n",
     "#OTU ID\ttaxonomy\na\tk__A;g__X\nb\tk__A;g__Y\n", "a\tk__A;g__X\t0.98\nb\tk__A;g__Y\t1\n"],
)  # fmt: skip
def test_a_taxonomy_table_is_read_by_its_columns(tmp_path: Path, table: str) -> None:
    (tmp_path / "s.fa").write_text(">a\nAC\n>b\nGT\n")
    (tmp_path / "taxa.tsv").write_text(table)
    corpus = open_corpus(tmp_path / "s.fa", taxonomy=tmp_path / "taxa.tsv", labeled=True)
    assert labels(corpus) == ["k__A;g__X", "k__A;g__Y"]


def test_a_rank_cuts_the_lineage_of_a_description_too(tmp_path: Path) -> None:
    (tmp_path / "s.fa").write_text(">a Bacteria;Firmicutes;Bacilli\nAC\n>b Bacteria;;\nGT\n")
    corpus = open_corpus(tmp_path / "s.fa", label="description", rank=2, labeled=True)
    assert (labels(corpus), corpus.skipped) == (["Bacteria;Firmicutes"], 1)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("m.tsv", {"taxonomy": "/nope"}, "`taxonomy` is for FASTA and FASTQ, but .*m.tsv is read as tsv"),
        ("m.tsv", {"rank": "genus"}, "`rank` is for FASTA"),
        ("m.txt", {"text": "body"}, "`text` is for TSV, CSV, JSONL and Parquet"),
        ("m.jsonl", {"header": True}, "`header` is for TSV and CSV"),
        ("m.jsonl", {"label": "nonsense", "labeled": False}, "no column is named 'nonsense'"),
        ("m.jsonl", {"label": "x", "constant": "y"}, "drop it or `label`"),
    ],
)
def test_an_option_of_another_format_is_refused(
    tmp_path: Path, name: str, options: dict[str, Any], message: str
) -> None:
    content = {"m.tsv": "a\tb\n", "m.txt": "plain\n", "m.jsonl": '{"text": "x"}\n'}[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(CorpusError, match=message):
        texts(open_corpus(tmp_path / name, **options))


def test_what_is_left_out_keeps_its_place_and_is_told(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_bytes(b'no json\n{"text": "a"}\n\n{"text": 1' + b"9" * 5000 + b'}\n{"text": "b"}\n\xff\n')
    told: list[Reject] = []
    corpus = open_corpus(path, on_error="skip", places=True, on_reject=told.append)
    (batch,) = corpus
    assert strings(batch.texts) == ["a", "b"]
    assert [row for row, _ in batch.gaps] == [0, 1, 2]
    assert [(reject.line, reject.file) for reject in told] == [(6, str(path)), (1, str(path)), (4, str(path))]
    assert batch.gaps[1][1].endswith("m.jsonl, line 4: a number has more digits than can be read.")


def test_empty_shards_are_left_out_when_errors_are(tmp_path: Path) -> None:
    (tmp_path / "0.jsonl").write_bytes(b"")
    write(tmp_path / "1.jsonl", {"text": "a"})
    (tmp_path / "2.jsonl").write_bytes(b"\n")
    with pytest.raises(CorpusError, match=r"0\.jsonl is empty"):
        texts(open_corpus(tmp_path))
    corpus = open_corpus(tmp_path, on_error="skip")
    assert (texts(corpus), corpus.skipped) == (["a"], 2)


LONG = b"x" * 5000


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.txt", b"short\n" + LONG + b"\n"),
        ("m.txt", LONG),
        ("m.txt.gz", gzip.compress(b"x" * 2_000_000)),
        ("m.tsv", b"a\tb\nc\t" + LONG + b"\n"),
        ("m.csv", b'label,text\na,"' + b"x\n" * 2500 + b'"\n'),
        ("m.jsonl", b'{"text": "' + LONG + b'"}\n'),
        ("m.fasta", b">a\nAC\n>b\n" + b"ACGT\n" * 1000),
        ("m.mbox", b"From a 12:00\nx\n\nFrom b 12:00\n" + b"y\n" * 2500),
        ("m.eml", MAIL + LONG),
    ],
)
@pytest.mark.parametrize("size", [512, 1 << 20])
def test_a_record_above_the_limit_is_refused_by_name_and_with_the_option(
    tmp_path: Path, name: str, content: bytes, size: int
) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        CorpusError, match=r"m\.\w+(\.gz)?(, line \d+)?: a record has more than 4,000 bytes.*`max_record`"
    ):
        texts(open_corpus(tmp_path / name, max_record=4000, batch_bytes=size))
    assert texts(open_corpus(tmp_path / name, batch_bytes=size))


def test_parquet_is_read_by_the_columns_that_are_needed(tmp_path: Path) -> None:
    row = {
        "text": "a",
        "label": "x",
        "tags": ["q"],
        "meta": {"n": None},
        "raw": b"\xff",
        "score": float("nan"),
    }
    pq.write_table(pa.Table.from_pylist([row]), tmp_path / "m.parquet")
    (batch,) = open_corpus(tmp_path / "m.parquet", others=False)
    assert list(batch.columns) == ["text", "label"]
    (batch,) = open_corpus(tmp_path / "m.parquet")
    expected = {"text": "a", "label": "x", "tags": ["q"], "meta": {"n": None}, "raw": "/w==", "score": None}
    assert [json.loads(record) for record in batch.json_records()] == [expected]


def test_a_json_record_comes_back_as_it_was(tmp_path: Path) -> None:
    lines = ['{"id": 1, "text": "é", "x": {"n": 3.0}, "id": 2, "none": null}', '{"text":"b","new":true}']
    (tmp_path / "m.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    (batch,) = open_corpus(tmp_path / "m.jsonl")
    assert [record.decode() for record in batch.json_records()] == lines
    assert os.fspath(tmp_path) in batch.origin(1)
