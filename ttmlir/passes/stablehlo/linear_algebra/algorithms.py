"""Algorithms on batches of matrices as StableHLO text: loops over columns, of products of rank 1.

Each function returns the text of a function of tensors with one batch dimension. Steps are those of
LAPACK's unblocked routines, so that results have its accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Matrices:
    """Matrices of `rows` rows and `columns` columns."""

    batch: int
    rows: int
    columns: int
    element: str
    """The element type, as MLIR writes it."""

    def type(self, rows: int | None = None, columns: int | None = None) -> str:
        """The type of as many matrices of another size."""
        rows, columns = rows or self.rows, columns or self.columns
        return f"tensor<{self.batch}x{rows}x{columns}x{self.element}>"

    def integers(self) -> str:
        """The type of a number for each element."""
        return f"tensor<{self.batch}x{self.rows}x{self.columns}xi32>"

    def truths(self) -> str:
        """The type of a truth for each element."""
        return f"tensor<{self.batch}x{self.rows}x{self.columns}xi1>"


_NO_NUMBER = "tensor<i32>"
_OUTER = "batching_dims = [0] x [0], contracting_dims = [2] x [1]"
_INNER = "batching_dims = [0] x [0], contracting_dims = [1] x [1]"


def cholesky(name: str, a: Matrices) -> str:
    """L of A = L L^T, of the lower triangle of A; NaN everywhere if A is not positive definite."""
    n, whole, column, one = a.rows, a.type(), a.type(columns=1), a.type(rows=1, columns=1)
    return f"""
func.func private @{name}(%a: {whole}) -> {whole} {{
  {_triangle(a, "GE")}
  %start = stablehlo.constant dense<0> : {_NO_NUMBER}
  %r:3 = stablehlo.while(%i = %start, %rest = %a, %l = %zeros)
      : {_NO_NUMBER}, {whole}, {whole} cond {{
    {_below(n)}
  }} do {{
    {_numbers()}
    %d = stablehlo.dynamic_slice %rest, %z, %i, %i, sizes = [{a.batch}, 1, 1]
        : ({whole}, {_indices()}) -> {one}
    %root = stablehlo.sqrt %d : {one}
    %roots = stablehlo.broadcast_in_dim %root, dims = [0, 1, 2] : ({one}) -> {column}
    %c = stablehlo.dynamic_slice %rest, %z, %z, %i, sizes = [{a.batch}, {n}, 1]
        : ({whole}, {_indices()}) -> {column}
    %scaled = stablehlo.divide %c, %roots : {column}
    %product = stablehlo.dot_general %scaled, %scaled, batching_dims = [0] x [0],
        contracting_dims = [2] x [2] : ({column}, {column}) -> {whole}
    %next = stablehlo.subtract %rest, %product : {whole}
    %written = stablehlo.dynamic_update_slice %l, %scaled, %z, %z, %i
        : ({whole}, {column}, {_indices()}) -> {whole}
    %j = stablehlo.add %i, %one : {_NO_NUMBER}
    stablehlo.return %j, %next, %written : {_NO_NUMBER}, {whole}, {whole}
  }}
  %lower = stablehlo.select %mask, %r#2, %zeros : {a.truths()}, {whole}
  %nothing = stablehlo.multiply %lower, %zeros : {whole}
  %initial = stablehlo.constant dense<0.0> : tensor<{a.element}>
  %sum = stablehlo.reduce(%nothing init: %initial) applies stablehlo.add across dimensions = [1, 2]
      : ({whole}, tensor<{a.element}>) -> tensor<{a.batch}x{a.element}>
  %fault = stablehlo.broadcast_in_dim %sum, dims = [0]
      : (tensor<{a.batch}x{a.element}>) -> {whole}
  %result = stablehlo.add %lower, %fault : {whole}
  return %result : {whole}
}}"""


def solve_triangular(name: str, a: Matrices, count: int, *, lower: bool, unit: bool) -> str:
    """X of A X = B, of one triangle of A, for `count` columns of B; with `unit`, 1 is on its
    diagonal."""
    n, whole, column, one = a.rows, a.type(), a.type(columns=1), a.type(rows=1, columns=1)
    right, row = a.type(columns=count), a.type(rows=1, columns=count)
    place = "%p = stablehlo.add %i, %z" if lower else "%p = stablehlo.subtract %last, %i"
    divided = f"""
    %d = stablehlo.dynamic_slice %a, %z, %p, %p, sizes = [{a.batch}, 1, 1]
        : ({whole}, {_indices()}) -> {one}
    %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1, 2] : ({one}) -> {row}
    %solved = stablehlo.divide %row, %ds : {row}"""
    same = f"""
    %solved = stablehlo.reshape %row : ({row}) -> {row}"""
    return f"""
