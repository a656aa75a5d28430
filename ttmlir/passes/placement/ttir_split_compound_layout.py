"""Split layout changes into steps that change one thing each.

A `ttir.to_layout` may change the linear map, the grid, the element type (tiles or rows, and the
number format), the memory and the memory layout. One that changes several becomes a chain through
layouts in L1, in which tensors are tiled, untiled and spread over cores; tiles change their format.

Before:

    #dram = #tt.memory_space<dram>
    #system = #tt.memory_space<system>
    #rows = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
    #tiles = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>,
        memref<2x3x!tt.tile<32x32, f32>, #dram>>
    func.func @upload(%arg0: tensor<33x70xf32, #rows>) -> tensor<33x70xf32, #tiles> {
      %0 = tensor.empty() : tensor<33x70xf32, #tiles>
      %1 = "ttir.to_layout"(%arg0, %0)
          : (tensor<33x70xf32, #rows>, tensor<33x70xf32, #tiles>) -> tensor<33x70xf32, #tiles>
      return %1 : tensor<33x70xf32, #tiles>
    }

After:

    ...
    #layout = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #system>>
    #layout1 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>,
        memref<2x3x!tt.tile<32x32, f32>, #dram>>
    #layout2 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, memref<33x70xf32, #l1_>>
    #layout3 = #tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>,
        memref<2x3x!tt.tile<32x32, f32>, #l1_>>
    module {
      func.func @upload(%arg0: tensor<33x70xf32, #layout>) -> tensor<33x70xf32, #layout1> {
        %0 = tensor.empty() : tensor<33x70xf32, #layout1>
        %1 = tensor.empty() : tensor<33x70xf32, #layout2>
        %2 = "ttir.to_layout"(%arg0, %1)
            : (tensor<33x70xf32, #layout>, tensor<33x70xf32, #layout2>)
            -> tensor<33x70xf32, #layout2>
        %3 = tensor.empty() : tensor<33x70xf32, #layout3>
        %4 = "ttir.to_layout"(%2, %3)
            : (tensor<33x70xf32, #layout2>, tensor<33x70xf32, #layout3>)
            -> tensor<33x70xf32, #layout3>
        %5 = "ttir.to_layout"(%4, %0)
            : (tensor<33x70xf32, #layout3>, tensor<33x70xf32, #layout1>)
            -> tensor<33x70xf32, #layout1>
        return %5 : tensor<33x70xf32, #layout1>
      }
    }

Requires: layouts on the operands of `ttir.to_layout`.
Ensures: every `ttir.to_layout` changes at most one component, and none goes from DRAM to DRAM.
Options: `formats-on-tiles` takes a step of its own for another number format, from tiles to tiles.
Not done here: no pipeline needs it; `convert-ttir-to-ttnn` takes compound changes as they are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects import ttir
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import clean_up, refuse, replace
from ttmlir.ir.tensor_types import layout_of, shape_of, with_layout
from ttmlir.layout.data_format import TileFormat
from ttmlir.layout.enums import MemorySpace
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context


@dataclass(frozen=True)
class TTIRSplitCompoundLayoutPass(ModulePass):
    """Split layout changes into steps that change one thing each."""

    name = "ttir-split-compound-layout"
    title = "TTIRSplitCompoundLayout"
    formats_on_tiles: bool = option(
        False,
        "Change the number format of tiles only, as kernels do: after tiling, before untiling",
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Split every layout change of the module."""
        for op in [op for op in module.walk() if isinstance(op, ttir.ToLayoutOp)]:
            _split(op, formats_on_tiles=self.formats_on_tiles)
        clean_up(module)


def _split(op: ttir.ToLayoutOp, *, formats_on_tiles: bool) -> None:
    """Replace a compound change by two, and these in turn, until none is compound."""
    value, output = op.operands[0], op.output
    try:
        source, target = layout_of(value.type), layout_of(output.type)
        if source is None or target is None:
            raise AssertionError("verified: both tensors have layouts")
        changes = _changes(source, target)
        has_rows = formats_on_tiles and _changes_format_of_rows(source, target)
        if len(changes) < 2 and not (has_rows or _is_within_dram(source, target)):
            return
        bounce = _bounce(source, target, shape_of(value.type), has_rows=has_rows)
    except LayoutError as error:
        refuse(op, f"cannot be split: {error}")
    if bounce in (source, target):
        refuse(
            op,
            f"cannot be split: no step changes only one of {', '.join(changes)}; "
            "write the intermediate layout as a ttir.to_layout of its own",
        )
    builder = Builder.before(op)
    first = builder.create_op(ttir.ToLayoutOp, (value,), (with_layout(output.type, bounce),))
    second = builder.create_op(ttir.ToLayoutOp, first.results, (output.type,), inits=(output,))
    replace(op, second.results[0])
    _split(first, formats_on_tiles=formats_on_tiles)
    _split(second, formats_on_tiles=formats_on_tiles)


def _is_within_dram(source: TensorLayout, target: TensorLayout) -> bool:
    """True for a move from DRAM to DRAM, which passes through the L1 of cores."""
    return source.memory_space is target.memory_space is MemorySpace.DEVICE_DRAM


def _changes_format_of_rows(source: TensorLayout, target: TensorLayout) -> bool:
    """True for another number format, unless both are tiles, whose format kernels change."""
    differs = source.scalar_element.data_type is not target.scalar_element.data_type
    return differs and not (source.is_tiled and target.is_tiled)


def _changes(source: TensorLayout, target: TensorLayout) -> tuple[str, ...]:
    """The components that a change of layout changes."""
    components = {
        "linear map": source.linear != target.linear,
        "grid": source.grid != target.grid,
        "element type": source.element != target.element,
        "memory space": source.memory_space is not target.memory_space,
        "memory layout": source.memory_layout is not target.memory_layout,
    }
    return tuple(name for name, differs in components.items() if differs)


def _bounce(
    source: TensorLayout, target: TensorLayout, shape: tuple[int, ...], *, has_rows: bool
) -> TensorLayout:
    """The layout between two that differ in several components: the first rule that applies."""
    if source.memory_space is not MemorySpace.DEVICE_L1:
        return source.with_memory_space(MemorySpace.DEVICE_L1)
    if target.memory_space is not MemorySpace.DEVICE_L1:
        return target.with_memory_space(MemorySpace.DEVICE_L1)
    if has_rows:
        goal = target if source.is_tiled else source
        return source.with_element(TileFormat.of(goal.scalar_element))
    elements = _bounce_of_elements(source, target)
    if elements is not None:
        return elements
    if source.grid != target.grid:
        return target.with_grid(shape, source.grid)
    if source.memory_layout is not target.memory_layout:
        return source.with_memory_layout(target.memory_layout)
    return source.with_element(target.element)


def _bounce_of_elements(source: TensorLayout, target: TensorLayout) -> TensorLayout | None:
    """The step from or to tiles: all else changes on tiles, but the order of numbers on rows."""
    if source.linear != target.linear:
        if source.is_tiled:
            return source.with_element(source.scalar_element)
        return target.with_element(target.scalar_element) if target.is_tiled else None
    if source.is_tiled == target.is_tiled:
        return None
    if source.is_tiled:
        return target.with_element(source.element)
    return source.with_element(target.element)
