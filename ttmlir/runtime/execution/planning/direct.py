"""Functions of steps that do what is the same in each run beforehand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import itemgetter, methodcaller

import numpy as np

from ttmlir.optable.row import Shape
from ttmlir.runtime.element import Array
from ttmlir.runtime.execution.planning.draft import Draft, mnemonic_of
from ttmlir.runtime.execution.planning.step import DATA_ERRORS, Function, Step
from ttmlir.runtime.execution.planning.writers import writer_of
from ttmlir.runtime.execution.window_kernels import pack_conv2d


def call_directly(draft: Draft) -> None:
    """Let steps call functions that are made for their shapes, parameters and constants."""
    for number, step in enumerate(draft.steps):
        writer = writer_of(step)
        if writer is not None:
            draft.steps[number] = replace(step, function=writer)
            continue
        make = _MAKERS.get(mnemonic_of(step))
        if make is None:
            continue
        try:
            changed = make(step, draft.constants)
        except DATA_ERRORS:
            # The run says so, when it gets there.
            continue
        if changed is not None:
            draft.steps[number] = changed


def _shapes(step: Step) -> tuple[Shape, ...]:
    """The shapes of the operands that are there, and of the result."""
    assert step.call is not None, "the step is a row"
    operands = [ref.desc.shape for ref in step.call.operands if ref is not None]
    return (*operands, step.call.output.desc.shape)


def _reshape(step: Step, _: dict[int, Array]) -> Step:
    return replace(step, function=methodcaller("reshape", _shapes(step)[-1]))


def _transpose(step: Step, _: dict[int, Array]) -> Step:
    assert step.call is not None, "the step is a row"
    return replace(step, function=methodcaller("swapaxes", *_numbers(step, "dim0", "dim1")))


def _permute(step: Step, _: dict[int, Array]) -> Step:
    assert step.call is not None, "the step is a row"
    return replace(step, function=methodcaller("transpose", step.call.parameters["permutation"]))


def _numbers(step: Step, *names: str) -> tuple[int, ...]:
    assert step.call is not None, "the step is a row"
    return tuple(step.call.parameters[name] for name in names)


def _slice(step: Step, _: dict[int, Array]) -> Step | None:
    assert step.call is not None, "the step is a row"
    parameters = step.call.parameters
    bounds = list(zip(parameters["begins"], parameters["ends"], parameters["step"], strict=True))
    if any(begin < 0 or end < 0 for begin, end, _ in bounds):
        return None
    return replace(step, function=itemgetter(tuple(slice(*each) for each in bounds)))


def _matmul(step: Step, _: dict[int, Array]) -> Step | None:
    assert step.call is not None, "the step is a row"
    elements = {ref.desc.element for ref in (*step.call.operands, step.call.output) if ref}
    if len(elements) != 1 or not elements.pop().is_float:
        return None
    first, second, result = _shapes(step)
    if len(first) > 2 and len(second) > 1 and second[:-2] == (1,) * len(second[:-2]):
        # One large product instead of many small ones.
        return replace(step, function=_multiply_rows(first[-1], second[-2:], result))
    return replace(step, function=np.matmul)


def _multiply_rows(depth: int, matrix: Shape, result: Shape) -> Function:
    def multiply(a: Array, b: Array) -> Array:
        return np.matmul(a.reshape(-1, depth), b.reshape(matrix)).reshape(result)

    return multiply


def _conv2d(step: Step, constants: dict[int, Array]) -> Step | None:
    """A convolution whose weights are prepared for many images."""
    assert step.call is not None, "the step is a row"
    image, *others = step.inputs
    if image in constants or any(slot not in constants for slot in others):
        return None
    convolve = pack_conv2d(step.call.parameters, *(constants[slot] for slot in others))
    shape = _shapes(step)[-1]
    dtype = step.call.output.desc.element.compute
    if any(constants[slot].dtype != dtype for slot in others):
        return None

    def run(image: Array) -> Array:
        return convolve(image).reshape(shape)

    return replace(step, inputs=(image,), function=run)


def _where(step: Step, constants: dict[int, Array]) -> Step | None:
    """Numbers and one other number, at places that are the same in each run."""
    condition, *choices = step.inputs
    if condition not in constants:
        return None
    is_kept = constants[condition] != 0
    for chosen, other in (choices, choices[::-1]):
        if other in constants and constants[other].size == 1 and chosen not in constants:
            return _masked(step, chosen, is_kept, constants[other].reshape(()))
        is_kept = ~is_kept
    return None


def _masked(step: Step, chosen: int, is_kept: Array, other: Array) -> Step | None:
    """Bits of numbers, or of the other one, which NumPy chooses five times as fast as numbers."""
    assert step.call is not None, "the step is a row"
    ref = step.call.operands[step.inputs.index(chosen)]
    assert ref is not None, "the operation has all operands"
    result = step.call.output.desc
    same = ref.desc.shape == result.shape and ref.desc.element == result.element
    if not same or other.dtype != np.float32 or result.element.compute != np.float32:
        return None
    keep = np.where(is_kept, np.int32(-1), np.int32(0))
    put = np.where(is_kept, np.int32(0), other.view(np.int32))

    def choose(x: Array) -> Array:
        bits = np.bitwise_and(x.view(np.int32), keep)
        return np.bitwise_or(bits, put, out=bits).view(np.float32)

    return replace(step, inputs=(chosen,), function=choose, is_fresh=True)


_MAKERS: dict[str, Callable[[Step, dict[int, Array]], Step | None]] = {
    "reshape": _reshape,
    "transpose": _transpose,
    "permute": _permute,
    "slice": _slice,
    "matmul": _matmul,
    "conv2d": _conv2d,
    "where": _where,
}
"""What makes the step with a function of its own, by mnemonic; None where none is faster."""
