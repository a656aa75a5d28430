"""ATen operations expressed in torch, by operations that have rules.

torch's own decompositions lead to primitives of other compilers, or are written for speed on other
machines. Those here are functions of tensors, as a user would write them; torch traces them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ttmlir.frontend.torch.decompositions import (
    linear_algebra,
    lists,
    products,
    quantization,
    segments,
)
from ttmlir.frontend.torch.elements import torch_package

_TABLE: dict[str, Callable[..., Any]] = {
    **linear_algebra.DECOMPOSITIONS,
    **lists.DECOMPOSITIONS,
    **products.DECOMPOSITIONS,
    **quantization.DECOMPOSITIONS,
    **segments.DECOMPOSITIONS,
}


def own_decompositions() -> dict[Any, Callable[..., Any]]:
    """The functions by the overloads that they express, of the operations that are loaded."""
    return dict(_overloads())


def _overloads() -> Iterator[tuple[Any, Callable[..., Any]]]:
    torch = torch_package()
    for name, function in _TABLE.items():
        base, _, overload = name.partition(".")
        namespace: Any = torch.ops.aten
        if base in _LIBRARIES:
            namespace = getattr(torch.ops, base)
            base, _, overload = overload.partition(".")
        # Another version of torch may not have it, and a library may not be imported.
        packet: Any = getattr(namespace, base, None)
        for each in () if packet is None else [overload] if overload else packet.overloads():
            found: Any = getattr(packet, each, None)
            if found is not None and "out" not in each:
                yield found, function


_LIBRARIES = ("quantized_decomposed", "transformers")
"""Namespaces of operations that are not ATen's."""
