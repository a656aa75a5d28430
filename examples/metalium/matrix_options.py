"""What the examples multiply, and how: the options of their command lines."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ttmlir.metalium import CreateDevice, DataFormat, Device, MathFidelity
from ttmlir.metalium.distributed import MeshDevice

TILE = 32
"""Rows and columns of a tile."""

FORMATS = {
    "bf16": DataFormat.Float16_b,
    "bfp8": DataFormat.Bfp8_b,
    "bfp4": DataFormat.Bfp4_b,
}
FIDELITIES = {fidelity.schema_name: fidelity for fidelity in MathFidelity}


@dataclass(frozen=True, kw_only=True)
class MatrixOptions:
    """A is m x k, B is k x n and C = A B is m x n, in elements."""

    m: int = 512
    k: int = 1024
    n: int = 768
    fidelity: MathFidelity = MathFidelity.HIFI4
    data_format: DataFormat = DataFormat.Float16_b
    numerics: Literal["device", "exact"] = "device"
    seed: int = 0
    board: str = "n150"
    sanitize: bool = True
    """Look for races and other faults in what the kernels do, which takes longer."""
    trace: Path | None = None
    """Where to write what every core did when, for ui.perfetto.dev."""


def parse_options(description: str, arguments: Sequence[str] | None = None) -> MatrixOptions:
    """The options of a command line; exits with a message if they make no sense."""
    default = MatrixOptions()
    parser = argparse.ArgumentParser(description=description.partition("\n")[0])
    for name, text in (("m", "rows of A and C"), ("k", "columns of A"), ("n", "columns of B")):
        parser.add_argument(
            f"--{name}", type=_extent, default=getattr(default, name), help=f"{text}, in elements"
        )
    parser.add_argument("--fidelity", choices=FIDELITIES, default="HiFi4")
    parser.add_argument("--format", choices=FORMATS, default="bf16")
    parser.add_argument("--numerics", choices=("device", "exact"), default="device")
    parser.add_argument("--seed", type=int, default=default.seed)
    parser.add_argument("--board", default=default.board)
    parser.add_argument("--no-sanitize", action="store_true", help="do not look for faults")
    parser.add_argument("--trace", type=Path, metavar="FILE", help="write a trace for Perfetto")
    chosen = parser.parse_args(arguments)
    return MatrixOptions(
        m=chosen.m,
        k=chosen.k,
        n=chosen.n,
        fidelity=FIDELITIES[chosen.fidelity],
        data_format=FORMATS[chosen.format],
        numerics=chosen.numerics,
        seed=chosen.seed,
        board=chosen.board,
        sanitize=not chosen.no_sanitize,
        trace=chosen.trace,
    )


def open_device(options: MatrixOptions) -> Device:
    """The simulated device."""
    return CreateDevice(
        0, board=options.board, numerics=options.numerics, sanitize=options.sanitize
    )


def open_mesh(options: MatrixOptions) -> MeshDevice:
    """The simulated device as a mesh of one."""
    return MeshDevice.create_unit_mesh(
        0, board=options.board, numerics=options.numerics, sanitize=options.sanitize
    )


def tiles_of(extent: int) -> int:
    """How many tiles hold so many rows or columns."""
    return -(-extent // TILE)


def _extent(text: str) -> int:
    extent = int(text)
    if extent < 1:
        raise argparse.ArgumentTypeError(f"{extent} is no extent of a matrix; use 1 or more")
    return extent
