"""Models of torch that are divided over several devices: DTensors and what devices exchange."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from running.sampling import sampled
from torch import nn
from torch.distributed import _functional_collectives as functional
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    loss_parallel,
    parallelize_module,
)

import ttmlir

COPY = Replicate()
Placements = tuple[list[Any], list[Any]]


@pytest.fixture
def mesh() -> Iterator[Any]:
    """Two rows of four devices, which share data and models."""
    with ttmlir.virtual_devices(8):
        yield init_device_mesh("cpu", (2, 4), mesh_dim_names=("data", "model"))


def draw(*shape: int) -> torch.Tensor:
    """The same random numbers each time."""
    numbers = np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)
    return torch.from_numpy(numbers)


# --- Functions of DTensors ------------------------------------------------------------------------

FUNCTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda x, y: x @ y,
    "softmax": lambda x, y: torch.softmax(torch.relu(x) @ y, -1),
    "sum": lambda x, y: (x @ y).sum(0),
    "mean": lambda x, y: (x @ y).mean(),
    "maximum": lambda x, y: (x @ y).max(),
    "variance": lambda x, y: (x @ y).var(0),
    "norm": lambda x, y: F.layer_norm(x @ y, (12,)),
    "transposed": lambda x, y: y.T @ x.T,
    "joined": lambda x, y: torch.cat([x, x * 2]) @ y,
    "sorted": lambda x, y: (x @ y).sort(-1).values,
    "largest": lambda x, y: (x @ y).topk(3, -1).values,
    "running sum": lambda x, y: (x @ y).cumsum(0),
    "place in rows": lambda x, y: (x @ y).argmax(-1),
    "place in columns": lambda x, y: (x @ y).argmin(0),
    "place": lambda x, y: (x @ y).argmax(),
}
PLACEMENTS: dict[str, Placements] = {
    "rows and sums": ([Shard(0), Shard(1)], [COPY, Shard(0)]),
    "rows and columns": ([Shard(0), COPY], [COPY, Shard(1)]),
    "rows over both": ([Shard(0), Shard(0)], [COPY, COPY]),
    "columns and both": ([COPY, Shard(1)], [Shard(1), Shard(0)]),
}


@pytest.mark.filterwarnings("ignore:.*integers of 64 bits")
@pytest.mark.parametrize(("function", "placements"), sampled(FUNCTIONS, PLACEMENTS, every=4))
def test_functions_of_divided_tensors(function: str, placements: str, mesh: Any) -> None:
    """The program computes what torch does of whole tensors, however they are divided."""
    compute, x, y = FUNCTIONS[function], draw(8, 16), draw(16, 12)
    expected = compute(x.double(), y.double())
    first, second = PLACEMENTS[placements]
    divided = distribute_tensor(x, mesh, first), distribute_tensor(y, mesh, second)
    compiled = ttmlir.compile(compute, *divided)
    np.testing.assert_allclose(compiled(x, y), expected, rtol=1e-4, atol=1e-4)


def test_what_devices_have(mesh: Any) -> None:
    """Devices have the parts that placements say, and exchange what they need."""
    x, y = draw(8, 16), draw(16, 12)
    first, second = PLACEMENTS["rows and sums"]
    divided = distribute_tensor(x, mesh, first), distribute_tensor(y, mesh, second)
    compiled = ttmlir.compile(lambda x, y: x @ y, *divided)
    text = compiled.text("ttir")
    assert text.count("ttir.all_reduce") == 1
    assert "tensor<4x4xf32>, tensor<4x12xf32>" in text
    [parts] = compiled.run_on_devices(x, y)
    expected = (x @ y).numpy()
    assert [part.shape for part in parts] == [(4, 12)] * 8
    assert abs(parts[5] - expected[4:]).max() < 1e-4
    torch.testing.assert_close(compiled.reference(x, y), x @ y)


def test_gradients(mesh: Any) -> None:
    """Gradients are divided as what they are of."""

    def gradient(x: Any, y: Any) -> Any:
        return torch.autograd.grad(((x @ y) ** 2).sum(), [y])[0]

    x, y = draw(8, 16), draw(16, 12).requires_grad_()
    divided = distribute_tensor(y.detach(), mesh, [COPY, Shard(1)]).requires_grad_()
    compiled = ttmlir.compile(gradient, distribute_tensor(x, mesh, [Shard(0), COPY]), divided)
    torch.testing.assert_close(compiled(x, y), gradient(x, y), rtol=1e-4, atol=1e-3)


# --- Modules --------------------------------------------------------------------------------------


class Attention(nn.Module):
    """Attention of as many heads as a device has."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(32, 32, bias=False) for _ in range(4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Each position looks at those before."""
        batch, length, _ = x.shape
        q, k, v = (
            each(x).view(batch, length, -1, 8).transpose(1, 2) for each in (self.q, self.k, self.v)
        )
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o(mixed.transpose(1, 2).reshape(batch, length, -1))


