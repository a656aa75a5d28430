"""How each elementwise operation of ttir is computed on tiles: by one call, or by a few.

The tiles of the operands are first copied to DST (`copy_tile`), to the slots 0, 1, ... in order;
then the steps run, each after the call that prepares it (`KernelCall.init`), and leave the result
in slot 0. Steps write to the slots of operands, too; they are not kept. Sums, differences and
products can be read from the circular buffers instead, by one call of the matrix unit.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum, auto

from ttmlir.optable.elementwise import DEFINITIONS
from ttmlir.optable.op_definition import Kind, OpDefinition, Parameter


class Format(Enum):
    """A number format that is known only where the operation is lowered."""

    OPERAND = auto()
    """Of the operand, the last one if there are several."""
    RESULT = auto()
    """Of the result."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """One call on tiles of DST."""

    call: str
    """Mnemonic of its definition."""
    slots: tuple[int, ...]
    """Tiles of DST, in the order of the operands of the call."""
    scalars: tuple[str | float, ...] = ()
    """Numbers that follow: parameters of the operation, by name, or constants. How each is encoded
    says `Tiles.scalars` of the definition."""
    templates: tuple[tuple[str, str | Format], ...] = ()
    """Template arguments that are not left to their defaults, by name; the call that prepares
    takes those of the same name."""


@dataclass(frozen=True, kw_only=True)
class TileCall:
    """How one operation is computed; a tuple of no steps: the result is the operand."""

    floats: tuple[Step, ...] | None = None
    """On floating-point numbers; None: not defined on them."""
    integers: tuple[Step, ...] | None = None
    """On 32-bit integers in two's complement; None: there is no such call."""
    unsigned: tuple[Step, ...] | None = None
    """On 32-bit integers without sign where their order or sign matters; None: there is no call."""
    keeps_truth: bool = False
    """True where the steps give 0 and 1 for 0 and 1, so that truth values need no others."""
    matrix_unit: str = ""
    """The call that does it on floating-point tiles of two circular buffers; empty: none does."""

    def slots(self, *, integers: bool = False) -> int:
        """How many tiles of DST the steps need, those of the operands included."""
        steps = self.integers if integers else self.floats
        return 1 + max((slot for step in steps or () for slot in step.slots), default=0)


_INT32 = (("data_format", "Int32"),)
_EXACT = (("fast_and_approx", "false"),)


def _step(
    call: str,
    *slots: int,
    scalars: tuple[str | float, ...] = (),
    templates: tuple[tuple[str, str | Format], ...] = (),
) -> Step:
    return Step(call=call, slots=slots or (0,), scalars=scalars, templates=templates)


def _unary(
    call: str, integers: str = "", *scalars: str, unsigned: tuple[Step, ...] | None = None
) -> TileCall:
    return TileCall(
        floats=(_step(call, scalars=scalars),),
        integers=(_step(integers, scalars=scalars),) if integers else None,
        unsigned=unsigned,
    )


def _exact(call: str) -> TileCall:
    """A call whose default is an approximation."""
    return TileCall(floats=(_step(call, templates=_EXACT),))


def _rounding(call: str) -> TileCall:
    return TileCall(floats=(_step(call),), integers=())


def _binary(call: str, integers: str = "", *, keeps_truth: bool = False) -> TileCall:
    return TileCall(
        keeps_truth=keeps_truth,
        floats=(_step(call, 0, 1, 0),),
        integers=(_step(integers, 0, 1, 0),) if integers else None,
    )


def _arithmetic(word: str) -> TileCall:
    return TileCall(
        floats=(_step(f"{word}_binary_tile", 0, 1, 0),),
        integers=(_step(f"{word}_int_tile", 0, 1, 0, templates=_INT32),),
        matrix_unit=f"{word}_tiles",
    )


def _logical(floats: str, integers: str) -> TileCall:
    """Both operands become 0 or 1, then they are combined."""
    return TileCall(
        floats=(_step("nez_tile", 0), _step("nez_tile", 1), _step(floats, 0, 1, 0)),
        integers=(_step("nez_tile_int32", 0), _step("nez_tile_int32", 1), _step(integers, 0, 1, 0)),
    )


