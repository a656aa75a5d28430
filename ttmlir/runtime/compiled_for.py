"""The system that a file was compiled for, and its chip on the simulator."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system.chip import SystemDesc, default_system_desc
from ttmlir.layout.system.system_tables import system_desc_from_table
from ttmlir.runtime.binary import Binary
from ttmlir.runtime.errors import BinaryError

if TYPE_CHECKING:
    from ttmlir.sim.machine.chip import SimChip


def chip_of(binary: Binary) -> SimChip:
    """The first chip of the file's system, the default one if the file names none."""
    # The simulator is loaded only where it is needed.
    from ttmlir.sim.errors import SimError
    from ttmlir.sim.machine.chip import SimChip

    try:
        return SimChip.from_desc(system_of(binary).chip(0))
    except SimError as error:
        raise BinaryError(f"{binary.source}: {error.message}") from error


def system_of(binary: Binary) -> SystemDesc:
    """The system that a file was compiled for, the default one if it names none."""
    if binary.system_desc is None:
        return default_system_desc()
    try:
        return system_desc_from_table(binary.system_desc)
    except LayoutError as error:
        raise BinaryError(f"{binary.source}: {error}") from error
