"""Published rates and latencies of the networks and of DRAM come out of the model."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from ttmlir.layout.enums import Arch
from ttmlir.sim.timing.noc_model import NocModel
from ttmlir.sim.timing.noc_parameters import BLACKHOLE, WORMHOLE, noc_parameters

WORMHOLE_DRAM = (
    *((0, 11), (0, 1), (0, 5), (0, 7), (5, 1), (5, 11)),
    *((5, 2), (5, 9), (5, 8), (5, 3), (5, 5), (5, 7)),
)
"""Endpoint of each channel (tt-metal, soc_descriptors/wormhole_b0_80_arch.yaml)."""

WORKERS = tuple((x, y) for y in (1, 2, 3, 4, 5, 7, 8, 9) for x in (1, 2, 3, 4, 6, 7, 8, 9))


def wormhole() -> NocModel:
    """The networks of a Wormhole chip."""
    return NocModel(WORMHOLE, {place: channel for channel, place in enumerate(WORMHOLE_DRAM)})


def blackhole() -> NocModel:
    """The networks of a Blackhole chip with one of its channels."""
    return NocModel(BLACKHOLE, {(0, 0): 0})


def rate(transfer: Callable[[int], tuple[int, ...]], size: int, count: int = 400) -> float:
    """Bytes per cycle of transfers that are issued as fast as the core can."""
    now, end = 0, 0
    for _ in range(count):
        now, *_, end = transfer(now)
    return size * count / end


def total_read_rate(readers: list[tuple[int, int]], noc: int, size: int = 2048) -> float:
    """Bytes per cycle of twelve readers of a channel each."""
    model = wormhole()
    times, last = [0] * 12, 0
    for _ in range(200):
        for channel, reader in enumerate(readers):
            start = times[channel]
            times[channel], end = model.read(start, reader, WORMHOLE_DRAM[channel], size, noc)
            last = max(last, end)
    return 12 * 200 * size / last


def test_one_channel_gives_22_bytes_per_cycle() -> None:
    """Read and written by one core: 22.2 and 21.9 GB/s, within 2 %."""
    model = wormhole()
    assert rate(lambda now: model.read(now, (1, 1), (0, 11), 2048, 0), 2048) == pytest.approx(
        22.2, rel=0.02
    )
    model = wormhole()
    assert rate(lambda now: model.write(now, (1, 1), (0, 11), 2048, 1), 2048) == pytest.approx(
        21.9, rel=0.02
    )


def test_more_readers_get_no_more_from_one_channel() -> None:
    """Eight cores together: 22.2 GB/s, within 2 %."""
    model = wormhole()
    times, last = [0] * 8, 0
    for _ in range(100):
        for index, worker in enumerate(WORKERS[:8]):
            times[index], end = model.read(times[index], worker, (0, 5), 2048, 0)
            last = max(last, end)
    assert 8 * 100 * 2048 / last == pytest.approx(22.2, rel=0.02)


def test_well_placed_readers_get_265_bytes_per_cycle() -> None:
    """Each next to its channel: 265.3 to 267.6 GB/s, within 2 %."""
    beside = [(x + 1, y) for x, y in WORMHOLE_DRAM]
    assert total_read_rate(beside, 0) == pytest.approx(266, rel=0.02)


@pytest.mark.parametrize(("noc", "low", "high"), [(0, 189.8, 200.3), (1, 77.5, 82.1)])
def test_readers_at_random_places_share_links(noc: int, low: float, high: float) -> None:
    """The mean of six placements lies within 25 % of the measured range."""
    rng = random.Random(1)
    rates = [total_read_rate(rng.sample(WORKERS, 12), noc) for _ in range(6)]
    assert 0.75 * low <= sum(rates) / len(rates) <= 1.25 * high


@pytest.mark.parametrize(
    ("model", "expected", "size"), [(wormhole(), 31.2, 8192), (blackhole(), 62.2, 16384)]
)
def test_one_core_writes_to_another(model: NocModel, expected: float, size: int) -> None:
    """A stream of packets: 262.4 cycles each (C1), 263.2 on Blackhole (C2), within 2 %."""
    measured = rate(lambda now: model.write(now, (1, 1), (8, 9), size, 0), size)
    assert measured == pytest.approx(expected, rel=0.02)


def test_one_core_reads_from_another() -> None:
    """A stream of packets: 260.5 cycles each (C7), within 2 %."""
    model = wormhole()
    measured = rate(lambda now: model.read(now, (1, 1), (8, 9), 8192, 0), 8192)
    assert measured == pytest.approx(8192 / 260.5, rel=0.02)


@pytest.mark.parametrize(("size", "cycles"), [(32, 277), (2048, 344), (8192, 561)])
def test_multicasts_reserve_their_path_and_are_acknowledged(size: int, cycles: int) -> None:
    """Cycles from one to the next, to 63 cores (C14): within 3 %."""
    model, now = wormhole(), 0
    starts: list[int] = []
    for _ in range(100):
        now, *_ = model.multicast(now, (1, 1), WORKERS[1:], size, 0)
        starts.append(now)
    assert (starts[-1] - starts[10]) / 89 == pytest.approx(cycles, rel=0.03)


def test_multicasts_to_fewer_cores_are_faster() -> None:
    """24 cores, 9 hops away at most (C15): 181 cycles from one to the next, within 3 %."""
    model, now = wormhole(), 0
    square = tuple((x, y) for y in (1, 2, 3, 4, 5) for x in (1, 2, 3, 4, 6))[1:]
    starts: list[int] = []
    for _ in range(100):
        now, *_ = model.multicast(now, (1, 1), square, 32, 0)
        starts.append(now)
    assert (starts[-1] - starts[10]) / 89 == pytest.approx(181, rel=0.03)


def test_linked_multicasts_keep_their_path() -> None:
    """8 KiB to all: 25.6 bytes per cycle, one cycle more for each of 63 acknowledgements."""
    model = wormhole()
    measured = rate(lambda now: model.multicast(now, (1, 1), WORKERS[1:], 8192, 0, True), 8192)
    assert measured == pytest.approx(25.6, rel=0.02)


@pytest.mark.parametrize(("size", "cycles"), [(64, 109), (16384, 360)])
def test_linked_multicasts_of_blackhole(size: int, cycles: int) -> None:
    """From one to the next, to 109 cores (C15b): within 4 %."""
    model, now = blackhole(), 0
    rectangle = tuple((x, y) for y in range(2, 12) for x in (*range(1, 8), *range(10, 14)))[1:]
    starts: list[int] = []
    for _ in range(100):
        now, *_ = model.multicast(now, (1, 2), rectangle, size, 0, True)
        starts.append(now)
    assert (starts[-1] - starts[10]) / 89 == pytest.approx(cycles, rel=0.04)


def test_one_core_writes_to_all_and_reads_from_all() -> None:
    """One to all and one from all: 31 and 30 bytes per cycle, within 10 %."""
    model, now, end = wormhole(), 0, 0
    for _ in range(8):
        for worker in WORKERS[1:]:
            now, *_, end = model.write(now, (1, 1), worker, 8192, 0)
    assert 8 * 63 * 8192 / end == pytest.approx(31, rel=0.1)
    model, now = wormhole(), 0
    for _ in range(8):
        for worker in WORKERS[1:]:
            now, end = model.read(now, (1, 1), worker, 8192, 0)
    assert 8 * 63 * 8192 / end == pytest.approx(30, rel=0.1)


@pytest.mark.parametrize(
    ("size", "flits"), [(32, 2), (1000, 33), (1024, 33), (8192, 257), (8193, 259)]
)
def test_packets_have_a_header(size: int, flits: int) -> None:
    """Flits of 32 bytes, one more for each packet of at most 8 KiB, of 1.02 cycles each."""
    model = wormhole()
    model.write(0, (1, 1), (2, 1), size, 0)
    (passed,) = [busy for name, busy in model.network_resources() if "right" in name]
    assert passed == pytest.approx(1.02 * flits)


def test_large_write_is_issued_packet_by_packet() -> None:
    """The processor waits until the last of eight packets begins to leave."""
    issued, departed, *_ = wormhole().write(0, (1, 1), (2, 1), 65536, 0)
    assert departed - issued == pytest.approx(1.02 * 257, abs=1)


def test_channel_takes_a_read_every_6_8_cycles() -> None:
    """Eight cores that read 64 bytes each get 64 / 6.8 bytes per cycle, not 22; within 2 %."""
    model = wormhole()
    times, last = [0] * 8, 0
    for _ in range(400):
        for index, worker in enumerate(WORKERS[:8]):
            times[index], end = model.read(times[index], worker, (0, 5), 64, 0)
            last = max(last, end)
    assert 8 * 400 * 64 / last == pytest.approx(64 / 6.8, rel=0.02)


@pytest.mark.parametrize(
    ("source", "latency"), [((3, 4), 70), ((3, 9), 154), ((8, 4), 170), ((8, 9), 270)]
)
def test_read_latency_depends_on_where_the_bytes_are(source: tuple[int, int], latency: int) -> None:
    """tt-npe's constants, plus two flits, after 13 cycles to issue the read."""
    assert wormhole().read(1000, (3, 4), source, 32, 0) == (1013, 1013 + latency + 2)


