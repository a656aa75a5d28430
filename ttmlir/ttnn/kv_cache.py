"""Keys and values of earlier tokens, as `ttnn.kv_cache`."""

from ttmlir.ttnn.namespace import names_below

__getattr__, __dir__ = names_below("kv_cache")