class Language(nn.Module):
    """A small language model."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.tokens = nn.Embedding(40, 32)
        self.first, self.attention = nn.RMSNorm(32), Attention()
        self.second, self.last = nn.RMSNorm(32), nn.LayerNorm(32)
        self.up, self.gate = nn.Linear(32, 64), nn.Linear(32, 64)
        self.down, self.head = nn.Linear(64, 32), nn.Linear(32, 40)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """How likely each token is to come next."""
        x = self.tokens(tokens)
        x = x + self.attention(self.first(x))
        h = self.second(x)
        x = x + self.down(F.silu(self.gate(h)) * self.up(h))
        return self.head(self.last(x))


COLUMNS, ROWS = ColwiseParallel(), RowwiseParallel()
HEADS = {f"attention.{name}": COLUMNS for name in "qkv"}
WEIGHTS_DIVIDED = {
    "tokens": RowwiseParallel(input_layouts=COPY),
    **HEADS,
    "attention.o": ROWS,
    "up": COLUMNS,
    "gate": COLUMNS,
    "down": ROWS,
    "head": ColwiseParallel(output_layouts=COPY),
}
POSITIONS_DIVIDED = {
    "tokens": RowwiseParallel(input_layouts=COPY, output_layouts=Shard(1)),
    "first": SequenceParallel(),
    "attention": PrepareModuleInput(input_layouts=(Shard(1),), desired_input_layouts=(COPY,)),
    **HEADS,
    "attention.o": RowwiseParallel(output_layouts=Shard(1)),
    "second": SequenceParallel(),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "gate": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1)),
    "last": SequenceParallel(),
    "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=COPY),
}


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize(
    ("plan", "exchanges"),
    [
        (WEIGHTS_DIVIDED, {"all_reduce": 3}),
        # Parts are exchanged along the dimension of positions; nothing is cut to move it.
        (POSITIONS_DIVIDED, {"reduce_scatter": 3, "concat": 0, "slice_static": 0}),
    ],
    ids=["weights", "positions"],
)
def test_parallelized_modules(plan: dict[str, Any], exchanges: dict[str, int], mesh: Any) -> None:
    """Weights are divided by torch's own plans, of which the program keeps whole tensors."""
    torch.manual_seed(3)
    model = Language()
    whole = copy.deepcopy(model)
    tokens = torch.from_numpy(np.random.default_rng(1).integers(0, 40, (6, 8), np.int32))
    expected = whole(tokens)
    parallelize_module(model, mesh["model"], plan)
    compiled = ttmlir.compile(model, tokens)
    torch.testing.assert_close(compiled(tokens), expected, rtol=1e-4, atol=1e-4)
    text = compiled.text("ttir")
    assert {name: text.count(f"ttir.{name}") for name in exchanges} == exchanges


def test_weights_as_arguments(mesh: Any) -> None:
    """Weights outside of the file are whole, and shared ones are one."""
    model = nn.Linear(16, 12)
    whole, x = copy.deepcopy(model), draw(8, 16)
    expected = whole(x)
    parallelize_module(model, mesh["model"], ColwiseParallel(output_layouts=COPY))
    compiled = ttmlir.compile(model, x, weights="arguments")
    torch.testing.assert_close(compiled(x), expected)


class Head(nn.Module):
    """Features of rows in parts, of which each device has a part of the classes."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.up, self.norm, self.out = nn.Linear(12, 16), nn.LayerNorm(16), nn.Linear(16, 20)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores of classes."""
        return self.out(self.norm(self.up(x)))


@pytest.mark.filterwarnings("ignore:.*integers of 64 bits")
def test_losses_of_divided_classes(mesh: Any) -> None:
    """Steps give torch's losses, and no device has the scores of all classes."""
    torch.manual_seed(5)
    model, x = Head(), draw(8, 12)
    classes = torch.from_numpy(np.random.default_rng(2).integers(0, 20, 8, np.int32)).long()
    whole = copy.deepcopy(model)
    plan = {
        "up": RowwiseParallel(input_layouts=COPY, output_layouts=Shard(0)),
        "norm": SequenceParallel(sequence_dim=0),
        "out": ColwiseParallel(input_layouts=Shard(0), use_local_output=False),
    }
    parallelize_module(model, mesh["model"], plan)
    with loss_parallel():
        rate = torch.optim.SGD(model.parameters(), lr=0.1)
        step = ttmlir.train_step(model, F.cross_entropy, rate, x, classes)
    assert "tensor<8x20xf32>" not in step.compiled.text("ttir")
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    for _ in range(2):
        expected = F.cross_entropy(whole(x), classes)
        np.testing.assert_allclose(step(x, classes), expected.detach(), rtol=1e-5)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()


def test_modules_that_are_given_and_give_parts(mesh: Any) -> None:
    """What a module is given is divided in front of it, what it returns put together behind."""
    model, x = nn.Sequential(nn.LayerNorm(16), nn.Softmax(-1)), draw(6, 8, 16)
    expected = model(x)
    first = PrepareModuleInput(
        input_layouts=(COPY,), desired_input_layouts=(Shard(1),), use_local_output=True
    )
    last = PrepareModuleOutput(output_layouts=(Shard(1),), desired_output_layouts=(COPY,))
    parallelize_module(model, mesh["model"], {"0": first, "1": last})
    compiled = ttmlir.compile(model, x, mesh=mesh)
    torch.testing.assert_close(compiled(x), expected, rtol=1e-5, atol=1e-6)
    text = compiled.text("ttir")
    assert "all_gather_dim = 1 : si32" in text
    assert "-> tensor<6x2x16xf32>" in text


