"""Annotations of kernels, and what kernels are described with."""

from pykernel.types import *
from pykernel.types import __all__ as __all__
