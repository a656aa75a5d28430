"""Let operations of ttnn compute with integers in rows, as the arguments have them.

Before:

    #dram = #ttnn.buffer_type<dram>
    #r = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<5x7xsi32, #dram>, <interleaved>>
    #t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, si32>, #dram>, <interleaved>>
    func.func @main(%a: tensor<5x7xsi32, #r>) -> tensor<5x7xsi32, #t> {
      %0 = "ttnn.to_tensor_spec"(%a) : (tensor<5x7xsi32, #r>) -> tensor<5x7xsi32, #t>
      %1 = "ttnn.neg"(%0) : (tensor<5x7xsi32, #t>) -> tensor<5x7xsi32, #t>
      return %1 : tensor<5x7xsi32, #t>
    }

After:

    ...
        %0 = "ttnn.neg"(%arg0)
            : (tensor<5x7xsi32, #ttnn_layout>) -> tensor<5x7xsi32, #ttnn_layout>
        %1 = "ttnn.to_tensor_spec"(%0)
            : (tensor<5x7xsi32, #ttnn_layout>) -> tensor<5x7xsi32, #ttnn_layout1>
        return %1 : tensor<5x7xsi32, #ttnn_layout1>
        ...

Requires: ttnn of 2026, with layouts.
Ensures: operations of one tensor or two that compute each element of its own, `ttnn.permute`,
`reshape`, `concat` and `slice_static` whose operands are all rows of integers, of arguments or of
such operations, take and make rows; right before the others they become tiles.
Options: `moves-of-floats`: rows of floats that are only moved as a whole stay rows, too.
Not done here: other operations on floats, whose rows become tiles before; `ttnn.typecast`, `where`
and all else take tiles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ttmlir.ir.rewriting import erase
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_types import is_sharded, location_of, memory_of, set_type, tensor_in
from ttmlir.layout.enums import BufferType
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttnn.optimizer.spread_layouts import is_elementwise, move

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Block, Operation, SSAValue

_MOVING = ("ttnn.permute", "ttnn.reshape", "ttnn.concat", "ttnn.slice", "ttnn.slice_static")
_TAKING_TILES = ("ttnn.typecast", "ttnn.where")


@dataclass(frozen=True)
class TTNNRMLayoutPropagationPass(ModulePass):
    """Let operations of ttnn compute with integers in rows, as the arguments have them."""

    name = "ttnn-rm-layout-propagation"
    title = "TTNNRowMajorLayoutPropagation"
    moves_of_floats: bool = option(False, "Whole rows of floats are moved as rows, too")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Follow the arguments of every function of the device."""
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            kind = function.attributes.get("tt.function_type")
            is_called = isinstance(kind, StringAttr) and kind.data != "forward_device"
            if not is_called and function.body.blocks:
                _propagate(function.body.blocks[0], with_floats=self.moves_of_floats)


def _propagate(block: Block, *, with_floats: bool) -> None:
    rows: dict[SSAValue, SSAValue] = {
        arg: arg
        for arg in block.args
        if _is_in_rows(arg.type) and (with_floats or _is_of_integers(arg))
    }
    """What is there as rows, by what others take."""
    tiles: dict[SSAValue, Attribute] = {}
    """The types that rows have as tiles."""
    for op in tuple(block.ops):
        if op.name == "ttnn.to_tensor_spec" and op.operands[0] in rows and _becomes_tiles(op):
            users = [use.operation for use in op.results[0].uses]
            if not _is_of_integers(op.operands[0]) and not all(map(_moves_rows, users)):
                continue
            source = rows[op.operands[0]]
            tiles[source], rows[op.results[0]] = op.results[0].type, source
        elif (
            _takes_rows(op)
            and all(value in rows for value in op.operands)
            and (_is_of_integers(op.operands[0]) or _moves_rows(op))
        ):
            for index, value in enumerate(op.operands):
                op.operands[index] = rows[value]
            given = op.results[0].type
            made = set_type(op.results[0], tensor_in(given, tiled=False))
            tiles[made], rows[made] = given, made
        elif op.name != "ttnn.deallocate":
            _stop(op, rows, tiles)
    for value, source in rows.items():
        if value is not source and not any(value.uses):
            erase(cast("Operation", value.owner))


def _stop(
    op: Operation, rows: Mapping[SSAValue, SSAValue], tiles: Mapping[SSAValue, Attribute]
) -> None:
    """Let an operation take tiles: those of arguments are made first."""
    found = {
        value: rows[value]
        for value in op.operands
        if rows.get(value) in tiles and not isinstance(value, BlockArgument)
    }
    order = sorted(found.items(), key=lambda pair: not isinstance(pair[1], BlockArgument))
    made = {value: move(source, tiles[source], op, location_of(source)) for value, source in order}
    for index, value in enumerate(op.operands):
        op.operands[index] = made.get(value, value)


def _takes_rows(op: Operation) -> bool:
    """True for operations that the library computes in rows, and whose result was tiles."""
    if len(op.results) != 1 or op.name in _TAKING_TILES:
        return False
    memory = memory_of(op.results[0].type)
    is_tiled = memory is not None and memory.is_tiled and memory.buffer is BufferType.DRAM
    is_small = 1 <= len(op.operands) <= 2 or op.name == "ttnn.concat"
    return is_tiled and is_small and (op.name in _MOVING or is_elementwise(op))


def _moves_rows(op: Operation) -> bool:
    """True for a move after which all rows are what they were."""
    if op.name not in ("ttnn.permute", "ttnn.reshape"):
        return False
    before, after = value_shape(op.operands[0]), value_shape(op.results[0])
    if op.name == "ttnn.reshape":
        return before[-1:] == after[-1:]
    order = cast("DenseArrayBase[IntegerType]", op.properties["permutation"]).get_values()
    return order[-1] == len(order) - 1


def _is_of_integers(value: SSAValue) -> bool:
    return isinstance(element_type(value), IntegerType)


def _is_in_rows(type_: Attribute) -> bool:
    """True for a tensor as rows in DRAM."""
    memory = memory_of(type_)
    return (
        memory is not None
        and not memory.is_tiled
        and memory.buffer is BufferType.DRAM
        and not is_sharded(type_)
    )


def _becomes_tiles(op: Operation) -> bool:
    """True for a conversion that changes nothing but rows to tiles."""
    source, result = op.operands[0].type, op.results[0].type
    return result == tensor_in(source, tiled=True)
