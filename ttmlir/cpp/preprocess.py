"""The C++ preprocessor.

Macros are expanded, conditionals decided, comments go, and `#include`s are read along a path, as
in C++17. Of what decides, only the outcome is left: text for the C++ grammar, the place of each
character in the sources, and the directives that the tree keeps.

A header that stands between items is preprocessed and read on its own, so that it is read once for
all kernels in which it says the same; one that stands within an item is part of it.
"""

from __future__ import annotations

import operator
import re
from bisect import bisect_left, bisect_right
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import Lock
from typing import NamedTuple

from ttmlir.cpp.errors import CppSyntaxError, DifferingError, Position
from ttmlir.cpp.include_path import (
    Found,
    HeaderText,
    IncludePath,
    Lookup,
)
from ttmlir.cpp.tokens import (
    BLANK,
    OMITTED,
    SOME_PROCESSORS,
    VARIADIC,
    Macro,
    SourceText,
    Substitution,
    Token,
    check_body,
    given_macro,
    join,
    quote,
    trim,
)
from ttmlir.cpp.tree import (
    PRECEDENCE,
    Define,
    Directive,
    Header,
    Include,
    Integer,
    Pragma,
    Undefine,
)
from ttmlir.cpp.types import INT64, UINT64
from ttmlir.errors import plural

# --- Conditions -----------------------------------------------------------------------------------
# What `#if` asks: an integer expression without variables.
#
# Numbers have 64 bits, with a sign unless a literal says otherwise: those of `intmax_t` and
# `uintmax_t` (C++20, [cpp.cond]).

ALTERNATIVES = {
    "and": "&&",
    "and_eq": "&=",
    "bitand": "&",
    "bitor": "|",
    "compl": "~",
    "not": "!",
    "not_eq": "!=",
    "or": "||",
    "or_eq": "|=",
    "xor": "^",
    "xor_eq": "^=",
}
"""Words that are operators ([lex.digraph])."""

_MAX_DEPTH = 64


class _Number(NamedTuple):
    value: int
    is_unsigned: bool = False


def _wrap(value: int, is_unsigned: bool) -> _Number:
    return _Number((UINT64 if is_unsigned else INT64).wrap(value), is_unsigned)


def _shift(value: int, count: int) -> int:
    """To the left; a negative count shifts to the right, as in GCC."""
    return value << min(count, 64) if count >= 0 else value >> -count


_LOGICAL: dict[str, Callable[[int, int], bool]] = {
    "||": lambda a, b: bool(a or b),
    "&&": lambda a, b: bool(a and b),
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}
_SHIFTS: dict[str, Callable[[int, int], int]] = {"<<": _shift, ">>": lambda a, b: _shift(a, -b)}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "%": lambda a, b: abs(a) % abs(b) * (1 if a >= 0 else -1),
}
_BINARY = frozenset((*_LOGICAL, *_SHIFTS, *_ARITHMETIC))

_UNARY: dict[str, Callable[[int], int]] = {
    "~": operator.invert,
    "-": operator.neg,
    "+": operator.pos,
}


def _compute(word: str, left: _Number, right: _Number) -> _Number:
    if word in _SHIFTS:
        return _wrap(_SHIFTS[word](left.value, right.value), left.is_unsigned)
    is_unsigned = left.is_unsigned or right.is_unsigned
    a, b = (_wrap(each.value, is_unsigned).value for each in (left, right))
    if word in _LOGICAL:
        return _Number(int(_LOGICAL[word](a, b)))
    return _wrap(_ARITHMETIC[word](a, b), is_unsigned)


def evaluate_condition(words: Sequence[Token], start: Token) -> int:
    """The value of the words of a condition.

    Names are 0, as in C++, but for `true`. `start` is to blame if the condition ends too early.
    """
    return _Evaluator(words, start).run().value


class _Evaluator:
    """Reads a condition from left to right; deeper calls bind tighter."""

    def __init__(self, words: Sequence[Token], start: Token) -> None:
        self.words = words
        self.start = start
        self.next = 0
        self.skipped = 0
        """How many operators around the next word need no right operand."""

    def run(self) -> _Number:
        value = self._binary(PRECEDENCE["||"], 0)
        if self.next < len(self.words):
            word = self.words[self.next]
            raise word.error(f"'{word.text}' is not expected in this condition")
        return value

    def _peek(self) -> str:
        if self.next >= len(self.words):
            return ""
        text = self.words[self.next].text
        return ALTERNATIVES.get(text, text)

    def _binary(self, level: int, depth: int) -> _Number:
        left = self._operand(depth)
        while (word := self._peek()) in _BINARY and PRECEDENCE[word] >= level:
            place = self.words[self.next]
            self.next += 1
            is_decided = word == ("||" if left.value else "&&")
            self.skipped += is_decided
            right = self._binary(PRECEDENCE[word] + 1, depth)
            self.skipped -= is_decided
            if word in "/%" and not right.value:
                if not self.skipped:
                    raise place.error("division by zero")
                right = _Number(1, right.is_unsigned)
            left = _compute(word, left, right)
        return left

    def _operand(self, depth: int) -> _Number:
        if self.next >= len(self.words):
            raise self.start.error("this condition is incomplete")
        word, text = self.words[self.next], self._peek()
        if depth > _MAX_DEPTH:
            raise word.error(f"conditions nest up to {_MAX_DEPTH} levels deep")
        self.next += 1
        if text == "!":
            return _Number(int(not self._operand(depth + 1).value))
        if text in _UNARY:
            operand = self._operand(depth + 1)
            return _wrap(_UNARY[text](operand.value), operand.is_unsigned)
        if text == "(":
            value = self._binary(PRECEDENCE["||"], depth + 1)
            if self._peek() != ")":
                raise word.error("this '(' has no ')'")
            self.next += 1
            return value
        if text.isidentifier():
            return _Number(int(text == "true"))
        return self._number(word)

    def _number(self, word: Token) -> _Number:
        if word.kind == "character":
            return _read_character(word)
        literal = Integer(word.text)
        try:
            value = literal.value
        except ValueError:
            message = f"'{word.text}' is not expected in this condition; it takes integers"
            raise word.error(message) from None
        return _wrap(value, literal.is_unsigned or value > INT64.high)


