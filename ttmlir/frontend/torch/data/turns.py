"""Loops over the places that `nonzero` finds: `for expert in hit.nonzero():`.

They are unrolled for all indices. Operations without effect mark in the traced program where a
turn begins, and where the last one ends.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import cache
from typing import Any

from ttmlir.frontend.torch.elements import torch_package

BEGIN = "begin_turn"
END = "end_turns"
MOST_TURNS = 256
"""Loops over more places would be very long programs."""


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
        # A turn whose place nobody needs is a turn, too.
        torch.fx.node.has_side_effect(getattr(torch.ops.ttmlir, name).default)
    return library


def turns(mask: Any, known: Any) -> Generator[Any]:
    """The places of a mask, one in each turn; `known` learns their numbers."""
    torch = torch_package()
    _operations()
    known.in_turn = True
    try:
        for number in range(mask.numel()):
            place = torch.ops.ttmlir.begin_turn(mask, number)
            known.keep(place, _numbers(mask.shape, number))
            yield place
    finally:
        known.in_turn = False
        torch.ops.ttmlir.end_turns(mask)


def _numbers(shape: Any, number: int) -> Any:
    torch = torch_package()
    places: list[int] = []
    for extent in reversed(shape):
        places.append(number % extent)
        number //= extent
    with torch._C.DisableTorchFunction(), torch.utils._python_dispatch._disable_current_modes():
        return torch.tensor(places[::-1], dtype=torch.int64)
