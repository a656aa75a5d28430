"""Rules of `ttir-fusing` for rotary embeddings: they become composites, which a function explains.

x * cos + concat(-x[half:], x[:half]) * sin
concat(a * cos - b * sin, b * cos + a * sin), where a, b = x[:half], x[half:]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, StringAttr, SymbolRefAttr, UnitAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region

from ttmlir.dialects.ttcore import CompositeOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import insert_before, symbols_in
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape
from ttmlir.mlir.reporting import around
from ttmlir.passes.ttir.value_rewriting import (
    either_way,
    inputs_of,
    made_by,
    parameters_of,
    rank_of,
    under,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_NAME = "rotary_embedding"
_EXPLANATION = "tt.composite_decomposition"


def _rotate_half(op: Operation, rewriter: GreedyRewriter) -> bool:
    """A tensor and the one whose halves are exchanged, each multiplied by a table."""
    if not _may_have_composites(op):
        return False
    for plain, turned in either_way(op):
        whole, other = made_by(plain, "multiply"), made_by(turned, "multiply")
        if whole is None or other is None:
            continue
        for x, cosine in either_way(whole):
            for rotated, sine in either_way(other):
                cosine, sine = under(cosine, "broadcast"), under(sine, "broadcast")
                if _is_rotated(rotated, x) and _fit(x, cosine, sine, op):
                    _replace(op, rewriter, (x, cosine, sine), _explain_rotation)
                    return True
    return False


def _is_rotated(value: SSAValue, x: SSAValue) -> bool:
    """True for the second half of `x`, negative, before the first one."""
    joined = made_by(value, "concat")
    if joined is None or rank_of(x) != 4 or len(joined.operands) != 2 or not _along_last(joined):
        return False
    negative = made_by(joined.operands[0], "neg")
    return (
        negative is not None
        and _half_of(inputs_of(negative)[0], x) == 1
        and _half_of(joined.operands[1], x) == 0
    )


def _rotate_pairs(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Halves of a tensor, each multiplied by tables of half of its size."""
    if len(op.operands) != 2 or not _along_last(op) or not _may_have_composites(op):
        return False
    first, second = made_by(op.operands[0], "subtract"), made_by(op.operands[1], "add")
    if first is None or second is None:
        return False
    minuend, subtrahend = (made_by(each, "multiply") for each in inputs_of(first))
    if minuend is None or subtrahend is None:
        return False
    for left, cosine in either_way(minuend):
        for right, sine in either_way(subtrahend):
            cosine, sine = under(cosine, "broadcast"), under(sine, "broadcast")
            x = _source_of(left)
            if x is None or _half_of(left, x) != 0 or _half_of(right, x) != 1:
                continue
            if not _crosses(second, (right, cosine), (left, sine)):
                continue
            if rank_of(x) == 4 and _fit(left, cosine, sine, first):
                build = rewriter.builder(op)
                # The tables have the size of the tensor.
                sine, cosine = (_twice(build, each) for each in (sine, cosine))
                _replace(op, rewriter, (x, cosine, sine), _explain_pairs)
                return True
    return False


def _crosses(op: Operation, *wanted: tuple[SSAValue, SSAValue]) -> bool:
    """True for a sum of these two products."""
    for values in either_way(op):
        products = [made_by(value, "multiply") for value in values]
        if all(
            product is not None
            and {under(each, "broadcast") for each in inputs_of(product)} == set(factors)
            for product, factors in zip(products, wanted, strict=True)
        ):
            return True
    return False


def _along_last(op: Operation) -> bool:
    rank = rank_of(op.results[0])
    return parameters_of(op)["dim"] % rank == rank - 1


def _source_of(value: SSAValue) -> SSAValue | None:
    part = made_by(value, "slice", "slice_static")
    return None if part is None else inputs_of(part)[0]


