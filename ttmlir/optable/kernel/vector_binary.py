"""Calls on the vector unit that make a tile of DST from two or three others.

Source: tt-metal, compute_kernel_api/{eltwise_binary_sfpu,add_int_sfpu,sub_int_sfpu,mul_int_sfpu,
binary_bitwise_sfpu,binary_shift,binary_max_min,binary_comp,binary_fmod,div_int32_floor,atan2}.h and
eltwise_unary/where.h.
"""

from __future__ import annotations

from typing import Any

from ttmlir.optable.kernel.meanings import Meaning, function, meaning_of
from ttmlir.optable.kernel.row import Cost, Element, KernelCall, Template, enumerator
from ttmlir.optable.kernel.vector import (
    API,
    UNARY,
    computation,
    cycles,
    instructions,
    preparation,
)

_SFPU = f"{API}eltwise_binary_sfpu.h"
_EXTREMES = f"{API}binary_max_min.h"
_BITS = f"{API}binary_bitwise_sfpu.h"
_SHIFTS = f"{API}binary_shift.h"
_COMPARE = f"{API}binary_comp.h"
_REMAINDER = f"{API}binary_fmod.h"
_DATA_FORMAT = (enumerator("data_format", "DataFormat"),)


def _of_two(
    mnemonic: str,
    summary: str,
    header: str,
    meaning: Meaning,
    cost: Cost,
    *,
    element: Element = Element.FLOAT,
    templates: tuple[Template, ...] = (),
    init: str = "",
) -> KernelCall:
    return computation(
        mnemonic,
        summary,
        header,
        meaning,
        cost,
        inputs=("idst0", "idst1"),
        output="odst",
        element=element,
        templates=templates,
        init=init,
    )


def _pair(
    mnemonic: str,
    summary: str,
    header: str,
    meaning: Meaning,
    cost: Cost,
    element: Element = Element.FLOAT,
) -> tuple[KernelCall, KernelCall]:
    """The call that prepares, and the call."""
    return (
        preparation(f"{mnemonic}_init", f"`{mnemonic}`", header),
        _of_two(mnemonic, summary, header, meaning, cost, element=element),
    )


def _reversed_difference(xp: Any, x: Any, y: Any) -> Any:
    return y - x


_ARITHMETIC = (
    *_pair("add_binary_tile", "Sum.", _SFPU, meaning_of("add"), instructions(5)),
    *_pair("sub_binary_tile", "Difference.", _SFPU, meaning_of("subtract"), instructions(5)),
    *_pair("mul_binary_tile", "Product.", _SFPU, meaning_of("multiply"), instructions(5)),
    *_pair(
        "div_binary_tile",
        "Quotient.",
        _SFPU,
        meaning_of("div"),
        cycles(1475, "tt-metal PR 48925"),
    ),
    *_pair(
        "rsub_binary_tile",
        "The second minus the first.",
        _SFPU,
        _reversed_difference,
        instructions(5),
    ),
    *_pair(
        "fmod_binary_tile",
        "Remainder of a division, with the sign of the first.",
        _REMAINDER,
        meaning_of("remainder"),
        instructions(60),
    ),
    *_pair(
        "fmod_int32_tile",
        "Remainder of a division, with the sign of the first.",
        _REMAINDER,
        meaning_of("remainder"),
        instructions(60),
        Element.INT32,
    ),
    *_pair(
        "div_int32_trunc_tile",
        "Quotient, rounded toward 0.",
        f"{API}div_int32_floor.h",
        meaning_of("div"),
        instructions(60),
        Element.INT32,
    ),
    *_pair("power_binary_tile", "Power.", _SFPU, meaning_of("pow"), instructions(80)),
    *_pair(
        "atan2_binary_tile",
        "Angle of the point (second, first), in radians.",
        f"{API}atan2.h",
        meaning_of("atan2"),
        instructions(80),
    ),
    *_pair("binary_max_tile", "The larger.", _EXTREMES, meaning_of("maximum"), instructions(5)),
    *_pair("binary_min_tile", "The smaller.", _EXTREMES, meaning_of("minimum"), instructions(5)),
    *_pair(
        "binary_max_int32_tile",
        "The larger.",
        _EXTREMES,
        meaning_of("maximum"),
        instructions(6),
        Element.INT32,
    ),
    *_pair(
        "binary_min_int32_tile",
        "The smaller.",
        _EXTREMES,
        meaning_of("minimum"),
        instructions(6),
        Element.INT32,
    ),
)


