"""Reference functions and result shapes of the other definitions against loops and hand
computation."""

import itertools
import math

import numpy as np
import pytest

from ttmlir.optable import DEFINITIONS, definition


def call(mnemonic: str, *inputs: np.ndarray, **parameters: object) -> np.ndarray:
    """Evaluate a definition and hold the result against the shape that the definition announces."""
    entry = definition(mnemonic)
    result = entry.reference(np, *inputs, **parameters)
    if entry.result_shape is not None:
        shapes = (x.shape for x in inputs)
        assert tuple(result.shape) == entry.result_shape(*shapes, **parameters)
    return result


def numbered(*shape: int) -> np.ndarray:
    """Distinct numbers, so that any misplaced element shows."""
    return np.arange(math.prod(shape), dtype=np.float64).reshape(shape)


def test_definitions_are_unique_and_named_after_their_mnemonic() -> None:
    """The table is a dictionary by mnemonic."""
    assert all(name == entry.mnemonic for name, entry in DEFINITIONS.items())


@pytest.mark.parametrize(
    ("mnemonic", "function"),
    [("sum", sum), ("max", max), ("min", min), ("prod", math.prod)],
)
def test_reduction_over_one_dimension(mnemonic: str, function: object) -> None:
    """The middle dimension of three is the one that goes."""
    x = numbered(2, 3, 5) + 1
    assert callable(function)
    expected = [[function([x[i, j, k] for j in range(3)]) for k in range(5)] for i in range(2)]
    assert call(mnemonic, x, keep_dim=False, dim_arg=(1,)).tolist() == expected
    assert call(mnemonic, x, keep_dim=True, dim_arg=(-2,)).shape == (2, 1, 5)


def test_reduction_without_dimensions_takes_all() -> None:
    """An absent dim_arg reduces everything."""
    assert call("mean", numbered(2, 3), keep_dim=True, dim_arg=None).tolist() == [[2.5]]


def test_mean_of_nothing_is_nan_without_a_warning() -> None:
    """As in torch; pytest makes NumPy's warning about an empty slice an error."""
    for dtype in (np.float32, np.int32):
        found = call("mean", np.zeros((0, 3), dtype), keep_dim=True, dim_arg=(0,))
        assert found.shape == (1, 3)
        assert np.isnan(found).all()
    assert call("mean", np.zeros((0, 3), np.float32), keep_dim=False, dim_arg=(1,)).shape == (0,)


def test_movement() -> None:
    """Elements land where the definition says."""
    x = numbered(2, 3, 5)
    swapped = call("transpose", x, dim0=0, dim1=-1)
    permuted = call("permute", x, permutation=(2, 0, 1))
    for i, j, k in itertools.product(range(2), range(3), range(5)):
        assert swapped[k, j, i] == permuted[k, i, j] == x[i, j, k]
    assert call("concat", x, x[:, :1], dim=-2)[1, 3].tolist() == x[1, 0].tolist()
    assert call("reshape", x, shape=(5, -1)).shape == (5, 6)
    assert call("squeeze", x[:, :1], dim=-2).shape == (2, 5)
    assert call("unsqueeze", x, dim=-1).shape == (2, 3, 5, 1)


def test_slice_counts_from_the_end() -> None:
    """Begins, ends and steps per dimension; negative bounds count from the end."""
    x = numbered(4, 7)
    result = call("slice", x, begins=(1, -6), ends=(4, -1), step=(2, 3))
    assert result.tolist() == [[8.0, 11.0], [22.0, 25.0]]


def test_repeat_pad_and_broadcast() -> None:
    """Copies and constants around a small tensor."""
    x = numbered(1, 2)
    assert call("repeat", x, repeat_dimensions=(2, 2)).tolist() == [[0, 1, 0, 1]] * 2
    padded = call("pad", x, padding=(0, 1, 2, 0), value=9.0)
    assert padded.tolist() == [[9, 9, 0, 1], [9, 9, 9, 9]]
    assert call("broadcast", x, dimension=(0,), shape=(3, 2)).tolist() == [[0, 1]] * 3
    column = call("broadcast", numbered(3), dimension=(0,), shape=(3, 2))
    assert column.tolist() == [[0, 0], [1, 1], [2, 2]]


