"""The text of a whole module, with its aliases and resources.

print_module(module)                       # the pretty form, with aliases
print_module(module, generic=True, debuginfo=True)
printed_text(module).chunks()              # bytes to write, large constants in pieces
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from xdsl.ir import Operation

from ttmlir.mlir.attributes.long_strings import PrintedText
from ttmlir.mlir.attributes.resources import metadata
from ttmlir.mlir.printing.aliases import collect_aliases
from ttmlir.mlir.printing.naming import Numbering
from ttmlir.mlir.printing.printer import DEFAULT_OPTIONS, MlirPrinter, PrintOptions, TooLongError
from ttmlir.mlir.reporting.diagnostics import LocatedError
from ttmlir.mlir.syntax.core_prefix import core_prefix_of, use_core_prefix
from ttmlir.nesting import deep_recursion


def print_module(module: Operation, options: PrintOptions = DEFAULT_OPTIONS, **fields: Any) -> str:
    """The text of a module, or of any operation on its own, with a newline at its end.

    Options come as `PrintOptions`, or as its fields: `print_module(module, generic=True)`.
    """
    return str(printed_text(module, replace(options, **fields)))


def printed_text(module: Operation, options: PrintOptions = DEFAULT_OPTIONS) -> PrintedText:
    """What `print_module` gives, with long constants as bytes until it is written.

    DiagnosticError for a text without end.
    """
    with use_core_prefix(core_prefix_of(module)):
        return _printed_text(module, options)


def _printed_text(module: Operation, options: PrintOptions) -> PrintedText:
    numbering = Numbering(
        module,
        generic=options.generic,
        unique_ssa_ids=options.unique_ssa_ids,
        number_all_operations=options.value_users,
    )
    printer = MlirPrinter(options, numbering.names)
    printer.long_strings = []
    with deep_recursion():
        try:
            if options.local_scope:
                printer.print_op(module)
                return PrintedText.of(printer.text, printer.long_strings, ["\n"])
            printer.print_with_aliases(module, collect_aliases(module, options, numbering.names))
        except TooLongError as error:
            raise LocatedError(error.location, str(error)) from None
    limit = options.elide_resources_larger_than
    rest = ["\n", *metadata(module, printer.resources, limit)]
    return PrintedText.of(printer.text, printer.long_strings, rest)
