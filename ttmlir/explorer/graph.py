"""Graphs in the JSON of Model Explorer.

Texts of graphs come from files of strangers and are shown by a page: `clean_text` takes what could
disguise or swell them, and names that JavaScript objects have by nature are changed, as the page
keeps nodes and layers in objects under their names.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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

from ttmlir.errors import InputError, plural
from ttmlir.ir.tensor_types import layout_of
from ttmlir.layout.data_format import is_block_float
from ttmlir.layout.enums import TensorMemoryLayout
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.printing import attribute_text
from ttmlir.runtime.binary import BinaryProgram, TensorRef
from ttmlir.runtime.binary import Operation as BinaryOperation
from ttmlir.runtime.errors import UnsupportedError
from ttmlir.runtime.execution.operations import find_definition
from ttmlir.runtime.residency import results_of
from ttmlir.runtime.tensor import TensorDesc

# --- Scopes ---------------------------------------------------------------------------------------
# Where in the user's model an operation comes from: its layers, name and place, by its location.
#
# Names of locations are paths: JAX writes `jit(f)/layer1/dot_general`, the torch frontend
# `encoder/fc1/linear`. The last part is the operation, those before it are the layers. A call site
# is the callee within the layers of the caller.

_TOKEN = re.compile(
    r'\s*(?:"(?P<name>(?:[^"\\]|\\.)*)"|(?P<word>callsite|fused|unknown|at)\b'
    r"|(?P<number>\d+)|(?P<sign>[()\[\],:<>])|(?P<other>.))",
    re.DOTALL,
)
_CALL = re.compile(r"(?:jit|pjit|vmap|jvp|transpose|checkpoint|remat)\((.*)\)")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)", re.DOTALL)

MAX_LOCATION = 1 << 14
"""Characters of a location that are looked at."""


@dataclass(frozen=True)
class Scope:
    """What a location says of an operation."""

    layers: tuple[str, ...] = ()
    name: str = ""
    """The whole name, such as `encoder/fc1/linear`, which overrides are given to."""
    place: str = ""
    """The first place in a file, as `model.py:4:24`."""

    @property
    def override_name(self) -> str:
        """The name that overrides of the operation have: its own, or file and line; or none."""
        return self.name or ":".join(self.place.split(":")[:2])


def scope_of(location: str) -> Scope:
    """What the text of a location says, with or without the `loc(...)` around it."""
    text = location[:MAX_LOCATION].strip()
    if text.startswith("loc(") and text.endswith(")"):
        text = text[4:-1]
    reader = _Reader(text)
    path = [part for part in reader.path if part]
    layers = [_layer(part) for part in path[:-1]]
    if path and _CALL.fullmatch(path[0]):
        # The function that was compiled: all operations are in it.
        layers = layers[1:]
    return Scope(tuple(layer for layer in layers if layer), "/".join(path), reader.place)


def _layer(part: str) -> str:
    inner = _CALL.fullmatch(part)
    while inner is not None:
        part = inner[1]
        inner = _CALL.fullmatch(part)
    return part


class _Reader:
    """One pass over the tokens: the names of operations, outermost first, and the first place."""

    def __init__(self, text: str) -> None:
        self.place = ""
        self._tokens = [match for match in _TOKEN.finditer(text) if match.group().strip()]
        self.path = self._read_path()

    def _read_path(self) -> list[str]:
        """The path of the first name, in that of its caller if it is the callee of a call."""
        names: list[str] = []
        is_called = False
        for number, token in enumerate(self._tokens):
            if token["word"] == "callsite" and not names:
                is_called = True
            if token["name"] is None:
                continue
            if self._is_place(number):
                self.place = self.place or self._spell_place(number)
            elif not names or (is_called and self._follows_at(number) and len(names) == 1):
                names.append(_unescape(token["name"]))
        return [part for name in reversed(names) for part in _split(name)]

    def _is_place(self, number: int) -> bool:
        after = self._tokens[number + 1 : number + 3]
        return len(after) == 2 and after[0]["sign"] == ":" and after[1]["number"] is not None

    def _follows_at(self, number: int) -> bool:
        return number > 0 and self._tokens[number - 1]["word"] == "at"

    def _spell_place(self, number: int) -> str:
        file = _unescape(self._tokens[number]["name"] or "")
        numbers = [each["number"] for each in self._tokens[number + 1 : number + 5]]
        position = [each for each in numbers if each is not None]
        return ":".join((re.split(r"[/\\]", file)[-1], *position))


def _split(name: str) -> list[str]:
    """The parts of a path; slashes inside of parentheses do not part."""
    parts = [""]
    depth = 0
    for letter in name:
        depth += (letter == "(") - (letter == ")")
        if letter == "/" and depth <= 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def _unescape(text: str) -> str:
    def character(match: re.Match[str]) -> str:
        code = match[1]
        return chr(int(code, 16)) if len(code) == 2 else code

    return _ESCAPE.sub(character, text)


# --- Graph ----------------------------------------------------------------------------------------

MAX_NODES = 1 << 17
"""Most nodes of what is shown at once; browsers come to an end before."""
MAX_LABEL = 120
MAX_VALUE = 2000
"""Most characters of a label, and of the value of an attribute."""
MAX_LAYERS = 24
"""Deepest nesting of layers that is shown."""

_CONTROL = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Categories of characters that are not seen, or that reorder those that are."""
_JAVASCRIPT = {
    *("__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__"),
    *("__lookupSetter__", "constructor", "hasOwnProperty", "isPrototypeOf"),
    *("propertyIsEnumerable", "toLocaleString", "toString", "valueOf"),
}

