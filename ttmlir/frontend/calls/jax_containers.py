"""What JAX takes for arrays and for containers in arguments and results."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ttmlir.frontend.calls.containers import Opened, Opener


class JaxOpener(Opener):
    """Arrays and numbers; containers as in `jax.tree_util`, in its order."""

    def is_leaf(self, value: Any) -> bool:
        """True for arrays, numbers, and JAX's descriptions of arrays."""
        if isinstance(value, bool | int | float | complex | np.generic):
            return True
        return hasattr(value, "shape") and hasattr(value, "dtype")

    def example_like(self, leaf: Any, shape: Sequence[int]) -> Any:
        """A description: JAX traces with nothing else."""
        return import_module("jax").ShapeDtypeStruct(tuple(shape), leaf.dtype)

    def order(self, keys: Sequence[Any]) -> list[Any]:
        """Sorted, as in JAX; as they are if they cannot be compared."""
        try:
            return sorted(keys)
        except TypeError:
            return list(keys)

    def open_registered(self, value: Any) -> Opened | None:
        """What `jax.tree_util` has been told of the class."""
        tree_util: Any = import_module("jax.tree_util")

        def is_child(part: Any) -> bool:
            return part is not value

        keyed, tree = tree_util.tree_flatten_with_path(value, is_leaf=is_child)
        if tree_util.treedef_is_leaf(tree):
            return None
        return Opened(
            names=tuple(tree_util.keystr(path) for path, _ in keyed),
            children=tuple(child for _, child in keyed),
            rebuild=lambda items: tree_util.tree_unflatten(tree, list(items)),
            kind="Tuple",
            context=tree,
        )


OPENER = JaxOpener()
