"""Turn ttnn operations into calls of the ttnn library in C++.

An operation becomes `emitc.call_opaque "ttnn::<name>"` with its operands in order, tensors become
`ttnn::Tensor`, devices `ttnn::Device`. `ttmlir-translate --mlir-to-cpp` prints the result.

Before:

    #device = #tt.device<workerGrid = #tt.grid<8x8, (d0, d1) -> (0, d0, d1)>,
        l1Map = (d0, d1) -> (0, 0, d0, d1), dramMap = (d0, d1) -> (0, 0, d0, d1),
        meshShape = 1, chipIds = [0]>
    func.func @exp(%arg0: tensor<33x70xf32>, %arg1: !tt.device<#device>) -> tensor<33x70xf32> {
      %0 = "ttnn.empty"(%arg1) : (!tt.device<#device>) -> tensor<33x70xf32>
      %1 = "ttnn.exp"(%arg0, %0) <{operandSegmentSizes = array<i32: 1, 1>}>
          : (tensor<33x70xf32>, tensor<33x70xf32>) -> tensor<33x70xf32>
      return %1 : tensor<33x70xf32>
    }

After:

    module {
      emitc.include "ttnn-precompiled.hpp"
      func.func @exp(%arg0: !emitc.opaque<"ttnn::Tensor">, %arg1: !emitc.opaque<"ttnn::Device">)
          -> !emitc.opaque<"ttnn::Tensor"> {
        %0 = emitc.call_opaque "ttnn::empty"(%arg1)
            : (!emitc.opaque<"ttnn::Device">) -> !emitc.opaque<"ttnn::Tensor">
        %1 = emitc.call_opaque "ttnn::exp"(%arg0, %0)
            : (!emitc.opaque<"ttnn::Tensor">, !emitc.opaque<"ttnn::Tensor">)
            -> !emitc.opaque<"ttnn::Tensor">
        return %1 : !emitc.opaque<"ttnn::Tensor">
      }
    }

Requires: builtin, func, emitc and ttnn operations, in modules of 2026 also those of ttcore, only.
Ensures: no ttnn operation is left, or an error names the first that has no C++ form.
Options: none.
Not done here: the operations of tt-mlir at 880154e3c2 lose their parameters, as they do there;
later operations pass theirs after the inputs, as literals, and so do compute configs.
Memory layouts are not spelled, formats only where `ttnn.to_layout` changes them. Modules of 2026
become calls with all arguments, as the present library takes them (`library_calls.py`): devices
are `ttnn::MeshDevice *`, what `ttcore.load_cached` remembers is computed once and not deallocated.
`ttnn-precompiled.hpp` is then a copy of `ttmlir/target/cpp/ttnn-precompiled.hpp`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    FunctionType,
    IndexType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.traits import SymbolTable

from ttmlir.dialects import emitc, ttcore, ttnn
from ttmlir.dialects.definition.control import ControlOp
from ttmlir.dialects.definition.table_ops import TableOperation
from ttmlir.dialects.tt import element_of
from ttmlir.ir.rewriting import insert_before, refuse_to_legalize, rename_references
from ttmlir.ir.tensor_types import layout_of
from ttmlir.layout.enums import DataType, DeviceComputeConfig, TTNNLayout
from ttmlir.mlir.attributes import elements_of
from ttmlir.mlir.core_prefix import TTCORE, core_prefix, spell_as
from ttmlir.mlir.xdsl_internals import retype
from ttmlir.passes.core.base import ModulePass
from ttmlir.passes.emitc.library_arguments import IN_PYTHON_ALONE, WITHOUT_FUNCTION
from ttmlir.passes.emitc.library_calls import (
    CPP,
    LibraryCall,
    call_of,
    describe_tensor,
    library_type,
)
from ttmlir.version import TTNN_VERSION

if TYPE_CHECKING:
    from xdsl.context import Context


# --- Control to emitc -----------------------------------------------------------------------------
# Loops and branches of ttnn in C++: statements of the host around calls of functions.
#
# A counted loop is a `for`, one that ends by data a `while` that reads back what its condition
# gives, a branch an `if` for each function but the last. Carried values are variables. These rules
# are part of `convert-ttnn-to-emitc`.

_UNSET = emitc.EmitC_OpaqueAttr(StringAttr(""))
_CPP_TYPES = {
    DataType.F32: "float",
    DataType.BF16: "bfloat16",
    DataType.U32: "uint32_t",
    DataType.U16: "uint16_t",
    DataType.U8: "uint8_t",
}
"""What an element of a tensor is for the host."""


@dataclass(frozen=True)
class _LoopParts:
    """The functions of a loop, how often they are called, and how much of the operands is state."""

    body: str
    condition: str | None
    trip_count: int | None
    state: int


def parts_of(op: ttnn.WhileOp | ttcore.WhileLoopOp) -> _LoopParts:
    """The functions of a loop, and how often it runs where that is known."""
    if isinstance(op, ttnn.WhileOp):
        return _LoopParts(op.body, op.condition, op.trip_count, len(op.results))
    body, *conditions = op.programs
    condition, trip_count = (conditions or [None])[0], None
    if "limit" in op.properties:
        bounds = [op.bound(name) for name in ("initial", "limit", "step")]
        if None in bounds or bounds[2] == 0:
            refuse_to_legalize(op, "C++ counts from a number to a number, in steps other than 0")
        first, limit, step = cast("list[int]", bounds)
        condition, trip_count = None, max(0, -((first - limit) // step))
    return _LoopParts(body, condition, trip_count, op.state_count)


def convert_while(
    op: ttnn.WhileOp | ttcore.WhileLoopOp,
    operands: Sequence[SSAValue],
    block: Block,
    tensor: Attribute,
) -> Sequence[SSAValue]:
    """Add the statements of a loop to a block; the variables with its results."""
    writer = _Writer(op, block)
    parts = parts_of(op)
    count = parts.state
    carried = [writer.declare(value, tensor) for value in operands[:count]]
    arguments = [*carried, *operands[count:]]
    if parts.trip_count is None:
        assert parts.condition is not None, "verified: a loop has an end"
        writer.say("while (true) {")
        [asked] = writer.call(parts.condition, arguments, [tensor])
        over = writer.ask(_is_over(op, parts.condition), asked, i1)
        writer.branch(over, [emitc.VerbatimOp.make("break", location=op.location)])
        writer.assign(carried, writer.call(parts.body, arguments, [tensor] * count))
        writer.say("}")
    else:
        bounds = [writer.number(number) for number in (0, parts.trip_count, 1)]
        inside = Block(arg_types=[IndexType()])
        iteration = _Writer(op, inside)
        iteration.assign(carried, iteration.call(parts.body, arguments, [tensor] * count))
        iteration.end()
        writer.add(
            emitc.ForOp.create(operands=bounds, regions=[Region(inside)], location=op.location)
        )
    if isinstance(op, ttcore.WhileLoopOp):
        return [carried[index] for index in op.output_indices]
    return carried


def convert_case(
    op: ttnn.CaseOp | ttcore.CaseOp,
    operands: Sequence[SSAValue],
    block: Block,
    tensor: Attribute,
) -> Sequence[SSAValue]:
    """Add the statements of a branch to a block; the variables with its results."""
    writer = _Writer(op, block)
    results = [writer.declare(None, tensor) for _ in op.results]
    number = writer.ask(_number(op), operands[0], i32)
    _choose(writer, number, callees_of(op), 0, operands[1:], results)
    return results


def callees_of(op: Operation) -> tuple[str, ...]:
    """The functions that an operation calls."""
    match op:
        case ControlOp():
            return op.callees()
        case ttcore.LoadCachedOp():
            return (op.callee,)
        case CallOp():
            return (op.callee.root_reference.data,)
        case ttcore.WhileLoopOp():
            return op.programs
        case ttcore.CaseOp():
            branches = cast("ArrayAttr[SymbolRefAttr]", op.properties["branch_programs"]).data
            return tuple(each.root_reference.data for each in branches)
        case _:
            return ()


def ends_shared(op: Operation, called: Collection[str], *, keeps_all: bool = False) -> bool:
    """Whether an operation ends a tensor that others have, too: a later run, or the caller.

    `called` are the functions that text calls by itself; `keeps_all` leaves all to the caller.
    """
    if op.name not in ("ttnn.dealloc", "ttnn.deallocate"):
        return False
    owner = op.operands[0].owner
    if isinstance(owner, Block):
        function = owner.parent_op()
        return keeps_all or (isinstance(function, FuncOp) and function.sym_name.data in called)
    return isinstance(owner, ttcore.LoadCachedOp)


def mesh_of(op: ttnn.GetDeviceOp) -> tuple[int, ...]:
    """The extents of the mesh that a device is."""
    shape = op.properties.get("mesh_shape")
    return tuple(shape.data) if isinstance(shape, ttnn.MeshShapeAttr) else (1, 1)


def callees_first(functions: Sequence[FuncOp]) -> list[FuncOp]:
    """Functions in the order in which C++ has to define them: what is called comes before."""
    by_name = {op.sym_name.data: op for op in functions}
    ordered: dict[str, FuncOp] = {}
    pending = [(op.sym_name.data, False) for op in reversed(functions)]
    entered: set[str] = set()
    while pending:
        name, is_done = pending.pop()
        if is_done:
            ordered[name] = by_name[name]
        elif name in by_name and name not in entered:
            entered.add(name)
            pending.append((name, True))
            pending.extend((each, False) for each in reversed(_calls(by_name[name])))
    return list(ordered.values())


def _calls(function: FuncOp) -> list[str]:
    return [name for op in function.walk() for name in callees_of(op)]


def _choose(
    writer: _Writer,
    number: SSAValue,
    names: Sequence[str],
    first: int,
    operands: Sequence[SSAValue],
    results: Sequence[SSAValue],
) -> None:
    """The call of the branch that `number` says, of those from `first` on."""
    types = [value.type for value in results]
    if first == len(names) - 1:
        writer.assign(results, writer.call(names[first], operands, types))
        return
    is_meant = writer.compare(number, first)
    blocks = [Block(), Block()]
    then, otherwise = (_Writer(writer.source, block) for block in blocks)
    then.assign(results, then.call(names[first], operands, types))
    _choose(otherwise, number, names, first + 1, operands, results)
    for each in (then, otherwise):
        each.end()
    writer.add(
        emitc.IfOp.create(
            operands=[is_meant],
            regions=[Region(block) for block in blocks],
            location=writer.source.location,
        )
    )


def _condition_type(op: Operation, name: str) -> str:
    function = SymbolTable.lookup_symbol(op, SymbolRefAttr(name))
    assert function is not None, "verified: the condition is a function"
    return _cpp_type(cast("FunctionType", function.properties["function_type"]).outputs.data[0])


def _cpp_type(type_: Attribute) -> str:
    element = element_of(cast("TensorType[Attribute]", type_).element_type)
    return _CPP_TYPES.get(element.data_type, "float")


def _is_over(op: Operation, condition: str) -> str:
    """The function that says whether what a condition gives is 0."""
    if core_prefix() == TTCORE:
        return "utils::is_zero"
    return f"{_item(_condition_type(op, condition))} == 0; }}"


def _number(op: Operation) -> str:
    """The function that reads the number of a branch."""
    if core_prefix() == TTCORE:
        return "utils::item<int32_t>"
    return f"{_item(_cpp_type(op.operands[0].type), 'int32_t')}; }}"


def _item(kind: str, target: str = "float") -> str:
    """The start of a function that reads the one element of a tensor on the host."""
    return f"[](const ttnn::Tensor &tensor) {{ return static_cast<{target}>(tensor.item<{kind}>())"


class _Writer:
    """Adds statements to a block, all for one operation of ttnn."""

    def __init__(self, source: Operation, block: Block) -> None:
        """Add to `block` what `source` becomes."""
        self.source = source
        self._block = block

    def add(self, op: Operation) -> Sequence[SSAValue]:
        """A statement, and its results."""
        self._block.add_op(op)
        return op.results

    def say(self, text: str) -> None:
        """A line of text."""
        self.add(emitc.VerbatimOp.make(text, location=self.source.location))

    def end(self) -> None:
        """The end of the body of a statement."""
        self.add(emitc.YieldOp.create(location=self.source.location))

    def declare(self, value: SSAValue | None, type_: Attribute) -> SSAValue:
        """A variable that begins with a value."""
        op = emitc.VariableOp.make(_UNSET, type_, location=self.source.location)
        [variable] = self.add(op)
        if value is not None:
            self.assign([variable], [value])
        return variable

    def assign(self, variables: Sequence[SSAValue], values: Sequence[SSAValue]) -> None:
        """Give variables their values."""
        for pair in zip(variables, values, strict=True):
            self.add(emitc.AssignOp.create(operands=pair, location=self.source.location))

    def number(self, number: int) -> SSAValue:
        """A number that counts."""
        value = IntegerAttr.from_index_int_value(number)
        op = emitc.ConstantOp.make(value, IndexType(), location=self.source.location)
        return self.add(op)[0]

    def call(
        self, name: str, operands: Sequence[SSAValue], types: Sequence[Attribute]
    ) -> Sequence[SSAValue]:
        """The results of a function."""
        op = CallOp(name, operands, types)
        op.location = self.source.location
        return self.add(op)

    def ask(self, function: str, value: SSAValue, type_: Attribute) -> SSAValue:
        """What a function that is written out makes of a tensor."""
        op = emitc.CallOpaqueOp.make(function, [value], [type_], location=self.source.location)
        return self.add(op)[0]

    def compare(self, value: SSAValue, number: int) -> SSAValue:
        """Whether an integer is a number."""
        constant = emitc.ConstantOp.make(
            IntegerAttr(number, i32), i32, location=self.source.location
        )
        [other] = self.add(constant)
        op = emitc.CmpOp.create(
            operands=[value, other],
            result_types=[i1],
            properties={"predicate": IntegerAttr(emitc.CmpOp.PREDICATES.index("eq"), i64)},
            location=self.source.location,
        )
        return self.add(op)[0]

    def branch(self, condition: SSAValue, ops: Sequence[Operation]) -> None:
        """Statements that are done if a condition holds."""
        inside = Block([*ops, emitc.YieldOp.create(location=self.source.location)])
        self.add(
            emitc.IfOp.create(
                operands=[condition],
                regions=[Region(inside), Region()],
                location=self.source.location,
            )
        )


# --- Convert ttnn to emitc ------------------------------------------------------------------------

HEADER = "ttnn-precompiled.hpp"
TENSOR = emitc.EmitC_OpaqueType(StringAttr("ttnn::Tensor"))
TENSORS = emitc.EmitC_OpaqueType(StringAttr("std::vector<ttnn::Tensor>"))
DEVICE = emitc.EmitC_OpaqueType(StringAttr("ttnn::Device"))
DEVICE_POINTER = emitc.EmitC_PointerType(DEVICE)
MESH_DEVICE = emitc.EmitC_PointerType(emitc.EmitC_OpaqueType(StringAttr("ttnn::MeshDevice")))
MESH_DEVICE_REFERENCE = emitc.EmitC_OpaqueType(StringAttr("ttnn::MeshDevice &"))
_RESULTS = emitc.EmitC_OpaqueType(StringAttr("const auto"))
_IN_ALTERNATIVES = ("ttnn.conv1d", "ttnn.conv2d", "ttnn.conv_transpose2d", "ttnn.max_pool2d")
"""Functions whose one result the library gives as one of several types."""

_NULLOPT = emitc.EmitC_OpaqueAttr(StringAttr("std::nullopt"))
_LAYOUTS = {layout: f"ttnn::Layout::{layout.name}" for layout in TTNNLayout}
_DATA_TYPES = {
    DataType.F32: "FLOAT32",
    DataType.BF16: "BFLOAT16",
    DataType.BFP_BF8: "BFLOAT8_B",
    DataType.BFP_BF4: "BFLOAT4_B",
    DataType.U32: "UINT32",
    DataType.U16: "UINT16",
    DataType.U8: "UINT8",
}


@dataclass(frozen=True)
class ConvertTTNNToEmitCPass(ModulePass):
    """Turn ttnn operations into calls of the ttnn library in C++."""

    name = "convert-ttnn-to-emitc"
    title = "ConvertTTNNToEmitC"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Put the converted operations in the place of the module's own."""
        converted = to_emitc(module)
        body = module.detach_region(0)
        module.add_region(converted.detach_region(0))
        body.erase()


