"""ttnn_jit under the import name that its guide uses; the code is in `ttmlir.ttnn_jit`.

Where no ttnn is installed, `import ttnn` finds that of simulated devices afterwards.
"""

from ttmlir.ttnn.activate import activate
from ttmlir.ttnn_jit import JitCache, JitFunction, JitModule, jit

__all__ = ["JitCache", "JitFunction", "JitModule", "jit"]

activate()
