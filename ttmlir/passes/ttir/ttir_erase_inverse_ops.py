"""Move tensors as little as possible: merge reshapes and permutations, or leave them out.

Reshapes and permutations that follow each other become one permutation between two reshapes, or
less, where that moves fewer tiles. Permutations are carried past operations that work in any order
of the dimensions, in groups of them, where that lets permutations meet, as those around
convolutions of images whose features come first. A slice of moved tensors is taken of the tensor
before it is moved, if nothing is left to permute then. A product whose rows are flattened before it
and put back after it takes them as they are. Moves of constants are done while compiling.

Before:

    #any = #tt.operand_constraint<any_device_tile>
    func.func @moves(%arg0: tensor<5x6x70xf32>) -> tensor<30x70xf32> {
      %0 = tensor.empty() : tensor<5x70x6xf32>
      %1 = "ttir.transpose"(%arg0, %0) <{dim0 = 1 : si32, dim1 = 2 : si32,
          operand_constraints = [#any, #any]}>
          : (tensor<5x6x70xf32>, tensor<5x70x6xf32>) -> tensor<5x70x6xf32>
      %2 = tensor.empty() : tensor<5x7x10x6xf32>
      %3 = "ttir.reshape"(%1, %2) <{shape = [5 : i32, 7 : i32, 10 : i32, 6 : i32],
          operand_constraints = [#any, #any]}>
          : (tensor<5x70x6xf32>, tensor<5x7x10x6xf32>) -> tensor<5x7x10x6xf32>
      %4 = tensor.empty() : tensor<5x6x7x10xf32>
      %5 = "ttir.permute"(%3, %4) <{permutation = array<i64: 0, 3, 1, 2>,
          operand_constraints = [#any, #any]}>
          : (tensor<5x7x10x6xf32>, tensor<5x6x7x10xf32>) -> tensor<5x6x7x10xf32>
      %6 = tensor.empty() : tensor<30x70xf32>
      %7 = "ttir.reshape"(%5, %6) <{shape = [30 : i32, 70 : i32],
          operand_constraints = [#any, #any]}>
          : (tensor<5x6x7x10xf32>, tensor<30x70xf32>) -> tensor<30x70xf32>
      return %7 : tensor<30x70xf32>
    }

After:

    ...
      %0 = tensor.empty() : tensor<30x70xf32>
      %1 = "ttir.reshape"(%arg0, %0) <{operand_constraints = [...],
          shape = [30 : i32, 70 : i32]}>
          : (tensor<5x6x70xf32>, tensor<30x70xf32>) -> tensor<30x70xf32>
      return %1 : tensor<30x70xf32>
    ...

Requires: ttir; operations on tensors with a layout are left alone.
Ensures: the same results, of no more moves.
Options: none.
Not done here: reshapes are not carried past other operations, except products that keep their rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttir
from ttmlir.dialects.ttir.families import TTIRRowOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import erase, replace
from ttmlir.ir.tensor_types import is_plain_and_static, tensor_like, value_shape
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.ttir.carried_permutations import Rewriting, carry_permutations
from ttmlir.passes.ttir.move_chains import (
    Chain,
    Form,
    permute_cost,
    product_cost,
    reshape_cost,
    slice_cost,
)
from ttmlir.passes.ttir.ttir_constant_folding import (
    PERMUTATIONS,
    RESHAPES,
    fold_move,
    permutation_of,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.ir import Block

Shape = tuple[int, ...]

_MOVES = RESHAPES | PERMUTATIONS
_LOOKED_AT = _MOVES | {"slice"}


@dataclass(frozen=True)
class TTIREraseInverseOpsPass(ModulePass):
    """Move tensors as little as possible: merge reshapes and permutations, or leave them out."""

    name = "ttir-erase-inverse-ops"
    title = "TTIREraseInverseOps"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite the moves of every function, in the order of the text."""
        rewriting = Rewriting(_is_plain_row, _MoveBuilder.like)
        for block in _blocks_of(module):
            carry_permutations(block, rewriting)
        sliced: set[SSAValue] = set()
        for op in [op for op in module.walk() if isinstance(op, TTIRRowOp)]:
            if op.ROW.mnemonic not in _LOOKED_AT:
                continue
            # What an earlier operation made superfluous is gone.
            if op.parent is None or not _is_plain_row(op):
                continue
            if _is_move(op):
                _simplify(op)
            elif op.operands[0] not in sliced:
                # All slices of a tensor are looked at together, once.
                sliced.add(op.operands[0])
                _slice_before_moving(op)


