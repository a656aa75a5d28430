"""Exchanges between the devices of a mesh, as ttnn's collectives do them over Ethernet.

Devices along an axis are in a line, or in a ring where they are wired so. In a line the last device
gets all parts over its only neighbour, in a ring every part goes half the way in each direction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ttmlir.cost.families.movement import cost_copy
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import Work, dram_bytes, tensor_bytes
from ttmlir.cost.workload import (
    LATENCY,
    LINKS,
    LinkUse,
    OperationCost,
    Stage,
    Workload,
    sum_links,
)
from ttmlir.machine.figures import LinkFigures
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.tensor import TensorDesc


@dataclass(frozen=True)
class Lane:
    """The devices along an axis of a mesh, and what connects them."""

    figures: LinkFigures
    devices: int
    is_ring: bool
    links: int
    """Between neighbours."""
    axis: int = 1

    @classmethod
    def of(cls, figures: LinkFigures, mesh: Sequence[int], axis: int) -> Lane:
        """Those of a mesh, which is the whole of a system."""
        count, devices = math.prod(mesh), mesh[axis]
        links = next((n for most, n in figures.counts if count <= most), figures.counts[-1][1])
        closed = devices == count or count == figures.torus
        return cls(figures, devices, closed and devices > 2, links, axis)

    @property
    def hops(self) -> int:
        """Of what goes farthest."""
        return self.devices // 2 if self.is_ring else self.devices - 1

    def gathering(self, size: float) -> LinkUse:
        """How links carry a part of `size` bytes of each device to all others."""
        moved = (self.devices - 1) * size / self.links
        rate = self.figures.line_rate
        if self.is_ring:
            moved, rate = moved / 2, self.figures.ring_rate
        return LinkUse(self.axis, self.devices, self.is_ring, self.links, moved, moved / rate)

    def gather(self, size: float) -> tuple[float, LinkUse]:
        """Nanoseconds of an all-gather of parts of `size` bytes, and what the links do."""
        moving = self.gathering(size)
        return self.figures.gather_start + self.hops * self.figures.hop + moving.busy, moving

    def reduce(self, size: float) -> tuple[float, LinkUse]:
        """The same of a reduce-scatter that leaves each device `size` bytes."""
        moving = self.gathering(size)
        return self.figures.reduce_start + self.hops * self.figures.hop + moving.busy, moving


EXCHANGE_NOTE = (
    "exchanges are those of ttnn's collectives for tensors in DRAM, over all links of the usual "
    "systems, while devices compute nothing; those in L1 with fused operations are faster"
)


def cost_exchange(
    machine: Machine, mesh: Sequence[int], operation: Operation, part: TensorDesc, out: TensorDesc
) -> OperationCost:
    """What a step `ExchangeOp` does on one device, which has a part and gets `out`."""
    said = operation.fields
    if not part.is_on_device or said["kind"] in ("distribute", "aggregate"):
        # The host has all parts; what goes to the devices are steps of their own.
        return OperationCost()
    if said["kind"] == "mesh_partition":
        return cost_copy(machine, Work(mnemonic="slice", operands=(part,), output=out))
    phases = list(_phases(machine.links, mesh, operation, part, out))
    if not phases:
        return OperationCost()
    total = sum(time for time, _ in phases)
    links = sum_links(use for _, use in phases)
    moving = sum(use.busy for use in links)
    cycles = machine.clock_hz / 1e9
    bytes_moved = dram_bytes(part, out)
    workload = Workload(
        cores=1,
        steps=1,
        read=Stage(LINKS, moving * cycles),
        write=Stage(LATENCY, 0.0),
        once=(Stage(LATENCY, (total - moving) * cycles, 0.0),),
        dram_bytes=bytes_moved,
        noc_bytes=bytes_moved,
    )
    return OperationCost(programs=(workload,), notes=(EXCHANGE_NOTE,), links=links)


def _phases(
    figures: LinkFigures,
    mesh: Sequence[int],
    operation: Operation,
    part: TensorDesc,
    out: TensorDesc,
) -> Iterator[tuple[float, LinkUse]]:
    """Nanoseconds of what is done one after the other, and what the links do."""
    said, size = operation.fields, float(tensor_bytes(part))
    if said["kind"] == "point_to_point":
        ends = (divmod(said[name], mesh[1]) for name in ("sender", "receiver"))
        down, across = (abs(one - other) for one, other in zip(*ends, strict=True))
        axis, moving = int(across > 0), size / figures.line_rate
        use = LinkUse(axis, mesh[axis], is_ring=False, links=1, bytes=size, busy=moving)
        yield figures.gather_start + (down + across) * figures.hop + moving, use
        return
    axes = range(len(mesh)) if said["axis"] is None else (said["axis"],)
    lanes = [Lane.of(figures, mesh, axis) for axis in axes if mesh[axis] > 1]
    for lane in lanes:
        match said["kind"]:
            case "all_gather":
                yield lane.gather(size)
                size *= lane.devices
            case "reduce_scatter":
                size /= lane.devices
                yield lane.reduce(size)
            case _:
                # A sum on all devices is one of parts, which are gathered then.
                yield lane.reduce(size / lane.devices)
                yield lane.gather(size / lane.devices)
