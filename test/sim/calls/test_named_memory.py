"""Memory and tensors that the host program gives names, and where transfers go."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.metalium import (
    BufferType,
    CircularBufferConfig,
    CoreCoord,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    DataFormat,
    EnqueueProgram,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetCommonRuntimeArgs,
    TensorAccessorArgs,
)
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.build import BindingNames, ScratchpadNames, TensorNames

CORE = CoreCoord(0, 0)
PAGE, WORDS, PAGES = 32, 8, 5
BYTES = 96
PAGE_SIZE = 256
"""What this project's own host programs set in the flags of a layout with the size of a page."""
NAMES = BindingNames(
    tensors=(
        ("a", TensorNames(layout=0, address=0)),
        ("b", TensorNames(layout=2, address=1)),
        ("local", TensorNames(layout=4, address=2)),
    ),
    tensor_lists=(("both", ("b", "a")), ("parts", ("local", "local"))),
    scratchpads=(("pad", ScratchpadNames(address=2, size=BYTES)),),
)


def printed(body: str, release: Release | None = None) -> list[str]:
    """What a kernel prints that has two tensors; word 0 of page i of them is 100 + i and 200 + i.

    Its scratchpad is a buffer in L1, which is a third tensor, too.
    """
    device, program = CreateDevice(0, cycle_limit=1_000_000), CreateProgram()
    queue = device.command_queue()
    config = InterleavedBufferConfig(device=device, size=PAGES * PAGE, page_size=PAGE)
    buffers = [CreateBuffer(config) for _ in range(2)]
    for buffer, first in zip(buffers, (100, 200), strict=True):
        words = np.zeros((PAGES, WORDS), np.uint32)
        words[:, 0] = first + np.arange(PAGES)
        EnqueueWriteBuffer(queue, buffer, words)
    CreateCircularBuffer(
        program, CORE, CircularBufferConfig(96, {0: DataFormat.UInt32}).set_page_size(0, 32)
    )
    text = (
        '#include "api/dataflow/noc.h"\n#include "experimental/kernel_args.h"\n'
        f"void kernel_main() {{\n{body}\n}}\n"
    )
    scratch = CreateBuffer(
        InterleavedBufferConfig(
            device=device, size=BYTES, page_size=BYTES, buffer_type=BufferType.L1
        )
    )
    buffers.append(scratch)
    layouts = [TensorAccessorArgs(each, aligned_page_size=True) for each in buffers]
    arguments = [word for each in layouts for word in each.get_compile_time_args()]
    if release is Release.LATE_2026:
        arguments = [number & ~PAGE_SIZE for number in arguments]
    kernel = CreateKernelFromString(program, text, CORE, ReaderDataMovementConfig(arguments))
    kernel.names, kernel.release = NAMES, release
    SetCommonRuntimeArgs(program, kernel, [each.address() for each in buffers])
    EnqueueProgram(queue, program)
    return [line.partition(": ")[2] for line in device.printed]


def test_scratchpads() -> None:
    """They are memory that reads fill, with a size; elements have a type."""
    body = """
        Scratchpad<volatile uint32_t> pad(scratch::pad);
        Noc noc;
        TensorAccessor a(tensor::a);
        noc.async_read(a, pad, 32, {.page_id = 3}, {.offset_bytes = 64});
        noc.async_read_barrier();
        pad[0] = 7;
        Scratchpad<uint16_t> halves(scratch::pad);
        auto lock = halves.scoped_lock(0, halves.size());
        DPRINT << pad[16] << " " << pad[0] << " " << pad.size() << " " << halves.size() << " "
               << pad.size_in_bytes() << ENDL();
        ASSERT(pad.get_base_address() == get_common_arg_val<uint32_t>(2));
        DPRINT << (pad.end() - pad.begin()) << " " << *pad.local_mem() << ENDL();"""
    assert printed(body) == ["103 7 24 48 96", "24 7"]


