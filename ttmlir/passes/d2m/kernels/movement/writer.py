"""The kernel that stores blocks of the outputs; what travels on its network it also loads."""

from __future__ import annotations

import math

from ttmlir.dialects import d2m
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.passes.d2m.kernels.arguments import WRITER_NOC, KernelArguments
from ttmlir.passes.d2m.kernels.chip import Chip
from ttmlir.passes.d2m.kernels.loops import (
    BlockLoops,
    Indices,
    looped_iterators,
    operand_depth,
)
from ttmlir.passes.d2m.kernels.movement.block_copy import (
    BlockCopy,
    tile_addresses,
)
from ttmlir.passes.d2m.kernels.movement.reader import Loader, block_of
from ttmlir.passes.d2m.kernels.movement.store import LateStorer, Storer
from ttmlir.passes.d2m.kernels.plan import KernelPlan


def build_writer(
    plan: KernelPlan, kernel: KernelBuilder, arguments: KernelArguments, chip: Chip
) -> None:
    """Store each output at its depth; LayoutError for what cannot be moved."""
    generic = plan.generic
    copies = [
        BlockCopy(kernel, stream, tile_addresses(kernel, stream, arguments, chip))
        for stream in plan.outputs
    ]
    depths = [operand_depth(generic, stream.number) for stream in plan.outputs]
    loader = Loader(plan, kernel, arguments, chip, WRITER_NOC)
    loops = BlockLoops(generic, kernel)
    storers = [
        LateStorer(kernel, copy, steps)
        if (steps := _steps(generic, depth, loader.depth)) > 1
        and LateStorer.is_possible(copy, plan.storages[copy.stream.cb])
        else Storer(kernel, copy)
        for copy, depth in zip(copies, depths, strict=True)
    ]

    def before(depth: int, indices: Indices) -> None:
        loader.load(depth, indices)
        if depth == loader.depth:
            for storer in storers:
                if isinstance(storer, LateStorer):
                    loader.settle()
                    storer.step()

    def after(depth: int, indices: Indices) -> None:
        loader.load_behind(depth, indices)
        if depth in depths:
            loader.settle()
        for copy, storer, at in zip(copies, storers, depths, strict=True):
            if at == depth:
                storer.store(block_of(generic.indexing_maps[copy.stream.number], indices))

    loops.run(before, after, max(*depths, loader.depth))
    for storer in storers:
        storer.finish()
    loader.finish()
    kernel.call("noc_async_write_barrier")


def _steps(generic: d2m.GenericOp, stored: int, loaded: int) -> int:
    """How many times inputs are loaded for each block of an output, if there are several blocks."""
    factors = [generic.block_factors[iterator] for iterator in looped_iterators(generic)]
    return math.prod(factors[stored:loaded]) if stored and stored < loaded else 1
