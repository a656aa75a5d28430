"""Operations that move tensors, or keep them in another way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.sim.machine.card_steps import CAST_STEPS
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    common_device,
    is_strict,
    operations_of,
    require_tensor,
    store,
)
from ttmlir.ttnn.tensor.conversion import HOST_TYPES, to_numpy
from ttmlir.ttnn.tensor.tensor import DeviceStorage, Tensor, pad, round_to
from ttmlir.ttnn.types.enums import DataType, Layout, StorageKind
from ttmlir.ttnn.types.memory import (
    DRAM_MEMORY_CONFIG,
    Extents,
    MemoryConfig,
    Shape,
    without_shards,
)
from ttmlir.ttnn.types.spec import TensorSpec

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice


def to_device(
    tensor: Tensor,
    device: MeshDevice,
    memory_config: MemoryConfig | None = None,
    cq_id: int | None = None,
) -> Tensor:
    """The tensor on a device, in DRAM unless another memory is asked for."""
    require_tensor(tensor, "tensor")
    if tensor.device() is device:
        # It is there already; another memory is asked for with `to_memory_config`.
        return tensor
    config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    moved = Tensor.on(device, tensor.spec.replace(memory_config=config), tensor.array)
    moved.pad_value = tensor.pad_value
    return moved


def from_device(tensor: Tensor, blocking: bool = True, cq_id: int | None = None) -> Tensor:
    """The tensor on the host."""
    if tensor.storage_type() is StorageKind.HOST:
        return tensor
    config = without_shards(tensor.spec.memory_config)
    moved = Tensor.on(None, tensor.spec.replace(memory_config=config), tensor.array)
    moved.pad_value = tensor.pad_value
    return moved


def to_layout(
    tensor: Tensor,
    layout: Layout | object,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    sub_core_grids: object = None,
    *,
    device: MeshDevice | None = None,
) -> Tensor:
    """The tensor in rows or in tiles."""
    require_tensor(tensor, "tensor")
    if not isinstance(layout, Layout):
        raise ArgumentTypeError(
            f"layout is a ttnn.Layout, such as ttnn.TILE_LAYOUT, not {layout!r}"
        )
    if layout is tensor.layout and memory_config in (None, tensor.spec.memory_config):
        return tensor
    if layout is Layout.ROW_MAJOR:
        if dtype not in (None, tensor.dtype) and is_strict(tensor):
            raise ArgumentError(
                f"rows keep the tensor's {tensor.dtype}; use ttnn.typecast before or after"
            )
        dtype = _type_in_rows(tensor) if dtype is None else dtype
    return _kept_as(tensor, layout=layout, dtype=dtype, memory_config=memory_config)


def _type_in_rows(tensor: Tensor) -> DataType | None:
    """The data type of a tensor's rows if it is another: a device makes bfloat16 of block floats.

    ValueError for block floats on the host.
    """
    if not tensor.dtype.facts.is_block:
        return None
    if not isinstance(tensor.storage, DeviceStorage):
        raise ArgumentError(
            f"{tensor.dtype} has no rows, and on the host it is not converted; use "
            "ttnn.typecast(tensor, ttnn.bfloat16) first, or a tensor on a device"
        )
    return DataType.BFLOAT16


def to_memory_config(
    tensor: Tensor,
    memory_config: MemoryConfig,
    dtype: DataType | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """The tensor in another memory, or in other shards."""
    common_device(require_tensor(tensor, "tensor"))
    if output_tensor is None and memory_config == tensor.spec.memory_config:
        return tensor
    return _kept_as(tensor, dtype=dtype, memory_config=memory_config, output_tensor=output_tensor)


def _kept_as(
    tensor: Tensor,
    *,
    layout: Layout | None = None,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """A new tensor with the same numbers."""
    return store(
        tensor.array,
        (tensor,),
        device=tensor.device(),
        dtype=dtype,
        layout=layout,
        memory_config=memory_config,
        output_tensor=output_tensor,
        exact=dtype in (None, tensor.dtype),
    )


def to_dtype(tensor: Tensor, dtype: DataType) -> Tensor:
    """The tensor, which is on the host, with numbers of another type."""
    if isinstance(tensor.storage, DeviceStorage):
        raise ArgumentError("it takes a tensor on the host; use ttnn.typecast on a device")
    layout = Layout.TILE if dtype.facts.is_block else tensor.layout
    spec = tensor.spec.replace(dtype=dtype, layout=layout)
    return Tensor.on(tensor.device(), spec, round_to(tensor.array, dtype))


def typecast(
    input_tensor: Tensor,
    dtype: DataType,
    output_dtype: DataType | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    sub_core_grids: object = None,
) -> Tensor:
    """The tensor with numbers of another type; with two types, the first is the tensor's own."""
    wanted = dtype if output_dtype is None else output_dtype
    tensor = require_tensor(input_tensor, "input_tensor")
    if output_dtype is not None and dtype != tensor.dtype:
        raise UsageError(f"input_dtype is {dtype}, but the tensor has {tensor.dtype}")
    array, device = None, tensor.device()
    if device is not None and CAST_STEPS * tensor.array.size <= device.card_steps:
        from ttmlir.sim.machine.card_formats import cast

        array = cast(tensor.array, tensor.dtype.facts.storage, wanted.facts.storage)
    return store(
        round_to(tensor.array, wanted) if array is None else array,
        (tensor,),
        device=device,
        dtype=wanted,
        memory_config=memory_config,
        output_tensor=output_tensor,
        exact=True,
    )


