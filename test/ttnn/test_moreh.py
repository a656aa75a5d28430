"""Operations for training that store in given tensors, and what `ttnn.moreh_*` refuses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from oracles.ttnn_gradient_oracles import differentiate
from oracles.ttnn_oracle import draw
from torch.nn import functional

from ttmlir import ttnn


def place(values: torch.Tensor, device: Any, dtype: Any = None) -> Any:
    """A tensor on the device, in tiles of bfloat16 unless something else is said."""
    return ttnn.from_torch(values, dtype or ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def read(tensor: Any) -> torch.Tensor:
    """The numbers of a tensor in 64 bits."""
    return ttnn.to_torch(tensor).double()


def check(found: Any, expected: torch.Tensor) -> None:
    """The same shape, and numbers but for two roundings to bfloat16."""
    assert list(found.shape) == list(expected.shape)
    limit = 2**-7 * (expected.abs() + expected.abs().max() / 32)
    assert bool(((read(found) - expected).abs() <= limit).all())


def test_names_of_the_module() -> None:
    """`ttnn.operations.moreh` has the names behind `moreh_`."""
    from ttmlir.ttnn.operations import moreh

    assert moreh.sum is ttnn.moreh_sum
    assert moreh.abs is ttnn.moreh_abs_pow
    assert moreh.SoftmaxBackwardOp.SOFTMIN.name == "SOFTMIN"
    with pytest.raises(AttributeError, match="no attribute 'sumo'"):
        moreh.sumo  # noqa: B018


def test_created(device: Any) -> None:
    """Sequences are a row of tiles or a vector of rows; integers lose the fraction of a number."""
    row = ttnn.moreh_arange(1, 8, 3, device, dtype=ttnn.float32)
    assert (row.shape, row.layout, row.to_list()) == ([1, 3], ttnn.TILE_LAYOUT, [[1, 4, 7]])
    rows = ttnn.moreh_arange(7, 1, -3, device, dtype=ttnn.int32, untilize_out=True)
    assert (rows.shape, rows.layout, rows.to_list()) == ([2], ttnn.ROW_MAJOR_LAYOUT, [7, 4])
    assert ttnn.moreh_full([1, 2], 3.5, device, dtype=ttnn.int32).to_list() == [[3, 3]]
    assert ttnn.moreh_full([1, 2], 3.5, device).to_list() == [[3.5, 3.5]]


def test_parts_by_number(device: Any) -> None:
    """Neighbouring dimensions become one, and in tiles keep their place."""
    x = draw((2, 3, 5, 7), -2, 2).bfloat16()
    first, second = (torch.tensor(each).int() for each in ([2, 0, 2, 1], [4, -1, 0, 3]))
    kept = [ttnn.Tensor(each.numpy(), ttnn.int32, device) for each in (first, second)]
    rows = ttnn.from_torch(x, device=device)
    expected = x[:, first.long(), second.long()]
    assert torch.equal(ttnn.to_torch(ttnn.moreh_getitem(rows, kept, [1, 2])), expected)
    tiles = ttnn.moreh_getitem(place(x, device), kept, [1, 2])
    assert torch.equal(ttnn.to_torch(tiles), expected[:, None])
    assert torch.equal(
        ttnn.to_torch(ttnn.moreh_getitem(place(x, device), kept[:1], [0 + 1])), x[:, first.long()]
    )


@pytest.mark.parametrize(("norm_type", "max_norm"), [(2.0, 3.0), (3.0, 50.0), (float("inf"), 1.0)])
def test_clipped_gradients(norm_type: float, max_norm: float, device: Any) -> None:
    """Gradients are scaled in place, as torch scales them."""
    parameters = [torch.nn.Parameter(torch.zeros(shape)) for shape in ((1, 1, 3, 5), (2, 1, 4, 7))]
    for number, each in enumerate(parameters):
        each.grad = draw(each.shape, -2, 2, number)
    tensors = [place(each.grad, device, ttnn.float32) for each in parameters]
    tensors = [ttnn.typecast(each, ttnn.bfloat16) for each in tensors]
    for each, tensor in zip(parameters, tensors, strict=True):
        each.grad = read(tensor).float()
    expected = torch.nn.utils.clip_grad_norm_(parameters, max_norm, norm_type)
    total = ttnn.moreh_clip_grad_norm(tensors, max_norm, norm_type)
    check(total, expected.double().reshape(1, 1))
    for each, tensor in zip(parameters, tensors, strict=True):
        assert each.grad is not None
        check(tensor, each.grad.double())


def test_gradients_of_products(device: Any) -> None:
    """Of both operands and a bias; what was broadcast is summed; those not required are None."""

    def prepare(*shapes: tuple[int, ...]) -> tuple[list[Any], list[torch.Tensor]]:
        tensors = [place(draw(shape, -2, 2, i), device) for i, shape in enumerate(shapes)]
        return tensors, [read(each) for each in tensors]

    def compare(found: Any, function: Any, values: list[torch.Tensor]) -> None:
        for each, expected in zip(found, differentiate(function, *values), strict=True):
            check(each, expected)

    tensors, values = prepare((1, 1, 1, 1), (1, 1, 1, 45), (1, 1, 1, 45))
    made = [ttnn.empty_like(each) for each in tensors[1:]]
    found = ttnn.moreh_dot_backward(*tensors, input_grad=made[0], other_grad=made[1])
    assert found[0] is made[0]
    compare(found, lambda a, b: (a * b).sum(-1, keepdim=True), values)
    assert ttnn.moreh_dot_backward(*tensors) == [None, None]

    tensors, values = prepare((3, 33, 40), (3, 33, 70), (3, 70, 40))
    made = [ttnn.empty_like(each) for each in tensors[1:]]
    found = ttnn.moreh_bmm_backward(*tensors, input_grad=made[0], mat2_grad=made[1])
    compare(found, torch.bmm, values)

    tensors, values = prepare((2, 3, 33, 40), (2, 3, 33, 70), (3, 70, 40))
    made = [ttnn.empty_like(each) for each in tensors[1:]]
    found = ttnn.moreh_matmul_backward(*tensors, input_a_grad=made[0], input_b_grad=made[1])
    compare(found, torch.matmul, values)
    first, second = ttnn.moreh_matmul_backward(
        *tensors, are_required_outputs=[False, True], input_b_grad=made[1]
    )
    assert (first, second) == (None, made[1])

    tensors, values = prepare((2, 33, 40), (2, 33, 70), (40, 70), (1, 40))
    made = [ttnn.empty_like(each) for each in tensors[1:]]
    outputs = dict(zip(("input_grad", "weight_grad", "bias_grad"), made, strict=True))
    found = ttnn.moreh_linear_backward(*tensors[:3], bias=tensors[3], **outputs)
    compare(found, lambda x, w, b: functional.linear(x, w) + b, values)


def test_gradients_of_layer_norm(device: Any) -> None:
    """By the mean and the reciprocal deviation that the norm itself stored."""
    shape, inner = (2, 3, 33, 45), (33, 45)
    grad, x = (place(draw(shape, -2, 2, i), device) for i in range(2))
    weight, bias = (place(draw(inner, 0.5, 2, i), device) for i in (2, 3))
    mean, rstd = (place(torch.zeros(2, 3), device, ttnn.float32) for _ in range(2))
    result, *_ = ttnn.moreh_layer_norm(x, 2, 1e-5, weight, bias, mean=mean, rstd=rstd)
    numbers = [read(each) for each in (x, weight, bias)]

    def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return functional.layer_norm(x, inner, w, b, 1e-5)

    check(result, norm(*numbers))
    check(mean, numbers[0].mean((2, 3)))
    outputs = {"input_grad": x, "gamma_grad": weight, "beta_grad": bias}
    given = {name: ttnn.empty_like(each) for name, each in outputs.items()}
    found = ttnn.moreh_layer_norm_backward(grad, x, mean, rstd, 2, gamma=weight, **given)
    for each, expected in zip(found, differentiate(norm, read(grad), *numbers), strict=True):
        check(each, expected)
    assert ttnn.moreh_layer_norm_backward(grad, x, mean, rstd, 2) == [None] * 3


def test_gradients_of_group_norm(device: Any) -> None:
    """By the mean and the reciprocal deviation that the norm itself returned."""
    shape = (2, 8, 9, 45)
    grad, x = (place(draw(shape, -2, 2, i), device) for i in range(2))
    weight, bias = (place(draw((1, 1, 1, 8), 0.5, 2, i), device) for i in (2, 3))
    numbers = [read(each) for each in (x, weight, bias)]
    result, mean, rstd = ttnn.moreh_group_norm(
        x, 2, 1e-5, weight, bias, are_required_outputs=[True, True, True]
    )

    def norm(x: torch.Tensor, w: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return functional.group_norm(x, 2, w.flatten(), b.flatten(), 1e-5)

    check(result, norm(*numbers))
    grouped = numbers[0].unflatten(1, (2, 4))
    check(mean, grouped.mean((2, 3, 4))[None, None])
    check(rstd, 1 / grouped.var((2, 3, 4), correction=0).sqrt()[None, None])
    found = ttnn.moreh_group_norm_backward(
        grad, x, mean, rstd, 2, gamma=weight, are_required_outputs=[True, True, True]
    )
    expected = differentiate(norm, read(grad), *numbers)
    # The statistics are rounded to bfloat16 before they are used.
    for each, wanted in zip(found, expected, strict=True):
        assert bool(((read(each) - wanted).abs() <= 0.02 * wanted.abs().max()).all())


@pytest.mark.parametrize("shape", [(5, 10), (3, 7, 4, 6)])
@pytest.mark.parametrize("reduction", ["sum", "mean", "none"])
def test_losses(shape: tuple[int, ...], reduction: str, device: Any) -> None:
    """Losses of weighted classes, some of which are ignored, and their gradients."""
    places = torch.arange(int(np.prod(shape)) // shape[1]).reshape(shape[0], *shape[2:]) % shape[1]
    places[0] = 2
    x, weight = place(draw(shape, -4, -1), device), place(draw((shape[1],), 0.5, 2, 1), device)
    target = ttnn.Tensor(places.int().numpy(), ttnn.int32, device, ttnn.TILE_LAYOUT)
    divisor = place(torch.zeros(1, 1), device)
    keywords = {"weight_tensor": weight, "ignore_index": 2}

    def loss(x: torch.Tensor) -> torch.Tensor:
        return functional.nll_loss(x, places, read(weight), ignore_index=2, reduction=reduction)

    expected = loss(read(x))
    found = ttnn.moreh_nll_loss(x, target, reduction, divisor_tensor=divisor, **keywords)
    check(found, expected if expected.ndim > 1 else expected.reshape(1, -1))
    grad = place(draw(tuple(expected.shape) or (1, 1), 0.5, 2, 2), device)
    output = ttnn.empty_like(x)
    if reduction == "none":
        made = ttnn.moreh_nll_loss_unreduced_backward(
            target, grad, input_grad_tensor=output, **keywords
        )
    else:
        made = ttnn.moreh_nll_loss_backward(
            target,
            grad,
            reduction == "mean",
            divisor_tensor=divisor,
            input_grad_tensor=output,
            **keywords,
        )
    assert made is output
    slope = read(grad).reshape(expected.shape)
    check(made, differentiate(loss, slope, read(x))[0])


@pytest.mark.parametrize("order", [0.0, float("inf"), float("-inf")])
def test_norms_of_no_powers(order: float, device: Any) -> None:
    """A count, the largest and the smallest size, and their gradients where none are equal."""
    values = torch.tensor([[[1.0, -5.0, 0.0], [4.0, 2.0, -3.0]]])
    x = place(values, device)
    norm = ttnn.moreh_norm(x, order, dim=2, keepdim=True)
    expected = values.norm(order, 2, keepdim=True)
    assert read(norm).tolist() == expected.tolist()
    grad = place(torch.tensor([[[2.0], [3.0]]]), device)
    found = ttnn.moreh_norm_backward(x, norm, grad, order, dim=2, keepdim=True)
    (wanted,) = differentiate(lambda x: x.norm(order, 2, keepdim=True), read(grad), values.double())
    assert read(found).tolist() == wanted.tolist()


def test_momentum_begins(device: Any) -> None:
    """The first momentum is the gradient; without momentum there is none."""
    p, g = (place(torch.tensor([[float(each)]]), device) for each in (3, 2))
    result, none = ttnn.moreh_sgd(p, g, lr=0.25, momentum_initialized=False)
    assert (result.to_list(), none) == ([[2.5]], None)
    result, buffer = ttnn.moreh_sgd(p, g, lr=0.25, momentum=0.5, momentum_initialized=False)
    assert (result.to_list(), buffer.to_list()) == ([[2.5]], [[2.0]])


def test_largest_moments(device: Any) -> None:
    """With amsgrad the step is divided by the largest second moment so far."""
    p, g, m, v, largest = (
        place(torch.full((1, 1), each), device) for each in (1.0, 2.0, 0.0, 0.0, 16.0)
    )
    result, _, second, kept = ttnn.moreh_adam(
        *(p, g, m, v),
        lr=1.0,
        beta1=0.5,
        beta2=0.5,
        eps=0.0,
        step=1,
        amsgrad=True,
        max_exp_avg_sq_in=largest,
    )
    # The moments are 1 and 2, of which the corrected are 2 and, with the largest, 32.
    assert (second.to_list(), kept.to_list()) == ([[2.0]], [[16.0]])
    assert result.to_list()[0][0] == pytest.approx(1 - 2 / 32**0.5, abs=2**-8)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "dim": (lambda x: ttnn.moreh_sum(x, -1), "dim=-1 is negative; dimensions are counted from 0"),
    "softmax": (lambda x: ttnn.moreh_softmax(x, -1), "dim=-1 is negative"),
    "divisor": (lambda x: ttnn.moreh_mean(x, dim=0, divisor=3), "use ttnn.moreh_sum and ttnn.div"),
    "type": (
        lambda x: ttnn.moreh_sum(ttnn.typecast(x, ttnn.float32), 0),
        "takes bfloat16 or int32, not DataType.FLOAT32",
    ),
    "p": (lambda x: ttnn.moreh_norm(x, "two"), "p is a number, not 'two'"),
    "shape of a gradient": (
        lambda x: ttnn.moreh_sum_backward(x, input=x, dim=0),
        r"output_grad has \[3, 5\]; it is Shape\(\[1, 5\]\), that of the result",
    ),
    "no shape": (lambda x: ttnn.moreh_sum_backward(x), "either input or input_grad is given"),
    "no shape of a mean": (
        lambda x: ttnn.moreh_mean_backward(x),
        "either input_grad_shape or input_grad is given",
    ),
    "product": (
        lambda x: ttnn.moreh_matmul(x, x),
        r"input and other have \[3, 5\] and \[3, 5\]: the columns of the first",
    ),
    "bias": (
        lambda x: ttnn.moreh_linear(x, x, bias=x),
        r"bias has Shape\(\[3, 5\]\); it is a row, Shape\(\[1, 3\]\)",
    ),
    "vectors": (lambda x: ttnn.moreh_dot(x, x), r"vectors as Shape\(\[1, 1, 1, n\]\)"),
    "given": (
        lambda x: ttnn.moreh_bmm_backward(
            ttnn.ones_like(ttnn.matmul(x, x, transpose_b=True)), x, ttnn.transpose(x, 0, 1)
        ),
        "input_grad is missing: give a tensor for it",
    ),
    "optimizer": (
        lambda x: ttnn.moreh_sgd(x, ttnn.transpose(x, 0, 1), momentum_initialized=False),
        "parameters, gradients and moments have one shape",
    ),
    "momentum": (
        lambda x: ttnn.moreh_sgd(x, x, momentum=0.5, momentum_initialized=True),
        "momentum_buffer_in is missing where momentum_initialized=True",
    ),
    "normalized": (lambda x: ttnn.moreh_layer_norm(x, 3), "normalized_dims=3 of a tensor of"),
    "gamma": (
        lambda x: ttnn.moreh_layer_norm(x, 1, gamma=x),
        r"gamma has Shape\(\[3, 5\]\); it has Shape\(\[5\]\)",
    ),
    "groups": (
        lambda x: ttnn.moreh_group_norm(ttnn.reshape(x, (1, 3, 1, 5)), 2),
        "num_groups=2 does not divide 3 channels",
    ),
    "classes": (
        lambda x: ttnn.moreh_nll_loss(x, ttnn.typecast(x, ttnn.int32), "sum"),
        r"target_tensor has Shape\(\[3, 5\]\); it has \[3\], a class for each place",
    ),
    "sequence": (
        lambda x: ttnn.moreh_arange(7, 1, 2, x.device()),
        "from 7 to 1 in steps of 2 there are no numbers",
    ),
    "block floats": (
        lambda x: ttnn.moreh_full([2], 1, x.device(), dtype=ttnn.bfloat8_b),
        "makes bfloat16, float32 or int32, not DataType.BFLOAT8_B; use ttnn.full",
    ),
    "no neighbours": (
        lambda x: ttnn.moreh_getitem(ttnn.reshape(x, (1, 3, 5)), [x, x], [0, 2]),
        r"index_dims=\[0, 2\] are no neighbours",
    ),
    "indices": (
        lambda x: ttnn.moreh_getitem(x, [x], [0]),
        r"indices are int32, not DataType.BFLOAT16; use ttnn.typecast\(indices, ttnn.int32\)",
    ),
    "patches": (
        lambda x: ttnn.moreh_fold(
            ttnn.to_layout(x, ttnn.ROW_MAJOR_LAYOUT), output_size=[3, 3], kernel_size=[2, 2]
        ),
        r"input has Shape\(\[3, 5\]\); of kernels of \[2, 2\] there are \[2, 2\] patches",
    ),
    "no gradients": (lambda x: ttnn.moreh_clip_grad_norm([], 1.0), "inputs is empty"),
    "infinite": (
        lambda x: ttnn.moreh_clip_grad_norm(
            [ttnn.full_like(x, float("inf"))], 1.0, error_if_nonfinite=True
        ),
        "the norm of the gradients is inf; error_if_nonfinite=False",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str, device: Any) -> None:
    """Messages say what is wrong and what to do."""
    call, message = REFUSED[name]
    with pytest.raises((RuntimeError, TypeError), match=message):
        call(place(torch.ones(3, 5), device))
