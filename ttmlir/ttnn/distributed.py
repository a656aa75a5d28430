"""Names of ttnn about meshes, as `ttnn.distributed`; `ttnn` itself has them, too."""

from ttmlir.ttnn.namespace import all_names

__getattr__ = all_names("distributed")
