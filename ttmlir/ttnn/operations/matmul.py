"""Products of matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.errors import ArgumentError, UsageError
from ttmlir.layout.enums import MathFidelity as CardFidelity
from ttmlir.optable.contraction import matmul_shape
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.runtime.tensor import Array
from ttmlir.sim.machine.card_steps import MULTIPLICATION_STEPS
from ttmlir.ttnn.operations.elementwise.activations import apply_activations
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    require_floats,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.configs import MatmulPlan, WormholeComputeKernelConfig
from ttmlir.ttnn.types.enums import Layout, MathFidelity
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice

TAIL = (
    "*, transpose_a=False, transpose_b=False, memory_config=None, dtype=None, "
    "program_config=None, activation=None, compute_kernel_config, core_grid, output_tile=None, "
    "optional_output_tensor=None, global_cb=None, sub_device_id"
)
_WITHOUT_TRANSPOSE = TAIL.replace("transpose_a=False, transpose_b=False, ", "")


def multiply(values: dict[str, Any]) -> Tensor:
    """The product, plus a bias if there is one, through an activation if there is one."""
    a = require_tensor(values["input_tensor_a"], "input_tensor_a")
    b = require_tensor(values["input_tensor_b"], "input_tensor_b")
    bias = values.get("bias")
    given = (a, b) if bias is None else (a, b, require_tensor(bias, "bias"))
    device = common_device(*given)
    for tensor, name in zip((a, b), ("input_tensor_a", "input_tensor_b"), strict=True):
        require_tiles(tensor, name)
    require_floats(a, b)
    if any(extent != 1 for extent in b.shape[: max(0, len(b.shape) - max(2, len(a.shape)))]):
        raise ArgumentError(
            f"input_tensor_b has {b.shape}, with more dimensions than {a.shape} of input_tensor_a: "
            "those in front must be 1; use ttnn.unsqueeze or ttnn.repeat for input_tensor_a"
        )
    left = _transposed(a.array, values["transpose_a"])
    right = _transposed(b.array, values["transpose_b"])
    plan = values["program_config"]
    if isinstance(plan, MatmulPlan):
        plan.check(-(-left.shape[-1] // a.tile.tile_shape[1]))
    with np.errstate(all="ignore"):
        result = None
        if not getattr(plan, "fused_activation", None):
            result = _product_on_card(left, right, given, values, device)
        exact = result is not None
        if result is None:
            result = _product(left, right)
            if bias is not None:
                result = result + _fitting_bias(bias, result.shape)
            for chain in (getattr(plan, "fused_activation", None), values["activation"]):
                if chain:
                    result = apply_activations(result, chain)
    return _store(result, given, values, device, exact=exact)


def _product_on_card(
    a: Array, b: Array, tensors: tuple[Tensor, ...], values: dict[str, Any], device: MeshDevice
) -> Array | None:
    """The bits of a card's product, where they are known."""
    config = values["compute_kernel_config"]
    if not device.card_steps or a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        return None
    if MULTIPLICATION_STEPS * a.size * b.shape[-1] > device.card_steps:
        return None
    if not (config is None or isinstance(config, WormholeComputeKernelConfig)):
        return None
    from ttmlir.sim.machine.card_functions import card_function
    from ttmlir.sim.machine.card_products import default_formats, multiply_matrices

    result = tensors[0].dtype if values["dtype"] is None else values["dtype"]
    kept = [each.facts.storage for each in (tensors[0].dtype, tensors[1].dtype, result)]
    formats = default_formats(kept[0], kept[1], kept[2], device.arch())
    if config is not None and config.math_fidelity is not MathFidelity.Invalid:
        formats = formats._replace(
            fidelity=CardFidelity[config.math_fidelity.name.upper()],
            wide=config.fp32_dest_acc_en,
            in_l1=config.packer_l1_acc,
        )
    activate = None
    if values["activation"] is not None:
        # It takes what the product leaves in memory.
        name = values["activation"]
        if isinstance(name, str):
            activate = card_function(name, device.arch(), [formats.out])
        if activate is None:
            return None
    bias = None
    if len(tensors) > 2:
        row = tensors[2]
        if row.array.size != b.shape[-1]:
            return None
        bias = (row.array, row.dtype.facts.storage)
    plan = values["program_config"]
    block = plan.in0_block_w if isinstance(plan, MatmulPlan) else None
    product = multiply_matrices(a, b, formats, device.arch(), bias, block)
    return activate.function(product) if activate and product is not None else product


