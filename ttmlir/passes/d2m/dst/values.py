"""Ways to compute a tile of DST: the nodes of a body's expression, and the calls of each.

A node reads tiles of DST, its operands, and leaves a tile. Calls on the vector unit work on tiles
of DST alone; those of the matrix unit take tiles of circular buffers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ttmlir.ir.kernel_builder import WORKING, Buffer, RegisterCalls, TileCall, bits_of, is_short
from ttmlir.layout.data_format import ScalarType
from ttmlir.optable.kernel import CALLS, KernelCall
from ttmlir.optable.kernel.tile_calls import Step
from ttmlir.passes.d2m.dst.code import Call, Format, Index, Needs, Preparation, Setting

_CALLS = {call.mnemonic: call for call in CALLS}


@dataclass(frozen=True)
class Source:
    """A tile of a circular buffer that a body reads."""

    operand: int
    """Which operand of the body it is."""
    buffer: Buffer
    format: Format


Locate = Callable[[Source], Index]
"""Where in its circular buffer the tile in hand is."""


@dataclass(eq=False, kw_only=True)
class Value:
    """A tile that is computed.

    Operands are read from DST; the result takes the place of the first, or with `is_placed` any.
    """

    operands: tuple[Value, ...] = ()
    clobbers: frozenset[int] = frozenset()
    """The operands that are written over."""
    is_placed: bool = False
    """True if the result may be put anywhere; so it is with what reads no tile of DST."""
    temporaries: int = 0
    """Tiles that are needed besides operands and result, while it is computed."""
    needs_zeros: bool = False
    """True if the call adds to the tile: it has to be one that nothing was written to."""

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """The calls; `slots` are the tiles of the operands, then temporary ones."""
        raise NotImplementedError


@dataclass(eq=False, kw_only=True)
class Held(Value):
    """The accumulator, which is in DST before."""

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """None."""
        return []


@dataclass(eq=False, kw_only=True)
class Copied(Value):
    """A copy of a tile of DST."""

    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call of the vector unit."""
        calls = RegisterCalls()
        calls.call("copy_dest_values", (slots[0], result))
        return on_registers(calls)


@dataclass(eq=False, kw_only=True)
class Loaded(Value):
    """A tile of a circular buffer."""

    source: Source
    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """A copy."""
        return [copy_tile(self.source, locate(self.source), result)]


def copy_tile(source: Source, place: Index, slot: int) -> Call:
    """The call that copies a tile of a circular buffer to DST."""
    buffer = source.buffer
    prepared = Preparation(("copy_tile", source.format), TileCall("copy_tile_init", (buffer,)))
    needs = {Setting.SOURCE_A: source.format, Setting.MATRIX: prepared}
    return Call("copy_tile", (buffer, place, Index(offset=slot)), needs=needs)


@dataclass(eq=False, kw_only=True)
class Spread(Value):
    """A row, a column or a number of a tile of a circular buffer, all over a tile."""

    source: Source
    part: str
    """As a `BroadcastType`."""
    output: Format
    """Of what the kernel packs next: the call that prepares sets the packer, too."""
    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """A copy that spreads."""
        buffer, templates = self.source.buffer, (("bcast_type", self.part),)
        prepared = Preparation(
            ("unary_bcast", self.part, self.source.format, self.output),
            TileCall("unary_bcast_init", (buffer, self.output.buffer), templates),
            (
                (Setting.SOURCE_A, self.source.format),
                (Setting.SOURCE_B, self.source.format),
                (Setting.PACKER, self.output),
                (Setting.MASK, ""),
            ),
        )
        operands = (buffer, locate(self.source), Index(offset=result))
        return [Call("unary_bcast", operands, templates, {Setting.MATRIX: prepared})]


@dataclass(eq=False, kw_only=True)
class Transposed(Value):
    """A tile of a circular buffer with rows and columns exchanged."""

    source: Source
    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """A copy that transposes."""
        buffer = self.source.buffer
        prepared = Preparation(
            ("transpose_wh_tile", self.source.format),
            TileCall("transpose_wh_init_short", (buffer,)),
        )
        needs = {Setting.SOURCE_A: self.source.format, Setting.MATRIX: prepared}
        operands = (buffer, locate(self.source), Index(offset=result))
        return [Call("transpose_wh_tile", operands, needs=needs)]


@dataclass(eq=False, kw_only=True)
class Filled(Value):
    """A tile of one number."""

    number: float
    element: ScalarType
    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call."""
        calls = RegisterCalls()
        calls.fill(result, self.number, self.element)
        return on_registers(calls)


@dataclass(eq=False, kw_only=True)
class MatrixPair(Value):
    """A sum, difference or product of tiles of two circular buffers, on the matrix unit."""

    word: str
    """add, sub or mul."""
    left: Source
    right: Source
    part: str = ""
    """What of the right tile is spread: rows, cols or scalar; empty: it is taken whole."""
    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call."""
        name = f"{self.word}_tiles_bcast_{self.part}" if self.part else f"{self.word}_tiles"
        buffers = (self.left.buffer, self.right.buffer)
        prepared = Preparation(
            (name, self.left.format, self.right.format), TileCall(_CALLS[name].init, buffers)
        )
        needs = {
            Setting.SOURCE_A: self.left.format,
            Setting.SOURCE_B: self.right.format,
            Setting.MATRIX: prepared,
        }
        places = (locate(self.left), locate(self.right), Index(offset=result))
        return [Call(name, (*buffers, *places), needs=needs)]


