"""Making kernels, call by call: the regions of a `ttmetal.dispatch`, or functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import (
    FloatAttr,
    IndexType,
    IntegerAttr,
    LocationAttr,
    StringAttr,
    f32,
    i1,
    i32,
)
from xdsl.ir import Attribute, Block, Region, SSAValue

from ttmlir.dialects.ttkernel import (
    RESULT_TYPES,
    CBType,
    L1AddrPtrType,
    ThreadTypeAttr,
    op_class,
)
from ttmlir.ir.op_builder import OpBuilder
from ttmlir.ir.rewriting import erase_unused
from ttmlir.layout.enums import ThreadType
from ttmlir.optable.kernel import CALLS

_WITHOUT_EFFECT = ("arith.", "ttkernel.my_logical_")
"""What may be left out where nothing uses it."""

Carried = Sequence[SSAValue]
"""The values that a loop hands from one turn to the next."""
Number = SSAValue | int
"""A 32-bit integer, which may be known."""

_RESULTS = {call.mnemonic: RESULT_TYPES[call.result[1]] for call in CALLS if call.result}


class KernelBuilder(OpBuilder):
    """The code of one kernel, written call by call.

    Equal constants are one value. They stand at the top: those that are asked for before the first
    call in that order, later ones each before all others. MLIR's greedy rewriter leaves them so.
    """

    def __init__(self, location: LocationAttr, buffers: Sequence[CBType] = ()):
        """Begin a kernel whose arguments are circular buffers."""
        self._entry = Block(arg_types=buffers)
        super().__init__(self._entry, location)
        self._constants: dict[Attribute, SSAValue] = {}

    @property
    def buffers(self) -> Sequence[SSAValue]:
        """The arguments."""
        return self._entry.args

    def constant(self, value: float) -> SSAValue:
        """A 32-bit number: an integer or a floating-point number."""
        attr = IntegerAttr(value, i32) if isinstance(value, int) else FloatAttr(value, f32)
        known = self._constants.get(attr)
        if known is not None:
            return known
        op = arith.ConstantOp.create(
            properties={"value": attr}, result_types=[attr.type], location=self.location
        )
        first = self._entry.first_op
        if first is None or isinstance(self._entry.last_op, arith.ConstantOp):
            self._entry.add_op(op)
        else:
            self._entry.insert_op_before(op, first)
        self._constants[attr] = op.results[0]
        return op.results[0]

    def value(self, number: SSAValue | float) -> SSAValue:
        """A number as a value."""
        return number if isinstance(number, SSAValue) else self.constant(number)

    def call(
        self, mnemonic: str, *operands: SSAValue | float, **templates: str | bool | int
    ) -> Sequence[SSAValue]:
        """Make the call `ttkernel.<mnemonic>`; numbers become constants. Its results."""
        result = _RESULTS.get(mnemonic)
        values = list(map(self.value, operands))
        op = op_class(mnemonic).create(
            operands=values,
            result_types=[] if result is None else [result],
            properties={name: _template(value) for name, value in templates.items()},
            location=self.location,
        )
        self.insert(op)
        return op.results

    def variables(self, count: int) -> Variables:
        """New variables, which hold nothing yet."""
        op = memref.AllocaOp.get(i32, shape=[count])
        op.location = self.location
        self.insert(op)
        return Variables(self, op.memref)

    def pointer(self, address: SSAValue | int, width: int = 32) -> SSAValue:
        """A pointer to integers of so many bits at an address of this core's L1."""
        value = address if isinstance(address, SSAValue) else self.constant(address)
        op = op_class("reinterpret_cast").create(
            operands=[value], result_types=[L1AddrPtrType.get(width)], location=self.location
        )
        self.insert(op)
        return op.results[0]

    def add(self, lhs: Number, rhs: Number) -> Number:
        """The sum of two numbers."""
        if isinstance(lhs, int):
            lhs, rhs = rhs, lhs
        if isinstance(lhs, int) and isinstance(rhs, int):
            return lhs + rhs
        return lhs if rhs == 0 else self.arithmetic(arith.AddiOp, lhs, rhs)

    def multiply(self, lhs: Number, factor: int) -> Number:
        """The product of a number and one that is known."""
        if isinstance(lhs, int) or factor in (0, 1):
            return lhs if factor == 1 else factor * (0 if isinstance(lhs, SSAValue) else lhs)
        return self.arithmetic(arith.MuliOp, lhs, factor)

    def arithmetic(
        self, kind: type[arith.SignlessIntegerBinaryOperation], lhs: Number, rhs: Number
    ) -> SSAValue:
        """An operation on two 32-bit integers."""
        op = kind(self.value(lhs), self.value(rhs))
        op.location = self.location
        self.insert(op)
        return op.result

    def compare(self, predicate: str, lhs: Number, rhs: Number) -> SSAValue:
        """Whether a comparison of two 32-bit integers holds: `eq`, `ne`, `slt` and so on."""
        op = arith.CmpiOp(self.value(lhs), self.value(rhs), predicate)
        op.location = self.location
        self.insert(op)
        return op.result

    def choose(self, condition: SSAValue, first: Number, second: Number) -> SSAValue:
        """The first number if a condition holds, else the second."""
        op = arith.SelectOp(condition, self.value(first), self.value(second))
        op.location = self.location
        self.insert(op)
        return op.result

    def branch(
        self,
        condition: SSAValue,
        then: Callable[[], None],
        otherwise: Callable[[], None] | None = None,
    ) -> None:
        """Do one thing if a condition holds, another one if not."""
        outer = self.block
        blocks: list[Block] = []
        for body in (then, otherwise):
            self.block = Block()
            if body is not None:
                body()
                end = scf.YieldOp()
                end.location = self.location
                self.block.add_op(end)
            blocks.append(self.block)
        self.block = outer
        second = Region() if otherwise is None else Region(blocks[1])
        op = scf.IfOp(condition, [], Region(blocks[0]), second)
        op.location = self.location
        self.insert(op)

    def count(self, extent: Number, body: Callable[[SSAValue], object]) -> None:
        """Do `body` for each number below `extent`."""

        def turn(number: SSAValue, _: Carried) -> Carried:
            body(number)
            return ()

        self._for(extent, (), turn)

    def loop(self, extent: int, start: Carried, body: Callable[[Carried], Carried]) -> Carried:
        """Do `body` so many times, each time with what it returned before; what it returns last."""
        return self._for(extent, start, lambda _, carried: body(carried))

    def _for(
        self, extent: Number, start: Carried, body: Callable[[SSAValue, Carried], Carried]
    ) -> Carried:
        lower, upper, step = map(self.value, (0, extent, 1))
        inner = Block(arg_types=[i32, *(value.type for value in start)])
        outer, self.block = self.block, inner
        end = scf.YieldOp(*body(inner.args[0], inner.args[1:]))
        end.location = self.location
        inner.add_op(end)
        self.block = outer
        loop = scf.ForOp(lower, upper, step, list(start), inner)
        loop.location = self.location
        outer.add_op(loop)
        return loop.results

    def walk(
        self,
        extents: Sequence[int],
        strides: Sequence[Sequence[int]],
        start: Carried,
        body: Callable[[Carried], None],
    ) -> None:
        """Loops over a block, outermost dimension first, with running numbers.

        Each number grows by its stride along a dimension from one turn to the next.
        """

        def run(depth: int, numbers: Carried) -> Carried:
            if depth == len(extents):
                body(numbers)
                return numbers
            # The loop inside has gone some of the way already.
            inside = depth + 1 < len(extents)
            gone = [extents[depth + 1] * each[depth + 1] if inside else 0 for each in strides]
            steps = [each[depth] - done for each, done in zip(strides, gone, strict=True)]

            def turn(before: Carried) -> Carried:
                after = run(depth + 1, before)
                sums = (self.add(number, step) for number, step in zip(after, steps, strict=True))
                return list(map(self.value, sums))

            return self.loop(extents[depth], numbers, turn)

        run(0, start)

    def finish(self) -> Region:
        """End the kernel; the region that holds it."""
        self.call("return")
        return Region(self._entry)

    def finish_function(self, name: str, thread: ThreadType) -> func.FuncOp:
        """End the kernel; the private function that holds it."""
        end = func.ReturnOp()
        end.location = self.location
        self.insert(end)
        erase_unused(op for op in self._entry.walk() if op.name.startswith(_WITHOUT_EFFECT))
        types = list(self._entry.arg_types)
        function = func.FuncOp(name, (types, []), Region(self._entry), visibility="private")
        function.attributes["ttkernel.thread"] = ThreadTypeAttr(thread)
        function.location = self.location
        return function


class Variables:
    """32-bit integers of a kernel that change in loops and branches."""

    def __init__(self, kernel: KernelBuilder, array: SSAValue) -> None:
        """Those in a local array."""
        self._kernel = kernel
        self._array = array

    def load(self, number: int) -> SSAValue:
        """What a variable holds."""
        op = memref.LoadOp.get(self._array, [self._place(number)])
        op.location = self._kernel.location
        return self._kernel.insert(op).res

    def store(self, number: int, value: Number) -> None:
        """Let a variable hold a number."""
        kernel = self._kernel
        op = memref.StoreOp.get(kernel.value(value), self._array, [self._place(number)])
        op.location = kernel.location
        kernel.insert(op)

    def _place(self, number: int) -> SSAValue:
        op = arith.ConstantOp.from_int_and_width(number, IndexType())
        op.location = self._kernel.location
        return self._kernel.insert(op).result


def _template(value: str | bool | int) -> Attribute:
    if isinstance(value, str):
        return StringAttr(value)
    return IntegerAttr(int(value), i1 if isinstance(value, bool) else i32)
