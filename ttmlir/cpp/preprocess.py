"""The C++ preprocessor, as far as kernels use it.

`#define` of objects and of functions, `#undef`, `#if`, `#ifdef`, `#ifndef`, `#elif`, `#else`,
`#endif` and `#error` do what they do in C++; comments go. `#include` and `#pragma` are noted, and
nothing is read. Of what decides, only the outcome is left: text for the C++ grammar, the place of
each character in the source, and the directives that the tree keeps.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ttmlir.cpp.conditions import evaluate_condition
from ttmlir.cpp.errors import CppSyntaxError
from ttmlir.cpp.source_map import SourceMap
from ttmlir.cpp.tree import Define, Directive, Include, Position, Pragma, Undefine

MAX_EXPANSION = 100_000
"""How many tokens macros may make in one source."""

_MAX_MACRO_NESTING = 64

# The quantifiers keep what they took, so that the engine remembers nothing for each character.
_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\f\v]|\\\r?\n)++)
  | (?P<newline>\n)
  | (?P<comment>//(?:[^\n\\]|\\\r?\n|\\)*+|/\*.*?\*/)
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*+")
  | (?P<character>'(?:[^'\\\n]|\\[^\n])++')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'(?=\w)|[\w.])*+)
  | (?P<open>/\*|"|')
  | (?P<other><<=|>>=|->|\+\+|--|::|&&|\|\||<<|>>|\#\#|[-+*/%&|^=!<>]=|.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_UNFINISHED = {
    "/*": "the comment that begins here has no end",
    '"': "the string that begins here has no end",
    "'": "the character that begins here has no end",
}

# The grammar knows no such word before a type; one that it knows stands in for it.
_STAND_INS = {"tt_l1_ptr": "_Atomic"}

PREDEFINED = {"ALWI": "inline", "FORCE_INLINE": "inline"}
"""Macros of TT-Metalium's headers that stand for words of C++."""

_SUPPORTED = (
    "#include, #define, #undef, #if, #ifdef, #ifndef, #elif, #else, #endif, #error and #pragma"
)


@dataclass(frozen=True)
class Token:
    """A piece of source; `offset` is where it stands, or where the macro stands that made it."""

    kind: str
    text: str
    offset: int
    hidden: frozenset[str] = frozenset()
    """The macros that made the token: they do not expand in it."""


@dataclass(frozen=True)
class Macro:
    """A macro; one with `parameters` only expands before parentheses."""

    body: tuple[Token, ...]
    parameters: tuple[str, ...] | None = None

    @property
    def texts(self) -> tuple[object, ...]:
        """What makes two definitions the same."""
        return (self.parameters, *(token.text for token in self.body))


class SourceText:
    """A source with its name."""

    def __init__(self, text: str, file: str, source_map: SourceMap | None = None):
        """The text that messages quote; with a map, positions are those behind its lines."""
        self.text = text
        self.file = file
        self._map = source_map
        self._line_starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def position(self, offset: int) -> Position:
        """Line and column of an offset."""
        line = bisect_right(self._line_starts, offset)
        if self._map is not None:
            return self._map.position(line)
        return Position(self.file, line, offset - self._line_starts[line - 1] + 1)

    def error(self, offset: int, message: str) -> CppSyntaxError:
        """An error that quotes the line of an offset."""
        start = self._line_starts[bisect_right(self._line_starts, offset) - 1]
        line = self.text[start:].partition("\n")[0].rstrip("\r")
        return CppSyntaxError(message, self.position(offset), line)


@dataclass
class PreprocessedText:
    """What the preprocessor leaves of a source.

    A directive that the tree keeps is a line `#pragma N` in `text`, with `directives[N]`.
    """

    source: SourceText
    text: str
    directives: list[Directive]
    offsets: list[int]
    """Where the tokens of `text` start, in rising order."""
    origins: list[int]
    """The offset in the source for each of `offsets`."""

    def origin(self, offset: int) -> int:
        """The offset in the source of an offset in `text`."""
        index = bisect_right(self.offsets, offset) - 1
        return self.origins[index] if index >= 0 else 0

    def position(self, offset: int) -> Position:
        """The position in the source of an offset in `text`."""
        return self.source.position(self.origin(offset))

    def error(self, offset: int, message: str) -> CppSyntaxError:
        """An error at an offset in `text`."""
        return self.source.error(self.origin(offset), message)


