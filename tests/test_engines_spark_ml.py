"""Spark ML: a citizen of pipelines, cross-validation and persistence."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bayleaf import Model, chars, words
from bayleaf.engines.sampling import sample, share_of, tuned
from spark_session import QUIET, needs_spark, session

needs_spark()

import bayleaf.spark  # noqa: E402
from bayleaf.spark import NaiveBayesEstimator, NaiveBayesModel  # noqa: E402

pytestmark = [pytest.mark.filterwarnings(each) for each in QUIET]

LINES = files("bayleaf").joinpath("data/messages.tsv").read_text("utf-8").splitlines()
LABELS, TEXTS = map(list, zip(*(line.split("\t", 1) for line in LINES), strict=True))


@pytest.fixture(scope="module")
def messages() -> Iterator[Any]:
    rows = [(float(label == "spam"), label, text) for label, text in zip(LABELS, TEXTS, strict=True)]
    yield session().createDataFrame(rows, "label double, name string, body string").repartition(2).cache()
    session().stop()
    session.cache_clear()


def test_a_pipeline_is_fitted_saved_loaded_and_cross_validated(messages: Any, tmp_path: Path) -> None:
    from pyspark.ml import Pipeline, PipelineModel
    from pyspark.ml.evaluation import BinaryClassificationEvaluator, MulticlassClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, ParamGridBuilder

    stage = NaiveBayesEstimator(inputCol="body", views=[words(), chars(3, 3)], alpha=0.5)
    pipeline = Pipeline(stages=[stage])
    pipeline.write().overwrite().save(str(tmp_path / "pipeline"))
    fitted = Pipeline.load(str(tmp_path / "pipeline")).fit(messages)
    numbers = [float(label == "spam") for label in LABELS]
    one = Model([words(), chars(3, 3)], alpha=0.5).learn(TEXTS, numbers)
    assert fitted.stages[0].bayleaf_model.to_bytes() == one.to_bytes()

    fitted.write().overwrite().save(str(tmp_path / "fitted"))
    loaded = PipelineModel.load(str(tmp_path / "fitted"))
    assert isinstance(loaded.stages[0], NaiveBayesModel)
    assert loaded.stages[0].bayleaf_model.to_bytes() == one.to_bytes()
    answers = loaded.transform(messages)
    assert answers.columns == ["label", "name", "body", "prediction", "probability", "rawPrediction"]
    rows = answers.collect()
    texts = [row.body for row in rows]
    assert [row.prediction for row in rows] == one.predict(texts).tolist()
    np.testing.assert_allclose([row.probability.toArray() for row in rows], one.posterior(texts), atol=1e-12)
    joint = one.log_joint(texts)
    odds = [row.rawPrediction.toArray()[1] for row in rows]
    np.testing.assert_allclose(odds, joint[:, 1] - joint[:, 0], rtol=1e-6)
    assert MulticlassClassificationEvaluator(metricName="accuracy").evaluate(answers) > 0.95
    assert BinaryClassificationEvaluator().evaluate(answers) > 0.95

    grid = ParamGridBuilder().addGrid(stage.alpha, [0.1, 1e6]).build()
    judge = MulticlassClassificationEvaluator(metricName="accuracy")
    search = CrossValidator(
        estimator=stage, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=1
    ).fit(messages)
    assert search.avgMetrics[0] > search.avgMetrics[1]
    assert search.bestModel.bayleaf_model.alpha == 0.1


def test_labels_may_be_text_and_columns_may_be_there_already(messages: Any) -> None:
    model = NaiveBayesEstimator(inputCol="body", labelCol="name", predictionCol="answer").fit(messages)
    assert model.classes == ["ham", "spam"]
    assert model.numClasses == 2
    again = model.transform(model.transform(messages.limit(5)))
    assert again.columns.count("answer") == 1
    assert {row.answer for row in again.collect()} <= {"ham", "spam"}


def test_columns_that_nobody_reads_may_have_the_same_name(messages: Any) -> None:
    model = NaiveBayesEstimator(inputCol="body", labelCol="name").fit(messages)
    twice = messages.select("body", "label", messages["name"].alias("label"))
    answers = model.transform(twice)
    assert answers.columns == ["body", "label", "label", "prediction", "probability", "rawPrediction"]
    assert [row[1:4] for row in answers.collect()] == [
        (row.label, row.name, row.prediction) for row in model.transform(messages).collect()
    ]
    with pytest.raises(ValueError, match="There are 2 columns 'body'"):
        model.transform(messages.select("body", messages["name"].alias("body")))


def test_a_search_is_saved_and_loaded_before_and_after_it_is_fitted(messages: Any, tmp_path: Path) -> None:
    from pyspark.ml.evaluation import MulticlassClassificationEvaluator
    from pyspark.ml.tuning import CrossValidator, CrossValidatorModel, ParamGridBuilder

    stage = NaiveBayesEstimator(inputCol="body")
    grid = ParamGridBuilder().addGrid(stage.views, [[words()], [words(2)]]).build()
    judge = MulticlassClassificationEvaluator(metricName="accuracy")
    search = CrossValidator(estimator=stage, estimatorParamMaps=grid, evaluator=judge, numFolds=2, seed=1)
    search.write().overwrite().save(str(tmp_path / "search"))
    found = CrossValidator.load(str(tmp_path / "search")).fit(messages)
    assert found.avgMetrics == search.fit(messages).avgMetrics
    found.write().overwrite().save(str(tmp_path / "found"))
    loaded = CrossValidatorModel.load(str(tmp_path / "found"))
    assert loaded.avgMetrics == found.avgMetrics
    assert loaded.bestModel.bayleaf_model.to_bytes() == found.bestModel.bayleaf_model.to_bytes()


def test_a_saved_model_is_written_over_twice_and_over_itself(messages: Any, tmp_path: Path) -> None:
    fitted, path = NaiveBayesEstimator(inputCol="body").fit(messages), str(tmp_path / "model")
    for _ in range(2):
        fitted.write().overwrite().save(path)
    NaiveBayesModel.load(path).write().overwrite().save(path)
    assert NaiveBayesModel.load(path).bayleaf_model.to_bytes() == fitted.bayleaf_model.to_bytes()
    with pytest.raises(Exception, match="already exists"):
        fitted.save(path)


def test_answers_have_names_of_their_own_or_are_left_out(messages: Any) -> None:
    fitted = NaiveBayesEstimator(inputCol="body", labelCol="name", rawPredictionCol="").fit(messages)
    assert fitted.transform(messages).columns == [*messages.columns, "prediction", "probability"]
    for names in ({"predictionCol": "body"}, {"predictionCol": "p", "probabilityCol": "p"}):
        stage = fitted.copy({fitted.getParam(name): value for name, value in names.items()})
        with pytest.raises(ValueError, match=r"column '(body|p)' would be written over another"):
            stage.transform(messages)


def test_views_are_tried_in_a_grid_as_they_are(messages: Any) -> None:
    from pyspark.ml.tuning import ParamGridBuilder

    stage = NaiveBayesEstimator(inputCol="body")
    grid = ParamGridBuilder().addGrid(stage.views, [[words()], [words(2)]]).build()
    found = [stage.fit(messages, each).bayleaf_model.counts().n_terms for each in grid]
    assert found == [Model([words(n)]).learn(TEXTS, LABELS).counts().n_terms for n in (1, 2)]
    with pytest.raises(ValueError, match=r"`views` are views, such as \[words\(\)\].*got 'words'"):
        NaiveBayesEstimator(views="words")


def test_views_that_cannot_be_saved_are_refused() -> None:
    with pytest.raises(ValueError, match="views with a function of your own cannot"):
        NaiveBayesEstimator(views=[words(normalizer=str.upper)])


def test_weights_are_those_of_one_machine_and_the_sample_does_not_depend_on_partitions(messages: Any) -> None:
    model = Model([words()]).learn(TEXTS, LABELS)
    one = tuned(model, sample(TEXTS, LABELS, share_of(model, 500)))
    assert one.judgment is not None
    there = [
        bayleaf.spark.tune(messages.repartition(parts), model, text="body", label="name", documents=500)
        for parts in (1, 5)
    ]
    assert {each.to_bytes() for each in there} == {one.to_bytes()}
    assert model.judgment is None
