"""Reading attributes, aliases and locations: xDSL's parser with MLIR's rules.

Aliases may be used before their definition. As with types, the text of a dialect attribute is
remembered with its value.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, Literal, NoReturn, TypeAlias, cast, get_args, overload

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AffineSetAttr,
    AnyDenseElement,
    AnyFloat,
    AnyTensorType,
    AnyUnrankedTensorType,
    AnyVectorType,
    ArrayAttr,
    BoolAttr,
    BytesAttr,
    CallSiteLoc,
    ComplexType,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FloatAttr,
    FunctionType,
    FusedLoc,
    IndexType,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    MemRefType,
    NameLoc,
    NoneAttr,
    NoneType,
    RankedStructure,
    ShapedType,
    Signedness,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    TupleType,
    UnitAttr,
    UnknownLoc,
    UnrankedMemRefType,
    UnrankedTensorType,
    UnregisteredAttr,
    VectorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute, TypeAttribute
from xdsl.parser import AttrParser
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.lexer import Input, Position, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind
from xdsl.utils.mlir_lexer import PunctuationSpelling

from ttmlir.errors import plural
from ttmlir.layout.affine import AffineMap
from ttmlir.mlir.attribute_sharing import Interner
from ttmlir.mlir.attributes import (
    Blob,
    Elements,
    ElementsType,
    ElementType,
    ElementValue,
    UnsupportedFloatError,
    affine_map_attr,
    element_size,
    elements_attr,
    float_attr,
    float_attr_of_bits,
    is_bool,
    layout_map,
    pack_values,
    parse_affine_map,
    unpack_bits,
    value_of,
)
from ttmlir.mlir.core_prefix import (
    TT,
    TTCORE,
    key_as_read,
    note_tt,
    note_ttcore,
    other_spelling,
)
from ttmlir.mlir.lexer import SourceLexer, balanced_end
from ttmlir.mlir.long_strings import compact, marked
from ttmlir.mlir.printing import LOCATIONS, show_attribute
from ttmlir.mlir.reporting import (
    Diagnostic,
    DiagnosticError,
    file_location,
    note,
    range_location,
)
from ttmlir.mlir.xdsl_internals import OpenParser
from ttmlir.nesting import MAX_NESTING

# --- Type reader ----------------------------------------------------------------------------------
# Reading types: xDSL's parser with MLIR's rules, and with a memory.
#
# The text of a type is remembered with its value, so that each spelling is parsed once per module;
# equal types are then also the same object, which makes comparing them cheap.

# --- Text reader ----------------------------------------------------------------------------------
# The base of the readers: one text, its tokens, places in it and errors about them.

_BLOCK = 1024


def _byte_count(text: str) -> int:
    return len(text.encode("utf-8", "surrogateescape"))


class TextReader(OpenParser):
    """Reads tokens of one text."""

    def __init__(self, context: Context, text: str, file: str, first_line: int = 1):
        """A reader at the start of `text`; its first line has the number `first_line`."""
        # xDSL's own constructor would read the first token with its lexer.
        AttrParser.__init__(self, ParserState(SourceLexer(Input(text, file))), context)
        self.ssa_values = {}
        self.blocks = {}
        self.forward_block_references = defaultdict(list)
        self.forward_ssa_references = {}
        self._text = text
        self._file = file
        self._first_line = first_line
        self._line_ends = [match.start() for match in re.finditer("\n", text)]
        self._is_ascii = text.isascii()
        self._nesting: int = 0

    def location_at(self, position: Position) -> LocationAttr:
        """The location of a position in the text."""
        line = bisect_right(self._line_ends, position - 1)
        start = self._line_ends[line - 1] + 1 if line else 0
        column = position - start
        if not self._is_ascii:
            column = self._bytes_before(position) - self._bytes_before(start)
        return file_location(self._file, line + self._first_line, column + 1)

    def _bytes_before(self, position: Position) -> int:
        """How many bytes the text has before a position."""
        block = position // _BLOCK
        return self._bytes_before_block[block] + _byte_count(self._text[block * _BLOCK : position])

    @cached_property
    def _bytes_before_block(self) -> Sequence[int]:
        """The same for each multiple of `_BLOCK`: lines may be long, and hold many positions."""
        text = self._text
        starts = range(0, len(text), _BLOCK)
        return [0, *accumulate(_byte_count(text[start : start + _BLOCK]) for start in starts)]

    def raise_wrong_token(self, message: str) -> NoReturn:
        """Raise an error about a missing token: it is shown where the last token ends."""
        self.raise_error(message, self._end_of_last_token())

    def _end_of_last_token(self) -> Position:
        text, end = self._text, self.pos
        while True:
            while end and text[end - 1] in " \t":
                end -= 1
            if not end:
                return self.pos
            if text[end - 1] not in "\r\n":
                return end
            end -= 1
            line_start = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
            comment = text.find("//", line_start, end)
            if comment >= 0:
                end = comment

    def parse_characters(self, text: str, context_msg: str = "") -> str:
        """Read a token with this text."""
        if self.current_token.text == text:
            self.consume_token()
            return text
        self.raise_wrong_token(f"expected '{text}'{context_msg}")

    def parse_punctuation(
        self, punctuation: PunctuationSpelling, context_msg: str = ""
    ) -> PunctuationSpelling:
        """Read a punctuation mark."""
        if self.current_token.text == punctuation:
            self.consume_token()
            return punctuation
        self.raise_wrong_token(f"expected '{punctuation}'{context_msg}")

    def parse_symbol_name(self) -> StringAttr:
        """Read `@name`."""
        name = self.parse_optional_symbol_name()
        if name is None:
            self.raise_error("expected valid '@'-identifier for symbol name")
        return name

    def parse_keyword(self, keyword: str, context_msg: str = "") -> str:
        """Read a keyword."""
        if self.parse_optional_keyword(keyword) is None:
            self.raise_wrong_token(f"expected '{keyword}'{context_msg}")
        return keyword

    def _enter_nesting(self) -> None:
        self._nesting += 1
        if self._nesting > MAX_NESTING:
            self.raise_error(f"nested more than {MAX_NESTING} levels deep")

    def _is_between_tokens(self, position: Position) -> bool:
        return position <= self.pos and not self._text[position : self.pos].strip()


# --- Type reader ----------------------------------------------------------------------------------

MAX_INTEGER_WIDTH = (1 << 24) - 1
"""Widest integer type, as in MLIR."""
MAX_EXTENT = (1 << 63) - 1

_INTEGER_TYPE = re.compile(r"(?:[su]?i)([1-9][0-9]*|0)", re.ASCII)


class ChecksShape:
    """A layout of tensors or memrefs that does not fit all shapes."""

    def shape_fault(self, shape: tuple[int, ...], element_type: Attribute) -> str | None:
        """What is wrong with a type of this shape that has the layout, or None."""
        raise NotImplementedError


class TypeReader(TextReader):
    """Reads types of one text."""

    def __init__(self, context: Context, text: str, file: str, first_line: int = 1):
        """A reader at the start of `text`; its first line has the number `first_line`."""
        super().__init__(context, text, file, first_line)
        self._element_type_position = 0
        self._types: dict[str, TypeAttribute] = {}
        self._function_types: dict[str, FunctionType] = {}
        self._interner = Interner()

    def parse_type(self) -> TypeAttribute:
        """Read a type."""
        type = self.parse_optional_type()
        if type is None:
            self.raise_wrong_token("expected non-function type")
        return type

    def parse_optional_type(self) -> TypeAttribute | None:
        """Read a type, if there is one; a spelling that was read before is looked up."""
        token = self.current_token
        if token.text in _SHAPED_TYPES:
            return self._remembered_type(token.span)
        self._enter_nesting()
        type = super().parse_optional_type()
        self._nesting -= 1
        return None if type is None else self._interner.intern(type)

    def _remembered_type(self, span: Span[str]) -> TypeAttribute | None:
        text = self._text
        has_parameters = text[span.end : span.end + 1] == "<"
        end = balanced_end(text, span.end) if has_parameters else -1
        key = text[span.start : end] if end >= 0 else ""
        known = self._types.get(key)
        if known is not None:
            self.resume_from(end)
            return known
        self._enter_nesting()
        type = super().parse_optional_type()
        self._nesting -= 1
        if type is None:
            return None
        type = self._interner.intern(type)
        if end >= 0 and self._is_between_tokens(end):
            self._types[key] = type
        return type

    def read_optional_number_type(self) -> TypeAttribute | None:
        """Read the type of an integer or a float, if one is there."""
        token = self.current_token
        match = _INTEGER_TYPE.fullmatch(token.text)
        if match is not None and int(match[1]) > MAX_INTEGER_WIDTH:
            self.raise_error(f"integer bitwidth is limited to {MAX_INTEGER_WIDTH} bits")
        return super().read_optional_number_type()

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        """Read an extent, `?` included if allowed."""
        token = self.current_token
        extent = super().parse_shape_dimension(allow_dynamic)
        if extent > MAX_EXTENT:
            self.raise_error("invalid dimension", token.span)
        return extent

    def parse_function_type(self) -> FunctionType:
        """Read `(types) -> types`; the rest of a line that was read before is looked up."""
        text, start = self._text, self.pos
        last = min(len(text), start + _LONGEST_REST)
        end = text.find("\n", start, last)
        end = last if end < 0 else end
        location = text.find(" loc(", start, end)
        end = end if location < 0 else location
        key = text[start:end]
        known = self._function_types.get(key)
        if known is not None:
            self.resume_from(end)
            return known
        if self.current_token.kind is not Kind.L_PAREN:
            self.raise_wrong_token("expected non-function type")
        type = self._interner.intern(super().parse_function_type())
        if self._is_between_tokens(end):
            self._function_types[key] = type
        return type

    def read_tensor_type(self) -> AnyTensorType | AnyUnrankedTensorType:
        """Read what follows `tensor<`."""
        position = self.pos
        type = super().read_tensor_type()
        if isinstance(type.element_type, _NO_TENSOR_ELEMENTS):
            self.raise_error("invalid tensor element type", self._element_type_position)
        if isinstance(type, TensorType) and isinstance(type.encoding, ChecksShape):
            self._raise_if(type.encoding.shape_fault(type.get_shape(), type.element_type), position)
        return type

    def parse_ranked_shape(self) -> tuple[list[int], Attribute]:
        """Read extents and an element type, such as `2x?xf32`."""
        extents = self.parse_dimension_list()
        if extents and self.parse_optional_shape_delimiter() is None:
            self.raise_wrong_token("expected 'x' in dimension list")
        return extents, self._read_element_type()

    def parse_shape(self) -> tuple[list[int] | None, Attribute]:
        """Read extents and an element type, or an element type after `*x`."""
        if self.parse_optional_punctuation("*") is None:
            return self.parse_ranked_shape()
        self.parse_shape_delimiter()
        return None, self._read_element_type()

    def _read_element_type(self) -> Attribute:
        position = self.pos
        type = self.parse_type()
        self._element_type_position = position
        return type

    def read_vector_type(self) -> AnyVectorType:
        """Read what follows `vector<`."""
        position = self.pos
        extents: list[int] = []
        scalable: list[bool] = []
        while self.current_token.text == "[" or self.current_token.kind is Kind.INTEGER_LIT:
            is_scalable = self.parse_optional_punctuation("[") is not None
            extents.append(self.parse_shape_dimension(allow_dynamic=False))
            scalable.append(is_scalable)
            if is_scalable:
                self.parse_punctuation("]")
            if self.parse_optional_shape_delimiter() is None:
                self.raise_wrong_token("expected 'x' in dimension list")
        element_position = self.pos
        element_type = self.parse_type()
        if 0 in extents:
            self.raise_error("vector types must have positive constant sizes", position)
        if not isinstance(element_type, _VECTOR_ELEMENTS):
            self.raise_error("vector elements must be int/index/float type", element_position)
        scalable_extents = ArrayAttr(map(BoolAttr.from_bool, scalable))
        return VectorType[Attribute](element_type, extents, scalable_extents)

    def read_complex_type(self) -> ComplexType:
        """Read what follows `complex<`."""
        position = self.pos
        element_type = self.parse_type()
        if not isinstance(element_type, IntegerType | AnyFloat):
            self.raise_error("invalid element type for complex", position)
        return ComplexType(cast(IntegerType | AnyFloat, element_type))

    def read_memref_type(self) -> MemRefType | UnrankedMemRefType:
        """Read what follows `memref<`."""
        position = self.pos
        type = super().read_memref_type()
        self._check_layout(type, position)
        if isinstance(type, MemRefType) and isinstance(type.layout, AffineMapAttr):
            if layout_map(type.layout).is_identity:
                return MemRefType(type.element_type, type.shape, NoneAttr(), type.memory_space)
        return type

    def _raise_if(self, fault: str | None, position: Position) -> None:
        if fault is not None:
            self.raise_error(fault, position)

    def _check_layout(self, type: MemRefType | UnrankedMemRefType, position: Position) -> None:
        if not isinstance(type, MemRefType):
            return
        rank, layout = len(type.get_shape()), type.layout
        if isinstance(layout, ChecksShape):
            self._raise_if(layout.shape_fault(type.get_shape(), type.element_type), position)
        if isinstance(layout, AffineMapAttr) and layout.data.num_dims != rank:
            self.raise_error(
                f"memref layout mismatch between rank and affine map: {rank} != "
                f"{layout.data.num_dims}",
                position,
            )
        if isinstance(layout, StridedLayoutAttr) and len(layout.strides) != rank:
            self.raise_error(
                f"expected the number of strides to match the rank: {len(layout.strides)} != "
                f"{rank}",
                position,
            )


_LONGEST_REST = 2048
"""How far a function type is looked for the end of its line, in characters."""
_NO_TENSOR_ELEMENTS = (
    FunctionType,
    MemRefType,
    NoneType,
    TensorType,
    TupleType,
    UnrankedMemRefType,
    UnrankedTensorType,
)
_VECTOR_ELEMENTS = (IntegerType, IndexType, *get_args(AnyFloat))
_SHAPED_TYPES = ("tensor", "memref", "vector")


# --- Attribute reader -----------------------------------------------------------------------------
# Reading attributes, aliases and locations: xDSL's parser with MLIR's rules.
#
# Aliases may be used before their definition. As with types, the text of a dialect attribute is
# remembered with its value.

# --- Dense reader ---------------------------------------------------------------------------------
# Reading what stands inside `dense<...>`: scalars, nested lists, hexadecimal strings.
#
# Works on the raw text with one regular expression, without xDSL's tokens, so that large constants
# cost little; a splat is never expanded.

_MAX_RANK = 64
_ITEM = re.compile(
    r"""(?:\s|//[^\n]*)*+(?:
      (?P<number>-?\s*(?:0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]*(?:[eE][+-]?[0-9]+)?)?))
    | (?P<word>true\b|false\b)
    | (?P<mark>[\[\],()>])
    | (?P<string>"[^"\\\n]*") )""",
    re.VERBOSE | re.ASCII,
)


