"""The decorator, and the functions that it makes."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from functools import update_wrapper
from pathlib import Path
from typing import Any

from ttmlir.bridge.source_key import source_key
from ttmlir.files import safe_file_name, write_file
from ttmlir.metalium.errors import MetaliumError
from ttmlir.mlir.printing.module import print_module
from ttmlir.sim.errors import SimError
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.errors import place_error
from ttmlir.ttnn.operations.operation import OBSERVERS, common_device
from ttmlir.ttnn.types.enums import MathFidelity
from ttmlir.ttnn.types.memory import MemoryConfig
from ttmlir.ttnn_jit.arguments import Arguments, bind_arguments
from ttmlir.ttnn_jit.cache import JitCache
from ttmlir.ttnn_jit.compilation import CompileOptions, compile_module
from ttmlir.ttnn_jit.errors import CompilationError, PassManagerError, UnsupportedFunctionError
from ttmlir.ttnn_jit.execution import CompiledFunction
from ttmlir.ttnn_jit.recording import Recorder, record

OUTPUT_FOLDER = Path("generated", "jit")
"""Where `debug` and `compile_only` leave a folder for each function."""
FRONTENDS = ("ast", "graph_capture", "tracing")
FIDELITIES = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
_FAILURES = (UnsupportedFunctionError, CompilationError, PassManagerError)


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

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        options: CompileOptions,
        memory_config: MemoryConfig | None = None,
        compile_only: bool = False,
        debug: bool = False,
        fallback: bool = False,
        enable_cache: bool = True,
    ) -> None:
        """See `jit`."""
        update_wrapper(self, function)
        self._function = function
        self._options = options
        self._memory_config = memory_config
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
        if any(isinstance(each, Recorder) for each in OBSERVERS):
            # Another function that is compiled calls it: both become one.
            return self._function(*args, **kwargs)
        try:
            arguments = bind_arguments(self._function, args, kwargs)
            device = self._device_of(arguments)
            if self._compile_only:
                return self._compile(arguments, device)[0]
            compiled = self._find(arguments, device)
        except _FAILURES:
            if self._fallback:
                return self._function(*args, **kwargs)
            raise
        try:
            return compiled.run(device, arguments.tensors)
        except (SimError, MetaliumError, RuntimeError) as error:
            raise place_error(error, self._function.__name__) from None

    def compile(self, *args: Any, **kwargs: Any) -> CompiledFunction:
        """What is run for these arguments; it is compiled if it was not before."""
        arguments = bind_arguments(self._function, args, kwargs)
        return self._find(arguments, self._device_of(arguments))

    def _device_of(self, arguments: Arguments) -> MeshDevice:
        try:
            return common_device(*arguments.tensors)
        except RuntimeError as error:
            raise place_error(error, self._function.__name__) from None

    def _find(self, arguments: Arguments, device: MeshDevice) -> CompiledFunction:
        key: Hashable = (arguments.key, device.chip.name, source_key(self._function))
        found = None if self._cache is None else self._cache.get(key)
        if found is None:
            _, found = self._compile(arguments, device)
            if self._cache is not None:
                self._cache.put(key, found)
        return found

    def _compile(
        self, arguments: Arguments, device: MeshDevice
    ) -> tuple[JitModule, CompiledFunction]:
        name = self._function.__name__
        if self._debug:
            os.environ["TTRT_LOGGER_LEVEL"] = "DEBUG"
            os.environ["TTMLIR_RUNTIME_LOGGER_LEVEL"] = "TRACE"
        recording = record(
            self._function,
            [tensor.spec for tensor in arguments.tensors],
            device,
            lambda tensors: arguments.call(self._function, tensors),
            self._memory_config,
        )
        text = print_module(recording.module)
        self._show(f"{name}: recorded", text)
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
    max_grid: tuple[int, int] = (7, 7),
    debug: bool = False,
    compile_only: bool = False,
    enable_cache: bool = True,
    math_fidelity: MathFidelity | str = "HiFi4",
    memory_config: MemoryConfig | None = None,
    fallback: bool = False,
    extra_pipeline_options: str = "",
    graph_capture: bool = True,
    frontend: str = "tracing",
) -> Callable[[Callable[..., Any]], JitFunction]:
    """Make functions of ttnn run as kernels of their own.

    | Option | Meaning |
    |---|---|
    | `max_grid` | columns and rows of the cores that kernels may take, both less by one |
    | `debug` | print the IR after each step, and leave what is compiled in `generated/jit` |
    | `compile_only` | as `debug`; return the IR instead of running |
    | `enable_cache` | keep what was compiled, for `CAPACITY` kinds of arguments |
    | `math_fidelity` | how many passes the matrix unit makes over the bits of its operands |
    | `memory_config` | the memory of the results; without it that which ttnn gives them |
    | `fallback` | call the function itself if it cannot be compiled |
    | `extra_pipeline_options` | further options of `ttir-to-ttmetal-pipeline` |
    | `graph_capture`, `frontend` | how calls are found; they are recorded whatever is given |

    ValueError for options that cannot be.
    """
    if compile_only and fallback:
        raise ValueError("compile_only and fallback do not go together: nothing is run")
    if frontend not in FRONTENDS:
        raise ValueError(f"frontend is one of {', '.join(FRONTENDS)}, not {frontend!r}")
    if len(max_grid) != 2 or min(max_grid) < 0:
        raise ValueError(f"max_grid is two numbers from 0 on, not {max_grid!r}")
    fidelity = math_fidelity if isinstance(math_fidelity, str) else math_fidelity.name
    if fidelity not in FIDELITIES:
        known = ", ".join(FIDELITIES)
        raise ValueError(f"math_fidelity is one of {known}, not {math_fidelity!r}")
    options = CompileOptions(
        math_fidelity=fidelity, max_grid=max_grid, extra=extra_pipeline_options
    )

    def decorate(function: Callable[..., Any]) -> JitFunction:
        return JitFunction(
            function,
            options=options,
            memory_config=memory_config,
            compile_only=compile_only,
            debug=debug,
            fallback=fallback,
            enable_cache=enable_cache,
        )

    return decorate
