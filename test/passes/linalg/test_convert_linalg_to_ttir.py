"""What linalg, tensor and arith compute after conversion, against NumPy.

Inputs are those of the tests of tosa, which mlir-opt lowers to linalg, and text by hand.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from oracles.mlir_opt import mlir_opt
from running.pass_runner import executed, printed
from samples.tosa_cases import MOVEMENTS, program, real

from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.optable.linalg import CONTRACTIONS, CONVOLUTIONS, DEPTHWISE, ELEMENTWISE, POOLINGS

PIPELINE = "linalg-to-ttnn-pipeline"
_LOWERING = (
    "--pass-pipeline=builtin.module(func.func(tosa-optional-decompositions,tosa-infer-shapes,"
    "tosa-make-broadcastable,tosa-to-linalg-named,tosa-layerwise-constant-fold,"
    "tosa-make-broadcastable,tosa-to-linalg,tosa-to-arith,tosa-to-tensor),canonicalize)"
)


def _compare(text: str, inputs: list[np.ndarray], expected: Any, tolerance: float = 2e-5) -> None:
    (result,) = executed(text, inputs, PIPELINE)
    wanted = np.asarray(expected)
    assert result.shape == wanted.shape
    if wanted.dtype == np.float32:
        np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)
    else:
        np.testing.assert_array_equal(result, wanted)


_MLIR_19 = [
    case
    for case in MOVEMENTS
    if "tosa.shape" not in case[0]
    and "perms" not in case[0]
    and "nan_mode" not in case[0]
    and "reduce_product" not in case[0]
]


@pytest.mark.parametrize("case", _MLIR_19, ids=lambda case: case[0].split("tosa.")[-1][:12])
def test_lowered_movements_and_reductions(case: tuple[str, list[np.ndarray], Any]) -> None:
    """What mlir-opt makes of tosa's movements and reductions computes the same."""
    operation, inputs, expected = case
    text = program(operation, inputs, np.asarray(expected))
    _compare(mlir_opt(text, _LOWERING), inputs, expected)


_PRODUCTS = [
    (
        "%r = tosa.matmul %0, %1 : (T0, T1) -> R",
        [real(3, 5, 33), real(3, 33, 4)],
        lambda a, b: a @ b,
    ),
    (
        "%r = tosa.fully_connected %0, %1, %2 : (T0, T1, T2) -> R",
        [real(5, 33), real(4, 33), real(4)],
        lambda a, w, b: a @ w.T + b,
    ),
]


@pytest.mark.parametrize("case", _PRODUCTS, ids=["matmul", "fully_connected"])
def test_lowered_products(case: Any) -> None:
    """What mlir-opt makes of products computes the same."""
    operation, inputs, oracle = case
    expected = oracle(*inputs)
    _compare(mlir_opt(program(operation, inputs, expected), _LOWERING), inputs, expected)


_WINDOWS = [
    (
        "%r = tosa.conv2d %0, %1, %2 {pad = array<i64: 1, 2, 0, 1>, stride = array<i64: 2, 1>, "
        "dilation = array<i64: 1, 2>} : (T0, T1, T2) -> R",
        [real(2, 9, 11, 3), real(7, 3, 2, 3), real(7)],
    ),
    (
        "%r = tosa.depthwise_conv2d %0, %1, %2 {pad = array<i64: 1, 0, 0, 1>, "
        "stride = array<i64: 1, 2>, dilation = array<i64: 2, 1>} : (T0, T1, T2) -> R",
        [real(2, 9, 11, 3), real(3, 2, 3, 2), real(6)],
    ),
    (
        "%r = tosa.conv3d %0, %1, %2 {pad = array<i64: 1, 1, 0, 1, 0, 0>, "
        "stride = array<i64: 1, 2, 1>, dilation = array<i64: 1, 1, 2>} : (T0, T1, T2) -> R",
        [real(1, 5, 6, 7, 2), real(3, 2, 3, 2, 2), real(3)],
    ),
    (
        "%r = tosa.max_pool2d %0 {kernel = array<i64: 2, 3>, stride = array<i64: 2, 1>, "
        "pad = array<i64: 1, 0, 0, 1>} : (T0) -> R",
        [real(2, 9, 9, 3)],
    ),
]
_SHAPES = [(2, 5, 10, 7), (2, 6, 6, 6), (1, 6, 3, 5, 3), (2, 5, 8, 3)]


