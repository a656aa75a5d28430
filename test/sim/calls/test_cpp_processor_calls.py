"""Calls of C++ on pointers of circular buffers, bytes of L1 and words between processors."""

from __future__ import annotations

import numpy as np
import pytest
from cores.compute_core import APIS, ComputeCore
from cores.tile_bytes import core_of, eighths, packed, unpacked

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.layout.enums import DataType
from ttmlir.metalium import (
    CircularBufferConfig,
    CoreCoord,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    ReaderDataMovementConfig,
)
from ttmlir.optable.kernel import Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels import compile_kernel

CORE = CoreCoord(0, 0)


def printed(body: str, arguments: list[int] | None = None) -> list[str]:
    """What a reader prints on a core with a circular buffer 3 of four pages of 2048 bytes."""
    device, program = CreateDevice(0), CreateProgram()
    config = CircularBufferConfig(8192, {3: DataFormat.Float16_b}).set_page_size(3, 2048)
    CreateCircularBuffer(program, CORE, config)
    text = f"void kernel_main() {{\n{body}\n}}"
    CreateKernelFromString(program, text, CORE, ReaderDataMovementConfig(arguments or []))
    report = EnqueueProgram(device.command_queue(), program)
    return [line.partition(": ")[2] for line in report.printed]


def test_pointers_are_read_and_moved() -> None:
    """In bytes; what moves the write pointer moves `get_write_ptr`."""
    body = """
    LocalCBInterface& cb = get_local_cb_interface(3);
    DPRINT << cb.fifo_page_size << ' ' << cb.fifo_num_pages << ' ' << cb.fifo_size << ENDL();
    DPRINT << cb.fifo_limit - cb.fifo_rd_ptr << ' ' << get_local_cb_interface(3).tiles_acked;
    DPRINT << ENDL();
    uint32_t before = get_write_ptr(3);
    cb.fifo_wr_ptr += 2048;
    DPRINT << get_write_ptr(3) - before << ENDL();
    cb_interface[3].fifo_wr_ptr = before;
    DPRINT << get_write_ptr(3) - before << ENDL();
    cb_reserve_back(3, 2);
    cb_push_back(3, 2);
    DPRINT << cb.tiles_received << ' ' << cb.tiles_acked_received_init << ENDL();
    """
    lines = ["2048 4 8192", "8192 0", "2048", "0", f"2 {2 << 16}"]
    assert printed(body) == lines


def test_a_pointer_stays_in_its_buffer() -> None:
    """The message names the field and the buffer."""
    with pytest.raises(SimError, match="fifo_rd_ptr of circular buffer 3 is set to 0x10, which is"):
        printed("get_local_cb_interface(3).fifo_rd_ptr = 16;")


def test_sizes_cannot_be_changed() -> None:
    """They are the host's."""
    with pytest.raises(SimError, match="this is constant and cannot be changed"):
        printed("get_local_cb_interface(3).fifo_size = 16;")


def test_pointers_count_words_in_compute_kernels() -> None:
    """16 bytes each, whichever thread looks."""
    core = core_of((eighths(1), DataType.BF16))
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(
        """void kernel_main() {
            UNPACK(DPRINT << get_local_cb_interface(0).fifo_rd_ptr << ENDL();)
            PACK(DPRINT << get_local_cb_interface(16).fifo_page_size << ENDL();)
        }"""
    )
    address = core.core.cbs[0].address
    assert sorted(lines) == ["core (0, 0) PACK: 128", f"core (0, 0) UNPACK: {address // 16}"]


