"""From a recorded function to a file that runs."""

from __future__ import annotations

import linecache
import os
from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from ttmlir.compiler import transform, write_ttnn
from ttmlir.dialects import tt
from ttmlir.dialects.definition.names import SYSTEM_DESC
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.printing.module import print_module
from ttmlir.mlir.reporting.diagnostics import DiagnosticError, Source, render_all
from ttmlir.mlir.reporting.locations import file_line_col
from ttmlir.passes.core.nest import PipelineError
from ttmlir.runtime.system import find_system
from ttmlir.ttnn_jit.errors import PassManagerError

_STEPS = ("convert-ttnn-to-ttir", "ttir-to-ttmetal-pipeline")


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """What the pipeline is told."""

    math_fidelity: str
    max_grid: tuple[int, int]
    """Columns and rows of cores, both less by one."""
    extra: str
    """Further options of the pipeline, as on the command line."""

    def pipeline_options(self, grid: tuple[int, int]) -> str:
        """The options of `ttir-to-ttmetal-pipeline` on so many rows and columns of cores."""
        options = ["ttnn-mode=true"]
        if self.math_fidelity != "HiFi4":
            options.append(f"set-math-fidelity={self.math_fidelity.lower()}")
        columns, rows = (extent + 1 for extent in self.max_grid)
        if rows < grid[0] or columns < grid[1]:
            options.append(f"override-device-shape={min(rows, grid[0])},{min(columns, grid[1])}")
        return " ".join([*options, *([self.extra] if self.extra else ())])


def compile_module(
    module: ModuleOp,
    board_name: str,
    options: CompileOptions,
    show: Callable[[str, str], None],
) -> bytes:
    """The `.ttnn` file of a recorded module, which is changed.

    SYSTEM_DESC_PATH in the environment names another system than the board's. `show` gets the IR
    after each step, with the step's name. PassManagerError for what a pass refuses, InputError for
    a system that there is not.
    """
    system = find_system(os.environ.get("SYSTEM_DESC_PATH") or board_name)
    module.attributes[SYSTEM_DESC] = tt.SystemDescAttr(system)
    pipeline_options = options.pipeline_options(system.chip(0).grid)
    convert, lower = _STEPS
    try:
        for name, pipeline in (
            (convert, convert),
            (lower, f"{lower}{{{pipeline_options}}}"),
        ):
            transform(module, pipeline)
            show(name, print_module(module))
        return write_ttnn(module)
    except DiagnosticError as error:
        raise PassManagerError(_quote(error)) from None
    except (OptionError, PipelineError) as error:
        raise PassManagerError(str(error)) from None


def _quote(error: DiagnosticError) -> str:
    """The messages with the user's lines."""
    places = [file_line_col(each.location) for each in error.diagnostics]
    sources = {
        place.file: Source("".join(linecache.getlines(place.file)))
        for place in places
        if place is not None
    }
    short = (diagnostic.without_operation() for diagnostic in error.diagnostics)
    return render_all(short, sources).rstrip("\n")
