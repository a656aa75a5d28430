"""Systems of chips in the IR: `#tt.system_desc<...>`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Self, TypeVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir.dialects.definition.syntax import (
    expect,
    expect_keyword,
    parse_dimensions,
    parse_keyword,
    parse_list,
    parse_nested,
    parse_signed,
    parse_unsigned,
    verify_at,
)
from ttmlir.dialects.tt.keywords import ArchAttr, DataTypeAttr
from ttmlir.dialects.tt.layout import GridAttr
from ttmlir.layout.enums import ChipCapability
from ttmlir.layout.grid import shape_text
from ttmlir.layout.system.chip import (
    ChipChannel,
    ChipCoord,
    ChipDesc,
    Coord,
    PhysicalCores,
    SystemDesc,
    default_system_desc,
    worker_cores,
)

_CHIP_NUMBERS = (
    "l1_size",
    "num_dram_channels",
    "dram_channel_size",
    "noc_l1_address_align_bytes",
    "pcie_address_align_bytes",
    "noc_dram_address_align_bytes",
    "l1_unreserved_base",
    "erisc_l1_unreserved_base",
    "dram_unreserved_base",
    "dram_unreserved_end",
)
"""The fields of a chip that are 32-bit numbers, in the order of the text."""

_ALL_CAPABILITIES = sum(ChipCapability)
_CAPABILITY_CPP = "::mlir::tt::ChipCapability"

ParsedT = TypeVar("ParsedT")


@irdl_attr_definition
class ChipCoordAttr(Data[ChipCoord]):
    """Place of a chip: `#tt.chip_coord<rack, shelf, y, x>`."""

    name = "tt.chip_coord"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ChipCoord:
        """Read `<rack, shelf, y, x>`."""
        expect(parser, "<")
        rack = parse_unsigned(parser)
        shelf, y, x = (_after_comma(parser, parse_unsigned) for _ in range(3))
        expect(parser, ">")
        return ChipCoord(rack=rack, shelf=shelf, y=y, x=x)

    def print_parameter(self, printer: Printer) -> None:
        """Write `<rack, shelf, y, x>`."""
        printer.print_string(_chip_coord_text(self.data))


@irdl_attr_definition
class ChipChannelAttr(Data[ChipChannel]):
    """Ethernet link: `#tt.chip_channel<[device, y, x], [device, y, x]>`."""

    name = "tt.chip_channel"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ChipChannel:
        """Read `<[device, y, x], [device, y, x]>`."""
        expect(parser, "<")
        device0, core0 = _parse_channel_end(parser)
        device1, core1 = _after_comma(parser, _parse_channel_end)
        expect(parser, ">")
        return ChipChannel(
            device_id0=device0,
            ethernet_core_coord0=core0,
            device_id1=device1,
            ethernet_core_coord1=core1,
        )

    def print_parameter(self, printer: Printer) -> None:
        """Write `<[device, y, x], [device, y, x]>`."""
        printer.print_string(_chip_channel_text(self.data))


@irdl_attr_definition
class SystemDescAttr(Data[SystemDesc]):
    """All chips of a system; the module attribute `tt.system_desc`. `data` is the plain form."""

    name = "tt.system_desc"

    @classmethod
    def get_default(cls) -> Self:
        """The system that is assumed where none is given: one Wormhole chip."""
        return cls(default_system_desc())

    def alias_name(self) -> str:
        """The stem of the alias."""
        return "system_desc"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> SystemDesc:
        """Read `<[chips], [indices], [capabilities], [coords], [channels]>`.

        The last list is left out when it is empty. Chips written shortly, as
        `<#tt.arch<wormhole_b0>, #tt.grid<8x8>>`, have the default chip's other numbers, and
        capabilities may be keywords in angle brackets.
        """
        position = parser.pos
        expect(parser, "<")
        chips = parse_list(parser, lambda: _parse_chip(parser))
        expect(parser, ",")
        indices = parse_list(parser, lambda: parse_unsigned(parser))
        expect(parser, ",")
        capabilities = parse_list(parser, lambda: _parse_capability(parser))
        expect(parser, ",")
        coords = parse_list(parser, lambda: parse_nested(parser, ChipCoordAttr).data)
        channels: tuple[ChipChannel, ...] = ()
        if parser.parse_optional_punctuation(",") is not None:
            channels = parse_list(parser, lambda: parse_nested(parser, ChipChannelAttr).data)
        expect(parser, ">")
        system = SystemDesc(
            chip_descs=chips,
            chip_desc_indices=indices,
            chip_capabilities=capabilities,
            chip_coords=coords,
            chip_channels=channels,
        )
        with verify_at(parser, position):
            system.check()
        return system

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        system = self.data
        lists = [
            _list_text(map(_chip_text, system.chip_descs)),
            _list_text(map(str, system.chip_desc_indices)),
            _list_text(f"{capability} : i32" for capability in system.chip_capabilities),
            _list_text(map(_chip_coord_text, system.chip_coords)),
        ]
        if system.chip_channels:
            lists.append(_list_text(map(_chip_channel_text, system.chip_channels)))
        printer.print_string(f"<{', '.join(lists)}>")


# --- Reading -----------------------------------------------------------------------------------


def _after_comma(parser: AttrParser, parse: Callable[[AttrParser], ParsedT]) -> ParsedT:
    expect(parser, ",")
    return parse(parser)


def _parse_channel_end(parser: AttrParser) -> tuple[int, Coord]:
    expect(parser, "[")
    device = parse_unsigned(parser)
    y = _after_comma(parser, parse_signed)
    x = _after_comma(parser, parse_signed)
    expect(parser, "]")
    return device, (y, x)


def _parse_capability(parser: AttrParser) -> int:
    position = parser.pos
    if parser.parse_optional_punctuation("<") is not None:
        value = int(parse_keyword(parser, ChipCapability, _CAPABILITY_CPP))
        while parser.parse_optional_punctuation("|") is not None:
            value |= parse_keyword(parser, ChipCapability, _CAPABILITY_CPP)
        expect(parser, ">")
        return value
    attribute = parser.parse_attribute()
    for capabilities in range(_ALL_CAPABILITIES + 1):
        if attribute == IntegerAttr(capabilities, i32):
            return capabilities
    parser.raise_error("invalid kind of attribute specified", position)


def _parse_chip(parser: AttrParser) -> ChipDesc:
    if parser.parse_optional_punctuation("<") is not None:
        return _parse_short_chip(parser)
    expect(parser, "{")
    arch = _parse_field(parser, "arch", lambda: parse_nested(parser, ArchAttr).data)
    grid = _parse_field(parser, "grid", lambda: _parse_chip_grid(parser))
    numbers = {
        name: _parse_field(parser, name, lambda: parse_unsigned(parser)) for name in _CHIP_NUMBERS
    }
    cores = _parse_field(parser, "physical_cores", lambda: _parse_cores(parser))
    data_types = _parse_field(
        parser,
        "supported_data_types",
        lambda: parse_list(parser, lambda: parse_nested(parser, DataTypeAttr).data),
    )
    expect_keyword(parser, "supported_tile_sizes")
    expect(parser, "=")
    tile_sizes = parse_list(parser, lambda: _parse_tile_size(parser))
    expect(parser, "}")
    return ChipDesc(
        arch=arch,
        grid=grid,
        physical_cores=cores,
        supported_data_types=data_types,
        supported_tile_sizes=tile_sizes,
        **numbers,
    )


def _parse_field(parser: AttrParser, name: str, parse: Callable[[], ParsedT]) -> ParsedT:
    """`name = value,`."""
    expect_keyword(parser, name)
    expect(parser, "=")
    value = parse()
    expect(parser, ",")
    return value


def _parse_chip_grid(parser: AttrParser) -> Coord:
    position = parser.pos
    grid = parse_dimensions(parser)
    if len(grid) != 2:
        parser.raise_error("expected the rows and columns of a chip, such as 8x8", position)
    return grid[0], grid[1]


def _parse_short_chip(parser: AttrParser) -> ChipDesc:
    """`#tt.arch<...>, #tt.grid<...>>` after the opening bracket."""
    arch = parse_nested(parser, ArchAttr).data
    expect(parser, ",")
    position = parser.pos
    grid = parse_nested(parser, GridAttr).shape
    if len(grid) != 2:
        parser.raise_error("expected the rows and columns of a chip, such as 8x8", position)
    expect(parser, ">")
    (chip,) = default_system_desc().chip_descs
    cores = replace(chip.physical_cores, worker=worker_cores(*grid))
    return replace(chip, arch=arch, grid=(grid[0], grid[1]), physical_cores=cores)


def _parse_cores(parser: AttrParser) -> PhysicalCores:
    def core() -> Coord:
        expect(parser, "(")
        y = parse_signed(parser)
        x = _after_comma(parser, parse_signed)
        expect(parser, ")")
        return y, x

    def cores(kind: str) -> tuple[Coord, ...]:
        expect_keyword(parser, kind)
        expect(parser, "=")
        return parse_list(parser, core)

    def optional_cores(kind: str) -> tuple[Coord, ...]:
        if parser.parse_optional_keyword(kind) is None:
            return ()
        expect(parser, "=")
        return parse_list(parser, core)

    expect(parser, "{")
    physical_cores = PhysicalCores(
        worker=cores("worker"),
        dram=cores("dram"),
        eth=optional_cores("eth"),
        eth_inactive=optional_cores("eth_inactive"),
    )
    expect(parser, "}")
    return physical_cores


def _parse_tile_size(parser: AttrParser) -> Coord:
    expect(parser, "(")
    height = parse_signed(parser)
    expect_keyword(parser, "x")
    width = parse_signed(parser)
    expect(parser, ")")
    return height, width


# --- Writing -----------------------------------------------------------------------------------


def _list_text(texts: Iterable[str]) -> str:
    return f"[{', '.join(texts)}]"


def _core_text(core: Coord) -> str:
    return f"({core[0]}, {core[1]})"


def _cores_text(cores: PhysicalCores) -> str:
    kinds = [("worker", cores.worker), ("dram", cores.dram)]
    kinds += [(kind, getattr(cores, kind)) for kind in ("eth", "eth_inactive")]
    texts = (
        f"{kind} = {_list_text(map(_core_text, coords))}"
        for kind, coords in kinds
        if coords or kind in ("worker", "dram")
    )
    return f"{{{' '.join(texts)}}}"


def _chip_text(chip: ChipDesc) -> str:
    fields = {
        "arch": f"<{chip.arch.keyword}>",
        "grid": shape_text(chip.grid),
        **{name: str(getattr(chip, name)) for name in _CHIP_NUMBERS},
        "physical_cores": _cores_text(chip.physical_cores),
        "supported_data_types": _list_text(f"<{t.keyword}>" for t in chip.supported_data_types),
        "supported_tile_sizes": _list_text(f"({y} x {x})" for y, x in chip.supported_tile_sizes),
    }
    return "{" + ", ".join(f"{name} = {text}" for name, text in fields.items()) + "}"


def _chip_coord_text(coord: ChipCoord) -> str:
    return f"<{coord.rack}, {coord.shelf}, {coord.y}, {coord.x}>"


def _chip_channel_text(channel: ChipChannel) -> str:
    (y0, x0), (y1, x1) = channel.ethernet_core_coord0, channel.ethernet_core_coord1
    return f"<[{channel.device_id0}, {y0}, {x0}], [{channel.device_id1}, {y1}, {x1}]>"