def _bitwise(word: str) -> TileCall:
    return TileCall(integers=(_step(f"bitwise_{word}_binary_tile", 0, 1, 0),))


def _zero_beyond(shift: str) -> tuple[Step, ...]:
    """A shift whose result is 0 if the distance, without a sign, is not below 32.

    The calls that shift do not say what they do to such distances.
    """
    return (
        _step("copy_dest_values", 1, 2),
        _step("bitwise_and_tile", 2, scalars=(-32,)),
        _step("logical_not_tile_int32", 2),
        _step("bitwise_and_tile", 1, scalars=(31,)),
        _step(shift, 0, 1, 0),
        _step("mul_int_tile", 0, 2, 0, templates=_INT32),
    )


_SHIFT_OF_SIGNS = (
    # Distances beyond the width are as one of 31, which leaves the sign alone.
    _step("copy_dest_values", 1, 2),
    _step("bitwise_and_tile", 2, scalars=(-32,)),
    _step("nez_tile_int32", 2),
    _step("negative_tile_int32", 2),
    _step("bitwise_or_binary_tile", 1, 2, 1),
    _step("bitwise_and_tile", 1, scalars=(31,)),
    _step("binary_right_shift_tile", 0, 1, 0),
)
_LEFT, _RIGHT = (_zero_beyond(f"binary_{way}_shift_tile") for way in ("left", "logical_right"))
_SIGN_OF_INTEGERS = (
    _step("copy_dest_values", 0, 1),
    _step("gtz_tile_int32", 0),
    _step("ltz_tile_int32", 1),
    _step("sub_int_tile", 0, 1, 0, templates=_INT32),
)
_NEGATION_OF_BITS = (
    _step("fill_tile_int", 1, scalars=(0,)),
    _step("sub_int_tile", 1, 0, 0, templates=_INT32),
)
_ONES = (_step("fill_tile_int", scalars=(1,)),)
_CONVERSION = (
    _step("typecast_tile", templates=(("in_dtype", Format.OPERAND), ("out_dtype", Format.RESULT))),
)


def steps_with_number(mnemonic: str, number: int, *, has_sign: bool) -> tuple[Step, ...] | None:
    """How an operation on bits of 32-bit integers and one number is computed.

    None if there are no calls that take the number; distances of shifts have no sign.
    """
    if mnemonic in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        return (_step(f"{mnemonic}_tile", scalars=(number,)),)
    is_inside = 0 < number < 32
    if mnemonic == "right_shift" and has_sign:
        return (
            (_step("right_shift_tile", scalars=(number if is_inside else 31,)),) if number else ()
        )
    if mnemonic not in ("logical_left_shift", "logical_right_shift", "right_shift"):
        return None
    if not is_inside:
        return (_step("fill_tile_int", scalars=(0,)),) if number else ()
    if mnemonic == "logical_left_shift":
        return (_step("left_shift_tile", scalars=(number,)),)
    # The call moves copies of the sign in.
    kept = (1 << (32 - number)) - 1
    return (
        _step("right_shift_tile", scalars=(number,)),
        _step("bitwise_and_tile", scalars=(kept,)),
    )


class _TileCalls(dict[str, TileCall]):
    """Operations that are not in it have no calls: kernels do not compute them."""

    def __missing__(self, mnemonic: str) -> TileCall:
        return TileCall()


