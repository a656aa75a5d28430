"""What kernels get from the package's own headers: pages of tensors, memory, locks, relays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.metalium import (
    CircularBufferConfig,
    CoreCoord,
    CoreRange,
    CreateBuffer,
    CreateCircularBuffer,
    CreateDevice,
    CreateKernelFromString,
    CreateProgram,
    CreateSemaphore,
    DataFormat,
    EnqueueProgram,
    EnqueueReadBuffer,
    EnqueueWriteBuffer,
    InterleavedBufferConfig,
    ReaderDataMovementConfig,
    SetRuntimeArgs,
)
from ttmlir.sim.errors import SimError

CORE = CoreCoord(0, 0)
SHAPE, SHARD, BANKS = (3, 5), (2, 2), 4
LAYOUT = [1 | 2, 2, BANKS, *SHAPE, *SHARD, 1 << 24, 2 << 8 | 3 << 24]
"""15 pages in shards of 2x2 over 4 banks of DRAM; the last column and row of shards have holes."""
PAGE = 32
WORDS = PAGE // 4
INTERLEAVED = [2]


def printed(
    body: str, arguments: Sequence[int], before: str = "", *, pages: int = 64
) -> tuple[list[str], np.ndarray]:
    """What a kernel of these statements prints, and the buffer that it was given.

    Word 0 of page i of the buffer, as interleaved pages, is 100 + i; the kernel finds its address
    in run-time argument 0.
    """
    device, program = CreateDevice(0, cycle_limit=1_000_000), CreateProgram()
    buffer = CreateBuffer(InterleavedBufferConfig(device=device, size=pages * PAGE, page_size=PAGE))
    words = np.zeros((pages, WORDS), np.uint32)
    words[:, 0] = 100 + np.arange(pages)
    queue = device.command_queue()
    EnqueueWriteBuffer(queue, buffer, words)
    config = CircularBufferConfig(4096, {0: DataFormat.UInt32})
    CreateCircularBuffer(program, CORE, config.set_page_size(0, 1024))
    text = f"{before}\nvoid kernel_main() {{\n{body}\n}}\n"
    kernel = CreateKernelFromString(program, text, CORE, ReaderDataMovementConfig(arguments))
    SetRuntimeArgs(program, kernel, CORE, [buffer.address(), 7, 8])
    EnqueueProgram(queue, program)
    out = np.zeros_like(words)
    EnqueueReadBuffer(queue, buffer, out)
    return [line.partition(": ")[2] for line in device.printed], out


ACCESSOR = f"auto t = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), {PAGE});\n"
READ = """
    cb_reserve_back(0, 1);
    uint32_t l1 = get_write_ptr(0);
    auto word_at = [&](uint64_t address) {
        noc_async_read(address, l1, 32);
        noc_async_read_barrier();
        return *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(l1);
    };
