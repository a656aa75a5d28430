"""`ttmlir.compile`: one name for all frontends."""

from __future__ import annotations

import itertools
import math
import os
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType, MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, get_args, overload

import numpy as np

from ttmlir.compiler import (
    LEVEL_OPTION,
    MOST_OPTIMIZED,
    SPELLINGS,
    find_spelling,
    is_spelled_late,
    options_for,
)
from ttmlir.errors import ArgumentError, ArgumentTypeError
from ttmlir.files import require_path
from ttmlir.frontend.calls import CallArguments, Number, Opener, read_call
from ttmlir.frontend.calls import NumericsName as calling_NumericsName
from ttmlir.frontend.compiled import (
    CompiledModel,
    CompiledPrograms,
    Example,
    ImportedModel,
    NumericsName,
    TargetName,
    check_devices,
    check_examples,
    find_target,
    is_divided,
)
from ttmlir.frontend.errors import missing_package
from ttmlir.frontend.residents import keep_on_device
from ttmlir.mlir.reporting import listening
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.tensor import convert

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.frontend.compiled import Program
    from ttmlir.frontend.weights.loading import Paths, WeightFiles
    from ttmlir.runtime.tensor import Array


# --- Buckets --------------------------------------------------------------------------------------
# Sizes that differ from call to call: a program for each of a few sizes, chosen at the call.
#
#     length = ttmlir.Buckets(16, 64, 256)
#     compiled = ttmlir.compile(
#         model, tokens, mask, buckets={"tokens": {1: length}, "mask": {1: length}}
#     )
#     compiled(tokens, mask)     # of any length up to 256
#
# A call takes the smallest sizes that its arrays fit into. Arrays are padded at the end, with zeros
# or with the number that `fill` gives; results are cropped to the sizes they would have. The model
# has to leave padded elements out by itself, as language models do by a mask. All programs are in
# one file, which holds the weights once.


class Buckets:
    """The sizes that one dynamic size is compiled for.

    Dimensions with the same object have the same size in each call.
    """

    def __init__(self, *sizes: int) -> None:
        """At least two sizes; the order does not matter."""
        if not all(isinstance(each, int | np.integer) for each in cast("tuple[Any, ...]", sizes)):
            raise ArgumentTypeError(f"buckets are integers, got {', '.join(map(repr, sizes))}")
        self.sizes = tuple(sorted(set(sizes)))
        if len(self.sizes) < 2 or self.sizes[0] < 1:
            # With one size nobody could tell which dimensions of results follow it.
            raise ArgumentError(f"buckets are two or more sizes above 0, got {_join(sizes)}")

    def __repr__(self) -> str:
        """The sizes."""
        return f"Buckets({', '.join(map(str, self.sizes))})"


STEPS = 8
"""Sizes for which it is tried how results follow them."""


def grows_slowly(sizes: Sequence[int], given: Sequence[int]) -> bool:
    """True if sizes of results for some sizes of an argument, each by one larger than the one
    before, let results be cropped: they begin with what belongs to the beginning of the argument.

    So does not what is larger than the argument, as where something else comes after it, or what
    grows by more than one, as where dimensions are joined.
    """
    return all(0 <= after - before <= 1 for before, after in itertools.pairwise(sizes)) and all(
        size <= own for size, own in zip(sizes, given, strict=True)
    )


Sizes = Buckets | Sequence[int]
BucketsByName = Mapping[str, Mapping[int, Sizes]]
"""Sizes by arguments and dimensions; equal tuples are the same dynamic size."""


@dataclass(frozen=True)
class BucketPlan:
    """Which dimensions of which arrays are dynamic."""

    names: tuple[str, ...]
    """Of all arrays of a call."""
    dimensions: tuple[tuple[int, int, int], ...]
    """Array, dimension, and the number of the dynamic size."""
    sizes: tuple[Buckets, ...]

    @property
    def choices(self) -> list[tuple[int, ...]]:
        """One size for each dynamic size, for all programs, the smallest first."""
        return list(itertools.product(*(each.sizes for each in self.sizes)))

    def shape_in(self, choice: tuple[int, ...], array: int, shape: Sequence[int]) -> list[int]:
        """The shape of an array in the program of a choice."""
        result = list(shape)
        for number, dimension, size in self.dimensions:
            if number == array:
                result[dimension] = choice[size]
        return result

    def measure(self, shapes: Sequence[Sequence[int]], name: str) -> tuple[int, ...]:
        """The dynamic sizes that arrays have; InputError where they differ or are too large."""
        found: dict[int, tuple[int, str]] = {}
        for number, dimension, size in self.dimensions:
            shape = shapes[number]
            where = f"dimension {dimension} of {self.names[number]}"
            if dimension >= len(shape):
                raise InputError(f"'{name}': there is no {where}, which has the shape {shape}")
            extent, first = found.setdefault(size, (shape[dimension], where))
            if extent != shape[dimension]:
                raise InputError(
                    f"'{name}': {where} is {shape[dimension]}, but {first} is {extent}; they have "
                    "the same buckets, so they are the same size; give each a ttmlir.Buckets of "
                    "its own if they differ"
                )
        for size, (extent, where) in found.items():
            sizes = self.sizes[size].sizes
            if not 0 < extent <= sizes[-1]:
                raise InputError(
                    f"'{name}': {where} is {extent}; the buckets are {_join(sizes)}: compile with "
                    "a larger one, or split the input"
                )
        return tuple(found[size][0] for size in range(len(self.sizes)))


