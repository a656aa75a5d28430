"""Steps as they are written in torch, with several models and optimizers, against torch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")


class Players:
    """Two models against each other, and one that follows the first."""

    def __init__(self) -> None:
        """From 3 numbers to 4, and from those to one; the same for each."""
        torch.manual_seed(0)
        self.artist = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 4))
        self.critic = nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
        self.follower = copy.deepcopy(self.artist)
        self.models = [self.artist, self.critic, self.follower]
        self.of_critic = torch.optim.Adam(self.critic.parameters(), lr=0.05)
        self.of_artist = torch.optim.SGD(self.artist.parameters(), lr=0.1, momentum=0.9)
        self.optimizers = [self.of_critic, self.of_artist]

    def play(self, real: Any, noise: Any) -> tuple[Any, Any]:
        """The critic does two steps with parts of the batch together, the artist one."""
        for _ in range(2):
            self.of_critic.zero_grad()
            for part, made in zip(real.split(3), noise.split(3), strict=True):
                judged = self.critic(self.artist(made).detach()).mean()
                loss = (judged - self.critic(part).mean()) / 2
                loss.backward()
            nn.utils.clip_grad_norm_(self.critic.parameters(), 0.5)
            self.of_critic.step()
        self.of_artist.zero_grad(set_to_none=False)
        score = -self.critic(self.artist(noise)).mean()
        score.backward()
        nn.utils.clip_grad_value_(self.artist.parameters(), 0.05)
        self.of_artist.step()
        with torch.no_grad():
            pairs = zip(self.follower.parameters(), self.artist.parameters(), strict=True)
            for kept, parameter in pairs:
                kept.lerp_(parameter, 0.1)
        return loss, score


def test_several_models() -> None:
    """Losses, models, running statistics, and what optimizers keep."""
    ours, theirs = Players(), Players()
    batches = [(torch.randn(6, 4), torch.randn(6, 3)) for _ in range(3)]
    step = ttmlir.train_function(
        ours.play, *batches[0], models=ours.models, optimizers=ours.optimizers
    )
    before = copy.deepcopy(ours.artist.state_dict())
    for batch in batches:
        expected = [value.detach() for value in theirs.play(*batch)]
        torch.testing.assert_close(list(step(*batch)), expected, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(ours.artist.state_dict(), before)
    assert step.steps == 6
    step.load_into()
    for one, other in zip(ours.models, theirs.models, strict=True):
        torch.testing.assert_close(one.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)
    for one, other in zip(ours.optimizers, theirs.optimizers, strict=True):
        states = [each.state_dict()["state"] for each in (one, other)]
        torch.testing.assert_close(*states, rtol=1e-4, atol=1e-5)
    # The optimizers are torch's own again.
    ours.of_artist.zero_grad()
    assert all(parameter.grad is None for parameter in ours.artist.parameters())


def test_names_and_rates() -> None:
    """Models by names, and rates that schedules move."""
    torch.manual_seed(0)
    teacher, student = nn.Linear(3, 2), nn.Linear(3, 2)
    other = copy.deepcopy(student)
    x = torch.randn(5, 3)

    def make(model: Any) -> tuple[Any, Any, Callable[..., Any]]:
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)

        def learn(x: Any) -> Any:
            def closure() -> Any:
                optimizer.zero_grad()
                loss = F.mse_loss(model(x), teacher(x).detach())
                loss.backward()
                return loss

            return optimizer.step(closure)

        return optimizer, schedule, learn

    (ours, schedule, learn), (_, reference, expected) = make(student), make(other)
    models = {"teacher": teacher, "student": student}
    step = ttmlir.train_function(learn, x, models=models, optimizers=ours)
    for _ in range(3):
        torch.testing.assert_close(step(x), expected(x).detach(), rtol=1e-5, atol=1e-5)
        schedule.step()
        reference.step()
    assert "student.weight" in step.state_dict()
    step.load_into()
    torch.testing.assert_close(student.state_dict(), other.state_dict(), rtol=1e-5, atol=1e-5)


def test_models_that_are_not_named() -> None:
    """What is not in the state would be lost."""
    model, other, x = nn.Linear(3, 2), nn.Linear(3, 2), torch.ones(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def learn(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            other.weight.add_(1.0)
        return loss

    with pytest.raises(
        ttmlir.CompilationError, match=r"closes over; .*train_function keeps those of its"
    ):
        ttmlir.train_function(learn, x, models=[model], optimizers=optimizer)
    with pytest.raises(TypeError, match="a parameter that the model does not have"):
        ttmlir.train_function(learn, x, models=[other], optimizers=optimizer)


class Scaled:
    """A model with hooks on its gradients, trained with a scaled loss, and averages of it."""

    def __init__(self) -> None:
        """A scale at which the first gradients are infinite, and grows after two good steps."""
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(3, 5, bias=False), nn.BatchNorm1d(5), nn.Linear(5, 4))
        self.model[0].weight.register_hook(lambda gradient: gradient * 0.5)
        self.model[2].bias.register_post_accumulate_grad_hook(_turn)
        swa = torch.optim.swa_utils
        self.means = [
            swa.AveragedModel(self.model),
            swa.AveragedModel(self.model, multi_avg_fn=swa.get_ema_multi_avg_fn(0.9)),
            swa.AveragedModel(self.model, avg_fn=lambda a, b, n: a + (b - a) / (n + 1)),
        ]
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=0.05)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**127, growth_interval=2)

    def play(self, x: Any, y: Any) -> Any:
        """A step; if it is skipped, the averages count it nevertheless."""
        self.optimizer.zero_grad()
        loss = F.cross_entropy(self.model(x), y) * 8
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 0.5)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        for mean in self.means:
            mean.update_parameters(self.model)
        return loss


def _turn(parameter: Any) -> None:
    parameter.grad = -parameter.grad


def test_scaled_losses_hooks_and_averages() -> None:
    """Steps whose gradients are infinite move nothing; the scale goes down, and up again."""
    ours, theirs = Scaled(), Scaled()
    generator = torch.Generator().manual_seed(1)
    x, y = torch.randn(6, 3, generator=generator), torch.arange(6) % 4
    step = ttmlir.train_function(
        ours.play,
        x.clone().requires_grad_(),
        y,
        models=[ours.model, *ours.means],
        optimizers=[ours.optimizer],
        scaler=ours.scaler,
    )
    scales: list[float] = []
    for _ in range(7):
        expected = theirs.play(x, y).detach()
        torch.testing.assert_close(step(x, y), expected, rtol=1e-4, atol=1e-5)
        step.load_into()
        assert ours.scaler.state_dict() == theirs.scaler.state_dict()
        scales.append(ours.scaler.get_scale())
    assert scales[0] < 2.0**127
    assert len(set(scales)) > 2
    assert step.steps < 7
    for one, other in zip([ours.model, *ours.means], [theirs.model, *theirs.means], strict=True):
        torch.testing.assert_close(one.state_dict(), other.state_dict(), rtol=1e-4, atol=1e-5)
    kept = [each.optimizer.state_dict()["state"] for each in (ours, theirs)]
    torch.testing.assert_close(*kept, rtol=1e-4, atol=1e-5)
    ours.scaler.load_state_dict({**ours.scaler.state_dict(), "scale": 1.0})
    step.load_from()
    step.load_into()
    assert ours.scaler.get_scale() == 1.0


def test_what_is_no_scaler() -> None:
    """The message names it."""
    players = Players()
    with pytest.raises(TypeError, match=r"a scaler is a torch\.amp\.GradScaler, not 3"):
        ttmlir.train_function(
            players.play,
            *(torch.ones(6, 4), torch.ones(6, 3)),
            models=players.models,
            optimizers=players.optimizers,
            scaler=3,
        )


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("first", ["scaler.step", "scaler.unscale_", "scaler.update"])
def test_a_scaler_that_the_step_does_not_have(first: str) -> None:
    """The line that uses it is named, with what to give; one that does nothing is let be."""
    model = nn.Linear(3, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = torch.amp.GradScaler("cpu")
    before = torch.amp.GradScaler.step

    def play(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        scaler.scale(loss).backward()
        if first == "scaler.unscale_":
            scaler.unscale_(optimizer)
        if first != "scaler.update":
            scaler.step(optimizer)
        scaler.update()
        return loss

    x = torch.arange(15.0).reshape(5, 3)
    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.train_function(play, x, models=[model], optimizers=[optimizer])
    head, quoted, caret = str(caught.value).split("\n")
    where, _, message = head.partition(": error: ")
    assert where.rpartition("/")[2].startswith("test_train_function.py:")
    assert message.endswith(
        f"{first.partition('.')[2]}() of a GradScaler that the step does not have; give it as "
        "ttmlir.train_function(..., scaler=scaler)"
    )
    assert quoted.strip().startswith(first)
    assert caret.strip() == "^"
    assert torch.amp.GradScaler.step is before
    scaler = torch.amp.GradScaler("cpu", enabled=False)
    step = ttmlir.train_function(play, x, models=[model], optimizers=[optimizer])
    torch.testing.assert_close(step(x), model(x).square().mean().detach())


@pytest.mark.parametrize("first", ["step", "zero_grad"])
def test_an_optimizer_that_the_step_does_not_have(first: str) -> None:
    """The line that uses it is named, with what to give."""
    model, x = nn.Linear(3, 4), torch.ones(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = torch.optim.Optimizer.zero_grad

    def play(x: Any) -> Any:
        loss = model(x).square().mean()
        loss.backward()
        getattr(optimizer, first)()
        return loss

    with pytest.raises(ttmlir.CompilationError) as caught:
        ttmlir.train_function(play, x, models=[model], optimizers=[])
    head, quoted, _ = str(caught.value).split("\n")
    assert head.endswith(
        f"{first}() of an optimizer that the step does not have; give it in "
        "ttmlir.train_function(..., optimizers=[...])"
    )
    assert quoted.strip() == "getattr(optimizer, first)()"
    assert torch.optim.Optimizer.zero_grad is before
    model(x).sum().backward()
    getattr(optimizer, first)()


@pytest.mark.parametrize(
    ("models", "found"),
    [(3, "a int named '0'"), ({"a.b": nn.Linear(3, 4)}, "a Linear named 'a.b'")],
)
def test_what_is_no_model(models: Any, found: str) -> None:
    """The message names it."""
    message = f"models are torch.nn.Modules, in a list or by names without dots, not {found}"
    with pytest.raises(TypeError, match=message):
        ttmlir.train_function(lambda x: x, torch.ones(3), models=models, optimizers=[])


@pytest.mark.parametrize("clears_first", [False, True])
def test_gradients_of_several_calls(clears_first: bool) -> None:
    """Both places where torch's users clear gradients; a layer without one is not moved."""

    def make() -> tuple[Any, Any]:
        torch.manual_seed(0)
        model = nn.ModuleList([nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 2)])
        return model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=0.1)

    def loss_of(model: Any, x: Any) -> Any:
        return model[1](model[0](x).tanh()).square().mean() / 2

    model, optimizer = make()

    def play(x: Any) -> Any:
        if clears_first:
            optimizer.zero_grad()
        loss = loss_of(model, x)
        loss.backward()
        optimizer.step()
        if not clears_first:
            optimizer.zero_grad()
        return loss

    other, theirs = make()
    batches = [torch.randn(5, 3) for _ in range(6)]
    step = ttmlir.train_function(
        play, batches[0], models=[model], optimizers=[optimizer], accumulate=2
    )
    for place, x in enumerate(batches):
        loss = loss_of(other, x)
        torch.testing.assert_close(step(x), loss.detach(), rtol=2e-5, atol=2e-5)
        loss.backward()
        if place % 2:
            theirs.step()
            theirs.zero_grad()
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=2e-5, atol=2e-5)
    with pytest.raises(ttmlir.Error, match="accumulate goes without a scaler"):
        ttmlir.train_function(
            play,
            batches[0],
            models=[model],
            optimizers=[optimizer],
            accumulate=2,
            scaler=torch.amp.GradScaler("cpu"),
        )


