"""Calls have the meaning of the release of tt-metal that a kernel is written for."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from cores.tile_bytes import core_of, eighths, unpacked
from numpy.typing import NDArray
from oracles.kernel_oracle import RecordingApi

from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import Role
from ttmlir.optable.kernel.releases import RELEASES, Release, find_release
from ttmlir.sim.calls.device_objects import DataMovementApi
from ttmlir.sim.calls.pack_api import PackApi
from ttmlir.sim.calls.unpack_api import UnpackApi
from ttmlir.sim.kernels import compile_kernel

Array = NDArray[Any]
X = np.abs(eighths(3, 24)) + 0.125
OLD = '#include "compute_kernel_api/common.h"\nnamespace NAMESPACE { void MAIN { %s } }'
FEBRUARY = '#include "compute_kernel_api/common.h"\nvoid kernel_main() { %s }'
LATE = '#include "api/compute/common.h"\nvoid kernel_main() { %s }'
BODY = """
    unary_op_init_common(0, 16); copy_tile_to_dst_init_short(0);
    tile_regs_acquire(); copy_tile(0, 0, 0); %s
    tile_regs_commit(); tile_regs_wait(); pack_tile(0, 16); tile_regs_release();
"""


def run(form: str, body: str, *, numerics: Any = "exact", **options: Any) -> Array:
    """The tile that a kernel makes of `X`."""
    core = core_of((X, DataType.F32), out=DataType.F32, numerics=numerics, fp32_dest_acc_en=True)
    core.run_cpp(form % (BODY % body), **options)
    return unpacked(core.bytes_of(16), DataType.F32)[0]


def word(number: float) -> int:
    """The bits of a float32."""
    return struct.unpack("<I", struct.pack("<f", number))[0]


@pytest.mark.parametrize(("form", "exponent"), [(OLD, 3), (FEBRUARY, word(3.0)), (LATE, word(3.0))])
def test_the_exponent_of_a_power(form: str, exponent: int) -> None:
    """A whole number until 2025, the bits of a float since."""
    got = run(form, f"power_tile_init(); power_tile(0, {exponent}u);")
    np.testing.assert_allclose(got, X.astype(np.float64) ** 3, rtol=1e-6)


def test_a_release_that_is_given() -> None:
    """It counts more than the headers."""
    text = "power_tile_init(); power_tile(0, 2);"
    got = run(LATE, text, release=Release.MIDDLE_2025)
    np.testing.assert_allclose(got, X.astype(np.float64) ** 2, rtol=1e-6)
    text = f"power_tile_init(); power_tile(0, {word(0.5)});"
    got = run(OLD, text, release=RELEASES["0.81"])
    np.testing.assert_allclose(got, np.sqrt(X.astype(np.float64)), rtol=1e-6)


@pytest.mark.parametrize(
    ("form", "call", "factor"),
    [
        (OLD, "exp_tile_init<false, true>(); exp_tile<false, true>(0);", 1),
        (LATE, "exp_tile_init(); exp_tile<false, true>(0, VectorMode::RC, 0x3F00);", 0.5),
        (LATE, "exp_tile_init(); exp_tile<false, false>(0, VectorMode::RC, 0x3F00);", 1),
    ],
)
def test_the_factor_of_exponentials(form: str, call: str, factor: float) -> None:
    """The second flag asks for the fast form until 2026, and for a factor in 0.81."""
    np.testing.assert_allclose(run(form, call), np.exp(X.astype(np.float64) * factor), rtol=1e-6)


def test_fast_exponentials_of_late_2026() -> None:
    """One flag asks for them; they are within 3.2 %, and not exact."""
    call = f"exp_tile_init<true, {word(0.5)}u>(); exp_tile<true, true>(0);"
    got = run(LATE, call, numerics="device")
    expected = np.exp(X.astype(np.float64) / 2)
    np.testing.assert_allclose(got, expected, rtol=0.032)
    assert np.abs(got / expected - 1).max() > 0.005


def test_defaults_of_2024() -> None:
    """Circular buffers 0, 1 and 16; later kernels have to give them."""
    body = "mm_init(); unary_op_init_common(0); copy_tile_to_dst_init_short();"
    compile_kernel(OLD % body, "k.cpp", Role.UNPACK, api=UnpackApi)
    with pytest.raises(CppSyntaxError, match="'mm_init' "):
        compile_kernel(LATE % body, "k.cpp", Role.UNPACK, api=UnpackApi)


def test_old_names_for_the_use_of_dst() -> None:
    """`acquire_dst(tt::DstMode::Half)`."""
    body = "acquire_dst(tt::DstMode::Half); release_dst(tt::DstMode::Half);"
    compile_kernel(OLD % body, "k.cpp", Role.PACK, api=PackApi)


@pytest.mark.parametrize(("value", "branch"), [(1, "1"), (2, "2")])
def test_conditions_on_compile_time_arguments(value: int, branch: str) -> None:
    """A macro of 2024 that conditions of the preprocessor can use."""
    text = (
        "#define IS_FIRST get_compile_time_arg_val(1) == 1\n#if IS_FIRST\n#define BRANCH 1\n"
        "#else\n#define BRANCH 2\n#endif\n"
        f"static_assert(BRANCH == {branch});\nvoid kernel_main() {{}}"
    )
    api = RecordingApi
    compile_kernel(text, "k.cpp", Role.BRISC, api=api, compile_time_args=(7, value))
    with pytest.raises(CppSyntaxError, match="there is no compile-time argument '1' that #if"):
        compile_kernel(text, "k.cpp", Role.BRISC, api=api, compile_time_args=(7,))


@pytest.mark.parametrize(
    ("headers", "text", "release"),
    [
        (("compute_kernel_api.h",), "namespace NAMESPACE { void MAIN {} }", "2024.10"),
        (("compute_kernel_api.h", "compile_time_args.h"), "void MAIN {}", "2025.6"),
        (("compute_kernel_api/pack.h",), "void kernel_main() {}", "2026.2"),
        (("api/dataflow/dataflow_api.h",), "void kernel_main() {}", "2026.2"),
        (("tt_metal/hw/inc/api/compute/pack.h",), "void kernel_main() {}", "0.81"),
        (("api/dataflow/noc.h",), "void kernel_main() {}", "0.81"),
        (("dataflow_api.h",), "void kernel_main() {}", None),
        ((), "void kernel_main() {}", None),
    ],
)
def test_the_release_of_a_kernel(headers: tuple[str, ...], text: str, release: str | None) -> None:
    """Headers and the entry say it."""
    found = find_release(headers, text)
    assert (None if found is None else found.value) == release


def test_younger_meanings_have_no_names_of_their_own() -> None:
    """Kernels cannot ask for them but by the release."""
    with pytest.raises(CppSyntaxError, match="there is no function 'power_tile_since_2026'"):
        compile_kernel(LATE % "power_tile_since_2026(0, 1);", "k.cpp", Role.MATH, api=RecordingApi)


def test_layouts_of_0_81_have_the_size_of_a_page() -> None:
    """As its host programs pass them, if the release is given."""
    text = (
        "constexpr auto first = TensorAccessorArgs<0>();"
        "constexpr auto second = TensorAccessorArgs<first.next_compile_time_args_offset()>();"
        "static_assert(second.next_compile_time_args_offset() == 4);"
        "static_assert(second.get_aligned_page_size() == 4096);"
        "void kernel_main() {}"
    )
    args = (2, 2048, 2, 4096)
    late = RELEASES["0.81"]
    compile_kernel(
        text, "k.cpp", Role.BRISC, api=DataMovementApi, compile_time_args=args, release=late
    )
    with pytest.raises(CppSyntaxError, match="reads 2048 from compile-time argument 1, which is"):
        compile_kernel(text, "k.cpp", Role.BRISC, api=DataMovementApi, compile_time_args=args)