def plan_buckets(
    names: Sequence[str], shapes: Sequence[Sequence[int]], buckets: BucketsByName
) -> BucketPlan:
    """The plan for arrays of these names and shapes; ArgumentError for buckets that do not fit."""
    sizes: list[Buckets] = []
    keys: dict[object, int] = {}
    dimensions: list[tuple[int, int, int]] = []
    _check_form(buckets)
    for name, by_dimension in buckets.items():
        if name not in names:
            raise ArgumentError(f"buckets: there is no argument '{name}'; there are {_join(names)}")
        number = list(names).index(name)
        for dimension, given in by_dimension.items():
            rank = len(shapes[number])
            if not -rank <= dimension < rank:
                raise ArgumentError(f"buckets: '{name}' has {rank} dimensions, none is {dimension}")
            key: object = given if isinstance(given, Buckets) else tuple(given)
            if key not in keys:
                keys[key] = len(sizes)
                sizes.append(given if isinstance(given, Buckets) else Buckets(*given))
            dimensions.append((number, dimension % rank, keys[key]))
    if not dimensions:
        raise ArgumentError(_FORM)
    return BucketPlan(tuple(names), tuple(dimensions), tuple(sizes))


_FORM = "buckets are sizes by arguments and dimensions: {'x': {0: (1, 8)}}"


def _check_form(buckets: Any) -> None:
    """TypeError for what is not written as sizes by arguments and dimensions."""
    for by_dimension in _values(buckets, buckets):
        for sizes in _values(by_dimension, buckets):
            if isinstance(sizes, str) or not isinstance(sizes, (Sequence, Buckets)):
                raise ArgumentTypeError(f"{_FORM}; got {buckets!r}")
        if not all(isinstance(dimension, int) for dimension in by_dimension):
            raise ArgumentTypeError(f"{_FORM}; got {buckets!r}")


def _values(mapping: Any, buckets: Any) -> list[Any]:
    if not isinstance(mapping, Mapping):
        raise ArgumentTypeError(f"{_FORM}; got {buckets!r}")
    return list(cast("Mapping[Any, Any]", mapping).values())


def _check_fill(fill: Any, buckets: BucketsByName | None) -> None:
    """ArgumentError for numbers to pad with in another form, or where nothing is padded."""
    if not isinstance(fill, Mapping):
        raise ArgumentTypeError(f"fill is numbers by arguments: {{'x': -100}}; got {fill!r}")
    if fill and buckets is None:
        raise ArgumentError("fill pads arguments whose sizes are buckets; buckets= says which")


def number_in(dtype: np.dtype[Any], number: Any, name: str) -> Array:
    """A number in the type of an argument; ArgumentError where it would become another one."""
    value = cast("Any", number.item() if isinstance(number, np.generic) else number)
    if not isinstance(value, Number):
        raise ArgumentTypeError(f"fill: '{name}' takes a number, got {reprlib.repr(value)}")
    with suppress(OverflowError, TypeError), np.errstate(all="ignore"):
        found = convert(np.asarray(value), dtype)
        is_exact = dtype.kind in "iub"
        if found.item() == value if is_exact else np.isfinite(found) == math.isfinite(value):
            return found
    raise ArgumentError(f"fill: '{name}' is {dtype}, which cannot hold {reprlib.repr(value)}")


Measure = Callable[[tuple[int, ...]], Sequence[Sequence[int]]]
"""The shapes of all results, for one size for each dynamic size."""


