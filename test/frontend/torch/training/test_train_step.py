"""Compiled steps of training against torch's own: the same weights after ten of them."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

import ttmlir
from ttmlir.errors import ArgumentError
from ttmlir.runtime.errors import InputError

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")

STEPS = 10


def tensors_of(model: Any) -> dict[str, Any]:
    """Parameters and buffers."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def check_training(
    model: Any,
    loss: Callable[..., Any] | None,
    make_optimizer: Callable[[Any], Any],
    make_batch: Callable[[], tuple[Any, ...]],
    *,
    clip: float | None = None,
    schedule: Callable[[Any], Any] | None = None,
    tolerance: float = 2e-5,
) -> Any:
    """Train a model and a copy of it, one compiled and one by torch."""
    torch.manual_seed(1)
    batches = [make_batch() for _ in range(STEPS)]
    other = copy.deepcopy(model)
    optimizers = make_optimizer(model.parameters()), make_optimizer(other.parameters())
    schedules = [schedule(optimizer) for optimizer in optimizers] if schedule else []
    step = ttmlir.train_step(model, loss, optimizers[0], *batches[0], clip_grad_norm=clip)
    before = {name: tensor.clone() for name, tensor in tensors_of(model).items()}
    for batch in batches:
        ours = step(*batch)
        optimizers[1].zero_grad()
        theirs = other(*batch) if loss is None else loss(other(*batch[:-1]), batch[-1])
        theirs.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(other.parameters(), clip)
        optimizers[1].step()
        for each in schedules:
            each.step()
        torch.testing.assert_close(ours, theirs.detach(), rtol=tolerance, atol=tolerance)
    torch.testing.assert_close(tensors_of(model), before, rtol=0, atol=0)
    step.load_into(model, optimizers[0])
    torch.testing.assert_close(tensors_of(model), tensors_of(other), rtol=tolerance, atol=tolerance)
    for ours, theirs in zip(model.parameters(), other.parameters(), strict=True):
        kept = optimizers[1].state[theirs]
        mine = optimizers[0].state[ours]
        for name, value in kept.items():
            torch.testing.assert_close(mine[name], value, rtol=tolerance, atol=tolerance)
    assert step.steps == STEPS
    return step


class Convolutional(nn.Module):
    """Convolutions, statistics of batches, pooling."""

    def __init__(self) -> None:
        """For images of 7x9."""
        super().__init__()
        self.features = nn.Sequential(
            *(nn.Conv2d(1, 6, 3, padding=1, bias=False), nn.BatchNorm2d(6), nn.ReLU()),
            *(nn.MaxPool2d(2), nn.Conv2d(6, 8, 3, stride=2, padding=1, groups=2), nn.SiLU()),
            nn.AdaptiveAvgPool2d(1),
        )
        self.scores = nn.Linear(8, 5)

    def forward(self, images: Any) -> Any:
        """The scores of five classes."""
        return self.scores(self.features(images).flatten(1))


class Recurrent(nn.Module):
    """An LSTM or GRU in both directions that reads words."""

    def __init__(self, kind: Any) -> None:
        """Two layers."""
        super().__init__()
        self.words = nn.Embedding(11, 5)
        self.layers = kind(5, 6, num_layers=2, batch_first=True, bidirectional=True)
        self.scores = nn.Linear(12, 4)

    def forward(self, words: Any) -> Any:
        """The scores of four classes."""
        return self.scores(self.layers(self.words(words))[0][:, -1])


class Transformer(nn.Module):
    """A small ViT."""

    def __init__(self) -> None:
        """For images of 8x8 in four patches."""
        super().__init__()
        self.patches = nn.Conv2d(3, 8, 4, stride=4)
        self.places = nn.Parameter(torch.randn(1, 5, 8))
        self.first = nn.Parameter(torch.randn(1, 1, 8))
        layer = nn.TransformerEncoderLayer(
            *(8, 2, 12),
            dropout=0.0,
            activation="gelu",
            batch_first=True,
            norm_first=True,
        )
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.scores = nn.Sequential(nn.LayerNorm(8), nn.Linear(8, 5))

    def forward(self, images: Any) -> Any:
        """The scores of five classes."""
        x = self.patches(images).flatten(2).mT
        x = torch.cat([self.first.expand(len(x), -1, -1), x], 1) + self.places
        return self.scores(self.layers(x)[:, 0])


