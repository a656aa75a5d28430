"""What the kernel library offers in a role: calls with their types, classes, variables."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache, reduce
from typing import ClassVar, Protocol, TypeVar

from ttmlir.cpp.types import (
    BOOL,
    FLOAT,
    INT,
    UINT8,
    UINT64,
    UNSIGNED,
    VOID,
    CType,
    EnumType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    find_built_in_type,
)
from ttmlir.optable.kernel import (
    LIBRARY_CALLS,
    SPELLINGS,
    Form,
    KernelCall,
    Role,
    TemplateKind,
    ValueKind,
)
from ttmlir.optable.kernel.cpp_movement_calls import MODES
from ttmlir.optable.kernel.kernel_call import CONSTANTS as LIBRARY_CONSTANTS
from ttmlir.optable.kernel.kernel_call import ENUMS
from ttmlir.sim.calls.kernel_api import CallFacts, declared_calls
from ttmlir.sim.errors import SimError
from ttmlir.sim.kernels.build import AssumedArguments
from ttmlir.sim.kernels.python.runtime import KernelFault
from ttmlir.sim.machine.address_generators import read_accessor_args
from ttmlir.sim.machine.memory import COUNT, UNCONFIGURED_FORMAT, UNCONFIGURED_TILE_BYTES
from ttmlir.sim.machine.numerics import TILE_VOLUME

# --- Enumerators ----------------------------------------------------------------------------------
# Names that the headers of the kernel library give to numbers.
#
# Those of calls stand in the table of kernel calls; others are from tt-metal's llk_defs.h and C's
# stdint.h.

ENUMERATIONS: Mapping[str, Mapping[str, int]] = {
    **{name: enum.members for name, enum in ENUMS.items()},
    **MODES,
    "DataCopyType": {"A2D": 0, "B2D": 1},
    "PackMode": {"Default": 0, "Untilize": 1, "Tilize": 2},
    "SrcOrder": {"Regular": 0, "Reverse": 1},
    "MathFidelity": {"LoFi": 0, "HiFi2": 2, "HiFi3": 3, "HiFi4": 4},
    "DataLayout": {"TILE": 0, "ROW_MAJOR": 1},
    "VectorMode": {"None": 0, "R": 1, "C": 2, "RC": 4, "RC_custom": 6, "Invalid": 0xFF},
    "DstSync": {"SyncHalf": 0, "SyncFull": 1},
    "SemScope": {"LOCAL_NONATOMIC": 0, "DM_LOCAL_CACHED": 1, "EXTERNAL": 2, "COMPUTE_ATOMIC": 3},
    "DstMode": {"Full": 0, "Half": 1, "Tile": 2},
    "DstRoundingMode": {"Default": 0, "NearestEven": 1},
    "RsqrtMode": {"Default": 0, "Fast": 1},
    "ReciprocalDestAcc": {"BF16": 0, "FP32": 1},
    "ReciprocalApproxMode": {"Default": 0, "Precise": 1, "Approximate": 2},
    "RoundingMode": {"None": 0, "Trunc": 1, "Floor": 2},
    "InputClamping": {"None": 0, "ClampToNegative": 1},
    "dfb::AccessPattern": {"UNKNOWN": 0, "STRIDED": 1, "BLOCKED": 2},
    "TopkTieOrder": {"Unset": 0, "Ascending": 1, "Descending": 2},
    "TwoPassAccumulation": {"ShiftedSum": 0, "CentredM2": 1},
    "TwoPassAnchor": {"Reuse": 0, "Initialise": 1},
    "SfpuType": {"unused": 0, "exponential": 1, "gelu": 2},
}
"""Enumerations with their enumerators."""

ENUM_TYPES: Mapping[str, EnumType] = {
    name: EnumType(name, 8, False)
    if name in ("CBIndex", "DataFormat", "RsqrtMode", *MODES)
    else EnumType(name, 32, True)
    for name in ENUMERATIONS
}
"""The enumerations as types."""

CONSTANTS: Mapping[str, tuple[int, CType]] = {
    **{name: (number, INT) for name, number in LIBRARY_CONSTANTS.items()},
    **dict.fromkeys(("TILE_R_DIM", "TILE_C_DIM"), (32, UNSIGNED)),
    **dict.fromkeys(("FACE_R_DIM", "FACE_C_DIM"), (16, UNSIGNED)),
    "NOC_0": (0, UINT8),
    **{f"RISCV_DEBUG_REG_WALL_CLOCK_{name}": (0xFFB1_21F0, UNSIGNED) for name in ("0", "L")},
    **{f"RISCV_DEBUG_REG_WALL_CLOCK_{name}": (0xFFB1_21F8, UNSIGNED) for name in ("1_AT", "H")},
    "RISCV_DEBUG_REG_WALL_CLOCK_1": (0xFFB1_21F4, UNSIGNED),
    "NOC_1": (1, UINT8),
    "CHAR_BIT": (8, INT),
    "SCHAR_MIN": (-(2**7), INT),
    "SCHAR_MAX": (2**7 - 1, INT),
    "UCHAR_MAX": (2**8 - 1, INT),
    "SHRT_MIN": (-(2**15), INT),
    "SHRT_MAX": (2**15 - 1, INT),
    "USHRT_MAX": (2**16 - 1, INT),
    "INT_MIN": (-(2**31), INT),
    "INT_MAX": (2**31 - 1, INT),
    "UINT_MAX": (2**32 - 1, UNSIGNED),
    "INT8_MIN": (-(2**7), INT),
    "INT8_MAX": (2**7 - 1, INT),
    "INT16_MIN": (-(2**15), INT),
    "INT16_MAX": (2**15 - 1, INT),
    "INT32_MAX": (2**31 - 1, INT),
    "INT32_MIN": (-(2**31), INT),
    "UINT8_MAX": (2**8 - 1, INT),
    "UINT16_MAX": (2**16 - 1, INT),
    "UINT32_MAX": (2**32 - 1, UNSIGNED),
}
"""Macros and constants."""

_QUALIFIED = (
    *("VectorMode", "SfpuType", "DataLayout", "RoundingMode", "InputClamping"),
    *("DstSync", "DstMode", "DstRoundingMode", "RsqrtMode", "SemScope"),
    *("ReciprocalDestAcc", "ReciprocalApproxMode", "dfb::AccessPattern"),
    *("TopkTieOrder", "TwoPassAccumulation", "TwoPassAnchor"),
)
"""Enumerations whose members are named with them only."""

_BARE = {
    enumerator: (number, ENUM_TYPES[enumeration])
    for enumeration, enumerators in reversed(ENUMERATIONS.items())
    if enumeration not in (*MODES, *_QUALIFIED)
    for enumerator, number in enumerators.items()
}

LIBRARY_NAMESPACES = (
    *("tt", "ckernel", "std", "sfpi", "tt_metal", "detail"),
    *("constants", "experimental"),
)
"""Namespaces of the library whose names are found with and without them."""


@lru_cache(maxsize=4096)
def strip_namespaces(name: str) -> str:
    """A name without the namespaces of the library before it."""
    parts = name.removeprefix("::").split("::")
    while len(parts) > 1 and parts[0] in LIBRARY_NAMESPACES:
        parts = parts[1:]
    return "::".join(parts)


def find_constant(name: str) -> tuple[int, CType] | None:
    """Number and type of an enumerator or constant of the library, qualified or not."""
    bare = strip_namespaces(name)
    if bare in CONSTANTS:
        return CONSTANTS[bare]
    enumeration, _, enumerator = bare.rpartition("::")
    if not enumeration:
        return _BARE.get(enumerator)
    number = ENUMERATIONS.get(enumeration, {}).get(enumerator)
    return None if number is None else (number, ENUM_TYPES[enumeration])


def list_enumerators(name: str) -> list[str]:
    """The names in the enumeration that a qualified name speaks of."""
    enumeration, _, _ = strip_namespaces(name).rpartition("::")
    return [f"{enumeration}::{each}" for each in ENUMERATIONS.get(enumeration, {})]


# --- Spelling -------------------------------------------------------------------------------------
# Names that a misspelled one may stand for.

_ALIKE = 0.75
"""Least share of letters that the names have in common."""

_NEXT = 0.1
"""How much less than the nearest name another one may have in common."""


def list_alike(name: str, known: Iterable[str], most: int = 3) -> list[str]:
    """The names that are most like one, the nearest first; none where none is alike."""
    return list(_list_alike(strip_namespaces(name), frozenset(known), most))


@lru_cache(maxsize=1024)
def _list_alike(name: str, known: frozenset[str], most: int) -> tuple[str, ...]:
    near = difflib.get_close_matches(name, sorted(known), most, _ALIKE)
    shares = [difflib.SequenceMatcher(a=each, b=name).ratio() for each in near]
    pairs = zip(near, shares, strict=True)
    return tuple(each for each, share in pairs if share >= shares[0] - _NEXT)


# --- Library --------------------------------------------------------------------------------------

_Answer = TypeVar("_Answer")


class KernelApi(Protocol):
    """What a compiled kernel runs against: the calls of a role as methods of their C++ names.

    Only methods that `kernel_call` declares are calls. Compiled code itself uses
    `load(address, size, signed)`, `store(address, size, value)`, `poll(never_ends)`,
    `iterations()`, `limited(range)`, `dprint(*values)` and `thread`, whose `clock` counts cycles.
    """

    CONSTANTS: ClassVar[Mapping[str, int]]
    """Numbers that kernels know by name."""
    VARIABLES: ClassVar[frozenset[str]]
    """Attributes that kernels can read as variables."""


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

_OBJECTS = (
    *(ValueKind.ADDR_GEN, ValueKind.ACCESSOR, ValueKind.ACCESSOR_ARGS),
    *(ValueKind.CB_INTERFACE, ValueKind.SLICE_RANGE, ValueKind.NOC, ValueKind.CB_OBJECT),
    *(ValueKind.SEMAPHORE_OBJECT, ValueKind.PLACE_OBJECT),
    *(ValueKind.FLOAT_LANES, ValueKind.INTEGER_LANES, ValueKind.TRUTH_LANES),
)
_WANTED = {
    ValueKind.ADDR_GEN: "an address generator or accessor",
    ValueKind.ACCESSOR: "a tensor accessor",
    ValueKind.ACCESSOR_ARGS: "arguments of a tensor accessor",
    ValueKind.SLICE_RANGE: "a SliceRange",
    ValueKind.NOC: "a Noc",
    ValueKind.CB_OBJECT: "a CircularBuffer or DataflowBuffer",
    ValueKind.SEMAPHORE_OBJECT: "a Semaphore",
    ValueKind.PLACE_OBJECT: "an endpoint",
    ValueKind.CB_INTERFACE: "the interface of a circular buffer",
    ValueKind.FLOAT_LANES: "a vFloat",
    ValueKind.INTEGER_LANES: "a vInt",
    ValueKind.TRUTH_LANES: "a comparison of vectors",
}
_MOST_TEMPLATE_ARGUMENTS = 8


@dataclass(frozen=True)
class LibraryCall:
    """A call of the library as the compiler needs to know it."""

    name: str
    result: CType
    acts: bool
    """Whether it does something in this role."""
    waits: bool
    is_common: bool = True
    """Whether it does it in all roles that the kernel is compiled for, or in none."""


@dataclass(frozen=True)
class ParameterType:
    """What a call of the library takes in one place."""

    number: IntType | FloatType | None = None
    """What numbers are converted to; None if forms of the call differ in it."""
    objects: frozenset[str] = frozenset()
    """The classes of which objects are taken."""
    is_object: bool = False
    """Whether nothing but objects are taken."""
    may_be_array: bool = False
    """Whether an array of the kernel is taken."""
    may_be_memory: bool = False
    """Whether a `CoreLocalMem` is taken for the address that it holds."""
    may_be_braces: bool = False
    """Whether a list in braces is taken that names members."""
    wanted: str = "a number"
    """What messages call it."""


@dataclass(frozen=True)
class LibraryMethod:
    """A member function of an object of the library."""

    parameters: tuple[ParameterType, ...]
    optional: int
    """How many of the last parameters may be left out."""
    result: CType
    is_constant: bool = False
    """Whether the result is known when the kernel is compiled."""
    waits: bool = False
    """Whether it may have to be called again."""
    most_templates: int = 0
    """How many template arguments it takes at most."""


class Library:
    """The library of one role: nothing but what is declared in it can be named by kernels."""

    differs = False
    """Whether a kernel asked for what is not the same for all of several roles."""
    is_uneven = False
    """Whether some of the roles may have other errors than others; all are right if one is."""

    def __init__(
        self,
        role: Role,
        api: type[KernelApi],
        circular_buffers: Mapping[int, tuple[int, int, int]] | None = None,
    ) -> None:
        """What `api` offers; the definitions of the calls say what each one takes and gives.

        `circular_buffers` are the sizes of their tiles in bytes, the numbers of their formats, and
        how many numbers a tile has, where they are known.
        """
        self.circular_buffers = dict(circular_buffers or {})
        self.has_page_sizes = False
        """Whether layouts of tensors have the size of a page in any case, as in 0.81."""
        self.role = role
        self.api = api
        self.declared: Mapping[str, CallFacts] = declared_calls(api)

    def find_known_calls(
        self, arguments: tuple[int, ...], assumed: AssumedArguments | None
    ) -> Mapping[str, Callable[..., object]]:
        """Calls whose results are known when a kernel with compile-time arguments is compiled.

        `assumed` has what is taken for arguments that are missing.
        """

        def find(position: int) -> Callable[[int], int]:
            def ask(cb: int) -> int:
                if not self.circular_buffers:
                    raise KernelFault("what circular buffers hold is not known here")
                if not 0 <= cb < COUNT:
                    raise KernelFault(f"there is no circular buffer {cb}")
                unknown = (UNCONFIGURED_TILE_BYTES, UNCONFIGURED_FORMAT, TILE_VOLUME)
                return self.circular_buffers.get(cb, unknown)[position]

            return ask

        def read(template: tuple[int, ...] = ()) -> object:
            base, common = (*template, 0, 0)[:2]
            if assumed is not None and base >= len(arguments):
                return assumed.take_layout(base, common)
            try:
                return read_accessor_args(
                    arguments, base, common, has_page_size=self.has_page_sizes
                )
            except SimError as error:
                # Such as a layout of which run-time arguments tell the rest.
                raise KernelFault(error.message) from error

        return {
            "c_get_tile_size": find(0),
            "c_get_dataformat": find(1),
            "c_get_tile_hw": find(2),
            "c_TensorAccessorArgs": read,
        }

    @contextmanager
    def asking_only(self) -> Generator[None]:
        """Within it nothing is compiled: how the roles differ in what is asked does not matter."""
        before = self.differs, self.is_uneven
        try:
            yield
        finally:
            self.differs, self.is_uneven = before

    def find_call(self, name: str) -> LibraryCall | None:
        """The call of a name, qualified or not; None if there is none."""
        bare = _bare_name(name)
        definitions = _definitions().get(bare)
        facts = self.declared.get(bare)
        if definitions is None:
            return None if facts is None else LibraryCall(bare, UNSIGNED, True, facts.waits)
        acts = bool(definitions[0].roles & self.role)
        waits = acts and facts is not None and facts.waits
        return LibraryCall(bare, find_result(definitions[0]), acts, waits)

    def describe_absence(self, name: str) -> str:
        """Why a kernel for this processor cannot make a call; empty if it can."""
        definitions = _definitions().get(_bare_name(name))
        if definitions is None:
            return ""
        own = Role.DATA if self.role in Role.DATA else Role.COMPUTE
        if any(definition.roles & own for definition in definitions):
            return ""
        if own is Role.COMPUTE:
            return (
                f"'{name}' is a call of the data movement processors; a compute kernel, which runs "
                f"on UNPACK, MATH and PACK, does not have it: make it in a reader or writer kernel"
            )
        return (
            f"'{name}' is a call of compute kernels; a data movement processor, also that of an "
            "Ethernet core, does not have it: make it in a compute kernel"
        )

    def is_pure(self, name: str) -> bool:
        """Whether a call only finds a value."""
        return name in self.declared and self.declared[name].pure

    def is_steady(self, name: str) -> bool:
        """Whether a call finds the same value whenever it is asked."""
        facts = self.declared.get(_bare_name(name))
        return facts is not None and facts.steady

    def is_array(self, name: str) -> bool:
        """Whether a name is that of an array of the library, such as `my_x`."""
        definitions = _definitions().get(name, ())
        return name in self.api.VARIABLES and any(
            definition.form == Form.ELEMENT for definition in definitions
        )

    def is_variable(self, name: str) -> bool:
        """Whether a name is that of a number that the library knows when the kernel runs."""
        return name in self.api.VARIABLES and not self.is_array(name)

    def find_constant(self, name: str) -> int | None:
        """The value of a number of the library, such as `MEM_ZEROS_SIZE`; None if it is none."""
        return self.api.CONSTANTS.get(name)

    def find_parameter(self, name: str, position: int) -> ParameterType:
        """What a call takes in a place."""
        return _parameter(_bare_name(name), position)

    def parameter_names(self, name: str) -> Sequence[str]:
        """What designated initialisers of a class can name."""
        return [each for each, _ in _definitions()[name][0].operands]

    def is_typed(self, name: str) -> bool:
        """Whether the template argument of a call is the type of its result."""
        return self.template_kinds(_bare_name(name))[:1] == (TemplateKind.TYPE,)

    def template_kinds(self, name: str) -> tuple[TemplateKind, ...]:
        """What the template arguments of a call can be."""
        definitions = _definitions().get(name, ())
        known = tuple(each.kind for each in definitions[0].templates) if definitions else ()
        method = getattr(self.api, name) if name in self.declared else None
        if method is None or "template" not in _signature(method).parameters:
            return known
        return (*known, *[TemplateKind.INT] * (_MOST_TEMPLATE_ARGUMENTS - len(known)))

    def template_defaults(self, name: str) -> Sequence[str]:
        """What C++ takes for each template argument of a call; empty where it has to be written."""
        definitions = _definitions().get(name)
        return (
            [] if definitions is None else [each.default or "" for each in definitions[0].templates]
        )

    def names(self) -> frozenset[str]:
        """The names of everything in the library."""
        return _names(self.api)

    def is_class(self, name: str) -> bool:
        """Whether a name is that of a class of which kernels declare variables."""
        return strip_namespaces(name) in _classes()

    def find_members(self, name: str) -> Mapping[str, CType]:
        """The members of a class that kernels can read, with their types."""
        return {
            each: _RESULTS.get(kind, UNSIGNED) for each, kind in _definitions()[name][0].members
        }

    def is_writable(self, name: str, member: str) -> bool:
        """Whether kernels can change a member of a class."""
        return member in _definitions()[name][0].writable

    def find_methods(self, name: str) -> Mapping[str, LibraryMethod]:
        """The member functions of a class."""
        return _methods(_classes()[name])

    def describe_misfit(self, name: str, positional: int, keywords: Iterable[str]) -> str:
        """Why the simulator's method does not take so many arguments; empty if it does."""
        if name not in self.declared:
            return f"the simulator has no '{name}' on this processor"
        signature = _signature(getattr(self.api, name))
        try:
            signature.bind(None, *([None] * positional), **dict.fromkeys(keywords))
        except TypeError as error:
            takes = ", ".join(
                str(each).partition(":")[0].partition("=")[0]
                for each in signature.parameters.values()
                if each.name not in ("self", "template")
            )
            return f"'{name}' does not go with these arguments: {error}; it takes ({takes})"
        if any(each.kind is each.VAR_POSITIONAL for each in signature.parameters.values()):
            return _describe_misfit_of_calls(name, positional)
        return ""

    def list_nearest(self, name: str) -> list[str]:
        """Calls with a similar name."""
        return list_alike(name, {*_definitions(), *SPELLINGS, *self.declared})


