"""Gathers and scatters of StableHLO at random: about half of them have a fault."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

Shape = list[int]

_REGIONS = (
    ("%x: tensor<f32>", "%x : tensor<f32>"),
    ("%x: tensor<f32>, %y: tensor<f64>", "%x : tensor<f32>"),
    ("%x: tensor<i32>, %y: tensor<i32>", "%x : tensor<i32>"),
    ("%x: tensor<f64>, %y: tensor<f64>", "%x : tensor<f64>"),
    ("%x: tensor<f32>, %y: tensor<2xf32>", "%x : tensor<f32>"),
    ("%x: tensor<f32>, %y: tensor<f32>", "%x, %y : tensor<f32>, tensor<f32>"),
)
"""Parameters and results of functions that combine an element with an update."""


def tensor_type(shape: Sequence[int], element: str = "f32") -> str:
    """A tensor type; -1 is an unknown extent."""
    return f"tensor<{''.join(('?' if size < 0 else str(size)) + 'x' for size in shape)}{element}>"


class _Indexing:
    """Dimension numbers that make sense, and the extents that go with them."""

    def __init__(self, random: Random) -> None:
        rank, indices_rank = random.randrange(1, 5), random.randrange(4)
        self.operand, self.indices = _shape(random, rank), _shape(random, indices_rank)
        self.vector_dim = random.randrange(indices_rank + 1)
        batch_dims = [dim for dim in range(indices_rank) if dim != self.vector_dim]
        dims = random.sample(range(rank), rank)
        count = min(random.choice((0, 0, 1, 1, 2)), rank, len(batch_dims))
        self.batching = sorted(dims[:count])
        self.dropped = sorted(dims[count : random.randrange(count, rank + 1)])
        self.indices_batching = random.sample(batch_dims, count)
        for dim, place in zip(self.batching, self.indices_batching, strict=True):
            self.indices[place] = self.operand[dim]
        rest = [dim for dim in range(rank) if dim not in self.batching]
        depth = min(random.randrange(3), len(rest))
        if self.vector_dim < indices_rank:
            self.indices[self.vector_dim] = depth
        self.index_map = random.sample(rest, depth)
        self.window = [dim for dim in range(rank) if dim not in (*self.batching, *self.dropped)]
        self.batches = [self.indices[dim] for dim in batch_dims]
        places = range(len(self.window) + len(batch_dims))
        self.offsets = sorted(random.sample(places, len(self.window)))

    def spread(self, window: Sequence[int]) -> Shape:
        """Extents of the window and of the batches, each in its places."""
        inner, outer = iter(window), iter(self.batches)
        places = range(len(window) + len(self.batches))
        return [next(inner if dim in self.offsets else outer) for dim in places]


def random_gather(random: Random) -> str:
    """A module with a gather."""
    made = _Indexing(random)
    sizes = [
        random.randrange(max(size, 0) + 1) if dim in made.window else 1
        for dim, size in enumerate(made.operand)
    ]
    lists = {
        "operand": made.operand,
        "indices": made.indices,
        "sizes": sizes,
        "result": made.spread([sizes[dim] for dim in made.window]),
        "offset_dims": made.offsets,
        "collapsed_slice_dims": made.dropped,
        "operand_batching_dims": made.batching,
        "start_indices_batching_dims": made.indices_batching,
        "start_index_map": made.index_map,
    }
    _alter(random, lists)
    operand, indices, result = (
        tensor_type(lists.pop(name), element)
        for name, element in (("operand", "f32"), ("indices", "i32"), ("result", "f32"))
    )
    sizes_text = f"array<i64: {', '.join(map(str, sizes))}>" if lists.pop("sizes") else "array<i64>"
    numbers = _numbers("gather", lists, _vector_dim(random, made))
    return (
        f"func.func @f(%a: {operand}, %i: {indices}) {{\n"
        f'  %0 = "stablehlo.gather"(%a, %i) <{{dimension_numbers = {numbers}, '
        f"slice_sizes = {sizes_text}}}> : ({operand}, {indices}) -> {result}\n"
        "  return\n}"
    )


def random_scatter(random: Random) -> str:
    """A module with a scatter."""
    made = _Indexing(random)
    window = [max(made.operand[dim] - random.randrange(2), -1) for dim in made.window]
    lists = {
        "operand": made.operand,
        "indices": made.indices,
        "updates": made.spread(window),
        "result": list(made.operand),
        "update_window_dims": made.offsets,
        "inserted_window_dims": made.dropped,
        "input_batching_dims": made.batching,
        "scatter_indices_batching_dims": made.indices_batching,
        "scatter_dims_to_operand_dims": made.index_map,
    }
    _alter(random, lists)
    element = random.choice(("f64", "i32")) if random.random() < 0.05 else "f32"
    operand, indices, updates, result = (
        tensor_type(lists.pop(name), of)
        for name, of in (
            *(("operand", "f32"), ("indices", "i32")),
            *(("updates", element), ("result", "f32")),
        )
    )
    region = ("%x: tensor<f32>, %y: tensor<f32>", "%x : tensor<f32>")
    parameters, results = random.choice(_REGIONS) if random.random() < 0.1 else region
    numbers = _numbers("scatter", lists, _vector_dim(random, made))
    return (
        f"func.func @f(%a: {operand}, %i: {indices}, %u: {updates}) {{\n"
        f'  %0 = "stablehlo.scatter"(%a, %i, %u) <{{scatter_dimension_numbers = {numbers}}}> ({{\n'
        f"  ^bb0({parameters}):\n    stablehlo.return {results}\n"
        f"  }}) : ({operand}, {indices}, {updates}) -> {result}\n"
        "  return\n}"
    )


def _shape(random: Random, rank: int) -> Shape:
    extents = (2, 3, 4, 1, 0, -1) if random.random() < 0.15 else (2, 3)
    return [random.choice(extents) for _ in range(rank)]


def _alter(random: Random, lists: dict[str, list[int]]) -> None:
    """Change one of the lists, in half of the cases."""
    if random.random() < 0.5:
        return
    name = random.choice(list(lists))
    items, number = lists[name], random.randrange(-1, 5)
    match random.randrange(5):
        case 0:
            items.reverse()
        case 1:
            items.append(number)
        case 2 if items:
            items[random.randrange(len(items))] = number
        case 3 if items:
            items.pop()
        case _ if items:
            items[-1] = items[0]
        case _:
            pass


def _vector_dim(random: Random, made: _Indexing) -> int:
    return random.randrange(-1, 5) if random.random() < 0.05 else made.vector_dim


def _numbers(name: str, lists: dict[str, list[int]], vector_dim: int) -> str:
    parts = [f"{key} = {items}" for key, items in lists.items() if items]
    return f"#stablehlo.{name}<{', '.join([*parts, f'index_vector_dim = {vector_dim}'])}>"
