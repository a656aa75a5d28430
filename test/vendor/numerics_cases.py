"""Operations of ttnn whose numbers are compared bit by bit, on whichever ttnn there is.

    python numerics_cases.py OUT NAME...

Runs in the process of a ttnn; keeps `OUT/NAME.npy` for each case, and prints its name before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

Array = Any
Case = Callable[[Any, Any], Any]
"""A function of the library and an open device: the tensor that an operation gives."""


def _with_one_nan(patterns: Array) -> Array:
    """Numbers of patterns; tensors made of lists have one NaN, which is positive."""
    values = patterns.view(np.float32)
    return np.where(np.isnan(values), np.float32(np.nan), values)


_ALL_BFLOAT16 = _with_one_nan(np.arange(1 << 16, dtype=np.uint32) << 16)


def _patterns(seed: int, count: int, kept: int = 0xFFFFFFFF) -> Array:
    """Float32 numbers of these bits: a quarter any patterns, the others within 2^-20 and 2^7."""
    random = np.random.default_rng(seed)
    patterns = random.integers(0, 1 << 32, count, dtype=np.uint32)
    exponents = random.integers(107, 134, count, dtype=np.uint32)
    ordinary = patterns & np.uint32(0x807FFFFF) | exponents << 23
    values = np.where(np.arange(count) % 4 == 3, patterns, ordinary).astype(np.uint32)
    special = (0, 0x80000000, 0x7F800000, 0xFF800000, 0x7FC00000, 1, 0x3F800000, 0xBF800000)
    values[: len(special)] = special
    return _with_one_nan(values & np.uint32(kept))


def _bfloat16_patterns(seed: int, count: int = 1 << 16) -> Array:
    return _patterns(seed, count, 0xFFFF0000)


def _normal(seed: int, *shape: int) -> Array:
    """Normally distributed numbers that bfloat16 holds."""
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)


def _tensor(ttnn: Any, device: Any, values: Array, dtype: str, *shape: int) -> Any:
    numbers = values.reshape(-1).tolist()
    shape = shape or (1, 1, len(numbers) // 256, 256)
    return ttnn.Tensor(numbers, list(shape), getattr(ttnn, dtype), ttnn.TILE_LAYOUT, device)


def _unary(name: str, *arguments: Any, dtype: str = "bfloat16", **options: Any) -> Case:
    values = _ALL_BFLOAT16 if dtype == "bfloat16" else _patterns(1, 1 << 14)

    def run(ttnn: Any, device: Any) -> Any:
        x = _tensor(ttnn, device, values, dtype)
        return getattr(ttnn, name)(x, *arguments, **options)

    return run


def _nary(name: str, count: int, *arguments: Any, dtype: str = "bfloat16", **options: Any) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        makes = _bfloat16_patterns if dtype == "bfloat16" else _patterns
        size = 1 << (16 if dtype == "bfloat16" else 14)
        tensors = [_tensor(ttnn, device, makes(2 + i, size), dtype) for i in range(count)]
        return getattr(ttnn, name)(*tensors, *arguments, **options)

    return run


def _reduced(name: str, dim: Any, *, dtype: str = "bfloat16", **options: Any) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        x = _tensor(ttnn, device, _normal(5, 3, 96, 160), dtype, 1, 3, 96, 160)
        more = {} if dim is None else {"dim": dim}
        return getattr(ttnn, name)(x, **more, **options)

    return run


def _reduced_whole(name: str, dim: Any) -> Case:
    """Of float32 numbers that have all their bits."""

    def run(ttnn: Any, device: Any) -> Any:
        values = np.random.default_rng(19).normal(size=(2, 64, 96)).astype(np.float32)
        x = _tensor(ttnn, device, values, "float32", 1, 2, 64, 96)
        return getattr(ttnn, name)(x, dim=dim)

    return run


def _config(ttnn: Any, fidelity: str, wide: bool) -> Any:
    return ttnn.WormholeComputeKernelConfig(
        math_fidelity=getattr(ttnn.MathFidelity, fidelity),
        math_approx_mode=False,
        fp32_dest_acc_en=wide,
        packer_l1_acc=False,
    )


def _product(
    fidelity: str | None = None, wide: bool = False, dtype: str = "bfloat16", size: int = 96
) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        a = _tensor(ttnn, device, _normal(6, 64, size), dtype, 1, 1, 64, size)
        b = _tensor(ttnn, device, _normal(7, size, 64), dtype, 1, 1, size, 64)
        config = {} if fidelity is None else {
            "compute_kernel_config": _config(ttnn, fidelity, wide)
        }  # fmt: skip
        return ttnn.matmul(a, b, **config)

    return run


def _product_of(
    first: str,
    second: str,
    shapes: tuple[tuple[int, ...], tuple[int, ...]] = ((64, 96), (96, 64)),
    *,
    result: str | None = None,
    config: tuple[str, bool, bool] | None = None,
    bias: tuple[int, ...] = (),
    **options: Any,
) -> Case:
    """A product of tensors of two data types; the configuration says whether DST has 32 bits and
    whether partial sums are added in L1."""

    def run(ttnn: Any, device: Any) -> Any:
        a, b = (
            _tensor(ttnn, device, _normal(seed, *shape), dtype, *(1,) * (4 - len(shape)), *shape)
            for seed, shape, dtype in zip((6, 7), shapes, (first, second), strict=True)
        )
        more = dict(options)
        if result is not None:
            more["dtype"] = getattr(ttnn, result)
        if config is not None:
            fidelity, wide, in_l1 = config
            more["compute_kernel_config"] = ttnn.WormholeComputeKernelConfig(
                math_fidelity=getattr(ttnn.MathFidelity, fidelity),
                math_approx_mode=False,
                fp32_dest_acc_en=wide,
                packer_l1_acc=in_l1,
            )
        if bias:
            more["bias"] = _tensor(ttnn, device, _normal(15, *bias), first, 1, 1, *bias)
            return ttnn.linear(a, b, **more)
        return ttnn.matmul(a, b, **more)

    return run


def _mixed(name: str, first: str, second: str, **options: Any) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        a, b = (
            _tensor(ttnn, device, _normal(16 + i, 1 << 14), dtype)
            for i, dtype in enumerate((first, second))
        )
        return getattr(ttnn, name)(a, b, **options)

    return run


def _tilized(dtype: str) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        values = _ALL_BFLOAT16 if dtype == "bfloat16" else _patterns(18, 1 << 14)
        shape = [1, 1, values.size // 256, 256]
        rows = ttnn.Tensor(
            values.tolist(), shape, getattr(ttnn, dtype), ttnn.ROW_MAJOR_LAYOUT, device
        )
        return ttnn.to_layout(rows, ttnn.TILE_LAYOUT)

    return run


def _normalized(
    name: str, *, dtype: str = "bfloat16", scaled: bool = False, **options: Any
) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        x = _tensor(ttnn, device, _normal(8, 64, 96), dtype, 1, 1, 64, 96)
        more = dict(options)
        if scaled:
            more["weight"] = _tensor(ttnn, device, _normal(9, 96), dtype, 1, 1, 1, 96)
            if name == "layer_norm":
                more["bias"] = _tensor(ttnn, device, _normal(10, 96), dtype, 1, 1, 1, 96)
        return getattr(ttnn, name)(x, **more)

    return run


_INTEGERS = {"uint16": 1 << 16, "uint32": 1 << 31, "int32": 1 << 31, "uint8": 256}


def _cast(source: str, target: str) -> Case:
    def run(ttnn: Any, device: Any) -> Any:
        if source in _INTEGERS:
            random = np.random.default_rng(11)
            low = -(1 << 31) if source == "int32" else 0
            values = random.integers(low, _INTEGERS[source], 1 << 13)
            values >>= random.integers(0, 31, 1 << 13) if source[-1] == "2" else 0
        elif target in _INTEGERS:
            # Numbers that the integers hold.
            random = np.random.default_rng(12)
            high = min(_INTEGERS[target], 1 << 30)
            values = random.integers(0, high, 1 << 13) >> random.integers(0, 31, 1 << 13)
            values = values.astype(np.float32) + np.float32(0.5) * (np.arange(1 << 13) % 3 == 0)
            values = values.astype(np.float32)
            if target == "int32":
                values *= np.where(np.arange(1 << 13) % 2, 1, -1)
            if source != "float32":
                values = (values.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)
        else:
            values = _normal(13, 1 << 13) if source != "float32" else _patterns(13, 1 << 14)
        x = _tensor(ttnn, device, values, source)
        return ttnn.typecast(x, getattr(ttnn, target))

    return run


_UNARY = (
    "abs neg relu sign square signbit floor ceil trunc round frac sqrt rsqrt reciprocal cbrt exp "
    "exp2 expm1 log log2 log10 log1p sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh "
    "sigmoid silu gelu mish softplus softsign hardsigmoid hardswish hardmish relu6 elu celu selu "
    "leaky_relu hardshrink softshrink hardtanh tanhshrink log_sigmoid erf erfc erfinv i0 i1 lgamma "
    "digamma isfinite isinf isnan isposinf isneginf eqz nez gtz ltz gez lez logical_not rad2deg "
    "deg2rad logit swish identity sigmoid_accurate"
).split()
_UNARY_ARGUMENTS: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]] = {
    "elu": ("elu", (), {"alpha": 1.0}),
    "leaky_relu": ("leaky_relu", (0.1,), {}),
    "gelu_approximate": ("gelu", (), {"fast_and_approximate_mode": True}),
    "exp_approximate": ("exp", (), {"fast_and_approximate_mode": True}),
    "clamp": ("clamp", (-1.5, 2.5), {}),
    "pow_2": ("pow", (2.0,), {}),
    "pow_half": ("pow", (0.5,), {}),
    "pow_2_3": ("pow", (2.3,), {}),
    "rpow": ("rpow", (2.5,), {}),
    "add_number": ("add", (1.7,), {}),
    "subtract_number": ("subtract", (1.7,), {}),
    "multiply_number": ("multiply", (1.7,), {}),
    "divide_number": ("divide", (1.7,), {}),
    "rsub_number": ("rsub", (1.7,), {}),
    "rdiv_number": ("rdiv", (1.7,), {}),
    "gt_number": ("gt", (0.5,), {}),
    "eq_number": ("eq", (0.5,), {}),
    "maximum_number": ("maximum", (0.5,), {}),
    "minimum_number": ("minimum", (0.5,), {}),
    "remainder_number": ("remainder", (1.7,), {}),
    "fmod_number": ("fmod", (1.7,), {}),
    "threshold": ("threshold", (0.5, 2.0), {}),
    "heaviside": ("heaviside", (0.5,), {}),
}
_BINARY = (
    "add subtract multiply divide maximum minimum pow eq ne lt le gt ge logical_and logical_or "
    "logical_xor squared_difference atan2 hypot logaddexp logaddexp2 ldexp fmod remainder xlogy "
    "rsub bias_gelu div_no_nan floor_div"
).split()
_FLOATS = ("bfloat16", "float32", "bfloat8_b", "bfloat4_b")


def _make_cases() -> Iterator[tuple[str, Case]]:
    for dtype in ("bfloat16", "float32"):
        yield from _elementwise_cases(dtype)
        yield from _row_cases(dtype)
    yield from _product_cases()
    yield from _mixed_cases()
    for source in (*_FLOATS, *_INTEGERS):
        for target in (*_FLOATS, *_INTEGERS):
            if source != target:
                yield f"typecast {source} {target}", _cast(source, target)
    for name in ("add", "multiply", "exp", "gelu", "relu"):
        for dtype in ("bfloat8_b", "bfloat4_b"):
            yield f"{name} {dtype}", _blocks(name, dtype)


def _mixed_cases() -> Iterator[tuple[str, Case]]:
    kinds = ("bfloat16", "bfloat8_b", "bfloat4_b", "float32")
    for name in ("add", "multiply", "subtract"):
        for first in kinds:
            for second in kinds:
                if first != second:
                    yield f"{name} {first} {second}", _mixed(name, first, second)
    for dtype in ("bfloat16", "float32"):
        yield f"tilize {dtype}", _tilized(dtype)
    for name in ("sum", "mean", "max"):
        yield f"{name} rows bfloat8_b", _reduced(name, -1, dtype="bfloat8_b")
        yield f"{name} columns bfloat8_b", _reduced(name, -2, dtype="bfloat8_b")
    for dtype in ("bfloat8_b", "bfloat4_b"):
        for name in ("reciprocal", "sigmoid", "tanh", "neg", "sqrt"):
            yield f"{name} {dtype}", _blocks(name, dtype)
        yield f"subtract {dtype}", _blocks("subtract", dtype)
        yield f"divide {dtype}", _blocks("divide", dtype)
        yield f"softmax {dtype}", _normalized("softmax", dtype=dtype, dim=-1)
    for name in ("mean", "sum"):
        yield f"{name} all bfloat16", _reduced(name, None)
        yield f"{name} rows of whole float32", _reduced_whole(name, -1)
        yield f"{name} columns of whole float32", _reduced_whole(name, -2)
    yield "softmax columns bfloat16", _normalized("softmax", dim=-2)


def _elementwise_cases(dtype: str) -> Iterator[tuple[str, Case]]:
    plain: dict[str, tuple[str, tuple[Any, ...], dict[str, Any]]]
    plain = {name: (name, (), {}) for name in _UNARY}
    for label, (name, arguments, options) in (plain | _UNARY_ARGUMENTS).items():
        yield f"{label} {dtype}", _unary(name, *arguments, dtype=dtype, **options)
    for name in _BINARY:
        yield f"{name} {dtype}", _nary(name, 2, dtype=dtype)
    yield f"where {dtype}", _nary("where", 3, dtype=dtype)
    yield f"addcmul {dtype}", _nary("addcmul", 3, dtype=dtype, value=0.7)
    yield f"addcdiv {dtype}", _nary("addcdiv", 3, dtype=dtype, value=0.7)
    yield f"lerp {dtype}", _nary("lerp", 3, dtype=dtype)


def _row_cases(dtype: str) -> Iterator[tuple[str, Case]]:
    for name in ("sum", "mean", "max", "min"):
        for label, dim in (("rows", -1), ("columns", -2), ("batch", 1), ("both", (-2, -1))):
            yield f"{name} {label} {dtype}", _reduced(name, dim, dtype=dtype)
    for name in ("var", "std"):
        yield f"{name} rows {dtype}", _reduced(name, -1, dtype=dtype)
    yield f"prod rows {dtype}", _reduced("prod", -1, dtype=dtype)
    yield f"cumsum {dtype}", _reduced("cumsum", 2, dtype=dtype)
    yield f"softmax {dtype}", _normalized("softmax", dtype=dtype, dim=-1)
    yield (
        f"softmax stable {dtype}",
        _normalized("softmax", dtype=dtype, dim=-1, numeric_stable=True),
    )
    yield f"layer_norm {dtype}", _normalized("layer_norm", dtype=dtype)
    yield f"layer_norm scaled {dtype}", _normalized("layer_norm", dtype=dtype, scaled=True)
    yield f"rms_norm {dtype}", _normalized("rms_norm", dtype=dtype)
    yield f"rms_norm scaled {dtype}", _normalized("rms_norm", dtype=dtype, scaled=True)


def _product_cases() -> Iterator[tuple[str, Case]]:
    for dtype in ("bfloat16", "float32", "bfloat8_b", "bfloat4_b"):
        yield f"matmul {dtype}", _product(dtype=dtype)
        for fidelity in ("LoFi", "HiFi2", "HiFi3", "HiFi4"):
            for wide in (False, True):
                label = f"matmul {fidelity}{' wide' if wide else ''} {dtype}"
                yield label, _product(fidelity, wide, dtype)
    yield "matmul even bfloat16", _product(size=128)
    yield "matmul large bfloat16", _product(size=512)
    yield "matmul long bfloat16", _product("HiFi4", False, "bfloat16", 1024)
    yield "matmul wide row bfloat16", _product_of("bfloat16", "bfloat16", ((32, 192), (192, 64)))
    yield "matmul batch bfloat16", _product_of("bfloat16", "bfloat16", ((3, 33, 96), (3, 96, 65)))
    yield "matmul shared bfloat16", _product_of("bfloat16", "bfloat16", ((2, 64, 256), (256, 40)))
    yield "matmul large bfloat8_b", _product_of("bfloat8_b", "bfloat8_b", ((64, 832), (832, 64)))
    for first, second in (
        ("bfloat16", "bfloat8_b"),
        ("bfloat8_b", "bfloat16"),
        ("bfloat16", "bfloat4_b"),
        ("bfloat8_b", "bfloat4_b"),
        ("float32", "bfloat16"),
        ("bfloat16", "float32"),
    ):
        yield f"matmul {first} {second}", _product_of(first, second)
    for dtype, result in (
        ("bfloat16", "bfloat8_b"),
        ("bfloat16", "float32"),
        ("bfloat8_b", "bfloat16"),
        ("float32", "bfloat16"),
    ):
        yield f"matmul {dtype} to {result}", _product_of(dtype, dtype, result=result)
    for dtype in ("bfloat16", "float32", "bfloat8_b"):
        for wide in (False, True):
            label = f"matmul HiFi2{' wide' if wide else ''} in L1 {dtype}"
            yield label, _product_of(dtype, dtype, config=("HiFi2", wide, True))
        yield f"linear {dtype}", _product_of(dtype, dtype, bias=(1, 64))
    yield (
        "linear relu bfloat16",
        _product_of("bfloat16", "bfloat16", bias=(1, 64), activation="relu"),
    )
    yield (
        "matmul transposed bfloat16",
        _product_of("bfloat16", "bfloat16", ((64, 96), (64, 96)), transpose_b=True),
    )


def _blocks(name: str, dtype: str) -> Case:
    count = 2 if name in ("add", "subtract", "multiply", "divide") else 1

    def run(ttnn: Any, device: Any) -> Any:
        return getattr(ttnn, name)(
            *(_tensor(ttnn, device, _normal(14 + i, 1 << 14), dtype) for i in range(count))
        )

    return run


CASES = dict(_make_cases())


def main(out: Path, names: list[str]) -> None:
    """Run cases and keep their results; the process may end in any of them."""
    ttnn: Any = import_module("ttnn")
    device = ttnn.open_device(device_id=0)
    for name in names:
        print("case:" + name, flush=True)
        try:
            tensor = CASES[name](ttnn, device)
        except Exception as error:
            text = " ".join(str(error).split())[:200]
            print(f"refused:{name}:{type(error).__name__}: {text}", flush=True)
            continue
        np.save(out / f"{name}.npy", numbers_of(ttnn, tensor))
    ttnn.close_device(device)


def numbers_of(ttnn: Any, tensor: Any) -> Array:
    """The numbers of a tensor in their order, as patterns of 32 bits; all NaN are one."""
    dtype, host = str(tensor.dtype).rpartition(".")[2], tensor.cpu()
    rows = (host if dtype.endswith("_B") else host.to(ttnn.ROW_MAJOR_LAYOUT)).to_list()
    is_float = dtype in ("BFLOAT16", "FLOAT32", "BFLOAT8_B", "BFLOAT4_B")
    if not is_float:
        return np.array(rows, np.int64).astype(np.uint32).reshape(-1)
    values = np.array(rows, np.float32).reshape(-1)
    return np.where(np.isnan(values), np.uint32(0x7FC00000), values.view(np.uint32))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
