"""From ttir to ttmetal: kernels and the host program, by layouts of 2024 or by d2m."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ttmlir.layout.enums import Arch, DataType, MathFidelity, MemorySpace, TensorMemoryLayout
from ttmlir.mlir.option_values import OptionError, option
from ttmlir.passes.core.base import Pass, Pipeline
from ttmlir.passes.d2m.frontend.ttir_to_d2m_builder import Accumulation
from ttmlir.passes.placement.layout_overrides import WEIGHT_DTYPE


@dataclass(frozen=True)
class TTIRToTTMetalBackendPipeline(Pipeline):
    """Lower ttir to ttmetal: kernels, and what the host does to run them."""

    name = "ttir-to-ttmetal-backend-pipeline"
    fp32_dest_acc_en: bool = option(False, "Keep 32 bits of f32 in DST in all kernels")
    init_memory_space: MemorySpace = option(
        MemorySpace.DEVICE_L1, "Memory space of the tensors that a function takes and returns"
    )
    grid: tuple[int, ...] = option(
        (), "Cores that kernels run on, at most: as many as divide the tiles of their output"
    )

    def passes(self) -> Sequence[Pass]:
        """Machine, device, generics, layouts in L1, addresses, kernels.

        Functions have their tensors at the same addresses, so calls are inlined before.
        """
        from ttmlir.passes.convert_ttir_to_ttmetal import ConvertTTIRToTTMetalPass
        from ttmlir.passes.general.convert_spelling import ConvertSpellingPass
        from ttmlir.passes.general.inline import InlinePass
        from ttmlir.passes.placement.ttir_allocate import TTIRAllocatePass
        from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
        from ttmlir.passes.placement.ttir_layout import TTIRLayoutPass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.placement.ttir_split_compound_layout import TTIRSplitCompoundLayoutPass
        from ttmlir.passes.ttmetal.ttir_generic import TTIRGenericPass
        from ttmlir.passes.ttmetal.ttir_generic_region_operands_to_memref import (
            TTIRGenericRegionOperandsToMemrefPass,
        )

        return (
            ConvertSpellingPass(),
            InlinePass(canonicalize=False),
            TTIRLoadSystemDescPass(),
            TTIRImplicitDevicePass(),
            TTIRGenericPass(elementwise=True),
            TTIRLayoutPass(
                init_memory_space=self.init_memory_space,
                default_memory_space=MemorySpace.DEVICE_L1,
                default_device_memory_layout=TensorMemoryLayout.NONE,
                init_whole_tiles=True,
                constants_on_host=True,
                kernels_on_one_grid=True,
                kernel_grid=self.grid,
            ),
            TTIRSplitCompoundLayoutPass(formats_on_tiles=True),
            TTIRGenericRegionOperandsToMemrefPass(),
            TTIRAllocatePass(),
            ConvertTTIRToTTMetalPass(fp32_dest_acc_en=self.fp32_dest_acc_en),
        )


class StreamPolicy(Enum):
    """Which operands are streamed, in 2026."""

    ALWAYS = "always"
    INFER = "infer"


class BlockPolicy(Enum):
    """How large blocks are, in 2026."""

    AUTO = "auto"
    AUTO_MN = "auto-mn"
    MIN = "min"
    MAX = "max"


@dataclass(frozen=True)
class TTIRToTTMetalPipeline(Pipeline):
    """Lower ttir to ttmetal by d2m: fused kernels on all cores, tensors in DRAM and L1."""

    name = "ttir-to-ttmetal-pipeline"
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of chips; one chip is supported")
    override_device_shape: tuple[int, ...] = option(
        (), "Rows and columns of the cores to use, instead of all of the chip"
    )
    system_desc_path: str = option("", "Description (.ttsys file) or board of the machine")
    mock_system_desc_arch: Arch = option(
        Arch.WORMHOLE_B0, "Generation of the chip that is assumed without a description"
    )
    max_dst_physical_size_tiles: int = option(
        0, "Tiles of 16-bit numbers in DST; 0 for those of the chip"
    )
    matmul_interchange: tuple[int, ...] = option(
        (), "Order of the loops of products over rows, columns and terms; terms stay innermost"
    )
    use_tile_matmul: bool = option(False, "Multiply tile by tile instead of block by block")
    ttnn_mode: bool = option(
        False, "Take and return tensors of ttnn, and end in ttnn.generic instead of ttmetal"
    )
    collapse_tensors_2d: bool = option(
        True, "Merge all dimensions but the last where all operations of a function allow it"
    )
    default_input_memspace: MemorySpace = option(
        MemorySpace.DEVICE_L1, "Memory that arguments are best in: l1, where it fits, or dram"
    )
    default_output_memspace: MemorySpace = option(
        MemorySpace.DEVICE_L1, "Memory that results are best in: l1, where it fits, or dram"
    )
    disable_tolayout_folding: bool = option(
        False, "Keep changes of layout one after another; not supported, as none are made"
    )
    insert_profiler_traces: bool = option(False, "Mark zones in kernels; not supported")
    set_math_fidelity: MathFidelity = option(
        MathFidelity.HIFI4, "Passes of the matrix unit over the bits of its operands"
    )
    fp32_dest_acc_en: Accumulation = option(
        Accumulation.AUTO, "Sum 16-bit numbers in 32 bits: where sums are long, always, or never"
    )
    experimental_weight_dtype: DataType | None = option(
        None, "Format of the weights of products", type=WEIGHT_DTYPE
    )
    math_approx_mode: bool = option(
        False, "Compute exponentials by an approximate function that takes a tenth of the time"
    )
    translate_coordinates: bool = option(
        False, "Let kernels ask the chip where its cores are on the networks"
    )
    num_stream_buffers: int = option(2, "Blocks that a circular buffer of several steps holds")
    allow_l1_output_spilling: bool = option(
        False, "Let results of functions leave L1 to others, before what does not fit is in DRAM"
    )
    enable_fusion: bool = option(True, "Compute several operations in one kernel")
    enable_elementwise_fusion: bool = option(True, "What enable-fusion is called in 2026")
    enable_multicast_inference: bool = option(
        True, "Send blocks that several cores read to all of them; not without"
    )
    use_tensor_accessor_dma: bool = option(
        False, "Address pages by accessors of tensors; not supported"
    )
    disable_l1_acc: bool = option(False, "Let the packer add nothing in L1; not supported")
    enable_eltwise_reduction_fusion: bool = option(
        True, "Compute sums and extremes in one kernel with other operations"
    )
    global_data_format_target: str = option(
        "none", "Format of all numbers on the device; supported is none, which leaves them"
    )
    force_compile_time_args: bool = option(
        False, "Compile addresses into kernels, as is done anyway without ttnn-mode; not with it"
    )
    stream_insert_policy: StreamPolicy = option(
        StreamPolicy.ALWAYS, "Which operands get a circular buffer of their own; all do"
    )
    test_buffer_size_policy: BlockPolicy = option(
        BlockPolicy.AUTO, "Sizes of blocks; they are those that a model says are fastest"
    )
    available_l1_addr_range: tuple[int, ...] = option(
        (), "First address in L1 that buffers may have, and the end; of the chip by default"
    )
    test_assume_l1_capacity: int = option(0, "Bytes of L1 to assume; 0 for those of the chip")
    force_spill_to_dram_if_legal: bool = option(
        False, "Let all tensors lie in DRAM, and only circular buffers in L1"
    )
    enable_op_scheduler: bool = option(False, "Change the order of operations; they keep it")

    def passes(self) -> Sequence[Pass]:
        """What the options say that changes nothing, then the work."""
        ignored = self.without_effect()
        if not ignored:
            return self.parts()
        from ttmlir.passes.ttnn.ttnn_report_options import TTNNReportOptionsPass

        return (TTNNReportOptionsPass(without_effect=ignored), *self.parts())

    def without_effect(self) -> tuple[str, ...]:
        """The options that were given and change nothing here."""
        given = {
            "enable-op-scheduler": self.enable_op_scheduler,
            "stream-insert-policy": self.stream_insert_policy is not StreamPolicy.ALWAYS,
            "test-buffer-size-policy": self.test_buffer_size_policy is not BlockPolicy.AUTO,
        }
        return tuple(name for name, is_given in given.items() if is_given)

    def parts(self) -> Sequence[Pass]:
        """Machine, generics, fusion, memrefs, blocks, addresses, kernels, host program."""
        return (*self.on_tensors(), *self.to_memrefs(), *self.to_kernels())

    def to_memrefs(self) -> Sequence[Pass]:
        """Bufferization, and what works on memrefs."""
        from ttmlir.passes.d2m.schedule.ttcore_one_shot_bufferize import TTCoreOneShotBufferizePass

        return (TTCoreOneShotBufferizePass(), *self.on_memrefs())

    def to_kernels(self) -> Sequence[Pass]:
        """Kernels, and the host program or calls of ttnn."""
        from ttmlir.passes.d2m.kernels.convert_d2m_to_ttkernel import ConvertD2MToTTKernelPass
        from ttmlir.passes.d2m.kernels.convert_d2m_to_ttmetal import ConvertD2MToTTMetalPass
        from ttmlir.passes.d2m.kernels.convert_d2m_to_ttnn import ConvertD2MToTTNNPass

        self._check()
        end: Pass = ConvertD2MToTTMetalPass(math_fidelity=self.set_math_fidelity)
        if self.ttnn_mode:
            end = ConvertD2MToTTNNPass(math_fidelity=self.set_math_fidelity)
        return (
            ConvertD2MToTTKernelPass(
                ttnn_mode=self.ttnn_mode,
                max_dst_physical_size_tiles=self.max_dst_physical_size_tiles,
                math_approx_mode=self.math_approx_mode,
                use_tile_matmul=self.use_tile_matmul,
                translate_coordinates=self.translate_coordinates,
            ),
            end,
        )

    def on_tensors(self) -> Sequence[Pass]:
        """Machine, generics, fusion.

        Constants are folded before loops are made of them.
        """
        from ttmlir.passes.d2m.frontend.ttir_to_d2m import TTIRToD2MPass
        from ttmlir.passes.d2m.fusion.d2m_generic_fusion import D2MGenericFusionPass
        from ttmlir.passes.d2m.fusion.d2m_mask_padding import D2MMaskPaddingPass
        from ttmlir.passes.general.canonicalize import CanonicalizePass
        from ttmlir.passes.general.convert_spelling import ConvertSpellingPass
        from ttmlir.passes.general.inline import InlinePass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.ttir.decomposition.ttir_composite_decomposition import (
            TTIRCompositeDecompositionPass,
        )
        from ttmlir.passes.ttir.decomposition.ttir_window_decomposition import (
            TTIRWindowDecompositionPass,
        )
        from ttmlir.passes.ttnn.conversion.convert_ttnn_to_ttir import ConvertTTNNToTTIRPass

        self._check()
        return (
            *(() if self.ttnn_mode else (ConvertSpellingPass(),)),
            InlinePass(canonicalize=False),
            *((ConvertTTNNToTTIRPass(),) if self.ttnn_mode else ()),
            TTIRLoadSystemDescPass(path=self.system_desc_path, arch=self.mock_system_desc_arch),
            TTIRCompositeDecompositionPass(),
            TTIRWindowDecompositionPass(),
            CanonicalizePass(),
            TTIRToD2MPass(
                default_input_memspace=self.default_input_memspace,
                default_output_memspace=self.default_output_memspace,
                collapse_tensors_2d=self.collapse_tensors_2d,
                ttnn_mode=self.ttnn_mode,
                unified_threads=False,
                fp32_dest_acc_en=self.fp32_dest_acc_en,
                experimental_weight_dtype=self.experimental_weight_dtype,
            ),
            D2MMaskPaddingPass(),
            D2MGenericFusionPass(
                enable_fusion=self.enable_fusion and self.enable_elementwise_fusion,
                enable_eltwise_reduction_fusion=self.enable_eltwise_reduction_fusion,
                max_dst_physical_size_tiles=self.max_dst_physical_size_tiles,
            ),
        )

    def on_memrefs(self) -> Sequence[Pass]:
        """Local buffers, blocks, addresses."""
        from ttmlir.passes.d2m.dst.d2m_insert_scratch_buffers import D2MInsertScratchBuffersPass
        from ttmlir.passes.d2m.schedule.d2m_allocate import D2MAllocatePass
        from ttmlir.passes.d2m.schedule.d2m_grid_selection import D2MGridSelectionPass

        self._check()
        return (
            D2MInsertScratchBuffersPass(
                max_dst_physical_size_tiles=self.max_dst_physical_size_tiles
            ),
            D2MGridSelectionPass(
                override_device_shape=self.override_device_shape,
                num_stream_buffers=self.num_stream_buffers,
                matmul_interchange=self.matmul_interchange,
                available_l1_addr_range=self.available_l1_addr_range,
                test_assume_l1_capacity=self.test_assume_l1_capacity,
                max_dst_physical_size_tiles=self.max_dst_physical_size_tiles,
                math_approx_mode=self.math_approx_mode,
            ),
            D2MAllocatePass(
                num_stream_buffers=self.num_stream_buffers,
                allow_l1_output_spilling=self.allow_l1_output_spilling,
                available_l1_addr_range=self.available_l1_addr_range,
                test_assume_l1_capacity=self.test_assume_l1_capacity,
                force_spill_to_dram_if_legal=self.force_spill_to_dram_if_legal,
            ),
        )

    def _check(self) -> None:
        """Refuse values that no pass takes."""
        if any(extent != 1 for extent in self.mesh_shape):
            self._refuse("mesh-shape", "supported is one chip: leave it out, or give 1,1")
        if self.insert_profiler_traces:
            self._refuse("insert-profiler-traces", "use ttrt perf, which shows where time goes")
        if self.disable_tolayout_folding:
            self._refuse(
                "disable-tolayout-folding",
                "leave it out: tensors are moved once, so that there is nothing to fold",
            )
        if not self.enable_multicast_inference:
            self._refuse("enable-multicast-inference", "leave it out: blocks are sent once")
        if self.use_tensor_accessor_dma:
            self._refuse("use-tensor-accessor-dma", "leave it out: kernels compute addresses")
        if self.disable_l1_acc:
            self._refuse("disable-l1-acc", "leave it out: long sums that leave DST are added in L1")
        if self.global_data_format_target != "none":
            self._refuse(
                "global-data-format-target",
                "leave it out, convert by ttir.typecast, or give experimental-weight-dtype",
            )
        if self.force_compile_time_args and self.ttnn_mode:
            self._refuse(
                "force-compile-time-args",
                "leave it out with ttnn-mode: ttnn gives tensors addresses at each launch",
            )
        if self.max_dst_physical_size_tiles not in (0, *range(4, 17)):
            self._refuse("max-dst-physical-size-tiles", "give 4 to 16, or 0 for the chip's")

    def _refuse(self, option_name: str, remedy: str) -> None:
        raise OptionError(f"{self.name}: the value of {option_name} is not supported; {remedy}")


@dataclass(frozen=True)
class D2MFrontendPipeline(TTIRToTTMetalPipeline):
    """The first part of ttir-to-ttmetal-pipeline: fused generics on tensors."""

    name = "d2m-fe-pipeline"

    def parts(self) -> Sequence[Pass]:
        """What works on tensors; ttcore-one-shot-bufferize comes after it."""
        return self.on_tensors()


@dataclass(frozen=True)
class D2MBackendPipeline(TTIRToTTMetalPipeline):
    """The second part of ttir-to-ttmetal-pipeline: memrefs in blocks, at addresses."""

    name = "d2m-be-pipeline"

    def parts(self) -> Sequence[Pass]:
        """What works on memrefs; convert-d2m-to-ttkernel comes after it."""
        return self.on_memrefs()


@dataclass(frozen=True)
class TTIRToTTMetalMiddleEndPipeline(TTIRToTTMetalPipeline):
    """What follows ttir-to-ttmetal-fe-pipeline in late 2025: memrefs in blocks, at addresses."""

    name = "ttir-to-ttmetal-me-pipeline"

    def parts(self) -> Sequence[Pass]:
        """From tensors to memrefs; ttir-to-ttmetal-be-pipeline comes after it."""
        return self.to_memrefs()


@dataclass(frozen=True)
class TTIRToTTMetalBackEndPipeline(TTIRToTTMetalPipeline):
    """The end of ttir-to-ttmetal-pipeline in late 2025: kernels, and programs that run them."""

    name = "ttir-to-ttmetal-be-pipeline"

    def parts(self) -> Sequence[Pass]:
        """From memrefs at addresses to kernels and the host."""
        return self.to_kernels()
