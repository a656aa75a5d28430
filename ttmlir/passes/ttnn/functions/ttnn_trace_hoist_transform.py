"""Let the device record what a function computes, and do it again at later calls.

Before:

    // After ttnn-layout convert-ttir-to-ttnn
    func.func @main(%a: tensor<32x64xbf16>) -> tensor<32x64xbf16>
        attributes {tt.function_type = "forward_device"} {
      %0 = "ttir.exp"(%a) : (tensor<32x64xbf16>) -> tensor<32x64xbf16>
      return %0 : tensor<32x64xbf16>
    }

After:

    ...
      func.func private @trace_0_main(...) attributes {tt.function_type = "trace_main"} {
        ...
        "ttnn.copy"(%1, %arg1) ...
        return
      }
      func.func private @allocate_slots_trace_0_main() -> ... {
        ...
      }
      func.func private @run_and_capture_trace_0_main(...) -> tensor<ui32, #ttnn.trace_id> ... {
        ...
      }
      func.func private @execute_trace_0_main(...) ... {
        ...
      }
      func.func @main(...) -> ... {
        ...
        %1 = "ttnn.capture_or_execute_trace"(%0, %arg0) ...
        return %1 ...

Requires: ttnn of 2026 on tensors with layouts, before they are deallocated.
Ensures: operations of programs of the device that have operands are in functions `trace_N_NAME`,
which work on slots: `allocate_slots_*` makes them, `run_and_capture_*` fills them, runs the
function and records it, `execute_*` runs the recording. Inputs of the program come from the host
and are written to their slots; parameters, constants and caches stay where they are. What the host
has a part in is not recorded and ends a recording: convolutions and what prepares their weights,
moves to the host, branches, and loops that do not count to a constant or whose bodies hold such
operations or loops; the functions of these have recordings of their own.
Options: none.
Not done here: other operations on tensors of the host are refused, as recordings are of the device
alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IntegerType,
    Signedness,
    StringAttr,
    SymbolRefAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects.definition.ods import SEGMENTS, segments_attr
from ttmlir.dialects.ttcore import ArgumentTypeAttr, WhileLoopOp
from ttmlir.dialects.ttnn.attrs import ShapeAttr
from ttmlir.dialects.ttnn.configs import TraceIdAttr
from ttmlir.ir.rewriting import refuse
from ttmlir.ir.ttnn_types import location_of, memory_of, set_type, tensor_in
from ttmlir.ir.ttnn_values import TTNNValueBuilder, value_shape_of
from ttmlir.layout.enums import ArgumentType, BufferType
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.general.const_eval_hoist_transform import argument_attribute, is_fixed
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE
from ttmlir.passes.ttir.ttir_infer_kv_cache_argument_types import KV_CACHE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

_QUEUE = 0
_TRACE_ID = TensorType(IntegerType(32, Signedness.UNSIGNED), (), TraceIdAttr(None))
_CONSTANT = DictionaryAttr({"ttcore.argument_type": ArgumentTypeAttr(ArgumentType.CONSTANT)})
_NOTHING = DictionaryAttr({})
_PRIVATE = StringAttr("private")


@dataclass(frozen=True)
class TTNNTraceHoistTransformPass(ModulePass):
    """Let the device record what a function computes, and do it again at later calls."""

    name = "ttnn-trace-hoist-transform"
    title = "TTNNTraceHoistTransform"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Record every program of the device."""
        programs = {
            op.sym_name.data: op
            for op in module.walk()
            if isinstance(op, FuncOp) and op.body.blocks and _is_program(op)
        }
        recorder = _Recorder(programs)
        for program in programs.values():
            if program.sym_visibility != _PRIVATE:
                recorder.record(program)


def _is_program(op: FuncOp) -> bool:
    kind = op.attributes.get(FUNCTION_TYPE)
    return isinstance(kind, StringAttr) and kind.data == "forward_device"


