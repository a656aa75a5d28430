"""Operations on the elements of two tensors, or of a tensor and a number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ttmlir.ttnn.operations.elementwise import meanings
from ttmlir.ttnn.operations.elementwise.meanings import Meaning, Takes, meaning_of
from ttmlir.ttnn.operations.elementwise.tables import (
    BINARY_TAIL,
    Elementwise,
    declare,
    join_signature,
)
from ttmlir.ttnn.operations.operation import Operation, table_of
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType

_TWO = ("input_tensor_a", "input_tensor_b")


def _declare(text: str, arguments: str = "", meaning: Meaning | None = None, **facts: Any) -> Any:
    return declare(text, _TWO, BINARY_TAIL, arguments=arguments, meaning=meaning, **facts)


def _declare_plain(names: str, **facts: Any) -> Iterator[Operation]:
    for name in names.split():
        yield from _declare(name, meaning=meanings.PLAIN_BINARY[name], **facts)


def _in_place(table: dict[str, Operation]) -> Iterator[Operation]:
    """Operations that store their result in the first operand; their names end with `_`."""
    for name, operation in table.items():
        entry = operation.entry
        assert isinstance(entry, Elementwise), "elementwise operations have an entry"
        if entry.is_in_place_too:
            signature = join_signature(", ".join(_TWO), entry.arguments, _TAIL_IN_PLACE)
            yield Operation(f"{name}_", entry.run_in_place, signature, entry)


_TAIL_IN_PLACE = (
    "*, activations=None, input_tensor_a_activations=None, input_tensor_b_activations=None, "
    "use_legacy, sub_core_grids, fast_and_approximate_mode"
)

_IN_PLACE: dict[str, Any] = {"is_in_place_too": True}

_TABLE: dict[str, Operation] = table_of(
    _declare("add subtract sub=subtract", takes_number_first=True, **_IN_PLACE),
    _declare("multiply mul=multiply", takes_number_first=True, scales=True, **_IN_PLACE),
    _declare("eq ne lt le gt ge logical_and logical_or logical_xor", **_IN_PLACE),
    _declare(
        "bitwise_and bitwise_or bitwise_xor bitwise_left_shift=logical_left_shift "
        "logical_left_shift logical_right_shift bitwise_right_shift=right_shift atan2 "
        "fmod=remainder maximum minimum"
    ),
    _declare(
        "divide div",
        "*, rounding_mode=None",
        meanings.divide,
        integer_result=DataType.FLOAT32,
        takes_number_first=True,
        **_IN_PLACE,
    ),
    _declare_plain("div_no_nan floor_div", integer_result=DataType.FLOAT32),
    _declare_plain("bias_gelu ldexp logaddexp logaddexp2", takes=Takes.FLOATS, **_IN_PLACE),
    _declare_plain("hypot nextafter xlogy", takes=Takes.FLOATS),
    _declare_plain("gcd lcm", takes=Takes.INTEGERS),
    _declare_plain("outer remainder"),
    _declare_plain("rsub squared_difference", **_IN_PLACE),
    _declare("addalpha", "alpha=1.0", meanings.add_scaled),
    _declare("subalpha", "alpha=1.0", meanings.subtract_scaled),
    _declare(
        "isclose",
        "*, rtol=1e-5, atol=1e-8, equal_nan=False",
        meanings.isclose,
        integer_result=DataType.FLOAT32,
    ),
    declare(
        "polyval",
        ("input_tensor",),
        "*, memory_config=None, output_tensor=None",
        arguments="coeffs",
        meaning=meanings.polyval,
        integer_result=DataType.FLOAT32,
    ),
)


_POWER = Elementwise("pow", meaning_of("pow"), _TWO)
_POWER_OF_NUMBER = Elementwise(
    "pow", meanings.raise_number, ("input_tensor_a",), (("exponent", "number"),)
)


def _raise_to_power(values: dict[str, Any]) -> Tensor:
    """A tensor to the power of a tensor or a number, or a number to that of a tensor."""
    base, exponent = values["input_tensor"], values["exponent"]
    if isinstance(base, Tensor):
        return _POWER.run({**values, "input_tensor_a": base, "input_tensor_b": exponent})
    return _POWER_OF_NUMBER.run({**values, "input_tensor_a": exponent, "number": base})


OPERATIONS: dict[str, Operation] = {
    **_TABLE,
    **table_of(
        _in_place(_TABLE),
        *(
            # ttnn_jit has another name for powers of tensors.
            Operation(name, _raise_to_power, "input_tensor, exponent, " + BINARY_TAIL)
            for name in ("pow", "pow_tensor")
        ),
    ),
}
