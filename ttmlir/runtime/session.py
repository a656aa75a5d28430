"""Submitting programs to devices and moving tensors between programs (runtime stitching).

A program says where it wants its inputs: `get_layout` returns that description and `to_layout`
moves a tensor there. `submit` checks the inputs and leaves the outputs where the program leaves
them, so the output of one program feeds another without passing through the host if the
descriptions agree:

    layout = get_layout(first, 0, 0)
    [hidden] = submit(device, first, 0, [to_layout(tensor, device, layout)])
    [result] = submit(device, second, 0, [to_layout(hidden, device, get_layout(second, 0, 0))])
    print(to_host(result).to_numpy())
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, overload

import ml_dtypes
import numpy as np

from ttmlir.errors import plural
from ttmlir.runtime.binary import Binary, BinaryProgram
from ttmlir.runtime.errors import InputError
from ttmlir.runtime.execution.executor import Observer, execute
from ttmlir.runtime.execution.prepare import prepare
from ttmlir.runtime.execution.steps import PreparedProgram
from ttmlir.runtime.hooks import DebugHooks, log_program, with_trace
from ttmlir.runtime.tensor import Array, Device, Tensor, TensorDesc, convert, storage_rounding

if TYPE_CHECKING:
    from ttmlir.runtime.execution.executor import GenericRunner


class Event:
    """Something that is done at some time; here everything is done when `submit` returns."""

    def __repr__(self) -> str:
        """It is done."""
        return "Event(done)"


def wait(event: Event) -> None:
    """Wait until what the event stands for is done."""


def get_layout(binary: Binary, program_index: int, input_index: int) -> TensorDesc:
    """How a program wants an input to be kept."""
    return _nth(binary, program_index, "input", input_index)


def get_output_layout(binary: Binary, program_index: int, output_index: int) -> TensorDesc:
    """How a program leaves an output."""
    return _nth(binary, program_index, "output", output_index)


def _nth(binary: Binary, program_index: int, kind: str, index: int) -> TensorDesc:
    program = binary.program(program_index)
    refs = program.inputs if kind == "input" else program.outputs
    if not 0 <= index < len(refs):
        raise InputError(f"{program.where} has no {kind} {index}; it has {plural(len(refs), kind)}")
    return refs[index].desc


def to_layout(tensor: Tensor, device: Device | None, layout: TensorDesc) -> Tensor:
    """The tensor kept as `layout` says; the tensor itself if it is kept so already.

    `device` may be None for layouts in host memory. Only tensors that change between host and
    device pass through the host.
    """
    if tensor.shape != layout.shape:
        raise InputError(
            f"a tensor of shape {tensor.shape} cannot be laid out as one of shape {layout.shape}"
        )
    if not layout.is_on_device:
        return _to_host_as(tensor, layout)
    if device is None:
        raise InputError(f"the layout {layout} is on a device, but no device was given")
    device.check_open()
    if tensor.device is device and layout.agrees_with(tensor.desc):
        return tensor
    values = _as_kept(tensor.values, layout, device)
    if tensor.device is not None and tensor.device is not device:
        tensor.device.counters.count_read(tensor.desc)
    if tensor.device is not device:
        device.counters.count_write(layout)
    # The caller may change the memory behind a host tensor, not what is on the device.
    if np.may_share_memory(values, tensor.values) and tensor.device is None:
        values = values.copy()
    return Tensor(layout, values, device)


def _as_kept(values: Array, layout: TensorDesc, device: Device) -> Array:
    """The numbers that a layout has of some, which may be the same memory."""
    values = convert(values, layout.element.compute)
    rounding = None
    if layout.is_on_device:
        rounding = storage_rounding(layout.element, layout.data_type, device.numerics)
    return values if rounding is None else rounding(values)


def _to_host_as(tensor: Tensor, layout: TensorDesc) -> Tensor:
    if tensor.device is None and tensor.element == layout.element:
        return tensor
    if tensor.device is not None:
        tensor.device.counters.count_read(tensor.desc)
    values = convert(tensor.values, layout.element.host)
    if tensor.device is not None and np.may_share_memory(values, tensor.values):
        values = values.copy()
    return Tensor(replace(layout.on_host(), stride=tensor.stride), values)


def to_host(tensor: Tensor) -> Tensor:
    """The tensor in host memory, row-major; the tensor itself if it is there already."""
    return _to_host_as(tensor, tensor.desc.on_host())


def memcpy(destination: Tensor | Array, source: Tensor) -> None:
    """Copy the numbers of a tensor into a host tensor or array of the same shape and type."""
    target = destination.values if isinstance(destination, Tensor) else destination
    if isinstance(destination, Tensor) and destination.device is not None:
        raise InputError("memcpy writes to host memory; use to_layout to move a tensor to a device")
    if target.shape != source.shape or target.dtype != source.element.host:
        raise InputError(
            f"a tensor {source.desc} cannot be copied to an array of shape {target.shape} and "
            f"dtype {target.dtype}"
        )
    target[...] = source.to_numpy()


def deallocate_tensor(tensor: Tensor) -> None:
    """Give the tensor's memory back."""
    tensor.deallocate()


