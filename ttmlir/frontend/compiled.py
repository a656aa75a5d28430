"""Compiled models: what every frontend returns, and what a frontend hands over to make one.

A frontend reads a program of its framework into an `ImportedModel`: a module in the dialect of the
frontend, and two functions between the framework's values and arrays in the order of the module's
function. `CompiledModel` lowers the module, keeps the binary, and runs it with NumPy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ttmlir.compiler import transform
from ttmlir.files import write_file
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.targets import TargetName, find_target
from ttmlir.mlir.attributes.resources import cloned
from ttmlir.runtime.binary import Binary, BinaryProgram
from ttmlir.runtime.device import Device, open_device
from ttmlir.runtime.element import Array, Numerics
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit
from ttmlir.runtime.system import find_system
from ttmlir.runtime.tensor import Tensor, TensorDesc

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.cost import Estimate
    from ttmlir.frontend.model_profile import ModelProfile
    from ttmlir.mlir.reporting.diagnostics import Source

NumericsName = Literal["exact", "device"]
CallArguments = tuple[tuple[Any, ...], dict[str, Any]]
"""Arguments by position and by name."""

MANY = 4
"""A model shows as many inputs and outputs when it is printed."""

TO_TTIR = {
    "stablehlo": "stablehlo-to-ttir-pipeline",
    # One road takes these four in any mixture.
    **dict.fromkeys(("tosa", "linalg", "arith", "math"), "tosa-to-ttir-pipeline"),
    "ttir": "",
}
"""The passes from each dialect of the frontends to ttir."""


@dataclass(frozen=True, kw_only=True)
class ImportedModel:
    """A program as a frontend hands it over.

    `module` has one public function, which takes the arrays that `flatten` returns and those in
    `bound`, and returns the arrays that `unflatten` takes.
    """

    name: str
    """The name of the program in messages and in the file."""
    module: ModuleOp
    stage: str
    """The dialect of the module, one of `TO_TTIR`."""
    input_names: Sequence[str]
    """The user's names for the arrays of `flatten`, such as `params['w']`."""
    flatten: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Array]]
    """From the arguments of a call to arrays; raises InputError for another structure."""
    unflatten: Callable[[Sequence[Array]], Any]
    """From results to what a call returns."""
    reference: Callable[..., Any] | None = None
    """The program in its framework, called with the same arguments; returns the same structure."""
    flatten_results: Callable[[Any], Sequence[Array]] | None = None
    """From what a call or `reference` returns to arrays; undoes `unflatten`.

    None if the function returns more than a call does, such as new values of state.
    """
    bound: Mapping[int, Array] = field(default_factory=dict[int, Array])
    """Arguments of the function that a call does not pass, by index: weights kept outside."""
    warnings: Sequence[str] = ()
    """What the user should know about a program that is not refused."""
    texts: Mapping[str, Source] = field(default_factory=dict[str, "Source"])
    """Texts that the module's locations are in, if not in files; messages quote them."""
    first_column: int = 1
    """The number of the first column of a line in the module's locations in files."""


def narrow(module: ModuleOp) -> list[str]:
    """The warning about values of f64, if a module has any."""
    from ttmlir.dialects.definition import narrowing

    warning = narrowing.narrow(module)
    return [] if warning is None else [warning.message]


