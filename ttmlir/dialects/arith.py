"""xDSL's arith dialect, with the operations on tensors that it takes on scalars only.

The classes are subclasses of xDSL's, which other code goes on using; what differs is what their
text and their verifier take.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    BFloat16Type,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    Float64Type,
    Float80Type,
    Float128Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    ShapedType,
    TensorType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, result_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.assembly import AssemblyOp
from ttmlir.dialects.definition.ods import (
    AttrConstraint,
    Property,
    Signature,
    TypeConstraint,
    refuse,
    values,
)

if TYPE_CHECKING:
    from xdsl.pattern_rewriter import RewritePattern


# --- Arith in cpp ---------------------------------------------------------------------------------
# What operations of arith are in C++: operators, and which numbers they compute on.
#
# Both ways to C++ read it: kernels as trees, and the emitc dialect.

WRAPPING: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.SubiOp: "-",
    arith.MuliOp: "*",
    arith.DivUIOp: "/",
    arith.RemUIOp: "%",
    arith.AndIOp: "&",
    arith.OrIOp: "|",
    arith.XOrIOp: "^",
    arith.ShLIOp: "<<",
    arith.ShRUIOp: ">>",
}
"""Computed on unsigned numbers."""

PLAIN: dict[type[Operation], str] = {
    arith.DivSIOp: "/",
    arith.RemSIOp: "%",
    arith.ShRSIOp: ">>",
    arith.AddfOp: "+",
    arith.SubfOp: "-",
    arith.MulfOp: "*",
    arith.DivfOp: "/",
}
"""Computed on the numbers as they are."""

CASTS = (
    arith.ExtFOp,
    arith.ExtSIOp,
    arith.FPToSIOp,
    arith.IndexCastOp,
    arith.SIToFPOp,
    arith.TruncFOp,
    arith.TruncIOp,
)
EXTREMA: dict[type[Operation], tuple[str, bool]] = {
    arith.MaxSIOp: (">", False),
    arith.MinSIOp: ("<", False),
    arith.MaxUIOp: (">", True),
    arith.MinUIOp: ("<", True),
}
"""The comparison that chooses the first operand, and whether it is one of unsigned numbers."""

COMPARISONS = (
    *((operator, False) for operator in ("==", "!=", "<", "<=", ">", ">=")),
    *((operator, True) for operator in ("<", "<=", ">", ">=")),
)
"""Of `arith.cmpi` by predicate; and whether the comparison is one of unsigned numbers."""

ON_BOOLEANS = frozenset({"&", "|", "^"})
"""Operators that are fine between booleans, too."""


# --- Arith ----------------------------------------------------------------------------------------

_CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
_CMPF = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
_NO_FLAGS = arith.FastMathFlagsAttr("none")

_Kinds = tuple[type[Attribute], ...]
_FLOAT: _Kinds = (BFloat16Type, Float16Type, Float32Type, Float64Type, Float80Type, Float128Type)
_INTEGER: _Kinds = (IntegerType,)
_INTEGER_OR_INDEX: _Kinds = (IntegerType, IndexType)


def _element(type: Attribute) -> Attribute:
    """The type itself or that of its elements."""
    if isinstance(type, (TensorType, VectorType)):
        return cast("TensorType[Attribute]", type).element_type
    return type


def _with_element(type: Attribute, element: Attribute) -> Attribute:
    """A type of the same shape with other elements."""
    if isinstance(type, TensorType):
        tensor = cast("TensorType[Attribute]", type)
        return TensorType(element, tensor.get_shape(), tensor.encoding)
    if isinstance(type, VectorType):
        vector = cast("VectorType[Attribute]", type)
        return VectorType(element, vector.get_shape(), vector.scalable_dims)
    return element


def _is_shaped(op: Operation) -> bool:
    """True for numbers of many elements; a choice may be between those by one truth value."""
    return isinstance(op.operand_types[0], (TensorType, VectorType))


def _check_shapes(op: Operation) -> None:
    """Refuse operands and results of different shapes."""
    types = (*op.operand_types, *op.result_types)
    shapes = {type.get_shape() if isinstance(type, ShapedType) else None for type in types}
    if len(shapes) > 1:
        raise VerifyException("requires the same shape for all operands and results")


class _ScalarPatterns(HasCanonicalizationPatternsTrait):
    """The canonical forms of a class of xDSL, on scalars only: they make scalars of tensors."""

    UPSTREAM: ClassVar[type[Operation]]

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        """Patterns that decline tensors."""
        from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

        class OnScalars(RewritePattern):
            """A pattern that declines tensors."""

            def __init__(self, pattern: RewritePattern):
                self.pattern = pattern

            def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
                """Apply the pattern to a scalar."""
                if not _is_shaped(op):
                    self.pattern.match_and_rewrite(op, rewriter)

        (trait,) = cls.UPSTREAM.get_traits_of_type(HasCanonicalizationPatternsTrait)
        return tuple(OnScalars(pattern) for pattern in trait.get_canonicalization_patterns())


class _CmpiPatterns(_ScalarPatterns):
    UPSTREAM: ClassVar = arith.CmpiOp


class _SelectPatterns(_ScalarPatterns):
    UPSTREAM: ClassVar = arith.SelectOp


class _Comparison:
    """Comparison of numbers of any shape; the result has the operands' shape."""

    PREDICATES: ClassVar[tuple[str, ...]]

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        position = parser.pos
        keyword = parser.parse_identifier()
        if keyword not in cls.PREDICATES:
            parser.raise_error(f"expected one of {', '.join(cls.PREDICATES)}", position)
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        properties: dict[str, Attribute] = {
            "predicate": IntegerAttr(cls.PREDICATES.index(keyword), i64)
        }
        if cls.PREDICATES is _CMPF:
            flags = _NO_FLAGS
            if parser.parse_optional_keyword("fastmath"):
                flags = arith.FastMathFlagsAttr(arith.FastMathFlagsAttr.parse_parameter(parser))
            properties["fastmath"] = flags
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        create = cast("Any", cls).create
        return create(
            operands=parser.resolve_operands([lhs, rhs], [type, type], position),
            result_types=[_with_element(type, i1)],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        op = cast("arith.CmpiOp | arith.CmpfOp", self)
        printer.print_string(f" {self.PREDICATES[op.predicate.value.data]}, ")
        printer.print_list(op.operands, printer.print_operand)
        flags = op.properties.get("fastmath", _NO_FLAGS)
        if flags != _NO_FLAGS:
            printer.print_string(" fastmath")
            cast("arith.FastMathFlagsAttr", flags).print_parameter(printer)
        printer.print_op_attributes(op.attributes)
        printer.print_string(" : ")
        printer.print_attribute(op.operands[0].type)


def _check_comparison(op: Operation, kinds: _Kinds) -> None:
    _check_shapes(op)
    first, second = op.operand_types
    if first != second or not isinstance(_element(first), kinds):
        raise VerifyException("compares numbers of one type and kind")
    if _element(op.result_types[0]) != i1:
        raise VerifyException("gives truth values of type i1")


class CmpiOp(_Comparison, arith.CmpiOp):
    """Comparison of integers of any shape."""

    PREDICATES: ClassVar = _CMPI
    traits = traits_def(_CmpiPatterns(), Pure())

    def verify_(self) -> None:
        """Check types."""
        if _is_shaped(self):
            _check_comparison(self, _INTEGER_OR_INDEX)
        else:
            super().verify_()


class CmpfOp(_Comparison, arith.CmpfOp):
    """Comparison of floating point numbers of any shape."""

    PREDICATES: ClassVar = _CMPF

    def verify_(self) -> None:
        """Check types."""
        if _is_shaped(self):
            _check_comparison(self, _FLOAT)
        else:
            super().verify_()


class SelectOp(arith.SelectOp):
    """Choice by one truth value or, elementwise, by many."""

    traits = traits_def(_SelectPatterns(), Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        condition, type = i1, parser.parse_type()
        # The type of the condition is written where it is not i1.
        if parser.parse_optional_punctuation(",") is not None:
            condition, type = type, parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands(operands, [condition, type, type], position),
            result_types=[type],
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        if self.operands[0].type != i1:
            printer.print_attribute(self.operands[0].type)
            printer.print_string(", ")
        printer.print_attribute(self.results[0].type)

    def verify_(self) -> None:
        """Check types."""
        condition, first, second = self.operand_types
        if condition == i1 or not _is_shaped(self):
            super().verify_()
            return
        _check_shapes(self)
        if _element(condition) != i1 or not first == second == self.result_types[0]:
            raise VerifyException("chooses between values of one type by truth values")


class _Cast:
    """Conversion of numbers of any shape; the shape stays."""

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        source = parser.parse_type()
        parser.parse_keyword("to")
        create = cast("Any", cls).create
        return create(
            operands=parser.resolve_operands([operand], [source], position),
            result_types=[parser.parse_type()],
            attributes=attributes,
        )


def _cast_class(
    base: type[Operation], source: _Kinds, target: _Kinds, wider: bool | None
) -> type[Operation]:
    """A subclass of a conversion that takes tensors, too; `wider` compares the widths."""
    verify_scalar = cast("Any", base).verify_

    def verify_(self: Operation) -> None:
        if not _is_shaped(self):
            verify_scalar(self)
            return
        _check_shapes(self)
        types = _element(self.operand_types[0]), _element(self.result_types[0])
        if not (isinstance(types[0], source) and isinstance(types[1], target)):
            raise VerifyException("converts numbers of other types")
        widths = [
            cast("FixedBitwidthType", type).bitwidth if not isinstance(type, IndexType) else 64
            for type in types
        ]
        if wider is not None and (widths[1] <= widths[0] if wider else widths[1] >= widths[0]):
            side = "larger" if wider else "smaller"
            raise VerifyException(f"Destination bit-width must be {side} than the input bit-width")

    contents = {"verify_": verify_, "__doc__": base.__doc__, "__module__": __name__}
    return cast("type[Operation]", type(base.__name__, (_Cast, base), contents))


_CASTS: tuple[tuple[type[Operation], _Kinds, _Kinds, bool | None], ...] = (
    (arith.ExtFOp, _FLOAT, _FLOAT, True),
    (arith.ExtSIOp, _INTEGER, _INTEGER, True),
    (arith.ExtUIOp, _INTEGER, _INTEGER, True),
    (arith.FPToSIOp, _FLOAT, _INTEGER, None),
    (arith.FPToUIOp, _FLOAT, _INTEGER, None),
    (arith.SIToFPOp, _INTEGER, _FLOAT, None),
    (arith.UIToFPOp, _INTEGER, _FLOAT, None),
    (arith.TruncFOp, _FLOAT, _FLOAT, False),
    (arith.TruncIOp, _INTEGER, _INTEGER, False),
    (arith.IndexCastOp, _INTEGER_OR_INDEX, _INTEGER_OR_INDEX, None),
)

_FLOATS = TypeConstraint("floating-point-like", lambda type: isinstance(_element(type), _FLOAT))
_FLAGS = AttrConstraint(
    "fast math flags", lambda attr: isinstance(attr, arith.FastMathFlagsAttr), ods.always
)


class RemFOp(AssemblyOp):
    """The remainder of a division, with the sign of the dividend."""

    name = "arith.remf"
    SPELLED: ClassVar = ("fastmath",)
    SIGNATURE: ClassVar = Signature(
        values(lhs=_FLOATS, rhs=_FLOATS),
        values(result=_FLOATS),
        (Property("fastmath", _FLAGS, optional=True),),
    )
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the operation after its name."""
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        spelled: dict[str, Attribute] = {"fastmath": _NO_FLAGS}
        if parser.parse_optional_keyword("fastmath"):
            flags = arith.FastMathFlagsAttr.parse_parameter(parser)
            spelled["fastmath"] = arith.FastMathFlagsAttr(flags)
        properties, attributes = cls.parse_dict(parser, spelled)
        parser.parse_punctuation(":")
        position = parser.pos
        type = parser.parse_type()
        return cls.create(
            operands=parser.resolve_operands([lhs, rhs], [type, type], position),
            result_types=[type],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write the operation after its name."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_operand)
        flags = self.properties.get("fastmath", _NO_FLAGS)
        if flags != _NO_FLAGS:
            printer.print_string(" fastmath")
            cast("arith.FastMathFlagsAttr", flags).print_parameter(printer)
        self.print_dict(printer)
        printer.print_string(" : ")
        printer.print_attribute(self.results[0].type)

    def verify_op(self) -> None:
        """Compare the types."""
        if len({*self.operand_types, *self.result_types}) > 1:
            refuse("requires the same type for all operands and results")


@irdl_op_definition
class IndexCastUIOp(IRDLOperation):
    """Conversion between an index and an integer without sign."""

    name = "arith.index_castui"

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def verify_(self) -> None:
        """Check types."""
        _check_shapes(self)
        types = _element(self.operand_types[0]), _element(self.result_types[0])
        if sum(isinstance(type, IndexType) for type in types) != 1 or not all(
            isinstance(type, _INTEGER_OR_INDEX) for type in types
        ):
            raise VerifyException(
                f"operand type '{self.operand_types[0]}' and result type "
                f"'{self.result_types[0]}' are cast incompatible"
            )


UNSIGNED_CASTS = (arith.ExtUIOp, arith.UIToFPOp, IndexCastUIOp)

_OWN: Sequence[type[Operation]] = (
    CmpiOp,
    CmpfOp,
    IndexCastUIOp,
    SelectOp,
    RemFOp,
    *(_cast_class(*row) for row in _CASTS),
)
_NAMES = {op.name for op in _OWN}

ARITH = Dialect(
    "arith",
    [*_OWN, *(op for op in arith.Arith.operations if op.name not in _NAMES)],
    list(arith.Arith.attributes),
    [arith.ArithConstantMaterializationInterface()],
)
"""The dialect, for an xDSL context."""
