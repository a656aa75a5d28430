"""Give a program a mesh of two axes, as devices are arranged.

Before:

    sdy.mesh @mesh = <["y"=2]>
    func.func @main(%a: tensor<64x32xf32>
        {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x32xf32> {
      return %a : tensor<64x32xf32>
    }

After:

    module {
      sdy.mesh @mesh = <["y_aux"=1, "y"=2]>
      ...

Requires: what is said of devices is said in sdy (`convert-xla-sdy-to-sdy`).
Ensures: there is one mesh, and it has two axes; without a mesh of its own a program is for one
device. What lies on an empty mesh beside it, as what JAX is given without a sharding, is on all
devices of the mesh.
Options: `mesh-shape`: the mesh of a program that has none, such as 1,2; `automatic-arg-analysis`
spreads the first dimension of its arguments over it: those of four dimensions and more, and those
that are `input`. `any-mesh` takes meshes that no machine has, such as 3x1, and leaves out axes of
one device where there are more than two (`sdy-remove-size-one-axes` before, then).
Not done here: what `mhlo.sharding` says.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import StringAttr, TensorType
from xdsl.dialects.func import FuncOp

from ttmlir.dialects import sdy
from ttmlir.dialects.sdy import Mesh, axes_of
from ttmlir.dialects.ttcore import ArgumentTypeAttr
from ttmlir.ir.rewriting import refuse_at
from ttmlir.layout.enums import ArgumentType
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import (
    SHARDING,
    Dimension,
    Sharding,
    check_devices,
    map_shardings,
    said_of,
    set_argument,
)

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

_NAME = "mesh"
_AXIS = r'\s*"[^"]*"\s*=\s*\d+\s*'
_MESH = re.compile(rf"<\[(?:{_AXIS}(?:,{_AXIS})*)?\](?:,\s*device_ids=\[[\d, ]*\])?>")
_PART = re.compile(r"\([1-9]\d*\)[1-9]\d*")
_AXES: tuple[str, ...] = ("x", "y")
ANY_MESH = "Take meshes of any axes and extents, also those that no machine has"
_VALID = {
    1: (1, 2, 4, 8, 16, 32, 64),
    2: (2, 4, 8),
    4: (4, 8, 16, 32),
    8: (4, 8, 16),
}
"""Columns that meshes have, by their rows."""


@dataclass(frozen=True)
class AnalyzeMeshPass(ModulePass):
    """Give a program a mesh of two axes."""

    name = "analyze-mesh"
    title = "AnalyzeMeshPass"
    mesh_shape: tuple[int, ...] = option((), "Extents of the mesh of a program that has none")
    automatic_arg_analysis: bool = option(
        False, "Spread the first dimension of arguments over the mesh"
    )
    any_mesh: bool = option(False, ANY_MESH)

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Mend the mesh, or make one."""
        meshes = _drop_empty(module)
        if len(meshes) > 1:
            refuse_at(meshes[1], f"Pass expects a single mesh op, got {len(meshes)}")
        if meshes:
            self._mend(meshes[0])
        elif self.automatic_arg_analysis:
            self._spread(module)
        else:
            _insert(module, dict.fromkeys(_AXES, 1))

    def _spread(self, module: ModuleOp) -> None:
        if not self.mesh_shape:
            refuse_at(module, "User did not provide a mesh: give mesh-shape")
        if len(self.mesh_shape) != 2 or self.mesh_shape[0] != 1:
            refuse_at(
                module,
                "Currently, automatic arg analysis only supports 2d mesh shape and mesh shape dim0 "
                "must be 1",
            )
        mesh: dict[str, int] = dict(zip(("default", "batch"), self.mesh_shape, strict=True))
        self._check(module, mesh)
        _insert(module, mesh)
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            for index, type_ in enumerate(function.function_type.inputs.data):
                if isinstance(type_, TensorType):
                    _spread_argument(function, index, cast("TensorType[Attribute]", type_))

    def _mend(self, op: sdy.MeshOp) -> None:
        mesh: Mesh = axes_of(cast("sdy.MeshAttr", op.properties["mesh"]).data)
        if len(mesh) > 2 and self.any_mesh:
            mesh = op.axes
        if len(mesh) > 2 and not self.any_mesh:
            refuse_at(op, f"Pass expects a 0D, 1D, or 2D mesh, got {len(mesh)}D")
        if not mesh:
            mesh = dict.fromkeys(_AXES, 1)
        if len(mesh) == 1:
            ((name, extent),) = mesh.items()
            mesh = {f"{name}_aux": 1, name: extent}
        text = cast("sdy.MeshAttr", op.properties["mesh"]).data
        names = re.findall(r'"[^"]*"', text)
        if _MESH.fullmatch(text) is None or 0 in mesh.values() or len({*names}) < len(names):
            refuse_at(op, f"'{text}' is no mesh: axes have their own names and at least one device")
        self._check(op, mesh)
        op.properties["mesh"] = _mesh_attr(mesh)
        _check_axes(op, mesh)

    def _check(self, op: sdy.MeshOp | ModuleOp, mesh: Mesh) -> None:
        check_devices(op, mesh)
        if self.any_mesh:
            return
        rows, columns = mesh.values()
        if columns not in _VALID.get(rows, ()):
            known = ", ".join(f"{r}x{'|'.join(map(str, c))}" for r, c in _VALID.items())
            refuse_at(op, f"Mesh is not valid: {rows}x{columns}; there are {known}")