def test_local_parts_of_tensors() -> None:
    """Elements, transfers to and from them, addresses, several tensors under one name."""
    body = """
        LocalTensorAccessor<uint32_t> words(tensor::local);
        LocalTensorAccessor<volatile uint16_t> halves(words.get_bank_base_address() + 2);
        Noc noc;
        TensorAccessor a(tensor::a);
        noc.async_read(a, words, 32, {.page_id = 3}, {.offset_bytes = 64});
        noc.async_read_barrier();
        auto lock = words.scoped_lock(0, 24);
        words[0] = 7;
        auto& last = words[1];
        last = 9;
        halves[0] = 5;
        DPRINT << words[16] << " " << words[0] << " " << words[1] << ENDL();
        noc.async_write(words, a, 32, {.offset_bytes = 64}, {.page_id = 1});
        noc.async_write_barrier();
        noc.async_write_zeros(words, 32);
        noc.write_zeros_l1_barrier();
        noc.async_read(a, words, 32, {.page_id = 1}, {.offset_bytes = 32});
        noc.async_read_barrier();
        auto parts = make_local_tensor_accessors<uint32_t>(tensor::parts);
        DPRINT << parts.size() << " " << parts[0][8] << " " << parts[1][0] << ENDL();
        DPRINT << (words.local_mem() + 8 - words.local_mem()) << ENDL();
        ASSERT(words.get_bank_base_address() == get_common_arg_val<uint32_t>(2));"""
    assert printed(body) == [f"103 {7 + (5 << 16)} 9", "2 103 0", "8"]


def test_several_tensors_under_one_name() -> None:
    """In the order that the host gives; each is a tensor of its own, too."""
    body = """
        constexpr uint32_t count = std::tuple_size_v<decltype(tensor::both)>;
        Noc noc;
        CircularBuffer cb(0);
        cb.reserve_back(1);
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(cb.get_write_ptr());
        auto first = TensorAccessor(std::get<0>(tensor::both));
        auto second = std::get<1>(make_tensor_accessors(tensor::both));
        static_assert(decltype(first)::is_dram && count == 2);
        noc.async_read(first, cb, 32, {.page_id = 4}, {});
        noc.async_read_barrier();
        DPRINT << words[0] << ENDL();
        noc.async_read(second, cb, 32, {.page_id = 1}, {});
        noc.async_read_barrier();
        DPRINT << words[0] << " " << get_compile_time_vararg<1>() << " "
               << get_compile_time_vararg(0) % 4 << ENDL();"""
    assert printed(body) == ["204", "101 32 2"]


def test_addresses_of_the_network_are_places() -> None:
    """A page is written at the address that its tensor tells, under a number of its own."""
    body = """
        Noc noc;
        CircularBuffer cb(0);
        cb.reserve_back(2);
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(cb.get_write_ptr());
        for (uint32_t i = 0; i < 8; ++i) { words[i] = 77 + i; }
        TensorAccessor a(tensor::a);
        CoreLocalMem<uint32_t> here(cb.get_write_ptr());
        noc.async_write(here, PrecomposedUnicastEndpoint{}, 32,
                        {.offset_bytes = 0}, {.noc_addr = a.get_noc_addr(2)});
        noc.async_write_barrier();
        noc.async_read<NocOptions::TXN_ID>(
            a, cb, 32, {.page_id = 2}, {.offset_bytes = 32}, NocOptVals{.trid = 3});
        if (noc.is_read_trid_flushed(3)) { DPRINT << words[8] << ENDL(); }"""
    assert printed(body) == ["77"]


