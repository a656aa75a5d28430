"""The decorators, and kernels that they make of functions."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType
from typing import NoReturn, Self, cast

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from ttmlir.cpp.render import line_positions, render
from ttmlir.cpp.source_map import MappedText, SourceMap
from ttmlir.cpp.tree import Position
from ttmlir.files import safe_file_name, write_file
from ttmlir.frontend.pykernel.binding import ParameterKind, bind, parameter_kinds
from ttmlir.frontend.pykernel.compilation import Parameter, compile_module
from ttmlir.frontend.pykernel.errors import PyKernelError
from ttmlir.frontend.pykernel.source import FunctionSource
from ttmlir.layout.enums import ThreadType
from ttmlir.mlir.printing.printer import show_op
from ttmlir.mlir.reporting.diagnostics import DiagnosticError
from ttmlir.nesting import deep_recursion
from ttmlir.target.cpp.from_ttkernel import kernel_tree

_THREADS = {
    "noc": ThreadType.NOC,
    "datamovement": ThreadType.NOC,
    "compute": ThreadType.TENSIX,
}
_OPTIMIZATIONS = "canonicalize,cse"


class Kernel(MappedText):
    """A compiled kernel: its text is the C++, whose lines know those of the Python."""

    module: ModuleOp
    """The kernel in the IR."""
    thread_type: str
    """`compute`, `reader`, `writer`, or empty."""

    def __new__(
        cls,
        name: str,
        text: str,
        source_map: SourceMap | None = None,
        module: ModuleOp | None = None,
        thread_type: str = "",
    ) -> Self:
        """The kernel of a name with this C++."""
        if source_map is None:
            file = f"{name}.cpp"
            lines = range(1, text.count("\n") + 2)
            source_map = SourceMap(file, tuple(Position(file, i, 1) for i in lines), text)
        made = super().__new__(cls, text, name, source_map)
        made.module = ModuleOp([]) if module is None else module
        made.thread_type = thread_type
        return made

    @property
    def ir(self) -> str:
        """The text of the module."""
        return show_op(self.module) + "\n"

    def dump(self) -> None:
        """Print the C++."""
        print(self, end="")

    def dump_to_file(self, path: str | Path | None = None) -> Path:
        """Write the C++ to a file, `NAME.cpp` if none is named; its path."""
        target = Path(path or f"{safe_file_name(self.name)}.cpp")
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, str(self).encode())
        return target


@dataclass(frozen=True)
class _Form:
    """How a decorator compiles."""

    kernel_type: str | None
    thread_type: str
    verbose: bool
    optimize: bool


class KernelFunction:
    """A function that is a kernel; a call compiles it for these arguments.

    In a class it needs no `self`.
    """

    def __init__(self, function: FunctionType, form: _Form) -> None:
        """Take the source as it is now."""
        self._form = form
        self._source = FunctionSource.of(function)
        self._annotations = function.__annotations__
        self._compiled: dict[object, Kernel] = {}
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self.__wrapped__ = function

    @property
    def thread_type(self) -> str:
        """`compute`, `reader`, `writer`, or empty."""
        return self._form.thread_type

    @property
    def kernel_type(self) -> str | None:
        """`compute`, `noc`, or None for a function that only becomes IR."""
        return self._form.kernel_type

    @property
    def parameters(self) -> dict[str, ParameterKind]:
        """What each parameter is, in order."""
        return parameter_kinds(self._source, self._annotations)

    @property
    def source_hash(self) -> str:
        """A hash of the kernel's text, and of the texts and constants of the module it reads."""
        digest = hashlib.sha256(self._source.own_text.encode())
        digest.update(repr(_outer_values(self._source, frozenset())).encode())
        return digest.hexdigest()

    def __call__(self, *args: object, **constants: object) -> Kernel:
        """Compile: circular buffers, run-time arguments and constants in the order of `def`."""
        kernel = self.compile(*args, **constants)
        if self._form.kernel_type is None or self._form.verbose:
            print(kernel.ir, end="")
        return kernel

    def compile(self, *args: object, **constants: object) -> Kernel:
        """As a call does, without printing."""
        try:
            return self._find(args, constants)
        except PyKernelError as error:
            # How the compiler found it says nothing to who wrote the kernel.
            raise error.with_traceback(None) from None

    def _find(self, args: Sequence[object], constants: Mapping[str, object]) -> Kernel:
        parameters = bind(self._source, self._annotations, args, constants)
        outer = _outer_values(self._source, frozenset())
        key = (tuple(parameters.items()), tuple(map(type, parameters.values())), outer)
        kernel = self._compiled.get(key)
        if kernel is None:
            kernel = self._compiled[key] = self._compile(parameters)
        return kernel

    def _compile(self, parameters: Mapping[str, Parameter]) -> Kernel:
        form, source = self._form, self._source
        thread = None if form.kernel_type is None else _THREADS[form.kernel_type]
        try:
            module = compile_module(source, parameters, thread, verbose=form.verbose)
            if form.optimize:
                from ttmlir.compiler import transform

                transform(module, _OPTIMIZATIONS)
            if thread is None:
                return Kernel(source.name, show_op(module) + "\n", None, module)
            function = next(iter(module.ops))
            assert isinstance(function, FuncOp), "a module holds the kernel alone"
            tree = kernel_tree(function, function.body, thread)
        except PyKernelError:
            raise
        except DiagnosticError as error:
            # What only the IR's rules forbid, at the line of Python that it comes from.
            first = error.diagnostics[0].without_operation()
            raise PyKernelError(first.location, first.message, source.file, source.text) from None
        positions = line_positions(tree)
        return Kernel(source.name, render(tree), _map(source, positions), module, form.thread_type)


