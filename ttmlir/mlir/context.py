"""xDSL contexts whose dialects are imported when their first name is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module

from xdsl.context import Context
from xdsl.dialects.builtin import CallSiteLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Dialect, Operation, TypeAttribute

from ttmlir.mlir.attribute_sharing import memoize_comparison
from ttmlir.mlir.extensions import declared, load
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.xdsl_internals import enter_dialect

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


class LaterDialect(Dialect, ABC):
    """A dialect whose operations are classes that are made when their names are read."""

    @abstractmethod
    def find_operation(self, name: str) -> type[Operation] | None:
        """The class of an operation by its full name; None if there is none."""


@dataclass
class _ExtensibleContext(Context):
    """Finds dialects of installed packages, and single operations, when a name is read."""

    _later: dict[str, LaterDialect] = field(default_factory=dict[str, LaterDialect])
    """The loaded dialects whose operations are made one by one."""
    _found: dict[str, type[Operation]] = field(default_factory=dict[str, type[Operation]])
    """Operations that have been read, by the name in the text."""

    def load_registered_dialect(self, name: str) -> None:
        """Load a dialect, without the operations that can wait."""
        dialect = enter_dialect(self, name)
        if dialect is None:
            super().load_registered_dialect(name)
            return
        if isinstance(dialect, LaterDialect):
            self._later[name] = dialect
        else:
            for op in dialect.operations:
                self.load_op(op)
        for attr in dialect.attributes:
            self.load_attr_or_type(attr)

    def get_optional_op(
        self, name: str, *, dialect_stack: Sequence[str] = ()
    ) -> type[Operation] | None:
        """The class of an operation; None if its dialect is not known."""
        if found := self._found.get(name):
            return found
        self._adopt(name)
        found = self._find_later(name)
        if found is not None:
            self._found[name] = found
            return found
        if "." not in name:
            for dialect in reversed(dialect_stack):
                if found := self._find_later(f"{dialect}.{name}"):
                    return found
        return super().get_optional_op(name, dialect_stack=dialect_stack)

    def _find_later(self, name: str) -> type[Operation] | None:
        dialect, dot, _ = name.partition(".")
        if not dot:
            return None
        if dialect not in self._later:
            if dialect not in self.registered_dialect_names or dialect in self._loaded_names():
                return None
            self.load_registered_dialect(dialect)
        later = self._later.get(dialect)
        return None if later is None else later.find_operation(name)

    def _loaded_names(self) -> set[str]:
        return {dialect.name for dialect in self.loaded_dialects}

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
