"""Compute the layers of models in shapes of few tiles, whose moves are those of whole tiles.

Before:

    func.func @main(%x: tensor<2x96x128xf32>) -> tensor<2x4x96x32xf32> {
      %0 = "ttir.reshape"(%x) <{shape = [2 : i32, 96 : i32, 4 : i32, 32 : i32]}>
          : (tensor<2x96x128xf32>) -> tensor<2x96x4x32xf32>
      %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 1, 3>}>
          : (tensor<2x96x4x32xf32>) -> tensor<2x4x96x32xf32>
      return %1 : tensor<2x4x96x32xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<2x96x128xf32>) -> tensor<2x4x96x32xf32> {
        %0 = "ttir.permute"(%arg0) <{permutation = array<i64: 0, 2, 1>}>
            : (tensor<2x96x128xf32>) -> tensor<2x128x96xf32>
        %1 = "ttir.reshape"(%0) <{shape = [2 : i32, 4 : i32, 32 : i32, 96 : i32]}>
            : (tensor<2x128x96xf32>) -> tensor<2x4x32x96xf32>
        %2 = "ttir.permute"(%1) <{permutation = array<i64: 0, 1, 3, 2>}>
            : (tensor<2x4x32x96xf32>) -> tensor<2x4x96x32xf32>
        return %2 : tensor<2x4x96x32xf32>
      }
    }

Requires: ttir of 2026.
Ensures: heads of attention whose size is that of whole tiles are taken apart by transpositions,
with a reshape between that moves nothing, and put side by side by `ttir.concatenate_heads`.
Channels of images that go first, and last again, stay last; few of them go last by a transposition,
with the rows that a convolution steps over at once. Means over the pixels of images that are no
whole tiles are pools of whole images.
Heads of one position of each sequence share tiles where they are computed with.
Products of sequences, and what is computed of them element by element or row by row, have the
dimensions of the sequences where that takes at most a quarter more tiles than rows of all
sequences do, and else one row after the other. Large parts of the columns of a product are products
of their own. Weights by which at most 32 rows are multiplied are transposed before a call.
Options: none.
Not done here: sequences shorter than a tile keep the moves that they have.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from ttmlir.dialects import ttir
from ttmlir.ir.greedy_rewriting import GreedyRewriter
from ttmlir.ir.tensor_types import tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import is_computed_once
from ttmlir.passes.ttir import ttir_shape_positions
from ttmlir.passes.ttir.ttir_shape_images import (
    convert_rows,
    fold_rows,
    pool_pixels,
    scale_windows,
)
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    inputs_of,
    made_by,
    mnemonic_of,
    parameters_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.passes.ttir.value_rewriting import ValueRule

TILE = 32
_MOST_PADDING = 1.25
"""How many times the tiles of rows of all sequences those of each sequence may be."""
_HEADS_FIRST = (0, 2, 1, 3)
_OF_ROWS = ("rms_norm", "layer_norm")


@dataclass(frozen=True)
class TTIRShapeLayersPass(ModulePass):
    """Compute the layers of models in shapes of few tiles, whose moves are those of whole tiles."""

    name = "ttir-shape-layers"
    title = "TTIRShapeLayers"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """First the shapes of products and of what follows them, then heads."""
        elementwise = [
            cls.name.removeprefix("ttir.")
            for cls in ttir.TTIR.operations
            if issubclass(cls, ttir.UnaryOp | ttir.BinaryOp)
        ]
        shapes = {
            **dict.fromkeys((*elementwise, *_OF_ROWS), (_compute_before,)),
            **dict.fromkeys(("matmul", "linear"), (_keep_sequences, _turn_weight)),
            **dict.fromkeys(("slice", "slice_static"), (_slice_before,)),
            "reshape": (_merge,),
        }
        GreedyRewriter(adapted(shapes)).run(module)
        positions = adapted({**ttir_shape_positions.RULES, "reshape": (_merge,)})
        GreedyRewriter({**positions, **ttir_shape_positions.COMPOSITES}).run(module)
        # Products of heads side by side are those of the sequences, too.
        products = (_multiply_parts,)
        GreedyRewriter({"ttir.matmul": products, "ttir.linear": products}).run(module)
        heads: dict[str, Sequence[ValueRule]] = {
            **shapes,
            "conv2d": (fold_rows,),
            "mean": (pool_pixels,),
            "multiply": (*shapes["multiply"], scale_windows),
            "typecast": (*shapes.get("typecast", ()), convert_rows),
            "permute": (_split_heads, _keep_channels, _turn_channels),
            "reshape": (_join_heads, _merge),
        }
        GreedyRewriter(adapted(heads)).run(module)


def tiles_of(shape: Sequence[int]) -> int:
    """Tiles that a tensor takes, of which the last two dimensions are padded."""
    rows, columns = (1, 1, *shape)[-2:]
    return math.prod(shape[:-2]) * -(-rows // TILE) * -(-columns // TILE)


# --- Shapes ---------------------------------------------------------------------------------------


def _merge(op: Operation, builder: Builder) -> SSAValue | None:
    """A reshape of a reshape, and one that changes nothing."""
    value = inputs_of(op)[0]
    inner = made_by(value, "reshape")
    source = value if inner is None else inputs_of(inner)[0]
    shape = value_shape(op.results[0])
    if source is value and value_shape(source) != shape:
        return None
    return source if value_shape(source) == shape else builder.reshape(source, shape)


def _keep_sequences(op: Operation, builder: Builder) -> SSAValue | None:
    """A product of the rows of all sequences is one of the sequences."""
    rows, weight, *bias = inputs_of(op)
    reshape = made_by(rows, "reshape")
    said = parameters_of(op)
    if reshape is None or said["transpose_a"] or len(value_shape(weight)) != 2:
        return None
    source = inputs_of(reshape)[0]
    shape, flat = value_shape(source), value_shape(rows)
    if len(shape) != 3 or len(flat) != 2 or shape[-1] != flat[-1] or shape[1] < TILE:
        return None
    if tiles_of(shape) > _MOST_PADDING * tiles_of(flat):
        return None
    if any(math.prod(value_shape(each)) != value_shape(each)[-1] for each in bias):
        return None
    type_ = tensor_like(op.results[0], (*shape[:2], value_shape(op.results[0])[-1]))
    product = builder.create(mnemonic_of(op), (source, weight, *bias), type_, **said)
    return builder.reshape(product, value_shape(op.results[0]))


def _turn_weight(op: Operation, builder: Builder) -> SSAValue | None:
    """A matrix that is there before a call, and by which few rows are multiplied, is transposed
    before, too."""
    rows, weight, *bias = inputs_of(op)
    said, shape = parameters_of(op), value_shape(weight)
    if not said["transpose_b"] or len(shape) != 2:
        return None
    if math.prod(value_shape(rows)[:-1]) > TILE or not is_computed_once(weight):
        return None
    turned = builder.permute(weight, (1, 0))
    said = {**said, "transpose_b": False}
    return builder.create(mnemonic_of(op), (rows, turned, *bias), op.results[0].type, **said)


def _slice_before(op: Operation, builder: Builder) -> SSAValue | None:
    """Some columns of a reshaped tensor."""
    source = _source_with_rows(inputs_of(op)[0])
    if source is None:
        return None
    said, shape = parameters_of(op), value_shape(inputs_of(op)[0])
    begins, ends, steps = (tuple(said[name]) for name in ("begins", "ends", "step"))
    rank = len(shape) - 1
    whole = begins[:rank] == (0,) * rank and ends[:rank] == tuple(shape[:rank])
    if not whole or set(steps) != {1}:
        return None
    own = value_shape(source)
    outer = len(own) - 1
    part = builder.create(
        mnemonic_of(op),
        (source,),
        tensor_like(op.results[0], (*own[:-1], value_shape(op.results[0])[-1])),
        begins=(*(0,) * outer, begins[-1]),
        ends=(*own[:-1], ends[-1]),
        step=(1,) * len(own),
    )
    return builder.reshape(part, value_shape(op.results[0]))


def _multiply_parts(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Columns of a product, of which all that are taken are many, are products of their own."""
    parts = [use.operation for use in op.results[0].uses]
    parts.sort(key=lambda each: _columns_of(each) or (0, 0))
    places = [_columns_of(each) for each in parts]
    first, weight, *bias = inputs_of(op)
    if len(parts) < 2 or None in places or len(value_shape(weight)) != 2:
        return False
    said = parameters_of(op)
    inner = value_shape(first)[-2 if said["transpose_a"] else -1]
    least = min(math.prod(value_shape(each.results[0])) for each in parts)
    if least * inner < _LEAST_PART or any(value_shape(each)[-1] == 1 for each in bias):
        return False
    along = 0 if said["transpose_b"] else 1
    builder = rewriter.builder(op)
    for part, place in zip(parts, cast("Sequence[tuple[int, int]]", places), strict=True):
        own = _take(builder, weight, along, place)
        biases = [_take(builder, each, len(value_shape(each)) - 1, place) for each in bias]
        type_ = tensor_like(part.results[0], value_shape(part.results[0]))
        made = builder.create(mnemonic_of(op), (first, own, *biases), type_, **said)
        rewriter.replace(part, made)
    return True


