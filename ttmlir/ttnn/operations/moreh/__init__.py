"""Operations for training whose names begin with `moreh_`: `ttnn.operations.moreh` in ttnn.

The names of this package are those behind `moreh_`: `ttnn.operations.moreh.sum`.
"""

from __future__ import annotations

from typing import Any

from ttmlir.errors import MissingNameError
from ttmlir.metalium.enums import NamedNumber

_OTHER_NAMES = {"abs": "abs_pow"}


class SoftmaxBackwardOp(NamedNumber):
    """Which softmax a gradient is of."""

    SOFTMAX = 0
    SOFTMIN = 1
    LOGSOFTMAX = 2


class SoftmaxOpParallelizationStrategy(NamedNumber):
    """How a card divides a softmax over its cores; here it changes nothing."""

    NONE = 0
    SMALL_W = 1
    SMALL_H = 2
    LARGE_W = 3
    LARGE_H = 4
    LARGE_C = 5


SoftmaxOp = SoftmaxOpParallelizationStrategy
SoftmaxBackwardOpParallelizationStrategy = SoftmaxOpParallelizationStrategy


def __getattr__(name: str) -> Any:
    """The operation `ttnn.moreh_NAME`."""
    from ttmlir.ttnn import registry

    if not name.startswith("__"):
        try:
            return registry.find_operation(f"moreh_{_OTHER_NAMES.get(name, name)}")
        except KeyError:
            pass
    raise MissingNameError(f"module 'ttnn.operations.moreh' has no attribute {name!r}")
