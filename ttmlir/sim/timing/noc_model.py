"""When the transfers on a chip's two networks leave and arrive.

A transfer books the time that it takes on everything on its way: the interface of the core that it
leaves, the links between routers, the interface that it enters or the channel of DRAM behind it.
Each of these does one thing at a time; its time is kept in buckets, so transfers may be booked in
an order that differs a little from that of their starts. The transfer is over when the slowest
of its bookings is, and a latency that depends on the way.

Sources: tt-isa-documentation, WormholeB0/NoC (routes, ordering), and those of
`ttmlir.sim.timing.noc_parameters`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ttmlir.sim.timing.costs import NOC_ISSUE
from ttmlir.sim.timing.noc_parameters import NocParameters

Coord = tuple[int, int]
"""Column and row of a router, counted as by NoC 0 whichever network is meant."""

BUCKET_BITS = 9
BUCKET = 1 << BUCKET_BITS
BUCKET_MASK = BUCKET - 1
"""Cycles that a resource accounts for together."""

KEPT_BUCKETS = 8192
"""Of older buckets a resource forgets how busy it was."""


class Resource:
    """Something that serves one transfer at a time."""

    __slots__ = ("busy", "full", "name", "total")

    def __init__(self, name: str) -> None:
        """A resource that nothing has been booked on."""
        self.name = name
        self.total = 0.0
        """Cycles booked so far."""
        self.busy: dict[int, float] = {}
        self.full: dict[int, int] = {}

    def book(self, start: int, cycles: float) -> tuple[int, int]:
        """Reserve `cycles` from `start` on, in pieces where others were first: begin and end."""
        self.total += cycles
        if len(self.busy) > KEPT_BUCKETS:
            self._forget()
        bucket = start >> BUCKET_BITS
        used = self.busy.get(bucket, 0.0)
        position = max(start, (bucket << BUCKET_BITS) + used)
        if used + cycles <= BUCKET:
            self.busy[bucket] = used + cycles
            return int(position), int(position + cycles + 0.5)
        return self._book_in_pieces(bucket, position, cycles)

    def _book_in_pieces(self, bucket: int, position: float, cycles: float) -> tuple[int, int]:
        """Fill a bucket from a position on, and then those after it: begin and end."""
        if bucket in self.full:
            bucket = self._first_with_room(bucket)
            position = (bucket << BUCKET_BITS) + self.busy.get(bucket, 0.0)
        begin = int(position)
        room = (bucket + 1 << BUCKET_BITS) - position
        while cycles > room:
            used = self.busy.get(bucket, 0.0) + room
            self.busy[bucket] = used
            if used >= BUCKET - 0.5:
                self.full[bucket] = bucket + 1
            cycles -= room
            bucket = self._first_with_room(bucket + 1)
            used = self.busy.get(bucket, 0.0)
            position = (bucket << BUCKET_BITS) + used
            room = BUCKET - used
        self.busy[bucket] = self.busy.get(bucket, 0.0) + cycles
        return begin, int(position + cycles + 0.5)

    def _first_with_room(self, bucket: int) -> int:
        """The first bucket from this one on that is not full; full ones are skipped in jumps."""
        full = self.full
        passed: list[int] = []
        while bucket in full:
            passed.append(bucket)
            bucket = full[bucket]
        for each in passed:
            full[each] = bucket
        return bucket

    def _forget(self) -> None:
        """Drop the older half of the buckets."""
        for bucket in sorted(self.busy)[: KEPT_BUCKETS // 2]:
            del self.busy[bucket]
            self.full.pop(bucket, None)


class _Way:
    """The links of a route or of a tree of routes, what they lead into, the most hops."""

    __slots__ = ("hops", "links", "sinks")

    def __init__(
        self, links: Sequence[Resource], hops: int, sinks: Sequence[Resource] = ()
    ) -> None:
        self.links = links
        self.hops = hops
        self.sinks = sinks


class NocModel:
    """The two networks of a chip, with its channels of DRAM.

    Times are cycles. A transaction starts when the processor begins to issue it; a method returns
    first when the processor has done that, and last when everything is over.
    """

    def __init__(self, parameters: NocParameters, dram: Mapping[Coord, int]) -> None:
        """Networks that carry nothing yet; `dram` says which routers lead to which channel."""
        self.parameters = parameters
        self._dram = dict(dram)
        self._links: dict[tuple[int, bool, Coord], Resource] = {}
        self._ways: dict[tuple[int, Coord, Coord], _Way] = {}
        self._trees: dict[tuple[int, Coord, tuple[Coord, ...]], _Way] = {}
        self._outgoing: dict[tuple[int, Coord], Resource] = {}
        self._incoming: dict[tuple[int, Coord], Resource] = {}
        self._requests: dict[tuple[int, Coord], Resource] = {}
        self._pairs: dict[tuple[Coord, int], Resource] = {}
        self._channels = {
            channel: Resource(f"DRAM channel {channel}") for channel in sorted(set(dram.values()))
        }
        self._occupancies: dict[int, float] = {}
        self._last: dict[tuple[int, Coord, Coord], int] = {}
        self.dram_bytes = 0
        """Read from and written to DRAM so far."""
        self._has_pair_rate = parameters.dram_pair_rate < parameters.dram_read_rate

    def read(self, start: int, core: Coord, source: Coord, size: int, noc: int) -> tuple[int, int]:
        """`core` reads `size` bytes from `source`: when it has asked, and when they are there."""
        start += NOC_ISSUE
        parameters = self.parameters
        channel = self._dram.get(source)
        if channel is None:
            latency = 0
            begin, end = self._outgoing_of(noc, source).book(
                start, size / parameters.interface_rate
            )
        else:
            latency = parameters.dram_latency
            self.dram_bytes += size
            begin, _ = self._requests_of(noc, source).book(
                start, parameters.dram_request_interval * -(-size // parameters.packet_bytes)
            )
            begin, end = self._channels[channel].book(begin, size / parameters.dram_read_rate)
            end = max(end, self._pair_end(begin, core, channel, size))
        way = self._way(noc, source, core)
        end = max(end, _book_all(way.links, begin, size / parameters.link_rate))
        _, last = self._incoming_of(noc, core).book(begin, self._occupancy(size))
        arrival = max(end, last) + latency + self._read_latency(core, source)
        return start, arrival

    def write(
        self, start: int, core: Coord, target: Coord, size: int, noc: int
    ) -> tuple[int, int, int, int]:
        """`core` writes `size` bytes to `target`: issued, departed, arrived, acknowledged.

        A write is issued when it begins to leave. Writes of a core to one target arrive in the
        order in which they were issued.
        """
        start += NOC_ISSUE
        parameters = self.parameters
        way = self._way(noc, core, target)
        begin, departed = self._outgoing_of(noc, core).book(start, self._occupancy(size))
        end = max(departed, _book_all(way.links, begin, size / parameters.link_rate))
        channel = self._dram.get(target)
        if channel is None:
            _, last = self._incoming_of(noc, target).book(begin, size / parameters.interface_rate)
        else:
            self.dram_bytes += size
            _, last = self._channels[channel].book(begin, size / parameters.dram_write_rate)
        latency = parameters.write_latency + parameters.hop_latency * way.hops
        arrival = self._in_order(noc, core, target, max(end, last) + latency)
        return begin, departed, arrival, arrival + self._answer_latency(noc, target, core)

    def multicast(
        self,
        start: int,
        core: Coord,
        targets: tuple[Coord, ...],
        size: int,
        noc: int,
        linked: bool = False,
    ) -> tuple[int, int, int, int]:
        """`core` writes the same bytes to all `targets`: issued, departed, arrived, acknowledged.

        The bytes pass each link of the tree of routes once; the slowest target sets the pace.
        """
        if not targets:
            return start, start, start, start
        parameters = self.parameters
        start += NOC_ISSUE
        tree = self._tree(noc, core, targets)
        rate = parameters.linked_multicast_rate if linked else parameters.multicast_rate
        cycles = max(size / rate, self._occupancy(size))
        begin, departed = self._outgoing_of(noc, core).book(start, cycles)
        end = max(departed, _book_all(tree.links, begin, size / parameters.link_rate))
        end = max(end, _book_all(tree.sinks, begin, size / parameters.interface_rate))
        latency = parameters.write_latency + parameters.hop_latency * tree.hops
        arrival = self._in_order(noc, core, targets[0], end + latency)
        for target in targets[1:]:
            self._in_order(noc, core, target, arrival)
        return begin, departed, arrival, arrival + self._answer_latency(noc, targets[-1], core)

    def atomic(self, start: int, core: Coord, target: Coord, noc: int) -> tuple[int, int, int, int]:
        """`core` changes a word of `target`: issued, departed, arrived, acknowledged."""
        return self.write(start, core, target, 4, noc)

    def hops(self, noc: int, source: Coord, target: Coord) -> int:
        """Links that a packet passes on its way."""
        return self._way(noc, source, target).hops

    @property
    def dram_peak(self) -> float:
        """Bytes per cycle of all channels, as measured."""
        return len(self._channels) * self.parameters.dram_read_rate

    def dram_resources(self) -> Iterator[tuple[str, float]]:
        """What DRAM consists of: names, and cycles that each was busy."""
        for group in (self._channels, self._requests):
            yield from _booked(group.values())

    def network_resources(self) -> Iterator[tuple[str, float]]:
        """Interfaces and links: names, and cycles that each was busy."""
        for group in (self._outgoing, self._incoming, self._links):
            yield from _booked(group.values())

    def _occupancy(self, size: int) -> float:
        """Cycles of the interface of the core that asks for a transfer, by its packets."""
        cycles = self._occupancies.get(size)
        if cycles is None:
            parameters = self.parameters
            packets, rest = divmod(size, parameters.packet_bytes)
            sizes = [parameters.packet_bytes] * packets + [rest] * (rest > 0)
            cycles = sum(
                each / min(parameters.stream_rate(each), parameters.interface_rate)
                for each in sizes
            )
            self._occupancies[size] = cycles
        return cycles

    def _pair_end(self, begin: int, core: Coord, channel: int, size: int) -> int:
        """When one core's own transfers with a channel allow a transfer to be over."""
        if not self._has_pair_rate:
            return begin
        pair = self._pairs.get((core, channel))
        if pair is None:
            pair = self._pairs[core, channel] = Resource(f"core {core} and channel {channel}")
        return pair.book(begin, size / self.parameters.dram_pair_rate)[1]

    def _in_order(self, noc: int, core: Coord, target: Coord, arrival: int) -> int:
        """The arrival of a write, not before that of an earlier one on the same way."""
        key = noc, core, target
        arrival = max(arrival, self._last.get(key, 0))
        self._last[key] = arrival
        return arrival

    def _read_latency(self, core: Coord, source: Coord) -> int:
        same, column, row, other = self.parameters.read_latency
        if core == source:
            return same
        if core[0] == source[0]:
            return column
        return row if core[1] == source[1] else other

    def _answer_latency(self, noc: int, source: Coord, target: Coord) -> int:
        """Cycles of an acknowledgement, a packet of one flit."""
        return 10 + self.parameters.hop_latency * self._way(noc, source, target).hops

    def _way(self, noc: int, source: Coord, target: Coord) -> _Way:
        key = noc, source, target
        way = self._ways.get(key)
        if way is None:
            self._check(source)
            self._check(target)
            links = tuple(self._route(noc, source, target))
            way = self._ways[key] = _Way(links, len(links))
        return way

    def _check(self, place: Coord) -> None:
        columns, rows = self.parameters.columns, self.parameters.rows
        if not (0 <= place[0] < columns and 0 <= place[1] < rows):
            raise ValueError(f"{place} is outside of the network of {columns}x{rows} routers")

    def _tree(self, noc: int, source: Coord, targets: tuple[Coord, ...]) -> _Way:
        key = noc, source, targets
        tree = self._trees.get(key)
        if tree is None:
            ways = [self._way(noc, source, target) for target in targets]
            links = dict.fromkeys(link for way in ways for link in way.links)
            sinks = [self._incoming_of(noc, target) for target in targets]
            tree = self._trees[key] = _Way(tuple(links), max(way.hops for way in ways), sinks)
        return tree

    def _route(self, noc: int, source: Coord, target: Coord) -> Iterable[Resource]:
        """The links on the way: NoC 0 goes right, then down; NoC 1 goes up, then left."""
        extents = self.parameters.columns, self.parameters.rows
        step, axes = (1, (0, 1)) if noc == 0 else (-1, (1, 0))
        place = list(source)
        for axis in axes:
            while place[axis] != target[axis]:
                yield self._link(noc, axis == 0, (place[0], place[1]))
                place[axis] = (place[axis] + step) % extents[axis]

    def _link(self, noc: int, along_row: bool, place: Coord) -> Resource:
        key = noc, along_row, place
        link = self._links.get(key)
        if link is None:
            direction = (("right", "left") if along_row else ("down", "up"))[noc]
            link = self._links[key] = Resource(f"NoC {noc} from {place} {direction}")
        return link

    def _outgoing_of(self, noc: int, place: Coord) -> Resource:
        return _interface(self._outgoing, noc, place, "out of")

    def _incoming_of(self, noc: int, place: Coord) -> Resource:
        return _interface(self._incoming, noc, place, "into")

    def _requests_of(self, noc: int, place: Coord) -> Resource:
        return _interface(self._requests, noc, place, "requests at")


def _booked(resources: Iterable[Resource]) -> Iterator[tuple[str, float]]:
    return ((each.name, each.total) for each in resources if each.total)


def _interface(
    interfaces: dict[tuple[int, Coord], Resource], noc: int, place: Coord, what: str
) -> Resource:
    interface = interfaces.get((noc, place))
    if interface is None:
        interface = interfaces[noc, place] = Resource(f"NoC {noc} {what} {place}")
    return interface


def _book_all(resources: Sequence[Resource], start: int, cycles: float) -> int:
    """Book resources one after the other, each from when the one before begins: the latest end.

    This is `Resource.book`, written out for those that are free: most links are, most of the time.
    """
    latest = int(start + cycles + 0.5)
    bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
    limit = min(float(offset), BUCKET - cycles)
    for resource in resources:
        used = resource.busy.get(bucket, 0.0)
        if used <= limit:
            resource.busy[bucket] = used + cycles
            resource.total += cycles
            continue
        start, end = resource.book(start, cycles)
        latest = max(latest, end)
        bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
        limit = min(float(offset), BUCKET - cycles)
    return latest
