"""Spark Connect: the same bytes as classic Spark and as one process (law L12)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bayleaf import Model, words
from cli_process import messages
from spark_session import needs_spark

needs_spark()
pytest.importorskip("grpc", reason="Spark Connect needs grpcio: pip install --group engines")

# A process of its own: Spark Connect and a classic session cannot be in one.
PROGRAM = """
import hashlib, sys
from pyspark.sql import SparkSession
import bayleaf.spark
from bayleaf import words

settings = {"spark.ui.enabled": "false", "spark.driver.memory": "512m"}
builder = SparkSession.builder.remote("local[2]")
for name, value in settings.items():
    builder = builder.config(name, value)
spark = builder.getOrCreate()
with open(sys.argv[1], encoding="utf-8") as file:
    rows = [tuple(line.rstrip().split("\\t", 1)) for line in file]
df = spark.createDataFrame(rows, "label string, text string").repartition(3)
sha = lambda model: hashlib.sha256(model.to_bytes()).hexdigest()
learned = bayleaf.spark.learn(df, views=[words(2)], merge_tasks=(2, 1))
apart = bayleaf.spark.learn(df, views=[words(2)], ranges=3, row_bytes=20_000)
read = bayleaf.spark.learn_files(spark, sys.argv[1], views=[words(2)], tasks=2, merge_tasks=(1,))
spam = bayleaf.spark.score(df, learned, of="spam").filter("log_odds > 0").count()
kept = bayleaf.spark.filter(df, learned, "spam").count()
staged = bayleaf.spark.NaiveBayesEstimator(views=[words(2)]).fit(df)
print(type(df).__module__, sha(learned), sha(apart), sha(read), sha(staged.bayleaf_model), spam, kept)
spark.stop()
"""


def test_spark_connect_gives_the_bytes_of_one_process(tmp_path: Path) -> None:
    labels, texts = zip(*((label, text.rstrip()) for label, text in messages()), strict=True)
    copy = tmp_path / "messages.tsv"
    copy.write_text("".join(f"{label}\t{text}\n" for label, text in zip(labels, texts, strict=True)), "utf-8")
    model = Model([words(2)]).learn(list(texts), list(labels))
    environment = {**os.environ, "PYSPARK_PYTHON": sys.executable, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, copy.name],
        capture_output=True,
        encoding="utf-8",
        env=environment,
        cwd=tmp_path,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    module, *shas, spam, kept = done.stdout.split()
    assert module == "pyspark.sql.connect.dataframe"
    assert set(shas) == {hashlib.sha256(model.to_bytes()).hexdigest()}
    assert int(spam) == int(kept) == sum(answer == "spam" for answer in model.predict(list(texts)).tolist())
