"""Figures of the chips with their sources: the only room that has them, and that imports nothing.

    generation("blackhole").network.hop_latency              # 9
    generation("blackhole").network.sources["hop_latency"]   # "C2 less C6: 239 cycles for ..."

The simulator's clock, the estimates, descriptions of boards and the schedules of generated kernels
read them here and hold no figures of their own. What single calls of kernels take is part of their
definitions in `ttmlir.optable.kernel`.
"""

from __future__ import annotations

from ttmlir.machine.blackhole import BLACKHOLE
from ttmlir.machine.figures import Generation
from ttmlir.machine.wormhole import WORMHOLE

GENERATIONS = {each.name: each for each in (WORMHOLE, BLACKHOLE)}
"""By the names of the enum `Arch`."""


def generation(name: str) -> Generation:
    """The figures of a generation; KeyError for one that has none."""
    return GENERATIONS[name]
