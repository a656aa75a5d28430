"""Write operations that apply functions of the program as loops, sorts and operations on tensors.

A scatter that computes more than sums, products or extremes of old and new elements reads the old
ones, applies its function and writes the results: all at once if no two updates meet, else one
update after the other. `chlo.scan` is a loop, and the call `ApproxTopK` a sort.

Before:

    func.func @updated(%x: tensor<33x70xf32>, %rows: tensor<2x1xi32>, %new: tensor<2x70xf32>)
        -> tensor<33x70xf32> {
      %0 = "stablehlo.scatter"(%x, %rows, %new) <{
          scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
              inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
              index_vector_dim = 1>, unique_indices = true}> ({
      ^bb0(%old: tensor<f32>, %update: tensor<f32>):
        %1 = stablehlo.divide %old, %update : tensor<f32>
        stablehlo.return %1 : tensor<f32>
      }) : (tensor<33x70xf32>, tensor<2x1xi32>, tensor<2x70xf32>) -> tensor<33x70xf32>
      return %0 : tensor<33x70xf32>
    }

After:

    ...
        %0 = "stablehlo.gather"(%arg0, %arg1) <...
        %1 = "stablehlo.map"(%0, %arg2) ...
          %3 = stablehlo.divide %arg3, %arg4 : tensor<f32>
        ...
        %2 = "stablehlo.scatter"(%arg0, %arg1, %1) ...
        ...
          stablehlo.return %arg4 : tensor<f32>
    ...

Requires: calls inlined (`inline`), shapes refined (`stablehlo-refine-shapes`).
Ensures: each scatter has one input, and its function is the new element or the sum, product,
maximum or minimum of the old and the new one; no `chlo.scan` is left.
Options: none.
Not done here: -
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, Region, SSAValue

from ttmlir.arrays.array import Array, concatenate, repeat
from ttmlir.dialects.definition.ods import is_set
from ttmlir.dialects.stablehlo.attrs import (
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.dialects.stablehlo.reduction import SortOp
from ttmlir.ir.rewriting import erase, insert_before, refuse_to_legalize, replace, symbols_in
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import element_of, element_type, value_shape
from ttmlir.optable import definition
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_indexing import combination_of
from ttmlir.passes.stablehlo.specification.broadcasting import module_of
from ttmlir.passes.stablehlo.stablehlo_scalars import elementwise_definition

if TYPE_CHECKING:
    from xdsl.context import Context

SCAN = "chlo.scan"
_SCATTER = "stablehlo.scatter"
_CALL = "stablehlo.custom_call"


@dataclass(frozen=True)
class StableHLOExpandFunctionsPass(ModulePass):
    """Write operations that apply functions of the program as loops, sorts and so on."""

    name = "stablehlo-expand-functions"
    title = "StableHLOExpandFunctions"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Expand all such operations, those in the bodies of others first."""
        found = [op for op in module.walk() if op.name in (SCAN, _SCATTER, _CALL)]
        for op in reversed(found):
            rule = _rule_of(op)
            if rule is not None:
                rule(op)


def _rule_of(op: Operation) -> Callable[[Operation], None] | None:
    if op.name == SCAN:
        return _expand_scan
    if op.name == _SCATTER:
        is_taken = len(op.results) == 1 and combination_of(op) is not None
        return None if is_taken else _expand_scatter
    target = cast("StringAttr", op.properties["call_target_name"]).data
    return _expand_top_k if target == _TOP_K else None


# -- scans --------------------------------------------------------------------------------------


def _expand_scan(op: Operation) -> None:
    """Repeat the body for each place along the dimension, from the last one if it is reversed.

    The body takes the parts of the inputs at the place and what is carried, and returns the parts
    of the outputs and what is carried on.
    """
    block = op.regions[0].block
    taken, given = (_first_segment(op, name) for name in ("operand", "result"))
    inputs, carried = op.operands[:taken], op.operands[taken:]
    outputs = op.results[:given]
    dim = integer(op, "dimension")
    length = _length(op, [*inputs, *outputs], dim)
    carrier = StableHLOCarrier.before(op)
    types = [cast("TensorType[Attribute]", result.type) for result in outputs]
    empty = [_empty(carrier, type_) for type_ in types]
    is_reversed = is_set(op, "is_reverse")

    def step(number: Array, *state: Array) -> Sequence[Array]:
        place = -number + (length - 1) if is_reversed else number
        parts = [_part(carrier.wrap(value), dim, place) for value in inputs]
        made = _copied(op, carrier, [*parts, *state[given:]])
        outs = [
            out.put(dim, place, part.reshape(_with_one(part.shape, dim)))
            for out, part in zip(state[:given], made[:given], strict=True)
        ]
        return [*outs, *made[given:]]

    assert len(block.args) == taken + len(carried), "the body takes parts and what is carried"
    state = [*empty, *map(carrier.wrap, carried)]
    replace(op, *carrier.repeat(length, step, state, None))


