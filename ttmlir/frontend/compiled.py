"""Compiled models: what every frontend returns, and what a frontend hands over to make one.

A frontend reads a program of its framework into an `ImportedModel`: a module in the dialect of the
frontend, and two functions between the framework's values and arrays in the order of the module's
function. `CompiledModel` lowers the module, keeps the binary, and runs it with NumPy.
"""

from __future__ import annotations

import os
import re
import reprlib
import sys
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

import numpy as np

from ttmlir.compiler import (
    divide_options,
    find_spelling,
    fuses_layers,
    is_spelled_late,
    options_for,
    parse,
    spell_ttir,
    transform,
)
from ttmlir.dialects.quant import uniform_of
from ttmlir.dialects.sdy import MeshOp, find_division
from ttmlir.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingNameError,
    UnknownKeyError,
    plural,
)
from ttmlir.files import require_path, write_file
from ttmlir.frontend.calls import (
    OPENER,
    CallableModel,
    CallArguments,
    CallingConvention,
    NumericsName,
    array_of_number,
    as_array,
    as_in_source,
    as_taken,
    convention_of,
    make_arrays_of,
    read_layout,
    spell_array,
    spell_type,
    with_truth_values,
)
from ttmlir.frontend.errors import in_terms_of_the_user
from ttmlir.frontend.targets import (
    KernelsTarget,
    PartsTarget,
    TargetName,
    TTNNTarget,
    find_target,
    lower_for,
)
from ttmlir.ir.constants import own_constants
from ttmlir.ir.rewriting import refuse_at, symbol_visibility
from ttmlir.ir.tensor_types import element_type, is_complex, is_tensor
from ttmlir.layout.data_format import PARTS
from ttmlir.mlir.attributes import cloned
from ttmlir.mlir.module_printer import print_module
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.loading import file_bytes, read_binary
from ttmlir.runtime.signature import CallSignature, Types, positional
from ttmlir.runtime.system_desc import board_text, find_system
from ttmlir.runtime.tensor import Array, Numerics, join_pairs, part_of
from ttmlir.terminal import show_wait

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import FuncOp
    from xdsl.ir import Operation, SSAValue

    from ttmlir.cost import Estimate
    from ttmlir.frontend.formats import Formats
    from ttmlir.frontend.summary import ModelSummary
    from ttmlir.interpreter import bisection
    from ttmlir.mlir.reporting import Source
    from ttmlir.runtime.binary import Binary
    from ttmlir.target.flatbuffer.tensors import Golden


# --- Loaded ---------------------------------------------------------------------------------------
# `ttmlir.load`: a file that is called like the model that it was compiled from.


TEXTS = (".py", ".cpp")
"""Ends of names of files with text of other languages."""


def check_path_of_file(path: str | Path, suffix: str) -> None:
    """Refuse to write a file for ttrt under a name that ends as that of something else."""
    require_path(path, "save")
    if Path(path).suffix in TEXTS:
        raise ArgumentError(
            f"'{path}' would be text, which `save` of what ttmlir.compile returns writes of one "
            "program; this is a file for ttrt"
        )
    if Path(path).suffix not in ("", suffix):
        raise ArgumentError(f"{path}: this is a {suffix} file for ttrt")


@dataclass(frozen=True)
class GoldenCall:
    """A call of the model in its framework, whose numbers are in the file."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    """What the framework computed, in the containers of the model's result."""

    def __repr__(self) -> str:
        """How many arguments there are."""
        names = "".join(f", {name}" for name in self.kwargs)
        return f"GoldenCall({plural(len(self.args), 'argument')} by position{names})"


def load(
    path: str | os.PathLike[str],
    *,
    program: int = 0,
    numerics: NumericsName = "exact",
    framework: str = "",
    weights: Any = None,
) -> LoadedModel:
    """A function that runs a `.ttnn` or `.ttm` file.

        model = ttmlir.load("model.ttnn")
        y = model(x)

    It takes the arguments of the model that the file was compiled from, as arrays of NumPy, JAX or
    torch and in the same containers; a file that does not say how its model is called takes arrays
    by position. Results are arrays of NumPy, or of `framework`, "jax" or "torch". `program` is the
    number of a program of the file. `weights` are those that the file leaves outside, by name, or
    the module of torch that was compiled with `weights="arguments"`; what `keep=` names may be in
    its containers.

    Loading computes nothing, whoever the file is from. Raises BinaryError for a file that cannot be
    read, InputError for weights that are missing or have other types or shapes.
    """
    require_path(path, "ttmlir.load")
    data = file_bytes(path)
    return LoadedModel(
        data,
        file_name=os.fspath(path),
        program=program,
        numerics=numerics,
        framework=framework,
        weights=_by_name(weights),
    )


def _by_name(weights: Any) -> Mapping[str, Any]:
    """Weights by name; those of a module of torch by the module's names."""
    if weights is None or isinstance(weights, Mapping):
        return cast("Mapping[str, Any]", weights or {})
    if isinstance(weights, type) or not hasattr(weights, "state_dict"):
        raise ArgumentTypeError(
            "weights of ttmlir.load are a module of torch, or a dictionary of arrays by name, not "
            f"{reprlib.repr(weights)}; ttmlir.load_weights(module, path) is a module with those of "
            "files"
        )
    return weights.state_dict()


