"""C++ kernels to generators of Python: see `compile_kernel`."""

from __future__ import annotations

import ast
import dataclasses
import os
import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import CodeType
from typing import TypeAlias, cast

from ttmlir.collector import without_collections
from ttmlir.cpp import tree
from ttmlir.cpp.errors import (
    CppSyntaxError,
    CppWarning,
    DifferingError,
    ErrorList,
    SourceMap,
    TooManyErrorsError,
    map_of,
)
from ttmlir.cpp.include_path import IncludePath, Lookup, find_built_in_header
from ttmlir.cpp.parse import parse
from ttmlir.cpp.preprocess import ARGUMENT_CALL, ARGUMENT_MACRO, join_macros
from ttmlir.cpp.standard_headers import (
    find_standard_header,
    is_own_text,
    read_standard_header,
)
from ttmlir.cpp.tokens import SOME_PROCESSORS
from ttmlir.cpp.tree import Include
from ttmlir.cpp.types import PointerType, QualifiedType, SignatureType
from ttmlir.layout.system import WORMHOLE
from ttmlir.nesting import deep_recursion
from ttmlir.optable.kernel import CALLS, Role
from ttmlir.optable.kernel.releases import Release, find_release
from ttmlir.sim.kernels.build import AssumedArguments, Build
from ttmlir.sim.kernels.class_templates import find_templated_type
from ttmlir.sim.kernels.classes import define_outside
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.function_pointers import add_dispatchers
from ttmlir.sim.kernels.expressions.lvalues import (
    evaluate_constant,
    find_reference_of,
    is_function,
    look_at,
)
from ttmlir.sim.kernels.expressions.signatures import find_signature, find_type_of
from ttmlir.sim.kernels.expressions.static_functions import check_static_functions
from ttmlir.sim.kernels.functions import compile_entry
from ttmlir.sim.kernels.handlers import HANDLERS
from ttmlir.sim.kernels.library import JoinedLibrary, KernelApi, Library
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import (
    FAULTS,
    NAMES,
    STEP,
    THREAD,
    clock_costs,
    find_forbidden,
    is_wait,
    translate_fault,
)
from ttmlir.sim.kernels.python.runtime import checked_load, checked_store
from ttmlir.sim.kernels.scope import (
    ClassTemplate,
    Functions,
    Scope,
    list_declared_names,
    list_used_names,
)
from ttmlir.sim.kernels.templates import refuse_repeated
from ttmlir.sim.kernels.unit import Unit
from ttmlir.sim.kernels.unknown_names import find_unknown_names
from ttmlir.sim.kernels.unused import check_unused
from ttmlir.sim.kernels.value import Value
from ttmlir.sim.sources import KernelSources

# --- Missing headers ------------------------------------------------------------------------------
# Headers that were not found, and calls of compute kernels whose header is not included.
#
# The simulator knows all calls; a compiler for the chip knows those of the headers that are
# included. Headers of tt-metal include each other, at different times in different ways, so a
# warning is given only where no header is included that could have brought the call at any time.
# Kernels that move data have their calls without any header: what is around the text of a kernel
# includes it.

_COMPUTE = "compute_kernel_api"

_WITH_ALL = frozenset(
    f"{_COMPUTE}/{name}.h"
    for name in ("cb_api", "common", "compute_kernel_hw_startup", "pack", "reconfig_data_format")
) | {f"{_COMPUTE}/reg_api.h"}
"""Headers that all others for compute kernels include."""
_WITH_MANY = frozenset((f"{_COMPUTE}.h",))
"""Headers that include more than the table of calls says."""


def find_missing_headers(unit: Unit) -> Iterator[CppWarning]:
    """A warning for each header that was not found, or that calls need and that is not included."""
    yield from unit.inclusions.find_unfound_headers()
    yield from _find_calls_without_header(unit)


def _find_calls_without_header(unit: Unit) -> Iterator[CppWarning]:
    """A warning for each header that declares calls of the kernel, at the first of them."""
    if unit.inclusions.missing or not unit.library.role & Role.COMPUTE:
        return
    included = {each for each in _names(unit.inclusions.includes) if each.startswith(_COMPUTE)}
    if included & _WITH_MANY or included - _headers().keys():
        return
    headers = _headers_of_calls()
    named = set[str]()
    bound = set(unit.bindings.values())
    # In the order in which they are compiled.
    for call, node in unit.calls.items():
        header, position = headers.get(call, ""), node.position
        is_there = header in included or (header in _WITH_ALL and included)
        if call not in bound or not header or header in named or is_there or position is None:
            continue
        named.add(header)
        message = f"'{call}' is declared in '{header}', which this kernel does not include"
        yield CppWarning(message, position, unit.inclusions.line(position))


