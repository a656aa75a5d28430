"""Destructors: when objects end, and what happens then.

A variable ends with its block, however that is left; a temporary object with the expression that it
is a part of, unless a variable or a member takes it over; a member with its object.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from ttmlir.cpp import tree
from ttmlir.cpp.types import ArrayType, CType, StructType, complete_type
from ttmlir.sim.kernels.context import Argument, Context, EndingObject
from ttmlir.sim.kernels.limits import MAX_DESTROYED
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import ClassInfo
from ttmlir.sim.kernels.value import (
    ItemLvalue,
    LocalLvalue,
    Lvalue,
    Value,
    build_node,
    find_base_lvalue,
    find_member_lvalue,
)

THIS = -1
"""The number of the parameter that stands for the object of a member function."""


def ends_with_effect(context: Context, type_: CType) -> bool:
    """Whether something happens when an object of a type ends."""
    while isinstance(type_, ArrayType):
        type_ = type_.element
    type_ = complete_type(type_, context.unit.structs)
    if not isinstance(type_, StructType):
        return False
    known = context.unit.destroyed.get(type_.number)
    if known is None:
        # Each class is looked at once, however often it is a member.
        known = context.unit.destroyed[type_.number] = _has_destructor(context, type_)
    return known


def _has_destructor(context: Context, type_: StructType) -> bool:
    info = context.unit.classes.get(type_.number)
    function = None if info is None else info.destructor
    if function is not None and not function.is_defaulted and not function.is_deleted:
        body = function.body
        if body is None or body.statements:
            return True
    if info is not None and info.node.kind == "union":
        return False
    inner = (*type_.bases, *(each.type for each in type_.fields))
    return any(ends_with_effect(context, each) for each in inner)


def check_destructor(context: Context, type_: CType, node: tree.Node) -> None:
    """Refuse an object that cannot end here: its destructor is deleted, or not for everybody."""
    while isinstance(type_, ArrayType):
        type_ = type_.element
    type_ = complete_type(type_, context.unit.structs)
    info = context.unit.classes.get(type_.number) if isinstance(type_, StructType) else None
    if info is None or info.destructor is None or not isinstance(type_, StructType):
        return
    access = info.destructor.access
    if info.destructor.is_deleted:
        raise context.error(node, f"a '{type_.name}' cannot end: its destructor is deleted")
    if access and not context.unit.may_use(type_, access, context.scope):
        raise context.error(node, f"a '{type_.name}' cannot end here: its destructor is {access}")


def refuse_destructor(context: Context, type_: CType, node: tree.Node) -> None:
    """Refuse an object that ends nowhere, if something would happen at its end."""
    if ends_with_effect(context, type_):
        message = f"the destructor of '{type_.name}' would run at the end of this object"
        raise context.error(
            node, f"{message}, which is supported for variables of functions and temporary objects"
        )


# Temporary objects.


def keep_temporary(context: Context, value: Value, node: tree.Node) -> Value:
    """An object that has just been made, which ends with the expression around it."""
    check_destructor(context, value.type, node)
    if not ends_with_effect(context, value.type):
        return value
    identifier = context.unit.create_name("temporary", "t")
    context.temporaries[identifier] = EndingObject(LocalLvalue(value.type, identifier), node)
    return replace(value, node=code.walrus(identifier, value.node))


def is_temporary(context: Context, value: Value) -> bool:
    """Whether an object ends with the expression around it."""
    match value.node:
        case ast.NamedExpr(target=ast.Name(id=identifier)):
            known = context.temporaries.get(identifier)
            return known is not None and known.lvalue.type == value.type
        case ast.IfExp(body=a, orelse=b):
            return all(is_temporary(context, replace(value, node=each)) for each in (a, b))
        case _:
            return False


def take_over(context: Context, value: Value) -> Value:
    """The same value; if it is a temporary object, it does not end with its expression any more."""
    if not is_temporary(context, value):
        return value
    return replace(value, node=_take_node(context, value.node))


def _take_node(context: Context, node: ast.expr) -> ast.expr:
    match node:
        case ast.NamedExpr(target=ast.Name(id=identifier), value=made):
            del context.temporaries[identifier]
            return made
        case ast.IfExp(test=test, body=a, orelse=b):
            return ast.IfExp(test, _take_node(context, a), _take_node(context, b))
        case _:
            return node


def keep_array(context: Context, value: Value) -> None:
    """Let the array of a list that a variable holds end with the block, not the expression."""
    for each in ast.walk(value.node):
        if isinstance(each, ast.NamedExpr):
            ending = context.temporaries.get(each.target.id)
            if ending is not None and isinstance(ending.lvalue.type, ArrayType):
                context.ending[-1].append(context.temporaries.pop(each.target.id))


class FullExpression:
    """What is compiled within is a full expression: temporary objects in it end with it."""

    __slots__ = ("_context", "_outer")

    def __init__(self, context: Context) -> None:
        """In a function."""
        self._context = context
        self._outer = context.temporaries, context.expression_start

    def __enter__(self) -> None:
        """Begin the expression."""
        context = self._context
        context.temporaries, context.expression_start = {}, (context.out, len(context.out))

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the expression, if nothing is wrong with it."""
        if kind is None:
            context = self._context
            if context.temporaries:
                end_temporaries(context)
            context.temporaries, context.expression_start = self._outer


def end_temporaries(context: Context) -> None:
    """End the temporary objects of the full expression."""
    made, context.temporaries = context.temporaries, {}
    out, start = context.expression_start
    for identifier, each in reversed(made.items()):
        # A part of the expression may not have been evaluated.
        empty = code.assign(code.name(identifier), code.constant(0))
        context.unit.locate(empty, each.node.position)
        out.insert(start, empty)
        ended = context.capture(lambda each=each: _destroy(context, each.lvalue, each.node))
        if ended:
            question = code.compare("!=", code.name(identifier), code.constant(0))
            context.emit(ast.If(question, ended, []), each.node.position)