def test_training(mesh: Any) -> None:
    """Steps of training give torch's losses, with weights that are divided."""

    def loss(y: Any, target: Any) -> Any:
        return ((y - target) ** 2).mean()

    model, x, target = nn.Linear(16, 12), draw(4, 16), draw(4, 12)
    whole = copy.deepcopy(model)
    parallelize_module(model, mesh["model"], ColwiseParallel(output_layouts=COPY))
    step = ttmlir.train_step(model, loss, torch.optim.SGD(model.parameters(), lr=0.1), x, target)
    assert "ttir.all_gather" in step.compiled.text("ttir")
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    for _ in range(2):
        expected = loss(whole(x), target)
        np.testing.assert_allclose(step(x, target), expected.detach(), rtol=1e-5)
        optimizer.zero_grad()
        expected.backward()
        optimizer.step()


def test_what_torch_does_not_export(mesh: Any) -> None:
    """Plans make DTensors, of which there are no graphs; modules themselves are compiled."""
    model, x = nn.Linear(16, 12), draw(4, 16)
    expected = model(x)
    parallelize_module(model, mesh["model"], ColwiseParallel(output_layouts=COPY))
    message = "no graphs in which tensors become DTensors, .*; give the module itself, and"
    with pytest.raises(ttmlir.Error, match=message):
        torch.export.export(model, (x,))
    torch.testing.assert_close(ttmlir.compile(model, x)(x), expected)


class Chain(nn.Module):
    """Two layers of a plan, and one that is in none."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.up, self.down, self.rest = nn.Linear(12, 16), nn.Linear(16, 12), nn.Linear(12, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Scores."""
        return self.rest(self.down(torch.relu(self.up(x))))


def squares(y: Any, target: Any) -> Any:
    """The mean of squares."""
    return ((y - target) ** 2).mean()


def torch_losses(
    model: Any, optimizers: list[Any], x: Any, target: Any, *, steps: int, round_: int = 1
) -> list[float]:
    """The losses of torch's own steps, of which the last one of each round moves."""
    found: list[float] = []
    for number in range(1, steps + 1):
        loss = squares(model(x), target)
        found.append(float(loss.detach()))
        (loss / round_).backward()
        if number % round_ == 0:
            for each in optimizers:
                each.step()
                each.zero_grad()
    return found


@pytest.mark.exhaustive
def test_training_goes_on_with_other_tensors() -> None:
    """What a step has goes into models and optimizers, divided or not, and comes from them.

    The mesh has two axes of two, of which the plan takes one; a layer is outside of the plan.
    """
    torch.manual_seed(7)
    model, x, target = Chain(), draw(6, 12), draw(6, 5)
    whole = copy.deepcopy(model)
    with ttmlir.virtual_devices(4):
        mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("data", "model"))
        parallelize_module(
            model, mesh["model"], {"up": ColwiseParallel(), "down": RowwiseParallel()}
        )
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
        step = ttmlir.train_step(model, squares, optimizer, x, target)
    other = torch.optim.Adam(whole.parameters(), lr=0.01)
    found = [float(step(x, target)) for _ in range(2)]
    np.testing.assert_allclose(found, torch_losses(whole, [other], x, target, steps=2), rtol=1e-5)
    step.load_into()
    assert step.state_dict()["up.weight"].shape == (16, 12)
    # Of the second device of a row, also behind the block.
    part = cast("Any", model.up.weight)._local_tensor._local_tensors[3]
    torch.testing.assert_close(part, whole.up.weight.detach()[8:])
    kept = optimizer.state[model.up.weight]["exp_avg"]
    assert kept.placements == (Shard(0),)
    expected = other.state[whole.up.weight]["exp_avg"][8:]
    torch.testing.assert_close(kept._local_tensor._local_tensors[1], expected)
    step(x, target)
    step.load_from()
    [loss] = torch_losses(whole, [other], x, target, steps=1)
    np.testing.assert_allclose(step(x, target), loss, rtol=1e-5)
    step.load_from(whole, other)
    loss, last = torch_losses(whole, [other], x, target, steps=2)
    np.testing.assert_allclose(step(x, target), loss, rtol=1e-5)
    step.load_into(whole, other)
    np.testing.assert_allclose(torch_losses(whole, [other], x, target, steps=1), last, rtol=1e-5)


