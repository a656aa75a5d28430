"""Calls of ttnn as operations of the IR.

A rule takes the recorder, the arguments by name and the result, and returns the value of the
result. What ttnn itself refuses never comes here: every call is made, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xdsl.ir import SSAValue

from ttmlir.optable import ROWS
from ttmlir.optable.row import Family
from ttmlir.ttnn.operations.movement import slice_places
from ttmlir.ttnn.operations.rearrangement import Rearrangement
from ttmlir.ttnn.tensor.indexing import full_index
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn_jit.errors import CompilationError

if TYPE_CHECKING:
    from ttmlir.ttnn_jit.recording import Recorder

Rule = Callable[["Recorder", Mapping[str, Any], Tensor], SSAValue]
"""Records a call; CompilationError for arguments that kernels do not have."""

_OTHER_NAMES = {"divide": "div", "bitwise_left_shift": "logical_left_shift"}
"""Mnemonics of functions that have another name in ttnn."""

_RESHAPES = ("reshape", "reshape_on_device", "squeeze", "unsqueeze", "unsqueeze_to_4D", "view")

_MEANINGFUL = (
    *("activation", "activations", "output_tensor", "optional_output_tensor", "rounding_mode"),
    *("input_tensor_a_activations", "input_tensor_b_activations"),
)
"""Arguments that ask for more than the operation."""


def refuse_arguments(name: str, values: Mapping[str, Any]) -> None:
    """CompilationError for arguments that ask for more than the operation."""
    for each in _MEANINGFUL:
        if values.get(each):
            raise CompilationError(
                f"ttnn.{name}: {each} is not supported in a function that is compiled; call what "
                "it stands for by itself"
            )


def _unary(mnemonic: str) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        return recorder.create(mnemonic, (values["input_tensor"],), result)

    return record


def _binary(mnemonic: str) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        operands = values["input_tensor_a"], values["input_tensor_b"]
        return recorder.create(mnemonic, operands, result)

    return record


def _power(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    return recorder.create("pow", (values["input_tensor"], values["exponent"]), result)


def _where(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    operands = values["predicate"], values["true_value"], values["false_value"]
    return recorder.create("where", operands, result)


def _clamp(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    low, high = values["min"], values["max"]
    if isinstance(low, Tensor) or isinstance(high, Tensor):
        raise CompilationError("ttnn.clamp: limits are numbers in a function that is compiled")
    low, high = (float("-inf") if low is None else low), (float("inf") if high is None else high)
    operands = (values["input_tensor"],)
    return recorder.create("clamp", operands, result, min=float(low), max=float(high))


def _reduction(mnemonic: str) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        tensor, dim = values["input_tensor"], values["dim"]
        if values.get("scalar", 1.0) != 1.0:
            raise CompilationError(f"ttnn.{mnemonic}: scalar is 1 in a function that is compiled")
        rank = len(tensor.shape)
        listed: Sequence[int] = range(rank) if dim is None else (dim,) if _is_int(dim) else dim
        dims = tuple(sorted(int(each) % rank for each in listed))
        keep = bool(values["keepdim"])
        return recorder.create(mnemonic, (tensor,), result, dim_arg=dims, keep_dim=keep)

    return record


def _is_int(value: object) -> bool:
    return isinstance(value, int)


def _matmul(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    operands = [
        recorder.transpose(values[name]) if values[flag] else values[name]
        for name, flag in (("input_tensor_a", "transpose_a"), ("input_tensor_b", "transpose_b"))
    ]
    return recorder.create("matmul", operands, result)


def _permute(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    order = tuple(int(dim) % len(tensor.shape) for dim in values["dims"])
    return recorder.create("permute", (tensor,), result, permutation=order)


def _transpose(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    rank = len(tensor.shape)
    dim0, dim1 = int(values["dim1"]) % rank, int(values["dim2"]) % rank
    return recorder.create("transpose", (tensor,), result, dim0=dim0, dim1=dim1)


def _reshape(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor" if "input_tensor" in values else "tensor"]
    return recorder.create("reshape", (tensor,), result, shape=tuple(result.shape))


def _rearrange(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    plan = Rearrangement.of(values["pattern"], tuple(tensor.shape), values["axes_lengths"])
    turned = tuple(plan.axes[axis] for axis in plan.order)
    return recorder.chain(
        tensor,
        ("reshape", plan.axes, {"shape": plan.axes}),
        ("permute", turned, {"permutation": plan.order}),
        ("reshape", plan.shape, {"shape": plan.shape}),
        result=result,
    )


def _slice(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if any(isinstance(values[name], Tensor) for name in ("starts", "ends")):
        raise CompilationError("ttnn.slice: places are numbers in a function that is compiled")
    tensor = values["input_tensor"]
    starts, ends, steps = slice_places(tensor.shape, values)
    return recorder.create("slice", (tensor,), result, begins=starts, ends=ends, step=steps)


def _get_item(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    """A slice, and without the dimensions that have integers."""
    tensor = values["tensor"]
    places = [
        range(extent)[place] if isinstance(place, slice) else range(extent)[place:][:1]
        for extent, place in zip(tensor.shape, full_index(tensor, values["index"]), strict=True)
    ]
    shape = tuple(map(len, places))
    if 0 in shape:
        raise CompilationError(f"a part of a tensor has no elements: {list(shape)}")
    parameters = {
        "begins": tuple(each.start for each in places),
        "ends": tuple(each[-1] + 1 for each in places),
        "step": tuple(each.step for each in places),
    }
    whole = tuple(result.shape)
    return recorder.chain(
        tensor, ("slice", shape, parameters), ("reshape", whole, {"shape": whole}), result=result
    )


def _pad(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if values["args"]:
        raise CompilationError(
            "ttnn.pad: give pairs for each dimension in a function that is compiled"
        )
    tensor, fill = values["input_tensor"], values["value"]
    pairs = [(int(low), int(high)) for low, high in values["padding"]]
    pairs = [(0, 0)] * (len(tensor.shape) - len(pairs)) + pairs
    padding = tuple(each for pair in pairs for each in pair)
    return recorder.create("pad", (tensor,), result, padding=padding, value=float(fill or 0))


def _stack(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    dim = int(values["dim"]) % len(result.shape)
    tensors = list(values["tensors"])
    shape = list(result.shape)
    shape[dim] = 1
    parts = [
        recorder.chain(each, ("reshape", tuple(shape), {"shape": tuple(shape)})) for each in tensors
    ]
    return recorder.create("concat", parts, result, dim=dim)


def _repeat_interleave(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor, count = values["input_tensor"], int(values["repeats"])
    dim, shape = int(values["dim"]) % len(tensor.shape), tuple(tensor.shape)
    before, behind = shape[: dim + 1], shape[dim + 1 :]
    times = (*(1 for _ in before), count, *(1 for _ in behind))
    whole = tuple(result.shape)
    return recorder.chain(
        tensor,
        ("reshape", (*before, 1, *behind), {"shape": (*before, 1, *behind)}),
        ("repeat", (*before, count, *behind), {"repeat_dimensions": times}),
        ("reshape", whole, {"shape": whole}),
        result=result,
    )


def _expand(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor, whole = values["input_tensor"], tuple(result.shape)
    own = (1,) * (len(whole) - len(tensor.shape)) + tuple(tensor.shape)
    times = tuple(extent // mine for extent, mine in zip(whole, own, strict=True))
    return recorder.chain(
        tensor,
        ("reshape", own, {"shape": own}),
        ("repeat", whole, {"repeat_dimensions": times}),
        result=result,
    )


def _linear(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    product = _matmul(recorder, values, result)
    bias = values["bias"]
    if bias is None:
        return product
    if bias.dtype != result.dtype:
        raise CompilationError("ttnn.linear: the bias has the data type of the result")
    return recorder.create("add", (product, bias), result)


def _cumsum(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    if values["reverse_order"] or tensor.dtype != result.dtype:
        raise CompilationError(
            "ttnn.cumsum: reverse_order and dtype are not supported in a function that is compiled"
        )
    dim = int(values["dim"]) % len(tensor.shape)
    return recorder.create("cumsum", (tensor,), result, dim=dim)


def _concat(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensors = values["tensors"]
    dim = int(values["dim"]) % len(result.shape)
    return recorder.create("concat", tensors, result, dim=dim)


def _repeat(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    times = tuple(int(each) for each in values["repetition_vector"])
    return recorder.create("repeat", (values["input_tensor"],), result, repeat_dimensions=times)


def _embedding(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    if values["padding_idx"] is not None:
        raise CompilationError(
            "ttnn.embedding: padding_idx is not supported in a function that is compiled"
        )
    return recorder.create("embedding", (values["input_tensor"], values["weight"]), result)


def _softmax(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    tensor = values["input_tensor"]
    dim = int(values["dim"]) % len(tensor.shape)
    return recorder.create("softmax", (tensor,), result, dimension=dim)


def _collect(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    """A collective operation among one device."""
    return recorder.move(values["input_tensor"], result)


def _move(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    """A change of memory, of rows and tiles or of the data type."""
    return recorder.move(values["input_tensor" if "input_tensor" in values else "tensor"], result)


def _typecast(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
    return recorder.create("typecast", (values["input_tensor"],), result)


def _fill(number: float | None = None) -> Rule:
    def record(recorder: Recorder, values: Mapping[str, Any], result: Tensor) -> SSAValue:
        return recorder.fill(values["fill_value"] if number is None else number, result)

    return record


def _of_family(family: Family, rule: Callable[[str], Rule]) -> dict[str, Rule]:
    return {
        row.mnemonic: rule(row.mnemonic)
        for row in ROWS.values()
        if row.family is family and row.in_ttnn and row.in_ttir
    }


RULES: Mapping[str, Rule] = {
    **_of_family(Family.UNARY, _unary),
    **_of_family(Family.BINARY, _binary),
    **{name: _binary(mnemonic) for name, mnemonic in _OTHER_NAMES.items()},
    **{name: _reduction(name) for name in ("sum", "mean", "max", "min", "prod")},
    **dict.fromkeys(("all_gather", "all_reduce", "reduce_scatter"), _collect),
    **dict.fromkeys(("to_memory_config", "to_layout"), _move),
    "clamp": _clamp,
    "concat": _concat,
    "embedding": _embedding,
    "cumsum": _cumsum,
    "expand": _expand,
    "full": _fill(),
    "full_like": _fill(),
    "get_item": _get_item,
    "linear": _linear,
    "matmul": _matmul,
    "ones": _fill(1.0),
    "ones_like": _fill(1.0),
    "pad": _pad,
    "permute": _permute,
    **dict.fromkeys(("pow", "pow_tensor"), _power),
    "rearrange": _rearrange,
    "repeat": _repeat,
    "repeat_interleave": _repeat_interleave,
    **dict.fromkeys(_RESHAPES, _reshape),
    "slice": _slice,
    "softmax": _softmax,
    "stack": _stack,
    "transpose": _transpose,
    "typecast": _typecast,
    "where": _where,
    "zeros": _fill(0.0),
    "zeros_like": _fill(0.0),
}
"""Rules by the names of functions, without `ttnn.`."""


def nearest_functions(name: str) -> str:
    """What to call instead of a function that has no rule."""
    from difflib import get_close_matches

    known = {"mul": "multiply", "sub": "subtract", "rsub": "subtract"}
    names = [known[name]] if name in known else get_close_matches(name, RULES, 3, 0.8)
    if names:
        return f"use {' or '.join(f'ttnn.{each}' for each in names)}"
    return "call it outside of the function that is compiled"
