"""The frontend for torch: programs of torch as modules in the ttir dialect.

    from ttmlir.frontend.torch import export, import_program

    program = import_program(export(module, (example,)))
    print(program.module)

`torch.export` traces a module and decomposes what it calls into few ATen operations; the importer
turns each of them into ttir operations by a rule from a table (`rules`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ttmlir.errors import MissingNameError

if TYPE_CHECKING:
    from ttmlir.frontend.torch.exporting import export
    from ttmlir.frontend.torch.model import import_model, import_models
    from ttmlir.frontend.torch.program import ImportedProgram, import_program
    from ttmlir.frontend.torch.support import Support, supported

_HOMES = {
    "export": "exporting",
    "import_model": "model",
    "import_models": "model",
    "import_program": "program",
    "ImportedProgram": "program",
    "supported": "support",
    "Support": "support",
}

__all__ = [
    "ImportedProgram",
    "Support",
    "export",
    "import_model",
    "import_models",
    "import_program",
    "supported",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that defines it."""
    home = _HOMES.get(name)
    if home is None:
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    """Public names, those that are not loaded yet included."""
    return sorted({*globals(), *__all__})
