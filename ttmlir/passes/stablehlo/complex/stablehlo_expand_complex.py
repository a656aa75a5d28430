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
from typing import TYPE_CHECKING, NamedTuple, NoReturn, cast

import numpy as np
from xdsl.dialects.builtin import BoolAttr, Float32Type, FloatAttr, TensorType, i1
from xdsl.ir import Block, Region

from ttmlir.arrays.array import Array
from ttmlir.composites import complex_numbers, fourier
from ttmlir.composites.complex_numbers import Complex, multiply_along, multiply_up_to
from ttmlir.dialects.definition.ods import is_dps
from ttmlir.dialects.stablehlo.form import integers
from ttmlir.ir.builder import Builder, array_in, complex_in
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse, refuse_to_legalize
from ttmlir.ir.tensor_types import is_complex, real_type, value_shape
from ttmlir.layout.data_format import PARTS
from ttmlir.mlir.attributes import element_size, elements_attr, raw_bytes, splat_bytes
from ttmlir.optable import DEFINITIONS
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.complex.boundaries import split_boundaries
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import refuse_routine
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_window import margins_of
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.dialects.definition.table_ops import TableOperation
    from ttmlir.dialects.stablehlo.attrs import EnumAttr
    from ttmlir.mlir.attributes import Elements


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


class Parts(NamedTuple):
    """The tensors of both parts of a complex one."""

    real: SSAValue
    imag: SSAValue


