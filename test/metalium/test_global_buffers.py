"""Global circular buffers: pages from a core to its receivers, and mistakes with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import pytest

from ttmlir.metalium import (
    NOC,
    CircularBufferConfig,
    ComputeConfig,
    CoreCoord,
    CoreRange,
    CoreRangeSet,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    DataMovementConfig,
    DataMovementProcessor,
    Device,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    MetaliumError,
    SetRuntimeArgs,
    experimental,
)
from ttmlir.sim.errors import SimError

END, LOCAL = 31, 3
"""Indices of circular buffers: the end of the global one, and what shares its bytes."""
DATA = 16384
SENDER_CORE = CoreCoord(0, 1)
RECEIVER_CORES = (CoreCoord(2, 0), CoreCoord(3, 0), CoreCoord(2, 2))

SENDER = """
#include "dataflow_api.h"
#include "api/remote_circular_buffer.h"
void kernel_main() {
    const uint32_t data = get_arg_val<uint32_t>(0);
    const uint32_t rows = get_arg_val<uint32_t>(1);
    const uint32_t size = get_arg_val<uint32_t>(2);
    const uint32_t count = get_arg_val<uint32_t>(3);
    const uint32_t receivers = get_arg_val<uint32_t>(4);
    const uint32_t room = get_write_ptr(0);
    const uint32_t page = rows * 2 * size;
    experimental::resize_remote_sender_cb_interface<true>(31, page, noc_index);
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t source = get_noc_addr_from_bank_id<true>(0, data + i * page * receivers);
        noc_async_read(source, room, page * receivers);
        noc_async_read_barrier();
        experimental::remote_cb_reserve_back(31, 1);
        experimental::remote_cb_push_back_and_write_pages<false>(31, room, 1, rows, 2, size);
        noc_async_writes_flushed();
    }
    experimental::remote_cb_sender_barrier(31);
    experimental::update_remote_cb_config_in_l1(31);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
}
"""
"""Pages of `rows` rows, of which each receiver gets two parts of `size` bytes of each row."""

RECEIVER = """
#include "dataflow_api.h"
#include "api/remote_circular_buffer.h"
void kernel_main() {
    const uint32_t count = get_arg_val<uint32_t>(3);
    const uint32_t page = get_arg_val<uint32_t>(1) * 2 * get_arg_val<uint32_t>(2);
    experimental::resize_remote_receiver_cb_interface<true>(31, page, noc_index);
    experimental::align_local_cbs_to_remote_cb<1>(31, {3});
    const uint32_t part = get_local_cb_interface(3).fifo_page_size;
    for (uint32_t i = 0; i < count; i++) {
        cb_reserve_back(3, page / part);
        experimental::remote_cb_wait_front(31, 1);
        cb_push_back(3, page / part);
        cb_wait_front(4, 1);
        cb_pop_front(4, 1);
        experimental::remote_cb_pop_front(31, 1);
    }
    experimental::update_remote_cb_config_in_l1(31);
    noc_async_atomic_barrier();
}
"""
WRITER = """
#include "dataflow_api.h"
void kernel_main() {
    const uint32_t data = get_arg_val<uint32_t>(0);
    const uint32_t page = get_arg_val<uint32_t>(1) * 2 * get_arg_val<uint32_t>(2);
    const uint32_t count = get_arg_val<uint32_t>(3);
    const uint32_t part = get_local_cb_interface(3).fifo_page_size;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < page / part; j++) {
            cb_wait_front(3, 1);
            const uint32_t target = data + i * page + j * part;
            noc_async_write(get_read_ptr(3), get_noc_addr_from_bank_id<true>(0, target), part);
            noc_async_write_barrier();
            cb_pop_front(3, 1);
        }
        cb_reserve_back(4, 1);
        cb_push_back(4, 1);
    }
}
"""


class Pipe:
    """A global circular buffer with one sender, and a program for each transfer."""

    def __init__(self, size: int, receivers: int = 2, **options: Any) -> None:
        """`size` bytes on each core."""
        self.device: Device = CreateDevice(0, **options)
        self.receivers = RECEIVER_CORES[:receivers]
        ranges = CoreRangeSet([CoreRange(each, each) for each in self.receivers])
        self.buffer = experimental.CreateGlobalCircularBuffer(
            self.device, [(SENDER_CORE, ranges)], size
        )
        self.copies = [self._dram() for _ in self.receivers]
        self.data = self._dram()
        self.seed = 0

    def _dram(self) -> Any:
        return CreateBuffer(InterleavedBufferConfig(device=self.device, size=DATA, page_size=DATA))

    def transfer(
        self,
        rows: int,
        size: int,
        count: int,
        *,
        part: int = 32,
        sender: str = SENDER,
        receiver: str = RECEIVER,
        at_begin: int = 0,
        compute: str = "",
    ) -> int:
        """Send pages, and compare what each receiver has: the cycles.

        With `compute` the pages go through a kernel that copies tiles of bfloat16.
        """
        number_format = DataFormat.Float16_b if compute else DataFormat.UInt32
        program, number = CreateProgram(), len(self.receivers)
        page = rows * 2 * size
        cores = CoreRangeSet([CoreRange(each, each) for each in self.buffer.all_cores()])
        config = CircularBufferConfig(self.buffer.size(), {LOCAL: number_format})
        config.set_page_size(LOCAL, part).remote_index(END).set_page_size(at_begin or page)
        experimental.CreateCircularBuffer(program, cores, config, self.buffer)
        for index, core in ((0, SENDER_CORE), *((4, each) for each in self.receivers)):
            config = CircularBufferConfig(8192, {index: DataFormat.UInt32})
            CreateCircularBuffer(program, core, config.set_page_size(index, 8192))
        facts = [rows, size, count, number]
        kernel = CreateKernelFromString(program, sender, SENDER_CORE, DataMovementConfig())
        SetRuntimeArgs(program, kernel, SENDER_CORE, [self.data.address(), *facts])
        writes = DataMovementConfig(processor=DataMovementProcessor.RISCV_1, noc=NOC.NOC_1)
        writer = WRITER.replace("(3, 1)", "(16, 1)").replace("ptr(3)", "ptr(16)")
        for core, copy in zip(self.receivers, self.copies, strict=True):
            if compute:
                config = CircularBufferConfig(2 * part, {16: number_format}).set_page_size(16, part)
                CreateCircularBuffer(program, core, config)
                kernel = CreateKernelFromString(program, compute, core, ComputeConfig())
                SetRuntimeArgs(program, kernel, core, [count * rows * 2 * size // part, page])
            for text, how in (
                (receiver, DataMovementConfig()),
                (writer if compute else WRITER, writes),
            ):
                kernel = CreateKernelFromString(program, text, core, how)
                SetRuntimeArgs(program, kernel, core, [copy.address(), *facts])
        queue = self.device.command_queue()
        self.seed += 1
        words = np.random.default_rng(self.seed).integers(0, 1 << 32, DATA // 4, np.uint32)
        if compute:
            # What a tile of bfloat16 keeps: neither NaN nor denormal numbers.
            words = (words & 0x3FFF_3FFF) | 0x2000_2000
        EnqueueWriteBuffer(queue, self.data, words)
        EnqueueProgram(queue, program)
        sent = words[: count * rows * number * 2 * size // 4].reshape(count, rows, number, -1)
        for index, copy in enumerate(self.copies):
            expected = sent[:, :, index].ravel()
            got = EnqueueReadBuffer(queue, copy, dtype=np.uint32)
            assert np.array_equal(got[: expected.size], expected)
        return queue.reports[-1].cycles


@pytest.mark.parametrize(
    "options",
    [{}, {"timed": False}, {"delay_copies": True}, {"schedule_seed": 3}, {"board": "p150"}],
)
def test_pages_to_receivers(options: dict[str, Any]) -> None:
    """Thirteen pages of 3 rows, of which each receiver gets its two parts, with room for two."""
    Pipe(1024, **options).transfer(3, 64, 13)


def test_sizes_of_pages_change() -> None:
    """From program to program: what does not fill the end is skipped, by both ends."""
    pipe = Pipe(1024, 3)
    for rows, size, count in ((3, 64, 2), (1, 32, 5), (5, 80, 3), (2, 128, 4), (1, 16, 7)):
        pipe.transfer(rows, size, count)


def test_sizes_of_pages_change_in_a_kernel() -> None:
    """The program begins with pages of another size than its kernels have."""
    pipe = Pipe(1024, 1)
    pipe.transfer(3, 64, 2, at_begin=512)
    pipe.transfer(3, 64, 3, at_begin=256)
    pipe.transfer(1, 32, 9, at_begin=1024)


COPY = """
#include "api/compute/common.h"
#include "api/compute/tile_move_copy.h"
#include "api/compute/eltwise_unary/eltwise_unary.h"
#include "api/remote_circular_buffer.h"
void kernel_main() {
    unary_op_init_common(3, 16);
    experimental::resize_remote_receiver_cb_interface<false>(31, get_arg_val<uint32_t>(1), 0);
    experimental::align_local_cbs_to_remote_cb<1>(31, {3});
    copy_tile_to_dst_init_short(3);
    for (uint32_t i = 0; i < get_arg_val<uint32_t>(0); i++) {
        cb_wait_front(3, 1);
        tile_regs_acquire();
        copy_tile(3, 0, 0);
        tile_regs_commit();
        cb_pop_front(3, 1);
        cb_reserve_back(16, 1);
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_push_back(16, 1);
    }
}
"""


@pytest.mark.parametrize("options", [{}, {"timed": False}, {"schedule_seed": 5}])
def test_compute_kernels_read_pages_in_place(options: dict[str, Any]) -> None:
    """The first program ends in the middle; the compute kernel of the second begins there."""
    pipe = Pipe(3 * 2048, 2, **options)
    receiver = RECEIVER.replace("experimental::align_local_cbs_to_remote_cb<1>(31, {3});", "")
    pipe.transfer(1, 1024, 2, part=2048, receiver=receiver, compute=COPY)
    pipe.transfer(1, 1024, 3, part=2048, receiver=receiver, compute=COPY)


def test_compute_kernels_have_no_network() -> None:
    """They wait for pages of their own circular buffers alone."""
    waits = COPY.replace("cb_wait_front(3, 1);", "experimental::remote_cb_wait_front(31, 1);")
    with pytest.raises(SimError, match="remote_cb_wait_front"):
        Pipe(3 * 2048, 2).transfer(1, 1024, 2, part=2048, compute=waits)


def test_room_for_all_takes_less_time() -> None:
    """With room for one page the sender waits for each; the first program of each is alike."""
    one, all_of_them = (Pipe(size, 2).transfer(1, 128, 12) for size in (256, 4096))
    assert all_of_them < one


PUSH = "experimental::remote_cb_push_back_and_write_pages<false>(31, room, 1, rows, 2, size);"
POP = "experimental::remote_cb_pop_front(31, 1);"


@pytest.mark.parametrize(
    ("changed", "into", "rule", "message"),
    [
        ("experimental::remote_cb_reserve_back(31, 1);", "", "", "remote_cb_push_back_and_write"),
        ("experimental::remote_cb_reserve_back(31, 1);", PUSH + PUSH, "remote-cb-overrun",
         "call remote_cb_reserve_back() before pages are written"),
        ("experimental::remote_cb_reserve_back(31, 1);",
         "experimental::remote_cb_reserve_back(31, 3);", "remote-cb",
         "3 pages of 384 bytes; circular buffer 31 has 2"),
        ("experimental::remote_cb_wait_front(31, 1);", "", "", "nobody"),
        ("cb_push_back(3, page / part);", POP + " cb_push_back(3, page / part);",
         "race", "core (0, 1)"),
        ("experimental::remote_cb_wait_front(31, 1);", POP, "remote-cb-overrun",
         "have come; call remote_cb_wait_front() first"),
        (POP, "", "race", "nothing orders the two accesses"),
        ("noc_async_read_barrier();\n        experimental::remote_cb_reserve_back(31, 1);",
         "noc_async_read_barrier();\n        experimental::remote_cb_sender_barrier(31); " + PUSH,
         "deadlock", "bytes that core (2, 0) gives back of circular buffer 31"),
        (PUSH, "", "deadlock", "384 bytes that core (0, 1) sends to circular buffer 31"),
        (PUSH, PUSH.replace("rows,", "rows + 1,"), "remote-cb",
         "512 bytes are written for 1 pages of 384 bytes"),
        ("resize_remote_sender_cb_interface<true>(31, page, noc_index)",
         "resize_remote_sender_cb_interface<true>(31, page + 8, noc_index)", "remote-cb",
         "pages of 392 bytes in a global circular buffer of 1024"),
        ("resize_remote_sender_cb_interface", "resize_remote_receiver_cb_interface", "remote-cb",
         "this core is a sender of circular buffer 31; the call is for a core that receives"),
        ("experimental::remote_cb_sender_barrier(31)", "experimental::remote_cb_sender_barrier(30)",
         "remote-cb", "circular buffer 30 is no end of a global circular buffer on this core; those"
         " are 31 (sender)"),
    ],
)  # fmt: skip
def test_mistakes(changed: str, into: str, rule: str, message: str) -> None:
    """Each is told at the line of the kernel."""
    assert SENDER.count(changed) + RECEIVER.count(changed) == 1
    sender, receiver = (each.replace(changed, into) for each in (SENDER, RECEIVER))
    with pytest.raises(SimError) as caught:
        Pipe(1024).transfer(3, 64, 13, sender=sender, receiver=receiver)
    text = str(caught.value)
    assert f"[{rule}" in text
    assert message in text
    assert re.match(r"kernel_\d\.cpp:\d+:\d+: error: ", text)


def test_pages_that_are_left() -> None:
    """The next program may take them, so that it is a note; nobody waits for posted additions."""
    pipe = Pipe(1024, 1)
    sender = SENDER.replace("experimental::remote_cb_sender_barrier(31);", "")
    receiver = RECEIVER.replace(POP, "if (i + 1 < count) " + POP)
    receiver = receiver.replace("noc_async_atomic_barrier();\n}", "}")
    pipe.transfer(3, 64, 5, sender=sender, receiver=receiver)
    found = pipe.device.command_queue().reports[-1].findings
    [note] = [each for each in found if each.severity == "note"]
    assert (note.rule, note.core, note.role) == ("cb-not-empty", (2, 0), "BRISC")
    assert "circular buffer 31 still has 384 bytes at the end of the program" in note.text()


def test_an_end_that_forgets() -> None:
    """The next program finds that the last one did not write its place back."""
    pipe = Pipe(1024)
    receiver = RECEIVER.replace("experimental::update_remote_cb_config_in_l1(31);", "")
    pipe.transfer(3, 64, 3, receiver=receiver)
    with pytest.raises(SimError, match=r"kernel_1.*call update_remote_cb_config_in_l1\(\)"):
        pipe.transfer(3, 64, 3)


def test_registers_are_written_back() -> None:
    """As ttnn's kernels do in the end; a kernel may have a variable of the name of a mode."""
    text = SENDER.replace(
        "noc_async_atomic_barrier();",
        """
    noc_async_atomic_barrier();
    NOC_CMD_BUF_WRITE_REG(noc_index, NCRISC_RD_CMD_BUF, NOC_CTRL,
        NOC_CMD_CPY | NOC_CMD_RD | NOC_CMD_RESP_MARKED | NOC_CMD_VC_STATIC | NOC_CMD_STATIC_VC(1));
    if (noc_mode == DM_DEDICATED_NOC) {
        ncrisc_noc_counters_init();
    } else {
        dynamic_noc_local_state_init();
    }
    const uint8_t noc_mode = DM_DYNAMIC_NOC;
    DPRINT << (uint32_t)noc_mode << ENDL();""",
    )
    pipe = Pipe(1024)
    pipe.transfer(3, 64, 2, sender=text)
    assert pipe.device.printed == ["core (0, 1) BRISC: 1"]


