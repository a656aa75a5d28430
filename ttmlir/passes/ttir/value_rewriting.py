"""Rules on ttir operations that make their results, and what they look at.

A rule gets an operation and a builder before it, and returns what stands for the results of the
operation, or None where it does not fit; then it has built nothing:

    def _double_negation(op: Operation, builder: Builder) -> SSAValue | None:
        before = made_by(op.operands[0], "neg")
        return None if before is None else before.operands[0]

    RULES = adapted({"neg": [_double_negation]})
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects.definition.table_ops import (
    LateOnlyOp,
    TableOperation,
    ValueFormOp,
    parameters_in,
)
from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.constants import number_of_elements
from ttmlir.ir.greedy_rewriting import constant_value
from ttmlir.ir.tensor_types import element_type, tensor_like, value_shape

if TYPE_CHECKING:
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule
    from ttmlir.mlir.attributes import Elements

Shape = tuple[int, ...]

REDUCTIONS = ("sum", "mean", "max", "min", "prod", "reduce_and", "reduce_or", "argmax")

ValueRule = Callable[[Operation, Builder], "SSAValue | Sequence[SSAValue] | None"]
"""What stands for the results of an operation; None if it stays."""

# --- Looking at operations ------------------------------------------------------------------------


def mnemonic_of(op: Operation) -> str:
    """The name of a ttir operation without its dialect; nothing for others."""
    dialect, _, mnemonic = op.name.partition(".")
    return mnemonic if dialect == "ttir" else ""


def inputs_of(op: Operation) -> Sequence[SSAValue]:
    """What an operation reads, without what it writes to."""
    return op.inputs if isinstance(op, TTIRTableOp) else op.operands


def made_by(value: SSAValue, *mnemonics: str) -> Operation | None:
    """The operation that makes a value if it is one of these."""
    owner = value.owner
    if isinstance(owner, Operation) and mnemonic_of(owner) in mnemonics:
        return owner
    return None


def only_user(value: SSAValue) -> Operation | None:
    """The operation that alone uses a value."""
    return next(iter(value.uses)).operation if value.has_one_use() else None


def parameters_of(op: Operation) -> dict[str, Any]:
    """The parameters as the form of the operation names them."""
    if isinstance(op, LateOnlyOp):
        return parameters_in(op.properties, op.LATE.parameters or ())
    if isinstance(op, ValueFormOp) and op.LATE is not None and op.is_late:
        late = op.LATE.parameters
        return parameters_in(op.properties, op.PARAMETERS if late is None else late)
    return cast("dict[str, Any]", op.parameters()) if isinstance(op, TableOperation) else {}


def rank_of(value: SSAValue) -> int:
    """The number of dimensions."""
    return len(value_shape(value))


def reduced_dims(op: Operation) -> list[int]:
    """The dimensions that a reduction reduces, all if it names none."""
    rank, said = rank_of(op.operands[0]), parameters_of(op).get("dim_arg")
    return list(range(rank)) if said is None else [dim % rank for dim in said]


def either_way(op: Operation) -> Sequence[tuple[SSAValue, SSAValue]]:
    """The two inputs of an operation that takes them in any order, in both orders."""
    first, second = inputs_of(op)
    return ((first, second), (second, first))


def under(value: SSAValue, mnemonic: str) -> SSAValue:
    """What a value was before one operation of this kind, if that makes it."""
    maker = made_by(value, mnemonic)
    return value if maker is None else inputs_of(maker)[0]


def under_float_cast(value: SSAValue) -> SSAValue:
    """What a float was in another format, if a `typecast` makes it of one."""
    source = under(value, "typecast")
    is_float = all(isinstance(element_type(each), AnyFloat) for each in (source, value))
    return source if is_float else value


def repeated_row(value: SSAValue, shape: Sequence[int]) -> SSAValue | None:
    """The tensor of one dimension whose numbers are those of the columns of a shape, if a value is
    one that is repeated along all other dimensions."""
    spread = under(value, "broadcast")
    row = under(spread, "reshape")
    columns = tuple(shape[-1:])
    return row if value_shape(row) == columns == value_shape(spread)[-1:] else None


def reorder(builder: Builder, value: SSAValue, order: Sequence[int]) -> SSAValue:
    """The dimensions in another order, by `permute`; those of extent 1 move by a reshape."""
    extents = value_shape(value)
    shape = [extents[dim] for dim in order]
    moved = [dim for dim in order if extents[dim] != 1]
    if moved == sorted(moved):
        return builder.reshape(value, shape)
    return builder.create("permute", (value,), tensor_like(value, shape), permutation=tuple(order))


def elements_known(value: SSAValue) -> Elements | None:
    """The elements of a constant of any form; None for other values."""
    owner = value.owner
    found = constant_value(cast("Operation", owner)) if hasattr(owner, "properties") else None
    return cast("Elements", found) if isinstance(found, DenseIntOrFPElementsAttr) else None


def number_known(value: SSAValue) -> float | None:
    """The one number that a tensor is filled with; None for others."""
    owner = value.owner
    if getattr(owner, "name", "") in ("ttir.broadcast", "ttir.reshape"):
        return number_known(cast("Operation", owner).operands[0])
    elements = elements_known(value)
    return None if elements is None else number_of_elements(elements)


# --- Applying rules -------------------------------------------------------------------------------


def adapted(rules: Mapping[str, Sequence[ValueRule]]) -> dict[str, tuple[Rule, ...]]:
    """Rules that return values, by mnemonic, as those of a rewriter, by name."""
    return {f"ttir.{mnemonic}": tuple(map(_adapted, each)) for mnemonic, each in rules.items()}


def _adapted(rule: ValueRule) -> Rule:
    def run(op: Operation, rewriter: GreedyRewriter) -> bool:
        found = rule(op, rewriter.builder(op))
        if found is None:
            return False
        values = [found] if isinstance(found, SSAValue) else list(found)
        types = op.result_types
        if not all(map(_fits, values, types)):
            return False
        rewriter.replace(op, *map(_with_type, values, types))
        return True

    return run


def _fits(value: SSAValue, type_: Attribute) -> bool:
    """False for a tensor that there was, and that has another layout than the one it replaces."""
    return value.type == type_ or value.first_use is None


def _with_type(value: SSAValue, type_: Attribute) -> SSAValue:
    """What was made without a layout, with that of what it replaces."""
    return value if value.type == type_ else Rewriter.replace_value_with_new_type(value, type_)


def transposes_of(product: Operation) -> tuple[bool, bool]:
    """Which factors of a product are transposed."""
    said = parameters_of(product)
    return bool(said["transpose_a"]), bool(said["transpose_b"])
