"""Calls by the signature that a file holds, without the framework that the model comes from."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ttmlir.frontend.calls.calling import CallingConvention, Number
from ttmlir.frontend.errors import missing_package
from ttmlir.runtime.complex_pairs import join_pairs, split_leaves
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.session import array_of_torch
from ttmlir.runtime.signature import CallSignature

FRAMEWORKS = ("", "jax", "torch")
"""Packages whose arrays a call can return; an empty name is NumPy."""


def convention_of(
    signature: CallSignature, bound: Mapping[int, Array], framework: str = ""
) -> CallingConvention:
    """How a program is called by its signature.

    Arguments are arrays of NumPy, JAX or torch; results those of `framework`. `bound` are the
    inputs that no argument gives.
    """
    caller = _Caller(signature, dict(bound), make_arrays_of(framework))
    return CallingConvention(
        name=signature.name,
        input_names=[
            each for index, each in enumerate(signature.input_names) if index not in bound
        ],
        flatten=caller.flatten,
        unflatten=caller.unflatten,
        bound=caller.bound,
    )


class _Caller:
    """Between the values of a call and the arrays of one program; keeps state between calls."""

    def __init__(
        self, signature: CallSignature, bound: dict[int, Array], make: Callable[[Array], Any]
    ) -> None:
        self.bound = bound
        self._signature = signature
        self._make = make

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        """The arrays of a call."""
        try:
            leaves = self._signature.flatten(args, kwargs)
        except InputError as error:
            raise InputError(f"'{self._signature.name}': {error}") from None
        is_jax = self._signature.framework == "jax"
        flags, names = self._signature.arguments.are_complex, self._signature.leaf_names
        arrays = [
            as_array(leaf, f"'{self._signature.name}': {name}", narrow=is_jax)
            for name, leaf in zip(names, leaves, strict=True)
        ]
        return split_leaves(arrays, flags, names, self._signature.name)

    def unflatten(self, results: Sequence[Array]) -> Any:
        """What a call returns; new values of state are kept."""
        signature = self._signature
        state = signature.bound[len(signature.bound) - signature.state :]
        self.bound.update(zip(state, results, strict=False))
        joined = join_pairs(results[len(state) :], signature.results.are_complex)
        return signature.results.unflatten(iter([self._make(result) for result in joined]))


def as_array(leaf: Any, what: str, *, narrow: bool = False) -> Array | Number:
    """A number of Python as it is, an array of NumPy, JAX or torch as one of NumPy.

    With `narrow`, numbers of 64 bits become those of 32 bits, as in JAX. InputError, which calls it
    `what`, for everything else.
    """
    if isinstance(leaf, Number):
        return leaf
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(leaf, torch.Tensor):
        array = array_of_torch(torch, leaf, what)
    else:
        array = np.asarray(leaf)
    if array.dtype == np.dtype(object):
        held = "an array of objects" if hasattr(leaf, "dtype") else f"a {type(leaf).__name__}"
        raise InputError(f"{what} is an array or a number, not {held}")
    kind = array.dtype.kind
    if narrow and array.dtype.itemsize == (_WIDE_COMPLEX if kind == "c" else _WIDE):
        return array.astype(f"{kind}{array.dtype.itemsize // 2}")
    return array


_WIDE = 8
_WIDE_COMPLEX = 16
"""Bytes of numbers of 64 bits."""


def make_arrays_of(framework: str) -> Callable[[Array], Any]:
    """What makes a framework's arrays; ImportError if it is not installed."""
    if framework not in FRAMEWORKS:
        raise ValueError(f"framework is 'jax', 'torch' or '' for NumPy, not {framework!r}")
    try:
        if framework == "torch":
            return import_module("ttmlir.frontend.torch.model").tensor_of
        if framework == "jax":
            return import_module("jax.numpy").asarray
    except ImportError as error:
        raise missing_package(framework, framework, f"returning arrays of {framework}") from error
    return lambda array: array
