"""Turn the marked operations of ttnn into ttir, so that they become kernels of their own.

Marked are operations with the unit attribute `ttnn.hoist_generic_via_d2m`; `ttnn_jit` gives it to
all that a function calls. Others stay, and run as calls of the library beside the kernels.

Before:

    #dram = #ttnn.buffer_type<dram>
    #ttnn_layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @half(%arg0: tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout> {
      %0 = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape =
          #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
      %1 = "ttnn.full"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>, fill_value = 5.000000e-01 :
          f32, layout = #ttnn.layout<tile>, shape = #ttnn.shape<32x32>}> : (!ttnn.device)
          -> tensor<32x32xbf16, #ttnn_layout>
      %2 = "ttnn.multiply"(%arg0, %1) <{dtype = #ttcore.supportedDataTypes<bf16>}>
          {ttnn.hoist_generic_via_d2m} : (tensor<32x32xbf16, #ttnn_layout>,
          tensor<32x32xbf16, #ttnn_layout>) -> tensor<32x32xbf16, #ttnn_layout>
      return %2 : tensor<32x32xbf16, #ttnn_layout>
    }

After:

    ...
        %1 = "ttir.constant"() <{value = dense<5.000000e-01> : tensor<32x32xbf16>}> : () ->
            tensor<32x32xbf16, #ttnn_layout>
        %2 = tensor.empty() : tensor<32x32xbf16, #ttnn_layout>
        %3 = "ttir.multiply"(%arg0, %1, %2) <{operandSegmentSizes = array<i32: 2, 1>,
            operand_constraints = [...]}> : (...) -> tensor<32x32xbf16, #ttnn_layout>
        return %3 : tensor<32x32xbf16, #ttnn_layout>
      }
    }

Requires: tensors with a `#ttnn.ttnn_layout`.
Ensures: no marked operation is left. What they read and make is in tiles that go round the banks of
DRAM, or in shards of L1 on cores that the layout names; block floats are the numbers that they
stand for. Operations of ttnn move tensors of other layouts there and back. A filled tensor that a
marked operation reads is a constant, and is not filled if nobody else reads it. Operations of
2026, whose types alone say where results are, become ttir of that year, which makes its results.
Options: none.
Not done here: operations whose parameters differ between ttnn and ttir, such as convolutions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from ttmlir.dialects import ttnn
from ttmlir.dialects.ttir import TTIRTableOp
from ttmlir.errors import ArgumentError
from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.rewriting import erase_unused, insert_before, refuse_to_legalize, replace
from ttmlir.ir.tensor_types import element_type, layout_of, shape_of, tensor_of, value_shape
from ttmlir.layout.data_format import Element, TileFormat, is_block_float
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout, TTNNLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import TensorLayout
from ttmlir.mlir.attributes import ElementsType, elements_of
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.d2m.schedule.ttnn_shards import are_placed

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

HOIST = "ttnn.hoist_generic_via_d2m"
"""On an operation of ttnn: it is to become a kernel."""


@dataclass(frozen=True)
class ConvertTTNNToTTIRPass(ModulePass):
    """Turn marked ttnn operations into ttir operations, to become kernels of their own."""

    name = "convert-ttnn-to-ttir"
    title = "ConvertTTNNToTTIR"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert the marked operations of every function."""
        with use_style(Spelling.LATE.style) if _is_late(module) else nullcontext():
            for op in module.walk():
                if isinstance(op, FuncOp):
                    for block in op.body.blocks:
                        _Conversion().convert(block)


def _is_late(module: ModuleOp) -> bool:
    """True for operations of 2026: types alone say where results are, and what they consist of."""
    return not any(
        isinstance(op, ttnn.TTNNTableOp)
        and (op.inits or not _SAID_BEFORE.isdisjoint(op.properties.keys()))
        for op in module.walk()
    )


_SAID_BEFORE = frozenset(("dtype", "layout", "memory_config"))
"""What operations of 2025 say of their results beside the types."""


