"""`for`, `while` and `do`; those that count are in `counting`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import cast

from ttmlir.cpp import tree
from ttmlir.cpp.types import (
    BOOL,
    UNSIGNED,
    ArrayType,
    EnumType,
    IntType,
    StructType,
    complete_type,
    find_common_type,
    has_mutable_member,
)
from ttmlir.sim.kernels.context import Context, Loop
from ttmlir.sim.kernels.declarations import (
    bind_variable,
    declare_reference_to,
    declare_variable,
    execute_declaration,
    find_declared,
    find_written_reference,
)
from ttmlir.sim.kernels.destructors import (
    EndingBlock,
    FullExpression,
    end_with_block,
    refuse_destructor,
)
from ttmlir.sim.kernels.expressions.copies import copy_struct
from ttmlir.sim.kernels.expressions.initial_values import (
    build_initial,
    find_type_of_elements,
    is_list,
)
from ttmlir.sim.kernels.expressions.lvalues import (
    evaluate_condition,
    evaluate_number,
    evaluate_scalar,
    find_array,
    find_element,
    find_known_member,
    fold_constant,
    look_at,
    refer,
)
from ttmlir.sim.kernels.expressions.own_calls import find_member_functions
from ttmlir.sim.kernels.library import strip_namespaces
from ttmlir.sim.kernels.python import code
from ttmlir.sim.kernels.python.code import is_literal
from ttmlir.sim.kernels.scope import (
    Evaluated,
    Scope,
    Variable,
    find_changed_names,
    root_names,
)
from ttmlir.sim.kernels.statements import execute_block, execute_effect
from ttmlir.sim.kernels.value import (
    EitherLvalue,
    LocalLvalue,
    Lvalue,
    MemoryLvalue,
    Value,
    build_condition,
    build_node,
    convert,
    find_member_lvalue,
    make_integer,
    protect_lvalue,
    settle,
)

# --- Counting -------------------------------------------------------------------------------------
# Loops that count, which become `for ... in range(...)`.

_COMPILE_TIME_ARGUMENTS = ("get_compile_time_arg_val", "get_named_compile_time_arg_val")

_STEADY = (
    *(tree.Integer, tree.Boolean, tree.Character, tree.Name, tree.Cast, tree.SizeOf),
    *(tree.Conditional, tree.NamedType, tree.Member, tree.Index),
)


_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class Count:
    """How a loop counts, as far as its text says."""

    declarator: tree.Declarator
    operator: str
    """Between the counter and the bound."""
    bound: tree.Expression
    step: int
    rest: tuple[tree.Expression, ...]
    """What else happens after each iteration."""


def find_count(context: Context, node: tree.For) -> Count | None:
    """How a loop counts; None if it may do something else."""
    if not isinstance(node.start, tree.Declaration) or "static" in node.start.specifiers:
        return None
    match node.condition:
        case tree.BinaryOperation(operator=operator, left=tree.Name(text=name), right=bound) if (
            operator in _MIRRORED and _find_declarator(context, node.start, name)
        ):
            pass
        case tree.BinaryOperation(operator=operator, left=bound, right=tree.Name(text=name)) if (
            operator in _MIRRORED
        ):
            operator = _MIRRORED[operator]
        case _:
            return None
    declarator = _find_declarator(context, node.start, name)
    parts = tuple(split_commas(node.step))
    steps = [part for part in parts if _find_step(context, part, name) is not None]
    if declarator is None or declarator.value is None or len(steps) != 1:
        return None
    step = _find_step(context, steps[0], name)
    rest = tuple(part for part in parts if part is not steps[0])
    changed = find_changed_names((node.body, rest, bound), context.unit.references)
    if name in changed or name in context.shared or step is None:
        return None
    # What the loop declares is not known yet: it may hide another variable of its name.
    moving = {each.name for each in node.start.declarators} & (changed | context.shared)
    if not moving.isdisjoint(each.text for each in tree.walk(bound) if isinstance(each, tree.Name)):
        return None
    if not is_steady(context, bound, changed):
        return None
    return Count(declarator, operator, bound, step, rest)


def _find_declarator(
    context: Context, start: tree.Declaration, name: str
) -> tree.Declarator | None:
    """The counter of a name, if it is no reference."""
    found = next((each for each in start.declarators if each.name == name), None)
    if found is not None and find_written_reference(context, start.alone(found).type):
        return None  # It counts in what it refers to.
    return found


def _find_step(context: Context, node: tree.Expression, name: str) -> int | None:
    """By how much an expression moves the counter."""
    match node:
        case tree.Update(operator=operator, operand=tree.Name(text=text)) if text == name:
            return 1 if operator == "++" else -1
        case tree.Assign(
            target=tree.Name(text=text), operator="+=" | "-=" as operator, value=amount
        ) if text == name:
            number = _find_known_number(context, amount)
            return number if operator == "+=" or number is None else -number
        case _:
            return None


def _find_known_number(context: Context, node: tree.Expression) -> int | None:
    if not all(isinstance(each, _STEADY) for each in tree.walk(node)):
        return None
    value = settle(context.evaluate(node))
    constant = value.constant
    return int(constant) if isinstance(value.type, IntType) and constant else None


def is_steady(context: Context, node: tree.Expression, changed: frozenset[str]) -> bool:
    """Whether an expression keeps its value while a loop runs."""
    return all(_keeps_value(context, each, changed) for each in tree.walk(node))


def _keeps_value(context: Context, node: tree.Node, changed: frozenset[str]) -> bool:
    match node:
        case tree.Name(text=text):
            return _is_steady_name(context, text, changed)
        case tree.Member(arrow=arrow):
            return any(root_names(node)) and not arrow
        case tree.Index(base=base):
            is_element = isinstance(base, tree.Name) and context.unit.library.is_array(base.text)
            return is_element or find_array(context, base) is not None
        case tree.BinaryOperation(operator=operator):
            return operator != ","
        case tree.Unary(operator=operator):
            return operator not in ("*", "&")
        case tree.FunctionCall(callee=tree.Name(text=text)):
            steady = context.unit.library.is_steady(text)
            known = steady or strip_namespaces(text) in _COMPILE_TIME_ARGUMENTS
            return known and context.unit.find(text, context.scope) is None
        case _:
            return isinstance(node, _STEADY)


def _is_steady_name(context: Context, name: str, changed: frozenset[str]) -> bool:
    symbol = context.unit.find(name, context.scope)
    if not isinstance(symbol, Variable) or isinstance(symbol.storage, Value):
        return True
    if symbol.is_reference or has_mutable_member(symbol.storage.type):
        return False
    if symbol.storage.is_const and not isinstance(symbol.storage, MemoryLvalue):
        return True
    is_own = isinstance(symbol.storage, LocalLvalue) and not symbol.is_global
    return is_own and name not in changed and name not in context.shared


def execute_counted_for(context: Context, node: tree.For, count: Count) -> bool:
    """Compile a loop that counts; False, with nothing done, if it cannot be proven to."""
    assert isinstance(node.start, tree.Declaration)
    scope = context.scope
    context.scope = Scope(scope)
    before = context.out
    context.out = []
    made = _build_range(context, node.start, count)
    emitted, context.out = context.out, before
    if made is None:
        context.scope = scope
        return False
    for each in emitted:
        context.out.append(each)
    identifier, numbers = made
    body = context.capture(
        lambda: execute_body(context, node.body, lambda: _execute_rest(context, count))
    )
    target = ast.Name(identifier, ast.Store())
    context.emit(ast.For(target, numbers, body or [ast.Pass()], []), node.position)
    return True


def _build_range(
    context: Context, start: tree.Declaration, count: Count
) -> tuple[str, ast.expr] | None:
    """The counter's identifier and the numbers that it takes."""
    for each in start.declarators:
        if each is not count.declarator:
            declare_variable(context, start.alone(each), each)
    declared, first = find_declared(context, start.alone(count.declarator), count.declarator)
    type_ = declared.type
    if not isinstance(type_, IntType) or isinstance(type_, EnumType):
        return None
    if declared.const or declared.volatile:
        return None
    if type_ == BOOL or first is None:
        return None
    bound = evaluate_number(context, count.bound, "the bound of a loop")
    assert isinstance(bound.type, IntType)
    common = find_common_type(type_, bound.type)
    bound = settle(convert(bound, common))
    limits = _find_limits(type_, common, first, bound, count)
    if limits is None:
        return None
    low, high, past = limits
    end = bound.node
    if past and bound.constant is not None:
        end = code.constant(bound.constant + past)
    elif past:
        end = code.binary("+" if past > 0 else "-", end, code.constant(abs(past)))
    numbers = [first.node, end] if first.constant != 0 or count.step != 1 else [end]
    if count.step != 1:
        numbers.append(code.constant(count.step))
    identifier = context.unit.create_name(count.declarator.name)
    lvalue = LocalLvalue(type_, identifier, max(low, type_.low), min(high, type_.high))
    bind_variable(context, count.declarator, lvalue)
    return identifier, code.call("_range", *numbers)


