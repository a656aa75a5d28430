"""StableHLO of the corpus, compiled to text and files of 2026 and run: compared with JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers import Archive
from judging import as_in_files, assert_agrees, run_text
from stablehlo_programs import few_names, inputs, names

import ttmlir

ARCHIVE = Archive("p150")

REFUSED = (
    "convert-stablehlo-to-ttir has no rule for it",
    "its body computes",
    "it has no counterpart in ttnn",
    "has no storage format",
    "cannot be laid out",
    "cannot be written to a .ttnn file",
    "the number of values",
    "When changing to a larger dtype",
    "this runtime has no operation",
    "instead of int32",
)
"""Parts of messages about what is not compiled, or not taken."""

QUICK = (
    *("select_and_scatter-f32-1x8x10x4-ge", "convolution-f32-1x9x11x5-asymmetric"),
    *("convolution_bias-f32-1x8x16x16-nchw", "polygamma-f32-5x7", "multiply-c64-5x7"),
    *("bessel_i1e-f32-5x7", "einsum-f32-5x33", "irfft-c64-3x5"),
)


def _chosen() -> list[Any]:
    quick = {*few_names()[1::3], *QUICK}
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.exhaustive)
        for name in names()
        if name in ARCHIVE.names()
        and ARCHIVE[name].ttir is not None
        # Integers of 64 bits without sign keep 32, which is warned of; others say no numbers.
        and "u64" not in name
        # Which random numbers `stablehlo.rng` gives is not said.
        and name not in ("constant-i64-dense", "rng-f32-33x70-uniform")
        and not name.startswith(("call_", "composite_"))
    ]


@pytest.mark.sampled(every=3)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", _chosen())
def test_results_are_those_of_jax(name: str) -> None:
    """On the corpus's own numbers."""
    arrays = inputs(name)
    computed = run_text(ARCHIVE[name].given, arrays)
    given = [np.asarray(each) for each in arrays]
    try:
        got = ttmlir.compile(ARCHIVE[name].given, spelling="2026", board="p150")(*given)
    except ttmlir.Error as error:
        if not any(part in str(error) for part in REFUSED):
            raise
        return
    if computed is None:
        return
    results = got if isinstance(got, list | tuple) else [got]
    for ours, theirs in zip(results, map(as_in_files, computed), strict=True):
        array = np.asarray(ours)
        assert_agrees(np.asarray(as_in_files(array)) if np.iscomplexobj(array) else array, theirs)
