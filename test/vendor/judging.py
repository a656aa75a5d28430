"""What JAX computes of a program of the corpus, and whether other results agree with that."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from ttmlir.runtime.tensor import Array

JAX: Any = import_module("jax")


@cache
def _backend() -> Any:
    return import_module("jax._src.xla_bridge").get_backend("cpu")


def run_text(text: str, arrays: list[Any]) -> list[Array] | None:
    """What JAX computes of a StableHLO module; None for what it does not compile."""
    client: Any = import_module("jax._src.lib").xla_client
    devices = client.DeviceList(tuple(_backend().devices()[:1]))
    with JAX.enable_x64(True):
        try:
            module = _backend().compile_and_load(text.encode(), devices, client.CompileOptions())
        except JAX.errors.JaxRuntimeError:
            return None
        given = [JAX.device_put(array) for array in arrays]
        outputs = module.execute_sharded(given).disassemble_into_single_device_arrays()
        return [np.asarray(parts[0]) for parts in outputs]


def as_in_files(array: Any) -> Any:
    """Complex numbers and 64 bits as the files have them: pairs along a last dimension."""
    if np.iscomplexobj(array):
        return np.stack([array.real, array.imag], -1)
    if array.dtype == np.uint64:
        return np.ascontiguousarray(array)[..., None].view(np.uint32)
    return array


def assert_agrees(got: Array, wanted: Array) -> None:
    """Most numbers are close; those of reduced precision go together."""
    assert got.shape == wanted.shape
    if not got.size:
        return
    if wanted.dtype.kind == "b":
        # In the file a truth value is any number but 0.
        got = got != 0
    if wanted.dtype.kind in "iub":
        # What the program's type has no room for is in the file's wider one.
        kind = wanted.dtype if got.dtype.kind in "iu" else got.dtype
        assert np.mean(got.astype(kind) == wanted.astype(kind)) > 0.99
        return
    ours, theirs = got.astype(np.float64), wanted.astype(np.float64)
    finite = np.isfinite(ours) & np.isfinite(theirs)
    assert np.mean(np.isfinite(ours) == np.isfinite(theirs)) > 0.99
    ours, theirs = ours[finite], theirs[finite]
    if np.allclose(ours, theirs, rtol=0.02, atol=0.02):
        return
    # Sums of bf16 are rounded at other places.
    assert ours.size > 2
    assert np.corrcoef(ours, theirs)[0, 1] > 0.99
