"""Operations on tensors without elements: what they make is known without computing.

Results without elements are constants. What is made of an operand without elements alone is what
the operation begins with: zeros, the number of padding, or the other operand.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from ttmlir.ir.constants import splat_number
from ttmlir.ir.rewriting import replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier
from ttmlir.ir.tensor_types import value_shape
from ttmlir.passes.stablehlo.stablehlo_bodies import operations_of


def has_nothing(op: Operation) -> bool:
    """True if `compute_nothing` has something to put in place of an operation."""
    if op.name not in _EMPTY:
        return False
    if all(map(_is_empty, op.results)):
        return True
    if not any(_is_empty(op.operands[number]) for number in _EMPTY[op.name](op)):
        return False
    if op.name != "stablehlo.reduce_window":
        return True
    # Windows hold padding alone, which is combined with itself.
    names = set(operations_of(op.regions[0]))
    if names <= {"stablehlo.maximum", "stablehlo.minimum"}:
        return True
    inits = op.operands[len(op.results) :]
    return names == {"stablehlo.add"} and all(map(_is_zero, inits))


def compute_nothing(op: Operation) -> None:
    """Replace an operation that has nothing to compute."""
    write = StableHLOCarrier.before(op)
    if all(map(_is_empty, op.results)):
        replace(op, *(write.make_constant(each.type, []) for each in op.results))
        return
    match op.name:
        case "stablehlo.convolution":
            found = [write.make_constant(op.results[0].type, [0])]
        case "stablehlo.scatter":
            found = op.operands[: len(op.results)]
        case "stablehlo.dynamic_update_slice":
            found = [op.operands[0]]
        case "stablehlo.pad":
            found = [write.broadcast(op.operands[1], value_shape(op.results[0]))]
        case "stablehlo.select_and_scatter":
            found = [write.broadcast(op.operands[2], value_shape(op.results[0]))]
        case _:
            inits = op.operands[len(op.results) :]
            pairs = zip(inits, op.results, strict=True)
            found = [write.broadcast(init, value_shape(each)) for init, each in pairs]
    replace(op, *found)


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    while isinstance(owner, Operation) and owner.name == "stablehlo.broadcast_in_dim":
        [value] = owner.operands
        owner = value.owner
    return splat_number(value) == 0


def _is_empty(value: SSAValue) -> bool:
    return 0 in value_shape(value)


_EMPTY: dict[str, Callable[[Operation], Sequence[int]]] = {
    "stablehlo.convolution": lambda _: (0, 1),
    "stablehlo.dynamic_update_slice": lambda _: (1,),
    "stablehlo.pad": lambda _: (0,),
    "stablehlo.reduce_window": lambda op: range(len(op.results)),
    "stablehlo.scatter": lambda op: (len(op.operands) - 1,),
    "stablehlo.select_and_scatter": lambda _: (1,),
    "stablehlo.bitcast_convert": lambda _: (),
    "stablehlo.sort": lambda _: (),
}
"""Numbers of the operands of which one without elements leaves nothing to compute."""
