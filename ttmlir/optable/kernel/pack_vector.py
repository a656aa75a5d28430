"""Calls of tt-metal 0.81 that drive the vector unit from the PACK thread.

They compute what the calls of the MATH thread do, on the half of DST that the PACK thread has
waited for, while the matrix unit goes on with the other half. Source: tt-metal 0.81,
api/compute/compute_kernel_api.h and api/compute/eltwise_unary/*.h.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ttmlir.optable.kernel import late_vector, vector
from ttmlir.optable.kernel.kernel_call import KernelCall, Role
from ttmlir.optable.kernel.releases import SINCE

_NAMES: Mapping[str, str] = {
    "exp_packthread_tile": f"exp_tile{SINCE}",
    **{
        f"{name}_tile_pack": f"{name}_tile"
        for name in (
            *("gelu", "gelu_tanh", "hardsigmoid", "hardtanh", "relu_max", "selu", "sigmoid"),
            *("silu", "softplus", "tanh"),
        )
    },
}
"""What the calls of the MATH thread are called."""


def _name_init(name: str) -> str:
    return "exp_packthread_tile_init" if name.startswith("exp") else f"{name[:-5]}_init_pack"


def _on_pack() -> tuple[KernelCall, ...]:
    of_math = {
        each.mnemonic: each for each in (*vector.UNARY_CALLS, *vector.CALLS, *late_vector.CALLS)
    }
    calls = list[KernelCall]()
    for name, source in _NAMES.items():
        computing = of_math[source]
        preparing = of_math[computing.init]
        spoken = source.removesuffix(SINCE)
        calls += (
            replace(
                preparing,
                mnemonic=_name_init(name),
                cpp="",
                summary=f"Prepare `{name}`.",
                roles=Role.PACK,
            ),
            replace(
                computing,
                mnemonic=name,
                cpp="",
                summary=f"What `{spoken}` computes, by the PACK thread.",
                roles=Role.PACK,
                init=_name_init(name),
            ),
        )
    return tuple(calls)


CALLS = _on_pack()
"""The calls, each behind the one that prepares it."""
