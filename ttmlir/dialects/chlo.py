"""The chlo dialect: operations above StableHLO that JAX uses, and their broadcasting forms."""

from __future__ import annotations

from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Dialect, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import (
    Property,
    Signature,
    TypeConstraint,
    ValueGroup,
    properties,
    values,
)
from ttmlir.dialects.stablehlo import reduction as reduction_rules
from ttmlir.dialects.stablehlo.attrs import CHLO_ATTRS
from ttmlir.dialects.stablehlo.constraints import (
    ANY_ATTR,
    ANY_ELEMENTS,
    ANY_OR_PER_AXIS,
    ANYTHING,
    BOOL,
    COMPLEX,
    DIMENSION,
    DIMENSIONS,
    FLOAT,
    INTEGER,
    PREDICATE,
    check_compatible,
    check_shapes_agree,
    enum,
    enum_array,
    ranked,
    static,
    tensor,
)
from ttmlir.dialects.stablehlo.creation import ConstantOp as StableHLOConstantOp
from ttmlir.dialects.stablehlo.form import (
    ARROW,
    FUNCTIONAL,
    OPERANDS,
    Form,
    Integer,
    Setting,
    integer,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp


class ElementwiseOp(FormOp):
    """A function of each element; operands and result have one shape."""

    FORM: ClassVar = Form((OPERANDS,), ARROW)
    traits = PURE

    def check(self) -> None:
        """Check that shapes and, but for truth values, types agree."""
        types = [*self.operand_types, self.results[0].type]
        if not all(isinstance(type, TensorType) for type in types):
            return
        if self.name.startswith("chlo.is_"):
            check_shapes_agree(types)
        else:
            check_compatible(types)


class BroadcastingOp(FormOp):
    """A function of pairs of elements whose operands are broadcast against each other."""

    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


_FLOATS = tensor(FLOAT)
_ANALYTIC = tensor(FLOAT, COMPLEX)
_ANY = tensor(*ANY_OR_PER_AXIS)
_BITS = tensor(BOOL, INTEGER)
_TRUTH = tensor(BOOL)

_UNARY: dict[str, tuple[TypeConstraint, TypeConstraint]] = {
    **dict.fromkeys(
        ("acos acosh asin asinh atan atanh bessel_i1e conj cosh sinh square tan").split(),
        (_ANALYTIC, _ANALYTIC),
    ),
    "_asin_acos_kernel": (tensor(COMPLEX), tensor(COMPLEX)),
    **dict.fromkeys("digamma erf erf_inv erfc lgamma".split(), (_FLOATS, _FLOATS)),
    **dict.fromkeys("is_inf is_neg_inf is_pos_inf".split(), (_FLOATS, _TRUTH)),
}
_BINARY: dict[str, TypeConstraint] = {
    **dict.fromkeys("next_after polygamma zeta".split(), _FLOATS),
    "mulhi": ranked(INTEGER),
}
_BROADCASTING: dict[str, tuple[TypeConstraint, TypeConstraint]] = {
    **dict.fromkeys(
        (
            "add atan2 divide maximum minimum multiply next_after polygamma power remainder "
            "shift_left shift_right_arithmetic shift_right_logical subtract"
        ).split(),
        (_ANY, _ANY),
    ),
    **dict.fromkeys("and or xor".split(), (_BITS, _BITS)),
    "complex": (_FLOATS, tensor(COMPLEX)),
    "zeta": (_FLOATS, _FLOATS),
}
_DIMENSIONS = Property("broadcast_dimensions", DIMENSIONS, optional=True)


def _op_class(
    mnemonic: str,
    base: type[FormOp],
    operands: tuple[TypeConstraint, ...],
    result: TypeConstraint,
    properties: tuple[Property, ...] = (),
) -> type[FormOp]:
    names = ("operand",) if len(operands) == 1 else ("lhs", "rhs")
    contents: dict[str, object] = {
        "name": f"chlo.{mnemonic}",
        "SIGNATURE": Signature(
            tuple(map(ValueGroup, names, operands)), values(result=result), properties
        ),
        "__doc__": f"`{mnemonic.removeprefix('broadcast_')}` of each element.",
        "__module__": __name__,
    }
    name = "".join(part.capitalize() for part in mnemonic.split("_")) + "Op"
    return cast("type[FormOp]", type(name, (base,), contents))


class BroadcastCompareOp(BroadcastingOp):
    """Truth of a comparison for each pair of elements."""

    name = "chlo.broadcast_compare"
    SIGNATURE: ClassVar = Signature(
        values(lhs=_ANY, rhs=_ANY),
        values(result=_TRUTH),
        (
            _DIMENSIONS,
            Property("comparison_direction", enum("chlo.comparison_direction")),
            Property("compare_type", enum("chlo.comparison_type"), optional=True),
        ),
    )


class BroadcastSelectOp(BroadcastingOp):
    """`pred ? on_true : on_false` of each element."""

    name = "chlo.broadcast_select"
    SIGNATURE: ClassVar = Signature(
        values(pred=PREDICATE, on_true=_ANY, on_false=_ANY), values(result=_ANY)
    )


class ConstantOp(StableHLOConstantOp):
    """A constant."""

    name = "chlo.constant"
    SIGNATURE: ClassVar = Signature(
        results=values(output=static(*ANY_ELEMENTS)), properties=properties(value=ods.ELEMENTS)
    )


class ConstantLikeOp(StableHLOOp):
    """One number in the shape of the operand."""

    name = "chlo.constant_like"
    SIGNATURE: ClassVar = Signature(
        values(operand=_ANY), values(result=_ANY), properties(value=ANY_ATTR)
    )
    traits = PURE


_TOP_K = Form((OPERANDS, Setting("k", Integer("k"))), ARROW)


class TopKOp(StableHLOOp):
    """The k largest elements along the last dimension, and their places."""

    name = "chlo.top_k"
    RULE: ClassVar = staticmethod(reduction_rules.top_k)
    SIGNATURE: ClassVar = Signature(
        values(operand=_ANY), values(values=_ANY, indices=_ANY), properties(k=DIMENSION)
    )
    SPELLED: ClassVar[tuple[str, ...]] = ("k",)
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `(%operand, k = 2) {...} : types`."""
        parser.parse_punctuation("(")
        reading = _TOP_K.read(parser)
        parser.parse_punctuation(")")
        properties, attributes = cls.parse_dict(parser, reading.properties)
        parser.parse_punctuation(":")
        position = parser.pos
        inputs, results = ARROW.read(parser, 1)
        return cls.create(
            operands=parser.resolve_operands(reading.operands, inputs, position),
            result_types=results,
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        """Write `(%operand, k = 2) {...} : types`."""
        printer.print_string("(")
        printer.print_operand(self.operands[0])
        printer.print_string(f", k = {integer(self, 'k')})")
        self.print_dict(printer)
        printer.print_string(" : ")
        ARROW.write(printer, self)


class RaggedDotOp(StableHLOOp):
    """Sums of products whose rows stand in groups."""

    name = "chlo.ragged_dot"
    SIGNATURE: ClassVar = Signature(
        values(lhs=_ANY, rhs=_ANY, group_sizes=ranked(INTEGER)),
        values(result=_ANY),
        (
            Property("ragged_dot_dimension_numbers", enum("chlo.ragged_dot")),
            Property("precision_config", enum_array("chlo.precision"), optional=True),
        ),
    )
    traits = PURE


class ScanOp(StableHLOOp):
    """Folds along a dimension and keeps what comes between."""

    name = "chlo.scan"
    SIGNATURE: ClassVar = Signature(
        (ValueGroup("inputs", ANYTHING, variadic=True),),
        (ValueGroup("outputs", ANYTHING, variadic=True),),
        (
            Property("operandSegmentSizes", ods.DENSE_I32),
            Property("resultSegmentSizes", ods.DENSE_I32),
            Property("dimension", DIMENSION),
            Property("scan_dim_size", ods.I64, optional=True),
            Property("is_reverse", ods.BOOL, optional=True),
            Property("is_associative", ods.BOOL, optional=True),
        ),
        regions=1,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("body",)


OPERATIONS = cast(
    "list[type[Operation]]",
    [
        *(_op_class(name, ElementwiseOp, (types[0],), types[1]) for name, types in _UNARY.items()),
        *(_op_class(name, ElementwiseOp, (type, type), type) for name, type in _BINARY.items()),
        *(
            _op_class(
                f"broadcast_{name}", BroadcastingOp, (types[0],) * 2, types[1], (_DIMENSIONS,)
            )
            for name, types in _BROADCASTING.items()
        ),
        BroadcastCompareOp,
        BroadcastSelectOp,
        ConstantLikeOp,
        ConstantOp,
        RaggedDotOp,
        ScanOp,
        TopKOp,
    ],
)
"""All operations."""

CHLO = Dialect("chlo", OPERATIONS, CHLO_ATTRS)
"""The dialect, for an xDSL context."""