class BucketedModel:
    """A model of several programs, one of which is chosen by the sizes of a call's arrays."""

    def __init__(
        self,
        plan: BucketPlan,
        programs: CompiledPrograms,
        fill: Mapping[str, Number],
        measure: Measure | None = None,
    ) -> None:
        """`programs` are in the order of the plan's choices; `fill` pads arrays by their names.

        `measure` says which shapes the results have for any dynamic sizes.
        """
        unknown = [name for name in fill if name not in plan.names]
        if unknown:
            raise ArgumentError(
                f"fill: there is no argument '{unknown[0]}'; there are {_join(plan.names)}"
            )
        self._plan = plan
        self.programs = programs
        """All programs, by names such as `main_16`."""
        taken = {
            name: desc.element.host for each in programs.values() for name, desc in each.inputs
        }
        self._fill = {
            plan.names.index(name): number_in(taken[name], number, name)
            for name, number in fill.items()
            if name in taken
        }
        self._by_choice = dict(zip(plan.choices, programs.values(), strict=True))
        self._measure = None if measure is None else cache(measure)
        self._cropped = self._find_cropped()

    def _find_cropped(self) -> list[list[tuple[int, int | None]]]:
        """For each result, its dynamic dimensions with the numbers of their sizes; None where the
        size follows in another way."""
        if any(each.is_bounded for each in self._by_choice.values()):
            raise ArgumentError(
                f"'{self.name}': sizes of results depend on numbers, of which padding would be a "
                "part; compile for each size without buckets"
            )
        shapes = [[desc.shape for desc in each.outputs] for each in self._by_choice.values()]
        return [
            [
                (dimension, self._size_of(extents, number, dimension))
                for dimension, extents in enumerate(zip(*of_result, strict=True))
                if len(set(extents)) > 1
            ]
            for number, of_result in enumerate(zip(*shapes, strict=True))
        ]

    def _size_of(self, extents: Sequence[int], result: int, dimension: int) -> int | None:
        """The dynamic size that a dimension of a result has in all programs; None where it is what
        the framework says, and can be cropped."""
        for size, _ in enumerate(self._plan.sizes):
            if list(extents) == [choice[size] for choice in self._by_choice]:
                return size
        if self._follows(extents, result, dimension):
            return None
        choices = [" x ".join(map(str, choice)) for choice in self._by_choice]
        raise ArgumentError(
            f"'{self.name}': dimension {dimension} of result {result} is {_join(extents)} for the "
            f"buckets {_join(choices)}; results can be cropped only where they have the size of "
            "an argument, or a smaller one that grows with it by at most one: return it unpacked, "
            "or compile for each size"
        )

    def _follows(self, extents: Sequence[int], result: int, dimension: int) -> bool:
        """True if a dimension follows one dynamic size so that it can be cropped."""
        measure = self._measure
        if measure is None:
            return False
        try:
            return self._is_measured(measure, extents, result, dimension)
        except Exception:  # Of the framework or of the user's code, which numbers decide about.
            return False

    def _is_measured(
        self, measure: Measure, extents: Sequence[int], result: int, dimension: int
    ) -> bool:
        if list(extents) != [measure(choice)[result][dimension] for choice in self._by_choice]:
            return False
        followed: list[bool] = []
        most = [each.sizes[-1] for each in self._plan.sizes]
        for size, largest in enumerate(most):
            given = range(max(1, largest - STEPS), largest + 1)
            found = [
                measure((*most[:size], each, *most[size + 1 :]))[result][dimension]
                for each in given
            ]
            if len(set(found)) > 1:
                followed.append(grows_slowly(found, given))
        return followed == [True]

    @property
    def name(self) -> str:
        """The name of the model."""
        return self.programs.name

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know about the model."""
        return self.programs.warnings

    def __repr__(self) -> str:
        """The buckets, and the size of the file."""
        dynamic = [
            f"{self._plan.names[number]}[{dimension}]: {self._plan.sizes[size].sizes}"
            for number, dimension, size in self._plan.dimensions
        ]
        size = len(self.programs.to_bytes())
        return f"BucketedModel({self.name}, {', '.join(dynamic)}, {size:,} bytes)"

    def __call__(
        self, *args: Any, numerics: calling_NumericsName | None = None, **kwargs: Any
    ) -> Any:
        """Run the smallest program that the arrays fit into; results have the size of the call."""
        actual, choice = self._choose(args, kwargs)
        program = self._by_choice[choice]
        arrays = [
            self._pad(number, np.asarray(array), choice)
            for number, array in enumerate(program.flatten(args, kwargs))
        ]

        def extent(result: int, dimension: int, size: int | None) -> int:
            if size is not None:
                return actual[size]
            assert self._measure is not None, "it has said how the dimension follows"
            return self._measure(actual)[result][dimension]

        def crop(results: Sequence[Array]) -> list[Array]:
            return [
                array[_window({place: extent(number, place, size) for place, size in dimensions})]
                for number, (array, dimensions) in enumerate(
                    zip(results, self._cropped, strict=True)
                )
            ]

        return program.run_arrays(arrays, numerics=numerics, change=crop)

    def program_for(self, *args: Any, **kwargs: Any) -> Program:
        """The program that a call with these arguments takes."""
        return self._by_choice[self._choose(args, kwargs)[1]]

    def _choose(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The dynamic sizes of the arguments, and those of the program for them."""
        arrays = next(iter(self.programs.values())).flatten(args, kwargs)
        actual = self._plan.measure([np.shape(each) for each in arrays], self.name)
        return actual, tuple(
            next(each for each in buckets.sizes if each >= size)
            for buckets, size in zip(self._plan.sizes, actual, strict=True)
        )

    def _pad(self, number: int, array: Array, choice: tuple[int, ...]) -> Array:
        shape = self._plan.shape_in(choice, number, array.shape)
        if shape == list(array.shape):
            return array
        padded = np.full(shape, self._fill.get(number, 0), array.dtype)
        padded[_window(dict(enumerate(array.shape)))] = array
        return padded

    def save(self, path: str | Path) -> Path:
        """Write the file of all programs."""
        return self.programs.save(path)


def _window(extents: Mapping[int, int]) -> tuple[slice, ...]:
    """The first elements along some dimensions, all along the others."""
    rank = max(extents, default=-1) + 1
    return tuple(slice(extents.get(dimension)) for dimension in range(rank))


