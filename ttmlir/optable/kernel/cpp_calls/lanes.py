"""What sfpi's header (`ttmlir/cpp/standard/sfpi.hpp`) is made of: instructions of the vector unit.

A vector has 32 lanes. Kernels cannot name these calls; the classes of the header can. The letters
of a signature are: `f` lanes of float32, `i` lanes of 32-bit integers, `b` lanes of truth values,
`n` a number, `x` a floating-point number. Cycles are those of one vector: one for each instruction
that the compiler of sfpi makes of a call; on constants and moves it mostly spends none.
"""

from __future__ import annotations

from ttmlir.optable.kernel.row import Cost, Form, KernelCall, Role, ValueKind

PREFIX = "builtin_sfpi_"
"""With what the name of each call begins."""

_HEADER = "sfpi.h"
_KINDS = {
    "f": ValueKind.FLOAT_LANES,
    "i": ValueKind.INTEGER_LANES,
    "b": ValueKind.TRUTH_LANES,
    "n": ValueKind.I32,
    "x": ValueKind.F32,
}

_SIGNATURES: tuple[tuple[str, str, int], ...] = (
    # Where the vector unit stands in DST.
    *(("start", "n", 0), ("next_face", "n", 0), ("finish", "", 0), ("advance", "n", 1)),
    *(("load_floats", "n f", 1), ("load_integers", "n i", 1)),
    *(("store_floats", "nf", 1), ("store_integers", "ni", 1)),
    # Constants and registers.
    *(("fill_floats", "x f", 0), ("fill_integers", "n i", 0), ("lane_numbers", " i", 0)),
    *(("read_register", "n i", 0), ("write_register", "ni", 1)),
    *(("read_constant", "n i", 0), ("write_constant", "ni", 2)),
    # Lanes that take part.
    *(("begin_if", "b", 2), ("begin_else", "", 1), ("begin_elseif", "b", 1), ("end_if", "", 1)),
    *(("begin_block", "", 1), ("narrow", "b", 1)),
    *(("assign_floats", "ff f", 0), ("assign_integers", "ii i", 0)),
    # Floating-point numbers.
    *(("add_floats", "ff f", 1), ("subtract_floats", "ff f", 1), ("multiply_floats", "ff f", 1)),
    *(("negate_floats", "f f", 1), ("absolute_floats", "f f", 1)),
    *(("minimum_floats", "ff f", 1), ("maximum_floats", "ff f", 1)),
    *(("approximate_reciprocal", "f f", 1), ("approximate_exponential", "f f", 1)),
    *(("round_to_fp16a", "fn f", 1), ("round_to_fp16b", "fn f", 1)),
    *(("round_to_integers", "fnnn i", 1), ("floats_of_integers", "i f", 1)),
    *(("bits_of_floats", "f i", 0), ("floats_of_bits", "i f", 0)),
    # Integers.
    *(("add_integers", "ii i", 1), ("subtract_integers", "ii i", 1)),
    *(("multiply_integers", "ii i", 1), ("absolute_integers", "i i", 1)),
    *(("and_integers", "ii i", 1), ("or_integers", "ii i", 1), ("xor_integers", "ii i", 1)),
    *(("invert_integers", "i i", 1), ("count_leading_zeros", "i i", 1)),
    *(("shift_integers", "ii i", 1), ("shift_signed", "ii i", 1)),
    *(("draw_integers", " i", 1),),
    # Comparisons: by numbers of `ORDERS`.
    *(("compare_floats", "ffn b", 2), ("compare_integers", "iin b", 2)),
    *(("compare_unsigned", "iin b", 2),),
    *(("and_truths", "bb b", 0), ("or_truths", "bb b", 2), ("invert_truths", "b b", 1)),
    # Lanes among each other.
    *(("rotate_rows", "i i", 2), ("shift_rows", "i i", 2)),
    *(("row_of_registers", "iiiin i", 1),),
)

ORDERS = ("<", "<=", ">", ">=", "==", "!=")
"""The comparisons by their numbers."""


def _instruction(name: str, signature: str, cycles: int) -> KernelCall:
    given, _, made = signature.partition(" ")
    operands = tuple((f"operand{place}", _KINDS[each]) for place, each in enumerate(given))
    return KernelCall(
        mnemonic=f"{PREFIX}{name}",
        summary="",
        operands=operands,
        result=("lanes", _KINDS[made]) if made else None,
        header=_HEADER,
        roles=Role.MATH,
        cost=Cost(math=cycles, estimated=True),
    )


def _lanes(name: str, kind: ValueKind) -> KernelCall:
    """The type of a vector's lanes, of which kernels make no objects."""
    return KernelCall(
        mnemonic=f"{PREFIX}{name}",
        summary="",
        result=("lanes", kind),
        roles=Role.MATH,
        form=Form.OBJECT,
    )


CALLS = (
    _lanes("floats", ValueKind.FLOAT_LANES),
    _lanes("integers", ValueKind.INTEGER_LANES),
    _lanes("truths", ValueKind.TRUTH_LANES),
    *(_instruction(*each) for each in _SIGNATURES),
)
"""The calls; `OBJECT` rows are the types."""
