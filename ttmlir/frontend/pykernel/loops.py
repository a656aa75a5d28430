"""Loops of a kernel in Python, and the values that they carry from turn to turn.

A name that a loop changes and that has a value before it is an argument of the loop's body, and a
result of the loop. What the body makes of it may have another type than what it begins with, as in
`x = 0; x = x + 0.5`: then the loop is compiled again with the type that holds both.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import scf
from xdsl.dialects.builtin import i32
from xdsl.ir import Block, Operation, Region, SSAValue

from ttmlir.frontend.pykernel.jumps import Loop, assigned
from ttmlir.frontend.pykernel.statements import UNCARRIED, Statements, merged_type, to_scalar
from ttmlir.frontend.pykernel.values import (
    Array,
    Binding,
    Cell,
    Items,
    Scalar,
    Scope,
    Unset,
    Value,
    describe,
    number,
    same,
)

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
            places = (*array.within, self.builder.index(position))
            element: Value = Array(array.ssa, array.type, array.shape, places)
            if len(places) == len(array.shape):
                element = self.read_element(array, places)
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
        """A loop from a start to before a stop; `begin` takes the counter at each turn."""
        start, stop, stride = (self.builder.settle(each) for each in bounds)
        down = stride.known is not None and stride.known < 0
        if down or step.exits:
            self._run_stepped(step, (start, stop, stride), begin, down=down)
            return
        place = self.builder.location

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
                self.builder.location = place
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
        place = self.builder.location

        def attempt(carried: Carried) -> tuple[Scope, Finish]:
            types = [each.type for each in carried.values()]
            first, second = Block(arg_types=types), Block(arg_types=types)
            self._enter(carried, first.args)
            with self.builder.into(first):
                holds = self.builder.ssa(self._goes_on(step, condition))
                self.builder.location = place
                self.builder.add(scf.ConditionOp(holds, *first.args))
            self._enter(carried, second.args)
            with self.builder.into(second):
                body()
            after = self.variables

            def finish(carried: Carried) -> Operation:
                self._end(second, carried, after)
                initial = [self.builder.ssa(each) for each in carried.values()]
                self.builder.location = place
                return scf.WhileOp(initial, types, Region(first), Region(second))

            return after, finish

        self._carry(step, names, attempt)

    def _goes_on(self, step: Loop, condition: Callable[[], Scalar]) -> Scalar:
        """Whether there is another turn; after a `break` the condition is not computed again."""
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
        """Names that the loop changes and that are no numbers: what they are changes by turns."""
        return {
            name: Unset(_changes(name, line))
            for name in assigned([step])
            if name not in names
            and name in self.variables
            and not isinstance(self.variables[name], (Cell, Unset))
        }

    def _left(self, step: Loop, outer: Scope, after: Scope, unclear: Scope, line: int) -> Scope:
        """What names stand for behind the loop if it does not carry them."""
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
        """Yield what the next turn begins with."""
        with self.builder.into(body):
            values = [
                self.builder.ssa(self.builder.convert(to_scalar(after[name]), before.type))
                for name, before in carried.items()
            ]
            self.builder.add(scf.YieldOp(*values))


def _changes(name: str, line: int) -> str:
    return (
        f"'{name}' stands for different things from turn to turn of the loop at line {line}; loops "
        "change numbers, and elements of arrays"
    )
