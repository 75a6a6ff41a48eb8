"""Whatever documents are kept in, the rows that were written are the rows that are read."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import mailbox
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from bayleaf.corpus import Corpus, CorpusError, Slices, open_corpus
from bayleaf.corpus.batches import strings

Rows = list[tuple[str, str]]

ROWS: Rows = [
    ("ham", "see you at noon"),
    ("spam", 'win a "free" prize, now'),
    ("ham", "grüße aus 東京 😀"),
    ("spam", "  spaces stay  "),
]
COMPRESS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.compress,
}


def read(corpus: Corpus) -> Rows:
    return [row for batch in corpus for row in zip(strings(batch.labels), strings(batch.texts), strict=True)]


def texts(corpus: Corpus) -> list[str]:
    return [text for batch in corpus for text in strings(batch.texts)]


def as_tsv(rows: Rows) -> bytes:
    return "".join(f"{label}\t{text}\n" for label, text in rows).encode()


def as_csv(rows: Rows) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("label", "text"), *rows])
    return out.getvalue().encode()


def as_json(rows: Rows) -> bytes:
    return "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in rows).encode()


def as_fasttext(rows: Rows) -> bytes:
    return "".join(f"__label__{label} {text}\n" for label, text in rows).encode()


def as_parquet(rows: Rows) -> bytes:
    out = io.BytesIO()
    labels, documents = zip(*rows, strict=True)
    pq.write_table(pa.table({"label": list(labels), "text": list(documents)}), out, row_group_size=2)
    return out.getvalue()


WRITERS = {
    "tsv": ("mail.tsv", as_tsv),
    "csv": ("mail.csv", as_csv),
    "jsonl": ("mail.jsonl", as_json),
    "fasttext": ("mail.txt", as_fasttext),
    "parquet": ("mail.parquet", as_parquet),
}


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("format", WRITERS)
def test_every_format_is_recognized_and_read_in_every_compression(
    tmp_path: Path, format: str, ending: str
) -> None:
    name, write = WRITERS[format]
    file = tmp_path / (name + ending)
    file.write_bytes(COMPRESS[ending](write(ROWS)))
    corpus = open_corpus(file)
    assert (corpus.format, corpus.text_columns, corpus.label_column) == (format, ("text",), "label")
    assert read(corpus) == ROWS
    assert corpus.bytes_read == corpus.total_bytes == file.stat().st_size


@pytest.mark.parametrize("format", WRITERS)
def test_content_alone_tells_the_format(tmp_path: Path, format: str) -> None:
    file = tmp_path / "unnamed"
    file.write_bytes(WRITERS[format][1](ROWS))
    assert (open_corpus(file).format, read(open_corpus(file))) == (format, ROWS)


@pytest.mark.parametrize("format", WRITERS)
def test_a_forced_format_is_not_guessed(tmp_path: Path, format: str) -> None:
    file = tmp_path / "mail.mbox"
    file.write_bytes(WRITERS[format][1](ROWS))
    assert read(open_corpus(file, format=format)) == ROWS


@pytest.mark.parametrize("format", WRITERS)
@pytest.mark.parametrize("size", [1, 7, 64])
def test_the_size_of_batches_does_not_change_the_rows(tmp_path: Path, format: str, size: int) -> None:
    name, write = WRITERS[format]
    (tmp_path / name).write_bytes(write(ROWS * 5))
    assert read(open_corpus(tmp_path / name, batch_bytes=size)) == ROWS * 5


def test_several_files_and_patterns_are_read_in_order(tmp_path: Path) -> None:
    for number, row in enumerate(ROWS):
        (tmp_path / f"part-{number}.tsv").write_bytes(as_tsv([row]))
    (tmp_path / "last.csv").write_bytes(as_csv(ROWS[:1]))
    corpus = open_corpus(str(tmp_path / "part-*.tsv"), tmp_path / "last.csv")
    assert read(corpus) == [*ROWS, ROWS[0]]
    assert corpus.bytes_read == corpus.total_bytes
    assert read(corpus) == [*ROWS, ROWS[0]]


def test_a_folder_of_shards_is_read_as_its_files(tmp_path: Path) -> None:
    for number, row in enumerate(ROWS):
        (tmp_path / f"part-{number}.parquet").write_bytes(as_parquet([row]))
    (tmp_path / "_SUCCESS.parquet").write_bytes(b"")
    assert read(open_corpus(tmp_path)) == ROWS


def test_plain_lines_are_documents_and_an_empty_line_is_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_bytes(b"one, two\r\n\nthree\0four\nlast")
    corpus = open_corpus(tmp_path / "notes.txt")
    assert (corpus.format, corpus.has_labels) == ("lines", False)
    (batch,) = corpus
    assert batch.labels is None
    assert batch.texts.tolist() == ["one, two", "", "three\0four", "last"]
    assert batch.origin(3) == f"{tmp_path / 'notes.txt'}, line 4"


def test_files_of_lines_take_their_label_from_the_name_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "fr.txt").write_text("bonjour\n\nmerci\n")
    (tmp_path / "rt.neg").write_text("nein\n")
    corpus = open_corpus(tmp_path / "fr.txt", tmp_path / "rt.neg", label="file", labeled=True)
    assert read(corpus) == [("fr", "bonjour"), ("fr", "merci"), ("rt.neg", "nein")]


def make_tree(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def test_a_file_beside_folders_is_refused_by_name_or_of_the_class_of_its_folder(tmp_path: Path) -> None:
    make_tree(tmp_path, {"ham/1": b"hi", "ham/2": b"yo", "ham/old/3": b"hey", "spam/4": b"win"})
    with pytest.raises(CorpusError, match=r"ham/1 lies beside the folder .*ham/old\. .*`label=\"folder\"`"):
        list(open_corpus(tmp_path, labeled=True))
    corpus = open_corpus(tmp_path, labeled=True, label="folder")
    assert sorted(read(corpus)) == [("ham", "hi"), ("ham", "yo"), ("old", "hey"), ("spam", "win")]
    assert sorted(texts(open_corpus(tmp_path, labeled=False))) == ["hey", "hi", "win", "yo"]


def test_a_link_that_leads_back_is_not_followed(tmp_path: Path) -> None:
    make_tree(tmp_path, {"ham/1": b"hi", "spam/4": b"win"})
    (tmp_path / "spam" / "back").symlink_to("..")
    corpus = open_corpus(tmp_path, label="folder")
    assert read(corpus) == [("ham", "hi"), ("spam", "win")]


def test_in_a_tree_the_innermost_folder_is_the_label(tmp_path: Path) -> None:
    """The layout of 20 Newsgroups and of Enron, without its summaries."""
    tree = {
        "enron1/ham/0001.txt": b"caf\xe9\nau lait",
        "enron1/spam/1": gzip.compress(b"win"),
        "enron2/ham/7": b"",
        "enron2/.git/x": b"no",
    }
    corpus = open_corpus(make_tree(tmp_path, tree), encoding="latin-1", labeled=True)
    assert corpus.format == "folders"
    (batch,) = corpus
    assert batch.labels.tolist() == ["ham", "spam", "ham"]
    assert batch.texts.tolist() == ["café\nau lait", "win", ""]
    assert batch.origin(0) == str(tmp_path / "enron1/ham/0001.txt")
    assert corpus.bytes_read == corpus.total_bytes


def test_a_pattern_with_a_group_takes_the_label_from_the_path(tmp_path: Path) -> None:
    """The layout of the SpamAssassin corpus."""
    make_tree(tmp_path, {"easy-ham-1/1": b"hi", "hard-ham-1/1": b"hello", "spam-2/1": b"win"})
    corpus = open_corpus(str(tmp_path / "*-?"), label=r"(ham|spam)-\d/")
    assert read(corpus) == [("ham", "hi"), ("ham", "hello"), ("spam", "win")]
    assert [label for label, _ in read(open_corpus(str(tmp_path / "*-?")))] == [
        "easy-ham-1",
        "hard-ham-1",
        "spam-2",
    ]


def test_a_maildir_is_labeled_by_its_name_and_so_are_its_mail_folders(tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    inbox = mailbox.Maildir(tmp_path / "mail" / "ham", create=True)
    inbox.add(b"Subject: hi\n\nnoon?\n")
    inbox.add_folder("Junk").add(b"Subject: win\n\nfree\n")
    corpus = open_corpus(tmp_path / "mail" / "ham")
    assert corpus.format == "maildir"
    assert read(corpus) == [("ham", "Subject: hi\n\nnoon?\n"), ("Junk", "Subject: win\n\nfree\n")]
    assert read(open_corpus(tmp_path / "mail")) == read(corpus)


def test_mail_files_are_labeled_by_their_folder(tmp_path: Path) -> None:
    make_tree(tmp_path, {"ham/1.eml": b"Subject: hi\n", "spam/2.eml": b"Subject: win\n"})
    corpus = open_corpus(str(tmp_path / "*/*.eml"))
    assert [len(batch) for batch in corpus] == [2]
    assert (corpus.format, read(corpus)) == ("eml", [("ham", "Subject: hi\n"), ("spam", "Subject: win\n")])


@pytest.mark.parametrize("size", [1, 50, 1 << 20])
def test_an_mbox_gives_the_messages_that_were_put_in(tmp_path: Path, size: int) -> None:
    box = mailbox.mbox(tmp_path / "spam.mbox")
    messages = [f"Subject: {n}\n\nFrom here on\n\nFrom me, {n}\n" for n in range(5)]
    for message in messages:
        box.add(message.encode())
    box.close()
    corpus = open_corpus(tmp_path / "spam.mbox", batch_bytes=size)
    assert corpus.format == "mbox"
    assert read(corpus) == [("spam", message) for message in messages]


FASTA = b">s1 first\nGAGT\nTTGA\n>s2\r\nACGU\r\nAA\r\n>s3\n>s4\nGG"
TAXA = b"s1\tk__A; p__B; c__C\ns2\tk__A; p__; c__\ns4\tk__A; p__D; c__\ns3\tk__A; p__B; c__C\n"


@pytest.mark.parametrize("size", [1, 12, 1 << 20])
def test_sequences_are_joined_and_labeled_down_to_the_rank(tmp_path: Path, size: int) -> None:
    (tmp_path / "otus.fasta.gz").write_bytes(gzip.compress(FASTA))
    (tmp_path / "taxa.txt").write_bytes(TAXA)
    corpus = open_corpus(
        tmp_path / "otus.fasta.gz", taxonomy=tmp_path / "taxa.txt", rank="phylum", batch_bytes=size
    )
    assert read(corpus) == [("k__A;p__B", "GAGTTTGA"), ("k__A;p__B", ""), ("k__A;p__D", "GG")]
    assert corpus.skipped == 1
    whole = read(open_corpus(tmp_path / "otus.fasta.gz", taxonomy=tmp_path / "taxa.txt", batch_bytes=size))
    assert [label for label, _ in whole] == ["k__A;p__B;c__C", "k__A", "k__A;p__B;c__C", "k__A;p__D"]


def test_several_text_columns_are_joined_and_other_columns_kept(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("id,subject,body,kind\n1,hi,noon?,ham\n2,win,free,spam\n")
    corpus = open_corpus(tmp_path / "m.csv", text=["subject", "body"], label="kind")
    (batch,) = corpus
    assert corpus.columns == ("id", "subject", "body", "kind")
    assert batch.texts.tolist() == ["hi\nnoon?", "win\nfree"]
    assert batch.columns["id"].tolist() == ["1", "2"]
    assert batch.labels.tolist() == ["ham", "spam"]


def test_a_table_without_text_has_numbered_columns(tmp_path: Path) -> None:
    (tmp_path / "votes.data").write_text("republican,n,y,?\ndemocrat,y,y,n\n" * 3)
    corpus = open_corpus(tmp_path / "votes.data", label=1, table=True)
    (batch,) = corpus
    assert (corpus.format, corpus.columns, corpus.text_columns) == ("csv", ("1", "2", "3", "4"), ())
    assert batch.labels.tolist() == ["republican", "democrat"] * 3
    with pytest.raises(CorpusError, match="No column is text"):
        _ = batch.texts


def test_values_that_are_not_strings_become_strings(tmp_path: Path) -> None:
    (tmp_path / "m.jsonl").write_text(
        '{"text": "a", "label": 1, "more": [1, "é"]}\n\n{"label": 2, "text": "b"}\n'
    )
    (batch,) = open_corpus(tmp_path / "m.jsonl")
    assert batch.labels.tolist() == ["1", "2"]
    assert batch.columns["more"].tolist() == ['[1, "é"]', ""]
    pq.write_table(
        pa.table({"y": [3, 4], "text": pa.array(["a", ""]).dictionary_encode()}), tmp_path / "m.pq"
    )
    assert read(open_corpus(tmp_path / "m.pq")) == [("3", "a"), ("4", "")]


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[io.FileIO], None]]:
    """Make a file the standard input."""
    fed: list[io.TextIOWrapper] = []

    def put(raw: io.FileIO) -> None:
        fed.append(io.TextIOWrapper(io.BufferedReader(raw)))
        monkeypatch.setattr(sys, "stdin", fed[-1])

    yield put
    for stream in fed:
        stream.close()


@pytest.mark.parametrize("ending", COMPRESS)
@pytest.mark.parametrize("format", WRITERS)
def test_standard_input_may_hold_any_format(
    feed: Callable[[io.FileIO], None], format: str, ending: str, tmp_path: Path
) -> None:
    (tmp_path / "x").write_bytes(COMPRESS[ending](WRITERS[format][1](ROWS)))
    feed(io.FileIO(tmp_path / "x"))
    corpus = open_corpus("-", format=format)
    assert (corpus.format, corpus.total_bytes, read(corpus)) == (format, None, ROWS)
    with pytest.raises(CorpusError, match="once only"):
        read(corpus)


def test_interactive_input_gives_each_line_as_it_comes(feed: Callable[[io.FileIO], None]) -> None:
    taking, giving = os.pipe()
    feed(io.FileIO(taking))
    os.write(giving, b"first line\nsec")
    corpus = open_corpus("-", interactive=True)
    batches = iter(corpus)
    assert next(batches).texts.tolist() == ["first line"]
    os.write(giving, b"ond\nthird\n")
    batch = next(batches)
    assert batch.texts.tolist() == ["second", "third"]
    assert batch.origin(1) == "standard input, line 3"
    os.write(giving, b"unfinished")
    os.close(giving)
    assert next(batches).texts.tolist() == ["unfinished"]
    assert next(batches, None) is None


def test_a_line_that_has_come_in_part_does_not_spoil_the_guess(feed: Callable[[io.FileIO], None]) -> None:
    taking, giving = os.pipe()
    feed(io.FileIO(taking))
    os.write(giving, b"ham\thi\nspa")
    corpus = open_corpus("-", interactive=True, labeled=True)
    os.write(giving, b"m\tyo\n")
    os.close(giving)
    assert (corpus.format, read(corpus)) == ("tsv", [("ham", "hi"), ("spam", "yo")])


def test_a_line_longer_than_many_blocks_is_one_document(tmp_path: Path) -> None:
    long = "naïve " * 2_000_000
    (tmp_path / "long.tsv").write_bytes(as_tsv([("a", "x"), ("b", long), ("c", "y")]))
    assert read(open_corpus(tmp_path / "long.tsv", batch_bytes=1 << 16)) == [
        ("a", "x"),
        ("b", long),
        ("c", "y"),
    ]


def test_a_pipe_that_gives_little_at_a_time_fills_batches(feed: Callable[[io.FileIO], None]) -> None:
    taking, giving = os.pipe()
    feed(io.FileIO(taking))

    def give() -> None:
        with io.FileIO(giving, "w") as pipe:
            for _ in range(300):
                pipe.write(as_tsv(ROWS))

    thread = threading.Thread(target=give)
    thread.start()
    batches = list(open_corpus("-", batch_bytes=1 << 20))
    thread.join()
    assert [len(batch) for batch in batches] == [300 * len(ROWS)]
    assert isinstance(batches[0].texts, Slices)
