"""What ttnn's operations for training compute, whose names begin with `moreh_`: as torch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from oracles.ttnn_gradient_oracles import differentiate
from oracles.ttnn_oracle import Oracle, Shape, between, draw
from torch.nn import functional

_FOURS = ((2, 3, 33, 70), (1, 2, 5, 31))


def _oracle(expected: Any, drawn: Any, call: Any = None, **facts: Any) -> Oracle:
    """An operation on tiles of bfloat16, which accumulates in float32."""
    given = {"dtypes": ("bfloat16",), "layouts": ("TILE_LAYOUT",), "memories": ("dram", "l1")}
    return Oracle(expected, drawn, call, **{**given, "shapes": _FOURS, "room": 2.0, **facts})


def _kept(x: torch.Tensor, dims: tuple[int, ...], result: torch.Tensor) -> torch.Tensor:
    """A reduction that keeps the last two of its dimensions alone."""
    for dim in sorted(dims, reverse=True):
        if dim < x.ndim - 2:
            result = result.squeeze(dim)
    return result


def _reduction(function: Callable[..., torch.Tensor], *given: Any) -> Oracle:
    return _oracle(
        lambda x: _kept(x, (1, 3), function(x)),
        between((0.25, 2)),
        lambda operation, x: operation(x, *given, dim=[1, 3]),
    )


def _back(function: Callable[..., torch.Tensor], call: Any, *more: Any) -> Oracle:
    """The gradient of a reduction along dimension 1, by the reduction's gradient."""

    def drawn(shape: Shape) -> list[torch.Tensor]:
        return [draw((shape[0], *shape[2:]), -2, 2), draw(shape, 0.5, 2, 1)]

    return _oracle(lambda grad, x: differentiate(function, grad, x)[0], drawn, call)


def _adam(p: torch.Tensor, g: torch.Tensor, m: torch.Tensor, v: torch.Tensor, kind: Any) -> Any:
    """A step of torch's own optimizer, from moments after two others."""
    parameter = torch.nn.Parameter(p.clone())
    optimizer = kind([parameter], lr=0.125, betas=(0.5, 0.75), eps=1e-3, weight_decay=0.25)
    state = {"step": torch.tensor(2.0), "exp_avg": m.clone(), "exp_avg_sq": v.clone()}
    optimizer.state[parameter] = state
    parameter.grad = g.clone()
    optimizer.step()
    state = optimizer.state[parameter]
    return [parameter.detach(), state["exp_avg"], state["exp_avg_sq"]]


def _step(operation: Any, *tensors: Any) -> Any:
    keywords = {"lr": 0.125, "beta1": 0.5, "beta2": 0.75, "eps": 1e-3, "weight_decay": 0.25}
    *made, none = operation(*tensors, **keywords, step=3)
    assert none is None
    return made


def _sgd(p: torch.Tensor, g: torch.Tensor, b: torch.Tensor) -> list[torch.Tensor]:
    parameter = torch.nn.Parameter(p.clone())
    optimizer = torch.optim.SGD(
        [parameter], lr=0.125, momentum=0.5, dampening=0.0, weight_decay=0.25, nesterov=True
    )
    optimizer.state[parameter] = {"momentum_buffer": b.clone()}
    parameter.grad = g.clone()
    optimizer.step()
    return [parameter.detach(), optimizer.state[parameter]["momentum_buffer"]]


_SOFTMAX: dict[str, Callable[..., torch.Tensor]] = {
    "softmax": lambda x: x.softmax(2),
    "softmin": lambda x: functional.softmin(x, 2),
    "logsoftmax": lambda x: x.log_softmax(2),
}


