"""Loops and branches of ttnn in C++: statements of the host around calls of functions.

A counted loop is a `for`, one that ends by data a `while` that reads back what its condition gives,
a branch an `if` for each function but the last. Carried values are variables. These rules are part
of `convert-ttnn-to-emitc`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable

from ttmlir.dialects import emitc, ttnn
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.dialects.tt import element_of
from ttmlir.layout.enums import DataType

_UNSET = emitc.EmitC_OpaqueAttr(StringAttr(""))
_CPP_TYPES = {
    DataType.F32: "float",
    DataType.BF16: "bfloat16",
    DataType.U32: "uint32_t",
    DataType.U16: "uint16_t",
    DataType.U8: "uint8_t",
}
"""What an element of a tensor is for the host."""


def convert_while(
    op: ttnn.WhileOp, operands: Sequence[SSAValue], block: Block, tensor: Attribute
) -> Sequence[SSAValue]:
    """Add the statements of a loop to a block; the variables with its results."""
    writer = _Writer(op, block)
    count = len(op.results)
    carried = [writer.declare(value, tensor) for value in operands[:count]]
    arguments = [*carried, *operands[count:]]
    if op.trip_count is None:
        assert op.condition is not None, "verified: a loop has an end"
        writer.say("while (true) {")
        [asked] = writer.call(op.condition, arguments, [tensor])
        kind = _condition_type(op)
        over = writer.ask(f"{_item(kind)} == 0; }}", asked, i1)
        writer.branch(over, [emitc.VerbatimOp.make("break", location=op.location)])
        writer.assign(carried, writer.call(op.body, arguments, [tensor] * count))
        writer.say("}")
    else:
        bounds = [writer.number(number) for number in (0, op.trip_count, 1)]
        inside = Block(arg_types=[IndexType()])
        iteration = _Writer(op, inside)
        iteration.assign(carried, iteration.call(op.body, arguments, [tensor] * count))
        iteration.end()
        writer.add(
            emitc.ForOp.create(operands=bounds, regions=[Region(inside)], location=op.location)
        )
    return carried


def convert_case(
    op: ttnn.CaseOp, operands: Sequence[SSAValue], block: Block, tensor: Attribute
) -> Sequence[SSAValue]:
    """Add the statements of a branch to a block; the variables with its results."""
    writer = _Writer(op, block)
    results = [writer.declare(None, tensor) for _ in op.results]
    kind = _cpp_type(op.operands[0].type)
    number = writer.ask(f"{_item(kind, 'int32_t')}; }}", operands[0], i32)
    _choose(writer, number, op.callees(), 0, operands[1:], results)
    return results


def callees_first(functions: Sequence[FuncOp]) -> list[FuncOp]:
    """Functions in the order in which C++ has to define them: what is called comes before."""
    by_name = {op.sym_name.data: op for op in functions}
    ordered: dict[str, FuncOp] = {}
    pending = [(op.sym_name.data, False) for op in reversed(functions)]
    entered: set[str] = set()
    while pending:
        name, is_done = pending.pop()
        if is_done:
            ordered[name] = by_name[name]
        elif name in by_name and name not in entered:
            entered.add(name)
            pending.append((name, True))
            pending.extend((each, False) for each in reversed(_calls(by_name[name])))
    return list(ordered.values())


def _calls(function: FuncOp) -> list[str]:
    return [name for op in function.walk() if isinstance(op, ControlOp) for name in op.callees()]


def _choose(
    writer: _Writer,
    number: SSAValue,
    names: Sequence[str],
    first: int,
    operands: Sequence[SSAValue],
    results: Sequence[SSAValue],
) -> None:
    """The call of the branch that `number` says, of those from `first` on."""
    types = [value.type for value in results]
    if first == len(names) - 1:
        writer.assign(results, writer.call(names[first], operands, types))
        return
    is_meant = writer.compare(number, first)
    blocks = [Block(), Block()]
    then, otherwise = (_Writer(writer.source, block) for block in blocks)
    then.assign(results, then.call(names[first], operands, types))
    _choose(otherwise, number, names, first + 1, operands, results)
    for each in (then, otherwise):
        each.end()
    writer.add(
        emitc.IfOp.create(
            operands=[is_meant],
            regions=[Region(block) for block in blocks],
            location=writer.source.location,
        )
    )


def _condition_type(op: ttnn.WhileOp) -> str:
    function = SymbolTable.lookup_symbol(op, SymbolRefAttr(op.condition or ""))
    assert function is not None, "verified: the condition is a function"
    return _cpp_type(cast("FunctionType", function.properties["function_type"]).outputs.data[0])


def _cpp_type(type_: Attribute) -> str:
    element = element_of(cast("TensorType[Attribute]", type_).element_type)
    return _CPP_TYPES.get(element.data_type, "float")


def _item(kind: str, target: str = "float") -> str:
    """The start of a function that reads the one element of a tensor on the host."""
    return f"[](const ttnn::Tensor &tensor) {{ return static_cast<{target}>(tensor.item<{kind}>())"


class _Writer:
    """Adds statements to a block, all for one operation of ttnn."""

    def __init__(self, source: Operation, block: Block) -> None:
        """Add to `block` what `source` becomes."""
        self.source = source
        self._block = block

    def add(self, op: Operation) -> Sequence[SSAValue]:
        """A statement, and its results."""
        self._block.add_op(op)
        return op.results

    def say(self, text: str) -> None:
        """A line of text."""
        self.add(emitc.VerbatimOp.make(text, location=self.source.location))

    def end(self) -> None:
        """The end of the body of a statement."""
        self.add(emitc.YieldOp.create(location=self.source.location))

    def declare(self, value: SSAValue | None, type_: Attribute) -> SSAValue:
        """A variable that begins with a value."""
        op = emitc.VariableOp.make(_UNSET, type_, location=self.source.location)
        [variable] = self.add(op)
        if value is not None:
            self.assign([variable], [value])
        return variable

    def assign(self, variables: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Give variables their values."""
        for pair in zip(variables, values, strict=True):
            self.add(emitc.AssignOp.create(operands=pair, location=self.source.location))

    def number(self, number: int) -> SSAValue:
        """A number that counts."""
        value = IntegerAttr.from_index_int_value(number)
        op = emitc.ConstantOp.make(value, IndexType(), location=self.source.location)
        return self.add(op)[0]

    def call(
        self, name: str, operands: Sequence[SSAValue], types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """The results of a function."""
        op = CallOp(name, operands, types)
        op.location = self.source.location
        return self.add(op)

    def ask(self, function: str, value: SSAValue, type_: Attribute) -> SSAValue:
        """What a function that is written out makes of a tensor."""
        op = emitc.CallOpaqueOp.make(function, [value], [type_], location=self.source.location)
        return self.add(op)[0]

    def compare(self, value: SSAValue, number: int) -> SSAValue:
        """Whether an integer is a number."""
        constant = emitc.ConstantOp.make(
            IntegerAttr(number, i32), i32, location=self.source.location
        )
        [other] = self.add(constant)
        op = emitc.CmpOp.create(
            operands=[value, other],
            result_types=[i1],
            properties={"predicate": IntegerAttr(emitc.CmpOp.PREDICATES.index("eq"), i64)},
            location=self.source.location,
        )
        return self.add(op)[0]

    def branch(self, condition: SSAValue, ops: Sequence[Operation]) -> None:
        """Statements that are done if a condition holds."""
        inside = Block([*ops, emitc.YieldOp.create(location=self.source.location)])
        self.add(
            emitc.IfOp.create(
                operands=[condition],
                regions=[Region(inside), Region()],
                location=self.source.location,
            )
        )
