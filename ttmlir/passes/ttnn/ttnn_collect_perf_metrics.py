"""Write what a program says of its own speed: where its tensors are, and a bound for its products.

Before:

    // Options: ttnn-perf-metrics-output-file=/dev/null
    #dram = #ttnn.buffer_type<dram>
    #l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>,
        <interleaved>>
    func.func @main(%a: tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l> {
      %0 = "ttnn.exp"(%a) : (tensor<5x7xf32, #l>) -> tensor<5x7xf32, #l>
      return %0 : tensor<5x7xf32, #l>
    }

After:

    ...
        %0 = "ttnn.exp"(%arg0)
            : (tensor<5x7xf32, #ttnn_layout>) -> tensor<5x7xf32, #ttnn_layout>
        ...

Requires: ttnn of 2026, with layouts.
Ensures: the IR is as before; a JSON file has `summary`: operations, and how many of them keep what
they make in L1, divided over the cores (`sharded_ops`), move that to DRAM (`*_spilled_ops`) or make
it on the host (`system_memory_ops`); and, where the module describes its machine, `perf_targets`:
multiplications and additions of products (`total_flops`), what the cores can do of them in a
second, and the least milliseconds for the products and the bytes of their operands and results
(`roofline_ms`).
Options: `ttnn-perf-metrics-output-file`; with `ttnn-perf-metrics-verbose-output-enabled` the file
has each operation (`shardable_operations`, `per_op`) and how many there are of each name, too; with
`ttnn-enable-trace` it is about the function that is traced.
Not done here: estimates of all operations, which `ttrt perf` has for a .ttnn file.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import FixedBitwidthType, IntegerAttr, NoneAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp

from ttmlir.dialects import tt, ttnn
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.dialects.ttnn.attrs import TTNNLayoutAttr
from ttmlir.files import write_file
from ttmlir.ir.rewriting import refuse_at
from ttmlir.ir.tensor_types import value_shape
from ttmlir.ir.ttnn_types import memory_of
from ttmlir.layout.enums import BufferType, MathFidelity, TTNNTensorMemoryLayout
from ttmlir.machine import GENERATIONS
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import is_fixed
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE
from ttmlir.passes.general.ttcore_register_device import device_modules

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation, SSAValue

    from ttmlir.layout.system import SystemDesc

_CONVERSIONS = (
    *("to_layout", "to_memory_config", "to_tensor_spec", "to_device", "from_device", "typecast"),
    *("constant", "full", "zeros", "ones", "empty", "arange", "rand"),
)
"""Operations that place tensors, or make them of nothing: no choice of an optimizer."""
_PRODUCTS = ("matmul", "linear")
_FORWARD, _TRACED = "forward_device", "trace_main"
_PHASES = {each.keyword: 1 + n for n, each in enumerate(MathFidelity)}
"""Passes over the operands at each fidelity."""
_TILE = 32


@dataclass(frozen=True)
class TTNNCollectPerfMetricsPass(ModulePass):
    """Write what a program says of its own speed."""

    name = "ttnn-collect-perf-metrics"
    title = "TTNNCollectPerfMetrics"
    ttnn_perf_metrics_output_file: str = option("ttnn_perf_metrics.json", "The file")
    ttnn_perf_metrics_verbose_output_enabled: bool = option(
        False, "Write each operation, and how many there are of each name"
    )
    ttnn_enable_trace: bool = option(False, "Look at the function that is traced alone")

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Write the file."""
        device = device_modules(module)[0]
        ops = [
            op
            for function in _functions(device, _TRACED if self.ttnn_enable_trace else _FORWARD)
            for op in function.walk()
            if op.name.startswith("ttnn.")
        ]
        is_long = self.ttnn_perf_metrics_verbose_output_enabled
        metrics: dict[str, Any] = {"summary": _summary(ops)}
        system = device.attributes.get(SYSTEM_DESC)
        if isinstance(system, tt.SystemDescAttr):
            metrics["perf_targets"] = _targets(device, system.data, ops, is_long=is_long)
        if is_long:
            metrics["shardable_operations"] = [_about(op) for op in ops if _is_shardable(op)]
            metrics["operation_type_breakdown"] = dict(sorted(Counter(o.name for o in ops).items()))
        path = self.ttnn_perf_metrics_output_file
        try:
            _write(path, metrics)
        except OSError as error:
            problem = f"cannot write the metrics '{path}': {error.strerror}"
            refuse_at(module, f"{problem}; give the path of a file that can be written")


