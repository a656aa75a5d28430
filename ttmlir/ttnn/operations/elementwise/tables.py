"""What operations on elements share: how tables declare them, and how they run.

A declaration is the row's name, or `ttnn name = row`, and the arguments behind the operands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError, ArgumentTypeError, UsageError
from ttmlir.optable import ROWS
from ttmlir.optable.row import broadcast_shape, spell_shape
from ttmlir.runtime.tensor import Array, Numerics
from ttmlir.ttnn.operations.elementwise.activations import apply_activations
from ttmlir.ttnn.operations.elementwise.meanings import Meaning, Takes, meaning_of
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    common_layout,
    require_floats,
    require_tensor,
    store,
)
from ttmlir.ttnn.operations.signature import IGNORED, spell_type
from ttmlir.ttnn.tensor.formats import LARGE, compute_bfloat16, compute_type
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType

UNARY_TAIL = "*, memory_config=None, output_tensor=None, sub_core_grids"
BINARY_TAIL = (
    "*, dtype=None, memory_config=None, output_tensor=None, activations=None, "
    "input_tensor_a_activations=None, input_tensor_b_activations=None, use_legacy, sub_core_grids, "
    "fast_and_approximate_mode"
)


@dataclass(frozen=True)
class Elementwise:
    """An operation on elements: its meaning, and the names of its operands and parameters."""

    name: str
    meaning: Meaning
    operands: tuple[str, ...]
    parameters: tuple[tuple[str, str], ...] = ()
    """The meaning's keywords and ttnn's names for them."""
    result: DataType | None = None
    """The data type of the result, where it is always the same."""
    integer_result: DataType | None = None
    """The data type of the result of integers, where it is another."""
    typed_by: int = 0
    """The first operand whose data type the result may have."""
    arguments: str = ""
    """What stands between the operands and the tail of its signature."""
    takes: Takes = Takes.ALL
    """The numbers that operands may be."""
    takes_number_first: bool = False
    """True where the first operand may be a number and the second a tensor."""
    is_in_place_too: bool = False
    """True where another operation, of this name and `_`, stores in the first operand."""
    scales: bool = False
    """True where operands may be of integers and floating point; the result is floating point."""
    is_pointwise: bool = False
    """True where every number of the result follows from those at its place."""

    def run(self, values: dict[str, Any]) -> Tensor:
        """Compute for the arguments of a call."""
        operands = [values[name] for name in self.operands]
        tensors = tuple(each for each in operands if isinstance(each, Tensor))
        if not tensors or not (isinstance(operands[0], Tensor) or self.takes_number_first):
            require_tensor(operands[0], self.operands[0])
        device = common_device(*tensors)
        typed = [each for each in operands[self.typed_by :] if isinstance(each, Tensor)]
        first = self._find_typed(typed or [tensors[0]])
        memory_config = values.get("memory_config")
        if len(operands) == 2 and memory_config is None:
            # The shards of the second operand are those of the result, if the first has none.
            memory_config = next((t.memory_config() for t in tensors if t.is_sharded()), None)
        arrays = [
            each.array
            if isinstance(each, Tensor)
            else as_number(each, DataType.FLOAT32 if self._scales(first) else first.dtype, name)
            for each, name in zip(operands, self.operands, strict=True)
        ]
        is_scaled = any(isinstance(each, float) for each in operands) and self._scales(first)
        arguments = {keyword: values[name] for keyword, name in self.parameters}
        with np.errstate(all="ignore"):
            for side, index in (
                ("input_tensor_a_activations", 0),
                ("input_tensor_b_activations", 1),
            ):
                chain = values.get(side)
                if chain:
                    arrays[index] = apply_activations(arrays[index], chain)
            dtype, output = values.get("dtype"), values.get("output_tensor")
            if dtype is None and output is None:
                dtype = self._result_type(first)
                if is_scaled:
                    dtype = DataType.FLOAT32
            chain = values.get("activations")
            kept = dtype if output is None else output.dtype
            in_parts = not chain and kept is DataType.BFLOAT16 and self._goes_in_parts(arrays)
            is_rounded = in_parts and device.numerics is Numerics.DEVICE
            if is_rounded:
                result = compute_bfloat16(partial(self.meaning, np, **arguments), arrays)
            else:
                result = self._compute(arrays, arguments)
            if chain:
                result = apply_activations(result, chain)
        made = store(
            result,
            tensors,
            device=device,
            dtype=dtype,
            layout=common_layout(*tensors),
            memory_config=memory_config,
            output_tensor=output,
            exact=is_rounded,
        )
        return made

    def _find_typed(self, tensors: Sequence[Tensor]) -> Tensor:
        """The operand that the result has its data type from.

        ValueError for integers where only floating point has a meaning, and for two operands of
        integers and floating point, or of different integers.
        """
        first = tensors[0]
        if self.takes is Takes.FLOATS:
            require_floats(first)
        elif self.takes is Takes.INTEGERS and first.dtype.facts.is_float:
            raise ArgumentError(f"{self.name} takes integers, not {first.dtype}")
        if len(self.operands) != 2 or len(tensors) != 2:
            return first
        second = tensors[1]
        kinds = [each.dtype.facts.is_float for each in tensors]
        if all(kinds) or first.dtype == second.dtype:
            return first
        if self.scales and any(kinds):
            return tensors[kinds.index(True)]
        raise ArgumentError(
            f"operands of {first.dtype} and {second.dtype} do not go together; use ttnn.typecast"
        )

    def _scales(self, first: Tensor) -> bool:
        """Whether a number in floating point makes floating point of integers."""
        scales = self.scales or self.integer_result is DataType.FLOAT32
        return scales and not first.dtype.facts.is_float

    def _compute(self, arrays: list[Array], arguments: dict[str, Any]) -> Array:
        try:
            return self.meaning(np, *arrays, **arguments)
        except ValueError:
            self._check_shapes(arrays)
            raise

    def _goes_in_parts(self, arrays: list[Array]) -> bool:
        """Whether the result can be computed and rounded part by part, while it is in the cache."""
        shape = arrays[0].shape
        return (
            self.is_pointwise
            and arrays[0].size >= LARGE
            and all(each.ndim == 0 or each.shape == shape for each in arrays)
            and all(each.dtype == np.float32 and each.flags.c_contiguous for each in arrays)
        )

    def _check_shapes(self, arrays: list[Array]) -> None:
        """RuntimeError if the operands do not broadcast against each other."""
        shapes = [array.shape for array in arrays]
        try:
            broadcast_shape(*shapes)
        except ArgumentError as error:
            raise UsageError(f"{error}: {' and '.join(map(spell_shape, shapes))}") from error

    def _result_type(self, first: Tensor) -> DataType:
        if self.result is not None:
            return self.result
        if self.integer_result is not None and not first.dtype.facts.is_float:
            return self.integer_result
        return first.dtype

    def run_in_place(self, values: dict[str, Any]) -> Tensor:
        """Compute, and store the result in the first operand."""
        first = require_tensor(values[self.operands[0]], self.operands[0])
        if self.integer_result is not None and not first.dtype.facts.is_float:
            raise ArgumentError(f"{first.dtype} does not hold {self.name}'s {self.integer_result}")
        return self.run({**values, "output_tensor": first, "dtype": None})


def as_number(value: Any, dtype: DataType, name: str) -> Array:
    """A number as an array of the type that the operation computes in."""
    if isinstance(value, bool | int | float | np.generic):
        wanted = compute_type(dtype)
        number = np.asarray(value)
        if wanted.kind in "iu" and number.dtype.kind == "f" and number != np.trunc(number):
            raise ArgumentError(
                f"{name}={value} is no number of a tensor of {dtype}; use an integer, or "
                "ttnn.typecast(tensor, ttnn.float32)"
            )
        return number.astype(wanted)
    raise ArgumentTypeError(
        f"{name} is a ttnn.Tensor or a number, not {spell_type(value)}; ttnn.from_torch and "
        "ttnn.Tensor make tensors of arrays"
    )


def declare(
    text: str,
    operands: tuple[str, ...],
    tail: str,
    *,
    arguments: str = "",
    meaning: Meaning | None = None,
    **facts: Any,
) -> Iterator[Operation]:
    """Operations of a text such as `abs exp sub=subtract`, which have all else in common.

    `arguments` stand between the operands and the tail, as in a signature; keywords of the meaning
    have their names, or come in `parameters`.
    """
    for item in text.split():
        name, _, mnemonic = item.partition("=")
        mnemonic = mnemonic or name
        if meaning is None:
            # Rows of elementwise operations look at one place at a time.
            found = meaning_of(mnemonic)
            takes = Takes.FLOATS if ROWS[mnemonic].ttnn_refuses_integers else Takes.ALL
            own = {"is_pointwise": True, "takes": takes, **facts}
        else:
            found, own = meaning, facts
        yield _declare_one(name, found, operands, tail, arguments, own)


def _declare_one(
    name: str,
    meaning: Meaning,
    operands: tuple[str, ...],
    tail: str,
    arguments: str,
    facts: dict[str, Any],
) -> Operation:
    signature = join_signature(", ".join(operands), arguments, tail)
    own: dict[str, Any] = {
        "parameters": parameter_names(arguments),
        "arguments": arguments,
        **facts,
    }
    entry = Elementwise(name, meaning, operands, **own)
    return Operation(name, entry.run, signature, entry)


def join_signature(operands: str, arguments: str, tail: str) -> str:
    """One signature of three parts, with one star."""
    if "*" in arguments:
        tail = tail.removeprefix("*, ")
    return ", ".join(part for part in (operands, arguments, tail) if part)


def parameter_names(arguments: str) -> tuple[tuple[str, str], ...]:
    """Names of the arguments of a text that mean something, each paired with itself."""
    names = [part.partition("=")[0].strip() for part in arguments.split(",")]
    return tuple((name, name) for name in names if name not in ("", "*", *IGNORED))
