"""Shardings of GSPMD, read from the text of an HloSharding.

    tiling = read_tiling("{devices=[2,1,4]<=[8] last_tile_dim_replicate}", op)
    tiling.dims[0]            # [(2, 4)]: two parts, four devices apart

A device has a number; along each tile dimension numbers grow in steps. `find_mesh` finds the axes
of a mesh over which the steps of all shardings of a program go.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ttmlir.dialects.sdy import Mesh
from ttmlir.ir.rewriting import refuse_at
from ttmlir.limits import MAX_CHIPS

if TYPE_CHECKING:
    from xdsl.ir import Operation

Steps = list[tuple[int, int]]
"""How many devices, and how far apart, slowest first."""

_TILES = re.compile(
    r"devices=\[([\d,]{1,200})\](?:<=\[([\d,]{1,200})\](?:T\(([\d,]{1,200})\))?|(\d[\d,]*))"
    r"(?: last_tile_dim_replicate| last_tile_dims=\{([a-z, ]*)\})?"
)
_WORDS = ("replicated", "manual", "unknown")
_METADATA = re.compile(r"\s*metadata=\{[^{}]*\}")


@dataclass(frozen=True)
class Tiling:
    """How a tensor lies on devices."""

    text: str
    word: str = ""
    """`replicated`, `manual` or `unknown`; empty where there are tiles."""
    dims: list[Steps] = field(default_factory=list[Steps])
    """The devices along each dimension of the tensor."""
    groups: dict[str, Steps] = field(default_factory=dict[str, Steps])
    """Devices that have equal parts (`replicated`), or that the program tells apart (`manual`)."""

    @property
    def steps(self) -> Steps:
        """All of them."""
        return [step for steps in (*self.dims, *self.groups.values()) for step in steps]


def split_tuple(text: str) -> list[str]:
    """The shardings of several values: `{{replicated}, {maximal device=0}}` has two."""
    inner = text.strip()[1:-1].strip()
    if not inner.startswith("{"):
        return [text]
    found, depth, start = list[str](), 0, 0
    for place, sign in enumerate(inner):
        if sign == "{":
            start = place if not depth else start
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                found.append(inner[start : place + 1])
    return found


def read_tiling(text: str, op: Operation) -> Tiling:
    """Read the sharding of one value; what cannot be said over a mesh is refused at `op`."""
    braces = _METADATA.sub("", text.strip())
    body = braces[1:-1].strip() if braces[:1] + braces[-1:] == "{}" else ""
    if body in _WORDS:
        return Tiling(text, body)
    if body.startswith("maximal"):
        refuse_at(op, f"the sharding {text} puts a tensor on one device; devices have parts of it")
    found = _TILES.fullmatch(body)
    if found is None:
        refuse_at(
            op,
            f"'{text}' is no sharding that is known here; there are {{replicated}}, {{manual}}, "
            "{devices=[2,4]<=[8]}, {devices=[4,2]<=[2,4]T(1,0)}, and lists of devices",
        )
    tiles = _numbers(found[1])
    ids = _ids(found, tiles)
    steps = None if ids is None else _steps_of(ids)
    if steps is None:
        refuse_at(op, f"the sharding {text} does not name each device once, in even steps")
    kinds = ["replicated"] if "last_tile_dim_replicate" in body else []
    kinds = [each.strip() for each in found[5].split(",")] if found[5] is not None else kinds
    count = len(tiles) - len(kinds)
    if count < 0 or not {*kinds} <= {"replicated", "manual"} or len({*kinds}) < len(kinds):
        refuse_at(op, f"the sharding {text} has groups other than replicated and manual")
    return Tiling(text, "", steps[:count], dict(zip(kinds, steps[count:], strict=True)))


def _numbers(text: str) -> list[int]:
    return [int(each[:6]) for each in text.split(",") if each]


def _ids(found: re.Match[str], tiles: list[int]) -> np.ndarray | None:
    """The number of the device at each place of the tiles."""
    count = math.prod(tiles)
    if not 0 < count <= MAX_CHIPS:
        return None
    if found[4] is not None:
        numbers = np.array(_numbers(found[4]))
    else:
        extents = _numbers(found[2])
        order = _numbers(found[3]) if found[3] is not None else [*range(len(extents))]
        if math.prod(extents) != count or sorted(order) != [*range(len(extents))]:
            return None
        numbers = np.arange(count).reshape(extents).transpose(order).reshape(-1)
    if sorted(numbers.tolist()) != [*range(count)]:
        return None
    return numbers.reshape(tiles)


def _steps_of(ids: np.ndarray) -> list[Steps] | None:
    """The steps along each dimension; None where numbers do not grow in steps."""
    steps: list[Steps] = []
    for dim in range(ids.ndim):
        line = np.moveaxis(ids, dim, 0).reshape(ids.shape[dim], -1)[:, 0]
        found = steps_along(line.tolist())
        if found is None:
            return None
        steps.append(found)
    whole = np.zeros((1,), np.int64)
    for count, stride in itertools.chain.from_iterable(steps):
        whole = (whole[:, None] + np.arange(count) * stride).reshape(-1)
    return steps if np.array_equal(whole + ids.reshape(-1)[0], ids.reshape(-1)) else None


def steps_along(line: Sequence[int]) -> Steps | None:
    """The steps of a list of numbers, slowest first; None where they do not grow in steps."""
    steps: Steps = []
    rest = [each - line[0] for each in line]
    while len(rest) > 1:
        stride, count = rest[1], 1
        while count < len(rest) and rest[count] == count * stride:
            count += 1
        while len(rest) % count:
            count -= 1
        if stride <= 0 or count < 2:
            return None
        steps.insert(0, (count, stride))
        rest = rest[::count]
    return steps


def find_mesh(op: Operation, tilings: Iterable[Tiling], count: int, hints: Iterable[Steps]) -> Mesh:
    """The mesh of `count` devices, with an axis for each step that shardings make.

    `hints` are steps of other lists of devices, such as groups, that have axes as long as the mesh
    has no more than two.
    """
    bounds = {1, count}
    for tiling in tilings:
        bounds |= {bound for size, stride in tiling.steps for bound in (stride, size * stride)}
        if not _is_chain(bounds):
            refuse_at(
                op, f"no mesh of {count} devices has {tiling.text} beside the other shardings"
            )
    for steps in hints:
        more = bounds | {bound for size, stride in steps for bound in (stride, size * stride)}
        bounds = more if _is_chain(more) and len(more) <= 3 else bounds
    ordered = sorted(bounds, reverse=True)
    extents = [high // low for high, low in itertools.pairwise(ordered)]
    return {f"axis_{number}": extent for number, extent in enumerate(extents)}


def _is_chain(bounds: set[int]) -> bool:
    return all(high % low == 0 for low, high in itertools.pairwise(sorted(bounds)))


def axes_along(mesh: Mesh, steps: Steps) -> tuple[str, ...]:
    """The axes of a mesh that steps go along, as shardings spell them."""
    found: list[str] = []
    for size, stride in steps:
        low = math.prod(mesh.values())
        for name, extent in mesh.items():
            low //= extent
            if stride <= low < size * stride:
                found.append(f'"{name}"')
    return tuple(found)