_BLANK = re.compile(r"(?:\s|//[^\n]*)*+", re.ASCII)


class DenseSyntaxError(ValueError):
    """Text that is no dense constant; `position` is the index of the offending character."""

    def __init__(self, message: str, position: int):
        """An error at a position in the text."""
        super().__init__(message)
        self.message = message
        self.position = position


Scalar: TypeAlias = tuple[str, int]
"""The text of a number or a word, and where it stands."""


@dataclass
class DenseLiteral:
    """What was read, before its type is known."""

    start: int
    """Where the token after the closing `>` stands: the place of errors about the whole."""
    hex_string: str | None = None
    scalars: list[Scalar] = field(default_factory=list[Scalar])
    """All numbers in order; complex numbers take two."""
    shape: list[int] | None = None
    """Extents of the nested lists; empty for a scalar, None if there is nothing at all."""
    is_complex: bool = False


def scan_dense(text: str, start: int) -> tuple[DenseLiteral, int]:
    """Read from after `dense<` up to its `>`; returns the position of the `>`."""
    return _Scanner(text, start).scan()


class _ListShape:
    """Finds the shape of nested lists and refuses ragged ones."""

    def __init__(self):
        self.counts = [0]
        """How many elements each open list has so far, outermost first."""
        self._extents: list[int | None] = [None]
        self._scalar_depth: int | None = None

    def open(self, position: int) -> None:
        self.counts.append(0)
        if len(self.counts) > _MAX_RANK:
            raise DenseSyntaxError(f"expected at most {_MAX_RANK} nested lists", position)
        if len(self.counts) > len(self._extents):
            self._extents.append(None)

    def close(self, position: Callable[[], int]) -> None:
        count = self.counts.pop()
        depth = len(self.counts)
        if self._extents[depth] not in (None, count):
            self._fail(position())
        self._extents[depth] = count
        if self.counts:
            self.counts[-1] += 1

    def add_scalar(self, position: Callable[[], int]) -> None:
        self.counts[-1] += 1
        depth = len(self.counts)
        if self._scalar_depth not in (None, depth):
            self._fail(position())
        self._scalar_depth = depth

    def shape(self, end: int) -> list[int]:
        if self._scalar_depth not in (None, len(self._extents)):
            self._fail(end)
        return [extent or 0 for extent in self._extents]

    def _fail(self, position: int) -> NoReturn:
        raise DenseSyntaxError(
            "tensor literal is invalid; ranks are not consistent between elements", position
        )