_LEAST_PART = 1 << 29
"""Multiplications from which a product of its own takes no longer than a part of a wider one."""


def _columns_of(op: Operation) -> tuple[int, int] | None:
    """Where the columns begin and end that an operation takes of all rows; None for others."""
    if mnemonic_of(op) not in ("slice", "slice_static"):
        return None
    said, shape = parameters_of(op), value_shape(inputs_of(op)[0])
    begins, ends, steps = (tuple(said[name]) for name in ("begins", "ends", "step"))
    whole = begins[:-1] == (0,) * (len(shape) - 1) and ends[:-1] == shape[:-1]
    return (begins[-1], ends[-1]) if whole and set(steps) == {1} else None


def _take(builder: Builder, value: SSAValue, dim: int, place: tuple[int, int]) -> SSAValue:
    """A part along one dimension: of tensors side by side one of them, where it is the same."""
    joined, begin = made_by(value, "concat"), 0
    if joined is not None and parameters_of(joined)["dim"] % len(value_shape(value)) == dim:
        for each in inputs_of(joined):
            end = begin + value_shape(each)[dim]
            if (begin, end) == place:
                return each
            begin = end
    shape = value_shape(value)
    begins, ends = [0] * len(shape), list(shape)
    begins[dim], ends[dim] = place
    extents = [end - begin for begin, end in zip(begins, ends, strict=True)]
    return builder.create(
        "slice",
        (value,),
        tensor_like(value, extents),
        begins=tuple(begins),
        ends=tuple(ends),
        step=(1,) * len(shape),
    )