def bitcast(
    input_tensor: Tensor,
    dtype: DataType,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """The same bits as numbers of another type of the same size."""
    tensor = require_tensor(input_tensor, "input_tensor")
    device = common_device(tensor)
    old, new = tensor.dtype.facts, dtype.facts
    if old.element_bytes != new.element_bytes or old.is_block:
        raise UsageError(f"bitcast of {tensor.dtype} to {dtype}: the numbers differ in size")
    bits = to_numpy(tensor).view(HOST_TYPES[dtype])
    return store(
        bits,
        (tensor,),
        device=device,
        dtype=dtype,
        memory_config=memory_config,
        output_tensor=output_tensor,
        exact=True,
    )


def clone(
    input_tensor: Tensor,
    *,
    dtype: DataType | None = None,
    memory_config: MemoryConfig | None = None,
    compute_kernel_config: object = None,
) -> Tensor:
    """A tensor of its own with the same numbers."""
    return _kept_as(input_tensor, dtype=dtype, memory_config=memory_config)


def move(input_tensor: Tensor, *, memory_config: MemoryConfig | None = None) -> Tensor:
    """The tensor at another place; its old memory is given back."""
    array, spec, device = input_tensor.array, input_tensor.spec, input_tensor.device()
    input_tensor.deallocate(force=True)
    config = spec.memory_config if memory_config is None else memory_config
    return Tensor.on(device, spec.replace(memory_config=config), array)


def reallocate(tensor: Tensor, memory_config: MemoryConfig | None = None) -> Tensor:
    """As `move`: what other tensors left free is used again."""
    return move(tensor, memory_config=memory_config)


def deallocate(tensor: Tensor, force: bool = True) -> None:
    """Give the memory of a tensor back."""
    require_tensor(tensor, "tensor").deallocate(force)


def copy(input_a: Tensor, input_b: Tensor) -> Tensor:
    """Write the numbers of the first tensor to the second, which is returned."""
    return store(input_a.array, (input_a,), device=input_b.device(), output_tensor=input_b)


def assign(
    input_a: Tensor,
    input_b: Tensor | MemoryConfig | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """A tensor of its own with the same numbers, or those written to the second tensor."""
    target = input_b if isinstance(input_b, Tensor) else output_tensor
    if target is not None:
        return copy(input_a, target)
    config = input_b if isinstance(input_b, MemoryConfig) else memory_config
    return clone(input_a, dtype=dtype, memory_config=config)


def interleaved_to_sharded(
    input_tensor: Tensor,
    grid: MemoryConfig | object,
    shard_shape: Extents | DataType | None = None,
    shard_scheme: object = None,
    shard_orientation: object = None,
    output_dtype: DataType | None = None,
    *,
    keep_l1_aligned: bool = False,
) -> Tensor:
    """The tensor in shards: of a memory configuration, or of its parts."""
    if isinstance(grid, MemoryConfig):
        wanted = shard_shape if isinstance(shard_shape, DataType) else output_dtype
        return to_memory_config(input_tensor, grid, wanted)
    from ttmlir.metalium.cores import CoreCoord, CoreRange, CoreRangeSet
    from ttmlir.metalium.enums import BufferType, ShardOrientation, TensorMemoryLayout
    from ttmlir.ttnn.types.memory import ShardSpec

    match grid:
        case CoreRangeSet():
            cores = grid
        case (int(x), int(y)):
            cores = CoreRangeSet([CoreRange((0, 0), CoreCoord(x - 1, y - 1))])
        case _:
            raise ArgumentTypeError(f"grid is a CoreCoord or a CoreRangeSet, not {grid!r}")
    if not isinstance(shard_scheme, TensorMemoryLayout) or shard_shape is None:
        raise ArgumentTypeError(
            "interleaved_to_sharded takes grid, shard_shape, shard_scheme, orientation"
        )
    orientation = shard_orientation or ShardOrientation.ROW_MAJOR
    assert isinstance(orientation, ShardOrientation), "the orientation is one"
    assert not isinstance(shard_shape, DataType), "the shape is no data type"
    spec = ShardSpec(cores, tuple(shard_shape), orientation)
    config = MemoryConfig(shard_scheme, BufferType.L1, spec)
    return to_memory_config(input_tensor, config, output_dtype)


def sharded_to_interleaved(
    input_tensor: Tensor,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
    *,
    is_l1_aligned: bool = False,
) -> Tensor:
    """The tensor without shards, in DRAM unless another memory is asked for."""
    config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    if config.is_sharded():
        raise UsageError("sharded_to_interleaved takes an interleaved memory_config")
    return to_memory_config(input_tensor, config, output_dtype)


def reshard(
    input_tensor: Tensor, memory_config: MemoryConfig, output_tensor: Tensor | None = None
) -> Tensor:
    """The tensor in other shards."""
    return to_memory_config(input_tensor, memory_config, None, output_tensor)


def tilize(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    dtype: DataType | None = None,
    use_multicore: bool = True,
    use_low_perf: bool = False,
    sub_core_grids: object = None,
) -> Tensor:
    """The tensor in tiles; RuntimeError unless its last two extents are multiples of 32."""
    shape = input_tensor.shape
    if len(shape) < 2 or shape[-1] % 32 or shape[-2] % 32:
        raise UsageError(
            f"tilize takes whole tiles, got {shape}; use ttnn.tilize_with_zero_padding"
        )
    return _kept_as(input_tensor, layout=Layout.TILE, dtype=dtype, memory_config=memory_config)


def tilize_with_zero_padding(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
    use_multicore: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The tensor in tiles, of which the padding is zeros."""
    shape = input_tensor.spec.replace(layout=Layout.TILE, memory_config=DRAM_MEMORY_CONFIG)
    return tilize_with_val_padding(
        input_tensor,
        shape.padded_shape,
        0.0,
        memory_config=memory_config,
        output_dtype=output_dtype,
    )


def tilize_with_val_padding(
    input_tensor: Tensor,
    output_tensor_shape: Extents,
    pad_value: float,
    *,
    memory_config: MemoryConfig | None = None,
    output_dtype: DataType | None = None,
    use_multicore: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The tensor in tiles, padded with a number to a shape of whole tiles.

    The padding is no part of the logical shape. ValueError for a shape that is not of whole tiles,
    or smaller than the tensor.
    """
    shape = Shape(output_tensor_shape)
    height, width = input_tensor.tile.tile_shape
    fits = len(shape) == max(len(input_tensor.shape), 2)
    own = (1,) * (len(shape) - len(input_tensor.shape)) + input_tensor.shape
    if not fits or any(to < extent for to, extent in zip(shape, own, strict=True)):
        raise ArgumentError(f"{shape} is no padded shape of a tensor of {input_tensor.shape}")
    if shape[-2] % height or shape[-1] % width or shape[:-2] != own[:-2]:
        raise ArgumentError(
            f"{shape} must be divisible by the tile of {height}x{width}, and no larger "
            "in other dimensions"
        )
    spec = input_tensor.spec.replace(
        dtype=output_dtype, layout=Layout.TILE, memory_config=memory_config, padded_shape=shape
    )
    return _padded(input_tensor, spec, pad_value)


def _padded(tensor: Tensor, spec: TensorSpec, value: float) -> Tensor:
    """The tensor with another specification, and a number in its padding."""
    result = store(
        tensor.array,
        (tensor,),
        device=tensor.device(),
        dtype=spec.dtype,
        layout=spec.layout,
        memory_config=spec.memory_config,
        exact=spec.dtype is tensor.dtype,
        padded_shape=spec.padded_shape,
    )
    result.pad_value = value
    return result


def untilize(
    input_tensor: Tensor,
    *,
    memory_config: MemoryConfig | None = None,
    use_multicore: bool = True,
    use_pack_untilize: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The tensor in rows; block floats become bfloat16."""
    return to_layout(input_tensor, Layout.ROW_MAJOR, None, memory_config)


def untilize_with_unpadding(
    input_tensor: Tensor,
    output_tensor_end: Extents,
    *,
    memory_config: MemoryConfig | None = None,
    use_multicore: bool = True,
    use_pack_untilize: bool = True,
    sub_core_grids: object = None,
) -> Tensor:
    """The part of the tensor up to a position, which belongs to it, in rows."""
    end = tuple(output_tensor_end)
    if len(end) > len(input_tensor.shape):
        raise ArgumentError(
            f"output_tensor_end has {len(end)} positions for a tensor of {input_tensor.shape}"
        )
    whole = pad(input_tensor.array, input_tensor.spec, input_tensor.pad_value)
    array = whole[tuple(slice(last + 1) for last in end)]
    return store(
        array,
        (input_tensor,),
        device=input_tensor.device(),
        dtype=_type_in_rows(input_tensor),
        layout=Layout.ROW_MAJOR,
        memory_config=memory_config,
        exact=True,
    )


def is_tensor_storage_on_device(tensor: Tensor) -> bool:
    """Whether a tensor is on a device."""
    return tensor.storage_type() is StorageKind.DEVICE


def has_storage_type_of(tensor: Tensor, storage_type: StorageKind) -> bool:
    """Whether a tensor is on the host, or on a device."""
    return tensor.storage_type() is storage_type


def is_sharded(tensor: Tensor) -> bool:
    """Whether cores hold shards of a tensor."""
    return tensor.is_sharded()


def get_memory_config(tensor: Tensor) -> MemoryConfig | None:
    """The memory of a tensor on a device."""
    return tensor.memory_config() if isinstance(tensor.storage, DeviceStorage) else None


def has_tile_padding(tensor: Tensor, *, dim: int | None = None) -> bool:
    """Whether a tensor, or a dimension of it, was filled up to whole tiles."""
    if dim is None:
        return tensor.padded_shape != tensor.shape
    dim = as_dimension(dim, len(tensor.shape))
    return tensor.padded_shape[dim] != tensor.shape[dim]


def pad_to_tile_shape(unpadded_shape: Extents) -> list[int]:
    """A shape whose last two extents are rounded up to multiples of 32."""
    extents = [*unpadded_shape]
    if len(extents) < 2:
        raise ArgumentError(f"a shape of tiles has rows and columns, got {extents}")
    *outer, rows, columns = extents
    return [*outer, -(-rows // 32) * 32, -(-columns // 32) * 32]


def unsqueeze_to_4D(tensor: Tensor) -> Tensor:
    """The tensor with leading extents of 1, up to four dimensions."""
    if len(tensor.shape) > 4:
        raise UsageError("Tensor cannot have more than 4 dimensions!")
    shape = Shape((1,) * (4 - len(tensor.shape)) + tensor.shape)
    if isinstance(tensor.storage, DeviceStorage):
        return tensor if shape == tensor.shape else tensor.share(shape)
    return Tensor.on(None, tensor.spec.replace(shape=shape), tensor.array.reshape(shape))


def fill_implicit_tile_padding(
    input_tensor: Tensor, fill_value: float, *, memory_config: MemoryConfig | None = None
) -> Tensor:
    """The tensor with a number in its padding, in its own memory whatever is asked for."""
    return _padded(input_tensor, input_tensor.spec, fill_value)


OPERATIONS: dict[str, Operation] = operations_of(
    *(to_device, from_device, to_layout, to_memory_config, to_dtype, typecast, clone, move),
    bitcast,
    *(reallocate, deallocate, copy, assign, interleaved_to_sharded, sharded_to_interleaved),
    *(reshard, tilize, tilize_with_zero_padding, tilize_with_val_padding, untilize),
    *(untilize_with_unpadding, is_tensor_storage_on_device, has_storage_type_of, is_sharded),
    *(get_memory_config, has_tile_padding, pad_to_tile_shape, unsqueeze_to_4D),
    fill_implicit_tile_padding,
)
