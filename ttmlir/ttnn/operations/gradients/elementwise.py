"""Gradients of operations on elements: the gradient of the result times derivatives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.optable.op_definition import broadcast_shape
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.accepted import accepted_by
from ttmlir.ttnn.operations.complex_numbers import differentiate, differentiate_pair
from ttmlir.ttnn.operations.elementwise.tables import (
    as_number,
    parameter_names,
    read_parameters,
)
from ttmlir.ttnn.operations.gradients import derivatives
from ttmlir.ttnn.operations.gradients.derivatives import Derivative
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    common_layout,
    is_strict,
    require_tensor,
    store,
    table_of,
)
from ttmlir.ttnn.tensor.complex import ComplexTensor
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType

_FOLLOWS = """
gg: abs asinh atan cos cosh exp2 expm1 i0 lgamma log_sigmoid multigammaln sin sinh softsign tan
gg: tanhshrink atanh digamma hardshrink polygamma rdiv softshrink threshold ceil fill fill_zero
gg: floor round sign trunc div_no_nan hardsigmoid hardtanh relu6 relu frac deg2rad rad2deg rpow
gg: rsqrt square addcdiv addcmul fmod remainder logaddexp squared_difference lerp rsub where xlogy
ga: acos acosh asin log10 log1p log2 logit celu leaky_relu softplus clamp clip erfinv reciprocal
ga: elu hardswish log selu hypot ldexp logaddexp2
aa: assign bias_gelu gelu neg sigmoid tanh exp silu erf erfc logiteps pow sqrt
gb: max min
ab: add addalpha sub subalpha div mul
ba: atan2
"""
"""Whose data type and memory results have: `g` the gradient's, `a` the first operand's, `b` the
second's, as ttnn 0.81.1 answers. Of `ab` and `ba`, the first result has one's and the second the
other's."""

_PAIRS = {
    name: code.strip()
    for code, _, names in (line.partition(":") for line in _FOLLOWS.split("\n") if line)
    for name in names.split()
}

_MAKE_FLOATS = frozenset(
    "deg2rad rad2deg div_no_nan erf erfinv hardsigmoid hardswish log10 log2 reciprocal rpow selu "
    "square".split()
)
"""Operations whose gradients are of floating point where all operands are integers."""


_LIKE_GRADIENT = frozenset("ceil fill fill_zero floor frac round sign trunc".split())
"""Operations whose gradients do not depend on the operand: 0, and that of the result for `frac`."""

_OF_ITS_SHAPE = _LIKE_GRADIENT | {"deg2rad", "rad2deg"}
"""Operations whose gradients have the shape of the result's: derivatives are one number."""


