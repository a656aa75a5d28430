"""Puts circular buffers and semaphores of a program into the L1 of its cores.

Circular buffers grow from the first unreserved byte up, in the order in which they were created,
each at one address on all of its cores, a multiple of the alignment of DRAM, from and to which its
pages are copied; those on a buffer are where the buffer is. Semaphores are words below the
unreserved part (tt-metal, tech_reports/memory/allocator.md; program.cpp).
"""

from __future__ import annotations

from ttmlir.layout.enums import MemorySpace
from ttmlir.sim.errors import AllocationError, SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Program
from ttmlir.sim.machine.circular_buffer import CircularBuffer
from ttmlir.sim.machine.core import Core
from ttmlir.sim.machine.device import SimDevice


def place(device: SimDevice, program: Program) -> None:
    """Set up the cores of a program; AllocationError if their L1 is too small."""
    for x, y in program.configured_cores:
        device.core(x, y).reset()
    places = addresses(device, program)
    for spec, address in zip(program.circular_buffers, places, strict=True):
        for x, y in spec.cores:
            _configure(device.core(x, y), spec, address)
    for semaphore in program.semaphores:
        address = device.chip.semaphore_base + semaphore.index * device.chip.l1_alignment
        for x, y in semaphore.cores:
            _initialise(device, device.core(x, y), semaphore.index, address, semaphore.initial)


def addresses(device: SimDevice, program: Program) -> list[int]:
    """The address in L1 of each circular buffer; AllocationError where one does not fit."""
    chip = device.chip
    tops: dict[tuple[int, int], int] = {}
    places: list[int] = []
    for spec in program.circular_buffers:
        if spec.buffer is not None:
            places.append(_on_buffer(spec))
            continue
        top = max((tops.get(core, chip.l1_unreserved_base) for core in spec.cores), default=0)
        address = -(-top // chip.dram_alignment) * chip.dram_alignment
        places.append(address)
        tops.update(dict.fromkeys(spec.cores, address + spec.total_size))
    lowest = device.allocator(MemorySpace.DEVICE_L1).lowest
    for core in sorted(tops):
        if tops[core] > lowest:
            raise _overflow(device, program, places, core, tops[core], lowest)
    return places


def _on_buffer(spec: CircularBufferSpec) -> int:
    buffer = spec.buffer
    assert buffer is not None
    indices = ", ".join(str(index) for index in spec.indices)
    if buffer.space != MemorySpace.DEVICE_L1:
        raise SimError(
            f"circular buffer {indices} is placed on a buffer in DRAM; it has to be in L1"
        )
    if spec.offset + spec.total_size > buffer.bank_size:
        raise AllocationError(
            f"circular buffer {indices} takes {spec.total_size} bytes from {spec.offset} on of a "
            f"buffer that has {buffer.bank_size} bytes on each core",
            rule="cb-overflow",
        )
    return buffer.address + spec.offset


def _overflow(
    device: SimDevice,
    program: Program,
    places: list[int],
    core: tuple[int, int],
    top: int,
    lowest: int,
) -> AllocationError:
    """The error that shows what is where in L1."""
    chip = device.chip
    if lowest == chip.l1_size:
        against = f"L1 ends at {lowest:#x}"
    else:
        against = f"the lowest buffer in L1 begins at {lowest:#x}"
    rows = [
        f"L1 of core {core}: {address:#x} to {address + spec.total_size:#x}, "
        f"{spec.total_size} bytes: circular buffer "
        + ", ".join(str(index) for index in sorted(spec.indices))
        for spec, address in zip(program.circular_buffers, places, strict=True)
        if core in spec.cores
    ]
    return AllocationError(
        f"the circular buffers of core {core} reach to {top:#x}, but {against}: {top - lowest} "
        "bytes too many; use fewer pages, or put buffers into DRAM",
        rule="cb-overflow",
        core=core,
        detail=(
            f"L1 of core {core}: 0x0 to {chip.l1_unreserved_base:#x}: reserved",
            *rows,
            *device.allocator(MemorySpace.DEVICE_L1).map(),
            f"L1 of core {core}: ends at {chip.l1_size:#x}",
        ),
    )


def _configure(core: Core, spec: CircularBufferSpec, address: int) -> None:
    for index, (page_size, data_format) in spec.indices.items():
        core.cbs[index] = CircularBuffer(
            index,
            address,
            page_size,
            spec.total_size // page_size,
            data_format,
            aliased=spec.buffer is not None and not spec.is_storage,
        )


def _initialise(device: SimDevice, core: Core, index: int, address: int, value: int) -> None:
    core.semaphores[index] = address
    core.l1.write(address, (value & 0xFFFF_FFFF).to_bytes(4, "little"))
    if device.watch is not None:
        device.watch.host_write(core.l1, address, 4)
