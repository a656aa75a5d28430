"""Machines and devices as tt-mlir has described them since 2026.

    #ttcore.system_desc<[{role = host, target_triple = "x86_64-pc-linux"}], [{arch = <blackhole>,
        grid = 10x13, coord_translation_offsets = 2x1, ..., dram_grid = 1x8, ...}], [0], [1 : i32],
        [ 0x0x0x0]>

Boards whose description of 2026 is known have it; those of other boards, and of files, say what
they say in 2024's words, and as much of 2026's as follows from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

from ttmlir.layout.affine import (
    AffineExpr,
    AffineKind,
    AffineMap,
    BinaryExpr,
    constant,
    dim,
    symbol,
)
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import Arch, ChipCapability, DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import (
    CHIP_NUMBERS,
    DEFAULT_BOARD,
    HOST_CONNECTED,
    ChipDesc,
    CpuDesc,
    LateChip,
    PhysicalCores,
    SystemDesc,
    Table,
    as_coord,
    as_coords,
    board,
    channels_from_table,
    connections_to_table,
    coords_from_table,
    cores_of_generation,
    required,
    system_desc_from_table,
    system_desc_to_table,
)
from ttmlir.layout.tensor_layout import Grid
from ttmlir.limits import MAX_DRAM_CHANNELS, MAX_GRID_EXTENT
from ttmlir.machine.boards_2026 import BOARDS_2026, Board2026

_HOST = CpuDesc(role="host", target_triple="x86_64-pc-linux")
_DATA_TYPES = tuple(each for each in DataType if each is not DataType.I1)
_HOST_MMIO = 1
"""The host reaches the chip; 2024 has another bit for it."""
_TILE_SIZES = ((4, 16), (16, 16), (32, 16), (4, 32), (16, 32), (32, 32))
_BY_NAME = {each.name: each for each in BOARDS_2026}
_OFFSETS = {each.arch: each.coord_translation_offsets for each in BOARDS_2026}

BOARD_OF_ARCH = {Arch.WORMHOLE_B0: "n150", Arch.BLACKHOLE: "p150"}
"""The card that stands for a generation where no machine is described."""


def late_board(name: str) -> SystemDesc:
    """The system with this name; LayoutError for other names.

    `default` is what is assumed where no machine is described: a card, not a chip of 2024.
    """
    known = _BY_NAME.get(BOARD_OF_ARCH[Arch.WORMHOLE_B0] if name == DEFAULT_BOARD else name)
    if known is None:
        return describe_late(board(name))
    channels = len(known.dram_workers_noc0)
    chip = ChipDesc(
        arch=Arch.from_keyword(known.arch),
        grid=known.grid,
        l1_size=known.l1_size,
        num_dram_channels=channels,
        dram_channel_size=known.dram_channel_size,
        noc_l1_address_align_bytes=16,
        pcie_address_align_bytes=known.pcie_alignment,
        noc_dram_address_align_bytes=known.dram_alignment,
        l1_unreserved_base=known.l1_unreserved_base,
        erisc_l1_unreserved_base=known.erisc_l1_unreserved_base,
        dram_unreserved_base=known.dram_unreserved_base,
        dram_unreserved_end=known.dram_unreserved_end,
        physical_cores=cores_of_generation(Arch.from_keyword(known.arch), known.grid, channels),
        supported_data_types=_DATA_TYPES,
        supported_tile_sizes=_TILE_SIZES,
        late=_late_chip(known.arch, channels, known),
    )
    return SystemDesc(
        chip_descs=(chip,),
        chip_desc_indices=(0,),
        chip_capabilities=(_HOST_MMIO,),
        cpus=(_HOST,),
    )


def mock_system(arch: Arch, chips: int) -> SystemDesc:
    """So many cards with one chip of a generation; LayoutError for generations without a card."""
    name = BOARD_OF_ARCH.get(arch)
    if name is None:
        raise LayoutError(f"there is no machine with {arch.keyword}; use wormhole_b0 or blackhole")
    one = late_board(name)
    return replace(
        one,
        chip_desc_indices=(0,) * chips,
        chip_capabilities=one.chip_capabilities * chips,
        chip_coords=one.chip_coords * chips,
    )


def _late_chip(arch: str, channels: int, known: Board2026 | None = None) -> LateChip:
    return LateChip(
        coord_translation_offsets=_OFFSETS.get(arch, (0, 0)),
        dst_physical_size_tiles=16 if known is None else known.dst_tiles,
        num_cbs=64 if known is None else known.num_cbs,
        num_compute_threads=1,
        num_datamovement_threads=2,
        dram_grid=(1, channels),
        dram_workers_noc0=() if known is None else known.dram_workers_noc0,
        dram_workers_noc1=() if known is None else known.dram_workers_noc1,
    )


def describe_late(system: SystemDesc) -> SystemDesc:
    """A system in the words of 2026; places of cores are not among them."""
    capabilities = system.chip_capabilities
    if any(chip.late is None for chip in system.chip_descs):
        capabilities = tuple(
            _HOST_MMIO if each & ChipCapability.HOST_MMIO else 0 for each in capabilities
        )
    chips = tuple(
        chip
        if chip.late is not None
        else replace(
            chip,
            supported_data_types=_DATA_TYPES,
            late=_late_chip(chip.arch.keyword, chip.num_dram_channels),
        )
        for chip in system.chip_descs
    )
    return replace(
        system, chip_descs=chips, chip_capabilities=capabilities, cpus=system.cpus or (_HOST,)
    )


def plain_capabilities(capabilities: Sequence[int]) -> tuple[int, ...]:
    """What chips of a system of 2026 can do, in the bits of 2024."""
    return tuple(int(HOST_CONNECTED) if each & _HOST_MMIO else 0 for each in capabilities)


def data_type_name(data_type: DataType) -> str:
    """The name of a format in files of 2026, which know signed integers, too."""
    return _NAMES.get(data_type, data_type.schema_name)


_NAMES = {DataType.SI32: "Int32", DataType.I1: "Bool"}
_DATA_TYPES_BY_NAME = {data_type_name(each): each for each in DataType}
_LATE_NUMBERS = (
    "dst_physical_size_tiles num_cbs num_compute_threads num_datamovement_threads".split()
)


def late_system_to_table(system: SystemDesc) -> dict[str, Any]:
    """The `SystemDesc` table of a system of 2026."""
    return {
        "cpu_descs": [
            {"role": each.role.capitalize(), "target_triple": each.target_triple}
            for each in system.cpus
        ],
        "chip_descs": [_chip_to_table(chip) for chip in system.chip_descs],
        "chip_desc_indices": system.chip_desc_indices,
        "chip_capabilities": system.chip_capabilities,
        **connections_to_table(system),
    }


def _chip_to_table(chip: ChipDesc) -> dict[str, Any]:
    late = chip.late
    assert late is not None, "it is of 2026"
    return {
        "arch": chip.arch.schema_name,
        "grid_size": chip.grid,
        **{name: getattr(chip, name) for name in CHIP_NUMBERS},
        "coord_translation_offsets": late.coord_translation_offsets,
        **{name: getattr(late, name) for name in _LATE_NUMBERS},
        "supported_data_types": [data_type_name(kind) for kind in chip.supported_data_types],
        "supported_tile_sizes": chip.supported_tile_sizes,
        "dram_grid_size": late.dram_grid,
        "dram_bank_to_logical_worker_noc0": late.dram_workers_noc0,
        "dram_bank_to_logical_worker_noc1": late.dram_workers_noc1,
    }


def any_system_from_table(table: Table) -> SystemDesc:
    """The system that a `SystemDesc` table holds, of 2024 or of 2026, which describes hosts, too.

    Where cores are is not in a table of 2026: workers are numbered from (0, 0), DRAM stands in the
    row below.
    LayoutError names the field that is missing, or says why there is no such system.
    """
    if not _is_late(table):
        return system_desc_from_table(table)
    capabilities: Sequence[str | int] = required(table, "chip_capabilities", "SystemDesc")
    system = SystemDesc(
        chip_descs=tuple(map(_chip_from_table, required(table, "chip_descs", "SystemDesc"))),
        chip_desc_indices=tuple(required(table, "chip_desc_indices", "SystemDesc")),
        chip_capabilities=tuple(
            # Flags are names, and a number where bits have none.
            each if isinstance(each, int) else _HOST_MMIO * bool(each)
            for each in capabilities
        ),
        chip_coords=coords_from_table(table),
        chip_channels=channels_from_table(table),
        cpus=tuple(
            CpuDesc(role=each["role"].lower(), target_triple=each["target_triple"] or "")
            for each in table.get("cpu_descs") or ()
        ),
    )
    system.check()
    return system


def _is_late(table: Table) -> bool:
    chips: Sequence[Table] = table.get("chip_descs") or ()
    return "cpu_descs" in table or any("dram_grid_size" in chip for chip in chips)


def plain_table(table: Table) -> Table:
    """A `SystemDesc` table as one of 2024; LayoutError if it makes no sense."""
    if not _is_late(table):
        return table
    system = any_system_from_table(table)
    capabilities = plain_capabilities(system.chip_capabilities)
    return system_desc_to_table(system) | {"chip_capabilities": capabilities}


def _chip_from_table(table: Table) -> ChipDesc:
    grid, banks = (
        as_coord(required(table, name, "ChipDesc")) for name in ("grid_size", "dram_grid_size")
    )
    channels = banks[0] * banks[1]
    # What is larger than any chip is refused with the chip, not enumerated.
    is_possible = 0 < max(grid) <= MAX_GRID_EXTENT and 0 < channels <= MAX_DRAM_CHANNELS
    names: Sequence[str] = required(table, "supported_data_types", "ChipDesc")
    arch = Arch.from_schema_name(table["arch"])
    cores = (
        cores_of_generation(arch, grid, channels)
        if is_possible
        else PhysicalCores(worker=(), dram=())
    )
    return ChipDesc(
        arch=arch,
        grid=grid,
        physical_cores=cores,
        supported_data_types=tuple(
            _DATA_TYPES_BY_NAME[name] for name in names if name in _DATA_TYPES_BY_NAME
        ),
        supported_tile_sizes=as_coords(required(table, "supported_tile_sizes", "ChipDesc")),
        late=LateChip(
            coord_translation_offsets=as_coord(table["coord_translation_offsets"] or (0, 0)),
            **{name: table[name] for name in _LATE_NUMBERS},
            dram_grid=banks,
            dram_workers_noc0=as_coords(table["dram_bank_to_logical_worker_noc0"] or ()),
            dram_workers_noc1=as_coords(table["dram_bank_to_logical_worker_noc1"] or ()),
        ),
        **{name: table[name] for name in CHIP_NUMBERS},
    )


# --- Devices --------------------------------------------------------------------------------------


def late_device(
    system: SystemDesc, mesh_shape: Sequence[int], chip_ids: Sequence[int] | None = None
) -> DeviceView:
    """The device of a mesh of chips; LayoutError if the system has too few of them."""
    # The plain view checks the mesh and the chips.
    plain = DeviceView.from_system_desc(system, mesh_shape, chip_ids)
    chips = [system.chip(chip_id) for chip_id in plain.chip_ids]
    rows, columns = (min(chip.grid[axis] for chip in chips) for axis in (0, 1))
    banks = {chip.num_dram_channels for chip in chips}
    if len(banks) > 1:
        raise LayoutError("the chips of a device have the same number of channels of DRAM")
    channels = banks.pop()
    to_core = AffineMap(2, 0, (constant(0), dim(0), dim(1)))
    from_core = AffineMap(3, 0, (dim(1), dim(2)))
    return DeviceView(
        worker_grid=Grid((rows, columns), to_core, from_core),
        l1_map=AffineMap(3, 1, (constant(0), dim(0), dim(1), _of("+", dim(2), symbol(0)))),
        dram_map=_dram_map(channels),
        mesh_shape=plain.mesh_shape,
        chip_ids=plain.chip_ids,
        dram_grid=(1, channels),
    )


_KINDS = {
    "+": AffineKind.ADD,
    "*": AffineKind.MUL,
    "//": AffineKind.FLOORDIV,
    "%": AffineKind.MOD,
}


def _of(kind: str, *terms: AffineExpr) -> AffineExpr:
    """The terms combined as they stand, from the left: nothing is simplified."""
    return reduce(lambda lhs, rhs: BinaryExpr(_KINDS[kind], lhs, rhs), terms)


def _dram_map(channels: int) -> AffineMap:
    """Where an element is in DRAM: the symbols are the shard, the page and the base address."""
    s1, s2, s3, s4, s5, s6 = (symbol(number) for number in range(1, 7))
    shard = _of("*", s2, _of("*", s3, s6))
    address = _of(
        "+",
        _of("*", _of("*", dim(0), s1), shard),
        _of("*", dim(1), shard),
        dim(2),
    )
    page = _of("//", address, s4)
    channel = _of("%", page, constant(channels))
    rounds = _of("*", _of("//", page, constant(channels)), s4)
    in_channel = _of("+", rounds, _of("%", address, s4), s5)
    return AffineMap(3, 7, (constant(0), constant(0), channel, in_channel))