def test_gradients_that_are_sums_are_added_up(mesh: Any) -> None:
    """Of norms whose positions are divided, over two calls that move once."""
    torch.manual_seed(5)
    model, x, target = Head(), draw(8, 12), draw(8, 20)
    whole = copy.deepcopy(model)
    plan = {
        "up": RowwiseParallel(input_layouts=COPY, output_layouts=Shard(0)),
        "norm": SequenceParallel(sequence_dim=0),
        "out": ColwiseParallel(input_layouts=Shard(0), output_layouts=COPY),
    }
    parallelize_module(model, mesh["model"], plan)
    rate = torch.optim.SGD(model.parameters(), lr=0.1)
    step = ttmlir.train_step(model, squares, rate, x, target, accumulate=2, clip_grad_norm=100)
    found = [float(step(x, target)) for _ in range(3)]
    optimizer = torch.optim.SGD(whole.parameters(), lr=0.1)
    first = copy.deepcopy(whole)
    expected = torch_losses(whole, [optimizer], x, target, steps=3, round_=2)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    # What was added up is dropped.
    step.load_from(first)
    np.testing.assert_allclose(step(x, target), expected[0], rtol=1e-5)


class Table(nn.Module):
    """Rows of a table, and a map of them."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.table, self.out = nn.Embedding(24, 16, sparse=True), nn.Linear(16, 5)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Scores."""
        return self.out(self.table(rows))


@pytest.mark.parametrize("style", [RowwiseParallel, ColwiseParallel])
def test_rows_of_divided_tables_that_move(style: Any, mesh: Any) -> None:
    """SparseAdam moves the rows that are looked up, one of them twice, and no others."""
    torch.manual_seed(6)
    model, target = Table(), draw(5, 5)
    whole, rows = copy.deepcopy(model), torch.tensor([1, 20, 20, 0, 7], dtype=torch.int32)
    layouts = {"input_layouts": COPY} if style is RowwiseParallel else {}
    parallelize_module(model, mesh["model"], {"table": style(output_layouts=COPY, **layouts)})

    def optimizers(of: Any) -> list[Any]:
        return [
            torch.optim.SparseAdam(list(of.table.parameters()), lr=0.1),
            torch.optim.SGD(of.out.parameters(), lr=0.1),
        ]

    step = ttmlir.train_step(model, squares, optimizers(model), rows, target)
    found = [float(step(rows, target)) for _ in range(3)]
    expected = torch_losses(whole, optimizers(whole), rows, target, steps=3)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    table = step.state_dict()["table.weight"]
    torch.testing.assert_close(table, whole.table.weight.detach(), rtol=1e-5, atol=1e-6)


class Running(nn.Module):
    """A sum that is kept divided."""

    total: torch.Tensor

    def __init__(self, mesh: Any) -> None:
        """Nothing yet."""
        super().__init__()
        zeros = distribute_tensor(torch.zeros(8, 16), mesh, [COPY, Shard(1)])
        self.register_buffer("total", zeros)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Twice the sum so far."""
        self.total.add_(x)
        return self.total * 2


def test_state(mesh: Any) -> None:
    """What calls change is kept from call to call."""
    x = draw(8, 16)
    compiled = ttmlir.compile(Running(mesh), distribute_tensor(x, mesh, [COPY, Shard(1)]))
    torch.testing.assert_close(compiled(x), 2 * x)
    torch.testing.assert_close(compiled(x), 4 * x)


class Steps(nn.Module):
    """Calls that are counted in 64 bits, as batches of norms are."""

    count: torch.Tensor

    def __init__(self) -> None:
        """None yet."""
        super().__init__()
        self.register_buffer("count", torch.zeros((), dtype=torch.int64))
        self.map = nn.Linear(16, 12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A map, times the number of the call."""
        self.count += 1
        return self.map(x) * self.count


def test_state_of_64_bits(mesh: Any) -> None:
    """What modules count in 64 bits is counted on."""
    model, x = Steps(), draw(5, 16)
    expected = model.map(x)
    parallelize_module(model, mesh["model"], {"map": ColwiseParallel(output_layouts=COPY)})
    compiled = ttmlir.compile(model, x)
    torch.testing.assert_close(compiled(x), expected)
    torch.testing.assert_close(compiled(x), 2 * expected)


def test_what_functions_exchange_themselves(mesh: Any) -> None:
    """Functions may exchange what one device has, by axes of the mesh."""
    x = draw(8, 16)
    rows = distribute_tensor(x, mesh, [Shard(0), COPY])

    def exchange(x: Any) -> Any:
        part = x.to_local()
        total = functional.all_reduce(part.sum(0), "sum", (mesh, 0))
        largest = functional.all_reduce(part.amax(0), "max", mesh["data"])
        return total, largest, functional.all_gather_tensor(part * 2, 0, (mesh, 0))

    total, largest, doubled = ttmlir.compile(exchange, rows)(x)
    torch.testing.assert_close(total, x.sum(0))
    torch.testing.assert_close(largest, x.amax(0))
    torch.testing.assert_close(doubled, 2 * x)

    def turn(x: Any) -> Any:
        part = functional.all_to_all_single(x.to_local(), [1] * 4, [1] * 4, (mesh, 1))
        return DTensor.from_local(part, mesh, [COPY, Shard(0)])

    divided = distribute_tensor(draw(16, 3), mesh, [COPY, Shard(0)])
    expected = draw(16, 3).reshape(4, 4, 3).transpose(0, 1).reshape(16, 3)
    torch.testing.assert_close(ttmlir.compile(turn, divided)(draw(16, 3)), expected)


