"""The frontend for torch: modules, functions of tensors and exported programs.

    imported = import_model(module, (x,), {})

The program is what `torch.export` makes of the module for the example arguments. Containers of
arguments and results are those of the module. Buffers that the module changes are kept in the
compiled model: a call reads their values and leaves the new ones for the next call.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from contextlib import suppress
from inspect import Parameter, Signature
from types import MethodType
from typing import Any

import ml_dtypes
import numpy as np

from ttmlir.errors import ArgumentTypeError
from ttmlir.frontend.calls import Number, as_array, read_layout
from ttmlir.frontend.compiled import ImportedModel, narrow
from ttmlir.frontend.complex_pairs import call_with_pairs
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.torch.containers import (
    OPENER,
    read_exported_call,
    read_exported_results,
)
from ttmlir.frontend.torch.distributed.placing import (
    alone,
    is_for_devices,
    sharing_whole_weights,
    whole_of,
    without_sums,
)
from ttmlir.frontend.torch.elements import SMALL_FLOATS, is_symbolic, is_tensor, torch_package
from ttmlir.frontend.torch.exporting import (
    TracedModel,
    call_exported,
    decompose,
    generators_of,
    take_seed,
    takes_seed,
    trace_model,
)
from ttmlir.frontend.torch.locations import path_of
from ttmlir.frontend.torch.program import (
    ImportedProgram,
    Weights,
    changed_buffers,
    import_decomposed,
    is_computed,
)
from ttmlir.frontend.torch.random.seeding import SEED, create_seed
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.session import array_of_torch, has_numbers
from ttmlir.runtime.signature import LEAF, CallSignature, Structure, dict_of, tuple_of
from ttmlir.runtime.tensor import Array


def import_model(
    model: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    weights: Weights = "constants",
) -> ImportedModel:
    """A model from a module or function and examples of its arguments, or an exported program.

    With `weights="arguments"` parameters and buffers are inputs of the program, which the compiled
    model passes along; they share the memory of the module's.
    """
    [imported] = import_models([(model, args, kwargs)], weights=weights)
    return imported


def import_models(
    calls: Sequence[tuple[Any, tuple[Any, ...], dict[str, Any]]], *, weights: Weights = "constants"
) -> list[ImportedModel]:
    """Several models with examples, which share the buffers that any of them changes."""
    with alone(), sharing_whole_weights():
        return _import_all([_trace(*call) for call in calls], weights)


def _import_all(traced: Sequence[tuple[str, Any, Any]], weights: Weights) -> list[ImportedModel]:
    """Models of what `_trace` gives."""
    # Keeping the buffers keeps their identities from being given to others.
    changing = {id(buffer): buffer for each in traced for buffer in changed_buffers(each[1])}
    store: dict[int, Array] = {}
    models: list[ImportedModel] = []
    for name, decomposed, found in traced:
        with in_terms_of_the_user(name):
            names = found.call.leaf_names if isinstance(found, TracedModel) else []
            if names and takes_seed(found.exported):
                names = [*names, SEED]
            program = import_decomposed(
                decomposed, weights=weights, input_names=names, changing=changing
            )
        if not isinstance(found, TracedModel):
            found = _read_exported(name, found, program)
        models.append(_Door(name, found, program, store, changing).imported())
    return models


def import_traced(name: str, function: Any, arguments: Sequence[Any]) -> ImportedModel:
    """A model from a function that torch has written."""
    [imported] = _import_all([_trace_call(name, function, tuple(arguments), {})], "constants")
    return imported


def _trace(model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any, Any]:
    """The name of a model, its decomposed program, and what it comes from."""
    torch = torch_package()
    # What torch.compile returns holds the module that it is about.
    model = getattr(model, "_orig_mod", model)
    name = _name_of(model)
    if isinstance(model, torch.jit.ScriptModule | torch.jit.ScriptFunction):
        raise ArgumentTypeError(
            "ttmlir.compile cannot compile TorchScript; it takes the module or function that "
            "torch.jit.script or torch.jit.trace was given"
        )
    if isinstance(model, torch.export.ExportedProgram):
        if args or kwargs:
            return _trace_call(name, _module_of(model), args, kwargs)
        example: Any = model.example_inputs
        if is_for_devices(model):
            # Torch has exported what one device computes, or what DTensors do.
            return _trace_call(name, _module_of(model), *example)
        with in_terms_of_the_user(name):
            exported = take_seed(model, model, *example) if example else model
            return name, decompose(exported), exported
    return _trace_call(name, model, args, kwargs)


def forward_of(model: Any) -> Any:
    """The function of a module, of an exported program, or what is one, as its user calls it."""
    if isinstance(model, torch_package().export.ExportedProgram):
        model = _module_of(model)
    return getattr(model, "forward", model)


def _module_of(exported: Any) -> Any:
    """The module of an exported program, which takes arguments by the names of the user's."""
    module = exported.module()
    run = module.forward

    def forward(self: Any, *args: Any, **kwargs: Any) -> Any:
        return run(*args, **kwargs)

    args, kwargs = exported.example_inputs
    names = exported.module_call_graph[0].signature.forward_arg_names
    if names is not None and len(names) == len(args) + len(kwargs):
        kinds = Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY
        parameters = [Parameter(each, kinds[each in kwargs]) for each in names]
        this = Parameter("self", Parameter.POSITIONAL_ONLY)
        setattr(forward, "__signature__", Signature([this, *parameters]))  # noqa: B010
    module.forward = MethodType(forward, module)
    return module


