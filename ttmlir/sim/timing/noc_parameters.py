"""Rates and latencies of the networks and of DRAM, for each generation of chips.

Cycles are those of the chip's clock, rates are bytes per cycle. Unless another source is named, the
numbers are those of tt-npe's device models (tt_npe/cpp/include/device_models/wormhole_b0.hpp and
blackhole.hpp), and those of patterns are measured ones of tt-metal
(tests/tt_metal/tt_metal/data_movement/documentation/ideal_performance.md).
"""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.layout.enums import Arch
from ttmlir.layout.system import arch
from ttmlir.layout.system.arch import ArchSpec


@dataclass(frozen=True, kw_only=True)
class NocParameters:
    """What the model of the networks has to know about a chip."""

    spec: ArchSpec
    """The generation; each row and each column of its grid of routers is a ring."""
    stream_rates: tuple[tuple[int, float], ...]
    """Rate of a stream of transfers from one core by their size; linear in between."""
    link_rate: float
    """Between two routers."""
    interface_rate: float
    """Into and out of a core, in each network."""
    multicast_rate: float
    """Measured out of a core that multicasts."""
    linked_multicast_rate: float
    """The same while the path stays reserved between packets."""
    read_latency: tuple[int, int, int, int]
    """To the first byte of a read from the same core, column, row, and from elsewhere."""
    write_latency: int
    """To the first byte of a write, without its hops."""
    hop_latency: int
    """From router to router."""
    dram_read_rate: float
    """Of a channel, measured with any number of readers."""
    dram_write_rate: float
    """Of a channel, measured with writes in a static virtual channel."""
    dram_pair_rate: float
    """Between one core and one channel, measured."""
    dram_request_interval: float
    """A DRAM endpoint takes a read from each network this often (tt-metal issue 55898)."""
    dram_latency: int
    """What a read from DRAM takes longer than one from a core as far away."""

    def __post_init__(self) -> None:
        """Hold the rates to an order that the model relies on."""
        sizes = [size for size, _ in self.stream_rates]
        rates = [rate for _, rate in self.stream_rates]
        if sizes != sorted(set(sizes)) or rates != sorted(rates) or min(rates) <= 0:
            raise ValueError(f"rates have to grow with the size, got {self.stream_rates}")

    @property
    def columns(self) -> int:
        """Columns of the grid of routers."""
        return self.spec.noc_size[1]

    @property
    def rows(self) -> int:
        """Rows of the grid of routers."""
        return self.spec.noc_size[0]

    @property
    def packet_bytes(self) -> int:
        """A longer transfer is split."""
        return self.spec.max_packet_size

    def stream_rate(self, size: int) -> float:
        """Rate of a stream of transfers of `size` bytes from one core."""
        first, rate = self.stream_rates[0]
        if size <= first:
            return rate * size / first
        below = self.stream_rates[0]
        for above in self.stream_rates[1:]:
            if size <= above[0]:
                share = (size - below[0]) / (above[0] - below[0])
                return below[1] + share * (above[1] - below[1])
            below = above
        return below[1]


WORMHOLE = NocParameters(
    spec=arch.WORMHOLE,
    stream_rates=((128, 5.5), (256, 10.1), (512, 18.0), (1024, 27.4), (2048, 30.0), (8192, 30.0)),
    link_rate=30.0,
    interface_rate=28.1,
    multicast_rate=15.0,
    linked_multicast_rate=22.0,
    read_latency=(70, 154, 170, 270),
    write_latency=40,
    hop_latency=10,
    # tt-isa-documentation, DRAMTile/README.md: 22.2 to 22.3 and 21.9 to 22.0 GB/s at 1 GHz.
    dram_read_rate=22.2,
    dram_write_rate=21.9,
    dram_pair_rate=22.2,
    dram_request_interval=6.8,
    # Nothing is published; that of Blackhole, 109 cycles at 1.35 GHz, in cycles of 1 GHz.
    dram_latency=81,
)

BLACKHOLE = NocParameters(
    spec=arch.BLACKHOLE,
    stream_rates=(
        *((128, 6.0), (256, 12.1), (512, 24.2), (1024, 48.0), (2048, 57.7)),
        *((4096, 58.7), (8192, 60.4), (16384, 60.9)),
    ),
    link_rate=60.9,
    interface_rate=60.9,
    multicast_rate=24.0,
    linked_multicast_rate=41.0,
    read_latency=(65, 177, 217, 329),
    write_latency=40,
    hop_latency=11,
    # tt-metal, bh_dram_read_microbenchmark.md: 500.5 GB/s over 8 channels at 1.35 GHz.
    dram_read_rate=46.3,
    dram_write_rate=46.3,
    dram_pair_rate=33.0,
    dram_request_interval=16.4,
    # polaris issue 472: 438 cycles are fixed in a read, of which 329 are those of the network.
    dram_latency=109,
)


_BY_ARCH = {parameters.spec.arch: parameters for parameters in (WORMHOLE, BLACKHOLE)}


def noc_parameters(arch: Arch) -> NocParameters:
    """The numbers of a generation of chips; ValueError for one that is not modelled."""
    if arch not in _BY_ARCH:
        known = " or ".join(each.keyword for each in _BY_ARCH)
        raise ValueError(
            f"there are no timings for {arch.keyword}; use {known}, or run the program untimed"
        )
    return _BY_ARCH[arch]