def to_emitc(module: ModuleOp, described: dict[SSAValue, str] | None = None) -> ModuleOp:
    """A copy of the module, with functions converted and the library's header included.

    `described` gets what tensors are that results of the copy stand for, as `describe_tensor` says.
    """
    converted = module.clone_without_regions()
    with spell_as(module):
        return _converted_module(module, converted, {} if described is None else described)


def _converted_module(
    module: ModuleOp, converted: ModuleOp, described: dict[SSAValue, str]
) -> ModuleOp:
    if core_prefix() == TTCORE:
        module = _with_free_names(module)
    include = emitc.IncludeOp.make(HEADER, location=module.location)
    [block] = _Conversion(module, described).copy_regions(module, converted)
    if block.first_op is None:
        block.add_op(include)
    else:
        insert_before(block.first_op, include)
    return converted


def _converted(type_: Attribute) -> Attribute:
    device = MESH_DEVICE if core_prefix() == TTCORE else DEVICE
    return library_type(type_, TENSOR, TENSORS, device)


def converted_operands(op: Operation, values: Mapping[SSAValue, SSAValue]) -> list[SSAValue]:
    """What stands for the operands of an operation; refuses one that is in front of them."""
    known = [values[operand] for operand in op.operands if operand in values]
    if len(known) < len(op.operands):
        refuse_to_legalize(op, "its operands have to be defined before it")
    return known