def preprocess(
    text: str, file: str, defines: Mapping[str, str], source_map: SourceMap | None = None
) -> PreprocessedText:
    """Expand macros and decide conditionals.

    `defines` are macros that are defined before the first line; one with parameters has them in
    its key: `"MIN(a,b)": "(a) < (b) ? (a) : (b)"`. Raises CppSyntaxError.
    """
    return _Preprocessor(SourceText(text, file, source_map), defines).run()


@dataclass
class _Conditional:
    """An `#if` that is open."""

    offset: int
    outer_active: bool
    active: bool
    taken: bool
    has_else: bool = False


class _Preprocessor:
    def __init__(self, source: SourceText, defines: Mapping[str, str]) -> None:
        self.source = source
        self.macros = dict[str, Macro]()
        for head, body in (PREDEFINED | dict(defines)).items():
            name, _, rest = head.partition("(")
            parameters = tuple(rest.rstrip(")").split(",")) if rest else None
            tokens = split_tokens(SourceText(body, f"<definition of {name}>"))
            self.macros[name] = Macro(_trim(tokens), parameters)
        self.pending = deque(split_tokens(source))
        self.conditionals = list[_Conditional]()
        self.expanded = 0
        self.pieces = list[str]()
        self.length = 0
        self.result = PreprocessedText(source, "", [], [], [])

    def run(self) -> PreprocessedText:
        at_line_start = True
        while self.pending:
            token = self.pending.popleft()
            if at_line_start and token.text == "#" and not token.hidden:
                self._directive(token)
                continue
            at_line_start = token.kind == "newline" or (at_line_start and token.kind == "space")
            if token.kind == "newline":
                self._write(token)
            elif not self._active():
                continue
            elif not self._expand(token, self.pending, 0):
                self._write(token)
                self._write_parameters_of_main(token)
        if self.conditionals:
            raise self.source.error(self.conditionals[-1].offset, "this conditional has no #endif")
        self.result.text = "".join(self.pieces)
        return self.result

    def _active(self) -> bool:
        return not self.conditionals or self.conditionals[-1].active

    def _write(self, token: Token) -> None:
        text = _STAND_INS.get(token.text, token.text)
        if token.kind == "name" and token.text in _STAND_INS.values():
            raise self.source.error(token.offset, f"{token.text} is not supported")
        if token.hidden or token.text in _STAND_INS:
            text = f" {text} "
        elif token.kind == "space":
            text = " "
        self.result.offsets.append(self.length)
        self.result.origins.append(token.offset)
        self.pieces.append(text)
        self.length += len(text)

    def _write_parameters_of_main(self, token: Token) -> None:
        """`MAIN` is a macro that brings its parameter list with it."""
        if token.text == "MAIN" and (not self.pending or self.pending[0].text != "("):
            for text in "()":
                self._write(replace(token, kind="other", text=text))

    # Macros.

    def _expand(self, token: Token, following: deque[Token], depth: int) -> bool:
        """Put what a macro stands for before the following tokens; False if it is no macro."""
        macro = self.macros.get(token.text) if token.kind == "name" else None
        if macro is None:
            return False
        if macro.parameters is not None and not _call_follows(following):
            return False
        if token.text in token.hidden:
            raise self.source.error(token.offset, f"the macro '{token.text}' expands to itself")
        if macro.parameters is None:
            made: Iterable[Token] = macro.body
        else:
            arguments = self._arguments(token, macro, macro.parameters, following, depth)
            made = _substitute(macro, arguments)
        hidden = token.hidden | {token.text}
        if len(hidden) > _MAX_MACRO_NESTING:
            raise self.source.error(token.offset, self._too_deep(token))
        tokens = [replace(each, offset=token.offset, hidden=each.hidden | hidden) for each in made]
        self.expanded += len(tokens) + 1
        if self.expanded > MAX_EXPANSION:
            message = f"macros make more than {MAX_EXPANSION} tokens of this source"
            raise self.source.error(token.offset, message)
        following.extendleft(reversed(tokens))
        return True

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
    ) -> dict[str, list[Token]]:
        """The arguments of a macro, with the macros in them expanded."""
        if depth >= _MAX_MACRO_NESTING:
            raise self.source.error(token.offset, self._too_deep(token))
        arguments = self._split_arguments(token, following)
        if not parameters and arguments == [()]:
            arguments = []
        if len(arguments) != len(parameters):
            raise self.source.error(
                token.offset,
                f"the macro '{token.text}' takes {len(parameters)} arguments, got {len(arguments)}",
            )
        return {
            name: self._expanded(argument, depth + 1)
            for name, argument in zip(parameters, arguments, strict=True)
        }

    def _split_arguments(self, token: Token, following: deque[Token]) -> list[tuple[Token, ...]]:
        while following.popleft().text != "(":
            pass
        arguments: list[list[Token]] = [[]]
        open_brackets = 0
        while following:
            each = following.popleft()
            if each.text == "(":
                open_brackets += 1
            elif each.text == ")" and not open_brackets:
                return [_trim(argument) for argument in arguments]
            elif each.text == ")":
                open_brackets -= 1
            elif each.text == "," and not open_brackets:
                arguments.append([])
                continue
            elif each.kind == "newline":
                each = replace(each, kind="space", text=" ")
            arguments[-1].append(each)
        raise self.source.error(token.offset, f"the macro '{token.text}' has no closing ')'")

    def _expanded(self, tokens: Iterable[Token], depth: int) -> list[Token]:
        pending = deque(tokens)
        finished = list[Token]()
        while pending:
            token = pending.popleft()
            if not self._expand(token, pending, depth):
                finished.append(token)
        return finished

    # Directives.

    def _directive(self, hash_: Token) -> None:
        line = list[Token]()
        while self.pending and self.pending[0].kind != "newline":
            line.append(self.pending.popleft())
        tokens = _trim(line)
        if not tokens:
            return
        name, rest = tokens[0].text, _trim(tokens[1:])
        if name in ("if", "ifdef", "ifndef"):
            self._open(name, tokens[0], rest)
        elif name in ("elif", "else", "endif"):
            self._continue(name, tokens[0], rest)
        elif self._active():
            self._plain_directive(hash_, name, tokens[0], rest)

    def _plain_directive(
        self, hash_: Token, name: str, word: Token, rest: tuple[Token, ...]
    ) -> None:
        text = _text(rest)
        position = self.source.position(hash_.offset)
        match name:
            case "define":
                self._keep(hash_, replace(self._define(word, rest), position=position))
            case "undef":
                target = self._macro_name(word, rest)
                for other in rest[1:]:
                    if other.kind != "space":
                        raise self.source.error(other.offset, "#undef takes one name")
                self.macros.pop(target, None)
                self._keep(hash_, Undefine(target, position=position))
            case "include":
                self._keep(hash_, replace(self._include(word, rest), position=position))
            case "pragma":
                self._keep(hash_, Pragma(text, position=position))
            case "error":
                raise self.source.error(word.offset, f"#error {text}".rstrip())
            case _:
                message = f"'#{name}' is not supported; supported are {_SUPPORTED}"
                raise self.source.error(word.offset, message)

    def _keep(self, hash_: Token, directive: Directive) -> None:
        self._write(replace(hash_, kind="other", text=f"#pragma {len(self.result.directives)}"))
        self.result.directives.append(directive)

    def _include(self, word: Token, rest: tuple[Token, ...]) -> Include:
        first, last = (rest[0].offset, rest[-1]) if rest else (0, None)
        text = "" if last is None else self.source.text[first : last.offset + len(last.text)]
        match = re.fullmatch(r'<([^<>\n]+)>|"([^"\n]+)"', text)
        if match is None:
            raise self.source.error(word.offset, 'expected #include <path> or #include "path"')
        return Include(match[1] or match[2], standard=match[1] is not None)

    def _macro_name(self, word: Token, rest: tuple[Token, ...]) -> str:
        if not rest or rest[0].kind != "name" or rest[0].text == "defined":
            raise self.source.error(word.offset, f"#{word.text} needs the name of a macro")
        return rest[0].text

    def _define(self, word: Token, rest: tuple[Token, ...]) -> Define:
        name = self._macro_name(word, rest)
        parameters, body = self._parameters(rest)
        for token in body:
            if token.text in ("#", "##", "__VA_ARGS__"):
                message = f"'{token.text}' in the body of a macro is not supported"
                raise self.source.error(token.offset, message)
        macro = Macro(body, parameters)
        known = self.macros.get(name)
        if known is not None and known.texts != macro.texts:
            message = f"the macro '{name}' is defined already, with another body; #undef it first"
            raise self.source.error(rest[0].offset, message)
        self.macros[name] = macro
        return Define(name, _text(body), parameters)

    def _parameters(
        self, rest: tuple[Token, ...]
    ) -> tuple[tuple[str, ...] | None, tuple[Token, ...]]:
        if len(rest) < 2 or rest[1].text != "(":
            return None, _trim(rest[1:])
        closing = next((i for i, token in enumerate(rest) if token.text == ")"), None)
        if closing is None:
            raise self.source.error(rest[1].offset, "expected ')' after the macro's parameters")
        words = [token for token in rest[2:closing] if token.kind != "space"]
        names, commas = words[::2], words[1::2]
        wrong = [t for t in names if t.kind != "name"] + [t for t in commas if t.text != ","]
        if wrong or (words and len(names) != len(commas) + 1):
            at = wrong[0] if wrong else rest[closing]
            message = "the parameters of a macro are names between commas"
            raise self.source.error(at.offset, message)
        listed = tuple(token.text for token in names)
        if len(set(listed)) != len(listed):
            raise self.source.error(rest[1].offset, "two parameters have the same name")
        return listed, _trim(rest[closing + 1 :])

    # Conditionals.

    def _open(self, name: str, word: Token, rest: tuple[Token, ...]) -> None:
        outer = self._active()
        met = outer and self._is_met(name, word, rest)
        self.conditionals.append(_Conditional(word.offset, outer, met, met))

    def _continue(self, name: str, word: Token, rest: tuple[Token, ...]) -> None:
        if not self.conditionals:
            raise self.source.error(word.offset, f"#{name} without #if")
        innermost = self.conditionals[-1]
        if name == "endif":
            self.conditionals.pop()
            return
        if innermost.has_else:
            raise self.source.error(word.offset, f"#{name} after #else")
        innermost.has_else = name == "else"
        may_start = innermost.outer_active and not innermost.taken
        innermost.active = may_start and (name == "else" or self._is_met(name, word, rest))
        innermost.taken |= innermost.active

    def _is_met(self, name: str, word: Token, rest: tuple[Token, ...]) -> bool:
        if name in ("ifdef", "ifndef"):
            return (self._macro_name(word, rest) in self.macros) == (name == "ifdef")
        words = list[Token]()
        pending = deque(token for token in rest if token.kind != "space")
        while pending:
            token = pending.popleft()
            if token.text == "defined":
                words.append(self._defined(token, pending))
            elif not self._expand(token, pending, 0):
                words.append(token)
        parts = [(token.text, token.offset) for token in words if token.kind != "space"]
        return evaluate_condition(parts, word.offset, self.source.error) != 0

    def _defined(self, word: Token, pending: deque[Token]) -> Token:
        """`defined NAME` or `defined(NAME)` as a number."""
        in_brackets = bool(pending) and pending[0].text == "("
        if in_brackets:
            pending.popleft()
        if not pending or pending[0].kind != "name":
            raise self.source.error(word.offset, "'defined' needs the name of a macro")
        name = pending.popleft().text
        if in_brackets and (not pending or pending.popleft().text != ")"):
            raise self.source.error(word.offset, "expected ')' after 'defined(NAME'")
        return replace(word, kind="number", text=str(int(name in self.macros)))


