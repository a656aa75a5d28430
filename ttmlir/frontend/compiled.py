"""Compiled models: what every frontend returns, and what a frontend hands over to make one.

A frontend reads a program of its framework into an `ImportedModel`: a module in the dialect of the
frontend, and two functions between the framework's values and arrays in the order of the module's
function. `CompiledModel` lowers the module, keeps the binary, and runs it with NumPy.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ttmlir.compiler import divide_options, parse, transform
from ttmlir.files import write_file
from ttmlir.frontend.calls.binding import CallArguments
from ttmlir.frontend.calls.calling import CallableModel, CallingConvention, NumericsName
from ttmlir.frontend.calls.signature import convention_of
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.targets import TargetName, find_target
from ttmlir.ir.constants import own_constants
from ttmlir.mlir.attributes.resources import cloned
from ttmlir.mlir.printing.module import print_module
from ttmlir.runtime.element import Array, Numerics
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.signature import CallSignature
from ttmlir.runtime.system import board_text, find_system
from ttmlir.terminal import show_wait

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from ttmlir.interpreter import bisection
    from ttmlir.mlir.reporting.diagnostics import Source

TO_TTIR = {
    "stablehlo": "stablehlo-to-ttir-pipeline",
    # One road takes these four in any mixture.
    **dict.fromkeys(("tosa", "linalg", "arith", "math"), "tosa-to-ttir-pipeline"),
    "ttir": "",
}
"""The passes from each dialect of the frontends to ttir."""


@dataclass(frozen=True, kw_only=True)
class ImportedModel(CallingConvention):
    """A program as a frontend hands it over.

    `module` has one public function, which takes the arrays that `flatten` returns and those in
    `bound`, and returns the arrays that `unflatten` takes.
    """

    module: ModuleOp
    stage: str
    """The dialect of the module, one of `TO_TTIR`."""
    signature: CallSignature
    """What a file says of all this."""
    reference: Callable[..., Any] | None = None
    """The program in its framework, called with the same arguments; returns the same structure."""
    trace: Callable[[tuple[Any, ...], dict[str, Any]], list[tuple[str, Array]]] | None = None
    """For the arguments of a call, what the framework computes at each of its own operations, by
    the names that these have in the module's locations."""
    flatten_results: Callable[[Any], Sequence[Array]] | None = None
    """From what a call or `reference` returns to arrays; undoes `unflatten`.

    None if the function returns more than a call does, such as new values of state.
    """
    warnings: Sequence[str] = ()
    """What the user should know about a program that is not refused."""
    texts: Mapping[str, Source] = field(default_factory=dict[str, "Source"])
    """Texts that the module's locations are in, if not in files; messages quote them."""
    first_column: int = 1
    """The number of the first column of a line in the module's locations in files."""


def narrow(module: ModuleOp) -> list[str]:
    """The warnings about values of f64 and of few bits, if a module has any."""
    from ttmlir.dialects.definition import narrowing

    warnings = (narrowing.narrow(module), narrowing.widen(module))
    return [warning.message for warning in warnings if warning is not None]


