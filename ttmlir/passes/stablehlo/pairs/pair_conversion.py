"""Tensors of numbers that are stored as pairs: the parts are a last dimension of extent 2.

What only moves elements does so with pairs. Rules say what becomes of other operations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import FunctionType, IntegerAttr, TensorType, i1, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects.stablehlo.attrs import GatherDimensionNumbersAttr
from ttmlir.dialects.stablehlo.form import integers
from ttmlir.ir.rewriting import erase, insert_before, refuse_to_legalize
from ttmlir.ir.stablehlo_arrays import StableHLOCarrier, i64_array
from ttmlir.ir.tensor_types import element_type, shape_of, tensor_of, value_shape
from ttmlir.ir.ttnn_types import location_of
from ttmlir.mlir.attributes import elements_attr, raw_bytes, splat_bytes
from ttmlir.mlir.xdsl_internals import retype

if TYPE_CHECKING:
    from xdsl.dialects.builtin import LocationAttr, ModuleOp

    from ttmlir.mlir.attributes import Elements, ElementsType

Converted = Sequence[SSAValue] | None
"""Pairs, or what else replaces the results of an operation; None if that computes with numbers."""
Rule = Callable[["PairConversion", Operation], Converted]
"""What becomes of an operation."""

_SPLAT_LIMIT = 1 << 16
"""A constant of so many equal pairs is repeated where it is used, not where it is stored."""
_NESTING = ("stablehlo.case", "stablehlo.if", "stablehlo.while")
"""Operations with regions whose tensors are not those of a body that combines elements."""
_HANDING_ON = ("func.call", "func.return", "stablehlo.composite")
"""Operations that only hand on their operands, or what a function returns."""


def take_parts(
    carrier: StableHLOCarrier, pair: SSAValue, which: Sequence[int] = (0, 1)
) -> list[SSAValue]:
    """The tensors of the first and of the second parts of pairs."""
    *shape, _ = value_shape(pair)
    rank, element = len(shape), element_type(pair)
    first = carrier.make_one(
        "transpose",
        [pair],
        TensorType(element, [2, *shape]),
        permutation=i64_array([rank, *range(rank)]),
    )
    parts: list[SSAValue] = []
    for place in which:
        cut = carrier.slice(
            first,
            TensorType(element, [1, *shape]),
            [place] + [0] * rank,
            [place + 1, *shape],
        )
        parts.append(carrier.make_one("reshape", [cut], TensorType(element, shape)))
    return parts


def join_parts(carrier: StableHLOCarrier, first: SSAValue, second: SSAValue) -> SSAValue:
    """Pairs of two tensors."""
    shape, element = value_shape(first), element_type(first)
    rank = len(shape)
    type_ = TensorType(element, [1, *shape])
    parts = [carrier.make_one("reshape", [each], type_) for each in (first, second)]
    both = TensorType(element, [2, *shape])
    joined = carrier.make_one("concatenate", parts, both, dimension=IntegerAttr(0, i64))
    return carrier.make_one(
        "transpose",
        [joined],
        TensorType(element, [*shape, 2]),
        permutation=i64_array([*range(1, rank + 1), 0]),
    )


class PairConversion:
    """Stores numbers of an element type as pairs, everywhere in a module.

    `part_of` is the element type of the parts of an element type, None for what is no pair. An
    operation on such numbers that has no rule is refused unless `widen` and `narrow` make numbers
    of pairs and pairs of numbers; then it computes with the numbers themselves.
    """

    def __init__(
        self,
        part_of: Callable[[Attribute], Attribute | None],
        rules: Mapping[str, Rule],
        *,
        widen: Callable[[StableHLOCarrier, SSAValue], SSAValue] | None = None,
        narrow: Callable[[StableHLOCarrier, SSAValue], SSAValue] | None = None,
        refusal: str = "",
    ) -> None:
        """Say how numbers are stored; `refusal` is said of operations that have no rule."""
        self._part_of = part_of
        self._rules = {**MOVES, **rules}
        self._widen, self._narrow, self._refusal = widen, narrow, refusal
        self._pairs: dict[SSAValue, SSAValue] = {}
        self._narrowed: dict[SSAValue, SSAValue] = {}
        self._widened: dict[SSAValue, SSAValue] = {}
        self._done: list[Operation] = []

    def convert(self, module: ModuleOp) -> None:
        """Convert all functions of a module."""
        for function in module.walk():
            if isinstance(function, FuncOp):
                self._convert_function(function)
        for op in reversed(self._done):
            erase(op)

    # -- for rules -----------------------------------------------------------------------------

    def pair_type(self, type_: Attribute) -> Attribute:
        """The type of pairs, for a type of numbers stored as pairs; others stay."""
        if not isinstance(type_, TensorType):
            return type_
        tensor = cast("TensorType[Attribute]", type_)
        part = self._part_of(tensor.element_type)
        return tensor if part is None else tensor_of(part, [*tensor.get_shape(), 2])

    def is_pair(self, type_: Attribute) -> bool:
        """Whether tensors of a type are stored as pairs."""
        return self.pair_type(type_) is not type_

    def operands(self, op: Operation) -> list[SSAValue]:
        """The operands of an operation, as pairs where they are stored as pairs."""
        return [self.pair(each, op) for each in op.operands]

    def pair(self, value: SSAValue, user: Operation) -> SSAValue:
        """The pairs that a value is stored as; other values as they are."""
        if value in self._pairs:
            return self._pairs[value]
        if not self.is_pair(value.type):
            return value
        if value not in self._narrowed:
            assert self._narrow is not None, "without it, all numbers are pairs"
            self._narrowed[value] = self._narrow(_after(value, user.location), value)
        return self._narrowed[value]

    # -- the module ----------------------------------------------------------------------------

    def _convert_function(self, function: FuncOp) -> None:
        types = function.function_type
        inputs = [self.pair_type(each) for each in types.inputs.data]
        outputs = [self.pair_type(each) for each in types.outputs.data]
        function.function_type = FunctionType.from_lists(inputs, outputs)
        for argument in function.body.blocks[0].args if function.body.blocks else ():
            if self.is_pair(argument.type):
                retype(argument, self.pair_type(argument.type))
                self._pairs[argument] = argument
        for block in function.body.blocks:
            self._convert_block(block)

    def _convert_block(self, block: Block) -> None:
        for op in tuple(block.ops):
            self._convert_operation(op)
            if op.name in _NESTING and op.parent is not None:
                for region in op.regions:
                    for inner in region.blocks:
                        self._convert_block(inner)

    def _convert_operation(self, op: Operation) -> None:
        values = (*op.operands, *op.results)
        if not any(each in self._pairs or self.is_pair(each.type) for each in values):
            return
        rule = self._rules.get(op.name)
        converted = None if rule is None else rule(self, op)
        if converted is None:
            self._keep(op)
            return
        for result, value in zip(op.results, converted, strict=True):
            if self.is_pair(result.type):
                self._pairs[result] = value
            else:
                result.replace_all_uses_with(value)
        self._done.append(op)

    def _keep(self, op: Operation) -> None:
        """Let an operation compute with the numbers."""
        for place, value in enumerate(op.operands):
            if value not in self._pairs:
                continue
            if value not in self._widened:
                if self._widen is None:
                    refuse_to_legalize(op, self._refusal)
                pair = self._pairs[value]
                self._widened[value] = self._widen(_after(pair, location_of(value)), pair)
            op.operands[place] = self._widened[value]
        if self._widen is None:
            refuse_to_legalize(op, self._refusal)


def _after(value: SSAValue, location: LocationAttr | None) -> StableHLOCarrier:
    """Insert directly behind a value."""
    owner = value.owner
    block = owner if isinstance(owner, Block) else owner.parent
    assert block is not None, "values are in blocks"
    following = owner.first_op if isinstance(owner, Block) else owner.next_op
    return StableHLOCarrier(block, location, before=following)


# -- what moves elements -----------------------------------------------------------------------


def like(
    conversion: PairConversion,
    op: Operation,
    operands: Sequence[SSAValue] | None = None,
    properties: Mapping[str, Attribute] | None = None,
) -> Sequence[SSAValue]:
    """The same operation on pairs, but for some properties."""
    clone = type(op).create(
        operands=conversion.operands(op) if operands is None else operands,
        result_types=[conversion.pair_type(each.type) for each in op.results],
        properties={**op.properties, **(properties or {})},
        attributes=op.attributes,
        regions=[region.clone() for region in op.regions],
        location=op.location,
    )
    insert_before(op, clone)
    return clone.results


def _hand_on(conversion: PairConversion, op: Operation) -> Converted:
    return like(conversion, op)


def _with_last(name: str) -> Rule:
    """A rule that appends the last dimension of the result to a list of dimensions."""

    def rule(conversion: PairConversion, op: Operation) -> Converted:
        dims = i64_array([*integers(op, name), len(value_shape(op.results[0]))])
        return like(conversion, op, properties={name: dims})

    return rule


def _slice(conversion: PairConversion, op: Operation) -> Converted:
    ends = {"start_indices": 0, "limit_indices": 2, "strides": 1}
    more: dict[str, Attribute] = {
        name: i64_array([*integers(op, name), end]) for name, end in ends.items()
    }
    return like(conversion, op, properties=more)


def _select(conversion: PairConversion, op: Operation) -> Converted:
    predicate, *values = conversion.operands(op)
    shape = value_shape(predicate)
    if shape:
        carrier = StableHLOCarrier.before(op)
        whole = (*shape, 2)
        predicate = carrier.make_one(
            "broadcast_in_dim",
            [predicate],
            TensorType(i1, whole),
            broadcast_dimensions=i64_array(range(len(shape))),
        )
    return like(conversion, op, [predicate, *values])


def _constant(conversion: PairConversion, op: Operation) -> Converted:
    """The bytes of a number are those of its parts."""
    value = cast("Elements", op.properties["value"])
    type_ = cast("ElementsType", conversion.pair_type(op.results[0].type))
    shape = shape_of(type_)
    data, carrier = splat_bytes(value), StableHLOCarrier.before(op)
    if data is None:
        return [
            carrier.make_one("constant", (), type_, value=elements_attr(type_, raw_bytes(value)))
        ]
    count = math.prod(shape[:-1])
    if count <= _SPLAT_LIMIT:
        return [carrier.make_one("constant", (), type_, value=elements_attr(type_, data * count))]
    one = cast("ElementsType", TensorType(type_.get_element_type(), [2]))
    pair = carrier.make_one("constant", (), one, value=elements_attr(one, data))
    return [carrier.broadcast(pair, shape)]


def gather_pairs(conversion: PairConversion, op: Operation) -> Converted:
    """A gather whose slices have the parts, too."""
    numbers = cast("GatherDimensionNumbersAttr", op.properties["dimension_numbers"])
    fields = {each.name: value for each, value in zip(numbers.fields(), numbers.data, strict=True)}
    rank = len(value_shape(op.results[0]))
    offsets = cast("Sequence[int]", fields["offset_dims"])
    fields["offset_dims"] = (*offsets, rank)
    properties: dict[str, Attribute] = {
        "dimension_numbers": GatherDimensionNumbersAttr.of(**fields),
        "slice_sizes": i64_array([*integers(op, "slice_sizes"), 2]),
    }
    return like(conversion, op, properties=properties)


MOVES: Mapping[str, Rule] = {
    **dict.fromkeys(_HANDING_ON, _hand_on),
    "stablehlo.broadcast_in_dim": _with_last("broadcast_dimensions"),
    "stablehlo.concatenate": _hand_on,
    "stablehlo.constant": _constant,
    "stablehlo.reshape": _hand_on,
    "stablehlo.select": _select,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _with_last("permutation"),
}
"""What becomes of operations that move elements."""
