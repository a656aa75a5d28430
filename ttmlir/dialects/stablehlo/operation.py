"""The base of the operations of StableHLO and CHLO."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ClassVar, Self

from xdsl.ir import Attribute, Operation
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure

from ttmlir.dialects.definition.assembly import AssemblyOp
from ttmlir.dialects.definition.ods import refuse
from ttmlir.dialects.stablehlo.form import Form

PURE = traits_def(Pure())
"""Traits of operations that only compute."""


class StableHLOOp(AssemblyOp):
    """An operation of StableHLO or CHLO; `REGIONS` names its regions."""

    REGIONS: ClassVar[tuple[str, ...]] = ()
    RULE: ClassVar[Callable[[Operation], None] | None] = None
    """The check of what only this operation requires."""
    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {}
    """Values of optional properties that the pretty form leaves out."""

    def verify_op(self) -> None:
        """Check that the regions have one block each, then what the operation requires."""
        for index, region in enumerate(self.regions):
            count = len(region.blocks)
            if count != 1:
                name = self.REGIONS[min(index, len(self.REGIONS) - 1)]
                refuse(
                    f"region #{index} ('{name}') failed to verify constraint: region with 1 blocks"
                )
        self.check()

    def check(self) -> None:
        """Check what only this operation requires."""
        rule = type(self).RULE
        if rule is not None:
            rule(self)

    def print_dict(self, printer: Printer) -> None:
        """Write the attribute dictionary without properties that are spelled or have defaults."""
        defaults = self.DEFAULTS
        properties = {
            name: attr
            for name, attr in self.properties.items()
            if name not in self.SPELLED and defaults.get(name) != attr
        }
        entries = {**properties, **self.attributes}
        printer.print_op_attributes(dict(sorted(entries.items())))


class FormOp(StableHLOOp):
    """An operation whose pretty syntax is a `Form`."""

    FORM: ClassVar[Form]

    def __init_subclass__(cls) -> None:
        """Note which properties the form spells."""
        super().__init_subclass__()
        if "FORM" in cls.__dict__:
            cls.SPELLED = tuple(cls.FORM.spelled)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        form = cls.FORM
        reading = form.read(parser)
        properties, attributes = cls.parse_dict(parser, reading.properties)
        parser.parse_punctuation(":")
        position = parser.pos
        inputs, results = form.types.read(parser, len(reading.operands))
        return cls.create(
            operands=parser.resolve_operands(reading.operands, inputs, position),
            result_types=results,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        self.FORM.write(printer, self)
        self.print_dict(printer)
        printer.print_string(" : ")
        self.FORM.types.write(printer, self)
