"""Rules of `ttir-decomposition` for elementwise operations of 2026."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AnyFloat

from ttmlir.composites.bits import count_bits, count_leading_zeros
from ttmlir.ir.builder import TTIRCarrier, array_in
from ttmlir.ir.tensor_types import dtype_of, element_type, widest_float
from ttmlir.passes.ttir.ttir_value_forms_elementwise import MIRRORED
from ttmlir.passes.ttir.value_rewriting import adapted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.arrays.array import Array
    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule
    from ttmlir.passes.ttir.value_rewriting import ValueRule


def _exp2(x: Array) -> Array:
    return (x * math.log(2)).exp()


def _trunc(x: Array) -> Array:
    return (x < 0).where(x.apply("ceil"), x.apply("floor"))


_ON_BITS = {"count_leading_zeros": count_leading_zeros, "population_count": count_bits}
_FUNCTIONS = {"exp2": _exp2, "trunc": _trunc, **_ON_BITS}
"""Functions that ttnn of 2026 has no operation for, beside those of chlo."""


def _function(mnemonic: str) -> ValueRule:
    """The operations that make up a function."""

    def rule(op: Operation, builder: Builder) -> SSAValue:
        from ttmlir.passes.stablehlo.functions.chlo_legalize_to_stablehlo import FUNCTIONS

        is_float = isinstance(element_type(op.operands[0]), AnyFloat)
        if mnemonic == "trunc" and not is_float:
            return op.operands[0]
        function, is_wide = FUNCTIONS.get(mnemonic) or (_FUNCTIONS[mnemonic], False)
        given = array_in(TTIRCarrier(builder), op.operands[0])
        is_whole = mnemonic == "square" or mnemonic in _ON_BITS
        wide = dtype_of(widest_float(element_type(op.operands[0])))
        is_cast = not is_whole and (not is_float or is_wide)
        found = function(given.cast(wide) if is_cast else given)
        return builder.cast(found.value, element_type(op.results[0]))

    return rule


_WITHOUT_OPERATION = (
    *("acosh", "atanh", "cosh", "erfinv", "lgamma", "sinh", "square"),
    *_FUNCTIONS,
)

RULES: Mapping[str, Sequence[Rule]] = {
    **adapted({mnemonic: [_function(mnemonic)] for mnemonic in _WITHOUT_OPERATION}),
    **adapted(MIRRORED),
}
"""Rules by the name of the operation."""