def _integer_arithmetic() -> tuple[KernelCall, ...]:
    calls: list[KernelCall] = []
    for word, summary, row, count in (
        ("add", "Sum.", "add", 4),
        ("sub", "Difference.", "subtract", 5),
        ("mul", "Product, its lower half.", "multiply", 12),
    ):
        header = f"{API}{word}_int_sfpu.h"
        name = f"{word}_int_tile"
        # Only the product is prepared for a format: mul_int_tile_init<DataFormat>().
        templates = _DATA_FORMAT if word == "mul" else ()
        calls += (
            preparation(f"{name}_init", f"`{name}`", header, templates=templates),
            _of_two(
                name,
                f"{summary} Integers wrap.",
                header,
                meaning_of(row),
                instructions(count),
                element=Element.BY_FORMAT,
                templates=_DATA_FORMAT,
            ),
        )
    return tuple(calls)


def _bit_calls() -> tuple[KernelCall, ...]:
    words = ("and", "or", "xor")
    summaries = ("Bits set in both.", "Bits set in either.", "Bits set in exactly one.")
    shifts = (
        (
            "binary_left_shift_tile",
            "Bits of the first moved up by the second.",
            "left_shift",
            Element.INT32,
        ),
        (
            "binary_right_shift_tile",
            "Bits of the first moved down by the second; the sign stays.",
            "right_shift",
            Element.INT32,
        ),
        (
            "binary_logical_right_shift_tile",
            "Bits of the first moved down by the second, zeros from above.",
            "right_shift",
            Element.UINT32,
        ),
    )
    return (
        preparation("binary_bitwise_tile_init", "the calls on the bits of two tiles", _BITS),
        *(
            _of_two(
                f"bitwise_{word}_binary_tile",
                summary,
                _BITS,
                meaning_of(f"bitwise_{word}"),
                instructions(4),
                element=Element.INT32,
                init="binary_bitwise_tile_init",
            )
            for word, summary in zip(words, summaries, strict=True)
        ),
        preparation("binary_shift_tile_init", "the calls that shift by a tile", _SHIFTS),
        *(
            _of_two(
                name,
                summary,
                _SHIFTS,
                function(shift),
                instructions(8),
                element=element,
                init="binary_shift_tile_init",
            )
            for name, summary, shift, element in shifts
        ),
    )


def _comparisons() -> tuple[KernelCall, ...]:
    phrases = {
        "eq": "they are equal",
        "ne": "they differ",
        "lt": "the first is less",
        "gt": "the first is greater",
        "le": "the first is not greater",
        "ge": "the first is not less",
    }
    return tuple(
        call
        for word, phrase in phrases.items()
        for name, element in (
            (f"{word}_binary_tile", Element.FLOAT),
            (f"{word}_int32_tile", Element.INT32),
        )
        for call in _pair(
            name,
            f"1 where {phrase}, else 0.",
            _COMPARE,
            meaning_of(word),
            instructions(7),
            element,
        )
    )


_CHOICE = (
    preparation("where_tile_init", "`where_tile`", f"{UNARY}where.h"),
    computation(
        "where_tile",
        "The second where the first is other than 0, else the third.",
        f"{UNARY}where.h",
        meaning_of("where"),
        instructions(6),
        inputs=("idst0", "idst1", "idst2"),
        output="odst",
        element=Element.BY_FORMAT,
        templates=_DATA_FORMAT,
    ),
)

CALLS = (*_ARITHMETIC, *_integer_arithmetic(), *_bit_calls(), *_comparisons(), *_CHOICE)
"""The calls, in the order of the documentation."""
