"""Operations that move elements to other places, and take parts."""

from __future__ import annotations

import builtins
import math
from collections.abc import Mapping, Sequence
from types import EllipsisType
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, IndexRangeError, UsageError, plural
from ttmlir.metalium.enums import BufferType
from ttmlir.optable.rearrangement import Rearrangement
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.elementwise.semantics import reference_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_dimension,
    is_integer,
    is_strict,
    operations_of,
    require_tensor,
    store,
)
from ttmlir.ttnn.tensor.tensor import DeviceStorage, Tensor
from ttmlir.ttnn.types.enums import Layout
from ttmlir.ttnn.types.memory import DRAM_MEMORY_CONFIG, Extents, MemoryConfig, Shape

# --- Parts by brackets ----------------------------------------------------------------------------


def get_item(tensor: Tensor, index: Any) -> Tensor:
    """The part at integers, slices with positive steps and at most one ellipsis.

    IndexError outside of the tensor, TypeError for other indices.
    """
    places = full_index(tensor, index)
    part = tensor.array[tuple(places)]
    if part.shape == tensor.shape:
        return tensor
    return store(part, (tensor,), device=tensor.device(), exact=True)


def full_index(tensor: Tensor, index: Any) -> list[Any]:
    """An integer or a slice for each dimension; raises as `get_item` does."""
    shape = tensor.shape
    places: list[Any] = [*index] if isinstance(index, tuple) else [index]
    if sum(isinstance(each, EllipsisType) for each in places) > 1:
        raise IndexRangeError("a tensor's index has one ellipsis at most")
    for position, each in enumerate(places):
        if isinstance(each, EllipsisType):
            missing = len(shape) - (len(places) - 1)
            places[position : position + 1] = [builtins.slice(None)] * missing
            break
    if len(places) > len(shape):
        raise IndexRangeError(f"{plural(len(places), 'index')} for a tensor of {shape}")
    for extent, each in zip(shape, places, strict=False):
        _check(each, extent, isinstance(tensor.storage, DeviceStorage))
    return places + [builtins.slice(None)] * (len(shape) - len(places))


def _check(place: Any, extent: int, on_device: bool) -> None:
    match place:
        case bool() | None:
            raise ArgumentTypeError("a tensor's index has integers, slices and an ellipsis")
        case int():
            if not -extent <= place < extent:
                raise IndexRangeError(f"index {place} is out of range for an extent of {extent}")
        case builtins.slice():
            _, _, step = place.indices(extent)
            if step < 1:
                raise UsageError(f"the step of a slice is positive, got {step}")
            if step != 1 and not on_device:
                raise UsageError("slices of tensors on the host have step 1; use to_device first")
        case _:
            raise ArgumentTypeError("a tensor's index has integers, slices and an ellipsis")


_INDEXING: dict[str, Operation] = operations_of(get_item)


# --- Movement -------------------------------------------------------------------------------------


def _moved(
    tensor: Tensor,
    array: Array,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
) -> Tensor:
    """A tensor with numbers of another one."""
    return store(
        array,
        (tensor,),
        device=tensor.device(),
        memory_config=memory_config,
        output_tensor=output_tensor,
        exact=True,
    )


def _resolve(shape: Extents, volume: int) -> tuple[int, ...]:
    """A shape of which one extent may be -1, for so many numbers."""
    extents = tuple(int(extent) for extent in shape)
    if extents.count(-1) > 1 or min(extents, default=0) < -1:
        raise ArgumentError(f"one extent of a shape may be -1, got {list(extents)}")
    if -1 in extents:
        known = math.prod(extent for extent in extents if extent != -1)
        missing = volume // known if known else 0
        extents = tuple(missing if extent == -1 else extent for extent in extents)
    if math.prod(extents) != volume:
        raise ArgumentError(f"{volume} numbers cannot have the shape {list(extents)}")
    return extents