def test_stages_that_send_on(mesh: Any) -> None:
    """Each stage has its weights, and sends what it makes to the next one."""

    def stages(x: Any, weights: Any) -> Any:
        for _ in range(2):
            made = torch.tanh(x @ weights.to_local()[0])
            x = functional.permute_tensor(made, [2, 3, 1, 0], (mesh, 1))
        return DTensor.from_local(x[None], mesh, [COPY, Shard(0)])

    x, weights = draw(3, 5), draw(4, 5, 5)
    divided = distribute_tensor(weights, mesh, [COPY, Shard(0)])
    expected = [x] * 4
    for _ in range(2):
        sent = [torch.tanh(each @ weight) for each, weight in zip(expected, weights, strict=True)]
        expected = [sent[[2, 3, 1, 0].index(stage)] for stage in range(4)]
    compiled = ttmlir.compile(stages, x, divided)
    torch.testing.assert_close(compiled(x, weights), torch.stack(expected))
    assert compiled.text("ttir").count("ttir.collective_permute") == 2


def test_parts_that_are_others_than_those_of_devices(mesh: Any) -> None:
    """What functions take apart and join is not taken for what devices exchange."""
    x = draw(4, 8)

    def halves(x: Any) -> Any:
        first, second = functional.all_gather_tensor(x.to_local(), 0, (mesh, 1)).split(2)
        return torch.cat([first, second], 1)

    rows = distribute_tensor(x, mesh, [COPY, Shard(0)])
    torch.testing.assert_close(ttmlir.compile(halves, rows)(x), torch.cat(x.split(2), 1))

    def turned(x: Any) -> Any:
        first, *others = functional.all_gather_tensor(x.to_local(), 0, (mesh, 1)).split(1)
        return torch.cat([*others, first], 1)

    expected = x.roll(-1, 0).reshape(1, 32)
    torch.testing.assert_close(ttmlir.compile(turned, rows)(x), expected)

    def sums(x: Any) -> Any:
        parts = torch.cat(x.to_local().split(4, 1))
        found = functional.reduce_scatter_tensor(parts, "sum", 0, (mesh, 1))
        return DTensor.from_local(found, mesh, [COPY, Shard(0)])

    whole = distribute_tensor(x, mesh, [COPY, COPY])
    torch.testing.assert_close(ttmlir.compile(sums, whole)(x), 4 * torch.cat(x.split(4, 1)))


class Exchanging(nn.Module):
    """Of equal inputs of all devices, what they have after several exchanges."""

    def __init__(self, mesh: Any) -> None:
        """Random weights."""
        super().__init__()
        self.layer, self.mesh = nn.Linear(16, 8), mesh

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Sums along rows, parts that go round along columns, and all of them."""
        y = functional.all_reduce(self.layer(x), "sum", (self.mesh, 1))
        mean = functional.reduce_scatter_single(y, "avg", 1, (self.mesh, 1))
        turned = functional.all_to_all_single(mean, None, None, (self.mesh, 0))
        return functional.all_gather_single(functional.wait_tensor(turned), 1, (self.mesh, 1))


@pytest.mark.exhaustive
def test_exported_programs(mesh: Any, tmp_path: Path) -> None:
    """Programs of one device, as torch exports them, run on a mesh that is given with them.

    Each of four devices keeps a quarter of 4 y, of which the mean is the same; of two devices in
    a column each gets the first or the second half of the rows twice.
    """
    model, x = Exchanging(mesh), draw(6, 16)
    exported = torch.export.export(model, (x,))
    y = 4 * model.layer(x).detach()
    expected = torch.cat([y[:3], y[:3], y[3:], y[3:]])
    both = Joined(exported.module(), mesh, [Shard(0), COPY])
    compiled = ttmlir.compile(both, x, mesh=mesh)
    torch.testing.assert_close(compiled(x), expected, rtol=1e-5, atol=1e-5)
    path = compiled.save(tmp_path / "program.ttnn")
    np.testing.assert_allclose(ttmlir.load(path)(x.numpy()), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(ttmlir.CompilationError, match="different numbers of a result, and nothing"):
        ttmlir.compile(exported, mesh=mesh)
    with pytest.raises(ttmlir.CompilationError, match="uses tensors of several devices from outs"):
        ttmlir.compile(lambda x: both(x) + 1, x, mesh=mesh)

    # Here all devices have the same in the end.
    gathered = torch.export.export(Gathered(model), (x,))
    compiled = ttmlir.compile(gathered, mesh=mesh["model"])
    torch.testing.assert_close(compiled(x), expected, rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(compiled.reference(x), expected, rtol=1e-5, atol=1e-5)
    text = compiled.text("ttir")
    assert [text.count(f"ttir.{each}") for each in ("all_reduce", "reduce_scatter")] == [1, 1]
    with pytest.raises(ttmlir.CompilationError, match="nothing says which there are; give the"):
        ttmlir.compile(gathered)
    with pytest.raises(ttmlir.CompilationError, match="nothing says which there are; give the"):
        ttmlir.compile(model, x)
    other = init_device_mesh("cpu", (4, 2))
    with pytest.raises(ttmlir.CompilationError, match=r"\[0, 1, 2, 3\] are no axis of the mesh"):
        ttmlir.compile(gathered, mesh=other)


class Joined(nn.Module):
    """What devices have of a program's result, as one tensor."""

    def __init__(self, program: Any, mesh: Any, placements: list[Any]) -> None:
        """How it is divided."""
        super().__init__()
        self.program, self.places = program, (mesh, placements)

    def forward(self, x: torch.Tensor) -> Any:
        """All of it."""
        return DTensor.from_local(self.program(x), *self.places)


