"""What a definition of the table of kernel calls says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import Enum, Flag, auto
from functools import cached_property
from typing import Any

from ttmlir.optable import elementwise

# --- Enums ----------------------------------------------------------------------------------------
# Enumerations of tt-metal that calls take, with the numbers that their members have in C++.
#
# Source: tt-metal, tt_metal/hw/inc/tt-1xx (tensix_types.h, circular_buffer_constants) and tt-llk
# (llk_defs.h).


@dataclass(frozen=True, kw_only=True)
class CppEnum:
    """An enumeration: its C++ name, its members in order, the type it is stored in."""

    name: str
    members: Mapping[str, int]
    scoped: bool = True
    """Its members are named `Enum::member` only, and are no integers without a cast."""
    type: str = "uint8_t"
    namespace: str = ""


def _number(*names: str) -> Mapping[str, int]:
    return {name: number for number, name in enumerate(names)}


def _ports() -> Mapping[str, int]:
    """The older names of circular buffers, 8 for each purpose."""
    purposes = ("c_in", "dataflow", "c_out", "c_intermed")
    return {f"{purpose}{i}": 8 * p + i for p, purpose in enumerate(purposes) for i in range(8)}


_ALL = (
    CppEnum(
        name="DataFormat",
        members={
            "Float32": 0,
            "Float16": 1,
            "Bfp8": 2,
            "Bfp4": 3,
            "Tf32": 4,
            "Float16_b": 5,
            "Bfp8_b": 6,
            "Bfp4_b": 7,
            "Int32": 8,
            "UInt16": 9,
            "Lf8": 10,
            "Bfp2": 11,
            "Int8": 14,
            "Bfp2_b": 15,
            "UInt32": 24,
            "Fp8_e4m3": 26,
            "UInt8": 30,
            "RawUInt8": 240,
            "RawUInt16": 241,
            "RawUInt32": 242,
            "Invalid": 255,
        },
    ),
    CppEnum(
        name="CBIndex",
        members={f"c_{number}": number for number in range(32)},
        scoped=False,
        namespace="tt",
    ),
    CppEnum(name="CB", members=_ports(), scoped=False, namespace="tt"),
    CppEnum(name="PoolType", members=_number("SUM", "AVG", "MAX", "MIN"), scoped=False),
    CppEnum(
        name="ReduceDim", members=_number("REDUCE_ROW", "REDUCE_COL", "REDUCE_SCALAR"), scoped=False
    ),
    CppEnum(name="BroadcastType", members=_number("NONE", "COL", "ROW", "SCALAR"), scoped=False),
    CppEnum(
        name="EltwiseBinaryType",
        members=_number("ELWMUL", "ELWDIV", "ELWADD", "ELWSUB", "ELWLESS"),
        scoped=False,
    ),
    CppEnum(
        name="EltwiseBinaryReuseDestType", members=_number("NONE", "DEST_TO_SRCA", "DEST_TO_SRCB")
    ),
    CppEnum(
        name="ThreadId",
        members=_number("BriscThreadId", "UnpackThreadId", "MathThreadId", "PackThreadId"),
        scoped=False,
    ),
    CppEnum(
        name="ReluType",
        members=_number("NO_RELU", "ZERO_RELU", "MIN_THRESHOLD_RELU", "MAX_THRESHOLD_RELU"),
        scoped=False,
    ),
    CppEnum(name="InlineWriteDst", members=_number("DEFAULT", "L1", "REG")),
    CppEnum(name="ProgrammableCoreType", members=_number("TENSIX", "ACTIVE_ETH", "IDLE_ETH")),
)
ENUMS: Mapping[str, CppEnum] = {enum.name: enum for enum in _ALL}
"""Every enumeration by its C++ name."""

CONSTANTS: Mapping[str, int] = {
    "INVALID": 0,
    "VALID": 1,
    "NOC_MAX_BURST_SIZE": 8192,
    "NOC_MAX_TRANSACTION_ID": 15,
    "NOC_UNICAST_WRITE_VC": 1,
    "TILE_HEIGHT": 32,
    "TILE_WIDTH": 32,
    "TILE_HW": 1024,
    "FACE_HEIGHT": 16,
    "FACE_WIDTH": 16,
    "FACE_HW": 256,
    "TSLICE_INPUT_CB": 2,
    "TSLICE_OUTPUT_CB": 3,
    "TSLICE_RD_PTR": 4,
    "TSLICE_WR_PTR": 5,
}
"""Names of numbers that kernels use (tt-metal, dataflow_api.h and tt_metal/hostdevcommon's
constants; the size of a packet is Wormhole's)."""


# --- References -----------------------------------------------------------------------------------
# Functions of tiles that several calls have in common.

Reference = Callable[..., Any]
"""`reference(xp, *tiles, **scalars)`: what a call computes, with NumPy as `xp`."""

_REFERENCES = {definition.mnemonic: definition.reference for definition in elementwise.DEFINITIONS}


def unchanged(xp: Any, tile: Any) -> Any:
    """The tile itself."""
    return tile


def reference_of(mnemonic: str) -> Reference:
    """The reference function of an elementwise operation of ttir."""
    return _REFERENCES[mnemonic]


def function_with_number(name: str) -> Reference:
    """A function of NumPy, of a tile and a number."""

    def reference(xp: Any, x: Any, *, value: Any) -> Any:
        return getattr(xp, name)(x, value)

    return reference


# --- Definition -----------------------------------------------------------------------------------

REFERENCE = "880154e3c2"
"""The commit of tt-mlir whose dialect and files this project agrees with."""


class Role(Flag):
    """The five RISC-V processors of a core (tt-isa-documentation, WormholeB0/TensixTile)."""

    BRISC = auto()
    """Data movement, usually the writer."""
    NCRISC = auto()
    """Data movement, usually the reader."""
    UNPACK = auto()
    """Compute, thread 0: copies tiles from L1 to the source registers."""
    MATH = auto()
    """Compute, thread 1: drives the matrix unit (FPU) and the vector unit (SFPU)."""
    PACK = auto()
    """Compute, thread 2: copies tiles from DST to L1."""

    DATA = BRISC | NCRISC
    COMPUTE = UNPACK | MATH | PACK
    ALL = DATA | COMPUTE


class ValueKind(Enum):
    """Type of an operand or result of a call."""

    CB = auto()
    """A circular buffer."""
    I32 = auto()
    """A 32-bit integer: a number, an index or an address in L1."""
    NOC_ADDR = auto()
    """An address on the network on chip: a core and an address in its memory."""
    ADDRESS = auto()
    """An address in L1: a 32-bit integer or a semaphore."""
    SEMAPHORE = auto()
    """A semaphore: the address in L1 of its 32-bit word."""
    L1_PTR = auto()
    """A pointer to volatile 32-bit words in L1."""
    DATA_FORMAT = auto()
    """A number format, an enumerator of tt-metal's `DataFormat`."""
    ADDR_GEN = auto()
    """An address generator: where the pages of a tensor that is spread over banks lie."""
    ACCESSOR_ARGS = auto()
    """What the arguments of a kernel say about the layout of a tensor."""
    ACCESSOR = auto()
    """A tensor accessor: an address generator for every layout, sharded ones included."""
    NOC = auto()
    """A network, as an object."""
    CB_OBJECT = auto()
    """A circular buffer, as an object."""
    SEMAPHORE_OBJECT = auto()
    """A semaphore, as an object."""
    PLACE_OBJECT = auto()
    """Memory of cores or of banks, as an object."""
    ENDPOINT = auto()
    """What data is moved from or to: an object, a pointer into L1 or a tensor accessor."""
    SLICE_RANGE = auto()
    """Rows and columns of a tile that are printed."""
    ARRAY = auto()
    """A table of 32-bit integers of the kernel's own."""
    CB_INTERFACE = auto()
    """What a processor knows of a circular buffer: its pointers and sizes."""
    FLOAT_LANES = auto()
    """A vector of the vector unit: 32 floating-point numbers."""
    INTEGER_LANES = auto()
    """A vector of 32 integers."""
    TRUTH_LANES = auto()
    """Which of the 32 lanes of vectors a comparison holds in."""
    BOOL = auto()
    """A truth value."""
    F32 = auto()
    """A 32-bit floating-point number."""


class Form(Enum):
    """How the call is written in C++."""

    CALL = auto()
    """`name<templates>(operands)`."""
    OBJECT = auto()
    """`name<templates>(operands)`, where the name is that of a class."""
    METHOD = auto()
    """`first.name(others)`: the first operand is the object."""
    ELEMENT = auto()
    """`name[operand]`, of an array that the kernel library defines."""
    LOAD = auto()
    """`first[second]`."""
    STORE = auto()
    """`second[third] = first`."""
    AGGREGATE = auto()
    """`name<templates>{.operand = value, ...}`."""
    CAST = auto()
    """`reinterpret_cast<type of the result>(operand)`."""
    STREAM = auto()
    """`DPRINT << operand << operand`."""


class TemplateKind(Enum):
    """What a template argument is."""

    TYPE = auto()
    BOOL = auto()
    INT = auto()
    ENUM = auto()


@dataclass(frozen=True, kw_only=True)
class Template:
    """One template argument of a call; the op holds it in an attribute of this name."""

    name: str
    kind: TemplateKind
    enum: str = ""
    """The enumeration, where `kind` is ENUM."""
    number: bool = False
    """C++ takes the number of the member: `(uint32_t)Enum::member`."""
    default: str | None = None
    """What C++ takes for an argument that is left out; None: it has to be written."""
    implied: str | None = None
    """What is written for an op without the attribute; None: the op has to have it, or, where
    C++ has a default, nothing is written."""


@dataclass(frozen=True, kw_only=True)
class Option:
    """A parameter that follows the operands in C++ and has a default."""

    name: str
    type: str
    default: str
    is_attribute: bool = False
    """The op takes it, a truth value, as an attribute; others it does not take."""


class Element(Enum):
    """As what a call on the vector unit reads the numbers of a tile in DST."""

    FLOAT = auto()
    INT32 = auto()
    UINT32 = auto()
    BY_FORMAT = auto()
    """As the template argument that names a `DataFormat` says."""


class Scalar(Enum):
    """How an integer operand stands for a number that a call computes with."""

    FLOAT_BITS = auto()
    """The bits of a 32-bit floating-point number."""
    INTEGER = auto()
    """The integer itself, with sign."""
    FLOAT = auto()
    """The operand is a floating-point number."""


@dataclass(frozen=True, kw_only=True)
class Tiles:
    """Where the tiles come from and go to that `KernelCall.reference` is a function of.

    The result goes to the tile of DST that the operand `to` numbers. With `accumulates` it is added
    to what is there; a half of DST that was just acquired holds zeros.
    """

    to: str
    dst: tuple[str, ...] = ()
    """Operands that number the tiles of DST that are read."""
    cbs: tuple[tuple[str, str], ...] = ()
    """Operands that name a circular buffer, each with the one that numbers the tile in it."""
    accumulates: bool = False
    scalars: tuple[tuple[str, str, Scalar], ...] = ()
    """Operands that are numbers: name, parameter of the reference, encoding."""
    element: Element = Element.FLOAT


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cycles that a call keeps the threads busy for each tile of 32 by 32 numbers.

    For a product of matrices: for each pair of tiles. `unpack` is that of 16-bit tiles: 64 bytes
    per cycle for a single operand, 32 for each of two, and 2 cycles for each of 4 instructions.
    """

    unpack: int = 0
    math: int = 0
    pack: int = 0
    phases: bool = False
    """`math` is that of one phase; math fidelity says how many there are."""
    estimated: bool = False
    """No figure is public: 32 cycles for each vector instruction, of an estimated number."""
    source: str = ""
    blackhole: int = 0
    """`math` on Blackhole, where it was measured; 0: as on Wormhole."""
    narrow: Cost | None = None
    """That where DST holds numbers of 16 bits, if the call computes those in fewer cycles."""

    def math_on(self, *, blackhole: bool, narrow: bool = False) -> int:
        """`math` on a generation of chips, where DST holds numbers of 32 or of 16 bits."""
        if narrow and self.narrow is not None:
            return self.narrow.math_on(blackhole=blackhole)
        return self.blackhole if blackhole and self.blackhole else self.math


FREE = Cost()
"""Of a call that does not work on tiles."""


Operands = tuple[tuple[str, ValueKind], ...]


NARROW = "narrow"
"""The template argument by which a call computes what 16 bits hold into a DST of 32, which is
`is_fp32_dest_acc_en` of tt-metal 0.81 turned round."""


@dataclass(frozen=True, kw_only=True)
class Approximation:
    """A faster, approximate form of a call."""

    flags: tuple[str, ...]
    """The template arguments that are all true where a kernel asks for it."""
    cost: Cost
    reference: Callable[..., Any] | None = None
    """What the chip computes, as `KernelCall.reference`; None: not modelled, that of the call."""


@dataclass(frozen=True)
class KernelCall:
    """One call: its operands in order, what it is configured with, its result, what it does."""

    mnemonic: str
    summary: str
    operands: tuple[tuple[str, ValueKind], ...] = ()
    _: KW_ONLY
    data_types: tuple[str, ...] = ()
    """Attributes that hold the number of a `DataType`."""
    result: tuple[str, ValueKind] | None = None
    cpp: str = ""
    """Name in C++."""
    header: str = ""
    """File that declares it in tt-metal; empty: C++ cannot call it."""
    roles: Role = Role.ALL
    """Where the call does something; elsewhere it compiles to nothing."""
    form: Form = Form.CALL
    templates: tuple[Template, ...] = ()
    constants: tuple[str, ...] = ()
    """Integer attributes of the op that are arguments in C++, before the operands."""
    members: Operands = ()
    """What C++ can read of an object that the call makes."""
    waits: bool = False
    """Of a method: it returns whether it is done; if not, it has to be called again."""
    writable: tuple[str, ...] = ()
    """The members that C++ can change, too."""
    defaults: tuple[str, ...] = ()
    """What C++ takes for the last operands when they are left out, as in Python."""
    options: tuple[Option, ...] = ()
    """Parameters that the op does not take, after the operands."""
    constant: bool = False
    """The result is known when the kernel is compiled, and may be a template argument."""
    text: str = ""
    """Attribute of the op with the text that is printed."""
    variadic: bool = False
    """The call takes any number of values after its operands."""
    init: str = ""
    """The call that prepares this one, by its mnemonic."""
    reference: Callable[..., Any] | None = None
    """For calls that compute on tiles: `reference(xp, *tiles, **scalars)` with NumPy as `xp`.

    Truth values in the result stand for 1 and 0; a single number fills the tile. Template arguments
    that matter (`bcast_type`) are keywords, too, enumerators by name.
    """
    on_device: Callable[..., Any] | None = None
    """What the chip is known to compute instead of `reference`: device numerics take it."""
    tiles: Tiles | None = None
    cost: Cost = FREE
    approximation: Approximation | None = None
    since: str = "2026-08"
    """REFERENCE for the operations of that tt-mlir; others are of later ones, or of here."""

    def __post_init__(self) -> None:
        """Name the call in C++ as in the IR where nothing else is said."""
        if not self.cpp:
            object.__setattr__(self, "cpp", self.mnemonic)
        if self.form is Form.AGGREGATE and not self.members:
            object.__setattr__(self, "members", self.operands)

    @property
    def flags(self) -> tuple[Template, ...]:
        """The options that the op takes, which are the first ones."""
        return tuple(flag(each.name, each.default) for each in self.options if each.is_attribute)

    def approximates(self, template: Sequence[object]) -> bool:
        """True for template arguments that ask for `approximation`; those left out are defaults."""
        return self.approximation is not None and self._asks_for(self.approximation.flags, template)

    def narrows(self, template: Sequence[object]) -> bool:
        """True for template arguments that ask for what a DST of 16 bits gets, whatever it has."""
        return NARROW in self._flags and self._asks_for((NARROW,), template)

    @cached_property
    def _flags(self) -> tuple[str, ...]:
        return tuple(each.name for each in self.templates)

    def _asks_for(self, flags: Sequence[str], template: Sequence[object]) -> bool:
        values = [each.default == "true" for each in self.templates]
        values[: len(template)] = [bool(each) for each in template]
        return all(value for name, value in zip(self._flags, values, strict=True) if name in flags)

    @property
    def fewest_arguments(self) -> int:
        """How many arguments the call needs in C++, at least."""
        return len(self.constants) + len(self.operands) - len(self.defaults)

    @property
    def most_arguments(self) -> int | None:
        """How many arguments the call takes in C++, at most; None: any number."""
        most = len(self.constants) + len(self.operands) + len(self.options)
        return None if self.variadic else most


def cbs(*names: str) -> Operands:
    """Operands that are circular buffers."""
    return tuple((name, ValueKind.CB) for name in names)


def ints(*names: str) -> Operands:
    """Operands that are 32-bit integers."""
    return tuple((name, ValueKind.I32) for name in names)


def flag(name: str, default: str | None = None) -> Template:
    """A template argument that is a truth value."""
    return Template(name=name, kind=TemplateKind.BOOL, default=default)


def number(name: str, default: str | None = None) -> Template:
    """A template argument that is an integer."""
    return Template(name=name, kind=TemplateKind.INT, default=default)


def enumerator(
    name: str, enum: str, default: str | None = None, *, number: bool = False
) -> Template:
    """A template argument that is a member of an enumeration."""
    return Template(name=name, kind=TemplateKind.ENUM, enum=enum, number=number, default=default)
