"""Products of matrices in the forms that models of transformers use."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations import matmul
from ttmlir.ttnn.operations.arguments import take_tensors
from ttmlir.ttnn.operations.elementwise.activations import apply_activations
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_flag,
    common_device,
    is_integer,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.scans import in_dram
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import L1_MEMORY_CONFIG, Shape

_TILE = 32


def _keep(
    array: Array, given: tuple[Tensor, ...], values: dict[str, Any], output: str = "output_tensor"
) -> Tensor:
    """A product in tiles, in the memory of the first operand unless another is asked for."""
    return store(
        np.asarray(array),
        given,
        device=common_device(*given),
        dtype=values["dtype"],
        layout=Layout.TILE,
        memory_config=values["memory_config"],
        output_tensor=values.get(output),
    )


def _product(a: Array, b: Array) -> Array:
    return reference_of("matmul")(np, a, b)


# --- A weight, a bias, an activation --------------------------------------------------------------


def _minimal(values: dict[str, Any], name: str = "input_tensor") -> tuple[Array, list[Tensor]]:
    """The product with a weight, a bias and an activation, and its operands."""
    tensor, weight, *bias = take_tensors(
        values, name, name.replace("input", "weight"), optional=("bias_tensor",)
    )
    for each, word in ((tensor, name), (weight, "weight_tensor")):
        matmul.require_tiles(each, word)
    if len(tensor.shape) < 2 or len(weight.shape) < 2 or tensor.shape[-1] != weight.shape[-2]:
        raise ArgumentError(
            f"input_tensor has {tensor.shape} and weight_tensor {weight.shape}: the columns of the "
            "first are as many as the rows of the second"
        )
    if any(extent != 1 for extent in weight.shape[:-2]):
        raise ArgumentError(f"weight_tensor has {weight.shape}; it is one matrix")
    result = _product(tensor.array, weight.array.reshape(weight.shape[-2:]))
    if bias:
        if bias[0].array.size != weight.shape[-1]:
            raise ArgumentError(
                f"bias_tensor has {bias[0].shape}; it is a row, Shape([1, {weight.shape[-1]}])"
            )
        result = result + bias[0].array.reshape(-1)
    if values.get("fuse_swiglu"):
        result = _halve(result)
    activation = values.get("fused_activation")
    with np.errstate(all="ignore"):
        return (
            result if activation is None else apply_activations(result, activation),
            [tensor, weight, *bias],
        )


def _halve(array: Array) -> Array:
    """silu of the first 32 of each 64 columns, times the others."""
    if array.shape[-1] % (2 * _TILE):
        raise ArgumentError(f"fuse_swiglu takes pairs of 32 columns, not {array.shape[-1]}")
    pairs = array.reshape(*array.shape[:-1], -1, 2, _TILE)
    gate, up = pairs[..., 0, :], pairs[..., 1, :]
    with np.errstate(all="ignore"):
        return (reference_of("silu")(np, gate) * up).reshape(*array.shape[:-1], -1)


def _minimal_matmul(values: dict[str, Any]) -> Tensor:
    result, given = _minimal(values)
    return _keep(result, tuple(given), values)


def _minimal_split(values: dict[str, Any]) -> list[Tensor]:
    """The product in as many parts as are asked for, along the last dimension."""
    result, given = _minimal(values)
    count, width = values["chunks"], result.shape[-1]
    if not is_integer(count) or count < 1 or width % (count * _TILE):
        raise ArgumentError(
            f"chunks={count} do not divide {width} columns into parts of whole tiles"
        )
    return [_keep(part, tuple(given), values) for part in np.split(result, count, -1)]


def _add_scaled_product(values: dict[str, Any]) -> Tensor:
    """A residual plus a gate times a scaled product."""
    result, given = _minimal(values, "matmul_input_tensor")
    first, second = take_tensors(values, "addcmul_input_tensor1", "addcmul_input_tensor2")
    for name, each in (("addcmul_input_tensor1", first), ("addcmul_input_tensor2", second)):
        if each.array.ndim < 2 or each.shape[-1] not in (1, result.shape[-1]):
            raise ArgumentError(f"{name} has {each.shape}, the product {list(result.shape)}")
    try:
        result = first.array + values["scalar"] * result * second.array
    except ValueError as error:
        raise ArgumentError(
            f"tensors of {first.shape} and {second.shape} do not broadcast to the product, "
            f"{list(result.shape)}"
        ) from error
    return _keep(result, (*given, first, second), values)


# --- Attention of one query for each user ---------------------------------------------------------


def _attend(values: dict[str, Any], a: Tensor, b: Array, output: str) -> Tensor:
    """(1, heads, users, k) times (users, kv heads, k, n): each user's rows with its own matrix."""
    if len(a.shape) != 4 or a.shape[0] != 1:
        raise ArgumentError(f"input_tensor_a has {a.shape}; it is (1, heads, users, k)")
    heads, users, inner = a.shape[1:]
    if b.shape[0] != users or b.shape[2] != inner:
        raise ArgumentError(
            f"input_tensor_b is read as {list(b.shape)}; for {a.shape} it is ({users}, kv heads, "
            f"{inner}, n)"
        )
    if heads % b.shape[1]:
        raise ArgumentError(f"{heads} heads are no multiple of {b.shape[1]} of input_tensor_b")
    rows = a.array[0].swapaxes(0, 1)[:, :, None]
    matrices = np.repeat(b, heads // b.shape[1], axis=1)
    result = _product(rows, matrices)[:, :, 0].swapaxes(0, 1)[None]
    return _keep(result, (a,), values, output)


def _attn_matmul(values: dict[str, Any]) -> Tensor:
    a, b = take_tensors(values, "input_tensor_a", "input_tensor_b")
    _require_one_head(b)
    return _attend(values, a, b.array, "output_tensor")


def _require_one_head(b: Tensor) -> None:
    if len(b.shape) != 4 or b.shape[1] != 1:
        raise ArgumentError(f"input_tensor_b has {b.shape}; it is (users, 1, k, n)")


def _attn_matmul_from_cache(values: dict[str, Any]) -> Tensor:
    """The same with the first rows of a cache, as many whole tiles as the tokens fill."""
    a, b = take_tensors(values, "input_tensor_a", "input_tensor_b")
    _require_one_head(b)
    count = values["num_tokens"]
    if not is_integer(count) or not 0 < count <= b.shape[2]:
        raise ArgumentError(f"num_tokens={count} of a cache of {b.shape[2]} rows")
    rows = b.array[:, :, : -(-count // _TILE) * _TILE]
    turns = as_flag(values["transpose_hw"], "transpose_hw")
    return _attend(values, a, rows.swapaxes(-1, -2) if turns else rows, "output_tensor")


def _group_attn_matmul(values: dict[str, Any]) -> Tensor:
    a, b = take_tensors(values, "input_tensor_a", "input_tensor_b")
    if len(b.shape) != 4:
        raise ArgumentError(f"input_tensor_b has {b.shape}; it is (users, kv heads, k, n)")
    return _attend(in_dram(values), a, b.array, "optional_output_tensor")


# --- Several matrices -----------------------------------------------------------------------------


def _batched_weights(values: dict[str, Any]) -> list[Tensor]:
    """The products of one tensor with each of several."""
    given: Any = values["input_tensors_b"]
    if not isinstance(given, list | tuple):
        raise ArgumentTypeError(f"input_tensors_b is a list of tensors, not {spell_value(given)}")
    listed: list[Any] = [*given]
    tensors = [require_tensor(each, "input_tensors_b") for each in listed]
    if values["memory_config"] is None:
        raise ArgumentError("memory_config is missing: give one, as ttnn.DRAM_MEMORY_CONFIG")
    others = {name: each for name, each in values.items() if name != "input_tensors_b"}
    return [matmul.multiply({**others, "input_tensor_b": each}) for each in tensors]


def _sparse(values: dict[str, Any]) -> Tensor:
    """Products of those pairs of matrices whose number in `sparsity` is not 0; others are 0."""
    a, b, sparsity = take_tensors(values, "input_tensor_a", "input_tensor_b", "sparsity")
    if any(len(each.shape) != 4 for each in (a, b)) or a.shape[-1] != b.shape[-2]:
        raise ArgumentError(
            f"input_tensor_a has {a.shape} and input_tensor_b {b.shape}; both have four "
            "dimensions, and the columns of the first are as many as the rows of the second"
        )
    for each, name in ((a, "input_tensor_a"), (b, "input_tensor_b")):
        matmul.require_tiles(each, name)
    flags = tuple(as_flag(values[f"is_input_{side}_sparse"], "a flag") for side in "ab")
    first, second = a.array, b.array
    counts = (first.shape[0] * first.shape[1], second.shape[0] * second.shape[1])
    if flags == (False, True):
        left = first[:, :, None, None]
        result = _product(left, second[None, None])
        shape = (first.shape[0], first.shape[1], second.shape[0], second.shape[1])
    elif flags == (True, True) and counts[0] == counts[1]:
        result, shape = _product(first, second.reshape(*first.shape[:2], *second.shape[2:])), ()
        shape = first.shape[:2]
    elif flags == (True, False) and first.shape[1] == second.shape[1]:
        result, shape = _product(first, second), first.shape[:2]
    else:
        raise ArgumentError(
            "is_input_a_sparse and is_input_b_sparse: one of them is True; with both there are as "
            f"many matrices in input_tensor_a as in input_tensor_b, not {counts[0]} and {counts[1]}"
        )
    if sparsity.array.size != np.prod(shape, dtype=int):
        raise ArgumentError(
            f"sparsity has {sparsity.shape}; it has a number for each of {list(shape)} products"
        )
    computed = sparsity.array.reshape(shape) != 0
    nnz = values["nnz"]
    if nnz is not None and nnz != np.count_nonzero(computed):
        raise ArgumentError(
            f"nnz={nnz}, but sparsity has {np.count_nonzero(computed)} numbers that are not 0: a "
            "card would wait forever"
        )
    result = np.where(computed[..., None, None], result, 0)
    return _keep(result, (a, b), in_dram(values), "optional_output_tensor")


# --- Experts --------------------------------------------------------------------------------------

_EXPERTS = 128


def _route(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """The experts of each row with the largest products, and the shares of these."""
    given = take_tensors(values, "input_tensor", "weight_tensor", "bias_tensor")
    tensor, weight, bias = given
    count, k = values["num_experts"], values["k"]
    if count != _EXPERTS or not is_integer(k) or not 0 < k <= _TILE:
        raise ArgumentError(
            f"there are {_EXPERTS} experts, of which k are 1 to 32, not {count}, {k}"
        )
    shapes = [tuple(each.shape) for each in given]
    rows, columns = (*tensor.shape, 0)[:2]
    if shapes != [(rows, columns), (columns, count), (rows, count)] or rows > _TILE:
        raise ArgumentError(
            f"input_tensor has {tensor.shape}, weight_tensor {weight.shape} and bias_tensor "
            f"{bias.shape}; they are (B, columns), (columns, {count}) and (B, {count}), B up to 32"
        )
    scores = _product(tensor.array, weight.array) + bias.array
    chosen = np.argsort(-scores, axis=-1, kind="stable")[:, :k]
    largest = np.take_along_axis(scores, chosen, -1)
    powers = np.exp(largest - largest[:, :1])
    shares = powers / powers.sum(-1, keepdims=True)
    experts, weights = (
        store(
            each,
            given,
            device=common_device(*given),
            dtype=dtype,
            layout=Layout.ROW_MAJOR,
            memory_config=L1_MEMORY_CONFIG,
            padded_shape=Shape([_TILE, k]),
        )
        for each, dtype in ((chosen, DataType.UINT16), (shares, DataType.BFLOAT16))
    )
    return experts, weights


_TAIL = "compute_kernel_config, memory_config=None, output_tensor=None"
_GRID = "compute_with_storage_grid_size"
_BIAS = "bias_tensor=None, fused_activation=None, config=None, memory_config=None, dtype=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation(
        "experimental.minimal_matmul",
        _minimal_matmul,
        f"input_tensor, weight_tensor, *, {_BIAS}, compute_kernel_config, fuse_swiglu=False",
    ),
    Operation(
        "experimental.minimal_matmul_split",
        _minimal_split,
        f"input_tensor, weight_tensor, *, chunks=3, dim=-1, {_BIAS}, compute_kernel_config, "
        "fuse_swiglu=False",
    ),
    Operation(
        "experimental.dit_minimal_matmul_addcmul_fused",
        _add_scaled_product,
        "matmul_input_tensor, matmul_weight_tensor, scalar, addcmul_input_tensor1, "
        "addcmul_input_tensor2, bias_tensor=None, *, config=None, memory_config=None, dtype=None, "
        "compute_kernel_config",
    ),
    Operation(
        "experimental.attn_matmul",
        _attn_matmul,
        f"input_tensor_a, input_tensor_b, *, {_GRID}=None, dtype=None, {_TAIL}",
    ),
    Operation(
        "experimental.attn_matmul_from_cache",
        _attn_matmul_from_cache,
        f"input_tensor_a, input_tensor_b, *, num_tokens, transpose_hw, {_GRID}=None, dtype=None, "
        f"{_TAIL}",
    ),
    Operation(
        "experimental.group_attn_matmul",
        _group_attn_matmul,
        f"input_tensor_a, input_tensor_b, *, {_GRID}=None, memory_config=None, dtype=None, "
        "compute_kernel_config, optional_output_tensor=None",
    ),
    Operation(
        "matmul_batched_weights",
        _batched_weights,
        f"input_tensor_a, input_tensors_b, {matmul.TAIL}",
    ),
    Operation(
        "experimental.topk_router_gpt",
        _route,
        "input_tensor, *, weight_tensor, bias_tensor, k=4, num_experts=128",
    ),
    Operation(
        "sparse_matmul",
        _sparse,
        "input_tensor_a, input_tensor_b, *, sparsity, program_config=None, nnz=None, "
        "is_input_a_sparse=False, is_input_b_sparse=True, memory_config=None, dtype=None, "
        "compute_kernel_config, core_grid, output_tile=None, optional_output_tensor=None, "
        "global_cb=None, sub_device_id",
    ),
)
