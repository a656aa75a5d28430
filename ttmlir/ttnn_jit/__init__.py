"""Functions of ttnn as kernels of their own: the decorator `jit`.

    import ttnn_jit

    @ttnn_jit.jit()
    def cosh(x):
        return ttnn.multiply(ttnn.add(ttnn.exp(x), ttnn.exp(ttnn.neg(x))), 0.5)

The first call records what the function calls and compiles it by way of ttir and d2m to programs of
kernels; every call runs those on the simulated device of its tensors, among all other calls of
ttnn.
"""

from ttmlir.errors import MissingNameError
from ttmlir.ttnn import registry
from ttmlir.ttnn_jit.function import JitCache, JitFunction, JitModule, jit

__all__ = ["JitCache", "JitFunction", "JitModule", "jit"]


def __getattr__(name: str) -> object:
    """Functions of ttnn, which a function that is compiled may call by this name, too."""
    try:
        found = registry.find(name)
    except KeyError:
        found = None
    if name.startswith("__") or not callable(found):
        raise MissingNameError(f"module {__name__!r} has no attribute {name!r}")
    return found
