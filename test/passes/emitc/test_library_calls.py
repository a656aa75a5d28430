"""Calls of the present ttnn library in C++: arguments in its order and types."""

from __future__ import annotations

import re

import pytest

from ttmlir.compiler import lower
from ttmlir.target.cpp.emitter import emit_cpp

DRAM = "ttnn::MemoryConfig{ttnn::TensorMemoryLayout::INTERLEAVED, ttnn::BufferType::DRAM}"
FIDELITY = (
    "ttnn::ComputeKernelConfig{.math_fidelity = tt::tt_metal::MathFidelity::HiFi4, "
    ".fp32_dest_acc_en = true}"
)


def cpp_of(signature: str, line: str, returned: str, name: str = "net") -> str:
    """The C++ of a function with one operation."""
    return emit_cpp(
        lower(
            f"func.func @{name}{signature} {{\n  {line}\n  return {returned}\n}}",
            "ttir-to-emitc-pipeline{target-dylib=true}",
        )
    )


@pytest.mark.parametrize(
    ("signature", "line", "returned", "call"),
    [
        (
            "(%x: tensor<33x70xbf16>) -> tensor<33x1xbf16>",
            '%0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : '
            "(tensor<33x70xbf16>) -> tensor<33x1xbf16>",
            "%0 : tensor<33x1xbf16>",
            f"ttnn::sum(@, ttsl::SmallVector<int32_t>{{1}}, true, {DRAM}, {FIDELITY})",
        ),
        (
            "(%x: tensor<2x3x5xf32>) -> tensor<5x2x3xf32>",
            '%0 = "ttir.permute"(%x) <{permutation = array<i64: 2, 0, 1>}> : '
            "(tensor<2x3x5xf32>) -> tensor<5x2x3xf32>",
            "%0 : tensor<5x2x3xf32>",
            f"ttnn::permute(@, ttsl::SmallVector<int64_t>{{2, 0, 1}}, {DRAM})",
        ),
        (
            "(%x: tensor<3x5xf32>) -> tensor<4x8xf32>",
            '%0 = "ttir.pad"(%x) <{padding = array<i32: 1, 0, 0, 3>, value = 0.5 : f32}> : '
            "(tensor<3x5xf32>) -> tensor<4x8xf32>",
            "%0 : tensor<4x8xf32>",
            "ttnn::pad(@, ttsl::SmallVector<std::array<uint32_t, 2>>{{1, 0}, {0, 3}}, "
            f"5.000000000e-01f, true, {DRAM})",
        ),
        (
            "() -> tensor<3x5xf32>",
            '%0 = "ttir.full"() <{shape = array<i32: 3, 5>, fill_value = 1.5 : f32}> : () -> '
            "tensor<3x5xf32>",
            "%0 : tensor<3x5xf32>",
            "ttnn::full(ttnn::Shape({3, 5}), 1.500000000e+00f, ttnn::DataType::FLOAT32, "
            f"ttnn::Layout::TILE, @, {DRAM})",
        ),
        (
            "(%x: tensor<33x64xbf16>, %w: tensor<64x96xbf16>) -> tensor<33x96xbf16>",
            '%0 = "ttir.matmul"(%x, %w) : (tensor<33x64xbf16>, tensor<64x96xbf16>) -> '
            "tensor<33x96xbf16>",
            "%0 : tensor<33x96xbf16>",
            f"ttnn::matmul(@, @, false, false, {DRAM}, ttnn::DataType::BFLOAT16, "
            "ttnn::operations::matmul::MatmulMultiCoreReuseMultiCastProgramConfig{"
            ".compute_with_storage_grid_size = ttnn::CoreCoord(8, 8), .in0_block_w = 1, "
            ".out_subblock_h = 1, .out_subblock_w = 1, .out_block_h = 1, .out_block_w = 1, "
            ".per_core_M = 1, .per_core_N = 1, .transpose_mcast = false, .fuse_batch = true}, "
            f"std::nullopt, {FIDELITY})",
        ),
    ],
)
def test_arguments(signature: str, line: str, returned: str, call: str) -> None:
    """Those in front of what is given are spelled, those behind are left out."""
    text = cpp_of(signature, line, returned)
    pattern = re.escape(call).replace("@", r"v\d+(\[\d\])?")
    assert re.search(rf"ttnn::Tensor v\d+ = {pattern};", text), text


def test_devices_are_pointers_and_references() -> None:
    """What makes a tensor takes the device itself."""
    line = '%0 = "ttir.zeros"() <{shape = array<i32: 3, 5>}> : () -> tensor<3x5xf32>'
    text = cpp_of("() -> tensor<3x5xf32>", line, "%0 : tensor<3x5xf32>")
    assert "ttnn::MeshDevice* v1 = ttnn::DeviceGetter::getInstance();" in text
    assert "ttnn::MeshDevice & v2 = *v1;" in text
    assert re.search(r"ttnn::zeros\(.*, v2, ttnn::MemoryConfig", text)


def test_several_results_are_taken_out_of_what_the_library_gives() -> None:
    """Whether that is a list or a tuple."""
    kinds = "tensor<5x33xbf16>, tensor<5x33xi32>"
    text = cpp_of(
        f"(%x: tensor<5x33xbf16>) -> ({kinds})",
        '%0:2 = "ttir.sort"(%x) <{dim = 1 : si32, descending = false, stable = false}> : '
        f"(tensor<5x33xbf16>) -> ({kinds})",
        f"%0#0, %0#1 : {kinds}",
    )
    [number] = re.findall(r"const auto v(\d+) = ttnn::sort\(v\d+, 1, false, false, ", text)
    assert f"= utils::result<0>(v{number});" in text
    assert f"= utils::result<1>(v{number});" in text


@pytest.mark.parametrize(("name", "free"), [("add", "add_"), ("short", "short_"), ("net", "net")])
def test_functions_keep_to_their_names_unless_taken(name: str, free: str) -> None:
    """By the library, or by C++."""
    line = '%0 = "ttir.exp"(%x) : (tensor<3xf32>) -> tensor<3xf32>'
    text = cpp_of("(%x: tensor<3xf32>) -> tensor<3xf32>", line, "%0 : tensor<3xf32>", name)
    assert f"> {free}(std::vector<ttnn::Tensor> v1) {{" in text


def test_constants_are_computed_once_and_kept() -> None:
    """Only what this run makes ends."""
    signature = (
        "(%x: tensor<33x64xbf16>, %w: tensor<64x96xbf16> "
        "{ttcore.argument_type = #ttcore.argument_type<constant>}) -> tensor<33x96xbf16>"
    )
    line = (
        '%1 = "ttir.exp"(%w) : (tensor<64x96xbf16>) -> tensor<64x96xbf16>\n'
        '  %0 = "ttir.matmul"(%x, %1) : (tensor<33x64xbf16>, tensor<64x96xbf16>) -> '
        "tensor<33x96xbf16>"
    )
    text = cpp_of(signature, line, "%0 : tensor<33x96xbf16>")
    [kept] = re.findall(r"(v\d+) = utils::compute_once<net_const_eval_0>\(v1\[1\]\);", text)
    assert f"ttnn::deallocate({kept}, false)" not in text
    assert "ttnn::deallocate(v1[0], false);" in text
