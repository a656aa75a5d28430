"""Altered texts of kernels: an error that says where, or a result; nothing else."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ttmlir.metalium import (
    BufferType,
    CBIndex,
    CircularBufferConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
    WriterDataMovementConfig,
)
from ttmlir.sim.errors import SimError

TILES, PAGE = 4, 2048
KERNEL = """#include "dataflow_api.h"

#define PAGE 2048
struct Range { uint32_t first; uint32_t count; };

inline uint32_t end_of(const Range& range) { return range.first + range.count; }

void kernel_main() {
    const InterleavedAddrGenFast<true> tensor = {
        .bank_base_address = get_arg_val<uint32_t>(0), .page_size = PAGE,
        .data_format = DataFormat::Float16_b};
    Range range = {.first = 0, .count = get_arg_val<uint32_t>(1)};
    uint32_t sums[2] = {0, 1};
    for (uint32_t tile = range.first; tile < end_of(range); tile++) {
        cb_%(wait)s(0, 1);
        const uint32_t address = get_%(way)s_ptr(0);
        if (tile %% 2 == 0 && sums[1] > 0) { sums[0] += tile << 1; } else { sums[1] -= 0; }
        noc_async_%(way)s_tile(tile, tensor, address);
        noc_async_%(way)s_barrier();
        cb_%(give)s(0, 1);
    }
}
"""
READER = KERNEL % {"wait": "reserve_back", "way": "read", "give": "push_back"}
WRITER = KERNEL % {"wait": "wait_front", "way": "write", "give": "pop_front"}
READER = READER.replace("get_read_ptr", "get_write_ptr")
WRITER = WRITER.replace("get_write_ptr", "get_read_ptr")
TOKENS = re.findall(r"[A-Za-z_]\w*|\d+|[^\s\w]|\s+", READER)
EXTRA = (
    "(",
    ")",
    "{",
    "}",
    ";",
    "<",
    ">",
    "*",
    "&",
    "-",
    "0",
    "4294967295",
    "while",
    "int8_t",
    "%",
)


@st.composite
def altered_texts(draw: st.DrawFn) -> str:
    """The reader with one to three tokens left out, doubled, swapped or exchanged for others."""
    tokens = list(TOKENS)
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(tokens) - 2))
        match draw(st.sampled_from(("drop", "double", "swap", "other", "extra"))):
            case "drop":
                del tokens[at]
            case "double":
                tokens.insert(at, tokens[at])
            case "swap":
                tokens[at], tokens[at + 1] = tokens[at + 1], tokens[at]
            case "other":
                tokens[at] = draw(st.sampled_from(TOKENS))
            case _:
                tokens[at] = draw(st.sampled_from(EXTRA))
    return "".join(tokens)


def copied(reader: str) -> bool:
    """Whether tiles arrive; raises SimError for what is wrong with the reader."""
    device = CreateDevice(0, cycle_limit=200_000)
    queue, program, core = device.command_queue(), CreateProgram(), CoreCoord(0, 0)
    source, target = (
        CreateBuffer(
            InterleavedBufferConfig(
                device=device, size=TILES * PAGE, page_size=PAGE, buffer_type=BufferType.DRAM
            )
        )
        for _ in range(2)
    )
    pages = CircularBufferConfig(2 * PAGE, {CBIndex.c_0: DataFormat.Float16_b})
    CreateCircularBuffer(program, core, pages.set_page_size(CBIndex.c_0, PAGE))
    kernels = (
        (CreateKernelFromString(program, reader, core, ReaderDataMovementConfig()), source),
        (CreateKernelFromString(program, WRITER, core, WriterDataMovementConfig()), target),
    )
    for kernel, buffer in kernels:
        SetRuntimeArgs(program, kernel, core, [buffer, TILES])
    numbers = np.arange(TILES * PAGE // 2, dtype=np.uint16)
    EnqueueWriteBuffer(queue, source, numbers)
    EnqueueProgram(queue, program)
    return bool(np.array_equal(EnqueueReadBuffer(queue, target, dtype=np.uint16), numbers))


def test_the_kernels_themselves_are_sound() -> None:
    """What is altered below works."""
    assert copied(READER)


def message_of(text: str) -> str | None:
    """What is said about a reader; None if it runs to its end."""
    try:
        copied(text)
    except SimError as error:
        return str(error)
    return None


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(altered_texts())
def test_altered_kernels_end_in_a_result_or_in_an_error(text: str) -> None:
    """Every error says that it is one."""
    message = message_of(text)
    assert message is None or "error: " in message


def test_error_in_the_text_has_its_place() -> None:
    """Line and column of the altered token."""
    with pytest.raises(SimError, match=r":14:\d+: error: .*tilee"):
        copied(READER.replace("tile < end_of", "tilee < end_of"))