def _execute_rest(context: Context, count: Count) -> None:
    for each in count.rest:
        with FullExpression(context):
            execute_effect(context, each)


def _find_limits(
    type_: IntType, common: IntType, first: Value, bound: Value, count: Count
) -> tuple[int, int, int] | None:
    """Bounds of the counter, and what to add to the bound for `range`.

    None if the counter might leave its type, where it would wrap; that of a signed type of at least
    32 bits must not in C++.
    """
    step = count.step
    upward = step > 0
    may_not_wrap = type_.signed and type_.bits >= 32
    least, most = type_.low, type_.high
    if type_.signed and not common.signed:
        least, may_not_wrap = 0, may_not_wrap and upward
        if first.low < 0:
            return None
    inclusive = {"<": 0, "<=": 1, ">": 0, ">=": -1}.get(count.operator)
    if inclusive is None:
        return _find_limits_of_unequal(first, bound, step)
    if upward != (count.operator in ("<", "<=")):
        return None
    if upward:
        last = bound.high - 1 + inclusive
        fits = may_not_wrap or last + step <= most
        return (first.low, max(last, first.low), inclusive) if fits else None
    last = bound.low + 1 + inclusive
    fits = may_not_wrap or last + step >= least
    return (min(last, first.high), first.high, inclusive) if fits else None


