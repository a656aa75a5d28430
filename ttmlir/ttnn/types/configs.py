"""How operations are told to compute: settings of the compute units, plans of matrix products.

They change the speed of a card and, but for fused activations, no number here. Plans are checked
for what they say about each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ttmlir.errors import ArgumentError
from ttmlir.ttnn.types.enums import MathFidelity, ThrottleLevel

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
class SDPAProgramConfig:
    """How attention is divided into chunks."""

    compute_with_storage_grid_size: Any
    q_chunk_size: int = 32
    k_chunk_size: int = 32
    sub_core_grids: Any = None
    exp_approx_mode: bool | None = None
    max_cores_per_head_batch: int = 16
