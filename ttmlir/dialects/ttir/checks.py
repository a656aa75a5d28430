"""Verifiers of ttir operations that differ from their ttnn counterparts."""

from __future__ import annotations

from xdsl.ir import Operation

from ttmlir.dialects.ods import refuse
from ttmlir.dialects.shape_checks import (
    Check,
    check_conv2d,
    check_pool_rank,
    check_window_fits,
    int_property,
)


def check_max_pool2d(op: Operation) -> None:
    """Check the shapes and the window of a pooling.

    C1: the input has four dimensions.
    C2: `original_height` and `original_width` are both given or both absent.
    C3: the window is not larger than the image, or than the original image if given.
    """
    shape = check_pool_rank(op)
    given = [name for name in ("original_height", "original_width") if name in op.properties]
    if len(given) == 1:
        refuse(
            "If providing the original height and width as attributes, both original_height and "
            f"original_width must be set. However, only {given[0]} was provided."
        )
    height, width = (int_property(op, name) for name in given) if given else shape[1:3]
    check_window_fits(op, height, width)


CHECKS: dict[str, Check] = {"conv2d": check_conv2d, "max_pool2d": check_max_pool2d}
"""Checks by mnemonic."""