def test_arange_runs_along_its_dimension() -> None:
    """Numbers grow along the named dimension and repeat along the others."""
    result = definition("arange").reference(
        np, start=1, end=8, step=3, arange_dimension=0, shape=(3, 2)
    )
    assert result.tolist() == [[1, 1], [4, 4], [7, 7]]


def test_embedding_and_softmax_and_matmul() -> None:
    """Look-up by number, normalisation to 1 and batched products."""
    table = numbered(5, 3)
    assert call("embedding", np.array([[4.0, 0.0]]), table).tolist() == [[[12, 13, 14], [0, 1, 2]]]
    x = np.array([[1000.0, 1000.0 + math.log(3)]])
    np.testing.assert_allclose(call("softmax", x, dimension=1), [[0.25, 0.75]])
    a, b = numbered(2, 1, 3, 4), numbered(5, 4, 2)
    product = call("matmul", a, b)
    for n, m in itertools.product(range(2), range(5)):
        expected = sum(a[n, 0, 2, k] * b[m, k, 1] for k in range(4))
        assert product[n, m, 2, 1] == expected


def test_embedding_refuses_rows_that_are_not_there() -> None:
    """A negative number does not wrap around."""
    with pytest.raises(ValueError, match="Row numbers from -1 to 2 were looked up in a table of 2"):
        call("embedding", np.array([-1, 2]), numbered(2, 3))


WINDOWS = list(itertools.product((2, 3), (1, 2), (0, 1), (1, 2)))