def _write(path: str, metrics: Mapping[str, Any]) -> None:
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_file(path, json.dumps(metrics, indent=2).encode() + b"\n")


def _functions(module: ModuleOp, kind: str) -> Iterator[FuncOp]:
    """The functions of a kind; all if none says what it is."""
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    marked = [op for op in functions if FUNCTION_TYPE in op.attributes]
    yield from (op for op in marked if op.attributes[FUNCTION_TYPE] == StringAttr(kind))
    if not marked:
        yield from functions


# --- Where tensors are ----------------------------------------------------------------------------


def _is_shardable(op: Operation) -> bool:
    """True for operations whose results could be kept in L1, divided over the cores."""
    return _has_tensor(op) and op.name.removeprefix("ttnn.") not in _CONVERSIONS


def _has_tensor(op: Operation) -> bool:
    return any(isinstance(result.type, TensorType) for result in op.results)


def _is_sharded(type_: Attribute) -> bool:
    layout = cast("TensorType[Attribute]", type_).encoding
    if not isinstance(layout, TTNNLayoutAttr) or isinstance(layout.spread, NoneAttr):
        return False
    spread = layout.spread
    return _buffer(type_) is BufferType.L1 and spread.data is not TTNNTensorMemoryLayout.INTERLEAVED


def _buffer(type_: Attribute) -> BufferType | None:
    memory = memory_of(type_)
    return None if memory is None else memory.buffer


def _is_spilled(op: Operation) -> bool:
    """True if what an operation makes is moved to DRAM right after."""
    users = [use.operation for result in op.results for use in result.uses]
    users = [user for user in users if user.name != "ttnn.deallocate"]
    return bool(users) and all(
        user.name in ("ttnn.to_memory_config", "ttnn.to_tensor_spec", "ttnn.to_layout")
        and _buffer(user.results[0].type) is BufferType.DRAM
        for user in users
    )


def _about(op: Operation) -> dict[str, Any]:
    type_ = op.results[0].type
    is_sharded = _is_sharded(type_)
    return {
        "name": op.name,
        "location": str(op.location),
        "is_sharded": is_sharded,
        "is_spilled_to_dram": is_sharded and _is_spilled(op),
        "has_system_memory": _buffer(type_) is BufferType.SYSTEM_MEMORY,
        "layout_info": str(cast("TensorType[Attribute]", type_).encoding),
    }


def _summary(ops: Sequence[Operation]) -> dict[str, Any]:
    shardable = [op for op in ops if _is_shardable(op)]
    sharded = [op for op in shardable if _is_sharded(op.results[0].type)]
    spilled = [op for op in sharded if _is_spilled(op)]
    on_host = [op for op in shardable if _buffer(op.results[0].type) is BufferType.SYSTEM_MEMORY]
    effective = len(sharded) - len(spilled)

    def share(count: int) -> float:
        return round(100.0 * count / len(shardable), 2) if shardable else 0.0

    return {
        "total_ops": len(ops),
        "total_ops_with_output_tensor": sum(map(_has_tensor, ops)),
        "total_shardable_ops": len(shardable),
        "sharded_ops": len(sharded),
        "effectively_sharded_ops": effective,
        "sharded_and_spilled_ops": len(spilled),
        "dram_spilled_ops": len(spilled),
        "system_memory_ops": len(on_host),
        "sharded_percentage": share(len(sharded)),
        "effectively_sharded_percentage": share(effective),
        "spilled_percentage": share(len(spilled)),
        "system_memory_percentage": share(len(on_host)),
    }


