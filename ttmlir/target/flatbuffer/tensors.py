"""Types of tensors as `TensorDesc` tables.

Equal tables are one dict, so that a file holds them once: a `TensorDesc` for each type, a
`LayoutDesc` for each layout and stride, a `MemoryDesc` for each shard and memory layout. Tensors of
different shape never share strides, and those of different memory layout never share memory.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    MemRefType,
    ModuleOp,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects.definition.ods import KERNEL_THREAD, DestinationStyleOp
from ttmlir.dialects.tt import STORED_IN_32_BITS, TensorLayoutAttr, element_of
from ttmlir.errors import ArgumentError
from ttmlir.layout.data_format import (
    SCHEMA_NAMES,
    Element,
    ScalarType,
    TileFormat,
    face_shape,
    is_block_float,
)
from ttmlir.layout.device import DeviceView
from ttmlir.layout.enums import DataType, MemorySpace, TensorMemoryLayout, ThreadType
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.tensor_layout import NO_MAPPING, core_range_set
from ttmlir.limits import MAX_RANK, memory_advice, memory_limit
from ttmlir.mlir.attributes import (
    Elements,
    ElementType,
    element_count,
    element_size,
    large_bytes,
    raw_bytes,
)
from ttmlir.mlir.core_prefix import has_late_kernels
from ttmlir.mlir.reporting import LocatedError, OpError, note
from ttmlir.mlir.resources import resource_bytes
from ttmlir.schema.packer import LargeVector, SharedText

if TYPE_CHECKING:
    from xdsl.dialects import memref

    from ttmlir.dialects import ttmetal
    from ttmlir.target.cpp.kernel_api import KernelApi

# --- File kind ------------------------------------------------------------------------------------
# The two kinds of program files, `.ttnn` and `.ttm`.


@dataclass(frozen=True)
class FileKind:
    """A kind of file that programs are written to."""

    extension: str
    schema: str
    pipeline: str
    """The flag of the pipeline that lowers a module to what such a file holds."""

    @property
    def refused(self) -> str:
        """How messages about operations that no file can hold begin."""
        return f"cannot be written to a {self.extension} file"


TTNN = FileKind(".ttnn", "TTNN/binary.fbs", "--ttir-to-ttnn-backend-pipeline")
TTMETAL = FileKind(".ttm", "TTMetal/binary.fbs", "--ttir-to-ttmetal-backend-pipeline")


# --- Symbols --------------------------------------------------------------------------------------
# The kernels and constants of a module by the names that programs give them.

# --- Constants ------------------------------------------------------------------------------------
# The elements of constants as bytes.


def constant_bytes(
    op: Operation, value: Attribute, kind: FileKind
) -> bytes | memoryview | LargeVector:
    """The elements of `value`, the result of `op`, in row-major order; OpError if it has none."""
    if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
        raise OpError(op, f"{kind.refused}: '{value.name}' is not a list of elements")
    given = cast("TensorType[ElementType]", cast("Elements | DenseResourceAttr", value).type)
    result = cast("TensorType[ElementType]", op.results[0].type)
    element = result.element_type
    if given.element_type not in (element, STORED_IN_32_BITS.get(element)):
        raise OpError(
            op,
            f"{kind.refused}: its elements are of type '{given.element_type}', "
            f"those of its result of type '{result.element_type}'",
        )
    if isinstance(value, DenseIntOrFPElementsAttr):
        size = element_count(cast("Elements", value)) * element_size(given.element_type)
        if size > memory_limit():
            raise OpError(op, f"{kind.refused}: its elements take {size} bytes; {memory_advice()}")
        return large_bytes(cast("Elements", value)) or raw_bytes(cast("Elements", value))
    return resource_bytes(op, value, kind.refused)


# --- Symbols --------------------------------------------------------------------------------------


class Symbols:
    """The functions and constants of a module by name, and the C++ of its kernels."""

    def __init__(self, module: Operation, api: KernelApi | None = None) -> None:
        """Look at all of the module."""
        self._api = api
        self._functions: dict[str, FuncOp] = {}
        self._globals: dict[str, memref.GlobalOp] = {}
        self.kernels: set[str] = set()
        """Functions that programs name."""
        self._texts: dict[tuple[str, ThreadType], str] = {}
        for op in module.walk():
            # By names: most modules have no kernels, whose dialects take long to load.
            match op.name:
                case FuncOp.name:
                    self._functions[cast("FuncOp", op).sym_name.data] = cast("FuncOp", op)
                case "memref.global":
                    constant = cast("memref.GlobalOp", op)
                    self._globals[constant.sym_name.data] = constant
                case "ttmetal.enqueue_program":
                    program = cast("ttmetal.EnqueueProgramOp", op)
                    self.kernels.update(each.data.symbol for each in program.kernels)
                case _:
                    pass

    def is_kernel(self, function: FuncOp) -> bool:
        """True for a function that programs run on cores."""
        return function.sym_name.data in self.kernels or KERNEL_THREAD in function.attributes

    def has(self, symbol: str) -> bool:
        """Whether the module has a function of this name."""
        return symbol in self._functions

    def function(self, op: Operation, symbol: str) -> FuncOp:
        """The kernel that a program names; OpError if there is none."""
        function = self._functions.get(symbol)
        if function is None or not function.body.blocks:
            what = "is not in the module" if function is None else "has no body"
            raise OpError(op, f"runs kernel @{symbol}, which {what}")
        return function

    def text(self, op: Operation, symbol: str, thread: ThreadType) -> str:
        """The C++ of a kernel; OpError for functions that are none."""
        from ttmlir.dialects.ttkernel import ThreadTypeAttr
        from ttmlir.target.cpp.from_ttkernel import function_text, kernel_text
        from ttmlir.target.cpp.kernel_api import KernelApi

        key = symbol, thread
        if key not in self._texts:
            function = self.function(op, symbol)
            marked = function.attributes.get(KERNEL_THREAD)
            if isinstance(marked, ThreadTypeAttr) and marked.value is not thread:
                raise OpError(
                    op,
                    f"runs kernel @{symbol} as one of thread {thread.keyword}, but the "
                    f"function's '{KERNEL_THREAD}' is {marked.data.keyword}",
                )
            if isinstance(marked, ThreadTypeAttr) and has_late_kernels(function):
                written = function_text(function, KernelApi.OF_2026)
            else:
                written = kernel_text(
                    function, function.body, thread, self._api or KernelApi.OF_2024
                )
            self._texts[key] = SharedText(written)
        return self._texts[key]

    def constant(self, op: memref.GetGlobalOp) -> memref.GlobalOp:
        """The constant that an operation reads; OpError if it is none."""
        name = op.name_.root_reference.data
        found = self._globals.get(name)
        if found is None or not found.initial_value.name.startswith(("dense", "dense_resource")):
            raise OpError(op, f"reads @{name}, which is no 'memref.global' with elements")
        return found


# --- Tensors --------------------------------------------------------------------------------------

Table = dict[str, Any]

_INT32_MAX = (1 << 31) - 1
_UINT64_MAX = (1 << 64) - 1


class MemoryTables:
    """Makes the `MemoryDesc` tables of what single cores, or the host, hold."""

    def __init__(self, kind: FileKind) -> None:
        """Start without tables."""
        self._kind = kind
        self._memories: dict[tuple[object, ...], Table] = {}

    def memory(
        self,
        shard: tuple[int, ...],
        element: Element,
        space: MemorySpace,
        memory_layout: TensorMemoryLayout,
    ) -> Table:
        """The `MemoryDesc` of what one core holds; LayoutError if it is too large to describe."""
        key = (shard, element, space, memory_layout)
        if key not in self._memories:
            check_int32(self._kind, "shard", shard)
            size = math.prod(shard) * element.size_bytes
            if size > _UINT64_MAX:
                raise LayoutError(f"a shard of {size} bytes is larger than a file can say")
            self._memories[key] = {
                "shape": shard,
                "tile_shape": tile_shape(element),
                "data_type": element.data_type.schema_name,
                "memory_space": space.schema_name,
                "memory_layout": memory_layout.schema_name,
                "size": size,
            }
        return self._memories[key]


def tile_shape(element: Element) -> tuple[int, int]:
    """The extents of a tile, 1x1 for single numbers; LayoutError for one that no chip has."""
    if not isinstance(element, TileFormat):
        return 1, 1
    _ = face_shape(element.shape)
    return element.shape


def check_int32(kind: FileKind, what: str, numbers: Iterable[int]) -> None:
    """LayoutError for numbers for which the schema is too narrow."""
    for number in numbers:
        if number > _INT32_MAX:
            raise LayoutError(
                f"{what} {number} is larger than {_INT32_MAX}, the largest that a "
                f"{kind.extension} file holds"
            )


class TensorTables(MemoryTables):
    """Makes the tables of the types of one device's tensors."""

    def __init__(self, device: DeviceView, kind: FileKind) -> None:
        """Start without tables."""
        super().__init__(kind)
        self.device = device
        # By identity first: comparing types means comparing layouts.
        self._known: dict[int, tuple[Attribute, Table]] = {}
        self._descs: dict[Attribute, Table] = {}
        self._layouts: dict[tuple[TensorLayoutAttr, tuple[int, ...]], Table] = {}

    def desc(self, type: Attribute) -> Table:
        """The `TensorDesc` of a type; LayoutError if the schema cannot describe it."""
        known = self._known.get(id(type))
        if known is not None:
            return known[1]
        table = self._descs.get(type)
        if table is None:
            table = self._descs[type] = self._make_desc(type)
        self._known[id(type)] = (type, table)
        return table

    def _make_desc(self, type: Attribute) -> Table:
        encoding = cast("TensorType[Attribute]", type).encoding if _is_tensor(type) else None
        if not isinstance(encoding, TensorLayoutAttr):
            raise LayoutError(
                f"type '{type}' has no layout; {self._kind.extension} files hold tensors with a "
                f"#tt.layout, which {self._kind.pipeline} gives them"
            )
        tensor_type = cast("TensorType[Attribute]", type)
        shape = tuple(tensor_type.get_shape())
        if any(extent < 0 for extent in shape):
            raise LayoutError(f"type '{type}' has extents that are not known; give them numbers")
        if len(shape) > MAX_RANK:
            raise LayoutError(
                f"a tensor of rank {len(shape)}; {self._kind.extension} files run with at "
                f"most {MAX_RANK}, so merge some of them by a reshape before"
            )
        check_int32(self._kind, "shape", shape)
        table: Table = {"shape": shape, "layout": self._layout(encoding, shape)}
        name = element_type_name(
            self._kind, element_of(tensor_type.element_type), encoding.tensor_layout.element
        )
        if name is not None:
            table["element_type"] = name
        return table

    def _layout(self, attr: TensorLayoutAttr, shape: tuple[int, ...]) -> Table:
        layout = attr.tensor_layout
        cores = layout.grid.volume * math.prod(self.device.mesh_shape)
        if math.prod(shape) > math.prod(layout.scalar_shard) * cores:
            raise LayoutError(
                f"a tensor of shape {list(shape)} does not fit its layout, which has "
                f"{list(layout.scalar_shard)} elements on each core of a grid of {layout.grid}"
            )
        stride = layout.stride(shape)
        check_int32(self._kind, "stride", stride)
        key = (attr, stride)
        if key not in self._layouts:
            # Chips are alike: the cores of the first one stand for those of all.
            mapping = layout.grid.mapping
            if mapping == NO_MAPPING:
                mapping = self.device.worker_grid.mapping
            ranges = core_range_set(layout.grid.shape, mapping)
            self._layouts[key] = {
                "stride": stride,
                "oob_val": layout.oob_val.schema_name,
                "core_range_set": [((r.y, r.x), (r.height, r.width)) for r in ranges],
                "memory_desc": self.memory(
                    layout.shard, layout.element, layout.memory_space, layout.memory_layout
                ),
            }
        return self._layouts[key]


