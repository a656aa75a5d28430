"""Optimizers besides SGD and Adam: ten compiled steps against those of torch itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import pytest

import ttmlir
from ttmlir.frontend.torch.training.optimizers import UPDATES, Moment

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")

STEPS = 10

# The options of the first layer and of the second.
OPTIONS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "Adamax": (
        {"lr": 0.05, "betas": (0.7, 0.9), "eps": 1e-3, "weight_decay": 0.1},
        {"lr": 0.02, "maximize": True},
    ),
    "NAdam": (
        {"lr": 0.05, "betas": (0.7, 0.95), "eps": 1e-4, "momentum_decay": 0.3, "weight_decay": 0.1},
        {"lr": 0.02, "weight_decay": 0.2, "decoupled_weight_decay": True, "maximize": True},
    ),
    "RAdam": (
        {"lr": 0.05, "eps": 1e-4, "weight_decay": 0.2, "decoupled_weight_decay": True},
        {"lr": 0.02, "betas": (0.8, 0.6), "weight_decay": 0.1, "maximize": True},
    ),
    "RMSprop": (
        {"lr": 0.02, "alpha": 0.8, "eps": 1e-3, "weight_decay": 0.1, "momentum": 0.7},
        {"lr": 0.01, "centered": True, "alpha": 0.9, "momentum": 0.4, "maximize": True},
    ),
    "Adagrad": (
        {"lr": 0.1, "lr_decay": 0.2, "eps": 1e-3, "weight_decay": 0.1},
        {"lr": 0.05, "maximize": True},
    ),
    "Adadelta": (
        {"lr": 0.9, "rho": 0.7, "eps": 1e-3, "weight_decay": 0.1},
        {"lr": 0.5, "maximize": True},
    ),
    "Rprop": (
        {"lr": 0.05, "etas": (0.4, 1.3), "step_sizes": (0.03, 0.07)},
        {"lr": 0.02, "maximize": True},
    ),
    "ASGD": (
        {"lr": 0.1, "lambd": 0.2, "alpha": 0.6, "t0": 4.0, "weight_decay": 0.1},
        {"lr": 0.02, "maximize": True},
    ),
    "Adafactor": (
        {"lr": 0.1, "beta2_decay": -0.6, "eps": (None, 0.01), "weight_decay": 0.1},
        {"lr": 0.3, "eps": (1e-3, 1e-3), "d": 1.5, "maximize": True},
    ),
}
# Options that all groups share.
SHARED = {"Adagrad": {"initial_accumulator_value": 0.3}}


def make_optimizer(name: str, model: Any) -> Any:
    """An optimizer with other options for each of the two layers."""
    layers = model[0], model[2]
    groups = [
        {"params": list(layer.parameters()), **options}
        for layer, options in zip(layers, OPTIONS[name], strict=True)
    ]
    return getattr(torch.optim, name)(groups, **SHARED.get(name, {}))


def schedule_rates(optimizer: Any) -> Any:
    """Rates that are other than the optimizer's in the first step already, rise and fall."""

    def factor(step: int) -> float:
        return 0.6 + 0.1 * step if step < 5 else 0.4

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def step_in_torch(model: Any, optimizer: Any, x: Any, y: Any) -> None:
    """What is compiled."""
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()


