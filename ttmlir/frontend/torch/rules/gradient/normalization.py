"""The gradients of norms that torch does not decompose."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.ir.tensor_types import value_shape


def _weight_norm_backward(call: TorchCall) -> tuple[SSAValue, SSAValue]:
    """Of `v * (g / norm(v))`, where the norm leaves one dimension: gradients of v and g."""
    build = call.build
    names = ("grad_w", "saved_v", "saved_g", "saved_norms")
    gradient, v, g, norms = (call.tensor(name) for name in names)
    dims = tuple(dim for dim in range(len(value_shape(v))) if dim != call["dim"])
    total = build.reduce("sum", build.compute("multiply", gradient, v), dims)
    norms = build.reshape(norms, value_shape(total))
    g = build.reshape(g, value_shape(total))
    along = build.compute("div", total, norms)
    # What is along v does not change v / norm(v).
    part = build.compute("multiply", v, build.compute("div", along, norms))
    scale = build.compute("div", g, norms)
    of_v = build.compute("multiply", build.compute("subtract", gradient, part), scale)
    return of_v, build.reshape(along, call.result_type(1).get_shape())


RULES: dict[str, TorchRule] = {"_weight_norm_interface_backward": _weight_norm_backward}
"""Rules by the name of the ATen operation."""