class _Conversion:
    """One walk over a module that adds the converted operations to a copy."""

    def __init__(self, module: ModuleOp, described: dict[SSAValue, str]) -> None:
        self._described = described
        self._values: dict[SSAValue, SSAValue] = {}
        self._references: dict[SSAValue, SSAValue] = {}
        self._called = {name for op in module.walk() for name in callees_of(op)}
        self._rules: dict[str, Callable[[Operation, Block], None]] = {
            ttnn.AllocOp.name: _refuse_allocation,
            ttnn.DeallocOp.name: self._dealloc,
            ttnn.GetDeviceOp.name: self._get_device,
            ttnn.ToLayoutOp.name: self._to_layout,
            "ttnn.multiply": self._multiply,
            ttnn.WhileOp.name: self._while,
            ttnn.CaseOp.name: self._case,
            ttcore.WhileLoopOp.name: self._while,
            ttcore.CaseOp.name: self._case,
            ttcore.LoadCachedOp.name: self._load_cached,
            ttcore.TupleOp.name: self._tuple,
            ttcore.GetTupleElementOp.name: self._part,
            "arith.constant": self._constant,
        }

    def copy_regions(self, source: Operation, target: Operation) -> list[Block]:
        """Convert all that `source` holds into the empty regions of `target`; the new blocks."""
        pairs = [
            (block, self._block(block, region))
            for old, region in zip(source.regions, target.regions, strict=True)
            for block in old.blocks
        ]
        for block, copy in pairs:
            for op in _in_order(block):
                self._convert(op, copy)
        return [copy for _, copy in pairs]

    def _block(self, block: Block, region: Region) -> Block:
        copy = Block()
        region.add_block(copy)
        for index, argument in enumerate(block.args):
            copy.insert_arg(_converted(argument.type), index, argument.location)
            self._values[argument] = copy.args[index]
        return copy

    def _convert(self, op: Operation, block: Block) -> None:
        if isinstance(op, ttcore.DeviceOp):
            return
        if isinstance(op, ttcore.DeviceModuleOp):
            for inner in _in_order(op.module.body.block):
                self._convert(inner, block)
        elif isinstance(op, ttnn.TTNNOp) and core_prefix() == TTCORE and not self._is_control(op):
            self._call_library(op, block)
        elif isinstance(op, ttcore.OptimizationBarrierOp):
            self._values.update(zip(op.results, self._operands(op), strict=True))
        elif isinstance(op, ttnn.TTNNOp):
            if op.form() is not op.SIGNATURE:
                refuse_to_legalize(
                    op,
                    "C++ is made of operations as they were until 2025, which write to a "
                    "destination and take the device, or of modules of 2026, which say 'ttcore'; "
                    "write them so",
                )
            self._rules.get(op.name, self._call)(op, block)
        elif op.name in self._rules:
            self._rules[op.name](op, block)
        elif isinstance(op, ModuleOp | FuncOp | CallOp | ReturnOp) or op.name.startswith("emitc."):
            self._keep(op, block)
        else:
            refuse_to_legalize(op, "convert-ttnn-to-emitc takes ttnn, func and emitc operations")

    def _is_control(self, op: Operation) -> bool:
        return isinstance(op, ControlOp)

    def _call_library(self, op: ttnn.TTNNOp, block: Block) -> None:
        """The call of the present library that an operation of 2026 is."""
        if ends_shared(op, self._called):
            return
        if isinstance(op, ttnn.GetDeviceOp):
            extents = mesh_of(op)
            shape = f"ttnn::MeshShape({', '.join(map(str, extents))})"
            args = None if extents == (1, 1) else [_opaque(shape)]
            self._replace(op, block, _opaque_call(op, _GET_DEVICE, (), [MESH_DEVICE], args))
            return
        if op.name.removeprefix("ttnn.") in WITHOUT_FUNCTION | IN_PYTHON_ALONE:
            refuse_to_legalize(op, f"the ttnn library ({TTNN_VERSION}) has no function for it")
        called, operands = call_of(op, CPP), self._operands(op)
        pairs = list(called.arguments)
        if op.name == "ttnn.concat":
            listed = _opaque_call(op, "util_create_vec", operands, [TENSORS])
            block.add_op(listed)
            pairs = [(pairs[0][0], _operand(0)), *pairs[len(operands) :]]
            operands = [*listed.results]
        for argument, value in pairs:
            if argument.kind == "reference" and isinstance(value, IntegerAttr):
                index = value.value.data
                reference = self._reference(operands[index], op)
                operands = [*operands[:index], reference, *operands[index + 1 :]]
        while pairs and pairs[-1][1] == _opaque(pairs[-1][0].default or CPP.none):
            del pairs[-1]
        args = [value for _, value in pairs]
        self._add_call(op, block, called, operands, args)

    def _add_call(
        self,
        op: Operation,
        block: Block,
        called: LibraryCall,
        operands: Sequence[SSAValue],
        args: Sequence[Attribute],
    ) -> None:
        """Add a call, and what takes the tensors out of what the library gives."""
        callee = called.function.replace(".", "::")
        template = None if called.template is None else [called.template]
        types = [_converted(result.type) for result in op.results]
        is_packed = len(types) > 1 or called.function in _IN_ALTERNATIVES
        plain = [_operand(index) for index in range(len(operands))]
        given = None if args == plain else args
        kept = [_RESULTS] if is_packed else types
        call = _opaque_call(op, callee, operands, kept, given, template)
        if not is_packed:
            self._replace(op, block, call)
            return
        block.add_op(call)
        for index, result in enumerate(op.results):
            number = [_opaque(str(index))]
            one = _opaque_call(op, "utils::result", call.results, [TENSOR], None, number)
            block.add_op(one)
            self._stand_for(result, one.results[0])

    def _reference(self, device: SSAValue, op: Operation) -> SSAValue:
        """A device as functions take it that need one."""
        known = self._references.get(device)
        if known is not None:
            return known
        made = emitc.ApplyOp.make("*", device, MESH_DEVICE_REFERENCE, location=op.location)
        owner = device.owner
        if isinstance(owner, Operation):
            block = owner.parent
            assert block is not None
            block.insert_ops_after([made], owner)
        elif owner.first_op is None:
            owner.add_op(made)
        else:
            insert_before(owner.first_op, made)
        return self._references.setdefault(device, made.results[0])

    def _load_cached(self, op: Operation, block: Block) -> None:
        """What a function of constants gives, which is computed when it is first asked for."""
        assert isinstance(op, ttcore.LoadCachedOp)
        types = [_converted(result.type) for result in op.results]
        function = [_opaque(op.callee)]
        call = _opaque_call(op, "utils::compute_once", self._operands(op), types, None, function)
        self._replace(op, block, call)

    def _tuple(self, op: Operation, block: Block) -> None:
        made = emitc.CallOpaqueOp.make(
            "util_create_vec", self._operands(op), [TENSORS], location=op.location
        )
        self._replace(op, block, made)

    def _part(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttcore.GetTupleElementOp)
        number = emitc.LiteralOp.create(
            result_types=[IndexType()],
            properties={"value": StringAttr(str(op.index))},
            location=op.location,
        )
        block.add_op(number)
        part = emitc.SubscriptOp.create(
            operands=[*self._operands(op), number.results[0]],
            result_types=[_converted(op.results[0].type)],
            location=op.location,
        )
        self._replace(op, block, part)

    def _constant(self, op: Operation, block: Block) -> None:
        value, type_ = op.properties["value"], op.results[0].type
        self._replace(op, block, emitc.ConstantOp.make(value, type_, location=op.location))

    def _keep(self, op: Operation, block: Block) -> None:
        """Copy an operation that only changes its types."""
        self._operands(op)
        copy = op.clone_without_regions(self._values)
        if isinstance(copy, FuncOp):
            inputs, outputs = copy.function_type.inputs.data, copy.function_type.outputs.data
            copy.function_type = FunctionType.from_lists(
                [*map(_converted, inputs)], [*map(_converted, outputs)]
            )
        if isinstance(copy, CallOp):
            for result in copy.results:
                retype(result, _converted(result.type))
        block.add_op(copy)
        self.copy_regions(op, copy)

    def _operands(self, op: Operation) -> list[SSAValue]:
        return converted_operands(op, self._values)

    def _replace(self, op: Operation, block: Block, new: Operation) -> None:
        block.add_op(new)
        for old, made in zip(op.results, new.results, strict=True):
            self._stand_for(old, made)

    def _stand_for(self, old: SSAValue, new: SSAValue) -> None:
        self._values[old] = new
        type_ = old.type
        if core_prefix() == TTCORE and isinstance(type_, TensorType):
            self._described[new] = describe_tensor(cast("TensorType[Attribute]", type_))

    def _get_device(self, op: Operation, block: Block) -> None:
        name = emitc.EmitC_OpaqueAttr(StringAttr("device"))
        self._replace(op, block, emitc.VariableOp.make(name, DEVICE, location=op.location))

    def _to_layout(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttnn.ToLayoutOp)
        tensor, device = self._operands(op)
        pointer = emitc.ApplyOp.make("&", device, DEVICE_POINTER, location=op.location)
        block.add_op(pointer)
        layout = emitc.EmitC_OpaqueAttr(StringAttr(_LAYOUTS[op.layout.value]))
        arguments = (_operand(0), layout, _new_format(op), _NULLOPT, _operand(1))
        self._replace(op, block, _call_of(op, (tensor, pointer.results[0]), arguments))

    def _dealloc(self, op: Operation, block: Block) -> None:
        call = emitc.CallOpaqueOp.make(
            "ttnn::deallocate", self._operands(op), (), location=op.location
        )
        block.add_op(call)

    def _while(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttnn.WhileOp | ttcore.WhileLoopOp)
        results = convert_while(op, self._operands(op), block, TENSOR)
        self._values.update(zip(op.results, results, strict=True))

    def _case(self, op: Operation, block: Block) -> None:
        assert isinstance(op, ttnn.CaseOp | ttcore.CaseOp)
        results = convert_case(op, self._operands(op), block, TENSOR)
        self._values.update(zip(op.results, results, strict=True))

    def _multiply(self, op: Operation, block: Block) -> None:
        """The one binary operation whose optional arguments are spelled."""
        arguments = (_operand(0), _operand(1), _NULLOPT, _NULLOPT, _operand(2))
        self._replace(op, block, _call_of(op, self._operands(op), arguments))

    def _call(self, op: Operation, block: Block) -> None:
        spells = _has_spelled_parameters(op) or "compute_config" in op.properties
        arguments = _arguments(op) if spells else None
        self._replace(op, block, _call_of(op, self._operands(op), arguments))


