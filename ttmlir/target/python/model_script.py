"""The text of a script that runs a model on a card: with names, comments and all it needs.

The functions of the program are those of the module; those of `script_frame.py` stand around them,
and of `script_functions.py` those that the program calls.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ttmlir.dialects import emitpy
from ttmlir.mlir.reporting import file_line_col, name_of
from ttmlir.target.notes import Notes
from ttmlir.target.python.emitter import emit_python
from ttmlir.version import TTNN_VERSION, VERSION

PROGRAM, INPUTS, LOAD = "forward", "load_inputs_for_forward", "load"

_FOLDER = Path(__file__).parent
FRAME, _FUNCTIONS = "script_frame.py", "script_functions.py"
OF_FRAME = ("to_array", "as_list", "correlation", "compare", "run")
_CONSTANTS = ("L1_SMALL_SIZE", "TENSORS", "GOLDEN", "KINDS")
_SHORT = (
    (
        "ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.DRAM, None)",
        "ttnn.DRAM_MEMORY_CONFIG",
    ),
    (
        "ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, ttnn.BufferType.L1, None)",
        "ttnn.L1_MEMORY_CONFIG",
    ),
    ("ttnn.Layout.TILE", "ttnn.TILE_LAYOUT"),
    ("ttnn.Layout.ROW_MAJOR", "ttnn.ROW_MAJOR_LAYOUT"),
)
"""What the library has shorter names for."""
_DATA_TYPE = re.compile(r"\bttnn\.DataType\.(\w+)")
_CACHED = "utils.compute_once"


def write_model_script(
    module: ModuleOp,
    described: Mapping[SSAValue, str],
    *,
    title: str,
    script: str,
    source_line: Callable[[str, int], str | None] | None,
    mesh: tuple[int, ...] = (1, 1),
) -> str:
    """The script of a module of emitpy, whose program is `forward`; `script` is its file's name.

    `described` says what the library's tensors are, and `source_line` quotes what the user wrote.
    `mesh` are rows and columns of the devices that it runs on.
    """
    used = _shorten(module)
    functions = [op for op in module.walk() if isinstance(op, FuncOp)]
    pieces = [piece(_FUNCTIONS, name) for name in _needed(_FUNCTIONS, sorted(used))]
    frame = [piece(FRAME, name) for name in OF_FRAME]
    count = sum(op.sym_name.data == INPUTS and len(op.function_type.outputs) for op in functions)
    has_tensors = any(
        isinstance(op, emitpy.CallOpaqueOp) and op.callee == LOAD for op in module.walk()
    )
    pieces += [piece(FRAME, name) for name in ("read_array", *([LOAD] * has_tensors))]
    given = {0: "", 1: f"{INPUTS}(device), "}.get(count, f"*{INPUTS}(device), ")
    main = (
        "def main(device: Any) -> Any:\n"
        '    """The results for the inputs in the file of tensors."""\n'
        f"    return {PROGRAM}({given}device)"
    )
    names = {each.split("(")[0].split()[-1] for each in (*pieces, *frame, main)}
    _name_arguments(functions, names)
    arguments = frozenset(
        name_of(each.location) or ""
        for op in functions
        if op.sym_name.data == PROGRAM
        for each in op.body.blocks[0].args
    )
    notes = ScriptNotes(
        described, source_line, arguments, frozenset({*names, *_module_names(functions)})
    )
    usage = USAGE.replace("SCRIPT", script)
    program = emit_python(module, notes=notes).strip("\n")
    constants = [f"MESH_SHAPE = {mesh}", *(piece(FRAME, name) for name in _CONSTANTS)]
    head = (
        f'"""{title}, as calls of ttnn {TTNN_VERSION}; written by ttmlir {VERSION}.\n\n{usage}"""'
    )
    body = "\n\n\n".join((*pieces, program, main, *frame, piece(FRAME, "")))
    imports = imports_of(body, script)
    return "\n".join((head, "", imports, *constants, "", "", body)) + "\n"


_LIBRARY = f"""
try:
    import ttnn
