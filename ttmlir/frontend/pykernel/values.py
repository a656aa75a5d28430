"""What expressions and names of a kernel stand for while it is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import f32, i1, i32
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType
from ttmlir.optable.kernel import ValueKind

MOST_INTEGER = (1 << 31) - 1
"""Constants beyond it, up to 32 bits, are the negative numbers of the same bits."""


@dataclass(frozen=True, eq=False)
class Scalar:
    """A value of the device: a number, a truth value, an address, an address generator ...

    One without operation is a literal, for which a constant is made where it is used.
    """

    type: Attribute
    ssa: SSAValue | None = None
    known: int | float | None = None
    """What it is known to be when the kernel is compiled."""
    natural: bool = False
    """It is known not to be negative."""

    @property
    def is_number(self) -> bool:
        """Whether it can be computed with."""
        return self.type in (i1, i32, f32)

    @property
    def is_literal(self) -> bool:
        """Whether no operation has been made for it yet."""
        return self.ssa is None


@dataclass(frozen=True, eq=False)
class Array:
    """An array of the kernel: a memref; a row of a two-dimensional one is `within` it."""

    ssa: SSAValue
    type: Attribute
    shape: tuple[int, ...]
    within: tuple[SSAValue, ...] = ()


@dataclass(frozen=True, eq=False)
class Cell:
    """An annotated variable: a memref of one element."""

    ssa: SSAValue
    type: Attribute


@dataclass(frozen=True)
class Enumerator:
    """A member of an enumeration of tt-metal."""

    enum: str
    member: str


@dataclass(frozen=True, eq=False)
class Static:
    """What is there when the kernel is compiled only: a text, a tuple, a function, a type."""

    value: object


@dataclass(frozen=True, eq=False)
class Items:
    """A tuple or list whose elements are values."""

    elements: tuple[Value, ...]
    is_list: bool = False


@dataclass(frozen=True)
class Unset:
    """A name without a value that could be used; `reason` says why."""

    reason: str


Value = Scalar | Array | Static | Items
"""What an expression gives."""
Binding = Value | Cell | Unset
"""What a name stands for."""
Scope = dict[str, Binding]


def number(value: int | float) -> Scalar:
    """A literal of Python: an int, a bool or a float."""
    match value:
        case bool():
            return Scalar(i1, known=int(value), natural=True)
        case int():
            return Scalar(i32, known=value, natural=0 <= value <= MOST_INTEGER)
        case float():
            return Scalar(f32, known=value)


def describe(value: Binding) -> str:
    """What messages call a value."""
    match value:
        case Scalar() | Cell():
            return _describe_type(value.type)
        case Array():
            return "an array"
        case Items(is_list=is_list):
            return "a list" if is_list else "a tuple"
        case Static(value=str()):
            return "a text"
        case Static(value=Enumerator(enum, _)):
            return f"a {enum}"
        case Static(value=None):
            return "None"
        case Static(value=other):
            return f"the {type(other).__name__} '{getattr(other, '__name__', other)}'"
        case Unset():
            return "nothing"


def _describe_type(type_: Attribute) -> str:
    if isinstance(type_, CBType):
        return "a circular buffer"
    return _NAMES.get(type_, f"a '{type_}'")


_NAMES: dict[Attribute, str] = {
    i1: "a truth value",
    i32: "an integer",
    f32: "a float",
    RESULT_TYPES[ValueKind.NOC_ADDR]: "an address on the network",
    RESULT_TYPES[ValueKind.SEMAPHORE]: "a semaphore",
    RESULT_TYPES[ValueKind.L1_PTR]: "a pointer to words of L1",
    RESULT_TYPES[ValueKind.DATA_FORMAT]: "a data format",
    RESULT_TYPES[ValueKind.ADDR_GEN]: "an address generator",
    RESULT_TYPES[ValueKind.ACCESSOR_ARGS]: "the layout of a tensor",
    RESULT_TYPES[ValueKind.ACCESSOR]: "a tensor accessor",
}


def same(first: Binding, second: Binding) -> bool:
    """Whether two names stand for the same; of literals, by what they are."""
    if first is second:
        return True
    match first, second:
        case Scalar(ssa=None), Scalar(ssa=None):
            return first.known == second.known and first.type == second.type
        case Scalar(ssa=one), Scalar(ssa=other):
            return one is other
        case Static(), Static():
            return first.value is second.value
        case (Array(ssa=one), Array(ssa=other)) | (Cell(ssa=one), Cell(ssa=other)):
            return one is other
        case Items(), Items():
            return all_same(first.elements, second.elements)
        case _:
            return False


def all_same(first: Sequence[Binding], second: Sequence[Binding]) -> bool:
    """Whether values are the same one by one."""
    return len(first) == len(second) and all(map(same, first, second))
