"""Plans how a program's operations run: what becomes one step, and where results are written."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import itemgetter, methodcaller
from typing import Any

import numpy as np

from ttmlir.optable.indexing import check_numbers
from ttmlir.optable.op_definition import Family, Shape, broadcast_shape
from ttmlir.runtime.execution.drafts import Draft, Links, mnemonic_of, read_only, shape_of
from ttmlir.runtime.execution.indexing_kernels import put_rows
from ttmlir.runtime.execution.inlining import inline_cached_calls
from ttmlir.runtime.execution.recurrent import (
    apply_before_slicing,
    join_cells,
    join_gated_units,
    join_sequences,
    slice_after_reshaping,
)
from ttmlir.runtime.execution.steps import (
    DATA_ERRORS,
    Function,
    PreparedProgram,
    Step,
    with_releases,
)
from ttmlir.runtime.execution.window_kernels import pack_conv2d, pack_conv_transpose2d
from ttmlir.runtime.tensor import Array

# --- Writers --------------------------------------------------------------------------------------
# Elementwise operations as functions of NumPy that take the memory of their result.

Writer = Callable[..., Array]
"""Called with the operands, and, as `out`, the array to write the result into, or None."""

_NUMBERS, _FLOATS = "fiu", "f"

_FUNCTIONS: dict[str, tuple[np.ufunc, str]] = {
    "add": (np.add, _NUMBERS),
    "subtract": (np.subtract, _NUMBERS),
    "multiply": (np.multiply, _NUMBERS),
    "maximum": (np.maximum, _NUMBERS),
    "minimum": (np.minimum, _NUMBERS),
    "div": (np.divide, _FLOATS),
    "neg": (np.negative, _FLOATS),
    "abs": (np.absolute, _FLOATS),
    "sqrt": (np.sqrt, _FLOATS),
    "exp": (np.exp, _FLOATS),
    "tanh": (np.tanh, _FLOATS),
    "square": (np.square, _FLOATS),
}
"""By mnemonic, and the kinds of numbers for which they are what the definition means."""


_FEW = 2048
"""Numbers up to which NumPy's `maximum` takes no longer than its `clip`, four times as fast."""


def _relu(dtype: np.dtype[Any]) -> Writer:
    zero, infinity = dtype.type(0), dtype.type(np.inf)

    def relu(x: Array, out: Array | None = None) -> Array:
        if x.size <= _FEW:
            return np.maximum(x, zero, out=out)
        return x.clip(zero, infinity, out=out)

    return relu


def _rsqrt(dtype: np.dtype[Any]) -> Writer:
    one = dtype.type(1)

    def rsqrt(x: Array, out: Array | None = None) -> Array:
        root = np.sqrt(x, out=out)
        return np.divide(one, root, out=root)

    return rsqrt


def _clamp(dtype: np.dtype[Any], *, min: float, max: float) -> Writer:
    low, high = dtype.type(min), dtype.type(max)

    def clamp(x: Array, out: Array | None = None) -> Array:
        return x.clip(low, high, out=out)

    return clamp


def _leaky_relu(dtype: np.dtype[Any], *, parameter: float) -> Writer | None:
    slope = dtype.type(parameter)
    if not 0 < slope <= 1:
        return None

    def leaky_relu(x: Array, out: Array | None = None) -> Array:
        return np.maximum(x, x * slope, out=out)

    return leaky_relu


_WRITERS: dict[str, Callable[..., Writer | None]] = {
    "relu": _relu,
    "rsqrt": _rsqrt,
    "clamp": _clamp,
    "leaky_relu": _leaky_relu,
}
"""What makes the function of floating point numbers for the parameters of a call."""


def writer_of(step: Step) -> Writer | None:
    """The function of an elementwise step; None if it has no fast one."""
    mnemonic = mnemonic_of(step)
    if mnemonic not in _FUNCTIONS and mnemonic not in _WRITERS:
        return None
    assert step.call is not None, "the step is a row"
    descs = [ref.desc for ref in step.call.operands if ref is not None]
    result = step.call.output.desc
    dtype = result.element.compute
    # NumPy returns numbers instead of arrays without dimensions.
    if not result.shape or any(desc.element.compute != dtype for desc in descs):
        return None
    if broadcast_shape(*(desc.shape for desc in descs)) != result.shape:
        return None
    if mnemonic in _WRITERS:
        parameters = step.call.parameters
        return _WRITERS[mnemonic](dtype, **parameters) if dtype.kind in _FLOATS else None
    function, kinds = _FUNCTIONS[mnemonic]
    return function if dtype.kind in kinds else None


