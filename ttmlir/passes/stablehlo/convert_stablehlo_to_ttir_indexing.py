"""Rules of StableHLO's slices at computed places, for `convert-stablehlo-to-ttir`.

Those of gather and scatter stand in files of their own.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerType, Signedness, TensorType, i1
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.dialects.ttcore import ReduceTypeAttr
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import constant_indices
from ttmlir.ir.kernel_builder import (
    align_along,
    clamp_inside,
    combine,
    create_indices,
    find_slice_begins,
    number_windows,
    slice_at,
    split_components,
    test_inside,
    widen,
)
from ttmlir.ir.late_movement import permute_late, reshape_late, slice_late, write_slice_late
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import check_static_shapes, element_type, tensor_like, value_shape
from ttmlir.layout.enums import ReduceType
from ttmlir.optable import definition
from ttmlir.optable.op_definition import Shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo.stablehlo_bodies import REDUCE_TYPES, combiners

if TYPE_CHECKING:
    from ttmlir.dialects.stablehlo.attrs import (
        GatherDimensionNumbersAttr,
        ScatterDimensionNumbersAttr,
    )


def _dynamic_slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shapes(op)
    operand, *starts = op.operands
    replace(op, slice_at(builder, operand, starts, integers(op, "slice_sizes")))


def _dynamic_update_slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shapes(op)
    operand, update, *starts = op.operands
    extents, sizes = value_shape(operand), value_shape(update)
    if extents == sizes:
        replace(op, update)
        return
    begins = find_slice_begins(builder, starts, extents, sizes)
    if isinstance(begins, tuple):
        begins = create_indices(builder, begins, element_type(widen(builder, starts[0])))
    replace(op, builder.create("slice_write", [operand, update, begins], op.results[0].type))


# -- gathering ---------------------------------------------------------------------------------
# One slice is `ttir.slice_dynamic`. Whole rows of the first dimension are `ttir.embedding`, single
# elements along any dimension `ttir.gather`. Every other gather is an embedding of rows whose
# numbers are computed: of a tensor in which the dimensions that are indexed come first, merged.


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


class _Indexed:
    """What a gather and a scatter have in common, with the names of StableHLO's specification."""

    def __init__(
        self,
        op: Operation,
        mapped: Shape,
        vector_dim: int,
        batching: tuple[Shape, Shape],
    ):
        self.op = op
        self.builder = Builder.before(op)
        self.mapped = mapped
        self.indices = widen(self.builder, op.operands[1])
        self._vector_dim = vector_dim
        extents = value_shape(self.indices)
        self.batches = tuple(e for dim, e in enumerate(extents) if dim != vector_dim)
        """Extents of the indices other than that of the index vectors."""
        own, sources = batching
        batches = (dim - (dim > vector_dim) for dim in sources)
        self.batch_of = dict(zip(own, batches, strict=True))
        """For each batching dimension of the operand, that of the batches."""

    @cached_property
    def starts(self) -> dict[int, SSAValue]:
        """Where slices begin along each dimension that is indexed, shaped like the batches."""
        count = len(self.mapped)
        found = split_components(self.builder, self.indices, self._vector_dim, count)
        return dict(zip(self.mapped, found, strict=True))

    def label(self, dim: int) -> Label:
        """What a dimension of the operand is in the result, or in the updates."""
        return batch(self.batch_of[dim]) if dim in self.batch_of else operand(dim)

    @property
    def free_batches(self) -> list[int]:
        """The batches that no dimension of the operand corresponds to."""
        return [i for i in range(len(self.batches)) if i not in self.batch_of.values()]


class _Gather(_Indexed):
    """A gather, and what follows from its numbers."""

    def __init__(self, op: Operation):
        self.numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
        self.sizes = integers(op, "slice_sizes")
        super().__init__(
            op,
            self.numbers.start_index_map,
            self.numbers.index_vector_dim,
            (self.numbers.operand_batching_dims, self.numbers.start_indices_batching_dims),
        )

    @cached_property
    def operand(self) -> SSAValue:
        """The operand, cut to the slices along dimensions that are not indexed."""
        value = self.op.operands[0]
        extents = value_shape(value)
        indexed = {*self.mapped, *self.batch_of}
        ends = [extents[d] if d in indexed else size for d, size in enumerate(self.sizes)]
        return self.builder.slice(value, [0] * len(ends), ends)

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
    builder, source = gather.builder, gather.op.operands[0]
    starts = [gather.starts.get(dim, 0) for dim in range(len(gather.sizes))]
    if builder.style.destinations or not gather.starts:
        found = slice_at(builder, source, starts, gather.sizes)
    else:
        scalar = TensorType(element_type(next(iter(gather.starts.values()))), ())
        numbers = [
            builder.create_splat(start, scalar) if isinstance(start, int) else start
            for start in starts
        ]
        type_ = tensor_like(source, gather.sizes)
        found = slice_late(builder, source, numbers, gather.sizes, type_)
    return builder.reshape(found, value_shape(gather.op.results[0]))


