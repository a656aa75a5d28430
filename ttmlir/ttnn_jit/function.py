"""The decorator, and the functions that it makes."""

from __future__ import annotations

import inspect
import linecache
import os
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property, update_wrapper
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ttmlir.bridge.framework import source_key
from ttmlir.compiler import transform, write_ttnn
from ttmlir.dialects import tt
from ttmlir.dialects.definition.ods import SYSTEM_DESC
from ttmlir.errors import ArgumentError, CompilationError, Error
from ttmlir.files import safe_file_name, write_file
from ttmlir.metalium.host_api import EnqueueProgram
from ttmlir.mlir.module_printer import print_module
from ttmlir.mlir.option_values import OptionError
from ttmlir.mlir.reporting import DiagnosticError, Source, file_line_col, render_all
from ttmlir.passes.core.manager import PipelineError
from ttmlir.program import ProgramDescription
from ttmlir.runtime.binary import Operation
from ttmlir.runtime.generic import TABLE as GENERIC
from ttmlir.runtime.generic import create_sim_program, read_program
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.system_desc import find_system
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.errors import locate_error
from ttmlir.ttnn.operations.meshes.calls import MeshCall, pick_part
from ttmlir.ttnn.operations.operation import OBSERVERS, common_device, remember_program
from ttmlir.ttnn.operations.signature import fits
from ttmlir.ttnn.registry import find_operation
from ttmlir.ttnn.tensor.tensor import Tensor, round_to
from ttmlir.ttnn.types.enums import MathFidelity
from ttmlir.ttnn.types.memory import MemoryConfig
from ttmlir.ttnn_jit.errors import JitError, PassManagerError
from ttmlir.ttnn_jit.recording import Recorder, record, spec_of

# --- Arguments ------------------------------------------------------------------------------------
# The arguments of a call: its tensors, and what tells it apart from other calls.


@dataclass(frozen=True)
class Arguments:
    """What a function is called with."""

    signature: inspect.BoundArguments
    tensors: tuple[Tensor, ...]
    """All tensors in their order, those in lists, tuples and dictionaries too."""
    key: Hashable
    """The same for calls of equal structure, specifications and numbers, wherever tensors are."""

    @property
    def names(self) -> list[str]:
        """The names of the tensors, if each is an argument of its own."""
        named = self.signature.arguments.items()
        found = [name for name, value in named if isinstance(value, Tensor)]
        return found if len(found) == len(self.tensors) else []

    def call(self, function: Callable[..., Any], tensors: Sequence[Tensor]) -> Any:
        """Call the function with other tensors in place of these."""
        remaining = iter(tensors)
        bound = self.signature
        args = [_replace(each, remaining) for each in bound.args]
        kwargs = {name: _replace(each, remaining) for name, each in bound.kwargs.items()}
        return function(*args, **kwargs)