@overload
def submit(
    device: Device, binary: Binary, program_index: int, inputs: Sequence[Any]
) -> list[Tensor]: ...


@overload
def submit(
    device: Device,
    binary: Binary,
    program_index: int,
    inputs: Sequence[Any],
    outputs: Sequence[Tensor],
) -> Event: ...


def submit(
    device: Device,
    binary: Binary,
    program_index: int,
    inputs: Sequence[Any],
    outputs: Sequence[Tensor] | None = None,
) -> list[Tensor] | Event:
    """Run a program.

    Inputs are tensors, or arrays of NumPy, JAX and torch, which go where the program wants them.
    Without `outputs` the results are returned as new tensors, on the host or on the device as the
    program says. With `outputs`, host tensors of the right shapes and types, the results are
    written into them and an event is returned.

    Raises InputError for wrong inputs or outputs, BinaryError for programs that cannot run.
    """
    tensors = _as_tensors(device, binary.program(program_index), inputs)
    if binary.is_metal:
        results = _submit_kernels(device, binary, program_index, tensors, outputs)
    else:
        prepared = prepare_submission(device, binary, program_index, tensors)
        if outputs is not None:
            _check_outputs(prepared.program, prepared.output_descs, outputs)
        results = run_prepared(device, prepared, tensors, DebugHooks.registered())
    if outputs is None:
        return results
    for destination, result in zip(outputs, results, strict=True):
        memcpy(destination, result)
    return Event()


def run_on_arrays(
    device: Device, binary: Binary, program_index: int, arrays: Sequence[Array]
) -> list[Array]:
    """What `submit` computes, as arrays; nothing is kept on the device."""
    device.check_open()
    program = binary.program(program_index)
    descs = [ref.desc for ref in program.inputs]
    wanted = [(desc.shape, desc.element.host) for desc in descs]
    if binary.is_metal or [(array.shape, array.dtype) for array in arrays] != wanted:
        results = submit(device, binary, program_index, arrays)
        return [result.to_numpy() for result in results]
    prepared = _prepare_on(device, program)
    # Without tensors nothing is copied: programs neither write to their inputs nor return them.
    values = [_as_kept(array, desc, device) for array, desc in zip(arrays, descs, strict=True)]
    results = _execute(device, prepared, values, DebugHooks.registered())
    for desc in descs:
        if desc.is_on_device:
            device.counters.count_write(desc)
    for desc in prepared.output_descs:
        if desc.is_on_device:
            device.counters.count_read(desc)
    return [
        convert(result, desc.element.host)
        for result, desc in zip(results, prepared.output_descs, strict=True)
    ]


