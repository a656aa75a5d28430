"""Tensors of arrays and arrays of tensors, tensors of one number or random ones, and in files."""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, TypeVar

import ml_dtypes
import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError, plural
from ttmlir.files import write_file
from ttmlir.metalium.mesh_shapes import MeshCoordinateRange, MeshShape
from ttmlir.runtime.tensor import Array, convert
from ttmlir.ttnn.operations.operation import (
    Operation,
    operations_of,
    remember_program,
    require_tensor,
    store,
)
from ttmlir.ttnn.tensor.distribution import (
    MeshMapperConfig,
    MeshToTensor,
    PlacementShard,
    TensorToMesh,
    TensorTopology,
    choose_composer,
    choose_mapper,
)
from ttmlir.ttnn.tensor.tensor import Tensor, compute_type, round_to
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import (
    DRAM_MEMORY_CONFIG,
    Extents,
    MemoryConfig,
    Shape,
    without_shards,
)
from ttmlir.ttnn.types.spec import TensorSpec, Tile

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice
    from ttmlir.ttnn.types.memory import MemoryConfig


# --- Conversion -----------------------------------------------------------------------------------

T = TypeVar("T")

_TYPES = {
    np.dtype(np.float32): DataType.FLOAT32,
    np.dtype(ml_dtypes.bfloat16): DataType.BFLOAT16,
    np.dtype(np.float16): DataType.BFLOAT16,
    np.dtype(np.int64): DataType.UINT32,
    np.dtype(np.uint32): DataType.UINT32,
    np.dtype(np.int32): DataType.INT32,
    np.dtype(np.int16): DataType.UINT16,
    np.dtype(np.uint16): DataType.UINT16,
    np.dtype(np.uint8): DataType.UINT8,
    np.dtype(np.bool_): DataType.UINT8,
}
"""The data type of a tensor by that of its array, unless another one is asked for."""

HOST_TYPES = {
    DataType.BFLOAT16: np.dtype(ml_dtypes.bfloat16),
    DataType.FLOAT32: np.dtype(np.float32),
    DataType.BFLOAT8_B: np.dtype(np.float32),
    DataType.BFLOAT4_B: np.dtype(np.float32),
    DataType.UINT32: np.dtype(np.uint32),
    DataType.INT32: np.dtype(np.int32),
    DataType.UINT16: np.dtype(np.uint16),
    DataType.UINT8: np.dtype(np.uint8),
}
"""The type of the array of a tensor."""


def as_array(values: Any) -> Array:
    """The numbers of an array of NumPy or torch, or of nested lists; nobody else's memory."""
    if isinstance(values, Tensor):
        # NumPy would take it apart, and compute each element on the device.
        raise ArgumentTypeError("this is a ttnn.Tensor already; ttnn.to_torch gives its numbers")
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        if values.dtype == torch.bfloat16:
            return values.contiguous().view(torch.uint16).numpy().view(ml_dtypes.bfloat16).copy()
        return np.array(values.numpy())
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array__"):
        return np.array(np.from_dlpack(values))
    try:
        return np.array(values)
    except ValueError as error:
        raise ArgumentError(f"the values are no array: {error}") from error


def shape_array(values: Any, shape: Extents, dtype: DataType) -> Array:
    """Numbers one after another in a shape; ArgumentError if there are more or fewer."""
    array, wanted = as_array(values), Shape(shape)
    if array.size != math.prod(wanted):
        raise ArgumentError(f"{array.size} numbers for a tensor of {wanted}")
    return array.astype(compute_type(dtype)).reshape(wanted)


def data_type_of(array: Array) -> DataType:
    """The data type for an array; RuntimeError for arrays that have none."""
    found = _TYPES.get(array.dtype)
    if found is None:
        raise UsageError(
            f"no data type of ttnn stands for {array.dtype}; give dtype, such as ttnn.float32"
        )
    return found