_SLASH = "\u2215"
"""Looks like a slash and divides no layers."""

Json = dict[str, Any]


def clean_text(text: str, limit: int = MAX_VALUE) -> str:
    """A text without control and direction characters, at most `limit` characters long."""
    short = text[: limit + 1]
    shown = "".join(
        " " if letter in "\n\t" else "�" if unicodedata.category(letter) in _CONTROL else letter
        for letter in short
    )
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def clean_name(text: str) -> str:
    """A text as the name of a node, a layer or a graph: no slashes, never empty."""
    name = clean_text(text, MAX_LABEL).replace("/", _SLASH).strip()
    return f"{name}_" if name in _JAVASCRIPT else name or "_"


def namespace(layers: Iterable[str]) -> str:
    """The layers that a node is in, outermost first, as one text."""
    return "/".join(clean_name(layer) for layer in list(layers)[:MAX_LAYERS])


Attributes = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Edge:
    """A value on its way from an output of another node."""

    source: str
    output: int = 0


@dataclass(frozen=True, kw_only=True)
class Node:
    """A node: an operation, a kernel launch, an input or the results of a function."""

    id: str
    label: str
    layers: tuple[str, ...] = ()
    attributes: Attributes = ()
    inputs: tuple[Edge, ...] = ()
    outputs: tuple[Attributes, ...] = ()
    """What is known of each value that the node makes, first of all its shape."""

    def as_json(self) -> Json:
        """The node as the page reads it."""
        return {
            "id": self.id,
            "label": clean_name(self.label),
            "namespace": namespace(self.layers),
            "attrs": _pairs(self.attributes),
            "incomingEdges": [
                {
                    "sourceNodeId": edge.source,
                    "sourceNodeOutputId": str(edge.output),
                    "targetNodeInputId": str(number),
                }
                for number, edge in enumerate(self.inputs)
            ],
            "outputsMetadata": [
                {"id": str(number), "attrs": _pairs(attributes)}
                for number, attributes in enumerate(self.outputs)
            ],
        }


@dataclass(frozen=True, kw_only=True)
class Graph:
    """A function or a program."""

    id: str
    nodes: Sequence[Node]
    attributes: Attributes = ()
    """What the page shows of the graph while no node is selected."""

    def as_json(self) -> Json:
        """The graph as the page reads it."""
        shown: Json = {"id": self.id, "nodes": [node.as_json() for node in self.nodes]}
        if self.attributes:
            pairs = _pairs(self.attributes)
            shown["groupNodeAttributes"] = {"": {pair["key"]: pair["value"] for pair in pairs}}
        return shown


@dataclass(frozen=True)
class Collection:
    """The graphs of one level of a program, such as ttir or ttnn."""

    label: str
    graphs: Sequence[Graph] = field(repr=False)

    def as_json(self) -> Json:
        """The collection as the page reads it."""
        return {
            "label": self.label,
            "graphs": [graph.as_json() for graph in self.graphs],
            "graphSorting": "node_count_desc",
        }


