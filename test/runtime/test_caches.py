"""Caches of keys and values in files of 2026, which operations write in place."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from running.randomness import TestGenerator

import ttmlir

NUMBERS = TestGenerator(__name__)
CACHE = NUMBERS.standard_normal((4, 3, 32, 40), np.float32)
TABLE = np.array([[2, 0], [1, 3]], np.int32)
"""The pages of two users."""


def compile_call(name: str, given: list[Any], attributes: str) -> ttmlir.CompiledModel:
    """A program that calls an operation of the library on a cache and returns it twice as large."""
    kinds = {np.dtype("float32"): "f32", np.dtype("int32"): "i32"}
    types = [f"tensor<{'x'.join(map(str, x.shape))}x{kinds[x.dtype]}>" for x in given]
    names = [f"%a{number}" for number in range(len(given))]
    arguments = ", ".join(map("{}: {}".format, names, types))
    text = f"""
        func.func @main({arguments}) -> ({types[0]}, {types[0]}) {{
          %0 = stablehlo.custom_call @tt.{name}({", ".join(names)})
              {{mhlo.frontend_attributes = {{{attributes}}}}}
              : ({", ".join(types)}) -> {types[0]}
          %1 = stablehlo.add %0, %0 : {types[0]}
          return %0, %1 : {types[0]}, {types[0]}
        }}
    """
    return ttmlir.compile(text, spelling="2026")


def draw(*shape: int) -> Any:
    """Numbers to write."""
    return NUMBERS.standard_normal(shape, np.float32)


def run(name: str, given: list[Any], wanted: Any, attributes: str = "") -> None:
    """Compare what a program returns, and leave the caller's cache as it was."""
    compiled = compile_call(name, given, attributes)
    assert f'"ttnn.{name}"' in compiled.text("ttnn")
    before = given[0].copy()
    cache, twice = compiled(*given)
    np.testing.assert_array_equal(cache, wanted)
    np.testing.assert_array_equal(twice, 2 * wanted)
    np.testing.assert_array_equal(given[0], before)


def test_a_position_of_each_user() -> None:
    """With pages, and in a cache of users; -1 writes nothing."""
    new, places = draw(1, 2, 3, 40), np.array([33, 5], np.int32)
    wanted = CACHE.copy()
    # Position 33 of user 0 is place 1 of its second page, 0; position 5 of user 1 lies in page 1.
    wanted[0, :, 1], wanted[1, :, 5] = new[0, 0], new[0, 1]
    share = 'share_cache = "false"'
    run("paged_update_cache", [CACHE, new, places, TABLE], wanted, share)
    wanted = CACHE[:2].copy()
    wanted[1, :, 31] = new[0, 1]
    run("paged_update_cache", [CACHE[:2], new, np.array([-1, 31], np.int32)], wanted, share)


def test_users_that_share_a_cache() -> None:
    """They write to its only row."""
    new, places = draw(1, 2, 3, 40), np.array([3, 30], np.int32)
    wanted = CACHE[:1].copy()
    wanted[0, :, 3], wanted[0, :, 30] = new[0, 0], new[0, 1]
    run("paged_update_cache", [CACHE[:1], new, places], wanted, 'share_cache = "true"')


def test_a_position_of_all_users() -> None:
    """Users are dimension 2 of what is written."""
    new, wanted = draw(1, 3, 4, 40), CACHE.copy()
    wanted[:, :, 7] = new[0].transpose(1, 0, 2)
    run("update_cache", [CACHE, new, np.array([7], np.int32)], wanted, 'batch_offset = "0"')


def test_the_first_positions_of_a_user() -> None:
    """In a cache of users, and in the pages of those that an index names."""
    new, wanted = draw(1, 3, 9, 40), CACHE.copy()
    wanted[2, :, :9] = new[0]
    run("fill_cache", [CACHE, new], wanted, 'batch_offset = "2"')
    new, wanted = draw(1, 3, 35, 40), CACHE.copy()
    wanted[1, :, :], wanted[3, :, :3] = new[0, :, :32], new[0, :, 32:]
    run("paged_fill_cache", [CACHE, new, TABLE, np.array([1], np.int32)], wanted)
    wanted = CACHE.copy()
    wanted[2, :, :], wanted[0, :, :3] = new[0, :, :32], new[0, :, 32:]
    run("paged_fill_cache", [CACHE, new, TABLE], wanted)


@pytest.mark.parametrize(
    ("places", "table", "message"),
    [
        ([64, 0], TABLE, "position 64 of a cache that has 64"),
        ([33, 0], TABLE + 4, "page 4 of a cache that has 4"),
    ],
)
def test_places_that_are_not_there(places: list[int], table: Any, message: str) -> None:
    """They are an error, and nothing is written."""
    given = [CACHE, draw(1, 2, 3, 40), np.array(places, np.int32), table]
    compiled = compile_call("paged_update_cache", given, 'share_cache = "false"')
    with pytest.raises(ttmlir.ExecutionError, match=re.escape(message)):
        compiled(*given)


def test_time_does_not_depend_on_the_length_of_the_cache() -> None:
    """Only the tiles that hold the position are moved."""
    times: list[float] = []
    for length in (64, 4096):
        given = [np.zeros((2, 3, length, 40), np.float32), draw(1, 2, 3, 40), TABLE[0]]
        compiled = compile_call("paged_update_cache", given, 'share_cache = "false"')
        times += [
            each.time.mid
            for each in compiled.estimate("n150").operations
            if each.name == "ttnn.paged_update_cache"
        ]
    assert times[0] == times[1] > 0
