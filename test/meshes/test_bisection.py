"""Bisection of programs of several devices: the operation that is off, and on which device."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from test.support.samples.mesh_programs import arrays, recorded
from ttmlir.frontend.dispatch import compile
from ttmlir.passes.stablehlo import mesh_collectives
from ttmlir.tools.ttmlir_bisect import main

LAYERS = """\
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%x: tensor<6x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>},
                %w: tensor<8x12xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>},
                %v: tensor<12x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>})
    -> tensor<6x4xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      : (tensor<6x8xf32>, tensor<8x12xf32>) -> tensor<6x12xf32>
  %1 = stablehlo.tanh %0 : tensor<6x12xf32>
  %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0]
      : (tensor<6x12xf32>, tensor<12x4xf32>) -> tensor<6x4xf32>
  %3 = stablehlo.negate %2 : tensor<6x4xf32>
  return %3 : tensor<6x4xf32>
}
"""


def given() -> list[Any]:
    """Arguments of the layers."""
    rng = np.random.default_rng(2)
    return [rng.standard_normal(each, np.float32) for each in ((6, 8), (8, 12), (12, 4))]


def test_levels_agree() -> None:
    """Parts of devices are those of undivided results; sums that are still to be made are sums."""
    report = compile(LAYERS).bisect(*given())
    assert report.agrees
    assert (report.reference, report.skipped) == ("stablehlo", ())
    assert [(each.level, each.compared) for each in report.levels] == [("ttir", 4), ("ttnn", 4)]


CANCELLING = """\
sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @main(%a: tensor<8x12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>},
                %b: tensor<8x12xbf16> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> tensor<8x12xbf16> {
  %0 = stablehlo.add %a, %b : tensor<8x12xbf16>
  %1 = stablehlo.subtract %0, %b : tensor<8x12xbf16>
  return %1 : tensor<8x12xbf16>
}
"""


def test_rounding_is_told_with_its_device() -> None:
    """Numbers of one device alone vanish beside larger ones of 16 bits."""
    a = np.random.default_rng(4).uniform(0.5, 1, (8, 12)).astype(ml_dtypes.bfloat16)
    b = np.zeros_like(a)
    b[4:, 3:6] = 4096
    report = compile(CANCELLING).bisect(a, b, numerics="device")
    assert report.first is not None
    assert (report.first.level, report.first.device) == ("ttnn", 5)
    assert "stablehlo.subtract" in report.first.op
    assert report.first.location == "<text>:6:8"
    assert "  ttnn on device 5: " in str(report)
    assert report.as_dict()["first"]["device"] == 5


def test_a_wrong_exchange_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Devices that add along the other axis have wrong sums from there on."""
    axes = mesh_collectives._axes_of

    def turned(op: Any, groups: Any) -> Any:
        found = axes(op, groups)
        return None if found is None else tuple(1 - axis for axis in found)

    monkeypatch.setattr(mesh_collectives, "_axes_of", turned)
    report = compile(LAYERS).bisect(*given())
    assert report.first is not None
    assert (report.first.level, report.first.device) == ("ttir", 0)
    assert report.first.location == "<text>:9:8"


def test_programs_that_say_what_devices_compute() -> None:
    """They are compared from ttir on; of loops in which devices exchange something, the file."""
    for name, reference in (("loss", "ttir"), ("scan_with_exchange", "ttnn")):
        program = recorded("shard_map")[name]
        report = compile(program["text"].tobytes().decode()).bisect(*arrays(program, "argument"))
        assert report.agrees
        assert report.reference == reference


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It takes programs of several devices as others."""
    path = tmp_path / "layers.mlir"
    path.write_text(LAYERS)
    assert main([str(path), "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "reference: stablehlo, 4 operations"
    assert lines[-1].split() == ["ttnn", "4", "0", "agree", "1.000000"]
    assert main([str(path), "--target", "kernels"]) == 1
    assert (
        "is for several devices, of which the whole program is compared" in capsys.readouterr().err
    )
