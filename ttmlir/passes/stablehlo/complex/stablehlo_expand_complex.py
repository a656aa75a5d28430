"""Compute with pairs of real tensors instead of complex ones.

A device has no complex numbers. Operations that only move elements do it with both parts;
arithmetic becomes the formulas for the parts, a Fourier transform products with matrices.

Before:

    func.func @power(%x: tensor<33x70xf32>, %y: tensor<33x70xf32>) -> tensor<33x70xf32> {
      %0 = stablehlo.complex %x, %y : tensor<33x70xcomplex<f32>>
      %1 = stablehlo.negate %0 : tensor<33x70xcomplex<f32>>
      %2 = stablehlo.transpose %1, dims = [1, 0]
          : (tensor<33x70xcomplex<f32>>) -> tensor<70x33xcomplex<f32>>
      %3 = stablehlo.imag %2 : (tensor<70x33xcomplex<f32>>) -> tensor<70x33xf32>
      %4 = stablehlo.transpose %3, dims = [1, 0] : (tensor<70x33xf32>) -> tensor<33x70xf32>
      return %4 : tensor<33x70xf32>
    }

After:

    ...
      %0 = tensor.empty() : tensor<33x70xf32>
      %1 = "ttir.neg"(%arg1, %0) <{operandSegmentSizes = array<i32: 1, 1>,
          operand_constraints = [#any_device_tile, #any_device_tile]}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<33x70xf32>) -> tensor<70x33xf32>
      %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<70x33xf32>) -> tensor<33x70xf32>
      return %3 : tensor<33x70xf32>
    ...

Requires: static shapes; calls inlined (`inline`).
Ensures: no complex tensors are left.
Options: none.
Not done here: arguments, results, loops and branches that carry complex tensors, and operations
that are not in the list of the message, are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn, cast

from xdsl.dialects.builtin import ComplexType, TensorType, i1
from xdsl.ir import Block, Region

from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse, refuse_to_legalize
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes.elements import element_size, elements_attr
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.complex.fourier import Fourier
from ttmlir.passes.stablehlo.complex.parts import Arithmetic, Parts
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_custom_call import refuse_routine
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.stablehlo.enums import EnumAttr
    from ttmlir.mlir.attributes.elements import Elements, ElementsType


@dataclass(frozen=True)
class StableHLOExpandComplexPass(ModulePass):
    """Compute with pairs of real tensors instead of complex ones."""

    name = "stablehlo-expand-complex"
    title = "StableHLOExpandComplex"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Expand what every function computes, in the order of the text."""
        for function in module.ops:
            for region in function.regions:
                for block in region.blocks:
                    _expand(block, function)


def _expand(block: Block, function: Operation) -> None:
    if any(is_complex(argument.type) for argument in block.args):
        refuse(
            function,
            "complex arguments are not supported; pass the real and the imaginary part, and join "
            "them inside",
        )
    expansion = _Expansion()
    expanded = {op for op in block.ops if expansion.expand(op)}
    if expanded:
        # Of many results only one part is used.
        erase_unused(op for op in block.ops if op in expanded or _only_computes(op))


def _only_computes(op: Operation) -> bool:
    name = op.name.removeprefix("stablehlo.")
    return name in _MOVES or name == "tensor.empty" or name.startswith("ttir.")


def is_complex(type_: Attribute) -> bool:
    """True for tensors of complex numbers."""
    return isinstance(type_, TensorType) and isinstance(
        cast("TensorType[Attribute]", type_).element_type, ComplexType
    )


def _real(type_: Attribute) -> ElementsType:
    """The type of a part."""
    tensor = cast("TensorType[ComplexType]", type_)
    return cast("ElementsType", TensorType(tensor.element_type.element_type, tensor.get_shape()))


