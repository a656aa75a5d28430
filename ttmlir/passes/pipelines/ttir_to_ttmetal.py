"""From ttir to ttmetal: kernels and the host program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ttmlir.layout.enums import MemorySpace, TensorMemoryLayout
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import Pass, Pipeline


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
        from ttmlir.passes.general.inline import InlinePass
        from ttmlir.passes.placement.ttir_allocate import TTIRAllocatePass
        from ttmlir.passes.placement.ttir_implicit_device import TTIRImplicitDevicePass
        from ttmlir.passes.placement.ttir_layout import TTIRLayoutPass
        from ttmlir.passes.placement.ttir_load_system_desc import TTIRLoadSystemDescPass
        from ttmlir.passes.placement.ttir_split_compound_layout import TTIRSplitCompoundLayoutPass
        from ttmlir.passes.ttmetal.convert_ttir_to_ttmetal import ConvertTTIRToTTMetalPass
        from ttmlir.passes.ttmetal.ttir_generic import TTIRGenericPass
        from ttmlir.passes.ttmetal.ttir_generic_region_operands_to_memref import (
            TTIRGenericRegionOperandsToMemrefPass,
        )

        return (
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