class Gathered(nn.Module):
    """What the devices of a column have of a module's result, one after another."""

    def __init__(self, model: Exchanging) -> None:
        """A module."""
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Rows of both devices of a column."""
        return functional.all_gather_single(self.model(x), 0, (self.model.mesh, 0))


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("strict", [False, True])
def test_exported_programs_of_divided_weights(strict: bool, mesh: Any) -> None:
    """Torch exports what DTensors compute; which devices do so is in the tensors."""
    model, x = nn.Sequential(nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 10)), draw(6, 16)
    expected = copy.deepcopy(model)(x)
    for layer, (weight, bias) in zip(model[::2], (((0, 0)), (1, None)), strict=True):
        for name, dim in (("weight", weight), ("bias", bias)):
            places = [COPY, COPY if dim is None else Shard(dim)]
            divided = distribute_tensor(getattr(layer, name).detach(), mesh, places)
            setattr(layer, name, nn.Parameter(divided))
    rows = distribute_tensor(x, mesh, [Shard(0), COPY])
    compiled = ttmlir.compile(torch.export.export(model, (rows,), strict=strict))
    torch.testing.assert_close(compiled(x), expected, rtol=1e-5, atol=1e-5)
    assert compiled.text("ttir").count("ttir.all_reduce") == 1
    assert compiled.run_on_devices(x)[0][5].shape == (3, 10)


def test_tensors_that_programs_distribute(mesh: Any) -> None:
    """All devices have constants; of what differs, that of the first device counts."""
    x = draw(8, 12)
    rows = distribute_tensor(x, mesh, [Shard(0), COPY])

    def scale(x: Any) -> Any:
        steps = torch.arange(96.0).reshape(8, 12)
        return x * distribute_tensor(steps, x.device_mesh, [Shard(0), COPY])

    compiled = ttmlir.compile(scale, rows)
    torch.testing.assert_close(compiled(x), x * torch.arange(96.0).reshape(8, 12))
    assert "broadcast" not in compiled.text("ttir")

    def spread(x: Any) -> Any:
        return distribute_tensor(x.to_local() * 2, mesh, [Shard(1), Shard(0)])

    compiled = ttmlir.compile(spread, rows)
    torch.testing.assert_close(compiled(x), 2 * x[:4])
    assert compiled.text("ttir").count("ttir.collective_broadcast") == 1


def test_files(mesh: Any, tmp_path: Path) -> None:
    """The file has what torch computes on all devices, and runs without torch's devices."""
    x = draw(8, 16)
    compiled = ttmlir.compile(lambda x: x.sum(0), distribute_tensor(x, mesh, [Shard(0), COPY]))
    path = compiled.save(tmp_path / "sum.ttnn", golden=True)
    loaded = ttmlir.load(path)
    assert loaded.golden is not None
    np.testing.assert_allclose(loaded.golden.result, x.sum(0), rtol=1e-5)
    np.testing.assert_allclose(loaded(x.numpy()), x.sum(0), rtol=1e-5)


@pytest.mark.sampled(every=2)
@pytest.mark.parametrize("places", [(0, 1, None), (None, 0, 1), (1, None, 0), (None, 1, None)])
def test_three_axes(places: tuple[int | None, ...], mesh: Any) -> None:
    """Devices of a mesh of 2x2x2 have the parts that torch says, and exchange along each axis."""
    del mesh
    cube = init_device_mesh("cpu", (2, 2, 2), mesh_dim_names=("a", "b", "c"))
    placed = [COPY if dim is None else Shard(dim) for dim in places]
    x, w = draw(8, 12), draw(12, 6)

    def compute(x: Any, w: Any) -> tuple[Any, Any, Any]:
        y = x @ w
        return y, x.sum(0), x.redistribute(placements=[Shard(1), COPY, Shard(0)])

    compiled = ttmlir.compile(
        compute, distribute_tensor(x, cube, placed), distribute_tensor(w, cube, [COPY] * 3)
    )
    for found, wanted in zip(compiled(x, w), (x @ w, x.sum(0), x), strict=True):
        torch.testing.assert_close(found, wanted, rtol=1e-5, atol=1e-5)
    *_, parts = compiled.run_on_devices(x, w)
    for device, part in enumerate(parts):
        rows, columns = device % 2 * 4, device // 4 * 6
        np.testing.assert_array_equal(part, x[rows : rows + 4, columns : columns + 6])


