"""Modules of ttnn with programs of kernels, as text."""

from __future__ import annotations

from functools import cache

from ttmlir.dialects import tt, ttnn
from ttmlir.layout.system import default_system_desc
from ttmlir.mlir.printing import attribute_text
from ttmlir.program import ProgramDescription


@cache
def _attributes() -> tuple[str, str]:
    system = tt.SystemDescAttr(default_system_desc())
    return attribute_text(tt.DeviceAttr.from_system_desc(system)), attribute_text(system)


def tiled_type(shape: tuple[int, int], element: str = "f32", space: str = "dram") -> str:
    """A tensor of tiles on the device."""
    rows, columns = (-(-extent // 32) for extent in shape)
    memref = f"memref<{rows}x{columns}x!tt.tile<32x32, {element}>, #tt.memory_space<{space}>>"
    layout = f"#tt.layout<(d0, d1) -> (d0, d1), undef, <1x1>, {memref}, interleaved>"
    return f"tensor<{shape[0]}x{shape[1]}x{element}, {layout}>"


def generic_module(program: ProgramDescription, type_: str, outputs: int = 1) -> str:
    """A function of one tensor that runs a program; its results are what the program writes."""
    device, system = _attributes()
    names = [f"%out{i}" for i in range(outputs)]
    empties = "\n".join(
        f'  {name} = "ttnn.empty"(%dev) : (!tt.device<#device>) -> {type_}' for name in names
    )
    count = "" if outputs == 1 else f", num_outputs = {outputs} : i64"
    operands = ", ".join(["%x", *names])
    types = ", ".join([type_] * (outputs + 1))
    results = ", ".join([type_] * outputs)
    return f"""#device = {device}
module attributes {{tt.device = #device, tt.system_desc = {system}}} {{
func.func @main(%x: {type_}) -> ({results}) {{
  %dev = "ttnn.get_device"() : () -> !tt.device<#device>
{empties}
  "ttnn.generic"({operands}) <{{program = {attribute_text(ttnn.ProgramAttr(program))}{count}}}>
      : ({types}) -> ()
  return {", ".join(names)} : {results}
}}
}}
"""
