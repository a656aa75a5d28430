"""Arguments that stay on the device between calls: weights that calls pass, and caches."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.compiler import parse, transform
from ttmlir.errors import ArgumentError
from ttmlir.frontend.compiled import CompiledModel

SHAPE = jax.ShapeDtypeStruct


def step(weights: dict[str, jax.Array], x: jax.Array, cache: jax.Array) -> tuple[jax.Array, ...]:
    """A product, and a cache that is replaced."""
    return x @ weights["w"], cache * weights["scale"]


def compiled(
    resident: tuple[str, ...], columns: int = 96, spelling: str | None = None
) -> CompiledModel:
    """The step for a weight of 640 rows, and a cache of 70x50 numbers."""
    weights = {"w": SHAPE((640, columns), jnp.bfloat16), "scale": SHAPE((), jnp.float32)}
    x, cache = SHAPE((33, 640), jnp.bfloat16), SHAPE((70, 50), jnp.float32)
    return ttmlir.compile(
        step, weights, x, cache, board="n150", resident=resident, spelling=spelling
    )


def test_what_stays_takes_no_time() -> None:
    """Of transfers, which are operations of 2024, those of x and of the product are left; weights
    are prepared once."""
    free, held = (compiled(each, spelling="2024").estimate() for each in ((), ("weights", "cache")))
    moved = [each for each in held.operations if each.on_host and each.time.mid]
    assert [each.output.shape for each in moved if each.output] == [(33, 640), (33, 96)]
    assert 0 < held.transfers.mid < free.transfers.mid
    assert held.once.mid > 0 == free.once.mid
    product, scaled = (
        next(each.time.mid for each in held.operations if each.name == name)
        for name in ("ttnn.matmul", "ttnn.multiply")
    )
    assert product + scaled == held.total.mid == free.total.mid


def test_memory_of_what_stays() -> None:
    """The weight has 20x3 tiles of 2048 bytes over 12 channels, the number one, the cache 3x2 tiles
    of 4096."""
    memory = compiled(("weights", "cache")).estimate().memory
    assert memory is not None
    assert memory.dram.resident == 5 * 2048 + 4096 + 4096
    assert memory.dram.peak > memory.dram.resident
    assert all(memory.dram.resident <= level for level in memory.dram.by_operation)
    assert "18,432 bytes per channel: weights and state" in str(
        compiled(("weights", "cache")).estimate()
    )


def test_results_are_those_of_other_programs() -> None:
    """A call passes all arguments, and returns all results."""
    model = compiled(("weights", "cache"))
    weights = {"w": jnp.ones((640, 96), jnp.bfloat16), "scale": jnp.float32(3)}
    product, cache = model(weights, jnp.ones((33, 640), jnp.bfloat16), jnp.ones((70, 50)))
    assert (np.asarray(product, np.float32) == 640).all()
    assert (np.asarray(cache) == 3).all()


def test_files_keep_it(tmp_path: object) -> None:
    """A loaded file is estimated as the model that it was saved from."""
    model = compiled(("weights", "cache"))
    loaded = ttmlir.load(model.save(f"{tmp_path}/step.ttnn"))
    assert loaded.estimate().total == model.estimate().total
    assert loaded.estimate().transfers == model.estimate().transfers


def test_weights_that_do_not_fit() -> None:
    """640 x 2^24 numbers of two bytes are 21.5 GB; a channel has 1 GB, with what is reserved."""
    memory = compiled(("weights",), 1 << 24).estimate().memory
    assert memory is not None
    assert not memory.fits
    assert re.search(
        r"weights and state do not fit: 21\.5 GB of 12\.9 GB; divide them over more devices, give "
        r"them narrower formats \(experimental-weight-dtype\)",
        memory.first_overflow or "",
    )


def test_names_of_arguments() -> None:
    """A name that no argument has is refused, with those that there are."""
    with pytest.raises(ArgumentError) as caught:
        compiled(("weight",))
    assert str(caught.value) == (
        "resident: no argument is named 'weight'; arguments are weights, x, cache"
    )


def test_shardings_of_many_arguments() -> None:
    """Borders are found for all arguments, however long the text of their shardings is."""
    count, type_ = 340, "tensor<8xf32>"
    names = [f"%a{number}" for number in range(count)]
    inner = ", ".join(f"%b{number}: tensor<2xf32>" for number in range(count))
    text = f"""
    sdy.mesh @mesh = <["x"=1, "model"=4]>
    func.func @main({", ".join(f"{name}: {type_}" for name in names)}) -> {type_} {{
      %0 = sdy.manual_computation({", ".join(names)})
        in_shardings=[{", ".join(['<@mesh, [{"model"}]>'] * count)}]
        out_shardings=[<@mesh, [{{"model"}}]>] manual_axes={{"x", "model"}} ({inner}) {{
        %1 = stablehlo.add %b0, %b{count - 1} : tensor<2xf32>
        sdy.return %1 : tensor<2xf32>
      }} : ({", ".join([type_] * count)}) -> {type_}
      return %0 : {type_}
    }}
    """
    module = parse(text)
    transform(module, "stablehlo-mesh-borders{whole-arguments=true}")
    names_of_operations = [op.name for op in module.walk()]
    assert "sdy.manual_computation" not in names_of_operations
    shards = [op for op in module.walk() if "mesh_shard" in op.name or op.name.endswith("call")]
    assert len(shards) == count + 1, set(names_of_operations)


def test_weights_may_have_narrower_formats() -> None:
    """A weight of 20x3 tiles of 1088 bytes over 12 channels, instead of 2048."""
    options = "experimental-weight-dtype=bfp_bf8 spelling=2026"
    weight, x = SHAPE((640, 96), jnp.bfloat16), SHAPE((33, 640), jnp.bfloat16)
    model = ttmlir.compile(
        lambda x, w: x @ w, x, weight, board="n150", resident=["w"], options=options
    )
    memory = model.estimate().memory
    assert memory is not None
    assert memory.dram.resident == 5 * 1088


def test_what_stays_on_a_mesh() -> None:
    """Each device keeps its part of a weight; calls compute the same."""
    text = """
    module {
      sdy.mesh @mesh = <["x"=1, "y"=4]>
      func.func @main(%x: tensor<33x64xf32> loc("x"),
          %w: tensor<64x256xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {"y"}]>} loc("w"))
          -> tensor<33x256xf32> {
        %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x256xf32>) -> tensor<256x64xf32>
        %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [1]
          : (tensor<33x64xf32>, tensor<256x64xf32>) -> tensor<33x256xf32>
        return %1 : tensor<33x256xf32>
      }
    }
    """
    model = ttmlir.compile(text, resident=["w"])
    rng = np.random.default_rng(0)
    for _ in range(2):
        x, w = rng.standard_normal((33, 64), np.float32), rng.standard_normal((64, 256), np.float32)
        np.testing.assert_allclose(model(x, w), x @ w, rtol=1e-4, atol=1e-4)
    memory = model.estimate("n150").memory
    assert memory is not None
    assert 4096 <= memory.dram.resident <= 3 * 4096