WORDS = frozenset(
    (
        "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
        "char16_t char32_t class co_await co_return co_yield compl concept const const_cast "
        "consteval constexpr constinit continue decltype default delete do double dynamic_cast "
        "else enum explicit export extern false float for friend goto if inline int long mutable "
        "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
        "register reinterpret_cast requires return short signed sizeof static static_assert "
        "static_cast struct switch template this thread_local throw true try typedef typeid "
        "typename union unsigned using virtual void volatile wchar_t while xor xor_eq"
    ).split()
)
"""What no function or variable is called in C++."""


def _with_free_names(module: ModuleOp) -> ModuleOp:
    """The module without functions that C++ takes for words of its own, or for the library's."""
    names = {op.sym_name.data for op in module.walk() if isinstance(op, FuncOp)}
    taken = WORDS | {op.name.removeprefix("ttnn.") for op in ttnn.TTNN.operations}
    renamed: dict[str, str] = {}
    for name in sorted(names & taken):
        free = f"{name}_"
        while free in names:
            free += "_"
        renamed[name] = free
        names.add(free)
    if not renamed:
        return module
    module = module.clone()
    for op in module.walk():
        rename_references(op, renamed)
        if isinstance(op, FuncOp):
            op.sym_name = StringAttr(renamed.get(op.sym_name.data, op.sym_name.data))
    return module


