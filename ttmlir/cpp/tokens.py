"""Source texts and the tokens in them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from ttmlir.cpp.errors import CppSyntaxError, Position, SourceMap

# The quantifiers keep what they took, so that the engine remembers nothing for each character.
_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r\f\v]|\\\r?\n)++)
  | (?P<newline>\n)
  | (?P<comment>//(?:[^\n\\]|\\\r?\n|\\)*+|/\*.*?\*/)
  | (?P<raw>R"(?P<mark>[^()\\\s"]{0,16}+)\((?P<inside>.*?)\)(?P=mark)")
  | (?P<unended>R"[^()\\\s"]{0,16}+\()
  | (?P<string>"(?:[^"\\\n]|\\[^\n])*+")
  | (?P<character>'(?:[^'\\\n]|\\[^\n])++')
  | (?P<name>[A-Za-z_]\w*)
  | (?P<number>\.?[0-9](?:[eEpP][+-]|'(?=\w)|[\w.])*+)
  | (?P<open>/\*|"|')
  | (?P<other><<=|>>=|->\*?|\+\+|--|::|&&|\|\||<<|>>|\#\#|\.\.\.|[-+*/%&|^=!<>]=|.)
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)

_UNFINISHED = {
    "/*": "the comment that begins here has no end",
    '"': "the string that begins here has no end",
    "'": "the character that begins here has no end",
}

_AS_WRITTEN = frozenset(("space", "newline", "name", "number", "other"))
"""Kinds of tokens that are most of a text and stand for themselves."""

BLANK = ("space", "newline")
"""Kinds of tokens that separate others."""

_NO_MACROS: frozenset[str] = frozenset()


class SourceText:
    """A source with its name: a kernel, or a header."""

    def __init__(self, text: str, file: str, source_map: SourceMap | None = None):
        """The text that messages quote; `source_map` has the positions its lines come from."""
        self.text = text
        self.file = file
        self._map = source_map

    @cached_property
    def _line_starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """The tokens of the text, comments as space."""
        return tuple(split_tokens(self))

    @cached_property
    def names(self) -> frozenset[str]:
        """The names that stand in the text."""
        return frozenset(token.text for token in self.tokens if token.kind == "name")

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


@dataclass(slots=True)
class Token:
    """A piece of source; it stands at `offset`, or the macro stands there that made it."""

    kind: str
    text: str
    offset: int
    source: SourceText
    hidden: frozenset[str] = _NO_MACROS
    """The macros that made the token: they do not expand in it."""

    def moved(self, place: Token, hidden: frozenset[str]) -> Token:
        """The token where a macro stands that makes it."""
        return Token(self.kind, self.text, place.offset, place.source, hidden)

    def spelled(self, kind: str, text: str) -> Token:
        """Another token in the same place."""
        return Token(kind, text, self.offset, self.source, self.hidden)

    def error(self, message: str) -> CppSyntaxError:
        """An error about the token."""
        return self.source.error(self.offset, message)


def split_tokens(source: SourceText) -> Iterator[Token]:
    """The tokens of a text; comments become space."""
    for match in _TOKEN.finditer(source.text):
        kind, text, offset = match.lastgroup or "", match[0], match.start()
        if kind in _AS_WRITTEN:
            pass
        elif kind == "comment":
            kind, text = "space", " "
        elif kind == "raw":
            kind, text = "string", quote(match["inside"])
        elif kind in ("open", "unended"):
            raise source.error(offset, _UNFINISHED.get(text, _UNFINISHED['"']))
        yield Token(kind, text, offset, source)


def quote(text: str) -> str:
    """A string literal that stands for a text."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def trim(tokens: Iterable[Token]) -> tuple[Token, ...]:
    """The tokens without space at either end."""
    listed = tuple(tokens)
    first, end = 0, len(listed)
    while end and listed[end - 1].kind in BLANK:
        end -= 1
    while first < end and listed[first].kind in BLANK:
        first += 1
    return listed[first:end]


def join(tokens: Iterable[Token]) -> str:
    """The tokens with every space one blank wide."""
    return "".join(" " if token.kind in BLANK else token.text for token in tokens)