class _Scanner:
    def __init__(self, text: str, start: int):
        self._text = text
        self._position = start
        self._literal = DenseLiteral(start)

    def scan(self) -> tuple[DenseLiteral, int]:
        literal = self._literal
        match = self._next()
        if match["mark"] == ">":
            literal.start = self._next_position()
            return literal, match.start("mark")
        if match["string"] is not None:
            literal.hex_string = match["string"][1:-1]
        elif match["mark"] == "[":
            self._scan_lists()
        else:
            literal.shape = []
            self._scan_scalar(match)
        match = self._next()
        if match["mark"] != ">":
            raise DenseSyntaxError("expected '>'", _start(match))
        literal.start = self._next_position()
        return literal, match.start("mark")

    def _next_position(self) -> int:
        blank = _BLANK.match(self._text, self._position)
        assert blank is not None
        return blank.end()

    def _next(self) -> re.Match[str]:
        match = _ITEM.match(self._text, self._position)
        if match is None:
            position = self._next_position()
            raise DenseSyntaxError("expected element literal of primitive type", position)
        self._position = match.end()
        return match

    def _scan_lists(self) -> None:
        """Read nested lists whose first bracket has been read."""
        lists = _ListShape()
        expect_element = True
        while lists.counts:
            match = self._next()
            mark = match["mark"]
            if expect_element and mark == "[":
                lists.open(match.start("mark"))
            elif mark == "]" and (not expect_element or not lists.counts[-1]):
                lists.close(self._next_position)
                expect_element = False
            elif mark == "," and not expect_element:
                expect_element = True
            elif expect_element and mark in (None, "("):
                self._scan_scalar(match)
                lists.add_scalar(self._next_position)
                expect_element = False
            else:
                expected = "element literal of primitive type" if expect_element else "']'"
                raise DenseSyntaxError(f"expected {expected}", _start(match))
        self._literal.shape = lists.shape(self._next_position())

    def _scan_scalar(self, match: re.Match[str]) -> None:
        scalars = self._literal.scalars
        if match["mark"] != "(":
            if match["mark"] is not None or match["string"] is not None:
                raise DenseSyntaxError("expected element literal of primitive type", _start(match))
            scalars.append((match[match.lastgroup or 0], _start(match)))
            return
        self._literal.is_complex = True
        for closing in (",", ")"):
            part = self._next()
            if part["number"] is None and part["word"] is None:
                raise DenseSyntaxError("expected element literal of primitive type", _start(part))
            scalars.append((part[part.lastgroup or 0], _start(part)))
            end = self._next()
            if end["mark"] != closing:
                raise DenseSyntaxError(f"expected '{closing}'", _start(end))