class JoinedLibrary(Library):
    """The library of several roles at once, for kernels that are compiled only to check them.

    What one of the roles refuses is refused; where they answer differently, `differs` is set.
    """

    def __init__(
        self,
        apis: Mapping[Role, type[KernelApi]],
        circular_buffers: Mapping[int, tuple[int, int, int]] | None = None,
    ) -> None:
        """What the APIs offer."""
        roles = reduce(lambda a, b: a | b, apis)
        super().__init__(roles, next(iter(apis.values())), circular_buffers)
        self.parts = [Library(role, api, circular_buffers) for role, api in apis.items()]

    def _agreed(self, ask: Callable[[Library], _Answer]) -> _Answer:
        answers = [ask(each) for each in self.parts]
        self.differs = self.differs or any(each != answers[0] for each in answers)
        return answers[0]

    def _list_acting(self, name: str) -> list[Library]:
        """The roles that make a call."""
        calls = [(each, each.find_call(name)) for each in self.parts]
        return [each for each, call in calls if call is not None and call.acts]

    def find_call(self, name: str) -> LibraryCall | None:
        """One that acts or waits for one of the roles."""
        calls = [each.find_call(name) for each in self.parts]
        known = [each for each in calls if each is not None]
        self.differs = self.differs or 0 < len(known) < len(calls)
        if not known:
            return None
        acts, waits = any(each.acts for each in known), any(each.waits for each in known)
        is_common = len({(each.acts, each.waits) for each in known}) == 1
        if not is_common and known[0].result != VOID:
            self.is_uneven = True
        return replace(known[0], acts=acts, waits=waits, is_common=is_common)

    def is_pure(self, name: str) -> bool:
        """Whether a call only finds a value, for all roles that make it."""
        return all(each.is_pure(name) for each in self._list_acting(name) or self.parts)

    def is_steady(self, name: str) -> bool:
        """Likewise for the same value."""
        return all(each.is_steady(name) for each in self._list_acting(name) or self.parts)

    def is_array(self, name: str) -> bool:
        """What all roles say."""
        return self._agreed(lambda each: each.is_array(name))

    def is_variable(self, name: str) -> bool:
        """What all roles say."""
        return self._agreed(lambda each: each.is_variable(name))

    def find_constant(self, name: str) -> int | None:
        """What all roles say."""
        return self._agreed(lambda each: each.find_constant(name))

    def names(self) -> frozenset[str]:
        """The names of everything in the library, for hints in errors."""
        return self._suggested(lambda each: each.names())

    def list_nearest(self, name: str) -> list[str]:
        """Calls with a similar name, for hints."""
        return self._suggested(lambda each: each.list_nearest(name))

    def _suggested(self, ask: Callable[[Library], _Answer]) -> _Answer:
        """What errors say that all roles have."""
        answers = [ask(each) for each in self.parts]
        self.is_uneven = self.is_uneven or any(each != answers[0] for each in answers)
        return answers[0]

    def template_kinds(self, name: str) -> tuple[TemplateKind, ...]:
        """As many as all roles take that make the call."""
        kinds = [each.template_kinds(name) for each in self._list_acting(name) or self.parts]
        return min(kinds, key=len)

    def describe_misfit(self, name: str, positional: int, keywords: Iterable[str]) -> str:
        """What the first role says that makes the call and refuses it."""
        acting, listed = self._list_acting(name), list(keywords)
        found = (each.describe_misfit(name, positional, listed) for each in acting)
        return next(filter(None, found), "")


