"""Decompose tuples, and remove tokens: functions, loops and calls hand on tensors alone.

A tuple becomes its parts, those of the tuples in it too. On one device operations run in the order
of the program, without tokens; one that is started asynchronously is computed where it is started.

Before:

    func.func @halves(%pair: tuple<tensor<33x70xf32>, tensor<33xi32>>, %start: !stablehlo.token)
        -> (tuple<tensor<33x70xf32>, tensor<33x70xf32>>, !stablehlo.token) {
      %0 = stablehlo.get_tuple_element %pair[0]
          : (tuple<tensor<33x70xf32>, tensor<33xi32>>) -> tensor<33x70xf32>
      %1 = stablehlo.negate %0 : tensor<33x70xf32>
      %2 = stablehlo.tuple %0, %1 : tuple<tensor<33x70xf32>, tensor<33x70xf32>>
      %3 = stablehlo.after_all %start : !stablehlo.token
      return %2, %3 : tuple<tensor<33x70xf32>, tensor<33x70xf32>>, !stablehlo.token
    }

After:

    module {
      func.func @halves(%arg0: tensor<33x70xf32>, %arg1: tensor<33xi32>)
          -> (tensor<33x70xf32>, tensor<33x70xf32>) {
        %0 = stablehlo.negate %arg0 : tensor<33x70xf32>
        return %arg0, %0 : tensor<33x70xf32>, tensor<33x70xf32>
      }
    }

Requires: nothing.
Ensures: no value is a tuple, a token or a future.
Options: none.
Not done here: what sends to or waits for another program in the middle of a run (`infeed`,
`outfeed`, `send` and `recv`) is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, TupleType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ttmlir.dialects.stablehlo.constraints import FutureType, TokenType
from ttmlir.dialects.stablehlo.form import integer
from ttmlir.ir.rewriting import erase, insert_before
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import REFUSED, WITH_HOST

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

Parts = SSAValue | tuple["Parts", ...]
"""A value, or the parts of a tuple; a token has none."""

_TUPLE = "stablehlo.tuple"
_ELEMENT = "stablehlo.get_tuple_element"
_TOKENS = ("stablehlo.create_token", "stablehlo.after_all")
_START = "stablehlo.async_start"
_DONE = "stablehlo.async_done"
GONE = (_TUPLE, _ELEMENT, *_TOKENS, _START, _DONE)
"""Operations of which nothing is left."""
_LAYOUTS = ("operand_layouts", "result_layouts", "output_operand_aliases")
"""Properties of calls that count operands and results, and say only where these are stored."""


@dataclass(frozen=True)
class StableHLOFlattenTuplePass(ModulePass):
    """Decompose tuples, and remove tokens."""

    name = "stablehlo-flatten-tuple"
    title = "StableHLOFlattenTuple"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Flatten all functions."""
        for op in tuple(module.ops):
            if any(_is_flattened(inner) for inner in op.walk()):
                _Flattening().flatten_inside(op)


def flat_types(types: Iterable[Attribute]) -> list[Attribute]:
    """The types of the tensors that values hold."""
    found: list[Attribute] = []
    for type_ in types:
        if (parts := _types_in(type_)) is not None:
            found += flat_types(parts)
        elif not isinstance(type_, TokenType):
            found.append(type_)
    return found


def _types_in(type_: Attribute) -> Sequence[Attribute] | None:
    """The types of the parts of a tuple or a future; None for other types."""
    if isinstance(type_, TupleType):
        return type_.types.data
    return type_.types.data if isinstance(type_, FutureType) else None


def _is_held(type_: Attribute) -> bool:
    return isinstance(type_, (FutureType, TupleType, TokenType))


def _is_flattened(op: Operation) -> bool:
    """True if an operation has tuples or tokens as operands, results, or in its signature."""
    types = [value.type for value in (*op.operands, *op.results)]
    types += (arg.type for region in op.regions for block in region.blocks for arg in block.args)
    if isinstance(op, FuncOp):
        types += (*op.function_type.inputs.data, *op.function_type.outputs.data)
    return any(map(_is_held, types))