def test_layouts_have_page_sizes_in_the_latest_release() -> None:
    """Flags do not say so there; `constexpr` or not, with run-time arguments or not."""
    body = """
        constexpr auto known = TensorAccessorArgs<0>();
        auto found = TensorAccessorArgs<known.next_compile_time_args_offset()>(1);
        TensorAccessor a(known, get_common_arg_val<uint32_t>(0));
        TensorAccessor b(found, get_common_arg_val<uint32_t>(1));
        CircularBuffer cb(0);
        Noc noc;
        cb.reserve_back(2);
        noc.async_read(a, cb, 32, {.page_id = 4}, {});
        noc.async_read(b, cb, 32, {.page_id = 3}, {.offset_bytes = 32});
        noc.async_read_barrier();
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(cb.get_write_ptr());
        DPRINT << words[0] << " " << words[8] << ENDL();"""
    assert printed(body, Release.LATE_2026) == ["104 203"]


def test_pointers_of_buffers_move() -> None:
    """A pointer jumps to another page, and not out of the buffer."""
    body = """
        DataflowBuffer dfb(0);
        const uint32_t start = dfb.get_write_ptr();
        dfb.evil_set_write_ptr(start + 64);
        dfb.evil_set_read_ptr(start + 32);
        DPRINT << dfb.get_write_ptr() - start << " " << dfb.get_read_ptr() - start << ENDL();"""
    assert printed(body) == ["64 32"]
    with pytest.raises(SimError, match="fifo_wr_ptr of circular buffer 0 is set to"):
        printed(body.replace("start + 64", "start + 128"))


def test_objects_of_the_library_in_classes_are_reached_by_pointers() -> None:
    """Made by an initializer of a constructor; a pointer that is null points to none."""
    body = """
        struct Holder {
            CircularBuffer cb;
            uint32_t calls;
            Holder(uint32_t id) : cb(id), calls(0) {}
            uint32_t start() { ++calls; return cb.get_write_ptr(); }
        };
        struct User { Holder* holder; uint32_t start() { return holder->start(); } };
        Holder holder(0);
        Holder* pointer = &holder;
        User user{pointer}, idle{nullptr};
        const uint32_t start = CircularBuffer(0).get_write_ptr();
        if (idle.holder != nullptr) { idle.start(); }
        DPRINT << pointer->start() - start << user.start() - start << holder.calls << ENDL();
        DPRINT << pointer->cb.get_write_ptr() - start << ENDL();"""
    assert printed(body) == ["002", "0"]


def test_one_packet_with_state_has_the_size_that_was_set() -> None:
    """The size of the call counts only where the flags allow several packets."""
    body = """
        Noc noc;
        CircularBuffer cb(0);
        UnicastEndpoint here;
        cb.reserve_back(3);
        const uint32_t start = cb.get_write_ptr();
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(start);
        for (uint32_t i = 0; i < 24; ++i) { words[i] = i; }
        const uint32_t x = my_x[noc.get_noc_id()], y = my_y[noc.get_noc_id()];
        noc.set_async_read_state<NocOptions::DEFAULT, 32>(
            here, 32, {.noc_x = x, .noc_y = y, .addr = start});
        noc.async_read_with_state<NocOptions::DEFAULT, 1>(
            here, cb, 0, {.noc_x = x, .noc_y = y, .addr = start}, {.offset_bytes = 32});
        noc.async_read_with_state(
            here, cb, 16, {.noc_x = x, .noc_y = y, .addr = start}, {.offset_bytes = 64});
        noc.async_read_barrier();
        DPRINT << words[8] << " " << words[15] << " " << words[19] << " " << words[20] << ENDL();"""
    assert printed(body) == ["0 7 3 20"]


def test_what_is_known_when_a_kernel_is_compiled() -> None:
    """The network of the processor, and arguments by an operator."""
    body = """
        struct Words {
            constexpr uint32_t operator[](uint32_t i) const { return kernel_compile_time_args[i]; }
        };
        static_assert(Words{}[1] == get_compile_time_arg_val(1) && noc_index < 2);
        std::array<uint32_t, noc_index + 1> parts{};
        DPRINT << parts.size() << ENDL();"""
    assert printed(body) == ["1"]


