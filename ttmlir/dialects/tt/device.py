"""Devices in the IR: `#tt.device<...>` and `!tt.device<#device>`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Self, TypeVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ttmlir import limits
from ttmlir.dialects.definition.syntax import (
    expect,
    expect_keyword,
    parameter,
    parse_dimensions,
    parse_keyword,
    parse_list,
    parse_nested,
    parse_signed,
    parse_unsigned,
    print_stripped,
    spelled,
    verify_at,
)
from ttmlir.dialects.tt.layout import ArchAttr, DataTypeAttr, GridAttr
from ttmlir.layout.affine import AffineMap
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import Arch, ChipCapability, Topology
from ttmlir.layout.system import (
    ChipChannel,
    ChipCoord,
    ChipDesc,
    Coord,
    CpuDesc,
    LateChip,
    PhysicalCores,
    SystemDesc,
    cores_of_generation,
    default_system_desc,
    worker_cores,
)
from ttmlir.layout.tensor_layout import shape_text
from ttmlir.mlir.attributes import parse_affine_map
from ttmlir.mlir.core_prefix import note_ttcore

# --- System desc ----------------------------------------------------------------------------------
# Systems of chips in the IR: `#tt.system_desc<...>`.

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

_LATE_COUNTS = (
    "dst_physical_size_tiles",
    "num_cbs",
    "num_compute_threads",
    "num_datamovement_threads",
)
"""Fields since 2025, in the order of the text."""

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
    """Ethernet link: `#tt.chip_channel<[device, y, x], [device, y, x]>`.

    Read, too, is the form of tt-mlir's book: `<device, [y, x], device, [y, x]>`.
    """

    name = "tt.chip_channel"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ChipChannel:
        """Read either form."""
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
class CoreCoordAttr(Data[Coord]):
    """Place of a core on its chip: `#tt.core_coord<y, x>`."""

    name = "tt.core_coord"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Coord:
        """Read `<y, x>`."""
        expect(parser, "<")
        core = _parse_pair(parser)
        expect(parser, ">")
        return core

    def print_parameter(self, printer: Printer) -> None:
        """Write `<y, x>`."""
        printer.print_string(f"<{self.data[0]}, {self.data[1]}>")


@irdl_attr_definition
class TileSizeAttr(Data[Coord]):
    """Shape of a tile that a chip computes on: `#tt.tile_size<y, x>`."""

    name = "tt.tile_size"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Coord:
        """Read `<y, x>`, or `<y x x>` as in descriptions of chips."""
        expect(parser, "<")
        position = parser.pos
        height = parse_signed(parser)
        if parser.parse_optional_keyword("x") is None:
            expect(parser, ",")
        width = parse_signed(parser)
        if height < 1 or width < 1:
            parser.raise_error("expected a tile of 1 x 1 elements at least", position)
        expect(parser, ">")
        return height, width

    def print_parameter(self, printer: Printer) -> None:
        """Write `<y, x>`."""
        printer.print_string(f"<{self.data[0]}, {self.data[1]}>")


@irdl_attr_definition
class ChipPhysicalCoresAttr(Data[PhysicalCores]):
    """Places of the cores of a chip: `#tt.chip_physical_cores<worker = [(y, x), ...] dram = []>`.

    Read, too, is the form of tt-mlir's book: the lists of workers, DRAM, ethernet and idle
    ethernet, without names.
    """

    name = "tt.chip_physical_cores"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> PhysicalCores:
        """Read either form."""
        expect(parser, "<")
        if parser.parse_optional_keyword("worker") is not None:
            cores = _parse_named_cores(parser)
        else:
            first = _parse_unnamed_cores(parser)
            others = [_after_comma(parser, _parse_unnamed_cores) for _ in range(3)]
            dram, eth, idle = others
            cores = PhysicalCores(worker=first, dram=dram, eth=eth, eth_inactive=idle)
        expect(parser, ">")
        return cores

    def print_parameter(self, printer: Printer) -> None:
        """Write the lists with their names."""
        printer.print_string(f"<{_cores_text(self.data)[1:-1]}>")


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

        Since 2025 a list of the processors comes first. The last list is left out when it is
        empty. Chips written shortly, as
        `<#tt.arch<wormhole_b0>, #tt.grid<8x8>>`, have the default chip's other numbers, and
        capabilities may be keywords in angle brackets.
        """
        position = parser.pos
        expect(parser, "<")
        cpus: tuple[CpuDesc, ...] = ()
        if _CPUS.match(parser.lexer.input.content, parser.pos):
            note_ttcore()
            cpus = parse_list(parser, lambda: _parse_cpu(parser))
            expect(parser, ",")
        chips = parse_list(parser, lambda: _parse_chip(parser))
        expect(parser, ",")
        indices = parse_list(parser, lambda: parse_unsigned(parser))
        expect(parser, ",")
        capabilities = parse_list(parser, lambda: _parse_capability(parser))
        expect(parser, ",")
        coords = parse_list(parser, lambda: _parse_chip_coord(parser))
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
            cpus=cpus,
        )
        with verify_at(parser, position):
            system.check()
        return system

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        system = self.data
        cpus = [_list_text(map(_cpu_text, system.cpus))] if system.cpus else []
        coord_text = _late_chip_coord_text if system.cpus else _chip_coord_text
        lists = [
            *cpus,
            _list_text(map(_chip_text, system.chip_descs)),
            _list_text(map(str, system.chip_desc_indices)),
            _list_text(f"{capability} : i32" for capability in system.chip_capabilities),
            _list_text(map(coord_text, system.chip_coords)),
        ]
        if system.chip_channels:
            lists.append(_list_text(map(_chip_channel_text, system.chip_channels)))
        printer.print_string(f"<{', '.join(lists)}>")