def _read_character(word: Token) -> _Number:
    inside = word.text[1:-1]
    if len(inside) != 1 or not inside.isascii():
        raise word.error(f"the character {word.text} is not supported in a condition")
    return _Number(ord(inside))


# --- Header cache ---------------------------------------------------------------------------------
# What was read of headers in this process, with all that it depends on.
#
# What a header says depends on its text, on the macros that are defined before it, on the headers
# that it includes and on which of them have been read already. Two kernels, and the roles of a
# compute kernel, mostly agree in these.

_HEADER_CACHE_MAX_HEADERS = 1024
_MAX_FORMS = 16
"""How many forms of a header are kept: the roles of kernels, and a few kernels that differ."""


class IncludedSize(NamedTuple):
    """How much was included."""

    headers: int = 0
    """How many headers, each as often as it was."""
    length: int = 0
    """How many characters."""
    depth: int = 0
    """How many headers within each other."""


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """What the reading of a source depends on, apart from its text."""

    defined: Mapping[str, Macro]
    """The macros before it that mattered."""
    undefined: frozenset[str]
    """The names that would have mattered, had they been macros."""
    lookups: tuple[Lookup, ...]

    def fits(self, include_path: IncludePath, macros: Mapping[str, Macro], once: set[str]) -> bool:
        """Whether the source would be read the same."""
        if not self.undefined.isdisjoint(macros):
            return False
        for name, macro in self.defined.items():
            if not macro.is_like(macros.get(name)):
                return False
        return all(
            (each.identity in once) == each.was_read and each.is_current(include_path)
            for each in self.lookups
        )


@dataclass(frozen=True, kw_only=True)
class Fragment(Dependencies):
    """A header as it was read, with what it needed and what it left."""

    header: Header
    changed: Mapping[str, Macro | None]
    """What the macros are behind it that it has defined, or None."""
    once: frozenset[str]
    size: IncludedSize
    """What it takes of the limits, itself included."""
    differing: frozenset[Position]
    """Where statements of some processors stand in it."""

    def apply(self, shared: _Shared) -> None:
        """Do to the macros what the header did."""
        for name, macro in self.changed.items():
            if macro is None:
                shared.macros.pop(name, None)
            else:
                shared.macros[name] = macro
        shared.once |= self.once
        shared.differing |= self.differing


class FragmentCache:
    """Fragments by the headers that they were made of."""

    def __init__(self) -> None:
        """Nothing was read yet."""
        self._fragments = OrderedDict[HeaderText, tuple[Fragment, ...]]()
        self._lock = Lock()

    def find(
        self,
        header: HeaderText,
        include_path: IncludePath,
        macros: Mapping[str, Macro],
        once: set[str],
    ) -> Fragment | None:
        """What was read of a header where it says the same."""
        forms = self._fragments.get(header, ())
        return next((each for each in forms if each.fits(include_path, macros, once)), None)

    def keep(self, header: HeaderText, fragment: Fragment) -> None:
        """Keep what was read of a header."""
        with self._lock:
            forms = self._fragments.get(header, ())
            self._fragments[header] = (fragment, *forms)[:_MAX_FORMS]
            self._fragments.move_to_end(header)
            if len(self._fragments) > _HEADER_CACHE_MAX_HEADERS:
                self._fragments.popitem(last=False)


FRAGMENTS = FragmentCache()
"""Those of this process."""


# --- Preprocess -----------------------------------------------------------------------------------

MAX_EXPANSION = 100_000
"""How many tokens macros may make in one source."""
MAX_INCLUDES = 1000
"""How many headers a kernel may include, each counted as often as it is."""
MAX_INCLUDED_LENGTH = 1 << 23
"""How many characters these may have in all."""
MAX_INCLUDE_DEPTH = 64
"""How deeply headers may include each other."""

_MAX_MACRO_NESTING = 64

# The grammar knows no such word before a type; one that it knows stands in for it.
_STAND_INS = {"tt_l1_ptr": "_Atomic"}
_STAND_IN_WORDS = frozenset(_STAND_INS.values())

PREDEFINED = {
    **{"ALWI": "inline", "FORCE_INLINE": "inline", "tt_reg_ptr": ""},
    "__cplusplus": "201703L",
}
"""Macros of TT-Metalium's headers that stand for words of C++, and those of the language."""

