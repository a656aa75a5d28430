"""What the parts of a chip know of the threads and cores around them.

Memories, circular buffers and registers let threads wait and wake them; the sanitizer asks where
they are. None of them knows how a thread runs, so these interfaces stand between them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from ttmlir.optable.kernel import Role
    from ttmlir.sim.errors import Finding, Position, SimError


class KernelText(Protocol):
    """Where a thread's kernel is written."""

    @property
    def file(self) -> str:
        """The file that messages name."""
        ...

    @property
    def own_files(self) -> frozenset[int]:
        """Numbers of files whose code is the package's own."""
        ...

    def position(self, code_line: int, column: int) -> Position:
        """The place that a line of the compiled code stands for."""
        ...

    def line(self, position: Position) -> str:
        """The line of a place; empty if it is in none of the texts."""
        ...


class RunningThread(Protocol):
    """A kernel on one processor of a core."""

    @property
    def index(self) -> int:
        """Numbers the threads of a program without gaps."""
        ...

    @property
    def role(self) -> Role:
        """The processor."""
        ...

    @property
    def role_name(self) -> str:
        """The name of the processor."""
        ...

    @property
    def name(self) -> str:
        """How messages name the thread: `core (0, 0) BRISC`."""
        ...

    @property
    def logical(self) -> tuple[int, int]:
        """Logical (x, y) of the core."""
        ...

    @property
    def device(self) -> int | None:
        """The number of the chip, where several run together."""
        ...

    @property
    def l1(self) -> object:
        """The L1 of the core, to be told from other memories."""
        ...

    @property
    def kernel(self) -> KernelText:
        """The source of the kernel."""
        ...

    @property
    def wanted(self) -> int:
        """How many pages, or which value, it waits for."""
        ...

    def wait(self, reason: WaitReason, wanted: int) -> None:
        """Note what the thread waits for; whoever provides it calls `wake`."""
        ...

    def wake(self) -> None:
        """Let the thread run again, to look whether it has got what it waits for."""
        ...

    def finding(
        self, message: str, *, rule: str = "", detail: tuple[str, ...] = (), severity: str = "error"
    ) -> Finding:
        """A finding at the thread's position."""
        ...

    def error(self, message: str, *, rule: str = "", detail: tuple[str, ...] = ()) -> SimError:
        """An error at the thread's position, to be raised."""
        ...


class WaitReason:
    """What a blocked thread waits for."""

    kind: str
    """The call that waits; stalls are counted under this name."""

    is_within_kernel = False
    """Whether only the other threads of the same compute kernel can end it."""

    def describe(self, thread: RunningThread) -> tuple[str, ...]:
        """What has to happen, and notes on the state that it depends on."""
        raise NotImplementedError
