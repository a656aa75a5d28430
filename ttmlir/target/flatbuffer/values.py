"""Tensors and devices of programs by the values of the IR that they stand for."""

from __future__ import annotations

from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.reporting.diagnostics import OpError
from ttmlir.schema.packer import LargeVector
from ttmlir.target.flatbuffer.file_kind import FileKind
from ttmlir.target.flatbuffer.tensors import Table, TensorTables


class Values:
    """The `TensorRef` and `DeviceRef` tables of a module, numbered in the order of its text."""

    def __init__(self, kind: FileKind) -> None:
        """Start with number 1; 0 stands for no tensor."""
        self._kind = kind
        self._next_id = 1
        self._tensors: dict[SSAValue, Table] = {}
        self._devices: dict[SSAValue, Table] = {}

    def define(self, value: SSAValue, op: Operation, tables: TensorTables) -> Table:
        """A new tensor for a result of `op` or an argument of the function `op`."""
        try:
            desc = tables.desc(value.type)
        except LayoutError as error:
            raise OpError(op, f"{self._kind.refused}: {error}") from error
        return self.add(value, {"desc": desc})

    def define_constant(
        self,
        value: SSAValue,
        op: Operation,
        tables: TensorTables,
        data: bytes | memoryview | LargeVector,
    ) -> Table:
        """A new tensor for the result of `op`, with these elements in a description of its own."""
        table = self.define(value, op, tables)
        table["desc"] = table["desc"] | {"constant_data": data}
        return table

    def define_result(self, op: DestinationStyleOp, tables: TensorTables) -> Table:
        """The tensor that an operation in destination-passing style writes its result to.

        It is the one of its init, whose memory the operation takes over; a new one if the init is
        an argument or has other uses, which still have to find what it held before.
        """
        return self._define_written(op.output, op.results[0], op, tables)

    def define_results(self, op: Operation, tables: TensorTables) -> list[Table]:
        """The tensors that an operation writes its results to, as `define_result` finds them."""
        if not isinstance(op, DestinationStyleOp) or not op.inits:
            return [self.define(result, op, tables) for result in op.results]
        return [
            self._define_written(init, result, op, tables)
            for init, result in zip(op.inits, op.results, strict=True)
        ]

    def _define_written(
        self, init: SSAValue, result: SSAValue, op: Operation, tables: TensorTables
    ) -> Table:
        if isinstance(init, BlockArgument) or not _has_one_use(init):
            return self.define(result, op, tables)
        table = self._tensors[result] = self.tensor(init)
        return table

    def tensor(self, value: SSAValue) -> Table:
        """The tensor of a value that has been defined, as verified modules have it for operands."""
        return self._tensors[value]

    def define_device(self, value: SSAValue, chip_id: int) -> Table:
        """A device for the result of an operation."""
        table = self._devices[value] = {"global_id": chip_id}
        return table

    def device(self, value: SSAValue) -> Table:
        """The device of a value that has been defined."""
        return self._devices[value]

    def define_at(
        self, value: SSAValue, op: Operation, tables: TensorTables, address: int, size: int
    ) -> Table:
        """A new tensor that lies at an address."""
        table = self.define(value, op, tables)
        table |= {"address": address, "size": size}
        return table

    def alias(self, value: SSAValue, other: SSAValue) -> None:
        """Let the tensor of `other` be that of `value`, too."""
        self._tensors[value] = self._tensors[other]

    def next_id(self) -> int:
        """The next number."""
        number = self._next_id
        self._next_id += 1
        return number

    def add(self, value: SSAValue, ref: Table) -> Table:
        """A new tensor for a value, with these fields and the next number."""
        table = self._tensors[value] = {"global_id": self.next_id(), **ref}
        return table


def _has_one_use(value: SSAValue[Attribute]) -> bool:
    uses = iter(value.uses)
    return next(uses, None) is not None and next(uses, None) is None
