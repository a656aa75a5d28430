"""What tosa's operations on whole tensors compute after conversion, against NumPy and torch."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running.pass_runner import executed, lowered
from samples.tosa_cases import MOVEMENTS, RNG, ZERO, A, program, real

from ttmlir.passes.tosa.convert_tosa_to_ttir import CONVERTED
from ttmlir.passes.tosa.convert_tosa_to_ttir_rules import ELEMENTWISE

PIPELINE = "tosa-to-ttnn-pipeline"
torch: Any = import_module("torch")
functional: Any = import_module("torch.nn.functional")


def _check(operation: str, inputs: list[np.ndarray], expected: Any) -> None:
    wanted = np.asarray(expected)
    text = program(operation, inputs, wanted)
    # In the spelling of today other rules hold for what is made, which is verified here.
    _ = lowered(text, "convert-tosa-to-ttir")
    (result,) = executed(text, inputs, PIPELINE)
    assert result.dtype == wanted.dtype
    assert result.shape == wanted.shape
    if wanted.dtype == np.float32:
        np.testing.assert_allclose(result, wanted, rtol=2e-5, atol=2e-5)
    else:
        np.testing.assert_array_equal(result, wanted)


_K = RNG.integers(0, 5, (3, 4)).astype(np.int32)
_UNIQUE = np.array([[3, 0], [1, 4], [2, 1]], np.int32)


def _scattered() -> np.ndarray:
    result = A.copy()
    for batch in range(3):
        for place, row in enumerate(_UNIQUE[batch]):
            result[batch, row] = -A[batch, place]
    return result


PRODUCTS: list[tuple[str, list[np.ndarray], Any]] = [
    ("%r = tosa.matmul %0, %1 : (T0, T1) -> R", [A, real(3, 33, 4)], None),
    (
        ZERO + "%r = tosa.matmul %0, %1, %z, %z : (T0, T1, tensor<1xf32>, tensor<1xf32>) -> R",
        [A, real(3, 33, 4)],
        None,
    ),
]


@pytest.mark.parametrize("case", MOVEMENTS, ids=lambda case: case[0].split("tosa.")[-1][:12])
def test_movements_and_reductions(case: tuple[str, list[np.ndarray], Any]) -> None:
    """Elements go where NumPy puts them."""
    _check(*case)


@pytest.mark.parametrize("case", PRODUCTS, ids=["attribute", "operands"])
def test_products(case: tuple[str, list[np.ndarray], Any]) -> None:
    """Products of batches of matrices."""
    operation, (a, b), _ = case
    _check(operation, [a, b], np.einsum("bij,bjk->bik", a, b))


def test_products_of_narrow_integers() -> None:
    """Sums have the width of the result."""
    a, b = (RNG.integers(-128, 128, shape).astype(np.int8) for shape in ((2, 3, 40), (2, 40, 5)))
    expected = np.einsum("bij,bjk->bik", a.astype(np.int32), b.astype(np.int32))
    _check("%r = tosa.matmul %0, %1 : (T0, T1) -> R", [a, b], expected)


def test_fully_connected() -> None:
    """Weights are transposed; the bias repeats."""
    a, w, b = real(5, 33), real(4, 33), real(4)
    _check("%r = tosa.fully_connected %0, %1, %2 : (T0, T1, T2) -> R", [a, w, b], a @ w.T + b)


def test_gather_and_scatter() -> None:
    """Rows are read and written by number, for each element of the batch."""
    rows = np.stack([A[batch][_K[batch]] for batch in range(3)])
    _check("%r = tosa.gather %0, %1 : (T0, T1) -> R", [A, _K], rows)
    _check(
        "%r = tosa.scatter %0, %1, %2 : (T0, T1, T2) -> R",
        [A, _UNIQUE, np.ascontiguousarray(-A[:, :2])],
        _scattered(),
    )


def _nchw(array: np.ndarray) -> Any:
    return torch.from_numpy(array).movedim(-1, 1)


def _nhwc(tensor: Any) -> np.ndarray:
    return np.ascontiguousarray(tensor.movedim(1, -1).numpy())


_WINDOWS = [
    ((0, 0, 0, 0), (1, 1), (1, 1)),
    ((1, 2, 0, 1), (2, 1), (1, 1)),
    ((2, 1, 1, 1), (1, 2), (2, 1)),
]


def _convolution(op: str, pad: Any, stride: Any, dilation: Any) -> str:
    lists = zip(("pad", "stride", "dilation"), (pad, stride, dilation), strict=True)
    attributes = ", ".join(
        f"{name} = array<i64: {', '.join(map(str, values))}>" for name, values in lists
    )
    return f"%r = tosa.{op} %0, %1, %2 {{{attributes}}} : (T0, T1, T2) -> R"


@pytest.mark.parametrize(("pad", "stride", "dilation"), _WINDOWS)
@pytest.mark.parametrize("bias", [7, 1])
def test_conv2d(pad: Any, stride: Any, dilation: Any, bias: int) -> None:
    """Convolutions with strides, dilation and padding of each side."""
    image, weight, offset = real(2, 9, 11, 3), real(7, 3, 2, 3), real(bias)
    top, bottom, left, right = pad
    padded = functional.pad(_nchw(image), (left, right, top, bottom))
    expected = functional.conv2d(padded, _nchw(weight), stride=stride, dilation=dilation)
    expected += torch.from_numpy(offset).reshape(1, -1, 1, 1)
    operation = _convolution("conv2d", pad, stride, dilation)
    _check(operation, [image, weight, offset], _nhwc(expected))


@pytest.mark.parametrize(("pad", "stride", "dilation"), _WINDOWS)
def test_depthwise_conv2d(pad: Any, stride: Any, dilation: Any) -> None:
    """Each channel has filters of its own."""
    image, weight, offset = real(2, 9, 11, 3), real(3, 2, 3, 2), real(6)
    top, bottom, left, right = pad
    padded = functional.pad(_nchw(image), (left, right, top, bottom))
    filters = torch.from_numpy(weight).permute(2, 3, 0, 1).reshape(6, 1, 3, 2)
    expected = functional.conv2d(
        padded, filters, torch.from_numpy(offset), stride=stride, dilation=dilation, groups=3
    )
    operation = _convolution("depthwise_conv2d", pad, stride, dilation)
    _check(operation, [image, weight, offset], _nhwc(expected))


def test_conv3d() -> None:
    """Volumes."""
    image, weight, offset = real(1, 5, 6, 7, 2), real(3, 2, 3, 2, 2), real(3)
    padded = functional.pad(_nchw(image), (1, 0, 0, 1, 1, 1))
    expected = functional.conv3d(
        padded, _nchw(weight), torch.from_numpy(offset), stride=(1, 2, 1), dilation=(1, 1, 2)
    )
    operation = _convolution("conv3d", (1, 1, 0, 1, 1, 0), (1, 2, 1), (1, 1, 2))
    _check(operation, [image, weight, offset], _nhwc(expected))


@pytest.mark.parametrize(
    ("out_pad", "stride"),
    [((0, 0, 0, 0), (1, 1)), ((1, 0, 0, 2), (2, 1)), ((-1, -2, -1, 0), (2, 3))],
)
def test_transpose_conv2d(out_pad: Any, stride: Any) -> None:
    """Every element of the image adds a filter to the output, which is padded or cut."""
    image, weight, offset = real(2, 4, 5, 3), real(7, 3, 2, 3), real(7)
    filters = torch.from_numpy(weight).permute(3, 0, 1, 2)
    full = functional.conv_transpose2d(_nchw(image), filters, stride=stride)
    top, bottom, left, right = out_pad
    expected = functional.pad(full, (left, right, top, bottom))
    expected += torch.from_numpy(offset).reshape(1, -1, 1, 1)
    operation = (
        "%r = tosa.transpose_conv2d %0, %1, %2 "
        f"{{out_pad = array<i64: {', '.join(map(str, out_pad))}>, "
        f"stride = array<i64: {', '.join(map(str, stride))}>}} : (T0, T1, T2) -> R"
    )
    _check(operation, [image, weight, offset], _nhwc(expected))


@pytest.mark.parametrize("pad", [(0, 0, 0, 0), (1, 1, 0, 0), (1, 0, 0, 1)])
def test_pools(pad: Any) -> None:
    """Padding is neither the largest element nor one of those that are averaged."""
    image = real(2, 8, 9, 3) - 3
    kernel, stride = (2, 3), (2, 1)
    top, bottom, left, right = pad
    margins = ((0, 0), (top, bottom), (left, right), (0, 0))
    expected: dict[str, np.ndarray] = {}
    for name, function in (("max", np.nanmax), ("avg", np.nanmean)):
        padded = np.pad(image, margins, constant_values=np.nan)
        windows = np.lib.stride_tricks.sliding_window_view(padded, kernel, axis=(1, 2))
        expected[name] = function(windows[:, :: stride[0], :: stride[1]], axis=(-2, -1))
    lists = (
        f"kernel = array<i64: 2, 3>, stride = array<i64: 2, 1>, "
        f"pad = array<i64: {', '.join(map(str, pad))}>"
    )
    _check(f"%r = tosa.max_pool2d %0 {{{lists}}} : (T0) -> R", [image], expected["max"])
    average = f"{{acc_type = f32, {lists}}}"
    _check(f"%r = tosa.avg_pool2d %0 {average} : (T0) -> R", [image], expected["avg"])
    later = (
        ZERO
        + f"%r = tosa.avg_pool2d %0, %z, %z {average} : (T0, tensor<1xf32>, tensor<1xf32>) -> R"
    )
    _check(later, [image], expected["avg"])


def test_every_rule_is_used() -> None:
    """Each operation occurs in this file, in that of quantized numbers or among the movements."""
    quantized = Path(__file__).with_name("test_tosa_quantized.py")
    text = "".join(path.read_text() for path in (Path(__file__), quantized))
    text += "".join(operation for operation, *_ in MOVEMENTS)
    rules = set(CONVERTED) - {*ELEMENTWISE, "tosa.const_shape", "tosa.identity"}
    assert not {name for name in rules if name.removeprefix("tosa.") not in text}