def _names(includes: Collection[Include]) -> Iterator[str]:
    """The names of the headers that are included, as the table of calls has them."""
    for each in includes:
        known = find_built_in_header(each.path)
        yield each.path if known is None else known.name


@cache
def _headers() -> dict[str, frozenset[str]]:
    """The headers for compute kernels, and the calls that each of them declares."""
    definitions = [definition for definition in CALLS if definition.header.startswith(_COMPUTE)]
    names = {definition.header for definition in definitions} | _WITH_ALL
    return {
        name: frozenset(definition.cpp for definition in definitions if definition.header == name)
        for name in sorted(names)
    }


@cache
def _headers_of_calls() -> dict[str, str]:
    """The header that declares each call."""
    return {call: name for name, calls in _headers().items() for call in calls}


# --- Turns ----------------------------------------------------------------------------------------
# Makes loops count their iterations, so that a kernel that never ends is stopped.

_FEW = 64
"""Turns that are known beforehand and not worth counting."""
_WITH_STATEMENTS = ("body", "orelse", "handlers", "finalbody")
"""The fields of statements that hold others."""


class TurnCounter(ast.NodeTransformer):
    """Lets the API count the iterations of loops: by `limited(range)`, or `iterations()`."""

    def __init__(self, unit: Unit) -> None:
        """Bind the calls in a unit where they are needed."""
        self.unit = unit

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Look at the statements inside: expressions hold no loops."""
        for name in _WITH_STATEMENTS:
            statements: list[ast.AST] | None = getattr(node, name, None)
            if statements:
                statements[:] = [self.visit(each) for each in statements]
        return node

    def visit_For(self, node: ast.For) -> ast.For:
        """`for i in range(n)` becomes `for i in limited(range(n))`."""
        self.generic_visit(node)
        if not _is_short(node.iter):
            node.iter = code.call(self.unit.bind("limited"), node.iter)
        return node

    def visit_While(self, node: ast.While) -> ast.While | ast.For:
        """`while test` becomes `for _ in iterations()`, left when the test fails."""
        if is_wait(node):
            return node
        self.generic_visit(node)
        body = node.body
        if not isinstance(node.test, ast.Constant):
            leave = ast.If(code.negation(node.test), [ast.Break()], [])
            body = [ast.copy_location(leave, node.test), *body]
        loop = ast.For(
            ast.Name("_", ast.Store()), code.call(self.unit.bind("iterations")), body, []
        )
        return ast.copy_location(loop, node)


def _is_short(numbers: ast.expr) -> bool:
    if not isinstance(numbers, ast.Call):
        return False
    ends = [each.value for each in numbers.args if isinstance(each, ast.Constant)]
    known = [each for each in ends if isinstance(each, int)]
    return len(known) == len(numbers.args) and len(range(*known)) <= _FEW


# --- Compiler -------------------------------------------------------------------------------------

_MACROS = {
    Role.BRISC: "COMPILE_FOR_BRISC",
    Role.NCRISC: "COMPILE_FOR_NCRISC",
    Role.UNPACK: "TRISC_UNPACK",
    Role.MATH: "TRISC_MATH",
    Role.PACK: "TRISC_PACK",
}
_UNITS = {
    Role.UNPACK: "UCK_CHLKC_UNPACK",
    Role.MATH: "UCK_CHLKC_MATH",
    Role.PACK: "UCK_CHLKC_PACK",
}
"""What the build calls the threads of compute kernels."""
_DEBUGGING = (
    *("DeviceZoneScopedN(x)", "DeviceZoneScopedMainN(x)", "DeviceZoneScopedMainChildN(x)"),
    *("DeviceZoneScopedSumN1(x)", "DeviceZoneScopedSumN2(x)", "DeviceTimestampedData(id, value)"),
    *("DeviceRecordEvent(id)", "DeviceValidateProfiler(x)", "DeviceIncrementTraceCount()"),
    *("StartPerfCounters()", "StopPerfCounters()", "WAYPOINT(x)"),
    *("WATCHER_RING_BUFFER_PUSH(x)", "PAUSE()"),
)
"""Macros of the profiler and the watcher, which do nothing unless these are switched on."""

_CHECKING = {"LLK_ASSERT(condition, message)": "ASSERT(condition)"}
"""Macros that check something, as others do."""

_VECTOR_MACROS = {
    "v_if(x)": "{ sfpi::begin_if(x);",
    "v_elseif(x)": "sfpi::begin_else(); sfpi::begin_elseif(x);",
    "v_else": "sfpi::begin_else();",
    "v_endif": "sfpi::end_if(); }",
    "v_block": "{ sfpi::begin_block();",
    "v_endblock": "sfpi::end_if(); }",
    "v_and(x)": "sfpi::narrow(x)",
    "sfpi_inline": "inline",
    "TTI_NOP": "",
    "TTI_SFPNOP": "",
}
"""What sfpi.h and the instructions define, which all headers of compute kernels include."""

_ENTRY = "_kernel"
_MOST_ASSUMED = 64
"""So many compile-time arguments that nobody gave are known to conditions of the preprocessor."""
_NO_FACTS = Build()
Api: TypeAlias = "type[KernelApi] | tuple[tuple[Role, type[KernelApi]], ...]"
"""What a kernel runs against; for each of several roles if it is only checked."""
_OWN_HEADERS = IncludePath()


@dataclass(frozen=True)
class CompiledKernel:
    """A kernel that can be started on any number of cores."""

    file: str
    module: ast.Module = dataclasses.field(repr=False, compare=False)
    """What it was compiled to."""
    bytecode: CodeType
    bindings: Mapping[str, str] = dataclasses.field(compare=False)
    """The variables of the code that hold what the API gives, with the names of these."""
    sources: KernelSources = dataclasses.field(repr=False, compare=False)
    """The texts that it was made of, and where the lines of the code are in them."""
    lookups: tuple[Lookup, ...] = dataclasses.field(repr=False, compare=False)
    """The headers that were looked for."""
    warnings: tuple[CppWarning, ...] = dataclasses.field(repr=False, compare=False)
    """What may go wrong elsewhere."""
    assumed: AssumedArguments | None = dataclasses.field(default=None, repr=False, compare=False)
    """The compile-time arguments that it lacks, if they were not to be errors."""

    @cached_property
    def python(self) -> str:
        """The code as text, for who wants to look."""
        return ast.unparse(self.module)

    @cached_property
    def _make(self) -> Callable[..., Generator[None, None, None]]:
        """What starts it, given its bindings: a call makes all its variables anew."""
        return self._define({})

    def _define(self, replaced: Mapping[str, object]) -> Callable[..., Generator[None, None, None]]:
        names: dict[str, object] = {"__builtins__": {}, **NAMES, **replaced}
        exec(self.bytecode, names)
        return cast("Callable[..., Generator[None, None, None]]", names[_ENTRY])

    def start(
        self, api: KernelApi, names: Mapping[str, object] | None = None
    ) -> Generator[None, None, None]:
        """The running kernel; each `yield` is a wait. `api` is of the class it was compiled for.

        Undefined behaviour of the C++ raises SimError with the place in the source. `names` replace
        some of the helpers that the code uses, for kernels that run for several cores at once.
        """
        bound = {variable: _bound(api, name) for variable, name in self.bindings.items()}
        make = self._make if names is None else self._define(names)
        try:
            return make(**bound)
        except FAULTS as error:
            # Initial values of variables around the functions.
            inside = error.__traceback__ and error.__traceback__.tb_next
            raise translate_fault(error.with_traceback(inside), bound[THREAD]) from None


def _bound(api: KernelApi, name: str) -> object:
    """What an API gives under a name that its compiler took from the table of calls."""
    given: object = getattr(api, name)
    match name:
        case "load":
            return checked_load(cast("Callable[[int, int, bool], int]", given))
        case "store":
            return checked_store(cast("Callable[[int, int, int], object]", given))
        case _:
            return given


def compile_kernel(
    text: str,
    file: str,
    role: Role,
    *,
    api: Api,
    defines: Mapping[str, str] | None = None,
    compile_time_args: Sequence[int] = (),
    named_compile_time_args: Mapping[str, int] | None = None,
    arch_macro: str = WORMHOLE.macro,
    build: Build = _NO_FACTS,
    include_path: IncludePath = _OWN_HEADERS,
    timed: bool = False,
    assume_arguments: int | None = None,
    release: Release | None = None,
    error_limit: int | None = None,
    ends: Callable[[str], bool] | None = None,
) -> CompiledKernel:
    """Compile a kernel for one processor, or check it for several.

    `api` is the class that the kernel will run against; with several roles it has one for each, and
    what is compiled is not to be started; without errors and warnings there are none for any of
    the roles, errors are those of all of them, and DifferingError says that it takes a compilation
    for each of them to know. `defines` are macros, `arch_macro` is that of the generation of chips,
    `build` what the build knows; headers are read along `include_path`, by default the package's
    own only; with `timed` the kernel adds the cycles of its own instructions to
    `api.thread.clock`; with a number in `assume_arguments`, it is taken for compile-time arguments
    that are missing (`AssumedArguments`), for kernels that never run; calls have the meaning of a
    `release`, by default that of the headers that the kernel names, and layouts of tensors the
    words that host programs of a release that is given pass. A text with a map is known by the
    positions that its lines come from, in `file`. Raises CppSyntaxError for whatever is wrong with
    the text, with up to `error_limit` errors, none after one whose message `ends`; without a limit
    what is wrong with headers is an error only where it is used. Results without a limit are kept:
    the same kernel compiles once, unless a header has changed.
    """
    options = _Options(
        text=text,
        file=file,
        role=role,
        api=api,
        defines=tuple(sorted((defines or {}).items())),
        compile_time_args=tuple(compile_time_args),
        named_compile_time_args=tuple(sorted((named_compile_time_args or {}).items())),
        arch_macro=arch_macro,
        build=build,
        include_path=include_path,
        source_map=map_of(text),
        timed=timed,
        assume_arguments=assume_arguments,
        release=release,
    )
    if error_limit is not None:
        return _compile_whole(options, ErrorList(error_limit, ends))
    nameless = dataclasses.replace(options, file="") if _has_free_name(options) else options
    known = _COMPILED.get(options) or _COMPILED.get(nameless)
    if known is not None and known.file != file and not _is_movable(known):
        known = None
    if known is None or not all(each.is_current(include_path) for each in known.lookups):
        known = _compile(options)
    elif known.file != file:
        known = _renamed(known, file)
    for each in (nameless, options):
        _COMPILED[each] = known
        _COMPILED.move_to_end(each)
    while len(_COMPILED) > _MAX_KEPT:
        _COMPILED.popitem(last=False)
    return known


@dataclass(frozen=True, kw_only=True)
class _Options:
    """What a kernel is compiled from, apart from its headers."""

    text: str
    file: str
    role: Role
    api: Api
    defines: tuple[tuple[str, str], ...]
    compile_time_args: tuple[int, ...]
    named_compile_time_args: tuple[tuple[str, int], ...]
    arch_macro: str
    build: Build
    include_path: IncludePath
    source_map: SourceMap | None
    timed: bool
    assume_arguments: int | None
    release: Release | None


_COMPILED = OrderedDict[_Options, CompiledKernel]()
"""By the options, and by the options without the name of the file."""
_MAX_KEPT = 512


_MACRO_OF_FILE = re.compile("__FILE__|##")
"""What may stand for the name of the file, if its parts are put together."""


def _has_free_name(options: _Options) -> bool:
    """Whether a kernel is the same whatever its file is called, as far as can be told beforehand.

    Programs often have one text under several names, such as those of the readers of two inputs.
    """
    texts = (options.text, *(value for _, value in options.defines))
    return (
        options.source_map is None
        and options.assume_arguments is None
        and not is_own_text(options.file)
        and not any(map(_MACRO_OF_FILE.search, texts))
    )


def _is_movable(kernel: CompiledKernel) -> bool:
    """Whether nothing but places in its code tells what the file of a kernel is called."""
    texts = kernel.sources.inclusions.texts.values()
    return not kernel.warnings and not any("__FILE__" in each for each in texts)


def _renamed(kernel: CompiledKernel, file: str) -> CompiledKernel:
    """A kernel as it is compiled from the same text in another file."""
    return dataclasses.replace(
        kernel,
        file=file,
        bytecode=_renamed_code(kernel.bytecode, file),
        sources=kernel.sources.renamed(file),
    )


def _renamed_code(bytecode: CodeType, file: str) -> CodeType:
    constants = tuple(
        _renamed_code(each, file) if isinstance(each, CodeType) else each
        for each in bytecode.co_consts
    )
    return bytecode.replace(co_filename=file, co_consts=constants)


_ARGUMENT_CONDITION = re.compile(
    rf"^\s*#\s*(?:el)?if\b.*\b(?:{ARGUMENT_MACRO}|{ARGUMENT_CALL}\b)", re.MULTILINE
)
"""A condition of the preprocessor that depends on a compile-time argument."""


def _compile_whole(options: _Options, errors: ErrorList) -> CompiledKernel:
    """A kernel in which statements that are wrong do not end the compilation.

    Raises the first error, with the others.
    """
    compiled: CompiledKernel | None = None
    try:
        compiled = _compile(options, errors)
    except DifferingError:
        raise
    except CppSyntaxError as error:
        # A kernel that is too large may have no other error.
        if not (errors.errors and isinstance(error, TooManyErrorsError)):
            errors.errors.append(error)
    except Exception:
        # What is left of a wrong kernel may be anything.
        if not errors.errors or os.environ.get("TTMLIR_DEBUG"):
            raise
    if errors.errors:
        first, *others = errors.errors
        first.others = tuple(others)
        first.is_certain = errors.is_certain and not _ARGUMENT_CONDITION.search(options.text)
        raise first
    assert compiled is not None
    return compiled


@without_collections()
def _compile(options: _Options, errors: ErrorList | None = None) -> CompiledKernel:
    role, file, source_map = options.role, options.file, options.source_map
    defines = dict(options.defines)
    macros = role_macros(role, options.arch_macro) | dict(options.build.macros) | defines
    arguments = options.compile_time_args
    if options.assume_arguments is not None:
        arguments += (options.assume_arguments,) * (_MOST_ASSUMED - len(arguments))
    for number, value in enumerate(arguments):
        macros[f"{ARGUMENT_MACRO}{number}"] = f"{value}u"
    try:
        parsed = parse(
            options.text,
            file,
            defines=macros,
            include_path=options.include_path,
            source_map=source_map,
            errors=errors,
        )
    except CppSyntaxError as error:
        if role in _MACROS:
            raise
        # It may come from what only some of the processors read.
        raise DifferingError(error.message, error.position, error.line) from error
    return _compile_parsed(options, parsed, errors, frozenset())


def _compile_parsed(
    options: _Options,
    parsed: tree.TranslationUnit,
    errors: ErrorList | None,
    waiting: frozenset[str],
) -> CompiledKernel:
    """A kernel of which is known for which types of functions pointers point to waiting ones."""
    role, file, source_map = options.role, options.file, options.source_map
    defines = dict(options.defines)
    shown = options.text if source_map is None else source_map.text
    clock = clock_costs(options.arch_macro, role) if options.timed else None
    tiles = {
        index: (each.tile_size, each.data_format, each.tile_volume)
        for index, each in options.build.circular_buffers
    }
    if isinstance(options.api, tuple):
        library = JoinedLibrary(dict(options.api), tiles)
    else:
        library = Library(role, options.api, tiles)
    library.has_page_sizes = options.release is Release.LATE_2026
    unit = Unit(
        shown,
        file,
        parsed.includes,
        library,
        options.compile_time_args,
        clock,
        defines,
        _SERVICES,
        _assumed(options),
    )
    if source_map is not None:
        unit.sources.assertions = {
            (place.file, place.line, place.column): text for place, text in source_map.assertions
        }
    unit.named_compile_time_args = dict(options.named_compile_time_args)
    unit.build = options.build
    headers = (each.path for each in parsed.includes)
    unit.release = options.release or find_release(headers, options.text)
    unit.errors = errors
    unit.waiting_tags = waiting
    unit.differing = parsed.differing
    unit.runs = errors is None and not isinstance(options.api, tuple)
    try:
        compiled = _compile_unit(options, parsed, unit)
    except CppSyntaxError as error:
        _refuse_differing(unit, (*(errors.errors if errors is not None else ()), error))
        raise
    _refuse_differing(unit, errors.errors if errors is not None else ())
    if compiled is not None:
        return compiled
    return _compile_parsed(options, parsed, errors, unit.found_waiting)


def _refuse_differing(unit: Unit, errors: Sequence[CppSyntaxError]) -> None:
    """Raise DifferingError if errors of some of several roles may not be those of the others."""
    if not isinstance(unit.library, JoinedLibrary):
        return
    found = any(is_of_some(each) or each.position in unit.differing for each in errors)
    if unit.library.differs or found or (errors and unit.library.is_uneven):
        position = tree.Position(unit.file, 1, 1)
        differing = DifferingError("the processors differ in this kernel", position, "")
        differing.others = tuple(errors)
        raise differing


def is_of_some(error: CppSyntaxError) -> bool:
    """Whether an error is about what stands for texts of some of several processors."""
    return SOME_PROCESSORS in error.message


def _compile_unit(
    options: _Options, parsed: tree.TranslationUnit, unit: Unit
) -> CompiledKernel | None:
    """A kernel; None if it has to be compiled anew with what was found to wait."""
    errors, role = unit.errors, options.role
    with deep_recursion():
        try:
            declare_items(unit, parsed.items, unit.root, "")
            entry, scope = _entry_function(unit, parsed, role)
            if errors is not None and not errors.errors:
                # What has it compiled anew is found before all that would be in vain.
                with unit.library.asking_only():
                    errors.end_with(find_unknown_names(Context(unit, scope, HANDLERS), entry))
            module = _module(unit, entry, scope)
            if unit.runs:
                _refuse_forbidden(unit, module)
            bytecode = compile(module, unit.file, "exec")
        except (RecursionError, SyntaxError):
            place = unit.last or parsed
            raise unit.error(place, "the kernel is nested too deeply around this") from None
        except CppSyntaxError as error:
            note = "" if unit.assumed is None else unit.assumed.describe()
            full = isinstance(error, TooManyErrorsError)
            raise error.with_notes(note) if note and not full else error from None
        finally:
            if errors is not None and unit.assumed is not None:
                errors.add_note(unit.assumed.describe())
    if unit.found_waiting != unit.waiting_tags and not (errors is not None and errors.errors):
        return None
    made = CompiledKernel(
        unit.file,
        module,
        bytecode,
        dict(unit.bindings),
        unit.sources,
        parsed.lookups,
        tuple(find_missing_headers(unit)),
        unit.assumed,
    )
    with deep_recursion():
        check_unused(unit, HANDLERS)
    return made


def _assumed(options: _Options) -> AssumedArguments | None:
    number = options.assume_arguments
    return None if number is None else AssumedArguments(number)


def role_macros(role: Role, arch_macro: str) -> dict[str, str]:
    """The macros that the headers of the kernel library define for a processor of a generation.

    For several processors they are joined.
    """
    if role not in _MACROS:
        return join_macros([role_macros(each, arch_macro) for each in _MACROS if each in role])
    macros = {_MACROS[role]: "1", "KERNEL_BUILD": "1", arch_macro: "1"}
    macros |= {_UNITS[role]: "1"} if role in _UNITS else {}
    macros |= dict.fromkeys(_DEBUGGING, "") | _CHECKING
    for name, own in (("UNPACK", Role.UNPACK), ("MATH", Role.MATH), ("PACK", Role.PACK)):
        shown = "x" if own == role else ""
        macros[f"{name}(x)"] = shown
        macros[f"DPRINT_{name}(x)"] = shown
    for name, own in (("DPRINT_DATA0", Role.BRISC), ("DPRINT_DATA1", Role.NCRISC)):
        macros[f"{name}(x)"] = "x" if own == role else ""
    return macros | _VECTOR_MACROS if role in Role.COMPUTE else macros


def _refuse_forbidden(unit: Unit, module: ast.Module) -> None:
    found = find_forbidden(module, unit.bindings)
    if found is not None:
        position = tree.Position(*unit.sources.place(getattr(found, "lineno", 1)), 1)
        message = "this compiles to code that is not allowed, which is a defect of the simulator"
        raise unit.error(tree.Break(position=position), message)


class _Services:
    """What names of types need of the compiler."""

    def find_templated_type(
        self, unit: Unit, scope: Scope, node: tree.NamedType | tree.Name
    ) -> QualifiedType | None:
        """The type of a name with template arguments or within a type."""
        return find_templated_type(Context(unit, scope, HANDLERS), node)

    def find_decltype(self, unit: Unit, scope: Scope, node: tree.Decltype) -> QualifiedType:
        """The type of an expression, which is not evaluated."""
        context = Context(unit, scope, HANDLERS)
        written = node.expression
        with unit.looking():
            found = look_at(context, written)
            if not is_function(found.type) or not isinstance(found, Value):
                reference = find_reference_of(context, node)
                return QualifiedType(found.type, found.is_const, reference=reference)
        signature = find_type_of(context, found, written)
        is_address = isinstance(written, tree.Unary) and written.operator != "*"
        return QualifiedType(PointerType(signature) if is_address else signature)

    def find_count(self, unit: Unit, scope: Scope, node: tree.Expression) -> int:
        """The number of elements that an expression gives an array."""
        return evaluate_constant(Context(unit, scope, HANDLERS), node, "the size of an array")

    def find_signature(self, unit: Unit, scope: Scope, node: tree.FunctionOf) -> SignatureType:
        """The type of functions that is written."""
        return find_signature(Context(unit, scope, HANDLERS), node)

    def load_header(self, unit: Unit, namespace: str, name: str) -> bool:
        """Declare the standard header that declares a name, if it is not declared yet."""
        header = find_standard_header(namespace, name)
        if header is None or header in unit.headers:
            return False
        unit.headers.add(header)
        declare_items(unit, read_standard_header(header).items, unit.root, "")
        return True


_SERVICES = _Services()


# Items.


def declare_items(
    unit: Unit, items: Sequence[tree.Item], scope: Scope, path: str, *, in_header: bool = False
) -> None:
    """Make the names of a source known.

    What is wrong in a header is said where it is used.
    """
    for item in items:
        try:
            _declare_item(unit, item, scope, path, in_header)
        except CppSyntaxError as error:
            if unit.errors is not None and not in_header:
                unit.errors.add(error, list_used_names(item), list_declared_names(item))
                continue
            if not in_header:
                raise
            names = list_declared_names(item)
            for name in names:
                scope.symbols.pop(name, None)
            unit.unreadable |= dict.fromkeys(names, error)


def _declare_item(unit: Unit, item: tree.Item, scope: Scope, path: str, in_header: bool) -> None:
    match item:
        case tree.Include(header=header):
            if header is not None:
                declare_items(unit, header.items, scope, path, in_header=True)
        case tree.Unreadable(names=names, error=error):
            unit.add_unreadable(names, error)
        case tree.Namespace():
            _declare_namespace(unit, item, scope, path, in_header)
        case tree.Function():
            _declare_function(unit, item, scope)
        case (
            tree.Struct()
            | tree.UsingNamespace()
            | tree.NamespaceAlias()
            | tree.Binding()
            | tree.Declaration()
            | tree.Alias()
            | tree.UsingName()
            | tree.Enumeration()
            | tree.StaticAssert()
        ):
            Context(unit, scope, HANDLERS, in_function=False).execute(item)
        case _:
            pass


def _declare_namespace(
    unit: Unit, item: tree.Namespace, scope: Scope, path: str, in_header: bool
) -> None:
    if not item.name:
        declare_items(unit, item.items, scope, path, in_header=in_header)
        return
    full, inner = path, scope
    for name in item.name.split("::"):
        full = f"{full}::{name}".removeprefix("::")
        inner = unit.open_namespace(full, inner)
    declare_items(unit, item.items, inner, full, in_header=in_header)


def _declare_function(unit: Unit, item: tree.Function, scope: Scope) -> None:
    if item.scope is not None:
        define_outside(Context(unit, scope, HANDLERS), item)
        return
    known = scope.symbols.get(item.name)
    if isinstance(known, ClassTemplate) and item.definition is None:
        known.guides.append(replace(item, definition=tree.Block()))
        return
    if known is not None and not isinstance(known, Functions):
        raise unit.error(item, f"'{item.name}' is declared twice")
    before = known.definitions if known is not None else ()
    if item.specialized is not None:
        refuse_repeated(unit, item, before, scope)
    declared = next((each for each in before if _is_declaration_of(each, item)), None)
    if declared is not None:
        before = tuple(each for each in before if each is not declared)
        item = _take_defaults(item, declared)
    definitions = (*before, item)
    scope.symbols[item.name] = Functions(item.name, definitions, scope)
    unit.add_reference(item.name, item)


def _is_declaration_of(declared: tree.Function, item: tree.Function) -> bool:
    """Whether a function that was declared before is the one that is defined."""
    if declared.definition is not None or item.definition is None:
        return False
    pairs = list(zip(declared.parameters, item.parameters, strict=False))
    templates = list(zip(declared.template_parameters, item.template_parameters, strict=False))
    return (
        len(pairs) == len(declared.parameters) == len(item.parameters)
        and len(templates) == len(declared.template_parameters) == len(item.template_parameters)
        and all(a.type == b.type and a.is_pack == b.is_pack for a, b in pairs)
        and all((a.name, a.type, a.is_pack) == (b.name, b.type, b.is_pack) for a, b in templates)
        and declared.specialized == item.specialized
    )


def _take_defaults(item: tree.Function, declared: tree.Function) -> tree.Function:
    """A definition with the default arguments of its declaration."""
    return dataclasses.replace(
        item,
        parameters=tuple(
            dataclasses.replace(each, default=each.default or before.default)
            for each, before in zip(item.parameters, declared.parameters, strict=True)
        ),
        template_parameters=tuple(
            dataclasses.replace(each, default=each.default or before.default)
            for each, before in zip(
                item.template_parameters, declared.template_parameters, strict=True
            )
        ),
    )


def _entry_function(
    unit: Unit, parsed: tree.TranslationUnit, role: Role
) -> tuple[tree.Function, Scope]:
    """The function that a processor starts."""
    names = ("MAIN", "kernel_main") if role in Role.COMPUTE else ("kernel_main",)
    scopes = (unit.root, *unit.namespaces.values())
    for name in names:
        for scope in scopes:
            found = scope.symbols.get(name)
            if isinstance(found, Functions):
                defined = [each for each in found.definitions if each.definition is not None]
                if defined:
                    return _choose_entry(unit, defined), scope
    written = " or ".join(f"'void {each}{'' if each == 'MAIN' else '()'}'" for each in names)
    first = next((each for each in tree.walk(parsed.items) if each.position), parsed)
    marked = re.search(r"\bTT_KERNEL\b", unit.inclusions.texts[unit.file])
    hint = "; none is made for a TT_KERNEL, so write one that calls it" if marked else ""
    raise unit.error(first, f"this kernel has no {written}{hint}")


def _choose_entry(unit: Unit, defined: Sequence[tree.Function]) -> tree.Function:
    """The one without parameters; refuses what start-up code could not call."""
    first, *others = [each for each in defined if not each.parameters] or defined
    if others:
        raise unit.error(others[0], f"'{first.name}' is defined twice, first at {first.position}")
    result = first.result
    if not isinstance(result, tree.NamedType) or result.name != "void":
        raise unit.error(first, f"'{first.name}' has the result 'void'")
    return first


# The module.


def _module(unit: Unit, function: tree.Function, scope: Scope) -> ast.Module:
    """`def _kernel(...)`: takes the library, holds the functions, and starts the last of them."""
    body = compile_entry(HANDLERS, unit, function, scope)
    add_dispatchers(Context(unit, unit.root, HANDLERS, in_function=False))
    identifier = unit.create_name(function.name, "f")
    guarded = unit.build_function(identifier, (), body, function.position)
    raised = ast.Raise(code.call("_fault", code.name("_error"), code.name(THREAD)), None)
    handler = ast.ExceptHandler(code.name("_FAULTS"), "_error", [raised])
    unit.locate(handler, function.position)
    never_reached = ast.Expr(ast.Yield())
    guarded.body = [ast.Try(guarded.body, [handler], [], []), ast.Return(None), never_reached]
    start = ast.Return(code.call(identifier))
    check_static_functions(unit, guarded)
    if unit.runs:
        counter = TurnCounter(unit)
        for each in (*unit.functions, guarded):
            counter.visit(each)
    # Constructors and functions that initial values call are there before the variables.
    statements = [*unit.functions, *unit.globals, guarded, start]
    for name in ("load", "store"):
        unit.bind(name)
    unit.bindings[THREAD] = "thread"
    if unit.clock is not None and unit.clock.hidden:
        unit.bindings[STEP] = "step"
    parameters = [ast.arg(each) for each in unit.bindings]
    arguments = ast.arguments([], parameters, None, [], [], None, [])
    module = ast.Module([ast.FunctionDef(_ENTRY, arguments, statements, [])], [])
    first = function.position or tree.Position(unit.file, 1, 1)
    code.locate_rest(module, first, unit.sources.shift(first.file))
    return module
