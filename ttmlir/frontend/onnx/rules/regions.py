"""Operators on regions of images that other tensors name, and on places that they shift."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites import indexing, interpolation
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.rules.window import check_kernel, read_axes


def _deformable_convolution(call: Call) -> Array:
    """A convolution whose taps are shifted, and weighed by a mask, at each position."""
    call = replace(call, attributes={**call.attributes, "auto_pad": "NOTSET"})
    x, weight, offset = call.of_rank("X", 4), call.array("W"), call.array("offset")
    check_kernel(call, x, weight)
    groups, shared = int(call["group"]), int(call["offset_group"])
    batch, channels, taps = x.shape[0], x.shape[1], math.prod(weight.shape[2:])
    axes = read_axes(call, x, weight.shape[2:])
    extents = tuple(axis.positions for axis in axes)
    if (
        min(groups, shared) < 1
        or channels != weight.shape[1] * groups
        or weight.shape[0] % groups
        or channels % shared
    ):
        call.refuse(
            f"{channels} channels do not go with a weight of {list(weight.shape)} in {groups} "
            f"groups, and offsets of {shared}"
        )
    if offset.shape != (batch, shared * taps * 2, *extents):
        call.refuse(
            f"offset has the shape {list(offset.shape)}; it has to be "
            f"{[batch, shared * taps * 2, *extents]}"
        )
    apart = offset.reshape((batch * shared, taps, 2, *extents)).cast("f32")
    grids = np.meshgrid(*(np.arange(axis.kernel) * axis.dilation for axis in axes), indexing="ij")
    places: list[Array] = []
    for dim, axis in enumerate(axes):
        first = np.arange(axis.positions) * axis.stride - axis.low
        shape = [-1 if place == dim else 1 for place in range(2)]
        start = grids[dim].reshape((1, taps, 1, 1)) + first.reshape((1, 1, *shape))
        shift = apart.cut(2, dim, dim + 1).squeeze(2)
        places.append(shift + array_of(start.astype(np.float32)))
    images = x.reshape((batch * shared, channels // shared, *x.shape[2:]))
    found = interpolation.sample_at(images, places, interpolation.Kernel.LINEAR, 0)
    if (mask := call.optional("mask")) is not None:
        found = found * mask.reshape((batch * shared, 1, taps, *extents))
    positions = math.prod(extents)
    columns = found.reshape((batch, groups, channels // groups * taps, positions))
    rows = weight.reshape((1, groups, weight.shape[0] // groups, channels // groups * taps))
    result = (rows @ columns).reshape((batch, weight.shape[0], *extents))
    bias = call.optional("B")
    return result if bias is None else result + bias.reshape((1, bias.shape[0], 1, 1))


# -- rectangles ----------------------------------------------------------------------------------


def _columns(rois: Array) -> list[Array]:
    return [rois.cut(1, place, place + 1) for place in range(rois.shape[1])]


def _align(call: Call) -> Array:
    """The mean, or the largest, of samples in each cell of a grid in a rectangle."""
    x, rois = call.of_rank("X", 4), call.of_rank("rois", 2).cast("f32")
    images = call.of_rank("batch_indices", 1).cast("i64")
    if rois.shape != (images.shape[0], 4):
        call.refuse(f"rois has the shape {list(rois.shape)}; it has to be {[images.shape[0], 4]}")
    is_half = call["coordinate_transformation_mode"] == "half_pixel"
    offset = 0.5 if is_half else 0.0
    left, top, right, bottom = (
        each * float(call["spatial_scale"]) - offset for each in _columns(rois)
    )
    ratio = int(call["sampling_ratio"])
    axes: list[tuple[Array, Array]] = []
    for dim, (begin, end, cells) in enumerate(
        ((top, bottom, int(call["output_height"])), (left, right, int(call["output_width"])))
    ):
        extent = end - begin
        extent = extent if is_half else extent.limit(1.0)
        if ratio > 0:
            counts, most = begin.fill(ratio), ratio
        else:
            counts, most = _count_samples(call, dim, cells, offset, is_half=is_half)
        axes.append(_sample_places(begin, extent, counts, most, cells))
    if call.choose("mode", ("avg", "max")) == "max":
        return _largest_sample(x, images, axes)
    rows, columns = (
        _weigh(place, is_counted, extent)
        for (place, is_counted), extent in zip(axes, x.shape[2:], strict=True)
    )
    chosen = x if x.shape[0] == 1 else indexing.take(x, 0, images)
    found = rows.unsqueeze(1) @ chosen.cast("f32") @ columns.transpose().unsqueeze(1)
    return found.cast(x.dtype)


def _count_samples(
    call: Call, dim: int, cells: int, offset: float, *, is_half: bool
) -> tuple[Array, int]:
    """How many samples cells have, which the sizes of rectangles decide that are known."""
    numbers = call.numbers("rois").astype(np.float32) * np.float32(call["spatial_scale"])
    numbers = numbers - np.float32(offset)
    extent = numbers[:, 3 - dim] - numbers[:, 1 - dim]
    extent = extent if is_half else np.maximum(extent, np.float32(1))
    counts = np.ceil(extent / np.float32(cells)).clip(0)
    most = int(counts.max(initial=1))
    return array_of(counts.reshape((-1, 1)).astype(np.float32)), max(most, 1)


def _sample_places(
    begin: Array, extent: Array, counts: Array, most: int, cells: int
) -> tuple[Array, Array]:
    """Where samples are, (rectangles, cells, samples), and how much each counts."""
    cell = array_of(np.arange(cells, dtype=np.float32).reshape((1, cells, 1)))
    sample = array_of(np.arange(most, dtype=np.float32).reshape((1, 1, most)))
    begin, size, counts = (each.unsqueeze(2) for each in (begin, extent / cells, counts))
    some = counts.limit(1.0)
    place = begin + cell * size + (sample + 0.5) * size / some
    share = (sample < counts).where(1 / some, 0.0 * some)
    return place, share.broadcast(place.shape)


def _keep(place: Array, extent: int) -> tuple[Array, Array]:
    """Places moved into the image, and whether they count: those far outside do not."""
    counts = (place >= -1.0) & (place <= float(extent))
    return place.limit(0.0, extent - 1.0), counts


def _weigh(place: Array, share: Array, extent: int) -> Array:
    """How much each row of an image counts in each cell, (rectangles, cells, rows)."""
    place, counts = _keep(place, extent)
    rows = array_of(np.arange(extent, dtype=np.float32).reshape((1, 1, 1, extent)))
    near = (1 - (place.unsqueeze(3) - rows).abs()).limit(0.0)
    return (near * counts.where(share, 0.0 * share).unsqueeze(3)).sum(2, keep=False)


def _largest_sample(x: Array, images: Array, axes: list[tuple[Array, Array]]) -> Array:
    """The largest of the weighed neighbours of all samples of a cell."""
    chosen = indexing.take(x, 0, images)
    (top, row_share), (left, column_share) = axes
    height, width = x.shape[2:]
    taps: list[list[tuple[Array, Array]]] = []
    for place, extent, dims in ((top, height, (3, 4)), (left, width, (1, 2))):
        inside, counts = _keep(place, extent)
        low = inside.floor()
        part = inside - low
        one = counts.where(part.fill(1), part.fill(0))
        taps.append(
            [
                (low.unsqueeze(*dims), ((1 - part) * one).unsqueeze(*dims)),
                (
                    (low + 1).limit(0.0, extent - 1.0).unsqueeze(*dims),
                    (part * one).unsqueeze(*dims),
                ),
            ]
        )
    shape = (*top.shape, *left.shape[1:])
    found: Array | None = None
    for row, row_weight in taps[0]:
        for column, column_weight in taps[1]:
            places = [row.broadcast(shape), column.broadcast(shape)]
            value = interpolation.sample_at(chosen, places, interpolation.Kernel.NEAREST, 0)
            value = value * (row_weight * column_weight).unsqueeze(1)
            found = value if found is None else found.maximum(value)
    assert found is not None
    is_sample = (row_share.unsqueeze(3, 4) > 0) & (column_share.unsqueeze(1, 2) > 0)
    hidden = is_sample.unsqueeze(1).where(found, -math.inf)
    largest = hidden.max(3, 5, keep=False)
    return (largest > -math.inf).where(largest, 0.0 * largest.fill(0)).cast(x.dtype)


def _pool_regions(call: Call) -> Array:
    """The largest elements of the cells of rectangles of whole numbers; 0 of empty ones."""
    x, rois = call.of_rank("X", 4), call.of_rank("rois", 2).cast("f32")
    cells = tuple(call.required("pooled_shape"))
    if rois.shape[1] != 5 or len(cells) != 2:
        call.refuse("rois are rows of five numbers, and pooled_shape has two")
    number, *corners = _columns(rois)
    # Halves are rounded away from 0, as C does.
    left, top, right, bottom = (
        (each * float(call["spatial_scale"]) + 0.5).floor() for each in corners
    )
    chosen = indexing.take(x, 0, number.cast("i64").squeeze(1))
    for dim, begin, end in ((3, left, right), (2, top, bottom)):
        extent, count = chosen.shape[dim], int(cells[dim - 2])
        size = (end - begin + 1).limit(1.0) / count
        place = array_of(np.arange(extent, dtype=np.float32).reshape((1, extent)))
        parts: list[Array] = []
        for cell in range(count):
            low, high = (size * cell).floor() + begin, (size * (cell + 1)).ceil() + begin
            is_mine = (place >= low) & (place < high)
            shape = (rois.shape[0], 1, *(extent if i == dim else 1 for i in (2, 3)))
            parts.append(is_mine.reshape(shape).where(chosen, -math.inf).max(dim))
        chosen = concatenate(parts, dim)
    return (chosen > -math.inf).where(chosen, chosen.fill(0))


RULES: dict[str, Rule] = {
    "DeformConv": _deformable_convolution,
    "MaxRoiPool": _pool_regions,
    "RoiAlign": _align,
}
"""Rules by the names of operators."""
