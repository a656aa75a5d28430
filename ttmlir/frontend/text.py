"""The frontend for MLIR text: files and strings in a dialect that the compiler reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from errno import EFBIG
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttmlir.compiler import parse, transform
from ttmlir.frontend.compiled import TO_TTIR, ImportedModel, narrow
from ttmlir.frontend.complex_pairs import split_model
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.mlir.attributes.long_strings import CompactText, compact, read_compact
from ttmlir.mlir.reporting.diagnostics import OpError, Source
from ttmlir.passes.linalg.convert_ml_program_to_func import ConvertMLProgramToFuncPass
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import CallSignature, positional

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp


def import_text(text: str, *, file_name: str = "<text>") -> ImportedModel:
    """A model from MLIR text; calls take and return NumPy arrays, one result as such."""
    text = compact(text)
    texts = {file_name: Source(text)}
    with in_terms_of_the_user(file_name, texts):
        module = parse(text, file_name=file_name)
        if any(op.name.startswith("ml_program.") for op in module.ops):
            transform(module, ConvertMLProgramToFuncPass.name)
        function = _the_function(module)
        stage = _dialect_of(function)

    types = function.function_type
    arguments, results = positional(len(types.inputs), len(types.outputs))
    names = [
        arg.name_hint or f"argument {index}" for index, arg in enumerate(function.body.block.args)
    ]

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        if kwargs:
            raise InputError(f"arguments of {file_name} are given by position, not by name")
        return [np.asarray(arg) for arg in args]

    imported = ImportedModel(
        name=function.sym_name.data,
        module=module,
        warnings=narrow(module),
        stage=stage,
        input_names=names,
        flatten=flatten,
        unflatten=_unflatten,
        flatten_results=_flatten_results,
        signature=CallSignature(
            name=function.sym_name.data,
            input_names=tuple(names),
            arguments=arguments,
            results=results,
        ),
        texts=texts,
    )
    return split_model(imported, function)


def import_file(path: Path) -> ImportedModel:
    """A model from a file of MLIR text."""
    try:
        with path.open("rb") as file:
            data, contents = read_compact(file)
        text = CompactText(data.decode("utf-8"), contents)
    except UnicodeDecodeError:
        raise InputError(f"{path} is not text; ttmlir.compile reads MLIR text") from None
    except OSError as error:
        if error.errno != EFBIG:
            raise
        raise InputError(f"{path}: {error.strerror}") from None
    return import_text(text, file_name=str(path))


def _unflatten(results: Sequence[Array]) -> Any:
    return results[0] if len(results) == 1 else tuple(results)


def _flatten_results(results: Any) -> list[Array]:
    return list(cast(tuple[Array, ...], results)) if isinstance(results, tuple) else [results]


def _the_function(module: ModuleOp) -> FuncOp:
    """The function that callers of the module see."""
    from xdsl.dialects.func import FuncOp

    from ttmlir.ir.symbols import symbol_visibility

    public = [
        op for op in module.ops if isinstance(op, FuncOp) and symbol_visibility(op) == "public"
    ]
    if len(public) != 1:
        raise OpError(
            module,
            f"has {len(public)} public functions; a model has one, and private ones that it calls",
        )
    return public[0]


def _dialect_of(function: FuncOp) -> str:
    """The dialect that a function is written in: the most frequent one that there is a road for."""
    counts = Counter(op.name.partition(".")[0] for op in function.walk())
    known = [name for name, _ in counts.most_common() if name in TO_TTIR]
    return known[0] if known else "ttir"
