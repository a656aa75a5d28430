"""Exchanges between the devices of a mesh: what a step `ExchangeOp` gives each of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ttmlir.optable import collectives
from ttmlir.optable.op_definition import Shape
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.tensor import Array

Parts = Sequence[Array]
"""The arrays of all devices, in row-major order of the mesh."""

COMBINATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "sum": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "prod": np.multiply,
}


@dataclass(frozen=True)
class Exchange:
    """What devices give each other in a step; calling it gives the arrays of all devices."""

    operation: Operation
    mesh: Shape

    @property
    def kind(self) -> str:
        """Which exchange it is."""
        return self.operation.fields["kind"]

    @property
    def divides(self) -> bool:
        """True where devices have different tensors after it."""
        return self.kind != "aggregate"

    @property
    def waits(self) -> bool:
        """True where a device needs what others have."""
        return self.kind != "mesh_partition"

    def __call__(self, *operands: Parts) -> list[Array]:
        """The arrays that the devices have after it."""
        said, (parts, *others) = self.operation.fields, operands
        match self.kind:
            case "distribute":
                return _cut(parts[0], said["dims"], said["over"])
            case "aggregate":
                whole = _join(parts, said["dims"], said["taken"], self.mesh)
                return [whole] * len(parts)
            case "point_to_point":
                results = [*others[0]] if others else [np.zeros_like(part) for part in parts]
                results[said["receiver"]] = parts[said["sender"]]
                return results
            case _:
                pass
        groups = collectives.groups_of_mesh(self.mesh, said["axis"])
        match self.kind:
            case "all_gather":
                return collectives.all_gather(np, parts, groups, dim=said["dim"])
            case "mesh_partition":
                return collectives.partition(np, parts, groups, dim=said["dim"])
            case "all_reduce":
                combine = COMBINATIONS[said["combination"]]
                return collectives.all_reduce(parts, groups, combine=combine)
            case _:
                combine = COMBINATIONS[said["combination"]]
                return collectives.reduce_scatter(
                    np, parts, groups, dim=said["dim"], combine=combine
                )


def _cut(whole: Array, dims: Sequence[int], mesh: Shape) -> list[Array]:
    """The parts of an array, cut along a dimension for each axis of the mesh; -1 repeats it."""
    parts = [whole]
    for dim, extent in zip(dims, mesh, strict=True):
        parts = [
            piece
            for part in parts
            for piece in ([part] * extent if dim < 0 else np.split(part, extent, dim))
        ]
    return parts


def _join(parts: Parts, dims: Sequence[int], taken: Shape, mesh: Shape) -> Array:
    """The whole of the parts of the first `taken` devices along each axis of the mesh."""
    numbers = np.arange(len(parts)).reshape(mesh if len(mesh) == len(taken) else taken)
    rows: list[Array] = [parts[int(number)] for number in numbers[tuple(map(slice, taken))].flat]
    for dim, extent in reversed([*zip(dims, taken, strict=True)]):
        rows = [
            rows[first] if dim < 0 else np.concatenate(rows[first : first + extent], dim)
            for first in range(0, len(rows), extent)
        ]
    return rows[0]
