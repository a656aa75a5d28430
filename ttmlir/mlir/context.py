"""xDSL contexts whose dialects are imported when their first name is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

from ttmlir.mlir.attribute_sharing import memoize_comparison
from ttmlir.mlir.extensions import declared, load
from ttmlir.mlir.option_values import OptionError

# --- Context --------------------------------------------------------------------------------------

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


class _ExtensibleContext(Context):
    """Finds dialects of installed packages when a name of theirs is read."""

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        """The class of an operation; None if its dialect is not known."""
        self._adopt(name)
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def get_optional_attr(self, name: str) -> type[Attribute] | None:
        """The class of an attribute; None if its dialect is not known."""
        self._adopt(name)
        return super().get_optional_attr(name)

    def get_optional_type(self, name: str) -> type[TypeAttribute] | None:
        """The class of a type; None if its dialect is not known."""
        self._adopt(name)
        return super().get_optional_type(name)

    def _adopt(self, name: str) -> None:
        """Register the dialect of a name if it is not known and a package declares it."""
        dialect, dot, _ = name.partition(".")
        if dot and dialect not in self.registered_dialect_names:
            found = load("ttmlir.dialects", dialect)
            if found is not None:
                if not isinstance(found, Dialect) or found.name != dialect:
                    location = declared("ttmlir.dialects")[dialect]
                    raise OptionError(
                        f"'{dialect}' is the entry point {location} of the group ttmlir.dialects, "
                        "which is no dialect of xDSL of that name"
                    )
                self.register_dialect(dialect, lambda: found)


def make_context(
    dialects: Mapping[str, str] | None = None, *, allow_unregistered: bool = False
) -> Context:
    """A context that knows the upstream dialects and `dialects` (name to `module:attribute`).

    A name in `dialects` replaces the upstream dialect of the same name. With `allow_unregistered`,
    operations, types and attributes of unknown dialects are kept as they are.
    """
    context = _ExtensibleContext(allow_unregistered=allow_unregistered)
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
