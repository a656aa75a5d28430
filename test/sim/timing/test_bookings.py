"""Resources serve one transfer at a time, whatever the order in which transfers are booked."""

from __future__ import annotations

import random

from ttmlir.sim.timing.noc_model import BUCKET, KEPT_BUCKETS, SHARED_BUCKETS, Bookings


def test_free_resource_is_had_at_once() -> None:
    """From any cycle on, with fractions rounded in the end."""
    bookings = Bookings()
    link = bookings.add("link")
    assert bookings.book(link, 7, 10) == (7, 17)
    assert bookings.book(link, 100, 68.27) == (100, 168)


def test_full_bucket_runs_over_into_the_next() -> None:
    """Three transfers of 400 cycles at once: one after the other, across the bounds of buckets."""
    bookings = Bookings()
    link = bookings.add("link")
    assert [bookings.book(link, 0, 400) for _ in range(3)] == [(0, 400), (400, 800), (800, 1200)]


def test_long_transfer_goes_around_those_that_were_booked_before() -> None:
    """900 cycles around 512 - 12 that somebody has in the second bucket."""
    bookings = Bookings()
    link = bookings.add("link")
    bookings.book(link, BUCKET, BUCKET - 12)
    assert bookings.book(link, 0, 900) == (0, 900 + BUCKET - 12)


def test_route_begins_at_each_link_when_it_is_free() -> None:
    """The second of three links has been taken for 200 cycles; the others are free."""
    bookings = Bookings()
    links = [bookings.add(f"link {index}") for index in range(3)]
    bookings.book(links[1], 0, 200)
    assert bookings.book_all(links, 0, 50) == 250
    assert list(bookings.totals(links)) == [("link 0", 50), ("link 1", 250), ("link 2", 50)]


def test_link_for_which_several_wait_loses_cycles() -> None:
    """The second user waits and is the first to do so; the third finds that others wait, too."""
    bookings = Bookings()
    (link,) = links = [bookings.add("link")]
    ends = [bookings.book_all(links, 0, 100, user, loss=(20, 0)) for user in (1, 2, 3, 3)]
    assert ends == [100, 200, 320, 440]
    assert list(bookings.totals([link])) == [("link", 440)]


def test_link_loses_more_the_more_users_wait() -> None:
    """Two lose nothing of this kind; three a third of all that can be lost, four half of it."""
    bookings = Bookings()
    links = [bookings.add("link")]
    ends = [bookings.book_all(links, 0, 60, user, loss=(0, 30)) for user in (1, 2, 3, 4, 5)]
    assert ends == [60, 120, 180, 250, 325]


def test_link_with_packets_for_one_receiver_loses_nothing() -> None:
    """However long they wait: the receiver is busy all the time."""
    bookings = Bookings()
    links = [bookings.add("link")]
    assert [bookings.book_all(links, 0, 100, 7, loss=(20, 0)) for _ in range(3)] == [100, 200, 300]


def test_link_is_no_longer_shared_when_the_others_are_gone() -> None:
    """Some time after the last change of those who wait."""
    bookings = Bookings()
    links = [bookings.add("link")]
    for user in (1, 2, 3):
        bookings.book_all(links, 0, 100, user, loss=(20, 0))
    later = 2 * SHARED_BUCKETS * BUCKET
    ends = [bookings.book_all(links, later, 100, 3, loss=(20, 0)) for _ in range(2)]
    assert ends == [later + 100, later + 200]


def test_route_takes_what_single_bookings_take() -> None:
    """The fast way through free links and `book` agree, for links that are often contended."""
    rng = random.Random(4)
    together, single = Bookings(), Bookings()
    links = [together.add(str(index)) for index in range(12)]
    assert links == [single.add(str(index)) for index in range(12)]
    for index in range(3000):
        route = rng.sample(links, 5)
        start, cycles = 40 * index + rng.randrange(200), rng.choice((2.3, 68.3, 273.1))
        begin, latest = start, int(start + cycles + 0.5)
        for link in route:
            begin, end = single.book(link, begin, cycles)
            latest = max(latest, end)
        assert together.book_all(route, start, cycles) == latest


def test_resource_serves_one_at_a_time() -> None:
    """Whatever the order and the gaps, a full resource ends when its work is done."""
    rng = random.Random(3)
    work = [(rng.randrange(4 * BUCKET), rng.randrange(1, 300)) for _ in range(200)]
    bookings = Bookings()
    link = bookings.add("link")
    last = max(bookings.book(link, start, cycles)[1] for start, cycles in work)
    total = sum(cycles for _, cycles in work)
    assert list(bookings.totals([link])) == [("link", total)]
    assert total <= last <= total + BUCKET


def test_resources_that_come_later_are_free() -> None:
    """Also in buckets that others have taken something of."""
    bookings = Bookings()
    first = bookings.add("first")
    bookings.book(first, 0, 500)
    second = bookings.add("second")
    assert bookings.book(second, 0, 500) == (0, 500)
    assert list(bookings.totals([second, bookings.add("idle")])) == [("second", 500)]


def test_the_oldest_buckets_are_dropped_whatever_their_order() -> None:
    """Here the newest were booked first; one of them is still full afterwards."""
    bookings = Bookings()
    link = bookings.add("link")
    for index in reversed(range(KEPT_BUCKETS)):
        bookings.book(link, index * BUCKET, BUCKET)
    end = KEPT_BUCKETS * BUCKET
    assert bookings.book(link, end, 10) == (end, end + 10)
    assert bookings.book(link, end - BUCKET, 10)[1] == end + 20
    assert bookings.book(link, 0, 10) == (0, 10)


def test_past_is_bounded() -> None:
    """A long program does not fill memory: old buckets are dropped, new ones are still exact."""
    bookings = Bookings()
    link = bookings.add("link")
    for index in range(3 * KEPT_BUCKETS):
        bookings.book(link, index * BUCKET, BUCKET)
    assert len(bookings) <= KEPT_BUCKETS
    start = 3 * KEPT_BUCKETS * BUCKET
    assert bookings.book(link, start, 100) == (start, start + 100)
    assert bookings.book(link, start, 100) == (start + 100, start + 200)


def test_how_much_is_remembered() -> None:
    """4096 buckets of 512 cycles; one more, and the older half is dropped."""
    bookings = Bookings()
    link = bookings.add("link")
    for index in range(4096):
        bookings.book(link, index * 512, 100)
    assert len(bookings) == 4096
    bookings.book(link, 4096 * 512, 100)
    assert len(bookings) == 2049
    assert bookings.book(link, 2048 * 512, 100) == (2048 * 512 + 100, 2048 * 512 + 200)
    assert bookings.book(link, 2047 * 512, 100) == (2047 * 512, 2047 * 512 + 100)
