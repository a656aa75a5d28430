"""Pixels at places that tensors name: sampled grids, and attention that looks at such places."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ttmlir.arrays.carriers import array_of
from ttmlir.composites import interpolation
from ttmlir.composites.interpolation import Kernel, Outside
from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.arguments import keep, take_tensors
from ttmlir.ttnn.operations.operation import (
    Operation,
    as_flag,
    common_device,
    operations_of,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.operations.signature import fits, spell_value
from ttmlir.ttnn.operations.window import KERNELS, as_images, channels_first, channels_last
from ttmlir.ttnn.tensor.tensor import Tensor, round_to
from ttmlir.ttnn.types.enums import DataType, Layout

_PREPARED = {"bilinear": 6, "nearest": 2}
"""Numbers of a place in a grid that was prepared."""


def _kernel_of(mode: Any) -> Kernel:
    if mode not in KERNELS:
        raise ArgumentError(f"mode is 'nearest' or 'bilinear', not {mode!r}")
    return KERNELS[mode]


def _require_zeros(padding_mode: Any) -> None:
    if padding_mode != "zeros":
        raise ArgumentError(f"padding_mode is 'zeros', not {padding_mode!r}")


def _grid_sample(values: dict[str, Any]) -> Tensor:
    """Pixels at the places (x, y) of a grid (N, h, w, 2 K), from -1 to 1; 0 outside."""
    tensor = as_images(values)
    grid = require_tensor(values["grid"], "grid")
    device = common_device(tensor, grid)
    mode = values["mode"]
    kernel = _kernel_of(mode)
    _require_zeros(values["padding_mode"])
    is_prepared = as_flag(values["use_precomputed_grid"], "use_precomputed_grid")
    each = _PREPARED[mode] if is_prepared else 2
    batch = tensor.shape[0]
    if len(grid.shape) != 4 or grid.shape[0] != batch or not grid.shape[3] or grid.shape[3] % each:
        raise ArgumentError(f"grid has {grid.shape}; it must be ({batch}, h, w, {each})")
    places = grid.array.reshape(*grid.shape[:3], -1, each)
    if is_prepared:
        found = _sum_corners(tensor.array, places)
    else:
        found = channels_last(
            interpolation.sample_grid(
                channels_first(tensor.array),
                array_of(places, "f64"),
                kernel,
                Outside.ZEROS,
                align_corners=values["align_corners"],
            )
        )
    *outer, width, count, channels = found.shape
    in_channels = as_flag(values["batch_output_channels"], "batch_output_channels")
    shape = (width, count * channels) if in_channels else (width * count, channels)
    return store(
        found.reshape(*outer, *shape),
        (tensor,),
        device=device,
        memory_config=values["memory_config"],
    )


# --- Prepared grids -------------------------------------------------------------------------------
# Rows and columns are 16-bit integers whose bits are kept as those of bfloat16.


def _bits_as_bfloat16(numbers: Array) -> Array:
    return (numbers.astype(np.int16).astype(np.int32) << 16).view(np.float32)


def _bfloat16_as_bits(numbers: Array) -> Array:
    return np.ascontiguousarray(numbers, np.float32).view(np.int32) >> 16


def _sum_corners(image: Array, places: Array) -> Array:
    """Pixels of prepared places (N, ..., 6), by their weights; of (N, ..., 2) the pixels."""
    height, width = image.shape[1:3]
    first = [_bfloat16_as_bits(places[..., number]) for number in range(2)]
    number = np.arange(len(image)).reshape(-1, *[1] * (places.ndim - 2))
    total = np.zeros((*places.shape[:-1], image.shape[-1]), np.float64)
    corners = 1 if places.shape[-1] == _PREPARED["nearest"] else 4
    for corner in range(corners):
        row, column = first[0] + corner // 2, first[1] + corner % 2
        inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
        weight = np.where(inside, places[..., 2 + corner] if corners > 1 else 1, 0)
        row, column = (np.where(inside, each, 0) for each in (row, column))
        total += image[number, row, column] * weight[..., None]
    return total


def prepare_grid_sample_grid(
    grid: Tensor,
    input_shape: Sequence[int],
    *,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    output_dtype: DataType | None = None,
) -> Tensor:
    """A grid on the host as `grid_sample` takes it with `use_precomputed_grid`.

    For each place row and column of the upper left pixel and the weights of the four, or row and
    column of the nearest. RuntimeError for a grid on a device, in tiles or of another shape.
    """
    given = require_tensor(grid, "grid")
    kernel = _kernel_of(mode)
    _require_zeros(padding_mode)
    if given.storage.device is not None:
        raise ArgumentError("grid is on a device; it is prepared on the host: ttnn.from_device")
    if given.dtype is not DataType.FLOAT32 or given.layout is not Layout.ROW_MAJOR:
        raise ArgumentError(f"grid is float32 in rows, not {given.dtype} in {given.layout}")
    if output_dtype not in (None, DataType.BFLOAT16):
        raise ArgumentError(f"output_dtype is ttnn.bfloat16, not {output_dtype}")
    if len(given.shape) != 4 or given.shape[-1] != 2:
        raise ArgumentError(f"grid has {given.shape}; it is (N, h, w, 2)")
    if not fits(input_shape, Sequence[int]) or len(input_shape) != 4 or min(input_shape) < 1:
        raise ArgumentError(f"input_shape is (N, H, W, C), not {spell_value(input_shape)}")
    extents = np.array(input_shape[1:3])
    if extents.max() > np.iinfo(np.int16).max:
        raise ArgumentError(f"input_shape={[*input_shape]} has more rows or columns than 32767")
    # Rows before columns, as float32 has them on the host of a card.
    places = given.array[..., ::-1]
    with np.errstate(invalid="ignore"):
        if align_corners:
            pixels = (places + 1) * np.float32(0.5) * (extents - 1).astype(np.float32)
        else:
            half = np.float32(0.5)
            pixels = (places + 1) * (extents.astype(np.float32) * half) - half
        prepare = _nearest if kernel is Kernel.NEAREST else _surround
        found = prepare(pixels, extents)
    return store(
        found, (given,), device=None, dtype=DataType.BFLOAT16, layout=Layout.ROW_MAJOR, exact=True
    )


def _nearest(pixels: Array, extents: Array) -> Array:
    """The nearest pixel of places, or -1 outside."""
    nearest = np.floor(pixels + np.float32(0.5))
    inside = ((nearest >= 0) & (nearest < extents)).all(-1, keepdims=True)
    return _bits_as_bfloat16(np.where(inside, nearest, -1))


def _surround(pixels: Array, extents: Array) -> Array:
    """The upper left pixel of places, and weights of the four around them."""
    first = np.floor(pixels)
    part = pixels - first
    sides: list[tuple[Array, Array]] = []
    for axis in range(2):
        low = first[..., axis]
        weights = (1 - part[..., axis], part[..., axis])
        pair = [
            np.where((low + step >= 0) & (low + step < extents[axis]), weight, 0)
            for step, weight in enumerate(weights)
        ]
        sides.append((pair[0], pair[1]))
    products = [row * column for row in sides[0] for column in sides[1]]
    limits = np.iinfo(np.int16)
    corner = _bits_as_bfloat16(np.clip(first, limits.min, limits.max))
    # Rounded here: the bits of rows and columns are no numbers to round.
    weights = round_to(np.stack(products, -1).astype(np.float32), DataType.BFLOAT16)
    return np.concatenate([corner, weights], -1)


# --- Attention to places --------------------------------------------------------------------------


def _read_levels(given: Any) -> list[tuple[int, int]]:
    """Heights and widths of the levels of a pyramid."""
    if not fits(given, Sequence[Sequence[int]]) or not given:
        raise ArgumentTypeError(f"spatial_shapes is a list of (H, W), not {spell_value(given)}")
    if any(len(each) != 2 or min(each) < 1 for each in given):
        raise ArgumentError(f"spatial_shapes is a list of (H, W), not {spell_value(given)}")
    return [(int(height), int(width)) for height, width in given]


def _divide(tensor: Tensor, name: str, rank: int, behind: Sequence[int]) -> Array:
    """Numbers whose last dimensions may be packed into one."""
    shape = tuple(tensor.shape)
    packed = math.prod(behind) if -1 not in behind else -math.prod(behind)
    is_packed = len(shape) == rank - len(behind) + 1 and shape[-1] % packed == 0
    if is_packed:
        return tensor.array.reshape(*shape[:-1], *behind)
    fits_whole = len(shape) == rank and all(
        each in (-1, extent) for each, extent in zip(behind, shape[-len(behind) :], strict=True)
    )
    if not fits_whole:
        wanted = ", ".join("n" if each == -1 else str(each) for each in behind)
        raise ArgumentError(f"{name} has {tensor.shape}; it ends in ({wanted}), or these packed")
    return tensor.array


def _sample_levels(
    value: Array, places: Array, weights: Array, levels: list[tuple[int, int]], *, aligned: Any
) -> Array:
    """Sums (B, Q, heads, D) over places (B, Q, heads, levels, P, 2), from -1 to 1, by weights."""
    batch, _, heads, depth = value.shape
    total = np.zeros((batch, places.shape[1], heads, depth))
    start = 0
    for level, (height, width) in enumerate(levels):
        pixels = value[:, start : start + height * width].reshape(batch, height, width, heads, -1)
        start += height * width
        images = pixels.transpose(0, 3, 4, 1, 2).reshape(batch * heads, depth, height, width)
        grid = places[:, :, :, level].transpose(0, 2, 1, 3, 4)
        found = interpolation.sample_grid(
            array_of(images, "f64"),
            array_of(grid.reshape(batch * heads, *grid.shape[2:]), "f64"),
            Kernel.LINEAR,
            Outside.ZEROS,
            align_corners=as_flag(aligned, "align_corners"),
        ).value
        found = found.reshape(batch, heads, depth, *grid.shape[2:4])
        total += np.einsum("bhdqp,bqhp->bqhd", found, weights[:, :, :, level])
    return total


def _read_attention(
    values: dict[str, Any],
) -> tuple[list[tuple[int, int]], Tensor, Array, Array]:
    """Levels, the values as they are given and with heads apart, and the weights."""
    levels = _read_levels(values["spatial_shapes"])
    value, weights = take_tensors(values, "value", "attention_weights")
    found = _divide(weights, "attention_weights", 5, (len(levels), -1))
    heads = found.shape[2]
    apart = _divide(value, "value", 4, (heads, -1))
    pixels = sum(height * width for height, width in levels)
    if apart.shape[0] != found.shape[0] or apart.shape[1] != pixels:
        raise ArgumentError(
            f"value has {value.shape}; for these levels it is ({found.shape[0]}, {pixels}, "
            f"{heads}, D)"
        )
    return levels, value, apart, found


def _finish(found: Array, value: Tensor, values: dict[str, Any]) -> Tensor:
    batch, queries, heads, depth = found.shape
    return keep(found.reshape(batch, queries, heads * depth), value, values)


def _attend_places(values: dict[str, Any]) -> Tensor:
    levels, value, apart, weights = _read_attention(values)
    (given,) = take_tensors(values, "sampling_locations")
    points = weights.shape[-1]
    places = _divide(given, "sampling_locations", 6, (len(levels), points, 2))
    if places.shape[:3] != weights.shape[:3]:
        raise ArgumentError(f"sampling_locations has {given.shape}, not of the attention_weights")
    if not as_flag(values["locations_in_grid_space"], "locations_in_grid_space"):
        places = 2 * places - 1
    aligned = values["align_corners"]
    return _finish(_sample_levels(apart, places, weights, levels, aligned=aligned), value, values)


def _attend_offsets(values: dict[str, Any]) -> Tensor:
    """Places are points of reference with offsets in pixels."""
    levels, value, apart, weights = _read_attention(values)
    points, given = take_tensors(values, "reference_points", "sampling_offsets")
    count = weights.shape[-1]
    offsets = _divide(given, "sampling_offsets", 6, (len(levels), count, 2))
    if offsets.shape[:3] != weights.shape[:3]:
        raise ArgumentError(f"sampling_offsets has {given.shape}, not of the attention_weights")
    if len(points.shape) != 4 or tuple(points.shape[:2]) != weights.shape[:2]:
        raise ArgumentError(f"reference_points has {points.shape}; it is (B, Q, R, 2)")
    mode, references = values["reference_mode"], points.shape[2]
    if mode not in ("level", "pillar"):
        raise ArgumentError(f"reference_mode is 'level' or 'pillar', not {mode!r}")
    goes = references == len(levels) if mode == "level" else count % max(references, 1) == 0
    if not goes or not references or points.shape[3] != 2:
        raise ArgumentError(
            f"reference_points has {points.shape}; for reference_mode={mode!r} R is "
            + ("the number of levels" if mode == "level" else "a divisor of the points")
        )
    aligned = as_flag(values["align_corners"], "align_corners")
    extents = np.array([[width, height] for height, width in levels], np.float64) - aligned
    scale = np.divide(1, extents, out=np.zeros_like(extents), where=extents > 0)
    level, point = np.indices((len(levels), count))
    chosen: Array = level if mode == "level" else point % references
    located = points.array[:, :, None, chosen] + offsets * scale[:, None]
    found = _sample_levels(apart, 2 * located - 1, weights, levels, aligned=aligned)
    return _finish(found, value, values)


def _attend_level(values: dict[str, Any]) -> Tensor:
    """The same for one level, whose heads are images of their own."""
    value, grid, weights = take_tensors(values, "value", "grid", "attn")
    if len(value.shape) != 4 or len(weights.shape) != 3 or value.shape[0] != weights.shape[0]:
        raise ArgumentError(
            f"value has {value.shape} and attn {weights.shape}; they are (N, H, W, D) and (N, Q, P)"
        )
    images, height, width, depth = value.shape
    _, queries, points = weights.shape
    if tuple(grid.shape) != (images, queries * points, 1, 2):
        raise ArgumentError(f"grid has {grid.shape}; it is ({images}, {queries * points}, 1, 2)")
    found = _sample_levels(
        value.array.reshape(images, height * width, 1, depth),
        grid.array.reshape(images, queries, 1, 1, points, 2),
        weights.array.reshape(images, queries, 1, 1, points),
        [(height, width)],
        aligned=values["align_corners"],
    )
    return keep(found[:, :, 0], value, values)


_ATTENTION = "attention_weights, spatial_shapes, *,"

OPERATIONS: dict[str, Operation] = {
    **operations_of(prepare_grid_sample_grid),
    **table_of(
        Operation(
            "grid_sample",
            _grid_sample,
            "input_tensor, grid, *, mode='bilinear', padding_mode='zeros', align_corners=False, "
            "use_precomputed_grid=False, batch_output_channels=False, memory_config=None, "
            "compute_kernel_config",
        ),
        Operation(
            "experimental.fused_msda",
            _attend_places,
            f"value, sampling_locations, {_ATTENTION} align_corners=False, "
            "locations_in_grid_space=False, memory_config=None",
        ),
        Operation(
            "experimental.fused_msda_from_offsets",
            _attend_offsets,
            f"value, reference_points, sampling_offsets, {_ATTENTION} reference_mode='level', "
            "align_corners=False, memory_config=None",
        ),
        Operation(
            "experimental.multi_scale_deformable_attn",
            _attend_level,
            "value, grid, attn, *, memory_config=None, align_corners=False",
        ),
    ),
}
