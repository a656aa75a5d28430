"""The text of upstream operations where xDSL's differs from MLIR's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    LocationAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import SingleBlockImplicitTerminator, ensure_terminator

from ttmlir.layout.affine import AffineMap, dims
from ttmlir.mlir.attributes import affine_map_attr, layout_map
from ttmlir.mlir.xdsl_internals import OpenPrinter

if TYPE_CHECKING:
    from xdsl.dialects.scf import ForOp
    from xdsl.parser import Parser, UnresolvedOperand


class UpstreamPrinter(OpenPrinter):
    """A printer of upstream operations, which says how it prints arguments of functions."""

    def print_function_argument(
        self, argument: BlockArgument, attributes: Mapping[str, Attribute]
    ) -> None:
        """Print an argument of a function with its attributes and location."""
        raise NotImplementedError


# --- Affine syntax --------------------------------------------------------------------------------
# The text of affine operations where xDSL's differs from MLIR's.
#
# Indices are expressions over values. xDSL reads the values as symbols of the map and writes `+
# -1`; MLIR reads them as dimensions.

_VARIABLE = re.compile(r"\b([ds])(\d+)\b")


def _parse_access(op_type: type[Operation], parser: Parser) -> Operation:
    op = op_type.parse(parser)
    read = layout_map(cast("AffineMapAttr", op.properties["map"]))
    if read.num_symbols and not read.num_dims:
        places = dims(read.num_symbols)
        results = tuple(result.rename(symbols=places) for result in read.results)
        op.properties["map"] = affine_map_attr(AffineMap(read.num_symbols, 0, results))
    return op


def _print_load(printer: UpstreamPrinter, op: Operation) -> None:
    memref, *indices = op.operands
    printer.print_string(" ")
    _print_access(printer, op, memref, indices)


def _print_store(printer: UpstreamPrinter, op: Operation) -> None:
    value, memref, *indices = op.operands
    printer.print_string(" ")
    printer.print_ssa_value(value)
    printer.print_string(", ")
    _print_access(printer, op, memref, indices)


def _print_access(
    printer: UpstreamPrinter, op: Operation, memref: SSAValue, indices: Sequence[SSAValue]
) -> None:
    access = layout_map(cast("AffineMapAttr", op.properties["map"]))
    printer.print_ssa_value(memref)
    printer.print_string("[")
    for number, result in enumerate(access.results):
        printer.print_string(", " if number else "")
        _print_expression(printer, str(result), indices, access.num_dims)
    printer.print_string("]")
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(memref.type)


def _print_expression(
    printer: UpstreamPrinter, text: str, values: Sequence[SSAValue], num_dims: int
) -> None:
    """Write an expression with values in the places of its dimensions and symbols."""
    position = 0
    for variable in _VARIABLE.finditer(text):
        printer.print_string(text[position : variable.start()])
        position = variable.end()
        number = int(variable[2])
        if variable[1] == "d":
            printer.print_ssa_value(values[number])
        else:
            printer.print_string("symbol(")
            printer.print_ssa_value(values[num_dims + number])
            printer.print_string(")")
    printer.print_string(text[position:])


def _print_apply(printer: UpstreamPrinter, op: Operation) -> None:
    applied = cast("AffineMapAttr", op.properties["map"])
    count = applied.data.num_dims
    printer.print_string(" ")
    printer.print_attribute(applied)
    printer.print_string("(")
    printer.print_list(op.operands[:count], printer.print_ssa_value)
    printer.print_string(")")
    if len(op.operands) > count:
        printer.print_string("[")
        printer.print_list(op.operands[count:], printer.print_ssa_value)
        printer.print_string("]")
    printer.print_op_attributes(op.attributes)


AFFINE_PRINTERS: Mapping[str, Callable[[UpstreamPrinter, Operation], None]] = {
    "affine.apply": _print_apply,
    "affine.load": _print_load,
    "affine.store": _print_store,
}
"""Printers of what follows the name, by operation; they replace xDSL's."""

AFFINE_PARSERS: Mapping[str, Callable[[type[Operation], Parser], Operation]] = {
    "affine.load": _parse_access,
    "affine.store": _parse_access,
}
"""Parsers of what follows the name, by operation; they replace xDSL's."""


# --- Function syntax ------------------------------------------------------------------------------
# The text of `func.func` and its kin: arguments and results with attributes and locations.
#
# xDSL's own syntax loses the attributes of a declaration's arguments and the places of arguments.

