"""Systems as tables of the flatbuffer schema."""

from __future__ import annotations

from typing import Any

import pytest

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import (
    ChipChannel,
    SystemDesc,
    default_system_desc,
    system_desc_from_table,
    system_desc_to_table,
)


def test_the_default_system_and_back() -> None:
    """Numbers, names and order of the default system's table, in which no vector is absent."""
    table = system_desc_to_table(default_system_desc())
    chip: dict[str, Any] = table["chip_descs"][0]
    assert (chip["arch"], chip["grid_size"], chip["l1_size"]) == ("Wormhole_b0", (8, 8), 1499136)
    assert chip["supported_data_types"][4:6] == ["BFP_BFloat8", "BFP_Float4"]
    assert chip["physical_cores"]["dram"][:4] == ((8, 0), (9, 0), (10, 0), (8, 1))
    assert chip["physical_cores"]["eth"] == ()
    assert (table["chip_capabilities"], table["chip_channels"]) == ((3,), [])
    assert system_desc_from_table(table) == default_system_desc()


def test_channels_and_capabilities() -> None:
    """Links keep their sides apart; flags may be names."""
    chip = default_system_desc().chip_descs[0]
    channel = ChipChannel(
        device_id0=0, ethernet_core_coord0=(1, 2), device_id1=1, ethernet_core_coord1=(3, 4)
    )
    system = SystemDesc(
        chip_descs=(chip,),
        chip_desc_indices=(0, 0),
        chip_capabilities=(3, 0),
        chip_channels=(channel,),
    )
    table = system_desc_to_table(system)
    assert table["chip_channels"] == [(0, (1, 2), 1, (3, 4))]
    table["chip_capabilities"] = ["PCIE HostMMIO", 0]
    assert system_desc_from_table(table) == system


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ((), "SystemDesc.chip_desc_indices"),
        (("chip_descs", 0), "ChipDesc.grid_size"),
        (("chip_descs", 0, "physical_cores"), "ChipPhysicalCores.dram"),
    ],
)
def test_missing_fields_are_named(path: tuple[Any, ...], name: str) -> None:
    """A file may lack any of them."""
    table = system_desc_to_table(default_system_desc())
    place: Any = table
    for step in path:
        place = place[step]
    del place[name.rsplit(".", maxsplit=1)[-1]]
    with pytest.raises(LayoutError, match=f"the system description lacks the field {name}"):
        system_desc_from_table(table)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chip_descs": [], "chip_desc_indices": []}, "0 chips and 0 descriptions of chips"),
        ({"chip_desc_indices": []}, "0 chips and 1 descriptions of chips"),
        ({"chip_desc_indices": (1,)}, "chip 0 has description 1, but the system holds 1"),
        ({"chip_desc_indices": (-1,)}, "chip 0 has description -1, but the system holds 1"),
        ({"chip_desc_indices": (0,) * 1025}, "the system has more than 1024 chips"),
    ],
)
def test_systems_without_chips_are_refused(changes: dict[str, Any], message: str) -> None:
    """Every chip has a description, and there is one."""
    with pytest.raises(LayoutError, match=message):
        system_desc_from_table(system_desc_to_table(default_system_desc()) | changes)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"l1_size": 1 << 30}, "a chip has 1073741824 bytes of L1; supported are 1 to 16777216"),
        ({"grid_size": (1 << 20, 8)}, "a chip has 1048576 rows of worker cores"),
        ({"grid_size": (8, 0)}, "a chip has 0 columns of worker cores"),
        ({"dram_channel_size": 1 << 60}, "bytes in a channel of DRAM"),
        ({"num_dram_channels": 0}, "a chip has 0 channels of DRAM; supported are 1 to 64"),
        ({"noc_l1_address_align_bytes": 0}, "a chip has 0 bytes of L1 to align to"),
    ],
)
def test_impossible_chips_are_refused(changes: dict[str, Any], message: str) -> None:
    """Numbers that would make a simulated chip take all memory, or divide by zero."""
    table = system_desc_to_table(default_system_desc())
    table["chip_descs"][0] |= changes
    with pytest.raises(LayoutError, match=message):
        system_desc_from_table(table)
