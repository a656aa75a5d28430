"""Systems of chips as tables of the flatbuffer schema (Common/types.fbs).

A table is a mapping from field names to values: a dict that can be packed, or a view of a file.
Structs are tuples in the order of their fields.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ttmlir.layout.enums import Arch, ChipCapability, DataType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.chip import (
    ChipChannel,
    ChipCoord,
    ChipDesc,
    Coord,
    PhysicalCores,
    SystemDesc,
)

Table = Mapping[str, Any]

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
_CORE_KINDS = ("worker", "dram", "eth", "eth_inactive")


def system_desc_to_table(system: SystemDesc) -> dict[str, Any]:
    """The `SystemDesc` table of a system; every vector is there, also if it is empty."""
    return {
        "chip_descs": [_chip_to_table(chip) for chip in system.chip_descs],
        "chip_desc_indices": system.chip_desc_indices,
        "chip_capabilities": system.chip_capabilities,
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
        **{name: getattr(chip, name) for name in _CHIP_NUMBERS},
        "physical_cores": {kind: getattr(cores, kind) for kind in _CORE_KINDS},
        "supported_data_types": [kind.schema_name for kind in chip.supported_data_types],
        "supported_tile_sizes": chip.supported_tile_sizes,
    }


def system_desc_from_table(table: Table) -> SystemDesc:
    """The system that a `SystemDesc` table holds.

    LayoutError names the field that is missing, or says why there is no such system.
    """
    chips = _require(table, "chip_descs", "SystemDesc")
    channels = table.get("chip_channels") or ()
    system = SystemDesc(
        chip_descs=tuple(_chip_from_table(chip) for chip in chips),
        chip_desc_indices=tuple(_require(table, "chip_desc_indices", "SystemDesc")),
        chip_capabilities=tuple(
            _capability(names) for names in _require(table, "chip_capabilities", "SystemDesc")
        ),
        chip_coords=tuple(
            ChipCoord(rack=rack, shelf=shelf, y=y, x=x)
            for rack, shelf, y, x in _require(table, "chip_coords", "SystemDesc")
        ),
        chip_channels=tuple(
            ChipChannel(
                device_id0=id0,
                ethernet_core_coord0=_coord(core0),
                device_id1=id1,
                ethernet_core_coord1=_coord(core1),
            )
            for id0, core0, id1, core1 in channels
        ),
    )
    system.check()
    return system


def _chip_from_table(table: Table) -> ChipDesc:
    cores: Table = _require(table, "physical_cores", "ChipDesc")
    data_types = _require(table, "supported_data_types", "ChipDesc")
    return ChipDesc(
        arch=Arch.from_schema_name(table["arch"]),
        grid=_coord(_require(table, "grid_size", "ChipDesc")),
        physical_cores=PhysicalCores(
            worker=_coords(_require(cores, "worker", "ChipPhysicalCores")),
            dram=_coords(_require(cores, "dram", "ChipPhysicalCores")),
            eth=_coords(cores.get("eth") or ()),
            eth_inactive=_coords(cores.get("eth_inactive") or ()),
        ),
        supported_data_types=tuple(DataType.from_schema_name(name) for name in data_types),
        supported_tile_sizes=_coords(_require(table, "supported_tile_sizes", "ChipDesc")),
        **{name: table[name] for name in _CHIP_NUMBERS},
    )


def _require(table: Table, name: str, type: str) -> Any:
    content = table.get(name)
    if content is None:
        raise LayoutError(f"the system description lacks the field {type}.{name}")
    return content


def _capability(value: str | int) -> int:
    """Bits of flags, which are names with blanks between them or a number."""
    if isinstance(value, int):
        return value
    return sum(ChipCapability.from_schema_name(name) for name in value.split())


def _coord(value: Any) -> Coord:
    y, x = value
    return y, x


def _coords(values: Any) -> tuple[Coord, ...]:
    return tuple(_coord(value) for value in values)