_SIGNATURE_PROPERTIES = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def print_function(printer: UpstreamPrinter, op: Operation) -> None:
    """Print what follows the name of a function operation."""
    properties = {**op.attributes, **op.properties}
    name, type = properties["sym_name"], properties["function_type"]
    assert isinstance(name, StringAttr)
    assert isinstance(type, FunctionType)
    visibility = properties.get("sym_visibility")
    printer.print_string(" ")
    if isinstance(visibility, StringAttr):
        printer.print_string(visibility.data + " ")
    printer.print_symbol_name(name.data)
    _print_arguments(printer, op.regions[0], type, _dictionaries(properties.get("arg_attrs")))
    _print_results(printer, type.outputs.data, _dictionaries(properties.get("res_attrs")))
    rest = {name: attr for name, attr in properties.items() if name not in _SIGNATURE_PROPERTIES}
    printer.print_op_attributes(rest, print_keyword=True)
    if op.regions[0].blocks:
        printer.print_string(" ")
        printer.print_region(op.regions[0], False, False)


def _dictionaries(attr: Attribute | None) -> Sequence[Mapping[str, Attribute]]:
    if not isinstance(attr, ArrayAttr):
        return ()
    return [cast(DictionaryAttr, entry).data for entry in cast(ArrayAttr[Attribute], attr)]


def _print_arguments(
    printer: UpstreamPrinter,
    body: Region,
    type: FunctionType,
    attributes: Sequence[Mapping[str, Attribute]],
) -> None:
    printer.print_string("(")
    entry = body.blocks.first
    for index, argument_type in enumerate(type.inputs):
        if index:
            printer.print_string(", ")
        own: Mapping[str, Attribute] = attributes[index] if index < len(attributes) else {}
        if entry is not None and index < len(entry.args):
            printer.print_function_argument(entry.args[index], own)
        else:
            printer.print_attribute(argument_type)
            printer.print_op_attributes(own)
    printer.print_string(")")


def _print_results(
    printer: UpstreamPrinter,
    types: Sequence[Attribute],
    attributes: Sequence[Mapping[str, Attribute]],
) -> None:
    if not types:
        return
    first_has_attributes = bool(attributes and attributes[0])
    parenthesised = len(types) > 1 or isinstance(types[0], FunctionType) or first_has_attributes
    printer.print_string(" -> (" if parenthesised else " -> ")
    for index, type in enumerate(types):
        if index:
            printer.print_string(", ")
        printer.print_attribute(type)
        printer.print_op_attributes(attributes[index] if index < len(attributes) else {})
    if parenthesised:
        printer.print_string(")")


@dataclass
class _Signature:
    """What stands between the name and the body."""

    arguments: list[Parser.Argument] = field(default_factory=list["Parser.Argument"])
    """Named arguments; empty in a declaration without names."""
    argument_types: list[Attribute] = field(default_factory=list[Attribute])
    argument_attributes: list[dict[str, Attribute]] = field(
        default_factory=list[dict[str, Attribute]]
    )
    result_types: list[Attribute] = field(default_factory=list[Attribute])
    result_attributes: list[dict[str, Attribute]] = field(
        default_factory=list[dict[str, Attribute]]
    )


def parse_function(op_type: type[Operation], parser: Parser) -> Operation:
    """Read what follows the name of a function operation."""
    visibility = parser.parse_optional_visibility_keyword()
    name = parser.parse_symbol_name()
    signature = _parse_signature(parser, op_type.name)
    extra = _parse_extra_attributes(parser)
    arguments = signature.arguments if signature.arguments else None
    start = parser.pos
    region = parser.parse_optional_region(arguments)
    if region is None:
        region = Region()
    elif not region.blocks:
        parser.raise_error(f"custom op '{op_type.name}' expected non-empty function body", start)
    properties: dict[str, Attribute] = {
        "sym_name": name,
        "function_type": FunctionType.from_lists(signature.argument_types, signature.result_types),
    }
    if visibility is not None:
        properties["sym_visibility"] = visibility
    if any(signature.argument_attributes):
        properties["arg_attrs"] = _array(signature.argument_attributes)
    if any(signature.result_attributes):
        properties["res_attrs"] = _array(signature.result_attributes)
    return op_type.create(properties=properties, attributes=extra, regions=[region])


def _array(dictionaries: Sequence[dict[str, Attribute]]) -> ArrayAttr[DictionaryAttr]:
    return ArrayAttr([DictionaryAttr(entry) for entry in dictionaries])


def _parse_extra_attributes(parser: Parser) -> dict[str, Attribute]:
    if parser.parse_optional_keyword("attributes") is None:
        return {}
    position = parser.pos
    attributes = parser.parse_optional_dictionary_attr_dict()
    for name in _SIGNATURE_PROPERTIES:
        if name in attributes:
            parser.raise_error(
                f"attribute '{name}' is part of the signature and is not expected here", position
            )
    return attributes


def _parse_signature(parser: Parser, op_name: str) -> _Signature:
    signature = _Signature()
    parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: _parse_argument(parser, signature, op_name)
    )
    if parser.parse_optional_punctuation("->") is None:
        return signature

    def result() -> None:
        signature.result_types.append(parser.parse_type())
        signature.result_attributes.append(parser.parse_optional_dictionary_attr_dict())

    results = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, result)
    if results is None:
        signature.result_types.append(parser.parse_type())
    return signature