# Variables.


def end_with_block(context: Context, lvalue: Lvalue, node: tree.Node) -> None:
    """Let the object in a variable end when the block around it is left."""
    check_destructor(context, lvalue.type, node)
    if ends_with_effect(context, lvalue.type):
        context.ending[-1].append(EndingObject(lvalue, node))


def leave_blocks(context: Context, depth: int, kept: Lvalue | None = None) -> None:
    """End the variables of all blocks but the first `depth` ones, without leaving them.

    `kept` is the one that a function returns.
    """
    for block in reversed(context.ending[depth:]):
        for each in reversed(block):
            if each.lvalue is not kept:
                _destroy(context, each.lvalue, each.node)


class EndingBlock:
    """What is declared within ends at the end."""

    __slots__ = ("_context",)

    def __init__(self, context: Context) -> None:
        """In a function."""
        self._context = context

    def __enter__(self) -> None:
        """Begin the block."""
        self._context.ending.append([])

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the block, if nothing is wrong in it."""
        if kind is None:
            context = self._context
            if context.ending[-1] and not _is_left(context):
                leave_blocks(context, len(context.ending) - 1)
            context.ending.pop()


def _is_left(context: Context) -> bool:
    jumps = (ast.Return, ast.Break, ast.Continue)
    return bool(context.out) and isinstance(context.out[-1], jumps)


def find_returned(context: Context, written: tree.Expression) -> Lvalue | None:
    """The variable that a function returns without a copy, as compilers do.

    That is one that all its `return`s name.
    """
    if not isinstance(written, tree.Name) or context.function is None:
        return None
    symbol = context.scope.find(written.text)
    lvalue = getattr(symbol, "storage", None)
    listed = (each for block in context.ending for each in block)
    if all(each.lvalue is not lvalue for each in listed):
        return None
    names = {each.value for each in _list_returns(context.function.body)}
    return lvalue if names == {written} else None


def _list_returns(node: object) -> Iterator[tree.Return]:
    """The `return`s of a function, without those of lambdas in it."""
    pending = [node]
    while pending:
        match pending.pop():
            case tree.Return() as found:
                yield found
            case tree.Block(statements=statements):
                pending += statements
            case tree.If(then=then, otherwise=otherwise):
                pending += (then, otherwise)
            case tree.Switch(cases=cases):
                pending += (each for case in cases for each in case.statements)
            case tree.For(body=body) | tree.While(body=body) | tree.DoWhile(body=body):
                pending.append(body)
            case tree.RangeFor(body=body):
                pending.append(body)
            case _:
                pass


# What happens at the end.


def _destroy(context: Context, lvalue: Lvalue, node: tree.Node) -> None:
    """Call the destructor of an object, or those of the elements of an array."""
    type_ = complete_type(lvalue.type, context.unit.structs)
    assert isinstance(lvalue, (LocalLvalue, ItemLvalue))
    if isinstance(type_, ArrayType):
        _destroy_elements(context, build_node(lvalue), type_, node)
    elif isinstance(type_, StructType):
        _call_destructor(context, build_node(lvalue), type_, node)


def _destroy_elements(context: Context, array: ast.expr, type_: ArrayType, node: tree.Node) -> None:
    if type_.count > MAX_DESTROYED:
        message = f"an array of more than {MAX_DESTROYED} objects with a destructor"
        raise context.error(node, message)
    for number in reversed(range(type_.count)):
        context.unit.spend(node)
        element = code.subscript(array, code.constant(number))
        inner = complete_type(type_.element, context.unit.structs)
        if isinstance(inner, ArrayType):
            _destroy_elements(context, element, inner, node)
        elif isinstance(inner, StructType):
            _call_destructor(context, element, inner, node)


def _call_destructor(
    context: Context, object_: ast.expr, type_: StructType, node: tree.Node
) -> None:
    if not ends_with_effect(context, type_):
        return
    context.unit.spend(node)
    info = context.unit.classes[type_.number]
    function = find_destructor(info, node)
    if function.definition is None:
        raise context.error(node, f"the destructor of '{type_.name}' is never defined")
    this = Argument(type_, "object", object_, number=THIS)
    instance = context.handlers.find_instance(context, function, info.scope, (this,), node)
    called: ast.expr = code.call(instance.identifier, object_)
    if instance.waits:
        context.waits += 1
        called = ast.YieldFrom(called)
    context.loads += instance.loads
    if context.unit.has_effect(called):
        context.emit(ast.Expr(called), node.position)


def find_destructor(info: ClassInfo, node: tree.Node) -> tree.Function:
    """The destructor of a class; one that nobody has written ends members and bases only."""
    function = info.destructor
    if function is None or function.is_defaulted:
        name = f"~{info.node.name}"
        function = tree.Function(name, (), tree.Block(), kind="destructor", position=node.position)
        info.destructor = function
    return function


def end_members(context: Context, this: Lvalue, node: tree.Node) -> None:
    """Let members and bases end after the body of a destructor, the last one first."""
    type_ = this.type
    assert isinstance(type_, StructType)
    parts = [find_base_lvalue(this, each) for each in type_.bases]
    own = range(type_.count_inherited(), len(type_.fields))
    if context.unit.classes[type_.number].node.kind == "union":
        return  # Which of its members is alive, only the kernel knows.
    parts += (find_member_lvalue(this, number) for number in own)
    context.ending[-1] += (
        EndingObject(each, node) for each in parts if ends_with_effect(context, each.type)
    )
