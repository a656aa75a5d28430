"""Kernels in the form of 2026 are those that tt-metal's compiler took for both boards."""

from __future__ import annotations

import pytest
from kernel_verdicts import hash_of, kernels, operations, programs, verdicts

PROGRAMS = dict(programs())


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compile(name: str) -> None:
    """Every kernel of a program is one that was compiled, for Wormhole and for Blackhole."""
    known = verdicts()
    for _, kernel in kernels(PROGRAMS[name]):
        assert known.get(hash_of(kernel)) == {"n150", "p150"}, kernel


_ON_SHARDS = ("get_bank_and_offset", "get_shard_noc_addr", "is_local_bank", "is_local_page")
_NOT_COMPILED = {
    # Accessors of sharded tensors have these, which the arguments of the compiler are not of.
    *(f"ttkernel.tensor_accessor.{name}" for name in (*_ON_SHARDS, "is_local_shard")),
    # Since 0.81 it takes an address on the network, not the place of a core.
    "ttkernel.tensor_accessor.is_local_addr",
}


def test_operations_compile() -> None:
    """A kernel with each operation of 2026 is one that was compiled for both boards."""
    known = verdicts()
    found = {name: known.get(hash_of(kernel)) for name, _, kernel in operations()}
    wrong = {name for name, boards in found.items() if boards != {"n150", "p150"}}
    assert wrong == _NOT_COMPILED
    assert len(found) == 273
