"""How the matrix unit computes a product: what ttnn calls a device compute kernel config."""

from __future__ import annotations

from dataclasses import dataclass

from ttmlir.layout.enums import MathFidelity


@dataclass(frozen=True, kw_only=True)
class DeviceComputeConfig:
    """What an operation that multiplies asks of the matrix unit."""

    math_fidelity: MathFidelity = MathFidelity.HIFI4
    fp32_dest_acc_en: bool = False
    """Sums have 32 bits in DST, and operands of float32 10 bits of mantissa instead of 7."""
