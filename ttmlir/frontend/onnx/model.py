"""From what a user gives to an imported model: examples, shapes, and how the model is called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ttmlir.arrays.carriers import host_dtype
from ttmlir.frontend.calls import Number, as_array
from ttmlir.frontend.compiled import ImportedModel, narrow
from ttmlir.frontend.errors import in_binary_file, in_terms_of_the_user
from ttmlir.frontend.onnx.call import MAX_READ, NumbersNeededError
from ttmlir.frontend.onnx.elements import (
    DTYPES,
    SMALL_FLOATS,
    SMALL_INTEGERS,
    Bounded,
    Tensor,
    Value,
    held,
    host_type,
    onnx_package,
    require_onnx,
    type_name,
    why_not_supported,
)
from ttmlir.frontend.onnx.program import ImportedGraph, Importer, Weights
from ttmlir.frontend.onnx.reading import BYTES, Model, read_model
from ttmlir.mlir.chunk_processing import verify
from ttmlir.mlir.reporting import DiagnosticError
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import (
    LEAF,
    NOTHING,
    CallSignature,
    Structure,
    bounded,
    constant,
    dict_of,
    tuple_of,
)
from ttmlir.runtime.tensor import Array

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def import_model(
    given: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    weights: Weights = "constants",
) -> ImportedModel:
    """A model from the path of a file, bytes or a `ModelProto`, and examples of its inputs.

    Examples are given in the order of the graph's inputs or by their names. Those of a model whose
    shapes are known may be left out. With `weights="arguments"` floating point initializers are
    inputs of the program, which the compiled model passes along.
    """
    require_onnx()
    with in_terms_of_the_user("the model", file=BYTES):
        model = read_model(given)
    with in_terms_of_the_user(model.name, file=model.file):
        return Door(model, args, kwargs, weights).imported()


def read_onnx(
    given: str | bytes, *, input_shapes: Sequence[tuple[str, tuple[int, ...]]] = ()
) -> ModuleOp:
    """The module of a file or of its bytes; `input_shapes` are those that the model leaves open,
    with the names of inputs.

    DiagnosticError for what is not supported, MissingPackageError without the package onnx.
    """
    require_onnx()
    model = read_model(given)
    inputs = read_inputs(model, [name for name, _ in input_shapes])
    names = [each.name for each in inputs]
    if unknown := [name for name, _ in input_shapes if name not in names]:
        raise model.refuse(
            f"there is no input '{unknown[0]}'; there are {', '.join(names) or 'none'}"
        )
    examples = {name: _Shape(shape) for name, shape in input_shapes}
    try:
        module = Importer(model, Dimensions(model).resolve(inputs, examples)).run().module
    except NumbersNeededError as error:
        raise error.refusal from error
    try:
        verify(module)
    except DiagnosticError as error:
        found = (in_binary_file(each.without_operation(), model.file) for each in error.diagnostics)
        raise DiagnosticError(*found) from error
    return module


# -- what the graph says of its inputs -----------------------------------------------------------


@dataclass(frozen=True)
class Input:
    """An input of a graph."""

    name: str
    type: str
    """Of its elements, by ONNX's name."""
    shape: tuple[int | str | None, ...] | None
    """Extents, names of those that calls decide about, None for those without a name; None if the
    model says no rank."""
    is_sequence: bool = False
    is_optional: bool = False

    def describe(self) -> str:
        """Type and shape, for messages."""
        dims = "..." if self.shape is None else ",".join(str(each or "?") for each in self.shape)
        kind = "a sequence of " if self.is_sequence else ""
        return f"{kind}{self.type}[{dims}]"


@dataclass(frozen=True)
class _Shape:
    """An example that says a shape alone."""

    shape: tuple[int, ...]


def read_inputs(model: Model, given: Iterable[str] = ()) -> list[Input]:
    """The inputs of a graph that are no initializers, and those of `given` names that are."""
    graph = model.proto.graph
    if twice := [name for name, n in Counter(each.name for each in graph.input).items() if n > 1]:
        raise model.refuse(f"two inputs have the name '{twice[0]}'")
    kept = {each.name for each in graph.initializer}.difference(given)
    return [_read_input(model, each) for each in graph.input if each.name not in kept]


