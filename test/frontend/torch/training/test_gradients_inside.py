"""Functions and modules of torch that compute gradients."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

import pytest
from xdsl.dialects.builtin import FileLineColLoc

import ttmlir
from ttmlir.frontend.torch import export, exporting
from ttmlir.frontend.torch.exporting import decompose
from ttmlir.frontend.torch.locations import source_location_of

torch: Any = import_module("torch")
nn: Any = import_module("torch.nn")
F: Any = import_module("torch.nn.functional")


def loss_of(w: Any, x: Any, y: Any) -> Any:
    """A loss."""
    return ((x @ w).tanh() - y).square().mean()


def grad(w: Any, x: Any, y: Any) -> Any:
    """By torch.func."""
    return torch.func.grad(loss_of)(w, x, y)


def several(w: Any, x: Any, y: Any) -> Any:
    """The gradients of several arguments, with the loss and more."""

    def with_more(w: Any, x: Any) -> Any:
        loss = loss_of(w, x, y)
        return loss, {"double": loss * 2}

    gradients, (loss, more) = torch.func.grad_and_value(with_more, argnums=(0, 1), has_aux=True)(
        w, x
    )
    return w - 0.1 * gradients[0], gradients[1], loss, more


def autograd(w: Any, x: Any, y: Any) -> Any:
    """By torch.autograd."""
    w = w.detach().requires_grad_()
    return torch.autograd.grad(loss_of(w, x, y), [w])


def backward(w: Any, x: Any, y: Any) -> Any:
    """By the attribute of the leaf."""
    w = w.detach().requires_grad_()
    loss_of(w, x, y).backward()
    with torch.no_grad():
        return w - 0.1 * w.grad


def second(w: Any, x: Any, y: Any) -> Any:
    """A gradient of a gradient's length."""
    return torch.func.grad(lambda w: torch.func.grad(loss_of)(w, x, y).square().sum())(w)


def along(w: Any, x: Any, y: Any) -> Any:
    """Forward mode."""
    return torch.func.jvp(lambda w: loss_of(w, x, y), (w,), (torch.ones_like(w),))


def curvature(w: Any, x: Any, y: Any) -> Any:
    """Forward over reverse."""
    return torch.func.hessian(lambda v: loss_of(v, x, y))(w)


def along_a_view(w: Any, x: Any, y: Any) -> Any:
    """Forward mode where point and direction are parts of one tensor."""
    return torch.func.jvp(lambda row: (row @ w).sin() - y[0], (x[1],), (x[2],))


def of_each_row(w: Any, x: Any, y: Any) -> Any:
    """Vectorized gradients."""
    return torch.func.vmap(torch.func.grad(loss_of), in_dims=(None, 0, 0))(w, x, y)


def linear(w: Any, x: Any, y: Any) -> Any:
    """A value, and a function that applies its derivative, twice."""
    value, derive = torch.func.linearize(lambda w, x: loss_of(w, x, y), w, x)
    return value, derive(w, x), derive(torch.ones_like(w), torch.zeros_like(x))


FUNCTIONS = (
    grad,
    several,
    autograd,
    backward,
    second,
    along,
    linear,
    curvature,
    along_a_view,
    of_each_row,
)


