"""Where and why torch programs are refused: lines of libraries, causes in the user's terms."""

from __future__ import annotations

import logging
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ttmlir

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")

X = torch.ones(4, 4)

LIBRARY = """
class Inner(nn.Module):
    def forward(self, x):
        return torch.hash_tensor(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
    def forward(self, x):
        return self.inner(x) + 1

class Deciding(nn.Module):
    def forward(self, x):
        if x.sum() > 0:
            return x
        return -x
"""


def installed() -> dict[str, Any]:
    """The names of a library that is installed."""
    names: dict[str, Any] = {"torch": torch, "nn": nn}
    file = Path(sysconfig.get_path("purelib")) / "some_models.py"
    exec(compile(LIBRARY, str(file), "exec"), names)
    return names


def refusal(function: Any, *arguments: Any, **options: Any) -> str:
    """The text of the error."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(function, *arguments, **options)
    return str(caught.value)


def test_models_of_libraries_are_at_their_own_lines() -> None:
    """The library's file and line, and the path of the module."""
    text = refusal(installed()["Model"](), X)
    assert "some_models.py:4:" in text
    assert "'aten.hash_tensor.default' (in the module 'inner')" in text


def test_libraries_within_the_users_model_are_at_the_users_line() -> None:
    """The line that calls the library."""
    layer = installed()["Model"]()

    class User(nn.Module):
        def forward(self, x: Any) -> Any:
            return layer(x) * 2

    line = User.forward.__code__.co_firstlineno + 1
    assert f"test_refusal_places.py:{line}:" in refusal(User(), X)


def test_what_torch_cannot_trace_in_a_library() -> None:
    """The cause in the user's terms, with the remedy."""
    text = refusal(installed()["Deciding"](), X)
    assert "some_models.py:15:" in text
    assert "what it does depends on the numbers in a tensor; " in text
    assert "torch.where(condition, a, b) chooses" in text


def test_what_torch_itself_refuses_is_at_the_line_that_compiles() -> None:
    """There is no line of a model."""
    assert "test_refusal_places.py:" in refusal(nn.Linear(3, 2), X)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (torch.poisson, "random numbers that take an unknown number of tries are not supported"),
        (lambda x: torch.hash_tensor(x), "this operation is not supported\n"),
    ],
)
def test_operations_are_named_by_what_they_are(function: Any, words: str) -> None:
    """Linear algebra has remedies, and only names that are alike are suggested."""
    text = refusal(lambda x: function(x), X) + "\n"
    assert words in text
    assert "nearest" not in text


def test_names_that_are_alike_are_suggested() -> None:
    """And no others."""
    from ttmlir.frontend.torch.support import near

    names = ["expm1", "linear", "logical_or"]
    assert near("aten.expm2.default", names).endswith("; the nearest supported ones are expm1")
    assert near("aten.frexp.Tensor", names) == "this operation is not supported"


SPARSE = torch.eye(4).to_sparse()
LAYOUTS: dict[str, tuple[Callable[..., Any], tuple[Any, ...], str]] = {
    "closed over": (lambda x: torch.sparse.mm(SPARSE, x), (X,), "x.to_dense() is a tensor that"),
    "argument": (lambda a, x: a @ x, (SPARSE, X), "x.to_dense() is a tensor that"),
    "made inside": (lambda x: x.to_sparse(), (X,), "x.to_dense() is a tensor that"),
    "put together": (
        lambda i, v: torch.sparse_coo_tensor(i, v, (4, 4), check_invariants=False),
        (torch.tensor([[0, 1], [1, 2]]), torch.ones(2)),
        "index_add adds rows that indices choose",
    ),
    "nested": (
        lambda x: torch.nested.nested_tensor([x[:2], x]).to_padded_tensor(0.0),
        (X,),
        "give x.to_padded_tensor(0) and a mask",
    ),
    "branches in a batch": (
        torch.vmap(lambda x: torch.cond(x.sum() > 0, torch.sin, torch.cos, (x,))),
        (X,),
        "torch.where(condition, a, b) chooses between tensors",
    ),
    "nested argument": (
        lambda x: x * 2,
        (torch.nested.nested_tensor([X[:2], X], layout=torch.jagged),),
        "give x.to_padded_tensor(0) and a mask",
    ),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts_of_tensors(name: str) -> None:
    """Those without a place for each element are told what they become; branches in batches."""
    function, arguments, words = LAYOUTS[name]
    text = refusal(function, *arguments)
    assert words in text
    assert "test_refusal_places.py:" in text


def _checked(x: Any) -> Any:
    assert (x < 100).all()
    return x


def test_assertions_and_numpy() -> None:
    """What stands for them, which compiles."""
    text = refusal(_checked, X)
    assert "    assert (x < 100).all()" in text
    assert "torch._assert_async(condition, message) is left out of the program" in text
    found = ttmlir.compile(lambda x: (torch._assert_async((x < 100).all(), "large"), x)[1], X)(X)
    assert torch.equal(found, X)
    assert "such as torch.tanh(x) for numpy.tanh(x)" in refusal(lambda x: np.tanh(x), X)


def test_results_that_hold_no_tensors() -> None:
    """Objects are taken; what becomes of them is what they were."""
    marker = object()
    got, same = ttmlir.compile(lambda x: (x + 1, marker), X)(X)
    torch.testing.assert_close(got, X + 1)
    assert same is marker


def test_torch_says_nothing_itself(tmp_path: Path) -> None:
    """Neither logs nor graphs go to the terminal, and logging works again afterwards."""
    script = tmp_path / "script.py"
    script.write_text(
        "import torch, ttmlir\n"
        "for function in (lambda x: x if x.sum() > 0 else -x, lambda x: x @ x[:2]):\n"
        "    try:\n"
        "        ttmlir.compile(function, torch.ones(4, 4))\n"
        "    except ttmlir.CompilationError as error:\n"
        "        print(str(error).partition(': error: ')[0])\n",
        encoding="utf-8",
    )
    run = subprocess.run(
        [sys.executable, script], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert run.stdout == "script.py:2:1\n" * 2
    assert run.stderr == ""
    assert logging.root.manager.disable == logging.NOTSET
