"""Whoever is asked how long a program takes says the same number."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, AxisType, NamedSharding, PartitionSpec

import ttmlir
from ttmlir.explorer.documents import open_documents
from ttmlir.explorer.node_data import list_estimate
from ttmlir.frontend.compiled import CompiledModel
from ttmlir.tools.ttrt import main as ttrt

AUTO = (AxisType.Auto,) * 2
CASES = [
    ("n150", "2024", (1, 1), "n150"),
    ("p150", "2024", (1, 1), "p150"),
    ("n300", "2026", (1, 1), "1 of 2 chips of n300"),
    ("p150", "2026", (1, 1), "p150"),
    ("t3000", "2026", (2, 4), "2x4 chips of t3000"),
    ("p150x4", "2026", (2, 2), "2x2 chips of p150x4"),
]


def layers(x: jax.Array, weights: dict[str, jax.Array]) -> jax.Array:
    """A product with what is there, between two others."""
    return jnp.tanh(x @ weights["up"]) @ weights["down"]


def compiled(board: str, spelling: str, mesh: tuple[int, int]) -> CompiledModel:
    """The layers for a mesh; of weights that stay."""
    axes = AbstractMesh(mesh, ("x", "y"), axis_types=AUTO)

    def shape(extents: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
        where = NamedSharding(axes, PartitionSpec(*spec)) if mesh != (1, 1) else None
        return jax.ShapeDtypeStruct(extents, jnp.bfloat16, sharding=where)

    weights = {"up": shape((640, 2048), None, "y"), "down": shape((2048, 96), "y")}
    x = shape((36, 640), "x")
    return ttmlir.compile(layers, x, weights, board=board, spelling=spelling, resident=["weights"])


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(("board", "spelling", "mesh", "place"), CASES, ids=str)
def test_one_total(
    board: str,
    spelling: str,
    mesh: tuple[int, int],
    place: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: Any,
) -> None:
    """The estimate, with and without the name of the board; summaries, rates, files, `ttrt perf`
    and tt-explorer."""
    monkeypatch.chdir(tmp_path)
    model = compiled(board, spelling, mesh)
    estimate = model.estimate()
    total = estimate.total.mid
    assert total == sum(each.time.mid for each in estimate.operations if not each.on_host) > 0
    assert (estimate.mesh, estimate.board, estimate.place) == (mesh, board, place)
    assert str(estimate).startswith(f"main on {place}: ")
    assert model.estimate(board).total.mid == total
    assert estimate.rate(36).per_second == pytest.approx(36e9 / total)

    shown = f"{total / 1e3:,.1f} us"
    assert f" {shown} (" in str(model.summary()).split(f"time on {place}")[1].splitlines()[0]
    assert sum(each.nanoseconds for each in model.summary(board).layers) == pytest.approx(total)

    model.save("layers.ttnn")
    assert ttmlir.load("layers.ttnn").estimate().total.mid == total
    assert ttrt(["perf", "--device", "--batch", "36", "layers.ttnn"]) == 0
    printed = capsys.readouterr().out
    assert f": {shown} (" in printed
    [rate] = re.findall(r"(\S+) items per second", printed)
    assert float(rate.replace(",", "")) == pytest.approx(36e9 / total, rel=1e-3)
    [written] = Path("ttrt-artifacts").glob("layers.ttnn/perf/estimate_*.json")
    assert json.loads(written.read_text())["total_ns"]["mid"] == pytest.approx(total, abs=0.1)

    [document] = open_documents(["layers.ttnn"])
    graph = document.collections()[0].graphs[0]
    assert dict(graph.attributes)["estimated time"].startswith(f"{shown} (")
    times = list_estimate(model.binary.program(0), None)[-1]
    assert times.name == f"time on {estimate.board} (us)"
    assert sum(map(float, times.values.values())) == pytest.approx(
        total / 1e3, abs=0.01 * len(times.values)
    )
