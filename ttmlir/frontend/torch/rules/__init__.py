"""What becomes of each ATen operation: one rule for each name, or for one of its overloads."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ttmlir.dialects import ttir
from ttmlir.frontend.torch.call import TorchCall, TorchRule
from ttmlir.frontend.torch.rules import (
    attention,
    collectives,
    complex_numbers,
    contraction,
    creation,
    elementwise,
    indexing,
    linear_algebra,
    losses,
    movement,
    normalization,
    reduction,
    resampling,
    statistics,
    window,
)
from ttmlir.program import DescriptionError, read_custom_kernel

RULES: dict[str, TorchRule] = {
    **elementwise.RULES,
    **movement.RULES,
    **reduction.RULES,
    **attention.RULES,
    **contraction.RULES,
    **normalization.RULES,
    **indexing.RULES,
    **window.RULES,
    **linear_algebra.RULES,
    **losses.RULES,
    **resampling.RULES,
    **statistics.RULES,
    **creation.RULES,
    **complex_numbers.RULES,
}
"""Rules by names such as `add` (all overloads) or `max.dim`."""


def rule_of(name: str) -> TorchRule | None:
    """The rule of an overload by a name such as `aten.add.Tensor`; None if there is none."""
    if not name.startswith("aten."):
        if name in collectives.RULES:
            return collectives.RULES[name]
        if name in RULES:
            return RULES[name]
        return _kernel if name.rpartition(".")[0] == "ttmlir.kernel" else None
    overload = name.removeprefix("aten.")
    base = overload.partition(".")[0]
    return RULES.get(overload) or RULES.get(base) or complex_numbers.OWN.get(base)


def rule_for_complex(name: str) -> TorchRule | None:
    """The rule of an overload that complex numbers are given to, or come from."""
    if not name.startswith("aten."):
        return None
    return complex_numbers.rule_for_complex(name.removeprefix("aten."), RULES)


def _kernel(call: TorchCall) -> tuple[SSAValue, ...]:
    """The operation of `ttmlir.bridge`: a program of kernels, which stays one."""
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