class _Expansion:
    """The parts of the complex values of a block."""

    def __init__(self) -> None:
        self._parts: dict[SSAValue, Parts] = {}

    def expand(self, op: Operation) -> bool:
        """Replace an operation that takes or gives complex numbers; False for others."""
        types = [value.type for value in (*op.operands, *op.results)]
        if not any(map(is_complex, types)):
            return False
        rule = RULES.get(op.name, _Expansion._refuse)
        found = rule(self, op)
        for result, value in zip(op.results, found, strict=True):
            if isinstance(value, Parts):
                self._parts[result] = value
            else:
                result.replace_all_uses_with(value)
        return True

    def _refuse(self, op: Operation) -> NoReturn:
        if op.name == "stablehlo.custom_call":
            refuse_routine(op)
        if what := _CARRIED.get(op.name.partition(".")[2]):
            refuse_to_legalize(
                op, f"complex {what} are not supported; give the real and the imaginary part"
            )
        names = ", ".join(sorted(name.removeprefix("stablehlo.") for name in RULES))
        refuse_to_legalize(op, f"with complex numbers there are only {names}")

    def of(self, value: SSAValue) -> Parts:
        """The parts of an operand."""
        return self._parts[value]

    # -- moves ---------------------------------------------------------------------------------

    def move(self, op: Operation) -> list[Parts]:
        """Do with both parts what the operation does with complex numbers."""
        real, imag = (self._clone(op, which) for which in ("real", "imag"))
        return [Parts(*pair) for pair in zip(real, imag, strict=True)]

    def _clone(self, op: Operation, which: str) -> Sequence[SSAValue]:
        operands = [
            getattr(self._parts[value], which) if value in self._parts else value
            for value in op.operands
        ]
        clone = type(op).create(
            operands=operands,
            result_types=[_real(r.type) if is_complex(r.type) else r.type for r in op.results],
            properties=op.properties,
            attributes=op.attributes,
            regions=[_real_body(region) for region in op.regions],
            location=op.location,
        )
        insert_before(op, clone)
        return clone.results

    def reduce(self, op: Operation) -> list[Parts]:
        """Sums of both parts."""
        found = combiners(op.regions[-1])
        if found is None or any(row.mnemonic != "add" for row in found):
            refuse_to_legalize(op, "of complex numbers there are only sums")
        return self.move(op)

    def product(self, op: Operation) -> list[Parts]:
        """A contraction or convolution: four of them, of the parts."""
        x, y = (self._parts[value] for value in op.operands)
        do = Arithmetic(Builder.before(op))

        def multiply(a: SSAValue, b: SSAValue) -> SSAValue:
            clone = type(op).create(
                operands=[a, b],
                result_types=[_real(op.results[0].type)],
                properties=op.properties,
                attributes=op.attributes,
                location=op.location,
            )
            insert_before(op, clone)
            return clone.results[0]

        real = do.apply("subtract", multiply(x.real, y.real), multiply(x.imag, y.imag))
        imag = do.apply("add", multiply(x.real, y.imag), multiply(x.imag, y.real))
        return [Parts(real, imag)]

    # -- making and taking apart ---------------------------------------------------------------

    def constant(self, op: Operation) -> list[Parts]:
        """The numbers are stored in pairs."""
        value = cast("Elements", op.properties["value"])
        type_ = _real(op.results[0].type)
        size = element_size(type_.get_element_type())
        data = value.data.data
        build = Builder.before(op)

        def create(first: int) -> SSAValue:
            half = b"".join(data[i : i + size] for i in range(first, len(data), 2 * size))
            return build.create_constant(elements_attr(type_, half), type_)

        return [Parts(create(0), create(size))]

    def complex(self, op: Operation) -> list[Parts]:
        """Two tensors as the parts of one."""
        real, imag = op.operands
        return [Parts(real, imag)]

    def real(self, op: Operation) -> list[SSAValue]:
        """The real part."""
        return [self._parts[op.operands[0]].real]

    def imag(self, op: Operation) -> list[SSAValue]:
        """The imaginary part."""
        return [self._parts[op.operands[0]].imag]

    def convert(self, op: Operation) -> list[Parts] | list[SSAValue]:
        """Other precision; real numbers get an imaginary part of 0, or lose theirs."""
        build, [operand], [result] = Builder.before(op), op.operands, op.results
        if not is_complex(result.type):
            element = cast("TensorType[Attribute]", result.type).element_type
            return [build.cast(self._parts[operand].real, element)]
        element = _real(result.type).get_element_type()
        if operand in self._parts:
            parts = self._parts[operand]
            return [Parts(build.cast(parts.real, element), build.cast(parts.imag, element))]
        real = build.cast(operand, element)
        return [Parts(real, build.create_splat(0, real.type))]

    def compare(self, op: Operation) -> list[SSAValue]:
        """Equal are numbers both of whose parts are."""
        do = Arithmetic(Builder.before(op))
        x, y = (self._parts[value] for value in op.operands)
        direction = cast("EnumAttr", op.properties["comparison_direction"]).data
        is_equal = direction == "EQ"
        name, join = ("eq", "logical_and") if is_equal else ("ne", "logical_or")
        if direction not in ("EQ", "NE"):
            refuse_to_legalize(op, "complex numbers are equal or not; they have no order")
        parts = do.compare(name, x.real, y.real), do.compare(name, x.imag, y.imag)
        type_ = TensorType(i1, value_shape(x.real))
        return [do.build.create(join, parts, type_)]

    def fft(self, op: Operation) -> list[Parts] | list[SSAValue]:
        """A Fourier transform."""
        fourier = Fourier(Arithmetic(Builder.before(op)))
        lengths = integers(op, "fft_length")
        kind = cast("EnumAttr", op.properties["fft_type"]).data
        [operand] = op.operands
        if kind == "RFFT":
            return [fourier.transform_real(operand, lengths)]
        if kind == "IRFFT":
            return [fourier.invert_to_real(self._parts[operand], lengths)]
        return [fourier.transform(self._parts[operand], lengths, inverse=kind == "IFFT")]