def element_type_name(kind: FileKind, element: Element, stored: Element) -> str | None:
    """Name of the element type, None where a reader takes it from the storage format."""
    name = SCHEMA_NAMES.get(element.scalar.keyword)
    if name is None:
        raise LayoutError(f"element type '{element}' cannot be stored in a {kind.extension} file")
    return None if name == _implied_name(stored) else name


def _is_tensor(type: Attribute) -> bool:
    return isinstance(type, TensorType)


def _implied_name(element: Element) -> str:
    """What a reader takes the numbers of a tensor for if the file says no more."""
    data_type: DataType = element.data_type
    if is_block_float(data_type):
        assert isinstance(element, TileFormat)
        return SCHEMA_NAMES[element.scalar.keyword]
    return data_type.schema_name


# --- Values ---------------------------------------------------------------------------------------
# Tensors and devices of programs by the values of the IR that they stand for.


class TensorDescs(Protocol):
    """Makes the tables of types of tensors."""

    def desc(self, type: Attribute) -> Table:
        """The `TensorDesc` of a type; LayoutError if the schema cannot describe it."""
        ...


class Values:
    """The `TensorRef` and `DeviceRef` tables of a module, numbered in the order of its text."""

    def __init__(self, kind: FileKind) -> None:
        """Start with number 1; 0 stands for no tensor."""
        self._kind = kind
        self._next_id = 1
        self._tensors: dict[SSAValue, Table] = {}
        self._devices: dict[SSAValue, Table] = {}
        self._freed: dict[SSAValue, Operation] = {}

    def check_operands(self, op: Operation) -> None:
        """Note the tensors that an operation frees; OpError for one that was freed before."""
        inits = op.inits if isinstance(op, DestinationStyleOp) else ()
        for value in op.operands:
            if value in self._freed and value not in inits:
                where = note(self._freed[value].location, "it is deallocated here")
                message = f"{self._kind.refused}: it uses a tensor that was deallocated before"
                raise OpError(op, message, [where])
        if op.name in ("ttnn.dealloc", "ttnn.deallocate"):
            self._freed[op.operands[0]] = op

    def define(self, value: SSAValue, op: Operation, tables: TensorDescs) -> Table:
        """A new tensor for a result of `op` or an argument of the function `op`."""
        try:
            desc = tables.desc(value.type)
        except LayoutError as error:
            raise OpError(op, f"{self._kind.refused}: {error}") from error
        return self.add(value, {"desc": desc})

    def define_constant(
        self,
        value: SSAValue,
        op: Operation,
        tables: TensorTables,
        data: bytes | memoryview | LargeVector,
    ) -> Table:
        """A new tensor for the result of `op`, with these elements in a description of its own."""
        table = self.define(value, op, tables)
        table["desc"] = table["desc"] | {"constant_data": data}
        return table

    def define_result(self, op: DestinationStyleOp, tables: TensorTables) -> Table:
        """The tensor that an operation in destination-passing style writes its result to.

        It is the one of its init, whose memory the operation takes over; a new one if the init is
        an argument or has other uses, which still have to find what it held before.
        """
        return self._define_written(op.output, op.results[0], op, tables)

    def define_results(self, op: Operation, tables: TensorTables) -> list[Table]:
        """The tensors that an operation writes its results to, as `define_result` finds them."""
        if not isinstance(op, DestinationStyleOp) or not op.inits:
            return [self.define(result, op, tables) for result in op.results]
        return [
            self._define_written(init, result, op, tables)
            for init, result in zip(op.inits, op.results, strict=True)
        ]

    def _define_written(
        self, init: SSAValue, result: SSAValue, op: Operation, tables: TensorTables
    ) -> Table:
        if isinstance(init, BlockArgument) or not _has_one_use(init):
            return self.define(result, op, tables)
        table = self._tensors[result] = self.tensor(init)
        return table

    def tensor(self, value: SSAValue) -> Table:
        """The tensor of a value that has been defined, as verified modules have it for operands."""
        return self._tensors[value]

    def define_device(self, value: SSAValue, chip_id: int) -> Table:
        """A device for the result of an operation."""
        table = self._devices[value] = {"global_id": chip_id}
        return table

    def device(self, value: SSAValue) -> Table:
        """The device of a value that has been defined."""
        return self._devices[value]

    def define_at(
        self, value: SSAValue, op: Operation, tables: TensorTables, address: int, size: int
    ) -> Table:
        """A new tensor that lies at an address."""
        table = self.define(value, op, tables)
        table |= {"address": address, "size": size}
        return table

    def alias(self, value: SSAValue, other: SSAValue) -> None:
        """Let the tensor of `other` be that of `value`, too."""
        self._tensors[value] = self._tensors[other]

    def next_id(self) -> int:
        """The next number."""
        number = self._next_id
        self._next_id += 1
        return number

    def add(self, value: SSAValue, ref: Table) -> Table:
        """A new tensor for a value, with these fields and the next number."""
        table = self._tensors[value] = {"global_id": self.next_id(), **ref}
        return table