def _find_limits_of_unequal(first: Value, bound: Value, step: int) -> tuple[int, int, int] | None:
    """Those of `i != bound`, which counts only if the bound is not on the other side."""
    if step == 1 and first.high <= bound.low:
        return first.low, max(bound.high - 1, first.low), 0
    if step == -1 and first.low >= bound.high:
        return min(bound.low + 1, first.high), first.high, 0
    return None


def execute_body(context: Context, block: tree.Block, after: Callable[[], None]) -> None:
    """The body of a loop that goes on at the top after something else."""

    def before_continue() -> None:
        after()
        context.out.append(ast.Continue())

    depth = len(context.ending)
    context.loops.append(Loop(before_continue, depth, depth))
    execute_block(context, block)
    context.loops.pop()
    after()


def split_commas(node: tree.Expression | None) -> Iterator[tree.Expression]:
    """The parts of a comma expression."""
    match node:
        case None:
            return
        case tree.BinaryOperation(operator=",", left=left, right=right):
            yield from split_commas(left)
            yield from split_commas(right)
        case _:
            yield node


# --- Loops ----------------------------------------------------------------------------------------


def execute_for(context: Context, node: tree.For) -> None:
    """Compile a `for`."""
    outer = context.scope
    context.scope = Scope(outer)
    count = find_count(context, node)
    with EndingBlock(context):
        if count is None or not execute_counted_for(context, node, count):
            _execute_general_for(context, node)
    context.scope = outer


