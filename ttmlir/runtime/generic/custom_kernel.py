"""Runs custom kernels on the simulator: NumPy arrays in and out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from ttmlir.layout.element_type import DEFAULT_TILE_SHAPE
from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.program.custom_kernel import CustomKernel, KernelTensor
from ttmlir.runtime.element import ELEMENT_TYPES, Array, ElementType, Numerics, convert
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.generic.run import GenericProgram, run_generic, simulator_options
from ttmlir.runtime.tensor import TensorDesc
from ttmlir.sim.execution.run import ProgramReport
from ttmlir.sim.machine.chip import SimChip

_SPACES = {"dram": MemorySpace.DEVICE_DRAM, "l1": MemorySpace.DEVICE_L1}


@dataclass(frozen=True)
class KernelRun:
    """What a kernel made, and what it took."""

    outputs: tuple[Array, ...]
    report: ProgramReport

    @property
    def cycles(self) -> int:
        """When the last thread ended."""
        return self.report.cycles


@cache
def element_of(keyword: str) -> ElementType:
    """The element type of a keyword of the IR."""
    return next(each for each in ELEMENT_TYPES.values() if each.keyword == keyword)


def run_custom_kernel(
    kernel: CustomKernel,
    inputs: Sequence[Array],
    *,
    board: str = "n150",
    numerics: Numerics | str = Numerics.DEVICE,
    print_line: Callable[[str], None] | None = None,
) -> KernelRun:
    """Run a kernel on a simulated board.

    InputError for arrays of other shapes or types, ExecutionError for what the kernel does wrong.
    """
    if len(inputs) != len(kernel.inputs):
        raise InputError(f"'{kernel.name}' takes {len(kernel.inputs)} arrays, got {len(inputs)}")
    values: list[Array] = []
    for tensor, array in zip(kernel.inputs, inputs, strict=True):
        element = element_of(tensor.element)
        if array.shape != tensor.shape or array.dtype != element.host:
            raise InputError(
                f"'{tensor.name}' of '{kernel.name}' is {tensor}; got an array of shape "
                f"{array.shape} and dtype {array.dtype}"
            )
        values.append(convert(array, element.compute))
    program = GenericProgram(
        description=kernel.program,
        descs=tuple(map(_desc, kernel.tensors)),
        num_outputs=len(kernel.outputs),
        where=f"kernel '{kernel.name}'",
    )
    options = simulator_options(Numerics(numerics))
    run = run_generic(program, values, _chip(board), options, print_line=print_line)
    outputs = tuple(
        np.ascontiguousarray(convert(array, element_of(tensor.element).host))
        for array, tensor in zip(run.outputs, kernel.outputs, strict=True)
    )
    return KernelRun(outputs, run.report)


def _desc(tensor: KernelTensor) -> TensorDesc:
    element = element_of(tensor.element)
    return TensorDesc(
        shape=tensor.shape,
        element=element,
        data_type=tensor.data_type,
        memory_space=_SPACES[tensor.memory],
        memory_layout=TensorMemoryLayout.from_keyword(
            "interleaved" if tensor.shards is None else tensor.shards.layout
        ),
        tile=DEFAULT_TILE_SHAPE if tensor.layout == "tile" else (1, 1),
        core_ranges=() if tensor.shards is None else ((0, 0, *tensor.shards.grid),),
        shard=() if tensor.shards is None else tensor.shard,
    )


@cache
def _chip(board: str) -> SimChip:
    return SimChip.of_board(board, 0)
