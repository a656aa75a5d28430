"""Reading types: xDSL's parser with MLIR's rules, and with a memory.

The text of a type is remembered with its value, so that each spelling is parsed once per module;
equal types are then also the same object, which makes comparing them cheap.
"""

from __future__ import annotations

import re
from typing import cast, get_args

from xdsl.context import Context
from xdsl.dialects.builtin import (
    AffineMapAttr,
    AnyFloat,
    AnyTensorType,
    AnyUnrankedTensorType,
    AnyVectorType,
    ArrayAttr,
    BoolAttr,
    ComplexType,
    FunctionType,
    IndexType,
    IntegerType,
    MemRefType,
    NoneAttr,
    NoneType,
    StridedLayoutAttr,
    TensorType,
    TupleType,
    UnrankedMemRefType,
    UnrankedTensorType,
    VectorType,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.utils.lexer import Position, Span
from xdsl.utils.mlir_lexer import MLIRTokenKind as Kind

from ttmlir.mlir.attributes.affine import layout_map
from ttmlir.mlir.attributes.sharing import Interner
from ttmlir.mlir.reading.lexer import balanced_end
from ttmlir.mlir.reading.text_reader import TextReader

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