def test_convolutional_network() -> None:
    """AdamW; running statistics are state, too."""
    torch.manual_seed(0)
    step = check_training(
        Convolutional(),
        nn.CrossEntropyLoss(),
        lambda parameters: torch.optim.AdamW(parameters, lr=1e-2),
        lambda: (torch.randn(4, 1, 7, 9), torch.randint(0, 5, (4,))),
    )
    assert "model.features.1.running_mean" in step.compiled.source.signature.input_names


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU], ids=["LSTM", "GRU"])
def test_recurrent_networks(kind: Any) -> None:
    """Adam with decay in the gradient; gradients are clipped."""
    torch.manual_seed(0)
    check_training(
        Recurrent(kind),
        nn.CrossEntropyLoss(),
        lambda parameters: torch.optim.Adam(parameters, lr=1e-2, weight_decay=0.05),
        lambda: (torch.randint(0, 11, (3, 2)), torch.randint(0, 4, (3,))),
        clip=0.5,
    )


@pytest.mark.exhaustive
def test_transformer() -> None:
    """SGD with momentum, with the rate of a schedule."""
    torch.manual_seed(0)
    check_training(
        Transformer(),
        nn.CrossEntropyLoss(label_smoothing=0.1),
        lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9),
        lambda: (torch.randn(3, 3, 8, 8), torch.randint(0, 5, (3,))),
        schedule=lambda optimizer: torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS),
    )


OPTIMIZERS = {
    "decay": lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.1),
    "dampening": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, dampening=0.3),
    "nesterov": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
    "maximize": lambda p: torch.optim.SGD(p, lr=0.01, maximize=True),
    "adam": lambda p: torch.optim.Adam(p, lr=0.05, betas=(0.0, 0.9)),
    "amsgrad": lambda p: torch.optim.AdamW(p, lr=0.05, amsgrad=True, maximize=True),
    "groups": lambda p: torch.optim.AdamW(
        [{"params": [each], "lr": 0.01 * (i + 1)} for i, each in enumerate(p)], weight_decay=0.2
    ),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name: str) -> None:
    """Every option of SGD, Adam and AdamW; groups of parameters with their own rates."""
    torch.manual_seed(0)
    check_training(
        nn.Linear(3, 2),
        F.mse_loss,
        OPTIMIZERS[name],
        lambda: (torch.randn(5, 3), torch.randn(5, 2)),
    )


class Tied(nn.Module):
    """Reads and writes words with one table; returns its loss itself."""

    def __init__(self) -> None:
        """A table, one frozen parameter, and one that nothing depends on."""
        super().__init__()
        self.words = nn.Embedding(7, 4)
        self.scores = nn.Linear(4, 7, bias=False)
        self.scores.weight = self.words.weight
        self.frozen = nn.Parameter(torch.randn(4), requires_grad=False)
        self.unused = nn.Parameter(torch.randn(3))

    def forward(self, words: Any, following: Any) -> Any:
        """The loss of guessing the word that follows each."""
        return F.cross_entropy(self.scores(self.words(words) * self.frozen), following)


def test_model_with_its_own_loss() -> None:
    """Shared, frozen and unused parameters."""
    torch.manual_seed(0)
    check_training(
        Tied(),
        None,
        lambda p: torch.optim.AdamW([each for each in p if each.requires_grad], lr=0.05),
        lambda: (torch.randint(0, 7, (6,)), torch.randint(0, 7, (6,))),
    )