def _join(items: Iterable[object]) -> str:
    return ", ".join(map(str, items))


# --- Dispatch -------------------------------------------------------------------------------------

Weights = Literal["constants", "arguments"]


@overload
def compile(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    spelling: str | None = None,
    optimization_level: int | None = None,
    accuracy: float | None = None,
    weights: Weights | Paths | WeightFiles = "constants",
    mesh: Any = None,
    resident: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    buckets: None = None,
) -> CompiledModel: ...


@overload
def compile(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    spelling: str | None = None,
    optimization_level: int | None = None,
    accuracy: float | None = None,
    weights: Weights | Paths | WeightFiles = "constants",
    mesh: Any = None,
    resident: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    buckets: BucketsByName,
    fill: Mapping[str, Number] = ...,
) -> BucketedModel: ...


def compile(
    model: Any,
    *example_args: Any,
    example_kwargs: Mapping[str, Any] | None = None,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    spelling: str | None = None,
    optimization_level: int | None = None,
    accuracy: float | None = None,
    weights: Weights | Paths | WeightFiles = "constants",
    mesh: Any = None,
    resident: str | Sequence[str] = (),
    keep: str | Sequence[str] = (),
    buckets: BucketsByName | None = None,
    fill: Mapping[str, Number] = MappingProxyType({}),
) -> CompiledModel | BucketedModel:
    """Compile a model for arguments like the given ones.

        compiled = ttmlir.compile(lambda x, w: jax.nn.relu(x @ w), x, w)
        y = compiled(x, w)

    `model` is one of
    - a function of JAX arrays (jitted or not), or what `jax.jit(...).trace`, `.lower` or
      `jax.export.export` return; arguments are arrays, `jax.ShapeDtypeStruct`s and trees of them,
    - a `torch.nn.Module`, a function of torch tensors, or a `torch.export.ExportedProgram`,
    - a model of ONNX: the path of an `.onnx` file, its bytes, or an `onnx.ModelProto`; arguments
      are arrays, in the order of its inputs or by name, and say the sizes that it leaves open,
    - MLIR in the dialects stablehlo, tosa, linalg, arith and math, or ttir, without example
      arguments: text, the path of a file of it, or an `xdsl.dialects.builtin.ModuleOp`.

    `example_kwargs` are keyword arguments of the model. `target` is "ttnn", calls of the ttnn
    library, which run with NumPy, or "kernels", fused kernels on all cores, which run on the
    simulator, and calls of the library for what has none ([models.md](models.md#as-kernels)).
    `numerics` says how the compiled model computes unless a call says otherwise: "exact"
    keeps 32 or 64 bits, "device" rounds as the device does. `options` are those of
    `ttir-to-ttnn-backend-pipeline` or, for kernels, of `ttir-to-ttmetal-pipeline`.
    `board` is what to compile for: "n150", "p150" or another board, or the path of a `.ttsys` file;
    without it the environment variable SYSTEM_DESC_PATH says it, or else it is one Wormhole chip.
    `spelling="2024"` compiles to the text and the files of the tt-mlir of that year instead of 2026
    (target "ttnn"), without levels; the environment variable TTMLIR_SPELLING says it for all models
    without a level. Options that only passes of 2024 have, and kernels in the program, ask for it.
    `optimization_level` is how much time on the device compiling is to save: 0 is what tt-mlir
    makes without its optimizer, 1 and 2 do what that does at these levels, 3, the default, also
    fuses layers and shapes them for few tiles ([passes.md](passes.md#ttir-fuse-layers)).
    `accuracy` (target "ttnn") lets formats of weights and fidelities of products be narrower, as
    long as the model, which runs for each of them with the examples or random numbers, correlates
    so well with float32; `formats` of the compiled model says what was chosen.
    `mesh` is a mesh of JAX for a function whose shardings are `PartitionSpec`s alone; arguments
    with shardings, `shard_map` and `pmap` have one of their own. It is one of torch for programs
    that exchange something without having DTensors.
    `weights="arguments"` (torch, ONNX) keeps parameters out of the file as further inputs of the
    program. Paths of `.gguf` and `.safetensors` files and of folders, or a list of them, are
    weights to compile a torch module with instead of its own (see `ttmlir.load_weights`);
    `ttmlir.WeightFiles` says, too, how it keeps them.
    `resident` names arguments that stay on the device between calls, such as weights and caches:
    estimates count neither their transfer nor what follows from them alone, and let results that
    are their new values, alike in all shapes and types, stay there, too.
    `keep` names arguments of a function of JAX or torch that stay in the compiled model, such as
    caches: a call does not pass them, and does not return their new values, which the function
    returns as its last results, in the order of its parameters, or by their names in a dictionary.
    Functions of torch may write to them in place instead, and modules have such arguments, too, as
    have models of ONNX, whose last outputs are the new values.
    `compiled.restart()` gives them the numbers of the examples back.
    `buckets` are sizes by arguments and dimensions, such as `{"tokens": {1: (16, 64)}}`: there is a
    program for each of them, a call takes the smallest one that it fits into, and pads; `fill` are
    the numbers to pad arguments with, 0 for others. What is returned is a `BucketedModel` then.

    Warns of numbers that the device keeps shorter, once for each model; `warnings` of the compiled
    model says it again. Warns of names in `options` that no operation has. Raises CompilationError,
    with the location in the source, for what is not supported, and ImportError for a framework that
    is not installed.
    """
    # Wrong names are reported before the model is looked at.
    find_target(target)
    _check_fill(fill, buckets)
    model, weights = _with_weights(model, weights)
    options = complete_options(target, options, spelling, optimization_level)
    kwargs = keywords_of(example_kwargs)
    resident, keep = _names("resident", resident), _names("keep", keep)
    if accuracy is not None:
        _check_accuracy(accuracy, target, buckets, options)
    if buckets is not None:
        if resident or keep:
            raise ArgumentError(
                "arguments that stay on the device are those of one program; leave out buckets"
            )
        plan, examples, measure = _plan(model, example_args, kwargs, buckets)
        programs = compile_programs(
            examples,
            target=target,
            numerics=numerics,
            options=options,
            board=board,
            weights=weights,
            spelling=spelling,
            optimization_level=optimization_level,
        )
        return BucketedModel(plan, programs, fill, measure)
    late = is_spelled_late(target, options)
    with _within(mesh):
        [(imported, call)] = _import_kept(
            [(model, example_args, kwargs)],
            keep,
            lambda: [_import(model, example_args, kwargs, weights, keep_late=late)],
            weights=weights,
        )
    if resident:
        imported = keep_on_device(imported, resident)
    examples = call if example_args or kwargs else None
    if target == "kernels" and is_divided(imported):
        from ttmlir.frontend.mesh_kernels import MeshKernels

        return MeshKernels(
            imported, numerics=numerics, options=options, board=board, examples=examples
        )
    if not is_divided(imported):
        options = options_for(imported.module, target, options)
    check_devices(imported, target, options)

    def compile_with(more: str) -> CompiledModel:
        return CompiledModel(
            imported,
            numerics=numerics,
            target=target,
            options=f"{options} {more}".strip(),
            board=board,
            examples=examples,
        )

    def make() -> CompiledModel:
        if accuracy is None:
            return compile_with("")
        from ttmlir.frontend.accuracy import narrow_formats

        return narrow_formats(compile_with, accuracy)

    return _warned(make, [(imported.name, message) for message in imported.warnings])


