"""Operations in PyKernel, whose kernels are Python."""

from __future__ import annotations

import ast
import inspect
from functools import cache, partial
from typing import Any

import numpy as np
from running.python_source import load_module
from samples import pykernel_operations
from samples.pykernel_cases import Case, cases
from workload import Outcome, Refused, Texts, Workload

from ttmlir.frontend.pykernel.builder import PyKernelError
from ttmlir.sim.errors import SimError
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline
from ttmlir.ttnn.device.mesh import MeshDevice, chip_of

_TEXT = inspect.getsource(pykernel_operations)


def workloads() -> list[Workload]:
    """All operations."""
    return [
        Workload(each.name, partial(_kernels, each.name), partial(_run, each)) for each in cases()
    ]


def _functions(tree: ast.Module, name: str) -> dict[str, ast.FunctionDef]:
    """The kernels of a class, and the functions of the module that they may call."""
    classes = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == name]
    return {
        f"{each.name}.py": each
        for each in classes[0].body
        if isinstance(each, ast.FunctionDef) and each.decorator_list
    }


@cache
def _kernels(name: str) -> Texts:
    functions = _functions(ast.parse(_TEXT), name)
    return {file: ast.unparse(each) for file, each in functions.items()}


def _run(case: Case, kernels: Texts, options: SimOptions, log: Timeline | None) -> Outcome:
    tree = ast.parse(_TEXT)
    for file, function in _functions(tree, case.name).items():
        (kernel,) = ast.parse(kernels[file]).body
        assert isinstance(kernel, ast.FunctionDef), "a text is one kernel"
        function.body = kernel.body
    module = load_module(ast.unparse(tree), f"{case.name}.py")
    device = MeshDevice(0, chip_of("n150", 0), options)
    queue = device.command_queue()
    queue.timeline = log
    try:
        result = case.run(module[case.name], device, _call)
    except PyKernelError as error:
        raise Refused from error
    except RuntimeError as error:
        # ttnn says at which line of the host it happened.
        if isinstance(error.__context__, SimError):
            raise error.__context__ from None
        raise
    report = queue.reports[-1]
    right = np.array_equal(result, case.expected)
    return Outcome(right, report.findings, result.tobytes(), report.cycles)


def _call(op: Any, *tensors: Any, **options: Any) -> None:
    op(*tensors, **options)
