"""What the small functions of StableHLO's reductions compute.

`combiners` recognises bodies that combine two values by one operation, such as a sum;
`picks_extreme` those that keep the larger or smaller one of two numbers together with its position.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import TensorType, UnrealizedConversionCastOp
from xdsl.ir import Operation, Region, SSAValue

from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.layout.enums import ReduceType
from ttmlir.optable import COMPARISONS, definition, named_in, named_on_truth
from ttmlir.optable.late_forms import COMBINERS
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.passes.stablehlo import (
    convert_stablehlo_to_ttir_elementwise,
    convert_stablehlo_to_ttir_movement,
)

_COMMUTATIVE = {
    name: definition for name, definition in named_in("stablehlo").items() if definition.commutes
}

REDUCE_TYPES = {
    mnemonic: ReduceType.from_keyword(kind) for kind, mnemonic in COMBINERS.items() if mnemonic
}
"""How scatters and collectives of 2026 say what they combine values by."""


def combiners(body: Region) -> tuple[OpDefinition, ...] | None:
    """For each result of a body, the operation that combines its two arguments in any order.

    The arguments of result i are i and i + n, n being the number of results. None if a result is
    anything else.
    """
    block = body.block
    terminator = block.last_op
    assert terminator is not None, "verified: a body ends in stablehlo.return"
    count = len(terminator.operands)
    found: list[OpDefinition] = []
    for number, value in enumerate(terminator.operands):
        definition = _combiner(value, block.args[number], block.args[number + count])
        if definition is None:
            return None
        found.append(definition)
    return tuple(found)


def _combiner(value: SSAValue, first: SSAValue, second: SSAValue) -> OpDefinition | None:
    owner = value.owner
    if not isinstance(owner, Operation) or set(owner.operands) != {first, second}:
        return None
    return _COMMUTATIVE.get(owner.name) if len(owner.operands) == 2 else None


_ORDERING = (*COMPARISONS.values(), *named_on_truth("stablehlo").values(), definition("where"))
"""Operations that compare, choose and combine truth values."""


def picks_extreme(body: Region, *, largest: bool) -> bool:
    """True if a body keeps the larger (or smaller) of two numbers with its position.

    Its arguments are a number, a position, another number, its position. Of equal numbers the one
    with the smaller position is kept, or always the first or always the second one, which leaves
    the choice to the order of the reduction. The same holds for NaN.

    Such a body only compares, chooses and combines truth values, so its results depend on the order
    of its arguments alone, and trying all orders proves what it does.
    """
    sign = 1 if largest else -1
    ties: set[tuple[int, bool]] = set()
    for x, y in itertools.product((1.0, 2.0), repeat=2):
        for i, j in ((0.0, 1.0), (1.0, 0.0)):
            first, second = (sign * x, i), (sign * y, j)
            result = _evaluate(body, (*first, *second))
            if result not in (first, second):
                return False
            if x == y:
                ties.add((int(result == second), i < j))
            elif (result == first) != (x > y):
                return False
    # Which of two equal numbers is kept: the one of the smaller position, the first, the second.
    is_decided = ties in ({(0, True), (1, False)}, {(0, True), (0, False)}, {(1, True), (1, False)})
    # NaN is kept or not; where it is not always, the result depends on the order.
    with_nan = ((math.nan, 0.0, 1.0, 1.0), (1.0, 0.0, math.nan, 1.0))
    return is_decided and all(_evaluate(body, each) is not None for each in with_nan)


def _evaluate(body: Region, arguments: Sequence[float]) -> tuple[float, ...] | None:
    """The results of a body that only compares and chooses; None if it does anything else."""
    # Only reductions of several tensors at once pay for the import.
    import numpy as np

    from ttmlir.passes.stablehlo.regions import evaluate

    if "stablehlo.constant" in operations_of(body):
        return None
    with np.errstate(all="ignore"):
        results = evaluate(body, [np.asarray(each) for each in arguments], _ORDERING)
    return None if results is None else tuple(map(float, results))


def operations_of(body: Region) -> Iterator[str]:
    """The names of the operations of a body except for its end, for messages."""
    return (op.name for op in body.block.ops if op.name != "stablehlo.return")


# --- Stablehlo body application -------------------------------------------------------------------
# Small functions of StableHLO, whose arguments are single numbers, applied to whole tensors.
#
# `apply` writes the operations of a body out in ttir, each on all elements at once. The bodies of
# windows and of reductions that are no single operation of ttir are brought over in this way.

IN_BODIES = {
    **convert_stablehlo_to_ttir_elementwise.RULES,
    "stablehlo.constant": convert_stablehlo_to_ttir_movement.RULES["stablehlo.constant"],
}
"""Rules of the operations that bodies may hold, by name."""


def can_be_applied(body: Region) -> bool:
    """True if a body has nothing but elementwise operations and constants."""
    return all(name in IN_BODIES for name in operations_of(body))


def apply(op: Operation, body: Region, arguments: Sequence[SSAValue]) -> list[SSAValue]:
    """The results of a body on tensors instead of single numbers, in front of `op`."""
    known: dict[SSAValue, SSAValue] = dict(zip(body.block.args, arguments, strict=True))
    for inner in body.block.ops:
        operands = [known.get(value, value) for value in inner.operands]
        if inner.name == "stablehlo.return":
            return operands
        shape = max((value_shape(value) for value in operands), key=len, default=())
        new = type(inner).create(
            operands=operands,
            result_types=[TensorType(element_type(value), shape) for value in inner.results],
            properties=dict(inner.properties),
            location=op.location,
        )
        # Whatever replaces the operation takes the place of this, its one user.
        insert_before(op, new)
        uses = UnrealizedConversionCastOp.create(operands=new.results)
        insert_before(op, uses)
        IN_BODIES[inner.name](new)
        known |= dict(zip(inner.results, uses.operands, strict=True))
        erase(uses)
    raise AssertionError("verified: a body ends in stablehlo.return")