def keywords_of(given: Any) -> dict[str, Any]:
    """Examples of arguments by name; TypeError for what has no names."""
    if given is not None and not isinstance(given, Mapping):
        raise ArgumentTypeError(f"example_kwargs are arguments by name: {{'x': x}}; got {given!r}")
    return dict(cast("Mapping[str, Any]", given or {}))


def _names(what: str, given: Any) -> list[str]:
    """Names of arguments, or one, as a list; TypeError for what are none."""
    names: Any = [given] if isinstance(given, str) else [] if given is None else given
    if not isinstance(names, Iterable) or not all(
        isinstance(each, str) for each in cast("Iterable[Any]", names)
    ):
        raise ArgumentTypeError(
            f"{what} is the name of an argument, or a list of names; got {given!r}"
        )
    return list(cast("Iterable[str]", names))


def _within(mesh: Any) -> AbstractContextManager[Any]:
    """Let JAX find the axes that partitions name in a mesh, and torch the devices."""
    if mesh is None:
        return nullcontext()
    torch_meshes = sys.modules.get("torch.distributed.device_mesh")
    if torch_meshes is not None and isinstance(mesh, torch_meshes.DeviceMesh):
        placing: Any = import_module("ttmlir.frontend.torch.distributed.placing")
        return placing.on_mesh(mesh)
    sharding = sys.modules.get("jax.sharding")
    if sharding is None or not isinstance(mesh, sharding.Mesh):
        raise ArgumentTypeError(
            f"mesh is a {type(mesh).__name__}; give a mesh of JAX, such as "
            'jax.make_mesh((2, 4), ("x", "y")), or of torch, as init_device_mesh makes them'
        )
    jax: Any = import_module("jax")
    return jax.set_mesh(mesh)


def complete_options(
    target: TargetName, options: str, spelling: str | None, level: int | None
) -> str:
    """The options of a pipeline, with those that stand for a spelling and an optimization level.

    ArgumentError for what does not go together.
    """
    return _with_spelling(spelling, target, _with_level(level, target, options))


def _with_spelling(spelling: str | None, target: TargetName, options: str) -> str:
    """The options of a pipeline, and the year of the text that is asked for, where it matters."""
    year = find_spelling(options, spelling)
    if target == "ttnn":
        has_one = any(word.startswith("spelling=") for word in options.split())
        is_said = has_one or (spelling is None and year == SPELLINGS[-1])
        return options if is_said else f"{options} spelling={year}".lstrip()
    if spelling is not None and year != SPELLINGS[0]:
        raise ArgumentError(
            f"files of target {target!r} have the form of {SPELLINGS[0]}; "
            f"spelling={spelling!r} is for target='ttnn'"
        )
    return options


_CHOSEN = ("override-weight-dtype", "override-math-fidelity")
"""What an accuracy chooses."""


