"""Turn ttnn operations into calls of the ttnn library in Python.

An operation of 2026 becomes `emitpy.call_opaque "ttnn.<name>"` with all its arguments, those that
are not tensors by their names; tensors become `ttnn.Tensor`, devices `ttnn.MeshDevice`. What
`ttcore.load_cached` remembers is kept in a dictionary of the script and not deallocated. Devices,
that dictionary, loops and branches need functions of `utils.py`, which stands beside the script:
a copy of `ttmlir/target/python/script_functions.py`. `ttmlir-translate --mlir-to-python` prints
the result.

Before:

    #dram = #ttnn.buffer_type<dram>
    #layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>,
        memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
    func.func @neg(%arg0: tensor<32x32xbf16, #layout>) -> tensor<32x32xbf16, #layout> {
      %0 = "ttnn.neg"(%arg0) : (tensor<32x32xbf16, #layout>) -> tensor<32x32xbf16, #layout>
      "ttnn.deallocate"(%arg0) <{force = false}> : (tensor<32x32xbf16, #layout>) -> ()
      return %0 : tensor<32x32xbf16, #layout>
    }

After:

    module {
      emitpy.import import "ttnn"
      emitpy.import import "utils"
      func.func @neg(%arg0: !emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor"> {
        %0 = emitpy.call_opaque "ttnn.neg"(%arg0) {args = [0 : index,
            #emitpy.opaque<"ttnn.MemoryConfig(ttnn.TensorMemoryLayout.INTERLEAVED, \
                ttnn.BufferType.DRAM, None)">], keyword_args = ["", "memory_config"]}
            : (!emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
        emitpy.call_opaque "ttnn.deallocate"(%arg0) {args = [0 : index, #emitpy.opaque<"False">],
            keyword_args = ["", "force"]} : (!emitpy.opaque<"ttnn.Tensor">) -> ()
        return %0 : !emitpy.opaque<"ttnn.Tensor">
      }
    }

Requires: builtin, func, emitpy, ttcore and ttnn operations, as in modules of 2026, only.
Ensures: no ttnn operation is left, or an error names the first that has no form in Python.
Options: none.
Not done here: operations of several devices are not tried; the library takes no loop that counts to
an argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    FunctionType,
    IndexType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, Region, SSAValue

from ttmlir.dialects import emitc, emitpy, ttcore, ttnn
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize
from ttmlir.ir.tensor_types import element_type
from ttmlir.mlir.core_prefix import TTCORE, core_prefix, spell_as
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.emitc.convert_ttnn_to_emitc import (
    callees_of,
    converted_operands,
    ends_shared,
    mesh_of,
    parts_of,
)
from ttmlir.passes.emitc.library_calls import PYTHON, call_of, describe_tensor, library_type
from ttmlir.passes.emitpy.library_functions import (
    DATA_TYPES,
    FLOATS_ALONE,
    PAGES,
    activations_of,
    data_type,
    function_of,
    made_by,
    taken_by,
    with_type,
    without_integers,
)

if TYPE_CHECKING:
    from xdsl.context import Context

TENSOR = emitpy.opaque_type("ttnn.Tensor")
TENSORS = emitpy.opaque_type("[ttnn.Tensor]")
DEVICE = emitpy.opaque_type("ttnn.MeshDevice")
CACHE = "_CONST_EVAL_CACHE"
"""The dictionary of what is computed once."""


_LIST = "utils.create_list"
_RUN = """if __name__ == "__main__":
    main()
    utils.DeviceGetter.close()"""


@dataclass(frozen=True)
class ConvertTTNNToEmitPyPass(ModulePass):
    """Turn ttnn operations into calls of the ttnn library in Python."""

    name = "convert-ttnn-to-emitpy"
    title = "ConvertTTNNToEmitPy"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Put the converted operations in the place of the module's own."""
        _convert(module, _Conversion(module))


def convert_to_functions(module: ModuleOp) -> Mapping[SSAValue, str]:
    """Convert a module to functions that all take the device, last, and keep their arguments.

    Returns what the results of calls are, as `describe_tensor` says it.
    """
    conversion = _Conversion(module, takes_device=True)
    _convert(module, conversion)
    return conversion.described


