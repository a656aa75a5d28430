"""Rules of `ttir-fusing` for caches of keys and values: a token of each prompt, in place."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import IntegerType, Signedness, UnitAttr, i32
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from ttmlir.ir.tensor_types import element_type, value_shape
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import KV_CACHE, set_argument_attribute
from ttmlir.passes.ttir.value_rewriting import inputs_of, made_by, parameters_of, reorder, under

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xdsl.ir import Operation, SSAValue

    from ttmlir.ir.builder import Builder
    from ttmlir.ir.greedy_rewriting import GreedyRewriter, Rule

_ROWS = 32
"""The library's caches have a multiple of so many positions."""
_USERS_FIRST = (2, 0, 1, 3)
"""From (users, heads, 1, size) to (1, users, heads, size)."""
_HEADS_FIRST = (2, 1, 0, 3)
"""From (users, heads, 1, size) to (1, heads, users, size)."""
_POSITIONS = (i32, IntegerType(32, Signedness.SIGNED))
"""Types of positions that the library takes."""


def _updated(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Numbers of one position for each user, written to an argument that nothing else uses."""
    cache, index, new = inputs_of(op)
    shape, said = value_shape(cache), parameters_of(op)
    if len(shape) != 4 or said["dim"] % 4 != 2 or "invalid" not in str(said["scatter_reduce_type"]):
        return False
    users, heads, positions, size = shape
    function = _function_of(cache)
    if positions % _ROWS or function is None:
        return False
    if (value_shape(new), element_type(new)) != ((users, heads, 1, size), element_type(cache)):
        return False
    build = rewriter.builder(op)
    places = _places(index, users, build)
    if places is None:
        return False
    by_user = reorder(build, new, _USERS_FIRST)
    build.create_several("paged_update_cache", (cache, by_user, places), (), share_cache=False)
    set_argument_attribute(function, cast("BlockArgument", cache).index, KV_CACHE, UnitAttr())
    rewriter.replace(op, cache)
    return True


def _updated_for_all(op: Operation, rewriter: GreedyRewriter) -> bool:
    """Numbers of the same position for all users, written to such an argument.

    The library stops at positions that are not there; where they are not clamped, scattering
    leaves them out.
    """
    rows, index, new = inputs_of(op)
    said, cache, index = parameters_of(op), under(rows, "reshape"), under(index, "reshape")
    shape, function = value_shape(cache), _function_of(cache)
    if function is None or not rows.has_one_use() or len(shape) != 4 or shape[2] % _ROWS:
        return False
    users, heads, positions, size = shape
    is_position = (
        (value_shape(rows), value_shape(new))
        == ((users * heads, positions, size), (users * heads, 1, size))
        and element_type(new) == element_type(cache)
        and (list(said["sizes"]), list(said["windows"])) == ([positions], [1])
        and not said["column"]
        and "invalid" in str(said["reduce"])
    )
    bounds = made_by(index, "clamp")
    limits = None if bounds is None else parameters_of(bounds)
    if not is_position or limits is None or (limits["min"], limits["max"]) != (0, positions - 1):
        return False
    build = rewriter.builder(op)
    new, whole = under(new, "reshape"), (users, heads, 1, size)
    new = new if value_shape(new) == whole else build.reshape(new, whole)
    by_user = reorder(build, new, _HEADS_FIRST)
    place = build.reshape(index, [1])
    build.create_several("update_cache", (cache, by_user, place), (), batch_offset=0)
    set_argument_attribute(function, cast("BlockArgument", cache).index, KV_CACHE, UnitAttr())
    rewriter.replace(op, build.reshape(cache, value_shape(rows)))
    return True


def _function_of(cache: SSAValue) -> FuncOp | None:
    """The function that a value is an argument of, if that may change it."""
    function = cache.block.parent_op() if isinstance(cache, BlockArgument) else None
    if not isinstance(function, FuncOp) or not cache.has_one_use():
        return None
    # A function that others call may be given what they use again.
    is_public = function.sym_visibility is None or function.sym_visibility.data == "public"
    return function if is_public else None


def _places(index: SSAValue, users: int, build: Builder) -> SSAValue | None:
    """The position of each user, if the index has the same one for all numbers of a user."""
    value = under(index, "broadcast")
    if value_shape(value) != (users, 1, 1, 1):
        return None
    while made_by(value, "reshape", "typecast") is not None:
        value = under(under(value, "reshape"), "typecast")
    if element_type(value) not in _POSITIONS or value_shape(value) != (
        users,
        *(1 for _ in value_shape(value)[1:]),
    ):
        return None
    return build.reshape(value, [users])


RULES: Mapping[str, Sequence[Rule]] = {
    "ttir.rows_scatter": (_updated_for_all,),
    "ttir.scatter": (_updated,),
}
"""Rules by the name of the operation."""
