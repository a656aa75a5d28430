"""Programs of generics on streams, written by hand: buffers with addresses, blocks, and a body."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from running.pass_runner import lowered
from running.randomness import TestGenerator
from samples.metal_programs import BYTES, CONTEXT, SYSTEM, on_device, spell

from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.layout.system import SystemDesc, board
from ttmlir.mlir.verifier import verify_module
from ttmlir.passes.core.base import Pass
from ttmlir.passes.core.registry import lookup
from ttmlir.runtime import read_binary
from ttmlir.runtime.metal_program import MetalProgram
from ttmlir.runtime.metal_session import MetalRun, execute
from ttmlir.sim.options import SimOptions
from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

Array = np.ndarray[Any, Any]
Shape = Sequence[int]

KERNEL_PASSES = ("convert-d2m-to-ttkernel", "convert-d2m-to-ttmetal")


@dataclass(frozen=True)
class Buffer:
    """Tiles in DRAM, or in shards; the host has as many numbers, in rows."""

    name: str
    shard: Shape
    grid: Shape = ()
    space: str = "dram"
    element: str = "bf16"
    sharded: bool = False

    @property
    def type(self) -> str:
        """Its memref."""
        grid = self.grid or (1,) * len(self.shard)
        interleaved = self.space == "dram" and not self.sharded
        return on_device(grid, self.shard, self.element, space=self.space, interleaved=interleaved)

    @property
    def shape(self) -> tuple[int, ...]:
        """The numbers, in the shape that the host has them in."""
        grid = self.grid or (1,) * len(self.shard)
        tiles = [cores * each for cores, each in zip(grid, self.shard, strict=True)]
        return (*tiles[:-2], tiles[-2] * 32, tiles[-1] * 32)

    @property
    def bytes(self) -> int:
        """Bytes of a shard, or of the whole in DRAM."""
        tiles = math.prod(self.shard)
        if self.space == "dram":
            tiles *= math.prod(self.grid)
        return tiles * 1024 * BYTES[self.element]


@dataclass(frozen=True)
class Operand:
    """Blocks of a buffer: how many along each dimension, the tiles of one, and where they are."""

    buffer: str
    blocks: Shape
    block: Shape
    index: str
    """The results of the indexing map, over the iterators."""
    view: str = ""
    """The results of the map from blocks and tiles to the buffer; empty: they follow each other."""
    buffers: int = 2

    @property
    def map(self) -> str:
        """The map of the view."""
        rank = len(self.blocks)
        names = [f"d{number}" for number in range(2 * rank)]
        places = [f"d{n} * {each} + d{rank + n}" for n, each in enumerate(self.block)]
        results = self.view or ", ".join((*("0" for _ in range(rank)), *places))
        return f"({', '.join(names)}) -> ({results})"


@dataclass
class Program:
    """Text of a function that writes arguments, runs generics and reads results."""

    lines: list[str] = field(default_factory=list[str])
    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    arguments: list[str] = field(default_factory=list[str])
    results: list[str] = field(default_factory=list[str])
    dram: int = 1024
    l1: int = 0x18000
    generics: int = 0

    def _alloc(self, name: str, type_: str, size: int, space: str) -> None:
        address = self.dram if space == "dram" else self.l1
        self.lines.append(
            f"%{name} = memref.alloc() {{address = {address} : i64, alignment = 32 : i64}} : "
            f"{type_}"
        )
        size = -(-size // 1024) * 1024
        if space == "dram":
            self.dram += size
        else:
            self.l1 += size

    def buffer(self, buffer: Buffer) -> None:
        """Make a buffer."""
        self.buffers[buffer.name] = buffer
        self._alloc(buffer.name, buffer.type, buffer.bytes, buffer.space)

    def host_type(self, name: str) -> str:
        """The host's memref."""
        buffer = self.buffers[name]
        return f"memref<{spell(buffer.shape)}x{buffer.element}>"

    def write(self, name: str) -> None:
        """Fill a buffer from a new argument."""
        host = self.host_type(name)
        self.arguments.append(f"%host_{name}: {host}")
        self.lines.append(
            f"d2m.to_layout %host_{name}, %{name} : {host} into {self.buffers[name].type}"
        )

    def read(self, name: str) -> None:
        """Return a buffer."""
        host = self.host_type(name)
        self.results.append(name)
        self.lines.append(f"%r_{name} = memref.alloc() : {host}")
        self.lines.append(
            f"d2m.to_layout %{name}, %r_{name} : {self.buffers[name].type} into {host}"
        )

    def generic(
        self,
        inputs: Sequence[Operand],
        outputs: Sequence[Operand],
        body: str,
        *,
        grid: Shape,
        factors: Shape,
        iterators: Sequence[str],
        reference: str = "",
    ) -> None:
        """Add a generic; its body has the blocks of its operands as %b0, %b1 and so on.

        In the body, `!t0` and so on are the tiles of operands.
        """
        number = self.generics
        self.generics += 1
        operands = [*inputs, *outputs]
        names: list[str] = []
        types: list[str] = []
        head: list[str] = []
        for place, operand in enumerate(operands):
            buffer = self.buffers[operand.buffer]
            tile = f"!ttcore.tile<32x32, {buffer.element}>"
            body = re.sub(rf"!t{place}\b", tile, body)
            view = (
                f"memref<{spell((*operand.blocks, *operand.block))}x{tile}, "
                f"#ttcore.view<{operand.map}>, #ttcore.memory_space<{buffer.space}>>"
            )
            cores = list(grid)
            if len(cores) != len(operand.block):
                cores = [1] * (len(operand.block) - 1) + [math.prod(grid)]
            storage = on_device(cores, operand.block, buffer.element, buffers=operand.buffers)
            size = math.prod(operand.block) * operand.buffers * 1024 * BYTES[buffer.element]
            self._alloc(f"c{number}_{place}", storage, size, "l1")
            stream = f"s{number}_{place}"
            self.lines.append(
                f"%v{number}_{place} = d2m.view_layout %{operand.buffer} : {buffer.type} -> {view}"
            )
            self.lines.append(
                f'%{stream} = "d2m.stream_layout"(%v{number}_{place}, %c{number}_{place}) : '
                f"({view}, {storage}) -> {view}"
            )
            names.append(f"%{stream}")
            types.append(view)
            block = f"memref<{spell(operand.block)}x{tile}, #ttcore.memory_space<l1>>"
            word = "wait" if place < len(inputs) else "reserve"
            head.append(f"%b{place} = d2m.{word} %cb{place} : !d2m.cb<{block}> -> {block}")
            body = re.sub(rf"!b{place}\b", block, body)
        iteration = ", ".join(f"d{n}" for n in range(len(iterators)))
        maps = ", ".join(f"affine_map<({iteration}) -> ({each.index})>" for each in operands)
        kinds = ", ".join(f"#ttcore.iterator_type<{each}>" for each in iterators)
        cut = len(inputs)
        arguments = ", ".join(
            f"%cb{place}: !d2m.cb<{line.split(' -> ')[-1]}>" for place, line in enumerate(head)
        )
        behind = f"d2m.reference = {reference}, " if reference else ""
        self.lines.append(
            f"d2m.generic {{{behind}block_factors = [{', '.join(map(str, factors))}], "
            f"grid = #ttcore.grid<{spell(grid)}>, indexing_maps = [{maps}], "
            f"iterator_types = [{kinds}], threads = [#d2m.thread<compute>]}} "
            f"ins({_list(names[:cut], types[:cut])}) outs({_list(names[cut:], types[cut:])}) {{\n"
            f"^compute0({arguments}):\n" + "\n".join(head) + f"\n{body}\n}}"
        )

    @property
    def text(self) -> str:
        """The function."""
        returned = [f"%r_{name}" for name in self.results]
        types = [self.host_type(name) for name in self.results]
        end = f"return {', '.join(returned)} : {', '.join(types)}" if returned else "return"
        return (
            f"func.func @main({', '.join(self.arguments)}) -> ({', '.join(types)}) {{\n"
            + "\n".join([*self.lines, end])
            + "\n}"
        )

    def compiled(self, system: SystemDesc | None = None) -> MetalProgram:
        """The program in the file, for the default system or another one."""
        module = lowered(self.text)
        module.attributes[SYSTEM_DESC] = tt.SystemDescAttr(system or SYSTEM)
        for name in KERNEL_PASSES:
            cls = lookup(name)
            assert cls is not None
            assert issubclass(cls, Pass)
            cls().run(CONTEXT, module)
            assert not verify_module(module)
        [program] = read_binary(ttmetal_to_flatbuffer(module), "d2m.ttm").programs
        assert isinstance(program, MetalProgram)
        return program

    def run(self, *inputs: Array, options: SimOptions | None = None) -> MetalRun:
        """A run on the simulator; exact numbers unless options say otherwise."""
        return execute(self.compiled(), inputs, options or SimOptions(numerics="exact"))