# --- Direct ---------------------------------------------------------------------------------------
# Functions of steps that do what is the same in each run beforehand.


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


def _convolution(step: Step, constants: dict[int, Array]) -> Step | None:
    """`_pack` of a convolution that has a padding for each side."""
    assert step.call is not None, "the step is a row"
    given = step.call.parameters
    is_plain = all(each == 1 for each in (*given["input_dilation"], given["batch_group_count"]))
    if not is_plain or any(given["window_reversal"]) or given["dimension_numbers"] != _IMAGES:
        return None
    image, weight, *_ = _shapes(step)
    sides = ("top", "bottom", "left", "right")
    pads = {f"padding_{side}": n for side, n in zip(sides, given["padding"], strict=True)}
    if min(pads.values()) < 0:
        return None
    parameters = {"batch_size": image[0], "in_channels": image[3], **pads}
    parameters["groups"] = given["feature_group_count"]
    for place, axis in enumerate(("height", "width")):
        parameters[f"input_{axis}"] = image[1 + place]
        parameters[f"kernel_{axis}"] = weight[2 + place]
        parameters[f"stride_{axis}"] = given["window_strides"][place]
        parameters[f"dilation_{axis}"] = given["weight_dilation"][place]
    return _pack(pack_conv2d, step, constants, parameters)


_IMAGES = "[b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f]"
"""Images with channels last, and weights with the window last."""


def _pack(
    pack: Callable[..., Function],
    step: Step,
    constants: dict[int, Array],
    parameters: dict[str, Any] | None = None,
) -> Step | None:
    """A convolution whose weights are prepared for many images."""
    assert step.call is not None, "the step is a row"
    image, *others = step.inputs
    if image in constants or any(slot not in constants for slot in others):
        return None
    given = [constants[slot] for slot in others]
    if any(each.dtype != step.call.output.desc.element.compute for each in given):
        return None
    convolve = pack(parameters or step.call.parameters, *given)
    shape = _shapes(step)[-1]

    def run(image: Array) -> Array:
        return convolve(image).reshape(shape)

    return replace(step, inputs=(image,), function=run, is_fresh=True)


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
    if not result.shape:
        return None  # Of scalars NumPy makes no arrays that can be written into.
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
    "conv2d": partial(_pack, pack_conv2d),
    "conv_transpose2d": partial(_pack, pack_conv_transpose2d),
    "convolution": _convolution,
    "where": _where,
}
"""What makes the step with a function of its own, by mnemonic; None where none is faster."""


# --- Views ----------------------------------------------------------------------------------------
# Views of views in one step.

VIEWS = {"reshape", "transpose", "permute", "slice"}
"""Results that may share the memory of their operand, and can be written to if it can."""


def join_views(draft: Draft) -> None:
    """Make a view of a view, which nothing else needs, from the tensor itself."""
    uses = draft.count_uses()
    views: dict[int, int] = {}
    changed: dict[int, Step | None] = {}
    for number, old in enumerate(draft.steps):
        if mnemonic_of(old) not in VIEWS or old.output is None or old.function is None:
            continue
        step = old
        before = views.get(step.inputs[0])
        if before is not None and uses[step.inputs[0]] == 1:
            first = changed.get(before) or draft.steps[before]
            assert first.function is not None, "views are made by a function"
            last = old.function
            if mnemonic_of(old) == "reshape" and shape_of(old):
                last = partial(_shape, shape_of(old))
            function = _one_after_another(first.function, last)
            step = replace(step, inputs=first.inputs, function=function)
            changed[before] = None
            changed[number] = step
        views[old.output] = number
    draft.replace_steps(changed)


_SHORT, _LONG = 4, 16
"""Numbers of a last dimension that NumPy copies one by one, and of the one before from which it is
faster to copy that."""


def _shape(shape: Shape, array: Array) -> Array:
    """The array in another shape; where pixels of few images are put between each other, these are
    copied one after another."""
    if array.ndim > 1 and 1 < array.shape[-1] <= _SHORT and array.shape[-2] >= _LONG:
        is_joined = shape[-1] > array.shape[-1]
        if is_joined and array.strides[-2] != array.strides[-1] * array.shape[-1]:
            copy = np.empty(array.shape, array.dtype)
            for place in range(array.shape[-1]):
                copy[..., place] = array[..., place]
            array = copy
    return array.reshape(shape)


def _one_after_another(first: Function, second: Function) -> Function:
    def view(array: Array) -> Array:
        return second(first(array))

    return view


