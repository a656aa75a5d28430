"""Rules of StableHLO's slices at computed places, for `convert-stablehlo-to-ttir`.

Those of gather and scatter stand in files of their own.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.dialects.stablehlo.text.form import integers
from ttmlir.ir.builder import Builder
from ttmlir.ir.index_arithmetic import create_indices, find_slice_begins, slice_at, widen
from ttmlir.ir.rewriting import replace
from ttmlir.ir.tensor_types import check_static_shapes, element_type, value_shape
from ttmlir.passes.core.ttir_conversion import ConversionRule
from ttmlir.passes.stablehlo import (
    convert_stablehlo_to_ttir_gather,
    convert_stablehlo_to_ttir_scatter,
)


def _dynamic_slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shapes(op)
    operand, *starts = op.operands
    replace(op, slice_at(builder, operand, starts, integers(op, "slice_sizes")))


def _dynamic_update_slice(op: Operation) -> None:
    builder = Builder.before(op)
    check_static_shapes(op)
    operand, update, *starts = op.operands
    extents, sizes = value_shape(operand), value_shape(update)
    if extents == sizes:
        replace(op, update)
        return
    begins = find_slice_begins(builder, starts, extents, sizes)
    if isinstance(begins, tuple):
        begins = create_indices(builder, begins, element_type(widen(builder, starts[0])))
    replace(op, builder.create("slice_write", [operand, update, begins], op.results[0].type))


RULES: dict[str, ConversionRule] = {
    **convert_stablehlo_to_ttir_gather.RULES,
    **convert_stablehlo_to_ttir_scatter.RULES,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
}
"""Rules by the full name of the operation."""
