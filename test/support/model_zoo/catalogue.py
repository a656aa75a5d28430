"""All models by their keys."""

from __future__ import annotations

from collections.abc import Mapping

from model_zoo import (
    diffusers_models,
    flax_models,
    timm_models,
    torchvision_models,
    transformers_signals,
    transformers_text,
    transformers_vision,
)
from model_zoo.entry import Entry

_ROOMS = (
    transformers_text,
    transformers_vision,
    transformers_signals,
    flax_models,
    torchvision_models,
    timm_models,
    diffusers_models,
)

ENTRIES: Mapping[str, Entry] = {entry.key: entry for module in _ROOMS for entry in module.entries()}