# --- Reading -----------------------------------------------------------------------------------


def _after_comma(parser: AttrParser, parse: Callable[[AttrParser], ParsedT]) -> ParsedT:
    expect(parser, ",")
    return parse(parser)


def _parse_channel_end(parser: AttrParser) -> tuple[int, Coord]:
    in_front = parser.lexer.input.content[parser.pos].isdigit()  # As in tt-mlir's book.
    if in_front:
        device = parse_unsigned(parser)
        expect(parser, ",")
        expect(parser, "[")
        core = _parse_pair(parser)
    else:
        expect(parser, "[")
        device = parse_unsigned(parser)
        core = _after_comma(parser, _parse_pair)
    expect(parser, "]")
    return device, core


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


_CPUS = re.compile(r"\[\s*\{\s*role\b")
"""How the list of processors begins."""


def _parse_cpu(parser: AttrParser) -> CpuDesc:
    expect(parser, "{")
    position = parser.pos
    role = _parse_field(parser, "role", parser.parse_optional_identifier)
    if role not in ("host", "device"):
        parser.raise_error(
            "expected ::mlir::tt::ttcore::CPURole to be one of: host, device", position
        )
    expect_keyword(parser, "target_triple")
    expect(parser, "=")
    triple = parser.parse_str_literal()
    expect(parser, "}")
    return CpuDesc(role=role, target_triple=triple)


def _parse_chip_coord(parser: AttrParser) -> ChipCoord:
    """`<rack, shelf, y, x>`, or the four with `x` between them, as since 2025."""
    content = parser.lexer.input.content
    if content.startswith(("<", "#"), parser.pos):
        return parse_nested(parser, ChipCoordAttr).data
    position = parser.pos
    numbers = parse_dimensions(parser)
    if len(numbers) != 4:
        parser.raise_error("expected rack, shelf, y and x of a chip, such as 0x0x0x0", position)
    rack, shelf, y, x = numbers
    return ChipCoord(rack=rack, shelf=shelf, y=y, x=x)


def _parse_late_chip(parser: AttrParser, arch: Arch, grid: Coord) -> ChipDesc:
    """What follows the grid since 2025; the places of cores are not said."""
    expect(parser, "=")
    offsets = _parse_chip_grid(parser)
    expect(parser, ",")
    numbers = {
        name: _parse_field(parser, name, lambda: parse_unsigned(parser, 63))
        for name in _CHIP_NUMBERS
    }
    data_types = _parse_field(
        parser,
        "supported_data_types",
        lambda: parse_list(parser, lambda: parse_nested(parser, DataTypeAttr).data),
    )
    tile_sizes = _parse_field(
        parser, "supported_tile_sizes", lambda: parse_list(parser, lambda: _parse_chip_grid(parser))
    )
    counts: dict[str, int] = {}
    for number, name in enumerate(_LATE_COUNTS):
        if number:
            expect(parser, ",")
        expect_keyword(parser, name)
        expect(parser, "=")
        counts[name] = parse_unsigned(parser)
    dram_grid: Coord | None = None
    workers: list[tuple[Coord, ...]] = [(), ()]
    if parser.parse_optional_punctuation(",") is not None:
        dram_grid = _parse_field(parser, "dram_grid", lambda: _parse_chip_grid(parser))
        for number in range(2):
            if number:
                expect(parser, ",")
            expect_keyword(parser, f"dram_bank_to_logical_worker_noc{number}")
            expect(parser, "=")
            workers[number] = _parse_unnamed_cores(parser)
    expect(parser, "}")
    channels = min(numbers["num_dram_channels"], limits.MAX_DRAM_CHANNELS)
    rows, columns = (min(extent, limits.MAX_GRID_EXTENT) for extent in grid)
    cores = cores_of_generation(arch, (rows, columns), channels)
    late = LateChip(
        coord_translation_offsets=offsets,
        dram_grid=dram_grid,
        dram_workers_noc0=workers[0],
        dram_workers_noc1=workers[1],
        **counts,
    )
    return ChipDesc(
        arch=arch,
        grid=grid,
        physical_cores=cores,
        supported_data_types=data_types,
        supported_tile_sizes=tile_sizes,
        late=late,
        **numbers,
    )


