"""Compiled models as scripts of Python that call the ttnn library, ready to run on a card.

Beside a script stands a file with its inputs, weights, and constants that are too long to read, and
one with the golden results.
"""

from __future__ import annotations

import keyword
import linecache
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ttmlir.compiler import transform
from ttmlir.errors import ArgumentError
from ttmlir.files import require_path, write_file
from ttmlir.mlir.option_values import options_of
from ttmlir.version import TTNN_VERSION

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation

    from ttmlir.dialects import ttnn
    from ttmlir.runtime.tensor import Array

SUFFIX = ".py"
_PIPELINE = "ttir-to-emitpy-pipeline"
_TUPLES = "ttnn-tuplify-tensors"
_MOST_ELEMENTS = 64
"""Of a constant that stands in the text."""


@dataclass(frozen=True)
class ScriptData:
    """What a script is about, and runs on."""

    name: str
    """Of the model."""
    inputs: Sequence[Array]
    outputs: Sequence[Array] | None
    """Golden results."""
    parameters: Callable[[], Iterable[tuple[str, Array]]] | None
    """What constants are called in the model."""
    is_python: bool
    """Whether the model is written in Python, whose lines may be quoted."""


def write_script(module: ModuleOp, data: ScriptData, options: str, path: str | Path) -> Path:
    """Write a module in ttir of 2026 as a script, and what it needs; returns its path.

    `options` are those of the pipeline to ttnn.
    """
    script = check_script_path(path)
    transform(module, f"{_PIPELINE}{{{_known(options)} target-module=true}}", until=_TUPLES)
    return write_lowered_script(module, data, script)


def write_lowered_script(module: ModuleOp, data: ScriptData, path: str | Path) -> Path:
    """Write a module in ttnn of 2026, as binaries are written from it."""
    from ttmlir.passes.emitpy.convert_ttnn_to_emitpy import convert_to_functions
    from ttmlir.target.python.model_script import identifier, write_model_script

    script = Path(path)
    kept = _name_all(module, data)
    mesh = mesh_of_module(module)
    described = convert_to_functions(module)
    _check_functions(module)
    text = write_model_script(
        module,
        described,
        title=identifier(data.name) or "Model",
        script=script.name,
        source_line=line_of if data.is_python else None,
        mesh=mesh,
    )
    return write_files(script, text, data, kept)


def mesh_of_module(module: ModuleOp) -> tuple[int, ...]:
    """Rows and columns of the devices that a program in ttnn is for."""
    from ttmlir.dialects import ttcore

    shapes = (op.device.mesh_shape for op in module.walk() if isinstance(op, ttcore.DeviceOp))
    return tuple(next(shapes, ())) or (1, 1)


def write_kernels_script(
    module: ModuleOp, data: ScriptData, path: str | Path, source: FuncOp | None = None
) -> Path:
    """Write a lowered module of ttmetal as a script of its kernels, and what it needs.

    Kernels have to ask the chip where its cores are (`translate-coordinates`). Inputs have the
    names of the arguments of `source`, the function before it was lowered.
    """
    from ttmlir.target.python.kernel_script import programs_of, write_kernel_script
    from ttmlir.target.python.model_script import identifier

    script = check_script_path(path)
    (program,) = programs_of(module)
    names = _names_of_inputs(source or program)
    kept = dict(zip(names, data.inputs, strict=True))
    constants, arrays = _name_globals(module, data, kept)
    text = write_kernel_script(
        module,
        constants,
        names,
        title=identifier(data.name) or "Model",
        script=script.name,
        source_line=line_of if data.is_python else None,
    )
    return write_files(script, text, data, {**kept, **arrays})


def check_script_path(path: str | Path) -> Path:
    """The path of a script, whose name has to be that of a module."""
    require_path(path, "save")
    script = Path(path)
    if not script.stem.isidentifier() or keyword.iskeyword(script.stem) or script.stem == "ttnn":
        raise ArgumentError(
            f"'{script.name}' is no name of a script that others can import; 'model.py' is one"
        )
    return script


def _name_globals(
    module: ModuleOp, data: ScriptData, taken: Mapping[str, Array]
) -> tuple[dict[str, str], dict[str, Array]]:
    """Names of the constants of a module by their symbols, and these by names."""
    from xdsl.dialects.memref import GlobalOp

    from ttmlir.interpreter.execution import constant_array

    parameters = data.parameters() if data.parameters is not None else ()
    by_content = {_content(array): name for name, array in reversed([*parameters])}
    names: dict[str, str] = {}
    arrays: dict[str, Array] = {}
    for op in [op for op in module.walk() if isinstance(op, GlobalOp)]:
        array = constant_array(op, op.initial_value)
        name = by_content.get(_content(array))
        if name is None or name in taken:
            name = f"constant{len(arrays)}"
        names[op.sym_name.data] = name
        arrays[name] = array
    return names, arrays


