"""MLIR's Python classes, as scripts of tt-mlir import them, on modules of this project.

`ttmlir.ir` has the classes, `ttmlir.passmanager` the pass manager, and `ttmlir.passes` functions
for pipelines and files. Operations, values, attributes and types are views: two views of one
operation are equal. Programs are read, walked, changed in their attributes and run through passes;
they are not built operation by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextvars import ContextVar
from enum import Enum
from typing import Any, Self, cast

from xdsl.dialects import builtin
from xdsl.ir import Attribute as XAttribute
from xdsl.ir import Block as XBlock
from xdsl.ir import BlockArgument, OpResult, SSAValue, TypeAttribute
from xdsl.ir import Operation as XOperation
from xdsl.ir import Region as XRegion

from ttmlir import compiler
from ttmlir.dialects import DIALECTS
from ttmlir.errors import ArgumentError, CompilationError, UnknownKeyError
from ttmlir.files import write_file
from ttmlir.mlir.attribute_reader import AttributeReader
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.context import make_context
from ttmlir.mlir.core_prefix import (
    TTCORE,
    core_prefix_of,
    spelled_key,
    use_core_prefix,
    written_name,
)
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import Numbering, attribute_text
from ttmlir.mlir.reporting import DiagnosticError, file_location, name_location


class MLIRError(CompilationError):
    """A text that is wrong, or a pass that fails; the message is that of the tools."""


class Context:
    """What texts are read in; entering it makes it `Context.current`."""

    _stack: ContextVar[tuple[Context, ...]] = ContextVar("contexts", default=())

    def __init__(self) -> None:
        """A context with all dialects."""
        self.allow_unregistered_dialects = False

    def __enter__(self) -> Self:
        """Make this the current context."""
        Context._stack.set((*Context._stack.get(), self))
        return self

    def __exit__(self, *reason: object) -> None:
        """Make the one before current again."""
        Context._stack.set(Context._stack.get()[:-1])

    @classmethod
    def current_or_new(cls) -> Context:
        """The context that was entered last, or a new one."""
        stack = cls._stack.get()
        return stack[-1] if stack else Context()

    def load_all_available_dialects(self) -> None:
        """Dialects are loaded when they are used."""

    def append_dialect_registry(self, registry: object) -> None:
        """All dialects are known already."""

    def enable_multithreading(self, enable: bool) -> None:
        """Passes run one after the other."""


class Location:
    """Where something is written."""

    def __init__(self, attribute: Any) -> None:
        """The view of a location."""
        self.attribute = attribute

    @classmethod
    def unknown(cls, context: Context | None = None) -> Location:
        """No place."""
        return cls(builtin.UNKNOWN_LOC)

    @classmethod
    def file(cls, filename: str, line: int, col: int, context: Context | None = None) -> Location:
        """A line and column of a file."""
        return cls(file_location(filename, line, col))

    @classmethod
    def name(cls, name: str, child: Location | None = None, context: object = None) -> Location:
        """A name, and the place that it is about."""
        return cls(name_location(name, None if child is None else child.attribute))

    def __enter__(self) -> Self:
        """Locations of operations come from their texts."""
        return self

    def __exit__(self, *reason: object) -> None:
        """Nothing to undo."""

    def __eq__(self, other: object) -> bool:
        """True for a view of the same thing."""
        return isinstance(other, Location) and self.attribute == other.attribute

    def __hash__(self) -> int:
        """That of the thing."""
        return hash(self.attribute)

    def __str__(self) -> str:
        """`loc("file":line:column)`."""
        return attribute_text(self.attribute)


# --- Attributes and types -------------------------------------------------------------------------


def _read(text: str, context: Context | None) -> XAttribute:
    reader = AttributeReader(make_context(DIALECTS), text, "<text>")
    try:
        with use_core_prefix(TTCORE):
            return reader.parse_attribute()
    except Exception as error:
        raise MLIRError(str(error)) from error


def _text_of(attribute: XAttribute) -> str:
    """The text of an attribute, in the words of the years that have these classes."""
    with use_core_prefix(TTCORE):
        return attribute_text(attribute)


class Attribute:
    """An attribute; those of builtin kinds have classes of their own."""

    def __init__(self, attribute: XAttribute | Attribute) -> None:
        """The view of an attribute."""
        self.attribute = attribute.attribute if isinstance(attribute, Attribute) else attribute

    @classmethod
    def parse(cls, text: str, context: Context | None = None) -> Attribute:
        """The attribute that a text spells; MLIRError for other texts."""
        return attribute_view(_read(text, context))

    @classmethod
    def isinstance(cls, other: Attribute) -> bool:
        """True for a view of this class."""
        return isinstance(other, cls)

    def __eq__(self, other: object) -> bool:
        """True for a view of the same thing."""
        return isinstance(other, Attribute) and self.attribute == other.attribute

    def __hash__(self) -> int:
        """That of the thing."""
        return hash(self.attribute)

    def __str__(self) -> str:
        """The text."""
        return _text_of(self.attribute)

    def __repr__(self) -> str:
        """The class and the text."""
        return f"{type(self).__name__}({self})"


class StringAttr(Attribute):
    """A text."""

    @classmethod
    def get(cls, value: str, context: Context | None = None) -> StringAttr:
        """The attribute of a text."""
        return cls(builtin.StringAttr(value))

    @property
    def value(self) -> str:
        """The text without quotes."""
        return cast("builtin.StringAttr", self.attribute).data


class IntegerAttr(Attribute):
    """An integer."""

    @property
    def value(self) -> int:
        """The number."""
        return cast("builtin.IntegerAttr", self.attribute).value.data

    def __int__(self) -> int:
        """The number."""
        return self.value


class BoolAttr(Attribute):
    """True or false."""

    @property
    def value(self) -> bool:
        """The truth value."""
        return bool(cast("builtin.IntegerAttr", self.attribute).value.data)

    def __bool__(self) -> bool:
        """The truth value."""
        return self.value


class FloatAttr(Attribute):
    """A floating point number."""

    @property
    def value(self) -> float:
        """The number."""
        return cast("builtin.FloatAttr", self.attribute).value.data


class ArrayAttr(Attribute):
    """Attributes in a row."""

    def __len__(self) -> int:
        """How many."""
        return len(cast("builtin.ArrayAttr[XAttribute]", self.attribute).data)

    def __getitem__(self, index: int) -> Attribute:
        """One of them."""
        return attribute_view(cast("builtin.ArrayAttr[XAttribute]", self.attribute).data[index])

    def __iter__(self) -> Iterator[Attribute]:
        """All of them."""
        return map(attribute_view, cast("builtin.ArrayAttr[XAttribute]", self.attribute).data)


class DenseArrayAttr(Attribute):
    """Numbers in a row: `array<i32: 1, 2>`."""

    def _numbers(self) -> tuple[Any, ...]:
        return tuple(cast("Any", self.attribute).get_values())

    def __len__(self) -> int:
        """How many."""
        return len(self._numbers())

    def __getitem__(self, index: int) -> Any:
        """One of them."""
        return self._numbers()[index]

    def __iter__(self) -> Iterator[Any]:
        """All of them."""
        return iter(self._numbers())


class DictAttr(Attribute):
    """Attributes by name."""

    def _entries(self) -> Mapping[str, XAttribute]:
        return cast("builtin.DictionaryAttr", self.attribute).data

    def __len__(self) -> int:
        """How many."""
        return len(self._entries())

    def __contains__(self, name: str) -> bool:
        """True for the name of an entry."""
        return name in self._entries()

    def __getitem__(self, name: str) -> Attribute:
        """The attribute of a name."""
        return attribute_view(self._entries()[name])

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._entries())


class FlatSymbolRefAttr(Attribute):
    """The name of a function or another symbol."""

    @property
    def value(self) -> str:
        """The name without `@`."""
        return cast("builtin.SymbolRefAttr", self.attribute).root_reference.data


class Type(Attribute):
    """A type."""

    @classmethod
    def parse(cls, text: str, context: Context | None = None) -> Type:
        """The type that a text spells; MLIRError for other texts."""
        return _type_view(_read(text, context))


class RankedTensorType(Type):
    """A tensor with a rank."""

    @property
    def _tensor(self) -> builtin.TensorType[XAttribute]:
        return cast("builtin.TensorType[XAttribute]", self.attribute)

    @property
    def shape(self) -> list[int]:
        """The extents; -1 where one is not known."""
        return list(self._tensor.get_shape())

    @property
    def rank(self) -> int:
        """The number of dimensions."""
        return len(self._tensor.get_shape())

    @property
    def element_type(self) -> Type:
        """The type of the elements."""
        return _type_view(self._tensor.element_type)

    @property
    def encoding(self) -> Attribute | None:
        """The layout, or None."""
        found = self._tensor.encoding
        return None if isinstance(found, builtin.NoneAttr) else attribute_view(found)

    def get_dim_size(self, dim: int) -> int:
        """The extent of a dimension."""
        return self.shape[dim]


class TypeAttr(Attribute):
    """A type as an attribute."""

    @property
    def value(self) -> Type:
        """The type."""
        return _type_view(self.attribute)


_VIEWS: tuple[tuple[type[XAttribute], type[Attribute]], ...] = (
    (builtin.StringAttr, StringAttr),
    (builtin.FloatAttr, FloatAttr),
    (builtin.ArrayAttr, ArrayAttr),
    (builtin.DenseArrayBase, DenseArrayAttr),
    (builtin.DictionaryAttr, DictAttr),
    (builtin.SymbolRefAttr, FlatSymbolRefAttr),
    (TypeAttribute, TypeAttr),
)


def attribute_view(attribute: XAttribute) -> Attribute:
    """The view of an attribute, of the class of its kind."""
    if isinstance(attribute, builtin.IntegerAttr):
        number = cast("builtin.IntegerAttr", attribute)
        return BoolAttr(number) if number.type == builtin.i1 else IntegerAttr(number)
    for kind, view in _VIEWS:
        if isinstance(attribute, kind):
            return view(attribute)
    return Attribute(attribute)


def _type_view(type_: XAttribute) -> Type:
    return RankedTensorType(type_) if type_.name == "tensor" else Type(type_)


# --- Operations -----------------------------------------------------------------------------------


class Value:
    """A result of an operation, or an argument of a block."""

    def __init__(self, value: SSAValue) -> None:
        """The view of a value."""
        self._value = value

    @property
    def type(self) -> Type:
        """The type."""
        return _type_view(self._value.type)

    @property
    def owner(self) -> Operation | Block:
        """The operation that gives it, or the block whose argument it is."""
        owner = self._value.owner
        return Operation(owner) if isinstance(owner, XOperation) else Block(owner)

    @property
    def uses(self) -> Iterator[Use]:
        """Operands that are this value."""
        return (Use(use.operation, use.index) for use in self._value.uses)

    @property
    def arg_number(self) -> int:
        """The number of an argument."""
        return cast("BlockArgument", self._value).index

    @property
    def result_number(self) -> int:
        """The number of a result."""
        return cast("OpResult", self._value).index

    def get_name(self, use_local_scope: bool = False) -> str:
        """The name in the text of the module: `%3`."""
        owner = self._value.owner
        op = owner if isinstance(owner, XOperation) else owner.parent_op()
        assert op is not None, "values are in operations"
        while (parent := op.parent_op()) is not None:
            op = parent
        return f"%{Numbering(op).names.values[self._value]}"

    def __eq__(self, other: object) -> bool:
        """True for a view of the same thing."""
        return isinstance(other, Value) and self._value is other._value

    def __hash__(self) -> int:
        """That of the thing."""
        return hash(self._value)

    def __str__(self) -> str:
        """The value and its operation."""
        return f"Value({self.owner})"


class Use:
    """An operand."""

    def __init__(self, op: XOperation, number: int) -> None:
        """The operand of a number."""
        self.owner = Operation(op)
        self.operand_number = number


class WalkOrder(Enum):
    """Whether operations come before or after what is inside of them."""

    PRE_ORDER = "pre"
    POST_ORDER = "post"


class WalkResult(Enum):
    """What a walk does after an operation."""

    ADVANCE = "advance"
    INTERRUPT = "interrupt"
    SKIP = "skip"


class _Attributes(MutableMapping[str, Attribute]):
    """All attributes of an operation, by their names in its text."""

    def __init__(self, op: XOperation) -> None:
        self.op = op
        self._prefix = core_prefix_of(op)

    def _tables(self) -> tuple[dict[str, XAttribute], dict[str, XAttribute]]:
        return self.op.properties, self.op.attributes

    def __getitem__(self, name: str) -> Attribute:
        for table in self._tables():
            for key, attribute in table.items():
                if name in (key, spelled_key(key, self._prefix)):
                    return attribute_view(attribute)
        raise UnknownKeyError(name)

    def __setitem__(self, name: str, value: Attribute) -> None:
        table = self.op.properties if name in self.op.properties else self.op.attributes
        table[name] = value.attribute

    def __delitem__(self, name: str) -> None:
        for table in self._tables():
            if name in table:
                del table[name]
                return
        raise UnknownKeyError(name)

    def __iter__(self) -> Iterator[str]:
        return (spelled_key(key, self._prefix) for table in self._tables() for key in table)

    def __len__(self) -> int:
        return sum(map(len, self._tables()))


class Operation:
    """An operation."""

    def __init__(self, op: XOperation) -> None:
        """The view of an operation."""
        self.op = op

    @classmethod
    def parse(cls, source: str, *, source_name: str = "-", context: object = None) -> Operation:
        """The module that a text spells."""
        return Module.parse(source, source_name=source_name).operation

    @property
    def operation(self) -> Operation:
        """The operation itself."""
        return self

    @property
    def opview(self) -> Operation:
        """The operation itself."""
        return self

    @property
    def name(self) -> str | Attribute:
        """The name with its dialect, such as `ttir.add`."""
        return written_name(self.op)

    @property
    def attributes(self) -> MutableMapping[str, Attribute]:
        """All attributes by name."""
        return _Attributes(self.op)

    @property
    def operands(self) -> Sequence[Value]:
        """The operands."""
        return [Value(each) for each in self.op.operands]

    @property
    def results(self) -> Sequence[Value]:
        """The results."""
        return [Value(each) for each in self.op.results]

    @property
    def result(self) -> Value:
        """The only result."""
        (value,) = self.op.results
        return Value(value)

    @property
    def regions(self) -> Sequence[Region]:
        """The regions."""
        return [Region(each) for each in self.op.regions]

    @property
    def parent(self) -> Operation | None:
        """The operation around this one, or None."""
        found = self.op.parent_op()
        return None if found is None else Operation(found)

    @property
    def location(self) -> Location:
        """Where it is written."""
        return Location(self.op.location)

    @property
    def context(self) -> Context:
        """The current context."""
        return Context.current_or_new()

    def walk(
        self,
        callback: Callable[[Operation], WalkResult | None],
        walk_order: WalkOrder = WalkOrder.POST_ORDER,
    ) -> None:
        """Call a function for this operation and all that are inside of it."""
        self._walk(callback, walk_order)

    def _walk(self, callback: Callable[[Operation], WalkResult | None], order: WalkOrder) -> bool:
        """False after an interruption."""
        if order is WalkOrder.PRE_ORDER:
            found = callback(self)
            if found is not WalkResult.ADVANCE and found is not None:
                return found is WalkResult.SKIP
        for region in self.op.regions:
            for block in region.blocks:
                for op in tuple(block.ops):
                    if not Operation(op)._walk(callback, order):
                        return False
        return order is WalkOrder.PRE_ORDER or callback(self) is not WalkResult.INTERRUPT

    def get_asm(self, **flags: bool) -> str:
        """The text; flags are `print_generic_op_form`, `enable_debug_info`, `use_local_scope`."""
        return print_module(
            self.op,
            generic=flags.get("print_generic_op_form", False),
            debuginfo=flags.get("enable_debug_info", False),
            local_scope=flags.get("use_local_scope", False),
        ).removesuffix("\n")

    def print(self, file: Any = None, **flags: bool) -> None:
        """Write the text to a file, or to standard output."""
        print(self.get_asm(**flags), file=file)

    def verify(self) -> bool:
        """True if the operation is correct; MLIRError if it is not."""
        top = self.op
        try:
            verify(cast("builtin.ModuleOp", top))
        except DiagnosticError as error:
            raise MLIRError(str(error)) from error
        return True

    def erase(self) -> None:
        """Remove the operation, whose results have no uses."""
        self.op.detach()
        self.op.erase()

    def clone(self) -> Operation:
        """A copy that is nowhere."""
        return Operation(cloned(cast("builtin.ModuleOp", self.op)))

    def __eq__(self, other: object) -> bool:
        """True for a view of the same thing."""
        return isinstance(other, Operation) and self.op is other.op

    def __hash__(self) -> int:
        """That of the thing."""
        return hash(self.op)

    def __str__(self) -> str:
        """The text."""
        return self.get_asm()


class Block:
    """Operations in their order, and arguments."""

    def __init__(self, block: XBlock) -> None:
        """The view of a block."""
        self._block = block

    @property
    def operations(self) -> Sequence[Operation]:
        """The operations."""
        return [Operation(each) for each in self._block.ops]

    @property
    def arguments(self) -> Sequence[Value]:
        """The arguments."""
        return [Value(each) for each in self._block.args]

    @property
    def owner(self) -> Operation | None:
        """The operation around it."""
        found = self._block.parent_op()
        return None if found is None else Operation(found)

    def __iter__(self) -> Iterator[Operation]:
        """The operations."""
        return iter(self.operations)

    def __eq__(self, other: object) -> bool:
        """True for a view of the same thing."""
        return isinstance(other, Block) and self._block is other._block

    def __hash__(self) -> int:
        """That of the thing."""
        return hash(self._block)


class Region:
    """Blocks of an operation."""

    def __init__(self, region: XRegion) -> None:
        """The view of a region."""
        self._region = region

    @property
    def blocks(self) -> Sequence[Block]:
        """The blocks."""
        return [Block(each) for each in self._region.blocks]

    def __iter__(self) -> Iterator[Block]:
        """The blocks."""
        return iter(self.blocks)

    def __getitem__(self, index: int) -> Block:
        """One of the blocks."""
        return self.blocks[index]

    def __len__(self) -> int:
        """How many."""
        return len(self.blocks)


class Module:
    """A program."""

    def __init__(self, module: builtin.ModuleOp) -> None:
        """The view of a module."""
        self.module = module

    @classmethod
    def parse(
        cls, asm: str | bytes, context: Context | None = None, *, source_name: str = "-"
    ) -> Module:
        """The module that a text spells; MLIRError, with the place, for other texts."""
        text = asm.decode() if isinstance(asm, bytes) else asm
        try:
            return cls(compiler.parse(text, file_name=source_name))
        except DiagnosticError as error:
            raise MLIRError(str(error)) from error

    @classmethod
    def parseFile(cls, path: str, context: Context | None = None) -> Module:
        """The module in a file."""
        return cls.parse(compiler.read_source(path), context, source_name=path)

    @classmethod
    def create(cls, loc: Location | None = None) -> Module:
        """A module without operations."""
        return cls.parse("module {}")

    @property
    def operation(self) -> Operation:
        """The module as an operation."""
        return Operation(self.module)

    @property
    def body(self) -> Block:
        """The only block."""
        return Block(self.module.body.block)

    @property
    def context(self) -> Context:
        """The current context."""
        return Context.current_or_new()

    def dump(self) -> None:
        """Print the text."""
        print(self)

    def __str__(self) -> str:
        """The text."""
        return print_module(self.module)


# --- Passes and files -----------------------------------------------------------------------------


class PassManager:
    """Passes on a module."""

    def __init__(self, anchor_op: str = "builtin.module", context: Context | None = None) -> None:
        """No passes yet; they run on `builtin.module`."""
        self._passes: list[str] = []

    @classmethod
    def parse(cls, pipeline: str, context: Context | None = None) -> PassManager:
        """The passes of a text such as `builtin.module(canonicalize,cse)`."""
        manager = cls()
        text = pipeline.strip()
        inner = text.removeprefix("builtin.module(").removeprefix("any(")
        if inner == text or not text.endswith(")"):
            raise ArgumentError(
                "expected pass pipeline to be wrapped with the anchor operation type, e.g. "
                "'builtin.module(...)'"
            )
        manager.add(inner[:-1])
        return manager

    def add(self, pipeline: str) -> None:
        """Append passes, separated by commas, with options in braces."""
        from ttmlir.passes.core.manager import parse_pipeline

        try:
            parse_pipeline(f"builtin.module({pipeline})")
        except Exception as error:
            raise ArgumentError(str(error)) from error
        self._passes.append(pipeline)

    def enable_verifier(self, enable: bool) -> None:
        """What the passes leave is always verified."""

    def enable_ir_printing(self, **options: object) -> None:
        """Dumps are an option of the tools: `ttmlir-opt --mlir-print-ir-after-all`."""

    def run(self, operation: Operation | Module) -> None:
        """Run the passes on a module; MLIRError if one fails."""
        op = operation.module if isinstance(operation, Module) else operation.operation.op
        _run(cast("builtin.ModuleOp", op), ",".join(self._passes))

    def __str__(self) -> str:
        """The text of the passes."""
        return f"builtin.module({','.join(self._passes)})"


def _run(module: builtin.ModuleOp, pipeline: str) -> None:
    try:
        compiler.transform(module, pipeline)
    except DiagnosticError as error:
        raise MLIRError(f"Failure while executing pass pipeline:\n{error}") from error


def _pipeline(name: str) -> Callable[..., None]:
    def run(module: Module, options: str = "") -> None:
        _run(module.module, f"{name}{{{options}}}")

    run.__name__ = run.__qualname__ = name.replace("-", "_")
    run.__doc__ = f"Run `{name}` on a module, with options as on the command line."
    return run


_PIPELINES = (
    *("stablehlo-pipeline", "stablehlo-to-ttir-pipeline", "ttir-to-emitpy-pipeline"),
    *("ttir-to-ttmetal-pipeline", "ttir-to-ttnn-backend-pipeline"),
    *("ttir-to-ttnn-common-pipeline", "ttnn-common-to-runtime-pipeline"),
)


def ttnn_to_flatbuffer_binary(module: Module, *unused: object) -> bytes:
    """The `.ttnn` file of a module of ttnn."""
    return _written(compiler.write_ttnn, module)


def ttnn_to_flatbuffer_file(module: Module, path: str, *unused: object) -> None:
    """Write the `.ttnn` file of a module of ttnn; golden maps are not taken."""
    write_file(path, ttnn_to_flatbuffer_binary(module))


def ttmetal_to_flatbuffer_file(module: Module, path: str, *unused: object) -> None:
    """Write the `.ttm` file of a module of ttmetal; golden maps are not taken."""
    write_file(path, _written(compiler.write_ttm, module))


def translate_to_cpp(module: Module) -> str:
    """The C++ of a module of ttnn."""
    return _written(compiler.write_cpp, module)


def _written(write: Callable[..., Any], module: Module) -> Any:
    try:
        return write(module.module)
    except DiagnosticError as error:
        raise MLIRError(str(error)) from error


PASS_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **{name.replace("-", "_"): _pipeline(name) for name in _PIPELINES},
    "translate_to_cpp": translate_to_cpp,
    "ttmetal_to_flatbuffer_file": ttmetal_to_flatbuffer_file,
    "ttnn_to_flatbuffer_binary": ttnn_to_flatbuffer_binary,
    "ttnn_to_flatbuffer_file": ttnn_to_flatbuffer_file,
}
"""The functions of `ttmlir.passes`."""
