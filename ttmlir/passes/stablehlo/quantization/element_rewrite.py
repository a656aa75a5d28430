"""Tensors of elements that the device lacks, as tensors of elements that it has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar, cast

from xdsl.dialects.builtin import FunctionType, TensorType

from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import insert_before, replace
from ttmlir.ir.tensor_types import shape_of, tensor_of
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.stablehlo.stablehlo_bodies import combiners

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Block, Operation, SSAValue


class NarrowElement(Protocol):
    """An element type, how it is stored, and in which type it is computed with."""

    stored: Attribute
    computed: Attribute

    @property
    def key(self) -> object:
        """Equal for tensors between which stored elements can be moved."""
        ...

    def widen(self, build: Builder, value: SSAValue) -> SSAValue:
        """Stored elements in the type to compute in."""
        ...

    def narrow(self, build: Builder, value: SSAValue) -> SSAValue:
        """What was computed, as it is stored."""
        ...


ElementT = TypeVar("ElementT", bound=NarrowElement)


class ElementRewrite(Generic[ElementT]):
    """Operations that move elements, or choose among them, do it with what is stored.

    Others compute in the wider type. Values keep their types until all operations are rewritten.
    """

    def __init__(self) -> None:
        """Nothing is rewritten yet."""
        self._elements: dict[SSAValue, ElementT] = {}

    def element_of(self, type_: Attribute) -> ElementT | None:
        """What becomes of an element type; None if it stays."""
        raise NotImplementedError

    def rewrite(self, op: Operation) -> None:
        """Rewrite an operation that does more than move elements."""
        self.compute(op)

    def apply(self, module: ModuleOp) -> None:
        """Rewrite what computes, then give all other values their storage types."""
        for op in module.ops:
            for region in op.regions:
                for block in region.blocks:
                    self._visit(block)
        for op in module.walk():
            self.store(op)

    def _visit(self, block: Block) -> None:
        for op in block.ops:
            if op.name in _CONTROL or op.name.startswith("func."):
                for region in op.regions:
                    for inner in region.blocks:
                        self._visit(inner)
            elif op.name != "stablehlo.constant" and any(
                map(self.element, (*op.operands, *op.results))
            ):
                self.check(op)
                if not self._moves(op):
                    self.rewrite(op)

    def check(self, op: Operation) -> None:
        """Refuse an operation whose types are wrong."""

    def element(self, value: SSAValue) -> ElementT | None:
        """What is stored for the elements of a tensor; None for other values."""
        known = self._elements.get(value)
        return self._element_in(value.type) if known is None else known

    def _element_in(self, type_: Attribute) -> ElementT | None:
        if not isinstance(type_, TensorType):
            return None
        return self.element_of(cast("TensorType[Attribute]", type_).element_type)

    def _moves(self, op: Operation) -> bool:
        """True if the operation does with stored elements what it does with what they are."""
        found = [self.element(value) for value in (*op.operands, *op.results)]
        keys = {each.key for each in found if each is not None}
        if len(keys) != 1:
            return False
        if op.name in _REDUCTIONS:
            rows = combiners(op.regions[0]) or ()
            return bool(rows) and all(row.mnemonic in ("maximum", "minimum") for row in rows)
        return op.name in (*_MOVES, *_KEEPS_ORDER, "ttir.mesh_shard")

    def replace(self, op: Operation, values: Iterable[SSAValue]) -> None:
        """Replace results; what new values are stored for is remembered."""
        new = list(values)
        for result, value in zip(op.results, new, strict=True):
            if (element := self._element_in(result.type)) is not None:
                self._elements[value] = element
        replace(op, *new)

    def widen(self, build: Builder, value: SSAValue) -> SSAValue:
        """An operand as operations compute with it."""
        element = self.element(value)
        return value if element is None else element.widen(build, value)

    def narrow(self, build: Builder, value: SSAValue, result: SSAValue) -> SSAValue:
        """What was computed for a result, as it is stored."""
        element = self._element_in(result.type)
        return value if element is None else element.narrow(build, value)

    def compute(self, op: Operation) -> None:
        """Compute in the wider types, then narrow the results."""
        build = Builder.before(op)
        self.compute_from(op, [self.widen(build, value) for value in op.operands])

    def compute_from(self, op: Operation, operands: list[SSAValue]) -> None:
        """Compute with these operands, then narrow the results."""
        clone = op.clone()
        clone.operands = operands
        clone.location = op.location
        for inner in clone.walk():
            for value in _values(inner):
                element = self._element_in(value.type)
                if element is not None:
                    retype(value, tensor_of(element.computed, shape_of(value.type)))
        insert_before(op, clone)
        build = Builder.before(op)
        pairs = zip(clone.results, op.results, strict=True)
        self.replace(op, [self.narrow(build, value, result) for value, result in pairs])

    def store(self, op: Operation) -> None:
        """Give the values and the signature of an operation their storage types."""
        for value in _values(op):
            retype(value, self._stored(value.type))
        type_ = op.properties.get("function_type")
        if isinstance(type_, FunctionType):
            op.properties["function_type"] = FunctionType.from_lists(
                [self._stored(each) for each in type_.inputs],
                [self._stored(each) for each in type_.outputs],
            )

    def _stored(self, type_: Attribute) -> Attribute:
        element = self._element_in(type_)
        return type_ if element is None else tensor_of(element.stored, shape_of(type_))


def _values(op: Operation) -> list[SSAValue]:
    """The results of an operation and the arguments of its blocks."""
    return [*op.results, *(arg for r in op.regions for b in r.blocks for arg in b.args)]


_CONTROL = (
    *("sdy.manual_computation", "sdy.return"),
    *("stablehlo.case", "stablehlo.if", "stablehlo.return", "stablehlo.while"),
)
_MOVES = tuple(
    f"stablehlo.{name}"
    for name in (
        *("all_gather", "all_to_all", "collective_broadcast", "collective_permute"),
        *("broadcast", "broadcast_in_dim", "concatenate", "dynamic_broadcast_in_dim"),
        *("dynamic_gather", "dynamic_pad", "dynamic_reshape", "dynamic_slice"),
        *("dynamic_update_slice", "gather", "optimization_barrier", "pad", "real_dynamic_slice"),
        *("reshape", "reverse", "select", "slice", "transpose"),
    )
)
_KEEPS_ORDER = ("stablehlo.clamp", "stablehlo.maximum", "stablehlo.minimum")
_REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window")