@dataclass(frozen=True)
class Gradient:
    """The gradients of an operation on elements, of its result's."""

    name: str
    derivative: Derivative
    operands: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...]
    results: tuple[str, ...] = ()
    """Arguments with tensors for the results."""
    sums: bool = False
    """True where gradients of operands that were broadcast are summed."""
    takes_fewer: bool = False
    """True where the second operand may be missing."""

    def run(self, values: dict[str, Any]) -> list[Any]:
        """The gradient of each operand, or of those that are asked for, as a list."""
        if isinstance(values[self.operands[0]], ComplexTensor):
            return self._run_complex(values)
        grad = require_tensor(values["grad_tensor"], "grad_tensor")
        operands = [values[name] for name in self.operands]
        require_tensor(operands[0], self.operands[0])
        if self.takes_fewer and operands[1] is None:
            operands.pop()
        tensors = [grad, *(each for each in operands if isinstance(each, Tensor))]
        device = common_device(*tensors)
        self._check(tensors)
        arrays = [
            each.array if isinstance(each, Tensor) else as_number(each, DataType.FLOAT32, name)
            for each, name in zip(operands, self.operands, strict=False)
        ]
        given = read_parameters(self.parameters, values)
        shape = tuple(grad.shape) if self.name in _OF_ITS_SHAPE else _common_shape(tensors)
        with np.errstate(all="ignore"):
            found: Any = self.derivative(np, *arrays, *given.values())
            slopes: list[Array] = [*found] if isinstance(found, tuple) else [found]
            if self.name in _LIKE_GRADIENT:
                slopes = [np.full(shape, self.name == "frac", grad.array.dtype)]
            elif self.name in _OF_ITS_SHAPE:
                slopes = [each.reshape(-1)[:1] for each in slopes]
            gradients: list[Array] = [np.broadcast_to(grad.array * each, shape) for each in slopes]
        if len(tensors) <= len(operands):
            # A number has no gradient.
            gradients = gradients[: len(tensors) - 1]
        required = values.get("are_required_outputs") or [True] * len(gradients)
        if len(required) != len(gradients) and len(operands) == len(tensors) - 1:
            raise ArgumentError(
                f"are_required_outputs has {len(gradients)} truth values, got {len(required)}"
            )
        return [
            self._store(place, gradient, tensors, values, device) if wanted else None
            for place, (gradient, wanted) in enumerate(zip(gradients, required, strict=False))
        ]

    def _run_complex(self, values: dict[str, Any]) -> list[ComplexTensor]:
        """The gradients of complex operands; ArgumentTypeError where they have none."""
        if self.name in ("abs", "reciprocal"):
            return differentiate(values, self.name)
        if self.name in ("add", "div", "mul", "sub"):
            first, second = self.operands
            return differentiate_pair(values, self.name, (first, second), values.get("alpha", 1.0))
        raise ArgumentTypeError(f"{self.operands[0]} is a ttnn.Tensor; it takes no complex numbers")

    def _check(self, tensors: Sequence[Tensor]) -> None:
        """ArgumentError for operands that a card does not take."""
        accepted = accepted_by(f"{self.name}_bw")
        if accepted is not None and is_strict(tensors[0]):
            for each in tensors[1:]:
                accepted.check(each)
            accepted.check_together(tensors)

    def _store(
        self,
        place: int,
        gradient: Array,
        tensors: Sequence[Tensor],
        values: dict[str, Any],
        device: Any,
    ) -> Tensor:
        typed, placed = (tensors[number] for number in self._find_models(place, len(tensors)))
        if self.name in ("clamp", "clip") and None in (values["min"], values["max"]):
            placed = tensors[0]
        output = values.get(self.results[place]) if place < len(self.results) else None
        config = values["memory_config"]
        if self.sums:
            gradient = sum_to(gradient, typed.shape)
        elif self.results and gradient.shape != tuple(typed.shape):
            raise ArgumentError(
                f"an operand of {typed.shape} was broadcast to {list(gradient.shape)}: its "
                "gradient has no place for all; use ttnn.expand first, and ttnn.sum"
            )
        return store(
            gradient,
            tuple(tensors),
            device=device,
            dtype=None if output is not None else self._result_type(typed, tensors, place),
            layout=common_layout(*tensors),
            memory_config=placed.memory_config() if config is None else config,
            output_tensor=output,
        )

    def _result_type(self, typed: Tensor, tensors: Sequence[Tensor], place: int) -> DataType:
        """The data type of one operand; of 32-bit integers, float32 where there are fractions."""
        makes_floats = self.name in _MAKE_FLOATS or (self.name == "lerp" and len(tensors) == 3)
        if self.name in ("addcdiv", "addcmul") and place:
            makes_floats = True
        is_wide = typed.dtype in (DataType.INT32, DataType.UINT32)
        return DataType.FLOAT32 if makes_floats and is_wide else typed.dtype

    def _find_models(self, place: int, count: int) -> tuple[int, int]:
        """The numbers of the tensors whose data type and memory a result has."""
        code = _PAIRS[self.name]
        if self.takes_fewer and count == 2:
            code = "gg"
        if code in ("ab", "ba"):
            number = 1 + (place if code == "ab" else (1 - place))
            return min(number, count - 1), min(number, count - 1)
        if self.name in ("addcdiv", "addcmul") and place:
            code = "ga"
        first, second = ("gab".index(letter) for letter in code)
        return first, min(second, count - 1)