def _read_input(model: Model, info: Any) -> Input:
    proto, is_sequence, is_optional = info.type, False, False
    if proto.HasField("optional_type"):
        proto, is_optional = proto.optional_type.elem_type, True
    if proto.HasField("sequence_type"):
        proto, is_sequence = proto.sequence_type.elem_type, True
    if not proto.HasField("tensor_type"):
        kind = proto.WhichOneof("value") or "no type"
        raise model.refuse(
            f"the input '{info.name}' has {kind.replace('_', ' ')}; inputs are tensors, sequences "
            "of tensors, or optional ones"
        )
    type_ = type_name(proto.tensor_type.elem_type)
    if type_ not in DTYPES:
        raise model.refuse(f"the input '{info.name}': {why_not_supported(type_)}")
    shape = None
    if proto.tensor_type.HasField("shape"):
        shape = tuple(map(_extent, proto.tensor_type.shape.dim))
    return Input(info.name, type_, shape, is_sequence, is_optional)


def _extent(dim: Any) -> int | str | None:
    if dim.HasField("dim_value"):
        return dim.dim_value
    return dim.dim_param or None


_GIVE_SHAPES = (
    "give examples of the inputs to ttmlir.compile, or their shapes by --input-shapes to "
    "ttmlir-translate"
)


class Dimensions:
    """The sizes that examples give to the names of dimensions."""

    def __init__(self, model: Model) -> None:
        """None yet."""
        self._model = model
        self._found: dict[str, tuple[int, str]] = {}

    def resolve(self, inputs: Iterable[Input], examples: Mapping[str, Any]) -> dict[str, Any]:
        """What the importer takes for each input; DiagnosticError where sizes do not fit."""
        for each in inputs:
            if each.name in examples:
                self._note(each, examples[each.name])
        return {each.name: self._given(each, examples) for each in inputs}

    def _note(self, given: Input, example: Any) -> None:
        for name, array in tensors_in(given.name, example):
            if given.shape is None or given.is_sequence:
                continue
            if len(array.shape) != len(given.shape):
                raise self._refuse(
                    f"the input '{name}' is {given.describe()}, and its example has the shape "
                    f"{list(array.shape)}"
                )
            for place, (extent, size) in enumerate(zip(given.shape, array.shape, strict=True)):
                if isinstance(extent, int) and extent != size:
                    raise self._refuse(
                        f"dimension {place} of the input '{name}' is {extent}, and {size} in its "
                        "example"
                    )
                if isinstance(extent, str):
                    self._note_named(extent, size, f"dimension {place} of '{name}'")

    def _note_named(self, extent: str, size: int, where: str) -> None:
        known, first = self._found.setdefault(extent, (size, where))
        if known != size:
            raise self._refuse(
                f"the dimension '{extent}' is {known} in the example of {first}, and {size} in "
                f"that of {where}"
            )

    def _given(self, given: Input, examples: Mapping[str, Any]) -> Any:
        """The type and the shape of an input, a list of them, or None."""
        if given.name in examples:
            example = examples[given.name]
            if example is None or isinstance(example, list):
                return _structure_of(example, given.type)
            return given.type, tuple(example.shape)
        if given.is_optional:
            return None
        if given.is_sequence:
            raise self._refuse(
                f"the input '{given.name}' is {given.describe()}; give an example, whose length "
                "says how many tensors there are"
            )
        shape = [self._extent(given, each) for each in given.shape or ()]
        if given.shape is None:
            raise self._refuse(
                f"the input '{given.name}' is {given.describe()}, without a rank; {_GIVE_SHAPES}"
            )
        return given.type, tuple(shape)

    def _extent(self, given: Input, extent: int | str | None) -> int:
        if isinstance(extent, int):
            return extent
        if extent is not None and extent in self._found:
            return self._found[extent][0]
        what = "a size" if extent is None else f"the size '{extent}'"
        raise self._refuse(
            f"the input '{given.name}' is {given.describe()}: {what} is not known; {_GIVE_SHAPES}"
        )

    def _refuse(self, message: str) -> DiagnosticError:
        return self._model.refuse(message)


