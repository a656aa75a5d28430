"""What one definition of the operation table says.

A definition is data: everything that differs between two operations of a family and nothing else.
The dialects build op classes from definitions; the lowering, the C++ printer, the flatbuffer
writer, the runtime, the documentation and the tests read them. Adding an elementwise operation is
adding a definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from ttmlir.errors import ArgumentError

Shape = tuple[int, ...]


class Family(Enum):
    """Groups of operations that share operands, verification and lowering."""

    UNARY = auto()
    BINARY = auto()
    TERNARY = auto()
    REDUCTION = auto()
    MOVEMENT = auto()
    CREATION = auto()
    CONTRACTION = auto()
    WINDOW = auto()
    NORMALIZATION = auto()
    LOOKUP = auto()
    ORDERING = auto()

    @property
    def is_elementwise(self) -> bool:
        """True where operands broadcast against each other and `inputs`/`outputs` are variadic."""
        return self in (Family.UNARY, Family.BINARY, Family.TERNARY)


class Kind(Enum):
    """Type of a parameter, by the attribute that carries it in the IR."""

    SI32 = "si32"
    """`1 : si32`"""
    I32 = "i32"
    """`1 : i32`"""
    I64 = "i64"
    """`1 : i64`"""
    SI64 = "si64"
    """`1 : si64`"""
    F32 = "f32"
    """`1.0 : f32`"""
    BOOL = "bool"
    """`true`"""
    I32_ARRAY = "i32 array"
    """`[1 : i32, 2 : i32]`"""
    I64_ARRAY = "i64 array"
    """`[1, 2]`"""
    DENSE_I32 = "dense i32"
    """`array<i32: 1, 2>`"""
    DENSE_I64 = "dense i64"
    """`array<i64: 1, 2>`"""
    DENSE_BOOL = "dense i1"
    """`array<i1: true, false>`"""
    STRING = "string"
    """`"sum"`"""
    ELEMENTS = "elements"
    """`dense<[1.0, 2.0]> : tensor<2xf32>`"""
    UI32 = "ui32"
    """`1 : ui32`"""
    UI8 = "ui8"
    """`1 : ui8`"""
    SI8 = "si8"
    """`1 : si8`"""
    NUMBER = "f32 or i32"
    """`1.0 : f32` or `1 : i32`"""
    EXTENTS = "i32 or dense i32"
    """`1 : i32` for all dimensions, or `array<i32: 1, 2>`"""
    SIGNED_EXTENTS = "si32 or dense i32"
    """`1 : si32` for all dimensions, or `array<i32: 1, 2>`"""
    ATTRIBUTE = "attribute"
    """An attribute of a dialect, which the parameter names: `#ttcore.reduce_type<sum>`"""
    ATTRIBUTES = "attribute array"
    """A list of them: `[#ttnn.unary_with_param<op_type = relu>]`"""
    SYMBOL = "symbol"
    """`@function`"""

    @property
    def is_list(self) -> bool:
        """True where the Python value is a tuple of integers."""
        return self in (
            *(Kind.I32_ARRAY, Kind.I64_ARRAY),
            *(Kind.DENSE_I32, Kind.DENSE_I64, Kind.DENSE_BOOL),
        )


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A constant argument of an operation: an attribute in the IR, a keyword of the reference."""

    name: str
    kind: Kind
    optional: bool = False
    doc: str = ""
    attribute: str = ""
    """The name of the attribute that a parameter of `Kind.ATTRIBUTE` or `ATTRIBUTES` is; several,
    each of which it may be, are separated by `|`."""
    default: Any = None
    """What is read where the text names nothing; it is printed then."""


@dataclass(frozen=True, kw_only=True)
class Operand:
    """A tensor operand other than the destination, or a result."""

    name: str
    optional: bool = False
    variadic: bool = False
    is_semaphore: bool = False
    """True for a semaphore of all devices, which is no tensor."""


class Domain(Enum):
    """Values on which an operation is meaningful; tests and random inputs are drawn from it."""

    REAL = "any real number"
    POSITIVE = "numbers above 0"
    NONZERO = "numbers other than 0"
    ABOVE_MINUS_ONE = "numbers above -1"
    FROM_ONE = "numbers from 1"
    UNIT = "numbers between -1 and 1"
    BOOLEAN = "0 and 1"
    SPECIAL = "any number, infinities and NaN"
    INTEGER = "integers"
    SHIFT = "integers from 0 to 15"
    INDEX = "row numbers of the table that is looked up"


@dataclass(frozen=True, kw_only=True)
class Flatbuffer:
    """How an operation is written to a `.ttnn` file.

    `fields` pairs each schema field with what fills it: an operand's name, a parameter's name,
    `output` (the destination), `outputs` (all destinations, of an operation with several results),
    `device`, or, for tables with a `type` field, `type` itself, which is filled with `kind`.
    """

    table: str
    """Member of the `OpType` union."""
    fields: tuple[tuple[str, str], ...]
    kind: str | None = None
    """Enumerator of the table's `type` field, where several operations share a table."""