# --- Movement -------------------------------------------------------------------------------------
# Chains of steps that only move numbers, as borders that are repeated, in one step.

_LARGEST = 1 << 22
"""Numbers up to which it is worked out beforehand where each of them goes."""


def sink_views(draft: Draft) -> None:
    """Apply functions of single numbers before their operand is put in another shape.

    So views come to stand beside other views.
    """
    uses = draft.count_uses()
    steps = draft.steps
    views: dict[int, int] = {}
    for number, step in enumerate(steps):
        view = views.get(step.inputs[0]) if len(step.inputs) == 1 else None
        if mnemonic_of(step) in VIEWS - {"slice"} and step.output is not None:
            views[step.output] = number
        elif view is not None and uses[step.inputs[0]] == 1 and _is_unary(step):
            before, call = steps[view].call, step.call
            assert before is not None, "views are rows"
            assert call is not None, "functions are rows"
            assert before.operands[0] is not None, "views have an operand"
            desc, slot = before.operands[0].desc, draft.new_slot()
            call = replace(
                call, operands=before.operands, outputs=(replace(call.output, desc=desc),)
            )
            moved = replace(steps[view], inputs=(slot,), output=step.output)
            steps[view] = replace(
                step, inputs=steps[view].inputs, output=slot, output_desc=desc, call=call
            )
            steps[number] = moved
            assert step.output is not None, "functions have a result"
            views[step.output] = number


def _is_unary(step: Step) -> bool:
    """True for a function of single numbers whose results are like its operands."""
    if (
        not mnemonic_of(step)
        or step.call is None
        or step.call.definition.family is not Family.UNARY
    ):
        return False
    operand, result = step.call.operands[0], step.call.output
    return operand is not None and (operand.desc.shape, operand.desc.element) == (
        result.desc.shape,
        result.desc.element,
    )


def join_moves(draft: Draft) -> None:
    """Take the results of chains with lookups in constant places at once from their operand."""
    uses = draft.count_uses()
    chains: dict[int, list[int]] = {}
    """The steps of the chain that makes a slot."""
    for number, step in enumerate(draft.steps):
        source = _source_of(step, draft.constants)
        if source is not None and step.output is not None:
            before = chains.get(source, []) if uses[source] == 1 else []
            chains[step.output] = [*before, number]
            chains.pop(source, None) if before else None
    changed: dict[int, Step | None] = {}
    for numbers in chains.values():
        steps = [draft.steps[number] for number in numbers]
        lookups = sum(mnemonic_of(step) == "embedding" for step in steps)
        if not lookups or len(steps) < 2:
            continue
        joined = _join(steps, draft.constants)
        if joined is not None:
            changed.update(dict.fromkeys(numbers))
            changed[numbers[-1]] = joined
    draft.replace_steps(changed)


def _source_of(step: Step, constants: dict[int, Array]) -> int | None:
    """The slot whose numbers a step puts elsewhere; None if it does anything else."""
    mnemonic = mnemonic_of(step)
    if mnemonic in VIEWS and isinstance(step.function, methodcaller | itemgetter):
        return step.inputs[0]
    if mnemonic == "embedding" and step.inputs[0] in constants:
        return step.inputs[1]
    return None


def _join(steps: list[Step], constants: dict[int, Array]) -> Step | None:
    """The last step of a chain, from the operand of the first one; None if it is too large."""
    first, last = steps[0].call, steps[-1]
    assert first is not None, "steps that move numbers are rows"
    ref = first.operands[1 if mnemonic_of(steps[0]) == "embedding" else 0]
    assert ref is not None, "steps that move numbers have all operands"
    shape = ref.desc.shape
    if not 0 < max(math.prod(shape), math.prod(shape_of(last))) <= _LARGEST:
        return None
    places = np.arange(math.prod(shape)).reshape(shape)
    for step in steps:
        if mnemonic_of(step) == "embedding":
            rows, desc = constants[step.inputs[0]].astype(np.int64), step.output_desc
            assert desc is not None, "lookups have a result"
            table = places.reshape(-1, desc.shape[-1])
            if rows.size and not 0 <= rows.min() <= rows.max() < len(table):
                # The run says so, when it gets there.
                return None
            places = table[rows].reshape(desc.shape)
        else:
            assert step.function is not None, "views are made by a function"
            places = step.function(places)
    source = _source_of(steps[0], constants)
    assert source is not None, "the first step has an operand"
    function = _take(places.reshape(-1), shape, shape_of(last))
    return replace(last, inputs=(source,), function=function, is_unrounded=False, is_fresh=True)