def _trace_call(
    name: str, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, Any, Any]:
    with in_terms_of_the_user(name):
        traced = trace_model(name, model, args, kwargs)
        return name, decompose(traced.exported), traced


def _read_exported(name: str, exported: Any, program: ImportedProgram) -> TracedModel:
    """What `trace_model` knows, of an exported program that the user made."""
    metas = [meta for _, meta in program.inputs]
    call = read_exported_call(name, exported, metas, seeded=takes_seed(exported))
    return TracedModel(exported, call, read_exported_results(exported, program.outputs))


class _Bound(MutableMapping[int, Array]):
    """Weights and state by the number of the input; programs that share buffers share a store."""

    def __init__(self, named: Sequence[tuple[str, Any]], store: dict[int, Array]) -> None:
        # Keeping the tensors keeps their identities from being given to others.
        self._named = list(named)
        self._tensors = [tensor for _, tensor in named]
        self._store = store
        for tensor in self._tensors:
            if id(tensor) not in store and has_numbers(tensor):
                store[id(tensor)] = array_of(tensor)

    def __getitem__(self, index: int) -> Array:
        """The array of an input; KeyError for others, InputError for one without numbers."""
        if not 0 <= index < len(self._tensors):
            raise KeyError(index)
        name, tensor = self._named[index]
        if id(tensor) not in self._store:
            raise InputError(
                f"'{name}' is a shape without numbers (device 'meta', FakeTensor): the model can "
                "be estimated and saved, but not run"
            )
        return self._store[id(tensor)]

    def __contains__(self, index: object) -> bool:
        """True for inputs, with numbers or without."""
        return index in range(len(self._tensors))

    def __setitem__(self, index: int, array: Array) -> None:
        """Replace it for all programs."""
        self._store[id(self._tensors[index])] = array

    def __delitem__(self, index: int) -> None:
        """Not possible."""
        raise TypeError("inputs of a program stay")

    def __iter__(self) -> Iterator[int]:
        """The numbers of the inputs."""
        return iter(range(len(self._tensors)))

    def __len__(self) -> int:
        """How many there are."""
        return len(self._tensors)


