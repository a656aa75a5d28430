"""Inputs of programs: made up by an initializer, or read from `.npy` and `.npz` files.

Random numbers come from NumPy's PCG64 generator seeded with `--seed`; the same seed, file and NumPy
version give the same inputs.
"""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ttmlir.files import NO_ARRAY
from ttmlir.limits import memory_advice, memory_limit
from ttmlir.optable.row import Domain
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.complex_pairs import split_complex
from ttmlir.runtime.element import Array, ElementType, Numerics, convert
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.tensor import Shape

Generator = np.random.Generator

# Random integers lie below this, so that products of a few of them fit into 32 bits.
_INTEGER_LIMIT = 100


def _randn(rng: Generator, shape: Shape, element: ElementType, limit: int) -> Array:
    if element.is_float:
        return rng.standard_normal(shape)
    return rng.integers(0, 2 if element.is_bool else limit, shape)


def _rand(rng: Generator, shape: Shape, element: ElementType, limit: int) -> Array:
    return rng.random(shape) if element.is_float else _randn(rng, shape, element, limit)


def _arange(rng: Generator, shape: Shape, element: ElementType, limit: int) -> Array:
    count = int(np.prod(shape, dtype=np.int64))
    values = np.arange(count)
    return (values if limit == _INTEGER_LIMIT else values % limit).reshape(shape)


def _zeros(rng: Generator, shape: Shape, element: ElementType, limit: int) -> Array:
    return np.zeros(shape, element.host)


def _ones(rng: Generator, shape: Shape, element: ElementType, limit: int) -> Array:
    return np.ones(shape, element.host)


_INITIALIZERS: dict[str, Callable[[Generator, Shape, ElementType, int], Array]] = {
    "randn": _randn,
    "arange": _arange,
    "zeros": _zeros,
    "ones": _ones,
    "rand": _rand,
}


class TorchInitilizer:
    """Initializers by name.

    `randn` gives normally distributed numbers, `rand` uniform ones in [0, 1), `arange` counts in
    row-major order, `zeros` and `ones` are constant. Random integers are uniform in [0, 100),
    booleans in {0, 1}. The spelling of the name is tt-mlir's; nothing here needs torch.
    """

    init_fns = tuple(_INITIALIZERS)

    @staticmethod
    def get_init_fns() -> tuple[str, ...]:
        """Names of the initializers."""
        return TorchInitilizer.init_fns

    @staticmethod
    def get_initilizer(name: str) -> Callable[..., Array]:
        """`function(shape, element, rng, limit)` for a name; InputError if there is none."""
        if name not in _INITIALIZERS:
            names = ", ".join(_INITIALIZERS)
            raise InputError(f"there is no initializer '{name}'; supported are {names}")
        function = _INITIALIZERS[name]

        def initialize(
            shape: Shape,
            element: ElementType,
            rng: Generator | None = None,
            limit: int = _INTEGER_LIMIT,
        ) -> Array:
            values = function(rng or np.random.default_rng(0), shape, element, limit)
            return values if values.dtype == element.host else values.astype(element.host)

        return initialize

    @staticmethod
    def randn(shape: Shape, element: ElementType, rng: Generator | None = None) -> Array:
        """Normally distributed numbers, or integers from 0 to 99."""
        return TorchInitilizer.get_initilizer("randn")(shape, element, rng)

    @staticmethod
    def arange(shape: Shape, element: ElementType, rng: Generator | None = None) -> Array:
        """0, 1, 2, ... in row-major order."""
        return TorchInitilizer.get_initilizer("arange")(shape, element, rng)

    @staticmethod
    def zeros(shape: Shape, element: ElementType, rng: Generator | None = None) -> Array:
        """Zeros."""
        return TorchInitilizer.get_initilizer("zeros")(shape, element, rng)


def generate_inputs(program: BinaryProgram, initializer: str, rng: Generator) -> list[Array]:
    """Inputs of a program; those that number the rows of a table stay within it."""
    initialize = TorchInitilizer.get_initilizer(initializer)
    needed = sum(ref.desc.volume for ref in program.inputs) * np.dtype(np.float64).itemsize
    if needed > memory_limit():
        raise InputError(
            f"{program.where}: making its inputs takes {needed} bytes; {memory_advice()}"
        )
    limits = {} if program.binary.is_metal else _index_limits(program)
    return [
        initialize(ref.desc.shape, ref.desc.element, rng, limits.get(i, _INTEGER_LIMIT))
        for i, ref in enumerate(program.inputs)
    ]


