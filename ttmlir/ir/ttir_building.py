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
from ttmlir.ir.layouts import value_shape
from ttmlir.ir.moves import emptied
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize
from ttmlir.layout.enums import OperandConstraint

if TYPE_CHECKING:
    from ttmlir.dialects.row_ops import ParameterValue, RowOperation

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


def created(
    op: Operation, mnemonic: str, type_: Attribute, **parameters: ParameterValue
) -> SSAValue:
    """The result of a new ttir operation without operands, such as `arange`, in front of `op`."""
    cls = cast("type[RowOperation]", ttir.op_class(mnemonic))
    new = cls.create(
        result_types=[type_],
        properties=cls.parameter_properties(parameters),
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


def reshaped(op: Operation, value: SSAValue, shape: Sequence[int]) -> SSAValue:
    """The value with another shape of as many elements, reshaped in front of `op` if needed."""
    if value_shape(value) == tuple(shape):
        return value
    type_ = TensorType(element_type(value), shape)
    return built(op, "reshape", [value], type_, shape=tuple(shape))


def permuted(op: Operation, value: SSAValue, permutation: Sequence[int]) -> SSAValue:
    """The value with its dimensions in another order, that of their numbers in `permutation`.

    An exchange of two dimensions is a `ttir.transpose`, any other order a `ttir.permute`.
    """
    moved = [place for place, dim in enumerate(permutation) if place != dim]
    if not moved:
        return value
    extents = value_shape(value)
    type_ = TensorType(element_type(value), [extents[dim] for dim in permutation])
    if len(moved) == 2:
        # In tt-mlir's order: for two dimensions, the permutation itself.
        return built(op, "transpose", [value], type_, dim0=moved[1], dim1=moved[0])
    return built(op, "permute", [value], type_, permutation=tuple(permutation))


def sliced(
    op: Operation,
    value: SSAValue,
    begins: Sequence[int],
    ends: Sequence[int],
    steps: Sequence[int] | None = None,
) -> SSAValue:
    """A slice of the value, taken in front of `op`; the value itself if nothing is left out."""
    steps = steps or (1,) * len(begins)
    bounds = zip(begins, ends, steps, strict=True)
    extents = tuple(-(-(end - begin) // step) for begin, end, step in bounds)
    if extents == value_shape(value):
        return value
    type_ = TensorType(element_type(value), extents)
    parameters = {"begins": tuple(begins), "ends": tuple(ends), "step": tuple(steps)}
    return built(op, "slice", [value], type_, **parameters)


def cast_to(op: Operation, value: SSAValue, element: Attribute) -> SSAValue:
    """The value with another element type, cast in front of `op` if needed."""
    if element_type(value) == element:
        return value
    return built(op, "typecast", [value], TensorType(element, value_shape(value)))
