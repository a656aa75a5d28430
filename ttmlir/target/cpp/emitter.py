"""C++ from the emitc dialect, with func and cf: what `ttmlir-translate --mlir-to-cpp` prints.

The text is that of MLIR's own emitter (mlir/lib/Target/Cpp/TranslateToCpp.cpp, LLVM 19), blank
lines and superfluous semicolons included, except that

- a function without body is declared, not defined with an empty body;
- `*` and `&` apply to nested expressions;
- 16-bit floats have the names that LLVM 20 gives them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    TupleType,
    UnrankedTensorType,
)
from xdsl.dialects.emitc import (
    EmitC_ArrayType,
    EmitC_LValueType,
    EmitC_OpaqueAttr,
    EmitC_OpaqueType,
    EmitC_PointerType,
    EmitC_PtrDiffT,
    EmitC_SignedSizeT,
    EmitC_SizeT,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue, TypeAttribute
from xdsl.traits import SymbolTable

from ttmlir.cpp.errors import CannotEmitError
from ttmlir.cpp.types import (
    BFLOAT16,
    DOUBLE,
    FIXED_WIDTHS,
    FLOAT,
    HALF,
    ArrayType,
    CType,
    FloatType,
    IntType,
    ObjectType,
    PointerType,
    declare,
    find_integer_type,
)
from ttmlir.dialects.emitc.expressions import VerbatimOp
from ttmlir.mlir.attributes import (
    Elements,
    element_count,
    format_all_digits,
    raw_bytes,
    splat_bytes,
    unpack_values,
)
from ttmlir.mlir.core_prefix import has_late_kernels
from ttmlir.mlir.reporting import OpError
from ttmlir.nesting import deep_recursion
from ttmlir.target.notes import Notes
from ttmlir.terminal import shown_name

# --- Types ----------------------------------------------------------------------------------------
# Types as C++ spells them, in the words of MLIR's C++ emitter.
#
# `i32` is `int32_t`, `!emitc.opaque<"ttnn::Tensor">` is `ttnn::Tensor`, several results make a
# `std::tuple`. 16-bit floats follow LLVM 20 (`_Float16`, `__bf16`).

MAX_TUPLE_LENGTH = 1 << 16
"""Longest text of a tuple type, in characters."""

_FLOATS: dict[type[Attribute], FloatType] = {
    Float16Type: HALF,
    BFloat16Type: BFLOAT16,
    Float32Type: FLOAT,
    Float64Type: DOUBLE,
}
_SIZES: dict[type[Attribute], ObjectType] = {
    IndexType: ObjectType("size_t"),
    EmitC_SizeT: ObjectType("size_t"),
    EmitC_SignedSizeT: ObjectType("ssize_t"),
    EmitC_PtrDiffT: ObjectType("ptrdiff_t"),
}
"""Types whose width the C++ compiler knows."""


def type_text(type_: Attribute) -> str:
    """The C++ type; raises CannotEmitError if there is none."""
    return find_type(type_).name


def find_type(type_: Attribute) -> CType:
    """The C++ type; raises CannotEmitError if there is none."""
    match type_:
        case IntegerType():
            return _find_integer(type_)
        case TensorType():
            return ObjectType(_tensor_text(type_))
        case TupleType():
            return ObjectType(_nested_tuple_text(type_))
        case EmitC_OpaqueType():
            return ObjectType(type_.value.data)
        case EmitC_ArrayType():
            found = find_type(type_.element_type)
            for extent in reversed(type_.get_shape()):
                found = ArrayType(found, extent)
            return found
        case EmitC_PointerType():
            return _find_pointer(type_)
        case EmitC_LValueType():
            return find_type(type_.value_type)
        case UnrankedTensorType():
            raise CannotEmitError("cannot emit unranked tensor type")
        case _:
            return _find_simple_type(type_)


def _find_simple_type(type_: Attribute) -> CType:
    found = _FLOATS.get(type(type_)) or _SIZES.get(type(type_))
    if found is None:
        kind = "float type" if isinstance(type_, AnyFloat) else "type"
        raise CannotEmitError(f"cannot emit {kind} '{type_}'")
    return found


def is_emitted_float(type_: Attribute) -> bool:
    """True for the float types that have a C++ form."""
    return type(type_) in _FLOATS


def declaration_text(type_: Attribute, name: str) -> str:
    """A declaration without its semicolon; the extents of an array follow the name."""
    return declare(find_type(type_), name)


def result_text(types: Sequence[Attribute]) -> str:
    """The return type of a function: `void`, the one type, or a tuple."""
    if not types:
        return "void"
    if any(isinstance(type_, EmitC_ArrayType) for type_ in types):
        raise CannotEmitError("cannot emit array type as result type")
    return type_text(types[0]) if len(types) == 1 else tuple_text(types)


def tuple_text(types: Sequence[Attribute]) -> str:
    """The tuple of these types."""
    if any(isinstance(type_, EmitC_ArrayType) for type_ in types):
        raise CannotEmitError("cannot emit tuple of array type")
    return f"std::tuple<{', '.join(map(type_text, types))}>"


@lru_cache(maxsize=1024)
def _nested_tuple_text(type_: TupleType) -> str:
    """The text of a tuple in a type, which may hold the same tuple again and again."""
    text = tuple_text(type_.types.data)
    if len(text) > MAX_TUPLE_LENGTH:
        raise CannotEmitError(
            f"cannot emit tuple type whose text is longer than {MAX_TUPLE_LENGTH} characters"
        )
    return text


def _find_integer(type_: IntegerType) -> IntType:
    width = type_.width.data
    if width not in (1, *FIXED_WIDTHS):
        raise CannotEmitError(f"cannot emit integer type '{type_}'")
    return find_integer_type(width, type_.signedness.data is not Signedness.UNSIGNED)


def _tensor_text(type_: TensorType) -> str:
    if not type_.has_static_shape():
        raise CannotEmitError("cannot emit tensor type with non static shape")
    if isinstance(type_.element_type, EmitC_ArrayType):
        raise CannotEmitError(f"cannot emit tensor of array type '{type_}'")
    extents = map(str, type_.get_shape())
    return f"Tensor<{', '.join((type_text(type_.element_type), *extents))}>"


def _find_pointer(type_: EmitC_PointerType) -> PointerType:
    if isinstance(type_.pointee_type, EmitC_ArrayType):
        raise CannotEmitError(f"cannot emit pointer to array type '{type_}'")
    return PointerType(find_type(type_.pointee_type))


# --- Expressions ----------------------------------------------------------------------------------
# C++ expressions: the right-hand sides of operations that compute one.
#
# An `emitc.expression` nests operations into one C++ expression; operands bind as tightly as C++'s
# precedence says, parentheses stand where it says otherwise.

# --- Literals -------------------------------------------------------------------------------------
# Attributes as C++ literals, in the words of MLIR's C++ emitter.
#
# `3 : i32` is `3`, `true` is `true`, `1.5 : f32` is `1.500000000e+00f`, `dense<[1, 2]>` is `{1,
# 2}`, `#emitc.opaque<"std::nullopt">` is its text, a type is its C++ spelling.

_SUFFIXES: dict[type[Attribute], str] = {
    Float16Type: "f16",
    BFloat16Type: "bf16",
    Float32Type: "f",
}


def literal_text(attribute: Attribute, *, elide_above: int | None = None) -> str:
    """The literal; raises CannotEmitError if the attribute has none.

    Constants of more than `elide_above` elements become `{/* 4096 values */}`.
    """
    match attribute:
        case IntegerAttr():
            return _integer_text(attribute.value.data, attribute.type)
        case FloatAttr():
            return _float_text(attribute.value.data, attribute.type)
        case DenseIntOrFPElementsAttr():
            return _elements_text(attribute, elide_above)
        case EmitC_OpaqueAttr():
            return attribute.value.data
        case SymbolRefAttr():
            return _symbol_text(attribute)
        case TypeAttribute():
            return type_text(attribute)
        case _:
            raise CannotEmitError(f"cannot emit attribute: {attribute}")


def _integer_text(value: int, type_: IntegerType | IndexType) -> str:
    if isinstance(type_, IntegerType) and type_.width.data == 1:
        return "true" if value else "false"
    return str(value)


def _float_text(value: float, type_: AnyFloat) -> str:
    if not is_emitted_float(type_):
        raise CannotEmitError("expected floating point attribute to be f16, bf16, f32 or f64")
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "-INFINITY" if value == -math.inf else "INFINITY"
    return format_all_digits(value, type_) + _SUFFIXES.get(type(type_), "")


def _elements_text(elements: Elements, elide_above: int | None) -> str:
    count = element_count(elements)
    if elide_above is not None and count > elide_above:
        return f"{{/* {count} values */}}"
    type_ = elements.get_element_type()
    if isinstance(type_, IntegerType | IndexType):
        texts = [_integer_text(cast(int, value), type_) for value in _stored_values(elements)]
    elif isinstance(type_, AnyFloat):
        texts = [_float_text(cast(float, value), type_) for value in _stored_values(elements)]
    else:
        raise CannotEmitError(f"cannot emit attribute: {elements}")
    if splat_bytes(elements) is not None:
        texts *= count
    return f"{{{', '.join(texts)}}}"


def _stored_values(elements: Elements) -> list[object]:
    """The value of a splat once, or all values."""
    data = splat_bytes(elements) or raw_bytes(elements)
    return list(unpack_values(data, elements.get_element_type()))


def _symbol_text(symbol: SymbolRefAttr) -> str:
    if len(symbol.nested_references.data) > 1:
        raise CannotEmitError("attribute has more than 1 nested reference")
    return symbol.root_reference.data


# --- Expressions ----------------------------------------------------------------------------------

BINARY = {
    "emitc.mul": ("*", 13),
    "emitc.div": ("/", 13),
    "emitc.rem": ("%", 13),
    "emitc.add": ("+", 12),
    "emitc.sub": ("-", 12),
    "emitc.bitwise_left_shift": ("<<", 11),
    "emitc.bitwise_right_shift": (">>", 11),
    "emitc.bitwise_and": ("&", 7),
    "emitc.bitwise_xor": ("^", 6),
    "emitc.bitwise_or": ("|", 5),
    "emitc.logical_and": ("&&", 4),
    "emitc.logical_or": ("||", 3),
}
"""C++ operator and its precedence; a higher one binds more tightly."""

UNARY = {
    "emitc.bitwise_not": "~",
    "emitc.logical_not": "!",
    "emitc.unary_minus": "-",
    "emitc.unary_plus": "+",
}

COMPARISONS = (("==", 8), ("!=", 8), ("<", 9), ("<=", 9), (">", 9), (">=", 9), ("<=>", 10))
"""By the number of the predicate of `emitc.cmp`."""

_CALL, _PREFIX, _CONDITIONAL, _LOWEST = 16, 15, 2, 0


def property_of(op: Operation, name: str) -> Attribute | None:
    """A property, or in older spellings an attribute, of an operation."""
    return op.properties.get(name, op.attributes.get(name))


def text_of(op: Operation, name: str) -> str:
    """The text of a required string or symbol property."""
    attribute = property_of(op, name)
    if attribute is None:
        raise CannotEmitError(f"requires attribute '{name}'")
    return string_text(attribute)


def string_text(attribute: Attribute) -> str:
    """The text of a string or symbol."""
    match attribute:
        case StringAttr():
            return attribute.data
        case SymbolRefAttr():
            return attribute.root_reference.data
        case _:
            raise CannotEmitError(f"expected a string or symbol, got {attribute}")


def elements_of(op: Operation, name: str) -> tuple[Attribute, ...] | None:
    """The elements of an array property; None if it is absent."""
    attribute = property_of(op, name)
    if not isinstance(attribute, ArrayAttr):
        return None
    return cast("ArrayAttr[Attribute]", attribute).data


def is_expression_part(op: Operation) -> bool:
    """True if the operation may stand in an `emitc.expression`."""
    return op.name in _RENDERERS


class ExpressionRenderer:
    """Renders operations to C++ expressions.

    `name_of` gives the text of a value that has been emitted before; `literal` that of an
    attribute.
    """

    def __init__(
        self, name_of: Callable[[SSAValue], str], literal: Callable[[Attribute], str]
    ) -> None:
        """A renderer without parts."""
        self.name_of = name_of
        self.literal = literal
        # Text and precedence of the operations inside `emitc.expression`s.
        self._parts: dict[SSAValue, tuple[str, int]] = {}

    def render(self, op: Operation) -> str:
        """The expression that computes the result of `op`."""
        return self._render(op)[0]

    def render_region(self, expression: Operation) -> str:
        """The expression that an `emitc.expression` holds."""
        *parts, terminator = expression.regions[0].block.ops
        for op in parts:
            self._parts[op.results[0]] = self._render(op)
        text, _ = self._parts[terminator.operands[0]]
        return text

    def operand(self, value: SSAValue, precedence: int = _LOWEST) -> str:
        """An operand of an operation whose operator has this precedence."""
        if value in self._parts:
            text, own = self._parts[value]
            return f"({text})" if own <= precedence else text
        if isinstance(value.owner, Operation) and is_inlined(value.owner):
            return self.render_region(value.owner)
        return self.name_of(value)

    def operands(self, values: Sequence[SSAValue]) -> str:
        """Operands in a list, which need no parentheses."""
        return ", ".join(map(self.operand, values))

    def _render(self, op: Operation) -> tuple[str, int]:
        if op.name not in _RENDERERS:
            raise CannotEmitError(f"'{op.name}' cannot be part of an expression")
        return _RENDERERS[op.name](self, op)

    def binary(self, op: Operation) -> tuple[str, int]:
        """`lhs + rhs`."""
        return self._infix(op, *BINARY[op.name])

    def compare(self, op: Operation) -> tuple[str, int]:
        """`lhs < rhs`."""
        predicate = property_of(op, "predicate")
        if not isinstance(predicate, IntegerAttr):
            raise CannotEmitError("requires attribute 'predicate'")
        return self._infix(op, *COMPARISONS[predicate.value.data])

    def _infix(self, op: Operation, operator: str, precedence: int) -> tuple[str, int]:
        lhs, rhs = (self.operand(value, precedence) for value in op.operands)
        return f"{lhs} {operator} {rhs}", precedence

    def unary(self, op: Operation) -> tuple[str, int]:
        """`-value`."""
        return UNARY[op.name] + self.operand(op.operands[0], _PREFIX), _PREFIX

    def apply(self, op: Operation) -> tuple[str, int]:
        """`&value` or `*value`."""
        operator = text_of(op, "applicableOperator")
        return operator + self.operand(op.operands[0], _PREFIX), _PREFIX

    def cast(self, op: Operation) -> tuple[str, int]:
        """`(type) value`."""
        value = self.operand(op.operands[0], _PREFIX)
        return f"({type_text(op.results[0].type)}) {value}", _PREFIX

    def conditional(self, op: Operation) -> tuple[str, int]:
        """`condition ? value : value`."""
        condition, true, false = (self.operand(value, _CONDITIONAL) for value in op.operands)
        return f"{condition} ? {true} : {false}", _CONDITIONAL

    def call(self, op: Operation) -> tuple[str, int]:
        """`function(operands)`."""
        return f"{text_of(op, 'callee')}({self.operands(op.operands)})", _CALL

    def call_opaque(self, op: Operation) -> tuple[str, int]:
        """`function<template arguments>(arguments)`."""
        callee = text_of(op, "callee")
        template_args, args = elements_of(op, "template_args"), elements_of(op, "args")
        if template_args is not None:
            callee += f"<{', '.join(map(self.literal, template_args))}>"
        if args is None:
            return f"{callee}({self.operands(op.operands)})", _CALL
        listed = ", ".join(self._argument(op, argument) for argument in args)
        return f"{callee}({listed})", _CALL

    def _argument(self, op: Operation, argument: Attribute) -> str:
        """A literal, or for an integer of type index the operand with that number."""
        if not isinstance(argument, IntegerAttr):
            return self.literal(argument)
        number = cast("IntegerAttr[IntegerType | IndexType]", argument)
        if not isinstance(number.type, IndexType):
            return self.literal(number)
        return self.operand(op.operands[number.value.data])


_RENDERERS: dict[str, Callable[[ExpressionRenderer, Operation], tuple[str, int]]] = {
    **dict.fromkeys(BINARY, ExpressionRenderer.binary),
    **dict.fromkeys(UNARY, ExpressionRenderer.unary),
    "emitc.apply": ExpressionRenderer.apply,
    "emitc.call": ExpressionRenderer.call,
    "emitc.call_opaque": ExpressionRenderer.call_opaque,
    "emitc.cast": ExpressionRenderer.cast,
    "emitc.cmp": ExpressionRenderer.compare,
    "emitc.conditional": ExpressionRenderer.conditional,
}


def is_inlined(op: Operation) -> bool:
    """True for an `emitc.expression` that stands where its result is used.

    Not where that would repeat it, move a side effect, or need a variable: in the index of a
    subscript and in operations that could have been part of the expression.
    """
    if op.name != "emitc.expression" or property_of(op, "do_not_inline") is not None:
        return False
    if _has_side_effects(op) or not op.results[0].has_one_use():
        return False
    user = next(iter(op.results[0].uses)).operation
    return user.name != "emitc.subscript" and not is_expression_part(user)


def _has_side_effects(expression: Operation) -> bool:
    return any(_touches_memory(op) for op in expression.regions[0].block.ops)


def _touches_memory(op: Operation) -> bool:
    """True for opaque calls, reads through pointers, and reads of variables."""
    if op.name == "emitc.call_opaque":
        return True
    if op.name == "emitc.apply":
        return text_of(op, "applicableOperator") == "*"
    return any(
        isinstance(value.owner, Operation) and value.owner.name == "emitc.variable"
        for value in op.operands
    )


# --- Emitter --------------------------------------------------------------------------------------

# --- Names ----------------------------------------------------------------------------------------
# Names of values and labels of blocks, numbered as they are first met: `v1`, `v2`, `label1`.


class Names:
    """Names in nested scopes; numbers start again where a scope ends."""

    def __init__(self, notes: Notes | None = None) -> None:
        """No names; `notes` say what variables are called."""
        self._notes = notes
        self._used: dict[str, int] = {}
        self._values: dict[SSAValue, str] = {}
        self._labels: dict[Block, str] = {}
        self._value_count = 0
        self._label_count = 0

    @contextmanager
    def scope(self) -> Generator[None]:
        """Names given inside are forgotten at the end."""
        saved = self._values.copy(), self._labels.copy(), self._value_count, self._label_count
        used = self._used.copy()
        yield
        self._values, self._labels, self._value_count, self._label_count = saved
        self._used = used

    def declare(self, value: SSAValue, letter: str = "v") -> str:
        """A new name for a value, or the one that it has."""
        if value not in self._values:
            stem = self._stem_of(value)
            self._value_count += not stem
            self._values[value] = self._free(stem) if stem else f"{letter}{self._value_count}"
        return self._values[value]

    def _stem_of(self, value: SSAValue) -> str:
        if self._notes is None:
            return ""
        owner = value.owner
        if isinstance(owner, Operation):
            return self._notes.stem(owner)
        return self._notes.stem_of_argument(value)

    def _free(self, stem: str) -> str:
        """The stem, with a number where another variable has the name."""
        assert self._notes is not None
        name = stem
        while name in self._used or name in self._notes.reserved or _NUMBERED.fullmatch(name):
            self._used[stem] = self._used.get(stem, 0) + 1
            name = f"{stem}_{self._used[stem]}"
        self._used.setdefault(name, 0)
        return name

    def define(self, value: SSAValue, text: str) -> None:
        """Let `text` stand for a value that gets no variable."""
        self._values[value] = text

    def of(self, value: SSAValue) -> str:
        """The name of a declared value."""
        name = self._values.get(value)
        if name is None:
            raise CannotEmitError("an operand has no variable in this scope")
        return name

    def label(self, block: Block) -> str:
        """The label of a block."""
        if block not in self._labels:
            self._label_count += 1
            self._labels[block] = f"label{self._label_count}"
        return self._labels[block]


# --- Emitter --------------------------------------------------------------------------------------

_INDENT = "  "
_NAME = re.compile(r"[\w.$:]+")
"""What functions are called: names, and those that other dialects write with dots."""
_NUMBERED = re.compile(r"v\d+|[i-u]|label\d+")
"""What variables without a name of their own, and labels, are called."""
_LOOP_LETTERS = "ijklmnopqrstu"
_WIDTH = 100
"""Calls in longer lines have a line for each argument, in a text with notes."""

# Operations without a line of their own: their text stands where their result is used.
_DEFERRED = frozenset(
    {"emitc.get_global", "emitc.literal", "emitc.member", "emitc.member_of_ptr", "emitc.subscript"}
)

# In the body of a function these end without a semicolon.
_BLOCK_LIKE = frozenset(
    {"cf.cond_br", "emitc.declare_func", "emitc.for", "emitc.if", "emitc.verbatim"}
)


def emit_cpp(
    module: ModuleOp,
    *,
    declare_variables_at_top: bool = False,
    elide_above: int | None = None,
    late: bool | None = None,
    notes: Notes | None = None,
) -> str:
    """The C++ text of a module; with `notes` it has their names and comments.

    `late` asks for the text of MLIR of 2026, which calls the variables of loops `i`, `j`, ... and
    has no superfluous semicolons; by default, for modules that have its operations.

    With `declare_variables_at_top` all variables of a function stand at its head, which functions
    of several blocks need. Constants of more than `elide_above` elements are left out of the text.
    An operation, type or attribute without a C++ form raises the error of that operation.
    """
    is_late = has_late_kernels(module) if late is None else late
    emitter = _Emitter(declare_variables_at_top, elide_above, is_late, notes)
    with deep_recursion():
        emitter.emit(module, semicolon=False)
    return "".join(emitter.pieces)


class _Emitter:
    """Appends pieces of text; a method per operation that is a statement."""

    def __init__(
        self, variables_at_top: bool, elide_above: int | None, late: bool, notes: Notes | None
    ) -> None:
        self.late = late
        self.notes = notes
        self.last_comment = ""
        self.loops = 0
        self.pieces = list[str]()
        self.variables_at_top = variables_at_top
        self.elide_above = elide_above
        self.names = Names(notes)
        self.indent = ""
        self.expressions = ExpressionRenderer(self.names.of, self.literal)

    def literal(self, attribute: Attribute) -> str:
        return literal_text(attribute, elide_above=self.elide_above)

    def emit(self, op: Operation, *, semicolon: bool) -> None:
        """Write one operation; the caller says whether a semicolon ends it."""
        before = "" if self.notes is None else self.notes.before(op)
        if before and before != self.last_comment:
            self.line(_comment(before))
            self.last_comment = before
        try:
            written = self._statement(op)
        except CannotEmitError as error:
            raise OpError(op, str(error)) from error
        after = "" if self.notes is None else self.notes.after(op)
        if written:
            self.pieces.append(";" if semicolon else "")
            self.pieces.append(f"  {_comment(after)}\n" if after else "\n")

    def _statement(self, op: Operation) -> bool:
        """Write an operation up to its end of line; False if it has no text here."""
        if op.name in _DEFERRED:
            self.names.define(op.results[0], self._deferred_text(op))
            return False
        if op.name == "emitc.expression":
            if is_inlined(op):
                return False
            self._assign(op, self.expressions.render_region(op))
        elif is_expression_part(op):
            self._assign(op, self.expressions.render(op))
        elif (statement := _STATEMENTS.get(op.name)) is not None:
            statement(self, op)
        else:
            raise CannotEmitError(
                "unable to find printer for op; C++ is printed from the dialects emitc, func and cf"
            )
        return True

    def _deferred_text(self, op: Operation) -> str:
        match op.name:
            case "emitc.literal":
                return text_of(op, "value")
            case "emitc.get_global":
                return text_of(op, "name")
            case "emitc.member" | "emitc.member_of_ptr":
                access = "." if op.name == "emitc.member" else "->"
                return f"{self.names.of(op.operands[0])}{access}{text_of(op, 'member')}"
            case _:
                array, *indices = map(self.names.of, op.operands)
                return array + "".join(f"[{index}]" for index in indices)

    # Text.

    def line_start(self, text: str) -> None:
        """Begin a line in the current indentation."""
        self.pieces.append(self.indent + text)

    def line(self, text: str) -> None:
        """Write a whole line in the current indentation."""
        self.pieces.append(f"{self.indent}{text}\n")

    @contextmanager
    def indented(self) -> Generator[None]:
        outer = self.indent
        self.indent = outer + _INDENT
        yield
        self.indent = outer

    # Variables.

    def _declare(self, value: SSAValue) -> str:
        return declaration_text(value.type, self.names.declare(value))

    def _assign(self, op: Operation, text: str) -> None:
        """Write the results of an operation as variables that get a value."""
        start = self._assignment_start(op)
        if self.notes is not None and len(self.indent + start + text) >= _WIDTH:
            text = _wrapped(text, self.indent + 2 * _INDENT)
        self.line_start(start + text)

    def _assignment_start(self, op: Operation) -> str:
        match op.results:
            case ():
                return ""
            case (result,) if self.variables_at_top:
                return f"{self.names.of(result)} = "
            case (result,):
                return f"{self._declare(result)} = "
            case results:
                if not self.variables_at_top:
                    for result in results:
                        self.line(f"{self._declare(result)};")
                return f"std::tie({', '.join(map(self.names.of, results))}) = "

    def _declare_all_in(self, op: Operation) -> None:
        for nested in _variables_in(op):
            for result in nested.results:
                self.line(f"{self._declare(result)};")

    # Statements.

    def module(self, op: Operation) -> None:
        with self.names.scope():
            for nested in op.regions[0].block.ops:
                self.emit(nested, semicolon=False)

    def include(self, op: Operation) -> None:
        path = text_of(op, "include")
        standard = property_of(op, "is_standard_include") is not None
        self.line_start(f"#include <{path}>" if standard else f'#include "{path}"')

    def verbatim(self, op: Operation) -> None:
        assert isinstance(op, VerbatimOp)
        pieces = op.pieces()
        operands = map(self.expressions.operand, op.operands)
        text = pieces[0] + "".join(f"{a}{b}" for a, b in zip(operands, pieces[1:], strict=True))
        first, *others = text.split("\n")
        self.line_start(first)
        self.pieces.extend(f"\n{self.indent if line else ''}{line}" for line in others)

    def constant(self, op: Operation) -> None:
        """A constant or variable; an empty opaque value leaves it without initial value."""
        value = property_of(op, "value")
        if value is None:
            raise CannotEmitError("requires attribute 'value'")
        text = self.literal(value)
        if text:
            self._assign(op, text)
        else:
            self.line_start("" if self.variables_at_top else self._declare(op.results[0]))

    def call(self, op: Operation) -> None:
        self._assign(op, self.expressions.call(op)[0])

    def load(self, op: Operation) -> None:
        self._assign(op, self.names.of(op.operands[0]))

    def assign(self, op: Operation) -> None:
        variable, value = op.operands
        self.line_start(f"{self.names.of(variable)} = {self.expressions.operand(value)}")

    def global_variable(self, op: Operation) -> None:
        specifiers = "".join(
            f"{word} "
            for word in ("extern", "static", "const")
            if property_of(op, f"{word}_specifier") is not None
        )
        type_, value = property_of(op, "type"), property_of(op, "initial_value")
        if type_ is None:
            raise CannotEmitError("requires attribute 'type'")
        text = specifiers + declaration_text(type_, text_of(op, "sym_name"))
        initial = "" if value is None else f" = {self.literal(value)}"
        self.line_start(f"{text}{initial};")

    def loop(self, op: Operation) -> None:
        lower, upper, step = op.operands
        body = op.regions[0].block
        letter = _LOOP_LETTERS[min(self.loops, len(_LOOP_LETTERS) - 1)] if self.late else "v"
        name = self.names.declare(body.args[0], letter)
        limit = self.expressions.operand(upper)
        if isinstance(upper.owner, Operation) and is_inlined(upper.owner):
            limit = f"({limit})"
        self.line(
            f"for ({type_text(body.args[0].type)} {name} = {self.expressions.operand(lower)}; "
            f"{name} < {limit}; {name} += {self.expressions.operand(step)}) {{"
        )
        self.loops += 1
        self._nested(op.regions[0])
        self.loops -= 1

    def branch_if(self, op: Operation) -> None:
        self.line(f"if ({self.expressions.operand(op.operands[0])}) {{")
        self._nested(op.regions[0])
        if len(op.regions) > 1 and op.regions[1].blocks:
            self.pieces.append(" else {\n")
            self._nested(op.regions[1])

    def _nested(self, region: Region) -> None:
        """The operations of a loop or branch but the last, which is a yield; and the brace."""
        with self.indented():
            for op in region.block.ops:
                if op.next_op is not None:
                    self.emit(op, semicolon=not (self.late and op.name in _BLOCK_LIKE))
        self.line_start("}")

    def branch(self, op: Operation) -> None:
        self._pass_arguments(op.successors[0], op.operands)
        self.line_start(f"goto {self.names.label(op.successors[0])}")

    def conditional_branch(self, op: Operation) -> None:
        condition, *values = op.operands
        true, false = op.successors
        self.line(f"if ({self.expressions.operand(condition)}) {{")
        self._jump(true, values[: len(true.args)])
        self.line("} else {")
        self._jump(false, values[len(true.args) :])
        self.line_start("}")

    def _jump(self, target: Block, values: Iterable[SSAValue]) -> None:
        with self.indented():
            self._pass_arguments(target, values)
            self.line(f"goto {self.names.label(target)};")

    def _pass_arguments(self, target: Block, values: Iterable[SSAValue]) -> None:
        for argument, value in zip(target.args, values, strict=True):
            self.line(f"{self.names.of(argument)} = {self.names.of(value)};")

    def return_values(self, op: Operation) -> None:
        match list(op.operands):
            case []:
                self.line_start("return")
            case [value]:
                self.line_start(f"return {self.expressions.operand(value)}")
            case values:
                named = (f"/* {k} */{self.literal(v)}" for k, v in op.attributes.items())
                listed = ", ".join((self.expressions.operands(values), *named))
                self.line_start(f"return std::make_tuple({listed})")

    # Functions.

    def declare_function(self, op: Operation) -> None:
        function = SymbolTable.lookup_symbol(op, text_of(op, "sym_name"))
        if function is None or function.name != "emitc.func":
            raise CannotEmitError(f"there is no emitc.func @{text_of(op, 'sym_name')} to declare")
        with self.names.scope():
            arguments = _body_of(function)[0].args if _body_of(function) else None
            self.line_start(self._signature(function, arguments) + ";")

    def function(self, op: Operation) -> None:
        blocks = _body_of(op)
        if len(blocks) > 1 and not self.variables_at_top:
            raise CannotEmitError(
                "with multiple blocks needs variables declared at top; "
                "add --declare-variables-at-top"
            )
        with self.names.scope():
            if not blocks:
                self.line_start(self._signature(op, None) + ";")
                return
            self.line(self._signature(op, blocks[0].args) + " {")
            with self.indented():
                self._body(op, blocks)
            self.line("}")

    def _signature(self, function: Operation, arguments: Iterable[SSAValue] | None) -> str:
        type_ = property_of(function, "function_type")
        if not isinstance(type_, FunctionType):
            raise CannotEmitError("requires attribute 'function_type'")
        if arguments is None:
            listed = ", ".join(map(type_text, type_.inputs))
        else:
            listed = ", ".join(map(self._declare, arguments))
        results = result_text(type_.outputs.data)
        name = text_of(function, "sym_name")
        if _NAME.fullmatch(name) is None:
            # It comes from a file, and would be code.
            raise CannotEmitError(f"'{shown_name(name)}' is no name in C++; rename it")
        return f"{_specifiers(function)}{results} {name}({listed})"

    def _body(self, function: Operation, blocks: list[Block]) -> None:
        if self.variables_at_top:
            self._declare_all_in(function)
        targets = {target for block in blocks for target in _successors(block)}
        for block in blocks:
            self.names.label(block)
        for block in blocks[1:]:
            for argument in block.args:
                self.line(f"{type_text(argument.type)} {self.names.declare(argument)};")
        for block in blocks:
            if block in targets:
                self.pieces.append(f"{self.names.label(block)}:\n")
            for op in block.ops:
                self.emit(op, semicolon=op.name not in _BLOCK_LIKE)


def _comment(text: str) -> str:
    """A comment to the end of the line; it does not go on in the next one."""
    return f"// {text}." if text.endswith("\\") else f"// {text}"


def _wrapped(text: str, indent: str) -> str:
    """A call with a line for each of its arguments."""
    name, bracket, rest = text.partition("(")
    if not rest.endswith(")"):
        return text
    items, depth, first = list[str](), 0, 0
    for found in _MARKS.finditer(rest[:-1]):
        mark = found.group()
        if mark == ", " and not depth:
            items.append(rest[first : found.start()])
            first = found.end()
        else:
            depth += (mark in "([{") - (mark in ")]}")
    items.append(rest[first:-1])
    return name + bracket + ",".join(f"\n{indent}{item}" for item in items) + ")"


_MARKS = re.compile(r"\"(?:\\.|[^\"])*\"|[](){}[]|, ")


def _body_of(function: Operation) -> list[Block]:
    return list(function.regions[0].blocks)


def _successors(block: Block) -> Iterable[Block]:
    return () if block.last_op is None else block.last_op.successors


def _specifiers(function: Operation) -> str:
    return "".join(f"{string_text(word)} " for word in elements_of(function, "specifiers") or ())


def _variables_in(op: Operation) -> Iterator[Operation]:
    """Operations at any depth whose results are variables."""
    for region in op.regions:
        for nested in (nested for block in region.blocks for nested in block.ops):
            if nested.name == "emitc.expression":
                if not is_inlined(nested):
                    yield nested
                continue
            if nested.name not in _DEFERRED:
                yield nested
            yield from _variables_in(nested)


_STATEMENTS: dict[str, Callable[[_Emitter, Operation], None]] = {
    "builtin.module": _Emitter.module,
    "cf.br": _Emitter.branch,
    "cf.cond_br": _Emitter.conditional_branch,
    "emitc.assign": _Emitter.assign,
    "emitc.constant": _Emitter.constant,
    "emitc.declare_func": _Emitter.declare_function,
    "emitc.for": _Emitter.loop,
    "emitc.func": _Emitter.function,
    "emitc.global": _Emitter.global_variable,
    "emitc.if": _Emitter.branch_if,
    "emitc.include": _Emitter.include,
    "emitc.load": _Emitter.load,
    "emitc.return": _Emitter.return_values,
    "emitc.variable": _Emitter.constant,
    "emitc.verbatim": _Emitter.verbatim,
    "func.call": _Emitter.call,
    "func.func": _Emitter.function,
    "func.return": _Emitter.return_values,
}
