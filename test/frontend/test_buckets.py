"""Dynamic sizes: the program that a call takes, padding, cropping and messages."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.frontend.dispatch import number_in
from ttmlir.runtime.errors import InputError

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")


class Pooling(nn.Module):
    """Attends to what the mask shows; each row has a result, and each batch."""

    def __init__(self) -> None:
        """A table and a product."""
        super().__init__()
        self.table = nn.Embedding(11, 300)
        self.dense = nn.Linear(300, 40)

    def forward(self, tokens: Any, mask: Any) -> Any:
        """Rows, and their mean."""
        rows = self.dense(self.table(tokens))
        shown = mask[:, :, None].to(rows.dtype)
        return {"rows": rows, "mean": (rows * shown).sum(1) / shown.sum(1), "length": mask.sum(1)}


def test_sequences_of_any_length(tmp_path: Path) -> None:
    """Batch and length together; torch computes the same without padding."""
    torch.manual_seed(0)
    module = Pooling().eval()
    batch, length = ttmlir.Buckets(4, 1), ttmlir.Buckets(8, 3)
    tokens, mask = torch.randint(11, (1, 5)), torch.ones(1, 5, dtype=torch.int64)
    compiled = ttmlir.compile(
        module,
        tokens,
        mask,
        buckets={"tokens": {0: batch, 1: length}, "mask": {0: batch, 1: length}},
        fill={"tokens": 7},
    )
    assert list(compiled.programs) == ["main_1_3", "main_1_8", "main_4_3", "main_4_8"]
    for rows, columns, taken in ((1, 3, "1x3"), (1, 4, "1x8"), (3, 8, "4x8"), (2, 1, "4x3")):
        tokens, mask = torch.randint(11, (rows, columns)), torch.ones(rows, columns).long()
        mask[0, columns // 2 :] = columns == 1
        got, wanted = compiled(tokens, mask=mask), module(tokens, mask)
        for name in ("rows", "mean", "length"):
            torch.testing.assert_close(got[name], wanted[name].detach())
        [(_, desc), _] = compiled.program_for(tokens, mask).inputs
        assert "x".join(map(str, desc.shape)) == taken
    assert "BucketedModel(Pooling, tokens[0]: (1, 4), tokens[1]: (3, 8), mask[0]" in repr(compiled)
    path = compiled.save(tmp_path / "pooling.ttnn")
    loaded = ttmlir.load(path, program=1, framework="torch")
    tokens, mask = torch.randint(11, (1, 8)), torch.ones(1, 8).long()
    torch.testing.assert_close(loaded(tokens, mask)["mean"], module(tokens, mask)["mean"].detach())


def test_functions_of_jax() -> None:
    """Descriptions as examples; sizes as tuples; what is filled in is not zero."""

    def smallest(tree: Any) -> Any:
        return jnp.tanh(tree["x"]), tree["x"].min(axis=1)

    x = np.linspace(0.5, 2, 15, dtype=np.float32).reshape(3, 5)
    compiled = ttmlir.compile(
        smallest, {"x": x}, buckets={"tree['x']": {-1: (4, 6)}}, fill={"tree['x']": 9}
    )
    for columns in (2, 4, 5):
        tanh, least = compiled({"x": x[:, :columns]})
        np.testing.assert_allclose(tanh, np.tanh(x[:, :columns]), atol=1e-5)
        np.testing.assert_allclose(least, x[:, :columns].min(axis=1))


def test_results_that_are_smaller() -> None:
    """Strides, windows and slices; the framework says which sizes follow."""
    torch.manual_seed(2)
    convolve = nn.Conv1d(4, 3, 3, stride=2, padding=1)
    compiled = ttmlir.compile(convolve, torch.zeros(2, 4, 8), buckets={"input": {2: (8, 33)}})
    for length in (1, 5, 8, 20, 33):
        x = torch.randn(2, 4, length)
        torch.testing.assert_close(compiled(x), convolve(x), atol=1e-5, rtol=1e-4)

    def differences(x: Any, y: Any) -> Any:
        return {"of": x[1:] - x[:-1], "sums": x[::3].sum(1), "both": x[:-2, None] * y[None]}

    x, y = jnp.ones((8, 3)), jnp.ones((2, 3))
    compiled = ttmlir.compile(differences, x, y, buckets={"x": {0: (8, 17)}, "y": {0: (2, 5)}})
    for rows, others in ((4, 1), (8, 5), (15, 3)):
        x, y = jnp.arange(3.0 * rows).reshape(rows, 3), jnp.ones((others, 3))
        found, wanted = compiled(x, y), differences(x, y)
        for name, value in wanted.items():
            np.testing.assert_allclose(found[name], value)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.reshape(-1),
        lambda x: torch.cat([x, torch.ones(1, 3)]),
        lambda x: torch.cat([x, x])[2:],
        lambda x: x[len(x) // 8 * 4 :],
        lambda x: x * float(x.sum()) if len(x) % 2 else x[::2],
    ],
)
def test_results_that_cannot_be_cropped(function: Any) -> None:
    """Joined dimensions, what comes after the argument, and what nobody knows before the call."""
    with pytest.raises(ttmlir.Error, match=r"or a smaller one that grows with it by at most one"):
        ttmlir.compile(function, torch.zeros(8, 3), buckets={"x": {0: (8, 22)}})


def test_arguments_that_are_changed_in_place() -> None:
    """They have the size that was given, too."""

    def double(x: Any) -> Any:
        x.mul_(2)
        return x.sum(1)

    compiled = ttmlir.compile(double, torch.ones(2, 3), buckets={"x": {0: (4, 8)}})
    x = torch.arange(15.0).reshape(5, 3)
    wanted = x * 2
    torch.testing.assert_close(compiled(x), wanted.sum(1))
    torch.testing.assert_close(x, wanted)


def test_calls_that_do_not_fit() -> None:
    """The messages name the argument and the buckets."""
    compiled = ttmlir.compile(
        lambda x, y: x + y,
        jnp.ones((2, 3)),
        jnp.ones(3),
        buckets={"x": {1: (2, 5)}, "y": {0: (2, 5)}},
    )
    message = "'lambda': dimension 1 of x is 6; the buckets are 2, 5: compile with a larger one"
    with pytest.raises(InputError, match=message):
        compiled(jnp.ones((2, 6)), jnp.ones(6))
    with pytest.raises(InputError, match="dimension 0 of y is 4, but dimension 1 of x is 3; they"):
        compiled(jnp.ones((2, 3)), jnp.ones(4))
    with pytest.raises(InputError, match="there is no dimension 1 of x, which has the shape"):
        compiled(jnp.ones(3), jnp.ones(3))
    with pytest.raises(InputError, match=r"x is float32\[3,5\] instead of float32\[2,5\]; compile"):
        compiled(jnp.ones((3, 3)), jnp.ones(3))
    with pytest.raises(InputError, match=r"'lambda' takes x, y; got 1 by position"):
        compiled(jnp.ones((2, 3)))


@pytest.mark.parametrize(
    ("buckets", "fill", "message"),
    [
        ({"z": {0: (1, 2)}}, {}, "buckets: there is no argument 'z'; there are x"),
        ({"x": {2: (1, 2)}}, {}, "buckets: 'x' has 2 dimensions, none is 2"),
        ({"x": {0: (4,)}}, {}, "buckets are two or more sizes above 0, got 4"),
        ({"x": {0: (0, 4)}}, {}, "buckets are two or more sizes above 0, got 0, 4"),
        ({}, {}, "buckets are sizes by arguments and dimensions"),
        ({"x": {0: (2, 4)}}, {"y": 1}, "fill: there is no argument 'y'; there are x"),
        (None, {"x": 1}, "fill pads arguments whose sizes are buckets; buckets= says which"),
        ({"x": {0: (2, 4)}}, {"x": 1e300}, r"fill: 'x' is float32, which cannot hold 1e\+300"),
        ({"x": {0: (2, 4)}}, {}, "dimension 0 of result 0 is 6, 12 for the buckets 2, 4; results"),
    ],
)
def test_buckets_that_do_not_fit(buckets: Any, fill: Any, message: str) -> None:
    """Told when the model is compiled."""
    with pytest.raises(ValueError, match=message):
        ttmlir.compile(lambda x: x.reshape(-1), jnp.ones((2, 3)), buckets=buckets, fill=fill)


@pytest.mark.parametrize(
    ("element", "number", "kept"),
    [
        ("uint8", 255, 255),
        ("uint8", 300, None),
        ("uint8", -1, None),
        ("int32", np.int64(-(2**31)), -(2**31)),
        ("int32", 2.0, 2),
        ("int32", 2.7, None),
        ("int32", float("nan"), None),
        ("int32", float("inf"), None),
        ("int32", 10**400, None),
        ("bool", 1, True),
        ("bool", 2, None),
        ("float32", -float("inf"), -float("inf")),
        ("bfloat16", 0.5, 0.5),
        ("bfloat16", 10**400, None),
    ],
)
def test_numbers_that_pad(element: str, number: Any, kept: Any) -> None:
    """They are numbers of the argument's type, or refused when it is compiled."""

    dtype = jnp.dtype(element)
    if kept is None:
        with pytest.raises(ValueError, match=f"fill: 'x' is {element}, which cannot hold "):
            number_in(dtype, number, "x")
    else:
        np.testing.assert_array_equal(number_in(dtype, number, "x"), dtype.type(kept), strict=True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fill": 3}, "fill is numbers by arguments: {'x': -100}; got 3"),
        ({"fill": {"x": "a"}}, "fill: 'x' takes a number, got 'a'"),
        ({"buckets": {"x": {0: ("4", 9)}}}, "buckets are integers, got '4', 9"),
    ],
)
def test_what_is_no_number(options: Any, message: str) -> None:
    """The message says what it should be."""
    with pytest.raises(TypeError, match=message):
        ttmlir.compile(jnp.tanh, jnp.ones((2, 3)), **{"buckets": {"x": {0: (2, 4)}}, **options})


@pytest.mark.parametrize(
    "buckets", ["abc", {"x": (1, 2)}, {"x": {0: 3}}, {"x": {0: "12"}}, {"x": {"0": (1, 2)}}]
)
def test_buckets_of_another_form(buckets: Any) -> None:
    """The message shows the form."""
    form = re.escape("sizes by arguments and dimensions: {'x': {0: (1, 8)}}; got " + repr(buckets))
    with pytest.raises(TypeError, match=form):
        ttmlir.compile(jnp.tanh, jnp.ones((2, 3)), buckets=buckets)