class _Door:
    """Between the values of torch and the arrays of one program."""

    def __init__(
        self,
        name: str,
        traced: TracedModel,
        program: ImportedProgram,
        store: dict[int, Array],
        changing: Mapping[int, Any],
    ) -> None:
        """A program; `store` are arrays, and `changing` buffers, that it shares with others."""
        self._changing = changing
        self._name = name
        self._exported = traced.exported
        self._call = traced.call
        self._results = traced.results
        self._on_devices = traced.on_devices
        self._program = program
        self._outputs = [meta for meta in program.outputs if is_computed(meta)]
        passed_on = [*program.weights, *program.state]
        # The state is replaced after each call.
        self._bound = _Bound(passed_on, store)
        self._state = range(len(program.weights), len(passed_on))
        self._given: list[Any] = []
        self._kept: list[Array] = []
        self._generators = self._find_generators()
        self._last_seed: Any = None

    def imported(self) -> ImportedModel:
        """What a compiled model is made of."""
        program = self._program
        imported = ImportedModel(
            name=self._name,
            module=program.module,
            stage="ttir",
            input_names=self._input_names,
            signature=self._signature(),
            flatten=self.flatten,
            unflatten=self.unflatten,
            reference=self.reference,
            trace=self.trace,
            flatten_results=self.flatten_results,
            bound=self._bound,
            state=self._state,
            parameters=self.named_arrays,
            warnings=narrow(program.module),
        )
        return call_with_pairs(imported, program.complex_places)

    @property
    def _input_names(self) -> list[str]:
        return [*self._call.leaf_names, *([SEED] if self._generators else [])]

    def _signature(self) -> CallSignature:
        program = self._program
        kept = [name for name, _ in (*program.weights, *program.state)]
        results = self._results.structure
        if program.changed:
            names = [self._input_names[index] for index in program.changed]
            results = tuple_of(dict_of(dict.fromkeys(names, LEAF)), results)
        return CallSignature(
            name=self._name,
            input_names=(*kept, *self._input_names),
            framework="torch",
            arguments=self._arguments(),
            results=results,
            bound=tuple(range(len(kept))),
            state=len(program.state),
            parameters=self._parameters(),
        )

    def _arguments(self) -> Structure:
        """The arguments of a call; a file knows which seed comes from which of the generators."""
        found = self._call.describe(*([SEED] if self._generators else []))
        places = [place for _, place in self._generators]
        if not places or None in places:
            return found
        numbers = {each._cdata: number for number, (each, _) in enumerate(self._generators)}
        example = self._call.unflatten([None] * len(self._call.leaf_names))
        generators = [each for _, each in found.find_ignored(example)]
        if any(each._cdata not in numbers for each in generators):
            return found
        return found.with_seeds(numbers[each._cdata] for each in generators)

    def _parameters(self) -> tuple[tuple[str, int], ...]:
        """What the model learns; what modules share counts once, under its first name."""
        first: dict[int, tuple[str, int]] = {}
        for name in self._exported.graph_signature.inputs_to_parameters.values():
            tensor = self._exported.state_dict[name]
            first.setdefault(id(tensor), (name, tensor.numel()))
        return tuple(first.values())

    def named_arrays(self) -> Iterator[tuple[str, Array]]:
        """Parameters and buffers by their names."""
        for name, tensor in self._exported.state_dict.items():
            with suppress(InputError):
                yield name, array_of(tensor)

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """The arrays of a call."""
        with alone():
            return self._flatten(args, kwargs)

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        seeds: list[Any] = []
        given = kwargs.get(SEED)
        if self._generators:
            kwargs = {name: value for name, value in kwargs.items() if name != SEED}
        leaves = self._call.flatten(args, kwargs)
        if self._generators:
            # What is no generator has been refused.
            self._last_seed = create_seed(given, self._generators_of_call(args, kwargs))
            seeds = [self._last_seed]
        leaves = [*leaves, *seeds]
        self._given = [leaves[index] for index in self._program.changed]
        return [
            self._array(name, leaf) for name, leaf in zip(self._input_names, leaves, strict=True)
        ]

    def _find_generators(self) -> list[tuple[Any, int | None]]:
        """The generators of the program, each with its place among the values of a call."""
        found = generators_of(self._exported)
        if all(each is None for each in found):
            return [(each, None) for each in found]
        leaves = _values_of(self._call.unflatten([None] * len(self._call.leaf_names)))
        known = {getattr(each, "_cdata", None): place for place, each in enumerate(leaves)}
        return [(each, None if each is None else known.get(each._cdata)) for each in found]

    def _generators_of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Those that a call passes in place of the program's, and the program's own."""
        if all(place is None for _, place in self._generators):
            return [each for each, _ in self._generators]
        leaves = _values_of(self._call.binding.arrange(args, kwargs))
        return [each if place is None else leaves[place] for each, place in self._generators]

    def _array(self, name: str, leaf: Any) -> Array:
        leaf = whole_of(leaf, name)
        array = None if isinstance(leaf, Number) else as_array(leaf, f"'{self._name}': {name}")
        if array is None or isinstance(array, Number):
            raise InputError(
                f"'{self._name}' takes a tensor as {name}, not {leaf!r} of type "
                f"{type(leaf).__name__}"
            )
        return array

    def unflatten(self, results: Sequence[Array]) -> Any:
        """What a call returns; new values of buffers are kept, those of arguments given back."""
        with alone():
            return self._unflatten(results)

    def _unflatten(self, results: Sequence[Array]) -> Any:
        state, changed = len(self._state), len(self._program.changed)
        self._kept = list(results[: state + changed])
        # `update` of a mapping asks about the type of a zip, which takes long the first time.
        for number, array in zip(self._state, self._kept, strict=False):
            self._bound[number] = array
        for leaf, array in zip(self._given, self._kept[state:], strict=True):
            _copy_into(leaf, array)
        self._given = []
        leaves = zip(self._outputs, results[state + changed :], strict=True)
        return self._results.unflatten(
            array.item() if is_symbolic(meta) else tensor_of(array).to(meta.dtype)
            for meta, array in leaves
        )

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What torch computes; buffers begin as in the next call, and the module's stay.

        It runs the graph that was compiled: a module may take another way where gradients are off.
        Random numbers are those of the seed that is given, or else of the last call.
        """
        if self._on_devices is not None:
            return self._reference_on_devices(args, kwargs)
        torch = torch_package()
        leaves = self._example_leaves(args, kwargs)
        changed = [leaves[index] for index in self._program.changed]
        buffers = self._next_buffers()
        pytree: Any = torch.utils._pytree
        arguments = pytree.tree_unflatten(leaves, self._exported.call_spec.in_spec)
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = call_exported(self._exported, buffers, arguments)
        state = [buffers[name] for name, _ in self._program.state]
        self._kept = [*map(array_of, state), *map(array_of, changed)]
        returned = zip(pytree.tree_leaves(result), self._program.outputs, strict=True)
        return self._results.unflatten(leaf for leaf, meta in returned if is_computed(meta))

    def _reference_on_devices(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """What torch computes on all devices of a block of virtual devices, as whole tensors."""
        torch = torch_package()
        if self._program.state or self._program.changed:
            raise InputError(
                f"'{self._name}' changes tensors that are divided over devices; what torch "
                "computes of them is not known; compare with the model before it is divided, and "
                "save without golden=True"
            )
        if not torch.distributed.is_initialized():
            raise InputError(
                f"'{self._name}' is for devices of a block of ttmlir.virtual_devices that has "
                "ended; torch computes nothing on them any more"
            )
        tensors = [tensor_of(array) for array in self.flatten(args, kwargs)]
        assert self._on_devices is not None
        with torch.no_grad():
            layout, results = read_layout(self._on_devices(tensors), OPENER)
        del layout
        return self._results.unflatten(
            whole_of(without_sums(leaf), f"result {number}") for number, leaf in enumerate(results)
        )

    def _example_leaves(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """The inputs of torch's graph: new tensors, and what is none."""
        if self._generators and self._last_seed is not None:
            kwargs = {SEED: self._last_seed, **kwargs}
        arrays = iter(self.flatten(args, kwargs))
        self._given = []
        return [
            tensor_of(next(arrays)).clone() if is_tensor(meta) else meta
            for _, meta in self._program.inputs
        ]

    def _next_buffers(self) -> dict[str, Any]:
        """The buffers that a program changes, as they are now, by their names."""
        outside = (*self._program.weights, *self._program.state)
        return {
            name: tensor_of(self._bound[index]).clone()
            for index, (name, tensor) in enumerate(outside)
            if id(tensor) in self._changing
        }

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Array]]:
        """What torch computes at each node of the program."""
        leaves = self._example_leaves(args, kwargs)
        return trace_nodes(self._exported, leaves, self._next_buffers())

    def flatten_results(self, results: Any) -> list[Array]:
        """The arrays of the last call's results: changed buffers, and what it returned."""
        leaves = self._results.flatten(results, "results")
        return [
            *self._kept,
            *(np.asarray(leaf) if isinstance(leaf, Number) else array_of(leaf) for leaf in leaves),
        ]


