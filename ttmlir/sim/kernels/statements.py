"""Statements of C++ as statements of Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import VOID, PointerType, ReferenceType, StructType, is_same_type
from ttmlir.sim.kernels.context import Context, Loop
from ttmlir.sim.kernels.destructors import (
    EndingBlock,
    FullExpression,
    end_temporaries,
    find_returned,
    leave_blocks,
)
from ttmlir.sim.kernels.expressions.calls import find_library_call
from ttmlir.sim.kernels.expressions.copies import copy_struct
from ttmlir.sim.kernels.expressions.initial_values import build_initial, is_scalar
from ttmlir.sim.kernels.expressions.last_places import look_at_last
from ttmlir.sim.kernels.expressions.library_calls import (
    build_library_call,
    evaluate_arguments,
    find_printed,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    convert_implicitly,
    decay_function,
    evaluate_condition,
    evaluate_constant,
    evaluate_number,
    fold_constant,
    has_address,
    look_at,
    retype_lvalue,
    take_address,
)
from ttmlir.sim.kernels.expressions.operators import (
    change_object,
    operate,
    prepare_assignment,
    prepare_update,
)
from ttmlir.sim.kernels.independent import check_left_out, snapshot
from ttmlir.sim.kernels.library import LibraryCall
from ttmlir.sim.kernels.limits import MAX_CASES
from ttmlir.sim.kernels.packs import expand_pattern
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.scope import Evaluated, InScope, Scope, Variable
from ttmlir.sim.kernels.unknown_names import check_branch
from ttmlir.sim.kernels.value import (
    LocalLvalue,
    Lvalue,
    Value,
    build_assignment,
    build_condition,
    settle,
)

# --- Blocks, expressions and return ---------------------------------------------------------------
# Blocks, expressions as statements, `return`.


def execute_block(context: Context, node: tree.Block) -> None:
    """Compile statements in a scope of their own."""
    outer = context.scope
    context.scope = Scope(outer)
    with EndingBlock(context):
        for each in node.statements:
            context.execute(each)
    context.scope = outer


def execute_evaluation(context: Context, node: tree.Evaluate) -> None:
    """Compile an expression that is a statement."""
    with FullExpression(context):
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
            setup, lvalue, _, new = prepare_update(context, node)
            emit_setup(context, setup, node)
            context.emit(build_assignment(lvalue, new), node.position)
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


def _emit_found(context: Context, found: Lvalue | Value, node: tree.Node) -> None:
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
    setup, lvalue, value = prepare_assignment(context, node)
    emit_setup(context, setup, node)
    context.emit(build_assignment(lvalue, value), node.position)


def _assign_parts(
    context: Context, node: tree.Assign, targets: Sequence[tree.Expression | tree.Braces]
) -> None:
    """`std::tie(a, b) = value;`, where `std::ignore` stands for a part that nobody wants."""
    position = node.position
    found = look_at(context, node.value)
    is_moved = isinstance(found, Value) or found.is_over
    known = cast("tree.Expression", Evaluated(found, node.value, position=position))
    names = tuple(f"(part {number} at {position})" for number in range(len(targets)))
    auto = tree.Reference(tree.NamedType("auto"), is_rvalue=True, position=position)
    statements: list[tree.Statement] = [tree.Binding(auto, names, known, position=position)]
    fields = found.type.fields if isinstance(found.type, StructType) else ()
    kept = [isinstance(x.type, ReferenceType) and not x.type.is_rvalue for x in fields]
    for number, (name, target) in enumerate(zip(names, targets, strict=True)):
        if isinstance(target, tree.Braces):
            raise context.error(target, "std::tie takes variables")
        if target == tree.Name("std::ignore"):
            continue
        part: tree.Expression = tree.Name(name, position=position)
        if is_moved and not any(kept[number : number + 1]):
            part = tree.FunctionCall(tree.Name("std::move"), (part,), position=position)
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
        found_lvalue = context.handlers.call(context, node)
        value = (
            found_lvalue
            if isinstance(found_lvalue, Value)
            else take_address(context, found_lvalue, node)
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
    with FullExpression(context):
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
    if context.result is None:
        value = decay_function(context, value, written)
    target = value.type if context.result is None else context.result
    is_over = _ends_here(context, written)
    taken: tree.Node = Evaluated(value, position=written.position) if is_over else written
    value = settle(convert_implicitly(context, value, target, taken))
    if context.result is None:
        context.result = value.type
    _note_space(context, value)
    returned = find_returned(context, written)
    if returned is None:
        value = copy_struct(context, value, written, is_over=is_over)
    _emit_return(context, value.node, node, returned)


def _ends_here(context: Context, written: tree.Expression) -> bool:
    """Whether what is returned is a variable of the function, which is moved then."""
    if not isinstance(written, tree.Name):
        return False
    symbol = context.scope.find(written.text)
    if not isinstance(symbol, Variable) or symbol.is_global or symbol.is_reference:
        return False
    return isinstance(symbol.storage, LocalLvalue)


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
    setup, wanted = list[ast.expr](), context.result
    found = look_at_last(context, value, setup)
    emit_setup(context, setup, value)
    if isinstance(wanted, PointerType) and wanted.const and is_scalar(wanted.pointee):
        if not (has_address(found) and is_same_type(wanted.pointee, found.type)):
            context.copies = True  # The function is compiled anew.
            return
    if isinstance(found, Value):
        raise context.error(value, "a reference needs a variable that it refers to")
    if isinstance(wanted, PointerType) and wanted.pointee != found.type:
        is_part = isinstance(found.type, StructType) and found.type.derives_from(wanted.pointee)
        if is_part or is_same_type(wanted.pointee, found.type):
            found = retype_lvalue(found, wanted.pointee)
    pointer = take_address(context, found, value)
    if wanted is not None:
        pointer = settle(convert_implicitly(context, pointer, wanted, value))
    else:
        context.result = pointer.type
    _note_space(context, pointer)
    _emit_return(context, pointer.node, node)


def _emit_return(
    context: Context, value: ast.expr | None, node: tree.Return, returned: Lvalue | None = None
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


# --- Branches -------------------------------------------------------------------------------------
# `if`, `switch`, `break` and `continue`.


def execute_if(context: Context, node: tree.If) -> None:
    """Compile an `if`; a branch that is known at compile time stays alone."""
    condition = _evaluate_whole(context, node.condition)
    if node.is_constexpr:
        _execute_constant_if(context, node, fold_constant(context, condition))
        return
    then = context.capture(lambda: execute_block(context, node.then))
    otherwise = context.capture(lambda: _execute_otherwise(context, node.otherwise))
    if condition.constant is not None:
        context.out.extend(then if condition.constant else otherwise)
        return
    branch = ast.If(build_condition(condition), then or [ast.Pass()], otherwise)
    context.emit(branch, node.position)


def _evaluate_whole(context: Context, node: tree.Expression) -> Value:
    """A condition after which its temporary objects end, before anything depends on it."""
    with FullExpression(context):
        condition = evaluate_condition(context, node)
        return _keep_value(context, condition, node) if context.temporaries else condition


def _keep_value(context: Context, value: Value, node: tree.Node) -> Value:
    """A value that is computed once, now."""
    if value.constant is not None:
        return value
    identifier = context.unit.create_name("chosen", "t")
    context.emit(code.assign(code.name(identifier), value.node), node.position)
    return replace(value, node=code.name(identifier))


def _execute_constant_if(context: Context, node: tree.If, condition: Value) -> None:
    """`if constexpr`: the other branch may be written with names that do not exist."""
    if condition.constant is None:
        raise context.error(node.condition, "'if constexpr' needs a constant condition")
    if condition.constant:
        execute_block(context, node.then)
    else:
        _execute_otherwise(context, node.otherwise)
    left_out = node.otherwise if condition.constant else node.then
    position = node.position
    if left_out is not None and position is not None and position.file == context.unit.file:
        check_branch(context, left_out)
        check = partial(check_left_out, snapshot(context), left_out)
        context.unit.left_out.setdefault(id(left_out), check)


def _execute_otherwise(context: Context, node: tree.Block | tree.If | None) -> None:
    match node:
        case tree.Block():
            execute_block(context, node)
        case tree.If():
            execute_if(context, node)
        case None:
            pass


def execute_break(context: Context, node: tree.Break) -> None:
    """Compile a `break`."""
    if not context.loops:
        raise context.error(node, "'break' outside of a loop")
    leave_blocks(context, context.loops[-1].depth)
    context.emit(ast.Break(), node.position)


def execute_continue(context: Context, node: tree.Continue) -> None:
    """Compile a `continue`."""
    before = context.loops[-1].before_continue if context.loops else None
    if before is None:
        message = "'continue' outside of a loop"
        if context.loops and context.loops[-1].is_switch:
            message = "'continue' in a switch with a 'break' that ends no case is not supported"
        raise context.error(node, message)
    leave_blocks(context, context.loops[-1].depth_of_loop)
    for each in context.capture(before):
        context.emit(each, node.position)


def execute_switch(context: Context, node: tree.Switch) -> None:
    """A chain of `if`; each branch holds what its case falls through to, too."""
    what = "the condition of a switch"
    with FullExpression(context):
        value = settle(evaluate_number(context, node.condition, what, scoped=True))
        value = _keep_value(context, value, node)
    groups = list(_group_cases(node.cases))
    if len(groups) > MAX_CASES:
        raise context.error(node, f"a switch of more than {MAX_CASES} cases")
    _refuse_duplicates(context, node)
    is_left = any(_breaks(each) for case in node.cases for each in _find_case_statements([case]))
    outer = context.loops[-1] if context.loops and not is_left else None
    before = None if outer is None else outer.before_continue
    around = len(context.ending) if outer is None else outer.depth_of_loop
    context.loops.append(Loop(before, len(context.ending), around, is_switch=True))
    chain: list[ast.stmt] = []
    for start, end in groups:
        if any(each.value is None for each in node.cases[start:end]):
            chain = _capture_case(context, node, end - 1)
    for start, end in reversed(groups):
        wanted = node.cases[start:end]
        if all(each.value is not None for each in wanted):
            chain = _build_branch(
                context, value, wanted, _capture_case(context, node, end - 1), chain
            )
    context.loops.pop()
    if is_left:
        once = code.tuple_of(code.constant(0))
        context.emit(ast.For(ast.Name("_", ast.Store()), once, chain, []), node.position)
    else:
        context.out.extend(chain)


_CASE = "the value of a case"


def _refuse_duplicates(context: Context, node: tree.Switch) -> None:
    known = list[range]()
    has_default = False
    for each in node.cases:
        if each.value is None:
            if has_default:
                raise context.error(each, "'default' stands twice in this switch")
            has_default = True
            continue
        first = evaluate_constant(context, each.value, _CASE, scoped=True)
        last = first
        if each.last is not None:
            last = evaluate_constant(context, each.last, _CASE, scoped=True)
        if any(first < other.stop and other.start <= last for other in known):
            raise context.error(each, f"case {first} stands twice in this switch")
        known.append(range(first, last + 1))


def _capture_case(context: Context, node: tree.Switch, start: int) -> list[ast.stmt]:
    statements = tuple(_find_case_statements(node.cases[start:]))
    return context.capture(lambda: execute_block(context, tree.Block(statements)))


def _build_branch(
    context: Context,
    value: Value,
    wanted: Sequence[tree.Case],
    body: list[ast.stmt],
    otherwise: list[ast.stmt],
) -> list[ast.stmt]:
    """A branch for some values; `otherwise` is for the others."""
    tests = list[ast.expr]()
    for each in wanted:
        test = _is_case(context, value, each)
        if test.constant is None:
            tests.append(test.node)
        elif test.constant:
            return body
    if not tests:
        return otherwise
    question = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
    branch = ast.If(question, body or [ast.Pass()], otherwise)
    context.unit.locate(branch, (wanted[0].value or wanted[0]).position)
    return [branch]


def _is_case(context: Context, value: Value, case: tree.Case) -> Value:
    """Whether a value is that of a case, or one of its values."""
    assert case.value is not None
    first = _find_case_value(context, case.value)
    if case.last is None:
        return operate(context, "==", value, first, case.value)
    last = _find_case_value(context, case.last)
    low = operate(context, ">=", value, first, case.value)
    high = operate(context, "<=", value, last, case.last)
    if low.constant is not None:
        return high if low.constant else low
    if high.constant is not None:
        return low if high.constant else high
    return replace(low, node=ast.BoolOp(ast.And(), [low.node, high.node]))


def _find_case_value(context: Context, written: tree.Expression) -> Value:
    number = settle(evaluate_number(context, written, _CASE, scoped=True))
    if number.constant is None:
        raise context.error(written, f"{_CASE} has to be a constant expression")
    return number


def _group_cases(cases: Sequence[tree.Case]) -> Iterator[tuple[int, int]]:
    """Ranges of cases that share the statements of the last one."""
    start = 0
    for number, case in enumerate(cases, 1):
        if case.statements or number == len(cases):
            yield start, number
            start = number


def _find_case_statements(cases: Sequence[tree.Case]) -> Iterator[tree.Statement]:
    """What runs from the first of some cases on."""
    for each in (each for case in cases for each in case.statements):
        match each:
            case tree.Break():
                return
            case tree.Block(statements=(*inside, tree.Break())):
                yield replace(each, statements=tuple(inside))
                return
            case tree.Return() | tree.Continue():
                yield each
                return
            case _:
                yield each


def _breaks(node: object) -> bool:
    """Whether a `break` in a statement leaves the switch around it."""
    match node:
        case tree.Break():
            return True
        case tree.Block(statements=statements):
            return any(map(_breaks, statements))
        case tree.If(then=then, otherwise=otherwise):
            return _breaks(then) or _breaks(otherwise)
        case _:
            return False
