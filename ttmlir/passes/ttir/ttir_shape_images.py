"""Rules of `ttir-shape-layers` for images: weights of convolutions are scaled as matrices, rows of
an image that a convolution takes at once become channels, and means over images become pools.

A convolution of few channels with a stride, as of patches or of the first layer of residual
networks, is one of images whose pixels have all rows of a step: an image of 3x224x224 is one of
112x224 pixels of 6 numbers, and a window of 7x7 with a stride of 2 is one of 4x7, which goes on by
one row and two columns. Rows of such an image stay whole rows of numbers until one transposition.

Images of 7x7 pixels are no whole tiles: to have each by itself, all pixels move. A pool takes them
one below the other, as convolutions leave them.
"""

from __future__ import annotations

from math import isqrt, prod
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, bf16, i32

from ttmlir.dialects.ttir import FlattenedCompatAttr
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.layout.data_format import padded_shape
from ttmlir.passes.ttir.value_rewriting import inputs_of, made_by, parameters_of

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder

_TILE = 32
_MOST_CHANNELS = 2 * _TILE
_CHANNELS_LAST = (0, 2, 3, 1)
_MOST_PADDING = 8
_LEAST_WEIGHTS = 1 << 14


def fold_rows(op: Operation, builder: Builder) -> SSAValue | None:
    """A convolution of an image whose channels went last before it."""
    rows, weight, *bias = inputs_of(op)
    flat = made_by(rows, "reshape")
    turned = None if flat is None else made_by(inputs_of(flat)[0], "permute")
    info = op.properties.get("flattened_compat_info")
    if turned is None or not isinstance(info, FlattenedCompatAttr):
        return None
    image = inputs_of(turned)[0]
    said, shape = parameters_of(op), value_shape(image)
    if tuple(parameters_of(turned)["permutation"]) != _CHANNELS_LAST or said["groups"] != 1:
        return None
    batch, channels, height, width = shape
    step = _numbers(op, "stride")[0]
    if (
        info.data != (batch, height, width)
        or set(_numbers(op, "dilation")) != {1}
        or (step < 2 or height % step or width % _TILE)
        or channels * step > _MOST_CHANNELS
    ):
        return None
    outer, _, kernel, columns = value_shape(weight)
    top, left, bottom, right = _numbers(op, "padding")
    # Rows of zeros before those of the window, so that it begins with a step.
    before = -top % step
    window = -(-(kernel + before) // step)
    steps, above = height // step, (top + before) // step
    below = (height + top + bottom - kernel) // step + window - steps - above
    if below < 0:
        return None
    inner = channels * step
    beside = builder.permute(image, (0, 2, 1, 3))
    lines = builder.reshape(beside, (batch * steps, inner, width))
    pixels = builder.permute(lines, (0, 2, 1))
    margins = ((0, 0), (0, 0), (before, window * step - kernel - before), (0, 0))
    taps = builder.reshape(
        builder.pad(weight, margins, 0.0), (outer, channels, window, step, columns)
    )
    taps = builder.reshape(builder.permute(taps, (0, 3, 1, 2, 4)), (outer, inner, window, columns))
    new = type(op).create(
        operands=[builder.reshape(pixels, (1, 1, batch * steps * width, inner)), taps, *bias],
        result_types=list(op.result_types),
        properties={
            **op.properties,
            "stride": _array(1, _numbers(op, "stride")[1]),
            "padding": _array(above, left, below, right),
            "flattened_compat_info": FlattenedCompatAttr((batch, steps, width)),
        },
        attributes=dict(op.attributes),
        location=op.location,
    )
    return builder.insert(new).results[0]


def pool_pixels(op: Operation, builder: Builder) -> SSAValue | None:
    """The mean over the pixels of each image, one below the other, is a pool of whole images."""
    pixels = inputs_of(op)[0]
    flat, said, shape = made_by(pixels, "reshape"), parameters_of(op), value_shape(pixels)
    if flat is None or len(shape) != 4 or shape[1] != 1 or element_type(pixels) != bf16:
        return None
    source = inputs_of(flat)[0]
    batch, _, count, channels = shape
    if value_shape(source) != (1, 1, batch * count, channels) or channels % _TILE:
        return None
    if [dim % 4 for dim in said["dim_arg"] or ()] != [2] or count % _TILE == 0:
        return None
    # Any image of as many pixels has the same mean.
    height = max(n for n in range(1, isqrt(count) + 1) if count % n == 0)
    width = count // height
    pool = builder.create(
        "avg_pool2d",
        (source,),
        tensor_like(op.results[0], (1, 1, batch, channels)),
        kernel=(height, width),
        stride=(height, width),
        dilation=(1, 1),
        padding=(0, 0, 0, 0),
        flattened_compat_info=FlattenedCompatAttr((batch, height, width)),
    )
    return builder.reshape(pool, value_shape(op.results[0]))


def scale_windows(op: Operation, builder: Builder) -> SSAValue | None:
    """Weights of a convolution times a number for each result are rows of a matrix times one each:
    tiles of a matrix are full, and those of windows mostly padding."""
    weight, factor = inputs_of(op)
    shape = value_shape(weight)
    outer, size = shape[:1], prod(shape)
    if len(shape) != 4 or value_shape(factor) != (*outer, 1, 1, 1):
        return None
    if not _is_mostly_padding(shape):
        return None
    cast_from = made_by(weight, "typecast")
    source = weight if cast_from is None else inputs_of(cast_from)[0]
    rows = builder.reshape(source, (*outer, size // outer[0]))
    if cast_from is not None:
        rows = builder.create("typecast", (rows,), tensor_like(weight, value_shape(rows)))
    column = builder.reshape(factor, (*outer, 1))
    type_ = tensor_like(op.results[0], value_shape(rows))
    return builder.reshape(builder.create("multiply", (rows, column), type_), shape)


def convert_rows(op: Operation, builder: Builder) -> SSAValue | None:
    """A matrix is converted before it becomes windows."""
    flat = made_by(inputs_of(op)[0], "reshape")
    if flat is None or not _is_mostly_padding(value_shape(op.results[0])):
        return None
    source = inputs_of(flat)[0]
    type_ = tensor_like(op.results[0], value_shape(source))
    if _is_mostly_padding(value_shape(source)):
        return None
    converted = builder.create("typecast", (source,), type_)
    return builder.reshape(converted, value_shape(op.results[0]))


def _is_mostly_padding(shape: tuple[int, ...]) -> bool:
    """True for a tensor whose tiles have many more numbers than it has."""
    size = prod(shape)
    return size >= _LEAST_WEIGHTS and prod(padded_shape(shape)) > _MOST_PADDING * size


def _numbers(op: Operation, name: str) -> tuple[int, ...]:
    """Two numbers, or the four of a padding: top, left, bottom and right."""
    attr, count = op.properties[name], 4 if name == "padding" else 2
    if isinstance(attr, IntegerAttr):
        return (cast("IntegerAttr", attr).value.data,) * count
    found = tuple(cast("DenseArrayBase[IntegerType]", attr).get_values())
    return found * (count // len(found))


def _array(*numbers: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i32, numbers)
