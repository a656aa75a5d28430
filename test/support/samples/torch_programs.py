"""Runs torch programs on the whole road: export, import, passes, file, runtime."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from running.sampling import is_among

from ttmlir.compiler import TTNN_PIPELINE, write_ttnn
from ttmlir.dialects import DIALECTS
from ttmlir.frontend.torch import ImportedProgram, export, import_program
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.context import make_context
from ttmlir.passes.core.manager import PassManager, parse_pipeline
from ttmlir.runtime import (
    Numerics,
    Tensor,
    get_layout,
    open_device,
    read_binary,
    submit,
    to_host,
    to_layout,
)

torch: Any = import_module("torch")


def imported(function: Any, *arguments: Any, **options: Any) -> ImportedProgram:
    """The program of a module or function, verified."""
    program = import_program(export(function, arguments), **options)
    verify(program.module)
    return program


VERIFIED = 4
"""In one of so many tests programs are verified after each pass, in the others after the last."""


def run(program: ImportedProgram, *arguments: Any, numerics: str = "exact") -> list[Any]:
    """What the compiled program computes from the tensors of its arguments."""
    context = make_context(DIALECTS)
    nest = parse_pipeline(f"builtin.module({TTNN_PIPELINE})")
    after_each = verify if is_among(VERIFIED) else None
    PassManager(nest=nest, verify=after_each).run(context, program.module)
    if after_each is None:
        verify(program.module)
    binary = read_binary(write_ttnn(program.module), "program.ttnn")
    device = open_device(numerics=Numerics(numerics))
    tensors = [a for a in arguments if isinstance(a, torch.Tensor)]
    tensors = [tensor for _, tensor in (*program.weights, *program.state)] + tensors
    inputs = [
        to_layout(Tensor.from_numpy(_array(t)), device, get_layout(binary, 0, i))
        for i, t in enumerate(tensors)
    ]
    return [_tensor(to_host(r).to_numpy()) for r in submit(device, binary, 0, inputs)]


def _array(tensor: Any) -> Any:
    tensor = tensor.detach().contiguous()
    if tensor.dtype == torch.bfloat16:
        import ml_dtypes

        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def _tensor(array: Any) -> Any:
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(np.ascontiguousarray(array).view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(np.array(array))


def pcc(actual: Any, expected: Any) -> float:
    """Pearson's correlation of two tensors; 1 for equal ones."""
    a, b = (np.asarray(x.detach().double().numpy()).ravel() for x in (actual, expected))
    if a.size < 2 or np.std(b) == 0 or np.std(a) == 0:
        return float(np.allclose(a, b, atol=1e-3, rtol=1e-2))
    return float(np.corrcoef(a, b)[0, 1])


def check_all(
    cases: str, *, tolerance: float = 1e-5, names: dict[str, Any] | None = None, **arguments: Any
) -> None:
    """Compare what expressions give with what torch makes of them; one program for all of them.

    There is an expression on each line of `cases`; the arguments are tensors by name.
    Further names that the expressions use are in `names`.
    """
    texts = [line.strip() for line in cases.splitlines() if line.strip()]
    names = {"torch": torch, "F": torch.nn.functional, **(names or {})}
    signature = ", ".join(arguments)
    function = eval(f"lambda {signature}: [{', '.join(texts)}]", names)
    program = imported(function, *arguments.values())
    expected = function(*arguments.values())
    leaves = torch.utils._pytree.tree_leaves
    owners = [text for text, item in zip(texts, expected, strict=True) for _ in leaves(item)]
    results = run(program, *arguments.values())
    for owner, result, wanted in zip(owners, results, leaves(expected), strict=True):
        check(owner, result, wanted, tolerance)


def check(name: str, result: Any, wanted: Any, tolerance: float) -> None:
    """Compare shape, dtype and numbers of one tensor."""
    assert (result.shape, result.dtype) == (wanted.shape, wanted.dtype), name

    def message(text: str) -> str:
        return f"{name}: {text}"

    torch.testing.assert_close(
        result, wanted, rtol=tolerance, atol=tolerance, equal_nan=True, msg=message
    )
