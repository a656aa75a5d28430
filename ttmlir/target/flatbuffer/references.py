"""What fused programs compute, as `Reference` tables: for `ttrt run --golden`.

The attribute of a program on memrefs is a list of rows, operations in order:

    ttmetal.reference = {
      rows = [{mnemonic = "exp", operands = [0], type = tensor<33x70xbf16>},
              {mnemonic = "sum", operands = [2], parameters = {dim_arg = [1 : i32],
               keep_dim = true}, type = tensor<33x1xbf16>}],
      outputs = [{buffer = 1, value = 3, layout = #ttcore.host_layout<...>}]}

Values are numbered: the program's buffers, then the results of the rows. An operand is such a
number or, as a float, a constant. `mnemonic` and `parameters` are those of the reference function
in the table of operations (`ttmlir.optable`), `type` is the result without padding. An output says
which value a buffer holds in the end, and with `layout` where its numbers are among those of the
buffer, row by row; without, there is no padding. Without rows, a program moves numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Operation

from ttmlir.dialects.definition.names import REFERENCE
from ttmlir.dialects.tt import element_of
from ttmlir.dialects.ttcore import HostLayoutAttr
from ttmlir.layout.element_type import SCHEMA_NAMES
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.target.flatbuffer.commands import reference_operand
from ttmlir.target.flatbuffer.tensors import Table

_Integers = Sequence[IntegerAttr]


def fused_reference(op: Operation, attr: DictionaryAttr, num_buffers: int) -> Table:
    """The `Reference` of a program on memrefs; OpError for an attribute that does not fit it."""
    reader = _FusedReference(op, num_buffers)
    return reader.read(attr)


class _FusedReference:
    """Reads the attribute of one operation."""

    def __init__(self, op: Operation, num_buffers: int) -> None:
        self._op = op
        self._num_buffers = num_buffers
        self._types: list[TensorType[Attribute]] = []

    def read(self, attr: DictionaryAttr) -> Table:
        self._known(attr, "rows", "outputs")
        rows = [self._row(each) for each in self._tables(attr, "rows")]
        outputs = [self._output(each) for each in self._tables(attr, "outputs")]
        if not outputs:
            raise self._error("has no outputs")
        return {"rows": rows, "outputs": outputs}

    def _row(self, attr: DictionaryAttr) -> Table:
        self._known(attr, "mnemonic", "operands", "parameters", "type")
        mnemonic, type_ = attr.data.get("mnemonic"), attr.data.get("type")
        operands = attr.data.get("operands")
        if not (
            isinstance(mnemonic, StringAttr)
            and isinstance(type_, TensorType)
            and isinstance(operands, ArrayAttr)
        ):
            raise self._error("has a row without mnemonic, operands and type of a tensor")
        for each in cast("ArrayAttr[Attribute]", operands):
            if isinstance(each, IntegerAttr):
                self._check_value(cast("IntegerAttr", each).value.data)
            elif not isinstance(each, FloatAttr):
                raise self._error(f"has the operand '{each}', which is no number")
        tensor = cast("TensorType[Attribute]", type_)
        parameters = attr.data.get("parameters", DictionaryAttr({}))
        if not isinstance(parameters, DictionaryAttr):
            raise self._error("has parameters that are no dictionary")
        if not tensor.has_static_shape():
            raise self._error(f"has a result of type '{tensor}'; give its extents numbers")
        table: Table = {
            "mnemonic": mnemonic.data,
            "operands": [
                reference_operand(each) for each in cast("ArrayAttr[Attribute]", operands)
            ],
            "parameters": [
                {"name": name, **self._parameter(name, value)}
                for name, value in parameters.data.items()
            ],
            "shape": tensor.get_shape(),
            "element_type": SCHEMA_NAMES[element_of(tensor.element_type).scalar.keyword],
        }
        self._types.append(tensor)
        return table

    def _output(self, attr: DictionaryAttr) -> Table:
        self._known(attr, "buffer", "value", "type", "layout")
        buffer, number = (self._number(attr, name) for name in ("buffer", "value"))
        if not 0 <= buffer < self._num_buffers:
            raise self._error(f"writes buffer {buffer}; the program has {self._num_buffers}")
        self._check_value(number)
        layout, type_ = attr.data.get("layout"), attr.data.get("type")
        if number >= self._num_buffers and type_ is None:
            type_ = self._types[number - self._num_buffers]
        if isinstance(layout, HostLayoutAttr):
            shape, stride = layout.data.logical_shape, layout.data.strides
        elif isinstance(type_, TensorType):
            shape = tuple(cast("TensorType[Attribute]", type_).get_shape())
            stride = tuple(math.prod(shape[index + 1 :]) for index in range(len(shape)))
        else:
            raise self._error("has an output without layout or type; give it one of them")
        return {
            "operand": buffer,
            "value": number,
            "shape": shape,
            "stride": stride,
        }

    def _number(self, attr: DictionaryAttr, name: str) -> int:
        number = attr.data.get(name)
        if not isinstance(number, IntegerAttr):
            raise self._error(f"has an output without the number of its {name}")
        return cast("IntegerAttr", number).value.data

    def _check_value(self, number: int) -> None:
        count = self._num_buffers + len(self._types)
        if not 0 <= number < count:
            raise self._error(f"uses value {number} where there are {count}")

    def _parameter(self, name: str, attr: Attribute) -> Table:
        match attr:
            case StringAttr():
                return {"text": attr.data}
            case IntegerAttr() | FloatAttr():
                return {"numbers": [cast("IntegerAttr", attr).value.data]}
            case DenseArrayBase():
                return {"numbers": [*cast("DenseArrayBase[IntegerType]", attr).iter_values()]}
            case ArrayAttr():
                items = attr.data
                if all(isinstance(each, IntegerAttr) for each in items):
                    return {"numbers": [each.value.data for each in cast("_Integers", items)]}
            case _:
                pass
        raise self._error(
            f"has parameter '{name}' of form '{attr}'; supported are numbers, lists "
            "of integers, and texts"
        )

    def _tables(self, attr: DictionaryAttr, name: str) -> list[DictionaryAttr]:
        items = attr.data.get(name, ArrayAttr[Attribute]([]))
        if isinstance(items, ArrayAttr):
            tables = cast("ArrayAttr[Attribute]", items).data
            if all(isinstance(each, DictionaryAttr) for each in tables):
                return cast("list[DictionaryAttr]", list(tables))
        raise self._error(f"has '{name}' that are no list of dictionaries")

    def _known(self, attr: DictionaryAttr, *names: str) -> None:
        for name in attr.data:
            if name not in names:
                raise self._error(f"has '{name}'; known are {', '.join(names)}")

    def _error(self, what: str) -> OpError:
        return OpError(self._op, f"'{REFERENCE}' {what}")
