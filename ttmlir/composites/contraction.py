"""Sums of products in Einstein's notation."""

from __future__ import annotations

from collections.abc import Sequence

from ttmlir.arrays.array import Array, contract
from ttmlir.errors import ArgumentError

_MORE = "."
"""Stands for the dimensions of `...`, which are numbered from the last one on."""


def einsum(equation: str, arrays: Sequence[Array]) -> Array:
    """`einsum("bij,bjk->bik", [a, b])`, as in NumPy; ArgumentError for what is no equation."""
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    if len(terms) != len(arrays):
        raise ArgumentError(
            f"the equation '{equation}' has {len(terms)} terms for {len(arrays)} tensors"
        )
    named = [_name(equation, term, x.rank) for term, x in zip(terms, arrays, strict=True)]
    most = max((sum(_MORE in name for name in names) for names in named), default=0)
    if arrow:
        result = _name(equation, right, len(right.replace("...", "")) + most * ("..." in right))
    else:
        result = _implied(named, most)
    if len(set(result)) != len(result) or {*result} - {name for names in named for name in names}:
        raise ArgumentError(f"the result of the equation '{equation}' has wrong letters")
    found, dims = _without_repetitions(arrays[0], named[0])
    for number, (x, names) in enumerate(zip(arrays[1:], named[1:], strict=True), start=2):
        x, names = _without_repetitions(x, names)
        later = {name for each in named[number:] for name in each}
        kept = [name for name in dict.fromkeys([*dims, *names]) if name in {*result, *later}]
        found, dims = _product(found, dims, x, names, kept), kept
    lost = [place for place, name in enumerate(dims) if name not in result]
    found = found.sum(*lost, keep=False)
    dims = [name for name in dims if name in result]
    return found.permute([dims.index(name) for name in result])


def _product(
    a: Array, a_dims: Sequence[str], b: Array, b_dims: Sequence[str], dims: Sequence[str]
) -> Array:
    """The product of two; extents of 1 in one of them are repeated."""
    shared = [name for name in a_dims if name in b_dims]
    sizes = {name: max(a.shape[a_dims.index(name)], b.shape[b_dims.index(name)]) for name in shared}
    a, b = (
        each.broadcast([sizes.get(name, n) for name, n in zip(names, each.shape, strict=True)])
        for each, names in ((a, a_dims), (b, b_dims))
    )
    return contract(a, a_dims, b, b_dims, dims)


def _name(equation: str, term: str, rank: int) -> list[str]:
    """The name of each dimension of a tensor."""
    before, dots, after = term.partition("...")
    letters = before + after
    count = rank - len(letters)
    if not all(map(str.isalpha, letters)) or count < 0 or (count and not dots):
        raise ArgumentError(
            f"the term '{term}' of the equation '{equation}' does not fit a tensor of {rank} "
            "dimensions"
        )
    return [*before, *(f"{_MORE}{number}" for number in range(count, 0, -1)), *after]


def _implied(named: Sequence[Sequence[str]], most: int) -> list[str]:
    """What an equation without an arrow leaves: what there is once, in the order of letters."""
    flat = [name for names in named for name in names]
    once = sorted(name for name in set(flat) if flat.count(name) == 1 and _MORE not in name)
    return [*(f"{_MORE}{number}" for number in range(most, 0, -1)), *once]


def _without_repetitions(x: Array, names: Sequence[str]) -> tuple[Array, list[str]]:
    """The diagonal of dimensions with the same name."""
    names = list(names)
    for name in dict.fromkeys(names):
        while names.count(name) > 1:
            first = names.index(name)
            second = names.index(name, first + 1)
            rest = [place for place in range(x.rank) if place not in (first, second)]
            extent = x.shape[first]
            if x.shape[second] != extent:
                raise ArgumentError(f"the dimensions '{name}' have different extents")
            moved = x.permute([*rest, first, second])
            flat = moved.reshape((*moved.shape[:-2], extent * extent))
            x = flat.cut(flat.rank - 1, 0, extent * extent, extent + 1)
            names = [*(names[place] for place in rest), name]
    return x, names
