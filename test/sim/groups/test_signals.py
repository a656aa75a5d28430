"""Cores that send each other pages and wait for semaphores run in groups, where that is right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
from running.group_comparison import run_both_ways
from running.randomness import TestGenerator

from ttmlir import metalium
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import ProgramRun, run_program
from ttmlir.sim.groups import group_run
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.numerics import TILE_BYTES
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.report import ThreadTimes

RNG = TestGenerator(__name__)

Core = tuple[int, int]
IDLE: Core = (7, 7)
"""It has semaphores, and runs nothing."""
BF16 = DataType.BF16
SIZE = TILE_BYTES[BF16]

START = """
#include "dataflow_api.h"
#include "api/dataflow/circular_buffer.h"
#include "api/dataflow/endpoints.h"
#include "api/dataflow/noc.h"
#include "api/dataflow/noc_semaphore.h"
void kernel_main() {
    const uint32_t a_address = get_arg_val<uint32_t>(0), first = get_arg_val<uint32_t>(1);
    const uint32_t sender_x = get_arg_val<uint32_t>(2), sender_y = get_arg_val<uint32_t>(3);
    const uint32_t start_x = get_arg_val<uint32_t>(4), start_y = get_arg_val<uint32_t>(5);
    const uint32_t end_x = get_arg_val<uint32_t>(6), end_y = get_arg_val<uint32_t>(7);
    const uint32_t ready = get_semaphore(0), valid = get_semaphore(1);
    volatile tt_l1_ptr uint32_t* ready_word =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready);
    volatile tt_l1_ptr uint32_t* valid_word =
        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(valid);
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = a_address, .page_size = get_tile_size(0),
        .data_format = get_dataformat(0)};
    BODY
}
"""

SEND = """
    noc_semaphore_set(valid_word, 1);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        cb_reserve_back(0, 2);
        const uint32_t write = get_write_ptr(0);
        for (uint32_t i = 0; i < 2; i++) {
            noc_async_read_tile(first + 2 * block + i, a, write + i * get_tile_size(0));
        }
        noc_async_read_barrier();
        noc_semaphore_wait(ready_word, RECEIVERS);
        noc_semaphore_set(ready_word, 0);
        noc_async_write_multicast(
            write, get_noc_multicast_addr(start_x, start_y, end_x, end_y, write),
            2 * get_tile_size(0), RECEIVERS, true);
        noc_async_writes_flushed();
        noc_semaphore_set_multicast(
            valid, get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid), RECEIVERS);
        cb_push_back(0, 2);
    }
    noc_async_write_barrier();
"""
"""The first core of a row reads blocks of two tiles and sends them to the others."""

RECEIVE = """
    for (uint32_t block = 0; block < BLOCKS; block++) {
        cb_reserve_back(0, 2);
        noc_semaphore_set(valid_word, 0);
        noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready), 1);
        noc_semaphore_wait(valid_word, 1);
        cb_push_back(0, 2);
    }
"""
"""The others say that they have room, and wait."""

SIGNAL = """
    if (is_under_way) {
        noc_async_writes_flushed();
        noc_semaphore_set_multicast(
            valid, get_noc_multicast_addr(start_x, start_y, end_x, end_y, valid), RECEIVERS);
        is_under_way = false;
    }
"""
SEND_LATE = f"""
    noc_semaphore_set(valid_word, 1);
    bool is_under_way = false;
    for (uint32_t block = 0; block < BLOCKS; block++) {{
        if (!cb_pages_reservable_at_back(0, 2)) {{ {SIGNAL} }}
        cb_reserve_back(0, 2);
        const uint32_t write = get_write_ptr(0);
        for (uint32_t i = 0; i < 2; i++) {{
            noc_async_read_tile(first + 2 * block + i, a, write + i * get_tile_size(0));
        }}
        {SIGNAL}
        noc_async_read_barrier();
        noc_semaphore_wait(ready_word, RECEIVERS);
        noc_semaphore_set(ready_word, 0);
        noc_async_write_multicast(
            write, get_noc_multicast_addr(start_x, start_y, end_x, end_y, write),
            2 * get_tile_size(0), RECEIVERS, true);
        is_under_way = true;
        cb_push_back(0, 2);
    }}
    {SIGNAL}
    noc_async_write_barrier();
