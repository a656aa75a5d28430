"""A Python function as a module with one kernel."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FunctionType
from typing import Literal, NoReturn, Self, SupportsIndex, cast

from xdsl.dialects.builtin import MemRefType, ModuleOp, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.rewriter import Rewriter

from ttmlir.cpp.errors import MappedText, Position, SourceMap
from ttmlir.cpp.render import line_positions, render
from ttmlir.dialects.definition.ods import KERNEL_THREAD
from ttmlir.dialects.ttkernel import CBType, ThreadTypeAttr, op_class
from ttmlir.errors import ArgumentError, ArgumentTypeError, plural
from ttmlir.files import safe_file_name, write_file
from ttmlir.frontend.pykernel.builder import Arguments as CallArguments
from ttmlir.frontend.pykernel.builder import (
    Array,
    CircularBuffer,
    CompileTimeValue,
    FunctionSource,
    Items,
    KernelBuilder,
    KernelTypeError,
    KernelValueError,
    PyKernelError,
    Scalar,
    Static,
    Unset,
    Value,
    describe,
    number,
)
from ttmlir.frontend.pykernel.expressions import Arguments, DeviceCalls, Expressions, host_value
from ttmlir.frontend.pykernel.statements import RESULT, Loops, without_jumps
from ttmlir.layout.enums import ThreadType
from ttmlir.limits import MAX_COPIES
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.printing import show_op
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.nesting import deep_recursion
from ttmlir.target.cpp.from_ttkernel import kernel_tree
from ttmlir.target.cpp.kernel_api import KernelApi

# --- Printing -------------------------------------------------------------------------------------
# What `print` in a kernel prints: one text, with placeholders for values.

_FIELD = re.compile(r"\{\{|\}\}|\{(\d*)\}|[{}]")


@dataclass
class _Text:
    pieces: list[str] = field(default_factory=list[str])
    values: list[Scalar] = field(default_factory=list[Scalar])


class Printing(Expressions):
    """Compiles calls of `print`."""

    def print_call(self, node: ast.Call) -> None:
        """Print texts and numbers."""
        separator, end = " ", "\n"
        for keyword in node.keywords:
            value = self.value(keyword.value)
            match keyword.arg, value:
                case "sep", Static(value=str(text)):
                    separator = text
                case "end", Static(value=str(text)):
                    end = text
                case _:
                    self.builder.refuse(
                        "print(...) in a kernel takes texts for 'sep' and 'end' and nothing else "
                        "by name",
                        keyword.value,
                    )
        text = _Text()
        for index, argument in enumerate(node.args):
            if index:
                self._add_text(text, separator, node)
            self._add(text, argument)
        self._add_text(text, end, node)
        self.builder.at(node)
        self.calls.print("".join(text.pieces), text.values)

    def _add(self, text: _Text, node: ast.expr) -> None:
        match node:
            case ast.JoinedStr(values=parts):
                for part in parts:
                    self._add(text, part)
            case ast.FormattedValue(value=value, conversion=conversion, format_spec=spec):
                if spec is not None or conversion != -1:
                    self.builder.refuse(
                        "a core prints numbers as they are; leave the format out", node
                    )
                self._add_value(text, self.value(value), value)
            case ast.Call(
                func=ast.Attribute(value=ast.Constant(value=str(pattern)), attr="format")
            ):
                self._add_format(text, pattern, node)
            case _:
                self._add_value(text, self.value(node), node)

    def _add_format(self, text: _Text, pattern: str, node: ast.Call) -> None:
        """`"...".format(...)`, with plain or numbered fields."""
        if node.keywords:
            self.builder.refuse("fields in a kernel have no names; use {} or an f-string", node)
        position, count = 0, 0
        for match in _FIELD.finditer(pattern):
            self._add_text(text, pattern[position : match.start()], node)
            position = match.end()
            if match[0] in ("{{", "}}"):
                self._add_text(text, match[0][0], node)
                continue
            if match[1] is None:
                self.builder.refuse("a core prints numbers as they are; use {} alone", node)
            index = int(match[1]) if match[1] else count
            count += 1
            if index >= len(node.args):
                self.builder.refuse(f"there is no value for field {index} of this text", node)
            self._add(text, node.args[index])
        self._add_text(text, pattern[position:], node)

    def _add_value(self, text: _Text, value: Value, node: ast.expr) -> None:
        match value:
            case Static(value=str(piece)):
                self._add_text(text, piece, node)
            case Scalar(type=type_) if not isinstance(type_, CBType) and (
                value.is_number or type_.name == "ttkernel.noc_addr"
            ):
                text.pieces.append("{}")
                text.values.append(value)
            case Scalar(type=CBType() as type_):
                # A circular buffer is its number, as in C++.
                self._add_text(text, str(int(type_.buffer.data.port)), node)
            case Items(elements=elements):
                for index, each in enumerate(elements):
                    self._add_text(text, ", " if index else "(", node)
                    self._add_value(text, each, node)
                self._add_text(text, ")", node)
            case _:
                self.builder.refuse(f"a core prints texts and numbers, not {describe(value)}", node)

    def _add_text(self, text: _Text, piece: str, node: ast.expr) -> None:
        if "{}" in piece or (text.pieces and text.pieces[-1] == "{" and piece.startswith("}")):
            self.builder.refuse("a text that is printed must not contain '{}' itself", node)
        if "\0" in piece:
            self.builder.refuse(
                r"a text that is printed must not contain '\0': texts of C++ end there", node
            )
        text.pieces.append(piece)


# --- Compilation ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class RuntimeArgument:
    """A parameter that is read when the kernel runs."""

    index: int
    is_common: bool
    """All cores have it in common; otherwise each core has its own."""


Parameter = CBType | RuntimeArgument | int | bool
"""What a parameter of a kernel is: a circular buffer, a run-time argument, or a constant."""


def compile_module(
    source: FunctionSource,
    parameters: Mapping[str, Parameter],
    thread: ThreadType | None,
    compile_time_args: Sequence[int] = (),
    *,
    verbose: bool = False,
) -> ModuleOp:
    """The module with the kernel that a function is; the function itself is never run.

    `compile_time_args` are known values of `get_compile_time_arg_val`.
    """
    with deep_recursion():
        kernel = _Kernel(source, thread, verbose=verbose)
        kernel.calls.compile_time_args = tuple(compile_time_args)
        module = kernel.module(parameters)
    verify(module)
    return module


class _Kernel(Printing, Loops):
    """Compiles a function and those that it calls."""

    def __init__(self, source: FunctionSource, thread: ThreadType | None, *, verbose: bool) -> None:
        entry = Block()
        builder = KernelBuilder(entry, source)
        super().__init__(builder, DeviceCalls(builder, entry, thread), entry)
        self.verbose = verbose
        self._source = source
        self._thread = thread
        self._calling = [source.code]
        self._inlined = 0
        self._tables: dict[object, Array] = {}

    def module(self, parameters: Mapping[str, Parameter]) -> ModuleOp:
        """A module with the kernel."""
        builder, node = self.builder, self._source.node
        location = builder.location
        for name, parameter in parameters.items():
            self.variables[name] = self._parameter(parameter)
        for each in ast.walk(node):
            if isinstance(each, ast.Return) and not _is_none(each.value):
                builder.refuse(
                    "a kernel returns nothing: nobody takes its value; write 'return' alone, and "
                    "hand numbers on through a circular buffer or memory",
                    each,
                )
        self.run(without_jumps(node))
        builder.location = location
        builder.add(ReturnOp())
        self._give_rows_their_type()
        types = [argument.type for argument in self.entry.args]
        function = FuncOp(self._source.name, (types, []), Region(self.entry))
        function.location = location
        if self._thread is not None:
            function.attributes[KERNEL_THREAD] = ThreadTypeAttr(self._thread)
        module = ModuleOp([function])
        module.location = location
        return module

    def _parameter(self, parameter: Parameter) -> Scalar:
        match parameter:
            case CBType():
                argument = self.entry.insert_arg(parameter, len(self.entry.args))
                self.calls.add_buffer(parameter.buffer.data.port, argument)
                return Scalar(parameter, argument)
            case RuntimeArgument(index=index, is_common=is_common):
                mnemonic = "get_common_arg_val" if is_common else "get_arg_val"
                operand = self.builder.ssa(number(index))
                return Scalar(i32, self.builder.make(op_class(mnemonic), [operand], i32))
            case int():
                return number(parameter)

    def _give_rows_their_type(self) -> None:
        """Circular buffers that are tilized, or untilized into, hold rows."""
        for value in self.calls.rows:
            cb = value.type
            if isinstance(cb, CBType) and cb.memref.element_type.name == "tt.tile":
                rows: MemRefType[Attribute] = MemRefType(f32, [32, 32])
                Rewriter.replace_value_with_new_type(value, CBType(cb.buffer, rows))

    # Functions of the module.

    def inline(self, function: FunctionType, arguments: Arguments) -> Value:
        """The body of a function of the module inlined at its call."""
        builder, name = self.builder, function.__name__
        if function.__code__ in self._calling:
            builder.refuse(
                f"'{name}' calls itself, and a core's processors have no room for that; use a loop",
                arguments.node,
            )
        self._inlined += 1
        if self._inlined > MAX_COPIES:
            builder.refuse("the kernel is too large with all functions in it", arguments.node)
        source = FunctionSource.of(function)
        outer = self.variables
        scope = self._bind_parameters(source, arguments)
        steps = without_jumps(source.node)
        self.variables = dict(scope)
        self._calling.append(function.__code__)
        with builder.inside(source):
            self.run(steps)
        self._calling.pop()
        result = self.variables.get(RESULT, Static(None))
        self.variables = outer
        if isinstance(result, Unset):
            builder.refuse(f"'{name}' returns a value on some ways through it only", arguments.node)
        assert isinstance(result, Scalar | Array | Static | Items), "results are values"
        return result

    def _bind_parameters(self, source: FunctionSource, arguments: Arguments) -> dict[str, Value]:
        """The parameters of a function by name, with what a call gives them."""
        name, builder = source.name, self.builder
        spec = source.node.args
        if spec.vararg is not None or spec.kwarg is not None:
            builder.refuse(f"'{name}' takes any number of arguments, which has no form in a kernel")
        positional = [each.arg for each in (*spec.posonlyargs, *spec.args)]
        names = [*positional, *(each.arg for each in spec.kwonlyargs)]
        if len(arguments.positional) > len(positional):
            builder.refuse(
                f"'{name}' takes {plural(len(positional), 'argument')}, not "
                f"{len(arguments.positional)}",
                arguments.node,
            )
        scope = dict(zip(positional, arguments.positional, strict=False))
        for each, value in arguments.named.items():
            if each not in names or each in scope:
                why = "gets" if each in scope else "has no parameter"
                twice = " twice" if each in scope else ""
                builder.refuse(f"'{name}' {why} '{each}'{twice}", arguments.node)
            scope[each] = value
        for each in names:
            if each not in scope:
                if each not in source.defaults:
                    builder.refuse(f"'{name}' lacks '{each}'", arguments.node)
                scope[each] = host_value(source.defaults[each])
        return scope

    # Tables.

    def table(self, items: Items) -> Array:
        """A tuple as an array; one of constants is filled once, at the start of the kernel."""
        key = _constants(items)
        if key is None:
            return self.make_array(items)
        if key not in self._tables:
            with self.builder.into(self.entry):
                self._tables[key] = self.make_array(items)
        return self._tables[key]


def _is_none(value: ast.expr | None) -> bool:
    return value is None or (isinstance(value, ast.Constant) and value.value is None)


def _constants(items: Items) -> object:
    """The numbers of a tuple of constants, to compare it by; None if it has others."""
    numbers = list[object]()
    for each in items.elements:
        match each:
            case Scalar(ssa=None, known=known, type=type_):
                numbers.append((known, type_))
            case Items():
                inner = _constants(each)
                if inner is None:
                    return None
                numbers.append(inner)
            case _:
                return None
    return tuple(numbers)


# --- Kernels --------------------------------------------------------------------------------------
# The decorators, and kernels that they make of functions.

# --- Binding --------------------------------------------------------------------------------------
# Matches the arguments of a call with the parameters of a kernel.

ParameterKind = Literal["CircularBuffer", "CompileTimeValue", ""]
"""The annotation of a parameter; run-time arguments have none."""


def bind(
    source: FunctionSource,
    annotations: Mapping[str, object],
    args: Sequence[object],
    constants: Mapping[str, object],
) -> dict[str, Parameter]:
    """What each parameter of a kernel is for a call with these arguments.

    An argument without annotation is read when the kernel runs: one number is common to all cores,
    a list has numbers for each. Its value takes no part.
    """
    return _Binding(source, annotations).bind(args, constants)


def parameter_kinds(
    source: FunctionSource, annotations: Mapping[str, object]
) -> dict[str, ParameterKind]:
    """What each parameter of a kernel is, in order."""
    binding = _Binding(source, annotations)
    return {name: binding.annotation(name) for name in binding.names}


@dataclass(frozen=True)
class _Binding:
    source: FunctionSource
    annotations: Mapping[str, object]

    @property
    def names(self) -> list[str]:
        """The parameters in order."""
        spec = self.source.node.args
        if spec.vararg is not None or spec.kwarg is not None:
            self.source.refuse(self.source.node, "a kernel has a fixed number of parameters")
        names = [each.arg for each in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
        if names[:1] == ["self"]:
            self.source.refuse(
                self.source.node,
                "a kernel gets no 'self', in a class neither: leave it out, and pass what the "
                "kernel needs as arguments",
            )
        return names

    def bind(self, args: Sequence[object], constants: Mapping[str, object]) -> dict[str, Parameter]:
        """What each parameter is."""
        names = self.names
        if len(args) > len(names):
            self._refuse_value(f"takes {plural(len(names), 'argument')}, not {len(args)}")
        given = dict(zip(names, args, strict=False))
        for name, value in constants.items():
            if name not in names:
                self._refuse_value(f"has no parameter '{name}'; it has {', '.join(names)}")
            if name in given:
                self._refuse_value(f"gets '{name}' twice")
            given[name] = value
        return self._classify(names, given)

    def _classify(self, names: Sequence[str], given: Mapping[str, object]) -> dict[str, Parameter]:
        parameters: dict[str, Parameter] = {}
        counts = {True: 0, False: 0}
        for name in names:
            annotation = self.annotation(name)
            if annotation == "":
                value = given.get(name, 0)
                is_common = not isinstance(value, (list, tuple, CallArguments))
                if isinstance(value, CallArguments):
                    is_common = value.is_common
                parameters[name] = RuntimeArgument(counts[is_common], is_common)
                counts[is_common] += 1
                continue
            value = given.get(name, self.source.defaults.get(name))
            if value is None:
                self._refuse_value(f"needs '{name}', which was not provided into the kernel call")
            if annotation == "CircularBuffer":
                parameters[name] = self._buffer(name, value)
            else:
                parameters[name] = self._constant(name, value)
        return parameters

    def annotation(self, name: str) -> ParameterKind:
        """What a parameter is annotated as."""
        annotation = self.annotations.get(name)
        if annotation is None:
            return ""
        if annotation is CircularBuffer or annotation is CompileTimeValue:
            return "CircularBuffer" if annotation is CircularBuffer else "CompileTimeValue"
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
        match str(text).rpartition(".")[2]:
            case "CircularBuffer":
                return "CircularBuffer"
            case "CompileTimeValue" | "CompiledValue":
                return "CompileTimeValue"
            case _:
                shown = text or repr(annotation)
                self._refuse_type(
                    f"has the annotation '{shown}' at '{name}'; a parameter of a kernel is a "
                    "CircularBuffer, a CompileTimeValue, or has no annotation and is read when the "
                    "kernel runs"
                )

    def _buffer(self, name: str, value: object) -> CBType:
        described: object = getattr(value, "cb_type", value)
        if not isinstance(described, CircularBuffer):
            self._refuse_type(
                f"needs a circular buffer for '{name}', not {value!r}; create_cb makes one"
            )
        return described.type

    def _constant(self, name: str, value: object) -> int | bool:
        match value:
            case bool():
                return value
            case SupportsIndex():
                return value.__index__()
            case _:
                self._refuse_type(f"ct_args must be int or bool, and '{name}' is {value!r}")

    def _refuse_value(self, message: str) -> NoReturn:
        source = self.source
        location, text = source.location(source.node), f"kernel '{source.name}' {message}"
        raise KernelValueError(location, text, source.file, source.text)

    def _refuse_type(self, message: str) -> NoReturn:
        source = self.source
        location, text = source.location(source.node), f"kernel '{source.name}' {message}"
        raise KernelTypeError(location, text, source.file, source.text)


# --- Kernels --------------------------------------------------------------------------------------

_THREADS = {
    "noc": ThreadType.NOC,
    "datamovement": ThreadType.NOC,
    "compute": ThreadType.TENSIX,
}
_COMPILE_TIME_ARGUMENT = "ttkernel.get_compile_time_arg_val"
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

    @property
    def late_ir(self) -> str:
        """The text of the module as PyKernel prints it since late 2025.

        `ir` for a kernel with a call that ttkernel of 2026 does not have.
        """
        from ttmlir.frontend.pykernel.late_text import late_form

        late = late_form(self.module)
        return self.ir if late is None else show_op(late) + "\n"

    def in_form(self, api: KernelApi) -> Kernel:
        """The same kernel, for the tt-metal of a year; its lines are known by those of the C++."""
        function = next(iter(self.module.ops), None)
        if not isinstance(function, FuncOp):
            return self
        thread = ThreadType.TENSIX if self.thread_type == "compute" else ThreadType.NOC
        text = render(kernel_tree(function, function.body, thread, api))
        return Kernel(self.name, text, None, self.module, self.thread_type)

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
        kernel = self._find_or_refuse(args, constants, ())
        if self._form.kernel_type is None or self._form.verbose:
            print(kernel.late_ir, end="")
        return kernel

    def compile(
        self, *args: object, compile_time_args: Sequence[int] = (), **constants: object
    ) -> Kernel:
        """As a call does, without printing.

        `compile_time_args` is what `get_compile_time_arg_val` finds, where that is known.
        """
        return self._find_or_refuse(args, constants, tuple(map(int, compile_time_args)))

    def _find_or_refuse(
        self, args: Sequence[object], constants: Mapping[str, object], words: tuple[int, ...]
    ) -> Kernel:
        try:
            return self._find(args, constants, words)
        except PyKernelError as error:
            # How the compiler found it says nothing to who wrote the kernel.
            raise error.with_traceback(None) from None

    def default_argument(self, name: str) -> int:
        """The run-time argument for a parameter that a call leaves out: its default.

        0 where nothing reads it; KernelValueError at `def` for those that are read.
        """
        source = self._source
        default = source.defaults.get(name)
        if isinstance(default, int):
            return default
        reads = (
            isinstance(each, ast.Name) and each.id == name
            for statement in source.node.body
            for each in ast.walk(statement)
        )
        if not any(reads):
            return 0
        message = f"kernel '{source.name}' needs '{name}', which was not given to create_kernel"
        raise KernelValueError(source.location(source.node), message, source.file, source.text)

    def _find(
        self, args: Sequence[object], constants: Mapping[str, object], words: tuple[int, ...]
    ) -> Kernel:
        parameters = bind(self._source, self._annotations, args, constants)
        outer = _outer_values(self._source, frozenset())
        key = (tuple(parameters.items()), tuple(map(type, parameters.values())), outer)
        kernel = self._compiled.get(key) or self._compiled.get((*key, words))
        if kernel is None:
            kernel = self._compile(parameters, words)
            # Most kernels leave the compile-time arguments to tensor accessors.
            reads = any(op.name == _COMPILE_TIME_ARGUMENT for op in kernel.module.walk())
            self._compiled[(*key, words) if reads else key] = kernel
        return kernel

    def _compile(self, parameters: Mapping[str, Parameter], words: Sequence[int]) -> Kernel:
        form, source = self._form, self._source
        thread = None if form.kernel_type is None else _THREADS[form.kernel_type]
        try:
            module = compile_module(source, parameters, thread, words, verbose=form.verbose)
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
            raise PyKernelError(first.location, first.message, source.file, source.text) from error
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
    assertions = tuple(_assertions(source, source.file, {source.code}))
    return SourceMap(source.file, (*found, start), source.text, assertions)


def _assertions(
    source: FunctionSource, file: str, seen: set[CodeType]
) -> Iterator[tuple[Position, str]]:
    """The texts of assertions, in the functions of the file that are called, too."""
    if source.file != file:
        return
    for node in ast.walk(source.node):
        if isinstance(node, ast.Assert) and node.msg is not None:
            line, column = node.test.lineno, node.test.col_offset
            column = len(source.line(line).encode()[:column].decode(errors="replace"))
            match node.msg:
                case ast.Constant(value=str(text)):
                    pass
                case _:
                    text = ast.unparse(node.msg)
            yield Position(file, line, column + 1), text
    for name in source.outer_names:
        found, value = source.outside(name)
        if found and isinstance(value, FunctionType) and value.__code__ not in seen:
            seen.add(value.__code__)
            yield from _assertions(FunctionSource.of(value), file, seen)


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
        raise ArgumentError(
            f"Invalid kernel type '{kernel_type}'; known are {', '.join(map(repr, _THREADS))}"
        )
    form = _Form(kernel_type, thread_type, verbose, optimize)

    def decorate(function: Callable[..., object]) -> KernelFunction:
        if not isinstance(function, FunctionType):
            raise ArgumentTypeError(
                f"{function!r} is no function; a kernel is a 'def' under a decorator"
            )
        return KernelFunction(function, form)

    return decorate


def _refuse_function(function: Callable[..., object]) -> NoReturn:
    message = "write the decorator with parentheses, such as @reader_thread()"
    if not isinstance(function, FunctionType):
        raise ArgumentTypeError(f"{function!r} is no option of a kernel; {message}")
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
