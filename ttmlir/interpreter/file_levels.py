"""The last level of a program: its file, run as `ttrt run` runs it, and what is seen of that."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from ttmlir.compiler import (
    spell_pipeline,
    transform,
    transform_in_parts,
    write_ttm,
    write_ttnn,
)
from ttmlir.interpreter.statistics import Trace, number_in, number_of
from ttmlir.mlir.attributes import cloned
from ttmlir.optable import DEFINITIONS
from ttmlir.optable.op_definition import Family
from ttmlir.runtime.binary import BinaryProgram
from ttmlir.runtime.execution.executor import Run
from ttmlir.runtime.loading import read_binary
from ttmlir.runtime.session import prepare_submission, run_prepared, to_host, to_layout
from ttmlir.runtime.tensor import Array, Numerics, Tensor, convert, open_device
from ttmlir.runtime.ttrt.running import fit_inputs

if TYPE_CHECKING:
    from ttmlir.interpreter.kernel_check import KernelDifference
    from ttmlir.runtime.execution.steps import Step
    from ttmlir.runtime.golden import Tolerance
    from ttmlir.runtime.metal_program import Command
    from ttmlir.runtime.metal_session import Session

_CONSTANTS = ("ConstantOp", "FullOp")
SCHEDULED = "convert-d2m-to-ttkernel"
"""In front of this pass, a module says which tiles each core reads and writes, and has no kernels.
"""
UNDIVIDED = "d2m-grid-selection"
"""In front of this pass, operations are one block on one core."""


@dataclass(frozen=True, kw_only=True)
class FileLevel(ABC):
    """The program in a file."""

    name: ClassVar[str]
    target: ClassVar[str] = "ttnn"
    """Of `ttmlir.compiler.PIPELINES`."""
    options: ClassVar[str] = ""
    """Of the pipeline."""
    between: ClassVar[Mapping[str, str]] = MappingProxyType({})
    """Levels between ttir and the file, with the passes of the pipeline that they are in front of.
    """
    module: ModuleOp
    """At the end of the pipeline."""
    source: ModuleOp
    """In front of it."""
    function: str
    pipeline_options: str = ""
    """All that the pipeline was given."""

    @classmethod
    def lower(cls, module: ModuleOp, options: str) -> None:
        """Run the pipeline to the file, with these options, on a module in ttir."""
        transform(module, spell_pipeline(cls.target, options))

    @abstractmethod
    def write(self) -> bytes:
        """The file."""

    @abstractmethod
    def run_arrays(
        self, program: BinaryProgram, arrays: Sequence[Array], numerics: Numerics
    ) -> Trace:
        """Run the program on inputs of the right types."""

    def program(self) -> BinaryProgram:
        """The program of the file."""
        binary = read_binary(self.write(), f"bisect, {self.name}")
        return next(program for program in binary.programs if program.name == self.function)

    def find_wrong_kernel(
        self, inputs: Sequence[Any], numerics: Numerics, tolerance: Tolerance
    ) -> KernelDifference | None:
        """The first tile that is wrong in a program of kernels; None if there are no kernels."""
        return None

    def run(self, inputs: Sequence[Any], numerics: Numerics) -> Trace:
        """Run the program."""
        program = self.program()
        arrays = fit_inputs(program, [np.asarray(given) for given in inputs])
        return self.run_arrays(program, arrays, numerics)


class TTNNFile(FileLevel):
    """Calls of the ttnn library; all their results are seen."""

    name = "ttnn"

    def write(self) -> bytes:
        """The `.ttnn` file."""
        return write_ttnn(self.module)

    def run_arrays(
        self, program: BinaryProgram, arrays: Sequence[Array], numerics: Numerics
    ) -> Trace:
        """Run the program with NumPy."""
        observer = _CallObserver(_end_in_functions(self.source))
        device = open_device(numerics=numerics)
        tensors = [
            to_layout(Tensor.from_numpy(array), device, ref.desc)
            for array, ref in zip(arrays, program.inputs, strict=True)
        ]
        prepared = prepare_submission(device, program.binary, program.index, tensors)
        results = run_prepared(device, prepared, tensors, observer)
        observer.trace.outputs = [to_host(result).to_numpy() for result in results]
        return observer.trace


class PartsFile(TTNNFile):
    """Kernels of those parts of a program that have some, among calls of the library."""

    target = "kernels"

    @classmethod
    def lower(cls, module: ModuleOp, options: str) -> None:
        """Make kernels of the parts, and calls of the others."""
        transform_in_parts(module, options)


class KernelFile(FileLevel):
    """Programs of kernels; what each leaves in its buffers is seen, not what is inside of it."""

    name = "ttmetal"
    target = "kernels"
    between = MappingProxyType(
        {"d2m": "d2m-generic-fusion", "d2m fused": "ttcore-one-shot-bufferize"}
    )

    def write(self) -> bytes:
        """The `.ttm` file."""
        return write_ttm(self.module)

    def run_arrays(
        self, program: BinaryProgram, arrays: Sequence[Array], numerics: Numerics
    ) -> Trace:
        """Run the kernels on the simulator."""
        from ttmlir.runtime.generic import simulator_options
        from ttmlir.runtime.metal_program import MetalProgram
        from ttmlir.runtime.metal_session import execute, needed_leniencies

        assert isinstance(program, MetalProgram), "the file is a .ttm file"
        values = [
            convert(array, ref.desc.element.compute)
            for array, ref in zip(arrays, program.inputs, strict=True)
        ]
        observer = _LaunchObserver()
        options = replace(
            simulator_options(numerics), timed=False, leniencies=needed_leniencies(program)
        )
        run = execute(program, values, options, observer=observer)
        observer.trace.outputs = [
            convert(values, ref.desc.element.host)
            for values, ref in zip(run.outputs, program.outputs, strict=True)
        ]
        return observer.trace

    def find_wrong_kernel(
        self, inputs: Sequence[Any], numerics: Numerics, tolerance: Tolerance
    ) -> KernelDifference | None:
        """The first tile that a kernel has wrong, by what the module says before kernels."""
        from ttmlir.interpreter.kernel_check import check_kernels
        from ttmlir.runtime.metal_program import MetalProgram

        schedule, whole = cloned(self.source), cloned(self.source)
        pipeline = spell_pipeline(self.target, self.pipeline_options)
        transform(schedule, pipeline, until=SCHEDULED)
        transform(whole, pipeline, until=UNDIVIDED)
        program = self.program()
        assert isinstance(program, MetalProgram), "the file is a .ttm file"
        arrays = fit_inputs(program, [np.asarray(given) for given in inputs])
        values = [
            convert(array, ref.desc.element.compute)
            for array, ref in zip(arrays, program.inputs, strict=True)
        ]
        return check_kernels(program, values, schedule, whole, numerics, tolerance)


class UnfusedKernelFile(KernelFile):
    """A program of kernels for each operation: what each operation has computed is seen."""

    name = "ttmetal unfused"
    options = "enable-fusion=false"


FILE_LEVELS: Mapping[str, tuple[type[FileLevel], ...]] = MappingProxyType(
    {"ttnn": (TTNNFile,), "kernels": (UnfusedKernelFile, KernelFile)}
)
"""By the targets of `ttmlir.compiler.PIPELINES`; the last one is what users compile."""


def _end_in_functions(module: ModuleOp) -> frozenset[int]:
    """The numbers of what ends in a function of single numbers, as the exponential of a difference
    is one operation in linalg."""
    ends = {number_of(op): DEFINITIONS.get(op.name.partition(".")[2]) for op in module.walk()}
    return frozenset(
        number
        for number, last in ends.items()
        if number is not None and last is not None and last.family is Family.UNARY
    )


@dataclass
class _CallObserver:
    enters_functions = True
    end_in_functions: frozenset[int]
    """Numbers of operations whose last part may be applied by the one in front of it."""
    trace: Trace = field(default_factory=Trace)

    def before(self, run: Run, step: Step) -> None:
        """Nothing to do."""

    def after(self, run: Run, step: Step) -> None:
        """Note the results of what computes; moves have the locations of operations, too.

        Activations that another operation applies have its location, and are something else unless
        they are the end of the same one.
        """
        call, number = step.call, number_in(step.operation.location)
        if call is not None and step.operation.is_free and call.definition.family is Family.UNARY:
            if number not in self.end_in_functions:
                return
        if call is not None or step.operation.table in _CONSTANTS:
            for slot in step.written:
                # A loop may write to a tensor in place in its next iteration.
                self.trace.note(number, np.array(run.values[slot]))


@dataclass
class _LaunchObserver:
    trace: Trace = field(default_factory=Trace)

    def after(self, session: Session, command: Command) -> None:
        """Note what a program has computed, under the last operation that is in it."""
        from ttmlir.runtime.metal_session import read_output, reference_of

        if not command.is_launch:
            return
        reference = reference_of(command)
        for output in reference.outputs if reference.rows else ():
            values = read_output(session, command, output)
            self.trace.note(number_in(command.location), values)
