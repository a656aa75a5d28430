"""Edits of the IR that several passes share, made for speed: no pattern driver, no copies.

Types are remembered by the identity of the attribute they are computed from: comparing or hashing
a layout costs more than all else a pass does to an operation.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Generic, NoReturn, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    UNKNOWN_LOC,
    ArrayAttr,
    DictionaryAttr,
    LocationAttr,
    StringAttr,
    SymbolRefAttr,
)
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)
from xdsl.traits import ConstantLike, IsolatedFromAbove, IsTerminator, NoMemoryEffect, SymbolTable

from ttmlir.dialects.definition.ods import KeepsConstants

# --- Pattern rewriting ----------------------------------------------------------------------------
# Greedy pattern rewriting that keeps locations.


class _KeepLocations(RewritePattern):
    """Applies patterns and gives what they insert the location of the matched operation."""

    def __init__(self, inner: RewritePattern):
        self._inner = inner
        self._location: LocationAttr = UNKNOWN_LOC

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter, /) -> None:
        self._location = op.location
        self._inner.match_and_rewrite(op, rewriter)

    def located(self, op: Operation) -> None:
        for nested in op.walk() if op.regions else (op,):
            if nested.location is UNKNOWN_LOC:
                nested.location = self._location


def rewrite_greedily(
    root: Operation,
    patterns: Sequence[RewritePattern],
    *,
    context: Context | None = None,
    after_walk: Callable[[Region, PatternRewriterListener], bool] | None = None,
) -> bool:
    """Apply patterns inside `root` until none applies; true if anything changed.

    An operation inserted without a location gets that of the operation its pattern matched. With a
    `context`, operations are folded too. `after_walk` runs after each walk and says whether it
    changed anything.
    """
    applier = GreedyRewritePatternApplier(
        list(patterns), ctx=context, folding_enabled=context is not None
    )
    keeper = _KeepLocations(applier)
    walker = PatternRewriteWalker(
        keeper,
        post_walk_func=after_walk,
        listener=PatternRewriterListener(operation_insertion_handler=[keeper.located]),
    )
    changed = False
    for region in root.regions:
        changed |= walker.rewrite_region(region)
    return changed


# --- Symbols --------------------------------------------------------------------------------------
# Symbols: operations with a name that others refer to, and the references.

SymbolPath = tuple[str, ...]
"""The parts of a reference: `@module::@function` is `("module", "function")`."""


def symbol_name(op: Operation) -> str | None:
    """The name that an operation defines; None if it defines none."""
    name = op.properties.get("sym_name") or op.attributes.get("sym_name")
    return name.data if isinstance(name, StringAttr) else None


def symbol_visibility(op: Operation) -> str:
    """`public`, `private` or `nested`; public if nothing is said."""
    visibility = op.properties.get("sym_visibility") or op.attributes.get("sym_visibility")
    return visibility.data if isinstance(visibility, StringAttr) else "public"


def is_symbol_table(op: Operation) -> bool:
    """True if the names defined directly inside `op` are looked up in it."""
    return op.has_trait(SymbolTable, value_if_unregistered=False)


def symbols_in(table: Operation) -> dict[str, Operation]:
    """The operations directly inside a symbol table, by the name that each defines."""
    return {
        name: op
        for region in table.regions
        for block in region.blocks
        for op in block.ops
        if (name := symbol_name(op)) is not None
    }


def references_of(op: Operation) -> Iterator[SymbolPath]:
    """The symbol references in the attributes of `op`, nested ones included."""
    for attribute in (*op.properties.values(), *op.attributes.values()):
        yield from _references(attribute)


def _references(attribute: Attribute) -> tuple[SymbolPath, ...]:
    match attribute:
        case SymbolRefAttr():
            parts = attribute.nested_references.data
            return ((attribute.root_reference.data, *(part.data for part in parts)),)
        case ArrayAttr() | DictionaryAttr():
            return _references_inside(attribute)
        case _:
            return ()


@lru_cache(maxsize=4096)
def _references_inside(attribute: ArrayAttr[Attribute] | DictionaryAttr) -> tuple[SymbolPath, ...]:
    """Each reference once: arrays may hold the same array again and again."""
    parts = attribute.data if isinstance(attribute, ArrayAttr) else attribute.data.values()
    return tuple(dict.fromkeys(path for part in parts for path in _references(part)))


def rename_references(op: Operation, names: Mapping[str, str]) -> None:
    """Let the symbol references of `op` name what is in `names` by its new name."""
    for home in (op.properties, op.attributes):
        for key, attribute in home.items():
            home[key] = _renamed(attribute, names)


def _renamed(attribute: Attribute, names: Mapping[str, str]) -> Attribute:
    match attribute:
        case SymbolRefAttr() if (root := attribute.root_reference.data) in names:
            return SymbolRefAttr(names[root], attribute.nested_references)
        case ArrayAttr() if any(_references(part) for part in attribute.data):
            return ArrayAttr(_renamed(part, names) for part in attribute.data)
        case _:
            return attribute


# --- Rewriting ------------------------------------------------------------------------------------

Result = TypeVar("Result")


class AttributeMemo(Generic[Result]):
    """A function of an attribute (and perhaps a key), computed once for each attribute object."""

    def __init__(self, compute: Callable[..., Result]):
        """Remember results of `compute(attribute, *key)`."""
        self._compute = compute
        self._known: dict[tuple[int, Hashable], tuple[Attribute, Result]] = {}

    def __call__(self, attribute: Attribute, *key: Hashable) -> Result:
        """The result for this attribute and key."""
        found = self._known.get((id(attribute), key))
        if found is None:
            # The attribute is kept so that its id stays its own.
            found = (attribute, self._compute(attribute, *key))
            self._known[id(attribute), key] = found
        return found[1]


def insert_before(op: Operation, *new_ops: Operation) -> None:
    """Put operations directly before `op`, in order."""
    block = op.parent
    assert block is not None, "only operations in a block have neighbours"
    for new_op in new_ops:
        block.insert_op_before(new_op, op)


def replace(op: Operation, *values: SSAValue) -> None:
    """Let all users of an operation's results use `values` instead, and erase the operation."""
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    erase(op)


