"""Loops over tiles of compute regions as text: operands, local buffers, maps and bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samples.metal_programs import spell


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


def local(block: Block, address: int) -> str:
    """The allocation of a local buffer."""
    return (
        f"%{block.name} = memref.alloc() {{address = {address} : i64, alignment = 16 : i64}} : "
        f"{block.type}"
    )


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
