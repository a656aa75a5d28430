"""Heads and attention of transformers, as `ttnn.transformer`."""

from ttmlir.ttnn.namespace import names_below

__getattr__, __dir__ = names_below("transformer")