"""


def interleaved_word(bank: int, place: int) -> int:
    """What the host wrote at a place of a bank, of the twelve banks of an n150."""
    return 100 + place * 12 + bank


def place_of(page: int) -> tuple[int, int]:
    """The bank of a page in shards, and its place there, step by step."""
    row, column = divmod(page, SHAPE[1])
    across = -(-SHAPE[1] // SHARD[1])
    shard = row // SHARD[0] * across + column // SHARD[1]
    inside = row % SHARD[0] * SHARD[1] + column % SHARD[1]
    return shard % BANKS, shard // BANKS * SHARD[0] * SHARD[1] + inside


def test_pages_of_shards_come_in_order() -> None:
    """All pages, and some of them, with their places."""
    body = f"""{ACCESSOR}{READ}
        for (const auto& page : t.pages()) {{
            DPRINT << page.page_id() << " " << word_at(page.noc_addr()) << ENDL();
        }}
        for (const auto& page : t.pages(4, 6)) {{ DPRINT << page.page_id() << ENDL(); }}
        for (uint32_t i = 0; i < 3; ++i) {{
            auto [bank, offset] = t.get_bank_and_offset(7 * i);
            DPRINT << bank << " " << offset << ENDL();
        }}"""
    lines, _ = printed(body, LAYOUT)
    found = [f"{page} {interleaved_word(*place_of(page))}" for page in range(15)]
    places = [" ".join(map(str, place_of(7 * i))) for i in range(3)]
    assert lines == [*found, "4", "5", *places]


def test_shards_leave_out_places_beyond_the_tensor() -> None:
    """A shard at the corner has one page; iterators go on by several pages."""
    body = f"""{ACCESSOR}
        for (uint32_t shard = 0; shard < 6; ++shard) {{
            for (const tensor_accessor::Page& page : t.shard_pages(shard)) {{
                DPRINT << page.page_id() << " ";
            }}
            DPRINT << ENDL();
        }}
        auto pages = t.shard_pages(1, 1);
        for (auto it = pages.begin(); it != pages.end(); it += 2) {{
            DPRINT << it->page_id() << " " << it.page_id() << ENDL();
        }}"""
    lines, _ = printed(body, LAYOUT)
    number = np.arange(15).reshape(SHAPE)
    shards = [number[y : y + 2, x : x + 2].ravel() for y in (0, 2) for x in (0, 2, 4)]
    expected = ["".join(f"{page} " for page in each) for each in shards]
    assert lines == [*expected, "3 3", "8 8"]


def test_what_is_known_of_shards() -> None:
    """Shapes, strides, numbers of things."""
    names = ("tensor_shape", "shard_shape", "tensor_strides", "shard_grid", "shard_grid_strides")
    parts = "".join(
        f'DPRINT << spec.{name}()[0] << " " << spec.{name}()[1] << ENDL();' for name in names
    )
    body = f"""{ACCESSOR}
        const auto& spec = t.dspec();
        DPRINT << spec.rank() << " " << spec.num_banks() << " " << spec.tensor_volume()
               << " " << spec.shard_volume() << " " << spec.tensor_shape().size() << ENDL();
        {parts}
        DPRINT << HEX() << spec.packed_xy_coords()[1] << ENDL();"""
    lines, _ = printed(body, LAYOUT)
    assert lines == ["2 4 15 4 2", "3 5", "2 2", "5 1", "2 3", "3 1", "3000200"]


def test_tuples_of_accessors() -> None:
    """Layouts one after another, each as long as it is; addresses and sizes in lists."""
    body = f"""
        constexpr auto layouts = make_tensor_accessor_args_tuple<3, 1>();
        auto even = make_tensor_accessor_tuple_uniform_page_size(layouts, 0, {PAGE});
        auto wrapped = make_abstract_tensor_accessor_wrappers(even);
        for (uint32_t i = 0; i < 3; ++i) {{
            DPRINT << uint32_t(wrapped[i].get_noc_addr(13) & 0xffffffff) << ENDL();
        }}
        DPRINT << uint32_t(std::get<1>(even).get_noc_addr(13)) << ENDL();
        auto sized = make_tensor_accessor_tuple(layouts, 0, 12);
        DPRINT << uint32_t(std::get<0>(sized).get_noc_addr(13)) - get_arg_val<uint32_t>(0)
               << " " << uint32_t(std::get<2>(sized).get_noc_addr(13)) << ENDL();"""
    lines, _ = printed(body, [99, 2, *LAYOUT, 2, 64, 96, 128])
    shard_place = place_of(13)[1]
    assert lines[1:4] == [str(7 + shard_place * PAGE), str(8 + PAGE), lines[1]]
    assert lines[4] == f"64 {8 + 128}"


def test_memory_of_the_core_is_a_pointer() -> None:
    """Elements, structs, arithmetic, comparisons; as a place of transfers and in conditions."""
    body = """
        struct Pair { uint32_t a; uint16_t b; };
        Noc noc;
        CircularBuffer cb(0);
        cb.reserve_back(1);
        auto lock = cb.scoped_lock();
        CoreLocalMem<uint32_t> mem(cb.get_write_ptr());
        for (uint32_t i = 0; i < 8; ++i) { mem[i] = 10 * i; }
        auto next = mem + 3;
        *next += 1;
        ++next; next++; next -= 1;
        DPRINT << *next << " " << mem[3] << " " << (next - mem) << " " << (next > mem) << ENDL();
        experimental::CoreLocalMem<volatile uint16_t> halves(
            reinterpret_cast<volatile uint16_t*>(cb.get_write_ptr()));
        halves[1] = 2;
        CoreLocalMem<Pair> pair(mem.get_address());
        DPRINT << mem[0] << " " << pair[1].a << " " << pair->a << ENDL();
        pair->b = 513;
        if (mem) { DPRINT << mem[1] << ENDL(); }
        constexpr auto args = TensorAccessorArgs<0>();
        auto t = TensorAccessor(args, get_arg_val<uint32_t>(0), 32);
        noc.async_write(mem, t, 16, {.offset_bytes = 16}, {.page_id = 2});
        noc.async_write_barrier();"""
    lines, out = printed(body, INTERLEAVED)
    assert lines == ["40 31 4 1", f"{2 << 16} 20 {2 << 16}", "513"]
    np.testing.assert_array_equal(out[2][:4], [40, 50, 60, 70])


def test_zeros_come_from_the_core() -> None:
    """More than the 512 bytes that it has, at an offset; pages from memory that was filled."""
    body = """
        Noc noc;
        DataflowBuffer cb(0);
        cb.reserve_back(1);
        auto words = cb.scoped_write_lock(1).get_ptr<uint32_t>();
        for (uint32_t i = 0; i < 256; ++i) { words[i] = 5; }
        noc.async_write_zeros(cb, 960, {.offset_bytes = 32});
        noc.write_zeros_l1_barrier();
        DPRINT << words[7] << " " << words[8] << " " << words[247] << " " << words[248] << ENDL();
        noc.async_write_zeros(CoreLocalMem<uint32_t>(cb.get_write_ptr()), 64);
        noc.write_zeros_l1_barrier();
        auto t = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), 32);
        for (uint32_t page = 3; page < 5; ++page) {
            noc.async_write_zeros(t, 32, {.page_id = page}, cb);
        }
        noc.write_zeros_dram_barrier();"""
    lines, out = printed(body, INTERLEAVED)
    assert lines == ["5 0 0 5"]
    assert [int(each) for each in out[1:7, 0]] == [101, 102, 0, 0, 105, 106]


def test_members_of_transfers_as_objects() -> None:
    """`noc_traits_t` names the types of the lists in braces."""
    before = """
        using Source = noc_traits_t<UnicastEndpoint>::src_args_type;
        Source locate(uint32_t address) {
            return Source{.noc_x = my_x[0], .noc_y = my_y[0], .addr = address};
        }"""
    body = """
        Noc noc;
        CircularBuffer cb(0);
        cb.reserve_back(2);
        CoreLocalMem<uint32_t> words(cb.get_write_ptr());
        for (uint32_t i = 0; i < 4; ++i) { words[i] = 74 + i; }
        noc.async_read(UnicastEndpoint(), words, 16, locate(words.get_address()),
                       {.offset_bytes = 1024});
        noc_traits_t<TensorAccessor>::src_args_type page{.page_id = 9};
        auto t = TensorAccessor(TensorAccessorArgs<0>(), get_arg_val<uint32_t>(0), 32);
        noc.async_read(t, words, 32, page, {.offset_bytes = 512});
        noc.async_read_barrier();
        DPRINT << words[259] << " " << words[128] << ENDL();"""
    assert printed(body, INTERLEAVED, before)[0] == ["77 109"]


def test_semaphores_pass_their_words_on() -> None:
    """To another semaphore of one core and of several, and additions on several."""
    device, program = CreateDevice(0, cycle_limit=100_000), CreateProgram()
    cores = CoreRange((0, 0), (1, 1))
    first, second = (CreateSemaphore(program, cores, value) for value in (0, 0))
    text = f"""void kernel_main() {{
        Semaphore valid({first}), arrived({second});
        if (get_arg_val<uint32_t>(0)) {{
            Noc noc;
            valid.set(5);
            valid.relay_unicast(noc, arrived, get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4));
            noc.async_write_barrier();
            valid.inc_multicast(noc, get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2),
                                get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4), 3, 3);
            noc.async_atomic_barrier();
            valid.set(6);
            valid.relay_multicast<NocOptions::MCAST_INCL_SRC>(
                noc, arrived, get_arg_val<uint32_t>(1), get_arg_val<uint32_t>(2),
                get_arg_val<uint32_t>(3), get_arg_val<uint32_t>(4), 4);
            noc.async_write_barrier();
        }} else {{
            valid.wait(3);
        }}
        arrived.wait(6);
        DPRINT << valid.value() << ENDL();
    }}"""
    kernel = CreateKernelFromString(program, text, cores, ReaderDataMovementConfig([]))
    low, high = (
        device.worker_core_from_logical_core(CoreCoord(*each)) for each in ((0, 0), (1, 1))
    )
    for core in cores:
        is_first = tuple(core) == (0, 0)
        arguments = [int(is_first), low.x, low.y, high.x, high.y]
        SetRuntimeArgs(program, kernel, core, arguments)
    EnqueueProgram(device.command_queue(), program)
    values = sorted(line.partition(": ")[2] for line in device.printed)
    assert values == ["3", "3", "3", "6"]


def test_members_of_layouts_are_constants() -> None:
    """They choose types and branches; and a load that is over when it returns is one."""
    body = f"""
        constexpr auto sharded = TensorAccessorArgs<0>();
        constexpr auto other = TensorAccessorArgs<{len(LAYOUT)}>();
        constexpr uint32_t mask = sharded.is_dram ? 5 : 6;
        if constexpr (other.is_sharded) {{ DPRINT << 1 << ENDL(); }}
        DPRINT << std::integral_constant<uint32_t, mask>::value << ENDL();
        cb_reserve_back(0, 1);
        auto words = reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0));
        words[0] = 9;
        DPRINT << ckernel::load_blocking(words) << ENDL();"""
    assert printed(body, [*LAYOUT, 0])[0] == ["5", "9"]


ERRORS = [
    (
        INTERLEAVED,
        "for (const auto& page : t.pages()) { }",
        "4:25: error: the tensor is interleaved",
    ),
    (INTERLEAVED, "DPRINT << t.dspec().rank();", "the tensor is interleaved"),
    (LAYOUT, "DPRINT << t.dspec().shard_shape()[2];", "dimension 2 of a tensor with 2"),
    (LAYOUT, "t.builtin_count(0);", "has no member function 'builtin_count'; there are get_"),
    (LAYOUT, "CoreLocalMem<uint32_t> m(0); m[0] = 1;", "this dereferences a null pointer"),
    (LAYOUT, "CoreLocalMem<uint32_t> m(1 << 30); m[0] = 1;", "4:"),
    (LAYOUT, "Noc n; n.async_write_zeros(CircularBuffer(0), 0xfffffff0u); ", "L1"),
    (LAYOUT, "auto p = t.pages(0, 0xffffffffu).begin(); p += 0xffffffffu;", "error:"),
    (LAYOUT, "Semaphore a(0); a.relay_unicast(Noc(), a, 1, 1);", "error:"),
    (LAYOUT, "CoreLocalMem<uint32_t> m(4); noc_async_read(0, m, 4);", "error:"),
]


@pytest.mark.parametrize(("arguments", "body", "message"), ERRORS)
def test_what_is_wrong_is_said_where_it_is(arguments: list[int], body: str, message: str) -> None:
    """Places are those of the kernel, sizes and numbers are looked at first."""
    with pytest.raises((SimError, CppSyntaxError)) as raised:
        printed(ACCESSOR + body, arguments)
    assert message in str(raised.value)
    assert "<" not in str(raised.value).partition(" error:")[0]


def test_a_page_is_a_source() -> None:
    """`Noc` reads from the address on the network that a page has."""
    body = f"""{ACCESSOR}
        Noc noc;
        cb_reserve_back(0, 1);
        const CoreLocalMem<uint32_t> memory(get_write_ptr(0));
        noc.async_read(tensor_accessor::Page(t.get_noc_addr(5), 0), memory, 32, {{}}, {{}});
        noc.async_read_barrier();
        DPRINT << memory[0] << ENDL();
        noc.async_write(memory, tensor_accessor::Page(t.get_noc_addr(6), 0), 16, {{}}, {{}});
        noc.async_write_barrier();
    """
    head = '#include "api/core_local_mem.h"\n#include "api/dataflow/noc.h"\n'
    lines, out = printed(body, INTERLEAVED, head)
    assert lines == ["105"]
    assert out[6, 0] == 105
    wrong = "noc.async_read(memory, tensor_accessor::Page(t.get_noc_addr(5), 0), 32, {}, {});"
    with pytest.raises(SimError, match="a page cannot be used here: it is not in the memory of"):
        printed(body.replace("noc.async_read_barrier();", wrong), INTERLEAVED, head)


def test_a_semaphore_is_looked_for_when_it_is_used() -> None:
    """Objects of semaphores that a program does not have may be members that nobody uses."""
    head = '#include "api/dataflow/noc_semaphore.h"\n'
    lines, _ = printed("Semaphore<> unused(3); DPRINT << 1 << ENDL();", INTERLEAVED, head)
    assert lines == ["1"]
    with pytest.raises(SimError, match="semaphore 3 was not created on this core"):
        printed("Semaphore<> used(3);\nused.wait(1);", INTERLEAVED, head)


def test_a_semaphore_of_another_core() -> None:
    """Its address is known here, for the other core; the word of this core is none."""
    other = CoreCoord(1, 0)
    text = """
        #include "api/dataflow/noc.h"
        #include "api/dataflow/noc_semaphore.h"
        struct Signaler {
            Noc noc;
            Semaphore<> there{0};
            Signaler() {}
            void up(uint32_t x, uint32_t y) { there.up(noc, x, y, 1); }
        };
        void kernel_main() {
            Signaler signaler;
            signaler.up(get_arg_val<uint32_t>(0), get_arg_val<uint32_t>(1));
            REST
        }
    """
    waits = """
        void kernel_main() {
            noc_semaphore_wait((volatile tt_l1_ptr uint32_t*)get_semaphore(0), 1);
        }
    """

    def run(rest: str) -> None:
        device, program = CreateDevice(0), CreateProgram()
        CreateSemaphore(program, other, 0)
        place = device.worker_core_from_logical_core(other)
        config = ReaderDataMovementConfig()
        kernel = CreateKernelFromString(program, text.replace("REST", rest), CORE, config)
        SetRuntimeArgs(program, kernel, CORE, [place.x, place.y])
        CreateKernelFromString(program, waits, other, config)
        EnqueueProgram(device.command_queue(), program)

    run("")
    for rest in ("signaler.there.wait(1);", "signaler.there.set(1);"):
        with pytest.raises(SimError, match="semaphore 0 was not created on this core; there: none"):
            run(rest)


def test_a_function_for_other_arguments_hides_no_call_that_waits() -> None:
    """As headers of ttnn have for addresses of shards of their own."""
    before = """
        template <typename T>
        struct Shards {};
        template <typename T>
        void noc_async_read_page(uint32_t page, const Shards<T>& s, uint32_t to) {
            DPRINT << "own ";
        }
    """
    body = f"""{ACCESSOR}
        cb_reserve_back(0, 1);
        noc_async_read_page(9, Shards<int>{{}}, get_write_ptr(0));
        noc_async_read_page(9, t, get_write_ptr(0));
        noc_async_read_barrier();
        DPRINT << *reinterpret_cast<volatile tt_l1_ptr uint32_t*>(get_write_ptr(0)) << ENDL();
    """
    assert printed(body, INTERLEAVED, before)[0] == ["own 109"]


def test_layouts_of_several_tensors_behind_each_other() -> None:
    """Each group has its own instances of the functions that make it."""
    body = """
        constexpr auto inputs = make_tensor_accessor_args_tuple<2, 1>();
        constexpr uint32_t between = std::get<1>(inputs).next_compile_time_args_offset();
        constexpr auto outputs = make_tensor_accessor_args_tuple<2, between>();
        DPRINT << between << " " << std::get<0>(outputs).next_compile_time_args_offset() << " "
               << std::get<1>(outputs).next_compile_time_args_offset() << ENDL();
    """
    assert printed(body, [2] * 8)[0] == ["3 4 5"]


def test_functions_that_the_build_calls() -> None:
    """The macro marks them; `kernel_main` is one of the build, or of whoever calls them."""
    before = """#include "experimental/kernel_args.h"
    template <uint32_t N> TT_KERNEL void show(uint32_t x) { DPRINT << N + x << ENDL(); }
    """
    body = "show<get_compile_time_arg_val(0)>(get_arg_val<uint32_t>(1));"
    assert printed(body, INTERLEAVED, before)[0] == ["9"]


def test_assembly_that_only_hides_a_value() -> None:
    """From g++, so that it does not unroll loops."""
    body = """uint32_t count = 3; asm volatile("" : "+r"(count));
    DPRINT << count << ENDL();
    """
    assert printed(body, INTERLEAVED)[0] == ["3"]
    for other in ('"" : "=r"(count)', '"nop" : "+r"(count)'):
        with pytest.raises(SimError, match="without operands"):
            printed(body.replace('"" : "+r"(count)', other), INTERLEAVED)


def test_a_processor_that_stops() -> None:
    """`ebreak` is an assertion that does not hold."""
    body = """if (get_arg_val<uint32_t>(1) == 8) { asm volatile("ebreak"); }
    DPRINT << 1 << ENDL();
    """
    assert printed(body, INTERLEAVED)[0] == ["1"]
    with pytest.raises(SimError, match="an assertion does not hold"):
        printed(body.replace("== 8", "== 7"), INTERLEAVED)