class LoadedModel(CallableModel):
    """A program of a file as a function; see `load`."""

    def __init__(
        self,
        data: bytes | memoryview,
        *,
        file_name: str,
        program: int,
        numerics: NumericsName,
        framework: str,
        weights: Mapping[str, Any],
    ) -> None:
        """Take a file's bytes."""
        binary = read_binary(data, file_name)
        found = binary.program(program)
        self._signature = found.signature or _plain_signature(found)
        bound = _find_weights(self._signature, found, weights, file_name)
        self._framework = framework
        super().__init__(
            data,
            convention_of(self._signature, bound, framework, takes_wide=lambda: self._takes_wide),
            file_name=file_name,
            program=program,
            numerics=numerics,
        )
        self.binary = binary

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bytes of the file, and the weights that are kept outside."""
        names = self._signature.input_names
        types = self._source_types[0] or [None] * len(names)
        weights = {
            names[index]: as_in_source(array, types[index])
            for index, array in self._convention.bound.items()
        }
        return _restore, (
            self.to_bytes(),
            self._file_name,
            self._program_index,
            self.numerics,
            self._framework,
            weights,
        )

    @cached_property
    def golden(self) -> GoldenCall | None:
        """What the framework was given and computed, if the file holds it.

        model = ttmlir.load("model.ttnn")
        model(*model.golden.args, **model.golden.kwargs)   # close to model.golden.result
        """
        found = self._program.golden
        if found is None:
            return None
        signature, program = self._signature, self._program
        for kind, arrays, refs in (
            ("inputs", found.inputs, program.inputs),
            ("outputs", found.outputs, program.outputs),
        ):
            given, shapes = [each.shape for each in arrays], [each.desc.shape for each in refs]
            if given != shapes:
                raise InputError(
                    f"{program.where}: golden {kind} have the shapes {given}; those of the program "
                    f"are {shapes}"
                )
        make = make_arrays_of(self._framework)
        inputs, outputs = (
            [*map(as_in_source, arrays, types or [None] * len(arrays))]
            for arrays, types in zip((found.inputs, found.outputs), self._source_types, strict=True)
        )
        given = [array for i, array in enumerate(inputs) if i not in signature.bound]
        arguments = [make(array) for array in join_pairs(given, signature.arguments.are_complex)]
        outputs = join_pairs(outputs[signature.state :], signature.results.are_complex)
        results = [make(array) for array in outputs]
        args, kwargs = signature.arguments.unflatten(iter(arguments))
        return GoldenCall(args, kwargs, signature.results.unflatten(iter(results)))

    def save(self, path: str | Path) -> Path:
        """Write the file; returns its path."""
        target = KernelsTarget if self.binary.is_metal else TTNNTarget
        check_path_of_file(path, target.suffix)
        write_file(path, self._bytes)
        return Path(path)


def _restore(
    data: bytes,
    file_name: str,
    program: int,
    numerics: NumericsName,
    framework: str,
    weights: Mapping[str, Array],
) -> LoadedModel:
    return LoadedModel(
        data,
        file_name=file_name,
        program=program,
        numerics=numerics,
        framework=framework,
        weights=weights,
    )


def _plain_signature(program: BinaryProgram) -> CallSignature:
    """Of a program that does not say how its model is called."""
    inputs, outputs = len(program.inputs), len(program.outputs)
    arguments, results = positional(inputs, outputs)
    return CallSignature(
        name=program.name,
        input_names=tuple(f"input {index}" for index in range(inputs)),
        arguments=arguments,
        results=results,
    )


def _find_weights(
    signature: CallSignature, program: BinaryProgram, weights: Mapping[str, Any], file_name: str
) -> dict[int, Array]:
    """The inputs that no argument gives; InputError for those that are missing or do not fit."""
    names = {index: signature.input_names[index] for index in signature.bound}
    given = {**_in_containers(weights), **weights} if names else {}
    found = {
        index: _find_weight(name, given, f"{file_name}: the weight '{name}'")
        for index, name in names.items()
    }
    missing = [names[index] for index, weight in found.items() if weight is None]
    if missing:
        shown = ", ".join(map(repr, missing[:4])) + (", ..." if len(missing) > 4 else "")
        what, text = f"the weights {shown} are not in the file", "module.state_dict()"
        if signature.framework == "jax":
            what = f"the first numbers of {shown} are not in the file"
            arguments = dict.fromkeys(re.split(r"\W", name, maxsplit=1)[0] for name in missing)
            text = "{" + ", ".join(f"{name!r}: {name}" for name in arguments) + "}"
        raise InputError(f"{file_name}: {what}; give them with ttmlir.load(path, weights={text})")
    taken = [ref.desc for ref in program.inputs]
    sources: Types = signature.argument_types or (None,) * len(taken)
    descs = with_truth_values(taken, sources)
    arrays: dict[int, Array] = {}
    wrong: list[str] = []
    for index, weight in found.items():
        host, source, name = taken[index].element.host, sources[index], names[index]
        array = array_of_number(weight, source or host, f"{file_name}: the weight '{name}'")
        fitted = as_taken(array, host, source)
        if fitted is None or fitted.shape != descs[index].shape:
            wanted = spell_type(descs[index])
            wrong.append(f"'{name}' is {spell_array(array)} instead of {wanted}")
        else:
            arrays[index] = fitted
    if wrong:
        more = [f"{len(wrong) - 4} more"] if len(wrong) > 4 else []
        raise InputError(
            f"{file_name}: the weights are not those of the program: "
            f"{'; '.join([*wrong[:4], *more])}; give arrays of these shapes and types"
        )
    return arrays


def _in_containers(weights: Mapping[str, Any]) -> dict[str, Any]:
    """Arrays in dictionaries, tuples and their like, by the names that inputs have."""
    found: dict[str, Any] = {}
    for name, value in weights.items():
        layout, leaves = read_layout(value, OPENER)
        found |= zip(layout.name_leaves(name), leaves, strict=True)
    return found


def _find_weight(name: str, weights: Mapping[str, Any], what: str) -> Any:
    """The array of a weight, or of one of the parts of a complex one; None if there is none."""
    if name in weights:
        return as_array(weights[name], what)
    whole, _, part = name.rpartition(".")
    if part not in PARTS or whole not in weights:
        return None
    return part_of(as_array(weights[whole], what), part)


# --- Compiled -------------------------------------------------------------------------------------

TO_TTIR = {
    "stablehlo": "stablehlo-to-ttir-pipeline",
    # One conversion takes these four in any mixture.
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
    parameters: Callable[[], Iterable[tuple[str, Array]]] | None = None
    """What the model learns and keeps, by its own names."""
    warnings: Sequence[str] = ()
    """What the user should know about a program that is not refused."""
    texts: Mapping[str, Source] = field(default_factory=dict[str, "Source"])
    """Texts that the module's locations are in, if not in files; messages quote them."""
    first_column: int = 1
    """The number of the first column of a line in the module's locations in files."""
    file: str = ""
    """The file that the module is from, if its locations are names in a file without lines."""

    def in_terms_of_the_user(self) -> AbstractContextManager[None]:
        """Refusals inside are about the program that the user gave."""
        return in_terms_of_the_user(
            self.name, self.texts, first_column=self.first_column, file=self.file
        )


