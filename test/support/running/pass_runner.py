"""Running passes, and the programs that they make, in the process of the test."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp, UnknownLoc

from ttmlir.dialects import DIALECTS
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.mlir.verifier import verify_module
from ttmlir.passes.core.base import Pipeline
from ttmlir.passes.core.manager import parse_options
from ttmlir.passes.core.registry import lookup

TTNN_PIPELINE = "ttir-to-ttnn-backend-pipeline"


def lowered(text: str, *passes: str) -> ModuleOp:
    """The module that passes such as `ttir-implicit-device=mesh-shape=1,1` make of a text.

    The module is verified before the first and after every pass. Raises DiagnosticError.
    """
    context = make_context(DIALECTS)
    module = parse_module(text, "test.mlir", context)
    _verify(module)
    verified = _parts(module)
    for spelled in passes:
        name, _, options = spelled.partition("=")
        cls = lookup(name)
        assert cls is not None, f"there is no pass {name}"
        made = parse_options(cls, options)
        for step in made.passes() if isinstance(made, Pipeline) else (made,):
            if not step.applies(module):
                continue
            step.run(context, module)
            # Most passes of a pipeline change nothing, and what was right is right again.
            found = _parts(module)
            if found == verified:
                continue
            verified = found
            _verify(module)
            if name not in _FORGETFUL:
                _require_locations(module, name)
    return module


def _parts(module: ModuleOp) -> list[object]:
    """All that a check of a module looks at: two that are equal are right or wrong alike."""
    parts: list[object] = []
    for op in module.walk():
        parts += (op, op.parent, op.location, *op.operands, *op.successors)
        parts += (*op.attributes.items(), *op.properties.items())
        parts += (each.type for each in op.results)
        for region in op.regions:
            parts.append(region)
            for block in region.blocks:
                parts.append(block)
                parts += ((argument.type, argument.location) for argument in block.args)
    return parts


_FORGETFUL = (
    *("strip-debuginfo", "stablehlo-annotate-arguments", "wrap-under-manual-computation"),
)
"""Passes that leave locations out: that is what they are for, or as tt-mlir does."""


def _verify(module: ModuleOp) -> None:
    if diagnostics := verify_module(module):
        raise DiagnosticError(*diagnostics)


def _require_locations(module: ModuleOp, name: str) -> None:
    """Every operation that is read has a location, so every one that a pass makes has one, too."""
    lost = {op.name for op in module.walk() if isinstance(op.location, UnknownLoc)}
    assert not lost, f"{name} makes operations without location: {sorted(lost)}"


def printed(text: str, *passes: str) -> str:
    """The text of the module that passes make of a text."""
    return print_module(lowered(text, *passes))


def body(text: str, *passes: str) -> list[str]:
    """The lines of all operations inside functions, without blanks around them."""
    lines = printed(text, *passes).splitlines()
    return [line.strip() for line in lines if line.startswith("    ")]


def executed(text: str, inputs: Sequence[Any], *passes: str, program: int = 0) -> list[Any]:
    """What the compiled program makes of NumPy arrays, exactly rounded."""
    import numpy as np

    from ttmlir.runtime import Tensor, get_layout, open_device, read_binary, submit, to_layout

    binary = read_binary(_ttnn_of(text, passes or (TTNN_PIPELINE,)), "test.ttnn")
    device = open_device()
    tensors = [
        to_layout(
            Tensor.from_numpy(np.array(array, order="C")),
            device,
            get_layout(binary, program, number),
        )
        for number, array in enumerate(inputs)
    ]
    return [result.to_numpy() for result in submit(device, binary, program, tensors)]


@lru_cache(maxsize=16)
def _ttnn_of(text: str, passes: tuple[str, ...]) -> bytes:
    """The binary of a text, made once for the same text with other inputs."""
    from ttmlir.target.flatbuffer.ttnn import ttnn_to_flatbuffer

    return ttnn_to_flatbuffer(lowered(text, *passes), mlir_source="", cpp_source="")


@lru_cache(maxsize=16)
def ttm_of(text: str, *passes: str) -> bytes:
    """The binary of kernels of a text, made once for the same text with other inputs."""
    from ttmlir.target.flatbuffer.ttmetal import ttmetal_to_flatbuffer

    return ttmetal_to_flatbuffer(lowered(text, *passes))
