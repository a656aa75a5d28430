"""What CPython, with integers of 32 bits, and the simulator make of a kernel in Python."""

from __future__ import annotations

import ast
from typing import Any

from oracles.kernel_oracle import run
from running.python_source import load_module

from ttmlir.frontend.pykernel.compilation import Kernel, ttkernel_noc_compile

ARGUMENTS = (5, -3, 700, 12)
NOTE = "noc_async_read_set_trid"
"""A call of one number that is a plain function in C++."""


def by_python(text: str) -> list[int]:
    """The numbers that CPython prints."""
    printed = list[int]()

    def note(*values: object) -> None:
        printed.extend(
            int(each)
            for value in values
            for each in str(int(value) if isinstance(value, bool) else value).split()
        )

    names: dict[str, Any] = {
        "print": note,
        NOTE: note,
        "get_arg_val": lambda kind, index: ARGUMENTS[index],
        "wrap": wrap,
    }
    exec(compile(wrapping(text), "<wrapped>", "exec"), names)
    names["kernel"]()
    return printed


def compiled(text: str, *, optimize: bool = False) -> Kernel:
    """The kernel of a text."""
    return ttkernel_noc_compile(optimize=optimize)(load_module(text)["kernel"])()


def by_simulator(kernel: Kernel) -> list[int]:
    """The numbers that the simulator prints."""
    words = [each & 0xFFFF_FFFF for each in ARGUMENTS]
    noted = run(kernel, *words).noted
    texts = "".join(
        str(int(each)) if isinstance(each, bool) else str(each) for call in noted for each in call
    )
    return [int(each) for each in texts.split()]


def wrapping(text: str) -> ast.Module:
    """The program with every result of an operator put into `wrap(...)`."""
    tree = _Wrapping().visit(ast.parse(text))
    assert isinstance(tree, ast.Module)
    return ast.fix_missing_locations(tree)


def wrap(value: int) -> int:
    """The number that the lowest 32 bits are, with a sign."""
    return (value + 2**31) % 2**32 - 2**31


class _Wrapping(ast.NodeTransformer):
    """Wraps what operators give."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`a + b`, but not `[0] * 8`."""
        self.generic_visit(node)
        return node if isinstance(node.left, ast.List) else _call_wrap(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        """`-a`."""
        self.generic_visit(node)
        return node if isinstance(node.op, ast.Not) else _call_wrap(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`abs(a)`."""
        self.generic_visit(node)
        is_abs = isinstance(node.func, ast.Name) and node.func.id == "abs"
        return _call_wrap(node) if is_abs else node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`a += b`."""
        self.generic_visit(node)
        old = ast.parse(ast.unparse(node.target), mode="eval").body
        return ast.Assign([node.target], _call_wrap(ast.BinOp(old, node.op, node.value)))


def _call_wrap(value: ast.expr) -> ast.Call:
    return ast.Call(ast.Name("wrap", ast.Load()), [value], [])