def bind_arguments(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Arguments:
    """The arguments of a call; TypeError for those that the function does not take.

    JitError without tensors, and for values that cannot be compared.
    """
    bound = inspect.signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    tensors: list[Tensor] = []
    key = _key_of((bound.args, bound.kwargs), tensors)
    if not tensors:
        raise JitError(
            f"{function.__name__} is called without a tensor; a function that is compiled takes "
            "its device from the first one"
        )
    return Arguments(bound, tuple(tensors), key)


def _key_of(value: Any, tensors: list[Tensor]) -> Hashable:
    match value:
        case Tensor():
            if value.is_sharded() and value.memory_config().shard_spec is None:
                # Kernels take blocks of rows and columns: shards of more dimensions move first.
                value = find_operation("to_memory_config")(value, MemoryConfig())
            tensors.append(value)
            return ("tensor", value.spec)
        case float():
            # Equal numbers that behave differently are different: -0.0, nan, 1 and 1.0.
            return (float, value.hex())
        case list() | tuple():
            entries = cast("Sequence[Any]", value)
            return (type(entries), tuple(_key_of(each, tensors) for each in entries))
        case dict():
            named = cast("dict[Any, Any]", value)
            return (dict, tuple((name, _key_of(each, tensors)) for name, each in named.items()))
        case _:
            try:
                hash(value)
            except TypeError:
                raise JitError(
                    f"an argument of type {type(value).__name__} cannot be a part of the key that "
                    "finds what was compiled before; give numbers, or tensors of ttnn"
                ) from None
            return (cast("type[Any]", type(value)), value)


def _replace(value: Any, tensors: Any) -> Any:
    match value:
        case Tensor():
            return next(tensors)
        case list() | tuple():
            entries = [_replace(each, tensors) for each in cast("Sequence[Any]", value)]
            return entries if isinstance(value, list) else tuple(entries)
        case dict():
            named = cast("dict[Any, Any]", value)
            return {name: _replace(each, tensors) for name, each in named.items()}
        case _:
            return value


# --- Compilation ----------------------------------------------------------------------------------
# From a recorded function to a file that runs.

_STEPS = ("convert-ttnn-to-ttir", "ttir-to-ttmetal-pipeline")


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """What the pipeline is told."""

    math_fidelity: str
    max_grid: tuple[int, int]
    """Columns and rows of cores, both less by one."""
    extra: str
    """Further options of the pipeline, as on the command line."""

    def pipeline_options(self, grid: tuple[int, int], mode: str) -> str:
        """The options of `ttir-to-ttmetal-pipeline` on so many rows and columns of cores."""
        options = [f"{mode}=true"]
        if self.math_fidelity != "HiFi4":
            options.append(f"set-math-fidelity={self.math_fidelity.lower()}")
        columns, rows = (extent + 1 for extent in self.max_grid)
        if rows < grid[0] or columns < grid[1]:
            options.append(f"override-device-shape={min(rows, grid[0])},{min(columns, grid[1])}")
        return " ".join([*options, *([self.extra] if self.extra else ())])


def compile_module(
    module: ModuleOp,
    board_name: str,
    options: CompileOptions,
    show: Callable[[str, str], None],
) -> bytes:
    """The `.ttnn` file of a recorded module, which is changed.

    SYSTEM_DESC_PATH in the environment names another system than the board's. `show` gets the IR
    after each step, with the step's name. PassManagerError for what a pass refuses, InputError for
    a system that there is not.
    """
    system = find_system(os.environ.get("SYSTEM_DESC_PATH") or board_name)
    module.attributes[SYSTEM_DESC] = tt.SystemDescAttr(system)
    pipeline_options = options.pipeline_options(system.chip(0).grid, "ttnn-mode")
    convert, lower = _STEPS
    try:
        for name, pipeline in (
            (convert, convert),
            (lower, f"{lower}{{{pipeline_options}}}"),
        ):
            transform(module, pipeline)
            show(name, print_module(module))
        return write_ttnn(module)
    except DiagnosticError as error:
        raise PassManagerError(_quote(error)) from error
    except (OptionError, PipelineError) as error:
        raise PassManagerError(str(error)) from error


def _quote(error: DiagnosticError) -> str:
    """The messages with the user's lines."""
    places = [file_line_col(each.location) for each in error.diagnostics]
    sources = {
        place.file: Source("".join(linecache.getlines(place.file)))
        for place in places
        if place is not None
    }
    short = (diagnostic.without_operation() for diagnostic in error.diagnostics)
    return render_all(short, sources).rstrip("\n")


# --- Execution ------------------------------------------------------------------------------------
# Runs compiled functions on the tensors of a device.
#
# What is run is the compiled file: its programs of kernels on the buffers that the tensors have in
# this call, and between them moves that kernels do not do.

_MOVES = {"ToLayoutOp": "in", "ToMemoryConfigOp": "in0"}
"""Operations that move a tensor, and their operand."""
_NOTHING = ("GetDeviceOp", "DeallocateOp", "DeallocOp")


class CompiledFunction:
    """A compiled function: the file, and what was made of it."""

    def __init__(self, data: bytes, name: str, returns: type[Any]) -> None:
        """`returns` is `Tensor`, or the kind of sequence of tensors that the function returns."""
        self.data = data
        self.binary = read_binary(data, name)
        self._program = self.binary.program(0)
        self._returns = returns

    @cached_property
    def descriptions(self) -> dict[int, ProgramDescription]:
        """The programs of kernels, by the numbers of their operations.

        They name tensors by their numbers; addresses are those of each call.
        """
        return {
            each.index: read_program(each.table_field("program"), each.where)
            for each in self._program.operations
            if each.table == GENERIC
        }

    @property
    def num_kernel_launches(self) -> int:
        """How many programs of kernels a call runs."""
        return len(self.descriptions)

    def kernels(self) -> dict[str, str]:
        """The C++ of the kernels by name."""
        return {
            kernel.name: kernel.source
            for description in self.descriptions.values()
            for kernel in description.kernels
        }

    def run(self, device: MeshDevice, inputs: Sequence[Tensor]) -> Any:
        """What the function returns for tensors on a device."""
        values: dict[int, Tensor] = {
            ref.global_id: tensor for ref, tensor in zip(self._program.inputs, inputs, strict=True)
        }
        for operation in self._program.operations:
            self._run_operation(operation, device, values)
        results = [values[ref.global_id] for ref in self._program.outputs]
        return results[0] if self._returns is Tensor else self._returns(results)

    def _run_operation(
        self, operation: Operation, device: MeshDevice, values: dict[int, Tensor]
    ) -> None:
        if operation.table == GENERIC:
            self._run_kernels(operation, device, values)
        elif operation.table in _MOVES:
            source = values[operation.tensor(_MOVES[operation.table]).global_id]
            out = operation.tensor("out")
            spec = spec_of(out.desc)
            numbers = round_to(source.array, spec.dtype)
            values[out.global_id] = Tensor.on(device, spec, numbers)
        elif operation.table == "EmptyOp":
            out = operation.tensor("out")
            values[out.global_id] = Tensor.on(device, spec_of(out.desc), None)
        elif operation.table == "FullOp":
            out = operation.tensor("out")
            spec = spec_of(out.desc)
            values[out.global_id] = find_operation("full")(
                spec.shape,
                operation.scalar("fill_value"),
                spec.dtype,
                spec.layout,
                device,
                spec.memory_config,
            )
        elif operation.table == "ConstantOp":
            out = operation.tensor("out")
            spec = spec_of(out.desc)
            assert out.constant is not None, "constants have elements"
            numbers = round_to(np.asarray(out.constant).reshape(tuple(spec.shape)), spec.dtype)
            values[out.global_id] = Tensor.on(device, spec, numbers)
        elif operation.table not in _NOTHING:
            raise AssertionError(f"{operation.where}: kernels stand for all that computes")

    def _run_kernels(
        self, operation: Operation, device: MeshDevice, values: dict[int, Tensor]
    ) -> None:
        tensors = [values[ref.global_id] for ref in operation.tensors("io_tensors")]
        buffers = [tensor.device_storage().buffer for tensor in tensors]
        program = create_sim_program(self.descriptions[operation.index], buffers)
        EnqueueProgram(device.command_queue(), program)
        remember_program(device, ("ttnn_jit", id(self), operation.index))


# --- Cache ----------------------------------------------------------------------------------------
# What was compiled before, by what it was compiled for.

CAPACITY = 64
"""Entries of a cache; the one that was not used for the longest time makes room."""


class JitCache:
    """The compiled forms of one function."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        """Begin without entries."""
        self._capacity = capacity
        self._entries: OrderedDict[Hashable, CompiledFunction] = OrderedDict()

    def __len__(self) -> int:
        """How many entries there are."""
        return len(self._entries)

    def get(self, key: Hashable) -> CompiledFunction | None:
        """What was compiled for a key; None if nothing was."""
        entry = self._entries.get(key)
        if entry is not None:
            self._entries.move_to_end(key)
        return entry

    def put(self, key: Hashable, entry: CompiledFunction) -> None:
        """Keep what was compiled."""
        self._entries[key] = entry
        if len(self._entries) > self._capacity:
            self._entries.popitem(last=False)


# --- Function -------------------------------------------------------------------------------------

OUTPUT_FOLDER = Path("generated", "jit")
"""Where `debug` and `compile_only` leave a folder for each function."""
FRONTENDS = ("ast", "graph_capture", "tracing")
BACKENDS = ("ttnn", "metal")
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")


class MaxGrid(NamedTuple):
    """Columns and rows of cores, both less by one."""

    columns: int
    rows: int


WHOLE_GRID = MaxGrid(7, 7)
"""The `max_grid` of a function that is decorated without one.

Programs that give one are of 2025, when results had the memory that ttnn gives them.
"""


class JitModule:
    """The IR of a function; `str` is its text."""

    def __init__(self, text: str) -> None:
        """Keep the text."""
        self._text = text

    def __str__(self) -> str:
        """The text."""
        return self._text


class JitFunction:
    """A function of ttnn that runs as kernels of its own.

    The first call with tensors of some specifications compiles it; later ones run what was
    compiled, on the tensors of the call.
    """

    func: Callable[..., Any]
    """The function itself, as it was written."""
    fallback_used: bool
    """Whether the last call ran `func` because it could not be compiled."""

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        options: CompileOptions,
        memory_config: MemoryConfig | None = None,
        shards_results: bool = False,
        compile_only: bool = False,
        debug: bool = False,
        fallback: bool = False,
        enable_cache: bool = True,
    ) -> None:
        """See `jit`."""
        update_wrapper(self, function)
        self.func = function
        self.fallback_used = False
        self._options = options
        self._memory_config = memory_config
        self._shards_results = shards_results
        self._compile_only = compile_only
        self._debug = debug or compile_only
        self._fallback = fallback
        self._cache = JitCache() if enable_cache else None

    @property
    def num_entries(self) -> int:
        """How many compiled forms are kept; AssertionError without a cache."""
        assert self._cache is not None, "the cache is not enabled; give jit enable_cache=True"
        return len(self._cache)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compile the function for its arguments, unless it was before, and run it."""
        if any(isinstance(each, Recorder) for each in OBSERVERS.current):
            # Another function that is compiled calls it: both become one.
            return self.func(*args, **kwargs)
        self.fallback_used = False
        try:
            arguments = bind_arguments(self.func, args, kwargs)
            device = self._device_of(arguments)
            if self._compile_only:
                return self._compile(arguments, device)[0]
            compiled = self._find(arguments, device)
        except CompilationError:
            if self._fallback:
                self.fallback_used = True
                return self.func(*args, **kwargs)
            raise
        try:
            return self._run(compiled, device, arguments.tensors)
        except Error as error:
            raise locate_error(error, self.func.__name__) from error

    @staticmethod
    def _run(compiled: CompiledFunction, device: MeshDevice, tensors: Sequence[Tensor]) -> Any:
        """What the function returns, computed on each device with the parts that it has."""
        call = MeshCall.of(tuple(tensors), {})
        if call is None:
            return compiled.run(device, tensors)
        return call.join(
            [
                compiled.run(unit, [pick_part(each, index) for each in tensors])
                for index, unit in enumerate(device.units)
            ]
        )

    def compile(self, *args: Any, **kwargs: Any) -> CompiledFunction:
        """What is run for these arguments; it is compiled if it was not before."""
        arguments = bind_arguments(self.func, args, kwargs)
        return self._find(arguments, self._device_of(arguments))

    def save(self, path: str | Path, *args: Any, **kwargs: Any) -> Path:
        """Write a script that runs the kernels on a card; returns its path.

        They are those for these arguments and the chip of their device. Beside the script stand the
        numbers of the tensors, and what ttnn computes from them call by call, which `--check`
        compares with.
        """
        from ttmlir.ttnn_jit.script import write_function_script

        arguments = bind_arguments(self.func, args, kwargs)
        device = self._device_of(arguments)
        if device.is_several:
            wrong = ArgumentError(
                "a script is for one device; give the parts of one, "
                "ttnn.get_device_tensors(tensor)[0]"
            )
            raise locate_error(wrong, self.func.__name__)
        specs = [tensor.spec for tensor in arguments.tensors]
        recording = record(
            self.func, specs, device, lambda tensors: arguments.call(self.func, tensors)
        )
        results = self.func(*args, **kwargs)
        found = [results] if isinstance(results, Tensor) else [*results]
        inputs, outputs = (
            [each.array for each in tensors] for tensors in (arguments.tensors, found)
        )
        name = os.environ.get("SYSTEM_DESC_PATH") or device.chip.name
        grid = find_system(name).chip(0).grid
        options = self._options.pipeline_options(grid, "translate-coordinates")
        options = f"system-desc-path={name} {options}"
        try:
            names = arguments.names
            return write_function_script(recording.module, path, options, names, inputs, outputs)
        except DiagnosticError as error:
            raise PassManagerError(_quote(error)) from error

    def _device_of(self, arguments: Arguments) -> MeshDevice:
        try:
            return common_device(*arguments.tensors)
        except Error as error:
            raise locate_error(error, self.func.__name__) from error

    def _find(self, arguments: Arguments, device: MeshDevice) -> CompiledFunction:
        count = len(device.units)
        key: Hashable = (arguments.key, device.chip.name, count, source_key(self.func))
        found = None if self._cache is None else self._cache.get(key)
        if found is None:
            _, found = self._compile(arguments, device)
            if self._cache is not None:
                self._cache.put(key, found)
        return found

    def _compile(
        self, arguments: Arguments, device: MeshDevice
    ) -> tuple[JitModule, CompiledFunction]:
        name = self.func.__name__
        if self._debug:
            os.environ["TTRT_LOGGER_LEVEL"] = "DEBUG"
            os.environ["TTMLIR_RUNTIME_LOGGER_LEVEL"] = "TRACE"
        recording = record(
            self.func,
            [tensor.spec for tensor in arguments.tensors],
            device.units[0],
            lambda tensors: arguments.call(self.func, tensors),
            self._memory_config,
            len(device.units),
        )
        text = print_module(recording.module)
        self._show(f"{name}: recorded", text)
        if self._shards_results:
            recording.shard_results(device)
        data = compile_module(recording.module, device.chip.name, self._options, self._show)
        compiled = CompiledFunction(data, f"{name}.ttnn", recording.returns)
        if self._debug:
            self._write(name, text, compiled)
        return JitModule(text), compiled

    def _show(self, step: str, text: str) -> None:
        if self._debug:
            print(f"// {step}\n{text}")

    def _write(self, name: str, text: str, compiled: CompiledFunction) -> None:
        """Leave the IR, the kernels and the file in the output folder."""
        safe = safe_file_name(name)
        folder = OUTPUT_FOLDER / safe
        folder.mkdir(parents=True, exist_ok=True)
        write_file(folder / f"{safe}.mlir", text.encode())
        write_file(folder / f"{safe}.ttnn", compiled.data)
        for kernel, source in compiled.kernels().items():
            write_file(folder / f"{safe_file_name(kernel)}.cpp", source.encode())


def jit(
    *,
    max_grid: tuple[int, int] = WHOLE_GRID,
    debug: bool = False,
    compile_only: bool = False,
    enable_cache: bool = True,
    math_fidelity: MathFidelity | str = "HiFi4",
    memory_config: MemoryConfig | None = None,
    fallback: bool = False,
    extra_pipeline_options: str = "",
    graph_capture: bool = True,
    frontend: str = "tracing",
    backend: str = "ttnn",
) -> Callable[[Callable[..., Any]], JitFunction]:
    """Make functions of ttnn run as kernels of their own.

    | Option | Meaning |
    |---|---|
    | `max_grid` | columns and rows of the cores that kernels may take, both less by one |
    | `debug` | print the IR after each step, and leave what is compiled in `generated/jit` |
    | `compile_only` | as `debug`; return the IR instead of running |
    | `enable_cache` | keep what was compiled, for `CAPACITY` kinds of arguments |
    | `math_fidelity` | how many passes the matrix unit makes over the bits of its operands |
    | `memory_config` | the memory of the results; else blocks in L1 on as many cores as they have
    whole tiles for, or, with `max_grid`, the memory that ttnn gives them |
    | `fallback` | call the function itself if it cannot be compiled |
    | `extra_pipeline_options` | further options of `ttir-to-ttmetal-pipeline` |
    | `graph_capture`, `frontend` | how calls are found; they are recorded whatever is given |
    | `backend` | accepted: kernels run as programs of ttnn whatever is given |

    ValueError for options that cannot be.
    """
    if compile_only and fallback:
        raise ArgumentError("compile_only and fallback do not go together: nothing is run")
    if frontend not in FRONTENDS:
        raise ArgumentError(f"frontend is one of {', '.join(FRONTENDS)}, not {frontend!r}")
    if backend not in BACKENDS:
        raise ArgumentError(f"backend is one of {', '.join(BACKENDS)}, not {backend!r}")
    if not fits(max_grid, tuple[int, int]) or min(max_grid) < 0:
        raise ArgumentError(f"max_grid is two numbers from 0 on, not {max_grid!r}")
    fidelity = math_fidelity if isinstance(math_fidelity, str) else math_fidelity.name
    if fidelity not in FIDELITIES:
        known = ", ".join(FIDELITIES)
        raise ArgumentError(f"math_fidelity is one of {known}, not {math_fidelity!r}")
    options = CompileOptions(
        math_fidelity=fidelity, max_grid=max_grid, extra=extra_pipeline_options
    )

    def decorate(function: Callable[..., Any]) -> JitFunction:
        return JitFunction(
            function,
            options=options,
            memory_config=memory_config,
            shards_results=memory_config is None and max_grid is WHOLE_GRID,
            compile_only=compile_only,
            debug=debug,
            fallback=fallback,
            enable_cache=enable_cache,
        )

    return decorate
