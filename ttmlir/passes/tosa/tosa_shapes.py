"""The shapes that operations of tosa must have.

MLIR checks few of them when it reads tosa, so wrong ones come this far; a conversion asks here
before it makes anything of an operation, so that the message is about what the user wrote.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.definition.table_ops import int_property
from ttmlir.dialects.tosa import ShapeType
from ttmlir.errors import plural
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import check_static_shape, element_type, value_shape
from ttmlir.passes.tosa.tosa_operands import numbers

Shape = tuple[int, ...]
_ShapeRule = Callable[[Operation], Shape]


def text(shape: Sequence[int]) -> str:
    """A shape as types show it, such as 2x3."""
    return "x".join(map(str, shape)) if shape else "no dimensions"


def check_shapes(op: Operation) -> None:
    """Refuse an operation whose operands do not fit together or do not give its result."""
    rule = _RULES.get(op.name)
    if rule is None:
        return
    for type_ in (*op.operand_types, *op.result_types):
        if not isinstance(type_, ShapeType):
            check_static_shape(op, type_)
    expected, got = rule(op), value_shape(op.results[0])
    if expected != got:
        refuse_to_legalize(
            op, f"its result has the shape {text(got)}, but what it computes is {text(expected)}"
        )
    if op.name in _KEEPING:
        elements = [element_type(value) for value in (*_data(op), *op.results)]
        if any(element != elements[0] for element in elements):
            refuse_to_legalize(op, f"its elements change from {elements[0]} to {elements[-1]}")


def _data(op: Operation) -> Sequence[SSAValue]:
    """The operands whose elements become those of the result."""
    if op.name == "tosa.concat":
        return op.operands
    return op.operands[:1] if op.name != "tosa.scatter" else (op.operands[0], op.operands[2])


def _agree(op: Operation, *named: tuple[str, int, int]) -> None:
    """Compare pairs of extents, each with what it counts."""
    for what, first, second in named:
        if first != second:
            refuse_to_legalize(op, f"its operands have different {what}, {first} and {second}")


def _count(op: Operation, name: str, found: Sequence[int], count: int) -> None:
    if len(found) != count:
        refuse_to_legalize(op, f"its {name} are {len(found)} numbers; expected {count}")


def _at_least(op: Operation, name: str, found: Sequence[int], least: int) -> None:
    if any(value < least for value in found):
        refuse_to_legalize(op, f"its {name} are {list(found)}; expected {least} or more each")


def _axis(op: Operation, rank: int) -> int:
    axis = int_property(op, "axis")
    if not 0 <= axis < rank:
        refuse_to_legalize(op, f"its axis {axis} is none of the {rank} dimensions of its operand")
    return axis


def _shapes(op: Operation) -> list[Shape]:
    return [value_shape(value) for value in op.operands if not isinstance(value.type, ShapeType)]


def _same(op: Operation) -> Shape:
    return _shapes(op)[0]


def _reversed(op: Operation) -> Shape:
    shape = _same(op)
    _axis(op, len(shape))
    return shape


def _reduce(op: Operation) -> Shape:
    shape = _same(op)
    axis = _axis(op, len(shape))
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _argmax(op: Operation) -> Shape:
    shape = _same(op)
    axis = _axis(op, len(shape))
    if shape[axis] == 0:
        refuse_to_legalize(op, f"dimension {axis} has no elements, so none of them is the largest")
    return (*shape[:axis], *shape[axis + 1 :])


def _concat(op: Operation) -> Shape:
    shapes = _shapes(op)
    if not shapes:
        refuse_to_legalize(op, "it has nothing to join; give it a tensor")
    axis = _axis(op, len(shapes[0]))
    for shape in shapes[1:]:
        _agree(op, ("ranks", len(shapes[0]), len(shape)))
        for dim, (first, second) in enumerate(zip(shapes[0], shape, strict=True)):
            if dim != axis:
                _agree(op, (f"extents in dimension {dim}", first, second))
    total = sum(shape[axis] for shape in shapes)
    return (*shapes[0][:axis], total, *shapes[0][axis + 1 :])


def _pad(op: Operation) -> Shape:
    shape = value_shape(op.operands[0])
    counts = numbers(op, "padding", 1)
    _count(op, "paddings", counts, 2 * len(shape))
    _at_least(op, "paddings", counts, 0)
    sides = zip(shape, counts[::2], counts[1::2], strict=True)
    return tuple(low + extent + high for extent, low, high in sides)


def _reshape(op: Operation) -> Shape:
    source = value_shape(op.operands[0])
    name = "new_shape" if "new_shape" in op.properties else "shape"
    shape = numbers(op, name, 1)
    # A shape of rank 0 is written as one number, which nobody reads.
    rank = len(value_shape(op.results[0]))
    shape = shape[:rank] if rank == 0 else shape
    known = math.prod(extent for extent in shape if extent != -1)
    if shape.count(-1) == 1 and known:
        shape = tuple(math.prod(source) // known if each == -1 else each for each in shape)
    if math.prod(shape) != math.prod(source) or -1 in shape:
        refuse_to_legalize(
            op, f"{text(source)} has {math.prod(source)} elements, which {text(shape)} has not"
        )
    return shape


def _slice(op: Operation) -> Shape:
    shape = value_shape(op.operands[0])
    starts, sizes = numbers(op, "start", 1), numbers(op, "size", 2)
    _count(op, "starts", starts, len(shape))
    _count(op, "sizes", sizes, len(shape))
    result: list[int] = []
    for dim, (extent, start, size) in enumerate(zip(shape, starts, sizes, strict=True)):
        # A size of -1 takes everything from the start on.
        taken = extent - start if size == -1 else size
        if start < 0 or taken < 0 or start + taken > extent:
            refuse_to_legalize(
                op, f"in dimension {dim}, {size} from {start} on is not within {extent} elements"
            )
        result.append(taken)
    return tuple(result)


def _tile(op: Operation) -> Shape:
    shape = value_shape(op.operands[0])
    counts = numbers(op, "multiples", 1)
    result = value_shape(op.results[0])
    if not shape:
        return shape
    _count(op, "multiples", counts, len(shape))
    _agree(op, ("ranks", len(shape), len(result)))
    if any(count < 1 and count != -1 for count in counts):
        refuse_to_legalize(op, f"its multiples are {list(counts)}; expected 1 or more, or -1 each")
    # The result tells the multiple that is -1.
    return tuple(
        extent * (count if count != -1 else max(1, given // max(1, extent)))
        for extent, count, given in zip(shape, counts, result, strict=True)
    )


def _transpose(op: Operation) -> Shape:
    shape = value_shape(op.operands[0])
    order = numbers(op, "perms", 1)
    if sorted(order) != list(range(len(shape))):
        refuse_to_legalize(op, f"perms {list(order)} must name each dimension once")
    return tuple(shape[dim] for dim in order)


def _gather(op: Operation) -> Shape:
    (count, _, channels), (batches, picked) = _shapes(op)
    _agree(op, ("batches", count, batches))
    return (count, picked, channels)


def _scatter(op: Operation) -> Shape:
    values, (batches, places), (others, written, channels) = _shapes(op)
    _agree(
        op,
        ("batches", values[0], batches),
        ("batches", values[0], others),
        ("numbers of indices", places, written),
        ("channels", values[2], channels),
    )
    return values


def _matmul(op: Operation) -> Shape:
    (batches, rows, inner), (others, outer, columns) = _shapes(op)[:2]
    _agree(op, ("batches", batches, others), ("inner extents", inner, outer))
    return (batches, rows, columns)


def _bias(op: Operation, features: int) -> None:
    (count,) = value_shape(op.operands[2])
    if count not in (1, features):
        refuse_to_legalize(op, f"its bias has {plural(count, 'element')}; expected 1 or {features}")


def _fully_connected(op: Operation) -> Shape:
    (rows, inner), (features, other) = _shapes(op)[:2]
    _agree(op, ("inner extents", inner, other))
    _bias(op, features)
    return (rows, features)


def _windows(
    op: Operation, image: Shape, kernel: Shape, dilation: Shape, pads: Shape, least: int = 0
) -> Shape:
    """How many windows fit beside each other in each dimension."""
    strides = numbers(op, "stride")
    _at_least(op, "strides", strides, 1)
    _at_least(op, "dilations", dilation, 1)
    _at_least(op, "paddings", pads, least)
    result: list[int] = []
    for dim, extent in enumerate(image):
        room = extent + pads[2 * dim] + pads[2 * dim + 1]
        reach = (kernel[dim] - 1) * dilation[dim] + 1
        if not 0 < reach <= room:
            refuse_to_legalize(
                op,
                f"a window of {reach} elements does not fit into {room}, the image and its "
                f"padding in dimension {dim + 1}",
            )
        result.append((room - reach) // strides[dim] + 1)
    return tuple(result)


def _convolution(op: Operation) -> Shape:
    image, weight = _shapes(op)[:2]
    _agree(op, ("channels", image[-1], weight[-1]))
    _bias(op, weight[0])
    windows = _windows(op, image[1:-1], weight[1:-1], numbers(op, "dilation"), numbers(op, "pad"))
    return (image[0], *windows, weight[0])


def _depthwise(op: Operation) -> Shape:
    image, (height, width, channels, multiplier) = _shapes(op)[:2]
    _agree(op, ("channels", image[-1], channels))
    _bias(op, channels * multiplier)
    windows = _windows(
        op, image[1:-1], (height, width), numbers(op, "dilation"), numbers(op, "pad")
    )
    return (image[0], *windows, channels * multiplier)


def _transposed(op: Operation) -> Shape:
    image, (features, height, width, channels) = _shapes(op)[:2]
    _agree(op, ("channels", image[-1], channels))
    _bias(op, features)
    strides = numbers(op, "stride")
    _at_least(op, "strides", strides, 1)
    top, bottom, left, right = numbers(op, "out_pad")
    result = (
        image[0],
        (image[1] - 1) * strides[0] + top + bottom + height,
        (image[2] - 1) * strides[1] + left + right + width,
        features,
    )
    # The image may be cut by as much as a window reaches over its border.
    for name, pad, extent in (
        *(("out_pad", pad, height) for pad in (top, bottom)),
        *(("out_pad", pad, width) for pad in (left, right)),
    ):
        if pad <= -extent:
            refuse_to_legalize(op, f"its {name} has {pad}; expected {1 - extent} or more there")
    return result


def _pool(op: Operation) -> Shape:
    (image,) = _shapes(op)[:1]
    kernel, pads = numbers(op, "kernel"), numbers(op, "pad")
    _at_least(op, "extents of the window", kernel, 1)
    windows = _windows(op, image[1:-1], kernel, (1, 1), pads)
    for pad, extent in zip(pads, (kernel[0], kernel[0], kernel[1], kernel[1]), strict=True):
        if pad >= extent:
            refuse_to_legalize(
                op, f"its padding of {pad} holds whole windows of {extent}; expected less"
            )
    return (image[0], *windows, image[-1])


_RULES: dict[str, _ShapeRule] = {
    f"tosa.{mnemonic}": rule
    for mnemonic, rule in {
        "argmax": _argmax,
        "avg_pool2d": _pool,
        "cast": _same,
        "concat": _concat,
        "conv2d": _convolution,
        "conv3d": _convolution,
        "depthwise_conv2d": _depthwise,
        "erf": _same,
        "fully_connected": _fully_connected,
        "gather": _gather,
        "identity": _same,
        "matmul": _matmul,
        "max_pool2d": _pool,
        "pad": _pad,
        **dict.fromkeys(
            (
                "reduce_all reduce_any reduce_max reduce_min reduce_prod reduce_product reduce_sum"
            ).split(),
            _reduce,
        ),
        "rescale": _same,
        "reshape": _reshape,
        "reverse": _reversed,
        "scatter": _scatter,
        "slice": _slice,
        "table": _same,
        "tile": _tile,
        "transpose": _transpose,
        "transpose_conv2d": _transposed,
    }.items()
}

_KEEPING = frozenset(_RULES) - {
    f"tosa.{mnemonic}"
    for mnemonic in (
        "argmax cast conv2d conv3d depthwise_conv2d fully_connected matmul rescale table "
        "transpose_conv2d"
    ).split()
}
"""The operations whose result has the elements of their operands."""
