"""Places of extremes along divided dimensions: each device looks for that of its part.

    value, place = reduce(x, iota)      # over a dimension of 12 elements that 4 devices divide
    values, places = reduce(reshape(x, (4, 3)), iota of 3)
    value, part = reduce(values, iota of 4)
    place = 3 * part + places[part]

What devices exchange are then as many numbers as there are parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerAttr, TensorType, i1, i64
from xdsl.ir import Operation

from ttmlir.dialects import sdy
from ttmlir.dialects.stablehlo.attrs import ComparisonDirectionAttr, ComparisonTypeAttr
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.rewriting import replace
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.shardy.spreading.shardings import SHARDING, Dimension, Sharding, sharding_of
from ttmlir.passes.stablehlo.stablehlo_bodies import picks_extreme

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute, SSAValue

    from ttmlir.arrays.array import Array


def split_extremes(function: FuncOp, mesh: sdy.Mesh) -> None:
    """Look for places of extremes in parts first, wherever devices have parts."""
    for op in [each for each in function.walk() if each.name == "stablehlo.reduce"]:
        sharding = sharding_of(op.operands[0])
        dims = integers(op, "dimensions")
        if sharding is None or len(dims) != 1 or not _finds_places(op, dims[0]):
            continue
        count = sharding.parts(mesh)[dims[0]]
        if count > 1 and value_shape(op.operands[0])[dims[0]] % count == 0:
            _split(op, dims[0], count, sharding.closed())


def _finds_places(op: Operation, dim: int) -> bool:
    """True for the largest or the smallest element, and its place along a dimension."""
    if len(op.results) != 2:
        return False
    places = op.operands[1].owner
    return (
        isinstance(places, Operation)
        and places.name == "stablehlo.iota"
        and integer(places, "iota_dimension") == dim
        and any(picks_extreme(op.regions[0], largest=largest) for largest in (True, False))
    )


def _split(op: Operation, dim: int, count: int, sharding: Sharding) -> None:
    shape = value_shape(op.operands[0])
    size = shape[dim] // count
    parts = (*shape[:dim], count, *shape[dim + 1 :])
    parted = (*shape[:dim], count, size, *shape[dim + 1 :])
    dims = sharding.dimensions
    inside = _Writer(op, (*dims[: dim + 1], Dimension(), *dims[dim + 1 :]), sharding)
    along = _Writer(op, dims, sharding)
    whole = _Writer(op, (*dims[:dim], Dimension(), *dims[dim + 1 :]), sharding)
    made = _Writer(op, (*dims[:dim], *dims[dim + 1 :]), sharding)
    place = element_type(op.operands[1])

    values = inside.make("reshape", [op.operands[0]], parted)
    values, places = along.reduce(op, [values, inside.count(parted, dim + 1, place)], dim + 1)
    # Places count from the beginning of the part, then from that of the whole.
    begins = along.make(
        "multiply", [whole.count(parts, dim, place), along.fill(size, parts, place)]
    )
    places = along.make("add", [places, begins])
    found, part = made.reduce(op, [values, whole.count(parts, dim, place)], dim)
    kept = [n for n in range(len(parts)) if n != dim]
    is_it = whole.equal(whole.count(parts, dim, place), whole.build.broadcast(part, parts, kept))
    places = whole.make("select", [is_it, places, whole.fill(0, parts, place)])
    replace(op, found, made.sum(places, dim))


class _Writer:
    """Writes operations in front of another one whose results lie in one way."""

    def __init__(self, op: Operation, dims: Sequence[Dimension], like: Sharding) -> None:
        self.build = StableHLOCarrier.before(op)
        self.said = str(Sharding(like.mesh, tuple(dims)))

    def _lie(self, values: Sequence[SSAValue]) -> Sequence[SSAValue]:
        owner = cast("Operation", values[0].owner)
        owner.attributes[SHARDING] = sdy.TensorShardingPerValueAttr(
            f"<[{', '.join([self.said] * len(values))}]>"
        )
        return values

    def make(
        self, name: str, operands: Sequence[SSAValue], shape: Sequence[int] | None = None
    ) -> SSAValue:
        """An operation that keeps the type of its last operand, or that and another shape."""
        shape = value_shape(operands[-1]) if shape is None else shape
        type_ = TensorType(element_type(operands[-1]), shape)
        return self._lie([self.build.make_one(name, operands, type_)])[0]

    def count(self, shape: Sequence[int], dim: int, element: Attribute) -> SSAValue:
        """Places along a dimension."""
        type_, along = TensorType(element, shape), IntegerAttr(dim, i64)
        return self._lie([self.build.make_one("iota", [], type_, iota_dimension=along)])[0]

    def fill(self, number: int, shape: Sequence[int], element: Attribute) -> SSAValue:
        """A number everywhere."""
        return self._lie([self.build.make_constant(TensorType(element, shape), [number])])[0]

    def equal(self, one: SSAValue, other: SSAValue) -> SSAValue:
        """Where two tensors of integers are equal."""
        made = self.build.make_one(
            "compare",
            [one, self._lie([other])[0]],
            TensorType(i1, value_shape(one)),
            comparison_direction=ComparisonDirectionAttr("EQ"),
            compare_type=ComparisonTypeAttr("SIGNED"),
        )
        return self._lie([made])[0]

    def reduce(self, like: Operation, operands: Sequence[SSAValue], dim: int) -> Sequence[SSAValue]:
        """What another reduction makes of these along a dimension."""
        types = [_without(each, dim) for each in operands]
        given = [*operands, *like.operands[2:]]
        region = like.regions[0].clone()
        dims = i64_array([dim])
        return self._lie(self.build.make("reduce", given, types, [region], dimensions=dims))

    def sum(self, value: SSAValue, dim: int) -> SSAValue:
        """The sum along a dimension."""
        scalar = TensorType(element_type(value), ())

        def add(one: Array, other: Array) -> list[Array]:
            return [one + other]

        region = self.build.make_region([scalar, scalar], add)
        given = [value, self.build.make_constant(scalar, [0])]
        dims = i64_array([dim])
        made = self.build.make("reduce", given, [_without(value, dim)], [region], dimensions=dims)
        return self._lie(made)[0]


def _without(value: SSAValue, dim: int) -> TensorType[Attribute]:
    shape = value_shape(value)
    return TensorType(element_type(value), (*shape[:dim], *shape[dim + 1 :]))