def _elements(gather: _Gather) -> SSAValue:
    """Single elements along one dimension; batches of operand and indices go side by side."""
    builder = gather.builder
    extents = value_shape(gather.operand)
    (dim,) = gather.mapped
    free = gather.free_batches
    index = align_along(builder, gather.inside[dim], len(extents), dim, gather.batch_of)
    before, after = extents[:dim], extents[dim + 1 :]
    type_ = TensorType(element_type(gather.operand), (*before, value_shape(index)[dim], *after))
    if not builder.style.destinations:
        # From 2025 on nothing repeats indices by itself.
        index = builder.broadcast(index, type_.get_shape())
    picked = builder.create("gather", [gather.operand, index], type_, dim=dim)
    found: list[Label] = []
    for i in range(len(extents)):
        found += map(batch, free) if i == dim else [gather.label(i)]
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
    if not builder.style.destinations and len(shape) > 2:
        # From 2025 on indices have two dimensions at most.
        numbers = builder.reshape(numbers, (math.prod(shape),))
    type_ = TensorType(element_type(table), (*value_shape(numbers), math.prod(row)))
    found = builder.reshape(builder.create("embedding", [numbers, table], type_), (*shape, *row))
    windows = [dim for dim in indexed if gather.sizes[dim] > 1]
    batches = map(batch, range(len(gather.batches)))
    return gather.arranged(found, [*batches, *map(operand, (*windows, *rest))])


# -- scattering --------------------------------------------------------------------------------
# An update at a known place is `ttir.slice_write`. Updates of single elements along one dimension
# are `ttir.scatter` and its siblings along that dimension. All others are so after the dimensions
# that are indexed are merged to the first one, with numbers that are computed.
#
# A window that does not fit into the input changes nothing, as in XLA.


_COMBINATIONS = ("add", "multiply", "maximum", "minimum")
# Of truth values, the larger is or, the smaller is and.
_LOGICAL = {definition(name).on_truth: name for name in ("maximum", "minimum")}


def combination_of(op: Operation) -> str | None:
    """The definition that combines old and new elements; empty if the new ones replace the old
    ones.

    None if the function computes anything else.
    """
    block = op.regions[0].block
    terminator = block.last_op
    assert terminator is not None, "verified: a body ends in stablehlo.return"
    if terminator.operands[0] is block.args[1]:
        return ""
    combining = combiners(op.regions[0])
    if combining is None:
        return None
    is_truth = element_type(op.operands[0]) == i1
    name = _LOGICAL.get(combining[0].on_truth) if is_truth else combining[0].mnemonic
    return name if name in _COMBINATIONS else None


