"""Small kernels with one mistake each: it is found on every schedule, by its rule."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from running.kernel_judge import DRAIN, FEED, SCHEDULES, judge


@dataclass(frozen=True)
class Wrong:
    """A mistake, the kernels that make it, and the rule and words by which it is named.

    `rule` has alternatives where the schedule decides which access meets the other one.
    """

    name: str
    rule: str
    words: str
    kernels: dict[str, str]


def in_feed(name: str, rule: str, words: str, old: str, new: str) -> Wrong:
    """A mistake in the kernel that fills circular buffer 0."""
    assert FEED.count(old) == 1, name
    return Wrong(name, rule, words, {"read0": FEED.replace(old, new), "write0": DRAIN})


def in_drain(name: str, rule: str, words: str, old: str, new: str) -> Wrong:
    """A mistake in the kernel that empties circular buffer 0."""
    assert DRAIN.count(old) == 1, name
    return Wrong(name, rule, words, {"read0": FEED, "write0": DRAIN.replace(old, new)})


CASES = (
    in_feed(
        "push before the read has arrived",
        "read-before-barrier",
        "call noc_async_read_barrier()",
        "noc_async_read_barrier();\n        cb_push_back(0, 1);",
        "cb_push_back(0, 1);\n        noc_async_read_barrier();",
    ),
    in_feed(
        "the barrier of the other network",
        "read-before-barrier",
        "call noc_async_read_barrier()",
        "noc_async_read_barrier();",
        "noc_async_read_barrier(1);",
    ),
    in_feed(
        "push of more pages than were reserved",
        "cb-push-unreserved",
        "of which 1 are reserved",
        "cb_push_back(0, 1);",
        "cb_push_back(0, 2);",
    ),
    in_feed(
        "writing a page that was handed over",
        "cb-unreserved-write",
        "call cb_reserve_back(0, n) before",
        "cb_push_back(0, 1);",
        "cb_push_back(0, 1);\n        word(get_write_ptr(0))[0] = i;",
    ),
    in_feed(
        "filling pages that were not reserved",
        "cb-unreserved-write",
        "writes 2048 bytes",
        "noc_async_read_barrier();",
        "noc_async_read_tile(i, in, get_write_ptr(0) + 2048);\n noc_async_read_barrier();",
    ),
    in_feed(
        "reading a page of DRAM that the buffer does not have",
        "out-of-bounds",
        "copies page 16 of a buffer that has 16 pages",
        "noc_async_read_tile(i, in,",
        "noc_async_read_tile(i + 11, in,",
    ),
    in_feed(
        "the same by its address",
        "out-of-bounds",
        "copies page 16 of a buffer that has 16 pages",
        "noc_async_read_tile(i, in, get_write_ptr(0));",
        "noc_async_read(get_noc_addr(i + 11, in), get_write_ptr(0), 2048);",
    ),
    in_feed(
        "the same with smaller pages than the buffer's",
        "out-of-bounds",
        "copies page 48 of a buffer that has 48 pages",
        "noc_async_read_tile(i, in, get_write_ptr(0));",
        "const InterleavedAddrGen<true> half = {.bank_base_address = IN, .page_size = 1024};\n"
        "        noc_async_read_tile(i + 48, half, get_write_ptr(0));",
    ),
    in_feed(
        "reading behind the end of a buffer in DRAM",
        "out-of-bounds",
        "2048 of them past the end of the buffer",
        "noc_async_read_tile(i, in, get_write_ptr(0));",
        "cb_reserve_back(0, 2);\n noc_async_read(get_noc_addr(12, in), get_write_ptr(0), 4096);",
    ),
    in_feed(
        "reading pages of another tensor's size",
        "out-of-bounds",
        "past the end of the buffer",
        "noc_async_read_tile(i, in, get_write_ptr(0));",
        "noc_async_read(get_noc_addr(28, sticks), get_write_ptr(0), 2048);",
    ),
    in_drain(
        "pop before the write has left",
        "reuse-before-barrier",
        "call noc_async_writes_flushed() or",
        "noc_async_write_barrier();\n        cb_pop_front(0, 1);",
        "cb_pop_front(0, 1);\n        noc_async_write_barrier();",
    ),
    in_drain(
        "no barrier at the end",
        "missing-barrier",
        "call noc_async_write_barrier() before the kernel returns",
        "noc_async_write_barrier();",
        "noc_async_writes_flushed();",
    ),
    in_drain(
        "reading back what was only flushed",
        "write-before-barrier",
        "call noc_async_write_barrier() before",
        "noc_async_write_barrier();",
        "noc_async_writes_flushed();\n        noc_async_read_tile(i, out, LOCAL);\n"
        "        noc_async_read_barrier();\n        noc_async_write_barrier();",
    ),
    in_drain(
        "pop of more pages than were waited for",
        "cb-pop-unwaited",
        "call cb_wait_front(0, 2) before",
        "cb_pop_front(0, 1);",
        "cb_pop_front(0, 2);",
    ),
    in_drain(
        "use after pop",
        "cb-unwaited-read",
        "call cb_wait_front(0, n) before",
        "cb_pop_front(0, 1);",
        "const uint32_t page = get_read_ptr(0);\n        cb_pop_front(0, 1);\n"
        "        word(LOCAL)[0] = word(page)[0];",
    ),
    in_drain(
        "use of a page beyond those waited for",
        "cb-unwaited-read",
        "call cb_wait_front(0, n) before",
        "get_read_ptr(0)",
        "get_read_ptr(0) + 2048",
    ),
    Wrong(
        "what the other processor wrote to DRAM and has not waited for",
        "race",
        "nothing orders the two accesses",
        {
            "read0": """
    noc_async_write(LOCAL, get_noc_addr(0, out), 2048);
    noc_semaphore_set(sem(0), 1);
    noc_async_write_barrier();