@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), WINDOWS)
def test_conv2d_equals_loops(kernel: int, stride: int, padding: int, dilation: int) -> None:
    """Different numbers for height and width, groups and a bias."""
    rng = np.random.default_rng(3)
    n, h, w, c, out, groups = 2, 9, 11, 4, 6, 2
    kh, kw = kernel, kernel + 1
    x = rng.standard_normal((n, h, w, c))
    weight, bias = rng.standard_normal((out, c // groups, kh, kw)), rng.standard_normal((1, out))
    result = call_conv(x, weight, bias, stride, padding, dilation, groups)
    oh = (h + 2 * padding - dilation * (kh - 1) - 1) // stride + 1
    ow = (w - dilation * (kw - 1) - 1) // (stride + 1) + 1
    assert result.shape == (n, oh, ow, out)
    for b, y, z, o in ((0, 0, 0, 0), (1, oh - 1, ow - 1, 5), (1, oh // 2, ow // 2, 2)):
        total = bias[0, o]
        for i, j, k in itertools.product(range(kh), range(kw), range(c // groups)):
            row_, column = y * stride + i * dilation - padding, z * (stride + 1) + j * dilation
            if 0 <= row_ < h:
                channel = o // (out // groups) * (c // groups) + k
                total += x[b, row_, column, channel] * weight[o, k, i, j]
        assert result[b, y, z, o] == pytest.approx(total, rel=1e-12)


def call_conv(
    x: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray,
    stride: int,
    padding: int,
    dilation: int,
    groups: int,
) -> np.ndarray:
    """Strides and padding differ between height and width."""
    n, h, w, c = x.shape
    return definition("conv2d").reference(
        np,
        x,
        weight,
        bias,
        in_channels=c,
        out_channels=weight.shape[0],
        batch_size=n,
        input_height=h,
        input_width=w,
        kernel_height=weight.shape[2],
        kernel_width=weight.shape[3],
        stride_height=stride,
        stride_width=stride + 1,
        padding_height=padding,
        padding_width=0,
        dilation_height=dilation,
        dilation_width=dilation,
        groups=groups,
    )


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize(("kernel", "stride", "padding", "dilation"), WINDOWS)
def test_max_pool2d_equals_loops(
    kernel: int, stride: int, padding: int, dilation: int, ceil_mode: bool
) -> None:
    """Elements outside the image never win; ceil mode counts windows that start inside."""
    x = np.random.default_rng(5).standard_normal((2, 8, 11, 3)) - 3.0
    result = definition("max_pool2d").reference(
        np,
        x.reshape(1, 1, -1, 3),
        batch_size=2,
        input_height=8,
        input_width=11,
        channels=3,
        kernel_height=kernel,
        kernel_width=kernel,
        stride_height=stride,
        stride_width=stride,
        dilation_height=dilation,
        dilation_width=dilation,
        ceil_mode=ceil_mode,
        padding_height=padding,
        padding_width=padding,
    )
    span = dilation * (kernel - 1) + 1

    def starts(extent: int) -> list[int]:
        inside = range(-padding, extent, stride)
        return [s for s in inside if ceil_mode or s + span <= extent + padding]

    def starts_reaching(extent: int) -> list[int]:
        # The window before already reaches the end of the padding: no further one is needed.
        return [s for s in starts(extent) if s - stride + span < extent + padding]

    rows, columns = starts_reaching(8), starts_reaching(11)
    assert result.shape == (2, len(rows), len(columns), 3)
    for (a, y), (b, z) in itertools.product(enumerate(rows), enumerate(columns)):
        covered = [
            x[1, y + i, z + j, 2]
            for i, j in itertools.product(range(0, span, dilation), repeat=2)
            if 0 <= y + i < 8 and 0 <= z + j < 11
        ]
        assert result[1, a, b, 2] == max(covered)


CONV2D = {
    **{"in_channels": 4, "out_channels": 6, "groups": 2},
    **{"batch_size": 1, "input_height": 6, "input_width": 8},
    **{"kernel_height": 3, "kernel_width": 3, "stride_height": 1, "stride_width": 1},
    **{"padding_height": 0, "padding_width": 0, "dilation_height": 1, "dilation_width": 1},
}


@pytest.mark.parametrize(
    ("mnemonic", "shapes", "parameters", "message"),
    [
        ("sum", [(2, 3)], {"keep_dim": True, "dim_arg": (2,)}, "dimension 2 is out of range"),
        ("sum", [(2, 3)], {"keep_dim": True, "dim_arg": (0, -2)}, "must differ"),
        ("transpose", [(2, 3)], {"dim0": 0, "dim1": 5}, "Dimension 1 attribute must be within"),
        ("slice", [(2,)], {"begins": (0,), "ends": (3,), "step": (1,)}, "within its extent 2"),
        ("slice", [(2,)], {"begins": (0,), "ends": (2,), "step": (0,)}, "must be positive"),
        ("slice", [(2,)], {"begins": (), "ends": (2,), "step": (1,)}, "one entry for each"),
        ("repeat", [(2, 3)], {"repeat_dimensions": (2,)}, "one entry for each of the 2"),
        ("repeat", [(2,)], {"repeat_dimensions": (0,)}, "must be positive"),
        ("permute", [(2, 3)], {"permutation": (1, 1)}, "exactly once"),
        ("pad", [(2,)], {"padding": (1,), "value": 0.0}, "two entries for each of the 1"),
        ("pad", [(2,)], {"padding": (-1, 0), "value": 0.0}, "must not be negative"),
        ("concat", [], {"dim": 0}, "requires at least one input"),
        ("concat", [(2, 3)], {"dim": -3}, "Invalid dimension -3 for concatenation"),
        ("concat", [(2, 3), (2, 3, 1)], {"dim": 1}, "must have the same rank"),
        ("concat", [(2, 3), (5, 4)], {"dim": -2}, "except for dimension 0"),
        ("reshape", [(4, 3)], {"shape": (-1, 5)}, "do not multiply to the total number"),
        ("reshape", [(4, 3)], {"shape": (-1, -1, 2)}, "at most one -1"),
        ("reshape", [(4, 3)], {"shape": (-2, -6)}, "must be positive except"),
        ("reshape", [(4, 3)], {"shape": (-1, 0)}, "must be positive except"),
        ("reshape", [(4, 3)], {"shape": (2, 7)}, "the same number of elements"),
        ("squeeze", [(2, 1)], {"dim": 2}, "Invalid dimension 2 for squeezing"),
        ("squeeze", [(2, 1)], {"dim": -2}, "Dimension 0 in the input tensor must be 1"),
        ("unsqueeze", [(2, 3)], {"dim": 3}, "within the bounds of the input"),
        ("softmax", [(2, 3)], {"dimension": -3}, "within the bounds of the input"),
        ("embedding", [(2, 3), (7, 5, 2)], {}, "Weight must be a 2D tensor"),
        ("matmul", [(3,), (3, 2)], {}, "Input A must be at least a 2D"),
        ("matmul", [(2, 3), (3,)], {}, "Input B must be at least a 2D"),
        ("matmul", [(2, 3), (4, 2)], {}, "matching inner dimensions"),
        ("matmul", [(2, 2, 3), (3, 3, 2)], {}, "not broadcast compatible"),
        *(
            ("conv2d", [(1, 1, 48, 4), (6, 2, 3, 3)], {**CONV2D, name: value}, message)
            for name, value, message in (
                ("groups", 0, "^4 input and 6 output channels cannot be split into 0 groups$"),
                ("in_channels", 5, "^5 input and 6 output channels cannot be split into 2 groups$"),
                ("out_channels", 7, "^4 input and 7 output channels cannot be split into 2 group"),
                ("groups", 1, "^weight is 6x2x3x3; expected 6x4x3x3$"),
                ("kernel_width", 2, "^weight is 6x2x3x3; expected 6x2x3x2$"),
            )
        ),
        (
            "conv2d",
            [(1, 1, 48, 5), (6, 2, 3, 3)],
            CONV2D,
            "^an image of 1x6x8x4 does not fit an input of 1x1x48x5$",
        ),
        (
            "conv2d",
            [(1, 1, 48, 4), (6, 2, 3, 3), (1, 1, 1, 5)],
            CONV2D,
            "^bias is 1x1x1x5; expected 6 elements$",
        ),
    ],
)
def test_result_shape_says_why_not(
    mnemonic: str, shapes: list[tuple[int, ...]], parameters: dict[str, object], message: str
) -> None:
    """Each condition has its own message."""
    shape_of = definition(mnemonic).result_shape
    assert shape_of is not None
    with pytest.raises(ValueError, match=message):
        shape_of(*shapes, **parameters)


@pytest.mark.parametrize(
    ("method", "values", "expected"),
    [
        ("max", [False, True, False, False], [False, True, True, False, False]),
        ("min", [True, False, True, True], [True, False, False, True, True]),
        ("or", [False, True, False, False], [False, True, True, False, False]),
        ("and", [True, False, True, True], [True, False, False, True, True]),
        ("max", np.array([-5, -7, -6, -9], np.int8), [-5, -5, -6, -6, -9]),
        ("min", np.array([5, 7, 6, 9], np.uint8), [5, 5, 6, 6, 9]),
        ("max", [-5.0, -7.0, -6.0, -9.0], [-5, -5, -6, -6, -9]),
        ("min", [5.0, 7.0, 6.0, 9.0], [5, 5, 6, 6, 9]),
        ("sum", [1.0, 2.0, 3.0, 4.0], [1, 3, 5, 7, 4]),
        ("product", [1.0, 2.0, 3.0, 4.0], [1, 2, 6, 12, 4]),
    ],
)
def test_padding_changes_no_result_of_pooling(
    method: str, values: list[float], expected: list[float]
) -> None:
    """Windows of two, of which the first and the last have one number only."""
    image = np.asarray(values)
    found = call(
        "pooling",
        image,
        pooling_method=method,
        window_dimensions=(2,),
        window_strides=(1,),
        base_dilations=(1,),
        window_dilations=(1,),
        padding=(1, 1),
    )
    assert found.tolist() == expected
    assert found.dtype == image.dtype
