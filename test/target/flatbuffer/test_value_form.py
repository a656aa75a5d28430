"""Programs of ttnn as they are spelled since 2025 become files, and run."""

from __future__ import annotations

import numpy as np
import pytest

from ttmlir import compiler
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime import Tensor, open_device, read_binary, submit
from ttmlir.runtime.session import get_layout, to_host, to_layout

HEAD = """
#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
    memref<2x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#blocks = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x3, (d0, d1) -> (0, d0, d1)>,
    memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <block_sharded>>
#rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<40x70xf32, #dram>, <interleaved>>
!tiles = tensor<40x70xf32, #tiles>
!blocks = tensor<40x70xf32, #blocks>
!rows = tensor<40x70xf32, #rows>
"""
PLACED = "ttir-load-system-desc,ttir-implicit-device"


def test_program_runs() -> None:
    """Devices, moves, filled tensors and operations without destinations."""
    text = f"""{HEAD}
func.func @f(%x: !tiles, %y: !rows) -> !rows {{
  %d = "ttnn.get_device"() <{{mesh_offset = #ttnn<mesh_offset 0x0>,
      mesh_shape = #ttnn<mesh_shape 1x1>}}> : () -> !ttnn.device
  %0 = "ttnn.to_memory_config"(%x) : (!tiles) -> !blocks
  %1 = "ttnn.full"(%d) <{{fill_value = 5.0e-01 : f32}}> : (!ttnn.device) -> !tiles
  %2 = "ttnn.divide"(%0, %1) : (!blocks, !tiles) -> !tiles
  %3 = "ttnn.to_layout"(%y) <{{layout = #ttnn.layout<tile>}}> : (!rows) -> !tiles
  %4 = "ttnn.subtract"(%2, %3) : (!tiles, !tiles) -> !tiles
  %5 = "ttnn.to_layout"(%4) <{{layout = #ttnn.layout<row_major>}}> : (!tiles) -> !rows
  return %5 : !rows
}}"""
    module = compiler.parse(text)
    compiler.transform(module, PLACED)
    binary = read_binary(compiler.write_ttnn(module), "f.ttnn")
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal((40, 70), np.float32) for _ in range(2))
    device = open_device()
    given = [
        to_layout(Tensor.from_numpy(values), device, get_layout(binary, 0, number))
        for number, values in enumerate((x, y))
    ]
    (result,) = submit(device, binary, 0, given)
    np.testing.assert_allclose(to_host(result).to_numpy(), x / 0.5 - y, rtol=1e-6)


def test_parts_of_a_tensor_by_several_programs() -> None:
    """What one program of kernels has written to an output stays there for the next one."""
    text = f"""{HEAD}
#wide = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
    memref<4x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#even = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
    memref<2x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!even = tensor<64x70xf32, #even>
!wide = tensor<128x70xf32, #wide>
func.func @f(%x: !even, %y: !even) -> !wide {{
  %0 = "ttnn.exp"(%x) {{ttnn.hoist_generic_via_d2m}} : (!even) -> !even
  %1 = "ttnn.concat"(%0, %y) <{{dim = 0 : si32}}> {{ttnn.hoist_generic_via_d2m}}
      : (!even, !even) -> !wide
  return %1 : !wide
}}"""
    module = compiler.parse(text)
    compiler.transform(module, "ttir-to-ttmetal-pipeline{ttnn-mode=true enable-fusion=false}")
    binary = read_binary(compiler.write_ttnn(module), "f.ttnn")
    generics = [op for op in binary.programs[0].operations if op.table == "GenericOp"]
    assert len(generics) > 2
    generator = np.random.default_rng(0)
    x, y = (generator.standard_normal((64, 70), np.float32) for _ in range(2))
    device = open_device()
    given = [
        to_layout(Tensor.from_numpy(values), device, get_layout(binary, 0, number))
        for number, values in enumerate((x, y))
    ]
    (result,) = submit(device, binary, 0, given)
    np.testing.assert_allclose(
        to_host(result).to_numpy(), np.concatenate([np.exp(x), y]), rtol=1e-4, atol=1e-6
    )


def test_cpp_of_the_later_form() -> None:
    """Calls make results, and say how and where."""
    text = f'{HEAD} func.func @f(%x: !tiles) {{ %0 = "ttnn.exp"(%x) : (!tiles) -> !tiles return }}'
    cpp = compiler.write_cpp(compiler.parse(text))
    memory = "ttnn::MemoryConfig{ttnn::TensorMemoryLayout::INTERLEAVED, ttnn::BufferType::DRAM}"
    assert f"ttnn::Tensor v2 = ttnn::exp(v1, false, {memory});" in cpp


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('"ttnn.deallocate"(%x) <{force = false}> : (!tiles) -> ()', ", as it came after 2024; "),
        (
            '%0 = "ttnn.add"(%x, %x) <{activations = [#ttnn.unary_with_param<op_type = relu>]}> : '
            "(!tiles, !tiles) -> !tiles",
            ": it computes 'activations', too; only the operation without it is known here; ",
        ),
    ],
)
def test_operations_of_2026_are_refused(line: str, reason: str) -> None:
    """What the files of 2024 have no room for."""
    module = compiler.parse(
        f"{HEAD}func.func @f(%x: !tiles) -> !tiles {{\n{line}\nreturn %x : !tiles}}"
    )
    compiler.transform(module, PLACED)
    with pytest.raises(DiagnosticError) as refused:
        compiler.write_ttnn(module)
    message = str(refused.value)
    assert f"op cannot be written to a .ttnn file{reason}files are those of 2024" in message
    assert "--ttir-to-ttnn-backend-pipeline" in message
