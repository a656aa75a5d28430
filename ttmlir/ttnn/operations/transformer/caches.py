"""Caches of keys and values (users, heads, positions, d), which operations write in place."""

from __future__ import annotations

from typing import Any

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.runtime.tensor import Array
from ttmlir.ttnn.operations.operation import (
    Operation,
    common_device,
    remember_program,
    require_tensor,
    table_of,
)
from ttmlir.ttnn.tensor.formats import round_to
from ttmlir.ttnn.tensor.tensor import Tensor


def _pair(values: dict[str, Any]) -> tuple[Tensor, Tensor]:
    cache = require_tensor(values["cache"], "cache")
    tensor = require_tensor(values["input_tensor"], "input_tensor")
    device = common_device(cache, tensor)
    for each, name in ((cache, "cache"), (tensor, "input_tensor")):
        if len(each.shape) != 4:
            raise ArgumentError(f"{name} has {each.shape}; it must have four dimensions")
    if cache.shape[3] != tensor.shape[3]:
        raise ArgumentError(
            f"rows of {tensor.shape[3]} numbers do not fit a cache of rows of {cache.shape[3]}"
        )
    remember_program(device)
    return cache, tensor


def _write(cache: Tensor, places: Any, numbers: Array) -> Tensor:
    """The cache, with numbers at places."""
    array = cache.array.copy()
    array[places] = round_to(numbers, cache.dtype)
    cache.storage.array = array
    return cache


def _require_below(value: int, extent: int, what: str) -> int:
    if not 0 <= value < extent:
        raise ArgumentError(f"{what} {value} of a cache that has {extent}")
    return value


def _fill(values: dict[str, Any]) -> Tensor:
    """The first positions of a user: rows (1, heads, S, d)."""
    cache, tensor = _pair(values)
    user = _require_below(values["batch_index"], cache.shape[0], "user")
    _, heads, rows, _ = tensor.shape
    if tensor.shape[0] != 1 or heads != cache.shape[1] or rows > cache.shape[2]:
        raise ArgumentError(f"rows of {tensor.shape} do not fit a user of a cache of {cache.shape}")
    return _write(cache, (user, slice(None), slice(rows)), tensor.array[0])


def _update(values: dict[str, Any]) -> Tensor:
    """One position of all users: rows (1, heads, users, d), from the user `batch_offset` on."""
    cache, tensor = _pair(values)
    position = _require_below(values["update_index"], cache.shape[2], "position")
    first, users = values["batch_offset"], cache.shape[0]
    one, heads, rows, _ = tensor.shape
    if one != 1 or heads != cache.shape[1] or not 0 <= first <= rows - users:
        raise ArgumentError(
            f"rows of {tensor.shape} from {first} on are not (1, heads, users, d) for a cache of "
            f"{cache.shape}"
        )
    numbers = tensor.array[0, :, first : first + users].swapaxes(0, 1)
    return _write(cache, (slice(None), slice(None), position), numbers)


def _update_each(values: dict[str, Any]) -> Tensor:
    """A position of its own for each user: rows (1, B, heads, d), of which the first heads count.

    With a page table the cache is (pages, heads, rows, d); positions of -1 change nothing.
    """
    cache, tensor = _pair(values)
    given = values["update_idxs_tensor"]
    listed = given.array.reshape(-1).tolist() if given is not None else values["update_idxs"] or ()
    places = [int(place) for place in listed]
    one, users, rows, _ = tensor.shape
    heads = cache.shape[1]
    if one != 1 or len(places) != users or rows < heads:
        raise ArgumentError(
            f"{len(places)} positions for rows of {tensor.shape}, which are (1, users, heads, d) "
            f"for a cache of {cache.shape}"
        )
    if values["batch_offset"]:
        raise ArgumentError("batch_offset other than 0 is not here yet")
    table, size = values["page_table"], cache.shape[2]
    offset = np.asarray(places, np.int64)
    used = offset >= 0
    if table is None:
        pages = np.arange(users)[:, None]
    else:
        pages = require_tensor(table, "page_table").array.astype(np.int64)
    for place in offset[used]:
        _require_below(int(place), size * pages.shape[1], "position")
    block = pages[np.arange(users), np.maximum(offset, 0) // size]
    for page in block[used]:
        _require_below(int(page), cache.shape[0], "page" if table is not None else "user")
    offset = offset % size
    numbers = tensor.array[0, used, :heads]
    return _write(cache, (block[used], slice(None), offset[used]), numbers)


def _fill_pages(values: dict[str, Any]) -> Tensor:
    """The first positions of a user whose pages a table names: rows (1, heads, S, d)."""
    cache, tensor = _pair(values)
    pages = require_tensor(values["page_table"], "page_table").array.astype(np.int64)
    given = values["batch_idx_tensor"]
    user = int(given.array.reshape(-1)[0]) if given is not None else values["batch_idx"]
    _require_below(user, pages.shape[0], "user")
    one, heads, rows, _ = tensor.shape
    size = cache.shape[2]
    count = -(-rows // size)
    if one != 1 or heads != cache.shape[1] or count > pages.shape[1]:
        raise ArgumentError(
            f"rows of {tensor.shape} do not fit the pages of a user of {cache.shape}"
        )
    for page in pages[user, :count]:
        _require_below(int(page), cache.shape[0], "page")
    positions = np.arange(rows)
    places = (pages[user, positions // size], slice(None), positions % size)
    return _write(cache, places, tensor.array[0].swapaxes(0, 1))


_FILL = "cache, input_tensor, batch_index"
_UPDATE = "cache, input_tensor, update_index, batch_offset=0, compute_kernel_config=None"

OPERATIONS: dict[str, Operation] = table_of(
    Operation("fill_cache", _fill, _FILL),
    Operation("update_cache", _update, _UPDATE),
    Operation("kv_cache.fill_cache_for_user_", _fill, _FILL),
    Operation("kv_cache.update_cache_for_token_", _update, _UPDATE),
    Operation(
        "experimental.paged_update_cache",
        _update_each,
        "cache, input_tensor, *, update_idxs=None, update_idxs_tensor=None, share_cache=None, "
        "page_table=None, batch_offset=0, compute_kernel_config",
    ),
    Operation(
        "experimental.paged_fill_cache",
        _fill_pages,
        "cache, input_tensor, page_table, *, batch_idx_tensor=None, batch_idx=0, "
        "compute_kernel_config",
    ),
)