def _half_of(value: SSAValue, x: SSAValue) -> int | None:
    """Which half of the last dimension of `x` it is; None for others."""
    if _source_of(value) is not x:
        return None
    said = parameters_of(cast("Operation", value.owner))
    begins, ends, steps = (tuple(said[name]) for name in ("begins", "ends", "step"))
    shape = value_shape(x)
    size = shape[-1]
    whole = begins[:-1] == (0,) * len(begins[:-1]) and ends[:-1] == shape[:-1]
    if not whole or set(steps) != {1} or size % 2:
        return None
    halves = [(0, size // 2), (size // 2, size)]
    part = (begins[-1], ends[-1])
    return halves.index(part) if part in halves else None


def _fit(x: SSAValue, cosine: SSAValue, sine: SSAValue, op: Operation) -> bool:
    """True for two tables that are repeated along batches and heads, at most."""
    shape = value_shape(x)
    return (
        len({element_type(each) for each in (x, cosine, sine, op.results[0])}) == 1
        and value_shape(cosine) == value_shape(sine)
        and rank_of(cosine) == 4
        and value_shape(cosine)[2:] == shape[2:]
        and value_shape(op.results[0]) == shape
    )


def _twice(build: Builder, table: SSAValue) -> SSAValue:
    shape = value_shape(table)
    wide = tensor_like(table, (*shape[:-1], 2 * shape[-1]))
    return build.create("concat", (table, table), wide, dim=len(shape) - 1)


def _replace(
    op: Operation,
    rewriter: GreedyRewriter,
    operands: Sequence[SSAValue],
    explain: Callable[[Builder, Sequence[SSAValue]], SSAValue],
) -> None:
    """Put a composite in the place of an operation."""
    rewriter.replace(op, create_rotation(op, operands, explain))


def create_rotation(
    op: Operation,
    operands: Sequence[SSAValue],
    explain: Callable[[Builder, Sequence[SSAValue]], SSAValue] | None = None,
) -> SSAValue:
    """A composite before `op` that rotates a tensor by cosines and sines, and its decomposition in
    the module."""
    explain = explain or _explain_rotation
    function = around(op, FuncOp)
    module = None if function is None else function.parent_op()
    assert module is not None, "functions are in modules"
    taken = symbols_in(module)
    name = next(
        n for n in map(f"{_NAME}_decomp_{{}}".format, range(len(taken) + 1)) if n not in taken
    )
    block = Block(arg_types=[each.type for each in operands])
    end = ReturnOp()
    block.add_op(end)
    end.operands = [explain(Builder.before(end), block.args)]
    result = operands[0].type
    type_ = FunctionType.from_lists([each.type for each in operands], [result])
    decomposition = FuncOp(name, type_, Region(block), visibility="private")
    decomposition.attributes[_EXPLANATION] = UnitAttr()
    decomposition.location = op.location
    module.regions[0].block.add_op(decomposition)
    new = CompositeOp.create(
        operands=operands,
        result_types=[result],
        properties={
            "composite_name": StringAttr(_NAME),
            "decomposition": SymbolRefAttr(name),
        },
        location=op.location,
    )
    insert_before(op, new)
    return new.results[0]


def _may_have_composites(op: Operation) -> bool:
    """True in a function that is not the decomposition of a composite."""
    function = around(op, FuncOp)
    return function is not None and _EXPLANATION not in function.attributes


def _halves(build: Builder, x: SSAValue, count: int = 2) -> list[SSAValue]:
    *rest, size = value_shape(x)
    type_ = tensor_like(x, (*rest, size // 2))
    return [
        build.create(
            "slice",
            (x,),
            type_,
            begins=(*(0 for _ in rest), begin),
            ends=(*rest, begin + size // 2),
            step=(1,) * (len(rest) + 1),
        )
        for begin in (0, size // 2)[:count]
    ]


def _explain_rotation(build: Builder, given: Sequence[SSAValue]) -> SSAValue:
    x, cosine, sine = given
    first, second = _halves(build, x)
    negative = build.create("neg", (second,), second.type)
    rotated = build.create("concat", (negative, first), x.type, dim=rank_of(x) - 1)
    plain = build.create("multiply", (x, cosine), x.type)
    turned = build.create("multiply", (rotated, sine), x.type)
    return build.create("add", (plain, turned), x.type)


def _explain_pairs(build: Builder, given: Sequence[SSAValue]) -> SSAValue:
    x, *tables = given
    first, second = _halves(build, x)
    cosine, sine = (_halves(build, each, count=1)[0] for each in tables)

    def combine(name: str, a: SSAValue, b: SSAValue) -> SSAValue:
        left = build.create("multiply", (a, cosine), a.type)
        right = build.create("multiply", (b, sine), b.type)
        return build.create(name, (left, right), a.type)

    parts = (combine("subtract", first, second), combine("add", second, first))
    return build.create("concat", parts, x.type, dim=rank_of(x) - 1)


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.add": (_rotate_half,),
    "ttir.concat": (_rotate_pairs,),
}
"""Rules by the name of the operation."""
