"""Names of translations, and where their functions are.

A translation is a function from a verified module to text or bytes. A name maps to
`module:function`; the module is imported when the name is used.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module


@dataclass(frozen=True, kw_only=True)
class Translation:
    """A way to write a module in another format."""

    doc: str
    function: str
    """`module:function`; the function takes a module and gives text or bytes."""
    flags: tuple[str, ...] = ()
    """Flags of the tool that the function takes as keywords."""

    def load(self) -> Callable[..., str | bytes]:
        """The function."""
        module, _, name = self.function.partition(":")
        return getattr(import_module(module), name)


TRANSLATIONS: dict[str, Translation] = {
    "mlir-to-cpp": Translation(
        doc="translate from mlir to cpp",
        function="ttmlir.target.cpp:emit_cpp",
        flags=("declare_variables_at_top",),
    ),
    "ttnn-to-flatbuffer": Translation(
        doc="translate ttnn to flatbuffer",
        function="ttmlir.target.flatbuffer.ttnn:ttnn_to_flatbuffer",
    ),
}
"""Every translation by its name on the command line, sorted by name."""
