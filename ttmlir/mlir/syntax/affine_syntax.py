"""The text of affine operations where xDSL's differs from MLIR's.

Indices are expressions over values. xDSL reads the values as symbols of the map and writes `+ -1`;
MLIR reads them as dimensions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AffineMapAttr
from xdsl.ir import Operation, SSAValue

from ttmlir.layout.affine import AffineMap, dims
from ttmlir.mlir.attributes.affine import affine_map_attr, layout_map

if TYPE_CHECKING:
    from xdsl.parser import Parser

    from ttmlir.mlir.printing.printer import MlirPrinter

_VARIABLE = re.compile(r"\b([ds])(\d+)\b")


def _parse_access(op_type: type[Operation], parser: Parser) -> Operation:
    op = op_type.parse(parser)
    read = layout_map(cast("AffineMapAttr", op.properties["map"]))
    if read.num_symbols and not read.num_dims:
        places = dims(read.num_symbols)
        results = tuple(result.rename(symbols=places) for result in read.results)
        op.properties["map"] = affine_map_attr(AffineMap(read.num_symbols, 0, results))
    return op


def _print_load(printer: MlirPrinter, op: Operation) -> None:
    memref, *indices = op.operands
    printer.print_string(" ")
    _print_access(printer, op, memref, indices)


def _print_store(printer: MlirPrinter, op: Operation) -> None:
    value, memref, *indices = op.operands
    printer.print_string(" ")
    printer.print_ssa_value(value)
    printer.print_string(", ")
    _print_access(printer, op, memref, indices)


def _print_access(
    printer: MlirPrinter, op: Operation, memref: SSAValue, indices: Sequence[SSAValue]
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
    printer: MlirPrinter, text: str, values: Sequence[SSAValue], num_dims: int
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


def _print_apply(printer: MlirPrinter, op: Operation) -> None:
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


AFFINE_PRINTERS: Mapping[str, Callable[[MlirPrinter, Operation], None]] = {
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