def test_the_packer_begins_a_page_again() -> None:
    """What `fifo_wr_tile_ptr` counts after the write pointer; it is a number of whole pages."""
    body = """void kernel_main() {
        unary_op_init_common(0, 16);
        tile_regs_acquire();
        copy_tile(0, 0, 0);
        copy_tile(0, 1, 1);
        tile_regs_commit();
        tile_regs_wait();
        cb_reserve_back(16, 2);
        pack_tile(0, 16);
        PACK(get_local_cb_interface(16).fifo_wr_tile_ptr = 0);
        pack_tile(1, 16);
        tile_regs_release();
    }"""
    tiles = np.stack([eighths(1), eighths(2)])
    core = core_of((tiles, DataType.BF16), out=DataType.F32, out_pages=2)
    core.run_cpp(body)
    np.testing.assert_array_equal(unpacked(core.bytes_of(16), DataType.F32)[0], tiles[1])
    for wrong in ("16", "3 * 256"):
        core = core_of((tiles, DataType.BF16), out=DataType.F32, out_pages=2)
        with pytest.raises(SimError, match="counts pages of 0x100, 2 at most"):
            core.run_cpp(body.replace("ptr = 0", f"ptr = {wrong}"))


BYTES = """cb_reserve_back(3, 1);
    uint32_t a = get_write_ptr(3);
    volatile tt_l1_ptr uint32_t* words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(a);
    for (uint32_t i = 0; i < 8; ++i) { words[i] = 0x01010101 * i; }
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("memmove((void*)(a + 4), (void*)a, 12);", [0, 0, 1, 2, 4, 5, 6, 7]),
        ("std::memcpy(reinterpret_cast<uint8_t*>(a + 20), reinterpret_cast<uint8_t*>(a + 4), 8);",
         [0, 1, 2, 3, 4, 1, 2, 7]),
        ("memset((void*)(a + 8), 9, 8);", [0, 1, 9, 9, 4, 5, 6, 7]),
        ("uint32_t x = 0x0a0a0a0a; memcpy((void*)a, &x, sizeof(x));", [10, 1, 2, 3, 4, 5, 6, 7]),
        ("uint32_t x; memcpy(&x, (void*)(a + 28), 4); words[0] = x;", [7, 1, 2, 3, 4, 5, 6, 7]),
    ],
)  # fmt: skip
def test_bytes_are_moved_and_set(body: str, expected: list[int]) -> None:
    """Overlapping or not, and single numbers of the kernel's own."""
    show = "for (uint32_t i = 0; i < 8; ++i) { DPRINT << (words[i] & 255) << ' '; }\n"
    (line,) = printed(f"{BYTES}\n{body}\n{show}DPRINT << ENDL();")
    assert [int(each) for each in line.split()] == expected


def test_bits_of_local_numbers() -> None:
    """`memcpy` between a float and an integer: 1.5 is 0x3fc00000."""
    body = """float f = 1.5f; uint32_t u; std::memcpy(&u, &f, sizeof(u));
    DPRINT << HEX() << u << ENDL();
    uint32_t v = 0xc0200000; float g; __builtin_memcpy(&g, &v, 4); DPRINT << g << ENDL();
    memset(&v, 0, sizeof v); DPRINT << v << ENDL();"""
    assert printed(body) == ["3fc00000", "-2.5", "0"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("uint32_t x; memcpy(&x, (void*)0, 3);", "copies its 4 bytes, no more and no less"),
        ("uint32_t x[2]; memcpy(x, (void*)0, 8);", "no pointer to a local array or struct"),
        ("memcpy(1, 2, 3);", "memcpy takes pointers, not 'int'"),
        ("memset((void*)0, 1);", "memset takes a target, a byte and a number of bytes"),
    ],
)
def test_what_is_not_copied(body: str, message: str) -> None:
    """The message says what is."""
    with pytest.raises(SimError, match=message):
        printed(body)


def test_arguments_are_an_array() -> None:
    """With a constant index, one that is known when the kernel runs, and a size."""
    body = """constexpr uint32_t n = kernel_compile_time_args.size();
    static_assert(kernel_compile_time_args[1] == 20);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < n; ++i) { sum += kernel_compile_time_args[i]; }
    DPRINT << n << ' ' << sum << ' ' << get_ct_arg<2>() << ENDL();"""
    assert printed(body, [10, 20, 30]) == ["3 60 30"]