class CompiledModel(CallableModel):
    """A model compiled for one set of shapes and element types.

    Calling it runs the program, with NumPy or on the simulator, and returns arrays of the framework
    that it came from:

        compiled = ttmlir.compile(function, x)
        y = compiled(x)
        y = compiled(x, numerics="device")   # rounded as the device would
        compiled.save("model.ttnn")
        print(compiled.text("ttir"))

    It can be pickled; what comes back has no `reference`, which is a program of the framework.
    """

    REMEDY_FOR_OTHER_ARGUMENTS = (
        "call ttmlir.compile again with arguments of these shapes and types"
    )

    _state: _ModelState | None
    """Of a model that comes from a pickle."""

    def __init__(
        self,
        imported: ImportedModel,
        *,
        numerics: NumericsName = "exact",
        target: TargetName = "ttnn",
        options: str = "",
        board: str | os.PathLike[str] | None = None,
        examples: CallArguments | None = None,
    ) -> None:
        """Lower an imported model; raises CompilationError for what is not supported.

        `options` are those of the target's pipeline, such as "enable-grid-set=false" of
        `ttir-to-ttnn-backend-pipeline`. `board` is a board's name or a `.ttsys` file. `examples`
        are arguments of a call, which `save(golden=True)` uses.
        """
        self._imported = imported
        self._state = None
        self._examples = examples
        self._target = find_target(target)
        self._options = options_for_board(board, options)
        start = time.perf_counter()
        with self._in_terms_of_the_user(), show_wait(f"compiling {imported.name}"):
            data = self._target.write(self._lowered, {"": imported.signature})
        for module in (imported.module, self._lowered):
            own_constants(module)
        self.seconds = time.perf_counter() - start
        """How long lowering and writing took."""
        file_name = f"{imported.name}{self._target.suffix}"
        super().__init__(data, imported, file_name=file_name, numerics=numerics)
        self.prepare()

    @cached_property
    def _lowered(self) -> ModuleOp:
        """The module that the file is written from."""
        module = cloned(self._imported.module)
        with self._in_terms_of_the_user():
            self._lower_to_ttir(module)
            self._target.lower(module, self._divided_options[1])
        return module

    @cached_property
    def _divided_options(self) -> tuple[str, str]:
        return divide_options(self._options, self.target)

    def _lower_to_ttir(self, module: ModuleOp) -> None:
        pipeline, options = TO_TTIR[self._imported.stage], self._divided_options[0]
        has_options = options and pipeline == TO_TTIR["stablehlo"]
        transform(module, f"{pipeline}{{{options}}}" if has_options else pipeline)

    def _in_terms_of_the_user(self) -> AbstractContextManager[None]:
        imported = self._imported
        return in_terms_of_the_user(
            imported.name, imported.texts, first_column=imported.first_column
        )

    @cached_property
    def _imported(self) -> ImportedModel:
        """What the frontend handed over; of a model from a pickle, without the framework's part."""
        state = self._state
        assert state is not None, "other models have it from the start"
        convention = self._convention
        return ImportedModel(
            name=convention.name,
            input_names=convention.input_names,
            flatten=convention.flatten,
            unflatten=convention.unflatten,
            bound=convention.bound,
            module=parse(state.module, file_name=state.file_name),
            stage=state.stage,
            signature=state.signature,
            warnings=state.warnings,
        )

    def __getstate__(self) -> _ModelState:
        """The file, the module as text, and the weights that are kept outside of both."""
        if self._state is not None:
            bound = dict(self._convention.bound)
            return replace(self._state, numerics=self.numerics, bound=bound)
        imported = self._imported
        return _ModelState(
            data=self.to_bytes(),
            file_name=self._file_name,
            numerics=self.numerics,
            target=self.target,
            options=self._options,
            seconds=self.seconds,
            signature=imported.signature,
            bound=dict(imported.bound),
            module=print_module(imported.module, debuginfo=True),
            stage=imported.stage,
            warnings=tuple(imported.warnings),
        )

    def __setstate__(self, state: _ModelState) -> None:
        """Make the model of a pickle; its module is read when it is asked for."""
        signature = state.signature
        convention = convention_of(signature, state.bound, signature.framework)
        super().__init__(state.data, convention, file_name=state.file_name, numerics=state.numerics)
        self._state = state
        self._examples = None
        self._target = find_target(state.target)
        self._options = state.options
        self.seconds = state.seconds

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

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What the framework itself computes for a call."""
        if self._imported.reference is None:
            reason = (
                "was pickled, without the framework's own program"
                if self._state is not None
                else "was compiled from text, which no framework runs"
            )
            raise InputError(f"'{self.name}' {reason}")
        return self._imported.reference(*args, **kwargs)

    def bisect(
        self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any
    ) -> bisection.Report:
        """Find the operation with which the model begins to compute something else.

            print(compiled.bisect(x))

        The program runs at each level of its way to the file, on the arguments of a call, as
        `ttmlir-bisect` runs it. For a model of torch what torch computes is the first level, for
        others its results are compared.
        """
        from ttmlir.interpreter.bisection import bisect_module

        imported = self._imported
        trace = None if imported.trace is None else imported.trace(args, kwargs)
        results = None
        if imported.reference is not None:
            results = self.flatten_results(imported.reference(*args, **kwargs))
        return bisect_module(
            cloned(imported.module),
            self._arrays(args, kwargs),
            numerics=Numerics(self._numerics(numerics)),
            framework_results=results,
            framework_trace=trace,
            target=self.target,
            options=self._options,
        )

    def flatten_results(self, results: Any) -> list[Array]:
        """The arrays in what a call or `reference` returns, in the order of `outputs`."""
        if self._imported.flatten_results is None:
            raise InputError(
                f"a call of '{self.name}' does not return everything that its program computes: "
                "it keeps state"
            )
        return list(self._imported.flatten_results(results))

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
        kept = Golden(inputs=inputs, outputs=outputs)
        return self._target.write(self._lowered, {"": self._imported.signature}, kept)

    def text(self, stage: str, *, elide_above: int | None = None) -> str:
        """The program at one of the `stages`: MLIR, or C++ of the ttnn library or of kernels.

        Constants of more than `elide_above` elements are left out, which makes long texts readable
        but unfit to compile.
        """
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
        self._lower_to_ttir(module)
        if stage != "ttir":
            self._target.lower(module, self._divided_options[1], until=self._target.between[stage])
        return module


@dataclass(frozen=True, kw_only=True)
class _ModelState:
    """What a pickle holds of a compiled model."""

    data: bytes
    file_name: str
    numerics: NumericsName
    target: TargetName
    options: str
    seconds: float
    signature: CallSignature
    bound: Mapping[int, Array]
    module: str
    """In MLIR, with all constants and locations."""
    stage: str
    warnings: Sequence[str]


def options_for_board(board: str | os.PathLike[str] | None, options: str) -> str:
    """The options of a pipeline, and the system of a board; InputError if there is none."""
    if board is None:
        return options
    find_system(board)
    if "system-desc-path" in options or "system_desc_path" in options:
        raise InputError("board and system-desc-path both say what to compile for; give one")
    return f'{options} system-desc-path="{board_text(board)}"'.lstrip()
