"""The decorators, by the module name of later guides, that make kernels of functions."""

from pykernel.ast import *
from pykernel.ast import __all__ as __all__
