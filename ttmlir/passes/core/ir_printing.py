"""Prints the IR around passes: the flags `--mlir-print-ir-*`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.files import safe_file_name
from ttmlir.ir.symbols import symbol_name
from ttmlir.mlir.files.text_files import FileError, write_output
from ttmlir.passes.core.base import Pass
from ttmlir.passes.core.manager import Instrument, title

if TYPE_CHECKING:
    from xdsl.ir import Operation


@dataclass(frozen=True, kw_only=True)
class PrintFilter:
    """Which passes have the IR printed around them."""

    before: Collection[str] = ()
    """Names of passes that the IR is printed before."""
    after: Collection[str] = ()
    """Names of passes that the IR is printed after."""
    before_all: bool = False
    after_all: bool = False
    only_on_change: bool = False
    """Print after a pass only if it changed the IR."""
    only_on_failure: bool = False
    """Print after a pass only if it failed."""
    module_scope: bool = False
    """Print the whole module, not only the operation that the pass runs on."""

    @property
    def is_active(self) -> bool:
        """True if anything is ever printed."""
        return bool(
            self.before or self.after or self.before_all or self.after_all or self.only_on_failure
        )

    def wants_before(self, step: Pass) -> bool:
        """True if the IR is printed before the pass."""
        return self.before_all or step.name in self.before

    def wants_after(self, step: Pass) -> bool:
        """True if the IR is printed after the pass."""
        return self.after_all or step.name in self.after


class IRPrinter(Instrument):
    """Writes the IR before and after passes, each time under a line that names the pass."""

    def __init__(
        self,
        selected: PrintFilter,
        text_of: Callable[[Operation], str],
        tree_directory: Path | None = None,
    ):
        """`text_of` prints an operation; a directory takes one file per pass instead of stderr."""
        self.selected = selected
        self.text_of = text_of
        self.tree = _FileTree(tree_directory) if tree_directory else None
        self.text_before = ""

    def before_pass(self, step: Pass, op: Operation) -> None:
        """Print the IR if the pass is selected, and remember it if changes matter."""
        if self.selected.wants_before(step):
            self._write("Before", "", step, op, self._text(op))
        if self.selected.only_on_change and self.selected.wants_after(step):
            self.text_before = self.text_of(op)

    def after_pass(self, step: Pass, op: Operation) -> None:
        """Print the IR if the pass is selected and the conditions hold."""
        if self.selected.only_on_failure or not self.selected.wants_after(step):
            return
        if self.selected.only_on_change and self.text_of(op) == self.text_before:
            return
        self._write("After", "", step, op, self._text(op))

    def after_failure(self, step: Pass, op: Operation) -> None:
        """Print the IR that a failed pass left behind."""
        if self.selected.only_on_failure or self.selected.wants_after(step):
            self._write("After", " Failed", step, op, self._text(op))

    def _text(self, op: Operation) -> str:
        return self.text_of(_root(op) if self.selected.module_scope else op)

    def _write(self, when: str, outcome: str, step: Pass, op: Operation, text: str) -> None:
        where = _where(op) if self.selected.module_scope else ""
        header = f"// -----// IR Dump {when} {title(step)}{outcome} ({step.name}){where} //----- //"
        if self.tree:
            self.tree.write(step, op, f"{header}\n{text}\n\n")
        else:
            sys.stderr.write(f"{header}\n{text}\n\n")


def _root(op: Operation) -> Operation:
    while (parent := op.parent_op()) is not None:
        op = parent
    return op


def _where(op: Operation) -> str:
    symbol = symbol_name(op)
    return f" ('{op.name}' operation: @{symbol})" if symbol else f" ('{op.name}' operation)"


class _FileTree:
    """Files `builtin_module_NAME/func_func_NAME/0_1_pass.mlir`.

    The last number counts the dumps of the operation; those before it are the latest of the
    enclosing operations, where 0 also stands for none.
    """

    def __init__(self, root: Path):
        self.root = root
        self.latest: dict[Path, int] = {}

    def write(self, step: Pass, op: Operation, text: str) -> None:
        *enclosing, own = _directories(op, self.root)
        numbers = [self.latest.setdefault(directory, 0) for directory in enclosing]
        self.latest[own] = self.latest.get(own, -1) + 1
        name = "_".join(map(str, (*numbers, self.latest[own])))
        try:
            own.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise FileError(f"cannot make folder '{own}': {error.strerror}") from None
        write_output(str(own / f"{name}_{step.name}.mlir"), text.encode("utf-8"))


def _directories(op: Operation, root: Path) -> list[Path]:
    """The folders of the operations that enclose `op`, outermost first, and that of `op`."""
    parent = op.parent_op()
    enclosing = _directories(parent, root) if parent is not None else []
    name = f"{op.name.replace('.', '_')}_{_symbol_in_path(op)}"
    return [*enclosing, (enclosing[-1] if enclosing else root) / name]


def _symbol_in_path(op: Operation) -> str:
    symbol = symbol_name(op)
    return safe_file_name(symbol) if symbol else "no-symbol-name"
