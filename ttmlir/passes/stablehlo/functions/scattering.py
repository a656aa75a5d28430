"""Scatters whose functions are the program's own, and scatters of several tensors at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Operation, Region

from ttmlir.arrays.array import Array, concatenate, repeat
from ttmlir.dialects.stablehlo.attrs import (
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttmlir.ir.arrays import element_of
from ttmlir.ir.rewriting import replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import element_type
from ttmlir.optable import row
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_indexing import combination_of
from ttmlir.passes.stablehlo.stablehlo_scalars import elementwise_row


def is_expanded(op: Operation) -> bool:
    """True for a scatter that the conversion to ttir does not take."""
    return len(op.results) != 1 or combination_of(op) is None


def expand_scatter(op: Operation) -> None:
    """Read, apply the function, and write: all at once, or one update after the other."""
    scatter = _Scatter.of(op, StableHLOCarrier.before(op))
    if scatter.is_difference:
        found = [scatter.subtracted()]
    elif scatter.is_unique or scatter.count == 1:
        found = scatter.at_once(scatter.inputs)
    else:
        found = scatter.in_turn()
    replace(op, *(each.value for each in found))


@dataclass(frozen=True)
class _Scatter:
    """A scatter, and where it writes what it becomes."""

    op: Operation
    carrier: StableHLOCarrier
    numbers: ScatterDimensionNumbersAttr
    inputs: Sequence[Array]
    indices: Array
    updates: Sequence[Array]

    @staticmethod
    def of(op: Operation, carrier: StableHLOCarrier) -> _Scatter:
        count = len(op.results)
        values = [carrier.wrap(value) for value in op.operands]
        return _Scatter(
            op=op,
            carrier=carrier,
            numbers=cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"]),
            inputs=values[:count],
            indices=values[count],
            updates=values[count + 1 :],
        )

    @property
    def is_unique(self) -> bool:
        """True if the program promises that no two updates meet."""
        attr = self.op.properties.get("unique_indices")
        return attr is not None and bool(cast("IntegerAttr", attr).value.data)

    @property
    def is_difference(self) -> bool:
        """True if updates are subtracted: sums of their opposites are the same in any order."""
        block = self.op.regions[0].block
        first, end = block.first_op, block.last_op
        return (
            len(self.inputs) == 1
            and first is not None
            and elementwise_row(first) is row("subtract")
            and end is first.next_op
            and tuple(first.operands) == tuple(block.args)
            and end is not None
            and tuple(end.operands) == tuple(first.results)
        )

    @property
    def batches(self) -> list[int]:
        """The dimensions of the indices that count updates."""
        vector = self.numbers.index_vector_dim
        return [dim for dim in range(len(self.indices.shape)) if dim != vector]

    @property
    def count(self) -> int:
        """How many windows are written."""
        return math.prod(self.indices.shape[dim] for dim in self.batches)

    def _make(self, mnemonic: str, operands: Sequence[Array], *rest: Any, **more: Any) -> Array:
        made = self.carrier.make(mnemonic, [each.value for each in operands], *rest, **more)
        return self.carrier.wrap(made[0])

    def subtracted(self) -> Array:
        """Add the opposites of the updates."""
        scalar = TensorType(element_of(self.inputs[0].dtype), ())
        region = self.carrier.make_region([scalar, scalar], _sum)
        return self._write(self.inputs[0], -self.updates[0], region)

    def at_once(self, inputs: Sequence[Array]) -> list[Array]:
        """Windows that do not meet are read, computed and written together."""
        old = [self._read(each) for each in inputs]
        block = self.op.regions[0].block
        results: list[Array] = []
        for number, input_ in enumerate(inputs):
            region = _with_one_result(self.op.regions[0], number)
            like = self.updates[number]
            type_ = TensorType(element_type(block.args[number]), like.shape)
            dims = i64_array(range(len(like.shape)))
            new = self._make("map", [*old, *self.updates], [type_], [region], dimensions=dims)
            scalar = TensorType(element_of(input_.dtype), ())
            keep = self.carrier.make_region([scalar, scalar], _second)
            results.append(self._write(input_, new, keep))
        return results

    def in_turn(self) -> list[Array]:
        """One update after the other, in the order of the indices."""
        rows = self._index_rows()
        windows = [self._update_rows(each) for each in self.updates]
        one = self._of_one_update()

        def step(number: Array, *inputs: Array) -> Sequence[Array]:
            place = rows.take(0, number).reshape(rows.shape[1:])
            parts = [each.take(0, number).reshape(each.shape[1:]) for each in windows]
            single = _Scatter(self.op, self.carrier, one, inputs, place, parts)
            return single.at_once(inputs)

        return repeat(self.count, step, *self.inputs)

    def _of_one_update(self) -> ScatterDimensionNumbersAttr:
        """The numbers of a scatter of one window, whose index is one vector."""
        gone = sorted((*self.numbers.inserted_window_dims, *self.numbers.input_batching_dims))
        return ScatterDimensionNumbersAttr.of(
            update_window_dims=list(range(len(self.inputs[0].shape) - len(gone))),
            inserted_window_dims=gone,
            scatter_dims_to_operand_dims=[
                *self.numbers.scatter_dims_to_operand_dims,
                *self.numbers.input_batching_dims,
            ],
            index_vector_dim=0,
        )

    def _index_rows(self) -> Array:
        """A vector of places for each update, those along batching dimensions counted."""
        vector, shape = self.numbers.index_vector_dim, self.indices.shape
        extents = [shape[dim] for dim in self.batches]
        indices = self.indices.cast("i32")
        if vector < len(shape):
            indices = indices.permute([*self.batches, vector])
        columns = [indices.reshape((self.count, math.prod(shape) // max(self.count, 1)))]
        for dim in self.numbers.scatter_indices_batching_dims:
            counted = indices.count(dim - (dim > vector), extents)
            columns.append(counted.reshape((self.count, 1)))
        return concatenate(columns, 1)

    def _update_rows(self, updates: Array) -> Array:
        """The windows one after the other."""
        windows = self.numbers.update_window_dims
        batches = [dim for dim in range(len(updates.shape)) if dim not in windows]
        shape = [self.count, *(updates.shape[dim] for dim in windows)]
        return updates.permute([*batches, *windows]).reshape(shape)

    def _read(self, input_: Array) -> Array:
        """The windows as they are; where one does not fit, what is read is not written."""
        numbers = self.numbers
        gone = (*numbers.inserted_window_dims, *numbers.input_batching_dims)
        update = self.updates[0].shape
        sizes = [1] * len(input_.shape)
        kept = (dim for dim in range(len(sizes)) if dim not in gone)
        for dim, window in zip(kept, numbers.update_window_dims, strict=True):
            sizes[dim] = update[window]
        found = self._make(
            "gather",
            [input_, self.indices],
            [TensorType(element_of(input_.dtype), update)],
            dimension_numbers=GatherDimensionNumbersAttr.of(
                offset_dims=numbers.update_window_dims,
                collapsed_slice_dims=numbers.inserted_window_dims,
                operand_batching_dims=numbers.input_batching_dims,
                start_indices_batching_dims=numbers.scatter_indices_batching_dims,
                start_index_map=numbers.scatter_dims_to_operand_dims,
                index_vector_dim=numbers.index_vector_dim,
            ),
            slice_sizes=i64_array(sizes),
        )
        return found

    def _write(self, input_: Array, updates: Array, region: Region) -> Array:
        kept = ("indices_are_sorted", "unique_indices")
        flags = {name: self.op.properties[name] for name in kept if name in self.op.properties}
        found = self._make(
            "scatter",
            [input_, self.indices, updates],
            [input_.value.type],
            [region],
            scatter_dimension_numbers=self.numbers,
            **flags,
        )
        return found


def _sum(old: Array, update: Array) -> list[Array]:
    return [old + update]


def _second(_: Array, update: Array) -> list[Array]:
    return [update]


def _with_one_result(region: Region, number: int) -> Region:
    """A copy of a function that returns one of its results."""
    copy = region.clone()
    end = copy.block.last_op
    assert end is not None, "verified: a body ends in stablehlo.return"
    end.operands = [end.operands[number]]
    return copy