_MOST_MODES = 2
"""Arguments after those of the table that calls on tiles have in some releases: mode and scale."""


def _describe_misfit_of_calls(name: str, positional: int) -> str:
    """Why the table does not have a call of the vector unit with so many arguments; else empty."""
    definitions = [
        definition
        for definition in _definitions().get(name, ())
        if definition.roles in (Role.MATH, Role.PACK)
    ]
    taken = [
        (
            definition.fewest_arguments,
            len(definition.constants) + len(definition.operands) + len(definition.options),
        )
        for definition in definitions
    ]
    if not definitions or any(few <= positional <= most + _MOST_MODES for few, most in taken):
        return ""
    problem = "missing" if positional < min(few for few, _ in taken) else "too many"
    takes = " or ".join(
        f"({', '.join(each for each, _ in definition.operands)})" for definition in definitions
    )
    return f"'{name}' does not go with these arguments: {problem} arguments; it takes {takes}"


def _bare_name(name: str) -> str:
    """The name of a call in the table, however it is qualified or spelled."""
    bare = strip_namespaces(name)
    return SPELLINGS.get(bare, bare)


@cache
def _names(api: type[KernelApi]) -> frozenset[str]:
    own = (*declared_calls(api), *api.CONSTANTS, *api.VARIABLES)
    return frozenset((*_definitions(), *SPELLINGS, *own))


