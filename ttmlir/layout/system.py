"""The system: architectures, chips and their boards."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ttmlir import limits, machine
from ttmlir.layout.enums import STORED_DATA_TYPES, Arch, ChipCapability, DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.machine.boards import BOARDS, Board, Links
from ttmlir.machine.figures import ChipFigures, Coord

# --- Arch -----------------------------------------------------------------------------------------
# Generations of chips: the numbers that all boards of a generation share.

__all__ = ["BLACKHOLE", "WORMHOLE", "ArchSpec", "Coord", "arch_spec"]


@dataclass(frozen=True, kw_only=True)
class ArchSpec(ChipFigures):
    """One generation of chips; sizes and alignments in bytes, positions as (y, x)."""

    arch: Arch


WORMHOLE = ArchSpec(arch=Arch.WORMHOLE_B0, **machine.WORMHOLE.chip.numbers())
BLACKHOLE = ArchSpec(arch=Arch.BLACKHOLE, **machine.BLACKHOLE.chip.numbers())

_SPECS = {spec.arch: spec for spec in (WORMHOLE, BLACKHOLE)}


def arch_spec(arch: Arch) -> ArchSpec:
    """The numbers of a generation; LayoutError for one that is not modelled."""
    if arch not in _SPECS:
        known = " or ".join(each.keyword for each in _SPECS)
        raise LayoutError(f"there are no numbers for chips of {arch.keyword}; use {known}")
    return _SPECS[arch]


# --- Chip -----------------------------------------------------------------------------------------
# Chips and systems of chips, as the compiler sees them.

SUPPORTED_TILE_SIZES = WORMHOLE.tile_sizes
"""Heights and widths of the tiles that the matrix unit takes."""


@dataclass(frozen=True, kw_only=True)
class PhysicalCores:
    """Physical (y, x) of the cores of a chip by their kind, in order of the logical cores."""

    worker: tuple[Coord, ...]
    dram: tuple[Coord, ...]
    eth: tuple[Coord, ...] = ()
    eth_inactive: tuple[Coord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LateChip:
    """What descriptions of chips say since 2025 instead of the places of cores."""

    coord_translation_offsets: Coord
    dst_physical_size_tiles: int
    num_cbs: int
    num_compute_threads: int
    num_datamovement_threads: int
    dram_grid: Coord | None = None
    """Since 2026, as what follows: banks of DRAM, and the worker (x, y) nearest to each by
    network."""
    dram_workers_noc0: tuple[Coord, ...] = ()
    dram_workers_noc1: tuple[Coord, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CpuDesc:
    """A processor of the host, or of a device."""

    role: str
    """`host` or `device`."""
    target_triple: str


@dataclass(frozen=True, kw_only=True)
class ChipDesc:
    """One chip; sizes, alignments and addresses in bytes."""

    arch: Arch
    grid: Coord
    """Rows and columns of worker cores."""
    l1_size: int
    num_dram_channels: int
    dram_channel_size: int
    noc_l1_address_align_bytes: int
    pcie_address_align_bytes: int
    noc_dram_address_align_bytes: int
    l1_unreserved_base: int
    erisc_l1_unreserved_base: int
    dram_unreserved_base: int
    dram_unreserved_end: int
    physical_cores: PhysicalCores
    supported_data_types: tuple[DataType, ...] = STORED_DATA_TYPES
    supported_tile_sizes: tuple[Coord, ...] = SUPPORTED_TILE_SIZES
    late: LateChip | None = None

    def check(self) -> None:
        """Raise LayoutError for a chip that is larger than any that could be built."""
        bounds = (
            ("rows of worker cores", self.grid[0], limits.MAX_GRID_EXTENT),
            ("columns of worker cores", self.grid[1], limits.MAX_GRID_EXTENT),
            ("bytes of L1", self.l1_size, limits.MAX_L1_SIZE),
            ("channels of DRAM", self.num_dram_channels, limits.MAX_DRAM_CHANNELS),
            ("bytes in a channel of DRAM", self.dram_channel_size, limits.MAX_DRAM_CHANNEL_SIZE),
            ("bytes of L1 to align to", self.noc_l1_address_align_bytes, limits.MAX_L1_SIZE),
            ("bytes of DRAM to align to", self.noc_dram_address_align_bytes, limits.MAX_L1_SIZE),
        )
        for what, number, most in bounds:
            if not 1 <= number <= most:
                raise LayoutError(f"a chip has {number} {what}; supported are 1 to {most}")

    @property
    def usable_l1_size(self) -> int:
        """Bytes of one core's L1 that tensors may use."""
        return self.l1_size - self.l1_unreserved_base

    @property
    def usable_dram_channel_size(self) -> int:
        """Bytes of one DRAM channel that tensors may use."""
        return self.dram_unreserved_end - self.dram_unreserved_base

    def address_alignment(self, space: MemorySpace | None = None) -> int:
        """What addresses in a memory are multiples of; in all of them if none is given."""
        alignments = {
            MemorySpace.SYSTEM: 1,
            MemorySpace.SYSTEM_MMIO: self.pcie_address_align_bytes,
            MemorySpace.DEVICE_DRAM: self.noc_dram_address_align_bytes,
            MemorySpace.DEVICE_L1: self.noc_l1_address_align_bytes,
            MemorySpace.REGISTER_DST: 1,
        }
        return max(alignments.values()) if space is None else alignments[space]

    def align(self, address: int, space: MemorySpace) -> int:
        """The first address from `address` on that a buffer in this memory may have."""
        alignment = self.address_alignment(space)
        return -(-address // alignment) * alignment


@dataclass(frozen=True, kw_only=True)
class ChipCoord:
    """Where a chip is in a data centre."""

    rack: int = 0
    shelf: int = 0
    y: int = 0
    x: int = 0


@dataclass(frozen=True, kw_only=True)
class ChipChannel:
    """An Ethernet link between two chips: logical (y, x) of the Ethernet core on each side."""

    device_id0: int
    ethernet_core_coord0: Coord
    device_id1: int
    ethernet_core_coord1: Coord


@dataclass(frozen=True, kw_only=True)
class SystemDesc:
    """All chips of a system.

    Chip i is described by `chip_descs[chip_desc_indices[i]]`; chips of one kind may share a
    description.
    """

    chip_descs: tuple[ChipDesc, ...]
    chip_desc_indices: tuple[int, ...]
    chip_capabilities: tuple[int, ...]
    """Bits of `ChipCapability` for each chip."""
    chip_coords: tuple[ChipCoord, ...] = field(default=(ChipCoord(),))
    chip_channels: tuple[ChipChannel, ...] = ()
    cpus: tuple[CpuDesc, ...] = ()
    """Said since 2025 only."""

    def check(self) -> None:
        """Raise LayoutError if there is no chip, or none of that description, or one too large."""
        if not self.chip_descs or not self.chip_desc_indices:
            raise LayoutError(
                f"the system has {self.num_chips} chips and {len(self.chip_descs)} descriptions "
                "of chips; it needs at least one of both"
            )
        if max(self.num_chips, len(self.chip_descs)) > limits.MAX_CHIPS:
            raise LayoutError(f"the system has more than {limits.MAX_CHIPS} chips")
        for chip_id in range(self.num_chips):
            self.chip(chip_id)
        for chip in self.chip_descs:
            chip.check()

    @property
    def num_chips(self) -> int:
        """The number of chips."""
        return len(self.chip_desc_indices)

    def chip(self, chip_id: int) -> ChipDesc:
        """The description of a chip; LayoutError if the system has no such chip."""
        if not 0 <= chip_id < self.num_chips:
            raise LayoutError(f"chip {chip_id} is not one of the {self.num_chips} of the system")
        index = self.chip_desc_indices[chip_id]
        if not 0 <= index < len(self.chip_descs):
            raise LayoutError(
                f"chip {chip_id} has description {index}, "
                f"but the system holds {len(self.chip_descs)}"
            )
        return self.chip_descs[index]


HOST_CONNECTED = ChipCapability.PCIE | ChipCapability.HOST_MMIO
"""Capability of a chip that the host reaches through PCIe."""


def worker_cores(rows: int, columns: int) -> tuple[Coord, ...]:
    """The cores of a grid in row-major order, numbered from (0, 0)."""
    return tuple((y, x) for y in range(rows) for x in range(columns))


def cores_of_generation(arch: Arch, grid: Coord, dram_channels: int) -> PhysicalCores:
    """Where the cores of a chip are that says no more of them than how many there are.

    The workers are the first ones of the generation; of one that is not known, or has fewer, they
    are numbered from (0, 0), with the channels of DRAM below.
    """
    spec = _SPECS.get(arch)
    rows, columns = grid
    if (
        spec is None
        or rows > len(spec.worker_rows)
        or columns > len(spec.worker_columns)
        or dram_channels > len(spec.dram)
    ):
        return PhysicalCores(
            worker=worker_cores(rows, columns), dram=tuple((rows, x) for x in range(dram_channels))
        )
    return PhysicalCores(
        worker=tuple(
            (y, x) for y in spec.worker_rows[:rows] for x in spec.worker_columns[:columns]
        ),
        dram=spec.dram[:dram_channels],
    )


def default_system_desc() -> SystemDesc:
    """The system that is assumed where none is given: one Wormhole chip.

    The numbers are those of tt-mlir's SystemDescAttr::getDefault, which reserves less of L1 than
    firmware takes. The positions of its cores are a stand-in: the workers are numbered from (0, 0),
    the DRAM cores from (8, 0).
    """
    rows, columns = 8, 8
    cores = PhysicalCores(
        worker=worker_cores(rows, columns),
        dram=tuple((y, x) for x in range(4) for y in range(rows, rows + 3)),
    )
    chip = ChipDesc(
        arch=WORMHOLE.arch,
        grid=(rows, columns),
        l1_size=WORMHOLE.l1_size,
        num_dram_channels=len(WORMHOLE.dram),
        dram_channel_size=WORMHOLE.dram_channel_size,
        noc_l1_address_align_bytes=WORMHOLE.l1_alignment,
        pcie_address_align_bytes=WORMHOLE.pcie_alignment,
        noc_dram_address_align_bytes=WORMHOLE.dram_read_alignment,
        l1_unreserved_base=WORMHOLE.reserved,
        erisc_l1_unreserved_base=WORMHOLE.reserved,
        dram_unreserved_base=WORMHOLE.reserved,
        dram_unreserved_end=WORMHOLE.dram_channel_size,
        physical_cores=cores,
    )
    return SystemDesc(
        chip_descs=(chip,), chip_desc_indices=(0,), chip_capabilities=(int(HOST_CONNECTED),)
    )


# --- System tables --------------------------------------------------------------------------------
# Systems of chips as tables of the flatbuffer schema (Common/types.fbs).
#
# A table is a mapping from field names to values: a dict that can be packed, or a view of a file.
# Structs are tuples in the order of their fields.

Table = Mapping[str, Any]

CHIP_NUMBERS = (
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
_CORE_KINDS = ("worker", "dram", "eth", "eth_inactive")


def system_desc_to_table(system: SystemDesc) -> dict[str, Any]:
    """The `SystemDesc` table of a system; every vector is there, also if it is empty."""
    return {
        "chip_descs": [_chip_to_table(chip) for chip in system.chip_descs],
        "chip_desc_indices": system.chip_desc_indices,
        "chip_capabilities": system.chip_capabilities,
        **connections_to_table(system),
    }


def connections_to_table(system: SystemDesc) -> dict[str, Any]:
    """Where chips stand and how they are linked, as fields of a `SystemDesc` table."""
    return {
        "chip_coords": [(c.rack, c.shelf, c.y, c.x) for c in system.chip_coords],
        "chip_channels": [
            (c.device_id0, c.ethernet_core_coord0, c.device_id1, c.ethernet_core_coord1)
            for c in system.chip_channels
        ],
    }


def _chip_to_table(chip: ChipDesc) -> dict[str, Any]:
    cores = chip.physical_cores
    return {
        "arch": chip.arch.schema_name,
        "grid_size": chip.grid,
        **{name: getattr(chip, name) for name in CHIP_NUMBERS},
        "physical_cores": {kind: getattr(cores, kind) for kind in _CORE_KINDS},
        "supported_data_types": [
            kind.schema_name for kind in chip.supported_data_types if kind in STORED_DATA_TYPES
        ],
        "supported_tile_sizes": chip.supported_tile_sizes,
    }


def system_desc_from_table(table: Table) -> SystemDesc:
    """The system that a `SystemDesc` table holds.

    LayoutError names the field that is missing, or says why there is no such system.
    """
    chips = required(table, "chip_descs", "SystemDesc")
    system = SystemDesc(
        chip_descs=tuple(_chip_from_table(chip) for chip in chips),
        chip_desc_indices=tuple(required(table, "chip_desc_indices", "SystemDesc")),
        chip_capabilities=tuple(
            _capability(names) for names in required(table, "chip_capabilities", "SystemDesc")
        ),
        chip_coords=coords_from_table(table),
        chip_channels=channels_from_table(table),
    )
    system.check()
    return system


def coords_from_table(table: Table) -> tuple[ChipCoord, ...]:
    """Where the chips of a `SystemDesc` table stand."""
    return tuple(
        ChipCoord(rack=rack, shelf=shelf, y=y, x=x)
        for rack, shelf, y, x in required(table, "chip_coords", "SystemDesc")
    )


def channels_from_table(table: Table) -> tuple[ChipChannel, ...]:
    """The links between the chips of a `SystemDesc` table."""
    return tuple(
        ChipChannel(
            device_id0=id0,
            ethernet_core_coord0=as_coord(core0),
            device_id1=id1,
            ethernet_core_coord1=as_coord(core1),
        )
        for id0, core0, id1, core1 in table.get("chip_channels") or ()
    )


def _chip_from_table(table: Table) -> ChipDesc:
    cores: Table = required(table, "physical_cores", "ChipDesc")
    data_types = required(table, "supported_data_types", "ChipDesc")
    return ChipDesc(
        arch=Arch.from_schema_name(table["arch"]),
        grid=as_coord(required(table, "grid_size", "ChipDesc")),
        physical_cores=PhysicalCores(
            worker=as_coords(required(cores, "worker", "ChipPhysicalCores")),
            dram=as_coords(required(cores, "dram", "ChipPhysicalCores")),
            eth=as_coords(cores.get("eth") or ()),
            eth_inactive=as_coords(cores.get("eth_inactive") or ()),
        ),
        supported_data_types=tuple(DataType.from_schema_name(name) for name in data_types),
        supported_tile_sizes=as_coords(required(table, "supported_tile_sizes", "ChipDesc")),
        **{name: table[name] for name in CHIP_NUMBERS},
    )


def required(table: Table, name: str, type: str) -> Any:
    """A field of a table; LayoutError, which names it, if it is not there."""
    content = table.get(name)
    if content is None:
        raise LayoutError(f"the system description lacks the field {type}.{name}")
    return content


def _capability(value: str | int) -> int:
    """Bits of flags, which are names with blanks between them or a number."""
    if isinstance(value, int):
        return value
    return sum(ChipCapability.from_schema_name(name) for name in value.split())


def as_coord(value: Any) -> Coord:
    """A pair of a table."""
    y, x = value
    return y, x


def as_coords(values: Any) -> tuple[Coord, ...]:
    """Pairs of a table."""
    return tuple(as_coord(value) for value in values)


# --- Boards ---------------------------------------------------------------------------------------
# Boards by name: the systems that real cards make, as `ttmlir.machine.boards` has them.
#
# DRAM that is reserved for the system is that of the default system.

DEFAULT_BOARD = "default"
_BY_NAME = {board.name: board for board in BOARDS}
BOARD_NAMES = (DEFAULT_BOARD, *_BY_NAME)
"""`default` (the assumed system), the cards n150, n300 (two chips), p100 and p150 (Blackhole), and
the systems t3000 (four n300) and galaxy (32 chips)."""


def board(name: str) -> SystemDesc:
    """The system with this name; LayoutError for other names."""
    if name == DEFAULT_BOARD:
        return default_system_desc()
    if name not in _BY_NAME:
        raise LayoutError(f"unknown board '{name}'; known are {', '.join(BOARD_NAMES)}")
    return _describe(_BY_NAME[name])


def larger_boards(chips: int) -> tuple[str, ...]:
    """The names of the boards that have so many chips, or more."""
    return tuple(each.name for each in BOARDS if math.prod(each.mesh) >= chips)


def _describe(board: Board) -> SystemDesc:
    rows, columns = board.mesh
    coords = [(row, column) for row in range(rows) for column in range(columns)]
    channels: list[ChipChannel] = []
    for chip, (row, column) in enumerate(coords):
        if column + 1 < columns:
            channels += _link(chip, chip + 1, board.right)
        if row + 1 < rows:
            channels += _link(chip, chip + columns, board.below)
        if board.is_torus and column + 1 == columns:
            channels += _link(chip - column, chip, board.right.reversed)
        if board.is_torus and row + 1 == rows:
            channels += _link(column, chip, board.below.reversed)
    host_rows, host_columns = board.on_host
    return SystemDesc(
        chip_descs=tuple(
            _describe_chip(board, _active(chip, channels)) for chip in range(len(coords))
        ),
        chip_desc_indices=tuple(range(len(coords))),
        chip_capabilities=tuple(
            int(HOST_CONNECTED) if row < host_rows and column < host_columns else 0
            for row, column in coords
        ),
        chip_coords=tuple(ChipCoord(y=row, x=column) for row, column in coords),
        chip_channels=tuple(channels),
    )


def _describe_chip(board: Board, active_ethernet: frozenset[int]) -> ChipDesc:
    """A chip; `active_ethernet` are the channels with a link."""
    spec = arch_spec(Arch.from_keyword(board.generation.name))
    rows, columns = board.grid
    return ChipDesc(
        arch=spec.arch,
        grid=board.grid,
        l1_size=spec.l1_size,
        num_dram_channels=board.dram_channels,
        dram_channel_size=spec.dram_channel_size,
        noc_l1_address_align_bytes=spec.l1_alignment,
        pcie_address_align_bytes=spec.pcie_alignment,
        noc_dram_address_align_bytes=max(spec.dram_read_alignment, spec.dram_write_alignment),
        l1_unreserved_base=spec.firmware.end,
        erisc_l1_unreserved_base=spec.reserved,
        dram_unreserved_base=spec.reserved,
        dram_unreserved_end=spec.dram_channel_size,
        physical_cores=PhysicalCores(
            worker=tuple(
                (y, x) for y in spec.worker_rows[:rows] for x in spec.worker_columns[:columns]
            ),
            dram=spec.dram[: board.dram_channels],
            eth=tuple(spec.ethernet[channel] for channel in sorted(active_ethernet)),
            eth_inactive=tuple(
                core for channel, core in enumerate(spec.ethernet) if channel not in active_ethernet
            ),
        ),
    )


def _link(chip: int, neighbour: int, links: Links) -> list[ChipChannel]:
    # The logical coordinate of an Ethernet core is (0, channel).
    return [
        ChipChannel(
            device_id0=chip,
            ethernet_core_coord0=(0, here),
            device_id1=neighbour,
            ethernet_core_coord1=(0, there),
        )
        for here, there in zip(links.here, links.there, strict=True)
    ]


def _active(chip: int, channels: list[ChipChannel]) -> frozenset[int]:
    ends = [(end.device_id0, end.ethernet_core_coord0) for end in channels]
    ends += [(end.device_id1, end.ethernet_core_coord1) for end in channels]
    return frozenset(channel for device, (_, channel) in ends if device == chip)
