"""What the host enqueues: writes and reads of buffers, programs, events.

Names and parameters are those of tt-metal, tt_metal/api/tt-metalium/host_api.hpp; vectors are NumPy
arrays. What goes wrong while a program runs raises SimError, whose text points into the kernel.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from ttmlir.metalium.buffers import Buffer, BufferRegion, pages_of
from ttmlir.metalium.errors import MetaliumError, host_call
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.command_queue import CommandQueue
from ttmlir.sim.execution.program import Program
from ttmlir.sim.execution.run import ProgramReport


def EnqueueWriteBuffer(
    cq: CommandQueue, buffer: Buffer, src: ArrayLike | bytes, blocking: bool = True
) -> None:
    """Fill a buffer with the bytes of an array of any type; a list of integers is of uint32."""
    _write(cq, buffer, src, None)


def EnqueueWriteSubBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    src: ArrayLike | bytes,
    region: BufferRegion,
    blocking: bool = True,
) -> None:
    """Fill some pages of a buffer."""
    _write(cq, buffer, src, pages_of(_check_buffer(buffer), region))


def EnqueueReadBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | list[int] | None = None,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read a buffer into `dst`, or into a new array of type `dtype`; returns the array.

    A list is filled like a vector: it gets as many numbers as there are. Without `blocking`, an
    array holds the data after `Finish`, and ones in all bits before.
    """
    return _read(cq, buffer, dst, blocking, np.dtype(dtype), None)


def EnqueueReadSubBuffer(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | list[int] | None,
    region: BufferRegion,
    blocking: bool = True,
    *,
    dtype: DTypeLike = np.uint32,
) -> NDArray[Any]:
    """Read some pages of a buffer."""
    pages = pages_of(_check_buffer(buffer), region)
    return _read(cq, buffer, dst, blocking, np.dtype(dtype), pages)


def EnqueueProgram(cq: CommandQueue, program: Program, blocking: bool = False) -> ProgramReport:
    """Run a program; returns what its threads did."""
    if not isinstance(cast("object", program), Program):
        raise MetaliumError(f"{program!r} is no program; CreateProgram() makes one")
    try:
        return _check_queue(cq).run(program)
    except SimError as error:
        # How the simulator found it says nothing to who wrote the kernel.
        raise error.with_traceback(None) from None


def Finish(cq: CommandQueue) -> None:
    """Wait until all commands of a queue are done."""
    _check_queue(cq).finish()


class Event:
    """A moment in a queue: what was enqueued before has happened for the host, too."""

    def __init__(self) -> None:
        """A moment that no queue has recorded yet."""
        self.queue: CommandQueue | None = None

    def __repr__(self) -> str:
        """Whether it was recorded."""
        return "Event(recorded)" if self.queue is not None else "Event()"


def EnqueueRecordEvent(cq: CommandQueue, event: Event | None = None) -> Event:
    """Let an event, or a new one, stand for the moment after the last command."""
    made = Event() if event is None else event
    made.queue = _check_queue(cq)
    return made


def EnqueueWaitForEvent(cq: CommandQueue, event: Event) -> None:
    """Let the commands that follow wait for a moment of another queue."""
    _check_queue(cq)
    _recording_queue(event)


def EventSynchronize(event: Event) -> None:
    """Wait for a moment."""
    _recording_queue(event).finish()


def EventQuery(event: Event) -> bool:
    """Whether a moment has passed, which it has: commands take effect when they are enqueued."""
    EventSynchronize(event)
    return True


def _recording_queue(event: object) -> CommandQueue:
    if not isinstance(event, Event) or event.queue is None:
        raise MetaliumError(f"{event!r} was not recorded; call EnqueueRecordEvent first")
    return event.queue


def _write(cq: CommandQueue, buffer: Buffer, src: ArrayLike | bytes, pages: range | None) -> None:
    size = _check_buffer(buffer).size() if pages is None else len(pages) * buffer.page_size()
    data = host_bytes(src, size)
    with host_call():
        _check_queue(cq).write(buffer.simulated, data, pages=pages)


