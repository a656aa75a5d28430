"""The builder of ttir operations, which passes, canonicalizations and frontends share.

    builder = Builder.before(op)
    replace(op, builder.reshape(builder.permute(op.operands[0], (1, 0)), (6,)))

Every method returns the result of what it creates. A method that would change nothing creates
nothing and returns its input.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    LocationAttr,
    StringAttr,
    TensorType,
    bf16,
    f32,
    i32,
)
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.arrays.array import Array, Number, Scalar, Shape, concatenate
from ttmlir.dialects import tt, ttir, ttnn
from ttmlir.dialects.definition.ods import SEGMENTS, DestinationStyleOp, segments_attr
from ttmlir.dialects.definition.table_ops import LateOnlyOp, ValueFormOp
from ttmlir.dialects.ttcore import ReduceTypeAttr
from ttmlir.dialects.ttnn.structure import DEVICE_OPERAND
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import (
    dtype_of,
    element_of,
    element_type,
    limits_of,
    tensor_like,
    tensor_of,
    value_shape,
)
from ttmlir.layout.enums import OperandConstraint, ReduceType
from ttmlir.mlir.attributes import ElementsType, elements_of
from ttmlir.mlir.core_prefix import was_read_with_tt
from ttmlir.optable import definition
from ttmlir.optable.late_forms import COMBINERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ttmlir.composites.complex_numbers import Complex
    from ttmlir.dialects.definition.table_ops import ParameterValue, TableOperation
    from ttmlir.optable.op_definition import OpDefinition

# --- Op builder -----------------------------------------------------------------------------------
# The base of all builders: where new operations go, and the location that they get.
#
# `Builder` makes ttir operations, `TTNNBuilder` those of ttnn; the builders of kernels add their
# operations in the same way.

OpT = TypeVar("OpT", bound=Operation)
DestinationOpT = TypeVar("DestinationOpT", bound="DestinationStyleOp")


@dataclass(frozen=True)
class Style:
    """How tensor operations are spelled."""

    destinations: bool = True
    """Results are written to operands that are made for them; else operations make them, and have
    the parameters of 2026."""


class Spelling(Enum):
    """The text of ttir, by its year."""

    EARLY = "2024"
    MIDDLE = "2025"
    LATE = "2026"

    @property
    def style(self) -> Style:
        """How operations are made in this spelling; those of 2025 get destinations later."""
        return Style(destinations=self is Spelling.EARLY)


class TTIRSpelling(Enum):
    """The year of the ttir that conversions from other dialects write."""

    AS_MODULE = "module"
    EARLY = "2024"
    MIDDLE = "2025"
    LATE = "2026"

    def for_module(self, module: Operation) -> Spelling:
        """The year itself, or that of a module: 2024 if its text names `tt`, else 2026."""
        if self is not TTIRSpelling.AS_MODULE:
            return Spelling(self.value)
        return Spelling.EARLY if was_read_with_tt(module) else Spelling.LATE


SPELLING_HELP = (
    "Write ttir as tt-mlir does since that year: 2024, 2025 or 2026; module: 2024 if the text names"
    " the dialect tt, else 2026"
)
"""What the option of passes does."""

_style: ContextVar[Style | None] = ContextVar("style", default=None)


def current_style() -> Style:
    """How builders spell operations now."""
    return _style.get() or Style()


@contextmanager
def use_style(style: Style) -> Generator[None]:
    """Let builders spell operations so."""
    token = _style.set(style)
    try:
        yield
    finally:
        _style.reset(token)


class OpBuilder:
    """Adds operations at the end of a block, or before one of its operations."""

    def __init__(
        self, block: Block, location: LocationAttr, *, before: Operation | None = None
    ) -> None:
        """Add to the end of `block`, or before an operation in it."""
        self.block = block
        self.location = location
        self.successor = before

    @classmethod
    def before(cls, op: Operation) -> Self:
        """A builder before `op`, whose location new operations get."""
        block = op.parent
        assert block is not None, "only operations in a block have neighbours"
        return cls(block, op.location, before=op)

    def properties_of(
        self, cls: type[TableOperation], parameters: Mapping[str, ParameterValue]
    ) -> dict[str, Attribute]:
        """The properties of an operation from its parameters; refuses numbers that do not fit."""
        with self.sizes_refused():
            return cls.parameter_properties(parameters)

    @contextmanager
    def sizes_refused(self) -> Generator[None]:
        """Refuse numbers that properties have no room for, which are a ValueError."""
        try:
            yield
        except ValueError as error:
            from ttmlir.mlir.reporting import LocatedError

            raise LocatedError(self.location, str(error)) from error

    def insert(self, op: OpT) -> OpT:
        """Put an operation there, and return it."""
        if self.successor is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.successor)
        return op

    def put(self, op: Operation) -> SSAValue:
        """Put an operation there, at the builder's location; its first result."""
        op.location = self.location
        return self.insert(op).results[0]


