"""Compiles kernels and says what is wrong with them: `check_kernel`."""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache
from pathlib import Path

from ttmlir.collector import freed_afterwards, without_collections
from ttmlir.cpp.errors import CppSyntaxError, DifferingError, Position
from ttmlir.cpp.include_path import IncludePath
from ttmlir.cpp.preprocess import join_macros
from ttmlir.errors import DEBUG_VARIABLE, InputError, show_cause
from ttmlir.files import decode_text, read_stream
from ttmlir.layout.enums import DataType
from ttmlir.limits import MAX_SOURCE_LENGTH
from ttmlir.optable.kernel import ALL_CALLS, Role
from ttmlir.optable.kernel.releases import Release
from ttmlir.sim.calls.compute_api import ComputeSettings
from ttmlir.sim.calls.fabric_api import FabricApi
from ttmlir.sim.execution.run import COMPUTE_APIS, build_facts_of_chip
from ttmlir.sim.kernels import compile_kernel
from ttmlir.sim.kernels.build import ASSUMED_ARGUMENTS, AssumedArguments, Build, is_note_of_assumed
from ttmlir.sim.kernels.compiler import is_of_some
from ttmlir.sim.machine.device import SimChip
from ttmlir.sim.machine.memory import COUNT

# --- Errors ---------------------------------------------------------------------------------------
# What is wrong with what the tool was given.


class KernelToolError(InputError):
    """A file, an option or a specification that cannot be used; the message is complete."""


# --- Kernel files ---------------------------------------------------------------------------------
# Which files hold kernels, and for which processors each of them is written.

_ENTRY = re.compile(r"\b(?:kernel_main|MAIN|TT_KERNEL)\b")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_COMPUTE_ENTRY = re.compile(r"\bvoid\s+MAIN\b|\bnamespace\s+NAMESPACE\b")
_KERNEL_FILES_WORD = re.compile(r"\b[a-z]\w+(?=\s*[(<])")
_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"\n]*)[>"]', re.MULTILINE)
_COMPUTE_HEADER = re.compile(r"(?:^|/)compute_kernel_api(?:/|\.h)|(?:^|/)api/compute/")
_DATA_HEADER = re.compile(r"(?:^|/)dataflow_api\.h$|(?:^|/)api/dataflow/")
_COMPUTE_NAME = re.compile(r"compute|eltwise|(?:^|[_/])(?:mm|bmm|math|sfpu)(?=[_./]|$)")
_MOVER_NAME = re.compile(r"(read|load)|(writ|store)")


class KernelRole(Enum):
    """What a kernel is for, and the processors that run it."""

    COMPUTE = "compute", (Role.UNPACK, Role.MATH, Role.PACK), 0
    READER = "reader", (Role.NCRISC,), 0
    WRITER = "writer", (Role.BRISC,), 1

    def __init__(self, word: str, processors: tuple[Role, ...], noc_index: int) -> None:
        """The role as it is written, its processors, and the network that it uses."""
        self.word = word
        self.processors = processors
        self.noc_index = noc_index


def find_role(text: str, path: str) -> KernelRole:
    """The role of a kernel, from its text, or from its path where the text may be of any.

    Its entry decides, then the calls that only one kind of processor has, then its headers. Readers
    and writers make the same calls: their names come first, then whether they write only.
    """
    bare = _COMMENT.sub(" ", text)
    name = path.lower().replace(os.sep, "/")
    if _COMPUTE_ENTRY.search(bare) or _is_compute(bare, text, name):
        return KernelRole.COMPUTE
    named = _MOVER_NAME.search(name.rpartition("/")[2])
    if named is not None:
        return KernelRole.READER if named[1] else KernelRole.WRITER
    only_writes = "noc_async_write" in bare and "noc_async_read" not in bare
    return KernelRole.WRITER if only_writes else KernelRole.READER


