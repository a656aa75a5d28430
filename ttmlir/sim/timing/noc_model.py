"""When the transfers on a chip's two networks leave and arrive.

A transfer books the time that it takes on everything on its way: the interface of the core that it
leaves, the links between routers, the interface that it enters or the channel of DRAM behind it.
The transfer is over when the slowest of its bookings is, and a latency that depends on the way.

Sources: tt-isa-documentation, WormholeB0/NoC (routes, ordering), and those of
`ttmlir.sim.timing.noc_parameters`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from ttmlir.errors import ArgumentError
from ttmlir.sim.timing.noc_parameters import NocParameters

# --- Bookings -------------------------------------------------------------------------------------
# Who has a resource when: links, interfaces and channels that serve one transfer at a time.
#
# The time of a resource is kept in buckets: how many of its cycles are taken, not which. So
# transfers may be booked in an order that differs a little from that of their starts. Resources are
# numbered; a row holds what is taken of one bucket of all of them, because the bookings of a
# transfer all fall into the same bucket or two.

BUCKET_BITS = 9
BUCKET = 1 << BUCKET_BITS
BUCKET_MASK = BUCKET - 1
"""Cycles that are accounted for together."""

SHARED_BUCKETS = 4
"""Those who wait for a resource within so many buckets are taken to wait at the same time."""

Loss = tuple[float, float]
"""Cycles that a link loses when a packet has to wait for it: if those of another user wait as well,
and what is added to that with more and more users."""

NO_LOSS: Loss = (0.0, 0.0)

KEPT_BUCKETS = 4096
"""What was taken of older buckets is forgotten."""


class Bookings:
    """The resources of a chip, and what is taken of their time."""

    __slots__ = ("_full", "_names", "_rows", "_totals", "_users")

    def __init__(self) -> None:
        """No resource yet."""
        self._names: list[str] = []
        self._totals: list[float] = []
        self._users: list[tuple[int, int, set[int]]] = []
        """Of each resource: the last `SHARED_BUCKETS` in which somebody waited for it, by their
        number, how many did in those before, and who did in these."""
        self._rows: dict[int, list[float]] = {}
        self._full: list[dict[int, int]] = []
        """Of each resource: buckets that are full, and the next one that may not be."""

    def __len__(self) -> int:
        """How many buckets are accounted for."""
        return len(self._rows)

    def add(self, name: str) -> int:
        """A new resource, which is free: its number."""
        self._names.append(name)
        self._totals.append(0.0)
        self._users.append((-2, 0, set()))
        self._full.append({})
        for row in self._rows.values():
            row.append(0.0)
        return len(self._names) - 1

    def totals(self, resources: Iterable[int]) -> Iterator[tuple[str, float]]:
        """Names of those of the resources that were used, and cycles that were booked on them."""
        for each in resources:
            if self._totals[each]:
                yield self._names[each], self._totals[each]

    def without_times(self) -> Bookings:
        """The same totals, without when they were booked."""
        found = Bookings()
        found._names, found._totals = self._names, self._totals
        return found

    def book(self, resource: int, start: int, cycles: float) -> tuple[int, int]:
        """Reserve `cycles` from `start` on, in pieces where others were first: begin and end."""
        self._totals[resource] += cycles
        bucket = start >> BUCKET_BITS
        row = self._rows.get(bucket) or self._new_row(bucket)
        used = row[resource]
        if used + cycles <= BUCKET:
            row[resource] = used + cycles
            offset = start & BUCKET_MASK
            if used <= offset:
                return start, int(start + cycles + 0.5)
            position = start - offset + used
            return int(position), int(position + cycles + 0.5)
        position = max(start, (bucket << BUCKET_BITS) + used)
        return self._book_in_pieces(resource, bucket, position, cycles)

    def book_read(
        self,
        way: _Way,
        request: float,
        leaving: float,
        passing: float,
        start: int,
        loss: Loss,
    ) -> int:
        """Book all that a read takes: when the last resource has served it.

        First come the requests for `request` cycles, if something takes them, then the source for
        `leaving`; links and target serve for `passing` from when it begins. This is `book` and
        `book_all`, written out for resources that are free.
        """
        bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
        row = self._rows.get(bucket) or self._new_row(bucket)
        totals = self._totals
        resource = way.requests
        if resource >= 0:
            used = row[resource]
            if used <= offset and used + request <= BUCKET:
                row[resource] = used + request
                totals[resource] += request
            else:
                start, _ = self.book(resource, start, request)
                bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
                row = self._rows.get(bucket) or self._new_row(bucket)
        resource = way.source
        used = row[resource]
        if used <= offset and used + leaving <= BUCKET:
            row[resource] = used + leaving
            totals[resource] += leaving
            latest = int(start + leaving + 0.5)
        else:
            start, latest = self.book(resource, start, leaving)
            bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
            row = self._rows.get(bucket) or self._new_row(bucket)
        resource = way.target
        passed = self.book_all(way.links, start, passing, resource, loss)
        used = row[resource]
        if used <= offset and used + passing <= BUCKET:
            row[resource] = used + passing
            totals[resource] += passing
            entered = int(start + passing + 0.5)
        else:
            _, entered = self.book(resource, start, passing)
        if passed > latest:
            latest = passed
        return entered if entered > latest else latest

    def book_all(
        self,
        resources: Sequence[int],
        start: int,
        cycles: float,
        user: int = 0,
        loss: Loss = NO_LOSS,
    ) -> int:
        """Book resources one after the other, each from when the one before begins: the latest end.

        One that is not free in time, while others wait for it as well, is booked for what is lost
        by that.
        This is `book`, written out for those that are free: most links are, most of the time.
        """
        latest = int(start + cycles + 0.5)
        bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
        room = BUCKET - cycles
        limit = offset if offset < room else room
        rows, totals = self._rows, self._totals
        row = rows.get(bucket) or self._new_row(bucket)
        for resource in resources:
            used = row[resource]
            totals[resource] += cycles
            if used <= limit:
                row[resource] = used + cycles
                continue
            if used <= room:
                row[resource] = used + cycles
                position = start - offset + used
                begin, end = int(position), int(position + cycles + 0.5)
            else:
                position = max(start, (bucket << BUCKET_BITS) + used)
                begin, end = self._book_in_pieces(resource, bucket, position, cycles)
            if loss is not NO_LOSS and end > start + cycles + 1:
                users = self._count_users(resource, user, bucket)
                if users > 1:
                    _, end = self.book(resource, end, loss[0] + loss[1] * (1 - 2 / users))
            if end > latest:
                latest = end
            start = begin
            offset = start & BUCKET_MASK
            limit = offset if offset < room else room
            if start >> BUCKET_BITS != bucket:
                bucket = start >> BUCKET_BITS
                row = rows.get(bucket) or self._new_row(bucket)
        return latest

    def _count_users(self, resource: int, user: int, bucket: int) -> int:
        """How many users waited for a resource at about the same time, this one included."""
        span = bucket // SHARED_BUCKETS
        last, before, now = self._users[resource]
        if span > last:
            before, now = (len(now) if span == last + 1 else 0), set[int]()
            self._users[resource] = span, before, now
        now.add(user)
        return max(before, len(now))

    def _new_row(self, bucket: int) -> list[float]:
        """The row of a bucket, which nobody has taken anything of if it is not there."""
        row = self._rows.get(bucket)
        if row is None:
            if len(self._rows) >= KEPT_BUCKETS:
                self._forget()
            row = self._rows[bucket] = [0.0] * len(self._names)
        return row

    def _book_in_pieces(
        self, resource: int, bucket: int, position: float, cycles: float
    ) -> tuple[int, int]:
        """Fill a bucket from a position on, and then those after it: begin and end."""
        full, rows = self._full[resource], self._rows
        if bucket in full:
            bucket = full[bucket]
            if bucket in full:
                bucket = _first_with_room(full, bucket)
            row = rows.get(bucket) or self._new_row(bucket)
            position = (bucket << BUCKET_BITS) + row[resource]
        else:
            row = rows.get(bucket) or self._new_row(bucket)
        begin = int(position)
        room = (bucket + 1 << BUCKET_BITS) - position
        while cycles > room:
            used = row[resource] + room
            row[resource] = used
            if used >= BUCKET - 0.5:
                full[bucket] = bucket + 1
            cycles -= room
            bucket += 1
            if bucket in full:
                bucket = _first_with_room(full, bucket)
            row = rows.get(bucket) or self._new_row(bucket)
            used = row[resource]
            position = (bucket << BUCKET_BITS) + used
            room = BUCKET - used
        row[resource] += cycles
        return begin, int(position + cycles + 0.5)

    def _forget(self) -> None:
        """Drop the older half of the buckets."""
        oldest = sorted(self._rows)[: KEPT_BUCKETS // 2]
        for bucket in oldest:
            del self._rows[bucket]
        for full in self._full:
            for bucket in [each for each in full if each <= oldest[-1]]:
                del full[bucket]


def _first_with_room(full: dict[int, int], bucket: int) -> int:
    """The first bucket from this one on that is not full; full ones are skipped in jumps."""
    passed: list[int] = []
    while bucket in full:
        passed.append(bucket)
        bucket = full[bucket]
    for each in passed:
        full[each] = bucket
    return bucket


# --- The networks ---------------------------------------------------------------------------------

Coord = tuple[int, int]
"""Column and row of a router, counted as by NoC 0 whichever network is meant."""

Numbers = dict[tuple[int, Coord], int]
"""Numbers of resources by network and place."""


class _Way:
    """A route from one place to another: what a transfer on it books, and its latencies.

    `source` and `target` are what it leaves and enters: interfaces, or a channel of DRAM.
    """

    __slots__ = (
        *("answer_latency", "hops", "last", "links", "read_latency"),
        *("requests", "source", "target", "write_latency"),
    )

    def __init__(self, links: tuple[int, ...], source: int, target: int) -> None:
        self.links = links
        self.hops = len(links)
        self.source = source
        self.target = target
        self.read_latency = 0
        self.write_latency = 0
        """Of the hops alone."""
        self.answer_latency = 0
        self.requests = -1
        """What takes the requests of reads from DRAM; -1 for reads from a core."""
        self.last = 0
        """When the last write on this way arrived: writes keep their order."""


class _Tree:
    """The ways of a multicast, with what they book together, and its latencies."""

    __slots__ = (
        *("answer_latency", "answers", "latency", "links", "setup", "sinks", "source", "ways"),
    )

    def __init__(self, ways: Sequence[_Way], parameters: NocParameters) -> None:
        self.ways = ways
        self.source = ways[0].source
        self.links = tuple(dict.fromkeys(link for way in ways for link in way.links))
        self.sinks = tuple(way.target for way in ways)
        farthest = max(way.write_latency for way in ways)
        self.latency = parameters.write_latency + farthest
        self.setup = parameters.multicast_setup + farthest
        """Cycles to reserve the tree down to its ends."""
        self.answers = parameters.multicast_answer * len(ways)
        """Cycles of the sender's interface for the acknowledgements of a packet."""
        self.answer_latency = ways[-1].answer_latency + self.answers