def _start(match: re.Match[str]) -> int:
    assert match.lastgroup is not None
    return match.start(match.lastgroup)


def dense_elements(
    literal: DenseLiteral, type: ElementsType, type_text: str, contents: Sequence[bytes] = ()
) -> Elements:
    """The constant that a literal spells for a type; `type_text` is for messages.

    `contents` are what the marks of the text stand for (`ttmlir.mlir.attributes`).
    """
    try:
        return elements_attr(type, _bytes(literal, type, type_text, contents))
    except UnsupportedFloatError as error:
        raise DenseSyntaxError(str(error), literal.start) from error


def _bytes(
    literal: DenseLiteral, type: ElementsType, type_text: str, contents: Sequence[bytes]
) -> bytes:
    element_type = type.get_element_type()
    shape = list(type.get_shape())
    count = math.prod(shape)
    if literal.hex_string is not None:
        data = marked(literal.hex_string, contents)
        if data is None:
            data = _hex_bytes(literal.hex_string, literal.start)
        return _checked_bytes(data, literal.start, element_type, count, type_text)
    if literal.shape is None:
        if count:
            raise DenseSyntaxError(
                f"parsed zero elements, but type ({type_text}) expected at least 1", literal.start
            )
        return b""
    if literal.shape and literal.shape != shape:
        raise DenseSyntaxError(
            f"inferred shape of elements literal ({_list(literal.shape)}) does not match type "
            f"({_list(shape)})",
            literal.start,
        )
    if literal.is_complex != isinstance(element_type, ComplexType):
        raise DenseSyntaxError(
            f"expected element type to be complex, but got {type_text}"
            if literal.is_complex
            else "expected complex elements, such as (1.0, 2.0)",
            literal.start,
        )
    return _pack(literal.scalars, element_type)


def _list(extents: Sequence[int]) -> str:
    return f"[{', '.join(map(str, extents))}]"


def _hex_bytes(text: str, start: int) -> bytes:
    if not text.startswith("0x"):
        raise DenseSyntaxError("expected string containing hex digits starting with `0x`", start)
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise DenseSyntaxError(
            "expected pairs of hexadecimal digits in elements string", start
        ) from None


def _checked_bytes(data: bytes, start: int, type: ElementType, count: int, type_text: str) -> bytes:
    """The elements that a string holds: all of them, or the one that stands for all."""
    packed = is_bool(type)
    expected = (count + 7) // 8 if packed else count * element_size(type)
    single = 1 if packed else element_size(type)
    is_splat = packed and len(data) == single != expected
    wrong = len(data) not in (expected, single) or (not count and data)
    if wrong or (is_splat and data not in (b"\x00", b"\xff")):
        raise DenseSyntaxError(
            f"elements hex data size is invalid for provided type: {type_text}", start
        )
    if not packed:
        return data
    return bytes([data[0] & 1]) if is_splat else unpack_bits(data, count)


def _pack(scalars: Sequence[Scalar], type: ElementType) -> bytes:
    if isinstance(type, ComplexType):
        return _pack(scalars, type.element_type)
    if isinstance(type, AnyFloat):
        return pack_values([_float(scalar, type) for scalar in scalars], type)
    values = [_integer(scalar, type) for scalar in scalars]
    try:
        return pack_values(values, type)
    except ValueError:
        for value, (_, position) in zip(values, scalars, strict=True):
            _check_range(value, type, position)
        raise


def _check_range(value: ElementValue, type: ElementType, position: int) -> None:
    try:
        pack_values([value], type)
    except ValueError:
        raise DenseSyntaxError("integer constant out of range for type", position) from None


