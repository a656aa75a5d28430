"""Programs, operations and tensor descriptions of a `.ttnn` file, as the executor needs them.

The flatbuffer engine (`ttmlir.schema`) has checked that the file is a well-formed flatbuffer of the
right kind, with the numbers of that schema; here its contents are checked: nothing
missing, no impossible shapes, no tensor that is larger than the memory that its own description
gives it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from ttmlir.layout.data_format import BLOCK, face_shape, is_block_float
from ttmlir.layout.enums import (
    DataType,
    DeviceComputeConfig,
    MathFidelity,
    MemorySpace,
    TensorMemoryLayout,
)
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import (
    SystemDesc,
    board,
    default_system_desc,
    system_desc_from_table,
    system_desc_to_table,
)
from ttmlir.limits import MAX_CORES, MAX_RANK
from ttmlir.optable.op_definition import OpDefinition
from ttmlir.runtime.errors import BinaryError, InputError
from ttmlir.runtime.signature import CallSignature, read_signature
from ttmlir.runtime.tensor import ELEMENT_TYPES, Array, TensorDesc, element_of_data_type
from ttmlir.schema import TableView
from ttmlir.terminal import shown_name

if TYPE_CHECKING:
    from ttmlir.sim.machine.device import SimChip

Table = Mapping[str, Any]

# No tensor of a program is larger than this; the largest memory of a card is 32 GB.
_MAX_ELEMENTS = 1 << 36
REFUSED = "RefusedOp"
"""The table of operations that no definition stands for."""
_LOC = re.compile(r"loc\((.*)\)\s*$")


@dataclass(frozen=True)
class TensorRef:
    """A tensor of a program: the same id is the same tensor."""

    global_id: int
    desc: TensorDesc
    constant: Array | None = None
    """Elements of a constant, a view of the file."""

    def __repr__(self) -> str:
        """Number and description."""
        kind = "" if self.constant is None else ", constant"
        return f"TensorRef({self.global_id}: {self.desc}{kind})"


@dataclass(frozen=True, kw_only=True)
class GoldenTensors:
    """What a reference, such as the framework that a program comes from, was given and computed."""

    inputs: tuple[Array, ...]
    outputs: tuple[Array, ...]


def _spell_location(location: str) -> str:
    return f" at {location}" if location else ""


def location_of(debug_info: str) -> str:
    """The inside of the trailing `loc(...)` of an operation's text; empty if there is none."""
    match = _LOC.search(debug_info)
    return match[1] if match and match[1] != "unknown" else ""


@dataclass(frozen=True, kw_only=True)
class GivenCall:
    """What an operation computes, for files whose records are not those of the definitions."""

    definition: OpDefinition
    operands: tuple[TensorRef | None, ...]
    """In the order of the reference function; None for an absent optional operand."""
    outputs: tuple[TensorRef, ...]
    parameters: dict[str, Any]
    compute_config: DeviceComputeConfig | None = None
    """How the matrix unit computes, if the file says."""


def compute_config_of(table: Table | None) -> DeviceComputeConfig | None:
    """How the matrix unit computes; None where the fidelity is the library's choice."""
    if table is None or table["math_fidelity"] is None:
        return None
    return DeviceComputeConfig(
        math_fidelity=MathFidelity.from_schema_name(table["math_fidelity"]),
        fp32_dest_acc_en=bool(table["fp32_dest_acc_en"]),
        packer_l1_acc=bool(table.get("packer_l1_acc")),
    )


