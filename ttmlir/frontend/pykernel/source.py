"""The source of a Python function, as a tree whose places are those of its file."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from types import CellType, CodeType, FunctionType
from typing import NoReturn

from xdsl.dialects.builtin import LocationAttr

from ttmlir.frontend.pykernel.errors import PyKernelError
from ttmlir.mlir.reporting.locations import file_location

_Positioned = ast.expr | ast.stmt | ast.arg | ast.keyword


@dataclass(frozen=True)
class FunctionSource:
    """A function, what its names mean around it, and the text of the file that it stands in."""

    name: str
    code: CodeType = field(repr=False)
    module: Mapping[str, object] = field(repr=False, compare=False)
    """The names of the module, as they are when they are asked for."""
    cells: Mapping[str, CellType] = field(repr=False, compare=False)
    """The names of a function around it."""
    defaults: Mapping[str, object] = field(repr=False, compare=False)
    """Default arguments by parameter."""
    text: str = field(repr=False)

    @classmethod
    def of(cls, function: FunctionType) -> FunctionSource:
        """The source as it is in the file now."""
        code = function.__code__
        linecache.checkcache(code.co_filename)
        lines = linecache.getlines(code.co_filename, function.__globals__)
        names = code.co_varnames[: code.co_argcount]
        values = function.__defaults__ or ()
        return cls(
            name=function.__name__,
            code=code,
            module=function.__globals__,
            cells=dict(zip(code.co_freevars, function.__closure__ or (), strict=True)),
            defaults={
                **dict(zip(names[len(names) - len(values) :], values, strict=True)),
                **(function.__kwdefaults__ or {}),
            },
            text="".join(lines),
        )

    @property
    def file(self) -> str:
        """The file that the function stands in."""
        return self.code.co_filename

    @property
    def first_line(self) -> int:
        """The line of the first decorator, or of `def`."""
        return self.code.co_firstlineno

    def outside(self, name: str) -> tuple[bool, object]:
        """Whether a name means something around the function, and what."""
        if name in self.cells:
            try:
                return True, self.cells[name].cell_contents
            except ValueError:
                return False, None
        return name in self.module, self.module.get(name)

    @cached_property
    def outer_names(self) -> tuple[str, ...]:
        """The names that the function reads and does not set."""
        names = (each for each in ast.walk(self.node) if isinstance(each, ast.Name))
        local = frozenset(self.code.co_varnames)
        return tuple(dict.fromkeys(each.id for each in names if each.id not in local))

    @cached_property
    def node(self) -> ast.FunctionDef:
        """The tree of the function; PyKernelError if there is none."""
        found = _functions(self.text, self.file).get((self.name, self.first_line))
        if found is None:
            place = file_location(self.file, self.first_line, 1)
            message = (
                f"the source of '{self.name}' is not there; a kernel is a plain 'def' in a file or "
                "in a cell of a notebook"
            )
            raise PyKernelError(place, message, self.file, self.text)
        return found

    @cached_property
    def own_text(self) -> str:
        """The lines of the function alone."""
        return "\n".join(self._lines[self.first_line - 1 : self.node.end_lineno])

    def line(self, number: int) -> str:
        """A line of the file."""
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    @cached_property
    def _lines(self) -> list[str]:
        return self.text.splitlines()

    def location(self, node: _Positioned | ast.FunctionDef) -> LocationAttr:
        """Where a node of the function stands."""
        return file_location(self.file, node.lineno, node.col_offset + 1)

    def refuse(self, node: _Positioned | ast.FunctionDef, message: str) -> NoReturn:
        """Fail at a node."""
        raise PyKernelError(self.location(node), message, self.file, self.text)


@lru_cache(maxsize=64)
def _functions(text: str, file: str) -> dict[tuple[str, int], ast.FunctionDef]:
    """The functions of a file by name and first line."""
    try:
        tree = ast.parse(text, file)
    except SyntaxError:
        # The file has changed since it was imported.
        return {}
    return {
        (node.name, min((each.lineno for each in node.decorator_list), default=node.lineno)): node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    }
