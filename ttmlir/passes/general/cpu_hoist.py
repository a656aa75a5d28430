"""Move operations of the device's module to functions of the host's module.

Functions are called by the text of what they compute, so that equal ones are one. The host computes
with floats of 32 bits and signless integers, so that tensors of other elements are converted before
and after the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    FunctionType,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    UnitAttr,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ttmlir.dialects import ttir
from ttmlir.dialects.ttcore import CpuModuleOp, DeviceModuleOp
from ttmlir.ir.builder import Builder
from ttmlir.ir.rewriting import refuse_at
from ttmlir.ir.ttnn_types import location_of, set_type
from ttmlir.mlir.core_prefix import name_empty_late
from ttmlir.passes.general.ttcore_mark_functions_as_forward import FUNCTION_TYPE

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOULD_HOIST = "ttir.should_hoist"
"""The attribute of operations that are to be computed by the host."""
HOISTED_CALL = "ttir.cpu_hoisted_call"
"""The attribute of calls of the host's functions."""
PLACED_CALL = "ttir.cpu_hoist_call"
"""The attribute of those calls once it is said where their tensors are."""
DECLARATION = "forward_cpu_declaration"
DEFINITION = "forward_cpu"
"""The kinds of functions that the device's module declares and the host's defines."""
_READ = DictionaryAttr({"bufferization.access": StringAttr("read")})
_I64 = IntegerType(64)


class CPUHoister:
    """Moves operations of the module of the device that a module holds."""

    def __init__(self, module: ModuleOp) -> None:
        """A module without a module of the device is refused."""
        holder = next((op for op in module.body.block.ops if isinstance(op, DeviceModuleOp)), None)
        if holder is None:
            refuse_at(
                module,
                "there is no ttcore.device_module to move operations to the host from; run "
                "ttcore-wrap-device-module before",
            )
        self._holder: DeviceModuleOp = holder
        self.device = holder.module
        self._names: set[str] = {
            op.sym_name.data for op in self.device.body.block.ops if isinstance(op, FuncOp)
        }

    def hoist(self, ops: Sequence[Operation], stem: str) -> None:
        """Let a call of a function of the host take the place of operations of one block."""
        inside = set(ops)
        # Each use is an argument of its own.
        uses = [
            (op, index)
            for op in ops
            for index, value in enumerate(op.operands)
            if value.owner not in inside
        ]
        operands = [op.operands[index] for op, index in uses]
        results = [
            value
            for op in ops
            for value in op.results
            if any(use.operation not in inside for use in value.uses)
        ]
        function = _function_of_host(ops, uses, results)
        # Loaded here, since most runs hoist nothing.
        from hashlib import sha256

        digest = sha256(_text_of(function).encode()).hexdigest()
        name = f"cpu_hoisted_{stem}_{digest[:8]}"
        block, following = ops[-1].parent, ops[-1].next_op
        assert block is not None, "operations of functions are in blocks"
        assert following is not None, "functions end with a return"
        given = [_converted(value, _boundary_type(value.type), following) for value in operands]
        call = CallOp(SymbolRefAttr(name), given, [_boundary_type(value.type) for value in results])
        call.attributes[HOISTED_CALL] = UnitAttr()
        call.location = ops[-1].location
        block.insert_op_before(call, following)
        for old, new in zip(results, call.results, strict=True):
            back = _converted(new, old.type, following)
            old.replace_all_uses_with(back)
        for op in reversed(ops):
            op.detach()
            op.drop_all_references()
        if name not in self._names:
            self._names.add(name)
            self._declare(name, digest, call)
            self._define(name, digest, function)

    def _declare(self, name: str, digest: str, call: CallOp) -> None:
        types = [value.type for value in call.operands], [value.type for value in call.results]
        made = FuncOp(name, FunctionType.from_lists(*types), Region(), visibility="private")
        made.attributes["func_hash"] = StringAttr(digest)
        made.attributes[FUNCTION_TYPE] = StringAttr(DECLARATION)
        made.location = call.location
        self.device.body.block.add_op(made)

    def _define(self, name: str, digest: str, function: FuncOp) -> None:
        function.properties["sym_name"] = StringAttr(name)
        types = function.function_type
        function.attributes.update(
            {
                "arg_ranks": _ranks(types.inputs.data),
                "func_hash": StringAttr(digest),
                "result_ranks": _ranks(types.outputs.data),
                FUNCTION_TYPE: StringAttr(DEFINITION),
            }
        )
        self._module_of_host().body.block.add_op(function)

    def _module_of_host(self) -> ModuleOp:
        block = self._holder.parent
        assert block is not None, "the module holds it"
        for op in block.ops:
            if isinstance(op, CpuModuleOp):
                return op.module
        inner = ModuleOp([])
        inner.location = self._holder.location
        made = CpuModuleOp.of(inner)
        made.location = self._holder.location
        block.insert_op_after(made, self._holder)
        return inner


