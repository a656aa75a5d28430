"""Kernels of Python as operations of a framework: the part that is the same for all of them.

A kernel is a function that builds a program. It is called with the tensors that it is for, as
`TensorArgument`s, and with constants, once for each set of shapes; tensors that it makes are
parameters, too, as in the kernel languages that people know, and results of the operation:

    def build_exp(x, y):
        ...
        return ProgramDescription(kernels=..., circular_buffers=...)

    kernel = NumPyKernel("exp", build_exp, grid=(4,))
    y = kernel(x, out_shape=x)
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType
from typing import (
    Any,
    NamedTuple,
    NoReturn,
    Protocol,
    SupportsIndex,
    TypeGuard,
    cast,
    runtime_checkable,
)

import numpy as np

from ttmlir.bridge.host_programs import TensorArgument
from ttmlir.errors import ArgumentError, NotSupportedError, plural
from ttmlir.program import (
    ELEMENT_TYPES,
    TARGET,
    CustomKernel,
    DescriptionError,
    KernelTensor,
    ProgramDescription,
    Shards,
    write_custom_kernel,
)
from ttmlir.runtime.generic import KernelRun, element_of, run_custom_kernel
from ttmlir.sim.errors import SimError

# --- Operation ------------------------------------------------------------------------------------
# Operations of PyKernel, as far as kernels of frameworks have to know them.


@runtime_checkable
class Operation(Protocol):
    """What `pykernel.PyKernelOp` is."""

    invoke: Callable[..., Any]

    def make_program(self, tensors: Sequence[Any], options: Mapping[str, Any]) -> Any:
        """The program for tensors of ttnn."""
        ...


def is_operation(function: object) -> TypeGuard[Operation]:
    """True for operations of PyKernel."""
    return isinstance(function, Operation)


# --- Shapes ---------------------------------------------------------------------------------------
# Outputs that are given by their shape instead of by a tensor.


@dataclass(frozen=True)
class ShapeDtype:
    """A tensor that is not there yet."""

    shape: tuple[int, ...]
    dtype: Any


def place_outputs(
    kernel: FrameworkKernel, args: Sequence[Any], kwargs: Mapping[str, Any], out_shape: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call with its outputs among them.

    `out_shape` is something with a shape and a dtype, or a sequence of such, for the outputs that
    are left out, in the order of the function's parameters.
    """
    if out_shape is None:
        return tuple(args), dict(kwargs)
    shapes = cast("Sequence[Any]", out_shape if _is_sequence(out_shape) else (out_shape,))
    placed = dict(kwargs)
    free = kernel.free_parameters(args, kwargs)
    if len(free) < len(shapes):
        raise ArgumentError(
            f"out_shape has {plural(len(shapes), 'shape')}, but '{kernel.func_name}' has "
            f"{plural(len(free), 'parameter')} left for them"
        )
    for name, each in zip(free, shapes, strict=False):
        placed[name] = ShapeDtype(tuple(each.shape), each.dtype)
    return tuple(args), placed


def _is_sequence(value: object) -> bool:
    return isinstance(value, list | tuple)


# --- Source key -----------------------------------------------------------------------------------
# What the program of a kernel's function depends on besides its arguments.

_CONSTANTS = (str, bytes, int, float)


def source_key(function: Callable[..., Any]) -> tuple[object, ...]:
    """A key that differs when the code of a function does, or what it finds around it.

    That are constants, such as the C++ of kernels, and other functions with theirs.
    """
    return tuple(_parts(function, set()))


def _parts(function: object, seen: set[object]) -> Iterator[object]:
    if not isinstance(function, FunctionType):
        yield function
        return
    code = function.__code__
    if code in seen:
        return
    seen.add(code)
    yield code
    yield function.__defaults__ and tuple(map(repr, function.__defaults__))
    for name, value in _found_around(function):
        if isinstance(value, _CONSTANTS):
            yield name, type(value), value
        elif isinstance(value, FunctionType):
            yield from _parts(value, seen)


def _found_around(function: FunctionType) -> Iterator[tuple[str, object]]:
    """The names that a function takes from its module and from functions around it."""
    around: Mapping[str, object] = function.__globals__
    for name in function.__code__.co_names:
        if name in around:
            yield name, around[name]
    cells = function.__closure__ or ()
    for name, cell in zip(function.__code__.co_freevars, cells, strict=True):
        try:
            yield name, cell.cell_contents
        except ValueError:
            # Not assigned yet.
            continue


# --- Framework ------------------------------------------------------------------------------------

