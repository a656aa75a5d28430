"""Turn a program into a list of steps that only have to be called.

Programs are straight lines, and so are the functions that loops and branches call, so everything
but the numbers is known beforehand: which tensor is where (host or device), which memory is freed,
which shape and element type every result has. All of that is checked here, once; running a prepared
program is a loop over function calls.

A tensor of the file (`global_id`) gets a new slot at every definition. Operations that move a
tensor without changing its numbers only give its slot another name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from ttmlir.errors import plural
from ttmlir.layout.enums import Arch, BufferType, DeviceComputeConfig, MathFidelity, MemorySpace
from ttmlir.limits import MAX_CALL_DEPTH, memory_advice, memory_limit
from ttmlir.optable.op_definition import Family, Shape
from ttmlir.runtime.binary import BinaryProgram, Operation, TensorRef, system_of
from ttmlir.runtime.errors import BinaryError, UnsupportedError
from ttmlir.runtime.execution.exchanges import Exchange
from ttmlir.runtime.execution.indexing_kernels import refusing_outside
from ttmlir.runtime.execution.kernels import KERNELS
from ttmlir.runtime.execution.operations import (
    OperationCall,
    bind_parameters,
    broadcasts,
    check_call,
    check_results,
    check_shapes,
    function_of,
    read_call,
)
from ttmlir.runtime.execution.steps import (
    Bound,
    Branch,
    Call,
    Function,
    GenericStep,
    Loop,
    PreparedProgram,
    Step,
    with_releases,
    write_in_place,
)
from ttmlir.runtime.memory import DeviceMemory
from ttmlir.runtime.tensor import (
    Array,
    Counters,
    Numerics,
    Rounding,
    TensorDesc,
    cast_rounding,
    convert,
    storage_rounding,
)
from ttmlir.sim.machine.card_steps import FEW_STEPS
from ttmlir.sim.machine.numerics import (
    Register,
    parts_a,
    parts_b,
    register_of_class,
    round_to,
    source_register,
    to_source,
)
from ttmlir.sim.options import asks_for_card_bits


def prepare(program: BinaryProgram, numerics: Numerics = Numerics.EXACT) -> PreparedProgram:
    """Check a program and bind its operations, once for each numerics.

    In device numerics, where the environment asks for them, results have the bits of a card if
    these take few steps for the program and all functions of its file. BinaryError or
    UnsupportedError if it cannot run.
    """
    if numerics is Numerics.DEVICE and asks_for_card_bits():
        prepared = _prepare(program, numerics, has_bits=True)
        if prepared.card_steps <= FEW_STEPS:
            return prepared
    return _prepare(program, numerics)


def _prepare(
    program: BinaryProgram, numerics: Numerics, *, has_bits: bool = False
) -> PreparedProgram:
    known = program.binary.derived
    key = ("prepared", program.is_function, program.index, numerics, has_bits)
    if key not in known:
        if not program.is_function:
            # In the order of the file: each function finds those that it calls.
            for function in program.binary.functions:
                _prepare(function, numerics, has_bits=has_bits)
        known[key] = _Preparation(program, numerics, has_bits=has_bits).run()
    return known[key]


@dataclass
class _Value:
    """What is known about a tensor at some point of the program."""

    slot: int
    desc: TensorDesc
    empty_step: int | None = None
    """Step of the `ttnn.empty` whose memory this still is."""
    deallocated_by: Operation | None = None


@dataclass
class _Preparation:
    program: BinaryProgram
    numerics: Numerics
    values: dict[int, _Value] = field(default_factory=dict[int, _Value])
    steps: list[Step] = field(default_factory=list[Step])
    devices: dict[int, tuple[int, ...]] = field(default_factory=dict[int, tuple[int, ...]])
    slots: int = 0
    operation: Operation | None = None
    """The one that is being prepared."""
    traffic: Counters = field(default_factory=Counters)
    memory: _Memory = field(default_factory=lambda: _Memory())
    depth: int = 0
    has_bits: bool = False
    """Whether results have the bits of a card where they are known."""
    card_steps: int = 0
    whole: Operation | None = None
    """The record of the file that one step computes."""

    def run(self) -> PreparedProgram:
        inputs = tuple(self._define_input(i, ref) for i, ref in enumerate(self.program.inputs))
        for operation in self.program.operations:
            self.operation = operation
            if self._is_of_whole(operation):
                continue
            handler = _HANDLERS.get(operation.table, _Preparation.compute)
            if operation.given is not None:
                handler = _Preparation.compute
            handler(self, operation)
        outputs = [self._output(i, ref) for i, ref in enumerate(self.program.outputs)]
        slots = tuple(value.slot for value in outputs)
        steps = with_releases(self.steps, keep={*slots})
        host_bytes = self._check_memory(inputs, steps)
        if self.device_memory is not None and self.device_memory.overflow is not None:
            raise BinaryError(self.device_memory.overflow)
        return PreparedProgram(
            program=self.program,
            numerics=self.numerics,
            steps=steps,
            slots=self.slots,
            inputs=inputs,
            outputs=slots,
            output_descs=tuple(value.desc for value in outputs),
            chip_ids=tuple(dict.fromkeys(i for ids in self.devices.values() for i in ids)),
            traffic=replace(self.traffic, programs=1),
            peak_bytes=self.memory.peak,
            host_bytes=host_bytes,
            depth=self.depth,
            card_steps=self.card_steps,
            devices=self.device_count,
        )

    @property
    def device_count(self) -> int:
        """How many devices run the program."""
        return math.prod(self.program.mesh)

    def _check_memory(self, inputs: tuple[int, ...], steps: tuple[Step, ...]) -> int:
        """The most bytes in use; BinaryError if that is more memory than a run may take."""
        sizes = {slot: _host_bytes(self.program.inputs[i].desc) for i, slot in enumerate(inputs)}
        divided: set[int] = set()
        most = used = sum(sizes.values())
        where = f"{self.program.where}: its inputs"
        for step in (None, *steps):
            called = 0
            if step is not None and step.control is not None:
                called = max(each.host_bytes for each in step.control.callees)
            if step is not None and step.written:
                exchange = step.exchange
                if not divided.isdisjoint(step.inputs) if exchange is None else exchange.divides:
                    divided.update(step.written)
                for slot, desc in zip(step.written, step.written_descs, strict=True):
                    if slot not in sizes and not step.is_idle:
                        sizes[slot] = _host_bytes(desc)
                        sizes[slot] *= self.device_count if slot in divided else 1
                        used += sizes[slot]
                where = f"{step.operation.where}: the tensors that are in use"
            most = max(most, used + called)
            if most > memory_limit():
                raise BinaryError(f"{where} take {most} bytes; {memory_advice()}")
            used -= sum(sizes.pop(slot, 0) for slot in (step.release if step else ()))
        return most

    @cached_property
    def device_memory(self) -> DeviceMemory | None:
        """The memories of the chip that the program was compiled for; None if it does not say."""
        binary = self.program.binary
        if binary.system_desc is None:
            return None
        return DeviceMemory(self.program, system_of(binary).chip(0))

    def _place(self, ref: TensorRef, desc: TensorDesc, input_index: int = -1) -> None:
        """Take memory of the device for a tensor."""
        self.memory.define(ref.global_id, desc)
        if self.device_memory is not None:
            operation = self.operation if input_index < 0 else None
            self.device_memory.define(ref.global_id, desc, operation, input_index)

    # Tensors.

    def _new_slot(self) -> int:
        self.slots += 1
        return self.slots - 1

    def _define_input(self, index: int, ref: TensorRef) -> int:
        if ref.global_id in self.values:
            raise BinaryError(
                f"{self.program.where}: input {index} has the id {ref.global_id} of another input"
            )
        slot = self._new_slot()
        self.values[ref.global_id] = _Value(slot, ref.desc)
        self._place(ref, ref.desc, index)
        return slot

    def _output(self, index: int, ref: TensorRef) -> _Value:
        value = self.values.get(ref.global_id)
        what = f"output {index} (tensor {ref.global_id})"
        if value is None:
            raise BinaryError(f"{self.program.where}: nothing computes {what}")
        if value.deallocated_by is not None:
            raise BinaryError(
                f"{self.program.where}: {what} was deallocated by operation "
                f"{value.deallocated_by.index}"
            )
        self._fill_if_empty(value)
        return value

    def _use(self, operation: Operation, ref: TensorRef) -> _Value:
        value = self.values.get(ref.global_id)
        if value is None:
            raise BinaryError(
                f"{operation.where}: tensor {ref.global_id} is used before it is computed"
            )
        if value.deallocated_by is not None:
            raise BinaryError(
                f"{operation.where}: tensor {ref.global_id} is used after operation "
                f"{value.deallocated_by.index} deallocated it"
            )
        self._fill_if_empty(value)
        return value

    def _fill_if_empty(self, value: _Value) -> None:
        """Memory that is read before anything was written to it holds zeros."""
        if value.empty_step is None:
            return
        zeros = _fill(0, value.desc, None)
        step = self.steps[value.empty_step]
        self.steps[value.empty_step] = replace(step, function=lambda: zeros, constant=zeros)
        value.empty_step = None

    def _define(self, ref: TensorRef, desc: TensorDesc, slot: int | None = None) -> int:
        slot = self._new_slot() if slot is None else slot
        self.values[ref.global_id] = _Value(slot, desc)
        self._place(ref, desc)
        return slot

    def _check_device(self, operation: Operation) -> None:
        device = operation.device("device")
        if device is not None and device not in self.devices:
            raise BinaryError(
                f"{operation.where}: device {device} was not opened by a get_device operation"
            )

    # Operations.

    def get_device(self, operation: Operation) -> None:
        chips = operation.numbers("chip_ids") if operation.has("chip_ids") else (0,)
        if not chips:
            raise BinaryError(f"{operation.where}: field 'chip_ids' is empty")
        if len(chips) > 1 and len(chips) != self.device_count:
            raise UnsupportedError(
                f"{operation.where}: the program is for a mesh of {len(chips)} chips, "
                f"{[int(chip) for chip in chips]}; programs run here on one chip: compile the "
                "model for a mesh of one, or run the file on cards"
            )
        device = operation.device("out")
        if device is None:
            raise BinaryError(f"{operation.where}: field 'out' is missing")
        self.devices[device] = tuple(int(chip) for chip in chips)
        self.steps.append(Step(operation=operation))

    def empty(self, operation: Operation) -> None:
        self._check_device(operation)
        out = operation.tensor("out")
        slot = self._define(out, out.desc)
        self.values[out.global_id].empty_step = len(self.steps)
        self.steps.append(Step(operation=operation, output=slot, output_desc=out.desc))

    def full(self, operation: Operation) -> None:
        self._check_device(operation)
        out = operation.tensor("out")
        rounding = storage_rounding(out.desc.element, out.desc.data_type, self.numerics)
        values = _fill(operation.scalar("fill_value"), out.desc, rounding)
        self._constant_step(operation, out, values)

    def constant(self, operation: Operation) -> None:
        self._check_device(operation)
        out = operation.tensor("out")
        if out.constant is None:
            raise BinaryError(f"{operation.where}: field 'out.desc.constant_data' is missing")
        self._constant_step(operation, out, self._kept_constant(out.constant, out.desc))

    def _kept_constant(self, constant: Array, desc: TensorDesc) -> Array:
        """The elements as the device keeps them; programs that share a constant share these."""
        known = self.program.binary.derived
        address = constant.__array_interface__["data"][0]
        key = ("constant", address, constant.shape, desc.element, desc.data_type, self.numerics)
        if key not in known:
            values = convert(constant, desc.element.compute)
            rounding = storage_rounding(desc.element, desc.data_type, self.numerics)
            # The elements at this place of memory stay there as long as the key.
            known[key] = constant, values if rounding is None else rounding(values)
        return known[key][1]

    def _constant_step(self, operation: Operation, out: TensorRef, values: Array) -> None:
        slot = self._define(out, out.desc)
        self.steps.append(
            Step(
                operation=operation,
                function=lambda: values,
                output=slot,
                output_desc=out.desc,
                constant=values,
            )
        )

    def dealloc(self, operation: Operation) -> None:
        ref = operation.tensor("in")
        value = self._use(operation, ref)
        value.deallocated_by = operation
        self.memory.free(ref.global_id)
        if self.device_memory is not None:
            self.device_memory.free(ref.global_id)
        self.steps.append(Step(operation=operation))

    def to_layout(self, operation: Operation) -> None:
        source, out = operation.tensor("in"), operation.tensor("out")
        value = self._use(operation, source)
        # A layout change leaves the tensor in the memory that it is in, whatever its type says.
        space = value.desc.memory_space
        if space.is_device and out.desc.memory_space.is_device:
            space = out.desc.memory_space
        self._move(operation, value, out, replace(out.desc, memory_space=space))

    def to_device(self, operation: Operation) -> None:
        source, out = operation.tensor("in"), operation.tensor("out")
        buffer = operation.nested_enumerator("memcfg", "buffer_type")
        if buffer == BufferType.SYSTEM_MEMORY.schema_name or not out.desc.is_on_device:
            raise BinaryError(
                f"{operation.where}: the result of to_device is in host memory; use to_layout or "
                "to_memory_config to move a tensor there"
            )
        self._move(operation, self._use(operation, source), out, out.desc)

    def to_memory_config(self, operation: Operation) -> None:
        source, out = operation.tensor("in0"), operation.tensor("out")
        # tt-mlir drops a broadcast in front of it: then the result is the operand repeated.
        self._move(operation, self._use(operation, source), out, out.desc, repeats=True)

    def _move(
        self,
        operation: Operation,
        value: _Value,
        out: TensorRef,
        desc: TensorDesc,
        *,
        repeats: bool = False,
    ) -> None:
        self._check_device(operation)
        old = value.desc
        is_repeated = repeats and old.shape != desc.shape and broadcasts(old.shape, desc.shape)
        if old.shape != desc.shape and not is_repeated:
            raise BinaryError(
                f"{operation.where}: a tensor of shape {old.shape} cannot be moved to one of "
                f"shape {desc.shape}"
            )
        if desc.is_on_device and not old.is_on_device:
            self.traffic.count_write(desc)
        if old.is_on_device and not desc.is_on_device:
            self.traffic.count_read(old)
        function = self._storing(old, desc)
        if is_repeated:
            function = partial(_repeat_and_store, desc.shape, function)
        slot = self._define(out, desc, None if function else value.slot)
        self.steps.append(
            Step(
                operation=operation,
                function=function,
                inputs=(value.slot,),
                output=slot,
                output_desc=desc,
                is_pure=True,
            )
        )

    def _storing(self, old: TensorDesc, new: TensorDesc) -> Function | None:
        """What storing a tensor in another way does to its numbers."""
        compute = new.element.compute
        # Host memory holds all 64 bits of a number, the device 32.
        narrowed = compute.itemsize == 8 and not old.is_on_device
        rounding = None
        if narrowed or (old.element, old.data_type) != (new.element, new.data_type):
            rounding = storage_rounding(new.element, new.data_type, self.numerics)
        if old.element.compute == compute:
            return rounding
        return partial(_convert_and_round, compute, rounding)

    def exchange(self, operation: Operation) -> None:
        """What the devices of a mesh give each other."""
        out = operation.tensor("out")
        refs = [ref for name in ("in", "kept") if (ref := operation.fields[name]) is not None]
        values = [self._use(operation, ref) for ref in refs]
        slot = self._define(out, out.desc)
        if values[0].desc.element != out.desc.element:
            raise BinaryError(
                f"{operation.where}: tensors of {values[0].desc.element.keyword} cannot become "
                f"some of {out.desc.element.keyword}"
            )
        self.steps.append(
            Step(
                operation=operation,
                inputs=tuple(value.slot for value in values),
                output=slot,
                output_desc=out.desc,
                exchange=Exchange(operation, self.program.mesh),
            )
        )

    def generic(self, operation: Operation) -> None:
        # The simulator is loaded only for programs that need it.
        from ttmlir.runtime.generic import read_generic

        program = read_generic(operation)
        refs = operation.tensors("io_tensors")
        read = [self._use(operation, ref) for ref in refs[: len(refs) - program.num_outputs]]
        for i, (ref, value) in enumerate(zip(refs, read, strict=False)):
            self._require_device(operation, "ttnn.generic", f"operand {i}", ref, value.desc)
        written = refs[len(refs) - program.num_outputs :]
        if len({ref.global_id for ref in written}) != len(written):
            raise BinaryError(f"{operation.where}: writes a tensor twice")
        # What other programs have written to parts of an output stays there.
        before = {
            number: value
            for number, ref in enumerate(written)
            if (value := self.values.get(ref.global_id)) is not None
            and value.empty_step is None
            and value.deallocated_by is None
        }
        program = replace(program, kept=tuple(before))
        outputs = tuple(self._define(ref, ref.desc) for ref in written)
        self.steps.append(
            Step(
                operation=operation,
                inputs=tuple(value.slot for value in (*read, *before.values())),
                output=outputs[-1],
                output_desc=written[-1].desc,
                generic=GenericStep(program, outputs),
            )
        )

    def compute(self, operation: Operation) -> None:
        call = replace(read_call(operation), refuses_outside=self.program.binary.refuses_outside)
        self._check_device(operation)
        given = [ref for ref in call.operands if ref is not None]
        values = [self._use(operation, ref) for ref in given]
        if not call.definition.takes_host_operands and not operation.on_host:
            for i, value in enumerate(values):
                self._require_device(operation, call.name, f"operand {i}", given[i], value.desc)
        if call.definition.family is not Family.CREATION and not operation.on_host:
            for out in call.outputs:
                self._require_device(operation, call.name, "the output", out, out.desc)
        if len({out.global_id for out in call.outputs}) != len(call.outputs):
            raise BinaryError(f"{operation.where}: writes a tensor twice")
        function, is_unrounded = self._function(call)
        slot, *further = (self._define(out, out.desc) for out in call.outputs)
        self.steps.append(
            Step(
                operation=operation,
                function=function,
                inputs=tuple(value.slot for value in values),
                output=slot,
                output_desc=call.output.desc,
                further=tuple(further),
                call=call,
                is_pure=True,
                is_unrounded=is_unrounded,
            )
        )

    @cached_property
    def _card(self) -> Arch | None:
        """The generation of chips whose bits results have; None if they are rounded once."""
        if not self.has_bits:
            return None
        return system_of(self.program.binary).chip(0).arch

    def _is_of_whole(self, operation: Operation) -> bool:
        """Whether an operation is part of a record that a card computes at once; so does a step."""
        record = operation.record
        if record is None or self._card is None or self.device_count > 1:
            return False
        if record is self.whole:
            return True
        from ttmlir.runtime.execution.card_bits import find_whole

        found = find_whole(record, self._card)
        if found is None:
            return False
        values = [self._use(operation, ref) for ref in found.operands]
        if not all(value.desc.is_on_device for value in values):
            return False
        self.whole = record
        self.card_steps += found.steps
        self.steps.append(
            Step(
                operation=operation,
                function=found.function,
                inputs=tuple(value.slot for value in values),
                output=self._define(found.output, found.output.desc),
                output_desc=found.output.desc,
                is_pure=True,
            )
        )
        return True

    def while_loop(self, operation: Operation) -> None:
        given = [self._use(operation, ref) for ref in operation.tensors("inputs")]
        outputs = operation.tensors("outputs")
        trip_count = int(operation.scalar("trip_count"))
        if not -1 <= trip_count:
            raise BinaryError(f"{operation.where}: has {trip_count} iterations")
        if len(outputs) > len(given):
            raise BinaryError(
                f"{operation.where}: carries {plural(len(outputs), 'tensor')}, but has "
                f"{plural(len(given), 'input')}"
            )
        body = self._called(operation, operation.scalar("body"), given)
        descs = [value.desc for value in given[: len(outputs)]]
        check_results(operation, body.program, body.output_descs, descs)
        condition = None
        bounds: tuple[Bound, ...] = operation.scalar("bounds") if operation.knows("bounds") else ()
        for place in (place for _, place in bounds if place is not None):
            if given[place].desc.volume != 1:
                raise BinaryError(f"{operation.where}: a bound of its counter is no number")
        if trip_count < 0 and not bounds:
            condition = self._called(operation, operation.scalar("condition"), given)
            if [desc.volume for desc in condition.output_descs] != [1]:
                raise BinaryError(
                    f"{operation.where}: function {condition.program.index} is its condition, but "
                    "does not return one element"
                )
        body, owned = write_in_place(body, len(outputs))
        slots = self._define_outputs(operation, outputs, descs)
        control = Loop(
            body=body,
            trip_count=None if trip_count < 0 else trip_count,
            condition=condition,
            bounds=bounds,
            owned=owned,
            outputs=slots,
            output_descs=tuple(descs),
        )
        self._control_step(operation, given, control)

    def case(self, operation: Operation) -> None:
        index = self._use(operation, operation.tensor("index"))
        given = [self._use(operation, ref) for ref in operation.tensors("inputs")]
        outputs = operation.tensors("outputs")
        if index.desc.volume != 1:
            raise BinaryError(
                f"{operation.where}: its index has {plural(index.desc.volume, 'element')}"
            )
        branches = operation.numbers("branches")
        if not branches:
            raise BinaryError(f"{operation.where}: has no branches")
        callees = tuple(self._called(operation, number, given) for number in branches)
        descs = list(callees[0].output_descs)
        for callee in callees:
            check_results(operation, callee.program, callee.output_descs, descs)
        slots = self._define_outputs(operation, outputs, descs)
        control = Branch(callees=callees, outputs=slots, output_descs=tuple(descs))
        self._control_step(operation, [index, *given], control)

    def call(self, operation: Operation) -> None:
        given = [self._use(operation, ref) for ref in operation.tensors("inputs")]
        outputs = operation.tensors("outputs")
        callee = self._called(operation, operation.scalar("function"), given)
        descs = list(callee.output_descs)
        slots = self._define_outputs(operation, outputs, descs)
        control = Call(callees=(callee,), outputs=slots, output_descs=tuple(descs))
        self._control_step(operation, given, control)

    def _called(self, operation: Operation, number: int, given: list[_Value]) -> PreparedProgram:
        """A function that is called with tensors, prepared."""
        function = function_of(self.program, operation, int(number))
        check_call(operation, function, [value.desc for value in given])
        callee = _prepare(function, self.numerics, has_bits=self.has_bits)
        self.depth = max(self.depth, callee.depth + 1)
        if self.depth > MAX_CALL_DEPTH:
            raise BinaryError(
                f"{operation.where}: loops and branches nest more than {MAX_CALL_DEPTH} deep"
            )
        return callee

    def _define_outputs(
        self, operation: Operation, refs: tuple[TensorRef, ...], descs: list[TensorDesc]
    ) -> tuple[int, ...]:
        if len({ref.global_id for ref in refs}) != len(refs):
            raise BinaryError(f"{operation.where}: writes a tensor twice")
        if len(refs) != len(descs):
            raise BinaryError(
                f"{operation.where}: has {plural(len(refs), 'output')}, but its functions return "
                f"{len(descs)}"
            )
        for number, (ref, desc) in enumerate(zip(refs, descs, strict=True)):
            if not ref.desc.agrees_with(desc):
                differences = "; ".join(ref.desc.differences(desc))
                raise BinaryError(f"{operation.where}: output {number} has {differences}")
        return tuple(self._define(ref, desc) for ref, desc in zip(refs, descs, strict=True))

    def _control_step(
        self, operation: Operation, inputs: list[_Value], control: Loop | Branch | Call
    ) -> None:
        for callee in control.callees:
            self.traffic.add(callee.traffic, control.known_iterations)
            self.card_steps += callee.card_steps * control.known_iterations
        self.steps.append(
            Step(
                operation=operation,
                inputs=tuple(value.slot for value in inputs),
                output=control.outputs[0] if control.outputs else None,
                output_desc=control.output_descs[0] if control.outputs else None,
                control=control,
            )
        )

    def _require_device(
        self, operation: Operation, name: str, what: str, ref: TensorRef, desc: TensorDesc
    ) -> None:
        if desc.is_on_device:
            return
        raise BinaryError(
            f"{operation.where}: {what} of {name} (tensor {ref.global_id}) is in host "
            "memory; move it to the device with ttnn.to_device first"
        )

    def _function(self, call: OperationCall) -> tuple[Function, bool]:
        """The function of a step, and whether its result is stored as the definition computes
        it."""
        fit = check_shapes(call)
        if len(call.outputs) > 1:
            return self._several(call), False
        desc = call.output.desc
        rounding = storage_rounding(desc.element, desc.data_type, self.numerics)
        if rounding is None and call.definition.mnemonic == "typecast":
            rounding = cast_rounding(desc.element)
        function = _bound(call)
        config = call.compute_config
        if config is not None and self.numerics is Numerics.DEVICE and desc.element.is_float:
            # The registers of the simulator are loaded only for programs that choose a fidelity.

            function = multiply_with(config, call, function)
            fit = fit or np.asarray
        compute = desc.element.compute
        on_card = self._find_on_card(call)

        def run(*arrays: Array) -> Array:
            result = function(*arrays)
            return result if result.dtype == compute else convert(np.asarray(result), compute)

        def run_and_store(*arrays: Array) -> Array:
            result = run(*arrays)
            if fit is not None:
                result = fit(result)
            return result if rounding is None else rounding(result)

        if on_card is not None:

            def run_on_card(*arrays: Array) -> Array:
                result = on_card(*arrays)
                if result is None:
                    return run_and_store(*arrays)
                return convert(result if fit is None else fit(result), compute)

            return run_on_card, False
        is_unrounded = rounding is None and (fit is None or call.definition.family is Family.WINDOW)
        return run if fit is None and rounding is None else run_and_store, is_unrounded

    def _find_on_card(self, call: OperationCall) -> Callable[..., Array | None] | None:
        if self._card is None:
            return None
        # A card's units are loaded only for device numerics.
        from ttmlir.runtime.execution.card_bits import find_kernel

        found = find_kernel(call, self._card)
        if found is None:
            return None
        self.card_steps += found.steps
        return found.function

    def _several(self, call: OperationCall) -> Function:
        """A function whose results are stored each in its own type."""
        function = _bound(call)
        types = [ref.desc.element.compute for ref in call.outputs]
        roundings = [
            storage_rounding(ref.desc.element, ref.desc.data_type, self.numerics)
            for ref in call.outputs
        ]

        def run(*arrays: Array) -> tuple[Array, ...]:
            results = function(*arrays)
            return tuple(map(_convert_and_round, types, roundings, results))

        return run


def _host_bytes(desc: TensorDesc) -> int:
    """Bytes of a tensor in the type that operations compute in."""
    return desc.volume * desc.element.compute.itemsize


def _convert_and_round(dtype: np.dtype[Any], rounding: Rounding | None, array: Array) -> Array:
    converted = convert(array, dtype)
    return converted if rounding is None else rounding(converted)


def _repeat_and_store(shape: Shape, storing: Function | None, array: Array) -> Array:
    return np.broadcast_to(array if storing is None else storing(array), shape)


def _bound(call: OperationCall) -> Callable[..., Any]:
    """The kernel of a call with its parameters and absent operands filled in."""
    kernel = KERNELS.get(call.definition.mnemonic, call.definition.reference)
    # Only trailing operands are optional, so leaving the absent ones out keeps the order.
    bound = partial(kernel, np, **bind_parameters(call))
    return refusing_outside(call, bound) if call.refuses_outside else bound


def _fill(number: float, desc: TensorDesc, rounding: Rounding | None) -> Array:
    """A tensor of one number, without memory for each element."""
    value = convert(np.array([float(number)]), desc.element.compute)
    value = value if rounding is None else rounding(value)
    return np.broadcast_to(value[0], desc.shape)


@dataclass
class _Memory:
    """Bytes in use on the device while the program is followed."""

    live: dict[int, TensorDesc] = field(default_factory=dict[int, TensorDesc])
    used: dict[MemorySpace, int] = field(default_factory=dict[MemorySpace, int])
    peak: dict[MemorySpace, int] = field(default_factory=dict[MemorySpace, int])

    def define(self, global_id: int, desc: TensorDesc) -> None:
        self.free(global_id)
        if not desc.is_on_device:
            return
        space = desc.memory_space
        self.live[global_id] = desc
        self.used[space] = self.used.get(space, 0) + desc.size_in_bytes
        self.peak[space] = max(self.peak.get(space, 0), self.used[space])

    def free(self, global_id: int) -> None:
        desc = self.live.pop(global_id, None)
        if desc is not None:
            self.used[desc.memory_space] -= desc.size_in_bytes


def _no_operation(preparation: _Preparation, operation: Operation) -> None:
    raise UnsupportedError(f"{operation.where}: the operation has no type")


_HANDLERS: dict[str, Callable[[_Preparation, Operation], None]] = {
    "NONE": _no_operation,
    "GetDeviceOp": _Preparation.get_device,
    "EmptyOp": _Preparation.empty,
    "FullOp": _Preparation.full,
    "ConstantOp": _Preparation.constant,
    "DeallocOp": _Preparation.dealloc,
    "ToLayoutOp": _Preparation.to_layout,
    "ToDeviceOp": _Preparation.to_device,
    "ToMemoryConfigOp": _Preparation.to_memory_config,
    "GenericOp": _Preparation.generic,
    "WhileOp": _Preparation.while_loop,
    "CaseOp": _Preparation.case,
    "CallOp": _Preparation.call,
    "ExchangeOp": _Preparation.exchange,
}
"""Operations about memory rather than numbers; all others are definitions of the operation
table."""

# --- Fidelity ------------------------------------------------------------------------------------
# Products with the fidelity that an operation chooses, in device numerics.
#
# The matrix unit multiplies a few bits at a time. In each phase it takes a part of the mantissa of
# each operand; the second operand of a product is in SrcA, the first one in SrcB. LoFi takes the
# first 5 bits of the one and 7 of the other (leading ones included), HiFi2 the rest of the second
# operand as well, HiFi3 also the first bits of it times the rest of the first operand, HiFi4 both
# rests. As a product is linear in its operands, so many products of parts are added up here.
#
# Sums are exact and are rounded once, to the 16 or 32 bits of DST: on the device, a sum of 16 bits
# is rounded after every step. What the library takes without a choice is not modelled: operands
# keep all bits then.


def multiply_with(
    config: DeviceComputeConfig, call: OperationCall, function: Callable[..., Array]
) -> Callable[..., Array]:
    """The function of a call that multiplies its first two operands, with a choice of fidelity."""
    first, second = (ref.desc.data_type for ref in call.operands[:2] if ref is not None)
    formats = (first, second)
    wide = bool(config.fp32_dest_acc_en)
    sources = (
        source_register(first, formats, wide=wide),
        source_register(second, formats, wide=wide),
    )
    dst = Register.FP32 if wide else register_of_class(formats)
    return partial(_multiply, function, config.math_fidelity, sources, dst)


def _multiply(
    function: Callable[..., Array],
    fidelity: MathFidelity,
    sources: tuple[Register, Register],
    dst: Register,
    *operands: Array,
) -> Array:
    first, second = (
        to_source(each.astype(np.float32), register)
        for each, register in zip(operands[:2], sources, strict=True)
    )
    others = operands[2:]
    (first_high, first_low), (second_high, second_low) = parts_b(first), parts_a(second)
    match fidelity:
        case MathFidelity.LOFI:
            product = function(first_high, second_high, *others)
        case MathFidelity.HIFI2:
            product = function(first_high, _both(second_high, second_low), *others)
        case MathFidelity.HIFI3:
            product = function(first_high, _both(second_high, second_low), *others)
            # Numbers that are not finite are in the first product alone.
            rest = function(_finite(first_low), _finite(second_high))
            product = np.where(np.isfinite(product), product + rest, product)
        case _:
            product = function(
                _both(first_high, first_low), _both(second_high, second_low), *others
            )
    if dst is Register.FP32 or not np.isfinite(product).all():
        return product
    return round_to(product.astype(np.float64), dst)


def _both(high: Array, low: Array) -> Array:
    """A number of both parts; what has no finite one is its first part."""
    return high + _finite(low)


def _finite(values: Array) -> Array:
    return np.where(np.isfinite(values), values, np.float32(0))
