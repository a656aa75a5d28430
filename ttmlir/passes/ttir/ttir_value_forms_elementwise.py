"""Canonical forms of elementwise operations and reductions, for `ttir_value_forms.py`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.value_rewriting import (
    adapted,
    elements_known,
    made_by,
    number_known,
    parameters_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import Rule
    from ttmlir.passes.ttir.value_rewriting import ValueRule

# --- Operations that say nothing twice ------------------------------------------------------------

_ONCE = frozenset(f"ttir.{name}" for name in ("relu", "relu6", "abs", "ceil", "floor", "sign"))
_BACK = frozenset(("ttir.neg", "ttir.bitwise_not", "ttir.reciprocal"))
_OF_EQUALS = frozenset(
    f"ttir.{name}" for name in ("logical_and", "logical_or", "bitwise_and", "bitwise_or", "minimum")
)


def fold_repeated(op: Operation) -> SSAValue | None:
    """What an operation applied twice gives: once, or what there was before it.

    `maximum` of two equal operands stays, unlike `minimum`; so it is in tt-mlir.
    """
    operands = op.operands
    if op.name in _OF_EQUALS and operands[0] is operands[1]:
        return operands[0] if operands[0].type == op.results[0].type else None
    if op.name in _ONCE or op.name in _BACK:
        inner = made_by(operands[0], op.name.removeprefix("ttir."))
        if inner is not None and inner.operands[0].type == op.results[0].type == operands[0].type:
            return operands[0] if op.name in _ONCE else inner.operands[0]
    return None


# --- Rules ----------------------------------------------------------------------------------------


def swapped(mnemonic: str) -> Callable[[Operation, Builder], SSAValue]:
    """A comparison as its mirror image."""

    def rule(op: Operation, builder: Builder) -> SSAValue:
        lhs, rhs = op.operands
        return builder.create(mnemonic, (rhs, lhs), op.results[0].type)

    return rule


MIRRORED: Mapping[str, Sequence[ValueRule]] = {"lt": [swapped("gt")], "le": [swapped("ge")]}
"""Comparisons that are those of the swapped operands."""


def _clamp_tensor(op: Operation, builder: Builder) -> SSAValue | None:
    """Bounds that are numbers are parameters."""
    low, high = (number_known(value) for value in op.operands[1:])
    if low is None or high is None or op.operands[0].type != op.results[0].type:
        return None
    return builder.create("clamp", op.operands[:1], op.results[0].type, min=low, max=high)


def _clamp(op: Operation, builder: Builder) -> SSAValue | None:
    """A range after another is what both leave; the later bounds are between which all is."""
    before = made_by(op.operands[0], "clamp")
    if before is None or before.operands[0].type != op.results[0].type:
        return None
    inner, outer = parameters_of(before), parameters_of(op)
    low, high = (min(max(inner[bound], outer["min"]), outer["max"]) for bound in ("min", "max"))
    return builder.create("clamp", before.operands[:1], op.results[0].type, min=low, max=high)


CLAMPS: Mapping[str, Sequence[ValueRule]] = {"clamp_tensor": [_clamp_tensor], "clamp": [_clamp]}
"""Ranges, which `ttir-fusing` looks at, too."""


_FLOATS = {"f16": (10, 5), "bf16": (7, 8), "f32": (23, 8), "f64": (52, 11)}
"""Bits of mantissa and exponent."""


def holds_all(narrow: str, wide: str) -> bool:
    """True if a type has all numbers of another of its kind; any type has truth values."""
    if narrow == "i1":
        return True
    if narrow in _FLOATS and wide in _FLOATS:
        return all(own <= other for own, other in zip(_FLOATS[narrow], _FLOATS[wide], strict=True))
    own, other = (re.fullmatch(r"([us]?)i(\d+)", text) for text in (narrow, wide))
    if own is None or other is None or wide == "i1":
        return False
    return int(own[2]) <= int(other[2]) and (own[1] == "u") == (other[1] == "u")


def _typecast(op: Operation, builder: Builder) -> SSAValue | None:
    """A cast after another is one, where neither keeps what it rounds or nothing is rounded."""
    before = made_by(op.operands[0], "typecast")
    if before is None:
        return None
    source, result = before.operands[0], op.results[0].type
    conservative = any(parameters_of(each).get("conservative_folding") for each in (before, op))
    if conservative and not holds_all(*(str(element_type(v)) for v in (source, op.operands[0]))):
        return None
    if source.type == result:
        return source
    kept = {"conservative_folding": True} if conservative else {}
    return builder.create("typecast", (source,), result, **kept)


def _product(op: Operation, builder: Builder) -> SSAValue | None:
    """All dimensions are none named."""
    said = parameters_of(op)
    dims, rank = said.get("dim_arg"), len(value_shape(op.operands[0]))
    if not dims or len({dim % rank for dim in dims}) != rank:
        return None
    return builder.create("prod", op.operands, op.results[0].type, keep_dim=said["keep_dim"])


def _product_of_truths(op: Operation, builder: Builder) -> SSAValue | None:
    """A product of zeros and ones is the least of them."""
    elements = elements_known(op.operands[0])
    if elements is None or not set(attr_numbers(elements) or (2,)) <= {0, 1}:
        return None
    said = parameters_of(op)
    return builder.create("min", op.operands, op.results[0].type, **said)


def _linear(op: Operation, builder: Builder) -> SSAValue | None:
    """A product that nothing is added to."""
    if len(op.operands) != 2:
        return None
    said = parameters_of(op)
    turned = {name: bool(said.get(name)) for name in ("transpose_a", "transpose_b")}
    return builder.create("matmul", op.operands, op.results[0].type, **turned)


RULES: Mapping[str, Sequence[Rule]] = adapted(
    {
        **CLAMPS,
        "typecast": [_typecast],
        "prod": [_product, _product_of_truths],
        "linear": [_linear],
        **MIRRORED,
    }
)
"""Rules by the name of the operation."""
