"""What operations of tosa take beside tensors: numbers, zero points and modes.

MLIR 19 gives them as properties, later versions as operands that are constants.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import Operation

from ttmlir.dialects.tosa import ZeroPointsAttr, mode_word
from ttmlir.ir.constants import constant_numbers
from ttmlir.ir.rewriting import refuse_to_legalize

Shape = tuple[int, ...]


def numbers(op: Operation, name: str, operand: int = -1) -> Shape:
    """Numbers that are given by a property or, as a constant, by an operand."""
    attr = op.properties.get(name)
    if attr is not None:
        return tuple(cast("DenseArrayBase[IntegerType]", attr).iter_values())
    found = constant_numbers(op.operands[operand])
    if found is None:
        refuse_to_legalize(op, f"it computes its {name}; supported are constants")
    return tuple(int(value) for value in found)


def check_zero_points(op: Operation, first: int) -> None:
    """Refuse zero points other than 0, in `quantization_info` or in operands from `first` on."""
    info = op.properties.get("quantization_info")
    if isinstance(info, ZeroPointsAttr):
        values: list[float] = [value.data for value in info.values.data]
    else:
        values = []
    for operand in op.operands[first:]:
        found = constant_numbers(operand)
        if found is None:
            refuse_to_legalize(op, "its zero points are computed; supported are constants of 0")
        values += found
    if any(values):
        refuse_to_legalize(
            op,
            f"its zero points are {values}; supported are zero points of 0, on numbers that "
            "are not quantized",
        )


def check_nan_mode(op: Operation) -> None:
    """Refuse to ignore NaN."""
    if mode_word(op.properties.get("nan_mode"), "PROPAGATE") != "PROPAGATE":
        refuse_to_legalize(op, "it ignores NaN; supported is nan_mode = PROPAGATE")
