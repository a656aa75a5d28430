"""What the kernel library offers in a role: calls with their results, classes, arrays."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar, Protocol

from ttmlir.optable.kernel import CALLS, Form, KernelCall, Role, ValueKind
from ttmlir.sim.kernels.enumerators import ENUM_TYPES, bare_name
from ttmlir.sim.kernels.types import (
    BOOL,
    FLOAT,
    UINT64,
    UNSIGNED,
    VOID,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
)


class KernelApi(Protocol):
    """What a compiled kernel runs against: the calls of a role as methods of their C++ names.

    Beside those it has `load(address, size, signed)`, `store(address, size, value)`, `poll()` and
    `thread`, whose `clock` counts cycles.
    """

    BLOCKING: ClassVar[frozenset[str]]
    """Calls without result that return False while they have to wait, and are then repeated."""


_RESULTS: dict[ValueKind, CType] = {
    ValueKind.NOC_ADDR: UINT64,
    ValueKind.L1_PTR: PointerType(UNSIGNED, volatile=True),
    ValueKind.DATA_FORMAT: ENUM_TYPES["DataFormat"],
    ValueKind.BOOL: BOOL,
    ValueKind.F32: FLOAT,
}

_PARAMETERS: dict[ValueKind, IntType | FloatType] = {
    ValueKind.CB: UNSIGNED,
    ValueKind.I32: UNSIGNED,
    ValueKind.ADDRESS: UNSIGNED,
    ValueKind.SEMAPHORE: UNSIGNED,
    ValueKind.NOC_ADDR: UINT64,
    ValueKind.F32: FLOAT,
}

_OBJECTS = (ValueKind.ADDR_GEN, ValueKind.ACCESSOR, ValueKind.ACCESSOR_ARGS)

PURE_CALLS = frozenset(
    (
        *("get_arg_val", "get_common_arg_val", "get_arg_addr", "get_common_arg_addr"),
        *("get_tile_size", "get_tile_hw", "get_dataformat", "get_semaphore"),
        *("get_write_ptr", "get_read_ptr", "get_noc_addr", "get_noc_multicast_addr"),
        *("get_absolute_logical_x", "get_absolute_logical_y"),
        *("get_relative_logical_x", "get_relative_logical_y"),
    )
)
"""Calls that do nothing but find a value."""

STEADY_CALLS = PURE_CALLS - {"get_write_ptr", "get_read_ptr"}
"""Those of them that give the same value whenever they are asked."""


@dataclass(frozen=True)
class LibraryCall:
    """A call of the library as the compiler needs to know it."""

    name: str
    result: CType
    acts: bool
    """Whether it does something in this role."""
    waits: bool


class Library:
    """The library of one role."""

    def __init__(self, role: Role, api: type) -> None:
        """What `api` offers; the rows of the calls say what each one gives."""
        self.role = role
        self.api = api
        self.blocking: frozenset[str] = getattr(api, "BLOCKING", frozenset[str]())
        self.rows = {row.cpp: row for row in reversed(CALLS) if row.cpp and row.form != Form.METHOD}
        self.methods = {row.cpp: row for row in reversed(CALLS) if row.form == Form.METHOD}

    def call(self, name: str) -> LibraryCall | None:
        """The call of a name, qualified or not; None if there is none."""
        bare = bare_name(name)
        row = self.rows.get(bare)
        if row is None:
            known = callable(getattr(self.api, bare, None)) and not bare.startswith("_")
            return LibraryCall(bare, UNSIGNED, True, bare in self.blocking) if known else None
        acts = bool(row.roles & self.role)
        return LibraryCall(bare, result_of(row), acts, acts and bare in self.blocking)

    def is_array(self, name: str) -> bool:
        """Whether a name is that of an array of the library, such as `my_x`."""
        row = self.rows.get(name)
        return row is not None and row.form == Form.ELEMENT

    def constant(self, name: str) -> int | None:
        """The value of a number of the library, such as `MEM_ZEROS_SIZE`; None if it is none."""
        value = getattr(self.api, name, None)
        return value if isinstance(value, int) else None

    def takes_object(self, name: str, position: int) -> bool | None:
        """Whether an argument has to be an address generator, or a number; None: it may be both."""
        kinds = {kind in _OBJECTS for kind in _kinds(bare_name(name), position)}
        return kinds.pop() if len(kinds) == 1 else None

    def number_type(self, name: str, position: int) -> IntType | FloatType | None:
        """The type of a parameter that is a number; None if forms of the call differ in it."""
        types = {_PARAMETERS.get(kind) for kind in _kinds(bare_name(name), position)}
        return types.pop() if len(types) == 1 else None

    def template_defaults(self, name: str) -> Sequence[str]:
        """What C++ takes for the template arguments of a call; nothing if it takes none."""
        row = self.rows.get(name)
        return [] if row is None else [each.default for each in row.templates if each.default]

    def names(self) -> frozenset[str]:
        """The names of everything in the library."""
        return frozenset((*self.rows, *dir(self.api)))

    def is_class(self, name: str) -> bool:
        """Whether a name is that of a class of which kernels declare variables."""
        bare = bare_name(name)
        row = self.rows.get(bare)
        if row is not None:
            return isinstance(result_of(row), ObjectType)
        return bare[:1].isupper() and callable(getattr(self.api, bare, None))

    def method_result(self, name: str) -> CType:
        """What a member function of an object gives."""
        row = self.methods.get(name)
        if row is not None:
            return result_of(row)
        return UINT64 if name.endswith("noc_addr") else UNSIGNED

    def misfit(self, name: str, positional: int, keywords: Iterable[str]) -> str:
        """Why the simulator's method does not take so many arguments; empty if it does."""
        method = getattr(self.api, name, None)
        if method is None:
            return f"the simulator has no '{name}' on this processor"
        try:
            signature = _signature(method)
        except (TypeError, ValueError):
            return ""
        try:
            bound = () if isinstance(method, type) else (None,)
            signature.bind(*bound, *([None] * positional), **dict.fromkeys(keywords))
        except TypeError as error:
            takes = ", ".join(
                str(each).partition(":")[0].partition("=")[0]
                for each in signature.parameters.values()
                if each.name not in ("self", "template")
            )
            return f"'{name}' does not go with these arguments: {error}; it takes ({takes})"
        return ""

    def nearest(self, name: str) -> list[str]:
        """Calls with a similar name."""
        bare = bare_name(name)
        methods = [each for each in dir(self.api) if not each.startswith("_")]
        return difflib.get_close_matches(bare, sorted({*self.rows, *methods}), 3)


@cache
def _kinds(name: str, position: int) -> frozenset[ValueKind]:
    """What an argument may be in the forms that a call has."""
    places = (
        (row.operands, position - len(row.constants))
        for row in CALLS
        if row.cpp == name and row.form != Form.METHOD
    )
    return frozenset(operands[place][1] for operands, place in places if 0 <= place < len(operands))


@cache
def _signature(method: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(method)


def result_of(row: KernelCall) -> CType:
    """The C++ type of what a call gives."""
    if row.result is None:
        return VOID
    kind = row.result[1]
    if kind in _OBJECTS:
        return ObjectType(row.cpp)
    return _RESULTS.get(kind, UNSIGNED)
