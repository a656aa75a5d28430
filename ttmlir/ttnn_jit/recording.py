"""Records what a function calls as a module of the ttnn dialect.

The function is called with tensors that have a specification but no memory; ttnn makes every call,
and the recorder sees it. So Python's `if`, `for` and functions of functions are free, and results
have the shapes, types and layouts that ttnn gives them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import (
    FloatAttr,
    FunctionType,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    UnitAttr,
    f32,
    i32,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import ttnn
from ttmlir.dialects.definition.row_ops import ParameterValue
from ttmlir.dialects.ttnn.families import BinaryOp, ElementwiseOp
from ttmlir.layout.enums import TTNNLayout
from ttmlir.mlir.reporting.locations import UNKNOWN_LOC, file_location
from ttmlir.passes.ttnn.convert_ttnn_to_ttir import HOIST
from ttmlir.sim.machine.allocator import Allocator
from ttmlir.ttnn.device.mesh import MeshDevice
from ttmlir.ttnn.errors import find_call, place_of_error
from ttmlir.ttnn.operations.operation import Call, Observer, observe, tensors_of
from ttmlir.ttnn.operations.operation import Operation as TTNNFunction
from ttmlir.ttnn.tensor.formats import compute_type
from ttmlir.ttnn.tensor.tensor import Tensor
from ttmlir.ttnn.types.enums import DataType, Layout
from ttmlir.ttnn.types.memory import MemoryConfig
from ttmlir.ttnn.types.spec import TensorSpec
from ttmlir.ttnn_jit.errors import CompilationError, UnsupportedFunctionError
from ttmlir.ttnn_jit.layouts import UnsupportedLayoutError, data_type_attr, tensor_type
from ttmlir.ttnn_jit.operations import RULES, nearest_functions, refuse_arguments

Operand = Tensor | float | SSAValue


@dataclass(frozen=True)
class Recording:
    """What a function calls, and what it returns."""

    module: ModuleOp
    """One function, of the tensors among the arguments."""
    returns: type[Any]
    """`Tensor`, or the kind of sequence of them that the function returns."""


def record(
    function: Callable[..., Any],
    inputs: Sequence[TensorSpec],
    device: MeshDevice,
    call: Callable[[Sequence[Tensor]], Any],
    memory_config: MemoryConfig | None = None,
) -> Recording:
    """The calls that a function makes of tensors with these specifications.

    `call` calls it with tensors. With `memory_config`, results are in that memory.
    UnsupportedFunctionError and CompilationError, at the user's line, for what is not compiled.
    """
    location = _location_of(function)
    with _without_memory(device):
        recorder = Recorder(device, location)
        arguments = [recorder.add_argument(spec) for spec in inputs]
        with observe(recorder):
            try:
                returned = call(arguments)
            except AttributeError as error:
                raise _explain_missing(error) from None
        results, kind = _results_of(returned)
        values = [recorder.result(each, memory_config) for each in results]
    name = function.__name__
    block = recorder.block
    block.add_op(ReturnOp(*values))
    types = FunctionType.from_lists(
        [argument.type for argument in block.args], [value.type for value in values]
    )
    func = FuncOp(name, types, Region(block))
    func.location = location
    assert block.last_op is not None, "the function returns"
    block.last_op.location = location
    module = ModuleOp([func])
    module.location = location
    return Recording(module, kind)


def _results_of(returned: Any) -> tuple[list[Any], type[Any]]:
    """What a function returned, one by one, and the kind of sequence that they were in."""
    if isinstance(returned, list):
        return cast("list[Any]", returned), list
    if isinstance(returned, tuple):
        return list(cast("tuple[Any, ...]", returned)), tuple
    return [returned], Tensor


def _location_of(function: Callable[..., Any]) -> LocationAttr:
    code = getattr(inspect.unwrap(function), "__code__", None)
    return UNKNOWN_LOC if code is None else file_location(code.co_filename, code.co_firstlineno, 1)


def _explain_missing(error: AttributeError) -> Exception:
    """What to say about a name that ttnn does not have; other errors stay what they are."""
    text = str(error)
    name, _, rest = text.removeprefix("ttnn.").partition(" is not here yet")
    if not text.startswith("ttnn.") or not name.isidentifier():
        return error
    remedy = rest.removeprefix("; ") or nearest_functions(name)
    return UnsupportedFunctionError(name, remedy, place_of_error(error))


class _Boundless(Allocator):
    """Gives addresses to tensors that have no memory."""

    def allocate(self, size: int, *, bottom_up: bool | None = None) -> int:
        """The first address, for everyone."""
        return self.start

    def free(self, address: int) -> None:
        """Nothing was taken."""


@contextmanager
def _without_memory(device: MeshDevice) -> Generator[None]:
    """Let new tensors on a device take no memory, and operations count as no programs."""
    allocators, caches = device.allocators, device.caches_programs
    device.allocators = {
        space: _Boundless(each.name, each.start, each.end, each.alignment, top_down=each.top_down)
        for space, each in allocators.items()
    }
    device.caches_programs = False
    try:
        yield
    finally:
        device.allocators, device.caches_programs = allocators, caches


class Recorder(Observer):
    """Adds an operation for each call that it sees."""

    def __init__(self, device: MeshDevice, location: LocationAttr) -> None:
        """Begin without calls."""
        self.block = Block()
        self._device = device
        self._location = location
        self._values: dict[int, SSAValue] = {}
        self._device_value: SSAValue | None = None

    # -- tensors ---------------------------------------------------------------------------------

    def add_argument(self, spec: TensorSpec) -> Tensor:
        """A tensor that stands for an argument."""
        dtype = compute_type(spec.dtype)
        # Ones: nothing that is computed of them is infinite; rows of a table are numbered from 0.
        number = np.ones((), dtype) if spec.dtype.facts.is_float else np.zeros((), dtype)
        tensor = Tensor.on(self._device, spec, np.broadcast_to(number, tuple(spec.shape)))
        argument = self.block.insert_arg(self._type_of(spec), len(self.block.args))
        argument.location = self._location
        self._values[tensor.tensor_id] = argument
        return tensor

    def value(self, tensor: Tensor) -> SSAValue:
        """The value of a tensor that was recorded."""
        value = self._values.get(tensor.tensor_id)
        if value is None:
            raise CompilationError(
                f"a tensor of {tensor.shape} is no argument of the function that is compiled; give "
                "it as one"
            )
        return value

    def result(self, returned: Any, config: MemoryConfig | None) -> SSAValue:
        """The value of what the function returns, in a memory if one is given."""
        if not isinstance(returned, Tensor):
            kind = type(returned).__name__
            raise CompilationError(
                f"a function that is compiled returns tensors of ttnn, or a tuple of them, not "
                f"{kind}"
            )
        value, spec = self.value(returned), returned.spec
        if config is not None and config != spec.memory_config:
            wanted = spec.replace(memory_config=config).complete(self._device.core_coord)
            value = self._add_move(value, spec, wanted)
        return value

    def _type_of(self, spec: TensorSpec) -> Attribute:
        try:
            return tensor_type(spec)
        except UnsupportedLayoutError as error:
            raise CompilationError(str(error)) from None

    # -- calls -----------------------------------------------------------------------------------

    def begin(self, operation: TTNNFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Refuse calls that have no rule, before they are made."""
        if operation.name not in RULES:
            raise UnsupportedFunctionError(operation.name, nearest_functions(operation.name))
        for argument in (*args, *kwargs.values()):
            for tensor in tensors_of(argument):
                self.value(tensor)

    def end(self, call: Call) -> None:
        """Add the operations of a call."""
        values = _bind(call)
        name = call.operation.name
        refuse_arguments(name, values)
        if call.result.device() is None:
            raise CompilationError(
                f"ttnn.{name}: its result is on the host; give it the device of a tensor"
            )
        self._values[call.result.tensor_id] = RULES[name](self, values, call.result)

    def create(
        self,
        mnemonic: str,
        operands: Sequence[Operand],
        result: Tensor,
        **parameters: ParameterValue,
    ) -> SSAValue:
        """An operation that is to become a kernel; numbers among its operands are filled tensors.

        Operands of several data types are computed in one of them.
        """
        cls = _row_op(mnemonic)
        spec = result.spec
        values = [each if isinstance(each, SSAValue) else None for each in operands]
        if issubclass(cls, ElementwiseOp) and mnemonic != "typecast":
            tensors = tensors_of(list(operands))
            computed = _common_type([each.dtype for each in tensors], spec.dtype)
            first = tensors[0].spec.replace(dtype=computed)
            for number, operand in enumerate(operands):
                if isinstance(operand, Tensor):
                    values[number] = self._cast(self.value(operand), operand.spec, computed)
                elif not isinstance(operand, SSAValue):
                    values[number] = self._fill(operand, first)
            value = self._add(cls, values, spec.replace(dtype=computed), parameters)
            return self._cast(value, spec.replace(dtype=computed), spec.dtype)
        for number, operand in enumerate(operands):
            if isinstance(operand, Tensor):
                values[number] = self.value(operand)
        return self._add(cls, values, spec, parameters)

    def transpose(self, tensor: Tensor) -> SSAValue:
        """The tensor with rows and columns exchanged."""
        *outer, rows, columns = tensor.shape
        config = tensor.spec.memory_config
        if config.is_sharded():
            config = MemoryConfig()
        spec = tensor.spec.replace(shape=(*outer, columns, rows), memory_config=config)
        cls = _row_op("transpose")
        rank = len(tensor.shape)
        return self._add(cls, [self.value(tensor)], spec, {"dim0": rank - 2, "dim1": rank - 1})

    def chain(
        self,
        tensor: Tensor,
        *steps: tuple[str, tuple[int, ...], Mapping[str, ParameterValue]],
        result: Tensor | None = None,
    ) -> SSAValue:
        """Operations one after another, by mnemonic, shape of the result and parameters.

        The last one makes `result` if that is given.
        """
        spec = tensor.spec
        if spec.memory_config.is_sharded():
            spec = spec.replace(memory_config=MemoryConfig())
        value = self.value(tensor)
        specs = [spec.replace(shape=shape) for _, shape, _ in steps]
        if result is not None:
            specs[-1] = result.spec
        for (mnemonic, _, parameters), new in zip(steps, specs, strict=True):
            value = self._add(_row_op(mnemonic), [value], new, parameters)
        return value

    def fill(self, number: float, result: Tensor) -> SSAValue:
        """A tensor of one number."""
        return self._fill(number, result.spec)

    def move(self, tensor: Tensor, result: Tensor) -> SSAValue:
        """The tensor in another memory, as rows or as tiles, or of another data type."""
        value = self._cast(self.value(tensor), tensor.spec, result.dtype)
        return self._add_move(value, tensor.spec.replace(dtype=result.dtype), result.spec)

    # -- operations ------------------------------------------------------------------------------

    def _add(
        self,
        cls: type[ttnn.TTNNRowOp],
        operands: Sequence[SSAValue | None],
        spec: TensorSpec,
        parameters: Mapping[str, ParameterValue],
    ) -> SSAValue:
        given = [operand for operand in operands if operand is not None]
        properties = cls.parameter_properties(parameters)
        if issubclass(cls, BinaryOp):
            properties["dtype"] = data_type_attr(spec.dtype)
        return self._insert(
            cls.create(
                operands=given,
                result_types=[self._type_of(spec)],
                properties=properties,
                attributes={HOIST: UnitAttr()},
            )
        )

    def _cast(self, value: SSAValue, spec: TensorSpec, dtype: DataType) -> SSAValue:
        if spec.dtype == dtype:
            return value
        cls = _row_op("typecast")
        return self._add(cls, [value], spec.replace(dtype=dtype), {})

    def _add_move(self, value: SSAValue, old: TensorSpec, new: TensorSpec) -> SSAValue:
        if old == new:
            return value
        if old.memory_config != new.memory_config:
            spec = old.replace(memory_config=new.memory_config)
            value = self._insert(
                ttnn.ToMemoryConfigOp.create(operands=[value], result_types=[self._type_of(spec)])
            )
        if old.layout == new.layout:
            return value
        form = TTNNLayout.TILE if new.is_tiled else TTNNLayout.ROW_MAJOR
        return self._insert(
            ttnn.ToLayoutOp.create(
                operands=[value],
                result_types=[self._type_of(new)],
                properties={"layout": ttnn.LayoutAttr(form)},
            )
        )

    def _fill(self, number: float, spec: TensorSpec) -> SSAValue:
        if spec.dtype.facts.is_float:
            fill: Attribute = FloatAttr(float(number), f32)
        else:
            fill = IntegerAttr(int(number), i32)
        form = TTNNLayout.TILE if spec.layout == Layout.TILE else TTNNLayout.ROW_MAJOR
        properties = {
            "dtype": data_type_attr(spec.dtype),
            "fill_value": fill,
            "layout": ttnn.LayoutAttr(form),
            "shape": ttnn.ShapeAttr.of(spec.shape),
        }
        return self._insert(
            ttnn.FullOp.create(
                operands=[self._get_device()],
                result_types=[self._type_of(spec)],
                properties=properties,
            )
        )

    def _get_device(self) -> SSAValue:
        """The device, which the function asks for first of all."""
        if self._device_value is None:
            op = ttnn.GetDeviceOp.create(
                result_types=[ttnn.TTNNDeviceType()],
                properties={
                    "mesh_offset": ttnn.MeshOffsetAttr((0, 0)),
                    "mesh_shape": ttnn.MeshShapeAttr((1, 1)),
                },
            )
            op.location = self._location
            first = self.block.first_op
            if first is None:
                self.block.add_op(op)
            else:
                self.block.insert_op_before(op, first)
            self._device_value = op.results[0]
        return self._device_value

    def _insert(self, op: Operation) -> SSAValue:
        call = find_call()
        op.location = self._location
        if call is not None:
            op.location = file_location(call.file, call.line, call.column + 1)
        self.block.add_op(op)
        return op.results[0]


def _row_op(mnemonic: str) -> type[ttnn.TTNNRowOp]:
    return cast("type[ttnn.TTNNRowOp]", ttnn.op_class(mnemonic))


def _common_type(dtypes: Sequence[DataType], result: DataType) -> DataType:
    """The data type that an operation on elements computes in."""
    if len(set(dtypes)) == 1 and dtypes[0].facts.is_float == result.facts.is_float:
        return dtypes[0]
    if all(each.facts.is_float for each in (*dtypes, result)):
        return DataType.FLOAT32
    return result


def _bind(call: Call) -> dict[str, Any]:
    """The arguments of a call by name."""
    if call.operation.has_signature:
        return call.operation.signature.bind(call.args, call.kwargs)
    bound = inspect.signature(call.operation.function).bind(*call.args, **call.kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
