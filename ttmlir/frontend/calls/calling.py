"""What a compiled model and one from a file have in common: a binary that is called like a model.

A `CallingConvention` says how the arguments of a call become the arrays of the program, and its
results what the call returns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ttmlir.collector import without_collections
from ttmlir.runtime.binary import Binary, BinaryProgram
from ttmlir.runtime.device import Device, open_device
from ttmlir.runtime.element import Array, Numerics, widen
from ttmlir.runtime.errors import BinaryError, InputError, UnsupportedError
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import submit
from ttmlir.runtime.tensor import Tensor, TensorDesc
from ttmlir.terminal import show_wait

if TYPE_CHECKING:
    from ttmlir.cost import Estimate
    from ttmlir.frontend.model_profile import ModelProfile
    from ttmlir.frontend.plot import ModelPlot
    from ttmlir.frontend.summary import ModelSummary

Number = bool | int | float
NumericsName = Literal["exact", "device"]

MANY = 4
"""A model shows as many inputs and outputs when it is printed."""


@dataclass(frozen=True, kw_only=True)
class CallingConvention:
    """Between the values of a call and the arrays of a program."""

    name: str
    """The name of the model in messages and in the file."""
    input_names: Sequence[str]
    """The user's names for the arrays of `flatten`, such as `params['w']`."""
    flatten: Callable[[tuple[Any, ...], dict[str, Any]], Sequence[Array | Number]]
    """From the arguments of a call to arrays, and numbers of Python, which become arrays of the
    type that the program takes; raises InputError for another structure."""
    unflatten: Callable[[Sequence[Array]], Any]
    """From results to what a call returns."""
    bound: Mapping[int, Array] = field(default_factory=dict[int, Array])
    """Inputs of the program that a call does not pass, by index: weights kept outside."""


