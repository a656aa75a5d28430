"""What ttnn's gradients are: those of torch's own functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import torch
from oracles.ttnn_oracle import SHARDABLE, Oracle, between, draw
from torch.nn import functional

Range = tuple[float, float]
Function = Callable[..., Any]
One = Callable[[Any], Any]
Two = Callable[[Any, Any], Any]


def differentiate(
    function: Function, grad: torch.Tensor, *operands: torch.Tensor
) -> list[torch.Tensor]:
    """The gradients of operands, as torch's autograd computes them."""
    leaves = [each.detach().clone().requires_grad_() for each in operands]
    result = function(*leaves)
    if not result.requires_grad:
        return [torch.zeros_like(each) for each in leaves]
    return list(torch.autograd.grad(result, leaves, grad, materialize_grads=True))


def _oracle(
    function: Function,
    *ranges: Range,
    args: tuple[Any, ...] = (),
    keywords: Mapping[str, Any] = MappingProxyType({}),
) -> Oracle:
    """Gradients of a function of as many operands as there are ranges."""

    def expected(grad: torch.Tensor, *operands: torch.Tensor) -> list[torch.Tensor]:
        return differentiate(function, grad, *operands)

    def call(operation: Callable[..., Any], *given: Any) -> Any:
        return operation(*given, *args, **keywords)

    return Oracle(
        expected,
        between((-2, 2), *ranges),
        call,
        room=2.0,
        shapes=_SHAPES,
        memories=("dram", "block"),
    )


_SHAPES = (SHARDABLE, (3, 33, 70))
_SIGNED, _POSITIVE, _INNER = (-4.0, 4.0), (0.5, 5.0), (-0.9, 0.9)

_UNARY: dict[str, tuple[One, Range]] = {
    "abs": (torch.abs, _SIGNED),
    "acos": (torch.acos, _INNER),
    "acosh": (torch.acosh, (1.2, 9)),
    "asin": (torch.asin, _INNER),
    "asinh": (torch.asinh, _SIGNED),
    "assign": (torch.clone, _SIGNED),
    "atan": (torch.atan, _SIGNED),
    "atanh": (torch.atanh, _INNER),
    "ceil": (torch.ceil, _SIGNED),
    "cos": (torch.cos, _SIGNED),
    "cosh": (torch.cosh, _SIGNED),
    "deg2rad": (torch.deg2rad, (-180, 180)),
    "digamma": (torch.digamma, _POSITIVE),
    "erf": (torch.erf, (-2, 2)),
    "erfc": (torch.erfc, (-2, 2)),
    "erfinv": (torch.erfinv, _INNER),
    "exp": (torch.exp, _SIGNED),
    "exp2": (torch.exp2, _SIGNED),
    "expm1": (torch.expm1, _SIGNED),
    "fill": (lambda x: torch.fill(x, 3.0), _SIGNED),
    "fill_zero": (torch.zeros_like, _SIGNED),
    "floor": (torch.floor, _SIGNED),
    "frac": (torch.frac, _SIGNED),
    "gelu": (functional.gelu, (-3, 3)),
    "hardsigmoid": (functional.hardsigmoid, (-5, 5)),
    "hardswish": (functional.hardswish, (-5, 5)),
    "i0": (torch.special.i0, _SIGNED),
    "lgamma": (torch.lgamma, _POSITIVE),
    "log": (torch.log, _POSITIVE),
    "log10": (torch.log10, _POSITIVE),
    "log1p": (torch.log1p, _POSITIVE),
    "log2": (torch.log2, _POSITIVE),
    "log_sigmoid": (functional.logsigmoid, _SIGNED),
    "logit": (torch.logit, (0.1, 0.9)),
    "multigammaln": (lambda x: torch.special.multigammaln(x, 4), (2, 9)),
    "neg": (torch.neg, _SIGNED),
    "rad2deg": (torch.rad2deg, _SIGNED),
    "reciprocal": (torch.reciprocal, _POSITIVE),
    "relu": (torch.relu, _SIGNED),
    "relu6": (functional.relu6, (-2, 9)),
    "round": (torch.round, _SIGNED),
    "rsqrt": (torch.rsqrt, _POSITIVE),
    "selu": (functional.selu, _SIGNED),
    "sigmoid": (torch.sigmoid, _SIGNED),
    "sign": (torch.sign, _SIGNED),
    "silu": (functional.silu, _SIGNED),
    "sin": (torch.sin, _SIGNED),
    "sinh": (torch.sinh, _SIGNED),
    "softsign": (functional.softsign, _SIGNED),
    "sqrt": (torch.sqrt, _POSITIVE),
    "square": (torch.square, _SIGNED),
    "tan": (torch.tan, (-1, 1)),
    "tanh": (torch.tanh, (-2, 2)),
    "tanhshrink": (functional.tanhshrink, (0.5, 3)),
    "trunc": (torch.trunc, _SIGNED),
}

