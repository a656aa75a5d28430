"""Every operation of ttir becomes calls that the ttnn library's own signatures allow."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from signatures import COMPILER, compile_programs

from examples import HEADER, function_text
from ttmlir.compiler import lower
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable import DEFINITIONS
from ttmlir.target.cpp.emitter import emit_cpp

PIPELINE = "ttir-to-emitc-pipeline"
UPSTREAM = shutil.which("mlir-translate-19")
LATE = """\
concatenate_heads | | 1x8x33x64xbf16 -> 1x33x512xbf16
conv1d | stride = 2 : i32, padding = array<i32: 1, 2>, dilation = 1 : i32, groups = 1 : i32 | \
2x33x8xbf16, 16x8x3xbf16 -> 2x17x16xbf16
cumprod | dim = 1 : i64 | 5x33xf32 -> 5x33xf32
embedding_backward | | 1x32xui32, 70x64xbf16, 1x32x64xbf16 -> 70x64xbf16
frac | | 5x33xf32 -> 5x33xf32
gelu_bw | approximate = "none" | 5x33xbf16, 5x33xbf16 -> 5x33xbf16
global_avg_pool2d | | 2x7x9x5xbf16 -> 2x1x1x5xbf16
group_norm | num_groups = 2 : i64, epsilon = 1.0e-5 : f32 | 2x1x64x64xbf16 -> 2x1x64x64xbf16
layer_norm | normalized_shape = array<i64: 70>, epsilon = 1.0e-5 : f32 | 5x70xbf16 -> 5x70xbf16
mish | | 5x33xf32 -> 5x33xf32
scaled_dot_product_attention_decode | is_causal = true, scale = 0.125 : f32 | 1x2x8x64xbf16, \
2x8x96x64xbf16, 2x8x96x64xbf16, 2xi32 -> 1x2x8x64xbf16
selu | scale = 1.05 : f32, alpha = 1.67 : f32 | 5x33xf32 -> 5x33xf32
signbit | | 5x33xf32 -> 5x33xf32
softsign | | 5x33xf32 -> 5x33xf32
split_query_key_value_and_split_heads | num_heads = 4 : ui32, transpose_key = false | \
2x32x768xbf16 -> 2x4x32x64xbf16, 2x4x32x64xbf16, 2x4x32x64xbf16
upsample2d | scale_factor = array<i32: 2, 3>, mode = "nearest" | 2x5x7x32xbf16 -> 2x10x21x32xbf16
"""
"""Operations that 2024 has not: properties, operands and results."""
SEGMENTS = {
    "group_norm": "1, 0, 0, 0",
    "layer_norm": "1, 0, 0",
    "scaled_dot_product_attention_decode": "1, 1, 1, 0, 1, 0",
}
NOT_IN_THE_LIBRARY = {
    "scatter_maximum": "ttnn.scatter adds or multiplies numbers of the same place, not 'max'",
    "scatter_minimum": "ttnn.scatter adds or multiplies numbers of the same place, not 'min'",
}
MISSING = """\
dropout | prob = 0.5 : f32, scale = 2.0 : f32, seed = 7 : ui32, use_per_device_seed = true | \
5x33xf32 -> 5x33xf32
mulhi | | 5x33xui32, 5x33xui32 -> 5x33xui32
reduce_precision | exponent_bits = 5 : si32, mantissa_bits = 7 : si32 | 5x33xf32 -> 5x33xf32
"""


def _late(table: str) -> Iterator[tuple[str, str]]:
    """Names of operations and functions of one operation each."""
    for line in table.splitlines():
        name, properties, types = (part.strip() for part in line.split("|"))
        operands, results = (
            [f"tensor<{each}>" for each in part.split(", ")] for part in types.split(" -> ")
        )
        arguments = ", ".join(f"%{number}: {each}" for number, each in enumerate(operands))
        values = ", ".join(f"%{number}" for number in range(len(operands)))
        if name in SEGMENTS:
            properties += f", operandSegmentSizes = array<i32: {SEGMENTS[name]}>"
        given = f" <{{{properties}}}>" if properties else ""
        numbers = range(len(results))
        returned = ", ".join(f"%r#{number}" for number in numbers)
        kinds = ", ".join(results)
        yield (
            name,
            (
                f"func.func @main({arguments}) -> ({kinds}) {{\n"
                f'  %r:{len(results)} = "ttir.{name}"({values}){given} : '
                f"({', '.join(operands)}) -> ({kinds})\n"
                f"  return {returned} : {kinds}\n}}"
            ),
        )


@pytest.fixture(scope="module", name="programs")
def _programs() -> Mapping[str, tuple[str, str]]:
    """Modules of emitc and their C++, of operations of 2024 and of later ones."""
    earlier = [
        function_text(definition)
        for name, definition in DEFINITIONS.items()
        if definition.in_ttir and name not in NOT_IN_THE_LIBRARY
    ]
    assert len(earlier) > 110
    modules = {name: lower(text, PIPELINE) for name, text in _late(LATE)}
    modules["earlier"] = lower(HEADER + "".join(earlier), PIPELINE)
    return {name: (print_module(module), emit_cpp(module)) for name, module in modules.items()}


@pytest.mark.exhaustive
@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_the_compiler_takes_each_operation(
    programs: Mapping[str, tuple[str, str]], tmp_path: Path
) -> None:
    """With the arguments that the library declares."""
    assert compile_programs({name: cpp for name, (_, cpp) in programs.items()}, tmp_path) == ""


@pytest.mark.skipif(UPSTREAM is None, reason="needs mlir-translate-19")
def test_mlir_prints_the_same_text(programs: Mapping[str, tuple[str, str]]) -> None:
    """It reads what stands for devices and for several results, too."""
    command = [str(UPSTREAM), "--mlir-to-cpp", "--allow-unregistered-dialect"]
    for name, (text, cpp) in programs.items():
        done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
        assert done.stdout == cpp, name


@pytest.mark.parametrize(("name", "reason"), NOT_IN_THE_LIBRARY.items())
def test_what_the_library_cannot_combine_is_refused(name: str, reason: str) -> None:
    """At the operation."""
    with pytest.raises(DiagnosticError, match=re.escape(reason)):
        lower(HEADER + function_text(DEFINITIONS[name]), PIPELINE)


@pytest.mark.parametrize(("name", "text"), [*_late(MISSING)])
def test_what_the_library_has_no_function_for_is_refused(name: str, text: str) -> None:
    """At the line of the operation, by its name."""
    with pytest.raises(DiagnosticError) as error:
        lower(text, PIPELINE, file_name="net.mlir")
    assert str(error.value) == (
        f"net.mlir:2:10: error: failed to legalize operation 'ttnn.{name}': the ttnn library "
        "(0.81.1) has no function for it"
    )
