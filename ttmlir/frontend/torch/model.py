"""The frontend for torch: modules, functions of tensors and exported programs.

    imported = import_model(module, (x,), {})

The program is what `torch.export` makes of the module for the example arguments. Containers of
arguments and results are those of the module. Buffers that the module changes are kept in the
compiled model: a call reads their values and leaves the new ones for the next call.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, cast

import ml_dtypes
import numpy as np

from ttmlir.frontend.compiled import ImportedModel, narrow
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.signature import structure_of_torch
from ttmlir.frontend.torch.elements import torch_package
from ttmlir.frontend.torch.exporting import TAKES_SEED, export, take_seed
from ttmlir.frontend.torch.program import ImportedProgram, Weights, import_program
from ttmlir.frontend.torch.random.seeding import SEED, create_seed
from ttmlir.runtime.element import Array
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.session import array_of_torch
from ttmlir.runtime.signature import CallSignature


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
    torch = torch_package()
    # What torch.compile returns holds the module that it is about.
    model = getattr(model, "_orig_mod", model)
    name = _name_of(model)
    if isinstance(model, torch.export.ExportedProgram):
        if args or kwargs:
            raise TypeError(
                "an exported program of torch knows its arguments: ttmlir.compile takes no "
                "examples with it"
            )
        example: Any = model.example_inputs
        with in_terms_of_the_user(name):
            exported = take_seed(model, model, *example) if example else model
    else:
        with in_terms_of_the_user(name):
            exported = export(model, args, kwargs)
    with in_terms_of_the_user(name):
        program = import_program(exported, weights=weights)
    return _Door(name, exported, program).imported()


class _Door:
    """Between the values of torch and the arrays of one program."""

    def __init__(self, name: str, exported: Any, program: ImportedProgram) -> None:
        self._name = name
        self._exported = exported
        self._program = program
        passed_on = [tensor for _, tensor in (*program.weights, *program.state)]
        # The state is replaced after each call.
        self._bound: dict[int, Array] = {
            index: array_of(tensor) for index, tensor in enumerate(passed_on)
        }
        self._state = range(len(program.weights), len(passed_on))
        self._last_state: list[Array] = []
        self._takes_seed = bool(exported.graph_module.meta.get(TAKES_SEED))
        self._last_seed: Any = None

    def imported(self) -> ImportedModel:
        """What a compiled model is made of."""
        program = self._program
        return ImportedModel(
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
            warnings=narrow(program.module),
        )

    @property
    def _input_names(self) -> list[str]:
        return [name for name, meta in self._program.inputs if hasattr(meta, "shape")]

    def _signature(self) -> CallSignature:
        program = self._program
        kept = [name for name, _ in (*program.weights, *program.state)]
        metas = iter([meta for _, meta in program.inputs])
        return CallSignature(
            name=self._name,
            input_names=(*kept, *self._input_names),
            framework="torch",
            arguments=structure_of_torch(program.in_spec, metas),
            results=structure_of_torch(program.out_spec, iter(program.outputs)),
            bound=tuple(range(len(kept))),
            state=len(program.state),
            parameters=self._parameters(),
        )

    def _parameters(self) -> tuple[tuple[str, int], ...]:
        """What the model learns; what modules share counts once, under its first name."""
        first: dict[int, tuple[str, int]] = {}
        for name in self._exported.graph_signature.inputs_to_parameters.values():
            tensor = self._exported.state_dict[name]
            first.setdefault(id(tensor), (name, tensor.numel()))
        return tuple(first.values())

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """The arrays of a call."""
        pytree: Any = torch_package().utils._pytree
        spec = self._program.in_spec
        if self._takes_seed:
            self._last_seed = create_seed(kwargs.get(SEED))
            kwargs = {**kwargs, SEED: self._last_seed}
        leaves, given = pytree.tree_flatten((args, _in_order(kwargs, spec)))
        if given != spec:
            raise InputError(
                f"'{self._name}' was compiled for arguments of another structure: {given} instead "
                f"of {spec}"
            )
        arrays: list[Array] = []
        for leaf, (name, meta) in zip(leaves, self._program.inputs, strict=True):
            if hasattr(meta, "shape"):
                arrays.append(self._array(name, leaf))
            elif leaf != meta:
                raise InputError(
                    f"'{self._name}' was compiled for {name} = {meta!r}, not {leaf!r}; call "
                    "ttmlir.compile again with this value"
                )
        return arrays

    def _array(self, name: str, leaf: Any) -> Array:
        if isinstance(leaf, torch_package().Tensor):
            return array_of(leaf)
        if isinstance(leaf, np.ndarray):
            return cast("Array", leaf)
        raise InputError(
            f"'{self._name}' takes a tensor as {name}, not {leaf!r} of type {type(leaf).__name__}"
        )

    def unflatten(self, results: Sequence[Array]) -> Any:
        """What a call returns; new values of buffers are kept."""
        program = self._program
        self._last_state = list(results[: len(self._state)])
        self._bound.update(zip(self._state, self._last_state, strict=True))
        tensors = iter(results[len(self._state) :])
        leaves = [
            tensor_of(next(tensors)) if hasattr(output, "shape") else output
            for output in program.outputs
        ]
        return torch_package().utils._pytree.tree_unflatten(leaves, program.out_spec)

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What torch computes; buffers begin as in the next call, and the module's stay.

        Random numbers are those of the seed that is given, or else of the last call.
        """
        torch = torch_package()
        if self._takes_seed:
            last = kwargs.get(SEED, self._last_seed)
            kwargs = {**kwargs, SEED: create_seed(last)}
        # Not the model: what it computes may depend on more than its arguments.
        function = self._exported.module()
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if not self._state:
                return function(*args, **kwargs)
            buffers = {
                name: tensor_of(self._bound[index]).clone()
                for index, (name, _) in zip(self._state, self._program.state, strict=True)
            }
            result = torch.func.functional_call(function, buffers, args, kwargs)
            self._last_state = [array_of(buffer) for buffer in buffers.values()]
            return result

    def trace(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Array]]:
        """What torch computes at each node of the program."""
        from ttmlir.frontend.torch.tracing import trace_nodes

        self.flatten(args, kwargs)
        if self._takes_seed:
            kwargs = {**kwargs, SEED: self._last_seed}
        pytree: Any = torch_package().utils._pytree
        leaves = pytree.tree_leaves((args, _in_order(kwargs, self._program.in_spec)))
        buffers = {
            name: tensor_of(self._bound[index]).clone()
            for index, (name, _) in zip(self._state, self._program.state, strict=True)
        }
        return trace_nodes(self._exported, leaves, buffers)

    def flatten_results(self, results: Any) -> list[Array]:
        """The arrays of the last call's results: changed buffers, and tensors that it returned."""
        pytree: Any = torch_package().utils._pytree
        tensor = torch_package().Tensor
        leaves = [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, tensor)]
        return [*self._last_state, *map(array_of, leaves)]


def _in_order(kwargs: Mapping[str, Any], spec: Any) -> dict[str, Any]:
    """Keyword arguments in the order of the example's."""
    known: list[str] = list(spec.child(1).context or ())
    ordered = {name: kwargs[name] for name in known if name in kwargs}
    return {**ordered, **kwargs}


def array_of(tensor: Any) -> Array:
    """The numbers of a torch tensor as an array that shares its memory where possible."""
    return array_of_torch(torch_package(), tensor)


def tensor_of(array: Array) -> Any:
    """A torch tensor that shares the memory of an array where possible."""
    torch = torch_package()
    array = np.require(array, requirements=["C", "W"])
    if array.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(array)


def _name_of(model: Any) -> str:
    """A name for messages and the file: that of the function, or of the module's class."""
    torch = torch_package()
    name = getattr(model, "__name__", type(model).__name__)
    if isinstance(model, torch.export.ExportedProgram):
        name = type(model.graph_module).__name__
    return re.sub(r"\W+", "_", name).strip("_") or "main"