"""
"""Flags are raised while the next block comes, or before, if that has to wait for room."""

SEND_BY_OBJECTS = """
    Noc noc;
    CircularBuffer cb(0);
    Semaphore<> count(0), flag(1);
    flag.set(1);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        cb.reserve_back(2);
        for (uint32_t i = 0; i < 2; i++) {
            noc.async_read(
                a, cb, cb.get_tile_size(), {.page_id = first + 2 * block + i},
                {.offset_bytes = i * cb.get_tile_size()});
        }
        noc.async_read_barrier();
        count.wait(RECEIVERS);
        count.set(0);
        noc.async_write_multicast(
            use<CircularBuffer::AddrSelector::WRITE_PTR>(cb), MulticastEndpoint{},
            2 * cb.get_tile_size(), RECEIVERS, {.offset_bytes = 0},
            {.noc_x_start = start_x, .noc_y_start = start_y, .noc_x_end = end_x,
             .noc_y_end = end_y, .addr = cb.get_write_ptr()}, true);
        noc.async_writes_flushed();
        flag.set_multicast(noc, start_x, start_y, end_x, end_y, RECEIVERS);
        cb.push_back(2);
    }
    noc.async_write_barrier();
"""
RECEIVE_BY_OBJECTS = """
    Noc noc;
    CircularBuffer cb(0);
    Semaphore<> count(0), flag(1);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        cb.reserve_back(2);
        flag.set(0);
        count.up(noc, sender_x, sender_y, 1);
        flag.wait(1);
        cb.push_back(2);
    }
