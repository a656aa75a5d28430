"""Rewriting keeps the places that errors point to."""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.transforms.canonicalize import CanonicalizationRewritePattern

from ttmlir.ir.rewriting import rewrite_greedily
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import file_line_col


class DoubleByShift(RewritePattern):
    """x + x becomes x << 1."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.AddiOp, rewriter: PatternRewriter, /) -> None:
        """Two operations for one."""
        if op.lhs is op.rhs:
            one = arith.ConstantOp.from_int_and_width(1, i32)
            rewriter.replace(op, [one, arith.ShLIOp(op.lhs, one.result)])


def test_new_operations_get_the_place_of_the_old() -> None:
    """All that a pattern inserts stands where the matched operation stood; the rest stays."""
    text = (
        "func.func @f(%x: i32) -> i32 {\n"
        '  %0 = arith.addi %x, %x : i32 loc("model.py":7:3)\n'
        "  %1 = arith.muli %0, %x : i32\n"
        "  return %1 : i32\n}"
    )
    module = parse_module(text, "f.mlir", make_context())
    assert rewrite_greedily(module, [DoubleByShift()])
    function = next(iter(module.ops))
    places = [(op.name, file_line_col(op.location)) for op in function.regions[0].block.ops]
    assert places == [
        ("arith.constant", ("model.py", 7, 3)),
        ("arith.shli", ("model.py", 7, 3)),
        ("arith.muli", ("f.mlir", 3, 8)),
        ("func.return", ("f.mlir", 4, 3)),
    ]
    assert not rewrite_greedily(module, [DoubleByShift()])


def test_folding_keeps_places() -> None:
    """A constant that folding makes stands where the folded operation stood."""
    text = (
        "func.func @f() -> i32 {\n"
        "  %0 = arith.constant 2 : i32\n"
        "  %1 = arith.addi %0, %0 : i32\n"
        "  return %1 : i32\n}"
    )
    context = make_context()
    module = parse_module(text, "f.mlir", context)
    rewrite_greedily(module, [CanonicalizationRewritePattern()], context=context)
    function = next(iter(module.ops))
    constants = [op for op in function.regions[0].block.ops if isinstance(op, arith.ConstantOp)]
    assert [file_line_col(op.location) for op in constants] == [("f.mlir", 3, 8)]