def _check_accuracy(accuracy: float, target: TargetName, buckets: object, options: str) -> None:
    from ttmlir.frontend.accuracy import check_accuracy

    check_accuracy(accuracy)
    if target != "ttnn":
        raise ArgumentError(
            f"accuracy={accuracy:g} is for target='ttnn'; kernels have one fidelity, an option"
        )
    if buckets is not None:
        raise ArgumentError("accuracy is that of one program; leave out buckets")
    said = [name for name in _CHOSEN if f"{name}=" in options]
    if said:
        raise ArgumentError(
            f"accuracy={accuracy:g} chooses what '{said[0]}' says; leave out one of them"
        )


def _with_level(level: int | None, target: TargetName, options: str) -> str:
    """The options of a pipeline that stand for an optimization level."""
    _check_options(options)
    if level is None:
        return options
    said = {name: value for name, _, value in (word.partition("=") for word in options.split())}
    if type(level) is bool or level not in range(MOST_OPTIMIZED + 1):
        raise ArgumentError(f"optimization_level is 0, 1, 2 or 3, not {level!r}")
    level = int(level)
    if level and target != "ttnn":
        raise ArgumentError(
            f"optimization_level={level} is for target='ttnn'; kernels have options of their own"
        )
    if said.get(LEVEL_OPTION, str(level)) != str(level):
        raise ArgumentError(
            f"optimization_level={level} and the option {LEVEL_OPTION}={said[LEVEL_OPTION]} differ"
        )
    return (
        options
        if LEVEL_OPTION in said or target != "ttnn"
        else f"{options} {LEVEL_OPTION}={level}".lstrip()
    )


def _check_options(options: object) -> None:
    if not isinstance(options, str):
        raise ArgumentTypeError(
            f'options are one text, such as "enable-grid-set=false", not a {type(options).__name__}'
        )


def _check_weights(weights: str) -> None:
    choices = get_args(Weights)
    if weights not in choices:
        raise ArgumentError(
            f"weights are {', '.join(map(repr, choices))}, or for one model paths of .gguf and "
            f".safetensors files and of folders of them, not {weights!r}"
        )


def _with_weights(model: Any, weights: Weights | Paths | WeightFiles) -> tuple[Any, Weights]:
    """A model with the weights of files, if there are any, and what becomes of its weights."""
    if isinstance(weights, str) and not weights.endswith(_SUFFIXES):
        if weights in get_args(Weights) or not Path(weights).is_dir():
            _check_weights(weights)
            return model, cast("Weights", weights)
    from ttmlir.frontend.weights.loading import load_files

    return load_files(model, weights), "constants"


_SUFFIXES = (".gguf", ".safetensors", ".json")
"""Of files of weights, and of their indices."""

_Compiled = TypeVar("_Compiled", CompiledModel, CompiledPrograms)


def _warned(make: Callable[[], _Compiled], known: Sequence[tuple[str, str]]) -> _Compiled:
    """What `make` makes, after warnings of what is `known` of models and of what it says itself."""
    for name, message in dict.fromkeys(known):
        warnings.warn(f"'{name}': {message}", UserWarning, stacklevel=3)
    with listening() as captured:
        made = make()
    reported = {message for _, message in known}
    for warning in captured.values():
        if warning.severity == "warning" and warning.message not in reported:
            warnings.warn(f"'{made.name}': {warning.message}", UserWarning, stacklevel=3)
    return made


def plan_examples(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], buckets: BucketsByName
) -> tuple[BucketPlan, dict[str, Example]]:
    """Which dimensions are dynamic, and the model with examples of each choice of sizes."""
    return _plan(model, args, kwargs, buckets)[:2]


def _plan(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], buckets: BucketsByName
) -> tuple[BucketPlan, dict[str, Example], Measure | None]:
    """`plan_examples`, and what says which shapes results have, if the framework can."""
    framework = _framework_of((model, args, kwargs))
    if framework == "text":
        raise ArgumentTypeError(
            "MLIR text has shapes of its own: ttmlir.compile takes no buckets with it"
        )
    if framework == "onnx":
        return *_plan_inputs(model, args, kwargs, buckets), None
    home = {
        "torch": "ttmlir.frontend.torch.containers",
        "jax": "ttmlir.frontend.calls",
    }
    opener: Opener = import_module(_installed(framework, home[framework])).OPENER
    function = model
    if framework == "torch":
        function = import_module("ttmlir.frontend.torch.model").forward_of(model)
    layout, leaves = read_call("model", function, (args, kwargs), opener)
    shapes = [getattr(leaf, "shape", ()) for leaf in leaves]
    names = layout.leaf_names
    for name, leaf in zip(names, leaves, strict=True):
        if "complex" in str(getattr(leaf, "dtype", "")) or isinstance(leaf, complex):
            raise ArgumentTypeError(
                f"buckets: '{name}' is complex; give its real and its imaginary part as arguments "
                "and join them inside of the model"
            )
    plan = plan_buckets(layout.leaf_names, shapes, buckets)

    def resized(choice: tuple[int, ...]) -> list[Any]:
        return [
            leaf
            if plan.shape_in(choice, number, shape) == list(shape)
            else opener.example_like(leaf, plan.shape_in(choice, number, shape))
            for number, (leaf, shape) in enumerate(zip(leaves, shapes, strict=True))
        ]

    def run(*given: Any) -> Any:
        of_choice, keywords = layout.unflatten(given)
        return function(*of_choice, **keywords)

    examples: dict[str, Example] = {}
    for choice in plan.choices:
        of_choice, keywords = layout.unflatten(resized(choice))
        name = "_".join(["main", *map(str, choice)])
        examples[name] = Example(model, *of_choice, **keywords)
    return plan, examples, lambda choice: opener.result_shapes(run, resized(choice))