def _take(places: Array, source: Shape, shape: Shape) -> Function:
    """The numbers at places of a flat tensor, as many neighbours at a time as stay neighbours."""
    breaks = np.flatnonzero(np.diff(places) != 1) + 1
    starts = places[np.concatenate([[0], breaks])]
    ends = math.gcd(places.size, math.prod(source))
    run = int(np.gcd.reduce(np.concatenate([breaks, starts, [ends]])))
    rows = places[::run] // run

    def take(array: Array) -> Array:
        return array.reshape(-1, run).take(rows, axis=0).reshape(shape)

    return take


# --- Reuse ----------------------------------------------------------------------------------------
# Results in the memory of operands that nothing needs any more.

_FRESH = {
    *(
        "conv2d",
        "convolution",
        "conv_transpose2d",
        "matmul",
        "embedding",
        "concat",
        "mean",
        "sum",
        "max_pool2d",
    ),
    *("erf", "gelu", "sigmoid", "silu"),
}
"""Results of floating point numbers in memory of their own, other than those with a writer."""


def reuse_memory(draft: Draft) -> None:
    """Let steps write into an operand that they are the last to read."""
    writers = [writer_of(step) for step in draft.steps]
    memory = _Memory(draft, writers)
    for number, (step, writer) in enumerate(zip(draft.steps, writers, strict=True)):
        if writer is None or step.call is None or step.output is None:
            continue
        shape = step.call.output.desc.shape
        element = step.call.output.desc.element
        for place, (slot, operand) in enumerate(zip(step.inputs, step.call.operands, strict=True)):
            if operand is None or (operand.desc.shape, operand.desc.element) != (shape, element):
                continue
            if memory.is_free(slot, number):
                draft.steps[number] = replace(step, function=_write_into(writer, place))
                memory.join(step.output, slot)
                break


def _write_into(writer: Writer, place: int) -> Function:
    def write(*operands: Array) -> Array:
        return writer(*operands, out=operands[place])

    return write


class _Memory:
    """Which slots may share memory, and when it is read for the last time."""

    def __init__(self, draft: Draft, writers: list[Writer | None]) -> None:
        """Follow the steps."""
        self._first: dict[int, int] = {}
        """The slot that the memory of another slot was made for. Others are not known: their
        memory may belong to anybody."""
        self._last: dict[int, int] = {}
        """The last step that reads the memory of a first slot."""
        for number, (step, writer) in enumerate(zip(draft.steps, writers, strict=True)):
            self._follow(number, step, writer)
        for slot in draft.outputs:
            self._read(slot, sys.maxsize)

    def _follow(self, number: int, step: Step, writer: Writer | None) -> None:
        mnemonic = mnemonic_of(step)
        for slot in step.inputs:
            self._read(slot, number)
        is_fresh = (step.is_fresh or writer is not None) or (
            mnemonic in _FRESH
            and step.output_desc is not None
            and step.output_desc.element.is_float
        )
        if is_fresh and step.output is not None:
            self._first[step.output] = step.output
            self._last[step.output] = number
        elif mnemonic in VIEWS and step.inputs[0] in self._first and step.output is not None:
            self._first[step.output] = self._first[step.inputs[0]]
        else:
            # The result may be a part of any operand, and live as long as it likes.
            for slot in step.inputs:
                self._read(slot, sys.maxsize)

    def _read(self, slot: int, number: int) -> None:
        if slot in self._first:
            first = self._first_of(slot)
            self._last[first] = max(self._last[first], number)

    def _first_of(self, slot: int) -> int:
        first = self._first[slot]
        while first != self._first[first]:
            first = self._first[first]
        return first

    def is_free(self, slot: int, number: int) -> bool:
        """True if nothing reads the memory of a slot after a step."""
        return slot in self._first and self._last[self._first_of(slot)] == number

    def join(self, slot: int, into: int) -> None:
        """A slot is written into the memory of another one."""
        first = self._first_of(into)
        self._last[first] = max(self._last[first], self._last[slot])
        self._first[slot] = first


# --- Constants ------------------------------------------------------------------------------------
# What is the same in each run is computed once, and what a run computes twice as well.

_ROOM = 16 << 20
"""Bytes that results of constants may take, in addition to as many as the constants take."""
_SMALL = 64 << 10
"""Bytes of a result that may be kept for long instead of being computed again."""
_NEAR = 16
"""Steps for which any result may be kept."""