def _source_with_rows(value: SSAValue) -> SSAValue | None:
    """What was reshaped to a tensor, if its rows are as long and it takes no more tiles by far."""
    reshape = made_by(value, "reshape")
    if reshape is None:
        return None
    source = inputs_of(reshape)[0]
    before, after = value_shape(source), value_shape(value)
    if not before or not after or before[-1] != after[-1]:
        return None
    is_sequence = len(before) == 3 and len(after) == 2 and before[1] >= TILE
    most = _MOST_PADDING * tiles_of(after) if is_sequence else tiles_of(after) - 1
    return source if tiles_of(before) <= most else None


def _compute_before(op: Operation, builder: Builder) -> SSAValue | None:
    """An operation on each element, or each row, of tensors that were reshaped from one shape."""
    shape = value_shape(op.results[0])
    if not shape or (mnemonic_of(op) in _OF_ROWS and not _is_along_rows(op)):
        return None
    large = [each for each in op.operands if not _is_row(each, shape)]
    if not large or any(value_shape(each) != shape for each in large):
        return None
    sources = [_source_with_rows(each) for each in large]
    if None in sources or len({value_shape(cast("SSAValue", each)) for each in sources}) != 1:
        return None
    own = value_shape(cast("SSAValue", sources[0]))
    given = dict(zip(large, cast("Sequence[SSAValue]", sources), strict=True))
    operands = [
        given[each] if each in given else _row_of_rank(builder, each, len(own))
        for each in op.operands
    ]
    new = type(op).create(
        operands=operands,
        result_types=[tensor_like(op.results[0], own)],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
        location=op.location,
    )
    return builder.reshape(builder.insert(new).results[0], shape)


