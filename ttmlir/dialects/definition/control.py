"""Loops and branches that ttir and ttnn share: they call functions of the module.

A loop keeps its body as a function, which is called once for each iteration; a branch is a
function, too. Functions take the carried values first, then those that no iteration changes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    LocationAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.traits import SymbolTable

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    ODSOperation,
    Property,
    Signature,
    ValueGroup,
    properties,
    refuse,
)
from ttmlir.mlir.printing import show_attribute

_RESULTS = (ValueGroup("results", variadic=True),)


class ControlOp(ODSOperation):
    """An operation that calls functions of the module."""

    def callees(self) -> tuple[str, ...]:
        """The functions that are called, by name."""
        raise NotImplementedError

    @property
    def passed(self) -> Sequence[SSAValue]:
        """The operands that are passed to the functions."""
        return self.operands

    def check_function(self, name: str, results: Sequence[Attribute], what: str) -> None:
        """Refuse a function that is not there, or that takes or returns something else."""
        function = SymbolTable.lookup_symbol(self, SymbolRefAttr(name))
        type_ = None if function is None else function.properties.get("function_type")
        if not isinstance(type_, FunctionType):
            refuse(f"{what} @{name} is no function of the module")
        given = [value.type for value in self.passed]
        _compare(f"{what} @{name} takes", type_.inputs.data, given)
        _compare(f"{what} @{name} returns", type_.outputs.data, results)


class WhileOp(ControlOp):
    """A loop: the results of `body` are what the next iteration, or the end, carries.

    The first operands, as many as there are results, are carried; the others are the same in all
    iterations. There are `trip_count` iterations, or as many as `condition`, which is asked before
    each of them, answers with a number other than 0. If both are given, `trip_count` holds.

    C1: `trip_count` or `condition` is given. C2: no more results than operands, of the types of
    the first operands. C3: `body` and `condition` are functions that take the operands; the body
    returns what is carried, the condition one element.
    """

    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", variadic=True),),
        _RESULTS,
        (
            Property("body", ods.FLAT_SYMBOL),
            Property("condition", ods.FLAT_SYMBOL, optional=True),
            Property("trip_count", ods.I64, optional=True),
        ),
    )

    @classmethod
    def make(
        cls,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: str,
        *,
        condition: str | None = None,
        trip_count: int | None = None,
        location: LocationAttr,
    ) -> Self:
        """Make the operation."""
        properties: dict[str, Attribute] = {"body": SymbolRefAttr(body)}
        if condition is not None:
            properties["condition"] = SymbolRefAttr(condition)
        if trip_count is not None:
            properties["trip_count"] = IntegerAttr(trip_count, 64)
        return cls.create(
            operands=operands, result_types=result_types, properties=properties, location=location
        )

    @property
    def body(self) -> str:
        """The function of an iteration."""
        return _symbol(self.properties["body"])

    @property
    def condition(self) -> str | None:
        """The function that says whether there is another iteration; None for a counted loop."""
        attr = self.properties.get("condition")
        return None if attr is None or self.trip_count is not None else _symbol(attr)

    @property
    def trip_count(self) -> int | None:
        """The number of iterations; None if the condition says it."""
        attr = self.properties.get("trip_count")
        return None if attr is None else cast("IntegerAttr", attr).value.data

    @property
    def carried(self) -> Sequence[SSAValue]:
        """The operands that iterations replace."""
        return self.operands[: len(self.results)]

    @property
    def shared(self) -> Sequence[SSAValue]:
        """The operands that are the same in all iterations."""
        return self.operands[len(self.results) :]

    def callees(self) -> tuple[str, ...]:
        """Body, then condition."""
        return (self.body,) if self.condition is None else (self.body, self.condition)

    def verify_op(self) -> None:
        """Check C1 to C3."""
        count = self.trip_count
        if count is None and self.condition is None:
            refuse("has no end: give it a 'trip_count' or a 'condition'")
        if count is not None and count < 0:
            refuse(f"has a trip_count of {count}; it is 0 or more")
        results = [result.type for result in self.results]
        _compare("carries", results, [value.type for value in self.carried])
        self.check_function(self.body, results, "body")
        if self.condition is not None:
            self._check_condition(self.condition)

    def _check_condition(self, name: str) -> None:
        function = SymbolTable.lookup_symbol(self, SymbolRefAttr(name))
        type_ = None if function is None else function.properties.get("function_type")
        outputs = type_.outputs.data if isinstance(type_, FunctionType) else ()
        self.check_function(name, outputs, "condition")
        if len(outputs) != 1 or _volume(outputs[0]) != 1:
            refuse(f"condition @{name} returns {_spell(outputs)}; it returns a tensor of 1 element")


class CaseOp(ControlOp):
    """A branch: calls the function whose number `index` is, or the last one if there is none.

    The functions take the other operands and return the results. Truth values choose the second
    of two functions where they are true.

    C1: there is at least one function. C2: `index` has one element. C3: all functions take the
    other operands and return the results.
    """

    SIGNATURE: ClassVar = Signature(
        (ValueGroup("index"), ValueGroup("inputs", variadic=True)),
        _RESULTS,
        properties(branches=ods.array_attr("", ods.FLAT_SYMBOL.storage)),
    )

    @classmethod
    def make(
        cls,
        index: SSAValue,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        branches: Sequence[str],
        *,
        location: LocationAttr,
    ) -> Self:
        """Make the operation."""
        return cls.create(
            operands=[index, *operands],
            result_types=result_types,
            properties={"branches": ArrayAttr([SymbolRefAttr(name) for name in branches])},
            location=location,
        )

    @property
    def passed(self) -> Sequence[SSAValue]:
        """All operands but the index."""
        return self.operands[1:]

    def callees(self) -> tuple[str, ...]:
        """The branches."""
        return tuple(map(_symbol, cast("ArrayAttr[Attribute]", self.properties["branches"])))

    def verify_op(self) -> None:
        """Check C1 to C3."""
        names = self.callees()
        if not names:
            refuse("has no branches; give it one or more functions")
        if _volume(self.operands[0].type) != 1:
            refuse(
                f"its index is of type {show_attribute(self.operands[0].type)}; it has 1 element"
            )
        for name in names:
            self.check_function(name, [result.type for result in self.results], "branch")


def control_ops_in(root: Operation) -> Iterator[ControlOp]:
    """The loops and branches anywhere inside an operation."""
    return (op for op in root.walk() if isinstance(op, ControlOp))


def _symbol(attr: Attribute) -> str:
    return cast("SymbolRefAttr", attr).root_reference.data


def _volume(type_: Attribute) -> int:
    return math.prod(cast("TensorType[Attribute]", type_).get_shape())


def _compare(what: str, expected: Sequence[Attribute], given: Sequence[Attribute]) -> None:
    if list(expected) != list(given):
        refuse(f"{what} {_spell(expected)}, but the operation has {_spell(given)}")


def _spell(types: Sequence[Attribute]) -> str:
    return ", ".join(map(show_attribute, types)) or "nothing"
