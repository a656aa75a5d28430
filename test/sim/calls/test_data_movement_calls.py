"""The calls of the data-movement processors: all of them are there, and wrong use is refused."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Generator, Sequence

import numpy as np
import pytest

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import CALLS, Form, KernelCall, Role
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.kernel_api import waiting_calls
from ttmlir.sim.errors import SimError
from ttmlir.sim.execution.scheduler import KernelSource, KernelThread, Scheduler
from ttmlir.sim.machine.address_generators import AccessorArgs, TensorAccessor, read_accessor_args
from ttmlir.sim.machine.device import Core, SimChip, SimDevice
from ttmlir.sim.machine.memory import CircularBuffer
from ttmlir.sim.options import SimOptions

BY_THE_COMPILER = (Form.LOAD, Form.STORE, Form.CAST, Form.ELEMENT)
"""Forms that are syntax of C++."""

BLOCKING_CALLS = [
    definition
    for definition in CALLS
    if definition.roles & Role.DATA and definition.header and definition.form not in BY_THE_COMPILER
    if definition.cpp != "get_compile_time_arg_val"
]


def call_of(definition: KernelCall) -> object:
    """What the simulator has for a definition."""
    match definition.form:
        case Form.METHOD:
            is_args = definition.mnemonic.startswith("tensor_accessor_args.")
            return getattr(AccessorArgs if is_args else TensorAccessor, definition.cpp, None)
        case Form.STREAM:
            return DataMovementApi.dprint
        case _:
            return getattr(DataMovementApi, definition.cpp, None)


@pytest.mark.parametrize(
    "definition", BLOCKING_CALLS, ids=[definition.mnemonic for definition in BLOCKING_CALLS]
)
def test_every_call_has_an_implementation(definition: KernelCall) -> None:
    """A method of the C++ name that takes as many arguments as the definition says, and
    templates."""
    call = call_of(definition)
    assert callable(call), definition.cpp
    parameters = inspect.signature(call).parameters
    positional = [name for name in parameters if name not in ("self", "template")]
    if definition.most_arguments is not None and definition.cpp != "get_noc_addr":
        named = definition.most_arguments - (1 if definition.form == Form.METHOD else 0)
        assert len(positional) >= named, definition.cpp
        more = positional[named:]
        assert all(parameters[name].default is not inspect.Parameter.empty for name in more)
    if definition.templates and definition.header != "debug/dprint.h":
        assert "template" in parameters, definition.cpp


def test_blocking_calls_exist_and_have_no_result() -> None:
    """Whatever the compiler waits for is a call that gives nothing else."""
    definitions = {definition.cpp: definition for definition in CALLS}
    for name in waiting_calls(DataMovementApi):
        assert callable(getattr(DataMovementApi, name))
        assert definitions[name].result is None if name in definitions else True


class Bench:
    """One thread on core (1, 2), whose kernel is a function of its calls."""

    def __init__(self, *, delay_copies: bool = False) -> None:
        """A device without sanitizer, so that the calls' own checks are seen."""
        options = SimOptions(sanitize=False, timed=False, delay_copies=delay_copies)
        self.device = SimDevice(SimChip.of_board("n150"), options)
        self.core = self.device.core(1, 2)
        self.core.cbs[3] = CircularBuffer(3, 0x20000, 64, 4, DataType.BF16)
        self.core.semaphores[0] = self.device.chip.semaphore_base
        self.core.l1.write(self.device.chip.semaphore_base, bytes(4))
        self.scheduler = Scheduler(self.device.options)
        self.threads: list[KernelThread] = []

    def api(self, compile_time_args: Sequence[int] = ()) -> DataMovementApi:
        """The calls of a new thread."""
        thread = KernelThread(
            self.core,
            Role.BRISC,
            KernelSource("kernel", __file__),
            len(self.threads),
            scheduler=self.scheduler,
            arguments=[7, 0xFFFF_FFFE, 0x3FC0_0000],
            common_arguments=[11],
            origin=(1, 1),
        )
        self.threads.append(thread)
        return DataMovementApi(
            self.core,
            thread,
            self.device.options,
            self.device.network,
            compile_time_args=compile_time_args,
        )

    def run(self, body: Callable[[DataMovementApi], object]) -> DataMovementApi:
        """Run a kernel that makes these calls."""
        api = self.api()

        def kernel() -> Generator[None, None, None]:
            body(api)
            yield from ()

        api.thread.start(kernel())
        self.scheduler.run(self.threads)
        return api