""",
            "write0": """
    noc_semaphore_wait(sem(0), 1);
    noc_async_read(get_noc_addr(0, out), LOCAL + 2048, 2048);
    noc_async_read_barrier();
""",
        },
    ),
    in_drain(
        "no wait",
        "cb-unwaited-read",
        "call cb_wait_front(0, n) before",
        "cb_wait_front(0, 1);",
        "",
    ),
    in_drain(
        "pages that wrap around",
        "cb-straddle",
        "runs over the end of circular buffer 0",
        "for (uint32_t i = 0; i < 6; i++) {",
        "for (uint32_t i = 0; i < 2; i++) {\n        cb_wait_front(0, 3);\n"
        "        cb_pop_front(0, 3);\n    }\n    for (uint32_t i = 6; i < 6; i++) {",
    ),
    in_drain(
        "waiting for more pages than there are",
        "cb-too-many-pages",
        "circular buffer 0 has 4 of them",
        "cb_wait_front(0, 1);",
        "cb_wait_front(0, 5);",
    ),
    in_drain(
        "waiting for more pages than come",
        "deadlock",
        "waits for 1 filled page of circular buffer 0",
        "i < 6",
        "i < 7",
    ),
    in_drain(
        "two producers",
        "cb-producers",
        "NCRISC is the producer of circular buffer 0",
        "cb_pop_front(0, 1);",
        "cb_pop_front(0, 1);\n        cb_reserve_back(0, 1);",
    ),
    in_drain(
        "a store to bytes that are nobody's",
        "unallocated-write",
        "which belong to no buffer, circular buffer or semaphore",
        "cb_pop_front(0, 1);",
        "cb_pop_front(0, 1);\n        word(0x80000)[0] = i;",
    ),
    in_drain(
        "a copy over the end of a buffer in L1",
        "out-of-bounds",
        "2048 of them past the end of the buffer",
        "noc_async_write_tile(i, out, get_read_ptr(0));",
        "noc_async_read(at(0, LOCAL), SHARD + 3 * 2048, 4096);",
    ),
    in_drain(
        "a write over the end of a buffer in DRAM",
        "out-of-bounds",
        "32 of them past the end of the buffer",
        "noc_async_write_tile(i, out, get_read_ptr(0));",
        "noc_async_write(LOCAL, get_noc_addr(i + 8, out), 2048 + 32);",
    ),
    in_feed(
        "a page before the first one",
        "out-of-bounds",
        "copies page 4294967295 of a buffer that has 16 pages",
        "noc_async_read_tile(i, in,",
        "noc_async_read_tile(i - 1, in,",
    ),
    Wrong(
        "a store past the end of L1, not aligned either",
        "out-of-bounds",
        "bytes 0x7fffff01 to 0x7fffff05 are outside of L1 of core (0, 0)",
        {"read0": "word(0x7fffff01)[0] = 1;"},
    ),
    Wrong(
        "a copy past the end of L1, not aligned either",
        "out-of-bounds",
        "bytes 0x70000000 to 0x70000040 are outside of L1 of core (0, 0)",
        {"read0": "noc_async_read(get_noc_addr(0, in) + 8, 0x70000000, 64);"},
    ),
    Wrong(
        "an increment past the end of L1, not aligned either",
        "out-of-bounds",
        "bytes 0x70000002 to 0x70000006 are outside of L1 of core (1, 0)",
        {"read0": "noc_semaphore_inc(at(1, 0x70000002), 1);"},
    ),
    Wrong(
        "a store that is not aligned",
        "unaligned",
        "is not a multiple of 4",
        {"read0": "word(LOCAL + 2)[0] = 1;"},
    ),
    Wrong(
        "changing bytes that a write still sends",
        "reuse-before-barrier",
        "which a noc_async_write still sends",
        {
            "write0": """
    for (uint32_t i = 0; i < 4; i++) {
        word(LOCAL)[0] = i;
        noc_async_write(LOCAL, get_noc_addr(i, out), 2048);
    }
    noc_async_write_barrier();
