"""Ray: the bytes of one process, on a local cluster whose worker is killed (law L12)."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from bayleaf import Model, category, normal, words

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install --group engines")

import bayleaf.ray  # noqa: E402

pytestmark = [pytest.mark.filterwarnings("ignore")]  # Ray's own, of which there are many

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
LABELS, TEXTS = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))
VIEWS = [words(2)]


def sha(model: Model) -> str:
    return hashlib.sha256(model.to_bytes()).hexdigest()


ONE = sha(Model(VIEWS).learn(TEXTS, LABELS))


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    """Two worker processes."""
    os.environ["RAY_DATA_DISABLE_PROGRESS_BARS"] = "1"
    ray.init(
        num_cpus=2,
        include_dashboard=False,
        log_to_driver=False,
        object_store_memory=100 << 20,
        logging_level="error",
    )
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield
    ray.shutdown()


def messages(blocks: int) -> Any:
    return ray.data.from_arrow(pa.table({"label": LABELS, "text": TEXTS})).repartition(blocks)


@pytest.mark.parametrize("blocks", [1, 3, 8])
def test_any_number_of_blocks_gives_the_bytes_of_one_process(blocks: int) -> None:
    assert sha(bayleaf.ray.learn(messages(blocks), views=VIEWS, split_every=4)) == ONE


def test_ranges_of_terms_merged_apart_give_the_bytes_of_one_process() -> None:
    assert sha(bayleaf.ray.learn(messages(4), views=VIEWS, ranges=3)) == ONE


def test_a_worker_that_is_killed_in_the_middle_leaves_no_trace(tmp_path: Path) -> None:
    once = str(tmp_path / "killed")

    def kill_once(table: Any) -> Any:
        try:
            os.close(os.open(once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return table
        return os.kill(os.getpid(), signal.SIGKILL)

    harmed = messages(4).map_batches(kill_once, batch_format="pyarrow", batch_size=None)
    assert sha(bayleaf.ray.learn(harmed, views=VIEWS)) == ONE
    assert os.path.exists(once)


def test_nulls_and_missing_columns() -> None:
    ds = ray.data.from_arrow(
        pa.table({"label": ["ham", None, "ham"], "text": ["see you", "who knows", None]})
    )
    assert sha(bayleaf.ray.learn(ds, on_error="skip")) == sha(Model().learn(["see you"], ["ham"]))
    with pytest.raises(ValueError, match="'label' is null in 1 of 3"):
        bayleaf.ray.learn(ds)
    with pytest.raises(ValueError, match=r"no column 'body'\. The columns are \['label', 'text'\]"):
        bayleaf.ray.learn(ds, text="body")


def test_what_is_no_dataset_or_no_text_is_refused_and_named() -> None:
    with pytest.raises(TypeError, match=r"A Ray Dataset is expected, got builtins\.list.*from_pandas"):
        bayleaf.ray.learn([("ham", "see you")])
    numbers = ray.data.from_arrow(pa.table({"label": ["a"], "text": [1]}))
    with pytest.raises(ValueError, match="'text' holds int64, and text is expected"):
        bayleaf.ray.learn(numbers)
    with pytest.raises(Exception, match="'text' holds int64, and text is expected"):
        bayleaf.ray.score(numbers, Model().learn(["a"], ["x"])).take_all()


def test_a_table_is_learned_on_from_a_model() -> None:
    table = {"sender": ["a", "b", None], "hour": [1.0, None, 3.0], "folder": [1, 0, 0]}
    first = Model({"sender": category(), "hour": normal()}).learn(table, [1, 1, 0])
    more = bayleaf.ray.learn(ray.data.from_arrow(pa.table(table)), label="folder", model=first)
    assert sha(more) == sha(first.copy().learn(table, [1, 0, 0]))


def test_scores_and_filters_are_those_of_the_model() -> None:
    model = Model(VIEWS).learn(TEXTS, LABELS)
    scored = bayleaf.ray.score(messages(2), model, of="spam").take_all()
    expected = dict(zip(TEXTS, model.predict(TEXTS).tolist(), strict=True))
    assert len(scored) == len(TEXTS)
    assert all(expected[row["text"]] == row["prediction"] for row in scored)
    kept = bayleaf.ray.filter(messages(2), model, "spam", 0.9).take_all()
    sure = [row["text"] for row in scored if row["log_odds"] >= 2.1972245773362196]
    assert sorted(row["text"] for row in kept) == sorted(sure)


def test_files_are_learned_by_tasks(tmp_path: Path) -> None:
    (tmp_path / "messages.tsv").write_text("\n".join(LINES), "utf-8")
    assert sha(bayleaf.ray.learn_files(tmp_path / "messages.tsv", views=VIEWS, tasks=5)) == ONE
