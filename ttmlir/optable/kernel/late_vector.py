"""Calls on the vector unit that tt-metal 0.81 has beyond the operations of the dialect.

Source: tt-metal 0.81, api/compute/*.h and api/compute/eltwise_unary/*.h, and the functions on the
faces of a tile that they name. What a call of a table computes is a function of NumPy; calls
without one are methods of `ttmlir.sim.calls.late_vector_api`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ttmlir.optable import special
from ttmlir.optable.kernel.kernel_call import (
    Element,
    KernelCall,
    Option,
    Reference,
    Role,
    Scalar,
    Template,
    enumerator,
    flag,
    ints,
    reference_of,
)
from ttmlir.optable.kernel.releases import SINCE
from ttmlir.optable.kernel.vector import (
    API,
    GENERAL,
    UNARY,
    Scalars,
    computation,
    float_bits,
    instructions,
    preparation,
    whole_numbers,
)

_TWO = ("idst0", "idst1")
_LIMIT = 10.0
"""What `clamped_silu_glu_tile` limits to: that of DeepSeek V4, the only one it has."""
_BETAS = (4.0, 25.0)
"""The bounds of the halves of `situ_glu_tile`: those of Kimi K3, the only ones it has."""
_FORMAT = (enumerator("data_format", "DataFormat"),)
_ORDINARY = -1e-6
"""From where on `xielu_tile` takes the exponential of a negative number for that of this one."""


def _limit(xp: Any, x: Any, low: float, high: float) -> Any:
    return xp.minimum(xp.maximum(x, low), high)


def _logistic(xp: Any, x: Any) -> Any:
    return 1 / (1 + xp.exp(-x))


def _gelu_tanh(xp: Any, x: Any) -> Any:
    return 0.5 * x * (1 + xp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


def _derive_gelu(xp: Any, x: Any) -> Any:
    density = xp.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
    return 0.5 * (1 + special.erf(xp, x / math.sqrt(2))) + x * density


def _xielu(xp: Any, x: Any, *, alpha_p: float, alpha_n: float) -> Any:
    below = alpha_n * (xp.expm1(xp.minimum(x, _ORDINARY)) - x)
    return xp.where(x > 0, alpha_p * x * x, below) + 0.5 * x


def _lgamma_reflected(xp: Any, x: Any) -> Any:
    return special.lgamma(xp, xp.where(x < 0.5, 1 - x, x))


def _adjust_lgamma(xp: Any, right: Any, log_sine: Any, x: Any) -> Any:
    found = xp.where(x < 0.5, math.log(math.pi) - log_sine - right, right)
    return xp.where(xp.isinf(x), xp.inf, found)


def _remainder(xp: Any, x: Any, y: Any) -> Any:
    """With the sign of the divisor; what integers leave by 0 is the dividend."""
    if x.dtype.kind == "f":
        return xp.where(y == 0, xp.nan, xp.mod(x, y))
    return xp.where(y == 0, x, xp.mod(x, xp.where(y == 0, 1, y)))


def _quotient(xp: Any, x: Any, y: Any) -> Any:
    return xp.floor_divide(x, xp.where(y == 0, 1, y)) * (y != 0) - (y == 0)


def _xlogy(xp: Any, x: Any, y: Any) -> Any:
    found = xp.where(x == 0, 0, x * xp.log(xp.where(y > 0, y, 1)))
    found = xp.where((y == 0) & (x != 0), xp.where(x > 0, -xp.inf, xp.inf), found)
    return xp.where((y < 0) | xp.isnan(y), xp.nan, found)


def _swish_glu(xp: Any, gate: Any, up: Any) -> Any:
    gate = xp.minimum(gate, _LIMIT)
    return gate * _logistic(xp, gate) * _limit(xp, up, -_LIMIT, _LIMIT)


def _situ_glu(xp: Any, gate: Any, up: Any) -> Any:
    a, b = _BETAS
    return a * xp.tanh(gate / a) * _logistic(xp, gate) * b * xp.tanh(up / b)


def _next_bfloat16(xp: Any, x: Any, y: Any) -> Any:
    """The next number of 16 bits; both operands are such numbers."""
    bits = xp.asarray(x, xp.float32).view(xp.int32) >> 16
    upward = (y > x) == (x >= 0)
    found = ((bits + xp.where(upward, 1, -1)) << 16).astype(xp.int32).view(xp.float32)
    least = xp.copysign(xp.array(1 << 16, xp.int32).view(xp.float32), y - x)
    found = xp.where(x == 0, least, found)
    found = xp.where(x == y, y, found)
    return xp.where(xp.isnan(x) | xp.isnan(y), xp.nan, found)


def _compute_celu(xp: Any, x: Any, *, alpha: Any, reciprocal: Any) -> Any:
    return xp.where(x >= 0, x, alpha * xp.expm1(reciprocal * x))


def _compute_softshrink(xp: Any, x: Any, *, value: Any) -> Any:
    return x - _limit(xp, x, -value, value)


def _compute_hardshrink(xp: Any, x: Any, *, value: Any) -> Any:
    return xp.where(xp.abs(x) <= value, 0, x)


def _compute_hardmish(xp: Any, x: Any) -> Any:
    return x * _limit(xp, x * 0.5 + 1, 0, 1)


def _compute_prelu(xp: Any, x: Any, *, value: Any) -> Any:
    return xp.where(x < 0, x * value, x)


def _compute_rpow(xp: Any, x: Any, *, value: Any) -> Any:
    return xp.power(value, x)


def _compute_power(xp: Any, x: Any, *, exponent: Any) -> Any:
    return xp.power(x, exponent)


def _compute_threshold(xp: Any, x: Any, *, threshold: Any, value: Any) -> Any:
    return xp.where(x <= threshold, value, x)


def _compute_softcap(xp: Any, x: Any, *, beta: Any, reciprocal: Any) -> Any:
    return beta * xp.tanh(x * reciprocal)


def _compute_tanhshrink(xp: Any, x: Any) -> Any:
    return x - xp.tanh(x)


def _compute_tanh_derivative(xp: Any, x: Any) -> Any:
    return 1 - xp.tanh(x) ** 2


def _compute_maximum(xp: Any, x: Any, *, value: Any) -> Any:
    return xp.maximum(x, value)


def _compute_minimum(xp: Any, x: Any, *, value: Any) -> Any:
    return xp.minimum(x, value)


def _compute_not_zero(xp: Any, x: Any) -> Any:
    return x != 0


def _compute_identity(xp: Any, x: Any) -> Any:
    return x


def _compute_signbit(xp: Any, x: Any) -> Any:
    return x < 0


def _compute_rsub_unary_int32(xp: Any, x: Any, *, value: Any) -> Any:
    return value - x


def _compute_remainder(xp: Any, x: Any, *, value: Any) -> Any:
    return xp.mod(x, xp.asarray(value).astype(xp.uint32))


def _compute_gcd(xp: Any, x: Any, y: Any) -> Any:
    return xp.gcd(x, y)


def _compute_lcm(xp: Any, x: Any, y: Any) -> Any:
    return xp.lcm(x, y)


def _compute_logaddexp(xp: Any, x: Any, y: Any) -> Any:
    return xp.logaddexp(x, y)


def _compute_logaddexp2(xp: Any, x: Any, y: Any) -> Any:
    return xp.logaddexp2(x, y)


def _compute_nextafter(xp: Any, x: Any, y: Any) -> Any:
    return xp.nextafter(x, y)


def _compute_addcmul(xp: Any, a: Any, b: Any, c: Any, *, value: Any) -> Any:
    return a + value * b * c


def _compute_addcdiv(xp: Any, a: Any, b: Any, c: Any, *, value: Any) -> Any:
    return a + value * (b / c)


def _compute_lerp(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return a + c * (b - a)


def _compute_mac(xp: Any, a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _compute_snake_beta(xp: Any, x: Any, alpha: Any, beta: Any) -> Any:
    return x + xp.sin(alpha * x) ** 2 / beta


def _compute_lgamma_stirling_float(xp: Any, x: Any, log: Any) -> Any:
    return _lgamma_reflected(xp, x)


def _compute_rsub_int(xp: Any, x: Any, y: Any) -> Any:
    return y - x


def _pair(name: str, summary: str, header: str, **facts: Any) -> tuple[KernelCall, KernelCall]:
    """The call that prepares, and the call."""
    call = _call(name, summary, header, **facts)
    return preparation(f"{name}_init", f"`{name}`", header), call


def _call(
    name: str,
    summary: str,
    header: str,
    *,
    reference: Reference | None,
    count: int,
    inputs: tuple[str, ...] = ("idst",),
    output: str = "idst",
    scalars: Scalars = (),
    element: Element = Element.FLOAT,
    templates: tuple[Template, ...] = (),
    init: str = "",
) -> KernelCall:
    return computation(
        name,
        summary,
        header,
        reference,
        instructions(count),
        inputs=inputs,
        output=output,
        scalars=scalars,
        element=element,
        templates=templates,
        init=init,
    )


# Name, header below eltwise_unary, summary, function, names of numbers, instructions.
_UNARY: tuple[tuple[str, str, str, Reference | None, tuple[str, ...], int], ...] = (
    (
        "celu_tile",
        "activations",
        "Exponential linear unit whose curve is scaled along x: alpha and 1 / alpha.",
        _compute_celu,
        ("alpha", "reciprocal"),
        48,
    ),
    (
        "softshrink_tile",
        "activations",
        "x without the part of it that lies in [-value, value].",
        _compute_softshrink,
        ("value",),
        6,
    ),
    (
        "hardshrink_tile",
        "activations",
        "0 where |x| is at most a number, else x.",
        _compute_hardshrink,
        ("value",),
        7,
    ),
    (
        "hardmish_tile",
        "hardmish",
        "x times x / 2 + 1, which is limited to [0, 1].",
        _compute_hardmish,
        (),
        7,
    ),
    ("mish_tile", "mish", "x * tanh(ln(1 + exp(x))).", special.mish, (), 70),
    (
        "prelu_tile",
        "prelu",
        "x, times a number where it is negative.",
        _compute_prelu,
        ("value",),
        5,
    ),
    (
        "rpow_tile",
        "rpow",
        "A number to the power of x.",
        _compute_rpow,
        ("value",),
        60,
    ),
    (
        "threshold_tile",
        "threshold",
        "The second number where x is not above the first, else x.",
        _compute_threshold,
        ("threshold", "value"),
        5,
    ),
    (
        "softcap_tile",
        "softcap",
        "beta * tanh(x / beta): beta and 1 / beta.",
        _compute_softcap,
        ("beta", "reciprocal"),
        26,
    ),
    ("tanhshrink_tile", "tanhshrink", "x - tanh(x).", _compute_tanhshrink, (), 30),
    (
        "tanh_derivative_tile",
        "tanh_derivative",
        "1 - tanh(x)^2.",
        _compute_tanh_derivative,
        (),
        30,
    ),
    ("gelu_tanh_tile", "gelu", "gelu, approximated by tanh.", _gelu_tanh, (), 32),
    ("gelu_derivative_tile", "gelu", "The derivative of gelu.", _derive_gelu, (), 70),
    (
        "erfinv_tile",
        "erfinv",
        "The number whose error function is x.",
        special.erfinv,
        (),
        60,
    ),
    ("i0_tile", "i0", "Modified Bessel function of order 0.", None, (), 30),
    ("i1_tile", "i1", "Modified Bessel function of order 1.", None, (), 30),
    ("digamma_tile", "digamma", "Logarithmic derivative of the gamma function.", None, (), 60),
    (
        "lgamma_stirling_tile",
        "lgamma",
        "Logarithm of the gamma function of x, or of 1 - x where x is below 1/2.",
        _lgamma_reflected,
        (),
        60,
    ),
    (
        "xielu_tile",
        "xielu",
        "alpha_p * x^2 + x / 2 above 0, alpha_n * (exp(x) - 1 - x) + x / 2 below.",
        _xielu,
        ("alpha_p", "alpha_n"),
        50,
    ),
)

_EXTREMES: tuple[tuple[str, str, Reference], ...] = (
    ("max", "larger", _compute_maximum),
    ("min", "smaller", _compute_minimum),
)
_OF_TWO: Mapping[str, Reference] = {
    "max": reference_of("maximum"),
    "min": reference_of("minimum"),
}
_WIDTHS = (("int32", Element.INT32), ("uint32", Element.UINT32))


def _unary_extremes() -> tuple[KernelCall, ...]:
    calls = list[KernelCall]()
    for word, which, reference in _EXTREMES:
        summary = f"The {which} of x and a number."
        calls += _pair(
            f"unary_{word}_tile",
            summary,
            GENERAL,
            reference=reference,
            count=4,
            scalars=float_bits("value"),
        )
        for width, element in _WIDTHS:
            calls += _pair(
                f"unary_{word}_{width}_tile",
                summary,
                GENERAL,
                reference=reference,
                count=6,
                scalars=whole_numbers("value"),
                element=element,
            )
    return tuple(calls)


def _limit_above(xp: Any, x: Any, *, value: Any) -> Any:
    return _limit(xp, x, 0, value)


def _relu_on_integers() -> tuple[KernelCall, ...]:
    kinds = (*_WIDTHS, ("uint16", Element.UINT32))
    calls = (
        ("relu_max", "x limited to [0, value].", _limit_above),
        ("relu_min", "The larger of x and a number.", _EXTREMES[0][2]),
    )
    return tuple(
        _call(
            f"{name}_tile_{width}",
            summary,
            f"{UNARY}relu.h",
            reference=reference,
            count=6,
            scalars=whole_numbers("value"),
            element=element,
            init=f"{name}_tile_init",
        )
        for name, summary, reference in calls
        for width, element in kinds
    )


def _equal_zero(xp: Any, x: Any) -> Any:
    return x == 0


def _on_integers() -> tuple[KernelCall, ...]:
    header = f"{UNARY}comp.h"
    comparisons = tuple(
        _call(
            f"{name}_tile_{width}",
            f"1 where x {phrase} 0, else 0.",
            header,
            reference=reference,
            count=5,
            element=Element.UINT32,
            init=f"{name}_tile_init",
        )
        for name, phrase, reference in (
            ("eqz", "equals", _equal_zero),
            ("nez", "differs from", _compute_not_zero),
        )
        for width in ("uint16", "uint32")
    )
    return (
        *comparisons,
        _call(
            "identity_tile_uint32",
            "x.",
            f"{UNARY}identity.h",
            reference=_compute_identity,
            count=2,
            element=Element.UINT32,
            init="identity_tile_init",
        ),
        preparation("signbit_tile_int32_init", "`signbit_tile_int32`", GENERAL),
        _call(
            "signbit_tile_int32",
            "1 where x is negative, else 0.",
            GENERAL,
            reference=_compute_signbit,
            count=4,
            element=Element.INT32,
        ),
        *_pair(
            "rsub_unary_int32_tile",
            "A number minus x.",
            f"{UNARY}rsub.h",
            reference=_compute_rsub_unary_int32,
            count=4,
            scalars=whole_numbers("value"),
            element=Element.INT32,
        ),
        preparation("remainder_tile_uint32_init", "`remainder_tile_uint32`", f"{UNARY}remainder.h"),
        _call(
            "remainder_tile_uint32",
            "What a division by a number other than 0 leaves.",
            f"{UNARY}remainder.h",
            reference=_compute_remainder,
            count=40,
            scalars=whole_numbers("value"),
            element=Element.UINT32,
        ),
    )


# Name, header, summary, function, instructions, element.
_BINARY: tuple[tuple[str, str, str, Reference, int, Element], ...] = (
    (
        "remainder_binary_tile",
        "binary_remainder",
        "Remainder of a division, with the sign of the second; NaN by 0.",
        _remainder,
        60,
        Element.FLOAT,
    ),
    *(
        (
            f"remainder_{width}_tile",
            "binary_remainder",
            "Remainder of a division, with the sign of the second; the first by 0.",
            _remainder,
            60,
            element,
        )
        for width, element in _WIDTHS
    ),
    (
        "div_int32_floor_tile",
        "div_int32_floor",
        "Quotient of integers, rounded down; -1 by 0.",
        _quotient,
        60,
        Element.INT32,
    ),
    *(
        (
            f"binary_{word}_uint32_tile",
            "binary_max_min",
            f"The {which}.",
            _OF_TWO[word],
            6,
            Element.UINT32,
        )
        for word, which, _ in _EXTREMES
    ),
    (
        "gcd_tile",
        "gcd",
        "Greatest common divisor, 0 or positive.",
        _compute_gcd,
        210,
        Element.INT32,
    ),
    (
        "lcm_tile",
        "lcm",
        "Least common multiple, 0 or positive.",
        _compute_lcm,
        240,
        Element.INT32,
    ),
    ("xlogy_binary_tile", "xlogy", "x * ln(y), and 0 where x is 0.", _xlogy, 30, Element.FLOAT),
    (
        "logaddexp_binary_tile",
        "logaddexp",
        "ln(exp(x) + exp(y)).",
        _compute_logaddexp,
        80,
        Element.FLOAT,
    ),
    (
        "logaddexp2_binary_tile",
        "logaddexp2",
        "Binary logarithm of 2^x + 2^y.",
        _compute_logaddexp2,
        80,
        Element.FLOAT,
    ),
    (
        "nextafter_binary_tile",
        "nextafter",
        "The number of 32 bits next to x, toward y.",
        _compute_nextafter,
        16,
        Element.FLOAT,
    ),
    (
        "nextafter_bf16_binary_tile",
        "nextafter",
        "The number of 16 bits next to x, toward y.",
        _next_bfloat16,
        16,
        Element.FLOAT,
    ),
    (
        "clamped_silu_glu_tile",
        "clamped_silu_glu",
        "silu(x) * y, x limited to at most 10, y to [-10, 10].",
        _swish_glu,
        40,
        Element.FLOAT,
    ),
    (
        "situ_glu_tile",
        "situ_glu",
        "4 * tanh(x / 4) * sigmoid(x) * 25 * tanh(y / 25).",
        _situ_glu,
        90,
        Element.FLOAT,
    ),
)

_THREE = (*_TWO, "idst2")
_VALUE = (("value", "value", Scalar.FLOAT_BITS),)
# Name, header below eltwise_unary, summary, function, numbers, instructions.
_TERNARY: tuple[tuple[str, str, str, Reference, Scalars, int], ...] = (
    (
        "addcmul_tile",
        "addcmul",
        "The first plus a number times the product of the others.",
        _compute_addcmul,
        _VALUE,
        7,
    ),
    (
        "addcdiv_tile",
        "addcdiv",
        "The first plus a number times the quotient of the others.",
        _compute_addcdiv,
        _VALUE,
        46,
    ),
    (
        "lerp_tile",
        "lerp",
        "From the first to the second, as far as the third says.",
        _compute_lerp,
        (),
        7,
    ),
    ("mac_tile", "mac", "Product of the first two plus the third.",
     _compute_mac, (), 6),
    (
        "snake_beta_tile",
        "snake_beta",
        "x + sin(alpha * x)^2 / beta.",
        _compute_snake_beta,
        (),
        40,
    ),
)  # fmt: skip


def _ternary() -> tuple[KernelCall, ...]:
    calls = list[KernelCall]()
    for name, header, summary, reference, scalars, count in _TERNARY:
        init = f"{name}_init"
        templates = _FORMAT if name == "mac_tile" else ()
        calls += (
            preparation(init, f"`{name}`", f"{UNARY}{header}.h", templates=templates),
            _call(
                name,
                summary,
                f"{UNARY}{header}.h",
                reference=reference,
                count=count,
                inputs=_THREE,
                output="odst",
                scalars=scalars,
                templates=_FORMAT,
            ),
        )
    return tuple(calls)


_LGAMMA = f"{UNARY}lgamma.h"
_OTHERS = (
    preparation("lgamma_stirling_float_tile_init", "`lgamma_stirling_float_tile`", _LGAMMA),
    _call(
        "lgamma_stirling_float_tile",
        "`lgamma_stirling_tile` from a tile and from its logarithm.",
        _LGAMMA,
        reference=_compute_lgamma_stirling_float,
        count=60,
        inputs=_TWO,
        output="idst2",
    ),
    preparation("lgamma_adjusted_tile_init", "`lgamma_adjusted_tile`", _LGAMMA),
    _call(
        "lgamma_adjusted_tile",
        "Logarithm of the gamma function from what `lgamma_stirling_tile` gives, "
        "from ln(|sin(pi * x)|) and x.",
        _LGAMMA,
        reference=_adjust_lgamma,
        count=9,
        inputs=_THREE,
        output="idst3",
    ),
    *(
        call
        for name, reference in (
            ("rsub_int_tile", _compute_rsub_int),
        )
        for call in (
            preparation(f"{name}_init", f"`{name}`", f"{API}sub_int_sfpu.h"),
            _call(
                name,
                "The second minus the first. Integers wrap.",
                f"{API}sub_int_sfpu.h",
                reference=reference,
                count=5,
                inputs=_TWO,
                output="odst",
                element=Element.BY_FORMAT,
                templates=_FORMAT,
            ),
        )
    ),
)  # fmt: skip

# --- Calls with methods of their own --------------------------------------------------------------


def _own(
    name: str,
    summary: str,
    header: str,
    count: int,
    operands: tuple[str, ...],
    *,
    templates: tuple[Template, ...] = (),
    options: tuple[Option, ...] = (),
    init: str = "",
) -> KernelCall:
    return KernelCall(
        name,
        summary,
        ints(*operands),
        header=header,
        roles=Role.MATH,
        templates=templates,
        options=options,
        init=init or f"{name}_init",
        cost=instructions(count),
    )


def _option(name: str, default: str) -> Option:
    return Option(name=name, type="uint32_t", default=default)


def _by_a_number() -> tuple[KernelCall, ...]:
    """Remainders by a number that the call that prepares is given, with its reciprocal."""
    calls = list[KernelCall]()
    for name, sign in (("remainder", "the number"), ("fmod", "x")):
        header = f"{UNARY}{name}.h"
        calls += (
            preparation(
                f"{name}_tile_init",
                f"`{name}_tile`: a number and its reciprocal, as bits of float32",
                header,
                operands=ints("param0", "param1"),
            ),
            _own(
                f"{name}_tile",
                f"Remainder of a division by a number, with the sign of {sign}; NaN by 0.",
                header,
                60,
                ("idst",),
            ),
        )
    return tuple(calls)


_QUANTIZATION = f"{API}quantization.h"
QUANTIZATIONS: tuple[tuple[str, str, bool], ...] = (
    ("quant", "x * scale + zero point, rounded to an integer of 8 bits", False),
    ("requant", "x * scale + zero point of integers, rounded to an integer of 8 bits", True),
    ("dequant", "(x - zero point) * scale of integers; what prepares is given -zero point", True),
)
"""Kinds, what they compute, and whether from integers."""
_QUANTIZATION_CALLS = (
    "quant_tile",
    "quant_int8_tile",
    "requant_tile",
    "requant_int8_tile",
    "requant_int8_in_tile",
    "requant_int8_in_int8_out_tile",
    "dequant_tile",
    "dequant_int8_tile",
)
_QUANTIZATION_INITS = (
    "quant_tile_init",
    "quant_uint8_tile_init",
    "quant_int8_tile_init",
    "requant_tile_init",
    "requant_uint8_tile_init",
    "requant_int8_tile_init",
    "requant_int8_in_tile_init",
    "requant_int8_in_uint8_out_tile_init",
    "requant_int8_in_int8_out_tile_init",
    "dequant_tile_init",
    "dequant_int8_tile_init",
)


def _quantization() -> tuple[KernelCall, ...]:
    inits = tuple(
        preparation(
            name,
            f"`{name.partition('_')[0]}_tile` and its like: the zero point, as bits of float32",
            _QUANTIZATION,
            operands=ints("zero_point"),
        )
        for name in _QUANTIZATION_INITS
    )
    summaries = {kind: summary for kind, summary, _ in QUANTIZATIONS}
    calls = tuple(
        _own(
            name,
            f"{summaries[name.partition('_')[0]][0].upper()}"
            f"{summaries[name.partition('_')[0]][1:]}.",
            _QUANTIZATION,
            6,
            (*_TWO, "odst"),
        )
        for name in _QUANTIZATION_CALLS
    )
    return (*inits, *calls)


_SPREAD = f"{API}sfpu_binary_bcast.h"


def _spreading() -> tuple[KernelCall, ...]:
    """Calls on a tile and column 0, row 0 or the first number of another one."""
    calls = list[KernelCall]()
    for part, which in (("col", "column 0"), ("row", "row 0")):
        calls.append(
            preparation(f"sfpu_bcast_{part}_init", f"calls that spread {which} of a tile", _SPREAD)
        )
        for word, phrase in (("sub", "minus"), ("add", "plus"), ("mul", "times")):
            name = f"sfpu_{word}_bcast_{part}"
            calls += (
                preparation(f"{name}_init", f"`{name}`", _SPREAD),
                _own(
                    name,
                    f"The first tile {phrase} {which} of the second, in the first.",
                    _SPREAD,
                    6,
                    ("dst_data_idx", f"dst_{part}_vec_idx"),
                    init=f"sfpu_bcast_{part}_init",
                ),
            )
    kind = (enumerator("bcast_type", "BroadcastType"),)
    return (
        *calls,
        preparation("sfpu_bcast_init", "`sfpu_bcast`", _SPREAD, templates=kind),
        _own(
            "sfpu_bcast",
            "Sum, difference or product of a tile and a spread part of another one.",
            _SPREAD,
            6,
            ("dst_data_idx", "dst_bcast_idx"),
            templates=(*kind, enumerator("eltwise_binary_type", "EltwiseBinaryType")),
        ),
        _own(
            "sfpu_normalize_bcast_col",
            "(x - column 0 of the second) * column 0 of the third.",
            _SPREAD,
            9,
            ("dst_data_idx", "dst_mean_col_idx", "dst_inv_std_col_idx"),
            init="sfpu_bcast_col_init",
        ),
        _own(
            "sfpu_normalize_bcast_col_two_tiles",
            "`sfpu_normalize_bcast_col` of two tiles.",
            _SPREAD,
            18,
            (
                *("dst_data_idx", "dst_second_data_idx", "dst_mean_col_idx"),
                "dst_inv_std_col_idx",
            ),
            init="sfpu_bcast_col_init",
        ),
        _own(
            "sfpu_residual_normalize_bcast_col",
            "`sfpu_normalize_bcast_col` of the sum of two tiles, in the first.",
            _SPREAD,
            11,
            ("dst_data_idx", "dst_residual_idx", "dst_mean_col_idx", "dst_inv_std_col_idx"),
            init="sfpu_bcast_col_init",
        ),
        preparation("sfpu_normalize_bcast_scalar_init", "`sfpu_normalize_bcast_scalar`", _SPREAD),
        _own(
            "sfpu_normalize_bcast_scalar",
            "(x - first number of the second) * first number of the third.",
            _SPREAD,
            6,
            ("dst_data_idx", "dst_mean_scalar_idx", "dst_inv_std_scalar_idx"),
        ),
    )


_YOUNGER = (
    _call(
        f"power_tile{SINCE}",
        "`power_tile` since 2026: the exponent, by the bits of a float.",
        GENERAL,
        reference=_compute_power,
        count=80,
        scalars=float_bits("exponent"),
        init="power_tile_init",
    ),
    _own(
        f"exp_tile{SINCE}",
        "`exp_tile` of 0.81: `approx` alone asks for the fast form; `scale_en` has x multiplied "
        "by a number, by the bits of a bfloat16, or in the fast form by that of `exp_tile_init`.",
        f"{UNARY}exp.h",
        42,
        ("idst",),
        templates=(flag("approx", "false"), flag("scale_en", "false")),
        options=(_option("vector_mode", "4"), _option("scale", "0x3F80")),
        init="exp_tile_init",
    ),
)
"""What names mean that had another meaning before."""
_SUMS = f"{UNARY}sfpu_int_sum.h"
_OWN = (
    *_by_a_number(),
    *_quantization(),
    *_spreading(),
    preparation("rdiv_tile_init", "`rdiv_tile`", f"{UNARY}rdiv.h"),
    _own(
        "rdiv_tile",
        "A number, by its bits, divided by x; rounded toward 0 or down if so asked.",
        f"{UNARY}rdiv.h",
        34,
        ("dst_index", "value"),
        templates=(enumerator("rounding_mode", "RoundingMode", "RoundingMode::None"),),
    ),
    preparation("polygamma_tile_init", "`polygamma_tile`", f"{UNARY}polygamma.h"),
    _own(
        "polygamma_tile",
        "Derivative of the digamma function of an order from 1 to 11: the order and "
        "(-1)^(n + 1) * n!, both as bits of float32.",
        f"{UNARY}polygamma.h",
        200,
        ("idst", "n_packed", "scale_packed"),
    ),
    preparation("div_int32_tile_init", "`div_int32_tile`", f"{API}div_int32_sfpu.h"),
    _own(
        "div_int32_tile",
        "Quotient of integers, a floating-point number.",
        f"{API}div_int32_sfpu.h",
        40,
        (*_TWO, "odst"),
    ),
    preparation("isclose_binary_tile_init", "`isclose_binary_tile`", f"{API}isclose.h"),
    _own(
        "isclose_binary_tile",
        "1 where |x - y| is at most atol + rtol * |y|, else 0: bits of rtol and atol.",
        f"{API}isclose.h",
        20,
        (*_TWO, "odst", "rtol_bits", "atol_bits"),
        templates=(flag("equal_nan", "false"),),
    ),
    _own(
        "stochastic_round_tile",
        "x rounded to 16 bits, up or down at random; the numbers are not those of the chip.",
        f"{UNARY}rounding.h",
        3,
        ("idst",),
        init="rounding_op_tile_init",
    ),
    preparation(
        "sfpu_reduce_init",
        "`sfpu_reduce`",
        GENERAL,
        templates=(enumerator("pool_type", "PoolType"), *_FORMAT),
    ),
    _own(
        "sfpu_reduce",
        "Sum, average, largest or smallest number of each column of a tile into row 0, or of each "
        "row of a block of tiles into column 0 of its first tiles.",
        GENERAL,
        8,
        ("idst",),
        templates=(
            enumerator("pool_type", "PoolType"),
            *_FORMAT,
            enumerator("reduce_dim", "ReduceDim", "ReduceDim::REDUCE_COL"),
        ),
        options=(_option("ct_dim", "1"), _option("rt_dim", "1")),
    ),
    preparation("sfpu_add_top_row_init", "`sfpu_add_top_row`", GENERAL),
    _own(
        "sfpu_add_top_row",
        "Sum of rows 0 to 3 of two tiles, into those of the third.",
        GENERAL,
        1,
        ("dst_tile_0", "dst_tile_1", "dst_tile_out"),
        templates=_FORMAT,
    ),
    preparation("alt_complex_rotate90_tile_init", "`alt_complex_rotate90_tile`", GENERAL),
    _own(
        "alt_complex_rotate90_tile",
        "i times complex numbers whose parts stand side by side: (-imaginary, real).",
        GENERAL,
        3,
        ("idst",),
    ),
    preparation("sfpu_sum_int_init", "the sums of integers", _SUMS),
    _own(
        "sfpu_sum_int_col",
        "Sum of each column of integers, into row 0.",
        _SUMS,
        4,
        ("idst",),
        init="sfpu_sum_int_init",
    ),
    _own(
        "sfpu_sum_int_row",
        "Sum of each row of integers, into column 0.",
        _SUMS,
        4,
        ("idst",),
        init="sfpu_sum_int_init",
    ),
)

CALLS: tuple[KernelCall, ...] = (
    *(
        call
        for name, header, summary, reference, scalars, count in _UNARY
        for call in _pair(
            name,
            summary,
            f"{UNARY}{header}.h",
            reference=reference,
            count=count,
            scalars=float_bits(*scalars),
        )
    ),
    *_unary_extremes(),
    *_relu_on_integers(),
    *_on_integers(),
    *(
        call
        for name, header, summary, reference, count, element in _BINARY
        for call in _pair(
            name,
            summary,
            f"{API}{header}.h",
            reference=reference,
            count=count,
            inputs=_TWO,
            output="odst",
            element=element,
        )
    ),
    *_ternary(),
    *_OTHERS,
    *_OWN,
    *_YOUNGER,
)
"""The calls, in the order of the documentation."""
