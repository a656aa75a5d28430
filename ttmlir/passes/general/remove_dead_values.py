"""Remove values that are computed or passed and never matter.

Before:

    module {
      func.func private @both(%x: i32, %y: i32) -> (i32, i32) {
        %0 = arith.addi %x, %x : i32
        %1 = arith.addi %y, %y : i32
        return %0, %1 : i32, i32
      }
      func.func @main(%x: i32, %y: i32) -> i32 {
        %0:2 = call @both(%x, %y) : (i32, i32) -> (i32, i32)
        return %0#0 : i32
      }
    }

After:

    module {
      func.func private @both(%arg0: i32) -> i32 {
        %0 = arith.addi %arg0, %arg0 : i32
        return %0 : i32
      }
      func.func @main(%arg0: i32, %arg1: i32) -> i32 {
        %0 = call @both(%arg0) : (i32) -> i32
        return %0 : i32
      }
    }

Requires: nothing.
Ensures: every operation without side effects has a user that matters; every argument of a private
function is used in it, and every result of one is used by some call.
Options: none.
Not done here: signatures of public functions stay, and so do those of functions that anything but
`func.call` refers to; arguments of other blocks stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar, cast

from ttmlir.passes.core.base import ModulePass

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.dialects.func import CallOp, FuncOp
    from xdsl.ir import Attribute, Operation

T = TypeVar("T")


@dataclass(frozen=True)
class RemoveDeadValuesPass(ModulePass):
    """Remove dead values."""

    name = "remove-dead-values"

    def apply(self, ctx: Context, module: ModuleOp) -> None:
        """Remove dead operations and trim signatures until nothing changes."""
        from xdsl.transforms.dead_code_elimination import region_dce

        while True:
            region_dce(module.body)
            trimmed = [_trim(function, calls) for function, calls in _private_functions(module)]
            if not any(trimmed):
                return


def _private_functions(module: ModuleOp) -> list[tuple[FuncOp, list[CallOp]]]:
    """The functions whose every use is a call, with the calls."""
    from xdsl.dialects.func import CallOp, FuncOp

    from ttmlir.ir.rewriting import references_of, symbol_visibility

    calls: dict[str, list[CallOp]] = {}
    used_otherwise: set[str] = set()
    for op in module.walk():
        if isinstance(op, CallOp):
            calls.setdefault(op.callee.string_value(), []).append(op)
        else:
            used_otherwise.update(path[-1] for path in references_of(op))
    return [
        (op, calls.get(name, []))
        for op in module.ops
        if isinstance(op, FuncOp)
        and not op.is_declaration
        and symbol_visibility(op) == "private"
        and (name := op.sym_name.data) not in used_otherwise
    ]


def _trim(function: FuncOp, calls: list[CallOp]) -> bool:
    """Drop unused arguments and results of a function; True if there were any."""
    from xdsl.dialects.builtin import FunctionType

    type, entry = function.function_type, function.body.blocks[0]
    inputs = [argument.first_use is not None for argument in entry.args]
    outputs = [
        not calls or any(call.results[index].first_use is not None for call in calls)
        for index in range(len(type.outputs))
    ]
    if all(inputs) and all(outputs):
        return False
    for argument in _pick(entry.args, [not is_live for is_live in inputs]):
        entry.erase_arg(argument)
    for terminator in _returns(function):
        terminator.operands = _pick(terminator.operands, outputs)
    function.properties["function_type"] = FunctionType.from_lists(
        _pick(type.inputs.data, inputs), _pick(type.outputs.data, outputs)
    )
    _trim_attributes(function, "arg_attrs", inputs)
    _trim_attributes(function, "res_attrs", outputs)
    for call in calls:
        _replace_call(call, inputs, outputs)
    return True


def _pick(values: Iterable[T], is_live: list[bool]) -> list[T]:
    return [value for value, keep in zip(values, is_live, strict=True) if keep]


def _returns(function: FuncOp) -> list[Operation]:
    from xdsl.dialects.func import ReturnOp

    return [block.last_op for block in function.body.blocks if isinstance(block.last_op, ReturnOp)]


def _trim_attributes(function: FuncOp, name: str, is_live: list[bool]) -> None:
    from xdsl.dialects.builtin import ArrayAttr

    attributes = function.properties.get(name)
    if isinstance(attributes, ArrayAttr):
        elements = cast("ArrayAttr[Attribute]", attributes).data
        function.properties[name] = ArrayAttr(_pick(elements, is_live))


def _replace_call(call: CallOp, inputs: list[bool], outputs: list[bool]) -> None:
    from xdsl.dialects.func import CallOp

    results = _pick(call.results, outputs)
    trimmed = CallOp(
        call.callee, _pick(call.arguments, inputs), [result.type for result in results]
    )
    trimmed.attributes.update(call.attributes)
    trimmed.location = call.location
    block = call.parent
    assert block is not None, "a call is inside a function"
    block.insert_op_before(trimmed, call)
    for result, replacement in zip(results, trimmed.results, strict=True):
        result.replace_all_uses_with(replacement)
    call.detach()
    call.erase(safe_erase=False)
