"""Programs on tiles of DST: the nodes of a body's expression, their calls, and their slots.

A node reads tiles of DST, its operands, and leaves a tile. Calls on the vector unit work on tiles
of DST alone; those of the matrix unit take tiles of circular buffers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum, auto

from xdsl.ir import SSAValue

from ttmlir.ir.kernel_builder import (
    WORKING,
    Buffer,
    KernelBuilder,
    RegisterCalls,
    TileCall,
    bits_of,
    is_short,
)
from ttmlir.layout.data_format import ScalarType
from ttmlir.layout.enums import DataType
from ttmlir.optable.kernel import CALLS, KernelCall
from ttmlir.optable.kernel.tile_calls import Step

# --- Calls ----------------------------------------------------------------------------------------
# The code of a compute kernel before it is written: calls, loops, and what calls need set up.
#
# A call says how the units that it uses have to be set: formats of the unpackers and of the packer,
# what the matrix and the vector unit are prepared for. `prepare` puts the calls there that set it,
# in front of loops where nothing in the loop needs it otherwise.


class Setting(Enum):
    """What a call depends on, and others change."""

    SOURCE_A = auto()
    """Format of what is unpacked to SrcA."""
    SOURCE_B = auto()
    MATRIX = auto()
    """What unpackers and matrix unit are prepared for: a `Preparation`."""
    VECTOR = auto()
    """What the vector unit is prepared for: a call."""
    PACKER = auto()
    """Format of what is packed."""
    MASK = auto()
    """The part of a tile that the packer keeps; empty: all."""
    ADDS = auto()
    """True if packed tiles are added to what is in L1."""


@dataclass(frozen=True)
class Format:
    """The number format of a circular buffer; equal to that of another one of the same format."""

    data_type: DataType
    buffer: Buffer = field(compare=False)
    goes_to_dst: bool = False
    """Of an unpacker: tiles go to DST with all of 32 bits, and not by the sources' 19."""


@dataclass(frozen=True)
class Preparation:
    """A call that prepares the matrix unit; two are equal if either does for both."""

    key: tuple[object, ...]
    call: TileCall = field(compare=False)
    sets: tuple[tuple[Setting, object], ...] = ()
    """What else it sets."""


Needs = Mapping[Setting, object]


@dataclass(frozen=True)
class Index:
    """An integer of the code: a running number of the loops around it plus a constant."""

    number: int | None = None
    """Which of the numbers of the innermost loops; None: the constant alone."""
    offset: int = 0

    def __add__(self, distance: int) -> Index:
        """So much further on."""
        return Index(self.number, self.offset + distance)


@dataclass(frozen=True)
class Call:
    """A call of a kernel."""

    mnemonic: str
    operands: tuple[Buffer | Index | float, ...] = ()
    templates: tuple[tuple[str, str | bool], ...] = ()
    needs: Needs = field(default_factory=dict[Setting, object])


@dataclass(frozen=True)
class Nest:
    """Loops in each other, outermost first; in its body, numbers are those of the nest."""

    extents: tuple[int, ...]
    starts: tuple[Index, ...]
    """Where each number begins, said with those of the loops around."""
    strides: tuple[tuple[int, ...], ...]
    """How much each number grows from iteration to iteration of each loop."""
    body: Code


Code = Sequence[Call | Nest]
State = dict[Setting, object]


# --- Ways to DST ----------------------------------------------------------------------------------

_COPIES = ("copy_tile", "unary_bcast", "transpose_wh_tile")
"""Calls that unpack whole tiles to DST."""
_READS_NOTHING = ("cb_", "pack_", "copy_")


def is_copied_only(users: Collection[str]) -> bool:
    """Whether calls with a circular buffer unpack its tiles to DST, and nothing else does."""
    others = {
        user
        for user in users
        if not user.startswith(_READS_NOTHING) and "init" not in user and "reconfig" not in user
    }
    return not others.difference(("compute_kernel_hw_startup", *_COPIES)) and any(
        user in _COPIES for user in users
    )


def users_of(code: Code, found: dict[Buffer, set[str]]) -> None:
    """Add the calls that each buffer is an operand of."""
    for node in code:
        if isinstance(node, Nest):
            users_of(node.body, found)
            continue
        for operand in node.operands:
            if isinstance(operand, Buffer):
                found.setdefault(operand, set()).add(node.mnemonic)


