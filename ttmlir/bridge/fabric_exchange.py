"""What devices of a mesh exchange, by kernels that send over the fabric of the simulated chips.

Each device has pieces of bytes, and slots for those that it gets; a `Move` copies a piece of one
device to a slot of another. A worker for each direction that a chip sends in reads pages from DRAM,
and sends each as a packet, which writes it to DRAM of the other chip and counts it there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

import ttmlir.metalium as tt
from ttmlir.metalium import distributed
from ttmlir.metalium.tt_fabric import FabricConfig, FabricNodeId

_PAGE, _ALIGNMENT = 4096, 64
"""Most bytes of a packet, and what the sizes of pages are multiples of."""
_CORE = tt.CoreCoord(0, 0)
_LOCAL = 4
"""The worker that copies what a device keeps; those before send in the four directions."""
_PATIENCE = 1 << 40
"""Cycles after which an exchange is taken for one that never ends."""

_INCLUDES = """
#include "api/dataflow/dataflow_api.h"
#include "tt_metal/fabric/hw/inc/edm_fabric/edm_fabric_worker_adapters.hpp"
#include "tt_metal/fabric/hw/inc/noc_addr.h"
#include "tt_metal/fabric/hw/inc/packet_header_pool.h"
"""

_READ = """
constexpr uint32_t size = get_compile_time_arg_val(0);
constexpr auto from_layout = TensorAccessorArgs<1>();
constexpr auto to_layout = TensorAccessorArgs<from_layout.next_compile_time_args_offset()>();

void kernel_main() {
    std::size_t arg = 0;
    const auto from = TensorAccessor(from_layout, get_arg_val<uint32_t>(arg++), size);
    const auto to = TensorAccessor(to_layout, get_arg_val<uint32_t>(arg++), size);
    const uint32_t count = get_arg_val<uint32_t>(arg++);
    const uint32_t pages = get_arg_val<uint32_t>(arg++);
    cb_reserve_back(0, 1);
    const uint32_t page = get_write_ptr(0);
"""

_COPY = (
    _READ
    + """
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t piece = get_arg_val<uint32_t>(arg++);
        const uint32_t slot = get_arg_val<uint32_t>(arg++);
        for (uint32_t at = 0; at < pages; at++) {
            noc_async_read_page(piece * pages + at, from, page);
            noc_async_read_barrier();
            noc_async_write_page(slot * pages + at, to, page);
            noc_async_write_barrier();
        }
    }
}
"""
)

_SEND = (
    "using namespace tt::tt_fabric;\n"
    + _READ
    + """
    const uint32_t arrived = get_arg_val<uint32_t>(arg++);
    const uint32_t x = get_arg_val<uint32_t>(arg++);
    const uint32_t y = get_arg_val<uint32_t>(arg++);
    auto sender = WorkerToFabricEdmSender::build_from_args<ProgrammableCoreType::TENSIX>(arg);
    auto* header = PacketHeaderPool::allocate_header();
    const uint64_t signal = get_noc_addr(x, y, arrived);
    sender.open();
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t chip = get_arg_val<uint32_t>(arg++);
        const uint32_t piece = get_arg_val<uint32_t>(arg++);
        const uint32_t slot = get_arg_val<uint32_t>(arg++);
        fabric_set_unicast_route(header, chip, 0);
        for (uint32_t at = 0; at < pages; at++) {
            noc_async_read_page(piece * pages + at, from, page);
            noc_async_read_barrier();
            header->to_noc_fused_unicast_write_atomic_inc(
                NocUnicastAtomicIncFusedCommandHeader{
                    to.get_noc_addr(slot * pages + at), signal, 1},
                size);
            sender.wait_for_empty_write_slot();
            sender.send_payload_without_header_non_blocking_from_address(page, size);
            sender.send_payload_flush_blocking_from_address(
                (uint32_t)header, sizeof(PACKET_HEADER_TYPE));
        }
    }
    sender.close();
}
"""
)

_WAIT = """
#include "api/dataflow/dataflow_api.h"

