"""Faults of every kind are named: the level, the operation, and the kernel."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from seeded_faults import KERNELS, Fault, all_faults, negate_operand, replaced

import ttmlir
from ttmlir.compiler import D2M_PIPELINE, lower, write_ttm
from ttmlir.frontend.torch import model
from ttmlir.interpreter.bisection import bisect
from ttmlir.optable import DEFINITIONS
from ttmlir.passes.stablehlo import convert_stablehlo_to_ttir
from ttmlir.runtime.tensor import Numerics
from ttmlir.tools.ttrt import main as ttrt

FAULTS = all_faults()
CHOSEN = [
    *[[each for each in FAULTS if each.kind == kind][-1] for kind in {f.kind: 0 for f in FAULTS}],
    *[each for each in FAULTS if each.what.startswith(("reader0: other", "writer2", "broadcast"))],
]
"""The last of each kind, readers and writers, and a broadcast; the benchmark plants all."""


def fault_in(kernel: str) -> Fault:
    """The first fault of a kernel."""
    return next(each for each in FAULTS if each.what.startswith(f"{kernel}: "))


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("fault", CHOSEN, ids=lambda fault: f"{fault.kind}-{fault.what[:20]}")
def test_faults_are_named(fault: Fault) -> None:
    """The first difference is at the level of the fault and in its operation."""
    assert fault.is_named()


def test_there_are_faults_at_each_level() -> None:
    """At least forty."""
    assert len(FAULTS) >= 40
    assert {each.level for each in FAULTS} == {
        *("ttir", "ttir decomposed", "ttnn", "d2m", "ttmetal unfused"),
    }


@pytest.mark.parametrize("numerics", list(Numerics))
def test_right_kernels_are_not_blamed(numerics: Numerics) -> None:
    """In either numerics."""
    report = bisect(KERNELS, seed=3, target="kernels", numerics=numerics)
    assert report.agrees, str(report)
    assert report.kernel is None
    assert report.levels[-2].compared == 4


def test_the_first_wrong_tile() -> None:
    """A reader takes the tiles of the other rows: tile 0 of its circular buffer, on core (0, 0).

    Rows of tiles are on cores of their own; the middle one is right.
    """
    fault = fault_in("reader3")
    with fault.plant():
        report = fault.find()
    kernel = report.kernel
    assert kernel is not None
    assert (kernel.kernel, kernel.cb, kernel.tile, kernel.core) == ("reader", 0, 0, (0, 0))
    assert kernel.launch == "exp"
    assert "<text>" in kernel.location
    assert kernel.expected is not None
    assert kernel.expected.shape == (32, 32)
    text = str(report)
    assert "the reader kernel of 'exp' pushes a wrong tile 0 of circular buffer 0" in text
    assert report.as_dict()["kernel"]["core"] == [0, 0]


REDUCED = """
func.func @main(%x: tensor<3x7xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %places = stablehlo.iota dim = 1 : tensor<3x7xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.reduce(%x init: %low), (%places init: %zero) across dimensions = [1]
      : (tensor<3x7xf32>, tensor<3x7xi32>, tensor<f32>, tensor<i32>)
      -> (tensor<3xf32>, tensor<3xi32>)
    reducer(%a: tensor<f32>, %c: tensor<f32>) (%b: tensor<i32>, %d: tensor<i32>) {
      %1 = stablehlo.compare GT, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %c : tensor<i1>, tensor<f32>
      %3 = stablehlo.compare EQ, %a, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.compare LT, %b, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %3, %4 : tensor<i1>
      %6 = stablehlo.or %1, %5 : tensor<i1>
      %7 = stablehlo.select %6, %b, %d : tensor<i1>, tensor<i32>
      stablehlo.return %2, %7 : tensor<f32>, tensor<i32>
    }
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32>
}
"""


def test_an_operation_with_several_results() -> None:
    """The largest elements and their places: both are compared."""
    report = bisect(REDUCED, seed=3)
    assert report.agrees, str(report)
    rules = convert_stablehlo_to_ttir.CONVERTED
    rule = rules["stablehlo.reduce"]

    def wrong(op: object) -> None:
        negate_operand(op)
        rule(op)  # type: ignore[arg-type]

    with replaced(rules, "stablehlo.reduce", wrong):
        found = bisect(REDUCED, seed=3).first
    assert found is not None
    assert found.level == "ttir"
    assert "stablehlo.reduce" in found.op


def test_torch_is_the_first_level() -> None:
    """Its nodes are those that the rows are held against."""
    fault = next(each for each in FAULTS if each.kind == "row")
    report = fault.find()
    assert report.agrees, str(report)
    assert report.reference == "framework"
    assert report.levels[0].compared >= 9
    assert callable(model.trace_nodes)


def test_modules_of_torch() -> None:
    """What torch computes in each of them is compared; a fault names the operation of its own."""
    nn = torch.nn
    modules = (nn.Linear(70, 50), nn.LayerNorm(50), nn.GELU(), nn.Linear(50, 9))
    compiled = ttmlir.compile(nn.Sequential(*modules).eval(), x := torch.randn(33, 70))
    report = compiled.bisect(x)
    assert report.agrees, str(report)
    assert [level.compared for level in report.levels] == [4] * len(report.levels)
    with replaced(DEFINITIONS["gelu"], "reference", lambda xp, x: 0.75 * x):
        found = compiled.bisect(x).first
    assert found is not None
    assert found.level == "ttir"
    assert "ttir.gelu" in found.op


@pytest.mark.parametrize(
    ("kernel", "tile"),
    [
        (
            "writer0",
            "its first wrong tile is (0, 0), which circular buffer 2 holds: the writer is wrong",
        ),
        (
            "compute0",
            "its first wrong tile is (0, 0), which circular buffer 2 does not hold: the compute "
            "kernel is wrong, or what it reads",
        ),
    ],
)
def test_golden_runs_name_the_tile(
    kernel: str, tile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`ttrt run --golden` has no schedule to compare with; it tells whether the tile was made."""
    pipeline = f"stablehlo-to-ttir-pipeline{{spelling=2024}},{D2M_PIPELINE}{{enable-fusion=false}}"
    path = tmp_path / "kernels.ttm"
    path.write_bytes(write_ttm(lower(KERNELS, pipeline)))
    fault = fault_in(kernel)
    assert ttrt(["run", "--golden", str(path)]) == 0
    with fault.plant():
        assert ttrt(["run", "--golden", str(path)]) == 42
    assert f"; {tile}" in capsys.readouterr().err