@dataclass(frozen=True, kw_only=True)
class OpDefinition:
    """One operation.

    The reference function is called as `reference(xp, *operands, **parameters)`, `xp` being a
    NumPy-like namespace; an absent optional operand is None, a variadic one is passed as separate
    arguments, and creation operations get the result's shape as `shape`. Its result may have a
    wider element type than the operation's; the caller converts.
    """

    mnemonic: str
    summary: str
    formula: str = ""
    family: Family
    operands: tuple[Operand, ...]
    results: tuple[str, ...] = ("result",)
    """Names of the results. The reference function of a definition with several returns a tuple;
    all have the same shape."""
    parameters: tuple[Parameter, ...] = ()
    """Parameters of the reference function, of the ttnn operation and, unless stated otherwise
    in `ttir_parameters`, of the ttir operation."""
    ttir_parameters: tuple[Parameter, ...] | None = None
    reference: Callable[..., Any]
    result_shape: Callable[..., Shape] | None = None
    """`result_shape(*operand shapes, **parameters)`; raises ValueError with the reason why the
    operation is not defined. None for elementwise operations, which broadcast, and for those
    whose result shape is free."""
    takes_types: bool = False
    """True where the reference function gets the element types of its first operand and of the
    result as well, as the NumPy types `source` and `target`."""
    domains: tuple[Domain, ...] = (Domain.REAL,)
    """One per operand, the last one standing for all that follow."""
    in_ttir: bool = True
    in_ttnn: bool = True
    ttnn_form: str = ""
    """Mnemonic of the ttnn operation that stands for one that ttnn does not have."""
    ttnn_parameters: Callable[..., dict[str, Any]] | None = None
    """`ttnn_parameters(parameters, shapes, result)` gives the parameters of the ttnn operation from
    those of the ttir operation, the operands' shapes and the result's; ValueError where ttnn has
    none. None where they are the same."""
    device: bool = False
    """True where the ttnn operation takes the device after its destination."""
    ttnn_refuses_integers: bool = False
    """True where ttnn computes floating point alone; this project's ttir takes integers, too."""
    takes_host_operands: bool = False
    """True where the ttnn operation moves its operands to the device by itself."""
    multiplies: bool = False
    """True where the matrix unit multiplies the first two operands, with a fidelity that the ttnn
    operation may choose as its `compute_config`."""
    flatbuffer: Flatbuffer | None
    """None for an operation that never reaches a file."""
    cpp: str = ""
    """Callee in C++; `ttnn::` and the mnemonic if empty."""
    generic: bool = False
    """True where `ttir-generic` can wrap the operation into a `ttir.generic`."""
    aliases: tuple[str, ...] = ()
    """Full names of operations in other dialects and in torch (`aten.`) that mean the same: one
    operand for each, in this order, and no attribute that changes anything."""
    truth_aliases: tuple[str, ...] = ()
    """Operations that mean this on truth values (i1), and something else on other numbers."""
    unsigned_aliases: tuple[str, ...] = ()
    """Operations that mean this on the same bits as numbers without sign."""
    number_aliases: tuple[str, ...] = ()
    """Operations that mean this, but give the other operand where one is NaN."""
    on_truth: str = ""
    """Mnemonic of the operation that computes the same on truth values, on which arithmetic and
    bits follow logic; empty where the operation itself does."""
    direction: str = ""
    """How `stablehlo.compare` names a comparison, such as `EQ`."""
    gives_truth: bool = False
    """True where the results are 0 and 1, whatever the operands are."""
    ignores_sign: bool = False
    """True where integers with and without sign of the same bits give results of the same bits."""
    commutes: bool = False
    """True for an operation on two tensors whose order does not matter."""
    identity: float | None = None
    """The number that leaves every other as it is when the operation combines them; infinities
    stand for the ends of the element type, -1 for all bits."""
    combiner: str = ""
    """Mnemonic of the operation on two tensors that a reduction repeats; empty for those that do
    more."""
    moves: bool = False
    """True where the result holds nothing but elements of the operands, bit by bit, at places that
    follow from shapes and parameters."""
    since: str = "880154e3c2"
    """The tt-mlir commit or month in which the operation appeared; those after 880154e3c2 extend
    the schema at its ends."""

    @property
    def takes_bits(self) -> bool:
        """True for operations on the bits of integers and truth values, which others have not."""
        return self.domains[0] is Domain.INTEGER and not self.takes_types

    @property
    def ttir_signature(self) -> tuple[Parameter, ...]:
        """Parameters of the ttir operation."""
        return self.parameters if self.ttir_parameters is None else self.ttir_parameters

    @property
    def callee(self) -> str:
        """Name of the C++ function."""
        return self.cpp or f"ttnn::{self.mnemonic}"

    @property
    def extends_reference(self) -> bool:
        """True for operations that tt-mlir at 880154e3c2 does not have."""
        return self.since != "880154e3c2"


# --- Shapes ---------------------------------------------------------------------------------------
# What shape rules of several families share.


def require(condition: bool, message: str) -> None:
    """Raise ValueError with a message unless a condition holds."""
    if not condition:
        raise ArgumentError(message)


def spell_shape(shape: Sequence[int]) -> str:
    """A shape as messages show it, such as 33x70."""
    return "x".join(map(str, shape)) or "scalar"


def check_dimension(dim: int, rank: int) -> int:
    """The number of a dimension, which may count from the end; ValueError if there is none."""
    if not -rank <= dim < rank:
        raise ArgumentError(f"Dimension {dim} is out of range for rank {rank}.")
    return dim % rank


def broadcast_shape(*shapes: Shape) -> Shape:
    """Shape that all shapes broadcast to, aligned at the last dimension as in NumPy."""
    rank = max((len(shape) for shape in shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for i, extent in enumerate(shape, rank - len(shape)):
            if extent != 1 and result[i] not in (1, extent):
                raise ArgumentError("Operands are not broadcast compatible")
            if extent != 1:
                result[i] = extent
    return tuple(result)