def _blocks_of(module: ModuleOp) -> list[Block]:
    """The blocks in which there are moves."""
    return list(
        dict.fromkeys(block for op in module.walk() if _is_move(op) and (block := op.parent))
    )


class _MoveBuilder(Builder):
    """Creates what takes the place of an operation, in the layouts that it takes."""

    constraints: Sequence[Attribute]

    @classmethod
    def like(cls, op: TTIRRowOp) -> _MoveBuilder:
        """A builder before an operation."""
        builder, attr = cls.before(op), op.operand_constraints
        builder.constraints = () if attr is None else attr.data
        return builder

    def operand_constraints(self, operands: int) -> Attribute:
        """That of the operation for its first operand, for all."""
        return ArrayAttr([*self.constraints[:1]] * operands)


def _is_plain_row(op: TTIRRowOp) -> bool:
    return len(op.results) == 1 and all(map(_is_plain, (*op.operands, op.results[0])))


def _is_plain(value: SSAValue) -> bool:
    """True for tensors of known extents, without a layout, that have elements."""
    return is_plain_and_static(value) and 0 not in value_shape(value)


def _is_move(op: Operation) -> bool:
    return isinstance(op, TTIRRowOp) and op.ROW.mnemonic in _MOVES


def _maker(value: SSAValue) -> TTIRRowOp | None:
    """The operation that makes a value, if it has no layouts and nobody else uses the value."""
    owner = value.owner
    if isinstance(owner, TTIRRowOp) and value.has_one_use() and _is_plain_row(owner):
        return owner
    return None


def _chain_before(op: TTIRRowOp) -> list[TTIRRowOp]:
    """The moves that end with this one, each of which alone uses the one before it."""
    chain = [op]
    while (before := _maker(chain[-1].operands[0])) is not None and _is_move(before):
        chain.append(before)
    chain.reverse()
    return chain


def _follow(chain: Sequence[TTIRRowOp]) -> Chain | None:
    """What the moves do together; None where dimensions are cut anew."""
    followed = Chain(value_shape(chain[0].operands[0]))
    for op in chain:
        if op.ROW.mnemonic in PERMUTATIONS:
            followed.permute(permutation_of(op))
        elif not followed.reshape(value_shape(op.results[0])):
            return None
    return followed


def _cost(chain: Sequence[TTIRRowOp]) -> float:
    return sum(
        permute_cost(value_shape(op.operands[0]), permutation_of(op))
        if op.ROW.mnemonic in PERMUTATIONS
        else reshape_cost(value_shape(op.operands[0]), value_shape(op.results[0]))
        for op in chain
    )


def _simplify(op: TTIRRowOp) -> None:
    """Merge the moves that end here, or leave them out around a product."""
    if _fold_constant(op) or _keep_rows(op):
        return
    result = op.results[0]
    if result.has_one_use() and any(_is_move(use.operation) for use in result.uses):
        # What follows is merged, too.
        return
    chain = _chain_before(op)
    followed = _follow(chain) if len(chain) > 1 else None
    if followed is None:
        return
    form = followed.form
    if (form.cost, form.steps) < (_cost(chain), len(chain)):
        _replace(op, _build(_MoveBuilder.like(op), chain[0].operands[0], form))


def _build(builder: Builder, source: SSAValue, form: Form) -> SSAValue:
    if not form.is_reshape:
        source = builder.permute(builder.reshape(source, form.split), form.order)
    return builder.reshape(source, form.result)


def _fold_constant(op: TTIRRowOp) -> bool:
    """Move a constant while compiling."""
    elements = fold_move(op)
    if elements is None:
        return False
    _replace(op, _MoveBuilder.like(op).create_constant(elements, op.results[0].type))
    return True


