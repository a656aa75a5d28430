"""Creates operations of StableHLO in front of another."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from xdsl.dialects.builtin import DenseArrayBase, TensorType, i64
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.stablehlo import OPERATIONS
from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.mlir.attributes import ElementsType, elements_of


@cache
def _classes() -> dict[str, type[Operation]]:
    return {cls.name: cls for cls in OPERATIONS}


def i64_array(numbers: Sequence[int]) -> DenseArrayBase:
    """A list of dimensions or extents, as a property."""
    return DenseArrayBase.from_list(i64, list(numbers))


class Writer:
    """Creates operations in front of one, with its location."""

    def __init__(self, op: Operation) -> None:
        """Write before `op`."""
        self._op = op

    def create(
        self,
        mnemonic: str,
        operands: Sequence[SSAValue],
        type_: Attribute,
        **properties: Attribute,
    ) -> SSAValue:
        """The result of an operation of StableHLO."""
        new = _classes()[f"stablehlo.{mnemonic}"].create(
            operands=operands,
            result_types=[type_],
            properties=properties,
            location=self._op.location,
        )
        insert_before(self._op, new)
        return new.results[0]

    def constant(self, type_: ElementsType, numbers: Sequence[int | float]) -> SSAValue:
        """A constant of these numbers; one number is repeated."""
        return self.create("constant", (), type_, value=elements_of(type_, numbers))

    def broadcast(
        self, value: SSAValue, shape: Sequence[int], dimensions: Sequence[int] | None = None
    ) -> SSAValue:
        """The tensor repeated to a shape; its dimensions are the last ones unless given."""
        own = value_shape(value)
        if own == tuple(shape):
            return value
        if dimensions is None:
            dimensions = range(len(shape) - len(own), len(shape))
        return self.create(
            "broadcast_in_dim",
            (value,),
            TensorType(element_type(value), shape),
            broadcast_dimensions=i64_array(dimensions),
        )

    def transpose(self, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
        """The tensor with its dimensions in another order."""
        if list(permutation) == list(range(len(permutation))):
            return value
        shape = [value_shape(value)[dim] for dim in permutation]
        type_ = TensorType(element_type(value), shape)
        return self.create("transpose", (value,), type_, permutation=i64_array(permutation))