class _Conversion:
    """What the values of a block have become."""

    def __init__(self) -> None:
        self._known: dict[SSAValue, SSAValue] = {}
        """Values by others with the same numbers, in the layout that kernels take."""
        self._optional: list[Operation] = []
        """Operations that are needed only if somebody reads them, in their order."""

    def convert(self, block: Block) -> None:
        """Convert the marked operations of a block."""
        for op in tuple(block.ops):
            if HOIST not in op.attributes:
                continue
            if not isinstance(op, ttnn.TTNNTableOp):
                refuse_to_legalize(op, f"only operations that compute are marked with '{HOIST}'")
            try:
                self._convert(op)
            except LayoutError as error:
                refuse_to_legalize(op, str(error))
        erase_unused(self._optional)
        for op in tuple(block.ops):
            if isinstance(op, ttnn.ToMemoryConfigOp):
                _write_in_place(op)

    def _convert(self, op: ttnn.TTNNTableOp) -> None:
        definition = op.DEFINITION
        names = {each.name for each in definition.parameters}
        differs = names != {each.name for each in definition.ttir_signature}
        try:
            says_more = not op.parameters().keys() <= names
        except ArgumentError:
            says_more = True
        if not definition.in_ttir or differs or says_more or len(op.results) != 1:
            refuse_to_legalize(
                op,
                f"it has no counterpart in ttir; leave out '{HOIST}', and the library computes it",
            )
        builder = Builder.before(op)
        type_ = op.results[0].type
        inputs = [self._enter(value, op) for value in op.inputs]
        written = type_ if _is_in_place(type_) else _kernel_type(type_)
        made = builder.create(definition.mnemonic, inputs, written, **op.parameters())
        result = self._move(made, type_, op)
        self._known[result] = made
        self._optional += [
            value.owner for value in op.inits if isinstance(value.owner, ttnn.EmptyOp)
        ]
        replace(op, result)

    def _enter(self, value: SSAValue, op: Operation) -> SSAValue:
        """A value that a marked operation reads, in the layout that kernels take."""
        known = self._known.get(value)
        if known is None:
            owner = value.owner
            type_ = _kernel_type(value.type)
            if isinstance(owner, ttnn.FullOp):
                known = Builder.before(op).create_constant(_splat(owner), type_)
                self._optional.append(owner)
            elif _is_in_place(value.type):
                known = value
            else:
                known = self._move(value, type_, op)
            self._known[value] = known
        return known

    def _move(self, value: SSAValue, type_: Attribute, op: Operation) -> SSAValue:
        """The value in another layout; between rows and tiles by way of DRAM."""
        old, new = _require_layout(value.type), _require_layout(type_)
        shape = value_shape(value)
        steps = [new]
        if old.is_tiled != new.is_tiled:
            steps = [_in_dram(shape, old.element), _in_dram(shape, new.element), new]
        for layout in steps:
            old = _require_layout(value.type)
            if layout != old:
                changes_rows = layout.is_tiled != old.is_tiled
                moved = _with_layout(value.type, layout)
                value = self._add_move(value, moved, op, changes_rows=changes_rows)
        return value

    def _add_move(
        self, value: SSAValue, type_: Attribute, op: Operation, *, changes_rows: bool
    ) -> SSAValue:
        cls: type[Operation] = ttnn.ToMemoryConfigOp
        properties: dict[str, Attribute] = {}
        if changes_rows:
            cls = ttnn.ToLayoutOp
            is_tiled = _require_layout(type_).is_tiled
            form = TTNNLayout.TILE if is_tiled else TTNNLayout.ROW_MAJOR
            properties["layout"] = ttnn.LayoutAttr(form)
        new = cls.create(
            operands=[value], result_types=[type_], properties=properties, location=op.location
        )
        insert_before(op, new)
        self._optional.append(new)
        return new.results[0]


def _write_in_place(op: ttnn.ToMemoryConfigOp) -> None:
    """Let what moves to shards be made there, if only kernels read it elsewhere."""
    value, type_ = op.operands[0], op.results[0].type
    made = value.owner
    users = [use.operation for use in value.uses if use.operation is not op]
    if not isinstance(made, TTIRTableOp) or not _is_in_place(type_):
        return
    if element_type(value) != element_type(op.results[0]):
        return
    if all(isinstance(user, TTIRTableOp) for user in users):
        for init in made.inits:
            Rewriter.replace_value_with_new_type(init, type_)
        replace(op, Rewriter.replace_value_with_new_type(value, type_))


def _splat(op: ttnn.FullOp) -> Attribute:
    """What a filled tensor holds, without its layout."""
    result = op.results[0]
    element = element_type(result)
    number = float(op.fill_value) if isinstance(element, AnyFloat) else int(op.fill_value)
    return elements_of(cast("ElementsType", tensor_of(element, value_shape(result))), [number])


def _require_layout(type_: Attribute) -> TensorLayout:
    layout = layout_of(type_)
    if layout is None:
        raise LayoutError(f"the tensor {type_} has no layout; give it a '#ttnn.ttnn_layout'")
    return layout


def _with_layout(type_: Attribute, layout: TensorLayout) -> Attribute:
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(tensor.element_type, tensor.get_shape(), ttnn.TTNNLayoutAttr.of(layout))


def _is_in_place(type_: Attribute) -> bool:
    """True for tensors in shards of L1, which kernels read and write where they are."""
    layout = _require_layout(type_)
    return are_placed(layout) and not is_block_float(layout.element.data_type)


def _kernel_type(type_: Attribute) -> Attribute:
    """The type in the layout that kernels take: tiles that go round the banks of DRAM."""
    layout = _require_layout(type_)
    element = layout.element
    if not isinstance(element, TileFormat) or is_block_float(element.data_type):
        element = TileFormat.of(element.scalar)
    return _with_layout(type_, _in_dram(shape_of(type_), element))


def _in_dram(shape: Sequence[int], element: Element) -> TensorLayout:
    """The layout of a tensor whose pages go round the banks of DRAM."""
    return TensorLayout.of(
        shape,
        element,
        MemorySpace.DEVICE_DRAM,
        (1, 1),
        memory_layout=TensorMemoryLayout.INTERLEAVED,
    )