def _float(scalar: Scalar, type: AnyFloat) -> float:
    text, position = scalar
    digits = text.lstrip("-").lstrip()
    if digits.startswith("0x"):
        bits = int(digits, 16)
        if text[0] == "-":
            raise DenseSyntaxError(
                "hexadecimal float literal should not have a leading minus", position
            )
        if bits.bit_length() > 8 * type.size:
            raise DenseSyntaxError("hexadecimal float constant out of range for type", position)
        return value_of(bits, type)
    if digits in ("true", "false"):
        raise DenseSyntaxError("expected floating point elements, but parsed boolean", position)
    if "." not in digits:
        raise DenseSyntaxError("expected floating-point elements, but parsed integer", position)
    value = float(digits)
    if math.isinf(value):
        raise DenseSyntaxError("floating point value too large for attribute", position)
    return -value if text[0] == "-" else value


def _integer(scalar: Scalar, type: IntegerType | IndexType) -> int:
    text, position = scalar
    digits = text.lstrip("-").lstrip()
    if digits in ("true", "false"):
        if not is_bool(type):
            raise DenseSyntaxError("expected i1 type for 'true' or 'false' values", position)
        return int(digits == "true")
    if "." in digits:
        raise DenseSyntaxError("expected integer elements, but parsed floating-point", position)
    value = int(digits, 16 if digits.startswith("0x") else 10)
    if text[0] != "-":
        return value
    if isinstance(type, IntegerType) and type.signedness.data == Signedness.UNSIGNED:
        raise DenseSyntaxError(
            "expected unsigned integer elements, but parsed negative value", position
        )
    return -value


def checked_elements_type(type: Attribute, type_text: str) -> ElementsType:
    """`type` if constants can have it; raises `ValueError` with the message otherwise."""
    if not isinstance(type, TensorType | VectorType | MemRefType):
        raise ValueError("elements literal must be a shaped type of known rank")
    shaped = cast(TensorType[Attribute], type)
    if any(extent < 0 for extent in shaped.get_shape()):
        raise ValueError("elements literal type must have static shape")
    element = shaped.get_element_type()
    if not isinstance(element, IntegerType | IndexType | AnyFloat | ComplexType):
        raise ValueError(
            f"expected element type to be integer, index, float or complex, but got {type_text}"
        )
    return cast(ElementsType, shaped)


# --- Attribute reader -----------------------------------------------------------------------------

_LOCATION_ALIAS = "#loc"
_ALIAS_DEFINITION = re.compile(r"^[ \t]*([#!][A-Za-z_$][\w$.-]*)\s*=(?!=)", re.MULTILINE | re.ASCII)