def erase(op: Operation) -> None:
    """Take an operation without users out of its block."""
    op.detach()
    op.drop_all_references()


def arguments_behind(value: SSAValue) -> Iterator[BlockArgument]:
    """The arguments of blocks that a value is computed from, each once."""
    seen: set[SSAValue] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if each in seen:
            continue
        seen.add(each)
        if isinstance(each, BlockArgument):
            yield each
        elif isinstance(each, OpResult):
            waiting += each.owner.operands


def erase_unused(ops: Iterable[Operation]) -> None:
    """Erase those operations whose results nobody uses, last first."""
    for op in reversed(tuple(ops)):
        if op.parent is not None and all(result.first_use is None for result in op.results):
            erase(op)


def refuse(op: Operation, message: str) -> NoReturn:
    """Fail with a message about an operation, whose name is put before it."""
    from ttmlir.mlir.reporting import OpError

    raise OpError(op, message)


def refuse_at(op: Operation, message: str) -> NoReturn:
    """Fail with a message that does not begin with the operation's name, at its location."""
    from ttmlir.mlir.reporting import LocatedError, location_of

    raise LocatedError(location_of(op), message)


def refuse_to_legalize(op: Operation, reason: str) -> NoReturn:
    """Fail because a conversion has nothing for an operation; the reason says what it takes."""
    from ttmlir.mlir.reporting import op_name

    refuse_at(op, f"failed to legalize operation '{op_name(op)}': {reason}")


_LOWERED_BY = {
    "stablehlo": "stablehlo-to-ttir-pipeline",
    "chlo": "stablehlo-to-ttir-pipeline",
    "tosa": "tosa-to-ttir-pipeline",
    "linalg": "linalg-to-ttir-pipeline",
    "arith": "linalg-to-ttir-pipeline",
    "math": "linalg-to-ttir-pipeline",
    "ml_program": "linalg-to-ttir-pipeline",
}


def refuse_foreign(op: Operation, taken: str) -> NoReturn:
    """Fail because a pass, which takes what `taken` says, has nothing for another dialect."""
    pipeline = _LOWERED_BY.get(op.name.partition(".")[0])
    remedy = f"; run {pipeline} before" if pipeline else ""
    refuse_to_legalize(op, taken + remedy)


