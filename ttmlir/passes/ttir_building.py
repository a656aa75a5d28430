"""New ttir operations in front of an operation that is being converted to ttir.

Every operation gets a `tensor.empty` as destination, accepts tiled device layouts for all its
operands (what the reference's conversions ask for), and has the location of the operation that it
replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import tt, ttir
from ttmlir.layout.enums import OperandConstraint
from ttmlir.passes.moves import emptied
from ttmlir.passes.rewriting import insert_before, refuse_to_legalize

if TYPE_CHECKING:
    from ttmlir.dialects.row_ops import ParameterValue

_ANY_DEVICE_TILE = tt.OperandConstraintAttr.of(OperandConstraint.ANY_DEVICE_TILE)


def element_type(value: SSAValue) -> Attribute:
    """Element type of a tensor."""
    return cast("TensorType[Attribute]", value.type).element_type


def check_static_shape(op: Operation, type_: Attribute) -> None:
    """Refuse to convert `op` if a type is no tensor of a static shape."""
    if not (isinstance(type_, TensorType) and type_.has_static_shape()):
        refuse_to_legalize(
            op, f"the shape of {type_} is not known; give every tensor a static shape"
        )


def built(
    op: Operation,
    mnemonic: str,
    inputs: Sequence[SSAValue],
    type_: Attribute,
    **parameters: ParameterValue,
) -> SSAValue:
    """The result, of type `type_`, of a new ttir operation in front of `op`.

    `parameters` are Python values by the names of the operation's row; tensors without a static
    shape are refused.
    """
    for shaped in (*(value.type for value in inputs), type_):
        check_static_shape(op, shaped)
    cls = cast("type[ttir.TTIRRowOp]", ttir.op_class(mnemonic))
    destination = emptied(type_, op)
    new = cls.dps(
        inputs,
        (destination,),
        {
            **cls.parameter_properties(parameters),
            "operand_constraints": ArrayAttr([_ANY_DEVICE_TILE] * (len(inputs) + 1)),
        },
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


def built_constant(op: Operation, value: Attribute, type_: Attribute) -> SSAValue:
    """The result of a new `ttir.constant` of the elements `value` in front of `op`."""
    new = ttir.ConstantOp.create(
        result_types=[type_], properties={"value": value}, location=op.location
    )
    insert_before(op, new)
    return new.results[0]
