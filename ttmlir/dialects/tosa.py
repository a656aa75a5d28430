"""The tosa dialect of MLIR 19.

xDSL's dialect follows a later MLIR and lacks most operations. Here are the elementwise operations
and the constant, with MLIR 19's text and messages; the others are xDSL's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerType,
    Signedness,
    TensorType,
    UnrankedTensorType,
    i1,
)
from xdsl.dialects.tosa import TOSA as UPSTREAM
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from ttmlir.dialects import ods
from ttmlir.dialects.assembly import FunctionalOp
from ttmlir.dialects.ods import ODSOperation, Property, Signature, TypeConstraint, Value, refuse
from ttmlir.dialects.shape_checks import broadcast_pair

Shape = tuple[int, ...]


def _element_type(type: Attribute) -> Attribute | None:
    """The element type of a tensor, None for other types."""
    if isinstance(type, (TensorType, UnrankedTensorType)):
        return cast("TensorType[Attribute]", type).element_type
    return None


def _is_number(type: Attribute) -> bool:
    element = _element_type(type)
    return element is not None and (
        isinstance(element, IntegerType) or element.name.startswith(("f", "bf", "tf"))
    )


def _is_of(element: Attribute, type: Attribute) -> bool:
    return _element_type(type) == element


NUMBERS = TypeConstraint("tensor of number values", _is_number)
BOOLEANS = TypeConstraint("tensor of 1-bit signless integer values", lambda type: _is_of(i1, type))
INT32 = TypeConstraint(
    "tensor of 32-bit signless integer values", lambda type: _is_of(IntegerType(32), type)
)
I8 = ods.integer_attr(8, Signedness.SIGNLESS)
QUANTIZATION = ods.named_attr("tosa.unary_quant")


def _fits(shape: Shape, result: Shape) -> bool:
    """True if the result's last extents are those of the shape, as far as they are known."""
    last = result[len(result) - len(shape) :]
    return len(shape) <= len(result) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(shape, last, strict=True)
    )


def _shape_text(shape: Shape) -> str:
    return "x".join("?" if extent == DYNAMIC_INDEX else str(extent) for extent in shape)


class ElementwiseOp(FunctionalOp):
    """Operands and result broadcast, and have one element type where `SAME_ELEMENTS` says so."""

    SAME_ELEMENTS: ClassVar[str] = "operands and results"
    """Whose element types agree: `operands`, `operands and results` or nothing."""
    traits = traits_def(Pure())

    def verify_op(self) -> None:
        """Check element types and shapes."""
        self._check_elements()
        shape: Shape | None = ()
        for type in self.operand_types:
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
        types: list[Attribute] = list(self.operand_types)
        if self.SAME_ELEMENTS.endswith("results"):
            types += [result.type for result in self.results]
        elements = [_element_type(type) for type in types]
        if self.SAME_ELEMENTS and any(element != elements[0] for element in elements):
            refuse(f"requires the same element type for all {self.SAME_ELEMENTS}")


def _elementwise(
    operands: int,
    operand: TypeConstraint = NUMBERS,
    result: TypeConstraint | None = None,
    properties: tuple[Property, ...] = (),
) -> Signature:
    return Signature(
        operands=tuple(Value(f"input{i + 1}", operand) for i in range(operands)),
        results=(Value("output", result or operand),),
        properties=properties,
    )


_UNARY = _elementwise(1)
_BINARY = _elementwise(2)
_COMPARISON = _elementwise(2, NUMBERS, BOOLEANS)
_QUANTIZED = (Property("quantization_info", QUANTIZATION, optional=True),)
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
    SIGNATURE: ClassVar = _elementwise(1, properties=_CLAMP)

    def verify_op(self) -> None:
        """Check shapes and bounds (C1)."""
        super().verify_op()
        element = _element_type(self.operands[0].type)
        bounds = [cast("FloatAttr", self.properties[f"{end}_fp"]).type for end in ("min", "max")]
        if not isinstance(element, IntegerType) and any(bound != element for bound in bounds):
            refuse("min/max attributes types are incompatible with input/output element types.")