func.func private @{name}(%a: {whole}, %b: {right}) -> {right} {{
  {_triangle(a, "GT" if lower else "LT")}
  %strict = stablehlo.select %mask, %a, %zeros : {a.truths()}, {whole}
  %start = stablehlo.constant dense<0> : {_NO_NUMBER}
  %r:2 = stablehlo.while(%i = %start, %x = %b) : {_NO_NUMBER}, {right} cond {{
    {_below(n)}
  }} do {{
    {_numbers()}
    %last = stablehlo.constant dense<{n - 1}> : {_NO_NUMBER}
    {place} : {_NO_NUMBER}
    %row = stablehlo.dynamic_slice %x, %z, %p, %z, sizes = [{a.batch}, 1, {count}]
        : ({right}, {_indices()}) -> {row}{same if unit else divided}
    %c = stablehlo.dynamic_slice %strict, %z, %z, %p, sizes = [{a.batch}, {n}, 1]
        : ({whole}, {_indices()}) -> {column}
    %product = stablehlo.dot_general %c, %solved, {_OUTER} : ({column}, {row}) -> {right}
    %rest = stablehlo.subtract %x, %product : {right}
    %written = stablehlo.dynamic_update_slice %rest, %solved, %z, %p, %z
        : ({right}, {row}, {_indices()}) -> {right}
    %j = stablehlo.add %i, %one : {_NO_NUMBER}
    stablehlo.return %j, %written : {_NO_NUMBER}, {right}
  }}
  return %r#1 : {right}
}}"""


def factorize_by_reflections(name: str, a: Matrices) -> str:
    """R in the upper triangle, reflections below it and their factors, as LAPACK's geqrf."""
    m, n, count = a.rows, a.columns, min(a.rows, a.columns)
    whole, column, one = a.type(), a.type(columns=1), a.type(rows=1, columns=1)
    row, factors = a.type(rows=1), a.type(rows=count, columns=1)
    flat = f"tensor<{a.batch}x{count}x{a.element}>"
    single = f"tensor<{a.batch}x1x1xi1>"
    truths, numbers = (f"tensor<{a.batch}x{m}x1x{kind}>" for kind in ("i1", "i32"))
    row_truths, row_numbers = (f"tensor<{a.batch}x1x{n}x{kind}>" for kind in ("i1", "i32"))
    sum_type = f"tensor<{a.batch}x{a.element}>"
    return f"""
func.func private @{name}(%a: {whole}) -> ({whole}, {flat}) {{
  %rows = stablehlo.iota dim = 1 : {numbers}
  %cols = stablehlo.iota dim = 2 : {row_numbers}
  %none = stablehlo.constant dense<0.0> : {column}
  %noner = stablehlo.constant dense<0.0> : {row}
  %ones = stablehlo.constant dense<1.0> : {column}
  %nil = stablehlo.constant dense<0.0> : {one}
  %unit = stablehlo.constant dense<1.0> : {one}
  %initial = stablehlo.constant dense<0.0> : tensor<{a.element}>
  %t0 = stablehlo.constant dense<0.0> : {factors}
  %start = stablehlo.constant dense<0> : {_NO_NUMBER}
  %r:3 = stablehlo.while(%i = %start, %x = %a, %t = %t0)
      : {_NO_NUMBER}, {whole}, {factors} cond {{
    {_below(count)}
  }} do {{
    {_numbers()}
    %is = stablehlo.broadcast_in_dim %i, dims = [] : ({_NO_NUMBER}) -> {numbers}
    %under = stablehlo.compare GT, %rows, %is, SIGNED : ({numbers}, {numbers}) -> {truths}
    %at = stablehlo.compare EQ, %rows, %is, SIGNED : ({numbers}, {numbers}) -> {truths}
    %ir = stablehlo.broadcast_in_dim %i, dims = [] : ({_NO_NUMBER}) -> {row_numbers}
    %after = stablehlo.compare GT, %cols, %ir, SIGNED
        : ({row_numbers}, {row_numbers}) -> {row_truths}
    %c = stablehlo.dynamic_slice %x, %z, %z, %i, sizes = [{a.batch}, {m}, 1]
        : ({whole}, {_indices()}) -> {column}
    %alpha = stablehlo.dynamic_slice %x, %z, %i, %i, sizes = [{a.batch}, 1, 1]
        : ({whole}, {_indices()}) -> {one}
    %tail = stablehlo.select %under, %c, %none : {truths}, {column}
    %squares = stablehlo.multiply %tail, %tail : {column}
    %sum = stablehlo.reduce(%squares init: %initial) applies stablehlo.add
        across dimensions = [1, 2] : ({column}, tensor<{a.element}>) -> {sum_type}
    %norm2 = stablehlo.reshape %sum : ({sum_type}) -> {one}
    %alpha2 = stablehlo.multiply %alpha, %alpha : {one}
    %all2 = stablehlo.add %alpha2, %norm2 : {one}
    %norm = stablehlo.sqrt %all2 : {one}
    %minus = stablehlo.negate %norm : {one}
    %positive = stablehlo.compare GE, %alpha, %nil, FLOAT : ({one}, {one}) -> {single}
    %signed = stablehlo.select %positive, %minus, %norm : {single}, {one}
    %flat = stablehlo.compare EQ, %norm2, %nil, FLOAT : ({one}, {one}) -> {single}
    %beta = stablehlo.select %flat, %alpha, %signed : {single}, {one}
    %difference = stablehlo.subtract %beta, %alpha : {one}
    %divisor = stablehlo.select %flat, %unit, %beta : {single}, {one}
    %tau = stablehlo.divide %difference, %divisor : {one}
    %negative = stablehlo.subtract %alpha, %beta : {one}
    %scale = stablehlo.select %flat, %unit, %negative : {single}, {one}
    %scales = stablehlo.broadcast_in_dim %scale, dims = [0, 1, 2] : ({one}) -> {column}
    %below = stablehlo.divide %tail, %scales : {column}
    %v = stablehlo.select %at, %ones, %below : {truths}, {column}
    %w = stablehlo.dot_general %v, %x, {_INNER} : ({column}, {whole}) -> {row}
    %taus = stablehlo.broadcast_in_dim %tau, dims = [0, 1, 2] : ({one}) -> {row}
    %wt = stablehlo.multiply %w, %taus : {row}
    %wa = stablehlo.select %after, %wt, %noner : {row_truths}, {row}
    %product = stablehlo.dot_general %v, %wa, {_OUTER} : ({column}, {row}) -> {whole}
    %next = stablehlo.subtract %x, %product : {whole}
    %betas = stablehlo.broadcast_in_dim %beta, dims = [0, 1, 2] : ({one}) -> {column}
    %head = stablehlo.select %at, %betas, %c : {truths}, {column}
    %stored = stablehlo.select %under, %below, %head : {truths}, {column}
    %written = stablehlo.dynamic_update_slice %next, %stored, %z, %z, %i
        : ({whole}, {column}, {_indices()}) -> {whole}
    %tn = stablehlo.dynamic_update_slice %t, %tau, %z, %i, %z
        : ({factors}, {one}, {_indices()}) -> {factors}
    %j = stablehlo.add %i, %one : {_NO_NUMBER}
    stablehlo.return %j, %written, %tn : {_NO_NUMBER}, {whole}, {factors}
  }}
  %result = stablehlo.reshape %r#2 : ({factors}) -> {flat}
  return %r#1, %result : {whole}, {flat}
}}"""


