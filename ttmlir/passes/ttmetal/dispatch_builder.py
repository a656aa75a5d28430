"""The `ttmetal.dispatch` that launches kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import ttmetal
from ttmlir.dialects.definition.ods import SEGMENTS
from ttmlir.ir.kernel_builder import KernelBuilder
from ttmlir.ir.rewriting import insert_before, replace


@dataclass(frozen=True)
class Launch:
    """A kernel, the cores that it runs on and how they are set up."""

    kernel: KernelBuilder
    cores: ttmetal.Area
    config: Attribute


def replace_by_dispatch(
    op: Operation, inputs: Sequence[SSAValue], outputs: Sequence[SSAValue], launches: list[Launch]
) -> ttmetal.DispatchOp:
    """Let kernels compute the results of an operation into `outputs`; what launches them."""
    ranges = [ttmetal.CoreRangeAttr(launch.cores) for launch in launches]
    dispatch = ttmetal.DispatchOp.create(
        operands=[*inputs, *outputs],
        result_types=[output.type for output in outputs],
        properties={
            "core_ranges": ArrayAttr(ranges),
            "kernelConfigs": ArrayAttr([launch.config for launch in launches]),
            SEGMENTS: ttmetal.DispatchOp.segments(len(inputs), len(outputs)),
        },
        regions=[launch.kernel.finish() for launch in launches],
        location=op.location,
    )
    insert_before(op, dispatch)
    replace(op, *dispatch.results)
    return dispatch