"""
        },
    ),
    Wrong(
        "the barrier of another transaction",
        "read-before-barrier",
        "reads bytes",
        {
            "read0": """
    noc_async_read_set_trid(1);
    noc_async_read_tile(0, in, LOCAL);
    noc_async_read_set_trid(2);
    noc_async_read_tile(1, in, LOCAL + 2048);
    noc_async_read_barrier_with_trid(1);
    word(LOCAL)[0] = word(LOCAL + 2048)[0];
    noc_async_read_barrier();
"""
        },
    ),
    Wrong(
        "two processors store to one word",
        "race",
        "nothing orders the two accesses",
        {"read0": "word(LOCAL)[0] = 1;", "write0": "word(LOCAL)[0] = 2;"},
    ),
    Wrong(
        "another core reads what is written",
        "race",
        "nothing orders the two accesses",
        {
            "read0": "word(LOCAL)[0] = 1;",
            "read1": """
    noc_async_read(at(0, LOCAL), LOCAL, 2048);
    noc_async_read_barrier();
""",
        },
    ),
    Wrong(
        "a signal that overtakes what is sent to a third core",
        "race",
        "core (0, 0) NCRISC writes at any time",
        {
            "read0": """
    noc_async_write(LOCAL, at(2, LOCAL), 2048);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
""",
            "read1": """
    noc_semaphore_wait(sem(0), 1);
    noc_semaphore_inc(at(2, get_semaphore(0)), 1);
    noc_async_atomic_barrier();
""",
            "read2": """
    noc_semaphore_wait(sem(0), 1);
    word(LOCAL + 4)[0] = word(LOCAL)[0];
""",
        },
    ),
    Wrong(
        "a signal on another virtual channel than the data",
        "race",
        "core (0, 0) NCRISC writes at any time",
        {
            "read0": """
    noc_async_write_multicast(LOCAL, others(LOCAL), 2048, 2);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
