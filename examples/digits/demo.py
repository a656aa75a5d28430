"""Train digit classifiers, compile them to `.ttnn` files and run those on the CPU.

    python examples/digits/demo.py [--output-dir DIRECTORY]

Two models, a perceptron and a small convolutional network, are compiled with 32-bit and with 16-bit
floats. Each program runs twice: in `exact` numerics, which do not round between operations, and in
`device` numerics, which round like the hardware. Exit status 1 if a 32-bit program disagrees with
NumPy.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np
from convnet import ConvNet
from data import Dataset, Floats, accuracy, load_digits
from network_text import NUMPY_TYPES
from perceptron import Perceptron
from training import Model, predict, train

from ttmlir.compiler import compile_to_ttnn
from ttmlir.runtime import Tensor, get_layout, load_binary, open_device, submit, to_layout

MODELS: tuple[Model, ...] = (Perceptron(), ConvNet())
DEFAULT_DIRECTORY = Path("build") / "digits"
TOLERANCE = 1e-5
"""Largest difference of a 32-bit probability: only the order of the sums differs."""


def main() -> int:
    """Print the accuracies and the files made; returns the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output-dir", type=Path, default=DEFAULT_DIRECTORY, metavar="DIRECTORY")
    directory: Path = parser.parse_args().output_dir
    directory.mkdir(parents=True, exist_ok=True)
    training, held_out = load_digits()
    differences = [_demonstrate(model, training, held_out, directory) for model in MODELS]
    if max(differences) > TOLERANCE:
        print(f"error: a compiled program is off by more than {TOLERANCE}", file=sys.stderr)
        return 1
    return 0


def _demonstrate(model: Model, training: Dataset, held_out: Dataset, directory: Path) -> float:
    """Train, compile and run a model; the largest difference of its 32-bit programs."""
    started = time.perf_counter()
    parameters = train(model, training)
    expected = predict(model, parameters, held_out.images)
    seconds = time.perf_counter() - started
    print(f"{model.name}: trained on {len(training.labels)} images in {seconds:.1f} s")
    print("                  accuracy   largest difference from NumPy")
    print(f"  NumPy f32         {accuracy(expected, held_out.labels):.2%}")
    worst = 0.0
    for element in NUMPY_TYPES:
        text = model.to_ttir(parameters, len(held_out.labels), element)
        source = directory / f"{model.name}_{element}.mlir"
        source.write_text(text, encoding="utf-8")
        program = source.with_suffix(".ttnn")
        program.write_bytes(compile_to_ttnn(text, file_name=str(source)))
        for numerics in ("exact", "device"):
            probabilities = _run(model, program, element, numerics, held_out.images)
            difference = float(np.abs(probabilities - expected).max())
            share = accuracy(probabilities, held_out.labels)
            print(f"  {element:4} {numerics:6}       {share:.2%}   {difference:.1e}   {program}")
            worst = max(worst, difference if element == "f32" else 0.0)
    return worst


def _run(model: Model, program: Path, element: str, numerics: str, images: Floats) -> Floats:
    """The probabilities that a compiled program gives."""
    binary, device = load_binary(program), open_device(numerics=numerics)
    pixels = images.reshape(model.input_shape(len(images))).astype(NUMPY_TYPES[element])
    inputs = [to_layout(Tensor.from_numpy(pixels), device, get_layout(binary, 0, 0))]
    [result] = submit(device, binary, 0, inputs)
    return result.to_numpy().astype(np.float32)


if __name__ == "__main__":
    sys.exit(main())
