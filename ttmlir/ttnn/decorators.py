"""Names of ttnn about operations, as `ttnn.decorators`; `ttnn` itself has them, too."""

from ttmlir.ttnn.namespace import all_names

__getattr__ = all_names("decorators")
