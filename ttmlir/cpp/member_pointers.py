"""Pointers to members in the words of the grammar, which knows only some of their forms.

`int S::* p` becomes `member_pointer<int, S> p`, `int (S::* f)(int) const` becomes
`int (* f)(volatile member_of<const S> object, int)`, and `a->*p` becomes `pointed_member(*(a), p)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.preprocess import PreprocessedText
from ttmlir.cpp.tokens import BLANK, SourceText, Token, split_tokens
from ttmlir.cpp.types import BUILT_IN_WORDS

POINTER = "member_pointer"
"""The template that no text has, of a type and the class of the member."""

FUNCTION = "member_of"
"""The template that no text has, of the class that a function is a member of."""

ACCESS = "pointed_member"
"""The function that no text has, called with an object and a pointer to a member of it."""

_USED = re.compile(r"::\s*\*|\.\*|->\s*\*")
_UNARY = ("*", "&", "-", "+", "!", "~", "++", "--")
_QUALIFIERS = ("const", "volatile")
_KEYWORDS = ("return", "case", "if", "while", "switch", "else", "do", "sizeof")
_CLOSED = {")": "(", "]": "[", ">": "<"}
_BRACKETS = {**_CLOSED, "}": "{"}


def may_point_to_members(text: str) -> bool:
    """Whether a text may have pointers to members."""
    return _USED.search(text) is not None


class MemberPointers:
    """The places in a text where pointers to members are written."""

    def __init__(self, source: PreprocessedText) -> None:
        """Finds them."""
        tokens = split_tokens(SourceText(source.text, source.source.file))
        self.tokens = [each for each in tokens if each.kind not in BLANK]
        self.blanks = list[tuple[int, int, str]]()
        """Parts of the text that are written over, with what they begin with then."""
        self.insertions = dict[int, str]()
        for number in range(1, len(self.tokens) - 1):
            self._read(number)

    def amend(self, source: PreprocessedText) -> tuple[PreprocessedText, Iterable[tuple[int, str]]]:
        """The text without these words, and what is inserted."""
        text = source.text
        for start, end, word in self.blanks:
            text = f"{text[:start]}{word.ljust(end - start)}{text[end:]}"
        return replace(source, text=text), self.insertions.items()

    def _read(self, number: int) -> None:
        token, after = self.tokens[number], self.tokens[number + 1]
        is_next = token.offset + len(token.text) == after.offset
        if token.text == "::" and after.text == "*":
            self._read_type(number)
        elif token.text == "->*" or (token.text in (".", "->") and after.text == "*" and is_next):
            self._read_access(number, 1 if token.text == "->*" else 2)

    def _end(self, number: int) -> int:
        token = self.tokens[number]
        return token.offset + len(token.text)

    def _text(self, start: int, end: int) -> str:
        """The tokens from one to another one."""
        return " ".join(each.text for each in self.tokens[start:end])

    def _read_access(self, number: int, length: int) -> None:
        """`object.*pointer` or `pointer->*pointer`, whose operator has so many tokens."""
        start = self._find_object(number - 1)
        end = self._find_operand_end(number + length)
        operator = self.tokens[number]
        is_arrow = operator.text != "."
        first = self.tokens[start].offset
        word = f"{ACCESS}({'*(' * is_arrow}"
        self.insertions[first] = word + self.insertions.get(first, "")
        last = self._end(end - 1)
        self.insertions[last] = self.insertions.get(last, "") + ")"
        comma = ")," if is_arrow else ","
        self.blanks.append((operator.offset, self._end(number + length - 1), comma))

    def _find_object(self, number: int) -> int:
        """The first token of the operand whose last token is given."""
        tokens = self.tokens
        while True:
            if tokens[number].text in _BRACKETS:
                number = self._find_open(number)
                before = tokens[number - 1]
                is_called = before.kind == "name" and before.text not in _KEYWORDS
                if number and (is_called or before.text in _CLOSED):
                    number -= 1
                    continue
            before = tokens[number - 1].text if number else ""
            if self._text(max(number - 2, 0), number) in (". *", "-> *"):
                number -= 3
            elif before in (".", "->", "->*"):
                number -= 2
            elif before == "::":
                is_first = tokens[number - 2].kind != "name" and tokens[number - 2].text != ">"
                number -= 1 if is_first else 2
                if is_first:
                    break
            else:
                break
        while number and tokens[number - 1].text in _UNARY and self._is_unary(number - 1):
            number -= 1
        return number

    def _find_open(self, number: int) -> int:
        """The bracket that the one at a place closes."""
        depth = 0
        close = self.tokens[number].text
        while number:
            text = self.tokens[number].text
            depth += (text == close) - (text == _BRACKETS[close])
            if not depth:
                break
            number -= 1
        return number

    def _is_unary(self, number: int) -> bool:
        if not number:
            return True
        before = self.tokens[number - 1]
        if before.kind == "name":
            return before.text in _KEYWORDS
        return before.kind != "number" and before.text not in (")", "]")

    def _find_operand_end(self, number: int) -> int:
        """The number after the last token of the operand that begins at one."""
        tokens = self.tokens
        while number < len(tokens) and tokens[number].text in _UNARY:
            number += 1
        if number < len(tokens) and tokens[number].text != "(":
            number += 1
        while number < len(tokens) - 1:
            text, following = tokens[number].text, tokens[number + 1].text
            if text in ("(", "["):
                number = self._find_close(number) + 1
            elif text in ("::", ".", "->") and following != "*":
                number += 2
            else:
                break
        return number

    def _find_close(self, number: int) -> int:
        depth = 0
        for place in range(number, len(self.tokens)):
            text = self.tokens[place].text
            depth += (text in "([{") - (text in ")]}")
            if not depth:
                return place
        return len(self.tokens) - 1

    def _read_type(self, number: int) -> None:
        """`::*` in a type: of a function in parentheses, of another member without."""
        start = self._find_name(number - 1)
        if self.tokens[start - 1].text == "(" and start:
            close = self._find_close(start - 1)
            if self.tokens[close + 1].text == "(":
                self._read_function(start, number, close + 1)
                return
        self._read_data(start, number)

    def _find_name(self, number: int) -> int:
        """The first token of the name, with what stands before it, that ends at one."""
        while True:
            if self.tokens[number].text == ">":
                number = self._find_open(number) - 1
            if number > 1 and self.tokens[number - 1].text == "::":
                is_last = (
                    self.tokens[number - 2].kind != "name" and self.tokens[number - 2].text != ">"
                )
                number -= 1 if is_last else 2
                if is_last:
                    return number
                continue
            return number

    def _read_function(self, start: int, number: int, parameters: int) -> None:
        """`R (S::* f)(A) const`, whose parameters open at a token."""
        tokens = self.tokens
        holder = self._text(start, number)
        close = self._find_close(parameters)
        words = list(_list_qualifiers(tokens[close + 1 :]))
        if words:
            self.blanks.append((words[0].offset, self._end(close + len(words)), ""))
        const = "const " * any(each.text == "const" for each in words)
        inside = tokens[parameters + 1 : close]
        if [each.text for each in inside] == ["void"]:
            self.blanks.append((inside[0].offset, self._end(close - 1), ""))
            inside = []
        word = f"volatile {FUNCTION}<{const}{holder}> object{', ' * bool(inside)}"
        self.insertions[tokens[parameters].offset + 1] = word
        self.blanks.append((tokens[start].offset, self._end(number), ""))

    def _read_data(self, start: int, number: int) -> None:
        """`T S::* p`."""
        first = start
        while first and self.tokens[first - 1].text in ("*", "&", *_QUALIFIERS):
            first -= 1
        if first and (self.tokens[first - 1].kind == "name" or self.tokens[first - 1].text == ">"):
            first = self._find_name(first - 1)
        while first and self.tokens[first - 1].text in (*_QUALIFIERS, *BUILT_IN_WORDS):
            first -= 1
        holder = self._text(start, number)
        is_cast = first and self._text(first - 1, first) + self.tokens[number + 2].text == "()"
        self.insertions[self.tokens[first].offset] = f"{'const ' * bool(is_cast)}{POINTER}<"
        self.insertions[self.tokens[start].offset] = f", {holder}> "
        self.blanks.append((self.tokens[start].offset, self._end(number + 1), ""))


def _list_qualifiers(tokens: Sequence[Token]) -> Iterator[Token]:
    for each in tokens:
        if each.text not in ("const", "volatile", "noexcept"):
            return
        yield each


def read_pointer(type_: tree.NamedType) -> tree.Type:
    """`member_pointer<T, S>` as a pointer to a member; other types as they are."""
    match type_:
        case tree.NamedType(name=name, template_arguments=(pointee, holder)) if name == POINTER:
            holder = _read_type(holder)
            return tree.Pointer(_read_type(pointee), holder=holder, position=type_.position)
        case _:
            return type_


def read_function(result: tree.Type, parameters: tuple[tree.Parameter, ...]) -> tree.FunctionOf:
    """The type of functions, of members if the first parameter says so."""
    match parameters[:1]:
        case (tree.Parameter(type=tree.NamedType(name=name, template_arguments=(holder,))),) if (
            name == FUNCTION
        ):
            type_ = _read_type(holder)
            assert isinstance(type_, tree.NamedType)
            return tree.FunctionOf(result, parameters[1:], type_)
        case _:
            return tree.FunctionOf(result, parameters)


def _read_type(argument: tree.TemplateArgument) -> tree.Type:
    """A template argument as the type that it is."""
    if isinstance(argument, tree.Name):
        words = argument.text, argument.template_arguments, (), argument.scope
        return tree.NamedType(*words, position=argument.position)
    return cast("tree.Type", argument)
