"""What the examples of this folder share: `--mesh`, and what is printed of a compiled model."""

from __future__ import annotations

import argparse
import os
import re

import numpy as np


def parse_mesh(description):
    """Rows and columns that `--mesh` says; JAX has as many virtual devices from then on."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--mesh", default="2x4", help="rows x columns, such as 2x4")
    found = re.fullmatch(r"(\d+)x(\d+)", parser.parse_args().mesh)
    if found is None:
        parser.error("--mesh is rows x columns, such as 2x4")
    rows, columns = map(int, found.groups())
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={rows * columns}"
    return rows, columns


def report(compiled, result, expected, *, of="the undivided model"):
    """Print how far results are from those of `of`, and the estimated times of each device."""
    result, expected = np.asarray(result), np.asarray(expected)
    error = np.abs(result - expected).max() / np.abs(expected).max()
    print(f"largest difference from {of}: {error:.1e} of the largest number")
    assert error < 1e-4, "the divided model computes something else"
    estimate = compiled.estimate()
    time, exchanges = estimate.total.mid / 1e3, estimate.exchanges.mid / 1e3
    print(f"each device: {time:,.1f} us by the estimate, {exchanges:,.1f} of them for exchanges")
    for use in estimate.links:
        print(use)