def test_a_class_for_an_end() -> None:
    """`RemoteCircularBuffer` has the calls as methods."""
    sender = SENDER.replace(PUSH, """
        using Update = experimental::RemoteCircularBuffer::RemotePointerUpdate;
        pipe.push_back<CircularBuffer, Update::SKIP>(noc, pages, 1, rows, 2, size);""").replace(
        "for (uint32_t i", "experimental::RemoteCircularBuffer pipe(31); Noc noc; "
        "CircularBuffer pages(0);\n    for (uint32_t i")  # fmt: skip
    for call in ("reserve_back(31, 1)", "sender_barrier(31)"):
        name, _, rest = call.partition("(31")
        method = f"{name.removeprefix('sender_')}({rest.removeprefix(', ')}"
        sender = sender.replace(f"experimental::remote_cb_{call}", f"pipe.{method}")
    sender = sender.replace("experimental::update_remote_cb_config_in_l1(31)", "pipe.commit()")
    include = '#include "api/dataflow/noc.h"\n#include "api/dataflow/circular_buffer.h"\n'
    assert sender.count("pipe.") == 4
    Pipe(1024).transfer(3, 64, 5, sender=include + sender)


@pytest.mark.parametrize(
    ("mapping", "size", "message"),
    [
        ([], 64, "has senders, each with one receiver or more"),
        ([((0, 0), [(1, 0)])], 100, "the size is 100; it has to be a multiple of 16 bytes"),
        ([((0, 0), [(0, 0)])], 64, "core (0, 0) is an end of the global circular buffer twice"),
        ([((0, 0), [(1, 0)]), ((0, 1), [(1, 0)])], 64, "core (1, 0) is an end"),
        ([((0, 0), [(99, 0)])], 64, "(99, 0)"),
        ([((0, 0), [(1, 0)])], 1 << 24, "L1"),
    ],
)
def test_buffers_that_cannot_be(
    mapping: Sequence[tuple[tuple[int, int], Sequence[tuple[int, int]]]], size: int, message: str
) -> None:
    """The call of the host is refused."""
    ends = [
        (CoreCoord(*one), CoreRangeSet([CoreRange(CoreCoord(*x), CoreCoord(*x)) for x in others]))
        for one, others in mapping
    ]
    with pytest.raises(MetaliumError, match=re.escape(message)):
        experimental.CreateGlobalCircularBuffer(CreateDevice(0), ends, size)