LLAMA_PLAN = {
    "embed_tokens": "embedding_rowwise",
    "layers.*.self_attn.q_proj": "colwise",
    "layers.*.self_attn.k_proj": "colwise",
    "layers.*.self_attn.v_proj": "colwise",
    "layers.*.self_attn.o_proj": "rowwise",
    "layers.*.mlp.gate_proj": "colwise",
    "layers.*.mlp.up_proj": "colwise",
    "layers.*.mlp.down_proj": "rowwise",
    "lm_head": "colwise_rep",
}
"""A plan in the words of transformers (`tp_plan`)."""


class LlamaAttention(nn.Module):
    """Attention with rotated positions; two heads share keys and values."""

    def __init__(self) -> None:
        """Random weights: eight heads of 4, four for keys and values."""
        super().__init__()
        self.q_proj, self.o_proj = (nn.Linear(32, 32, bias=False) for _ in range(2))
        self.k_proj, self.v_proj = (nn.Linear(32, 16, bias=False) for _ in range(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Each position looks at those before."""
        batch, length, _ = x.shape
        q, k, v = (
            each(x).view(batch, length, -1, 4).transpose(1, 2)
            for each in (self.q_proj, self.k_proj, self.v_proj)
        )
        turns = torch.arange(length)[:, None] * torch.tensor([1.0, 0.01]).repeat(2)
        q, k = (
            each * turns.cos() + torch.cat((-each[..., 2:], each[..., :2]), -1) * turns.sin()
            for each in (q, k)
        )
        k, v = (each.repeat_interleave(2, dim=1) for each in (k, v))
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, length, -1))


class LlamaLayer(nn.Module):
    """Attention, and a gated layer."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.self_attn, self.mlp = LlamaAttention(), nn.Module()
        self.mlp.gate_proj, self.mlp.up_proj = (nn.Linear(32, 48, bias=False) for _ in range(2))
        self.mlp.down_proj = nn.Linear(48, 32, bias=False)
        self.input_layernorm, self.post_attention_layernorm = nn.RMSNorm(32), nn.RMSNorm(32)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Both are added to what comes in."""
        x = x + self.self_attn(self.input_layernorm(x))
        h, mlp = self.post_attention_layernorm(x), self.mlp
        return x + mlp.down_proj(F.silu(mlp.gate_proj(h)) * mlp.up_proj(h))


class Llama(nn.Module):
    """A language model whose modules have the names of transformers'."""

    def __init__(self) -> None:
        """Random weights."""
        super().__init__()
        self.embed_tokens, self.lm_head = nn.Embedding(40, 32), nn.Linear(32, 40, bias=False)
        self.layers = nn.ModuleList(LlamaLayer() for _ in range(2))

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """How likely each token is to come next."""
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x)
        return self.lm_head(x)


@pytest.mark.exhaustive
def test_a_plan_of_transformers(mesh: Any) -> None:
    """Words of `tp_plan` are styles of torch; layers of any number have the same."""
    styles = {
        "colwise": ColwiseParallel(),
        "rowwise": RowwiseParallel(),
        "embedding_rowwise": RowwiseParallel(input_layouts=COPY),
        "colwise_rep": ColwiseParallel(output_layouts=COPY),
    }
    torch.manual_seed(5)
    model = Llama()
    tokens = torch.from_numpy(np.random.default_rng(1).integers(0, 40, (2, 6), np.int32))
    with torch.no_grad():
        expected = copy.deepcopy(model)(tokens)
    plan = {
        name: styles[style]
        for name, _ in model.named_modules()
        for pattern, style in LLAMA_PLAN.items()
        if re.fullmatch(pattern.replace(".", r"\.").replace("*", r"\d+"), name)
    }
    assert len(plan) == 16
    compiled = ttmlir.compile(parallelize_module(model, mesh["model"], plan), tokens)
    torch.testing.assert_close(compiled(tokens), expected, rtol=1e-4, atol=1e-5)
    # One sum behind each attention and each gated layer, and one behind the divided table.
    assert compiled.text("ttir").count("ttir.all_reduce") == 5


# --- Refusals -------------------------------------------------------------------------------------


class Counting(nn.Module):
    """State that is another on each device."""

    count: torch.Tensor

    def __init__(self) -> None:
        """Nothing yet."""
        super().__init__()
        self.register_buffer("count", torch.zeros(16))

    def forward(self, x: Any) -> Any:
        """Twice the argument, which is counted."""
        self.count.add_(x.to_local().sum(0))
        return x * 2


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_of_batches_and_heads(is_causal: bool, mesh: Any) -> None:
    """Each device computes the batches and heads that it has, and exchanges nothing."""
    tensors = [draw(2, 4, 6, 8) + number for number in range(3)]
    expected = F.scaled_dot_product_attention(*tensors, is_causal=is_causal)
    divided = [distribute_tensor(each, mesh, [Shard(0), Shard(1)]) for each in tensors]
    compiled = ttmlir.compile(
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=is_causal), *divided
    )
    torch.testing.assert_close(compiled(*tensors), expected, rtol=1e-5, atol=1e-5)
    assert compiled.run_on_devices(*tensors)[0][7].shape == (1, 1, 6, 8)
    assert not re.findall("ttir.(all_|reduce_scatter|collective_)", compiled.text("ttir"))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x.to_local() * 2, "devices have different numbers of a result"),
        (
            lambda x: DTensor.from_local(x.to_local() * 2, x.device_mesh, [COPY, COPY]),
            r"a DTensor says that all have the same \(Replicate\(\)\)",
        ),
        (Counting(), "devices have different numbers of 'count'"),
        (
            lambda x: x.sum() * x.device_mesh.get_local_rank("data"),
            "what a device computes here depends on its number",
        ),
        (
            lambda x: x[:6, :3].redistribute(placements=[COPY, Shard(0)]),
            "dimension 0 has 6 elements, which 4 devices do not share evenly",
        ),
        (lambda x: F.dropout(x, 0.5), "devices draw no random numbers"),
        (
            lambda x: functional.permute_tensor(x.to_local(), [1, 1], (x.device_mesh, 0)),
            r"permute_tensor sends to \[1, 1\]: each device along an axis of the mesh",
        ),
    ],
)
def test_programs_that_are_refused(function: Any, message: str, mesh: Any) -> None:
    """What devices do not do alike is refused at the user's line."""
    x = distribute_tensor(draw(8, 16), mesh, [Shard(0), COPY])
    with pytest.raises(ttmlir.CompilationError, match=message) as found:
        ttmlir.compile(function, x)
    assert "test_devices.py:" in str(found.value)


