"""Chips and systems of chips, as the compiler sees them."""

from __future__ import annotations

from dataclasses import dataclass, field

from ttmlir import limits
from ttmlir.layout.enums import STORED_DATA_TYPES, Arch, ChipCapability, DataType, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.arch import WORMHOLE, Coord

SUPPORTED_TILE_SIZES: tuple[Coord, ...] = ((4, 16), (16, 16), (32, 16), (4, 32), (16, 32), (32, 32))
"""Heights and widths of the tiles that the matrix unit takes."""


@dataclass(frozen=True, kw_only=True)
class PhysicalCores:
    """Physical (y, x) of the cores of a chip by their kind, in order of the logical cores."""

    worker: tuple[Coord, ...]
    dram: tuple[Coord, ...]
    eth: tuple[Coord, ...] = ()
    eth_inactive: tuple[Coord, ...] = ()


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
        l1_unreserved_base=1024,
        erisc_l1_unreserved_base=1024,
        dram_unreserved_base=1024,
        dram_unreserved_end=WORMHOLE.dram_channel_size,
        physical_cores=cores,
    )
    return SystemDesc(
        chip_descs=(chip,), chip_desc_indices=(0,), chip_capabilities=(int(HOST_CONNECTED),)
    )