def _convert(module: ModuleOp, conversion: _Conversion) -> None:
    """Put the converted operations in the place of the module's own."""
    with spell_as(module):
        converted = conversion.run()
    body = module.detach_region(0)
    module.add_region(converted)
    body.erase()


def _converted(type_: Attribute) -> Attribute:
    return library_type(type_, TENSOR, TENSORS, DEVICE)


class _Conversion:
    """One walk over a module that adds the converted operations to a new body."""

    def __init__(self, module: ModuleOp, *, takes_device: bool = False) -> None:
        self._module = module
        self.described: dict[SSAValue, str] = {}
        self._takes_device = takes_device
        self._device_of_function: SSAValue | None = None
        self._values: dict[SSAValue, SSAValue] = {}
        self._remembers = False
        self._called = {name for op in module.walk() for name in callees_of(op)}

    def run(self) -> Region:
        """The new body."""
        block = Block()
        for op in self._module.body.blocks[0].ops if self._module.body.blocks else ():
            self._convert(op, block)
        location = self._module.location
        head: list[Operation] = [
            emitpy.ImportOp.make(name, location=location) for name in ("ttnn", "utils")
        ]
        if self._remembers:
            properties: dict[str, Attribute] = {
                "sym_name": StringAttr(CACHE),
                "initial_value": emitpy.opaque("{}"),
            }
            head.append(emitpy.GlobalOp.create(properties=properties, location=location))
        first = block.first_op
        for op in head:
            if first is None:
                block.add_op(op)
            else:
                insert_before(first, op)
        if block.last_op is not None and any(map(_is_main, block.ops)):
            run: dict[str, Attribute] = {"value": StringAttr(_RUN)}
            block.add_op(emitpy.VerbatimOp.create(properties=run, location=location))
        return Region(block)

    def _convert(self, op: Operation, block: Block) -> None:  # noqa: C901 - one case for each kind
        match op:
            case ttcore.DeviceOp():
                return
            case ttcore.DeviceModuleOp():
                for inner in op.module.body.block.ops:
                    self._convert(inner, block)
            case ttnn.GetDeviceOp() if self._device_of_function is not None:
                self._values[op.results[0]] = self._device_of_function
            case ttnn.GetDeviceOp():
                self._replace(op, block, self._device(op))
            case ttnn.WhileOp() | ttcore.WhileLoopOp():
                self._loop(op, block)
            case ttnn.CaseOp() | ttcore.CaseOp():
                functions = ", ".join(callees_of(op))
                self._call(op, block, "utils.case", [f"({functions},)"], self._operands(op))
            case ttcore.LoadCachedOp():
                self._remembers = True
                fixed = [CACHE, op.callee]
                self._call(op, block, "utils.compute_once", fixed, self._operands(op))
            case ttcore.TupleOp():
                made = emitpy.CallOpaqueOp.make(
                    _LIST, self._operands(op), [TENSORS], location=op.location
                )
                self._replace(op, block, made)
            case ttcore.GetTupleElementOp():
                number = emitpy.LiteralOp.make(str(op.index), IndexType(), location=op.location)
                block.add_op(number)
                part = emitpy.SubscriptOp.create(
                    operands=[*self._operands(op), number.results[0]],
                    result_types=[_converted(op.results[0].type)],
                    location=op.location,
                )
                self._replace(op, block, part)
            case arith.ConstantOp():
                kept = emitpy.ConstantOp.make(
                    op.properties["value"], op.results[0].type, location=op.location
                )
                self._replace(op, block, kept)
            case ttcore.OptimizationBarrierOp():
                self._values.update(zip(op.results, self._operands(op), strict=True))
            case ttnn.TTNNOp() if ends_shared(op, self._called, keeps_all=self._takes_device):
                return
            case ttnn.TTNNOp():
                self._library_call(op, block)
            case _:
                if not op.name.startswith(("builtin.module", "func.", "emitpy.")):
                    refuse_to_legalize(
                        op, "convert-ttnn-to-emitpy takes ttnn, func and emitpy operations"
                    )
                self._keep(op, block)

    def _keep(self, op: Operation, block: Block) -> None:
        """Copy an operation that only changes its types."""
        self._operands(op)
        takes_device = self._takes_device and isinstance(op, FuncOp)
        copy = op.clone_without_regions(self._values)
        if isinstance(copy, FuncOp):
            inputs, outputs = copy.function_type.inputs.data, copy.function_type.outputs.data
            device = [DEVICE] * takes_device
            copy.function_type = FunctionType.from_lists(
                [*map(_converted, inputs), *device], [*map(_converted, outputs)]
            )
            copy.properties.pop("arg_attrs", None)
            copy.properties.pop("res_attrs", None)
        if isinstance(copy, CallOp):
            copy.operands = [*copy.operands, *self._device_if_taken()]
            for result in copy.results:
                retype(result, _converted(result.type))
        block.add_op(copy)
        for old, region in zip(op.regions, copy.regions, strict=True):
            for inner in old.blocks:
                new = Block()
                region.add_block(new)
                if takes_device:
                    self._device_of_function = new.insert_arg(DEVICE, 0, op.location)
                self._fill(new, inner)

    def _fill(self, new: Block, old: Block) -> None:
        """Convert the arguments and operations of a block."""
        for index, argument in enumerate(old.args):
            new.insert_arg(_converted(argument.type), index, argument.location)
            self._values[argument] = new.args[index]
            if argument.type == ttnn.TTNNDeviceType() and not self._takes_device:
                self._use_device(new.args[index], new)
        for each in old.ops:
            self._convert(each, new)

    def _device_if_taken(self) -> Sequence[SSAValue]:
        """What calls of functions end with."""
        return () if self._device_of_function is None else (self._device_of_function,)

    def _use_device(self, device: BlockArgument, block: Block) -> None:
        """Let functions of constants take the device that the caller has."""
        call = emitpy.CallOpaqueOp.make(
            "utils.DeviceGetter.use", [device], (), location=device.location
        )
        block.add_op(call)

    def _operands(self, op: Operation) -> list[SSAValue]:
        return converted_operands(op, self._values)

    def _replace(self, op: Operation, block: Block, new: Operation) -> None:
        block.add_op(new)
        self._values.update(zip(op.results, new.results, strict=True))
        for result, made in zip(op.results, new.results, strict=True):
            type_ = result.type
            if isinstance(type_, TensorType):
                self.described[made] = describe_tensor(cast("TensorType[Attribute]", type_))

    def _device(self, op: ttnn.GetDeviceOp) -> Operation:
        arguments = [("", emitpy.opaque(str(mesh_of(op))))]
        return emitpy.CallOpaqueOp.make(
            "utils.DeviceGetter.get_device", (), [DEVICE], arguments=arguments, location=op.location
        )

    def _call(
        self,
        op: Operation,
        block: Block,
        callee: str,
        fixed: Sequence[str],
        operands: Sequence[SSAValue],
        first: Sequence[SSAValue] = (),
    ) -> None:
        """A function that takes text, then values, and gives the results of the operation.

        Values of `first` stand before the text.
        """
        operands = [*first, *operands, *self._device_if_taken()]
        numbers = [*map(IntegerAttr.from_index_int_value, range(len(operands)))]
        arguments = [*numbers[: len(first)], *map(emitpy.opaque, fixed)]
        numbers = numbers[len(first) :]
        call = emitpy.CallOpaqueOp.make(
            callee,
            operands,
            [_converted(result.type) for result in op.results],
            arguments=[("", each) for each in (*arguments, *numbers)],
            location=op.location,
        )
        self._replace(op, block, call)

    def _loop(self, op: ttnn.WhileOp | ttcore.WhileLoopOp, block: Block) -> None:
        if isinstance(op, ttcore.WhileLoopOp) and (trips := self._trips(op, block)) is not None:
            fixed = [op.programs[0], str(op.state_count), str(tuple(op.output_indices))]
            self._call(op, block, "utils.while_loop", fixed, self._operands(op), [trips])
            return
        parts = parts_of(op)
        end = str(parts.trip_count) if parts.condition is None else parts.condition
        carried = range(parts.state)
        if isinstance(op, ttcore.WhileLoopOp):
            carried = op.output_indices
        fixed = [end, parts.body, str(parts.state), str(tuple(carried))]
        self._call(op, block, "utils.while_loop", fixed, self._operands(op))

    def _trips(self, op: ttcore.WhileLoopOp, block: Block) -> SSAValue | None:
        """How often a loop runs whose bounds are tensors; None of other loops."""
        bounds = [op.properties.get(name) for name in ("initial", "limit", "step")]
        pairs = [each.data for each in bounds if isinstance(each, ttcore.LoopBoundAttr)]
        if all(place is None for _, place in pairs):
            return None
        values = [self._values[op.operands[place]] for _, place in pairs if place is not None]
        numbers = iter(range(len(values)))
        arguments: list[tuple[str, Attribute]] = [
            ("", emitpy.opaque(str(number)))
            if place is None
            else ("", IntegerAttr.from_index_int_value(next(numbers)))
            for number, place in pairs
        ]
        call = emitpy.CallOpaqueOp.make(
            "utils.count_trips", values, [IndexType()], arguments=arguments, location=op.location
        )
        block.add_op(call)
        return call.results[0]

    def _library_call(self, op: ttnn.TTNNOp, block: Block) -> None:
        """Call the function of the library, and convert what it does not take or make so."""
        if core_prefix() != TTCORE:
            refuse_to_legalize(
                op,
                "Python is made of modules of 2026, which say 'ttcore'; "
                "convert-spelling{to=2026} writes them",
            )
        called = call_of(op, PYTHON)
        arguments = [
            (argument.name, _in_python(value))
            for argument, value in called.arguments
            if _in_python(value) != emitpy.opaque("None")
        ]
        operands = self._operands(op)
        converted = [
            self._converted_operand(op, *pair, block)
            for pair in zip(op.operands, operands, strict=True)
        ]
        functions = activations_of(op)
        for number, names in enumerate(functions[:-1]):
            if not names:
                continue
            taken = converted[number]
            converted[number] = self._activate(taken, names, op.operands[number], op, block)
            if taken is not operands[number]:
                self._deallocate(taken, op, block)
        callee, arguments = function_of(op, called.function, without_integers(op, arguments))
        taken = converted
        if callee == "ttnn.concat":
            listed = emitpy.CallOpaqueOp.make(_LIST, converted, [TENSORS], location=op.location)
            block.add_op(listed)
            first: Attribute = IntegerAttr.from_index_int_value(0)
            arguments = [("", first), *arguments[len(converted) :]]
            taken = [*listed.results]
        results = [_converted(result.type) for result in op.results]
        call = emitpy.CallOpaqueOp.make(
            callee, taken, results, arguments=arguments, location=op.location
        )
        self._replace(op, block, call)
        if functions[-1]:
            [result], [value] = op.results, call.results
            self._values[result] = self._activate(value, functions[-1], result, op, block)
            self._deallocate(value, op, block)
        for number in range(len(op.results)):
            self._convert_result(op, number, dict(arguments), block)
        for old, new in zip(operands, converted, strict=True):
            if old is not new:
                self._deallocate(new, op, block)

    def _converted_operand(
        self, op: Operation, operand: SSAValue, value: SSAValue, block: Block
    ) -> SSAValue:
        """The operand as the library takes it."""
        if not isinstance(operand.type, TensorType):
            return value
        if op.name == "ttnn.chunked_scaled_dot_product_attention" and operand is op.operands[3]:
            return self._padded_pages(op, operand, value, block)
        wanted = taken_by(op, operand)
        if wanted == str(element_type(operand)):
            return value
        return self._cast(value, wanted, op, block, self._describe(operand, value))

    def _convert_result(
        self, op: Operation, number: int, arguments: Mapping[str, Attribute], block: Block
    ) -> None:
        """Make the result what the operation says, where the library makes another type."""
        result = op.results[number]
        if not isinstance(result.type, TensorType):
            return
        made, declared = made_by(op, number), str(element_type(result))
        if DATA_TYPES.get(made) == DATA_TYPES.get(declared):
            return
        value = self._values[result]
        text = self.described[value]
        self.described[value] = with_type(text, made)
        memory = arguments.get("memory_config")
        self._values[result] = self._cast(value, declared, op, block, text, memory)
        self._deallocate(value, op, block)

    def _cast(
        self,
        value: SSAValue,
        element: str,
        op: Operation,
        block: Block,
        text: str,
        memory: Attribute | None = None,
    ) -> SSAValue:
        """Convert a tensor to other elements; `text` describes one that differs in these alone."""
        arguments: list[tuple[str, Attribute]] = [
            ("", IntegerAttr.from_index_int_value(0)),
            ("dtype", data_type(element)),
        ]
        if memory is not None:
            arguments.append(("memory_config", memory))
        call = emitpy.CallOpaqueOp.make(
            "ttnn.typecast", [value], [TENSOR], arguments=arguments, location=op.location
        )
        block.add_op(call)
        self.described[call.results[0]] = with_type(text, element)
        return call.results[0]

    def _activate(
        self, value: SSAValue, names: Sequence[str], operand: SSAValue, op: Operation, block: Block
    ) -> SSAValue:
        """Compute functions of integers one by one; those of floats alone, in float32."""
        text, element = self._describe(operand, value), taken_by(op, operand)
        made = [value]
        for name in names:
            if name in FLOATS_ALONE:
                made.append(self._cast(value, "f32", op, block, text))
                text = with_type(text, "f32")
            call = emitpy.CallOpaqueOp.make(
                f"ttnn.{name}",
                [made[-1]],
                [TENSOR],
                arguments=[("", IntegerAttr.from_index_int_value(0))],
                location=op.location,
            )
            block.add_op(call)
            made.append(call.results[0])
            self.described[made[-1]] = text
            if name in FLOATS_ALONE:
                made.append(self._cast(made[-1], element, op, block, text))
                text = with_type(text, element)
        for each in made[1:-1]:
            self._deallocate(each, op, block)
        return made[-1]

    def _padded_pages(
        self, op: Operation, operand: SSAValue, value: SSAValue, block: Block
    ) -> SSAValue:
        """A table of pages whose rows are as long as the library wants them."""
        rows, width = cast("TensorType[Attribute]", operand.type).get_shape()
        more = -width % PAGES
        if not more:
            return value
        padding = emitpy.opaque(f"[(0, 0), (0, {more})]")
        call = emitpy.CallOpaqueOp.make(
            "ttnn.pad",
            [value],
            [TENSOR],
            arguments=[
                ("", IntegerAttr.from_index_int_value(0)),
                ("padding", padding),
                ("value", emitpy.opaque("0")),
            ],
            location=op.location,
        )
        block.add_op(call)
        text = self._describe(operand, value)
        self.described[call.results[0]] = f"[{rows}, {width + more}]{text.partition(']')[2]}"
        return call.results[0]

    def _describe(self, operand: SSAValue, value: SSAValue) -> str:
        known = self.described.get(value)
        return known or describe_tensor(cast("TensorType[Attribute]", operand.type))

    def _deallocate(self, value: SSAValue, op: Operation, block: Block) -> None:
        call = emitpy.CallOpaqueOp.make(
            "ttnn.deallocate",
            [value],
            (),
            arguments=[
                ("", IntegerAttr.from_index_int_value(0)),
                ("force", emitpy.opaque("False")),
            ],
            location=op.location,
        )
        block.add_op(call)


def _is_main(op: Operation) -> bool:
    return (
        isinstance(op, FuncOp) and op.sym_name.data == "main" and not op.function_type.inputs.data
    )


def _in_python(value: Attribute) -> Attribute:
    if isinstance(value, emitc.EmitC_OpaqueAttr):
        return emitpy.OpaqueAttr(value.value)
    return value
