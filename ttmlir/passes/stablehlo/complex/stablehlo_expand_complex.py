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

Requires: static shapes; calls inlined (`inline`), loops and branches flattened
(`stablehlo-flatten-control-flow`).
Ensures: no complex tensors are left. A complex argument or result `z` of a function, loop or branch
is `z.real` and `z.imag`, one behind the other in the place where `z` was.
Options: none.
Not done here: operations that are not in the list of the message are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import Float32Type, FloatAttr, TensorType, i1
from xdsl.ir import Block, Region

from ttmlir.dialects.definition.dps import is_dps
from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse, refuse_to_legalize
from ttmlir.ir.tensor_types import value_shape
from ttmlir.layout.element_type import PARTS
from ttmlir.mlir.attributes.elements import (
    element_size,
    elements_attr,
    raw_bytes,
    splat_bytes,
)
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.complex.boundaries import split_boundaries
from ttmlir.passes.stablehlo.complex.fourier import Fourier
from ttmlir.passes.stablehlo.complex.parts import Arithmetic, Parts, is_complex, real_type
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_custom_call import refuse_routine
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_window import margins_of
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.definition.row_ops import RowOperation
    from ttmlir.dialects.stablehlo.enums import EnumAttr
    from ttmlir.mlir.attributes.elements import Elements