def tensors_in(name: str, example: Any) -> Iterator[tuple[str, Any]]:
    """The arrays in an example, with their names."""
    if isinstance(example, list):
        for number, each in enumerate(cast("list[Any]", example)):
            yield from tensors_in(f"{name}[{number}]", each)
    elif example is not None:
        yield name, example


def _structure_of(example: Any, type_: str) -> Any:
    if isinstance(example, list):
        return [_structure_of(each, type_) for each in cast("list[Any]", example)]
    return None if example is None else (type_, tuple(example.shape))


# -- calls ---------------------------------------------------------------------------------------


def examples_by_name(given: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arrays of a call by the names of inputs; InputError for sequences."""
    require_onnx()
    with in_terms_of_the_user("the model", file=BYTES):
        model = read_model(given)
    found = _read_examples(model, read_inputs(model, kwargs), args, kwargs)
    for name, example in found.items():
        if example is None or isinstance(example, list):
            raise InputError(f"'{model.name}': buckets are for tensors, and '{name}' is none")
    return found


def _read_examples(
    model: Model, inputs: Sequence[Input], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """What a call gives, by the names of inputs: arrays, lists of them, or None."""
    names = [each.name for each in inputs]
    if len(args) > len(names):
        raise InputError(
            f"'{model.name}' takes {len(names)} inputs ({', '.join(names)}), "
            f"got {len(args)} by position"
        )
    found = dict(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name not in names or name in found:
            reason = "given by position, too" if name in found else "none of its inputs"
            raise InputError(f"'{model.name}': '{name}' is {reason}; they are {', '.join(names)}")
        found[name] = value
    for each in inputs:
        if each.name not in found and not each.is_optional:
            raise InputError(
                f"'{model.name}': the input '{each.name}' is missing; inputs are {', '.join(names)}"
            )
    return {each.name: _read_array(model, each, found.get(each.name)) for each in inputs}


def _read_array(model: Model, given: Input, value: Any, name: str = "") -> Any:
    what = f"'{model.name}': {name or given.name}"
    if given.is_sequence and not name and value is not None:
        if not isinstance(value, list | tuple):
            raise InputError(f"{what} is a list of arrays, not a {type(value).__name__}")
        items = enumerate(cast("Sequence[Any]", value))
        return [
            _read_array(model, given, each, f"{given.name}[{number}]") for number, each in items
        ]
    if value is None and given.is_optional:
        return None
    array = as_array(value, what)
    if isinstance(array, Number):
        return np.asarray(array, host_type(given.type))
    # A file knows numbers of few bits in the type that holds them.
    types = host_type(given.type), host_dtype(DTYPES[given.type])
    if array.dtype not in types:
        raise InputError(
            f"{what} is {given.describe()}, and takes {types[0]}, not {array.dtype}; "
            f"give it .astype({str(types[0])!r})"
        )
    return array


class Door:
    """Between the values of a call and the arrays of the program."""

    kept: Sequence[str] = ()
    """Names of inputs that a call does not pass."""

    def __init__(
        self, model: Model, args: tuple[Any, ...], kwargs: dict[str, Any], weights: Weights
    ) -> None:
        """Import a model for examples of its inputs."""
        self.model = model
        self.inputs = read_inputs(model, kwargs)
        self.by_position = len(args)
        self.by_name = list(kwargs)
        examples = self._examples(args, kwargs) if args or kwargs else {}
        self._fixed: dict[str, Any] = {}
        self._given = Dimensions(model).resolve(self.inputs, examples)
        self.graph = self._import(examples, weights)

    def _import(self, examples: Mapping[str, Any], weights: Weights) -> ImportedGraph:
        """The graph; for the numbers of examples on which shapes depend, if there are any."""
        while True:
            importer = Importer(self.model, self._given, weights=weights)
            try:
                return importer.run()
            except NumbersNeededError as error:
                for name in importer.numbers_needed(error) or ():
                    example = _find(examples, name)
                    if example is None or example.size > MAX_READ:
                        raise error.refusal from error
                    self._fix(name, example)

    def _fix(self, name: str, example: Any) -> None:
        self._fixed[name] = example
        base, *places = name.replace("]", "").split("[")
        inner, key = cast("Any", self._given), cast("Any", base)
        for place in places:
            inner, key = inner[key], int(place)
        type_, _ = inner[key]
        inner[key] = type_, held(example, type_)

    def _examples(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return _read_examples(self.model, self.inputs, args, kwargs)

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        """The arrays of a call, in the order of the function's arguments."""
        examples = self._examples(args, kwargs)
        found: list[Array | Number] = []
        for each in self.inputs:
            expected = self._given[each.name]
            if not _is_alike(examples[each.name], expected):
                raise InputError(
                    f"'{self.model.name}' was compiled for {_describe(expected)} as "
                    f"'{each.name}'; compile again for {_describe(examples[each.name])}"
                )
            for name, array in tensors_in(each.name, examples[each.name]):
                if name in self._fixed:
                    self._check_fixed(name, array)
                else:
                    found.append(
                        held(array, each.type) if array.dtype == host_type(each.type) else array
                    )
        return found

    def _check_fixed(self, name: str, array: Array) -> None:
        if not np.array_equal(array, self._fixed[name]):
            raise InputError(
                f"'{self.model.name}' was compiled for '{name}' = "
                f"{_spell(self._fixed[name])}, which decides about shapes; compile again for "
                f"{_spell(array)}"
            )

    def unflatten(self, results: Sequence[Array]) -> Any:
        """What a call returns: the only result as such, several in the order of the graph's."""
        rest = iter(results)
        values = [_restored(value, rest) for _, value in self.graph.results]
        return values[0] if len(values) == 1 else tuple(values)

    def flatten_results(self, found: Any) -> list[Array]:
        """The arrays in what a call returns."""
        values = (found,) if len(self.graph.results) == 1 else found
        pairs = zip(values, (value for _, value in self.graph.results), strict=True)
        return [array for value, expected in pairs for array in _leaves_of(value, expected)]

    # -- what ONNX computes ------------------------------------------------------------------------

    @cached_property
    def _evaluator(self) -> Any:
        onnx, model = onnx_package(), self.model
        proto = model.proto
        if model.folder is not None:
            proto = onnx.ModelProto()
            proto.CopyFrom(model.proto)
            onnx.load_external_data_for_model(proto, model.folder)
        reference = import_module("onnx.reference")

        class ZipMap(import_module("onnx.reference.op_run").OpRun):
            """Gives scores as they are, as the compiled model does."""

            op_domain = "ai.onnx.ml"

            def _run(self, x: Any, **_: Any) -> tuple[Any]:
                return (x,)

        return reference.ReferenceEvaluator(proto, new_ops=[ZipMap])

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What the reference implementation of ONNX computes."""
        examples = self._examples(args, kwargs)
        given = {each.name: _in_host_type(examples[each.name], each.type) for each in self.inputs}
        with np.errstate(all="ignore"):
            found = self._evaluator.run(None, given)
        return found[0] if len(found) == 1 else tuple(found)

    # -- what a compiled model is made of ----------------------------------------------------------

    def imported(self) -> ImportedModel:
        """All of it."""
        graph, names = self.graph, list(self._names())
        weights = {number: array for number, (_, array) in enumerate(graph.weights)}
        kept = [name for name, _ in graph.weights]
        signature = CallSignature(
            name=self.model.name,
            input_names=(*kept, *names),
            framework="onnx",
            arguments=self._structure_of_arguments(),
            results=self._structure_of_results(),
            bound=tuple(range(len(kept))),
            parameters=tuple(
                (name, int(array.size)) for name, array in graph.parameters if _is_learned(array)
            ),
        )
        return ImportedModel(
            name=self.model.name,
            module=graph.module,
            stage="ttir",
            input_names=names,
            signature=signature,
            flatten=self.flatten,
            unflatten=self.unflatten,
            flatten_results=self.flatten_results,
            reference=self.reference,
            bound=weights,
            parameters=lambda: iter(graph.parameters),
            warnings=[*graph.warnings, *narrow(graph.module, stage="ttir")],
            file=self.model.file,
        )

    def _names(self) -> Iterator[str]:
        for each in self.inputs:
            for name, _ in tensors_in(each.name, _as_shapes(self._given[each.name])):
                if name not in self._fixed:
                    yield name

    def _structure_of_arguments(self) -> Structure:
        names = [each.name for each in self.inputs if each.name not in self.kept]
        structures = {name: self._structure(name) for name in names}
        by_name = {name: structures[name] for name in self.by_name}
        left_out = [name for name in structures if self.by_position and self._given[name] is None]
        positions = [
            structure
            for place, (name, structure) in enumerate(structures.items())
            if name not in by_name
            and (place < self.by_position or (name not in left_out and not self.by_name))
        ]
        return tuple_of(tuple_of(*positions), dict_of(by_name))

    def _structure(self, name: str) -> Structure:
        def of(given: Any, name: str) -> Structure:
            if given is None:
                return NOTHING
            if isinstance(given, list):
                items = enumerate(cast("list[Any]", given))
                children = tuple(of(each, f"{name}[{number}]") for number, each in items)
                return Structure(kind="List", children=children)
            return constant(self._fixed[name].tolist()) if name in self._fixed else LEAF

        return of(self._given[name], name)

    def _structure_of_results(self) -> Structure:
        found = [_structure_of_value(value) for _, value in self.graph.results]
        return found[0] if len(found) == 1 else tuple_of(*found)


def _leaves_of(value: Any, expected: Value) -> Iterator[Array]:
    """The arrays of the program for a result of a call."""
    if isinstance(expected, list):
        for each, inner in zip(cast("Sequence[Any]", value), expected, strict=True):
            yield from _leaves_of(each, inner)
    elif isinstance(expected, Bounded):
        pairs = zip(expected.array.shape, value.shape, strict=True)
        whole = np.pad(value, [(0, most - extent) for most, extent in pairs])
        yield held(whole, expected.type)
        yield from (np.asarray(value.shape[dim], np.int64) for dim in expected.sizes)
    elif expected is not None:
        yield held(value, expected.type)


def _is_learned(array: Array) -> bool:
    """True for weights: numbers that a model learns, and not, for example, shapes."""
    return array.dtype.kind not in "iub" and array.size > 1


def _find(examples: Mapping[str, Any], name: str) -> Any:
    """The array of an example by a name such as `x` or `x[1]`."""
    pairs = (pair for each, example in examples.items() for pair in tensors_in(each, example))
    return dict(pairs).get(name)


def _as_shapes(given: Any) -> Any:
    if isinstance(given, list):
        return [_as_shapes(each) for each in cast("list[Any]", given)]
    return given


def _is_alike(example: Any, expected: Any) -> bool:
    """Whether an example is a list where one is expected, and as long."""
    if isinstance(expected, list):
        items = cast("list[Any]", expected)
        return (
            isinstance(example, list)
            and len(cast("list[Any]", example)) == len(items)
            and all(map(_is_alike, cast("list[Any]", example), items))
        )
    return (example is None) == (expected is None) and not isinstance(example, list)


def _describe(value: Any) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return f"a list of {len(cast('list[Any]', value))}"
    return "an array"


def _spell(array: Array) -> str:
    text = str(array.tolist())
    return text if len(text) <= 60 else f"{text[:60]}..."


def _restored(value: Value, rest: Iterator[Array]) -> Any:
    if value is None:
        return None
    if isinstance(value, list):
        return [_restored(each, rest) for each in value]
    array = next(rest)
    if isinstance(value, Bounded):
        leaves_ = (array, *(next(rest) for _ in value.sizes))
        array = bounded([*value.sizes]).unflatten(iter(leaves_))
    is_small = value.type in SMALL_FLOATS or value.type in SMALL_INTEGERS
    return array.astype(host_type(value.type)) if is_small else array


def _in_host_type(example: Any, type_: str) -> Any:
    if isinstance(example, list):
        return [_in_host_type(each, type_) for each in cast("list[Any]", example)]
    return None if example is None else example.astype(host_type(type_), copy=False)


def _structure_of_value(value: Value) -> Structure:
    if isinstance(value, Tensor):
        return LEAF
    if isinstance(value, Bounded):
        return bounded([*value.sizes])
    if value is None:
        return NOTHING
    return Structure(kind="List", children=tuple(map(_structure_of_value, value)))
