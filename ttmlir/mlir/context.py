"""xDSL contexts whose dialects are imported when their first name is read."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, NameLoc
from xdsl.ir import Dialect

from ttmlir.mlir.attributes.sharing import memoize_comparison

UPSTREAM_DIALECTS: Mapping[str, str] = {
    "affine": "xdsl.dialects.affine:Affine",
    "arith": "xdsl.dialects.arith:Arith",
    "builtin": "xdsl.dialects.builtin:Builtin",
    "cf": "xdsl.dialects.cf:Cf",
    "emitc": "xdsl.dialects.emitc:EmitC",
    "func": "xdsl.dialects.func:Func",
    "linalg": "xdsl.dialects.linalg:Linalg",
    "math": "xdsl.dialects.math:Math",
    "memref": "xdsl.dialects.memref:MemRef",
    "ml_program": "xdsl.dialects.ml_program:MLProgram",
    "scf": "xdsl.dialects.scf:Scf",
    "tensor": "xdsl.dialects.tensor:Tensor",
    "tosa": "xdsl.dialects.tosa:TOSA",
    "vector": "xdsl.dialects.vector:Vector",
}
"""The upstream dialects, as `module:attribute` of the xDSL dialect."""


def make_context(
    dialects: Mapping[str, str] | None = None, *, allow_unregistered: bool = False
) -> Context:
    """A context that knows the upstream dialects and `dialects` (name to `module:attribute`).

    A name in `dialects` replaces the upstream dialect of the same name. With `allow_unregistered`,
    operations, types and attributes of unknown dialects are kept as they are.
    """
    context = Context(allow_unregistered=allow_unregistered)
    for name, path in {**UPSTREAM_DIALECTS, **(dialects or {})}.items():
        context.register_dialect(name, lambda path=path: load_dialect(path))
    context.load_registered_dialect("builtin")
    # No dialect of xDSL lists the locations.
    memoize_comparison((CallSiteLoc, FusedLoc, NameLoc))
    return context


def load_dialect(path: str) -> Dialect:
    """The dialect at `module:attribute`."""
    module, _, attribute = path.partition(":")
    dialect = getattr(import_module(module), attribute)
    assert isinstance(dialect, Dialect), f"{path} is no dialect"
    memoize_comparison(dialect.attributes)
    return dialect