class CompiledModel:
    """A model compiled for one set of shapes and element types.

    Calling it runs the program, with NumPy or on the simulator, and returns arrays of the framework
    that it came from:

        compiled = ttmlir.compile(function, x)
        y = compiled(x)
        y = compiled(x, numerics="device")   # rounded as the device would
        compiled.save("model.ttnn")
        print(compiled.text("ttir"))
    """

    def __init__(
        self,
        imported: ImportedModel,
        *,
        numerics: NumericsName = "exact",
        target: TargetName = "ttnn",
        options: str = "",
        board: str | None = None,
        examples: CallArguments | None = None,
    ) -> None:
        """Lower an imported model; raises CompilationError for what is not supported.

        `options` are those of the target's pipeline, such as "enable-grid-set=false" of
        `ttir-to-ttnn-backend-pipeline`. `board` is a board's name or a `.ttsys` file. `examples`
        are arguments of a call, which `save(golden=True)` uses.
        """
        self._imported = imported
        self._examples = examples
        self._target = find_target(target)
        self._options = options if board is None else _for_board(board, options)
        self.numerics: NumericsName = _checked_numerics(numerics)
        start = time.perf_counter()
        module = cloned(imported.module)
        with in_terms_of_the_user(
            imported.name, imported.texts, first_column=imported.first_column
        ):
            transform(module, TO_TTIR[imported.stage])
            self._target.lower(module, self._options)
            self._bytes = self._target.write(module)
        self._lowered = module
        self.seconds = time.perf_counter() - start
        """How long lowering and writing took."""

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._imported.name

    @property
    def source(self) -> ImportedModel:
        """The program as the frontend handed it over."""
        return self._imported

    @property
    def options(self) -> str:
        """The options of the target's pipeline that it was compiled with."""
        return self._options

    @property
    def target(self) -> TargetName:
        """What the model was compiled to."""
        return self._target.name

    @property
    def suffix(self) -> str:
        """That of its file, with a dot."""
        return self._target.suffix

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know about the model, such as numbers that the device keeps shorter."""
        return tuple(self._imported.warnings)

    @property
    def stages(self) -> tuple[str, ...]:
        """What `text` shows, in the order of the road from the source to the device."""
        return tuple(dict.fromkeys((self._imported.stage, "ttir", *self._target.stages)))

    @cached_property
    def binary(self) -> Binary:
        """The file as the runtime reads it."""
        return read_binary(self._bytes, f"{self.name}{self._target.suffix}")

    @cached_property
    def inputs(self) -> tuple[tuple[str, TensorDesc], ...]:
        """Names and descriptions of the arrays that a call passes."""
        descs = [
            ref.desc
            for index, ref in enumerate(self._program.inputs)
            if index not in self._imported.bound
        ]
        return tuple(zip(self._imported.input_names, descs, strict=True))

    @property
    def outputs(self) -> tuple[TensorDesc, ...]:
        """Descriptions of the arrays that a call returns."""
        return tuple(ref.desc for ref in self._program.outputs)

    @property
    def _program(self) -> BinaryProgram:
        return self.binary.program(0)

    def __call__(self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any) -> Any:
        """Run the model; arguments are those of the function that was compiled."""
        device = self._device(self._numerics(numerics))
        tensors = [Tensor.from_numpy(array) for array in self._arrays(args, kwargs)]
        results = submit(device, self.binary, 0, tensors)
        return self._imported.unflatten([result.to_numpy() for result in results])

    def profile(
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> ModelProfile:
        """Run the model on a timed simulator: what its kernels did, and what the call returned.

            profile = compiled.profile(x)
            print(profile.cycles, profile)
            profile.write_trace("trace.json")

        InputError for a model without kernels: `target="kernels"` makes them.
        """
        # The simulator is loaded only where it is needed.
        from ttmlir.frontend.model_profile import ModelProfile, run_recorded

        arrays = self._arrays(args, kwargs)
        outputs, runs = run_recorded(self._program, arrays, Numerics(self._numerics(numerics)))
        return ModelProfile(self.name, self._imported.unflatten(outputs), runs)

    def estimate(self, board: str | None = None) -> Estimate:
        """How long the program would take on a board, operation by operation, without running it.

            estimate = compiled.estimate("n150")
            print(estimate, estimate.total.mid, estimate.rate(batch=8, unit="images"))
            estimate.write("operations.csv")

        `board` is a name, the path of a `.ttsys` file, or None: what the model was compiled for.
        For calls of the ttnn library only: `profile` simulates kernels.
        """
        from ttmlir.cost import estimate_program

        return estimate_program(self._program, board)

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What the framework itself computes for a call."""
        if self._imported.reference is None:
            raise InputError(f"'{self.name}' was compiled from text, which no framework runs")
        return self._imported.reference(*args, **kwargs)

    def flatten_results(self, results: Any) -> list[Array]:
        """The arrays in what a call or `reference` returns, in the order of `outputs`."""
        if self._imported.flatten_results is None:
            raise InputError(
                f"a call of '{self.name}' does not return everything that its program computes: "
                "it keeps state"
            )
        return list(self._imported.flatten_results(results))

    def to_bytes(self) -> bytes:
        """The `.ttnn` or `.ttm` file."""
        return self._bytes

    def save(self, path: str | Path, *, golden: bool | tuple[Any, ...] = False) -> Path:
        """Write the `.ttnn` or `.ttm` file, which `ttrt run` runs; returns its path.

        With `golden=True` the file also holds the example arguments and what the framework computes
        for them, with which `ttrt run --golden` compares; `golden=(x, y)` takes other arguments.
        """
        write_file(path, self._bytes if golden is False else self._with_golden(golden))
        return Path(path)

    def _with_golden(self, golden: Literal[True] | tuple[Any, ...]) -> bytes:
        from ttmlir.target.flatbuffer.golden import Golden

        call: CallArguments | None = self._examples if golden is True else (golden, {})
        if call is None:
            raise InputError(
                f"'{self.name}' was compiled without examples; save(path, golden=(x, y)) takes the "
                "arguments to compute the golden results from"
            )
        args, kwargs = call
        inputs = self._arrays(args, kwargs)
        outputs = self.flatten_results(self.reference(*args, **kwargs))
        return self._target.write(self._lowered, Golden(inputs=inputs, outputs=outputs))

    def text(self, stage: str, *, elide_above: int | None = None) -> str:
        """The program at one of the `stages`: MLIR, or C++ of the ttnn library or of kernels.

        Constants of more than `elide_above` elements are left out, which makes long texts readable
        but unfit to compile.
        """
        from ttmlir.mlir.printing.module import print_module

        if stage not in self.stages:
            raise ValueError(
                f"'{self.name}' has no stage '{stage}'; its stages are {', '.join(self.stages)}"
            )
        if stage == "cpp":
            return self._target.write_cpp(self._lowered, elide_above)
        return print_module(self._module_at(stage), elide_larger_than=elide_above)

    def _module_at(self, stage: str) -> ModuleOp:
        """The module in a dialect of the stages."""
        if stage == self._imported.stage:
            return self._imported.module
        if stage == self._target.dialect:
            return self._lowered
        module = cloned(self._imported.module)
        transform(module, TO_TTIR[self._imported.stage])
        if stage != "ttir":
            self._target.lower(module, self._options, until=self._target.between[stage])
        return module

    def __repr__(self) -> str:
        """Signature and size."""
        inputs = _join([f"{name}: {_type(desc)}" for name, desc in self.inputs])
        outputs = _join([_type(desc) for desc in self.outputs])
        return (
            f"CompiledModel({self.name}({inputs}) -> ({outputs}), "
            f"{self._target.describe_size(self._program)}, {len(self._bytes):,} bytes, "
            f"numerics={self.numerics})"
        )

    def _numerics(self, asked: NumericsName | None) -> NumericsName:
        return self.numerics if asked is None else _checked_numerics(asked)

    @cached_property
    def _devices(self) -> dict[str, Device]:
        return {}

    def _device(self, numerics: NumericsName) -> Device:
        if numerics not in self._devices:
            self._devices[numerics] = open_device(numerics=Numerics(numerics))
        return self._devices[numerics]

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """All arrays that the function takes, checked against what it was compiled for."""
        given = list(self._imported.flatten(args, kwargs))
        if len(given) != len(self.inputs):
            raise InputError(f"'{self.name}' takes {len(self.inputs)} arrays, got {len(given)}")
        wrong = [
            f"{name} is {_array_type(array)} instead of {_type(desc)}"
            for (name, desc), array in zip(self.inputs, given, strict=True)
            if (array.shape, array.dtype) != (desc.shape, desc.element.host)
        ]
        if wrong:
            raise InputError(
                f"'{self.name}' was compiled for other arguments: {'; '.join(wrong)}; call "
                "ttmlir.compile again with arguments of these shapes and types"
            )
        for index in sorted(self._imported.bound):
            given.insert(index, self._imported.bound[index])
        return given


def _checked_numerics(name: str) -> NumericsName:
    if name not in ("exact", "device"):
        raise ValueError(f"numerics are 'exact' or 'device', not {name!r}")
    return name


def _for_board(board: str, options: str) -> str:
    """The options of a pipeline, and the system of a board; InputError if there is none."""
    find_system(board)
    if "system-desc-path" in options or "system_desc_path" in options:
        raise InputError("board and system-desc-path both say what to compile for; give one")
    return f'{options} system-desc-path="{board}"'.lstrip()


def _join(texts: list[str]) -> str:
    """Texts separated by commas; of many the first ones and their number."""
    if len(texts) > MANY + 1:
        texts = [*texts[:MANY], f"... {len(texts) - MANY} more"]
    return ", ".join(texts)


def _type(desc: TensorDesc) -> str:
    return f"{desc.element.host}[{','.join(map(str, desc.shape))}]"


def _array_type(array: Array) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"
