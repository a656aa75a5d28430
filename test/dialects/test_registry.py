"""The registry of dialects."""

from __future__ import annotations

import subprocess
import sys

import pytest
from running.ir_text import context, parse

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import load_dialect


def test_registry_is_sorted_and_names_what_it_holds() -> None:
    """Every entry leads to the dialect of that name."""
    assert list(DIALECTS) == sorted(DIALECTS)
    for name, path in DIALECTS.items():
        assert load_dialect(path).name == name


@pytest.mark.parametrize("name", sorted(DIALECTS))
def test_dialects_load_on_demand(name: str) -> None:
    """A context finds each dialect, and its operations under its name."""
    dialect = context().get_dialect(name)
    assert all(op.name.startswith(f"{name}.") for op in dialect.operations)
    assert all(attr.name.startswith(f"{name}.") for attr in dialect.attributes) or name in (
        "builtin",
    )


def test_reading_ttir_imports_neither_numpy_nor_ttnn() -> None:
    """What a program does not use is not imported."""
    program = (
        "import sys\n"
        "from ttmlir.dialects import DIALECTS\n"
        "from ttmlir.mlir.context import make_context\n"
        "from ttmlir.mlir.reader import parse_module\n"
        'text = \'func.func @f(%0: tensor<2xf32>) { "ttir.dealloc"(%0) : (tensor<2xf32>) -> () '
        "return }'\n"
        "parse_module(text, 'x', make_context(DIALECTS))\n"
        "loaded = [m for m in ('numpy', 'ttmlir.dialects.ttnn', 'ttmlir.dialects.emitc') "
        "if m in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


@pytest.mark.parametrize(
    "text",
    [
        "%0 = tensor.empty() : tensor<2x3xf32>",
        "%0 = tensor.empty() : tensor<2xf32> %1 = tosa.add %0, %0 : (tensor<2xf32>, tensor<2xf32>) "
        "-> tensor<2xf32>",
        "cf.br ^end\n^end:",
        "%0 = arith.constant 1 : i1 scf.if %0 { }",
        "%0 = arith.constant dense<1.0> : vector<2xf32>",
        'emitc.verbatim "x"',
    ],
)
def test_upstream_dialects_are_read(text: str) -> None:
    """Operations of MLIR's own dialects that the reference registers can stand beside ours."""
    parse(f"func.func @f() {{\n{text}\nreturn\n}}").verify()
