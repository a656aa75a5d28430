"""The operation of `ttmlir.bridge`: a program of kernels, which stays one."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.dialects import ttir
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.program import DescriptionError, read_custom_kernel


def _kernel(call: TorchCall) -> tuple[SSAValue, ...]:
    config = call["config"]
    try:
        kernel = read_custom_kernel(config)
    except DescriptionError as error:
        call.refuse(f"config: {error}")
    inputs = call.tensors("inputs")
    types = [call.result_type(number) for number in range(len(kernel.outputs))]
    difference = kernel.difference(
        [ttir.tensor_text(value.type) for value in inputs], [*map(ttir.tensor_text, types)]
    )
    if difference is not None:
        call.refuse(difference)
    return tuple(call.build.create_custom_kernel(config, inputs, types))


RULES: dict[str, TorchRule] = {"ttmlir.kernel": _kernel}
"""Rules by the name of the operation, its namespace included."""
