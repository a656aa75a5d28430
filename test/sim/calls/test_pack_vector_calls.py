"""Functions that the PACK thread computes on the half of DST that it waited for, against torch."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from cores.compute_core import Recorder
from cores.tile_bytes import BOTH, core_of, eighths, unpacked

from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel.pack_vector import CALLS
from ttmlir.sim.options import Numerics

torch = pytest.importorskip("torch")
functional = torch.nn.functional

FUNCTIONS: dict[str, tuple[tuple[float, ...], Callable[[Any], Any]]] = {
    "gelu_tile_pack<false>": ((), functional.gelu),
    "gelu_tanh_tile_pack": ((), lambda x: functional.gelu(x, approximate="tanh")),
    "hardsigmoid_tile_pack": ((), functional.hardsigmoid),
    "hardtanh_tile_pack": ((-0.75, 0.5), lambda x: functional.hardtanh(x, -0.75, 0.5)),
    "relu_max_tile_pack": ((0.5,), lambda x: torch.clamp(x, 0, 0.5)),
    "selu_tile_pack": ((1.0507010, 1.6732632), functional.selu),
    "sigmoid_tile_pack": ((), torch.sigmoid),
    "silu_tile_pack": ((), functional.silu),
    "softplus_tile_pack": ((2.0, 0.5, 20.0), lambda x: functional.softplus(x, 2)),
    "tanh_tile_pack": ((), torch.tanh),
    "exp_packthread_tile": ((), torch.exp),
}
"""Numbers, and torch's function in float64."""


def run(call: str, prepare: str, numerics: Numerics, *, start: str = "tile_regs_wait();") -> Any:
    """The core and what it packed: a tile that the PACK thread changed, then an untouched one."""
    watch = Recorder()
    tiles = np.stack([eighths(3, 24), eighths(4, 24)])
    core = core_of(
        (tiles, DataType.BF16),
        out=DataType.F32,
        out_pages=2,
        numerics=numerics,
        watch=watch,
        fp32_dest_acc_en=True,
    )
    core.run_cpp(
        f"""void kernel_main() {{
            unary_op_init_common(0, 16);
            {prepare}
            for (uint32_t i = 0; i < 2; ++i) {{
                tile_regs_acquire();
                copy_tile(0, i, 1);
                tile_regs_commit();
                {start}
                if (i == 0) {{ PACK(({call})); }}
                pack_tile(1, 16);
                tile_regs_release();
            }}
        }}"""
    )
    found = unpacked(core.bytes_of(16), DataType.F32)
    np.testing.assert_array_equal(found[1], tiles[1])
    return tiles[0], found[0], watch.findings


def calls(name: str) -> tuple[str, str]:
    """The call on tile 1, and the one that prepares it."""
    bare, bracket, template = name.partition("<")
    numbers = (struct.unpack("<I", struct.pack("<f", each))[0] for each in FUNCTIONS[name][0])
    init = next(each.init for each in CALLS if each.cpp == bare)
    return f"{name}({', '.join(('1', *map(str, numbers)))})", f"{init}{bracket}{template}();"


@pytest.mark.parametrize("numerics", BOTH)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_packed_tiles(name: str, numerics: Numerics) -> None:
    """The second tile, which no call changed, is packed as it was copied."""
    x, got, findings = run(*calls(name), numerics)
    expected = FUNCTIONS[name][1](torch.from_numpy(x.astype(np.float64))).numpy()
    np.testing.assert_allclose(got, expected, rtol=2.0**-18, atol=2.0**-21)
    assert findings == []


def test_each_call_has_a_test() -> None:
    """But for those that prepare."""
    tested = {name.partition("<")[0] for name in FUNCTIONS}
    assert tested == {each.cpp for each in CALLS if each.init}


def test_a_factor_of_exponentials() -> None:
    """0.5 as the bits of a bfloat16."""
    call = "exp_packthread_tile<false, true>(1, VectorMode::RC, 0x3F00)"
    x, got, _ = run(call, "exp_packthread_tile_init();", "exact")
    np.testing.assert_allclose(got, np.exp(x.astype(np.float64) / 2), rtol=2.0**-18)


def test_findings_name_the_calls_of_the_thread() -> None:
    """A unit that is not prepared: what the call of the MATH thread prepares is another one."""
    x, got, findings = run("tanh_tile_pack(1)", "", "exact")
    np.testing.assert_allclose(got, np.tanh(x.astype(np.float64)), rtol=2.0**-18)
    assert [each.message for each in findings] == [
        "the vector unit is not prepared for tanh_tile_pack; call tanh_tile_init_pack before"
    ]


def test_vectors_of_the_thread() -> None:
    """sfpi's vectors are those of the half that the PACK thread waited for."""
    watch = Recorder()
    tiles = np.stack([eighths(3, 24), eighths(4, 24)])
    core = core_of((tiles, DataType.BF16), out=DataType.F32, out_pages=2, watch=watch)
    core.run_cpp(
        """#ifdef TRISC_PACK
        inline void distance(float from) {
            for (int d = 0; d < 8; d++) {
                vFloat x = dst_reg[0];
                x = x - from;
                v_if(x < 0.0f) { x = -x; }
                v_endif;
                dst_reg[0] = x;
                dst_reg++;
            }
        }
        #endif
        void kernel_main() {
            unary_op_init_common(0, 16);
            for (uint32_t i = 0; i < 2; ++i) {
                tile_regs_acquire();
                copy_tile(0, i, 1);
                tile_regs_commit();
                tile_regs_wait();
                PACK((_llk_math_eltwise_unary_sfpu_params_<false>(
                    distance, 1, VectorMode::RC, 0.5f)));
                PACK(TTI_STALLWAIT(p_stall::STALL_PACK, p_stall::WAIT_SFPU));
                pack_tile(1, 16);
                tile_regs_release();
            }
        }"""
    )
    assert watch.findings == []
    np.testing.assert_array_equal(unpacked(core.bytes_of(16), DataType.F32), abs(tiles - 0.5))
