"""The code of a compute kernel before it is written: calls, loops, and what calls need set up.

A call says how the units that it uses have to be set: formats of the unpackers and of the packer,
what the matrix and the vector unit are prepared for. `prepare` puts the calls there that set it,
in front of loops where nothing in the loop needs it otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, auto

from xdsl.ir import SSAValue

from ttmlir.ir.kernel_builder import Buffer, KernelBuilder, TileCall
from ttmlir.layout.enums import DataType


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
    """How much each number grows from turn to turn of each loop."""
    body: Code


Code = Sequence[Call | Nest]
State = dict[Setting, object]


# --- Settings -----------------------------------------------------------------------------------


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


# --- Writing ------------------------------------------------------------------------------------

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