Shape = tuple[int, ...]
Build = Callable[..., Any]
Memory = str | Shards
APIS = ("description", "ttnn", "metalium")
"""What the functions of kernels can be written with."""


class KernelConfiguration(NamedTuple):
    """What `dump_config` returns."""

    backend_config: str
    """The text of the kernel, for a custom call of `tt.kernel`."""
    inputs: list[str]
    """Names of the operands, in their order."""
    outputs: list[str]
    """Names of the results, in their order."""


@dataclass(frozen=True)
class BoundCall:
    """The arguments of a call by the parameters of the kernel's function."""

    tensors: tuple[tuple[str, Any], ...]
    """Names and values of the framework, operands before results."""
    constants: tuple[tuple[str, Any], ...]
    kernel: CustomKernel
    config: str

    @property
    def operands(self) -> list[Any]:
        """The tensors that the kernel reads."""
        return [value for _, value in self.tensors[: len(self.kernel.inputs)]]


class FrameworkKernel:
    """A kernel that a framework calls.

    Subclasses say what a tensor of the framework is: `translate_to_neuron_dtype`,
    `is_framework_tensor` and `map_framework_tensor`, the methods of Neuron's `nki.FrameworkKernel`.
    """

    target = TARGET
    """What custom calls name: who compiles them finds the kernel in their `backend_config`."""

    def __init__(
        self,
        func_name: str,
        func: Build,
        grid: int | Sequence[int] = (1,),
        *,
        outputs: Sequence[str] | None = None,
        layout: str | Mapping[str, str] = "tile",
        memory: Memory | Mapping[str, Memory] = "dram",
        api: str = "description",
        enable_cache: bool = True,
    ) -> None:
        """Take the function that builds the program, or an operation of PyKernel.

        `grid`, a number or extents, counts the programs that are launched, and is passed to the
        function if it has a parameter `grid`. `outputs` are the parameters that are made, the last
        tensor if it is not given. `layout` ('tile' or 'row_major') and `memory` ('dram', 'l1', or
        `Shards` of cores in l1) say how tensors lie, all alike or by name. `api` says what the
        function takes and returns: 'description' `TensorArgument`s and a `ProgramDescription`,
        'ttnn' its tensors and a `ProgramDescriptor`, 'metalium' its `Buffer`s and a `Program`.
        """
        if api not in APIS:
            raise ArgumentError(
                f"the api '{api}' is not supported; supported are {', '.join(APIS)}"
            )
        self.func_name = func_name
        self.func = func
        self.grid = (
            (grid.__index__(),)
            if isinstance(grid, SupportsIndex)
            else tuple(extent.__index__() for extent in grid)
        )
        if not self.grid or min(self.grid) < 1:
            raise ArgumentError(f"the grid {self.grid} has no programs; give extents of at least 1")
        self.enable_cache = enable_cache
        self.api = api
        self._outputs = None if outputs is None else tuple(outputs)
        self._layout, self._memory = layout, memory
        self._signature = inspect.signature(func.invoke if is_operation(func) else func)
        self._cache: dict[object, _Made] = {}
        if is_operation(func):
            self.api = "ttnn"
        self.last_run: KernelRun | None = None
        """What the last call that the simulator computed made and took."""

    # -- what a framework says ---------------------------------------------------------------------

    def translate_to_neuron_dtype(self, _dtype: Any) -> Any:
        """An element type of the framework as one of NumPy, or as a keyword such as `bf16`."""
        self._lacks("translate_to_neuron_dtype", "the NumPy dtype of a dtype of the framework")

    def is_framework_tensor(self, t: Any) -> bool:
        """True for what is a tensor; everything else is a constant."""
        self._lacks("is_framework_tensor", "whether a value is a tensor of the framework")

    def map_framework_tensor(self, t: Any) -> tuple[Sequence[int], Any]:
        """Shape and element type of a tensor, as the framework has them."""
        self._lacks("map_framework_tensor", "the shape and the dtype of a tensor")

    def _lacks(self, method: str, result: str) -> NoReturn:
        raise NotSupportedError(
            f"{type(self).__name__}.{method} is not implemented; a subclass of FrameworkKernel "
            f"defines it, and it returns {result}"
        )

    def free_parameters(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[str]:
        """The function's parameters without a default that a call leaves out."""
        try:
            bound = self._signature.bind_partial(*args, **kwargs)
        except TypeError as error:
            raise ArgumentError(f"'{self.func_name}': {error}") from error
        return [
            name
            for name, parameter in self._signature.parameters.items()
            if name not in bound.arguments
            and name != "grid"
            and parameter.default is parameter.empty
            and parameter.kind is not inspect.Parameter.VAR_POSITIONAL
        ]

    # -- configurations ----------------------------------------------------------------------------

    def dump_config(self, *args: Any, **kwargs: Any) -> KernelConfiguration:
        """The text of the kernel for these arguments, and the names of operands and results.

        ValueError for arguments that do not fit the function, or a program that cannot be.
        """
        call = self.bind(args, kwargs)
        return KernelConfiguration(
            call.config,
            [tensor.name for tensor in call.kernel.inputs],
            [tensor.name for tensor in call.kernel.outputs],
        )

    def bind(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> BoundCall:
        """The kernel for the arguments of a call, outputs among them."""
        named = self._named(args, kwargs)
        tensors = [(name, value) for name, value in named if self.is_framework_tensor(value)]
        constants = [(name, value) for name, value in named if not self.is_framework_tensor(value)]
        outputs = self._output_names([name for name, _ in tensors])
        ordered = [each for each in tensors if each[0] not in outputs]
        ordered += [each for each in tensors if each[0] in outputs]
        described = [
            self._describe(name, value, "out" if name in outputs else "in")
            for name, value in ordered
        ]
        kernel, config = self._kernel(described, constants)
        return BoundCall(tuple(ordered), tuple(constants), kernel, config)

    def specialize(self, tensors: Sequence[KernelTensor], config: str) -> CustomKernel:
        """The kernel for tensors in the order of the function's parameters, operands first.

        For `ttmlir.register_custom_call`.
        """
        names = [name for name in self._signature.parameters if name != "grid"]
        if len(names) < len(tensors):
            raise ArgumentError(
                f"'{self.func_name}' has {plural(len(names), 'parameter')} for "
                f"{plural(len(tensors), 'tensor')}"
            )
        described = [
            replace(each, name=name, **self._placement(name))
            for name, each in zip(names, tensors, strict=False)
        ]
        return self.build(described, ())

    def build(
        self, tensors: Sequence[KernelTensor], constants: Sequence[tuple[str, Any]]
    ) -> CustomKernel:
        """The kernel for tensors, operands first, and constants."""
        return self._kernel(tensors, constants)[0]

    def _named(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        free = self.free_parameters(args, kwargs)
        if free:
            raise ArgumentError(
                f"'{self.func_name}' needs '{free[0]}': give tensors that it makes as arguments, "
                "or out_shape"
            )
        bound = self._signature.bind_partial(*args, **kwargs)
        named: list[tuple[str, Any]] = []
        for name, value in bound.arguments.items():
            if self._signature.parameters[name].kind is inspect.Parameter.VAR_POSITIONAL:
                named += [(f"{name}_{index}", each) for index, each in enumerate(value)]
            else:
                named.append((name, value))
        return named

    def _output_names(self, tensors: Sequence[str]) -> Sequence[str]:
        if not tensors:
            raise ArgumentError(f"'{self.func_name}' was given no tensor")
        if self._outputs is None:
            return tensors[-1:]
        missing = [name for name in self._outputs if name not in tensors]
        if missing:
            raise ArgumentError(f"the output '{missing[0]}' of '{self.func_name}' is not given")
        return self._outputs

    def _describe(self, name: str, value: Any, role: str) -> KernelTensor:
        shape, dtype = self.map_framework_tensor(value)
        element = self.translate_to_neuron_dtype(dtype)
        return KernelTensor(
            name=name,
            role=role,
            shape=tuple(int(extent) for extent in shape),
            element=element if isinstance(element, str) else keyword_of_dtype(element),
            **self._placement(name),
        )

    def _placement(self, name: str) -> dict[str, Any]:
        """How a tensor lies: as was said for it, or for all, or tiled in DRAM."""
        layout, memory = self._layout, self._memory
        own = memory.get(name, "dram") if isinstance(memory, Mapping) else memory
        return {
            "layout": layout if isinstance(layout, str) else layout.get(name, "tile"),
            "memory": "l1" if isinstance(own, Shards) else own,
            "shards": own if isinstance(own, Shards) else None,
        }

    def _kernel(
        self, tensors: Sequence[KernelTensor], constants: Sequence[tuple[str, Any]]
    ) -> tuple[CustomKernel, str]:
        key = (
            (*tensors, *constants, self.grid, source_key(self.func)) if self.enable_cache else None
        )
        try:
            known = self._cache.get(key)
        except TypeError:
            # Constants such as lists are no keys; the program is built each time.
            key, known = None, None
        if known is None or not known.is_current():
            described = self._build(tensors, constants)
            # Files that are saved, and other processes, do not have the headers of this one.
            kernel = CustomKernel(
                name=self.func_name, tensors=tuple(tensors), program=_inline_headers(described)
            )
            known = _Made(kernel, write_custom_kernel(kernel), described)
            if key is not None:
                self._cache[key] = known
        return known.kernel, known.text

    def _build(
        self, tensors: Sequence[KernelTensor], constants: Sequence[tuple[str, Any]]
    ) -> ProgramDescription:
        if self.api != "description":
            from ttmlir.bridge.host_programs import describe_host_program

            return describe_host_program(
                self.api, self.func_name, tensors, lambda made: self._call(tensors, made, constants)
            )
        made = [TensorArgument(tensor, number) for number, tensor in enumerate(tensors)]
        program = self._call(tensors, made, constants)
        if not isinstance(program, ProgramDescription):
            raise DescriptionError(
                f"'{self.func_name}' returned a {type(program).__name__}; a kernel's function "
                "returns the ProgramDescription of its program, or with api='ttnn' a "
                "ProgramDescriptor, with api='metalium' a Program"
            )
        return program

    def _call(
        self,
        tensors: Sequence[KernelTensor],
        made: Sequence[Any],
        constants: Sequence[tuple[str, Any]],
    ) -> Any:
        """Call the function with `made` for the tensors, in the order of its parameters."""
        arguments: dict[str, Any] = dict(constants)
        arguments |= {tensor.name: each for tensor, each in zip(tensors, made, strict=True)}
        if "grid" in self._signature.parameters and "grid" not in arguments:
            arguments["grid"] = self.grid
        positional: list[Any] = []
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
                count = sum(key.startswith(f"{name}_") for key in arguments)
                positional = [arguments.pop(f"{name}_{index}") for index in range(count)]
        if is_operation(self.func):
            names = [tensor.name for tensor in tensors]
            ordered = [name for name in self._signature.parameters if name in names]
            positional += [arguments.pop(name) for name in ordered if name in arguments]
            return self.func.make_program(positional, arguments)
        return self.func(*positional, **arguments)


@dataclass(frozen=True)
class _Made:
    """A kernel as it was built."""

    kernel: CustomKernel
    text: str
    described: ProgramDescription
    """Its program before the headers were put into it."""

    def is_current(self) -> bool:
        """False if a kernel or a header was read from a file that has changed since."""
        for each in self.described.kernels:
            # Kernels in Python are in files, too, but their text is C++ made of them.
            if each.file and type(each.source) is str:
                try:
                    text = Path(each.file).read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError):
                    continue
                if text != each.source:
                    return False
        return _inline_headers(self.described) == self.kernel.program


def _inline_headers(program: ProgramDescription) -> ProgramDescription:
    from ttmlir.runtime.generic import inline_kernel_headers

    if not any("include" in each.source for each in program.kernels):
        return program
    try:
        return inline_kernel_headers(program)
    except SimError as error:
        raise DescriptionError(error.message) from error


def keyword_of_dtype(dtype: Any) -> str:
    """The keyword of a dtype of NumPy; ValueError for those that kernels do not take."""
    for keyword in ELEMENT_TYPES:
        if element_of(keyword).host == np.dtype(dtype):
            return keyword
    names = ", ".join(str(element_of(keyword).host) for keyword in ELEMENT_TYPES)
    raise ArgumentError(f"kernels take no tensors of {dtype}; supported are {names}")


# --- Numpy kernel ---------------------------------------------------------------------------------
# Kernels as functions of NumPy arrays, which the simulator computes.


class NumPyKernel(FrameworkKernel):
    """A kernel that takes and returns NumPy arrays."""

    def translate_to_neuron_dtype(self, _dtype: Any) -> str:
        """The keyword of a dtype."""
        return keyword_of_dtype(_dtype)

    def is_framework_tensor(self, t: Any) -> bool:
        """True for arrays, and for shapes of arrays."""
        return isinstance(t, np.ndarray | ShapeDtype)

    def map_framework_tensor(self, t: Any) -> tuple[Sequence[int], Any]:
        """Shape and dtype."""
        return t.shape, t.dtype

    def __call__(self, *args: Any, out_shape: Any = None, **kwargs: Any) -> Any:
        """What the kernel makes: an array, or a tuple of arrays if it makes several.

        Outputs are parameters of the kernel's function. They are given as arrays, which are not
        changed, or left out, and then `out_shape` gives something of their shape and dtype.
        """
        call = self.bind(*place_outputs(self, args, kwargs, out_shape))
        run = self.last_run = run_custom_kernel(call.kernel, call.operands)
        first, *others = run.outputs
        return run.outputs if others else first
