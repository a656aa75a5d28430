"""Statements of a kernel in Python: names, branches, loops."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Mapping, Sequence

from xdsl.dialects import memref, scf
from xdsl.dialects.builtin import StringAttr, f32, i1, i32
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.dialects.emitc import VerbatimOp
from ttmlir.dialects.ttkernel import RESULT_TYPES, op_class
from ttmlir.frontend.pykernel.expressions import PRINT_TEXTS, Expressions, common_type
from ttmlir.frontend.pykernel.jumps import (
    RESULT,
    Branch,
    Loop,
    Plain,
    SetFlag,
    SetResult,
    Step,
)
from ttmlir.frontend.pykernel.values import (
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
from ttmlir.optable.kernel import ValueKind

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
        """Let a name stand for a value; an annotated one keeps its place in memory."""
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
                place = self.indices(holder, index, target)
                if len(place.within) < len(place.shape):
                    self.builder.refuse("only single elements can be assigned to", target)
                self.store_element(place, place.within, value)
            case Scalar(type=type_) if type_ == _L1_POINTER:
                offset = self.integer(index)
                self.builder.at(target)
                self.calls.row("store_to_l1", value, holder, offset)
            case Items():
                self.builder.refuse(
                    "tuples and lists of the module cannot change in a kernel; copy them into an "
                    "array: a = [0] * 4",
                    target,
                )
            case _:
                self.builder.refuse(f"{describe(holder)} has no elements", target)

    def _annotated(self, node: ast.AnnAssign) -> None:
        """`x: int = 1`, a place in memory; `a: [int, 2, 3] = 0`, an array."""
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

    def _fill(self, array: Array, value: Scalar, places: tuple[SSAValue, ...]) -> None:
        """Set all elements."""
        dimension = len(places)
        if dimension == len(array.shape):
            self.store_element(array, places, value)
            return
        builder = self.builder
        bounds = [builder.index(number(each)) for each in (0, array.shape[dimension], 1)]
        body = Block(arg_types=[bounds[0].type])
        with builder.into(body):
            self._fill(array, value, (*places, body.args[0]))
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
        truth, place = self.builder.ssa(condition), self.builder.location
        before = dict(self.variables)
        blocks, scopes = (Block(), Block()), list[Scope]()
        for block, steps in zip(blocks, (step.then, step.otherwise), strict=True):
            self.variables = dict(before)
            with self.builder.into(block):
                self.run(steps)
            scopes.append(self.variables)
        self.builder.location = place
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
    """Why a name has no value behind an `if`."""
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
