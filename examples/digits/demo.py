"""Train a digit classifier, compile it to `.ttnn` files and run those on the CPU.

    python examples/digits/demo.py [--output-dir DIRECTORY]

The model is compiled twice, with 32-bit and with 16-bit floats, and each program runs twice: in
`exact` numerics, which do not round between operations, and in `device` numerics, which round
like the hardware. Exit status 1 if a 32-bit program disagrees with NumPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from training import Dataset, Floats, accuracy, load_digits, predict, train
from ttir_text import NUMPY_TYPES, to_ttir

from ttmlir.compile import compile_to_ttnn
from ttmlir.runtime import Binary, Tensor, get_layout, load_binary, open_device, submit, to_layout

DEFAULT_DIRECTORY = Path("build") / "digits"
TOLERANCE = 1e-5
"""Largest difference of a 32-bit probability: only the order of the sums differs."""


def main() -> int:
    """Print the accuracies and the files made; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output-dir", type=Path, default=DEFAULT_DIRECTORY, metavar="DIRECTORY")
    directory: Path = parser.parse_args().output_dir
    directory.mkdir(parents=True, exist_ok=True)

    started = time.perf_counter()
    training, held_out = load_digits()
    network = train(training)
    expected = predict(network, held_out.images)
    print(f"trained  on {len(training.labels)} images in {_since(started)}")

    programs = dict[str, Binary]()
    for element in NUMPY_TYPES:
        model, program = directory / f"digits_{element}.mlir", directory / f"digits_{element}.ttnn"
        model.write_text(to_ttir(network, len(held_out.labels), element), encoding="utf-8")
        started = time.perf_counter()
        program.write_bytes(compile_to_ttnn(model.read_text("utf-8"), file_name=str(model)))
        programs[element] = load_binary(program)
        print(f"compiled {model} to {program} in {_since(started)}")

    print(f"ran      {len(held_out.labels)} images that the network has never seen:\n")
    print("                    accuracy   largest difference from NumPy")
    print(f"NumPy f32             {accuracy(expected, held_out.labels):.2%}")
    worst = {
        element: max(
            _report(binary, element, numerics, held_out, expected)
            for numerics in ("exact", "device")
        )
        for element, binary in programs.items()
    }
    if worst["f32"] > TOLERANCE:
        print(f"error: the compiled program is off by more than {TOLERANCE}", file=sys.stderr)
        return 1
    return 0


def _report(binary: Binary, element: str, numerics: str, data: Dataset, expected: Floats) -> float:
    """Run a program, print a line, return the largest difference."""
    device = open_device(numerics=numerics)
    pixels = Tensor.from_numpy(data.images.astype(NUMPY_TYPES[element]))
    [result] = submit(device, binary, 0, [to_layout(pixels, device, get_layout(binary, 0, 0))])
    probabilities = result.to_numpy().astype(np.float32)
    difference = float(np.abs(probabilities - expected).max())
    share = accuracy(probabilities, data.labels)
    print(f".ttnn {element:4} {numerics:7}    {share:.2%}   {difference:.1e}")
    return difference


def _since(started: float) -> str:
    return f"{time.perf_counter() - started:.2f} s"


if __name__ == "__main__":
    sys.exit(main())