def test_single_read_from_dram_of_blackhole() -> None:
    """2 KiB take about 570 cycles, of which 438 are fixed; the bytes are modelled faster."""
    _, end = blackhole().read(0, (3, 4), (0, 0), 2048, 0)
    assert end == pytest.approx(570, rel=0.15)


@pytest.mark.parametrize(
    ("noc", "source", "target", "hops"),
    [
        (0, (1, 1), (3, 4), 5),
        (0, (3, 4), (1, 1), 8 + 9),
        (1, (3, 4), (1, 1), 5),
        (1, (1, 1), (3, 4), 8 + 9),
        (0, (9, 11), (9, 11), 0),
    ],
)
def test_networks_go_around_in_opposite_directions(
    noc: int, source: tuple[int, int], target: tuple[int, int], hops: int
) -> None:
    """On a torus of 10 columns and 12 rows, one way only."""
    assert wormhole().hops(noc, source, target) == hops


def test_networks_use_routers_of_their_own_for_a_channel() -> None:
    """The first of Blackhole: (0, 11) on network 0 and (0, 1) on network 1, whatever it is called;
    the sixth: (9, 3) and (9, 10)."""
    model = NocModel(BLACKHOLE, {(0, 0): 0, (9, 2): 5})
    assert [model.hops(noc, (1, 2), (0, 0)) for noc in (0, 1)] == [16 + 9, 1 + 1]
    assert [model.hops(noc, (7, 2), (9, 2)) for noc in (0, 1)] == [2 + 1, 15 + 4]
    assert wormhole().hops(0, (1, 1), (5, 2)) == wormhole().hops(1, (5, 2), (1, 1)) == 5


