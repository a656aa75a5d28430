"""Descriptions of programs are checked as they are built."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from running.confinement import confined
from samples.generic_programs import exp_program

from ttmlir.layout.enums import DataType
from ttmlir.program import (
    AddressOfTensor,
    CircularBufferDescription,
    CircularBufferFormat,
    CircularBufferIndex,
    ComputeConfig,
    CoreRange,
    DescriptionError,
    KernelDescription,
    ProgramDescription,
    SemaphoreAt,
    SemaphoreDescription,
    TensorAccessorArgs,
    limit_kernels,
    list_cores,
    list_ranges,
)

CORES = (CoreRange((1, 2), (3, 3)),)
PROGRAM = exp_program(4)
KERNEL = PROGRAM.kernels[0]
GRID = (CoreRange((0, 0), (63, 63)),)
EVERYWHERE = replace(KERNEL, core_ranges=GRID)


def circular_buffer(total_size: int, page_size: int, index: int = 0) -> CircularBufferDescription:
    """One of a single format."""
    return CircularBufferDescription(
        total_size=total_size,
        core_ranges=CORES,
        formats=(CircularBufferFormat(index, DataType.BF16, page_size),),
    )


def with_arguments(*arguments: int) -> KernelDescription:
    """A kernel with run-time arguments for its first core."""
    return replace(KERNEL, runtime_args=(((0, 0), arguments),))


WRONG: list[tuple[str, Callable[[], object]]] = [
    ("the name of a kernel is ''; names have 1 to 128 char", lambda: replace(KERNEL, name="")),
    ("the name of a kernel is 'nnnn", lambda: replace(KERNEL, name="n" * 129)),
    (r"the name of a kernel is 'a\\x1b\[2J'", lambda: replace(KERNEL, name="a\x1b[2J")),
    (r"\(2, 0\)-\(1, 3\) are no rectangle", lambda: CoreRange((2, 0), (1, 3))),
    ("are on no chip", lambda: CoreRange((-1, 0), (1, 3))),
    ("are on no chip", lambda: CoreRange((0, 0), (1 << 40, 3))),
    (
        "has a compile-time argument 'a\"b'; kernels find it by its name in quotes",
        lambda: replace(KERNEL, named_compile_time_args=(('a"b', 1),)),
    ),
    (
        "kernel 'reader' has two compile-time arguments named 'a'",
        lambda: replace(KERNEL, named_compile_time_args=(("a", 1), ("b", 1), ("a", 2))),
    ),
    (
        "named compile-time argument 1 of kernel 'reader' is 4294967296, which is no word",
        lambda: replace(KERNEL, named_compile_time_args=(("a", 1), ("b", 1 << 32))),
    ),
    (
        "semaphore 16 does not exist; they are numbered 0 to 15",
        lambda: SemaphoreDescription(core_ranges=CORES, id=16),
    ),
    ("kernel 'reader' is on no core", lambda: replace(KERNEL, core_ranges=())),
    (
        "kernel 'reader' is on more than 4096 cores",
        lambda: replace(KERNEL, core_ranges=(CoreRange((0, 0), (60000, 60000)),), runtime_args=()),
    ),
    (
        "has run-time arguments for core .2, 0., on which it does not run",
        lambda: replace(KERNEL, runtime_args=(((2, 0), ()),)),
    ),
    (
        "has run-time arguments for core .1, 0., a second time",
        lambda: replace(KERNEL, runtime_args=(((1, 0), ()), ((1, 0), ()))),
    ),
    ("has 256 run-time arguments; a kernel takes 255", lambda: with_arguments(*range(255))),
    (
        "run-time argument 1 of kernel 'reader' is 4294967296, which is no word",
        lambda: with_arguments(0, 1 << 32),
    ),
    ("run-time argument 0 of kernel 'reader' is -1", lambda: with_arguments(-1)),
    (
        "compile-time argument 0 of kernel 'reader' has the number -3",
        lambda: replace(KERNEL, compile_time_args=(AddressOfTensor(-3),)),
    ),
    (
        "circular buffer 32 does not exist; they are numbered 0 to 31",
        lambda: replace(KERNEL, compile_time_args=(CircularBufferIndex(32),)),
    ),
    (
        "common run-time argument 0 of kernel 'reader' is TensorAccessorArgs, which kernels read",
        lambda: replace(KERNEL, common_runtime_args=(TensorAccessorArgs(0),)),
    ),
    ("defines 'A B', which is no name", lambda: replace(KERNEL, defines=(("A B", "1"),))),
    ("defines A as more than one line", lambda: replace(KERNEL, defines=(("A", "1\n#x"),))),
    ("has 1048577 characters; at most 1048576", lambda: replace(KERNEL, source=" " * 1048577)),
    ("circular buffer 40 does not exist", lambda: ComputeConfig(unpack_to_dest_fp32=(40,))),
    ("circular buffer 3: 100 bytes are not made of pages", lambda: circular_buffer(100, 64, 3)),
    ("circular buffer 0: 0 bytes are not made of pages", lambda: circular_buffer(0, 64)),
    ("fits no L1", lambda: circular_buffer(1 << 32, 1 << 20)),
    ("circular buffer 32 does not exist", lambda: circular_buffer(64, 64, 32)),
    (
        "a circular buffer without a format",
        lambda: CircularBufferDescription(total_size=64, core_ranges=CORES, formats=()),
    ),
    (
        "circular buffer 0 is on no core",
        lambda: replace(circular_buffer(64, 64), core_ranges=()),
    ),
    (
        "a semaphore starts at -1, which is no word",
        lambda: SemaphoreDescription(core_ranges=CORES, initial_value=-1),
    ),
    ("a semaphore is on no core", lambda: SemaphoreDescription(core_ranges=())),
    ("a program without kernels", lambda: ProgramDescription(kernels=())),
    (
        "kernels are on more cores than there can be: a core has 3",
        lambda: ProgramDescription(kernels=(EVERYWHERE,) * 4),
    ),
    (
        "circular buffers are on more cores than there can be: a core has 32",
        lambda: replace(
            PROGRAM,
            circular_buffers=(replace(circular_buffer(64, 64), core_ranges=GRID),) * 33,
        ),
    ),
    (
        "kernel 'reader' has '.ud800', which is no character of UTF-8",
        lambda: replace(KERNEL, source="// \ud800"),
    ),
    (
        "kernel 'reader': the macro A has '.udc80', which is no character of UTF-8",
        lambda: replace(KERNEL, defines=(("A", "\udc80"),)),
    ),
    (
        "has 65537 compile-time arguments; a kernel takes 65536 at most: put larger tables into",
        lambda: replace(KERNEL, compile_time_args=(1,) * 65537),
    ),
    (
        "semaphores are on more cores than there can be: a core has 16",
        lambda: replace(PROGRAM, semaphores=(SemaphoreDescription(core_ranges=GRID),) * 17),
    ),
    (
        "an argument of kernel 'reader' is semaphore 1, but the program has 1",
        lambda: replace(
            PROGRAM,
            kernels=(replace(KERNEL, common_runtime_args=(SemaphoreAt(1),)),),
            semaphores=(SemaphoreDescription(core_ranges=CORES),),
        ),
    ),
    (
        "an argument of kernel 'writer' is about tensor 1, but there are 1",
        lambda: PROGRAM.check_tensors(1),
    ),
    (
        "circular buffer 0 is about tensor 9, but there are 2",
        lambda: replace(
            PROGRAM, circular_buffers=(replace(circular_buffer(64, 64), tensor=9),)
        ).check_tensors(2),
    ),
]


@pytest.mark.parametrize(("message", "make"), WRONG)
def test_what_cannot_be_is_refused(message: str, make: Callable[[], object]) -> None:
    """The message says what is wrong and what is allowed."""
    with pytest.raises(ValueError, match=message):
        make()


def test_kernels_on_too_many_cores_are_not_even_built() -> None:
    """Of a list without end, those that fill the largest chip and one more are taken."""
    made = 0

    def kernels() -> Iterator[KernelDescription]:
        nonlocal made
        while True:
            made += 1
            yield EVERYWHERE

    with pytest.raises(DescriptionError, match="kernels are on more cores than there can be"):
        limit_kernels(kernels())
    assert made == 4


def test_names_are_compared_in_time_proportional_to_their_number() -> None:
    """The last of many is there twice; comparing each with each would take minutes."""
    names = (*(f"n{index}" for index in range(100_000)), "twice", "twice")
    named = tuple((name, 1) for name in names)
    with confined(megabytes=200, cpu_seconds=10), pytest.raises(DescriptionError) as caught:
        replace(KERNEL, named_compile_time_args=named)
    assert str(caught.value) == "kernel 'reader' has two compile-time arguments named 'twice'"


def test_cores_of_rectangles_come_row_by_row_and_once() -> None:
    """Overlapping rectangles name a core once."""
    ranges = (CoreRange((1, 0), (2, 1)), CoreRange((2, 1), (2, 2)))
    assert list_cores(ranges) == ((1, 0), (2, 0), (1, 1), (2, 1), (2, 2))


def test_ranges_of_cores_are_as_few_as_they_can_easily_be() -> None:
    """A full rectangle is one range; other sets are single cores."""
    assert list_ranges(tuple(CORES[0])) == CORES
    assert list_ranges(((0, 0), (1, 1))) == (
        CoreRange((0, 0), (0, 0)),
        CoreRange((1, 1), (1, 1)),
    )
    assert list_ranges(()) == ()


TAKEN: list[Callable[[], object]] = [
    lambda: CoreRange((65535, 65535), (65535, 65535)),
    lambda: CoreRange((0, 0), (0, 65535)),
    lambda: replace(KERNEL, core_ranges=GRID, runtime_args=()),
    lambda: replace(KERNEL, source=" " * (1 << 20)),
    lambda: with_arguments(0, (1 << 32) - 1),
    lambda: with_arguments(*range(255 - len(KERNEL.common_runtime_args))),
    lambda: replace(KERNEL, common_runtime_args=tuple(range(255)), runtime_args=()),
    lambda: replace(KERNEL, compile_time_args=(AddressOfTensor(0), CircularBufferIndex(31))),
    lambda: replace(KERNEL, compile_time_args=tuple(range(300))),
    lambda: replace(KERNEL, defines=(("_A9", ""),)),
    lambda: ComputeConfig(unpack_to_dest_fp32=(0, 31)),
    lambda: circular_buffer(1, 1),
    lambda: circular_buffer((1 << 32) - 1, 1, 31),
    lambda: SemaphoreDescription(core_ranges=CORES, initial_value=(1 << 32) - 1),
    lambda: ProgramDescription(kernels=(replace(EVERYWHERE, runtime_args=()),) * 3),
    lambda: replace(PROGRAM, semaphores=(SemaphoreDescription(core_ranges=GRID),) * 16),
    lambda: replace(
        PROGRAM, circular_buffers=(replace(circular_buffer(64, 64), core_ranges=GRID),) * 32
    ),
    lambda: PROGRAM.check_tensors(2),
]
"""What is just inside of each limit."""


@pytest.mark.parametrize("build", TAKEN)
def test_what_is_at_a_limit_is_taken(build: Callable[[], object]) -> None:
    """One more, or one less, is refused above."""
    build()
