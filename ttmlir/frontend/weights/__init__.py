"""Weights of files in a torch module: GGUF, safetensors, and LoRA adapters.

    from ttmlir.frontend.weights import load_weights

    model = load_weights(model, ["model.gguf", "adapter/"])

Files come from strangers: what they announce is compared with what there is before anything is
allocated, and tensors are read one at a time.
"""

from __future__ import annotations

from ttmlir.frontend.weights.loading import WeightFiles, load_weights

__all__ = ["WeightFiles", "load_weights"]
