"""Graphs of modules in any dialect: stablehlo, tosa, linalg, ttir, ttnn, d2m, ttmetal, ttkernel.

A function is a graph, an operation a node. The body of an operation with regions is a layer, in
which the operation itself stands for the arguments of its blocks. Constants, destinations and what
only names the device are no nodes: the operations that use them say so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.traits import ConstantLike, IsTerminator

from ttmlir.explorer.graph import Attributes, Edge, Graph, Node, check_size, unique_names
from ttmlir.explorer.program_graph import INPUTS, RESULTS, describe_scope
from ttmlir.explorer.scopes import scope_of
from ttmlir.ir.layouts import layout_of
from ttmlir.layout.enums import TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.printing.printer import attribute_text

FOLDED = {
    *("tensor.empty", "ttir.empty", "d2m.empty", "memref.alloc", "memref.dealloc"),
    *("ttnn.empty", "ttnn.get_device", "ttnn.dealloc", "ttnn.deallocate"),
    *("ttmetal.create_buffer", "ttmetal.deallocate_buffer"),
}
"""Operations that only make room, free it or name the device."""
CONSTANTS = {
    *("ttir.constant", "ttir.zeros", "ttir.ones", "ttir.full", "ttnn.full", "ttnn.constant"),
    *("stablehlo.constant", "stablehlo.iota", "tosa.const", "tosa.const_shape", "arith.constant"),
}
_HIDDEN_ATTRIBUTES = {"operandSegmentSizes", "resultSegmentSizes", "operand_constraints"}
_SHOWN = {"shape", "dtype", "layout", "operation"}
"""Attributes with the names of something else that is shown."""
_MAX_LIST = 64


def build_module_graphs(module: ModuleOp, *, notes: Attributes = ()) -> list[Graph]:
    """The graphs of a module's functions, those that are only declared left out."""
    functions = list(_functions(module))
    names = unique_names(_symbol(function) or "module" for function in functions)
    total = sum(1 for _ in module.walk())
    check_size(total)
    return [
        _Building(function).build(name, notes)
        for function, name in zip(functions, names, strict=True)
    ]


def _functions(module: ModuleOp) -> Iterator[Operation]:
    found: list[Operation] = []
    pending: list[Operation] = [module]
    while pending:
        op = pending.pop()
        for region in op.regions:
            for block in region.blocks:
                for inner in block.ops:
                    if inner.regions and _symbol(inner) and inner.name.endswith("module"):
                        pending.append(inner)
                    elif inner.name in ("builtin.module", "ttcore.device_module"):
                        pending.append(inner)
                    elif _symbol(inner) and any(each.blocks for each in inner.regions):
                        found.append(inner)
    return iter(found or [module])


def _symbol(op: Operation) -> str:
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else ""


class _Building:
    """One walk over a function, without recursion: files may nest deeply."""

    def __init__(self, function: Operation) -> None:
        self._function = function
        self._makers: dict[SSAValue, Edge] = {}
        self._constants: dict[SSAValue, Operation] = {}
        self._nodes: list[Node] = []
        self._counts: dict[str, int] = {}
        self._index = 0

    def build(self, name: str, notes: Attributes) -> Graph:
        """The graph of the function."""
        for region in self._function.regions:
            for block in list(region.blocks)[:1]:
                self._add_inputs(block)
        pending: list[tuple[Iterator[Operation], tuple[str, ...]]] = [
            (iter(ops), ()) for ops in self._bodies(self._function)
        ]
        while pending:
            ops, layers = pending[-1]
            op = next(ops, None)
            if op is None:
                pending.pop()
                continue
            inside = self._add(op, layers)
            pending += [(iter(body), inside) for body in reversed(self._bodies(op))]
        return Graph(id=name, nodes=self._nodes, attributes=notes)

    def _bodies(self, op: Operation) -> list[list[Operation]]:
        return [list(block.ops) for region in op.regions for block in region.blocks]

    def _add_inputs(self, block: Block) -> None:
        for number, argument in enumerate(block.args):
            node = Node(
                id=f"input{number}",
                label=argument.name_hint or f"input {number}",
                layers=(INPUTS,),
                attributes=_describe_type(argument.type),
                outputs=(_describe_value(argument.type),),
            )
            self._nodes.append(node)
            self._makers[argument] = Edge(node.id)

    def _add(self, op: Operation, layers: tuple[str, ...]) -> tuple[str, ...]:
        """Add an operation; the layers that its regions are in."""
        index, self._index = self._index, self._index + 1
        is_constant = op.name in CONSTANTS or op.has_trait(ConstantLike)
        if is_constant:
            self._constants.update((result, op) for result in op.results)
        if is_constant or op.name in FOLDED:
            return layers
        if op.has_trait(IsTerminator) and op.parent_op() is self._function:
            self._add_results(op)
            return layers
        scope = scope_of(str(op.location))
        label = op.name.partition(".")[2] or op.name
        own_layers = layers or scope.layers
        inside = (*own_layers, self._layer(label)) if op.regions else own_layers
        node = Node(
            id=f"n{index}",
            label=label,
            layers=inside,
            attributes=(
                ("operation", op.name),
                *describe_scope(scope, str(op.location)),
                ("schedule", str(index)),
                *(pair for result in op.results[:1] for pair in _describe_type(result.type)),
                *_describe_attributes(op),
                *self._describe_constants(op),
            ),
            inputs=tuple(self._edges(op.operands)),
            outputs=tuple(_describe_value(result.type) for result in op.results),
        )
        self._nodes.append(node)
        self._makers.update((result, Edge(node.id, i)) for i, result in enumerate(op.results))
        for region in op.regions:
            for block in region.blocks:
                self._makers.update((argument, Edge(node.id)) for argument in block.args)
        self._follow_destinations(op, node.id)
        return inside

    def _layer(self, label: str) -> str:
        number = self._counts[label] = self._counts.get(label, 0) + 1
        return f"{label} {number}"

    def _follow_destinations(self, op: Operation, node: str) -> None:
        """Operations that return nothing write into their last operand, as those on memrefs do."""
        if op.results or not op.operands or op.has_trait(IsTerminator):
            return
        target = op.operands[-1]
        if not isinstance(target, BlockArgument):
            self._makers[target] = Edge(node)

    def _add_results(self, terminator: Operation) -> None:
        for number, value in enumerate(terminator.operands):
            self._nodes.append(
                Node(
                    id=f"result{number}",
                    label=f"result {number}",
                    layers=(RESULTS,),
                    attributes=_describe_type(value.type),
                    inputs=tuple(self._edges((value,))),
                )
            )

    def _edges(self, values: Iterable[SSAValue]) -> Iterator[Edge]:
        found = (self._makers.get(value) for value in values)
        return (edge for edge in found if edge is not None)

    def _describe_constants(self, op: Operation) -> Iterator[tuple[str, str]]:
        for number, operand in enumerate(op.operands):
            if operand in self._constants:
                yield f"operand {number}", f"constant {_type_text(operand.type)}"