TILE_CALLS: Mapping[str, TileCall] = _TileCalls(
    {
        "abs": _unary("abs_tile", "abs_tile_int32", unsigned=()),
        "neg": _unary("negative_tile", "negative_tile_int32", unsigned=_NEGATION_OF_BITS),
        "relu": _unary("relu_tile", "relu_tile_int32", unsigned=()),
        "sqrt": _unary("sqrt_tile"),
        "sigmoid": _unary("sigmoid_tile"),
        "reciprocal": _unary("recip_tile"),
        "exp": _unary("exp_tile"),
        "rsqrt": _unary("rsqrt_tile"),
        "typecast": TileCall(floats=_CONVERSION, integers=_CONVERSION),
        "cbrt": _unary("cbrt_tile"),
        "square": TileCall(
            floats=(_step("square_tile"),),
            integers=(_step("mul_int_tile", 0, 0, 0, templates=_INT32),),
        ),
        "log": _unary("log_tile"),
        "log1p": _unary("log1p_tile"),
        "expm1": _unary("expm1_tile"),
        "sin": _unary("sin_tile"),
        "cos": _unary("cos_tile"),
        "tan": _unary("tan_tile"),
        "atan": _unary("atan_tile"),
        "tanh": _unary("tanh_tile"),
        "floor": _rounding("floor_tile"),
        "ceil": _rounding("ceil_tile"),
        "sign": TileCall(
            floats=(_step("sign_tile"),),
            integers=_SIGN_OF_INTEGERS,
            unsigned=(_step("nez_tile_int32"),),
        ),
        "isfinite": TileCall(floats=(_step("isfinite_tile"),), integers=_ONES, unsigned=_ONES),
        "logical_not": _unary("logical_not_tile", "logical_not_tile_int32"),
        "bitwise_not": TileCall(integers=(_step("bitwise_not_tile"),)),
        "erf": _exact("erf_tile"),
        "gelu": _exact("gelu_tile"),
        "silu": _unary("silu_tile"),
        "clamp": _unary("clamp_tile", "clamp_tile_int32", "min", "max"),
        "leaky_relu": _unary("leaky_relu_tile", "", "parameter"),
        "trunc": _rounding("trunc_tile"),
        "round": TileCall(floats=(_step("round_tile", scalars=(0,)),), integers=()),
        "exp2": _unary("exp2_tile"),
        "sinh": _unary("sinh_tile"),
        "cosh": _unary("cosh_tile"),
        "asin": _unary("asin_tile"),
        "acos": _unary("acos_tile"),
        "asinh": _unary("asinh_tile"),
        "acosh": _unary("acosh_tile"),
        "atanh": _unary("atanh_tile"),
        "erfc": _exact("erfc_tile"),
        "hardsigmoid": _unary("hardsigmoid_tile"),
        "add": _arithmetic("add"),
        "multiply": _arithmetic("mul"),
        "subtract": _arithmetic("sub"),
        "div": _binary("div_binary_tile", "div_int32_trunc_tile"),
        "maximum": _binary("binary_max_tile", "binary_max_int32_tile", keeps_truth=True),
        "minimum": _binary("binary_min_tile", "binary_min_int32_tile", keeps_truth=True),
        "remainder": _binary("fmod_binary_tile", "fmod_int32_tile"),
        "pow": _binary("power_binary_tile"),
        "atan2": _binary("atan2_binary_tile"),
        "ge": _binary("ge_binary_tile", "ge_int32_tile"),
        "eq": _binary("eq_binary_tile", "eq_int32_tile"),
        "ne": _binary("ne_binary_tile", "ne_int32_tile"),
        "gt": _binary("gt_binary_tile", "gt_int32_tile"),
        "lt": _binary("lt_binary_tile", "lt_int32_tile"),
        "le": _binary("le_binary_tile", "le_int32_tile"),
        "logical_and": _logical("mul_binary_tile", "bitwise_and_binary_tile"),
        "logical_or": _logical("binary_max_tile", "bitwise_or_binary_tile"),
        "logical_xor": _logical("ne_binary_tile", "bitwise_xor_binary_tile"),
        "bitwise_and": _bitwise("and"),
        "bitwise_or": _bitwise("or"),
        "bitwise_xor": _bitwise("xor"),
        "logical_left_shift": TileCall(integers=_LEFT, unsigned=_LEFT),
        "logical_right_shift": TileCall(integers=_RIGHT, unsigned=_RIGHT),
        "right_shift": TileCall(integers=_SHIFT_OF_SIGNS, unsigned=_RIGHT),
        "where": TileCall(
            floats=(_step("where_tile", 0, 1, 2, 0, templates=(("data_format", Format.OPERAND),)),),
            integers=(_step("where_tile", 0, 1, 2, 0, templates=_INT32),),
        ),
    }
)
"""Every elementwise operation that kernels compute, by its mnemonic."""