def fold_constants(draft: Draft) -> None:
    """Compute the steps that depend on constants alone; what only these take is not kept."""
    room = _ROOM + sum(step.constant.nbytes for step in draft.steps if step.constant is not None)
    room += sum(value.nbytes for value in draft.constants.values())
    takers = draft.count_uses()
    made: dict[int, int] = {}
    left: list[Step] = []
    for step in draft.steps:
        value = step.constant
        if value is None and _is_constant(step, draft):
            value = _compute(step, draft, room)
            if value is not None and step.output is not None:
                made[step.output] = value.nbytes
                room -= value.nbytes
                takers.subtract(step.inputs)
                for slot in {slot for slot in step.inputs if slot in made and not takers[slot]}:
                    room += made.pop(slot)
                    del draft.constants[slot]
        if value is None or step.output is None:
            left.append(step)
        else:
            draft.constants[step.output] = read_only(value)
    draft.steps = left


def _is_constant(step: Step, draft: Draft) -> bool:
    return (
        step.is_pure and not step.further and all(slot in draft.constants for slot in step.inputs)
    )


def _compute(step: Step, draft: Draft, room: int) -> Array | None:
    """The result of a step on constants; None if it is too large, or if there is none."""
    assert step.function is not None, "pure steps have a function"
    assert step.output_desc is not None, "pure steps have a result"
    if step.output_desc.volume * step.output_desc.element.compute.itemsize > room:
        return None
    try:
        with np.errstate(all="ignore"):
            return np.asarray(step.function(*(draft.constants[slot] for slot in step.inputs)))
    except DATA_ERRORS:
        # The run says so, when it gets there.
        return None


def join_equal_steps(draft: Draft) -> None:
    """Use the result of an equal step instead of computing it again, where memory allows."""
    seen: dict[Hashable, tuple[int, int]] = {}
    names = _equal_constants(draft)
    left: list[Step] = []
    for number, old in enumerate(draft.steps):
        step = old
        if any(slot in names for slot in step.inputs):
            step = replace(step, inputs=tuple(names.get(slot, slot) for slot in step.inputs))
        if mnemonic_of(step) == "typecast" and _is_unary(step) and step.output is not None:
            # To the type that the operand has.
            names[step.output] = step.inputs[0]
            continue
        key = _meaning(step)
        if key is not None and step.output is not None:
            first, slot = seen.get(key, (number, step.output))
            if slot != step.output and (number - first <= _NEAR or _is_small(step)):
                names[step.output] = slot
                continue
            seen[key] = number, step.output
        left.append(step)
    draft.steps = left
    draft.outputs = tuple(names.get(slot, slot) for slot in draft.outputs)


def _equal_constants(draft: Draft) -> dict[int, int]:
    """For small constants, the first slot that holds the same."""
    first: dict[Hashable, int] = {}
    return {
        slot: first.setdefault((value.dtype.str, value.shape, value.tobytes()), slot)
        for slot, value in draft.constants.items()
        if value.nbytes <= _SMALL
    }


def _is_small(step: Step) -> bool:
    assert step.output_desc is not None, "the step has a result"
    return step.output_desc.volume * step.output_desc.element.compute.itemsize <= _SMALL


def _meaning(step: Step) -> Hashable:
    """What equal steps have in common; None if the step may not be joined with another."""
    if not step.is_pure or step.call is None or step.further:
        return None
    parameters = tuple(sorted(step.call.parameters.items()))
    mnemonic, inputs, desc = step.call.definition.mnemonic, step.inputs, step.output_desc
    if mnemonic_of(step) == "multiply" and len({*inputs}) == 1:
        mnemonic, inputs = "square", inputs[:1]
    # Wherever the memory of a device is, it holds the same.
    stored = None if desc is None else (desc.shape, desc.element, desc.data_type)
    try:
        key = mnemonic, inputs, parameters, step.call.compute_config, stored
        hash(key)
    except TypeError:
        return None
    # Equal numbers of different types are equal keys: True and 1, 0.0 and -0.0.
    return key, repr(parameters)


# --- Lookups --------------------------------------------------------------------------------------
# Products of rows that are looked up, as rows of products: each row of a table is multiplied once.
#
# Messages along the edges of a graph are such products: `concat([x[begin], x[end]]) @ weights` is
# `(x @ upper)[begin] + (x @ lower)[end]`.

_DEEP = 32
"""Columns of a table from which on its product takes longer than sums of what is looked up."""


def multiply_before_lookups(draft: Draft) -> None:
    """Multiply tables instead of the rows that are taken from them, where these are more."""
    search = _Search(draft)
    instead: dict[int, list[Step]] = {}
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "matmul":
            instead |= search.find(number)
    draft.steps = [
        each for number, step in enumerate(draft.steps) for each in instead.get(number, [step])
    ]


