"""The page about the sanitizer: each rule, kernels that break it, and what is reported."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

import numpy as np
from sanitizer_cases import KERNELS, MACHINE_CASES, SANITIZER_CASES, TILE_BYTES, TILES, Case, run

from ttmlir.sim.options import SimOptions

_INTRODUCTION = """\
# The sanitizer

A kernel that lacks a barrier, or writes a page too early, often works: in the simulator, where
bytes move when a copy is started, and on a chip, until something else is slower or faster. The
sanitizer finds such kernels whatever happens to come first. It follows every access to memory, to
circular buffers, to semaphores and to DST, and it is on unless a device is opened without it.

| `SimOptions`, `CreateDevice` | Meaning |
|---|---|
| `sanitize=False` | Do not look; programs run up to three times as fast. |
| `max_findings=n` | Stop at the error with number n instead of the first one, or at the end of \
the program; the error has them all. |
| `leniencies=frozenset({...})` | Let findings pass, by the names of their rules. |
| `schedule_seed=n` | Run threads in another order: for what depends on the order, see below. |
| `delay_copies=True` | Move bytes at the barrier: a kernel without its barrier computes with old \
bytes. |

An error stops the program as `SanitizerError`. Its text is that of the reports on this page: the
place, what happened, what to do, the rule in brackets; then the thread, the state of the circular
buffer, and the other access. A program without errors has its warnings and notes in
`ProgramReport.findings`. The examples change these kernels, which copy six tiles from one
tensor in DRAM to another one; circular buffers 0 and 16 have four pages.
"""

_LENIENCIES = """\
## Leniencies

Every rule of the sanitizer can be let pass by its name, and so can `noc-alignment`. Kernels that
tt-mlir generates, which keep scratch memory where the compiler has placed it, run without
`unallocated-write`, and without one more name:

| Name | Lets pass |
|---|---|
| `pop-unfilled` | a circular buffer on a tensor is popped although nobody has pushed |

`aliased-cbs` is accepted as before and lets nothing pass: no circular buffer on a tensor needs it.

## Warnings

What the protocol forbids is a warning, not an error, where the result is always the same:

- A circular buffer that only one thread uses is scratch memory: `cb-unreserved-write`,
  `cb-unwaited-read` and `cb-pop-unwaited` become errors when another thread reserves, pushes, waits
  for or pops its pages. To be told nothing, reserve the pages once and never push them.
- Pages that were pushed and that nobody waits for may be read if the wait for a later push of the
  same producer, or a semaphore, orders the reader behind those who wrote them.
- A kernel may end while its writes are under way (`missing-barrier`) if another thread has waited
  for a semaphore that was sent behind them.

The pages of a circular buffer on a tensor are the tensor's: whoever uses them without the protocol
is told nothing unless it is a race.

## What it does not find

- A word that kernels use as a flag without it being a semaphore is no hand-over: it is a race.
- Who waits for a semaphore knows of its changes up to the first one with which the wait might have
  ended. Which ones those are where several threads increment it is taken from this run; a loop that
  looks at the word through a pointer knows of all. Run such programs with several values of
  `schedule_seed`.
- An address that a kernel computes by itself and that lies in another buffer as a whole.
- Bytes of a page that is pushed without having been written again keep what they held before.

How it works: each thread, and each network on its behalf, is an actor with a vector clock
(`ttmlir/sim/sanitizer/vector_clock.py`); memory remembers by ranges of bytes who wrote it last and
who has read it since (`shadow.py`). An access that does not know of an earlier one is a race.
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
    parts.append(_LENIENCIES)
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
    return f"### {case.rule}\n\n{case.meaning}\n\n{mistake}\n\n```text\n{report}\n```\n"


def _difference(case: Case) -> str:
    """How the kernels differ from the correct ones."""
    lines = (
        line
        for name, text in case.kernels.items()
        for line in difflib.unified_diff(
            KERNELS[name].splitlines(keepends=True), text.splitlines(keepends=True), name, name, n=2
        )
    )
    return "".join(line for line in lines if not line.startswith("+++"))


def numbers() -> bytes:
    """Tiles of bfloat16 numbers, none of them NaN, infinite or subnormal."""
    bits = np.random.default_rng(0).integers(0x3000, 0x4500, TILES * TILE_BYTES // 2)
    return bits.astype("<u2").tobytes()
