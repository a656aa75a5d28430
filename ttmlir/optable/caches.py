"""Caches of keys and values: where the positions of users lie, and writing to them.

A cache is (users, heads, positions, size). With a table of pages it is (pages, heads, positions of
a page, size), and a row of the table has the pages of a user, one after the other.
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import Shape, require


def require_below(value: int, extent: int, what: str) -> None:
    """ArgumentError for a number of what a cache does not have."""
    if not 0 <= value < extent:
        raise ArgumentError(f"{what} {value} of a cache that has {extent}")


def find_places(xp: Any, cache: Shape, positions: Any, table: Any) -> tuple[Any, Any, Any]:
    """Which users write at all, and the rows (users or pages) and places there of those that do.

    `positions` has one for each user, of whom those with -1 write nothing. ArgumentError for
    positions and pages that are not there.
    """
    numbers = xp.asarray(positions).astype(xp.int64)
    users, size = numbers.size, cache[2]
    pages = xp.arange(users)[:, None] if table is None else xp.asarray(table).astype(xp.int64)
    used = numbers >= 0
    for position in numbers[used]:
        require_below(int(position), size * pages.shape[1], "position")
    rows = pages[xp.arange(users), xp.maximum(numbers, 0) // size]
    for row in rows[used]:
        require_below(int(row), cache[0], "user" if table is None else "page")
    return used, rows[used], numbers[used] % size


def find_pages(xp: Any, cache: Shape, table: Any, count: int) -> tuple[Any, Any]:
    """The pages, and places there, of the first `count` positions of a user with these pages."""
    pages, size = xp.asarray(table).astype(xp.int64), cache[2]
    for page in pages[: -(-count // size)]:
        require_below(int(page), cache[0], "page")
    positions = xp.arange(count)
    return pages[positions // size], positions % size


def update_each(
    xp: Any, cache: Any, input: Any, update_index: Any, page_table: Any = None, *, share_cache: bool
) -> Any:
    """The cache with a position of its own for each user: (1, users, heads, size)."""
    if share_cache and page_table is None:
        # All users write to the first one's.
        page_table = xp.zeros((input.shape[1], 1), xp.int64)
    used, rows, places = find_places(xp, cache.shape, update_index, page_table)
    output = xp.array(cache)
    output[rows, :, places] = input[0, used, : cache.shape[1]]
    return output


def update_all(xp: Any, cache: Any, input: Any, update_index: Any, *, batch_offset: int) -> Any:
    """The cache with the same position of all users, which are dimension 2 of the input."""
    position = int(xp.reshape(update_index, (-1,))[0])
    require_below(position, cache.shape[2], "position")
    output = xp.array(cache)
    users = input[0, :, batch_offset : batch_offset + cache.shape[0]]
    output[:, :, position] = xp.swapaxes(users, 0, 1)
    return output


def fill(xp: Any, cache: Any, input: Any, *, batch_offset: int) -> Any:
    """The cache with the first positions of a user."""
    require_below(batch_offset, cache.shape[0], "user")
    output = xp.array(cache)
    output[batch_offset, :, : input.shape[2]] = input[0]
    return output


def fill_pages(
    xp: Any, cache: Any, input: Any, page_table: Any, batch_idx_tensor: Any = None
) -> Any:
    """The cache with the first positions of users, whose rows of the table the indices name."""
    users = [0] if batch_idx_tensor is None else xp.reshape(batch_idx_tensor, (-1,))
    output = xp.array(cache)
    for number, user in enumerate(users):
        require_below(int(user), page_table.shape[0], "user")
        places = find_pages(xp, cache.shape, page_table[int(user)], input.shape[2])
        output[places[0], :, places[1]] = xp.swapaxes(input[number], 0, 1)
    return output


def _shape(cache: Shape, input: Shape) -> Shape:
    require(len(cache) == len(input) == 4, "A cache and what is written have four dimensions.")
    require(cache[3] == input[3], "What is written must have rows of the size of the cache's.")
    return cache


def updated_each_shape(
    cache: Shape, input: Shape, update_index: Shape, page_table: Shape | None = None, **_: Any
) -> Shape:
    """That of the cache."""
    users = input[1:2]
    require(
        input[:1] == (1,) and update_index == users and input[2] >= cache[1],
        "What is written must be (1, users, heads, size), with a position for each user.",
    )
    table = page_table is None or (len(page_table) == 2 and page_table[:1] == users)
    require(table, "A table of pages must have a row for each user.")
    return _shape(cache, input)


def updated_all_shape(
    cache: Shape, input: Shape, update_index: Shape, *, batch_offset: int
) -> Shape:
    """That of the cache."""
    require(
        input[:2] == (1, cache[1])
        and 0 <= batch_offset <= input[2] - cache[0]
        and update_index == (1,),
        "What is written must be (1, heads, users, size), with one position.",
    )
    return _shape(cache, input)


def filled_shape(cache: Shape, input: Shape, *, batch_offset: int) -> Shape:
    """That of the cache."""
    require(
        input[:2] == (1, cache[1]) and input[2] <= cache[2],
        "What is written must be (1, heads, positions, size) of a user.",
    )
    return _shape(cache, input)


def filled_pages_shape(
    cache: Shape, input: Shape, page_table: Shape, batch_idx_tensor: Shape | None = None
) -> Shape:
    """That of the cache."""
    users = (1,) if batch_idx_tensor is None else batch_idx_tensor
    require(
        input[:1] == users and input[1] == cache[1] and len(page_table) == 2,
        "What is written must be (users, heads, positions, size), with a table of pages.",
    )
    require(
        input[2] <= page_table[1] * cache[2],
        "The pages of a user must have room for its positions.",
    )
    return _shape(cache, input)
