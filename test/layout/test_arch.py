"""The numbers of the generations, as tt-metal's descriptions of chips spell them: x-y."""

from __future__ import annotations

import pytest

from ttmlir.layout.enums import Arch
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import BLACKHOLE, WORMHOLE, ArchSpec, Coord, arch_spec


def spelled(cores: tuple[Coord, ...]) -> str:
    """Cores as in the files."""
    return " ".join(f"{x}-{y}" for y, x in cores)


def test_tiles_of_wormhole() -> None:
    """soc_descriptors/wormhole_b0_80_arch.yaml: one endpoint of each half of a DRAM bank."""
    assert spelled(WORMHOLE.dram) == "0-11 0-1 0-5 0-7 5-1 5-11 5-2 5-9 5-8 5-3 5-5 5-7"
    north = "9-0 1-0 8-0 2-0 7-0 3-0 6-0 4-0"
    assert spelled(WORMHOLE.ethernet) == f"{north} {north.replace('-0', '-6')}"
    assert WORMHOLE.noc_size == (12, 10)
    columns, rows = set(range(10)) - {0, 5}, set(range(12)) - {0, 6}
    assert (set(WORMHOLE.worker_columns), set(WORMHOLE.worker_rows)) == (columns, rows)
    assert list(WORMHOLE.worker_rows) == sorted(rows)
    assert list(WORMHOLE.worker_columns) == sorted(columns)


def test_tiles_of_blackhole() -> None:
    """soc_descriptors/blackhole_140_arch.yaml: the first endpoint of each DRAM bank."""
    assert spelled(BLACKHOLE.dram) == "0-0 0-2 0-9 0-5 9-0 9-2 9-9 9-5"
    assert spelled(BLACKHOLE.ethernet) == (
        "1-1 16-1 2-1 15-1 3-1 14-1 4-1 13-1 5-1 12-1 6-1 11-1 7-1 10-1"
    )
    assert BLACKHOLE.noc_size == (12, 17)
    assert list(BLACKHOLE.worker_columns) == [*range(1, 8), *range(10, 17)]
    assert list(BLACKHOLE.worker_rows) == list(range(2, 12))


@pytest.mark.parametrize(
    ("spec", "macro", "clock", "packet", "firmware", "alignments", "channel"),
    [
        (WORMHOLE, "ARCH_WORMHOLE", 10**9, 8192, 91_392, (16, 32, 32, 16), 1 << 30),
        (BLACKHOLE, "ARCH_BLACKHOLE", 135 * 10**7, 16384, 105_728, (16, 64, 64, 16), 4278190080),
    ],
    ids=["wormhole", "blackhole"],
)
def test_sizes(
    spec: ArchSpec,
    macro: str,
    clock: int,
    packet: int,
    firmware: int,
    alignments: tuple[int, ...],
    channel: int,
) -> None:
    """Of L1, pcie, reads and writes of DRAM; a channel of Blackhole has 4 GiB but 16 MiB."""
    assert (spec.macro, spec.clock_hz, spec.max_packet_size) == (macro, clock, packet)
    assert (spec.l1_size, spec.firmware.end) == (1_499_136, firmware)
    assert alignments == (
        spec.l1_alignment,
        spec.pcie_alignment,
        spec.dram_read_alignment,
        spec.dram_write_alignment,
    )
    assert spec.dram_channel_size == channel


def test_generations_that_are_not_modelled_are_refused() -> None:
    """The message names those that are."""
    assert arch_spec(Arch.WORMHOLE_B0) is WORMHOLE
    assert arch_spec(Arch.BLACKHOLE) is BLACKHOLE
    with pytest.raises(LayoutError) as error:
        arch_spec(Arch.GRAYSKULL)
    assert str(error.value) == (
        "there are no numbers for chips of grayskull; use wormhole_b0 or blackhole"
    )