@pytest.mark.parametrize("mapping", [None, 3, [3], [(None, CoreCoord(1, 0))], [CoreCoord(0, 0)]])
def test_buffers_of_no_ends(mapping: Any) -> None:
    """What is no list of senders and receivers is refused as an empty one is."""
    with pytest.raises(MetaliumError, match="has senders, each with one receiver or more"):
        experimental.CreateGlobalCircularBuffer(CreateDevice(0), mapping, 64)


def test_ends_are_pairs_of_numbers_too() -> None:
    """As wherever a call takes cores."""
    buffer = experimental.CreateGlobalCircularBuffer(
        CreateDevice(0), [(cast("Any", (0, 1)), cast("Any", (2, 0)))], 64
    )
    assert buffer.sender_cores() == [CoreCoord(0, 1)]
    assert buffer.receiver_cores() == [CoreCoord(2, 0)]


def test_ends_that_cannot_be() -> None:
    """Circular buffers on a global one have its cores, its size and pages of their own."""
    pipe, program = Pipe(256), CreateProgram()

    def join(cores: CoreCoord, page: int, total: int = 256, index: int = END) -> None:
        config = CircularBufferConfig(total, {LOCAL: DataFormat.UInt32}).set_page_size(LOCAL, 32)
        config.remote_index(index).set_page_size(page)
        experimental.CreateCircularBuffer(program, cores, config, pipe.buffer)

    cases: list[tuple[tuple[Any, ...], str]] = [
        ((CoreCoord(5, 5), 64), "core (5, 5) is no end of the global circular buffer"),
        ((SENDER_CORE, 40), "circular buffer 31 has pages of 40 bytes"),
        ((SENDER_CORE, 512), "circular buffer 31 has pages of 512 bytes"),
        ((SENDER_CORE, 64, 512), "512 bytes; the global circular buffer has 256"),
        ((SENDER_CORE, 64, 256, 40), "circular buffers 0 to 31"),
        ((SENDER_CORE, 64, 256, LOCAL), "circular buffer 3 is an end of the global one"),
    ]
    for given, message in cases:
        with pytest.raises(MetaliumError, match=re.escape(message)):
            join(*given)
    config = CircularBufferConfig(256, {LOCAL: DataFormat.UInt32}).set_page_size(LOCAL, 32)
    with pytest.raises(MetaliumError, match=r"call remote_index\(i\).set_page_size\(n\)"):
        experimental.CreateCircularBuffer(program, SENDER_CORE, config, pipe.buffer)
    with pytest.raises(MetaliumError, match="takes a CircularBufferConfig, not None"):
        experimental.CreateCircularBuffer(program, SENDER_CORE, cast("Any", None), pipe.buffer)
    config.remote_index(END).set_page_size(64)
    with pytest.raises(MetaliumError, match=r"call experimental\.CreateCircularBuffer"):
        CreateCircularBuffer(program, SENDER_CORE, config)
