"""Write functions of complex numbers in terms of their real and imaginary parts.

Before:

    func.func @main(%a: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
      %0 = stablehlo.exponential %a : tensor<3xcomplex<f32>>
      return %0 : tensor<3xcomplex<f32>>
    }

After:

    module {
      func.func @main(%arg0: tensor<3xcomplex<f32>>) -> tensor<3xcomplex<f32>> {
        %cst = stablehlo.constant dense<0.000000e+00> : tensor<3xf32>
        %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<3xf32>
        %cst_1 = stablehlo.constant dense<0x7F800000> : tensor<3xf32>
        %0 = stablehlo.real %arg0 : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
        ...
        %18 = stablehlo.complex %10, %17 : tensor<3xcomplex<f32>>
        return %18 : tensor<3xcomplex<f32>>
      }
    }

Requires: static shapes.
Ensures: exponentials, logarithms, roots, powers and tangents of complex numbers are gone.
Options: none.
Not done here: what `stablehlo-complex-data-type-conversion` takes stays, as do cosine and sine,
which that pass refuses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import TensorType, i1

from ttmlir.composites.complex_numbers import FUNCTIONS, Complex
from ttmlir.dialects.stablehlo.attrs import ComparisonDirectionAttr
from ttmlir.ir.rewriting import replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import is_complex, real_type
from ttmlir.optable import DEFINITIONS
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

    from ttmlir.arrays.array import Array


@dataclass(frozen=True)
class StableHLOComplexMathExpanderPass(ModulePass):
    """Write functions of complex numbers in terms of their parts."""

    name = "stablehlo-complex-math-expander"
    title = "StablehloComplexMathExpanderPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Expand every operation on complex numbers that is a function."""
        for op in tuple(module.walk()):
            if op.name in _EXPANDED and is_complex(op.operands[0].type):
                _expand(op)


def _expand(op: Operation) -> None:
    carrier = StableHLOCarrier.before(op)
    if op.name == _EXPONENTIAL:
        found = _exponential(carrier, op)
    else:
        function = FUNCTIONS[_EXPANDED[op.name]]
        found = function(
            *(
                Complex(
                    *(
                        carrier.wrap(carrier.make_one(part, [each], real_type(each.type)))
                        for part in ("real", "imag")
                    )
                )
                for each in op.operands
            )
        )
    if not isinstance(found, Complex):
        replace(op, found.value)
        return
    parts = [found.real.value, found.imag.value]
    replace(op, carrier.make_one("complex", parts, op.results[0].type))


def _exponential(carrier: StableHLOCarrier, op: Operation) -> Complex:
    """Halves of powers, where the power itself is infinite."""
    [operand] = op.operands
    part = real_type(operand.type)
    shape = part.get_shape()

    def fill(number: float) -> Array:
        return carrier.wrap(carrier.make_constant(part, [number]))

    def is_equal(a: Array, b: Array) -> Array:
        direction = ComparisonDirectionAttr("EQ")
        return carrier.wrap(
            carrier.make_one(
                "compare",
                [a.value, b.value],
                TensorType(i1, shape),
                comparison_direction=direction,
            )
        )

    zero, half, infinity = fill(0), fill(0.5), fill(math.inf)
    real = carrier.wrap(carrier.make_one("real", [operand], part))
    size = real.exp()
    is_infinite = is_equal(size, infinity)
    root = (real * half).exp()
    imag = carrier.wrap(carrier.make_one("imag", [operand], part))
    cosine = imag.apply("cos")
    above = root * cosine * root
    new_real = is_infinite.where(above, size * cosine)
    is_real = is_equal(imag, zero)
    sine = imag.apply("sin")
    beside = root * sine * root
    return Complex(new_real, is_real.where(zero, is_infinite.where(beside, size * sine)))


_EXPONENTIAL = "stablehlo.exponential"
_KEPT = (
    *("abs", "add", "div", "eq", "multiply", "ne", "neg", "subtract"),
    *("cos", "sin"),
)
"""Functions that pairs have, and those whose terms StableHLO has no operations for."""
_EXPANDED: dict[str, str] = {
    name: mnemonic
    for mnemonic in FUNCTIONS
    if mnemonic not in _KEPT
    for name in DEFINITIONS[mnemonic].aliases
    if name.startswith("stablehlo.")
}
"""The functions of the operations that are expanded."""
