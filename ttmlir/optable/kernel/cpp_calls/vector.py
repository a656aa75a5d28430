"""Calls of compute kernels on the vector unit (SFPU) that have no operation.

Source: tt-metal, compute_kernel_api.h and compute_kernel_api/*.h of 2024 to 2026.
"""

from __future__ import annotations

from typing import Any

from ttmlir.optable.kernel.meanings import Meaning, meaning_of
from ttmlir.optable.kernel.row import (
    Cost,
    Element,
    KernelCall,
    Option,
    Role,
    Scalar,
    ints,
)
from ttmlir.optable.kernel.vector import (
    API,
    GENERAL,
    UNARY,
    computation,
    instructions,
    preparation,
)

_MASK = f"{API}mask.h"


def _masking(mnemonic: str, summary: str, *, options: tuple[Option, ...] = ()) -> KernelCall:
    return KernelCall(
        mnemonic=mnemonic,
        summary=f"{summary} where the tile behind it in DST is 0, whatever the second operand is.",
        header=_MASK,
        operands=ints("idst_data", "idst_mask"),
        options=options,
        roles=Role.MATH,
        init="mask_tile_init",
        cost=instructions(4),
    )


_MASKS = (
    preparation("mask_tile_init", "the calls that mask a tile", _MASK),
    _masking(
        "mask_tile",
        "0",
        options=(Option(name="data_format", type="DataFormat", default="DataFormat::Float16_b"),),
    ),
    _masking("mask_posinf_tile", "Infinity"),
)


def _in_place(
    mnemonic: str,
    summary: str,
    header: str,
    meaning: Meaning,
    cost: Cost,
    element: Element,
    init: str,
) -> KernelCall:
    """A call of 2025 whose result takes the place of the first tile."""
    return computation(
        mnemonic,
        summary,
        header,
        meaning,
        cost,
        inputs=("idst0", "idst1"),
        output="idst0",
        element=element,
        init=init,
    )


def _reverse_difference(xp: Any, x: Any, *, value: Any) -> Any:
    return value - x


def _log_sigmoid(xp: Any, x: Any, y: Any) -> Any:
    return -xp.log1p(y)


def _power(xp: Any, x: Any, *, value: Any) -> Any:
    return x**value


_OLDER = (
    preparation("max_tile_init", "`max_tile`", GENERAL),
    _in_place(
        "max_tile",
        "The larger, in the place of the first.",
        GENERAL,
        meaning_of("maximum"),
        instructions(5),
        Element.FLOAT,
        "max_tile_init",
    ),
)

_FUNCTIONS = (
    preparation("rsub_tile_init", "`rsub_tile`", f"{UNARY}reverseops.h"),
    computation(
        "rsub_tile",
        "A number minus x.",
        f"{UNARY}reverseops.h",
        _reverse_difference,
        instructions(3),
        inputs=("idst",),
        output="idst",
        scalars=(("param0", "value", Scalar.FLOAT_BITS),),
    ),
    preparation("logsigmoid_tile_init", "`logsigmoid_tile`", f"{API}logsigmoid.h"),
    computation(
        "logsigmoid_tile",
        "log(1 / (1 + exp(-x))), from x and exp(-x).",
        f"{API}logsigmoid.h",
        _log_sigmoid,
        instructions(20),
        inputs=("idst_in0", "idst_in1"),
        output="idst_out",
    ),
    preparation("power_iterative_tile_init", "`power_iterative_tile`", GENERAL),
    computation(
        "power_iterative_tile",
        "x to the power of a whole number.",
        GENERAL,
        _power,
        instructions(10),
        inputs=("idst",),
        output="idst",
        scalars=(("param0", "value", Scalar.INTEGER),),
    ),
)

CALLS = (*_MASKS, *_OLDER, *_FUNCTIONS)
"""The calls, in the order of the documentation."""