def _parse_chip(parser: AttrParser) -> ChipDesc:
    if parser.parse_optional_punctuation("<") is not None:
        return _parse_short_chip(parser)
    expect(parser, "{")
    arch = _parse_field(parser, "arch", lambda: parse_nested(parser, ArchAttr).data)
    grid = _parse_field(parser, "grid", lambda: _parse_chip_grid(parser))
    if parser.parse_optional_keyword("coord_translation_offsets") is not None:
        return _parse_late_chip(parser, arch, grid)
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
        late=None,
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


def _parse_pair(parser: AttrParser) -> Coord:
    y = parse_signed(parser)
    return y, _after_comma(parser, parse_signed)


def _parse_core(parser: AttrParser) -> Coord:
    """`(y, x)`, or a core as it stands alone."""
    if parser.lexer.input.content.startswith(("<", "#"), parser.pos):
        return parse_nested(parser, CoreCoordAttr).data
    expect(parser, "(")
    core = _parse_pair(parser)
    expect(parser, ")")
    return core


def _parse_unnamed_cores(parser: AttrParser) -> tuple[Coord, ...]:
    if parser.lexer.input.content.startswith("[]", parser.pos):
        expect(parser, "[")
        expect(parser, "]")
        return ()
    return parse_list(parser, lambda: _parse_core(parser))


def _parse_cores(parser: AttrParser) -> PhysicalCores:
    expect(parser, "{")
    expect_keyword(parser, "worker")
    physical_cores = _parse_named_cores(parser)
    expect(parser, "}")
    return physical_cores


def _parse_named_cores(parser: AttrParser) -> PhysicalCores:
    """The lists of cores after the name of the first."""

    def cores() -> tuple[Coord, ...]:
        expect(parser, "=")
        return parse_list(parser, lambda: _parse_core(parser))

    def optional_cores(kind: str) -> tuple[Coord, ...]:
        return () if parser.parse_optional_keyword(kind) is None else cores()

    worker = cores()
    expect_keyword(parser, "dram")
    dram = cores()
    eth = optional_cores("eth")
    idle = optional_cores("eth_inactive")
    return PhysicalCores(worker=worker, dram=dram, eth=eth, eth_inactive=idle)


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


def _late_chip_text(chip: ChipDesc, late: LateChip) -> str:
    fields = {
        "arch": f"<{chip.arch.keyword}>",
        "grid": shape_text(chip.grid),
        "coord_translation_offsets": shape_text(late.coord_translation_offsets),
        **{name: str(getattr(chip, name)) for name in _CHIP_NUMBERS},
        "supported_data_types": _list_text(f"<{t.keyword}>" for t in chip.supported_data_types),
        "supported_tile_sizes": _list_text(f" {y}x{x}" for y, x in chip.supported_tile_sizes),
        **{name: str(getattr(late, name)) for name in _LATE_COUNTS},
    }
    if late.dram_grid is not None:
        fields["dram_grid"] = shape_text(late.dram_grid)
        for number, cores in enumerate((late.dram_workers_noc0, late.dram_workers_noc1)):
            fields[f"dram_bank_to_logical_worker_noc{number}"] = _list_text(map(_core_text, cores))
    return "{" + ", ".join(f"{name} = {text}" for name, text in fields.items()) + "}"


def _cpu_text(cpu: CpuDesc) -> str:
    return f'{{role = {cpu.role}, target_triple = "{cpu.target_triple}"}}'


def _late_chip_coord_text(coord: ChipCoord) -> str:
    return f" {coord.rack}x{coord.shelf}x{coord.y}x{coord.x}"


def _chip_text(chip: ChipDesc) -> str:
    if chip.late is not None:
        return _late_chip_text(chip, chip.late)
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


# --- Device ---------------------------------------------------------------------------------------

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
        dram_grid: tuple[int, ...] | None = None
        if parser.parse_optional_keyword("dramGrid") is not None:
            expect(parser, "=")
            dram_grid = parse_nested(parser, GridAttr).shape
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
        topology: tuple[Topology, ...] = ()
        if parser.parse_optional_punctuation(",") is not None:
            _expect_name(parser, "meshTopology")
            topology = parse_list(
                parser, lambda: parse_keyword(parser, Topology, "::mlir::tt::ttcore::Topology")
            )
        expect(parser, ">")
        with verify_at(parser, position):
            if maps is None:
                return DeviceView.on_grid(grid.data, mesh_shape, chip_ids)
            return DeviceView(grid.data, *maps, mesh_shape, chip_ids, dram_grid, topology)

    def print_parameter(self, printer: Printer) -> None:
        """Write what `parse_parameter` reads."""
        device = self.data
        name = spelled(printer, GridAttr.name)
        grid = f"workerGrid = #{name}<{device.worker_grid}>"
        if device.dram_grid is not None:
            grid += f", dramGrid = #{name}<{shape_text(device.dram_grid)}>"
        topology = ", ".join(each.keyword for each in device.topology)
        printer.print_string(
            f"<{grid}, l1Map = {device.l1_map}, dramMap = {device.dram_map}, "
            f"meshShape = {shape_text(device.mesh_shape)}, "
            f"chipIds = [{', '.join(map(str, device.chip_ids))}]"
            + (f", meshTopology = [{topology}]>" if topology else ">")
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
