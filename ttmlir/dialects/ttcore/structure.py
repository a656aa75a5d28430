"""Operations of ttcore: the device of a module, and the modules of device and host."""

from __future__ import annotations

from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, NoTerminator, SymbolOpInterface

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp
from ttmlir.dialects.definition.ods import Property, Signature, refuse
from ttmlir.dialects.definition.syntax import parse_nested
from ttmlir.dialects.tt.device import DeviceAttr


class DeviceOp(AssemblyOp):
    """The device that the module around it is compiled for, under a name.

    Example:
        ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8, (d0, d1) -> (0, d0, d1)>,
            l1Map = ..., dramMap = ..., meshShape = , chipIds = [0]>
    """

    name = "ttcore.device"
    SPELLED: ClassVar = ("sym_name", "device_attr")
    SIGNATURE: ClassVar = Signature(
        properties=(
            Property("sym_name", ods.STRING),
            Property("device_attr", ods.named_attr("tt.device")),
        )
    )
    traits = traits_def(SymbolOpInterface())

    @classmethod
    def of(cls, device: DeviceAttr, name: str = "default_device") -> Self:
        """The operation that gives a device a name."""
        return cls.create(properties={"sym_name": StringAttr(name), "device_attr": device})

    @property
    def device(self) -> DeviceAttr:
        """The device."""
        return cast("DeviceAttr", self.properties["device_attr"])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        name = parser.parse_symbol_name()
        parser.parse_punctuation("=")
        device = parse_nested(parser, DeviceAttr)
        properties, attributes = cls.parse_dict(parser, {"sym_name": name, "device_attr": device})
        return cls.create(properties=properties, attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_symbol_name(cast("StringAttr", self.properties["sym_name"]).data)
        printer.print_string(" = ")
        self.device.print_parameter(printer)
        self.print_dict(printer)


class _ModuleHolder(AssemblyOp):
    """An operation around one module."""

    SIGNATURE: ClassVar = Signature(regions=1)
    traits = traits_def(IsolatedFromAbove(), NoTerminator())

    @classmethod
    def of(cls, module: ModuleOp) -> Self:
        """The operation around a module."""
        return cls.create(regions=[Region(Block([module]))])

    @property
    def module(self) -> ModuleOp:
        """The module inside."""
        module = self.regions[0].block.first_op
        assert isinstance(module, ModuleOp), "the verifier has seen a module"
        return module

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        attributes = {}
        if parser.parse_optional_keyword("attributes") is not None:
            attributes = parser.parse_optional_attr_dict()
        return cls.create(regions=[parser.parse_region()], attributes=attributes)

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        printer.print_region(self.regions[0], print_entry_block_args=False)

    def verify_op(self) -> None:
        """Refuse all but one module."""
        block = self.regions[0].first_block
        operations: list[Operation] = [] if block is None else list(block.ops)
        if len(operations) != 1 or not isinstance(operations[0], ModuleOp):
            refuse("expected exactly one builtin.module in its region")


class DeviceModuleOp(_ModuleHolder):
    """What runs on the device: `ttcore.device_module { builtin.module { ... } }`.

    C1: it holds one module.
    """

    name = "ttcore.device_module"


class CpuModuleOp(_ModuleHolder):
    """What runs on the host's processor: `ttcore.cpu_module { builtin.module { ... } }`.

    C1: it holds one module.
    """

    name = "ttcore.cpu_module"


def device_of(op: Operation) -> DeviceAttr | None:
    """The device of the nearest module around an operation that has one."""
    table: Operation | None = op
    while table is not None:
        if isinstance(table, ModuleOp):
            for each in table.body.ops:
                if isinstance(each, DeviceOp):
                    return each.device
        table = table.parent_op()
    return None


STRUCTURE_OPS = (DeviceOp, DeviceModuleOp, CpuModuleOp)
"""Every operation of this module."""
