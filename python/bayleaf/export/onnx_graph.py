"""An ONNX graph that scores as the model does: terms, values and numbers in, label and probabilities out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bayleaf.export.frozen import MISSING, Frozen
from bayleaf.export.tensors import PADDING, input_names
from bayleaf.types import Floats

OPSET, ML_OPSET, IR = 17, 3, 8
LOG_ROOT_TAU = 0.5 * math.log(2 * math.pi)


def graph_of(found: Frozen) -> Any:
    """The graph as a model of the package `onnx`."""
    try:
        import onnx
    except ImportError:
        raise ImportError("Export to ONNX needs the package `onnx`: pip install 'bayleaf[onnx]'.") from None
    graph = _Graph(onnx, len(found.classes))
    names = input_names([(view["column"], view) for view in found.views])
    scores = [graph.view(view, name) for view, name in zip(found.views, names, strict=True)]
    return graph.finished(found, [each for each in scores if each])


class _Graph:
    """Nodes, inputs and constants, as they are added."""

    def __init__(self, onnx: Any, classes: int) -> None:
        self.onnx, self.classes = onnx, classes
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, array: Any) -> str:
        """The name of a constant."""
        name = f"constant_{len(self.constants)}"
        self.constants.append(self.onnx.numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(
        self, kind: str, *inputs: str, domain: str = "", output: str | None = None, **settings: Any
    ) -> str:
        """The name of what a new node gives."""
        name = output or f"{kind.lower()}_{len(self.nodes)}"
        self.nodes.append(self.onnx.helper.make_node(kind, list(inputs), [name], domain=domain, **settings))
        return name

    def input(self, name: str, kind: str, shape: list[Any]) -> str:
        """The name of a new input."""
        tensor = getattr(self.onnx.TensorProto, kind)
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, tensor, shape))
        return name

    def view(self, view: dict[str, Any], name: str) -> str | None:
        """The scores of a view, or None if it says nothing."""
        adding = {
            "terms": self._terms, "values": self._values, "dates": self._dates, "bins": self._bins,
            "counts": self._counts, "normal": self._normal, "kernel": self._kernel, "nothing": self._nothing,
        }  # fmt: skip
        return adding[view["kind"]](view, name)

    def _nothing(self, view: dict[str, Any], name: str) -> str | None:
        self.input(
            name, "STRING" if view["settings"]["kind"] in ("category", "flag") else "DOUBLE", ["documents"]
        )
        return None

    def _terms(self, view: dict[str, Any], name: str) -> str | None:
        if view["unseen"] is not None:
            raise ValueError(
                'ONNX takes views of text with unseen="ignore" only. Set that, and export again.'
            )
        given = self.input(name, "STRING", ["documents", "terms"])
        if not view["terms"]:
            return None
        counts = self.add(
            "TfIdfVectorizer", given, mode="TF", min_gram_length=1, max_gram_length=1, max_skip_count=0,
            ngram_counts=[0], ngram_indexes=list(range(len(view["terms"]))), pool_strings=view["terms"],
        )  # fmt: skip
        counts = self.add("Cast", counts, to=self.onnx.TensorProto.DOUBLE)
        values = {
            "count": self._as_counted,
            "binary": self._once,
            "share": self._shares,
            "earned": self._earned,
        }
        return self.add("MatMul", values[view["value"]](counts, given), self.constant(view["weights"]))

    def _as_counted(self, counts: str, given: str) -> str:  # noqa: ARG002
        return counts

    def _once(self, counts: str, given: str) -> str:  # noqa: ARG002
        return self.add("Min", counts, self.constant(1.0))

    def _shares(self, counts: str, given: str) -> str:
        """Counts divided by the length, unknown terms among it."""
        present = self.add(
            "LabelEncoder",
            given,
            domain="ai.onnx.ml",
            keys_strings=[PADDING],
            values_int64s=[0],
            default_int64=1,
        )
        length = self._sum(self.add("Cast", present, to=self.onnx.TensorProto.DOUBLE))
        return self.add("Div", counts, self.add("Max", length, self.constant(1.0)))

    def _earned(self, counts: str, given: str) -> str:  # noqa: ARG002
        """1 + log of the count, the squares of a document summing to 1."""
        one = self.constant(1.0)
        once = self.add("Min", counts, one)
        values = self.add("Mul", once, self.add("Add", one, self.add("Log", self.add("Max", counts, one))))
        length = self.add("Sqrt", self._sum(self.add("Mul", values, values)))
        return self.add("Div", values, self.add("Max", length, self.constant(1e-300)))

    def _sum(self, values: str) -> str:
        return self.add("ReduceSum", values, self.constant(np.array([1])), keepdims=1)

    def _values(self, view: dict[str, Any], name: str) -> str:
        if MISSING in view["values"]:
            raise ValueError(f"{MISSING!r} is a category, and in ONNX stands for a missing one. Rename it.")
        given, unseen = self.input(name, "STRING", ["documents"]), len(view["values"])
        number = self.add(
            "LabelEncoder", given, domain="ai.onnx.ml", keys_strings=[*view["values"], MISSING],
            values_int64s=[*range(unseen), unseen + 1], default_int64=unseen,
        )  # fmt: skip
        return self._rows(np.vstack([view["weights"].reshape(-1, self.classes), view["unseen"]]), number)

    def _rows(self, weights: Floats, number: str) -> str:
        """The rows with these numbers; the last is of what is missing, and says nothing."""
        table = np.vstack([weights, np.zeros(self.classes)])
        return self.add("Gather", self.constant(table), number, axis=0)

    def _dates(self, view: dict[str, Any], name: str) -> str:
        return self._rows(view["weights"], self.input(name, "INT64", ["documents"]))

    def _numbers(self, name: str) -> tuple[str, str, str]:
        """Numbers as a column, which of them are missing, and the same with 0 for those."""
        column = self.add(
            "Unsqueeze", self.input(name, "DOUBLE", ["documents"]), self.constant(np.array([1]))
        )
        missing = self.add("IsNaN", column)
        return column, missing, self.add("Where", missing, self.constant(0.0), column)

    def _bins(self, view: dict[str, Any], name: str) -> str:
        _, missing, numbers = self._numbers(name)
        above = self.add("Greater", numbers, self.constant(np.append(view["cuts"], np.inf)))
        place = self._sum(self.add("Cast", above, to=self.onnx.TensorProto.INT64))
        place = self.add("Where", missing, self.constant(np.array(-1)), place)
        return self._rows(view["weights"], self.add("Squeeze", place, self.constant(np.array([1]))))

    def _counts(self, view: dict[str, Any], name: str) -> str:
        given = self.input(name, "DOUBLE", ["documents", len(view["columns"])])
        return self.add("MatMul", given, self.constant(view["weights"]))

    def _normal(self, view: dict[str, Any], name: str) -> str:
        means, variances = view["means"], view["variances"]
        _, missing, numbers = self._numbers(name)
        off = self.add("Sub", numbers, self.constant(means))
        squares = self.add("Mul", self.add("Mul", off, off), self.constant(-0.5 * view["weight"] / variances))
        height = -view["weight"] * (0.5 * np.log(variances) + LOG_ROOT_TAU)
        return self.add("Where", missing, self.constant(0.0), self.add("Add", squares, self.constant(height)))

    def _kernel(self, view: dict[str, Any], name: str) -> str:
        _, missing, numbers = self._numbers(name)
        curves = [self._curve(numbers, *curve) for curve in view["curves"]]
        scores = self.add("Mul", self.add("Concat", *curves, axis=1), self.constant(float(view["weight"])))
        return self.add("Where", missing, self.constant(0.0), scores)

    def _curve(self, numbers: str, points: NDArray[Any], masses: NDArray[Any], width: float) -> str:
        off = self.add("Div", self.add("Sub", numbers, self.constant(points)), self.constant(float(width)))
        squares = self.add("Mul", self.add("Mul", off, off), self.constant(-0.5))
        heights = np.log(masses / masses.sum()) - math.log(width) - LOG_ROOT_TAU
        return self.add(
            "ReduceLogSumExp", self.add("Add", squares, self.constant(heights)), axes=[1], keepdims=1
        )

    def finished(self, found: Frozen, scores: list[str]) -> Any:
        """The sum of the views, the intercept, the best class and the probabilities."""
        helper, proto = self.onnx.helper, self.onnx.TensorProto
        intercept = self.constant(found.intercept[None, :])
        if not scores:
            raise ValueError("No view has seen anything: there is nothing to export.")
        total = scores[0] if len(scores) == 1 else self.add("Sum", *scores)
        self.add("Add", total, intercept, output="log_joint")
        self.add("Softmax", "log_joint", axis=1, output="probabilities")
        numeric = all(isinstance(label, int) and not isinstance(label, bool) for label in found.classes)
        labels = (
            np.array(found.classes, np.int64) if numeric else np.array(list(map(str, found.classes)), object)
        )
        best = self.add("ArgMax", "log_joint", axis=1, keepdims=0)
        self.add("Gather", self.constant(labels), best, axis=0, output="label")
        outputs = [
            helper.make_tensor_value_info("label", proto.INT64 if numeric else proto.STRING, ["documents"]),
            helper.make_tensor_value_info("probabilities", proto.DOUBLE, ["documents", self.classes]),
            helper.make_tensor_value_info("log_joint", proto.DOUBLE, ["documents", self.classes]),
        ]
        graph = helper.make_graph(self.nodes, "bayleaf", self.inputs, outputs, self.constants)
        opsets = [helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=IR, producer_name="bayleaf")
