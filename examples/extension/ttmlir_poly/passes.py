"""From `poly` to ttir, by Horner's rule, and on to ttnn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import replace
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass, Pass
from ttmlir.passes.pipelines.ttir_to_ttnn import TTIRToTTNNBackendPipeline
from ttmlir_poly.dialect import EvaluateOp


@dataclass(frozen=True)
class ConvertPolyToTTIRPass(ModulePass):
    """Turn polynomials into products and sums."""

    name = "convert-poly-to-ttir"
    title = "ConvertPolyToTTIR"
    skip_zeros: bool = option(True, "Add no coefficients that are 0")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert every polynomial inside the module."""
        for op in [op for op in module.walk() if isinstance(op, EvaluateOp)]:
            build, x = Builder.before(op), op.input
            *lower, highest = [each.value.data for each in op.coefficients]
            value = build.create_splat(highest, x.type)
            for coefficient in reversed(lower):
                value = build.create("multiply", (value, x), x.type)
                if coefficient or not self.skip_zeros:
                    term = build.create_splat(coefficient, x.type)
                    value = build.create("add", (value, term), x.type)
            replace(op, value)


@dataclass(frozen=True)
class PolyToTTNNPipeline(TTIRToTTNNBackendPipeline):
    """Lower polynomials to ttnn, ready to be written to a .ttnn file."""

    name = "poly-to-ttnn-pipeline"

    def passes(self) -> Sequence[Pass]:
        """Polynomials, then all that ttir needs."""
        return (ConvertPolyToTTIRPass(), *super().passes())
