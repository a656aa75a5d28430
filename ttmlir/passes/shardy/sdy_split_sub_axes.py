"""Write an axis of which shardings use parts as several axes.

Before:

    sdy.mesh @mesh = <["x"=8]>
    func.func @main(%a: tensor<64x32xf32> {sdy.sharding =
        #sdy.sharding<@mesh, [{"x":(1)2}, {"x":(2)4}]>}) -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["x_0"=2, "x_1"=4]>
      func.func @main(%arg0: tensor<64x32xf32> {sdy.sharding =
          #sdy.sharding<@mesh, [{"x_0"}, {"x_1"}]>}) -> tensor<64x32xf32> {
        return %arg0 : tensor<64x32xf32>
      }
    }

Requires: one mesh; a module of several stays as it is.
Ensures: shardings, regions and collectives of sdy name whole axes; devices keep their numbers.
Options: none.
Not done here: parts of one axis that begin or end within one another are refused.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ttmlir.dialects import sdy
from ttmlir.ir.rewriting import refuse_at
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import Dimension, Sharding, map_shardings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_NAMED = re.compile(r'"([^"]*)"(?::\((\d{1,9})\)(\d{1,9}))?')
_Parts = Mapping[str, list[tuple[int, int, str]]]
"""Of axes that are split, where each part begins and ends, and its name."""


@dataclass(frozen=True)
class SdySplitSubAxesPass(ModulePass):
    """Write an axis of which shardings use parts as several axes."""

    name = "sdy-split-sub-axes"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Find the parts, then name them wherever an axis is named."""
        meshes = [op for op in module.body.block.ops if isinstance(op, sdy.MeshOp)]
        if len(meshes) != 1:
            return
        parts = _parts_of(meshes[0], [*_texts_in(module)])
        if not parts:
            return
        axes = sdy.axes_of(meshes[0].text)
        new = {
            name: end // start
            for axis, extent in axes.items()
            for start, end, name in parts.get(axis, [(1, extent, axis)])
        }
        listed = ", ".join(f'"{name}"={extent}' for name, extent in new.items())
        old = ", ".join(f'"{name}"={extent}' for name, extent in axes.items())
        text = meshes[0].text.replace(f"[{old}]", f"[{listed}]", 1)
        meshes[0].properties["mesh"] = sdy.MeshAttr(text)
        map_shardings(module, lambda sharding: _renamed(sharding, parts))
        for op in module.walk():
            for name, said in op.properties.items():
                if isinstance(said, sdy.ManualAxesAttr | sdy.AxesAttr):
                    op.properties[name] = type(said)(_named(said.data, parts))


def _texts_in(module: ModuleOp) -> Iterator[str]:
    """The texts that name axes."""
    found: list[Sharding] = []

    def note(sharding: Sharding) -> Sharding:
        found.append(sharding)
        return sharding

    map_shardings(module, note)
    yield from map(str, found)
    for op in module.walk():
        for said in op.properties.values():
            if isinstance(said, sdy.ManualAxesAttr | sdy.AxesAttr):
                yield said.data


def _parts_of(mesh: sdy.MeshOp, texts: Iterable[str]) -> _Parts:
    axes = sdy.axes_of(mesh.text)
    bounds = {axis: {1, extent} for axis, extent in axes.items()}
    for text in texts:
        for found in _NAMED.finditer(text):
            if not found[2] or found[1] not in axes:
                continue
            start, size = int(found[2]), int(found[3])
            known = bounds[found[1]] | {start, start * size}
            is_part = start > 0 and size > 1 and start * size <= axes[found[1]]
            if not is_part or any(b % a for a, b in itertools.pairwise(sorted(known))):
                refuse_at(
                    mesh,
                    f"{found[0]} is no part of an axis of {axes[found[1]]} devices beside the "
                    "other parts of it; a part (p)n of an axis has n devices, p times in turn",
                )
            bounds[found[1]] = known
    taken = {*axes}
    parts: dict[str, list[tuple[int, int, str]]] = {}
    for axis, known in bounds.items():
        if len(known) <= 2:
            continue
        for number, (start, end) in enumerate(itertools.pairwise(sorted(known))):
            name = f"{axis}_{number}"
            while name in taken:
                name += "_"
            taken.add(name)
            parts.setdefault(axis, []).append((start, end, name))
    return parts


def _axes_of(found: re.Match[str], parts: _Parts) -> list[str]:
    """The axes that stand for one that is named, or for a part of it."""
    many = parts.get(found[1])
    if many is None:
        return [f'"{found[1]}"']
    first = int(found[2] or 1)
    last = first * int(found[3]) if found[3] else many[-1][1]
    return [f'"{name}"' for start, end, name in many if first <= start and end <= last]


def _named(text: str, parts: _Parts) -> str:
    return _NAMED.sub(lambda found: ", ".join(_axes_of(found, parts)), text)


def _renamed(sharding: Sharding, parts: _Parts) -> Sharding:
    def change(dimension: Dimension) -> Dimension:
        axes = (axis for text in dimension.axes for axis in _axes_in(text, parts))
        return replace(dimension, axes=tuple(axes))

    rest = _named(sharding.rest, parts)
    return replace(sharding, dimensions=tuple(map(change, sharding.dimensions)), rest=rest)


def _axes_in(text: str, parts: _Parts) -> list[str]:
    found = _NAMED.fullmatch(text)
    return [text] if found is None else _axes_of(found, parts)