def _from_output(function: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """The gradient of a softmax by its result, which says the operand up to a constant."""
    kind = next(name for name, each in _SOFTMAX.items() if each is function)
    inverse = {"softmax": torch.log, "softmin": lambda y: -y.log(), "logsoftmax": lambda y: y}

    def expected(output: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
        # What is given is rounded, so its sum is not quite 1: as the formulas of torch have it.
        total = {"logsoftmax": lambda: grad - output.exp() * grad.sum(2, keepdim=True)}.get(
            kind, lambda: output * (grad - (grad * output).sum(2, keepdim=True))
        )()
        exact = differentiate(function, grad, inverse[kind](output))[0]
        result = -total if kind == "softmin" else total
        assert torch.allclose(result, exact, atol=0.05)
        return result

    return expected


def _layer(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return functional.layer_norm(x, x.shape[2:], w, b, 1e-5)


def _group(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return functional.group_norm(x, 2, w.flatten(), b.flatten(), 1e-5)


_CHANNELS = ((2, 8, 33, 40), (1, 4, 5, 31))


def _weighted(shape: Shape, *, weights: Shape, count: int) -> list[torch.Tensor]:
    return [draw(shape, -2, 2), *(draw(weights, 0.5, 2, i) for i in range(1, count))]


MOREH: dict[str, Oracle] = {
    "moreh_sum": _reduction(lambda x: x.sum((1, 3), keepdim=True)),
    "moreh_mean": _reduction(lambda x: x.mean((1, 3), keepdim=True)),
    "moreh_norm": _reduction(lambda x: x.norm(3, (1, 3), keepdim=True), 3.0),
    "moreh_abs_pow": _oracle(
        lambda x: x.abs() ** 2.5, between((-2, 2)), lambda operation, x: operation(x, 2.5)
    ),
    "moreh_cumsum": _oracle(
        lambda x: x.cumsum(1), between((0, 2)), lambda operation, x: operation(x, 1)
    ),
    "moreh_cumsum_backward": _oracle(
        lambda grad: differentiate(lambda x: x.cumsum(1), grad, grad)[0],
        between((0, 2)),
        lambda operation, grad: operation(grad, 1),
    ),
    "moreh_sum_backward": _back(
        lambda x: x.sum(1), lambda operation, grad, x: operation(grad, input=x, dim=1)
    ),
    "moreh_mean_backward": _back(
        lambda x: x.mean(1),
        lambda operation, grad, x: operation(grad, dim=1, input_grad_shape=x.shape),
    ),
    "moreh_norm_backward": _oracle(
        lambda norm, grad, x: x.sign() * (x.abs() / norm[:, None]) ** 2 * grad[:, None],
        lambda shape: [
            draw((shape[0], *shape[2:]), 2, 4),
            draw((shape[0], *shape[2:]), -2, 2, 1),
            draw(shape, -2, 2, 2),
        ],
        lambda operation, norm, grad, x: operation(x, norm, grad, 3.0, dim=1),
        room=3.0,
    ),
    "moreh_dot": _oracle(
        lambda a, b: (a * b).sum(-1, keepdim=True),
        between((0, 2), (0, 2)),
        shapes=((1, 1, 1, 70), (1, 1, 1, 31)),
    ),
    "moreh_bmm": _oracle(
        torch.bmm, lambda shape: [draw((3, 33, 70), 0, 2), draw((3, 70, 40), 0, 2, 1)]
    ),
    "moreh_matmul": _oracle(
        lambda a, b, bias: a @ b.transpose(-1, -2) + bias,
        lambda shape: [
            draw((2, 3, 33, 70), 0, 2),
            draw((2, 1, 40, 70), 0, 2, 1),
            draw((1, 40), 0, 2, 2),
        ],
        lambda operation, a, b, bias: operation(a, b, transpose_other=True, bias=bias),
    ),
    "moreh_linear": _oracle(
        lambda x, w, bias: functional.linear(x, w, bias[0]),
        lambda shape: [draw((2, 33, 70), 0, 2), draw((40, 70), 0, 2, 1), draw((1, 40), 0, 2, 2)],
        lambda operation, x, w, bias: operation(x, w, bias=bias),
    ),
    "moreh_adam": _oracle(
        lambda *given: _adam(*given, torch.optim.Adam),
        between((-2, 2), (-2, 2), (-1, 1), (0, 1)),
        _step,
    ),
    "moreh_adamw": _oracle(
        lambda *given: _adam(*given, torch.optim.AdamW),
        between((-2, 2), (-2, 2), (-1, 1), (0, 1)),
        _step,
    ),
    "moreh_sgd": _oracle(
        _sgd,
        between((-2, 2), (-2, 2), (-1, 1)),
        lambda operation, *given: operation(
            *given,
            lr=0.125,
            momentum=0.5,
            weight_decay=0.25,
            nesterov=True,
            momentum_initialized=True,
        ),
    ),
    **{
        f"moreh_{name}": _oracle(
            function,
            between((-4, 4)),
            lambda operation, x: operation(x, 2),
            dtypes=("bfloat16", "float32", "bfloat8_b"),
        )
        for name, function in _SOFTMAX.items()
    },
    **{
        f"moreh_{name}_backward": _oracle(
            _from_output(function),
            lambda shape, function=function: [function(draw(shape, -2, 2)), draw(shape, -2, 2, 1)],
            lambda operation, *given: operation(*given, 2),
        )
        for name, function in _SOFTMAX.items()
    },
    "moreh_layer_norm": _oracle(
        lambda x, w, b: [_layer(x, w, b)],
        lambda shape: _weighted(shape, weights=shape[2:], count=3),
        lambda operation, x, w, b: operation(x, 2, 1e-5, w, b)[:1],
    ),
    "moreh_group_norm": _oracle(
        lambda x, w, b: [_group(x, w, b)],
        lambda shape: _weighted(shape, weights=(1, 1, 1, shape[1]), count=3),
        lambda operation, x, w, b: operation(x, 2, 1e-5, w, b)[:1],
        shapes=_CHANNELS,
    ),
    "moreh_full_like": _oracle(
        lambda x: torch.full_like(x, 3.5),
        between((-2, 2)),
        lambda operation, x: operation(x, 3.5),
        layouts=("TILE_LAYOUT", "ROW_MAJOR_LAYOUT"),
        exact=True,
    ),
    "moreh_fold": _oracle(
        lambda x: functional.fold(x, (5, 6), (2, 3), (1, 1), (1, 0), (2, 1)),
        lambda shape: [draw((2, 18, 12), -2, 2)],
        lambda operation, x: operation(
            x,
            output_size=[5, 6],
            kernel_size=[2, 3],
            padding=[1, 0],
            stride=[2, 1],
        ),
        layouts=("ROW_MAJOR_LAYOUT",),
    ),
}
"""Operations by name; those that take tensors for their results have tests of their own."""
