"""Which function estimates which operation: every operation of the schema has one."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ttmlir.cost.families.contraction import cost_attention, cost_matmul
from ttmlir.cost.families.elementwise import cost_elementwise
from ttmlir.cost.families.movement import (
    cost_concat,
    cost_copy,
    cost_creation,
    cost_embedding,
    cost_lines,
    cost_pad,
    cost_permute,
    cost_permute_rows,
    cost_repeat,
    cost_reshape,
    cost_slice,
    cost_tilize,
    cost_transpose,
    cost_untilize,
)
from ttmlir.cost.families.reduction import (
    cost_batch_norm,
    cost_cumsum,
    cost_group_norm,
    cost_layer_norm,
    cost_ordering,
    cost_reduction,
    cost_rms_norm,
    cost_softmax,
)
from ttmlir.cost.families.window import cost_convolution, cost_pool
from ttmlir.cost.machine import Machine
from ttmlir.cost.work import Work
from ttmlir.cost.workload import OperationCost
from ttmlir.optable import ROWS
from ttmlir.optable.row import Family

Cost = Callable[[Machine, Work], OperationCost]

COSTS: Mapping[str, Cost] = {
    "matmul": cost_matmul,
    "conv2d": cost_convolution,
    "conv_transpose2d": cost_convolution,
    "max_pool2d": cost_pool,
    "avg_pool2d": cost_pool,
    "softmax": cost_softmax,
    "batch_norm_inference": cost_batch_norm,
    "cumsum": cost_cumsum,
    **dict.fromkeys(("sort", "topk"), cost_ordering),
    "transpose": cost_transpose,
    "permute": cost_permute,
    "reshape": cost_reshape,
    "concat": cost_concat,
    "slice": cost_slice,
    "pad": cost_pad,
    "repeat": cost_repeat,
    "embedding": cost_embedding,
    **dict.fromkeys(("reverse", "gather", "slice_dynamic"), cost_lines),
    **dict.fromkeys(("full", "arange", "constant"), cost_creation),
    # Programs of ttnn that files have no operation for, for lists of shapes.
    "layer_norm": cost_layer_norm,
    "rms_norm": cost_rms_norm,
    "group_norm": cost_group_norm,
    "scaled_dot_product_attention": cost_attention,
    "tilize": cost_tilize,
    "untilize": cost_untilize,
    "permute_rows": cost_permute_rows,
}
"""By mnemonic; those that are missing follow from their family."""

_BY_FAMILY: Mapping[Family, Cost] = {
    Family.UNARY: cost_elementwise,
    Family.BINARY: cost_elementwise,
    Family.TERNARY: cost_elementwise,
    Family.REDUCTION: cost_reduction,
}


def cost_operation(machine: Machine, work: Work) -> OperationCost:
    """What an operation does on a machine; of an unknown one the movement of its tensors."""
    if not all(desc.volume for desc in (*work.operands, work.output)):
        return OperationCost(notes=("tensors without elements take no time",))
    cost = COSTS.get(work.mnemonic)
    if cost is None and work.mnemonic in ROWS:
        cost = _BY_FAMILY.get(ROWS[work.mnemonic].family)
    return (cost or cost_copy)(machine, work)