@dataclass(frozen=True)
class StableHLOExpandComplexPass(ModulePass):
    """Compute with pairs of real tensors instead of complex ones."""

    name = "stablehlo-expand-complex"
    title = "StableHLOExpandComplex"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Expand what every function computes, in the order of the text."""
        split_boundaries(module)
        for function in module.ops:
            for region in function.regions:
                for block in region.blocks:
                    _expand(block, function)


def _expand(block: Block, function: Operation) -> None:
    if any(is_complex(argument.type) for argument in block.args):
        refuse(
            function, "blocks with complex arguments are not supported, other than the first one"
        )
    expansion = _Expansion()
    expanded = {op for op in block.ops if expansion.expand(op)}
    if expanded:
        # Of many results only one part is used.
        erase_unused(op for op in block.ops if op in expanded or _only_computes(op))


def _only_computes(op: Operation) -> bool:
    dialect, _, name = op.name.partition(".")
    if dialect == "ttir":
        return name not in _CARRIED
    return name in (_MOVES if dialect == "stablehlo" else ("empty",))


class _Expansion:
    """The parts of the complex values of a block."""

    def __init__(self) -> None:
        self._parts: dict[SSAValue, Parts] = {}
        self._real: dict[SSAValue, SSAValue] = {}
        """Those whose imaginary part is 0, and what they were made of."""

    def expand(self, op: Operation) -> bool:
        """Replace an operation that takes or gives complex numbers; False for others."""
        types = [value.type for value in (*op.operands, *op.results)]
        if not any(map(is_complex, types)):
            return False
        if any(is_complex(value.type) and value not in self._parts for value in op.operands):
            refuse_to_legalize(op, "complex numbers of other blocks are not supported")
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
        if op.name.partition(".")[2] in _CARRIED:
            refuse_to_legalize(
                op,
                "complex values in loops and branches become pairs after "
                "stablehlo-flatten-control-flow, which is part of stablehlo-to-ttir-pipeline",
            )
        names = sorted({name.partition(".")[2] for name in RULES})
        refuse_to_legalize(op, f"with complex numbers there are only {', '.join(names)}")

    def of(self, value: SSAValue) -> Parts:
        """The parts of an operand."""
        return self._parts[value]

    # -- moves ---------------------------------------------------------------------------------

    def move(self, op: Operation) -> list[Parts]:
        """Do with both parts what the operation does with complex numbers."""
        real, imag = (_clone(op, self._operands(op, which)) for which in PARTS)
        return [Parts(*pair) for pair in zip(real, imag, strict=True)]

    def _operands(self, op: Operation, which: str) -> list[SSAValue]:
        """The real or the imaginary parts, and what has none."""
        return [
            getattr(self._parts[value], which) if value in self._parts else value
            for value in op.operands
        ]

    def pad(self, op: Operation) -> list[Parts]:
        """What is added is real."""
        [real] = _clone(op, self._operands(op, "real"))
        zero = {**op.properties, "value": FloatAttr(0.0, Float32Type())}
        [imag] = _clone(op, self._operands(op, "imag"), properties=zero)
        return [Parts(real, imag)]

    def empty(self, op: Operation) -> list[Parts]:
        """Tensors whose elements are undefined."""
        build, type_ = Builder.before(op), real_type(op.results[0].type)
        return [Parts(build.create_empty(type_), build.create_empty(type_))]

    def reduce(self, op: Operation) -> list[Parts]:
        """Sums of both parts, or products."""
        names = {row.mnemonic for row in combiners(op.regions[-1]) or ()}
        if names == {"add"}:
            return self.move(op)
        if names == {"multiply"} and len(op.results) == 1:
            if op.name == "stablehlo.reduce":
                return [self._product_of(op)]
            if op.name == "stablehlo.reduce_window":
                return [self._running_product(op)]
        refuse_to_legalize(op, "of complex numbers there are only sums and products")

    def _product_of(self, op: Operation) -> Parts:
        """The product over dimensions, and of the number that it begins with."""
        do = Arithmetic(Builder.before(op))
        x, first = (self._parts[value] for value in op.operands)
        for dim in integers(op, "dimensions"):
            x = do.product_of(x, dim)
        x = x.map(lambda part: do.build.reshape(part, value_shape(op.results[0])))
        return do.multiply(x, first)

    def _running_product(self, op: Operation) -> Parts:
        """The products of all elements in front of each, which is all there is of windows."""
        x = self._parts[op.operands[0]]
        shape = value_shape(x.real)
        window = integers(op, "window_dimensions")
        wide = [dim for dim, extent in enumerate(window) if extent > 1]
        padding = margins_of(op, len(shape))
        others = ("window_strides", "base_dilations", "window_dilations")
        is_plain = all(set(integers(op, name)) <= {1} for name in others if name in op.properties)
        do = Arithmetic(Builder.before(op))
        if not wide and is_plain and not any(map(any, padding)):
            return x
        if is_plain and len(wide) == 1 and window[wide[0]] == shape[wide[0]]:
            [dim] = wide
            margin = shape[dim] - 1
            rest = [pair for place, pair in enumerate(padding) if place != dim]
            if not any(map(any, rest)) and padding[dim] in ((margin, 0), (0, margin)):
                return do.running_product(x, dim, reverse=padding[dim] == (0, margin))
        refuse_to_legalize(
            op, "of products of complex numbers in windows there are only those of cumprod"
        )

    def product(self, op: Operation) -> list[Parts]:
        """A contraction or convolution: four of them, of the parts."""
        x, y, *rest = (self._parts[value] for value in op.operands)
        do = Arithmetic(Builder.before(op))

        def multiply(a: SSAValue, b: SSAValue) -> SSAValue:
            return _clone(op, [a, b, *(each.real for each in rest)])[0]

        real = do.apply("subtract", multiply(x.real, y.real), multiply(x.imag, y.imag))
        imag = do.apply("add", multiply(x.real, y.imag), multiply(x.imag, y.real))
        return [Parts(real, imag)]

    def product_of_dims(self, op: Operation) -> list[Parts]:
        """The product of `ttir.prod`."""
        rank = len(value_shape(op.operands[0]))
        given = cast("RowOperation", op).parameters().get("dim_arg")
        dims = range(rank) if given is None else cast("Sequence[int]", given)
        do = Arithmetic(Builder.before(op))
        x = self._parts[op.operands[0]]
        for dim in dims:
            x = do.product_of(x, dim % rank)
        shape = value_shape(op.results[0])
        return [x.map(lambda part: do.build.reshape(part, shape))]

    # -- making and taking apart ---------------------------------------------------------------

    def constant(self, op: Operation) -> list[Parts]:
        """The numbers are stored in pairs."""
        value = cast("Elements", op.properties["value"])
        type_ = real_type(op.results[0].type)
        size = element_size(type_.get_element_type())
        data = splat_bytes(value) or raw_bytes(value)
        pairs = np.frombuffer(data, np.dtype((np.void, size))).reshape(-1, 2)
        build = Builder.before(op)
        real, imag = (
            build.create_constant(elements_attr(type_, pairs[:, place].tobytes()), type_)
            for place in (0, 1)
        )
        return [Parts(real, imag)]

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
        build, operand, [result] = Builder.before(op), op.operands[0], op.results
        if not is_complex(result.type):
            element = cast("TensorType[Attribute]", result.type).element_type
            parts = self._parts[operand]
            if element == i1:
                return [Arithmetic(build).is_not_zero(parts)]
            return [build.cast(parts.real, element)]
        element = real_type(result.type).get_element_type()
        if operand in self._parts:
            parts = self._parts[operand]
            return [parts.map(lambda part: build.cast(part, element))]
        real = build.cast(operand, element)
        self._real[result] = real
        return [Parts(real, build.create_splat(0, real.type))]

    def compare(self, op: Operation) -> list[SSAValue]:
        """Whether numbers are equal."""
        direction = cast("EnumAttr", op.properties["comparison_direction"]).data
        if direction not in ("EQ", "NE"):
            refuse_to_legalize(op, "complex numbers are equal or not; they have no order")
        x, y = (self._parts[value] for value in op.operands)
        return [Arithmetic(Builder.before(op)).equal(x, y, direction.lower())]

    def fft(self, op: Operation) -> list[Parts] | list[SSAValue]:
        """A Fourier transform."""
        fourier = Fourier(Arithmetic(Builder.before(op)))
        lengths = integers(op, "fft_length")
        kind = cast("EnumAttr", op.properties["fft_type"]).data
        [operand] = op.operands
        if kind == "RFFT":
            return [fourier.transform_real(operand, len(lengths))]
        x = self._parts[operand]
        share = 1 / max(1, math.prod(lengths))
        if kind == "IRFFT":
            return [fourier.invert_to_real(x, len(lengths), lengths[-1], factor=share)]
        if kind == "IFFT":
            return [fourier.transform(x, len(lengths), inverse=True, factor=share)]
        return [fourier.transform(self._real.get(operand, x), len(lengths))]


def _clone(
    op: Operation,
    operands: Sequence[SSAValue],
    *,
    properties: Mapping[str, Attribute] | None = None,
) -> Sequence[SSAValue]:
    """The results of the same operation on real operands."""
    clone = type(op).create(
        operands=operands,
        result_types=[real_type(r.type) if is_complex(r.type) else r.type for r in op.results],
        properties=op.properties if properties is None else properties,
        attributes=op.attributes,
        regions=[_real_body(region) for region in op.regions],
        location=op.location,
    )
    insert_before(op, clone)
    return clone.results


def _real_body(region: Region) -> Region:
    """The body of a sum, of parts."""
    block = region.block
    new = Block(arg_types=[real_type(argument.type) for argument in block.args])
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, new.args, strict=True))
    for op in block.ops:
        clone = type(op).create(
            operands=[values[value] for value in op.operands],
            result_types=[real_type(result.type) for result in op.results],
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
        operands = op.inputs if is_dps(op) else op.operands
        return [method(do, *map(expansion.of, operands))]

    return rule


def _each(mnemonic: str) -> _Rule:
    def both(do: Arithmetic, *operands: Parts) -> Parts:
        return do.each(mnemonic, *operands)

    return _arithmetic(both)


_CARRIED = ("call", "case", "if", "while")
"""Operations that call functions, or contain what they repeat or choose."""
_MOVES = (
    *("broadcast", "broadcast_in_dim", "concatenate", "dynamic_slice", "dynamic_update_slice"),
    *("gather", "optimization_barrier", "pad", "reduce_precision", "reshape", "reverse", "select"),
    *("slice", "transpose"),
)
_TTIR_MOVES = (
    *("broadcast", "concat", "cumsum", "embedding", "gather", "mean", "permute", "repeat"),
    *("reshape", "reverse", "scatter", "scatter_add", "slice", "slice_dynamic", "slice_write"),
    *("squeeze", "sum", "transpose", "unsqueeze", "where"),
)
_FUNCTIONS: dict[str, _Rule] = {
    "stablehlo.abs ttir.abs": _arithmetic(Arithmetic.absolute),
    "stablehlo.add ttir.add": _each("add"),
    "stablehlo.cosine ttir.cos": _arithmetic(Arithmetic.cosine),
    "stablehlo.divide ttir.div": _arithmetic(Arithmetic.divide),
    "stablehlo.exponential ttir.exp": _arithmetic(Arithmetic.exponential),
    "stablehlo.exponential_minus_one ttir.expm1": _arithmetic(Arithmetic.exponential_minus_one),
    "stablehlo.log ttir.log": _arithmetic(Arithmetic.logarithm),
    "stablehlo.log_plus_one ttir.log1p": _arithmetic(Arithmetic.logarithm_plus_one),
    "stablehlo.logistic ttir.sigmoid": _arithmetic(Arithmetic.logistic),
    "stablehlo.multiply ttir.multiply": _arithmetic(Arithmetic.multiply),
    "stablehlo.negate ttir.neg": _each("neg"),
    "stablehlo.power ttir.pow": _arithmetic(Arithmetic.power),
    "stablehlo.rsqrt ttir.rsqrt": _arithmetic(Arithmetic.reciprocal_root),
    "stablehlo.sign ttir.sign": _arithmetic(Arithmetic.sign),
    "stablehlo.sine ttir.sin": _arithmetic(Arithmetic.sine),
    "stablehlo.sqrt ttir.sqrt": _arithmetic(Arithmetic.square_root),
    "stablehlo.subtract ttir.subtract": _each("subtract"),
    "stablehlo.tan chlo.tan ttir.tan": _arithmetic(Arithmetic.tangent),
    "stablehlo.tanh ttir.tanh": _arithmetic(Arithmetic.hyperbolic_tangent),
    "chlo.acos ttir.acos": _arithmetic(Arithmetic.arc_cosine),
    "chlo.acosh ttir.acosh": _arithmetic(Arithmetic.hyperbolic_arc_cosine),
    "chlo.asin ttir.asin": _arithmetic(Arithmetic.arc_sine),
    "chlo.asinh ttir.asinh": _arithmetic(Arithmetic.hyperbolic_arc_sine),
    "chlo.atan ttir.atan": _arithmetic(Arithmetic.arc_tangent),
    "chlo.atanh ttir.atanh": _arithmetic(Arithmetic.hyperbolic_arc_tangent),
    "chlo.conj": _arithmetic(Arithmetic.conjugate),
    "chlo.cosh ttir.cosh": _arithmetic(Arithmetic.hyperbolic_cosine),
    "chlo.sinh ttir.sinh": _arithmetic(Arithmetic.hyperbolic_sine),
    "chlo.square ttir.square": _arithmetic(Arithmetic.square),
    "ttir.exp2": _arithmetic(Arithmetic.exponential_of_two),
    "ttir.silu": _arithmetic(Arithmetic.sigmoid_linear_unit),
    "ttir.eq": _arithmetic(Arithmetic.equal),
    "ttir.isfinite": _arithmetic(Arithmetic.is_finite),
    "ttir.ne": _arithmetic(partial(Arithmetic.equal, direction="ne")),
    "ttir.reciprocal": _arithmetic(Arithmetic.reciprocal),
}
RULES: dict[str, _Rule] = {
    **{f"stablehlo.{name}": _Expansion.move for name in _MOVES},
    **{f"ttir.{name}": _Expansion.move for name in _TTIR_MOVES},
    **{f"stablehlo.{name}": _Expansion.product for name in ("dot", "dot_general", "convolution")},
    **{f"stablehlo.{name}": _Expansion.reduce for name in ("reduce", "reduce_window", "scatter")},
    **{name: rule for names, rule in _FUNCTIONS.items() for name in names.split()},
    "stablehlo.compare": _Expansion.compare,
    "stablehlo.complex": _Expansion.complex,
    "stablehlo.constant": _Expansion.constant,
    "stablehlo.convert": _Expansion.convert,
    "stablehlo.fft": _Expansion.fft,
    "stablehlo.imag": _Expansion.imag,
    "stablehlo.real": _Expansion.real,
    "tensor.empty": _Expansion.empty,
    "ttir.constant": _Expansion.constant,
    "ttir.matmul": _Expansion.product,
    "ttir.pad": _Expansion.pad,
    "ttir.prod": _Expansion.product_of_dims,
    "ttir.typecast": _Expansion.convert,
}
"""What becomes of each operation on complex numbers."""