def _is_compute(bare: str, text: str, name: str) -> bool:
    words = _KERNEL_FILES_WORD.findall(bare)
    compute, data = _calls_of_one_kind()
    ours = sum(each in compute for each in words)
    theirs = sum(each in data for each in words)
    if ours != theirs:
        return ours > theirs
    headers = _INCLUDE.findall(text)
    ours = sum(bool(_COMPUTE_HEADER.search(each)) for each in headers)
    theirs = sum(bool(_DATA_HEADER.search(each)) for each in headers)
    if bool(ours) != bool(theirs):
        return bool(ours)
    return bool(_COMPUTE_NAME.search("/".join(name.split("/")[-2:])))


@cache
def _calls_of_one_kind() -> tuple[frozenset[str], frozenset[str]]:
    """The calls of compute kernels alone, and those of the others alone."""
    roles = dict[str, Role]()
    for call in ALL_CALLS:
        roles[call.cpp] = roles.get(call.cpp, Role(0)) | call.roles
    return (
        frozenset(name for name, each in roles.items() if name and not each & Role.DATA),
        frozenset(name for name, each in roles.items() if name and not each & Role.COMPUTE),
    )


def read_kernel(path: str) -> str:
    """The text of a kernel; KernelToolError if it cannot be read."""
    try:
        with Path(path).open("rb") as file:
            text = decode_text(read_stream(file))
    except OSError as error:
        raise KernelToolError(f"{path}: error: cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise KernelToolError(f"{path}: error: this is no UTF-8 text") from None
    if len(text) > MAX_SOURCE_LENGTH:
        raise KernelToolError(
            f"{path}: error: a kernel has at most {MAX_SOURCE_LENGTH} characters, not {len(text)}"
        )
    return text


def find_kernels(paths: Sequence[str]) -> list[str]:
    """The files that are given, and those with kernels in folders that are given, each once.

    A kernel in a folder is a `.cpp` file that says `kernel_main`, `MAIN` or `TT_KERNEL`. Links
    to folders are not followed. KernelToolError for a path that is not there, and for folders
    without kernels.
    """
    found = dict[str, None]()
    for path in paths:
        if not os.path.isdir(path):
            if not os.path.exists(path):
                raise KernelToolError(f"{path}: error: there is no such file or folder")
            found[path] = None
            continue
        inside = list(_walk(path))
        if not inside:
            raise KernelToolError(
                f"{path}: error: no kernel is in this folder: no .cpp file below it says "
                "'kernel_main', 'MAIN' or 'TT_KERNEL'"
            )
        found |= dict.fromkeys(inside)
    return list(found)


def _walk(folder: str) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders.sort()
        for name in sorted(files):
            path = os.path.join(parent, name)
            if name.endswith(".cpp") and os.path.isfile(path) and _has_entry(path):
                yield path


def _has_entry(path: str) -> bool:
    try:
        return bool(_ENTRY.search(read_kernel(path)))
    except KernelToolError:
        return True  # Whoever checks it says what is wrong.


# --- Checking -------------------------------------------------------------------------------------

# --- Assumed macros -------------------------------------------------------------------------------
# Macros that host programs pass to kernels, and what they are taken as where nobody gives them.
#
# Only names that a kernel does not compile without are defined: one that asks `#ifdef BCAST_OP`,
# and nothing else, gets none.


@dataclass(frozen=True)
class MacroDefault:
    """What a macro is taken as, and for what kernels a host program passes it."""

    value: str
    purpose: str


_REDUCING = "reductions"
_ELTWISE = "elementwise kernels of two operands"
_BCAST = "kernels that broadcast an operand"
_CHAIN = "functions after or before the operation of a kernel"
_BINARY = "elementwise kernels that compute in DST"
_TERNARY = "kernels of three operands"

_SPREADING = "kernels that spread an element, a row or a column over its tile"
_SPREAD = {
    f"FILL_TILE_WITH_FIRST_{part}{operand}": MacroDefault(
        f"fill_tile_with_first_{part.lower()}_bfloat16", _SPREADING
    )
    for part in ("ELEMENT", "ROW", "COLUMN")
    for operand in ("", "_B", "_C")
}

MACRO_DEFAULTS: Mapping[str, MacroDefault] = {
    "REDUCE_OP": MacroDefault("PoolType::SUM", _REDUCING),
    "REDUCE_DIM": MacroDefault("ReduceDim::REDUCE_ROW", _REDUCING),
    "REDUCE_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_REDUCE_GRANULARITY": MacroDefault("0", "attention"),
    "SUB_EXP_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_SUB_EXP_GRANULARITY": MacroDefault("0", "attention"),
    "STATS_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_STATS_GRANULARITY": MacroDefault("0", "attention"),
    "DHT_GRANULARITY": MacroDefault("1", "attention"),
    "LOG2_DHT_GRANULARITY": MacroDefault("0", "attention"),
    "EXP_APPROX": MacroDefault("false", "attention"),
    "ELTWISE_OP": MacroDefault("add_tiles", _ELTWISE),
    "ELTWISE_OP_TYPE": MacroDefault("EltwiseBinaryType::ELWADD", _ELTWISE),
    "BINARY_OP": MacroDefault("add_tiles", _ELTWISE),
    "BINARY_OP_TYPE": MacroDefault("EltwiseBinaryType::ELWADD", _ELTWISE),
    "BCAST_OP": MacroDefault("add_tiles_bcast", _BCAST),
    "BCAST_LLKOP": MacroDefault("EltwiseBinaryType::ELWADD", _BCAST),
    "BCAST_DIM": MacroDefault("BroadcastType::COL", _BCAST),
    "BCAST_INPUT": MacroDefault("0", _BCAST),
    "SRC_BCAST": MacroDefault("1", _BCAST),
    **_SPREAD,
    "TYPECAST_LLK_INIT": MacroDefault("typecast_tile_init<5u, 0u>", "bf16 that becomes f32"),
    "TYPECAST_LLK": MacroDefault("typecast_tile<5u, 0u>", "bf16 that becomes f32"),
    "BINARY_SFPU_INIT": MacroDefault("add_binary_tile_init();", _BINARY),
    "BINARY_SFPU_OP": MacroDefault("add_binary_tile", _BINARY),
    "TERNARY_SFPU_OP_INIT": MacroDefault("where_tile_init", _TERNARY),
    "TERNARY_SFPU_OP_FUNC": MacroDefault("where_tile<DataFormat::Float16_b>", _TERNARY),
    "SFPU_OP_CHAIN_0": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_0": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_0": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_ACTIVATION": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_ACTIVATION": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_PRE_IN0_0": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_PRE_IN0_0": MacroDefault("", _CHAIN),
    "SFPU_OP_INIT_PRE_IN1_0": MacroDefault("", _CHAIN),
    "SFPU_OP_FUNC_PRE_IN1_0": MacroDefault("", _CHAIN),
    "PROCESS_LHS_ACTIVATIONS(i)": MacroDefault("", _CHAIN),
    "PROCESS_RHS_ACTIVATIONS(i)": MacroDefault("", _CHAIN),
    "PROCESS_POST_ACTIVATIONS(i)": MacroDefault("", _CHAIN),
    "FP32_DEST_ACC": MacroDefault("false", "accumulation in float32"),
    "ENABLE_FP32_DEST_ACC": MacroDefault("false", "accumulation in float32"),
    "EXP_APPROX_MODE": MacroDefault("false", "attention"),
}
"""By name; a name with parameters is a macro that takes arguments."""

_PASTED = ("BCAST_INPUT",)
"""Macros from whose values other names are made by `##`."""
_WORD = re.compile(r"\b[A-Z][A-Z0-9_]+\b")
_CONDITION = re.compile(r"^\s*#\s*if\s+([A-Z][A-Z0-9_]+)\s*$", re.MULTILINE)
_UNDECLARED = re.compile(r"'(\w+)' is not declared")
"""Errors of texts in which one of two macros declares a variable."""
_QUOTED = re.compile(r"'([A-Z][A-Z0-9_]+)'")
_UNREADABLE = re.compile(r"expected '|.* is not expected here|the text ends too early")
"""Errors of texts that a macro without value, such as `SFPU_OP_CHAIN_0`, makes no C++."""


def find_missing_macros(
    text: str, errors: Iterable[CppSyntaxError], defined: Mapping[str, str]
) -> dict[str, str]:
    """The macros of the table that errors of a kernel are about, with their defaults."""
    missing = _list_missing(defined)
    names = set[str]()
    for each in errors:
        quoted = _QUOTED.findall(each.message)
        names.update(quoted)
        names.update(name for name in _PASTED if any(name in each for each in quoted))
        if _UNREADABLE.match(each.message):
            names.update(_WORD.findall(text))
        undeclared = _UNDECLARED.match(each.message)
        if undeclared is None:
            continue
        if undeclared[1] in missing:
            # Those beside it would be missed next.
            names.update(_WORD.findall(each.line))
        if re.search(rf"\b{undeclared[1]}\s*=", text):
            names.update(_CONDITION.findall(text))
    return {name: MACRO_DEFAULTS[name].value for name, bare in missing.items() if bare in names}


def _list_missing(defined: Iterable[str]) -> dict[str, str]:
    """The macros of the table that are not defined, with their bare names."""
    known = set(map(_bare, defined))
    return {name: bare for name in MACRO_DEFAULTS if (bare := _bare(name)) not in known}


def _bare(name: str) -> str:
    """The name of a macro without its parameters."""
    return name.partition("(")[0]


# --- Causes ---------------------------------------------------------------------------------------
# Why kernels do not compile, counted: messages without what differs from kernel to kernel.

_PART = re.compile(r"'[^']*'|\"[^\"]*\"|\b\d+\b")
"""A name or a number in a message."""
_MOST_NAMES = 3


class _Cause:
    """A message that several kernels have, but for its names and numbers."""

    def __init__(self) -> None:
        """No kernel has it yet."""
        self.parts = list[list[str]]()
        """The names and numbers of each message, in order."""

    def text(self, bare: str) -> str:
        """The message with the parts that all kernels agree in, and the most frequent names."""
        columns = [list(each) for each in zip(*self.parts, strict=True)]
        parts = iter(columns)

        def fill(found: re.Match[str]) -> str:
            values = next(parts)
            if len({*values}) == 1:
                return values[0]
            return "N" if found[0].isdigit() else found[0]

        shown = _PART.sub(fill, bare)
        varied = next((each for each in columns if len({*each}) > 1), None)
        return shown if varied is None else f"{shown} ({_list_names(varied)})"


def _list_names(parts: list[str]) -> str:
    counts = Counter(each.strip("'\"") for each in parts)
    ordered = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
    shown = [name if count == 1 else f"{name} x{count}" for name, count in ordered[:_MOST_NAMES]]
    return ", ".join(shown) + (", ..." if ordered[_MOST_NAMES:] else "")


def find_cause(message: str) -> tuple[str, list[str]]:
    """A message without its names, numbers and advice; the names and numbers that it had."""
    parts = list[str]()

    def cut(found: re.Match[str]) -> str:
        parts.append(found[0])
        return "0" if found[0].isdigit() else "'...'"

    bare = _PART.sub(cut, message.partition("\n")[0]).partition("; ")[0]
    return bare, parts[: len(_PART.findall(bare))]


def summarize(messages: Iterable[str], num_kernels: int) -> str:
    """How many kernels compile, and what is wrong with how many of the others."""
    causes = dict[str, _Cause]()
    for message in messages:
        bare, parts = find_cause(message)
        causes.setdefault(bare, _Cause()).parts.append(parts)
    failed = sum(len(each.parts) for each in causes.values())
    ordered = sorted(causes.items(), key=lambda each: (-len(each[1].parts), each[0]))
    noun = "kernel compiles" if num_kernels == 1 else "kernels compile"
    lines = [f"{num_kernels - failed} of {num_kernels} {noun}"]
    lines += [f"{len(cause.parts):6} {cause.text(bare)}" for bare, cause in ordered]
    return "\n".join(lines)


# --- Checking -------------------------------------------------------------------------------------

MAX_ERRORS = 20
"""How many errors of a kernel are shown."""


@dataclass(frozen=True, kw_only=True)
class CheckOptions:
    """What kernels are compiled with."""

    role: KernelRole | None = None
    """None: what each of them looks like."""
    board: str = "n150"
    include_folders: tuple[str, ...] = ()
    home: str = ""
    """The root of a tree of tt-metal, where headers are looked for last."""
    defines: Mapping[str, str] = field(default_factory=dict[str, str])
    compile_time_args: tuple[int, ...] = ()
    named_compile_time_args: Mapping[str, int] = field(default_factory=dict[str, int])
    release: Release | None = None
    """The state of tt-metal whose meaning calls have; None: as each kernel's headers say."""


@dataclass(frozen=True, kw_only=True)
class KernelMistake:
    """Something that is wrong with a kernel."""

    message: str
    position: Position
    """Perhaps in a header."""
    text: str
    """The message as compilers print it."""
    processors: tuple[str, ...]
    """Those of the kernel's processors for which it is wrong."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What became of a kernel."""

    file: str
    role: KernelRole | None
    """None if the file could not be read."""
    seconds: float
    message: str = ""
    """What is wrong first; empty if nothing is."""
    text: str = ""
    """All messages as compilers print them."""
    mistakes: tuple[KernelMistake, ...] = ()
    """What is wrong in the text; none if it could not be read."""
    assumed: AssumedArguments = field(default_factory=AssumedArguments)
    """Compile-time arguments that the kernel asked for and that were not given."""
    assumed_macros: Mapping[str, str] = field(default_factory=dict[str, str])
    """Macros that the kernel needs and that were not given."""
    warnings: tuple[str, ...] = ()
    """What is no error, as compilers print it; of kernels that compile."""

    @property
    def compiles(self) -> bool:
        """Whether nothing is wrong."""
        return not self.message


@without_collections()
@freed_afterwards()
def check_kernel(path: str, options: CheckOptions) -> Verdict:
    """Compile a kernel for all its processors; up to `MAX_ERRORS` errors are what is wrong.

    Circular buffers have tiles of bf16, compile-time arguments beyond those in the options are the
    first of `ASSUMED_ARGUMENTS` that makes nothing wrong, and macros that are missing as
    `MACRO_DEFAULTS` says.
    """
    start = time.perf_counter()
    role = options.role
    try:
        text = read_kernel(path)
        role = role or find_role(text, path)
        return _check_text(text, path, role, options, start)
    except KernelToolError as error:
        show_cause(error)
        message = str(error).partition(": error: ")[2]
        seconds = time.perf_counter() - start
        return Verdict(file=path, role=role, seconds=seconds, message=message, text=str(error))
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        # One such kernel must not keep the others of a folder from being checked.
        message = f"internal error: {type(error).__name__}: {error}"
        note = "note: this is a mistake in ttmlir, not in the kernel"
        return Verdict(
            file=path,
            role=role,
            seconds=time.perf_counter() - start,
            message=message,
            text=f"{path}: error: {message}\n{note}; {DEBUG_VARIABLE}=1 shows the traceback",
        )


def _check_text(
    text: str, path: str, role: KernelRole, options: CheckOptions, start: float
) -> Verdict:
    compilation = _compile_text(text, path, role, options, ASSUMED_ARGUMENTS[0])
    if compilation.has_assumed_wrongly:
        others = (
            _compile_text(text, path, role, options, number, compilation)
            for number in ASSUMED_ARGUMENTS[1:]
            if not compilation.is_certainly_wrong
        )
        right = next((each for each in others if not each.errors), None)
        compilation = right or _complete(compilation)
    mistakes = compilation.list_mistakes()
    for each in compilation.causes:
        show_cause(each)
    macros = _sort_macros(compilation.macros, text)
    return Verdict(
        file=path,
        role=role,
        seconds=time.perf_counter() - start,
        message=mistakes[0].message if mistakes else "",
        text="\n".join((*(each.text for each in mistakes), *_note_macros(macros))),
        mistakes=tuple(mistakes),
        assumed=compilation.assumed,
        assumed_macros=macros,
        warnings=() if mistakes else tuple(compilation.list_warnings()),
    )


def _compile_text(
    text: str,
    path: str,
    role: KernelRole,
    options: CheckOptions,
    number: int,
    before: _Compilation | None = None,
) -> _Compilation:
    """Compile with the macros that are missing, and with a number for missing arguments.

    It ends with the processor for which something is wrong that another number may make right.
    After a compilation with another number, one mistake is enough, and is looked for where that had
    one; its macros are missing from the start, and what differs for the processors is compiled for
    each of them.
    """
    macros = dict[str, str]() if before is None else dict(before.macros)
    while True:
        compilation = _Compilation(text, path, role, options, macros, number)
        if before is None:
            compilation.run(MAX_ERRORS)
        else:
            compilation.differs = before.differs
            compilation.run(1, first=before.errors)
        if not compilation.missing:
            return compilation
        macros |= compilation.missing


def _complete(compilation: _Compilation) -> _Compilation:
    """A compilation for all processors, whatever is wrong for some of them."""
    while True:
        compilation.complete(MAX_ERRORS)
        if not compilation.missing:
            return compilation
        compilation = compilation.with_missing()


def _sort_macros(macros: Mapping[str, str], text: str) -> dict[str, str]:
    """Macros in the order of the text; those that only headers have come last, as in the table."""
    places = {word: place for place, word in reversed([*enumerate(_WORD.findall(text))])}
    table = list(MACRO_DEFAULTS)
    ordered = sorted(
        macros, key=lambda name: (places.get(_bare(name), len(text)), table.index(name))
    )
    return {name: macros[name] for name in ordered}


def _note_macros(macros: Mapping[str, str]) -> Iterator[str]:
    if macros:
        listed = ", ".join(f"{name}={value}".rstrip("=") for name, value in macros.items())
        yield f"note: macros that are not given are taken as {listed}"


class _Compilation:
    """A kernel for all processors of its role."""

    def __init__(
        self,
        text: str,
        path: str,
        role: KernelRole,
        options: CheckOptions,
        macros: Mapping[str, str],
        number: int,
    ) -> None:
        """`macros` are those that are assumed, `number` what arguments are taken as."""
        self.text = text
        self.path = path
        self.role = role
        self.options = options
        self.macros = dict(macros)
        self.defines = {**options.defines, **macros}
        self.undefined = frozenset(_list_missing(self.defines).values())
        """The macros of the table that are not defined."""
        self.assumed = AssumedArguments(number)
        """The arguments that the kernel lacks."""
        self.errors: dict[Role, list[CppSyntaxError]] = {}
        """What is wrong for the processors for which something is."""
        self.causes: list[CppSyntaxError] = []
        """The errors that the mistakes are made of."""
        self.has_assumed_wrongly = False
        """Whether something is wrong in a kernel with assumed arguments."""
        self.is_certainly_wrong = False
        """Whether no other numbers would make it right."""
        self.missing: dict[str, str] = {}
        """Macros without which it has to be compiled anew, with their defaults."""
        self.differs = False
        """Whether one compilation for all processors cannot say what is wrong."""
        self._rest: list[Role] = []
        """The processors for which it is not compiled yet."""
        self._warnings: dict[Role, list[str]] = {}
        """What is no error, for each processor or all of them."""

    def run(self, limit: int, first: Collection[Role] = ()) -> None:
        """Find what is wrong, up to so many errors for a processor: see `_compile_text`."""
        processors = self.role.processors
        common = self._find_common_errors(limit)
        if common:
            self._add(dict.fromkeys(processors, common))
        elif common is None and not self.missing:
            self._rest = sorted(processors, key=lambda each: (each not in first, each != Role.MATH))
            while self._rest and not self.missing and not self.has_assumed_wrongly:
                self._compile_next(limit)
                if self.errors and limit == 1:
                    break

    def complete(self, limit: int) -> None:
        """Find what is wrong for the other processors."""
        while self._rest and not self.missing:
            self._compile_next(limit)

    def with_missing(self) -> _Compilation:
        """What is to be compiled with the macros that are missing, for each processor."""
        macros = self.macros | self.missing
        number = self.assumed.number
        made = _Compilation(self.text, self.path, self.role, self.options, macros, number)
        made.differs = True
        made._rest = list(self.role.processors)
        return made

    def list_mistakes(self) -> list[KernelMistake]:
        """What is wrong, as far as it is shown, in the order of the processors."""
        found = dict[tuple[Position, str], list[tuple[Role, CppSyntaxError]]]()
        for processor in self.role.processors:
            for each in self.errors.get(processor, ()):
                found.setdefault((each.position, each.message), []).append((processor, each))
        kept = list(found.values())[:MAX_ERRORS]
        self.causes = [each[0][1] for each in kept]
        return [self._describe(each) for each in kept]

    def list_warnings(self) -> list[str]:
        """What is no error, each once."""
        roles = (*self.role.processors, Role.COMPUTE)
        return list(dict.fromkeys(text for each in roles for text in self._warnings.get(each, ())))

    def _compile_next(self, limit: int) -> None:
        processor = self._rest.pop(0)
        errors = self._find_errors(processor, limit)
        if errors:
            self._add({processor: errors})

    def _add(self, errors: Mapping[Role, list[CppSyntaxError]]) -> None:
        """Add what is wrong for some processors."""
        self.errors |= errors
        every = [each for some in self.errors.values() for each in some]
        self.is_certainly_wrong = any(each.is_certain for each in every)
        self.has_assumed_wrongly = any(is_note_of_assumed(n) for each in every for n in each.notes)
        self._find_missing(every)

    def _find_missing(self, errors: Iterable[CppSyntaxError]) -> None:
        self.missing = find_missing_macros(self.text, errors, self.defines)

    def _asks_for_macro(self, message: str) -> bool:
        """Whether an error has the kernel compiled anew: what else is wrong does not matter."""
        undeclared = _UNDECLARED.match(message)
        return undeclared is not None and undeclared[1] in self.undefined

    def _describe(self, found: list[tuple[Role, CppSyntaxError]]) -> KernelMistake:
        """An error that several processors may have."""
        error = found[0][1]
        names = tuple(processor.name or "" for processor, _ in found)
        if len(names) < len(self.role.processors):
            error = error.with_notes(f"compiled for {' and '.join(names)}")
        return KernelMistake(
            message=error.message, position=error.position, text=str(error), processors=names
        )

    def _find_common_errors(self, limit: int) -> list[CppSyntaxError] | None:
        """What one compilation finds for all processors; None if that cannot be said."""
        if self.differs or len(self.role.processors) == 1:
            return None
        try:
            errors = self._find_errors(Role.COMPUTE, limit)
        except DifferingError as error:
            self.differs = True
            # What some of them miss makes them differ only until it is there.
            self._find_missing(each for each in error.others if not is_of_some(each))
            return None
        if self._warnings.pop(Role.COMPUTE, None):
            return None
        return errors

    def _find_errors(self, processor: Role, limit: int) -> list[CppSyntaxError]:
        """What is wrong for a processor, up to so many errors."""
        try:
            self._compile(processor, limit)
        except DifferingError:
            raise
        except CppSyntaxError as error:
            return [error, *error.others]
        return []

    def _compile(self, processor: Role, error_limit: int) -> None:
        options = self.options
        compiled = compile_kernel(
            self.text,
            self.path,
            processor,
            api=_APIS.get(processor, FabricApi),
            defines=self.defines,
            compile_time_args=options.compile_time_args,
            named_compile_time_args=options.named_compile_time_args,
            arch_macro=_chip(options.board).spec.macro,
            build=_build(options.board, self.role, processor),
            include_path=IncludePath.of_kernel(self.path, options.include_folders, options.home),
            assume_arguments=self.assumed.number,
            release=options.release,
            error_limit=error_limit,
            ends=self._asks_for_macro,
        )
        if compiled.assumed is not None:
            self.assumed.positions |= compiled.assumed.positions
            self.assumed.names |= compiled.assumed.names
        self._warnings[processor] = list(map(str, compiled.warnings))


@cache
def _chip(board: str) -> SimChip:
    return SimChip.of_board(board)


_APIS = {**COMPUTE_APIS, Role.COMPUTE: tuple(COMPUTE_APIS.items())}


@cache
def _build(board: str, role: KernelRole, processor: Role) -> Build:
    if processor is Role.COMPUTE:
        builds = [_build(board, role, each) for each in role.processors]
        macros = join_macros([dict(each.macros) for each in builds])
        return replace(builds[0], macros=tuple(macros.items()))
    formats = dict.fromkeys(range(COUNT), DataType.BF16)
    return build_facts_of_chip(
        _chip(board), formats, processor, settings=ComputeSettings(), noc_index=role.noc_index
    )
