"""Words of C++ against lists by hand."""

from __future__ import annotations

import tracemalloc

import pytest

from ttmlir.cpp.tokens import SourceText, split_tokens
from ttmlir.cpp.tree import ASSIGNMENT_OPERATORS, BINARY_OPERATORS
from ttmlir.cpp.types import BUILT_IN_WORDS, is_built_in_type


def test_types_of_the_language_and_of_cstdint() -> None:
    """All widths with and without sign."""
    assert set(BUILT_IN_WORDS) == {
        *("void", "bool", "auto", "char", "short", "int", "long", "signed", "unsigned"),
        *("float", "double", "size_t", "uint", "ptrdiff_t", "intptr_t", "uintptr_t", "nullptr_t"),
        *("int8_t", "int16_t", "int32_t", "int64_t"),
        *("uint8_t", "uint16_t", "uint32_t", "uint64_t", "uint"),
    }


@pytest.mark.parametrize(
    ("name", "expected"),
    [("unsigned long", True), ("uint32_t", True), ("unsigned Tile", False), ("Tile", False)],
)
def test_names_of_several_words(name: str, expected: bool) -> None:
    """Each word is one of them."""
    assert is_built_in_type(name) is expected


def test_operators() -> None:
    """Those of two operands that compute, and those that assign."""
    assert set(BINARY_OPERATORS) == {
        *(",", "||", "&&", "|", "^", "&", "==", "!=", "<", ">", "<=", ">="),
        *("<<", ">>", "+", "-", "*", "/", "%"),
    }
    assert set(ASSIGNMENT_OPERATORS) == {
        *("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^="),
    }


@pytest.mark.parametrize("opening", ['"', "// ", "/* ", "'", "1", " "])
def test_long_words_take_memory_for_their_text_only(opening: str) -> None:
    """A word of a million characters is read without a note of each of them."""
    closing = {'"': '"', "'": "'", "/* ": "*/"}.get(opening, "")
    character = opening if opening in "1 " else "a"
    text = opening + character * 1_000_000 + closing
    tracemalloc.start()
    try:
        words = list(split_tokens(SourceText(text, "k.cpp")))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert len(words) == 1
    assert peak < 20_000_000