def reshape(
    input_tensor: Tensor,
    shape: Extents,
    padded_shape: Extents | None = None,
    *,
    memory_config: MemoryConfig | None = None,
    pad_value: float | None = None,
    reshape_tile_mode: object = None,
    sub_core_grids: object = None,
) -> Tensor:
    """The numbers, row by row, in another shape; one extent may be -1."""
    tensor = require_tensor(input_tensor, "input_tensor")
    array = tensor.array
    extents = _resolve(shape, array.size)
    if _stays(tensor, memory_config):
        if extents == tensor.shape:
            return tensor
        if not _find_moves(tensor, extents):
            return tensor.share(extents)
    return _moved(tensor, array.reshape(extents), memory_config)


def _stays(tensor: Tensor, memory_config: MemoryConfig | None) -> bool:
    """Whether a result with the same numbers in the same places is the tensor's own memory."""
    on_device = isinstance(tensor.storage, DeviceStorage)
    return on_device and memory_config in (None, tensor.spec.memory_config)


def _find_moves(tensor: Tensor, shape: tuple[int, ...]) -> str:
    """Why numbers would have other places in memory with another shape; empty if they would not."""
    old, new = ((1, 1, *extents)[-2:] for extents in (tensor.shape, shape))
    if old[1] != new[1]:
        return f"the last dimension cannot change in a view, from {old[1]} to {new[1]}"
    height = tensor.tile.tile_shape[0]
    if tensor.layout is Layout.TILE and old[0] != new[0] and (old[0] % height or new[0] % height):
        return f"{old[0]} and {new[0]} rows fill different tiles"
    return ""


def view(input_tensor: Tensor, shape: Extents) -> Tensor:
    """The tensor's memory with another shape; ValueError where numbers would have to move."""
    tensor = require_tensor(input_tensor, "input_tensor")
    extents = _resolve(shape, tensor.array.size)
    moves = _find_moves(tensor, extents)
    if moves:
        raise ArgumentError(f"{moves}; use ttnn.reshape")
    return reshape(tensor, extents)