@cache
def _definitions() -> Mapping[str, tuple[KernelCall, ...]]:
    """The forms of each call, but for member functions."""
    found: dict[str, tuple[KernelCall, ...]] = {}
    for definition in LIBRARY_CALLS:
        if definition.cpp and definition.form != Form.METHOD:
            found[definition.cpp] = (*found.get(definition.cpp, ()), definition)
    return found


@cache
def _classes() -> Mapping[str, ValueKind]:
    """The classes of the library, with the kind of their objects."""
    return {
        definition.cpp: definition.result[1]
        for definition in LIBRARY_CALLS
        if definition.form in (Form.OBJECT, Form.AGGREGATE) and definition.result is not None
    }


def _class_of(kind: ValueKind) -> str:
    """The class of the objects of a kind."""
    return next(name for name, each in _classes().items() if each is kind)


@cache
def _methods(kind: ValueKind) -> Mapping[str, LibraryMethod]:
    definitions = [definition for definition in LIBRARY_CALLS if definition.form == Form.METHOD]
    grouped: dict[str, list[KernelCall]] = {}
    for definition in definitions:
        if definition.operands[0][1] == kind:
            grouped.setdefault(definition.cpp, []).append(definition)
    own = {name: _method(each) for name, each in grouped.items()}
    if kind == ValueKind.ADDR_GEN:
        # An address generator finds the address of a page as an accessor does.
        own["get_noc_addr"] = _methods(ValueKind.ACCESSOR)["get_noc_addr"]
    return own