def test_arguments_that_were_not_set() -> None:
    """The message says what would set them; the rule can be looked up."""
    for call, setter, count in (
        (lambda api: api.get_arg_val(3), "SetRuntimeArgs", 3),
        (lambda api: api.get_arg_val(-1), "SetRuntimeArgs", 3),
        (lambda api: api.get_common_arg_val(1), "SetCommonRuntimeArgs", 1),
    ):
        with pytest.raises(SimError) as caught:
            Bench().run(call)
        assert re.fullmatch(
            rf"run-time argument -?\d was not set; {setter} gave {count} of them",
            caught.value.message,
        )
        assert caught.value.rule == "arguments"


WRONG: list[tuple[Callable[[DataMovementApi], object], str]] = [
    (
        lambda api: api.cb_wait_front(5, 1),
        r"circular buffer 5 is not configured on this core; configured: 3",
    ),
    (
        lambda api: api.cb_reserve_back(3, 5),
        r"cb_reserve_back of 5 pages never returns: circular buffer 3 has 4 of them",
    ),
    (
        lambda api: [api.cb_push_back(3, 3), api.cb_push_back(3, 3)],
        r"cb_push_back of 3 pages runs over the end of circular buffer 3: 1 of its 4 pages",
    ),
    (
        lambda api: api.noc_async_read(api.get_noc_addr(0, 11, 0), 0x20000, 0),
        r"a copy of 0 bytes never completes; copy at least one byte",
    ),
    (
        lambda api: api.noc_async_read(api.get_noc_addr(0, 11, 0x1010), 0x20000, 32),
        r"address 0x20000 in L1 and 0x1010 in DRAM channel 0 differ modulo 32: 0 and 16",
    ),
    (
        lambda api: api.noc_async_write(0x20008, api.get_noc_addr(1, 1, 0x30000), 32),
        r"address 0x20008 in L1 and 0x30000 in core \(0, 0\) differ modulo 16: 8 and 0",
    ),
    (
        lambda api: api.noc_async_read(api.get_noc_addr(5, 6, 0), 0x20000, 32),
        r"no tile with memory is at \(5, 6\) on the network of n150; worker cores are at "
        r"x 1,2,3,4,6,7,8,9 and y 1,2,3,4,5,7,8,9, DRAM at \(0, 11\)",
    ),
    (
        lambda api: api.noc_async_read_one_packet(api.get_noc_addr(0, 11, 0), 0x20000, 8193),
        r"noc_async_read_one_packet of 8193 bytes; a packet holds at most 8192",
    ),
    (
        lambda api: api.noc_async_read(api.get_noc_addr(0, 11, 1 << 30), 0x20000, 32),
        r"bytes 0x40000000 to 0x40000020 are outside of DRAM channel 0",
    ),
    (
        lambda api: api.noc_async_read(api.get_noc_addr(0, 11, 0), 0x16E000, 32),
        r"bytes 0x16e000 to 0x16e020 are outside of L1 of core \(1, 2\)",
    ),
    (
        lambda api: api.get_noc_addr_from_bank_id(12, 0, template=(True,)),
        r"bank 12 does not exist; there are 12, numbered from 0",
    ),
    (
        lambda api: api.noc_async_write_multicast(
            0x20000, api.get_noc_multicast_addr(1, 1, 2, 3, 0x20000), 32, 6
        ),
        r"the multicast is said to reach 6 cores, but the rectangle has 5 worker cores besides "
        r"this one",
    ),
    (
        lambda api: api.noc_async_read(
            api.get_noc_multicast_addr(1, 1, 2, 3, 0x20000), 0x20000, 32
        ),
        r"is that of a rectangle; this call takes the address of one tile",
    ),
    (
        lambda api: api.noc_semaphore_inc(api.get_noc_addr(0, 11, 0x1000), 1),
        r"noc_semaphore_inc on DRAM channel 0; only the L1 of cores can add",
    ),
    (
        lambda api: api.get_semaphore(4),
        r"semaphore 4 was not created on this core; there: 0; create it on all cores",
    ),
    (
        lambda api: api.get_arg_val(3, template=("uint32_t",)),
        r"run-time argument 3 was not set; SetRuntimeArgs gave 3 of them",
    ),
    (
        lambda api: api.noc_async_read_with_state(0, 0x20000, 32),
        r"nothing was set before; call noc_async_read_set_state first",
    ),
    (
        lambda api: api.load(0x20002, 4, False),
        r"address 0x20002 of a 4-byte access is not a multiple of 4",
    ),
    (
        lambda api: api.noc_async_read(api.get_noc_addr(0, 11, 0), 0x20000, 32, 2),
        r"network 2 does not exist; there are 0 and 1",
    ),
    (
        lambda api: api.TensorAccessorArgs(template=(2, 0)),
        r"TensorAccessorArgs<2> reads compile-time argument 2, but the kernel has 0 of them",
    ),
]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([0, 1, 2], "of a sharded tensor needs more than the 2 compile-time arguments that the k"),
        ([0, 1, 2, 3, 0], "sharded tensor needs more than the 4 compile-time arguments that the"),
        ([0, 7, 2], "reads 7 from compile-time argument 1, which is no layout of a tensor: 2 is"),
    ],
)
def test_layouts_are_looked_for_behind_other_arguments(words: list[int], message: str) -> None:
    """Numbers of circular buffers, say, are no layouts, and the error says where those begin."""
    with pytest.raises(SimError, match=message) as caught:
        Bench().api(words).TensorAccessorArgs(template=(1, 0))
    assert "layouts begin after the other compile-time arguments" in str(caught.value)


