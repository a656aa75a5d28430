"""Keep integers of 2 and 4 bits and floating point numbers of 8 bits and fewer in wider types.

i2 and i4 become i8, ui2 and ui4 become ui8, and results of arithmetic are wrapped to their bits.
Small floating point numbers become bf16, which holds all of them; arithmetic is done in f32, and
its results are rounded to the format. Arguments and results become the wider types.

Before:

    func.func @double(%x: tensor<33x70xi4>) -> tensor<33x70xi4> {
      %0 = stablehlo.add %x, %x : tensor<33x70xi4>
      return %0 : tensor<33x70xi4>
    }

After:

    ...
      func.func @double(%arg0: tensor<33x70xi8>) -> tensor<33x70xi8> {
        %0 = stablehlo.add %arg0, %arg0 : tensor<33x70xi8>
        ...

Requires: static shapes; calls inlined (`inline`).
Ensures: none of these element types is left.
Options: `spelling` (2024): in which spelling of tt-mlir operations of ttir are written.
Not done here: the bits of such numbers (`bitcast_convert`, `count_leading_zeros`) are refused;
sums over many small floating point numbers are rounded once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import AnyFloat, IntegerType, Signedness, TensorType, bf16, f32

from ttmlir.composites.bits import SMALL_FLOATS, round_to_small_float
from ttmlir.dialects.definition.ods import warn_of_widening
from ttmlir.ir.builder import SPELLING_HELP, Builder, TTIRSpelling, array_in, use_style
from ttmlir.ir.rewriting import refuse_to_legalize
from ttmlir.ir.tensor_types import dtype_of, element_type, limits_of, shape_of
from ttmlir.mlir.attributes import Elements, elements_of, unpack_values
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.stablehlo.quantization.element_rewrite import ElementRewrite

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.mlir.attributes import ElementsType

_BYTE_BITS = 8


@dataclass(frozen=True)
class StableHLOWidenStorageTypesPass(ModulePass):
    """Keep integers of 2 and 4 bits and small floating point numbers in wider types."""

    name = "stablehlo-widen-storage-types"
    title = "StableHLOWidenStorageTypes"
    spelling: TTIRSpelling = option(TTIRSpelling.EARLY, SPELLING_HELP)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Rewrite what computes, then give all other values their wider types."""
        warn_of_widening(module)
        with use_style(self.spelling.for_module(module).style):
            _Widening().apply(module)


class _StoredElement:
    """A narrow type, for `ElementRewrite`."""

    def __init__(self, narrow: Attribute, stored: Attribute, computed: Attribute) -> None:
        self.key = narrow
        self.stored = stored
        self.computed = computed

    def widen(self, build: Builder, value: SSAValue) -> SSAValue:
        """The same numbers in the type to compute in."""
        return value if self.computed == self.stored else build.cast(value, self.computed)

    def narrow(self, build: Builder, value: SSAValue) -> SSAValue:
        """Integers modulo a power of two, others rounded to the format."""
        x = array_in(build, value)
        if self.key.name in SMALL_FLOATS:
            rounded = round_to_small_float(x, SMALL_FLOATS[self.key.name])
            return rounded.cast(dtype_of(self.stored)).value
        integer = cast("IntegerType", self.key)
        width = integer.width.data
        if integer.signedness.data is Signedness.UNSIGNED:
            return (x & (1 << width) - 1).value
        half = 1 << (width - 1)
        # Bits above the sign are those of the sign: (x & 15 ^ 8) - 8 for 4 bits.
        return ((x & 2 * half - 1 ^ half) - half).value


class _Widening(ElementRewrite[_StoredElement]):
    """Narrow tensors as wider ones."""

    def element_of(self, type_: Attribute) -> _StoredElement | None:
        """What becomes of a narrow type."""
        if isinstance(type_, IntegerType):
            integer = cast("IntegerType", type_)
            if 1 < integer.width.data < _BYTE_BITS:
                wide = IntegerType(_BYTE_BITS, integer.signedness.data)
                return _StoredElement(integer, wide, wide)
        if isinstance(type_, AnyFloat) and type_.name in SMALL_FLOATS:
            return _StoredElement(type_, bf16, f32)
        return None

    def check(self, op: Operation) -> None:
        """Refuse what is about the bits of numbers."""
        if op.name in _BITS:
            values = (*op.operands, *op.results)
            found = next(each for value in values if (each := self.element(value)) is not None)
            narrow, stored = (dtype_of(each) for each in (found.key, found.stored))
            refuse_to_legalize(
                op,
                f"the device keeps numbers of {narrow} as {stored}, and has no bits of theirs; "
                f"convert them to {stored} first",
            )

    def rewrite(self, op: Operation) -> None:
        """In the wider type; products take small floating point numbers as they are stored."""
        build = Builder.before(op)
        operands = list(op.operands)
        if op.name not in _PRODUCTS:
            operands = [self.widen(build, value) for value in operands]
        target = self.element(op.results[0])
        if op.name == "stablehlo.convert" and target is not None:
            operands = [self._limit(build, operands[0], target)]
        if op.name == "stablehlo.shift_right_logical" and target is not None:
            width = cast("IntegerType", target.key).width.data
            bits = array_in(build, build.cast(operands[0], target.stored))
            operands[0] = (bits & (1 << width) - 1).value
        self.compute_from(op, operands)

    def _limit(self, build: Builder, value: SSAValue, target: _StoredElement) -> SSAValue:
        """Floating point numbers beyond the range of integers become the nearest limit."""
        is_integer = [isinstance(each, IntegerType) for each in (element_type(value), target.key)]
        if is_integer != [False, True]:
            return value
        low, high = limits_of(target.key)
        return build.create("clamp", (value,), value.type, min=low, max=high)

    def store(self, op: Operation) -> None:
        """Give the values of an operation their wider types, a constant its numbers in it."""
        if op.name == "stablehlo.constant":
            self._store_constant(op)
        super().store(op)

    def _store_constant(self, op: Operation) -> None:
        [result] = op.results
        element = self.element(result)
        if element is None:
            return
        value = cast("Elements", op.properties["value"])
        numbers = [*unpack_values(value.data.data, value.get_element_type())]
        type_ = cast("ElementsType", TensorType(element.stored, shape_of(result.type)))
        op.properties["value"] = elements_of(type_, numbers)


_PRODUCTS = tuple(f"stablehlo.{name}" for name in ("convolution", "dot", "dot_general"))
_BITS = tuple(f"stablehlo.{name}" for name in ("bitcast_convert", "count_leading_zeros", "popcnt"))
