"""`ttmlir.tune_shardings`, and `ttmlir-tune --shardings`: meshes and shardings of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir
from ttmlir.frontend.compiled import CompiledModel
from ttmlir.runtime.errors import InputError
from ttmlir.tools.ttmlir_tune import main
from ttmlir.tuning.layers import find_layers
from ttmlir.tuning.shardings import ShardingReport, _Search, spell_spec, tune_shardings

SHAPE = jax.ShapeDtypeStruct


def network(x: jax.Array, weights: list[dict[str, jax.Array]]) -> jax.Array:
    """Layers, each one wider in between."""
    for each in weights:
        x = jax.nn.relu(x @ each["up"]) @ each["down"]
    return x


def shapes(rows: int, width: int, wider: int, layers: int = 1) -> tuple[Any, ...]:
    """Arguments of the network."""
    weights = {
        "up": SHAPE((width, wider), jnp.bfloat16),
        "down": SHAPE((wider, width), jnp.bfloat16),
    }
    return SHAPE((rows, width), jnp.bfloat16), [weights] * layers


def compiled(*args: Any, **options: Any) -> CompiledModel:
    """The network for one device."""
    return ttmlir.compile(network, *args, **options)


@pytest.fixture(scope="module")
def wide() -> ShardingReport:
    """Weights that take much longer to read than the rows: three rows, which two devices cannot
    share."""
    return tune_shardings(compiled(*shapes(3, 640, 16384, 2)), board="n300", budget=10)


def test_weights_are_divided_where_they_take_the_time(wide: ShardingReport) -> None:
    """The first weight by columns, the second by rows: one sum for each layer, as in Megatron."""
    assert wide.mesh == (1, 2)
    for layer in range(2):
        assert wide.specs[f"weights[{layer}]['up']"] == ((), ("model",))
        assert wide.specs[f"weights[{layer}]['down']"] == (("model",), ())
    assert wide.specs["x"] == ((), ())
    one, best = wide.by_mesh[0].estimate, wide.best.estimate
    assert one is not None
    assert best is not None
    sums = [each for each in best.operations if each.name == "ttnn.all_reduce"]
    assert len(sums) == 2
    # Half the weights, 2 x 2 x 640 x 8192 numbers of two bytes over twelve channels.
    assert one.memory is not None
    assert best.memory is not None
    weights = 2 * 2 * 640 * 16384 * 2 / 12
    assert one.memory.dram.resident == pytest.approx(weights, rel=1e-3)
    assert best.memory.dram.resident == pytest.approx(weights / 2, rel=1e-3)


def test_shardings_are_those_of_the_program(wide: ShardingReport) -> None:
    """What JAX makes of the shardings takes the time that is reported."""
    args = wide.shard(*shapes(3, 640, 16384, 2))
    assert args[1][0]["up"].sharding.spec == jax.sharding.PartitionSpec(None, "model")
    model = ttmlir.compile(network, *args, board="n300", resident=["weights"])
    assert wide.best.estimate is not None
    assert model.estimate().total == wide.best.estimate.total
    assert model.estimate().mesh == wide.mesh


def test_reports(wide: ShardingReport, tmp_path: Path) -> None:
    """A row for each mesh, the shardings, and both as Python."""
    lines = str(wide).splitlines()
    assert lines[0] == f"network on n300: {wide.trials} candidates"
    assert wide.trials <= 10
    assert [line.split()[:2] for line in lines[1:4]] == [
        ["mesh", "inputs"],
        ["1x1", "whole"],
        ["1x2", "whole"],
    ]
    assert "  weights[1]['up']: P(None, 'model')" in lines
    found: dict[str, Any] = {}
    path = wide.write(tmp_path / "shardings.py")
    source = path.read_text().replace("jax.make_mesh(", "dict(shape=")
    source = source.replace("('data', 'model'), axis_types", "axis_names=('data', 'model'), types")
    exec(source, found)
    assert found["mesh"]["shape"] == (1, 2)
    assert found["specs"]["weights[0]['down']"] == jax.sharding.PartitionSpec("model")
    with pytest.raises(InputError, match=r"x\.txt: shardings are written as \.py or \.mlir"):
        wide.write("x.txt")


def test_rows_are_divided_where_they_take_the_time() -> None:
    """Of many rows and small weights, nothing is exchanged."""
    report = tune_shardings(compiled(*shapes(8192, 96, 160)), board="n300", budget=12)
    assert report.mesh == (2, 1)
    assert report.best.inputs == "dimension 0"
    assert report.specs["x"] == (("data",), ())
    assert not any(map(any, (report.specs[f"weights[0]['{name}']"] for name in ("up", "down"))))
    assert report.best.estimate is not None
    assert report.best.estimate.exchanges.mid == 0


def test_weights_that_fit_no_device_alone() -> None:
    """Two weights of 8.6 GB: 12.9 GB are one chip's."""
    model = compiled(*shapes(32, 4096, 1 << 20), resident=["weights"])
    report = tune_shardings(model, board="n300", meshes=[(1, 2)], budget=4)
    one, two = report.by_mesh
    assert (one.fits, two.fits) == (False, True)
    row = next(line for line in str(report).splitlines() if line.startswith("  1x1"))
    assert row.endswith("of 12.9  no")


