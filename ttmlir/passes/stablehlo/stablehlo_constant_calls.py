"""Custom calls of functions of NumPy that the user has registered, on operands that are constants.

A compiled program holds no Python, so that such a function runs when the program is compiled.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Operation

from ttmlir.ir.constants import constant_elements
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import raw_bytes
from ttmlir.program import RegisteredCall, how_to_register


def call_on_constants(op: Operation, target: str, registered: RegisteredCall) -> Sequence[bytes]:
    """The bytes of the results of a function of NumPy on operands that are constants."""
    operands: list[Any] = []
    for number, value in enumerate(op.operands):
        elements = constant_elements(value)
        if elements is None:
            refuse_to_legalize(
                op,
                f"operand #{number} of '{target}' is no constant, and no file holds Python: "
                f"{how_to_register(target)}; ttmlir.interpreter.execute runs the program "
                "in this process with the function that it has",
            )
        dtype = _dtype(element_type(value))
        operands.append(np.frombuffer(raw_bytes(elements), dtype).reshape(value_shape(value)))
    assert registered.numpy is not None, "what is registered has a kernel or a function"
    found = registered.numpy(*operands)
    results: list[Any] = [*found] if isinstance(found, tuple | list) else [found]
    arrays: list[bytes] = []
    for number, (array, result) in enumerate(zip(results, op.results, strict=True)):
        converted = np.asarray(array, _dtype(element_type(result)))
        if converted.shape != value_shape(result):
            raise ValueError(
                f"result #{number} has shape {converted.shape}; expected {value_shape(result)}"
            )
        arrays.append(converted.tobytes())
    return arrays


def _dtype(element: Attribute) -> np.dtype[Any]:
    """How NumPy holds the elements of constants; ValueError for those that it does not."""
    keyword = str(element)
    name = _FLOATS.get(keyword)
    if name is None and (integer := re.fullmatch(r"([us]?)i(8|16|32|64)", keyword)):
        name = f"{'u' * (integer[1] == 'u')}int{integer[2]}"
    if name is None:
        raise ValueError(f"elements of type {keyword} cannot be given to a function of NumPy")
    return np.dtype(name)


_FLOATS = {"f16": "float16", "f32": "float32", "f64": "float64"}
