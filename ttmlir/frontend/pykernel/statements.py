"""Statements of a kernel in Python: names, branches, loops."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import StringAttr, f32, i1, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects.emitc import VerbatimOp
from ttmlir.dialects.ttkernel import RESULT_TYPES, op_class
from ttmlir.frontend.pykernel.builder import (
    Array,
    Binding,
    Cell,
    Items,
    Scalar,
    Scope,
    Static,
    Unset,
    Value,
    describe,
    number,
    same,
)
from ttmlir.frontend.pykernel.expressions import PRINT_TEXTS, Expressions, common_type
from ttmlir.optable.kernel import ValueKind

# --- Jumps ----------------------------------------------------------------------------------------
# Statements without jumps: what `break`, `continue` and early `return` mean as conditions.
#
# scf has no jumps. What follows an `if` with a jump moves into the arm that goes on; where that is
# not enough, a flag says that the rest is left out. Flags have names that Python cannot spell.

RESULT = "$result"
"""The name of the value that a function returns."""
_RETURNED = "$returned"


@dataclass(frozen=True)
class SetFlag:
    """A flag gets a value."""

    name: str
    value: bool
    node: ast.stmt


@dataclass(frozen=True)
class SetResult:
    """The value that the function returns; None for a result that a loop will set."""

    value: ast.expr | None
    node: ast.stmt


@dataclass(frozen=True)
class Branch:
    """An `if`, by its test or by flags none of which may be set."""

    test: ast.expr | None
    flags: tuple[str, ...]
    then: tuple[Step, ...]
    otherwise: tuple[Step, ...]
    node: ast.stmt


@dataclass(frozen=True)
class Loop:
    """A `for` or `while`, which ends when one of `exits` is set, too."""

    node: ast.For | ast.While
    body: tuple[Step, ...]
    exits: tuple[str, ...]


@dataclass(frozen=True)
class Plain:
    """A statement that has no others in it."""

    node: ast.stmt


Step = SetFlag | SetResult | Branch | Loop | Plain


def without_jumps(function: ast.FunctionDef) -> tuple[Step, ...]:
    """The body of a function as steps; the value that it returns goes to RESULT."""
    return _Lowering(function).steps()


def assigned(steps: Sequence[Step]) -> Iterator[str]:
    """The names that steps give a value to, some of them several times."""
    for step in steps:
        match step:
            case SetFlag(name=name):
                yield name
            case SetResult():
                yield RESULT
            case Branch(then=then, otherwise=otherwise):
                yield from assigned(then)
                yield from assigned(otherwise)
            case Loop(node=node, body=body):
                if isinstance(node, ast.For):
                    yield from _targets(node.target)
                yield from assigned(body)
            case Plain(node=node):
                yield from _assigned_by(node)


def _assigned_by(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.Assign(targets=targets):
            for target in targets:
                yield from _targets(target)
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            yield from _targets(target)
        case _:
            pass


def _targets(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            for each in elements:
                yield from _targets(each)
        case _:
            pass


_LOOPS = (ast.For, ast.While)


def _has(statements: Sequence[ast.stmt], *kinds: type[ast.stmt], inner: bool = False) -> bool:
    """Whether there is such a jump; one in an inner loop counts with `inner` only."""
    for node in statements:
        if isinstance(node, kinds):
            return True
        if isinstance(node, ast.If) and (
            _has(node.body, *kinds, inner=inner) or _has(node.orelse, *kinds, inner=inner)
        ):
            return True
        if isinstance(node, _LOOPS):
            if inner and _has(node.body, *kinds, inner=True):
                return True
            # A jump after `else` leaves the loop around.
            if _has(node.orelse, *kinds, inner=inner):
                return True
    return False


def _always_jumps(statements: Sequence[ast.stmt]) -> bool:
    """Whether what follows the statements is never reached."""
    for node in statements:
        match node:
            case ast.Break() | ast.Continue() | ast.Return():
                return True
            case ast.If(body=body, orelse=orelse) if _always_jumps(body) and _always_jumps(orelse):
                return True
            case _:
                pass
    return False


@dataclass
class _Around:
    """The loop that statements are in; both names are empty outside of loops."""

    broken: str = ""
    continued: str = ""
    uses_continued: bool = False


class _Lowering:
    def __init__(self, function: ast.FunctionDef) -> None:
        self._function = function
        self._loops = 0
        self._uses_returned = False

    def steps(self) -> tuple[Step, ...]:
        """The whole body."""
        function = self._function
        body = list(self._lower(function.body, _Around(), tail=True))
        first = function.body[0]
        in_loop = any(
            isinstance(each, _LOOPS) and _has([each], ast.Return, inner=True)
            for each in ast.walk(function)
        )
        if self._uses_returned or in_loop:
            body.insert(0, SetFlag(_RETURNED, False, first))
            if any(isinstance(each, ast.Return) and each.value for each in ast.walk(function)):
                body.insert(0, SetResult(None, first))
        return tuple(body)

    def _lower(
        self, statements: Sequence[ast.stmt], around: _Around, *, tail: bool
    ) -> tuple[Step, ...]:
        """Steps; after those at the `tail` nothing of the same loop or function follows."""
        steps = list[Step]()
        for index, node in enumerate(statements):
            rest = statements[index + 1 :]
            match node:
                case ast.Break() | ast.Continue() | ast.Return():
                    steps += self._jump(node, around, tail=tail)
                    return tuple(steps)
                case ast.If():
                    flags = self._flags([node], around)
                    if flags and rest and _always_jumps(node.body):
                        steps.append(self._branch(node, (), rest, around, tail=tail))
                        return tuple(steps)
                    if flags and rest and _always_jumps(node.orelse):
                        steps.append(self._branch(node, rest, (), around, tail=tail))
                        return tuple(steps)
                    ends = tail and not rest
                    steps.append(self._branch(node, (), (), around, tail=ends or not flags))
                case ast.For() | ast.While():
                    steps += self._loop(node, around, tail=tail and not rest)
                    flags = self._flags([node], around)
                case _:
                    steps.append(Plain(node))
                    flags = ()
            if flags and rest:
                self._note(flags, around)
                others = self._lower(rest, around, tail=tail)
                steps.append(Branch(None, flags, others, (), rest[0]))
                return tuple(steps)
        return tuple(steps)

    def _flags(self, statements: Sequence[ast.stmt], around: _Around) -> tuple[str, ...]:
        """The flags that jumps in the statements set, seen from after them."""
        flags = list[str]()
        if _has(statements, ast.Break):
            flags.append(around.broken)
        if _has(statements, ast.Continue):
            flags.append(around.continued)
        if _has(statements, ast.Return, inner=True):
            flags.append(_RETURNED)
        return tuple(flags)

    def _note(self, flags: Sequence[str], around: _Around) -> None:
        """Remember which flags have to be there."""
        around.uses_continued |= around.continued in flags and bool(around.continued)
        self._uses_returned |= _RETURNED in flags

    def _jump(
        self, node: ast.Break | ast.Continue | ast.Return, around: _Around, *, tail: bool
    ) -> Iterator[Step]:
        match node:
            case ast.Break():
                yield SetFlag(around.broken, True, node)
            case ast.Continue():
                if not tail:
                    yield SetFlag(around.continued, True, node)
            case ast.Return(value=value):
                if value is not None:
                    yield SetResult(value, node)
                if around.broken or not tail:
                    yield SetFlag(_RETURNED, True, node)

    def _branch(
        self,
        node: ast.If,
        then_rest: Sequence[ast.stmt],
        else_rest: Sequence[ast.stmt],
        around: _Around,
        *,
        tail: bool,
    ) -> Branch:
        """A branch whose arms go on with these statements."""
        then = self._lower([*node.body, *then_rest], around, tail=tail)
        otherwise = self._lower([*node.orelse, *else_rest], around, tail=tail)
        return Branch(node.test, (), then, otherwise, node)

    def _loop(self, node: ast.For | ast.While, around: _Around, *, tail: bool) -> Iterator[Step]:
        self._loops += 1
        inside = _Around(f"$broken{self._loops}", f"$continued{self._loops}")
        body = self._lower(node.body, inside, tail=True)
        if inside.uses_continued:
            body = (SetFlag(inside.continued, False, node.body[0]), *body)
        exits = list[str]()
        if _has(node.body, ast.Break):
            exits.append(inside.broken)
            yield SetFlag(inside.broken, False, node)
        if _has(node.body, ast.Return, inner=True):
            exits.append(_RETURNED)
        yield Loop(node, body, tuple(exits))
        if node.orelse:
            others = self._lower(node.orelse, around, tail=tail)
            if exits:
                yield Branch(None, tuple(exits), others, (), node.orelse[0])
            else:
                yield from others


# --- Statements -----------------------------------------------------------------------------------

_AUGMENTED: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.LShift: "<<",
    ast.RShift: ">>",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.BitXor: "^",
}
_L1_POINTER = RESULT_TYPES[ValueKind.L1_PTR]
_REFUSED: Mapping[type[ast.stmt], str] = {
    ast.FunctionDef: "functions in a kernel are not there; write this one beside it in the module",
    ast.AsyncFunctionDef: "functions in a kernel are not there; write this one in the module",
    ast.ClassDef: "classes have no form in a kernel",
    ast.Try: "exceptions are not there on a core; test for what can go wrong with 'if'",
    ast.Raise: "exceptions are not there on a core; use 'assert'",
    ast.With: "'with' has no form in a kernel; call what begins and what ends",
    ast.Match: "'match' has no form in a kernel; use 'if' and 'elif'",
    ast.Import: "imports have no form in a kernel; import in the module",
    ast.ImportFrom: "imports have no form in a kernel; import in the module",
    ast.Global: "a kernel cannot set variables of the module; use run-time arguments and memory",
    ast.Nonlocal: "a kernel cannot set variables outside; use run-time arguments and memory",
    ast.Delete: "'del' has no form in a kernel; names end with the block they are in",
}
_STATEMENTS = "kernels have assignments, if, for, while, assert, return and calls"
_ELEMENT_TYPES: Mapping[str, Attribute] = {"int": i32, "bool": i1, "float": f32}


UNCARRIED = tuple(
    RESULT_TYPES[kind] for kind in (ValueKind.ADDR_GEN, ValueKind.ACCESSOR, ValueKind.ACCESSOR_ARGS)
)
"""Types without a name in C++, of which a variable without value cannot be declared."""


class Statements(Expressions):
    """Compiles steps."""

    verbose = False

    @abstractmethod
    def loop(self, step: Loop) -> None:
        """Compile a loop."""

    # Plain statements.

    def run(self, steps: Sequence[Step]) -> None:
        """Compile steps one after the other."""
        for step in steps:
            match step:
                case SetFlag(name=name, value=value, node=node):
                    self.builder.at(node)
                    self.variables[name] = number(value)
                case SetResult(value=value, node=node):
                    self._set_result(value, node)
                case Branch():
                    self._branch(step)
                case Loop():
                    self.comment(step.node)
                    self.loop(step)
                case Plain(node=node):
                    self._statement(node)

    def _set_result(self, value: ast.expr | None, node: ast.stmt) -> None:
        self.builder.at(node)
        if value is None:
            self.variables[RESULT] = number(0)
            return
        result = self.value(value)
        self.variables[RESULT] = result

    def _statement(self, node: ast.stmt) -> None:
        self.builder.at(node)
        match node:
            case ast.Expr(value=ast.Constant(value=str() | None)) | ast.Pass():
                # A docstring, or what stands where nothing is done.
                pass
            case ast.Expr(value=value):
                self.comment(node)
                self.value(value)
            case ast.Assign(targets=targets, value=value):
                self.comment(node)
                self._assign(node, targets, value)
            case ast.AnnAssign():
                self.comment(node)
                self._annotated(node)
            case ast.AugAssign():
                self.comment(node)
                self._augmented(node)
            case ast.Assert(test=test):
                self._assert(test)
            case _:
                reason = _REFUSED.get(type(node), f"this has no form in a kernel; {_STATEMENTS}")
                self.builder.refuse(reason, node)

    def comment(self, node: ast.stmt) -> None:
        """With `verbose`, the line as a comment of the C++."""
        if not self.verbose or isinstance(node, ast.Expr):
            return
        last = node.iter.end_lineno if isinstance(node, ast.For) else node.end_lineno
        last = node.lineno if isinstance(node, ast.While) else last
        lines = (self.builder.source.line(i).strip() for i in range(node.lineno, (last or 0) + 1))
        comment = "\n".join(f"// {line}" for line in lines)
        self.builder.add(VerbatimOp.create(properties={"value": StringAttr(comment)}))

    def _assert(self, test: ast.expr) -> None:
        condition = self.condition(test)
        self.builder.at(test)
        if condition.is_literal and not condition.known and self.builder.is_certain:
            self.builder.refuse("this never holds", test)
        self.builder.add(op_class("assert").create(operands=[self.builder.ssa(condition)]))

    # Assignments.

    def _assign(self, node: ast.Assign, targets: Sequence[ast.expr], value: ast.expr) -> None:
        if isinstance(value, ast.Tuple | ast.List) and all(
            isinstance(each, ast.Tuple | ast.List) for each in targets
        ):
            # `a, b = b, a`: all values are computed before the first is assigned.
            result: Value = Items(tuple(self.value(each) for each in value.elts))
        else:
            result = self._owned(self.value(value), value)
        for target in targets:
            self.builder.at(node)
            self.bind(target, result)

    def _owned(self, value: Value, node: ast.expr) -> Value:
        """A list as an array of its own."""
        if isinstance(value, Items) and value.is_list:
            self.builder.at(node)
            return self.make_array(value)
        return value

    def bind(self, target: ast.expr, value: Value) -> None:
        """Assign to a name, an element, or names one by one."""
        match target:
            case ast.Name(id=name):
                self.set(name, value, target)
            case ast.Subscript(value=base, slice=index):
                self._set_element(base, index, value, target)
            case ast.Tuple(elts=elements) | ast.List(elts=elements):
                if not isinstance(value, Items) or len(value.elements) != len(elements):
                    self.builder.refuse(
                        f"{describe(value)} does not give these {len(elements)} names a value each",
                        target,
                    )
                for each, part in zip(elements, value.elements, strict=True):
                    self.bind(each, part)
            case _:
                self.builder.refuse(
                    "only names and elements of arrays and of pointers to L1 can be assigned to",
                    target,
                )

    def set(self, name: str, value: Value, node: ast.expr | ast.stmt) -> None:
        """Let a name stand for a value; an annotated one keeps its location in memory."""
        known = self.variables.get(name)
        if isinstance(known, Cell):
            if not isinstance(value, Scalar) or not value.is_number:
                self.builder.refuse(f"'{name}' holds numbers, not {describe(value)}", node)
            self._store_cell(known, value)
            return
        if isinstance(value, Static) and value.value is None:
            self.builder.refuse(
                f"'{name}' gets no value: a call without result, or None, which a core does not "
                "have; take a number instead",
                node,
            )
        self.variables[name] = self.builder.settle(value) if isinstance(value, Scalar) else value

    def _store_cell(self, cell: Cell, value: Scalar) -> None:
        converted = self.builder.ssa(self.builder.convert(value, cell.type))
        zero = self.builder.index(number(0))
        self.builder.add(memref.StoreOp.get(converted, cell.ssa, [zero]))

    def _set_element(
        self, base: ast.expr, index: ast.expr, value: Value, target: ast.Subscript
    ) -> None:
        holder = self.value(base)
        if not isinstance(value, Scalar):
            self.builder.refuse(f"elements are numbers, not {describe(value)}", target)
        match holder:
            case Array():
                element = self.indices(holder, index, target)
                if len(element.within) < len(element.shape):
                    self.builder.refuse("only single elements can be assigned to", target)
                self.store_element(element, element.within, value)
            case Scalar(type=type_) if type_ == _L1_POINTER:
                offset = self.integer(index)
                self.builder.at(target)
                self.calls.call_by_mnemonic("store_to_l1", value, holder, offset)
            case Items():
                self.builder.refuse(
                    "tuples and lists of the module cannot change in a kernel; copy them into an "
                    "array: a = [0] * 4",
                    target,
                )
            case _:
                self.builder.refuse(f"{describe(holder)} has no elements", target)

    def _annotated(self, node: ast.AnnAssign) -> None:
        """`x: int = 1`, a location in memory; `a: [int, 2, 3] = 0`, an array."""
        if not isinstance(node.target, ast.Name):
            self.builder.refuse("only plain names take an annotation", node)
        name = node.target.id
        if isinstance(node.annotation, ast.List | ast.Tuple):
            self._annotated_array(node, name, node.annotation.elts)
            return
        if node.value is None:
            self.builder.refuse(f"'{name}' needs a value: {name}: int = 0", node)
        value = self._owned(self.value(node.value), node.value)
        self.builder.at(node)
        if not isinstance(value, Scalar) or not value.is_number:
            self.set(name, value, node)
            return
        if isinstance(self.variables.get(name), Cell):
            self.set(name, value, node)
            return
        wanted = node.annotation.id if isinstance(node.annotation, ast.Name) else ""
        value = self.builder.convert(value, _ELEMENT_TYPES.get(wanted, value.type))
        settled = self.builder.settle(value)
        op = memref.AllocaOp.get(settled.type, shape=(1,))
        cell = Cell(self.builder.add(op).results[0], settled.type)
        self.variables[name] = cell
        self._store_cell(cell, settled)

    def _annotated_array(self, node: ast.AnnAssign, name: str, parts: Sequence[ast.expr]) -> None:
        match parts:
            case (ast.Name(id=kind), *extents) if kind in _ELEMENT_TYPES and 1 <= len(extents) <= 2:
                type_ = _ELEMENT_TYPES[kind]
            case _:
                self.builder.refuse(
                    "an array is annotated with its type and extents: a: [int, 5] = 0", node
                )
        shape = list[int]()
        for each in extents:
            extent = self.integer(each)
            if extent.known is None:
                self.builder.refuse(
                    "the extents of an array have to be known when the kernel is compiled", each
                )
            shape.append(int(extent.known))
        initial = self.value(node.value) if node.value is not None else None
        self.builder.at(node)
        if isinstance(initial, Items):
            array = self.make_array(initial)
            if array.shape != tuple(shape):
                self.builder.refuse("the list has other extents than the annotation", node)
            self.variables[name] = array
            return
        array = self.allocate(tuple(shape), type_)
        self.variables[name] = array
        if initial is not None:
            if not isinstance(initial, Scalar):
                self.builder.refuse(f"arrays hold numbers, not {describe(initial)}", node)
            self._fill(array, self.builder.settle(self.builder.convert(initial, type_)), ())

    def _fill(self, array: Array, value: Scalar, indices: tuple[SSAValue, ...]) -> None:
        """Set all elements."""
        dimension = len(indices)
        if dimension == len(array.shape):
            self.store_element(array, indices, value)
            return
        builder = self.builder
        bounds = [builder.index(number(each)) for each in (0, array.shape[dimension], 1)]
        body = Block(arg_types=[bounds[0].type])
        with builder.into(body):
            self._fill(array, value, (*indices, body.args[0]))
            builder.add(scf.YieldOp())
        builder.add(scf.ForOp(bounds[0], bounds[1], bounds[2], [], body))

    def _augmented(self, node: ast.AugAssign) -> None:
        operator = _AUGMENTED.get(type(node.op))
        if operator is None:
            self.builder.refuse("'@=' has no form in a kernel", node)
        match node.target:
            case ast.Name(id=name):
                if self.variables.get(name) is None:
                    self.builder.refuse(f"'{name}' has no value yet in this kernel", node.target)
                old = self.value(node.target)
                new = self._combine(operator, old, node)
                self.set(name, new, node)
            case ast.Subscript(value=base, slice=index):
                old = self.value(node.target)
                self._set_element(base, index, self._combine(operator, old, node), node.target)
            case _:
                self.builder.refuse("only names and elements can be assigned to", node.target)

    def _combine(self, operator: str, old: Value, node: ast.AugAssign) -> Value:
        right = self.scalar(node.value)
        self.builder.at(node)
        if not isinstance(old, Scalar):
            also = PRINT_TEXTS if describe(old) == describe(Static("")) else ""
            self.builder.refuse(f"'{operator}=' takes numbers, not {describe(old)}{also}", node)
        return self.builder.binary(operator, old, right)

    # Branches.

    def _branch(self, step: Branch) -> None:
        self.builder.at(step.node)
        if step.test is not None:
            condition = self.condition(step.test)
        else:
            condition = self.all_clear(step.flags)
        if condition.is_literal:
            self.run(step.then if condition.known else step.otherwise)
            return
        self.builder.at(step.node)
        truth, location = self.builder.ssa(condition), self.builder.location
        before = dict(self.variables)
        blocks, scopes = (Block(), Block()), list[Scope]()
        for block, steps in zip(blocks, (step.then, step.otherwise), strict=True):
            self.variables = dict(before)
            with self.builder.into(block):
                self.run(steps)
            scopes.append(self.variables)
        self.builder.location = location
        self.variables = before
        self._merge(truth, blocks, scopes, has_else=bool(step.otherwise), node=step.node)

    def all_clear(self, flags: Sequence[str]) -> Scalar:
        """Whether none of the flags is set."""
        result = number(True)
        for flag in flags:
            value = self.variables[flag]
            assert isinstance(value, Scalar), "flags are truth values"
            unset = self.builder.unary("not", value)
            result = self.builder.binary("&", result, unset) if not result.is_literal else unset
        return result

    def _merge(
        self,
        condition: SSAValue,
        blocks: tuple[Block, Block],
        scopes: Sequence[Scope],
        *,
        has_else: bool,
        node: ast.stmt,
    ) -> None:
        """Add the `scf.if`, and let names stand for what the arms leave."""
        line = node.lineno
        results = list[tuple[str, Attribute, bool]]()
        for name in dict.fromkeys((*scopes[0], *scopes[1])):
            first, second = (scope.get(name) for scope in scopes)
            if first is not None and second is not None and same(first, second):
                self.variables[name] = first
                continue
            type_ = merged_type(first, second)
            if type_ is None:
                self.variables[name] = Unset(_unmerged(name, first, second, line))
            else:
                natural = to_scalar(first).natural and to_scalar(second).natural
                results.append((name, type_, natural))
        for block, scope in zip(blocks, scopes, strict=True):
            with self.builder.into(block):
                values = [
                    self.builder.ssa(self.builder.convert(to_scalar(scope[name]), type_))
                    for name, type_, _ in results
                ]
                self.builder.add(scf.YieldOp(*values))
        op = scf.IfOp(
            condition,
            [type_ for _, type_, _ in results],
            Region(blocks[0]),
            Region(blocks[1]) if has_else or results else None,
        )
        self.builder.add(op)
        for (name, type_, natural), result in zip(results, op.results, strict=True):
            self.variables[name] = Scalar(type_, result, natural=natural)


def merged_type(first: Binding | None, second: Binding | None) -> Attribute | None:
    """The type of a name that stands for one of two values; None if it cannot."""
    if not isinstance(first, Scalar) or not isinstance(second, Scalar):
        return None
    common = common_type(first, second)
    return None if common in UNCARRIED else common


def _unmerged(name: str, first: Binding | None, second: Binding | None, line: int) -> str:
    """Why a name has no value after an `if`."""
    for each in (first, second):
        if isinstance(each, Unset):
            return each.reason
    if first is None or second is None:
        return (
            f"'{name}' has a value in one arm of the 'if' at line {line} only; give it one before"
        )
    return (
        f"'{name}' is {describe(first)} or {describe(second)} after the 'if' at line {line}; one "
        "name stands for values of one kind"
    )


def to_scalar(binding: Binding | None) -> Scalar:
    """What is known to be a scalar."""
    assert isinstance(binding, Scalar)
    return binding


# --- Loops ----------------------------------------------------------------------------------------
# Loops of a kernel in Python, and the values that they carry between iterations.
#
# A name that a loop changes and that has a value before it is an argument of the loop's body, and a
# result of the loop. What the body makes of it may have another type than what it begins with, as
# in `x = 0; x = x + 0.5`: then the loop is compiled again with the type that holds both.

_COUNTER = "$counter"
_MOST_ATTEMPTS = 64

Carried = Mapping[str, Scalar]
Finish = Callable[[Carried], Operation]
"""Ends the body of a loop with what it carries on, and makes the loop."""
Attempt = Callable[[Carried], tuple[Scope, Finish]]
"""Compiles the body of a loop that carries some names; the names after it."""


class Loops(Statements):
    """Compiles loops."""

    def loop(self, step: Loop) -> None:
        """Compile a loop."""
        node = step.node
        self.builder.at(node)
        if isinstance(node, ast.While):
            test = node.test
            self._run_while(
                step, lambda: self.condition(test), lambda: self.run(step.body), self._names(step)
            )
            return
        match node.iter:
            case ast.Call(func=ast.Name(id="range")) if "range" not in self.variables:
                self._count(step, node, node.iter)
            case _:
                self._iterate(step, node)

    def _iterate(self, step: Loop, node: ast.For) -> None:
        """A loop over the elements of an array or tuple."""
        holder = self.value(node.iter)
        self.builder.at(node)
        if isinstance(holder, Items):
            holder = self.table(holder)
        if not isinstance(holder, Array):
            self.builder.refuse(
                f"'for' goes over range(...), arrays and tuples, not over {describe(holder)}",
                node.iter,
            )
        array = holder

        def begin(position: Scalar) -> None:
            indices = (*array.within, self.builder.index(position))
            element: Value = Array(array.ssa, array.type, array.shape, indices)
            if len(indices) == len(array.shape):
                element = self.read_element(array, indices)
            self.bind(node.target, element)

        count = array.shape[len(array.within)]
        self._run_counted(step, (number(0), number(count), number(1)), begin)

    def _count(self, step: Loop, node: ast.For, call: ast.Call) -> None:
        """A loop over a range."""
        if call.keywords or not 1 <= len(call.args) <= 3:
            self.builder.refuse("range(...) takes one to three integers", call)
        values = [self.integer(each) for each in call.args]
        start = number(0) if len(values) == 1 else values[0]
        stop = values[0] if len(values) == 1 else values[1]
        stride = values[2] if len(values) == 3 else number(1)
        if stride.known == 0:
            self.builder.forbid("the step of range(...) must not be 0", call.args[2])
            return
        self.builder.at(node)
        self._run_counted(
            step, (start, stop, stride), lambda position: self.bind(node.target, position)
        )

    def _run_counted(
        self,
        step: Loop,
        bounds: tuple[Scalar, Scalar, Scalar],
        begin: Callable[[Scalar], None],
    ) -> None:
        """A loop from a start to before a stop; `begin` takes the counter at each iteration."""
        start, stop, stride = (self.builder.settle(each) for each in bounds)
        down = stride.known is not None and stride.known < 0
        if down or step.exits:
            self._run_stepped(step, (start, stop, stride), begin, down=down)
            return
        location = self.builder.location

        def attempt(carried: Carried) -> tuple[Scope, Finish]:
            body = Block(arg_types=[i32, *(each.type for each in carried.values())])
            self._enter(carried, body.args[1:])
            with self.builder.into(body):
                begin(Scalar(i32, body.args[0], natural=start.natural))
                self.run(step.body)
            after = self.variables

            def finish(carried: Carried) -> Operation:
                self._end(body, carried, after)
                lower, upper, by = (self.builder.ssa(each) for each in (start, stop, stride))
                initial = [self.builder.ssa(each) for each in carried.values()]
                self.builder.location = location
                return scf.ForOp(lower, upper, by, initial, body)

            return after, finish

        self._carry(step, self._names(step), attempt)

    def _run_stepped(
        self,
        step: Loop,
        bounds: tuple[Scalar, Scalar, Scalar],
        begin: Callable[[Scalar], None],
        *,
        down: bool,
    ) -> None:
        """A counting loop that counts down, or that a `break` or `return` can leave."""
        start, stop, stride = bounds
        outer = self.variables.get(_COUNTER)
        self.variables[_COUNTER] = Scalar(i32, start.ssa)

        def condition() -> Scalar:
            position = to_scalar(self.variables[_COUNTER])
            return self.builder.compare(">" if down else "<", position, stop)

        def body() -> None:
            position = to_scalar(self.variables[_COUNTER])
            begin(Scalar(i32, position.ssa, natural=start.natural and not down))
            self.run(step.body)
            self.builder.at(step.node)
            self.variables[_COUNTER] = self.builder.binary("+", position, stride)

        self._run_while(step, condition, body, [_COUNTER, *self._names(step)])
        del self.variables[_COUNTER]
        if outer is not None:
            self.variables[_COUNTER] = outer

    def _run_while(
        self,
        step: Loop,
        condition: Callable[[], Scalar],
        body: Callable[[], None],
        names: Sequence[str],
    ) -> None:
        """A loop that goes on while a condition holds."""
        location = self.builder.location

        def attempt(carried: Carried) -> tuple[Scope, Finish]:
            types = [each.type for each in carried.values()]
            first, second = Block(arg_types=types), Block(arg_types=types)
            self._enter(carried, first.args)
            with self.builder.into(first):
                holds = self.builder.ssa(self._goes_on(step, condition))
                self.builder.location = location
                self.builder.add(scf.ConditionOp(holds, *first.args))
            self._enter(carried, second.args)
            with self.builder.into(second):
                body()
            after = self.variables

            def finish(carried: Carried) -> Operation:
                self._end(second, carried, after)
                initial = [self.builder.ssa(each) for each in carried.values()]
                self.builder.location = location
                return scf.WhileOp(initial, types, Region(first), Region(second))

            return after, finish

        self._carry(step, names, attempt)

    def _goes_on(self, step: Loop, condition: Callable[[], Scalar]) -> Scalar:
        """Whether there is another iteration; a `break` leaves the condition uncomputed."""
        if not step.exits:
            return condition()
        clear = self.all_clear(step.exits)
        if isinstance(step.node, ast.For):
            return self.builder.binary("&", clear, condition())
        test = step.node.test
        if isinstance(test, ast.Constant):
            holds = condition()
            return clear if holds.known else holds
        return self.choose(clear, condition, lambda: number(False), test)

    # What loops carry.

    def _names(self, step: Loop) -> list[str]:
        """The names that the loop changes and that have a value before it."""
        changed = dict.fromkeys(assigned([step]))
        return [name for name in changed if isinstance(self.variables.get(name), Scalar)]

    def _carry(self, step: Loop, names: Sequence[str], attempt: Attempt) -> None:
        """Compile the loop with types that fit what it carries, and add it."""
        outer = dict(self.variables)
        line = step.node.lineno
        unclear = self._unclear(step, names, line)
        carried: dict[str, Scalar] = {}
        for name in names:
            before = to_scalar(outer[name])
            if before.type in UNCARRIED:
                unclear[name] = Unset(_changes(name, line))
            else:
                carried[name] = self.builder.settle(before)
        for _ in range(_MOST_ATTEMPTS):
            self.variables = {**outer, **unclear}
            after, finish = attempt(carried)
            self.variables = dict(outer)
            wrong = {
                name: after.get(name)
                for name, before in carried.items()
                if merged_type(before, after.get(name)) != before.type
            }
            if not wrong:
                break
            for name, binding in wrong.items():
                common = merged_type(carried[name], binding)
                if common is None:
                    del carried[name]
                    unclear[name] = (
                        binding if isinstance(binding, Unset) else Unset(_changes(name, line))
                    )
                else:
                    carried[name] = self.builder.convert(carried[name], common)
        else:
            self.builder.refuse("the names that this loop changes have no fixed types", step.node)
        loop = self.builder.add(finish(carried))
        self.variables = {**outer, **self._left(step, outer, after, unclear, line)}
        for name, result in zip(carried, loop.results, strict=True):
            self.variables[name] = Scalar(result.type, result)

    def _unclear(self, step: Loop, names: Sequence[str], line: int) -> dict[str, Binding]:
        """Names that the loop changes and that are no numbers: they differ between iterations."""
        return {
            name: Unset(_changes(name, line))
            for name in assigned([step])
            if name not in names
            and name in self.variables
            and not isinstance(self.variables[name], (Cell, Unset))
        }

    def _left(self, step: Loop, outer: Scope, after: Scope, unclear: Scope, line: int) -> Scope:
        """What names stand for after the loop if it does not carry them."""
        left: Scope = {}
        for name in assigned([step]):
            before = outer.get(name)
            if name in unclear:
                now = after.get(name)
                kept = before is not None and now is not None and same(before, now)
                left[name] = before if kept and before is not None else unclear[name]
            elif before is None or isinstance(before, Unset):
                left[name] = Unset(
                    f"'{name}' gets its value inside of the loop at line {line}, which may have no "
                    "turn; give it a value before the loop"
                )
        return left

    def _enter(self, carried: Carried, arguments: Sequence[SSAValue]) -> None:
        """Begin a part of the loop: carried names stand for its arguments."""
        self.variables = dict(self.variables) if not carried else {**self.variables}
        for name, value in zip(carried, arguments, strict=True):
            self.variables[name] = Scalar(value.type, value)

    def _end(self, body: Block, carried: Carried, after: Scope) -> None:
        """Yield what the next iteration begins with."""
        with self.builder.into(body):
            values = [
                self.builder.ssa(self.builder.convert(to_scalar(after[name]), before.type))
                for name, before in carried.items()
            ]
            self.builder.add(scf.YieldOp(*values))


def _changes(name: str, line: int) -> str:
    return (
        f"'{name}' stands for different things between iterations of the loop at line {line}; "
        "loops change numbers, and elements of arrays"
    )