@pytest.mark.parametrize("number", range(len(_WINDOWS)), ids=["conv", "depthwise", "3d", "pool"])
def test_lowered_windows(number: int) -> None:
    """What mlir-opt makes of windows computes what tosa's own conversion does.

    The tests of tosa compare that with torch.
    """
    operation, inputs = _WINDOWS[number]
    text = program(operation, inputs, np.zeros(_SHAPES[number], np.float32))
    (expected,) = executed(text, inputs, "tosa-to-ttnn-pipeline")
    _compare(mlir_opt(text, _LOWERING), inputs, expected)


def _type(shape: tuple[int, ...], element: str = "f32") -> str:
    return f"tensor<{'x'.join((*map(str, shape), element))}>"


def _named(
    op: str, shapes: list[tuple[int, ...]], result: tuple[int, ...], attributes: str = ""
) -> str:
    """A function of one named operation; its last operand is what it begins with."""
    types = [_type(shape) for shape in shapes]
    arguments = ", ".join(
        f"%{number}: {type}" for number, type in enumerate([*types, _type(result)])
    )
    inputs = ", ".join(f"%{number}" for number in range(len(types)))
    return (
        f"func.func @f({arguments}) -> {_type(result)} {{\n"
        f"%r = linalg.{op} {attributes} ins({inputs} : {', '.join(types)}) "
        f"outs(%{len(types)} : {_type(result)}) -> {_type(result)}\n"
        f"return %r : {_type(result)}\n}}"
    )


_EINSUMS = {
    "batch_matmul": ("bmk,bkn->bmn", (3, 5, 33), (3, 33, 4)),
    "batch_matmul_transpose_a": ("bkm,bkn->bmn", (3, 33, 5), (3, 33, 4)),
    "batch_matmul_transpose_b": ("bmk,bnk->bmn", (3, 5, 33), (3, 4, 33)),
    "batch_matvec": ("bmk,bk->bm", (3, 5, 33), (3, 33)),
    "batch_mmt4d": ("bmkij,bnklj->bmnil", (2, 3, 4, 2, 5), (2, 6, 4, 3, 5)),
    "batch_reduce_matmul": ("bmk,bkn->mn", (3, 5, 33), (3, 33, 4)),
    "batch_vecmat": ("bk,bkn->bn", (3, 33), (3, 33, 4)),
    "dot": ("k,k->", (33,), (33,)),
    "matmul": ("mk,kn->mn", (5, 33), (33, 4)),
    "matmul_transpose_a": ("km,kn->mn", (33, 5), (33, 4)),
    "matmul_transpose_b": ("mk,nk->mn", (5, 33), (4, 33)),
    "matvec": ("mk,k->m", (5, 33), (33,)),
    "mmt4d": ("mkij,nklj->mnil", (3, 4, 2, 5), (6, 4, 3, 5)),
    "vecmat": ("k,kn->n", (33,), (33, 4)),
}


def test_named_products() -> None:
    """Products of named dimensions are added to what the result begins with."""
    assert set(_EINSUMS) == set(CONTRACTIONS)
    for op, (letters, *shapes) in _EINSUMS.items():
        a, b = (real(*shape) for shape in shapes)
        product = np.einsum(letters, a, b)
        init = real(*product.shape)
        _compare(_named(op, shapes, product.shape), [a, b, init], product + init)


_FUNCTIONS: dict[str, Any] = {
    "abs": np.abs,
    "add": np.add,
    "ceil": np.ceil,
    "copy": lambda x: x,
    "div": np.divide,
    "erf": np.vectorize(math.erf, otypes=[np.float32]),
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "max": np.maximum,
    "min": np.minimum,
    "mul": np.multiply,
    "negf": np.negative,
    "powf": np.power,
    "reciprocal": lambda x: 1 / x,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
    "square": np.square,
    "sub": np.subtract,
    "tanh": np.tanh,
}