def _check_axes(op: sdy.MeshOp, mesh: Mesh) -> None:
    """Refuse shardings over what the mesh does not have, and over an axis twice."""
    module = cast("ModuleOp", op.parent_op())
    name = _name_of(op)

    def check(sharding: Sharding) -> Sharding:
        axes = [axis for each in sharding.dimensions for axis in each.axes]
        known = {f'"{axis}"' for axis in mesh}
        for axis in axes if sharding.mesh == name else ():
            whole, _, part = axis.partition(":")
            if whole not in known:
                refuse_at(op, f"{sharding}: the mesh has no axis {axis}")
            if axes.count(axis) > 1:
                refuse_at(op, f"{sharding} divides by the axis {axis} twice")
            if part and _PART.fullmatch(part) is None:
                refuse_at(op, f"{sharding}: the part {axis} of an axis has no devices")
        return sharding

    map_shardings(module, check)
    for function in [each for each in module.walk() if isinstance(each, FuncOp)]:
        for index, type_ in enumerate(function.function_type.inputs.data):
            said = said_of(function.arg_attrs, index).get(SHARDING)
            if isinstance(said, sdy.TensorShardingAttr) and isinstance(type_, TensorType):
                count = len(Sharding.parse(said.data, function).dimensions)
                if count != (rank := len(cast("TensorType[Attribute]", type_).get_shape())):
                    refuse_at(
                        function,
                        f"the sharding of argument {index} has {count} dimensions, its tensor "
                        f"{rank}",
                    )


def _drop_empty(module: ModuleOp) -> list[sdy.MeshOp]:
    """The meshes; those without axes go to the one that has some."""
    meshes = [op for op in module.body.block.ops if isinstance(op, sdy.MeshOp)]
    named = [op for op in meshes if not op.is_empty]
    if len(named) != 1 or len(meshes) == 1:
        return meshes
    names = {_name_of(op) for op in meshes if op.is_empty}
    kept = _name_of(named[0])
    map_shardings(module, lambda each: replace(each, mesh=kept) if each.mesh in names else each)
    for op in meshes:
        if op.is_empty:
            op.detach()
            op.erase()
    return named


def _name_of(op: sdy.MeshOp) -> str:
    return f"@{cast('StringAttr', op.properties['sym_name']).data}"


def _spread_argument(function: FuncOp, index: int, type_: TensorType[Attribute]) -> None:
    said = said_of(function.arg_attrs, index)
    is_input = said.get("ttcore.argument_type") == ArgumentTypeAttr(ArgumentType.INPUT)
    rank = len(type_.get_shape())
    if rank < 4 and not (is_input and rank):
        return
    dimensions = (Dimension(('"batch"',)), *(Dimension(),) * (rank - 1))
    sharding = sdy.TensorShardingAttr(str(Sharding(f"@{_NAME}", dimensions)))
    set_argument(function, index, sdy__sharding=sharding)


def _mesh_attr(mesh: Mesh) -> sdy.MeshAttr:
    axes = ", ".join(f'"{name}"={extent}' for name, extent in mesh.items())
    return sdy.MeshAttr(f"<[{axes}]>")


def _insert(module: ModuleOp, mesh: Mesh) -> None:
    new = sdy.MeshOp.create(
        properties={"sym_name": StringAttr(_NAME), "mesh": _mesh_attr(mesh)},
        location=module.location,
    )
    block = module.body.block
    if block.first_op is None:
        block.add_op(new)
    else:
        block.insert_op_before(new, block.first_op)