def make_tensor(
    array: Array,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    mesh_mapper: Any = None,
) -> Tensor:
    """A tensor with the numbers of an array, rounded once; with a mapper, divided over a mesh.

    RuntimeError for a mapper for other devices.
    """
    mapper = choose_mapper(mesh_mapper)
    if mapper is not None and mapper.mesh_shape.mesh_size() > 1:
        units = _units_of(mapper, device)
        parts = [
            make_tensor(
                part,
                dtype,
                layout=layout,
                device=unit,
                memory_config=memory_config,
                tile=tile,
                pad_value=pad_value,
                mesh_mapper=_ALONE,
            )
            for part, unit in zip(mapper.divide(array), units, strict=True)
        ]
        return Tensor.divided(parts, device, mapper.topology)
    dtype = data_type_of(array) if dtype is None else dtype
    if layout is None:
        layout = Layout.TILE if dtype.facts.is_block else Layout.ROW_MAJOR
    config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    spec = TensorSpec(array.shape, dtype, layout, config, tile=tile)
    if array.dtype == np.dtype(np.int64) and dtype is DataType.UINT32:
        array = array.astype(np.uint32)
    tensor = Tensor.on(device, spec, round_to(array, dtype, own=array.base is None))
    tensor.pad_value = 0.0 if pad_value is None else pad_value
    return tensor


_ALONE = TensorToMesh(MeshShape(1, 1), MeshMapperConfig(row_dim=None, col_dim=None))
"""The mapper of a part, for which that of a `with` block is not meant."""


def _units_of(
    mapper: TensorToMesh, device: MeshDevice | None
) -> Sequence[MeshDevice] | Sequence[None]:
    """The devices that the parts are for; RuntimeError if there are more or fewer."""
    count = mapper.mesh_shape.mesh_size()
    if device is None:
        return [None] * count
    if len(device.units) != count:
        raise UsageError(
            f"the mapper is for the {plural(count, 'device')} of {mapper.mesh_shape}, {device} "
            f"has {len(device.units)}"
        )
    return device.units


def distribute_tensor(
    tensor: Tensor, mapper: TensorToMesh, mesh_device: MeshDevice | None = None
) -> Tensor:
    """A tensor on the host divided over the devices of a mesh, or still on the host without one."""
    spec = require_tensor(tensor, "tensor").spec
    config = spec.memory_config
    if choose_mapper(mapper) is None:
        raise ArgumentTypeError("distribute_tensor takes a mapper; see ttnn.create_mesh_mapper")
    if tensor.device() is not None:
        raise UsageError("it takes a tensor on the host; use tensor.cpu() first")
    return make_tensor(
        tensor.array,
        spec.dtype,
        layout=spec.layout,
        device=mesh_device,
        memory_config=config,
        tile=spec.tile,
        mesh_mapper=mapper,
    )


def aggregate_tensor(tensor: Tensor, composer: MeshToTensor) -> Tensor:
    """The parts of a tensor put together, on the host."""
    if choose_composer(composer) is None:
        raise ArgumentTypeError("aggregate_tensor takes a composer; see ttnn.create_mesh_composer")
    spec = require_tensor(tensor, "tensor").spec
    array = composer.join([each.array for each in tensor.parts])
    config = without_shards(spec.memory_config)
    whole = Tensor.on(None, spec.replace(shape=array.shape, memory_config=config), array)
    whole.pad_value = tensor.pad_value
    return whole


def get_device_tensors(tensor: Tensor) -> list[Tensor]:
    """The part of each device, row by row; RuntimeError once they were deallocated."""
    return [*require_tensor(tensor, "tensor").parts]


def from_host_shards(tensors: Sequence[Tensor], mesh_shape: MeshShape) -> Tensor:
    """The tensor on the host whose parts these are; RuntimeError unless there is one a device."""
    parts = [require_tensor(each, "an entry of tensors") for each in tensors]
    if len(parts) != mesh_shape.mesh_size():
        raise UsageError(
            f"{plural(len(parts), 'part')} for a mesh of {mesh_shape}, which has "
            f"{plural(mesh_shape.mesh_size(), 'device')}"
        )
    if any(each.device() is not None for each in parts):
        raise UsageError(
            "parts are on the host; ttnn.combine_device_tensors takes those of devices"
        )
    return parts[0] if len(parts) == 1 else Tensor.divided(parts, None, _sharded(mesh_shape))


