"""Tensors of numbers that a rule gives: constants, sequences, random numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    operations_of,
    remember_program,
    require_tensor,
    store,
)
from ttmlir.ttnn.tensor.conversion import make_tensor
from ttmlir.ttnn.tensor.formats import compute_type, round_to
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG, Extents, MemoryConfig
from ttmlir.ttnn.types.spec import TensorSpec

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice


def full(
    shape: Extents,
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """A tensor of one number."""
    if optional_tensor is not None:
        dtype = optional_tensor.dtype
    dtype = DataType.BFLOAT16 if dtype is None else dtype
    array = np.full(tuple(shape), fill_value, compute_type(dtype))
    if optional_tensor is not None:
        optional_tensor.storage.array = round_to(array, dtype, own=True)
        return optional_tensor
    return make_tensor(array, dtype, layout=layout, device=device, memory_config=memory_config)


def zeros(
    shape: Extents,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of zeros."""
    return full(shape, 0, dtype, layout, device, memory_config)


def ones(
    shape: Extents,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of ones."""
    return full(shape, 1, dtype, layout, device, memory_config)


def full_like(
    tensor: Tensor,
    fill_value: float,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """A tensor of one number, and in all else as another tensor."""
    like = require_tensor(tensor, "tensor")
    device = like.device() if device is None else device
    if device is not None:
        remember_program(device)
    return full(
        like.shape,
        fill_value,
        like.dtype if dtype is None else dtype,
        like.layout if layout is None else layout,
        device,
        like.memory_config() if memory_config is None else memory_config,
        optional_tensor,
    )


def zeros_like(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Zeros, and in all else as another tensor."""
    return full_like(tensor, 0, *args, **kwargs)


def ones_like(tensor: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Ones, and in all else as another tensor."""
    return full_like(tensor, 1, *args, **kwargs)


def empty(
    shape: Extents,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor whose numbers nobody has written; zeros on the host."""
    if device is None:
        return full(shape, 0, dtype, layout)
    config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    return Tensor.on(device, TensorSpec(shape, dtype, layout, config), None)


def empty_like(
    tensor: Tensor,
    *,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor as another one whose numbers nobody has written."""
    like = require_tensor(tensor, "tensor")
    return empty(
        like.shape,
        like.dtype if dtype is None else dtype,
        like.layout if layout is None else layout,
        like.device() if device is None else device,
        like.memory_config() if memory_config is None else memory_config,
    )


def arange(
    *bounds: int,
    start: int = 0,
    end: int | None = None,
    step: int = 1,
    dtype: DataType = DataType.BFLOAT16,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    layout: Layout = Layout.ROW_MAJOR,
) -> Tensor:
    """Numbers from `start` on and before `end`, `step` apart."""
    match bounds:
        case ():
            pass
        case (last,):
            end = last
        case (first, last):
            start, end = first, last
        case (first, last, distance):
            start, end, step = first, last, distance
        case _:
            raise ArgumentTypeError("arange takes end, or start, end and step")
    if end is None:
        raise ArgumentTypeError("arange is missing argument 'end'")
    array = np.arange(start, end, step).astype(compute_type(dtype))
    return make_tensor(array, dtype, layout=layout, device=device, memory_config=memory_config)


_streams: dict[str, np.random.Generator] = {}


def _generator(seed: int) -> np.random.Generator:
    if seed < 0:
        raise ArgumentError(f"a seed is not negative, got {seed}")
    return np.random.default_rng(seed)


def _random(seed: int) -> np.random.Generator:
    """Random numbers: of a seed, or, with 0, the next ones of this process."""
    if seed:
        return _generator(seed)
    return _streams.setdefault("", np.random.default_rng(0))


def manual_seed(
    seeds: int = 0,
    *,
    device: MeshDevice | None = None,
    user_ids: object = None,
    sub_core_grids: object = None,
) -> None:
    """Begin the random numbers of this process again."""
    _streams[""] = _generator(seeds)


def rand(
    shape: Extents,
    device: MeshDevice | None = None,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig = DRAM_MEMORY_CONFIG,
    low: float = 0.0,
    high: float = 1.0,
    seed: int = 0,
) -> Tensor:
    """Random numbers from `low` on and before `high`."""
    array: Array = _random(seed).random(tuple(shape), np.float32) * (high - low) + low
    return make_tensor(array, dtype, layout=layout, device=device, memory_config=memory_config)


def randn(
    shape: Extents,
    device: MeshDevice | None = None,
    *,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.TILE,
    memory_config: MemoryConfig = DRAM_MEMORY_CONFIG,
    compute_kernel_config: object = None,
    seed: int | None = None,
) -> Tensor:
    """Random numbers of the normal distribution around 0 with variance 1, in floating point."""
    if not dtype.facts.is_float:
        raise ArgumentError(f"numbers of a normal distribution are floating point, not {dtype}")
    array: Array = _random(seed or 0).standard_normal(tuple(shape), np.float32)
    return make_tensor(array, dtype, layout=layout, device=device, memory_config=memory_config)


def uniform(
    input_tensor: Tensor,
    from_: float = 0.0,
    to: float = 1.0,
    seed: int = 0,
    *,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
    **others: Any,
) -> Tensor:
    """Random numbers in place of a tensor's; `from_` is `from`, which Python keeps for itself."""
    tensor = require_tensor(input_tensor, "input_tensor")
    from_ = others.pop("from", from_)
    if others:
        raise ArgumentTypeError(f"uniform() got an unexpected keyword argument '{min(others)}'")
    drawn = _random(seed).random(tensor.shape, np.float32) * (to - from_) + from_
    return store(drawn.astype(np.float32), (tensor,), device=tensor.device(), output_tensor=tensor)


OPERATIONS: dict[str, Operation] = operations_of(
    *(full, zeros, ones, full_like, zeros_like, ones_like, empty, empty_like),
    *(arange, rand, randn, uniform, manual_seed),
)