def _pairs(attributes: Attributes) -> list[dict[str, str]]:
    return [
        {"key": clean_name(key), "value": clean_text(value)} for key, value in attributes if value
    ]


def check_size(nodes: int) -> None:
    """Raises InputError for more nodes than are shown."""
    if nodes > MAX_NODES:
        raise InputError(
            f"it has more than {MAX_NODES} operations, which no page shows; show a part of it"
        )


def unique_names(names: Iterable[str]) -> list[str]:
    """Names of graphs, as the page needs them: clean, and each one once."""
    given: dict[str, int] = {}
    result: list[str] = []
    for name in names:
        clean = clean_name(name)
        number = given[clean] = given.get(clean, 0) + 1
        unique = clean if number == 1 else f"{clean} ({number})"
        while unique in given and number > 1:
            number += 1
            unique = f"{clean} ({number})"
        given.setdefault(unique, 1)
        result.append(unique)
    return result


# --- Program graph --------------------------------------------------------------------------------
# Graphs of `.ttnn` files: what runs, as the file itself says it, not the text that it carries.
#
# What only allocates or asks for the device is no node, nor are constants: the operations that use
# them say so. Inputs and results are nodes in layers of their own.

INPUTS, RESULTS = "Inputs", "Results"
"""Layers of what a function takes and returns."""

PROGRAM_GRAPH_FOLDED = {"EmptyOp", "GetDeviceOp", "DeallocOp", "DeallocateOp"}
"""Operations that only allocate, free or name the device."""
PROGRAM_GRAPH_CONSTANTS = {"ConstantOp", "FullOp", "OnesOp", "ZerosOp"}

_BORDERS = {"distribute": "distribute_tensor", "aggregate": "aggregate_tensor"}
"""Names of exchanges between the host and the devices of a mesh."""
_RESULT_FIELDS = ("out", "output", "outputs")
_MAX_FIELD = 64
"""Bytes of a list that are shown."""


def node_id(operation: BinaryOperation) -> str:
    """The name of the node of an operation."""
    return f"op{operation.index}"


def operation_name(operation: BinaryOperation) -> str:
    """Name of the operation in the IR, such as `ttnn.matmul`, by its definition if there is one."""
    if operation.table == "ExchangeOp":
        kind = operation.fields["kind"]
        return f"ttnn.{_BORDERS.get(kind, kind)}"
    try:
        return f"ttnn.{find_definition(operation).mnemonic}"
    except UnsupportedError:
        return operation.ir_name


def inputs_of(operation: BinaryOperation) -> tuple[TensorRef, ...]:
    """The tensors that an operation reads, in the order of the file's fields."""
    written = {ref.global_id for ref in results_of(operation)}
    return tuple(
        ref
        for name, refs in operation.tensor_fields.items()
        for ref in refs
        if ref.global_id not in written and name not in _RESULT_FIELDS
    )


def build_program_graph(
    program: BinaryProgram,
    graph_id: str,
    *,
    notes: Attributes = (),
    node_notes: Mapping[int, Attributes] | None = None,
) -> Graph:
    """The graph of a program.

    `notes` are attributes of the whole graph; `node_notes` of operations, by their index.
    """
    return _ProgramGraphBuilding(program, node_notes or {}).build(graph_id, notes)


