"""Small kernels that look odd and are right: nothing is found on any schedule, or a warning."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from running.kernel_judge import DRAIN, FEED, PAGES, SCHEDULES, TILE, judge, numbers

TO_OUT = """
    noc_async_write_tile(0, out, LOCAL);
    noc_async_write_barrier();
"""
"""Sends the first tile of LOCAL to the first one of `out`."""


def tiles(*places: int) -> bytes:
    """These tiles of `in` in the first ones of `out`."""
    every = np.frombuffer(numbers(), np.uint8).reshape(PAGES, TILE)
    result = np.zeros_like(every)
    result[: len(places)] = every[list(places)]
    return result.tobytes()


@dataclass(frozen=True)
class Right:
    """Kernels, what they leave in `out`, and the rules of the warnings that they may have."""

    name: str
    expected: bytes
    kernels: dict[str, str]
    warnings: tuple[str, ...] = field(default=())


CASES = (
    Right("a pipeline", tiles(*range(6)), {"read0": FEED, "write0": DRAIN}),
    Right(
        "one address sent again and again to a peer that answers",
        tiles(0, 1, 2, 3),
        {
            "read0": """
    for (uint32_t i = 0; i < 4; i++) {
        noc_async_read_tile(i, in, LOCAL);
        noc_async_read_barrier();
        noc_async_write(LOCAL, at(1, LOCAL), 2048);
        noc_semaphore_inc(at(1, get_semaphore(0)), 1);
        noc_semaphore_wait_min(sem(1), i + 1);
    }
    noc_async_write_barrier();
    noc_async_atomic_barrier();
""",
            "read1": """
    for (uint32_t i = 0; i < 4; i++) {
        noc_semaphore_wait_min(sem(0), i + 1);
        noc_async_write_tile(i, out, LOCAL);
        noc_async_write_barrier();
        noc_semaphore_inc(at(0, get_semaphore(1)), 1);
    }
    noc_async_atomic_barrier();
""",
        },
    ),
    Right(
        "multicasts of one address to receivers that answer",
        tiles(0, 1, 2, 0, 1, 2),
        {
            "read0": """
    noc_semaphore_set(sem(1), VALID);
    for (uint32_t i = 0; i < 3; i++) {
        noc_async_read_tile(i, in, LOCAL);
        noc_async_read_barrier();
        noc_semaphore_wait(sem(0), 2);
        noc_semaphore_set(sem(0), 0);
        noc_async_write_multicast(LOCAL, others(LOCAL), 2048, 2, true);
        noc_semaphore_set_multicast(get_semaphore(1), others(get_semaphore(1)), 2);
        noc_semaphore_wait(sem(2), 2 * (i + 1));
    }
    noc_async_write_barrier();
""",
            **{
                f"read{core}": f"""
    for (uint32_t i = 0; i < 3; i++) {{
        noc_semaphore_set(sem(1), INVALID);
        noc_semaphore_inc(at(0, get_semaphore(0)), 1);
        noc_semaphore_wait(sem(1), VALID);
        noc_async_write_tile({core - 1} * 3 + i, out, LOCAL);
        noc_async_write_barrier();
        noc_semaphore_inc(at(0, get_semaphore(2)), 1);
    }}
    noc_async_atomic_barrier();
"""
                for core in (1, 2)
            },
        },
    ),
    Right(
        "a multicast without a barrier that all receivers have seen",
        tiles(3, 3),
        {
            "read0": """
    noc_async_read_tile(3, in, LOCAL);
    noc_async_read_barrier();
    noc_semaphore_set(sem(0), 1);
    noc_async_write_multicast(LOCAL, others(LOCAL), 2048, 2, true);
    noc_semaphore_set_multicast(get_semaphore(0), others(get_semaphore(0)), 2);
""",
            "read1": "noc_semaphore_wait(sem(0), 1);" + TO_OUT,
            "read2": "noc_semaphore_wait(sem(0), 1);" + TO_OUT.replace("tile(0", "tile(1"),
        },
        ("missing-barrier",),
    ),
    Right(
        "a scaler that the wait for the next tile orders",
        tiles(5),
        {
            "read0": """
    cb_reserve_back(2, 1);
    noc_async_read_tile(5, in, get_write_ptr(2));
    noc_async_read_barrier();
    cb_push_back(2, 1);
    cb_reserve_back(0, 1);
    noc_async_read_tile(1, in, get_write_ptr(0));
    noc_async_read_barrier();
    cb_push_back(0, 1);
