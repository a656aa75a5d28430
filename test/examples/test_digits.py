"""The demo trains real classifiers, and its compiled programs agree with NumPy."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    find_spec("sklearn") is None, reason="needs the data set that scikit-learn ships"
)

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


def test_demo_reports_programs_that_agree_with_numpy(tmp_path: Path) -> None:
    """Exit status 0 stands for agreement within 1e-5 in 32 bits; the accuracies were learned."""
    result = subprocess.run(
        [sys.executable, str(DIGITS / "demo.py"), "--output-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    accuracies = [float(number) for number in re.findall(r"([\d.]+)%", result.stdout)]
    assert len(accuracies) == 10
    assert min(accuracies) > 97
    names = sorted(path.name for path in tmp_path.glob("*.ttnn"))
    assert names == [
        f"{model}_{element}.ttnn"
        for model in ("convnet", "perceptron")
        for element in ("bf16", "f32")
    ]


@pytest.mark.parametrize(("module", "name"), [("perceptron", "Perceptron"), ("convnet", "ConvNet")])
def test_gradients_are_slopes_of_the_loss(
    monkeypatch: pytest.MonkeyPatch, module: str, name: str
) -> None:
    """Each parameter is moved a little in both directions, at a few places."""
    monkeypatch.syspath_prepend(str(DIGITS))
    model = getattr(import_module(module), name)()
    rng = np.random.default_rng(5)
    images, labels = rng.random((7, 64)), rng.integers(0, 10, 7)
    parameters = [
        array + 0.01 * rng.standard_normal(array.shape) for array in model.initial_parameters(rng)
    ]

    def loss() -> float:
        logits = model.logits(parameters, images)
        powers = np.exp(logits - logits.max(axis=1, keepdims=True))
        return float(-np.log(powers / powers.sum(axis=1, keepdims=True))[range(7), labels].mean())

    for array, gradient in zip(
        parameters, model.gradients(parameters, images, labels), strict=True
    ):
        for _ in range(5):
            place = tuple(rng.integers(0, extent) for extent in array.shape)
            before, step = array[place], 1e-6
            array[place] = before + step
            above = loss()
            array[place] = before - step
            below = loss()
            array[place] = before
            assert gradient[place] == pytest.approx((above - below) / (2 * step), abs=1e-6)