""",
            "read1": "noc_semaphore_wait(sem(0), 1); word(LOCAL + 4)[0] = word(LOCAL)[0];",
        },
    ),
    Wrong(
        "a signal on another network than the data",
        "race",
        "core (0, 0) NCRISC writes at any time",
        {
            "read0": """
    noc_async_write(LOCAL, at(1, LOCAL), 2048, 0);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1, 1);
    noc_async_write_barrier();
    noc_async_atomic_barrier(1);
""",
            "read1": "noc_semaphore_wait(sem(0), 1); word(LOCAL + 4)[0] = word(LOCAL)[0];",
        },
    ),
    Wrong(
        "sending into pages that the receiver has not reserved",
        "cb-unreserved-write",
        "pages of circular buffer 0 that were not reserved",
        {
            "read0": """
    noc_async_write(LOCAL, at(1, get_write_ptr(0)), 2048);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
""",
            "read1": """
    noc_semaphore_wait(sem(0), 1);
    cb_reserve_back(0, 1);
    cb_push_back(0, 1);
""",
            "write1": "cb_wait_front(0, 1); cb_pop_front(0, 1);",
        },
    ),
    Wrong(
        "handing over what a sender has not sent yet",
        "race|cb-unreserved-write",
        "",
        {
            "read0": """
    noc_semaphore_wait(sem(0), 1);
    noc_async_write(LOCAL, at(1, get_write_ptr(0)), 2048);
    noc_async_write_barrier();
""",
            "read1": """
    cb_reserve_back(0, 1);
    noc_async_read_tile(0, in, get_write_ptr(0));
    noc_async_read_barrier();
    noc_semaphore_inc(at(0, get_semaphore(0)), 1);
    noc_async_atomic_barrier();
    cb_push_back(0, 1);
""",
            "write1": """
    cb_wait_front(0, 1);
    noc_async_write_tile(0, out, get_read_ptr(0));
    noc_async_write_barrier();
    cb_pop_front(0, 1);
""",
        },
    ),
    Wrong(
        "the next block before the receivers have the last one",
        "race",
        "nothing orders the two accesses",
        {
            "read0": """
    for (uint32_t i = 0; i < 2; i++) {
        noc_async_write_multicast(LOCAL, others(LOCAL), 2048, 2);
        noc_semaphore_inc(at(1, get_semaphore(0)), 1);
        noc_async_write_barrier();
        noc_semaphore_set_multicast(get_semaphore(0), others(get_semaphore(1)), 2);
        noc_async_write_barrier();
    }
    noc_async_atomic_barrier();
""",
            "read1": "noc_semaphore_wait(sem(0), 2); word(LOCAL + 4)[0] = word(LOCAL)[0];",
        },
    ),
    Wrong(
        "resetting a semaphore behind the call for the answer",
        "semaphore-race",
        "may undo the other",
        {
            "read0": """
    noc_semaphore_wait(sem(0), 1);
    noc_semaphore_inc(at(1, get_semaphore(1)), 1);
    noc_async_atomic_barrier();
""",
            "read1": """
    noc_semaphore_inc(at(0, get_semaphore(0)), 1);
    noc_semaphore_set(sem(1), 0);
    noc_async_atomic_barrier();
""",
        },
    ),
    Wrong(
        "resetting a counter that others still increment",
        "semaphore-race",
        "may undo the other",
        {
            "read0": "noc_semaphore_set(sem(0), 0);",
            "read1": "noc_semaphore_inc(at(0, get_semaphore(0)), 1); noc_async_atomic_barrier();",
            "read2": "noc_semaphore_inc(at(0, get_semaphore(0)), 1); noc_async_atomic_barrier();",
        },
    ),
    Wrong(
        "a flag that is not reset before the next block",
        "race|semaphore-race",
        "at any time",
        {
            "read0": """
    noc_semaphore_set(sem(0), 1);
    for (uint32_t i = 0; i < 2; i++) {
        word(LOCAL)[0] = i;
        noc_async_write_multicast(LOCAL, others(LOCAL), 2048, 2);
        noc_semaphore_set_multicast(get_semaphore(0), others(get_semaphore(0)), 2);
        noc_async_write_barrier();
        noc_semaphore_wait_min(sem(1), 2 * (i + 1));
    }