def test_named_elementwise_operations() -> None:
    """Each named elementwise operation is that of NumPy."""
    assert set(_FUNCTIONS) | {"select"} == set(ELEMENTWISE)
    shape = (3, 37)
    for op, function in _FUNCTIONS.items():
        count = 2 if isinstance(function, np.ufunc) and function.nin == 2 else 1
        inputs = [np.abs(real(*shape)) + 0.1 for _ in range(count)]
        text = _named(op, [shape] * count, shape)
        _compare(text, [*inputs, real(*shape)], function(*inputs).astype(np.float32))


_IMAGE_EXTENTS = {"b": 2, "f": 3, "0": 7, "1": 8, "2": 5}
_WINDOW_EXTENTS = {"0": 3, "1": 2, "2": 2, "i": 3, "o": 4, "c": 3, "m": 2}


def _windowed(image: np.ndarray, dims: str, extents: list[int], stride: int) -> np.ndarray:
    """The windows of an image; the image's dimensions come first, spatial ones as positions."""
    axes = [dims.index(str(number)) for number in range(len(extents))]
    view = np.lib.stride_tricks.sliding_window_view(image, extents, axis=axes)
    steps = tuple(slice(None, None, stride if dim.isdigit() else 1) for dim in dims)
    return view[steps]


def _strides(count: int, stride: int) -> str:
    numbers = f"dense<{stride}> : tensor<{count}xi64>"
    return f"{{dilations = dense<1> : tensor<{count}xi64>, strides = {numbers}}}"


@pytest.mark.parametrize("op", [*CONVOLUTIONS, *DEPTHWISE])
def test_named_convolutions(op: str) -> None:
    """Convolutions of every order of dimensions."""
    dims, weights = {**CONVOLUTIONS, **DEPTHWISE}[op]
    image = real(*(_IMAGE_EXTENTS[dim] for dim in dims))
    weight = real(*(_WINDOW_EXTENTS[dim] for dim in weights))
    count = len(dims) - 2
    stride = 2 if count == 1 else 1
    view = _windowed(image, dims, [_WINDOW_EXTENTS[str(n)] for n in range(count)], stride)
    # Positions are capital letters: 0 is at place A, 1 at place B.
    spatial = {str(number): "ABC"[number] for number in range(count)}
    taps = {str(number): "xyz"[number] for number in range(count)}
    channel = "c" if op.startswith("depthwise") else "i"
    seen = "".join(spatial.get(dim, channel if dim == "f" else dim) for dim in dims)
    filters = "".join(taps.get(dim, dim) for dim in weights)
    outer = channel if channel == "c" else "o"
    result = "".join(spatial.get(dim, outer if dim == "f" else dim) for dim in dims)
    result += "m" if "m" in weights else ""
    letters = f"{seen}{''.join(taps.values())},{filters}->{result}"
    product = np.einsum(letters, view, weight).astype(np.float32)
    init = real(*product.shape)
    text = _named(op, [image.shape, weight.shape], product.shape, _strides(count, stride))
    _compare(text, [image, weight, init], product + init)


@pytest.mark.parametrize("op", POOLINGS)
def test_named_poolings(op: str) -> None:
    """Poolings of every order of dimensions."""
    dims, method = POOLINGS[op]
    image = real(*(_IMAGE_EXTENTS[dim] for dim in dims))
    count = len(dims) - 2
    extents = [_WINDOW_EXTENTS[str(number)] for number in range(count)]
    view = _windowed(image, dims, extents, 2)
    axes = tuple(range(-count, 0))
    pooled = getattr(np, method)(view, axis=axes)
    init = real(*pooled.shape)
    combine = {"max": np.maximum, "min": np.minimum, "sum": np.add}[method]
    text = _named(op, [image.shape, tuple(extents)], pooled.shape, _strides(count, 2))
    window = np.zeros(extents, np.float32)
    _compare(text, [image, window, init], combine(pooled, init))


