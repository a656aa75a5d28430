"""Operations of StableHLO that work on each element by itself.

Most have only their element types as a fact of their own: they are lines of a table. What they
compute is said by the definitions that have their names as aliases.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from xdsl.dialects.builtin import ComplexType, Float32Type, TensorType
from xdsl.ir import Attribute

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    values,
)
from ttmlir.dialects.stablehlo import movement as movement_rules
from ttmlir.dialects.stablehlo.attrs import (
    ComparisonDirectionAttr,
    ComparisonTypeAttr,
    ResultAccuracyAttr,
    ResultAccuracyModeAttr,
)
from ttmlir.dialects.stablehlo.constraints import (
    ANY,
    ANY_AXIS,
    BOOL,
    COMPLEX,
    FLOAT,
    INTEGER,
    NON_NEGATIVE_I32,
    POSITIVE_I32,
    PREDICATE,
    QUANTIZED,
    SAME_SHAPE,
    SIGNLESS,
    WIDE_FLOAT,
    check_compatible,
    check_inferred,
    check_shapes_agree,
    element_of,
    elements_agree,
    enum,
    ranked,
    shape_of,
    shaped,
)
from ttmlir.dialects.stablehlo.form import (
    COMPLEX_RESULT,
    FUNCTIONAL,
    OPERANDS,
    PREDICATE_AND_SAME,
    SAME,
    FloatFormat,
    Form,
    Member,
    Setting,
    Word,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp

DEFAULT_ACCURACY = ResultAccuracyAttr((0.0, 0.0, 0, ResultAccuracyModeAttr("DEFAULT")))
_ACCURACY = Property("result_accuracy", enum("stablehlo.result_accuracy"), optional=True)


_SAME_BASE = "all non-scalar operands/results must have the same shape and base type"


class ElementwiseOp(FormOp):
    """Operands and result have one shape; one type unless `SAME_ELEMENTS` is false."""

    FORM: ClassVar = Form((OPERANDS,), SAME)
    SAME_ELEMENTS: ClassVar[bool] = True
    SHAPE_WORDS: ClassVar[str] = SAME_SHAPE
    """The message about different shapes, where types may differ."""
    DEFAULTS: ClassVar[Mapping[str, Attribute]] = {"result_accuracy": DEFAULT_ACCURACY}
    traits = PURE

    def check(self) -> None:
        """Check that shapes, and types where they have to be equal, agree."""
        types = [*self.operand_types, *(result.type for result in self.results)]
        if self.SAME_ELEMENTS:
            check_compatible(types)
        else:
            check_shapes_agree(types, self.SHAPE_WORDS)


_NUMBERS = ranked(FLOAT, BOOL, INTEGER, COMPLEX)
_FLOATS = ranked(FLOAT, QUANTIZED)
_ANALYTIC = ranked(FLOAT, COMPLEX, QUANTIZED)
_ARITHMETIC = ranked(INTEGER, FLOAT, COMPLEX, QUANTIZED)
_SIGNED = ranked(SIGNLESS, FLOAT, COMPLEX, QUANTIZED)
_BITS = ranked(BOOL, INTEGER)
_INTEGERS = ranked(INTEGER)
_REAL_OR_COMPLEX = ranked(FLOAT, COMPLEX)

_UNARY: dict[str, TypeConstraint] = {
    **dict.fromkeys("ceil floor round_nearest_afz round_nearest_even".split(), _FLOATS),
    **dict.fromkeys("count_leading_zeros popcnt".split(), _INTEGERS),
    "negate": _ARITHMETIC,
    "not": _BITS,
    "sign": _SIGNED,
}
_ACCURATE = (
    "cbrt cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan "
    "tanh"
).split()
_BINARY: dict[str, TypeConstraint] = {
    "add": ANY_AXIS,
    **dict.fromkeys("and or xor".split(), _BITS),
    "atan2": _ANALYTIC,
    **dict.fromkeys("divide power remainder subtract".split(), _ARITHMETIC),
    **dict.fromkeys("maximum minimum multiply".split(), ANY),
    **dict.fromkeys("shift_left shift_right_arithmetic shift_right_logical".split(), _INTEGERS),
}


def _op_class(mnemonic: str, constraint: TypeConstraint, *names: str) -> type[ElementwiseOp]:
    contents: dict[str, object] = {
        "name": f"stablehlo.{mnemonic}",
        "SIGNATURE": Signature(
            tuple(ValueGroup(name, constraint) for name in names),
            values(result=constraint),
            (_ACCURACY,) if mnemonic in _ACCURATE else (),
        ),
        "__doc__": f"`{mnemonic}` of each element.",
        "__module__": __name__,
    }
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    return cast("type[ElementwiseOp]", type(name, (ElementwiseOp,), contents))


class ConvertOp(ElementwiseOp):
    """Numbers of one element type as numbers of another."""

    name = "stablehlo.convert"
    SIGNATURE: ClassVar = Signature(values(operand=_NUMBERS), values(result=_NUMBERS))
    SAME_ELEMENTS: ClassVar[bool] = False


class IsFiniteOp(ElementwiseOp):
    """True for numbers that are neither infinite nor NaN."""

    name = "stablehlo.is_finite"
    SIGNATURE: ClassVar = Signature(values(x=_FLOATS), values(y=PREDICATE))
    SAME_ELEMENTS: ClassVar[bool] = False
    SHAPE_WORDS: ClassVar[str] = _SAME_BASE


class _PartOp(ElementwiseOp):
    """A real number for each element, which may be complex."""

    def check(self) -> None:
        """Check that the result has the type of the real part."""
        check_shapes_agree([*self.operand_types, self.results[0].type], _SAME_BASE)
        operand = shaped(self.operand_types[0])
        element = operand.element_type
        part: Attribute = element
        if isinstance(element, ComplexType):
            part = cast("ComplexType", element).element_type
        check_inferred(self, TensorType(part, operand.shape, operand.encoding))


class AbsOp(_PartOp):
    """Absolute value."""

    name = "stablehlo.abs"
    SIGNATURE: ClassVar = Signature(
        values(operand=_SIGNED), values(result=ranked(SIGNLESS, FLOAT, QUANTIZED))
    )


class RealOp(_PartOp):
    """Real part."""

    name = "stablehlo.real"
    SIGNATURE: ClassVar = Signature(values(operand=_REAL_OR_COMPLEX), values(result=ranked(FLOAT)))


class ImagOp(_PartOp):
    """Imaginary part."""

    name = "stablehlo.imag"
    SIGNATURE: ClassVar = RealOp.SIGNATURE


class ComplexOp(ElementwiseOp):
    """Complex numbers from real and imaginary parts."""

    name = "stablehlo.complex"
    SIGNATURE: ClassVar = Signature(
        values(lhs=ranked(WIDE_FLOAT), rhs=ranked(WIDE_FLOAT)), values(result=ranked(COMPLEX))
    )
    FORM: ClassVar = Form((OPERANDS,), COMPLEX_RESULT)
    SAME_ELEMENTS: ClassVar[bool] = False

    def check(self) -> None:
        """Compare the element types of the parts, then the result."""
        check_shapes_agree([*self.operand_types, self.results[0].type])
        lhs, rhs = map(shaped, self.operand_types)
        if lhs.element_type != rhs.element_type:
            ods.refuse("requires the same element type for all operands")
        element = ComplexType(cast("Float32Type", lhs.element_type))
        check_inferred(self, TensorType(element, lhs.shape, lhs.encoding))


class CompareOp(ElementwiseOp):
    """Truth of a comparison for each pair of elements: `compare LT, %lhs, %rhs, FLOAT`."""

    name = "stablehlo.compare"
    SIGNATURE: ClassVar = Signature(
        values(lhs=ANY, rhs=ANY),
        values(result=PREDICATE),
        (
            Property("comparison_direction", enum("stablehlo.comparison_direction")),
            Property("compare_type", enum("stablehlo.comparison_type"), optional=True),
        ),
    )
    FORM: ClassVar = Form(
        (
            Word(Member("comparison_direction", ComparisonDirectionAttr)),
            OPERANDS,
            Word(Member("compare_type", ComparisonTypeAttr), is_optional=True),
        ),
        FUNCTIONAL,
    )
    SHAPE_WORDS: ClassVar[str] = _SAME_BASE
    SAME_ELEMENTS: ClassVar[bool] = False

    def check(self) -> None:
        """Compare the element types of the operands, and all shapes."""
        lhs, rhs = self.operand_types
        if not elements_agree(element_of(lhs), element_of(rhs)):
            ods.refuse("requires compatible element types for all operands")
        super().check()


class SelectOp(FormOp):
    """`pred ? on_true : on_false`; one truth value may stand for all elements."""

    name = "stablehlo.select"
    SIGNATURE: ClassVar = Signature(
        values(pred=PREDICATE, on_true=ANY, on_false=ANY), values(result=ANY)
    )
    FORM: ClassVar = Form((OPERANDS,), PREDICATE_AND_SAME)
    traits = PURE

    def check(self) -> None:
        """Compare the choices, and the predicate's shape with theirs."""
        pred, on_true, on_false = self.operand_types
        check_compatible(
            [on_true, on_false], "requires compatible types for non-predicate operands"
        )
        check_inferred(self, on_true)
        if shape_of(pred) and shape_of(pred) != shape_of(on_true):
            ods.refuse("requires the same shape for all operands")


