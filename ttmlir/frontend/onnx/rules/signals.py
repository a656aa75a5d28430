"""Operators on signals: Fourier transforms, and weights of frequencies."""

from __future__ import annotations

import numpy as np

from ttmlir.arrays.array import Array, concatenate
from ttmlir.arrays.carriers import array_of
from ttmlir.composites.complex_numbers import Complex
from ttmlir.composites.fourier import invert_to_real, transform, transform_real
from ttmlir.composites.indexing import unfold
from ttmlir.frontend.onnx.call import Call, Rule
from ttmlir.frontend.onnx.elements import Tensor, type_name


def _read_signal(call: Call, x: Array) -> Complex | Array:
    """The numbers of a last dimension of one real part, or of a real and an imaginary one."""
    if x.rank < 2 or x.shape[-1] not in (1, 2):
        call.refuse(
            f"the shape {list(x.shape)} has to end with 1, for real numbers, or 2, for complex ones"
        )
    real, *imag = (
        x.cut(x.rank - 1, place, place + 1).squeeze(x.rank - 1) for place in range(x.shape[-1])
    )
    return Complex(real, imag[0]) if imag else real


def _pair(x: Complex) -> Array:
    return concatenate([x.real.unsqueeze(x.real.rank), x.imag.unsqueeze(x.real.rank)], x.real.rank)


def _fit(x: Array, extent: int) -> Array:
    """As many numbers along the last dimension; zeros are added."""
    last = x.rank - 1
    x = x.cut(last, 0, min(extent, x.shape[last]))
    missing = extent - x.shape[last]
    return x.pad([*[(0, 0)] * last, (0, missing)], 0) if missing else x


def _each_part(x: Complex | Array, extent: int) -> Complex | Array:
    return x.map(lambda part: _fit(part, extent)) if isinstance(x, Complex) else _fit(x, extent)


def _dft(call: Call) -> Array:
    x = call.array("input")
    axis = int(call.number("axis", -2))
    dim = call.dims(x.rank, (axis,), "axis")[0]
    if dim == x.rank - 1:
        call.refuse("axis is the last dimension, which has the parts of the numbers")
    order = [*(i for i in range(x.rank - 1) if i != dim), dim, x.rank - 1]
    back = [order.index(i) for i in range(x.rank)]
    signal = _read_signal(call, x.permute(order))
    is_half, is_inverse = bool(call["onesided"]), bool(call["inverse"])
    extent = x.shape[dim]
    length = int(call.number("dft_length", 2 * (extent - 1) if is_half and is_inverse else extent))
    if length < 1:
        call.refuse(f"dft_length is {length}; it has to be at least 1")
    call.check_size((*x.shape, length), "f64")
    if is_inverse and is_half:
        if not isinstance(signal, Complex):
            signal = Complex(signal, signal.fill(0))
        part = signal.map(lambda each: _fit(each, length // 2 + 1))
        real = invert_to_real(part, 1, length, factor=1 / length)
        return real.unsqueeze(real.rank).permute(back)
    signal = _each_part(signal, length)
    if is_inverse:
        found = transform(signal, 1, inverse=True, factor=1 / length)
    else:
        found = _transform(signal, is_half=is_half)
    return _pair(found).permute(back)


def _transform(signal: Complex | Array, *, is_half: bool) -> Complex:
    if is_half and not isinstance(signal, Complex):
        return transform_real(signal, 1)
    found = transform(signal, 1)
    if not is_half:
        return found
    last = found.real.rank - 1
    half = found.real.shape[last] // 2 + 1
    return found.map(lambda part: part.cut(last, 0, half))


def _stft(call: Call) -> Array:
    signal = _read_signal(call, call.array("signal"))
    window = call.optional("window")
    length = call.number("frame_length", None if window is None else window.shape[0])
    step = int(call.number("frame_step"))
    extent = (signal.real if isinstance(signal, Complex) else signal).shape[-1]
    if length is None or step < 1 or not 1 <= length <= extent:
        call.refuse(
            f"frame_step is {step} and frame_length {length}, of a signal of {extent} numbers"
        )
    if window is not None and window.shape != (length,):
        call.refuse(f"window has the shape {list(window.shape)}; frames have {length} numbers")

    def frames(part: Array) -> Array:
        found = unfold(part, part.rank - 1, int(length), step)
        return found if window is None else found * window

    parts = signal.map(frames) if isinstance(signal, Complex) else frames(signal)
    return _pair(_transform(parts, is_half=bool(call["onesided"])))


def _mel_weights(call: Call) -> Tensor:
    """Triangles over the frequencies of a transform, at equal distances on the mel scale."""
    bins, length, rate = (
        int(call.number(name)) for name in ("num_mel_bins", "dft_length", "sample_rate")
    )
    limits = [float(call.number(f"{name}_edge_hertz")) for name in ("lower", "upper")]
    name = type_name(int(call["output_datatype"]))
    rows = length // 2 + 1
    if bins < 1 or length < 1 or rate < 1 or min(limits) < 0:
        call.refuse("numbers of bins, of samples and frequencies have to be above 0")
    call.check_size((rows, bins), "f64")
    low, high = (2595 * np.log10(1 + hertz / 700) for hertz in limits)
    mels = low + np.arange(bins + 2) * (high - low) / (bins + 2)
    edges = ((length + 1) * 700 * (10 ** (mels / 2595) - 1) // rate).astype(np.int64)
    if edges.max() > rows:
        call.refuse(f"upper_edge_hertz is {limits[1]}; half of {rate} is the most")
    place = np.arange(rows)[:, None]
    left, centre, right = edges[:-2], edges[1:-1], edges[2:]
    rising = np.where(
        (place >= left) & (place <= centre), (place - left) / np.maximum(centre - left, 1), 0.0
    )
    rising = np.where((centre == left) & (place == centre), 1.0, rising)
    falling = (right - place) / np.maximum(right - centre, 1)
    weights = np.where((place >= centre) & (place < right), falling, rising)
    return Tensor(array_of(weights, call.dtype_of(name)), name)


RULES: dict[str, Rule] = {"DFT": _dft, "MelWeightMatrix": _mel_weights, "STFT": _stft}
"""Rules by the names of operators."""
