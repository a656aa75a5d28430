"""Operations of StableHLO that read and write elements by computed numbers."""

from __future__ import annotations

from typing import ClassVar

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.stablehlo.operation import PURE, FormOp, StableHLOOp
from ttmlir.dialects.stablehlo.reduction import INPUTS, RESULTS
from ttmlir.dialects.stablehlo.rules import indexing as indexing_rules
from ttmlir.dialects.stablehlo.rules import movement as movement_rules
from ttmlir.dialects.stablehlo.rules.constraints import (
    ANY,
    ANY_INTEGER,
    DIMENSIONS,
    INDEX,
    INTEGER,
    enum,
    of_rank,
    ranked,
)
from ttmlir.dialects.stablehlo.text.form import OPERANDS, Form, IntegerList, Setting
from ttmlir.dialects.stablehlo.text.type_forms import FUNCTIONAL

_START = ValueGroup("start_indices", of_rank(0, INTEGER), variadic=True)


class DynamicSliceOp(FormOp):
    """A part of given size that begins at indices which are operands."""

    name = "stablehlo.dynamic_slice"
    RULE: ClassVar = staticmethod(movement_rules.dynamic_slice)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY), _START),
        results=(ValueGroup("result", ANY),),
        properties=(Property("slice_sizes", DIMENSIONS),),
    )
    FORM: ClassVar = Form((OPERANDS, Setting("sizes", IntegerList("slice_sizes"))), FUNCTIONAL)
    traits = PURE


class GatherOp(StableHLOOp):
    """Slices of the operand that begin at indices."""

    name = "stablehlo.gather"
    RULE: ClassVar = staticmethod(indexing_rules.gather)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY), ValueGroup("start_indices", ranked(INTEGER))),
        results=(ValueGroup("result", ANY),),
        properties=(
            Property("dimension_numbers", enum("stablehlo.gather")),
            Property("slice_sizes", DIMENSIONS),
            Property("indices_are_sorted", ods.BOOL, optional=True),
        ),
    )
    traits = PURE


class DynamicGatherOp(StableHLOOp):
    """Slices whose size is an operand."""

    name = "stablehlo.dynamic_gather"
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("operand", ANY),
            ValueGroup("start_indices", ranked(INTEGER)),
            ValueGroup("slice_sizes", ranked(INTEGER)),
        ),
        results=(ValueGroup("result", ANY),),
        properties=(
            Property("dimension_numbers", enum("stablehlo.gather")),
            Property("indices_are_sorted", ods.BOOL, optional=True),
        ),
    )
    traits = PURE


class ScatterOp(StableHLOOp):
    """The inputs with elements at indices combined with updates by a function."""

    name = "stablehlo.scatter"
    RULE: ClassVar = staticmethod(indexing_rules.scatter)
    SIGNATURE: ClassVar = Signature(
        operands=(
            INPUTS,
            ValueGroup("scatter_indices", ranked(ANY_INTEGER, INDEX)),
            ValueGroup("updates", ANY, variadic=True),
        ),
        results=(RESULTS,),
        properties=(
            Property("scatter_dimension_numbers", enum("stablehlo.scatter")),
            Property("indices_are_sorted", ods.BOOL, optional=True),
            Property("unique_indices", ods.BOOL, optional=True),
        ),
        regions=1,
        same_sizes=True,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("update_computation",)
    traits = PURE


class TorchIndexSelectOp(StableHLOOp):
    """Slices along a dimension, by number."""

    name = "stablehlo.torch_index_select"
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY), ValueGroup("index", ANY)),
        results=(ValueGroup("result", ANY),),
        properties=(Property("dim", ods.I64), Property("batch_dims", ods.I64)),
    )
    traits = PURE


class DynamicUpdateSliceOp(FormOp):
    """The operand with a part replaced that begins at indices which are operands."""

    name = "stablehlo.dynamic_update_slice"
    RULE: ClassVar = staticmethod(movement_rules.dynamic_update_slice)
    SIGNATURE: ClassVar = Signature(
        operands=(ValueGroup("operand", ANY), ValueGroup("update", ANY), _START),
        results=(ValueGroup("result", ANY),),
    )
    FORM: ClassVar = Form((OPERANDS,), FUNCTIONAL)
    traits = PURE


INDEXING = (
    DynamicGatherOp,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    GatherOp,
    ScatterOp,
    TorchIndexSelectOp,
)
"""The operations of this module."""
