"""Who has a resource when: links, interfaces and channels that serve one transfer at a time.

The time of a resource is kept in buckets: how many of its cycles are taken, not which. So transfers
may be booked in an order that differs a little from that of their starts. Resources are numbered;
a row holds what is taken of one bucket of all of them, because the bookings of a transfer all fall
into the same bucket or two.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

BUCKET_BITS = 9
BUCKET = 1 << BUCKET_BITS
BUCKET_MASK = BUCKET - 1
"""Cycles that are accounted for together."""

SHARED_BUCKETS = 4
"""So long a resource counts as shared after a change of those who wait for it."""

KEPT_BUCKETS = 4096
"""What was taken of older buckets is forgotten."""


class Bookings:
    """The resources of a chip, and what is taken of their time."""

    __slots__ = ("_full", "_names", "_rows", "_shared", "_totals", "_users")

    def __init__(self) -> None:
        """No resource yet."""
        self._names: list[str] = []
        self._totals: list[float] = []
        self._users: list[int] = []
        """Of each resource: who waited for it last."""
        self._shared: list[int] = []
        """Of each resource: the last bucket in which that was somebody else than before."""
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
        self._users.append(-1)
        self._shared.append(-SHARED_BUCKETS)
        self._full.append({})
        for row in self._rows.values():
            row.append(0.0)
        return len(self._names) - 1

    def totals(self, resources: Iterable[int]) -> Iterator[tuple[str, float]]:
        """Names of those of the resources that were used, and cycles that were booked on them."""
        for each in resources:
            if self._totals[each]:
                yield self._names[each], self._totals[each]

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
        requests: tuple[int, float] | None,
        source: tuple[int, float],
        links: Sequence[int],
        sink: tuple[int, float],
        start: int,
        lost: float,
    ) -> int:
        """Book all that a read takes, resources with cycles: when the last of them has served it.

        First come the `requests`, if there are any, then the source; links and sink serve from when
        it begins. This is `book` and `book_all`, written out for resources that are free.
        """
        bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
        row = self._rows.get(bucket) or self._new_row(bucket)
        totals = self._totals
        if requests is not None:
            resource, cycles = requests
            used = row[resource]
            if used <= offset and used + cycles <= BUCKET:
                row[resource] = used + cycles
                totals[resource] += cycles
            else:
                start, _ = self.book(resource, start, cycles)
                bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
                row = self._rows.get(bucket) or self._new_row(bucket)
        resource, cycles = source
        used = row[resource]
        if used <= offset and used + cycles <= BUCKET:
            row[resource] = used + cycles
            totals[resource] += cycles
            latest = int(start + cycles + 0.5)
        else:
            start, latest = self.book(resource, start, cycles)
            bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
            row = self._rows.get(bucket) or self._new_row(bucket)
        resource, cycles = sink
        passed = self.book_all(links, start, cycles, resource, lost)
        latest = max(latest, passed)
        used = row[resource]
        if used <= offset and used + cycles <= BUCKET:
            row[resource] = used + cycles
            totals[resource] += cycles
            return max(latest, int(start + cycles + 0.5))
        _, entered = self.book(resource, start, cycles)
        return max(latest, entered)

    def book_all(
        self, resources: Sequence[int], start: int, cycles: float, user: int = 0, lost: float = 0
    ) -> int:
        """Book resources one after the other, each from when the one before begins: the latest end.

        One that is not free in time, while others wait for it as well, is booked for `lost` cycles
        more.
        This is `book`, written out for those that are free: most links are, most of the time.
        """
        latest = int(start + cycles + 0.5)
        bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
        limit = min(offset, BUCKET - cycles)
        row = self._rows.get(bucket) or self._new_row(bucket)
        totals = self._totals
        for resource in resources:
            used = row[resource]
            if used <= limit:
                row[resource] = used + cycles
                totals[resource] += cycles
                continue
            begin, end = self.book(resource, start, cycles)
            if lost and begin > start + 1 and self._is_shared(resource, user, bucket):
                _, end = self.book(resource, end, lost)
            start = begin
            latest = max(latest, end)
            bucket, offset = start >> BUCKET_BITS, start & BUCKET_MASK
            limit = min(offset, BUCKET - cycles)
            row = self._rows.get(bucket) or self._new_row(bucket)
        return latest

    def _is_shared(self, resource: int, user: int, bucket: int) -> bool:
        """Whether another user waited for a resource at about the same time."""
        last = self._users[resource]
        if last != user:
            self._users[resource] = user
            if last >= 0:
                self._shared[resource] = bucket
        return bucket - self._shared[resource] < SHARED_BUCKETS

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
        full = self._full[resource]
        if bucket in full:
            bucket = _first_with_room(full, bucket)
            position = (bucket << BUCKET_BITS) + self._new_row(bucket)[resource]
        begin = int(position)
        room = (bucket + 1 << BUCKET_BITS) - position
        while cycles > room:
            row = self._new_row(bucket)
            row[resource] += room
            if row[resource] >= BUCKET - 0.5:
                full[bucket] = bucket + 1
            cycles -= room
            bucket = _first_with_room(full, bucket + 1)
            used = self._new_row(bucket)[resource]
            position = (bucket << BUCKET_BITS) + used
            room = BUCKET - used
        self._new_row(bucket)[resource] += cycles
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
