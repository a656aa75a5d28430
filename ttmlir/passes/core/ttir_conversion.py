"""The walk that the conversions to ttir share: one rule for each operation, by its name.

A conversion is a table from names such as `tosa.add` to rules. Everything that is neither in the
table nor allowed in the result is refused with the names that are
nearest to its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

from xdsl.dialects.builtin import ModuleOp, TensorType, UnrankedTensorType
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Attribute, Operation

from ttmlir.arrays.array import Array
from ttmlir.ir.builder import Builder, TTIRCarrier, array_in
from ttmlir.ir.rewriting import refuse_to_legalize, replace
from ttmlir.ir.tensor_types import (
    check_static_shape,
    dtype_of,
    element_type,
    is_tensor,
    value_shape,
)
from ttmlir.mlir.reporting import ALMOST, near_names, op_name
from ttmlir.optable.op_definition import OpDefinition

ConversionRule = Callable[[Operation], None]
"""Puts ttir operations in front of an operation and erases it."""

ArrayFunction = Callable[..., Array | Sequence[Array]]
"""What an operation gives, of itself and its operands as arrays.

Conversions call it to create ttir operations, the interpreter to compute numbers. Operands that are
no tensors are None.
"""

_LEGAL = (ModuleOp, FuncOp, ReturnOp, CallOp, EmptyOp)
_LEGAL_DIALECTS = ("ttir.", "ttcore.")


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
                elif not isinstance(op, _LEGAL) and not op.name.startswith(_LEGAL_DIALECTS):
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


def computes(function: ArrayFunction) -> ConversionRule:
    """The rule of an operation that gives what a function makes of its operands."""

    def rule(op: Operation) -> None:
        for type_ in (*op.operand_types, *op.result_types):
            if isinstance(type_, TensorType | UnrankedTensorType):
                check_static_shape(op, cast("Attribute", type_))
        carrier = TTIRCarrier(Builder.before(op))
        operands = [array_in(carrier, each) if is_tensor(each) else None for each in op.operands]
        found = function(op, *operands)
        results = [found] if isinstance(found, Array) else found
        replace(op, *(each.value for each in results))

    return rule


def result_dtype(op: Operation) -> str:
    """The name of the element type of an operation's first result."""
    return dtype_of(element_type(op.results[0]))


def create_result(
    op: Operation, mnemonic: str, x: Array, *others: Array, **parameters: Any
) -> Array:
    """The result of a definition, of the shape and type that the operation says."""
    shape = value_shape(op.results[0])
    dtype = result_dtype(op)
    return x.create(mnemonic, *others, shape=shape, dtype=dtype, parameters=parameters)


def means(definition: OpDefinition) -> ArrayFunction:
    """The function of an operation that differs from a definition in nothing but the name."""

    def function(op: Operation, *operands: Array) -> Array:
        return create_result(op, definition.mnemonic, *operands)

    return function