class _ProgramGraphBuilding:
    def __init__(self, program: BinaryProgram, notes: Mapping[int, Attributes]) -> None:
        self._program = program
        self._notes = notes
        self._makers: dict[int, Edge] = {}
        self._constants: dict[int, TensorRef] = {}
        self._nodes: list[Node] = []

    def build(self, graph_id: str, notes: Attributes) -> Graph:
        program = self._program
        check_size(len(program.operations) + len(program.inputs) + len(program.outputs))
        for number, ref in enumerate(program.inputs):
            self._add(
                Node(
                    id=f"input{number}",
                    label=f"input {number}",
                    layers=(INPUTS,),
                    outputs=(describe_tensor(ref.desc),),
                    attributes=describe_layout(ref.desc),
                ),
                (ref,),
            )
        for operation in program.operations:
            self._add_operation(operation)
        for number, ref in enumerate(program.outputs):
            self._add(
                Node(
                    id=f"result{number}",
                    label=f"result {number}",
                    layers=(RESULTS,),
                    inputs=tuple(self._edges((ref,))),
                    attributes=describe_layout(ref.desc),
                ),
                (),
            )
        return Graph(id=graph_id, nodes=self._nodes, attributes=notes)

    def _add(self, node: Node, outputs: Iterable[TensorRef]) -> None:
        self._nodes.append(node)
        for number, ref in enumerate(outputs):
            self._makers[ref.global_id] = Edge(node.id, number)

    def _add_operation(self, operation: BinaryOperation) -> None:
        outputs = results_of(operation)
        if operation.table in PROGRAM_GRAPH_CONSTANTS:
            self._constants.update((ref.global_id, ref) for ref in outputs)
        if operation.table in PROGRAM_GRAPH_CONSTANTS | PROGRAM_GRAPH_FOLDED:
            return
        scope = scope_of(operation.location)
        inputs = inputs_of(operation)
        node = Node(
            id=node_id(operation),
            label=operation_name(operation).removeprefix("ttnn."),
            layers=scope.layers,
            attributes=(
                ("operation", operation_name(operation)),
                *describe_scope(scope, operation.location),
                ("schedule", str(operation.index)),
                *self._notes.get(operation.index, ()),
                *describe_border(operation, self._program.mesh),
                *(pair for ref in outputs[:1] for pair in describe_layout(ref.desc)),
                *_describe_fields(operation.plain_fields(_MAX_FIELD)),
                *self._describe_constants(inputs),
            ),
            inputs=tuple(self._edges(inputs)),
            outputs=tuple(describe_tensor(ref.desc) for ref in outputs),
        )
        self._add(node, outputs)

    def _edges(self, refs: Iterable[TensorRef]) -> Iterable[Edge]:
        found = (self._makers.get(ref.global_id) for ref in refs)
        return (edge for edge in found if edge is not None)

    def _describe_constants(self, inputs: Iterable[TensorRef]) -> Iterable[tuple[str, str]]:
        for number, ref in enumerate(inputs):
            if ref.global_id in self._constants:
                yield f"operand {number}", f"constant {shape_text(ref.desc)}"


def describe_scope(scope: Scope, location: str) -> Attributes:
    """Where in the user's model an operation comes from."""
    return (
        ("override_name", scope.override_name),
        ("named_location", scope.name),
        ("place", scope.place),
        ("full_location", location if scope.name else ""),
    )


def describe_border(operation: BinaryOperation, mesh: Sequence[int]) -> Attributes:
    """How the host divides a tensor over the devices of a mesh, or puts their parts together."""
    if operation.table != "ExchangeOp" or operation.fields["kind"] not in _BORDERS:
        return ()
    parts = [
        f"dimension {dim} over the {extent} devices of each {line}"
        for dim, extent, line in zip(operation.fields["dims"], mesh, ("column", "row"), strict=True)
        if dim >= 0
    ]
    return (("sharding", ", ".join(parts) or "all of it on each device"),)


def shape_text(desc: TensorDesc) -> str:
    """`33x96xf32`."""
    return "x".join((*map(str, desc.shape), str(desc.element)))


def spell_size(count: int) -> str:
    """`12.4 KiB`, or all bytes of less than one."""
    return f"{count:,} bytes" if count < 1024 else f"{count / 1024:,.1f} KiB"


def describe_tensor(desc: TensorDesc) -> Attributes:
    """What is shown at an edge: the shape, and what is hidden until one asks."""
    return (
        ("shape", shape_text(desc)),
        ("rank", str(len(desc.shape))),
        ("place", str(desc).partition(", ")[2]),
        ("size", spell_size(desc.size_in_bytes)),
    )


def describe_layout(desc: TensorDesc) -> Attributes:
    """The layout of a tensor, under the names of tt-explorer."""
    grid = "x".join(map(str, grid_of(desc)))
    unit = " tiles" if desc.is_tiled else ""
    precise = "" if not is_block_float(desc.data_type) else ", one exponent for 16 numbers"
    return (
        ("shape", "x".join(map(str, desc.shape))),
        ("dtype", str(desc.element)),
        ("rank", str(len(desc.shape))),
        ("buffer_type", desc.memory_space.keyword),
        ("tensor_memory_layout", desc.memory_layout.keyword),
        ("memory_layout", "tile" if desc.is_tiled else "row_major"),
        ("data_type", desc.data_type.keyword + precise),
        ("grid_shape", grid if desc.is_on_device else ""),
        ("shard_shape", "x".join(map(str, desc.shard)) + unit if desc.shard else ""),
        ("size", spell_size(desc.size_in_bytes)),
    )


