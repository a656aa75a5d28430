"""Makes operations of arith and emitc for what Python's operators mean.

Integers have 32 bits and a sign. `//` and `%` round down as in Python, not towards zero.
"""

from __future__ import annotations

import ast
import linecache
import operator
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import IntFlag
from functools import cached_property, lru_cache
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE
from types import CellType, CodeType, FunctionType
from typing import NoReturn

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    LocationAttr,
    MemRefType,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects.emitc import expressions as emitc
from ttmlir.dialects.tt import TileType
from ttmlir.dialects.ttkernel import RESULT_TYPES, CBType, op_class
from ttmlir.errors import ArgumentError, KernelError
from ttmlir.ir.builder import OpBuilder
from ttmlir.layout.enums import STORED_DATA_TYPES, CBPort, DataType
from ttmlir.mlir.reporting import LocatedError, Source, file_location, render_all
from ttmlir.optable.kernel import ValueKind

# --- Values ---------------------------------------------------------------------------------------
# What expressions and names of a kernel stand for while it is compiled.

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


# --- Types ----------------------------------------------------------------------------------------
# What kernels and operations are annotated and described with.

TILE = 32
_DATA_TYPES = {
    **{each.name: each for each in STORED_DATA_TYPES},
    **{each.schema_name: each for each in STORED_DATA_TYPES},
    "BFLOAT16": DataType.BF16,
    "FLOAT32": DataType.F32,
    "UINT32": DataType.U32,
    "INT32": DataType.U32,
    "Int32": DataType.U32,
    "UINT16": DataType.U16,
    "UINT8": DataType.U8,
    "BFLOAT8_B": DataType.BFP_BF8,
    "BFLOAT4_B": DataType.BFP_BF4,
}
"""Formats by the names that tt-mlir and ttnn give them; signed integers have unsigned ones."""


