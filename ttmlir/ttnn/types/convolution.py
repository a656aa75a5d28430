"""How convolutions are told to compute. Only what the fields' notes say changes a result here."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.metalium.enums import NamedNumber, TensorMemoryLayout
from ttmlir.ttnn.types.enums import DataType, Layout


@dataclass(kw_only=True)
class Conv2dConfig:
    """Settings of a convolution; those without a note say how a card divides the work."""

    weights_dtype: DataType | None = None
    """The data type that weights are rounded to."""
    activation: Any = None
    """What is applied to the result: a name, or a `UnaryWithParam`."""
    deallocate_activation: bool = False
    """Whether the memory of the input is given back."""
    reallocate_halo_output: bool = True
    config_tensors_in_dram: bool = False
    act_block_h_override: int = 0
    act_block_w_div: int = 1
    reshard_if_not_optimal: bool = False
    override_sharding_config: bool = False
    shard_layout: TensorMemoryLayout | None = None
    core_grid: Any = None
    transpose_shards: bool = False
    output_layout: Layout = Layout.TILE
    """The layout of the result."""
    enable_act_double_buffer: bool = False
    enable_weights_double_buffer: bool = False
    full_inner_dim: bool = False
    enable_kernel_stride_folding: bool = False
    enable_activation_reuse: bool = False
    force_split_reader: bool = False
    override_output_sharding_config: bool = False

    def __post_init__(self) -> None:
        """ValueError for a height of blocks that is no multiple of a tile's."""
        if self.act_block_h_override % 32:
            raise ArgumentError(
                f"act_block_h_override={self.act_block_h_override} is not a multiple of 32"
            )

    def __repr__(self) -> str:
        """The settings that differ from the defaults."""
        other = (each for each in fields(self) if getattr(self, each.name) != each.default)
        return f"Conv2dConfig({', '.join(f'{e.name}={getattr(self, e.name)!r}' for e in other)})"


Conv1dConfig = Conv2dConfig


class SliceType(NamedNumber):
    """Along which extent a large image is cut."""

    DRAMSliceHeight = 0
    DRAMSliceWidth = 1
    L1Full = 2


@dataclass(kw_only=True)
class Conv2dSliceConfig:
    """In how many parts a large image is computed."""

    slice_type: SliceType = SliceType.L1Full
    num_slices: int = 0


Op2DSliceConfig = Conv2dSliceConfig
Conv2dDRAMSliceHeight = Op2DDRAMSliceHeight = SliceType.DRAMSliceHeight
Conv2dDRAMSliceWidth = Op2DDRAMSliceWidth = SliceType.DRAMSliceWidth
Conv2dL1Full = Op2DL1Full = SliceType.L1Full
Conv2dL1FullSliceConfig = Op2DL1FullSliceConfig = Conv2dSliceConfig(slice_type=SliceType.L1Full)