def _execute_general_for(context: Context, node: tree.For) -> None:
    if isinstance(node.start, tree.Declaration):
        execute_declaration(context, node.start)
    elif node.start is not None:
        with FullExpression(context):
            execute_effect(context, node.start.expression)
    parts = tuple(split_commas(node.step))

    def after() -> None:
        for each in parts:
            with FullExpression(context):
                execute_effect(context, each)

    _repeat(context, node.condition, node.body, after, node)


def execute_while(context: Context, node: tree.While) -> None:
    """Compile a `while`."""
    _repeat(context, node.condition, node.body, lambda: None, node)


def _repeat(
    context: Context,
    condition: tree.Expression | None,
    block: tree.Block,
    after: Callable[[], None],
    node: tree.Node,
) -> None:
    loads, waits = context.loads, context.waits
    test = None if condition is None else evaluate_condition(context, condition)
    body = context.capture(lambda: execute_body(context, block, after))
    if test is not None and test.constant is not None and not test.constant:
        return
    forever = test is None or test.constant is not None
    body = _add_poll(context, body, loads, waits, forever, node)
    question = None if test is None or forever else build_condition(test)
    if context.waits > waits:
        question = code.constant(True) if question is None else question
        context.emit(ast.While(question, body, []), node.position)
        return
    if question is not None:
        body = [_build_exit(context, question, node.position), *body]
    context.emit(_limit_rounds(body), node.position)


def _add_poll(
    context: Context, body: list[ast.stmt], loads: int, waits: int, forever: bool, node: tree.Node
) -> list[ast.stmt]:
    """A body that lets other processors run, if it may wait for what they write."""
    never_ends = forever and not any(map(_has_exit, body))
    if context.waits > waits or (context.loads == loads and not never_ends):
        return body
    context.waits += 1
    poll = code.wait_for(code.call(context.unit.bind("poll"), code.constant(never_ends)))
    context.unit.locate(poll, node.position)
    return [poll, *body]


def execute_do(context: Context, node: tree.DoWhile) -> None:
    """Compile a `do`."""
    loads, waits = context.loads, context.waits

    def go_on() -> None:
        test = evaluate_condition(context, node.condition)
        if test.constant is None:
            context.emit(ast.If(build_condition(test), [ast.Continue()], []), node.position)
        context.emit(ast.Continue() if test.constant else ast.Break(), node.position)

    def body() -> None:
        depth = len(context.ending)
        context.loops.append(Loop(go_on, depth, depth))
        execute_block(context, node.body)
        context.loops.pop()

    statements = context.capture(body)
    test = evaluate_condition(context, node.condition)
    never = test.constant is not None and not test.constant
    if never and not any(map(_has_jump, statements)):
        context.out.extend(statements)
        return
    statements = _add_poll(context, statements, loads, waits, bool(test.constant), node)
    if test.constant is None:
        statements.append(_build_exit(context, build_condition(test), node.condition.position))
    elif never:
        statements.append(ast.Break())
    if context.waits > waits:
        context.emit(ast.While(code.constant(True), statements, []), node.position)
    else:
        context.emit(_limit_rounds(statements), node.position)


def _build_exit(context: Context, question: ast.expr, position: tree.Position | None) -> ast.stmt:
    leave = ast.If(code.negation(question), [ast.Break()], [])
    context.unit.locate(leave, position)
    return leave


def _limit_rounds(body: list[ast.stmt]) -> ast.For:
    """A loop that nobody else can end, and that gives up some time if it does not end itself."""
    give_up = ast.Expr(code.call("_endless"))
    return ast.For(ast.Name("_", ast.Store()), code.name("_rounds"), body, [give_up])