@pytest.mark.sampled(every=3)
@pytest.mark.parametrize("name", OPTIONS)
def test_each_optimizer(name: str) -> None:
    """Weights and what is kept of them; torch goes on from there."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    other = copy.deepcopy(model)
    batches = [(torch.randn(7, 3), torch.randn(7, 2)) for _ in range(STEPS + 1)]
    optimizers = [make_optimizer(name, each) for each in (model, other)]
    step = ttmlir.train_step(model, F.mse_loss, optimizers[0], *batches[0])
    schedules = [schedule_rates(each) for each in optimizers]
    for batch in batches[:STEPS]:
        step(*batch)
        step_in_torch(other, optimizers[1], *batch)
        for each in schedules:
            each.step()
    step.load_into(model, optimizers[0])
    for go_on in (False, True):
        if go_on:
            step_in_torch(model, optimizers[0], *batches[STEPS])
            step_in_torch(other, optimizers[1], *batches[STEPS])
        torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-5, atol=2e-5)
        ours, theirs = (each.state_dict()["state"] for each in optimizers)
        torch.testing.assert_close(ours, theirs, rtol=2e-5, atol=2e-5)


@pytest.mark.filterwarnings("ignore:.*tensors of f64 are kept as f32")
@pytest.mark.parametrize("name", ["AdamW", "Adagrad", "RAdam", "Adadelta"])
def test_double_precision(name: str) -> None:
    """Rates and numbers of steps have it, too."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2).double()
    other = copy.deepcopy(model)
    x, y = torch.randn(7, 3).double(), torch.randn(7, 2).double()
    ours, theirs = (getattr(torch.optim, name)(m.parameters(), lr=0.1) for m in (model, other))
    step = ttmlir.train_step(model, F.mse_loss, ours, x, y)
    for _ in range(STEPS):
        step(x, y)
        step_in_torch(other, theirs, x, y)
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-11, atol=1e-11)
    found, wanted = (each.state_dict()["state"] for each in (ours, theirs))
    torch.testing.assert_close(found, wanted, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("beta", [0.0, 0.5, 0.7, 0.97, 0.999, 0.99999])
def test_rectified_adam_at_any_step(beta: float) -> None:
    """How long the average is keeps its digits in the first steps, and after many."""
    torch.manual_seed(0)
    gradient, start, mean, square = torch.randn(6), torch.randn(6), torch.randn(6), torch.rand(6)
    parameter = nn.Parameter(start.clone())
    optimizer = torch.optim.RAdam([parameter], lr=0.1, betas=(0.9, beta))
    (group,) = optimizer.param_groups
    for number in (1.0, 2.0, 4.0, 5.0, 6.0, 7.0, 30.0, 700.0, 2000.0, 40000.0, 3e6):
        slots = {"exp_avg": mean.clone(), "exp_avg_sq": square.clone()}
        moment = Moment(torch.tensor(0.1), torch.tensor(number))
        moved, _ = UPDATES["RAdam"].move(group, start, gradient, slots, moment)
        optimizer.state[parameter] = {"step": torch.tensor(number - 1), **slots}
        parameter.data, parameter.grad = start.clone(), gradient
        optimizer.step()
        torch.testing.assert_close(moved, parameter.detach(), rtol=4e-6, atol=4e-6)


@pytest.mark.parametrize("adjust", [None, "match_rms_adamw"])
def test_orthogonal_matrices(adjust: str | None) -> None:
    """Muon for matrices, tall and wide, beside AdamW for the rest; torch rounds to bf16, too."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    other = copy.deepcopy(model)
    x, y = torch.randn(7, 3), torch.randn(7, 2)
    pairs: list[Any] = []
    for each in (model, other):
        matrices = [tensor for tensor in each.parameters() if tensor.dim() == 2]
        rest = [tensor for tensor in each.parameters() if tensor.dim() != 2]
        muon = torch.optim.Muon(matrices, lr=0.05, momentum=0.9, adjust_lr_fn=adjust)
        pairs.append([muon, torch.optim.AdamW(rest, lr=0.02)])
    step = ttmlir.train_step(model, F.mse_loss, pairs[0], x, y)
    for _ in range(3):
        step(x, y)
        for optimizer in pairs[1]:
            optimizer.zero_grad()
        F.mse_loss(other(x), y).backward()
        for optimizer in pairs[1]:
            optimizer.step()
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-2, atol=2e-2)
    for ours, theirs in zip(*pairs, strict=True):
        states = [each.state_dict()["state"] for each in (ours, theirs)]
        torch.testing.assert_close(*states, rtol=2e-2, atol=2e-2)


@pytest.mark.parametrize("shape", [(8, 5), (3, 7)])
def test_orthogonal_matrices_are_near_those_of_real_numbers(shape: tuple[int, int]) -> None:
    """The quintic iteration of Newton and Schulz in NumPy; torch's own is some 0.01 away."""
    torch.manual_seed(0)
    gradient = torch.randn(shape)
    model = nn.Linear(*shape[::-1], bias=False)
    before = model.weight.detach().numpy().copy()
    muon = torch.optim.Muon(
        model.parameters(), lr=1.0, momentum=0.0, weight_decay=0.0, adjust_lr_fn=None
    )
    step = ttmlir.train_step(
        model, lambda y, g: (y * g).sum(), muon, torch.eye(shape[1]), gradient.T
    )
    step(torch.eye(shape[1]), gradient.T)
    x = gradient.double().numpy()
    x /= np.linalg.norm(x)
    for _ in range(5):
        square = x @ x.T
        x = 3.4445 * x + (-4.7750 * square + 2.0315 * square @ square) @ x
    moved = (before - step.state_dict()["weight"].numpy()) / max(1, shape[0] / shape[1]) ** 0.5
    np.testing.assert_allclose(moved, x, rtol=0, atol=5e-3)


@pytest.mark.parametrize("name", ["SGD", "AdamW"])
def test_schedules_that_move_the_momentum(name: str) -> None:
    """It is read at each step, as the rate is."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    other = copy.deepcopy(model)
    x, y = torch.randn(7, 3), torch.randn(7, 2)
    optimizers: list[Any] = []
    schedules: list[Any] = []
    for each in (model, other):
        options = {"momentum": 0.9} if name == "SGD" else {}
        optimizer = getattr(torch.optim, name)(each.parameters(), lr=0.05, **options)
        schedule = torch.optim.lr_scheduler
        if name == "SGD":
            schedules.append(schedule.CyclicLR(optimizer, 0.01, 0.1, step_size_up=2))
        else:
            schedules.append(schedule.OneCycleLR(optimizer, 0.1, total_steps=8))
        optimizers.append(optimizer)
    step = ttmlir.train_step(model, F.mse_loss, optimizers[0], x, y)
    for _ in range(6):
        step(x, y)
        step_in_torch(other, optimizers[1], x, y)
        for each in schedules:
            each.step()
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-5, atol=2e-5)
    states = [each.state_dict()["state"] for each in optimizers]
    torch.testing.assert_close(*states, rtol=2e-5, atol=2e-5)


class Tables(nn.Module):
    """Two tables with sparse gradients, of which one has a row that is never learned."""

    def __init__(self) -> None:
        """Of 7 and of 9 words."""
        super().__init__()
        self.words = nn.Embedding(7, 3, padding_idx=2, sparse=True)
        self.bags = nn.EmbeddingBag(9, 3, mode="sum", sparse=True)
        self.unused = nn.Embedding(7, 3, sparse=True)
        self.scores = nn.Linear(3, 2)

    def forward(self, words: Any, bags: Any) -> Any:
        """The scores; gradients of words that count nothing are 0, and no loss is of the unused."""
        factors = (words != 4).to(torch.float32).unsqueeze(-1)
        both = (
            (self.words(words) * factors).mean(1) + self.bags(bags) + 0 * self.unused(words).sum()
        )
        return self.scores(both + self.words(words[:, :1]).squeeze(1))

    def optimizers(self) -> list[Any]:
        """SparseAdam for the tables, SGD for the rest."""
        groups = [
            {"params": list(self.words.parameters()), "betas": (0.7, 0.9), "eps": 1e-4},
            {"params": list(self.bags.parameters()), "lr": 0.02},
        ]
        adam = torch.optim.SparseAdam(groups, lr=0.05)
        return [adam, torch.optim.SGD(self.scores.parameters(), lr=0.1)]


def test_adam_of_rows_that_are_looked_up() -> None:
    """Rows without a gradient stay as they are, those whose gradient is 0 move on."""
    torch.manual_seed(0)
    model = Tables()
    other = copy.deepcopy(model)
    pairs = [each.optimizers() for each in (model, other)]
    batches = [
        (torch.randint(0, 7, (5, 3)), torch.randint(0, 9, (5, 2)), torch.randn(5, 2))
        for _ in range(6)
    ]
    step = ttmlir.train_step(model, F.mse_loss, pairs[0], *batches[0])
    for words, bags, target in batches:
        step(words, bags, target)
        for optimizer in pairs[1]:
            optimizer.zero_grad()
        F.mse_loss(other(words, bags), target).backward()
        for optimizer in pairs[1]:
            optimizer.step()
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-5, atol=2e-5)
    for ours, theirs in zip(*pairs, strict=True):
        states = [each.state_dict()["state"] for each in (ours, theirs)]
        torch.testing.assert_close(*states, rtol=2e-5, atol=2e-5)


def move(optimizers: Sequence[Any]) -> None:
    """Their steps."""
    for optimizer in optimizers:
        optimizer.step()


def clear(optimizers: Sequence[Any]) -> None:
    """Their gradients away."""
    for optimizer in optimizers:
        optimizer.zero_grad()


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("kind", ["loss", "clears first", "clears last"])
def test_adam_of_rows_of_several_calls(kind: str) -> None:
    """A round moves the rows of all of its calls, and no row of the round before."""
    torch.manual_seed(2)
    model = Tables()
    other = copy.deepcopy(model)
    ours, theirs = (each.optimizers() for each in (model, other))
    batches = [
        (torch.randint(0, 7, (2, 2)), torch.randint(0, 9, (2, 1)), torch.randn(2, 2))
        for _ in range(8)
    ]

    def play(words: Any, bags: Any, target: Any) -> Any:
        if kind == "clears first":
            clear(ours)
        loss = F.mse_loss(model(words, bags), target) / 3
        loss.backward()
        move(ours)
        if kind == "clears last":
            clear(ours)
        return loss

    if kind == "loss":
        step = ttmlir.train_step(model, F.mse_loss, ours, *batches[0], accumulate=3)
    else:
        step = ttmlir.train_function(
            play, *batches[0], models=[model], optimizers=ours, accumulate=3
        )
    for place, (words, bags, target) in enumerate(batches):
        step(words, bags, target)
        (F.mse_loss(other(words, bags), target) / 3).backward()
        if place % 3 == 2:
            move(theirs)
            clear(theirs)
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-5, atol=2e-5)
    for one, two in zip(ours, theirs, strict=True):
        states = [each.state_dict()["state"] for each in (one, two)]
        torch.testing.assert_close(*states, rtol=2e-5, atol=2e-5)


def test_adam_of_rows_moves_twice_in_a_step() -> None:
    """Rows of the first move are forgotten with its gradients."""
    model = nn.Embedding(5, 2, sparse=True)
    other = copy.deepcopy(model)
    ours, theirs = (torch.optim.SparseAdam([each.weight], lr=0.1) for each in (model, other))

    def play(layer: Any, optimizer: Any, rows: Any) -> None:
        for each in rows:
            optimizer.zero_grad()
            layer(each).square().sum().backward()
            optimizer.step()

    def play_ours(rows: Any) -> None:
        play(model, ours, rows)

    batches = torch.tensor([[[0, 1], [1, 2]], [[3, 3], [2, 0]]])
    step = ttmlir.train_function(play_ours, batches[0], models=[model], optimizers=[ours])
    for rows in batches:
        step(rows)
        play(other, theirs, rows)
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-5, atol=2e-5)


def test_adam_of_rows_alone() -> None:
    """Of parameters that are no tables it has no rows."""
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SparseAdam(list(model.parameters()))
    with pytest.raises(ttmlir.Error, match=r"tables of Embedding\(sparse=True\) and .* alone"):
        ttmlir.train_step(model, F.mse_loss, optimizer, torch.randn(4, 3), torch.randn(4, 2))
