"""The builder of ttnn operations that make their results, as they have since 2025.

    build = TTNNValueBuilder.before(op)
    small = build.create("reshape", (value,), with_shape(value.type, (1, 70)), shape=(1, 70))
    ones = build.create("ones", (build.device(),), small.type, shape=ShapeAttr.of((1, 70)))

Parameters are those of the operation's form of 2026 (`ttmlir.optable.late_forms`), or those of its
definition. Optional operands are given by `create_grouped`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.ods import SEGMENTS, segments_attr
from ttmlir.dialects.definition.table_ops import LateOnlyOp, ValueFormOp
from ttmlir.dialects.ttcore import device_of
from ttmlir.dialects.ttnn.attrs import MeshOffsetAttr, MeshShapeAttr, ShapeAttr, TTNNDeviceType
from ttmlir.ir.builder import OpBuilder
from ttmlir.ir.tensor_types import value_shape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.builtin import LocationAttr
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter

NO_ACTIVATIONS: dict[str, Any] = dict.fromkeys(
    ("activations", "input_tensor_a_activations", "input_tensor_b_activations"), ArrayAttr(())
)
"""Parameters of an operation of two tensors that computes nothing besides."""


class TTNNValueBuilder(OpBuilder):
    """Creates ttnn operations of 2026 before another operation."""

    rewriter: GreedyRewriter | None = None
    """Who wants to visit what is made."""

    @classmethod
    def within(
        cls, rewriter: GreedyRewriter, op: Operation, location: LocationAttr | None = None
    ) -> TTNNValueBuilder:
        """A builder before `op` whose operations a rewriter visits."""
        build = cls.before(op)
        build.rewriter = rewriter
        if location is not None:
            build.location = location
        return build

    def add(self, op: Operation) -> Operation:
        """Put an operation there, and return it."""
        self.insert(op)
        if self.rewriter is not None:
            self.rewriter.add(op)
        return op

    def create(
        self, mnemonic: str, operands: Sequence[SSAValue], result_type: Attribute, **parameters: Any
    ) -> SSAValue:
        """The result of an operation of one result."""
        return self.create_op_of(mnemonic, operands, (result_type,), **parameters).results[0]

    def create_op_of(
        self,
        mnemonic: str,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        **parameters: Any,
    ) -> Operation:
        """An operation by its mnemonic."""
        cls = ttnn.op_class(mnemonic)
        if issubclass(cls, ValueFormOp | LateOnlyOp):
            shapes = [value_shape(each) for each in operands if _is_tensor(each)]
            result = value_shape_of(result_types[0]) if result_types else ()
            properties = cls.late_properties(parameters, shapes, result)
        else:
            properties = cast("dict[str, Attribute]", parameters)
        new = cls.create(
            operands=operands,
            result_types=result_types,
            properties=properties,
            location=self.location,
        )
        return self.add(new)

    def create_grouped(
        self,
        mnemonic: str,
        groups: Sequence[SSAValue | None],
        result_types: Sequence[Attribute],
        **parameters: Any,
    ) -> Operation:
        """An operation some of whose operands are optional: those that are not there are None."""
        operands = [value for value in groups if value is not None]
        new = self.create_op_of(mnemonic, operands, result_types, **parameters)
        sizes = tuple(int(value is not None) for value in groups)
        new.properties[SEGMENTS] = segments_attr(sizes)
        return new

    def create_binary(
        self, mnemonic: str, lhs: SSAValue, rhs: SSAValue, result_type: Attribute
    ) -> SSAValue:
        """The result of an elementwise operation of two tensors."""
        return self.create(mnemonic, (lhs, rhs), result_type, **NO_ACTIVATIONS)

    def typecast(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """The tensor with the elements of another type."""
        return value if value.type == type_ else self.create("typecast", (value,), type_)

    def full(self, number: Attribute, type_: Attribute) -> SSAValue:
        """A tensor of one number, an attribute of f32 or i32."""
        shape = ShapeAttr.of(value_shape_of(type_))
        return self.create("full", (self.device(),), type_, shape=shape, fill_value=number)

    def device(self) -> SSAValue:
        """The first device that the block asks for, or a new request at its top."""
        for other in self.block.ops:
            if isinstance(other, ttnn.GetDeviceOp):
                return other.results[0]
        successor = self.successor
        assert successor is not None, "operations are created before others"
        found = device_of(successor)
        mesh = (1, 1) if found is None else found.mesh_shape or (1, 1)
        new = ttnn.GetDeviceOp.create(
            result_types=[TTNNDeviceType()],
            properties={
                "mesh_offset": MeshOffsetAttr((0,) * len(mesh)),
                "mesh_shape": MeshShapeAttr(mesh),
            },
            location=self.location,
        )
        first = self.block.first_op
        assert first is not None, "the block holds the operation that needs a device"
        self.block.insert_op_before(new, first)
        return new.results[0]


def deallocate(value: SSAValue, after: Operation) -> Operation:
    """The end of the life of a tensor, right after an operation."""
    new = ttnn.op_class("deallocate").create(
        operands=[value],
        properties={"force": IntegerAttr.from_bool(False)},
        location=after.location,
    )
    block = after.parent
    assert block is not None, "the operation is in a block"
    block.insert_op_after(new, after)
    return new


def value_shape_of(type_: Attribute) -> tuple[int, ...]:
    """The extents of a tensor type."""
    return cast("Any", type_).get_shape()


def _is_tensor(value: SSAValue) -> bool:
    return hasattr(value.type, "get_shape")
