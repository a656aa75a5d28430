"""What Shardy's own verifiers, of jaxlib, say of the modules here."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("jaxlib", "0.10.2")
from jax._src.interpreters import mlir
from jax._src.lib.mlir import ir

HERE = Path(__file__).parent
_NAME = re.compile(r"^(custom op )?'[\w.]+' (op )?")


def judge(text: str) -> str | None:
    """The first message about a module; None if it is valid."""
    context: Any = mlir.make_ir_context()
    with context:
        try:
            module: Any = ir.Module.parse(text)
            module.operation.verify()
        except ir.MLIRError as error:
            return error.error_diagnostics[0].message
    return None


@pytest.mark.parametrize("name", ["valid", "invalid"])
def test_verdicts(name: str) -> None:
    """The same modules are valid, and the same is said of the others."""
    for text in (HERE / f"{name}.mlir").read_text().split("// -----"):
        found = re.search(r"expected-error @\+1 \{\{(.*)\}\}\n", text)
        said = judge(text)
        # Where meshes are read, and where operations are inferred, names come otherwise.
        pair = [each and _NAME.sub("", each) for each in (said, found and found[1])]
        assert pair[0] == pair[1], text