class _Search(Links):
    """Finds products of a matrix with rows of tables, which may stand side by side."""

    def find(self, number: int) -> dict[int, list[Step]]:
        """What takes the place of a product's and other steps; nothing if it is no such product."""
        product = self.draft.steps[number]
        rows, weights = product.inputs
        joined = self.made_by(rows, "concat")
        slots = (rows,) if joined is None else joined.inputs
        lookups = [self.made_by(slot, "embedding") for slot in slots]
        found = [each for each in lookups if each is not None and _is_cheaper(product, each)]
        if len(found) != len(slots) or sum(shape_of(each)[-1] for each in found) != _depth(product):
            return {}
        instead: dict[int, list[Step]] = {}
        for each in (*found, *([] if joined is None else [joined])):
            instead[self.writers[each.written[0]]] = []
        instead[number] = self._steps(product, weights, found)
        return instead

    def _steps(self, product: Step, weights: int, lookups: list[Step]) -> list[Step]:
        """Products of tables, rows of these, and their sums."""
        steps: list[Step] = []
        total = None
        first = 0
        for lookup in lookups:
            call, depth = lookup.call, shape_of(lookup)[-1]
            assert call is not None, "lookups are rows"
            part, chosen = self.draft.new_slot(), self.draft.new_slot()
            multiply = _multiply(slice(first, first + depth))
            made = replace(product, is_unrounded=False, is_fresh=True)
            table = lookup.inputs[1]
            steps.append(replace(made, function=multiply, inputs=(table, weights), output=part))
            desc = product.output_desc
            assert desc is not None, "products have a result"
            call = replace(call, outputs=(replace(call.output, desc=desc),))
            taken = (lookup.inputs[0], part)
            steps.append(replace(lookup, inputs=taken, output=chosen, output_desc=desc, call=call))
            if total is not None:
                both = (total, chosen)
                chosen = self.draft.new_slot()
                steps.append(replace(made, function=_add, inputs=both, output=chosen))
            total, first = chosen, first + depth
        steps[-1] = replace(steps[-1], output=product.output)
        return steps


def _depth(product: Step) -> int:
    """The columns of the first operand of a product of two float32 matrices; 0 for others."""
    assert product.call is not None, "products are rows"
    descs = [ref.desc for ref in product.call.operands if ref is not None]
    if any(len(desc.shape) != 2 or desc.element.compute != np.float32 for desc in descs):
        return 0
    return descs[0].shape[1]


def _is_cheaper(product: Step, lookup: Step) -> bool:
    """True if a table has at most half as many rows as are taken from it, and enough columns."""
    assert lookup.call is not None, "lookups are rows"
    table = lookup.call.operands[1]
    assert table is not None, "lookups have a table"
    rows, *columns = shape_of(lookup)
    is_matrix = len(columns) == len(table.desc.shape) - 1 == 1 and columns[0] >= _DEEP
    return is_matrix and rows == shape_of(product)[0] and 2 * table.desc.shape[0] <= rows


def _multiply(rows: slice) -> Function:
    def multiply(table: Array, weights: Array) -> Array:
        return np.matmul(table, weights[rows])

    return multiply


def _add(total: Array, more: Array) -> Array:
    return np.add(total, more, out=total)


# --- Scattered rows -------------------------------------------------------------------------------
# Places of whole rows that an index spells out for each number.


def scatter_whole_rows(draft: Draft) -> None:
    """Take the numbers of rows that are scattered, not an index of all their columns."""
    links = Links(draft)
    changed: dict[int, Step | None] = {}
    unused: set[int] = set()
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "rows_scatter":
            joined = _without_columns(step, links)
            if joined is not None:
                unused.update(step.inputs[1:2])
                changed[number] = joined
    draft.replace_steps(changed)
    uses = draft.count_uses()
    left: list[Step] = []
    for step in reversed(draft.steps):
        # What made the index is not needed for anything else.
        if step.output in unused and not uses[step.output]:
            unused.update(step.inputs)
            uses.subtract(step.inputs)
        else:
            left.append(step)
    draft.steps = left[::-1]


