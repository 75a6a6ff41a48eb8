"""Spark ML: an estimator and a model for pipelines, cross-validation and persistence, in pure Python."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyspark
from pyspark import keyword_only
from pyspark.ml import Estimator
from pyspark.ml import Model as Transformer
from pyspark.ml.functions import array_to_vector
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.util import (
    DefaultParamsReadable,
    DefaultParamsReader,
    DefaultParamsWritable,
    DefaultParamsWriter,
    MLReadable,
    MLReader,
    MLWritable,
    MLWriter,
)
from pyspark.sql.functions import col
from pyspark.sql.types import ArrayType, DoubleType

from bayleaf import model_views
from bayleaf.engines import spark as adapter
from bayleaf.engines.arrow import ARROW, class_kind
from bayleaf.engines.core import Shipped, check_columns, cut, documents, read_columns, score
from bayleaf.engines.spark_answers import Asked, with_answers
from bayleaf.model import Model
from bayleaf.model_views import Views

HOME = "bayleaf.spark"
"""Where a saved pipeline looks for the classes."""


def _param(name: str, meaning: str, kind: Any = TypeConverters.toString) -> Any:
    return Param(Params._dummy(), name, meaning, kind)


def written(views: Views | str | None) -> str:
    """Views as the text of a parameter."""
    if views is None or isinstance(views, str):
        read(views or "")
        return views or ""
    named = model_views.named_views(views)
    if any(function is not None for function in model_views.normalizers_of(named)):
        raise ValueError(
            "A stage of Spark ML can be saved, which views with a function of your own cannot. "
            "Use bayleaf.spark.learn, or a stemmer or lemmatizer by name."
        )
    return json.dumps([[name, view.to_dict()] for name, view in named])


def read(views: str) -> Any:
    """The views of a parameter."""
    if not views:
        return None
    try:
        named = [(name, model_views.view_from_dict(own)) for name, own in json.loads(views)]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(
            f"`views` are views, such as [words()], or the text that a stage makes of them, got {views!r}."
        ) from error
    return model_views.as_given(named)


class Columns(Params):  # type: ignore[misc]
    """What is read and written, under the names that Spark ML uses."""

    inputCol = _param("inputCol", "the column of texts, unless the views name columns")
    labelCol = _param("labelCol", "the column of labels: text or numbers")
    predictionCol = _param("predictionCol", "the most probable class; a double where labels are numbers")
    probabilityCol = _param("probabilityCol", "P(class | document), a vector in the order of `classes`")
    rawPredictionCol = _param("rawPredictionCol", "the log odds of each class against all others, a vector")
    alpha = _param("alpha", "smoothing, a number >= 0", TypeConverters.toFloat)
    views = _param("views", "the views, kept as JSON; empty for words", written)

    def _with_defaults(self) -> None:
        self._setDefault(
            inputCol="text",
            labelCol="label",
            predictionCol="prediction",
            probabilityCol="probability",
            rawPredictionCol="rawPrediction",
            alpha=1.0,
            views="",
        )

    def _names(self) -> list[str]:
        params = (self.predictionCol, self.probabilityCol, self.rawPredictionCol)
        return [self.getOrDefault(param) for param in params]


class NaiveBayesEstimator(Estimator, Columns, DefaultParamsReadable, DefaultParamsWritable):  # type: ignore[misc]
    """Naive Bayes on a column of raw text, or on the columns that `views` name, as a stage of Spark ML.

    `views` are those of `bayleaf.Model`, without functions of your own: those cannot be saved. Labels are
    text or numbers, as they are; with numbers, Spark's evaluators understand the predictions.
    """

    __module__ = HOME

    @keyword_only  # type: ignore[untyped-decorator]
    def __init__(
        self,
        *,
        inputCol: str = "text",
        labelCol: str = "label",
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
        rawPredictionCol: str = "rawPrediction",
        alpha: float = 1.0,
        views: Views | str | None = None,
    ) -> None:
        super().__init__()
        self._with_defaults()
        self._set(**{name: value for name, value in self._input_kwargs.items() if value is not None})

    def _fit(self, dataset: Any) -> NaiveBayesModel:
        value = self.getOrDefault
        empty = Model(read(value(self.views)), alpha=value(self.alpha))
        found = adapter.learn(dataset, value(self.inputCol), value(self.labelCol), model=empty)
        if not found.n_documents:
            raise ValueError("There is no row with a label, so nothing was learned.")
        fitted: NaiveBayesModel = self._copyValues(NaiveBayesModel(found))
        return fitted


class NaiveBayesModel(Transformer, Columns, MLReadable, MLWritable):  # type: ignore[misc]
    """What `NaiveBayesEstimator.fit` learned; `bayleaf_model` is an ordinary `bayleaf.Model`."""

    __module__ = HOME

    def __init__(self, bayleaf_model: Model | None = None) -> None:
        super().__init__()
        self._with_defaults()
        self.bayleaf_model = Model() if bayleaf_model is None else bayleaf_model

    @property
    def classes(self) -> list[Any]:
        """The classes, in the order of the vectors."""
        return self.bayleaf_model.classes

    @property
    def numClasses(self) -> int:
        """How many classes there are."""
        return len(self.classes)

    def _transform(self, dataset: Any) -> Any:
        model, text, names = self.bayleaf_model, self.getOrDefault(self.inputCol), self._names()
        shipped = Shipped.of(model)
        adapter.check_frame(dataset)
        check_columns(read_columns(model, text), dataset.columns)
        _check_names(names, read_columns(model, text))
        kind = "string" if class_kind(model.classes) == "string" else "double"
        numbers = ArrayType(DoubleType())
        kinds = (adapter.TYPES[kind], numbers, numbers)
        rows = _without(dataset, names)
        kept = rows.columns
        asked = Asked(shipped, read_columns(model, text), partial(_transformed, text, kind))
        scored = with_answers(rows, asked, kinds)
        prediction, probability, raw = (col(f"a{i}") for i in range(3))
        every = [col(f"c{i}") for i in range(len(kept))]
        answers = (prediction, array_to_vector(probability), array_to_vector(raw))
        chosen = {name: answer for name, answer in zip(names, answers, strict=True) if name}
        return scored.select(*every, *chosen.values()).toDF(*kept, *chosen)

    def write(self) -> Any:
        """Save with `model.write().overwrite().save(path)`."""
        return ModelWriter(self)

    @classmethod
    def read(cls) -> Any:
        """Load with `NaiveBayesModel.load(path)`."""
        return ModelReader()


class ModelWriter(MLWriter):  # type: ignore[misc]
    """Writes the parameters as Spark ML does, and the model's bytes in rows beside them."""

    def __init__(self, instance: NaiveBayesModel) -> None:
        super().__init__()
        self.instance = instance

    def saveImpl(self, path: str) -> None:
        """Write both."""
        spark = self.sparkSession
        DefaultParamsWriter.saveMetadata(self.instance, path, _session(spark))
        pieces = cut(self.instance.bayleaf_model.to_bytes())
        rows = [(part, bytearray(piece)) for part, piece in enumerate(pieces)]
        spark.createDataFrame(rows, "part int, data binary").write.parquet(f"{path}/model")


