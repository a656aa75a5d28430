"""Kernels on their own: against an API that only remembers, and as programs of g++."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.kernel_api import kernel_call
from ttmlir.sim.kernels import compile_kernel

COMPILER = shutil.which("g++")

_PRELUDE = """#include <cstdint>
#include <cstddef>
#include <cstdio>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdarg>
#include <cstring>
#include <functional>
#include <limits>
#include <new>
#include <numeric>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>
template <typename T> void note(T value) { std::printf("%lld\\n", (long long)value); }
"""


class RecordingApi:
    """Notes what a kernel calls; memory is a dictionary of bytes."""

    CONSTANTS: ClassVar[Mapping[str, int]] = {}
    VARIABLES = frozenset({"noc_index", "my_x", "my_y"})

    def __init__(self, *arguments: int) -> None:
        """An API for a kernel with these run-time arguments."""
        self.arguments = arguments
        self.noted: list[Any] = []
        self.calls: list[tuple[Any, ...]] = []
        self.bytes: dict[int, int] = {}
        self.thread = SimpleNamespace(clock=0)
        self.polls = 0
        self.refusals = 0
        self.my_x = [1, 2]
        self.noc_index = 1

    def load(self, address: int, size: int, signed: bool) -> int:
        """What was stored, 0 elsewhere."""
        data = bytes(self.bytes.get(address + i, 0) for i in range(size))
        return int.from_bytes(data, "little", signed=signed)

    def store(self, address: int, size: int, value: int) -> None:
        """Keep the bytes."""
        for i, byte in enumerate(value.to_bytes(size, "little")):
            self.bytes[address + i] = byte

    def poll(self, never_ends: bool = False) -> bool:
        """False and True in turns."""
        self.polls += 1
        return self.polls % 2 == 0

    def iterations(self) -> Iterator[None]:
        """Turns without an end."""
        return repeat(None)

    def limited(self, numbers: range) -> range:
        """All the numbers."""
        return numbers

    @kernel_call()
    def note(self, value: Any) -> None:
        """Keep a value."""
        self.noted.append(value)

    @kernel_call()
    def ASSERT(self, condition: bool) -> None:
        """Fail if it does not hold."""
        assert condition, "an assertion does not hold"

    def dprint(self, *values: Any) -> None:
        """Keep what is printed."""
        self.noted.append(values)

    @kernel_call(steady=True)
    def get_arg_val(self, index: int, template: tuple[Any, ...] = ()) -> int:
        """A run-time argument."""
        return self.arguments[index]

    @kernel_call(steady=True)
    def get_semaphore(self, index: int) -> int:
        """A made-up address."""
        return 64 + 16 * index

    @kernel_call(pure=True)
    def get_write_ptr(self, cb: int) -> int:
        """A made-up address."""
        return 1024 * (cb + 1)

    @kernel_call(steady=True)
    def get_noc_addr(self, *arguments: int) -> int:
        """The address in L1 alone."""
        return arguments[-1]

    @kernel_call(waits=True)
    def cb_wait_front(self, cb: int, pages: int) -> bool:
        """Refuse as often as `refusals` says."""
        return self._waiting("cb_wait_front", cb, pages)

    @kernel_call(waits=True)
    def cb_reserve_back(self, cb: int, pages: int) -> bool:
        """Refuse likewise."""
        return self._waiting("cb_reserve_back", cb, pages)

    @kernel_call(waits=True)
    def noc_async_read_barrier(self) -> bool:
        """Refuse likewise."""
        return self._waiting("noc_async_read_barrier")

    def _waiting(self, *call: Any) -> bool:
        if self.refusals:
            self.refusals -= 1
            return False
        self.calls.append(call)
        return True

    @kernel_call()
    def cb_push_back(self, cb: int, pages: int) -> None:
        """Note the call."""
        self.calls.append(("cb_push_back", cb, pages))

    @kernel_call()
    def cb_pop_front(self, cb: int, pages: int) -> None:
        """Note the call."""
        self.calls.append(("cb_pop_front", cb, pages))

    @kernel_call()
    def matmul_tiles(self, *arguments: int) -> None:
        """Note the call."""
        self.calls.append(("matmul_tiles", *arguments))

    @kernel_call()
    def pack_tile(self, dst: int, cb: int, index: int = 0) -> None:
        """Note the call."""
        self.calls.append(("pack_tile", dst, cb, index))

    @kernel_call()
    def noc_semaphore_inc(self, address: int, value: int) -> None:
        """Note the call."""
        self.calls.append(("noc_semaphore_inc", address, value))

    @kernel_call()
    def InterleavedAddrGenFast(self, *, template: tuple[Any, ...] = (), **fields: Any) -> Any:
        """Note the call; pages lie one after another."""
        self.calls.append(("InterleavedAddrGenFast", template, fields))
        return SimpleNamespace(**fields, get_noc_addr=lambda page: fields["page_size"] * page)


_DEVICE = """#include <cstdint>
#include <cstdio>
#include <cstdlib>
struct Printer {
    Printer& operator<<(const char* text) { std::printf("%s", text); return *this; }
    Printer& operator<<(int value) { std::printf("%d", value); return *this; }
    Printer& operator<<(bool value) { std::printf("%d", value); return *this; }
};
static Printer DPRINT;
inline const char* ENDL() { return "\\n"; }
inline void ASSERT(bool condition) { if (!condition) std::abort(); }
inline void noc_async_read_set_trid(int value) { std::printf("%d\\n", value); }
template <typename T> T get_arg_val(int index) { return (T)ARGUMENTS[index]; }
"""


def run_by_gcc(texts: Sequence[str], arguments: Sequence[int], folder: Path) -> list[list[int]]:
    """The numbers that each of some kernels prints, when they are programs of g++."""
    if COMPILER is None:
        pytest.skip("no g++ to compare with")
    bodies = ("\n".join(x for x in text.splitlines() if x[:1] != "#") for text in texts)
    kernels = [f"namespace kernel_{i} {{\n{body}\n}}\n" for i, body in enumerate(bodies)]
    calls = [f'    kernel_{i}::kernel_main(); std::printf("end\\n");\n' for i in range(len(texts))]
    head = f"static int ARGUMENTS[] = {{{', '.join(map(str, arguments))}}};\n{_DEVICE}"
    source, program = folder / "kernels.cpp", folder / "kernels"
    source.write_text(f"{head}{''.join(kernels)}int main() {{\n{''.join(calls)}}}\n")
    flags = ("-w", "-O1", "-std=c++20", "-fsanitize=undefined", "-fno-sanitize-recover=all")
    built = subprocess.run(
        [COMPILER, *flags, "-o", program, source], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True, check=False, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return [list(map(int, part.split())) for part in ran.stdout.split("end")[:-1]]


def run(
    text: str,
    *arguments: int,
    role: Role = Role.BRISC,
    defines: Mapping[str, str] | None = None,
    compile_time_args: Sequence[int] = (),
    timed: bool = False,
) -> RecordingApi:
    """Compile and run a kernel to its end."""
    kernel = compile_kernel(
        text,
        "kernel.cpp",
        role,
        api=RecordingApi,
        defines=defines,
        compile_time_args=compile_time_args,
        timed=timed,
    )
    api = RecordingApi(*arguments)
    for _ in kernel.start(api):
        pass
    return api


def noted(text: str) -> list[int]:
    """The numbers that a kernel notes, as signed ones of 64 bits."""
    return [(int(each) + 2**63) % 2**64 - 2**63 for each in run(text).noted]


def noted_by_gcc(texts: Sequence[str], folder: Path) -> list[list[int]]:
    """The numbers that each of some kernels notes, when they are programs of g++.

    Signed numbers wrap and `char` is unsigned, as on the processors of a Tensix tile.
    """
    if COMPILER is None:
        pytest.skip("no g++ to compare with")
    kernels = [f"namespace kernel_{i} {{\n{text}\n}}\n" for i, text in enumerate(texts)]
    calls = [f'    kernel_{i}::kernel_main(); std::printf("end\\n");\n' for i in range(len(texts))]
    source = folder / "kernels.cpp"
    source.write_text(f"{_PRELUDE}{''.join(kernels)}int main() {{\n{''.join(calls)}}}\n")
    program = folder / "kernels"
    options = ("-w", "-O0", "-std=c++20", "-fwrapv", "-funsigned-char")
    built = subprocess.run(
        [COMPILER, *options, "-o", program, source], capture_output=True, text=True, check=False
    )
    assert built.returncode == 0, built.stderr
    ran = subprocess.run([program], capture_output=True, text=True, check=True, timeout=60)
    return [list(map(int, part.split())) for part in ran.stdout.split("end")[:-1]]


def refused_by_gcc(texts: Sequence[str]) -> list[tuple[int, int] | None]:
    """Line and column of the first thing that g++ refuses in each of some kernels, or None."""
    if COMPILER is None:
        pytest.skip("no g++ to compare with")
    source = _PRELUDE
    starts = list[int]()
    for number, text in enumerate(texts):
        source += f"namespace kernel_{number} {{\n"
        starts.append(source.count("\n"))
        source += f"{text}\n}}\n"
    options = ("-w", "-std=c++20", "-fsyntax-only", "-fdiagnostics-format=json", "-x", "c++", "-")
    done = subprocess.run(
        [COMPILER, *options], input=source, capture_output=True, text=True, check=False
    )
    found: list[tuple[int, int] | None] = [None] * len(texts)
    for each in json.loads(done.stderr.splitlines()[0]):
        if each["kind"] != "error":
            continue
        places = [place.get("start", place["caret"]) for place in each["locations"]]
        line, column = min((place["line"], place["column"]) for place in places)
        number = sum(start < line for start in starts) - 1
        found[number] = found[number] or (line - starts[number], column)
    return found