_PARAMETERS: dict[str, tuple[One, Range, tuple[Any, ...], dict[str, Any]]] = {
    "celu": (lambda x: functional.celu(x, 0.5), _SIGNED, (), {"alpha": 0.5}),
    "clamp": (lambda x: x.clamp(-1.03, 2.03), _SIGNED, (-1.03, 2.03), {}),
    "clip": (lambda x: x.clamp(max=2.03), _SIGNED, (), {"max": 2.03}),
    "div_no_nan": (lambda x: x / 0.75, _SIGNED, (0.75,), {}),
    "elu": (lambda x: functional.elu(x, 0.5), _SIGNED, (), {"alpha": 0.5}),
    "hardshrink": (lambda x: functional.hardshrink(x, 0.703), _SIGNED, (), {"lambd": 0.703}),
    "hardtanh": (
        lambda x: functional.hardtanh(x, -0.5, 1.03),
        _SIGNED,
        (),
        {"min": -0.5, "max": 1.03},
    ),
    "leaky_relu": (lambda x: functional.leaky_relu(x, 0.1), _SIGNED, (), {"negative_slope": 0.1}),
    "logiteps": (lambda x: torch.logit(x, 0.13), (0.02, 0.98), (), {"eps": 0.13}),
    "polygamma": (lambda x: torch.polygamma(2, x), _POSITIVE, (2,), {}),
    "pow": (lambda x: x**2.5, _POSITIVE, (2.5,), {}),
    "rdiv": (lambda x: 3.0 / x, _POSITIVE, (3.0,), {}),
    "rpow": (lambda x: 2.5**x, _SIGNED, (2.5,), {}),
    "softplus": (
        lambda x: functional.softplus(x, 2.0, 3.0),
        _SIGNED,
        (),
        {"beta": 2.0, "threshold": 3.0},
    ),
    "softshrink": (lambda x: functional.softshrink(x, 0.703), _SIGNED, (), {"lambd": 0.703}),
    "threshold": (lambda x: functional.threshold(x, 1.03, 5.0), _SIGNED, (1.03, 5.0), {}),
}

_BINARY: dict[str, tuple[Two, Range, Range, tuple[Any, ...]]] = {
    "add": (torch.add, _SIGNED, _SIGNED, ()),
    "addalpha": (lambda a, b: a + 0.5 * b, _SIGNED, _SIGNED, (0.5,)),
    "atan2": (torch.atan2, _SIGNED, _POSITIVE, ()),
    "bias_gelu": (lambda a, b: functional.gelu(a + b), (-1, 2), (-1, 1), ()),
    "div": (torch.div, _SIGNED, _POSITIVE, ()),
    "fmod": (torch.fmod, _SIGNED, (0.6, 2.4), ()),
    "hypot": (torch.hypot, _SIGNED, _POSITIVE, ()),
    "ldexp": (torch.ldexp, _SIGNED, _SIGNED, ()),
    "logaddexp": (torch.logaddexp, _SIGNED, _SIGNED, ()),
    "logaddexp2": (torch.logaddexp2, _SIGNED, _SIGNED, ()),
    "max": (torch.max, _SIGNED, _SIGNED, ()),
    "min": (torch.min, _SIGNED, _SIGNED, ()),
    "mul": (torch.mul, _SIGNED, _SIGNED, ()),
    "remainder": (torch.remainder, _SIGNED, (0.6, 2.4), ()),
    "rsub": (lambda a, b: b - a, _SIGNED, _SIGNED, ()),
    "squared_difference": (lambda a, b: (a - b) ** 2, _SIGNED, _SIGNED, ()),
    "sub": (torch.sub, _SIGNED, _SIGNED, ()),
    "subalpha": (lambda a, b: a - 0.5 * b, _SIGNED, _SIGNED, (0.5,)),
    "xlogy": (torch.xlogy, _SIGNED, _POSITIVE, ()),
}