class CircularBuffer:
    """Annotation of a parameter that is a circular buffer, and description of one.

    `tensor_shape` is the shape of the tensor that goes through it, in elements.
    """

    def __init__(
        self,
        cb_id: int,
        tensor_shape: Sequence[int] = (8, 128, 128),
        dtype: str = "Float32",
    ) -> None:
        """The circular buffer with a number from 0 to 31."""
        if not 0 <= cb_id < len(CBPort):
            raise ArgumentError(
                f"circular buffer {cb_id} does not exist; they are numbered 0 to 31"
            )
        if dtype not in _DATA_TYPES:
            known = ", ".join(each.schema_name for each in STORED_DATA_TYPES)
            raise ArgumentError(f"unknown format '{dtype}' of a circular buffer; known are {known}")
        self.cb_id = cb_id
        self.tensor_shape = tuple(tensor_shape)
        self.tile_shape = TILE
        self.tilized_shape = self.get_tilized_memref_shape()
        self.dtype = dtype

    def get_tilized_memref_shape(self) -> list[int]:
        """The shape in tiles."""
        shape = list(self.tensor_shape)
        return [*shape[:-2], *(-(-extent // self.tile_shape) for extent in shape[-2:])]

    @property
    def data_type(self) -> DataType:
        """The format of its tiles."""
        return _DATA_TYPES[self.dtype]

    @property
    def type(self) -> CBType:
        """The type in the IR."""
        return _cb_type(self.cb_id, tuple(self.tilized_shape), self.data_type)


@lru_cache(maxsize=256)
def _cb_type(cb_id: int, shape: tuple[int, ...], data_type: DataType) -> CBType:
    memref: MemRefType[Attribute] = MemRefType(TileType.get(TILE, TILE, data_type), shape or (1,))
    return CBType.get(CBPort(cb_id), 0, memref)


class CompileTimeValue:
    """Annotation of a parameter that is a constant of the kernel: an int or a bool."""


CompiledValue = CompileTimeValue


@dataclass
class Arguments:
    """A run-time argument of a kernel on a grid of `x` by `y` cores.

    One that is common to all cores has the number `common_idx` among those; others have a list of
    numbers for each core.
    """

    x: int = 1
    y: int = 1
    is_common: bool = False
    common_idx: int = 0
    _values: dict[tuple[int, int], list[int]] = field(
        default_factory=dict[tuple[int, int], list[int]], repr=False
    )

    def make_common(self, common_idx: int) -> None:
        """Let all cores have it in common."""
        self.is_common = True
        self.common_idx = common_idx

    def set_args_at_core(self, x: int, y: int, args: Sequence[int]) -> None:
        """Set the numbers of a core."""
        self._check(x, y)
        self._values[x, y] = list(args)

    def add_args_at_core(self, x: int, y: int, args: Sequence[int]) -> None:
        """Add numbers to those of a core."""
        self._check(x, y)
        self._values.setdefault((x, y), []).extend(args)

    def get_args(self, x: int, y: int) -> list[int]:
        """The numbers of a core."""
        self._check(x, y)
        return list(self._values.get((x, y), ()))

    def get_all_args(self) -> list[list[list[int]]]:
        """The numbers of all cores, `[x][y]`."""
        return [[self.get_args(x, y) for y in range(self.y)] for x in range(self.x)]

    def split(self) -> list[Arguments]:
        """One argument for each of the numbers of a core; ValueError where cores differ in count.

        Without numbers, or common to all cores, it is one argument.
        """
        counts = {len(each) for each in self._values.values()}
        if len(counts) > 1:
            raise ArgumentError(
                f"run-time arguments of cores differ in count: {min(counts)} and {max(counts)}; "
                "give each core as many"
            )
        if self.is_common or counts <= {1}:
            return [self]
        return [
            Arguments(
                self.x, self.y, _values={core: [each[i]] for core, each in self._values.items()}
            )
            for i in range(max(counts))
        ]

    def _check(self, x: int, y: int) -> None:
        if not (0 <= x < self.x and 0 <= y < self.y):
            raise ArgumentError(f"core ({x}, {y}) is outside of the {self.x}x{self.y} cores")


class TensorAccessorConfig(IntFlag):
    """What the first compile-time argument of a tensor accessor says (tt-metal, ArgConfig)."""

    NONE = 0
    Sharded = 1
    IsDram = 2
    RuntimeRank = 4
    RuntimeNumBanks = 8
    RuntimeTensorShape = 16
    RuntimeShardShape = 32
    RuntimeBankCoords = 64


# --- Source ---------------------------------------------------------------------------------------
# The source of a Python function, as a tree whose locations are those of its file.

# --- Errors ---------------------------------------------------------------------------------------
# What is wrong with a kernel in Python, at its line.


class PyKernelError(LocatedError, KernelError):
    """A kernel that cannot be compiled: `file:line:col: error: ...`, the line, a caret."""

    def __init__(self, location: LocationAttr, message: str, file: str, text: str) -> None:
        """An error in a file with this text."""
        super().__init__(location, message)
        self._sources = {file: Source(text)}

    def __str__(self) -> str:
        """The message as it is printed."""
        return render_all(self.diagnostics, self._sources).rstrip("\n")


class KernelTypeError(PyKernelError, TypeError):
    """A call of a kernel with an argument of the wrong kind."""


class KernelValueError(PyKernelError, ValueError):
    """A call of a kernel that lacks an argument, or has one too many."""


# --- Source ---------------------------------------------------------------------------------------

_Positioned = ast.expr | ast.stmt | ast.arg | ast.keyword


@dataclass(frozen=True)
class FunctionSource:
    """A function, what its names mean around it, and the text of the file that it stands in."""

    name: str
    code: CodeType = field(repr=False)
    module: Mapping[str, object] = field(repr=False, compare=False)
    """The names of the module, as they are when they are asked for."""
    cells: Mapping[str, CellType] = field(repr=False, compare=False)
    """The names of a function around it."""
    defaults: Mapping[str, object] = field(repr=False, compare=False)
    """Default arguments by parameter."""
    text: str = field(repr=False)

    @classmethod
    def of(cls, function: FunctionType) -> FunctionSource:
        """The source as it is in the file now."""
        code = function.__code__
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, function.__globals__)
        names = code.co_varnames[: code.co_argcount]
        values = function.__defaults__ or ()
        return cls(
            name=function.__name__,
            code=code,
            module=function.__globals__,
            cells=dict(zip(code.co_freevars, function.__closure__ or (), strict=True)),
            defaults={
                **dict(zip(names[len(names) - len(values) :], values, strict=True)),
                **(function.__kwdefaults__ or {}),
            },
            text="".join(lines),
        )

    @property
    def file(self) -> str:
        """The file that the function stands in."""
        return self.code.co_filename

    @property
    def first_line(self) -> int:
        """The line of the first decorator, or of `def`."""
        return self.code.co_firstlineno

    def outside(self, name: str) -> tuple[bool, object]:
        """Whether a name means something around the function, and what."""
        if name in self.cells:
            try:
                return True, self.cells[name].cell_contents
            except ValueError:
                return False, None
        return name in self.module, self.module.get(name)

    @cached_property
    def outer_names(self) -> tuple[str, ...]:
        """The names that the function reads and does not set."""
        names = (each for each in ast.walk(self.node) if isinstance(each, ast.Name))
        local = frozenset(self.code.co_varnames)
        return tuple(dict.fromkeys(each.id for each in names if each.id not in local))

    @cached_property
    def node(self) -> ast.FunctionDef:
        """The tree of the function; PyKernelError if there is none."""
        found = _functions(self.text, self.file).get((self.name, self.first_line))
        if found is None:
            location = file_location(self.file, self.first_line, 1)
            is_async = self.code.co_flags & (CO_COROUTINE | CO_ASYNC_GENERATOR)
            what = "is an 'async def'" if is_async else "has no source"
            message = (
                f"'{self.name}' {what}; a kernel is a plain 'def' in a file or in a cell of a "
                "notebook"
            )
            raise PyKernelError(location, message, self.file, self.text)
        return found

    @cached_property
    def own_text(self) -> str:
        """The lines of the function alone."""
        return "\n".join(self._lines[self.first_line - 1 : self.node.end_lineno])

    def line(self, number: int) -> str:
        """A line of the file."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines()

    def location(self, node: _Positioned | ast.FunctionDef) -> LocationAttr:
        """Where a node of the function stands."""
        return file_location(self.file, node.lineno, node.col_offset + 1)

    def refuse(self, node: _Positioned | ast.FunctionDef, message: str) -> NoReturn:
        """Fail at a node."""
        raise PyKernelError(self.location(node), message, self.file, self.text)


@lru_cache(maxsize=64)
def _functions(text: str, file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line."""
    try:
        tree = ast.parse(text, file)
    except SyntaxError:
        # The file has changed since it was imported.
        return {}
    return {
        (node.name, min((each.lineno for each in node.decorator_list), default=node.lineno)): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }


# --- Builder --------------------------------------------------------------------------------------

_INTEGERS: dict[str, type[Operation]] = {
    "+": arith.AddiOp,
    "-": arith.SubiOp,
    "*": arith.MuliOp,
    "&": arith.AndIOp,
    "|": arith.OrIOp,
    "^": arith.XOrIOp,
    "<<": arith.ShLIOp,
    ">>": arith.ShRSIOp,
}
_FLOATS: dict[str, type[Operation]] = {
    "+": arith.AddfOp,
    "-": arith.SubfOp,
    "*": arith.MulfOp,
    "/": arith.DivfOp,
}
_PREDICATES = {"==": "eq", "!=": "ne", "<": "slt", "<=": "sle", ">": "sgt", ">=": "sge"}
_PYTHON: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "//": int.__floordiv__,
    "%": int.__mod__,
    "**": lambda base, exponent: base**exponent,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
    "<<": int.__lshift__,
    ">>": int.__rshift__,
}
_HOLDS: dict[str, Callable[[float, float], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_SHIFT = "integers have 32 bits; they can be shifted by 0 to 31, not by {}"
_UNDEFINED = {
    "//": "division by zero",
    "%": "division by zero",
    "<<": _SHIFT,
    ">>": _SHIFT,
    "**": "an exponent is an integer from 0 to 31, not {}",
}
_KEEP_NATURAL = frozenset("&|^")
"""Operators whose result is not negative if their operands are not; sums and products may wrap."""
_INT_MIN, _UINT_END = -(1 << 31), 1 << 32
_MOST_BITS = 31


class KernelBuilder(OpBuilder):
    """Adds operations at the location of the node that is being compiled."""

    def __init__(self, block: Block, source: FunctionSource) -> None:
        """Add to `block` what comes from a function."""
        super().__init__(block, source.location(source.node))
        self._entry = block
        self.source = source
        self._node: ast.expr | ast.stmt | ast.FunctionDef = source.node
        self._kernel_file = source.file

    # Places.

    def at(self, node: ast.expr | ast.stmt) -> None:
        """Take the location of a node.

        What is inlined from another file keeps the location of the call: a kernel has one file.
        """
        self._node = node
        if self.source.file == self._kernel_file:
            self.location = self.source.location(node)

    @contextmanager
    def inside(self, source: FunctionSource) -> Generator[None]:
        """Nodes are those of another function meanwhile."""
        outer = self.source, self._node, self.location
        self.source = source
        yield
        self.source, self._node, self.location = outer

    def refuse(self, message: str, node: ast.expr | ast.stmt | None = None) -> NoReturn:
        """Fail at a node, or at the last one that was looked at."""
        self.source.refuse(self._node if node is None else node, message)

    @property
    def is_certain(self) -> bool:
        """Whether the kernel always reaches the location."""
        return self.block is self._entry

    def forbid(self, message: str, node: ast.expr | ast.stmt | None = None) -> None:
        """Fail for numbers that are wrong if the kernel reaches the location; it stops if it does.

        It may not come there, as after `if n != 0` for a constant `n`. Numbers that are written
        there are always wrong.
        """
        wrong = self._node if node is None else node
        number = _second(self._node) if node is None else node
        is_written = isinstance(number, ast.Constant | ast.UnaryOp)
        if self.is_certain or is_written:
            self.refuse(message, wrong)
        self.stop()

    def stop(self) -> None:
        """Let the kernel stop if it reaches the location."""
        self.add(op_class("assert").create(operands=[self.ssa(_literal(0, i1))]))

    # Operations.

    def add(self, op: Operation) -> Operation:
        """Add an operation at the location."""
        op.location = self.location
        return self.insert(op)

    def make(
        self,
        cls: type[Operation],
        operands: Sequence[SSAValue],
        type_: Attribute,
        properties: Mapping[str, Attribute] | None = None,
    ) -> SSAValue:
        """Add an operation with one result."""
        op = cls.create(operands=operands, result_types=[type_], properties=dict(properties or {}))
        return self.add(op).results[0]

    @contextmanager
    def into(self, block: Block) -> Generator[None]:
        """Operations go to another block meanwhile."""
        outer, self.block = self.block, block
        yield
        self.block = outer

    # Numbers.

    def ssa(self, value: Scalar) -> SSAValue:
        """The value of an operation; a literal gets a constant."""
        if value.ssa is not None:
            return value.ssa
        known = value.known
        assert known is not None, "a scalar without operation is a literal"
        if value.type == f32:
            return self.add(arith.ConstantOp(FloatAttr(float(known), f32))).results[0]
        whole = int(known)
        if not _INT_MIN <= whole < _UINT_END:
            self.refuse(f"{whole} does not fit into the 32 bits that integers have on a core")
        bits = 1 if value.type == i1 else 32
        constant = arith.ConstantOp(IntegerAttr(_wrap(whole, bits), bits))
        return self.add(constant).results[0]

    def settle(self, value: Scalar) -> Scalar:
        """The value with an operation, so that all uses are of one constant."""
        known, natural = value.known, value.natural
        if value.is_literal and value.type == i32 and known is not None:
            known = _wrap(int(known), 32)
            natural = known >= 0
        return Scalar(value.type, self.ssa(value), known, natural)

    def index(self, value: Scalar) -> SSAValue:
        """An integer as an index of a memref."""
        if value.known is not None:
            constant = arith.ConstantOp(IntegerAttr(int(value.known), IndexType()))
            return self.add(constant).results[0]
        return self.make(arith.IndexCastOp, [self.ssa(self.integer(value))], IndexType())

    def convert(self, value: Scalar, type_: Attribute) -> Scalar:
        """A number as one of another type, as `int`, `float` and `bool` do in Python."""
        if value.type == type_:
            return value
        if not value.is_number:
            wanted = describe(Scalar(type_))
            self.refuse(f"{describe(value)} is where {wanted} has to be")
        if value.is_literal:
            assert value.known is not None
            return _literal(value.known, type_)
        if type_ == i1:
            return self.compare("!=", value, _literal(0, value.type))
        if value.type == i1:
            value = Scalar(i32, self.make(arith.ExtUIOp, [self.ssa(value)], i32), natural=True)
            return self.convert(value, type_)
        cls = arith.SIToFPOp if type_ == f32 else arith.FPToSIOp
        return Scalar(type_, self.make(cls, [self.ssa(value)], type_))

    def integer(self, value: Scalar) -> Scalar:
        """A number as an integer; floats are refused."""
        if value.type == f32:
            self.refuse("a float is where an integer has to be; int(...) cuts its fraction off")
        return self.convert(value, i32)

    def truth(self, value: Scalar) -> Scalar:
        """Whether a number is not 0."""
        return self.convert(value, i1)

    # Operators.

    def binary(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        """`left symbol right` of numbers."""
        for each in (left, right):
            if not each.is_number:
                self.refuse(f"'{symbol}' takes numbers, not {describe(each)}")
        if f32 in (left.type, right.type):
            return self._float(symbol, left, right)
        if symbol == "/":
            self.refuse("'/' makes a float of integers; '//' is the division of integers")
        if (left.is_literal and right.is_literal) or _is_defined(symbol, left, right):
            assert left.known is not None
            assert right.known is not None
            if not _is_defined(symbol, left, right):
                self.forbid(_UNDEFINED[symbol].format(right.known))
                return _literal(0, i32)
            folded = _PYTHON[symbol](int(left.known), int(right.known))
            if left.is_literal and right.is_literal:
                return _literal(folded, i1 if _both_truths(symbol, left, right) else i32)
        else:
            folded = None
        result = self._integers(symbol, left, right)
        if folded is None:
            return result
        known = _wrap(folded, 1 if result.type == i1 else 32)
        return Scalar(result.type, result.ssa, known, known >= 0)

    def _integers(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        if _both_truths(symbol, left, right):
            operands = [self.ssa(left), self.ssa(right)]
            return Scalar(i1, self.make(_INTEGERS[symbol], operands, i1), natural=True)
        left, right = self.convert(left, i32), self.convert(right, i32)
        if symbol == "**" and right.known is None:
            self.refuse("the exponent of '**' has to be known when the kernel is compiled, 0 to 31")
        if right.known is not None and not _is_defined_by(symbol, right.known):
            self.forbid(_UNDEFINED[symbol].format(right.known))
            return _literal(0, i32)
        match symbol:
            case "//":
                return self._floor_divide(left, right)
            case "%":
                return self._modulo(left, right)
            case "**":
                return self._power(left, right)
            case _:
                pass
        natural = left.natural and (symbol == ">>" or (symbol in _KEEP_NATURAL and right.natural))
        operands = [self.ssa(left), self.ssa(right)]
        return Scalar(i32, self.make(_INTEGERS[symbol], operands, i32), natural=natural)

    def _float(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        cls = _FLOATS.get(symbol)
        if cls is None:
            self.refuse(f"'{symbol}' does not go with floats on a core; + - * / do")
        operands = [self.ssa(self.convert(each, f32)) for each in (left, right)]
        return Scalar(f32, self.make(cls, operands, f32))

    def _floor_divide(self, left: Scalar, right: Scalar) -> Scalar:
        """The quotient, rounded down."""
        power = _power_of_two(right)
        if power is not None:
            return self._plain(arith.ShRSIOp, left, _literal(power, i32), natural=left.natural)
        natural = left.natural and right.natural
        cls = arith.DivSIOp if natural else arith.FloorDivSIOp
        return self._plain(cls, left, right, natural=natural)

    def _modulo(self, left: Scalar, right: Scalar) -> Scalar:
        """What floor division leaves: it has the sign of the divisor."""
        power = _power_of_two(right)
        if power is not None:
            mask = _literal((1 << power) - 1, i32)
            return self._plain(arith.AndIOp, left, mask, natural=True)
        remainder = self._plain(arith.RemSIOp, left, right, natural=left.natural and right.natural)
        if remainder.natural:
            return remainder
        zero = _literal(0, i32)
        if right.natural:
            wrong = self.compare("<", remainder, zero)
        else:
            signs = self._plain(arith.XOrIOp, remainder, right)
            differ, rest = self.compare("<", signs, zero), self.compare("!=", remainder, zero)
            wrong = self.binary("&", differ, rest)
        return self.select(wrong, self.binary("+", remainder, right), remainder, right.natural)

    def _plain(
        self, cls: type[Operation], left: Scalar, right: Scalar, *, natural: bool = False
    ) -> Scalar:
        operands = [self.ssa(left), self.ssa(right)]
        return Scalar(i32, self.make(cls, operands, i32), natural=natural)

    def _power(self, left: Scalar, right: Scalar) -> Scalar:
        """A product of equal factors."""
        assert right.known is not None, "the exponent has been checked"
        result, square, bits = _literal(1, i32), left, int(right.known)
        while bits:
            if bits & 1:
                result = square if result.is_literal else self.binary("*", result, square)
            bits >>= 1
            square = self.binary("*", square, square) if bits else square
        return result

    def compare(self, symbol: str, left: Scalar, right: Scalar) -> Scalar:
        """A comparison of integers or truth values."""
        for each in (left, right):
            if not each.is_number:
                self.refuse(f"'{symbol}' compares numbers, not {describe(each)}")
            if each.type == f32:
                self.refuse(
                    "floats cannot be compared in a kernel; compare integers, or tiles with calls "
                    "such as ltz_tile"
                )
        left, right = self.convert(left, i32), self.convert(right, i32)
        if left.is_literal and right.is_literal:
            assert left.known is not None
            assert right.known is not None
            return _literal(int(_HOLDS[symbol](left.known, right.known)), i1)
        operands = self.ssa(left), self.ssa(right)
        result = self.add(arith.CmpiOp(*operands, _PREDICATES[symbol])).results[0]
        return Scalar(i1, result, natural=True)

    def select(
        self, condition: Scalar, then: Scalar, otherwise: Scalar, natural: bool = False
    ) -> Scalar:
        """One of two values of the same type."""
        operands = [self.ssa(each) for each in (condition, then, otherwise)]
        return Scalar(then.type, self.make(arith.SelectOp, operands, then.type), natural=natural)

    def extremum(self, cls: type[Operation], values: Sequence[Scalar]) -> Scalar:
        """The least or greatest of integers."""
        result, *others = (self.integer(each) for each in values)
        for each in others:
            both = result.natural and each.natural
            result = self._plain(cls, result, each, natural=both)
        return result

    def unary(self, symbol: str, value: Scalar) -> Scalar:
        """`-value`, `+value`, `~value` or `not value`."""
        if not value.is_number:
            self.refuse(f"'{symbol}' takes a number, not {describe(value)}")
        if symbol == "not":
            truth = self.truth(value)
            if truth.is_literal:
                return _literal(int(not truth.known), i1)
            return Scalar(i1, self.make(emitc.LogicalNotOp, [self.ssa(truth)], i1), natural=True)
        if value.type == f32 and symbol == "~":
            self.refuse("'~' takes an integer, not a float")
        value = self.convert(value, i32) if value.type == i1 else value
        if value.is_literal:
            assert value.known is not None
            if symbol == "~":
                return _literal(~int(value.known), i32)
            return _literal(-value.known if symbol == "-" else value.known, value.type)
        result = self.make(_UNARY[symbol], [self.ssa(value)], value.type)
        known = None
        if value.known is not None and value.type == i32:
            whole = int(value.known)
            known = {"-": -whole, "+": whole, "~": ~whole}[symbol]
        return Scalar(value.type, result, known, symbol == "+" and value.natural)


_UNARY: dict[str, type[Operation]] = {
    "-": emitc.UnaryMinusOp,
    "+": emitc.UnaryPlusOp,
    "~": emitc.BitwiseNotOp,
}


def _literal(value: int | float, type_: Attribute) -> Scalar:
    if type_ == f32:
        return Scalar(f32, known=float(value))
    whole = int(value != 0) if type_ == i1 else int(value)
    return Scalar(type_, known=whole, natural=0 <= whole <= MOST_INTEGER)


def _both_truths(symbol: str, left: Scalar, right: Scalar) -> bool:
    return symbol in "&|^" and left.type == i1 and right.type == i1


def _power_of_two(value: Scalar) -> int | None:
    known = value.known
    if not isinstance(known, int) or known <= 0 or known & (known - 1):
        return None
    return known.bit_length() - 1


def _wrap(value: int, bits: int) -> int:
    """The number with so many bits, negative if the highest is set."""
    if bits == 1:
        return value & 1
    return (value + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def _is_defined(symbol: str, left: Scalar, right: Scalar) -> bool:
    """Whether both numbers are known, and so is what the operator makes of them.

    What is not may stand where the kernel never comes.
    """
    if left.known is None or right.known is None:
        return False
    return _is_defined_by(symbol, right.known)


def _is_defined_by(symbol: str, right: float) -> bool:
    """Whether the operator takes the second number."""
    if symbol in ("//", "%"):
        return right != 0
    return symbol not in ("<<", ">>", "**") or 0 <= right <= _MOST_BITS


def _second(node: ast.AST) -> ast.AST:
    """The second number of an operator, or the node itself."""
    match node:
        case ast.BinOp(right=second) | ast.AugAssign(value=second):
            return second
        case _:
            return node