_BINARY_TYPES = {"add": "ELWADD", "sub": "ELWSUB", "mul": "ELWMUL"}


@dataclass(eq=False, kw_only=True)
class MatrixReuse(Value):
    """A sum, difference or product of a tile of DST and one of a circular buffer."""

    word: str
    source: Source
    is_first: bool
    """True if the tile of DST is the first operand."""
    clobbers: frozenset[int] = frozenset({0})

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call of the matrix unit."""
        templates = (
            ("eltwise_binary_type", _BINARY_TYPES[self.word]),
            ("reuse_type", "DEST_TO_SRCA" if self.is_first else "DEST_TO_SRCB"),
        )
        buffer, format_ = self.source.buffer, self.source.format
        prepared = Preparation(
            ("binary_dest_reuse_tiles", templates, format_),
            TileCall("binary_dest_reuse_tiles_init", (buffer,), templates),
        )
        needs = {
            Setting.SOURCE_A: format_,
            Setting.SOURCE_B: format_,
            Setting.MATRIX: prepared,
        }
        operands = (buffer, locate(self.source), Index(offset=result))
        return [Call("binary_dest_reuse_tiles", operands, templates, needs)]


@dataclass(eq=False, kw_only=True)
class WithNumber(Value):
    """A call on a tile and a number, such as `add_unary_tile`."""

    call: str
    number: float
    clobbers: frozenset[int] = frozenset({0})

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call of the vector unit."""
        calls = RegisterCalls()
        calls.call(self.call, (result, bits_of(self.number)))
        return on_registers(calls)


@dataclass(eq=False, kw_only=True)
class Computed(Value):
    """The steps of a row on the vector unit."""

    steps: Sequence[Step]
    element: ScalarType
    target: ScalarType
    parameters: Mapping[str, float] = field(default_factory=dict[str, float])

    @classmethod
    def of(
        cls,
        steps: Sequence[Step],
        operands: Sequence[Value],
        element: ScalarType,
        target: ScalarType,
        parameters: Mapping[str, float],
    ) -> Computed:
        """The steps on these operands, with what they do to the tiles of DST."""
        count = len(operands)
        most = max((slot for step in steps for slot in step.slots), default=0)
        is_placed = len(steps) == 1 and _writes_apart(steps[0])
        written = frozenset(_written(step) for step in steps)
        return cls(
            operands=tuple(operands),
            clobbers=frozenset() if is_placed else frozenset(n for n in written if n < count),
            is_placed=is_placed,
            temporaries=max(most + 1 - count, 0),
            steps=steps,
            element=element,
            target=target,
            parameters=parameters,
        )

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """The steps."""
        calls = RegisterCalls()
        for step in self.steps:
            if self.is_placed:
                places = [slots[slot] for slot in step.slots[:-1]]
                step = Step(
                    call=step.call,
                    slots=tuple(range(len(step.slots))),
                    scalars=step.scalars,
                    templates=step.templates,
                )
                slots_of_step: Sequence[int] = [*places, result]
            else:
                slots_of_step = slots
            calls.compute(step, slots_of_step, self.element, self.target, self.parameters)
        return on_registers(calls)


def _writes_apart(step: Step) -> bool:
    """True if the result of a step has an operand of its own, the last one on tiles."""
    tiles = call_of(step).tiles
    return tiles is not None and tiles.to not in tiles.dst and len(step.slots) > len(tiles.dst)


def _written(step: Step) -> int:
    """The slot that a step writes to."""
    row = call_of(step)
    if row.tiles is None:
        return step.slots[0]
    names = [name for name, _ in row.operands]
    return step.slots[names.index(row.tiles.to)]


def call_of(step: Step) -> KernelCall:
    """The row of a step's call."""
    return _CALLS[step.call]


@dataclass(eq=False, kw_only=True)
class Converted(Value):
    """A tile in another number format."""

    source: ScalarType
    target: ScalarType
    clobbers: frozenset[int] = frozenset({0})

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """The calls of the vector unit, if any."""
        return on_registers(conversion_calls(result, self.source, self.target))


def conversion_calls(slot: int, source: ScalarType, target: ScalarType) -> RegisterCalls:
    """What converts a tile from one element type to another; short integers by 32 bits."""
    calls = RegisterCalls()
    if source == target:
        return calls
    if is_short(source):
        calls.widen(slot, source)
        source = WORKING
    calls.convert(slot, source, target)
    return calls


def on_registers(calls: RegisterCalls) -> list[Call]:
    """Calls on DST alone, with their need of the vector unit."""
    written: list[Call] = []
    for call in calls.calls:
        needs: Needs = {} if call.init is None else {Setting.VECTOR: call.init}
        operands = tuple(
            Index(offset=each) if isinstance(each, int) else each
            for each in call.operands
            if isinstance(each, int | float)
        )
        written.append(Call(call.mnemonic, operands, call.templates, needs))
    return written