def test_write_takes_its_hops() -> None:
    """60 cycles and 10 per hop, and two flits; the answer comes back the rest of the ring."""
    issued, departed, arrived, acknowledged = wormhole().write(0, (1, 1), (3, 4), 32, 0)
    assert (issued, departed, arrived) == (19, 21, 21 + 60 + 50)
    assert acknowledged - arrived == 10 + 10 * (8 + 9)


def test_word_is_not_fetched_from_l1_but_on_blackhole() -> None:
    """It leaves with the command. Blackhole puts what is written into L1 first, but no sums."""
    issued, departed, arrived, _ = wormhole().write_word(0, (1, 1), (3, 4), 0)
    assert (issued, departed, arrived) == (13, 15, 15 + 24 + 5 * 10)
    assert wormhole().atomic(0, (1, 1), (3, 4), 0)[:3] == (13, 15, 15 + 24 + 5 * 10)
    issued, departed, arrived, _ = blackhole().write_word(0, (1, 1), (3, 4), 0)
    assert (issued, departed, arrived) == (33, 35, 35 + 60 + 5 * 9)
    assert blackhole().atomic(0, (1, 1), (3, 4), 0)[:3] == (13, 15, 15 + 40 + 5 * 9)


def test_dram_answers_later_than_a_core() -> None:
    """A write of 64 bytes on Blackhole: 63 cycles later (C4 less C2)."""
    *_, core = blackhole().write(0, (1, 2), (2, 3), 64, 0)
    *_, dram = NocModel(BLACKHOLE, {(2, 3): 0}).write(0, (1, 2), (2, 3), 64, 0)
    assert dram - core == pytest.approx(63, abs=2)


def test_packets_for_several_receivers_block_each_other() -> None:
    """Two cores of a column read from above them: the link that both need loses cycles.

    Only packets of more than 1 KiB do so, as routers hold shorter ones. The two cores together
    get less than 31.2 bytes per cycle then, and as much as one alone otherwise.
    """
    rates: list[float] = []
    for size, readers in ((8192, 1), (8192, 2), (1024, 2)):
        model, times, last = wormhole(), [0] * 2, 0
        for _ in range(200):
            for index in range(readers):
                start = times[index]
                times[index], end = model.read(start, (1, 4 + index), (1, 1 + index), size, 0)
                last = max(last, end)
        rates.append(200 * readers * size / last)
    alone, together, short = rates
    assert alone == pytest.approx(31.2, rel=0.03)
    assert 31.2 / 1.4 < together < 0.85 * alone
    assert short > 29


