"""Modules of ttmetal on memrefs, written by hand: host functions as text, kernels in C++."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ttmlir.dialects import DIALECTS, tt
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.frontend.cpp_to_ttkernel import read_kernel
from ttmlir.layout.system import default_system_desc
from ttmlir.mlir.context import make_context
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.printing import PrintOptions
from ttmlir.mlir.reader import parse_module

CONTEXT = make_context(DIALECTS)
SYSTEM = default_system_desc()
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "si32": 4, "u32": 4, "i8": 1}

Shape = Sequence[int]


def spell(shape: Shape) -> str:
    """Extents as `2x3`."""
    return "x".join(map(str, shape))


def on_device(
    grid: Shape,
    shard: Shape,
    element: str = "f32",
    *,
    tiled: bool = True,
    space: str = "l1",
    buffers: int = 1,
    interleaved: bool = False,
) -> str:
    """The type of a buffer of the device; `shard` counts tiles if it is tiled."""
    size = BYTES[element] * (1024 if tiled else 1)
    strides = [math.prod(shard[index + 1 :]) * size for index in range(len(shard))]
    numbers = f"!ttcore.tile<32x32, {element}>" if tiled else element
    behind = f", {buffers}" if buffers != 1 else ""
    layout = "interleaved" if interleaved else "shard"
    return (
        f"memref<{spell((*grid, *shard))}x{numbers}, #ttcore.{layout}<{spell(strides)}{behind}>, "
        f"#ttcore.memory_space<{space}>>"
    )


def on_host(shape: Shape, element: str = "f32", padded: Shape | None = None) -> str:
    """The type of a buffer of the host; its last dimensions may be padded to these extents."""
    if padded is None:
        return f"memref<{spell(shape)}x{element}>"
    strides = [math.prod(padded[index + 1 :]) for index in range(len(padded))]
    return f"memref<{spell(shape)}x{element}, {host_layout(shape, strides, math.prod(padded))}>"


def host_layout(shape: Shape, strides: Shape, volume: int) -> str:
    """The attribute of a padded buffer of the host."""
    return (
        f"#ttcore.host_layout<logical_shape = {spell(shape)}, host_strides = {spell(strides)}, "
        f"host_volume = {volume}>"
    )


def kernel(name: str, text: str) -> str:
    """A kernel in C++ as a private function."""
    module = read_kernel(text, f"{name}.cpp")
    [function] = module.ops
    function.properties["sym_name"] = StringAttr(name)
    function.properties["sym_visibility"] = StringAttr("private")
    body = print_module(module, PrintOptions(debuginfo=False)).splitlines()
    return "\n".join(line for line in body if line.startswith(" "))


def noc(name: str, args: str = "", cores: str = "0x0, 1x1", network: int = 0) -> str:
    """The configuration of a kernel that moves data."""
    return (
        f"#ttmetal.noc_config<@{name}, #ttmetal.core_range<{cores}>, "
        f"#ttmetal.kernel_args<{args}>, noc{network}>"
    )


def compute(
    name: str,
    args: str = "",
    cores: str = "0x0, 1x1",
    *,
    fidelity: str = "hifi4",
    wide: bool = True,
    modes: str = "default",
) -> str:
    """The configuration of a kernel that computes; `wide`: 32 bits in DST."""
    return (
        f"#ttmetal.compute_config<@{name}, #ttmetal.core_range<{cores}>, "
        f"#ttmetal.kernel_args<{args}>, {fidelity}, {str(wide).lower()}, false, [{modes}]>"
    )


def ct(*args: str) -> str:
    """Compile-time arguments, such as `cb_port[0]`."""
    return f"ct_args = [{', '.join(f'<{each}>' for each in args)}]" if args else ""


@dataclass
class HostFunction:
    """The function of the host, line by line; values are known by their names."""

    name: str = "main"
    lines: list[str] = field(default_factory=list[str])
    types: dict[str, str] = field(default_factory=dict[str, str])
    arguments: list[str] = field(default_factory=list[str])
    results: list[str] = field(default_factory=list[str])

    def argument(self, name: str, type_: str) -> None:
        """Take a tensor of the host."""
        self.types[name] = type_
        self.arguments.append(f"%{name}: {type_}")

    def create(self, name: str, type_: str, address: int) -> None:
        """Make a buffer on the device."""
        self.types[name] = type_
        self.lines.append(
            f'%{name} = "ttmetal.create_buffer"() <{{address = {address} : i64}}> : () -> {type_}'
        )

    def write(self, source: str, target: str) -> None:
        """Copy from the host."""
        self._transfer("enqueue_write_buffer", source, target)

    def read(self, source: str, target: str, type_: str) -> None:
        """Copy to new memory of the host, which the function returns."""
        self.types[target] = type_
        self.results.append(target)
        self.lines.append(f"%{target} = memref.alloc() : {type_}")
        self._transfer("enqueue_read_buffer", source, target)
        self.lines.append('"ttmetal.finish"() : () -> ()')

    def _transfer(self, op: str, source: str, target: str) -> None:
        types = f"({self.types[source]}, {self.types[target]}) -> ()"
        self.lines.append(f'"ttmetal.{op}"(%{source}, %{target}) : {types}')

    def run(
        self,
        buffers: Sequence[str],
        cbs: Sequence[str],
        ports: Sequence[int],
        kernels: Sequence[str],
        reference: str = "",
    ) -> None:
        """Run kernels."""
        operands = [*buffers, *cbs]
        types = ", ".join(self.types[each] for each in operands)
        attributes = f" {{ttmetal.reference = {reference}}}" if reference else ""
        self.lines.append(
            f'"ttmetal.enqueue_program"({", ".join(f"%{each}" for each in operands)}) '
            f"<{{cb_ports = array<i64: {', '.join(map(str, ports))}>, "
            f"kernelConfigs = [{', '.join(kernels)}], "
            f"operandSegmentSizes = array<i32: {len(buffers)}, {len(cbs)}>}}>{attributes} "
            f": ({types}) -> ()"
        )

    def free(self, *names: str) -> None:
        """Give buffers back."""
        for name in names:
            self.lines.append(f'"ttmetal.deallocate_buffer"(%{name}) : ({self.types[name]}) -> ()')

    @property
    def text(self) -> str:
        """The function."""
        types = ", ".join(self.types[each] for each in self.results)
        returned = ", ".join(f"%{each}" for each in self.results)
        end = f"return {returned} : {types}" if self.results else "return"
        lines = "\n".join(f"  {line}" for line in [*self.lines, end])
        arguments = ", ".join(self.arguments)
        return f"func.func @{self.name}({arguments}) -> ({types}) {{\n{lines}\n}}"


def make_module(function: HostFunction | str, *kernels: str) -> ModuleOp:
    """The module, for the default system."""
    text = function if isinstance(function, str) else function.text
    module = parse_module("\n".join(("module {", text, *kernels, "}")), "x.mlir", CONTEXT)
    module.attributes[SYSTEM_DESC] = tt.SystemDescAttr(SYSTEM)
    return module