_FOURS = ((2, 3, 33, 70), (1, 2, 5, 31))
_THREE = (_SIGNED, _POSITIVE, (0.5, 2.0))

GRADIENTS: dict[str, Oracle] = {
    **{f"{name}_bw": _oracle(function, low) for name, (function, low) in _UNARY.items()},
    **{
        f"{name}_bw": _oracle(function, low, args=args, keywords=keywords)
        for name, (function, low, args, keywords) in _PARAMETERS.items()
    },
    **{
        f"{name}_bw": _oracle(function, *ranges, args=args)
        for name, (function, *ranges, args) in _BINARY.items()
    },
    "addcdiv_bw": _oracle(lambda a, b, c: torch.addcdiv(a, b, c, value=0.5), *_THREE, args=(0.5,)),
    "addcmul_bw": _oracle(lambda a, b, c: torch.addcmul(a, b, c, value=0.5), *_THREE, args=(0.5,)),
    "lerp_bw": _oracle(torch.lerp, *_THREE),
    "concat_bw": Oracle(
        lambda grad, a, b: list(grad.split([a.shape[1], b.shape[1]], 1)),
        lambda shape: [
            draw((*shape[:1], 2 * shape[1], *shape[2:]), -2, 2),
            draw(shape, -2, 2, 1),
            draw(shape, -2, 2, 2),
        ],
        lambda operation, *given: operation(*given, 1),
        shapes=_FOURS,
        exact=True,
    ),
    "embedding_bw": Oracle(
        lambda index, table, grad: differentiate(
            lambda table: functional.embedding(index.flatten(), table), grad[0, 0], table
        )[0][None, None],
        lambda shape: [
            torch.as_tensor([[3, 0, 3, 1]] * (shape[0] // 4)),
            draw((5, shape[1]), -2, 2),
            draw((1, 1, *shape), -2, 2, 1),
        ],
        shapes=((96, 40), (8, 7)),
        typed_by=2,
    ),
    "prod_bw": Oracle(
        lambda grad, x: differentiate(lambda x: x.prod(2, keepdim=True), grad, x)[0],
        lambda shape: [draw((*shape[:2], 1, shape[3]), -2, 2), draw(shape, 0.5, 1.5, 1)],
        lambda operation, *given: operation(*given, dim=2),
        shapes=_FOURS,
        typed_by=1,
        room=2.0,
    ),
    "repeat_bw": Oracle(
        lambda grad, x: differentiate(lambda x: x.repeat(3, 1, 1, 1), grad, x)[0],
        lambda shape: [draw((3, *shape[1:]), -2, 2), draw((1, *shape[1:]), -2, 2, 1)],
        lambda operation, *given: operation(*given, [3, 1, 1, 1]),
        shapes=_FOURS,
        room=2.0,
    ),
    "where_bw": Oracle(
        lambda grad, p, a, b: [grad * (p != 0), grad * (p == 0)],
        lambda shape: [
            draw(shape, -2, 2),
            draw(shape, -1, 1, 1).round(),
            draw(shape, *_SIGNED, 2),
            draw(shape, *_SIGNED, 3),
        ],
        exact=True,
    ),
}
