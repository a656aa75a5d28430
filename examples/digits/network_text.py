"""TTIR modules as text, written one operation at a time, with trained weights in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np
from data import Floats

NUMPY_TYPES = {"f32": np.dtype("<f4"), "bf16": np.dtype(ml_dtypes.bfloat16)}
"""NumPy's names of the element types."""

_HEADER = """\
#any_device = #tt.operand_constraint<dram|l1|scalar|tile|any_device|any_device_tile>
"""


@dataclass(frozen=True)
class Value:
    """A tensor in the function: its name and shape."""

    name: str
    shape: tuple[int, ...]


class FunctionBody:
    """A function `forward`, all of whose tensors have elements of one type."""

    def __init__(self, element: str) -> None:
        """An empty function; `element` is `f32` or `bf16`."""
        self._element = element
        self._arguments: list[Value] = []
        self._lines: list[str] = []
        self._count = 0

    def argument(self, name: str, shape: tuple[int, ...]) -> Value:
        """A further argument."""
        value = Value(f"%{name}", shape)
        self._arguments.append(value)
        return value

    def constant(self, name: str, array: Floats) -> Value:
        """Weights as the hexadecimal digits of their bytes, so that no bit is lost."""
        value = Value(f"%{name}", array.shape)
        data = array.astype(NUMPY_TYPES[self._element]).tobytes().hex().upper()
        type_ = self._type(value.shape)
        self._lines.append(
            f'{value.name} = "ttir.constant"() <{{value = dense<"0x{data}"> : {type_}}}> '
            f": () -> {type_}"
        )
        return value

    def dense(self, value: Value, weight: Floats, bias: Floats, suffix: str) -> Value:
        """`value @ weight + bias`."""
        shape = (value.shape[0], weight.shape[1])
        product = self.operation("matmul", [value, self.constant(f"weight{suffix}", weight)], shape)
        return self.elementwise("add", [product, self.constant(f"bias{suffix}", bias)], shape)

    def softmax(self, value: Value) -> Value:
        """Probabilities along the last dimension."""
        return self.operation("softmax", [value], value.shape, {"dimension": "-1 : si32"})

    def elementwise(self, mnemonic: str, inputs: Sequence[Value], shape: tuple[int, ...]) -> Value:
        """An operation with variadic inputs and outputs."""
        segments = f"array<i32: {len(inputs)}, 1>"
        return self.operation(mnemonic, inputs, shape, {"operandSegmentSizes": segments})

    def operation(
        self,
        mnemonic: str,
        inputs: Sequence[Value],
        shape: tuple[int, ...],
        parameters: Mapping[str, str] | None = None,
    ) -> Value:
        """An operation that writes to a destination of its own."""
        number, self._count = self._count, self._count + 1
        output = Value(f"%out{number}", shape)
        result = self._type(shape)
        operands = [*inputs, output]
        constraints = f"[{', '.join(['#any_device'] * len(operands))}]"
        properties = {"operand_constraints": constraints, **(parameters or {})}
        listed = ", ".join(f"{name} = {value}" for name, value in properties.items())
        names = ", ".join(operand.name for operand in operands)
        types = ", ".join(self._type(operand.shape) for operand in operands)
        self._lines += [
            f"{output.name} = tensor.empty() : {result}",
            f'%{number} = "ttir.{mnemonic}"({names}) <{{{listed}}}> : ({types}) -> {result}',
        ]
        return Value(f"%{number}", shape)

    def function(self, result: Value) -> str:
        """The text of a module with the function, which returns `result`."""
        arguments = ", ".join(f"{each.name}: {self._type(each.shape)}" for each in self._arguments)
        type_ = self._type(result.shape)
        lines = [f"func.func @forward({arguments}) -> {type_} {{"]
        lines += [f"  {line}" for line in self._lines]
        return _HEADER + "\n".join([*lines, f"  return {result.name} : {type_}", "}"]) + "\n"

    def _type(self, shape: tuple[int, ...]) -> str:
        return f"tensor<{'x'.join(map(str, shape))}x{self._element}>"
