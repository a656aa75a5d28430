"""The base of all builders: where new operations go, and the location that they get.

`Builder` makes ttir operations, `TTNNBuilder` those of ttnn; the builders of kernels add
their operations in the same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self, TypeVar

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ttmlir.dialects.definition.dps import DestinationStyleOp
    from ttmlir.dialects.definition.row_ops import ParameterValue, RowOperation

OpT = TypeVar("OpT", bound=Operation)
DestinationOpT = TypeVar("DestinationOpT", bound="DestinationStyleOp")


@dataclass(frozen=True)
class Style:
    """How tensor operations are spelled."""

    destinations: bool = True
    """Results are written to operands that are made for them; else operations make them."""


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
        self, cls: type[RowOperation], parameters: Mapping[str, ParameterValue]
    ) -> dict[str, Attribute]:
        """The properties of an operation from its parameters; refuses numbers that do not fit."""
        try:
            return cls.parameter_properties(parameters)
        except ValueError as error:
            from ttmlir.mlir.reporting.diagnostics import LocatedError

            raise LocatedError(self.location, str(error)) from error

    def insert(self, op: OpT) -> OpT:
        """Put an operation there, and return it."""
        if self.successor is None:
            self.block.add_op(op)
        else:
            self.block.insert_op_before(op, self.successor)
        return op


class DestinationBuilder(OpBuilder):
    """Makes the tensors that operations write their results to: nothing else does."""

    style = Style()

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