@pytest.mark.parametrize(
    ("name", "options", "steps"),
    [("Adam", {}, 4), ("SGD", {"momentum": 0.9, "dampening": 0.4}, 3)],
)
def test_going_on(name: str, options: dict[str, float], steps: int) -> None:
    """A step begins with what the optimizer has kept, and torch goes on with what a step kept.

    SGD does not tell how many steps it has done.
    """
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    other = copy.deepcopy(model)
    make_optimizer = getattr(torch.optim, name)
    optimizers = [make_optimizer(each.parameters(), lr=0.1, **options) for each in (model, other)]
    x, y = torch.randn(5, 3), torch.randn(5, 2)

    def step_in_torch(model: Any, optimizer: Any) -> None:
        optimizer.zero_grad()
        F.mse_loss(model(x), y).backward()
        optimizer.step()

    for _ in range(6):
        step_in_torch(other, optimizers[1])
    for _ in range(2):
        step_in_torch(model, optimizers[0])
    step = ttmlir.train_step(model, F.mse_loss, optimizers[0], x, y)
    for _ in range(2):
        step(x, y)
    assert step.steps == steps
    step.load_into(model, optimizers[0])
    for _ in range(2):
        step_in_torch(model, optimizers[0])
    torch.testing.assert_close(model.state_dict(), other.state_dict())
    assert set(step.state_dict()) == set(model.state_dict())


