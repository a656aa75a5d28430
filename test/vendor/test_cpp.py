"""C++ of the vendor's modules of ttnn: a call of the library for each operation, in their order.

A quick run takes every 24th program, `make test-all` all of them.
"""

from __future__ import annotations

import re

import pytest
from answers import Archive

from ttmlir.compiler import write_cpp
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.reader import parse_module

ARCHIVE = Archive("p150")
GROUPS = 24
REFUSED = {
    "einsum-f32-5x33": "machine code of the host",
    "unary_einsum-f32-5x33": "machine code of the host",
    "fori-f32-33x70-dynamic": "a loop that counts to an input",
}
CALLEES = {
    "pow_tensor": "pow",
    "pow_scalar": "pow",
    "clamp_scalar": "clamp",
    "clamp_tensor": "clamp",
    "slice_static": "slice",
    "slice_dynamic": "slice",
    "get_device": "DeviceGetter::getInstance",
}
"""Functions of the library whose names are not those of the operations."""


VALUES = ("CoreCoord", "CoreRange", "Shape")
"""What is called like a function, and makes a value of the host."""


def _calls(functions: str) -> dict[str, list[str]]:
    """The functions of the library that each function of a text in C++ calls."""
    parts = re.split(r"^\S.* (\w+)\((?:.*)\) \{$", functions, flags=re.MULTILINE)
    found: dict[str, list[str]] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        called = re.findall(r"ttnn::((?:DeviceGetter::)?\w+)\(", body)
        found[name] = [each for each in called if each not in VALUES]
    return found


def _operations(module: str) -> dict[str, list[str]]:
    """What stands for the operations of each function of a module."""
    parts = re.split(r"^ *func\.func (?:\w+ )?@(\w+)", module, flags=re.MULTILINE)
    found: dict[str, list[str]] = {}
    for name, body in zip(parts[1::2], parts[2::2], strict=True):
        operations: list[str] = re.findall(r'"ttnn\.(\w+)"\(', body)
        found[name] = [CALLEES.get(each, each) for each in operations]
    return found


@pytest.mark.parametrize(
    "number",
    [n if n < 1 else pytest.param(n, marks=pytest.mark.exhaustive) for n in range(GROUPS)],
)
def test_each_operation_is_a_call(number: int) -> None:
    """With the same functions around."""
    for name in ARCHIVE.names()[number::GROUPS]:
        text = ARCHIVE[name].ttnn_runtime
        if text is None or name in REFUSED:
            continue
        module = parse_module(text, f"{name}.mlir", make_context(DIALECTS))
        assert _calls(write_cpp(module)) == _operations(text), name


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