def _sharded(shape: MeshShape) -> TensorTopology:
    """Parts of which nothing is known but the devices that they are for."""
    placed = (PlacementShard(0),)
    places = tuple(MeshCoordinateRange(shape))
    return TensorTopology(MeshShape([shape.mesh_size()]), placed, places)


def combine_device_tensors(*, tensors: Sequence[Tensor]) -> Tensor:
    """The tensor whose parts these are, on different devices of one mesh, in the mesh's order.

    RuntimeError unless each device of the mesh has one.
    """
    from ttmlir.ttnn.device.mesh import open_meshes

    parts = [require_tensor(each, "an entry of tensors") for each in tensors]
    units = tuple(each.device() for each in parts)
    if len(parts) == 1:
        return parts[0]
    mesh = next((each for each in open_meshes() if each.units == units), None)
    if mesh is None:
        raise UsageError(
            "the tensors are not the parts of all devices of a mesh, row by row; a submesh of "
            "those that have one is made by mesh_device.create_submesh(shape, offset)"
        )
    return Tensor.divided(parts, mesh, _sharded(mesh.shape))


def from_torch(
    tensor: Any,
    dtype: DataType | None = None,
    *,
    spec: TensorSpec | None = None,
    tile: Tile | None = None,
    pad_value: float | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    mesh_mapper: Any = None,
    cq_id: int | None = None,
) -> Tensor | None:
    """A tensor with the numbers of a torch tensor, divided by a mapper; None of None."""
    if tensor is None:
        return None
    if spec is not None:
        if any(each is not None for each in (dtype, layout, memory_config, tile)):
            raise UsageError("spec excludes dtype, layout, memory_config and tile")
        if tuple(tensor.shape) != spec.shape:
            raise UsageError(f"spec is for {spec.shape}, the tensor has {list(tensor.shape)}")
        dtype, layout, memory_config, tile = spec.dtype, spec.layout, spec.memory_config, spec.tile
    if memory_config is not None and memory_config.is_sharded() and not memory_config.has_shards:
        raise UsageError(
            "a sharded memory_config needs its shard_spec to place a tensor; "
            "ttnn.create_sharded_memory_config makes one for a shape and cores"
        )
    return make_tensor(
        as_array(tensor),
        dtype,
        layout=layout,
        device=device,
        memory_config=memory_config,
        tile=tile,
        pad_value=pad_value,
        mesh_mapper=mesh_mapper,
    )


def to_numpy(tensor: Tensor, *, mesh_composer: Any = None) -> Array:
    """An array of the tensor's data type, without padding; block floats as float32.

    A composer puts the parts of several devices together; RuntimeError without one.
    """
    composer = choose_composer(mesh_composer)
    if composer is not None and require_tensor(tensor, "tensor").mesh_storage is not None:
        tensor = aggregate_tensor(tensor, composer)
    array = convert(tensor.array, HOST_TYPES[tensor.dtype])
    return array.copy() if array is tensor.array or array.base is not None else array


def ttnn_dtype_to_torch_dtype(dtype: DataType) -> Any:
    """The data type of torch that `to_torch` gives."""
    import torch

    return getattr(torch, HOST_TYPES[dtype].name)


def to_torch(
    tensor: Tensor,
    dtype: Any = None,
    *,
    torch_rank: int | None = None,
    mesh_composer: Any = None,
    device: MeshDevice | None = None,
    cq_id: int | None = None,
) -> Any:
    """A torch tensor without padding; `torch_rank` drops leading extents of 1.

    A composer puts the parts of several devices together; RuntimeError without one.
    """
    import torch

    array = to_numpy(tensor, mesh_composer=mesh_composer)
    if array.dtype == ml_dtypes.bfloat16:
        result = torch.as_tensor(array.view(np.uint16)).view(torch.bfloat16)
    else:
        result = torch.as_tensor(np.ascontiguousarray(array).reshape(array.shape))
    if torch_rank is not None:
        while result.ndim > torch_rank:
            if result.shape[0] != 1:
                raise UsageError(f"{tensor.shape} has no rank {torch_rank}")
            result = result.squeeze(0)
    if dtype is not None and not isinstance(dtype, torch.dtype):
        raise ArgumentTypeError(f"dtype is a torch.dtype, not {dtype!r}")
    return result if dtype is None else result.to(dtype)


