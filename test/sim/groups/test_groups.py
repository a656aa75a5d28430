"""Cores that do the same run together: what comes out is what comes out of each by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest
from running.group_comparison import random_tiles, run_both_ways, run_late
from running.randomness import TestGenerator
from running.sampling import sampled

from ttmlir.layout.enums import DataType, MathFidelity
from ttmlir.optable.kernel import Role, find_call
from ttmlir.optable.kernel.kernel_call import Element, Scalar
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.lanes_api import COMPUTED
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import ProgramRun, run_program
from ttmlir.sim.groups import group_run, tracing
from ttmlir.sim.groups.late_numbers import LateNumbers
from ttmlir.sim.groups.per_core import DisagreementError, PerCore, range_per_core
from ttmlir.sim.groups.timing import WrongAnswerError
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.machine.memory import POISON
from ttmlir.sim.machine.numerics import TILE_BYTES
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.report import ThreadTimes

RNG = TestGenerator(__name__)

READ = """
#include "dataflow_api.h"
void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(2), tiles = get_arg_val<uint32_t>(3);
    const InterleavedAddrGenFast<true> a = {
        .bank_base_address = get_arg_val<uint32_t>(0),
        .page_size = get_tile_size(0), .data_format = get_dataformat(0)};
    const InterleavedAddrGenFast<true> b = {
        .bank_base_address = get_arg_val<uint32_t>(1),
        .page_size = get_tile_size(1), .data_format = get_dataformat(1)};
    for (uint32_t i = first; i < first + tiles; i++) {
        cb_reserve_back(0, 1);
        noc_async_read_tile(i, a, get_write_ptr(0));
        if (i % 3 == 0) { cb_reserve_back(1, 1); }
        else { noc_async_read_barrier(); cb_reserve_back(1, 1); }
        noc_async_read(get_noc_addr(PAGES - 1 - i, b), get_write_ptr(1), get_tile_size(1));
        noc_async_read_barrier();
        cb_push_back(1, 1);
        cb_push_back(0, 1);
    }
}
"""
"""Fills circular buffers 0 and 1 with as many tiles of `a` and, from its end on, of `b`."""

WRITE = """
#include "dataflow_api.h"
void kernel_main() {
    const uint32_t first = get_arg_val<uint32_t>(1), tiles = get_arg_val<uint32_t>(2);
    const InterleavedAddrGenFast<true> c = {
        .bank_base_address = get_arg_val<uint32_t>(0),
        .page_size = get_tile_size(16), .data_format = get_dataformat(16)};
    for (uint32_t i = 0; i < tiles; i++) {
        cb_wait_front(16, 1);
        if (get_absolute_logical_y() < 100) {
            noc_async_write(get_read_ptr(16), get_noc_addr(first + i, c), get_tile_size(16));
        } else {
            noc_async_write_tile(get_absolute_logical_x(), c, get_read_ptr(16));
        }
        noc_async_writes_flushed();
        cb_pop_front(16, 1);
    }
    noc_async_write_barrier();
}
"""
"""Empties circular buffer 16 into `c`."""

COMPUTE = """
#include "compute_kernel_api/eltwise_binary.h"
#include "compute_kernel_api/tile_move_copy.h"
#include "compute_kernel_api/matmul.h"
#include "compute_kernel_api/bcast.h"
#include "compute_kernel_api/reduce.h"
#include "compute_kernel_api/transpose_wh.h"
#include "compute_kernel_api/eltwise_unary/eltwise_unary.h"
#include "compute_kernel_api/eltwise_unary/exp.h"
#include "compute_kernel_api/eltwise_unary/recip.h"
#include "compute_kernel_api/eltwise_unary/fill.h"
#include "compute_kernel_api/eltwise_unary/relu.h"
#include "compute_kernel_api/eltwise_binary_sfpu.h"
void take() { cb_wait_front(0, 1); cb_wait_front(1, 1); }
void drop() { cb_pop_front(0, 1); cb_pop_front(1, 1); }
void put(uint32_t cb) {
    tile_regs_commit();
    cb_reserve_back(cb, 1);
    tile_regs_wait();
    pack_tile(0, cb);
    tile_regs_release();
    cb_push_back(cb, 1);
}
namespace NAMESPACE { void MAIN {
    const uint32_t tiles = get_arg_val<uint32_t>(0);
    BODY
} }
"""

EACH = """
    binary_op_init_common(0, 1, 16);
    PREPARE
    for (uint32_t i = 0; i < tiles; i++) {
        take();
        tile_regs_acquire();
        CALL
        drop();
        put(16);
    }