# --- Macros ---------------------------------------------------------------------------------------
# Macros: what they are made of, and the tokens that a call of one becomes ([cpp.replace]).

MAX_TOKEN = 1 << 16
"""How many characters a token may have that `#` or `##` makes."""

VARIADIC = "__VA_ARGS__"
OPTIONAL = "__VA_OPT__"

SOME_PROCESSORS = "some_processors_only"
"""The first word of a macro that differs between the processors that a text is read for."""

Arguments = Mapping[str, Sequence[Token]]
OMITTED: Sequence[Token] = []
"""What `__VA_ARGS__` stands for in a call that ends before it."""


@dataclass(frozen=True, eq=False)
class Macro:
    """A macro; one with `parameters` only expands before parentheses."""

    body: tuple[Token, ...]
    parameters: tuple[str, ...] | None = None
    is_variadic: bool = False
    """Whether the last parameter takes all further arguments."""

    @cached_property
    def signature(self) -> tuple[object, ...]:
        """What makes two definitions the same."""
        texts = (" " if token.kind in BLANK else token.text for token in self.body)
        return (self.parameters, self.is_variadic, *texts)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names in the body, and those that pasting makes of them."""
        return frozenset(token.text for token in self.body if token.kind == "name")

    @cached_property
    def processors(self) -> int | None:
        """The processors that have the macro, see `join_macros`; None if it is one for all."""
        if not self.body or self.body[0].text != SOME_PROCESSORS:
            return None
        return int(self.body[-1].text)

    @cached_property
    def has_operators(self) -> bool:
        """Whether the body has `#`, `##` or `__VA_OPT__`."""
        return any(token.text in ("#", "##", OPTIONAL) for token in self.body)

    def is_like(self, other: Macro | None) -> bool:
        """Whether another definition means the same."""
        return self is other or (other is not None and self.signature == other.signature)


@lru_cache(maxsize=4096)
def given_macro(head: str, body: str) -> tuple[str, Macro]:
    """Name and macro of a definition from outside of the source: `("MIN(a,b)", "a < b")`."""
    name, bracket, rest = head.partition("(")
    tokens = trim(split_tokens(SourceText(body, f"<definition of {name}>")))
    if not bracket:
        return name, Macro(tokens)
    words = [each.strip() for each in rest.rstrip(") ").split(",")]
    is_variadic = words[-1] == "..."
    if is_variadic:
        words[-1] = VARIADIC
    return name, Macro(tokens, tuple(each for each in words if each), is_variadic)


def check_body(macro: Macro) -> None:
    """Refuse operators that have nothing to work on; CppSyntaxError."""
    body = [token for token in macro.body if token.kind not in BLANK]
    for number, token in enumerate(body):
        if token.text == "##" and number in (0, len(body) - 1):
            raise token.error("'##' stands between two tokens of a macro")
        if token.text in (VARIADIC, OPTIONAL) and not macro.is_variadic:
            raise token.error(f"'{token.text}' is for macros whose last parameter is '...'")
        following = body[number + 1].text if number + 1 < len(body) else ""
        if token.text == "#" and macro.parameters is not None:
            if following not in (*macro.parameters, OPTIONAL):
                raise token.error("'#' stands before a parameter of the macro")
        if token.text == OPTIONAL and following != "(":
            raise token.error(f"'{OPTIONAL}' stands before parentheses")


class Substitution:
    """The body of a macro with the arguments of a call in place of the parameters."""

    def __init__(
        self, macro: Macro, arguments: Arguments, expand: Callable[[Sequence[Token]], list[Token]]
    ) -> None:
        """`expand` expands the macros in an argument, which `#` and `##` take as it is written."""
        self.macro = macro
        self.arguments = arguments
        self.expand = expand
        self._expanded = dict[str, list[Token]]()

    def run(self) -> list[Token]:
        """The tokens, still with the places of the body."""
        if self.macro.has_operators:
            return self._substitute(self.macro.body)
        made = list[Token]()
        for token in self.macro.body:
            if token.kind == "name" and token.text in self.arguments:
                made += self._argument(token.text)
            else:
                made.append(token)
        return made

    def _argument(self, name: str) -> list[Token]:
        if name not in self._expanded:
            self._expanded[name] = self.expand(self.arguments[name])
        return self._expanded[name]

    def _substitute(self, body: Sequence[Token]) -> list[Token]:
        made = list[Token]()
        place = 0
        while place < len(body):
            token = body[place]
            operand, end = self._operand(body, place)
            following = _skip_blank(body, end)
            if token.text == "##":
                place = _skip_blank(body, place + 1)
                right, place = self._operand(body, place)
                self._paste(made, right, token)
            elif following < len(body) and body[following].text == "##":
                made += operand
                if not operand:
                    made.append(token.spelled("placemarker", ""))
                place = end
            elif token.kind == "name" and token.text in self.arguments:
                made += self._argument(token.text)
                place = end
            else:
                made += operand
                place = end
        return [token for token in made if token.kind != "placemarker"]

    def _operand(self, body: Sequence[Token], place: int) -> tuple[list[Token], int]:
        """What stands at a place, not expanded, and where the next begins."""
        token = body[place]
        if token.text == "#" and self.macro.parameters is not None:
            inner, end = self._operand(body, _skip_blank(body, place + 1))
            return [_bounded(token.spelled("string", stringize(inner)))], end
        if token.text == OPTIONAL:
            end = _find_closing(body, place)
            inside = trim(body[_skip_blank(body, place + 1) + 1 : end])
            # Whether something is left of the arguments when they are expanded ([cpp.subst]).
            is_given = any(each.kind not in BLANK for each in self._argument(VARIADIC))
            return (self._substitute(inside) if is_given else []), end + 1
        if token.kind == "name" and token.text in self.arguments:
            return list(self.arguments[token.text]), place + 1
        return [token], place + 1

    def _paste(self, made: list[Token], right: list[Token], operator: Token) -> None:
        """`left ## right`, where `left` is the end of what is made already."""
        while made and made[-1].kind in BLANK:
            made.pop()
        left = made.pop() if made else operator.spelled("placemarker", "")
        if not right:
            # `, ## __VA_ARGS__` where there is not even a comma before: it goes, as in GCC.
            is_dropped = left.text == "," and self.arguments.get(VARIADIC) is OMITTED
            made.append(left.spelled("placemarker", "") if is_dropped else left)
            return
        first, *rest = right
        if left.text == "," and self.macro.is_variadic:
            made += (left, first, *rest)
            return
        text = left.text + first.text
        if not text:
            made += (left, *rest)
            return
        pasted = list(split_tokens(SourceText(text, operator.source.file)))
        if len(pasted) != 1 or pasted[0].kind in BLANK:
            message = f"'##' makes no token of '{left.text}' and '{first.text}'"
            raise operator.error(message)
        made.append(_bounded(Token(pasted[0].kind, text, left.offset, left.source)))
        made += rest


def stringize(tokens: Iterable[Token]) -> str:
    """The string literal that `#` makes of an argument."""
    pieces = list[str]()
    for token in trim(tokens):
        if token.kind in BLANK:
            pieces += [" "] if pieces[-1:] != [" "] else []
        elif token.kind in ("string", "character"):
            pieces.append(token.text.replace("\\", "\\\\").replace('"', '\\"'))
        else:
            pieces.append(token.text)
    return f'"{"".join(pieces)}"'


def _bounded(token: Token) -> Token:
    if len(token.text) > MAX_TOKEN:
        raise token.error(f"macros make a token of more than {MAX_TOKEN} characters")
    return token


def _skip_blank(body: Sequence[Token], place: int) -> int:
    while place < len(body) and body[place].kind in BLANK:
        place += 1
    return place


def _find_closing(body: Sequence[Token], place: int) -> int:
    """The end of the parentheses that open after a position."""
    depth = 0
    for number in range(place + 1, len(body)):
        if body[number].text == "(":
            depth += 1
        elif body[number].text == ")":
            depth -= 1
            if not depth:
                return number
    raise body[place].error(f"'{OPTIONAL}' has no closing ')'")