def mark_ways(code: Code, to_dst: Collection[Buffer]) -> list[Call | Nest]:
    """The code whose formats say which buffers go to DST with all bits."""

    def mark(value: object) -> object:
        match value:
            case Format() if value.buffer in to_dst:
                return replace(value, goes_to_dst=True)
            case Preparation():
                return replace(
                    value,
                    key=tuple(map(mark, value.key)),
                    sets=tuple((setting, of(setting, each)) for setting, each in value.sets),
                )
            case _:
                return value

    def of(setting: Setting, value: object) -> object:
        return value if setting is Setting.PACKER else mark(value)

    return [
        replace(node, body=mark_ways(node.body, to_dst))
        if isinstance(node, Nest)
        else replace(node, needs={each: of(each, value) for each, value in node.needs.items()})
        for node in code
    ]


# --- Settings -------------------------------------------------------------------------------------


def demands_of(code: Code) -> dict[Setting, set[object]]:
    """All that the calls of a piece of code need, and what preparing them sets besides."""
    found: dict[Setting, set[object]] = {}
    for node in code:
        if isinstance(node, Nest):
            for setting, values in demands_of(node.body).items():
                found.setdefault(setting, set()).update(values)
            continue
        for setting, value in node.needs.items():
            found.setdefault(setting, set()).add(value)
            if isinstance(value, Preparation):
                for other, also in value.sets:
                    found.setdefault(other, set()).add(also)
    return found


def enter_loop(demands: Mapping[Setting, set[object]], state: State) -> list[Call]:
    """What is set in front of a loop: all that the loop needs in one way only.

    Of what the loop changes, nothing is known in it.
    """
    settled = {setting: next(iter(each)) for setting, each in demands.items() if len(each) == 1}
    # Sorted, since sets keep no order; settings are few.
    calls = _set(dict(sorted(settled.items(), key=lambda item: item[0].value)), state)
    forget_changes(demands, state)
    return calls


def forget_changes(demands: Mapping[Setting, set[object]], state: State) -> None:
    """Know no more of what a piece of code needs in several ways."""
    for setting, values in demands.items():
        if len(values) > 1:
            state.pop(setting, None)


def prepare(code: Code, state: State) -> list[Call | Nest]:
    """The code with the calls that set what it needs; `state` is what is set before, then after."""
    done: list[Call | Nest] = []
    for node in code:
        if isinstance(node, Call):
            done += _set(node.needs, state)
            done.append(node)
        else:
            done += enter_loop(demands_of(node.body), state)
            body = prepare(node.body, state)
            done.append(Nest(node.extents, node.starts, node.strides, body))
    return done


def _set(needs: Needs, state: State) -> list[Call]:
    calls: list[Call] = []
    matrix = needs.get(Setting.MATRIX)
    for setting in (Setting.SOURCE_A, Setting.SOURCE_B):
        calls += _set_one(setting, needs, state)
    if isinstance(matrix, Preparation):
        is_set = all(state.get(setting) == value for setting, value in matrix.sets)
        if state.get(Setting.MATRIX) != matrix or not is_set:
            calls.append(_call(matrix.call))
            state.update(matrix.sets)
            state[Setting.MATRIX] = matrix
    for setting in (Setting.VECTOR, Setting.PACKER, Setting.MASK, Setting.ADDS):
        calls += _set_one(setting, needs, state)
    return calls


def _set_one(setting: Setting, needs: Needs, state: State) -> list[Call]:
    if setting not in needs or state.get(setting, _UNKNOWN) == needs[setting]:
        return []
    value = state[setting] = needs[setting]
    match setting:
        case Setting.SOURCE_A | Setting.SOURCE_B | Setting.PACKER:
            assert isinstance(value, Format), "formats come from circular buffers"
            return [Call(_RECONFIGURE[setting], (value.buffer,))]
        case Setting.MASK:
            # A mask is set by what prepares a reduction.
            return [] if value else [Call("reduce_uninit")]
        case Setting.ADDS:
            return [Call("pack_reconfig_l1_acc", (Index(offset=int(bool(value))),))]
        case _:
            assert isinstance(value, TileCall), "the vector unit is prepared by a call"
            return [_call(value)]


_UNKNOWN = object()
_RECONFIGURE = {
    Setting.SOURCE_A: "reconfig_data_format_srca",
    Setting.SOURCE_B: "reconfig_data_format_srcb",
    Setting.PACKER: "pack_reconfig_data_format",
}


def _call(call: TileCall) -> Call:
    operands = tuple(
        Index(offset=each) if isinstance(each, int) else each
        for each in call.operands
        if isinstance(each, Buffer | int | float)
    )
    return Call(call.mnemonic, operands, call.templates)


