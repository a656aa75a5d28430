"""The C++ types of a kernel as the 32-bit RISC-V cores of a Tensix tile see them.

`int` and `long` have 32 bits, as have pointers; plain `char` is unsigned (RISC-V ELF psABI,
"C/C++ type details").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias


@dataclass(frozen=True)
class IntType:
    """An integer, `bool` or enumeration of so many bits.

    `int` and `long` are equally wide here, so the width of an integer is its rank, too.
    """

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
class EnumType(IntType):
    """An enumeration, which computes as the integer `underlying` that it is made of."""

    is_scoped: bool = False
    """Whether it is an `enum class`, which becomes a number by a cast only."""

    @property
    def underlying(self) -> IntType:
        """The integer type that it is made of."""
        found = find_integer_type(self.bits, self.signed)
        return INT if (found.bits, found.signed) == (INT.bits, INT.signed) else found


@dataclass(frozen=True)
class FloatType:
    """A floating-point type."""

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
    const: bool = False
    """Whether what it points to cannot be changed through it."""

    @property
    def name(self) -> str:
        """As C++ writes it."""
        words = [*["const"] * self.const, *["volatile"] * self.volatile]
        if isinstance(self.pointee, PointerType):
            return f"{' '.join((self.pointee.name, *words))}*"
        return f"{' '.join((*words, self.pointee.name))}*"


@dataclass(frozen=True)
class ArrayType:
    """`T[count]`."""

    element: CType
    count: int

    @property
    def name(self) -> str:
        """As C++ writes it: the outermost count comes first."""
        innermost, counts = _split_counts(self)
        return f"{innermost.name}{counts}"


@dataclass(frozen=True)
class Field:
    """A member of a struct."""

    name: str
    type: CType
    offset: int
    """In bytes from the start of the struct."""
    const: bool = False


@dataclass(frozen=True)
class IncompleteType:
    """A struct within its own definition, where only pointers to it can be declared."""

    name: str
    number: int
    """That of the struct."""


@dataclass(frozen=True)
class ReferenceType:
    """What a member that is a reference holds: where its referent is."""

    referent: CType
    const: bool = False
    volatile: bool = False
    is_local: bool = False
    """Whether it is known to refer to a variable, and not to memory."""

    @property
    def name(self) -> str:
        """As C++ writes it."""
        return f"{'const ' * self.const}{self.referent.name}&"


@dataclass(frozen=True)
class FunctionType:
    """A function of the kernel as a value: what is called is known from the type."""

    name: str
    number: int
    """What tells functions of the same name apart."""


@dataclass(frozen=True)
class StructType:
    """A struct, class or union that the kernel defines."""

    name: str
    number: int
    """What tells structs apart, even if they have the same name and members."""
    fields: tuple[Field, ...] = field(compare=False, repr=False)
    size: int = field(compare=False)
    alignment: int = field(compare=False)
    has_constant: bool = field(compare=False)
    """Whether it cannot be assigned to because a member, or a member of one, is `const`."""
    is_union: bool = field(default=False, compare=False)
    bases: tuple[StructType, ...] = field(default=(), compare=False, repr=False)
    """Those that it is made from; the fields of the first one are its own first ones."""

    def index(self, name: str) -> int | None:
        """The number of the member of a name, which hides that of a base."""
        count = len(self.fields)
        return next((i for i in range(count - 1, -1, -1) if self.fields[i].name == name), None)

    def derives_from(self, other: CType) -> bool:
        """Whether an object is one of another class, too."""
        if isinstance(other, (StructType, IncompleteType)) and other.number == self.number:
            return True
        return any(each.derives_from(other) for each in self.bases)


@dataclass(frozen=True)
class ObjectType:
    """A class of the kernel library, such as `InterleavedAddrGenFast`."""

    name: str
    arguments: tuple[int, ...] = ()
    """Template arguments, of a class whose objects are known when a kernel is compiled."""


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
    | ReferenceType
    | FunctionType
    | ObjectType
    | StringType
)


@dataclass(frozen=True)
class QualifiedType:
    """What a written type means, with what it says about the whole: `const int`, `int* const`."""

    type: CType
    const: bool = False
    volatile: bool = False


BOOL = IntType("bool", 1, False)
CHAR = IntType("char", 8, False)
INT = IntType("int", 32, True)
UNSIGNED = IntType("uint32_t", 32, False)
NULL = EnumType("std::nullptr_t", 32, False, is_scoped=True)
"""The type of `nullptr`: like a scoped enumerator it is no number, and it converts to pointers."""
INT64 = IntType("int64_t", 64, True)
UINT8 = IntType("uint8_t", 8, False)
UINT64 = IntType("uint64_t", 64, False)
HALF = FloatType("_Float16", 16)
BFLOAT16 = FloatType("__bf16", 16)
FLOAT = FloatType("float", 32)
DOUBLE = FloatType("double", 64)
VOID = VoidType()
STRING = StringType()

FIXED_WIDTHS = (8, 16, 32, 64)
"""The widths of the integers of `<cstdint>`."""


def find_integer_type(bits: int, signed: bool) -> IntType:
    """The integer of `<cstdint>` that is so wide, or `bool`."""
    return BOOL if bits == 1 else IntType(f"{'' if signed else 'u'}int{bits}_t", bits, signed)


def _split_counts(type_: CType) -> tuple[CType, str]:
    """What an array of arrays consists of, and its counts."""
    counts = ""
    while isinstance(type_, ArrayType):
        counts += f"[{type_.count}]"
        type_ = type_.element
    return type_, counts


def declare(type_: CType, name: str) -> str:
    """A declaration without its semicolon; the counts of an array follow the name."""
    innermost, counts = _split_counts(type_)
    return f"{innermost.name} {name}{counts}"


def size_of(type_: CType) -> int | None:
    """The size in bytes; None for what has none that a kernel can know."""
    match type_:
        case IntType():
            return max(1, type_.bits // 8)
        case FloatType():
            return type_.bits // 8
        case PointerType() | ReferenceType():
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
        case StructType(is_union=True):
            return 1
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


def lay_out_struct(
    name: str,
    number: int,
    members: Sequence[tuple[str, QualifiedType]],
    bases: Sequence[StructType] = (),
    *,
    is_union: bool = False,
) -> StructType:
    """A struct with its members laid out as the C++ ABI does, behind those of its first base."""
    offset, alignment, has_constant = 0, 1, False
    fields = list[Field]()
    for base in bases[:1]:
        fields += base.fields
        offset = base.size if base.fields else 0
        alignment, has_constant = base.alignment, base.has_constant
    end = offset
    for member, qualified in members:
        type_ = qualified.type
        own = alignment_of(type_)
        offset = 0 if is_union else -(-offset // own) * own
        fields.append(Field(member, type_, offset, qualified.const))
        offset += size_of(type_) or 0
        end = max(end, offset)
        alignment = max(alignment, own)
        has_constant = has_constant or qualified.const or has_constant_member(type_)
    size = max(1, -(-end // alignment) * alignment)
    return StructType(
        name, number, tuple(fields), size, alignment, has_constant, is_union, tuple(bases)
    )


def complete_type(type_: CType, structs: Sequence[StructType | IncompleteType]) -> CType:
    """The type of a member when the structs around it, which stand by number, are complete."""
    match type_:
        case PointerType(pointee=pointee):
            return replace(type_, pointee=complete_type(pointee, structs))
        case ArrayType(element=element):
            return replace(type_, element=complete_type(element, structs))
        case ReferenceType(referent=referent):
            return replace(type_, referent=complete_type(referent, structs))
        case IncompleteType(number=number):
            return structs[number]
        case _:
            return type_


def has_constant_member(type_: CType) -> bool:
    """Whether a value cannot be assigned to because a member of it is `const`."""
    match type_:
        case ArrayType(element=element):
            return has_constant_member(element)
        case ReferenceType():
            return True
        case StructType(has_constant=has_constant):
            return has_constant
        case _:
            return False
