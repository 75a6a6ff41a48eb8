"""Dask: the bytes of one process, on threads and on a local cluster whose worker is killed (law L12)."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from bayleaf import Model, category, normal, words
from bayleaf.exchange import pruned

dd = pytest.importorskip("dask.dataframe", reason="Dask is not installed: pip install --group engines")
distributed = pytest.importorskip("distributed", reason="distributed is not installed")

import bayleaf.dask  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore")]  # Dask's own, which change with every version of pandas

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
LABELS, TEXTS = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))
VIEWS = [words(2)]


def sha(model: Model) -> str:
    return hashlib.sha256(model.to_bytes()).hexdigest()


ONE = sha(Model(VIEWS).learn(TEXTS, LABELS))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """Two worker processes, each with a thread."""
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        ) as local,
        distributed.Client(local),
    ):
        yield local


def messages(partitions: int) -> Any:
    return dd.from_pandas(pd.DataFrame({"label": LABELS, "text": TEXTS}), npartitions=partitions)


@pytest.mark.parametrize("partitions", [1, 3, 8, 64])
def test_any_number_of_partitions_gives_the_bytes_of_one_process(partitions: int) -> None:
    assert sha(bayleaf.dask.learn(messages(partitions), views=VIEWS, split_every=4)) == ONE


def test_ranges_of_terms_merged_apart_give_the_bytes_of_one_process_and_prune_exactly() -> None:
    assert sha(bayleaf.dask.learn(messages(5), views=VIEWS, ranges=3)) == ONE
    found = bayleaf.dask.learn(messages(5), views=VIEWS, ranges=3, min_documents=2)
    assert sha(found) == sha(pruned(Model(VIEWS).learn(TEXTS, LABELS), 2))


def test_a_worker_that_is_killed_in_the_middle_leaves_no_trace(cluster: Any, tmp_path: Path) -> None:
    assert len(cluster.workers) == 2
    once = str(tmp_path / "killed")

    def kill_once(frame: Any) -> Any:
        if len(frame):
            try:
                os.close(os.open(once, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                return frame
            os.kill(os.getpid(), signal.SIGKILL)
        return frame

    df = messages(6)
    harmed = df.map_partitions(kill_once, meta=df._meta)
    assert sha(bayleaf.dask.learn(harmed, views=VIEWS)) == ONE
    assert os.path.exists(once)


def test_nulls_empty_partitions_and_missing_columns(tmp_path: Path) -> None:
    frame = pd.DataFrame({"label": ["ham", None, "ham"], "text": ["see you", "who knows", None]})
    df = dd.from_pandas(frame, npartitions=3)
    one = Model().learn(["see you"], ["ham"])
    assert sha(bayleaf.dask.learn(df, on_error="skip")) == sha(one)
    with pytest.raises(ValueError, match="is null in 1 of"):
        bayleaf.dask.learn(df)
    with pytest.raises(ValueError, match="no row with a label, so nothing was learned"):
        bayleaf.dask.learn(df[df.label == "spam"])
    with pytest.raises(ValueError, match=r"no column 'body'\. The columns are \['label', 'text'\]"):
        bayleaf.dask.learn(df, text="body")
    assert not list(tmp_path.iterdir())


def test_a_table_is_learned_on_from_a_model() -> None:
    frame = pd.DataFrame({"sender": ["a", "b", None], "hour": [1.0, None, 3.0], "folder": [1, 0, 0]})
    first = Model({"sender": category(), "hour": normal()}).learn(frame, [1, 1, 0])
    more = bayleaf.dask.learn(dd.from_pandas(frame, npartitions=2), label="folder", model=first)
    assert sha(more) == sha(first.copy().learn(frame, [1, 0, 0]))


def test_scores_and_filters_are_those_of_the_model() -> None:
    model = Model(VIEWS).learn(TEXTS, LABELS)
    scored = bayleaf.dask.score(messages(3), model, of="spam").compute()
    assert scored["prediction"].tolist() == model.predict(TEXTS).tolist()
    assert scored["probability"].tolist() == pytest.approx(model.posterior(TEXTS).max(axis=1).tolist())
    kept = bayleaf.dask.filter(messages(3), model, "spam", 0.9).compute()
    assert kept["text"].tolist() == scored[scored["log_odds"] >= 2.1972245773362196]["text"].tolist()


def test_files_are_learned_by_tasks(tmp_path: Path) -> None:
    (tmp_path / "messages.tsv").write_text("\n".join(LINES), "utf-8")
    assert sha(bayleaf.dask.learn_files(tmp_path / "messages.tsv", views=VIEWS, tasks=5)) == ONE


def test_what_is_no_dask_dataframe_or_no_text_is_refused_and_named() -> None:
    frame, model = pd.DataFrame({"label": ["a"], "text": [1]}), Model().learn(["a"], ["x"])
    for call in (lambda: bayleaf.dask.learn(frame), lambda: bayleaf.dask.score(frame, model)):
        with pytest.raises(TypeError, match=r"A Dask DataFrame is expected, got pandas\..*from_pandas"):
            call()
    numbers = dd.from_pandas(frame, npartitions=1)
    with pytest.raises(ValueError, match="'text' holds int64, and text is expected"):
        bayleaf.dask.learn(numbers)
    with pytest.raises(ValueError, match="'text' holds int64, and text is expected"):
        bayleaf.dask.score(numbers, model).compute()
    with pytest.raises(ValueError, match="`split_every` must be a whole number >= 2, got 1"):
        bayleaf.dask.learn(messages(2), split_every=1)


def test_truth_values_are_learned_and_answered_as_such() -> None:
    frame = pd.DataFrame({"label": [True, False], "text": ["win a prize", "lunch"]})
    ddf = dd.from_pandas(frame, npartitions=1)
    scored = bayleaf.dask.score(ddf, bayleaf.dask.learn(ddf))
    assert str(scored.dtypes["prediction"]) == "bool"
    assert scored.compute()["prediction"].tolist() == [True, False]
