"""Arrays that are values of StableHLO, with loops: algorithms become operations of a block.

carrier = StableHLOCarrier(block, location)
x = carrier.wrap(value)
root = (x * x).sum(-1).sqrt().value
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import BoolAttr, DenseArrayBase, IntegerAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.arrays.array import Array, Number, Scalar, Shape
from ttmlir.dialects.stablehlo import OPERATIONS
from ttmlir.dialects.stablehlo.attrs import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    DotDimensionNumbersAttr,
)
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import dtype_of, element_of, element_type, shape_of, value_shape
from ttmlir.mlir.attributes import elements_of
from ttmlir.optable import named_in, named_on_truth

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr

    from ttmlir.mlir.attributes import ElementsType
    from ttmlir.optable.op_definition import OpDefinition

_FOLDS: dict[str, tuple[str, float, int]] = {
    "sum": ("add", 0.0, 0),
    "max": ("maximum", -math.inf, 0),
    "min": ("minimum", math.inf, 2**31 - 1),
}
"""What reductions repeat, and what they begin with, of real numbers and of places."""


@cache
def _classes() -> dict[str, type[Operation]]:
    return {cls.name: cls for cls in OPERATIONS}


@cache
def _names() -> dict[str, str]:
    """Names of elementwise operations by the mnemonics of their definitions."""
    named = [*named_on_truth("stablehlo").items(), *named_in("stablehlo").items()]
    return {
        "bitcast_convert": "bitcast_convert",
        "typecast": "convert",
        **{definition.mnemonic: name.removeprefix("stablehlo.") for name, definition in named},
    }


class StableHLOCarrier:
    """A block that operations are appended to, all at one location.

    The innermost block is the one of the loop whose iteration is being written.
    """

    holds_numbers = False

    def __init__(
        self, block: Block, location: LocationAttr | None, before: Operation | None = None
    ) -> None:
        """Append to a block, or insert in front of one of its operations."""
        self.block = block
        self.location = location
        self._before = before

    @classmethod
    def before(cls, op: Operation) -> StableHLOCarrier:
        """Insert in front of an operation, at its location."""
        assert op.parent is not None, "operations are in blocks"
        return cls(op.parent, op.location, before=op)

    def wrap(self, value: SSAValue) -> Array:
        """A tensor as an array."""
        return Array(self, value, value_shape(value), dtype_of(element_type(value)))

    # -- any operation -------------------------------------------------------------------------

    def make(
        self,
        mnemonic: str,
        operands: Sequence[SSAValue],
        types: Sequence[Attribute],
        regions: Sequence[Region] = (),
        **properties: Attribute,
    ) -> Sequence[SSAValue]:
        """The results of an operation of StableHLO."""
        new = _classes()[f"stablehlo.{mnemonic}"].create(
            operands=operands,
            result_types=types,
            properties=properties,
            regions=regions,
            location=self.location,
        )
        self.add(new)
        return new.results

    def make_one(
        self,
        mnemonic: str,
        operands: Sequence[SSAValue],
        type_: Attribute,
        **properties: Attribute,
    ) -> SSAValue:
        """The one result of an operation of StableHLO."""
        return self.make(mnemonic, operands, [type_], (), **properties)[0]

    def make_constant(self, type_: Attribute, numbers: Sequence[float]) -> SSAValue:
        """A constant of these numbers; one number is repeated."""
        elements = elements_of(cast("ElementsType", type_), numbers)
        return self.make("constant", (), [type_], value=elements)[0]

    def broadcast(
        self, value: SSAValue, shape: Sequence[int], dimensions: Sequence[int] | None = None
    ) -> SSAValue:
        """The tensor repeated to a shape; its dimensions are the last ones unless given."""
        own = value_shape(value)
        if own == tuple(shape):
            return value
        if dimensions is None:
            dimensions = range(len(shape) - len(own), len(shape))
        type_ = TensorType(element_type(value), shape)
        dims = i64_array(dimensions)
        return self.make_one("broadcast_in_dim", [value], type_, broadcast_dimensions=dims)

    def slice(
        self,
        value: SSAValue,
        type_: Attribute,
        starts: Sequence[int] | None = None,
        limits: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> SSAValue:
        """The elements between places of a tensor: by default, the first ones that the type has."""
        limits = shape_of(type_) if limits is None else limits
        return self.make_one(
            "slice",
            [value],
            type_,
            start_indices=i64_array(starts or [0] * len(limits)),
            limit_indices=i64_array(limits),
            strides=i64_array(strides or [1] * len(limits)),
        )

    def add(self, op: Operation) -> None:
        """Put an operation where the next one is created."""
        if self._before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self._before)

    def make_region(
        self, types: Sequence[Attribute], function: Callable[..., Sequence[Array]]
    ) -> Region:
        """A region of one block, with what a function of its arguments returns at its end."""
        block, outer, before = Block(arg_types=types), self.block, self._before
        self.block, self._before = block, None
        results = function(*map(self.wrap, block.args))
        self.make("return", [each.value for each in results], ())
        self.block, self._before = outer, before
        return Region(block)

    # -- as a carrier --------------------------------------------------------------------------

    def create(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        shape: Shape,
        dtype: str,
        parameters: dict[str, Any],
    ) -> SSAValue:
        """The operation of StableHLO that means a definition."""
        type_ = TensorType(element_of(dtype), shape)
        if definition.family.is_elementwise:
            return self._compute(definition, operands, type_)
        values = [self._value(each) for each in operands if isinstance(each, Array)]
        name, properties = definition.mnemonic, dict[str, Attribute]()
        match name:
            case "sum" | "max" | "min":
                return self._reduce(name, values[0], type_, parameters["dim_arg"][0])
            case "matmul" | "dot_general":
                name, properties = "dot_general", {"dot_dimension_numbers": _product(parameters)}
            case "arange":
                name = "iota"
                properties = {"iota_dimension": IntegerAttr(parameters["arange_dimension"], i64)}
            case "permute":
                name, properties = (
                    "transpose",
                    {"permutation": i64_array(parameters["permutation"])},
                )
            case "broadcast":
                name, properties = "broadcast_in_dim", {"broadcast_dimensions": _all(shape)}
            case "concat":
                name, properties = "concatenate", {"dimension": IntegerAttr(parameters["dim"], i64)}
            case "slice":
                names = {"begins": "start_indices", "ends": "limit_indices", "step": "strides"}
                properties = {names[key]: i64_array(value) for key, value in parameters.items()}
            case "reverse":
                properties = {"dimensions": i64_array(parameters["dimensions"])}
            case _:
                assert name == "reshape", f"an operation that algorithms have: {name}"
        return self.make(name, values, [type_], (), **properties)[0]

    def _compute(
        self,
        definition: OpDefinition,
        operands: Sequence[Array | Scalar],
        type_: TensorType[Attribute],
    ) -> SSAValue:
        shape = type_.get_shape()
        values = [
            self.fill(each.number, shape, each.dtype)
            if isinstance(each, Scalar)
            else self.broadcast(self._value(each), shape)
            for each in operands
        ]
        if definition.mnemonic == "reciprocal":
            one = self.fill(1, shape, dtype_of(type_.element_type))
            return self.make("divide", [one, *values], [type_])[0]
        if not definition.direction:
            return self.make(_names()[definition.mnemonic], values, [type_])[0]
        kind = "FLOAT" if "f" in operands[0].dtype else "SIGNED"
        return self.make(
            "compare",
            values,
            [type_],
            comparison_direction=ComparisonDirectionAttr(definition.direction),
            compare_type=ComparisonTypeAttr(kind),
        )[0]

    def _value(self, array: Array) -> SSAValue:
        """The value of an array; numbers are a constant."""
        if array.carrier.holds_numbers:
            return self.constant(array.value, array.dtype)
        return array.value

    def _reduce(
        self, mnemonic: str, value: SSAValue, type_: TensorType[Attribute], dim: int
    ) -> SSAValue:
        combiner, initial, initial_place = _FOLDS[mnemonic]
        element = type_.element_type
        scalar = TensorType(element, ())

        def combine(a: Array, b: Array) -> list[Array]:
            return [a.apply(combiner, b)]

        region = self.make_region([scalar, scalar], combine)
        shape = [extent for place, extent in enumerate(type_.get_shape()) if place != dim]
        first = self.fill(initial_place if element == i32 else initial, (), dtype_of(element))
        found = self.make(
            "reduce",
            [value, first],
            [TensorType(element, shape)],
            [region],
            dimensions=i64_array([dim]),
        )
        return self.make("reshape", found, [type_])[0]

    def fill(self, number: Number, shape: Shape, dtype: str) -> SSAValue:
        """A constant of one number."""
        if "f" not in dtype:
            number = int(number)
        return self.make_constant(TensorType(element_of(dtype), shape), [number])

    def constant(self, numbers: Any, dtype: str) -> SSAValue:
        """A constant of the numbers of an array of NumPy."""
        type_ = TensorType(element_of(dtype), numbers.shape)
        return self.make_constant(type_, numbers.ravel().tolist())

    # -- loops ---------------------------------------------------------------------------------

    def repeat(
        self,
        count: int,
        step: Callable[..., Sequence[Array]],
        state: Sequence[Array],
        goes_on: Callable[..., Array] | None,
    ) -> list[SSAValue]:
        """A loop whose state is what it carries, after the number of the iteration."""
        carried = [self.fill(0, (), "i32"), *(each.value for each in state)]
        types = [each.type for each in carried]

        def end(number: Array, *state: Array) -> list[Array]:
            is_below = number < count
            return [is_below if goes_on is None else is_below & goes_on(*state)]

        def iterate(number: Array, *state: Array) -> list[Array]:
            return [number + 1, *step(number, *state)]

        regions = [self.make_region(types, end), self.make_region(types, iterate)]
        return [*self.make("while", carried, types, regions)[1:]]

    def take(self, array: Array, dim: int, place: Array) -> SSAValue:
        """A dynamic slice."""
        shape = [1 if each == dim else n for each, n in enumerate(array.shape)]
        operands = [array.value, *self._places(array, dim, place)]
        type_ = TensorType(element_of(array.dtype), shape)
        return self.make("dynamic_slice", operands, [type_], slice_sizes=i64_array(shape))[0]

    def put(self, array: Array, dim: int, place: Array, part: Array) -> SSAValue:
        """A dynamic update."""
        operands = [array.value, part.value, *self._places(array, dim, place)]
        return self.make("dynamic_update_slice", operands, [array.value.type])[0]

    def _places(self, array: Array, dim: int, place: Array) -> list[SSAValue]:
        zero = self.fill(0, (), "i32")
        return [place.value if each == dim else zero for each in range(array.rank)]

    def sort_descending(self, keys: Array, other: Array, dim: int) -> SSAValue:
        """A stable sort of keys with what moves along."""
        operands = [keys.value, other.value]
        types = [TensorType(element_type(each), ()) for each in operands for _ in range(2)]

        def precedes(first: Array, second: Array, *_: Array) -> list[Array]:
            return [first > second]

        return self.make(
            "sort",
            operands,
            [each.type for each in operands],
            [self.make_region(types, precedes)],
            dimension=IntegerAttr(dim, i64),
            is_stable=BoolAttr.from_bool(True),
        )[1]


def replace_by(
    op: Operation,
    mnemonic: str,
    operands: Sequence[SSAValue],
    type_: Attribute,
    **properties: Attribute,
) -> None:
    """Replace an operation of one result by one of StableHLO."""
    carrier = StableHLOCarrier.before(op)
    replace(op, carrier.make_one(mnemonic, operands, type_, **properties))


def i64_array(numbers: Sequence[int]) -> DenseArrayBase:
    """A list of dimensions or extents, as a property."""
    return DenseArrayBase.from_list(i64, [*numbers])


def _all(shape: Shape) -> DenseArrayBase:
    return i64_array(range(len(shape)))


def _product(parameters: dict[str, Any]) -> DotDimensionNumbersAttr:
    """The dimensions of a product; without any, of batches of matrices."""
    return DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=parameters.get("batch_dims_lhs", (0,)),
        rhs_batching_dimensions=parameters.get("batch_dims_rhs", (0,)),
        lhs_contracting_dimensions=parameters.get("contract_dims_lhs", (2,)),
        rhs_contracting_dimensions=parameters.get("contract_dims_rhs", (1,)),
    )