def test_arguments_that_are_refused(mesh: Any) -> None:
    """Tensors are divided evenly."""
    with pytest.raises(ValueError, match="dimension 0 has 7 elements, which 2 devices do not"):
        ttmlir.compile(torch.relu, distribute_tensor(draw(7, 3), mesh, [Shard(0), COPY]))
    partial = DTensor.from_local(draw(7, 3), mesh, [COPY, torch.distributed.tensor.Partial()])
    with pytest.raises(ValueError, match=r"argument 0 is placed as Partial\(sum\)"):
        ttmlir.compile(torch.relu, partial)
    x = distribute_tensor(draw(8, 4), mesh, [Shard(0), COPY])
    with pytest.raises(ttmlir.CompilationError, match="target='kernels' has programs of one"):
        ttmlir.compile_programs({"main": ttmlir.Example(torch.relu, x)}, target="kernels")
    divided = nn.Linear(4, 8)
    parallelize_module(divided, mesh["model"], ColwiseParallel())
    with pytest.raises(
        ttmlir.CompilationError,
        match="give the module itself, and the arguments",
    ):
        ttmlir.compile(lambda x: divided(x) + 1, draw(2, 4))
    with pytest.raises(ValueError, match=r"torch\.distributed has 8 devices already"):
        ttmlir.virtual_devices(2).__enter__()


def test_images_and_weights_that_are_refused(mesh: Any) -> None:
    """Images in parts and uneven weights of a plan are refused at the user's line."""
    image = distribute_tensor(draw(2, 3, 5, 16), mesh, [COPY, Shard(3)])
    weight = distribute_tensor(draw(4, 3, 3, 3), mesh, [COPY, COPY])
    with pytest.raises(ttmlir.CompilationError, match="a convolution along dimension 3") as found:
        ttmlir.compile(lambda x, w: F.conv2d(x, w, padding=1), image, weight)
    assert "test_devices.py:" in str(found.value)
    uneven = parallelize_module(nn.Linear(4, 6), mesh["model"], ColwiseParallel())
    with pytest.raises(ttmlir.CompilationError, match="'weight': dimension 0 has 6") as found:
        ttmlir.compile(uneven, draw(2, 4))
    assert "test_devices.py:" in str(found.value)


def test_devices_that_are_gone() -> None:
    """Models are compiled where their devices are; what is compiled runs anywhere."""
    x = draw(8, 4)
    with ttmlir.virtual_devices(2):
        mesh = init_device_mesh("cpu", (2,), mesh_dim_names=("rows",))
        divided = distribute_tensor(x, mesh, [Shard(0)])
        compiled = ttmlir.compile(torch.relu, divided)
        plain = ttmlir.compile(nn.Linear(4, 3), torch.ones(2, 4))
    torch.testing.assert_close(compiled(x), torch.relu(x))
    torch.testing.assert_close(compiled(divided), torch.relu(x))
    assert plain(torch.ones(2, 4)).shape == (2, 3)
    with pytest.raises(ValueError, match="devices of a block"):
        ttmlir.compile(torch.relu, divided)
    with pytest.raises(ValueError, match=r"virtual_devices\(0\): there are from 1 to 1024"):
        ttmlir.virtual_devices(0).__enter__()
    with pytest.raises(ValueError, match=r"virtual_devices\('2'\): there are from 1 to 1024"):
        ttmlir.virtual_devices(cast("int", "2")).__enter__()
