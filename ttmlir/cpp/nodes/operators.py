"""The operators of C++ in kernel trees with how tightly they bind, and words of declarations."""

from __future__ import annotations

PRECEDENCE = {
    operator: level
    for level, operators in enumerate(
        (
            (",",),
            ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=", "?:"),
            ("||",),
            ("&&",),
            ("|",),
            ("^",),
            ("&",),
            ("==", "!="),
            ("<", ">", "<=", ">="),
            ("<<", ">>"),
            ("+", "-"),
            ("*", "/", "%"),
        )
    )
    for operator in operators
}
"""How tightly operators of two and three operands bind; more is tighter."""

UNARY_OPERATORS = ("+", "-", "!", "~", "*", "&")
UPDATE_OPERATORS = ("++", "--")
ASSIGNMENT_OPERATORS = ("=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "|=", "^=")
BINARY_OPERATORS = tuple(
    each for each in PRECEDENCE if each not in ASSIGNMENT_OPERATORS and each != "?:"
)

TYPE_QUALIFIERS = ("const", "volatile", "tt_l1_ptr")
SPECIFIERS = ("static", "inline", "constexpr", "extern")
MEMBER_SPECIFIERS = ("explicit", "mutable", "friend")
"""Words that only go with the members of classes."""