def _empty(carrier: StableHLOCarrier, type_: TensorType[Attribute]) -> Array:
    dtype, shape = str(type_.element_type), type_.get_shape()
    return Array(carrier, carrier.fill(0, shape, dtype), shape, dtype)


def _first_segment(op: Operation, name: str) -> int:
    """How many inputs, or outputs, there are before what is carried."""
    segments = cast("DenseArrayBase[IntegerType]", op.properties[f"{name}SegmentSizes"])
    return segments.get_values()[0]


def _length(op: Operation, values: Sequence[SSAValue], dim: int) -> int:
    if values:
        return value_shape(values[0])[dim]
    return integer(op, "scan_dim_size")


def _part(tensor: Array, dim: int, place: Array) -> Array:
    """The elements at a place along a dimension, which is gone."""
    shape = [extent for number, extent in enumerate(tensor.shape) if number != dim]
    return tensor.take(dim, place).reshape(shape)


def _with_one(shape: Sequence[int], dim: int) -> Sequence[int]:
    return [*shape[:dim], 1, *shape[dim:]]


def _copied(op: Operation, carrier: StableHLOCarrier, arguments: Sequence[Array]) -> list[Array]:
    """What the body of an operation returns for arguments, its operations copied."""
    block = op.regions[0].block
    values: dict[SSAValue, SSAValue] = {
        argument: given.value for argument, given in zip(block.args, arguments, strict=True)
    }
    *operations, end = block.ops
    for original in operations:
        carrier.add(original.clone(values))
    return [carrier.wrap(values.get(value, value)) for value in end.operands]


# -- the best elements --------------------------------------------------------------------------
# JAX lowers `lax.approx_max_k` to a custom call: here a sort, which finds all of the best.

_TOP_K = "ApproxTopK"


def _expand_top_k(op: Operation) -> None:
    """Sort by the comparator of the call, and keep as many elements as its results have.

    Operands are n tensors and n initial values, which stand for elements that there are not; they
    are not needed, since no part is left out.
    """
    count = len(op.results)
    config = op.attributes.get("mhlo.backend_config")
    dim = config.data.get("reduction_dim") if isinstance(config, DictionaryAttr) else None
    comparator = _comparator(op)
    if not isinstance(dim, IntegerAttr) or comparator is None or len(op.operands) != 2 * count:
        refuse_to_legalize(
            op,
            f"'{_TOP_K}' has tensors and as many initial values as operands, names one comparator "
            "in called_computations and says along which dimension it looks: "
            "mhlo.backend_config = {reduction_dim = 1 : i64, ...}",
        )
    number = cast("IntegerAttr", dim).value.data
    region = comparator.body.clone()
    values = op.operands[:count]
    new = SortOp.create(
        operands=values,
        result_types=[value.type for value in values],
        properties={"dimension": IntegerAttr(number, i64), "is_stable": BoolAttr.from_bool(True)},
        regions=[region],
        location=op.location,
    )
    insert_before(op, new)
    write = StableHLOCarrier.before(op)
    pairs = zip(new.results, op.results, strict=True)
    best = [write.slice(value, result.type) for value, result in pairs]
    module = module_of(op)
    replace(op, *best)
    if not any(_comparator(other) is comparator for other in module.walk()):
        erase(comparator)


def called_functions(op: Operation) -> list[str]:
    """The names of the functions that a custom call is given."""
    called = op.properties.get("called_computations")
    if not isinstance(called, ArrayAttr):
        return []
    names = cast("ArrayAttr[Attribute]", called).data
    return [name.string_value() for name in names if isinstance(name, SymbolRefAttr)]


def _comparator(op: Operation) -> FuncOp | None:
    """The one function of the module that a custom call is given; None for other operations."""
    names = called_functions(op) if op.name == "stablehlo.custom_call" else []
    if len(names) != 1:
        return None
    found = symbols_in(cast("ModuleOp", module_of(op))).get(names[0])
    return found if isinstance(found, FuncOp) and len(found.body.blocks) == 1 else None


# -- scatters -----------------------------------------------------------------------------------


def _expand_scatter(op: Operation) -> None:
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
            and elementwise_definition(first) is definition("subtract")
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
