"""Let what functions of the host compare be truth values.

Before:

    module {
      ttcore.cpu_module {
        builtin.module {
          func.func @larger(%a: tensor<3x5xf32>, %b: tensor<3x5xf32>) -> tensor<3x5xf32> {
            %0 = "ttir.gt"(%a, %b)
                : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xf32>
            return %0 : tensor<3x5xf32>
          }
        }
      }
    }

After:

    ...
            %0 = "ttir.gt"(%arg0, %arg1) : (tensor<3x5xf32>, tensor<3x5xf32>) -> tensor<3x5xi1>
            %1 = "ttir.typecast"(%0) <{conservative_folding = false}>
                : (tensor<3x5xi1>) -> tensor<3x5xf32>
            return %1 : tensor<3x5xf32>
            ...

Requires: ttir of 2026.
Ensures: in a `ttcore.cpu_module`, elementwise operations that give truth values make elements of
one bit, which become right after what they have been.
Options: none.
Not done here: operations of the device, and reductions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import TensorType, i1

from ttmlir.ir.builder import Builder, Spelling, use_style
from ttmlir.ir.ttnn_types import set_type
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Attribute, Operation


@dataclass(frozen=True)
class TTIRCPUBooleanNarrowingPass(ModulePass):
    """Let what functions of the host compare be truth values."""

    name = "ttir-cpu-boolean-narrowing"
    title = "TTIRCPUBooleanNarrowing"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Narrow what is inside modules of the host."""
        with use_style(Spelling.LATE.style):
            for host in [op for op in module.walk() if op.name == "ttcore.cpu_module"]:
                for op in tuple(host.walk()):
                    if op.name.startswith("ttir.") and _gives_truth(op):
                        _narrow(op)


def _gives_truth(op: Operation) -> bool:
    definition = getattr(op, "DEFINITION", None)
    return definition is not None and definition.family.is_elementwise and definition.gives_truth


def _narrow(op: Operation) -> None:
    given = cast("TensorType[Attribute]", op.results[0].type)
    after = op.next_op
    if given.element_type == i1:
        return
    assert after is not None, "the end of the function comes after"
    made = set_type(op.results[0], TensorType(i1, given.get_shape()))
    users = tuple(made.uses)
    build = Builder.before(after)
    build.location = op.location
    wide = build.create("typecast", (made,), given)
    for use in users:
        use.operation.operands[use.index] = wide
