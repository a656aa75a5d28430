"""`ttmlir.load`: a file that is called like the model that it was compiled from."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ttmlir.files import write_file
from ttmlir.frontend.calls.calling import CallableModel, NumericsName
from ttmlir.frontend.calls.signature import as_array, convention_of, make_arrays_of
from ttmlir.layout.element_type import PARTS
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.complex_pairs import join_pairs, part_of
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import file_bytes, read_binary
from ttmlir.runtime.signature import CallSignature, positional


@dataclass(frozen=True)
class GoldenCall:
    """A call of the model in its framework, whose numbers are in the file."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    """What the framework computed, in the containers of the model's result."""

    def __repr__(self) -> str:
        """How many arguments there are."""
        names = "".join(f", {name}" for name in self.kwargs)
        return f"GoldenCall({len(self.args)} arguments by position{names})"


def load(
    path: str | os.PathLike[str],
    *,
    program: int = 0,
    numerics: NumericsName = "exact",
    framework: str = "",
    weights: Mapping[str, Any] | None = None,
) -> LoadedModel:
    """A function that runs a `.ttnn` or `.ttm` file.

        model = ttmlir.load("model.ttnn")
        y = model(x)

    It takes the arguments of the model that the file was compiled from, as arrays of NumPy, JAX or
    torch and in the same containers; a file that does not say how its model is called takes arrays
    by position. Results are arrays of NumPy, or of `framework`, "jax" or "torch". `program` is the
    number of a program of the file. `weights` are those that the file leaves outside, by name, such
    as `module.state_dict()` for a module that was compiled with `weights="arguments"`.

    Loading computes nothing, whoever the file is from. Raises BinaryError for a file that cannot be
    read, InputError for weights that are missing.
    """
    data = file_bytes(path)
    return LoadedModel(
        data,
        file_name=os.fspath(path),
        program=program,
        numerics=numerics,
        framework=framework,
        weights=weights or {},
    )


class LoadedModel(CallableModel):
    """A program of a file as a function; see `load`."""

    def __init__(
        self,
        data: bytes | memoryview,
        *,
        file_name: str,
        program: int,
        numerics: NumericsName,
        framework: str,
        weights: Mapping[str, Any],
    ) -> None:
        """Take a file's bytes."""
        binary = read_binary(data, file_name)
        found = binary.program(program)
        self._signature = found.signature or _plain_signature(found)
        bound = _find_weights(self._signature, weights, file_name)
        self._first_state = dict(bound)
        self._framework = framework
        super().__init__(
            data,
            convention_of(self._signature, bound, framework),
            file_name=file_name,
            program=program,
            numerics=numerics,
        )
        self.binary = binary

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of the file, and the weights that are kept outside."""
        names = self._signature.input_names
        weights = {names[index]: array for index, array in self._convention.bound.items()}
        return _restore, (
            self.to_bytes(),
            self._file_name,
            self._program_index,
            self.numerics,
            self._framework,
            weights,
        )

    @cached_property
    def golden(self) -> GoldenCall | None:
        """What the framework was given and computed, if the file holds it.

        model = ttmlir.load("model.ttnn")
        model(*model.golden.args, **model.golden.kwargs)   # close to model.golden.result
        """
        found = self._program.golden
        if found is None:
            return None
        signature = self._signature
        if len(found.inputs) != len(signature.input_names):
            raise InputError(f"{self._program.where}: the golden results are of other inputs")
        make = make_arrays_of(self._framework)
        given = [array for i, array in enumerate(found.inputs) if i not in signature.bound]
        arguments = [make(array) for array in join_pairs(given, signature.arguments.are_complex)]
        outputs = join_pairs(found.outputs[signature.state :], signature.results.are_complex)
        results = [make(array) for array in outputs]
        args, kwargs = signature.arguments.unflatten(iter(arguments))
        return GoldenCall(args, kwargs, signature.results.unflatten(iter(results)))

    def save(self, path: str | Path) -> Path:
        """Write the file; returns its path."""
        write_file(path, self._bytes)
        return Path(path)


def _restore(
    data: bytes,
    file_name: str,
    program: int,
    numerics: NumericsName,
    framework: str,
    weights: Mapping[str, Array],
) -> LoadedModel:
    return LoadedModel(
        data,
        file_name=file_name,
        program=program,
        numerics=numerics,
        framework=framework,
        weights=weights,
    )


def _plain_signature(program: BinaryProgram) -> CallSignature:
    """Of a program that does not say how its model is called."""
    inputs, outputs = len(program.inputs), len(program.outputs)
    arguments, results = positional(inputs, outputs)
    return CallSignature(
        name=program.name,
        input_names=tuple(f"input {index}" for index in range(inputs)),
        arguments=arguments,
        results=results,
    )


def _find_weights(
    signature: CallSignature, weights: Mapping[str, Any], file_name: str
) -> dict[int, Array]:
    """The inputs that no argument gives."""
    names = {index: signature.input_names[index] for index in signature.bound}
    found = {
        index: _find_weight(name, weights, f"{file_name}: the weight '{name}'")
        for index, name in names.items()
    }
    missing = [names[index] for index, weight in found.items() if weight is None]
    if missing:
        shown = ", ".join(map(repr, missing[:4])) + (", ..." if len(missing) > 4 else "")
        raise InputError(
            f"{file_name}: the weights {shown} are not in the file; give them with "
            "ttmlir.load(path, weights=module.state_dict())"
        )
    return {index: np.asarray(weight) for index, weight in found.items()}


def _find_weight(name: str, weights: Mapping[str, Any], what: str) -> Any:
    """The array of a weight, or of one of the parts of a complex one; None if there is none."""
    if name in weights:
        return as_array(weights[name], what)
    whole, _, part = name.rpartition(".")
    if part not in PARTS or whole not in weights:
        return None
    return part_of(as_array(weights[whole], what), part)