def clean_up(
    root: Operation,
    *,
    may_vanish: Callable[[Operation], bool] | None = None,
    is_constant: Callable[[Operation], bool] | None = None,
    forgets_locations: bool = False,
) -> None:
    """Do what MLIR's greedy rewriter does to every function besides applying patterns.

    Equal constants are merged and constants move to the top of the function, in the order in which
    that rewriter leaves them; unused operations without effects (`tensor.empty` above all) vanish.
    Their traits say which operations these are, unless functions are given that do. Where
    constants were merged, nobody knows where the one that is left is from, if so asked.
    """
    vanishes = may_vanish or _vanishes_by_trait
    is_kept = is_constant or _is_constant_by_trait
    constants: list[Operation] = []
    removable: list[Operation] = []
    for op in _post_order(root):
        if op.results and vanishes(op):
            removable.append(op)
        if is_kept(op):
            constants.append(op)
    _hoist(constants, forgets_locations)
    erase_unused(removable)


def _vanishes_by_trait(op: Operation) -> bool:
    return _may_vanish(type(op))


def _is_constant_by_trait(op: Operation) -> bool:
    return _is_constant(type(op))


def merge_equal(root: Operation, is_pure: Callable[[Operation], bool]) -> None:
    """Keep the first of equal pure operations of each block, as MLIR's CSE does.

    Pure operations without users vanish, but not those that only such ones use.
    """
    for block in [block for op in root.walk() for region in op.regions for block in region.blocks]:
        known: dict[Hashable, Operation] = {}
        unused: list[Operation] = []
        for op in tuple(block.ops):
            if op.regions or not op.results or not is_pure(op):
                continue
            if all(result.first_use is None for result in op.results):
                unused.append(op)
                continue
            key = _key_of(op)
            if (equal := known.setdefault(key, op)) is not op:
                for result, same in zip(op.results, equal.results, strict=True):
                    result.replace_all_uses_with(same)
                unused.append(op)
        for op in reversed(unused):
            erase(op)


def _key_of(op: Operation) -> Hashable:
    return (
        op.name,
        tuple(op.operands),
        tuple(sorted(op.properties.items())),
        tuple(sorted(op.attributes.items())),
        tuple(op.result_types),
    )


def _post_order(root: Operation) -> Iterator[Operation]:
    for region in root.regions:
        for block in region.blocks:
            for op in block.ops:
                if op.regions:
                    yield from _post_order(op)
                yield op


_VANISHING: dict[type[Operation], bool] = {}
_CONSTANT: dict[type[Operation], bool] = {}


def _may_vanish(cls: type[Operation]) -> bool:
    known = _VANISHING.get(cls)
    if known is None:
        known = cls.has_trait(NoMemoryEffect, value_if_unregistered=False) and not cls.has_trait(
            IsTerminator, value_if_unregistered=False
        )
        _VANISHING[cls] = known
    return known


def _is_constant(cls: type[Operation]) -> bool:
    known = _CONSTANT.get(cls)
    if known is None:
        known = cls.has_trait(ConstantLike, value_if_unregistered=False)
        _CONSTANT[cls] = known
    return known


def _hoist(constants: list[Operation], forgets_locations: bool) -> None:
    """Merge and move constants; a constant that follows one already placed stays where it is."""
    kept: dict[tuple[Region, str, Attribute | None, Attribute], Operation] = {}
    placed: set[int] = set()
    for op in constants:
        region = _isolated_region(op)
        value = op.properties.get("value", op.attributes.get("value"))
        key = (region, op.name, value, op.results[0].type)
        if (equal := kept.get(key)) is not None:
            replace(op, equal.results[0])
            if forgets_locations:
                equal.location = UNKNOWN_LOC
            continue
        top = region.blocks.first
        assert top is not None, "the region holds the constant"
        if not _is_in_place(op, top, placed):
            op.detach()
            first = top.first_op
            assert first is not None, "what the constant was in, or a terminator"
            top.insert_op_before(op, first)
        placed.add(id(op))
        kept[key] = op


def _is_in_place(op: Operation, top: Block, placed: set[int]) -> bool:
    return op.parent is top and (op.prev_op is None or id(op.prev_op) in placed)


def _isolated_region(op: Operation) -> Region:
    """The innermost enclosing region that cannot or should not use values from outside."""
    region = op.parent_region()
    while region is not None:
        owner = region.parent
        if owner is None or owner.has_trait(IsolatedFromAbove) or owner.has_trait(KeepsConstants):
            return region
        region = owner.parent_region()
    raise AssertionError("an operation in a block has an enclosing region")