class ClampOp(FormOp):
    """`min(max(operand, min), max)`; the bounds may be scalars."""

    name = "stablehlo.clamp"
    RULE: ClassVar = staticmethod(movement_rules.clamp)
    SIGNATURE: ClassVar = Signature(values(min=ANY, operand=ANY, max=ANY), values(result=ANY))
    FORM: ClassVar = Form((OPERANDS,), SAME)
    traits = PURE


class BitcastConvertOp(FormOp):
    """The bits of the elements as those of another type."""

    name = "stablehlo.bitcast_convert"
    RULE: ClassVar = staticmethod(movement_rules.bitcast_convert)
    SIGNATURE: ClassVar = Signature(values(operand=ANY_AXIS), values(result=ANY_AXIS))
    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


class ReducePrecisionOp(FormOp):
    """The elements rounded to fewer bits: `reduce_precision %0, format = e5m10`."""

    name = "stablehlo.reduce_precision"
    SIGNATURE: ClassVar = Signature(
        values(operand=ranked(FLOAT, QUANTIZED)),
        values(output=ranked(FLOAT, QUANTIZED)),
        properties(exponent_bits=POSITIVE_I32, mantissa_bits=NON_NEGATIVE_I32),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("format", FloatFormat("exponent_bits"))), SAME)
    traits = PURE


ELEMENTWISE = (
    *(_op_class(mnemonic, constraint, "operand") for mnemonic, constraint in _UNARY.items()),
    *(_op_class(mnemonic, _ANALYTIC, "operand") for mnemonic in _ACCURATE),
    *(_op_class(mnemonic, constraint, "lhs", "rhs") for mnemonic, constraint in _BINARY.items()),
    AbsOp,
    BitcastConvertOp,
    ClampOp,
    CompareOp,
    ComplexOp,
    ConvertOp,
    ImagOp,
    IsFiniteOp,
    RealOp,
    ReducePrecisionOp,
    SelectOp,
)
"""The operations of this module."""