""",
            "write0": """
    cb_wait_front(0, 1);
    noc_async_write_tile(0, out, get_read_ptr(2));
    noc_async_write_barrier();
    cb_pop_front(0, 1);
    cb_pop_front(2, 1);
""",
        },
        ("cb-unwaited-read",),
    ),
    Right(
        "compute on a tensor in place, without the protocol",
        tiles(2),
        {
            "read0": """
    noc_async_read_tile(2, in, SHARD);
    noc_async_read_barrier();
    cb_reserve_back(0, 1);
    cb_push_back(0, 1);
    cb_wait_front(1, 1);
    noc_async_write_tile(0, out, SHARD + 2048);
    noc_async_write_barrier();
    cb_pop_front(1, 1);
""",
            "compute0": """
    unary_op_init_common(3, 3);
    copy_tile_init(3);
    cb_wait_front(0, 1);
    tile_regs_acquire();
    copy_tile(3, 0, 0);
    tile_regs_commit();
    cb_pop_front(0, 1);
    tile_regs_wait();
    cb_reserve_back(1, 1);
    pack_tile<true>(0, 3, 1);
    cb_push_back(1, 1);
    tile_regs_release();
""",
        },
    ),
    Right(
        "a tensor that is pushed as it is",
        tiles(4),
        {
            "read0": """
    noc_async_read_tile(4, in, SHARD);
    noc_async_read_barrier();
    cb_push_back(3, 4);
""",
            "write0": """
    cb_wait_front(3, 4);
    noc_async_write_tile(0, out, get_read_ptr(3));
    noc_async_write_barrier();
    cb_pop_front(3, 4);
""",
        },
    ),
    Right(
        "scratch memory in a page that nobody reserves",
        tiles(7),
        {
            "read0": """
    const uint32_t scratch = get_write_ptr(2);
    noc_async_read_tile(7, in, scratch);
    noc_async_read_barrier();
    word(scratch)[1] = word(scratch)[1];
    noc_async_write_tile(0, out, scratch);
    noc_async_write_barrier();
"""
        },
        ("cb-unreserved-write",),
    ),
    Right(
        "scratch memory in a page that is reserved once",
        tiles(7),
        {
            "read0": """
    cb_reserve_back(2, 1);
    const uint32_t scratch = get_write_ptr(2);
    noc_async_read_tile(7, in, scratch);
    noc_async_read_barrier();
    noc_async_write_tile(0, out, scratch);
    noc_async_write_barrier();
"""
        },
    ),
    Right(
        "scratch memory in a page that is pushed to nobody",
        tiles(7),
        {
            "read0": """
    cb_reserve_back(2, 1);
    const uint32_t scratch = get_write_ptr(2);
    cb_push_back(2, 1);
    noc_async_read_tile(7, in, scratch);
    noc_async_read_barrier();
    noc_async_write_tile(0, out, scratch);
    noc_async_write_barrier();
"""
        },
        ("cb-unreserved-write",),
    ),
    Right(
        "a processor that is its own consumer",
        tiles(1, 2),
        {
            "read0": """
    for (uint32_t i = 0; i < 2; i++) {
        cb_reserve_back(2, 1);
        noc_async_read_tile(i + 1, in, get_write_ptr(2));
        noc_async_read_barrier();
        cb_push_back(2, 1);
        cb_wait_front(2, 1);
        noc_async_write_tile(i, out, get_read_ptr(2));
        noc_async_write_barrier();
        cb_pop_front(2, 1);
    }
"""
        },
    ),
    Right(
        "two buffers by hand, a transaction number for each",
        tiles(0, 1, 2, 3, 4, 5),
        {
            "read0": """
    noc_async_read_set_trid(1);
    noc_async_read_tile(0, in, LOCAL);
    for (uint32_t i = 0; i < 6; i++) {
        if (i < 5) {
            noc_async_read_set_trid(1 + (i + 1) % 2);
            noc_async_read_tile(i + 1, in, LOCAL + (i + 1) % 2 * 2048);
        }
        noc_async_read_barrier_with_trid(1 + i % 2);
        noc_async_write_tile(i, out, LOCAL + i % 2 * 2048);
        noc_async_write_barrier();
    }
