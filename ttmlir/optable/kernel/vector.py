"""How the definitions of calls on the vector unit (SFPU) are made: tiles of DST in, a tile of DST
out."""

from __future__ import annotations

from typing import Any

from ttmlir.optable import special
from ttmlir.optable.elementwise import function
from ttmlir.optable.kernel.kernel_call import (
    NARROW,
    Approximation,
    Cost,
    Element,
    KernelCall,
    Operands,
    Reference,
    Role,
    Scalar,
    Template,
    Tiles,
    ValueKind,
    enumerator,
    flag,
    function_with_number,
    ints,
    number,
    reference_of,
    unchanged,
)

Scalars = tuple[tuple[str, str, Scalar], ...]
"""Operands that are numbers: name, parameter of the reference, encoding."""

API = "compute_kernel_api/"
UNARY = f"{API}eltwise_unary/"
GENERAL = "compute_kernel_api.h"
_VECTORS = 32  # a vector is 4 rows of 8 columns (tt-isa-documentation, WormholeB0: VectorUnit.md)


def instructions(count: int) -> Cost:
    """Cost of so many vector instructions for each vector, an estimate; one issues per cycle."""
    return Cost(
        math=_VECTORS * count,
        estimated=True,
        source=f"about {count} vector instructions for each of {_VECTORS} vectors",
    )


def cycles(count: int, source: str, blackhole: int = 0, narrow: Cost | None = None) -> Cost:
    """A published cost, that on Blackhole if it is published, too, and to a DST of 16 bits."""
    return Cost(math=count, source=source, blackhole=blackhole, narrow=narrow)


def preparation(
    mnemonic: str,
    prepared: str,
    header: str,
    *,
    templates: tuple[Template, ...] = (),
    operands: Operands = (),
    defaults: tuple[str, ...] = (),
) -> KernelCall:
    """The call that prepares another one, or several."""
    return KernelCall(
        mnemonic,
        f"Prepare {prepared}.",
        operands,
        defaults=defaults,
        header=header,
        roles=Role.MATH,
        templates=templates,
    )


def computation(
    mnemonic: str,
    summary: str,
    header: str,
    reference: Reference | None,
    cost: Cost,
    *,
    inputs: tuple[str, ...],
    output: str,
    scalars: Scalars = (),
    element: Element = Element.FLOAT,
    templates: tuple[Template, ...] = (),
    init: str = "",
    approximation: Approximation | None = None,
    on_device: Reference | None = None,
) -> KernelCall:
    """A call that computes on tiles of DST; `output` may be one of `inputs`."""
    numbers = tuple(
        (name, ValueKind.F32 if encoding is Scalar.FLOAT else ValueKind.I32)
        for name, _, encoding in scalars
    )
    targets = () if output in inputs else (output,)
    return KernelCall(
        mnemonic,
        summary,
        (*ints(*inputs, *targets), *numbers),
        header=header,
        roles=Role.MATH,
        templates=templates,
        init=init or f"{mnemonic}_init",
        reference=reference,
        tiles=Tiles(to=output, dst=inputs, scalars=scalars, element=element),
        cost=cost,
        approximation=approximation,
        on_device=on_device,
    )


# --- Vector binary --------------------------------------------------------------------------------
# Calls on the vector unit that make a tile of DST from two or three others.
#
# Source: tt-metal, compute_kernel_api/{eltwise_binary_sfpu,add_int_sfpu,sub_int_sfpu,mul_int_sfpu,
# binary_bitwise_sfpu,binary_shift,binary_max_min,binary_comp,binary_fmod,div_int32_floor,atan2}.h
# and eltwise_unary/where.h.

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
    reference: Reference,
    cost: Cost,
    *,
    element: Element = Element.FLOAT,
    templates: tuple[Template, ...] = (),
    init: str = "",
    on_device: Reference | None = None,
) -> KernelCall:
    return computation(
        mnemonic,
        summary,
        header,
        reference,
        cost,
        inputs=("idst0", "idst1"),
        output="odst",
        element=element,
        templates=templates,
        init=init,
        on_device=on_device,
    )


