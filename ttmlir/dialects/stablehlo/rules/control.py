"""What loops and branches require, in StableHLO's words."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, i1
from xdsl.ir import Attribute, Operation, Region

from ttmlir.dialects.definition.ods import refuse, text
from ttmlir.dialects.stablehlo.rules.shapes import refuse_inferred, shape_of

_TRUTH = TensorType(i1, ())


def returned(region: Region) -> Sequence[Attribute]:
    """The types of the values that a region hands on."""
    last = region.block.last_op
    return () if last is None else last.operand_types


def _join(types: Sequence[Attribute]) -> str:
    return ", ".join(f"'{text(type)}'" for type in types)


def while_loop(op: Operation) -> None:
    """Both regions take the carried values, the body returns them."""
    carried = list(op.operand_types)
    for name, region in zip(("condition", "body"), op.regions, strict=True):
        arguments = [argument.type for argument in region.block.args]
        if arguments != carried:
            refuse(
                f"expect operands to be compatible with {name} block arguments but got "
                f"{_join(carried)} vs {_join(arguments)}"
            )
    condition, body = map(returned, op.regions)
    if len(condition) != 1:
        refuse(f"expect condition body returns a single value but got {len(condition)}")
    if condition[0] != _TRUTH:
        refuse(
            f"expect condition block return a zero-ranked tensor of i1 but got {_join(condition)}"
        )
    if list(body) != carried:
        refuse(
            f"expect operands to be compatible with body block return types but got "
            f"{_join(carried)} vs {_join(body)}"
        )
    if list(op.result_types) != carried:
        refuse_inferred(op, carried)


def branches(op: Operation) -> None:
    """The choice is one number; all regions take nothing and return the results."""
    rank = len(shape_of(op.operands[0].type))
    if rank:
        refuse(f"operand should be rank 0 tensor but got rank {rank}")
    if not op.regions:
        refuse("expect at least one branch")
    first = list(returned(op.regions[0]))
    for index, region in enumerate(op.regions):
        if region.block.args:
            refuse(f"branch {index} must have 0 arguments, but found {len(region.block.args)}")
        types = list(returned(region))
        if types != first:
            refuse(
                f"branch 0 and branch {index} have mismatched return types: {_join(first)} vs "
                f"{_join(types)}"
            )
    if list(op.result_types) != first:
        refuse_inferred(op, first)