def _without_columns(step: Step, links: Links) -> Step | None:
    """The step on an index of rows (N, 1), if it repeats these beside all columns (1, 2, N * W)."""
    call = step.call
    assert call is not None, "the step is a row"
    given, (target, index, source) = call.parameters, step.inputs
    joined = links.made_by(index, "concat", uses=None)
    if joined is None or len(joined.inputs) != 2 or len(given["sizes"]) != 2:
        return None
    shaped = links.made_by(joined.inputs[0], "reshape", uses=None)
    repeated = None if shaped is None else links.made_by(shaped.inputs[0], "repeat", uses=None)
    columns = links.draft.constants.get(joined.inputs[1])
    if repeated is None or columns is None:
        return None
    width: int = given["sizes"][1]
    count = math.prod(_shapes(repeated)[0])
    if _shapes(repeated)[0] != (count, 1) or shape_of(repeated) != (count, width):
        return None
    if shape_of(joined) != (1, 2, count * width) or tuple(given["windows"]) != (1, 1):
        return None
    if width < 2 or _shapes(step)[0] != (1, *given["sizes"]) or not count:
        return None
    spelled = np.broadcast_to(np.arange(width), (count, width))
    if not np.array_equal(columns.reshape(count, width), spelled):
        return None
    reduction: str = given["reduction"]

    def run(input: Array, index: Array, source: Array) -> Array:
        output = input.copy()
        numbers = index.reshape(count).astype(np.int64, copy=False)
        if call.refuses_outside:
            check_numbers(numbers, len(output[0]), "written to")
        put_rows(output[0], numbers, source.reshape(count, width), reduction)
        return output

    inputs = (target, repeated.inputs[0], source)
    return replace(step, function=run, inputs=inputs, is_unrounded=False, is_fresh=True)


# --- Normalization --------------------------------------------------------------------------------
# Layer normalization as one step instead of nine.

_SQUARES_IN_FLOAT32 = 1024
"""Up to so many squares, a sum in the lanes of a vector is as good as one in float64."""


def join_normalizations(draft: Draft) -> None:
    """Join the steps of normalizations over the last dimensions of float32."""
    search = _NormalizationSearch(draft)
    changed: dict[int, Step | None] = {}
    for number, step in enumerate(draft.steps):
        if mnemonic_of(step) == "multiply" and number not in changed:
            found = search.find(step)
            if found is not None:
                last, joined, left_out = found
                changed.update(dict.fromkeys(left_out))
                changed[last] = joined
    draft.replace_steps(changed)


class _NormalizationSearch(Links):
    """Finds normalizations by the product of what is left of the mean with a reciprocal root."""

    def find(self, scaled: Step) -> tuple[int, Step, list[int]] | None:
        """The number of the last step of a normalization, what takes its place, and the others."""
        root = self.made_by(scaled.inputs[1], "rsqrt")
        centered = self.made_by(scaled.inputs[0], "subtract", uses=None)
        if root is None or centered is None:
            return None
        above = self.made_by(root.inputs[0], "add")
        if above is None or above.inputs[1] not in self.draft.constants:
            return None
        variance = self.made_by(above.inputs[0], "mean")
        squares = None if variance is None else self._squares_of(variance.inputs[0], centered)
        mean = self.made_by(centered.inputs[1], "mean")
        if variance is None or squares is None or mean is None:
            return None
        epsilon = self.draft.constants[above.inputs[1]]
        columns = _reduced(mean)
        if not (
            self.uses[scaled.inputs[0]] == 1 + len(squares.inputs)
            and mean.inputs[0] == centered.inputs[0]
            and columns
            and columns == _reduced(variance)
            and epsilon.size == 1
            and epsilon.dtype == np.float32
        ):
            return None
        steps = [mean, centered, squares, variance, above, root, scaled]
        inputs = [mean.inputs[0]]
        for mnemonic in ("multiply", "add"):
            following = self._follow(steps[-1], mnemonic, columns)
            if following is None:
                break
            steps.append(following)
            inputs.append(following.inputs[1])
        function = _normalize(columns, np.float32(epsilon.reshape(())), shape_of(scaled))
        last = replace(steps[-1], inputs=tuple(inputs), function=function, is_unrounded=False)
        numbers = [self.writers[step.written[0]] for step in steps]
        return numbers[-1], replace(last, is_fresh=True), numbers[:-1]

    def _squares_of(self, slot: int, centered: Step) -> Step | None:
        """The step that makes squares of what is left of the mean, if it makes a slot."""
        squares = self.made_by(slot, "square") or self.made_by(slot, "multiply")
        return squares if squares is not None and {*squares.inputs} == {*centered.written} else None

    def _follow(self, step: Step, mnemonic: str, columns: Shape) -> Step | None:
        """The only step that reads a result, if it combines it with a number, or one a column."""
        (slot,) = step.written
        if self.uses[slot] != 1 or slot in self.draft.outputs:
            return None
        following = self.draft.steps[self.readers[slot][0]]
        if mnemonic_of(following) != mnemonic or following.inputs[0] != slot:
            return None
        assert following.call is not None, "the step is a row"
        assert following.call.operands[1] is not None, "the operation has two operands"
        other = following.call.operands[1].desc
        fits = other.shape[-len(columns) :] == columns and other.volume == math.prod(columns)
        fits = fits or other.volume == 1
        return following if fits and shape_of(following) == shape_of(step) else None


