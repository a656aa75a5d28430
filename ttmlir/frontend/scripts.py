"""Compiled models as scripts of Python that call the ttnn library, ready to run.

A script stands beside `utils.py`, and beside a directory with what it computes with: arguments,
weights, and constants that are too long to read, as files of NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ttmlir.compiler import transform
from ttmlir.errors import ArgumentError
from ttmlir.files import write_file
from ttmlir.mlir.option_values import options_of

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.dialects import ttnn
    from ttmlir.runtime.tensor import Array

SUFFIX = ".py"
_PIPELINE = "ttir-to-emitpy-pipeline"
_CONVERSION = "convert-ttnn-to-emitpy"
_UTILS = Path(__file__).parents[1] / "target" / "python" / "script_functions.py"
_MOST_ELEMENTS = 64
"""Of a constant that stands in the text."""


def write_script(module: ModuleOp, inputs: Sequence[Array], options: str, path: str | Path) -> Path:
    """Write a module in ttir of 2026 as a script, and what it needs; returns its path.

    `inputs` are what it reads when it runs by itself; `options` are those of the pipeline to ttnn.
    """
    from ttmlir.target.python.emitter import emit_python

    script = Path(path)
    if not script.stem.isidentifier() or script.stem in ("ttnn", "utils"):
        raise ArgumentError(
            f"'{script.name}' is no name of a script that others can import; 'model.py' is one"
        )
    data = script.with_name(f"{script.stem}_tensors")
    reads = f"load-input-tensors-from-disk=true tensor-load-directory={data.name}"
    transform(module, f"{_PIPELINE}{{{_known(options)} {reads}}}", until=_CONVERSION)
    kept = {f"arg{number}": array for number, array in enumerate(inputs)}
    kept.update(_take_constants(module, data.name))
    transform(module, _CONVERSION)
    _check_functions(module)
    text = emit_python(module)
    _write_utils(script.with_name("utils.py"))
    for name, array in kept.items():
        data.mkdir(exist_ok=True)
        np.save(data / f"{name}.npy", _plain(array))
    write_file(script, text.encode())
    return script


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
                    f"the ttnn library (0.81.1) has no function '{callee}' in Python; save a .ttnn "
                    "file, or compute this part otherwise",
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


def _take_constants(module: ModuleOp, directory: str) -> dict[str, Array]:
    """Let long constants be read from files; what these hold, by their names."""
    from ttmlir.dialects import ttnn
    from ttmlir.interpreter.execution import constant_array

    found: dict[str, Array] = {}
    for op in [op for op in module.walk() if isinstance(op, ttnn.ConstantOp)]:
        array = constant_array(op, op.value)
        if array.size > _MOST_ELEMENTS:
            name = f"constant{len(found)}"
            found[name] = array
            _read(op, f"{directory}/{name}.tensorbin")
    return found


def _read(op: ttnn.ConstantOp, path: str) -> None:
    from ttmlir.ir.ttnn_values import TTNNValueBuilder

    build = TTNNValueBuilder.before(op)
    result = build.create("load_tensor", op.operands, op.results[0].type, file_path=path)
    op.results[0].replace_all_uses_with(result)
    op.detach()
    op.erase()


def _plain(array: Array) -> Array:
    """The numbers as NumPy itself has types for, in 32 bits."""
    kind = array.dtype.kind
    return array.astype({"i": np.int32, "u": np.uint32, "b": np.int32}.get(kind, np.float32))


def _write_utils(path: Path) -> None:
    text = _UTILS.read_bytes()
    head = text.partition(b"\n")[0]
    if path.exists() and path.read_bytes().partition(b"\n")[0] != head:
        raise ArgumentError(f"'{path}' is another file than the one that scripts need; move it")
    write_file(path, text)
