"""The frontend for MLIR text: files and strings in a dialect that the compiler reads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from errno import EFBIG
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ttmlir.compiler import parse, transform
from ttmlir.dialects.sdy import find_division
from ttmlir.errors import path_error, plural
from ttmlir.frontend.calls import Number, as_array
from ttmlir.frontend.compiled import TO_TTIR, ImportedModel, narrow, public_function
from ttmlir.frontend.complex_pairs import split_model
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.mlir.long_strings import CompactText, compact, read_compact
from ttmlir.mlir.reporting import Source
from ttmlir.passes.general.convert_spelling import ConvertSpellingPass, is_late
from ttmlir.passes.general.symbol_dce import SymbolDCEPass
from ttmlir.passes.linalg.convert_ml_program_to_func import ConvertMLProgramToFuncPass
from ttmlir.passes.stablehlo.structure.stablehlo_flatten_tuple import StableHLOFlattenTuplePass
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import LEAF, CallSignature, Structure, dict_of, tuple_of
from ttmlir.runtime.tensor import Array

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Attribute


def import_text(text: str, *, file_name: str = "<text>", keep_late: bool = False) -> ImportedModel:
    """A model from MLIR text; calls take and return NumPy arrays, one result as such.

    Ttir of 2026 becomes that of 2024 unless `keep_late`.
    """
    text = compact(text)
    texts = {file_name: Source(text)}
    with in_terms_of_the_user(file_name, texts):
        module = parse(text, file_name=file_name)
        if any(op.name.startswith("ml_program.") for op in module.ops):
            transform(module, ConvertMLProgramToFuncPass.name)
        if is_late(module) and not (keep_late and _dialect_of(module) == "ttir"):
            transform(module, ConvertSpellingPass.name)
        function = public_function(module)
        stage = _dialect_of(module)
        arguments, results = _structures(function)
        if len(list(module.ops)) > 1:
            # Functions that are never called are no programs.
            transform(module, SymbolDCEPass.name)
        if stage == "stablehlo":
            transform(module, StableHLOFlattenTuplePass.name)
            function = public_function(module)

    names = [
        arg.name_hint or f"argument {index}" for index, arg in enumerate(function.body.block.args)
    ]

    signature = CallSignature(
        name=function.sym_name.data,
        input_names=tuple(names),
        arguments=arguments,
        results=results,
    )

    has_tuples = any(child.kind != "Leaf" for child in arguments.children[0].children)

    def flatten(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        if kwargs:
            raise InputError(f"arguments of {file_name} are given by position, not by name")
        leaves = signature.flatten(args, kwargs) if has_tuples else args
        if len(leaves) != len(names):
            count = plural(len(names), "array")
            raise InputError(f"'{signature.name}' takes {count}, got {len(leaves)}")
        return [as_array(leaf, f"an argument of {file_name}") for leaf in leaves]

    imported = ImportedModel(
        name=function.sym_name.data,
        module=module,
        warnings=narrow(module, stage=stage),
        stage=stage,
        input_names=names,
        flatten=flatten,
        unflatten=lambda arrays: results.unflatten(iter(arrays)),
        flatten_results=lambda value: results.flatten(value, "results"),
        signature=signature,
        texts=texts,
    )
    return split_model(imported, function)


def import_file(path: Path, *, keep_late: bool = False) -> ImportedModel:
    """A model from a file of MLIR text."""
    try:
        with path.open("rb") as file:
            data, contents = read_compact(file)
        # Damaged text is refused at its place; what has zeros is none.
        errors = "strict" if b"\0" in data else "surrogateescape"
        text = CompactText(data.decode("utf-8", errors), contents)
    except UnicodeDecodeError:
        message = f"{path} is not text; ttmlir.compile reads MLIR text"
        if path.suffix in (".pt2", ".pt", ".pth"):
            # Reading one may run what stands in it, which only its owner can allow.
            load = "torch.export.load" if path.suffix == ".pt2" else "torch.load"
            message += f", and of torch what is loaded: {load}({str(path)!r})"
        raise InputError(message) from None
    except OSError as error:
        if error.errno != EFBIG:
            raise path_error(path, error) from error
        raise InputError(f"{path}: {error.strerror}") from error
    return import_text(text, file_name=str(path), keep_late=keep_late)


def import_module_op(module: ModuleOp, *, keep_late: bool = False) -> ImportedModel:
    """A model from a module of xDSL, which stays as it is.

    It is written as text and read again: whoever made it, operations become those of ttmlir's
    dialects and are verified, and messages quote the text.
    """
    from ttmlir.mlir.module_printer import print_module

    return import_text(print_module(module), file_name="<module>", keep_late=keep_late)


def _structures(function: FuncOp) -> tuple[Structure, Structure]:
    """How a function is called: tuples of its type are tuples of Python; tokens are left out."""
    type_ = function.function_type
    inputs, outputs = (_tuple_of(types.data) for types in (type_.inputs, type_.outputs))
    arguments = tuple_of(inputs, dict_of({}))
    return arguments, outputs.children[0] if len(outputs.children) == 1 else outputs


def _tuple_of(types: Iterable[Attribute]) -> Structure:
    from xdsl.dialects.builtin import TupleType

    from ttmlir.dialects.stablehlo.constraints import TokenType

    return tuple_of(
        *(
            _tuple_of(type_.types.data) if isinstance(type_, TupleType) else LEAF
            for type_ in types
            if not isinstance(type_, TokenType)
        )
    )


def _dialect_of(module: ModuleOp) -> str:
    """The most frequent dialect of the operations that there is a lowering path for.

    The main function may do no more than call others.
    """
    names = [op.name for op in module.walk()]
    dialects = (name.partition(".")[0] for name in names)
    beside_it = ("chlo", "quant", "sdy")
    counts = Counter("stablehlo" if name in beside_it else name for name in dialects)
    known = [name for name, _ in counts.most_common() if name in TO_TTIR]
    # What linalg comes with may be all there is; ttir of 2024 has empty tensors to write to.
    beside = any(name.startswith("tensor.") and name != "tensor.empty" for name in names)
    if not known and find_division(module) is not None:
        return "stablehlo"
    return known[0] if known else "linalg" if beside and not counts["ttir"] else "ttir"