class _Recorder:
    """Makes the recordings of programs and of what they call, numbered in this order."""

    def __init__(self, programs: Mapping[str, FuncOp]) -> None:
        self.programs = programs
        self.done: set[FuncOp] = set()
        self.count = 0

    def record(self, program: FuncOp) -> None:
        """Record a program, and then what it calls, the last function first."""
        waiting = [program]
        while waiting:
            found = waiting.pop()
            if found in self.done:
                continue
            self.done.add(found)
            runs = self._runs(found.body.blocks[0])
            recorded = {op for run in runs for op in run}
            waiting += [
                callee
                for op in found.body.blocks[0].ops
                if op not in recorded
                for callee in self._callees(op)
            ]
            for ops in runs:
                _Recording(found, ops, self.count).make()
                self.count += 1

    def _runs(self, body: Block) -> list[list[Operation]]:
        """Operations between those that end a recording."""
        runs: list[list[Operation]] = [[]]
        for op in body.ops:
            if _is_there_before(op):
                continue
            if self._is_of_host(op):
                runs.append([])
            else:
                runs[-1].append(op)
        return [run for run in runs if run]

    def _callees(self, op: Operation) -> list[FuncOp]:
        """The functions of a loop or a branch."""
        symbols = [op.properties.get(name) for name in ("body_program", "condition_program")]
        branches = op.properties.get("branch_programs")
        symbols += cast("ArrayAttr[SymbolRefAttr]", branches).data if branches else ()
        names = [each.root_reference.data for each in symbols if isinstance(each, SymbolRefAttr)]
        return [self.programs[name] for name in names if name in self.programs]

    def _is_of_host(self, op: Operation) -> bool:
        """True for what cannot be recorded, as the host has a part in it."""
        if op.name in _OF_HOST:
            return True
        if op.name == "ttnn.to_tensor_spec":
            memory = memory_of(op.results[0].type)
            return memory is not None and memory.buffer is BufferType.SYSTEM_MEMORY
        if isinstance(op, WhileLoopOp):
            bodies = [callee.body.blocks[0].ops for callee in self._callees(op)]
            is_counted = all(op.bound(name) is not None for name in ("initial", "limit", "step"))
            return not is_counted or any(
                isinstance(each, WhileLoopOp) or self._is_of_host(each)
                for ops in bodies
                for each in ops
            )
        return False


_OF_HOST = frozenset(
    (
        *("ttnn.conv1d", "ttnn.conv2d", "ttnn.conv_transpose2d", "ttnn.prepare_conv3d_weights"),
        *("ttnn.adamw", "ttcore.case"),
    )
)
"""Operations that read or write memory of the host, or ask it what to do."""


def _is_there_before(op: Operation) -> bool:
    """True for what is there before the recording: tensors without operands, loads."""
    is_loaded = op.name in ("ttcore.load_cached", "ttnn.get_device") or isinstance(op, ReturnOp)
    return is_loaded or all(memory_of(value.type) is None for value in op.operands)