def _values_of(arguments: Any) -> list[Any]:
    """What containers of torch hold, None as well."""
    pytree: Any = torch_package().utils._pytree

    def is_none(value: Any) -> bool:
        return value is None

    return pytree.tree_leaves(arguments, is_leaf=is_none)


def _copy_into(leaf: Any, array: Array) -> None:
    """Give an argument that the model changes in place its new numbers."""
    if isinstance(leaf, np.ndarray):
        leaf[...] = array
    else:
        with torch_package().no_grad():
            leaf.copy_(tensor_of(array))


def array_of(tensor: Any) -> Array:
    """The numbers of a torch tensor as an array that shares its memory where possible."""
    return array_of_torch(torch_package(), tensor)


def tensor_of(array: Array) -> Any:
    """A torch tensor that shares the memory of an array where possible."""
    torch = torch_package()
    if not (array.flags.c_contiguous and array.flags.writeable):
        array = np.require(array, requirements=["C", "W"])
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    # Names of NumPy's own types take longer than all else here.
    if array.dtype.isbuiltin != 1 and array.dtype.name in SMALL_FLOATS:
        return torch.from_numpy(array.view(np.uint8)).view(getattr(torch, array.dtype.name))
    return torch.from_numpy(array)


def _name_of(model: Any) -> str:
    """A name for messages and the file: that of the function, or of the module's class."""
    torch = torch_package()
    name = getattr(model, "__name__", type(model).__name__)
    if isinstance(model, torch.export.ExportedProgram):
        name = type(model.graph_module).__name__
    return re.sub(r"\W+", "_", name).strip("_") or "main"