def _as_tensors(device: Device, program: BinaryProgram, inputs: Sequence[Any]) -> list[Tensor]:
    """Tensors for what a caller gave; those of arrays as the program wants to have them."""
    device.check_open()
    descs = [ref.desc for ref in program.inputs]
    tensors: list[Tensor] = []
    for i, given in enumerate(inputs):
        if isinstance(given, Tensor):
            tensors.append(given)
            continue
        tensor = Tensor.from_numpy(_as_array(given, f"{program.where}: input {i}"))
        has_place = i < len(descs) and descs[i].is_on_device
        if has_place and (tensor.shape, tensor.element) == (descs[i].shape, descs[i].element):
            tensor = to_layout(tensor, device, descs[i])
        tensors.append(tensor)
    return tensors


def _as_array(given: Any, where: str) -> Array:
    """The numbers of an array of NumPy, JAX or torch."""
    torch: Any = sys.modules.get("torch")
    if torch is not None and isinstance(given, torch.Tensor):
        return array_of_torch(torch, given, where)
    if not hasattr(given, "__array__"):
        raise InputError(
            f"{where} is a {type(given).__name__}; give a Tensor, or an array of NumPy, JAX or "
            "torch"
        )
    return np.asarray(given)


def has_numbers(tensor: Any) -> bool:
    """False for a tensor of torch that is only a shape: of the device `meta`, or a `FakeTensor`."""
    return not tensor.is_meta and type(tensor).__name__ != "FakeTensor"


def array_of_torch(torch: Any, tensor: Any, what: str = "the tensor") -> Array:
    """The numbers of a torch tensor as an array that shares its memory where possible.

    InputError, which calls it `what`, for tensors that are no rows of numbers in memory.
    """
    if type(tensor) is torch.Tensor and tensor.dtype in (torch.float32, torch.int64):
        # What most tensors are needs none of the questions below.
        with suppress(RuntimeError, TypeError):
            return tensor.detach().numpy()
    if tensor.is_nested:
        raise InputError(f"{what} is a nested tensor; give x.to_padded_tensor(0)")
    if tensor.layout != torch.strided:
        raise InputError(f"{what} is a {tensor.layout} tensor; give x.to_dense()")
    if tensor.is_quantized:
        raise InputError(f"{what} is a {tensor.dtype} tensor; give x.dequantize()")
    if not has_numbers(tensor):
        kind = "tensor of the device 'meta'" if tensor.is_meta else "FakeTensor"
        raise InputError(f"{what} is a {kind}, which has no numbers")
    tensor = tensor.detach().cpu().resolve_conj().resolve_neg()
    if tensor.dtype == torch.bfloat16:
        return tensor.contiguous().view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    if "float8" in str(tensor.dtype):
        name = str(tensor.dtype).removeprefix("torch.")
        return tensor.contiguous().view(torch.uint8).numpy().view(getattr(ml_dtypes, name))
    return tensor.numpy()


def _submit_kernels(
    device: Device,
    binary: Binary,
    program_index: int,
    inputs: Sequence[Tensor],
    outputs: Sequence[Tensor] | None,
) -> list[Tensor]:
    """Run a program of kernels on the simulator, with the numerics of the device."""
    # The simulator is loaded only for files that need it.
    from ttmlir.runtime.metal_session import run_tensors

    device.check_open()
    program = binary.program(program_index)
    _check_inputs(device, program, inputs)
    descs = tuple(ref.desc for ref in program.outputs)
    if outputs is not None:
        _check_outputs(program, descs, outputs)
    device.counters.programs += 1
    results = run_tensors(program, inputs, device.numerics)
    return [_output(device, desc, values) for desc, values in zip(descs, results, strict=True)]


def prepare_submission(
    device: Device, binary: Binary, program_index: int, inputs: Sequence[Tensor]
) -> PreparedProgram:
    """The prepared program, after checking that the device and the inputs fit it."""
    device.check_open()
    prepared = _prepare_on(device, binary.program(program_index))
    _check_inputs(device, prepared.program, inputs)
    return prepared


