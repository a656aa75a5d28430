"""Global circular buffers: cores that send write pages into the L1 of their receivers.

Source: tt-metal, tt-metalium/experimental/global_circular_buffer.hpp and
impl/buffers/global_circular_buffer.cpp.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from typing import Any, cast

from ttmlir.metalium.buffers import (
    Buffer,
    CircularBufferConfig,
    check_config,
    create_circular_buffers,
)
from ttmlir.metalium.cores import CoreCoord, CoreRangeSet, CoreSpec, cores_of
from ttmlir.metalium.device import Device, check_device
from ttmlir.metalium.ends import configure, find_repeated, pages_on
from ttmlir.metalium.enums import BufferType, ShardedBufferConfig, TensorMemoryLayout
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.execution.program import CircularBufferSpec, GlobalPages, Program
from ttmlir.sim.machine.device import Core
from ttmlir.sim.machine.remote_buffers import UNIT, RemoteEnd, RemotePeer

Mapping = Sequence[tuple[CoreCoord, CoreRangeSet]]
"""Senders with their receivers."""

_HEAD = 32
"""Bytes of the words of a configuration, before the places of the other end."""


class GlobalCircularBuffer:
    """Bytes in the L1 of senders and receivers; `CreateGlobalCircularBuffer` makes it."""

    def __init__(
        self, device: Device, mapping: Mapping, size: int, buffer_type: BufferType
    ) -> None:
        """Take the bytes on all devices of a mesh; MetaliumError for cores that are used twice."""
        self._device = device
        self._mapping = _ends_of(mapping)
        self._check(size, buffer_type)
        self._size = size
        most = max(len(receivers) for _, receivers in self._mapping)
        self._counters = _HEAD + -(-8 * most // UNIT) * UNIT
        """Where the counters are in a configuration: two of each receiver, 16 bytes apart."""
        self._data = self._allocate(size)
        self._config = self._allocate(self._counters + 2 * UNIT * most)
        for each in device.get_devices():
            for sender, receivers in self._mapping:
                self._configure(each, sender, receivers)

    def _check(self, size: object, buffer_type: BufferType) -> None:
        if not isinstance(size, int) or size < UNIT or size % UNIT:
            raise MetaliumError(f"the size is {size!r}; it has to be a multiple of {UNIT} bytes")
        if buffer_type not in (BufferType.L1, BufferType.L1_SMALL):
            raise MetaliumError(
                f"a global circular buffer is in BufferType.L1, not in {buffer_type!r}"
            )
        cores = [(sender.x, sender.y) for sender, _ in self._mapping]
        cores += [core for _, receivers in self._mapping for core in receivers]
        twice = find_repeated(cores)
        if twice is not None:
            raise MetaliumError(
                f"core {twice} is an end of the global circular buffer twice; a core sends or "
                "receives, and receives from one sender"
            )

    def _allocate(self, size: int) -> list[Buffer]:
        """So many bytes on each core, at one address."""
        cores = self._cores()
        buffers = list[Buffer]()
        for device in self._device.get_devices():
            config = ShardedBufferConfig(
                device=device,
                size=size * len(cores),
                page_size=size,
                buffer_type=BufferType.L1,
                buffer_layout=TensorMemoryLayout.HEIGHT_SHARDED,
                shard_parameters=pages_on(cores),
            )
            address = buffers[0].address() if buffers else None
            buffers.append(Buffer(config, address=address))
        return buffers

    def _cores(self) -> list[CoreCoord]:
        senders = [sender for sender, _ in self._mapping]
        receivers = [CoreCoord(*core) for _, cores in self._mapping for core in cores]
        return sorted([*senders, *receivers], key=lambda core: (core.y, core.x))

    def _configure(
        self, device: Device, sender: CoreCoord, receivers: Sequence[tuple[int, int]]
    ) -> None:
        """Write the configurations of a sender and of its receivers."""
        config, start, size = self.config_address(), self.buffer_address(), self._size
        with host_call():
            source = device.simulated.core(sender.x, sender.y)
            targets = [device.simulated.core(x, y) for x, y in receivers]
        counters = [config + self._counters + 2 * UNIT * index for index in range(len(targets))]
        to_targets, places = list[RemotePeer](), list[int]()
        for target, sent in zip(targets, counters, strict=True):
            acked = sent + UNIT
            words = [0, len(targets), start, size, start, config + _HEAD, sent, acked]
            self._write(device, target, [*words, *source.coordinate], [sent])
            peer = RemotePeer(source.name, source.l1, source.coordinate, acked, sent, acked)
            target.remote_ends[config] = RemoteEnd(False, target.l1, config, start, size, (peer,))
            to_targets.append(
                RemotePeer(target.name, target.l1, target.coordinate, sent, sent, acked)
            )
            places += target.coordinate
        words = [1, len(targets), start, size, start, config + _HEAD, counters[0], counters[0]]
        self._write(device, source, [*words, *places], [each + UNIT for each in counters])
        peers = tuple(to_targets)
        source.remote_ends[config] = RemoteEnd(True, source.l1, config, start, size, peers)

    def _write(
        self, device: Device, core: Core, words: Sequence[int], signals: Sequence[int]
    ) -> None:
        """Write a configuration; some words are counted by the other end."""
        size = self._config[0].page_size()
        data = struct.pack(f"<{len(words)}I", *words).ljust(size, b"\0")
        configure(device, core, self.config_address(), data, signals)

    def __repr__(self) -> str:
        """Size and place."""
        return (
            f"GlobalCircularBuffer({self._size:,} bytes at {self.buffer_address()}, "
            f"{len(self._mapping)} senders, {len(self.receiver_cores())} receivers)"
        )

    def size(self) -> int:
        """Bytes on each core."""
        return self._size

    def buffer_address(self) -> int:
        """Where the pages are, on all cores."""
        return self._data[0].address()

    def config_address(self) -> int:
        """Where the configurations are."""
        return self._config[0].address()

    def sender_cores(self) -> list[CoreCoord]:
        """The cores that send."""
        return [sender for sender, _ in self._mapping]

    def receiver_cores(self) -> list[CoreCoord]:
        """The cores that receive."""
        return [CoreCoord(*core) for _, cores in self._mapping for core in cores]

    def all_cores(self) -> list[CoreCoord]:
        """Both, row by row."""
        return self._cores()


def _ends_of(mapping: object) -> list[tuple[CoreCoord, tuple[tuple[int, int], ...]]]:
    """Senders and the cores of their receivers; MetaliumError for what is no such list."""
    found = list[tuple[CoreCoord, tuple[tuple[int, int], ...]]]()
    for each in cast("Iterable[Any]", mapping) if isinstance(mapping, Iterable) else ():
        match each:
            case ((int(x), int(y)), receivers) if cores := cores_of(receivers):
                found.append((CoreCoord(x, y), cores))
            case _:
                found.clear()
                break
    if not found:
        raise MetaliumError(
            "a global circular buffer has senders, each with one receiver or more: "
            "[(CoreCoord(0, 0), CoreRangeSet(CoreRange(...))), ...]"
        )
    return found


def CreateGlobalCircularBuffer(
    device: Device,
    sender_receiver_core_mapping: Mapping,
    size: int,
    buffer_type: BufferType = BufferType.L1,
) -> GlobalCircularBuffer:
    """Bytes in L1 of senders and of their receivers, for pages of any size that come in order.

    Programs join it by `experimental.CreateCircularBuffer`; it keeps its pages between them.
    """
    return GlobalCircularBuffer(
        check_device(device), sender_receiver_core_mapping, size, buffer_type
    )


def CreateCircularBuffer(
    program: Program,
    core_spec: CoreSpec,
    config: CircularBufferConfig,
    global_circular_buffer: GlobalCircularBuffer,
) -> CircularBufferSpec:
    """Create ends of a global circular buffer, and circular buffers on its bytes.

    `config.remote_index(i).set_page_size(n)` names the ends, `config.index(j)` the others, which
    begin where the next page does. MetaliumError for what does not fit.
    """
    check_config(config)
    if not isinstance(cast("object", global_circular_buffer), GlobalCircularBuffer):
        raise MetaliumError(
            "experimental.CreateCircularBuffer takes a GlobalCircularBuffer, not "
            f"{global_circular_buffer!r}"
        )
    sizes = config.remote_page_sizes
    whole = global_circular_buffer.size()
    if not sizes:
        raise MetaliumError(
            "no circular buffer is an end of the global one; call remote_index(i).set_page_size(n)"
        )
    for index, size in sizes.items():
        if not 0 <= index < 32 or size < 1 or size % UNIT or size > whole:
            raise MetaliumError(
                f"circular buffer {index} has pages of {size} bytes; those of a global circular "
                f"buffer of {whole} are multiples of {UNIT}, and circular buffers 0 to 31"
            )
        if index in config.data_formats:
            raise MetaliumError(
                f"circular buffer {index} is an end of the global one; give what shares its bytes "
                "another index"
            )
    if config.total_size > whole:
        raise MetaliumError(f"{config.total_size} bytes; the global circular buffer has {whole}")
    ends = {(core.x, core.y) for core in global_circular_buffer.all_cores()}
    other = next((core for core in cores_of(core_spec) if core not in ends), None)
    if other is not None:
        raise MetaliumError(f"core {other} is no end of the global circular buffer")
    pages = GlobalPages(
        config=global_circular_buffer.config_address(),
        start=global_circular_buffer.buffer_address(),
        page_sizes=dict(sizes),
    )
    return create_circular_buffers(program, core_spec, config, pages)
