"""Rules of `ttir-fusing` for products of matrices that are transposed before."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ttmlir.passes.ttir.value_rewriting import made_by, parameters_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.dialects.builtin import DenseArrayBase, IntegerType
    from xdsl.ir import Operation

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule


def _transposed(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Matrices that are transposed before a product alone."""
    for index, name in ((0, "transpose_a"), (1, "transpose_b")):
        moved = made_by(op.operands[index], "permute")
        if moved is None or not _swaps_last(moved):
            continue
        operands = [*op.operands]
        operands[index] = moved.operands[0]
        parameters = parameters_of(op)
        parameters[name] = not parameters[name]
        mnemonic = op.name.removeprefix("ttir.")
        build = rewriter.builder(op)
        rewriter.replace(op, build.create(mnemonic, operands, op.results[0].type, **parameters))
        return True
    return False


def _swaps_last(op: Operation) -> bool:
    order = tuple(cast("DenseArrayBase[IntegerType]", op.properties["permutation"]).get_values())
    rank = len(order)
    return rank >= 2 and order == (*range(rank - 2), rank - 1, rank - 2)


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.matmul": (_transposed,),
    "ttir.linear": (_transposed,),
}
"""Rules by the name of the operation."""