def test_transpose_broadcast_map_reduce_softmax() -> None:
    """Operations with lists of dimensions or bodies, in long and short form."""
    text = """
      func.func @f(%a: tensor<3x5x33xf32>) -> tensor<33x4x3xf32> {
        %zero = arith.constant 0.0 : f32
        %0 = tensor.empty() : tensor<33x3x5xf32>
        %1 = linalg.transpose ins(%a : tensor<3x5x33xf32>) outs(%0 : tensor<33x3x5xf32>)
            permutation = [2, 0, 1]
        %2 = linalg.map { math.exp } ins(%1 : tensor<33x3x5xf32>) outs(%0 : tensor<33x3x5xf32>)
        %3 = linalg.map ins(%1, %2 : tensor<33x3x5xf32>, tensor<33x3x5xf32>)
            outs(%0 : tensor<33x3x5xf32>) (%x: f32, %y: f32) {
          %p = arith.mulf %x, %y : f32
          linalg.yield %p : f32
        }
        %s = linalg.softmax dimension(2) ins(%3 : tensor<33x3x5xf32>)
            outs(%0 : tensor<33x3x5xf32>) -> tensor<33x3x5xf32>
        %t = linalg.add ins(%3, %s : tensor<33x3x5xf32>, tensor<33x3x5xf32>)
            outs(%0 : tensor<33x3x5xf32>) -> tensor<33x3x5xf32>
        %4 = tensor.empty() : tensor<33x3xf32>
        %5 = linalg.fill ins(%zero : f32) outs(%4 : tensor<33x3xf32>) -> tensor<33x3xf32>
        %6 = linalg.reduce { arith.addf } ins(%t : tensor<33x3x5xf32>)
            outs(%5 : tensor<33x3xf32>) dimensions = [2]
        %7 = tensor.empty() : tensor<33x4x3xf32>
        %8 = linalg.broadcast ins(%6 : tensor<33x3xf32>) outs(%7 : tensor<33x4x3xf32>)
            dimensions = [1]
        return %8 : tensor<33x4x3xf32>
      }"""
    a = real(3, 5, 33)
    x = a.transpose(2, 0, 1) * np.exp(a.transpose(2, 0, 1))
    powers = np.exp(x - x.max(2, keepdims=True))
    total = (x + powers / powers.sum(2, keepdims=True)).sum(2)
    expected = np.broadcast_to(total[:, None], (33, 4, 3))
    _compare(text, [a], expected)
    again = printed(text)
    assert printed(again) == again
    _compare(mlir_opt(text, "--mlir-print-op-generic"), [a], expected)


def _generic(maps: list[str], iterators: list[str], types: list[str], body: str) -> str:
    """A function of one `linalg.generic`; the last operand is what the result begins with."""
    arguments = ", ".join(f"%{number}: {type}" for number, type in enumerate(types))
    listed = ", ".join(f"affine_map<{map}>" for map in maps)
    kinds = ", ".join(f'"{kind}"' for kind in iterators)
    names = [f"%{number}" for number in range(len(types) - 1)]
    elements = [type.rstrip(">").split("x")[-1].split("<")[-1] for type in types]
    numbers = ", ".join(f"%n{place}: {element}" for place, element in enumerate(elements))
    ins = f"ins({', '.join(names)} : {', '.join(types[:-1])})" if names else ""
    return (
        f"func.func @f({arguments}) -> {types[-1]} {{\n"
        f"%r = linalg.generic {{indexing_maps = [{listed}], iterator_types = [{kinds}]}} {ins} "
        f"outs(%{len(types) - 1} : {types[-1]}) {{\n^bb0({numbers}):\n{body}\n}} -> {types[-1]}\n"
        f"return %r : {types[-1]}\n}}"
    )


