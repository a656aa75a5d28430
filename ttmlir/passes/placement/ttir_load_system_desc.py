"""Put the description of the machine on the module.

Before:

    func.func @nothing() {
      return
    }

After:

    #system_desc = #tt.system_desc<[{arch = <wormhole_b0>, grid = 8x8, l1_size = 1499136, ...}],
        [0], [3 : i32], [<0, 0, 0, 0>]>
    module attributes {tt.system_desc = #system_desc} {
      func.func @nothing() {
        return
      }
    }

Requires: nothing.
Ensures: the module has the attribute `tt.system_desc`.
Options: `path`, a file with the description of a machine (`.ttsys`) or the name of a board such as
p150, which replaces the attribute; `SYSTEM_DESC_PATH` is it where none is given. Without it an
attribute that is there stays, or else a machine with one chip is described; `arch`
says which.
Not done here: nested modules; they have the machine of the module around them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.files import read_file
from ttmlir.ir.rewriting import refuse_at
from ttmlir.layout.enums import Arch
from ttmlir.layout.errors import LayoutError
from ttmlir.layout.system import BOARD_NAMES, board, default_system_desc
from ttmlir.mlir.option_values import option
from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context

    from ttmlir.layout.system import SystemDesc


@dataclass(frozen=True)
class TTIRLoadSystemDescPass(ModulePass):
    """Put the description of the machine on the module."""

    name = "ttir-load-system-desc"
    title = "TTIRLoadSystemDesc"
    path: str = option(
        "",
        "Description (.ttsys file) or board of the machine",
        environment="SYSTEM_DESC_PATH",
    )
    arch: Arch = option(
        Arch.WORMHOLE_B0,
        "Generation of the chip that is assumed without a file: wormhole_b0 or blackhole",
    )

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Set the attribute `tt.system_desc`."""
        if self.path:
            system = read_system_desc(self.path, module)
        elif SYSTEM_DESC in module.attributes:
            return
        else:
            system = _assumed(self.arch, module)
        module.attributes[SYSTEM_DESC] = tt.SystemDescAttr(system)


def _assumed(arch: Arch, module: ModuleOp) -> SystemDesc:
    if arch is Arch.WORMHOLE_B0:
        return default_system_desc()
    if arch is Arch.BLACKHOLE:
        return board("p150")
    refuse_at(module, f"there is no machine with {arch.keyword}; use wormhole_b0 or blackhole")


def read_system_desc(path: str, module: ModuleOp) -> SystemDesc:
    """The machine that a file or the name of a board describes."""
    if path in BOARD_NAMES:
        return board(path)
    # Flatbuffers are not needed, and not paid for, without a file.
    from ttmlir.layout.late_machine import any_system_from_table
    from ttmlir.schema import FlatbufferError
    from ttmlir.schema.versions import load_system_desc

    try:
        loaded = load_system_desc(read_file(path), path)
        return any_system_from_table(loaded.root.system_desc)
    except OSError as error:
        problem = f"cannot read the system description '{path}': {error.strerror}"
        boards = ", ".join(BOARD_NAMES)
        refuse_at(
            module,
            f"{problem}; give the path of a .ttsys file, a board ({boards}), or nothing for one "
            "Wormhole",
        )
    except (FlatbufferError, LayoutError) as error:
        refuse_at(module, f"cannot use the system description: {error}")