def _keep_rows(op: TTIRRowOp) -> bool:
    """Multiply tensors of several dimensions by a matrix without making them one before.

    Rows that are not whole tiles are padded for each batch then, which may cost more.
    """
    product = _maker(op.operands[0]) if op.ROW.mnemonic in RESHAPES else None
    if product is None or product.ROW.mnemonic != "matmul":
        return False
    flattening, matrix = _maker(product.operands[0]), value_shape(product.operands[1])
    is_flattened = flattening is not None and flattening.ROW.mnemonic in RESHAPES
    if flattening is None or not is_flattened or len(matrix) != 2:
        return False
    source, (rows, inner) = flattening.operands[0], value_shape(flattening.results[0])
    shape, result = value_shape(source), value_shape(op.results[0])
    if len(shape) <= 2 or shape[-1] != inner or result != (*shape[:-1], matrix[1]):
        return False
    more = product_cost(shape[:-1], *matrix) - product_cost((rows,), *matrix)
    if more >= _cost([flattening, op]):
        return False
    builder = _MoveBuilder.like(op)
    # Both operands of a product in ttnn have as many dimensions.
    weight = builder.reshape(product.operands[1], (*(1,) * (len(shape) - 2), *matrix))
    type_ = tensor_like(product.results[0], result)
    _replace(op, builder.create("matmul", (source, weight), type_))
    if isinstance(weight.owner, TTIRRowOp):
        _fold_constant(weight.owner)
    return True


def _slices_of(value: SSAValue) -> list[TTIRRowOp] | None:
    """The slices of a value if nothing else uses it, and they leave nothing out in between."""
    slices: list[TTIRRowOp] = []
    for use in value.uses:
        op = use.operation
        if not isinstance(op, TTIRRowOp) or op.ROW.mnemonic != "slice" or not _is_plain_row(op):
            return None
        begins, ends = _bounds(op)
        steps = cast("Shape", op.parameters()["step"])
        extents = value_shape(value)
        bounds = zip(begins, ends, steps, extents, strict=True)
        if not all(0 <= begin < end <= extent and step == 1 for begin, end, step, extent in bounds):
            return None
        slices.append(op)
    return slices


def _bounds(op: TTIRRowOp) -> tuple[Shape, Shape]:
    parameters = op.parameters()
    return cast("Shape", parameters["begins"]), cast("Shape", parameters["ends"])


def _slice_before_moving(op: TTIRRowOp) -> None:
    """Slice what is moved instead of the moved tensor, for all its slices."""
    moved = op.operands[0].owner
    if not isinstance(moved, TTIRRowOp) or not _is_move(moved) or not _is_plain_row(moved):
        return
    slices, chain = _slices_of(op.operands[0]), _chain_before(moved)
    if slices is None:
        return
    before = _cost(chain) + sum(
        slice_cost(_bounds(each)[0], value_shape(each.results[0])) for each in slices
    )
    found: list[tuple[TTIRRowOp, Shape, Shape]] = []
    for each in slices:
        followed = _follow(chain)
        bounds = None if followed is None else followed.slice(*_bounds(each))
        if followed is None or bounds is None or not followed.form.is_reshape:
            return
        before -= slice_cost(bounds[0], followed.form.source) + followed.form.cost
        found.append((each, *bounds))
    if before <= 0:
        return
    for each, begins, ends in found:
        builder = _MoveBuilder.like(each)
        sliced = builder.slice(chain[0].operands[0], begins, ends)
        _replace(each, builder.reshape(sliced, value_shape(each.results[0])))


def _replace(op: TTIRRowOp, value: SSAValue) -> None:
    """Let a value stand for the result, and remove what only the operation has used."""
    left = [operand.owner for operand in op.operands]
    replace(op, value)
    while left:
        owner = left.pop()
        is_ours = isinstance(owner, TTIRRowOp | EmptyOp | ttir.ConstantOp)
        if is_ours and owner.parent and all(r.first_use is None for r in owner.results):
            left += [operand.owner for operand in owner.operands]
            erase(owner)