def _real_body(region: Region) -> Region:
    """The body of a sum, of parts."""
    block = region.block
    new = Block(arg_types=[_real(argument.type) for argument in block.args])
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, new.args, strict=True))
    for op in block.ops:
        clone = type(op).create(
            operands=[values[value] for value in op.operands],
            result_types=[_real(result.type) for result in op.results],
            properties=op.properties,
            attributes=op.attributes,
            location=op.location,
        )
        new.add_op(clone)
        values.update(zip(op.results, clone.results, strict=True))
    return Region(new)


_Rule = Callable[[_Expansion, "Operation"], "Sequence[Parts | SSAValue]"]


def _arithmetic(method: Callable[..., Parts | SSAValue]) -> _Rule:
    """The rule of an operation that `Arithmetic` has for pairs."""

    def rule(expansion: _Expansion, op: Operation) -> Sequence[Parts | SSAValue]:
        do = Arithmetic(Builder.before(op))
        return [method(do, *map(expansion.of, op.operands))]

    return rule


def _each(mnemonic: str) -> _Rule:
    def both(do: Arithmetic, *operands: Parts) -> Parts:
        return do.each(mnemonic, *operands)

    return _arithmetic(both)


_CARRIED = {
    "return": "results",
    **dict.fromkeys(("while", "case", "if"), "values in loops and branches"),
}
"""What operations hand on, whose types this pass does not change."""
_MOVES = (
    *("broadcast", "broadcast_in_dim", "concatenate", "dynamic_slice", "dynamic_update_slice"),
    *("gather", "optimization_barrier", "pad", "reduce_precision", "reshape", "reverse", "select"),
    *("slice", "transpose"),
)
RULES: dict[str, _Rule] = {
    **{f"stablehlo.{name}": _Expansion.move for name in _MOVES},
    **{f"stablehlo.{name}": _Expansion.product for name in ("dot", "dot_general", "convolution")},
    **{f"stablehlo.{name}": _Expansion.reduce for name in ("reduce", "reduce_window", "scatter")},
    "stablehlo.abs": _arithmetic(Arithmetic.absolute),
    "stablehlo.add": _each("add"),
    "stablehlo.compare": _Expansion.compare,
    "stablehlo.complex": _Expansion.complex,
    "stablehlo.constant": _Expansion.constant,
    "stablehlo.convert": _Expansion.convert,
    "stablehlo.cosine": _arithmetic(Arithmetic.cosine),
    "stablehlo.divide": _arithmetic(Arithmetic.divide),
    "stablehlo.exponential": _arithmetic(Arithmetic.exponential),
    "stablehlo.fft": _Expansion.fft,
    "stablehlo.imag": _Expansion.imag,
    "stablehlo.log": _arithmetic(Arithmetic.logarithm),
    "stablehlo.logistic": _arithmetic(Arithmetic.logistic),
    "stablehlo.multiply": _arithmetic(Arithmetic.multiply),
    "stablehlo.negate": _each("neg"),
    "stablehlo.power": _arithmetic(Arithmetic.power),
    "stablehlo.real": _Expansion.real,
    "stablehlo.sign": _arithmetic(Arithmetic.sign),
    "stablehlo.sine": _arithmetic(Arithmetic.sine),
    "stablehlo.sqrt": _arithmetic(Arithmetic.square_root),
    "stablehlo.subtract": _each("subtract"),
    "stablehlo.tanh": _arithmetic(Arithmetic.hyperbolic_tangent),
    "stablehlo.exponential_minus_one": _arithmetic(Arithmetic.exponential_minus_one),
    "stablehlo.log_plus_one": _arithmetic(Arithmetic.logarithm_plus_one),
    "stablehlo.rsqrt": _arithmetic(Arithmetic.reciprocal_root),
    "stablehlo.tan": _arithmetic(Arithmetic.tangent),
    "chlo.conj": _arithmetic(Arithmetic.conjugate),
    "chlo.cosh": _arithmetic(Arithmetic.hyperbolic_cosine),
    "chlo.sinh": _arithmetic(Arithmetic.hyperbolic_sine),
}
"""What becomes of each operation on complex numbers."""
