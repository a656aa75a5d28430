"""The decorators that make kernels of functions."""

from pykernel.ast import *
from pykernel.ast import __all__ as __all__
