"""Loops over the positions that `nonzero` finds: `for expert in hit.nonzero():`.

They are unrolled for all indices. Operations without effect mark in the traced program where a
iteration begins, and where the last one ends.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

BEGIN = "begin_iteration"
END = "end_iterations"
MOST_ITERATIONS = 256
"""Loops over more positions would be very long programs."""


@cache
def _operations() -> Any:
    torch = torch_package()
    library = torch.library.Library("ttmlir", "FRAGMENT")
    library.define(f"{BEGIN}(Tensor mask, int number) -> Tensor")
    library.define(f"{END}(Tensor mask) -> ()")

    def begin(mask: Any, number: int) -> Any:
        del number
        return torch.empty((mask.dim(),), dtype=torch.int64)

    def end(mask: Any) -> None:
        del mask

    for name, function in ((BEGIN, begin), (END, end)):
        library.impl(name, function, "CompositeExplicitAutograd")
        torch.library.register_fake(f"ttmlir::{name}", function, lib=library)
        # An iteration whose position nobody needs is an iteration, too.
        torch.fx.node.has_side_effect(getattr(torch.ops.ttmlir, name).default)
    return library


def iterations(mask: Any, known: Any) -> Generator[Any]:
    """The positions of a mask, one in each iteration; `known` learns their numbers."""
    torch = torch_package()
    _operations()
    known.in_iteration = True
    try:
        for number in range(mask.numel()):
            position = torch.ops.ttmlir.begin_iteration(mask, number)
            known.keep(position, _numbers(mask.shape, number))
            yield position
    finally:
        known.in_iteration = False
        torch.ops.ttmlir.end_iterations(mask)


def _numbers(shape: Any, number: int) -> Any:
    torch = torch_package()
    positions: list[int] = []
    for extent in reversed(shape):
        positions.append(number % extent)
        number //= extent
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
        return torch.tensor(positions[::-1], dtype=torch.int64)