def write_files(script: Path, text: str, data: ScriptData, kept: Mapping[str, Array]) -> Path:
    """Write a script, the file of its tensors, and that of golden results."""
    from ttmlir.frontend.safetensors import write_safetensors

    tensors = script.with_suffix(".safetensors")
    golden = tensors.with_name(f"{tensors.stem}_golden.safetensors")
    write_safetensors(tensors, kept)
    golden.unlink(missing_ok=True)
    if data.outputs is not None:
        outputs = {f"output{number}": array for number, array in enumerate(data.outputs)}
        write_safetensors(golden, outputs)
    write_file(script, text.encode())
    return script


def prepare(module: ModuleOp, data: ScriptData, options: str) -> dict[str, Array]:
    """Lower ttir of 2026 to functions that read inputs, weights and long constants from a file.

    The program is `forward`. Returns what the file holds, inputs first, by names.
    """
    known = _known(f"{options} enable-eltwise-activation-fusion=false")
    transform(module, f"{_PIPELINE}{{{known} target-module=true}}", until=_TUPLES)
    return _name_all(module, data)


def _name_all(module: ModuleOp, data: ScriptData) -> dict[str, Array]:
    """Name the program, its inputs and constants; the tensors of these by their names."""
    names = _add_inputs(_program_of(module))
    kept = dict(zip(names, data.inputs, strict=True))
    parameters = data.parameters() if data.parameters is not None else ()
    kept.update(_take_constants(module, dict(parameters), kept))
    _name_cached_functions(module)
    return kept


def line_of(file: str, number: int) -> str | None:
    """A line of a program in Python."""
    return linecache.getline(file, number) if file.endswith(SUFFIX) else None


