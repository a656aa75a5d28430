"""Affine maps in attributes: between MLIR's text, `ttmlir.layout.affine` and xDSL's attribute.

`layout.affine` simplifies, compares and prints as MLIR does, semi-affine expressions included;
xDSL's `AffineMapAttr` is what upstream operations hold. `affine_map_attr` and `layout_map` convert.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr
from xdsl.ir.affine import AffineBinaryOpExpr as XdslBinary
from xdsl.ir.affine import AffineBinaryOpKind as XdslKind
from xdsl.ir.affine import AffineConstantExpr as XdslConstant
from xdsl.ir.affine import AffineConstraintExpr, AffineConstraintKind
from xdsl.ir.affine import AffineDimExpr as XdslDim
from xdsl.ir.affine import AffineExpr as XdslExpr
from xdsl.ir.affine import AffineMap as XdslMap
from xdsl.ir.affine import AffineSymExpr as XdslSymbol

from ttmlir.layout import affine
from ttmlir.layout.affine import AffineExpr, AffineKind, AffineMap
from ttmlir.layout.affine_parser import AffineParseError, scan_affine_map
from ttmlir.mlir.xdsl_internals import resume_from

if TYPE_CHECKING:
    from xdsl.parser import AttrParser

_TO_XDSL = {
    AffineKind.ADD: XdslKind.Add,
    AffineKind.MUL: XdslKind.Mul,
    AffineKind.MOD: XdslKind.Mod,
    AffineKind.FLOORDIV: XdslKind.FloorDiv,
    AffineKind.CEILDIV: XdslKind.CeilDiv,
}
_FROM_XDSL = {kind: ours for ours, kind in _TO_XDSL.items()}


def affine_map_attr(map: AffineMap) -> AffineMapAttr:
    """The attribute `affine_map<...>` that holds a map."""
    results = tuple(_to_xdsl(result) for result in map.results)
    return AffineMapAttr(XdslMap(map.num_dims, map.num_symbols, results))


def layout_map(attr: AffineMapAttr) -> AffineMap:
    """The simplified map that an attribute holds."""
    return _layout_map(attr.data)


@lru_cache(maxsize=4096)
def _layout_map(map: XdslMap) -> AffineMap:
    return AffineMap(map.num_dims, map.num_symbols, tuple(_from_xdsl(e) for e in map.results))


def affine_map_text(attr: AffineMapAttr) -> str:
    """MLIR's text of the map, without `affine_map<>`."""
    return str(layout_map(attr))


def affine_set_text(attr: AffineSetAttr) -> str:
    """MLIR's text of a set, without `affine_set<>`: every constraint compares with zero."""
    names = AffineMap(attr.data.num_dims, attr.data.num_symbols, ())
    space = str(names).partition(" ->")[0]
    return f"{space} : ({', '.join(map(_constraint_text, attr.data.constraints))})"


def _constraint_text(constraint: AffineConstraintExpr) -> str:
    lhs, rhs = _from_xdsl(constraint.lhs), _from_xdsl(constraint.rhs)
    if constraint.kind is AffineConstraintKind.le:
        lhs, rhs = rhs, lhs
    relation = "==" if constraint.kind is AffineConstraintKind.eq else ">="
    return f"{lhs - rhs} {relation} 0"


def _to_xdsl(expr: AffineExpr) -> XdslExpr:
    match expr:
        case affine.DimExpr():
            return XdslDim(expr.position)
        case affine.SymbolExpr():
            return XdslSymbol(expr.position)
        case affine.ConstantExpr():
            return XdslConstant(expr.value)
        case affine.BinaryExpr():
            return XdslBinary(_TO_XDSL[expr.kind], _to_xdsl(expr.lhs), _to_xdsl(expr.rhs))
        case _:
            raise AssertionError(f"no kind of affine expression: {expr}")


def _from_xdsl(expr: XdslExpr) -> AffineExpr:
    match expr:
        case XdslDim():
            return affine.dim(expr.position)
        case XdslSymbol():
            return affine.symbol(expr.position)
        case XdslConstant():
            return affine.constant(expr.value)
        case XdslBinary():
            return affine.binary(_FROM_XDSL[expr.kind], _from_xdsl(expr.lhs), _from_xdsl(expr.rhs))
        case _:
            raise AssertionError(f"no kind of affine expression: {expr}")


def parse_affine_map(parser: AttrParser) -> AffineMap:
    """Read a bare map such as `(d0, d1)[s0] -> (d0 floordiv s0, d1)`, simplified."""
    try:
        map, end = scan_affine_map(parser.lexer.input.content, parser.pos)
    except AffineParseError as error:
        parser.raise_error(error.message, error.position)
    resume_from(parser, end)
    return map
