"""What a `d2m.generic` means, as rows of operations on whole tensors: for `ttrt run --golden`.

    d2m.reference = {
      rows = [{mnemonic = "exp", operands = [0], type = tensor<33x70xf32>}],
      outputs = [{buffer = 1, value = 2, layout = #ttcore.host_layout<...>}]}

The spelling is that of `ttmetal.reference`, read by `ttmlir/target/flatbuffer/ttmetal.py`:
values are numbered, the operands of the generic first (inputs, then outputs), then the results of
the rows; an operand that is a float is a constant. Tensors are those of ttir, filled up to two
dimensions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation

from ttmlir import optable
from ttmlir.dialects.definition.table_ops import ParameterValue, parameter_attr
from ttmlir.dialects.ttcore import HostLayoutAttr

REFERENCE = "d2m.reference"
"""On a generic: what it computes."""
Value = int | float
"""The number of a value, or, as a float, a constant."""
_NO_PARAMETERS = DictionaryAttr({})


@dataclass(frozen=True)
class ReferenceRow:
    """An operation of the table on values by number."""

    mnemonic: str
    operands: tuple[Value, ...]
    type: TensorType[Attribute]
    parameters: DictionaryAttr = _NO_PARAMETERS

    @classmethod
    def of(
        cls,
        mnemonic: str,
        operands: Sequence[Value],
        shape: Sequence[int],
        element: Attribute,
        parameters: Mapping[str, ParameterValue] | None = None,
    ) -> Self:
        """The row, with parameters as Python values."""
        kinds = {each.name: each.kind for each in optable.definition(mnemonic).parameters}
        return cls(
            mnemonic,
            tuple(operands),
            TensorType(element, tuple(shape)),
            DictionaryAttr(
                {
                    name: parameter_attr(value, kinds[name])
                    for name, value in (parameters or {}).items()
                }
            ),
        )

    def renumber(self, values: Mapping[int, int]) -> Self:
        """The row with other numbers for its operands."""
        return replace(self, operands=renumber(self.operands, values))

    @property
    def attr(self) -> DictionaryAttr:
        """The row as it is written."""
        entries: dict[str, Attribute] = {
            "mnemonic": StringAttr(self.mnemonic),
            "operands": ArrayAttr(map(_value_attr, self.operands)),
            "type": self.type,
        }
        if self.parameters.data:
            entries["parameters"] = self.parameters
        return DictionaryAttr(entries)


def renumber(operands: Sequence[Value], values: Mapping[int, int]) -> tuple[Value, ...]:
    """Operands with other numbers; constants stay."""
    return tuple(each if isinstance(each, float) else values[each] for each in operands)


def _value_attr(value: Value) -> Attribute:
    return FloatAttr(value, f64) if isinstance(value, float) else IntegerAttr(value, i64)


@dataclass(frozen=True)
class ReferenceOutput:
    """An output, and the value that it holds in the end."""

    buffer: int
    """The number of the operand."""
    value: int
    layout: HostLayoutAttr
    """Where the numbers of the value are among those of the buffer."""

    @property
    def attr(self) -> DictionaryAttr:
        """The output as it is written."""
        return DictionaryAttr(
            {
                "buffer": IntegerAttr(self.buffer, i64),
                "value": IntegerAttr(self.value, i64),
                "layout": self.layout,
            }
        )


@dataclass(frozen=True)
class Reference:
    """What a generic computes; without rows it moves numbers."""

    rows: tuple[ReferenceRow, ...]
    outputs: tuple[ReferenceOutput, ...]

    @property
    def attr(self) -> DictionaryAttr:
        """The reference as it is written."""
        return DictionaryAttr(
            {
                "rows": ArrayAttr(row.attr for row in self.rows),
                "outputs": ArrayAttr(output.attr for output in self.outputs),
            }
        )

    def insert_input(self, position: int, operands: int) -> Reference:
        """The reference of a generic with a new operand, which no row reads.

        `operands` is the number of operands before.
        """
        count = operands + len(self.rows)
        values = {old: old if old < position else old + 1 for old in range(count)}
        return Reference(
            tuple(row.renumber(values) for row in self.rows),
            tuple(
                replace(each, buffer=values[each.buffer], value=values[each.value])
                for each in self.outputs
            ),
        )


def reference_of(op: Operation) -> Reference | None:
    """The reference of a generic; None if it has none, or one in another form."""
    attr = op.attributes.get(REFERENCE)
    if not isinstance(attr, DictionaryAttr):
        return None
    rows = cast("ArrayAttr[DictionaryAttr]", attr.data.get("rows", ArrayAttr[Attribute]([])))
    outputs = cast("ArrayAttr[DictionaryAttr]", attr.data.get("outputs", ArrayAttr[Attribute]([])))
    try:
        return Reference(tuple(map(_read_row, rows.data)), tuple(map(_read_output, outputs.data)))
    except (KeyError, AttributeError, TypeError):
        return None


def _read_row(attr: DictionaryAttr) -> ReferenceRow:
    operands = cast("ArrayAttr[IntegerAttr | FloatAttr]", attr.data["operands"])
    return ReferenceRow(
        cast("StringAttr", attr.data["mnemonic"]).data,
        tuple(each.value.data for each in operands.data),
        cast("TensorType[Attribute]", attr.data["type"]),
        cast("DictionaryAttr", attr.data.get("parameters", _NO_PARAMETERS)),
    )


def _read_output(attr: DictionaryAttr) -> ReferenceOutput:
    buffer, value = (
        cast("IntegerAttr", attr.data[name]).value.data for name in ("buffer", "value")
    )
    layout = attr.data["layout"]
    if not isinstance(layout, HostLayoutAttr):
        raise TypeError("the layout of an output is that of a buffer of the host")
    return ReferenceOutput(buffer, value, layout)
