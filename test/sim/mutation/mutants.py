"""Mutants of a kernel: its tree with one thing removed or altered.

Every call that is a statement is removed; every integer is made one more, one less and twice as
large; sizes, addresses and indices are made one more, twice and half as large; neighbouring
arguments are swapped; comparisons, operators, branches, flags and enumerators are changed.
"""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

from ttmlir.cpp.parse import parse
from ttmlir.cpp.render import render
from ttmlir.cpp.tree import (
    Assign,
    BinaryOperation,
    Block,
    Boolean,
    Braces,
    Evaluate,
    Expression,
    FunctionCall,
    If,
    Include,
    Initializer,
    Integer,
    Member,
    Name,
    Node,
    Unary,
)

_OPERATORS = {
    "<": ("<=",),
    "<=": ("<",),
    ">": (">=",),
    ">=": (">",),
    "==": ("!=",),
    "!=": ("==",),
    "+": ("-",),
    "-": ("+",),
    "*": ("+",),
    "/": ("*",),
    "%": ("/",),
    "&&": ("||",),
    "||": ("&&",),
    "+=": ("-=",),
    "-=": ("+=",),
}
_ENUMERATORS = {
    "VALID": "INVALID",
    "INVALID": "VALID",
    "SUM": "MAX",
    "REDUCE_ROW": "REDUCE_COL",
    "REDUCE_SCALAR": "REDUCE_ROW",
    "COL": "ROW",
    "ELWMUL": "ELWADD",
}
"""By the last word of a name."""
_INDEX = re.compile(r"(.*::c_(?:in|out|intermed)?)(\d+)")


@dataclass(frozen=True)
class Mutant:
    """A kernel with one change; `key` says which: the line before and after."""

    key: str
    text: str


def normalised(text: str, file: str) -> str:
    """A kernel as the renderer writes it: what its mutants are compared with."""
    return render(parse(text, file, defines={}))


def mutants(text: str, file: str) -> list[Mutant]:
    """All mutants of a normalised kernel, in the order of its text; no text twice."""
    found = list[Mutant]()
    texts, keys = {text}, Counter[str]()
    for changed in _changed(parse(text, file, defines={})):
        mutated = render(changed)
        if mutated in texts:
            continue
        texts.add(mutated)
        key = difference(text, mutated)
        keys[key] += 1
        found.append(Mutant(key if keys[key] == 1 else f"{key} #{keys[key]}", mutated))
    return found


def difference(before: str, after: str) -> str:
    """The lines that change, before and after."""
    old, new = before.splitlines(), after.splitlines()
    parts = list[str]()
    for tag, i, j, k, m in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            parts.append(f"{_words(old[i:j])} -> {_words(new[k:m]) or 'nothing'}")
    return "; ".join(parts)


def _words(lines: list[str]) -> str:
    return " ".join(" ".join(lines).split())


def _changed(node: Any) -> Iterator[Any]:
    """The tree below a node with one change, for each change there is."""
    if isinstance(node, Include):
        return
    yield from _own(node)
    for each in fields(node):
        child: Any = getattr(node, each.name)
        if isinstance(child, tuple):
            for i, element in enumerate(child):
                if isinstance(element, Node):
                    for new in _changed(element):
                        yield replace(node, **{each.name: (*child[:i], new, *child[i + 1 :])})
        elif isinstance(child, Node):
            for new in _changed(child):
                yield replace(node, **{each.name: new})


def _own(node: Any) -> Iterator[Any]:
    match node:
        case Block(statements=statements):
            for i, statement in enumerate(statements):
                if isinstance(statement, Evaluate):
                    yield replace(node, statements=statements[:i] + statements[i + 1 :])
        case FunctionCall(arguments=arguments):
            yield from _with_other_arguments(node, arguments)
        case Initializer(value=value) if not isinstance(value, Braces):
            yield from (replace(node, value=other) for other in _off(value))
        case If(condition=condition):
            yield replace(node, condition=Unary("!", condition))
        case BinaryOperation(operator=operator) | Assign(operator=operator):
            yield from (replace(node, operator=each) for each in _OPERATORS.get(operator, ()))
            if isinstance(node, Assign):
                yield from (replace(node, value=value) for value in _off(node.value))
        case _:
            yield from _other_words(node)


def _other_words(node: Any) -> Iterator[Expression]:
    match node:
        case Integer() if node.value == 0:
            yield Integer("1")
        case Integer():
            for value in dict.fromkeys((node.value + 1, node.value - 1, 2 * node.value)):
                yield Integer(str(value))
        case Boolean(value=value):
            yield Boolean(not value)
        case Name(text=text):
            yield from map(Name, _other_names(text))
        case _:
            pass


def _with_other_arguments(
    call: FunctionCall, arguments: tuple[Expression, ...]
) -> Iterator[FunctionCall]:
    for i, (left, right) in enumerate(pairwise(arguments)):
        if left != right:
            swapped = (*arguments[:i], right, left, *arguments[i + 2 :])
            yield replace(call, arguments=swapped)
    for i, argument in enumerate(arguments):
        for other in _off(argument):
            yield replace(call, arguments=(*arguments[:i], other, *arguments[i + 1 :]))


def _off(value: Expression) -> Iterator[Expression]:
    """One more, twice, half of a size, address or index; literals change by themselves."""
    if isinstance(value, Name | BinaryOperation | FunctionCall | Member):
        yield BinaryOperation("+", value, Integer("1"))
        yield BinaryOperation("*", value, Integer("2"))
        yield BinaryOperation("/", value, Integer("2"))


def _other_names(text: str) -> Iterator[str]:
    scope, colons, last = text.rpartition("::")
    if last in _ENUMERATORS:
        yield scope + colons + _ENUMERATORS[last]
    if index := _INDEX.fullmatch(text):
        yield f"{index[1]}{int(index[2]) + 1}"