def _map(source: FunctionSource, positions: Sequence[Position | None]) -> SourceMap:
    """The map of a text; lines of no statement are known by `def`."""
    start = Position(source.file, source.node.lineno, source.node.col_offset + 1)
    in_characters: dict[Position, Position] = {}
    with deep_recursion():
        for each in positions:
            if each is not None and each not in in_characters:
                line = source.line(each.line).encode()
                column = len(line[: each.column - 1].decode(errors="replace")) + 1
                in_characters[each] = Position(each.file, each.line, column)
    found = (start if each is None else in_characters[each] for each in positions)
    return SourceMap(source.file, (*found, start), source.text)


def _outer_values(source: FunctionSource, seen: frozenset[object]) -> tuple[object, ...]:
    """What the names around a function mean: constants by value, functions by their code."""
    values = list[object]()
    for name in source.outer_names:
        found, value = source.outside(name)
        if not found:
            continue
        match value:
            case FunctionType() if value.__code__ not in seen:
                inner = FunctionSource.of(value)
                values.append((value.__code__, *_outer_values(inner, seen | {value.__code__})))
            case bool() | int() | float() | str() | tuple() | list():
                values.append((name, repr(cast("object", value))))
            case _:
                pass
    return tuple(values)


Decorator = Callable[[Callable[..., object]], KernelFunction]


def ttkernel_compile(
    kernel_type: str | None = None,
    verbose: bool = False,
    optimize: bool = False,
    thread_type: str = "",
) -> Decorator:
    """Make a kernel of a function; without a kernel type, IR alone, which a call prints.

    `verbose` prints the IR, and puts the lines of Python into the C++ as comments; `optimize`
    runs passes on the IR.
    """
    for each in (kernel_type, verbose):
        # `@reader_thread` gives the function to the first parameter.
        if callable(each):
            _refuse_function(each)
    if kernel_type is not None and kernel_type not in _THREADS:
        raise ValueError(
            f"Invalid kernel type '{kernel_type}'; known are {', '.join(map(repr, _THREADS))}"
        )
    form = _Form(kernel_type, thread_type, verbose, optimize)

    def decorate(function: Callable[..., object]) -> KernelFunction:
        if not isinstance(function, FunctionType):
            raise TypeError(f"{function!r} is no function; a kernel is a 'def' under a decorator")
        return KernelFunction(function, form)

    return decorate


def _refuse_function(function: Callable[..., object]) -> NoReturn:
    message = "write the decorator with parentheses, such as @reader_thread()"
    if not isinstance(function, FunctionType):
        raise TypeError(f"{function!r} is no option of a kernel; {message}")
    source = FunctionSource.of(function)
    source.refuse(source.node, f"the decorator of '{source.name}' lacks its (): {message}")


def ttkernel_tensix_compile(verbose: bool = False, optimize: bool = False) -> Decorator:
    """Make a compute kernel of a function."""
    return ttkernel_compile("compute", verbose, optimize, "compute")


def ttkernel_noc_compile(verbose: bool = False, optimize: bool = False) -> Decorator:
    """Make a data movement kernel of a function, for either of the two processors."""
    return ttkernel_compile("noc", verbose, optimize)


def compute_thread(verbose: bool = False, optimize: bool = False) -> Decorator:
    """Make a compute kernel of a function."""
    return ttkernel_compile("compute", verbose, optimize, "compute")


def reader_thread(verbose: bool = False, optimize: bool = False) -> Decorator:
    """Make a kernel of a function that brings data to the core."""
    return ttkernel_compile("noc", verbose, optimize, "reader")


def writer_thread(verbose: bool = False, optimize: bool = False) -> Decorator:
    """Make a kernel of a function that takes data away from the core."""
    return ttkernel_compile("noc", verbose, optimize, "writer")
