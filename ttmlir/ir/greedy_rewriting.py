"""Rewriting until no rule applies, in the order of MLIR's greedy driver.

The order in which operations are visited decides which of several rules is applied, and where
constants end up. `ttmlir.ir.rewriting.rewrite_greedily` is for passes to which that is the same.

    def _twice(op: Operation, rewriter: GreedyRewriter) -> bool:
        inner = op.operands[0].owner
        if not isinstance(inner, Operation) or inner.name != "ttir.neg":
            return False
        rewriter.replace(op, inner.operands[0])
        return True

    GreedyRewriter({"ttir.neg": (_twice,)}).run(module)

A rule changes the IR through the rewriter alone, and says whether it did.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import UNKNOWN_LOC, DenseIntOrFPElementsAttr, IntegerType, Signedness
from xdsl.traits import IsolatedFromAbove

from ttmlir.dialects.definition.ods import KeepsConstants
from ttmlir.ir.builder import Builder, OpT, Spelling, use_style
from ttmlir.mlir.attributes import Elements, ElementsType, elements_of
from ttmlir.mlir.core_prefix import note_late_form

if TYPE_CHECKING:
    from xdsl.dialects.builtin import FloatAttr, IntegerAttr, LocationAttr
    from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

Rule = Callable[["Operation", "GreedyRewriter"], bool]
"""Rewrites an operation, if it applies; true if it did."""
Fold = Callable[["Operation"], "SSAValue | Attribute | None"]
"""What the result of an operation is: another value, or the attribute of a constant."""

EFFECTS = frozenset(
    (
        *("ttir.paged_update_cache", "ttir.paged_fill_cache", "ttir.fill_cache"),
        *("ttir.update_cache", "ttir.cpu_hoisted_call"),
    )
)
"""Operations that do more than give results."""


def may_vanish(op: Operation) -> bool:
    """True for an operation of ttir, ttnn or ttcore that is nothing but its results."""
    return (
        bool(op.results)
        and op.name.startswith(("ttir.", "ttnn.", "ttcore.load_cached"))
        and op.name not in EFFECTS
    )


CONSTANTS = frozenset(("ttir.constant", "ttir.full", "ttir.zeros", "ttir.ones"))
"""Operations whose results are known."""


def constant_value(op: Operation) -> Attribute | None:
    """The elements of the result of a constant, however it says them; None for others."""
    if op.name not in CONSTANTS:
        return None
    if op.name == "ttir.constant":
        return op.properties["value"]
    type_ = cast("ElementsType", op.results[0].type)
    if op.name == "ttir.full":
        number = cast("FloatAttr | IntegerAttr", op.properties["fill_value"]).value.data
    else:
        number = int(op.name == "ttir.ones")
    element = type_.get_element_type()
    if not isinstance(element, IntegerType):
        return elements_of(type_, [float(number)])
    if number < 0 and element.signedness.data is Signedness.UNSIGNED:
        # Numbers of 32 bits are written as those with sign of the same bits.
        number %= 2**element.width.data
    return elements_of(type_, [int(number)])


def materialize(build: Builder, value: Attribute, type_: Attribute) -> SSAValue:
    """A constant of these elements, in the shortest of the forms."""
    from ttmlir.ir.constants import needs_64_bits, number_of_elements

    is_tensor = isinstance(value, DenseIntOrFPElementsAttr)
    elements = cast("Elements", value)
    number = number_of_elements(elements) if is_tensor else None
    shape = elements.get_shape()
    if number is None or 0 in shape or needs_64_bits(number, elements.get_element_type()):
        return build.create_constant(elements, type_)
    if number == 0 and math.copysign(1, number) > 0:
        return build.create("zeros", (), type_, shape=shape)
    if number == 1:
        return build.create("ones", (), type_, shape=shape)
    return build.create("full", (), type_, shape=shape, fill_value=number)


class GreedyRewriter:
    """Applies rules to the operations inside another until none applies."""

    def __init__(
        self,
        rules: Mapping[str, Sequence[Rule]],
        *,
        fold: Fold | None = None,
        top_down: bool = False,
        unites_constants: bool = True,
    ) -> None:
        """Rules by the name of their operation, in the order in which they are tried.

        Constants go to the top of their function, equal ones once, unless `unites_constants` is
        false. Operations are visited from the last to the first, or `top_down`.
        """
        self._rules = rules
        self._fold = fold
        self._top_down = top_down
        self._unites_constants = unites_constants
        self._waiting: dict[Operation, None] = {}
        self._owned: dict[Operation, tuple[object, ...]] = {}
        self._constants: dict[tuple[object, ...], Operation] = {}

    # -- what rules do -------------------------------------------------------------------------

    def builder(self, op: Operation, location: LocationAttr | None = None) -> Builder:
        """Creates operations before another, which are visited, too."""
        return _NotifyingBuilder(self, op, location)

    def replace(self, op: Operation, *values: SSAValue) -> None:
        """Let `values` stand for the results, and erase the operation."""
        for result, value in zip(op.results, values, strict=True):
            self.replace_uses(result, value)
        self.erase(op)

    def replace_uses(self, old: SSAValue, new: SSAValue) -> None:
        """Let all users of a value take another."""
        for use in tuple(old.uses):
            use.operation.operands[use.index] = new
            self.add(use.operation)

    def set_operand(self, op: Operation, index: int, value: SSAValue) -> None:
        """Let an operation take another value."""
        op.operands[index] = value
        self.add(op)

    def erase(self, op: Operation) -> None:
        """Take an operation without users out."""
        for operand in op.operands:
            maker = operand.owner
            others = {use.operation for use in operand.uses} - {op}
            if not _is_block(maker) and len(others) <= 1:
                self.add(cast("Operation", maker))
        self._waiting.pop(op, None)
        key = self._owned.pop(op, None)
        if key is not None:
            del self._constants[key]
        op.detach()
        op.drop_all_references()

    def add(self, op: Operation) -> None:
        """Visit an operation, unless it is going to be visited."""
        self._waiting.setdefault(op)

    # -- the driver ----------------------------------------------------------------------------

    def run(self, root: Operation) -> bool:
        """Rewrite everything inside `root`; true if anything changed."""
        with use_style(Spelling.LATE.style):
            return self._run(root)

    def _run(self, root: Operation) -> bool:
        note_late_form()
        changed = False
        while True:
            self._waiting.clear()
            for op in tuple(root.walk(region_first=not self._top_down)):
                if op is root or op.parent is None:
                    continue
                value = constant_value(op) if self._unites_constants else None
                if value is None or self._own(op, value):
                    self.add(op)
            if self._top_down:
                self._waiting = dict.fromkeys(reversed(self._waiting))
            if not self._process():
                return changed
            changed = True

    def _process(self) -> bool:
        changed = False
        while self._waiting:
            op, _ = self._waiting.popitem()
            if op.parent is None:
                continue
            changed |= self._visit(op)
        return changed

    def _visit(self, op: Operation) -> bool:
        if may_vanish(op) and all(result.first_use is None for result in op.results):
            self.erase(op)
            return True
        if self._fold is not None and op.name not in CONSTANTS:
            found = self._fold(op)
            if found is not None:
                self._replace_by(op, found)
                return True
        # A rule may erase the operation even where it is the last one to apply.
        return any(rule(op, self) for rule in self._rules.get(op.name, ()))

    def _replace_by(self, op: Operation, found: SSAValue | Attribute) -> None:
        from xdsl.ir import SSAValue

        if not isinstance(found, SSAValue):
            found = materialize(self.builder(op), found, op.results[0].type)
        self.replace(op, found)

    # -- constants -----------------------------------------------------------------------------

    def _own(self, op: Operation, value: Attribute) -> bool:
        """Bring a constant to the top; false if there is an equal one, which takes its place."""
        block = op.parent
        assert block is not None, "only operations in a block are visited"
        region = _isolated_region(block)
        top = region.blocks[0]
        if op in self._owned:
            self._raise_to(top, op)
            return True
        key = (region, value, op.results[0].type)
        known = self._constants.get(key)
        if known is not None:
            self.replace(op, *known.results)
            known.location = UNKNOWN_LOC
            return False
        self._raise_to(top, op)
        self._owned[op], self._constants[key] = key, op
        return True

    def _raise_to(self, top: Block, op: Operation) -> None:
        first = top.first_op
        assert first is not None, "the block holds operations"
        if op.parent is top and (first is op or op.prev_op in self._owned):
            return
        op.detach()
        top.insert_op_before(op, first)


def _is_block(owner: Operation | Block) -> bool:
    from xdsl.ir import Block

    return isinstance(owner, Block)


def _holds_constants(op: Operation) -> bool:
    """True for an operation whose regions have the constants that they use."""
    return op.has_trait(IsolatedFromAbove) or op.has_trait(KeepsConstants)


def _isolated_region(block: Block) -> Region:
    """The region around a block that keeps its constants."""
    region = block.parent
    assert region is not None, "blocks are in regions"
    holder = region.parent
    while holder is not None and not _holds_constants(holder):
        outer = holder.parent_region()
        if outer is None:
            break
        region, holder = outer, outer.parent
    return region


class _NotifyingBuilder(Builder):
    """Creates operations before another, and lets the driver visit them."""

    def __init__(
        self, rewriter: GreedyRewriter, op: Operation, location: LocationAttr | None
    ) -> None:
        block = op.parent
        assert block is not None, "only operations in a block have neighbours"
        super().__init__(block, op.location if location is None else location, before=op)
        self._rewriter = rewriter

    def insert(self, op: OpT) -> OpT:
        """Put an operation there, and return it."""
        new = super().insert(op)
        self._rewriter.add(new)
        return new


def collect_rules(
    modules: Sequence[str], named: Mapping[str, str] | None = None
) -> dict[str, tuple[Rule, ...]]:
    """The rules of several modules, each of which has some by the name of the operation.

    They are the module's `RULES`, or have the name that is given for it.
    """
    from importlib import import_module

    found: dict[str, tuple[Rule, ...]] = {}
    for module in modules:
        table = getattr(import_module(module), (named or {}).get(module, "RULES"))
        for name, rules in table.items():
            found[name] = (*found.get(name, ()), *rules)
    return found