def narrow(module: ModuleOp, *, stage: str = "stablehlo") -> list[str]:
    """The warnings about values of f64 and of few bits, if a module has any.

    Elements of few bits are refused later on, not widened, in other stages than StableHLO.
    """
    from ttmlir.dialects.definition import ods

    wide = ods.widen(module) if stage == "stablehlo" else None
    warnings = (ods.narrow(module), wide)
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
        self._examples = _with_numbers(examples)
        self._target = find_target(target)
        self._options = options_for_board(board, options)
        start = time.perf_counter()
        with self._in_terms_of_the_user(), show_wait(f"compiling {imported.name}"):
            lowered = self._lowered
            data = self._target.write(lowered, {"": self._signature_in_file})
        for module in (imported.module, lowered):
            own_constants(module)
        self.seconds = time.perf_counter() - start
        """How long lowering and writing took."""
        file_name = f"{imported.name}{self._target.suffix}"
        super().__init__(data, imported, file_name=file_name, numerics=numerics)
        self.prepare()

    formats: Formats | None = None
    """What was chosen for an accuracy; None unless one was asked for."""

    @property
    def lowered(self) -> ModuleOp:
        """The module that the file is written from; it is not to be changed."""
        return self._lowered

    def example_arrays(self) -> list[Array]:
        """What a call with the examples gives the program; nothing where they have no numbers."""
        return [] if self._examples is None else self._example_arrays()

    @cached_property
    def _lowered(self) -> ModuleOp:
        """The module that the file is written from, which decides on the target."""
        with self._in_terms_of_the_user():
            self._target, module = lower_for(find_target(self.target), self._options, self._to_ttir)
        return module

    def _to_ttir(self, front: str) -> ModuleOp:
        """The program in ttir, with options of the pipeline to it."""
        source = self._imported
        module = cloned(source.module)
        lower_model(module, source.stage, source.signature, self.target, self._options, front)
        return module

    @property
    def _divided_options(self) -> tuple[str, str]:
        in_parts = isinstance(self._target, PartsTarget)
        return divide_options(self._options, self.target, in_parts=in_parts)

    @property
    def _is_late(self) -> bool:
        """True where the program may have other types than its source."""
        return is_spelled_late(self.target, self._options)

    @property
    def _signature_in_file(self) -> CallSignature:
        """How the model is called, with the types of its source where the program has others."""
        return _signature_in_file(self._imported, is_late=self._is_late)

    def _in_terms_of_the_user(self) -> AbstractContextManager[None]:
        return self._imported.in_terms_of_the_user()

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
            warnings=self.warnings,
        )

    def __setstate__(self, state: _ModelState) -> None:
        """Make the model of a pickle; its module is read when it is asked for."""
        signature = state.signature
        convention = convention_of(
            signature, state.bound, signature.package, takes_wide=lambda: self._takes_wide
        )
        super().__init__(state.data, convention, file_name=state.file_name, numerics=state.numerics)
        self._state = state
        self._examples = None
        self._target = find_target(state.target)
        if Path(state.file_name).suffix != self._target.suffix:
            self._target = PartsTarget()
        self._options = state.options
        self.seconds = state.seconds

    @property
    def source(self) -> ImportedModel:
        """The program as the frontend handed it over."""
        return self._imported

    @property
    def examples(self) -> CallArguments | None:
        """The arguments that it was compiled with; None if they were shapes without numbers."""
        return self._examples

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
        """What there is to know about the model, such as numbers that the device keeps shorter, or
        operations without kernels."""
        return (*self._imported.warnings, *self._target.cuts, *self._notes)

    @property
    def _notes(self) -> tuple[str, ...]:
        """What is said of the lowered program."""
        return self._target.notes if isinstance(self._target, PartsTarget) else ()

    @property
    def stages(self) -> tuple[str, ...]:
        """What `text` shows, in the order of the lowering path from the source to the device."""
        return tuple(dict.fromkeys((self._imported.stage, "ttir", *self._target.stages)))

    def estimate(
        self, board: str | os.PathLike[str] | None = None, *, traced: bool = True
    ) -> Estimate:
        """How long the program would take on a board, as `CallableModel.estimate` says it, with
        notes on operations without kernels."""
        found = super().estimate(board, traced=traced)
        if not self._notes or not found.operations:
            return found
        first, *others = found.operations
        first = replace(first, notes=(*first.notes, *self._notes))
        return replace(found, operations=(first, *others))

    def summary(self, board: str | os.PathLike[str] | None = None) -> ModelSummary:
        """What `CallableModel.summary` says, and which operations have no kernels."""
        found = super().summary(board)
        facts = (("library", text) for text in self._notes)
        return replace(found, facts=(*found.facts, *facts)) if self._notes else found

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
        others its results are compared, as for models of several devices: a difference says on
        which device it is.
        """
        from ttmlir.interpreter.bisection import bisect_module

        imported = self._imported
        results = None
        if imported.reference is not None:
            results = self.flatten_results(imported.reference(*args, **kwargs))
        if self._program.mesh != (1, 1):
            # It lowers models as this module does, which it needs for that.
            mesh_bisection: Any = import_module("ttmlir.frontend.mesh_bisection")
            return mesh_bisection.bisect_mesh(
                replace(imported, module=cloned(imported.module)),
                self.arrays_of_call(args, kwargs),
                numerics=Numerics(self._numerics(numerics)),
                framework_results=results,
                options=self._options,
            )
        trace = None if imported.trace is None else imported.trace(args, kwargs)
        return bisect_module(
            cloned(imported.module),
            self.arrays_of_call(args, kwargs),
            numerics=Numerics(self._numerics(numerics)),
            framework_results=results,
            framework_trace=trace,
            target=self.target,
            options=self._options,
        )

    def flatten_results(self, results: Any) -> list[Array]:
        """The arrays in what a call or `reference` returns, in the order of `outputs`."""
        return flatten_results(self._imported, results)

    def save(self, path: str | Path, *, golden: bool | tuple[Any, ...] = False) -> Path:
        """Write the `.ttnn` or `.ttm` file, which `ttrt run` runs; returns its path.

        With `golden=True` the file also holds the example arguments and what the framework computes
        for them, with which `ttrt run --golden` compares; `golden=(x, y)` takes other arguments.

        A name that ends in another way is refused, one without an end is that of the file. A name
        with `.py` at its end gets a script that calls the ttnn library, and beside it a file
        of the inputs and weights, and one of golden results; one with `.cpp` the same in C++, with
        a `CMakeLists.txt` and a folder of tensors. Of kernels, and of a program compiled with
        `spelling="2024"`, `.cpp` is `text("cpp")`. Of kernels among calls of the library there
        is no script.
        """
        require_path(path, "save")
        suffix = Path(path).suffix
        is_of_2024 = "spelling=2024" in self._options.split()
        if suffix == ".py" or (suffix == ".cpp" and self.target == "ttnn" and not is_of_2024):
            return self._save_script(Path(path), golden)
        if suffix in TEXTS:
            if golden is not False:
                remedy = '; leave out spelling="2024"' if is_of_2024 else ""
                raise ArgumentError(
                    f"golden results are kept in files, not in {suffix} text{remedy}"
                )
            write_file(path, self.text("cpp").encode())
            return Path(path)
        if suffix not in ("", self._target.suffix):
            raise ArgumentError(
                f"{path}: save writes {' and '.join(TEXTS)} text, and what is compiled for target "
                f"'{self.target}' is a {self._target.suffix} file"
            )
        with show_wait(f"writing {Path(path).name}"):
            write_file(path, self._bytes if golden is False else self._with_golden(golden))
        return Path(path)

    def _save_script(self, path: Path, golden: Literal[True] | bool | tuple[Any, ...]) -> Path:
        if isinstance(self._target, PartsTarget):
            raise ArgumentError(
                f"{path}: scripts are of kernels or of calls of the ttnn library; this program has "
                f"both: save a {self.suffix} file, or compile with target='ttnn'"
            )
        from ttmlir.frontend.cpp_projects import write_project
        from ttmlir.frontend.scripts import ScriptData, write_kernels_script, write_script

        write = write_script if path.suffix == ".py" else write_project
        inputs, outputs = self._example_arrays(), None
        if golden is not False:
            inputs, outputs = self._golden_arrays(golden)
        imported = self._imported
        data = ScriptData(
            self.name, inputs, outputs, imported.parameters, bool(imported.signature.package)
        )
        front, options = self._divided_options
        with self._in_terms_of_the_user(), show_wait(f"writing {path.name}"):
            if self.target == "kernels":
                module = self._to_ttir(front)
                self._target.lower(module, f"{options} translate-coordinates=true".lstrip())
                source = public_function(imported.module)
                return write_kernels_script(module, data, path, source)
            module = cloned(imported.module)
            lower_to_ttir(module, imported.stage, "ttnn", "spelling=2026", front)
            return write(module, data, options, path)

    def _example_arrays(self) -> list[Array]:
        """What a call with the examples gives the program; ones where there are none."""
        if self._examples is not None:
            return self.arrays_of_call(*self._examples)
        return self._complete([np.ones(desc.shape, desc.element.host) for _, desc in self.inputs])

    def _with_golden(self, golden: Literal[True] | tuple[Any, ...]) -> bytes:
        from ttmlir.target.flatbuffer.tensors import Golden

        inputs, outputs = self._golden_arrays(golden)
        kept = Golden(inputs=inputs, outputs=outputs)
        return self._target.write(self._lowered, {"": self._signature_in_file}, kept)

    def _golden_arrays(
        self, golden: Literal[True] | tuple[Any, ...]
    ) -> tuple[list[Array], list[Array]]:
        """The inputs of a program, and what the framework computes from them."""
        call: CallArguments | None = self._examples if golden is True else (golden, {})
        if call is None:
            raise InputError(
                f"'{self.name}' was compiled without numbers in its examples; "
                "save(path, golden=(x, y)) takes the arguments to compute the golden results from"
            )
        args, kwargs = call
        inputs = self.arrays_of_call(args, kwargs)
        return inputs, self.flatten_results(self.reference(*args, **kwargs))

    def text(self, stage: str, *, elide_above: int | None = None) -> str:
        """The program at one of the `stages`: MLIR, or C++ of the ttnn library or of kernels.

        Constants of more than `elide_above` elements are left out, which makes long texts readable
        but unfit to compile.
        """
        if stage not in self.stages:
            raise ArgumentError(
                f"'{self.name}' has no stage '{stage}'; its stages are {', '.join(self.stages)}"
            )
        if stage == "cpp":
            return self._target.write_cpp(self._lowered, elide_above)
        return print_module(self._module_at(stage), elide_larger_than=elide_above)

    def _module_at(self, stage: str) -> ModuleOp:
        """The module in a dialect of the stages."""
        if stage == self._imported.stage and (
            stage != "ttir" or find_division(self._imported.module) is None
        ):
            return self._imported.module
        if stage == self._target.dialect:
            return self._lowered
        module = self._to_ttir(self._divided_options[0])
        if stage != "ttir":
            self._target.lower(module, self._divided_options[1], until=self._target.between[stage])
        return module


def _with_numbers(call: CallArguments | None) -> CallArguments | None:
    """The arguments of a call; None if they say shapes alone, as `jax.ShapeDtypeStruct` does."""
    jax: Any = sys.modules.get("jax")
    if call is None or jax is None:
        return call
    leaves = jax.tree_util.tree_leaves(call)
    return None if any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in leaves) else call


def _types_in_source(values: Iterable[SSAValue]) -> Types:
    """The types of arrays as the source of a model names them; None for those NumPy lacks."""
    from ttmlir.interpreter.execution import runtime_element
    from ttmlir.ir.tensor_types import element_type

    found = [runtime_element(element_type(value)) for value in values]
    return tuple(None if each is None else each.host for each in found)


def _signature_in_file(imported: ImportedModel, *, is_late: bool) -> CallSignature:
    signature = imported.signature
    if not is_late:
        return signature
    block = public_function(imported.module).body.block
    taken, end = _types_in_source(block.args), block.last_op
    given = () if end is None else _types_in_source(end.operands)
    # Complex numbers are two arrays in some files.
    are_inputs = len(taken) == len(signature.input_names)
    are_outputs = len(given) == signature.results.leaf_count + signature.state
    return replace(
        signature,
        argument_types=taken if are_inputs else (),
        result_types=given if are_outputs else (),
    )


def public_function(module: ModuleOp) -> FuncOp:
    """The function that callers of the module see."""
    from xdsl.dialects.func import FuncOp

    from ttmlir.mlir.reporting import OpError
    from ttmlir.passes.general.ttcore_wrap_device_module import module_of_device

    public = [
        op
        for op in module_of_device(module).ops
        if isinstance(op, FuncOp) and symbol_visibility(op) == "public" and not _is_given(op)
    ]
    if len(public) != 1:
        raise OpError(
            module,
            f"has {len(public)} public functions; a model has one, and private ones that it calls",
        )
    return public[0]


def _is_given(function: FuncOp) -> bool:
    """True for a function that JAX gives to a custom call, such as a comparator."""
    last = function.body.blocks.last
    end = None if last is None else last.last_op
    return end is not None and end.name == "stablehlo.return"


def flatten_results(imported: ImportedModel, results: Any) -> list[Array]:
    """The arrays in what a call of a model returns; InputError if its program computes others."""
    if imported.flatten_results is None:
        raise InputError(
            f"a call of '{imported.name}' does not return everything that its program computes: "
            "it keeps state"
        )
    return list(imported.flatten_results(results))


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


# --- Programs -------------------------------------------------------------------------------------
# Several functions in one file, which share their weights and their state.
#
#     llama = ttmlir.compile_programs(
#         {
#             "prefill": ttmlir.Example(model.prefill, tokens),
#             "decode": ttmlir.Example(model.decode, token, position),
#         }
#     )
#     logits = llama.prefill(tokens)
#     logits = llama.decode(token, position)
#     llama.save("llama.ttnn")
#
# Equal constants are in the file once, and on the device once. Buffers of a torch module that one
# of the functions changes, such as a cache of keys and values, are state that all of them see.


class Example:
    """A model with examples of its arguments: one of the programs of `compile_programs`."""

    def __init__(self, model: Any, *args: Any, **kwargs: Any) -> None:
        """A model as `ttmlir.compile` takes it; `kwargs` are its arguments by name."""
        self.model = model
        self.args = args
        self.kwargs = kwargs


def check_examples(examples: Any) -> None:
    """Refuse what is no mapping of names to examples, and names that programs cannot have."""
    form = '{"main": ttmlir.Example(model, *args)}'
    if not isinstance(examples, Mapping):
        raise ArgumentTypeError(
            f"programs are given by names: {form}; got a {type(examples).__name__}"
        )
    if not examples:
        raise ArgumentError(f"programs are given by names: {form}; got none")
    for name, example in cast("Mapping[Any, Any]", examples).items():
        if not isinstance(example, Example):
            raise ArgumentTypeError(
                f"program {name!r} is a {type(example).__name__}; give it as "
                "ttmlir.Example(model, *args)"
            )
        is_attribute = isinstance(name, str) and name.isidentifier() and not name.startswith("_")
        if not is_attribute:
            raise ArgumentError(
                f"a program cannot have the name {name!r}: names are those of attributes, "
                "identifiers that begin with a letter"
            )
        if hasattr(CompiledPrograms, name) or name == "name":
            raise ArgumentError(
                f"a program cannot have the name '{name}': an attribute of all programs has it"
            )


class Program(CallableModel):
    """One of several programs of a file, called as the function that it was compiled from."""

    REMEDY_FOR_OTHER_ARGUMENTS = "compile again with arguments of these shapes and types"

    def __init__(
        self,
        binary: Binary,
        data: bytes,
        imported: ImportedModel,
        index: int,
        numerics: NumericsName,
    ) -> None:
        """The program with this number of a file."""
        self._imported = imported
        super().__init__(data, imported, file_name=binary.source, program=index, numerics=numerics)
        self.binary = binary

    def reference(self, *args: Any, **kwargs: Any) -> Any:
        """What the framework itself computes for a call."""
        if self._imported.reference is None:
            raise InputError(f"'{self.name}' was compiled from text, which no framework runs")
        return self._imported.reference(*args, **kwargs)

    def compute_golden(self, args: tuple[Any, ...], kwargs: dict[str, Any], name: str) -> Golden:
        """What the framework computes for a call, for the function of this name in the file."""
        from ttmlir.target.flatbuffer.tensors import Golden

        inputs = self.arrays_of_call(args, kwargs)
        outputs = flatten_results(self._imported, self.reference(*args, **kwargs))
        return Golden(inputs=inputs, outputs=outputs, function=name)

    def __getstate__(self) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]
        """InputError: state is that of several programs."""
        _refuse_pickle(self.name)


class CompiledPrograms(Mapping[str, Program]):
    """Programs of one file by their names; each is an attribute, too."""

    def __init__(
        self,
        imported: Mapping[str, ImportedModel],
        *,
        numerics: NumericsName = "exact",
        target: TargetName = "ttnn",
        options: str = "",
        board: str | os.PathLike[str] | None = None,
        examples: Mapping[str, tuple[tuple[Any, ...], dict[str, Any]]],
    ) -> None:
        """Lower models of one framework together; CompilationError for what is not supported.

        `examples` are arguments of a call of each, which `save(golden=True)` uses.
        """
        for each in imported.values():
            if not is_divided(each):
                options = options_for(each.module, target, options)
        _check_devices_of_programs(imported.values(), target, options)
        self._is_late = is_spelled_late(target, options)
        self._examples = {name: _with_numbers(call) for name, call in examples.items()}
        self._models, self._options = dict(imported), options
        self._target_name: TargetName = target
        self.name = next(iter(imported.values())).name
        """Of the file: that of the first model."""
        with show_wait(f"compiling {self.name}"):
            with self._in_terms_of_the_user():
                self._target, self._lowered = lower_for(
                    find_target(target), options_for_board(board, options), self._to_ttir
                )
                self._bytes = self._write()
        for module in (*(each.module for each in imported.values()), self._ttir, self._lowered):
            own_constants(module)
        binary = read_binary(self._bytes, f"{self.name}{self._target.suffix}")
        self._programs = {
            name: Program(binary, self._bytes, each, index, numerics)
            for index, (name, each) in enumerate(imported.items())
        }

    def _to_ttir(self, front: str) -> ModuleOp:
        """All programs in ttir, in one module, with options of the pipeline to it."""
        modules = {
            name: _ttir_of(each, self._target_name, self._options, front)
            for name, each in self._models.items()
        }
        _check_meshes(self._models, modules)
        self._ttir = _join(modules)
        return cloned(self._ttir)

    def _in_terms_of_the_user(self) -> AbstractContextManager[None]:
        models = self._models.values()
        texts = {name: text for each in models for name, text in each.texts.items()}
        first_column = next(iter(models)).first_column
        return in_terms_of_the_user(self.name, texts, first_column=first_column)

    def __getitem__(self, name: str) -> Program:
        """A program by its name."""
        if name not in self._programs:
            raise UnknownKeyError(self._explain_missing(name))
        return self._programs[name]

    def _explain_missing(self, name: str) -> str:
        programs: dict[str, Program] = self.__dict__.get("_programs", {})
        return f"there is no program '{name}'; the programs are {', '.join(programs)}"

    def __getattr__(self, name: str) -> Program:
        """A program by its name."""
        programs: dict[str, Program] = self.__dict__.get("_programs", {})
        if name not in programs:
            raise MissingNameError(self._explain_missing(name))
        return programs[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the programs, in the order of the file."""
        return iter(self._programs)

    def __len__(self) -> int:
        """The number of programs."""
        return len(self._programs)

    def __repr__(self) -> str:
        """The programs and the size of the file."""
        names = ", ".join(self._programs)
        return f"{type(self).__name__}({names}: {len(self._bytes):,} bytes)"

    def __getstate__(self) -> NoReturn:  # pyright: ignore[reportIncompatibleMethodOverride]
        """InputError: state is that of several programs."""
        _refuse_pickle(self.name)

    def restart(self) -> None:
        """Give the state of all programs the numbers back that it began with."""
        for program in self.values():
            program.restart()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What there is to know about the models, such as numbers that the device keeps shorter."""
        found = [text for each in self._models.values() for text in each.warnings]
        found += self._target.cuts
        if isinstance(self._target, PartsTarget):
            found += self._target.notes
        return tuple(dict.fromkeys(found))

    def to_bytes(self) -> bytes:
        """The `.ttnn` or `.ttm` file."""
        return bytes(self._bytes)

    def _golden_of(self, name: str) -> Golden:
        call = self._examples[name]
        if call is None:
            raise InputError(
                f"program '{name}' was compiled without numbers in its examples; golden results "
                "need arrays in place of each jax.ShapeDtypeStruct"
            )
        return self[name].compute_golden(*call, name)

    def _write(self, golden: Sequence[Golden] = ()) -> bytes:
        signatures = {
            name: _signature_in_file(each, is_late=self._is_late)
            for name, each in self._models.items()
        }
        return self._target.write(self._lowered, signatures, golden)

    def save(self, path: str | Path, *, golden: bool = False) -> Path:
        """Write the file; `ttmlir.load(path, program=1)` gives one of its programs back.

        With `golden=True` the file also holds the examples of all programs and what the framework
        computes for them, with which `ttrt run --golden` compares; state is as it is now.
        """
        check_path_of_file(path, self._target.suffix)
        data = self._bytes
        with show_wait(f"writing {Path(path).name}"):
            if golden:
                data = self._write([self._golden_of(name) for name in self._models])
            write_file(path, data)
        return Path(path)

    def text(self, stage: str = "ttir", *, elide_above: int | None = None) -> str:
        """All programs in ttir, in the target's dialect, or in C++.

        Constants of more than `elide_above` elements are left out.
        """
        stages = ("ttir", self._target.dialect, "cpp")
        if stage not in stages:
            raise ArgumentError(f"the stages of programs are {', '.join(stages)}, not '{stage}'")
        if stage == "cpp":
            return self._target.write_cpp(self._lowered, elide_above)
        module = self._ttir if stage == "ttir" else self._lowered
        return print_module(module, elide_larger_than=elide_above)


def _refuse_pickle(name: str) -> NoReturn:
    raise InputError(
        f"'{name}': several programs of one file are not pickled; save(path) writes them, and "
        "ttmlir.load(path, program=0) reads one of them"
    )


def _ttir_of(imported: ImportedModel, target: TargetName, options: str, front: str) -> ModuleOp:
    module = cloned(imported.module)
    with imported.in_terms_of_the_user():
        lower_to_ttir(module, imported.stage, target, options, front)
    return module


_EXPANSIONS = (
    "stablehlo-flatten-tuple,stablehlo-expand-linear-algebra,chlo-legalize-to-stablehlo,"
    "stablehlo-expand-functions"
)
"""What is done to StableHLO before the pipeline of 2026, which leaves it to others."""
_EXPANDED_PARTS = "stablehlo-expand-operations,stablehlo-expand-complex"
"""The same, after loops of complex numbers have become functions."""
_QUANTIZED = (
    "inline{canonicalize=false},stablehlo-refine-shapes,"
    "stablehlo-legalize-quant-to-math{spelling=2026}"
)
"""The same to programs of quantized tensors: arguments and results are the integers of those."""
_DIVISION = "sdy-split-sub-axes,sdy-remove-size-one-axes,stablehlo-pipeline{any-mesh=true}"
_COMPOSITES = (
    "stablehlo-legalize-composite-to-call{except-prefix=tenstorrent.},"
    "stablehlo-legalize-composite-to-call{only=tenstorrent.gelu_tanh}"
)
"""What is written as what it is made of: what the library does not have, or computes by erf."""
_GSPMD = "inline{canonicalize=false},convert-gspmd-to-sdy"
_BORDERS = "stablehlo-mesh-borders{whole-arguments=true}"
"""What is done before to programs of several devices, first to those of GSPMD."""


_DIVIDED = ("stablehlo", "ttir")
"""Stages of modules that may be for several devices."""


def is_divided(imported: ImportedModel) -> bool:
    """True for a model of several devices."""
    return imported.stage in _DIVIDED and find_division(imported.module) is not None


def check_devices(imported: ImportedModel, target: TargetName, options: str) -> bool:
    """True for a model of several devices.

    CompilationError where the target, or the spelling that is asked for, has programs of one.
    """
    division = find_division(imported.module) if imported.stage in _DIVIDED else None
    if division is None or is_spelled_late(target, options):
        return division is not None
    asked = f"target={target!r}" if target != "ttnn" else f"spelling={find_spelling(options)!r}"
    with imported.in_terms_of_the_user():
        refuse_at(
            _place_of(imported.module, division),
            f"the program is for several devices; {asked} has programs of one: leave it out, "
            "or give arguments without shardings",
        )


def _check_devices_of_programs(
    programs: Collection[ImportedModel], target: TargetName, options: str
) -> None:
    """CompilationError if some models of one file are for other devices."""
    divided = [each for each in programs if check_devices(each, target, options)]
    if divided and len(divided) < len(programs):
        division = find_division(divided[0].module)
        assert division is not None, "the model is for several devices"
        _refuse_beside(divided[0], division, "and another program of the file for one")


def _refuse_beside(imported: ImportedModel, division: Operation, why: str) -> NoReturn:
    with imported.in_terms_of_the_user():
        refuse_at(
            _place_of(imported.module, division),
            f"the program is for several devices, {why}: give it to ttmlir.compile alone, or give "
            "all programs arguments of one mesh",
        )


def _place_of(module: ModuleOp, division: Operation) -> Operation:
    """Where to say something of the devices of a program: meshes stand in no line of a model."""
    if not isinstance(division, MeshOp):
        return division
    function = public_function(module)
    return next((op for op in function.body.block.ops if op.name != "stablehlo.constant"), division)


def lower_model(
    module: ModuleOp,
    stage: str,
    signature: CallSignature | None,
    target: TargetName,
    options: str,
    front: str,
) -> None:
    """Lower a copy of a model's module to ttir, as `lower_to_ttir` does, and say what are weights.

    A module from a file has no signature.
    """
    lower_to_ttir(module, stage, target, options, front)
    if stage == "ttir" and signature is not None and fuses_layers(target, options):
        mark_parameters(module, signature.bound[: len(signature.bound) - signature.state])


def mark_parameters(module: ModuleOp, numbers: Iterable[int]) -> None:
    """Say of these arguments that they are weights: what follows from them alone is computed once,
    and may have a narrower format."""
    from ttmlir.dialects.ttcore import ArgumentTypeAttr
    from ttmlir.layout.enums import ArgumentType
    from ttmlir.passes.shardy.spreading.shardings import set_argument

    function = public_function(module)
    for number in numbers:
        kind = ArgumentTypeAttr(ArgumentType.PARAMETER)
        set_argument(function, number, ttcore__argument_type=kind)


def lower_to_ttir(
    module: ModuleOp, stage: str, target: TargetName, options: str, front: str = ""
) -> None:
    """Lower a module of a frontend; `front` are the options of the pipeline from StableHLO."""
    pipeline = TO_TTIR[stage]
    if pipeline == TO_TTIR["stablehlo"] and is_spelled_late(target, options):
        transform(module, _COMPOSITES)
        division = find_division(module)
        if division is not None:
            first = "" if isinstance(division, MeshOp) else f"{_GSPMD},"
            transform(module, f"{first}{_DIVISION},{_BORDERS}")
        transform(module, _EXPANSIONS)
        if _has_quantized(module):
            transform(module, _QUANTIZED)
        flattening = f"stablehlo-flatten-control-flow{{{front}}}"
        if _has_complex_loops(module):
            transform(module, flattening)
        transform(module, _EXPANDED_PARTS)
        late = (
            f"spelling={find_spelling(options)} keep-element-types=true "
            "enable-aggressive-simplification=true"
        )
        if front:
            transform(module, flattening)
        transform(module, "stablehlo-annotate-arguments")
        transform(module, f"{pipeline}{{{late}}}")
        from ttmlir.passes.stablehlo.convert_stablehlo_to_ttir_control import convert_custom_calls

        convert_custom_calls(module)
        return
    if pipeline == TO_TTIR["stablehlo"]:
        pipeline = f"{pipeline}{{spelling=2024 {front}}}"
    transform(module, pipeline)
    spell_ttir(module, target, options)
    if stage == "ttir" and find_division(module) is not None:
        transform(module, f"convert-stablehlo-to-ttir{{spelling={find_spelling(options)}}}")


def _has_quantized(module: ModuleOp) -> bool:
    """True if tensors of a program are quantized."""
    return any(
        is_tensor(value) and uniform_of(element_type(value)) is not None
        for op in module.walk()
        for value in (*op.operands, *op.results)
    )


def _has_complex_loops(module: ModuleOp) -> bool:
    """True if complex numbers are carried through a loop or out of a branch."""
    return any(
        op.name in ("stablehlo.while", "stablehlo.case", "stablehlo.if")
        and any(map(is_complex, (*op.operand_types, *op.result_types)))
        for op in module.walk()
    )


_MESHES = "ttcore.meshes"


def _check_meshes(imported: Mapping[str, ImportedModel], modules: Mapping[str, ModuleOp]) -> None:
    """Refuse programs of one file that are for meshes of other shapes."""
    meshes = {name: module.attributes.get(_MESHES) for name, module in modules.items()}
    first, *_ = meshes.values()
    for name, mesh in meshes.items():
        division = find_division(imported[name].module)
        if mesh != first and division is not None:
            _refuse_beside(imported[name], division, "and others of the file for another mesh")


def _join(modules: Mapping[str, ModuleOp]) -> ModuleOp:
    """One module of the functions of several, which are called as the modules are named."""
    from xdsl.dialects.builtin import ModuleOp, StringAttr
    from xdsl.dialects.func import FuncOp

    from ttmlir.ir.rewriting import rename_references
    from ttmlir.passes.general.ttcore_wrap_device_module import module_of_device

    joined = ModuleOp([])
    for name, module in modules.items():
        if _MESHES in module.attributes:
            joined.attributes[_MESHES] = module.attributes[_MESHES]
        functions = [op for op in module_of_device(module).ops if isinstance(op, FuncOp)]
        names = {
            each.sym_name.data: name
            if symbol_visibility(each) == "public"
            else f"{name}.{each.sym_name.data}"
            for each in functions
        }
        for op in module.walk():
            rename_references(op, names)
        for function in functions:
            function.detach()
            function.sym_name = StringAttr(names[function.sym_name.data])
            joined.body.block.add_op(function)
    return joined
