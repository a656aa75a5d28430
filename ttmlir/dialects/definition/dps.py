"""Destination-passing style: the operands that an operation writes its results to are its inits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self, TypeGuard

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects.definition.ods import SEGMENTS, ODSOperation, refuse, segments_attr, text
from ttmlir.mlir.xdsl_internals import operands_of


class DestinationStyleOp(ODSOperation):
    """An operation whose results have the types of its inits and alias them."""

    @property
    def init_range(self) -> tuple[int, int]:
        """First and one past the last operand number of the inits."""
        init = self.SIGNATURE.init
        assert init is not None, f"{self.name} names no init"
        return self.group_range(init)

    @property
    def inits(self) -> tuple[SSAValue, ...]:
        """The operands that the results are written to, one per result."""
        first, end = self.init_range
        return operands_of(self)[first:end]

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The operands before the inits."""
        return operands_of(self)[: self.init_range[0]]

    @property
    def output(self) -> SSAValue:
        """The init of an operation that has one."""
        return operands_of(self)[self.init_range[0]]

    @property
    def written_results(self) -> dict[int, SSAValue]:
        """The results by the number of the operand that is their destination."""
        first, end = self.init_range
        operands = operands_of(self)
        tensors = (n for n in range(first, end) if operands[n].type.name == "tensor")
        return dict(zip(tensors, self.results, strict=True))

    @classmethod
    def dps(
        cls,
        inputs: Sequence[SSAValue],
        inits: Sequence[SSAValue],
        properties: Mapping[str, Attribute] | None = None,
        *,
        result_types: Sequence[Attribute] | None = None,
        location: LocationAttr,
        device: SSAValue | None = None,
    ) -> Self:
        """Make the operation; result types follow from the inits unless they are given."""
        props = dict(properties or {})
        if cls.SIGNATURE.has_segments:
            props[SEGMENTS] = segments_attr((len(inputs), len(inits)))
        trailing = () if device is None else (device,)
        return cls.create(
            operands=(*inputs, *inits, *trailing),
            result_types=[init.type for init in inits] if result_types is None else result_types,
            properties=props,
            location=location,
        )

    def verify_interfaces(self) -> None:
        """Compare the results with the inits."""
        check_destination_style(self)


def is_dps(op: Operation) -> TypeGuard[DestinationStyleOp]:
    """True for operations in destination-passing style."""
    return isinstance(op, DestinationStyleOp)


def check_destination_style(op: DestinationStyleOp) -> None:
    """Refuse results that do not correspond to the tensors among the inits."""
    first, end = op.init_range
    tensors: list[tuple[int, Attribute]] = []
    for number in range(first, end):
        type: Attribute = op.operands[number].type
        if type.name == "tensor":
            tensors.append((number, type))
        elif type.name != "memref":
            refuse(f"expected that operand #{number} is a tensor or a memref")
    if len(op.results) != len(tensors):
        refuse(
            f"expected the number of tensor results ({len(op.results)}) to be equal to the "
            f"number of output tensors ({len(tensors)})"
        )
    for (number, type), result in zip(tensors, op.results, strict=True):
        if type is not result.type and type != result.type:
            refuse(
                f"expected type of operand #{number} ('{text(type)}') to match type of "
                f"corresponding result ('{text(result.type)}')"
            )
