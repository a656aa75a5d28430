"""The programs of examples/metalium on small grids, with kernels that can be replaced."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from mutants import normalised
from workload import Outcome, Texts, Workload

from ttmlir.metalium import CoreCoord, Device
from ttmlir.metalium.device import chip_of_board
from ttmlir.sim.options import SimOptions
from ttmlir.sim.timing.timeline import Timeline

DIRECTORY = Path(__file__).resolve().parents[3] / "examples" / "metalium"


@dataclass(frozen=True)
class Example:
    """A program, its extents in tiles, its cores, and the kernels that are mutated in it."""

    program: str
    extents: tuple[int, int, int]
    """m, k and n."""
    grid: tuple[int, int]
    kernels: tuple[str, ...]
    data_format: str = "bf16"

    @property
    def name(self) -> str:
        """Of the workload."""
        return f"{self.program}_{self.grid[0]}x{self.grid[1]}"


EXAMPLES = (
    Example("eltwise_add", (2, 1, 3), (1, 1), ("read_two_tensors", "add_tiles", "write_tiles")),
    Example("matmul_single_core", (2, 3, 2), (1, 1), ("read_rows_and_columns", "multiply_tiles")),
    Example("matmul_multi_core", (2, 3, 3), (2, 2), ("read_rows_and_columns", "write_tiles")),
    Example(
        *("matmul_multi_core_reuse", (2, 6, 6), (2, 1)),
        *(("read_blocks", "multiply_blocks", "write_block"), "bfp8"),
    ),
    Example("matmul_multicast", (2, 4, 6), (3, 1), ("multicast_a",)),
    Example("matmul_multicast", (6, 4, 2), (1, 3), ("multicast_b",)),
    Example("matmul_sharded", (2, 6, 3), (3, 1), ("multicast_shards_of_a",)),
)
"""Matrix products have blocks of two tiles along K, and subblocks of at most three tiles."""


def workloads() -> list[Workload]:
    """All programs."""
    return [_workload(example) for example in EXAMPLES]


def _workload(example: Example) -> Workload:
    def read() -> Texts:
        files = [f"{kernel}.cpp" for kernel in example.kernels]
        return {
            file: normalised((DIRECTORY / "kernels" / file).read_text(), file) for file in files
        }

    def run(kernels: Texts, options: SimOptions, timeline: Timeline | None) -> Outcome:
        with _replaced(example, kernels, options, timeline) as seen:
            m, k, n = (32 * extent for extent in example.extents)
            matrix_options = import_module("matrix_options")
            data_format = matrix_options.FORMATS[example.data_format]
            chosen = matrix_options.MatrixOptions(m=m, k=k, n=n, data_format=data_format)
            outcome = import_module(example.program).run(chosen)
        report = seen["report"]
        return Outcome(outcome.passed, report.findings, seen["result"], report.cycles)

    return Workload(example.name, read, run)


@contextmanager
def _replaced(
    chosen: Example, kernels: Texts, options: SimOptions, timeline: Timeline | None
) -> Iterator[dict[str, Any]]:
    """Let an example open a small device, take other kernels, and check its numbers exactly."""
    if str(DIRECTORY) not in sys.path:
        sys.path.append(str(DIRECTORY))
    name = chosen.program
    example, outcome = import_module(name), import_module("outcome")
    seen: dict[str, Any] = {}

    def read_kernel(path: Path) -> str:
        return kernels.get(path.name) or path.read_text(encoding="utf-8")

    def check(result: Any, expected: Any, _: float) -> tuple[bool, str]:
        seen["result"] = result.tobytes()
        return bool(np.array_equal(result, expected)), ""

    def sum_outcome(_: str, queue: Any, given: Any, a: Any, b: Any, c: Any) -> Any:
        seen["report"] = queue.reports[-1]
        passed, verdict = check(c, a.astype(np.float64) + b, 0)
        return outcome.Outcome(given, None, None, passed, verdict)

    def product_outcome(_: str, queue: Any, given: Any, a: Any, b: Any, c: Any) -> Any:
        seen["report"] = queue.reports[-1]
        passed, verdict = check(c, a.astype(np.float64) @ b, 0)
        return outcome.Outcome(given, None, None, passed, verdict)

    changes: list[tuple[str, str, object]] = [
        ("ttmlir.metalium.host_api", "read_kernel", read_kernel),
        (name, "open_device", lambda _: _device(chosen.grid, options)),
        (name, "random_matrix", _integers),
        (name, "recording", lambda _: timeline),
        ("blocking", "LARGEST_BLOCK_K", 2),
        ("blocking", "DST_TILES", 3),
    ]
    with ExitStack() as stack:
        for module, attribute, value in changes:
            stack.enter_context(patch.object(import_module(module), attribute, value))
        for function in (sum_outcome, product_outcome):
            if hasattr(example, function.__name__):
                stack.enter_context(patch.object(example, function.__name__, function))
        yield seen


def _device(grid: tuple[int, int], options: SimOptions) -> Device:
    device = Device(0, chip_of_board("n150", 0), options, None)
    device.compute_with_storage_grid_size = lambda: CoreCoord(*grid)
    return device


def _integers(rows: int, columns: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-1, 2, (rows, columns)).astype(np.float32)
