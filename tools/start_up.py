"""How a tool's process runs: settings for one piece of work, and an end that users understand.

Every tool starts through `run_once`, so that all of them treat closed and full streams, other
encodings, interrupts and mistakes of this project alike. The module imports next to nothing: an
interrupt while the tool itself is imported is one like any other.
"""

from __future__ import annotations

import errno
import gc
import io
import os
import signal
import sys
from collections.abc import Callable
from typing import Any, TextIO

YOUNG_OBJECTS = 2_000_000
"""Allocations between two collections: an IR has few cycles, and most objects live to the end."""

INTERRUPTED = 130
"""Exit status of a program that was interrupted from the keyboard, as shells give it."""


def _end_quietly(number: int, frame: object) -> None:
    os._exit(INTERRUPTED)


def end_quietly_before_work(program: str) -> None:
    """Let an interrupt end the process without words until `run_once` begins with the work.

    Only where the process is the program itself, so that libraries do not notice.
    """
    is_default = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_default and os.path.basename(sys.argv[0]) == program:
        signal.signal(signal.SIGINT, _end_quietly)


def run_once(program: str, work: Callable[[], int]) -> int:
    """The exit status that `work` gives.

    - The garbage collector stays out of its way.
    - The reader of a pipe that has seen enough, such as `head`, changes nothing: the work ends as
      it would have. Output that is lost for another reason, such as a full disk, is an error.
    - Characters that the terminal's encoding lacks are printed as escapes.
    - An interrupt ends with status 130.
    - An exception that `work` lets out is a mistake in this project and is reported as one,
      without a traceback unless TTMLIR_DEBUG is set.
    """
    # Here, as an interrupt while modules are imported is awaited already.
    from ttmlir.lazy_methods import defer_methods

    defer_methods()
    gc.set_threshold(YOUNG_OBJECTS, 50, 50)
    _open_closed_streams()
    streams = sys.stdout, sys.stderr
    output, errors = (_Stream.of(stream) for stream in streams)
    sys.stdout, sys.stderr = output.text, errors.text
    try:
        status = _status_of(program, work)
        # In `work` click may have replaced the stream.
        sys.stdout = output.text
        output.flush()
        if output.is_lost:
            print(f"{program}: error: standard output: {output.reason}", file=sys.stderr)
            status = status or 1
        errors.flush()
        return status
    finally:
        sys.stdout, sys.stderr = streams
        gc.freeze()  # The interpreter need not search what is left for cycles before it ends.


def _status_of(program: str, work: Callable[[], int]) -> int:
    was_quiet = signal.getsignal(signal.SIGINT) is _end_quietly
    try:
        if was_quiet:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = work()
        if was_quiet:
            # Nothing is left to do but to end.
            signal.signal(signal.SIGINT, _end_quietly)
        return status
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as request:
        return request.code if isinstance(request.code, int) else int(request.code is not None)
    except MemoryError:
        print(f"{program}: error: not enough memory", file=sys.stderr)
        return 1
    except Exception as error:
        if os.environ.get("TTMLIR_DEBUG"):
            raise
        # Loaded here, since what is loaded before is for each start.
        from ttmlir.terminal import print_error

        name = type(error).__name__
        print_error(
            f"{program}: error: internal error: {name}: {error}\n{program}: note: this is a mistake"
            " in ttmlir, not in the input; TTMLIR_DEBUG=1 shows the traceback"
        )
        return 1


class _RawStream(io.FileIO):
    """An open file that drops what it cannot write, and notes why."""

    failure: OSError | None = None

    def write(self, data: Any, /) -> int | None:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


class _Stream:
    """Standard output or standard error while a tool works."""

    def __init__(self, text: TextIO, raw: _RawStream | None = None):
        self.text = text
        self._raw = raw

    @classmethod
    def of(cls, stream: TextIO) -> _Stream:
        """A stream that goes where another goes, which is that one itself if it is no file."""
        try:
            raw = _RawStream(stream.fileno(), "w", closefd=False)
        except io.UnsupportedOperation:
            return cls(stream)
        text = io.TextIOWrapper(
            io.BufferedWriter(raw),
            stream.encoding,
            "backslashreplace",
            line_buffering=bool(stream.line_buffering),
        )
        return cls(text, raw)

    @property
    def is_lost(self) -> bool:
        """True if something could not be written that somebody wanted to read."""
        failure = self._raw.failure if self._raw is not None else None
        return failure is not None and failure.errno != errno.EPIPE

    @property
    def reason(self) -> str:
        """Why output was lost."""
        failure = self._raw.failure if self._raw is not None else None
        return "" if failure is None else failure.strerror or str(failure)

    def flush(self) -> None:
        """Write what is left."""
        self.text.flush()


def _open_closed_streams() -> None:
    """Open standard streams that the process was started without.

    They fail when they are used: the null device is opened the wrong way round, as GNU's tools do
    it. Messages that nobody can read are dropped.
    """
    for descriptor, name, mode, access in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, access)
            if opened != descriptor:
                os.dup2(opened, descriptor)
                os.close(opened)
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", closefd=False))
