"""Runs prepared programs on NumPy arrays."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ttmlir.errors import ArgumentError, IterationLimitError
from ttmlir.limits import ITERATIONS_VARIABLE, iteration_limit
from ttmlir.optable.op_definition import Family
from ttmlir.program import ProgramDescription
from ttmlir.runtime.binary import Operation, chip_of
from ttmlir.runtime.errors import ExecutionError
from ttmlir.runtime.execution.operations import OperationCall
from ttmlir.runtime.execution.planning import plan_of
from ttmlir.runtime.execution.steps import (
    DATA_ERRORS,
    Branch,
    Call,
    Loop,
    PreparedProgram,
    Step,
    count_iterations,
)
from ttmlir.runtime.tensor import Array, Numerics

if TYPE_CHECKING:
    from ttmlir.runtime.generic import GenericProgram
    from ttmlir.sim.execution.run import ProgramReport
    from ttmlir.sim.machine.device import SimChip
    from ttmlir.sim.options import SimOptions
    from ttmlir.sim.timing.timeline import Timeline

# --- Runner ---------------------------------------------------------------------------------------
# Runs the programs of kernels of a `.ttnn` file, and keeps what they did.


@dataclass(frozen=True)
class GenericReport:
    """What the program of kernels of an operation did."""

    operation: Operation
    description: ProgramDescription
    report: ProgramReport
    timeline: Timeline | None

    @property
    def title(self) -> str:
        """The names of its kernels that compute, or of all if none does."""
        return self.description.title


@dataclass
class GenericRunner:
    """Runs programs of kernels one after another, each on a device of its own."""

    chip: SimChip
    options: SimOptions
    print_line: Callable[[str], None] | None = None
    record: bool = False
    """Keep what the threads of kernels do when."""
    reports: list[GenericReport] = field(default_factory=list[GenericReport])

    @classmethod
    def of(cls, prepared: PreparedProgram) -> GenericRunner:
        """For the chip and the numerics of a program."""
        # Most programs have no kernels, and run without the simulator's modules.
        from ttmlir.runtime.generic import simulator_options

        return cls(chip_of(prepared.program.binary), simulator_options(prepared.numerics))

    def run(
        self, operation: Operation, program: GenericProgram, inputs: Sequence[Array]
    ) -> tuple[Array, ...]:
        """The tensors that a program writes."""
        from ttmlir.runtime.generic import run_generic

        run = run_generic(
            program, inputs, self.chip, self.options, print_line=self.print_line, record=self.record
        )
        self.reports.append(GenericReport(operation, program.description, run.report, run.timeline))
        return run.outputs


# --- Executor -------------------------------------------------------------------------------------


class Observer(Protocol):
    """Sees every operation of a run, before and after.

    Loops and branches are one operation, unless the observer has an attribute `enters_functions`
    that is true: then it sees those of the functions in each iteration, too.
    """

    def before(self, run: Run, step: Step) -> None:
        """Called with the operands in place."""
        ...

    def after(self, run: Run, step: Step) -> None:
        """Called with the result in place."""
        ...


@dataclass
class Iterations:
    """How many iterations the loops of a run may still make."""

    most: int = field(default_factory=iteration_limit)
    left: int = 0

    def __post_init__(self) -> None:
        """Start with all of them."""
        self.left = self.most

    def take(self) -> None:
        """One more; IterationLimitError if there is none left."""
        self.left -= 1
        if self.left < 0:
            raise IterationLimitError(
                f"the loops of the program have made {self.most} iterations and would go on; the "
                f"environment variable {ITERATIONS_VARIABLE} sets another limit"
            )


@dataclass
class Run:
    """One run of a program: what its slots hold at the moment."""

    prepared: PreparedProgram
    values: list[Array | None]
    runner: GenericRunner | None = None
    """What runs programs of kernels; one is made for the first of them."""
    iterations: Iterations = field(default_factory=Iterations)
    observer: Observer | None = None
    """What sees the operations of functions."""

    def call(self, prepared: PreparedProgram) -> Run:
        """A run of a function of the file, which may be used again and again."""
        runner = self._shared_runner(prepared)
        values = _slots(prepared, self.observer)
        return Run(prepared, values, runner, self.iterations, self.observer)

    def _shared_runner(self, prepared: PreparedProgram) -> GenericRunner | None:
        """What runs the programs of kernels of functions, too."""
        if self.runner is None and prepared.has_kernels:
            self.runner = GenericRunner.of(self.prepared)
        return self.runner

    def value(self, slot: int) -> Array:
        """The array in a slot, which the current step must be allowed to see."""
        array = self.values[slot]
        assert array is not None, f"slot {slot} is empty"
        return array

    def output_of(self, step: Step) -> Array | None:
        """The result of a step; None for one without a result, such as dealloc."""
        return None if step.output is None else self.values[step.output]

    def operands_of(self, step: Step) -> tuple[Array, ...]:
        """The operands of a step that is about to run or has just run."""
        return tuple(self.value(slot) for slot in step.inputs)

    def run_kernels(self, step: Step) -> None:
        """Run the program of kernels of a step on the simulator."""
        assert step.generic is not None, "the step has a program of kernels"
        if self.runner is None:
            self.runner = GenericRunner.of(self.prepared)
        results = self.runner.run(step.operation, step.generic.program, self.operands_of(step))
        for slot, array in zip(step.generic.outputs, results, strict=True):
            self.values[slot] = array


def execute(
    prepared: PreparedProgram,
    inputs: Sequence[Array],
    observer: Observer | None = None,
    runner: GenericRunner | None = None,
) -> list[Array]:
    """Run a program; inputs are in compute types and of the right shapes.

    `runner` says how its programs of kernels run, and keeps what they did.

    Programs of several devices run in `ttmlir.runtime.execution.mesh`.

    Returns arrays that share no memory with the inputs, the program or each other.
    """
    run = Run(prepared, _slots(prepared, observer), runner)
    for slot, array in zip(prepared.inputs, inputs, strict=True):
        run.values[slot] = array
    with np.errstate(all="ignore"):
        if observer is None:
            _run_steps(run)
        else:
            run.observer = observer if getattr(observer, "enters_functions", False) else None
            _run_observed(run, observer)
    outputs = plan_of(prepared).outputs if observer is None else prepared.outputs
    return own_arrays([run.value(slot) for slot in outputs], inputs)


_SMALL = 8 << 20
"""Bytes of programs that are rehearsed: a step of larger ones may take longer than it saves."""
_MOMENT = 0.02
"""Seconds after which a rehearsal begins no other step."""
_SHORT = 1 << 26
"""Numbers that a step of a rehearsal combines at most: that takes up to 10 ms."""


def rehearse(prepared: PreparedProgram) -> None:
    """Run a small program on zeros for a moment, up to its first loop, branch, kernel or long step.

    So the first run finds code and memory that would otherwise be loaded and cleared then.
    """
    if prepared.host_bytes > _SMALL or prepared.numerics is not Numerics.EXACT:
        return
    values = _slots(prepared, None)
    for slot, ref in zip(prepared.inputs, prepared.program.inputs, strict=True):
        values[slot] = np.zeros(ref.desc.shape, ref.desc.element.compute)
    end = time.process_time() + _MOMENT
    # What is wrong with zeros may be right with other numbers.
    with np.errstate(all="ignore"), suppress(*DATA_ERRORS):
        for step in plan_of(prepared).steps:
            is_long = step.call is not None and _combined_by(step.call) > _SHORT
            if step.function is None or is_long or time.process_time() > end:
                return
            _write(values, step, step.function(*(values[slot] for slot in step.inputs)))
            for slot in step.release:
                values[slot] = None


def _combined_by(call: OperationCall) -> int:
    """How many numbers products and windows combine, about; 0 of anything else."""
    shapes = [ref.desc.shape for ref in call.operands if ref is not None]
    volume, family = call.output.desc.volume, call.definition.family
    if family is Family.CONTRACTION:
        return volume * shapes[0][-1]
    if family is not Family.WINDOW:
        return 0
    if call.definition.mnemonic == "conv_transpose2d":
        volume = math.prod(shapes[0])
    sizes = [number for name, number in call.parameters.items() if name.startswith("kernel_")]
    return volume * math.prod(shapes[1][1:] if len(shapes) > 1 else sizes)


def _slots(prepared: PreparedProgram, observer: Observer | None) -> list[Array | None]:
    """The slots of a run before it begins."""
    return list(plan_of(prepared).values) if observer is None else [None] * prepared.slots


def _run_steps(run: Run) -> None:
    values = run.values
    for step in plan_of(run.prepared).steps:
        function = step.function
        if function is not None:
            arguments = [values[slot] for slot in step.inputs]
            try:
                _write(values, step, function(*arguments))
            except DATA_ERRORS as error:
                raise failure_of(step, error) from error
        elif step.generic is not None:
            run.run_kernels(step)
        elif step.control is not None:
            _run_control(run, step, step.control)
        for slot in step.release:
            values[slot] = None


def _run_observed(run: Run, observer: Observer) -> None:
    for step in run.prepared.steps:
        observer.before(run, step)
        run_step(run, step)
        observer.after(run, step)
        for slot in step.release:
            run.values[slot] = None


def run_step(run: Run, step: Step) -> None:
    """Run one step; ExecutionError if it cannot be done with the numbers that it gets."""
    if step.function is not None:
        try:
            _write(run.values, step, step.function(*run.operands_of(step)))
        except DATA_ERRORS as error:
            raise failure_of(step, error) from error
    elif step.generic is not None:
        run.run_kernels(step)
    elif step.control is not None:
        _run_control(run, step, step.control)


def _run_control(run: Run, step: Step, control: Loop | Branch | Call) -> None:
    arrays = list(run.operands_of(step))
    try:
        if isinstance(control, Loop):
            results = _run_loop(run, control, arrays)
        elif isinstance(control, Call):
            results = _call(run.call(control.callees[0]), arrays)
        else:
            number = int(arrays[0].reshape(())[()])
            is_branch = 0 <= number < len(control.callees)
            callee = control.callees[number if is_branch else -1]
            results = _call(run.call(callee), arrays[1:])
    except ExecutionError:
        raise
    except DATA_ERRORS as error:
        raise failure_of(step, error) from error
    for slot, array in zip(control.outputs, results, strict=True):
        run.values[slot] = array


def _run_loop(run: Run, loop: Loop, arrays: list[Array]) -> list[Array]:
    """The carried arrays after the last iteration."""
    for place in loop.owned:
        arrays[place] = np.array(arrays[place])
    carried = len(loop.outputs)
    body, iterations = run.call(loop.body), run.iterations
    if loop.condition is None:
        for _ in range(iterations_of(loop, arrays)):
            iterations.take()
            arrays[:carried] = _call(body, arrays)
        return arrays[:carried]
    condition = run.call(loop.condition)
    while _call(condition, arrays)[0].reshape(())[()]:
        iterations.take()
        arrays[:carried] = _call(body, arrays)
    return arrays[:carried]


def iterations_of(loop: Loop, arrays: Sequence[Array]) -> int:
    """The number of iterations of a loop that counts."""
    if not loop.bounds:
        return loop.known_iterations
    numbers = (
        number if place is None else int(arrays[place].reshape(())[()])
        for number, place in loop.bounds
    )
    count = count_iterations(*numbers)
    if count is None:
        raise ArgumentError("the step of its counter is 0")
    return count


def _call(run: Run, arrays: Sequence[Array]) -> list[Array]:
    """The results of a function, which may share memory with its arguments."""
    values, prepared = run.values, run.prepared
    for slot, array in zip(prepared.inputs, arrays, strict=True):
        values[slot] = array
    if run.observer is None:
        _run_steps(run)
    else:
        _run_observed(run, run.observer)
    outputs = plan_of(prepared).outputs if run.observer is None else prepared.outputs
    return [run.value(slot) for slot in outputs]


def _write(values: list[Array | None], step: Step, result: Any) -> None:
    assert step.output is not None, "a step with a function has an output"
    if not step.further:
        values[step.output] = result
        return
    for slot, array in zip(step.written, result, strict=True):
        values[slot] = array


def failure_of(step: Step, error: Exception) -> ExecutionError:
    """What is said of an error of a step."""
    reason = "not enough memory" if isinstance(error, MemoryError) else str(error)
    return ExecutionError(f"{step.operation.where}: {reason}")


def own_arrays(arrays: list[Array], inputs: Sequence[Array]) -> list[Array]:
    """Copy results that are views of memory that belongs to somebody else."""
    results: list[Array] = []
    for array in arrays:
        foreign = not array.flags.writeable or any(
            np.may_share_memory(array, other) for other in (*inputs, *results)
        )
        results.append(np.array(array) if foreign else array)
    return results
