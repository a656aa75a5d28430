"""Say in sdy what frontends say of devices in attributes of their own.

Before:

    module attributes {mhlo.frontend_attributes =
        {xla.sdy.meshes = "{mesh = #sdy.mesh<[\\22x\\22=1, \\22y\\22=2]>}"}} {
      func.func @main(%a: tensor<64x32xf32> {mhlo.frontend_attributes =
          {xla.sdy.sharding = "#sdy.sharding<@mesh, [{\\22y\\22}, {}]>"}}) -> tensor<64x32xf32> {
        return %a : tensor<64x32xf32>
      }
    }

After:

    module {
      sdy.mesh @mesh = <["x"=1, "y"=2]>
      func.func @main(%arg0: tensor<64x32xf32>
          {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> tensor<64x32xf32> {
        ...

Requires: nothing.
Ensures: `xla.sdy.meshes` of the module are meshes, `xla.sdy.sharding` of arguments and results are
shardings. A module with a mesh of its own stays as it is.
Options: none.
Not done here: what calls say, which are constraints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.dialects.func import FuncOp

from ttmlir.dialects import sdy
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.shardy.spreading.shardings import SHARDING, Sharding

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute

_WORDS = "mhlo.frontend_attributes"
_MESHES = "xla.sdy.meshes"
_SAID = "xla.sdy.sharding"
_MESH = re.compile(r'"?([\w.$-]+)"?\s*=\s*#sdy\.mesh(<\[[^\]]*\][^>]*>)')


@dataclass(frozen=True)
class ConvertXlaSdyToSdyPass(ModulePass):
    """Say in sdy what frontends say of devices in attributes of their own."""

    name = "convert-xla-sdy-to-sdy"
    title = "ConvertXlaSdyToSdyPass"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Convert meshes, then shardings."""
        if any(isinstance(op, sdy.MeshOp) for op in module.body.block.ops):
            return
        text, rest = _take(module.attributes.get(_WORDS), _MESHES)
        if text is None:
            return
        first = module.body.block.first_op
        for name, mesh in _MESH.findall(text):
            new = sdy.MeshOp.create(
                properties={"sym_name": StringAttr(name), "mesh": sdy.MeshAttr(mesh)},
                location=module.location,
            )
            if first is not None:
                module.body.block.insert_op_before(new, first)
        del module.attributes[_WORDS]
        module.attributes.update(rest)
        for function in [op for op in module.walk() if isinstance(op, FuncOp)]:
            for name in ("arg_attrs", "res_attrs"):
                said = function.properties.get(name)
                if isinstance(said, ArrayAttr):
                    entries = cast("ArrayAttr[DictionaryAttr]", said).data
                    function.properties[name] = ArrayAttr(
                        [_converted(entry, function) for entry in entries]
                    )


def _converted(entry: DictionaryAttr, function: FuncOp) -> DictionaryAttr:
    text, rest = _take(entry.data.get(_WORDS), _SAID)
    if text is None:
        return entry
    kept = {name: value for name, value in entry.data.items() if name != _WORDS}
    sharding = Sharding.parse(text.removeprefix("#sdy.sharding"), function)
    kept[SHARDING] = sdy.TensorShardingAttr(str(sharding))
    return DictionaryAttr(dict(sorted({**kept, **rest}.items())))


def _take(words: Attribute | None, name: str) -> tuple[str | None, dict[str, Attribute]]:
    """What the words say under a name, and the attribute of the others, if there are any."""
    if not isinstance(words, DictionaryAttr):
        return None, {}
    said = words.data.get(name)
    if not isinstance(said, StringAttr):
        return None, {}
    others = {key: value for key, value in words.data.items() if key != name}
    return said.data.replace('\\\\"', '"'), {_WORDS: DictionaryAttr(others)} if others else {}