"""
"""The same in the style of 2026."""

WRITE = """
#include "dataflow_api.h"
void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(1);
    const InterleavedAddrGenFast<true> c = {
        .bank_base_address = get_arg_val<uint32_t>(0),
        .page_size = get_tile_size(16), .data_format = get_dataformat(16)};
    for (uint32_t i = 0; i < 2 * BLOCKS; i++) {
        cb_wait_front(16, 1);
        noc_async_write_tile(first + i, c, get_read_ptr(16));
        noc_async_write_barrier();
        cb_pop_front(16, 1);
    }
}
"""

COMPUTE = """
#include "compute_kernel_api/eltwise_binary.h"
namespace NAMESPACE { void MAIN {
    binary_op_init_common(0, 0, 16);
    mul_tiles_init(0, 0);
    for (uint32_t block = 0; block < BLOCKS; block++) {
        cb_wait_front(0, 2);
        for (uint32_t i = 0; i < 2; i++) {
            tile_regs_acquire();
            mul_tiles(0, 0, 0, i, 0);
            tile_regs_commit();
            cb_reserve_back(16, 1);
            tile_regs_wait();
            pack_tile(0, 16);
            tile_regs_release();
            cb_push_back(16, 1);
        }
        cb_pop_front(0, 2);
    }
} }
"""
"""The first tile of a block times each of its tiles."""


@dataclass(frozen=True)
class Case:
    """Cores in rows, each of which shares blocks that its first core reads."""

    send: str = SEND
    receive: str = RECEIVE
    write: str = WRITE
    columns: int = 3
    rows: int = 2
    blocks: int = 3
    pages: int = 4
    board: str = "n150"
    noc: int = 0
    options: SimOptions = field(default_factory=SimOptions)


def program_of(case: Case) -> tuple[SimDevice, Program, Buffer]:
    """The program on a device with random tiles, and where its results go."""
    device = SimDevice(SimChip.of_board(case.board), case.options)
    cores = tuple((x, y) for y in range(case.rows) for x in range(case.columns))
    count = 2 * case.blocks
    a = Buffer(device, case.rows * count * SIZE, SIZE)
    c = Buffer(device, len(cores) * count * SIZE, SIZE)
    numbers = RNG.standard_normal(case.rows * count * 1024).astype(np.float32)
    a.write((numbers.view(np.uint32) >> 16).astype("<u2").tobytes())
    program = Program()
    for index, pages in ((0, case.pages), (16, 2)):
        spec = CircularBufferSpec(
            cores=cores, total_size=pages * SIZE, indices={index: (SIZE, BF16)}
        )
        program.add_circular_buffer(spec)
    for _ in range(2):
        program.add_semaphore((*cores, IDLE))

    places = {core: place for place, core in enumerate(cores)}

    def move(core: Core) -> tuple[int, ...]:
        ends = [device.chip.noc_coordinate((each, core[1])) for each in (1, case.columns - 1)]
        corners = [*ends[case.noc], *ends[1 - case.noc]]
        sender = device.chip.noc_coordinate((0, core[1]))
        return (a.address, core[1] * count, *sender, *corners)

    def write(core: Core) -> tuple[int, ...]:
        return (c.address, places[core] * count)

    def nothing(_: Core) -> tuple[int, ...]:
        return ()

    senders = [core for core in cores if core[0] == 0]
    others = [core for core in cores if core[0] > 0]
    kernels: list[tuple[str, Role, str, Sequence[Core], Callable[[Core], tuple[int, ...]]]] = [
        ("send", Role.NCRISC, START.replace("BODY", case.send), senders, move),
        ("receive", Role.NCRISC, START.replace("BODY", case.receive), others, move),
        ("write", Role.BRISC, case.write, cores, write),
        ("compute", Role.COMPUTE, COMPUTE, cores, nothing),
    ]
    for name, role, text, at, arguments in kernels:
        x, y = device.chip.noc_coordinate(IDLE)
        text = (
            text.replace("IDLE", f"{x}, {y}")
            .replace("RECEIVERS", str(case.columns - 1))
            .replace("BLOCKS", str(case.blocks))
        )
        kernel = Kernel(
            name=name,
            file=f"{name}.cpp",
            text=text,
            cores=tuple(at),
            role=role,
            noc_index=1 - case.noc if role is Role.BRISC else case.noc,
            arguments={core: arguments(core) for core in at},
        )
        program.add_kernel(kernel)
    return device, program, c


def run_compared(device: SimDevice, program: Program) -> list[ThreadTimes] | None:
    """The times of a run in groups, which was compared; None if there was none."""
    return run_both_ways(ProgramRun(device, program, None, None), device.watch)


def changed(text: str, *changes: tuple[str, str]) -> str:
    """A kernel with other text in some places."""
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    return text


FLUSH = ("noc_async_writes_flushed();", "")
TWICE = (
    "noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready), 1);",
    "for (uint32_t i = 0; i < 2; i++) {\n"
    "noc_semaphore_inc(get_noc_addr(sender_x, sender_y, ready), 1); }",
)
RIGHT = {
    "as ttnn has it": Case(),
    "flags are lowered after the wait": Case(
        receive=changed(
            RECEIVE,
            ("noc_semaphore_set(valid_word, 0);", ""),
            ("wait(valid_word, 1);", "wait(valid_word, 1); noc_semaphore_set(valid_word, 0);"),
        )
    ),
    "blocks are counted": Case(
        send=changed(
            SEND,
            ("wait(ready_word, RECEIVERS)", "wait_min(ready_word, RECEIVERS * (block + 1))"),
            ("noc_semaphore_set(ready_word, 0);", "noc_semaphore_set(valid_word, block + 1);"),
        ),
        receive=changed(
            RECEIVE,
            ("noc_semaphore_set(valid_word, 0);", ""),
            ("noc_semaphore_wait(valid_word, 1)", "noc_semaphore_wait_min(valid_word, block + 1)"),
        ),
    ),
    "single packets, increments that are waited for": Case(
        send=changed(SEND, ("multicast(\n            write", "multicast_one_packet(write")),
        receive=changed(RECEIVE, (", ready), 1);", ", ready), 1); noc_async_atomic_barrier();")),
    ),
    "nothing is flushed, as blocks take turns": Case(send=changed(SEND, FLUSH), blocks=5),
    "one block has room": Case(pages=2),
    "two increments in a row": Case(
        send=changed(SEND, ("wait(ready_word, RECEIVERS)", "wait(ready_word, 2 * RECEIVERS)")),
        receive=changed(RECEIVE, TWICE),
    ),
    "one block has room, and is asked for": Case(SEND_LATE, pages=2),
    "two blocks have room, and are asked for": Case(SEND_LATE, blocks=7),
    "four blocks have room, and are asked for": Case(SEND_LATE, blocks=9, pages=8, rows=3),
    "by objects": Case(send=SEND_BY_OBJECTS, receive=RECEIVE_BY_OBJECTS),
    "on network 1, one row": Case(noc=1, rows=1, columns=5),
    "Blackhole": Case(board="p150", columns=4, rows=3),
    "without the sanitizer": Case(options=SimOptions(sanitize=False)),
    "without clocks": Case(options=SimOptions(timed=False)),
    "exact": Case(options=SimOptions(numerics="exact")),
}


@pytest.mark.parametrize("case", RIGHT.values(), ids=RIGHT)
def test_groups_change_nothing(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes, clocks and findings as core by core, and what is to be computed."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    device, program, results = program_of(case)
    assert run_compared(device, program) is not None
    tiles = (np.frombuffer(results.read(), "<u2").astype(np.uint32) << 16).view(np.float32)
    by_core = tiles.reshape(case.rows, case.columns, case.blocks, 2, 1024)
    np.testing.assert_array_equal(by_core, np.broadcast_to(by_core[:, :1], by_core.shape))
    assert (by_core[..., 0, :] >= 0).all()
    assert (by_core[..., 1, :] < 0).any()


@pytest.mark.parametrize("wait", ["noc_semaphore_wait", "noc_semaphore_wait_min"])
def test_increments_arrive_in_another_order(wait: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who waits goes on when the last one has arrived, not the one that was simulated last."""
    kernel = f"""
        #include "dataflow_api.h"
        void kernel_main() {{
            const uint32_t me = get_arg_val<uint32_t>(0), ready = get_semaphore(0);
            if (me == 0) {{
                {wait}(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(ready), 7);
            }} else {{
                noc_semaphore_inc(
                    get_noc_addr(get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2), ready), 1);
                noc_async_atomic_barrier();
            }}
        }}
    """
    cores = metalium.CoreRange(metalium.CoreCoord(0, 0), metalium.CoreCoord(7, 0))
    found: list[list[tuple[str, int]]] = []
    for switch in ("1", "0"):
        monkeypatch.setenv(group_run.SWITCH, switch)
        device = metalium.CreateDevice(0)
        program = metalium.CreateProgram()
        metalium.CreateSemaphore(program, cores, 0)
        config = metalium.ReaderDataMovementConfig()
        made = metalium.CreateKernelFromString(program, kernel, cores, config)
        first = device.worker_core_from_logical_core(metalium.CoreCoord(0, 0))
        for x in range(8):
            arguments = [x, first.x, first.y]
            metalium.SetRuntimeArgs(program, made, metalium.CoreCoord(x, 0), arguments)
        queue = device.command_queue()
        metalium.EnqueueProgram(queue, program, blocking=False)
        found.append([(str(each.core), each.cycles) for each in queue.reports[-1].threads])
        metalium.CloseDevice(device)
    assert found[0] == found[1]


