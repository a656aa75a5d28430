"""Names of ttnn about what a profiler measured, as `ttnn.profiler`; `ttnn` itself has them, too."""

from ttmlir.ttnn.namespace import all_names

__getattr__ = all_names("profiler")
