"""Memories, allocators, buffers and chips."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import numpy as np
import pytest
from running.confinement import confined

from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import BOARD_NAMES, board, default_system_desc
from ttmlir.limits import MEMORY_VARIABLE
from ttmlir.sim.errors import AllocationError, SimError
from ttmlir.sim.execution.program import CircularBufferSpec, Program
from ttmlir.sim.execution.run import addresses
from ttmlir.sim.machine.address_generators import Buffer, Sharding
from ttmlir.sim.machine.device import Allocator, SimChip, SimDevice
from ttmlir.sim.machine.memory import Memory, Tile
from ttmlir.sim.options import SimOptions


def test_memory_is_poisoned_and_grows_on_demand() -> None:
    """What nobody wrote reads as ones; a gigabyte takes no memory until it is used."""
    memory = Memory("DRAM", 1 << 30)
    assert memory.data.size == 0
    memory.write(1000, b"abc")
    assert bytes(memory.read(998, 6)) == b"\xff\xffabc\xff"
    assert memory.data.size < 1 << 20
    memory.write((1 << 20) - 2, b"de")
    assert bytes(memory.read(1000, 3)) == b"abc"
    memory.poison(1001, 1)
    assert bytes(memory.read(1000, 3)) == b"a\xffc"


@pytest.mark.parametrize(("address", "size"), [(-4, 4), (61, 4), (64, 1), (0, -1)])
def test_memory_has_bounds(address: int, size: int) -> None:
    """The message names the bytes and the memory's size."""
    memory = Memory("L1 of core (0, 0)", 64)
    with pytest.raises(SimError, match=r"are outside of L1 of core \(0, 0\), which has 0x40"):
        memory.read(address, size)


def test_copies_may_overlap() -> None:
    """A copy within a memory takes the bytes as they were."""
    memory = Memory("L1", 64)
    memory.write(0, bytes(range(16)))
    memory.copy(4, memory, 0, 12)
    assert bytes(memory.read(0, 16)) == bytes([0, 1, 2, 3, *range(12)])


def test_writes_drop_the_tiles_that_they_touch() -> None:
    """Each tile of which a byte is written, and no other; other memories keep theirs."""
    dram = Memory("DRAM", 1 << 16, is_read_by_units=False)
    first, second = Memory("L1 0", 1 << 16), Memory("L1 1", 1 << 16)
    for start in (0, 2048, 4096):
        first.copy(1000 + start, dram, start, 2048)
    second.copy(64, dram, 2048, 2048)
    middle = first.tiles[3048]
    assert middle is dram.tiles[2048] is second.tiles[64]
    middle.values[0] = "numbers"
    first.write(3047, bytes(1))
    assert sorted(first.tiles) == [3048, 5096]
    first.copy(5095, second, 0, 2)
    assert sorted(first.tiles) == []
    assert middle.values == {0: "numbers"}
    second.write(64, bytes(2048))
    assert second.tiles[64] is not middle
    assert middle.values == {}, "no compute unit can read it any longer"


def test_a_tile_that_is_copied_over_others_takes_their_place() -> None:
    """Whole or in part, of the same size or of another."""
    memory = Memory("L1", 1 << 16)
    for start, size in ((0, 2048), (2048, 2048), (4096, 1088), (8192, 4096)):
        memory.copy(start, memory, 1 << 15, size)
    memory.copy(1024, memory, 1 << 15, 2048)
    assert sorted(memory.tiles) == [1024, 4096, 8192, 1 << 15]
    memory.copy(8192, memory, 1 << 15, 1088)
    assert (memory.tiles[8192].size, memory.tiles[1 << 15].size) == (1088, 1088)
    memory.copy(4096 + 1087, memory, 1 << 15, 1088)
    assert sorted(memory.tiles) == [1024, 4096 + 1087, 8192, 1 << 15]


def test_a_block_of_tiles_is_the_same_tiles() -> None:
    """Also where other tiles were; of a block that ends within a tile none is known."""
    sender, receiver = Memory("sender", 1 << 16), Memory("receiver", 1 << 16)
    sender.write(0, bytes(range(256)) * 24)
    receiver.copy(2048 + 1088, sender, 0, 1088)
    for address in (0, 2048, 4096):
        sender.hold(address, Tile(2048))
    receiver.copy(2048, sender, 0, 6144)
    assert bytes(receiver.read(2048, 6144)) == bytes(range(256)) * 24
    assert {address - 2048: tile for address, tile in receiver.tiles.items()} == sender.tiles
    receiver.copy(2048, sender, 2048, 4096)
    assert [receiver.tiles[each] for each in (2048, 4096)] == [*sender.tiles.values()][1:]
    receiver.copy(2048, sender, 2048, 3072)
    assert sorted(receiver.tiles) == [6144]
    sender.copy(2048, sender, 0, 6144)
    assert sorted(sender.tiles) == [0]


