"""An operation to be estimated: its tensors, and the cycles of the functions that it applies."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from ttmlir.cost.machine import Machine
from ttmlir.cost.workload import COMPUTE, LATENCY, PACK, UNPACK, Stage
from ttmlir.layout.data_format import is_block_float, padded_shape
from ttmlir.layout.enums import Arch, DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.optable.kernel import CALLS
from ttmlir.optable.kernel.tile_calls import TILE_CALLS
from ttmlir.runtime.tensor import TensorDesc, element_of_data_type
from ttmlir.sim.timing.costs import fidelity_phases, pack_cycles, tile_bytes, unpack_cycles

# --- Tensors --------------------------------------------------------------------------------------
# Tensors as kernels see them: tiles, where they lie, and what reading and writing them takes.
#
# ttnn computes on tiles of 32 by 32 numbers. Files of this compiler describe tensors of the device
# row by row; their operations are estimated as if they were tiled.

TILE = 32
"""Rows, and columns, of a tile."""

NO_TRANSFER = Stage(LATENCY, 0.0)


def make_desc(
    shape: tuple[int, ...],
    data_type: DataType = DataType.BF16,
    memory: MemorySpace = MemorySpace.DEVICE_DRAM,
    *,
    layout: TensorMemoryLayout = TensorMemoryLayout.INTERLEAVED,
    grid: tuple[int, int] | None = None,
    tiled: bool = True,
) -> TensorDesc:
    """The description of a tensor on the device, for lists of shapes; `grid` is that of shards."""
    return TensorDesc(
        shape=shape,
        element=element_of_data_type(data_type),
        data_type=data_type,
        memory_space=memory,
        memory_layout=layout,
        tile=(TILE, TILE) if tiled else (1, 1),
        core_ranges=((0, 0, *grid),) if grid else (),
    )


@cache
def tile_shape(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """Matrices, rows of tiles and columns of tiles of each."""
    *outer, rows, columns = padded_shape(shape)
    return math.prod(outer), rows // TILE, columns // TILE


def tile_count(shape: tuple[int, ...]) -> int:
    """Tiles of a tensor, padding included."""
    return math.prod(tile_shape(shape))


def tensor_bytes(desc: TensorDesc) -> int:
    """Bytes of all tiles."""
    return tile_count(desc.shape) * tile_bytes(desc.data_type)


def is_sharded(desc: TensorDesc) -> bool:
    """True if each core has its part in its own L1."""
    return desc.memory_space is MemorySpace.DEVICE_L1 and desc.memory_layout.is_sharded


def shard_cores(desc: TensorDesc) -> int:
    """Cores that hold a sharded tensor; at least one."""
    return max(1, sum(height * width for _, _, height, width in desc.core_ranges))


def cores_for(machine: Machine, desc: TensorDesc, units: int) -> int:
    """Cores that share so many units of work on a result: those of its shards, or all."""
    cores = min(shard_cores(desc), machine.cores) if is_sharded(desc) else machine.cores
    return max(1, min(cores, units))


def reading(machine: Machine, desc: TensorDesc, tiles: float, cores: int) -> Stage:
    """Read tiles of a tensor on each of `cores` cores, with one barrier."""
    size = tile_bytes(desc.data_type)
    if desc.memory_space is MemorySpace.DEVICE_DRAM:
        return machine.read_dram(tiles, size, cores, placed=desc.memory_layout.is_sharded)
    if is_sharded(desc):
        return NO_TRANSFER
    return machine.read_l1(tiles, size)


def writing(machine: Machine, desc: TensorDesc, tiles: float, cores: int) -> Stage:
    """Write tiles of a tensor on each of `cores` cores, with one barrier."""
    size = tile_bytes(desc.data_type)
    if desc.memory_space is MemorySpace.DEVICE_DRAM:
        return machine.write_dram(tiles, size, cores)
    if is_sharded(desc):
        return NO_TRANSFER
    return machine.write_l1(tiles, size)


def join(stages: list[Stage]) -> Stage:
    """Reads under one barrier: their latencies overlap, their bytes do not."""
    busy = [stage for stage in stages if stage.cycles]
    if not busy:
        return NO_TRANSFER
    longest = max(busy, key=lambda stage: stage.cycles)
    others = sum(stage.ideal for stage in busy) - longest.ideal
    return Stage(longest.kind, longest.cycles + others, longest.ideal + others)


def dram_bytes(*descs: TensorDesc) -> int:
    """Bytes of those tensors that lie in DRAM."""
    return sum(tensor_bytes(desc) for desc in descs if desc.memory_space is MemorySpace.DEVICE_DRAM)


def network_bytes(*descs: TensorDesc) -> int:
    """Bytes of those tensors that cores do not have in their own L1."""
    return sum(tensor_bytes(desc) for desc in descs if not is_sharded(desc))


# --- Work -----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class MatmulConfig:
    """How a product is cut; what is None is chosen as ttnn does."""

    grid: tuple[int, int] | None = None
    """Rows and columns of cores."""
    block_depth: int | None = None
    """Tiles along K of a block (`in0_block_w`)."""
    block_rows: int | None = None
    """Rows of tiles whose windows a convolution gathers at once (`act_block_h_override`)."""
    subblock: tuple[int, int] | None = None
    """Rows and columns of tiles that DST holds."""
    activation: str = ""
    """An elementwise operation on the result, before it is written."""
    approximate: bool = False
    """Its fast form."""
    ring: bool = False
    """The first operand goes from core to core in a ring."""
    at_banks: bool = False
    """The cores next to the banks of DRAM multiply, and give what they make to those that keep
    it."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """One operation; tensors as the file, or a list of shapes, describes them."""

    mnemonic: str
    """Of the definition, such as `matmul`, or of an operation that has none, such as
    `layer_norm`."""
    operands: tuple[TensorDesc, ...]
    output: TensorDesc
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fidelity: MathFidelity | None = None
    """None: ttnn's default."""
    wide_sums: bool = False
    """DST holds products in 32 bits, half as many tiles of them."""
    activations: tuple[str, ...] = ()
    """Elementwise operations on the operands and the result of an operation of two tensors."""
    matmul: MatmulConfig = field(default=MatmulConfig())

    @property
    def product_fidelity(self) -> MathFidelity:
        """Of products: HiFi2, and LoFi if both operands are block floats, as the out-of-the-box
        runs of tt-metal's GEMM report are."""
        if self.fidelity is not None:
            return self.fidelity
        blocks = all(is_block_float(each.data_type) for each in self.operands[:2])
        return MathFidelity.LOFI if blocks else MathFidelity.HIFI2

    @property
    def other_fidelity(self) -> MathFidelity:
        """Of everything else: HiFi4."""
        return MathFidelity.HIFI4 if self.fidelity is None else self.fidelity