RNG = TestGenerator(__name__)
SCHEDULES = [
    SimOptions(numerics="exact"),
    SimOptions(numerics="exact", schedule_seed=1),
    SimOptions(numerics="exact", schedule_seed=2, delay_copies=True),
]


def numbers(shape: Sequence[int]) -> Array:
    """Multiples of 1/64 from -1 to 1, which bf16 holds."""
    return RNG.integers(-64, 65, shape).astype(np.float32) / 64


def rounding(values: Array, element: str = "bf16") -> Array:
    """The most that rounding numbers up to `values` changes: half a unit in the last place."""
    bits = {"bf16": 8, "f32": 24}[element]
    return np.ldexp(0.5, np.frexp(np.abs(values))[1] - bits)


def product_error(
    a: Array, b: Array, steps: int, element: str = "bf16", *, packed: bool = False
) -> Array:
    """The most by which `a @ b` differs if its sum is stored after each of so many equal parts.

    Between stores it is exact: products of multiples of 1/64 are multiples of 1/4096, and float32
    holds sums of some thousand of those. With `packed`, parts are rounded before they are added.
    """
    length = a.shape[-1] // steps
    total, error = np.zeros(()), np.zeros(())
    for start in range(0, a.shape[-1], length):
        end = start + length
        part = a[..., start:end].astype(np.float64) @ b[..., start:end, :]
        total = total + part
        if packed:
            error = error + rounding(part, element)
        error = error + rounding(np.abs(total) + error, element)
    return error