@pytest.mark.parametrize("clip", [None, 0.05])
def test_gradients_of_several_calls(clip: float | None) -> None:
    """The third of three calls moves by the mean of their gradients; a rest can be dropped."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 2))
    other = copy.deepcopy(model)
    ours, theirs = (
        torch.optim.AdamW(each.parameters(), lr=0.05, weight_decay=0.1) for each in (model, other)
    )
    batches = [(torch.randn(4, 3), torch.randn(4, 2)) for _ in range(7)]
    step = ttmlir.train_step(
        model, F.mse_loss, ours, *batches[0], accumulate=3, clip_grad_norm=clip
    )

    def train(count: int) -> None:
        for place, (x, y) in enumerate(batches[:count]):
            loss = F.mse_loss(other(x), y)
            torch.testing.assert_close(step(x, y), loss.detach(), rtol=2e-5, atol=2e-5)
            (loss / 3).backward()
            if place % 3 == 2:
                if clip is not None:
                    nn.utils.clip_grad_norm_(other.parameters(), clip)
                theirs.step()
                theirs.zero_grad()
        torch.testing.assert_close(
            step.state_dict(), dict(other.state_dict()), rtol=2e-5, atol=2e-5
        )

    train(7)
    assert step.steps == 2
    theirs.zero_grad()
    step.load_from(other, theirs)
    train(3)
    with pytest.raises(ttmlir.Error, match="accumulate is a number of calls from 1 on, not 0"):
        ttmlir.train_step(model, F.mse_loss, ours, *batches[0], accumulate=0)


def test_refusals() -> None:
    """Messages say what a step takes."""
    model = nn.Linear(3, 2)
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.ones(5, 3), torch.ones(5, 2)
    with pytest.raises(TypeError, match=r"trains a torch\.nn\.Module, not a function"):
        ttmlir.train_step(lambda x: x, F.mse_loss, sgd, x, y)
    with pytest.raises(TypeError, match="an example of the model's inputs and, after them"):
        ttmlir.train_step(model, F.mse_loss, sgd, x)
    own = type("Own", (torch.optim.SGD,), {})(model.parameters())
    taken = "SGD, Adam, AdamW, Adamax, NAdam, RAdam, RMSprop, Adagrad, Adadelta, Rprop, ASGD, "
    with pytest.raises(
        TypeError,
        match=f"optimizer Own; it takes those .* {taken}Adafactor, Muon, SparseAdam, LBFGS;",
    ):
        ttmlir.train_step(model, F.mse_loss, own, x, y)
    with pytest.raises(TypeError, match="two optimizers move the parameter 'weight'; one of"):
        ttmlir.train_step(model, F.mse_loss, [sgd, sgd], x, y)
    foreign = torch.optim.SGD(nn.Linear(3, 2).parameters(), lr=0.1)
    with pytest.raises(TypeError, match="a parameter that the model does not have"):
        ttmlir.train_step(model, F.mse_loss, foreign, x, y)
    step = ttmlir.train_step(model, F.mse_loss, sgd, x, y)
    form = "'Linear_step' takes a batch of 2 arguments, numerics=; got "
    with pytest.raises(InputError, match=f"{form}1$"):
        step(x)
    with pytest.raises(InputError, match=f"{form}2, lr=; rates are those of the optimizers$"):
        step(x, y, lr=0.5)
    sgd.param_groups[0]["momentum"] = 0.5
    with pytest.raises(InputError, match=r"'momentum' of parameter group 0 is 0\.5, but the step"):
        step(x, y)
    with pytest.raises(InputError, match="the model has other parameters"):
        step.load_into(nn.Linear(3, 2, bias=False))
    with pytest.raises(InputError, match="the model has other parameters"):
        step.load_from(nn.Linear(3, 2, bias=False))
    with pytest.raises(TypeError, match=r"like that which is trained, not a str"):
        step.load_into("model")
    with pytest.raises(TypeError, match=r"an optimizer is one of .*, or a list of .*, not a str"):
        ttmlir.train_step(model, F.mse_loss, "sgd", x, y)
    with pytest.raises(ttmlir.Error, match="by an optimizer, and the list is empty"):
        ttmlir.train_step(model, F.mse_loss, [], x, y)


def test_optimizers_unlike_those_of_the_step() -> None:
    """Nothing goes into them, or comes from them: not by another kind, order, module or option."""
    torch.manual_seed(0)
    model, x, y = (
        nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3)),
        torch.ones(4, 3),
        torch.ones(4, 3),
    )

    def make(model: Any, kind: Any = torch.optim.Adam, **options: Any) -> list[Any]:
        return [kind(layer.parameters(), lr=0.1, **options) for layer in model]

    own = make(model)
    step = ttmlir.train_step(model, F.mse_loss, own, x, y)
    step(x, y)
    before = copy.deepcopy(model.state_dict())
    swapped = r"optimizer 0 \(Adam\) does not move the parameter '0\.weight' of the model, as that"
    kinds = "the optimizers of the step are Adam, Adam, not "
    for others, message in (
        (own[::-1], swapped),
        (make(copy.deepcopy(model)), swapped),
        (make(model, torch.optim.SGD), kinds + "SGD, SGD$"),
        (own[0], kinds + "Adam$"),
        (3, "an optimizer is one of torch.optim, or a list of several, not a int"),
    ):
        for load in (step.load_into, step.load_from):
            with pytest.raises(ttmlir.Error, match=message):
                load(model, others)
    steady = make(model, amsgrad=True)
    with pytest.raises(ttmlir.Error, match="'amsgrad' of parameter group 0 is True, but the step"):
        step.load_from(model, steady)
    with pytest.raises(ttmlir.Error, match="keeps 'max_exp_avg_sq' of"):
        step.load_into(model, steady)
    assert step.steps == 1
    assert not any(each.state for each in (*own, *steady))
    torch.testing.assert_close(model.state_dict(), before, rtol=0, atol=0)
    # What is only read by torch itself may be another one.
    decaying = make(model, weight_decay=0.5)
    step.load_into(optimizer=decaying)
    assert [int(each["step"]) for each in decaying[1].state.values()] == [1, 1]
    assert not own[1].state


def train_in_torch(model: Any, optimizer: Any, x: Any, y: Any) -> None:
    """A step of torch."""
    optimizer.zero_grad()
    F.mse_loss(model(x), y).backward()
    optimizer.step()


def test_parameters_that_are_to_learn_later() -> None:
    """A step does not leave them out: it says how to go on, which works."""
    torch.manual_seed(0)
    model, x, y = (
        nn.Sequential(nn.Linear(4, 3), nn.Linear(3, 2)),
        torch.randn(5, 4),
        torch.ones(5, 2),
    )
    model[0].requires_grad_(False)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    first = ttmlir.train_step(model, nn.MSELoss(), optimizer, x, y)
    first(x, y)
    message = (
        r"other parameters require a gradient, than .*: step\.load_into\(\) and ttmlir\.train_step"
    )
    model[0].requires_grad_(True)
    with pytest.raises(ttmlir.InputError, match=message):
        first(x, y)
    first.load_into()
    step = ttmlir.train_step(model, nn.MSELoss(), optimizer, x, y)
    before = model[0].weight.clone()
    step(x, y)
    assert step.steps == 2
    assert not torch.equal(step.state_dict()["0.weight"], before)
    model.add_module("2", nn.Linear(2, 2))
    optimizer.add_param_group({"params": list(model[2].parameters())})
    with pytest.raises(ttmlir.InputError, match=message):
        step(x, y)


def test_checkpoints() -> None:
    """A step goes on with other values, without being compiled again."""
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    model.bias.requires_grad = False
    optimizer = torch.optim.Adam([model.weight], lr=0.1)
    x, y = torch.randn(5, 3), torch.randn(5, 2)
    step = ttmlir.train_step(model, F.mse_loss, optimizer, x, y)
    other = copy.deepcopy(model)
    others = torch.optim.Adam([other.weight], lr=0.1)
    for _ in range(3):
        train_in_torch(other, others, x, y)
    model.load_state_dict(other.state_dict())
    optimizer.load_state_dict(others.state_dict())
    step.load_from()
    assert step.steps == 3
    for _ in range(2):
        step(x, y)
        train_in_torch(other, others, x, y)
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        optimizer.state_dict()["state"], others.state_dict()["state"], rtol=1e-5, atol=1e-5
    )
    with torch.no_grad():
        other.bias += 1
    with pytest.raises(InputError, match="'bias', which is not trained, has other values than"):
        step.load_from(other)


def test_parameters_that_have_done_different_numbers_of_steps() -> None:
    """Those that joined later have counters of their own."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
    x, y = torch.randn(5, 3), torch.randn(5, 2)
    model[0].requires_grad_(False)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        train_in_torch(model, optimizer, x, y)
    model[0].requires_grad_(True)
    other = copy.deepcopy(model)
    others = torch.optim.Adam(other.parameters(), lr=0.1)
    others.load_state_dict(optimizer.state_dict())
    step = ttmlir.train_step(model, F.mse_loss, optimizer, x, y)
    for _ in range(2):
        step(x, y)
        train_in_torch(other, others, x, y)
    assert step.steps == 5
    step.load_into()
    torch.testing.assert_close(model.state_dict(), other.state_dict(), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(
        optimizer.state_dict()["state"], others.state_dict()["state"], rtol=1e-5, atol=1e-5
    )
    train_in_torch(model, optimizer, x, y)
    optimizer.state[model[0].weight]["step"] += 1
    with pytest.raises(
        InputError, match=r"has done \d steps, and other parameters that are counted with"
    ):
        step.load_from()


def test_sparse_gradients_are_dense() -> None:
    """What torch would keep as a list of rows is the same as a tensor."""
    torch.manual_seed(0)
    words = torch.tensor([[1, 3], [3, 6]])
    check_training(
        nn.Sequential(nn.Embedding(7, 3, sparse=True), nn.Flatten()),
        F.mse_loss,
        lambda parameters: torch.optim.SGD(parameters, lr=0.5),
        lambda: (words, torch.randn(2, 6)),
    )


@pytest.mark.parametrize("limit", ["1", -1.0, float("nan"), True, [1.0], torch.tensor(1.0)])
def test_limits_of_gradients(limit: Any) -> None:
    """They are numbers of Python that are not negative."""
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    message = "clip_grad_norm is the greatest length of the gradient, a number from 0 on, not "
    with pytest.raises(ArgumentError, match=message + re.escape(repr(limit))):
        ttmlir.train_step(
            model, F.mse_loss, optimizer, torch.ones(4, 3), torch.ones(4, 2), clip_grad_norm=limit
        )


def test_new_optimizers_begin_to_count() -> None:
    """Of Adam, whose first steps are corrected by how many there were."""
    torch.manual_seed(3)
    model, x, target = nn.Linear(7, 5), torch.randn(3, 7), torch.randn(3, 5)
    first = copy.deepcopy(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    step = ttmlir.train_step(model, F.mse_loss, optimizer, x, target)
    losses = [float(step(x, target)) for _ in range(3)]
    step.load_from(first, torch.optim.Adam(first.parameters(), lr=0.1))
    assert step.steps == 0
    assert [float(step(x, target)) for _ in range(3)] == losses
