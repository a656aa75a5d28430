"""How the vector unit sees numbers, and which operations it computes on them.

What kernels compute with: f32, f16, bf16 and 32-bit integers. Truth values are 0 and 1 in bf16, on
which arithmetic and bits follow logic; integers of 8 and 16 bits are widened to 32 before they are
computed with, and cut afterwards. Both roads to kernels, ttmetal's and the direct one, ask here.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ttmlir import optable
from ttmlir.layout.element_type import ScalarType
from ttmlir.layout.enums import DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.optable.elementwise import ROWS
from ttmlir.optable.kernel.tile_calls import TILE_CALLS, Step
from ttmlir.optable.row import Row

_FORMATS = {
    DataType.F32: "Float32",
    DataType.F16: "Float16",
    DataType.BF16: "Float16_b",
    DataType.U16: "UInt16",
    DataType.U8: "UInt8",
}
UNSIGNED = ("ui8", "ui16", "ui32", "ui64", "index")
"""Keywords of integers without sign."""
WORKING = ScalarType("i32")
"""What the vector unit computes with where integers are shorter."""
_FLIP = tuple(
    Step(call="bitwise_xor_tile", slots=(slot,), scalars=(-(1 << 31),)) for slot in (0, 1)
)
"""Numbers without a sign are in the order of numbers with one if their first bits are flipped."""


def is_float(element: ScalarType) -> bool:
    """True for what the vector unit sees as floating-point numbers, truth values included."""
    return element.data_type in (DataType.F32, DataType.F16, DataType.BF16)


def is_wide(element: ScalarType) -> bool:
    """True for numbers of 32 bits, which need all bits of DST."""
    return element.data_type in (DataType.F32, DataType.U32)


def is_short(element: ScalarType) -> bool:
    """True for integers of 8 and 16 bits, which the vector unit computes with as 32-bit ones."""
    return element.data_type in (DataType.U16, DataType.U8)


def is_wide_unsigned(element: ScalarType) -> bool:
    """True for integers without sign that fill 32 bits, which the vector unit orders by sign."""
    return element.data_type is DataType.U32 and element.keyword in UNSIGNED


def nearest_integer(number: float, *, has_sign: bool = True) -> int:
    """A limit of integers as one of 32 bits, the last one for what is beyond.

    LayoutError for NaN, which limits no integer.
    """
    if math.isnan(number):
        raise LayoutError("has a limit of integers that is NaN; give a number")
    least = -(1 << 31) if has_sign else 0
    return int(min(max(number, least), least + (1 << 32) - 1))


def format_name(element: ScalarType) -> str:
    """tt-metal's name of the number format in which the vector unit sees an element type."""
    if element.data_type is DataType.U32:
        return "UInt32" if is_wide_unsigned(element) else "Int32"
    return _FORMATS[element.data_type]


def steps_of(mnemonic: str, element: ScalarType) -> Sequence[Step]:
    """How an operation is computed on numbers of a type; LayoutError if it is not."""
    supported = _supported(element)
    if mnemonic not in supported:
        raise LayoutError(
            f"kernels do not compute {mnemonic} of {element}; on {element} they compute "
            f"{', '.join(computed_on(element))}; convert the operands by ttir.typecast or use "
            "ttir-to-ttnn-backend-pipeline"
        )
    return supported[mnemonic]


def computed_on(element: ScalarType) -> Sequence[str]:
    """The operations that kernels compute on numbers of this type, in alphabetical order."""
    return sorted(_supported(element))


def _supported(element: ScalarType) -> Mapping[str, Sequence[Step]]:
    """The steps of every operation on numbers of this type."""
    if element.keyword == "i1":
        steps = _supported(ScalarType("bf16"))
        logic = {row.mnemonic: steps[_on_truth(row)] for row in ROWS if row.on_truth}
        return {**steps, **logic}
    if is_float(element):
        return {n: c.floats for n, c in TILE_CALLS.items() if c.floats is not None}
    integers = {n: c.integers for n, c in TILE_CALLS.items() if c.integers is not None}
    if is_wide_unsigned(element):
        ordered = {name: (*_FLIP, *integers[name]) for name in ("ge", "gt", "le", "lt")}
        extremes = {name: (*_FLIP, *integers[name], _FLIP[0]) for name in ("maximum", "minimum")}
        # What takes no steps leaves integers as they are.
        signless = {
            name: steps
            for name, steps in integers.items()
            if optable.row(name).ignores_sign or not steps
        }
        unsigned = {n: c.unsigned for n, c in TILE_CALLS.items() if c.unsigned is not None}
        return signless | ordered | extremes | unsigned
    if is_short(element) and element.keyword not in UNSIGNED:
        # The copies of the sign above the number would move into it.
        integers.pop("logical_right_shift")
    return integers


def computed_as(mnemonic: str, element: ScalarType) -> str:
    """The operation whose steps compute another one: on truth values it may be one of logic."""
    return _on_truth(optable.row(mnemonic)) if element.keyword == "i1" else mnemonic


def _on_truth(row: Row) -> str:
    keeps = not row.on_truth or TILE_CALLS[row.mnemonic].keeps_truth
    return row.mnemonic if keeps else row.on_truth