# --- Cycles of functions of tiles -----------------------------------------------------------------
# Cycles of the units of a core for functions of tiles, by the definitions of kernel calls.


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

_CALLS = {call.mnemonic: call for call in CALLS}


def call_cycles(mnemonic: str, fidelity: MathFidelity = MathFidelity.HIFI4) -> int:
    """Cycles of the math thread for a kernel call on a tile; KeyError if there is no such call."""
    cost = _CALLS[mnemonic].cost
    return cost.math * (fidelity_phases(fidelity) if cost.phases else 1)


def is_estimated(mnemonic: str) -> bool:
    """True if no figure for the calls of an elementwise operation is public."""
    calls = TILE_CALLS[mnemonic]
    steps = calls.floats or calls.integers
    return steps is None or any(_CALLS[step.call].cost.estimated for step in steps)


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
    narrow = bool(operands) and all(map(is_narrow_float, operands))
    return sum(_vector_cycles(arch, step.call, approximate, narrow) for step in steps)


def _vector_cycles(arch: Arch, mnemonic: str, approximate: bool, narrow: bool) -> int:
    definition = _CALLS[mnemonic]
    fast = definition.approximation if approximate else None
    cost = definition.cost if fast is None else fast.cost
    return cost.math_on(blackhole=arch is Arch.BLACKHOLE, narrow=narrow)


_INTEGERS = (DataType.U32, DataType.U16, DataType.U8)
