"""A Python function as a module with one kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType

from xdsl.dialects.builtin import MemRefType, ModuleOp, f32, i32
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region
from xdsl.rewriter import Rewriter

from ttmlir.dialects.definition.names import KERNEL_THREAD
from ttmlir.dialects.ttkernel import CBType, ThreadTypeAttr, op_class
from ttmlir.frontend.pykernel.builder import KernelBuilder
from ttmlir.frontend.pykernel.device_calls import Arguments, DeviceCalls
from ttmlir.frontend.pykernel.expressions import host_value
from ttmlir.frontend.pykernel.jumps import RESULT, without_jumps
from ttmlir.frontend.pykernel.loops import Loops
from ttmlir.frontend.pykernel.printing import Printing
from ttmlir.frontend.pykernel.source import FunctionSource
from ttmlir.frontend.pykernel.values import Array, Items, Scalar, Static, Unset, Value, number
from ttmlir.layout.enums import ThreadType
from ttmlir.limits import MAX_COPIES
from ttmlir.mlir.files.chunk_processing import verify
from ttmlir.nesting import deep_recursion


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
    *,
    verbose: bool = False,
) -> ModuleOp:
    """The module with the kernel that a function is; the function itself is never run."""
    with deep_recursion():
        module = _Kernel(source, thread, verbose=verbose).module(parameters)
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
        """The body of a function of the module in the place of its call."""
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
                f"'{name}' takes {len(positional)} arguments, not {len(arguments.positional)}",
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
                value = host_value(source.defaults[each])
                assert value is not None
                scope[each] = value
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
