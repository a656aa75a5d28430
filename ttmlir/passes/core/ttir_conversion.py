"""The walk that the conversions to ttir share: one rule for each operation, by its name.

A conversion is a table from names such as `tosa.add` to rules. Everything that is neither in the
table nor allowed in the result is refused with the names that are
nearest to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Operation

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.mlir.reporting import ALMOST, near_names, op_name

ConversionRule = Callable[[Operation], None]
"""Puts ttir operations in front of an operation and erases it."""

_LEGAL = (ModuleOp, FuncOp, ReturnOp, CallOp, EmptyOp)


def convert_inside(
    root: Operation, rules: Mapping[str, ConversionRule], refuse: ConversionRule
) -> None:
    """Apply the rules to everything inside `root`; `refuse` is called for what has no rule."""
    for region in root.regions:
        for block in region.blocks:
            # Rules insert before and erase the operation in hand only.
            for op in tuple(block.ops):
                rule = rules.get(op.name)
                if rule is not None:
                    rule(op)
                elif not isinstance(op, _LEGAL) and not op.name.startswith("ttir."):
                    refuse(op)
                if op.regions and op.parent is not None:
                    convert_inside(op, rules, refuse)


def refuse_unknown(op: Operation, pass_name: str, rules: Mapping[str, ConversionRule]) -> NoReturn:
    """Refuse an operation that a conversion has no rule for."""
    near = ", ".join(near_names(op_name(op), rules, ALMOST))
    nearest = f"; the nearest that it takes: {near}" if near else ""
    refuse_to_legalize(
        op, f"{pass_name} has no rule for it{nearest}; docs/frontends.md lists all that it takes"
    )


def becomes(mnemonic: str) -> ConversionRule:
    """The rule of an operation that differs from one of ttir in nothing but the name."""

    def rule(op: Operation) -> None:
        builder = Builder.before(op)
        replace(op, builder.create(mnemonic, op.operands, op.results[0].type))

    return rule
