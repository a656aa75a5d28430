"""Runs prepared programs on all devices of a mesh, step by step.

Each device has its own array in a slot, or all share one: what is the same on all devices is kept
and computed once. Devices run in step, so every exchange finds what all of them have. Loops and
branches within which devices exchange nothing run device by device; where they do, all devices
have to take the same way, as those that wait for the others would wait for ever.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import cast

import numpy as np

from ttmlir.errors import ArgumentError
from ttmlir.optable.op_definition import Shape
from ttmlir.runtime.errors import ExecutionError
from ttmlir.runtime.execution import executor
from ttmlir.runtime.execution.executor import Observer, Run
from ttmlir.runtime.execution.steps import (
    DATA_ERRORS,
    Loop,
    PreparedProgram,
    Step,
    count_iterations,
)
from ttmlir.runtime.tensor import Array


class Shards(tuple[Array, ...]):
    """The arrays that the devices of a mesh have, in row-major order."""

    __slots__ = ()


Value = Array | Shards


def parts_of(value: Value, devices: int) -> tuple[Array, ...]:
    """The array of each device."""
    return value if isinstance(value, Shards) else (value,) * devices


def _joined(parts: Sequence[Array]) -> Value:
    """The arrays of all devices; one array if it is the same one."""
    first = parts[0]
    return first if all(part is first for part in parts) else Shards(parts)


@dataclass
class MeshRun(Run):
    """A run on all devices; observers see what the first device has."""

    shards: dict[int, Shards] = field(default_factory=dict[int, Shards])
    """What devices have where they differ, by slot; `values` has the arrays of the first one."""
    parts: dict[int, Sequence[Array]] = field(default_factory=dict[int, "Sequence[Array]"])
    """Of what parts of all devices were put together to, these, by slot."""

    @property
    def devices(self) -> int:
        """How many devices there are."""
        return self.prepared.devices

    def held(self, slot: int) -> Value:
        """What the devices have in a slot."""
        return self.shards.get(slot, self.values[slot])  # pyright: ignore[reportReturnType]

    def put(self, slot: int, value: Value) -> None:
        """Let the devices have something in a slot."""
        if isinstance(value, Shards):
            self.shards[slot] = value
            self.values[slot] = value[0]
        else:
            self.shards.pop(slot, None)
            self.values[slot] = value

    def release(self, slot: int) -> None:
        """Forget what is in a slot."""
        self.values[slot] = None
        self.shards.pop(slot, None)


def run_on_mesh(
    prepared: PreparedProgram,
    inputs: Sequence[Value],
    observer: Observer | None,
    runner: executor.GenericRunner | None,
) -> list[Array]:
    """The results of a program; ExecutionError for one that differs from device to device."""
    run = MeshRun(prepared, [None] * prepared.slots, runner)
    if getattr(observer, "enters_functions", False):
        run.observer = observer
    with np.errstate(all="ignore"):
        results = _call(run, inputs, observer)
    for number, value in enumerate(results):
        if isinstance(value, Shards):
            raise ExecutionError(
                f"{prepared.program.where}: result {number} is in parts on {run.devices} devices; "
                "compile the program so that it puts the parts together"
            )
    return executor.own_arrays(cast("list[Array]", results), cast("Sequence[Array]", inputs))


def _call(run: MeshRun, inputs: Sequence[Value], observer: Observer | None = None) -> list[Value]:
    for slot, value in zip(run.prepared.inputs, inputs, strict=True):
        run.put(slot, value)
    observer = observer or run.observer
    for step in run.prepared.steps:
        if observer is not None:
            observer.before(run, step)
        _run_step(run, step)
        if observer is not None:
            observer.after(run, step)
        for slot in step.release:
            run.release(slot)
    return [run.held(slot) for slot in run.prepared.outputs]


def _run_step(run: MeshRun, step: Step) -> None:
    operands = [run.held(slot) for slot in step.inputs]
    try:
        if step.exchange is not None:
            assert step.output is not None, "an exchange has a result"
            parts = [parts_of(each, run.devices) for each in operands]
            run.put(step.output, _joined(step.exchange(*parts)))
            if not step.exchange.divides:
                run.parts[step.output] = parts[0]
        elif step.is_idle:
            return
        elif step.control is not None and step.control.has_exchanges:
            _run_together(run, step, operands)
        else:
            _run_apart(run, step, operands)
            _follow_parts(run, step)
    except ExecutionError:
        raise
    except DATA_ERRORS as error:
        raise executor.failure_of(step, error) from error


def _follow_parts(run: MeshRun, step: Step) -> None:
    """What is stored in another way, or has another shape, is still put together of parts."""
    if len(step.inputs) != 1 or step.inputs[0] not in run.parts or step.output is None:
        return
    parts = run.parts[step.inputs[0]]
    if step.call is None and step.function is not None:
        run.parts[step.output] = [step.function(part) for part in parts]
        return
    mnemonic = "" if step.call is None else step.call.definition.mnemonic
    whole, shape = run.value(step.inputs[0]).shape, run.value(step.output).shape
    if mnemonic == "slice":
        # The first of several copies is taken, each of which was a part.
        extents = zip(whole, shape, parts[0].shape, strict=True)
        if all(one == kept or part == 1 for one, kept, part in extents):
            run.parts[step.output] = parts
    elif mnemonic == "reshape":
        run.parts[step.output] = [
            part.reshape(_shape_of_part(whole, part.shape, shape)) for part in parts
        ]


def _shape_of_part(whole: Shape, part: Shape, shape: Shape) -> Shape:
    """The shape of a part where dimensions of the whole become one."""
    found: list[int] = []
    extents = list(zip(whole, part, strict=True))
    for extent in shape:
        own, length = 1, 1
        while own < extent and extents:
            more, local = extents.pop(0)
            own, length = own * more, length * local
        found.append(length)
    return tuple(found)


def results_by_device(prepared: PreparedProgram, inputs: Sequence[Array]) -> list[list[Array]]:
    """What each device has of each result, in row-major order of the mesh."""
    run = MeshRun(prepared, [None] * prepared.slots)
    with np.errstate(all="ignore"):
        results = _call(run, inputs)
    return [
        list(run.parts.get(slot) or parts_of(value, run.devices))
        for slot, value in zip(prepared.outputs, results, strict=True)
    ]


def _run_apart(run: MeshRun, step: Step, operands: Sequence[Value]) -> None:
    """Run a step of each device on its own, or once if all have the same."""
    if not any(isinstance(each, Shards) for each in operands):
        for slot, array in zip(step.written, _alone(run, step, operands), strict=True):
            run.put(slot, array)
        return
    results = [
        _alone(run, step, given)
        for given in zip(*(parts_of(each, run.devices) for each in operands), strict=True)
    ]
    for slot, parts in zip(step.written, zip(*results, strict=True), strict=True):
        run.put(slot, Shards(parts))


def _alone(run: MeshRun, step: Step, operands: Sequence[Value]) -> list[Array]:
    """What a step gives one device."""
    arrays = cast("Sequence[Array]", operands)
    if step.function is not None:
        result = step.function(*arrays)
        return list(result) if step.further else [result]
    one = Run(run.prepared, [None] * run.prepared.slots, run.runner, run.iterations, run.observer)
    for slot, array in zip(step.inputs, arrays, strict=True):
        one.values[slot] = array
    executor.run_step(one, step)
    run.runner = one.runner
    return [one.value(slot) for slot in step.written]


def _run_together(run: MeshRun, step: Step, operands: list[Value]) -> None:
    """Run the functions of a loop or branch on all devices in step."""
    control = step.control
    assert control is not None, "the step has functions"

    def call(callee: PreparedProgram, values: Sequence[Value]) -> list[Value]:
        inner = MeshRun(callee, [None] * callee.slots, run.runner, run.iterations, run.observer)
        return _call(inner, values)

    if isinstance(control, Loop):
        results = _loop(run, step, control, operands, call)
    elif len(control.callees) == 1 and len(operands) == len(control.callees[0].inputs):
        results = call(control.callees[0], operands)
    else:
        numbers = _decide(run, step, operands[0])
        last = len(control.callees) - 1
        chosen = [number if 0 <= number <= last else last for number in numbers]
        made = {n: call(control.callees[n], operands[1:]) for n in dict.fromkeys(chosen)}
        results = [
            _picked([each[place] for each in made.values()], [[*made].index(n) for n in chosen])
            for place in range(len(control.outputs))
        ]
    for slot, value in zip(control.outputs, results, strict=True):
        run.put(slot, value)


def _loop(
    run: MeshRun,
    step: Step,
    loop: Loop,
    values: list[Value],
    call: Callable[[PreparedProgram, Sequence[Value]], list[Value]],
) -> list[Value]:
    for place in loop.owned:
        values[place] = Shards(np.array(part) for part in parts_of(values[place], run.devices))
    carried = len(loop.outputs)
    left = [1] * run.devices
    if loop.condition is None:
        bounds = [
            _decide(run, step, values[place]) if place is not None else [number] * run.devices
            for number, place in loop.bounds
        ]
        counts = [count_iterations(*each) for each in zip(*bounds, strict=True)]
        if None in counts:
            raise ArgumentError("the step of its counter is 0")
        left = [each or 0 for each in counts] if counts else [loop.known_iterations] * run.devices
        if loop.body.waits:
            _require_one_way(step, left)
    while True:
        if loop.condition is not None:
            asked = _decide(run, step, call(loop.condition, values)[0])
            left = [each and one for each, one in zip(left, asked, strict=True)]
        if not any(left):
            return values[:carried]
        run.iterations.take()
        if all(left):
            made = call(loop.body, values)
        else:
            # Devices that are done keep what they have.
            before = [
                Shards(np.array(part) for part in parts_of(value, run.devices))
                for value in values[:carried]
            ]
            after = call(loop.body, values)
            made = [
                _picked(pair, [int(bool(each)) for each in left])
                for pair in zip(before, after, strict=True)
            ]
        values[:carried] = made
        if loop.condition is None:
            left = [max(0, each - 1) for each in left]


def _picked(values: Sequence[Value], chosen: Sequence[int]) -> Value:
    """For each device, the array of the value that it chooses."""
    devices = len(chosen)
    return _joined([parts_of(values[n], devices)[device] for device, n in enumerate(chosen)])


def _decide(run: MeshRun, step: Step, value: Value) -> list[int]:
    """The number by which each device decides; the same on all if they wait for each other."""
    numbers = [int(part.reshape(())[()]) for part in parts_of(value, run.devices)]
    if step.control is not None and any(callee.waits for callee in step.control.callees):
        _require_one_way(step, numbers)
    return numbers


def _require_one_way(step: Step, numbers: Sequence[int]) -> None:
    """ExecutionError if devices decide differently where they wait for each other."""
    for device, number in enumerate(numbers):
        if number != numbers[0]:
            raise ExecutionError(
                f"{step.operation.where}: devices 0 and {device} of the mesh go different ways "
                f"({numbers[0]} and {number}), and would wait for each other for ever in an "
                "exchange within; let all devices decide by the same number, such as their sum"
            )