@dataclass(frozen=True)
class Operation:
    """One operation of a program, its fields still as in the file."""

    index: int
    table: str
    """Member of the schema's `OpType` union, e.g. `MatmulOp`."""
    debug_info: str
    """The operation's text in the IR, with its location; may be empty."""
    program: BinaryProgram
    fields: Table = field(repr=False)
    """What the file says of it."""
    given: GivenCall | None = None
    """The call, if the record does not follow the definition."""
    record: Operation | None = field(default=None, repr=False)
    """What the file has instead, if this operation was made of it."""
    own_title: str = ""
    """What the file calls the operation, if that is not its table."""
    is_free: bool = False
    """True for a part of an operation that costs nothing on its own."""
    on_host: bool = False
    """True where the operation takes tensors in host memory, too."""
    refusal: str = ""
    """Why it cannot run, if that is known."""

    def __repr__(self) -> str:
        """Number, kind and location."""
        return f"Operation({self.index}: {self.title}{_spell_location(self.location)})"

    @property
    def title(self) -> str:
        """The table and, where several operations share it, which one: `EltwiseOp Add`."""
        if self.own_title:
            return self.own_title
        if not self.has_enumerator("type"):
            return self.table
        return f"{self.table} {self.fields['type']}"

    @property
    def ir_name(self) -> str:
        """`ttnn.to_device` for the table `ToDeviceOp`, by the rule that names follow where no row
        of the operation table says another."""
        return "ttnn." + re.sub("(?<!^)(?=[A-Z])", "_", self.table.removesuffix("Op")).lower()

    @property
    def location(self) -> str:
        """The inside of the trailing `loc(...)` of the debug text; empty if there is none."""
        return location_of(self.debug_info)

    @cached_property
    def where(self) -> str:
        """File, program, operation and location, for messages."""
        location = f", loc({shown_name(self.location)})" if self.location else ""
        return f"{self.program.where}: operation {self.index} ({self.title}{location})"

    def has(self, name: str) -> bool:
        """True if the file holds a table, vector or text for this field."""
        return self.fields[name] is not None

    def knows(self, name: str) -> bool:
        """True for a field that is there, and False for one that the schema does not have, too."""
        return name in self.fields

    def has_enumerator(self, name: str) -> bool:
        """True if the operation has such a field of an enumeration type."""
        try:
            return isinstance(self.fields[name], str)
        except KeyError:
            return False

    def enumerator(self, name: str) -> str:
        """Schema name of an enumeration field."""
        return self.fields[name]

    def nested_enumerator(self, name: str, inner: str) -> str | None:
        """Schema name of an enumeration field of a nested table; None if there is no table."""
        table = self.fields[name]
        if table is None:
            return None
        return table[inner]

    def optional_field(self, name: str) -> Any:
        """A field that not every state of the schema has; None where it is not or is absent."""
        try:
            return self.fields[name]
        except KeyError:
            return None

    def scalar(self, name: str) -> Any:
        """A number; absent ones are the schema's default."""
        return self.fields[name]

    def table_field(self, name: str) -> Table:
        """A table, which must be there."""
        return require(self.fields, name, self.where)

    def numbers(self, name: str) -> tuple[Any, ...]:
        """A vector of numbers, which must be there."""
        return tuple(require(self.fields, name, self.where))

    def tensor(self, name: str) -> TensorRef:
        """A tensor, which must be there."""
        table = require(self.fields, name, self.where)
        return self.program.tensor(table, f"{self.where}: field '{name}'")

    def tensors(self, name: str) -> tuple[TensorRef, ...]:
        """A vector of tensors."""
        tables = self.fields[name] or ()
        return tuple(
            self.program.tensor(table, f"{self.where}: field '{name}[{i}]'")
            for i, table in enumerate(tables)
        )

    @property
    def tensor_fields(self) -> dict[str, tuple[TensorRef, ...]]:
        """The tensors that the operation reads and writes, by field, in the order of the schema."""
        if self.given is not None:
            operands = tuple(ref for ref in self.given.operands if ref is not None)
            return {"operands": operands, "outputs": self.given.outputs}
        found: dict[str, tuple[TensorRef, ...]] = {}
        for name in self.fields:
            value = self.fields[name]
            if _is_tensor(value):
                found[name] = (self.tensor(name),)
            elif _are_tensors(value):
                found[name] = self.tensors(name)
        return found

    def plain_fields(self, max_bytes: int) -> dict[str, Any]:
        """Numbers, words and lists of them, by field; not more than `max_bytes` bytes of each."""
        if self.given is not None:
            return dict(self.given.parameters)
        tensors = self.tensor_fields
        view = self.fields
        as_dict = view.as_dict(max_bytes=max_bytes) if isinstance(view, TableView) else dict(view)
        return {
            name: value
            for name, value in as_dict.items()
            if name not in tensors and not isinstance(value, dict)
        }

    def device(self, name: str) -> int | None:
        """Id of a device; None if the operation names none."""
        try:
            table = self.fields[name]
        except KeyError:
            return None
        return None if table is None else int(table["global_id"])