""",
            **{
                f"read{core}": """
    for (uint32_t i = 0; i < 2; i++) {
        noc_semaphore_wait(sem(0), 1);
        word(LOCAL + 4)[0] = word(LOCAL)[0];
        noc_semaphore_inc(at(0, get_semaphore(1)), 1);
    }
    noc_async_atomic_barrier();
"""
                for core in (1, 2)
            },
        },
    ),
    Wrong(
        "a copy over several semaphores",
        "out-of-bounds",
        "over a semaphore and what lies after it",
        {
            "read0": """
    noc_async_write(LOCAL, at(1, get_semaphore(0)), 64);
    noc_async_write_barrier();
"""
        },
    ),
    Wrong(
        "a tile that was not waited for",
        "cb-unwaited-read|uninitialised-read",
        "copy_tile(0, 0, 0);",
        {
            "read0": FEED.replace("i < 6", "i < 4"),
            "compute0": """
    unary_op_init_common(0, 16);
    copy_tile_init(0);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    tile_regs_commit();
    tile_regs_wait();
    cb_reserve_back(16, 1);
    pack_tile(0, 16);
    cb_push_back(16, 1);
    tile_regs_release();
""",
        },
    ),
    Wrong(
        "packing to a page that was not reserved",
        "cb-unreserved-write",
        "call cb_reserve_back(16, n) before",
        {
            "read0": FEED.replace("i < 6", "i < 1"),
            "compute0": """
    unary_op_init_common(0, 16);
    copy_tile_init(0);
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(0, 0, 0);
    tile_regs_commit();
    cb_pop_front(0, 1);
    tile_regs_wait();
    pack_tile(0, 16);
    cb_reserve_back(16, 1);
    cb_push_back(16, 1);
    tile_regs_release();
""",
            "write0": DRAIN.replace("(0", "(16").replace("i < 6", "i < 1"),
        },
    ),
)


@pytest.mark.parametrize("options", SCHEDULES, ids=["in order", "shuffled", "late"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_the_mistake_is_found(case: Wrong, options: object) -> None:
    """One error, in the words that tell what to do."""
    verdict = judge(case.kernels, options)
    (rule,) = verdict.rules("error")
    assert rule in case.rule.split("|")
    text = verdict.findings[0].text()
    assert case.words in text


MANY = {
    "read0": """
    word(0x80000)[0] = 1;
    noc_async_read_tile(16, in, LOCAL);
    word(LOCAL + 4)[0] = word(LOCAL)[0];
    noc_async_read_barrier();
"""
}
"""A kernel with mistakes in every line but the last."""

THEIR_RULES = [
    *("unallocated-write", "out-of-bounds", "uninitialised-read"),
    *("read-before-barrier", "read-before-barrier"),
]


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5, 100])
def test_an_error_has_all_findings_up_to_the_limit(limit: int) -> None:
    """Also where the program comes to its end before."""
    verdict = judge(MANY, SCHEDULES[0], limit)
    assert verdict.rules("error") == THEIR_RULES[:limit]
    assert verdict.result == b""


def test_what_stops_a_program_comes_with_what_was_found_before() -> None:
    """A deadlock that an earlier mistake may have led to."""
    kernels = {"read0": "word(0x80000)[0] = 1;\n    noc_semaphore_wait(sem(0), 1);"}
    verdict = judge(kernels, SCHEDULES[0], 5)
    assert verdict.rules("error") == ["deadlock", "unallocated-write"]