ARGUMENT_MACRO = "KERNEL_COMPILE_TIME_ARG_"
"""What the build calls compile-time arguments, before their numbers."""
ARGUMENT_CALL = "get_compile_time_arg_val"
_PLACES = ("__LINE__", "__FILE__", "__COUNTER__")
"""Macros that say something about where they stand."""

_SUPPORTED = (
    "#include, #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif, #error, #warning and "
    "#pragma"
)


class Origin(NamedTuple):
    """Where a piece of text comes from."""

    source: SourceText
    offset: int
    is_copy: bool
    """Whether it stands there as it is; else a macro stands there that made it."""


@dataclass
class PreprocessedText:
    """What the preprocessor leaves of a source.

    A directive that the tree keeps is a line `#pragma N` in `text`, with `directives[N]`.
    """

    source: SourceText
    text: str
    directives: list[Directive]
    offsets: list[int]
    """Where its pieces start, in rising order."""
    origins: list[Origin]
    """Where each piece comes from."""
    includes: list[Include] = field(default_factory=list[Include])
    """All `#include`s."""
    lookups: list[Lookup] = field(default_factory=list[Lookup])
    """All headers that were looked for, also by headers."""
    differing: set[Position] = field(default_factory=set[Position])
    """Where statements of some processors stand, also in headers."""
    dependencies: Dependencies | None = None
    """None: the source may say something else each time it is read."""

    def origin(self, offset: int) -> Origin:
        """Where the text from an offset on comes from."""
        index = bisect_right(self.offsets, offset) - 1
        if index < 0:
            return Origin(self.source, 0, False)
        source, place, is_copy = self.origins[index]
        return Origin(source, place + (offset - self.offsets[index] if is_copy else 0), is_copy)

    def position(self, offset: int) -> Position:
        """The position in its source of an offset in `text`."""
        source, place, _ = self.origin(offset)
        return source.position(place)

    def cut(self, start: int, end: int, before: str, after: str) -> PreprocessedText:
        """A part of the text between two words that are not in the source."""
        first, last = bisect_right(self.offsets, start), bisect_left(self.offsets, end)
        moved = len(before) - start
        return PreprocessedText(
            self.source,
            before + self.text[start:end] + after,
            self.directives,
            [len(before), *(each + moved for each in self.offsets[first:last])],
            [self.origin(start), *self.origins[first:last]],
        )

    def error(self, offset: int, message: str) -> CppSyntaxError:
        """An error at an offset in `text`."""
        source, place, _ = self.origin(offset)
        return source.error(place, message)


ReadHeader = Callable[[PreprocessedText], Header]
"""Makes items of what the preprocessor has left of a header."""


def preprocess(
    source: SourceText,
    defines: Mapping[str, str],
    include_path: IncludePath | None = None,
    read_header: ReadHeader | None = None,
) -> PreprocessedText:
    """Expand macros, decide conditionals and read headers.

    `defines` are macros that are defined before the first line; one with parameters has them in
    its key: `"MIN(a,b)": "(a) < (b) ? (a) : (b)"`. Without `read_header` no header is read. Raises
    CppSyntaxError.
    """
    macros = make_macros(defines)
    shared = _Shared(include_path or IncludePath(), read_header, macros)
    return _Preprocessor(source, shared, ()).run()


def make_macros(defines: Mapping[str, str]) -> dict[str, Macro]:
    """The macros before the first line of a source."""
    return dict(given_macro(head, body) for head, body in (PREDEFINED | dict(defines)).items())


# --- Several processors ---------------------------------------------------------------------------
# A text that is read once for several processors whose macros differ in part.
#
# A macro that runs a statement on one processor stands for the statement, where leaving an
# expression out could not make the rest wrong. Conditions that all processors agree in are decided.
# What is left differs: there a word stands that means nothing, so that nobody can use it.