def create_tensor(
    values: Any,
    shape: Any = None,
    data_type: DataType | Any = None,
    layout: Layout | Any = None,
    device: Any = None,
    mem_config: MemoryConfig | None = None,
    tile: Tile | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    pad_value: float | None = None,
    **others: Any,
) -> Tensor:
    """The constructor of tensors: of an array, of numbers and a shape, or of another tensor."""
    unknown = others.keys() - {"cq_id", "mesh_mapper"}
    if unknown:
        raise ArgumentTypeError(f"Tensor got an unexpected keyword argument '{min(unknown)}'")
    if isinstance(values, Tensor):
        return Tensor.of(values.spec, values.storage)
    if isinstance(values, list) and not isinstance(shape, DataType | None):
        array = shape_array(values, shape, data_type)
        given: tuple[Any, ...] = (data_type, layout, device, memory_config, mem_config, tile)
    else:
        array = as_array(values)
        # Tensor(array, data_type, device, layout, mem_config, tile): told apart by their types.
        given = (shape, data_type, layout, device, memory_config, mem_config, tile)
    kinds = (DataType, Layout, MemoryConfig, Tile, NoneType)
    return make_tensor(
        array,
        _first(given, DataType),
        layout=_first(given, Layout),
        device=next((each for each in given if not isinstance(each, kinds)), None),
        memory_config=_first(given, MemoryConfig),
        tile=_first(given, Tile),
        pad_value=pad_value,
        mesh_mapper=others.get("mesh_mapper"),
    )


def _first(given: Sequence[Any], kind: type[T]) -> T | None:
    """The first argument of a type."""
    return next((each for each in given if isinstance(each, kind)), None)


