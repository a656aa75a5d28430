"""What compiled kernels may call: which names there are, and what each of them does."""

from __future__ import annotations

import math
import struct
from typing import Any

import pytest
from running.generated_code import HELPERS

from ttmlir.sim.kernels.python.code import FAULTS, NAMES, PURE, translate_fault
from ttmlir.sim.kernels.python.runtime import UNSET, KernelFault, LocalPointer

LEAST, MOST = -(2**31), 2**31 - 1


def test_names_are_listed() -> None:
    """Here by hand, so that none comes or goes unseen."""
    assert {*NAMES, "_error"} == HELPERS
    assert HELPERS - {"_error"} - PURE == {
        *("_put_member", "_awaited"),
        *("_put", "_put_at", "_put_bits", "_put_parts", "_overwrite", "_missing"),
        *("_endless", "_fault", "_next_argument", "_no_function", "_make_place"),
    }


CALLS: list[tuple[str, tuple[Any, ...], Any]] = [
    ("_bits", ([0x12345678], 8, 16), 0x3456),
    ("_sliced", ([1, 2, 3], 2), [1, 2]),
    ("_ctz", (12, 32), 2),
    ("_sqrt", (6.25,), 2.5),
    ("_floor", (-6.25,), -7.0),
    ("_clz", (1, 32), 31),
    ("_popcount", (-1, 32), 32),
    *(("_quotient", pair, quotient) for pair, quotient in
      {(7, 2): 3, (-7, 2): -3, (7, -2): -3, (-7, -2): 3, (0, -5): 0, (6, 3): 2}.items()),
    *(("_remainder", pair, rest) for pair, rest in
      {(7, 2): 1, (-7, 2): -1, (7, -2): 1, (-7, -2): -1, (0, -5): 0, (-6, 3): 0}.items()),
    ("_shift_count", (0, 32), 0),
    ("_shift_count", (31, 32), 31),
    ("_index", (0,), 0),
    ("_index", (5,), 5),
    ("_float32", (0.1,), struct.unpack("<f", struct.pack("<f", 0.1))[0]),
    ("_float32", (1e39,), math.inf),
    ("_float32", (-1e39,), -math.inf),
    ("_float", (3,), 3.0),
    ("_float_quotient", (1.0, 4.0), 0.25),
    ("_float_quotient", (1.0, -0.0), -math.inf),
    ("_float_quotient", (-1.0, -0.0), math.inf),
    ("_float_quotient", (2.0, 0.0), math.inf),
    ("_truncated", (2.9, LEAST, MOST), 2),
    ("_truncated", (-2.9, LEAST, MOST), -2),
    ("_truncated", (2147483647.9, LEAST, MOST), MOST),
    ("_truncated", (-2147483648.9, LEAST, MOST), LEAST),
    ("_truncated", (-0.5, 0, 255), 0),
    ("_truncated", (255.5, 0, 255), 255),
    ("_float_bits", (1.5,), 0x3FC00000),
    ("_bits_float", (0x3FC00000,), 1.5),
    ("_bits_float", (0x1_BFC00000,), -1.5),
    ("_double_bits", (1.5,), 0x3FF8000000000000),
    ("_bits_double", (0x3FF8000000000000,), 1.5),
    ("_is_local", (4096,), False),
    ("_is_local", (LocalPointer([1], 0, 0, 1, "int"),), True),
    ("_advance_any", (4096, 3, 4), 4108),
    ("_advance_any", (4, -2, 4), 2**32 - 4),
    ("_distance", (4108, 4096, 4), 3),
    ("_distance", (4096, 4108, 4), -3),
    ("_is_same", (4096, 4096), True),
    ("_is_same", (4096, 4100), False),
    ("_is_same", (0, LocalPointer([1], 0, 0, 1, "int")), False),
    ("_address", (4096,), 4096),
    ("_pointer_to", (4096, "int"), 4096),
    ("_printed", (255, 10, 0), "255"),
    ("_printed", (255, 16, 6), "    ff"),
    ("_printed", (8, 8, 3), " 10"),
    ("_character", (65,), "A"),
    ("_min", (3, 2), 2),
    ("_max", (3, 2), 3),
    ("_range", (1, 7, 2), range(1, 7, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "arguments", "expected"), CALLS)
def test_what_names_compute(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    """Numbers as C++ has them; results are of the same type."""
    function: Any = NAMES[name]
    result = function(*arguments)
    assert (result, type(result)) == (expected, type(expected))


def test_quotients_that_are_no_numbers() -> None:
    """0 / 0, and NaN divided by 0."""
    function: Any = NAMES["_float_quotient"]
    assert math.isnan(function(0.0, 0.0))
    assert math.isnan(function(math.nan, 0.0))


FAULTY: list[tuple[str, tuple[Any, ...], str]] = [
    ("_shift_count", (32, 32), "a shift by 32 places of a type of 32 bits is undefined"),
    ("_shift_count", (-1, 64), "a shift by -1 places of a type of 64 bits is undefined"),
    ("_index", (-1,), "the index -1 lies before the start of the array"),
    ("_truncated", (256.0, 0, 255), "256.0 is no value of the integer type that it is conv"),
    ("_truncated", (-1.0, 0, 255), "-1.0 is no value of the integer type that it is converted"),
    ("_truncated", (math.nan, 0, 255), "nan is no value of the integer type"),
    ("_address", (LocalPointer([1], 0, 0, 1, "int"),), "the address of a local variable is not"),
    ("_pointer_to", (LocalPointer([1], 0, 0, 1, "int"), "float"), "cannot be read as another"),
    ("_distance", (4096, LocalPointer([1], 0, 0, 1, "int"), 4), "point into different variables"),
    ("_endless", (), "this loop goes round without end"),
    ("_missing", ("'f' ends without a value",), "'f' ends without a value"),
]


@pytest.mark.parametrize(("name", "arguments", "message"), FAULTY)
def test_what_is_undefined(name: str, arguments: tuple[Any, ...], message: str) -> None:
    """Said as a fault of the kernel."""
    function: Any = NAMES[name]
    with pytest.raises(KernelFault) as caught:
        function(*arguments)
    assert message in str(caught.value)


def test_pointers_to_variables() -> None:
    """Steps, distances, reading and writing stay within the array or the one variable."""
    call: dict[str, Any] = {**NAMES}
    array = [10, 20, 30]
    first, last = call["_point"](array, 0, 3, "int"), call["_point"](array, 2, 3, "int")
    assert (first.first, first.end, last.place, last.element) == (0, 3, 2, "int")
    assert (call["_distance"](last, first, 4), call["_distance"](first, last, 4)) == (2, -2)
    assert call["_is_same"](call["_advance"](first, 2), last)
    assert call["_is_same"](call["_advance_any"](last, -2, 4), first)
    assert not call["_is_same"](first, last)
    assert call["_element_at"](last, -1) == 20
    assert call["_put_at"](21, first, 1) == 21
    assert call["_put"](31, array, 2) == 31
    assert array == [10, 21, 31]
    for place, message in ((-1, "the index -1 lies before"), (3, "outside of the array")):
        with pytest.raises(KernelFault, match=message):
            call["_element_at"](first, place)
        with pytest.raises(KernelFault, match=message):
            call["_put_at"](0, first, place)
    one = call["_point_at_one"](array, 1, "int")
    assert (one.place, one.first, one.end) == (1, 1, 2)
    assert call["_element_at"](one, 0) == 21
    for place in (-1, 1):
        with pytest.raises(KernelFault):
            call["_element_at"](one, place)
    assert call["_pointer_to"](one, "int") is one
    other = call["_point"]([10, 21, 31], 0, 3, "int")
    assert not call["_is_same"](first, other)
    with pytest.raises(KernelFault, match="different variables"):
        call["_distance"](first, other, 4)


def test_copies_of_structures() -> None:
    """Copies have elements of their own; an assignment keeps the place that is assigned to."""
    call: dict[str, Any] = {**NAMES}
    source: list[Any] = [1, [2, 3]]
    copied = call["_copied"](source)
    source[1][0] = 9
    assert copied == [1, [2, 3]]
    place: list[Any] = [0, [0, 0]]
    assert call["_overwrite"](place, copied) is place
    copied[1][1] = 7
    assert place == [1, [2, 3]]


def test_the_remaining_names() -> None:
    """What is not called."""
    assert NAMES["_rounds"] == range(1 << 26)
    assert NAMES["_unset"] is UNSET
    assert NAMES["_fault"] is translate_fault
    assert NAMES["_FAULTS"] is FAULTS