def _function_of_host(
    ops: Sequence[Operation], uses: Sequence[tuple[Operation, int]], results: Sequence[SSAValue]
) -> FuncOp:
    """What operations compute, with the elements that the host computes with."""
    block = Block(arg_types=[_type_of_host(op.operands[index].type) for op, index in uses])
    for argument, (op, index) in zip(block.args, uses, strict=True):
        argument.location = location_of(op.operands[index])
    arguments = dict(zip(uses, block.args, strict=True))
    mapping: dict[SSAValue, SSAValue] = {}
    for op in ops:
        new = op.clone(mapping)
        new.location = op.location
        block.add_op(new)
        for index in range(len(op.operands)):
            if (op, index) in arguments:
                new.operands[index] = arguments[op, index]
        new.attributes.pop(SHOULD_HOIST, None)
        for name, value in new.properties.items():
            new.properties[name] = _elements_of_host(value)
        for old, result in zip(op.results, tuple(new.results), strict=True):
            mapping[old] = set_type(result, _type_of_host(result.type))
    end = ReturnOp.create(operands=[mapping[value] for value in results], location=ops[-1].location)
    block.add_op(end)
    types = [value.type for value in block.args], [value.type for value in end.operands]
    said = ArrayAttr([_READ] * len(block.args)) if uses else None
    function = FuncOp("hoisted", FunctionType.from_lists(*types), Region(block), arg_attrs=said)
    function.location = ops[-1].location
    return function


def _text_of(function: FuncOp) -> str:
    from ttmlir.mlir.printing import PrintOptions, show_op

    return show_op(function, PrintOptions(generic=True, local_scope=True))


def _ranks(types: Sequence[Attribute]) -> ArrayAttr[Attribute]:
    return ArrayAttr([IntegerAttr(len(cast("Any", type_).get_shape()), _I64) for type_ in types])


# --- Elements -------------------------------------------------------------------------------------


def _element_of(type_: Attribute) -> Attribute | None:
    return cast("Any", type_).element_type if isinstance(type_, TensorType) else None


def _with_element(type_: Attribute, element: Attribute) -> Attribute:
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType(element, tensor.get_shape(), tensor.encoding)


def _boundary_type(type_: Attribute) -> Attribute:
    """The type of a tensor that is handed to the host: narrow floats have 32 bits."""
    if isinstance(_element_of(type_), BFloat16Type | Float16Type):
        return _with_element(type_, Float32Type())
    return type_


def _type_of_host(type_: Attribute) -> Attribute:
    """The type that the host's function has for it: integers have no sign there."""
    element = _element_of(type_)
    if isinstance(element, IntegerType):
        width: int = cast("Any", element).width.data
        return _with_element(type_, IntegerType(width))
    return _boundary_type(type_)


def _elements_of_host(value: Attribute) -> Attribute:
    """The elements of a constant as the host has them."""
    if value.name != DenseIntOrFPElementsAttr.name:
        return value
    elements = cast("Any", value)
    type_ = _type_of_host(elements.type)
    if type_ == elements.type:
        return value
    numbers = list(elements.get_values())
    return DenseIntOrFPElementsAttr.from_list(cast("Any", type_), numbers)


def _converted(value: SSAValue, type_: Attribute, before: Operation) -> SSAValue:
    """A tensor with other elements, before an operation."""
    if value.type == type_:
        return value
    build = Builder.before(before)
    build.location = location_of(value)
    name_empty_late(before)
    empty = build.create_empty(type_)
    new = ttir.ToLayoutOp.create(
        operands=[value, empty], result_types=[type_], location=build.location
    )
    return build.insert(new).results[0]
