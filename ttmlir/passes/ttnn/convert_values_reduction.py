"""Rules of `convert-ttir-to-ttnn` for reductions, sums up to each element, and norms."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr

from ttmlir.dialects.ttnn.attrs import DeviceComputeConfigAttr
from ttmlir.layout.enums import DeviceComputeConfig, MathFidelity
from ttmlir.passes.ttnn.convert_values import renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.convert_values import Rules, ValueRule

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
    """Along one dimension, or over all elements."""
    dims = _dims(op)
    parameters = {"keep_dim": _flag(op, "keep_dim")}
    if dims is not None and len(dims) == 1:
        parameters["dim"] = dims[0]
    return [build.create("argmax", op.operands, op.results[0].type, **parameters)]


def _flag(op: Operation, name: str) -> int:
    return cast("IntegerAttr", op.properties[name]).value.data


def _prod(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """Along one dimension, or over all elements."""
    dims = _dims(op)
    parameters = {"keep_dim": _flag(op, "keep_dim")}
    if dims is not None and len(dims) == 1:
        parameters["dim_arg"] = dims[0]
    return [build.create("prod", op.operands, op.results[0].type, **parameters)]


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
