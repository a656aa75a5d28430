"""The generated pages say what the code says, and their examples work."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from pages import PAGES

from examples import HEADER, function_text
from ttmlir.compiler import compile_to_ttnn
from ttmlir.optable import DEFINITIONS
from ttmlir.runtime import Tensor, open_device, read_binary, submit

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", PAGES)
def test_page_is_current(name: str) -> None:
    """What `make docs` would write is what the repository holds."""
    page = ROOT / name
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    assert PAGES[name](old) == old, f"{name} is out of date: run `make docs`"


@pytest.mark.parametrize(
    "mnemonic", [name for name, definition in DEFINITIONS.items() if definition.in_ttir]
)
def test_example_of_operation_compiles_and_runs(mnemonic: str) -> None:
    """The example in the page of operations gives a result of the shape that it says."""
    source = HEADER + function_text(DEFINITIONS[mnemonic])
    binary = read_binary(compile_to_ttnn(source), mnemonic)
    program = binary.programs[0]
    inputs = [
        Tensor.from_numpy(np.ones(ref.desc.shape, ref.desc.element.host)) for ref in program.inputs
    ]
    results = submit(open_device(), binary, 0, inputs)
    assert [each.shape for each in results] == [ref.desc.shape for ref in program.outputs]
