"""Hand registers over: from what computes in DST to what packs it, and back.

Before:

    func.func @k() attributes {ttkernel.thread = #ttkernel.thread<compute>} {
      %n = arith.constant 0 : index
      %in = ttkernel.get_compile_time_arg_val(0)
          : () -> !ttkernel.cb<4, !ttcore.tile<32x32, f32>>
      %out = ttkernel.get_compile_time_arg_val(1)
          : () -> !ttkernel.cb<4, !ttcore.tile<32x32, f32>>
      ttkernel.tile_regs_acquire() : () -> ()
      ttkernel.copy_tile(%in, %n, %n)
          : (!ttkernel.cb<4, !ttcore.tile<32x32, f32>>, index, index) -> ()
      ttkernel.pack_tile(%n, %out, %n, true)
          : (index, !ttkernel.cb<4, !ttcore.tile<32x32, f32>>, index) -> ()
      return
    }

After:

    ...
        ttkernel.copy_tile(%0, %c0, %c0) : ...
        ttkernel.tile_regs_commit() : () -> ()
        ttkernel.tile_regs_wait() : () -> ()
        ttkernel.pack_tile(%c0, %1, %c0, true) : ...
        ttkernel.tile_regs_release() : () -> ()
        return
      }
    }

Requires: a section, from `tile_regs_acquire` to the next one or to the end of the block, computes
before it packs; loops count as what they contain.
Ensures: registers are committed and waited for before the first statement of a section that packs,
and released after the last one. Sections that commit by themselves do not change.
Options: none.
Not done here: computing and packing in one loop, which is refused, as is a section that packs
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ttmlir.dialects.ttkernel import op_class
from ttmlir.ir.rewriting import insert_before, refuse
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import Operation

_ACQUIRE, _COMMIT, _WAIT, _RELEASE = (
    op_class(f"tile_regs_{step}") for step in ("acquire", "commit", "wait", "release")
)
_PACKS = ("ttkernel.pack_tile", "ttkernel.pack_tile_block")
_COMPUTES = ("_tile", "_tiles", "_tile_block", "matmul_block")
"""How names of calls end that write to DST."""


@dataclass(frozen=True)
class TTKernelControlDstSectionPass(ModulePass):
    """Commit registers before they are packed, and release them afterwards."""

    name = "ttkernel-control-dst-section"
    title = "TTKernelControlDstSection"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Complete every section."""
        for op in tuple(module.walk()):
            if isinstance(op, _ACQUIRE):
                _complete(op)


def _complete(acquire: Operation) -> None:
    section = _section_of(acquire)
    if any(isinstance(each, _COMMIT) for op in section for each in op.walk()):
        return
    packing = [op for op in section if any(each.name in _PACKS for each in op.walk())]
    if not packing:
        refuse(
            acquire,
            "starts a section of DST that packs nothing; supported are sections with "
            "ttkernel.pack_tile behind it in the same block or in loops of it",
        )
    first, last = packing[0], packing[-1]
    for op in section[section.index(first) : section.index(last) + 1]:
        for each in op.walk():
            if each.name not in _PACKS and each.name.endswith(_COMPUTES):
                refuse(
                    each,
                    "computes in DST after packing has begun; acquire registers inside of the "
                    "loop, or pack in a loop of its own",
                )
    commit, wait, release = (step.create() for step in (_COMMIT, _WAIT, _RELEASE))
    commit.location = wait.location = first.location
    release.location = last.location
    insert_before(first, commit, wait)
    block = last.parent
    assert block is not None, "it is in the block of the section"
    block.insert_op_after(release, last)


def _section_of(acquire: Operation) -> list[Operation]:
    """What stands behind in the block, before the next section."""
    section: list[Operation] = []
    op = acquire.next_op
    while op is not None and not isinstance(op, _ACQUIRE):
        section.append(op)
        op = op.next_op
    return section
