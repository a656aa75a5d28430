"""Queues, events, traces and global semaphores."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING

from ttmlir.errors import UsageError
from ttmlir.metalium.buffers import GlobalSemaphore
from ttmlir.metalium.cores import CoreSpec
from ttmlir.metalium.enums import BufferType
from ttmlir.ttnn.operations.operation import OBSERVERS, Recorder, tensors_of

if TYPE_CHECKING:
    from ttmlir.ttnn.device.mesh import MeshDevice

_ids = count()


@dataclass(frozen=True)
class MeshEvent:
    """A moment in a queue. Commands are done in order, so that it has always passed."""

    queue: int


def record_event(
    mesh_device: MeshDevice,
    cq_id: int | None = None,
    sub_device_ids: Iterable[object] = (),
    device_range: object = None,
) -> MeshEvent:
    """The moment after the last command."""
    mesh_device.check_open()
    return MeshEvent(0 if cq_id is None else cq_id)


def wait_for_event(cq_id: int, mesh_event: MeshEvent) -> None:
    """Let a queue wait for a moment of another one."""


def event_synchronize(mesh_event: MeshEvent) -> None:
    """Wait for a moment."""


@contextmanager
def command_queue(cq_id: int) -> Generator[None, None, None]:
    """The queue of the operations within a `with` block."""
    yield


@dataclass(eq=False)
class MeshTraceId:
    """Operations that can be replayed."""

    recorder: Recorder = field(default_factory=Recorder)
    number: int = field(default_factory=lambda: next(_ids))


def begin_trace_capture(mesh_device: MeshDevice, *, cq_id: int | None = None) -> MeshTraceId:
    """Keep the operations that follow; they are computed, too."""
    mesh_device.check_open()
    if any(isinstance(each, Recorder) for each in OBSERVERS.current):
        raise UsageError("a trace is being captured; end it with ttnn.end_trace_capture first")
    trace = MeshTraceId()
    OBSERVERS.add(trace.recorder)
    return trace


def end_trace_capture(
    mesh_device: MeshDevice, trace_id: MeshTraceId, *, cq_id: int | None = None
) -> None:
    """Keep no more operations."""
    if trace_id.recorder not in OBSERVERS.current:
        raise UsageError("the trace is not being captured")
    OBSERVERS.remove(trace_id.recorder)


def execute_trace(
    mesh_device: MeshDevice,
    trace_id: MeshTraceId,
    *,
    cq_id: int | None = None,
    blocking: bool = True,
) -> None:
    """Compute the operations again, with what their operands hold now; into the same results."""
    mesh_device.check_open()
    for call in trace_id.recorder.calls:
        again = call.repeat()
        for old, new in zip(tensors_of(call.result), tensors_of(again), strict=True):
            if old is not new:
                old.take(new)


def release_trace(mesh_device: MeshDevice, trace_id: MeshTraceId) -> None:
    """Forget the operations of a trace."""
    trace_id.recorder.calls.clear()


def create_global_semaphore(
    device: MeshDevice,
    cores: CoreSpec,
    initial_value: int,
    buffer_type: BufferType = BufferType.L1,
) -> GlobalSemaphore:
    """A word in the L1 of some cores, of each device of a mesh."""
    if device.is_several:
        return _MeshSemaphore(device, cores, initial_value, buffer_type)
    return GlobalSemaphore(device, cores, initial_value, buffer_type)


class _MeshSemaphore(GlobalSemaphore):
    """A word of each device of a mesh; its address is that on the first one."""

    def __init__(
        self,
        device: MeshDevice,
        cores: CoreSpec,
        initial_value: int,
        buffer_type: BufferType = BufferType.L1,
    ) -> None:
        """Take the words and write them."""
        first, *others = device.units
        self._others = [GlobalSemaphore(each, cores, initial_value, buffer_type) for each in others]
        super().__init__(first, cores, initial_value, buffer_type)

    def reset_semaphore_value(self, reset_value: int) -> None:
        """Write the word on all cores of all devices."""
        super().reset_semaphore_value(reset_value)
        for each in self._others:
            each.reset_semaphore_value(reset_value)


def get_global_semaphore_address(global_semaphore: GlobalSemaphore) -> int:
    """Where the word is, on all cores."""
    return global_semaphore.address()


def reset_global_semaphore_value(global_semaphore: GlobalSemaphore, reset_value: int) -> None:
    """Write the word."""
    global_semaphore.reset_semaphore_value(reset_value)
