"""The elementwise operations of tosa, with MLIR 19's messages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntegerAttr, IntegerType, TensorType
from xdsl.ir import Attribute

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, TypeConstraint, ValueGroup, refuse
from ttmlir.dialects.definition.shape_checks import broadcast_pair
from ttmlir.dialects.tosa.forms import (
    BOOLEANS,
    I8,
    INT32,
    NAN_MODE,
    NUMBERS,
    QUANTIZATION,
    TosaOp,
    element_type_of,
    op_class,
    optional,
    signature,
    values,
)

Shape = tuple[int, ...]


def _fits(shape: Shape, result: Shape) -> bool:
    """True if the result's last extents are those of the shape, as far as they are known."""
    last = result[len(result) - len(shape) :]
    return len(shape) <= len(result) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(shape, last, strict=True)
    )


def _shape_text(shape: Shape) -> str:
    return "x".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in shape)


class ElementwiseOp(TosaOp):
    """Operands and result broadcast, and have one element type where `SAME_ELEMENTS` says so."""

    SAME_ELEMENTS: ClassVar[str] = "operands and results"
    """Whose element types agree: `operands`, `operands and results` or nothing."""
    COMPUTED: ClassVar[int | None] = None
    """Number of operands that take part, the first ones, where others describe the numbers."""

    def shaped_types(self) -> list[Attribute]:
        """Types of the operands that take part."""
        return list(self.operand_types)[: self.COMPUTED]

    def verify_op(self) -> None:
        """Check element types and shapes."""
        self._check_elements()
        shape: Shape | None = ()
        for type in self.shaped_types():
            if not isinstance(type, TensorType):
                return
            shape = broadcast_pair(shape, type.get_shape())
            if shape is None:
                refuse("operands don't have broadcast-compatible shapes")
        result = self.results[0].type
        if not isinstance(result, TensorType):
            return
        got = result.get_shape()
        if not _fits(shape, got):
            refuse(
                f"result type '{_shape_text(got)}' not broadcast compatible with broadcasted "
                f"operands's shapes '{_shape_text(shape)}'"
            )

    def _check_elements(self) -> None:
        types = self.shaped_types()
        if self.SAME_ELEMENTS.endswith("results"):
            types += [result.type for result in self.results]
        elements = [element_type_of(type) for type in types]
        if self.SAME_ELEMENTS and any(element != elements[0] for element in elements):
            refuse(f"requires the same element type for all {self.SAME_ELEMENTS}")


def _elementwise(
    operands: int,
    operand: TypeConstraint = NUMBERS,
    result: TypeConstraint | None = None,
    properties: tuple[Property, ...] = (),
) -> Signature:
    return Signature(
        operands=tuple(ValueGroup(f"input{i + 1}", operand) for i in range(operands)),
        results=(ValueGroup("output", result or operand),),
        properties=properties,
    )


_NAN_MODE = (Property("nan_mode", NAN_MODE, optional=True),)
_BOUND = ods.AttrConstraint(
    "number", lambda attr: isinstance(attr, (FloatAttr, IntegerAttr)), ods.always
)
_UNARY = _elementwise(1)
_BINARY = _elementwise(2)
_COMPARISON = _elementwise(2, NUMBERS, BOOLEANS)
_CLAMP = tuple(
    Property(f"{end}_{kind}", constraint)
    for end in ("min", "max")
    for kind, constraint in (("fp", ods.FLOAT), ("int", ods.I64))
)


class ClampOp(ElementwiseOp):
    """`min(max(input, min), max)`, the bounds being given for numbers of both kinds.

    C1: the bounds for floats have the input's element type, if that is a float.
    """

    name = "tosa.clamp"
    FORMS: ClassVar = (
        _elementwise(1, properties=_CLAMP),
        _elementwise(
            1,
            properties=(
                Property("min_val", _BOUND),
                Property("max_val", _BOUND),
                *_NAN_MODE,
            ),
        ),
    )

    def verify_op(self) -> None:
        """Check shapes and bounds (C1)."""
        super().verify_op()
        element = element_type_of(self.operands[0].type)
        names = ("min_val", "max_val") if "min_val" in self.properties else ("min_fp", "max_fp")
        bounds = [cast("FloatAttr", self.properties[name]).type for name in names]
        if not isinstance(element, IntegerType) and any(bound != element for bound in bounds):
            refuse("min/max attributes types are incompatible with input/output element types.")


