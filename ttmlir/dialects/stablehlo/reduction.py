"""Operations of StableHLO that fold many elements into one, sort them, or map a function."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.stablehlo.operation import PURE, StableHLOOp
from ttmlir.dialects.stablehlo.rules import reduction as reduction_rules
from ttmlir.dialects.stablehlo.rules.constraints import ANY, DIMENSIONS
from ttmlir.dialects.stablehlo.text.reduction import parse_reduce, print_reduce

INPUTS = ValueGroup("inputs", ANY, variadic=True)
RESULTS = ValueGroup("results", ANY, variadic=True)


class ReduceOp(StableHLOOp):
    """Folds dimensions with a function, starting from initial values."""

    name = "stablehlo.reduce"
    RULE: ClassVar = staticmethod(reduction_rules.reduce)
    SIGNATURE: ClassVar = Signature(
        operands=(INPUTS, ValueGroup("init_values", ANY, variadic=True)),
        results=(RESULTS,),
        properties=(Property("dimensions", DIMENSIONS),),
        regions=1,
        same_sizes=True,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("body",)
    SPELLED: ClassVar[tuple[str, ...]] = ("dimensions",)
    traits = PURE

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        """Read the short form, which names the function, or the one with a region."""
        return parse_reduce(cls, parser)

    def print(self, printer: Printer) -> None:
        """Write the short form if the function is one operation."""
        print_reduce(self, printer)


class SortOp(StableHLOOp):
    """The slices along a dimension in the order that a comparison gives."""

    name = "stablehlo.sort"
    RULE: ClassVar = staticmethod(reduction_rules.sort)
    SIGNATURE: ClassVar = Signature(
        operands=(INPUTS,),
        results=(RESULTS,),
        properties=(
            Property("dimension", ods.I64, optional=True),
            Property("is_stable", ods.BOOL, optional=True),
        ),
        regions=1,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("comparator",)
    traits = PURE


class MapOp(StableHLOOp):
    """A function of each element."""

    name = "stablehlo.map"
    RULE: ClassVar = staticmethod(reduction_rules.map)
    SIGNATURE: ClassVar = Signature(
        operands=(INPUTS,),
        results=(ValueGroup("result", ANY),),
        properties=(Property("dimensions", DIMENSIONS),),
        regions=1,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("computation",)
    traits = PURE


REDUCTION = (
    MapOp,
    ReduceOp,
    SortOp,
)
"""The operations of this module."""