# --- Tile operations ------------------------------------------------------------------------------
# Operations on single tiles, as kernels of the direct-to-metal path compute them in DST.
#
# Every elementwise operation that is computed by calls on tiles is one, and so are functions that
# the calls have besides. Names are those of tt-mlir's dialect d2m.

_NAMES = {
    "reciprocal": "recip",
    "neg": "negative",
    "multiply": "mul",
    "subtract": "sub",
    "clamp": "clamp_scalar",
}
"""What operations are called on tiles, where it is not the mnemonic of the definition."""

_OF_CALLS = {
    "eqz": "1 where the element is 0, else 0.",
    "nez": "1 where the element is not 0, else 0.",
    "gtz": "1 where the element is above 0, else 0.",
    "gez": "1 where the element is not below 0, else 0.",
    "ltz": "1 where the element is below 0, else 0.",
    "lez": "1 where the element is not above 0, else 0.",
    "frac": "The fraction, with the sign of the number.",
    "selu": "scale * x, or scale * alpha * (exp(x) - 1) below 0.",
    "signbit": "1 for numbers with a sign, -0 included.",
    "softsign": "x / (1 + |x|).",
}
"""What single calls compute, but no operation on tensors that has a definition."""

_ON_FLOATS = ("frac", "selu", "signbit", "softsign")
"""Those of them without a call for integers."""

_PARAMETERS = {
    "selu": tuple(Parameter(name=name, kind=Kind.F32) for name in ("scale", "alpha")),
}


@dataclass(frozen=True, kw_only=True)
class TileOperation:
    """An elementwise operation on tiles."""

    mnemonic: str
    """With the `tile_` before the name."""
    summary: str
    operands: tuple[str, ...]
    call: TileCall
    definition: OpDefinition | None = None
    """The operation on tensors; None for what only a call computes."""
    parameters: tuple[Parameter, ...] = ()

    @property
    def in_place(self) -> bool:
        """True where the result takes the place of the operand in DST."""
        return len(self.operands) == 1


def _of_definitions() -> Iterator[TileOperation]:
    for definition in DEFINITIONS:
        call = TILE_CALLS[definition.mnemonic]
        if call.floats is None and call.integers is None:
            continue
        yield TileOperation(
            mnemonic=f"tile_{_NAMES.get(definition.mnemonic, definition.mnemonic)}",
            summary=definition.summary,
            operands=tuple(operand.name for operand in definition.operands),
            call=call,
            definition=definition,
            parameters=definition.ttir_signature,
        )


def _of_calls() -> Iterator[TileOperation]:
    for name, summary in _OF_CALLS.items():
        parameters = _PARAMETERS.get(name, ())
        yield TileOperation(
            mnemonic=f"tile_{name}",
            summary=summary,
            operands=("input",),
            call=_unary(
                f"{name}_tile",
                "" if name in _ON_FLOATS else f"{name}_tile_int32",
                *(each.name for each in parameters),
            ),
            parameters=parameters,
        )


_BITCAST = TileOperation(
    mnemonic="tile_bitcast",
    summary="The bits of each element as a number of the result's type; both types have 32 bits.",
    operands=("input",),
    call=TileCall(floats=(), integers=()),
)
"""What takes no call: a tile is packed from DST in another format than it was unpacked in."""

TILE_OPERATIONS: Mapping[str, TileOperation] = {
    each.mnemonic: each for each in (*_of_definitions(), *_of_calls(), _BITCAST)
}
"""Every operation on tiles by its mnemonic."""

TILE_OPERATION_OF: Mapping[str, TileOperation] = {
    each.definition.mnemonic: each
    for each in TILE_OPERATIONS.values()
    if each.definition is not None
}
"""The operation on tiles by the mnemonic of the operation on tensors."""