def _is_along_rows(op: Operation) -> bool:
    """True for a norm along the last dimension alone."""
    return len(parameters_of(op)["normalized_shape"]) == 1


def _is_row(value: SSAValue, shape: Sequence[int]) -> bool:
    """True for numbers for each column, or for all of them, that are repeated."""
    own = value_shape(value)
    count = math.prod(own)
    return count < math.prod(shape) and (not own or count == own[-1])


def _row_of_rank(builder: Builder, value: SSAValue, rank: int) -> SSAValue:
    own = value_shape(value)
    return value if len(own) <= rank else builder.reshape(value, own[len(own) - rank :])


def _keep_channels(op: Operation, builder: Builder) -> SSAValue | None:
    """Pixels of all rows whose channels went first, and go last again."""
    flat = made_by(inputs_of(op)[0], "reshape")
    if flat is None or tuple(parameters_of(op)["permutation"]) != (0, 2, 1):
        return None
    moved = made_by(inputs_of(flat)[0], "permute")
    if moved is None or tuple(parameters_of(moved)["permutation"]) != (0, 3, 1, 2):
        return None
    images = inputs_of(moved)[0]
    batch, rows, columns, channels = value_shape(images)
    if value_shape(op.results[0]) != (batch, rows * columns, channels):
        return None
    return builder.reshape(images, (batch, rows * columns, channels))


def _turn_channels(op: Operation, builder: Builder) -> SSAValue | None:
    """Few channels go last by a transposition of tiles, as columns of pixels."""
    if tuple(parameters_of(op)["permutation"]) != (0, 2, 3, 1):
        return None
    source = inputs_of(op)[0]
    batch, channels, rows, columns = value_shape(source)
    pixels = rows * columns
    if channels >= TILE or pixels % TILE or rows == 1 or columns == 1:
        return None
    turned = builder.permute(builder.reshape(source, (batch, channels, pixels)), (0, 2, 1))
    return builder.reshape(turned, value_shape(op.results[0]))


# --- Heads ----------------------------------------------------------------------------------------


def _split_heads(op: Operation, builder: Builder) -> SSAValue | None:
    """[batch, positions, heads * size] to [batch, heads, positions, size] by two transpositions."""
    if tuple(parameters_of(op)["permutation"]) != _HEADS_FIRST:
        return None
    apart = made_by(inputs_of(op)[0], "reshape")
    if apart is None:
        return None
    source = inputs_of(apart)[0]
    batch, positions, heads, size = value_shape(apart.results[0])
    width = heads * size
    if size % TILE or positions < TILE or value_shape(source)[-1:] != (width,):
        return None
    if value_shape(source) != (batch, positions, width):
        if positions % TILE:
            return None
        source = builder.reshape(source, (batch, positions, width))
    columns = builder.permute(source, (0, 2, 1))
    turned = builder.reshape(columns, (batch, heads, size, positions))
    return builder.permute(turned, (0, 1, 3, 2))


def _join_heads(op: Operation, builder: Builder) -> SSAValue | None:
    """The heads of a position side by side."""
    moved = made_by(inputs_of(op)[0], "permute")
    if moved is None or tuple(parameters_of(moved)["permutation"]) != _HEADS_FIRST:
        return None
    source, shape = inputs_of(moved)[0], value_shape(op.results[0])
    batch, heads, positions, size = value_shape(source)
    if size % TILE or positions < TILE or not moved.results[0].has_one_use():
        return None
    joined = (batch, positions, heads * size)
    if shape[-1:] != joined[-1:]:
        return None
    moves = shape != joined and positions % TILE
    if moves and (len(shape) != 2 or tiles_of(joined) > _MOST_PADDING * tiles_of(shape)):
        return None
    beside = builder.create("concatenate_heads", (source,), tensor_like(op.results[0], joined))
    return builder.reshape(beside, shape)