def _has_one_use(value: SSAValue[Attribute]) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None


# --- Golden ---------------------------------------------------------------------------------------
# Inputs and expected outputs of a program, kept in its file so that others can check it.
#
# They come from the framework that the program was written in: `ttrt run --golden` runs the program
# on these inputs and compares.

_KEYWORDS = {
    "float32": "f32",
    "float16": "f16",
    "bfloat16": "bf16",
    "float64": "f64",
    "bool": "i1",
    "uint8": "ui8",
    "uint16": "ui16",
    "uint32": "ui32",
    "uint64": "ui64",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
}


@dataclass(frozen=True, kw_only=True)
class Golden:
    """What a reference was given and what it computed, as NumPy arrays in the program's order."""

    inputs: Sequence[Any]
    outputs: Sequence[Any]
    function: str | None = None
    """The function that they belong to; None for the only one of the module."""


@dataclass(frozen=True)
class GoldenOfFunction:
    """What references computed for functions of a module."""

    infos: Mapping[FuncOp, Table]
    signatures: Mapping[str, Table] = field(default_factory=dict[str, Table])
    """How the models are called that functions come from, by the names of these."""

    @classmethod
    def find(
        cls,
        module: ModuleOp,
        functions: Sequence[FuncOp],
        golden: Golden | Sequence[Golden] | None,
        signatures: Mapping[str, Table],
    ) -> GoldenOfFunction:
        """The functions that golden results are for; LocatedError if they do not fit."""
        names = [function.sym_name.data for function in functions]
        if len(names) == 1 and "" in signatures:
            signatures = {names[0]: signatures[""]}
        assert signatures.keys() <= set(names), "models are functions"
        given = [golden] if isinstance(golden, Golden) else golden or ()
        infos: dict[FuncOp, Table] = {}
        for each in given:
            wanted = names[0] if each.function is None and len(names) == 1 else each.function
            if wanted not in names:
                raise LocatedError(
                    module.location,
                    f"golden results are for one function; name one of {', '.join(names)}",
                )
            function = functions[names.index(wanted)]
            types = function.function_type
            _check_shapes(function, "input", types.inputs.data, each.inputs)
            _check_shapes(function, "output", types.outputs.data, each.outputs)
            try:
                infos[function] = golden_info(each)
            except ValueError as error:
                raise OpError(function, f"golden results do not fit a file: {error}") from error
        return cls(infos, signatures)

    def debug_info(self, function: FuncOp, table: Table) -> Table:
        """The `DebugInfo` table of a function: the given one, with what belongs to it."""
        if function in self.infos:
            table = {**table, "golden_info": self.infos[function]}
        return self.with_signature(function, table)

    def with_signature(self, function: FuncOp, table: Table) -> Table:
        """The `DebugInfo` table of a function, with how its model is called."""
        signature = self.signatures.get(function.sym_name.data)
        return table if signature is None else {**table, "call_signature": signature}

    def entries_by_device(self, function: FuncOp) -> list[Table]:
        """The golden tensors of a function by their names, as files of 2026 have them."""
        info = self.infos.get(function, {"golden_map": []})
        return [
            {"key": entry["key"], "value": [{"device": 0, "value": _late_tensor(entry["value"])}]}
            for entry in info["golden_map"]
        ]