def test_a_word_of_a_tile_is_known_to_all_threads() -> None:
    """The unpack thread reads it, the others wait for it."""
    words = np.arange(512, dtype=np.uint32) * 3
    core = ComputeCore()
    core.filled(0, DataType.BF16, [packed(eighths(1)), words.tobytes()])
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(
        """void kernel_main() {
            cb_wait_front(0, 2);
            uint32_t count = read_tile_value(0, 1, 7);
            for (uint32_t i = 0; i < DataflowBuffer(0).read_tile_value(1, 1); ++i) { count += 100; }
            DPRINT << count << ' ' << get_tile_address(0, 1) << ENDL();
        }"""
    )
    address = core.core.cbs[0].address + 2048
    assert sorted(lines) == [
        f"core (0, 0) {name}: 321 {address}" for name in ("MATH", "PACK", "UNPACK")
    ]


def test_mailboxes_carry_words() -> None:
    """In order, between two processors; who reads waits."""
    core = ComputeCore()
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(
        """void kernel_main() {
            MATH(ckernel::mailbox_write(ckernel::ThreadId::PackThreadId, 5);)
            MATH(ckernel::mailbox_write(ckernel::ThreadId::PackThreadId, 6);)
            PACK(uint32_t a = mailbox_read(ckernel::ThreadId::MathThreadId);
                 DPRINT << a << mailbox_read(ckernel::ThreadId::MathThreadId) << ENDL();)
        }"""
    )
    assert lines == ["core (0, 0) PACK: 56"]
    with pytest.raises(SimError, match="mailbox_read with processor 3; there are 0 BRISC"):
        ComputeCore().run_cpp("void kernel_main() { PACK(uint32_t a = mailbox_read(3);) }")


@pytest.mark.parametrize(
    "call",
    ["noc_async_read_barrier()", "noc_semaphore_inc(0, 1)", "get_write_ptr(0)",
     "safe_get_noc_addr(1, 1, 0)"],
)  # fmt: skip
@pytest.mark.parametrize("role", [Role.UNPACK, Role.MATH, Role.PACK])
def test_compute_kernels_have_no_calls_of_the_network(call: str, role: Role) -> None:
    """On none of their threads; the message says where such a call belongs."""
    message = "is a call of the data movement processors; a compute kernel, which runs on UNPACK"
    with pytest.raises(CppSyntaxError, match=message):
        compile_kernel(f"void kernel_main() {{ {call}; }}", "k.cpp", role, api=APIS[role])


@pytest.mark.parametrize("call", ["tile_regs_acquire()", "copy_tile(0, 0, 0)", "mask_tile(0, 1)"])
@pytest.mark.parametrize("role", [Role.BRISC, Role.NCRISC])
def test_data_movement_kernels_have_no_calls_on_registers(call: str, role: Role) -> None:
    """Neither reader nor writer."""
    message = "is a call of compute kernels; a data movement processor, also that of an "
    with pytest.raises(CppSyntaxError, match=message):
        compile_kernel(f"void kernel_main() {{ {call}; }}", "k.cpp", role, api=DataMovementApi)


def test_a_thread_leaves_out_what_another_one_does() -> None:
    """Within a compute kernel a call on one thread is empty on the others."""
    for role, api in APIS.items():
        text = "void kernel_main() { tile_regs_acquire(); tile_regs_wait(); cb_wait_front(0, 1); }"
        compile_kernel(text, "k.cpp", role, api=api)


def test_instructions_outside_of_a_thread() -> None:
    """Of the vector unit: what no `MATH((...))` is around is compiled for all threads."""
    core = ComputeCore()
    core.core.print_line = (lines := list[str]()).append
    core.run_cpp(
        """void kernel_main() {
            TTI_SFPLOADI(p_sfpu::LREG0, 0, 0x3f80);
            DPRINT << p_sfpu::LREG3 << ENDL();
        }"""
    )
    assert sorted(lines) == [f"core (0, 0) {name}: 3" for name in ("MATH", "PACK", "UNPACK")]