@dataclass(frozen=True)
class BinaryProgram:
    """A function of a binary."""

    index: int
    name: str
    binary: Binary
    _table: Table = field(repr=False)
    is_function: bool = False
    """True for what loops and branches of the file call."""
    _tensors: dict[int, TensorRef] = field(default_factory=dict[int, TensorRef], repr=False)

    def __repr__(self) -> str:
        """Name, types of inputs and outputs."""
        inputs, outputs = (
            ", ".join(ref.desc.type_text for ref in refs) for refs in (self.inputs, self.outputs)
        )
        return f"{type(self).__name__}({self.index}: {self.name}({inputs}) -> ({outputs}))"

    @cached_property
    def where(self) -> str:
        """File and program, for messages."""
        kind = "function" if self.is_function else "program"
        return f"{self.binary.source}: {kind} {self.index} '{shown_name(self.name)}'"

    @property
    def mesh(self) -> tuple[int, int]:
        """Rows and columns of the devices that it runs on."""
        return 1, 1

    @property
    def num_launches(self) -> int:
        """Programs of kernels that its commands run."""
        return 0

    @cached_property
    def inputs(self) -> tuple[TensorRef, ...]:
        """Tensors to be given when the program runs."""
        return self._refs("inputs")

    @cached_property
    def outputs(self) -> tuple[TensorRef, ...]:
        """Tensors that the program computes."""
        return self._refs("outputs")

    @cached_property
    def operations(self) -> tuple[Operation, ...]:
        """Operations in the order in which they run."""
        return tuple(
            self._operation(i, table) for i, table in enumerate(self._table["operations"] or ())
        )

    @property
    def record_titles(self) -> tuple[str, ...]:
        """The kinds of the operations that the file holds, in their order."""
        return tuple(operation.title for operation in self.operations)

    def debug_sources(self) -> tuple[tuple[str, str], ...]:
        """Name and text of each source form in the debug information: MLIR, then C++."""
        debug = self._table["debug_info"]
        if debug is None:
            return ()
        sources: list[tuple[str, str]] = []
        if debug["mlir"] is not None:
            sources.append((debug["mlir"]["name"] or "mlir", debug["mlir"]["source"] or ""))
        if debug["cpp"] is not None:
            sources.append(("cpp", debug["cpp"]))
        return tuple(sources)

    @cached_property
    def golden(self) -> GoldenTensors | None:
        """Inputs and outputs of a reference run that the file holds; None if it holds none."""
        debug = self._table["debug_info"]
        info = None if debug is None else debug["golden_info"]
        if info is None:
            return None
        where = f"{self.where}: golden_info"
        tensors = {
            entry["key"] or "": read_golden(
                require(entry, "value", where), f"{where}: '{entry['key']}'"
            )
            for entry in info["golden_map"] or ()
        }
        return GoldenTensors(
            inputs=number_tensors(tensors, "input"), outputs=number_tensors(tensors, "output")
        )

    @property
    def _call_signature(self) -> Table | None:
        debug = self._table["debug_info"]
        return None if debug is None else debug["call_signature"]

    @property
    def framework(self) -> str:
        """Where the model was written that the program comes from; empty if it does not say."""
        table = self._call_signature
        return "" if table is None else table["framework"] or ""

    @cached_property
    def signature(self) -> CallSignature | None:
        """How the model is called that the program comes from; None if the file does not say."""
        table = self._call_signature
        if table is None:
            return None
        where = f"{self.where}: call_signature"
        return read_signature(table, len(self.inputs), len(self.outputs), where)

    def _refs(self, name: str) -> tuple[TensorRef, ...]:
        return tuple(
            self.tensor(table, f"{self.where}: {name}[{i}]")
            for i, table in enumerate(self._table[name] or ())
        )

    def _operation(self, index: int, table: Table) -> Operation:
        where = f"{self.where}: operation {index}"
        fields = require(table, "type", where)
        return Operation(index, table["type_type"], table["debug_info"] or "", self, fields)

    def tensor(self, table: Table | TensorRef, where: str) -> TensorRef:
        """The tensor that a `TensorRef` table of this program refers to."""
        if isinstance(table, TensorRef):
            return table
        global_id = int(table["global_id"])
        desc_table = require(table, "desc", where)
        ref = self._tensors.get(global_id)
        if ref is None:
            desc = self.binary.tensor_desc(desc_table, f"{where}.desc")
            constant = self.binary.constant_of(desc_table, desc, f"{where}.desc")
            ref = self._tensors[global_id] = TensorRef(global_id, desc, constant)
        return ref


