"""Turn stablehlo and chlo operations into ttir operations.

In the spelling of 2024 each operation gets a `tensor.empty` as destination and accepts tiled device
layouts for all its operands; in those of later years operations make their results. What ttnn lacks
becomes general forms such as `ttir.dot_general`, which `ttir-decomposition` decomposes.

Before:

    func.func @scaled(%a: tensor<33x70xf32>, %b: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = stablehlo.subtract %a, %b : tensor<33x70xf32>
      %1 = stablehlo.abs %0 : tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    module {
      func.func @scaled(%arg0: tensor<33x70xf32>, %arg1: tensor<33x70xf32>)
          -> tensor<33x70xf32> {
        %0 = "ttir.subtract"(%arg0, %arg1) :
            (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
        %1 = "ttir.abs"(%0) : (tensor<33x70xf32>) -> tensor<33x70xf32>
        return %1 : tensor<33x70xf32>
      }
    }

Requires: static shapes; calls inlined (`inline`), as in `stablehlo-to-ttir-pipeline`.
Ensures: nothing but ttir, func, `tensor.empty` and the module is left; types do not change;
constants without users are gone.
Options: `spelling` (module): in which spelling of tt-mlir ttir is written; that of 2026 has no
destinations, and leaves more to the passes after this one. `module` is 2024 where the text
names the dialect `tt`, if only in an alias, and 2026 elsewhere; the environment variable
`TTMLIR_SPELLING` says it for all.
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
from ttmlir.ir.builder import SPELLING_HELP, Spelling, TTIRSpelling, use_style
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
from ttmlir.passes.stablehlo.mesh_borders import refuse_divisions, write_mesh_borders
from ttmlir.version import SPELLING_VARIABLE

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation


@dataclass(frozen=True)
class ConvertStableHLOToTTIRPass(ModulePass):
    """Turn stablehlo and chlo operations into ttir operations."""

    name = "convert-stablehlo-to-ttir"
    title = "ConvertStableHLOToTTIR"
    spelling: TTIRSpelling = option(
        TTIRSpelling.AS_MODULE, SPELLING_HELP, environment=SPELLING_VARIABLE
    )
    keep_element_types: bool = option(
        False, "From 2025 on, keep all bits of constants, and of integers that are sorted or added"
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module."""
        spelling = self.spelling.for_module(module)
        if spelling is not Spelling.EARLY:
            with use_style(spelling.style):
                write_mesh_borders(module)
                wide = WIDE if self.keep_element_types else {}
                rules = {**_REFUSED, **CONVERTED, **LATE, **wide}
                convert_inside(module, rules, _refuse_operation)
            merge_equal(module, lambda op: op.name.startswith("ttir."))
            _drop_uncalled(module)
            name_empty_late(module)
            if spelling is Spelling.MIDDLE:
                write_to_empty(module)
            return
        refuse_divisions(module)
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

WIDE: dict[str, ConversionRule] = {
    **convert_stablehlo_to_ttir_movement.WIDE_RULES,
    **convert_stablehlo_to_ttir_reduction.WIDE_RULES,
    **convert_stablehlo_to_ttir_window.WIDE_RULES,
}
"""What becomes of them where nothing is to be lost."""

_REFUSED = convert_stablehlo_to_ttir_control.REFUSED
_MAY_BE_LEFT = {
    *("ttir.constant", "ttir.arange", "ttir.broadcast", "ttir.reshape", "ttir.typecast"),
    "tensor.empty",
}
