"""ATen operations that are losses of labels by margins, and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ttmlir.arrays.array import Array
from ttmlir.composites import losses
from ttmlir.frontend.torch.call import Result, TorchCall, TorchRule

_REDUCTIONS: Sequence[losses.Reduction] = [*losses.Reduction]
"""In the order of torch's numbers."""


def _rows(call: TorchCall, name: str) -> Array:
    """A tensor whose last dimension is a row; a row by itself is one of one."""
    x = call.argument(name)
    return x.reshape((math.prod(x.shape[:-1]), x.shape[-1]))


def _multilabel_margin(call: TorchCall) -> Result:
    reduction = _REDUCTIONS[int(call["reduction"])]
    given = _rows(call, "self"), _rows(call, "target")
    return call.results(losses.multilabel_margin_loss(*given, reduction))


def _multilabel_margin_backward(call: TorchCall) -> Result:
    reduction = _REDUCTIONS[int(call["reduction"])]
    given = call.argument("grad_output"), _rows(call, "self"), _rows(call, "target")
    return call.results(losses.differentiate_multilabel_margin_loss(*given, reduction))


def _multi_margin_backward(call: TorchCall) -> Result:
    labels = call.argument("target")
    found = losses.differentiate_multi_margin_loss(
        call.argument("grad_output"),
        _rows(call, "self"),
        labels.reshape((math.prod(labels.shape),)),
        int(call["p"]),
        float(call["margin"]),
        call.argument("weight"),
        _REDUCTIONS[int(call["reduction"])],
    )
    return call.results(found)


RULES: dict[str, TorchRule] = {
    "multi_margin_loss_backward": _multi_margin_backward,
    "multilabel_margin_loss_backward": _multilabel_margin_backward,
    "multilabel_margin_loss_forward": _multilabel_margin,
}
"""Rules by the name of the ATen operation."""