@dataclass(eq=False)
class Binary:
    """A loaded `.ttnn` file."""

    PROGRAM: ClassVar[type[BinaryProgram]] = BinaryProgram
    is_metal: ClassVar[bool] = False
    """True for a `.ttm` file, whose programs are commands and kernels."""

    UNSAID: ClassVar[tuple[str, ...]] = ()
    """Fields of `comparable_system`'s chips that the file does not have."""

    source: str
    """Path, or what else the bytes came from; for messages."""
    view: TableView = field(repr=False)
    """The root table, as in the file."""
    warning: str | None = None
    """What the user should know about the file's version."""
    _descs: dict[Table, TensorDesc] = field(default_factory=dict[Table, TensorDesc], repr=False)
    derived: dict[object, Any] = field(default_factory=dict[object, Any], repr=False)
    """What others have made of the file, under keys of their own, to make it only once."""

    def __repr__(self) -> str:
        """Path and programs."""
        names = ", ".join(program.name for program in self.programs)
        return f"{type(self).__name__}({self.source}: {names})"

    @property
    def version(self) -> tuple[int, int, int]:
        """Version of the compiler that wrote the file."""
        version = self.view["version"]
        return (0, 0, 0) if version is None else tuple(version)

    @property
    def ttmlir_git_hash(self) -> str:
        """Commit of the compiler that wrote the file."""
        return self.view["ttmlir_git_hash"] or ""

    @property
    def schema_hash(self) -> str:
        """Digest of the schema that the file was written with; empty where it has none."""
        return ""

    @property
    def system_desc(self) -> TableView | None:
        """The system that the file was compiled for, as in the file."""
        return self.view["system_desc"]

    @cached_property
    def programs(self) -> tuple[BinaryProgram, ...]:
        """Programs in the order of the file."""
        return tuple(
            self.PROGRAM(i, table["name"] or "", self, table)
            for i, table in enumerate(self.view["programs"] or ())
        )

    @cached_property
    def refuses_outside(self) -> bool:
        """True if places that a tensor does not have are errors, as they are in torch and ONNX."""
        return any(program.framework in ("onnx", "torch") for program in self.programs)

    @cached_property
    def functions(self) -> tuple[BinaryProgram, ...]:
        """What loops and branches call, by number."""
        return tuple(
            self.PROGRAM(i, table["name"] or "", self, table, is_function=True)
            for i, table in enumerate(self.view["functions"] or ())
        )

    @cached_property
    def _chips(self) -> int:
        """Number of chips of the system that the file was compiled for."""
        system = self.system_desc
        return 1 if system is None else max(1, len(system["chip_desc_indices"] or ()))

    def program(self, index: int) -> BinaryProgram:
        """A program by number; InputError if there is none."""
        if not 0 <= index < len(self.programs):
            raise InputError(
                f"{self.source}: there is no program {index}; the file has {len(self.programs)}"
            )
        return self.programs[index]

    def tensor_desc(self, table: Table, where: str) -> TensorDesc:
        """The description that a `TensorDesc` table holds."""
        desc = self._descs.get(table)
        if desc is None:
            desc = self._descs[table] = _read_desc(table, where, self._chips)
        return desc

    def constant_of(self, table: Table, desc: TensorDesc, where: str) -> Array | None:
        """The elements that a `TensorDesc` table holds, a view of the file."""
        return _constant(table, desc, where)

    @property
    def comparable_system(self) -> Table | None:
        """The system that the file was compiled for, as a `SystemDesc` table of 2024."""
        return self.system_desc

    @staticmethod
    def describe_board(name: str) -> dict[str, Any]:
        """The `SystemDesc` table of a board as compilers of the file's year describe it."""
        return system_desc_to_table(board(name))


