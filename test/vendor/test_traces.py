"""Programs that the vendor's compiler made with recordings of the device, `enable-trace=true`.

The archive has a few programs: straight lines, loops that are recorded and loops that are not,
branches, and convolutions, which end a recording.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from answers import Archive
from compare_ttnn import FILE
from equality import without_locations
from judging import as_in_files, assert_agrees, run_text
from stablehlo_programs import inputs
from test_written_files import fields_of

from ttmlir.cost.program import estimate_program
from ttmlir.dialects import DIALECTS
from ttmlir.explorer.graph import build_program_graph
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.passes.pipelines.ttir_to_ttnn import (
    TTIRToTTNNCommonPipeline,
    TTNNCommonToRuntimePipeline,
)
from ttmlir.runtime.errors import UnsupportedError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit, to_host
from ttmlir.runtime.tensor import open_device
from ttmlir.runtime.ttrt.reports import SECTIONS, section_text
from ttmlir.runtime.ttrt.running import fit_inputs
from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

ARCHIVE = Archive("p150_traces")
NAMES = ARCHIVE.names()
RANDOM = "rng-f32-33x70-uniform"


def _lower(ttir: str) -> str:
    context = make_context(DIALECTS)
    module = parse_module(ttir, FILE, context)
    common = TTIRToTTNNCommonPipeline(
        system_desc_path="p150", enable_erase_inverse_ops_pass=False, enable_trace=True
    )
    for step in (*common.passes(), *TTNNCommonToRuntimePipeline().passes()):
        if step.applies(module):
            step.run(context, module)
    return print_module(module)


def _numbered_anew(text: str) -> str:
    """Recordings numbered from 0; the vendor's compiler numbers those of a whole process."""
    numbers: dict[str, int] = {}
    return re.sub(
        r"trace_(\d+)_", lambda found: f"trace_{numbers.setdefault(found[1], len(numbers))}_", text
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_same_is_recorded(name: str) -> None:
    """The module of ttnn is the vendor's."""
    ttir, ttnn = ARCHIVE[name].ttir, ARCHIVE[name].ttnn
    assert ttir is not None
    assert ttnn is not None
    assert _numbered_anew(_lower(ttir)) == _numbered_anew(without_locations(ttnn))


@pytest.mark.parametrize("name", NAMES)
def test_every_field_of_the_file_is_the_same(name: str) -> None:
    """Beside the hashes of functions whose results are remembered."""
    text, data = ARCHIVE[name].ttnn_runtime, ARCHIVE[name].binary
    assert text is not None
    assert data is not None
    written = ttnn_to_flatbuffer(parse_module(text, f"{name}.mlir", make_context(DIALECTS)))
    assert fields_of(written, []) == fields_of(data, [])


def _results(name: str, data: bytes, arrays: list[Any]) -> list[Any]:
    binary = read_binary(data, f"{name}.ttnn")
    given = fit_inputs(binary.programs[0], [np.asarray(as_in_files(each)) for each in arrays])
    return [to_host(each).to_numpy() for each in submit(open_device(), binary, 0, given)]


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", [name for name in NAMES if name != RANDOM])
def test_a_launch_computes_what_was_recorded(name: str) -> None:
    """As JAX does."""
    data, arrays = ARCHIVE[name].binary, inputs(name)
    assert data is not None
    wanted = run_text(ARCHIVE[name].given, arrays)
    assert wanted is not None
    got = _results(name, data, arrays)
    assert len(got) == len(wanted)
    for ours, theirs in zip(got, wanted, strict=True):
        assert_agrees(ours, as_in_files(theirs))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_read(name: str) -> None:
    """Sections, the estimate and the graph."""
    data = ARCHIVE[name].binary
    assert data is not None
    for section in SECTIONS:
        assert section_text(f"{name}.ttnn", data, section)
    binary = read_binary(data, f"{name}.ttnn")
    for program in (*binary.programs, *binary.functions):
        assert build_program_graph(program, "graph").nodes is not None
    if name == RANDOM:
        with pytest.raises(UnsupportedError, match="RandOp"):
            estimate_program(binary.programs[0])
    else:
        rows = estimate_program(binary.programs[0]).operations
        assert len(rows) == len(binary.programs[0].operations)