def split_tokens(source: SourceText) -> Iterator[Token]:
    """The tokens of a text; comments become space."""
    for match in _TOKEN.finditer(source.text):
        kind, text, offset = match.lastgroup or "", match[0], match.start()
        if kind == "open":
            raise source.error(offset, _UNFINISHED[text])
        if kind == "comment":
            kind, text = "space", " "
        yield Token(kind, text, offset)


def _trim(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """The tokens without space at either end."""
    listed = list(tokens)
    blank = ("space", "newline")
    while listed and listed[-1].kind in blank:
        listed.pop()
    start = next((i for i, token in enumerate(listed) if token.kind not in blank), 0)
    return tuple(listed[start:])


def _text(tokens: Iterable[Token]) -> str:
    """The tokens with every space one blank wide."""
    return "".join(" " if token.kind == "space" else token.text for token in tokens)


def _call_follows(following: deque[Token]) -> bool:
    """Whether the next token that is no space is `(`."""
    first = next((each for each in following if each.kind not in ("space", "newline")), None)
    return first is not None and first.text == "("


def _substitute(macro: Macro, arguments: Mapping[str, list[Token]]) -> Iterator[Token]:
    for token in macro.body:
        if token.kind == "name" and token.text in arguments:
            yield from arguments[token.text]
        else:
            yield token
