"""Blocks, expressions as statements, `return`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.conversions import is_same_type
from ttmlir.cpp.types import VOID, PointerType, StructType
from ttmlir.sim.kernels.classes.destructors import (
    end_temporaries,
    ending_block,
    find_returned,
    full_expression,
    leave_blocks,
)
from ttmlir.sim.kernels.context import Context
from ttmlir.sim.kernels.expressions.assignments import (
    change_object,
    prepare_assignment,
    prepare_update,
)
from ttmlir.sim.kernels.expressions.conversions import convert_implicitly
from ttmlir.sim.kernels.expressions.initial_values import build_initial, copy_struct
from ttmlir.sim.kernels.expressions.library_calls import (
    build_library_call,
    evaluate_arguments,
    find_library_call,
)
from ttmlir.sim.kernels.expressions.places import look_at, retype_place
from ttmlir.sim.kernels.expressions.pointers import take_address
from ttmlir.sim.kernels.expressions.printing import find_printed
from ttmlir.sim.kernels.library import LibraryCall
from ttmlir.sim.kernels.place import Place, build_assignment
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import InScope, Scope
from ttmlir.sim.kernels.templates.packs import expand_pattern
from ttmlir.sim.kernels.value import Value, settle


def execute_block(context: Context, node: tree.Block) -> None:
    """Compile statements in a scope of their own."""
    outer = context.scope
    context.scope = Scope(outer)
    with ending_block(context):
        for each in node.statements:
            context.execute(each)
    context.scope = outer


def execute_evaluation(context: Context, node: tree.Evaluate) -> None:
    """Compile an expression that is a statement."""
    with full_expression(context):
        execute_effect(context, node.expression)


def execute_effect(context: Context, node: tree.Expression) -> None:
    """Compile an expression whose value nobody wants."""
    match node:
        case tree.BinaryOperation(operator=","):
            execute_effect(context, node.left)
            execute_effect(context, node.right)
        case tree.Assign():
            _execute_assignment(context, node)
        case tree.Update():
            own, node = change_object(context, node)
            if own is not None:
                _emit_found(context, own, node)
                return
            setup, place, _, new = prepare_update(context, node)
            emit_setup(context, setup, node)
            context.emit(build_assignment(place, new), node.position)
        case tree.Conditional():
            then, otherwise = (
                tree.Block((tree.Evaluate(each, position=each.position),), position=each.position)
                for each in (node.true_value, node.false_value)
            )
            context.execute(tree.If(node.condition, then, otherwise, position=node.position))
        case tree.Fold() if _execute_fold(context, node):
            pass
        case InScope(node=inner, scope=scope):
            outer, context.scope = context.scope, scope
            execute_effect(context, cast("tree.Expression", inner))
            context.scope = outer
        case tree.Cast(kind="c", type=tree.NamedType(name="void"), value=tree.Name()):
            pass
        case tree.FunctionCall():
            _execute_call(context, node)
        case _:
            _execute_call(context, node)


def _emit_found(context: Context, found: Place | Value, node: tree.Node) -> None:
    """A call for what it does."""
    value = found if isinstance(found, Value) else take_address(context, found, node)
    for each in _split_parts(value.node):
        if context.unit.has_effect(each):
            context.emit(ast.Expr(each), node.position)


def _execute_fold(context: Context, node: tree.Fold) -> bool:
    """`(f(xs), ...)` as statements; False for other operators."""
    if node.operator != "," or node.start is not None:
        return False
    for each in expand_pattern(context, node.pattern, node):
        execute_effect(context, cast("tree.Expression", each))
    return True


def _execute_assignment(context: Context, node: tree.Assign) -> None:
    match node:
        case tree.Assign(
            target=tree.FunctionCall(callee=tree.Name(text="std::tie"), arguments=targets),
            operator="=",
        ):
            _assign_parts(context, node, targets)
            return
        case _:
            pass
    own, node = change_object(context, node)
    if own is not None:
        _emit_found(context, own, node)
        return
    setup, place, value = prepare_assignment(context, node)
    emit_setup(context, setup, node)
    context.emit(build_assignment(place, value), node.position)


def _assign_parts(
    context: Context, node: tree.Assign, targets: Sequence[tree.Expression | tree.Braces]
) -> None:
    """`std::tie(a, b) = value;`, where `std::ignore` stands for a part that nobody wants."""
    position = node.position
    names = tuple(f"(part {number} at {position})" for number in range(len(targets)))
    auto = tree.NamedType("auto", position=position)
    statements: list[tree.Statement] = [tree.Binding(auto, names, node.value, position=position)]
    for name, target in zip(names, targets, strict=True):
        if isinstance(target, tree.Braces):
            raise context.error(target, "std::tie takes variables")
        if target == tree.Name("std::ignore"):
            continue
        part = tree.Name(name, position=position)
        assign = tree.Assign(target, "=", part, position=position)
        statements.append(tree.Evaluate(assign, position=position))
    context.execute(tree.Block(tuple(statements), position=position))


def emit_setup(context: Context, setup: Sequence[ast.expr], node: tree.Node) -> None:
    """Emit what has to happen first."""
    for each in setup:
        context.emit(ast.Expr(each), node.position)


def _execute_call(context: Context, node: tree.Expression) -> None:
    shown = find_printed(context, node)
    if shown is not None:
        context.emit(ast.Expr(code.call(context.unit.bind("dprint"), *shown)), node.position)
        return
    found = find_library_call(context, node)
    if found is not None and found.waits:
        assert isinstance(node, tree.FunctionCall)
        _emit_wait(context, node, found)
        return
    if isinstance(node, tree.FunctionCall):
        found_place = context.handlers.call(context, node)
        value = (
            found_place
            if isinstance(found_place, Value)
            else take_address(context, found_place, node)
        )
        context.unit.locate(value.node, node.position)
    else:
        value = context.evaluate(node)
    for each in _split_parts(value.node):
        if context.unit.has_effect(each):
            context.emit(ast.Expr(each), node.position)


def _emit_wait(context: Context, node: tree.FunctionCall, found: LibraryCall) -> None:
    arguments = [
        _evaluate_once(context, each, node)
        for each in evaluate_arguments(context, node, found.name)
    ]
    context.waits += 1
    context.emit(code.wait_for(build_library_call(context, node, found, arguments)), node.position)


def _evaluate_once(context: Context, argument: ast.expr, node: tree.Node) -> ast.expr:
    if code.is_stable(argument) or isinstance(argument, ast.Constant):
        return argument
    identifier = context.unit.create_name("argument", "t")
    context.emit(code.assign(code.name(identifier), argument), node.position)
    return code.name(identifier)


def execute_return(context: Context, node: tree.Return) -> None:
    """Compile a `return`."""
    with full_expression(context):
        _execute_return(context, node)


def _execute_return(context: Context, node: tree.Return) -> None:
    if node.value is None:
        _return_nothing(context, node)
    elif context.result == VOID:
        _return_from_void(context, node, node.value)
    elif context.gives_reference:
        _return_reference(context, node, node.value)
    elif isinstance(node.value, tree.Braces):
        if context.result is None:
            raise context.error(node.value, "'auto' needs a value to take its type from")
        value = settle(build_initial(context, context.result, node.value))
        _emit_return(context, value.node, node)
    else:
        _return_value(context, node, node.value)


def _return_nothing(context: Context, node: tree.Return) -> None:
    if context.makes:
        _emit_return(context, code.name("v_this"), node)
        return
    if context.result not in (VOID, None):
        raise context.error(node, "'return' needs a value here")
    context.result = VOID
    _emit_return(context, None, node)


def _return_from_void(
    context: Context, node: tree.Return, value: tree.Expression | tree.Braces
) -> None:
    """`return f();`, where f has no result either."""
    if not isinstance(value, tree.Braces) and not context.makes:
        if context.evaluate(value).type == VOID:
            execute_effect(context, value)
            _emit_return(context, None, node)
            return
    raise context.error(node, "a function without result returns a value here")


def _return_value(context: Context, node: tree.Return, written: tree.Expression) -> None:
    value = context.evaluate(written)
    if value.type == VOID:
        if context.result is not None:
            raise context.error(written, "this has no value")
        context.result = VOID
        _emit_return(context, value.node, node)
        return
    target = value.type if context.result is None else context.result
    value = settle(convert_implicitly(context, value, target, written))
    if context.result is None:
        context.result = value.type
    _note_space(context, value)
    returned = find_returned(context, written)
    if returned is None:
        value = copy_struct(context, value, written)
    _emit_return(context, value.node, node, returned)


def _note_space(context: Context, value: Value) -> None:
    """Note where the result of a function points to."""
    if isinstance(value.type, PointerType):
        known = context.result_space
        context.result_space = value.space if known is None else known.join(value.space)


def _return_reference(
    context: Context, node: tree.Return, value: tree.Expression | tree.Braces
) -> None:
    """Return where something is, from a function that returns a reference."""
    if isinstance(value, tree.Braces):
        raise context.error(value, "a reference needs a variable that it refers to")
    found = look_at(context, value)
    if isinstance(found, Value):
        raise context.error(value, "a reference needs a variable that it refers to")
    wanted = context.result
    if isinstance(wanted, PointerType) and wanted.pointee != found.type:
        is_part = isinstance(found.type, StructType) and found.type.derives_from(wanted.pointee)
        if is_part or is_same_type(wanted.pointee, found.type):
            found = retype_place(found, wanted.pointee)
    pointer = take_address(context, found, value)
    if wanted is not None:
        pointer = settle(convert_implicitly(context, pointer, wanted, value))
    else:
        context.result = pointer.type
    _note_space(context, pointer)
    _emit_return(context, pointer.node, node)


def _emit_return(
    context: Context, value: ast.expr | None, node: tree.Return, returned: Place | None = None
) -> None:
    """Leave the function with a value, after what ends first."""
    if context.temporaries or any(context.ending):
        if value is not None and not isinstance(value, ast.Constant):
            identifier = context.unit.create_name("result", "t")
            context.emit(code.assign(code.name(identifier), value), node.position)
            value = code.name(identifier)
        end_temporaries(context)
        leave_blocks(context, 0, returned)
    context.emit(ast.Return(value), node.position)


def _split_parts(node: ast.expr) -> Sequence[ast.expr]:
    """What an expression without wanted value consists of."""
    match node:
        case ast.Subscript(value=ast.Tuple(elts=parts)):
            return parts
        case _:
            return [node]