def test_optimizers_by_parameter() -> None:
    """That a hook looks up: a parameter is another object in the step, and names are the same."""
    torch.manual_seed(0)
    module, x = torch.nn.Linear(3, 2), torch.randn(5, 3)
    other = copy.deepcopy(module)

    def prepare(model: Any, *, by_name: bool) -> dict[Any, Any]:
        table: dict[Any, Any] = {}
        for name, parameter in model.named_parameters():
            key = name if by_name else parameter
            table[key] = torch.optim.SGD([parameter], lr=0.1, momentum=0.5)

            def move(given: Any, name: str = name) -> None:
                optimizer = table[name if by_name else given]
                optimizer.step()
                optimizer.zero_grad()

            parameter.register_post_accumulate_grad_hook(move)
        return table

    def play(model: Any, x: Any) -> Any:
        loss = model(x).square().mean()
        loss.backward()
        return loss

    unnamed = copy.deepcopy(module)
    optimizers = list(prepare(unnamed, by_name=False).values())
    with pytest.raises(ttmlir.CompilationError, match=r"let names be the keys, as in dict\("):
        ttmlir.train_function(
            lambda x: play(unnamed, x), x, models=[unnamed], optimizers=optimizers
        )
    optimizers = list(prepare(module, by_name=True).values())
    step = ttmlir.train_function(
        lambda x: play(module, x), x, models=[module], optimizers=optimizers
    )
    prepare(other, by_name=True)
    for _ in range(3):
        torch.testing.assert_close(step(x), play(other, x).detach())
