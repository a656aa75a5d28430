"""Vectors in kernels that try to get at more than lanes, or to take for ever."""

from __future__ import annotations

import time

import numpy as np
import pytest
from cores.lane_kernels import run_lanes

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions

TILE = np.ones((32, 32), np.float32)
SECONDS = 20.0
"""What a refusal may take on a busy machine."""

BODIES = [
    "sfpi::end_if();",
    "sfpi::begin_else();",
    "sfpi::begin_elseif(x < 0.0f);",
    "for (;;) { sfpi::begin_block(); }",
    "x.lanes = 1;",
    "x.lanes.fill(3);",
    "x = x.lanes + x.lanes;",
    "vInt i; i.lanes = x.lanes;",
    "builtin_sfpi_floats f; x = vFloat(f);",
    "builtin_sfpi_floats f{}; x = vFloat(f);",
    "sfpi::builtin_sfpi_load_floats(0);",
    "ckernel::builtin_sfpi_start(0);",
    "x = *(vFloat*)1024;",
    "CoreLocalMem<vFloat> m(1024); x = m[0];",
    "CoreLocalMem<vFloat> m(1024); m[0] = x;",
    "uint32_t* p = (uint32_t*)&x; DPRINT << *p;",
    "memcpy(&x, &y, 400000);",
    "DPRINT << x;",
    "DPRINT << x.lanes;",
    "uint32_t n = x;",
    "if (x < 0.0f) { }",
    "vFloat table[100000000];",
    "std::array<vFloat, 100000000> table;",
    "x = dst_reg[x];",
    "dst_reg = x;",
    "v_if(x < y) { v_if(y < x) { dst_reg += 0x7fffffff; } v_endif; dst_reg[0] = x; } v_endif;",
    "_llk_math_eltwise_unary_sfpu_params_(work, 0, VectorMode::RC);",
    "union { vFloat f; uint32_t u; } both; both.f = x; DPRINT << both.u;",
    'asm volatile("sfpload");',
    "x = lut(x, y, y, y);",
    "x = lut(x, vLut8si(0.5f, 0.5f), vLut16si(0.5f, 0.5f), vLut8si(0.5f, 0.5f));",
    "vLut8si table(sLut8si(sLut8si(1, 2), sLut8si(1, 2)));",
]


@pytest.mark.parametrize("body", BODIES)
def test_what_is_no_vector_is_refused(body: str) -> None:
    """By a message with a place of the kernel, never by Python's words."""
    start = time.monotonic()
    with pytest.raises((SimError, CppSyntaxError)) as raised:
        run_lanes(TILE, TILE, body)
    assert time.monotonic() - start < SECONDS
    text = str(raised.value)
    assert "error:" in text
    for word in ("ndarray", "numpy", "object has no", "Traceback", "NoneType"):
        assert word not in text


ENDLESS = ["for (;;) { x = x * y; }", "while (true) { dst_reg[0] = x; }", "for (;;) { dst_reg++; }"]


@pytest.mark.parametrize("body", ENDLESS)
def test_endless_loops_end(body: str) -> None:
    """Instructions of the vector unit are counted as turns of loops are."""
    with pytest.raises(SimError, match="cycle"):
        run_lanes(TILE, TILE, body, options=SimOptions(cycle_limit=20_000))
