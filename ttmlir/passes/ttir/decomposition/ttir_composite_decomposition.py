"""Decompose what kernels have no calls for into operations that they compute.

Before:

    func.func @f(%x: tensor<3x70xf32>) -> tensor<3x70xf32> {
      %0 = tensor.empty() : tensor<3x70xf32>
      %1 = "ttir.softmax"(%x, %0) <{dimension = -1 : si32, operand_constraints =
          [#tt.operand_constraint<any_device>, #tt.operand_constraint<any_device>]}>
          : (tensor<3x70xf32>, tensor<3x70xf32>) -> tensor<3x70xf32>
      return %1 : tensor<3x70xf32>
    }

After:

    ...
        %1 = "ttir.max"(%arg0, %0) <{dim_arg = [1 : i32], keep_dim = true, ...
        %3 = "ttir.subtract"(%arg0, %1, %2) ...
        %5 = "ttir.exp"(%3, %4) ...
        %7 = "ttir.sum"(%5, %6) <{dim_arg = [1 : i32], keep_dim = true, ...
        %9 = "ttir.div"(%5, %7, %8) ...
        return %9 : tensor<3x70xf32>
      }
    }

Requires: nothing.
Ensures: none of these is left: softmax, batch normalization, orders (`ttir.sort`, `ttir.topk`),
counts of bits, `erfinv` of floats, bits of numbers of 16 bits as other ones, quotients and
remainders of `ui32`, and zeros that are shifted into `i8` and `i16`; ttnn has them, so its pipeline
does without the pass.
Options: none.
Not done here: nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.tensor import EmptyOp
from xdsl.rewriter import Rewriter

from ttmlir.arrays.array import Array, concatenate
from ttmlir.composites.bits import (
    cast_halves,
    count_ones,
    count_zeros_above,
    divide_unsigned,
    remainder_unsigned,
    shift_down,
    width_of,
)
from ttmlir.composites.indexing import scatter_by_comparing
from ttmlir.composites.normalization import put_along, scale_channels
from ttmlir.composites.ordering import order_by_counting
from ttmlir.dialects import ttir
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.rewriting import erase_unused, replace
from ttmlir.ir.tensor_types import dtype_of, element_type, value_shape
from ttmlir.optable import DEFINITIONS
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.dialects.definition.ods import DestinationStyleOp


@dataclass(frozen=True)
class TTIRCompositeDecompositionPass(ModulePass):
    """Decompose what kernels have no calls for into operations that they compute."""

    name = "ttir-composite-decomposition"
    title = "TTIRCompositeDecomposition"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Apply the rules to every operation inside the module."""
        for op in [op for op in module.walk() if op.name in _RULES and _is_composite(op)]:
            assert isinstance(op, ttir.TTIRTableOp), "rules are for operations with a definition"
            destinations = [value.owner for value in op.inits]
            carrier = TTIRCarrier(Builder.before(op))
            operands = [array_in(carrier, value) for value in op.inputs]
            found = [each.value for each in _RULES[op.name](op, *operands)]
            replace(op, *map(_with_layout_of, op.results, found))
            erase_unused(owner for owner in destinations if isinstance(owner, EmptyOp))


def _is_composite(op: Operation) -> bool:
    """False for what kernels compute on these types of numbers by themselves."""
    dtype = dtype_of(element_type(op.operands[0]))
    match op.name:
        case "ttir.bitcast_convert":
            return width_of(dtype) == 16
        case "ttir.div" | "ttir.remainder":
            return dtype == "ui32"
        case "ttir.logical_right_shift":
            return dtype in ("i8", "i16")
        case "ttir.count_leading_zeros" | "ttir.population_count":
            return width_of(dtype) <= 32
        case "ttir.erfinv":
            return "f" in dtype
        case "ttir.concat":
            return any(0 in value_shape(each) for each in op.operands)
        case _:
            return True


def _with_layout_of(result: SSAValue, found: SSAValue) -> SSAValue:
    """A value in place of a result; the operation that makes it writes it in the result's layout.

    Arrays have no layouts, so what is computed in between has none.
    """
    if found.type == result.type:
        return found
    for init in cast("DestinationStyleOp", found.owner).inits:
        Rewriter.replace_value_with_new_type(init, result.type)
    return Rewriter.replace_value_with_new_type(found, result.type)


def _softmax(x: Array, *, dimension: int) -> Array:
    """Exponentials, of differences to the largest number, over their sum."""
    powers = (x - x.max(dimension)).exp()
    return powers / powers.sum(dimension)


def _batch_norm_inference(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    dimension: int,
    epsilon: float,
) -> Array:
    factor = scale / (variance + epsilon).sqrt()
    return scale_channels(x - put_along(mean, x, dimension), factor, offset, dimension)


def _computes(function: Callable[..., Array]) -> _Rule:
    """The rule of a function of the operands and parameters."""

    def rule(op: ttir.TTIRTableOp, *operands: Array) -> Sequence[Array]:
        return [function(*operands, **op.parameters())]

    return rule


def _erfinv(op: ttir.TTIRTableOp, x: Array) -> Sequence[Array]:
    """The function that StableHLO computes."""
    from ttmlir.passes.stablehlo.functions.chlo_legalize_to_stablehlo import FUNCTIONS

    function, _ = FUNCTIONS["erfinv"]
    return [function(x.cast("f32")).cast(x.dtype)]


def _cast_halves(op: ttir.TTIRTableOp, x: Array) -> Sequence[Array]:
    return [cast_halves(x, dtype_of(element_type(op.results[0])))]


def _order(op: ttir.TTIRTableOp, x: Array) -> Sequence[Array]:
    """Numbers in order and where they were."""
    parameters = op.parameters()
    dim = cast("int", parameters["dim"])
    count = cast("int", parameters.get("k", x.shape[dim]))
    descending = bool(parameters.get("descending", parameters.get("largest")))
    places = order_by_counting(x, dim, count, descending=descending)
    return [x.gather(dim, places), places.cast(dtype_of(element_type(op.results[1])))]


def _concat(op: ttir.TTIRTableOp, *parts: Array) -> Sequence[Array]:
    """All that have elements."""
    return [concatenate(parts, cast("int", op.parameters()["dim"]))]


def _scatter(op: ttir.TTIRTableOp, x: Array, index: Array, source: Array) -> Sequence[Array]:
    """Elements written or combined at indices along a dimension."""
    combine = op.DEFINITION.mnemonic.removeprefix("scatter").removeprefix("_")
    dim = cast("int", op.parameters()["dim"])
    return [scatter_by_comparing(x, dim, index, source, combine)]


_Rule = Callable[..., "Sequence[Array]"]
_RULES: Mapping[str, _Rule] = {
    "ttir.batch_norm_inference": _computes(_batch_norm_inference),
    "ttir.bitcast_convert": _cast_halves,
    "ttir.concat": _concat,
    "ttir.count_leading_zeros": _computes(count_zeros_above),
    "ttir.div": _computes(divide_unsigned),
    "ttir.erfinv": _erfinv,
    "ttir.logical_right_shift": _computes(shift_down),
    "ttir.population_count": _computes(count_ones),
    "ttir.remainder": _computes(remainder_unsigned),
    "ttir.softmax": _computes(_softmax),
    **dict.fromkeys(("ttir.sort", "ttir.topk"), _order),
    **{f"ttir.{each}": _scatter for each in DEFINITIONS if each.startswith("scatter")},
}
"""What stands for an operation, by its full name."""