def allocate_tensor_on_device(
    shape: TensorSpec | Extents | None = None,
    dtype: DataType | Any = None,
    layout: Layout = Layout.TILE,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor on a device whose numbers nobody has written: of a spec, or of its parts."""
    spec, device = _spec_and_device(shape, dtype, layout, device, memory_config)
    if device is None:
        raise ArgumentTypeError("allocate_tensor_on_device takes a device")
    return Tensor.on(device, spec, None)


def allocate_tensor_on_host(
    shape: TensorSpec | Extents | None = None,
    dtype: DataType | Any = None,
    layout: Layout = Layout.TILE,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor on the host, of zeros: of a spec, or of its parts."""
    spec, _ = _spec_and_device(shape, dtype, layout, device, memory_config)
    return Tensor.on(None, spec, np.zeros(spec.shape, compute_type(spec.dtype)))


def _spec_and_device(
    shape: TensorSpec | Extents | None,
    dtype: DataType | Any,
    layout: Layout,
    device: MeshDevice | None,
    memory_config: MemoryConfig | None,
) -> tuple[TensorSpec, MeshDevice | None]:
    if isinstance(shape, TensorSpec):
        given: Any = dtype if device is None else device
        return shape, given
    if shape is None:
        raise ArgumentTypeError("a tensor is allocated of a TensorSpec, or a shape and a data type")
    if not isinstance(dtype, DataType):
        raise ArgumentTypeError(f"dtype is a ttnn.DataType, such as ttnn.bfloat16, not {dtype!r}")
    config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    return TensorSpec(shape, dtype, layout, config), device


def copy_host_to_device_tensor(
    host_tensor: Tensor, device_tensor: Tensor, cq_id: int | None = None
) -> None:
    """Write the numbers of a tensor on the host to one on a device."""
    _check_same(host_tensor, device_tensor)
    device_tensor.device_storage().array = host_tensor.array


def copy_device_to_host_tensor(
    device_tensor: Tensor, host_tensor: Tensor, blocking: bool = True, cq_id: int | None = None
) -> None:
    """Write the numbers of a tensor on a device to one on the host."""
    _check_same(device_tensor, host_tensor)
    host_tensor.storage.array = device_tensor.array


def _check_same(source: Tensor, target: Tensor) -> None:
    if source.shape != target.shape or source.dtype != target.dtype:
        raise UsageError(
            f"a tensor of {source.shape}, {source.dtype} cannot be copied to one of "
            f"{target.shape}, {target.dtype}"
        )


def from_buffer(
    buffer: Sequence[float],
    shape: Extents,
    dtype: DataType,
    device: MeshDevice | None = None,
    layout: Layout | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor of numbers one after another."""
    array = shape_array(buffer, shape, dtype)
    return make_tensor(array, dtype, layout=layout, device=device, memory_config=memory_config)


_CONVERSION: dict[str, Operation] = {
    **operations_of(
        *(from_torch, create_tensor, from_buffer),
        *(allocate_tensor_on_device, allocate_tensor_on_host),
        *(copy_host_to_device_tensor, copy_device_to_host_tensor),
    ),
    **operations_of(
        *(to_torch, to_numpy, distribute_tensor, aggregate_tensor, get_device_tensors),
        *(from_host_shards, combine_device_tensors),
        crosses_devices=True,
    ),
}


# --- Creation -------------------------------------------------------------------------------------


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
    extents = Shape(shape)
    try:
        array = np.full(extents, fill_value, compute_type(dtype))
    except OverflowError as error:
        raise ArgumentError(f"fill_value={fill_value} is no number of {dtype}") from error
    if optional_tensor is not None:
        if optional_tensor.shape != extents:
            raise UsageError(f"optional_tensor has {optional_tensor.shape}, the result {extents}")
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


def zeros_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """Zeros, and in all else as another tensor."""
    return full_like(tensor, 0, dtype, layout, device, memory_config, optional_tensor)


def ones_like(
    tensor: Tensor,
    dtype: DataType | None = None,
    layout: Layout | None = None,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    optional_tensor: Tensor | None = None,
) -> Tensor:
    """Ones, and in all else as another tensor."""
    return full_like(tensor, 1, dtype, layout, device, memory_config, optional_tensor)


def empty(
    shape: Extents,
    dtype: DataType = DataType.BFLOAT16,
    layout: Layout = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """A tensor on a device whose numbers nobody has written."""
    if device is None:
        raise ArgumentTypeError(
            "device is what ttnn.open_device returns; ttnn.zeros makes tensors on the host, too"
        )
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


def random_numbers(seed: int) -> np.random.Generator:
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
    if device is None:
        raise ArgumentTypeError("device is what ttnn.open_device returns")
    if dtype is DataType.UINT8:
        raise ArgumentError("it makes no random numbers of uint8")
    array: Array = random_numbers(seed).random(Shape(shape), np.float32) * (high - low) + low
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
    array: Array = random_numbers(seed or 0).standard_normal(Shape(shape), np.float32)
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
    drawn = random_numbers(seed).random(tensor.shape, np.float32) * (to - from_) + from_
    return store(drawn.astype(np.float32), (tensor,), device=tensor.device(), output_tensor=tensor)


_CREATION: dict[str, Operation] = operations_of(
    *(full, zeros, ones, full_like, zeros_like, ones_like, empty, empty_like),
    *(arange, rand, randn, uniform, manual_seed),
)


# --- Files ----------------------------------------------------------------------------------------

EXTENSION = ".tensorbin"
_MAGIC = b"ttmlirT1"
_MOST_HEADER = 1 << 12
_MOST_DIMENSIONS = 8


def dump_tensor(file_name: str | os.PathLike[str], tensor: Tensor) -> None:
    """Write a tensor to a file; RuntimeError for another extension."""
    path = _path(file_name)
    array = np.ascontiguousarray(to_numpy(require_tensor(tensor, "tensor")))
    spec = tensor.spec
    facts = {"dtype": spec.dtype.name, "layout": spec.layout.name, "shape": [*spec.shape]}
    header = json.dumps(facts, sort_keys=True).encode()
    data = array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    write_file(path, _MAGIC + len(header).to_bytes(4, "little") + header + data)


def load_tensor(file_name: str | os.PathLike[str], *, device: MeshDevice | None = None) -> Tensor:
    """The tensor in a file, on a device if one is given; RuntimeError if the file is no tensor's.

    The sizes in the header are compared with the file's before memory is taken.
    """
    path = _path(file_name)
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            start = file.read(len(_MAGIC) + 4)
            if start[: len(_MAGIC)] != _MAGIC or len(start) < len(_MAGIC) + 4:
                raise UsageError(f"{path} was not written by dump_tensor of this package")
            length = int.from_bytes(start[len(_MAGIC) :], "little")
            if length > _MOST_HEADER:
                raise UsageError(f"{path}: a header of {length} bytes is too long")
            dtype, layout, shape = _read_header(path, file.read(length))
            stored = HOST_TYPES[dtype].newbyteorder("<")
            expected = len(start) + length + math.prod(shape) * stored.itemsize
            if size != expected:
                raise UsageError(f"{path} has {size} bytes, its header says {expected}")
            data = file.read()
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from error
    array = np.frombuffer(data, stored).reshape(shape).astype(HOST_TYPES[dtype])
    return make_tensor(array, dtype, layout=layout, device=device)


def _path(file_name: str | os.PathLike[str]) -> Path:
    path = Path(file_name)
    if path.suffix != EXTENSION:
        raise UsageError(f"{path}: names of files with tensors end in {EXTENSION}")
    return path


def _read_header(path: Path, text: bytes) -> tuple[DataType, Layout, tuple[int, ...]]:
    try:
        facts: Any = json.loads(text)
        dtype, layout = DataType[facts["dtype"]], Layout[facts["layout"]]
        shape = tuple(facts["shape"])
    except (ValueError, KeyError, TypeError, RecursionError):
        raise UsageError(f"{path}: the header is none of a tensor") from None
    whole = all(type(extent) is int and 0 <= extent < 1 << 31 for extent in shape)
    if not whole or len(shape) > _MOST_DIMENSIONS:
        raise UsageError(f"{path}: the header's shape is none of a tensor")
    if dtype is DataType.INVALID or layout is Layout.INVALID:
        raise UsageError(f"{path}: the header is none of a tensor")
    return dtype, layout, shape


def _cached_name(cache_file_name: Any, dtype: DataType | None, layout: Layout | None) -> Path:
    """The file of a cache for a data type and a layout."""
    wanted = "NONE" if dtype is None else dtype.name
    kept = "NONE" if layout is None else layout.name
    return Path(f"{cache_file_name}_dtype_{wanted}_layout_{kept}{EXTENSION}")


def as_tensor(
    tensor: Any,
    dtype: DataType | None = None,
    *,
    layout: Layout | None = Layout.ROW_MAJOR,
    device: MeshDevice | None = None,
    memory_config: MemoryConfig | None = None,
    cache_file_name: Any = None,
    preprocess: Callable[[Any], Any] | None = None,
    mesh_mapper: Any = None,
) -> Tensor | None:
    """As `from_torch`, after `preprocess`; a device needs a memory configuration.

    With `cache_file_name` the tensor is read from a file if that is there, else written to it,
    before a mapper divides it.
    """
    if device is not None and memory_config is None:
        raise UsageError("memory_config is needed where a device is given")
    if dtype is not None and dtype.facts.is_block:
        layout = Layout.TILE
    if cache_file_name is None:
        values = tensor if preprocess is None else preprocess(tensor)
        return from_torch(
            values,
            dtype,
            layout=layout,
            device=device,
            memory_config=memory_config,
            mesh_mapper=mesh_mapper,
        )
    path = _cached_name(cache_file_name, dtype, layout)
    if path.exists():
        found = load_tensor(path)
    else:
        found = from_torch(
            tensor if preprocess is None else preprocess(tensor),
            dtype,
            layout=layout,
            mesh_mapper=_ALONE,
        )
        if found is None:
            return None
        path.parent.mkdir(parents=True, exist_ok=True)
        dump_tensor(path, found)
    if (mapper := choose_mapper(mesh_mapper)) is not None:
        config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
        placed = Tensor.on(None, found.spec.replace(memory_config=config), found.array)
        return distribute_tensor(placed, mapper, device)
    if device is None or memory_config is None:
        return found
    return Tensor.on(device, found.spec.replace(memory_config=memory_config), found.array)


_FILES: dict[str, Operation] = operations_of(as_tensor, dump_tensor, load_tensor)


OPERATIONS: dict[str, Operation] = {**_CONVERSION, **_CREATION, **_FILES}