def join_macros(macros: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The macros of several processors as one set of them, in which others are marked."""
    joined = dict[str, str]()
    for head in dict.fromkeys(each for listed in macros for each in listed):
        bodies = [each.get(head) for each in macros]
        if len({*bodies}) == 1:
            joined[head] = bodies[0] or ""
            continue
        mask = sum(1 << number for number, body in enumerate(bodies) if body is not None)
        shown = {each for each in bodies if each}
        is_statement = None not in bodies and "(" in head and len(shown) == 1
        joined[head] = f"{SOME_PROCESSORS} {shown.pop() if is_statement else ''} {mask}"
    return joined


_NO_EXPRESSION = frozenset(
    (
        *("*", "&", "&&", ":", "return", "break", "continue", "goto", "using", "case", "default"),
        *("if", "for", "while", "do", "switch", "asm", "static_assert", "delete", "throw"),
    )
)
"""What statements hold that are no expressions, or may be none."""


def _is_removable(tokens: Sequence[Token]) -> bool:
    """Whether tokens are statements that declare nothing, and lead to no other place.

    The last one may lack its semicolon.
    """
    words = [each for each in tokens if each.kind not in BLANK]
    depth = 0
    before: Token | None = None
    for each in words:
        text = each.text
        if not depth and before is not None:
            is_word = each.kind in ("name", "number")
            if is_word and (before.kind in ("name", "number") or before.text in (">", "}", ")")):
                return False
        if not depth and text in _NO_EXPRESSION:
            return False
        depth += (text in _OPENING) - (text in _CLOSING)
        before = each
    return depth == 0


_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")


@dataclass
class _Shared:
    """What a kernel and its headers share."""

    include_path: IncludePath
    read_header: ReadHeader | None
    macros: dict[str, Macro]
    once: set[str] = field(default_factory=set[str])
    """The headers with `#pragma once` that were read."""
    counter: int = 0
    """What the next `__COUNTER__` is."""
    size: IncludedSize = field(default_factory=IncludedSize)
    """How much was included."""
    differing: set[Position] = field(default_factory=set[Position])
    """Where statements of some processors stand."""
    processor: int = 1
    """The bit of the processor for which a condition is evaluated."""

    @cached_property
    def others(self) -> tuple[int, ...]:
        """The bits of the processors beside the first that macros are joined of."""
        masks = [each.processors or 0 for each in self.macros.values()]
        return tuple(1 << number for number in range(1, max(masks, default=0).bit_length()))


@dataclass
class _Conditional:
    """An `#if` that is open."""

    word: Token
    outer_active: bool
    active: bool
    taken: bool
    has_else: bool = False


class _Preprocessor:
    """One source, with the headers that are part of its items."""

    def __init__(self, source: SourceText, shared: _Shared, stack: tuple[str, ...]) -> None:
        self.source = source
        self.shared = shared
        self.macros = shared.macros
        self.stack = stack
        """The headers around this source, itself included."""
        self.depth = len(stack)
        """How deep headers were within each other."""
        self.pending = deque[Token]()
        self.conditionals = list[_Conditional]()
        self.expanded = 0
        self.pieces = list[str]()
        self.length = 0
        self.next_source: SourceText = source
        self.next_offset = -1
        """Where the last piece goes on in its source, if it is a copy of it."""
        self.braces = 0
        """How many braces are open in what was written."""
        self.last = ""
        """What was written last, apart from space."""
        self.consulted = set[str]()
        """The names whose being macros mattered."""
        self.lookups = list[Lookup]()
        self.differs = False
        """Whether the last condition asked for a macro that not all processors have."""
        self.has_unknown = False
        """Whether it needs the value of one."""
        self.is_repeatable = True
        """Whether the source says the same where the same macros are defined."""
        self.result = PreprocessedText(source, "", [], [], [])

    def run(self) -> PreprocessedText:
        before, once = dict(self.macros), set(self.shared.once)
        self._read(self.source)
        self.result.text = "".join(self.pieces)
        self.result.lookups = self.lookups
        self.result.differing = self.shared.differing
        if self.is_repeatable:
            self.result.dependencies = self.find_dependencies(before, once)
        return self.result

    def find_dependencies(self, before: Mapping[str, Macro], once: Set[str]) -> Dependencies:
        """What mattered of the macros before the source, and of the headers read before it."""
        return Dependencies(
            defined={name: before[name] for name in self.consulted if name in before},
            undefined=frozenset(name for name in self.consulted if name not in before),
            lookups=tuple(replace(each, was_read=each.identity in once) for each in self.lookups),
        )

    def _read(self, source: SourceText) -> None:
        """Read all tokens of the source, or of a header that is part of an item."""
        outer = self.pending, self.conditionals
        self.pending, self.conditionals = deque(source.tokens), list[_Conditional]()
        self.consulted |= source.names
        at_line_start = True
        pending, macros = self.pending, self.macros
        while pending:
            token = pending.popleft()
            kind = token.kind
            if at_line_start:
                if token.text == "#" and not token.hidden:
                    self._directive(token)
                    continue
                at_line_start = kind in BLANK
            elif kind == "newline":
                at_line_start = True
            if kind == "newline":
                self._write(token)
            elif self.conditionals and not self.conditionals[-1].active:
                continue
            elif kind != "name":
                self._write(token)
            elif token.text not in macros or not self._expand(token, pending, 0):
                self._write_name(token)
        if self.conditionals:
            raise self.conditionals[-1].word.error("this conditional has no #endif")
        self.pending, self.conditionals = outer

    def _active(self) -> bool:
        return not self.conditionals or self.conditionals[-1].active

    def _write_name(self, token: Token) -> None:
        if token.text in _PLACES:
            self._write(self._find_place(token))
        elif token.text == "_Pragma":
            self._skip_pragma(token)
        elif token.text in ALTERNATIVES:
            self._write(token.spelled("other", ALTERNATIVES[token.text]))
        else:
            self._write(token)
            self._write_parameters_of_main(token)

    def _write(self, token: Token) -> None:
        text, kind, source, offset = token.text, token.kind, token.source, token.offset
        if kind == "name":
            self.last = text
            if text in _STAND_IN_WORDS:
                raise token.error(f"{text} is not supported")
            text = _STAND_INS.get(text, text)
        elif kind not in BLANK:
            self.last = text
            if text == "{":
                self.braces += 1
            elif text == "}":
                self.braces -= 1
        if not token.hidden and source.text.startswith(text, offset):
            if offset != self.next_offset or source is not self.next_source:
                self.result.offsets.append(self.length)
                self.result.origins.append(Origin(source, offset, True))
            self.next_source = source
            self.next_offset = offset + len(text)
        else:
            if kind not in ("directive", "space"):
                text = f" {text} "
            self.result.offsets.append(self.length)
            self.result.origins.append(Origin(source, offset, False))
            self.next_offset = -1
        self.pieces.append(text)
        self.length += len(text)

    def _write_parameters_of_main(self, token: Token) -> None:
        """`MAIN` is a macro that brings its parameter list with it."""
        if token.text == "MAIN" and (not self.pending or self.pending[0].text != "("):
            for text in "()":
                self._write(token.spelled("other", text))

    def _find_place(self, token: Token) -> Token:
        """What `__LINE__`, `__FILE__` and `__COUNTER__` are."""
        position = token.source.position(token.offset)
        match token.text:
            case "__LINE__":
                return token.spelled("number", str(position.line))
            case "__FILE__":
                return token.spelled("string", quote(position.file))
            case _:
                self.is_repeatable = False
                self.shared.counter += 1
                return token.spelled("number", str(self.shared.counter - 1))

    def _skip_pragma(self, token: Token) -> None:
        """`_Pragma("...")` has no effect, as its directive has none."""
        if not _call_follows(self.pending):
            raise token.error("_Pragma takes a string in parentheses")
        self._split_arguments(token, self.pending)

    # Macros.

    def _expand(self, token: Token, following: deque[Token], depth: int) -> bool:
        """Put what a macro stands for before the following tokens; False if it is no macro."""
        macro = self.macros.get(token.text) if token.kind == "name" else None
        if macro is None or token.text in token.hidden:
            return False
        if macro.processors is not None and following is not self.pending:
            # Its statement is not found where it stands; what its value is, is not known.
            self.has_unknown = True
            return False
        hidden = token.hidden
        if macro.parameters is None:
            made: Sequence[Token] = macro.body
            if macro.has_operators:
                made = Substitution(macro, {}, list).run()
        else:
            if not _call_follows(following):
                return False
            arguments, closing = self._arguments(token, macro, macro.parameters, following, depth)
            hidden &= closing.hidden
            made = Substitution(macro, arguments, lambda it: self._expanded(it, depth + 1)).run()
        if macro.processors is not None:
            made = self._choose_statement(token, macro, made)
        hidden |= {token.text}
        self.consulted |= macro.names
        if macro.has_operators:
            self.consulted.update(each.text for each in made if each.kind == "name")
        if len(hidden) > _MAX_MACRO_NESTING:
            raise token.error(self._too_deep(token))
        tokens = [each.moved(token, each.hidden | hidden) for each in made]
        self.expanded += len(tokens) + 1
        if self.expanded > MAX_EXPANSION:
            raise token.error(f"macros make more than {MAX_EXPANSION} tokens of this source")
        following.extendleft(reversed(tokens))
        return True

    def _choose_statement(
        self, token: Token, macro: Macro, made: Sequence[Token]
    ) -> Sequence[Token]:
        """The statement of one processor; a word that means nothing where it may not be left out.

        `made` is the statement between the words of `join_macros`.
        """
        inside = trim(made[1:-1])
        after = next((each.text for each in self.pending if each.kind not in BLANK), "")
        ends = after == ";" or not inside or inside[-1].text in (";", "}")
        is_statement = macro.parameters is not None and self.last in (";", "{", "}")
        if not (is_statement and ends and _is_removable(inside)):
            return self._refuse(token)
        self.shared.differing.add(token.source.position(token.offset))
        return inside

    def _refuse(self, token: Token) -> Sequence[Token]:
        """What stands for a text that differs between processors; in a kernel an error."""
        if not isinstance(token.source, HeaderText):
            raise _differing(token)
        return [token.spelled("name", SOME_PROCESSORS)]

    @staticmethod
    def _too_deep(token: Token) -> str:
        return f"the macro '{token.text}' is nested more than {_MAX_MACRO_NESTING} macros deep"

    def _arguments(
        self,
        token: Token,
        macro: Macro,
        parameters: tuple[str, ...],
        following: deque[Token],
        depth: int,
    ) -> tuple[dict[str, Sequence[Token]], Token]:
        """The arguments of a macro by its parameters, and the closing parenthesis."""
        if depth >= _MAX_MACRO_NESTING:
            raise token.error(self._too_deep(token))
        most = len(parameters) if macro.is_variadic else None
        split, closing = self._split_arguments(token, following, most)
        listed: list[Sequence[Token]] = [*split]
        if not parameters and listed == [()]:
            listed = []
        if macro.is_variadic and len(listed) == len(parameters) - 1:
            listed.append(OMITTED)
        if len(listed) != len(parameters):
            least = f"at least {len(parameters) - 1}" if macro.is_variadic else len(parameters)
            takes = plural(least, "argument")
            message = f"the macro '{token.text}' takes {takes}, got {len(listed)}"
            raise token.error(message)
        return dict(zip(parameters, listed, strict=True)), closing

    def _split_arguments(
        self, token: Token, following: deque[Token], most: int | None = None
    ) -> tuple[list[tuple[Token, ...]], Token]:
        """The arguments between parentheses, at most so many, and the closing parenthesis."""
        while following.popleft().text != "(":
            pass
        arguments: list[list[Token]] = [[]]
        open_brackets = 0
        while following:
            each = following.popleft()
            if each.text == "(":
                open_brackets += 1
            elif each.text == ")" and not open_brackets:
                return [trim(argument) for argument in arguments], each
            elif each.text == ")":
                open_brackets -= 1
            elif each.text == "," and not open_brackets and len(arguments) != most:
                arguments.append([])
                continue
            elif each.kind == "newline":
                each = each.spelled("space", " ")
            arguments[-1].append(each)
        raise token.error(f"the macro '{token.text}' has no closing ')'")

    def _expanded(self, tokens: Iterable[Token], depth: int) -> list[Token]:
        pending = deque(tokens)
        finished = list[Token]()
        while pending:
            token = pending.popleft()
            if token.kind != "name" or not self._expand(token, pending, depth):
                finished.append(token)
        return finished

    # Directives.

    def _directive(self, hash_: Token) -> None:
        line = list[Token]()
        pending = self.pending
        while pending and pending[0].kind != "newline":
            line.append(pending.popleft())
        tokens = trim(line)
        if not tokens:
            return
        name, rest = tokens[0].text, trim(tokens[1:])
        if name in ("if", "ifdef", "ifndef"):
            self._open(name, tokens[0], rest)
        elif name in ("elif", "else", "endif"):
            self._continue(name, tokens[0], rest)
        elif self._active():
            self._plain_directive(hash_, name, tokens[0], rest)

    def _plain_directive(
        self, hash_: Token, name: str, word: Token, rest: tuple[Token, ...]
    ) -> None:
        position = hash_.source.position(hash_.offset)
        match name:
            case "define":
                self._keep(hash_, replace(self._define(word, rest), position=position))
            case "undef":
                target = self._macro_name(word, rest)
                for other in rest[1:]:
                    if other.kind != "space":
                        raise other.error("#undef takes one name")
                self.macros.pop(target, None)
                self._keep(hash_, Undefine(target, position=position))
            case "include":
                self._include(hash_, word, rest)
            case "pragma":
                if join(rest) == "once" and isinstance(hash_.source, HeaderText):
                    self.shared.once.add(hash_.source.identity)
                self._keep(hash_, Pragma(join(rest), position=position))
            case "warning":
                pass
            case "error":
                raise word.error(f"#error {join(rest)}".rstrip())
            case _:
                raise word.error(f"'#{name}' is not supported; supported are {_SUPPORTED}")

    def _keep(self, hash_: Token, directive: Directive) -> None:
        """Leave a directive to the tree; within an item there is no place for it."""
        if hash_.source is not self.source:
            return
        last = self.last
        self._write(hash_.spelled("directive", f"#pragma {len(self.result.directives)}"))
        self.last = last
        self.result.directives.append(directive)

    def _macro_name(self, word: Token, rest: tuple[Token, ...]) -> str:
        if not rest or rest[0].kind != "name" or rest[0].text == "defined":
            raise word.error(f"#{word.text} needs the name of a macro")
        return rest[0].text

    def _define(self, word: Token, rest: tuple[Token, ...]) -> Define:
        name = self._macro_name(word, rest)
        macro = self._make_macro(rest)
        check_body(macro)
        known = self.macros.get(name)
        if known is not None and name not in PREDEFINED and not macro.is_like(known):
            message = f"the macro '{name}' is defined already, with another body; #undef it first"
            raise rest[0].error(message)
        self.macros[name] = macro
        parameters = macro.parameters
        if macro.is_variadic and parameters is not None:
            parameters = (*parameters[:-1], "...")
        return Define(name, join(macro.body), parameters)

    def _make_macro(self, rest: tuple[Token, ...]) -> Macro:
        if len(rest) < 2 or rest[1].text != "(":
            return Macro(trim(rest[1:]))
        closing = next((i for i, token in enumerate(rest) if token.text == ")"), None)
        if closing is None:
            raise rest[1].error("expected ')' after the macro's parameters")
        words = [token for token in rest[2:closing] if token.kind != "space"]
        names, commas = words[::2], words[1::2]
        is_variadic = bool(names) and names[-1].text == "..."
        plain = names[:-1] if is_variadic else names
        wrong = [t for t in plain if t.kind != "name"] + [t for t in commas if t.text != ","]
        if wrong or (words and len(names) != len(commas) + 1):
            at = wrong[0] if wrong else rest[closing]
            raise at.error("the parameters of a macro are names between commas, '...' the last")
        listed = (*(token.text for token in plain), *((VARIADIC,) if is_variadic else ()))
        if len(set(listed)) != len(listed):
            raise rest[1].error("two parameters have the same name")
        return Macro(trim(rest[closing + 1 :]), listed, is_variadic)

    # Headers.

    def _include(self, hash_: Token, word: Token, rest: tuple[Token, ...]) -> None:
        name, is_quoted = self._header_name(word, rest)
        position = hash_.source.position(hash_.offset)
        include = Include(name, standard=not is_quoted, position=position)
        if self.shared.read_header is not None:
            include = self._read_header(include, word)
        self.result.includes.append(include)
        if include.status == "unread" or not self._is_inside():
            self._keep(hash_, include)

    def _header_name(self, word: Token, rest: tuple[Token, ...]) -> tuple[str, bool]:
        """The name in an `#include` or `__has_include`, and whether it is in quotes."""
        if rest and rest[0].kind == "name":
            rest = trim(self._expanded(rest, 0))
        # What stands between angle brackets is a name, whatever tokens it seems to have.
        text = join(rest)
        if re.fullmatch(r'"[^"]+"|<[^<>]+>', text):
            return text[1:-1], text[0] == '"'
        raise word.error('expected #include <path> or #include "path"')

    def _read_header(self, include: Include, word: Token) -> Include:
        found = self._find(include.path, not include.standard, word)
        header = found.header
        if header is None:
            return replace(include, status=found.status, reason=found.reason)
        if header.identity in self.shared.once:
            return replace(include, status="again")
        if len(self.stack) >= MAX_INCLUDE_DEPTH:
            message = f"headers include each other more than {MAX_INCLUDE_DEPTH} levels deep"
            raise word.error(message)
        try:
            if self._is_inside():
                self._read_inside(header, word)
                made = Header(header.file, header.text)
            else:
                made = self._read_alone(header, word)
        except CppSyntaxError as error:
            raise error.with_notes(f"in file included from {include.position}") from None
        return replace(include, status=found.status, header=made)

    def _is_inside(self) -> bool:
        """Whether what comes next is part of an item."""
        return self.braces > 0 or self.last not in ("", ";", "}")

    def _count(self, size: IncludedSize, word: Token) -> None:
        """Count what is included, as far as it is allowed."""
        known = self.shared.size
        total = IncludedSize(known.headers + size.headers, known.length + size.length)
        self.shared.size = total
        if total.headers > MAX_INCLUDES:
            raise word.error(f"more than {MAX_INCLUDES} headers are included")
        if total.length > MAX_INCLUDED_LENGTH:
            message = f"the headers have more than {MAX_INCLUDED_LENGTH} characters in all"
            raise word.error(message)

    def _find(self, name: str, is_quoted: bool, word: Token) -> Found:
        includer = word.source
        found = self.shared.include_path.find(name, is_quoted=is_quoted, includer=includer)
        is_known = found.header is not None and found.header.identity in self.shared.once
        self.lookups.append(Lookup(name, is_quoted, includer, found, is_known))
        return found

    def _read_inside(self, header: HeaderText, word: Token) -> None:
        """Read a header as a part of the item around it."""
        self._count(IncludedSize(1, len(header.text)), word)
        self.stack = (*self.stack, header.identity)
        self.depth = max(self.depth, len(self.stack))
        self._read(header)
        self.stack = self.stack[:-1]

    def _read_alone(self, header: HeaderText, word: Token) -> Header:
        """Read a header between items, or find what was read of it before."""
        shared = self.shared
        fragment = FRAGMENTS.find(header, shared.include_path, shared.macros, shared.once)
        if fragment is not None and self._has_room(fragment.size):
            fragment.apply(shared)
            self._count(fragment.size, word)
        else:
            fragment = self._read_fragment(header, word)
        self.consulted |= fragment.undefined
        self.consulted.update(fragment.defined)
        self.lookups += fragment.lookups
        self.depth = max(self.depth, len(self.stack) + fragment.size.depth)
        return fragment.header

    def _has_room(self, size: IncludedSize) -> bool:
        """Whether a header keeps to the limits; if not, reading it says where they are broken."""
        known = self.shared.size
        return (
            known.headers + size.headers <= MAX_INCLUDES
            and known.length + size.length <= MAX_INCLUDED_LENGTH
            and len(self.stack) + size.depth <= MAX_INCLUDE_DEPTH
        )

    def _read_fragment(self, header: HeaderText, word: Token) -> Fragment:
        shared = self.shared
        assert shared.read_header is not None
        before, once, size = dict(shared.macros), set(shared.once), shared.size
        differing = set(shared.differing)
        self._count(IncludedSize(1, len(header.text)), word)
        inner = _Preprocessor(header, shared, (*self.stack, header.identity))
        made = shared.read_header(inner.run())
        after = shared.macros
        needed = inner.find_dependencies(before, once)
        fragment = Fragment(
            header=made,
            defined=needed.defined,
            undefined=needed.undefined,
            lookups=needed.lookups,
            changed={
                name: after.get(name)
                for name in before.keys() | after.keys()
                if before.get(name) is not after.get(name)
            },
            once=frozenset(shared.once - once),
            size=IncludedSize(
                shared.size.headers - size.headers,
                shared.size.length - size.length,
                inner.depth - len(self.stack),
            ),
            differing=frozenset(shared.differing - differing),
        )
        self.is_repeatable &= inner.is_repeatable
        if inner.is_repeatable:
            FRAGMENTS.keep(header, fragment)
        return fragment

    # Conditionals.

    def _open(self, name: str, word: Token, rest: tuple[Token, ...]) -> None:
        outer = self._active()
        met = outer and self._decide(name, word, rest)
        if met is None:
            self._skip_differing(word)
            outer = met = False
        self.conditionals.append(_Conditional(word, outer, met, met))

    def _continue(self, name: str, word: Token, rest: tuple[Token, ...]) -> None:
        if not self.conditionals:
            raise word.error(f"#{name} without #if")
        innermost = self.conditionals[-1]
        if name == "endif":
            self.conditionals.pop()
            return
        if innermost.has_else:
            raise word.error(f"#{name} after #else")
        innermost.has_else = name == "else"
        may_start = innermost.outer_active and not innermost.taken
        met = may_start and (name == "else" or self._decide(name, word, rest))
        if met is None:
            self._skip_differing(word)
            innermost.outer_active = met = False
        innermost.active = met
        innermost.taken |= met

    def _decide(self, name: str, word: Token, rest: tuple[Token, ...]) -> bool | None:
        """Whether a condition is met; None if processors differ in it."""
        self.differs = self.has_unknown = False
        found = {self._is_met(name, word, rest)}
        if self.differs:
            for each in self.shared.others:
                self.shared.processor = each
                found.add(self._is_met(name, word, rest))
            self.shared.processor = 1
        return None if self.has_unknown or len(found) > 1 else found.pop()

    def _skip_differing(self, word: Token) -> None:
        """Note that processors differ in what follows, up to the end of the conditional.

        Of the package's own headers that only some of them include, nothing can be used.
        """
        depth = 1
        lines = [list[Token]()]
        for each in self.pending:
            if each.kind != "newline":
                lines[-1].append(each)
                continue
            line = [part.text for part in lines[-1] if part.kind not in BLANK]
            if line[:1] == ["#"] and line[1:]:
                depth += line[1] in ("if", "ifdef", "ifndef")
                depth -= line[1] == "endif"
            if not depth:
                break
            lines.append([])
        if all(map(self._is_own_header, lines[1:-1])):
            return
        if not self._is_in_function():
            raise _differing(word)
        for each in self._refuse(word):
            self._write(each)
        self._write(word.spelled("other", ";"))

    def _is_own_header(self, line: Sequence[Token]) -> bool:
        """Whether a line is empty, or includes a header of the package's own."""
        words = trim(line)
        if not words:
            return True
        if [each.text for each in words[:2]] != ["#", "include"]:
            return False
        name, is_quoted = self._header_name(words[1], trim(words[2:]))
        return self._find(name, is_quoted, words[1]).status == "built-in"

    def _is_in_function(self) -> bool:
        """Whether the innermost braces that are open are those of a function or a statement."""
        closed = 0
        texts = (text for each in reversed(self.pieces) if (text := each.strip()))
        for text in texts:
            closed += text == "}"
            if text == "{":
                if not closed:
                    return next(texts, "") in (")", "const", "noexcept", "else", "do")
                closed -= 1
        return False

    def _is_met(self, name: str, word: Token, rest: tuple[Token, ...]) -> bool:
        if name in ("ifdef", "ifndef"):
            return self._is_defined(self._macro_name(word, rest)) == (name == "ifdef")
        words = list[Token]()
        pending = deque(token for token in rest if token.kind != "space")
        while pending:
            token = pending.popleft()
            if token.text == "defined":
                words.append(self._defined(token, pending))
            elif token.text == "__has_include":
                words.append(self._has_include(token, pending))
            elif token.text == ARGUMENT_CALL and _call_follows(pending):
                words.append(self._find_argument(token, pending))
            elif not self._expand(token, pending, 0):
                is_place = token.text in _PLACES
                words.append(self._find_place(token) if is_place else token)
        listed = [token for token in words if token.kind not in BLANK]
        return evaluate_condition(listed, word) != 0

    def _is_defined(self, name: str) -> bool:
        macro = self.macros.get(name)
        if macro is not None and macro.processors is not None:
            self.differs = True
            return bool(macro.processors & self.shared.processor)
        return name in self.macros or name == "__has_include" or name in _PLACES

    def _defined(self, word: Token, pending: deque[Token]) -> Token:
        """`defined NAME` or `defined(NAME)` as a number."""
        _drop_space(pending)
        in_brackets = bool(pending) and pending[0].text == "("
        if in_brackets:
            pending.popleft()
            _drop_space(pending)
        if not pending or pending[0].kind != "name":
            raise word.error("'defined' needs the name of a macro")
        name = pending.popleft().text
        _drop_space(pending)
        if in_brackets and (not pending or pending.popleft().text != ")"):
            raise word.error("expected ')' after 'defined(NAME'")
        return word.spelled("number", str(int(self._is_defined(name))))

    def _find_argument(self, word: Token, pending: deque[Token]) -> Token:
        """`get_compile_time_arg_val(n)`, which is a macro of the build until 2025."""
        [*parts], _ = self._split_arguments(word, pending)
        number = "".join(each.text for each in parts[0] if each.kind not in BLANK)
        name = f"{ARGUMENT_MACRO}{number}"
        if not self._is_defined(name):
            message = f"there is no compile-time argument '{number}' that #if could know"
            raise word.error(f"{message}; give it with the kernel")
        self.consulted.add(name)
        return word.spelled("number", self.macros[name].body[0].text)

    def _has_include(self, word: Token, pending: deque[Token]) -> Token:
        """`__has_include(<path>)` as a number."""
        if not _call_follows(pending):
            raise word.error("'__has_include' needs a path in parentheses")
        [*parts], _ = self._split_arguments(word, pending)
        name, is_quoted = self._header_name(word, parts[0])
        found = self._find(name, is_quoted, word)
        return word.spelled("number", str(int(found.status != "missing")))


def _differing(token: Token) -> DifferingError:
    error = token.error(f"'{token.text}' is not the same for all processors")
    return DifferingError(error.message, error.position, error.line)


def _drop_space(pending: deque[Token]) -> None:
    while pending and pending[0].kind in BLANK:
        pending.popleft()


def _call_follows(following: Iterable[Token]) -> bool:
    """Whether the next token that is no space is `(`."""
    first = next((each for each in following if each.kind not in BLANK), None)
    return first is not None and first.text == "("
