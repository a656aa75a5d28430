"""Integers of 64 bits as pairs of 32-bit words, which devices hold.

The two words are the last dimension, the lower one first, as `stablehlo.bitcast_convert` has them.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.stablehlo.elementwise import BitcastConvertOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_elements
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes.elements import ElementsType, elements_attr, raw_bytes

WORD = IntegerType(32, Signedness.UNSIGNED)
_WORDS = 64 // 32


def take_words(build: Builder, value: SSAValue) -> SSAValue:
    """The words of integers or floating point numbers of 64 bits, as ui32.

    Words that were joined before are found again, so that they survive on devices, where other
    numbers of 64 bits keep 32.
    """
    shape = (*value_shape(value), _WORDS)
    type_ = cast("ElementsType", TensorType(WORD, shape))
    owner = value.owner
    if isinstance(owner, BitcastConvertOp) and value_shape(owner.operands[0]) == shape:
        return _as_bits(build, owner.operands[0], WORD)
    elements = constant_elements(value)
    if elements is not None:
        return build.create_constant(elements_attr(type_, raw_bytes(elements)), type_)
    bits = _as_bits(build, value, i64)
    places = build.create_scalar(32, i64)
    upper = build.create("logical_right_shift", (bits, places), bits.type)
    words = [build.reshape(build.cast(each, WORD), (*shape[:-1], 1)) for each in (bits, upper)]
    return build.concat(words, len(shape) - 1)


def join_words(op: Operation) -> None:
    """Compute what a bitcast makes of pairs of words."""
    build = Builder.before(op)
    words = _as_bits(build, op.operands[0], WORD)
    last = len(value_shape(words)) - 1
    lower, upper = (
        build.cast(
            build.reshape(build.slice_along(words, last, n, n + 1), value_shape(op.results[0])), i64
        )
        for n in range(_WORDS)
    )
    places = build.create_scalar(32, i64)
    shifted = build.create("logical_left_shift", (upper, places), upper.type)
    bits = build.create("bitwise_or", (lower, shifted), lower.type)
    replace(op, _as_bits(build, bits, element_type(op.results[0])))


def _as_bits(build: Builder, value: SSAValue, element: Attribute) -> SSAValue:
    """The same bits in another type of the same width."""
    if element_type(value) == element:
        return value
    type_ = TensorType(element, value_shape(value))
    return build.create("bitcast_convert", (value,), type_)
