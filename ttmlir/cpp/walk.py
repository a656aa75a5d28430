"""Questions about kernel trees that need a look at every node below one."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields
from typing import cast

from ttmlir.cpp.tree import (
    Assign,
    Block,
    Evaluate,
    FunctionCall,
    Index,
    Name,
    Node,
    Unary,
    Update,
)
from ttmlir.optable.kernel import CALLS, Form


def descendants(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    yield node
    for each in fields(node):
        child: object = getattr(node, each.name)
        children = cast("tuple[object, ...]", child) if isinstance(child, tuple) else (child,)
        for one in children:
            if isinstance(one, Node):
                yield from descendants(one)


def assigned(node: Node) -> list[str]:
    """Names that are assigned anywhere in a tree."""
    names = dict[str, None]()
    for each in descendants(node):
        match each:
            case Assign(target=Name(text=name)) | Update(operand=Name(text=name)):
                names[name] = None
            case _:
                pass
    return list(names)


def mentioned(node: Node) -> set[str]:
    """Names that occur anywhere in a tree."""
    return {each.text for each in descendants(node) if isinstance(each, Name)}


_ELEMENTS = frozenset(call.cpp for call in CALLS if call.form is Form.ELEMENT)


def effect(node: Node) -> Node | None:
    """The first call, assignment or read of memory in a tree; None if there is none."""
    return next((each for each in descendants(node) if _has_effect(each)), None)


def _has_effect(node: Node) -> bool:
    match node:
        case FunctionCall() | Assign() | Update() | Unary(operator="*"):
            return True
        case Index(base=base):
            # Elements of the library's own arrays, such as `my_x[0]`, never change.
            return not isinstance(base, Name) or base.text not in _ELEMENTS
        case _:
            return False


def sets_first(block: Block, name: str) -> bool:
    """Whether a block gives a variable a value before anything in it could read it."""
    for statement in block.statements:
        match statement:
            case Evaluate(
                expression=Assign(target=Name(text=target), operator="=", value=value)
            ) if target == name:
                return name not in mentioned(value)
            case _ if name in mentioned(statement):
                return False
            case _:
                pass
    return False


def is_fixed(node: Node, changed: Collection[str]) -> bool:
    """Whether an expression has the same value in each turn of a loop, without any effect."""
    return effect(node) is None and mentioned(node).isdisjoint(changed)
