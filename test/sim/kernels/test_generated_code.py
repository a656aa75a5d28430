"""Compiled kernels consist of what the compiler may make, and of nothing else."""

from __future__ import annotations

import ast
import sys

import pytest
from oracles.kernel_oracle import run
from running.generated_code import COMPILER, check_code

from ttmlir.sim.kernels.python.code import find_forbidden

FORBIDDEN = [
    *("import os", "from os import path", "lambda: 1", "class f_x: pass", "global v_x", "del v_x"),
    *("eval('1')", "__import__('os')", "print(v_x)", "open('x')", "v_x()", "t_x(1)"),
    *(
        "(f_x or f_y)()",
        "v_x.__class__",
        "v_x.__globals__",
        "v_x.gi_frame",
        "v_x.f_globals",
        "v_x.clock",
    ),
    *("v_x.page_size = 1", "v_x.clock.real = 1", "f_x = v_y", "_load = v_x", "_FAULTS = v_x"),
    *("c_note = v_x", "inf", "x", "def g(): pass", "def f_x(y): pass", "def f_x(v_y=1): pass"),
    *(
        "def f_x(*v_y): pass",
        "@v_x\ndef f_y(): pass",
        "[v_x for v_x in v_y]",
        "{1: 2}",
    ),
    *(
        "v_x ** v_y",
        "b'x'",
        "1j",
        "...",
        "f'{v_x}'",
        "v_x[1:2]",
        "v_x is v_y",
        "f_x(**v_y)",
        "f_x(*v_y)",
    ),
    "f_x(key=1)",
    "try:\n    pass\nexcept Exception as _error:\n    pass",
    "try:\n    pass\nexcept:\n    pass",
    *("async def f_x(): pass", "with v_x: pass", "assert v_x", "(yield).send", "f_x().send(1)"),
    *("match v_x:\n    case 1: pass", "v_x: f_y = 1", "v_x @ v_y", "v_x.get_noc_addr.func"),
]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_other_code_is_refused(text: str) -> None:
    """By the compiler, whatever made it."""
    assert find_forbidden(ast.parse(text), ("c_note", "_load", "_thread")) is not None


def test_code_of_kernels_is_watched() -> None:
    """Every kernel that the tests compile is looked at."""
    before = sys.modules[COMPILER].watched
    run("void kernel_main() { int a[2] = {1, 2}; for (int i = 0; i < 2; i++) note(a[i] + 17); }")
    assert sys.modules[COMPILER].watched == before + 1
    with pytest.raises(AssertionError, match="the name eval"):
        check_code(ast.parse("eval(v_x)"))