"""
BODIES = {
    "sums": EACH.replace("PREPARE", "add_tiles_init(0, 1);").replace(
        "CALL", "add_tiles(0, 1, 0, 0, 0);"
    ),
    "differences": EACH.replace("PREPARE", "sub_tiles_init(0, 1);").replace(
        "CALL", "sub_tiles(0, 1, 0, 0, 0);"
    ),
    "products": EACH.replace("PREPARE", "mul_tiles_init(0, 1);").replace(
        "CALL", "mul_tiles(0, 1, 0, 0, 0);"
    ),
    "copies": EACH.replace("PREPARE", "copy_tile_to_dst_init_short(0);").replace(
        "CALL", "copy_tile(0, 0, 0);"
    ),
    "a chain of products": """
        mm_init(0, 1, 16);
        for (uint32_t i = 0; i < tiles; i++) {
            tile_regs_acquire();
            for (uint32_t k = 0; k < 1; k++) {
                take();
                for (uint32_t again = 0; again < 19; again++) { matmul_tiles(0, 1, 0, 0, 0, 0); }
                drop();
            }
            put(16);
        }
    """,
    "products of blocks": """
        mm_block_init(0, 1, 16, 0, 1, 3, 0);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            tile_regs_acquire();
            for (uint32_t k = 0; k < 4; k++) { matmul_block(0, 1, 0, 0, k & 1, 0, 1, 3, 0); }
            drop();
            put(16);
        }
    """,
    "products onto sums": """
        binary_op_init_common(0, 1, 24);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            add_tiles_init(0, 1);
            tile_regs_acquire();
            add_tiles(0, 1, 0, 0, 0);
            put(24);
            cb_wait_front(24, 1);
            mm_init_short(24, 1);
            tile_regs_acquire();
            copy_tile_to_dst_init_short(0);
            copy_tile(0, 0, 0);
            mm_init_short(24, 1);
            matmul_tiles(24, 1, 0, 0, 0, 0);
            cb_pop_front(24, 1);
            drop();
            put(16);
        }
    """,
    "transposed tiles, ReLU": EACH.replace(
        "PREPARE", "transpose_wh_init(0, 16); llk_pack_relu_config(1);"
    ).replace("CALL", "transpose_wh_tile(0, 0, 0);"),
    "rows, columns and numbers spread": """
        init_bcast<EltwiseBinaryType::ELWSUB, BroadcastType::COL>(0, 1, 16);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            tile_regs_acquire();
            mul_bcast_rows_init_short(0, 1);
            mul_tiles_bcast_rows(0, 1, 0, 0, 1);
            mul_tiles_bcast_rows(0, 1, 0, 0, 1);
            sub_bcast_cols_init_short(0, 1);
            sub_tiles_bcast_cols(0, 1, 0, 0, 0);
            exp_tile_init();
            exp_tile(0);
            add_binary_tile_init();
            add_binary_tile(0, 1, 0);
            add_binary_tile(0, 0, 0);
            drop();
            put(16);
        }
    """,
    "functions of the vector unit": """
        unary_op_init_common(0, 16);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            tile_regs_acquire();
            copy_tile_to_dst_init_short(0);
            copy_tile(0, 0, 0);
            fill_tile_init();
            fill_tile(1, 1.5f);
            recip_tile_init();
            recip_tile(0);
            mul_binary_tile_init();
            mul_binary_tile(0, 1, 2);
            relu_tile_init();
            relu_tile(2);
            copy_tile(1, 0, 0);
            sub_binary_tile_init();
            sub_binary_tile(2, 0, 0);
            drop();
            put(16);
        }
    """,
    "tiles of DST used again": """
        binary_op_init_common(0, 1, 16);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            tile_regs_acquire();
            mm_init_short(0, 1);
            matmul_tiles(0, 1, 0, 0, 0, 0);
            binary_dest_reuse_tiles_init<EltwiseBinaryType::ELWSUB,
                EltwiseBinaryReuseDestType::DEST_TO_SRCA>(1);
            binary_dest_reuse_tiles<EltwiseBinaryType::ELWSUB,
                EltwiseBinaryReuseDestType::DEST_TO_SRCA>(1, 0, 0);
            mm_init_short(0, 1);
            matmul_tiles(0, 1, 0, 0, 0, 0);
            drop();
            put(16);
        }
    """,
    "sums of rows": """
        compute_kernel_hw_startup(0, 1, 16);
        reduce_init<PoolType::SUM, ReduceDim::REDUCE_ROW>(0, 1, 16);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            tile_regs_acquire();
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(0, 1, 0, 0, 0);
            reduce_tile<PoolType::SUM, ReduceDim::REDUCE_ROW>(0, 1, 0, 0, 0);
            drop();
            put(16);
        }
    """,
    "largest numbers": """
        compute_kernel_hw_startup(0, 1, 16);
        reduce_init<PoolType::MAX, ReduceDim::REDUCE_SCALAR>(0, 1, 16);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            tile_regs_acquire();
            reduce_tile<PoolType::MAX, ReduceDim::REDUCE_SCALAR>(0, 1, 0, 0, 0);
            reduce_tile<PoolType::MAX, ReduceDim::REDUCE_SCALAR>(1, 1, 0, 0, 0);
            drop();
            put(16);
        }
    """,
    "sums in L1": """
        binary_op_init_common(0, 1, 16);
        add_tiles_init(0, 1);
        for (uint32_t i = 0; i < tiles; i++) {
            take();
            cb_reserve_back(16, 1);
            for (uint32_t part = 0; part < 2; part++) {
                tile_regs_acquire();
                add_tiles(0, 1, 0, 0, 0);
                tile_regs_commit();
                tile_regs_wait();
                pack_reconfig_l1_acc(part);
                pack_tile<true>(0, 16, 0);
                tile_regs_release();
            }
            drop();
            cb_push_back(16, 1);
        }
    """,
}
"""What compute kernels do with tiles of circular buffers 0 and 1, one result for each."""


@dataclass(frozen=True)
class Case:
    """A program: its compute kernel, how many tiles each core has, and how it is set up."""

    body: str
    shares: Sequence[int]
    pages: int = 2
    data_type: DataType = DataType.BF16
    board: str = "n150"
    settings: ComputeSettings = field(default_factory=ComputeSettings)
    options: SimOptions = field(default_factory=SimOptions)


def program_of(case: Case) -> tuple[SimDevice, Program]:
    """The program on a device with random tiles."""
    device = SimDevice(SimChip.of_board(case.board), case.options)
    columns = device.chip.grid[0]
    cores = tuple((place % columns, place // columns) for place in range(len(case.shares)))
    total, size = sum(case.shares), TILE_BYTES[case.data_type]
    tensors = [Buffer(device, total * size, size) for _ in range(3)]
    for tensor in tensors[:2]:
        tensor.write(random_tiles(RNG, case.data_type, total))
    program = Program()
    for index in (0, 1, 16, 24):
        spec = CircularBufferSpec(
            cores=cores, total_size=case.pages * size, indices={index: (size, case.data_type)}
        )
        program.add_circular_buffer(spec)
    firsts = [sum(case.shares[:place]) for place in range(len(cores))]
    ranges = dict(zip(cores, zip(firsts, case.shares, strict=True), strict=True))
    a, b, c = (tensor.address for tensor in tensors)
    for name, role, text, addresses in (
        ("read", Role.NCRISC, READ.replace("PAGES", str(total)), (a, b)),
        ("write", Role.BRISC, WRITE, (c,)),
        ("compute", Role.COMPUTE, COMPUTE.replace("BODY", case.body), ()),
    ):
        kernel = Kernel(
            name=name,
            file=f"{name}.cpp",
            text=text,
            cores=cores,
            role=role,
            noc_index=int(role is Role.BRISC),
            compute=case.settings,
            arguments={core: (*addresses, *ranges[core][role is Role.COMPUTE :]) for core in cores},
        )
        program.add_kernel(kernel)
    return device, program


def run_compared(device: SimDevice, program: Program) -> list[ThreadTimes] | None:
    """The times of a run in groups, which was compared; None if there was none."""
    return run_both_ways(ProgramRun(device, program, None, None), device.watch)


SETUPS: dict[str, dict[str, Any]] = {
    "even shares": {"shares": [3] * 8},
    "shares that differ": {"shares": [3, 3, 2, 3, 2, 2, 3, 1, 1]},
    "one page": {"shares": [2] * 5, "pages": 1},
    "32 bits": {"shares": [2] * 4, "settings": ComputeSettings(fp32_dest_acc_en=True)},
    "full synchronisation, LoFi": {
        "shares": [4] * 4,
        "settings": ComputeSettings(dst_full_sync_en=True, fidelity=MathFidelity.LOFI),
    },
    "float32": {"shares": [2] * 4, "data_type": DataType.F32},
    "block floats": {"shares": [2] * 4, "data_type": DataType.BFP_BF8},
    "without clocks": {"shares": [2] * 4, "options": SimOptions(timed=False)},
    "without the sanitizer": {"shares": [2] * 4, "options": SimOptions(sanitize=False)},
    "exact": {"shares": [2] * 4, "options": SimOptions(numerics="exact")},
    "exact, float32, untimed": {
        "shares": [3] * 4,
        "data_type": DataType.F32,
        "options": SimOptions(numerics="exact", timed=False),
    },
    "Blackhole": {"shares": [3] * 12, "pages": 3, "board": "p150"},
}


@pytest.mark.parametrize(("name", "setup"), sampled(BODIES, SETUPS))
def test_groups_change_nothing(name: str, setup: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same bytes, clocks and findings as core by core, compared by `run_both_ways`."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    device, program = program_of(Case(BODIES[name], **SETUPS[setup]))
    assert run_compared(device, program) is not None


# --- Questions ------------------------------------------------------------------------------------

ASKING_READ = READ.replace(
    "cb_reserve_back(0, 1);",
    "if (cb_pages_reservable_at_back(0, 2)) { noc_async_read_barrier(); } cb_reserve_back(0, 1);",
)
ASKING_WRITE = WRITE.replace(
    "cb_wait_front(16, 1);",
    """
        if (i == 0) { low = 0; high = tiles; }
        const bool is_there = cb_pages_available_at_front(16, 1);
        cb_wait_front(16, 1);
        const uint32_t slot = is_there ? low++ : --high;
    """,
).replace("first + i, c", "first + slot, c")
ASKING_WRITE = ASKING_WRITE.replace("for (", "uint32_t low = 0, high = 0; for (", 1)
"""Tiles that are there are written from the front on, those that are waited for from the back."""


def asking_program(body: str, setup: Mapping[str, Any]) -> tuple[SimDevice, Program]:
    """A program whose kernels ask for pages."""
    device, program = program_of(Case(BODIES[body], **setup))
    read = ASKING_READ.replace("PAGES", str(sum(setup["shares"])))
    program.kernels[0] = replace(program.kernels[0], text=read)
    program.kernels[1] = replace(program.kernels[1], text=ASKING_WRITE)
    return device, program


ASKING: dict[str, tuple[str, dict[str, Any], set[type[Exception]]]] = {
    "all alike": ("sums", {"shares": [9] * 4}, {WrongAnswerError}),
    "right at once": (
        "a chain of products",
        {"shares": [4] * 6, "pages": 3},
        {DisagreementError},
    ),
    "shares that differ": (
        "products of blocks",
        {"shares": [5, 5, 5, 7, 7, 7], "board": "p150"},
        {DisagreementError},
    ),
    "answers that differ": (
        "products of blocks",
        {"shares": [6] * 8, "pages": 3},
        {WrongAnswerError, DisagreementError},
    ),
    "exact": (
        "copies",
        {"shares": [3] * 4, "options": SimOptions(numerics="exact")},
        {WrongAnswerError},
    ),
}
"""Programs, and why they are tried again."""


@pytest.mark.parametrize("name", ASKING)
def test_kernels_that_ask_are_told_what_clocks_say(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers are guessed, then proven; cores whose answers differ are told apart."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    body, setup, reasons = ASKING[name]
    found: set[type[Exception]] = set()
    run = group_run._Attempt.run

    def note(attempt: Any) -> list[ThreadTimes]:
        try:
            return run(attempt)
        except (DisagreementError, WrongAnswerError) as error:
            found.add(type(error))
            raise

    monkeypatch.setattr(group_run._Attempt, "run", note)
    device, program = asking_program(body, setup)
    assert run_compared(device, program) is not None
    assert found == reasons
    found.clear()
    assert run_compared(device, program) is not None
    assert not found


WRONG_ANSWERS = {
    "a deadlock at last": "if (i + 1 == tiles && !is_there) { cb_wait_front(24, 1); }",
    "more pages than there can be": "if (i + 1 == tiles && !is_there) { cb_wait_front(16, 9); }",
    "a page that is waited for in a loop": "while (!cb_pages_available_at_front(16, 2)) {}",
}
"""What a kernel does that asked whether a page is there."""


@pytest.mark.parametrize("name", WRONG_ANSWERS)
def test_what_is_wrong_with_kernels_that_ask(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Found by cores that run one by one, as without groups."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    found: list[str] = []
    for switch in ("1", "0"):
        monkeypatch.setenv(group_run.SWITCH, switch)
        options = SimOptions(cycle_limit=100_000)
        device, program = asking_program("sums", {"shares": [4] * 4, "options": options})
        kernel = program.kernels[1]
        asked = "const bool is_there = cb_pages_available_at_front(16, 1);"
        text = kernel.text.replace(asked, f"{asked} {WRONG_ANSWERS[name]}")
        program.kernels[1] = replace(kernel, text=text)
        with pytest.raises(SimError) as caught:
            run_program(device, program)
        found.append(str(caught.value))
    assert found[0] == found[1]


@pytest.mark.parametrize("limit", ["_MOST_MISTAKES", "_MOST_QUESTIONS"])
def test_answers_that_are_never_right(limit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores run one by one after so many tries, or questions, as they may wait for an answer."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    monkeypatch.setattr(group_run if limit == "_MOST_MISTAKES" else tracing, limit, 0)
    assert run_compared(*asking_program("sums", {"shares": [9] * 4})) is None


# --- Numbers that come late -----------------------------------------------------------------------

_SEND = "noc_async_write(get_read_ptr(16), get_noc_addr(first + i, c), get_tile_size(16));"
_HALF = "get_tile_size(16) / 2"
LATE_WRITES = {
    "whole pages": _SEND,
    "halves": f"""
        noc_async_write(get_read_ptr(16), get_noc_addr(first + i, c), {_HALF});
        noc_async_write(get_read_ptr(16) + {_HALF}, get_noc_addr(first + i, c, {_HALF}), {_HALF});
    """,
    "a page that was changed": f"""
        if (cb_pages_available_at_front(16, 1)) {{
            *(volatile tt_l1_ptr uint32_t*)(get_read_ptr(16) + 40) += i;
        }}
        {_SEND}
    """,
    "a page by its numbers": f"""
        if (*(volatile tt_l1_ptr uint32_t*)get_read_ptr(16) & 0x8000) {{ {_SEND} }}
    """,
    "a page that an Ethernet core keeps": f"""
        noc_async_write(get_read_ptr(16), get_noc_addr(ETHERNET, 0x20000), get_tile_size(16));
        noc_async_write_barrier();
        {_SEND}
    """,
    "pages of nobody": f"cb_wait_front(24, 3); {_SEND}",
    "past the buffer": "noc_async_write_tile(PAGES + i, c, get_read_ptr(16));",
}
"""What becomes of a page of circular buffer 16."""

LATE_SETUPS = {
    name: SETUPS[name]
    for name in ("even shares", "32 bits", "float32", "block floats", "without clocks", "Blackhole")
}
LATE_SETUPS["half precision"] = {"shares": [2] * 4, "data_type": DataType.F16}


@pytest.mark.parametrize(("write", "name"), sampled(LATE_WRITES, BODIES))
def test_numbers_that_come_late_change_nothing(
    write: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same bytes, clocks, findings and errors, whatever becomes of pages."""
    place = [*LATE_WRITES].index(write) + [*BODIES].index(name)
    setup = [*LATE_SETUPS][place % len(LATE_SETUPS)]
    device, program = program_of(Case(BODIES[name], **LATE_SETUPS[setup]))
    kernel = program.kernels[1]
    text = WRITE.replace(_SEND, LATE_WRITES[write]).replace("PAGES", "1 << 20")
    text = text.replace("ETHERNET", ", ".join(map(str, device.chip.ethernet[0])))
    program.kernels[1] = replace(kernel, text=text)
    started: list[object] = []
    start = LateNumbers.__init__

    def count(numbers: LateNumbers, device: SimDevice) -> None:
        started.append(numbers)
        start(numbers, device)

    monkeypatch.setattr(LateNumbers, "__init__", count)
    run_late(device, program)
    assert started