_GET_DEVICE = "ttnn::DeviceGetter::getInstance"


def _opaque(text: str) -> Attribute:
    return emitc.EmitC_OpaqueAttr(StringAttr(text))


def _opaque_call(
    op: Operation,
    callee: str,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    args: Sequence[Attribute] | None = None,
    template_args: Sequence[Attribute] | None = None,
) -> Operation:
    return emitc.CallOpaqueOp.make(
        callee, operands, types, args=args, template_args=template_args, location=op.location
    )


def _in_order(block: Block) -> Sequence[Operation]:
    """The operations of a block; functions that loops and branches call before those."""
    ops = list(block.ops)
    functions = [op for op in ops if isinstance(op, FuncOp)]
    inner = (op for each in functions for op in each.walk() if not isinstance(op, CallOp))
    if not any(map(callees_of, inner)):
        return ops
    return [*(op for op in ops if not isinstance(op, FuncOp)), *callees_first(functions)]


def _refuse_allocation(op: Operation, block: Block) -> None:
    refuse_to_legalize(op, "the ttnn library chooses addresses itself in C++")


def _new_format(op: ttnn.ToLayoutOp) -> Attribute:
    """The `ttnn::DataType` that the result has and the operand has not, as of narrower weights."""
    before, after = (_format(value.type) for value in (op.operands[0], op.results[0]))
    if after is None or after == before or after not in _DATA_TYPES:
        return _NULLOPT
    return emitc.EmitC_OpaqueAttr(StringAttr(f"ttnn::DataType::{_DATA_TYPES[after]}"))


