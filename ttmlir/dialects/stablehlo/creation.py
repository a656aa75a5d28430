"""Operations of StableHLO that make tensors: constants, counting and random numbers."""

from __future__ import annotations

from typing import ClassVar, Self, cast

from xdsl.ir import TypedAttribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition.ods import Signature, properties, values
from ttmlir.dialects.stablehlo import movement as movement_rules
from ttmlir.dialects.stablehlo.attrs import RngAlgorithmAttr, RngDistributionAttr
from ttmlir.dialects.stablehlo.constraints import (
    ANY_OR_PER_AXIS,
    BOOL,
    COMPLEX,
    CONSTANT,
    DIMENSION,
    FLOAT,
    INDEX,
    INTEGER,
    QUANTIZED,
    enum,
    of_rank,
    ranked,
    static,
)
from ttmlir.dialects.stablehlo.form import (
    FUNCTIONAL,
    OPERANDS,
    RESULT,
    Form,
    Integer,
    Member,
    Setting,
)
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp


class ConstantOp(StableHLOOp):
    """A constant: `constant dense<1.0> : tensor<2xf32>`."""

    name = "stablehlo.constant"
    RULE: ClassVar = staticmethod(movement_rules.constant)
    SIGNATURE: ClassVar = Signature(
        results=values(output=static(*ANY_OR_PER_AXIS)), properties=properties(value=CONSTANT)
    )
    SPELLED: ClassVar[tuple[str, ...]] = ("value",)
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read `{attributes} value`; jaxlib also reads `() <{value = ...}> : () -> type`."""
        if parser.parse_optional_punctuation("(") is not None:
            parser.parse_punctuation(")")
            properties = parser.parse_optional_properties_dict()
            return cls.parse_rest(parser, properties, [])
        properties, attributes = cls.parse_dict(parser, {})
        position = parser.pos
        value = parser.parse_attribute()
        if not CONSTANT.storage(value):
            parser.raise_error("expected a dense constant", position)
        type = cast("TypedAttribute", value).get_type()
        return cls.create(
            result_types=[type], properties={**properties, "value": value}, attributes=attributes
        )

    def print(self, printer: Printer) -> None:
        """Write `{attributes} value`."""
        value = self.properties["value"]
        if cast("TypedAttribute", value).get_type() != self.results[0].type:
            # A quantized constant, whose value has the storage type.
            printer.print_string("() <{value = ")
            printer.print_attribute(value)
            printer.print_string("}>")
            printer.print_op_attributes(self.attributes)
            printer.print_string(" : () -> ")
            printer.print_attribute(self.results[0].type)
            return
        self.print_dict(printer)
        printer.print_string(" ")
        printer.print_attribute(value)


_BOUND = of_rank(0, BOOL, INTEGER, FLOAT)
_STATE = ranked(INTEGER, FLOAT)


class RngOp(FormOp):
    """Random numbers of a distribution."""

    name = "stablehlo.rng"
    SIGNATURE: ClassVar = Signature(
        values(a=_BOUND, b=_BOUND, shape=of_rank(1, INDEX, INTEGER)),
        values(result=ranked(BOOL, INTEGER, FLOAT)),
        properties(rng_distribution=enum("stablehlo.rng_distribution")),
    )
    FORM: ClassVar = Form(
        (OPERANDS, Setting("distribution", Member("rng_distribution", RngDistributionAttr))),
        FUNCTIONAL,
    )


class RngBitGeneratorOp(FormOp):
    """Random bits, and the state of the generator after them."""

    name = "stablehlo.rng_bit_generator"
    SIGNATURE: ClassVar = Signature(
        values(initial_state=_STATE),
        values(output_state=_STATE, output=static(INTEGER, FLOAT)),
        properties(rng_algorithm=enum("stablehlo.rng_algorithm")),
    )
    FORM: ClassVar = Form(
        (OPERANDS, Setting("algorithm", Member("rng_algorithm", RngAlgorithmAttr))), FUNCTIONAL
    )
    traits = PURE


class IotaOp(FormOp):
    """Numbers that count along a dimension."""

    name = "stablehlo.iota"
    RULE: ClassVar = staticmethod(movement_rules.iota)
    SIGNATURE: ClassVar = Signature(
        results=values(output=static(INTEGER, FLOAT, COMPLEX, QUANTIZED)),
        properties=properties(iota_dimension=DIMENSION),
    )
    FORM: ClassVar = Form((Setting("dim", Integer("iota_dimension")),), RESULT)
    traits = PURE


CREATION = (ConstantOp, IotaOp, RngBitGeneratorOp, RngOp)
"""The operations of this module."""