class MulOp(ElementwiseOp):
    """The product; of integers, shifted to the right by `shift` bits with rounding.

    C1: the operands have one element type, floats that of the result.
    C2: integers of the result are not narrower.
    """

    name = "tosa.mul"
    SIGNATURE: ClassVar = _elementwise(2, properties=(Property("shift", I8),))

    def _check_elements(self) -> None:
        result = _element_type(self.results[0].type)
        elements = [_element_type(operand) for operand in self.operand_types]
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
        "abs bitwise_not ceil clz cos erf exp floor log reciprocal rsqrt sigmoid sin tanh".split(),
        _UNARY,
    ),
    "negate": _elementwise(1, properties=_QUANTIZED),
    "logical_not": _elementwise(1, BOOLEANS),
    **dict.fromkeys(
        (
            "add bitwise_and bitwise_or bitwise_xor logical_left_shift logical_right_shift "
            "maximum minimum pow sub"
        ).split(),
        _BINARY,
    ),
    "arithmetic_right_shift": _elementwise(2, properties=(Property("round", ods.BOOL),)),
    "int_div": _elementwise(2, INT32),
    **dict.fromkeys("logical_and logical_or logical_xor".split(), _elementwise(2, BOOLEANS)),
    **dict.fromkeys("equal greater greater_equal".split(), _COMPARISON),
    "select": Signature(
        operands=(Value("pred", BOOLEANS), Value("on_true", NUMBERS), Value("on_false", NUMBERS)),
        results=(Value("output", NUMBERS),),
    ),
    "cast": _UNARY,
    "identity": _UNARY,
}
_SAME_ELEMENTS = {
    "equal": "operands",
    "greater": "operands",
    "greater_equal": "operands",
    "select": "",
}
_FREE = ("cast", "erf", "identity")
"""Operations whose result MLIR does not compare with the operand."""


class ConstOp(ODSOperation):
    """A constant tensor.

    C1: value and result have the same shape.
    """

    name = "tosa.const"
    SIGNATURE: ClassVar = Signature(
        results=(Value("output", NUMBERS),), properties=(Property("value", ods.ELEMENTS),)
    )
    traits = traits_def(Pure())

    def verify_op(self) -> None:
        """Compare the shapes (C1)."""
        value = cast("DenseIntOrFPElementsAttr", self.properties["value"])
        result = cast("TensorType[Attribute]", self.results[0].type)
        if value.type.get_shape() != result.get_shape():
            refuse("failed to verify that all of {value, output} have same shape")


class _FreeOp(FunctionalOp):
    """An operation on one tensor whose result MLIR does not compare with the operand."""

    traits = traits_def(Pure())


def _op_class(mnemonic: str, signature: Signature) -> type[ODSOperation]:
    base = _FreeOp if mnemonic in _FREE else ElementwiseOp
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    contents: dict[str, object] = {"name": f"tosa.{mnemonic}", "SIGNATURE": signature}
    contents["__doc__"] = f"`tosa.{mnemonic}` of MLIR 19."
    contents["__module__"] = __name__
    if mnemonic in _SAME_ELEMENTS:
        contents["SAME_ELEMENTS"] = _SAME_ELEMENTS[mnemonic]
    return cast("type[ODSOperation]", type(name, (base,), contents))


OPERATIONS: Sequence[type[Operation]] = (
    ConstOp,
    ClampOp,
    MulOp,
    *(_op_class(mnemonic, signature) for mnemonic, signature in _SIGNATURES.items()),
)
"""The operations that are defined here."""

_OWN = {op.name for op in OPERATIONS}
TOSA = Dialect(
    "tosa",
    [*OPERATIONS, *(op for op in UPSTREAM.operations if op.name not in _OWN)],
    list(UPSTREAM.attributes),
)
"""The dialect, for an xDSL context."""
