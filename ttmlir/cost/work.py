"""An operation to be estimated: what it is, and the tensors that it is applied to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ttmlir.layout.element_type import is_block_float
from ttmlir.layout.enums import MathFidelity
from ttmlir.runtime.tensor import TensorDesc


@dataclass(frozen=True, kw_only=True)
class MatmulConfig:
    """How a product is cut; what is None is chosen as ttnn does."""

    grid: tuple[int, int] | None = None
    """Rows and columns of cores."""
    block_depth: int | None = None
    """Tiles along K of a block (`in0_block_w`)."""
    subblock: tuple[int, int] | None = None
    """Rows and columns of tiles that DST holds."""
    activation: str = ""
    """An elementwise operation on the result, before it is written."""
    approximate: bool = False
    """Its fast form."""
    ring: bool = False
    """The first operand goes from core to core in a ring."""


@dataclass(frozen=True, kw_only=True)
class Work:
    """One operation; tensors as the file, or a list of shapes, describes them."""

    mnemonic: str
    """Of the row, such as `matmul`, or of an operation that has none, such as `layer_norm`."""
    operands: tuple[TensorDesc, ...]
    output: TensorDesc
    parameters: Mapping[str, Any] = field(default_factory=dict[str, Any])
    fidelity: MathFidelity | None = None
    """None: what ttnn takes if it is not told."""
    wide_sums: bool = False
    """DST holds products in 32 bits, half as many tiles of them."""
    matmul: MatmulConfig = field(default=MatmulConfig())

    @property
    def product_fidelity(self) -> MathFidelity:
        """Of products: HiFi2, and LoFi if both operands are block floats, as the out-of-the-box
        runs of tt-metal's GEMM report are."""
        if self.fidelity is not None:
            return self.fidelity
        blocks = all(is_block_float(each.data_type) for each in self.operands[:2])
        return MathFidelity.LOFI if blocks else MathFidelity.HIFI2

    @property
    def other_fidelity(self) -> MathFidelity:
        """Of everything else: HiFi4."""
        return MathFidelity.HIFI4 if self.fidelity is None else self.fidelity
