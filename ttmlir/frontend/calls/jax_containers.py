"""What JAX takes for arrays and for containers in arguments and results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ttmlir.frontend.calls.containers import Opened, Opener


def _is_registered(value: Any) -> bool:
    """True for what `jax.tree_util` looks into, be it empty."""
    return not import_module("jax.tree_util").all_leaves((value,))


class JaxOpener(Opener):
    """Arrays and numbers; containers as in `jax.tree_util`, in its order."""

    def is_leaf(self, value: Any) -> bool:
        """True for arrays, numbers, and JAX's descriptions of arrays.

        Containers may have a shape, too: sparse matrices, and variables of flax.
        """
        if isinstance(value, bool | int | float | complex | np.generic | np.ndarray):
            return True
        return hasattr(value, "shape") and hasattr(value, "dtype") and not _is_registered(value)

    def example_like(self, leaf: Any, shape: Sequence[int]) -> Any:
        """A description: JAX traces with nothing else."""
        return import_module("jax").ShapeDtypeStruct(tuple(shape), leaf.dtype)

    def order(self, keys: Sequence[Any]) -> list[Any]:
        """Sorted, as in JAX; as they are if they cannot be compared."""
        try:
            return sorted(keys)
        except TypeError:
            return list(keys)

    def open_mapping(self, value: Mapping[Any, Any]) -> Opened:
        """A dictionary; classes that JAX knows are rebuilt by their own rules."""
        registered = None if isinstance(value, dict) else self.open_registered(value)
        return registered or super().open_mapping(value)

    def open_registered(self, value: Any) -> Opened | None:
        """What `jax.tree_util` has been told of the class."""
        if not _is_registered(value):
            return None
        tree_util: Any = import_module("jax.tree_util")

        def is_child(part: Any) -> bool:
            return part is not value

        keyed, tree = tree_util.tree_flatten_with_path(value, is_leaf=is_child)
        keys = tuple(path[0].key for path, _ in keyed) if isinstance(value, Mapping) else ()
        return Opened(
            names=tuple(tree_util.keystr(path) for path, _ in keyed),
            children=tuple(child for _, child in keyed),
            rebuild=lambda items: tree_util.tree_unflatten(tree, list(items)),
            kind="Dict" if isinstance(value, Mapping) else "Tuple",
            keys=keys,
            context=tree,
        )


OPENER = JaxOpener()