class _Scatter(_Indexed):
    """A scatter, and what follows from its numbers."""

    def __init__(self, op: Operation):
        self.numbers = cast(
            "ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"]
        )
        super().__init__(
            op,
            self.numbers.scatter_dims_to_operand_dims,
            self.numbers.index_vector_dim,
            (self.numbers.input_batching_dims, self.numbers.scatter_indices_batching_dims),
        )
        self.input, _, self.updates = op.operands
        self.combination = combination_of(op)
        self.extents = value_shape(self.input)
        gone = (*self.numbers.inserted_window_dims, *self.batch_of)
        self.kept = [dim for dim in range(len(self.extents)) if dim not in gone]
        windows = zip(self.kept, self.numbers.update_window_dims, strict=True)
        update = value_shape(self.updates)
        self.sizes = {dim: 1 for dim in gone} | {dim: update[window] for dim, window in windows}

    def source(self, wanted: list[Label], shape: Shape) -> SSAValue:
        """The updates with these dimensions in this order, those of one element left out."""
        update_dims = self.numbers.update_window_dims
        found = labels(len(value_shape(self.updates)), update_dims, self.kept)
        order = [found.index(label) for label in wanted if label in found]
        order += [dim for dim in range(len(found)) if dim not in order]
        return self.builder.reshape(self.builder.permute(self.updates, order), shape)

    @cached_property
    def place(self) -> Shape | None:
        """Where the one window begins, if that is known and it fits into the input."""
        if math.prod(self.batches) != 1:
            return None
        place = [0] * len(self.extents)
        for dim, start in self.starts.items():
            known = constant_indices(start)
            if known is None or not 0 <= known[0] <= self.extents[dim] - self.sizes[dim]:
                return None
            place[dim] = known[0]
        return tuple(place)

    def written(self, value: SSAValue, index: SSAValue, source: SSAValue, dim: int) -> SSAValue:
        """A tensor with elements along a dimension written by number."""
        return self.builder.scatter((value, index, source), dim, self.combination)


def _scatter(op: Operation) -> None:
    if len(op.results) != 1 or combination_of(op) is None:
        refuse_to_legalize(
            op,
            "several inputs, and functions other than sums, products and extremes, are written in "
            "terms of others before: run stablehlo-expand-functions, which is part of "
            "stablehlo-to-ttir-pipeline",
        )
    check_static_shapes(op)
    scatter = _Scatter(op)
    indexed = {*scatter.mapped, *scatter.batch_of}
    if scatter.place is None:
        # Vectors of no numbers mean the first place.
        check_indexed(op, indexed)
    is_whole = all(
        scatter.sizes[dim] == extent
        for dim, extent in enumerate(scatter.extents)
        if dim not in indexed
    )
    if scatter.place is not None:
        replace(op, _write(scatter, scatter.place))
    elif len(scatter.mapped) == 1 and scatter.sizes[scatter.mapped[0]] == 1 and is_whole:
        replace(op, _updated_elements(scatter))
    else:
        replace(op, _updated_rows(scatter))


def _write(scatter: _Scatter, place: Shape) -> SSAValue:
    """One window at a place that is known."""
    builder, input = scatter.builder, scatter.input
    sizes = [scatter.sizes[dim] for dim in range(len(place))]
    update = builder.reshape(scatter.updates, sizes)
    if scatter.combination:
        ends = [begin + size for begin, size in zip(place, sizes, strict=True)]
        old = builder.slice(input, place, ends)
        update = builder.create(scatter.combination, [old, update], update.type)
    if value_shape(update) == scatter.extents:
        return update
    if not builder.style.destinations:
        numbers = [builder.create_splat(each, TensorType(_SI32, (1, 1))) for each in place]
        return write_slice_late(builder, input, update, numbers)
    begins = create_indices(builder, place, element_type(scatter.indices))
    return builder.create("slice_write", [input, update, begins], input.type)


def _updated_elements(scatter: _Scatter) -> SSAValue:
    """Single elements along one dimension; batches of input and indices go side by side."""
    builder, extents = scatter.builder, scatter.extents
    (dim,) = scatter.mapped
    index = align_along(builder, scatter.starts[dim], len(extents), dim, scatter.batch_of)
    wanted: list[Label] = []
    for i in range(len(extents)):
        wanted += map(batch, scatter.free_batches) if i == dim else [scatter.label(i)]
    shape = (*extents[:dim], value_shape(index)[dim], *extents[dim + 1 :])
    source = scatter.source(wanted, shape)
    return scatter.written(scatter.input, index, source, dim)


def _updated_rows(scatter: _Scatter) -> SSAValue:
    """Rows of a table, whose numbers follow from those along each dimension that is indexed."""
    builder, extents = scatter.builder, scatter.extents
    known = {*scatter.mapped, *scatter.batch_of}
    indexed = [d for d, e in enumerate(extents) if d in known or scatter.sizes[d] != e]
    rest = [dim for dim in range(len(extents)) if dim not in indexed]
    numbers = number_windows(
        builder,
        {dim: extents[dim] for dim in indexed},
        scatter.sizes,
        scatter.starts,
        scatter.batch_of,
        scatter.batches,
        element_type(scatter.indices),
    )
    numbers = _fitting(scatter, numbers)
    count, row = math.prod(value_shape(numbers)), math.prod(extents[dim] for dim in rest)
    windows = [dim for dim in indexed if scatter.sizes[dim] > 1]
    batches = map(batch, range(len(scatter.batches)))
    source = scatter.source([*batches, *map(operand, (*windows, *rest))], (count, row))
    order = [*indexed, *rest]
    table = builder.permute(scatter.input, order)
    merged = builder.reshape(table, (math.prod(extents[dim] for dim in indexed), row))
    index = builder.reshape(numbers, (count, 1))
    written = scatter.written(merged, index, source, 0)
    back = [order.index(dim) for dim in range(len(order))]
    return builder.permute(builder.reshape(written, value_shape(table)), back)


