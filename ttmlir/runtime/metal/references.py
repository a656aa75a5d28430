"""What programs of kernels compute, as their files say it: operations on the tensors' numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ttmlir.limits import MAX_RANK
from ttmlir.optable import ROWS
from ttmlir.optable.row import Kind, Parameter, Row
from ttmlir.runtime.element import ELEMENT_TYPES, ElementType
from ttmlir.runtime.errors import BinaryError, UnsupportedError

Shape = tuple[int, ...]
Table = Mapping[str, Any]

_MAX_ROWS = 1 << 16
_MAX_ELEMENTS = 1 << 36


@dataclass(frozen=True)
class ReferenceRow:
    """An operation on values by number, and on constants."""

    mnemonic: str
    operands: tuple[int | float, ...]
    """Integers number the program's operands and the results of the rows before, other numbers are
    constants."""
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    shape: Shape | None = None
    """Of the result; None for that of the operand that it is written to."""
    element: ElementType | None = None

    @property
    def row(self) -> Row:
        """The operation."""
        return ROWS[self.mnemonic]


@dataclass(frozen=True)
class ReferenceOutput:
    """An operand of the program, and the value that it holds in the end."""

    operand: int
    value: int
    shape: Shape | None = None
    """Without padding; None for that of the operand."""
    strides: Shape = ()
    """Where the numbers are among those of the operand, if it has padding."""


@dataclass(frozen=True)
class Reference:
    """What a program computes: rows in order, and where results go. Without rows, it moves."""

    rows: tuple[ReferenceRow, ...]
    outputs: tuple[ReferenceOutput, ...]

    def last_uses(self, count: int) -> dict[int, list[int]]:
        """By the number of a row's result, the values that nothing uses any more behind it.

        `count` is the number of operands; results that no row uses are kept, as are outputs.
        """
        kept = {each.value for each in self.outputs}
        last = {
            value: number
            for number, row in enumerate(self.rows, count)
            for value in row.operands
            if isinstance(value, int) and value not in kept
        }
        ends: dict[int, list[int]] = {}
        for value, number in last.items():
            ends.setdefault(number, []).append(value)
        return ends

    @property
    def title(self) -> str:
        """The operations in a few words."""
        names = [row.mnemonic for row in self.rows]
        if len(names) > _SHOWN:
            return "+".join(names[:_SHOWN]) + f"+{len(names) - _SHOWN} more"
        return "+".join(names) or "move"


_SHOWN = 5


def elementwise_reference(
    mnemonic: str,
    operands: tuple[int | float, ...],
    count: int,
    parameters: Mapping[str, float] | None = None,
) -> Reference:
    """One operation whose result is the last of `count` operands."""
    row = ReferenceRow(mnemonic, operands, parameters or {})
    return Reference((row,), (ReferenceOutput(count - 1, count),))


def read_reference(table: Table | None, operands: int, where: str) -> Reference | None:
    """The reference of a program with so many operands; BinaryError if it does not fit."""
    if table is None:
        return None
    if table["outputs"] is not None:
        return _Reader(operands, where).read(table)
    names: Sequence[str] = table["parameter_names"] or ()
    numbers: Sequence[float] = table["parameter_values"] or ()
    mnemonic = table["mnemonic"] or ""
    _check_mnemonic(mnemonic, where)
    values = _operands(table["operands"] or ())
    if len(names) != len(numbers) or any(
        isinstance(value, int) and value >= operands for value in values
    ):
        raise BinaryError(f"{where}: the reference '{mnemonic}' does not fit the program")
    return elementwise_reference(mnemonic, values, operands, dict(zip(names, numbers, strict=True)))


def _check_mnemonic(mnemonic: str, where: str) -> None:
    if mnemonic not in ROWS:
        raise UnsupportedError(f"{where}: there is no reference for the operation '{mnemonic}'")


def _operands(tables: Sequence[Table]) -> tuple[int | float, ...]:
    return tuple(
        int(each["index"]) if each["index"] >= 0 else float(each["constant"]) for each in tables
    )


class _Reader:
    """Reads the reference of a fused program."""

    def __init__(self, operands: int, where: str) -> None:
        self._operands = operands
        self._where = where

    def read(self, table: Table) -> Reference:
        tables: Sequence[Table] = table["rows"] or ()
        if len(tables) > _MAX_ROWS:
            raise self._error(f"has {len(tables)} rows; at most {_MAX_ROWS} are taken")
        rows = tuple(self._row(each, number) for number, each in enumerate(tables))
        outputs = tuple(self._output(each, len(rows)) for each in table["outputs"])
        if not outputs:
            raise self._error("has no outputs")
        return Reference(rows, outputs)

    def _row(self, table: Table, number: int) -> ReferenceRow:
        mnemonic = table["mnemonic"] or ""
        _check_mnemonic(mnemonic, self._where)
        operands = _operands(table["operands"] or ())
        known = self._operands + number
        if any(isinstance(each, int) and each >= known for each in operands):
            raise self._error(f"uses a value that is not there before row {number}")
        element = ELEMENT_TYPES.get(table["element_type"])
        if element is None:
            raise self._error(f"does not say the element type of row {number}")
        return ReferenceRow(
            mnemonic,
            operands,
            self._parameters(ROWS[mnemonic], table["parameters"] or ()),
            self._shape(table["shape"]),
            element,
        )

    def _output(self, table: Table, rows: int) -> ReferenceOutput:
        operand, value = int(table["operand"]), int(table["value"])
        if operand >= self._operands or value >= self._operands + rows:
            raise self._error("has an output that is not there")
        shape = self._shape(table["shape"])
        strides = tuple(int(each) for each in table["stride"] or ())
        return ReferenceOutput(operand, value, shape, strides)

    def _shape(self, extents: Sequence[int] | None) -> Shape:
        shape = tuple(int(each) for each in extents or ())
        if len(shape) > MAX_RANK or min(shape, default=0) < 0 or math.prod(shape) > _MAX_ELEMENTS:
            raise self._error(f"has the shape {list(shape)}, which no tensor has")
        return shape

    def _parameters(self, row: Row, tables: Sequence[Table]) -> dict[str, Any]:
        declared = {parameter.name: parameter for parameter in row.parameters}
        # Lists that may be left out are arguments of the reference function all the same.
        values: dict[str, Any] = {
            each.name: None for each in row.parameters if each.optional and each.kind.is_list
        }
        for table in tables:
            name = table["name"] or ""
            if name not in declared:
                raise self._error(
                    f"gives '{row.mnemonic}' the parameter '{name}'; it has "
                    f"{', '.join(declared) or 'none'}"
                )
            values[name] = self._parameter(declared[name], table)
        return values

    def _parameter(self, parameter: Parameter, table: Table) -> Any:
        if parameter.kind is Kind.STRING:
            return table["text"] or ""
        numbers: Sequence[float] = table["numbers"] or ()
        read = _NUMBERS.get(parameter.kind, int)
        try:
            values = [read(each) for each in numbers]
        except (ValueError, OverflowError):
            values = []
        if parameter.kind.is_list and len(values) == len(numbers):
            return tuple(values)
        if parameter.kind is Kind.ELEMENTS or len(values) != 1:
            raise self._error(
                f"has a parameter '{parameter.name}' that is no {parameter.kind.value}"
            )
        return values[0]

    def _error(self, what: str) -> BinaryError:
        return BinaryError(f"{self._where}: the reference {what}")


_NUMBERS: dict[Kind, Callable[[float], Any]] = {
    Kind.F32: float,
    Kind.BOOL: bool,
    Kind.DENSE_BOOL: bool,
}