def _parse_argument(parser: Parser, signature: _Signature, op_name: str) -> None:
    position = parser.pos
    argument = parser.parse_optional_argument()
    if (argument is not None) != bool(signature.arguments) and signature.argument_types:
        expected = "type instead of SSA identifier" if argument else "SSA identifier"
        parser.raise_error(f"custom op '{op_name}' expected {expected}", position)
    type = argument.type if argument is not None else parser.parse_type()
    signature.argument_types.append(type)
    signature.argument_attributes.append(parser.parse_optional_dictionary_attr_dict())
    location: LocationAttr | None = parser.parse_optional_location()
    if argument is not None:
        argument.location = location
        signature.arguments.append(argument)


# --- Upstream syntax ------------------------------------------------------------------------------


def _print_module(printer: UpstreamPrinter, op: Operation) -> None:
    assert isinstance(op, ModuleOp)
    if op.sym_name is not None:
        printer.print_string(" ")
        printer.print_symbol_name(op.sym_name.data)
    rest = {**op.attributes, **op.properties}
    rest.pop("sym_name", None)
    printer.print_op_attributes(rest, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(op.body, False, False)


def _print_for(printer: UpstreamPrinter, op: Operation) -> None:
    """Like xDSL, but with the two blanks that MLIR writes before the type of the bounds."""
    lower, upper, step, *starts = op.operands
    body = op.regions[0]
    index, *carried = body.block.args
    printer.print_string(" ")
    for value, follows in ((index, " = "), (lower, " to "), (upper, " step "), (step, "")):
        printer.print_ssa_value(value)
        printer.print_string(follows)
    if carried:
        printer.print_string(" iter_args(")
        for number, (argument, start) in enumerate(zip(carried, starts, strict=True)):
            printer.print_string(", " if number else "")
            printer.print_ssa_value(argument)
            printer.print_string(" = ")
            printer.print_ssa_value(start)
        printer.print_string(") -> (")
        printer.print_list((argument.type for argument in carried), printer.print_attribute)
        printer.print_string(")")
    if not isinstance(index.type, IndexType):
        printer.print_string("  : ")
        printer.print_attribute(index.type)
    printer.print_string(" ")
    printer.print_region(
        body,
        print_entry_block_args=False,
        print_empty_block=False,
        print_block_terminators=bool(carried),
    )
    printer.print_op_attributes(op.attributes)


def _parse_for(cls: type[Operation], parser: Parser) -> Operation:
    """Like xDSL, but the type of a single number that is carried may be without parentheses."""
    index = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    bounds = [parser.parse_unresolved_operand()]
    for word in ("to", "step"):
        parser.parse_keyword(word)
        bounds.append(parser.parse_unresolved_operand())
    position, inside = parser.pos, parser.Delimiter.PAREN
    carried: list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]] = []
    types: Sequence[Attribute] = ()
    if parser.parse_optional_keyword("iter_args"):
        carried = parser.parse_comma_separated_list(inside, lambda: _parse_carried(parser))
        parser.parse_punctuation("->")
        listed = parser.parse_optional_comma_separated_list(inside, parser.parse_type)
        types = (parser.parse_type(),) if listed is None else listed
    starts = parser.resolve_operands([start for _, start in carried], types, position)
    arguments = [argument.resolve(type) for (argument, _), type in zip(carried, types, strict=True)]
    index_type = parser.parse_type() if parser.parse_optional_punctuation(":") else IndexType()
    lower, upper, step = (parser.resolve_operand(each, index_type) for each in bounds)
    body = parser.parse_region((index.resolve(index_type), *arguments))
    op = cast("type[ForOp]", cls)(lower, upper, step, starts, body)
    op.attributes |= parser.parse_optional_attr_dict()
    if not carried:
        for trait in op.get_traits_of_type(SingleBlockImplicitTerminator):
            ensure_terminator(op, trait)
    return op


def _parse_carried(parser: Parser) -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
    argument = parser.parse_argument(expect_type=False)
    parser.parse_punctuation("=")
    return argument, parser.parse_unresolved_operand()


CUSTOM_PRINTERS: Mapping[str, Callable[[UpstreamPrinter, Operation], None]] = {
    "builtin.module": _print_module,
    "func.func": print_function,
    "scf.for": _print_for,
    **AFFINE_PRINTERS,
}
"""Printers of what follows the name, by operation; they replace xDSL's."""

CUSTOM_PARSERS: Mapping[str, Callable[[type[Operation], Parser], Operation]] = {
    "func.func": parse_function,
    "scf.for": _parse_for,
    **AFFINE_PARSERS,
}
"""Parsers of what follows the name, by operation; they replace xDSL's."""