class AttributeReader(TypeReader):
    """Reads attributes, types and locations of one text."""

    def __init__(self, context: Context, text: str, file: str, first_line: int = 1):
        """A reader at the start of `text`; its first line has the number `first_line`."""
        text = compact(text)
        self._contents = text.contents
        super().__init__(context, text, file, first_line)
        self._alias_definitions = {
            match[1]: match.end() for match in _ALIAS_DEFINITION.finditer(text)
        }
        self._defined_aliases: set[str] = set()
        self._aliases_being_read: set[str] = set()
        self._unread_locations: deque[tuple[int, str]] | None = None
        self._attributes: dict[str, Attribute] = {}
        self.blobs: dict[str, Blob] = {}
        """What `dense_resource` names."""

    # Aliases and dialect attributes.

    def read_alias_definition(self) -> None:
        """Read `#name = attribute` or `!name = type`, and remember what it stands for."""
        token = self.consume_token()
        name = token.text
        if "." in name:
            kind = "type" if name[0] == "!" else "attribute"
            self.raise_error(
                f"{kind} names with a '.' are reserved for dialect-defined names", token.span
            )
        if name in self._defined_aliases:
            kind = "type" if name[0] == "!" else "attribute"
            self.raise_error(f"redefinition of {kind} alias id '{name[1:]}'", token.span)
        self._defined_aliases.add(name)
        self.parse_punctuation("=", " in alias definition")
        self._aliases_being_read.add(name)
        self.attribute_aliases[name] = self._alias_value(name)
        self._aliases_being_read.discard(name)

    def _alias_value(self, name: str) -> Attribute:
        return self.parse_type() if name[0] == "!" else self.parse_attribute()

    def _find_alias_ahead(self, name: str) -> None:
        """Read the definition of an alias that stands further down."""
        position = self._alias_definitions.get(name)
        if position is None or name in self._aliases_being_read:
            return
        if not self._aliases_being_read and name.startswith(_LOCATION_ALIAS):
            self._read_locations_before(position)
        if name not in self.attribute_aliases:
            self._read_alias_at(name, position)

    def _read_locations_before(self, position: int) -> None:
        """Read the aliases of locations that stand before a place, in their order.

        Locations are long chains of callers, each printed after those that it refers to: read in
        order, none is nested in another.
        """
        if self._unread_locations is None:
            found = [
                (place, name)
                for name, place in self._alias_definitions.items()
                if name.startswith(_LOCATION_ALIAS)
            ]
            self._unread_locations = deque(sorted(found))
        while self._unread_locations and self._unread_locations[0][0] < position:
            place, name = self._unread_locations.popleft()
            if name not in self.attribute_aliases:
                self._read_alias_at(name, place)

    def _read_alias_at(self, name: str, position: int) -> None:
        self._aliases_being_read.add(name)
        back = self.pos
        self.resume_from(position)
        self._enter_nesting()
        self.attribute_aliases[name] = self._alias_value(name)
        self._nesting -= 1
        self.resume_from(back)
        self._aliases_being_read.discard(name)

    @overload
    def read_extended_attribute(
        self, attr_or_dialect_name: str, is_type: Literal[False]
    ) -> Attribute: ...

    @overload
    def read_extended_attribute(
        self, attr_or_dialect_name: str, is_type: Literal[True]
    ) -> TypeAttribute: ...

    def read_extended_attribute(self, attr_or_dialect_name: str, is_type: bool) -> Attribute:
        """Read what follows `#` or `!`: an alias, or the body of a dialect's attribute or type."""
        sigil = "!" if is_type else "#"
        name = attr_or_dialect_name
        token = self.current_token
        if "." not in name and token.text != "<":
            return self._alias(sigil + name)
        end = balanced_end(self._text, self.pos) if token.text == "<" else -1
        key = f"{sigil}{name}{self._text[self.pos : end]}" if end >= 0 else ""
        known = self._attributes.get(key)
        if known is not None:
            self.resume_from(end)
            return known
        attribute = self._parse_dialect_attribute(name, is_type)
        # The text is the attribute's only if the attribute took all of it.
        if end >= 0 and self._is_between_tokens(end):
            self._attributes[key] = attribute
        return attribute

    def _alias(self, name: str) -> Attribute:
        if name not in self.attribute_aliases:
            self._find_alias_ahead(name)
        value = self.attribute_aliases.get(name)
        if value is None:
            self.raise_error(f"undefined symbol alias id '{name[1:]}'")
        return value

    def _parse_dialect_attribute(self, name: str, is_type: bool) -> Attribute:
        sigil = "!" if is_type else "#"
        start = self._text.rfind(sigil + name, 0, self.pos)
        is_opaque = "." not in name
        if is_opaque:
            dialect_name = name
            opaque_start = self.pos
            self.parse_punctuation("<")
            mnemonic = self.current_token
            name = f"{dialect_name}.{mnemonic.text if mnemonic.kind is Kind.BARE_IDENT else ''}"
        else:
            dialect_name, _, _ = name.partition(".")
            opaque_start = None
        if dialect_name == TTCORE:
            note_ttcore()
        elif dialect_name == TT:
            note_tt()
        definition = self._definition(name, is_type)
        if definition is None:
            self._fail_unknown(dialect_name, name, is_type, start)
        if issubclass(definition, UnregisteredAttr):
            return self._parse_unregistered(definition, name, is_type, opaque_start)
        if is_opaque:
            self.consume_token()
        try:
            attribute = self._parse_registered(definition)
        except VerifyException as error:
            self.raise_error(str(error), start)
        if is_opaque:
            self.parse_punctuation(">")
        return attribute

    def _definition(self, name: str, is_type: bool) -> type[Attribute] | None:
        context = self.ctx
        lookup = context.get_optional_type if is_type else context.get_optional_attr
        found = lookup(name)
        other = other_spelling(name)
        if other is not None and (found is None or issubclass(found, UnregisteredAttr)):
            found = lookup(other) or found
        is_known_dialect = name.partition(".")[0] in context.registered_dialect_names
        if found is not None and is_known_dialect and issubclass(found, UnregisteredAttr):
            return None
        return found

    def _fail_unknown(
        self, dialect_name: str, name: str, is_type: bool, start: Position
    ) -> NoReturn:
        kind = "type" if is_type else "attribute"
        mnemonic = name.partition(".")[2]
        dialect = self.ctx.get_optional_dialect(dialect_name)
        if dialect is None:
            sigil, known = "!" if is_type else "#", sorted(self.ctx.registered_dialect_names)
            self.raise_error(
                f"{sigil}{name.rstrip('.')} is of the unknown dialect '{dialect_name}'; the known "
                f"dialects are {', '.join(known)} (-allow-unregistered-dialect keeps unknown ones "
                "as they are)",
                start,
            )
        attributes = dialect.attributes
        if not any(issubclass(attr, TypeAttribute) == is_type for attr in attributes):
            self.raise_error(f"dialect '{dialect_name}' provides no {kind} parsing hook", start)
        blank = " " if is_type else ""
        if not mnemonic:
            self.raise_error("expected valid keyword")
        position = self._text.index(mnemonic, start + 1 + len(dialect_name))
        self.raise_error(
            f"unknown {blank}{kind} `{mnemonic}` in dialect `{dialect_name}`", position
        )

    def _parse_unregistered(
        self,
        definition: type[UnregisteredAttr],
        name: str,
        is_type: bool,
        opaque_start: Position | None,
    ) -> Attribute:
        if opaque_start is not None:
            body_start = opaque_start + 1
            end = self.scan_balanced(body_start)
            self.resume_from(end + 1)
            mnemonic = name.partition(".")[2]
            body = self._text[body_start:end]
            return definition(name, is_type, True, body[body.find(mnemonic) + len(mnemonic) :])
        body = self.parse_dialect_symbol_body() if self.current_token.text == "<" else ""
        return definition(name, is_type, False, body)

    def _parse_registered(self, definition: type[Attribute]) -> Attribute:
        if issubclass(definition, ParametrizedAttribute):
            given = definition.parse_parameters(self)
            wanted = len(definition.get_irdl_definition().parameters)
            if len(given) != wanted:
                self.raise_wrong_token(
                    f"'{definition.name}' takes {plural(wanted, 'parameter')}, not {len(given)}"
                )
            return definition.new(given)
        assert issubclass(definition, Data)
        data = cast(type[Data[Any]], definition)
        return data(data.parse_parameter(self))

    def parse_optional_attribute(self) -> Attribute | None:
        """Read an attribute or a type, if there is one."""
        self._enter_nesting()
        attribute = super().parse_optional_attribute()
        self._nesting -= 1
        return None if attribute is None else self._interner.intern(attribute)

    def parse_attribute(self) -> Attribute:
        """Read an attribute or a type."""
        attribute = self.parse_optional_attribute()
        if attribute is None:
            name = self.current_token.text
            if name in _NOT_READ:
                self.raise_error(f"'{name}' attributes are not supported; {_NOT_READ[name]}")
            self.raise_wrong_token("expected attribute value")
        return attribute

    # Builtin attributes.

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        """Read `{name = value, ...}`, if there."""
        if self.current_token.text != "{":
            return {}
        entries: dict[str, Attribute] = {}

        def entry() -> None:
            position = self.pos
            name = key_as_read(self._parse_dictionary_key())
            if name in entries:
                self.raise_error(f"duplicate key '{name}' in dictionary attribute", position)
            if self.parse_optional_punctuation("=") is None:
                entries[name] = UnitAttr()
            else:
                entries[name] = self.parse_attribute()
                if isinstance(entries[name], StringAttr) and self.current_token.text == ":":
                    self.raise_error("strings with a type are not supported; leave the type out")

        self.parse_comma_separated_list(self.Delimiter.BRACES, entry, " in attribute dictionary")
        return entries

    def _parse_dictionary_key(self) -> str:
        name = self.parse_optional_identifier_or_str_literal()
        if not name:
            self.raise_error("expected attribute name")
        return name

    def parse_optional_builtin_int_or_float_attr(
        self, type: TypeAttribute | None = None
    ) -> IntegerAttr | FloatAttr | None:
        """Read a number, if there is one; of a type that is known the text has only the number."""
        boolean = self.try_parse_builtin_boolean_attr()
        if boolean is not None:
            return boolean
        start = self.pos
        negative = self.current_token.kind is Kind.MINUS
        if negative:
            self.consume_token()
        token = self.current_token
        if token.kind not in (Kind.INTEGER_LIT, Kind.FLOAT_LIT):
            if negative:
                self.raise_error("expected constant integer or floating point value")
            return None
        self.consume_token()
        if type is None and self.parse_optional_punctuation(":"):
            type = self.parse_type()
        return self._number(token.text, negative, type, start)

    def _number(
        self, literal: str, negative: bool, type: TypeAttribute | None, start: Position
    ) -> IntegerAttr | FloatAttr:
        is_float = "." in literal
        if type is None:
            type = f64 if is_float else i64
        if isinstance(type, AnyFloat):
            return self._float(literal, negative, type, start)
        if not isinstance(type, IntegerType | IndexType):
            self.raise_error(
                "floating point value not valid for specified type"
                if is_float
                else "integer literal not valid for specified type",
                start,
            )
        if is_float:
            # MLIR shows the next token, at the end of the file the last character.
            position = self.pos - (self.current_token.kind is Kind.EOF)
            self.raise_error("floating point value not valid for specified type", position)
        return self._integer(literal, negative, cast(IntegerType | IndexType, type), start)

    def _integer(
        self, literal: str, negative: bool, type: IntegerType | IndexType, start: Position
    ) -> IntegerAttr:
        value = int(literal, 0) if literal.startswith("0x") else int(literal)
        value = -value if negative else value
        if isinstance(type, IndexType):
            low, high = -(1 << 63), 1 << 63
        else:
            if negative and type.signedness.data == Signedness.UNSIGNED:
                self.raise_error(
                    "negative integer literal not valid for unsigned integer type", start + 1
                )
            low, high = type.value_range()
        if not low <= value < high:
            self.raise_error("integer constant out of range for attribute", start + negative)
        return IntegerAttr(value, type)

    def _float(self, literal: str, negative: bool, type: AnyFloat, start: Position) -> FloatAttr:
        try:
            if "." in literal:
                value = float(literal)
                if math.isinf(value):
                    self.raise_error("floating point value too large for attribute", start)
                return float_attr(-value if negative else value, type)
            return self._float_bits(literal, negative, type, start)
        except UnsupportedFloatError as error:
            self.raise_error(str(error), start)

    def _float_bits(
        self, literal: str, negative: bool, type: AnyFloat, start: Position
    ) -> FloatAttr:
        if not literal.startswith("0x"):
            error = Diagnostic(
                "error",
                self.location_at(start),
                "unexpected decimal integer literal for a floating point value",
            )
            hint = "add a trailing dot to make the literal a float"
            raise DiagnosticError(error.with_note(note(error.location, hint, show_source=False)))
        if negative:
            self.raise_error("hexadecimal float literal should not have a leading minus", start + 1)
        bits = int(literal, 16)
        if bits.bit_length() > type.bitwidth:
            self.raise_error("hexadecimal float constant out of range for type", start)
        return float_attr_of_bits(bits, type)

    def read_dense(self) -> DenseIntOrFPElementsAttr:
        """Read what follows `dense`."""
        return self.parse_dense_int_or_fp_elements_attr(None)

    def parse_dense_int_or_fp_elements_attr(
        self, type: RankedStructure[AnyDenseElement] | None
    ) -> DenseIntOrFPElementsAttr:
        """Read `<...> : type` after `dense`, or `<...>` for a type that is known."""
        if self.current_token.text != "<":
            self.raise_wrong_token("expected '<' after 'dense'")
        try:
            literal, end = scan_dense(self._text, self.pos + 1)
            self.resume_from(end + 1)
            shaped: Attribute = type if type is not None else self._parse_elements_type()
            type_text = f"'{show_attribute(shaped)}'"
            return dense_elements(literal, cast(ElementsType, shaped), type_text, self._contents)
        except DenseSyntaxError as error:
            self.raise_error(error.message, error.position)

    def _parse_elements_type(self) -> Attribute:
        self.parse_punctuation(":")
        position = self.pos
        type = self.parse_type()
        try:
            return checked_elements_type(type, f"'{show_attribute(type)}'")
        except ValueError as error:
            self.raise_error(str(error), position)

    def read_dense_array(self) -> DenseArrayBase:
        """Read what follows `array`."""
        self.parse_punctuation("<")
        position = self.pos
        type = self.parse_type()
        if not isinstance(type, IntegerType | AnyFloat):
            self.raise_error(
                f"expected integer or float type, got: '{show_attribute(type)}'", position
            )
        element_type = cast(IntegerType | AnyFloat, type)
        if not _is_array_element(element_type):
            self.raise_error("element type bitwidth must be a multiple of 8", position)
        values: list[int | float] = []
        if self.parse_optional_punctuation(":") is not None:

            def element() -> None:
                values.append(self._parse_array_element(element_type))

            self.parse_comma_separated_list(self.Delimiter.NONE, element)
        self.parse_punctuation(">")
        data = BytesAttr(pack_values(values, element_type))
        return DenseArrayBase[IntegerType | AnyFloat](element_type, data)

    def _parse_array_element(self, type: IntegerType | AnyFloat) -> int | float:
        start = self.pos
        negative = self.current_token.kind is Kind.MINUS
        if negative:
            self.consume_token()
        token = self.current_token
        if isinstance(type, IntegerType) and token.text in ("true", "false") and not negative:
            if type.width.data != 1:
                self.raise_error("expected i1 type for 'true' or 'false' values")
            self.consume_token()
            return int(token.text == "true")
        if token.kind not in (Kind.INTEGER_LIT, Kind.FLOAT_LIT):
            kind = "integer" if isinstance(type, IntegerType) else "floating point"
            self.raise_error(f"expected {kind} literal")
        self.consume_token()
        if isinstance(type, IntegerType):
            if token.kind is Kind.FLOAT_LIT:
                self.raise_error("expected integer literal", start)
            return self._integer(token.text, negative, type, start).value.data
        return self._float(token.text, negative, type, start).value.data

    def read_dense_resource(self) -> DenseResourceAttr:
        """Read what follows `dense_resource`."""
        self.parse_punctuation("<")
        name = self.parse_identifier(" for a resource handle")
        self.parse_punctuation(">")
        self.parse_punctuation(":")
        position = self.pos
        type = self.parse_type()
        if not isinstance(type, ShapedType):
            self.raise_error("`dense_resource` expected a shaped type", position)
        return DenseResourceAttr(StringAttr(name), type)

    def read_affine_map(self) -> AffineMapAttr:
        """Read what follows `affine_map`."""
        self.parse_punctuation("<")
        map = self.parse_layout_map()
        self.parse_punctuation(">")
        return affine_map_attr(map)

    def read_affine_set(self) -> AffineSetAttr:
        """Read what follows `affine_set`."""
        position = self.pos
        try:
            return super().read_affine_set()
        except NotImplementedError:
            self.raise_error(
                "semi-affine expressions are not supported in a set; multiply and divide by "
                "constants only",
                position,
            )

    def parse_layout_map(self) -> AffineMap:
        """Read a bare affine map, simplified."""
        return parse_affine_map(self)

    # Locations.

    def parse_optional_location(self) -> LocationAttr | None:
        """Read `loc(...)`, if there."""
        token = self.current_token
        if token.kind is not Kind.BARE_IDENT or token.text != "loc":
            return None
        self.consume_token()
        self.parse_punctuation("(", " in location")
        location = self.read_location()
        self.parse_punctuation(")", " in location")
        return location

    def read_location(self) -> LocationAttr:
        """Read what stands in the parentheses of `loc(...)`."""
        self._enter_nesting()
        location = self._parse_location_body()
        self._nesting -= 1
        return self._interner.intern(location)

    def _parse_location_body(self) -> LocationAttr:
        token = self.current_token
        if token.kind is Kind.HASH_IDENT:
            attribute = self.parse_attribute()
            if not isinstance(attribute, LOCATIONS):
                self.raise_error("expected location attribute", token.span)
            return attribute
        text = self.parse_optional_str_literal()
        if text is not None:
            return self._parse_named_location(text)
        keyword = self.parse_optional_identifier()
        if keyword == "unknown":
            return UnknownLoc()
        if keyword == "callsite":
            self.parse_punctuation("(", " in callsite location")
            callee = self.read_location()
            self.parse_keyword("at", " in callsite location")
            caller = self.read_location()
            self.parse_punctuation(")", " in callsite location")
            return CallSiteLoc(callee, caller)
        if keyword == "fused":
            return self._parse_fused_location()
        self.raise_error("expected location instance", token.span)

    def _parse_named_location(self, text: str) -> LocationAttr:
        if self.parse_optional_punctuation(":") is not None:
            line = self._parse_location_number("line")
            self.parse_punctuation(":", " in FileLineColLoc")
            column = self._parse_location_number("column")
            return self._parse_location_range(text, line, column)
        child: Attribute = NoneAttr()
        if self.parse_optional_punctuation("(") is not None:
            child = self.read_location()
            self.parse_punctuation(")", " after child location of NameLoc")
        return NameLoc(StringAttr(text), child)

    def _parse_location_number(self, what: str) -> int:
        token = self.current_token
        if token.kind is not Kind.INTEGER_LIT or not token.text.isdigit():
            self.raise_error(f"expected integer {what} number in FileLineColLoc")
        if int(token.text) >= 1 << 32:
            self.raise_error(f"expected integer {what} number in FileLineColLoc below 2^32")
        self.consume_token()
        return int(token.text)

    def _parse_location_range(self, file: str, line: int, column: int) -> LocationAttr:
        """A place, and where it ends if newer MLIR says so: `to :9`, `to 3:4`."""
        if self.parse_optional_keyword("to") is None:
            return file_location(file, line, column)
        end_line = line
        if self.current_token.kind is Kind.INTEGER_LIT:
            end_line = self._parse_location_number("line")
        self.parse_punctuation(":", " in FileLineColRange")
        return range_location(file, line, column, end_line, self._parse_location_number("column"))

    def _parse_fused_location(self) -> LocationAttr:
        metadata: Attribute = NoneAttr()
        if self.parse_optional_punctuation("<") is not None:
            metadata = self.parse_attribute()
            self.parse_punctuation(">", " after fused location metadata")
        locations = self.parse_comma_separated_list(
            self.Delimiter.SQUARE, self.read_location, " in fused location"
        )
        if not locations:
            return UnknownLoc()
        if isinstance(metadata, NoneAttr) and len(locations) == 1:
            return locations[0]
        return FusedLoc(tuple(locations), metadata)


def _is_array_element(type: IntegerType | AnyFloat) -> bool:
    return type.bitwidth == 1 or (type.bitwidth > 0 and type.bitwidth % 8 == 0)


_NOT_READ = {"distinct": "leave them out", "sparse": "write all elements, as dense<...>"}
"""Attributes of MLIR that are not read, and what to do about it."""
