"""A trained network as a TTIR module: text with the weights in it."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from training import Floats, Network

NUMPY_TYPES = {"f32": np.dtype("<f4"), "bf16": np.dtype(ml_dtypes.bfloat16)}
"""NumPy's names of the element types."""

_ANY_DEVICE = "#any_device"
_HEADER = """\
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
"""


def to_ttir(network: Network, batch: int, element: str = "f32") -> str:
    """A module whose function `forward` maps `batch` rows of pixels to rows of probabilities.

    All tensors have elements of type `element`, which is `f32` or `bf16`.
    """
    body = _FunctionBody(element)
    inputs = body.tensor(batch, network[0].weight.shape[0])
    outputs = body.tensor(batch, network[-1].weight.shape[1])
    value = "%images"
    for number, layer in enumerate(network, start=1):
        rows, columns = layer.weight.shape
        weight = body.constant(f"weight{number}", layer.weight)
        bias = body.constant(f"bias{number}", layer.bias)
        result = body.tensor(batch, columns)
        value = body.operation(
            "matmul",
            [(value, body.tensor(batch, rows)), (weight, body.tensor(rows, columns))],
            result,
        )
        value = body.elementwise("add", [(value, result), (bias, body.tensor(1, columns))], result)
        if number < len(network):
            value = body.elementwise("relu", [(value, result)], result)
    value = body.operation("softmax", [(value, outputs)], outputs, "dimension = 1 : si32")
    lines = "\n".join(f"  {line}" for line in body.lines)
    return (
        f"{_HEADER}func.func @forward(%images: {inputs}) -> {outputs} {{\n"
        f"{lines}\n  return {value} : {outputs}\n}}\n"
    )


class _FunctionBody:
    """Lines of a function, one per operation; each method returns the name of the result."""

    def __init__(self, element: str) -> None:
        self.lines = list[str]()
        self._element = element
        self._count = 0

    def tensor(self, rows: int, columns: int) -> str:
        """The type of a matrix."""
        return f"tensor<{rows}x{columns}x{self._element}>"

    def constant(self, name: str, value: Floats) -> str:
        """Weights as the hexadecimal digits of their bytes, so that no bit is lost."""
        type_ = self.tensor(*value.shape)
        data = value.astype(NUMPY_TYPES[self._element]).tobytes().hex().upper()
        self.lines.append(
            f'%{name} = "ttir.constant"() <{{value = dense<"0x{data}"> : {type_}}}> : () -> {type_}'
        )
        return f"%{name}"

    def elementwise(self, mnemonic: str, operands: list[tuple[str, str]], result: str) -> str:
        """An operation with variadic inputs and outputs."""
        segments = f"operandSegmentSizes = array<i32: {len(operands)}, 1>"
        return self.operation(mnemonic, operands, result, segments)

    def operation(
        self, mnemonic: str, operands: list[tuple[str, str]], result: str, *properties: str
    ) -> str:
        """An operation that writes to a destination of its own."""
        number, self._count = self._count, self._count + 1
        self.lines.append(f"%out{number} = tensor.empty() : {result}")
        names, types = zip(*operands, (f"%out{number}", result), strict=True)
        constraints = ", ".join([_ANY_DEVICE] * len(names))
        listed = ", ".join([f"operand_constraints = [{constraints}]", *properties])
        self.lines.append(
            f'%{number} = "ttir.{mnemonic}"({", ".join(names)}) <{{{listed}}}> : '
            f"({', '.join(types)}) -> {result}"
        )
        return f"%{number}"