def _parts_of(x: Complex) -> Parts:
    return Parts(x.real.value, x.imag.value)


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

    def of(self, op: Operation, value: SSAValue) -> Complex:
        """An operand, for operations in front of `op`."""
        return complex_in(Builder.before(op), *self._parts[value])

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

    def sort(self, op: Operation) -> list[Parts | SSAValue]:
        """Both parts are operands, and the body compares those of two numbers."""
        operands = [part for value in op.operands for part in self._parts.get(value, (value,))]
        ordered = type(op).create(
            operands=operands,
            result_types=[value.type for value in operands],
            properties=op.properties,
            attributes=op.attributes,
            regions=[_body_of_parts(op)],
            location=op.location,
        )
        insert_before(op, ordered)
        results = iter(ordered.results)
        return [
            Parts(next(results), next(results)) if value in self._parts else next(results)
            for value in op.operands
        ]

    def reduce(self, op: Operation) -> list[Parts]:
        """Sums of both parts, or products."""
        names = {definition.mnemonic for definition in combiners(op.regions[-1]) or ()}
        body = op.regions[-1].block
        end = cast("Operation", body.last_op)
        takes_one = body.first_op is end and end.operands[0].owner is body
        if names == {"add"} or (op.name == "stablehlo.scatter" and takes_one):
            return self.move(op)
        if names == {"multiply"} and len(op.results) == 1:
            if op.name == "stablehlo.reduce":
                return [self._product_of(op)]
            if op.name == "stablehlo.reduce_window":
                return [self._running_product(op)]
            return [self._scattered_product(op)]
        refuse_to_legalize(op, "of complex numbers there are only sums and products")

    def _product_of(self, op: Operation) -> Parts:
        """The product over dimensions, and of the number that it begins with."""
        x, first = (self.of(op, value) for value in op.operands)
        for dim in integers(op, "dimensions"):
            x = multiply_along(x, dim)
        shape = value_shape(op.results[0])
        return _parts_of(x.map(lambda part: part.reshape(shape)) * first)

    def _scattered_product(self, op: Operation) -> Parts:
        """The product with what is scattered to places that differ, and with 1 elsewhere."""
        if op.properties.get("unique_indices") != BoolAttr.from_bool(True):
            refuse_to_legalize(
                op,
                "products of complex numbers are scattered to different places alone, which "
                "unique_indices=True says of indices",
            )
        x, (_, indices, updates) = self.of(op, op.operands[0]), op.operands
        build = Builder.before(op)

        def scatter(number: float, part: SSAValue) -> Array:
            operands = [x.real.fill(number).value, indices, part]
            body = _last_body(op.regions[-1])
            return array_in(build, _clone(op, operands, regions=[body])[0])

        pairs = zip((1.0, 0.0), self._parts[updates], strict=True)
        factors = [scatter(*pair) for pair in pairs]
        return _parts_of(x * Complex(*factors))

    def _running_product(self, op: Operation) -> Parts:
        """The products of all elements in front of each, which is all there is of windows."""
        x = self._parts[op.operands[0]]
        shape = value_shape(x.real)
        window = integers(op, "window_dimensions")
        wide = [dim for dim, extent in enumerate(window) if extent > 1]
        padding = margins_of(op, len(shape))
        others = ("window_strides", "base_dilations", "window_dilations")
        is_plain = all(set(integers(op, name)) <= {1} for name in others if name in op.properties)
        if not wide and is_plain and not any(map(any, padding)):
            return x
        if is_plain and len(wide) == 1 and window[wide[0]] == shape[wide[0]]:
            [dim] = wide
            margin = shape[dim] - 1
            rest = [pair for place, pair in enumerate(padding) if place != dim]
            if not any(map(any, rest)) and padding[dim] in ((margin, 0), (0, margin)):
                whole = self.of(op, op.operands[0])
                return _parts_of(multiply_up_to(whole, dim, reverse=padding[dim] == (0, margin)))
        refuse_to_legalize(
            op, "of products of complex numbers in windows there are only those of cumprod"
        )

    def product(self, op: Operation) -> list[Parts]:
        """A contraction or convolution: four of them, of the parts."""
        x, y, *rest = (self._parts[value] for value in op.operands)
        build = Builder.before(op)

        def multiply(a: SSAValue, b: SSAValue) -> Array:
            return array_in(build, _clone(op, [a, b, *(each.real for each in rest)])[0])

        real = multiply(x.real, y.real) - multiply(x.imag, y.imag)
        imag = multiply(x.real, y.imag) + multiply(x.imag, y.real)
        return [Parts(real.value, imag.value)]

    def product_of_dims(self, op: Operation) -> list[Parts]:
        """The product of `ttir.prod`."""
        rank = len(value_shape(op.operands[0]))
        given = cast("TableOperation", op).parameters().get("dim_arg")
        dims = range(rank) if given is None else cast("Sequence[int]", given)
        x = self.of(op, op.operands[0])
        for dim in dims:
            x = multiply_along(x, dim % rank)
        shape = value_shape(op.results[0])
        return [_parts_of(x.map(lambda part: part.reshape(shape)))]

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

    def iota(self, op: Operation) -> list[Parts]:
        """The real numbers from 0 on."""
        [real] = _clone(op, ())
        return [Parts(real, Builder.before(op).create_splat(0, real.type))]

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
        """Other precision; real numbers get an imaginary part of 0, or lose theirs.

        Truth of `ttir.typecast` is torch's, which looks at both parts; `stablehlo.convert` is
        specified to look at the real part alone.
        """
        build, operand, [result] = Builder.before(op), op.operands[0], op.results
        if not is_complex(result.type):
            element = cast("TensorType[Attribute]", result.type).element_type
            parts = self._parts[operand]
            if element == i1 and op.name == "ttir.typecast":
                return [complex_numbers.is_not_zero(self.of(op, operand)).value]
            return [build.cast(parts.real, element)]
        element = real_type(result.type).get_element_type()
        if operand in self._parts:
            parts = self._parts[operand]
            return [Parts(*(build.cast(part, element) for part in parts))]
        real = build.cast(operand, element)
        self._real[result] = real
        return [Parts(real, build.create_splat(0, real.type))]

    def compare(self, op: Operation) -> list[SSAValue]:
        """Whether numbers are equal."""
        direction = cast("EnumAttr", op.properties["comparison_direction"]).data
        if direction not in ("EQ", "NE"):
            refuse_to_legalize(op, "complex numbers are equal or not; they have no order")
        x, y = (self.of(op, value) for value in op.operands)
        compare = complex_numbers.FUNCTIONS[direction.lower()]
        return [cast("Array", compare(x, y)).value]

    def fft(self, op: Operation) -> list[Parts] | list[SSAValue]:
        """A Fourier transform."""
        [operand] = op.operands
        real = self._real.get(operand, operand)
        is_pair = operand in self._parts
        if is_pair and (operand not in self._real or _fft_kind(op) != "FFT"):
            found = transform(op, self.of(op, operand))
        else:
            found = transform(op, array_in(Builder.before(op), real))
        return [_parts_of(found) if isinstance(found, Complex) else found.value]


def _fft_kind(op: Operation) -> str:
    return cast("EnumAttr", op.properties["fft_type"]).data


def transform(op: Operation, x: Complex | Array) -> Complex | Array:
    """What a `stablehlo.fft` makes of numbers."""
    lengths, kind = integers(op, "fft_length"), _fft_kind(op)
    share = 1 / max(1, math.prod(lengths))
    if kind == "RFFT":
        return fourier.transform_real(cast("Array", x), len(lengths))
    if kind == "IRFFT":
        spectrum = cast("Complex", x)
        return fourier.invert_to_real(spectrum, len(lengths), lengths[-1], factor=share)
    if kind == "IFFT":
        return fourier.transform(x, len(lengths), inverse=True, factor=share)
    return fourier.transform(x, len(lengths))


def _clone(
    op: Operation,
    operands: Sequence[SSAValue],
    *,
    properties: Mapping[str, Attribute] | None = None,
    regions: Sequence[Region] | None = None,
) -> Sequence[SSAValue]:
    """The results of the same operation on real operands."""
    clone = type(op).create(
        operands=operands,
        result_types=[real_type(r.type) if is_complex(r.type) else r.type for r in op.results],
        properties=op.properties if properties is None else properties,
        attributes=op.attributes,
        regions=[_real_body(region) for region in op.regions] if regions is None else regions,
        location=op.location,
    )
    insert_before(op, clone)
    return clone.results


