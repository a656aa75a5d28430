"""ATen operations expressed in torch, by operations that have rules.

torch's own decompositions lead to primitives of other compilers, or are written for speed on other
machines. Those here are functions of tensors, as a user would write them; torch traces them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from ttmlir.frontend.torch.decompositions import (
    counting,
    ordering,
    products,
    quantization,
    running,
    sampling,
    scattering,
    special,
    windows,
)
from ttmlir.frontend.torch.elements import torch_package

_TABLE: dict[str, Callable[..., Any]] = {
    **counting.DECOMPOSITIONS,
    **ordering.DECOMPOSITIONS,
    **products.DECOMPOSITIONS,
    **quantization.DECOMPOSITIONS,
    **running.DECOMPOSITIONS,
    **sampling.DECOMPOSITIONS,
    **scattering.DECOMPOSITIONS,
    **special.DECOMPOSITIONS,
    **windows.DECOMPOSITIONS,
}

DECOMPOSED = frozenset(_TABLE)
"""Names of operations, all overloads, or of one overload, such as `median.dim`."""


@cache
def own_decompositions() -> dict[Any, Callable[..., Any]]:
    """The functions by the overloads that they express."""
    return dict(_overloads())


def _overloads() -> Iterator[tuple[Any, Callable[..., Any]]]:
    namespace = torch_package().ops.aten
    for name, function in _TABLE.items():
        base, _, overload = name.partition(".")
        packet: Any = getattr(namespace, base, None)
        if packet is None:
            # Another version of torch does not have it.
            continue
        names = [overload] if overload else packet.overloads()
        for each in names:
            found: Any = getattr(packet, each, None)
            if found is not None and "out" not in each:
                yield found, function
