"""The vendor's `.ttnn` files of 2026, read in all their parts and run, compared with JAX.

A quick run takes a few programs of each family, `make test-all` all of them.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from answers import Archive
from programs import few_names, inputs, names

from ttmlir.cost.program import estimate_program
from ttmlir.explorer.graph import build_program_graph
from ttmlir.runtime.errors import UnsupportedError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.tensor import Array, open_device
from ttmlir.runtime.ttrt.reports import SECTIONS, section_text
from ttmlir.runtime.ttrt.running import fit_inputs

JAX: Any = import_module("jax")
ARCHIVE = Archive("p150")

REFUSED = {
    "CpuOp": "machine code of the host",
    "RandOp": "this runtime has no operation",
    "RngBitGeneratorOp": "this runtime has no operation",
    "PagedFillCacheOp": "this runtime has no operation",
    "PagedUpdateCacheOp": "this runtime has no operation",
    "FillCacheOp": "this runtime has no operation",
    "PagedScaledDotProductAttentionDecodeOp": "this runtime has no operation",
    "ChunkedScaledDotProductAttentionOp": "this runtime has no operation",
    "SamplingOp": "this runtime has no operation",
    "SparseMatmulOp": "this runtime has no operation",
    "AdamWOp": "this runtime has no operation",
    "AllReduceOp": "this runtime has no operation",
}
"""Operations that are read and not run, and what is said of them."""

OF_THE_COMPILER = {
    "constant-i64-dense": "64-bit integers become 32 bits",
    "max_pool_gradient-f32-1x8x10x4": "pooled in bf16, where other numbers are equal",
    "negate-u64-1": "the upper half is 0",
    "sort-i32-33-two_keys": "it sorts by the first key alone",
}
"""Programs whose files compute something else than their text, whoever runs them."""


def _chosen() -> list[Any]:
    quick = {*few_names()}
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.exhaustive)
        for name in names()
        if name in ARCHIVE.names() and ARCHIVE[name].binary is not None
    ]


@cache
def _backend() -> Any:
    return import_module("jax._src.xla_bridge").get_backend("cpu")


def _run_text(text: str, arrays: list[Any]) -> list[Array]:
    """What JAX computes of a StableHLO module; skips what it does not know."""
    client: Any = import_module("jax._src.lib").xla_client
    devices = client.DeviceList(tuple(_backend().devices()[:1]))
    with JAX.enable_x64(True):
        try:
            module = _backend().compile_and_load(text.encode(), devices, client.CompileOptions())
        except JAX.errors.JaxRuntimeError as error:
            pytest.skip(f"JAX does not compile it: {str(error).splitlines()[0]}")
        given = [JAX.device_put(array) for array in arrays]
        outputs = module.execute_sharded(given).disassemble_into_single_device_arrays()
        return [np.asarray(parts[0]) for parts in outputs]


def _check_refusal(error: UnsupportedError) -> None:
    """The message is about an operation that is known not to run."""
    known = [text for name, text in REFUSED.items() if name in str(error)]
    assert [text for text in known if text in str(error)]


def _halves(array: Any) -> Any:
    """Complex numbers and 64 bits as the files have them: pairs along a last dimension."""
    if np.iscomplexobj(array):
        return np.stack([array.real, array.imag], -1)
    if array.dtype == np.uint64:
        return np.ascontiguousarray(array)[..., None].view(np.uint32)
    return array


def _assert_agrees(got: Array, wanted: Array) -> None:
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


@pytest.mark.parametrize("name", _chosen())
def test_every_part_is_read(name: str) -> None:
    """Sections, the estimate and the graph."""
    data = ARCHIVE[name].binary
    assert data is not None
    for section in SECTIONS:
        assert section_text(f"{name}.ttnn", data, section)
    binary = read_binary(data, f"{name}.ttnn")
    for program in (*binary.programs, *binary.functions):
        assert build_program_graph(program, "graph").nodes is not None
    for program in binary.programs:
        try:
            assert len(estimate_program(program).operations) == len(program.operations)
        except UnsupportedError as error:
            _check_refusal(error)


@pytest.mark.parametrize("name", _chosen())
@pytest.mark.filterwarnings("ignore")
def test_a_run_agrees_with_jax(name: str) -> None:
    """On the corpus's own numbers."""
    data = ARCHIVE[name].binary
    assert data is not None
    if name in OF_THE_COMPILER:
        pytest.skip(f"the file means something else: {OF_THE_COMPILER[name]}")
    if name.startswith(("call_", "composite_")):
        pytest.skip("its text does not say what it computes")
    arrays = inputs(name)
    wanted = [_halves(array) for array in _run_text(ARCHIVE[name].given, arrays)]
    binary = read_binary(data, f"{name}.ttnn")
    program = binary.programs[0]
    try:
        given = fit_inputs(program, [np.asarray(_halves(array)) for array in arrays])
        results = submit(open_device(), binary, 0, given)
    except UnsupportedError as error:
        _check_refusal(error)
        pytest.skip(str(error))
    got = [to_host(result).to_numpy() for result in results]
    assert len(got) == len(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        _assert_agrees(ours, theirs)