def _read_desc(table: Table, where: str, chips: int) -> TensorDesc:
    layout = require(table, "layout", where)
    memory = require(layout, "memory_desc", f"{where}.layout")
    shape = tuple(int(extent) for extent in require(table, "shape", where))
    data_type = DataType.from_schema_name(memory["data_type"])
    element = element_of_data_type(data_type)
    if table["element_type"] != "None":
        element = ELEMENT_TYPES[table["element_type"]]
    tile = memory["tile_shape"]
    memory_layout = TensorMemoryLayout.from_schema_name(memory["memory_layout"])
    desc = TensorDesc(
        shape=shape,
        element=element,
        data_type=data_type,
        memory_space=MemorySpace.from_schema_name(memory["memory_space"]),
        memory_layout=memory_layout,
        tile=(1, 1) if tile is None else (int(tile.y), int(tile.x)),
        stride=tuple(layout["stride"] or ()),
        core_ranges=tuple(
            (core.loc.y, core.loc.x, core.size.y, core.size.x)
            for core in layout["core_range_set"] or ()
        ),
        shard=tuple(map(int, memory["shape"] or ())) if memory_layout.is_sharded else (),
    )
    check_shape(desc, where)
    _check_capacity(desc, memory, where, chips)
    return desc


def _is_tensor(value: object) -> bool:
    if isinstance(value, TensorRef):
        return True
    return isinstance(value, TableView) and value.table_type.name == "TensorRef"


def _are_tensors(value: object) -> bool:
    if not isinstance(value, tuple) or not value:
        return False
    return all(map(_is_tensor, cast("tuple[object, ...]", value)))


def require(table: Table, name: str, where: str) -> Any:
    """A field, which must be there."""
    value = table[name]
    if value is None:
        raise BinaryError(f"{where}: field '{name}' is missing")
    return value


def check_shape(desc: TensorDesc, where: str) -> None:
    """Refuse shapes that no memory could hold, above all those of damaged files."""
    if len(desc.shape) > MAX_RANK:
        raise BinaryError(
            f"{where}: a tensor of rank {len(desc.shape)}; at most {MAX_RANK} are supported"
        )
    if any(extent < 0 for extent in desc.shape):
        raise BinaryError(f"{where}: shape {list(desc.shape)} has negative extents")
    if desc.volume > _MAX_ELEMENTS:
        raise BinaryError(
            f"{where}: a tensor of shape {list(desc.shape)} has {desc.volume} elements; at most "
            f"{_MAX_ELEMENTS} are supported"
        )
    if not all(1 <= extent <= 1024 for extent in desc.tile):
        raise BinaryError(f"{where}: tile shape {list(desc.tile)} is out of range")
    try:
        face_shape(desc.tile)
    except LayoutError as error:
        raise BinaryError(f"{where}: {error}") from error
    if is_block_float(desc.data_type) and math.prod(desc.tile) % BLOCK:
        raise BinaryError(
            f"{where}: block floats need tiles of a multiple of {BLOCK} elements, got "
            f"{list(desc.tile)}"
        )
    if sum(abs(height * width) for _, _, height, width in desc.core_ranges) > MAX_CORES:
        raise BinaryError(f"{where}: a tensor on more than {MAX_CORES} cores; no chip has so many")
    if any(min(core_range) < 0 for core_range in desc.core_ranges):
        raise BinaryError(f"{where}: a tensor on cores with negative numbers")


