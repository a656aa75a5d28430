"""Rules of `convert-ttir-to-ttnn` for reductions, sums up to each element, and norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr

from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.dialects.ttnn.attrs import DeviceComputeConfigAttr
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import with_element, with_shape
from ttmlir.layout.enums import DeviceComputeConfig, MathFidelity
from ttmlir.passes.ttnn.conversion.convert_values import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules, ValueRule

EXACT = DeviceComputeConfigAttr(
    DeviceComputeConfig(
        math_fidelity=MathFidelity.HIFI4, math_approx_mode=False, fp32_dest_acc_en=True
    )
)
"""A config that does not approximate."""


def _dims(op: Operation) -> tuple[int, ...] | None:
    attr = op.properties.get("dim_arg")
    if attr is None:
        return None
    return tuple(each.value.data for each in cast("ArrayAttr[IntegerAttr]", attr))


def _argmax(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Along the last dimension, or over all elements; another dimension is moved to the end."""
    dims, result = _dims(op), op.results[0]
    keep = bool(int_property(op, "keep_dim"))
    value, rank = op.operands[0], len(value_shape(op.operands[0]))
    if dims is None or len(dims) != 1:
        return [build.create("argmax", (value,), result.type, keep_dim=keep)]
    dim = dims[0] % rank
    if dim == rank - 1:
        return [build.create("argmax", (value,), result.type, keep_dim=keep, dim=dims[0])]
    order = (*(each for each in range(rank) if each != dim), dim)
    moved = _permute(build, value, order)
    shape = value_shape(moved)[:-1]
    type_ = with_shape(result.type, (*shape, 1) if keep else shape)
    found = build.create("argmax", (moved,), type_, keep_dim=keep, dim=rank - 1)
    back = tuple(order.index(each) for each in range(rank))
    return [_permute(build, found, back) if keep else found]


def _permute(build: TTNNValueBuilder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    extents = value_shape(value)
    type_ = with_shape(value.type, [extents[dim] for dim in order])
    return build.create("permute", (value,), type_, permutation=tuple(order))


def _prod(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Along one dimension after another, the last first, or over all elements."""
    dims, value = _dims(op), op.operands[0]
    keep, rank = bool(int_property(op, "keep_dim")), len(value_shape(value))
    if dims is None or (len(dims) == rank and rank > 1):
        return [build.create("prod", (value,), op.results[0].type, keep_dim=keep)]
    for dim in sorted((each % rank for each in dims), reverse=True):
        shape = list(value_shape(value))
        shape[dim : dim + 1] = [1] if keep else []
        type_ = with_shape(with_element(value.type, element_type(op.results[0])), shape)
        value = build.create("prod", (value,), type_, keep_dim=keep, dim_arg=dim)
    return [value]


def _along(mnemonic: str) -> ValueRule:
    """The rule of an operation along a dimension, whose number is another attribute in ttnn."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        dim = cast("IntegerAttr", op.properties["dim"]).value.data
        more = {name: attr for name, attr in op.properties.items() if name != "dim"}
        new = build.create_op_of(mnemonic, op.operands, op.result_types, dim=dim, **_values(more))
        return new.results

    return rule


def _values(attrs: dict[str, Attribute]) -> dict[str, object]:
    """Flags as Python values, other attributes as they are."""
    return {
        name: bool(attr.value.data) if isinstance(attr, IntegerAttr) else attr
        for name, attr in attrs.items()
    }


def _softmax(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Exponentials that are not approximated."""
    values = renamed("softmax")(op, build)
    owner = cast("Operation", values[0].owner)
    owner.properties["compute_config"] = EXACT
    return values


def _without(mnemonic: str, *names: str) -> ValueRule:
    """The rule of an operation that has fewer parameters in ttnn."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        values = renamed(mnemonic)(op, build)
        owner = cast("Operation", values[0].owner)
        for name in names:
            owner.properties.pop(name, None)
        return values

    return rule


def _rms_norm(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """A norm along the last dimension, in the precision that it needs."""
    values = _without("rms_norm", "normalized_shape")(op, build)
    owner = cast("Operation", values[0].owner)
    owner.properties["compute_config"] = DeviceComputeConfigAttr(
        DeviceComputeConfig(
            math_fidelity=MathFidelity.HIFI4,
            math_approx_mode=False,
            fp32_dest_acc_en=True,
            packer_l1_acc=True,
        )
    )
    return values


RULES: Rules = {
    "argmax": _argmax,
    "prod": _prod,
    "cumsum": _along("cumsum"),
    "cumprod": _along("cumprod"),
    "cumulative": _along("cumulative"),
    "softmax": _softmax,
    "rms_norm": _rms_norm,
    "layer_norm": _without("layer_norm", "normalized_shape"),
}
"""Rules by mnemonic."""
