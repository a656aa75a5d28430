"""What devices of a mesh exchange, by kernels that send over the fabric of the simulated chips.

Each device has pieces of bytes, and slots for those that it gets; a `Move` copies a piece of one
device to a slot of another. A worker for each direction that a chip sends in reads pages from DRAM,
and sends each as a packet, which writes it to DRAM of the other chips and counts it there: a piece
that several chips in a direction get into the same slot is multicast.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ttmlir.layout.enums import DataType
from ttmlir.layout.system import board as board_named
from ttmlir.optable.kernel import Role
from ttmlir.sim.execution.cluster_run import run_on_cluster
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import CommandQueue, ProgramReport
from ttmlir.sim.machine.address_generators import Buffer, split_accessor_words
from ttmlir.sim.machine.cluster import Cluster
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.fabric import STEPS, Direction, Fabric, FabricConfig
from ttmlir.sim.options import SimOptions

_PAGE, _ALIGNMENT = 4096, 64
"""Most bytes of a packet, and what the sizes of pages are multiples of."""
_CORE = (0, 0)
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
        const uint32_t hops = get_arg_val<uint32_t>(arg++);
        if (hops == 0) {
            fabric_set_unicast_route(header, chip, 0);
        } else {
            fabric_set_mcast_route(
                header, chip, 0, hops & 255, hops >> 8 & 255, hops >> 16 & 255, hops >> 24);
        }
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
    reports: tuple[ProgramReport, ...]
    """Of each chip, from the common beginning on."""
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
    chips = _Chips(board, mesh, SimOptions(timed=timed, cycle_limit=_PATIENCE))
    run = _Exchange(chips, mesh, moves, page, pages)
    return run.run([[_padded(each, page * pages) for each in own] for own in pieces], size)


def _padded(piece: bytes, size: int) -> bytes:
    return piece + bytes(size - len(piece))


class _Chips:
    """A rectangle of the chips of a board, and the fabric that connects them."""

    def __init__(self, board: str, mesh: tuple[int, int], options: SimOptions) -> None:
        system = board_named(board)
        columns = max(at.x for at in system.chip_coords) + 1
        self.numbers = [y * columns + x for y in range(mesh[0]) for x in range(mesh[1])]
        self.cluster = Cluster(system)
        self.devices = [
            SimDevice(SimChip.of_board(board, each), options, device_id=each)
            for each in self.numbers
        ]
        for each in self.devices:
            self.cluster.add(each)
        config = FabricConfig.FABRIC_2D if len(self.devices) > 1 else FabricConfig.DISABLED
        self.fabric = Fabric(self.cluster, config)


class _Route(NamedTuple):
    """Where a packet goes: to a chip or, with hops, to those within a rectangle."""

    direction: int
    target: int
    """The chip or, of a multicast, the first one on the way."""
    hops: int = 0
    """Those to the east, west, north and south, a byte each."""


@dataclass
class _Exchange:
    chips: _Chips
    mesh: tuple[int, int]
    moves: Sequence[Move]
    page: int
    pages: int

    def run(self, pieces: Sequence[Sequence[bytes]], size: int) -> ExchangeRun:
        self.own = self._allocate(max(map(len, pieces)))
        self.got = self._allocate(1 + max((move.slot for move in self.moves), default=0))
        for buffer, own in zip(self.own, pieces, strict=True):
            data = b"".join(own)
            buffer.write(_padded(data, buffer.size))
        programs = [
            (CommandQueue(device), self._write_program(number))
            for number, device in enumerate(self.chips.devices)
        ]
        reports = run_on_cluster(self.chips.cluster, self.chips.fabric, programs)
        length = self.page * self.pages
        slots: list[dict[int, bytes]] = []
        for device, buffer in enumerate(self.got):
            read = buffer.read()
            taken = [move.slot for move in self.moves if move.target == device]
            slots.append({slot: read[slot * length :][:size] for slot in taken})
        return ExchangeRun(slots, tuple(reports), self.chips.fabric.carried())

    def _allocate(self, count: int) -> list[Buffer]:
        size = count * self.pages * self.page
        return [Buffer(each, size, self.page) for each in self.chips.devices]

    def _write_program(self, device: int) -> Program:
        """What a device does: a worker for each direction, and one that waits."""
        program = Program()
        arrived = program.add_semaphore((_CORE,))
        address = (
            self.chips.devices[device].chip.semaphore_base
            + arrived * self.chips.devices[device].chip.l1_alignment
        )
        local = [move for move in self.moves if move.source == move.target == device]
        if local:
            words = [word for move in local for word in (move.piece, move.slot)]
            self._add_worker(program, device, _LOCAL, _COPY, [len(local)], words)
        by_direction: dict[int, list[int]] = {}
        for (piece, slot), targets in self._targets(device).items():
            for route in self._routes(device, targets):
                words = [route.target, piece, slot, route.hops]
                by_direction.setdefault(route.direction, []).extend(words)
        for direction, words in by_direction.items():
            x, y = self.chips.devices[device].chip.noc_coordinate(_CORE)
            core = (direction, 0)
            end = self.chips.fabric.links_to(self.chips.numbers[device], Direction(direction))[0]
            connection = [end.channel, *(program.add_semaphore((core,)) for _ in range(2))]
            self._add_worker(
                program,
                device,
                direction,
                _SEND,
                [len(words) // 4],
                [address, x, y, *connection, *words],
            )
        expected = sum(move.target == device != move.source for move in self.moves) * self.pages
        program.add_kernel(
            Kernel(
                name="wait",
                file="wait.cpp",
                text=_WAIT,
                cores=(_CORE,),
                role=Role.NCRISC,
                noc_index=1,
                arguments={_CORE: [address, expected]},
            )
        )
        return program

    def _targets(self, device: int) -> dict[tuple[int, int], list[int]]:
        """The devices that get a piece into a slot, in the order of the moves."""
        found: dict[tuple[int, int], list[int]] = {}
        for move in self.moves:
            if device == move.source != move.target:
                found.setdefault((move.piece, move.slot), []).append(move.target)
        return found

    def _routes(self, device: int, targets: Sequence[int]) -> list[_Route]:
        """How a piece gets to its devices: to whole rows, and along lines, by one packet."""
        row, column = divmod(device, self.mesh[1])
        places = {divmod(each, self.mesh[1]) for each in targets}
        routes: list[_Route] = []
        columns = range(self.mesh[1])
        for direction in (Direction.NORTH, Direction.SOUTH):
            down, reach = STEPS[direction][0], 0
            while all((row + down * (reach + 1), each) in places for each in columns):
                reach += 1
            if reach and len(columns) > 1:
                places -= {(row + down * n, each) for n in range(1, reach + 1) for each in columns}
                first = (row + down) * self.mesh[1] + column
                hops = reach << 8 * int(direction) | column << 8 | columns[-1] - column
                routes.append(_Route(int(direction), self.chips.numbers[first], hops))
        for direction, (down, right) in STEPS.items():
            reach = 0
            while (row + down * (reach + 1), column + right * (reach + 1)) in places:
                reach += 1
            line = {(row + down * n, column + right * n) for n in range(1, reach + 1)}
            if reach > 1:
                places -= line
                first = (row + down) * self.mesh[1] + column + right
                hops = reach << 8 * int(direction)
                routes.append(_Route(int(direction), self.chips.numbers[first], hops))
        for each in targets:
            if divmod(each, self.mesh[1]) in places:
                here, there = self.chips.numbers[device], self.chips.numbers[each]
                towards = self.chips.fabric.direction_to(here, there)
                assert towards is not None, "all chips of a rectangle are reached"
                routes.append(_Route(int(towards), there))
        return routes

    def _add_worker(
        self,
        program: Program,
        device: int,
        worker: int,
        text: str,
        count: Sequence[int],
        words: Sequence[int],
    ) -> None:
        core = (worker, 0)
        own, got = self.own[device], self.got[device]
        indices = {0: (self.page, DataType.U8)}
        program.add_circular_buffer(
            CircularBufferSpec(cores=(core,), total_size=self.page, indices=indices)
        )
        layouts = [
            word for each in (own, got) for word in split_accessor_words(each.accessor_args(), 0)[0]
        ]
        name = "copy" if worker == _LOCAL else f"send_{Direction(worker).name.lower()}"
        program.add_kernel(
            Kernel(
                name=name,
                file=f"{name}.cpp",
                text=_INCLUDES + text,
                cores=(core,),
                role=Role.BRISC,
                compile_time_args=[self.page, *layouts],
                defines={"ROUTING_MODE": str(self.chips.fabric.config.routing_mode)},
                arguments={core: [own.address, got.address, *count, self.pages, *words]},
            )
        )
