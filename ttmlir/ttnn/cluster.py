"""What kind of machine the devices are in."""

from __future__ import annotations

from ttmlir.metalium.enums import NamedNumber
from ttmlir.ttnn.device.opening import get_arch_name


class ClusterType(NamedNumber):
    """Kinds of machines."""

    INVALID = 0
    N150 = 1
    N300 = 2
    T3K = 3
    GALAXY = 4
    TG = 5
    P100 = 6
    P150 = 7
    P150_X2 = 8
    P150_X4 = 9
    SIMULATOR_WORMHOLE_B0 = 10
    SIMULATOR_BLACKHOLE = 11


def get_cluster_type() -> ClusterType:
    """A simulator of the default board's generation."""
    return ClusterType[f"SIMULATOR_{get_arch_name().upper()}"]
