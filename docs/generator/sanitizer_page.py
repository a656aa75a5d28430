"""The page about the sanitizer: each rule, kernels that break it, and what is reported."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import numpy as np
from sanitizer_cases import KERNELS, MACHINE_CASES, SANITIZER_CASES, TILE_BYTES, TILES, Case, run

from ttmlir.sim.options import SimOptions

_INTRODUCTION = """\
# The sanitizer

The sanitizer finds kernels that lack a barrier or write a page too early, whatever order a run
happens to have. It follows every access to memory, circular buffers, semaphores and DST, and is on
by default.

Options of `SimOptions` and `CreateDevice`:

- `sanitize=False`: Do not look. Programs whose threads are ordered by circular buffers alone, and
  that read and write other pages of DRAM, run a fifth faster, others up to three times as fast.
- `max_findings=n`: Stop at the error with number n instead of the first one, or at the end of the
  program; the error has them all.
- `leniencies=frozenset({...})`: Suppress rules by name. `tt-metal` stands for those that programs
  break which run right on cards: `cb-pop-unwaited` and `uninitialised-read`.
- `schedule_seed=n`: Run threads in another order: for what depends on the order, see below.
- `delay_copies=True`: Move bytes at the barrier: a kernel without its barrier computes with old
  bytes.

An error stops the program as `SanitizerError`. Its text is that of the reports below (location,
what happened, what to do, rule in brackets), with the source line, the thread, the state of the
circular buffer and the other access. `ProgramReport.findings` has the warnings and notes of a
program without errors. The examples change these kernels, which copy six tiles from one tensor in
DRAM to another one; circular buffers 0 and 16 have four pages.
"""

_SUPPRESSIONS = """\
## Links and the fabric

