"""Rates and latencies of the networks and of DRAM, for each generation of chips.

Cycles are those of the chip's clock, rates are bytes per cycle. Unless another source is named, the
numbers are those of tt-npe's device models (tt_npe/cpp/include/device_models/wormhole_b0.hpp and
blackhole.hpp). Figures named C1 and so on are measured ones, which docs/timing.md
has with their sources.
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
    flit_bytes: int
    """What a link carries at once; a packet has one flit more, its header."""
    flit_cycles: float
    """Of a link or an interface for each flit, in a long stream of them."""
    buffered_flits: int
    """Of a packet that waits for a link, in the routers where it waits."""
    lost_share: float
    """Of the link's cycles for the rest of such a packet, which keeps others waiting behind it."""
    read_latency: tuple[int, int, int, int]
    """To the first byte of a read from the same core, column, row, and from elsewhere."""
    write_latency: int
    """To the first byte of a write out of L1, without its hops."""
    word_latency: int
    """The same of a word that comes with the command: an increment, or an inline write."""
    hop_latency: int
    """From router to router."""
    answer_latency: int
    """Of an acknowledgement, without its hops."""
    multicast_setup: int
    """To reserve the path of a multicast, without its hops; linked packets do so once."""
    multicast_answer: int
    """Of the sender's interface for the acknowledgement of each receiver."""
    stores_inline_writes: bool
    """`noc_inline_dw_write` puts the word into L1 and sends it from there."""
    dram_read_rate: float
    """Of a channel, measured with any number of readers."""
    dram_write_rate: float
    """Of a channel, measured with writes in a static virtual channel."""
    dram_request_interval: float
    """A DRAM endpoint takes a read from each network this often (tt-metal issue 55898)."""
    dram_latency: int
    """What a read from DRAM takes longer than one from a core as far away."""
    dram_write_latency: int
    """What a write to DRAM takes longer than one to a core as far away."""

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

    def packets(self, size: int) -> int:
        """How many packets carry so many bytes."""
        return -(-size // self.packet_bytes)

    def occupancy(self, size: int) -> float:
        """Cycles in which so many bytes pass a link or an interface."""
        return self.flit_cycles * (self.packets(size) - (-size // self.flit_bytes))

    def lost(self, size: int) -> float:
        """Cycles for which a link carries nothing if so many bytes have to wait for it."""
        packets = self.packets(size)
        waiting = self.occupancy(size) / packets - self.flit_cycles * self.buffered_flits
        return packets * self.lost_share * max(0.0, waiting)


WORMHOLE = NocParameters(
    spec=arch.WORMHOLE,
    # 8 KiB, that is 257 flits, take 262.4 cycles written (C1) and 260.5 read (C7).
    flit_bytes=32,
    flit_cycles=1.02,
    # Two routers with 480 bytes of a channel (tt-isa-documentation, DRAMTile/README.md). The share
    # is that of C16 and C17, 256 pages each, and of readers at random places (DRAMTile/README.md).
    buffered_flits=32,
    lost_share=0.4,
    read_latency=(70, 154, 170, 270),
    # C5 and C10, one transfer each.
    write_latency=60,
    word_latency=24,
    hop_latency=10,
    answer_latency=10,
    # C14 and C15: 277 cycles for 63 receivers, 16 hops away at most; 181 for 24, 9 hops away.
    multicast_setup=60,
    multicast_answer=1,
    stores_inline_writes=False,
    # tt-isa-documentation, DRAMTile/README.md: 22.2 to 22.3 and 21.9 to 22.0 GB/s at 1 GHz.
    dram_read_rate=22.2,
    dram_write_rate=21.9,
    dram_request_interval=6.8,
    # That of Blackhole in cycles of 1 GHz; C3 confirms it.
    dram_latency=81,
    # Nothing is published; that of Blackhole, 63 cycles at 1.35 GHz.
    dram_write_latency=47,
)

BLACKHOLE = NocParameters(
    spec=arch.BLACKHOLE,
    # 16 KiB, that is 257 flits, take 263.2 cycles written (C2).
    flit_bytes=64,
    flit_cycles=1.02,
    # As on Wormhole.
    buffered_flits=32,
    lost_share=0.4,
    read_latency=(65, 177, 217, 329),
    # C6 and C11, one transfer each.
    write_latency=60,
    word_latency=40,
    # C2 less C6: 239 cycles for once around both rings, 29 hops; so do the latencies of reads.
    hop_latency=9,
    answer_latency=10,
    # C15b: 109 cycles for 109 receivers of linked packets; about 315 more for the last one, which
    # is not linked, of which 21 hops take 189.
    multicast_setup=126,
    multicast_answer=1,
    # C10: 43 cycles each, and as long under way as a write out of L1.
    stores_inline_writes=True,
    # tt-metal, bh_dram_read_microbenchmark.md: 500.5 GB/s over 8 channels at 1.35 GHz.
    dram_read_rate=46.3,
    dram_write_rate=46.3,
    dram_request_interval=16.4,
    # polaris issue 472: 438 cycles are fixed in a read, of which 329 are those of the network.
    dram_latency=109,
    # C4 less C2, for 64 bytes.
    dram_write_latency=63,
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