def _prepare_on(device: Device, program: BinaryProgram) -> PreparedProgram:
    prepared = prepare(program, device.numerics)
    missing = [chip for chip in prepared.chip_ids if chip not in device.chip_ids]
    if missing:
        raise InputError(
            f"{prepared.program.where} runs on chips {list(prepared.chip_ids)}, but the device "
            f"was opened with {list(device.chip_ids)}; open it with device_ids="
            f"{list(prepared.chip_ids)}"
        )
    return prepared


def run_prepared(
    device: Device,
    prepared: PreparedProgram,
    inputs: Sequence[Tensor],
    observer: Observer | None = None,
    runner: GenericRunner | None = None,
) -> list[Tensor]:
    """Run a program on inputs that were checked; see `submit`.

    `runner` says how its programs of kernels run, and keeps what they did.
    """
    refs = prepared.program.inputs
    arrays = [
        convert(tensor.values, ref.desc.element.compute)
        for tensor, ref in zip(inputs, refs, strict=True)
    ]
    results = _execute(device, prepared, arrays, observer, runner)
    return [
        _output(device, desc, values)
        for desc, values in zip(prepared.output_descs, results, strict=True)
    ]


def _execute(
    device: Device,
    prepared: PreparedProgram,
    arrays: Sequence[Array],
    observer: Observer | None,
    runner: GenericRunner | None = None,
) -> list[Array]:
    """Run a program on arrays in compute types, and count what it moves."""
    log_program(prepared.program)
    if prepared.devices == 1:
        results = execute(prepared, arrays, with_trace(observer), runner)
    else:
        # Programs of one device do not load it.
        from ttmlir.runtime.execution.mesh import run_on_mesh

        results = run_on_mesh(prepared, arrays, with_trace(observer), runner)
    device.counters.add(prepared.traffic)
    return results


def _output(device: Device, desc: TensorDesc, values: Array) -> Tensor:
    if desc.is_on_device:
        return Tensor(desc, values, device)
    return Tensor(desc.on_host(), convert(values, desc.element.host))


def _check_inputs(device: Device, program: BinaryProgram, inputs: Sequence[Tensor]) -> None:
    where, refs = program.where, program.inputs
    if len(inputs) != len(refs):
        raise InputError(f"{where} takes {plural(len(refs), 'input')}, got {len(inputs)}")
    for i, (tensor, ref) in enumerate(zip(inputs, refs, strict=True)):
        if not tensor.is_allocated:
            raise InputError(f"{where}: input {i} was deallocated")
        if not ref.desc.agrees_with(tensor.desc):
            differences = ref.desc.differences(tensor.desc)
            advice = "" if tensor.shape != ref.desc.shape else _ADVICE
            raise InputError(f"{where}: input {i} has {'; '.join(differences)}{advice}")
        if tensor.device is not None and tensor.device is not device:
            raise InputError(f"{where}: input {i} is on another device{_ADVICE}")


_ADVICE = "; to_layout(tensor, device, get_layout(binary, program, input)) converts it"


def _check_outputs(
    program: BinaryProgram, descs: Sequence[TensorDesc], outputs: Sequence[Tensor]
) -> None:
    where = program.where
    if len(outputs) != len(descs):
        raise InputError(f"{where} has {plural(len(descs), 'output')}, got room for {len(outputs)}")
    for i, (tensor, desc) in enumerate(zip(outputs, descs, strict=True)):
        if tensor.device is not None:
            raise InputError(
                f"{where}: output {i} cannot be written into a device tensor; call submit without "
                "outputs to leave results on the device"
            )
        if (tensor.shape, tensor.element) != (desc.shape, desc.element):
            raise InputError(
                f"{where}: output {i} is {desc}, but the tensor given for it is {tensor.desc}"
            )
