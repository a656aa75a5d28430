"""What was in the pages that kernels handed over: recorded only where somebody asks for it.

`PageLog.watch` puts itself between a kernel and its calls before the kernel starts, so that a
program that nobody watches pays nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ttmlir.layout.enums import DataType
from ttmlir.sim.calls.kernel_api import KernelApi


@dataclass(frozen=True)
class PushedPage:
    """A page of a circular buffer, as it was when its producer pushed it."""

    data: bytes
    data_format: DataType
    kernel: str
    """The name of the kernel that pushed it."""


@dataclass
class PageLog:
    """The pages of a program by core, logical (x, y), and circular buffer, in order."""

    pages: dict[tuple[tuple[int, int], int], list[PushedPage]] = field(
        default_factory=dict[tuple[tuple[int, int], int], list[PushedPage]]
    )

    def watch(self, api: KernelApi, kernel: str) -> None:
        """Record what a kernel pushes from now on; it must not have looked its calls up yet."""
        push: Callable[[int, int], None] = api.cb_push_back
        core = api.core.logical

        def record(cb: int, pages: int) -> None:
            buffer = api.cbs[cb]
            kept = self.pages.setdefault((core, cb), [])
            for number in range(pages):
                place = buffer.wr_ptr - buffer.address + number * buffer.page_size
                address = buffer.address + place % buffer.size
                data = bytes(api.l1.read(address, buffer.page_size))
                kept.append(PushedPage(data, buffer.data_format, kernel))
            push(cb, pages)

        calls: Any = api
        calls.cb_push_back = record
