"""Plans of DST: orders, tiles and their reuse, by hand."""

from __future__ import annotations

import pytest

from ttmlir.layout.data_format import ScalarType
from ttmlir.passes.d2m.dst.tile_program import (
    Copied,
    Filled,
    Held,
    Plan,
    TooManyTilesError,
    Value,
    plan,
)


def leaf(*, needs_zeros: bool = False) -> Value:
    """A tile that is brought to DST."""
    value = Filled(number=0.0, element=ScalarType("f32"))
    value.needs_zeros = needs_zeros
    return value


def placed(*operands: Value) -> Value:
    """An operation whose result may be put anywhere."""
    return Value(operands=operands, is_placed=True)


def in_place(*operands: Value, temporaries: int = 0) -> Value:
    """An operation that writes over its first operand."""
    return Value(operands=operands, clobbers=frozenset({0}), temporaries=temporaries)


def run(made: Plan, root: Value) -> object:
    """What the instructions leave in the tile of the result, as nested tuples of values."""
    tiles: dict[int, object] = {0: "held"}
    for instruction in made.instructions:
        value, slots = instruction.value, instruction.slots
        read = tuple(tiles[slot] for slot in slots[: len(value.operands)])
        if isinstance(value, Copied):
            result: object = read[0]
        else:
            result = (id(value), *read)
        for place in value.clobbers:
            tiles[slots[place]] = "overwritten"
        for slot in slots[len(value.operands) :]:
            tiles[slot] = "temporary"
        tiles[instruction.result] = result
    return tiles[made.result]


def meaning(value: Value) -> object:
    """The same of the expression itself."""
    if isinstance(value, Held):
        return "held"
    return (id(value), *(meaning(each) for each in value.operands))


def test_the_operand_that_needs_more_comes_first() -> None:
    """Three tiles are enough for ((a b) (c d)) on the right of a leaf, in either order."""
    right = placed(placed(leaf(), leaf()), placed(leaf(), leaf()))
    for root in (placed(leaf(), right), placed(right, leaf())):
        made = plan(root, 3)
        assert made.tiles == 3
        assert run(made, root) == meaning(root)


def test_chains_take_one_tile() -> None:
    """However long they are."""
    root = leaf()
    for _ in range(3000):
        root = in_place(root)
    made = plan(root, 1)
    assert (made.tiles, len(made.instructions)) == (1, 3001)


def test_values_that_are_used_again_are_copied() -> None:
    """An operation in place gets a copy of what another one still reads."""
    shared = in_place(leaf())
    root = placed(in_place(shared), shared)
    made = plan(root, 4)
    assert sum(isinstance(each.value, Copied) for each in made.instructions) == 1
    assert run(made, root) == meaning(root)


def test_one_value_as_both_operands() -> None:
    """Nothing that is read is written over before."""
    shared = in_place(leaf())
    root = in_place(shared, shared)
    assert run(plan(root, 4), root) == meaning(root)


def test_temporaries_are_free_afterwards() -> None:
    """They count where they are needed, and only there."""
    root = in_place(in_place(leaf(), temporaries=2), temporaries=1)
    made = plan(root, 3)
    assert made.tiles == 3
    assert run(made, root) == meaning(root)
    with pytest.raises(TooManyTilesError):
        plan(root, 2)


def test_the_accumulator_keeps_its_tile() -> None:
    """Whether it is the first operand or the second."""
    held = Held()
    for root in (placed(held, leaf()), placed(leaf(), held), in_place(leaf(), held)):
        made = plan(root, 4)
        assert made.result == 0
        assert run(made, root) == meaning(root)


def test_zeros() -> None:
    """A call that adds to a tile gets one that nothing was written to."""
    first = in_place(leaf())
    root = placed(placed(first, leaf()), leaf(needs_zeros=True))
    made = plan(root, 4)
    [zeros] = [each for each in made.instructions if each.value.needs_zeros]
    before = made.instructions[: made.instructions.index(zeros)]
    assert zeros.result not in {slot for each in before for slot in (*each.slots, each.result)}


def test_too_many_tiles() -> None:
    """The error names a computed value whose place would do."""

    def tree(depth: int) -> Value:
        return placed(tree(depth - 1), tree(depth - 1)) if depth else leaf()

    assert plan(tree(4), 5).tiles == 5
    with pytest.raises(TooManyTilesError) as error:
        plan(tree(4), 4)
    assert error.value.needed == 5
    assert error.value.victim is not None
    assert error.value.victim.operands