def _has_exit(statement: ast.AST) -> bool:
    """Whether a statement may leave the loop around it, or the function."""
    if isinstance(statement, (ast.Break, ast.Return)):
        return True
    if isinstance(statement, (ast.For, ast.While)):
        return any(isinstance(each, ast.Return) for each in code.walk(statement))
    return not isinstance(statement, ast.expr) and any(
        map(_has_exit, code.list_children(statement))
    )


def _has_jump(statement: ast.stmt) -> bool:
    return any(isinstance(each, (ast.Break, ast.Continue)) for each in code.walk(statement))


# --- Ranges ---------------------------------------------------------------------------------------
# `for` over a range, and names for the parts of a value.


def execute_binding(context: Context, node: tree.Binding) -> None:
    """Compile `auto [a, b] = value;`."""
    if isinstance(node.value, tree.Braces):
        raise context.error(node.value, "'auto' needs a value to take its type from")
    found = look_at(context, node.value)
    if isinstance(node.type, tree.Reference) and not isinstance(found, Value):
        lvalue = _refer_to(context, node, found)
    else:
        if isinstance(found.type, ArrayType) and not isinstance(
            found, (Value, MemoryLvalue, EitherLvalue)
        ):
            value = Value(found.type, code.call("_copied", build_node(found)))
        else:
            value = evaluate_scalar(context, _known(found, node.value))
        lvalue_or_parts = _keep(context, node, copy_struct(context, value, node.value))
        if lvalue_or_parts is None:
            return
        lvalue = lvalue_or_parts
    parts = list(_list_parts(context, lvalue, node))
    if len(parts) != len(node.names):
        count = f"{len(parts)} parts, not {len(node.names)}"
        raise context.error(node, f"'{lvalue.type.name}' has {count}")
    for name, part in zip(node.names, parts, strict=True):
        _bind(context, node, name, part)


def _refer_to(context: Context, node: tree.Binding, lvalue: Lvalue) -> Lvalue:
    """A reference to a place that has a name of its own."""
    assert isinstance(node.type, tree.Reference)
    declarator = tree.Declarator(f"(binding at {node.position})", position=node.position)
    expression = cast("tree.Expression", node.value)
    scope, context.scope = context.scope, Scope(context.scope)
    declare_reference_to(context, node.type, lvalue, declarator, expression)
    symbol = context.scope.symbols[declarator.name]
    context.scope = scope
    assert isinstance(symbol, Variable)
    assert not isinstance(symbol.storage, Value)
    return symbol.storage


def _known(found: Lvalue | Value, node: tree.Expression) -> tree.Expression:
    return cast("tree.Expression", Evaluated(found, position=node.position))


def _is_const(node: tree.Binding) -> bool:
    named = node.type.referent if isinstance(node.type, tree.Reference) else node.type
    is_written = isinstance(named, tree.NamedType) and "const" in named.qualifiers
    return is_written or "constexpr" in node.specifiers


def _keep(context: Context, node: tree.Binding, value: Value) -> Lvalue | None:
    """A value in a variable; None if the names were given its constant parts."""
    if not context.in_function:
        refuse_destructor(context, value.type, node)
    is_const = _is_const(node)
    if isinstance(node.type, tree.Reference):
        is_const = is_const or not node.type.is_rvalue
    if is_const:
        value = fold_constant(context, value)
        if is_literal(value.node) and _bind_constants(context, node, value):
            return None
    identifier = context.unit.create_name("bound")
    context.emit(code.assign(code.name(identifier), settle(value).node), node.position)
    lvalue = LocalLvalue(value.type, identifier)
    end_with_block(context, lvalue, node)
    return protect_lvalue(lvalue) if is_const else lvalue


def _bind_constants(context: Context, node: tree.Binding, value: Value) -> bool:
    type_ = complete_type(value.type, context.unit.structs)
    if not isinstance(type_, StructType) or len(type_.fields) != len(node.names):
        return False
    parts = [find_known_member(value, each.name) for each in type_.fields]
    if any(each is None or each.constant is None for each in parts):
        return False
    for name, part in zip(node.names, parts, strict=True):
        assert part is not None
        _bind(context, node, name, part)
    return True


