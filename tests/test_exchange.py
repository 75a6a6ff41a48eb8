"""Counts as a table: what SQL sums is what merging makes, byte for byte; and pruning drops what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bayleaf
from bayleaf.exchange import COLUMNS, escaped, from_cells, pruned, rows, summed, unescaped
from bayleaf.text.views import View
from cli_process import done, messages, write_tsv

VIEWS: dict[str, list[View]] = {
    "words": [bayleaf.words()],
    "triples": [bayleaf.words(ngrams=(2, 3))],
    "sparse": [bayleaf.words(sparse=3, tokenizer="words+punctuation")],
    "letters": [bayleaf.chars(1, 3)],
    "bytes": [bayleaf.bytes_(2)],
    "two": [bayleaf.words(ngrams=2), bayleaf.chars(2)],
}
texts = st.text(st.sampled_from('ab c,"\\\n\téß漢\x00x20'), max_size=12)
corpora = st.lists(st.tuples(st.sampled_from(["ham", "spam", "a,b\n"]), texts), min_size=1, max_size=8)


def learned(views: list[View], corpus: list[tuple[str, str]]) -> bayleaf.Model:
    model = bayleaf.Model(views)
    return model.learn([text for _, text in corpus], [label for label, _ in corpus]) if corpus else model


@pytest.mark.parametrize("kind", VIEWS)
@given(corpus=corpora, cut=st.integers(0, 8))
def test_tables_of_two_parts_add_up_to_the_model_of_the_whole(
    kind: str, corpus: list[tuple[str, str]], cut: int
) -> None:
    parts = [learned(VIEWS[kind], part) for part in (corpus[:cut], corpus[cut:])]
    cells = summed(rows(parts[0]))
    summed(rows(parts[1]), cells)
    assert from_cells(cells, bayleaf.Model(VIEWS[kind])).to_bytes() == learned(VIEWS[kind], corpus).to_bytes()


@given(st.binary(max_size=12), st.booleans())
def test_any_bytes_are_written_as_text_and_read_back(word: bytes, of_words: bool) -> None:
    text = escaped(word, of_words)
    assert unescaped(text) == word
    assert text.isprintable() or any(not c.isascii() for c in text)
    assert not (of_words and " " in text)


SUM = """
COPY (SELECT view, term, class, {sums} FROM read_{kind}({files}) GROUP BY view, term, class
      ORDER BY random()) TO '{out}'
"""


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_what_duckdb_sums_is_imported_as_what_merge_makes(tmp_path: Path, ending: str) -> None:
    duckdb = pytest.importorskip("duckdb")
    corpus = messages()
    models, tables = [], []
    for number, part in enumerate((corpus[:300], corpus[300:500], corpus[500:])):
        source = write_tsv(tmp_path / f"{number}.tsv", part)
        models.append(tmp_path / f"{number}.bayleaf")
        tables.append(tmp_path / f"{number}.{ending}")
        done("train", "-q", "--tuning", "none", source, "-o", models[-1])
        done("export", models[-1], "-o", tables[-1])
    total, merged, imported = (tmp_path / f"total.{ending}", tmp_path / "merged", tmp_path / "imported")
    sums = ", ".join(f"sum({name})::BIGINT AS {name}" for name in COLUMNS[3:])
    duckdb.sql(
        SUM.format(
            sums=sums, kind="csv_auto" if ending == "csv" else ending, files=list(map(str, tables)), out=total
        )
    )
    done("merge", *models, "-o", merged)
    done("import", total, "-o", imported, "--like", models[0])
    assert imported.read_bytes() == merged.read_bytes()


def test_a_table_of_other_columns_and_impossible_counts_are_refused() -> None:
    cells = summed(rows(learned(VIEWS["words"], [("ham", "a b")])))
    cells[0, "a", "ham"][0] = 7
    with pytest.raises(ValueError, match="a count is impossible"):
        from_cells(cells, bayleaf.Model(VIEWS["words"]))
    with pytest.raises(ValueError, match="view 1"):
        from_cells(summed([(1, "a", "ham", 1, 1, 1, 0, 0)]), bayleaf.Model(VIEWS["words"]))


@pytest.mark.parametrize("kind", VIEWS)
@given(corpus=corpora, least=st.integers(1, 4))
def test_pruning_keeps_the_terms_of_enough_documents_with_their_counts_and_no_others(
    kind: str, corpus: list[tuple[str, str]], least: int
) -> None:
    model = learned(VIEWS[kind], corpus)
    small = pruned(model, min_documents=least)
    assert small.class_documents == model.class_documents
    for view in range(len(VIEWS[kind])):
        before, after = model.counts(view), small.counts(view)
        documents = before.by_term(before.documents)
        kept = [name for name, n in zip(before.term_names, documents, strict=True) if n >= least]
        assert after.term_names == kept
        assert after.by_term(after.documents).tolist() == documents[documents >= least].tolist()


def test_pruning_to_a_number_of_terms_keeps_the_most_frequent() -> None:
    model = learned(VIEWS["words"], [("ham", "a a a b b c"), ("spam", "a c d")])
    assert pruned(model, max_terms=2).counts().term_names == ["a", "c"]  # b has one document, c has two
    assert pruned(model, min_count=2).counts().term_names == ["a", "b", "c"]
    assert pruned(model, max_terms=99).to_bytes() == model.to_bytes()