def test_generic_computations() -> None:
    """Operands that are broadcast and transposed, several operations, places of the loops."""
    text = _generic(
        [
            "(d0, d1, d2) -> (d0, d1, d2)",
            "(d0, d1, d2) -> (d2)",
            "(d0, d1, d2) -> (d2, d0)",
            "(d0, d1, d2) -> (0, d1)",
            "(d0, d1, d2) -> (d2, d1, d0)",
        ],
        ["parallel"] * 3,
        [_type((3, 5, 7)), _type((7,)), _type((7, 3)), _type((1, 5)), _type((7, 5, 3))],
        """%i = linalg.index 1 : index
        %j = arith.index_cast %i : index to i32
        %k = arith.sitofp %j : i32 to f32
        %two = arith.constant 2.0 : f32
        %s = arith.addf %n0, %n1 : f32
        %t = arith.mulf %s, %n2 : f32
        %u = arith.mulf %k, %two : f32
        %v = arith.addf %t, %u : f32
        %c = arith.cmpf ogt, %v, %n3 : f32
        %w = arith.select %c, %v, %n3 : f32
        %x = arith.addf %w, %n4 : f32
        linalg.yield %x : f32""",
    )
    a, b, c, d, init = real(3, 5, 7), real(7), real(7, 3), real(1, 5), real(7, 5, 3)
    places = np.arange(5, dtype=np.float32)[:, None] * 2
    value = np.maximum((a + b) * c.T[:, None] + places, d[0][:, None])
    _compare(text, [a, b, c, d, init], value.transpose(2, 1, 0) + init)


@pytest.mark.parametrize(
    ("op", "reduce", "combine"),
    [
        ("arith.addf", np.sum, np.add),
        ("arith.mulf", np.prod, np.multiply),
        ("arith.maximumf", np.max, np.maximum),
        ("arith.minnumf", np.min, np.minimum),
    ],
)
def test_generic_reductions(op: str, reduce: Any, combine: Any) -> None:
    """Reductions over loops in the middle, of something computed, from a given start."""
    text = _generic(
        ["(d0, d1, d2) -> (d0, d1, d2)", "(d0, d1, d2) -> (d1)", "(d0, d1, d2) -> (d2, d0)"],
        ["parallel", "reduction", "parallel"],
        [_type((3, 5, 7)), _type((5,)), _type((7, 3))],
        f"%s = arith.subf %n0, %n1 : f32\n%t = {op} %n2, %s : f32\nlinalg.yield %t : f32",
    )
    a, b, init = real(3, 5, 7), real(5), real(7, 3)
    _compare(text, [a, b, init], combine(reduce(a - b[:, None], axis=1).T, init))


@pytest.mark.parametrize(
    ("predicates", "element", "pick"),
    [
        (("ogt", "oge", "ugt", "uge"), "f32", np.maximum),
        (("olt", "ole", "ult", "ule"), "f32", np.minimum),
        (("sgt", "sge"), "i32", np.maximum),
        (("slt", "sle"), "i32", np.minimum),
    ],
)
def test_extremes_by_comparison(predicates: tuple[str, ...], element: str, pick: Any) -> None:
    """A body that compares and selects is a maximum or a minimum, whichever way it asks."""
    a, init = real(3, 5), real(3)
    if element == "i32":
        a, init = (np.round(each * 100).astype(np.int32) for each in (a, init))
    for predicate in predicates:
        compare = "cmpf" if element == "f32" else "cmpi"
        text = _generic(
            ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d0)"],
            ["parallel", "reduction"],
            [_type((3, 5), element), _type((3,), element)],
            f"%c = arith.{compare} {predicate}, %n0, %n1 : {element}\n"
            f"%s = arith.select %c, %n0, %n1 : {element}\nlinalg.yield %s : {element}",
        )
        _compare(text, [a, init], pick(pick.reduce(a, axis=1), init))


