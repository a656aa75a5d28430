"""Operations of StableHLO that fold many elements into one, and others with a small function."""

from __future__ import annotations

from typing import ClassVar, Self

from xdsl.parser import Parser
from xdsl.printer import Printer

from ttmlir.dialects.definition import ods
from ttmlir.dialects.definition.ods import Property, Signature, ValueGroup
from ttmlir.dialects.stablehlo.operation import PURE, StableHLOOp
from ttmlir.dialects.stablehlo.rules import reduction as reduction_rules
from ttmlir.dialects.stablehlo.rules.constraints import (
    ANY,
    ANY_INTEGER,
    DIMENSION,
    DIMENSIONS,
    FLOAT,
    FLOAT_32,
    INDEX,
    INTEGER,
    PADDING,
    QUANTIZED,
    enum,
    of_rank,
    ranked,
)
from ttmlir.dialects.stablehlo.text.reduction import parse_reduce, print_reduce

_INPUTS = ValueGroup("inputs", ANY, variadic=True)
_RESULTS = ValueGroup("results", ANY, variadic=True)


class ReduceOp(StableHLOOp):
    """Folds dimensions with a function, starting from initial values."""

    name = "stablehlo.reduce"
    RULE: ClassVar = staticmethod(reduction_rules.reduce)
    SIGNATURE: ClassVar = Signature(
        operands=(_INPUTS, ValueGroup("init_values", ANY, variadic=True)),
        results=(_RESULTS,),
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


class ReduceWindowOp(StableHLOOp):
    """Folds each window of the inputs with a function."""

    name = "stablehlo.reduce_window"
    RULE: ClassVar = staticmethod(reduction_rules.reduce_window)
    SIGNATURE: ClassVar = Signature(
        operands=(_INPUTS, ValueGroup("init_values", ANY, variadic=True)),
        results=(_RESULTS,),
        properties=(
            Property("window_dimensions", DIMENSIONS),
            Property("window_strides", DIMENSIONS, optional=True),
            Property("base_dilations", DIMENSIONS, optional=True),
            Property("window_dilations", DIMENSIONS, optional=True),
            Property("padding", PADDING, optional=True),
        ),
        regions=1,
        same_sizes=True,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("body",)
    traits = PURE


class SelectAndScatterOp(StableHLOOp):
    """Adds each source element to the element that its window selects."""

    name = "stablehlo.select_and_scatter"
    RULE: ClassVar = staticmethod(reduction_rules.select_and_scatter)
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("operand", ANY),
            ValueGroup("source", ANY),
            ValueGroup("init_value", ANY),
        ),
        results=(ValueGroup("result", ANY),),
        properties=(
            Property("window_dimensions", DIMENSIONS, optional=True),
            Property("window_strides", DIMENSIONS, optional=True),
            Property("padding", PADDING, optional=True),
        ),
        regions=2,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("select", "scatter")
    traits = PURE


class SortOp(StableHLOOp):
    """The slices along a dimension in the order that a comparison gives."""

    name = "stablehlo.sort"
    RULE: ClassVar = staticmethod(reduction_rules.sort)
    SIGNATURE: ClassVar = Signature(
        operands=(_INPUTS,),
        results=(_RESULTS,),
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
        operands=(_INPUTS,),
        results=(ValueGroup("result", ANY),),
        properties=(Property("dimensions", DIMENSIONS),),
        regions=1,
    )
    REGIONS: ClassVar[tuple[str, ...]] = ("computation",)
    traits = PURE


class GatherOp(StableHLOOp):
    """Slices of the operand that begin at indices."""

    name = "stablehlo.gather"
    RULE: ClassVar = staticmethod(reduction_rules.gather)
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
    RULE: ClassVar = staticmethod(reduction_rules.scatter)
    SIGNATURE: ClassVar = Signature(
        operands=(
            _INPUTS,
            ValueGroup("scatter_indices", ranked(ANY_INTEGER, INDEX)),
            ValueGroup("updates", ANY, variadic=True),
        ),
        results=(_RESULTS,),
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


_IMAGE = ranked(FLOAT, QUANTIZED)
_VECTOR = of_rank(1, FLOAT, QUANTIZED)
_FLOAT_VECTOR = of_rank(1, FLOAT)
_NORMALIZATION = (Property("epsilon", FLOAT_32), Property("feature_index", DIMENSION))


class BatchNormInferenceOp(StableHLOOp):
    """Normalization with given mean and variance for each feature."""

    name = "stablehlo.batch_norm_inference"
    RULE: ClassVar = staticmethod(reduction_rules.batch_norm)
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("operand", _IMAGE),
            *(ValueGroup(name, _VECTOR) for name in ("scale", "offset", "mean", "variance")),
        ),
        results=(ValueGroup("result", _IMAGE),),
        properties=_NORMALIZATION,
    )
    traits = PURE


class BatchNormTrainingOp(StableHLOOp):
    """Normalization with the mean and variance of the operand, which are results, too."""

    name = "stablehlo.batch_norm_training"
    RULE: ClassVar = staticmethod(reduction_rules.batch_norm)
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("operand", _IMAGE),
            ValueGroup("scale", _VECTOR),
            ValueGroup("offset", _VECTOR),
        ),
        results=(
            ValueGroup("output", _IMAGE),
            ValueGroup("batch_mean", _FLOAT_VECTOR),
            ValueGroup("batch_var", _FLOAT_VECTOR),
        ),
        properties=_NORMALIZATION,
    )
    traits = PURE


class BatchNormGradOp(StableHLOOp):
    """The gradients of a normalization."""

    name = "stablehlo.batch_norm_grad"
    RULE: ClassVar = staticmethod(reduction_rules.batch_norm)
    SIGNATURE: ClassVar = Signature(
        operands=(
            ValueGroup("operand", _IMAGE),
            *(ValueGroup(name, _VECTOR) for name in ("scale", "mean", "variance")),
            ValueGroup("grad_output", _IMAGE),
        ),
        results=(
            ValueGroup("grad_operand", _IMAGE),
            ValueGroup("grad_scale", _FLOAT_VECTOR),
            ValueGroup("grad_offset", _FLOAT_VECTOR),
        ),
        properties=_NORMALIZATION,
    )
    traits = PURE


REDUCTION = (
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
    DynamicGatherOp,
    GatherOp,
    MapOp,
    ReduceOp,
    ReduceWindowOp,
    ScatterOp,
    SelectAndScatterOp,
    SortOp,
    TorchIndexSelectOp,
)
"""The operations of this module."""
