"""Put the decomposition of a composite, or an operation of the library, in its place.

Before:

    func.func @main(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      %0 = "ttcore.composite"(%a) <{composite_attributes = {}, composite_name = "twice",
          decomposition = @twice}> : (tensor<5x7xf32>) -> tensor<5x7xf32>
      return %0 : tensor<5x7xf32>
    }
    func.func private @twice(%a: tensor<5x7xf32>) -> tensor<5x7xf32> {
      return %a : tensor<5x7xf32>
    }

After:

    module {
      func.func @main(%arg0: tensor<5x7xf32>) -> tensor<5x7xf32> {
        return %arg0 : tensor<5x7xf32>
      }
    }

Requires: nothing.
Ensures: there is no `ttcore.composite`; functions that only they called are gone.
Options: `use-rotary-embedding`: `rotary_embedding` of whole tiles, whose tables are the same for
all sequences and heads, becomes `ttnn.rotary_embedding`.
Not done here: other composites that reach it are not in the library.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import BFloat16Type, Float32Type
from xdsl.dialects.func import FuncOp, ReturnOp

from ttmlir.dialects.ttcore import CompositeOp
from ttmlir.ir.rewriting import insert_before, references_of, refuse, replace, symbols_in
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.ir.ttnn_values import TTNNValueBuilder
from ttmlir.layout.data_format import DEFAULT_TILE_SHAPE
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp, StringAttr
    from xdsl.ir import Block, Operation, SSAValue


@dataclass(frozen=True)
class TTNNResolveCompositesPass(ModulePass):
    """Put the decomposition of a composite, or an operation of the library, in its place."""

    name = "ttnn-resolve-composites"
    title = "TTNNResolveComposites"
    use_rotary_embedding: bool = option(False, "Rotary embeddings are operations of the library")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Inline the decompositions, then take them away."""
        for op in tuple(module.walk()):
            if isinstance(op, CompositeOp):
                _resolve(op, rotates=self.use_rotary_embedding)


def _resolve(op: CompositeOp, *, rotates: bool) -> None:
    function = op.parent_op()
    table = None if function is None else function.parent_op()
    name = next((path[0] for path in references_of(op)), "")
    callee = None if table is None else symbols_in(table).get(name)
    if not isinstance(callee, FuncOp) or not callee.body.blocks:
        refuse(op, f"has no function '{name}' that says what it computes")
    if rotates and _is_rotary_embedding(op):
        build = TTNNValueBuilder.before(op)
        replace(op, build.create("rotary_embedding", op.operands, op.results[0].type))
    else:
        _inline(op, callee.body.blocks[0])
    if not any((name,) in set(references_of(each)) for each in cast("Operation", table).walk()):
        callee.detach()
        callee.drop_all_references()


def _inline(op: CompositeOp, body: Block) -> None:
    mapping: dict[SSAValue, SSAValue] = dict(zip(body.args, op.operands, strict=True))
    for inner in body.ops:
        if isinstance(inner, ReturnOp):
            replace(op, *(mapping[value] for value in inner.operands))
            break
        copy = inner.clone(mapping)
        copy.location = inner.location
        insert_before(op, copy)


def _is_rotary_embedding(op: CompositeOp) -> bool:
    """True for halves that begin with a tile, or share one, and a table for whole tiles of rows."""
    if cast("StringAttr", op.properties["composite_name"]).data != "rotary_embedding":
        return False
    shape, *tables = map(value_shape, op.operands)
    elements = {element_type(value) for value in (*op.operands, *op.results)}
    if len(shape) != 4 or tables != [(1, 1, *shape[2:])] * 2 or len(elements) != 1:
        return False
    rows, columns = DEFAULT_TILE_SHAPE
    is_float = isinstance(elements.pop(), BFloat16Type | Float32Type)
    has_halves = shape[3] == columns or shape[3] % (2 * columns) == 0
    return is_float and has_halves and shape[2] % rows == 0
