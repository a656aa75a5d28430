"""Models of ONNX, built by the package's own helper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

onnx: Any = import_module("onnx")
helper: Any = onnx.helper
FLOAT, INT64, BOOL = (getattr(onnx.TensorProto, name) for name in ("FLOAT", "INT64", "BOOL"))

OPSET = 21
"""The version of the operator set, unless a model asks for another one."""


def value(name: str, shape: Sequence[int | str] | None, type_: int = FLOAT) -> Any:
    """What a graph says of an input or a result."""
    return helper.make_tensor_value_info(name, type_, shape)


def weight(name: str, numbers: NDArray[Any]) -> Any:
    """An initializer."""
    return onnx.numpy_helper.from_array(numbers, name)


def node(
    operator: str, inputs: str, outputs: str, *, name: str = "", domain: str = "", **attributes: Any
) -> Any:
    """A node; names are separated by blanks, `-` is one that is left out."""
    given = ["" if each == "-" else each for each in inputs.split()]
    return helper.make_node(
        operator, given, outputs.split(), name=name, domain=domain, **attributes
    )


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    weights: Mapping[str, NDArray[Any]] | None = None,
    *,
    opset: int = OPSET,
    functions: Sequence[Any] = (),
    domains: Sequence[str] = (),
) -> Any:
    """A model of one graph."""
    initializers = [weight(name, numbers) for name, numbers in (weights or {}).items()]
    graph = helper.make_graph(nodes, "net", inputs, outputs, initializers)
    sets = [helper.make_opsetid("", opset), *(helper.make_opsetid(each, 1) for each in domains)]
    return helper.make_model(graph, opset_imports=sets, functions=functions, ir_version=10)


def numbers(*shape: int, seed: int = 0) -> NDArray[Any]:
    """Random numbers of f32."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def classifier(batch: int | str = "batch") -> Any:
    """A convolution, pooling by a mean, and a dense layer, as exporters name their nodes."""
    return model(
        [
            node(
                "Conv",
                "images conv.weight conv.bias",
                "features",
                name="/conv/Conv",
                pads=[1, 0, 1, 2],
                strides=[2, 1],
            ),
            node("Relu", "features", "positive", name="/Relu"),
            node("GlobalAveragePool", "positive", "means", name="/pool/GlobalAveragePool"),
            node("Flatten", "means", "flat", name="/Flatten"),
            node("Gemm", "flat fc.weight fc.bias", "logits", name="/fc/Gemm", transB=1),
        ],
        [value("images", [batch, 3, 9, 11])],
        [value("logits", [batch, 5])],
        {
            "conv.weight": numbers(6, 3, 3, 3, seed=1),
            "conv.bias": numbers(6, seed=2),
            "fc.weight": numbers(5, 6, seed=3),
            "fc.bias": numbers(5, seed=4),
        },
    )