class DestinationBuilder(OpBuilder):
    """Makes the tensors that operations write their results to: nothing else does."""

    @property
    def style(self) -> Style:
        """How operations are spelled."""
        return current_style()

    def create_empty(self, type_: Attribute) -> SSAValue:
        """A new tensor whose elements are undefined."""
        raise NotImplementedError

    def create_destinations(self, types: Sequence[Attribute]) -> list[SSAValue]:
        """A destination for each result; none if operations make their results themselves."""
        if not self.style.destinations:
            return []
        return [self.create_empty(type_) for type_ in types]

    def create_op(
        self,
        cls: type[DestinationOpT],
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        properties: Mapping[str, Attribute] | None = None,
        *,
        inits: Sequence[SSAValue] | None = None,
        device: SSAValue | None = None,
    ) -> DestinationOpT:
        """A new operation in destination-passing style, with destinations unless it gets some."""
        if inits is None:
            inits = self.create_destinations(result_types)
        new = cls.dps(
            inputs,
            inits,
            properties,
            result_types=result_types,
            location=self.location,
            device=device,
        )
        return self.insert(new)


# --- Ttnn builder ---------------------------------------------------------------------------------
# The builder of ttnn operations.


def takes_device(cls: type[Operation]) -> bool:
    """True for operations whose last operand is the device that they run on."""
    if not issubclass(cls, ttnn.TTNNOp):
        return False
    operands = cls.SIGNATURE.operands
    return bool(operands) and operands[-1] is DEVICE_OPERAND


