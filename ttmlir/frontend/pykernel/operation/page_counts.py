"""Which circular buffers kernels fill and empty, and how many pages they ask for at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects.ttkernel import CBType
from ttmlir.frontend.pykernel.kernels import Kernel

_FILL = frozenset({"ttkernel.cb_reserve_back", "ttkernel.cb_push_back"})
_EMPTY = frozenset({"ttkernel.cb_wait_front", "ttkernel.cb_pop_front"})


def count_pages(kernels: Sequence[Kernel], port: int) -> tuple[int, ...] | None:
    """The numbers of pages that kernels reserve, push, wait for and pop.

    None where that is not known before they run, and where one kernel fills a circular buffer and
    empties it: how much it fills before that is not known either.
    """
    counts = set[int]()
    for kernel in kernels:
        for used, pages, both in _uses(kernel.module):
            if used == port:
                if pages is None or both:
                    return None
                counts.update(pages)
    return tuple(sorted(counts)) or None


@lru_cache(maxsize=512)
def _uses(module: ModuleOp) -> tuple[tuple[int, frozenset[int] | None, bool], ...]:
    """For each circular buffer of a kernel: its number, the pages, whether it does both."""
    found: dict[int, list[tuple[str, int | None]]] = {}
    for op, buffer, pages in _handovers(module):
        found.setdefault(buffer, []).append((op.name, pages))
    uses = list[tuple[int, frozenset[int] | None, bool]]()
    for buffer, calls in found.items():
        names = {name for name, _ in calls}
        pages = [count for _, count in calls]
        known = frozenset(count for count in pages if count is not None)
        both = bool(names & _FILL) and bool(names & _EMPTY)
        uses.append((buffer, known if None not in pages and min(known) > 0 else None, both))
    return tuple(uses)


def find_ends(module: ModuleOp) -> tuple[frozenset[int], frozenset[int]]:
    """The numbers of the circular buffers that a kernel fills, and of those that it empties."""
    uses = [(op.name, buffer) for op, buffer, _ in _handovers(module)]
    filled, emptied = (
        frozenset(buffer for name, buffer in uses if name in names) for names in (_FILL, _EMPTY)
    )
    return filled, emptied


def _handovers(module: ModuleOp) -> Iterator[tuple[Operation, int, int | None]]:
    for op in module.walk():
        if op.name in _FILL or op.name in _EMPTY:
            buffer = op.operands[0].type
            assert isinstance(buffer, CBType), "the verifier has checked the operand"
            yield op, int(buffer.buffer.data.port), _constant(op.operands[1])


def _constant(value: SSAValue) -> int | None:
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr(value=number)):
            return number.data
        case _:
            return None