def _common_shape(tensors: Sequence[Tensor]) -> tuple[int, ...]:
    try:
        return broadcast_shape(*(tuple(each.shape) for each in tensors))
    except ArgumentError as error:
        shapes = ", ".join(str(each.shape) for each in tensors)
        raise ArgumentError(f"{error}: {shapes}") from error


def sum_to(array: Array, shape: Sequence[int]) -> Array:
    """The sum over what was broadcast from a shape."""
    extra = array.ndim - len(shape)
    array = array.sum(axis=tuple(range(extra))) if extra else array
    dims = tuple(i for i, extent in enumerate(shape) if extent == 1 != array.shape[i])
    return array.sum(axis=dims, keepdims=True) if dims else array


_PARAMETERS = {
    "addalpha": "alpha=1.0",
    "subalpha": "alpha=1.0",
    "add": "alpha=1.0",
    "sub": "alpha=1.0",
    "addcdiv": "alpha",
    "addcmul": "alpha",
    "bias_gelu": "*, variant=None, approximate=None",
    "celu": "*, alpha=1.0",
    "clamp": "min=None, max=None",
    "clip": "min=None, max=None",
    "div": "rounding_mode=None",
    "div_no_nan": "scalar",
    "elu": "*, alpha=1.0",
    "gelu": "*, variant=None",
    "hardshrink": "*, lambd=0.5",
    "hardtanh": "*, min=-1.0, max=1.0",
    "leaky_relu": "*, negative_slope=0.01",
    "logiteps": "*, eps=0.0",
    "polygamma": "n",
    "pow": "exponent",
    "rdiv": "scalar, *, rounding_mode=None",
    "rpow": "exponent",
    "softplus": "*, beta=1.0, threshold=20.0",
    "softshrink": "*, lambd=0.5",
    "threshold": "min, max",
}
"""Arguments between the operands and the memory configuration."""

_RESULTS = {
    "input_grad": "exp fill gelu neg pow rsqrt silu sqrt tanh",
    "input_grad, other_grad": "add div mul rsub sub subalpha",
    "input_a_grad, input_b_grad": "addalpha assign where",
}
_RESULTS_OF = {name: names for names, listed in _RESULTS.items() for name in listed.split()}
"""Arguments with tensors for the results, and whose they are."""

_NUMBER = ("input_tensor", "other_tensor")
_OPERANDS = {
    **dict.fromkeys(("add", "div", "mul", "sub"), _NUMBER),
    "assign": ("input_tensor", "input_tensor_b"),
}


def _declare(name: str, derivative: Derivative, count: int) -> Operation:
    letters = ("a", "b", "c")[:count]
    plain = ("input_tensor",) if count == 1 else tuple(f"input_tensor_{each}" for each in letters)
    operands = _OPERANDS.get(name, plain)
    arguments = _PARAMETERS.get(name, "")
    results = tuple(filter(None, _RESULTS_OF.get(name, "").split(", ")))
    keywords = [] if "*" in arguments else ["*"]
    keywords += ["are_required_outputs=None"] if len(results) > 1 else []
    keywords += ["memory_config=None", *(f"{each}=None" for each in results)]
    listed = ["grad_tensor", *operands]
    if name == "assign":
        listed[-1] += "=None"
    signature = ", ".join(filter(None, (*listed, arguments, *keywords)))
    entry = Gradient(
        name,
        derivative,
        operands,
        # Of sums and differences of real numbers it changes nothing.
        () if name in ("add", "sub") else parameter_names(arguments),
        results,
        sums=name == "mul",
        takes_fewer=name == "assign",
    )
    return Operation(f"{name}_bw", entry.run, signature, entry)


def _declare_all() -> Iterator[Operation]:
    tables = (derivatives.UNARY, derivatives.BINARY, derivatives.TERNARY)
    for count, table in enumerate(tables, 1):
        for name, derivative in table.items():
            yield _declare(name, derivative, count)


OPERATIONS: dict[str, Operation] = table_of(_declare_all())