def test_routes_turn_once() -> None:
    """NoC 0 goes along the row first, NoC 1 along the column: so they meet other traffic."""
    model = wormhole()
    model.write(0, (1, 1), (3, 4), 32, 0)
    model.write(0, (3, 4), (1, 1), 32, 1)
    names = [name for name, _ in model.network_resources() if "from" in name]
    assert names == [
        "NoC 0 from (1, 1) right",
        "NoC 0 from (2, 1) right",
        "NoC 0 from (3, 1) down",
        "NoC 0 from (3, 2) down",
        "NoC 0 from (3, 3) down",
        "NoC 1 from (3, 4) up",
        "NoC 1 from (3, 3) up",
        "NoC 1 from (3, 2) up",
        "NoC 1 from (3, 1) left",
        "NoC 1 from (2, 1) left",
    ]


def test_small_write_does_not_overtake_a_large_one() -> None:
    """A flag that is written behind data to the same core arrives after it, even a multicast."""
    model = wormhole()
    *_, data, _ = model.multicast(0, (1, 1), ((2, 1), (9, 1)), 8192, 0)
    *_, flag, _ = model.write(0, (1, 1), (2, 1), 4, 0)
    assert flag >= data
    *_, elsewhere, _ = model.write(0, (1, 1), (2, 1), 4, 1)
    assert elsewhere < data


def test_multicast_passes_every_link_once() -> None:
    """Seven targets in a row: seven links, each busy for the bytes of one transfer."""
    model = wormhole()
    model.multicast(0, (1, 1), tuple((x, 1) for x in (2, 3, 4, 6, 7, 8, 9)), 3000, 0)
    links = [cycles for name, cycles in model.network_resources() if "right" in name]
    assert links == [1.02 * (1 + 94)] * 8


def test_multicast_to_nobody_is_over_at_once() -> None:
    """A rectangle without receivers costs nothing but its issue."""
    assert wormhole().multicast(7, (1, 1), (), 64, 0) == (7, 7, 7, 7)


def test_ways_are_found_once_and_do_not_depend_on_each_other() -> None:
    """A read and a write between the same cores take opposite ways, in either order."""
    reads_first, writes_first = wormhole(), wormhole()
    read = reads_first.read(0, (1, 1), (3, 4), 2048, 0)
    write = writes_first.write(0, (1, 1), (3, 4), 2048, 0)
    assert reads_first.write(0, (1, 1), (3, 4), 2048, 0) == write
    assert writes_first.read(0, (1, 1), (3, 4), 2048, 0) == read
    later = 10_000
    assert reads_first.read(later, (1, 1), (3, 4), 2048, 0) == (read[0] + later, read[1] + later)


def test_order_of_bookings_matters_little() -> None:
    """The same transfers, booked in blocks that are shuffled, are over at nearly the same time."""
    rng = random.Random(2)
    transfers = [(40 * index, rng.choice(WORKERS), rng.choice(WORKERS)) for index in range(2000)]

    def finish(order: list[tuple[int, tuple[int, int], tuple[int, int]]]) -> int:
        model = wormhole()
        return max(model.write(start, core, to, 2048, 0)[2] for start, core, to in order)

    shuffled: list[tuple[int, tuple[int, int], tuple[int, int]]] = []
    for first in range(0, len(transfers), 20):
        block = transfers[first : first + 20]
        shuffled += rng.sample(block, len(block))
    assert finish(shuffled) == pytest.approx(finish(transfers), rel=0.02)


def test_places_outside_of_the_network_are_refused() -> None:
    """Rather than looked for around the ring for ever."""
    with pytest.raises(ValueError, match=r"\(3, 12\) is outside of the network of 10x12 routers"):
        wormhole().read(0, (1, 1), (3, 12), 32, 0)


def test_chips_without_numbers_are_refused() -> None:
    """The message names those that have some."""
    assert noc_parameters(Arch.BLACKHOLE) is BLACKHOLE
    with pytest.raises(ValueError, match="no timings for grayskull; use wormhole_b0 or blackhole"):
        noc_parameters(Arch.GRAYSKULL)