class CallableModel:
    """A program of a binary, called as the model that it was compiled from."""

    def __init__(
        self,
        data: bytes | memoryview,
        convention: CallingConvention,
        *,
        file_name: str,
        program: int = 0,
        numerics: NumericsName = "exact",
    ) -> None:
        """Wrap the bytes of a file; `file_name` names it in messages."""
        self.numerics: NumericsName = checked_numerics(numerics)
        self._bytes = data
        self._convention = convention
        self._file_name = file_name
        self._program_index = program

    @property
    def name(self) -> str:
        """The name of the model."""
        return self._convention.name

    @cached_property
    def binary(self) -> Binary:
        """The file as the runtime reads it."""
        return read_binary(self._bytes, self._file_name)

    @cached_property
    def inputs(self) -> tuple[tuple[str, TensorDesc], ...]:
        """Names and descriptions of the arrays that a call passes."""
        descs = [
            ref.desc
            for index, ref in enumerate(self._program.inputs)
            if index not in self._convention.bound
        ]
        return tuple(zip(self._convention.input_names, descs, strict=True))

    @property
    def outputs(self) -> tuple[TensorDesc, ...]:
        """Descriptions of the arrays that the program computes."""
        return tuple(ref.desc for ref in self._program.outputs)

    @property
    def _program(self) -> BinaryProgram:
        return self.binary.program(self._program_index)

    def __call__(self, *args: Any, numerics: NumericsName | None = None, **kwargs: Any) -> Any:
        """Run the model; arguments are those of the function that was compiled."""
        return self.run_arrays(self.flatten(args, kwargs), numerics=numerics)

    def prepare(self) -> None:
        """Do beforehand what the first call would otherwise take longer for.

        Compiled models are prepared. Programs that cannot run are refused when they are called.
        """
        with without_collections(), suppress(BinaryError, UnsupportedError):
            if not self.binary.is_metal:
                prepare(self._program, Numerics(self.numerics)).make_plans()

    def flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array | Number]:
        """The arrays in the arguments of a call, and its numbers; InputError for another form."""
        return list(self._convention.flatten(args, kwargs))

    def run_arrays(
        self,
        given: Sequence[Array | Number],
        *,
        numerics: NumericsName | None = None,
        change: Callable[[Sequence[Array]], Sequence[Array]] = list,
    ) -> Any:
        """Run the model on what `flatten` gives; `change` is made to the arrays of the results."""
        device = self._device(self._numerics(numerics))
        tensors = [Tensor.from_numpy(array) for array in self._complete(given)]
        # What runs with NumPy is called often, and mostly too short for a bar.
        with show_wait(f"running {self.name}", quiet=not self.binary.is_metal):
            results = submit(device, self.binary, self._program_index, tensors)
        return self._convention.unflatten(change([result.to_numpy() for result in results]))

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
        with show_wait(f"timing {self.name}"):
            outputs, runs = run_recorded(self._program, arrays, Numerics(self._numerics(numerics)))
        return ModelProfile(self.name, self._convention.unflatten(outputs), runs)

    def estimate(
        self, board: str | os.PathLike[str] | None = None, *, traced: bool = True
    ) -> Estimate:
        """How long the program would take on a board, operation by operation, without running it.

            estimate = compiled.estimate("n150")
            print(estimate, estimate.total.mid, estimate.rate(batch=8, unit="images"))
            estimate.write("operations.csv")

        `board` is a name, the path of a `.ttsys` file, or None: what the model was compiled for.
        Programs are launched from a trace, or, if they are not `traced`, called one by one by the
        host. For calls of the ttnn library only: `profile` simulates kernels.
        """
        from ttmlir.cost import estimate_program

        return estimate_program(self._program, board, traced=traced)

    def summary(self, board: str | os.PathLike[str] | None = None) -> ModelSummary:
        """Layers with their operations, parameters and estimated times, and the memory they take.

        Times are for a `board` as in `estimate`; models of kernels have none, see `profile`.
        """
        from ttmlir.frontend.summary import summarize

        return summarize(self._program, self._spell_signature(), len(self._bytes), board)

    def plot(self, board: str | os.PathLike[str] | None = None) -> ModelPlot:
        """A picture: operations under the roofline of a board, and the time of each layer.

            compiled.plot("n150").save("model.png")

        `board` is as in `estimate`. ImportError without matplotlib: the extra `plot` installs it.
        """
        from ttmlir.frontend.plot import plot_estimate

        return plot_estimate(self.estimate(board), self.name)

    def _repr_html_(self) -> str:
        """The summary, for notebooks."""
        return self.summary().to_html()

    def to_bytes(self) -> bytes:
        """The `.ttnn` or `.ttm` file."""
        return bytes(self._bytes)

    def __repr__(self) -> str:
        """Signature and size."""
        return (
            f"{type(self).__name__}({self._spell_signature()}, {describe_size(self._program)}, "
            f"{len(self._bytes):,} bytes, numerics={self.numerics})"
        )

    def _spell_signature(self) -> str:
        """Name, arguments and results."""
        inputs = _join([f"{name}: {spell_type(desc)}" for name, desc in self.inputs])
        outputs = _join([spell_type(desc) for desc in self.outputs])
        return f"{self.name}({inputs}) -> ({outputs})"

    def _numerics(self, asked: NumericsName | None) -> NumericsName:
        return self.numerics if asked is None else checked_numerics(asked)

    @cached_property
    def _devices(self) -> dict[str, Device]:
        return {}

    def _device(self, numerics: NumericsName) -> Device:
        if numerics not in self._devices:
            self._devices[numerics] = open_device(numerics=Numerics(numerics))
        return self._devices[numerics]

    def _arrays(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Array]:
        """All arrays that the program takes."""
        return self._complete(self.flatten(args, kwargs))

    def _complete(self, given: Sequence[Array | Number]) -> list[Array]:
        """All arrays that the program takes, checked against what it was compiled for."""
        if len(given) != len(self.inputs):
            raise InputError(f"'{self.name}' takes {len(self.inputs)} arrays, got {len(given)}")
        arrays = [
            np.asarray(value, desc.element.host) if isinstance(value, Number) else value
            for (_, desc), value in zip(self.inputs, given, strict=True)
        ]
        arrays = [
            widen(array, desc.element.host)
            for (_, desc), array in zip(self.inputs, arrays, strict=True)
        ]
        wrong = [
            f"{name} is {_array_type(array)} instead of {spell_type(desc)}"
            for (name, desc), array in zip(self.inputs, arrays, strict=True)
            if (array.shape, array.dtype) != (desc.shape, desc.element.host)
        ]
        if wrong:
            raise InputError(
                f"'{self.name}' was compiled for other arguments: {'; '.join(wrong)}; "
                f"{self.REMEDY_FOR_OTHER_ARGUMENTS}"
            )
        for index in sorted(self._convention.bound):
            arrays.insert(index, self._convention.bound[index])
        return arrays

    REMEDY_FOR_OTHER_ARGUMENTS = "give arguments of these shapes and types"


def describe_size(program: BinaryProgram) -> str:
    """What a program does, counted: operations of the library, or launches of kernels."""
    if not program.binary.is_metal:
        return f"{len(program.operations)} ttnn operations"
    from ttmlir.runtime.metal.program import MetalProgram

    assert isinstance(program, MetalProgram), "the file is a .ttm file"
    launches = len(program.launches)
    return f"{launches} program{'s' * (launches != 1)} of kernels"


def checked_numerics(name: str) -> NumericsName:
    """The name of numerics; ValueError for another one."""
    if name not in ("exact", "device"):
        raise ValueError(f"numerics are 'exact' or 'device', not {name!r}")
    return name


def _join(texts: list[str]) -> str:
    """Texts separated by commas; of many the first ones and their number."""
    if len(texts) > MANY + 1:
        texts = [*texts[:MANY], f"... {len(texts) - MANY} more"]
    return ", ".join(texts)


def spell_type(desc: TensorDesc) -> str:
    """Element type and shape: `float32[33,70]`."""
    return f"{desc.element.host}[{','.join(map(str, desc.shape))}]"


def _array_type(array: Array) -> str:
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"
