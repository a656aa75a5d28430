"""Algorithms on tensors as Python writes them: operators and calls create operations of StableHLO.

    body = Body(block, location)
    root = (x * x).sum(-1).sqrt()

Operands broadcast as in NumPy, and numbers of Python take the type of the tensor beside them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    BoolAttr,
    DenseArrayBase,
    Float64Type,
    IntegerAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects.stablehlo import OPERATIONS
from ttmlir.dialects.stablehlo.attrs import DotDimensionNumbersAttr
from ttmlir.dialects.stablehlo.enums import ComparisonDirectionAttr, ComparisonTypeAttr
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes.elements import elements_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr

    from ttmlir.mlir.attributes.elements import ElementsType

Shape = tuple[int, ...]


@cache
def _classes() -> dict[str, type[Operation]]:
    return {cls.name: cls for cls in OPERATIONS}


class Body:
    """A block that operations are appended to, all at one location.

    The innermost block is the one of the loop whose iteration is being written.
    """

    def __init__(
        self, block: Block, location: LocationAttr | None, before: Operation | None = None
    ) -> None:
        """Append to a block, or insert in front of one of its operations."""
        self.block = block
        self.location = location
        self._before = before

    def create(
        self,
        mnemonic: str,
        operands: Sequence[Tensor],
        types: Sequence[Attribute],
        regions: Sequence[Region] = (),
        **properties: Attribute,
    ) -> list[Tensor]:
        """The results of an operation of StableHLO."""
        new = _classes()[f"stablehlo.{mnemonic}"].create(
            operands=[each.value for each in operands],
            result_types=types,
            properties=properties,
            regions=regions,
            location=self.location,
        )
        self.add(new)
        return [Tensor(self, result) for result in new.results]

    def add(self, op: Operation) -> None:
        """Put an operation where the next one is created."""
        if self._before is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self._before)

    def fill(self, number: float, shape: Sequence[int], element: Attribute) -> Tensor:
        """A tensor of one number."""
        type_ = cast("ElementsType", TensorType(element, shape))
        if isinstance(number, float) and element in (i1, i32):
            number = int(number)
        [found] = self.create("constant", (), [type_], value=elements_of(type_, [number]))
        return found

    def count(self, shape: Sequence[int], dim: int, element: Attribute = i32) -> Tensor:
        """The number of each element along a dimension."""
        dim %= len(shape)
        type_ = TensorType(element, shape)
        [found] = self.create("iota", (), [type_], iota_dimension=IntegerAttr(dim, i64))
        return found

    def concatenate(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        """Tensors one after the other; those without elements are left out."""
        dim %= len(parts[0].shape)
        parts = [part for part in parts if part.shape[dim]]
        if len(parts) == 1:
            return parts[0]
        shape = [*parts[0].shape]
        shape[dim] = sum(part.shape[dim] for part in parts)
        type_ = TensorType(parts[0].element, shape)
        [found] = self.create("concatenate", parts, [type_], dimension=IntegerAttr(dim, i64))
        return found

    def repeat(
        self,
        count: int,
        step: Callable[..., Sequence[Tensor]],
        *state: Tensor,
        goes_on: Callable[..., Tensor] | None = None,
    ) -> list[Tensor]:
        """The state after `count` steps, `state = step(number, *state)`.

        With `goes_on`, a condition on the state, perhaps after fewer.
        """
        start = self.fill(0, (), i32)
        carried = [start, *state]
        types = [each.value.type for each in carried]

        def end(number: Tensor, *state: Tensor) -> list[Tensor]:
            is_below = number.compare("LT", count)
            return [is_below if goes_on is None else is_below & goes_on(*state)]

        def turn(number: Tensor, *state: Tensor) -> list[Tensor]:
            return [number + 1, *step(number, *state)]

        regions = [self.make_region(types, end), self.make_region(types, turn)]
        return self.create("while", carried, types, regions)[1:]

    def sort_descending(self, keys: Tensor, other: Tensor, dim: int) -> Tensor:
        """A tensor in the order of keys of its shape, the largest first."""
        operands = [keys, other]
        types = [each.value.type for each in operands]
        elements = [TensorType(each.element, ()) for each in operands for _ in range(2)]

        def precedes(first: Tensor, second: Tensor, *_: Tensor) -> list[Tensor]:
            return [first.compare("GT", second)]

        region = self.make_region(elements, precedes)
        results = self.create(
            "sort",
            operands,
            types,
            [region],
            dimension=IntegerAttr(dim % len(keys.shape), i64),
            is_stable=BoolAttr.from_bool(True),
        )
        return results[1]

    def make_region(
        self, types: Sequence[Attribute], function: Callable[..., Sequence[Tensor]]
    ) -> Region:
        """A region of one block, with what a function of its arguments returns at its end."""
        block, outer, before = Block(arg_types=types), self.block, self._before
        self.block, self._before = block, None
        results = function(*(Tensor(self, argument) for argument in block.args))
        self.create("return", results, ())
        self.block, self._before = outer, before
        return Region(block)


class Tensor:
    """A value in a body; its operators create operations there."""

    def __init__(self, body: Body, value: SSAValue) -> None:
        """Wrap a value."""
        self.body = body
        self.value = value

    @property
    def shape(self) -> Shape:
        """The extents."""
        return value_shape(self.value)

    @property
    def element(self) -> Attribute:
        """The element type."""
        return element_type(self.value)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next number; of short types that of the numbers kept."""
        names = {"f16": 2.0**-10, "bf16": 2.0**-7}
        return (
            2.0**-52
            if isinstance(self.element, Float64Type)
            else names.get(str(self.element), 2.0**-23)
        )

    # -- elements ------------------------------------------------------------------------------

    def fill(self, number: float) -> Tensor:
        """A tensor of one number, like this one."""
        return self.body.fill(number, self.shape, self.element)

    def apply(self, mnemonic: str, *others: Tensor | float) -> Tensor:
        """An elementwise operation of this and others."""
        tensors = _broadcast(self, others)
        [found] = self.body.create(mnemonic, tensors, [tensors[0].value.type])
        return found

    def compare(self, direction: str, other: Tensor | float) -> Tensor:
        """Truth of `EQ`, `NE`, `LT`, `LE`, `GT` or `GE`."""
        tensors = _broadcast(self, [other])
        kind = "SIGNED" if self.element == i32 else "FLOAT"
        [found] = self.body.create(
            "compare",
            tensors,
            [TensorType(i1, tensors[0].shape)],
            comparison_direction=ComparisonDirectionAttr(direction),
            compare_type=ComparisonTypeAttr(kind),
        )
        return found

    def where(self, yes: Tensor | float, no: Tensor | float) -> Tensor:
        """Elements of `yes` where this is true, else of `no`; one of them is a tensor."""
        like = yes if isinstance(yes, Tensor) else no
        assert isinstance(like, Tensor), "one of them is a tensor"
        tensors = _broadcast(like, [yes, no])[1:]
        shape = _common(self.shape, tensors[0].shape)
        operands = [each.broadcast(shape) for each in (self, *tensors)]
        [found] = self.body.create("select", operands, [operands[1].value.type])
        return found

    def cast(self, element: Attribute) -> Tensor:
        """Numbers of another type."""
        if element == self.element:
            return self
        [found] = self.body.create("convert", [self], [TensorType(element, self.shape)])
        return found

    def __add__(self, other: Tensor | float) -> Tensor:
        """The sum."""
        return self.apply("add", other)

    def __sub__(self, other: Tensor | float) -> Tensor:
        """The difference."""
        return self.apply("subtract", other)

    def __mul__(self, other: Tensor | float) -> Tensor:
        """The product of elements."""
        return self.apply("multiply", other)

    def __truediv__(self, other: Tensor | float) -> Tensor:
        """The quotient."""
        return self.apply("divide", other)

    def __neg__(self) -> Tensor:
        """The opposite."""
        return self.apply("negate")

    def __and__(self, other: Tensor) -> Tensor:
        """Both are true."""
        return self.apply("and", other)

    def __or__(self, other: Tensor) -> Tensor:
        """One is true."""
        return self.apply("or", other)

    def sqrt(self) -> Tensor:
        """The square root."""
        return self.apply("sqrt")

    def abs(self) -> Tensor:
        """The size."""
        return self.apply("abs")

    def maximum(self, other: Tensor | float) -> Tensor:
        """The larger one."""
        return self.apply("maximum", other)

    def minimum(self, other: Tensor | float) -> Tensor:
        """The smaller one."""
        return self.apply("minimum", other)

    # -- sums and products ---------------------------------------------------------------------

    def sum(self, dim: int) -> Tensor:
        """Sums along a dimension, which stays with an extent of 1."""
        return self._fold("add", 0, dim)

    def max(self, dim: int) -> Tensor:
        """The largest elements along a dimension, which stays with an extent of 1."""
        return self._fold("maximum", 0 if self.element == i32 else -math.inf, dim)

    def min(self, dim: int) -> Tensor:
        """The smallest elements along a dimension, which stays with an extent of 1."""
        return self._fold("minimum", 2**31 - 1 if self.element == i32 else math.inf, dim)

    def _fold(self, mnemonic: str, initial: float, dim: int) -> Tensor:
        dim %= len(self.shape)
        scalar = TensorType(self.element, ())

        def combine(a: Tensor, b: Tensor) -> list[Tensor]:
            return [a.apply(mnemonic, b)]

        region = self.body.make_region([scalar, scalar], combine)
        shape = [extent for place, extent in enumerate(self.shape) if place != dim]
        [found] = self.body.create(
            "reduce",
            [self, self.body.fill(initial, (), self.element)],
            [TensorType(self.element, shape)],
            [region],
            dimensions=_dims([dim]),
        )
        return found.reshape([1 if place == dim else n for place, n in enumerate(self.shape)])

    def __matmul__(self, other: Tensor) -> Tensor:
        """The products of batches of matrices."""
        return _product(self, other, 2, 1)

    def times_transposed(self, other: Tensor) -> Tensor:
        """The products with the transposed matrices of another batch."""
        return _product(self, other, 2, 2)

    def transposed_times(self, other: Tensor) -> Tensor:
        """The products of the transposed matrices with another batch."""
        return _product(self, other, 1, 1)

    # -- movement ------------------------------------------------------------------------------

    def reshape(self, shape: Sequence[int]) -> Tensor:
        """The same elements in another shape."""
        if tuple(shape) == self.shape:
            return self
        [found] = self.body.create("reshape", [self], [TensorType(self.element, shape)])
        return found

    def transpose(self) -> Tensor:
        """Rows and columns exchanged."""
        rank = len(self.shape)
        return self.permute([*range(rank - 2), rank - 1, rank - 2])

    def permute(self, order: Sequence[int]) -> Tensor:
        """The dimensions in another order."""
        if [*order] == [*range(len(self.shape))]:
            return self
        type_ = TensorType(self.element, [self.shape[dim] for dim in order])
        [found] = self.body.create("transpose", [self], [type_], permutation=_dims(order))
        return found

    def broadcast(self, shape: Sequence[int]) -> Tensor:
        """Repeated to a shape whose last dimensions are its own."""
        if tuple(shape) == self.shape:
            return self
        dims = range(len(shape) - len(self.shape), len(shape))
        type_ = TensorType(self.element, shape)
        [found] = self.body.create(
            "broadcast_in_dim", [self], [type_], broadcast_dimensions=_dims(dims)
        )
        return found

    def cut(self, dim: int, begin: int, end: int) -> Tensor:
        """The elements from one place to another along a dimension."""
        dim %= len(self.shape)
        if (begin, end) == (0, self.shape[dim]):
            return self
        begins, ends = [0] * len(self.shape), [*self.shape]
        begins[dim], ends[dim] = begin, end
        shape = [last - first for first, last in zip(begins, ends, strict=True)]
        [found] = self.body.create(
            "slice",
            [self],
            [TensorType(self.element, shape)],
            start_indices=_dims(begins),
            limit_indices=_dims(ends),
            strides=_dims([1] * len(shape)),
        )
        return found

    def take(self, dim: int, place: Tensor) -> Tensor:
        """The part at a place along a dimension, which stays with an extent of 1."""
        dim %= len(self.shape)
        shape = [1 if each == dim else n for each, n in enumerate(self.shape)]
        [found] = self.body.create(
            "dynamic_slice",
            [self, *self._places(dim, place)],
            [TensorType(self.element, shape)],
            slice_sizes=_dims(shape),
        )
        return found

    def put(self, dim: int, place: Tensor, part: Tensor) -> Tensor:
        """With another part at a place along a dimension."""
        operands = [self, part, *self._places(dim % len(self.shape), place)]
        [found] = self.body.create("dynamic_update_slice", operands, [self.value.type])
        return found

    def _places(self, dim: int, place: Tensor) -> list[Tensor]:
        zero = self.body.fill(0, (), i32)
        return [place if each == dim else zero for each in range(len(self.shape))]


def _dims(numbers: Sequence[int]) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, [*numbers])


def _common(*shapes: Shape) -> Shape:
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(map(max, zip(*padded, strict=True)))


def _broadcast(first: Tensor, others: Sequence[Tensor | float]) -> list[Tensor]:
    """All of one shape; numbers become tensors of the first one's type."""
    shape = _common(first.shape, *(each.shape for each in others if isinstance(each, Tensor)))
    return [
        each.broadcast(shape)
        if isinstance(each, Tensor)
        else first.body.fill(each, shape, first.element)
        for each in (first, *others)
    ]


def _product(a: Tensor, b: Tensor, a_dim: int, b_dim: int) -> Tensor:
    numbers = DotDimensionNumbersAttr.of(
        lhs_batching_dimensions=[0],
        rhs_batching_dimensions=[0],
        lhs_contracting_dimensions=[a_dim],
        rhs_contracting_dimensions=[b_dim],
    )
    shape = [a.shape[0], a.shape[3 - a_dim], b.shape[3 - b_dim]]
    type_ = TensorType(a.element, shape)
    [found] = a.body.create("dot_general", [a, b], [type_], dot_dimension_numbers=numbers)
    return found