class _Late:
    """Bytes of a tile in some memories that come when they are asked for."""

    def __init__(self, number: int, *memories: Memory) -> None:
        self._data = np.full((1, 2048), number, np.uint8)
        self._memories = memories

    def settle(self) -> None:
        """Put all late tiles of the memories there."""
        for tile in [tile for each in self._memories for tile in each.take_late()]:
            tile.late = None

    def read(self) -> np.ndarray:
        """The bytes."""
        return self._data


def test_bytes_of_late_tiles_come_before_anybody_sees_them() -> None:
    """Copies of whole tiles are late, too; parts that are read or written are not."""
    memory, other = Memory("L1", 1 << 16), Memory("DRAM", 1 << 16, is_read_by_units=False)

    def put() -> None:
        for place in range(3):
            memory.put_late(2048 * place, Tile(2048, _Late(place + 1, memory, other)))

    put()
    memory.copy(3 * 2048, memory, 0, 3 * 2048)
    other.copy(64, memory, 2048, 2048)
    assert (len(memory.late), len(other.late)) == (6, 1)
    assert bytes(other.read(100, 2)) == b"\2\2"
    assert not memory.late
    assert not other.late
    assert [memory.data[2048 * place] for place in range(6)] == [1, 2, 3, 1, 2, 3]
    put()
    memory.write(2048, bytes(2048))
    assert len(memory.late) == 2
    memory.write(4090, bytes(8))
    assert not memory.late
    assert [int(memory.data[at]) for at in (0, 2048, 4095, 4096, 4097, 4098)] == [1, 0, 0, 0, 0, 3]
    put()
    other.copy(0, memory, 1024, 2048)
    assert [int(other.data[at]) for at in (0, 1023, 1024, 2047)] == [1, 1, 2, 2]
    put()
    memory.copy(1024, memory, 0, 2048)
    assert [int(memory.data[at]) for at in (0, 1024, 3071, 3072, 4096)] == [1, 1, 1, 2, 3]
    put()
    memory.poison(100, 2000)
    assert [int(memory.data[at]) for at in (99, 100, 2099, 2100)] == [1, 255, 255, 2]


def test_allocator_fills_gaps_from_its_side() -> None:
    """DRAM grows up and L1 down; what was freed is used again."""
    up = Allocator("DRAM", 1000, 2000, 32, top_down=False)
    assert [up.allocate(100), up.allocate(1)] == [1024, 1152]
    up.free(1024)
    assert up.allocate(129) == 1184
    assert up.allocate(128) == 1024
    down = Allocator("L1", 1000, 2000, 16, top_down=True)
    assert [down.allocate(100), down.allocate(1)] == [1888, 1872]
    assert down.lowest == 1872