def _fitting(scatter: _Scatter, numbers: SSAValue) -> SSAValue:
    """The numbers, -1 for those of windows that do not fit into the input."""
    builder = scatter.builder
    fits: SSAValue | None = None
    for dim, start in scatter.starts.items():
        inside = test_inside(builder, start, scatter.extents[dim] - scatter.sizes[dim])
        if inside is not None:
            fits = inside if fits is None else combine(builder, "logical_and", fits, inside)
    if fits is None:
        return numbers
    shape = value_shape(numbers)
    ones = (1,) * (len(shape) - len(scatter.batches))
    fits = builder.reshape(fits, (*scatter.batches, *ones))
    nowhere = builder.create_scalar(-1, element_type(numbers))
    return builder.create("where", [fits, numbers, nowhere], numbers.type)


RULES: dict[str, ConversionRule] = {
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
}
"""Rules by the full name of the operation."""


# -- 2026 --------------------------------------------------------------------------------------


class _Rows:
    """How a tensor is seen whose windows are gathered or scattered: outer, indexed, inner.

    Outer dimensions are those of a batch, then those before the ones that are indexed.
    """

    def __init__(self, op: Operation, mapped: Shape, batching: tuple[Shape, Shape], vector: int):
        self.builder = Builder.before(op)
        self.shape = value_shape(op.operands[0])
        self.batch, self.index_batch = batching
        rest = [dim for dim in range(len(self.shape)) if dim not in self.batch]
        self.mapped = mapped
        self.outer = [dim for dim in rest if dim < mapped[0]]
        self.inner = [dim for dim in rest if dim > mapped[-1]]
        self.order = [*self.batch, *self.outer, *mapped, *self.inner]
        self.vector = vector
        extents = value_shape(op.operands[1])
        self.places = [
            dim for dim in range(len(extents)) if dim != vector and dim not in self.index_batch
        ]
        self.counts = [extents[dim] for dim in self.places]

    @property
    def is_regular(self) -> bool:
        """False where the indexed dimensions are not neighbours in order."""
        return self.mapped == tuple(range(self.mapped[0], self.mapped[0] + len(self.mapped))) and (
            not self.batch or not self.outer
        )

    def are_whole(self, sizes: Sequence[int]) -> bool:
        """Whether slices of these sizes have all elements along dimensions without an index."""
        return all(sizes[dim] == self.shape[dim] for dim in (*self.outer, *self.inner))

    @property
    def is_column(self) -> bool:
        """True where the last dimension is indexed."""
        return not self.inner

    def extents(self, dims: Sequence[int]) -> list[int]:
        """The extents of dimensions of the tensor."""
        return [self.shape[dim] for dim in dims]

    @property
    def row_shape(self) -> list[int]:
        """Outer dimensions as one, those that are indexed, as one where rows follow; inner ones."""
        outer = math.prod(self.extents([*self.batch, *self.outer]))
        indexed = self.extents(self.mapped)
        if not self.is_column:
            return [outer, math.prod(indexed), *self.extents(self.inner)]
        single = [1] if len(indexed) == 1 else []
        return [outer, *single, *indexed]

    def rows(self, value: SSAValue) -> SSAValue:
        """The tensor under this shape."""
        if self.order != [*range(len(self.order))]:
            value = permute_late(self.builder, value, self.order)
        return reshape_late(self.builder, value, self.row_shape)

    def from_rows(self, rows: SSAValue) -> SSAValue:
        """The tensor that `rows` had."""
        value = reshape_late(self.builder, rows, self.extents(self.order))
        if self.order == [*range(len(self.order))]:
            return value
        order = [self.order.index(dim) for dim in range(len(self.order))]
        return permute_late(self.builder, value, order)

    def indices(self, indices: SSAValue) -> SSAValue:
        """Signed indices: batch, number of the index, places."""
        owner = indices.owner
        parts: Sequence[SSAValue] = [indices]
        if (
            isinstance(owner, Operation)
            and owner.name == "ttir.concat"
            and integer(owner, "dim") == self.vector
        ):
            parts = owner.operands
        made = [self._index(part) for part in parts]
        if len(made) == 1:
            return made[0]
        shape = value_shape(made[0])
        count = sum(value_shape(each)[1] for each in made)
        type_ = tensor_like(made[0], (shape[0], count, *shape[2:]))
        return self.builder.create("concat", made, type_, dim=1)

    def _index(self, part: SSAValue) -> SSAValue:
        extents = value_shape(part)
        vector = [self.vector] if self.vector < len(extents) else []
        order = [*self.index_batch, *vector, *self.places]
        numbers = extents[self.vector] if vector else 1
        if order != [*range(len(order))]:
            moved = [extents[dim] for dim in order]
            if [n for n in moved if n > 1] == [n for n in extents if n > 1] and _keeps(
                order, extents
            ):
                part = reshape_late(self.builder, part, moved)
            else:
                part = permute_late(self.builder, part, order)
        size = math.prod(extents[dim] for dim in self.index_batch)
        shape = (size, numbers, math.prod(self.counts))
        if shape != value_shape(part) or order != [*range(len(order))]:
            part = reshape_late(self.builder, part, shape)
        element = element_type(part)
        if isinstance(element, IntegerType) and element == IntegerType(element.bitwidth):
            return self.builder.cast(part, _SI32)
        return part


