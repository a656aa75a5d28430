"""Reading what stands inside `dense<...>`: scalars, nested lists, hexadecimal strings.

Works on the raw text with one regular expression, without xDSL's tokens, so that large constants
cost little; a splat is never expanded.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    ComplexType,
    IndexType,
    IntegerType,
    MemRefType,
    Signedness,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute

from ttmlir.mlir.attributes.elements import (
    Elements,
    ElementsType,
    ElementType,
    ElementValue,
    element_size,
    elements_attr,
    is_bool,
    pack_values,
    unpack_bits,
)
from ttmlir.mlir.attributes.floats import UnsupportedFloatError, value_of
from ttmlir.mlir.attributes.long_strings import marked

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

    `contents` are what the marks of the text stand for (`ttmlir.mlir.attributes.long_strings`).
    """
    try:
        return elements_attr(type, _bytes(literal, type, type_text, contents))
    except UnsupportedFloatError as error:
        raise DenseSyntaxError(str(error), literal.start) from None


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
                f"parsed zero elements, but type ({type_text}) expected at least 1",
                literal.start,
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