class MulOp(ElementwiseOp):
    """The product; of integers, shifted to the right by `shift` bits with rounding.

    C1: the operands have one element type, floats that of the result.
    C2: integers of the result are not narrower.
    """

    name = "tosa.mul"
    COMPUTED: ClassVar = 2
    FORMS: ClassVar = (
        _elementwise(2, properties=(Property("shift", I8),)),
        Signature(
            operands=(
                ValueGroup("input1", NUMBERS),
                ValueGroup("input2", NUMBERS),
                ValueGroup("shift", NUMBERS),
            ),
            results=(ValueGroup("output", NUMBERS),),
        ),
    )

    def _check_elements(self) -> None:
        result = element_type_of(self.results[0].type)
        elements = [element_type_of(operand) for operand in self.shaped_types()]
        if isinstance(result, IntegerType) and all(
            isinstance(element, IntegerType) for element in elements
        ):
            widths = [cast("IntegerType", element).width.data for element in elements]
            if elements[0] != elements[1]:
                refuse("requires the same element type for all operands")
            if widths[0] > cast("IntegerType", result).width.data:
                refuse("invalid data type size for operands or result")
        elif any(element != result for element in elements):
            refuse("requires the same element type for all operands and results")


_SIGNATURES: dict[str, Signature] = {
    **dict.fromkeys(
        "abs bitwise_not ceil clz cos exp floor log reciprocal rsqrt sigmoid sin tanh".split(),
        _UNARY,
    ),
    "logical_not": _elementwise(1, BOOLEANS),
    **dict.fromkeys(
        (
            "add bitwise_and bitwise_or bitwise_xor logical_left_shift logical_right_shift pow sub"
        ).split(),
        _BINARY,
    ),
    **dict.fromkeys("maximum minimum".split(), _elementwise(2, properties=_NAN_MODE)),
    "arithmetic_right_shift": _elementwise(2, properties=(Property("round", ods.BOOL),)),
    **dict.fromkeys("int_div intdiv".split(), _elementwise(2, INT32)),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), _elementwise(2, BOOLEANS)),
    **dict.fromkeys("equal greater greater_equal".split(), _COMPARISON),
    "select": Signature(
        operands=(
            ValueGroup("pred", BOOLEANS),
            ValueGroup("on_true", NUMBERS),
            ValueGroup("on_false", NUMBERS),
        ),
        results=(ValueGroup("output", NUMBERS),),
    ),
}
_SAME_ELEMENTS = {
    "equal": "operands",
    "greater": "operands",
    "greater_equal": "operands",
    "select": "",
}


class NegateOp(ElementwiseOp):
    """The number below 0 as far as the input is above it; zero points as attribute or operands."""

    name = "tosa.negate"
    COMPUTED: ClassVar = 1
    FORMS: ClassVar = (
        _elementwise(1, properties=(Property("quantization_info", QUANTIZATION, optional=True),)),
        Signature(
            operands=(
                ValueGroup("input1", NUMBERS),
                ValueGroup("input1_zp", NUMBERS),
                ValueGroup("output_zp", NUMBERS),
            ),
            results=(ValueGroup("output", NUMBERS),),
        ),
    )


_RESCALED = (Property("scale32", ods.BOOL), Property("per_channel", ods.BOOL))
_UNSIGNED = (optional("input_unsigned", ods.BOOL), optional("output_unsigned", ods.BOOL))
_RESCALE = (
    signature(
        values(NUMBERS, "input"),
        Property("input_zp", ods.I32),
        Property("output_zp", ods.I32),
        Property("multiplier", ods.DENSE_I32),
        Property("shift", ods.dense_array_attr(8)),
        Property("double_round", ods.BOOL),
        *_RESCALED,
        *_UNSIGNED,
    ),
    signature(
        values(NUMBERS, "input", "multiplier", "shift", "input_zp", "output_zp"),
        Property("rounding_mode", NAN_MODE),
        *_RESCALED,
        *_UNSIGNED,
    ),
)

OPERATIONS: Sequence[type[TosaOp]] = (
    ClampOp,
    MulOp,
    NegateOp,
    *(
        op_class(
            ElementwiseOp,
            mnemonic,
            form,
            **({"SAME_ELEMENTS": _SAME_ELEMENTS[mnemonic]} if mnemonic in _SAME_ELEMENTS else {}),
        )
        for mnemonic, form in _SIGNATURES.items()
    ),
    *(op_class(TosaOp, mnemonic, _UNARY) for mnemonic in ("cast", "erf", "identity")),
    op_class(TosaOp, "rescale", *_RESCALE),
)
"""The operations of this module; MLIR does not compare the last ones' result with the operand."""
