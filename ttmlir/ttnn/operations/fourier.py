"""Fourier transforms along the last dimension, whole and in passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.complex_numbers import join_parts, parts_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    is_integer,
    is_strict,
    require_tensor,
    table_of,
)
from ttmlir.ttnn.operations.signature import spell_value
from ttmlir.ttnn.tensor.tensor import Tensor

_LONGEST = 1 << 10
"""Numbers of one pass, and rows of a table of factors."""
_FEWEST_OF_THREE = 1 << 21
_MOST_OF_THREE = 1 << 30
_MOST_OF_ANY = 1 << 19
"""Numbers that a transform of any length takes on a card."""


def _read(values: dict[str, Any], real: str = "input_real", imag: str = "input_imag") -> Array:
    """The complex numbers of the operands; what is real has no imaginary part."""
    tensor = require_tensor(values[real], real)
    if values[imag] is None:
        common_device(tensor)
        return tensor.array.astype(np.complex128)
    return join_parts(tensor, values[imag], real.partition("_")[0]).numbers


def _without_imaginary(values: dict[str, Any], *names: str) -> None:
    """Let numbers by position follow the real part where there is no imaginary one."""
    number = values["input_imag"]
    if not is_integer(number):
        return
    values["input_imag"] = None
    for name, empty in zip(names, (None, 0, 1, 1.0), strict=False):
        number, values[name] = values[name], number
        if number == empty:
            return


def _require_power(value: Any, name: str, least: int, most: int) -> int:
    if not is_integer(value):
        raise ArgumentTypeError(f"{name} is an integer, not {spell_value(value)}")
    if not least <= value <= most or value & (value - 1):
        raise ArgumentError(f"{name}={value} is no power of 2 from {least} to {most}")
    return int(value)


def _require_length(numbers: Array, name: str, length: Any) -> int:
    """The rows of numbers whose last extent is as an argument says."""
    if not numbers.ndim or not is_integer(length) or numbers.shape[-1] != length:
        raise ArgumentError(f"{list(numbers.shape)} does not end in {name}={spell_value(length)}")
    return math.prod(numbers.shape[:-1])


def _require_rows(numbers: Array, tensor: Tensor) -> Array:
    count = math.prod(numbers.shape[:-1])
    if is_strict(tensor) and count & (count - 1):
        raise ArgumentError(f"{count} rows are no power of 2; use ttnn.pad")
    if not numbers.ndim or not numbers.shape[-1]:
        raise ArgumentError(f"{list(numbers.shape)} has no numbers along its last dimension")
    return numbers


def _factors(rows: Array, length: int, whole: int) -> Array:
    """exp(-2 pi i r k / whole) for each row's r, and k below the length."""
    # Whole turns are taken off as integers, which are exact.
    return np.exp(-2j * math.pi * (np.outer(rows, np.arange(length)) % whole) / whole)


def _transform(values: dict[str, Any]) -> list[Tensor]:
    numbers = _require_rows(_read(values), values["input_real"])
    return parts_of(np.fft.fft(numbers), values["input_real"])


def _invert(values: dict[str, Any]) -> list[Tensor]:
    real = values["spectrum_real"]
    numbers = _read(values, "spectrum_real", "spectrum_imag")
    return parts_of(np.fft.ifft(_require_rows(numbers, real)), real)


def _transform_any(values: dict[str, Any]) -> list[Tensor]:
    """Rows of any length."""
    _without_imaginary(values, "N")
    numbers = _require_rows(_read(values), values["input_real"])
    _require_length(numbers, "N", values["N"])
    if numbers.shape[-1] > _MOST_OF_ANY and is_strict(values["input_real"]):
        raise ArgumentError(f"N={values['N']} is more than {_MOST_OF_ANY}; divide the rows")
    return parts_of(np.fft.fft(numbers), values["input_real"])


