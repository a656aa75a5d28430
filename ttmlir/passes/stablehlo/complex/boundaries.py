"""Complex values where functions, loops and branches take and return them, as pairs of real ones.

`z` becomes `z.real` and `z.imag`, one after the other, in the place where `z` was: before a call,
a loop and a return the value is decomposed, after them and at the head of a function it is
composed. Inside of a function nothing changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

from xdsl.dialects.builtin import ArrayAttr, FunctionType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ttmlir.dialects.stablehlo.elementwise import ComplexOp, ImagOp, RealOp
from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.ir.tensor_types import is_complex, real_type
from ttmlir.layout.data_format import PARTS
from ttmlir.mlir.reporting import name_location, name_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

_Item = TypeVar("_Item")


def split_boundaries(module: ModuleOp) -> None:
    """Split what all functions of a module, and the calls, loops and branches in them, hand on."""
    for function in list(module.walk()):
        if isinstance(function, FuncOp):
            split_signature(function)
        elif function.name in _HANDING_ON:
            _split_operation(function)


_HANDING_ON = ("func.call", "ttir.case", "ttir.while")
"""What gives its operands to functions, and has what they return as results."""


def split_signature(function: FuncOp) -> None:
    """Let a function take and return pairs of real tensors instead of complex ones."""
    types = function.function_type
    inputs, outputs = types.inputs.data, types.outputs.data
    if not any(map(is_complex, (*inputs, *outputs))):
        return
    if not function.is_declaration:
        first, *_ = function.body.blocks
        _join_arguments(first)
        for block in function.body.blocks:
            last = block.last_op
            if last is not None and last.name == "func.return":
                last.operands = _decompose(last)
    function.function_type = FunctionType.from_lists(_real_types(inputs), _real_types(outputs))
    # What is said of a tensor holds for both.
    for name, of in (("arg_attrs", inputs), ("res_attrs", outputs)):
        if name in function.properties:
            attributes = cast("ArrayAttr[Attribute]", function.properties[name])
            function.properties[name] = ArrayAttr(split_items(attributes.data, of, _twice))


def _twice(item: _Item) -> tuple[_Item, _Item]:
    return item, item


def split_items(
    items: Sequence[_Item], types: Sequence[Attribute], split: Callable[[_Item], Sequence[_Item]]
) -> list[_Item]:
    """The items that belong to these types, those of complex ones split in two."""
    return [
        part
        for item, type_ in zip(items, types, strict=True)
        for part in (split(item) if is_complex(type_) else (item,))
    ]


def _real_types(types: Sequence[Attribute]) -> list[Attribute]:
    return split_items(types, types, lambda type_: _twice(real_type(type_)))


def _join_arguments(block: Block) -> None:
    first = block.first_op
    assert first is not None, "verified: a function has an end"
    for argument in tuple(block.args):
        if not is_complex(argument.type):
            continue
        pair = [
            block.insert_arg(real_type(argument.type), argument.index + place) for place in (0, 1)
        ]
        for part, suffix in zip(pair, PARTS, strict=True):
            name = name_of(argument.location)
            named = name is not None
            part.location = name_location(f"{name}.{suffix}") if named else argument.location
            if argument.name_hint:
                part.name_hint = f"{argument.name_hint}_{suffix}"
        joined = ComplexOp.create(
            operands=pair, result_types=[argument.type], location=argument.location
        )
        insert_before(first, joined)
        argument.replace_all_uses_with(joined.results[0])
        block.erase_arg(argument)


def _decompose(op: Operation) -> list[SSAValue]:
    """The operands of an operation, complex ones as their parts."""

    def split(value: SSAValue) -> Sequence[SSAValue]:
        parts = [
            cls.create(operands=[value], result_types=[real_type(value.type)], location=op.location)
            for cls in (RealOp, ImagOp)
        ]
        insert_before(op, *parts)
        return [part.results[0] for part in parts]

    return split_items(op.operands, [value.type for value in op.operands], split)


def _split_operation(op: Operation) -> None:
    types = [result.type for result in op.results]
    if not any(map(is_complex, (*types, *(value.type for value in op.operands)))):
        return
    new = type(op).create(
        operands=_decompose(op),
        result_types=_real_types(types),
        properties=op.properties,
        attributes=op.attributes,
        location=op.location,
    )
    insert_before(op, new)
    rest = iter(new.results)
    for result in op.results:
        value: SSAValue = next(rest)
        if is_complex(result.type):
            joined = ComplexOp.create(
                operands=[value, next(rest)], result_types=[result.type], location=op.location
            )
            insert_before(op, joined)
            value = joined.results[0]
        result.replace_all_uses_with(value)
    erase(op)