except ImportError as error:
    if __name__ != "__main__":
        raise
    words = "on a card: pip install ttnn=={TTNN_VERSION}; without one: python -m ttmlir SCRIPT"
    raise SystemExit(f"{{error}}; {{words}}") from None
"""
USAGE = """    python SCRIPT            runs it on a card, and prints the results
    python SCRIPT --check    compares them with the golden results
    python -m ttmlir SCRIPT  runs it without a card

Other Python calls `forward`. Comments say what each tensor is, and what it was written as.
"""


def _shorten(module: ModuleOp) -> set[str]:
    """Change the calls as they stand in a script; the functions of `utils` that they name."""
    used = set[str]()
    for op in list(module.walk()):
        if isinstance(op, emitpy.ImportOp):
            op.detach()
            op.erase()
        if not isinstance(op, emitpy.CallOpaqueOp):
            continue
        if op.callee.startswith("utils."):
            name = op.callee.removeprefix("utils.")
            if name not in ("create_list", "load_tensor"):
                used.add(name)
                op.properties["callee"] = StringAttr(name)
            if name == "load_tensor":
                op.properties["callee"] = StringAttr(LOAD)
                words = [*cast("ArrayAttr[StringAttr]", op.properties["keyword_args"]).data]
                op.properties["keyword_args"] = ArrayAttr([StringAttr(""), *words[1:]])
        if "args" in op.properties:
            values = cast("ArrayAttr[Attribute]", op.properties["args"]).data
            op.properties["args"] = ArrayAttr([_short(value) for value in values])
    return used


def _short(value: Attribute) -> Attribute:
    if not isinstance(value, emitpy.OpaqueAttr):
        return value
    text = value.value.data
    for long, short in _SHORT:
        text = text.replace(long, short)
    return emitpy.opaque(_DATA_TYPE.sub(lambda found: f"ttnn.{found[1].lower()}", text))


def _name_arguments(functions: list[FuncOp], taken: set[str]) -> None:
    for function in functions:
        if not function.body.blocks:
            continue
        names = list[str]()
        for number, argument in enumerate(function.body.blocks[0].args):
            stem = identifier(name_of(argument.location) or "") or f"arg{number}"
            if number == len(function.body.blocks[0].args) - 1:
                stem = "device"
            while stem in (*names, *taken, "ttnn", "np"):
                stem += "_"
            names.append(stem)
        attributes = [DictionaryAttr({emitpy.NAME: StringAttr(name)}) for name in names]
        function.arg_attrs = ArrayAttr(attributes)


def taken_names() -> set[str]:
    """Names that a script has whatever its program is."""
    files = (_tree(file)[1].body for file in (FRAME, _FUNCTIONS))
    names = {getattr(node, "name", "") for body in files for node in body}
    return {PROGRAM, INPUTS, LOAD, "main", "ttnn", "np", *_CONSTANTS, *names, *dir(builtins)}


def _module_names(functions: list[FuncOp]) -> set[str]:
    return {
        *("ttnn", "np", "Any", *_CONSTANTS, *dir(builtins), *keyword.kwlist),
        *(op.sym_name.data for op in functions),
    }


def identifier(text: str) -> str:
    """A name for Python made of any text; an empty one where there is none."""
    name = re.sub(r"\W+", "_", text, flags=re.ASCII).strip("_")
    return f"_{name}" if name[:1].isdigit() or keyword.iskeyword(name) else name


@dataclass
class ScriptNotes(Notes):
    """Comments with the user's lines, and what each tensor is."""

    described: Mapping[SSAValue, str]
    source_line: Callable[[str, int], str | None] | None
    arguments: frozenset[str]
    """Names of arguments, which what is made of them is called after."""
    reserved: frozenset[str] = frozenset()  # pyright: ignore[reportIncompatibleVariableOverride]
    _quoted: dict[tuple[str, int], str] = field(default_factory=dict[tuple[str, int], str])

    def before(self, op: Operation) -> str:
        """The line that an operation is of."""
        place = file_line_col(op.location)
        if place is None or not op.results:
            return ""
        key = (place.file, place.line)
        if key not in self._quoted:
            name = re.split(r"[/\\]", place.file)[-1]
            line = (self.source_line(*key) if self.source_line is not None else None) or ""
            self._quoted[key] = printable(f"{name}:{place.line}  {line.strip()}".rstrip())
        return self._quoted[key]

    def after(self, op: Operation) -> str:
        """Shape, data type, layout and memory of the result."""
        return "; ".join(self.described.get(result, "") for result in op.results)

    def stem(self, op: Operation) -> str:
        """The modules that an operation is in, and its function."""
        if not isinstance(op, emitpy.CallOpaqueOp):
            return ""
        callee = op.callee.rpartition(".")[2]
        if callee == LOAD or callee.startswith("get_device"):
            text = cast("ArrayAttr[emitpy.OpaqueAttr]", op.properties["args"]).data[0]
            return identifier(text.value.data)
        if callee == _CACHED.rpartition(".")[2]:
            text = cast("ArrayAttr[emitpy.OpaqueAttr]", op.properties["args"]).data[1]
            return identifier(text.value.data.removeprefix("make_")) or "constant"
        return self.name_of_call(op, callee)

    def name_of_call(self, op: Operation, callee: str) -> str:
        """The modules that an operation is in, and a function."""
        name = name_of(op.location) or ""
        parts = [name, ""] if name in self.arguments else name.split("/")
        scope = [part for part in parts[:-1] if not part.startswith("jit(")]
        return identifier("_".join((*scope, callee)))