# -- the reference of a bisection ---------------------------------------------------------------


def trace_nodes(
    exported: Any, leaves: list[Any], buffers: Mapping[str, Any]
) -> list[tuple[str, Array]]:
    """The tensors of all calls, other than complex ones, by the paths of their nodes, in order.

    Of tensors of one call with the same shape it is not known what they become; they are left out.
    `leaves` are the arguments of the program without containers, `buffers` the values of those
    that it changes.
    """
    torch = torch_package()
    program = decompose(exported)
    found: list[tuple[str, Array]] = []

    interpreter: Any = torch.fx.Interpreter(program.graph_module)
    run_node = interpreter.run_node

    def run_and_note(node: Any) -> Any:
        result = run_node(node)
        if node.op == "call_function":
            tensors = [
                leaf
                for leaf in torch.utils._pytree.tree_leaves(result)
                # Complex ones are pairs in the program.
                if isinstance(leaf, torch.Tensor) and not leaf.is_complex()
            ]
            shapes = [leaf.shape for leaf in tensors]
            for leaf in tensors:
                if shapes.count(leaf.shape) == 1:
                    found.append((path_of(node), array_of_torch(torch, leaf.clone())))
        return result

    interpreter.run_node = run_and_note
    rest = iter(leaves)
    values: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind.name == "USER_INPUT":
            values.append(next(rest))
        elif spec.kind.name == "TOKEN":
            values.append(None)
        elif spec.target in buffers:
            values.append(buffers[spec.target])
        elif spec.target in program.state_dict:
            values.append(program.state_dict[spec.target])
        else:
            values.append(program.constants[spec.target])
    with torch.no_grad():
        interpreter.run(*values)
    return found