class _Recording:
    """The recording of some operations of a program."""

    def __init__(self, program: FuncOp, ops: list[Operation], number: int) -> None:
        self.program = program
        self.body = program.body.blocks[0]
        self.name = f"trace_{number}_{program.sym_name.data}"
        self.ops = ops
        inside = set(self.ops)
        taken = {
            value: None
            for op in self.ops
            for value in op.operands
            if value.owner not in inside and memory_of(value.type) is not None
        }
        resident = self._resident_values()
        self.resident = [value for value in resident if value in taken]
        self.inputs = [
            value for value in self._values() if value in taken and value not in resident
        ]
        self.outputs = [
            value
            for op in self.ops
            for value in op.results
            if any(use.operation not in inside for use in value.uses)
        ]

    def make(self) -> None:
        """Make the functions, and call them."""
        self._check()
        slots = [value.type for value in (*self.inputs, *self.outputs)]
        self._make_main()
        self._make_slots(slots)
        self._make_capture(slots)
        self._make_execute()
        self._call()

    def _values(self) -> Iterable[SSAValue]:
        """Arguments, and results of operations that are not recorded."""
        yield from self.body.args
        recorded = set(self.ops)
        for op in self.body.ops:
            if op not in recorded:
                yield from op.results

    def _resident_values(self) -> dict[SSAValue, None]:
        """What stays where it is: parameters, constants, caches, and what is computed once."""
        return {
            value: None
            for value in self._values()
            if (self._is_kept(value) if isinstance(value, BlockArgument) else _is_loaded(value))
        }

    def _is_kept(self, value: BlockArgument) -> bool:
        is_cache = argument_attribute(self.program, value.index, KV_CACHE) is not None
        return is_cache or is_fixed(self.program, value.index)

    def _check(self) -> None:
        for values, what in ((self.resident, "input"), (self.outputs, "output")):
            for value in values:
                memory = memory_of(value.type)
                if memory is None or memory.buffer is BufferType.SYSTEM_MEMORY:
                    refuse(
                        self.program,
                        f"has a tensor that is not on the device: All {what} tensors of trace "
                        "function must be on device.",
                    )

    def _said_of(self, value: SSAValue) -> DictionaryAttr:
        """The attributes of an argument, which stay its own in the functions made of it."""
        if isinstance(value, BlockArgument):
            said = self.program.arg_attrs
            return _NOTHING if said is None else said.data[value.index]
        return _CONSTANT if _is_loaded(value) else _NOTHING

    def _function(
        self,
        name: str,
        kind: str,
        inputs: Sequence[tuple[Attribute, DictionaryAttr]],
        outputs: Sequence[Attribute] = (),
    ) -> TTNNValueBuilder:
        """A new function before the program, and a builder of its operations."""
        types = [type_ for type_, _ in inputs]
        block = Block(arg_types=types)
        for argument in block.args:
            argument.location = self.program.location
        end = ReturnOp.create(location=self.program.location)
        block.add_op(end)
        said = [each for _, each in inputs]
        made = FuncOp(
            name,
            FunctionType.from_lists(types, list(outputs)),
            Region(block),
            visibility="private",
            arg_attrs=ArrayAttr(said) if any(each.data for each in said) else None,
        )
        made.attributes[FUNCTION_TYPE] = StringAttr(kind)
        made.location = self.program.location
        holder = self.program.parent
        assert holder is not None, "functions are in modules"
        holder.insert_op_before(made, self.program)
        return TTNNValueBuilder.before(end)

    def _kept(self) -> list[tuple[Attribute, DictionaryAttr]]:
        return [(value.type, self._said_of(value)) for value in self.resident]

    def _make_main(self) -> None:
        """The recorded operations; their results are written to slots."""
        inputs = [(value.type, self._said_of(value)) for value in self.inputs]
        outputs = [(value.type, _NOTHING) for value in self.outputs]
        build = self._function(self.name, "trace_main", (*self._kept(), *inputs, *outputs))
        arguments = build.block.args
        values = (*self.resident, *self.inputs)
        mapping: dict[SSAValue, SSAValue] = dict(zip(values, arguments, strict=False))
        for new, old in zip(arguments, values, strict=False):
            new.location = location_of(old)
        for op in self.ops:
            for operand in op.operands:
                if isinstance(operand.owner, Operation) and operand.owner.name == "ttnn.get_device":
                    mapping[operand] = build.device()
            new = op.clone(mapping)
            new.location = op.location
            build.insert(new)
        for value, slot in zip(self.outputs, arguments[len(values) :], strict=True):
            build.create_op_of("copy", (mapping[value], slot), ())

    def _make_slots(self, slots: Sequence[Attribute]) -> None:
        kept = self._kept()
        types = [*(type_ for type_, _ in kept), *slots]
        build = self._function(f"allocate_slots_{self.name}", "trace_allocate_slots", kept, types)
        made = [
            build.create(
                "empty", (build.device(),), type_, shape=ShapeAttr.of(value_shape_of(type_))
            )
            for type_ in slots
        ]
        _return(build, (*build.block.args, *made))

    def _make_capture(self, slots: Sequence[Attribute]) -> None:
        given = [(_on_host(value.type), self._said_of(value)) for value in self.inputs]
        inputs = (*given, *self._kept(), *((type_, _NOTHING) for type_ in slots))
        build = self._function(
            f"run_and_capture_{self.name}", "trace_run_and_capture", inputs, (_TRACE_ID,)
        )
        arguments, count = build.block.args, len(given)
        device = build.device()
        first = count + len(self.resident)
        for source, slot in zip(arguments[:count], arguments[first:], strict=False):
            build.create_op_of("write_tensor", (source, slot), (), blocking=False, cq_id=_QUEUE)
        self._call_main(build, arguments[count:])
        trace = build.create("begin_trace_capture", (device,), _TRACE_ID, cq_id=_QUEUE)
        self._call_main(build, arguments[count:])
        build.create_op_of("end_trace_capture", (device, trace), (), cq_id=_QUEUE)
        _execute(build, trace)
        _return(build, (trace,))

    def _call_main(self, build: TTNNValueBuilder, arguments: Sequence[SSAValue]) -> None:
        call = CallOp(SymbolRefAttr(self.name), list(arguments), [])
        call.location = build.location
        build.insert(call)

    def _make_execute(self) -> None:
        build = self._function(f"execute_{self.name}", "trace_execute", [(_TRACE_ID, _NOTHING)])
        _execute(build, build.block.args[0])

    def _call(self) -> None:
        """Let the program launch its recording."""
        is_called = self.program.sym_visibility == _PRIVATE
        for place, value in enumerate(self.inputs):
            if isinstance(value, BlockArgument) and not is_called:
                self.inputs[place] = self._give_from_host(value)
        build = TTNNValueBuilder.before(self.ops[-1])
        build.location = self.program.location
        operands = (*self.resident, *self.inputs)
        launch = build.create_op_of(
            "capture_or_execute_trace",
            (build.device(), *operands),
            [value.type for value in self.outputs],
            allocate_slots_callee=SymbolRefAttr(f"allocate_slots_{self.name}"),
            capture_callee=SymbolRefAttr(f"run_and_capture_{self.name}"),
            execute_callee=SymbolRefAttr(f"execute_{self.name}"),
            device_resident_input_count=len(self.resident),
        )
        launch.properties[SEGMENTS] = segments_attr((1, len(operands), 0))
        for old, new in zip(self.outputs, launch.results, strict=True):
            old.replace_all_uses_with(new)
        for op in reversed(self.ops):
            op.detach()
            op.drop_all_references()

    def _give_from_host(self, value: BlockArgument) -> SSAValue:
        type_ = _on_host(value.type)
        inputs = list(self.program.function_type.inputs.data)
        inputs[value.index] = type_
        self.program.properties["function_type"] = FunctionType.from_lists(
            inputs, list(self.program.function_type.outputs.data)
        )
        return set_type(value, type_)


def _is_loaded(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name == "ttcore.load_cached"


def _on_host(type_: Attribute) -> Attribute:
    """The type of a tensor on the host."""
    memory = memory_of(type_)
    is_tiled = memory is not None and memory.is_tiled
    return tensor_in(type_, tiled=is_tiled, buffer=BufferType.SYSTEM_MEMORY)


def _execute(build: TTNNValueBuilder, trace: SSAValue) -> None:
    operands = (build.device(), trace)
    build.create_op_of("execute_trace", operands, (), blocking=False, cq_id=_QUEUE)


def _return(build: TTNNValueBuilder, values: Sequence[SSAValue]) -> None:
    end = cast("Operation", build.block.last_op)
    end.operands = list(values)
