"""Several programs in one file: weights once, state that all see, names and messages."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import ttmlir
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import load_binary
from ttmlir.tools.ttrt import main as ttrt_main

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")


class Memory(nn.Module):
    """Writes rows, adds a row at a place, and reads."""

    def __init__(self) -> None:
        """Weights that are larger than everything else in a file."""
        super().__init__()
        self.dense = nn.Linear(300, 200)
        self.register_buffer("rows", torch.zeros(5, 200))

    def fill(self, x: Any) -> Any:
        """Write the first rows."""
        y = self.dense(x)
        self.rows[: x.shape[0]] = y
        return y

    def extend(self, x: Any, place: Any) -> Any:
        """Write one row."""
        self.rows.index_copy_(0, place, self.dense(x))
        return self.rows.sum(0)

    def read(self) -> Any:
        """Change nothing."""
        return self.rows * 2


def test_programs_share_weights_and_state(tmp_path: Path) -> None:
    """What one writes the others read; the file has the weights once."""
    torch.manual_seed(0)
    model, theirs = Memory(), Memory()
    theirs.load_state_dict(model.state_dict())
    x, place = torch.randn(2, 300), torch.tensor([3])
    compiled = ttmlir.compile_programs(
        {
            "fill": ttmlir.Example(model.fill, x),
            "extend": ttmlir.Example(model.extend, x[:1], place=place),
            "read": ttmlir.Example(model.read),
        }
    )
    alone = ttmlir.compile(model.fill, x)
    weights = 4 * 300 * 200
    assert 2 * weights > len(compiled.to_bytes())
    assert len(alone.to_bytes()) > weights
    for turn in (1, 2):
        torch.testing.assert_close(compiled.fill(x * turn), theirs.fill(x * turn).detach())
        got = compiled["extend"](x[1:], place + turn - 1)
        torch.testing.assert_close(got, theirs.extend(x[1:], place + turn - 1).detach())
        torch.testing.assert_close(compiled.read(), theirs.read().detach())
        torch.testing.assert_close(compiled.read.reference(), theirs.read().detach())
    assert model.rows.abs().max() == 0
    assert list(compiled) == ["fill", "extend", "read"]
    assert repr(compiled).startswith("CompiledPrograms(fill, extend, read: ")
    for stage in ("ttir", "ttnn"):
        assert "func.func @extend" in compiled.text(stage, elide_above=16)
    path = compiled.save(tmp_path / "memory.ttnn")
    loaded = ttmlir.load(path, program=1, weights={"rows": torch.zeros(5, 200)}, framework="torch")
    wanted = torch.zeros(5, 200)
    wanted[3] = theirs.dense(x[:1])[0].detach()
    torch.testing.assert_close(loaded(x[:1], place=place), wanted.sum(0))


def test_programs_of_jax() -> None:
    """Constants that functions close over are in the file once, helpers keep apart."""
    weight = np.random.default_rng(0).standard_normal((300, 200), np.float32)

    def encode(x: Any) -> Any:
        return jnp.where(x @ weight > 0, x @ weight, 0)

    x = np.linspace(-1, 1, 600, dtype=np.float32).reshape(2, 300)
    compiled = ttmlir.compile_programs(
        {
            "many": ttmlir.Example(encode, x),
            "one": ttmlir.Example(lambda x: encode(x).sum(), x=x[:1]),
        },
        numerics="device",
    )
    assert compiled.to_bytes().count(weight.tobytes()) == 1
    wanted = np.maximum(x @ weight, 0)
    np.testing.assert_allclose(compiled.many(x, numerics="exact"), wanted, atol=1e-4)
    np.testing.assert_allclose(compiled.one(x[:1]), wanted[:1].sum(), rtol=2e-2)


@pytest.mark.parametrize(("target", "suffix"), [("ttnn", "ttnn"), ("kernels", "ttm")])
def test_golden_results_of_all_programs(target: Any, suffix: str, tmp_path: Path) -> None:
    """The file has examples and results of each function."""
    x = np.linspace(-1, 1, 600, dtype=np.float32).reshape(2, 300)
    examples = {
        "double": ttmlir.Example(lambda pair: pair["a"] * 2 + pair["b"], {"a": x, "b": x + 1}),
        "total": ttmlir.Example(lambda x: x.sum(1), x=x[:, :50]),
    }
    compiled = ttmlir.compile_programs(examples, target=target)
    plain = compiled.save(tmp_path / f"plain.{suffix}")
    assert [each.golden for each in load_binary(plain).programs] == [None, None]
    path = compiled.save(tmp_path / f"golden.{suffix}", golden=True)
    first, second = (each.golden for each in load_binary(path).programs)
    assert first is not None
    assert second is not None
    for got, wanted in zip(
        [*first.inputs, *first.outputs, *second.inputs, *second.outputs],
        [x, x + 1, x * 3 + 1, x[:, :50], x[:, :50].sum(1)],
        strict=True,
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    assert ttrt_main(["run", "--golden", "--artifact-dir", str(tmp_path), str(path)]) == 0


def test_golden_results_with_state(tmp_path: Path) -> None:
    """State is an input and a result like others."""
    model, x = Memory(), torch.ones(2, 300)
    compiled = ttmlir.compile_programs(
        {"fill": ttmlir.Example(model.fill, x), "read": ttmlir.Example(model.read)}
    )
    path = compiled.save(tmp_path / "memory.ttnn", golden=True)
    first, second = (each.golden for each in load_binary(path).programs)
    assert first is not None
    assert second is not None
    wanted = model.dense(x).detach().numpy()
    for result in first.outputs:
        np.testing.assert_allclose(result[:2], wanted, rtol=1e-5, atol=1e-5)
    assert [result.shape for result in first.outputs] == [(5, 200), (2, 200)]
    assert not second.outputs[0].any()
    assert ttrt_main(["run", "--golden", "--artifact-dir", str(tmp_path), str(path)]) == 0


def test_what_is_no_set_of_programs() -> None:
    """Names, frameworks and shapes."""
    x = torch.ones(3)
    example = ttmlir.Example(nn.ReLU(), x)
    for name in ("a b", "_a", "", 3):
        with pytest.raises(ValueError, match=f"cannot have the name {name!r}: names are those of"):
            ttmlir.compile_programs({name: example})
    for name in ("save", "to_bytes", "items", "name"):
        with pytest.raises(ValueError, match=f"'{name}': an attribute of all programs has it"):
            ttmlir.compile_programs({name: example})
    with pytest.raises(TypeError, match=r"'a' is a tuple; give it as ttmlir\.Example\(model, \*"):
        ttmlir.compile_programs({"a": (nn.ReLU(), x)})  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match=r"given by names: .*; got a list"):
        ttmlir.compile_programs([example])  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match="got none"):
        ttmlir.compile_programs({})
    with pytest.raises(TypeError, match="all of JAX, all of torch"):
        ttmlir.compile_programs({"a": example, "b": ttmlir.Example(jnp.tanh, np.ones(3))})
    compiled = ttmlir.compile_programs({"a": example})
    with pytest.raises(AttributeError, match=r"no program .b.; the programs are a$"):
        _ = compiled.b
    with pytest.raises(ValueError, match="the stages of programs are ttir, ttnn, cpp, not 'llvm'"):
        compiled.text("llvm")
    with pytest.raises(InputError, match=r"compile again with arguments of these shapes"):
        compiled.a(torch.ones(4))
    with pytest.raises(ttmlir.CompilationError, match=r"test_programs\.py:\d+"):
        ttmlir.compile_programs({"a": ttmlir.Example(lambda x: torch.hash_tensor(x), x)})