def _plan_inputs(
    model: Any, args: tuple[Any, ...], kwargs: dict[str, Any], buckets: BucketsByName
) -> tuple[BucketPlan, dict[str, Example]]:
    """`plan_examples` of a model of ONNX, whose arguments have the names of its inputs."""
    arrays: dict[str, Any] = import_module("ttmlir.frontend.onnx.model").examples_by_name(
        model, args, kwargs
    )
    plan = plan_buckets(list(arrays), [each.shape for each in arrays.values()], buckets)
    examples: dict[str, Example] = {}
    for choice in plan.choices:
        resized: list[Any] = []
        for number, array in enumerate(arrays.values()):
            shape = plan.shape_in(choice, number, array.shape)
            is_same = shape == list(array.shape)
            resized.append(array if is_same else np.zeros(shape, array.dtype))
        by_position, by_name = resized[: len(args)], zip(arrays, resized, strict=True)
        keywords = {name: array for name, array in by_name if name in kwargs}
        examples["_".join(["main", *map(str, choice)])] = Example(model, *by_position, **keywords)
    return plan, examples


def compile_programs(
    examples: Mapping[str, Example],
    *,
    target: TargetName = "ttnn",
    numerics: NumericsName = "exact",
    options: str = "",
    board: str | Path | None = None,
    spelling: str | None = None,
    optimization_level: int | None = None,
    weights: Weights = "constants",
    keep: str | Sequence[str] = (),
) -> CompiledPrograms:
    """Compile several models to programs of one file, which share weights and state.

        llama = ttmlir.compile_programs(
            {
                "prefill": ttmlir.Example(model.prefill, tokens),
                "decode": ttmlir.Example(model.decode, token, position),
            }
        )
        logits = llama.decode(token, position)

    The models are functions of JAX, or torch modules, methods of them and functions, or models of
    ONNX. Equal weights are in the file once. Buffers of torch modules that one program changes are
    seen by all of them, as are arguments of functions that `keep` names. The other parameters are
    those of `compile`.
    """
    _check_weights(weights)
    options = complete_options(target, options, spelling, optimization_level)
    keep = _names("keep", keep)
    check_examples(examples)
    calls = [(each.model, each.args, each.kwargs) for each in examples.values()]
    models = _import_kept(
        calls, keep, lambda: _import_all(calls, weights), [*examples], weights=weights
    )
    imported = {name: each for name, (each, _) in zip(examples, models, strict=True)}
    return _warned(
        lambda: CompiledPrograms(
            imported,
            numerics=numerics,
            target=target,
            options=options,
            board=board,
            examples={name: call for name, (_, call) in zip(examples, models, strict=True)},
        ),
        [(each.name, message) for each in imported.values() for message in each.warnings],
    )


_Call = tuple[Any, tuple[Any, ...], dict[str, Any]]
"""A model with examples of its arguments by position and by name."""


def _import_all(calls: Sequence[_Call], weights: Weights) -> list[ImportedModel]:
    packages = [_framework_of(call) for call in calls]
    if set(packages) == {"torch"}:
        torch_frontend: Any = import_module(_installed("torch", "ttmlir.frontend.torch"))
        return torch_frontend.import_models(calls, weights=weights)
    if set(packages) in ({"jax"}, {"onnx"}):
        return [_import(*call, weights) for call in calls]
    raise ArgumentTypeError(
        "programs that share weights are all of JAX, all of torch, or all models of ONNX"
    )


def _import_kept(
    calls: Sequence[_Call],
    names: Sequence[str],
    import_whole: Callable[[], Sequence[ImportedModel]],
    programs: Sequence[str] = (),
    *,
    weights: Weights = "constants",
) -> Sequence[tuple[ImportedModel, CallArguments]]:
    """Models, and examples of what their calls pass; ArgumentError for what cannot be kept."""
    if not names:
        return [
            (imported, (args, kwargs))
            for imported, (_, args, kwargs) in zip(import_whole(), calls, strict=True)
        ]
    packages = {_framework_of(call) for call in calls}
    if packages in ({"torch"}, {"onnx"}):
        [package] = packages
        keeping: Any = import_module(_installed(package, f"ttmlir.frontend.{package}.keeping"))
        return keeping.import_keeping(calls, names, programs, weights=weights)
    if packages != {"jax"}:
        raise ArgumentError(
            "keep names arguments of functions and of models of ONNX; those of text are passed in "
            "each call: resident=[...] says that they are on the device"
        )
    jax_state: Any = import_module(_installed("jax", "ttmlir.frontend.jax_state"))
    return jax_state.import_keeping(calls, names, programs)