def test_generic_products() -> None:
    """Sums of products are products of matrices, for any order of dimensions."""
    cases = (
        ("bhqd,bkhd->bhqk", "(b, h, q, d, k)", (2, 3, 5, 4), (2, 6, 3, 4)),
        ("mk,nk->mn", "(m, n, k)", (5, 33), (4, 33)),
        ("kn,mk->nm", "(m, n, k)", (33, 4), (5, 33)),
    )
    for letters, loops, *shapes in cases:
        a, b = (real(*shape) for shape in shapes)
        product = np.einsum(letters, a, b)
        init = real(*product.shape)
        names = letters.replace("->", ",").split(",")
        kinds = ["parallel" if dim in names[2] else "reduction" for dim in loops if dim.isalpha()]
        text = _generic(
            [f"{loops} -> ({', '.join(name)})" for name in names],
            kinds,
            [_type(array.shape) for array in (a, b, init)],
            "%p = arith.mulf %n0, %n1 : f32\n%s = arith.addf %n2, %p : f32\nlinalg.yield %s : f32",
        )
        _compare(text, [a, b, init], product + init)
        lowered = printed(text, "convert-linalg-to-ttir")
        assert "ttir.sum" not in lowered
        assert "ttir.dot_general" in lowered or "ttir.matmul" in lowered


def test_tensor_operations() -> None:
    """Slices, insertions, joins, splats and elements of tensors."""
    text = """
      func.func @f(%a: tensor<3x5x33xf32>, %b: tensor<2x1x30xf32>) -> tensor<3x38xf32> {
        %zero = arith.constant 0 : index
        %two = arith.constant 2 : index
        %0 = tensor.extract_slice %a[1, 0, 3] [2, 4, 10] [1, 1, 3]
            : tensor<3x5x33xf32> to tensor<2x4x10xf32>
        %1 = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<2x4x10xf32> into tensor<2x40xf32>
        %2 = tensor.insert_slice %b into %a[1, 2, 2] [2, 1, 30] [1, 1, 1]
            : tensor<2x1x30xf32> into tensor<3x5x33xf32>
        %3 = tensor.extract_slice %2[0, 2, 0] [3, 1, 33] [1, 1, 1]
            : tensor<3x5x33xf32> to tensor<3x33xf32>
        %4 = tensor.extract_slice %1[1, 4] [1, 15] [1, 1] : tensor<2x40xf32> to tensor<15xf32>
        %5 = tensor.expand_shape %4 [[0, 1]] output_shape [3, 5]
            : tensor<15xf32> into tensor<3x5xf32>
        %6 = tensor.concat dim(1) %3, %5 : (tensor<3x33xf32>, tensor<3x5xf32>) -> tensor<3x38xf32>
        %7 = tensor.extract %a[%two, %zero, %two] : tensor<3x5x33xf32>
        %8 = math.exp %7 : f32
        %9 = tensor.splat %8 : tensor<3x38xf32>
        %10 = arith.addf %6, %9 : tensor<3x38xf32>
        return %10 : tensor<3x38xf32>
      }"""
    a, b = real(3, 5, 33), real(2, 1, 30)
    whole = a.copy()
    whole[1:3, 2:3, 2:32] = b
    rows = a[1:3, 0:4, 3:33:3].reshape(2, 40)[1, 4:19].reshape(3, 5)
    expected = np.concatenate([whole[:, 2], rows], axis=1) + np.exp(a[2, 0, 2])
    _compare(text, [a, b], expected)