def printable(text: str) -> str:
    """A line of a comment: what ends lines elsewhere does not end it."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


# --- Pieces of files ------------------------------------------------------------------------------


@cache
def _tree(file: str) -> tuple[str, ast.Module]:
    text = (_FOLDER / file).read_text(encoding="utf-8")
    return text, ast.parse(text)


def _definition(file: str, name: str) -> ast.stmt | None:
    for node in _tree(file)[1].body:
        match node:
            case ast.FunctionDef() | ast.ClassDef() if node.name == name:
                return node
            case ast.Assign(targets=[ast.Name(id=target)]) if target == name:
                return node
            case ast.If() if not name:
                return node
            case _:
                pass
    return None


def piece(file: str, name: str) -> str:
    """The text of what a file defines by a name, or of its last statement."""
    node = _definition(file, name)
    assert node is not None, name
    text = ast.get_source_segment(_tree(file)[0], node)
    assert text is not None
    return text


def _needed(file: str, names: list[str]) -> list[str]:
    """The names, and those of what these need, in the order of the file."""
    found, pending = set[str](), [*names]
    while pending:
        name = pending.pop()
        node = _definition(file, name)
        if node is None or name in found:
            continue
        found.add(name)
        pending += [each.id for each in ast.walk(node) if isinstance(each, ast.Name)]
    order = [getattr(node, "name", "") for node in _tree(file)[1].body]
    return [name for name in order if name in found]


def imports_of(body: str, script: str, files: Sequence[str] = (FRAME, _FUNCTIONS)) -> str:
    """The lines that import what a text of pieces of files uses, and the library for a script."""
    used = {each.id for each in ast.walk(ast.parse(body)) if isinstance(each, ast.Name)}
    used |= {"Path"}
    standard, third = list[str](), list[str]()
    found: dict[str, set[str]] = {}
    for file in files:
        for node in _tree(file)[1].body:
            if isinstance(node, ast.ImportFrom):
                names = {each.name for each in node.names if each.name in used}
                found.setdefault(str(node.module), set()).update(names)
            elif isinstance(node, ast.Import):
                for each in node.names:
                    name = each.asname or each.name
                    lines = third if name == "np" else standard
                    line = ast.unparse(ast.Import([each]))
                    if name in used and name != "ttnn" and line not in lines:
                        lines.append(line)
    del found["__future__"]
    standard = sorted(standard) + [
        f"from {module} import {', '.join(sorted(names))}"
        for module, names in sorted(found.items())
        if names
    ]
    start = ["from __future__ import annotations", ""]
    library = _LIBRARY.replace("SCRIPT", script)
    return "\n".join((*start, *standard, "", *sorted(third), library))