def _pass(values: dict[str, Any]) -> list[Tensor]:
    """Rows transformed, times the factors between passes, times a number."""
    _without_imaginary(values, "P", "twiddle_N2", "stride")
    numbers = _require_rows(_read(values), values["input_real"])
    length = _require_power(values["P"], "P", 2, _LONGEST)
    rows = _require_length(numbers, "P", length)
    found = np.fft.fft(numbers) * float(values["output_scale"])
    count, stride = values["twiddle_N2"], values["stride"]
    if count:
        count = _require_power(count, "twiddle_N2", 1, _LONGEST)
        stride = _require_power(stride, "stride", 1, rows)
        if rows // stride % count:
            raise ArgumentError(f"twiddle_N2={count} does not divide {rows // stride} rows")
        number = np.arange(rows) // stride % count
        found = found * _factors(number, length, length * count).reshape(numbers.shape)
    return parts_of(found, values["input_real"])


def _multiply_factors(
    values: dict[str, Any], name: str, length: int, count: int, whole: int
) -> list[Tensor]:
    """Rows times the factors of their numbers, which begin anew after `count` rows."""
    numbers = _read(values)
    rows = _require_length(numbers, name, length)
    if rows % count:
        raise ArgumentError(f"{rows} rows are no multiple of {count}")
    factors = _factors(np.arange(rows) % count, length, whole)
    return parts_of(numbers * factors.reshape(numbers.shape), values["input_real"])


def _apply_factors(values: dict[str, Any]) -> list[Tensor]:
    length = _require_power(values["N1"], "N1", 2, _LONGEST)
    count = _require_power(values["N2"], "N2", 1, _LONGEST)
    return _multiply_factors(values, "N1", length, count, length * count)


def _apply_many_factors(values: dict[str, Any]) -> list[Tensor]:
    length = _require_power(values["P"], "P", 2, _LONGEST)
    count = _require_power(values["big_modulus"], "big_modulus", 1, 1 << 20)
    whole = _require_power(values["full_N"], "full_N", count, _MOST_OF_THREE)
    return _multiply_factors(values, "P", length, count, whole)


def _transform_in_three(values: dict[str, Any]) -> list[Tensor]:
    """Numbers in rows (..., N1 * N2, N3) that are one, transformed, as (B, N3, N2, N1)."""
    _without_imaginary(values, "full_N")
    numbers, real = _read(values), values["input_real"]
    whole = _require_power(values["full_N"], "full_N", _FEWEST_OF_THREE, _MOST_OF_THREE)
    # The last factor is as large as it can be, the others are alike.
    outer = whole // _LONGEST
    second = 1 << (outer.bit_length() - 1) // 2
    _require_length(numbers, "N3", _LONGEST)
    if numbers.size % whole:
        raise ArgumentError(f"{list(numbers.shape)} does not hold rows of {whole} numbers")
    rows = numbers.reshape(-1, whole)
    if values["inverse"] and values["input_imag"] is None:
        raise ArgumentError("inverse=True takes an imaginary part, too")
    found = np.fft.ifft(rows) if values["inverse"] else np.fft.fft(rows)
    return parts_of(found.reshape(len(rows), _LONGEST, second, outer // second), real)


OPERATIONS: dict[str, Operation] = table_of(
    Operation("experimental.fft", _transform, "input_real, input_imag=None, precision='precise'"),
    Operation("experimental.ifft", _invert, "spectrum_real, spectrum_imag, precision='precise'"),
    Operation(
        "experimental.bluestein_fft",
        _transform_any,
        "input_real, input_imag=None, N=None, precision='precise'",
    ),
    Operation(
        "experimental.fft_radix_pass",
        _pass,
        "input_real, input_imag=None, P=None, twiddle_N2=0, stride=1, output_scale=1.0",
    ),
    Operation(
        "experimental.fft_three_pass",
        _transform_in_three,
        "input_real, input_imag=None, full_N=None, precision='precise', inverse=False",
    ),
    Operation("experimental.apply_twiddles", _apply_factors, "input_real, input_imag, N1, N2"),
    Operation(
        "experimental.apply_twiddles_xl",
        _apply_many_factors,
        "input_real, input_imag, P, big_modulus, full_N",
    ),
)
