"""The vendor's ttir of 2026, compiled and run here, compared with JAX."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from answers import Archive
from judging import as_in_files, assert_agrees, run_text
from stablehlo_programs import few_names, inputs, names

import ttmlir
from ttmlir.compiler import parse, transform
from ttmlir.mlir.module_printer import print_module

ARCHIVE = Archive("p150")

REFUSED = {
    "ttir.conv1d": "not made of operations of that year",
    "ttir.conv3d": "not made of operations of that year",
    "ttir.max_pool2d_with_indices": "not made of operations of that year",
    "ttir.batch_norm_training": "not made of operations of that year",
    "ttir.rng_bit_generator": "not made of operations of that year",
    "ttir.rand": "not made of operations of that year",
    "ttir.reduce_bitwise": "not made of operations of that year",
    "ttir.quantize": "not made of operations of that year",
    "ttir.dequantize": "not made of operations of that year",
    "ttir.requantize": "not made of operations of that year",
    "ttir.all_": "not made of operations of that year",
    "ttir.collective_": "not made of operations of that year",
    "ttir.reduce_scatter": "not made of operations of that year",
    "ttir.avg_pool2d": "divides by 0",
    "ttcore.cpu_module": "convert-ttir-to-ttnn takes ttir",
    "ttcore.while_loop": "the number of iterations is a constant",
    "cannot be laid out": "has no storage format",
    "no layout for": "has no storage format",
}
"""Parts of messages about what does not compile, and what they say."""

OF_THE_COMPILER = {
    "constant-i64-dense": "64-bit integers become 32 bits",
    "negate-u64-1": "the upper half is 0",
    "reduce-f32-33x70-other_start": "the number that the sum starts with is left out",
    "sort-i32-33-two_keys": "it sorts by the first key alone",
}
"""Programs whose ttir computes something else than their text."""


def _chosen() -> list[Any]:
    quick = {*few_names()[::2]}
    return [
        pytest.param(name, marks=() if name in quick else pytest.mark.exhaustive)
        for name in names()
        if name in ARCHIVE.names()
        and ARCHIVE[name].ttir is not None
        and name not in OF_THE_COMPILER
        # What their texts compute is not said.
        and not name.startswith(("call_", "composite_"))
    ]


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", _chosen())
@pytest.mark.filterwarnings("ignore")
def test_a_program_agrees_with_jax(name: str) -> None:
    """On the corpus's own numbers."""
    ttir = ARCHIVE[name].ttir
    assert ttir is not None
    arrays = inputs(name)
    computed = run_text(ARCHIVE[name].given, arrays)
    try:
        compiled = ttmlir.compile(ttir)
    except ttmlir.Error as error:
        known = [text for part, text in REFUSED.items() if part in str(error)]
        if not [text for text in known if text in str(error)]:
            raise
        return
    if computed is None:
        return
    wanted = [as_in_files(array) for array in computed]
    got = compiled(*(np.asarray(as_in_files(array)) for array in arrays))
    results = got if isinstance(got, list | tuple) else [got]
    assert len(results) == len(wanted)
    for ours, theirs in zip(results, wanted, strict=True):
        assert_agrees(np.asarray(ours), theirs)


@pytest.mark.parametrize("name", _chosen())
def test_spellings_lead_back(name: str) -> None:
    """What was written in 2024's words, and then in those of 2026, is the same in 2024's."""
    text = ARCHIVE[name].ttir
    assert text is not None
    early = parse(text)
    try:
        transform(early, "convert-spelling")
        late = parse(print_module(early))
        transform(late, "convert-spelling{to=2026}")
    except ttmlir.Error as error:
        known = (*REFUSED, "2026 has no such operation of ttir", "ttcore.cpu_module")
        if not [part for part in known if part in str(error)]:
            raise
        return
    again = parse(print_module(late))
    transform(again, "convert-spelling")
    if "slice_dynamic" not in print_module(early):
        assert print_module(again) == print_module(early)
        return
    # Where they begin is made again from the numbers, which are moved inside.
    arrays = [np.asarray(as_in_files(array)) for array in inputs(name)]
    computed = [ttmlir.compile(print_module(each))(*arrays) for each in (again, early)]
    for ours, theirs in zip(*map(_as_list, computed), strict=True):
        np.testing.assert_array_equal(np.asarray(ours), np.asarray(theirs))


def _as_list(results: Any) -> list[Any]:
    return list(results) if isinstance(results, list | tuple) else [results]


@pytest.mark.parametrize("name", _chosen())
def test_destinations_of_2025(name: str) -> None:
    """With destinations a text is read as it is printed, and without them again the same."""
    text = ARCHIVE[name].ttir
    assert text is not None
    given = parse(text)
    transform(given, "convert-spelling{to=2025}")
    with_destinations = print_module(given)
    again = parse(with_destinations)
    assert print_module(again) == with_destinations
    transform(again, "convert-spelling{to=2026}")
    assert print_module(again) == print_module(parse(text))