def test_copies_take_several_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages 12 apart follow each other in one of the 12 banks."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    loop = SEND[SEND.index("for (uint32_t i") : SEND.index("noc_async_read_barrier")]
    send = changed(
        SEND, (loop, "noc_async_read(get_noc_addr(block, a), write, 2 * get_tile_size(0));")
    )
    write = changed(
        WRITE,
        ("i < 2 * BLOCKS", "i < BLOCKS"),
        ("(16, 1)", "(16, 2)"),
        (
            "noc_async_write_tile(first + i, c, get_read_ptr(16));",
            "const uint32_t block = first / 2 + i;\n"
            "const uint64_t to = get_noc_addr(block / 12 * 24 + block % 12, c);\n"
            "noc_async_write(get_read_ptr(16), to, 2 * get_tile_size(16));",
        ),
    )
    device, program, _ = program_of(Case(send, write=write, blocks=6))
    assert run_compared(device, program) is not None


WRONG: dict[str, tuple[Case, str]] = {
    "a sender that does not wait": (
        Case(
            send=changed(
                SEND,
                ("noc_semaphore_wait(ready_word, RECEIVERS);", ""),
                ("noc_semaphore_set(ready_word, 0);", ""),
            )
        ),
        "semaphore-race",
    ),
    "receivers that do not wait": (
        Case(receive=changed(RECEIVE, ("noc_semaphore_wait(valid_word, 1);", ""))),
        "uninitialised-read",
    ),
    "receivers that have no room yet": (
        Case(
            receive=changed(
                RECEIVE,
                ("cb_reserve_back(0, 2);", ""),
                ("noc_semaphore_wait(v", "cb_reserve_back(0, 2); noc_semaphore_wait(v"),
            )
        ),
        "race",
    ),
    "a sender that lowers the count late": (
        Case(
            send=changed(
                SEND,
                ("noc_semaphore_set(ready_word, 0);", ""),
                ("cb_push_back(0, 2);", "noc_semaphore_set(ready_word, 0); cb_push_back(0, 2);"),
            )
        ),
        "semaphore-race",
    ),
    "pages that are read again while they are sent": (
        Case(send=changed(SEND, FLUSH), pages=2),
        "reuse-before-barrier",
    ),
    "flags that may overtake pages": (Case(send=changed(SEND, FLUSH), board="p150"), "race"),
    "an end that nobody waits for": (
        Case(send=changed(SEND, ("noc_async_write_barrier();", ""))),
        "missing-barrier",
    ),
    "pages that come to nobody": (
        Case(send=changed(SEND, ("2 * get_tile_size(0), R", "get_tile_size(0), R"))),
        "uninitialised-read",
    ),
    "flags that are looked at": (
        Case(
            receive=changed(
                RECEIVE, ("noc_semaphore_wait(valid_word, 1);", "while (*valid_word != 1) {}")
            )
        ),
        "",
    ),
    "values that are looked at": (
        Case(
            send=SEND_BY_OBJECTS,
            receive=changed(RECEIVE_BY_OBJECTS, ("flag.set(0);", "flag.set(0); flag.value();")),
        ),
        "",
    ),
    "a core that runs nothing": (
        Case(
            receive=changed(
                RECEIVE,
                (
                    "noc_semaphore_wait(v",
                    "noc_semaphore_inc(get_noc_addr(IDLE, ready), 1);\nnoc_semaphore_wait(v",
                ),
            )
        ),
        "",
    ),
    "room that is asked for without clocks": (
        Case(SEND_LATE, options=SimOptions(timed=False)),
        "",
    ),
    "increments of several sizes": (
        Case(
            send=changed(SEND, ("wait(ready_word, RECEIVERS)", "wait(ready_word, 3 * RECEIVERS)")),
            receive=changed(RECEIVE, TWICE, ("ready), 1);", "ready), i + 1);")),
        ),
        "",
    ),
}
"""Programs with what is wrong with them: nothing, if it only is not the same in any order."""


@pytest.mark.parametrize(("case", "rule"), WRONG.values(), ids=WRONG)
@pytest.mark.parametrize("sanitize", [True, False])
def test_what_is_left_to_single_cores(
    case: Case, rule: str, sanitize: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may depend on the order of events, or is no call that groups know."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    device, program, _ = program_of(replace(case, options=replace(case.options, sanitize=sanitize)))
    assert run_compared(device, program) is None
    found = ""
    if sanitize:
        try:
            report = run_program(device, program)
        except SimError as error:
            found = error.rule
        else:
            found = next((each.rule for each in report.findings if each.severity != "note"), "")
        assert found == rule