# torch's own linearize.
@pytest.mark.sampled(every=2)
@pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_ways_to_gradients(function: Any) -> None:
    """All ways that torch has."""
    torch.manual_seed(0)
    arguments = torch.randn(7, 3), torch.randn(5, 7), torch.randn(5, 3)
    compiled = ttmlir.compile(function, *arguments)
    expected = function(*arguments)
    torch.testing.assert_close(compiled(*arguments), expected, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(compiled.reference(*arguments), expected, rtol=1e-5, atol=1e-6)


def test_state_as_arguments() -> None:
    """`functional_call` with parameters in a dictionary, as steps of training are written."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))
    x, y = torch.randn(5, 3), torch.randn(5, 2)

    def step(parameters: Any, x: Any, y: Any) -> Any:
        def loss_of(parameters: Any) -> Any:
            return F.mse_loss(torch.func.functional_call(model, parameters, (x,)), y)

        gradients, loss = torch.func.grad_and_value(loss_of)(parameters)
        return {name: parameters[name] - 0.1 * gradients[name] for name in parameters}, loss

    ours = theirs = {name: each.detach() for name, each in model.named_parameters()}
    compiled = ttmlir.compile(step, theirs, x, y)
    for _ in range(3):
        ours, loss = compiled(ours, x, y)
        theirs, expected = step(theirs, x, y)
        torch.testing.assert_close((ours, loss), (theirs, expected), rtol=1e-5, atol=1e-6)


class Forces(nn.Module):
    """An energy and its negative gradient; counts its calls."""

    def __init__(self) -> None:
        """A parameter, and a buffer that changes."""
        super().__init__()
        self.layer = nn.Linear(3, 4)
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, places: Any) -> Any:
        """Energy and forces."""
        self.calls.add_(1)
        places = places.detach().requires_grad_()
        energy = self.layer(places).tanh().sum() * self.calls
        (slopes,) = torch.autograd.grad(energy, places, create_graph=True)
        return energy, -slopes


def test_module_with_gradients() -> None:
    """Parameters stay weights, changed buffers stay state; nothing is left in the module."""
    torch.manual_seed(0)
    model, places = Forces(), torch.randn(5, 3)
    compiled = ttmlir.compile(model, places)
    for _ in range(2):
        expected = compiled.reference(places)
        torch.testing.assert_close(compiled(places), expected, rtol=1e-5, atol=1e-6)
    assert model.calls == 0
    assert model.layer.weight.grad is None
    ours = ttmlir.compile(Forces(), places, weights="arguments")
    assert "layer.weight" in ours.source.signature.input_names


def test_module_that_a_function_closes_over() -> None:
    """`backward` leaves no gradients in it."""
    torch.manual_seed(0)
    model, x = nn.Linear(3, 2), torch.randn(5, 3)

    def slopes(x: Any) -> Any:
        model.zero_grad()
        model(x).square().sum().backward()
        return [parameter.grad for parameter in model.parameters()]

    compiled = ttmlir.compile(slopes, x)
    assert [parameter.grad for parameter in model.parameters()] == [None, None]
    torch.testing.assert_close(compiled(x), slopes(x), rtol=1e-5, atol=1e-5)


def test_optimizers_inside() -> None:
    """What changes a module outside of the program is refused, with the way that there is."""
    model, x = nn.Linear(3, 2), torch.randn(5, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def step(x: Any) -> Any:
        optimizer.zero_grad()
        loss = model(x).square().sum()
        loss.backward()
        optimizer.step()
        return loss

    before = model.weight.detach().clone()
    with pytest.raises(ttmlir.CompilationError, match=r"ttmlir\.train_step keeps them as state"):
        ttmlir.compile(step, x)
    torch.testing.assert_close(model.weight.detach(), before)


def test_decisions_on_numbers() -> None:
    """A branch on a number is refused, not frozen as the example has it."""

    def step(x: Any) -> Any:
        x = x.detach().requires_grad_()
        loss = x.sum() if x.sum() > 0 else -x.sum()
        return torch.autograd.grad(loss, x)

    with pytest.raises(ttmlir.CompilationError, match="torch cannot trace this"):
        ttmlir.compile(step, torch.ones(3))


def curve(x: Any, weight: Any) -> Any:
    """Three lines, each with a gradient of its own."""
    y = torch.tanh(x @ weight)
    y = y.exp()
    return y.square().mean()


@pytest.mark.parametrize("way", ["autograd", "func"])
def test_places_of_gradients(way: str) -> None:
    """Operations of a gradient are at the line of the operation that they are of."""

    def slope(x: Any, weight: Any) -> Any:
        if way == "func":
            return torch.func.grad(curve, 1)(x, weight)
        weight = weight.detach().requires_grad_()
        return torch.autograd.grad(curve(x, weight), weight)

    graph = decompose(export(slope, (torch.ones(3, 4), torch.ones(4, 5)))).graph
    first = inspect.getsourcelines(curve)[1]
    lines: dict[str, set[int]] = {}
    for node in graph.nodes:
        if node.op == "call_function":
            operation = str(node.target).split(".")[1]
            place = source_location_of(node)
            assert isinstance(place, FileLineColLoc)
            lines.setdefault(operation, set()).add(place.line.data - first)
    # The slope of a square is a product with the numbers, of tanh one with 1 - y * y.
    assert (lines["mm"], lines["sub"]) == ({2}, {2})
    assert (lines["exp"], lines["expand"]) == ({3}, {4})
    assert lines["mul"] == {2, 3, 4}


def test_places_after_a_gradient_that_fails() -> None:
    """torch notes that a gradient has begun; one that has failed leaves no note behind."""

    def fails(x: Any) -> Any:
        x = x.clone().requires_grad_()
        y = x.sin().exp()
        y.register_hook(lambda slope: slope.item())
        return torch.autograd.grad(y.cos().sum(), x)

    with pytest.raises(ttmlir.CompilationError, match="torch cannot trace this"):
        ttmlir.compile(fails, torch.ones(3))
    test_places_of_gradients("autograd")


def test_gradients_are_exported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither a trace before the export nor one after it, which decomposes, is needed."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("another trace")

    monkeypatch.setattr(exporting, "lower_gradients", refuse)
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", refuse)
    torch.manual_seed(0)
    model, x = (
        nn.Sequential(nn.Linear(3, 4), nn.LayerNorm(4), nn.ReLU(inplace=True)),
        torch.ones(5, 3),
    )

    def slopes(x: Any) -> Any:
        x = x.clone().requires_grad_()
        loss = model(x).square().sum()
        loss.backward()
        return x.grad, torch.func.grad(lambda x: model(x).sum())(x)

    compiled = ttmlir.compile(slopes, x)
    torch.testing.assert_close(compiled(x), slopes(x), rtol=1e-5, atol=1e-5)
