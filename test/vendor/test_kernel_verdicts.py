"""Kernels in the form of 2026 are those that tt-metal's compiler took for both boards."""

from __future__ import annotations

import pytest
from kernel_verdicts import hash_of, kernels, programs, verdicts

PROGRAMS = dict(programs())


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels_compile(name: str) -> None:
    """Every kernel of a program is one that was compiled, for Wormhole and for Blackhole."""
    known = verdicts()
    for _, kernel in kernels(PROGRAMS[name]):
        assert known.get(hash_of(kernel)) == {"n150", "p150"}, kernel
