"""Names of ttnn by the module that upstream defines them in, and rounding, as `ttnn.core`."""

from ttmlir.ttnn.namespace import all_names

__getattr__ = all_names("core")


def divup(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)


def roundup(a: int, b: int) -> int:
    """The next multiple of b from a on."""
    return divup(a, b) * b
