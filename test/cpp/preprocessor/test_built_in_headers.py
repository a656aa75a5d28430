"""The package's own headers: where they stand in for others, and what they compute."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from oracles.kernel_oracle import noted, noted_by_gcc

from ttmlir.cpp import include_path
from ttmlir.cpp.include_path import IncludePath, find_built_in_header
from ttmlir.cpp.preprocess import preprocess
from ttmlir.cpp.tokens import BLANK, SourceText, split_tokens
from ttmlir.cpp.tree import Header

HEADERS = Path(include_path.__file__).parent / "headers"
TEXTS = sorted(
    str(each.relative_to(HEADERS)) for each in HEADERS.rglob("*") if each.suffix in (".h", ".hpp")
)

NUMBERS = {
    "tt-metalium/constants.hpp": (
        "note(tt::constants::TILE_HW); note(tt::constants::TILE_WIDTH + tt::constants::FACE_HW);"
        "note(tt::constants::FACE_WIDTH - tt::constants::TILE_HEIGHT);"
    ),
    "tt-metalium/buffer_types.hpp": (
        "note((int)tt::tt_metal::TensorMemoryLayout::INTERLEAVED);"
        "note((int)tt::tt_metal::TensorMemoryLayout::HEIGHT_SHARDED);"
        "note((int)tt::tt_metal::TensorMemoryLayout::WIDTH_SHARDED);"
        "note((int)tt::tt_metal::TensorMemoryLayout::BLOCK_SHARDED);"
        "note((int)tt::tt_metal::TensorMemoryLayout::ND_SHARDED);"
        "note((int)tt::tt_metal::ShardOrientation::COL_MAJOR);"
        "note((int)tt::tt_metal::ShardDistributionStrategy::GRID_2D);"
        "note((int)tt::tt_metal::BufferType::L1); note((int)tt::tt_metal::BufferType::TRACE);"
    ),
    "mod_div_lib.h": (
        "note(mulsi3(70000, 70000)); note(udivsi3_const_divisor<12>(4000000007u));"
        "note(umodsi3_const_divisor<94>(4000000007u));"
    ),
    "alignment.h": "note(align(97, 32)); note(align(96, 32));",
    "bit_utils.h": (
        "note(is_power_of_2(0)); note(is_power_of_2(64)); note(is_power_of_2(65));"
        "note(ilog2(0)); note(ilog2(1)); note(ilog2(64)); note(ilog2(4294967295u));"
    ),
    "numeric/bfloat16.h": (
        "note(NEG_INF_BFLOAT16 + POS_INF_BFLOAT16); note(NAN_BFLOAT16); note(BFLOAT16_SIGN_MASK);"
        "note(BFLOAT16_EXPONENT_MASK + BFLOAT16_MANTISSA_MASK - BFLOAT16_MAGNITUDE_MASK);"
        "note(bfloat16_greater(0x3f80, 0x3f00)); note(bfloat16_greater(0xbf80, 0xbf00));"
        "note(bfloat16_greater(0xbf00, 0xbf80)); note(bfloat16_greater(0x3f80, 0xff80));"
        "note(bfloat16_greater(0xff80, 0x3f80)); note(bfloat16_greater(0x3f80, 0x3f80));"
        "note(bf16_to_fp32(0xc049) * 64); note(fp32_to_bf16(1.0078125f + 0.00390625f));"
        "note(fp32_to_bf16(1.00390625f)); note(fp32_to_bf16(-3.14159274f));"
        "note(fp32_to_bf16_truncate(-3.14159274f)); const FloatBits halves(-3.14159274f);"
        "note(halves.high16); note(halves.low16);"
    ),
    "numeric/float32.h": (
        "note(NEG_INF_FLOAT32 + POS_INF_FLOAT32); note(NAN_FLOAT32); note(FLOAT32_SIGN_MASK);"
        "note(FLOAT32_EXPONENT_MASK + FLOAT32_MANTISSA_MASK - FLOAT32_MAGNITUDE_MASK);"
        "note(float32_greater(0x3f800001, 0x3f800000)); note(float32_greater(0x80000001, 1));"
    ),
    "numeric/int32.h": (
        "note(NEG_INF_INT32); note(POS_INF_INT32); note(INT32_SIGN_MASK);"
        "note(int32_greater(-2, -3)); note(int32_greater(-2, 3)); note(int32_greater(2, -3));"
    ),
    "llk_math_eltwise_unary_sfpu_macros.h": "note(SFPU_TEMPLATE_ARGUMENTS (7 + 1));",
    "llk_math_eltwise_binary_sfpu_macros.h": "note(SFPU_TEMPLATE_ARGUMENTS (9));",
}  # fmt: skip
"""What a kernel notes that uses all of a header."""

MACROS = {
    "llk_math_eltwise_unary_sfpu_macros.h": """
        SFPU_UNARY_CALL(SYNC, ACCUMULATE, scale, (true, 8), 1, VectorMode::RC, 3.0f);
        SFPU_UNARY_CALL(SYNC, ACCUMULATE, scale, (X), 1, VectorMode::RC);
        SFPU_UNARY_CALL_NO_TEMPLATE_ARGS(SYNC, ACCUMULATE, twice, 2, VectorMode::R, a, b);
        SFPU_UNARY_INIT(sqrt);
        SFPU_UNARY_INIT_FN(sqrt, sqrt_init, (true, 4));
    """,
    "llk_math_eltwise_binary_sfpu_macros.h": """
        SFPU_BINARY_CALL(SYNC, ACCUMULATE, scale, (true, 8), 1, 2, 3, VectorMode::RC, 3.0f);
        SFPU_BINARY_CALL_NO_TEMPLATE_ARGS(SYNC, ACCUMULATE, twice, 1, 2, 3, VectorMode::C);
    """,
    "compute_kernel_api.h": "SFPU_UNARY_INIT(sqrt);",
}
"""Uses of all macros of headers that have nothing else."""


FABRIC = [f"fabric/{each}.hpp" for each in ("calls", "mux", "packet_header", "sender", "socket")]
FABRIC += ["edm_fabric/edm_handshake.hpp", "fabric/mux_v2.hpp"]
FABRIC += ["fabric/remote_circular_buffer.hpp", "dataflow_api.h", "kernel_args.h"]
"""Headers that send to other cores (test/metalium/test_fabric_calls.py and others), names that
kernels of prefetchers use, and arguments by their names (test/sim/calls/test_own_headers.py)."""


def test_every_text_is_used() -> None:
    """Each header has its numbers, or is used elsewhere."""
    assert TEXTS == sorted({*NUMBERS, *MACROS, *FABRIC})


PATTERNS = {
    "bfloat16": (0, 0x8000, 0x3F80, 0x3F81, 0xBF80, 0xBF81, 0x7F80, 0xFF80),
    "float32": (0, 0x80000000, 1, 0x3F800001, 0xBF800001, 0xBF800000, 0x7F800000, 0xFF800000),
}
"""Numbers as their bits, the infinities among them."""


@pytest.mark.parametrize("name", PATTERNS)
def test_bits_are_compared_like_numbers(name: str) -> None:
    """As NumPy compares them, but that 0 is greater than -0 in bfloat16."""
    wide = [*PATTERNS[name], *((0x7FC00000, 0xFFC00000) if name == "float32" else ())]
    bits = np.array(wide, np.uint32) << (16 if name == "bfloat16" else 0)
    numbers = bits.astype(np.uint32).view(np.float32)
    pairs = [(a, b) for a in range(len(wide)) for b in range(len(wide))]
    calls = "".join(f"note({name}_greater({wide[a]}u, {wide[b]}u));" for a, b in pairs)
    found = noted(f'#include "api/numeric/{name}.h"\nvoid kernel_main() {{ {calls} }}\n')
    expected = {(a, b): int(numbers[a] > numbers[b]) for a, b in pairs}
    if name == "bfloat16":
        expected[0, 1] = 1
    assert dict(zip(pairs, found, strict=True)) == expected


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_are_those_of_gxx(name: str, tmp_path: Path) -> None:
    """The simulator and g++ read the same header."""
    kernel = '#include "{}"\nvoid kernel_main() {{ {} }}\n'
    outer = {"mod_div_lib.h": "internal/", "alignment.h": "api/", "bit_utils.h": "internal/"}
    outer |= dict.fromkeys((each for each in NUMBERS if each.startswith("numeric/")), "api/")
    here = kernel.format(outer.get(name, "") + name, NUMBERS[name])
    [expected] = noted_by_gcc([kernel.format(HEADERS / name, NUMBERS[name])], tmp_path)
    assert expected
    assert noted(here) == expected


NO_ITEMS = Header("header.h", "", (), (), frozenset())


def words(text: str) -> list[str]:
    """The tokens of a text."""
    tokens = split_tokens(SourceText(text, "expected"))
    return [token.text for token in tokens if token.kind not in BLANK]


@pytest.mark.parametrize("name", MACROS)
def test_macros_expand_as_those_of_gxx(name: str) -> None:
    """The simulator and g++ read the same header, which includes others of its folder."""
    text = f'#include "{HEADERS / name}"\n{MACROS[name]}'
    command = ["g++", "-E", "-P", "-std=c++2a", "-x", "c++", "-"]
    run = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    source = SourceText(f'#include "{name}"\n{MACROS[name]}', "k.cpp")
    here = preprocess(source, {}, IncludePath(), read_header=lambda _: NO_ITEMS).text
    expected = words(run.stdout)
    assert "ckernel" in expected
    assert words(re.sub(r"^#pragma \d+$", "", here, flags=re.MULTILINE)) == expected


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("dataflow_api.h", "dataflow_api.h"),
        ("api/dataflow/dataflow_api.h", "dataflow_api.h"),
        ("tt_metal/hw/inc/api/dataflow/dataflow_api.h", "dataflow_api.h"),
        ("tt_metal/hw/inc/dataflow_api.h", "dataflow_api.h"),
        ("compute_kernel_api.h", "compute_kernel_api.h"),
        ("api/compute/compute_kernel_api.h", "compute_kernel_api.h"),
        ("compute_kernel_api/eltwise_unary/exp.h", "compute_kernel_api/eltwise_unary/exp.h"),
        ("api/compute/eltwise_unary/exp.h", "compute_kernel_api/eltwise_unary/exp.h"),
        ("tt_metal/include/compute_kernel_api/matmul.h", "compute_kernel_api/matmul.h"),
        ("debug/dprint.h", "debug/dprint.h"),
        ("dprint.h", "debug/dprint.h"),
        ("api/debug/dprint.h", "debug/dprint.h"),
        ("hw/inc/debug/dprint.h", "debug/dprint.h"),
        ("accessor/tensor_accessor.h", "tensor/tensor_accessor.h"),
        ("api/tensor/tensor_accessor.h", "tensor/tensor_accessor.h"),
        ("compile_time_args.h", "compile_time_args.h"),
        ("api/compile_time_args.h", "compile_time_args.h"),
        ("experimental/noc.h", "dataflow/noc.h"),
        ("api/dataflow/noc.h", "dataflow/noc.h"),
        ("experimental/core_local_mem.h", "core_local_mem.h"),
        ("api/core_local_mem.h", "core_local_mem.h"),
        ("internal/mod_div_lib.h", "mod_div_lib.h"),
        ("mod_div_lib.h", "mod_div_lib.h"),
        ("tt-metalium/constants.hpp", "tt-metalium/constants.hpp"),
        ("tt_metal/api/tt-metalium/constants.hpp", "tt-metalium/constants.hpp"),
        ("tools/profiler/kernel_profiler.hpp", "kernel_profiler.hpp"),
        ("tt_metal/tools/profiler/kernel_profiler.hpp", "kernel_profiler.hpp"),
        ("hostdevcommon/common_values.hpp", "hostdevcommon/common_values.hpp"),
        ("cstdint", "cstdint"),
        ("stdint.h", "stdint.h"),
        ("type_traits", "type_traits"),
    ],
)
def test_headers_are_known_wherever_they_stood(path: str, name: str) -> None:
    """Paths of 2024, 2025 and 2026 mean the same header."""
    found = find_built_in_header(path)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize(
    "path",
    [
        *("my_dataflow_api.hpp", "common.hpp", "reduce.h", "debug.h", "noc.h", "kernels/matmul.h"),
        *("cstdint.h", "constants.hpp", "tt-metalium/mine.hpp", "tools/kernel_tools.hpp"),
        *("tensor/mine.h", "ttnn/operations/reduce.hpp", "circular_buffer.h", ""),
    ],
)
def test_headers_of_others_are_not_taken_for_own_ones(path: str) -> None:
    """Only names that tt-metal uses are."""
    assert find_built_in_header(path) is None


@pytest.mark.parametrize("path", ["api/debug/../../../errors.h", "hostdevcommon/../../x.h"])
def test_texts_come_from_the_folder_of_headers(path: str) -> None:
    """Whatever stands in the name."""
    found = find_built_in_header(path)
    assert found is None or not found.text