def first_need(code: Code, setting: Setting) -> object | None:
    """What a piece of code needs first of a setting."""
    for node in code:
        if isinstance(node, Nest):
            found = first_need(node.body, setting)
        else:
            matrix = node.needs.get(Setting.MATRIX)
            others = dict(matrix.sets) if isinstance(matrix, Preparation) else {}
            found = node.needs.get(setting, others.get(setting))
        if found is not None:
            return found
    return None


# --- Writing --------------------------------------------------------------------------------------

Numbers = Sequence[SSAValue | int]


class CodeWriter:
    """Writes code to a kernel."""

    def __init__(self, kernel: KernelBuilder) -> None:
        """Write to the end of the kernel as it is at each call."""
        self._kernel = kernel

    def write(self, code: Code) -> None:
        """Write code that stands in no nest."""
        self._write(code, ())

    def _write(self, code: Code, numbers: Numbers) -> None:
        known: dict[Index, SSAValue | int] = {}

        def value(index: Index) -> SSAValue | int:
            if index not in known:
                known[index] = self._value(index, numbers)
            return known[index]

        for node in code:
            if isinstance(node, Nest):
                self._write_nest(node, [value(start) for start in node.starts])
            else:
                self._write_call(node, value)

    def _write_call(self, call: Call, value: Callable[[Index], SSAValue | int]) -> None:
        operands: list[SSAValue | float] = []
        for operand in call.operands:
            match operand:
                case Buffer(number):
                    operands.append(self._kernel.buffers[number])
                case Index():
                    operands.append(value(operand))
                case _:
                    operands.append(operand)
        self._kernel.call(call.mnemonic, *operands, **dict(call.templates))

    def _write_nest(self, nest: Nest, starts: Numbers) -> None:
        loops = [depth for depth, extent in enumerate(nest.extents) if extent > 1]
        if not loops:
            self._write(nest.body, starts)
            return
        kernel = self._kernel
        kernel.walk(
            [nest.extents[depth] for depth in loops],
            [[each[depth] for depth in loops] for each in nest.strides],
            [kernel.constant(each) if isinstance(each, int) else each for each in starts],
            lambda numbers: self._write(nest.body, numbers),
        )

    def _value(self, index: Index, numbers: Numbers) -> SSAValue | int:
        if index.number is None:
            return index.offset
        base = numbers[index.number]
        if isinstance(base, int):
            return base + index.offset
        return self._kernel.add(base, index.offset) if index.offset else base


_CALLS = {call.mnemonic: call for call in CALLS}


# --- Nodes ----------------------------------------------------------------------------------------


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
            ),
        )
        operands = (buffer, locate(self.source), Index(offset=result))
        # Since 2026 preparing keeps the mask.
        needs = {Setting.MATRIX: prepared, Setting.MASK: ""}
        return [Call("unary_bcast", operands, templates, needs)]


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

    operator: str
    """add, sub or mul."""
    left: Source
    right: Source
    part: str = ""
    """What of the right tile is spread: rows, cols or scalar; empty: it is taken whole."""
    is_placed: bool = True

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call."""
        name = f"{self.operator}_tiles_bcast_{self.part}" if self.part else f"{self.operator}_tiles"
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

    operator: str
    source: Source
    is_first: bool
    """True if the tile of DST is the first operand."""
    clobbers: frozenset[int] = frozenset({0})

    def calls(self, slots: Sequence[int], result: int, locate: Locate) -> list[Call]:
        """One call of the matrix unit."""
        templates = (
            ("eltwise_binary_type", _BINARY_TYPES[self.operator]),
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
    """The steps of a definition on the vector unit."""

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
    """The definition of a step's call."""
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


# --- Places in DST --------------------------------------------------------------------------------
# Which tile of DST each value of a body is in, and in which order they are computed.
#
# Of two operands the one that needs more tiles comes first (Sethi and Ullman), so that the other's
# need does not come on top. A tile is free again after the last use of its value; results take the
# place of operands that are used no more.


@dataclass(frozen=True)
class Instruction:
    """A value, the tiles of its operands and temporary ones, and the tile of its result."""

    value: Value
    slots: tuple[int, ...]
    result: int


@dataclass(frozen=True)
class Plan:
    """The instructions of a body in order."""

    instructions: tuple[Instruction, ...]
    result: int
    tiles: int
    """Tiles of DST that are in use."""


class TooManyTilesError(Exception):
    """A body needs more tiles of DST than there are."""

    def __init__(self, needed: int, victim: Value | None) -> None:
        """`victim`: a computed value that should go through memory; None: there is none."""
        super().__init__(f"needs {needed} tiles of DST")
        self.needed = needed
        self.victim = victim


def plan(root: Value, capacity: int) -> Plan:
    """The instructions that compute a value in DST of so many tiles.

    An accumulator (`Held`) is tile 0, before and after. TooManyTilesError if they do not suffice.
    """
    return _Planner(root, capacity).run()