def _method(definitions: Sequence[KernelCall]) -> LibraryMethod:
    """The forms of a member function as one, whose parameters take what any of them takes."""
    first = definitions[0]
    parameters = [_parameters_of(definition) for definition in definitions]
    most = max(parameters, key=len)
    if len(definitions) > 1:
        kinds = [frozenset(definition.operands[1][1] for definition in definitions)]
        most = (_type_of_kinds(kinds[0]), *most[1:])
    least = min(len(definition.operands) - 1 for definition in definitions)
    return LibraryMethod(
        most,
        len(most) - least,
        find_result(first),
        first.constant,
        first.waits,
        len(first.templates),
    )


def _parameters_of(definition: KernelCall) -> tuple[ParameterType, ...]:
    operands = (_type_of_kinds(frozenset((kind,))) for _, kind in definition.operands[1:])
    return (*operands, *(_type_of_option(each.type) for each in definition.options))


@cache
def _parameter(name: str, position: int) -> ParameterType:
    kinds = set[ValueKind]()
    options = set[str]()
    for definition in _definitions().get(name, ()):
        index = position - len(definition.constants)
        if 0 <= index < len(definition.operands):
            kinds.add(definition.operands[index][1])
        elif 0 <= index - len(definition.operands) < len(definition.options):
            options.add(definition.options[index - len(definition.operands)].type)
    if options and (kinds or len(options) > 1):
        return ParameterType(objects=_type_of_kinds(frozenset(kinds)).objects)
    if options:
        return _type_of_option(options.pop())
    return _type_of_kinds(frozenset(kinds))


