"""Devices in the IR: `#tt.device<...>` and `!tt.device<#device>`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Self

from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    expect,
    expect_keyword,
    parameter,
    parse_dimensions,
    parse_list,
    parse_nested,
    parse_unsigned,
    print_stripped,
    spelled,
    verify_at,
)
from ttmlir.dialects.tt.layout import GridAttr
from ttmlir.dialects.tt.system_desc import SystemDescAttr
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.device import DeviceView
from ttmlir.layout.grid import shape_text
from ttmlir.layout.system.chip import SystemDesc
from ttmlir.mlir.attributes.affine import parse_affine_map

_OWNER = "TT_DeviceAttr"


@irdl_attr_definition
class DeviceAttr(Data[DeviceView]):
    """A view of chips as one grid of cores, and the maps of tensors to their memory.

        #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>, l1Map = ...,
            dramMap = ..., meshShape = 1x1, chipIds = [0]>

    `data` is the same as plain data, with the arithmetic.
    """

    name = "tt.device"

    @classmethod
    def from_system_desc(
        cls,
        system_desc: SystemDescAttr | SystemDesc,
        mesh_shape: Sequence[int] = (),
        chip_ids: Sequence[int] | None = None,
    ) -> Self:
        """The device of a mesh of chips of a system; LayoutError if it has too few of them."""
        system = system_desc.data if isinstance(system_desc, SystemDescAttr) else system_desc
        ids = None if chip_ids is None else tuple(chip_ids)
        return cls(_device(system, tuple(mesh_shape), ids))

    @property
    def worker_grid(self) -> GridAttr:
        """The grid of cores."""
        return GridAttr(self.data.worker_grid)

    @property
    def mesh_shape(self) -> tuple[int, ...]:
        """The extents of the mesh of chips."""
        return self.data.mesh_shape

    @property
    def chip_ids(self) -> tuple[int, ...]:
        """The chips in row-major order of the mesh."""
        return self.data.chip_ids

    def alias_name(self) -> str:
        """The stem of the alias."""
        return "device"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DeviceView:
        """Read the five named parameters; both maps may be left out, as documents do."""
        position = parser.pos
        expect(parser, "<")
        _expect_name(parser, "workerGrid")
        with parameter(parser, _OWNER, "workerGrid", "::mlir::tt::GridAttr"):
            grid = parse_nested(parser, GridAttr)
        expect(parser, ",")
        maps = None
        if parser.parse_optional_keyword("meshShape") is None:
            maps = _parse_map(parser, "l1Map"), _parse_map(parser, "dramMap")
            expect_keyword(parser, "meshShape")
        expect(parser, "=")
        with parameter(parser, _OWNER, "meshShape", "::llvm::ArrayRef<int64_t>"):
            mesh_shape = parse_dimensions(parser)
        expect(parser, ",")
        _expect_name(parser, "chipIds")
        with parameter(parser, _OWNER, "chipIds", "::llvm::ArrayRef<unsigned>"):
            chip_ids = parse_list(parser, lambda: parse_unsigned(parser))
        expect(parser, ">")
        with verify_at(parser, position):
            if maps is None:
                return DeviceView.on_grid(grid.data, mesh_shape, chip_ids)
            return DeviceView(grid.data, *maps, mesh_shape, chip_ids)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        device = self.data
        grid = f"#{spelled(printer, GridAttr.name)}<{device.worker_grid}>"
        printer.print_string(
            f"<workerGrid = {grid}, l1Map = {device.l1_map}, dramMap = {device.dram_map}, "
            f"meshShape = {shape_text(device.mesh_shape)}, "
            f"chipIds = [{', '.join(map(str, device.chip_ids))}]>"
        )


@lru_cache(maxsize=64)
def _device(
    system: SystemDesc, mesh_shape: tuple[int, ...], chip_ids: tuple[int, ...] | None
) -> DeviceView:
    return DeviceView.from_system_desc(system, mesh_shape, chip_ids)


def _expect_name(parser: AttrParser, name: str) -> None:
    expect_keyword(parser, name)
    expect(parser, "=")


def _parse_map(parser: AttrParser, name: str) -> AffineMap:
    _expect_name(parser, name)
    with parameter(parser, _OWNER, name, "AffineMap"):
        affine_map = parse_affine_map(parser)
    expect(parser, ",")
    return affine_map


@irdl_attr_definition
class DeviceType(ParametrizedAttribute, TypeAttribute):
    """The type of a device handle: `!tt.device<#device>`."""

    name = "tt.device"
    desc: DeviceAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Read `<#device>` or the device without its name."""
        expect(parser, "<")
        with parameter(parser, "TT_DeviceType", "desc", "::mlir::tt::DeviceAttr"):
            device = parse_nested(parser, DeviceAttr)
        expect(parser, ">")
        return [device]

    def print_parameters(self, printer: Printer) -> None:
        """Write what `parse_parameters` reads."""
        printer.print_string("<")
        print_stripped(printer, self.desc)
        printer.print_string(">")