def attention(x: jax.Array, weights: list[dict[str, jax.Array]]) -> tuple[Any, ...]:
    """Layers whose sums and keys are results, too, after a scale and before a mean."""
    x, kept = x * 2, []
    for each in weights:
        keys = x @ each["key"]
        x = x + jax.nn.softmax(keys @ x.T, -1) @ x
        kept.append((keys, x.sum(-1)))
    return x.mean(0), kept


def deep(layers: int) -> tuple[Any, ...]:
    """Arguments of so many of these layers."""
    weights = {"key": SHAPE((96, 96), jnp.bfloat16)}
    return SHAPE((40, 96), jnp.bfloat16), [weights] * layers


def test_layers_that_are_alike_are_found() -> None:
    """A program with fewer of them computes what one does that was written with so many."""
    module = ttmlir.compile(attention, *deep(5)).source.module
    layers = find_layers(module)
    assert layers is not None
    assert layers.count == 5
    assert layers.like(2) == {3: 2, 4: 2, 5: 2}
    assert sorted(number for each in layers.arguments for number in {*each}) == [1, 2, 3, 4, 5]
    short = [op.name for op in layers.shorten(module, 2).walk()]
    written = [op.name for op in ttmlir.compile(attention, *deep(2)).source.module.walk()]
    assert short == written
    assert find_layers(ttmlir.compile(attention, *deep(2)).source.module) is None

    def crossing(x: jax.Array, weights: list[jax.Array]) -> jax.Array:
        before, found = x, x
        for each in weights:
            before, found = found, found @ each + before.T
        return found

    square = SHAPE((32, 32), jnp.float32)
    assert find_layers(ttmlir.compile(crossing, square, [square] * 5).source.module) is None


def test_candidates_with_two_layers_say_what_all_take() -> None:
    """Times and memory are those of the whole program, and the shardings those of all layers."""
    source = compiled(*shapes(3, 640, 4096, 5)).source
    # What is in L1 between layers is in DRAM at the end.
    search = _Search(source, "optimization-level=0", "n300", 9)
    downs = {number: ((), ("model",)) for number in (1, 3, 5, 7, 9)}
    found = search._compile((1, 2), "", downs)
    assert search._whole(found).specs == found.specs
    search._layers = None
    search._seen.clear()
    whole = search._compile((1, 2), "", downs)
    assert found.specs == whole.specs
    assert found.specs["weights[4]['up']"] == (("model",), ())
    assert found.estimate is not None
    assert whole.estimate is not None
    assert len(found.estimate.operations) < len(whole.estimate.operations)
    assert found.rank[1] == pytest.approx(whole.rank[1], rel=1e-6)
    assert found.estimate.memory is not None
    assert whole.estimate.memory is not None
    bytes_ = found.estimate.memory.dram.peak + found.further_bytes
    assert bytes_ == pytest.approx(whole.estimate.memory.dram.peak, rel=1e-3)


