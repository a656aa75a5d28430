"""Operations `moreh_*` of ttnn on a mock card, for `collective_replays.py`.

    FACTORY_LOG=LOG LD_PRELOAD=factory_log.so python moreh_records.py DISABLED 1x1 NAME...

As in `collective_records.py` nothing is computed there. The log also has the numbers of operands,
and those that NumPy says of results.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from collective_records import MESH, log, record
from numpy.typing import NDArray

ttnn: Any = importlib.import_module("ttnn")
Array = NDArray[np.float32]
SHAPE: tuple[int, ...] = (2, 3, 50, 70)
WIDE = ttnn.init_device_compute_kernel_config(
    MESH.arch(), math_fidelity=ttnn.MathFidelity.HiFi4, math_approx_mode=False,
    fp32_dest_acc_en=True, packer_l1_acc=False,
)  # fmt: skip
KEPT = {"compute_kernel_config": WIDE}


@functools.cache
def _generator() -> np.random.Generator:
    return np.random.default_rng(11)


def draw(*shape: int) -> Array:
    """Numbers of a normal distribution, in bfloat16."""
    words = _generator().standard_normal(shape).astype(np.float32).view(np.uint32)
    return (words & 0xFFFF0000).view(np.float32)


def send(x: NDArray[Any]) -> Any:
    """A tensor in tiles: in bfloat16, or of integers of 32 bits."""
    whole = x.dtype.kind == "i"
    kind, zero = (ttnn.int32, 0) if whole else (ttnn.bfloat16, 0.0)
    tensor = ttnn.Tensor([zero] * x.size, list(x.shape), kind, ttnn.TILE_LAYOUT, MESH)
    log(
        "given", address=tensor.buffer_address(), shape=x.shape, integers=whole,
        numbers=x.ravel().tolist(),
    )  # fmt: skip
    return tensor


def room(*shape: int) -> Any:
    """A tensor for a result."""
    return send(np.zeros(shape, np.float32))


def expect(tensor: Any, numbers: Any) -> None:
    """Say what a tensor in bfloat16 is."""
    wanted = np.asarray(numbers, np.float32)
    assert wanted.size == np.prod(list(tensor.shape)), (wanted.shape, tensor.shape)
    log(
        "wanted", address=tensor.buffer_address(), shape=list(tensor.shape),
        numbers=wanted.ravel().tolist(),
    )  # fmt: skip


def soften(x: Array, axis: int) -> Array:
    """Softmax along an axis."""
    powers = np.exp(x - x.max(axis, keepdims=True))
    return powers / powers.sum(axis, keepdims=True)


def normalize(x: Array, axes: Sequence[int]) -> tuple[Array, Array, Array]:
    """Numbers with mean 0 and deviation 1; the means, and one divided by the deviations."""
    mean = x.mean(tuple(axes), keepdims=True)
    scale = 1 / np.sqrt(((x - mean) ** 2).mean(tuple(axes), keepdims=True) + 1e-5)
    return (x - mean) * scale, mean, scale


def _norm_backward(x: Array, grad: Array, axes: tuple[int, ...]) -> Array:
    """The gradient of what is normalized along axes."""
    normal, _, scale = normalize(x, axes)
    means = grad.mean(axes, keepdims=True), (grad * normal).mean(axes, keepdims=True)
    return (grad - means[0] - normal * means[1]) * scale


def _softmax(kind: str, axis: int, strategy: str) -> None:
    x, strategies = draw(*SHAPE), ttnn.operations.moreh.SoftmaxOpParallelizationStrategy
    sign = -1 if kind == "softmin" else 1
    found = getattr(ttnn, f"moreh_{kind}")(
        send(x), axis, strategy=getattr(strategies, strategy), **KEPT
    )
    wanted = soften(sign * x, axis)
    expect(found, np.log(wanted) if kind == "logsoftmax" else wanted)


def _softmax_backward(kind: str, axis: int, strategy: str) -> None:
    x, grad = draw(*SHAPE), draw(*SHAPE)
    strategies = ttnn.operations.moreh.SoftmaxBackwardOpParallelizationStrategy
    y = soften(x, axis)
    given = np.log(y) if kind == "logsoftmax" else y
    found = getattr(ttnn, f"moreh_{kind}_backward")(
        send(given), send(grad), axis, strategy=getattr(strategies, strategy), **KEPT
    )
    if kind == "logsoftmax":
        expect(found, grad - y * grad.sum(axis, keepdims=True))
    else:
        wanted = y * (grad - (y * grad).sum(axis, keepdims=True))
        expect(found, -wanted if kind == "softmin" else wanted)


def _reduce(kind: str, axis: int) -> None:
    x = draw(*SHAPE)
    found = getattr(ttnn, f"moreh_{kind}")(send(x), dim=axis, keepdim=True, **KEPT)
    expect(found, getattr(x, kind)(axis, keepdims=True))


def _reduce_backward(kind: str, axis: int) -> None:
    shape = list(SHAPE)
    shape[axis] = 1
    grad = draw(*shape)
    if kind == "sum":
        found = ttnn.moreh_sum_backward(
            send(grad), input=room(*SHAPE), dim=axis, keepdim=True, **KEPT
        )
    else:
        found = ttnn.moreh_mean_backward(
            send(grad), dim=axis, keepdim=True, input_grad_shape=list(SHAPE), **KEPT
        )
    scale = 1 if kind == "sum" else SHAPE[axis]
    expect(found, np.broadcast_to(grad, SHAPE) / scale)


def _norm(power: float, axis: int) -> None:
    x = draw(*SHAPE)
    found = ttnn.moreh_norm(send(x), power, dim=axis, keepdim=True, **KEPT)
    sizes = np.abs(x)
    if np.isinf(power):
        expect(found, sizes.max(axis, keepdims=True))
    else:
        expect(found, (sizes**power).sum(axis, keepdims=True) ** (1 / power))


def norm_backward() -> None:
    """The gradient of Euclidean lengths of rows."""
    x = draw(*SHAPE)
    length = np.sqrt((x**2).sum(-1, keepdims=True))
    grad = draw(*SHAPE[:3], 1)
    found = ttnn.moreh_norm_backward(
        send(x), send(length), send(grad), 2.0, dim=3, keepdim=True, **KEPT
    )
    expect(found, x * grad / length)


def _layer_norm(count: int, *, affine: bool, shape: Sequence[int] = SHAPE) -> None:
    x, axes = draw(*shape) + 1, tuple(range(4 - count, 4))
    weight, bias = draw(*shape[4 - count :]), draw(*shape[4 - count :])
    parts = {"gamma": send(weight), "beta": send(bias)} if affine else {}
    mean, scale = (room(*shape[: 4 - count]) for _ in range(2))
    found = ttnn.moreh_layer_norm(send(x), count, 1e-5, **parts, mean=mean, rstd=scale, **KEPT)
    wanted, means, scales = normalize(x, axes)
    expect(found[0], wanted * weight + bias if affine else wanted)
    if count > 1:
        # Of single rows, ttnn 0.81 leaves only the first of each tile, on Tenstorrent's simulator,
        # too.
        expect(found[1], means)
        expect(found[2], scales)


def _layer_norm_backward(count: int, *, affine: bool) -> None:
    x, grad, axes = draw(*SHAPE), draw(*SHAPE), tuple(range(4 - count, 4))
    weight = draw(*SHAPE[4 - count :])
    normal, mean, scale = normalize(x, axes)
    parts = {
        "gamma": send(weight), "gamma_grad": room(*weight.shape), "beta_grad": room(*weight.shape),
    }  # fmt: skip
    found = ttnn.moreh_layer_norm_backward(
        send(grad), send(x), send(mean.reshape(SHAPE[: 4 - count])),
        send(scale.reshape(SHAPE[: 4 - count])), count, input_grad=room(*SHAPE),
        **(parts if affine else {}), **KEPT,
    )  # fmt: skip
    expect(found[0], _norm_backward(x, grad * weight if affine else grad, axes))
    if affine:
        others = tuple(range(4 - count))
        expect(found[1], (grad * normal).sum(others))
        expect(found[2], grad.sum(others))


def _group_norm(shape: Sequence[int], *, affine: bool) -> None:
    groups, (batches, channels) = 2, shape[:2]
    x, weight, bias = draw(*shape) + 1, draw(1, 1, 1, channels), draw(1, 1, 1, channels)
    parts = {"gamma": send(weight), "beta": send(bias)} if affine else {}
    mean, scale = (room(1, 1, batches, groups) for _ in range(2))
    found = ttnn.moreh_group_norm(
        send(x), groups, 1e-5, **parts, are_required_outputs=(True, True, True), mean=mean,
        rstd=scale, **KEPT,
    )  # fmt: skip
    normal, means, scales = normalize(x.reshape(batches, groups, -1), (2,))
    wanted = normal.reshape(x.shape)
    by_channel = (1, channels, 1, 1)
    if affine:
        wanted = wanted * weight.reshape(by_channel) + bias.reshape(by_channel)
    expect(found[0], wanted)
    expect(found[1], means)
    expect(found[2], scales)


def group_norm_backward() -> None:
    """Gradients of two groups of channels, of weights and of biases."""
    shape, groups = (2, 4, 50, 70), 2
    x, grad, weight = draw(*shape), draw(*shape), draw(1, 1, 1, 4)
    normal, mean, scale = normalize(x.reshape(2, groups, -1), (2,))
    found = ttnn.moreh_group_norm_backward(
        send(grad), send(x), send(mean.reshape(1, 1, 2, groups)),
        send(scale.reshape(1, 1, 2, groups)), groups, are_required_outputs=(True, True, True),
        gamma=send(weight), input_grad=room(*shape), gamma_grad=room(1, 1, 1, 4),
        beta_grad=room(1, 1, 1, 4), **KEPT,
    )  # fmt: skip
    weighted = (grad * weight.reshape(1, 4, 1, 1)).reshape(2, groups, -1)
    expect(found[0], _norm_backward(x.reshape(2, groups, -1), weighted, (2,)))
    expect(found[1], (grad * normal.reshape(shape)).sum((0, 2, 3)))
    expect(found[2], grad.sum((0, 2, 3)))


def _adam(kind: str, *, largest: bool) -> None:
    x, grad, first = draw(*SHAPE), draw(*SHAPE), draw(*SHAPE)
    second, before = draw(*SHAPE) ** 2, draw(*SHAPE) ** 2
    rate, beta1, beta2, epsilon, decay, step = 0.125, 0.75, 0.875, 2.0**-10, 0.25, 3
    more = {"max_exp_avg_sq_in": send(before), "max_exp_avg_sq_out": room(*SHAPE)}
    found = getattr(ttnn, f"moreh_{kind}")(
        send(x), send(grad), send(first), send(second), lr=rate, beta1=beta1, beta2=beta2,
        eps=epsilon, weight_decay=decay, step=step, amsgrad=largest, param_out=room(*SHAPE),
        exp_avg_out=room(*SHAPE), exp_avg_sq_out=room(*SHAPE), **(more if largest else {}), **KEPT,
    )  # fmt: skip
    if kind == "adam":
        grad = grad + decay * x
    else:
        x = x - rate * decay * x
    first = beta1 * first + (1 - beta1) * grad
    second = beta2 * second + (1 - beta2) * grad**2
    sizes = np.maximum(second, before) if largest else second
    root = np.sqrt(sizes / (1 - beta2**step)) + epsilon
    expect(found[0], x - rate / (1 - beta1**step) * first / root)
    expect(found[1], first)
    expect(found[2], second)
    if largest:
        expect(found[3], sizes)


def _sgd(*, momentum: float, nesterov: bool, started: bool) -> None:
    x, grad, buffer = draw(*SHAPE), draw(*SHAPE), draw(*SHAPE)
    rate, dampening, decay = 0.125, 0.0 if nesterov else 0.25, 0.25
    found = ttnn.moreh_sgd(
        send(x), send(grad), send(buffer) if momentum else None, room(*SHAPE),
        room(*SHAPE) if momentum else None, rate, momentum, dampening, decay, nesterov,
        momentum_initialized=started, **KEPT,
    )  # fmt: skip
    grad = grad + decay * x
    if momentum:
        buffer = momentum * buffer + (1 - dampening) * grad if started else grad
        grad = grad + momentum * buffer if nesterov else buffer
        expect(found[1], buffer)
    expect(found[0], x - rate * grad)


def clip_grad_norm() -> None:
    """Gradients of two sizes, in place."""
    parts = draw(*SHAPE), draw(1, 1, 32, 64)
    sent = [send(each) for each in parts]
    total = ttnn.moreh_clip_grad_norm(sent, 2.0, 2.0, False, **KEPT)
    length = np.sqrt(sum((each**2).sum() for each in parts))
    expect(total, length)
    for tensor, each in zip(sent, parts, strict=True):
        expect(tensor, each * min(2 / (length + 1e-6), 1))


def bmm() -> None:
    """Products of three matrices."""
    a, b = draw(1, 3, 50, 70), draw(1, 3, 70, 40)
    expect(ttnn.moreh_bmm(send(a), send(b), **KEPT), a @ b)


def matmul_transposed() -> None:
    """Of one matrix with many, both transposed."""
    a, b = draw(2, 3, 70, 50), draw(1, 3, 40, 70)
    found = ttnn.moreh_matmul(send(a), send(b), transpose_input=True, transpose_other=True, **KEPT)
    expect(found, a.swapaxes(2, 3) @ b.swapaxes(2, 3))


def linear() -> None:
    """With a bias."""
    x, weight, bias = draw(*SHAPE), draw(40, 70), draw(1, 40)
    found = ttnn.moreh_linear(send(x), send(weight), bias=send(bias), **KEPT)
    expect(found, x @ weight.T + bias)


def linear_backward() -> None:
    """Gradients of operands, weights and biases."""
    grad, x, weight = draw(*SHAPE[:3], 40), draw(*SHAPE), draw(40, 70)
    found = ttnn.moreh_linear_backward(
        send(grad), send(x), send(weight), are_required_outputs=(True, True, True),
        bias=room(1, 40), input_grad=room(*SHAPE), weight_grad=room(40, 70),
        bias_grad=room(1, 40), **KEPT,
    )  # fmt: skip
    expect(found[0], grad @ weight)
    expect(found[1], np.einsum("abij,abik->jk", grad, x))
    expect(found[2], grad.sum((0, 1, 2)))


def dot() -> None:
    """A number of two rows."""
    a, b = draw(1, 1, 1, 70), draw(1, 1, 1, 70)
    expect(ttnn.moreh_dot(send(a), send(b), **KEPT), (a * b).sum())


def cumsum() -> None:
    """Sums along the second dimension."""
    x = draw(*SHAPE)
    expect(ttnn.moreh_cumsum(send(x), 1), x.cumsum(1))


def cumsum_backward() -> None:
    """From the end."""
    x = draw(*SHAPE)
    wanted = np.flip(np.flip(x, 0).cumsum(0), 0)
    expect(ttnn.moreh_cumsum_backward(send(x), 0), wanted)


def _nll_loss(shape: Sequence[int], reduction: str) -> None:
    x, classes = draw(*shape), shape[1]
    target = _generator().integers(0, classes, (shape[0], *shape[2:])).astype(np.int32)
    weight, ignored = np.abs(draw(classes)), int(target.flat[3])
    places = np.where(target == ignored, 0, weight[target])
    losses = -places * np.take_along_axis(x, target[:, None], 1)[:, 0]
    each = reduction == "none"
    more = {"divisor_tensor": room(1, 1)} if reduction == "mean" else {}
    found = ttnn.moreh_nll_loss(
        send(x), send(target), reduction=reduction, weight_tensor=send(weight.reshape(1, -1)),
        output_tensor=room(*(target.shape if each else (1, 1))), ignore_index=ignored,
        **more, **KEPT,
    )  # fmt: skip
    wanted = losses if each else losses.sum()
    expect(found, wanted / places.sum() if reduction == "mean" else wanted)


def nll_loss_backward() -> None:
    """The gradient of a sum."""
    shape = (2, 70, 5)
    target = _generator().integers(0, 70, (2, 5)).astype(np.int32)
    weight, grad = np.abs(draw(70)), draw(1, 1)
    found = ttnn.moreh_nll_loss_backward(
        send(target), send(grad), False, weight_tensor=send(weight.reshape(1, -1)),
        input_grad_tensor=room(*shape), ignore_index=-1, **KEPT,
    )  # fmt: skip
    wanted = np.zeros(shape, np.float32)
    np.put_along_axis(wanted, target[:, None], -weight[target][:, None] * grad[0, 0], 1)
    expect(found, wanted)


def abs_pow() -> None:
    """A power that is not whole."""
    x = draw(*SHAPE)
    expect(ttnn.moreh_abs_pow(send(x), 2.5, **KEPT), np.abs(x) ** 2.5)


_CASES: dict[str, Callable[[], None]] = {
    **{
        f"{kind}_{strategy.lower()}": lambda kind=kind, axis=axis, strategy=strategy: _softmax(
            kind, axis, strategy
        )
        for kind in ("softmax", "softmin", "logsoftmax")
        for axis, strategy in (
            (3, "SMALL_W"), (3, "LARGE_W"), (2, "SMALL_H"), (2, "LARGE_H"), (1, "LARGE_C"),
        )
    },
    **{
        f"{kind}_backward_{strategy.lower()}": (
            lambda kind=kind, axis=axis, strategy=strategy: _softmax_backward(kind, axis, strategy)
        )
        for kind in ("softmax", "softmin", "logsoftmax")
        for axis, strategy in (
            (3, "SMALL_W"), (3, "LARGE_W"), (2, "SMALL_H"), (2, "LARGE_H"), (1, "LARGE_C"),
        )
    },
    **{
        f"{kind}_{axis}": lambda kind=kind, axis=axis: _reduce(kind, axis)
        for kind in ("sum", "mean")
        for axis in range(4)
    },
    **{
        f"{kind}_backward_{axis}": lambda kind=kind, axis=axis: _reduce_backward(kind, axis)
        for kind in ("sum", "mean")
        for axis in range(4)
    },
    **{
        f"norm_{power}_{axis}": lambda power=power, axis=axis: _norm(power, axis)
        for power in (2.0, 2.5, float("inf"))
        for axis in (1, 2, 3)
    },
    **{
        f"layer_norm_{count}{'_affine' * affine}": (
            lambda count=count, affine=affine: _layer_norm(count, affine=affine)
        )
        for count in (1, 2, 3)
        for affine in (False, True)
    },
    "layer_norm_large": lambda: _layer_norm(1, affine=True, shape=(1, 1, 33, 9000)),
    **{
        f"layer_norm_backward_{count}{'_affine' * affine}": (
            lambda count=count, affine=affine: _layer_norm_backward(count, affine=affine)
        )
        for count in (1, 2)
        for affine in (False, True)
    },
    "group_norm": lambda: _group_norm((2, 4, 50, 70), affine=False),
    "group_norm_affine": lambda: _group_norm((2, 4, 50, 70), affine=True),
    "group_norm_large": lambda: _group_norm((1, 4, 256, 544), affine=True),
    **{
        f"{kind}{'_largest' * largest}": (
            lambda kind=kind, largest=largest: _adam(kind, largest=largest)
        )
        for kind in ("adam", "adamw")
        for largest in (False, True)
    },
    "sgd": lambda: _sgd(momentum=0.0, nesterov=False, started=False),
    "sgd_momentum": lambda: _sgd(momentum=0.5, nesterov=False, started=True),
    "sgd_nesterov": lambda: _sgd(momentum=0.5, nesterov=True, started=True),
    "sgd_start": lambda: _sgd(momentum=0.5, nesterov=False, started=False),
    **{
        f"nll_loss_{len(shape)}_{reduction}": (
            lambda shape=shape, reduction=reduction: _nll_loss(shape, reduction)
        )
        for shape in ((50, 70), (2, 70, 5), (2, 70, 5, 6))
        for reduction in ("sum", "mean", "none")
    },
}  # fmt: skip


if __name__ == "__main__":
    named = {name: each for name, each in globals().items() if callable(each)}
    record({**named, **_CASES})