Of kernels that send to other chips ([meshes.md](meshes.md#kernels)); messages name the device, the
core and the link. A race may be between kernels of several chips. The rules of links cannot be
suppressed.

- `fabric-connection`: a connection that is not open, that is opened twice, or that is still open at
  the end; a mux that is told to end while a worker is connected to it.
- `fabric-slot`: a packet is written to a slot of a router that may be full, as nobody has waited
  for an empty one.
- `fabric-route`: a packet whose route leads nowhere, or not by the link on which it leaves.
- `fabric-header`, `fabric-payload`: a header without a route or a command; a payload that is not
  what the header says, or too large.
- `socket`: a configuration that is not one of this end on this core, or whose state a kernel did
  not write back; pages of sizes and numbers that the socket has not; a receiver on another chip
  that is told without a packet.
- `socket-overrun`: pages that are sent without room, or given back before they came; pages that the
  other end is never told of. Bytes that are written or read without a wait are told as `race`.
- `remote-cb`, `remote-cb-overrun`: the same of global circular buffers, whose ends are on cores of
  one chip.
- `socket-not-empty`, and `cb-not-empty` of a global circular buffer: a note on pages that a kernel
  which receives has left, and with which the next program begins.
- `eth-link`: a kernel on an Ethernet core whose link leads nowhere. One that ends before its
  receiver has answered is told as `missing-barrier`.

## Suppressions

Every rule of the sanitizer, and `noc-alignment`, can be suppressed by its name. Kernels of tt-mlir
run without `unallocated-write`, as they keep scratch memory where the compiler has placed
it, and without `pop-unfilled`: a circular buffer on a tensor is popped although nobody has pushed.
`aliased-cbs` is accepted and has no effect.

## Warnings

What the protocol forbids is a warning, not an error, where the result is always the same:

- A circular buffer that only one thread uses is scratch memory: `cb-unreserved-write`,
  `cb-unwaited-read` and `cb-pop-unwaited` become errors when another thread uses its pages. Reserve
  the pages once, and never push them, to avoid the warning.
- Pages that were pushed and that nobody waits for may be read if the wait for a later push of the
  same producer, or a semaphore, orders the reader after those who wrote them.
- A kernel may end while its writes are in flight (`missing-barrier`) if another thread has waited
  for a semaphore that was sent after them.

The pages of a circular buffer on a tensor are the tensor's: using them without the protocol is
reported only if it is a race.

## What it costs

Histories of bytes and clocks of threads take as long as the rest of a program. Most programs do not
need them, as no order of events can make them wrong ([`regular.py`][regular]):

- Each circular buffer has one producer and one consumer. Pages are reserved before they are
  written, pushed when no reads are under way, waited for before they are used, and popped when no
  writes are leaving.
- What is read of tensors is not written, and what is written is written once.
- No semaphores, multicasts or mailboxes order threads.

Cores that run [as groups](developing.md#how-cores-run-together) may have semaphores and multicasts,
too: what these order is followed once for each group, not for each tile.

The simulator takes a program for such a one until something speaks against it. Then it puts back
what was written, and runs it anew with histories and clocks.

[regular]: ../ttmlir/sim/sanitizer/regular.py

## What it does not find

- A 32-bit flag that is not a semaphore does not synchronize: it is reported as a race.
- Where several threads increment a semaphore, the increments that a wait has seen are those of this
  run. Run such programs with several values of `schedule_seed`.
- An address that a kernel computes by itself and that lies in another buffer as a whole.
- Bytes of a page that is pushed without having been written again keep what they held before.
"""


def sanitizer_page() -> str:
    """The whole page."""
    parts = [_INTRODUCTION]
    for name, text in KERNELS.items():
        parts.append(f"`{name}`:\n\n```cpp\n{text}```\n")
    parts.append("## Errors\n")
    parts += _sections(case for case in SANITIZER_CASES if case.error)
    parts.append("## Notes\n\nThey do not stop a program.\n")
    parts += _sections(case for case in SANITIZER_CASES if not case.error)
    parts.append("## Errors that are found without the sanitizer as well\n")
    parts += _sections(iter(MACHINE_CASES))
    parts.append(_SUPPRESSIONS)
    return "\n".join(parts)


def _sections(cases: Iterator[Case]) -> list[str]:
    return [_section(case) for case in cases]


def _section(case: Case) -> str:
    """A rule: what it means, a kernel that breaks it, the report."""
    outcome = run(case.kernels, SimOptions(), numbers(), case.page_size)
    report = "\n".join(outcome.reports)
    if case.changes:
        mistake = f"```diff\n{_difference(case)}```"
    else:
        mistake = f"Here circular buffer 16 has pages of {case.page_size} bytes."
    shown = "\n".join(line for line in report.splitlines() if not line.startswith(" "))
    return f"### {case.rule}\n\n{case.meaning}\n\n{mistake}\n\n```text\n{shown}\n```\n"


def _difference(case: Case) -> str:
    """How the kernels differ from the correct ones, each change with the line before it.

    If that is empty, with the line after it, too.
    """
    shown: list[str] = []
    hunk: list[str] = []
    for name, text in case.kernels.items():
        lines = difflib.unified_diff(
            KERNELS[name].splitlines(keepends=True), text.splitlines(keepends=True), name, name, n=1
        )
        for line in lines:
            if line.startswith("---"):
                shown.append(line)
            elif line.startswith("@@"):
                shown += _without_end(hunk)
                hunk = []
            elif not line.startswith("+++"):
                hunk.append(line)
        shown += _without_end(hunk)
        hunk = []
    return "".join(shown)


def _without_end(hunk: list[str]) -> list[str]:
    """A change without the line after it, if there is text on the line before it."""
    whole = not hunk or not hunk[0].strip() or not hunk[-1].startswith(" ")
    return hunk if whole else hunk[:-1]


def numbers() -> bytes:
    """Tiles of bfloat16 numbers, none of them NaN, infinite or subnormal."""
    bits = np.random.default_rng(0).integers(0x3000, 0x4500, TILES * TILE_BYTES // 2)
    return bits.astype("<u2").tobytes()