def _fitting_bias(bias: Tensor, product: tuple[int, ...]) -> Array:
    """The bias, which broadcasts with a product of the given shape; else ArgumentError."""
    try:
        broadcast_shape(product, bias.array.shape)
    except ArgumentError as error:
        raise ArgumentError(
            f"bias has {bias.shape}, the product Shape({list(product)}): each extent of a bias is "
            "1 or that of the product; use ttnn.reshape or ttnn.repeat"
        ) from error
    return bias.array


def require_tiles(tensor: Tensor, name: str) -> None:
    """RuntimeError for a tensor in rows."""
    if tensor.layout is not Layout.TILE:
        raise UsageError(
            f"{name} must be in TILE_LAYOUT: the matrix unit takes tiles; use ttnn.to_layout"
        )


def _transposed(array: Array, swap: bool) -> Array:
    return np.swapaxes(array, -1, -2) if swap else array


def _product(a: Array, b: Array) -> Array:
    """The product of matrices, or of vectors as in torch; ValueError with both shapes."""
    rows = a[None, :] if a.ndim == 1 else a
    columns = b[:, None] if b.ndim == 1 else b
    try:
        matmul_shape(rows.shape, columns.shape)
    except ArgumentError as error:
        raise ArgumentError(
            f"The width of the first tensor must be equal to the height of the second tensor: "
            f"{list(a.shape)} and {list(b.shape)} ({error})"
        ) from error
    result = reference_of("matmul")(np, rows, columns)
    if a.ndim == 1:
        result = result[..., 0, :]
    return result[..., 0] if b.ndim == 1 else result


def _store(
    result: Array,
    operands: tuple[Tensor, ...],
    values: dict[str, Any],
    device: Any,
    *,
    exact: bool = False,
) -> Tensor:
    """Interleaved in DRAM, unless another memory is asked for."""
    config = values["memory_config"]
    return store(
        np.asarray(result),
        operands,
        device=device,
        dtype=values["dtype"],
        layout=Layout.TILE,
        memory_config=DRAM_MEMORY_CONFIG if config is None else config,
        output_tensor=values["optional_output_tensor"],
        exact=exact,
    )


def _add_product(values: dict[str, Any]) -> Tensor:
    """beta * input + alpha * (m1 @ m2)."""
    names = ("input_tensor", "mat1_tensor", "mat2_tensor")
    added, a, b = given = tuple(require_tensor(values[name], name) for name in names)
    device = common_device(*given)
    for tensor, name in zip(given, names, strict=True):
        require_tiles(tensor, name)
    require_floats(*given)
    product = _product(a.array, b.array)
    if added.shape != product.shape:
        raise ArgumentError(
            f"input_tensor has {added.shape}, the product Shape({list(product.shape)}); they must "
            "be the same; use ttnn.expand"
        )
    result = values["alpha"] * product + values["beta"] * added.array
    return _store(np.asarray(result, added.array.dtype), given, values, device)


OPERATIONS: dict[str, Operation] = table_of(
    Operation("matmul", multiply, f"input_tensor_a, input_tensor_b, {TAIL}"),
    Operation("linear", multiply, f"input_tensor_a, input_tensor_b, {TAIL}, bias=None"),
    Operation(
        "addmm",
        _add_product,
        f"input_tensor, mat1_tensor, mat2_tensor, {_WITHOUT_TRANSPOSE}, alpha=1.0, beta=1.0",
    ),
)