def _index_limits(program: BinaryProgram) -> dict[int, int]:
    """Number of rows of the table that each input looks up rows of."""
    prepared = prepare(program, Numerics.EXACT)
    limits: dict[int, int] = {}
    for step in prepared.steps:
        call = step.call
        if call is None or Domain.INDEX not in call.row.domains:
            continue
        position = call.row.domains.index(Domain.INDEX)
        slot, table = step.inputs[position], call.operands[call.row.domains.index(Domain.REAL)]
        if slot in prepared.inputs and table is not None:
            dim = int(call.parameters.get("dim", 0))
            limits[prepared.inputs.index(slot)] = max(1, table.desc.shape[dim])
    return limits


def load_inputs(paths: Sequence[str]) -> list[Array]:
    """Arrays of `.npy` files, one each, and `.npz` files, in the order of their entries.

    Entries whose names end in numbers (`input_0`, `input_1`, ...) are sorted by these; the others
    stay in the order in which they were saved.
    """
    entries = (sorted(_load(path), key=lambda entry: entry_number(entry[0])) for path in paths)
    return [array for group in entries for _, array in group]


def load_entries(paths: Sequence[str]) -> list[tuple[str, Array]]:
    """Names and arrays in the order in which they were saved; a `.npy` file has one without name.

    InputError for what is no such file.
    """
    return [entry for path in paths for entry in _load(path)]


def _load(path: str) -> list[tuple[str, Array]]:
    try:
        with open(path, "rb") as file:
            content: Any = np.load(file, allow_pickle=False)
            if isinstance(content, np.ndarray):
                return [("", content)]
            # Compressed zeros take no space in the file.
            size = sum(entry.file_size for entry in content.zip.infolist())
            if size > memory_limit():
                raise InputError(f"{path}: its arrays have {size} bytes; {memory_advice()}")
            return [(name, content[name]) for name in content.files]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    except (*NO_ARRAY, KeyError, MemoryError, zipfile.BadZipFile) as error:
        raise InputError(
            f"{path}: not a .npy or .npz file of numbers; write one with numpy.save or numpy.savez"
        ) from error


def entry_number(name: str) -> int:
    """The number at the end of an entry's name; 0 if there is none."""
    digits = name[len(name.rstrip("0123456789")) :]
    return int(digits) if digits else 0


def fit_inputs(program: BinaryProgram, arrays: Sequence[Array]) -> list[Array]:
    """The arrays in the element types of the program's inputs; InputError where they do not fit.

    A complex array stands for two inputs, its real and its imaginary part.
    Floating point numbers may become narrower or wider, integers may change their width if all
    values fit, integers may become floating point numbers; nothing else is converted.
    """
    refs, count = program.inputs, len(arrays)
    arrays = split_complex(arrays)
    if len(arrays) != len(refs):
        pairs = "" if len(arrays) == count else "; a complex array is two of them"
        raise InputError(f"{program.where} takes {len(refs)} inputs, got {len(arrays)}{pairs}")
    return [
        _fit(array, ref.desc.shape, ref.desc.element, f"{program.where}: input {i}")
        for i, (array, ref) in enumerate(zip(arrays, refs, strict=True))
    ]


def _fit(array: Array, shape: Shape, element: ElementType, where: str) -> Array:
    if array.shape != shape:
        raise InputError(f"{where} has shape {array.shape} instead of {shape}")
    if array.dtype == element.host:
        return array
    given = array.dtype.kind
    if given not in "fiub" or (given == "f" and not element.is_float):
        raise InputError(
            f"{where} has element type {array.dtype} instead of {element}; convert it first"
        )
    with np.errstate(all="ignore"):
        result = convert(array, element.host)
    if not element.is_float and not np.array_equal(result.astype(array.dtype), array):
        raise InputError(f"{where} has numbers that do not fit into element type {element}")
    return result