def _program_of(module: ModuleOp) -> FuncOp:
    """The function of the program, by the name that it has in a script."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.func import FuncOp

    from ttmlir.ir.rewriting import rename_references
    from ttmlir.passes.ttnn.functions.ttnn_tuplify_tensors import forward_functions
    from ttmlir.target.python.model_script import PROGRAM

    program, *others = forward_functions(module)
    if others:
        raise ArgumentError("scripts have one program; these functions are several")
    names = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
    renamed: dict[str, str] = {}
    for number, (name, op) in enumerate(names.items()):
        if op is program or not _is_free(name):
            renamed[name] = PROGRAM if op is program else f"function_{number}"
    for op in module.walk():
        rename_references(op, renamed)
    for old, new in renamed.items():
        names[old].sym_name = StringAttr(new)
    return program


def _is_free(name: str) -> bool:
    """Whether a function may keep its name in a script."""
    from ttmlir.target.python.model_script import taken_names

    return name.isidentifier() and not keyword.iskeyword(name) and name not in taken_names()


def _add_inputs(program: FuncOp) -> list[str]:
    """Add the function that loads the inputs, if there are any; the names of these in the file."""
    from ttmlir.passes.ttnn.functions.ttnn_create_input_gens import add_inputs, on_device

    names = _names_of_inputs(program)
    if names:
        add_inputs(
            program,
            program,
            "load",
            lambda build, type_, number: build.create(
                "load_tensor", on_device(build, type_), type_, file_path=names[number]
            ),
        )
    return names


def _names_of_inputs(program: FuncOp) -> list[str]:
    from ttmlir.mlir.reporting import name_of

    names = list[str]()
    for number, argument in enumerate(program.body.blocks[0].args):
        name = name_of(argument.location) or f"arg{number}"
        names.append(name if name not in names else f"{name}.{number}")
    return names


def _check_functions(module: ModuleOp) -> None:
    """Refuse a script that would stop at a function that the library does not have."""
    from ttmlir.dialects.emitpy import CallOpaqueOp
    from ttmlir.ir.rewriting import refuse_at
    from ttmlir.passes.emitc.library_arguments import WITHOUT_FUNCTION

    for op in module.walk():
        if isinstance(op, CallOpaqueOp):
            callee = op.callee
            if callee.removeprefix("ttnn.") in WITHOUT_FUNCTION:
                refuse_at(
                    op,
                    f"the ttnn library ({TTNN_VERSION}) has no function '{callee}' in Python; "
                    "save a .ttnn file, or compute this part otherwise",
                )


def _known(options: str) -> str:
    """The options that text of 2026 has, too; those of 2024 alone mean nothing there."""
    from ttmlir.passes.pipelines.scripts import TTIRToEmitPyPipeline

    known = {each.name for each in options_of(TTIRToEmitPyPipeline)}
    words = {word.partition("=")[0]: word for word in options.split()}
    words.pop("spelling", None)
    unknown = [name for name in words if name not in known]
    if unknown:
        raise ArgumentError(
            f"scripts are text of 2026, which has no option {', '.join(unknown)}; "
            "compile without it to save one"
        )
    return " ".join(words.values())


def _take_constants(
    module: ModuleOp, parameters: Mapping[str, Array], taken: Mapping[str, Array]
) -> dict[str, Array]:
    """Let weights and long constants be read from the file; what this holds, by their names."""
    from ttmlir.dialects import ttnn
    from ttmlir.interpreter.execution import constant_array

    by_content = {_content(array): name for name, array in reversed([*parameters.items()])}
    found: dict[str, Array] = {}
    for op in [op for op in module.walk() if isinstance(op, ttnn.ConstantOp)]:
        array = constant_array(op, op.value)
        name = by_content.get(_content(array))
        if name is None and array.size <= _MOST_ELEMENTS:
            continue
        if name is None or name in taken:
            name = f"constant{len(found)}"
        found[name] = array
        _read(op, name)
    return found


def _content(array: Array) -> tuple[tuple[int, ...], str, bytes]:
    from hashlib import sha256

    return array.shape, array.dtype.name, sha256(array.tobytes()).digest()


def _read(op: ttnn.ConstantOp, name: str) -> None:
    """Load a constant in place of its operation, and of those that take it back to the host.

    Weights of convolutions are rows on the host. As tiles of their last two dimensions, which are
    one number or nine, they would take a hundred to a thousand times the memory.
    """
    from ttmlir.dialects import ttnn
    from ttmlir.ir.ttnn_values import TTNNValueBuilder

    moves = _moves_to_host(op)
    last = moves[-1] if moves else op
    device = () if moves else op.operands
    build = TTNNValueBuilder.before(op)
    result = build.create("load_tensor", device, last.results[0].type, file_path=name)
    last.results[0].replace_all_uses_with(result)
    unused = [*reversed(moves), op]
    if moves:
        unused += [each.owner for each in op.operands if isinstance(each.owner, ttnn.GetDeviceOp)]
    for each in unused:
        left = _users(each)
        if all(isinstance(user, ttnn.DeallocateOp) for user in left):
            for user in (*left, each):
                user.detach()
                user.erase()


def _users(op: Operation) -> list[Operation]:
    return [use.operation for use in op.results[0].uses]


def _moves_to_host(op: Operation) -> list[Operation]:
    """The changes of layout that end on the host, if nothing else takes what they begin with."""
    from ttmlir.dialects import ttnn

    moves: list[Operation] = []
    while True:
        users = [user for user in _users(op) if not isinstance(user, ttnn.DeallocateOp)]
        if len(users) != 1 or not isinstance(users[0], ttnn.ToLayoutOp | ttnn.FromDeviceOp):
            return []
        [op] = users
        moves.append(op)
        if isinstance(op, ttnn.FromDeviceOp):
            return moves


def _name_cached_functions(module: ModuleOp) -> None:
    """Call functions of one weight `make_` and its name."""
    from xdsl.dialects.builtin import StringAttr
    from xdsl.dialects.func import FuncOp

    from ttmlir.dialects import ttcore, ttnn
    from ttmlir.ir.rewriting import rename_references
    from ttmlir.target.python.model_script import identifier

    functions = {op.sym_name.data: op for op in module.walk() if isinstance(op, FuncOp)}
    renamed: dict[str, str] = {}
    for op in [op for op in module.walk() if isinstance(op, ttcore.LoadCachedOp)]:
        loads = [
            each.properties["file_path"]
            for each in functions[op.callee].walk()
            if isinstance(each, ttnn.TTNNOp) and each.name == "ttnn.load_tensor"
        ]
        stem = f"constant{len(renamed)}"
        if len(loads) == 1 and isinstance(loads[0], StringAttr):
            stem = identifier(loads[0].data)
        name = f"make_{stem}"
        while name in (*functions, *renamed.values()):
            name += "_"
        renamed.setdefault(op.callee, name)
    for op in module.walk():
        rename_references(op, renamed)
    for old, new in renamed.items():
        functions[old].sym_name = StringAttr(new)