def _list_parts(context: Context, lvalue: Lvalue, node: tree.Node) -> Sequence[Lvalue]:
    """The members of an object, or the elements of an array."""
    type_ = complete_type(lvalue.type, context.unit.structs)
    if isinstance(type_, StructType) and type_.name.startswith("std::array<"):
        lvalue = find_member_lvalue(lvalue, 0)
        type_ = lvalue.type
    match type_:
        case ArrayType(count=count):
            numbers = (make_integer(i, UNSIGNED) for i in range(count))
            return [find_element(context, lvalue, each, node) for each in numbers]
        case StructType(fields=fields):
            if not _is_of_one_class(type_):
                message = f"the members of '{type_.name}' are those of several classes"
                raise context.error(node, f"{message}, which have no names in brackets")
            parts = (find_member_lvalue(lvalue, i) for i in range(len(fields)))
            return [refer(context, each, node) for each in parts]
        case _:
            raise context.error(node, f"'{type_.name}' has no parts to name")


def _is_of_one_class(type_: StructType) -> bool:
    """Whether all members are of the class itself, or of one of its bases."""
    inherited = [each for each in type_.bases if each.fields]
    has_own = len(type_.fields) > type_.count_inherited()
    return len(inherited) + has_own <= 1 and all(map(_is_of_one_class, inherited))


def _bind(context: Context, node: tree.Binding, name: str, storage: Lvalue | Value) -> None:
    if name in context.scope.symbols:
        raise context.error(node, f"'{name}' is declared twice")
    context.scope.symbols[name] = Variable(name, storage, is_reference=True)


# Loops over ranges.


def execute_range(context: Context, node: tree.RangeFor) -> None:
    """Compile `for (declaration : range)`."""
    with EndingBlock(context):
        _execute_range(context, node)


def _execute_range(context: Context, node: tree.RangeFor) -> None:
    outer = context.scope
    context.scope = Scope(outer)
    position = node.position
    name = f"(range at {position})"
    lvalue = _find_range(context, node)
    context.scope.symbols[name] = Variable(name, lvalue, is_reference=True)
    written = tree.Name(name, position=position)
    count = _count_elements(context, lvalue)
    if count is not None:
        _execute_counted(context, node, written, count)
    else:
        _execute_iterated(context, node, written, lvalue)
    context.scope = outer


def _find_range(context: Context, node: tree.RangeFor) -> Lvalue:
    """The range in a place of its own."""
    declaration = node.declaration
    if isinstance(declaration, tree.Binding):
        range_ = declaration.value
    else:
        initial = declaration.declarators[0].value
        assert initial is not None
        range_ = initial
    if isinstance(range_, tree.Braces):
        with FullExpression(context):
            lvalue = _hold_range(context, _build_list(context, range_), node)
        end_with_block(context, lvalue, node)
        return lvalue
    found = look_at(context, range_)
    if not isinstance(found, Value):
        return found
    refuse_destructor(context, found.type, node)
    return _hold_range(context, found, node)


def _hold_range(context: Context, value: Value, node: tree.RangeFor) -> Lvalue:
    identifier = context.unit.create_name("range")
    context.emit(code.assign(code.name(identifier), settle(value).node), node.position)
    return LocalLvalue(value.type, identifier)


def _build_list(context: Context, braces: tree.Braces) -> Value:
    """`{1, 2, 3}` as an array of the type of its first element."""
    if not braces.elements or isinstance(braces.elements[0].value, tree.Braces):
        raise context.error(braces, "a range in braces needs elements of a known type")
    element = find_type_of_elements(context, braces)
    return build_initial(context, ArrayType(element, len(braces.elements)), braces)


