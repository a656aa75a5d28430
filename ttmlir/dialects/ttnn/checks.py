"""Verifiers of ttnn operations that differ from their ttir counterparts."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation

from ttmlir.dialects.dps import DestinationStyleOp
from ttmlir.dialects.ods import refuse
from ttmlir.dialects.shape_checks import (
    Check,
    check_conv2d,
    check_pool_rank,
    check_window_fits,
    comma_separated,
    int_property,
    shape_of,
)


def _check_conv2d(op: Operation) -> None:
    dps = cast("DestinationStyleOp", op)
    check_conv2d(dps)
    bias = dps.group("bias")
    if bias and shape_of(bias[0])[:3] != (1, 1, 1):
        refuse("Bias must only have data on the final dimenstion")


def _check_max_pool2d(op: Operation) -> None:
    height, width = int_property(op, "input_height"), int_property(op, "input_width")
    check_window_fits(op, height, width)
    shape = check_pool_rank(op)
    shown = comma_separated(shape)
    if shape[:2] != (1, 1):
        refuse(f"Maxpool input must be in the form (1, 1, N*H*W, C). Recieved shape ({shown}).")
    batch, channels = int_property(op, "batch_size"), int_property(op, "channels")
    if shape[2] != batch * height * width:
        refuse(
            f"Maxpool shape ({shown}) at dim -2 must be equal to N*H*W. However the attributes "
            f"given are N={batch}, H={height}, W={width}. "
            f"{batch}*{height}*{width} != {shape[2]}."
        )
    if shape[3] != channels:
        refuse(
            f"Maxpool shape ({shown}) at dim -3 must be equal to C. However the attribute given "
            f"is C={channels}. {shape[3]} != {channels}"
        )


CHECKS: dict[str, Check] = {"conv2d": _check_conv2d, "max_pool2d": _check_max_pool2d}
"""Checks by mnemonic."""