def test_thresholds_of_both_zeros_are_two() -> None:
    """The packer's ReLU leaves zeros with the sign of its upper threshold."""
    config = "PACK((llk_pack_relu_config(i & 1 ? 0x80000003 : 3)));"
    body = BODIES["copies"].replace("take();", f"take(); {config}")
    run_late(*program_of(Case(body, [4] * 4, data_type=DataType.F32)))


@pytest.mark.parametrize(
    ("body", "options"),
    [
        ("add_tiles_init(0, 1); " + BODIES["sums"].replace("drop();", ""), SimOptions()),
        (BODIES["sums"].replace("add_tiles_init(0, 1);", ""), SimOptions()),
        (BODIES["sums"], SimOptions(schedule_seed=3)),
        (BODIES["sums"], SimOptions(delay_copies=True)),
        (BODIES["sums"], SimOptions(cycle_limit=1000)),
    ],
)
def test_what_cannot_run_in_groups_changes_nothing(
    body: str, options: SimOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left to the run core by core: nothing is written, nothing is found."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    device, program = program_of(Case(body, [2] * 4, options=options))
    run = ProgramRun(device, program, None, None)
    run.place()
    memories = [core.l1 for core in device.cores()] + list(device.dram)
    before = [memory.data.copy() for memory in memories]
    assert device.watch is not None
    assert group_run.run_in_groups(run, device.watch) is None
    for memory, data in zip(memories, before, strict=True):
        np.testing.assert_array_equal(memory.data[: data.size], data)
        assert (memory.data[data.size :] == POISON).all()
    assert not device.watch.findings


@pytest.mark.parametrize("sanitize", [True, False])
@pytest.mark.parametrize(
    "first", [pytest.param(0, id="the same pages"), pytest.param(1 << 24, id="beyond DRAM")]
)
def test_cores_that_write_where_groups_may_not(first: int, sanitize: bool) -> None:
    """What the last core writes is seen before anything is written, also by nobody but groups."""
    options = SimOptions(sanitize=sanitize)
    device, program = program_of(Case(BODIES["sums"], [2] * 4, options=options))
    write = program.kernels[1]
    address, _, tiles = write.arguments[write.cores[-1]]
    write.arguments[write.cores[-1]] = (address, first, tiles)
    run = ProgramRun(device, program, None, None)
    run.place()
    before = [memory.data.copy() for memory in device.dram]
    assert group_run.run_in_groups(run, device.watch) is None
    for memory, data in zip(device.dram, before, strict=True):
        np.testing.assert_array_equal(memory.data[: data.size], data)


def test_the_switch_and_small_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program whose cores differ is not tried in groups, nor any with the variable at 0."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 4)
    device, program = program_of(Case(BODIES["sums"], [1, 2, 3, 4]))
    assert run_compared(device, program) is None
    device, program = program_of(Case(BODIES["sums"], [3] * 4))
    monkeypatch.setenv(group_run.SWITCH, "0")
    assert run_compared(device, program) is None
    monkeypatch.delenv(group_run.SWITCH)
    assert run_compared(device, program) is not None


def test_cores_may_read_other_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cores whose tensors differ are other groups, or cannot run in groups at all."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    device, program = program_of(Case(BODIES["differences"], [3] * 8))
    kernel = program.kernels[0]
    for place, core in enumerate(kernel.cores):
        a, b, *others = kernel.arguments[core]
        kernel.arguments[core] = (b, a, *others) if place % 2 else (a, b, *others)
    run_compared(device, program)
    assert run_program(device, program).num_cores == 8


def test_cores_that_take_turns_are_told_apart_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not one for each turn, and never again for the same program."""
    monkeypatch.setattr(group_run, "SMALLEST_GROUP", 1)
    tried: list[int] = []
    start = group_run._Attempt.__init__

    def count(attempt: Any, run: Any, watch: Any, groups: Any, answers: Any) -> None:
        tried.append(len(groups))
        start(attempt, run, watch, groups, answers)

    monkeypatch.setattr(group_run._Attempt, "__init__", count)
    turns = "for (uint32_t turn = 0; turn < 8; turn++) { if (turn == get_arg_val<uint32_t>(1)) {"
    device, program = program_of(Case(turns + BODIES["sums"] + "} }", [3] * 8))
    kernel = program.kernels[2]
    kernel.arguments.update({core: (3, place) for place, core in enumerate(kernel.cores)})
    assert run_compared(device, program) is not None
    assert tried == [1, 2, 3, 8]
    assert run_compared(device, program) is not None
    assert tried == [1, 2, 3, 8, 8]


def test_numbers_per_core_are_those_of_each_core() -> None:
    """Operators as Python's for each core; one number where all agree, an error where not."""
    a, b = PerCore([7, -9, 1 << 40]), PerCore([2, 4, 3])
    assert (a // b * 3 - (5 % b) | 1).numbers == [
        x // y * 3 - (5 % y) | 1 for x, y in ((7, 2), (-9, 4), (1 << 40, 3))
    ]
    one: Any = 1
    assert (one << b).numbers == [4, 16, 8]
    assert (~(-a) ^ b).numbers == [~(-x) ^ y for x, y in ((7, 2), (-9, 4), (1 << 40, 3))]
    assert [*map(bool, (a > -10, a != b))] == [True, True]
    with pytest.raises(DisagreementError) as caught:
        bool(a > 0)
    assert caught.value.numbers == (True, False, True)
    with pytest.raises(DisagreementError):
        int(a)
    assert int(a - a) == 0
    assert [each.numbers for each in range_per_core(b, b + 2)] == [(2, 4, 3), (3, 5, 4)]
    assert len(range_per_core(3)) == 3
    with pytest.raises(DisagreementError):
        range_per_core(0, b)


@pytest.mark.parametrize("name", sorted(COMPUTED))
def test_functions_of_the_vector_unit_take_tiles_together(name: str) -> None:
    """Numbers do not depend on those beside them, so that tiles can be computed at once."""
    definition = find_call(name)
    assert definition.tiles is not None
    references = {definition.reference, definition.on_device}
    if definition.approximation is not None:
        references.add(definition.approximation.reference)
    scalars = {
        parameter: np.int32(3) if encoding is Scalar.INTEGER else np.float32(1.5)
        for _, parameter, encoding in definition.tiles.scalars
    }
    numbers = RNG.standard_normal((len(definition.tiles.dst), 96)) * 2.0 ** RNG.integers(-9, 9, 96)
    elements = {Element.INT32: np.int32, Element.UINT32: np.uint32}
    element = elements.get(definition.tiles.element, np.float32)
    tiles = numbers.astype(np.float32 if element is np.float32 else np.int32).view(element)
    with np.errstate(all="ignore"):
        for reference in filter(None, references):
            together = np.broadcast_to(reference(np, *tiles, **scalars), 96)
            for part in (slice(41), slice(41, 96)):
                apart = reference(np, *tiles[:, part], **scalars)
                np.testing.assert_array_equal(*np.broadcast_arrays(together[part], apart))