def _count_elements(context: Context, lvalue: Lvalue) -> int | None:
    """How many elements an array has; None for other ranges."""
    type_ = complete_type(lvalue.type, context.unit.structs)
    if isinstance(type_, StructType) and type_.name.startswith("std::array<"):
        inner = type_.fields[0].type
        return inner.count if isinstance(inner, ArrayType) else None
    return type_.count if isinstance(type_, ArrayType) else None


def _execute_counted(context: Context, node: tree.RangeFor, range_: tree.Name, count: int) -> None:
    """A loop over the indices of an array."""
    position = node.position
    counter = f"(index at {position})"
    index = tree.Name(counter, position=position)
    start = tree.Declaration(
        tree.NamedType("uint32_t", position=position),
        (tree.Declarator(counter, (), tree.Integer("0"), position=position),),
        position=position,
    )
    bound = tree.Integer(str(count), position=position)
    condition = tree.BinaryOperation("<", index, bound, position=position)
    step = tree.Update("++", index, position=position)
    element = tree.Index(range_, index, position=position)
    body = tree.Block((_declare(node, element), *node.body.statements), position=position)
    context.execute(tree.For(start, condition, step, body, position=position))


def _declare(node: tree.RangeFor, element: tree.Expression) -> tree.Declaration | tree.Binding:
    """The variable of a loop, with an element as its value."""
    declaration = node.declaration
    if isinstance(declaration, tree.Binding):
        return replace(declaration, value=element)
    declarator = replace(declaration.declarators[0], value=element)
    return replace(declaration, declarators=(declarator,))


def _execute_listed(context: Context, node: tree.RangeFor, range_: tree.Name) -> None:
    """A loop over a list in braces, which has a size before it begins."""
    position = node.position
    names = {each: f"({each} at {position})" for each in ("begin", "size")}
    for function, name in names.items():
        callee = tree.Member(range_, function, position=position)
        value = tree.FunctionCall(callee, position=position)
        declarator = tree.Declarator(name, (), value, position=position)
        auto = tree.NamedType("auto", position=position)
        context.execute(tree.Declaration(auto, (declarator,), position=position))
    first, size = (tree.Name(each, position=position) for each in names.values())
    index = tree.Name(f"(index at {position})", position=position)
    zero = tree.Declarator(index.text, (), tree.Integer("0"), position=position)
    start = tree.Declaration(tree.NamedType("uint32_t"), (zero,), position=position)
    condition = tree.BinaryOperation("<", index, size, position=position)
    step = tree.Update("++", index, position=position)
    element = tree.Index(first, index, position=position)
    body = tree.Block((_declare(node, element), *node.body.statements), position=position)
    context.execute(tree.For(start, condition, step, body, position=position))


def _execute_iterated(
    context: Context, node: tree.RangeFor, range_: tree.Name, lvalue: Lvalue
) -> None:
    """A loop over iterators that `begin` and `end` give."""
    position = node.position
    if is_list(lvalue.type):
        _execute_listed(context, node, range_)
        return
    for name in ("begin", "end"):
        if find_member_functions(context, lvalue.type, name) is None:
            raise context.error(node, f"'{lvalue.type.name}' is no range: it has no '{name}'")
    names = [f"({each} at {position})" for each in ("first", "last")]
    first, last = (tree.Name(each, position=position) for each in names)
    auto = tree.NamedType("auto", position=position)
    for name, function in zip(names, ("begin", "end"), strict=True):
        callee = tree.Member(range_, function, position=position)
        value = tree.FunctionCall(callee, position=position)
        declarator = tree.Declarator(name, (), value, position=position)
        context.execute(tree.Declaration(auto, (declarator,), position=position))
    condition = tree.BinaryOperation("!=", first, last, position=position)
    step = tree.Update("++", first, position=position)
    element = tree.Unary("*", first, position=position)
    body = tree.Block((_declare(node, element), *node.body.statements), position=position)
    context.execute(tree.For(None, condition, step, body, position=position))
