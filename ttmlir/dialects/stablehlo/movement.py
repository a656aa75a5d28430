"""Operations of StableHLO that move elements."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.definition.syntax import expect, parse_signed
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp
from ttmlir.dialects.stablehlo.rules import movement as movement_rules
from ttmlir.dialects.stablehlo.rules.constraints import (
    ANY,
    ANY_AXIS,
    ANY_ELEMENTS,
    DIMENSION,
    DIMENSIONS,
    STATIC_OR_BOUNDED,
    of_rank,
)
from ttmlir.dialects.stablehlo.text.form import (
    OPERANDS,
    Form,
    Integer,
    IntegerList,
    Setting,
    integers,
)
from ttmlir.dialects.stablehlo.text.type_forms import FUNCTIONAL, SAME


class BroadcastInDimOp(FormOp):
    """Dimension i of the operand becomes dimension `broadcast_dimensions[i]`; others repeat."""

    name = "stablehlo.broadcast_in_dim"
    RULE: ClassVar = staticmethod(movement_rules.broadcast_in_dim)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY_AXIS),),
        results=(ValueGroup("result", STATIC_OR_BOUNDED),),
        properties=(Property("broadcast_dimensions", DIMENSIONS),),
    )
    FORM: ClassVar = Form(
        (OPERANDS, Setting("dims", IntegerList("broadcast_dimensions"))), FUNCTIONAL
    )
    traits = PURE


class BroadcastOp(FormOp):
    """New dimensions in front, along which the operand repeats."""

    name = "stablehlo.broadcast"
    RULE: ClassVar = staticmethod(movement_rules.broadcast)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY),),
        results=(ValueGroup("result", ANY_AXIS),),
        properties=(Property("broadcast_sizes", DIMENSIONS),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("sizes", IntegerList("broadcast_sizes"))), FUNCTIONAL)
    traits = PURE


class ReshapeOp(FormOp):
    """The same elements in the same order, in another shape."""

    name = "stablehlo.reshape"
    RULE: ClassVar = staticmethod(movement_rules.reshape)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY_AXIS),),
        results=(ValueGroup("result", STATIC_OR_BOUNDED),),
    )
    FORM: ClassVar = Form((OPERANDS,), SAME)
    traits = PURE


class TransposeOp(FormOp):
    """Dimension i of the result is dimension `permutation[i]` of the operand."""

    name = "stablehlo.transpose"
    RULE: ClassVar = staticmethod(movement_rules.transpose)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY_AXIS),),
        results=(ValueGroup("result", ANY_AXIS),),
        properties=(Property("permutation", DIMENSIONS),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dims", IntegerList("permutation"))), FUNCTIONAL)
    traits = PURE


class ReverseOp(FormOp):
    """The elements in the opposite order along some dimensions."""

    name = "stablehlo.reverse"
    RULE: ClassVar = staticmethod(movement_rules.reverse)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY),),
        results=(ValueGroup("result", ANY),),
        properties=(Property("dimensions", DIMENSIONS),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dims", IntegerList("dimensions"))), SAME)
    traits = PURE


class ConcatenateOp(FormOp):
    """The operands one after the other along a dimension."""

    name = "stablehlo.concatenate"
    RULE: ClassVar = staticmethod(movement_rules.concatenate)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("inputs", ANY, variadic=True),),
        results=(ValueGroup("result", ANY),),
        properties=(Property("dimension", DIMENSION),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("dim", Integer("dimension"))), FUNCTIONAL)
    traits = PURE


class PadOp(FormOp):
    """The operand with a value around and between its elements; negative amounts cut off."""

    name = "stablehlo.pad"
    RULE: ClassVar = staticmethod(movement_rules.pad)
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("operand", ANY),
            ValueGroup("padding_value", of_rank(0, *ANY_ELEMENTS)),
        ),
        results=(ValueGroup("result", ANY),),
        properties=(
            Property("edge_padding_low", DIMENSIONS),
            Property("edge_padding_high", DIMENSIONS),
            Property("interior_padding", DIMENSIONS),
        ),
    )
    FORM: ClassVar = Form(
        (
            OPERANDS,
            Setting("low", IntegerList("edge_padding_low")),
            Setting("high", IntegerList("edge_padding_high")),
            Setting("interior", IntegerList("interior_padding")),
        ),
        FUNCTIONAL,
    )
    traits = PURE


class SliceOp(StableHLOOp):
    """Every `strides[i]`-th element from a start to a limit: `slice %0 [0:2, 1:9:4]`."""

    name = "stablehlo.slice"
    RULE: ClassVar = staticmethod(movement_rules.slice)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY),),
        results=(ValueGroup("result", ANY),),
        properties=(
            Property("start_indices", DIMENSIONS),
            Property("limit_indices", DIMENSIONS),
            Property("strides", DIMENSIONS),
        ),
    )
    SPELLED: ClassVar[tuple[str, ...]] = ("start_indices", "limit_indices", "strides")
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read operand, ranges and types."""
        operand = parser.parse_unresolved_operand()
        ranges: list[tuple[int, int, int]] = []
        expect(parser, "[")
        while parser.parse_optional_punctuation("]") is None:
            if ranges:
                expect(parser, ",")
            start = parse_signed(parser)
            expect(parser, ":")
            limit = parse_signed(parser)
            stride = 1 if parser.parse_optional_punctuation(":") is None else parse_signed(parser)
            ranges.append((start, limit, stride))
        spelled: dict[str, Attribute] = {
            name: DenseArrayBase.from_list(i64, [item[index] for item in ranges])
            for index, name in enumerate(cls.SPELLED)
        }
        return cls.parse_rest(parser, spelled, [operand])

    def print(self, printer: Printer) -> None:
        """Write operand, ranges and types."""
        ranges = zip(*(integers(self, name) for name in self.SPELLED), strict=True)
        texts = [
            f"{start}:{limit}" + (f":{stride}" if stride != 1 else "")
            for start, limit, stride in ranges
        ]
        printer.print_string(" ")
        printer.print_operand(self.operands[0])
        printer.print_string(f" [{', '.join(texts)}]")
        self.print_rest(printer)


MOVEMENT = (
    BroadcastInDimOp,
    BroadcastOp,
    ConcatenateOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
"""The operations of this module."""
