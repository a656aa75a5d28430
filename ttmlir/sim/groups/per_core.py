"""Whole numbers that differ from core to core, as kernels compute with them."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from typing import Any, NoReturn


class DisagreementError(Exception):
    """A kernel asks for one number where the cores of its group have several.

    `numbers` are those of the cores: cores with equal numbers may go on together. If they are the
    truth of a comparison, `compared` are what was compared.
    """

    def __init__(self, numbers: Sequence[int], compared: Sequence[int] = ()) -> None:
        """Tell what each core has."""
        super().__init__("the cores of a group disagree")
        self.numbers = tuple(numbers)
        self.compared = tuple(compared)


_Operator = Callable[[Any, Any], Any]
_python: Any = operator
"""Of unknown types, as some of its functions have none."""


def _apply(function: _Operator, left: Any, right: Any) -> Any:
    if not isinstance(right, PerCore):
        if not isinstance(right, int):
            return NotImplemented
        return PerCore(list(map(function, left.numbers, repeat(right))))
    if not isinstance(left, PerCore):
        return PerCore(list(map(function, repeat(left), right.numbers)))
    return PerCore(list(map(function, left.numbers, right.numbers)))


def _compare(function: _Operator) -> _Operator:
    def call(self: PerCore, other: Any) -> Any:
        found = _apply(function, self, other)
        if isinstance(other, int):
            found.compared = self.numbers
        return found

    return call


def _operate(function: _Operator) -> tuple[_Operator, _Operator]:
    """The method for an operator, and the one for its right operand."""

    def call(self: PerCore, other: Any) -> Any:
        return _apply(function, other, self) if isinstance(other, int) else NotImplemented

    return lambda self, other: _apply(function, self, other), call


class PerCore:
    """A number for each core of a group; operators work core by core, with Python's integers."""

    __slots__ = ("compared", "numbers")

    def __init__(self, numbers: Sequence[int]) -> None:
        """The numbers in the order of the cores."""
        self.numbers = numbers
        self.compared: Sequence[int] = ()
        """Those that were compared with one number, of which these are the truth."""

    def __index__(self) -> int:
        """The number of all cores; DisagreementError if they differ."""
        first = self.numbers[0]
        if any(each != first for each in self.numbers):
            raise DisagreementError(self.numbers)
        return int(first)

    __int__ = __index__

    def __bool__(self) -> bool:
        """Whether it is true on all cores; DisagreementError if on some only."""
        truths = [bool(each) for each in self.numbers]
        if True in truths and False in truths:
            raise DisagreementError(truths, self.compared)
        return truths[0]

    def __hash__(self) -> NoReturn:
        """Refuse: it is not one number."""
        raise DisagreementError(self.numbers)

    def __neg__(self) -> PerCore:
        """Negated."""
        return PerCore([-each for each in self.numbers])

    def __invert__(self) -> PerCore:
        """All bits inverted."""
        return PerCore([~each for each in self.numbers])

    def __abs__(self) -> PerCore:
        """Magnitudes."""
        return PerCore([abs(each) for each in self.numbers])

    __eq__, __ne__ = _compare(_python.eq), _compare(_python.ne)
    __lt__, __le__ = _compare(_python.lt), _compare(_python.le)
    __gt__, __ge__ = _compare(_python.gt), _compare(_python.ge)
    __add__, __radd__ = _operate(_python.add)
    __sub__, __rsub__ = _operate(_python.sub)
    __mul__, __rmul__ = _operate(_python.mul)
    __floordiv__, __rfloordiv__ = _operate(_python.floordiv)
    __mod__, __rmod__ = _operate(_python.mod)
    __lshift__, __rlshift__ = _operate(_python.lshift)
    __rshift__, __rrshift__ = _operate(_python.rshift)
    __and__, __rand__ = _operate(_python.and_)
    __or__, __ror__ = _operate(_python.or_)
    __xor__, __rxor__ = _operate(_python.xor)


class PerCoreRange:
    """A range whose bounds differ from core to core, but not how many numbers it has."""

    __slots__ = ("_ranges",)

    def __init__(self, ranges: Sequence[range]) -> None:
        """Of the ranges of the cores; DisagreementError if they have not equally many numbers."""
        lengths = [len(each) for each in ranges]
        if lengths.count(lengths[0]) != len(lengths):
            raise DisagreementError(lengths)
        self._ranges = ranges

    def __len__(self) -> int:
        """How many numbers each core goes through."""
        return len(self._ranges[0])

    def __iter__(self) -> Iterator[PerCore]:
        """The numbers."""
        return map(PerCore, zip(*self._ranges, strict=True))


def range_per_core(*bounds: int | PerCore) -> range | PerCoreRange:
    """`range` with bounds that may differ from core to core."""
    counts = [len(each.numbers) for each in bounds if isinstance(each, PerCore)]
    if not counts:
        return range(*bounds)  # pyright: ignore[reportArgumentType]
    columns = [each.numbers if isinstance(each, PerCore) else [each] * counts[0] for each in bounds]
    return PerCoreRange([range(*each) for each in zip(*columns, strict=True)])
