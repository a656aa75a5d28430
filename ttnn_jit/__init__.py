"""ttnn_jit under the import name that its guide uses; the code is in `ttmlir.ttnn_jit`.

Where no ttnn is installed, `import ttnn` finds that of simulated devices afterwards.
"""

from ttmlir.ttnn.activate import activate
from ttmlir.ttnn_jit import JitCache, JitFunction, JitModule, jit
from ttmlir.ttnn_jit import __getattr__ as find_function

__all__ = ["JitCache", "JitFunction", "JitModule", "jit"]

activate()


def __getattr__(name: str) -> object:
    """Functions of ttnn, which a function that is compiled may call by this name, too."""
    return find_function(name)
