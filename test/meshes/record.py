"""Write what JAX makes of the programs of a module here: text, that for GSPMD, arguments, results,
and what its partitioner lets devices exchange.

    python test/meshes/record.py shard_map

Recorded with JAX 0.10.2 on 8 virtual CPU devices.
"""

from __future__ import annotations

import math
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np

jax: Any = import_module("jax")

HERE = Path(__file__).parent
_MOVE = re.compile(
    r"= (.*?) (all-(?:gather|reduce|to-all)|reduce-scatter|collective-permute)(?:-start)?\("
)
_TENSOR = re.compile(r"\b[a-z]+\d*\[([\d,]*)\]")


def count_elements(text: str) -> list[int]:
    """How many collectives there are in a compiled program, and how many elements they make.

    Those of sums count twice: they go around, and back."""
    moves = [found for found in map(_MOVE.search, text.splitlines()) if found]
    elements = [
        (1 + (move[2] == "all-reduce")) * math.prod(int(n) for n in dims.split(",") if n)
        for move in moves
        for dims in _TENSOR.findall(move[1])
    ]
    return [len(moves), sum(elements)]


def make_argument(shape: tuple[int, ...], dtype: str, number: int) -> Any:
    """Numbers that additions of a few keep exactly in narrow types, too."""
    random = np.random.default_rng(number)
    if dtype.startswith("index"):
        return random.integers(0, int(dtype.removeprefix("index")), shape).astype(np.int32)
    if dtype == "float32":
        return random.uniform(-2, 2, shape).astype(np.float32)
    low = 0 if dtype.startswith("u") else -4
    return np.asarray(jax.numpy.asarray(random.integers(low, 5, shape), dtype))


def main() -> None:
    """Record all programs of a module."""
    name = sys.argv[1]
    found: dict[str, Any] = {}
    for program, (function, shapes) in import_module(f"{name}_programs").programs():
        arguments = [make_argument(each[0], each[1], number) for number, each in enumerate(shapes)]
        text = function.lower(*arguments).as_text()
        found[f"{program}/text"] = np.frombuffer(text.encode(), np.uint8)
        jax.config.update("jax_use_shardy_partitioner", False)
        text = function.lower(*arguments).as_text()
        jax.config.update("jax_use_shardy_partitioner", True)
        found[f"{program}/gspmd"] = np.frombuffer(text.encode(), np.uint8)
        found[f"{program}/exchanged"] = np.array(
            count_elements(function.lower(*arguments).compile().as_text())
        )
        results = jax.tree_util.tree_leaves(function(*arguments))
        for kind, arrays in (("argument", arguments), ("result", results)):
            for number, array in enumerate(map(np.asarray, arrays)):
                narrow = array.dtype.kind == "V"
                found[f"{program}/{kind}{number}"] = array.astype("f4") if narrow else array
    np.savez_compressed(HERE / "Inputs" / f"{name}.npz", **found)
    print(len({key.partition("/")[0] for key in found}), "programs")


if __name__ == "__main__":
    main()
