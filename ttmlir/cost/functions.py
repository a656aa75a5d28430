"""Cycles of the units of a core for functions of tiles, by the rows of kernel calls."""

from __future__ import annotations

from functools import cache

from ttmlir.cost.machine import Machine
from ttmlir.cost.workload import COMPUTE, PACK, UNPACK, Stage
from ttmlir.layout.data_format import is_block_float
from ttmlir.layout.enums import Arch, DataType, MathFidelity
from ttmlir.optable.kernel import CALLS
from ttmlir.optable.kernel.tile_calls import TILE_CALLS
from ttmlir.sim.timing.costs import fidelity_phases, pack_cycles, unpack_cycles

_VECTOR = 32
"""Cycles of one vector instruction for a tile."""

_INSTRUCTIONS = {
    # A logarithm, two square roots and a polynomial (its definition by Giles).
    "erfinv": 24 + 2 * 28 + 12,
    # Lanczos' form: two logarithms, a quotient and a polynomial.
    "lgamma": 2 * 24 + 38 + 20,
    "bitcast_convert": 2,
    **dict.fromkeys(("population_count", "count_leading_zeros"), 20),
}
"""Estimated vector instructions of functions that no kernel call computes."""

_ROWS = {call.mnemonic: call for call in CALLS}


def call_cycles(mnemonic: str, fidelity: MathFidelity = MathFidelity.HIFI4) -> int:
    """Cycles of the math thread for a kernel call on a tile; KeyError if there is no such call."""
    cost = _ROWS[mnemonic].cost
    return cost.math * (fidelity_phases(fidelity) if cost.phases else 1)


def is_estimated(mnemonic: str) -> bool:
    """True if no figure for the calls of an elementwise operation is public."""
    calls = TILE_CALLS[mnemonic]
    steps = calls.floats or calls.integers
    return steps is None or any(_ROWS[step.call].cost.estimated for step in steps)


@cache
def elementwise_stages(
    machine: Machine,
    mnemonic: str,
    operands: tuple[DataType, ...],
    result: DataType,
    fidelity: MathFidelity,
    *,
    approximate: bool = False,
) -> tuple[Stage, ...]:
    """Unpack, compute and pack a tile of an elementwise operation."""
    calls = TILE_CALLS[mnemonic]
    narrow = all(is_narrow_float(each) for each in operands)
    if calls.matrix_unit and narrow:
        unpack = unpack_cycles(*operands)
        math = call_cycles(calls.matrix_unit, fidelity)
    else:
        unpack = sum(unpack_cycles(each) for each in operands)
        math = len(operands) * call_cycles("copy_tile")
        math += function_cycles(machine.arch, mnemonic, operands, approximate=approximate)
    return stages(unpack / machine.figures.unpack_speed, math, pack_cycles(result))


def stages(unpack: float, math: float, pack: float) -> tuple[Stage, ...]:
    """The three threads of a core that compute."""
    return Stage(UNPACK, unpack), Stage(COMPUTE, math), Stage(PACK, pack)


def is_narrow_float(data_type: DataType) -> bool:
    """True for formats that the matrix unit computes with as they are."""
    return data_type in (DataType.BF16, DataType.F16) or is_block_float(data_type)


def function_cycles(
    arch: Arch,
    mnemonic: str,
    operands: tuple[DataType, ...] = (),
    *,
    approximate: bool = False,
) -> int:
    """Cycles of the vector unit for a tile of an elementwise operation.

    `approximate` asks for the fast form of each call that has one.
    """
    if mnemonic in _INSTRUCTIONS:
        return _VECTOR * _INSTRUCTIONS[mnemonic]
    calls = TILE_CALLS[mnemonic]
    is_integer = bool(operands) and operands[0] in _INTEGERS
    steps = calls.integers if is_integer and calls.integers is not None else calls.floats
    if steps is None:
        steps = calls.integers or ()
    return sum(_vector_cycles(arch, step.call, approximate) for step in steps)


def _vector_cycles(arch: Arch, mnemonic: str, approximate: bool) -> int:
    row = _ROWS[mnemonic]
    fast = row.approximation if approximate else None
    cost = row.cost if fast is None else fast.cost
    return cost.math_on(blackhole=arch is Arch.BLACKHOLE)


_INTEGERS = (DataType.U32, DataType.U16, DataType.U8)