_SI32 = IntegerType(32, Signedness.SIGNED)


def _keeps(order: Sequence[int], extents: Sequence[int]) -> bool:
    """True if a permutation moves nothing but dimensions of one element."""
    long = [dim for dim in order if extents[dim] > 1]
    return long == sorted(long)


FILL = "tt.fill_out_of_bounds"
"""The attribute of a regular gather, whose slices that reach outside are 0."""


def is_regular_gather(op: Operation) -> bool:
    """Whether a gather becomes one of the library, with `FILL` or without."""
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    batching = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    mapped = numbers.start_index_map
    return bool(mapped) and _Rows(op, mapped, batching, numbers.index_vector_dim).is_regular


def _late_gather(op: Operation) -> None:
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    batching = numbers.operand_batching_dims, numbers.start_indices_batching_dims
    mapped = numbers.start_index_map
    rows = _Rows(op, mapped, batching, numbers.index_vector_dim) if mapped else None
    sizes = integers(op, "slice_sizes")
    if rows is None or not rows.is_regular or not rows.are_whole(sizes):
        RULES["stablehlo.gather"](op)
        return
    builder = rows.builder
    table = rows.rows(op.operands[0])
    places = rows.indices(op.operands[1])
    windows = tuple(sizes[dim] for dim in mapped)
    count = math.prod(rows.counts) * math.prod(windows)
    shape = (rows.row_shape[0], count, *rows.extents(rows.inner))
    found = builder.create(
        "rows_gather",
        [table, places],
        tensor_like(table, shape),
        sizes=tuple(rows.extents(mapped)),
        windows=windows,
        column=rows.is_column,
        fill_out_of_bounds=FILL in op.attributes,
    )
    # The dimensions as they come, and as the operation wants them.
    kept = [dim for dim in mapped if dim not in numbers.collapsed_slice_dims]
    came = [
        *(batch(n) for n in range(len(rows.batch))),
        *map(operand, rows.outer),
        *(batch(len(rows.batch) + n) for n in range(len(rows.places))),
        *map(operand, [*kept, *rows.inner]),
    ]
    offsets = [*map(operand, sorted([*rows.outer, *kept, *rows.inner]))]
    replace(op, _in_order(builder, found, op.results[0], came, numbers.offset_dims, offsets, rows))


def _in_order(
    builder: Builder,
    found: SSAValue,
    result: SSAValue,
    came: Sequence[Label],
    offset_dims: Shape,
    offsets: Sequence[Label],
    rows: _Rows,
) -> SSAValue:
    shape = value_shape(result)
    wanted = _wanted(len(shape), offset_dims, offsets, rows)
    extents = {label: shape[place] for place, label in enumerate(wanted)}
    found = reshape_late(builder, found, [extents[label] for label in came])
    order = [came.index(label) for label in wanted]
    return found if order == [*range(len(order))] else permute_late(builder, found, order)


