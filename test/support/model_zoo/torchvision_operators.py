"""Names of torchvision's own operators, which its Python looks for when it is imported.

PyPI's torchvision is built for a torch with CUDA: beside another one its library of operators does
not load, and then its Python does not either. Models of the catalogue call none of them.
"""

from __future__ import annotations

from importlib.util import find_spec

import torch


def define_operators() -> None:
    """Declare what torchvision's library would, where it does not load; not what they compute."""
    library = find_spec("torchvision")
    if library is None or not library.submodule_search_locations:
        return
    try:
        torch.ops.load_library(f"{library.submodule_search_locations[0]}/_C_stable.so")
    except OSError:
        for name in ("nms", "qnms"):
            torch.library.define(
                f"torchvision::{name}", "(Tensor dets, Tensor scores, float threshold) -> Tensor"
            )


define_operators()