@pytest.mark.parametrize(("board", "unit"), [("n150", 32), ("p150", 64)])
def test_buffers_are_aligned_for_copies_from_dram(board: str, unit: int) -> None:
    """In L1 as well, whose own unit is 16: a page of either can be copied to the other."""
    device = SimDevice(SimChip.of_board(board), SimOptions())
    for space in (MemorySpace.DEVICE_L1, MemorySpace.DEVICE_DRAM):
        first, second = (Buffer(device, 3 * 48, 48, space) for _ in range(2))
        assert first.address % unit == second.address % unit == 0
        assert abs(first.address - second.address) == -(-48 // unit) * unit


@pytest.mark.parametrize(("board", "unit"), [("n150", 32), ("p150", 64)])
def test_circular_buffers_are_aligned_for_copies_from_dram(board: str, unit: int) -> None:
    """Pages of 16 bytes: each begins at the next multiple."""
    device = SimDevice(SimChip.of_board(board), SimOptions())
    program = Program()
    for index in range(3):
        indices = {index: (16, DataType.BF16)}
        spec = CircularBufferSpec(cores=((0, 0),), total_size=16, indices=indices)
        program.add_circular_buffer(spec)
    base = device.chip.l1_unreserved_base
    assert base % unit == 0
    assert addresses(device, program) == [base, base + unit, base + 2 * unit]


def test_buffers_may_come_from_the_other_side() -> None:
    """L1 from the bottom and DRAM from the top, if that is asked for."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions())
    low = Buffer(device, 64, 64, MemorySpace.DEVICE_L1, bottom_up=True)
    assert low.address == device.chip.l1_unreserved_base
    high = Buffer(device, 64, 64, bottom_up=False)
    assert high.address == device.chip.dram_channel_size - 64


def test_allocator_knows_who_has_a_byte() -> None:
    """Start and end of a block, also after its neighbours have gone."""
    allocator = Allocator("L1", 0, 1024, 16, top_down=False)
    first, second, third = (allocator.allocate(size) for size in (16, 40, 16))
    assert allocator.block_at(second + 47) == (second, second + 48)
    assert allocator.block_at(third + 16) is None
    allocator.free(first)
    assert allocator.block_at(first) is None
    assert allocator.block_at(second) == (second, second + 48)


def test_threads_share_an_allocator() -> None:
    """No two have the same bytes, and in the end all are free."""
    allocator = Allocator("L1", 0, 1 << 20, 16, top_down=False)
    owners: dict[int, int] = {}
    barrier = Barrier(4)

    def work(number: int) -> None:
        barrier.wait(60)
        for _ in range(1500):
            mine = [allocator.allocate(16) for _ in range(3)]
            for address in mine:
                assert owners.setdefault(address, number) == number
            for address in mine:
                del owners[address]
                allocator.free(address)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4)))
    finally:
        sys.setswitchinterval(interval)
    assert allocator.taken == []
    assert allocator.largest_gap == 1 << 20


def test_what_is_freed_while_allocating() -> None:
    """The garbage collector may free a tensor at any instruction of `allocate`: nothing waits."""
    allocator = Allocator("L1", 0, 1024, 16, top_down=False)
    garbage, kept = allocator.allocate(16), allocator.allocate(16)

    class Gaps(list[tuple[int, int]]):
        """Gaps that free a buffer as soon as they are looked at."""

        def __iter__(self) -> Iterator[tuple[int, int]]:
            found = super().__iter__()
            if allocator.__dict__.pop("armed", False):
                allocator.free(garbage)
            return found

    allocator.__dict__.update(armed=True, _gaps=Gaps([(32, 1024)]))
    assert allocator.allocate(992) == 32
    assert allocator.taken == [(kept, 16), (32, 992)]
    assert allocator.largest_gap == 16


def test_a_buffer_takes_over_what_is_allocated() -> None:
    """At no time are the bytes free for others."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions())
    allocator = device.allocator(MemorySpace.DEVICE_L1)
    address = allocator.allocate(64)
    with pytest.raises(AllocationError, match="overlap the buffer"):
        Buffer(device, 48, 48, MemorySpace.DEVICE_L1, address=address)
    Buffer(device, 48, 48, MemorySpace.DEVICE_L1, address=address, is_taken=True)
    assert allocator.taken == [(address, 48)]


def test_allocator_refuses_what_does_not_fit() -> None:
    """The message says how much there is, and a map what takes it."""
    allocator = Allocator("L1", 0, 1024, 16, top_down=True)
    allocator.take(512, 128)
    with pytest.raises(AllocationError, match=r"528 bytes per bank do not fit into L1") as caught:
        allocator.allocate(513)
    assert "the largest gap has 512 of its 1024 bytes" in str(caught.value)
    assert "note: L1: 0x200 to 0x280, 128 bytes: buffer" in str(caught.value)
    with pytest.raises(AllocationError, match=r"overlap the buffer at 0x200, which has 128 bytes"):
        allocator.take(639, 16)
    with pytest.raises(AllocationError, match=r"outside of what buffers may take of L1"):
        allocator.take(1020, 16)


@pytest.mark.parametrize("top_down", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_allocator_against_a_map_of_units(top_down: bool, seed: int) -> None:
    """Random buffers come and go; each lies in the first gap from the allocator's side."""
    rng = np.random.default_rng(seed)
    unit, start, units = 16, 64, 60
    allocator = Allocator("L1", start, start + unit * units, unit, top_down=top_down)
    free = np.ones(units, bool)
    taken: dict[int, int] = {}
    for _ in range(400):
        if taken and rng.random() < 0.45:
            address = int(rng.choice(list(taken)))
            allocator.free(address)
            first = (address - start) // unit
            free[first : first + taken.pop(address)] = True
            continue
        wanted = int(rng.integers(1, 12))
        places = [i for i in range(units - wanted + 1) if free[i : i + wanted].all()]
        size = wanted * unit - int(rng.integers(0, unit))
        if not places:
            with pytest.raises(AllocationError, match="do not fit into L1"):
                allocator.allocate(size)
            continue
        place = places[-1] if top_down else places[0]
        address = allocator.allocate(size)
        assert address == start + place * unit
        free[place : place + wanted] = False
        taken[address] = wanted
        runs = "".join(map(str, free.astype(int))).split("0")
        assert allocator.largest_gap == max(map(len, runs)) * unit
    assert allocator.taken == sorted((address, n * unit) for address, n in taken.items())


def test_buffers_interleave_over_banks() -> None:
    """13 pages of 40 bytes: the first bank has two, 64 bytes apart."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions(sanitize=False))
    buffer = Buffer(device, 13 * 40, 40)
    data = np.random.default_rng(0).integers(0, 256, 13 * 40, np.uint8).tobytes()
    buffer.write(data)
    assert buffer.read() == data
    for page in range(13):
        memory = device.dram[page % 12]
        place = buffer.address + page // 12 * 64
        assert bytes(memory.read(place, 40)) == data[40 * page : 40 * page + 40]
    assert Buffer(device, 32, 32).address == buffer.address + 2 * 64
    in_l1 = Buffer(device, 65 * 16, 16, MemorySpace.DEVICE_L1)
    assert in_l1.address == device.chip.l1_size - 2 * 16


def test_buffers_at_an_address() -> None:
    """As the commands of a .ttm file give them, and given back."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions())
    buffer = Buffer(device, 64, 64, MemorySpace.DEVICE_L1, address=0x40000)
    assert buffer.address == 0x40000
    with pytest.raises(AllocationError, match="overlap the buffer at 0x40000"):
        Buffer(device, 64, 64, MemorySpace.DEVICE_L1, address=0x40000)
    buffer.deallocate()
    assert Buffer(device, 64, 64, MemorySpace.DEVICE_L1, address=0x40000).allocated
    with pytest.raises(SimError, match="the buffer at 0x40000 was deallocated"):
        buffer.read()


SHARDING = Sharding(
    layout=TensorMemoryLayout.BLOCK_SHARDED,
    cores=((0, 0), (1, 0), (0, 1), (1, 1)),
    shape=(3, 5),
    shard_shape=(2, 3),
)


def test_sharded_buffers_give_each_core_its_part() -> None:
    """3x5 pages in shards of 2x3: the last row and column of shards are not full."""
    device = SimDevice(SimChip.of_board("n150"), SimOptions())
    buffer = Buffer(device, 15 * 16, 16, MemorySpace.DEVICE_L1, sharding=SHARDING)
    pages = np.arange(15, dtype=np.uint8).repeat(16).reshape(3, 5, 16)
    buffer.write(pages.tobytes())
    for row, column in np.ndindex(3, 5):
        core = device.core(column // 3, row // 2)
        place = buffer.address + (row % 2 * 3 + column % 3) * 16
        assert core.l1.read(place, 1)[0] == 5 * row + column
    assert buffer.read() == pages.tobytes()


def test_shardings_that_cannot_be() -> None:
    """Layouts without shards, too few cores, sizes that differ, shards in DRAM."""
    with pytest.raises(SimError, match="interleaved is no sharded layout"):
        replace(SHARDING, layout=TensorMemoryLayout.INTERLEAVED)
    with pytest.raises(SimError, match="3x5 pages make 4 shards of 2x3, but there are 3 cores"):
        replace(SHARDING, cores=SHARDING.cores[:3])
    device = SimDevice(SimChip.of_board("n150"))
    with pytest.raises(SimError, match="3x5 pages of 16 bytes are 240 bytes, but the buffer has"):
        Buffer(device, 16 * 16, 16, MemorySpace.DEVICE_L1, sharding=SHARDING)
    with pytest.raises(SimError, match="sharded buffers are in l1"):
        Buffer(device, 15 * 16, 16, sharding=SHARDING)


def test_chips() -> None:
    """Numbers that tt-metal's descriptions of the boards give."""
    chip = SimChip.of_board("n150")
    assert (chip.grid, chip.num_dram_channels, chip.clock_hz) == ((8, 8), 12, 10**9)
    assert chip.noc_coordinate((0, 0)) == (1, 1)
    assert chip.noc_coordinate((4, 5)) == (6, 7)
    assert chip.dram[0] == (0, 11)
    assert SimChip.of_board("n300", 1).grid == (8, 8)
    blackhole = SimChip.of_board("p150")
    assert (blackhole.grid, blackhole.num_dram_channels) == ((11, 10), 8)
    assert (blackhole.dram_read_alignment, blackhole.max_packet_size) == (64, 16384)


# The regions of tt-metal's dev_mem_map.h, those of local memories twice as large on Blackhole.
_WORMHOLE_FIRMWARE = 1280 + 10240 + 3 * 16384 + 2 * 4096 + 3 * 2048 + 16384
_BLACKHOLE_FIRMWARE = 1280 + 10240 + 3 * 16384 + 2 * 8192 + 3 * 4096 + 16384


@pytest.mark.parametrize("name", BOARD_NAMES)
def test_firmware_has_its_part_of_l1_on_every_board(name: str) -> None:
    """Equal silicon leaves programs the same room, whatever the board is called."""
    system = board(name)
    for number in range(system.num_chips):
        chip = SimChip.of_board(name, number)
        expected = _BLACKHOLE_FIRMWARE if name.startswith("p") else _WORMHOLE_FIRMWARE
        assert chip.l1_unreserved_base == expected
        assert chip.l1_size - chip.l1_unreserved_base == 1464 * 1024 - expected
        if name != "default":  # tt-mlir's description, which compiled files have, reserves less.
            assert SimChip.from_desc(system.chip(number), name) == chip
    with pytest.raises(
        LayoutError, match="unknown board 'n151'; known are default, n150, n300, p1"
    ):
        SimChip.of_board("n151")
    with pytest.raises(LayoutError, match="chip 1 is not one of the 1 of the system"):
        SimChip.of_board("p150", 1)


def test_chip_of_a_description_has_its_numbering() -> None:
    """The default system numbers its cores from (0, 0), and DRAM below them."""
    (desc,) = default_system_desc().chip_descs
    chip = SimChip.from_desc(desc)
    assert chip.noc_coordinate((3, 6)) == (3, 6)
    assert chip.dram[1] == (0, 9)
    assert chip.l1_unreserved_base == 1024
    assert SimChip.from_desc(board("p150").chip(0), "mine").name == "mine"


def test_chips_that_contradict_themselves() -> None:
    """Each is refused with what is wrong."""
    chip = SimChip.of_board("n150")
    with pytest.raises(SimError, match="64 workers do not fill a grid of 8x7"):
        replace(chip, grid=(8, 7))
    with pytest.raises(SimError, match="two tiles have the same coordinates"):
        replace(chip, dram=(chip.workers[0], *chip.dram[1:]))
    with pytest.raises(SimError, match="is outside of the network"):
        replace(chip, spec=replace(chip.spec, noc_size=(12, 9)))
    with pytest.raises(SimError, match="no room for semaphores"):
        replace(chip, l1_unreserved_base=900)
    with pytest.raises(SimError, match="n150: a chip without channels of DRAM; it needs at least"):
        replace(chip, dram=())
    with pytest.raises(SimError, match="n150: all of L1 is reserved"):
        replace(chip, l1_size=91_392)


def test_options_that_make_no_sense() -> None:
    """Unknown numerics, and a limit that nothing keeps."""
    with pytest.raises(SimError, match="cycle_limit is 0; it has to be at least 1"):
        SimOptions(cycle_limit=0)


def test_buffers_at_high_addresses_take_no_memory_until_they_are_used() -> None:
    """A buffer at the end of every channel of DRAM does not make this machine hold all of them."""
    chip = SimChip.from_desc(default_system_desc().chip(0))
    device = SimDevice(chip, SimOptions())
    with confined(megabytes=200, cpu_seconds=10):
        size = 1024 * chip.num_dram_channels
        address = chip.dram_channel_size - 1024
        buffer = Buffer(device, size, 1024, MemorySpace.DEVICE_DRAM, address=address)
        buffer.deallocate()
    assert sum(memory.data.size for memory in device.dram) == 0


def test_memories_of_a_device_share_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Writing to the ends of several channels stops at the limit, with advice."""
    monkeypatch.setenv(MEMORY_VARIABLE, "0.25")
    device = SimDevice(SimChip.from_desc(default_system_desc().chip(0)), SimOptions())
    device.dram[0].write(200 << 20, b"x")
    with pytest.raises(SimError, match=r"no room for the bytes of DRAM channel 1 .* 0\.25 GiB"):
        device.dram[1].write(200 << 20, b"x")


def test_poison_reaches_what_was_written_only_in_part() -> None:
    """Bytes beyond those that were touched are poisoned as soon as they are read."""
    memory = Memory("DRAM", 1 << 30)
    memory.write(0, bytes(1 << 16))
    memory.poison((1 << 16) - 2, 1 << 20)
    assert memory.data.size == 1 << 16
    assert bytes(memory.read((1 << 16) - 4, 6)) == b"\x00\x00\xff\xff\xff\xff"
    with pytest.raises(SimError, match="are outside of DRAM"):
        memory.poison((1 << 30) - 1, 2)
