"""`ttmlir.suggest`: what is named brings what is said."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import torch

import ttmlir
from ttmlir.frontend.compiled import public_function
from ttmlir.runtime.errors import InputError
from ttmlir.tuning.shardings import find_root, find_weights
from ttmlir.tuning.suggestions import suggest


def network(x: jax.Array, w: jax.Array) -> jax.Array:
    """A product with a large weight."""
    return jnp.tanh(x @ w)


SHAPES = [jax.ShapeDtypeStruct(shape, jnp.bfloat16) for shape in ((33, 640), (640, 4096))]


def test_a_change_brings_what_is_said() -> None:
    """A model that is compiled as is said takes that long; its results correlate so with NumPy."""
    torch.manual_seed(0)
    layer, x = torch.nn.Linear(640, 4096, bias=False).bfloat16(), torch.randn(33, 640)
    x = x.bfloat16()
    model = ttmlir.compile(layer, x, board="n150")
    found = suggest(model)
    assert found.estimate.total == model.estimate().total
    assert 1 <= len(found.changes) <= 5
    gains = [round(each.gain, 2) for each in found.changes]
    assert gains == sorted(gains, reverse=True)
    by_name = {each.change: each for each in found.changes}
    for name, least, most in (
        ("weights in bfp_bf8", 0.9999, 1),
        ("weights in bfp_bf4", 0.97, 0.999),
    ):
        said = by_name[name]
        changed = ttmlir.compile(layer, x, board="n150", **eval(f"dict({said.how})"))
        assert changed.estimate().total == said.estimate.total
        assert said.gain == pytest.approx(model.estimate().total.mid / said.estimate.total.mid)
        assert said.gain > 1.02
        with torch.no_grad():
            exact = (x.double() @ layer.weight.double().T).numpy()
        result = changed(x, numerics="device").detach().double().numpy()
        assert said.pcc is not None
        assert least < said.pcc < most
        assert np.corrcoef(result.ravel(), exact.ravel())[0, 1] == pytest.approx(said.pcc, abs=3e-3)


def test_arguments_that_could_stay() -> None:
    """A weight that each call passes is prepared in each call."""
    model = ttmlir.compile(network, *SHAPES, board="n150", spelling="2026")
    found = {each.how: each for each in suggest(model, most=9).changes}
    held = found["resident=['w']"]
    again: Any = ttmlir.compile(network, *SHAPES, board="n150", spelling="2026", resident=["w"])
    assert held.estimate.total == again.estimate().total
    assert held.change == "w on the device between calls"
    both = found["resident=['w'], options='experimental-weight-dtype=bfp_bf8'"]
    assert both.gain > held.gain
    names = [each.change for each in suggest(again, most=9).changes]
    assert names
    assert "w on the device between calls" not in names


def test_report() -> None:
    """A row for each change; options that are given already are not changed, large models not
    run."""
    model = ttmlir.compile(
        network,
        jax.ShapeDtypeStruct((640, 4096), jnp.bfloat16),
        jax.ShapeDtypeStruct((4096, 4096), jnp.bfloat16),
        board="p150",
        optimization_level=0,
        options="experimental-weight-dtype=bfp_bf8",
        resident=["w"],
    )
    lines = str(suggest(model)).splitlines()
    assert lines[0] == "network on p150"
    assert lines[1].split() == ["change", "us", "gain", "PCC", "how"]
    assert lines[2].split()[:3] == ["as", "it", "is"]
    assert lines[2].split()[-2:] == ["1.00", "-"]
    assert "weights in" not in "".join(lines)
    # What was given stays, also where it is told what to give.
    given = "experimental-weight-dtype=bfp_bf8 optimization-level=0"
    assert f"options='{given} compute-cfg-math-fidelity=hifi2'" in "\n".join(lines)


@pytest.mark.parametrize("level", [0, 1, None])
def test_levels(level: int | None) -> None:
    """Models below the highest level are told of it, others have it."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Linear(640, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 700)
    )
    args = model.bfloat16(), torch.ones(33, 640, dtype=torch.bfloat16)
    compiled = ttmlir.compile(*args, board="n150", optimization_level=level)
    found = [each for each in suggest(compiled, most=9).changes if "level" in each.how]
    assert [each.how for each in found] == ["optimization_level=3"] * (level is not None)
    assert all("-level" not in each.how for each in found)
    for each in found:
        best = ttmlir.compile(*args, board="n150", optimization_level=3).estimate()
        assert best.total == each.estimate.total


def test_accuracy_is_that_of_the_examples() -> None:
    """Of weights that are arguments, too: random ones would fill every exponential."""
    x, w = jnp.full((33, 96), 0.25), jnp.eye(96, 640) / 64
    model = ttmlir.compile(lambda w, x: jnp.exp(jnp.exp(4 * (x @ w))), w, x, board="n150")
    assert suggest(model).pcc == pytest.approx(1, abs=1e-2)


def layer(params: dict[str, jax.Array], x: jax.Array) -> jax.Array:
    """Attention of sequences, with weights of fewer dimensions."""
    query, key = x @ params["q"], jnp.einsum("bsd,ed->bse", x, params["k"])
    return x + jax.nn.softmax(query @ key.swapaxes(1, 2)) @ (x @ params["v"]) @ params["o"]


def experts(x: jax.Array, up: jax.Array) -> jax.Array:
    """A product of two arguments, of which nothing else says which one stays."""
    return jnp.einsum("td,edf->etf", x, up)


@pytest.mark.parametrize(
    ("function", "args", "weights"),
    [
        (layer, ({name: jnp.ones((96, 96)) for name in "qkvo"}, jnp.ones((2, 33, 96))), "params"),
        (experts, (jnp.ones((33, 64)), jnp.ones((4, 64, 96))), "up"),
        (lambda x, w: x @ w, (jnp.ones((3, 33, 64)), jnp.ones((64, 96))), "w"),
    ],
)
def test_which_arguments_are_weights(function: Any, args: Any, weights: str) -> None:
    """Inputs are none, whether they have more dimensions than weights or fewer."""
    source = ttmlir.compile(function, *args).source
    names = source.signature.input_names
    found = find_weights(public_function(source.module), names)
    assert {find_root(names[number]) for number in found} == {weights}


def test_what_is_refused() -> None:
    """What has no source cannot be changed."""
    with pytest.raises(InputError, match="a str has nothing to change: give what"):
        suggest("net.mlir")
    kernels = ttmlir.compile(torch.nn.Linear(32, 32), torch.ones(32, 32), target="kernels")
    with pytest.raises(InputError, match="a CompiledModel has nothing to change"):
        suggest(kernels)


def test_programs_of_several_devices_have_no_accuracy() -> None:
    """Their changes are estimated; nothing runs."""
    mesh = jax.sharding.AbstractMesh((1, 2), ("r", "c"))
    x, w = (
        jax.ShapeDtypeStruct(
            shape, "bfloat16", sharding=jax.sharding.NamedSharding(mesh, jax.P(*spec))
        )
        for shape, spec in (((32, 2048), ()), ((2048, 4096), (None, "c")))
    )
    found = ttmlir.suggest(ttmlir.compile(lambda x, w: x @ w, x, w, board="n300"))
    assert found.changes
    assert found.pcc is None
    assert {each.pcc for each in found.changes} == {None}