def check(program: Program, expected: Array, *inputs: Array, atol: Array | float = 0.0) -> None:
    """The only result, in three schedules and on two boards, clean under the sanitizer."""
    for system, schedules in ((None, SCHEDULES), (board("n150"), SCHEDULES[:1])):
        compiled = program.compiled(system)
        for options in schedules:
            run = execute(compiled, inputs, options)
            [output] = run.outputs
            assert output.shape == expected.shape
            excess = np.abs(output.astype(np.float64) - expected) - atol
            assert (excess <= 0).all(), f"off by up to {excess.max()} more than may be"
            assert not [finding for each in run.reports for finding in each.report.findings]


def _list(names: Sequence[str], types: Sequence[str]) -> str:
    return f"{', '.join(names)} : {', '.join(types)}" if names else ""


def loop(body: str, operands: int, rank: int = 2, maps: Sequence[str] = ()) -> str:
    """An elementwise loop over the blocks; `body` computes `%e` of `%t0` and so on."""
    iteration = ", ".join(f"d{n}" for n in range(rank))
    results = maps or [iteration] * operands
    spelled = ", ".join(f"affine_map<({iteration}) -> ({each})>" for each in results)
    kinds = ", ".join('"parallel"' for _ in range(rank))
    last = operands - 1
    blocks = ", ".join(f"%b{n}" for n in range(last))
    types = ", ".join(f"!b{n}" for n in range(last))
    tiles = ", ".join(f"%t{n}: !t{n}" for n in range(operands))
    return (
        f"linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{kinds}]}} "
        f"ins({blocks} : {types}) outs(%b{last} : !b{last}) {{\n"
        f"^bb0({tiles}):\n{body}\nlinalg.yield %e : !t{last}\n}}"
    )


EXP = '%e = "d2m.tile_exp"(%t0) : (!t0) -> !t1'
ADD = '%e = "d2m.tile_add"(%t0, %t1) : (!t0, !t1) -> !t2'
NEGATIVE = '%e = "d2m.tile_negative"(%t0) : (!t0) -> !t1'
ABS = '%e = "d2m.tile_abs"(%t0) : (!t0) -> !t1'
MATMUL = """linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>,
    affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%b0, %b1 : !b0, !b1) outs(%b2 : !b2) {
^bb0(%x: !t0, %y: !t1, %sum: !t2):
  %e = "d2m.tile_matmul"(%x, %y, %sum) : (!t0, !t1, !t2) -> !t2
  linalg.yield %e : !t2
}"""
