"""Deep texts in several threads at once, which share Python's recursion limit."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Thread

from xdsl.dialects.builtin import CallSiteLoc

from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.reader import parse_module
from ttmlir.mlir.reporting import file_location
from ttmlir.mlir.verifier import verify_module
from ttmlir.nesting import deep_recursion

DEEP = '"a.b"() {x = ' + "[" * 250 + "1" + "]" * 250 + "} : () -> ()"


def depth_of_call(levels: int) -> int:
    """Recurse that many levels deep."""
    return 1 + depth_of_call(levels - 1) if levels else 0


def test_limit_stays_raised_while_any_thread_needs_it() -> None:
    """A thread that is done does not lower the limit of one that is not; the last puts it back."""
    before = sys.getrecursionlimit()
    second_is_in, first_is_out = Event(), Event()
    depths: list[int] = []

    def recurse_after_the_first() -> None:
        with deep_recursion():
            second_is_in.set()
            first_is_out.wait(60)
            depths.append(depth_of_call(5000))

    second = Thread(target=recurse_after_the_first)
    with deep_recursion():
        second.start()
        assert second_is_in.wait(60)
    first_is_out.set()
    second.join(60)
    assert depths == [5000]
    assert sys.getrecursionlimit() == before


def test_limit_of_somebody_else_is_left_alone() -> None:
    """A limit that another part of the process sets meanwhile stays."""
    before = sys.getrecursionlimit()
    try:
        with deep_recursion():
            sys.setrecursionlimit(20_000)
        assert sys.getrecursionlimit() == 20_000
    finally:
        sys.setrecursionlimit(before)


def test_threads_read_verify_and_print_deep_texts() -> None:
    """Eight threads handle texts near the nesting limit, again and again, and all succeed."""
    before = sys.getrecursionlimit()

    def read_and_print(_: int) -> str:
        module = parse_module(DEEP, "deep.mlir", make_context(allow_unregistered=True))
        assert verify_module(module) == []
        return print_module(module)

    with ThreadPoolExecutor(8) as pool:
        texts = set(pool.map(read_and_print, range(40)))
    assert texts == {read_and_print(0)}
    assert sys.getrecursionlimit() == before


def test_long_chains_of_callers_are_read() -> None:
    """Locations refer to their callers by aliases that stand at the end, 200 frames deep."""
    chain = ['#loc1 = loc("model.py":1:1)']
    chain += [f'#loc{n} = loc(callsite("f.py":{n}:2 at #loc{n - 1}))' for n in range(2, 201)]
    text = "module {\n} loc(#loc200)\n" + "\n".join(chain)
    module = parse_module(text, "chain.mlir", make_context({}))
    location, frames = module.location, 1
    while isinstance(location, CallSiteLoc):
        location, frames = location.caller, frames + 1
    assert (frames, location) == (200, file_location("model.py", 1, 1))