def reshape_on_device(
    input_tensor: Tensor,
    W: int,
    Z: int,
    Y: int,
    X: int,
    *,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """As `reshape`, to four extents."""
    return reshape(input_tensor, (W, Z, Y, X), memory_config=memory_config)


def squeeze(input_tensor: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Without dimensions of extent 1: all of them, or those that are named."""
    shape = require_tensor(input_tensor, "input_tensor").shape
    named = range(len(shape)) if dim is None else ([dim] if is_integer(dim) else dim)
    dropped = {as_dimension(each, len(shape)) for each in named}
    kept = [extent for i, extent in enumerate(shape) if i not in dropped or extent != 1]
    return reshape(input_tensor, kept)


def unsqueeze(input_tensor: Tensor, dim: int) -> Tensor:
    """With a dimension of extent 1 at a place."""
    shape = list(require_tensor(input_tensor, "input_tensor").shape)
    shape.insert(as_dimension(dim, len(shape) + 1), 1)
    return reshape(input_tensor, shape)


def permute(
    input_tensor: Tensor,
    dims: Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
    pad_value: float | None = 0.0,
) -> Tensor:
    """The dimensions in another order."""
    tensor = require_tensor(input_tensor, "input_tensor")
    rank = len(tensor.shape)
    order = tuple(as_dimension(dim, rank) for dim in dims)
    if sorted(order) != list(range(rank)):
        raise ArgumentError(
            f"dims={list(dims)} are not the {rank} dimensions of the tensor, once each"
        )
    if order == tuple(range(rank)) and _stays(tensor, memory_config):
        return tensor
    return _moved(
        tensor, reference_of("permute")(np, tensor.array, permutation=order), memory_config
    )


def transpose(
    input_tensor: Tensor,
    dim1: int,
    dim2: int,
    *,
    memory_config: MemoryConfig | None = None,
    pad_value: float | None = 0.0,
) -> Tensor:
    """Two dimensions in each other's place."""
    tensor = require_tensor(input_tensor, "input_tensor")
    rank = len(tensor.shape)
    pair = as_dimension(dim1, rank), as_dimension(dim2, rank)
    if pair[0] == pair[1] and _stays(tensor, memory_config):
        return tensor
    array = reference_of("transpose")(np, tensor.array, dim0=pair[0], dim1=pair[1])
    return _moved(tensor, array, memory_config)


def concat(
    tensors: Sequence[Tensor],
    dim: int = 0,
    *,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    groups: int = 1,
    sub_core_grids: object = None,
) -> Tensor:
    """Tensors one after another along a dimension, in DRAM unless another memory is asked for.

    With `groups`, the first group of each tensor comes first, then the second of each, and so on.
    """
    if isinstance(tensors, Tensor):
        raise ArgumentTypeError("tensors is a list of tensors, as in concat([a, b], dim), not one")
    parts = [require_tensor(each, "an entry of tensors") for each in tensors]
    if not parts:
        raise ArgumentError("tensors is empty; concat takes at least one")
    first = parts[0]
    dim = as_dimension(dim, len(first.shape))
    others = [(*each.shape[:dim], *each.shape[dim + 1 :]) for each in parts]
    if any(
        other != others[0] or len(each.shape) != len(first.shape)
        for other, each in zip(others, parts, strict=True)
    ):
        shapes = ", ".join(str(each.shape) for each in parts)
        raise ArgumentError(
            f"tensors differ in other extents than that of dimension {dim}: {shapes}"
        )
    if any(each.dtype != first.dtype for each in parts):
        raise ArgumentError("tensors have different data types; use ttnn.typecast first")
    memory_config = DRAM_MEMORY_CONFIG if memory_config is None else memory_config
    if len(parts) == groups == 1 and output_tensor is None and _stays(first, memory_config):
        return first
    array = reference_of("concat")(np, *_interleave_groups(parts, dim, groups), dim=dim)
    return store(
        array,
        (first,),
        device=first.device(),
        layout=_layout_together(parts),
        memory_config=memory_config,
        output_tensor=output_tensor,
        exact=True,
    )


def _layout_together(parts: Sequence[Tensor]) -> Layout:
    """That of the parts; of rows and tiles together tiles where all fill tiles, else rows."""
    layouts = {each.layout for each in parts}
    if len(layouts) == 1:
        return layouts.pop()
    whole = all(extent % 32 == 0 for each in parts for extent in each.shape[-2:])
    return Layout.TILE if whole else Layout.ROW_MAJOR


def _interleave_groups(parts: Sequence[Tensor], dim: int, groups: int) -> list[Array]:
    """The parts of equal size along a dimension, group by group of all tensors."""
    for each in parts:
        if groups < 1 or each.shape[dim] % groups:
            raise ArgumentError(
                f"groups={groups} do not divide dimension {dim} of a tensor of {each.shape}"
            )
    split = (np.split(each.array, groups, dim) for each in parts)
    return [array for group in zip(*split, strict=True) for array in group]


def stack(tensors: Sequence[Tensor], dim: int) -> Tensor:
    """Tensors of one shape along a new dimension."""
    return concat([unsqueeze(each, dim) for each in tensors], dim)


def split(
    input_tensor: Tensor,
    split_size: int | Sequence[int],
    dim: int = 0,
    *,
    memory_config: MemoryConfig | None = None,
) -> list[Tensor]:
    """Parts along a dimension: of one size, but for the last, or of the sizes in a list."""
    tensor = require_tensor(input_tensor, "input_tensor")
    dim = as_dimension(dim, len(tensor.shape))
    extent = tensor.shape[dim]
    if is_integer(split_size):
        if split_size < 1:
            raise ArgumentError(f"split_size={split_size} makes no parts")
        starts = range(0, extent, split_size)
        sizes = [min(split_size, extent - start) for start in starts]
    else:
        sizes = list(split_size)
    if sum(sizes) != extent:
        raise ArgumentError(f"parts of {sizes} do not make the {extent} of dimension {dim}")
    places = np.cumsum(sizes)[:-1].tolist()
    return [_moved(tensor, part, memory_config) for part in np.split(tensor.array, places, dim)]


def chunk(input_tensor: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    """So many parts along a dimension, of one size but for the last."""
    if chunks < 1:
        raise ArgumentError(f"chunks={chunks}; there is at least one")
    extent = input_tensor.shape[as_dimension(dim, len(input_tensor.shape))]
    return split(input_tensor, max(1, -(-extent // chunks)), dim)


def narrow(input_tensor: Tensor, dim: int, start: int, length: int) -> Tensor:
    """So many elements of a dimension from a place on, which may count from the end.

    The result has numbers of its own, also where a card's would be a view of the tensor.
    """
    tensor = require_tensor(input_tensor, "input_tensor")
    dim = as_dimension(dim, len(tensor.shape))
    if is_strict(tensor):
        _check_narrow(tensor, dim, start, length)
    extent = tensor.shape[dim]
    first = start + extent if start < 0 else start
    if length < 1 or first < 0 or first + length > extent:
        raise ArgumentError(
            f"{length} elements from {start} on are not in the {extent} of dimension {dim}; "
            "length is at least 1"
        )
    places = [(0, each) for each in tensor.shape]
    places[dim] = (first, first + length)
    begins, ends = ([each[side] for each in places] for side in (0, 1))
    return slice(tensor, begins, ends)


def _check_narrow(tensor: Tensor, dim: int, start: int, length: int) -> None:
    """ArgumentError for a part that is no view of the tensor's memory."""
    shape, behind = tensor.shape, len(tensor.shape) - 1 - dim
    if any(extent != 1 for extent in shape[:dim]) and not tensor.is_sharded():
        raise ArgumentError(
            f"extents before dimension {dim} must be 1 for a view, got {shape}; use ttnn.slice"
        )
    if tensor.layout is Layout.TILE:
        if behind < 2 and (start % 32 or length % 32):
            raise ArgumentError(
                f"in tiles start={start} and length={length} must be multiples of 32; use "
                "ttnn.slice"
            )
    elif not behind:
        unit = 32 if tensor.memory_config().buffer_type is BufferType.DRAM else 16
        if start * tensor.dtype.facts.element_bytes % unit or start % unit:
            raise ArgumentError(f"start={start} must be a multiple of {unit}; use ttnn.slice")


def slice(
    input_tensor: Tensor,
    starts: Sequence[int] | Tensor | None = None,
    ends: Sequence[int] | Tensor | None = None,
    steps: Sequence[int] | None = None,
    *,
    slice_start: Sequence[int] | None = None,
    slice_end: Sequence[int] | None = None,
    slice_step: Sequence[int] | None = None,
    memory_config: MemoryConfig | None = None,
    output_tensor: Tensor | None = None,
    pad_value: float | None = None,
    sub_core_grids: object = None,
) -> Tensor:
    """The part from `starts` on and before `ends`; negative places count from the end."""
    tensor = require_tensor(input_tensor, "input_tensor")
    first, last, step = slice_places(
        tensor.shape,
        {
            "starts": slice_start if starts is None else starts,
            "ends": slice_end if ends is None else ends,
            "steps": steps if slice_step is None else slice_step,
        },
    )
    array = reference_of("slice")(np, tensor.array, begins=first, ends=last, step=step)
    if array.shape == tensor.shape and output_tensor is None and _stays(tensor, memory_config):
        return tensor
    return _moved(tensor, array, memory_config, output_tensor)


def slice_places(
    shape: Shape, arguments: Mapping[str, Any]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """Starts, ends and steps of a slice by its arguments; ValueError for those that are none."""

    def named(name: str) -> Any:
        given = arguments[name]
        return arguments.get(f"slice_{name[:-1]}") if given is None else given

    first = _places(named("starts"), "starts", shape)
    last = _places(named("ends"), "ends", shape)
    distance = named("steps")
    step = [1] * len(shape) if distance is None else list(distance)
    if any(each < 1 for each in step):
        raise ArgumentError(f"steps are at least 1, got {step}")
    if any(end < start for start, end in zip(first, last, strict=True)):
        raise ArgumentError(f"ends {last} come before starts {first}")
    return tuple(first), tuple(last), tuple(step)


def _places(given: Any, name: str, shape: Shape) -> list[int]:
    if given is None:
        raise ArgumentTypeError(f"slice is missing argument '{name}'")
    if isinstance(given, Tensor) and len(given.shape) != 1:
        raise ArgumentError(f"{name} is a list, which {given.shape} is not")
    listed: list[int] = given.to_list() if isinstance(given, Tensor) else list(given)
    if len(listed) != len(shape):
        raise ArgumentError(
            f"{name} has {plural(len(listed), 'place')}, the tensor {len(shape)} dimensions"
        )
    if any(place > extent for place, extent in zip(listed, shape, strict=True)):
        raise ArgumentError(f"{name} {listed} go beyond the tensor of {shape}")
    return [
        max(int(place) + extent, 0) if place < 0 else int(place)
        for place, extent in zip(listed, shape, strict=True)
    ]


def pad(
    input_tensor: Tensor,
    padding: Sequence[Any],
    value: Any = None,
    *args: Any,
    use_multicore: bool = True,
    memory_config: MemoryConfig | None = None,
    sub_core_grids: object = None,
) -> Tensor:
    """Filled up on both sides of each dimension, by pairs, or to a shape: `shape, start, value`.

    RuntimeError for filling in front on a device in tiles.
    """
    tensor = require_tensor(input_tensor, "input_tensor")
    rank = len(tensor.shape)
    if args:
        shape, start, fill = padding, value, args[0]
        pairs = [
            (int(before), int(whole) - int(before) - extent)
            for whole, before, extent in zip(shape, start, tensor.shape, strict=False)
        ]
    else:
        if value is None and is_strict(tensor):
            raise ArgumentTypeError("value is missing; pad(tensor, padding, 0.0) fills with zeros")
        fill = 0.0 if value is None else value
        if any(np.shape(each) != (2,) for each in padding):
            raise ArgumentError(f"padding has a pair of numbers for each dimension, got {padding}")
        pairs = [(int(low), int(high)) for low, high in padding]
        pairs = [(0, 0)] * (rank - len(pairs)) + pairs
    if len(pairs) != rank:
        raise ArgumentError(
            f"padding has a pair of numbers for each of {rank} dimensions, got {pairs}"
        )
    if any(min(pair) < 0 for pair in pairs):
        raise ArgumentError(
            f"padding has no numbers below 0, got {pairs}; a slice cuts elements off: x[:2, 1:]"
        )
    in_tiles = tensor.layout is Layout.TILE and isinstance(tensor.storage, DeviceStorage)
    if in_tiles and any(low for low, _ in pairs):
        raise ArgumentError(
            "a tensor in TILE_LAYOUT on a device cannot be padded in front; use ttnn.to_layout "
            "with ROW_MAJOR_LAYOUT first"
        )
    if not any(map(any, pairs)):
        # As on a card, whatever memory is asked for.
        return tensor
    array = np.pad(tensor.array, pairs, constant_values=fill)
    return store(array, (tensor,), device=tensor.device(), memory_config=memory_config)


def repeat(
    input_tensor: Tensor,
    repetition_vector: Extents,
    *,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """The whole tensor several times along each dimension."""
    tensor = require_tensor(input_tensor, "input_tensor")
    counts = tuple(int(count) for count in repetition_vector)
    if any(count < 0 for count in counts):
        raise ArgumentError(f"a tensor is repeated at least 0 times, got {list(counts)}")
    if set(counts) == {1} and len(counts) <= len(tensor.shape) and _stays(tensor, memory_config):
        return tensor
    return _moved(tensor, np.tile(tensor.array, counts), memory_config)


def repeat_interleave(
    input_tensor: Tensor,
    repeats: int,
    dim: int,
    *,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Each element several times along a dimension."""
    tensor = require_tensor(input_tensor, "input_tensor")
    dim = as_dimension(dim, len(tensor.shape))
    if repeats < 0:
        raise ArgumentError(f"repeats={repeats} is negative")
    return _moved(tensor, np.repeat(tensor.array, repeats, dim), memory_config)


def expand(
    input_tensor: Tensor,
    output_shape: Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Extents of 1 repeated to those of a shape; -1 keeps one."""
    tensor = require_tensor(input_tensor, "input_tensor")
    shape = _check_expansion(tensor.shape, output_shape)
    if tuple(shape) == tensor.shape and _stays(tensor, memory_config):
        return tensor
    return _moved(tensor, np.broadcast_to(tensor.array, shape), memory_config)


def _check_expansion(shape: Shape, wanted: Sequence[int]) -> list[int]:
    """Extents to which those of 1 are repeated, where -1 keeps one; ArgumentError for others."""
    own = (1,) * (len(wanted) - len(shape)) + shape
    pairs = list(zip(own, wanted, strict=False))
    if len(own) != len(wanted) or any(mine != 1 and each not in (-1, mine) for mine, each in pairs):
        raise ArgumentError(f"a tensor of {shape} does not expand to {list(wanted)}")
    return [mine if each == -1 else each for mine, each in pairs]


def broadcast_to(
    input_tensor: Tensor,
    output_shape: Sequence[int],
    *,
    memory_config: MemoryConfig | None = None,
    output: Tensor | None = None,
) -> Tensor:
    """Extents of 1 repeated to those of a shape, in a tensor of its own."""
    tensor = require_tensor(input_tensor, "input_tensor")
    shape = _check_expansion(tensor.shape, output_shape)
    if -1 in output_shape:
        raise ArgumentError(
            f"output_shape has its extents themselves, no -1: {shape} instead of {output_shape}"
        )
    array = np.broadcast_to(tensor.array, shape)
    return _moved(tensor, array, memory_config, output)


def roll(
    input_tensor: Tensor,
    shifts: int | Sequence[int],
    dim: int | Sequence[int] | None = None,
    *,
    memory_config: MemoryConfig | None = None,
) -> Tensor:
    """Elements moved along dimensions, those at the end to the front."""
    tensor = require_tensor(input_tensor, "input_tensor")
    dims = None if dim is None else [dim] if is_integer(dim) else list(dim)
    places = None if dims is None else [as_dimension(each, len(tensor.shape)) for each in dims]
    counts = [int(shifts)] if is_integer(shifts) else [int(each) for each in shifts]
    pairs = (len(counts), 1 if places is None else len(places))
    if pairs[0] != pairs[1] and 1 not in pairs:
        raise ArgumentError(f"{pairs[0]} shifts do not go with {plural(pairs[1], 'dimension')}")
    return _moved(tensor, np.roll(tensor.array, counts, places), memory_config)


_MOVEMENT: dict[str, Operation] = {
    **operations_of(
        *(reshape, view, reshape_on_device, squeeze, unsqueeze, permute, transpose, concat, stack),
        *(split, chunk, slice, narrow, pad, repeat, repeat_interleave, expand, roll),
    ),
    **operations_of(broadcast_to, view, prefix="experimental."),
}


# --- Patterns -------------------------------------------------------------------------------------


def rearrange(
    input_tensor: Tensor,
    pattern: str,
    *,
    memory_config: MemoryConfig | None = None,
    **axes_lengths: int,
) -> Tensor:
    """Dimensions in another order, merged and divided: `rearrange(x, "b h w -> w (b h)")`."""
    tensor = require_tensor(input_tensor, "input_tensor")
    plan = Rearrangement.of(pattern, tuple(tensor.shape), axes_lengths)
    turned = permute(reshape(tensor, plan.axes), plan.order)
    return reshape(turned, plan.shape, memory_config=memory_config)


_REARRANGEMENT: dict[str, Operation] = operations_of(rearrange)


OPERATIONS: dict[str, Operation] = {**_INDEXING, **_MOVEMENT, **_REARRANGEMENT}
