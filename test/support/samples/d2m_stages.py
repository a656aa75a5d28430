"""Loops over tiles of compute regions as text, and generics of several such loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from samples.d2m_programs import Buffer, Operand, Program
from samples.metal_programs import BYTES, spell


@dataclass(frozen=True)
class Block:
    """A block of tiles: an operand by its number, or a local buffer by its name."""

    name: str
    shape: tuple[int, ...]
    element: str = "bf16"

    @property
    def tile(self) -> str:
        """The type of a tile."""
        return f"!ttcore.tile<32x32, {self.element}>"

    @property
    def type(self) -> str:
        """The memref."""
        return f"memref<{spell(self.shape)}x{self.tile}, #ttcore.memory_space<l1>>"


@dataclass(frozen=True)
class Tensor:
    """An operand of a generic: tiles in DRAM, in blocks."""

    shape: tuple[int, ...]
    """Tiles of the whole."""
    block: tuple[int, ...]
    index: str
    """The results of the indexing map, over the iterators."""
    element: str = "bf16"
    buffers: int = 2
    """Blocks that the circular buffer holds."""


@dataclass
class Region:
    """A program of one generic with several loops over tiles."""

    inputs: Sequence[Tensor]
    outputs: Sequence[Tensor]
    iterators: str
    """A p or an r for each."""
    factors: Sequence[int]
    locals: list[Block] = field(default_factory=list[Block])
    stages: list[str] = field(default_factory=list[str])

    def block(self, number: int) -> Block:
        """The block of an operand."""
        tensor = [*self.inputs, *self.outputs][number]
        return Block(f"b{number}", tensor.block, tensor.element)

    def local(self, name: str, shape: tuple[int, ...], element: str = "bf16") -> Block:
        """A new local buffer."""
        self.locals.append(Block(name, shape, element))
        return self.locals[-1]

    def add(
        self, inputs: Sequence[tuple[Block, str]], output: tuple[Block, str], kinds: str, body: str
    ) -> None:
        """Add a loop over tiles."""
        self.stages.append(stage(inputs, output, kinds, body))

    def fill(self, name: str, number: float, element: str = "bf16") -> Block:
        """A local buffer with a tile of one number."""
        block = self.local(name, (1, 1), element)
        body = f'%e = "d2m.tile_fill"() <{{value = {number} : f32}}> : () -> !t0'
        self.add([], (block, "d0, d1"), "pp", body)
        return block

    def program(self, grid: Sequence[int] = ()) -> Program:
        """The program; by default it runs on one core."""
        program = Program()
        operands: list[Operand] = []
        for number, tensor in enumerate([*self.inputs, *self.outputs]):
            buffer = Buffer(f"x{number}", tensor.shape, element=tensor.element)
            program.buffer(buffer)
            if number < len(self.inputs):
                program.write(buffer.name)
            counts = [n // size for n, size in zip(tensor.shape, tensor.block, strict=True)]
            operands.append(
                Operand(buffer.name, counts, tensor.block, tensor.index, buffers=tensor.buffers)
            )
        address, lines = 0x80000, list[str]()
        for block in self.locals:
            lines.append(
                f"%{block.name} = memref.alloc() {{address = {address} : i64, "
                f"alignment = 16 : i64}} : {block.type}"
            )
            address += math.prod(block.shape) * 1024 * BYTES[block.element]
        words = {"p": "parallel", "r": "reduction"}
        cut = len(self.inputs)
        program.generic(
            operands[:cut],
            operands[cut:],
            "\n".join([*lines, *self.stages]),
            grid=grid or (1,) * len(self.outputs[0].shape),
            factors=self.factors,
            iterators=[words[each] for each in self.iterators],
        )
        for number in range(cut, len(operands)):
            program.read(f"x{number}")
        return program


def stage(
    inputs: Sequence[tuple[Block, str]], output: tuple[Block, str], kinds: str, body: str
) -> str:
    """A loop over tiles.

    Each block has the results of its map over d0, d1 and so on; `kinds` has a p or an r for each
    iterator. The body computes `%e` of `%t0` and so on, in which `!t0` stands for a tile's type.
    """
    operands = [*inputs, output]
    iteration = ", ".join(f"d{n}" for n in range(len(kinds)))
    maps = ", ".join(f"affine_map<({iteration}) -> ({results})>" for _, results in operands)
    words = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
    names = ", ".join(f"%{block.name}" for block, _ in inputs)
    types = ", ".join(block.type for block, _ in inputs)
    arguments = ", ".join(f"%t{n}: {block.tile}" for n, (block, _) in enumerate(operands))
    for number, (block, _) in enumerate(operands):
        body = body.replace(f"!t{number}", block.tile)
    ins = f"ins({names} : {types}) " if inputs else ""
    last = output[0]
    return (
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{words}]}} {ins}"
        f"outs(%{last.name} : {last.type}) {{\n^bb0({arguments}):\n{body}\n"
        f"linalg.yield %e : {last.tile}\n}}"
    )


def unary(op: str, properties: str = "") -> str:
    """The body of an operation on one tile."""
    return f'%e = "d2m.tile_{op}"(%t0){properties} : (!t0) -> !t1'


def binary(op: str) -> str:
    """The body of an operation on two tiles."""
    return f'%e = "d2m.tile_{op}"(%t0, %t1) : (!t0, !t1) -> !t2'


def spread(kind: str, number: int = 1) -> str:
    """The line that repeats a part of a tile as `%q`."""
    return (
        f'%q = "d2m.tile_bcast"(%t{number}) <{{bcast_type = #d2m<tile_bcast_type {kind}>}}> : '
        f"(!t{number}) -> !t{number}\n"
    )


def reduce(word: str, dim: str) -> str:
    """The body of a reduction of tiles with a scaler."""
    return (
        f'%e = "d2m.tile_reduce_{word}"(%t0, %t1, %t2) <{{reduce_dim = #d2m<reduce_dim {dim}>}}> : '
        "(!t0, !t1, !t2) -> !t2"
    )


MATMUL = '%e = "d2m.tile_matmul"(%t0, %t1, %t2) : (!t0, !t1, !t2) -> !t2'
