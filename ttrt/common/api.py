"""The commands of ttrt as classes."""

from ttmlir.runtime.ttrt.api import API

__all__ = ["API"]