def _format(type_: Attribute) -> DataType | None:
    layout = layout_of(type_)
    return None if layout is None else layout.element.data_type


def _has_spelled_parameters(op: Operation) -> bool:
    return (
        isinstance(op, TableOperation)
        and op.DEFINITION.extends_reference
        and bool(op.DEFINITION.parameters)
    ) or isinstance(op, ttnn.ConstantOp)


def _arguments(op: Operation) -> list[Attribute]:
    """The inputs, parameters and compute config as literals, then destination and device."""
    assert isinstance(op, TableOperation)
    signature = op.SIGNATURE
    inputs = op.group_range(signature.init)[0] if signature.init else 0
    operands = [_operand(index) for index in range(len(op.operands))]
    parameters = [
        literal
        for parameter in op.PARAMETERS
        for literal in _literals(op.properties.get(parameter.name))
    ]
    if not _has_spelled_parameters(op):
        parameters = []
    config = op.properties.get("compute_config")
    if isinstance(config, ttnn.DeviceComputeConfigAttr):
        parameters.append(_compute_config(config.data))
    return [*operands[:inputs], *parameters, *operands[inputs:]]


def _compute_config(config: DeviceComputeConfig) -> Attribute:
    """`ttnn::WormholeComputeKernelConfig`, which Blackhole takes, too."""
    wide = str(bool(config.fp32_dest_acc_en)).lower()
    return emitc.EmitC_OpaqueAttr(
        StringAttr(
            f"ttnn::WormholeComputeKernelConfig{{.math_fidelity = MathFidelity::"
            f"{config.math_fidelity.schema_name}, .fp32_dest_acc_en = {wide}}}"
        )
    )


