"""Rules of `convert-ttir-to-ttnn` for moves, orders and truth values."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any, cast

from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import with_shape
from ttmlir.passes.ttir.value_rewriting import inputs_of, made_by, parameters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.ttnn_values import TTNNValueBuilder
    from ttmlir.passes.ttnn.conversion.convert_values import Rules, ValueRule


def _broadcast(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """So many repetitions along each dimension."""
    source, result = op.operands[0], op.results[0]
    pairs = zip(value_shape(result), value_shape(source), strict=True)
    times = ShapeAttr.of([whole // max(1, part) for whole, part in pairs])
    return [build.create("repeat", (source,), result.type, repeat_dims=times)]


def _repeat(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The same numbers under the name that ttnn has for them."""
    times = ShapeAttr.of(cast("tuple[int, ...]", parameters_of(op)["repeat_dimensions"]))
    return [build.create("repeat", inputs_of(op), op.results[0].type, repeat_dims=times)]


def _embedding_backward(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The gradient is one row for each row that was picked."""
    picked, weight, gradient = inputs_of(op)
    *rows, columns = value_shape(gradient)
    shape = (1, 1, prod(rows), columns)
    flat = build.create("reshape", (gradient,), with_shape(gradient.type, shape), shape=shape)
    operands = (picked, weight, flat)
    return [build.create("embedding_backward", operands, op.results[0].type)]


def _with_same_parameters(mnemonic: str, **more: Any) -> ValueRule:
    """The rule of an operation whose parameters have the same names, and attributes of ttnn."""

    def rule(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
        given = {**parameters_of(op), **more}
        types = [result.type for result in op.results]
        return build.create_op_of(mnemonic, inputs_of(op), types, **given).results

    return rule


# --- Truth values ---------------------------------------------------------------------------------

_MOVES = ("reshape", "permute", "transpose", "broadcast", "slice")
_TRUTH = (
    *("eq", "ne", "gt", "ge", "lt", "le", "isfinite"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
)
"""Operations whose results are 0 and 1; a cast to truth values leaves other numbers as they are."""


def is_truth(value: SSAValue) -> bool:
    """True if all elements are 0 or 1, whether they are of ttir or already of ttnn."""
    while (move := made_by(value, *_MOVES)) is not None:
        value = inputs_of(move)[0]
    name = getattr(value.owner, "name", "")
    return name.partition(".")[2] in _TRUTH


def _reduce_and(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The least of zeros and ones; the product of other numbers."""
    [source], given = inputs_of(op), parameters_of(op)
    type_ = op.results[0].type
    if is_truth(source):
        return [build.create("min", (source,), type_, **given)]
    dims = cast("tuple[int, ...]", given.pop("dim_arg", ()))
    if len(dims) == 1:
        given["dim_arg"] = dims[0]
    return [build.create("prod", (source,), type_, **given)]


def _reduce_or(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    """The sum, which is 0 where all numbers are."""
    return [build.create("sum", inputs_of(op), op.results[0].type, **parameters_of(op))]


def _to_layout(op: Operation, build: TTNNValueBuilder) -> Sequence[SSAValue]:
    return [build.create("to_tensor_spec", op.operands[:1], op.results[0].type)]


RULES: Rules = {
    "to_layout": _to_layout,
    "reduce_and": _reduce_and,
    "reduce_or": _reduce_or,
    "broadcast": _broadcast,
    "repeat": _repeat,
    "embedding_backward": _embedding_backward,
    "sort": _with_same_parameters("sort"),
    "topk": _with_same_parameters("topk"),
    "pad": _with_same_parameters("pad", use_multicore=True),
}
"""Rules by mnemonic."""