# --- A bound for products -------------------------------------------------------------------------


def _targets(
    module: ModuleOp, system: SystemDesc, ops: Sequence[Operation], *, is_long: bool
) -> dict[str, Any]:
    """The least time for the products of a program on the first chip of a system."""
    chip = system.chip(0)
    figures = GENERATIONS[chip.arch.keyword]
    clock, cores = figures.chip.clock_hz, chip.grid[0] * chip.grid[1]
    bandwidth = figures.network.dram_read_rate * clock * chip.num_dram_channels
    phase = figures.units.matmul_phase
    peaks = {
        fidelity: cores * clock * 2 * _TILE**3 / (phase * phases)
        for fidelity, phases in _PHASES.items()
    }
    products = [op for op in ops if op.name.removeprefix("ttnn.") in _PRODUCTS]
    lines = [_product(op, peaks, bandwidth) for op in products]
    parameters = [value for function in _functions(module, _FORWARD) for value in _fixed(function)]
    fidelities = [line["math_fidelity"] for line in lines] or [MathFidelity.HIFI4.keyword]
    usual = Counter(fidelities).most_common(1)[0][0]
    targets = {
        "arch": chip.arch.keyword,
        "num_chips": system.num_chips,
        "num_tensix_cores": cores,
        "aiclk_hz": clock,
        "dram_bandwidth_bytes_per_sec": bandwidth,
        "cycles_per_tile_matmul": phase * _PHASES[usual],
        "peak_flops_per_sec": peaks[usual],
        "peak_flops_per_sec_by_fidelity": peaks,
        "params_count": sum(map(_elements, parameters)),
        "params_memory_bytes": sum(map(_bytes, parameters)),
        "total_flops": sum(line["flops"] for line in lines),
        "dram_bound_ops": sum(line["is_dram_bound"] for line in lines),
        "compute_bound_ops": sum(not line["is_dram_bound"] for line in lines),
        "skipped_ops": sum(map(_is_shardable, ops)) - len(lines),
        "roofline_ms": sum(line["roofline_ms"] for line in lines),
    }
    return {**targets, **({"per_op": lines} if is_long else {})}


def _product(op: Operation, peaks: Mapping[str, float], bandwidth: float) -> dict[str, Any]:
    config = op.properties.get("compute_config")
    said = config.data.math_fidelity if isinstance(config, ttnn.DeviceComputeConfigAttr) else None
    fidelity = (said or MathFidelity.HIFI4).keyword
    is_transposed = op.properties["transpose_a"] == IntegerAttr.from_bool(True)
    *_, rows, depth = (1, *value_shape(op.operands[0]))
    depth = rows if is_transposed else depth
    flops = 2 * depth * _elements(op.results[0])
    moved = sum(_bytes(value) for value in (*op.operands, op.results[0]))
    compute, transfer = flops / peaks[fidelity], moved / bandwidth
    return {
        "name": op.name,
        "location": str(op.location),
        "math_fidelity": fidelity,
        "flops": flops,
        "bytes": moved,
        "is_dram_bound": transfer > compute,
        "roofline_ms": 1e3 * max(compute, transfer),
    }


def _fixed(function: FuncOp) -> list[SSAValue]:
    """The arguments that are parameters or constants."""
    return [arg for arg in function.body.blocks[0].args if is_fixed(function, arg.index)]


def _elements(value: SSAValue) -> int:
    return math.prod(value_shape(value)) if isinstance(value.type, TensorType) else 0


def _bytes(value: SSAValue) -> int:
    """What a tensor takes with its padding; nothing for other values."""
    type_ = value.type
    layout = type_.encoding if isinstance(type_, TensorType) else None
    if not isinstance(layout, TTNNLayoutAttr):
        return 0
    memref = layout.memref
    element = memref.element_type
    if isinstance(element, tt.TileType):
        size = element.size_bytes
    else:
        size = element.size if isinstance(element, FixedBitwidthType) else 0
    return math.prod(layout.grid.data.shape) * math.prod(memref.get_shape()) * size
