"""The text of `func.func` and its kin: arguments and results with attributes and locations.

xDSL's own syntax loses the attributes of a declaration's arguments and the places of arguments.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    LocationAttr,
    StringAttr,
)
from xdsl.ir import Attribute, Operation, Region

if TYPE_CHECKING:
    from xdsl.parser import Parser

    from ttmlir.mlir.printing.printer import MlirPrinter

_SIGNATURE_PROPERTIES = ("sym_name", "function_type", "sym_visibility", "arg_attrs", "res_attrs")


def print_function(printer: MlirPrinter, op: Operation) -> None:
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
    printer: MlirPrinter,
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
    printer: MlirPrinter,
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