class TTNNBuilder(DestinationBuilder):
    """Creates ttnn operations at one place, whose tensors are on one device."""

    device: SSAValue
    """What `ttnn.get_device` returned."""

    @classmethod
    def on(cls, device: SSAValue, op: Operation) -> Self:
        """A builder before `op`."""
        builder = cls.before(op)
        builder.device = device
        return builder

    def create_empty(self, type_: Attribute, **properties: Attribute) -> SSAValue:
        """A tensor on the device whose elements are undefined; `properties` repeat its type."""
        new = ttnn.EmptyOp.make(self.device, type_, location=self.location)
        new.properties.update(properties)
        return self.insert(new).results[0]

    def create(
        self,
        mnemonic: str,
        inputs: Sequence[SSAValue],
        result_type: Attribute,
        *,
        output: SSAValue | None = None,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An operation by its mnemonic, whose definition names the parameters.

        It writes to `output` if that is given.
        """
        cls = cast("type[ttnn.TTNNTableOp]", ttnn.op_class(mnemonic))
        properties = self.properties_of(cls, parameters)
        new = self.create_op(
            cls,
            inputs,
            (result_type,),
            properties,
            inits=None if output is None else (output,),
            device=self.device if takes_device(cls) else None,
        )
        return new.results[0]


# --- Builder --------------------------------------------------------------------------------------


@cache
def _any_device_tile(operands: int) -> ArrayAttr[Attribute]:
    """The constraints of an operation that accepts tiled device layouts for all its operands."""
    return ArrayAttr([tt.OperandConstraintAttr.of(OperandConstraint.ANY_DEVICE_TILE)] * operands)


_CONSTRAINTS: dict[str, OperandConstraint] = {
    "dram": OperandConstraint.DRAM,
    "l1": OperandConstraint.L1,
    "tile": OperandConstraint.TILE,
    "row_major": OperandConstraint.SCALAR,
    "interleaved": OperandConstraint.INTERLEAVED,
    "height_sharded": OperandConstraint.HEIGHT_SHARDED,
    "width_sharded": OperandConstraint.WIDTH_SHARDED,
    "block_sharded": OperandConstraint.BLOCK_SHARDED,
}
"""What the words of custom kernels ask of a tensor."""


class Builder(DestinationBuilder):
    """Creates ttir operations at one place, with one location.

    They accept tiled device layouts for all their operands, as the reference's conversions ask
    for, unless a subclass says otherwise.
    """

    # -- any operation -------------------------------------------------------------------------

    def create(
        self,
        mnemonic: str,
        operands: Sequence[SSAValue],
        result_type: Attribute,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An operation of one result by its mnemonic, whose definition names the parameters.

        Tensors without a static shape are refused.
        """
        return self.create_several(mnemonic, operands, (result_type,), **parameters)[0]

    def create_several(
        self,
        mnemonic: str,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        **parameters: ParameterValue,
    ) -> Sequence[SSAValue]:
        """The results of an operation by its mnemonic, whose definition names the parameters."""
        for type_ in (*(value.type for value in operands), *result_types):
            self._check_static_shape(type_)
        cls = cast("type[TableOperation]", ttir.op_class(mnemonic))
        if not self.style.destinations and issubclass(cls, ValueFormOp | LateOnlyOp):
            return self._create_late(cls, operands, result_types, parameters)
        properties = self.properties_of(cls, parameters)
        if issubclass(cls, DestinationStyleOp):
            count = len(operands) + len(result_types) * self.style.destinations
            properties["operand_constraints"] = self.operand_constraints(count)
            return self.create_op(cls, operands, result_types, properties).results
        new = cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=self.location,
        )
        return self.insert(new).results

    def _create_late(
        self,
        cls: type[ValueFormOp | LateOnlyOp],
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        parameters: Mapping[str, ParameterValue],
    ) -> Sequence[SSAValue]:
        """The results of an operation in the form of 2026."""
        shapes = [value_shape(value) for value in operands]
        result = cast("TensorType[Attribute]", result_types[0]).get_shape() if result_types else ()
        with self.sizes_refused():
            properties = cls.late_properties(parameters, shapes, result)
        new = cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=self.location,
        )
        return self.insert(new).results

    def create_grouped(
        self,
        mnemonic: str,
        groups: Sequence[SSAValue | None],
        result_types: Sequence[Attribute],
        **parameters: ParameterValue,
    ) -> Sequence[SSAValue]:
        """The results of an operation of 2026 some of whose operands are optional."""
        operands = [value for value in groups if value is not None]
        results = self.create_several(mnemonic, operands, result_types, **parameters)
        sizes = segments_attr(tuple(int(value is not None) for value in groups))
        cast("Operation", results[0].owner).properties[SEGMENTS] = sizes
        return results

    def create_custom_kernel(
        self, config: str, operands: Sequence[SSAValue], result_types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """The call of a program of kernels whose text fits the operands and results.

        Each tensor is in the memory and the layout that the program finds it in.
        """
        from ttmlir.program import read_custom_kernel

        kernel = read_custom_kernel(config)
        constraints = [
            tt.OperandConstraintAttr(
                _CONSTRAINTS[each.memory]
                | _CONSTRAINTS[each.layout]
                | _CONSTRAINTS["interleaved" if each.shards is None else each.shards.layout]
            )
            for each in kernel.tensors
        ]
        properties: dict[str, Attribute] = {
            "config": StringAttr(config),
            "operand_constraints": ArrayAttr(constraints),
        }
        return self.create_op(ttir.CustomKernelOp, operands, result_types, properties).results

    def create_inferred(
        self, mnemonic: str, *operands: SSAValue, **parameters: ParameterValue
    ) -> SSAValue:
        """An operation with the elements of its first operand and the shape that its definition
        says."""
        rule = definition(mnemonic).result_shape
        assert rule is not None, "the definition has a rule for the shape"
        shape = rule(*map(value_shape, operands), **parameters)
        return self.create(mnemonic, operands, tensor_like(operands[0], shape), **parameters)

    def create_empty(self, type_: Attribute) -> SSAValue:
        """A tensor whose elements are undefined."""
        new = EmptyOp.create(result_types=(type_,), location=self.location)
        return self.insert(new).results[0]

    def _check_static_shape(self, type_: Attribute) -> None:
        if isinstance(type_, TensorType) and type_.has_static_shape():
            return
        assert self.successor is not None, "frontends give every tensor a static shape"
        refuse_to_legalize(
            self.successor, f"the shape of {type_} is not known; give every tensor a static shape"
        )

    def operand_constraints(self, operands: int) -> Attribute:
        """The layouts that an operation accepts for this number of operands."""
        return _any_device_tile(operands)

    # -- constants -----------------------------------------------------------------------------

    def create_constant(self, elements: Attribute, type_: Attribute) -> SSAValue:
        """A constant that holds an attribute."""
        new = ttir.ConstantOp.create(
            result_types=(type_,), properties={"value": elements}, location=self.location
        )
        return self.insert(new).results[0]

    def create_numbers(self, numbers: Sequence[float], type_: Attribute) -> SSAValue:
        """A constant of these elements in row-major order, or of one for all."""
        tensor = cast("ElementsType", type_)
        convert = float if isinstance(tensor.element_type, AnyFloat) else int
        return self.create_constant(elements_of(tensor, [*map(convert, numbers)]), type_)

    def create_splat(self, number: float, type_: Attribute) -> SSAValue:
        """A constant all of whose elements are a number."""
        return self.create_numbers([number], type_)

    def create_scalar(self, number: float, element: Attribute) -> SSAValue:
        """A constant without dimensions, which elementwise operations repeat as needed."""
        return self.create_splat(number, TensorType(element, ()))

    # -- types and layouts ---------------------------------------------------------------------

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The tensor with another element type."""
        if element_type(value) == element:
            return value
        return self.create("typecast", (value,), TensorType(element, value_shape(value)))

    def move_to_layout(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The tensor in the layout of another type."""
        return self.create_op(ttir.ToLayoutOp, (value,), (type_,)).results[0]

    # -- movement ------------------------------------------------------------------------------

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order under another shape."""
        shape = tuple(shape)
        if value_shape(value) == shape:
            return value
        return self.create("reshape", (value,), tensor_like(value, shape), shape=shape)

    def transpose(self, value: SSAValue, dim0: int, dim1: int) -> SSAValue:
        """The tensor with two dimensions exchanged."""
        extents = [*value_shape(value)]
        extents[dim0], extents[dim1] = extents[dim1], extents[dim0]
        type_ = tensor_like(value, extents)
        return self.create("transpose", (value,), type_, dim0=dim0, dim1=dim1)

    def permute(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """The tensor with its dimensions in another order, that of their numbers.

        An exchange of two dimensions is a `ttir.transpose`, any other order a `ttir.permute`, as
        every order is in 2026.
        """
        moved = [place for place, dim in enumerate(permutation) if place != dim]
        if not moved:
            return value
        if len(moved) == 2 and self.style.destinations:
            # In the reference's order: for two dimensions, the permutation itself.
            return self.transpose(value, moved[1], moved[0])
        extents = value_shape(value)
        type_ = tensor_like(value, [extents[dim] for dim in permutation])
        return self.create("permute", (value,), type_, permutation=tuple(permutation))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The tensor repeated along new dimensions in front and along extents of 1."""
        return array_in(self, value).broadcast(shape).value

    def slice(
        self,
        value: SSAValue,
        begins: Sequence[int],
        ends: Sequence[int],
        steps: Sequence[int] | None = None,
    ) -> SSAValue:
        """Every step-th element between two bounds of each dimension."""
        return array_in(self, value).slice(begins, ends, steps).value

    def slice_along(
        self, value: SSAValue, dim: int, begin: int, end: int, step: int = 1
    ) -> SSAValue:
        """Every step-th element between two bounds of one dimension."""
        return array_in(self, value).cut(dim, begin, end, step).value

    def concat(self, parts: Sequence[SSAValue], dim: int) -> SSAValue:
        """Tensors one after the other along a dimension; those without elements are left out."""
        carrier = TTIRCarrier(self)
        return concatenate([array_in(carrier, part) for part in parts], dim).value

    def pad(self, value: SSAValue, margins: Sequence[tuple[int, int]], fill: float) -> SSAValue:
        """The tensor with so many elements `fill` more on both sides; negative ones cut off."""
        return array_in(self, value).pad(margins, fill).value

    def scatter(
        self, operands: Sequence[SSAValue], dim: int, combine: str | None = None
    ) -> SSAValue:
        """The tensor, at places along a dimension, with elements of another one, as in `Array`.

        In 2026 one operation says how they are combined, and has a place for each element.
        """
        value, index, source = operands
        if self.style.destinations:
            mnemonic = f"scatter_{combine}" if combine else "scatter"
            return self.create(mnemonic, operands, value.type, dim=dim)
        kind = next(name for name, found in COMBINERS.items() if found == (combine or ""))
        how = ReduceTypeAttr(ReduceType.from_keyword(kind))
        operands = (value, self.broadcast(index, value_shape(source)), source)
        return self.create("scatter", operands, value.type, dim=dim, scatter_reduce_type=how)

    def dilate(self, value: SSAValue, dim: int, step: int, fill: float) -> SSAValue:
        """The tensor with `step - 1` elements `fill` between the elements along a dimension."""
        return array_in(self, value).dilate(dim, step, fill).value


# --- Arrays ---------------------------------------------------------------------------------------
# Arrays that are values of IR: each operation on them creates one of ttir.
#
#     x = array_in(Builder.before(op), op.operands[0])
#     replace(op, digamma(x.cast("f32")).cast(x.dtype).value)


class TTIRCarrier:
    """Creates operations of ttir with a builder."""

    holds_numbers = False

    def __init__(self, build: Builder) -> None:
        """Create them where the builder does."""
        self.build = build
        self._numbers: dict[tuple[str, bool, str], SSAValue] = {}
        self._constants: dict[int, tuple[Any, SSAValue]] = {}

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> Any:
        """The operation of a definition; a permutation of two dimensions is a transposition."""
        values = [
            self.number(each, len(shape)) if isinstance(each, Scalar) else self.value(each)
            for each in operands
        ]
        if definition.mnemonic == "permute":
            return self.build.permute(values[0], parameters["permutation"])
        if definition.mnemonic.startswith("scatter"):
            combine = definition.mnemonic.removeprefix("scatter").removeprefix("_")
            return self.build.scatter(values, parameters["dim"], combine)
        type_ = TensorType(element_of(dtype), shape)
        if len(definition.results) > 1:
            types = (type_, TensorType(i32, shape))
            return self.build.create_several(definition.mnemonic, values, types, **parameters)
        return self.build.create(definition.mnemonic, values, type_, **parameters)

    def value(self, array: Array) -> SSAValue:
        """The value of an array; numbers are a constant, which is made once for all its uses."""
        if not array.carrier.holds_numbers:
            return array.value
        found = self._constants.get(id(array.value))
        if found is None:
            # The numbers are kept, so that no others get their identity.
            return self.remember(array, self.constant(array.value, array.dtype))
        return found[1]

    def remember(self, numbers: Array, constant: SSAValue) -> SSAValue:
        """Let an array of numbers be a constant that there is."""
        self._constants[id(numbers.value)] = numbers.value, constant
        return constant

    def number(self, scalar: Scalar, rank: int) -> SSAValue:
        """A number as an operand of an operation whose result has that many dimensions."""
        return self.fill(scalar.number, (), scalar.dtype)

    def fill(self, number: Number, shape: Shape, dtype: str) -> SSAValue:
        """A constant of one number; those without dimensions are made once."""
        # 0.0 and -0.0, 1 and True, and NaN of both signs are different numbers.
        key = repr(number), number == number or math.copysign(1, number) > 0, dtype
        if not shape and key in self._numbers:
            return self._numbers[key]
        found = self.build.create_splat(number, TensorType(element_of(dtype), shape))
        if not shape:
            self._numbers[key] = found
        return found

    def constant(self, numbers: Any, dtype: str) -> SSAValue:
        """A constant of the numbers of an array of NumPy, rounded to floats or integers."""
        from ttmlir.arrays.carriers import host_dtype
        from ttmlir.mlir.attributes import elements_attr

        type_ = cast("ElementsType", TensorType(element_of(dtype), numbers.shape))
        elements = elements_attr(type_, numbers.astype(host_dtype(dtype)).tobytes())
        return self.build.create_constant(elements, type_)


def array_in(build: Builder | TTIRCarrier, value: SSAValue) -> Array:
    """A tensor as an array whose operations a builder creates."""
    carrier = build if isinstance(build, TTIRCarrier) else TTIRCarrier(build)
    return Array(carrier, value, value_shape(value), dtype_of(element_type(value)))


def complex_in(build: Builder, real: SSAValue, imag: SSAValue) -> Complex:
    """Two tensors as an array of complex numbers."""
    from ttmlir.composites.complex_numbers import Complex

    carrier = TTIRCarrier(build)
    return Complex(array_in(carrier, real), array_in(carrier, imag))


def build_function(
    build: Builder, function: Callable[..., Array], operands: Sequence[SSAValue], element: Attribute
) -> SSAValue:
    """What a function of arrays makes of tensors, which it gets in one floating point type.

    It computes in f64 if the element type of the result is that, else in f32.
    """
    carrier, dtype = TTIRCarrier(build), dtype_of(element)
    wide = "f64" if dtype == "f64" else "f32"
    found = function(*(array_in(carrier, value).cast(wide) for value in operands))
    return cast("SSAValue", found.cast(dtype).value)


# --- Integer products -----------------------------------------------------------------------------
# Products of matrices of bytes, in the floating point of the device's matrix unit.
#
# The matrix unit has no integers. bf16 holds each integer of 8 bits, and sums in f32 are exact
# while they stay within 2^24: products whose sums may become larger are computed in parts, which
# are added as integers.

EXACT_SUM = 1 << 24
"""Sums of integers in f32 are exact up to it."""


def multiply_byte_matrices(build: Builder, a: SSAValue, b: SSAValue) -> SSAValue:
    """The exact product, in i32, of two matrices of integers of up to 8 bits."""
    (rows, terms), columns = value_shape(a), value_shape(b)[1]
    length = terms_of_exact_sum(a, b)
    total: SSAValue | None = None
    for first in range(0, terms, length):
        end = min(terms, first + length)
        parts = (
            build.slice(a, (0, first), (rows, end)) if length < terms else a,
            build.slice(b, (first, 0), (end, columns)) if length < terms else b,
        )
        factors = [build.cast(part, bf16) for part in parts]
        part = build.create("matmul", factors, tensor_of(f32, (rows, columns)))
        part = build.cast(part, i32)
        total = part if total is None else build.create("add", (total, part), part.type)
    if total is None:
        return build.create_splat(0, tensor_of(i32, (rows, columns)))
    return total


def terms_of_exact_sum(a: SSAValue, b: SSAValue) -> int:
    """How many products of integers of two tensors can be added in f32 without rounding."""
    largest = [max(map(abs, limits_of(element_type(value)))) for value in (a, b)]
    return int(EXACT_SUM // (largest[0] * largest[1]))
