"""How operations compute: settings of the compute units, plans of matrix products, convolutions.

They change the speed of a card and, but for fused activations and what notes of fields say, no
number here. Plans are checked for what they say about each other.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.metalium.enums import NamedNumber, TensorMemoryLayout
from ttmlir.ttnn.types.enums import DataType, Layout, MathFidelity, ThrottleLevel

# --- Compute units and matrix products ------------------------------------------------------------

_MOST_TILES = 8
"""Tiles of 16-bit numbers in half of DST."""


class DeviceComputeKernelConfig:
    """Settings of the compute units of any generation."""


@dataclass(kw_only=True)
class WormholeComputeKernelConfig(DeviceComputeKernelConfig):
    """Settings of the compute units."""

    math_fidelity: MathFidelity = MathFidelity.Invalid
    math_approx_mode: bool = True
    fp32_dest_acc_en: bool = False
    packer_l1_acc: bool = False
    dst_full_sync_en: bool = False
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE


BlackholeComputeKernelConfig = WormholeComputeKernelConfig


@dataclass(kw_only=True)
class GrayskullComputeKernelConfig(DeviceComputeKernelConfig):
    """Settings of the compute units of Grayskull."""

    math_fidelity: MathFidelity = MathFidelity.Invalid
    math_approx_mode: bool = True
    dst_full_sync_en: bool = False
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE


def init_device_compute_kernel_config(
    arch: Any,
    device_kernel_config: WormholeComputeKernelConfig | None = None,
    *,
    math_fidelity: MathFidelity = MathFidelity.LoFi,
    math_approx_mode: bool = True,
    fp32_dest_acc_en: bool = False,
    packer_l1_acc: bool = False,
    dst_full_sync_en: bool = False,
    throttle_level: ThrottleLevel = ThrottleLevel.NO_THROTTLE,
) -> WormholeComputeKernelConfig:
    """The given settings, or others for a generation."""
    if device_kernel_config is not None:
        return device_kernel_config
    return WormholeComputeKernelConfig(
        math_fidelity=math_fidelity,
        math_approx_mode=math_approx_mode,
        fp32_dest_acc_en=fp32_dest_acc_en,
        packer_l1_acc=packer_l1_acc,
        dst_full_sync_en=dst_full_sync_en,
        throttle_level=throttle_level,
    )


@dataclass(kw_only=True)
class MatmulPlan:
    """What plans of matrix products have in common; sizes count tiles."""

    in0_block_w: int
    per_core_M: int
    per_core_N: int

    def check(self, inner_tiles: int) -> None:
        """ValueError if the plan contradicts itself or the inner extent of a product."""
        if min(self.in0_block_w, self.per_core_M, self.per_core_N) < 1:
            raise ArgumentError("in0_block_w, per_core_M and per_core_N are at least 1")
        if inner_tiles % self.in0_block_w:
            raise ArgumentError(
                f"in0_block_w={self.in0_block_w} does not divide the {inner_tiles} tiles of the "
                "inner dimension"
            )


@dataclass(kw_only=True)
class _Subblocks(MatmulPlan):
    compute_with_storage_grid_size: Any
    out_subblock_h: int
    out_subblock_w: int

    def check(self, inner_tiles: int) -> None:
        """ValueError if subblocks do not divide blocks, or do not fit into DST."""
        super().check(inner_tiles)
        for name, whole, part in (
            ("M", self.per_core_M, self.out_subblock_h),
            ("N", self.per_core_N, self.out_subblock_w),
        ):
            if part < 1 or whole % part:
                side = "h" if name == "M" else "w"
                raise ArgumentError(
                    f"out_subblock_{side}={part} does not divide per_core_{name}={whole}"
                )
        if self.out_subblock_h * self.out_subblock_w > _MOST_TILES:
            raise ArgumentError(
                f"a subblock of {self.out_subblock_h}x{self.out_subblock_w} tiles does not fit "
                f"into the {_MOST_TILES} tiles of DST"
            )


@dataclass(kw_only=True)
class MatmulMultiCoreReuseProgramConfig(_Subblocks):
    """Each core computes blocks of the result."""


@dataclass(kw_only=True)
class MatmulMultiCoreReuseMultiCastProgramConfig(_Subblocks):
    """Blocks of both operands go to rows and columns of cores."""

    out_block_h: int | None = None
    out_block_w: int | None = None
    transpose_mcast: bool = False
    fused_activation: Any = None
    fuse_batch: bool = True


@dataclass(kw_only=True)
class MatmulMultiCoreReuseMultiCast1DProgramConfig(_Subblocks):
    """Blocks of one operand go to all cores."""

    out_block_h: int | None = None
    out_block_w: int | None = None
    fuse_batch: bool = True
    fused_activation: Any = None
    mcast_in0: bool = True
    gather_in0: bool = False
    hop_cores: Any = None
    num_global_cb_receivers: int = 1
    untilize_out: bool = False


@dataclass(kw_only=True)
class MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfig(MatmulPlan):
    """The second operand is spread over the banks of DRAM."""

    fused_activation: Any = None


@dataclass(kw_only=True)
class MatmulMultiCoreReuseMultiCastBatchedDRAMShardedProgramConfig(MatmulPlan):
    """The second operand is spread over the banks of DRAM, batch by batch."""

    fused_activation: Any = None


class SoftmaxProgramConfig:
    """A plan of a softmax."""


@dataclass(kw_only=True)
class SoftmaxDefaultProgramConfig(SoftmaxProgramConfig):
    """The usual plan of a softmax."""


@dataclass(kw_only=True)
class SoftmaxShardedMultiCoreProgramConfig(SoftmaxProgramConfig):
    """The plan of a softmax of shards; sizes count tiles."""

    compute_with_storage_grid_size: Any
    subblock_w: int
    block_h: int
    block_w: int


@dataclass(kw_only=True)
class LayerNormDefaultProgramConfig:
    """The usual plan of a normalisation."""

    legacy_reduction: bool = False
    legacy_rsqrt: bool = False
    use_welford: bool = False


@dataclass(kw_only=True)
class LayerNormShardedMultiCoreProgramConfig:
    """The plan of a normalisation of shards; sizes count tiles."""

    compute_with_storage_grid_size: Any
    subblock_w: int
    block_h: int
    block_w: int
    inplace: bool = False
    legacy_reduction: bool = False
    legacy_rsqrt: bool = False
    use_welford: bool = False


@dataclass(kw_only=True)
class MinimalMatmulConfig:
    """How `ttnn.experimental.minimal_matmul` divides a product over the cores."""

    M_block_size: int = 1
    K_block_size: int = 1
    N_block_size: int = 1
    subblock_h: int = 1
    subblock_w: int = 1
    compute_with_storage_grid_size: Any = (1, 1)


@dataclass(kw_only=True)
class Conv3dConfig:
    """How `ttnn.experimental.conv3d` divides a volume over the cores."""

    weights_dtype: DataType = DataType.BFLOAT16
    output_layout: Layout = Layout.ROW_MAJOR
    T_out_block: int = 1
    W_out_block: int = 1
    H_out_block: int = 1
    C_out_block: int = 0
    C_in_block: int = 0
    dilation: Any = (1, 1, 1)
    alignment: int = 32
    compute_with_storage_grid_size: Any = (1, 1)
    enable_fp32_operand_split: bool = False


@dataclass(kw_only=True)
class SDPAProgramConfig:
    """How attention is divided into chunks."""

    compute_with_storage_grid_size: Any
    q_chunk_size: int = 32
    k_chunk_size: int = 32
    sub_core_grids: Any = None
    exp_approx_mode: bool | None = None
    max_cores_per_head_batch: int = 16


@dataclass(kw_only=True)
class IndexerScoreProgramConfig:
    """How the scores that choose keys are divided into parts."""

    q_chunk_size: int = 32
    k_chunk_size: int = 32
    head_group_size: int = 1


@dataclass(kw_only=True)
class ChunkGdnMonoProgramConfig:
    """The gated delta rule in one program."""


@dataclass(kw_only=True)
class ChunkGdnPhasedProgramConfig:
    """The gated delta rule in one program for each phase."""

    use_mcast: bool = True
    scan_serial: bool = False
    prep_serial: bool = False


@dataclass(kw_only=True)
class ChunkGdnFusedProgramConfig:
    """The gated delta rule on cores that prepare chunks, and others that scan them."""

    num_producers: int | None = None
    num_receivers: int | None = None
    row_local: bool | None = None
    handoff_depth: int | None = None
    unicast: bool = True
    posted: bool = False
    producer_pool: bool | None = None
    pool_extra_share: float | None = None
    handoff_checks: bool = False
    handoff_fault: int = 0


# --- Convolutions ---------------------------------------------------------------------------------


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
