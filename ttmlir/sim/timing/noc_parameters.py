"""The networks and DRAM of a chip, for the model of them; the figures stand in `ttmlir.machine`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ttmlir.errors import ArgumentError
from ttmlir.layout import system
from ttmlir.layout.enums import Arch
from ttmlir.layout.system import ArchSpec
from ttmlir.machine import generation
from ttmlir.machine.figures import Coord, NetworkFigures


@dataclass(frozen=True, kw_only=True)
class NocParameters(NetworkFigures):
    """What the model of the networks has to know about a chip."""

    spec: ArchSpec
    """The generation; each row and each column of its grid of routers is a ring."""

    @property
    def endpoints(self) -> Mapping[Coord, tuple[Coord, Coord]]:
        """By the place (x, y) of a channel of DRAM: those of its routers on both networks."""
        places = ((x, y) for y, x in generation(self.spec.arch.keyword).chip.dram)
        pairs = (((x0, y0), (x1, y1)) for (y0, x0), (y1, x1) in self.dram_endpoints)
        return dict(zip(places, pairs, strict=False))

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

    def least_dram_write(self, size: int) -> int:
        """Cycles that a channel of DRAM takes for so many bytes at least."""
        return self.dram_partial_write if size < self.dram_burst else 0

    def lost(self, size: int) -> float:
        """Cycles for which a link carries nothing if so many bytes have to wait for it."""
        packets = self.packets(size)
        waiting = self.occupancy(size) / packets - self.flit_cycles * self.buffered_flits
        return packets * self.lost_share * max(0.0, waiting)


def _of(spec: ArchSpec) -> NocParameters:
    return NocParameters(spec=spec, **generation(spec.arch.keyword).network.numbers())


WORMHOLE = _of(system.WORMHOLE)
BLACKHOLE = _of(system.BLACKHOLE)
_BY_ARCH = {parameters.spec.arch: parameters for parameters in (WORMHOLE, BLACKHOLE)}


def noc_parameters(arch: Arch) -> NocParameters:
    """The numbers of a generation of chips; ValueError for one that is not modelled."""
    if arch not in _BY_ARCH:
        known = " or ".join(each.keyword for each in _BY_ARCH)
        raise ArgumentError(
            f"there are no timings for {arch.keyword}; use {known}, or run the program untimed"
        )
    return _BY_ARCH[arch]
