"""The C++ types of a kernel as the 32-bit RISC-V cores of a Tensix tile see them.

`int` and `long` have 32 bits, as have pointers; plain `char` is unsigned (RISC-V ELF psABI,
"C/C++ type details").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from ttmlir.light_dataclasses import dataclass

if TYPE_CHECKING:
    from ttmlir.cpp import tree


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
    fits_int: bool = False
    """Whether `int` has all values of one that names no type; it then computes as `int`."""
    is_open: bool = False
    """Whether it names no type, so that braces make none of a number."""

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
    """In bytes from the start of the struct; of a bit-field, that of the first word with it."""
    const: bool = False
    bits: BitField | None = None
    """Which bits of the words at the offset it is, if it is a bit-field."""
    mutable: bool = False
    """True if it may change in an object that is constant."""

    def is_const_in(self, *, is_const: bool) -> bool:
        """Whether it is constant in an object that is, or in one that is not."""
        return self.const or (is_const and not self.mutable)


@dataclass(frozen=True)
class BitField:
    """Some bits of one or more words that lie next to each other."""

    shift: int
    """How many bits are below it in the first word."""
    width: int
    word: int
    """The size of a word in bytes."""

    @property
    def words(self) -> int:
        """How many words hold a part of it."""
        return -(-(self.shift + self.width) // (8 * self.word))


class Member(NamedTuple):
    """A member of a class that is laid out."""

    name: str
    type: QualifiedType
    alignment: int = 1
    """What it asks for at least, in bytes."""
    bits: int | None = None
    """The width of a bit-field; one without name only takes room."""
    mutable: bool = False


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
    is_rvalue: bool = field(default=False, compare=False)
    """Whether it is written `T&&`."""

    @property
    def name(self) -> str:
        """As C++ writes it."""
        return f"{'const ' * self.const}{self.referent.name}&{'&' * self.is_rvalue}"


@dataclass(frozen=True)
class FunctionType:
    """A function of the kernel as a value: what is called is known from the type."""

    name: str
    number: int
    """What tells functions of the same name apart."""


@dataclass(frozen=True)
class PassedType:
    """What a function takes or gives."""

    type: CType
    reference: str = ""
    """`&` or `&&`, if it is one."""
    const: bool = False
    """Of a reference: whether what it refers to cannot be changed through it."""

    @property
    def name(self) -> str:
        """As C++ writes it."""
        return f"{'const ' * self.const}{self.type.name}{self.reference}"


@dataclass(frozen=True)
class SignatureType:
    """The type of functions, `R(A, B)`; values of it are of a `FunctionType` each."""

    result: PassedType
    parameters: tuple[PassedType, ...]
    is_member: bool = False
    """Whether they are member functions, whose object is the first parameter."""

    @property
    def name(self) -> str:
        """As C++ writes it."""
        own = self.parameters[self.is_member :]
        listed = ", ".join(each.name for each in own)
        if not self.is_member:
            return f"{self.result.name}({listed})"
        this = self.parameters[0]
        return f"{self.result.name} ({this.type.name}::)({listed}){' const' * this.const}"


@dataclass(frozen=True)
class MemberType:
    """A data member of a class that is chosen while a kernel runs, to which pointers point."""

    type: CType
    holder: StructType | IncompleteType
    const: bool = False

    @property
    def name(self) -> str:
        """As C++ writes it, without the star of a pointer."""
        return f"{'const ' * self.const}{self.type.name} {self.holder.name}::"


@dataclass(frozen=True)
class MemberPointerType(FunctionType):
    """A pointer to a data member: which one it is, is known from the type, too."""

    holder: StructType | IncompleteType
    pointee: CType

    @property
    def member(self) -> str:
        """The name of the member."""
        return self.name.rpartition("::")[2]


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

    def list_held_bases(self) -> list[tuple[StructType, int]]:
        """The bases after the first one that have members, with the numbers of what holds them."""
        held = list[tuple[StructType, int]]()
        for each in self.bases[1:]:
            number = self.index(name_base(each)) if each.fields else None
            if number is not None:
                held.append((each, number))
        return held

    def count_inherited(self) -> int:
        """How many of the members are those of bases."""
        return sum(len(each.fields) for each in self.bases[:1]) + len(self.list_held_bases())

    def find_path_to(self, base: CType) -> tuple[int, ...] | None:
        """The numbers of the members that hold a base, each in the one before; None if it is none.

        There are none if the members of the base are the first ones.
        """
        if isinstance(base, (StructType, IncompleteType)) and base.number == self.number:
            return ()
        held = {each.number: number for each, number in self.list_held_bases()}
        for each in self.bases:
            inner = each.find_path_to(base)
            if inner is not None:
                return (held[each.number], *inner) if each.number in held else inner
        return None

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
    characters: bytes = b""
    """Without the zero behind them."""


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
    | SignatureType
    | MemberType
    | ObjectType
    | StringType
)


@dataclass(frozen=True)
class QualifiedType:
    """A written type, resolved, with its qualifiers: `const int`, `int* const`."""

    type: CType
    const: bool = False
    volatile: bool = False
    reference: str = field(default="", compare=False)
    """`&` or `&&` if a reference is written; the rest then says what it refers to."""

    def refer(self, reference: str) -> QualifiedType:
        """A reference to it: `T& &&` is `T&`."""
        return replace(self, reference="&" if self.reference == "&" else reference)


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
        case PointerType(pointee=SignatureType(is_member=True)):
            return 8
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
    members: Sequence[Member],
    bases: Sequence[StructType] = (),
    *,
    is_union: bool = False,
    is_packed: bool = False,
    alignment: int = 1,
) -> StructType:
    """A struct with its members laid out as the C++ ABI does, after those of its first base.

    Members and the struct itself are aligned to the numbers given at least; without, that is 1.
    """
    place, has_constant = 0, False
    fields = list[Field]()
    for base in bases[:1]:
        fields += base.fields
        place = 8 * base.size if base.fields else 0
        alignment, has_constant = max(alignment, base.alignment), base.has_constant
    held = [Member(name_base(each), QualifiedType(each)) for each in bases[1:] if each.fields]
    end = place
    for each in (*held, *members):
        type_ = each.type.type
        natural = 1 if is_packed else alignment_of(type_)
        own = max(each.alignment, natural)
        place = 0 if is_union else place
        if each.bits is None:
            place = _round_up(place, 8 * own)
            offset, const = place // 8, each.type.const
            fields.append(Field(each.name, type_, offset, const, mutable=each.mutable))
            place += 8 * (size_of(type_) or 0)
        else:
            place = _place_bits(each, place, is_packed=is_packed)
            if each.name:
                fields.append(_describe_bits(each, place, is_packed=is_packed))
            place += each.bits
        end = max(end, place)
        if each.name or each.bits is None:
            alignment = max(alignment, own)
            has_constant = has_constant or each.type.const or has_constant_member(type_)
    size = max(1, _round_up(end, 8 * alignment) // 8)
    return StructType(
        name, number, tuple(fields), size, alignment, has_constant, is_union, tuple(bases)
    )


def name_base(base: StructType) -> str:
    """What the member is called that holds a base which is not the first one."""
    return f"(base {base.number})"


def _round_up(number: int, step: int) -> int:
    return -(-number // step) * step


def _place_bits(member: Member, place: int, *, is_packed: bool) -> int:
    """Where a bit-field begins: it lies in one unit of its type (RISC-V psABI, Bit-fields)."""
    unit = 8 * (size_of(member.type.type) or 1)
    place = _round_up(place, 8 * member.alignment) if member.alignment > 1 else place
    bits = member.bits or 0
    is_split = place // unit != (place + bits - 1) // unit
    return _round_up(place, unit) if bits == 0 or (is_split and not is_packed) else place


def _describe_bits(member: Member, place: int, *, is_packed: bool) -> Field:
    """A bit-field as bits of the smallest aligned word that holds it, or of bytes if packed."""
    width = member.bits or 0
    word = 1
    while not is_packed and place // (8 * word) != (place + width - 1) // (8 * word):
        word *= 2
    offset = place // (8 * word) * word
    bits = BitField(place - 8 * offset, width, word)
    return Field(member.name, member.type.type, offset, member.type.const, bits, member.mutable)


def complete_type(type_: CType, structs: Sequence[StructType | IncompleteType]) -> CType:
    """The type of a member when the structs around it, which stand by number, are complete."""
    match type_:
        case PointerType(pointee=pointee):
            inner = complete_type(pointee, structs)
            return type_ if inner is pointee else replace(type_, pointee=inner)
        case ArrayType(element=element):
            inner = complete_type(element, structs)
            return type_ if inner is element else replace(type_, element=inner)
        case ReferenceType(referent=referent):
            return replace(type_, referent=complete_type(referent, structs))
        case IncompleteType(number=number):
            return structs[number]
        case _:
            return type_


def has_mutable_member(type_: CType) -> bool:
    """Whether a part of a value may change though the value is constant."""
    match type_:
        case ArrayType(element=element):
            return has_mutable_member(element)
        case StructType(fields=fields):
            return any(each.mutable or has_mutable_member(each.type) for each in fields)
        case _:
            return False


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


TUPLE = "std::tuple<"


def is_like_tuple(a: CType, b: CType) -> bool:
    """Whether both types are tuples with as many elements, which may convert to each other."""
    if not isinstance(a, StructType) or not isinstance(b, StructType):
        return False
    is_both = a.name.startswith(TUPLE) and b.name.startswith(TUPLE)
    return is_both and len(a.fields) == len(b.fields) > 0


# --- Conversions ----------------------------------------------------------------------------------
# Which types of C++ are the same, and what converts to what without a cast.


def is_same_number(a: CType, b: CType) -> bool:
    """Whether two integer types have the same values."""
    if not isinstance(a, IntType) or not isinstance(b, IntType):
        return False
    if isinstance(a, EnumType) or isinstance(b, EnumType):
        return a == b
    return (a.bits, a.signed) == (b.bits, b.signed)


def is_same_type(a: CType, b: CType) -> bool:
    """Whether a variable of one type may be referred to as the other, `const` or not."""
    match a, b:
        case PointerType(pointee=x), PointerType(pointee=y):
            return is_same_type(x, y)
        case ((StructType() | IncompleteType()), (StructType() | IncompleteType())):
            return a.number == b.number
        case SignatureType(), SignatureType():
            return tag_of(a) == tag_of(b)
        case _:
            return a == b or is_same_number(a, b)


def tag_of(type_: CType) -> str:
    """A text that is the same for types that `is_same_type` finds the same, and only for these."""
    match type_:
        case EnumType(name=name):
            return f"enum {name}"
        case IntType(bits=bits, signed=signed):
            return f"{'i' if signed else 'u'}{bits}"
        case PointerType(pointee=pointee):
            return f"{tag_of(pointee)}*"
        case ArrayType(element=element, count=count):
            return f"{tag_of(element)}[{count}]"
        case StructType(name=name, number=number) | IncompleteType(name=name, number=number):
            return f"{name}#{number}"
        case ReferenceType(referent=referent, const=const):
            return f"{tag_of(referent)}{'c' * const}&"
        case MemberType(type=inner, holder=holder, const=const):
            return f"{'c' * const}{tag_of(inner)} of {tag_of(holder)}"
        case SignatureType(result=result, parameters=parameters):
            parts = (f"{'c' * x.const}{tag_of(x.type)}{x.reference}" for x in (result, *parameters))
            return f"{'member ' * type_.is_member}function({','.join(parts)})"
        case ObjectType(name=name, arguments=(_, *_) as arguments):
            return f"{name}<{','.join(map(str, arguments))}>"
        case _:
            return type_.name


_APART = tuple(
    frozenset(each)
    for each in (
        ("int", "long"),
        ("unsigned int", "unsigned long"),
        ("char", "unsigned char"),
        ("char", "uint8_t"),
    )
)
"""Names of types that are one type here, of which C++ converts one to the other."""


def refers_to_copy(target: CType, given: CType) -> bool:
    """Whether a constant reference to a number refers to one that a number is converted to."""
    if not isinstance(target, (IntType, FloatType)):
        return False
    return not is_same_type(target, given) or frozenset((target.name, given.name)) in _APART


def is_scoped(type_: CType) -> bool:
    """Whether values become numbers by a cast only: those of an `enum class`."""
    return isinstance(type_, EnumType) and type_.is_scoped


def may_point(target: PointerType, source: PointerType) -> bool:
    """Whether a pointer converts to another type of pointers without cast."""
    is_similar = target.pointee == VOID or is_same_type(target.pointee, source.pointee)
    if isinstance(source.pointee, StructType):
        is_similar = is_similar or source.pointee.derives_from(target.pointee)
    return is_similar and keeps_const(target, source)


def keeps_const(target: PointerType, source: PointerType) -> bool:
    """Whether nothing that is `const` can be changed through a pointer after its conversion.

    `int**` is no `const int**`, through which an `int*` could be set to point to a `const int`
    (C++20, [conv.qual]).
    """
    outer: CType = target
    inner: CType = source
    all_const = True
    while isinstance(outer, PointerType) and isinstance(inner, PointerType):
        if outer.const != inner.const and not (outer.const and all_const):
            return False
        all_const = all_const and outer.const
        outer, inner = outer.pointee, inner.pointee
    return True


def promote(type_: IntType) -> IntType:
    """The type after the integer promotions: what is smaller than `int` becomes `int`."""
    if type_.bits < INT.bits or (isinstance(type_, EnumType) and type_.fits_int):
        return INT
    return type_.underlying if isinstance(type_, EnumType) else type_


def find_common_type(a: IntType, b: IntType) -> IntType:
    """What the usual arithmetic conversions make of two integer types."""
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return max(a, b, key=lambda each: each.bits)
    return b if a.signed else a


# --- Type names -----------------------------------------------------------------------------------
# Resolution of the written types of C++.

_WORDS = frozenset(("unsigned", "signed", "char", "short", "int", "long"))
"""Words that make the name of an integer type together."""

_BUILT_IN: Mapping[str, CType] = {
    "void": VOID,
    "bool": BOOL,
    "char": CHAR,
    "float": FLOAT,
    "double": DOUBLE,
    "size_t": UNSIGNED,
    "uint": UNSIGNED,
    "uintptr_t": UNSIGNED,
    "ptrdiff_t": INT,
    "intptr_t": INT,
    "nullptr_t": NULL,
    **{
        each.name: each
        for bits in FIXED_WIDTHS
        for each in (find_integer_type(bits, True), find_integer_type(bits, False))
    },
}
"""Types by the names of one word that C++ has for them."""

BUILT_IN_WORDS = frozenset(("auto", *_BUILT_IN, *_WORDS))
"""Words that name a type of the language or of `<cstdint>`; `unsigned int` is two of them."""


def is_built_in_type(name: str) -> bool:
    """Whether a name, possibly of several words, is that of a built-in type."""
    return all(word in BUILT_IN_WORDS for word in name.split())


@lru_cache(maxsize=4096)
def find_built_in_type(name: str) -> CType | None:
    """The type of a name such as `uint32_t` or `unsigned long long int`."""
    known = _BUILT_IN.get(name)
    if known is not None:
        return known
    words = name.split()
    return _find_integer(words) if words and set(words) <= _WORDS else None


def _find_integer(words: list[str]) -> IntType:
    """The type that words such as `unsigned` and `short` mean, in whatever order they stand."""
    signed = "unsigned" not in words
    if "char" in words:
        return IntType("signed char" if signed else "unsigned char", 8, signed)
    name, bits = "int", 32
    if "short" in words:
        name, bits = "short", 16
    elif "long" in words:
        name, bits = ("long long", 64) if words.count("long") == 2 else ("long", 32)
    return IntType(name if signed else f"unsigned {name}", bits, signed)


class TypeNames(Protocol):
    """The types that names denote where a type is written."""

    def find_type(self, name: str) -> QualifiedType | None:
        """The type of a name; None if it means none."""
        ...

    def find_templated_type(self, node: tree.NamedType | tree.Name) -> QualifiedType | None:
        """The type of a name with template arguments or within a type; None if it means none."""
        ...

    def find_decltype(self, node: tree.Decltype) -> QualifiedType:
        """The type that `decltype(expression)` means."""
        ...

    def find_count(self, node: tree.Expression) -> int:
        """The number of elements that an expression gives an array."""
        ...

    def find_signature(self, node: tree.FunctionOf) -> SignatureType:
        """The type of functions that is written."""
        ...

    def unknown_type(self, node: tree.Node, name: str) -> Exception:
        """The error about a name that means no type."""
        ...

    def error(self, node: tree.Node, message: str) -> Exception:
        """An error about a node."""
        ...


def resolve_type(
    node: tree.TemplateArgument, names: TypeNames, deduced: QualifiedType | None = None
) -> QualifiedType:
    """The type that a piece of source means, where `auto` stands for the type of a value.

    A reference has the type of what it refers to, and says that it is one.
    """
    # What only prints types does without the syntax tree.
    import ttmlir.cpp.tree as tree

    match node:
        case tree.NamedType(name="auto", scope=None):
            if deduced is None or isinstance(deduced.type, VoidType):
                raise names.error(node, "'auto' has no value here to take its type from")
            return _qualify(deduced, node)
        case tree.NamedType(name=name) | tree.Name(text=name):
            if node.template_arguments or node.scope is not None:
                found = names.find_templated_type(node)
            else:
                # A class template all of whose arguments have defaults is a type as `Q<>`.
                found = names.find_type(name) or names.find_templated_type(node)
            if found is None:
                raise names.unknown_type(node, name)
            return _qualify(found, node) if isinstance(node, tree.NamedType) else found
        case tree.Pointer(holder=tree.NamedType() | tree.Decltype()):
            return _resolve_member_pointer(node, names, deduced)
        case tree.Pointer(pointee=pointee, const=const):
            inner = resolve_type(pointee, names, _pointed_by(deduced))
            return QualifiedType(PointerType(inner.type, inner.volatile, inner.const), const)
        case _:
            return _resolve_composed(node, names, deduced)


def _resolve_member_pointer(
    node: tree.Pointer, names: TypeNames, deduced: QualifiedType | None
) -> QualifiedType:
    """A pointer to a data member: the one that is known, or any."""
    assert node.holder is not None
    written = resolve_type(node.pointee, names)
    pointee, holder = written.type, resolve_type(node.holder, names).type
    if deduced is None or not isinstance(deduced.type, MemberPointerType):
        if not isinstance(holder, (StructType, IncompleteType)):
            raise names.error(node.holder, f"'{holder.name}' is no class")
        pointer = PointerType(MemberType(pointee, holder, written.const))
        return QualifiedType(pointer, node.const)
    found = deduced.type
    is_of = isinstance(holder, (StructType, IncompleteType)) and (
        holder.number == found.holder.number
        or (isinstance(holder, StructType) and holder.derives_from(found.holder))
    )
    if not is_of or not is_same_type(pointee, found.pointee):
        message = f"'{found.name}' is no '{pointee.name} {holder.name}::*'"
        raise names.error(node, message)
    return deduced


def _resolve_composed(
    node: tree.TemplateArgument, names: TypeNames, deduced: QualifiedType | None
) -> QualifiedType:
    import ttmlir.cpp.tree as tree

    match node:
        case tree.Reference(referent=referent, is_rvalue=is_rvalue):
            return resolve_type(referent, names, deduced).refer("&&" if is_rvalue else "&")
        case tree.Decltype():
            return names.find_decltype(node)
        case tree.ArrayOf(element=element, size=size):
            if size is None:
                raise names.error(node, "the size of this array is missing")
            inner = resolve_type(element, names)
            return replace(inner, type=ArrayType(inner.type, names.find_count(size)))
        case tree.FunctionOf():
            return QualifiedType(names.find_signature(node))
        case _:
            raise names.error(node, "this is no type")


def _qualify(type_: QualifiedType, node: tree.NamedType) -> QualifiedType:
    if type_.reference or not node.qualifiers:
        return type_  # C++ ignores the qualifiers of a name that means a reference.
    return QualifiedType(
        type_.type,
        type_.const or "const" in node.qualifiers,
        type_.volatile or "volatile" in node.qualifiers,
    )


def _pointed_by(type_: QualifiedType | None) -> QualifiedType | None:
    match type_:
        case QualifiedType(type=PointerType(pointee=pointee, const=const, volatile=volatile)):
            return QualifiedType(pointee, const, volatile)
        case _:
            return None


def is_deduced(node: tree.Type) -> bool:
    """Whether a type is `auto`, `auto*` or `auto&`."""
    import ttmlir.cpp.tree as tree

    match node:
        case tree.NamedType(name=name):
            return name == "auto"
        case tree.Pointer(pointee=inner) | tree.Reference(referent=inner):
            return is_deduced(inner)
        case _:
            return False
