"""`torch.optim.LBFGS` in a step: torch's own optimizer says what it does."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir
from ttmlir.frontend.torch.training import lbfgs

torch: Any = import_module("torch")
nn, F = torch.nn, torch.nn.functional


def rosenbrock(x: Any) -> Any:
    """A bent valley."""
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def waves(x: Any) -> Any:
    """Slopes that change their sign often, so that a search has to narrow a bracket."""
    return (x.sin() * 3 + x * x / 9).sum() + (x[0] * x[1]).cos()


def flat(x: Any) -> Any:
    """A long way to go, so that a search has to go on and on."""
    return (x * 1e-3).cosh().sum() * 1e2


FUNCTIONS = [rosenbrock, waves, flat]
OPTIONS: list[dict[str, Any]] = [
    {"lr": 1e-3, "max_iter": 7},
    {"lr": 0.3, "max_iter": 4, "max_eval": 4, "history_size": 2},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 40.0, "max_iter": 6, "max_eval": 9, "history_size": 3},
    {"line_search_fn": "strong_wolfe", "lr": 0.02, "max_eval": 5, "tolerance_change": 1e-2},
    {"line_search_fn": "strong_wolfe", "tolerance_grad": 0.5, "lr": 3.0},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_where_steps_go(function: Callable[[Any], Any], options: dict[str, Any]) -> None:
    """Five steps in 64 bits, with as many evaluations as torch's, and what is kept of them."""
    start = torch.tensor([-1.2, 0.7, 2.1], dtype=torch.float64)
    theirs = start.clone().requires_grad_()
    optimizer = torch.optim.LBFGS([theirs], **options)
    group = optimizer.param_groups[0]

    def closure() -> Any:
        optimizer.zero_grad()
        loss = function(theirs)
        loss.backward()
        return loss

    def evaluate(x: Any, runs: Any) -> tuple[Any, Any]:
        loss, gradient = torch.func.grad_and_value(function)(x)[::-1]
        # What comes after the last evaluation is not looked at.
        wrong = torch.full_like(gradient, torch.nan)
        return loss, gradient if runs is None else torch.where(runs, gradient, wrong)

    ours = start
    shapes = lbfgs.shapes_of_kept(group["history_size"], 3)
    kept = {name: torch.zeros(shape, dtype=torch.float64) for name, shape in shapes.items()}
    for _ in range(5):
        optimizer.step(closure)
        rate = torch.tensor(group["lr"], dtype=torch.float64)
        ours, kept = lbfgs.minimize(group, ours, kept, rate, evaluate)
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-6, atol=1e-6)
        state = optimizer.state[theirs]
        assert [int(kept[name]) for name in ("n_iter", "func_evals")] == [
            state["n_iter"],
            state["func_evals"],
        ]


def model() -> Any:
    """Two layers with averages of what goes through."""
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))


X, Y = torch.randn(7, 3, generator=torch.Generator().manual_seed(0)), torch.arange(14.0).view(7, 2)


def closure_of(model: Any, optimizer: Any) -> Callable[[], Any]:
    """What torch calls as often as it likes."""

    def closure() -> Any:
        optimizer.zero_grad()
        loss = F.mse_loss(model(X), Y)
        loss.backward()
        return loss

    return closure


def test_training() -> None:
    """A step begins with what the optimizer keeps, and gives it back so that torch goes on."""
    ours, theirs = model(), model()
    options = {"lr": 0.2, "max_iter": 2, "history_size": 3, "line_search_fn": "strong_wolfe"}
    optimizers = [torch.optim.LBFGS(each.parameters(), **options) for each in (ours, theirs)]
    closures = [closure_of(*pair) for pair in zip((ours, theirs), optimizers, strict=True)]
    for optimizer, closure in zip(optimizers, closures, strict=True):
        optimizer.step(closure)
    step = ttmlir.train_step(ours, F.mse_loss, optimizers[0], X, Y)
    for _ in range(3):
        expected = optimizers[1].step(closures[1]).detach()
        torch.testing.assert_close(step(X, Y), expected, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(step.state_dict(), dict(theirs.state_dict()), rtol=1e-4, atol=1e-4)
    step.load_into()
    for optimizer, closure in zip(optimizers, closures, strict=True):
        optimizer.step(closure)
    torch.testing.assert_close(ours.state_dict(), theirs.state_dict(), rtol=1e-3, atol=1e-3)
    step.load_from()
    torch.testing.assert_close(step.state_dict(), dict(ours.state_dict()), rtol=0, atol=0)
    torch.testing.assert_close(step(X, Y), F.mse_loss(ours(X), Y).detach(), rtol=1e-4, atol=1e-4)


def test_a_function_with_a_closure() -> None:
    """`optimizer.step(closure)` returns the loss before the step."""
    ours, theirs = nn.Linear(3, 2), nn.Linear(3, 2)
    theirs.load_state_dict(ours.state_dict())
    own, other = (
        torch.optim.LBFGS(each.parameters(), lr=0.1, max_iter=3) for each in (ours, theirs)
    )
    compiled = ttmlir.train_function(
        lambda: own.step(closure_of(ours, own)), models=ours, optimizers=own
    )
    for _ in range(2):
        torch.testing.assert_close(
            compiled(), other.step(closure_of(theirs, other)).detach(), rtol=1e-4, atol=1e-4
        )


def test_refusals() -> None:
    """Messages say with what LBFGS goes."""
    first, second = nn.Linear(3, 2), nn.Linear(3, 2)
    optimizer = torch.optim.LBFGS(first.parameters())
    sgd = torch.optim.SGD(second.parameters())
    with pytest.raises(TypeError, match="takes LBFGS alone, not among other optimizers"):
        ttmlir.train_step(nn.Sequential(first, second), F.mse_loss, [sgd, optimizer], X, Y)
    with pytest.raises(ttmlir.Error, match="LBFGS goes without accumulate"):
        ttmlir.train_step(first, F.mse_loss, optimizer, X, Y, accumulate=2)
    with pytest.raises(ttmlir.Error, match=r"wants optimizer\.step\(closure\) with a function"):
        ttmlir.train_function(lambda: optimizer.step(), models=first, optimizers=optimizer)
    first.bias.requires_grad = False
    with pytest.raises(TypeError, match="give it those that require a gradient"):
        ttmlir.train_step(first, F.mse_loss, optimizer, X, Y)