_Link = tuple[int, bool, Coord]
"""Network, whether it is one of a row, and the router that it leaves."""


@lru_cache(maxsize=1 << 14)
def _way_between(
    extents: tuple[int, int], noc: int, source: Coord, target: Coord
) -> tuple[_Link, ...]:
    """The links on the way: NoC 0 goes right, then down; NoC 1 goes up, then left.

    `extents` are rows and columns of the routers. ArgumentError for what is outside of them.
    """
    rows, columns = extents
    for x, y in (source, target):
        if not (0 <= x < columns and 0 <= y < rows):
            raise ArgumentError(f"{(x, y)} is outside of the network of {columns}x{rows} routers")
    step, axes = (1, (0, 1)) if noc == 0 else (-1, (1, 0))
    place = list(source)
    links: list[_Link] = []
    for axis in axes:
        while place[axis] != target[axis]:
            links.append((noc, axis == 0, (place[0], place[1])))
            place[axis] = (place[axis] + step) % (columns, rows)[axis]
    return tuple(links)


class NocModel:
    """The two networks of a chip, with its channels of DRAM.

    Times are cycles. A transaction starts when the processor begins to issue it; a method returns
    first when the processor has done that, and last when everything is over.
    """

    def __init__(self, parameters: NocParameters, dram: Mapping[Coord, int]) -> None:
        """Networks that carry nothing yet; `dram` says which routers lead to which channel."""
        self.parameters = parameters
        self.dram_bytes = 0
        """Read from and written to DRAM so far."""
        self.dram = dict(dram)
        self._endpoints = parameters.endpoints
        self._bookings = Bookings()
        self._reads: dict[tuple[int, Coord, Coord], _Way] = {}
        self._writes: dict[tuple[int, Coord, Coord], _Way] = {}
        self._trees: dict[tuple[int, Coord, tuple[Coord, ...]], _Tree] = {}
        self._links: dict[_Link, int] = {}
        self._outgoing: Numbers = {}
        self._incoming: Numbers = {}
        self._requests: Numbers = {}
        self._channels = {
            channel: self._bookings.add(f"DRAM channel {channel}")
            for channel in sorted(set(dram.values()))
        }
        self._sizes: dict[int, tuple[int, float, Loss]] = {}
        """What `_measure` found."""

    def read(self, start: int, core: Coord, source: Coord, size: int, noc: int) -> tuple[int, int]:
        """`core` reads `size` bytes from `source`: when it has asked, and when they are there."""
        way = self._reads.get((noc, core, source)) or self._new_read(noc, core, source)
        packets, occupancy, loss = self._sizes.get(size) or self._measure(size)
        start += self.parameters.read_issue
        request, leaving = 0.0, occupancy
        if way.requests >= 0:
            parameters = self.parameters
            self.dram_bytes += size
            request = parameters.dram_request_interval * packets
            leaving = size / parameters.dram_read_rate
        end = self._bookings.book_read(way, request, leaving, occupancy, start, loss)
        return start + self.parameters.read_issue * (packets - 1), end + way.read_latency

    def write(
        self, start: int, core: Coord, target: Coord, size: int, noc: int
    ) -> tuple[int, int, int, int]:
        """`core` writes `size` bytes to `target`: issued, departed, arrived, acknowledged.

        A write is issued when its last packet begins to leave. Writes of a core to one target
        arrive in the order in which they were issued.
        """
        latency = self.parameters.write_latency
        return self._write(start + self.parameters.write_issue, core, target, size, noc, latency)

    def write_word(
        self, start: int, core: Coord, target: Coord, noc: int
    ) -> tuple[int, int, int, int]:
        """`core` writes a word that comes with the command: as `write`."""
        start += self.parameters.word_issue
        if self.parameters.stores_inline_writes:
            latency = self.parameters.write_latency
            return self._write(start + self.parameters.inline_store, core, target, 4, noc, latency)
        return self._write(start, core, target, 4, noc, self.parameters.word_latency)

    def atomic(self, start: int, core: Coord, target: Coord, noc: int) -> tuple[int, int, int, int]:
        """`core` changes a word of `target`: issued, departed, arrived, acknowledged."""
        return self._write(
            start + self.parameters.word_issue, core, target, 4, noc, self.parameters.word_latency
        )

    def _write(
        self, start: int, core: Coord, target: Coord, size: int, noc: int, latency: int
    ) -> tuple[int, int, int, int]:
        way = self._writes.get((noc, core, target)) or self._write_way(noc, core, target)
        book = self._bookings.book
        packets, occupancy, loss = self._sizes.get(size) or self._measure(size)
        begin, departed = book(way.source, start, occupancy)
        passing = entering = occupancy
        if target in self.dram:
            self.dram_bytes += size
            # A packet holds its way for as long as the channel takes its bytes, which outweighs
            # what else it keeps waiting.
            passing, loss = max(occupancy, size / self.parameters.dram_write_rate), (0.0, loss[1])
            entering = max(passing, self.parameters.least_dram_write(size))
            latency += self.parameters.dram_write_latency
        last = self._bookings.book_all(way.links, begin, passing, way.source, loss)
        _, entered = book(way.target, begin, entering)
        arrival = max(departed, last, entered) + latency + way.write_latency
        way.last = arrival = max(way.last, arrival)
        issued = begin if packets == 1 else begin + int(occupancy * (packets - 1) / packets)
        return issued, departed, arrival, arrival + way.answer_latency

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

        The bytes pass each link of the tree of routes once; the slowest target sets the pace. A
        packet that is not linked to the one before it reserves the tree first, down to its ends.
        Every target acknowledges every packet, which keeps the sender's interface from the next.
        """
        if not targets:
            return start, start, start, start
        tree = self._trees.get((noc, core, targets)) or self._new_tree(noc, core, targets)
        bookings = self._bookings
        packets, occupancy, loss = self._sizes.get(size) or self._measure(size)
        setup = 0 if linked else tree.setup * packets
        begin, departed = bookings.book(
            tree.source,
            start + self.parameters.write_issue,
            setup + occupancy + tree.answers * packets,
        )
        end = max(
            departed - tree.answers,
            bookings.book_all(tree.links, begin + setup, occupancy, tree.source, loss),
            bookings.book_all(tree.sinks, begin + setup, occupancy),
        )
        first, *others = tree.ways
        first.last = arrival = max(first.last, end + tree.latency)
        for way in others:
            way.last = max(way.last, arrival)
        return begin, departed, arrival, arrival + tree.answer_latency

    def take_totals(self, other: NocModel) -> None:
        """Have carried what another one carried: for reports, and for no more transfers."""
        self.dram_bytes = other.dram_bytes
        self._bookings = other._bookings.without_times()
        self._channels, self._requests = other._channels, other._requests
        self._outgoing, self._incoming = other._outgoing, other._incoming
        self._links = other._links

    def hops(self, noc: int, source: Coord, target: Coord) -> int:
        """Links that a packet passes on its way."""
        return self._write_way(noc, source, target).hops

    @property
    def dram_peak(self) -> float:
        """Bytes per cycle of all channels, as measured."""
        return len(self._channels) * self.parameters.dram_read_rate

    def dram_resources(self) -> Iterator[tuple[str, float]]:
        """What DRAM consists of: names, and cycles that each was busy."""
        for group in (self._channels, self._requests):
            yield from self._bookings.totals(group.values())

    def network_resources(self) -> Iterator[tuple[str, float]]:
        """Interfaces and links: names, and cycles that each was busy."""
        for group in (self._outgoing, self._incoming, self._links):
            yield from self._bookings.totals(group.values())

    def _measure(self, size: int) -> tuple[int, float, Loss]:
        """How many packets carry so many bytes; cycles of a link for them, and lost to waiting."""
        parameters = self.parameters
        occupancy = parameters.occupancy(size)
        loss = parameters.lost(size), parameters.crowded_share * occupancy
        found = parameters.packets(size), occupancy, loss
        self._sizes[size] = found
        return found

    def _new_read(self, noc: int, core: Coord, source: Coord) -> _Way:
        """The way of the bytes that a core reads: from their source to the core."""
        links = self._route(noc, self._endpoint(noc, source), core)
        entered = self._interface(self._incoming, noc, core, "into")
        channel = self.dram.get(source)
        if channel is None:
            left = self._interface(self._outgoing, noc, source, "out of")
            way = _Way(links, left, entered)
            way.read_latency = self._read_latency(core, source)
        else:
            way = _Way(links, self._channels[channel], entered)
            way.read_latency = self.parameters.dram_latency + self._read_latency(core, source)
            way.requests = self._interface(self._requests, noc, source, "requests at")
        self._reads[noc, core, source] = way
        return way

    def _write_way(self, noc: int, core: Coord, target: Coord) -> _Way:
        """The way of the bytes that a core writes."""
        way = self._writes.get((noc, core, target))
        if way is not None:
            return way
        end = self._endpoint(noc, target)
        links = self._route(noc, core, end)
        left = self._interface(self._outgoing, noc, core, "out of")
        channel = self.dram.get(target)
        if channel is None:
            entered = self._interface(self._incoming, noc, target, "into")
        else:
            entered = self._channels[channel]
        way = self._writes[noc, core, target] = _Way(links, left, entered)
        way.write_latency = self.parameters.hop_latency * way.hops
        way.answer_latency = self._answer_latency(noc, end, core)
        return way

    def _new_tree(self, noc: int, core: Coord, targets: tuple[Coord, ...]) -> _Tree:
        ways = [self._write_way(noc, core, target) for target in targets]
        tree = self._trees[noc, core, targets] = _Tree(ways, self.parameters)
        return tree

    def _endpoint(self, noc: int, place: Coord) -> Coord:
        """The router that packets for a place go to: channels may have one for each network."""
        return self._endpoints.get(place, (place, place))[noc]

    def _read_latency(self, core: Coord, source: Coord) -> int:
        same, column, row, other = self.parameters.read_latency
        if core == source:
            return same
        if core[0] == source[0]:
            return column
        return row if core[1] == source[1] else other

    def _answer_latency(self, noc: int, source: Coord, target: Coord) -> int:
        """Cycles of an acknowledgement, a packet of one flit."""
        hops = len(_way_between(self.parameters.spec.noc_size, noc, source, target))
        return self.parameters.answer_latency + self.parameters.hop_latency * hops

    def _route(self, noc: int, source: Coord, target: Coord) -> tuple[int, ...]:
        """The links on the way."""
        links = self._links
        found: list[int] = []
        for each in _way_between(self.parameters.spec.noc_size, noc, source, target):
            link = links.get(each)
            found.append(self._new_link(each) if link is None else link)
        return tuple(found)

    def _new_link(self, link: _Link) -> int:
        noc, along_row, place = link
        direction = (("right", "left") if along_row else ("down", "up"))[noc]
        number = self._links[link] = self._bookings.add(f"NoC {noc} from {place} {direction}")
        return number

    def _interface(self, interfaces: Numbers, noc: int, place: Coord, what: str) -> int:
        interface = interfaces.get((noc, place))
        if interface is None:
            interface = interfaces[noc, place] = self._bookings.add(f"NoC {noc} {what} {place}")
        return interface
