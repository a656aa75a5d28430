"""Chips, systems and boards."""

from dataclasses import replace

import pytest

from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import STORED_DATA_TYPES, Arch, MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import BOARD_NAMES, ChipChannel, arch_spec, board, default_system_desc


def test_default_system():
    """One Wormhole chip with tt-mlir's numbers."""
    system = default_system_desc()
    (chip,) = system.chip_descs
    assert (chip.arch, chip.grid) == (Arch.WORMHOLE_B0, (8, 8))
    assert (chip.l1_size, chip.l1_unreserved_base) == (1499136, 1024)
    assert (chip.num_dram_channels, chip.dram_channel_size) == (12, 1073741824)
    assert chip.physical_cores.worker[:9] == (
        *((0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (0, 5), (0, 6), (0, 7)),
        (1, 0),
    )
    assert chip.physical_cores.dram == (
        *((8, 0), (9, 0), (10, 0), (8, 1), (9, 1), (10, 1)),
        *((8, 2), (9, 2), (10, 2), (8, 3), (9, 3), (10, 3)),
    )
    assert chip.supported_data_types == STORED_DATA_TYPES
    assert chip.supported_tile_sizes == (
        *((4, 16), (16, 16), (32, 16), (4, 32), (16, 32), (32, 32)),
    )
    assert (system.chip_desc_indices, system.chip_capabilities) == ((0,), (3,))
    assert system.chip_channels == ()


def test_usable_memory_and_alignments():
    """What is left of L1 and DRAM, and what addresses are multiples of."""
    chip = default_system_desc().chip(0)
    assert chip.usable_l1_size == 1498112
    assert chip.usable_dram_channel_size == 1073740800
    assert chip.address_alignment() == 32
    alignments = {space: chip.address_alignment(space) for space in MemorySpace}
    assert alignments == {
        MemorySpace.SYSTEM: 1,
        MemorySpace.SYSTEM_MMIO: 32,
        MemorySpace.DEVICE_DRAM: 32,
        MemorySpace.DEVICE_L1: 16,
        MemorySpace.REGISTER_DST: 1,
    }
    assert chip.align(1025, MemorySpace.DEVICE_L1) == 1040
    assert chip.align(1040, MemorySpace.DEVICE_L1) == 1040
    assert chip.align(1040, MemorySpace.DEVICE_DRAM) == 1056
    assert chip.align(1025, MemorySpace.SYSTEM) == 1025


def test_chips_are_found_through_their_index():
    """Chips of one kind share a description; a chip that is not there is an error."""
    system = replace(default_system_desc(), chip_desc_indices=(0, 0, 1))
    assert system.chip(1) is system.chip_descs[0]
    with pytest.raises(LayoutError, match="chip 3 is not one of the 3 of the system"):
        system.chip(3)
    with pytest.raises(LayoutError, match="chip 2 has description 1, but the system holds 1"):
        system.chip(2)


@pytest.mark.parametrize(
    ("name", "chips", "on_host", "grid", "arch", "links"),
    [
        ("default", 1, 1, (8, 8), Arch.WORMHOLE_B0, 0),
        ("n150", 1, 1, (8, 8), Arch.WORMHOLE_B0, 0),
        ("n300", 2, 1, (8, 8), Arch.WORMHOLE_B0, 2),
        ("p100", 1, 1, (10, 11), Arch.BLACKHOLE, 0),
        ("p150", 1, 1, (10, 11), Arch.BLACKHOLE, 0),
        ("p300", 2, 1, (10, 11), Arch.BLACKHOLE, 2),
        ("p150x2", 2, 2, (10, 11), Arch.BLACKHOLE, 2),
        ("p150x4", 4, 4, (10, 11), Arch.BLACKHOLE, 8),
        ("p150x8", 8, 8, (10, 11), Arch.BLACKHOLE, 20),
        # 2x4 chips: 2 * 3 links across, 4 down, two channels each.
        ("t3000", 8, 4, (8, 8), Arch.WORMHOLE_B0, 20),
        # 4x8 chips: 4 * 7 links across, 3 * 8 down, four channels each.
        ("galaxy", 32, 32, (8, 8), Arch.WORMHOLE_B0, 256),
    ],
)
def test_boards(name: str, chips: int, on_host: int, grid: tuple[int, int], arch: Arch, links: int):
    """Number of chips, links, compute grid and chips that the host reaches."""
    system = board(name)
    assert system.num_chips == len(system.chip_capabilities) == len(system.chip_coords) == chips
    assert system.chip_capabilities.count(3) == on_host
    assert len(system.chip_channels) == links
    for chip_id in range(chips):
        chip = system.chip(chip_id)
        assert (chip.arch, chip.grid) == (arch, grid)
        cores = chip.physical_cores
        assert len(cores.worker) == grid[0] * grid[1]
        everything = cores.worker + cores.dram + cores.eth + cores.eth_inactive
        assert len(set(everything)) == len(everything)
        assert len(cores.dram) == chip.num_dram_channels
        assert chip.dram_unreserved_end <= chip.dram_channel_size < 1 << 32


def test_cores_of_blackhole():
    """Rows 2 to 11, 7 columns on the left and 4 on the right; 14 Ethernet tiles above them."""
    chip = board("p150").chip(0)
    cores = chip.physical_cores
    assert cores.worker[:9] == (
        *((2, 1), (2, 2), (2, 3), (2, 4), (2, 5), (2, 6), (2, 7), (2, 10), (2, 11)),
    )
    assert cores.worker[-1] == (11, 13)
    assert cores.dram == ((0, 0), (2, 0), (9, 0), (5, 0), (0, 9), (2, 9), (9, 9), (5, 9))
    assert cores.eth == ()
    # From the outermost columns inwards, left and right in turn.
    columns = [1, 16, 2, 15, 3, 14, 4, 13, 5, 12, 6, 11, 7, 10]
    assert list(cores.eth_inactive) == [(1, column) for column in columns]
    assert (chip.noc_dram_address_align_bytes, chip.pcie_address_align_bytes) == (64, 64)
    smaller = board("p100").chip(0)
    assert smaller.physical_cores.dram == cores.dram[:7]
    assert smaller.num_dram_channels == 7


def test_boards_are_these():
    """A board that is dropped drops its other tests, too."""
    several = ("p300", "p150x2", "p150x4", "p150x8", "t3000", "galaxy")
    assert BOARD_NAMES == ("default", "n150", "n300", "p100", "p150", *several)


def test_generations_without_numbers():
    """Chips of Grayskull have a keyword, but nobody models them."""
    message = "there are no numbers for chips of grayskull; use wormhole_b0 or blackhole"
    with pytest.raises(LayoutError, match=message):
        arch_spec(Arch.GRAYSKULL)


def test_links_use_each_ethernet_core_once_and_make_it_active():
    """No channel has two links, and a chip's active cores are those with a link."""
    for name in BOARD_NAMES:
        system = board(name)
        ends = [(c.device_id0, c.ethernet_core_coord0) for c in system.chip_channels]
        ends += [(c.device_id1, c.ethernet_core_coord1) for c in system.chip_channels]
        assert len(set(ends)) == len(ends)
        for chip_id in range(system.num_chips):
            active = len(system.chip(chip_id).physical_cores.eth)
            assert active == sum(1 for device, _ in ends if device == chip_id)


def test_the_two_chips_of_an_n300():
    """Channels 8 and 9 of the chip at the host lead to channels 0 and 1 of the other."""
    system = board("n300")
    assert system.chip_channels == (
        ChipChannel(
            device_id0=0,
            ethernet_core_coord0=(0, 8),
            device_id1=1,
            ethernet_core_coord1=(0, 0),
        ),
        ChipChannel(
            device_id0=0,
            ethernet_core_coord0=(0, 9),
            device_id1=1,
            ethernet_core_coord1=(0, 1),
        ),
    )
    assert system.chip_capabilities == (3, 0)
    # Channel 8 is the first of the lower row of Ethernet tiles, at (y 6, x 9).
    assert system.chip(0).physical_cores.eth == ((6, 9), (6, 1))
    assert system.chip(1).physical_cores.eth == ((0, 9), (0, 1))
    assert DeviceView.from_system_desc(system, (1, 2)).worker_grid.shape == (8, 16)


def test_unknown_boards_are_refused():
    """The message lists the known ones."""
    with pytest.raises(LayoutError) as error:
        board("n250")
    known = ", ".join(BOARD_NAMES)
    assert str(error.value) == f"unknown board 'n250'; known are {known}"
