"""Branches and loops of torch, compared with torch; remedies where torch cannot trace them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.associative_scan import associative_scan
from torch._higher_order_ops.map import map as map_rows

import ttmlir

# As in a process of its own: torch imports parts of its own that it calls deprecated.
pytestmark = pytest.mark.filterwarnings("default")

X = torch.randn(2, 3, generator=torch.Generator().manual_seed(0))


class Layers(nn.Module):
    """Layers that a branch or a loop applies."""

    def __init__(self, count: int, run: Callable[[nn.Module, Any], Any]) -> None:
        """With weights that do not depend on what ran before."""
        super().__init__()
        with torch.random.fork_rng():
            torch.manual_seed(0)
            self.layers = nn.Sequential(*(nn.Linear(3, 3) for _ in range(count)))
        self._run = run

    def forward(self, *args: Any) -> Any:
        """What the given function does with the layers."""
        return self._run(self.layers, *args)


def choose(layers: nn.Module, x: Any) -> Any:
    """Layers or a sine."""
    return torch.cond(x.sum() > 0, lambda x: layers(x), lambda x: x.sin(), (x,))


def grow(layers: nn.Module, x: Any) -> Any:
    """A layer, as often as it takes."""
    step = torch.zeros((), dtype=torch.int32)
    return while_loop(
        lambda i, x: (i < 70) & (x.abs().max() < 50),
        lambda i, x: (i + 1, layers(x) * 1.5),
        (step, x),
    )


def recur(layers: nn.Module, h: Any, xs: Any) -> Any:
    """A sum that is squashed after each row."""
    return scan(lambda h, x: (torch.tanh(h + x), h * 2), h, xs, dim=0)


def recur_with_layers(layers: nn.Module, h: Any, xs: Any) -> Any:
    """A layer after each row, whose weights torch looks for gradients of."""
    return scan(lambda h, x: (torch.tanh(layers(h) + x), h * 2), h, xs, dim=0)


def weigh(layers: nn.Module, xs: Any) -> Any:
    """Sums whose earlier terms fade."""
    return associative_scan(lambda a, b: a * 0.5 + b, layers(xs), dim=0, combine_mode="generic")


def each_row(layers: nn.Module, xs: Any, y: Any) -> Any:
    """A layer for each row."""
    return map_rows(lambda x, y: layers(x * y).sin(), xs, y)


CASES: dict[str, tuple[nn.Module, tuple[Any, ...], str]] = {
    "small branches": (Layers(1, choose), (X,), ""),
    "on true": (Layers(20, choose), (X.abs(),), "ttcore.case"),
    "on false": (Layers(20, choose), (-X.abs(),), "ttcore.case"),
    "while": (Layers(1, grow), (X,), "ttcore.while_loop"),
    "scan": (Layers(1, recur), (X, torch.randn(70, 2, 3)), "ttcore.while_loop"),
    "scan with weights": (
        Layers(1, recur_with_layers),
        (X, torch.randn(70, 2, 3)),
        "ttcore.while_loop",
    ),
    "associative scan": (Layers(1, weigh), (torch.randn(11, 3),), ""),
    "map": (Layers(1, each_row), (torch.randn(70, 4, 3), torch.randn(3)), "ttcore.while_loop"),
}


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize(
    ("case", "weights"), [*((case, "constants") for case in CASES), ("while", "arguments")]
)
def test_control_flow(case: str, weights: Any) -> None:
    """It computes what it computes in torch, as a loop or branch of the program."""
    model, args, operation = CASES[case]
    compiled = ttmlir.compile(model, *args, weights=weights)
    results, expected = compiled(*args), model(*args)
    for result, wanted in zip(_listed(results), _listed(expected), strict=True):
        torch.testing.assert_close(result, wanted.detach(), rtol=1e-5, atol=1e-5)
    text = compiled.text("ttnn")
    assert (operation in text) if operation else "ttcore.case" not in text


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [value]


class Attention(nn.Module):
    """nn.Transformer with a mask."""

    def __init__(self, **options: Any) -> None:
        """Small."""
        super().__init__()
        self.inner = nn.Transformer(8, 2, 1, 1, 16, batch_first=True).eval()
        self.options = options

    def forward(self, x: Any, y: Any, mask: Any) -> Any:
        """The decoder sees what was before."""
        return self.inner(x, y, tgt_mask=mask, **self.options)


ARGS = (
    torch.randn(2, 5, 8),
    torch.randn(2, 5, 8),
    nn.Transformer.generate_square_subsequent_mask(5),
)


def test_the_remedy_for_masks_works() -> None:
    """torch looks at the numbers of a mask unless it is told what the mask is."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(Attention(), *ARGS)
    assert "say which masks are causal, so that torch does not look at them" in str(caught.value)
    assert "tgt_is_causal=True" in str(caught.value)
    model = Attention(tgt_is_causal=True)
    with torch.no_grad():
        expected = model(*ARGS)
    torch.testing.assert_close(ttmlir.compile(model, *ARGS)(*ARGS), expected, rtol=1e-4, atol=1e-5)


def test_what_torch_cannot_trace_has_a_remedy() -> None:
    """One line says what happened and what to do."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(lambda x: x if x.sum() > 0 else -x, X)
    message = str(caught.value).splitlines()[0]
    assert "torch cannot trace this: what it does depends on the numbers in a tensor; " in message
    assert "torch.cond(condition, f, g, args)" in message


@pytest.mark.parametrize(
    ("function", "remedy"),
    [
        (
            lambda x: torch.linalg.svdvals(x + 0j),
            "but for solve, inv, det, cholesky, lu_factor and eig; the real matrix of the blocks",
        ),
    ],
)
def test_linear_algebra_is_refused_by_what_it_computes(function: Any, remedy: str) -> None:
    """With what there is instead."""
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.compile(function, torch.eye(3))
    assert remedy in str(caught.value)
