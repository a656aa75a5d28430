"""The text of StableHLO's operations is what jaxlib prints."""

from __future__ import annotations

from pathlib import Path

from test.support.stablehlo_oracle import reprinted
from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.verifier import verify_module

EVERY_OPERATION = Path(__file__).parent / "Inputs" / "every_operation.mlir"


def ours(text: str, *, generic: bool = False) -> str:
    """What we print after reading and verifying a module."""
    module = parse_module(text, "input.mlir", make_context(DIALECTS))
    assert not verify_module(module)
    return print_module(module, generic=generic)


def test_generic_form_is_that_of_jaxlib() -> None:
    """All operations and attributes keep their generic text."""
    text = EVERY_OPERATION.read_text()
    assert ours(text, generic=True).rstrip() == reprinted(text, generic=True).rstrip()