def _last_body(region: Region) -> Region:
    """A body that returns its last argument, a part of that of the region."""
    block = Block(arg_types=[real_type(argument.type) for argument in region.block.args])
    end = cast("Operation", region.block.last_op)
    block.add_op(type(end).create(operands=[block.args[-1]], location=end.location))
    return Region(block)


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


def _body_of_parts(sort: Operation) -> Region:
    """The body of a sort, which takes two numbers of each operand, as one of their parts."""
    block, new = sort.regions[0].block, Block()
    values: dict[SSAValue, SSAValue] = {}
    numbers: dict[SSAValue, Parts] = {}
    for pair in zip(block.args[::2], block.args[1::2], strict=True):
        if is_complex(pair[0].type):
            part = real_type(pair[0].type)
            real, imag = ([new.insert_arg(part, len(new.args)) for _ in pair] for _ in PARTS)
            numbers.update(zip(pair, map(Parts, real, imag), strict=True))
        else:
            values.update((each, new.insert_arg(each.type, len(new.args))) for each in pair)
    for op in block.ops:
        parts = numbers.get(op.operands[0]) if op.operands else None
        if parts is not None and op.name in ("stablehlo.real", "stablehlo.imag"):
            values[op.results[0]] = parts.real if op.name == "stablehlo.real" else parts.imag
        elif any(is_complex(value.type) for each in op.walk() for value in each.operands):
            refuse_to_legalize(sort, "complex numbers are put in order by their parts alone")
        else:
            new.add_op(op.clone(values))
    return Region(new)


_Rule = Callable[[_Expansion, "Operation"], "Sequence[Parts | SSAValue]"]


def _function(function: Callable[..., Complex | Array]) -> _Rule:
    """The rule of a function of complex numbers."""

    def rule(expansion: _Expansion, op: Operation) -> Sequence[Parts | SSAValue]:
        operands = op.inputs if is_dps(op) else op.operands
        found = function(*(expansion.of(op, each) for each in operands))
        return [_parts_of(found) if isinstance(found, Complex) else found.value]

    return rule


_CARRIED = ("call", "case", "if", "while")
"""Operations that call functions, or contain what they repeat or choose."""
_MOVES = (
    *("all_gather", "all_to_all", "collective_broadcast", "collective_permute"),
    *("broadcast", "broadcast_in_dim", "concatenate", "dynamic_slice", "dynamic_update_slice"),
    *("gather", "optimization_barrier", "pad", "reduce_precision", "reshape", "reverse", "select"),
    *("slice", "transpose"),
)
_SUMS = ("all_reduce", "reduce", "reduce_scatter", "reduce_window", "scatter")
_TTIR_MOVES = (
    *("broadcast", "concat", "cumsum", "embedding", "gather", "mean", "mesh_shard", "permute"),
    *(
        "repeat",
        "reshape",
        "reverse",
        "scatter",
        "scatter_add",
        "slice",
        "slice_dynamic",
        "slice_write",
    ),
    *("squeeze", "sum", "transpose", "unsqueeze", "where"),
)
_FUNCTIONS: dict[str, _Rule] = {
    name: _function(function)
    for mnemonic, function in complex_numbers.FUNCTIONS.items()
    for name in (f"ttir.{mnemonic}", *DEFINITIONS[mnemonic].aliases)
    if name.startswith(("ttir.", "stablehlo.", "chlo."))
}
RULES: dict[str, _Rule] = {
    **{f"stablehlo.{name}": _Expansion.move for name in _MOVES},
    **{f"ttir.{name}": _Expansion.move for name in _TTIR_MOVES},
    **{f"stablehlo.{name}": _Expansion.product for name in ("dot", "dot_general", "convolution")},
    **{f"stablehlo.{name}": _Expansion.reduce for name in _SUMS},
    **_FUNCTIONS,
    "chlo.conj": _function(Complex.conjugate),
    "stablehlo.compare": _Expansion.compare,
    "stablehlo.complex": _Expansion.complex,
    "stablehlo.constant": _Expansion.constant,
    "stablehlo.convert": _Expansion.convert,
    "stablehlo.fft": _Expansion.fft,
    "stablehlo.imag": _Expansion.imag,
    "stablehlo.iota": _Expansion.iota,
    "stablehlo.real": _Expansion.real,
    "stablehlo.sort": _Expansion.sort,
    "tensor.empty": _Expansion.empty,
    "ttir.constant": _Expansion.constant,
    "ttir.matmul": _Expansion.product,
    "ttir.pad": _Expansion.pad,
    "ttir.prod": _Expansion.product_of_dims,
    "ttir.typecast": _Expansion.convert,
}
"""What becomes of each operation on complex numbers."""
