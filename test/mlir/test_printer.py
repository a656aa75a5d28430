"""Printing single operations and what print options do."""

from __future__ import annotations

from oracles.mlir_opt import FILE, ours

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import OpLinePrinter, PrintOptions, print_op_line
from ttmlir.mlir.reader import parse_module

TEXT = """\
#l1 = #tt.memory_space<l1>
#a = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #l1>>
func.func @f(%x: tensor<64x128xf32, #a>) -> tensor<64x128xf32, #a> {
  %c = arith.constant 1 : i32
  %y = "t.op"(%x, %c) ({
    "t.inner"() : () -> ()
  }) {big = dense<[1, 2, 3, 4]> : tensor<4xi8>} : (tensor<64x128xf32, #a>, i32) -> i8 loc("y")
  return %x : tensor<64x128xf32, #a>
}
"""
LAYOUT = "#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #tt.memory_space<l1>>>"


def module():
    """The module of the text above."""
    return parse_module(TEXT, FILE, make_context(DIALECTS, allow_unregistered=True))


def test_attribute_classes_name_their_aliases() -> None:
    """Stems come from the attributes; what holds an aliased attribute comes after it."""
    assert print_module(module()).split("\n")[:2] == [
        "#l1_ = #tt.memory_space<l1>",
        "#layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<64x128xf32, #l1_>>",
    ]


def test_line_of_an_operation() -> None:
    """One operation prints without aliases and regions, numbered as in the module."""
    top = module()
    function = next(iter(top.ops))
    _, op, _ = function.regions[0].blocks[0].ops
    options = PrintOptions(skip_regions=True, elide_larger_than=2, debuginfo=True)
    line = (
        f'%0 = "t.op"(%arg0, %c1_i32) ({{...}}) {{big = dense_resource<__elided__> : tensor<4xi8>}}'
        f' : (tensor<64x128xf32, {LAYOUT}>, i32) -> i8 loc("y")'
    )
    assert OpLinePrinter(top, options).line(op) == line
    assert print_op_line(op, options) == line
    assert print_op_line(op, PrintOptions(generic=True)).startswith('%1 = "t.op"(%arg0, %0)')


def test_resources_are_elided_by_size() -> None:
    """Long resources are left out, short ones stay."""
    text = (
        '"a.b"() {x = dense_resource<short> : tensor<1xi8>, '
        "y = dense_resource<long> : tensor<8xi8>} : () -> ()\n"
        '{-# dialect_resources: { builtin: { short: "0x0100000001", '
        'long: "0x010000000102030405060708" } } #-}'
    )
    assert "short:" in ours(text)
    assert "long:" in ours(text)
    assert "long:" not in ours(text, elide_resources_larger_than=12)


def test_unused_resources_are_not_printed() -> None:
    """Only blobs that something refers to are printed."""
    text = '"a.b"() : () -> ()\n{-# dialect_resources: { builtin: { unused: "0x0100000001" } } #-}'
    assert "unused" not in ours(text)
