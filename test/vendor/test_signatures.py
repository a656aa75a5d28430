"""What is held against the ttnn library's signatures finds calls that do not fit."""

from __future__ import annotations

from pathlib import Path

import pytest
from signatures import COMPILER, compile_programs, misfits

from ttmlir.compiler import parse

TENSOR, DEVICE = '!emitc.opaque<"ttnn::Tensor">', '!emitc.ptr<!emitc.opaque<"ttnn::MeshDevice">>'
WRONG = [
    "ttnn::add(x)",
    "ttnn::add(x, device)",
    "ttnn::add(x, x, ttnn::Layout::TILE)",
    "ttnn::sum(x, 1.5f)",
    "ttnn::softmax(x, ttnn::Layout::TILE)",
    "ttnn::softmax(x, 1, std::nullopt, std::nullopt, std::nullopt)",
    "ttnn::unknown(x)",
]
RIGHT = [
    "ttnn::add(x, x, ttnn::DataType::FLOAT32)",
    "ttnn::sum(x, ttsl::SmallVector<int32_t>{0, 1}, true)",
    "ttnn::softmax(x, 1, std::nullopt, std::nullopt, true)",
    "ttnn::to_device(x, device)",
]


def _misfits(call: str) -> list[str]:
    """What a module with one call gets to hear."""
    callee, _, inside = call.removesuffix(")").partition("(")
    args: list[str] = []
    for part in inside.replace("{0, 1}", "{0; 1}").split(", "):
        text = part.replace(";", ",")
        known = {"x": "0 : index", "device": "1 : index", "true": "true", "1": "1 : i32"}
        args.append(known.get(text, "1.5 : f32" if text == "1.5f" else f'#emitc.opaque<"{text}">'))
    return misfits(
        parse(
            f"func.func @f(%x: {TENSOR}, %d: {DEVICE}) {{\n"
            f'  %0 = emitc.call_opaque "{callee}"(%x, %d) {{args = [{", ".join(args)}]}} : '
            f"({TENSOR}, {DEVICE}) -> {TENSOR}\n  return\n}}"
        )
    )


@pytest.mark.parametrize("call", WRONG)
def test_calls_that_do_not_fit_are_found(call: str) -> None:
    """With too few arguments, and with those of other types."""
    assert len(_misfits(call)) == 1


@pytest.mark.parametrize("call", RIGHT)
def test_calls_that_fit_are_not(call: str) -> None:
    """What is left out is optional."""
    assert _misfits(call) == []


@pytest.mark.skipif(COMPILER is None, reason="needs g++")
def test_the_compiler_finds_the_same(tmp_path: Path) -> None:
    """Each wrong call, in its line."""
    body = "".join(f"\n  {call};" for call in (*RIGHT, *WRONG))
    head = "void f(ttnn::Tensor x, ttnn::MeshDevice *device) {"
    text = f'#include "ttnn-precompiled.hpp"\n{head}{body}\n}}\n'
    said = compile_programs({"f.cpp": text}, tmp_path)
    lines = {line.split(":")[1] for line in said.splitlines() if ": error: " in line}
    first = 3 + len(RIGHT)
    assert lines == {str(first + number) for number in range(len(WRONG))}
