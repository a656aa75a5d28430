"""Objects of the second device API: transfers between all kinds of places, buffers, semaphores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cores.compute_core import ComputeCore
from cores.tile_bytes import core_of, eighths, unpacked
from running.host_programs import create_cbs, create_pages

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.layout.enums import DataType
from ttmlir.metalium import (
    CoreCoord,
    CoreRange,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    TensorAccessorArgs,
    WriterDataMovementConfig,
)
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi, NocObject
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.options import SimOptions

TXN_ID, INCLUDE_SRC = 1, 8
DATA = bytes(range(64))


class Place:
    """A core with a circular buffer at 0x20000, a peer, a bank of DRAM, and what they hold."""

    def __init__(self) -> None:
        """Neither sanitizer nor clocks."""
        options = SimOptions(sanitize=False, timed=False)
        self.device = SimDevice(SimChip.of_board("n150"), options)
        self.core, self.peer = self.device.core(1, 2), self.device.core(2, 2)
        self.cb = self.core.cbs[3] = CircularBuffer(3, 0x20000, 64, 4, DataType.BF16)
        self.core.semaphores[0] = self.peer.semaphores[0] = self.device.chip.semaphore_base
        for each in (self.core, self.peer):
            each.l1.write(self.device.chip.semaphore_base, bytes(4))
        thread = KernelThread(
            self.core,
            Role.BRISC,
            KernelSource("kernel", __file__),
            0,
            scheduler=Scheduler(options),
        )
        self.api = DataMovementApi(
            self.core, thread, options, self.device.network, compile_time_args=[2]
        )
        self.noc: NocObject = self.api.Noc()

    @property
    def at_peer(self) -> dict[str, int]:
        """The arguments that name the peer."""
        x, y = self.peer.coordinate
        return {"noc_x": x, "noc_y": y}


def fields(**values: int) -> tuple[tuple[str, int], ...]:
    """A list in braces."""
    return tuple(values.items())


SOURCES: list[tuple[str, Callable[[Place], tuple[Any, Any]]]] = [
    ("page of a tensor", lambda p: (
        p.api.TensorAccessor(p.api.TensorAccessorArgs(template=(0, 0)), 0x4000, 64),
        fields(page_id=2, offset_bytes=0))),
    ("bank", lambda p: (p.api.AllocatorBank((1,)), fields(bank_id=2, addr=0x4000))),
    ("peer", lambda p: (p.api.UnicastEndpoint(), fields(**p.at_peer, addr=0x8000))),
    ("own buffer", lambda p: (p.api.CircularBuffer(3), fields(offset_bytes=0))),
    ("own memory", lambda p: (0x9000, fields(offset_bytes=64))),
]  # fmt: skip


def fill(place: Place) -> None:
    """Put the data wherever a source of the table is."""
    place.device.network.dram[2].memory.write(0x4000, DATA)
    place.peer.l1.write(0x8000, DATA)
    place.core.l1.write(place.cb.rd_ptr, DATA)
    place.core.l1.write(0x9040, DATA)


@pytest.mark.parametrize(("name", "source"), SOURCES)
def test_reads(name: str, source: Callable[[Place], tuple[Any, Any]]) -> None:
    """From each kind of place into a circular buffer, at an offset, and with a number."""
    place = Place()
    fill(place)
    place.cb.received = 1
    place.cb.wr_ptr = 0x20040
    what, where = source(place)
    target = place.api.CircularBuffer(3)
    assert place.noc.async_read(what, target, 64, where, fields(offset_bytes=64))
    assert bytes(place.core.l1.read(0x20080, 64)) == DATA, name
    options = fields(vc=1, trid=3)
    assert place.noc.async_read(what, 0xA000, 64, where, (), options, template=(TXN_ID,))
    assert place.noc.async_read_barrier(fields(trid=3), template=(TXN_ID,))
    assert place.noc.async_read_barrier(3, template=(TXN_ID,))
    assert bytes(place.core.l1.read(0xA000, 64)) == DATA


@pytest.mark.parametrize("number", range(3))
def test_writes(number: int) -> None:
    """To tensors, banks and other cores, from the read pointer of a circular buffer."""
    place = Place()
    place.core.l1.write(0x20000, DATA)
    what, where = SOURCES[number][1](place)
    assert place.noc.async_write(place.api.CircularBuffer(3), what, 64, (), where)
    assert place.noc.async_write_barrier()
    memory, address = [
        (place.device.network.dram[2].memory, 0x4000),
        (place.device.network.dram[2].memory, 0x4000),
        (place.peer.l1, 0x8000),
    ][number]
    assert bytes(memory.read(address, 64)) == DATA


def test_pointers_of_a_buffer_are_chosen() -> None:
    """A source begins at the read pointer, a target at the write pointer, unless told otherwise."""
    place = Place()
    place.cb.wr_ptr = 0x20080
    place.core.l1.write(0x20080, DATA)
    writes = place.api.use(place.api.CircularBuffer(3), (2,))
    assert place.noc.async_write(
        writes, place.api.UnicastEndpoint(), 64, (), fields(**place.at_peer, addr=0x8000)
    )
    assert bytes(place.peer.l1.read(0x8000, 64)) == DATA
    reads = place.api.use(place.api.CircularBuffer(3), (1,))
    assert place.noc.async_read(0x20080, reads, 64)
    assert bytes(place.core.l1.read(0x20000, 64)) == DATA


@pytest.mark.parametrize("itself", [False, True])
def test_multicasts(itself: bool) -> None:
    """To a rectangle of cores at the own write pointer, this core included if so asked."""
    place = Place()
    place.core.l1.write(0x9000, DATA)
    (x0, y0), (x1, y1) = place.core.coordinate, place.peer.coordinate
    corners = fields(noc_x_start=x0, noc_y_start=y0, noc_x_end=x1, noc_y_end=y1, offset_bytes=64)
    target = place.api.CircularBuffer(3)
    template = (INCLUDE_SRC,) if itself else ()
    assert place.noc.async_write_multicast(
        0x9000, target, 64, 1 + itself, (), corners, 0, template=template
    )
    assert bytes(place.peer.l1.read(0x20040, 64)) == DATA
    assert (bytes(place.core.l1.read(0x20040, 64)) == DATA) is itself


def test_states_and_words() -> None:
    """A core that is set once; a word with some of its bytes."""
    place = Place()
    place.peer.l1.write(0x8000, DATA)
    endpoint = place.api.UnicastEndpoint()
    place.noc.set_async_read_state(endpoint, 16, fields(**place.at_peer, addr=0))
    assert place.noc.async_read_with_state(
        endpoint, 0x9000, 16, fields(addr=0x8010, **place.at_peer)
    )
    assert bytes(place.core.l1.read(0x9000, 16)) == DATA[16:32]
    place.noc.set_async_write_state(endpoint, 16, fields(**place.at_peer))
    target = fields(addr=0x8020, **place.at_peer)
    assert place.noc.async_write_with_state(0x9000, endpoint, 16, (), target)
    assert bytes(place.peer.l1.read(0x8020, 16)) == DATA[16:32]
    word = fields(addr=0x8000, **place.at_peer)
    assert place.noc.inline_dw_write(endpoint, 0xAABBCCDD, word, 0b0101)
    assert bytes(place.peer.l1.read(0x8000, 4)) == bytes([0xDD, 1, 0xBB, 3])


REFUSED: list[tuple[Callable[[Place], Any], str]] = [
    (lambda p: p.noc.async_read(0x9000, 0x9000, 64, fields(page_id=1)),
     "a pointer cannot be used here: its arguments have no .page_id but .offset_bytes"),
    (lambda p: p.noc.async_read(p.api.MulticastEndpoint(), 0x9000, 64),
     "MulticastEndpoint cannot be used here: use async_write_multicast"),
    (lambda p: p.noc.async_write(p.api.AllocatorBank((1,)), 0x9000, 64),
     "AllocatorBank cannot be used here: it is no location in the memory of this core"),
    (lambda p: p.noc.async_write_multicast(0x9000, p.api.UnicastEndpoint(), 64, 1),
     "a multicast goes to a CircularBuffer or MulticastEndpoint"),
    (lambda p: p.noc.async_read(p.api.AllocatorBank((1,)), 0x9000, 64, fields(bank_id=12)),
     "bank 12 does not exist"),
]  # fmt: skip


@pytest.mark.parametrize(("transfer", "message"), REFUSED)
def test_places_that_do_not_fit(transfer: Callable[[Place], Any], message: str) -> None:
    """The message says what a place takes, or what is to be used."""
    with pytest.raises(SimError, match=message):
        transfer(Place())


def test_semaphores() -> None:
    """Counted up here and there, waited for, counted down."""
    place = Place()
    semaphore = place.api.Semaphore(0)
    assert semaphore.up(3)
    assert semaphore.wait_min(2)
    assert semaphore.down(2)
    assert semaphore.value() == 1
    assert semaphore.wait(1)
    assert semaphore.up(place.noc, *place.peer.coordinate, 5)
    base = place.device.chip.semaphore_base
    assert bytes(place.peer.l1.read(base, 4)) == bytes([5, 0, 0, 0])
    assert not semaphore.down(9)
    semaphore.set(7)
    x, y = place.peer.coordinate
    assert semaphore.set_multicast(place.noc, x, y, x, y, 1)
    assert bytes(place.peer.l1.read(base, 4)) == bytes([7, 0, 0, 0])


# --- In C++ ---------------------------------------------------------------------------------------


def test_kernels_call_methods() -> None:
    """A reader fills a buffer for a writer; both wait, and a semaphore says when it is over."""
    device, program = CreateDevice(0), CreateProgram()
    core = CoreCoord(0, 0)
    create_cbs(program, core, 3, page_size=64, data_format=DataFormat.UInt32)
    done = CreateSemaphore(program, CoreRange(core, core), 0)
    reader = f"""void kernel_main() {{
        experimental::Noc noc;
        auto cb = experimental::CircularBuffer(3);
        auto done = Semaphore({done});
        for (uint32_t i = 0; i < 5; ++i) {{
            cb.reserve_back(1);
            *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(cb.get_write_ptr()) = i * i;
            cb.push_back(1);
        }}
        done.wait(5);
        noc.async_full_barrier();
        DPRINT << "done " << noc.get_noc_id() << ENDL();
    }}"""
    writer = f"""void kernel_main() {{
        auto cb = DataflowBuffer(3);
        auto done = Semaphore({done});
        for (uint32_t i = 0; i < 5; ++i) {{
            cb.wait_front(1);
            DPRINT << *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(cb.get_read_ptr()) << ENDL();
            cb.pop_front(1);
            done.up(1);
        }}
        DPRINT << cb.get_tile_size() << ' ' << cb.get_total_num_entries() << ENDL();
    }}"""
    CreateKernelFromString(program, reader, core, ReaderDataMovementConfig([]))
    CreateKernelFromString(program, writer, core, WriterDataMovementConfig([]))
    report = EnqueueProgram(device.command_queue(), program)
    lines = [line.partition(": ")[2] for line in report.printed]
    assert sorted(lines) == sorted(["0", "1", "4", "9", "16", "4096 2", "done 0"])


def test_compute_kernels_wait_on_their_threads() -> None:
    """The unpack thread waits and pops, the pack thread reserves and pushes."""
    x = eighths(1)
    core: ComputeCore = core_of((x, DataType.BF16))
    core.run_cpp(
        """void kernel_main() {
            auto in = CircularBuffer(0);
            auto out = CircularBuffer(16);
            unary_op_init_common(in.get_cb_id(), 16);
            in.wait_front(1);
            tile_regs_acquire();
            copy_tile(0, 0, 0);
            tile_regs_commit();
            in.pop_front(1);
            out.reserve_back(1);
            tile_regs_wait();
            pack_tile(0, 16);
            tile_regs_release();
            out.push_back(1);
        }"""
    )
    assert (core.core.cbs[0].acked, core.core.cbs[16].received) == (1, 1)
    np.testing.assert_array_equal(unpacked(core.bytes_of(16))[0], x)


def test_lists_in_braces_and_options() -> None:
    """A tensor goes through a buffer with modes of early and options of late 2026."""
    device, program = CreateDevice(0), CreateProgram()
    core = CoreCoord(0, 0)
    values = np.arange(6 * 16, dtype=np.uint32)
    tensors = [create_pages(device, 6, 64) for _ in range(2)]
    EnqueueWriteBuffer(device.command_queue(), tensors[0], values, False)
    create_cbs(program, core, 3, page_size=64, data_format=DataFormat.UInt32)
    start = """void kernel_main() {
        constexpr auto args = TensorAccessorArgs<0>();
        const auto tensor = TensorAccessor(args, get_arg_val<uint32_t>(0));
        Noc noc;
        CircularBuffer cb(3);
        for (uint32_t i = 0; i < 6; ++i) {"""
    reader = f"""{start}
            cb.reserve_back(1);
            noc.async_read<NocOptions::TXN_ID>(
                tensor, cb, 64, {{.page_id = i}}, {{.offset_bytes = 0}}, {{.trid = 2}});
            noc.async_read_barrier<NocOptions::TXN_ID>({{.trid = 2}});
            cb.push_back(1);
        }}
    }}"""
    writer = f"""{start}
            cb.wait_front(1);
            noc.async_write<Noc::TxnIdMode::DISABLED, Noc::ResponseMode::NON_POSTED>(
                use<CircularBuffer::AddrSelector::READ_PTR>(cb), tensor, 64, {{}},
                {{.page_id = 5 - i}});
            noc.async_write_barrier();
            cb.pop_front(1);
        }}
    }}"""
    sides = ((reader, ReaderDataMovementConfig), (writer, WriterDataMovementConfig))
    for tensor, (text, make) in zip(tensors, sides, strict=True):
        words: list[int] = []
        TensorAccessorArgs(tensor, aligned_page_size=True).append_to(words)
        kernel = CreateKernelFromString(program, text, core, make(words))
        SetRuntimeArgs(program, kernel, core, [tensor.address()])
    EnqueueProgram(device.command_queue(), program)
    back = np.zeros_like(values)
    EnqueueReadBuffer(device.command_queue(), tensors[1], back, True)
    np.testing.assert_array_equal(back, values.reshape(6, 16)[::-1].reshape(-1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("noc.async_read(1, cb, 64, {.pageid = 1}, {})", "have '.pageid'; did you mean '.page_id'"),
        ("noc.async_read(cb, cb, 64, {1}, {})", "write '.name = value' in these braces"),
        ("cb.reserve_back({.page_id = 1})", "no list in braces is taken here"),
        ("noc.async_reed(cb, cb, 64)", "did you mean 'async_read"),
    ],
)
def test_arguments_that_transfers_do_not_have(call: str, message: str) -> None:
    """The message says what is meant."""
    text = f"void kernel_main() {{ Noc noc; CircularBuffer cb(3); {call}; }}"
    with pytest.raises(CppSyntaxError, match=message):
        compile_kernel(text, "k.cpp", Role.BRISC, api=DataMovementApi)
