"""How tensors are divided over the devices of a mesh, as the explorer shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType

from ttmlir.compiler import transform
from ttmlir.dialects.sdy import MeshOp, meshes_in
from ttmlir.errors import CompilationError
from ttmlir.explorer.graph import scope_of
from ttmlir.mlir.attributes import cloned
from ttmlir.passes.shardy.spreading.shardings import Sharding, sharding_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, SSAValue


def spell_mesh(module: ModuleOp) -> str:
    """The axes of a module's mesh, such as `x=2, y=4`; empty without one."""
    for op in module.ops:
        if isinstance(op, MeshOp):
            return ", ".join(f"{name}={extent}" for name, extent in op.axes.items())
    return ""


def spell_sharding(value: SSAValue) -> str:
    """Which dimensions of a value are divided over which axes; empty where nothing says it."""
    found = sharding_of(value)
    return "" if found is None else _spell(found)


def _spell(sharding: Sharding) -> str:
    parts = [
        f"dimension {number} over {' and '.join(axis.strip(chr(34)) for axis in each.axes)}"
        for number, each in enumerate(sharding.dimensions)
        if each.axes
    ]
    return ", ".join(parts) or "all of it on each device"


def divide(module: ModuleOp) -> ModuleOp | None:
    """A module with the shardings of all its values; None if the compiler refuses it."""
    divided = cloned(module)
    try:
        transform(
            divided,
            "sdy-remove-size-one-axes,stablehlo-pipeline{any-mesh=true}",
            until="wrap-under-manual-computation",
        )
    except CompilationError:
        return None
    return divided


def find_parts(divided: ModuleOp) -> dict[tuple[str, tuple[int, ...]], str]:
    """How results are divided, by the names of operations and the shapes of what a device has."""
    meshes = meshes_in(divided)
    found: dict[tuple[str, tuple[int, ...]], str] = {}
    for op in divided.walk():
        name = scope_of(str(op.location)).override_name
        for result in op.results if name else ():
            sharding = sharding_of(result)
            if sharding is None or not isinstance(value_type := result.type, TensorType):
                continue
            tensor = cast("TensorType[Attribute]", value_type)
            part = sharding.local_shape(tensor.get_shape(), meshes.get(sharding.mesh, {}))
            if part is not None:
                found.setdefault((name, part), _spell(sharding))
    return found
