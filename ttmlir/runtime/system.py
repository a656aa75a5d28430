"""System descriptions as flatbuffer tables: made from chip descriptions, stored, compared."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ttmlir.runtime.errors import BinaryError
from ttmlir.version import EMULATED_TTMLIR_HASH, EMULATED_TTMLIR_VERSION

if TYPE_CHECKING:
    from ttmlir.layout.chip import ChipChannel, ChipCoord, ChipDesc, SystemDesc
    from ttmlir.schema import TableView

Table = Mapping[str, Any]
_Dict = dict[str, Any]
_List = list[Any]

_SCHEMA = "Common/system_desc.fbs"
_SAME_NAME = (
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


def system_table(system: SystemDesc) -> dict[str, Any]:
    """The `SystemDesc` table of a system, ready to be packed."""
    return {
        "chip_descs": [_chip_table(chip) for chip in system.chip_descs],
        "chip_desc_indices": list(system.chip_desc_indices),
        "chip_capabilities": [int(bits) for bits in system.chip_capabilities],
        "chip_coords": [_coord(coord) for coord in system.chip_coords],
        "chip_channels": [_channel(channel) for channel in system.chip_channels],
    }


def _chip_table(chip: ChipDesc) -> dict[str, Any]:
    cores = chip.physical_cores
    return {
        "arch": chip.arch.schema_name,
        "grid_size": chip.grid,
        **{name: getattr(chip, name) for name in _SAME_NAME},
        "physical_cores": {kind: list(getattr(cores, kind)) for kind in _CORE_KINDS},
        "supported_data_types": [kind.schema_name for kind in chip.supported_data_types],
        "supported_tile_sizes": list(chip.supported_tile_sizes),
    }


def _coord(coord: ChipCoord) -> tuple[int, int, int, int]:
    return (coord.rack, coord.shelf, coord.y, coord.x)


def _channel(channel: ChipChannel) -> tuple[Any, ...]:
    return (
        channel.device_id0,
        channel.ethernet_core_coord0,
        channel.device_id1,
        channel.ethernet_core_coord1,
    )


def pack_system_desc(system: Table, product_identifier: str = "unknown") -> bytes:
    """Bytes of a `.ttsys` file with the `SystemDesc` table given."""
    from ttmlir.schema import load_schema

    return load_schema(_SCHEMA).pack(
        {
            "version": EMULATED_TTMLIR_VERSION,
            "ttmlir_git_hash": EMULATED_TTMLIR_HASH,
            "product_identifier": product_identifier,
            "system_desc": system,
        }
    )


def load_system_desc(path: str | os.PathLike[str]) -> TableView:
    """The root table of a `.ttsys` file; BinaryError if it cannot be read or is something else."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise BinaryError(f"{os.fspath(path)}: {error.strerror}") from error
    return read_system_desc(data, os.fspath(path))


def read_system_desc(data: bytes, source: str) -> TableView:
    """The root table of a `.ttsys` file from its bytes; `source` names them in messages."""
    from ttmlir.runtime.binary import check_kind
    from ttmlir.schema import FlatbufferError, load_schema

    check_kind(data, source, b"TTSY")
    try:
        root = load_schema(_SCHEMA).read(data, source)
    except FlatbufferError as error:
        raise BinaryError(str(error)) from error
    if root["system_desc"] is None:
        raise BinaryError(f"{source}: field 'system_desc' is missing")
    return root


def plain_system(system: Table) -> dict[str, Any]:
    """A `SystemDesc` table as plain values, defaults included, whichever way it was made."""
    from ttmlir.schema import TableView, load_schema

    if not isinstance(system, TableView):
        root = load_schema(_SCHEMA).read(pack_system_desc(system))
        system = root["system_desc"]
    assert isinstance(system, TableView), "a packed description reads as a table"
    return system.as_dict()


def system_differences(expected: Table, actual: Table) -> list[str]:
    """Where two `SystemDesc` tables differ, one line per field; empty if they are equal."""
    return _differences("system_desc", plain_system(expected), plain_system(actual))


def _differences(path: str, expected: Any, actual: Any) -> list[str]:
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _dict_differences(path, cast(_Dict, expected), cast(_Dict, actual))
    if isinstance(expected, list) and isinstance(actual, list):
        return _list_differences(path, cast(_List, expected), cast(_List, actual))
    return [] if expected == actual else [f"{path}: expected {expected}, got {actual}"]


def _dict_differences(path: str, expected: _Dict, actual: _Dict) -> list[str]:
    lines: list[str] = []
    for key in (*expected, *(key for key in actual if key not in expected)):
        lines += _differences(f"{path}.{key}", expected.get(key), actual.get(key))
    return lines


def _list_differences(path: str, expected: _List, actual: _List) -> list[str]:
    if len(expected) != len(actual):
        return [f"{path}: expected {len(expected)} entries, got {len(actual)}"]
    lines: list[str] = []
    for i, (one, other) in enumerate(zip(expected, actual, strict=True)):
        lines += _differences(f"{path}[{i}]", one, other)
    return lines