def _pair(
    mnemonic: str,
    summary: str,
    header: str,
    reference: Reference,
    cost: Cost,
    element: Element = Element.FLOAT,
    on_device: Reference | None = None,
) -> tuple[KernelCall, KernelCall]:
    """The call that prepares, and the call."""
    return (
        preparation(f"{mnemonic}_init", f"`{mnemonic}`", header),
        _of_two(mnemonic, summary, header, reference, cost, element=element, on_device=on_device),
    )


def _reversed_difference(xp: Any, x: Any, y: Any) -> Any:
    return y - x


def _divide_on_device(xp: Any, x: Any, y: Any) -> Any:
    """Quotients of integers, and what the kernel library's algorithm leaves of a division by 0.

    Source: ttsim 1.10.0, Tenstorrent's functional simulator, with the kernels of tt-metal 0.81. By
    0, Blackhole gives 65536 with the sign of x (0 counts as positive), and -65534 for the smallest
    integer. Wormhole gives the same, except for 0 (3), 1 (-2045), -1 (2045), 2 and -2 (63488 with
    the sign of x), which are not modelled.
    """
    smallest = x == xp.iinfo(x.dtype).min
    by_zero = xp.where(smallest, -65534, xp.where(x < 0, -65536, 65536))
    return xp.where(y == 0, by_zero, reference_of("div")(xp, x, y))