def test_tensors_of_numbers() -> None:
    """Tensors that are made of constants, of elements of others, and of one number."""
    text = """
      func.func @f(%a: tensor<3xf32>) -> (tensor<2x2xf32>, tensor<3xf32>, tensor<4x3xf32>) {
        %zero = arith.constant 0 : index
        %two = arith.constant 2 : index
        %x = tensor.extract %a[%zero] : tensor<3xf32>
        %y = tensor.extract %a[%two] : tensor<3xf32>
        %0 = tensor.from_elements %x, %y, %y, %x : tensor<2x2xf32>
        %c = arith.constant 1.5 : f32
        %d = arith.constant -2.0 : f32
        %1 = tensor.from_elements %c, %d, %c : tensor<3xf32>
        %e = tensor.empty() : tensor<4x3xf32>
        %2 = linalg.fill ins(%y : f32) outs(%e : tensor<4x3xf32>) -> tensor<4x3xf32>
        %3 = tensor.cast %2 : tensor<4x3xf32> to tensor<4x3xf32>
        %4 = tensor.pad %3 low[0, 0] high[0, 0] {
        ^bb0(%i: index, %j: index):
          tensor.yield %c : f32
        } : tensor<4x3xf32> to tensor<4x3xf32>
        return %0, %1, %4 : tensor<2x2xf32>, tensor<3xf32>, tensor<4x3xf32>
      }"""
    x, other, y = a = real(3)
    chosen, constants, filled = executed(text, [a], PIPELINE)
    np.testing.assert_array_equal(chosen, [[x, y], [y, x]])
    np.testing.assert_array_equal(constants, np.array([1.5, -2.0, 1.5], np.float32))
    np.testing.assert_array_equal(filled, np.full((4, 3), y))
    assert other not in chosen


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "tensor.pad %a low[0, 0] high[0, 1] {\n^bb0(%x: index, %y: index):\n"
            "tensor.yield %s : f32\n} : tensor<3x5xf32> to tensor<3x6xf32>",
            "what it pads with is computed; supported are constants",
        ),
        (
            "tensor.extract_slice %a[%i, 0] [1, 5] [1, 1] : tensor<3x5xf32> to tensor<1x5xf32>",
            "it uses a number of type index that comes from elsewhere; supported are constants",
        ),
        (
            "tensor.insert_slice %a into %b[0, 0] [3, 5] [1, 2]"
            " : tensor<3x5xf32> into tensor<3x10xf32>",
            "its strides are [1, 2]; supported are strides of 1",
        ),
        (
            "linalg.fill ins(%s : f32) outs(%a : tensor<3x5xf32>) -> tensor<3x5xf32>",
            "failed to legalize operation 'linalg.fill': it uses a number of type f32 that comes "
            "from elsewhere; supported are constants",
        ),
        (
            "tensor.pad %a low[%i, 0] high[0, 1] {\n^bb0(%x: index, %y: index):\n"
            "tensor.yield %s : f32\n} : tensor<3x5xf32> to tensor<?x6xf32>",
            "the shape of tensor<?x6xf32> is not known",
        ),
    ],
)
def test_refusals(line: str, message: str) -> None:
    """What cannot be converted is refused with what is supported."""
    text = (
        "func.func @f(%a: tensor<3x5xf32>, %b: tensor<3x10xf32>, %s: f32, %i: index) {\n"
        f"%r = {line}\nreturn\n}}"
    )
    with pytest.raises(DiagnosticError) as raised:
        printed(text, "convert-linalg-to-ttir")
    assert message in str(raised.value)


def test_refused_bodies() -> None:
    """Maps and combinations without counterpart are refused."""
    window = _generic(
        ["(d0, d1) -> (d0 + d1)", "(d0, d1) -> (d0, d1)"],
        ["parallel", "parallel"],
        [_type((5,)), _type((2, 4))],
        "linalg.yield %n0 : f32",
    )
    quotient = _generic(
        ["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1)"],
        ["reduction", "parallel"],
        [_type((5, 4)), _type((4,))],
        "%x = arith.divf %n1, %n0 : f32\nlinalg.yield %x : f32",
    )
    for text, message in (
        (window, "an operand is read at (d0 + d1); supported are maps whose results are different"),
        (quotient, "it combines elements over a loop in another way than by a sum, product"),
    ):
        with pytest.raises(DiagnosticError) as raised:
            printed(text, "convert-linalg-to-ttir")
        assert message in str(raised.value)


def test_an_element_has_a_place_in_every_dimension() -> None:
    """`tensor.extract` does not check that itself."""
    text = (
        "func.func @f(%t: tensor<2x3xf32>) -> tensor<1xf32> {\n"
        "%c = arith.constant 1 : index\n"
        "%0 = tensor.extract %t[%c] : tensor<2x3xf32>\n"
        "%1 = tensor.from_elements %0 : tensor<1xf32>\nreturn %1 : tensor<1xf32>\n}"
    )
    with pytest.raises(DiagnosticError) as caught:
        printed(text, "convert-linalg-to-ttir")
    assert str(caught.value) == (
        "test.mlir:3:6: error: failed to legalize operation 'tensor.extract': it has another "
        "number of indices than the tensor has dimensions"
    )
