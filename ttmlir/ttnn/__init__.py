"""ttnn's Python API on simulated devices.

    import ttmlir.ttnn as ttnn

    device = ttnn.open_device(device_id=0)
    x = ttnn.from_torch(torch.rand(33, 70), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT,
                        device=device)
    print(ttnn.exp(x))

Names and rules are those of tt-metal's ttnn of February 2026. They are loaded on first use:
importing the package imports nothing else.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from ttmlir.errors import MissingNameError
from ttmlir.ttnn import registry

TILE_SIZE = 32
DEFAULT_COMMAND_QUEUE = None


def __getattr__(name: str) -> Any:
    """Load a public name from the module that defines it; AttributeError names the nearest."""
    if name.startswith("__"):
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    try:
        found = registry.find(name)
    except KeyError:
        if find_spec(f"{__name__}.{name}") is not None:
            return import_module(f"{__name__}.{name}")
        raise MissingNameError(registry.explain_missing(name)) from None
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    """All names."""
    return registry.known_names()


if os.environ.get("TTNN_CONFIG_OVERRIDES"):
    # What it changes holds for all calls, also where the program never asks for CONFIG.
    import_module(f"{__name__}.configuration")