def _check_shapes(
    function: FuncOp, kind: str, types: Sequence[Attribute], arrays: Sequence[Any]
) -> None:
    """Refuse golden tensors of other shapes than the function's."""
    shapes = [
        tuple(cast("TensorType[Attribute] | MemRefType[Attribute]", type).get_shape())
        for type in types
    ]
    given = [tuple(array.shape) for array in arrays]
    if shapes != given:
        raise OpError(
            function,
            f"golden {kind}s have the shapes {given}; those of the function are {shapes}",
        )


def golden_info(golden: Golden) -> Table:
    """The `GoldenInfo` table; ValueError for arrays that no tensor can hold."""
    return {"golden_map": [*_entries("input", golden.inputs), *_entries("output", golden.outputs)]}


def _entries(kind: str, arrays: Sequence[Any]) -> Iterator[Table]:
    for number, array in enumerate(arrays):
        name = f"{kind}_{number}"
        yield {"key": name, "value": golden_tensor(name, array)}


def _late_tensor(tensor: Table) -> Table:
    """A golden tensor whose type is that of its elements, instead of the one that stores them."""
    late = {name: content for name, content in tensor.items() if name != "element_type"}
    return late | {"dtype": tensor["element_type"]}


def golden_tensor(name: str, array: Any) -> Table:
    """The `GoldenTensor` table of an array; ArgumentError for a type that no tensor has."""
    keyword = _KEYWORDS.get(array.dtype.name)
    if keyword is None:
        raise ArgumentError(
            f"{name} has element type {array.dtype}; supported are {', '.join(_KEYWORDS)}"
        )
    shape = tuple(int(extent) for extent in array.shape)
    strides = [1]
    for extent in reversed(shape[1:]):
        strides.insert(0, strides[0] * extent)
    if sys.byteorder == "big":
        array = array.byteswap()
    return {
        "name": name,
        "shape": shape,
        "stride": strides if shape else (),
        "dtype": ScalarType(keyword).data_type.schema_name,
        "data": array.tobytes(),
        "element_type": SCHEMA_NAMES[keyword],
    }
