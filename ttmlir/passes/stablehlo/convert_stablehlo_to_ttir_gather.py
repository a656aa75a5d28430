"""The rule of StableHLO's gather, for `convert-stablehlo-to-ttir`.

One slice is `ttir.slice_dynamic`. Whole rows of the first dimension are `ttir.embedding`, single
elements along any dimension `ttir.gather`. Every other gather is an embedding of rows whose numbers
are computed: of a tensor in which the dimensions that are indexed come first, merged.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.index_arithmetic import (
    align_along,
    clamp_inside,
    number_windows,
    slice_at,
    split_components,
    widen,
)
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shapes, element_type, value_shape
from ttmlir.optable.row import Shape
from ttmlir.passes.core.ttir_conversion import ConversionRule

if TYPE_CHECKING:
    from ttmlir.dialects.stablehlo.attrs import GatherDimensionNumbersAttr

Label = tuple[str, int]
"""What a dimension is: a batch of the indices, or a dimension of the operand, by number."""


def batch(number: int) -> Label:
    """A dimension of the indices other than that of the index vectors."""
    return ("batch", number)


def operand(number: int) -> Label:
    """A dimension of the operand."""
    return ("operand", number)


def labels(rank: int, window_dims: Shape, operand_dims: Sequence[int]) -> list[Label]:
    """What the dimensions of a gather's result or of a scatter's updates are.

    `window_dims` correspond to dimensions of the operand, in order, the others to the batches.
    """
    windows = dict(zip(window_dims, operand_dims, strict=True))
    batches = iter(range(rank))
    return [operand(windows[d]) if d in windows else batch(next(batches)) for d in range(rank)]


def check_indexed(op: Operation, dims: Collection[int]) -> None:
    """Refuse indices that are vectors of no numbers."""
    if not dims:
        refuse_to_legalize(
            op, "its indices have no numbers; supported are indices of one dimension or more"
        )


class _Gather:
    """A gather, with the names of StableHLO's specification for what follows from its numbers."""

    def __init__(self, op: Operation):
        self.op = op
        self.builder = Builder.before(op)
        self.numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
        self.sizes = integers(op, "slice_sizes")
        self.mapped = self.numbers.start_index_map
        self.indices = widen(self.builder, op.operands[1])
        vector = self.numbers.index_vector_dim
        extents = value_shape(self.indices)
        self.batches = tuple(e for dim, e in enumerate(extents) if dim != vector)
        batching = (dim - (dim > vector) for dim in self.numbers.start_indices_batching_dims)
        self.batch_of = dict(zip(self.numbers.operand_batching_dims, batching, strict=True))

    @cached_property
    def operand(self) -> SSAValue:
        """The operand, cut to the slices along dimensions that are not indexed."""
        value = self.op.operands[0]
        extents = value_shape(value)
        indexed = {*self.mapped, *self.batch_of}
        ends = [extents[d] if d in indexed else size for d, size in enumerate(self.sizes)]
        return self.builder.slice(value, [0] * len(ends), ends)

    @cached_property
    def starts(self) -> dict[int, SSAValue]:
        """Where slices begin along each dimension that is indexed, shaped like the batches."""
        vector = self.numbers.index_vector_dim
        found = split_components(self.builder, self.indices, vector, len(self.mapped))
        return dict(zip(self.mapped, found, strict=True))

    @cached_property
    def inside(self) -> dict[int, SSAValue]:
        """The same, moved so that all slices lie inside of the operand."""
        extents = value_shape(self.operand)
        return {
            dim: clamp_inside(self.builder, start, extents[dim] - self.sizes[dim])
            for dim, start in self.starts.items()
        }

    def arranged(self, value: SSAValue, found: list[Label]) -> SSAValue:
        """The value, whose dimensions are labelled, in the shape of the result.

        Labels that only one of them has are those of slices of one element.
        """
        gone = (*self.numbers.collapsed_slice_dims, *self.batch_of)
        kept = [dim for dim in range(len(self.sizes)) if dim not in gone]
        shape = value_shape(self.op.results[0])
        wanted = labels(len(shape), self.numbers.offset_dims, kept)
        order = [found.index(label) for label in wanted if label in found]
        order += [dim for dim in range(len(found)) if dim not in order]
        return self.builder.reshape(self.builder.permute(value, order), shape)


def _gather(op: Operation) -> None:
    check_static_shapes(op)
    gather = _Gather(op)
    check_indexed(op, gather.mapped or gather.batch_of)
    dims = gather.mapped
    if math.prod(gather.batches) == 1:
        replace(op, _slice(gather))
    elif len(dims) != 1 or gather.sizes[dims[0]] != 1 or (dims == (0,) and not gather.batch_of):
        replace(op, _rows(gather))
    else:
        replace(op, _elements(gather))


def _slice(gather: _Gather) -> SSAValue:
    """One slice, whose elements are in the order of the result's."""
    starts = [gather.starts.get(dim, 0) for dim in range(len(gather.sizes))]
    found = slice_at(gather.builder, gather.op.operands[0], starts, gather.sizes)
    return gather.builder.reshape(found, value_shape(gather.op.results[0]))


def _elements(gather: _Gather) -> SSAValue:
    """Single elements along one dimension; batches of operand and indices go side by side."""
    builder = gather.builder
    extents = value_shape(gather.operand)
    (dim,) = gather.mapped
    free = [i for i in range(len(gather.batches)) if i not in gather.batch_of.values()]
    index = align_along(builder, gather.inside[dim], len(extents), dim, gather.batch_of)
    before, after = extents[:dim], extents[dim + 1 :]
    type_ = TensorType(element_type(gather.operand), (*before, value_shape(index)[dim], *after))
    picked = builder.create("gather", [gather.operand, index], type_, dim=dim)
    found: list[Label] = []
    for i in range(len(extents)):
        if i == dim:
            found += map(batch, free)
        else:
            found.append(batch(gather.batch_of[i]) if i in gather.batch_of else operand(i))
    spread = builder.reshape(picked, (*before, *(gather.batches[i] for i in free), *after))
    return gather.arranged(spread, found)


def _rows(gather: _Gather) -> SSAValue:
    """Rows of a table, whose numbers follow from those along each dimension that is indexed."""
    builder = gather.builder
    extents = value_shape(gather.operand)
    indexed = sorted((*gather.batch_of, *gather.mapped))
    rest = [dim for dim in range(len(extents)) if dim not in indexed]
    row = [extents[dim] for dim in rest]
    numbers = number_windows(
        builder,
        {dim: extents[dim] for dim in indexed},
        dict(enumerate(gather.sizes)),
        gather.inside,
        gather.batch_of,
        gather.batches,
        element_type(gather.indices),
    )
    table = builder.permute(gather.operand, [*indexed, *rest])
    table = builder.reshape(table, (math.prod(extents[dim] for dim in indexed), math.prod(row)))
    shape = value_shape(numbers)
    type_ = TensorType(element_type(table), (*shape, math.prod(row)))
    found = builder.reshape(builder.create("embedding", [numbers, table], type_), (*shape, *row))
    windows = [dim for dim in indexed if gather.sizes[dim] > 1]
    batches = map(batch, range(len(gather.batches)))
    return gather.arranged(found, [*batches, *map(operand, (*windows, *rest))])


RULES: dict[str, ConversionRule] = {"stablehlo.gather": _gather}
"""Rules by the full name of the operation."""
