"""Does once for all processes of a sweep what takes long: to import, and to compile a first model.

JAX starts threads, which a fork would lose: it is left to the processes.
"""

from __future__ import annotations

import gc
from importlib.util import find_spec

from model_zoo.catalogue import ENTRIES
from model_zoo.measure import measure

WARMING = (
    "torchvision/squeezenet1_1",
    "timm/lcnet_050",
    "transformers/LlamaForCausalLM",
    "diffusers/AutoencoderTiny",
)
"""Small models. Each of them makes its library import what it puts off."""

for _key in WARMING:
    if find_spec(ENTRIES[_key].library) is not None:
        measure(ENTRIES[_key])
gc.freeze()
