"""What a core computes on one tile: the body of a `ttir.generic` as calls on registers (DST).

Tiles of the inputs are copied to DST, where the vector unit (SFPU) works on them in steps, and the
last result is packed. A broadcast is a copy that spreads a row, a column or a number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, TensorType
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from ttmlir import optable
from ttmlir.dialects import ttir
from ttmlir.dialects.definition.dps import DestinationStyleOp
from ttmlir.dialects.tt import element_of
from ttmlir.ir.constants import number_of_elements
from ttmlir.ir.tensor_types import is_boolean
from ttmlir.ir.tile_arithmetic import WORKING, format_name, is_float, is_short, steps_of
from ttmlir.layout.element_type import ScalarType
from ttmlir.layout.errors import LayoutError
from ttmlir.mlir.attributes.elements import Elements, splat_bytes
from ttmlir.optable.kernel.tile_calls import Step
from ttmlir.passes.tiles.register_calls import Buffer, Place, RegisterCalls, TileCall

_ARITH: dict[type[Operation], str] = {
    arith.SubfOp: "subtract",
    arith.SubiOp: "subtract",
    arith.DivfOp: "div",
    arith.AddfOp: "add",
    arith.MulfOp: "multiply",
    arith.AddiOp: "add",
    arith.MuliOp: "multiply",
}


# --- Numbers -------------------------------------------------------------------------------------


def element_type(value: SSAValue) -> ScalarType:
    """The element type of a tensor; LayoutError if it cannot be stored."""
    return element_of(cast("TensorType[Attribute]", value.type).element_type).scalar


def operation_of(op: Operation) -> str:
    """The elementwise operation that an operation in a body does; empty if it does none."""
    if isinstance(op, ttir.ElementwiseOp):
        return op.ROW.mnemonic
    return _ARITH.get(type(op), "")


def operands_of(op: Operation) -> Sequence[SSAValue]:
    """What an operation in a body computes with."""
    return op.inputs if isinstance(op, DestinationStyleOp) else tuple(op.operands)


# --- Calls ----------------------------------------------------------------------------------------


@dataclass
class TileProgram:
    """The calls of a body, and the tile of DST that they leave the result in."""

    calls: list[TileCall] = field(default_factory=list[TileCall])
    result: int = 0
    tiles: int = 0
    """Tiles of DST that are in use at once, at most."""
    spreads: bool = False
    """True if a broadcast goes through the matrix unit."""
    is_wide: bool = False
    """True if it computes with 32-bit integers whatever its operands are."""


def conversion(source: ScalarType, target: ScalarType) -> TileProgram:
    """The program that reads tiles of one number format and leaves them in another."""
    formats = (("in_dtype", format_name(source)), ("out_dtype", format_name(target)))
    buffer = Buffer(0)
    copy = TileCall(
        "copy_tile",
        (buffer, Place(buffer), 0),
        init=TileCall("copy_tile_init", (buffer,)),
        unpacks=True,
    )
    cast_ = TileCall("typecast_tile", (0,), formats, TileCall("typecast_tile_init", (), formats))
    return TileProgram([copy, cast_], tiles=1)


class _Registers:
    """Which tiles of DST are in use."""

    def __init__(self):
        self._used: list[bool] = []

    @property
    def most(self) -> int:
        """How many tiles were in use at once."""
        return len(self._used)

    def take(self) -> int:
        """A free tile."""
        slot = self._used.index(False) if False in self._used else len(self._used)
        self._used[slot : slot + 1] = [True]
        return slot

    def free(self, slots: Iterable[int]) -> None:
        """Give tiles back."""
        for slot in slots:
            self._used[slot] = False


class TileCompiler:
    """Turns a body into calls, operation by operation."""

    def __init__(self, generic: ttir.GenericOp):
        """Compile the body of an operation."""
        self._generic = generic
        elements = map(element_type, generic.body.block.args)
        self._program = TileProgram(is_wide=any(map(is_short, elements)))
        self._calls = RegisterCalls(self._program.calls)
        self._registers = _Registers()
        self._slots: dict[SSAValue, int] = {}
        self._last: Buffer | None = None

    def compile(self) -> TileProgram:
        """The program; LayoutError for what the vector unit does not compute."""
        *ops, end = self._generic.body.block.ops
        for op in ops:
            if not isinstance(op, ttir.ConstantOp):
                self._compute(op)
        (result,) = end.operands
        if result not in self._slots:
            raise LayoutError("has a body that yields what it does not compute")
        self._program.result = self._slots[result]
        self._program.tiles = self._registers.most
        return self._program

    def _compute(self, op: Operation) -> None:
        mnemonic, operands = operation_of(op), operands_of(op)
        if not mnemonic:
            raise LayoutError(
                f"has {op.name} in its body; bodies consist of elementwise operations of ttir, "
                f"{', '.join(sorted(cls.name for cls in _ARITH))} and ttir.constant"
            )
        element = element_type(operands[-1])
        target = element_type(op.results[0])
        steps = () if mnemonic == "typecast" else steps_of(mnemonic, element)
        element = WORKING if is_short(element) else element
        slots = [
            self._materialize(value, element, is_truth=mnemonic == "where" and value is operands[0])
            for value in operands
        ]
        while len(slots) <= max((slot for step in steps for slot in step.slots), default=0):
            slots.append(self._registers.take())
        for step in steps:
            self._calls.compute(step, slots, element, target, _parameters(op, step))
        has_truths = optable.row(mnemonic).gives_truth
        if not (has_truths and is_float(element) and is_float(target)):
            self._calls.convert(slots[0], element, target, has_truths=has_truths)
        self._registers.free(slots[1:])
        self._slots[op.results[0]] = slots[0]

    # --- Operands --------------------------------------------------------------------------------

    def _materialize(self, value: SSAValue, wanted: ScalarType, *, is_truth: bool) -> int:
        """A tile of DST with a value, which may be written over."""
        owner = value.owner
        if value in self._slots and value.has_one_use():
            slot = self._slots.pop(value)
        else:
            slot = self._registers.take()
            if isinstance(owner, ttir.ConstantOp):
                self._calls.fill(slot, _number(owner, wanted), wanted)
                return slot
            if isinstance(value, BlockArgument):
                self._load(slot, value)
            else:
                self._calls.call("copy_dest_values", (self._slots[value], slot))
        element = element_type(value)
        if is_short(element):
            self._calls.widen(slot, element)
            element = WORKING
        if is_float(element) != is_float(wanted) and element.keyword != "i1":
            self._calls.convert(slot, element, ScalarType("i1") if is_truth else wanted)
        return slot

    def _load(self, slot: int, value: BlockArgument[Attribute]) -> None:
        """Copy a tile of an input to DST, or spread its first row, column or number over one."""
        buffer = Buffer(value.index)
        spread = self._spread(value)
        operands = (buffer, Place(buffer), slot)
        if spread:
            templates = (("bcast_type", spread),)
            output = Buffer(self._generic.output_argument.index)
            init = TileCall("unary_bcast_init", (buffer, output), templates)
            call = TileCall("unary_bcast", operands, templates, init, unpacks=True)
            self._program.spreads = True
        else:
            call = TileCall("copy_tile", operands, (), self._copy_init(buffer), unpacks=True)
        self._last = buffer
        self._program.calls.append(call)

    def _copy_init(self, buffer: Buffer) -> TileCall:
        """What prepares a copy: one call for all inputs if they have one format."""
        formats = {element_type(value).data_type for value in self._generic.inputs}
        if len(formats) == 1:
            return TileCall("copy_tile_init", (Buffer(0),))
        last = self._last or buffer
        return TileCall("copy_tile_to_dst_init_short_with_dt", (last, buffer))

    def _spread(self, value: SSAValue) -> str:
        """How the matrix unit spreads an input, as a `BroadcastType`; empty if it is whole."""
        shape, whole = (
            cast("TensorType[Attribute]", v.type).get_shape()
            for v in (value, self._generic.output_argument)
        )
        rows, columns = (here < there for here, there in zip(shape, whole, strict=True))
        return {(0, 0): "", (1, 0): "ROW", (0, 1): "COL", (1, 1): "SCALAR"}[rows, columns]


def _number(op: ttir.ConstantOp, wanted: ScalarType) -> float:
    """The one value of a constant."""
    elements = cast("Elements", op.value)
    if splat_bytes(elements) is None:
        raise LayoutError("has a constant of several values in its body; let it be an operand")
    number = number_of_elements(elements)
    if number is None:
        raise LayoutError("has a complex constant; kernels compute with real numbers")
    return number if is_float(wanted) or is_boolean(elements.get_element_type()) else int(number)


def _parameters(op: Operation, step: Step) -> dict[str, float]:
    """The parameters of an operation that a step takes."""
    return {name: _parameter(op, name) for name in step.scalars if isinstance(name, str)}


def _parameter(op: Operation, name: str) -> float:
    attr = op.properties[name]
    assert isinstance(attr, FloatAttr | IntegerAttr), "verified: parameters are numbers"
    return cast("FloatAttr[AnyFloat] | IntegerAttr", attr).value.data
