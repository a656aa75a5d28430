"""The body of a function under construction: ttir operations, appended in order.

Every method returns the result of the operation that it appends. What would change nothing appends
nothing and returns its input.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import LocationAttr, TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from ttmlir.frontend.torch.elements import elements_of_tensor, splat_of
from ttmlir.ir.ttir_building import built, built_constant, element_type
from ttmlir.optable import row

if TYPE_CHECKING:
    from ttmlir.dialects.row_ops import ParameterValue

Shape = tuple[int, ...]


def shape_of(value: SSAValue) -> Shape:
    """The extents of a tensor."""
    return cast("TensorType[Attribute]", value.type).get_shape()


class BodyBuilder:
    """Appends operations to a block, at the location that was set last."""

    def __init__(self, block: Block) -> None:
        """Build in an empty block."""
        # New operations are put in front of the end of the function.
        self._end = ReturnOp()
        block.add_op(self._end)
        self._block = block
        self._splats: dict[tuple[float, bool, Attribute, int], SSAValue] = {}

    @property
    def location(self) -> LocationAttr:
        """The location of new operations."""
        return self._end.location

    @location.setter
    def location(self, location: LocationAttr) -> None:
        self._end.location = location

    def finish(self, values: Sequence[SSAValue]) -> None:
        """End the function with its results."""
        self._end.detach()
        self._block.add_op(ReturnOp.create(operands=values, location=self._end.location))

    # -- any operation -------------------------------------------------------------------------

    def op(
        self,
        mnemonic: str,
        inputs: Sequence[SSAValue],
        type_: TensorType[Attribute],
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An operation with a result of this type."""
        return built(self._end, mnemonic, inputs, type_, **parameters)

    def row(self, mnemonic: str, *inputs: SSAValue, **parameters: ParameterValue) -> SSAValue:
        """An operation with the element type of its first input and the shape its row says."""
        rule = row(mnemonic).result_shape
        assert rule is not None, "rows with a shape of their own"
        shape = rule(*map(shape_of, inputs), **parameters)
        type_ = TensorType(element_type(inputs[0]), shape)
        return self.op(mnemonic, inputs, type_, **parameters)

    def elementwise(
        self,
        mnemonic: str,
        *inputs: SSAValue,
        element: Attribute | None = None,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An elementwise operation; operands broadcast as in torch.

        The element type is that of the last input unless given.
        """
        shape = broadcast_shape(*map(shape_of, inputs))
        type_ = TensorType(element or element_type(inputs[-1]), shape)
        return self.op(mnemonic, inputs, type_, **parameters)

    # -- constants -----------------------------------------------------------------------------

    def constant(self, tensor: object) -> SSAValue:
        """The numbers of a torch tensor."""
        elements = elements_of_tensor(tensor)
        return built_constant(self._end, elements, elements.type)

    def splat(self, value: float | bool, element: Attribute, shape: Sequence[int]) -> SSAValue:
        """A tensor of one number."""
        elements = splat_of(value, element, shape)
        return built_constant(self._end, elements, elements.type)

    def number(self, value: float | bool, like: SSAValue) -> SSAValue:
        """A number that broadcasts against a tensor and has its element type.

        Equal numbers are one operation.
        """
        return self.number_of(value, element_type(like), len(shape_of(like)))

    def number_of(self, value: float | bool, element: Attribute, rank: int) -> SSAValue:
        """A number as a tensor of `rank` extents of 1."""
        # 0.0 and -0.0, and 1 and True, are equal keys but different numbers.
        key = (value, math.copysign(1, value) < 0, element, rank)
        found = self._splats.get(key)
        if found is None:
            found = self._splats[key] = self.splat(value, element, (1,) * rank)
        return found

    # -- element types and shapes --------------------------------------------------------------

    def cast(self, value: SSAValue, element: Attribute) -> SSAValue:
        """The tensor in another element type."""
        own = element_type(value)
        if own == element:
            return value
        return self.op("typecast", (value,), TensorType(element, shape_of(value)))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order under another shape."""
        shape = tuple(shape)
        if shape == shape_of(value):
            return value
        type_ = TensorType(element_type(value), shape)
        return self.op("reshape", (value,), type_, shape=shape)

    def permute(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """The tensor with its dimensions in another order."""
        moved = [i for i, dim in enumerate(order) if i != dim]
        if not moved:
            return value
        if len(moved) == 2:
            return self.row("transpose", value, dim0=moved[0], dim1=moved[1])
        return self.row("permute", value, permutation=tuple(order))

    def broadcast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The tensor repeated along new dimensions in front and along extents of 1."""
        shape, own = tuple(shape), shape_of(value)
        if shape == own:
            return value
        value = self.reshape(value, (1,) * (len(shape) - len(own)) + own)
        if shape == shape_of(value):
            return value
        dims = tuple(range(len(shape)))
        type_ = TensorType(element_type(value), shape)
        return self.op("broadcast", (value,), type_, dimension=dims)

    def slice(self, value: SSAValue, dim: int, begin: int, end: int, step: int = 1) -> SSAValue:
        """Every step-th element between two bounds of one dimension."""
        shape = shape_of(value)
        if (begin, end, step) == (0, shape[dim], 1):
            return value
        begins, ends, steps = [0] * len(shape), list(shape), [1] * len(shape)
        begins[dim], ends[dim], steps[dim] = begin, end, step
        return self.row("slice", value, begins=tuple(begins), ends=tuple(ends), step=tuple(steps))

    def concat(self, values: Sequence[SSAValue], dim: int) -> SSAValue:
        """Tensors put one after the other."""
        parts = [value for value in values if 0 not in shape_of(value)] or list(values[:1])
        return parts[0] if len(parts) == 1 else self.row("concat", *parts, dim=dim)

    # -- reductions and products ---------------------------------------------------------------

    def reduce(
        self, mnemonic: str, value: SSAValue, dims: Sequence[int], *, keep_dim: bool = True
    ) -> SSAValue:
        """A reduction; over no dimension it returns its input."""
        if not dims:
            return value
        return self.row(mnemonic, value, keep_dim=keep_dim, dim_arg=tuple(dims))

    def matmul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A product of matrices of one rank; leading dimensions are batches."""
        return self.row("matmul", a, b)


def broadcast_shape(*shapes: Shape) -> Shape:
    """The shape that shapes broadcast to, which torch has checked."""
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(shape)) + shape for shape in shapes]
    return tuple(
        next((extent for extent in extents if extent != 1), 1)
        for extents in zip(*padded, strict=True)
    )