def multiply_reflections(name: str, a: Matrices, count: int) -> str:
    """The product of `count` reflections that `factorize_by_reflections` gives, as orgqr."""
    m = a.rows
    whole, column, one = a.type(), a.type(columns=1), a.type(rows=1, columns=1)
    row, flat = a.type(rows=1), f"tensor<{a.batch}x{count}x{a.element}>"
    factors = a.type(rows=count, columns=1)
    truths, numbers = (f"tensor<{a.batch}x{m}x1x{kind}>" for kind in ("i1", "i32"))
    return f"""
func.func private @{name}(%a: {whole}, %t: {flat}) -> {whole} {{
  {_triangle(a, "EQ")}
  %filled = stablehlo.constant dense<1.0> : {whole}
  %eye = stablehlo.select %mask, %filled, %zeros : {a.truths()}, {whole}
  %taus = stablehlo.reshape %t : ({flat}) -> {factors}
  %numbers = stablehlo.iota dim = 1 : {numbers}
  %none = stablehlo.constant dense<0.0> : {column}
  %ones = stablehlo.constant dense<1.0> : {column}
  %start = stablehlo.constant dense<0> : {_NO_NUMBER}
  %r:2 = stablehlo.while(%i = %start, %q = %eye) : {_NO_NUMBER}, {whole} cond {{
    {_below(count)}
  }} do {{
    {_numbers()}
    %last = stablehlo.constant dense<{count - 1}> : {_NO_NUMBER}
    %p = stablehlo.subtract %last, %i : {_NO_NUMBER}
    %is = stablehlo.broadcast_in_dim %p, dims = [] : ({_NO_NUMBER}) -> {numbers}
    %under = stablehlo.compare GT, %numbers, %is, SIGNED : ({numbers}, {numbers}) -> {truths}
    %at = stablehlo.compare EQ, %numbers, %is, SIGNED : ({numbers}, {numbers}) -> {truths}
    %c = stablehlo.dynamic_slice %a, %z, %z, %p, sizes = [{a.batch}, {m}, 1]
        : ({whole}, {_indices()}) -> {column}
    %tail = stablehlo.select %under, %c, %none : {truths}, {column}
    %v = stablehlo.select %at, %ones, %tail : {truths}, {column}
    %tau = stablehlo.dynamic_slice %taus, %z, %p, %z, sizes = [{a.batch}, 1, 1]
        : ({factors}, {_indices()}) -> {one}
    %w = stablehlo.dot_general %v, %q, {_INNER} : ({column}, {whole}) -> {row}
    %ts = stablehlo.broadcast_in_dim %tau, dims = [0, 1, 2] : ({one}) -> {row}
    %wt = stablehlo.multiply %w, %ts : {row}
    %product = stablehlo.dot_general %v, %wt, {_OUTER} : ({column}, {row}) -> {whole}
    %next = stablehlo.subtract %q, %product : {whole}
    %j = stablehlo.add %i, %one : {_NO_NUMBER}
    stablehlo.return %j, %next : {_NO_NUMBER}, {whole}
  }}
  return %r#1 : {whole}
}}"""


def _triangle(a: Matrices, direction: str) -> str:
    """`%mask`, where rows compare so with columns, and `%zeros`."""
    return f"""%rows = stablehlo.iota dim = 1 : {a.integers()}
  %cols = stablehlo.iota dim = 2 : {a.integers()}
  %mask = stablehlo.compare {direction}, %rows, %cols, SIGNED
      : ({a.integers()}, {a.integers()}) -> {a.truths()}
  %zeros = stablehlo.constant dense<0.0> : {a.type()}"""


def _below(count: int) -> str:
    return f"""%n = stablehlo.constant dense<{count}> : {_NO_NUMBER}
    %goes = stablehlo.compare LT, %i, %n, SIGNED : ({_NO_NUMBER}, {_NO_NUMBER}) -> tensor<i1>
    stablehlo.return %goes : tensor<i1>"""


def _numbers() -> str:
    return f"""%z = stablehlo.constant dense<0> : {_NO_NUMBER}
    %one = stablehlo.constant dense<1> : {_NO_NUMBER}"""


def _indices() -> str:
    return ", ".join([_NO_NUMBER] * 3)
