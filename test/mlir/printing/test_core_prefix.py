"""Tiles, grids and devices under both names of their dialect, and the one that is printed."""

from __future__ import annotations

import subprocess
import sys

import pytest
from running.ir_text import context, parse
from xdsl.dialects.builtin import ModuleOp, TensorType, bf16

from ttmlir.dialects import d2m
from ttmlir.dialects.tt import GridAttr, TileType
from ttmlir.dialects.ttcore import MetalLayoutAttr, metal_tensor_type
from ttmlir.layout.enums import MemorySpace
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import attribute_text, print_op_line, show_op
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.mlir.verifier import verify_module

TILES = "func.func private @f(tensor<2x3x!{}.tile<32x32, bf16>>) attributes {{a = #{}.grid<8x8>}}"


@pytest.mark.parametrize("prefix", ["tt", "ttcore"])
def test_a_module_is_printed_as_it_was_read(prefix: str) -> None:
    """Whichever prefix it has; a copy is printed alike."""
    module = parse(TILES.format(prefix, prefix))
    expected = f"module {{\n  {TILES.format(prefix, prefix)}\n}}\n"
    assert print_module(module) == expected
    assert print_module(cloned(module)) == expected
    function = module.body.block.first_op
    assert print_op_line(function) == TILES.format(prefix, prefix)
    assert show_op(function) == TILES.format(prefix, prefix)


def test_both_prefixes_are_the_same_classes() -> None:
    """A mixed text is printed with the later one."""
    module = parse(TILES.format("tt", "ttcore"))
    assert isinstance(module.body.block.first_op.attributes["a"], GridAttr)
    assert TILES.format("ttcore", "ttcore") in print_module(module)


def test_modules_read_after_each_other() -> None:
    """One does not change how the next is printed."""
    for prefix in ("ttcore", "tt", "ttcore"):
        assert TILES.format(prefix, prefix) in print_module(parse(TILES.format(prefix, prefix)))


def test_what_a_module_holds_decides_too() -> None:
    """Operations of d2m, and tensors on grids, are printed with the later prefix."""
    grid = metal_tensor_type((64, 96), TileType.of(bf16), MemorySpace.DEVICE_L1, (2, 1))
    tile = TensorType(TileType.of(bf16), [2, 3])
    assert "!ttcore.tile<32x32, bf16>" in print_module(ModuleOp([d2m.EmptyOp.of(tile)]))
    assert "!ttcore.tile" in attribute_text(grid)
    assert attribute_text(tile) == "tensor<2x3x!tt.tile<32x32, bf16>>"
    layout = MetalLayoutAttr.of((64, 96), MemorySpace.DEVICE_L1)
    assert attribute_text(layout).startswith("#ttcore.metal_layout<")


def test_the_name_of_the_system() -> None:
    """The attribute of modules has two names; in memory it has one."""
    system = "<[<#{0}.arch<wormhole_b0>, #{0}.grid<8x8>>], [0], [1 : i32], [<0, 0, 0, 0>]>"
    for prefix in ("tt", "ttcore"):
        name = f"{prefix}.system_desc"
        text = f"module attributes {{{name} = #{name}{system.format(prefix)}}} {{ }}"
        module = parse(text)
        assert list(module.attributes) == ["tt.system_desc"]
        assert f"module attributes {{{name} = #system_desc}}" in print_module(module)


def test_later_keywords_need_the_later_prefix() -> None:
    """And messages list what there is."""
    assert "#ttcore.iterator_type<reduction>" in print_module(
        parse("func.func private @f() attributes {a = #ttcore.iterator_type<reduction>}")
    )
    for prefix, known in (
        ("tt", "parallel, systolic, broadcast"),
        ("ttcore", "parallel, systolic, broadcast, reduction"),
    ):
        word = "reduction" if prefix == "tt" else "other"
        text = f"func.func private @f() attributes {{a = #{prefix}.iterator_type<{word}>}}"
        with pytest.raises(DiagnosticError) as caught:
            parse_module(text, "test.mlir", context())
        assert caught.value.diagnostics[0].message == (
            f"expected ::mlir::tt::IteratorType to be one of: {known}"
        )


def test_messages_have_the_prefix_of_the_module() -> None:
    """What the verifier shows is spelled as in the text."""
    module = parse(
        "func.func @f(%0: tensor<2x!ttcore.tile<32x32, bf16>>) "
        'attributes {d2m.thread = #d2m.thread<compute>} { "d2m.tile_exp"(%0) : '
        "(tensor<2x!ttcore.tile<32x32, bf16>>) -> !ttcore.tile<32x32, bf16> return }"
    )
    (fault,) = verify_module(module)
    assert fault.message == (
        "'d2m.tile_exp' op operand #0 must be TT tile, but got "
        "'tensor<2x!ttcore.tile<32x32, bf16>>'"
    )


def test_plain_modules_load_nothing_of_it() -> None:
    """Reading, checking and printing a module of 2024 imports neither dialect."""
    program = (
        "import sys\n"
        "from ttmlir.dialects import DIALECTS\n"
        "from ttmlir.mlir.context import make_context\n"
        "from ttmlir.mlir.module_printer import print_module\n"
        "from ttmlir.mlir.reader import parse_module\n"
        "from ttmlir.mlir.verifier import verify_module\n"
        'text = \'func.func @f(%0: tensor<2x!tt.tile<32x32, f32>>) { "ttir.dealloc"(%0) : '
        "(tensor<2x!tt.tile<32x32, f32>>) -> () return }'\n"
        "module = parse_module(text, 'x', make_context(DIALECTS))\n"
        "assert not verify_module(module)\n"
        "assert '!tt.tile' in print_module(module)\n"
        "loaded = [m for m in ('ttmlir.dialects.d2m', 'ttmlir.dialects.ttcore', 'numpy') "
        "if m in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