class _Flattening:
    """What the tuples and tokens of a function consist of."""

    def __init__(self) -> None:
        self._parts: dict[SSAValue, Parts] = {}

    def flatten_inside(self, op: Operation) -> None:
        """Flatten the arguments of the regions of an operation, then what these contain."""
        for region in op.regions:
            for block in region.blocks:
                self._flatten_block(block)
        if isinstance(op, FuncOp):
            _flatten_signature(op)

    def _flatten_block(self, block: Block) -> None:
        held = [argument for argument in block.args if _is_held(argument.type)]
        for argument in held:
            types = flat_types([argument.type])
            position = argument.index
            new = [block.insert_arg(type_, position + n) for n, type_ in enumerate(types)]
            self._parts[argument] = _assembled(argument.type, iter(new))
        gone = [op for op in tuple(block.ops) if self._is_gone(op)]
        for op in reversed(gone):
            erase(op)
        for argument in held:
            block.erase_arg(argument)

    def _is_gone(self, op: Operation) -> bool:
        """Flatten one operation; True if it is to be erased when its users are."""
        if op.name == _TUPLE:
            self._parts[op.results[0]] = tuple(map(self._parts_of, op.operands))
        elif op.name == _ELEMENT:
            parts = self._parts_of(op.operands[0])
            assert isinstance(parts, tuple), "verified: it is a tuple"
            self._stand_for(op.results[0], parts[integer(op, "index")])
        elif op.name in _TOKENS:
            self._parts[op.results[0]] = ()
        elif op.name == _START:
            self._start(op)
        elif op.name == _DONE:
            parts = self._parts_of(op.operands[0])
            assert isinstance(parts, tuple), "verified: it is a future"
            for result, part in zip(op.results, parts, strict=True):
                self._stand_for(result, part)
        elif _is_flattened(op):
            self._rebuild(op)
        else:
            self.flatten_inside(op)
            return False
        return True

    def _start(self, op: Operation) -> None:
        """Compute what is started in front of it."""
        block = op.regions[0].block
        for argument, operand in zip(block.args, op.operands, strict=True):
            self._stand_for(argument, self._parts_of(operand))
        gone: list[Operation] = []
        for inner in tuple(block.ops):
            if inner.name == "stablehlo.return":
                self._parts[op.results[0]] = tuple(map(self._parts_of, inner.operands))
                break
            inner.detach()
            insert_before(op, inner)
            if self._is_gone(inner):
                gone.append(inner)
        for inner in reversed(gone):
            erase(inner)

    def _rebuild(self, op: Operation) -> None:
        """Make an operation again that takes and gives the parts."""
        if op.name in WITH_HOST:
            REFUSED[op.name](op)
        operands = [part for value in op.operands for part in _leaves(self._parts_of(value))]
        properties = {name: of for name, of in op.properties.items() if name not in _LAYOUTS}
        new = type(op).create(
            operands=operands,
            result_types=flat_types(result.type for result in op.results),
            properties=properties,
            attributes=op.attributes,
            regions=[op.detach_region(region) for region in tuple(op.regions)],
            location=op.location,
        )
        insert_before(op, new)
        results = iter(new.results)
        for result in op.results:
            self._stand_for(result, _assembled(result.type, results))
        self.flatten_inside(new)

    def _stand_for(self, value: SSAValue, parts: Parts) -> None:
        if isinstance(parts, SSAValue):
            value.replace_all_uses_with(parts)
        else:
            self._parts[value] = parts

    def _parts_of(self, value: SSAValue) -> Parts:
        return self._parts.get(value, value)


def _assembled(type_: Attribute, tensors: Iterator[SSAValue]) -> Parts:
    """The parts of a value of a type, of which `tensors` are the next ones."""
    if (types := _types_in(type_)) is not None:
        return tuple(_assembled(part, tensors) for part in types)
    return () if isinstance(type_, TokenType) else next(tensors)


def _leaves(parts: Parts) -> Iterator[SSAValue]:
    if isinstance(parts, SSAValue):
        yield parts
    else:
        for part in parts:
            yield from _leaves(part)


def _flatten_signature(function: FuncOp) -> None:
    """Bring the type of a function, and what it says of each argument and result, to the parts."""
    type_ = function.function_type
    sides = {"arg_attrs": type_.inputs.data, "res_attrs": type_.outputs.data}
    for name, types in sides.items():
        attrs = function.properties.get(name)
        if isinstance(attrs, ArrayAttr):
            pairs = zip(types, cast("ArrayAttr[Attribute]", attrs).data, strict=True)
            kept = [
                said if _types_in(type_) is None else DictionaryAttr({})
                for type_, said in pairs
                for _ in flat_types([type_])
            ]
            function.properties[name] = ArrayAttr(kept)
    inputs, outputs = (flat_types(types) for types in sides.values())
    function.properties["function_type"] = FunctionType.from_lists(inputs, outputs)
