"""Imported programs have no operation that computes nothing, and slices where numbers are known."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from samples.torch_programs import imported

torch: Any = import_module("torch")

X, Y, Z = torch.ones(5, 3), torch.ones(3, 7), torch.ones(5, 7)

PROGRAMS: dict[str, tuple[Callable[..., Any], list[Any], list[str]]] = {
    "factors of 1": (torch.addmm, [Z, X, Y], ["matmul", "add"]),
    "no addend": (lambda z, x, y: torch.addmm(z, x, y, beta=0), [Z, X, Y], ["matmul"]),
    "a factor": (
        lambda z, x, y: torch.addmm(z, x, y, alpha=2),
        [Z, X, Y],
        ["matmul", "constant", "multiply", "add"],
    ),
    "known numbers": (lambda x: x.index_select(0, torch.tensor([1, 3])), [X], ["slice"]),
    "one number": (lambda x: x.index_select(0, torch.tensor([2])), [X], ["slice"]),
    "numbers that go down": (
        lambda x: x.index_select(0, torch.tensor([3, 1])),
        [X],
        ["constant", "embedding"],
    ),
    "uneven numbers": (
        lambda x: x.index_select(0, torch.tensor([0, 1, 3])),
        [X],
        ["constant", "embedding"],
    ),
    "the same number twice": (
        lambda x: x.index_select(0, torch.tensor([1, 1])),
        [X],
        ["constant", "embedding"],
    ),
    "numbers from the end": (lambda x: x[torch.tensor([-2, -1])], [X], ["slice"]),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_operations(name: str) -> None:
    """Those of ttir, in order, without the empty destinations."""
    function, arguments, expected = PROGRAMS[name]
    names = [op.name for op in imported(function, *arguments).module.walk()]
    found = [each.removeprefix("ttir.") for each in names if each.startswith("ttir.")]
    assert found == expected