@pytest.mark.parametrize(("body", "message"), WRONG)
def test_wrong_use_is_located_and_says_what_is_allowed(
    body: Callable[[DataMovementApi], object], message: str
) -> None:
    """Each error names the place of the call, the core and the processor."""
    with pytest.raises(SimError, match=message) as caught:
        Bench().run(body)
    error = caught.value
    assert error.position is not None
    assert error.position.file == __file__
    assert error.position.line > 0
    assert (error.core, error.role) == ((1, 2), "BRISC")
    assert "note: on core (1, 2) BRISC" in str(error)


def test_arguments_and_place() -> None:
    """Arguments by type and by address; coordinates on the network, in the grid, in the kernel."""
    api = Bench().api()
    assert api.get_arg_val(1, template=("uint32_t",)) == 0xFFFF_FFFE
    assert api.get_arg_val(1, template=("int32_t",)) == -2
    assert api.get_arg_val(2, template=("float",)) == 1.5
    assert api.load(api.get_arg_addr(1), 4, True) == -2
    assert api.get_common_arg_val(0, template=("uint32_t",)) == 11
    assert api.load(api.get_common_arg_addr(0), 4, False) == 11
    assert (api.my_x[0], api.my_y[1]) == (2, 3)
    assert (api.get_absolute_logical_x(), api.get_absolute_logical_y()) == (1, 2)
    assert (api.get_relative_logical_x(), api.get_relative_logical_y()) == (0, 1)


def test_addresses() -> None:
    """36 bits in the tile, then x, then y (tt-isa-documentation, WormholeB0/NoC/MemoryMap.md)."""
    api = Bench().api()
    assert api.get_noc_addr(5, 11, 0x1234) == 0x1234 + 5 * 2**36 + 11 * 2**42
    assert api.get_noc_addr(0x1234) == 0x1234 + 2 * 2**36 + 3 * 2**42
    rectangle = api.get_noc_multicast_addr(1, 2, 3, 4, 0x20)
    assert rectangle == 0x20 + 3 * 2**36 + 4 * 2**42 + 1 * 2**48 + 2 * 2**54