class ModelReader(MLReader):  # type: ignore[misc]
    """Reads what `ModelWriter` wrote."""

    def load(self, path: str) -> NaiveBayesModel:
        """The model that was saved."""
        spark = self.sparkSession
        metadata = DefaultParamsReader.loadMetadata(path, _session(spark))
        rows = spark.read.parquet(f"{path}/model").orderBy("part").collect()
        found = NaiveBayesModel(Model.from_bytes(b"".join(bytes(row.data) for row in rows)))
        found._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(found, metadata)
        return found


def _session(spark: Any) -> Any:
    """PySpark 3.5 wants the context, which Spark Connect does not have."""
    return spark if int(pyspark.__version__.split(".")[0]) >= 4 else spark.sparkContext


def _without(dataset: Any, names: Sequence[str]) -> Any:
    """The rows without the columns of these names; of the others, several may have the same."""
    kept = {f"c{i}": name for i, name in enumerate(dataset.columns) if name not in names}
    numbered = dataset.toDF(*(f"c{i}" for i in range(len(dataset.columns))))
    return numbered.select(*kept).toDF(*kept.values())


def _check_names(names: list[str], reads: list[str]) -> None:
    """Raise if a column would be written twice, or over one that is read."""
    for place, name in enumerate(names):
        if name and name in [*names[:place], *reads]:
            raise ValueError(
                f"The column {name!r} would be written over another. Give predictionCol, probabilityCol and "
                "rawPredictionCol names of their own; an empty name leaves that column out."
            )


def _transformed(text: str, kind: str, model: Model, columns: dict[str, Any]) -> list[Any]:
    classes = [str(name) if kind == "string" else float(name) for name in model.classes]
    answers = score(model, documents(model, columns, text))
    prediction = pa.array(classes, ARROW[kind]).take(pa.array(answers.best))
    return [prediction, *(_vectors(values) for values in (answers.posterior, answers.log_odds))]


def _vectors(table: Any) -> Any:
    """A row of numbers for each document, as a column of lists."""
    rows, width = table.shape
    ends = pa.array([width * row for row in range(rows + 1)], "int32")
    return pa.ListArray.from_arrays(ends, pa.array(table.ravel()))