def grid_of(desc: TensorDesc) -> tuple[int, int]:
    """Rows and columns of the cores that a tensor's layout names."""
    if len(desc.core_ranges) == 1:
        _, _, height, width = desc.core_ranges[0]
        return height, width
    return 1, sum(height * width for _, _, height, width in desc.core_ranges)


def _describe_fields(fields: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    for attribute, value in fields.items():
        name = f"{attribute} (field)" if attribute in ("shape", "dtype") else attribute
        if isinstance(value, list | tuple):
            yield name, ", ".join(map(str, cast("Sequence[object]", value)))
        else:
            yield name, str(value)


# --- Module graph ---------------------------------------------------------------------------------
# Graphs of modules in any dialect: stablehlo, tosa, linalg, ttir, ttnn, d2m, ttmetal, ttkernel.
#
# A function is a graph, an operation a node. The body of an operation with regions is a layer, in
# which the operation itself stands for the arguments of its blocks. Constants, destinations and
# what only names the device are no nodes: the operations that use them say so.

FOLDED = {
    *("tensor.empty", "ttir.empty", "d2m.empty", "memref.alloc", "memref.dealloc"),
    *("ttnn.empty", "ttnn.get_device", "ttnn.dealloc", "ttnn.deallocate"),
    *("ttmetal.create_buffer", "ttmetal.deallocate_buffer"),
}
"""Operations that only allocate, free or name the device."""
CONSTANTS = {
    *("ttir.constant", "ttir.zeros", "ttir.ones", "ttir.full", "ttnn.full", "ttnn.constant"),
    *("stablehlo.constant", "stablehlo.iota", "tosa.const", "tosa.const_shape", "arith.constant"),
}
_HIDDEN_ATTRIBUTES = {"operandSegmentSizes", "resultSegmentSizes", "operand_constraints"}
_SHOWN = {"shape", "dtype", "layout", "operation"}
"""Attributes with the names of something else that is shown."""
_MAX_LIST = 64


Spelling = Callable[[SSAValue], str]
"""What is said of a value, such as how it is divided over devices; empty if nothing is."""


def build_module_graphs(
    module: ModuleOp, *, notes: Attributes = (), sharding: Spelling = lambda _: ""
) -> list[Graph]:
    """The graphs of a module's functions, those that are only declared left out."""
    functions = list(_functions(module))
    names = unique_names(_symbol(function) or "module" for function in functions)
    total = sum(1 for _ in module.walk())
    check_size(total)
    return [
        _Building(function, sharding).build(name, notes)
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

    def __init__(self, function: Operation, sharding: Spelling) -> None:
        self._function = function
        self._sharding = sharding
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
                attributes=(*self._divided(argument), *_describe_type(argument.type)),
                outputs=(self._describe_value(argument),),
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
                *(pair for result in op.results[:1] for pair in self._divided(result)),
                *(pair for result in op.results[:1] for pair in _describe_type(result.type)),
                *_describe_attributes(op),
                *self._describe_constants(op),
            ),
            inputs=tuple(self._edges(op.operands)),
            outputs=tuple(map(self._describe_value, op.results)),
        )
        self._nodes.append(node)
        self._makers.update((result, Edge(node.id, i)) for i, result in enumerate(op.results))
        for region in op.regions:
            for block in region.blocks:
                self._makers.update((argument, Edge(node.id)) for argument in block.args)
        self._follow_destinations(op, node.id)
        return inside

    def _divided(self, value: SSAValue) -> Attributes:
        return (("sharding", self._sharding(value)),)

    def _describe_value(self, value: SSAValue) -> Attributes:
        return (("shape", _type_text(value.type)), *self._divided(value))

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
                    attributes=(*self._divided(value), *_describe_type(value.type)),
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
            return plural(len(array.data), "attribute")
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
