"""Kernels with one mistake each, for the page about the sanitizer.

All are changes of three correct kernels that copy tiles from one tensor to another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Kernel, Program
from ttmlir.sim.execution.run import run_program
from ttmlir.sim.machine.address_generators import Buffer
from ttmlir.sim.machine.device import SimChip, SimDevice
from ttmlir.sim.options import SimOptions

READER = """\
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t target = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = source, .page_size = 2048, .data_format = DataFormat::Float16_b};

    for (uint32_t tile = 0; tile < tiles; tile++) {
        cb_reserve_back(0, 1);
        noc_async_read_tile(tile, tensor, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
}
"""

COMPUTE = """\
#include "compute_kernel_api/common.h"
#include "compute_kernel_api/tile_move_copy.h"

namespace NAMESPACE {
void MAIN {
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    unary_op_init_common(0, 16);
    copy_tile_init(0);

    for (uint32_t tile = 0; tile < tiles; tile++) {
        cb_wait_front(0, 1);
        tile_regs_acquire();
        copy_tile(0, 0, 0);
        tile_regs_commit();
        cb_pop_front(0, 1);

        cb_reserve_back(16, 1);
        tile_regs_wait();
        pack_tile(0, 16);
        tile_regs_release();
        cb_push_back(16, 1);
    }
}
}  // namespace NAMESPACE
"""

WRITER = """\
#include "dataflow_api.h"

void kernel_main() {
    const uint32_t source = get_arg_val<uint32_t>(0);
    const uint32_t target = get_arg_val<uint32_t>(1);
    const uint32_t tiles = get_arg_val<uint32_t>(2);
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = target, .page_size = 2048, .data_format = DataFormat::Float16_b};

    for (uint32_t tile = 0; tile < tiles; tile++) {
        cb_wait_front(16, 1);
        noc_async_write_tile(tile, tensor, get_read_ptr(16));
        noc_async_write_barrier();
        cb_pop_front(16, 1);
    }
}
"""

KERNELS = {"reader.cpp": READER, "compute.cpp": COMPUTE, "writer.cpp": WRITER}
ROLES = {"reader.cpp": Role.NCRISC, "compute.cpp": Role.COMPUTE, "writer.cpp": Role.BRISC}

TILE_BYTES = 2048
TILES = 6
CAPACITY = 4


@dataclass(frozen=True)
class Case:
    """A mistake: the rule that finds it, what it means, and lines of a kernel that change."""

    rule: str
    meaning: str
    kernel: str
    changes: tuple[tuple[str, str], ...]
    """What is replaced by what."""
    error: bool = True
    """False: the finding is a note, and the program goes on."""
    page_size: int = TILE_BYTES
    """Of circular buffer 16."""
    other: str = ""
    """Another kernel in which the same changes are made."""

    @property
    def kernels(self) -> Mapping[str, str]:
        """The three kernels with the mistake."""
        texts = {name: KERNELS[name] for name in (self.kernel, self.other) if name}
        for name in texts:
            for old, new in self.changes:
                if texts[name].count(old) != 1:
                    raise ValueError(f"{self.rule}: {old!r} is not in {name} once")
                texts[name] = texts[name].replace(old, new)
        return {**KERNELS, **texts}


@dataclass(frozen=True)
class Outcome:
    """The reports of one run, and the tensor that it left."""

    reports: tuple[str, ...] = ()
    result: bytes = field(default=b"", repr=False)


def run(
    kernels: Mapping[str, str], options: SimOptions, data: bytes, page_size: int = TILE_BYTES
) -> Outcome:
    """Run three kernels on core (0, 0): they copy a tensor of `TILES` tiles, here `data`.

    `page_size` is that of circular buffer 16.
    """
    device = SimDevice(SimChip.of_board("n150"), options)
    source = Buffer(device, len(data), TILE_BYTES)
    target = Buffer(device, len(data), TILE_BYTES)
    source.write(data)
    target.write(bytes(len(data)))
    cores = ((0, 0),)
    program = Program()
    for index, page in ((0, TILE_BYTES), (16, page_size)):
        program.add_circular_buffer(
            CircularBufferSpec(
                cores=cores,
                total_size=CAPACITY * TILE_BYTES,
                indices={index: (page, DataType.BF16)},
            )
        )
    program.add_semaphore(cores)
    arguments = (source.address, target.address, TILES)
    for name, text in kernels.items():
        program.add_kernel(
            Kernel(
                name=name,
                file=name,
                text=text,
                cores=cores,
                role=ROLES[name],
                noc_index=int(ROLES[name] is Role.BRISC),
                arguments={cores[0]: arguments},
            )
        )
    try:
        report = run_program(device, program)
    except SimError as error:
        return Outcome((str(error),))
    return Outcome(tuple(finding.text() for finding in report.findings), target.read())


def _case(rule: str, meaning: str, kernel: str, old: str, new: str = "") -> Case:
    return Case(rule, meaning, kernel, ((old, new),))


def _note(rule: str, meaning: str, kernel: str, old: str, new: str) -> Case:
    return Case(rule, meaning, kernel, ((old, new),), error=False)


SANITIZER_CASES: tuple[Case, ...] = (
    _case(
        "uninitialised-read",
        "Bytes are read or sent that neither the host nor a kernel has written. Memory that nobody "
        "has written holds NaN. What a program leaves in its circular buffers, and what a freed "
        "buffer held, counts as unwritten. Where some numbers of a tile are, they travel with it "
        "through circular buffers, elementwise operations, products, reductions and the vector "
        "unit: they are a mistake where they are stored in a tensor, or where others follow from "
        "them that are not followed, as where lanes change places. A note then says where they "
        "were read first.",
        "reader.cpp",
        "        noc_async_read_tile(tile, tensor, get_write_ptr(0));\n",
    ),
    _case(
        "out-of-bounds",
        "Bytes are accessed that the memory does not have, or written that belong to firmware; or "
        "bytes after the end of a buffer that others of the same access belong to; or a page that "
        "the buffer at this address does not have, where other buffers may lie. Padding of pages "
        "belongs to them.",
        "reader.cpp",
        "get_write_ptr(0)",
        "4096",
    ),
    _case(
        "unallocated-write",
        "Bytes are written that belong to no buffer, circular buffer or semaphore: what is put "
        "there next overwrites them, or is overwritten. The words of run-time arguments are not in "
        "this memory.",
        "reader.cpp",
        "        noc_async_read_barrier();\n",
        "        noc_async_read_barrier();\n"
        "        reinterpret_cast<volatile tt_l1_ptr uint32_t*>(0x80000)[0] = tile;\n",
    ),
    Case(
        "race",
        "Two threads, or copies that they have started, access the same bytes, at least one of "
        "them writes, and nothing orders the two: which comes first depends on luck, whatever "
        "this run did. Circular buffers (push before wait, pop before reserve), semaphores and "
        "the hand-overs of SrcA, SrcB and DST order threads; a barrier orders a copy with the "
        "thread that started it. Writes to one core and a later `noc_semaphore_set_remote` or "
        "`noc_semaphore_inc` to it arrive in order, and so do those to a rectangle and a later "
        "`noc_semaphore_set_multicast`, on the same network; on Blackhole only after "
        "`noc_async_writes_flushed`.",
        "writer.cpp",
        (
            (".bank_base_address = target", ".bank_base_address = source"),
            ("noc_async_write_tile(tile,", "noc_async_write_tile((tile + 1) % tiles,"),
        ),
    ),
    _case(
        "read-before-barrier",
        "A kernel uses or hands over bytes that one of its own `noc_async_read`s still brings.",
        "reader.cpp",
        "        noc_async_read_barrier();\n        cb_push_back(0, 1);\n",
        "        cb_push_back(0, 1);\n        noc_async_read_barrier();\n",
    ),
    _case(
        "reuse-before-barrier",
        "A kernel overwrites or gives back bytes that one of its own copies still takes. A barrier "
        "or a flush says that they have left, and so does the answer, by a semaphore, to a message "
        "that was sent behind them on the same network; not on Blackhole, where messages overtake.",
        "writer.cpp",
        "        noc_async_write_barrier();\n        cb_pop_front(16, 1);\n",
        "        cb_pop_front(16, 1);\n        noc_async_write_barrier();\n",
    ),
    _case(
        "write-before-barrier",
        "A kernel accesses bytes that one of its own `noc_async_write`s still changes; a flush is "
        "not enough.",
        "writer.cpp",
        "        noc_async_write_barrier();\n",
        "        noc_async_writes_flushed();\n"
        "        noc_async_read_tile(tile, tensor, get_read_ptr(16));\n"
        "        noc_async_read_barrier();\n"
        "        noc_async_write_barrier();\n",
    ),
    _case(
        "missing-barrier",
        "A kernel ends while its copies are under way.",
        "writer.cpp",
        "noc_async_write_barrier",
        "noc_async_writes_flushed",
    ),
    _case(
        "cb-unreserved-write",
        "Bytes of a circular buffer are written that are not in reserved pages.",
        "reader.cpp",
        "        cb_reserve_back(0, 1);\n"
        "        noc_async_read_tile(tile, tensor, get_write_ptr(0));\n",
        "        noc_async_read_tile(tile, tensor, get_write_ptr(0));\n"
        "        cb_reserve_back(0, 1);\n",
    ),
    _case(
        "cb-unwaited-read",
        "Bytes of a circular buffer are read that are in pages nobody has waited for.",
        "writer.cpp",
        "get_read_ptr(16)",
        "get_read_ptr(16) + 2048",
    ),
    _case(
        "cb-push-unreserved",
        "More pages are pushed than are reserved: the consumer may still use them. Circular "
        "buffers on a tensor need no `cb_reserve_back` for free pages: the numbers are there.",
        "compute.cpp",
        "cb_push_back(16, 1)",
        "cb_push_back(16, 2)",
    ),
    _case(
        "cb-pop-unwaited",
        "More pages are popped than were waited for: the producer may not have filled them.",
        "writer.cpp",
        "cb_pop_front(16, 1)",
        "cb_pop_front(16, 2)",
    ),
    Case(
        "cb-page-size",
        "A compute thread uses tiles that are larger than the pages of their circular buffer.",
        "compute.cpp",
        (),
        page_size=1024,
    ),
    Case(
        "cb-straddle",
        "Pages that are used together wrap around: there is no memory after the last page, and "
        "the pointers of the data-movement processors only wrap when they meet the end exactly.",
        "writer.cpp",
        (
            ("cb_wait_front(16, 1)", "cb_wait_front(16, 3)"),
            ("cb_pop_front(16, 1)", "cb_pop_front(16, 3)"),
        ),
    ),
    _case(
        "cb-producers",
        "Two threads produce into one circular buffer.",
        "writer.cpp",
        "        cb_pop_front(16, 1);\n",
        "        cb_pop_front(16, 1);\n        cb_reserve_back(0, 1);\n",
    ),
    _case(
        "cb-consumers",
        "Two threads consume from one circular buffer.",
        "writer.cpp",
        "        cb_pop_front(16, 1);\n",
        "        cb_pop_front(16, 1);\n        cb_wait_front(0, 1);\n",
    ),
    _case(
        "dst-acquire",
        "MATH uses DST without having acquired it.",
        "compute.cpp",
        "        tile_regs_acquire();\n",
    ),
    _case(
        "dst-wait",
        "PACK takes tiles of DST without having waited for them.",
        "compute.cpp",
        "        tile_regs_wait();\n        pack_tile(0, 16);\n",
        "        pack_tile(0, 16);\n        tile_regs_wait();\n",
    ),
    _case(
        "semaphore-address",
        "A word is used as a semaphore that is none.",
        "writer.cpp",
        "    for (uint32_t tile",
        "    noc_semaphore_set(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(source), 1);\n"
        "    for (uint32_t tile",
    ),
    Case(
        "semaphore-race",
        "Two threads change a semaphore, at least one of them sets it, and nothing orders the two: "
        "what one did may be undone by the other. Increments alone may come in any order.",
        "reader.cpp",
        (
            (
                "    for (uint32_t tile",
                "    const uint32_t flag = get_semaphore(0);\n"
                "    noc_semaphore_set(reinterpret_cast<volatile tt_l1_ptr uint32_t*>(flag), 1);\n"
                "    for (uint32_t tile",
            ),
        ),
        other="writer.cpp",
    ),
    _note(
        "cb-not-empty",
        "Pages that were pushed are left at the end of a program.",
        "writer.cpp",
        "tile < tiles",
        "tile + 2 < tiles",
    ),
    _note(
        "atomic-open",
        "A kernel ends and does not wait until a semaphore of another core is incremented.",
        "writer.cpp",
        "    for (uint32_t tile",
        "    noc_semaphore_inc(get_noc_addr(my_x[0], my_y[0], get_semaphore(0)), 1);\n"
        "    for (uint32_t tile",
    ),
)

MACHINE_CASES: tuple[Case, ...] = (
    _case(
        "noc-alignment",
        "The addresses of a copy differ modulo the unit in which the network moves bytes: 16 in L1 "
        "and for writes to DRAM, 32 for reads of DRAM on Wormhole and 64 on Blackhole.",
        "reader.cpp",
        "get_write_ptr(0)",
        "get_write_ptr(0) + 16",
    ),
    _case(
        "unaligned",
        "A processor loads or stores at an address that is no multiple of the size.",
        "reader.cpp",
        "        noc_async_read_barrier();\n",
        "        noc_async_read_barrier();\n"
        "        volatile tt_l1_ptr uint32_t* word =\n"
        "            reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0) + 2);\n"
        "        word[0] = tile;\n",
    ),
    _case(
        "cb-too-many-pages",
        "A kernel waits for more pages than the circular buffer has: it would wait for ever.",
        "writer.cpp",
        "cb_wait_front(16, 1)",
        "cb_wait_front(16, 5)",
    ),
    _case(
        "cb-missing",
        "A circular buffer is used that is not configured on the core.",
        "writer.cpp",
        "cb_wait_front(16, 1)",
        "cb_wait_front(17, 1)",
    ),
    _case(
        "dst-bounds",
        "DST has no tile with that index, in the mode that the kernel runs in.",
        "compute.cpp",
        "        copy_tile(0, 0, 0);\n",
        "        copy_tile(0, 0, 8);\n",
    ),
    _case(
        "init",
        "A unit is used that no `_init` call has configured.",
        "compute.cpp",
        "    unary_op_init_common(0, 16);\n    copy_tile_init(0);\n",
    ),
    _case(
        "semaphore-missing",
        "A semaphore is used that the program has not created on the core.",
        "writer.cpp",
        "    for (uint32_t tile",
        "    noc_semaphore_inc(get_noc_addr(my_x[0], my_y[0], get_semaphore(1)), 1);\n"
        "    for (uint32_t tile",
    ),
    _case(
        "deadlock",
        "Threads wait, and nothing is left that could wake them.",
        "writer.cpp",
        "tile < tiles",
        "tile <= tiles",
    ),
)
