"""The vendor's `.ttnn` files of 2026, read in all their parts and run, compared with JAX.

A quick run takes a few programs of each family, `make test-all` all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers import Archive
from judging import as_in_files, assert_agrees, run_text
from stablehlo_programs import few_names, inputs, names

from ttmlir.cost.program import estimate_program
from ttmlir.explorer.graph import build_program_graph
from ttmlir.runtime.errors import UnsupportedError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.tensor import open_device
from ttmlir.runtime.ttrt.reports import SECTIONS, section_text
from ttmlir.runtime.ttrt.running import fit_inputs

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


def _check_refusal(error: UnsupportedError) -> None:
    """The message is about an operation that is known not to run."""
    known = [text for name, text in REFUSED.items() if name in str(error)]
    assert [text for text in known if text in str(error)]


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


def _judged() -> list[Any]:
    """Those whose texts say what the files compute."""
    return [
        each
        for each in _chosen()
        if not (name := str(each.values[0])).startswith(("call_", "composite_"))
        and name not in OF_THE_COMPILER
    ]


@pytest.mark.parametrize("name", _judged())
@pytest.mark.filterwarnings("ignore")
def test_a_run_agrees_with_jax(name: str) -> None:
    """On the corpus's own numbers, or is refused for what is known not to run."""
    data = ARCHIVE[name].binary
    assert data is not None
    arrays = inputs(name)
    binary = read_binary(data, f"{name}.ttnn")
    try:
        given = fit_inputs(binary.programs[0], [np.asarray(as_in_files(each)) for each in arrays])
        results = submit(open_device(), binary, 0, given)
    except UnsupportedError as error:
        _check_refusal(error)
        return
    got = [to_host(result).to_numpy() for result in results]
    computed = run_text(ARCHIVE[name].given, arrays)
    if computed is None:
        return
    wanted = [as_in_files(array) for array in computed]
    assert len(got) == len(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        assert_agrees(ours, theirs)