def _describe_attributes(op: Operation) -> Iterator[tuple[str, str]]:
    for name, attribute in (*op.properties.items(), *op.attributes.items()):
        if name in _HIDDEN_ATTRIBUTES:
            continue
        yield f"{name} (attribute)" if name in _SHOWN else name, _attribute_text(attribute)


def _attribute_text(attribute: Attribute) -> str:
    """Its text; of what may be long, how much it is."""
    if isinstance(attribute, DenseIntOrFPElementsAttr | DenseResourceAttr):
        typed = cast("DenseIntOrFPElementsAttr", attribute)
        return f"dense {_type_text(typed.type)}"
    if isinstance(attribute, ArrayAttr):
        array = cast("ArrayAttr[Attribute]", attribute)
        if len(array.data) > _MAX_LIST:
            return f"{len(array.data)} attributes"
    if isinstance(attribute, DenseArrayBase):
        count = len(cast("DenseArrayBase[Any]", attribute))
        if count > _MAX_LIST:
            return f"{count} numbers"
    return attribute_text(cast("Attribute", attribute))


def _type_text(type_: Attribute) -> str:
    """`33x96xf32` of a tensor, its layout left out; another type as it is spelled."""
    if isinstance(type_, TensorType):
        tensor = cast("TensorType[Attribute]", type_)
        extents = ("?" if extent < 0 else str(extent) for extent in tensor.get_shape())
        return "x".join((*extents, attribute_text(tensor.element_type)))
    return attribute_text(type_)


def _describe_value(type_: Attribute) -> Attributes:
    return (("shape", _type_text(type_)),)


def _describe_type(type_: Attribute) -> Attributes:
    """Shape and layout, under the names of tt-explorer."""
    if not isinstance(type_, TensorType):
        return (("type", attribute_text(type_)),)
    tensor = cast("TensorType[Attribute]", type_)
    shape = tensor.get_shape()
    plain = (
        ("shape", "x".join(map(str, shape))),
        ("dtype", attribute_text(tensor.element_type)),
        ("rank", str(len(shape))),
    )
    try:
        layout = layout_of(tensor)
    except LayoutError:
        layout = None
    if layout is None:
        return plain
    spread = layout.memory_layout
    tile = layout.tile
    element = layout.scalar_element.data_type if tile is None else tile.data_type
    return (
        *plain,
        ("buffer_type", layout.memory_space.keyword),
        ("tensor_memory_layout", "" if spread is TensorMemoryLayout.NONE else spread.keyword),
        ("memory_layout", "tile" if layout.is_tiled else "row_major"),
        ("data_type", element.keyword),
        ("grid_shape", "x".join(map(str, layout.grid.shape))),
        ("memref_shape", "x".join(map(str, layout.shard))),
        ("linear", str(layout.linear)),
    )
