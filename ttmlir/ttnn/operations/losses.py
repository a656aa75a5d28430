"""How far tensors are from each other, and sums with a second operand that is repeated."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.composites.losses import Reduction, reduce_loss
from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    array_with_kernels,
    common_device,
    common_layout,
    is_strict,
    require_floats,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import BcastOpDim, BcastOpMath, Layout, LossReductionMode


def _loss(values: dict[str, Any], name: str) -> Tensor:
    """Errors or their squares: of all elements, or their mean or sum."""
    names = ("input_reference", "input_prediction")
    reference, prediction = given = tuple(require_tensor(values[each], each) for each in names)
    device = common_device(*given)
    mode = values["reduction"]
    if not isinstance(mode, LossReductionMode | None):
        raise ArgumentError(f"reduction is a ttnn.LossReductionMode, not {spell_value(mode)}")
    try:
        shape = broadcast_shape(reference.shape, prediction.shape)
    except ArgumentError as error:
        raise ArgumentError(
            f"the tensors have {reference.shape} and {prediction.shape}: {error}"
        ) from error
    left, right = (
        array_with_kernels(np.broadcast_to(each.array, shape)) for each in (reference, prediction)
    )
    difference = left - right
    loss = difference.abs() if name == "l1_loss" else difference.square()
    reduction = Reduction.NONE if mode is None else Reduction[mode.name]
    if reduction is Reduction.MEAN and is_strict(reference):
        require_floats(reference)
    result = reduce_loss(loss, reduction).value
    return store(
        result,
        given,
        device=device,
        layout=common_layout(*given) if reduction is Reduction.NONE else Layout.TILE,
        memory_config=values["memory_config"],
    )


def _l1_loss(values: dict[str, Any]) -> Tensor:
    return _loss(values, "l1_loss")


def _mse_loss(values: dict[str, Any]) -> Tensor:
    return _loss(values, "mse_loss")


_REFERENCES = {
    BcastOpMath.ADD: "add",
    BcastOpMath.SUB: "subtract",
    BcastOpMath.MUL: "multiply",
}


def _bcast(values: dict[str, Any]) -> Tensor:
    """Sum, difference or product with an operand of one row, one column, or one number."""
    names = ("input_tensor_a", "input_tensor_b")
    a, b = given = tuple(require_tensor(values[each], each) for each in names)
    device = common_device(*given)
    math_op, dim = values["math_op"], values["dim"]
    if not isinstance(math_op, BcastOpMath) or not isinstance(dim, BcastOpDim):
        raise ArgumentTypeError("math_op is a ttnn.BcastOpMath and dim a ttnn.BcastOpDim")
    rows, columns = a.shape[-2:]
    wanted = (
        1 if dim in (BcastOpDim.H, BcastOpDim.HW) else rows,
        1 if dim in (BcastOpDim.W, BcastOpDim.HW) else columns,
    )
    if b.shape[-2:] != wanted:
        raise ArgumentError(
            f"input_tensor_b has {b.shape}; its last extents must be {list(wanted)} for {dim}"
        )
    result = reference_of(_REFERENCES[math_op])(np, a.array, b.array)
    return store(
        result,
        given,
        device=device,
        memory_config=values["memory_config"],
        output_tensor=values["output_tensor"],
    )


_LOSS = "input_reference, input_prediction, *, reduction=None, memory_config=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("l1_loss", _l1_loss, _LOSS),
    Operation("mse_loss", _mse_loss, _LOSS),
    Operation(
        "bcast",
        _bcast,
        "input_tensor_a, input_tensor_b, math_op, dim, *, memory_config=None, output_tensor=None",
    ),
)
