"""Search of plans of torch models: what is divided, what that takes, and that it stays right."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

import ttmlir
from ttmlir.tuning.plans import PlanReport, PlanTrial
from ttmlir.tuning.sequences import COLUMNS, ROWS, Plan, divide_sequences, recording

CHOICES = {"board": "n300", "meshes": [(1, 2)]}
DIVIDED = {"up": COLUMNS, "down": ROWS}
ALONE = "ColwiseParallel(output_layouts=Replicate())"


class Layers(nn.Module):
    """Two layers with a function between them."""

    def __init__(self, function: Callable[[], nn.Module], features: int) -> None:
        """Of so many features, and four times as many in between."""
        super().__init__()
        self.up, self.down = nn.Linear(features, 4 * features), nn.Linear(4 * features, features)
        self.function = function()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Up and down."""
        return self.down(self.function(self.up(x)))


def test_large_layers_are_divided() -> None:
    """The first by columns and the second by rows, with nothing to exchange in between."""
    torch.manual_seed(0)
    model, x = Layers(nn.ReLU, 1024), torch.randn(5, 1024)
    with torch.no_grad():
        expected = model(x)
    report = ttmlir.tune_plan(model, x, **CHOICES)
    assert (report.mesh, report.trials) == ((1, 2), 4)
    assert {name: type(style) for name, style in report.plan.items()} == {
        "up": ColwiseParallel,
        "down": RowwiseParallel,
    }
    one, two = report.by_mesh
    assert two.nanoseconds < one.nanoseconds
    assert 0 < two.exchanges < two.nanoseconds
    assert "  up: ColwiseParallel()" in str(report)
    with ttmlir.virtual_devices(2):
        module, *args = report.divide(model, x)
        compiled = ttmlir.compile(module, *args, board="n300", weights="arguments")
    torch.testing.assert_close(compiled(x), expected, rtol=1e-4, atol=1e-4)
    assert compiled.estimate().total.mid == pytest.approx(two.nanoseconds)
    names: dict[str, object] = {}
    exec(report.python, names)
    assert callable(names["divide"])


def test_devices_that_nothing_is_divided_over_are_no_gain() -> None:
    """They take as long as one device, which is told."""
    report = ttmlir.tune_plan(Layers(nn.ReLU, 64), torch.randn(6, 64), **CHOICES)
    assert (report.mesh, report.plan) == ((1, 1), {})
    assert report.by_mesh[1].nanoseconds >= report.by_mesh[0].nanoseconds


@pytest.mark.exhaustive
def test_plans_that_change_the_result_are_left_out() -> None:
    """What is between the layers needs all features."""
    torch.manual_seed(0)
    x = torch.randn(5, 1024)
    model = Layers(lambda: nn.Softmax(-1), 1024)
    assert ttmlir.tune_plan(model, x, **CHOICES).plan == {}
    assert ttmlir.tune_plan(model.bfloat16(), x.bfloat16(), **CHOICES).plan == {}


def test_numbers_of_16_bits_are_rounded_in_each_part() -> None:
    """What sums of parts differ by from sums is no other result."""
    torch.manual_seed(0)
    model, x = Layers(nn.ReLU, 1024).bfloat16(), torch.randn(5, 1024).bfloat16()
    assert [*ttmlir.tune_plan(model, x, **CHOICES).plan] == ["up", "down"]


@pytest.mark.exhaustive
def test_models_without_numbers() -> None:
    """They get the plan that those with numbers get, by the same estimate."""
    x = torch.randn(5, 1024)
    expected = ttmlir.tune_plan(Layers(nn.ReLU, 1024), x, **CHOICES)
    with torch.device("meta"):
        model = Layers(nn.ReLU, 1024)
        between = Layers(lambda: nn.Softmax(-1), 1024)
    report = ttmlir.tune_plan(model, x.to("meta"), **CHOICES)
    assert report.best == expected.best
    assert model.up.weight.is_meta
    assert ttmlir.tune_plan(between, x, **CHOICES).plan == {}


class Mixed(nn.Module):
    """A sum over positions, between layers."""

    def __init__(self) -> None:
        """Of eight features."""
        super().__init__()
        self.up, self.down = nn.Linear(8, 16), nn.Linear(16, 8)

    def forward(self, x: torch.Tensor, *, scale: float = 1.0) -> torch.Tensor:
        """Each position has something of all."""
        return self.down(self.up(x).relu().cumsum(1)) * scale


class Layer(nn.Module):
    """A norm, and a module that is called by the name of its argument."""

    def __init__(self) -> None:
        """Of eight features."""
        super().__init__()
        self.first, self.mixed = nn.RMSNorm(8), Mixed()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What is added to the input."""
        return x + self.mixed(x=self.first(x), scale=0.5)


class Tokens(nn.Module):
    """Tokens and places, layers, and scores."""

    def __init__(self) -> None:
        """Of eight features."""
        super().__init__()
        self.tokens, self.places = nn.Embedding(20, 8), nn.Embedding(6, 8)
        self.layers = nn.ModuleList([Layer(), Layer(), Layer()])
        self.last, self.head = nn.LayerNorm(8), nn.Linear(8, 20)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Scores of the next ones."""
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.last(x))


