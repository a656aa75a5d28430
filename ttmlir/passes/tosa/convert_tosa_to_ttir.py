"""Turn tosa operations into ttir operations.

In the spelling of 2024 each operation gets a `tensor.empty` as destination and accepts tiled device
layouts for all its operands; in those of later years operations make their results. Constants that
only say how to move elements vanish.

Before:

    func.func @difference(%a: tensor<33x70xf32>, %b: tensor<1x70xf32>) -> tensor<33x70xi1> {
      %0 = tosa.sub %a, %b : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32>
      %1 = tosa.greater_equal %0, %b : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xi1>
      return %1 : tensor<33x70xi1>
    }

After:

    module {
      func.func @difference(%arg0: tensor<33x70xf32>, %arg1: tensor<1x70xf32>)
          -> tensor<33x70xi1> {
        %0 = "ttir.subtract"(%arg0, %arg1) :
            (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xf32>
        %1 = "ttir.ge"(%0, %arg1) : (tensor<33x70xf32>, tensor<1x70xf32>) -> tensor<33x70xi1>
        return %1 : tensor<33x70xi1>
      }
    }

Requires: static shapes.
Ensures: nothing but ttir, func, `tensor.empty` and the module is left; types do not change.
Options: `spelling` (module): the year whose ttir is written, as in `convert-stablehlo-to-ttir`.
Not done here: shifts of products, zero points other than 0 except in rescaling, integers of 48
bits, regions and variables, and Fourier transforms are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ttmlir.dialects.definition.ods import warn_of_narrowing
from ttmlir.ir.builder import SPELLING_HELP, Spelling, TTIRSpelling, use_style
from ttmlir.ir.rewriting import erase_unused
from ttmlir.mlir.core_prefix import name_empty_late
from ttmlir.passes.core.base import ModulePass, option
from ttmlir.passes.core.ttir_conversion import ConversionRule, convert_inside, refuse_unknown
from ttmlir.passes.general.convert_spelling import write_to_empty
from ttmlir.passes.tosa.convert_tosa_to_ttir_rules import RULES as CONVERTED
from ttmlir.passes.tosa.tosa_shapes import check_shapes
from ttmlir.version import SPELLING_VARIABLE

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class ConvertTosaToTTIRPass(ModulePass):
    """Turn tosa operations into ttir operations."""

    name = "convert-tosa-to-ttir"
    title = "ConvertTosaToTTIR"
    spelling: TTIRSpelling = option(
        TTIRSpelling.AS_MODULE, SPELLING_HELP, environment=SPELLING_VARIABLE
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert everything inside the module."""
        spelling = self.spelling.for_module(module)
        with use_style(spelling.style):
            convert_inside(module, _CHECKED, _refuse_operation)
        if spelling is not Spelling.EARLY:
            name_empty_late(module)
        if spelling is Spelling.MIDDLE:
            write_to_empty(module)
        constants = ("tosa.const_shape", "ttir.constant")
        erase_unused(op for op in module.walk() if op.name in constants)
        warn_of_narrowing(module)


def _checked(rule: ConversionRule) -> ConversionRule:
    """The rule, for operations whose shapes fit."""

    def checked(op: Operation) -> None:
        check_shapes(op)
        rule(op)

    return checked


def _refuse_operation(op: Operation) -> None:
    refuse_unknown(op, ConvertTosaToTTIRPass.name, CONVERTED)


_CHECKED = {name: _checked(rule) for name, rule in CONVERTED.items()}
