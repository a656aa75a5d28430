"""C++ of the vendor's modules of ttnn: a call of the library for each operation, in their order.

The calls are those that the library's own signatures allow; a compiler, where there is one, judges,
too. A quick run takes every 24th program, `make test-all` all of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from answers import Archive
from signatures import COMPILER, compile_programs, misfits

from ttmlir.compiler import write_cpp
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.passes.emitc.convert_ttnn_to_emitc import to_emitc
from ttmlir.target.cpp.emitter import emit_cpp

ARCHIVE = Archive("p150")
GROUPS = 24
REFUSED = {
    "einsum-f32-5x33": "machine code of the host",
    "unary_einsum-f32-5x33": "machine code of the host",
    "fori-f32-33x70-dynamic": "a loop that counts to an input",
}
WITHOUT_CPP = (
    "the ttnn library (0.81.1) has no function for it",
    "ttnn has no data type f16",
    "ttnn has no data type f64",
    "ttnn.scatter adds or multiplies numbers of the same place",
)
CALLEES = {
    "batch_norm_inference": "batch_norm",
    "bitcast_convert": "bitcast",
    "clamp_scalar": "clamp",
    "clamp_tensor": "clamp",
    "constant": "create_tensor",
    "div": "divide",
    "get_device": "DeviceGetter::getInstance",
    "max_pool2d_with_indices": "max_pool2d",
    "pow_scalar": "pow",
    "pow_tensor": "pow",
    "right_shift": "bitwise_right_shift",
    "slice_dynamic": "slice",
    "slice_static": "slice",
}
"""Functions of the library whose names are not those of the operations."""


VALUES = ("CoreCoord", "CoreRange", "CoreRangeSet", "Shape", "result", "is_zero", "item")
"""What is called like a function, and is none of the library's."""
FUNCTION = re.compile(
    r"(?:ttnn|utils)::(?:experimental::|transformer::)?((?:DeviceGetter::)?\w+)(?:<\w+>)?\("
)


def _calls(functions: str) -> dict[str, list[str]]:
    """The functions of the library that each function of a text in C++ calls."""
    parts = re.split(r"^\S.* (\w+)\((?:.*)\) \{$", functions, flags=re.MULTILINE)
    return {
        name: [each for each in FUNCTION.findall(body) if each not in (*VALUES, "compute_once")]
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    }


def _operations(module: str) -> dict[str, list[str]]:
    """What stands for the operations of each function of a module; shared tensors do not end."""
    parts = re.split(r"^ *func\.func (?:\w+ )?@(\w+)", module, flags=re.MULTILINE)
    called = set(re.findall(r"@(\w+)", re.sub(r"func\.func (?:\w+ )?@\w+", "", module)))
    found: dict[str, list[str]] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        cached = set(re.findall(r"^ *(%\w+)(?::\d+)? = ttcore\.load_cached", body, re.MULTILINE))
        operations: list[str] = []
        for operation, operand in re.findall(r'"ttnn\.(\w+)"\((%\w+)?', body):
            is_argument = operand.startswith("%arg") and name in called
            if operation != "deallocate" or not (operand in cached or is_argument):
                operations.append(CALLEES.get(operation, operation))
        found[name] = operations
    return found


def _texts(names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Programs in ttnn and in C++, but for those that have none."""
    for name in names:
        text = ARCHIVE[name].ttnn_runtime
        if text is None or name in REFUSED:
            continue
        cpp = _cpp_of(name, text)
        if cpp is not None:
            yield name, text, cpp


def _cpp_of(name: str, text: str) -> str | None:
    """The C++ of a module of ttnn; None if the library cannot do what it says."""
    module = parse_module(text, f"{name}.mlir", make_context(DIALECTS))
    try:
        converted = to_emitc(module)
    except DiagnosticError as error:
        if any(reason in str(error) for reason in WITHOUT_CPP):
            return None
        raise
    assert misfits(converted) == [], name
    return emit_cpp(converted)


@pytest.mark.parametrize(
    "number",
    [n if n < 1 else pytest.param(n, marks=pytest.mark.exhaustive) for n in range(GROUPS)],
)
def test_each_operation_is_a_call(number: int, tmp_path: Path) -> None:
    """With the same functions around, and arguments that the library takes."""
    programs: dict[str, str] = {}
    for name, text, cpp in _texts(ARCHIVE.names()[number::GROUPS]):
        assert _calls(cpp) == _operations(text), name
        programs[name] = cpp
    assert len(programs) > 30
    if COMPILER is not None:
        assert compile_programs(programs, tmp_path) == ""


def test_parameters_are_literals() -> None:
    """In the order of the library's own: the operands, what is computed, how, and where to."""
    text = ARCHIVE["softmax-bf16-33x70"].ttnn_runtime
    assert text is not None
    cpp = write_cpp(parse_module(text, "softmax.mlir", make_context(DIALECTS)))
    memory = "ttnn::MemoryConfig{ttnn::TensorMemoryLayout::INTERLEAVED, ttnn::BufferType::DRAM}"
    assert f"ttnn::Layout::TILE, std::nullopt, {memory});" in cpp
    assert re.search(
        r"ttnn::full\(ttnn::Shape\(\{1\}\), -INFINITY, ttnn::DataType::BFLOAT16, "
        rf"ttnn::Layout::TILE, v\d+, {re.escape(memory)}\)",
        cpp,
    )
