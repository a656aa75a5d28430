"""Operations that ttnn calls experimental, as `ttnn.experimental`."""

from ttmlir.ttnn.namespace import names_below

__getattr__, __dir__ = names_below("experimental")
