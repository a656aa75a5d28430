"""Turn stablehlo and chlo operations into ttir operations.

Each operation gets a `tensor.empty` as destination and accepts tiled device layouts for all its
operands. Operations that ttnn lacks become general forms such as `ttir.dot_general`, which
`ttir-decomposition` decomposes.

Before:

    func.func @scaled(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = stablehlo.subtract %a, %b : tensor<33x70xf32>
      %1 = stablehlo.abs %0 : tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    #any_device_tile = #tt.operand_constraint<dram|l1|tile|...>
    module {
      func.func @scaled(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>)
          -> tensor<33x70xf32> {
        %0 = tensor.empty() : tensor<33x70xf32>
        %1 = "ttir.subtract"(%arg0, %arg1, %0) <{operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        %2 = tensor.empty() : tensor<33x70xf32>
        %3 = "ttir.abs"(%1, %2) <{operandSegmentSizes = array<i32: 1, 1>,
            operand_constraints = [#any_device_tile, #any_device_tile]}>
            : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        return %3 : tensor<33x70xf32>
      }
    }

Requires: static shapes; calls inlined (`inline`), as in `stablehlo-to-ttir-pipeline`.
Ensures: nothing but ttir, func, `tensor.empty` and the module is left; types do not change;
constants without users are gone.
Options: `spelling` (2024): in which spelling of tt-mlir ttir is written; that of 2026 has no
destinations, and leaves more to the passes after this one.
Not done here: f64 stays, with a warning that devices store f32 for it, as do 64-bit integers, of
which they store 32 bits; complex numbers, which `stablehlo-expand-complex` decomposes, quantized
ones, tokens, tuples and dynamic shapes are refused, and so
is what has no counterpart; each message says what is supported.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.dialects.definition.ods import warn_of_narrowing
from ttmlir.ir.builder import SPELLING_HELP, Spelling, use_style
from ttmlir.ir.rewriting import (
    AttributeMemo,
    erase,
    erase_unused,
    merge_equal,
    references_of,
    refuse_to_legalize,
    symbol_name,
    symbol_visibility,
)
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.core_prefix import name_empty_late
from ttmlir.passes.core.base import ModulePass, option
from ttmlir.passes.core.ttir_conversion import ConversionRule, convert_inside, refuse_unknown
from ttmlir.passes.general.convert_spelling import write_to_empty
from ttmlir.passes.stablehlo import (
    convert_stablehlo_to_ttir_control,
    convert_stablehlo_to_ttir_elementwise,
    convert_stablehlo_to_ttir_indexing,
    convert_stablehlo_to_ttir_movement,
    convert_stablehlo_to_ttir_reduction,
    convert_stablehlo_to_ttir_window,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation


@dataclass(frozen=True)
class ConvertStableHLOToTTIRPass(ModulePass):
    """Turn stablehlo and chlo operations into ttir operations."""

    name = "convert-stablehlo-to-ttir"
    title = "ConvertStableHLOToTTIR"
    spelling: Spelling = option(Spelling.EARLY, SPELLING_HELP)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module."""
        if self.spelling is not Spelling.EARLY:
            with use_style(self.spelling.style):
                convert_inside(module, {**_REFUSED, **CONVERTED, **LATE}, _refuse_operation)
            merge_equal(module, lambda op: op.name.startswith("ttir."))
            _drop_uncalled(module)
            name_empty_late(module)
            if self.spelling is Spelling.MIDDLE:
                write_to_empty(module)
            return
        reason = AttributeMemo(_reason_against)
        for op in module.walk():
            if op.name.startswith(("stablehlo.", "chlo.")):
                for value in (*op.operands, *op.results):
                    if (why := reason(value.type)) is not None:
                        refuse_to_legalize(op, why)
        convert_inside(module, {**_REFUSED, **CONVERTED}, _refuse_operation)
        # Initial and padding values have become parameters.
        erase_unused(op for op in module.walk() if op.name in _MAY_BE_LEFT)
        warn_of_narrowing(module)


def _drop_uncalled(module: ModuleOp) -> None:
    """Erase private functions that nothing calls, which said what composites mean."""
    called = {path[-1] for op in module.walk() for path in references_of(op)}
    for function in tuple(module.ops):
        name = symbol_name(function)
        if name not in called and symbol_visibility(function) == "private":
            erase(function)


def _reason_against(type_: Attribute) -> str | None:
    """Why no tensor of a type can be stored; None if it can be, or is no tensor."""
    if not isinstance(type_, TensorType):
        return None
    try:
        _ = ScalarType(str(cast("TensorType[Attribute]", type_).element_type)).data_type
    except LayoutError as error:
        return str(error)
    return None


def _refuse_operation(op: Operation) -> None:
    refuse_unknown(op, ConvertStableHLOToTTIRPass.name, CONVERTED)


CONVERTED: dict[str, ConversionRule] = {
    **convert_stablehlo_to_ttir_elementwise.RULES,
    **convert_stablehlo_to_ttir_movement.RULES,
    **convert_stablehlo_to_ttir_reduction.RULES,
    **convert_stablehlo_to_ttir_indexing.RULES,
    **convert_stablehlo_to_ttir_window.RULES,
    **convert_stablehlo_to_ttir_control.RULES,
}
"""What becomes of each operation of stablehlo and chlo that can be converted."""

LATE: dict[str, ConversionRule] = {
    **convert_stablehlo_to_ttir_elementwise.LATE_RULES,
    **convert_stablehlo_to_ttir_movement.LATE_RULES,
    **convert_stablehlo_to_ttir_reduction.LATE_RULES,
    **convert_stablehlo_to_ttir_indexing.LATE_RULES,
    **convert_stablehlo_to_ttir_window.LATE_RULES,
    **convert_stablehlo_to_ttir_control.LATE_RULES,
}
"""What becomes of them in the spelling of 2026, where that is something else."""

_REFUSED = convert_stablehlo_to_ttir_control.REFUSED
_MAY_BE_LEFT = {
    *("ttir.constant", "ttir.arange", "ttir.broadcast", "ttir.reshape", "ttir.typecast"),
    "tensor.empty",
}