def test_tokens_of_semaphores_are_made_by_kernels() -> None:
    """As of libraries that take their numbers from arguments."""
    body = """
        constexpr SemaphoreBindingToken token{3, SemScope::LOCAL_NONATOMIC};
        static_assert(token.id == 3 && uint32_t(token) == 3);
        DPRINT << token.id << ENDL();"""
    assert printed(body) == ["3"]


def test_what_kernels_ask_of_buffers_and_memory() -> None:
    """Whether a type is that of a buffer, and how far pages are apart; memory has no caches."""
    body = """
        DataflowBuffer cb(0);
        static_assert(is_dataflow_buffer_v<decltype(cb)> && !is_dataflow_buffer_v<Noc>);
        cb.reserve_back(1);
        Noc noc;
        noc_async_read_set_trid(3);
        noc_async_read(TensorAccessor(tensor::a).get_noc_addr(1), cb.get_write_ptr(), 32);
        while (!ncrisc_noc_read_with_transaction_id_flushed(noc_index, 3)) {}
        scoped_lock_release_cache_ops(cb.get_write_ptr(), 32);
        clobber_all_memory();
        DPRINT << cb.get_stride_size() << " "
               << *reinterpret_cast<volatile uint32_t*>(cb.get_write_ptr()) << ENDL();"""
    assert printed(body, Release.LATE_2026) == ["32 101"]


def test_own_names_of_classes_have_their_enumerators() -> None:
    """The pages that are read or written are chosen by the name that a header gives the class."""
    body = """
        using CB = CircularBuffer;
        CB cb(0);
        cb.reserve_back(1);
        Noc noc;
        TensorAccessor a(tensor::a);
        noc.async_read(a, use<CB::AddrSelector::WRITE_PTR>(cb), 32, {.page_id = 1}, {});
        noc.async_read_barrier();
        DPRINT << *reinterpret_cast<volatile uint32_t*>(cb.get_write_ptr()) << ENDL();"""
    assert printed(body) == ["101"]


ERRORS = [
    ("Scratchpad<uint32_t> pad(scratch::pod);", "'scratch::pod' is not declared"),
    ("Scratchpad<uint32_t> pad(scratch::pad); pad[24] = 1;", "an assertion does not hold"),
    ("Noc n; n.async_read(PrecomposedUnicastEndpoint{}, CircularBuffer(0), 4, {.addr = 4}, {});",
     "its arguments have no .addr but .noc_addr"),
    ("LocalTensorAccessor<uint32_t> a(tensor::a);", "this one is in DRAM; use TensorAccessor"),
    ("LocalTensorAccessor<uint32_t> a(get_common_arg_val<uint32_t>(2) + 2);",
     "an assertion does not hold"),
    ("LocalTensorAccessor<uint32_t> a(tensor::local); a[24] = 1;",
     "to 0x16e004 of L1 of core (0, 0), of which kernels may use"),
    ("LocalTensorAccessor<uint32_t> a(tensor::local); Noc n; n.async_write(a, TensorAccessor("
     "tensor::local), 96, {.offset_bytes = 64}, {.page_id = 0});", "of L1 of core (0, 0)"),
    ("LocalTensorAccessor<uint32_t> a(tensor::local); a[1 << 20] = 1;",
     "to 0x56dfa4 of L1 of core (0, 0), of which kernels may use"),
    ("LocalTensorAccessor<uint32_t> a = 4096;", "'int' does not convert to 'LocalTensorAcc"),
    ("""LocalTensorAccessor<uint32_t> a(tensor::local); Noc n; n.async_write_multicast(
        CircularBuffer(0), a, 32, 1, {}, {});""", "a multicast goes to a CircularBuffer"),
]  # fmt: skip


@pytest.mark.parametrize(("body", "message"), ERRORS)
def test_what_is_wrong_is_said_where_it_is(body: str, message: str) -> None:
    """At the line of the kernel."""
    with pytest.raises((SimError, CppSyntaxError)) as raised:
        printed(body)
    assert message in str(raised.value)
    assert ":4:" in str(raised.value)