def _framework_of(call: _Call) -> str:
    model, args, kwargs = call
    if _is_onnx(model):
        return "onnx"
    if isinstance(model, str | Path) or _is_module(model):
        return "text"
    owner = getattr(model, "__self__", model)
    packages = {*_packages_of(owner), *_packages_in((args, kwargs))}
    if not packages & {"jax", "jaxlib", "torch"} and isinstance(model, FunctionType):
        # Without arrays of a framework, the names in the function say which one it is about.
        packages = _packages_named_in(model)
        return "torch" if "torch" in packages and "jax" not in packages else "jax"
    return "torch" if "torch" in packages else "jax"


def _import(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    weights: Weights,
    *,
    keep_late: bool = False,
) -> ImportedModel:
    if _is_onnx(model):
        onnx_frontend: Any = import_module("ttmlir.frontend.onnx")
        return onnx_frontend.import_model(model, args, kwargs, weights=weights)
    if isinstance(model, str | Path) or _is_module(model):
        return _import_text(model, args, kwargs, keep_late)
    if callable(model) or _packages_of(model) & {"jax", "torch"}:
        if _framework_of((model, args, kwargs)) == "torch":
            torch_frontend: Any = import_module(_installed("torch", "ttmlir.frontend.torch"))
            return torch_frontend.import_model(model, args, kwargs, weights=weights)
        jax_frontend: Any = import_module(_installed("jax", "ttmlir.frontend.jax"))
        return jax_frontend.import_model(model, args, kwargs)
    raise ArgumentTypeError(
        f"ttmlir.compile cannot compile a {type(model).__qualname__}; it takes functions of JAX "
        "arrays, torch modules, functions and exported programs, models of ONNX and their paths, "
        "MLIR text or paths of it, and modules of xDSL"
    )


def _is_onnx(model: Any) -> bool:
    """True for a model of ONNX: the path of a file, bytes, or a protobuf."""
    if isinstance(model, str | Path):
        return str(model).endswith(".onnx") and "\n" not in str(model)
    return isinstance(model, bytes) or "onnx" in _packages_of(model)


def _is_module(model: Any) -> bool:
    """True for a module of xDSL, without importing xDSL for other models."""
    builtin = sys.modules.get("xdsl.dialects.builtin")
    return builtin is not None and isinstance(model, builtin.ModuleOp)


def _import_text(
    model: str | Path | ModuleOp, args: tuple[Any, ...], kwargs: dict[str, Any], keep_late: bool
) -> ImportedModel:
    from ttmlir.frontend.text import import_file, import_module_op, import_text

    if not isinstance(model, str | Path):
        imported = import_module_op(model, keep_late=keep_late)
    elif isinstance(model, str) and _is_text(model):
        imported = import_text(model, keep_late=keep_late)
    else:
        require_path(model, "ttmlir.compile")
        imported = import_file(Path(model), keep_late=keep_late)
    # Files that are no MLIR have been refused for what they are.
    if args or kwargs:
        raise ArgumentTypeError("MLIR has its own types: ttmlir.compile takes no examples with it")
    return imported


def _is_text(model: str) -> bool:
    """Whether a string is MLIR rather than the path of a file."""
    if "\n" in model or not model:
        return True
    looks_like_text = any(mark in model for mark in '({"%@') and not model.endswith(".mlir")
    return looks_like_text and not os.path.exists(model)


def _installed(package: str, frontend: str) -> str:
    """The name of the module of a frontend whose framework is there; ImportError if it is not."""
    if package not in sys.modules and find_spec(package) is None:
        raise missing_package(package, package, f"compiling functions of {package} arrays")
    return frontend


def _packages_named_in(function: FunctionType) -> set[str]:
    """The packages of the modules that a function names."""
    named = [function.__globals__.get(name) for name in function.__code__.co_names]
    return {each.__name__.partition(".")[0] for each in named if isinstance(each, ModuleType)}


def _packages_of(value: Any) -> set[str]:
    """The packages that the class of a value and its bases come from."""
    return {base.__module__.partition(".")[0] for base in type(value).__mro__}


def _packages_in(value: Any) -> set[str]:
    """The packages of the values in nested containers and in attributes of objects."""
    found: set[str] = set()
    # Objects may hold each other; keeping them keeps their identities.
    seen: dict[int, Any] = {}
    pending = [value]
    while pending:
        item = pending.pop()
        if id(item) in seen:
            continue
        seen[id(item)] = item
        if isinstance(item, Mapping):
            pending += cast("Mapping[Any, Any]", item).values()
        elif isinstance(item, tuple | list):
            pending += cast("Sequence[Any]", item)
        else:
            packages = _packages_of(item)
            found |= packages
            if not packages & _ARRAYS and not isinstance(item, type | ModuleType):
                pending += getattr(item, "__dict__", {}).values()
    return found


_ARRAYS = {"torch", "jax", "jaxlib", "numpy"}
"""Packages whose objects are not looked into."""
