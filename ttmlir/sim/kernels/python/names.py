"""What compiled kernels may consist of: a list of helpers, and a check of the finished code.

Compiled code runs without Python's built-in functions. Each name in it is one of `NAMES`, or one
that the compiler made, which begins with a letter for its kind: `v_` for variables of the kernel,
`t_` for temporary ones, `f_` for functions, `c_` for calls of the library. Since no name of the
kernel's text is ever used as it stands, none can mean something else in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from ttmlir.optable.kernel import ALL_CALLS, LIBRARY_CALLS, Form
from ttmlir.sim.kernels.python import code, runtime
from ttmlir.sim.kernels.python.faults import FAULTS, translate_fault

NAMES: dict[str, object] = {
    "_quotient": runtime.quotient,
    "_remainder": runtime.remainder,
    "_shift_count": runtime.shift_count,
    "_index": runtime.index,
    "_float32": runtime.as_float32,
    "_float": float,
    "_float_quotient": runtime.float_quotient,
    "_truncated": runtime.truncate,
    "_float_bits": runtime.float_bits,
    "_bits_float": runtime.bits_float,
    "_double_bits": runtime.double_bits,
    "_bits_double": runtime.bits_double,
    "_ctz": runtime.count_trailing_zeros,
    "_clz": runtime.count_leading_zeros,
    "_popcount": runtime.count_ones,
    "_put": runtime.put,
    "_bits": runtime.bits_at,
    "_put_bits": runtime.put_bits,
    "_point": runtime.point,
    "_point_at_one": runtime.point_at_one,
    "_is_local": runtime.is_local,
    "_element_at": runtime.element_at,
    "_put_at": runtime.put_at,
    "_advance": runtime.advance,
    "_advance_any": runtime.advance_any,
    "_distance": runtime.distance,
    "_is_same": runtime.is_same,
    "_address": runtime.address,
    "_pointer_to": runtime.pointer_to,
    "_put_member": runtime.put_member,
    "_awaited": runtime.awaited,
    "_copied": runtime.copy,
    "_overwrite": runtime.overwrite,
    "_sliced": runtime.slice_object,
    "_printed": runtime.printed,
    "_printed_float": runtime.printed_float,
    "_character": runtime.character,
    "_endless": runtime.endless,
    "_missing": runtime.missing,
    "_min": min,
    "_max": max,
    "_range": range,
    "_rounds": range(runtime.ROUNDS),
    "_unset": runtime.UNSET,
    "_fault": translate_fault,
    "_FAULTS": FAULTS,
}
"""What compiled code calls beside the API."""

_ACTING = {
    *("_put", "_put_bits", "_put_at", "_put_member", "_overwrite", "_awaited", "_missing"),
    *("_endless", "_fault"),
}

PURE = frozenset(NAMES) - _ACTING
"""Those that only find a value."""

MEMBERS = frozenset(name for row in ALL_CALLS for name, _ in row.members)
"""Members of the library's objects that compiled code reads."""

METHODS = frozenset(row.cpp for row in LIBRARY_CALLS if row.form == Form.METHOD)
"""Member functions of the library's objects that compiled code calls."""

_CLOCK = "clock"
_ENTRY = "_kernel"
_UNUSED = "_"
_ERROR = "_error"
_VARIABLES = ("v_", "t_")
_OWN = (*_VARIABLES, "f_")

_STATEMENTS = (
    *(ast.Module, ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Pass, ast.Expr),
    *(ast.Assign, ast.AugAssign, ast.If, ast.For, ast.While, ast.Break, ast.Continue),
    *(ast.Try, ast.ExceptHandler, ast.Raise),
)
_EXPRESSIONS = (
    *(ast.Name, ast.Constant, ast.Call, ast.keyword, ast.Attribute, ast.Subscript, ast.NamedExpr),
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Tuple, ast.List),
    *(ast.Yield, ast.YieldFrom, ast.Load, ast.Store),
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.LShift, ast.RShift),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.And, ast.Or, ast.Not, ast.Invert, ast.USub),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.Gt, ast.LtE, ast.GtE),
)
_KINDS = frozenset((*_STATEMENTS, *_EXPRESSIONS))
_CONSTANTS = frozenset((int, float, bool, str, type(None)))


def find_forbidden(module: ast.Module, bindings: Collection[str]) -> ast.AST | None:
    """The first node of compiled code that should not be there; None if there is none.

    `bindings` are the variables that hold the library. The compiler makes nothing of the kind;
    this is asked of every kernel so that a mistake in it cannot become one of safety.
    """
    check = _Check(frozenset(bindings))
    pending: list[ast.AST] = [module]
    while pending:
        node = pending.pop()
        if not check.allows(node):
            return node
        pending += code.list_children(node)
    return None


class _Check:
    """What is allowed beside names of the compiler."""

    def __init__(self, bindings: frozenset[str]) -> None:
        self.bindings = bindings
        self.known = bindings | NAMES.keys()

    def allows(self, node: ast.AST) -> bool:
        """Whether a node may stand where it stands; those below it are none of its business."""
        match node:
            case ast.Name():
                return self._allows_name(node)
            case ast.Constant(value=value):
                return type(value) in _CONSTANTS
            case ast.Call(func=function):
                return self._allows_call(function)
            case ast.Attribute():
                return self._allows_attribute(node)
            case ast.keyword(arg=word):
                return word == "template" or word in MEMBERS
            case ast.arg(arg=name):
                return name.startswith(_VARIABLES) or name in self.bindings
            case ast.FunctionDef() | ast.arguments() | ast.ExceptHandler():
                return self._allows_function(node)
            case _:
                return type(node) in _KINDS

    def _allows_name(self, node: ast.Name) -> bool:
        if isinstance(node.ctx, ast.Store):
            return node.id.startswith(_VARIABLES) or node.id == _UNUSED
        return node.id.startswith(_OWN) or node.id in self.known or node.id == _ERROR

    def _allows_attribute(self, node: ast.Attribute) -> bool:
        if isinstance(node.ctx, ast.Store):
            return node.attr == _CLOCK and isinstance(node.value, ast.Name)
        return node.attr in MEMBERS or node.attr in METHODS

    def _allows_function(self, node: ast.FunctionDef | ast.arguments | ast.ExceptHandler) -> bool:
        match node:
            case ast.FunctionDef(name=name, decorator_list=decorators):
                return (name.startswith("f_") or name == _ENTRY) and not decorators
            case ast.arguments():
                return not (node.defaults or node.kw_defaults or node.vararg or node.kwarg)
            case ast.ExceptHandler(type=ast.Name(id="_FAULTS"), name=name):
                return name == _ERROR
            case _:
                return False

    def _allows_call(self, function: ast.expr) -> bool:
        match function:
            case ast.Name(id=name):
                return name.startswith("f_") or name in self.known
            case ast.Attribute(attr=member):
                return member in METHODS
            case _:
                return False