@pytest.mark.parametrize(("dram", "banks", "alignment"), [(True, 12, 32), (False, 64, 16)])
def test_interleaved_pages(dram: bool, banks: int, alignment: int) -> None:
    """Page i is in bank i mod N, behind i div N pages that are aligned."""
    bench = Bench()
    pages = bench.api().InterleavedAddrGen(0x4000, 50, template=(dram,))
    stride = -(-50 // alignment) * alignment
    for page in (0, 1, banks - 1, banks, 3 * banks + 5):
        bank, address = pages.locate(page)
        assert bank.index == page % banks
        assert address == 0x4000 + page // banks * stride


def test_sharded_pages() -> None:
    """A 5x7 array of pages in shards of 2x3, given row by row to nine banks."""
    bench = Bench()
    places = [(x, y) for y in (1, 2, 3) for x in (1, 2, 3)]
    halves = [*(x << 8 | y for x, y in places), 0]
    pairs = [low | high << 16 for low, high in zip(halves[::2], halves[1::2], strict=True)]
    words = [1, 2, 9, 5, 7, 2, 3, *pairs]
    api = bench.api([99, *words])
    args = api.TensorAccessorArgs(template=(1, 0))
    accessor = api.TensorAccessor(args, 0x8000, 64)
    assert args.next_compile_time_args_offset() == 1 + len(words)
    assert args.next_common_runtime_args_offset() == 0
    numbers = np.arange(35).reshape(5, 7)
    for row, column in np.ndindex(5, 7):
        bank, address = accessor.locate(int(numbers[row, column]))
        shard = row // 2 * 3 + column // 3
        assert bank.coordinate == places[shard]
        assert address == 0x8000 + (row % 2 * 3 + column % 3) * 64
    # Core (1, 2) of the grid is at (2, 3) of the network: the eighth bank.
    assert [page for page in range(35) if accessor.is_local_page(page)] == [31, 32, 33]
    assert accessor.is_local_shard(7)
    assert accessor.get_shard_noc_addr(7, 4) == api.get_noc_addr(2, 3, 0x8004)
    assert accessor.is_local_addr(api.get_noc_addr(0))
    assert not accessor.is_local_bank(1, 1)


def test_delayed_copies_move_at_the_barrier() -> None:
    """Before its barrier a read has brought nothing, and a write takes what is there at the end."""
    bench = Bench(delay_copies=True)
    channel = bench.device.network.dram[0].memory
    channel.write(0x1000, b"new!" * 8)
    bench.core.l1.write(0x20000, b"old." * 8)

    def body(api: DataMovementApi) -> None:
        assert api.noc_async_read(api.get_noc_addr(0, 11, 0x1000), 0x20000, 32)
        assert bytes(api.l1.read(0x20000, 4)) == b"old."
        assert api.noc_async_read_barrier()
        assert bytes(api.l1.read(0x20000, 4)) == b"new!"
        assert api.noc_async_write(0x20000, api.get_noc_addr(0, 11, 0x2000), 32)
        api.store(0x20000, 4, 0x21212121)
        assert api.noc_async_write_barrier()
        assert bytes(channel.read(0x2000, 8)) == b"!!!!new!"

    bench.run(body)


def test_a_word_pushes_the_writes_before_it() -> None:
    """What was written to a core before a semaphore there is increased arrives before."""
    bench = Bench(delay_copies=True)
    other = bench.device.core(0, 0)
    word = bench.device.chip.semaphore_base
    other.l1.write(word, bytes(4))
    bench.core.l1.write(0x20000, b"data" * 8)

    def body(api: DataMovementApi) -> None:
        api.noc_async_write(0x20000, api.get_noc_addr(1, 1, 0x30000), 32)
        api.noc_async_write(0x20000, api.get_noc_addr(2, 1, 0x30000), 32)
        assert bytes(other.l1.read(0x30000, 4)) == b"\xff" * 4
        api.noc_semaphore_inc(api.get_noc_addr(1, 1, word), 3)
        assert bytes(other.l1.read(0x30000, 4)) == b"data"
        assert bytes(bench.device.core(1, 0).l1.read(0x30000, 4)) == b"\xff" * 4

    bench.run(body)
    assert int.from_bytes(other.l1.read(word, 4), "little") == 3


def test_inline_write_with_byte_enables() -> None:
    """Only the enabled bytes of a word change."""
    bench = Bench()
    other = bench.device.core(0, 0)
    other.l1.write(0x30000, b"\x11\x22\x33\x44")
    bench.run(
        lambda api: api.noc_inline_dw_write(api.get_noc_addr(1, 1, 0x30000), 0xAABBCCDD, 0b0101)
    )
    assert bytes(other.l1.read(0x30000, 4)) == b"\xdd\x22\xbb\x44"


def test_inline_write_says_what_it_writes_to() -> None:
    """As tt-metal 0.81 declares it: L1 or a register, with or without an answer."""
    bench = Bench()
    template = 1, True, True
    bench.run(
        lambda api: api.noc_inline_dw_write(
            api.get_noc_addr(1, 1, 0x30000), 0xAABBCCDD, template=template
        )
    )
    assert bytes(bench.device.core(0, 0).l1.read(0x30000, 4)) == b"\xdd\xcc\xbb\xaa"


def test_multicast_wraps_around_and_reaches_workers_only() -> None:
    """A span whose start is behind its end goes around the torus; DRAM columns do not receive."""
    bench = Bench()
    network = bench.device.network
    api = bench.api()
    cores = network.rectangle(api.get_noc_multicast_addr(9, 1, 1, 2, 0), 0)
    assert [core.logical for core in cores] == [(0, 0), (7, 0), (0, 1), (7, 1)]
    cores = network.rectangle(api.get_noc_multicast_addr(6, 2, 4, 1, 0), 1)
    assert [core.logical for core in cores] == [(3, 0), (4, 0), (3, 1), (4, 1)]


def test_loopback_includes_the_sender() -> None:
    """The variant with loopback writes to the sender, too; the other leaves it out."""
    bench = Bench()
    bench.core.l1.write(0x20000, b"x" * 32)

    def body(api: DataMovementApi) -> None:
        target = api.get_noc_multicast_addr(1, 3, 2, 3, 0x30000)
        assert api.noc_async_write_multicast(0x20000, target, 32, 1)
        assert bytes(api.l1.read(0x30000, 1)) == b"\xff"
        assert api.noc_async_write_multicast_loopback_src(0x20000, target, 32, 2)
        assert bytes(api.l1.read(0x30000, 1)) == b"x"

    bench.run(body)
    assert bytes(bench.device.core(0, 2).l1.read(0x30000, 32)) == b"x" * 32


def test_prints_carry_the_thread() -> None:
    """Lines are whole, and an unfinished one is completed at the end."""
    bench = Bench()
    api = bench.run(lambda api: api.dprint("a = ", 3, "\nb", 0.5))
    api.end()
    assert bench.device.printed == ["core (1, 2) BRISC: a = 3", "core (1, 2) BRISC: b0.5"]


def test_offsets_into_pages_are_none_unless_given() -> None:
    """Of addresses, of reads and of writes, which then take the whole page."""
    bench = Bench()
    bank = bench.device.network.dram[1]
    x, y = bank.coordinate
    bank.memory.write(0x4000, bytes(range(64)))
    bench.core.l1.write(0x20000, b"x" * 64)

    def body(api: DataMovementApi) -> None:
        pages = api.InterleavedAddrGen(0x4000, 64, template=(True,))
        words = [2, 0]
        tensor = api.TensorAccessor(read_accessor_args(words, 0), 0x4000, 64)
        for each in (pages, tensor):
            assert each.get_noc_addr(1) == api.get_noc_addr(x, y, 0x4000)
            assert each.get_noc_addr(1, 32) == api.get_noc_addr(x, y, 0x4020)
            assert api.get_noc_addr(1, each) == api.get_noc_addr(x, y, 0x4000)
            assert api.get_noc_addr(1, each, 16) == api.get_noc_addr(x, y, 0x4010)
        assert api.noc_async_read_tile(1, pages, 0x30000)
        assert bytes(api.l1.read(0x30000, 64)) == bytes(range(64))
        assert api.noc_async_read_tile(1, pages, 0x30000, 32)
        assert bytes(api.l1.read(0x30000, 64)) == bytes(range(32, 64)) * 2
        assert api.noc_async_write_page(1, pages, 0x20000, 32, 32)
        assert bytes(bank.memory.read(0x4000, 64)) == bytes(range(32)) + b"x" * 32
        assert api.noc_async_write_page(1, pages, 0x20000)
        assert bytes(bank.memory.read(0x4000, 64)) == b"x" * 64

    bench.run(body)


@pytest.mark.parametrize("loopback", [False, True])
def test_semaphores_of_a_rectangle_take_all_32_bits(loopback: bool) -> None:
    """No byte of a word is lost on the way, the highest ones included."""
    bench = Bench()
    word = bench.device.chip.semaphore_base
    others = [bench.device.core(0, 2), bench.device.core(0, 1), bench.device.core(1, 1)]
    for core in (*others, bench.core):
        core.l1.write(word, bytes(4))

    def read(core: Core) -> int:
        return int.from_bytes(core.l1.read(word, 4), "little")

    def body(api: DataMovementApi) -> None:
        source = 0x20000
        target = api.get_noc_multicast_addr(1, 2, 2, 3, word)
        for value in (0xFEDC_BA98, 0x0100_0001):
            api.store(source, 4, value)
            if loopback:
                assert api.noc_semaphore_set_multicast_loopback_src(source, target, 4)
            else:
                assert api.noc_semaphore_set_multicast(source, target, 3)
            assert [read(core) for core in others] == [value] * 3
            assert read(bench.core) == (value if loopback else 0)
        assert api.noc_semaphore_inc_multicast(target, 0xFF00_0000, 3)
        assert [read(core) for core in others] == [0x0000_0001] * 3
        assert read(bench.core) == (0x0100_0001 if loopback else 0)

    bench.run(body)
