"""Constants, comparisons and choices that take the place of loops and branches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, TensorType, i1

from ttmlir.ir.rewriting import insert_before
from ttmlir.ir.tensor_types import value_shape
from ttmlir.mlir.attributes import ElementsType, elements_of

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue


class Choices(Protocol):
    """Makes the operations that choose between the results of branches."""

    def equals(self, before: Operation, value: SSAValue, number: int) -> SSAValue:
        """Whether a tensor of one integer is a number."""
        ...

    def choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """One of two tensors, by a truth value without dimensions."""
        ...


class StableHLOChoices:
    """Choices in StableHLO."""

    def equals(self, before: Operation, value: SSAValue, number: int) -> SSAValue:
        """Whether a tensor of one integer is a number."""
        from ttmlir.dialects.stablehlo.attrs import ComparisonDirectionAttr, ComparisonTypeAttr
        from ttmlir.dialects.stablehlo.creation import ConstantOp
        from ttmlir.dialects.stablehlo.elementwise import CompareOp

        constant = ConstantOp.create(
            result_types=[value.type],
            properties={"value": elements_of(cast("ElementsType", value.type), [number])},
            location=before.location,
        )
        op = CompareOp.create(
            operands=[value, constant.results[0]],
            result_types=[TensorType(i1, ())],
            properties={
                "comparison_direction": ComparisonDirectionAttr("EQ"),
                "compare_type": ComparisonTypeAttr("SIGNED"),
            },
            location=before.location,
        )
        insert_before(before, constant, op)
        return op.results[0]

    def choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """One of two tensors, by a truth value without dimensions."""
        from ttmlir.dialects.stablehlo.elementwise import SelectOp

        op = SelectOp.create(
            operands=[predicate, on_true, on_false],
            result_types=[on_true.type],
            location=before.location,
        )
        insert_before(before, op)
        return op.results[0]


class TTIRChoices:
    """Choices in ttir."""

    def equals(self, before: Operation, value: SSAValue, number: int) -> SSAValue:
        """Whether a tensor of one integer is a number."""
        from ttmlir.ir.builder import Builder

        builder = Builder.before(before)
        constant = builder.create_splat(number, value.type)
        return builder.create("eq", [value, constant], TensorType(i1, ()))

    def choose(
        self, before: Operation, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
    ) -> SSAValue:
        """One of two tensors, by a truth value without dimensions."""
        from ttmlir.ir.builder import Builder

        builder = Builder.before(before)
        shaped = builder.reshape(predicate, (1,) * len(value_shape(on_true)))
        return builder.create("where", [shaped, on_true, on_false], on_true.type)


def make_constant(before: Operation, number: int) -> SSAValue:
    """A constant for the one result of an operation: an integer, or a tensor of one integer.

    It is of StableHLO where the operation is, else of arith.
    """
    type_ = before.results[0].type
    location = before.location
    if isinstance(type_, (IndexType, IntegerType)):
        from xdsl.dialects.arith import ConstantOp as NumberOp

        value = IntegerAttr(number, cast("IntegerType", type_))
        op = NumberOp.create(
            result_types=[value.type], properties={"value": value}, location=location
        )
    else:
        value = elements_of(cast("ElementsType", type_), [number])
        if before.name.startswith("stablehlo."):
            from ttmlir.dialects.stablehlo.creation import ConstantOp as cls
        else:
            from xdsl.dialects.arith import ConstantOp as cls

        op = cls.create(result_types=[type_], properties={"value": value}, location=location)
    insert_before(before, op)
    return op.results[0]
