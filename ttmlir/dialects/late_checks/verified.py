"""An operation of 2026 as its verifier reads it: parts by their names."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from xdsl.dialects.builtin import DYNAMIC_INDEX, AnyFloat, IntegerType
from xdsl.ir import Attribute, SSAValue

from ttmlir.dialects.definition.ods import ODSOperation, refuse, text
from ttmlir.dialects.definition.table_ops import parameters_in, shape_of, tensor_type
from ttmlir.optable.op_definition import Parameter

Shape = tuple[int, ...]


class Verified:
    """The parts of an operation in the form of 2026."""

    def __init__(self, op: ODSOperation, parameters: Iterable[Parameter]) -> None:
        """Read an operation whose properties were checked against these parameters."""
        self.op = op
        self._parameters = tuple(parameters)

    @cached_property
    def _values(self) -> dict[str, Any]:
        return parameters_in(self.op.properties, self._parameters)

    def get(self, name: str, default: Any = None) -> Any:
        """A parameter in Python: a number, a text, a tuple or an attribute."""
        return self._values.get(name, default)

    def integer(self, name: str, default: int = 0) -> int:
        """A parameter that is a number."""
        return self._values.get(name, default)

    def integers(self, name: str) -> tuple[int, ...]:
        """A parameter that is a list of numbers; an empty one if it is not there."""
        return self._values.get(name, ())

    def group(self, name: str) -> tuple[SSAValue, ...]:
        """The operands of a group."""
        return self.op.group(name)

    def has(self, name: str) -> bool:
        """True where an optional operand is there."""
        return name in self.op.form().operand_index and bool(self.op.group(name))

    def value(self, name: str) -> SSAValue:
        """An operand that is there."""
        return self.op.group(name)[0]

    def shape(self, name: str) -> Shape:
        """The extents of an operand."""
        return shape_of(self.value(name))

    def rank(self, name: str) -> int:
        """The number of dimensions of an operand."""
        return len(self.shape(name))

    def element(self, name: str) -> Attribute:
        """The element type of an operand."""
        return tensor_type(self.value(name)).element_type

    def result(self, number: int = 0) -> Shape:
        """The extents of a result."""
        return shape_of(self.op.results[number])

    def result_element(self, number: int = 0) -> Attribute:
        """The element type of a result."""
        return tensor_type(self.op.results[number]).element_type

    def require_rank(self, name: str, rank: int, message: str) -> None:
        """Refuse an operand of another number of dimensions."""
        require(self.rank(name) == rank, message)


def require(condition: bool, message: str) -> None:
    """Refuse the operation unless a condition holds."""
    if not condition:
        refuse(message)


def is_float(element: Attribute) -> bool:
    """True for floating point."""
    return isinstance(element, AnyFloat)


def is_integer(element: Attribute) -> bool:
    """True for integers, with a sign or without."""
    return isinstance(element, IntegerType)


def join(extents: Sequence[int], separator: str = ", ") -> str:
    """Extents as the messages show them; a dynamic one as the number that stands for it."""
    return separator.join(map(_number, extents))


def _number(extent: int) -> str:
    return str(-(1 << 63)) if extent == DYNAMIC_INDEX else str(extent)


def spell(element: Attribute) -> str:
    """A type in a message."""
    return f"'{text(element)}'"