def _wanted(rank: int, offset_dims: Shape, offsets: Sequence[Label], rows: _Rows) -> list[Label]:
    """What the dimensions of a gather's result, or of updates, are."""
    windows = dict(zip(offset_dims, offsets, strict=True))
    own = sorted([*rows.index_batch, *rows.places])
    places = [*rows.index_batch, *rows.places]
    labels_ = iter([batch(places.index(dim)) for dim in own])
    return [windows[dim] if dim in windows else next(labels_) for dim in range(rank)]


def _late_scatter(op: Operation) -> None:
    numbers = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
    batching = numbers.input_batching_dims, numbers.scatter_indices_batching_dims
    mapped = numbers.scatter_dims_to_operand_dims
    kind = _combination(op)
    rows = None
    if len(op.operands) == 3 and kind is not None and mapped:
        rows = _Rows(op, mapped, batching, numbers.index_vector_dim)
    inserted = numbers.inserted_window_dims
    if rows is None or kind is None or not rows.is_regular or not {*inserted} <= {*mapped}:
        RULES["stablehlo.scatter"](op)
        return
    builder, updates = rows.builder, op.operands[2]
    kept = [dim for dim in mapped if dim not in inserted]
    came = [
        *(batch(n) for n in range(len(rows.batch))),
        *map(operand, rows.outer),
        *(batch(len(rows.batch) + n) for n in range(len(rows.places))),
        *map(operand, [*kept, *rows.inner]),
    ]
    offsets = [*map(operand, sorted([*rows.outer, *kept, *rows.inner]))]
    extents = value_shape(updates)
    wanted = _wanted(len(extents), numbers.update_window_dims, offsets, rows)
    sizes = {label: extents[place] for place, label in enumerate(wanted)}
    whole = value_shape(op.operands[0])
    if any(sizes[operand(dim)] != whole[dim] for dim in (*rows.outer, *rows.inner)):
        # Windows are smaller than the tensor where no index says at which place.
        RULES["stablehlo.scatter"](op)
        return
    table = rows.rows(op.operands[0])
    places = rows.indices(op.operands[1])
    order = [wanted.index(label) for label in came]
    if order != [*range(len(order))]:
        updates = permute_late(builder, updates, order)
    windows = tuple(sizes.get(operand(dim), 1) for dim in mapped)
    count = math.prod(rows.counts) * math.prod(windows)
    updates = reshape_late(builder, updates, (rows.row_shape[0], count, *rows.extents(rows.inner)))
    found = builder.create(
        "rows_scatter",
        [table, places, updates],
        table.type,
        sizes=tuple(rows.extents(mapped)),
        windows=windows,
        column=rows.is_column,
        reduce=ReduceTypeAttr(kind),
    )
    replace(op, rows.from_rows(found))


def _combination(op: Operation) -> ReduceType | None:
    """How updates are combined with what is there; None if that is no single operation."""
    body = op.regions[0].block
    terminator = body.last_op
    assert terminator is not None, "verified: a body ends in stablehlo.return"
    if len(terminator.operands) == 1 and terminator.operands[0] is body.args[-1]:
        return ReduceType.INVALID
    combining = combiners(op.regions[0])
    if combining is None or len(combining) != 1:
        return None
    return REDUCE_TYPES.get(combining[0].mnemonic)


def _late_dynamic_slice(op: Operation) -> None:
    value, *starts = op.operands
    sizes = integers(op, "slice_sizes")
    replace(op, slice_late(Builder.before(op), value, starts, sizes, op.results[0].type))


def _late_dynamic_update_slice(op: Operation) -> None:
    value, update, *starts = op.operands
    replace(op, write_slice_late(Builder.before(op), value, update, starts))


LATE_RULES: dict[str, ConversionRule] = {
    "stablehlo.dynamic_slice": _late_dynamic_slice,
    "stablehlo.dynamic_update_slice": _late_dynamic_update_slice,
    "stablehlo.gather": _late_gather,
    "stablehlo.scatter": _late_scatter,
}
"""Rules of 2026, where they differ."""
