"""What the examples print: how far a compiled model is from its framework."""

from __future__ import annotations

import argparse
import sys
from typing import Any

import numpy as np

from ttmlir.runtime.golden import compare

LEAST_CORRELATION = {"exact": 0.999, "device": 0.99}


def asked_target() -> Any:
    """What to compile to, by `--target` on the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--target",
        choices=("ttnn", "kernels"),
        default="ttnn",
        help="library calls, which run with NumPy, or kernels, which run on the simulator",
    )
    return parser.parse_args().target


def asked_board() -> Any:
    """The board to estimate for, by `--estimate` on the command line; None: run the model."""
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--estimate", metavar="BOARD")
    asked, rest = parser.parse_known_args()
    sys.argv[1:] = rest
    return asked.estimate


def count_images(target: str) -> int:
    """How many images to run: the simulator computes tile by tile, as the cores of a chip do."""
    return 450 if target == "ttnn" else 16


def agrees(compiled: Any, *args: Any) -> bool:
    """Run a compiled model in both numerics, print the correlation with its framework's results.

    True if both are close enough.
    """
    expected = _flat(compiled, compiled.reference(*args))
    print(f"{compiled!r}")
    good = True
    for numerics, least in LEAST_CORRELATION.items():
        results = _flat(compiled, compiled(*args, numerics=numerics))
        pairs = zip(results, expected, strict=True)
        worst = [compare(actual, golden, rtol=1e-2, atol=1e-3) for actual, golden in pairs]
        correlation = min(each.pcc for each in worst)
        error = max(each.max_absolute_error for each in worst)
        print(f"  {numerics:6} correlation {correlation:.6f}, largest difference {error:.1e}")
        good &= correlation > least
    if compiled.target == "kernels":
        print(f"  on the chip: {compiled.profile(*args).cycles:,} cycles")
    return good


def accuracy(scores: Any, labels: Any) -> str:
    """The share of rows whose largest score is at the label."""
    return f"{100 * np.mean(np.argmax(np.asarray(scores), axis=-1) == labels):.2f}%"


def _flat(compiled: Any, results: Any) -> list[Any]:
    return list(compiled.flatten_results(results))
