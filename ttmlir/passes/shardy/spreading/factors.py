"""How the dimensions of operands and results of an operation belong together.

A rule names factors, as letters of einsum do: each dimension of a tensor is a product of factors,
the slowest first, and axes of a mesh divide factors. A product of matrices has the factors
`i, k` and `k, j`, of which `k` is summed over.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import cast

from xdsl.dialects.builtin import DictionaryAttr, StringAttr, TensorType
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import chlo, sdy
from ttmlir.dialects.stablehlo.attrs import (
    ConvDimensionNumbersAttr,
    DotDimensionNumbersAttr,
    GatherDimensionNumbersAttr,
    ScatterDimensionNumbersAttr,
)
from ttmlir.dialects.stablehlo.elementwise import ELEMENTWISE
from ttmlir.dialects.stablehlo.form import integer, integers
from ttmlir.ir.constants import attr_numbers
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.tensor_types import element_type, is_boolean, value_shape
from ttmlir.mlir.attributes import Elements
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

Factors = list[list[int]]
"""The factors of each dimension of a tensor, slowest first."""


@dataclass
class Rule:
    """The factors of an operation."""

    operands: list[Factors]
    results: list[Factors]
    sizes: list[int] = field(default_factory=list[int])
    whole: set[int] = field(default_factory=set[int])
    """Factors that no axis may divide."""
    combined: set[int] = field(default_factory=set[int])
    """Factors that results do not have, as their parts are combined by `combination`."""
    combination: str = "add"
    """The operation of StableHLO that combines parts."""

    def new(self, size: int, *, whole: bool = False) -> int:
        """A factor of a size."""
        self.sizes.append(size)
        if whole:
            self.whole.add(len(self.sizes) - 1)
        return len(self.sizes) - 1

    def dimension(self, size: int, *, whole: bool = False) -> list[int]:
        """The factors of a dimension that is one; none if it has one element."""
        return [self.new(size, whole=whole)] if size > 1 else []

    @property
    def tensors(self) -> list[Factors]:
        """Operands, then results."""
        return [*self.operands, *self.results]


def rule_of(op: Operation) -> Rule:
    """The rule of an operation; one that divides nothing for those that are not known here."""
    find = _RULES.get(op.name)
    found = find(op) if find is not None else None
    return _undivided(op) if found is None else found


def _shapes(values: Sequence[SSAValue]) -> list[tuple[int, ...]]:
    return [value_shape(value) if isinstance(value.type, TensorType) else () for value in values]


def _undivided(op: Operation) -> Rule:
    rule = Rule([], [])
    for values, factors in ((op.operands, rule.operands), (op.results, rule.results)):
        for shape in _shapes(values):
            factors.append([rule.dimension(extent, whole=True) for extent in shape])
    return rule


def _elementwise(op: Operation) -> Rule | None:
    shape = value_shape(op.results[0])
    rule = Rule([], [])
    dims = [rule.dimension(extent) for extent in shape]
    for other in _shapes(op.operands):
        if other not in (shape, ()):
            return None
        rule.operands.append(dims if other == shape else [])
    rule.results = [dims for _ in op.results]
    return rule


def _broadcast(op: Operation) -> Rule:
    rule = Rule([], [])
    (given,), made = _shapes(op.operands), value_shape(op.results[0])
    result = [rule.dimension(extent) for extent in made]
    places = integers(op, "broadcast_dimensions")
    rule.operands = [
        [
            result[place] if extent == made[place] else []
            for extent, place in zip(given, places, strict=True)
        ]
    ]
    rule.results = [result]
    return rule


def _transpose(op: Operation) -> Rule:
    rule = Rule([], [])
    operand = [rule.dimension(extent) for extent in value_shape(op.operands[0])]
    rule.operands = [operand]
    rule.results = [[operand[place] for place in integers(op, "permutation")]]
    return rule


def _reshape(op: Operation) -> Rule:
    """Dimensions are taken apart into what divides both sides, from the front."""
    rule = Rule([], [])
    given, made = value_shape(op.operands[0]), value_shape(op.results[0])
    operand: Factors = [[] for _ in given]
    result: Factors = [[] for _ in made]
    i = j = 0
    left, right = (given[0] if given else 1), (made[0] if made else 1)
    while i < len(given) and j < len(made):
        common = math.gcd(left, right)
        if common > 1:
            factor = rule.new(common)
            operand[i].append(factor)
            result[j].append(factor)
            left, right = left // common, right // common
        elif left > 1 and right > 1:
            # What is left does not match: nothing of it is divided.
            operand[i].append(rule.new(left, whole=True))
            result[j].append(rule.new(right, whole=True))
            break
        if left == 1:
            i += 1
            left = given[i] if i < len(given) else 1
        if right == 1:
            j += 1
            right = made[j] if j < len(made) else 1
    rule.operands, rule.results = [operand], [result]
    return rule


def _reduce(op: Operation) -> Rule | None:
    count = len(op.results)
    combining = combiners(op.regions[0])
    combined = {each.mnemonic for each in combining or ()}
    name = _COMBINATIONS.get(combined.pop()) if len(combined) == 1 else None
    if name in _NEUTRAL and not all(
        _is_splat(each, _NEUTRAL[name]) for each in op.operands[count:]
    ):
        # Each device would begin with what the whole begins with once.
        name = None
    rule = Rule([], [], combination=name or "add")
    reduced = {*integers(op, "dimensions")}
    shape = value_shape(op.operands[0])
    dims = [
        rule.dimension(extent, whole=place in reduced and name is None)
        for place, extent in enumerate(shape)
    ]
    rule.combined = {each for place in reduced for each in dims[place]} - rule.whole
    rule.operands = [dims] * count + [[] for _ in range(count)]
    kept = [each for place, each in enumerate(dims) if place not in reduced]
    rule.results = [kept] * count
    return rule


_COMBINATIONS = {
    "add": "add",
    "maximum": "maximum",
    "minimum": "minimum",
    "multiply": "multiply",
    "logical_and": "and",
    "logical_or": "or",
    "bitwise_and": "and",
    "bitwise_or": "or",
}
"""Operations of StableHLO by the definitions that bodies of reductions have."""
_NEUTRAL = {"add": 0, "multiply": 1}
"""What reductions begin with where it matters how often they begin."""


def _is_splat(value: SSAValue, number: int) -> bool:
    """True for a constant of equal numbers."""
    op = value.owner
    if isinstance(op, Operation) and op.name == "stablehlo.broadcast_in_dim":
        return _is_splat(op.operands[0], number)
    elements = op.properties.get("value") if isinstance(op, Operation) else None
    numbers = attr_numbers(cast("Elements", elements)) if elements is not None else None
    return numbers is not None and {*map(complex, numbers)} == {complex(number)}


def _dot_general(op: Operation) -> Rule:
    numbers = cast("DotDimensionNumbersAttr", op.properties["dot_dimension_numbers"])
    lhs, rhs = _shapes(op.operands)
    rule = Rule([], [])
    left: Factors = [rule.dimension(extent) for extent in lhs]
    right: Factors = [[] for _ in rhs]
    batches = [*numbers.lhs_batching_dimensions], [*numbers.rhs_batching_dimensions]
    summed = [*numbers.lhs_contracting_dimensions], [*numbers.rhs_contracting_dimensions]
    for mine, yours in (batches, summed):
        for one, other in zip(mine, yours, strict=True):
            right[other] = left[one]
    rule.combined = {each for place in summed[0] for each in left[place]}
    free_left = [n for n in range(len(lhs)) if n not in (*batches[0], *summed[0])]
    free_right = [n for n in range(len(rhs)) if n not in (*batches[1], *summed[1])]
    for place in free_right:
        right[place] = rule.dimension(rhs[place])
    rule.operands = [left, right]
    rule.results = [
        [
            *(left[n] for n in batches[0]),
            *(left[n] for n in free_left),
            *(right[n] for n in free_right),
        ]
    ]
    return rule


def _along(name: str) -> Callable[[Operation], Rule]:
    """The rule of an operation that needs some dimensions whole, and keeps the others."""

    def find(op: Operation) -> Rule:
        attr = op.properties[name]
        places = {integer(op, name)} if hasattr(attr, "value") else {*integers(op, name)}
        return _same_dimensions(op, lambda place: place not in places)

    return find


def _same_dimensions(op: Operation, is_kept: Callable[[int], bool]) -> Rule:
    """Dimensions that are kept belong together in all tensors of the rank of the result.

    What is repeated along one has it as a whole.
    """
    rule = Rule([], [])
    made = value_shape(op.results[0])
    kept = [rule.dimension(extent) if is_kept(place) else [] for place, extent in enumerate(made)]

    def dims(shape: tuple[int, ...]) -> Factors:
        if len(shape) != len(made):
            return [rule.dimension(extent, whole=True) for extent in shape]
        return [
            kept[place]
            if is_kept(place) and extent == made[place]
            else rule.dimension(extent, whole=True)
            for place, extent in enumerate(shape)
        ]

    rule.operands = [dims(shape) for shape in _shapes(op.operands)]
    rule.results = [dims(shape) for shape in _shapes(op.results)]
    return rule


def _of_full_dimensions(op: Operation) -> Rule:
    """What is as long in all tensors of the rank of the result is taken as a whole."""
    shapes = _shapes([*op.operands, *op.results])
    rank = len(value_shape(op.results[0]))
    full = [shape for shape in shapes if len(shape) == rank]
    return _same_dimensions(op, lambda place: len({shape[place] for shape in full}) == 1)


def _pad(op: Operation) -> Rule:
    widths = [
        integers(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
    ]
    return _same_dimensions(op, lambda place: not any(each[place] for each in widths))


def _window(op: Operation) -> Rule:
    windows = integers(op, "window_dimensions") or (1,) * len(value_shape(op.results[0]))
    full = _of_full_dimensions(op)
    if any(extent != 1 for extent in windows):
        shapes = _shapes([op.operands[0], op.results[0]])
        return _same_dimensions(
            op, lambda place: windows[place] == 1 and shapes[0][place] == shapes[1][place]
        )
    return full


def _gather(op: Operation) -> Rule:
    """Slices that are as long as the operand belong to it, and batches to the indices.

    Of dimensions that are looked up devices have parts: what others have is added.
    """
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    given, indices = _shapes(op.operands)
    sizes, made = integers(op, "slice_sizes"), value_shape(op.results[0])
    rule = Rule([], [])
    gone = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    offsets = [place for place in range(len(given)) if place not in gone]
    result: Factors = [[] for _ in made]
    operand: Factors = [rule.dimension(extent, whole=True) for extent in given]
    for place in numbers.start_index_map if _is_looked_up_in_parts(op) else ():
        operand[place] = rule.dimension(given[place])
        rule.combined |= {*operand[place]}
    for place, target in zip(offsets, sorted(numbers.offset_dims), strict=True):
        if sizes[place] == given[place]:
            operand[place] = result[target] = rule.dimension(given[place])
        else:
            result[target] = rule.dimension(made[target], whole=True)
    shared = dict(
        zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True)
    )
    batches = [place for place in range(len(made)) if place not in {*numbers.offset_dims}]
    index: Factors = [rule.dimension(extent, whole=True) for extent in indices]
    of_indices = [n for n in range(len(indices)) if n != numbers.index_vector_dim]
    for target, place in zip(batches, of_indices, strict=True):
        index[place] = result[target] = rule.dimension(made[target])
        if place in shared:
            operand[shared[place]] = index[place]
    rule.operands, rule.results = [operand, index], [result]
    return rule


def _is_looked_up_in_parts(op: Operation) -> bool:
    from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_indexing import is_regular_gather

    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    return (
        {*numbers.start_index_map} <= {*numbers.collapsed_slice_dims}
        and is_regular_gather(op)
        and not is_boolean(element_type(op.results[0]))
    )


def _scatter(op: Operation) -> Rule:
    """Windows that are as long as the operand belong to it, and batches to the indices, too.

    Along dimensions that are written by indices each device writes into its part. What is added to
    zeros may be added in parts, too.
    """
    numbers = cast("ScatterDimensionNumbersAttr", op.properties["scatter_dimension_numbers"])
    count = len(op.results)
    shapes = _shapes(op.operands)
    given, indices, updates = shapes[0], shapes[count], shapes[count + 1]
    rule = Rule([], [])
    operand: Factors = [rule.dimension(extent, whole=True) for extent in given]
    index: Factors = [rule.dimension(extent, whole=True) for extent in indices]
    update: Factors = [rule.dimension(extent, whole=True) for extent in updates]
    for place in {*numbers.scatter_dims_to_operand_dims} & {*numbers.inserted_window_dims}:
        operand[place] = rule.dimension(given[place])
    gone = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
    windows = [place for place in range(len(given)) if place not in gone]
    for place, source in zip(windows, sorted(numbers.update_window_dims), strict=True):
        if given[place] == updates[source]:
            operand[place] = update[source] = rule.dimension(given[place])
    shared = dict(
        zip(numbers.scatter_indices_batching_dims, numbers.input_batching_dims, strict=True)
    )
    batches = [place for place in range(len(updates)) if place not in numbers.update_window_dims]
    of_indices = [n for n in range(len(indices)) if n != numbers.index_vector_dim]
    combined = {each.mnemonic for each in combiners(op.regions[0]) or ()}
    is_sum = combined == {"add"} and all(_is_splat(each, 0) for each in op.operands[:count])
    for source, place in zip(batches, of_indices, strict=True):
        if place in shared or is_sum:
            dims = rule.dimension(updates[source])
            index[place] = update[source] = dims
            if place in shared:
                operand[shared[place]] = dims
            else:
                rule.combined |= {*dims}
    rule.operands = [*[operand] * count, index, *[update] * count]
    rule.results = [operand] * count
    return rule


def _exchange(*names: str) -> Callable[[Operation], Rule]:
    """The rule of what devices exchange: all dimensions but those that are named are kept."""

    def find(op: Operation) -> Rule:
        gone = {integer(op, name) for name in names}
        rule = Rule([], [])
        for given, made in zip(_shapes(op.operands), _shapes(op.results), strict=True):
            dims = [rule.dimension(extent) for extent in given]
            for shape, tensors in ((given, rule.operands), (made, rule.results)):
                tensors.append(
                    [
                        rule.dimension(extent, whole=True) if place in gone else dims[place]
                        for place, extent in enumerate(shape)
                    ]
                )
        return rule

    return find


def _but_last(count: Callable[[Operation], int]) -> Callable[[Operation], Rule]:
    """The rule of an operation that needs some of the last dimensions whole, of all tensors."""

    def find(op: Operation) -> Rule:
        whole = count(op)
        rule = Rule([], [])
        first = _shapes(op.operands)[0]
        kept = [rule.dimension(extent) for extent in first[: len(first) - whole]]
        for values, tensors in ((op.operands, rule.operands), (op.results, rule.results)):
            for shape in _shapes(values):
                rest = [rule.dimension(extent, whole=True) for extent in shape[len(kept) :]]
                tensors.append([*kept, *rest])
        return rule

    return find


def _normalization(op: Operation) -> Rule:
    """Features are those of the vectors beside; statistics of a batch need it whole."""
    place = integer(op, "feature_index")
    is_inference = op.name.endswith("inference")
    rule = Rule([], [])
    shape = value_shape(op.operands[0])
    dims = [
        rule.dimension(extent, whole=not (is_inference or number == place))
        for number, extent in enumerate(shape)
    ]
    for values, tensors in ((op.operands, rule.operands), (op.results, rule.results)):
        tensors += [dims if len(each) == len(shape) else [dims[place]] for each in _shapes(values)]
    return rule


def _said(op: Operation) -> Rule | None:
    """The rule that is said of a call: `<([i, k], [k, j])->([i, j]) {i=4, j=8, k=16} ...>`."""
    attr = op.attributes.get("sdy.sharding_rule")
    if not isinstance(attr, sdy.OpShardingRuleAttr):
        return None
    # Lines may break anywhere.
    found = sdy.RULE.fullmatch(" ".join(attr.data.split()))
    if found is None:
        return None
    rule, numbers = Rule([], []), dict[str, int]()
    sizes = {name: int(size) for name, size in _SIZE.findall(found[3] or "")}
    needs = {kind: {*_FACTOR.findall(names)} for kind, names in _KIND.findall(found[4])}
    whole = needs.get("need_replication", set[str]()) | needs.get("permutation", set[str]())
    # What only operands or only results have is no dimension along which parts are computed from
    # parts, such as the rows of a matrix that is decomposed; JAX says nothing else of it.
    given, made = ({*_FACTOR.findall(found[side])} for side in (1, 2))
    parted = (given & made | needs.get("reduction", set())) - whole
    for name, size in sizes.items():
        if size > 1:
            numbers[name] = rule.new(size, whole=name not in parted)
    rule.combined = {numbers[name] for name in needs.get("reduction", ()) if name in numbers}
    for text, values, tensors in (
        (found[1], op.operands, rule.operands),
        (found[2], op.results, rule.results),
    ):
        named = _TENSOR.findall(text)
        for dims, shape in zip(named, _shapes(values), strict=True):
            factors = [
                [numbers[name] for name in _FACTOR.findall(dim) if name in numbers]
                for dim in dims.split(",")
                if dim.strip()
            ]
            if [math.prod(rule.sizes[each] for each in dim) for dim in factors] != [*shape]:
                refuse(op, f"the rule {found[0]} does not fit tensors of {list(shape)}")
            tensors.append(factors)
    return rule


_TENSOR = re.compile(r"\[([^\[\]]*)\]")
_FACTOR = re.compile(r"[a-z](?:_\d+)?")
_SIZE = re.compile(r"([a-z](?:_\d+)?)\s*=\s*(\d{1,18})(?!\d)")
_KIND = re.compile(r"(reduction|need_replication|permutation)=\{([^{}]*)\}")


def _convolution(op: Operation) -> Rule | None:
    """Groups of features are a factor of their own, slower than the features of each."""
    numbers = cast("ConvDimensionNumbersAttr", op.properties["dimension_numbers"])
    if integer(op, "batch_group_count") != 1:
        return None
    count = integer(op, "feature_group_count")
    given, kernel = _shapes(op.operands)
    made = value_shape(op.results[0])
    rule = Rule([], [])
    left, right, result = (
        [rule.dimension(extent, whole=True) for extent in shape] for shape in (given, kernel, made)
    )
    batch = rule.dimension(given[numbers.input_batch_dimension])
    groups = rule.dimension(count)
    features = rule.dimension(given[numbers.input_feature_dimension] // count)
    outputs = rule.dimension(made[numbers.output_feature_dimension] // count)
    left[numbers.input_batch_dimension] = result[numbers.output_batch_dimension] = batch
    left[numbers.input_feature_dimension] = [*groups, *features]
    right[numbers.kernel_input_feature_dimension] = features
    right[numbers.kernel_output_feature_dimension] = [*groups, *outputs]
    result[numbers.output_feature_dimension] = [*groups, *outputs]
    rule.combined = {*features}
    rule.operands, rule.results = [left, right], [result]
    return rule


def _composite(op: Operation) -> Rule | None:
    """Operations of the library that compute parts of parts."""
    name = cast("StringAttr", op.properties["name"]).data.removeprefix("tenstorrent.")
    if name == "gelu":
        return _elementwise(op)
    if name in ("layer_norm", "rms_norm"):
        # Weights have the dimensions that are whole.
        rank = len(value_shape(op.results[0]))
        widths = {len(shape) for shape in _shapes(op.operands[1:])} or {_normalized(op)}
        return _same_dimensions(op, lambda place: place < rank - max(widths))
    if name == "scaled_dot_product_attention":
        # Where several heads share keys, parts of both would be those of other heads.
        full = [shape for shape in _shapes(op.operands[:3]) if len(shape) == 4]
        alike = [place for place in (0, 1) if len({shape[place] for shape in full}) == 1]
        return _same_dimensions(op, alike.__contains__)
    return None


def _normalized(op: Operation) -> int:
    """How many dimensions a norm is along."""
    said = cast("DictionaryAttr", op.properties["composite_attributes"]).data["normalized_shape"]
    return len(attr_numbers(cast("Elements", said)) or ())


_ON_EACH = (
    *(cls.name for cls in ELEMENTWISE),
    *(cls.name for cls in chlo.OPERATIONS if cls.name not in ("chlo.top_k", "chlo.ragged_dot")),
    *("sdy.sharding_constraint", "stablehlo.clamp", "stablehlo.select"),
    *("stablehlo.collective_broadcast", "stablehlo.collective_permute"),
)
"""Operations on each element."""
_RULES: Mapping[str, Callable[[Operation], Rule | None]] = {
    **dict.fromkeys(_ON_EACH, _elementwise),
    "chlo.top_k": _but_last(lambda op: 1),
    "sdy.reshard": _elementwise,
    "stablehlo.all_gather": _exchange("all_gather_dim"),
    "stablehlo.all_reduce": _exchange(),
    "stablehlo.all_to_all": _exchange("split_dimension", "concat_dimension"),
    "stablehlo.batch_norm_inference": _normalization,
    "stablehlo.batch_norm_training": _normalization,
    "stablehlo.broadcast_in_dim": _broadcast,
    "stablehlo.cholesky": _but_last(lambda op: 2),
    "stablehlo.composite": _composite,
    "stablehlo.concatenate": _along("dimension"),
    "stablehlo.constant": _elementwise,
    "stablehlo.convolution": _convolution,
    "stablehlo.custom_call": _said,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.dynamic_slice": _of_full_dimensions,
    "stablehlo.dynamic_update_slice": _of_full_dimensions,
    "stablehlo.fft": _but_last(lambda op: len(integers(op, "fft_length"))),
    "stablehlo.gather": _gather,
    "stablehlo.iota": _elementwise,
    "stablehlo.pad": _pad,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _window,
    "stablehlo.reduce_scatter": _exchange("scatter_dimension"),
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _along("dimensions"),
    "stablehlo.scatter": _scatter,
    "stablehlo.select_and_scatter": _window,
    "stablehlo.slice": _of_full_dimensions,
    "stablehlo.sort": _along("dimension"),
    "stablehlo.transpose": _transpose,
    "stablehlo.triangular_solve": _but_last(lambda op: 2),
}
"""By the full name of the operation."""
IN_STEP = frozenset((*_ON_EACH, "stablehlo.reshape", "stablehlo.transpose"))
"""Operations that shardings spread over first."""