def tiles_needed(root: Value) -> dict[int, int]:
    """For each value of an expression, by its id, how many tiles its computation takes.

    A value with several uses counts for each of them, as in a tree.
    """
    needs: dict[int, int] = {}
    for value in _in_order(root, {}):
        operands = sorted((needs[id(each)] for each in value.operands), reverse=True)
        kept = max((need + held for held, need in enumerate(operands)), default=1)
        needs[id(value)] = max(kept, len(operands) + value.temporaries)
    return needs


def _in_order(root: Value, needs: dict[int, int]) -> list[Value]:
    """The values, operands in front of what uses them, those that need most first."""
    done: dict[int, Value] = {}
    waiting = [root]
    while waiting:
        value = waiting[-1]
        missing = [each for each in value.operands if id(each) not in done]
        if id(value) in done or not missing:
            waiting.pop()
            done.setdefault(id(value), value)
        else:
            # The last one is computed first; of equal ones, that which stands first.
            waiting.append(max(missing, key=lambda each: needs.get(id(each), 0)))
    return list(done.values())


class _Planner:
    """Gives out tiles, one value after the other."""

    def __init__(self, root: Value, capacity: int) -> None:
        self._root = root
        self._capacity = capacity
        self._order = _in_order(root, tiles_needed(root))
        self._uses = Counter(id(each) for value in self._order for each in value.operands)
        self._uses[id(root)] += 1
        self._taken: dict[int, Value | None] = {}
        self._slots: dict[int, int] = {}
        self._written: set[int] = set()
        self._most = 0
        self._instructions: list[Instruction] = []
        self._accumulates = any(isinstance(value, Held) for value in self._order)

    def run(self) -> Plan:
        for value in self._order:
            if isinstance(value, Held):
                self._take(value, 0)
        for value in self._order:
            if not isinstance(value, Held):
                self._compute(value)
        result = self._slots[id(self._root)]
        if self._accumulates and result != 0:
            self._instructions.append(Instruction(Copied(operands=(self._root,)), (result,), 0))
            result = 0
        return Plan(tuple(self._instructions), result, self._most)

    def _compute(self, value: Value) -> None:
        slots = [self._slots[id(each)] for each in value.operands]
        for each in value.operands:
            self._uses[id(each)] -= 1
        dying = [not self._uses[id(each)] for each in value.operands]
        copies: list[int] = []
        for place in sorted(value.clobbers):
            operand = value.operands[place]
            is_repeated = any(
                other is operand for n, other in enumerate(value.operands) if n != place
            )
            if not dying[place] or is_repeated:
                slots[place] = self._copy(operand, slots[place])
                copies.append(slots[place])
        temporaries = [self._take(None) for _ in range(value.temporaries)]
        # What is placed freely, and may overlap with operands, goes where one of them dies.
        free = [slot for slot, is_dying in zip(slots, dying, strict=True) if is_dying]
        if not value.is_placed:
            result = slots[0]
        elif free:
            # The accumulator's tile, if the value is what accumulates.
            result = 0 if self._accumulates and value is self._root and 0 in free else free[0]
        else:
            result = self._take(value, zeros=value.needs_zeros)
        for slot in (*free, *copies, *temporaries):
            self._taken.pop(slot, None)
        self._taken[result] = value
        self._slots[id(value)] = result
        self._written.add(result)
        self._instructions.append(Instruction(value, (*slots, *temporaries), result))

    def _copy(self, operand: Value, slot: int) -> int:
        copy = self._take(operand)
        self._instructions.append(Instruction(Copied(operands=(operand,)), (slot,), copy))
        return copy

    def _take(self, value: Value | None, wanted: int | None = None, *, zeros: bool = False) -> int:
        """A free tile; with `zeros`, one that nothing was written to."""
        slot = 0 if wanted is None else wanted
        while slot in self._taken or (zeros and slot in self._written):
            slot += 1
        if slot >= self._capacity:
            raise TooManyTilesError(slot + 1, self._victim())
        self._taken[slot] = value
        self._written.add(slot)
        self._most = max(self._most, slot + 1)
        if value is not None and id(value) not in self._slots:
            self._slots[id(value)] = slot
        return slot

    def _victim(self) -> Value | None:
        """Of the values in DST, the computed one that took most operations, to be spilled."""
        computed = [value for value in self._taken.values() if value is not None and value.operands]
        sizes: Sequence[int] = [len(_in_order(value, {})) for value in computed]
        return computed[sizes.index(max(sizes))] if computed else None
