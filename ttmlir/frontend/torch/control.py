"""Control flow of torch: `torch.cond`, and the loops `while_loop`, `scan` and `map`.

Bodies become private functions, which `ttir.while` and `ttir.case` call. Of small branches, both
are computed. What is known while compiling, such as weights, stays a constant of each body.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard

from xdsl.dialects.builtin import TensorType, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.dialects import ttir
from ttmlir.frontend.torch.building import BodyBuilder
from ttmlir.frontend.torch.call import Known, Number
from ttmlir.frontend.torch.elements import tensor_type
from ttmlir.ir.tensor_types import element_type, value_shape

MAX_CHOSEN_OPERATIONS = 16
"""Most operations of two branches that are both computed."""

Body = Callable[[BodyBuilder, Sequence[Any]], Sequence[SSAValue]]
"""Adds what a function computes of its arguments."""


class Walker(Protocol):
    """What reads the operations of a graph."""

    def walk(self, graph: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[Any]:
        """The results of a graph of torch, whose operations are added to a body."""
        ...


@dataclass
class ControlFlow:
    """Makes functions of graphs that are called by others."""

    walker: Walker
    functions: list[FuncOp] = field(default_factory=list[FuncOp])

    def call(self, node: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """The results of an operation of `OPERATIONS` with its resolved arguments."""
        return OPERATIONS[node.target.name()](self, arguments, build)

    def cond(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`cond(predicate, on_true, on_false, operands)`."""
        predicate, on_true, on_false, operands = arguments
        if isinstance(predicate, Known):
            predicate = bool(predicate.tensor)
        if not _is_value(predicate):
            return self._inline(on_true if predicate else on_false, operands, build)
        if _size(on_true) + _size(on_false) <= MAX_CHOSEN_OPERATIONS:
            pairs = zip(
                *(self._inline(g, operands, build) for g in (on_true, on_false)), strict=True
            )
            return [_choose(build, predicate, *pair) for pair in pairs]
        given = _Given(operands, build)
        branches = [
            self._function("branch", self._calls(graph, given), given.values, build)
            for graph in (on_false, on_true)
        ]
        results = branches[0].function_type.outputs.data
        names = [branch.sym_name.data for branch in branches]
        case = ttir.CaseOp.make(predicate, given.values, results, names, location=build.location)
        return list(build.insert(case).results)

    def while_loop(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`while_loop(condition, body, carried, others)`."""
        condition, body, carried, others = arguments
        given = _Given([*_values(carried, build), *others], build)
        functions = [
            self._function(kind, self._calls(graph, given), given.values, build)
            for kind, graph in (("body", body), ("condition", condition))
        ]
        loop = ttir.WhileOp.make(
            given.values,
            functions[0].function_type.outputs.data,
            functions[0].sym_name.data,
            condition=functions[1].sym_name.data,
            location=build.location,
        )
        return list(build.insert(loop).results)

    def scan(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`scan(combine, carried, rows, others)`: rows are those of the first dimension."""
        combine, carried, rows, others = arguments
        return self._over_rows(combine, carried, rows, others, build)

    def map(self, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        """`map(function, rows, others)`."""
        function, rows, others = arguments
        return self._over_rows(function, [], rows, others, build)

    def _over_rows(
        self,
        graph: Any,
        carried: Sequence[Any],
        rows: Sequence[Any],
        others: Sequence[Any],
        build: BodyBuilder,
    ) -> list[SSAValue]:
        """A counted loop over rows: what is carried at its end, then the stacked results."""
        first, stacked = _values(carried, build), _values(rows, build)
        [length] = {value_shape(value)[0] for value in stacked}
        given = _Given(others, build)
        counter = build.create_splat(0, TensorType(i32, ()))
        types = _result_types(graph)[len(first) :]
        stacks = [
            build.create_splat(0, TensorType(type_.element_type, (length, *type_.get_shape())))
            for type_ in types
        ]
        count = 1 + len(first) + len(stacks)
        operands = [counter, *first, *stacks, *stacked, *given.values]

        def turn(inner: BodyBuilder, arguments: Sequence[Any]) -> Sequence[SSAValue]:
            number, state = arguments[0], arguments[1 : 1 + len(first)]
            sources = arguments[count : count + len(stacked)]
            found = [_row(inner, source, number) for source in sources]
            passed = [*state, *found, *given.restore(arguments[count + len(stacked) :])]
            results = self._inline(graph, passed, inner)
            written = [
                _write_row(inner, stack, result, number)
                for stack, result in zip(
                    arguments[1 + len(first) : count], results[len(first) :], strict=True
                )
            ]
            one = inner.create_splat(1, TensorType(i32, ()))
            return [inner.compute("add", number, one), *results[: len(first)], *written]

        body = self._function("body", turn, operands, build)
        loop = ttir.WhileOp.make(
            operands,
            body.function_type.outputs.data,
            body.sym_name.data,
            trip_count=length,
            location=build.location,
        )
        results: list[SSAValue] = [*build.insert(loop).results]
        return results[1:]

    # -- functions -----------------------------------------------------------------------------

    def _calls(self, graph: Any, given: _Given) -> Body:
        return lambda build, arguments: self._inline(graph, given.restore(arguments), build)

    def _inline(self, graph: Any, arguments: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
        return _values(self.walker.walk(graph, arguments, build), build)

    def _function(
        self, kind: str, body: Body, operands: Sequence[SSAValue], build: BodyBuilder
    ) -> FuncOp:
        """A private function of the operands."""
        block = Block(arg_types=[value.type for value in operands])
        inner = BodyBuilder(block)
        inner.location = build.location
        results = body(inner, block.args)
        inner.location = build.location
        inner.finish(results)
        types = [value.type for value in operands], [value.type for value in results]
        name = f"main_{kind}{len(self.functions)}"
        function = FuncOp(name, types, Region(block), visibility="private")
        function.location = build.location
        self.functions.append(function)
        return function


class _Given:
    """Arguments of a graph, of which those that are not known are passed to a function."""

    def __init__(self, arguments: Sequence[Any], build: BodyBuilder) -> None:
        """Divide the arguments; numbers that the program computes are made."""
        self._arguments = [
            each.create(build) if isinstance(each, Number) else each for each in arguments
        ]
        self.values: list[SSAValue] = [each for each in self._arguments if _is_value(each)]

    def restore(self, passed: Sequence[Any]) -> list[Any]:
        """All arguments, with the values that are passed in their places.

        What is known becomes a constant of each function.
        """
        rest = iter(passed)
        return [
            next(rest)
            if _is_value(each)
            else Known(each.tensor)
            if isinstance(each, Known)
            else each
            for each in self._arguments
        ]


def _is_value(argument: Any) -> TypeGuard[SSAValue]:
    return isinstance(argument, SSAValue)


def _values(given: Sequence[Any], build: BodyBuilder) -> list[SSAValue]:
    return [value.create(build) if isinstance(value, Known) else value for value in given]


def _result_types(graph: Any) -> list[TensorType[Attribute]]:
    """The types of what a graph returns."""
    [output] = (node for node in graph.graph.nodes if node.op == "output")
    return [tensor_type(each.meta["val"]) for each in output.args[0]]


def _size(graph: Any) -> int:
    """The operations of a graph; one that calls others is never small."""
    nodes = list(graph.graph.nodes)
    if any(
        node.op == "get_attr" and hasattr(getattr(graph, node.target), "graph") for node in nodes
    ):
        return MAX_CHOSEN_OPERATIONS + 1
    return sum(node.op == "call_function" for node in nodes)


def _choose(
    build: BodyBuilder, predicate: SSAValue, on_true: SSAValue, on_false: SSAValue
) -> SSAValue:
    if on_true is on_false:
        return on_true
    rank = len(value_shape(on_true))
    shaped = build.reshape(predicate, (1,) * rank)
    return build.compute("where", shaped, on_true, on_false)


def _row(build: BodyBuilder, source: SSAValue, number: SSAValue) -> SSAValue:
    shape = value_shape(source)
    begins = _begins(build, number, len(shape))
    row = build.create_inferred("slice_dynamic", source, begins, sizes=(1, *shape[1:]))
    return build.reshape(row, shape[1:])


def _write_row(build: BodyBuilder, stack: SSAValue, row: SSAValue, number: SSAValue) -> SSAValue:
    shape = value_shape(stack)
    part = build.reshape(row, (1, *shape[1:]))
    return build.create_inferred("slice_write", stack, part, _begins(build, number, len(shape)))


def _begins(build: BodyBuilder, number: SSAValue, rank: int) -> SSAValue:
    first = build.reshape(number, (1,))
    zeros = [build.create_number_of_rank(0, element_type(number), 1)] * (rank - 1)
    return build.concat([first, *zeros], 0)


OPERATIONS: Mapping[str, Callable[[ControlFlow, Sequence[Any], BodyBuilder], list[SSAValue]]] = {
    "cond": ControlFlow.cond,
    "map_impl": ControlFlow.map,
    "scan": ControlFlow.scan,
    "while_loop": ControlFlow.while_loop,
}
"""Control flow by torch's names."""