_ARITHMETIC = (
    *_pair("add_binary_tile", "Sum.", _SFPU, reference_of("add"), instructions(5)),
    *_pair("sub_binary_tile", "Difference.", _SFPU, reference_of("subtract"), instructions(5)),
    *_pair("mul_binary_tile", "Product.", _SFPU, reference_of("multiply"), instructions(5)),
    *_pair(
        "div_binary_tile",
        "Quotient.",
        _SFPU,
        reference_of("div"),
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
        reference_of("remainder"),
        instructions(60),
    ),
    *_pair(
        "fmod_int32_tile",
        "Remainder of a division, with the sign of the first.",
        _REMAINDER,
        reference_of("remainder"),
        instructions(60),
        Element.INT32,
    ),
    *_pair(
        "div_int32_trunc_tile",
        "Quotient, rounded toward 0; what it is by 0 depends on the chip.",
        f"{API}div_int32_floor.h",
        reference_of("div"),
        instructions(60),
        Element.INT32,
        _divide_on_device,
    ),
    *_pair("power_binary_tile", "Power.", _SFPU, reference_of("pow"), instructions(80)),
    *_pair(
        "atan2_binary_tile",
        "Angle of the point (second, first), in radians.",
        f"{API}atan2.h",
        reference_of("atan2"),
        instructions(80),
    ),
    *_pair("binary_max_tile", "The larger.", _EXTREMES, reference_of("maximum"), instructions(5)),
    *_pair("binary_min_tile", "The smaller.", _EXTREMES, reference_of("minimum"), instructions(5)),
    *_pair(
        "binary_max_int32_tile",
        "The larger.",
        _EXTREMES,
        reference_of("maximum"),
        instructions(6),
        Element.INT32,
    ),
    *_pair(
        "binary_min_int32_tile",
        "The smaller.",
        _EXTREMES,
        reference_of("minimum"),
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
                reference_of(row),
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
                reference_of(f"bitwise_{word}"),
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


_PHRASES = {
    "eq": "they are equal",
    "ne": "they differ",
    "lt": "the first is less",
    "gt": "the first is greater",
    "le": "the first is not greater",
    "ge": "the first is not less",
}


def _comparisons() -> tuple[KernelCall, ...]:
    return tuple(
        call
        for word, phrase in _PHRASES.items()
        for name, element in (
            (f"{word}_binary_tile", Element.FLOAT),
            (f"{word}_int32_tile", Element.INT32),
        )
        for call in _pair(
            name,
            f"1 where {phrase}, else 0.",
            _COMPARE,
            reference_of(word),
            instructions(7),
            element,
        )
    )


COMPARISONS_OF_2026 = tuple(
    call
    for word, phrase in _PHRASES.items()
    for call in (
        preparation(
            f"{word}_int_tile_init", f"`{word}_int_tile`", _COMPARE, templates=_DATA_FORMAT
        ),
        _of_two(
            f"{word}_int_tile",
            f"1 where {phrase}, else 0.",
            _COMPARE,
            reference_of(word),
            instructions(7),
            element=Element.BY_FORMAT,
            templates=_DATA_FORMAT,
        ),
    )
)
"""Comparisons of integers as kernels of 2026 call them; no operation stands for them."""

_CHOICE = (
    preparation("where_tile_init", "`where_tile`", f"{UNARY}where.h"),
    computation(
        "where_tile",
        "The second where the first is other than 0, else the third.",
        f"{UNARY}where.h",
        reference_of("where"),
        instructions(6),
        inputs=("idst0", "idst1", "idst2"),
        output="odst",
        element=Element.BY_FORMAT,
        templates=_DATA_FORMAT,
    ),
)

CALLS = (*_ARITHMETIC, *_integer_arithmetic(), *_bit_calls(), *_comparisons(), *_CHOICE)
"""The calls, in the order of the documentation."""


# --- Vector unary ---------------------------------------------------------------------------------
# Calls on the vector unit that change a tile of DST in place.
#
# Source: tt-metal, compute_kernel_api/eltwise_unary/*.h and compute_kernel_api.h. Meanings that
# ttir has, too, are the reference functions of its definitions. Cycles are those of Wormhole unless
# it is said otherwise, from tt-metal's pull requests as given in each definition.

_APPROXIMATE = flag("fast_and_approx", "false")
_ROUNDING = "rounding_op_tile_init"
_WITH_SCALAR = "binop_with_scalar_tile_init"
_BLACKHOLE = "tt-metal PR 49926, measured on Blackhole"


def _file(name: str) -> str:
    return f"{UNARY}{name}.h"


def _in_place(
    mnemonic: str,
    summary: str,
    header: str,
    reference: Reference | None,
    cost: Cost,
    *,
    scalars: Scalars = (),
    element: Element = Element.FLOAT,
    templates: tuple[Template, ...] = (),
    init: str = "",
    approximation: Approximation | None = None,
) -> KernelCall:
    return computation(
        mnemonic,
        summary,
        header,
        reference,
        cost,
        inputs=("idst",),
        output="idst",
        scalars=scalars,
        element=element,
        templates=templates,
        init=init,
        approximation=approximation,
    )


def _unary_pair(
    mnemonic: str,
    summary: str,
    header: str,
    reference: Reference,
    cost: Cost,
    *,
    scalars: Scalars = (),
    templates: tuple[Template, ...] = (),
    own_templates: tuple[Template, ...] = (),
    approximation: Approximation | None = None,
) -> tuple[KernelCall, KernelCall]:
    """The call that prepares, and the call, which takes `own_templates` before `templates`."""
    init = f"{mnemonic}_init"
    return (
        preparation(init, f"`{mnemonic}`", header, templates=templates),
        _in_place(
            mnemonic,
            summary,
            header,
            reference,
            cost,
            scalars=scalars,
            templates=(*own_templates, *templates),
            approximation=approximation,
        ),
    )


def _fast(cost: Cost, *others: str, reference: Reference | None = None) -> Approximation:
    """The form that the flag `fast_and_approx`, and others with it, ask for."""
    return Approximation(flags=(*others, "fast_and_approx"), cost=cost, reference=reference)


def float_bits(*names: str) -> Scalars:
    """Numbers that are given as the bits of floating-point numbers: `param0`, `param1`, ..."""
    return tuple((f"param{i}", name, Scalar.FLOAT_BITS) for i, name in enumerate(names))


def whole_numbers(*names: str) -> Scalars:
    """Integers that are given: `param0`, `param1`, ..."""
    return tuple((f"param{i}", name, Scalar.INTEGER) for i, name in enumerate(names))


def _fill(xp: Any, *, value: Any) -> Any:
    return value


def _erfc(xp: Any, x: Any) -> Any:
    return 1.0 - special.erf(xp, x)


def _log_with_base(xp: Any, x: Any, *, scale: float) -> Any:
    return xp.log(x) * scale


def _subtract_reversed(xp: Any, x: Any, *, value: Any) -> Any:
    return value - x


_ANGLES = "trigonometry"
_FUNCTIONS = (
    *_unary_pair("abs_tile", "Absolute value.", GENERAL, reference_of("abs"), instructions(3)),
    *_unary_pair(
        "negative_tile", "Negation.", _file("negative"), reference_of("neg"), instructions(3)
    ),
    *_unary_pair("sign_tile", "Sign: -1, 0 or 1.", GENERAL, function("sign"), instructions(6)),
    *_unary_pair(
        "signbit_tile",
        "1 where the sign bit is set, else 0.",
        GENERAL,
        function("signbit"),
        cycles(180, _BLACKHOLE),
    ),
    *_unary_pair("square_tile", "Square.", GENERAL, reference_of("square"), instructions(3)),
    *_unary_pair(
        "sqrt_tile",
        "Square root.",
        _file("sqrt"),
        reference_of("sqrt"),
        cycles(896, "tt-metal PR 54317: 27 to 28 issue slots for each vector"),
        templates=(_APPROXIMATE,),
        approximation=_fast(cycles(576, "tt-metal PR 54317: 17 to 18 issue slots")),
    ),
    *_unary_pair(
        "rsqrt_tile",
        "Reciprocal of the square root.",
        _file("rsqrt"),
        reference_of("rsqrt"),
        cycles(1024, "tt-metal PR 54317: 31 to 32 issue slots for each vector"),
        templates=(_APPROXIMATE,),
        approximation=_fast(cycles(704, "tt-metal PR 54317: 21 to 22 issue slots")),
    ),
    *_unary_pair("cbrt_tile", "Cube root.", _file("cbrt"), reference_of("cbrt"), instructions(25)),
    *_unary_pair(
        "recip_tile",
        "Reciprocal.",
        _file("recip"),
        reference_of("reciprocal"),
        cycles(1059, "tt-metal PR 54938"),
    ),
    *_unary_pair(
        "exp_tile",
        "Exponential function.",
        _file("exp"),
        reference_of("exp"),
        cycles(
            1376,
            "tt-metal 0.81, compiled: 41 vector instructions, 40 on Blackhole, and 2 of a loop",
            blackhole=1344,
            narrow=cycles(
                672,
                "tt-metal 0.81, compiled: 20 vector instructions, and 8 for 8 vectors; on "
                "Blackhole tt-metal PR 54318",
                blackhole=482,
            ),
        ),
        templates=(
            flag("approx", "false"),
            flag("fast_and_approx", "true"),
            flag(NARROW, "false"),
        ),
        approximation=_fast(
            cycles(128, "tt-metal PR 29495", blackhole=52), "approx", reference=special.fast_exp
        ),
    ),
    *_unary_pair("exp2_tile", "2 to the power of x.", GENERAL, function("exp2"), instructions(42)),
    *_unary_pair(
        "expm1_tile",
        "Exponential function minus 1.",
        GENERAL,
        reference_of("expm1"),
        instructions(43),
        templates=(flag("approx", "false"),),
    ),
    *_unary_pair(
        "log_tile",
        "Natural logarithm.",
        GENERAL,
        reference_of("log"),
        instructions(24),
        templates=(_APPROXIMATE,),
    ),
    *_unary_pair(
        "log_with_base_tile",
        "Natural logarithm times a number, the reciprocal of the logarithm of a base.",
        GENERAL,
        _log_with_base,
        instructions(25),
        scalars=(("base_scale", "scale", Scalar.FLOAT_BITS),),
    ),
    *_unary_pair(
        "log1p_tile",
        "Natural logarithm of 1 + x.",
        _file("log1p"),
        reference_of("log1p"),
        instructions(26),
        templates=(_APPROXIMATE,),
    ),
    *_unary_pair(
        "sin_tile", "Sine.", _file(_ANGLES), reference_of("sin"), cycles(838, "tt-metal PR 48925")
    ),
    *_unary_pair("cos_tile", "Cosine.", _file(_ANGLES), reference_of("cos"), instructions(20)),
    *_unary_pair("tan_tile", "Tangent.", _file(_ANGLES), reference_of("tan"), instructions(50)),
    *_unary_pair("asin_tile", "Arc sine.", _file(_ANGLES), function("arcsin"), instructions(24)),
    *_unary_pair("acos_tile", "Arc cosine.", _file(_ANGLES), function("arccos"), instructions(25)),
    *_unary_pair(
        "atan_tile", "Arc tangent.", _file(_ANGLES), reference_of("atan"), instructions(40)
    ),
    *_unary_pair(
        "sinh_tile", "Hyperbolic sine.", _file(_ANGLES), function("sinh"), instructions(88)
    ),
    *_unary_pair(
        "cosh_tile", "Hyperbolic cosine.", _file(_ANGLES), function("cosh"), instructions(88)
    ),
    *_unary_pair(
        "tanh_tile",
        "Hyperbolic tangent.",
        GENERAL,
        reference_of("tanh"),
        cycles(764, _BLACKHOLE),
        templates=(_APPROXIMATE,),
        approximation=_fast(cycles(160, _BLACKHOLE)),
    ),
    *_unary_pair(
        "asinh_tile",
        "Inverse hyperbolic sine.",
        _file(_ANGLES),
        function("arcsinh"),
        instructions(60),
    ),
    *_unary_pair(
        "acosh_tile",
        "Inverse hyperbolic cosine.",
        _file(_ANGLES),
        function("arccosh"),
        instructions(60),
    ),
    *_unary_pair(
        "atanh_tile",
        "Inverse hyperbolic tangent.",
        _file(_ANGLES),
        function("arctanh"),
        instructions(60),
    ),
    *_unary_pair(
        "erf_tile",
        "Error function.",
        _file("erf_erfc"),
        reference_of("erf"),
        instructions(60),
        templates=(flag("fast_and_approx", "true"),),
    ),
    *_unary_pair(
        "erfc_tile",
        "1 minus the error function.",
        _file("erf_erfc"),
        _erfc,
        instructions(61),
        templates=(flag("fast_and_approx", "true"),),
    ),
    *_unary_pair(
        "power_tile",
        "Power with an integer exponent.",
        GENERAL,
        function_with_number("power"),
        instructions(40),
        scalars=whole_numbers("value"),
    ),
)

_ACTIVATIONS = (
    *_unary_pair(
        "sigmoid_tile",
        "Logistic function.",
        GENERAL,
        reference_of("sigmoid"),
        cycles(1394, "tt-metal PR 26946; on Blackhole PR 49926", blackhole=1247),
        templates=(_APPROXIMATE,),
        own_templates=(number("vec_mode", "4"),),
        approximation=_fast(cycles(198, "tt-metal PR 55061; on Blackhole PR 49926", blackhole=221)),
    ),
    *_unary_pair(
        "gelu_tile",
        "Gaussian error linear unit.",
        _file("gelu"),
        reference_of("gelu"),
        cycles(2847, _BLACKHOLE),
        templates=(flag("fast_and_approx", "true"),),
        approximation=_fast(cycles(221, _BLACKHOLE)),
    ),
    *_unary_pair(
        "silu_tile",
        "Sigmoid linear unit.",
        GENERAL,
        reference_of("silu"),
        cycles(1387, "tt-metal PR 48925"),
    ),
    *_unary_pair(
        "relu_tile", "Rectified linear unit.", _file("relu"), reference_of("relu"), instructions(4)
    ),
    *_unary_pair(
        "relu_max_tile",
        "x limited to [0, upper].",
        _file("relu"),
        special.relu_max,
        cycles(298, "tt-metal PR 54938"),
        scalars=float_bits("upper_limit"),
    ),
    *_unary_pair(
        "relu_min_tile",
        "The larger of x and a number.",
        _file("relu"),
        function_with_number("maximum"),
        instructions(5),
        scalars=float_bits("value"),
    ),
    *_unary_pair(
        "leaky_relu_tile",
        "Rectified linear unit with a slope for negative numbers.",
        _file("relu"),
        reference_of("leaky_relu"),
        instructions(5),
        scalars=float_bits("parameter"),
    ),
    *_unary_pair(
        "elu_tile",
        "Exponential linear unit.",
        _file("elu"),
        special.elu,
        instructions(46),
        scalars=float_bits("alpha"),
    ),
    *_unary_pair(
        "selu_tile",
        "Scaled exponential linear unit.",
        _file("selu"),
        special.selu,
        instructions(47),
        scalars=float_bits("scale", "alpha"),
    ),
    *_unary_pair(
        "softplus_tile",
        "ln(1 + exp(beta * x)) / beta; x where beta * x exceeds a threshold.",
        _file("softplus"),
        special.softplus,
        cycles(1450, "tt-metal PR 54938"),
        scalars=float_bits("beta", "beta_reciprocal", "threshold"),
    ),
    *_unary_pair(
        "softsign_tile", "x / (1 + |x|).", _file("activations"), special.softsign, instructions(36)
    ),
    *_unary_pair(
        "hardsigmoid_tile",
        "x / 6 + 0.5, limited to [0, 1].",
        _file("activations"),
        reference_of("hardsigmoid"),
        cycles(289, "tt-metal PR 54938"),
    ),
    *_unary_pair(
        "hardtanh_tile",
        "x limited to [min, max].",
        _file("hardtanh"),
        reference_of("clamp"),
        instructions(6),
        scalars=float_bits("min", "max"),
    ),
    *_unary_pair(
        "heaviside_tile",
        "0 below 0, 1 above, a number at 0.",
        GENERAL,
        special.heaviside,
        instructions(6),
        scalars=float_bits("value"),
    ),
    *_unary_pair(
        "clamp_tile",
        "x limited to [min, max].",
        _file("clamp"),
        reference_of("clamp"),
        instructions(6),
        scalars=float_bits("min", "max"),
    ),
)

_ROUNDINGS = (
    preparation(_ROUNDING, "the calls that round", _file("rounding")),
    *(
        _in_place(mnemonic, summary, _file("rounding"), reference, cost, init=_ROUNDING)
        for mnemonic, summary, reference, cost in (
            (
                "floor_tile",
                "Largest integer not above x.",
                reference_of("floor"),
                cycles(520, "tt-metal PR 48925; on Blackhole PR 49926", blackhole=476),
            ),
            (
                "ceil_tile",
                "Smallest integer not below x.",
                reference_of("ceil"),
                cycles(520, "tt-metal PR 48925; on Blackhole PR 49926", blackhole=476),
            ),
            ("trunc_tile", "Integer part.", function("trunc"), instructions(10)),
            ("frac_tile", "Fraction, with the sign of x.", special.take_fraction, instructions(11)),
        )
    ),
    _in_place(
        "round_tile",
        "x rounded to so many decimals, halves to even.",
        _file("rounding"),
        special.round_decimals,
        instructions(14),
        scalars=(("decimals", "decimals", Scalar.INTEGER),),
        init=_ROUNDING,
    ),
)

# Names of the comparisons with a number and with zero, what they say, function of NumPy.
_COMPARISONS = (
    ("eq", "eqz", "x equals {}", "equal"),
    ("ne", "nez", "x differs from {}", "not_equal"),
    ("gt", "gtz", "x > {}", "greater"),
    ("ge", "gez", "x >= {}", "greater_equal"),
    ("lt", "ltz", "x < {}", "less"),
    ("le", "lez", "x <= {}", "less_equal"),
)


def _with_zero(name: str) -> Reference:
    """A comparison with zero."""
    with_number = function_with_number(name)

    def reference(xp: Any, x: Any) -> Any:
        return with_number(xp, x, value=0)

    return reference


def _unary_comparisons() -> tuple[KernelCall, ...]:
    header = _file("comp")
    calls: list[KernelCall] = []
    for word, name, phrase, comparison in _COMPARISONS:
        zero = f"1 where {phrase.format(0)}, else 0."
        number = f"1 where {phrase.format('a number')}, else 0."
        init = f"{name}_tile_init"
        other = f"unary_{word}_tile"
        calls += (
            *_unary_pair(f"{name}_tile", zero, header, _with_zero(comparison), instructions(5)),
            _in_place(
                f"{name}_tile_int32",
                zero,
                header,
                _with_zero(comparison),
                instructions(5),
                element=Element.INT32,
                init=init,
            ),
            *_unary_pair(
                other,
                number,
                header,
                function_with_number(comparison),
                instructions(6),
                scalars=float_bits("value"),
            ),
            _in_place(
                f"{other}_int32",
                number,
                header,
                function_with_number(comparison),
                instructions(6),
                scalars=whole_numbers("value"),
                element=Element.INT32,
                init=f"{other}_init",
            ),
        )
    return tuple(calls)


def _classes() -> tuple[KernelCall, ...]:
    """Calls that tell infinities and NaN from other numbers."""
    tests: tuple[tuple[str, str, Reference], ...] = (
        ("isfinite", "finite", reference_of("isfinite")),
        ("isinf", "infinite", function("isinf")),
        ("isposinf", "plus infinity", function("isposinf")),
        ("isneginf", "minus infinity", function("isneginf")),
        ("isnan", "NaN", function("isnan")),
    )
    header = _file("isinf_isnan")
    return tuple(
        call
        for name, phrase, reference in tests
        for call in _unary_pair(
            f"{name}_tile", f"1 where x is {phrase}, else 0.", header, reference, instructions(9)
        )
    )


def _with_scalars() -> tuple[KernelCall, ...]:
    """Sums, differences, products of a tile and a number."""
    header = _file("binop_with_scalar")
    functions: tuple[tuple[str, str, Reference], ...] = (
        ("add_unary_tile", "x plus a number.", function_with_number("add")),
        ("sub_unary_tile", "x minus a number.", function_with_number("subtract")),
        ("mul_unary_tile", "x times a number.", function_with_number("multiply")),
        (
            "div_unary_tile",
            "x times a number, the reciprocal of the divisor.",
            function_with_number("multiply"),
        ),
        ("rsub_unary_tile", "A number minus x.", _subtract_reversed),
    )
    scalars = (("param1", "value", Scalar.FLOAT_BITS),)
    integers = (("param1", "value", Scalar.INTEGER),)
    floats = tuple(
        _in_place(
            name, summary, header, reference, instructions(4), scalars=scalars, init=_WITH_SCALAR
        )
        for name, summary, reference in functions
    )
    ints = tuple(
        _in_place(
            f"{name}_int32",
            summary,
            header,
            reference,
            instructions(4),
            scalars=integers,
            element=Element.INT32,
            init=_WITH_SCALAR,
        )
        for name, summary, reference in functions[:2]
    )
    prepared = "the calls on a tile and a number"
    return (preparation(_WITH_SCALAR, prepared, header), *floats, *ints)


def _on_integers() -> tuple[KernelCall, ...]:
    """Variants on integers of calls above, and calls on bits."""
    variants: tuple[tuple[str, str, str, Reference, str], ...] = (
        ("abs_tile_int32", "Absolute value.", GENERAL, reference_of("abs"), "abs_tile_init"),
        (
            "negative_tile_int32",
            "Negation.",
            _file("negative"),
            reference_of("neg"),
            "negative_tile_init",
        ),
        (
            "relu_tile_int32",
            "Rectified linear unit.",
            _file("relu"),
            reference_of("relu"),
            "relu_tile_init",
        ),
        (
            "logical_not_tile_int32",
            "1 where x is 0, else 0.",
            _file("logical_not"),
            reference_of("logical_not"),
            "logical_not_tile_init",
        ),
    )
    plain = tuple(
        _in_place(
            name, summary, header, reference, instructions(4), element=Element.INT32, init=init
        )
        for name, summary, header, reference, init in variants
    )
    clamp = _in_place(
        "clamp_tile_int32",
        "x limited to [min, max].",
        _file("clamp"),
        reference_of("clamp"),
        instructions(6),
        scalars=whole_numbers("min", "max"),
        element=Element.INT32,
        init="clamp_tile_init",
    )
    return (*plain, clamp, *_unary_bit_calls())


def _unary_bit_calls() -> tuple[KernelCall, ...]:
    functions: tuple[tuple[str, str, Reference], ...] = (
        ("bitwise_and", "Bits set in x and in a number.", function_with_number("bitwise_and")),
        ("bitwise_or", "Bits set in x or in a number.", function_with_number("bitwise_or")),
        (
            "bitwise_xor",
            "Bits set in exactly one of x and a number.",
            function_with_number("bitwise_xor"),
        ),
        ("left_shift", "Bits moved up by a number.", function_with_number("left_shift")),
        (
            "right_shift",
            "Bits moved down by a number; the sign stays.",
            function_with_number("right_shift"),
        ),
    )
    calls: list[KernelCall] = []
    for name, summary, reference in functions:
        header = _file(name)
        calls += (
            preparation(f"{name}_tile_init", f"`{name}_tile`", header),
            _in_place(
                f"{name}_tile",
                summary,
                header,
                reference,
                instructions(4),
                scalars=whole_numbers("value"),
                element=Element.INT32,
            ),
        )
    header = _file("bitwise_not")
    return (
        preparation("bitwise_not_tile_init", "`bitwise_not_tile`", header),
        _in_place(
            "bitwise_not_tile",
            "Complement of every bit.",
            header,
            reference_of("bitwise_not"),
            instructions(3),
            element=Element.INT32,
        ),
        *calls,
    )


_FORMATS = (
    enumerator("in_dtype", "DataFormat", number=True),
    enumerator("out_dtype", "DataFormat", number=True),
)
_OTHERS = (
    *_unary_pair(
        "logical_not_tile",
        "1 where x is 0, else 0.",
        _file("logical_not"),
        reference_of("logical_not"),
        instructions(5),
    ),
    *_unary_pair("identity_tile", "x.", _file("identity"), unchanged, instructions(2)),
    preparation("typecast_tile_init", "`typecast_tile`", _file("typecast"), templates=_FORMATS),
    _in_place(
        "typecast_tile",
        "Conversion from one number format to another.",
        _file("typecast"),
        reference_of("typecast"),
        instructions(6),
        element=Element.BY_FORMAT,
        templates=_FORMATS,
    ),
    preparation("fill_tile_init", "the calls that fill a tile", _file("fill")),
    computation(
        "fill_tile",
        "A number in every element.",
        _file("fill"),
        _fill,
        instructions(1),
        inputs=(),
        output="idst",
        scalars=(("param0", "value", Scalar.FLOAT),),
    ),
    computation(
        "fill_tile_bitcast",
        "A number, given by its bits, in every element.",
        _file("fill"),
        _fill,
        instructions(1),
        inputs=(),
        output="idst",
        scalars=(("param0", "value", Scalar.FLOAT_BITS),),
        init="fill_tile_init",
    ),
    computation(
        "fill_tile_int",
        "An integer in every element.",
        _file("fill"),
        _fill,
        instructions(1),
        inputs=(),
        output="idst",
        scalars=whole_numbers("value"),
        element=Element.INT32,
        init="fill_tile_init",
    ),
    preparation("rand_tile_init", "`rand_tile` with a seed", _file("rand"), operands=ints("seed")),
    computation(
        "rand_tile",
        "Random numbers: from, plus scale times numbers in [0, 1).",
        _file("rand"),
        None,
        instructions(6),
        inputs=(),
        output="idst",
        scalars=(("from", "low", Scalar.FLOAT_BITS), ("scale", "scale", Scalar.FLOAT_BITS)),
    ),
)

UNARY_CALLS = (
    *_FUNCTIONS,
    *_ACTIVATIONS,
    *_ROUNDINGS,
    *_unary_comparisons(),
    *_classes(),
    *_with_scalars(),
    *_on_integers(),
    *_OTHERS,
)
"""The calls, in the order of the documentation."""