GATHERED = (
    "PrepareModuleInput(input_kwarg_layouts={'x': Shard(1)}, "
    "desired_input_kwarg_layouts={'x': Replicate()}, use_local_output=True)"
)
OF_LAYERS = {
    "first": "SequenceParallel(use_local_output=True)",
    "mixed": GATHERED,
    "mixed.up": COLUMNS,
    "mixed.down": "RowwiseParallel(output_layouts=Shard(1))",
}


def test_sequences_are_divided_between_layers() -> None:
    """Modules get all positions where they are called, and embeddings give parts.

    torch, which runs the plan on all devices, computes what the model does.
    """
    torch.manual_seed(1)
    model = Tokens()
    tokens = torch.randint(0, 20, (3, 6))
    chosen = {f"layers.{n}.mixed.{own}": style for n in range(3) for own, style in DIVIDED.items()}
    with torch.no_grad(), recording(model) as calls:
        expected = model(tokens)
    plan = divide_sequences(model, chosen, calls, "layers")
    output = "PrepareModuleOutput(output_layouts={}, desired_output_layouts={})"
    assert plan == {
        "tokens": output.format("Replicate()", "Shard(1)"),
        "places": output.format("Replicate()", "Shard(0)"),
        **{f"layers.{n}.{own}": style for n in range(3) for own, style in OF_LAYERS.items()},
        "last": "SequenceParallel(use_local_output=True)",
        "head": output.format("Shard(1)", "Replicate()"),
    }
    report = report_of(plan, (1, 2))
    for line in ("import Replicate, Shard", "    SequenceParallel,", "    PrepareModuleOutput,"):
        assert line in report.python
    classes = divide_sequences(model, {**chosen, "head": ALONE}, calls, "layers")
    assert classes["head"] == ALONE.replace("(", "(input_layouts=Shard(1), ", 1)
    with ttmlir.virtual_devices(2), torch.no_grad():
        module, given = report.divide(model, tokens)
        found = module(given).full_tensor().reconcile()
    torch.testing.assert_close(found, expected)


class Block(nn.Module):
    """Layers with the norm in front of them."""

    def __init__(self) -> None:
        """Of eight features."""
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(8), nn.Linear(8, 12), nn.Linear(12, 8)

    def forward(self, x: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        """What is added to the input."""
        return x + self.down(self.up(self.norm(x)).relu() + shift)


def test_sequences_that_are_given() -> None:
    """The first argument is divided, and the result put together."""
    torch.manual_seed(2)
    model, x, shift = Block(), torch.randn(2, 6, 8), torch.ones(1)
    with torch.no_grad(), recording(model) as calls:
        expected = model(x, shift)
    plan = divide_sequences(model, DIVIDED, calls)
    assert plan == {
        "norm": "SequenceParallel(use_local_output=True)",
        "up": "ColwiseParallel(input_layouts=Shard(1))",
        "down": "RowwiseParallel(output_layouts=Shard(1))",
        "": (
            "PrepareModuleInputOutput(input_layouts=(Replicate(), None,), "
            "desired_input_layouts=(Shard(1), None,), use_local_input=True, "
            "output_layouts=Shard(1), desired_output_layouts=Replicate())"
        ),
    }
    with ttmlir.virtual_devices(2), torch.no_grad():
        module, *given = report_of(plan, (1, 2)).divide(model, x, shift)
        found = module(*given).full_tensor().reconcile()
    torch.testing.assert_close(found, expected)
    assert divide_sequences(Block(), {}, calls) == {}


def report_of(plan: Plan, mesh: tuple[int, int]) -> PlanReport:
    """A report of one plan."""
    trial = PlanTrial(mesh=mesh, plan=plan)
    return PlanReport(name="model", board="n300", best=trial, by_mesh=[trial], trials=1)


@pytest.mark.parametrize(
    ("model", "options", "message"),
    [
        (torch.relu, {}, "is no torch.nn.Module, whose plan is searched"),
        (nn.Linear(3, 5), {"meshes": [(2, 4)]}, "a mesh of 2x4 devices is none of n300"),
        (nn.Linear(3, 5), {"meshes": (1, 2)}, r"meshes are pairs of rows and columns.*; 1 is none"),
        (nn.Linear(3, 5), {"meshes": [(1, 1, 2)]}, r"; \(1, 1, 2\) is none"),
    ],
)
def test_what_is_refused(model: object, options: dict[str, object], message: str) -> None:
    """It is said before anything is compiled."""
    with pytest.raises(ttmlir.InputError, match=message):
        ttmlir.tune_plan(model, torch.randn(2, 3), board="n300", **options)


def test_calls_without_a_tensor_are_refused() -> None:
    """Plans need a batch to be divided."""
    for arguments in ((), ([1.0, 2.0, 3.0],)):
        with pytest.raises(ttmlir.InputError, match="give its arguments, of which the first is a"):
            ttmlir.tune_plan(nn.Linear(3, 5), *arguments, board="n300")