def _type_of_option(type_: str) -> ParameterType:
    if type_ == "endpoint":
        return _type_of_kinds(frozenset((ValueKind.ENDPOINT,)))
    if type_ == "transfer_args":
        return ParameterType(UNSIGNED, may_be_braces=True)
    known = find_built_in_type(type_)
    return ParameterType(known if isinstance(known, (IntType, FloatType)) else None)


@cache
def _type_of_kinds(kinds: frozenset[ValueKind]) -> ParameterType:
    """What an argument is that is of one of these kinds."""
    objects = [kind for kind in kinds if kind in _OBJECTS]
    numbers = {_PARAMETERS.get(kind) for kind in kinds if kind not in _OBJECTS}
    taken = frozenset(
        name
        for name, kind in _classes().items()
        for each in objects
        if kind == each or (each, kind) == (ValueKind.ADDR_GEN, ValueKind.ACCESSOR)
    )
    if ValueKind.ENDPOINT in kinds:
        wanted = "a buffer, an endpoint, a tensor accessor or a pointer"
        return ParameterType(UNSIGNED, frozenset(_classes()), may_be_memory=True, wanted=wanted)
    may_be_array = ValueKind.ARRAY in kinds
    if may_be_array and len(kinds) == 1:
        return ParameterType(may_be_array=True, wanted="an array")
    is_object = bool(objects) and not numbers
    wanted = _WANTED[objects[0]] if is_object else "a number"
    number = numbers.pop() if len(numbers) == 1 else None
    return ParameterType(number, taken, is_object, may_be_array, wanted=wanted)


@cache
def _signature(method: Callable[..., object]) -> inspect.Signature:
    return inspect.signature(method)


def find_result(definition: KernelCall) -> CType:
    """The C++ type of what a call gives."""
    if definition.result is None:
        return VOID
    kind = definition.result[1]
    if kind in _OBJECTS:
        return ObjectType(definition.cpp if definition.form is not Form.CALL else _class_of(kind))
    return _RESULTS.get(kind, UNSIGNED)