def _literals(attribute: Attribute | None) -> Sequence[Attribute]:
    """What stands for a parameter; elements are followed by their shape."""
    match attribute:
        case None:
            return (_NULLOPT,)
        case DenseIntOrFPElementsAttr():
            return (attribute, _list(attribute.get_shape()))
        case ArrayAttr():
            items = cast("ArrayAttr[IntegerAttr]", attribute)
            return (_list([item.value.data for item in items]),)
        case DenseArrayBase():
            items = cast("DenseArrayBase[IntegerType]", attribute)
            return (_list([*items.iter_values()]),)
        case _:
            return (attribute,)


def _list(values: Sequence[int]) -> Attribute:
    """Integers that C++ text shows as `{1, 2}`."""
    return elements_of(TensorType(i32, [len(values)]), values)


@cache
def _operand(index: int) -> Attribute:
    """The argument that stands for the operand with this number."""
    return IntegerAttr.from_index_int_value(index)


def _call_of(
    op: Operation, operands: Sequence[SSAValue], arguments: Sequence[Attribute] | None
) -> Operation:
    callee = op.DEFINITION.callee if isinstance(op, TableOperation) else _callee(op)
    results = [_converted(result.type) for result in op.results]
    return emitc.CallOpaqueOp.make(callee, operands, results, args=arguments, location=op.location)


def _callee(op: Operation) -> str:
    return op.name.replace("ttnn.", "ttnn::", 1)