void kernel_main() {
    auto* arrived = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_arg_val<uint32_t>(0));
    noc_semaphore_wait_min(arrived, get_arg_val<uint32_t>(1));
}
"""


class Move(NamedTuple):
    """A piece of one device becomes what another has in a slot."""

    source: int
    piece: int
    target: int
    slot: int


@dataclass(frozen=True)
class ExchangeRun:
    """What devices have after an exchange, and how long it took."""

    slots: Sequence[Mapping[int, bytes]]
    """Of each device, the bytes in the slots that it got."""
    cycles: tuple[int, ...]
    """Of each chip, from the common beginning on; 0 without clocks."""
    clock_hz: int
    links: Mapping[tuple[int, int], int]
    """Bytes of packets that each link carried, by the numbers of its chips."""


def exchange(
    pieces: Sequence[Sequence[bytes]],
    moves: Sequence[Move],
    *,
    board: str,
    mesh: tuple[int, int],
    timed: bool = False,
) -> ExchangeRun:
    """Move pieces, all of the same size, between the devices of a part of a board.

    Devices are numbered row by row of the mesh. SimError for what kernels must not do.
    """
    size = max((len(piece) for own in pieces for piece in own), default=0)
    page = min(_PAGE, max(_ALIGNMENT, -(-size // _ALIGNMENT) * _ALIGNMENT))
    pages = max(1, -(-size // page))
    before = tt.tt_fabric.GetFabricConfig()
    tt.tt_fabric.SetFabricConfig(FabricConfig.FABRIC_2D)
    devices = distributed.MeshDevice.create(
        distributed.MeshDeviceConfig(distributed.MeshShape(*mesh)),
        board=board,
        timed=timed,
        cycle_limit=_PATIENCE,
    )
    try:
        run = _Exchange(devices, mesh, moves, page, pages)
        return run.run([[_padded(each, page * pages) for each in own] for own in pieces], size)
    finally:
        devices.close()
        tt.tt_fabric.SetFabricConfig(before)


def _padded(piece: bytes, size: int) -> bytes:
    return piece + bytes(size - len(piece))


@dataclass
class _Exchange:
    devices: distributed.MeshDevice
    mesh: tuple[int, int]
    moves: Sequence[Move]
    page: int
    pages: int

    def run(self, pieces: Sequence[Sequence[bytes]], size: int) -> ExchangeRun:
        queue = self.devices.mesh_command_queue()
        places = [distributed.MeshCoordinate(*divmod(n, self.mesh[1])) for n in range(len(pieces))]
        self.own = self._allocate(max(map(len, pieces)))
        self.got = self._allocate(1 + max((move.slot for move in self.moves), default=0))
        for place, own in zip(places, pieces, strict=True):
            distributed.WriteShard(queue, self.own, b"".join(own), place)
        self.arrived = tt.CreateGlobalSemaphore(self.devices, _CORE, 0)
        workload = distributed.MeshWorkload()
        for device, place in enumerate(places):
            program = self._write_program(device)
            workload.add_program(distributed.MeshCoordinateRange(place, place), program)
        distributed.EnqueueMeshWorkload(queue, workload)
        length = self.page * self.pages
        slots: list[dict[int, bytes]] = []
        for device, place in enumerate(places):
            read = distributed.ReadShard(queue, None, self.got, place, dtype=np.uint8).tobytes()
            taken = [move.slot for move in self.moves if move.target == device]
            slots.append({slot: read[slot * length :][:size] for slot in taken})
        reports = [each.command_queue().reports[-1] for each in self.devices.get_devices()]
        fabric = self.devices.fabric
        carried = {} if fabric is None else fabric.carried()
        clock_hz = self.devices.simulated.chip.clock_hz
        return ExchangeRun(slots, tuple(report.cycles for report in reports), clock_hz, carried)

    def _allocate(self, count: int) -> distributed.MeshBuffer:
        local = distributed.DeviceLocalBufferConfig(
            page_size=self.page, buffer_type=tt.BufferType.DRAM
        )
        size = count * self.pages * self.page
        return distributed.MeshBuffer.create(
            distributed.ReplicatedBufferConfig(size), local, self.devices
        )

    def _write_program(self, device: int) -> tt.Program:
        """What a device does: a worker for each direction, and one that waits."""
        program = tt.CreateProgram()
        chips = self.devices.get_device_ids()
        by_worker: dict[int, list[Move]] = {}
        for move in self.moves:
            if move.source == device:
                by_worker.setdefault(self._worker_of(move, chips), []).append(move)
        for worker, moves in by_worker.items():
            self._add_worker(program, worker, moves, chips)
        expected = sum(move.target == device != move.source for move in self.moves) * self.pages
        config = tt.DataMovementConfig(
            processor=tt.DataMovementProcessor.RISCV_1, noc=tt.NOC.RISCV_1_default
        )
        kernel = tt.CreateKernelFromString(program, _WAIT, _CORE, config)
        tt.SetRuntimeArgs(program, kernel, _CORE, [self.arrived.address(), expected])
        return program

    def _worker_of(self, move: Move, chips: Sequence[int]) -> int:
        if move.source == move.target:
            return _LOCAL
        assert self.devices.fabric is not None, "several chips have a fabric"
        towards = self.devices.fabric.direction_to(chips[move.source], chips[move.target])
        return 0 if towards is None else int(towards)

    def _add_worker(
        self, program: tt.Program, worker: int, moves: Sequence[Move], chips: Sequence[int]
    ) -> None:
        core = tt.CoreCoord(worker, 0)
        buffer = tt.CircularBufferConfig(self.page, {0: tt.DataFormat.UInt8})
        tt.CreateCircularBuffer(program, core, buffer.set_page_size(0, self.page))
        layouts = [
            word
            for each in (self.own, self.got)
            for word in tt.TensorAccessorArgs(each).get_compile_time_args()
        ]
        is_local = worker == _LOCAL
        config = tt.DataMovementConfig(compile_args=[self.page, *layouts])
        text = _INCLUDES + (_COPY if is_local else _SEND)
        kernel = tt.CreateKernelFromString(program, text, core, config)
        arguments = [self.own.address(), self.got.address(), len(moves), self.pages]
        if is_local:
            arguments += [word for move in moves for word in (move.piece, move.slot)]
        else:
            signal = self.devices.worker_core_from_logical_core(_CORE)
            arguments += [self.arrived.address(), signal.x, signal.y]
            here, there = (FabricNodeId(0, chips[at]) for at in (moves[0].source, moves[0].target))
            tt.tt_fabric.append_fabric_connection_rt_args(here, there, 0, program, core, arguments)
            for move in moves:
                arguments += [chips[move.target], move.piece, move.slot]
        tt.SetRuntimeArgs(program, kernel, core, arguments)