def test_experts_are_divided() -> None:
    """Weights of three dimensions may be divided over any of them."""

    def mixture(x: jax.Array, experts: jax.Array) -> jax.Array:
        return jnp.einsum("bw,ewh->ebh", x, experts).sum(0)

    model = ttmlir.compile(
        mixture, SHAPE((33, 640), jnp.bfloat16), SHAPE((6, 640, 4096), jnp.bfloat16)
    )
    report = tune_shardings(model, board="n300", meshes=[(1, 2)], budget=6)
    assert report.best.divided == 1
    assert report.best.specs["experts"] in ((("model",), (), ()), ((), (), ("model",)))


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    """The file that is written is the program with shardings, and computes the same."""
    monkeypatch.chdir(tmp_path)
    text = """
    func.func @net(%x: tensor<3x640xf32>, %w: tensor<640x24576xf32>) -> tensor<3xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<3x640xf32>, tensor<640x24576xf32>) -> tensor<3x24576xf32>
      %c = stablehlo.constant dense<0.0> : tensor<f32>
      %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1]
        : (tensor<3x24576xf32>, tensor<f32>) -> tensor<3xf32>
      return %1 : tensor<3xf32>
    }
    """
    Path("net.mlir").write_text(text)
    assert main(["net.mlir", "--shardings", "--board", "n300", "--budget", "8"]) == 0
    printed = capsys.readouterr().out
    assert "wrote net.sharded.mlir: ttmlir.compile takes it" in printed
    model = ttmlir.compile("net.sharded.mlir")
    assert model.estimate("n300").mesh == (1, 2)
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape, np.float32) for shape in ((3, 640), (640, 24576)))
    np.testing.assert_allclose(model(x, w), (x @ w).sum(1), rtol=1e-4)


def test_what_is_refused(wide: ShardingReport, capsys: Any, tmp_path: Path) -> None:
    """Models that have shardings, or none that could be searched."""
    with pytest.raises(InputError, match=r"a dict is no model: give what ttmlir\.compile returned"):
        tune_shardings({})
    with pytest.raises(InputError, match="'Linear' is no StableHLO, whose shardings are searched"):
        tune_shardings(ttmlir.compile(torch.nn.Linear(3, 5), torch.ones(2, 3)))
    kernels = compiled(*shapes(3, 32, 64), target="kernels")
    with pytest.raises(InputError, match="is not compiled for ttnn from its source"):
        tune_shardings(kernels)
    model = compiled(*shapes(3, 32, 64))
    with pytest.raises(InputError, match="a mesh of 2x2 devices is none of n300, which has 2"):
        tune_shardings(model, board="n300", meshes=[(2, 2)])
    sharded = ttmlir.compile(network, *wide.shard(*shapes(3, 32, 64, 2)))
    with pytest.raises(InputError, match="'network' is for several devices already"):
        tune_shardings(sharded, board="n300")
    with pytest.raises(InputError, match="network takes 5 arrays, got 1"):
        wide.shard(SHAPE((3, 32), jnp.bfloat16))
    path = tmp_path / "broken.mlir"
    path.write_text(
        "func.func @f(%x: tensor<3xf32>) -> tensor<3xf32> {\n  return %y : tensor<3xf32>\n}\n"
    )
    assert main([str(path), "--shardings", "--board", "n300"]) == 1
    assert "broken.mlir:2:10: error: " in capsys.readouterr().err


def test_spelling() -> None:
    """Dimensions that are whole at the end are left out."""
    assert spell_spec(((), ("data",), ())) == "P(None, 'data')"
    assert spell_spec((("data", "model"), ())) == "P(('data', 'model'))"
    assert spell_spec(((), ())) == "P()"