"""
        },
    ),
    Right(
        "the next read goes out before the last page is pushed",
        tiles(*range(6)),
        {
            "read0": """
    cb_reserve_back(0, 1);
    noc_async_read_set_trid(1);
    noc_async_read_tile(0, in, get_write_ptr(0));
    for (uint32_t i = 1; i <= 6; i++) {
        if (i < 6) {
            cb_reserve_back(0, 2);
            const uint32_t next = i % 4 == 0 ? get_write_ptr(0) - 3 * 2048
                                             : get_write_ptr(0) + 2048;
            noc_async_read_set_trid(1 + i % 2);
            noc_async_read_tile(i, in, next);
        }
        noc_async_read_barrier_with_trid(2 - i % 2);
        cb_push_back(0, 1);
    }
""",
            "write0": DRAIN,
        },
    ),
    Right(
        "pages that are reserved together and pushed one by one",
        tiles(*range(4)),
        {
            "read0": """
    cb_reserve_back(0, 4);
    for (uint32_t i = 0; i < 4; i++) {
        noc_async_read_tile(i, in, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
    }
""",
            "write0": """
    for (uint32_t i = 0; i < 4; i++) {
        cb_wait_front(0, i + 1);
        noc_async_write_tile(i, out, get_read_ptr(0) + i * 2048);
    }
    noc_async_write_barrier();
    cb_pop_front(0, 4);
""",
        },
    ),
    Right(
        "a page that is changed in place by who waits for it",
        tiles(0),
        {
            "read0": FEED.replace("i < 6", "i < 1"),
            "write0": """
    cb_wait_front(0, 1);
    word(get_read_ptr(0))[0] = word(get_read_ptr(0))[0];
    noc_async_write_tile(0, out, get_read_ptr(0));
    noc_async_write_barrier();
    cb_pop_front(0, 1);
""",
        },
    ),
    Right(
        "a producer that sends on what it has pushed",
        tiles(3, 3),
        {
            "read0": """
    cb_reserve_back(0, 1);
    const uint32_t page = get_write_ptr(0);
    noc_async_read_tile(3, in, page);
    noc_async_read_barrier();
    cb_push_back(0, 1);
    noc_async_write(page, at(1, LOCAL), 2048);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
""",
            "write0": DRAIN.replace("i < 6", "i < 1"),
            "read1": "noc_semaphore_wait(sem(0), 1);" + TO_OUT.replace("tile(0", "tile(1"),
        },
    ),
    Right(
        "two circular buffers on the same pages",
        tiles(6),
        {
            "read0": """
    cb_reserve_back(4, 1);
    noc_async_read_tile(6, in, get_write_ptr(4));
    noc_async_read_barrier();
    cb_push_back(4, 1);
""",
            "write0": """
    cb_wait_front(4, 1);
    noc_async_write_tile(0, out, get_read_ptr(5));
    noc_async_write_barrier();
    cb_pop_front(4, 1);
""",
        },
    ),
    Right(
        "a read of L1 within the core",
        tiles(8),
        {
            "read0": """
    noc_async_read_tile(8, in, LOCAL + 2048);
    noc_async_read_barrier();
    noc_async_read(at(0, LOCAL + 2048), LOCAL, 2048);
    noc_async_read_barrier();
"""
            + TO_OUT
        },
    ),
    Right(
        "zeros from where L1 has them",
        tiles(),
        {
            "read0": """
    cb_reserve_back(0, 1);
    for (uint32_t i = 0; i < 4; i++) {
        noc_async_read(get_noc_addr(MEM_ZEROS_BASE), get_write_ptr(0) + i * 512, 512);
    }
    noc_async_read_barrier();
    cb_push_back(0, 1);
""",
            "write0": DRAIN.replace("i < 6", "i < 1"),
        },
    ),
    Right(
        "a semaphore that is looked at through a pointer",
        tiles(9),
        {
            "read0": """
    noc_async_read_tile(9, in, LOCAL);
    noc_async_read_barrier();
    *sem(0) = 1;
""",
            "write0": "while (*sem(0) != 1) {}" + TO_OUT,
        },
    ),
    Right(
        "a word as a signal",
        tiles(9),
        {
            "read0": """
    noc_async_read_tile(9, in, LOCAL);
    noc_async_read_barrier();
    noc_async_write(LOCAL, at(1, LOCAL), 2048);
    noc_inline_dw_write(at(1, get_semaphore(0)), 5);
    noc_async_write_barrier();
""",
            "read1": "noc_semaphore_wait(sem(0), 5);" + TO_OUT,
        },
    ),
    Right(
        "a semaphore's word as a signal to another core",
        tiles(9),
        {
            "read0": """
    noc_async_read_tile(9, in, LOCAL);
    noc_async_read_barrier();
    noc_async_write(LOCAL, at(1, LOCAL), 2048);
    noc_semaphore_set(sem(1), 6);
    noc_semaphore_set_remote(get_semaphore(1), at(1, get_semaphore(0)));
    noc_async_write_barrier();
""",
            "read1": "noc_semaphore_wait(sem(0), 6);" + TO_OUT,
        },
    ),
    Right(
        "a ring",
        tiles(2),
        {
            "read0": """
    noc_async_read_tile(2, in, LOCAL);
    noc_async_read_barrier();
    noc_async_write(LOCAL, at(1, LOCAL), 2048);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    noc_semaphore_wait(sem(0), 1);
    noc_async_write_tile(0, out, LOCAL);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
""",
            **{
                f"read{core}": f"""
    noc_semaphore_wait(sem(0), 1);
    noc_async_write(LOCAL, at({(core + 1) % 3}, LOCAL), 2048);
    noc_semaphore_inc(at({(core + 1) % 3}, get_semaphore(0)), 1);
    noc_async_write_barrier();
    noc_async_atomic_barrier();
"""
                for core in (1, 2)
            },
        },
    ),
    Right(
        "reads of whole aligned pages, padding included",
        tiles(),
        {
            "read0": """
    for (uint32_t i = 0; i < 30; i++) {
        noc_async_read(get_noc_addr(i, sticks), LOCAL + i * 64, 64);
    }
    noc_async_read_barrier();
    noc_async_write_tile(0, out, LOCAL + 2048);
    noc_async_write_barrier();
"""
        },
    ),
    Right(
        "the address behind the last page, which is not used",
        tiles(0, 15),
        {
            "read0": """
    uint64_t next = get_noc_addr(0, in);
    for (uint32_t i = 0; i < 16; i++) {
        const uint64_t now = next;
        next = get_noc_addr(i + 1, in);
        if (i % 15 == 0) {
            noc_async_read(now, LOCAL + i % 2 * 2048, 2048);
        }
    }
    noc_async_read_barrier();
    for (uint32_t i = 0; i < 2; i++) {
        noc_async_write_tile(i, out, LOCAL + i * 2048);
    }
    noc_async_write_barrier();
"""
        },
    ),
    Right(
        "the pages of a bank in one go",
        tiles(0, 12),
        {
            "read0": """
    noc_async_read(get_noc_addr(0, in), LOCAL, 4096);
    noc_async_read_barrier();
    for (uint32_t i = 0; i < 2; i++) {
        noc_async_write_tile(i, out, LOCAL + i * 2048);
    }
    noc_async_write_barrier();
"""
        },
    ),
    Right(
        "pages of half the size",
        tiles(0),
        {
            "read0": """
    const InterleavedAddrGen<true> half = {.bank_base_address = IN, .page_size = 1024};
    noc_async_read(get_noc_addr(0, half), LOCAL, 1024);
    noc_async_read(get_noc_addr(12, half), LOCAL + 1024, 1024);
    noc_async_read_barrier();
"""
            + TO_OUT
        },
    ),
    Right(
        "writes with numbers, and a signal behind them",
        tiles(9),
        {
            "read0": """
    noc_async_read_tile(9, in, LOCAL);
    noc_async_read_barrier();
    noc_async_write_one_packet_with_trid(LOCAL, at(1, LOCAL), 2048, 3);
    noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    noc_async_write_barrier_with_trid(3);
    noc_async_atomic_barrier();
""",
            "read1": "noc_semaphore_wait(sem(0), 1);" + TO_OUT,
        },
    ),
    Right(
        "a kernel on both networks",
        tiles(9, 10),
        {
            "read0": """
    noc_async_read_tile(9, in, LOCAL, 0, 0);
    noc_async_read_tile(10, in, LOCAL + 2048, 0, 1);
    noc_async_read_barrier(0);
    noc_async_read_barrier(1);
    noc_async_write_tile(0, out, LOCAL, 0);
    noc_async_write_tile(1, out, LOCAL + 2048, 1);
    noc_async_write_barrier(0);
    noc_async_write_barrier(1);
"""
        },
    ),
    Right(
        "semaphores between the processors of a core",
        tiles(0, 1, 2),
        {
            "read0": """
    for (uint32_t i = 0; i < 3; i++) {
        noc_semaphore_wait(sem(0), i);
        noc_async_read_tile(i, in, LOCAL);
        noc_async_read_barrier();
        noc_semaphore_set(sem(1), i + 1);
    }
""",
            "write0": """
    for (uint32_t i = 0; i < 3; i++) {
        noc_semaphore_wait(sem(1), i + 1);
        noc_async_write_tile(i, out, LOCAL);
        noc_async_writes_flushed();
        noc_semaphore_set(sem(0), i + 1);
    }
    noc_async_write_barrier();
""",
        },
    ),
    Right(
        "a multicast that includes its sender",
        tiles(11),
        {
            "read0": """
    noc_async_read_tile(11, in, LOCAL + 2048);
    noc_async_read_barrier();
    noc_async_write_multicast_loopback_src(
        LOCAL + 2048, get_noc_multicast_addr(X0, Y0, X2, Y0, LOCAL), 2048, 3);
    noc_async_write_barrier();
"""
            + TO_OUT
        },
    ),
    Right(
        "pages that others fetch, and credits for them",
        tiles(0, 1, 2),
        {
            "read0": """
    for (uint32_t i = 0; i < 3; i++) {
        cb_reserve_back(0, 1);
        noc_async_read_tile(i, in, get_write_ptr(0));
        noc_async_read_barrier();
        cb_push_back(0, 1);
        noc_semaphore_inc(at(1, get_semaphore(0)), 1);
    }
    noc_async_atomic_barrier();
""",
            "write0": """
    for (uint32_t i = 0; i < 3; i++) {
        cb_wait_front(0, 1);
        noc_semaphore_wait_min(sem(1), i + 1);
        cb_pop_front(0, 1);
    }
""",
            "read1": """
    for (uint32_t i = 0; i < 3; i++) {
        noc_semaphore_wait_min(sem(0), i + 1);
        noc_async_read(at(0, get_read_ptr(0) + i * 2048), LOCAL, 2048);
        noc_async_read_barrier();
        noc_async_write_tile(i, out, LOCAL);
        noc_async_write_barrier();
        noc_semaphore_inc(at(0, get_semaphore(1)), 1);
    }
    noc_async_atomic_barrier();
""",
        },
    ),
    Right(
        "words, halves and bytes of a reserved page",
        tiles(),
        {
            "read0": """
    cb_reserve_back(0, 1);
    const uint32_t page = get_write_ptr(0);
    volatile tt_l1_ptr uint8_t* bytes = reinterpret_cast<volatile tt_l1_ptr uint8_t*>(page);
    volatile tt_l1_ptr uint16_t* halves = reinterpret_cast<volatile tt_l1_ptr uint16_t*>(page);
    for (uint32_t i = 0; i < 64; i++) {
        bytes[i] = 0;
    }
    for (uint32_t i = 32; i < 512; i++) {
        halves[i] = 0;
    }
    for (uint32_t i = 256; i < 512; i++) {
        word(page)[i] = 0;
    }
    cb_push_back(0, 1);
""",
            "write0": DRAIN.replace("i < 6", "i < 1"),
        },
    ),
    Right(
        "a message to a core of the rectangle that runs no kernel",
        tiles(4),
        {
            "read0": """
    noc_async_read_tile(4, in, LOCAL);
    noc_async_read_barrier();
    noc_async_write_multicast(LOCAL, others(LOCAL), 2048, 2);
    noc_semaphore_set(sem(0), 1);
    noc_semaphore_set_multicast(get_semaphore(0), others(get_semaphore(0)), 2);
    noc_async_write_barrier();
""",
            "read1": "noc_semaphore_wait(sem(0), 1);" + TO_OUT,
        },
    ),
    Right(
        "pages that are pushed as a block and waited for one by one",
        tiles(0, 1, 2, 3),
        {
            "read0": """
    cb_reserve_back(0, 4);
    for (uint32_t i = 0; i < 4; i++) {
        noc_async_read_tile(i, in, get_write_ptr(0) + i * 2048);
    }
    noc_async_read_barrier();
    cb_push_back(0, 4);
""",
            "write0": DRAIN.replace("i < 6", "i < 4"),
        },
    ),
)


@pytest.mark.parametrize("options", SCHEDULES, ids=["in order", "shuffled", "late"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_nothing_is_found(case: Right, options: object) -> None:
    """No error, the warnings that are said, and the right bytes."""
    verdict = judge(case.kernels, options)
    assert verdict.rules("error") == [], verdict.findings[0].text()
    assert set(verdict.rules("warning")) <= set(case.warnings) | {"cb-pop-unwaited"}
    assert bool(verdict.rules("warning")) == bool(case.warnings)
    assert verdict.result == case.expected