def _reduced(step: Step) -> Shape:
    """The extents of the last dimensions that a mean of float32 is taken of; () for others."""
    assert step.call is not None, "the step is a row"
    assert step.call.operands[0] is not None, "the operation has an operand"
    desc = step.call.operands[0].desc
    dims = step.call.parameters["dim_arg"]
    if dims is None or not step.call.parameters["keep_dim"] or not desc.volume:
        return ()
    rank = len(desc.shape)
    places = sorted(dim % rank for dim in dims)
    is_last = places == list(range(rank - len(places), rank))
    is_narrow = desc.element.compute == np.float32
    return desc.shape[rank - len(places) :] if is_last and is_narrow else ()


def _normalize(columns: Shape, epsilon: np.float32, shape: Shape) -> Function:
    count = math.prod(columns)
    weights = np.full(count, 1 / count)
    one = np.float32(1)

    def normalize(x: Array, scale: Array | None = None, offset: Array | None = None) -> Array:
        rows = x.reshape(-1, count)
        means = (rows.astype(np.float64) @ weights).astype(np.float32)
        result = rows - means[:, None]
        if count <= _SQUARES_IN_FLOAT32:
            squares = np.vecdot(result, result) / np.float32(count)
        else:
            wide = result.astype(np.float64)
            squares = (np.vecdot(wide, wide) / count).astype(np.float32)
        squares += epsilon
        np.sqrt(squares, out=squares)
        np.divide(one, squares, out=squares)
        result *= squares[:, None]
        if scale is not None:
            result *= scale.reshape(-1)
        if offset is not None:
            result += offset.reshape(-1)
        return result.reshape(shape)

    return normalize


# --- Plan -----------------------------------------------------------------------------------------
# The steps of a program as they run where nobody watches each of them.


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What a run does, and the slots that it begins with."""

    steps: tuple[Step, ...]
    values: tuple[Array | None, ...]
    """The constants by slot; None for slots that are written."""
    outputs: tuple[int, ...]


def make_plan(steps: Sequence[Step], outputs: tuple[int, ...], slots: int) -> Plan:
    """The fastest way that is known to compute the same results, but for last digits of sums."""
    steps, outputs, slots = inline_cached_calls(steps, outputs, slots)
    draft = Draft([step for step in steps if not step.is_idle], outputs, slots)
    fold_constants(draft)
    join_equal_steps(draft)
    slice_after_reshaping(draft)
    apply_before_slicing(draft)
    join_cells(draft)
    join_sequences(draft)
    join_gated_units(draft)
    join_normalizations(draft)
    multiply_before_lookups(draft)
    scatter_whole_rows(draft)
    sink_views(draft)
    call_directly(draft)
    join_moves(draft)
    join_views(draft)
    reuse_memory(draft)
    constants = {slot for slot in draft.count_uses() if slot in draft.constants}
    keep = {*draft.outputs, *constants}
    return Plan(
        steps=with_releases([replace(step, release=()) for step in draft.steps], keep=keep),
        values=tuple(
            draft.constants[slot] if slot in constants else None for slot in range(draft.slots)
        ),
        outputs=draft.outputs,
    )


def plan_of(program: PreparedProgram) -> Plan:
    """The steps of a program as they run where nobody watches each of them."""
    if "plan" not in program.derived:
        _keep_memory()
        program.derived["plan"] = make_plan(program.steps, program.outputs, program.slots)
    return program.derived["plan"]


_KEPT = (32 << 20) - (64 << 10)
"""Bytes up to which glibc learns to keep memory."""


@cache
def _keep_memory() -> None:
    """Let arrays that are freed leave their memory to the next ones.

    glibc gives large pieces back to the system, and clears them again, each time, which takes
    longer than most operations; it stops that for sizes that it has seen freed once. Nothing is
    written to the memory here, so that none is taken.
    """
    with suppress(MemoryError):
        np.empty(_KEPT, np.uint8)


def make_plans(program: PreparedProgram) -> None:
    """Make the plan, and those of the functions that are called, before the first run."""
    if "plan" in program.derived:
        return
    for step in plan_of(program).steps:
        for callee in () if step.control is None else step.control.callees:
            make_plans(callee)