def host_bytes(src: ArrayLike | bytes, size: int | None = None) -> bytes:
    """The bytes of what the host writes; MetaliumError if they are not `size`, if that is given."""
    hint = ""
    if isinstance(src, bytes):
        data = src
    else:
        array = cast("NDArray[Any]", src) if isinstance(src, np.ndarray) else _words(src)
        if array.dtype.hasobject:
            raise MetaliumError("an array of Python objects has no bytes of its own")
        if array.dtype.itemsize == 8:
            hint = (
                f": each number of {array.dtype} has 8 bytes; convert the array, such as by "
                ".astype(np.uint32) or pack_bfloat16"
            )
        data = np.ascontiguousarray(array).tobytes()
    if size is not None and len(data) != size:
        raise MetaliumError(
            f"{len(data)} bytes are written to a buffer of {size}; write all of it{hint}"
        )
    return data


def _words(numbers: object) -> NDArray[np.uint32]:
    """A list of integers as a vector of uint32."""
    try:
        array = np.asarray(numbers)
    except ValueError as error:
        raise MetaliumError(f"the numbers are no vector: {error}") from None
    if array.dtype.kind not in "iub" or array.size == 0:
        raise MetaliumError(
            f"a list of {array.dtype} has no size in bytes; give an array, such as "
            "np.asarray(values, np.float32) or pack_bfloat16(values)"
        )
    if int(array.max()) >= 1 << 32 or int(array.min()) < -(1 << 31):
        raise MetaliumError("a list of integers is one of uint32, but there are larger ones")
    return (array.astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32)


def _read(
    cq: CommandQueue,
    buffer: Buffer,
    dst: NDArray[Any] | list[int] | None,
    blocking: bool,
    dtype: np.dtype[Any],
    pages: range | None,
) -> NDArray[Any]:
    size = _check_buffer(buffer).size() if pages is None else len(pages) * buffer.page_size()
    target = _destination(size, dst, dtype)
    flat = target.reshape(-1).view(np.uint8)
    if not blocking:
        flat[:] = 0xFF

    def deliver(data: bytes) -> None:
        flat[:] = np.frombuffer(data, np.uint8)
        if isinstance(dst, list):
            dst[:] = target.tolist()

    with host_call():
        _check_queue(cq).read(buffer.simulated, deliver, blocking=blocking, pages=pages)
    return target


def _destination(
    size: int, dst: NDArray[Any] | list[int] | None, dtype: np.dtype[Any]
) -> NDArray[Any]:
    if not isinstance(dst, np.ndarray):
        if dst is not None and not isinstance(cast("object", dst), list):
            raise MetaliumError(f"dst is an array or a list, not {dst!r}")
        if dtype.hasobject or size % max(dtype.itemsize, 1) or dtype.itemsize == 0:
            raise MetaliumError(
                f"a buffer of {size} bytes does not hold whole numbers of type {dtype}"
            )
        return np.empty(size // dtype.itemsize, dtype)
    if (
        dst.nbytes != size
        or not dst.flags.c_contiguous
        or not dst.flags.writeable
        or dst.dtype.hasobject
    ):
        raise MetaliumError(
            f"dst has {dst.nbytes} bytes, the buffer {size}; dst has to be a contiguous, "
            "writeable array of as many bytes"
        )
    return dst


def _check_buffer(buffer: object) -> Buffer:
    if not isinstance(buffer, Buffer):
        raise MetaliumError(f"{buffer!r} is no buffer; CreateBuffer(config) makes one")
    return buffer


def _check_queue(cq: object) -> CommandQueue:
    if not isinstance(cq, CommandQueue):
        raise MetaliumError(f"{cq!r} is no command queue; device.command_queue() is one")
    return cq
