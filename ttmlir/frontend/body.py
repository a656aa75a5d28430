"""The body of a function under construction: the builder of ttir, with what frontends add to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ComplexType,
    IntegerType,
    Signedness,
    TensorType,
)
from xdsl.dialects.func import ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Block, SSAValue

from ttmlir.arrays.array import Array, Scalar
from ttmlir.dialects.ttir import ConstantOp, TTIRTableOp
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.rewriting import erase_unused
from ttmlir.ir.tensor_types import element_of, element_type, value_shape
from ttmlir.mlir.attributes import Elements, elements_of
from ttmlir.optable.op_definition import broadcast_shape

if TYPE_CHECKING:
    from ttmlir.dialects.definition.table_ops import ParameterValue

Shape = tuple[int, ...]


class BodyBuilder(Builder):
    """Appends operations to a block, at the location that was set last."""

    def __init__(self, block: Block) -> None:
        """Build in an empty block."""
        super().__init__(block, UNKNOWN_LOC)
        self._numbers: dict[tuple[str, Attribute, int], SSAValue] = {}
        self.carrier = BodyCarrier(self)
        """Makes arrays of the body."""

    def finish(self, values: Sequence[SSAValue]) -> None:
        """End the function with its results, without what they do not depend on.

        Assignments to a part of a tensor make torch look at the part first, for example; of what
        is known, only some is needed as a constant.
        """
        end = self.insert(ReturnOp.create(operands=values, location=self.location))
        block = end.parent
        assert block is not None
        pure = (TTIRTableOp, EmptyOp, ConstantOp)
        erase_unused(op for op in block.ops if isinstance(op, pure))

    def compute(
        self,
        mnemonic: str,
        *inputs: SSAValue,
        element: Attribute | None = None,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An elementwise operation; operands broadcast as in NumPy.

        The element type is that of the last input unless given.
        """
        shape = broadcast_shape(*map(value_shape, inputs))
        type_ = TensorType(element or element_type(inputs[-1]), shape)
        return self.create(mnemonic, inputs, type_, **parameters)

    def array(self, value: SSAValue) -> Array:
        """A tensor as an array, with operators."""
        return array_in(self.carrier, value)

    def value_of(self, array: Array) -> SSAValue:
        """The tensor that an array is; numbers become a constant."""
        return self.carrier.value(array)

    # -- constants -----------------------------------------------------------------------------

    def create_splat(self, number: complex | bool, type_: Attribute) -> SSAValue:
        """A constant of one number; integers wrap, as in NumPy."""
        tensor = cast("TensorType[Attribute]", type_)
        elements = splat_of(number, tensor.element_type, tensor.get_shape())
        return self.create_constant(elements, type_)

    def create_number(self, value: complex | bool, like: SSAValue) -> SSAValue:
        """A number that broadcasts against a tensor and has its element type.

        Equal numbers are one operation.
        """
        return self.create_number_of_rank(value, element_type(like), len(value_shape(like)))

    def create_number_of_rank(
        self, value: complex | bool, element: Attribute, rank: int
    ) -> SSAValue:
        """A number as a tensor of `rank` extents of 1."""
        # 0.0 and -0.0, and 1 and True, are equal but different numbers.
        key = (repr(value), element, rank)
        found = self._numbers.get(key)
        if found is None:
            found = self.create_splat(value, TensorType(element, (1,) * rank))
            self._numbers[key] = found
        return found

    # -- reductions and products ---------------------------------------------------------------

    def reduce(
        self, mnemonic: str, value: SSAValue, dims: Sequence[int], *, keep_dim: bool = True
    ) -> SSAValue:
        """A reduction; over no dimension it returns its input."""
        if not dims:
            return value
        return self.create_inferred(mnemonic, value, keep_dim=keep_dim, dim_arg=tuple(dims))

    def matmul(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A product of matrices of one rank; leading dimensions are batches."""
        return self.create_inferred("matmul", a, b)


class BodyCarrier(TTIRCarrier):
    """Arrays of a body, whose numbers are those that `create_number` makes."""

    def __init__(self, build: BodyBuilder) -> None:
        """Make them where the builder does."""
        super().__init__(build)
        self._body = build

    def number(self, scalar: Scalar, rank: int) -> SSAValue:
        """A number with the rank of the result."""
        return self._body.create_number_of_rank(scalar.number, element_of(scalar.dtype), rank)


def splat_of(value: complex | bool, element: Attribute, shape: Sequence[int]) -> Elements:
    """A constant of one number; integers wrap."""
    type_: Any = TensorType(element, shape)
    if isinstance(element, ComplexType):
        whole = complex(value)
        return elements_of(type_, [(whole.real, whole.imag)])
    assert not isinstance(value, complex), "complex numbers are for complex tensors alone"
    if not isinstance(element, IntegerType):
        return elements_of(type_, [float(value)])
    element = cast("IntegerType", element)
    width = element.width.data
    if width == 1:
        return elements_of(type_, [int(bool(value)) and -1])
    number = (math.trunc(value) if math.isfinite(value) else 0) & ((1 << width) - 1)
    if element.signedness.data is not Signedness.UNSIGNED and number >> (width - 1):
        number -= 1 << width
    return elements_of(type_, [number])
