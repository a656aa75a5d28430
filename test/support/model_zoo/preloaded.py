"""Imports what takes long, once for all processes of a sweep.

JAX starts threads, which a fork would lose: it is left to the processes.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

for _name in (
    "torch",
    "model_zoo.torchvision_operators",
    "transformers",
    "timm",
    "ttmlir.frontend.torch",
    "ttmlir.compiler",
):
    if find_spec(_name.partition(".")[0]) is not None:
        import_module(_name)
