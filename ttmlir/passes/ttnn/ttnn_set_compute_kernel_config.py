"""Choose how the matrix unit computes the products of a program.

Products are `ttnn.matmul` and the convolutions; in the form of 2026 other operations that may have
a compute config get one, too, such as reductions. Without a choice an operation is left alone, and
the library decides: HiFi2 as measured with tt-metal, and LoFi for two operands in block floats.

Before:

    // Options: math-fidelity=hifi3
    func.func @product(%arg0: tensor<33x70xf32>, %arg1: tensor<70x5xf32>, %arg2: tensor<33x5xf32>)
        -> tensor<33x5xf32> {
      %0 = "ttnn.matmul"(%arg0, %arg1, %arg2)
          : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
      return %0 : tensor<33x5xf32>
    }

After:

    ...
        %0 = "ttnn.matmul"(%arg0, %arg1, %arg2) <{compute_config =
            #ttnn.device_compute_kernel_config<math_fidelity = hifi3, fp32_dest_acc_en = true>}>
            : (tensor<33x70xf32>, tensor<70x5xf32>, tensor<33x5xf32>) -> tensor<33x5xf32>
        ...

Requires: nothing.
Ensures: products that had no compute config have what is asked for.
Options: `math-fidelity` (lofi, hifi2, hifi3, hifi4), `fp32-dest-acc-en` (sums of 32 bits, which
products of float32 always have), `math-approx-mode`, `packer-l1-acc`, `dst-full-sync-en` (true,
false, or unset), and `override-math-fidelity` (`name=hifi2,name=lofi`) for
operations picked by the name of their location, with a warning for names that no operation has.
With flags alone, products are HiFi4.
Not done here: configs that are there stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeGuard

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.table_ops import LateOnlyOp
from ttmlir.ir.tensor_types import layout_of, scalar_of
from ttmlir.layout.enums import DataType, DeviceComputeConfig, MathFidelity
from ttmlir.mlir.option_values import TRISTATE, option
from ttmlir.mlir.reporting import override_name
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.placement.layout_overrides import (
    MATH_FIDELITIES_BY_NAME,
    MATH_FIDELITY,
    MathFidelities,
    warn_of_unknown_names,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.context import Context


@dataclass(frozen=True)
class TTNNSetComputeKernelConfigPass(ModulePass):
    """Choose how the matrix unit computes the products of a program."""

    name = "ttnn-set-compute-kernel-config"
    title = "TTNNSetComputeKernelConfig"
    math_fidelity: MathFidelity | None = option(None, "Fidelity of products", type=MATH_FIDELITY)
    fp32_dest_acc_en: bool | None = option(None, "Sums of products have 32 bits", type=TRISTATE)
    math_approx_mode: bool | None = option(None, "Functions are approximated", type=TRISTATE)
    packer_l1_acc: bool | None = option(None, "Sums of blocks are in L1", type=TRISTATE)
    dst_full_sync_en: bool | None = option(None, "DST is one buffer, not two", type=TRISTATE)
    override_math_fidelity: MathFidelities = option(
        (), "Fidelities of the products at these locations", type=MATH_FIDELITIES_BY_NAME
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the config of every product of the module."""
        by_name = dict(self.override_math_fidelity)
        warn_of_unknown_names(
            "override-math-fidelity",
            module,
            lambda op: takes_late_config(op) or _multiplies(op),
            self.override_math_fidelity,
        )
        for op in module.walk():
            if takes_late_config(op):
                self._set_late(op, by_name)
                continue
            if not _multiplies(op):
                continue
            fidelity = by_name.get(override_name(op.location) or "", self.math_fidelity)
            if "compute_config" in op.properties or not self._asks(fidelity):
                continue
            config = self._config(fidelity, self.fp32_dest_acc_en or _has_float32(op) or None)
            op.properties["compute_config"] = ttnn.DeviceComputeConfigAttr(config)

    def _set_late(self, op: Operation, by_name: Mapping[str, MathFidelity]) -> None:
        """Fill in what the config of an operation of 2026 does not say."""
        fidelity = by_name.get(override_name(op.location) or "", self.math_fidelity)
        given = op.properties.get("compute_config")
        if isinstance(given, ttnn.DeviceComputeConfigAttr) or not self._asks(fidelity):
            return
        config = self._config(fidelity, self.fp32_dest_acc_en)
        op.properties["compute_config"] = ttnn.DeviceComputeConfigAttr(config)

    def _flags(self) -> dict[str, bool | None]:
        names = ("math_approx_mode", "packer_l1_acc", "dst_full_sync_en")
        return {name: getattr(self, name) for name in names}

    def _asks(self, fidelity: MathFidelity | None) -> bool:
        said = (fidelity, self.fp32_dest_acc_en, *self._flags().values())
        return any(each is not None for each in said)

    def _config(self, fidelity: MathFidelity | None, sums: bool | None) -> DeviceComputeConfig:
        return DeviceComputeConfig(
            math_fidelity=MathFidelity.HIFI4 if fidelity is None else fidelity,
            fp32_dest_acc_en=sums,
            **self._flags(),
        )


def _multiplies(op: Operation) -> TypeGuard[ttnn.TTNNTableOp]:
    return isinstance(op, ttnn.TTNNTableOp) and op.DEFINITION.multiplies


def takes_late_config(op: Operation) -> bool:
    """True for an operation of 2026 that may have a compute config."""
    if isinstance(op, ttnn.TTNNTableOp):
        if op.has_destination:
            return False
        parameters = op.late_parameters()
    elif isinstance(op, LateOnlyOp):
        parameters = op.LATE.parameters or ()
    else:
        return False
    return any(each.name == "compute_config" for each in parameters)


def _has_float32(op: ttnn.TTNNTableOp) -> bool:
    """True for a product of numbers of 32 bits, which the library sums in 32 bits by itself."""
    return any(_data_type(value) is DataType.F32 for value in op.inputs[:2])


def _data_type(value: SSAValue) -> DataType:
    layout = layout_of(value.type)
    if layout is not None:
        return layout.element.data_type
    return scalar_of(value.type).data_type
