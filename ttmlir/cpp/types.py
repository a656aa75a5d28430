"""The C++ types of a kernel as the 32-bit RISC-V cores of a Tensix tile see them.

`int` and `long` have 32 bits, as have pointers; plain `char` is unsigned (RISC-V ELF psABI,
"C/C++ type details").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class IntType:
    """An integer, `bool` or enumeration of so many bits."""

    name: str
    bits: int
    signed: bool

    @property
    def low(self) -> int:
        """The smallest value."""
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def high(self) -> int:
        """The largest value."""
        return (1 << (self.bits - self.signed)) - 1

    def wrap(self, value: int) -> int:
        """The value of this type that is congruent to `value`."""
        if self == BOOL:
            return int(value != 0)
        return (value - self.low) % (1 << self.bits) + self.low


@dataclass(frozen=True)
class FloatType:
    """`float` or `double`."""

    name: str
    bits: int


@dataclass(frozen=True)
class VoidType:
    """`void`."""

    name: str = "void"


@dataclass(frozen=True)
class PointerType:
    """`T*`."""

    pointee: CType
    volatile: bool = False

    @property
    def name(self) -> str:
        """As C++ writes it."""
        return f"{'volatile ' if self.volatile else ''}{self.pointee.name}*"


@dataclass(frozen=True)
class ArrayType:
    """`T[count]`."""

    element: CType
    count: int

    @property
    def name(self) -> str:
        """As C++ writes it."""
        return f"{self.element.name}[{self.count}]"


@dataclass(frozen=True)
class Field:
    """A member of a struct."""

    name: str
    type: CType
    offset: int
    """In bytes from the start of the struct."""


@dataclass(frozen=True)
class IncompleteType:
    """A struct within its own definition, where only pointers to it can be declared."""

    name: str
    number: int
    """That of the struct."""


@dataclass(frozen=True)
class StructType:
    """A struct that the kernel defines."""

    name: str
    number: int
    """What tells structs apart, even if they have the same name and members."""
    fields: tuple[Field, ...]
    size: int
    alignment: int

    def index(self, name: str) -> int | None:
        """The number of the member of a name."""
        return next((i for i, field in enumerate(self.fields) if field.name == name), None)


@dataclass(frozen=True)
class ObjectType:
    """A class of the kernel library, such as `InterleavedAddrGenFast`."""

    name: str


@dataclass(frozen=True)
class StringType:
    """A string literal."""

    name: str = "const char*"


CType: TypeAlias = (
    IntType
    | FloatType
    | VoidType
    | PointerType
    | ArrayType
    | StructType
    | IncompleteType
    | ObjectType
    | StringType
)

BOOL = IntType("bool", 1, False)
CHAR = IntType("char", 8, False)
INT = IntType("int", 32, True)
UNSIGNED = IntType("uint32_t", 32, False)
INT64 = IntType("int64_t", 64, True)
UINT8 = IntType("uint8_t", 8, False)
UINT64 = IntType("uint64_t", 64, False)
FLOAT = FloatType("float", 32)
DOUBLE = FloatType("double", 64)
VOID = VoidType()
STRING = StringType()

_FIXED = {
    f"{sign}int{bits}_t": IntType(f"{sign}int{bits}_t", bits, not sign)
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}

BUILT_IN: dict[str, CType] = {
    "void": VOID,
    "bool": BOOL,
    "char": CHAR,
    "float": FLOAT,
    "double": DOUBLE,
    "size_t": UNSIGNED,
    "uintptr_t": UNSIGNED,
    "ptrdiff_t": INT,
    "intptr_t": INT,
    **_FIXED,
}
"""Types by the name of one word that C++ has for them."""


def find_built_in_type(name: str) -> CType | None:
    """The type of a name such as `uint32_t` or `unsigned long long int`."""
    known = BUILT_IN.get(name)
    if known is not None:
        return known
    words = name.split()
    if not words or not set(words) <= {"unsigned", "signed", "char", "short", "int", "long"}:
        return None
    signed = "unsigned" not in words
    bits = 32
    if "char" in words:
        bits = 8
    elif "short" in words:
        bits = 16
    elif words.count("long") == 2:
        bits = 64
    return IntType(name, bits, signed)


def size_of(type_: CType) -> int | None:
    """The size in bytes; None for what has none that a kernel can know."""
    match type_:
        case IntType():
            return max(1, type_.bits // 8)
        case FloatType():
            return type_.bits // 8
        case PointerType():
            return 4
        case ArrayType():
            element = size_of(type_.element)
            return None if element is None else element * type_.count
        case StructType():
            return type_.size
        case _:
            return None


def count_of(type_: CType) -> int:
    """How many values that are no arrays or structs a value consists of."""
    match type_:
        case ArrayType(element=element, count=count):
            return count * count_of(element)
        case StructType(fields=fields):
            return sum(count_of(each.type) for each in fields)
        case _:
            return 1


def alignment_of(type_: CType) -> int:
    """What the address of a value is a multiple of, in bytes."""
    match type_:
        case ArrayType():
            return alignment_of(type_.element)
        case StructType():
            return type_.alignment
        case _:
            return size_of(type_) or 1


def lay_out_struct(name: str, number: int, members: list[tuple[str, CType]]) -> StructType:
    """A struct with its members laid out as the C++ ABI does."""
    offset, alignment = 0, 1
    fields = list[Field]()
    for member, type_ in members:
        own = alignment_of(type_)
        offset = -(-offset // own) * own
        fields.append(Field(member, type_, offset))
        offset += size_of(type_) or 0
        alignment = max(alignment, own)
    size = max(1, -(-offset // alignment) * alignment)
    return StructType(name, number, tuple(fields), size, alignment)


def is_same_number(a: CType, b: CType) -> bool:
    """Whether two integer types have the same values."""
    return (
        isinstance(a, IntType)
        and isinstance(b, IntType)
        and (a.bits, a.signed) == (b.bits, b.signed)
    )


def is_same_type(a: CType, b: CType) -> bool:
    """Whether a variable of one type may be referred to as the other."""
    match a, b:
        case PointerType(pointee=x), PointerType(pointee=y):
            return is_same_type(x, y)
        case ((StructType() | IncompleteType()), (StructType() | IncompleteType())):
            return a.number == b.number
        case _:
            return a == b or is_same_number(a, b)


def tag_of(type_: CType) -> str:
    """A text that is the same for types that `is_same_type` finds the same, and only for these."""
    match type_:
        case IntType(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}"
        case PointerType(pointee=pointee):
            return f"{tag_of(pointee)}*"
        case ArrayType(element=element, count=count):
            return f"{tag_of(element)}[{count}]"
        case StructType(name=name, number=number) | IncompleteType(name=name, number=number):
            return f"{name}#{number}"
        case _:
            return type_.name


def promote(type_: IntType) -> IntType:
    """The type after the integer promotions: what is smaller than `int` becomes `int`."""
    return INT if type_.bits < 32 else type_


def find_common_type(a: IntType, b: IntType) -> IntType:
    """What the usual arithmetic conversions make of two integer types."""
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return b if a.signed else a
