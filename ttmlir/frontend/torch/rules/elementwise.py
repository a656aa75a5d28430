"""ATen operations that compute each element from the elements at the same place."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import methodcaller

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from ttmlir.arrays.array import TRUTH, Array
from ttmlir.arrays.namespace import ARRAYS
from ttmlir.composites import bessel, special
from ttmlir.composites.arithmetic import (
    angle,
    floor_quotient,
    floor_remainder,
    is_on_wrong_side,
    power,
    tanh_gelu,
)
from ttmlir.composites.bits import SMALL_FLOATS as FORMATS
from ttmlir.composites.bits import round_to_small_float
from ttmlir.frontend.torch.call import TorchCall, TorchRule, cast_input, on_arrays
from ttmlir.frontend.torch.elements import SMALL_FLOATS, dtype_name, is_boolean, is_floating
from ttmlir.ir.builder import array_in, build_function
from ttmlir.optable import named_in, named_on_numbers, named_on_truth
from ttmlir.optable.op_definition import Family, OpDefinition
from ttmlir.optable.special import elu, hypot, log_one_plus_exp


def _unary(mnemonic: str) -> TorchRule:
    """An operation of ttir; operands of functions into the reals become real first."""
    return on_arrays(methodcaller("apply", mnemonic))


def _log(x: Array, base: float) -> Array:
    return x.log() * (1 / math.log(base))


def _sign(x: Array) -> Array:
    """The sign of numbers, that of NaN being 0."""
    return x.is_nan().where(0.0, x.sign()) if x.is_real else x.sign()


def _trunc(x: Array) -> Array:
    return x.trunc() if x.is_real else x


def _gelu(call: TorchCall) -> SSAValue:
    x = call.array()
    return (x.gelu() if call["approximate"] == "none" else tanh_gelu(x)).value


def _elu(call: TorchCall) -> SSAValue:
    factors = {name: float(call[name]) for name in ("alpha", "scale", "input_scale")}
    return elu(ARRAYS, call.array(), **factors).value


def _leaky_relu(call: TorchCall) -> SSAValue:
    return call.array().leaky_relu(parameter=float(call["negative_slope"])).value


# -- clamping ----------------------------------------------------------------------------------


def _clamp(call: TorchCall) -> SSAValue:
    return _limit(call, "min", "max")


def _hardtanh(call: TorchCall) -> SSAValue:
    return _limit(call, "min_val", "max_val")


def _limit(call: TorchCall, low: str, high: str) -> SSAValue:
    x = call.array("self")
    bounds = [call[name] if call.has(name) else None for name in (low, high)]
    if x.is_real and all(b is None or isinstance(b, (int, float)) for b in bounds):
        return x.limit(*bounds).value
    for name, mnemonic in ((low, "maximum"), (high, "minimum")):
        if call.has(name):
            x = x.apply(mnemonic, call.array(name))
    return x.value


# -- gradients of activations ------------------------------------------------------------------


def _shrink_backward(name: str) -> TorchRule:
    """The gradient of `hardshrink` and `softshrink`: 0 where the input became 0."""

    def rule(call: TorchCall) -> SSAValue:
        gradient, x = (call.array(each, cast=False) for each in (name, "self"))
        limit = float(call["lambd"])
        return ((x >= -limit) & (x <= limit)).where(0.0, gradient).value

    return rule


def _multiply_add(a: Array, b: Array, c: Array) -> Array:
    return a * b + c


def _silu_backward(gradient: Array, x: Array) -> Array:
    gate = x.sigmoid()
    rest = x * (1.0 - gate)
    return gradient * (gate * (rest + 1.0))


def _mish_backward(gradient: Array, x: Array) -> Array:
    """Of `x * tanh(softplus(x))`."""
    level = log_one_plus_exp(ARRAYS, x).tanh()
    rest = 1.0 - level * level
    return gradient * (level + x * (x.sigmoid() * rest))


# -- two operands ------------------------------------------------------------------------------


def _binary(mnemonic: str) -> TorchRule:
    """An operation of ttir on operands in the element type of the result."""

    def function(a: Array, b: Array) -> Array:
        return a.apply(mnemonic, b)

    return on_arrays(function, "self", "other")


def _sum(mnemonic: str) -> TorchRule:
    """A sum or difference whose second operand is multiplied by `alpha`."""

    def rule(call: TorchCall) -> SSAValue:
        a, b, alpha = call.array(), call.array("other"), call.argument("alpha")
        return a.apply(mnemonic, b if alpha == 1 else b * alpha).value

    return rule


def _div(call: TorchCall) -> SSAValue:
    mode = call.arguments.get("rounding_mode")
    a, b = call.array(), call.array("other")
    quotient = a / b
    if mode == "trunc":
        return _trunc(quotient).value
    if mode == "floor" and a.is_real:
        wide = a.cast("f32") if a.dtype in ("f16", "bf16") else a
        return floor_quotient(wide, b.cast(wide.dtype)).cast(a.dtype).value
    if mode == "floor":
        # Rounded toward zero is one too many where there is a remainder and the signs differ.
        return (quotient - is_on_wrong_side(a.remainder(b), b).cast(a.dtype)).value
    return quotient.value


def _skipping_nan(mnemonic: str) -> TorchRule:
    """The larger or smaller of two numbers; the other one where one is NaN."""

    def function(a: Array, b: Array) -> Array:
        found = a.apply(mnemonic, b)
        if not a.is_real:
            return found
        found = b.ne(b).where(a, found)
        return a.ne(a).where(b, found)

    return on_arrays(function, "self", "other")


def _pow(call: TorchCall) -> SSAValue:
    build, exponent = call.build, call["exponent"]
    if isinstance(exponent, (int, float)) and is_floating(call.element):
        return power(call.array(), exponent).value
    base = call.operand("self", call.element)
    return build.compute("pow", base, call.operand("exponent", call.element))


def _comparison(mnemonic: str) -> TorchRule:
    """A comparison in the element type that the operands promote to."""

    def rule(call: TorchCall) -> SSAValue:
        element = call.common_element("self", "other")
        a, b = (call.build.array(call.operand(name, element)) for name in ("self", "other"))
        return a.apply(mnemonic, b).value

    return rule


def _logical(mnemonic: str) -> TorchRule:
    """An operation on truth values, which every operand becomes first."""

    def rule(call: TorchCall) -> SSAValue:
        names = [name for name in ("self", "other") if name in call.arguments]
        truths = [call.build.cast(call.tensor(name), call.element) for name in names]
        return call.build.compute(mnemonic, *truths, element=call.element)

    return rule


def _bits(mnemonic: str, logic: str) -> TorchRule:
    """An operation on bits, which is one on truth values for booleans."""

    def rule(call: TorchCall) -> SSAValue:
        names = [name for name in ("self", "other") if name in call.arguments]
        operands = [call.operand(operand, call.element) for operand in names]
        return call.build.compute(logic if is_boolean(call.element) else mnemonic, *operands)

    return rule


def _round(call: TorchCall) -> SSAValue:
    """Rounding to even, to whole numbers or to decimals."""
    x = call.array()
    if not x.is_real:
        return x.value
    scale = 10.0 ** (call.arguments.get("decimals") or 0)
    return (x.round() if scale == 1 else (x * scale).round() / scale).value


def _is_nan(call: TorchCall) -> SSAValue:
    return call.array(cast=False).is_nan().value


def _is_infinite(call: TorchCall) -> SSAValue:
    x = call.array(cast=False)
    return (x.abs().eq(math.inf) if x.is_real else x.fill(False, dtype=TRUTH)).value


def _test(mnemonic: str) -> TorchRule:
    """A question about each number."""
    return lambda call: call.build.compute(mnemonic, call.tensor(), element=call.element)


def _where(call: TorchCall) -> SSAValue:
    branches = (call.operand(name, call.element) for name in ("self", "other"))
    return call.build.compute("where", call.tensor("condition"), *branches)


def _identity(call: TorchCall) -> SSAValue:
    return call.tensor()


def _copy_to(call: TorchCall, name: str = "self") -> SSAValue:
    return call.build.cast(round_to_dtype(call, call.tensor(name)), call.element)


def round_to_dtype(call: TorchCall, value: SSAValue) -> SSAValue:
    """Numbers rounded to the format of a result of 8 bits; others as they are."""
    form = SMALL_FLOATS.get(dtype_name(call.node.meta["val"].dtype))
    if form is None:
        return value
    x = array_in(call.build, call.build.cast(value, f32))
    return round_to_small_float(x, _FORMATS[form]).value


_E4M3 = FORMATS["f8E4M3FN"]
# What is too large for it is the largest number in torch, and NaN elsewhere.
_FORMATS = {**FORMATS, "f8E4M3FN": replace(_E4M3, beyond=_E4M3.largest)}


def _overwrite(call: TorchCall) -> SSAValue:
    return call.build.broadcast(cast_input(call, "src"), call.shape)


def _rule_of(definition: OpDefinition) -> TorchRule:
    """The rule of an operation that means what a row means."""
    if definition.mnemonic in _ON_TRUTH.values():
        return _logical(definition.mnemonic)
    if definition.family is Family.UNARY:
        return _test(definition.mnemonic) if definition.gives_truth else _unary(definition.mnemonic)
    return (
        _comparison(definition.mnemonic) if definition.gives_truth else _binary(definition.mnemonic)
    )


_NAMED = {
    name.removeprefix("aten."): definition
    for name, definition in named_in("aten").items()
    if definition.family.is_elementwise
}
_ON_TRUTH, _ON_NUMBERS = (
    {name.removeprefix("aten."): definition.mnemonic for name, definition in named("aten").items()}
    for named in (named_on_truth, named_on_numbers)
)


# -- special functions, which are computed in f32 or f64 ---------------------------------------


def _special(function: Callable[..., Array], *names: str) -> Callable[[TorchCall], SSAValue]:
    """The rule of a function of arguments that are tensors or numbers."""
    names = names or ("self",)

    def rule(call: TorchCall) -> SSAValue:
        operands = [call.operand(name, call.element) for name in names]
        return build_function(call.build, function, operands, call.element)

    return rule


def _polygamma(call: TorchCall) -> SSAValue:
    return _special(partial(special.polygamma, int(call["n"])))(call)


def _zeta(call: TorchCall) -> SSAValue:
    exponent = call["self"]
    if isinstance(exponent, (int, float)):
        return _special(partial(special.zeta, float(exponent)), "other")(call)
    return _special(special.zeta, "self", "other")(call)


def _polynomial(family: str) -> TorchRule:
    def rule(call: TorchCall) -> SSAValue:
        function = partial(special.evaluate_polynomial, family, int(call["n"]))
        return _special(function, "x")(call)

    return rule


RULES: dict[str, TorchRule] = {
    **{name: _rule_of(definition) for name, definition in _NAMED.items()},
    **{name: _bits(_NAMED[name].mnemonic, logic) for name, logic in _ON_TRUTH.items()},
    **{name: _skipping_nan(mnemonic) for name, mnemonic in _ON_NUMBERS.items()},
    "add": _sum("add"),
    "alias": _identity,
    "angle": on_arrays(angle),
    "clamp": _clamp,
    "clone": _identity,
    "contiguous": _identity,
    "copy": _overwrite,
    "detach": _identity,
    "div": _div,
    "elu": _elu,
    "gelu": _gelu,
    "hardshrink_backward": _shrink_backward("grad_out"),
    "hardtanh": _hardtanh,
    "hypot": on_arrays(partial(hypot, ARRAYS), "self", "other"),
    "isinf": _is_infinite,
    "isnan": _is_nan,
    "leaky_relu": _leaky_relu,
    "lift_fresh_copy": _identity,
    "log10": on_arrays(partial(_log, base=10)),
    "log2": on_arrays(partial(_log, base=2)),
    "mish_backward": on_arrays(_mish_backward, "grad_output", "self"),
    "pow": _pow,
    "resolve_conj": _identity,
    "resolve_neg": _identity,
    "remainder": on_arrays(floor_remainder, "self", "other"),
    "round": _round,
    "sign": on_arrays(_sign),
    "silu_backward": on_arrays(_silu_backward, "grad_output", "self"),
    "softshrink_backward": _shrink_backward("grad_output"),
    "sub": _sum("subtract"),
    "trunc": on_arrays(_trunc),
    "where.Scalar": _where,
    "where.ScalarOther": _where,
    "where.ScalarSelf": _where,
    "where.self": _where,
    "_neg_view": _unary("neg"),
    "_to_copy": _copy_to,
    # torch.compile turns a float that changes into a tensor, and this one into the others' type.
    "prims.convert_element_type.default": partial(_copy_to, name="a"),
    # Optimizers inside of torch.compile, whose rates are tensors.
    "prims.fma.default": on_arrays(_multiply_add, "a", "b", "c"),
    "digamma": _special(special.digamma),
    "i0": _special(bessel.i0),
    "polygamma": _polygamma,
    "igamma": _special(special.igamma, "self", "other"),
    "igammac": _special(special.igammac, "self", "other"),
    "special_airy_ai": _special(bessel.airy_ai, "x"),
    "special_bessel_j0": _special(bessel.j0),
    "special_bessel_j1": _special(bessel.j1),
    "special_bessel_y0": _special(bessel.y0),
    "special_bessel_y1": _special(bessel.y1),
    "special_erfcx": _special(special.erfcx),
    "special_i0e": _special(bessel.i0e),
    "special_i1": _special(bessel.i1),
    "special_i1e": _special(bessel.i1e),
    "special_modified_bessel_i0": _special(bessel.i0),
    "special_modified_bessel_i1": _special(bessel.i1),
    "special_modified_bessel_k0": _special(bessel.k0),
    "special_modified_bessel_k1": _special(bessel.k1),
    "special_ndtri": _special(special.ndtri),
    "special_scaled_modified_bessel_k0": _special(bessel.k0e, "x"),
    "special_scaled_modified_bessel_k1": _special(bessel.k1e, "x"),
    "special_spherical_bessel_j0": _special(bessel.spherical_j0, "x"),
    "special_zeta": _zeta,
    **{f"special_{family}.n_scalar": _polynomial(family) for family in special.POLYNOMIALS},
}
"""Rules by the name of the ATen operation, or of one of its overloads."""
