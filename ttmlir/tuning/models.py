"""`ttmlir.tune`: a search for a file or a compiled model, from Python."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from ttmlir.errors import ArgumentTypeError
from ttmlir.explorer.documents import ModuleDocument, document_of
from ttmlir.files import require_path, write_file
from ttmlir.frontend.calls import CallableModel
from ttmlir.mlir.module_printer import print_module
from ttmlir.runtime.errors import InputError
from ttmlir.tuning.tuning import Report, Request
from ttmlir.tuning.tuning import tune as tune_file


def tune(
    model: object,
    *,
    board: str = "n150",
    budget: int = 50,
    pcc: float = 0.99,
    jobs: int = 1,
    cluster: str = "",
    inputs: Sequence[Any] = (),
    seed: int = 0,
    keep_formats: bool = False,
    simulate: int = 0,
    result_file: str = "",
) -> Report:
    """Search layouts, formats and fidelities with which a model takes less estimated time.

    `model` is what `ttmlir.compile` returned, for ttnn, or the path of a file of StableHLO, TOSA,
    linalg or TTIR. The results have to correlate with exact ones with at least `pcc`, for `inputs`,
    or else for random numbers of this seed. `inputs` are the arguments of a call of the compiled
    model, whose state is as it is now, or all arrays of the program of a file; or names of `.npy`
    and `.npz` files with the latter.

    `simulate` of the fastest candidates run on the simulator as kernels, where these have their
    form. The report prints the gain. `report.options` are the overrides for `ttmlir.compile`, and
    `report.write()` leaves them for `ttmlir-opt @FILE`. With `result_file`, the same call goes on
    after an interruption; the model is kept beside that file then.
    """
    if not isinstance(inputs, list | tuple):
        raise ArgumentTypeError(
            f"inputs are arrays, or names of files, in a list, not a {type(inputs).__name__}"
        )
    if result_file:
        require_path(result_file, "result_file=")
    folder = os.path.dirname(os.path.abspath(result_file)) if result_file else None
    with nullcontext(folder) if folder else TemporaryDirectory() as place:
        path, options = _model_file(model, Path(place), Path(result_file or "model").stem)
        request = Request(
            path,
            board=board,
            budget=budget,
            jobs=jobs,
            cluster=cluster,
            least_pcc=pcc,
            seed=seed,
            inputs=_input_files(_arrays_of(model, inputs), Path(place)),
            formats=not keep_formats,
            simulate=simulate,
            result_file=result_file,
            options=options,
            title=model.name if isinstance(model, CallableModel) else "",
        )
        return tune_file(request)


def _model_file(model: object, folder: Path, name: str) -> tuple[str, str]:
    """A file that other processes can read, and the options of the pipeline."""
    if isinstance(model, str | os.PathLike):
        return os.fspath(model), ""
    if not isinstance(model, CallableModel):
        raise InputError(
            f"a {type(model).__name__} is no model: give what ttmlir.compile returned, or the path "
            "of a .mlir file"
        )
    document = document_of(model, name)
    if not isinstance(document, ModuleDocument):
        raise InputError(
            f"{model} is no ttnn program with its source: give what ttmlir.compile returned, "
            "compiled for ttnn"
        )
    path = folder / f"{name}.mlir"
    write_file(path, print_module(document.module, debuginfo=True).encode())
    return str(path), document.options


def _arrays_of(model: object, inputs: Sequence[Any]) -> Sequence[Any]:
    """All that the program takes, in order; names of files are as they were."""
    named = any(isinstance(each, str | os.PathLike) for each in inputs)
    if named or not inputs or not isinstance(model, CallableModel):
        return inputs
    return model.arrays_of_call(tuple(inputs), {})


def _input_files(inputs: Sequence[Any], folder: Path) -> tuple[str, ...]:
    """Names of files with the inputs, in order."""
    names: list[str] = []
    for number, each in enumerate(inputs):
        if isinstance(each, str | os.PathLike):
            names.append(os.fspath(each))
            continue
        path = folder / f"input{number}.npy"
        array = np.asarray(each)
        # Files of NumPy do not name its extensions, such as bfloat16.
        np.save(path, array.astype(np.float32) if array.dtype.kind == "V" else array)
        names.append(str(path))
    return tuple(names)