def _check_capacity(desc: TensorDesc, memory: Table, where: str, chips: int) -> None:
    """Refuse a tensor that is larger than the memory that its description gives it."""
    shard = [int(extent) for extent in memory["shape"] or ()]
    cores = max(1, sum(height * width for _, _, height, width in desc.core_ranges)) * chips
    capacity = math.prod(shard) * math.prod(desc.tile) * cores
    if min(shard, default=1) < 0 or desc.volume > capacity:
        raise BinaryError(
            f"{where}: a tensor of shape {list(desc.shape)} does not fit its memory, which is "
            f"{shard} of {desc.tile[0]}x{desc.tile[1]} elements on {cores} cores"
        )


def _constant(table: Table, desc: TensorDesc, where: str) -> Array | None:
    data = table["constant_data"]
    if data is None:
        return None
    dtype = desc.element.host.newbyteorder("<")
    expected = desc.volume * dtype.itemsize
    if len(data) != expected:
        raise BinaryError(
            f"{where}: field 'constant_data' has {len(data)} bytes; a tensor of shape "
            f"{list(desc.shape)} and element type {desc.element} has {expected}"
        )
    # 64-bit numbers may lie at odd places of the file; computing on those copies every time.
    return np.require(np.frombuffer(data, dtype), requirements="A").reshape(desc.shape)


def read_golden(table: Table, where: str) -> Array:
    """The numbers of a `GoldenTensor` table."""
    if table["element_type"] == "None":
        element = element_of_data_type(DataType.from_schema_name(table["dtype"]))
    else:
        element = ELEMENT_TYPES[table["element_type"]]
    shape = tuple(int(extent) for extent in table["shape"] or ())
    data = require(table, "data", where)
    dtype = element.host.newbyteorder("<")
    if min(shape, default=0) < 0 or len(data) != math.prod(shape) * dtype.itemsize:
        raise BinaryError(
            f"{where} has {len(data)} bytes, which are no tensor of shape {list(shape)} and "
            f"element type {element}"
        )
    return np.require(np.frombuffer(data, dtype), requirements="A").reshape(shape)


def number_tensors(tensors: Mapping[str, Array], kind: str) -> tuple[Array, ...]:
    """`input_0`, `input_1` and so on, as far as there are any."""
    names = (f"{kind}_{i}" for i in range(len(tensors)))
    return tuple(tensors[name] for name in names if name in tensors)


# --- Compiled for ---------------------------------------------------------------------------------
# The system that a file was compiled for, and its chip on the simulator.


def chip_of(binary: Binary) -> SimChip:
    """The first chip of the file's system, the default one if the file names none."""
    # The simulator is loaded only where it is needed.
    from ttmlir.sim.errors import SimError
    from ttmlir.sim.machine.device import SimChip

    try:
        return SimChip.from_desc(system_of(binary).chip(0))
    except SimError as error:
        raise BinaryError(f"{binary.source}: {error.message}") from error


def system_of(binary: Binary) -> SystemDesc:
    """The system that a file was compiled for, the default one if it names none."""
    if binary.comparable_system is None:
        return default_system_desc()
    try:
        return system_desc_from_table(binary.comparable_system)
    except LayoutError as error:
        raise BinaryError(f"{binary.source}: {error}") from error
